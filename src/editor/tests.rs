//! What an editor gets to hear, on snippets in which `‸` is the cursor.

use super::*;
use crate::source::{Syntax, Tree};
use crate::spec::schema;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A text without its cursor, and where that was.
fn cursor(text: &str) -> (String, usize) {
    let at = text.find('‸').expect("the snippet has a cursor");
    (text.replace('‸', ""), at)
}

const KDL: &str = "purlin \"v1alpha1\"\nnode \"a\" {\n";

fn known(collection: &[String]) -> Vec<String> {
    match collection.join(".").as_str() {
        "spec.devices" => vec!["example.com/serial".to_owned(), "nvidia.com/gpu".to_owned()],
        "spec.networks" => vec!["pods".to_owned(), "storage".to_owned()],
        _ => Vec::new(),
    }
}

fn completions(text: &str, syntax: Syntax, snippets: bool) -> Option<(String, Vec<Completion>)> {
    let (text, at) = cursor(text);
    let files = || vec!["parts/gpu.kdl".to_owned()];
    let known = Known { names: &known, files: &files, snippets };
    let (range, items) = complete(&text, at, syntax, schema(), &known)?;
    assert!(range.start <= at && at <= range.end, "{range:?} {at}");
    Some((text[range].to_owned(), items))
}

fn labels(text: &str, syntax: Syntax) -> Vec<String> {
    completions(text, syntax, false)
        .map(|(_, items)| items.into_iter().map(|i| i.label).collect())
        .unwrap_or_default()
}

fn kdl(text: &str) -> Vec<String> {
    labels(&format!("{KDL}{text}"), Syntax::Kdl)
}

fn yaml(text: &str) -> Vec<String> {
    labels(
        &format!("apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nmetadata:\n  name: a\nspec:\n{text}"),
        Syntax::Yaml,
    )
}

fn insert(text: &str, syntax: Syntax, label: &str) -> (String, String) {
    let (replaced, items) = completions(text, syntax, true).expect("something may stand there");
    let item = items.into_iter().find(|i| i.label == label);
    (replaced, item.unwrap_or_else(|| panic!("no {label} in {text}")).insert)
}

fn has(list: &[String], wanted: &[&str], unwanted: &[&str]) {
    for name in wanted {
        assert!(list.iter().any(|l| l == name), "no {name} in {list:?}");
    }
    for name in unwanted {
        assert!(list.iter().all(|l| l != name), "{name} in {list:?}");
    }
}

#[test]
fn nodes_of_the_block_at_the_cursor() {
    has(&kdl("‸"), &["runtimes", "networks", "include", "defaults", "label", "target"], &["bridge", "name"]);
    has(&kdl("target kubelet=\"1.36\"\nne‸"), &["networks"], &["target"]);
    has(&kdl("networks {\n ‸"), &["network"], &["networks", "bridge"]);
    has(&kdl("networks { network \"pods\" { ‸ } }\n}"), &["bridge", "ipam", "portmap"], &["network"]);
    // A choice that is made, and what is given on the line.
    let chosen = kdl("networks { network \"pods\" default=#true {\n bridge name=\"x\"\n ‸\n } }\n}");
    has(&chosen, &["ipam"], &["bridge", "macvlan", "default"]);
    // What may stand several times is offered again.
    has(&kdl("networks { network \"p\" { ipam { range \"10.0.0.0/8\"; ‸"), &["range", "route"], &[]);
    has(&kdl("defaults {\n ‸\n}"), &["networks"], &["include", "defaults"]);
    // Behind broken text, and in front of it.
    has(
        &kdl("devices { device \"a.b/cc\" { path = = \n } }\nruntimes { ru‸\n networks {{{"),
        &["runtime"],
        &[],
    );
    has(&labels("‸", Syntax::Kdl), &["purlin", "node", "part"], &[]);
    has(&labels("purlin \"‸\"", Syntax::Kdl), &["v1alpha1"], &[]);
    has(&labels("purlin \"v1alpha1\"\npart {\n ‸", Syntax::Kdl), &["include", "networks"], &["name"]);
}

