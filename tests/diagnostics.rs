//! Every code's page is a fixture: its wrong example gives the code and nothing else, its right one gives nothing, and
//! with the check switched off the wrong example is no longer told from the right one.
//!
//! `PURLIN_BLESS=1 cargo test --test diagnostics` writes the renderings in tests/diagnostics/ anew.

use purlin::compile::compile_in;
use purlin::diag::{CODES, Code, Diagnostic, Findings, Sources, human};
use purlin::emission::emit;
use purlin::facts::Facts;
use purlin::plan;
use purlin::source::{Syntax, Tree, decode, kebab};
use std::collections::BTreeMap;
use std::path::Path;

const SYNTAXES: [Syntax; 2] = [Syntax::Kdl, Syntax::Yaml];

const fn ending(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Kdl => "kdl",
        Syntax::Yaml => "yaml",
        Syntax::Json => "json",
    }
}

/// A `## Wrong` or `## Right` of a page.
#[derive(Default)]
struct Part {
    kdl: Option<String>,
    yaml: Option<String>,
    facts: Option<Facts>,
    /// Files beside the example: ```` ```kdl common.kdl ````.
    files: BTreeMap<String, String>,
}

impl Tree for Part {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.files.get(path).map(|text| text.clone().into()).ok_or_else(|| "see that it is there".to_owned())
    }

    fn name(&self, path: &str) -> String {
        path.to_owned()
    }
}

impl Part {
    fn example(&self, syntax: Syntax) -> Option<&str> {
        match syntax {
            Syntax::Kdl => self.kdl.as_deref(),
            Syntax::Yaml => self.yaml.as_deref(),
            Syntax::Json => None,
        }
    }
}

struct Page {
    code: Code,
    prose: String,
    wrong: Part,
    right: Part,
}

impl Page {
    fn of(code: Code) -> Self {
        let text = code.page();
        assert!(
            text.starts_with(&format!("# {code}: {}\n", code.title())),
            "{code}: the page begins with its code and title"
        );
        let mut page = Self { code, prose: String::new(), wrong: Part::default(), right: Part::default() };
        let (mut section, mut fence, mut body) = (String::new(), None::<String>, String::new());
        for line in text.lines().skip(1) {
            match (&fence, line) {
                (Some(language), "```") => {
                    page.take(&section, &language.clone(), std::mem::take(&mut body));
                    fence = None;
                }
                (Some(_), line) => {
                    body.push_str(line);
                    body.push('\n');
                }
                (None, line) if line.starts_with("```") => fence = Some(line[3..].to_owned()),
                (None, line) if line.starts_with("## ") => section = line[3..].to_owned(),
                (None, line) => {
                    assert!(
                        section.is_empty() || line.is_empty(),
                        "{code}: words between the examples: {line}"
                    );
                    page.prose.push_str(line);
                    page.prose.push('\n');
                }
            }
        }
        assert!(fence.is_none(), "{code}: an example does not end");
        page
    }

    fn take(&mut self, section: &str, language: &str, body: String) {
        let code = self.code;
        let part = match section {
            "Wrong" => &mut self.wrong,
            "Right" => &mut self.right,
            other => panic!("{code}: a section `{other}`"),
        };
        if let Some((_, name)) = language.split_once(' ') {
            assert!(part.files.insert(name.to_owned(), body).is_none(), "{code}: two files `{name}`");
            return;
        }
        let before = match language {
            "kdl" => part.kdl.replace(body).is_some(),
            "yaml" => part.yaml.replace(body).is_some(),
            "json" => {
                let facts = Facts::from_json(&body).unwrap_or_else(|e| panic!("{code}: {e}"));
                part.facts.replace(facts).is_some()
            }
            other => panic!("{code}: an example in `{other}`"),
        };
        assert!(!before, "{code}: two examples in {language} under {section}");
    }
}

