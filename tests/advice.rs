//! What a newcomer got wrong, and what Purlin now says of it.

#[path = "common/cli.rs"]
mod cli;

use ::purlin::compile::compile;
use ::purlin::diag::{Code, Findings, Sources};
use ::purlin::emission::emit;
use ::purlin::source::Syntax;
use cli::{purlin, said};

fn codes(body: &str) -> Vec<(Code, String)> {
    let mut sources = Sources::default();
    let file = sources.add("node.kdl", format!("purlin \"v1alpha1\"\nnode \"edge-a\" {{\n{body}\n}}\n"));
    let mut findings = Findings::new();
    if let Some(node) = compile(&sources, file, Syntax::Kdl, &mut findings) {
        let _ = emit(&node, None, &mut findings);
    }
    findings.into_sorted().into_iter().map(|d| (d.code, d.message)).collect()
}

fn only(body: &str, code: Code, says: &str) {
    let found = codes(body);
    assert!(matches!(found.as_slice(), [(c, m)] if *c == code && m.contains(says)), "{body}\n{found:?}");
}

const RUNTIME: &str =
    r#"runtime "main" { containerd version="2.1" config="own" { handler "runc" default=#true; } }"#;

#[test]
fn a_handler_of_another_name_needs_its_program() {
    let body = r#"runtimes { runtime "main" { containerd version="2.1" config="own" {
        handler "runc" default=#true
        handler "crun" { runtime-class "crun"; }
    } } }"#;
    only(body, Code::PUR0105, "would run `runc`");
}