#[test]
fn properties_and_values_on_a_line() {
    let bridge = kdl("networks { network \"p\" { bridge ‸ } }");
    has(&bridge, &["name", "mtu", "ip-masq"], &["ipam"]);
    let bridge = kdl("networks { network \"p\" { bridge name=\"x\" m‸ mtu=1\n } }");
    has(&bridge, &["ip-masq"], &["name", "mtu"]);
    assert_eq!(kdl("networks { network \"p\" { bridge ip-masq=‸\n } }"), ["#false", "#true"]);
    assert_eq!(kdl("networks { network \"p\" default=#t‸ {\n } }"), ["#false", "#true"]);
    let config = "runtimes { runtime \"m\" { containerd config=\"o‸\" version=\"2.1\" } }";
    assert_eq!(kdl(config), ["drop-in", "own"]);
    let (replaced, insert) = insert(&format!("{KDL}{config}"), Syntax::Kdl, "own");
    assert_eq!((replaced.as_str(), insert.as_str()), ("\"o\"", "\"own\""));
    // A string that is not closed yet does not swallow the line.
    let open = format!("{KDL}runtimes {{ runtime \"m\" {{ containerd config=\"o‸ version=2\n");
    assert_eq!(completions(&open, Syntax::Kdl, false).unwrap().0, "\"o");
    assert_eq!(kdl("adopt \"/etc/x\" ‸"), ["remove", "replace"]);
    assert_eq!(kdl("devices { device \"a.b/cc\" { permissions ‸ } }"), ["r", "rw", "rwm"]);
    // In comments and disabled nodes nothing is offered.
    assert!(kdl("// ne‸\n").is_empty() && kdl("/* ‸ */").is_empty() && kdl("/* ‸").is_empty());
    has(&kdl("/* x */‸"), &["networks"], &[]);
}

#[test]
fn names_and_files_where_they_are_referred_to() {
    let hook = "runtimes { hook \"h\" stage=\"poststop\" path=\"/x\" { when { device ";
    assert_eq!(kdl(&format!("{hook}‸")), ["example.com/serial", "nvidia.com/gpu"]);
    assert_eq!(kdl(&format!("{hook}\"nv‸\" }} }} }}")), ["example.com/serial", "nvidia.com/gpu"]);
    assert_eq!(kdl(&format!("{hook}\"nvidia.com/gpu\" ‸")), ["example.com/serial", "nvidia.com/gpu"]);
    assert_eq!(kdl("include \"‸\""), ["parts/gpu.kdl"]);
    assert_eq!(kdl("include ‸"), ["parts/gpu.kdl"]);
    // A member's name: those that are defined elsewhere, but not beside it.
    assert_eq!(kdl("networks { network \"pods\"; network ‸\n}"), ["storage"]);
    let hook = "  runtimes:\n    hooks:\n      h:\n        when:\n          devices";
    assert_eq!(yaml(&format!("{hook}: [‸]")), ["example.com/serial", "nvidia.com/gpu"]);
    assert_eq!(yaml(&format!("{hook}:\n            - ‸")), ["example.com/serial", "nvidia.com/gpu"]);
    assert_eq!(yaml(&format!("{hook}:\n          - nv‸\n")), ["example.com/serial", "nvidia.com/gpu"]);
    assert_eq!(yaml("  include: [\"‸\"]"), ["parts/gpu.kdl"]);
}