/// All that `purlin check` would say of an example.
fn run(part: &Part, syntax: Syntax, mut findings: Findings) -> (Vec<Diagnostic>, Sources) {
    let mut sources = Sources::default();
    let text = part.example(syntax).unwrap_or_default();
    let name = format!("edge-a.{}", ending(syntax));
    if let Some(file) = decode(&mut sources, &name, text.as_bytes(), &mut findings)
        && let Some(spec) = compile_in(&mut sources, (file, &name), syntax, part, &mut findings)
        && let Some(node) = spec.node
    {
        let plan = emit(&node, part.facts.as_ref(), &mut findings);
        if let Some(facts) = &part.facts {
            let _ = plan::diff(&plan, facts, &mut findings);
        }
        // Further specs among the files stand beside this one in a directory.
        let mut plans = vec![plan];
        for (name, text) in part.files.iter().filter(|(name, _)| name.ends_with(ending(syntax))) {
            if text.contains("node \"") || text.contains("NodeSpec") {
                let file = sources.add(name, text.as_str());
                let spec = compile_in(&mut sources, (file, name), syntax, part, &mut findings);
                let node = spec.and_then(|spec| spec.node).expect("a spec beside the example is sound");
                plans.push(emit(&node, None, &mut findings));
            }
        }
        plan::agree(&plans, &mut findings);
    }
    (findings.into_sorted(), sources)
}

/// The syntaxes in which a page has examples, with both parts present in each.
fn syntaxes(page: &Page) -> Vec<Syntax> {
    SYNTAXES
        .into_iter()
        .filter(|s| {
            let (wrong, right) = (page.wrong.example(*s).is_some(), page.right.example(*s).is_some());
            assert!(wrong == right, "{}: only a wrong or only a right example in {s:?}", page.code);
            wrong
        })
        .collect()
}

fn for_each_example(mut check: impl FnMut(&Page, Syntax)) {
    for code in CODES {
        let page = Page::of(*code);
        for syntax in syntaxes(&page) {
            check(&page, syntax);
        }
    }
}

fn shown(findings: &[Diagnostic], sources: &Sources) -> String {
    human::render(findings, sources, human::Style { color: false, width: 100 })
}

/// Whether a page's example is seen for what it is.
fn fixture_holds(code: Code, findings: Findings, part: &Part, syntax: Syntax) -> bool {
    let (found, _) = run(part, syntax, findings);
    found.iter().any(|d| d.code == code)
}

#[test]
fn every_page_has_prose_and_examples() {
    for code in CODES {
        let page = Page::of(*code);
        let present = syntaxes(&page);
        assert!(!present.is_empty(), "{code} has no example");
        let prose = page.prose.trim();
        assert!(prose.split("\n\n").count() >= 2, "{code}: say what is wrong, and why it matters");
        for line in prose.lines() {
            assert!(line.chars().count() <= 100, "{code}: a line of more than 100 characters: {line}");
        }
        for (syntax, word) in [(Syntax::Kdl, "no KDL example"), (Syntax::Yaml, "no YAML example")] {
            assert!(
                present.contains(&syntax) != prose.contains(word),
                "{code}: leaves out {syntax:?} without `{word}` in its words, or says so and does not"
            );
        }
        let facts = page.wrong.facts.is_some();
        assert_eq!(facts, page.right.facts.is_some(), "{code}: facts on one side only");
        assert_eq!(
            facts,
            prose.contains("The JSON is what is known of the node"),
            "{code}: facts unexplained"
        );
    }
}

#[test]
fn a_wrong_example_gives_its_code_and_no_other() {
    for_each_example(|page, syntax| {
        let (found, sources) = run(&page.wrong, syntax, Findings::new());
        assert!(!found.is_empty(), "{} in {syntax:?}: nothing found", page.code);
        for finding in &found {
            assert_eq!(finding.code, page.code, "{syntax:?}\n{}", shown(&found, &sources));
            assert_eq!(finding.severity, page.code.severity(), "{syntax:?}\n{}", shown(&found, &sources));
        }
    });
}