#[test]
fn an_empty_registry_beside_the_default_one_says_something() {
    let with = |more: &str| format!("runtimes {{ {RUNTIME}; registry \"gcr.io\"; {more} }}");
    only(&with(""), Code::PUR0214, "neither mirrors nor a server");
    assert_eq!(codes(&with(r#"registry "_default" { mirror "https://m.example"; }"#)), []);
}

#[test]
fn a_mirror_in_another_spelling_is_the_same_mirror() {
    let with = |mirrors: &str| format!("runtimes {{ {RUNTIME}; registry \"docker.io\" {{ {mirrors} }} }}");
    let first = r#"mirror "https://mirror.example""#;
    for again in [
        r#"mirror "https://mirror.example/""#,
        r#"mirror "https://mirror.example:443""#,
        r#"mirror "https://Mirror.Example""#,
        r#"mirror "https://mirror.example/v2""#,
        r#"mirror "https://mirror.example/v2" override-path=#true"#,
        r#"mirror "https://mirror.example" override-path=#true"#,
    ] {
        only(&with(&format!("{first}; {again}")), Code::PUR0205, "twice");
    }
    for other in [
        r#"mirror "http://mirror.example""#,
        r#"mirror "https://mirror.example:5000""#,
        r#"mirror "https://mirror.example/hub""#,
        r#"mirror "https://mirror.example/" override-path=#true"#,
    ] {
        assert_eq!(codes(&with(&format!("{first}; {other}"))), [], "{other}");
    }
}

#[test]
fn the_keys_that_a_node_takes_are_listed_in_one_order() {
    for (body, title) in [("qqq", "`node` takes "), ("target { qqq; }", "`target` takes ")] {
        let mut sources = Sources::default();
        let text = format!("purlin \"v1alpha1\"\nnode \"edge-a\" {{ {body}; }}\n");
        let file = sources.add("node.kdl", text);
        let mut findings = Findings::new();
        assert!(compile(&sources, file, Syntax::Kdl, &mut findings).is_none());
        let help: Vec<String> = findings.into_sorted().into_iter().flat_map(|d| d.help).collect();
        let list = help.iter().find_map(|h| h.strip_prefix(title)).unwrap_or_else(|| panic!("{help:?}"));
        let keys: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
        assert!(keys.len() > 1 && keys.is_sorted(), "{list}");
    }
}

#[test]
fn a_file_where_a_directory_is_wanted_is_named_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let node = "purlin \"v1alpha1\"\nnode \"edge-a\"\n";
    std::fs::write(dir.path().join("node.kdl"), node).unwrap();
    let fails = |arguments: &[&str], says: &str| {
        let output = purlin(dir.path(), arguments);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(says) && !said.contains("os error"), "{arguments:?}: {said}");
    };
    for command in [&["diff", "node.kdl"][..], &["check", "node.kdl"], &["render", "node.kdl"], &["observe"]]
    {
        let with = |root: &'static str| [command, &["--root", root]].concat();
        fails(&with("node.kdl"), "`node.kdl` is no directory; name one");
        fails(&with("node.kdl/below"), "`node.kdl/below` is no directory; name one");
        fails(&with("absent"), "there is no directory `absent`; make it");
    }
    fails(&["render", "node.kdl", "-o", "node.kdl"], "`node.kdl` is no directory; name one");
    fails(&["render", "node.kdl", "-o", "node.kdl/below"], "`node.kdl/below` is no directory; name one");
    fails(&["observe", "-o", "absent/facts.json"], "there is no directory `absent`; make it");
}

#[test]
fn a_name_in_full_that_anothers_pattern_matches_is_claimed_twice() {
    let with = |path: &str| {
        format!(
            r#"devices {{ device "a.example/all" {{ path "/dev/video*"; }}; device "a.example/one" {{ path "{path}"; }} }}"#
        )
    };
    only(&with("/dev/video0"), Code::PUR0205, "claim one device");
    assert_eq!(codes(&with("/dev/audio0")), []);
    only(&with("/dev/{video1,video2}"), Code::PUR0104, "braces");
}

#[test]
fn a_word_that_is_gone_is_not_corrected_to_one_that_means_something_else() {
    let body = format!(
        r#"runtimes {{ {RUNTIME}; hook "h" stage="prestart" path="/usr/bin/h" {{ when {{ always; }} }} }}"#
    );
    only(&body, Code::PUR0109, "prestart");
}

#[test]
fn a_node_of_a_block_is_sent_into_the_block() {
    let dir = tempfile::tempdir().unwrap();
    for (node, block) in [("device \"a.example/bc\"", "devices"), ("network \"pods\"", "networks")] {
        let text = format!("purlin \"v1alpha1\"\nnode \"edge-a\" {{\n    {node} {{\n    }}\n}}\n");
        std::fs::write(dir.path().join("node.kdl"), text).unwrap();
        let output = purlin(dir.path(), &["check", "node.kdl"]);
        let said = said(&output);
        assert!(said.contains(&format!("belongs in `{block}`")), "{said}");
    }
}

#[test]
fn json_keeps_its_schema_and_says_when_more_may_follow() {
    let dir = tempfile::tempdir().unwrap();
    let validator = jsonschema::validator_for(
        &serde_json::from_str(include_str!("../schemas/diagnostics.json")).unwrap(),
    )
    .unwrap();
    let device = "devices {\n device \"a.example/bc\" {\n path \"/dev/x*\"\n }\n }";
    for (body, code, cut_short) in [(device, 0, false), ("bridge", 1, true)] {
        std::fs::write(
            dir.path().join("node.kdl"),
            format!("purlin \"v1alpha1\"\nnode \"a\" {{\n{body}\n}}\n"),
        )
        .unwrap();
        let output = purlin(dir.path(), &["check", "node.kdl", "--format", "json"]);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}\n{document:#}");
        assert_eq!(document["cutShort"], cut_short, "{document:#}");
        assert_eq!(document["unproven"].as_array().unwrap().is_empty(), cut_short);
        let text = said(&purlin(dir.path(), &["check", "node.kdl"]));
        assert_eq!(text.contains("more may follow"), cut_short, "{text}");
    }
}

#[test]
fn one_file_that_cannot_be_read_does_not_silence_the_others() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bad.kdl"), "purlin \"v1alpha1\"\nnode \"Edge\"\n").unwrap();
    let output = purlin(dir.path(), &["check", "absent.kdl", "bad.kdl"]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("PUR0104") && said.contains("cannot read `absent.kdl`"), "{said}");
}
