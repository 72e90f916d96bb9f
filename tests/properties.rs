//! What holds for every text, every tree and every host, sound or not: the whole road ends without a panic, has a place
//! for whatever it finds, and gives the same bytes again.

#[path = "common/signs.rs"]
mod signs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use purlin::compile::compile;
use purlin::diag::{Findings, Report, Sources, Span, github, human, json, junit, sarif};
use purlin::emission::emit;
use purlin::facts::Facts;
use purlin::plan;
use purlin::source::{
    Comments, Doc, Entry, Item, Kind, Syntax, Value, decode, from_value, parse, to_kdl, to_yaml,
};
use purlin::spec::{FORMATS, NodeSpec, schema};
use serde_json::{Value as Json, json};
use signs::SIGNS;
use std::path::Path;
use std::sync::LazyLock;

const ALL: [Syntax; 3] = [Syntax::Kdl, Syntax::Yaml, Syntax::Json];

/// An example of the repository, in all that it comes in.
struct Example {
    texts: [(Syntax, String); 3],
    doc: Doc,
    facts: Json,
}

static EXAMPLES: LazyLock<Vec<Example>> = LazyLock::new(|| {
    ["laptop", "edge", "gpu-sim"]
        .map(|name| {
            let read = |ending: &str| {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}.{ending}"));
                std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
            };
            let mut sources = Sources::default();
            let file = sources.add(name, read("yaml"));
            let doc = parse(&sources, file, Syntax::Yaml, schema(), &mut Findings::new())
                .expect("an example is sound");
            let json = serde_json::to_string_pretty(&doc.root.to_json()).expect("JSON can be written");
            Example {
                texts: [(Syntax::Kdl, read("kdl")), (Syntax::Yaml, read("yaml")), (Syntax::Json, json)],
                doc,
                facts: serde_json::from_str(&read("facts.json")).expect("facts are JSON"),
            }
        })
        .into()
});

/// Everything that any command would print of one text: findings for people and for programs, plans, differences.
fn everything(syntax: Syntax, bytes: &[u8], facts: &[&Facts]) -> Result<[String; 2], TestCaseError> {
    let mut sources = Sources::default();
    let mut findings = Findings::new();
    let node = decode(&mut sources, "spec", bytes, &mut findings)
        .and_then(|f| compile(&sources, f, syntax, &mut findings));
    prop_assert!(node.is_some() || findings.has_errors(), "refused without a reason");
    prop_assert!(node.is_none() || !findings.has_errors(), "a node in spite of {findings:?}");
    let (mut people, mut programs) = (String::new(), String::new());
    if let Some(node) = &node {
        for facts in std::iter::once(None).chain(facts.iter().copied().map(Some)) {
            let plan = emit(node, facts, &mut findings);
            programs.push_str(&serde_json::to_string(&plan).expect("a plan is plain data"));
            if let Some(facts) = facts {
                let diff = plan::diff(&plan, facts, &mut findings);
                people.push_str(&plan::human(&diff, &sources, true));
                programs.push_str(&plan::json(&diff, &sources).to_string());
            }
        }
    }
    let settled = findings.settle();
    let findings = settled.list.clone();
    for finding in &findings {
        let remedy = !finding.help.is_empty() || finding.fix.is_some();
        prop_assert!(!finding.labels.is_empty() && remedy, "{finding:?}");
        for label in &finding.labels {
            prop_assert!(sources.text(label.span.file).get(label.span.range()).is_some(), "{finding:?}");
        }
    }
    people.push_str(&human::render(&findings, &sources, human::Style { color: true, width: 80 }));
    programs.push_str(&json::render(&findings, 0, &sources).to_string());
    let specs = ["spec".to_owned()];
    let report = Report {
        command: "check",
        specs: &specs,
        settled: &settled,
        sources: &sources,
        failures: &[],
        unproven: &[],
        output: "",
    };
    programs.push_str(&sarif::render(&report).to_string());
    people.push_str(&junit::render(&report));
    people.push_str(&github::summary(&report, 1 << 20));
    let commands = github::annotations(&report);
    prop_assert!(commands.lines().all(|line| line.starts_with("::")), "{commands:?}");
    people.push_str(&commands);
    Ok([people, programs])
}