#[test]
fn a_right_example_gives_nothing() {
    for_each_example(|page, syntax| {
        let (found, sources) = run(&page.right, syntax, Findings::new());
        assert!(found.is_empty(), "{} in {syntax:?}\n{}", page.code, shown(&found, &sources));
    });
}

#[test]
fn every_finding_points_at_something_and_says_what_to_do() {
    for_each_example(|page, syntax| {
        let (found, sources) = run(&page.wrong, syntax, Findings::new());
        for finding in &found {
            let all = shown(&found, &sources);
            let primary: Vec<_> = finding.labels.iter().filter(|l| l.primary).collect();
            assert_eq!(primary.len(), 1, "{syntax:?}: one place of the mistake\n{all}");
            for label in &finding.labels {
                let text = sources.text(label.span.file);
                assert!(text.get(label.span.range()).is_some(), "{syntax:?}: outside of the text\n{all}");
            }
            // Only the end of a text, and what is no text at all, have a place without width.
            if !matches!(page.code, Code::PUR0001 | Code::PUR0002) {
                assert!(
                    !sources.slice(primary[0].span).trim().is_empty(),
                    "{syntax:?}: an empty place\n{all}"
                );
            }
            assert!(!finding.help.is_empty() || finding.fix.is_some(), "{syntax:?}: no help\n{all}");
            let first = finding.message.chars().next().unwrap();
            assert!(!first.is_uppercase() && !finding.message.ends_with('.'), "{syntax:?}\n{all}");
        }
    });
}

/// Spelt without what the syntaxes differ in: names of fields, quotes, the marks of booleans, the names of
/// repeated nodes.
fn neutral(text: &str) -> String {
    let camel_to_kebab: Vec<String> = text.split(' ').map(kebab).collect();
    camel_to_kebab.join(" ").replace(['"', '#'], "").replace("annotations`", "annotation`")
}

#[test]
fn both_syntaxes_say_the_same() {
    for code in CODES {
        let page = Page::of(*code);
        // Findings about the text and its shape speak of keys, nodes and blocks in the syntax's own words.
        if syntaxes(&page).len() < 2 || *code < Code::PUR0201 {
            continue;
        }
        let [(kdl, kdl_text), (yaml, yaml_text)] = SYNTAXES.map(|s| run(&page.wrong, s, Findings::new()));
        let all = format!("{}\n{}", shown(&kdl, &kdl_text), shown(&yaml, &yaml_text));
        assert_eq!(kdl.len(), yaml.len(), "{all}");
        for (kdl, yaml) in kdl.iter().zip(&yaml) {
            assert_eq!(neutral(&kdl.message), neutral(&yaml.message), "{all}");
            assert_eq!(neutral(&kdl.notes.concat()), neutral(&yaml.notes.concat()), "{all}");
            assert_eq!(kdl.labels.len(), yaml.labels.len(), "{all}");
            for (kdl, yaml) in kdl.labels.iter().zip(&yaml.labels) {
                assert_eq!(
                    neutral(kdl_text.slice(kdl.span)),
                    neutral(yaml_text.slice(yaml.span)),
                    "the places differ\n{all}"
                );
                assert_eq!(neutral(&kdl.message), neutral(&yaml.message), "{all}");
            }
        }
    }
}

#[test]
fn a_help_is_written_in_the_syntax_at_hand() {
    for_each_example(|page, syntax| {
        let (found, sources) = run(&page.wrong, syntax, Findings::new());
        for finding in &found {
            let helps = finding.help.join("\n").replace(": {", ":");
            let foreign: &[&str] = match syntax {
                Syntax::Kdl => &["YAML", ": true"],
                _ => &["YAML", "KDL", "#true", " {", "=\""],
            };
            for word in foreign {
                assert!(!helps.contains(word), "`{word}` in {syntax:?}\n{}", shown(&found, &sources));
            }
        }
    });
}