#[test]
fn keys_by_the_lines_around() {
    has(&yaml("  ‸"), &["runtimes", "networks", "include"], &["apiVersion", "spec"]);
    has(
        &labels("apiVersion: purlin.dev/v1alpha1\n‸", Syntax::Yaml),
        &["kind", "metadata", "spec"],
        &["apiVersion"],
    );
    has(&yaml("  networks:\n    pods:\n      br‸"), &["bridge", "ipam"], &["networks"]);
    let chosen = yaml(
        "  networks:\n    pods:\n      bridge:\n        name: x\n      ‸\n      portmap: {}\n    other:\n      ipam: {}",
    );
    has(&chosen, &["ipam", "default"], &["bridge", "macvlan", "portmap"]);
    has(
        &yaml("  networks:\n    pods:\n      bridge:\n        ‸\n        mtu: 1"),
        &["name", "ipMasq"],
        &["mtu"],
    );
    assert_eq!(yaml("  networks:\n    ‸"), ["pods", "storage"]);
    assert_eq!(yaml("  networks:\n    pods: {}\n    ‸"), ["storage"]);
    // Lists of structs, dash and all.
    let range = "  networks:\n    pods:\n      ipam:\n        ranges:\n";
    has(&yaml(&format!("{range}          - ‸")), &["subnet", "gateway"], &["ranges"]);
    has(&yaml(&format!("{range}          - subnet: 10.0.0.0/8\n            ‸")), &["gateway"], &["subnet"]);
    has(&yaml(&format!("{range}        - subnet: 10.0.0.0/8\n          ‸")), &["gateway"], &["subnet"]);
    has(
        &yaml(&format!("{range}        - subnet: 10.0.0.0/8\n        ‸")),
        &["routes"],
        &["subnet", "ranges"],
    );
    let (_, items) = completions(&format!("spec:\n{range}          ‸"), Syntax::Yaml, true).unwrap();
    assert!(items.iter().all(|i| i.insert.starts_with("- ")), "{items:?}");
    // Values.
    assert_eq!(yaml("  networks:\n    pods:\n      default: ‸"), ["false", "true"]);
    assert_eq!(yaml("  networks:\n    pods:\n      default: t‸"), ["false", "true"]);
    assert_eq!(
        yaml("  runtimes:\n    runtimes:\n      m:\n        containerd:\n          config: \"o‸"),
        ["drop-in", "own"]
    );
    // Brackets, on one line and on several.
    has(&yaml("  networks: { pods: { bridge: { name: x, ‸ } } }"), &["mtu"], &["name"]);
    has(&yaml("  networks: {\n    pods: {\n      br‸"), &["bridge"], &[]);
    assert_eq!(yaml("  networks: { pods: { default: ‸"), ["false", "true"]);
    // No place for a key.
    assert!(yaml("  # ‸").is_empty() && yaml("  networks: # x ‸").is_empty());
    assert!(yaml("  policies:\n    rules:\n      r:\n        when: |\n          object‸").is_empty());
    assert!(yaml("  networks:\n    pods:\n      bridge: {}‸").is_empty());
    has(&labels("{\"spec\": {\"networks\": {\"p\": {\"br‸\"}}}}", Syntax::Json), &["bridge"], &[]);
}

#[test]
fn snippets_have_places_for_what_must_be_given() {
    let at = |text: &str, label: &str| insert(&format!("{KDL}{text}"), Syntax::Kdl, label).1;
    assert_eq!(at("‸", "networks"), "networks {\n\t$0\n}");
    assert_eq!(at("networks { ‸", "network"), "network ${1:\"pods\"} {\n\t$0\n}");
    assert_eq!(at("‸", "label"), "label ${1:\"example.com/pool\"} ${2:\"gpu\"}");
    assert_eq!(at("networks { network \"p\" { ‸", "portmap"), "portmap");
    assert_eq!(at("networks { network \"p\" { ‸", "default"), "default ${1|#true,#false|}");
    assert_eq!(at("networks { network \"p\" { bridge ‸", "mtu"), "mtu=${1:1450}");
    assert_eq!(at("runtimes { registry \"x.y\" { ‸", "mirror"), "mirror ${1:\"https://mirror.example\"}");
    let at = |text: &str, label: &str| insert(text, Syntax::Yaml, label).1;
    assert_eq!(at("spec:\n  ‸", "networks"), "networks:\n\t$0");
    assert_eq!(at("spec:\n  ‸", "include"), "include:\n\t- $0");
    assert_eq!(at("spec:\n  networks:\n    p:\n      ‸", "default"), "default: ${1|true,false|}");
    // Without snippets a name is all there is.
    let (_, items) = completions(&format!("{KDL}‸"), Syntax::Kdl, false).unwrap();
    assert!(items.iter().all(|i| i.insert == i.label && !i.snippet));
    let planned: Vec<_> = items.iter().filter(|i| i.planned).map(|i| i.label.as_str()).collect();
    assert!(planned.contains(&"volumes") && items.last().unwrap().planned, "{planned:?}");
}