/// Twice the same; and nothing of the text reaches a terminal as a control sequence of its own.
fn holds(syntax: Syntax, bytes: &[u8], facts: &[&Facts]) -> Result<(), TestCaseError> {
    let once = everything(syntax, bytes, facts)?;
    prop_assert_eq!(&once, &everything(syntax, bytes, facts)?, "the second run gave something else");
    let wild = once[0].chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\u{1b}'));
    prop_assert!(wild.is_none(), "the output has {wild:?}");
    Ok(())
}

fn words() -> impl Strategy<Value = String> {
    let signs = [SIGNS, &[
        "|\n",
        ">\n",
        "---\n",
        "<<: ",
        "\u{1b}[31m",
        "рods",
        "99999999999999999999999999999999999999999999",
        "0755",
        "#inf",
        "purlin \"v1alpha1\"\n",
        "node \"n\" {\n",
        "runtimes {\n",
        "networks {\n",
        "devices {\n",
        "network \"pods\" ",
        "bridge name=\"cni0\"",
        "ipam { range \"10.0.0.0/8\"; }\n",
        "device \"a.b/c\" { path \"/dev/*\"; }\n",
        "apiVersion: purlin.dev/v1alpha1\n",
        "kind: NodeSpec\n",
        "metadata:\n  name: n\n",
        "spec:\n",
        "  networks:\n",
        "{\"apiVersion\":\"purlin.dev/v1alpha1\",\"kind\":\"NodeSpec\",\"metadata\":{\"name\":\"n\"},\"spec\":{",
        "}}",
        "/etc/../../x",
        "..",
        "null",
    ]].concat();
    vec(prop_oneof![8 => select(signs).prop_map(str::to_owned), 1 => "\\PC{0,4}"], 0..40)
        .prop_map(|w| w.concat())
}

/// A string as a hostile or careless operator writes it.
fn odd() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,20}",
        select(vec![
            "",
            " ",
            "..",
            "/..",
            "/etc/../x",
            "/dev/../etc",
            "/dev/[",
            "/dev/**",
            "-",
            "a/b",
            "/",
            "10.0.0.0/0",
            "::/0",
            "::ffff:10.0.0.1",
            "255.255.255.255",
            "10.22.0.0/33",
            "https://",
            "https://user:pw@h/x",
            "https://[::1]:99999",
            "v1",
            "2.1-",
            "-2.1",
            "99999.99999",
            "2.4-2.1",
            "0s",
            "18446744073709551615h",
            "1e3",
            "16EiB",
            "pоds",
            "PODS",
            "a\u{0}b",
            "a\nb",
            "\u{1b}]0;x\u{7}",
            "\u{202e}cba",
            "\u{feff}",
            "_default",
            "docker.io:",
            "x.example:65536",
            "%2e%2e",
            "a.b/\u{e9}",
            "xn--a/b",
            "=",
            "A=B",
            "null",
            "~",
            "#true",
            "true",
            "0755",
            "1_000",
            "\"",
            "'",
            "\\",
            "\"\"\"\n",
            "$(id)",
        ])
        .prop_map(str::to_owned),
        (1..300_usize).prop_map(|n| "a".repeat(n)),
        (1..40_usize).prop_map(|n| format!("/{}", "a/".repeat(n))),
    ]
}

fn scalar() -> impl Strategy<Value = Kind> {
    prop_oneof![
        1 => Just(Kind::Null),
        1 => any::<bool>().prop_map(Kind::Bool),
        1 => any::<i128>().prop_map(Kind::Integer),
        1 => select(vec![0, -1, 1, 67, 68, 65_535, 65_536, i128::from(u64::MAX), i128::MIN]).prop_map(Kind::Integer),
        1 => any::<f64>().prop_map(Kind::Float),
        4 => odd().prop_map(Kind::String),
    ]
}

fn value(kind: Kind) -> Value {
    Value::new(Span::default(), kind)
}

fn item(value: Value) -> Item {
    Item { value, comments: Comments::default() }
}

fn entry(key: String, value: Value) -> Entry {
    Entry { key, key_span: Span::default(), value, comments: Comments::default() }
}

fn tree() -> impl Strategy<Value = Value> {
    scalar().prop_map(value).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3)
                .prop_map(|list| value(Kind::Sequence(list.into_iter().map(item).collect()))),
            vec((odd(), inner), 0..3)
                .prop_map(|map| value(Kind::Mapping(map.into_iter().map(|(k, v)| entry(k, v)).collect()))),
        ]
    })
}

#[derive(Clone, Debug)]
enum Change {
    Replace(Value),
    Rename(String),
    Remove,
    Repeat,
    /// Another key of the spec, so that what is known stands where it is not expected.
    Move(Index),
}