#[test]
fn a_fix_mends_the_example() {
    let mut fixes = 0;
    for_each_example(|page, syntax| {
        let (found, sources) = run(&page.wrong, syntax, Findings::new());
        let text = page.wrong.example(syntax).unwrap_or_default();
        for finding in &found {
            let Some(fix) = &finding.fix else { continue };
            fixes += 1;
            let mut mended = text.to_owned();
            mended.replace_range(fix.span.range(), &fix.replacement);
            let part = |example| Part {
                kdl: (syntax == Syntax::Kdl).then(|| String::clone(example)),
                yaml: (syntax == Syntax::Yaml).then(|| String::clone(example)),
                facts: page.wrong.facts.clone(),
                files: page.wrong.files.clone(),
            };
            let (left, left_sources) = run(&part(&mended), syntax, Findings::new());
            assert!(left.is_empty(), "{}\n{}", shown(&found, &sources), shown(&left, &left_sources));
        }
    });
    assert!(fixes >= 10, "{fixes}");
}

/// The findings of a spec in KDL, rendered.
fn said(body: &str, facts: Option<&str>) -> String {
    let part = Part {
        kdl: Some(format!("purlin \"v1alpha1\"\nnode \"edge-a\" {{\n{body}\n}}\n")),
        yaml: None,
        facts: facts.map(|f| Facts::from_json(f).unwrap()),
        ..Part::default()
    };
    let (found, sources) = run(&part, Syntax::Kdl, Findings::new());
    shown(&found, &sources)
}

const RUNTIME: &str = r#"runtimes { runtime "main" { containerd version="2.1" config="own" { handler "runc" default=#true; }; }; }"#;
const DROP_IN: &str = r#"runtimes { runtime "main" { containerd version="2.1" config="drop-in" { handler "crun" binary="/usr/bin/crun"; }; }; }"#;

#[test]
fn a_program_of_root_lies_where_only_root_writes() {
    for directory in ["/tmp", "/var/tmp/a", "/dev/shm"] {
        let spec = RUNTIME.replace("default=", &format!("binary=\"{directory}/runc\" default="));
        let said = said(&spec, None);
        assert!(said.contains("PUR0204") && said.contains("`/usr/local/bin/runc`"), "{said}");
    }
    assert_eq!(said(&RUNTIME.replace("default=", "binary=\"/tmpfs/runc\" default="), None), "");
}

#[test]
fn only_files_in_our_places_are_adopted() {
    for path in
        ["/etc/passwd", "/etc/cni/net.d", "/etc/containerd-old/config.toml", "/var/lib/purlin/ledger.json"]
    {
        let said = said(&format!("adopt \"{path}\" \"remove\""), None);
        assert!(said.contains("PUR0204") && said.contains(path), "{said}");
    }
    assert_eq!(said("adopt \"/etc/cni/net.d/87-podman.conflist\" \"remove\"", None), "");
}

#[test]
fn a_directory_in_our_place_is_not_offered_for_adoption() {
    let facts = r#"{"version": "purlin.dev/facts/v1alpha1", "places": ["/etc/containerd"],
        "files": {"/etc/containerd/config.toml": {"kind": "directory", "mode": "0755"}}}"#;
    let said = said(RUNTIME, Some(facts));
    assert!(said.contains("PUR0301") && said.contains("move it away") && !said.contains("adopt"), "{said}");
}

#[test]
fn a_list_of_imports_is_added_to_and_not_given_twice() {
    let facts = r#"{"version": "purlin.dev/facts/v1alpha1", "places": ["/etc/containerd"],
        "files": {"/etc/containerd/config.toml": {"kind": "regular", "mode": "0644",
        "text": "version = 3\nimports = ['/etc/containerd/other/*.toml']\n"}}}"#;
    let said = said(DROP_IN, Some(facts));
    assert!(said.contains("add \"/etc/containerd/conf.d/*.toml\" to the list `imports`"), "{said}");
}