struct Memory(BTreeMap<&'static str, String>);

impl Tree for Memory {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.get(path).map(|text| text.clone().into()).ok_or_else(|| "make the file".to_owned())
    }

    fn name(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// What is known of the first file, and where its cursor is, if it has one.
fn looked(files: &[(&'static str, &str)]) -> (Analysis, usize) {
    let at = files.iter().find_map(|(_, text)| text.find('‸')).unwrap_or_default();
    let tree = Memory(files.iter().map(|(name, text)| (*name, text.replace('‸', ""))).collect());
    let (name, text) = (files[0].0, Arc::from(tree.0[files[0].0].as_str()));
    (look(name, &text, name, Syntax::of(name).unwrap(), &tree), at)
}

fn hovered(name: &'static str, text: &str) -> Option<String> {
    let (analysis, at) = looked(&[(name, text)]);
    let file = &analysis.files[0];
    let findings: Vec<_> = analysis.findings.iter().map(|d| (file.id, d)).collect();
    let text = analysis.sources.text(file.id);
    hover(text, at, Syntax::of(name).unwrap(), schema(), &file.spots, &findings).map(|(_, words)| words)
}

#[test]
fn hover_says_what_a_key_is_for() {
    let text = format!("{KDL}networks {{ network \"p\" {{ bridge name=\"x\" m‸tu=1450\n}} }} }}\n");
    let said = hovered("a.kdl", &text).unwrap();
    assert_eq!(
        said,
        "**mtu**: whole number, 68 to 65535\n\nBytes in the largest packet. Default: the kernel's."
    );
    let since = format!("{KDL}runtimes {{ runtime \"m\" {{ containerd {{ stats-collect-period‸ \"10s\"; ");
    assert!(hovered("a.kdl", &since).unwrap().contains("since containerd 2.3"));
    let word = format!("{KDL}runtimes {{ runtime \"m\" {{ containerd config=\"o‸wn\" ");
    assert_eq!(hovered("a.kdl", &word).unwrap(), "`own`: The whole configuration file is Purlin's.");
    let yaml = "apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nspec:\n  networks:\n    pods:\n      bridge:\n        mt‸u: 1450\n";
    assert!(hovered("a.yaml", yaml).unwrap().starts_with("**mtu**: whole number"));
    // The same in a text that does not parse.
    assert!(hovered("a.yaml", &yaml.replace("1450", "[1450")).unwrap().starts_with("**mtu**: whole number"));
    assert_eq!(hovered("a.kdl", &format!("{KDL}// mt‸u\n}}")), None);
}

#[test]
fn hover_explains_the_code_of_a_finding() {
    let said = hovered("a.kdl", &format!("{KDL}netw‸orkz {{ }}\n}}\n")).unwrap();
    assert!(said.contains("**PUR0101**: a key that the spec does not know\n\nA key stands"), "{said}");
}

const PART: &str = "purlin \"v1alpha1\"\npart { devices { device \"a.b/cc\" { path \"/dev/c\"; }; }; }\n";
const SPEC: &str = "purlin \"v1alpha1\"\nnode \"a\" {\n include \"p.kdl\"\n runtimes { runtime \"m\" { containerd version=\"2.1\" config=\"own\" { handler \"runc\" default=#true; }; }\n hook \"h\" stage=\"poststop\" path=\"/x\" { when { device \"a.‸b/cc\"; }; }; }\n}\n";

#[test]
fn a_name_is_found_in_all_files_of_a_spec() {
    let (analysis, at) = looked(&[("a.kdl", SPEC), ("p.kdl", PART)]);
    assert!(analysis.findings.is_empty(), "{:?}", analysis.findings);
    let target = target(&analysis.files[0].spots, at).unwrap();
    let found: Vec<_> = occurrences(&analysis, &target)
        .into_iter()
        .map(|(file, span, definition)| {
            (analysis.sources.name(file).to_owned(), analysis.sources.text(file)[span].to_owned(), definition)
        })
        .collect();
    let quoted = "\"a.b/cc\"".to_owned();
    assert_eq!(found, [("a.kdl".into(), quoted.clone(), false), ("p.kdl".into(), quoted, true)]);
}

fn renamed(files: &[(&'static str, &str)], new: &str) -> Result<Vec<String>, RenameError> {
    let (analysis, at) = looked(files);
    let edits = rename(&[&analysis], files[0].0, at, new)?;
    let apply = |(name, edits): (&String, &Vec<Edit>)| {
        let mut text = analysis.sources.text(analysis.file(name).unwrap().id).to_owned();
        edits.iter().rev().for_each(|e| text.replace_range(e.start..e.end, &e.replacement));
        text
    };
    Ok(edits.iter().map(apply).collect())
}

#[test]
fn rename_changes_a_name_everywhere_or_says_why_not() {
    let files = [("a.kdl", SPEC), ("p.kdl", PART)];
    let texts = renamed(&files, "x.y/zz").unwrap();
    assert_eq!(texts, [SPEC.replace('‸', "").replace("a.b/cc", "x.y/zz"), PART.replace("a.b/cc", "x.y/zz")]);
    let Err(RenameError::Form(said)) = renamed(&files, "x") else { panic!("`x` is no kind") };
    assert!(said.contains("vendor"), "{said}");
    let taken = PART.replace("/dev/c\"; }", "/dev/c\"; }; device \"x.y/zz\" { path \"/dev/z\"; }");
    assert_eq!(
        renamed(&[("a.kdl", SPEC), ("p.kdl", &taken)], "x.y/zz"),
        Err(RenameError::Taken("x.y/zz".into()))
    );
    let none = SPEC.replace('‸', "").replace("include", "inc‸lude");
    assert_eq!(renamed(&[("a.kdl", &none), ("p.kdl", PART)], "x.y/zz"), Err(RenameError::NoName));
    let broken = PART.replace("part {", "part { {");
    assert_eq!(
        renamed(&[("a.kdl", SPEC), ("p.kdl", &broken)], "x.y/zz"),
        Err(RenameError::Broken("a.kdl".into()))
    );
    let unknown = PART.replace("a.b/cc", "o.b/cc");
    assert_eq!(renamed(&[("a.kdl", SPEC), ("p.kdl", &unknown)], "x.y/zz"), Err(RenameError::NoName));
    let yaml = "apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nmetadata: { name: a }\nspec:\n  devices:\n    a.b/‸cc: { paths: [/dev/c] }\n  runtimes:\n    hooks: { h: { when: { devices: ['a.b/cc'] } } }\n";
    let texts = renamed(&[("a.yaml", yaml)], "x.y/zz").unwrap();
    assert_eq!(texts, [yaml.replace('‸', "").replace("'a.b/cc'", "x.y/zz").replace("a.b/cc", "x.y/zz")]);
}

#[test]
fn a_part_that_others_include_ties_their_names() {
    let other = SPEC.replace("node \"a\"", "node \"b\"").replace('‸', "");
    let texts = [("a.kdl", SPEC), ("p.kdl", PART), ("b.kdl", other.as_str())];
    let (first, at) = looked(&texts);
    let (second, _) = looked(&[texts[2], texts[1]]);
    let third = looked(&[(
        "c.kdl",
        &other.replace("include \"p.kdl\"", "devices { device \"a.b/cc\" { path \"/dev/c\"; }; }"),
    )])
    .0;
    let edits = rename(&[&first, &second, &third], "a.kdl", at, "x.y/zz").unwrap();
    assert_eq!(edits.keys().collect::<Vec<_>>(), ["a.kdl", "b.kdl", "p.kdl"]);
    assert_eq!(edits["p.kdl"].len(), 1);
}

#[test]
fn a_part_alone_is_checked_for_its_shape() {
    let (analysis, _) = looked(&[(
        "p.kdl",
        "purlin \"v1alpha1\"\npart { networks { network \"p\" { bridge mtu=1450; ipam; }; }; }\n",
    )]);
    assert!(analysis.part && analysis.findings.is_empty(), "{:?}", analysis.findings);
    let yaml = "apiVersion: purlin.dev/v1alpha1\nkind: NodePart\nspec:\n  networks: { p: { bridge: { mtu: x, nam: y } } }\n";
    let (analysis, _) = looked(&[("p.yaml", yaml)]);
    let codes: Vec<_> = analysis.findings.iter().map(|d| d.code.name()).collect();
    assert_eq!(codes, ["PUR0103", "PUR0101"]);
}

#[test]
fn fixes_touch_what_they_are_asked_about() {
    let (analysis, at) = looked(&[(
        "a.kdl",
        &format!(
            "{KDL}networks {{ network \"p\" {{ bridge name=\"x\" ip-masq=true\n po‸rtmpa\n ipam {{ range \"10.0.0.0/8\"; }} }} }}\n}}\n"
        ),
    )]);
    let found: Vec<_> = fixes(&analysis, analysis.files[0].id, &(at..at))
        .into_iter()
        .map(|(_, fix)| fix.replacement.as_str())
        .collect();
    assert_eq!(found, ["portmap"]);
    let certain: Vec<_> =
        certain_fixes(&analysis, analysis.files[0].id).into_iter().map(|f| f.replacement.as_str()).collect();
    assert!(certain.contains(&"#true"), "{certain:?} {:?}", analysis.findings);
}

#[test]
fn symbols_are_sections_and_the_names_in_them() {
    let told = symbols(&spots(include_str!("../../examples/gpu-sim.kdl"), Syntax::Kdl, schema()));
    let names: Vec<_> = told.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["runtimes", "networks", "devices"]);
    let handlers: Vec<_> = told[0].children[0].children.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(handlers, ["runc", "nvidia"]);
    let yaml = symbols(&spots(include_str!("../../examples/gpu-sim.yaml"), Syntax::Yaml, schema()));
    assert_eq!(yaml.len(), 3);
}

/// Wherever a text breaks off, and whatever stands there, there is an answer and no panic.
#[test]
fn every_place_of_every_text_has_an_answer() {
    let texts = [
        (include_str!("../../examples/edge.kdl"), Syntax::Kdl),
        (include_str!("../../examples/edge.yaml"), Syntax::Yaml),
        ("{ { { \"a\" = = } } } }\r\nnode \"\u{1f600}\" { x \"\r\n /- /* */ é=\"\\", Syntax::Kdl),
        ("spec:\r\n  - - a: {b: [\"c\u{1f600}\r\n - : x\n\t- y: |\n  z\n'", Syntax::Yaml),
        ("{\"spec\": {\"networks\": {\"p\": [{", Syntax::Json),
    ];
    let files = || Vec::new();
    let known = Known { names: &known, files: &files, snippets: true };
    for (text, syntax) in texts {
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            for text in [text, &text[..at]] {
                if let Some((range, _)) = complete(text, at, syntax, schema(), &known) {
                    assert!(
                        text.is_char_boundary(range.start) && range.start <= at,
                        "{syntax:?} {at} {range:?}"
                    );
                    assert!(text.get(range).is_some());
                }
                let _ = hover(text, at, syntax, schema(), &[], &[]);
            }
        }
    }
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "#",
    "#\"",
    "- ",
    ": ",
    "=",
    ";",
    "\\",
    "\n",
    "\r\n",
    "\r",
    "  ",
    "/*",
    "*/",
    "/-",
    "//",
    "| ",
    ", ",
    "\t",
    "\u{1f600}",
    "\u{feff}",
    "purlin ",
    "node ",
    "\"a\" ",
    "spec",
    "networks",
    "devices",
    "runtimes",
    "hooks",
    "defaults",
    "when",
    "device ",
    "include ",
    "network ",
    "handler ",
    "&a ",
    "*a ",
    "!t ",
    "\"\"\"\n",
    "#true",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]
    #[test]
    fn no_text_makes_an_answer_fail(pieces in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = pieces.iter().map(|at| PIECES[*at]).collect();
        let files = || Vec::new();
        let known = Known { names: &known, files: &files, snippets: true };
        for syntax in [Syntax::Kdl, Syntax::Yaml, Syntax::Json] {
            let spots = spots(&text, syntax, schema());
            for spot in &spots {
                assert!(text.get(spot.span.clone()).is_some());
            }
            let _ = (symbols(&spots), is_spec(&text, syntax, schema()));
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                if let Some((range, _)) = complete(&text, at, syntax, schema(), &known) {
                    assert!(text.get(range.clone()).is_some() && range.start <= at, "{syntax:?} {at} {range:?}");
                }
                let _ = (hover(&text, at, syntax, schema(), &spots, &[]), target(&spots, at));
            }
        }
    }
}