fn change() -> impl Strategy<Value = (Index, Change)> {
    let change = prop_oneof![
        4 => tree().prop_map(Change::Replace),
        2 => odd().prop_map(Change::Rename),
        2 => Just(Change::Remove),
        2 => Just(Change::Repeat),
        1 => any::<Index>().prop_map(Change::Move),
    ];
    (any::<Index>(), change)
}

/// Applies a change to the entry or item of that number, counted from the root.
fn apply(value: &mut Value, left: &mut usize, change: &Change, keys: &[String]) -> bool {
    let hit = |left: &mut usize| {
        let hit = *left == 0;
        *left = left.saturating_sub(1);
        hit
    };
    match &mut value.kind {
        Kind::Mapping(entries) => {
            for at in 0..entries.len() {
                if hit(left) {
                    match change {
                        Change::Replace(new) => entries[at].value = new.clone(),
                        Change::Rename(key) => entries[at].key.clone_from(key),
                        Change::Remove => drop(entries.remove(at)),
                        Change::Repeat => entries.push(entries[at].clone()),
                        Change::Move(key) => entries[at].key.clone_from(&keys[key.index(keys.len())]),
                    }
                    return true;
                }
                if apply(&mut entries[at].value, left, change, keys) {
                    return true;
                }
            }
        }
        Kind::Sequence(items) => {
            for at in 0..items.len() {
                if hit(left) {
                    match change {
                        Change::Replace(new) => items[at].value = new.clone(),
                        Change::Remove => drop(items.remove(at)),
                        _ => items.push(items[at].clone()),
                    }
                    return true;
                }
                if apply(&mut items[at].value, left, change, keys) {
                    return true;
                }
            }
        }
        _ => {}
    }
    false
}

fn keys(value: &Value, list: &mut Vec<String>) {
    for entry in value.entries() {
        list.push(entry.key.clone());
        keys(&entry.value, list);
    }
    value.items().iter().for_each(|i| keys(&i.value, list));
}

fn count(value: &Value) -> usize {
    value.entries().iter().map(|e| 1 + count(&e.value)).sum::<usize>()
        + value.items().iter().map(|i| 1 + count(&i.value)).sum::<usize>()
}

fn changed(doc: &Doc, changes: &[(Index, Change)]) -> Doc {
    let mut doc = doc.clone();
    let mut known = Vec::new();
    keys(&doc.root, &mut known);
    for (at, change) in changes {
        let mut left = at.index(count(&doc.root).max(1));
        apply(&mut doc.root, &mut left, change, &known);
    }
    doc
}