#[test]
fn a_root_that_goes_leaves_no_drop_in_behind() {
    let facts = r#"{"version": "purlin.dev/facts/v1alpha1", "places": ["/etc/containerd"],
        "files": {"/etc/containerd/config.toml": {"kind": "regular", "mode": "0644",
        "text": "version = 3\nimports = ['/etc/containerd/conf.d/*.toml']\n"}}}"#;
    assert_eq!(said(DROP_IN, Some(facts)), "");
    let removed = format!("adopt \"/etc/containerd/config.toml\" \"remove\"\n{DROP_IN}");
    let said = said(&removed, Some(facts));
    assert!(said.contains("PUR0305") && said.contains("is to be removed"), "{said}");
}

#[test]
fn a_hook_of_a_device_needs_its_program_and_no_runtime() {
    let spec = r#"runtimes { hook "power" stage="createRuntime" path="/usr/local/bin/power" { when { device "example.com/serial"; }; }; }
    devices { device "example.com/serial" { path "/dev/ttyS1"; }; }"#;
    let facts = |binaries: &str| {
        format!(
            r#"{{"version": "purlin.dev/facts/v1alpha1", "searched": ["/usr/local/bin"], "binaries": [{binaries}]}}"#
        )
    };
    assert_eq!(said(spec, None), "");
    assert_eq!(said(spec, Some(&facts("\"/usr/local/bin/power\""))), "");
    let said = said(spec, Some(&facts("")));
    assert!(said.contains("error[PUR0308]: `/usr/local/bin/power` is not on the node"), "{said}");
}

#[test]
fn nobody_is_sent_to_a_version_that_is_refused() {
    let facts = r#"{"version": "purlin.dev/facts/v1alpha1",
        "daemons": {"containerd": {"path": "/usr/bin/containerd", "version": "1.7.29"}}}"#;
    let said = said(RUNTIME, Some(facts));
    assert!(said.contains("PUR0304") && !said.contains("widen"), "{said}");
}

#[test]
fn the_later_one_of_two_is_the_mistake() {
    let networks = r#"networks {
        network "b" default=#true { bridge name="cni0"; ipam { range "10.22.0.0/24"; }; }
        network "a" default=#true { bridge name="cni0"; ipam { range "10.22.0.0/25"; }; }
    }
    devices { device "b.example/x" { path "/dev/x"; }; device "a.example/x" { path "/dev/x"; }; }"#;
    let said = said(networks, None);
    for words in [
        "`a` is a default too",
        "network `b` and network `a` both use the link `cni0`",
        "`10.22.0.0/25` of network `a` overlaps",
        "is claimed by `b.example/x` and by `a.example/x`",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

#[test]
fn disabling_any_check_makes_its_fixture_fail() {
    for_each_example(|page, syntax| {
        let code = page.code;
        assert!(fixture_holds(code, Findings::new(), &page.wrong, syntax), "{code} in {syntax:?}");
        assert!(
            !fixture_holds(code, Findings::without([code]), &page.wrong, syntax),
            "{code} in {syntax:?} is found though its check is off"
        );
        // The other checks have nothing to do with it.
        let others = CODES.iter().copied().filter(|c| *c != code);
        assert!(
            fixture_holds(code, Findings::without(others), &page.wrong, syntax),
            "{code} in {syntax:?} needs another check"
        );
    });
}

#[test]
fn renderings_are_as_reviewed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let bless = std::env::var_os("PURLIN_BLESS").is_some();
    let mut expected = Vec::new();
    let mut stale = Vec::new();
    for_each_example(|page, syntax| {
        let (found, sources) = run(&page.wrong, syntax, Findings::new());
        let name = format!("{}.{}.txt", page.code, ending(syntax));
        let path = directory.join(&name);
        let text = shown(&found, &sources);
        if bless {
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(&path, &text).unwrap();
        } else if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            stale.push(format!("{name} is now:\n{text}"));
        }
        expected.push(name);
    });
    for entry in std::fs::read_dir(&directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !expected.contains(&name) {
            stale.push(format!("{name} belongs to no example"));
        }
    }
    assert!(
        stale.is_empty(),
        "{}\nlook at them, then: PURLIN_BLESS=1 cargo test --test diagnostics",
        stale.join("\n")
    );
}