/// What happens to a text on its way through editors, merges and disks.
fn damaged(text: &str, damage: &[(u8, Index, Index, String)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (kind, at, length, put) in damage {
        let from = at.index(bytes.len() + 1);
        let to = (from + length.index(24)).min(bytes.len());
        match kind % 6 {
            0 => drop(bytes.splice(from..to, put.bytes())),
            1 => bytes.truncate(from),
            2 if from < bytes.len() => bytes[from] ^= 1 << (put.len() % 8),
            3 => {
                let mut lines: Vec<_> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                if !lines.is_empty() {
                    let line = lines[at.index(lines.len())].clone();
                    lines.insert(length.index(lines.len() + 1), line);
                }
                bytes = lines.concat();
            }
            4 => bytes = String::from_utf8_lossy(&bytes).replace('\n', "\r\n").into_bytes(),
            _ => bytes = [b"\xef\xbb\xbf".as_slice(), &bytes].concat(),
        }
    }
    bytes
}

fn damage() -> impl Strategy<Value = Vec<(u8, Index, Index, String)>> {
    vec((any::<u8>(), any::<Index>(), any::<Index>(), prop_oneof![words(), odd()]), 1..4)
}

/// Facts after the same changes as specs get, where they still are facts.
fn host(example: &Example, changes: &[(Index, Change)]) -> Option<Facts> {
    let mut sources = Sources::default();
    let mut facts = example.facts.clone();
    // A document around it, as far as reading trees needs one.
    let spec = json!({"apiVersion": "purlin.dev/v1alpha1", "kind": "NodeSpec", "facts": facts.take()});
    let file = sources.add("facts", spec.to_string());
    let doc = parse(&sources, file, Syntax::Json, schema(), &mut Findings::new())?;
    let inner = doc.root.get("facts")?.clone();
    let json = changed(&Doc { root: inner, trailing: Vec::new() }, changes).root.to_json();
    let facts = Facts::from_json(&json.to_string()).ok()?;
    // What was read is what is written.
    assert_eq!(Facts::from_json(&facts.to_json()).expect("facts read what they write"), facts);
    Some(facts)
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn any_text_ends(text in prop_oneof![words(), "\\PC{0,80}"]) {
        for syntax in ALL {
            holds(syntax, text.as_bytes(), &[])?;
        }
    }

    #[test]
    fn any_bytes_end(bytes in vec(any::<u8>(), 0..80), at in any::<Index>()) {
        let text = &EXAMPLES[0].texts[at.index(3)].1;
        let mut inside = text.as_bytes().to_vec();
        let from = at.index(inside.len());
        inside.splice(from..from, bytes.iter().copied());
        for syntax in ALL {
            holds(syntax, &bytes, &[])?;
            holds(syntax, &inside, &[])?;
        }
    }
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn a_damaged_example_ends(which in 0..3_usize, syntax in 0..3_usize, damage in damage()) {
        let (syntax, text) = &EXAMPLES[which].texts[syntax];
        holds(*syntax, &damaged(text, &damage), &[])?;
    }

    #[test]
    fn a_changed_tree_ends(which in 0..3_usize, changes in vec(change(), 1..4)) {
        let doc = changed(&EXAMPLES[which].doc, &changes);
        // The types may refuse what validation has not seen, but not with a panic.
        let _ = from_value::<NodeSpec>(&doc.root);
        holds(Syntax::Kdl, to_kdl(&doc, schema()).as_bytes(), &[])?;
        holds(Syntax::Yaml, to_yaml(&doc, schema()).as_bytes(), &[])?;
        holds(Syntax::Json, doc.root.to_json().to_string().as_bytes(), &[])?;
    }

    #[test]
    fn any_tree_is_written_and_any_root_refused(tree in tree()) {
        let doc = Doc { root: tree, trailing: Vec::new() };
        holds(Syntax::Kdl, to_kdl(&doc, schema()).as_bytes(), &[])?;
        holds(Syntax::Yaml, to_yaml(&doc, schema()).as_bytes(), &[])?;
        let _ = from_value::<NodeSpec>(&doc.root);
    }

    #[test]
    fn any_host_can_be_compared(
        which in 0..3_usize, whose in 0..3_usize, changes in vec(change(), 1..4), damage in option_of_damage()
    ) {
        let Some(facts) = host(&EXAMPLES[whose], &changes) else { return Ok(()) };
        let (syntax, text) = &EXAMPLES[which].texts[1];
        let bytes = damage.map_or_else(|| text.as_bytes().to_vec(), |d| damaged(text, &d));
        holds(*syntax, &bytes, &[&facts])?;
    }

    #[test]
    fn any_text_is_facts_or_is_not(text in prop_oneof![words(), "\\PC{0,80}"], damage in damage(), which in 0..3_usize) {
        let _ = Facts::from_json(&text);
        let damaged = damaged(&EXAMPLES[which].facts.to_string(), &damage);
        let _ = Facts::from_json(&String::from_utf8_lossy(&damaged));
    }

    #[test]
    fn every_form_takes_any_string_and_says_what_to_write(text in prop_oneof![odd(), "\\PC{0,40}"]) {
        for (name, check) in FORMATS.0 {
            if let Err(message) = check(&text) {
                prop_assert!(message.contains("; "), "{name} says no remedy: {message}");
            }
        }
    }
}

fn option_of_damage() -> impl Strategy<Value = Option<Vec<(u8, Index, Index, String)>>> {
    proptest::option::weighted(0.2, damage())
}

/// The changes reach the checks behind the parser often enough to mean something.
#[test]
fn changed_trees_and_hosts_get_far() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = vec(change(), 1..4);
    let (mut compiled, mut hosts) = (0, 0);
    for _ in 0..100 {
        let changes = strategy.new_tree(&mut runner).expect("a strategy gives values").current();
        let doc = changed(&EXAMPLES[1].doc, &changes);
        let mut sources = Sources::default();
        let file = sources.add("spec", to_yaml(&doc, schema()));
        compiled += usize::from(compile(&sources, file, Syntax::Yaml, &mut Findings::new()).is_some());
        hosts += usize::from(host(&EXAMPLES[1], &changes).is_some());
    }
    assert!(compiled >= 5 && hosts >= 10, "{compiled} specs compile and {hosts} hosts are facts, of 100");
}
