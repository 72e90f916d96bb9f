//! What a newcomer got wrong, and what Purlin now says of it.

#[path = "common/cli.rs"]
mod cli;

use ::purlin::compile::compile;
use ::purlin::diag::{Code, Diagnostic, Findings, Sources, human};
use ::purlin::emission::emit;
use ::purlin::facts::Facts;
use ::purlin::plan::diff;
use ::purlin::source::Syntax;
use cli::{purlin, said};

/// All that is said of a text by a name, with what is known of the node.
fn check(name: &str, text: &str, facts: Option<&Facts>) -> (Vec<Diagnostic>, Sources) {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut findings = Findings::new();
    if let Some(node) = compile(&sources, file, Syntax::of(name).unwrap(), &mut findings) {
        let plan = emit(&node, facts, &mut findings);
        if let Some(facts) = facts {
            let _ = diff(&plan, facts, &mut findings);
        }
    }
    sources.mask_credentials();
    (findings.into_sorted(), sources)
}

fn kdl(body: &str) -> String {
    format!("purlin \"v1alpha1\"\nnode \"edge-a\" {{\n{body}\n}}\n")
}

fn yaml(body: &str) -> String {
    let head = "apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nmetadata: { name: edge-a }\nspec:\n";
    format!("{head}  {}\n", body.replace('\n', "\n  "))
}

fn codes(body: &str) -> Vec<(Code, String)> {
    check("node.kdl", &kdl(body), None).0.into_iter().map(|d| (d.code, d.message)).collect()
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

/// One wrong thing, the words that must be said of it in the one finding, and whether a fix mends the whole of it.
#[track_caller]
fn advice(name: &str, text: &str, words: &[&str], mends: bool) {
    let (found, sources) = check(name, text, None);
    let said = human::render(&found, &sources, human::Style { color: false, width: 200 });
    assert!(found.len() == 1, "not one finding\n{text}\n{said}");
    for word in words {
        assert!(said.contains(word), "{word}\n{text}\n{said}");
    }
    let fix = found[0].fix.as_ref();
    assert_eq!(fix.is_some(), mends, "{text}\n{said}");
    if let Some(fix) = fix {
        let mut mended = text.to_owned();
        mended.replace_range(fix.span.range(), &fix.replacement);
        let (left, sources) = check(name, &mended, None);
        let left = human::render(&left, &sources, human::Style::default());
        assert!(!left.contains("error"), "{said}\n{mended}\n{left}");
    }
}

const FIX: bool = true;
const SAY: bool = false;

#[test]
fn one_step_leads_to_the_right_form_in_kdl() {
    let runtime = |line: &str| format!("runtimes {{ runtime \"m\" {{ {line} }} }}");
    let handler = |line: &str| runtime(&format!("containerd version=\"2.1\" config=\"own\" {{ {line}; }}"));
    let device = |line: &str| format!("devices {{ device \"a.example/b\" {{ {line}; }} }}");
    let hook = |line: &str| {
        format!("runtimes {{ {RUNTIME}; hook \"h\" stage=\"poststop\" path=\"/usr/bin/h\"{line} }}")
    };
    let network =
        |name: &str, lines: &str| format!("networks {{ network \"{name}\" default=#true {{\n{lines}\n}} }}");
    let range = |range: &str| network("p", &format!("bridge name=\"cni0\"; ipam {{ range {range}; }}"));
    let registry =
        |name: &str, lines: &str| format!("runtimes {{ {RUNTIME}; registry \"{name}\" {{\n  {lines}\n}} }}");
    let file = "/etc/containerd/config.toml";
    let ipam = "ipam { range \"10.22.0.0/24\"; }";
    let url = "https://m.example";
    for (body, words, mends) in [
        (
            device("path \"/dev/x\" permissions=\"rwm\""),
            &["node around: `device \"a.example/b\" permissions=\"rwm\"`"][..],
            SAY,
        ),
        (device("path file=\"/dev/x\""), &["write the value alone: `path \"/dev/x\"`"], FIX),
        (device("path \"/dev/x\"; usb vendor=\"0403\""), &["`path` is the choice made here"], SAY),
        (device("usb vendor=\"0403\""), &["use `path` or `nvidia` in its place"], SAY),
        (device("path \"/dev/x\"").replace("a.example/b", "A.example/B"), &["`a.example/B`"], FIX),
        (
            format!("adopt \"{file}\""),
            &["`replace`: ", "`remove`: ", "`adopt \"/etc/containerd/config.toml\" \"replace\"`"],
            FIX,
        ),
        (format!("adopt \"{file}\" #true"), &["write `\"replace\"` or `\"remove\"`"], SAY),
        (format!("adopt \"{file}\" remove=#true"), &["config.toml\" \"remove\"`"], FIX),
        ("label a=b".into(), &["write `label \"a\" \"b\"`"], FIX),
        ("label a=b c=\"d\"".into(), &["write `label \"a\" \"b\"; label \"c\" \"d\"`"], FIX),
        ("label \"a=b\"".into(), &["write `label \"a\" \"b\"`"], FIX),
        ("target kubelet=\"v1.35\"".into(), &["write `1.35`"], FIX),
        ("target kubelet=\"1.35.2\"".into(), &["write `1.35`"], FIX),
        ("target kubelet=\"1.35+\"".into(), &["write `1.35`", "a range with both its ends"], FIX),
        ("target kubelet=\"1.34..1.35\"".into(), &["write `1.34-1.35`"], FIX),
        ("target kubelet=\"latest\"".into(), &["write it like `1.35`"], SAY),
        ("target \"1.35\"".into(), &["write `target kubelet=\"1.35\"`"], FIX),
        (
            runtime("containerd version=\"2.1\" { handler \"runc\" default=#true; }"),
            &["add `config=\"own\"` or `config=\"drop-in\"`", "`own`: ", "`drop-in`: "],
            SAY,
        ),
        (
            runtime("containerd \"2.1\" config=\"own\" { handler \"runc\" default=#true; }"),
            &["`containerd version=\"2.1\"`"],
            FIX,
        ),
        (handler("handler \"runc\" default=#true systemdCgroup=#true"), &["write `systemd-cgroup`"], FIX),
        (
            handler("handler \"runc\" default=#true systemdCgroup=#true systemd-cgroup=#true"),
            &["given twice", "keep one"],
            SAY,
        ),
        (
            handler("handler \"runc\" default=#true nvidia=#true"),
            &["`devices { device \"…\" { nvidia } }`"],
            SAY,
        ),
        (
            runtime(
                "containerd version=\"2.1\" config=\"own\" nvidia=#true { handler \"runc\" default=#true; }",
            ),
            &["`devices { device \"…\" { nvidia } }`"],
            SAY,
        ),
        (
            handler("handler \"runc\" \"/usr/bin/runc\" default=#true"),
            &["`handler \"runc\" binary=\"/usr/bin/runc\"`"],
            FIX,
        ),
        (hook(""), &["add in its block: `when { always }`"], SAY),
        (hook("{ when \"always\"; }"), &["write `when { always }`"], FIX),
        (hook(" when=\"always\""), &["in the block: `when { always }`"], SAY),
        (hook("{ when { always; }; timeout 10; }"), &["write `10s`", "timeout \"10s\""], FIX),
        (hook(" timeout=\"10 sec\" { when { always; }; }"), &["write `10s`"], FIX),
        (range("\"10.22.0.1\""), &["write `10.22.0.0/24`"], FIX),
        (range("\"10.22.0.1/16\""), &["write `10.22.0.0/16`"], FIX),
        (
            range("\"10.22.0.0/24\" \"10.23.0.0/24\""),
            &["`range \"10.22.0.0/24\"; range \"10.23.0.0/24\"`"],
            FIX,
        ),
        (network("p", &format!("bridge \"cni0\"; {ipam}")), &["write `bridge name=\"cni0\"`"], FIX),
        (
            network("p", ipam).replace("default=#true", "bridge=\"cni0\""),
            &["in the block: `bridge name=\"cni0\"`"],
            SAY,
        ),
        (
            network("Pod_Net", &format!("bridge name=\"cni0\"; {ipam}")),
            &["`_` and upper-case", "write `pod-net`"],
            FIX,
        ),
        (
            format!("networks {{ p default=#true {{ bridge name=\"cni0\"; {ipam}; }} }}"),
            &["write `network \"p\"`"],
            FIX,
        ),
        (registry("*", &format!("mirror \"{url}\"")), &["write `_default`"], FIX),
        (registry("default", &format!("mirror \"{url}\"")), &["write `_default`"], FIX),
        (registry("Docker.io:443", &format!("mirror \"{url}\"")), &["write `docker.io:443`"], FIX),
        (registry("docker.io", &format!("mirrors \"{url}\"")), &["write `mirror`"], FIX),
        (
            registry("docker.io", &format!("mirror \"{url}\" \"https://n.example\"")),
            &["`mirror \"https://m.example\"; mirror \"https://n.example\"`"],
            FIX,
        ),
    ] {
        advice("node.kdl", &kdl(&body), words, mends);
    }
}

#[test]
fn one_step_leads_to_the_right_form_in_yaml() {
    let containerd = |line: &str| {
        format!(
            "runtimes:\n  runtimes:\n    main:\n      containerd:\n        version: \"2.1\"\n        {line}"
        )
    };
    let beside = |lines: &str| {
        format!("{}\n  {lines}", containerd("config: own\n        handlers: { runc: { default: true } }"))
    };
    let hook = |line: &str| beside(&format!("hooks: {{ h: {{ stage: poststop, path: /usr/bin/h{line} }} }}"));
    let registry = |line: &str| beside(&format!("registries: {{ docker.io: {{ {line} }} }}"));
    let network = |line: &str| format!("networks: {{ p: {{ default: true, {line} }} }}");
    let file = "/etc/containerd/config.toml";
    let ipam = "ipam: { ranges: [{ subnet: 10.22.0.0/24 }] }";
    let right = "mirrors: [{ url: \"https://m.example\" }]";
    for (body, words, mends) in [
        (
            containerd("config: own\n        handlers:\n          - name: runc\n            default: true"),
            &["the name is the key", "`handlers: { runc: { default: true } }`"][..],
            FIX,
        ),
        (
            "devices:\n  - kind: a.example/b\n    paths: [/dev/x]".into(),
            &["the name is the key", "`devices: { a.example/b: { paths: [/dev/x] } }`"],
            FIX,
        ),
        (
            format!("networks:\n  - name: p\n    default: true\n    bridge: {{ name: cni0 }}\n    {ipam}"),
            &["the name is the key", "`networks: { p: { default: true, bridge: "],
            FIX,
        ),
        (
            "devices: [a.example/b]".into(),
            &["`devices: { a.example/b: { paths: [\"/dev/ttyUSB*\"] } }`"],
            SAY,
        ),
        (
            "devices: { a.example/b: { paths: [{ path: /dev/x, permissions: rwm }] } }".into(),
            &["write `/dev/x` alone", "`permissions` belongs in `devices.\"a.example/b\"`"],
            SAY,
        ),
        ("devices: { a.example/b: { path: /dev/x } }".into(), &["`paths: [/dev/x]`"], FIX),
        ("devices: { a.example/b: { nvidia: true } }".into(), &["write `nvidia: {}`"], FIX),
        ("devices: { A.example/B: { paths: [/dev/x] } }".into(), &["write `a.example/B`"], FIX),
        (
            "devices: { a.example/b: { paths: [/dev/x], usb: {} } }".into(),
            &["`paths` is the choice made here"],
            SAY,
        ),
        (network(&format!("bridge: cni0, {ipam}")), &["write `bridge: { name: cni0 }`"], FIX),
        (
            network("bridge: { name: cni0 }, ipam: 10.22.0.0/24"),
            &["`ipam: { ranges: [{ subnet: \"10.22.0.0/24\" }] }`"],
            FIX,
        ),
        (
            network("bridge: { name: cni0 }, ipam: { range: 10.22.0.0/24 }"),
            &["`ranges: [{ subnet: \"10.22.0.0/24\" }]`"],
            FIX,
        ),
        (
            network("bridge: { name: cni0 }, ipam: { ranges: [10.22.0.0/24] }"),
            &["`{ subnet: \"10.22.0.0/24\" }`"],
            FIX,
        ),
        (
            network(&format!("bridge: {{ name: cni0 }}, {ipam}")).replace("{ p:", "{ Pod_Net:"),
            &["write `pod-net`"],
            FIX,
        ),
        (registry("mirrors: [\"https://m.example\"]"), &["write `{ url: \"https://m.example\" }`"], FIX),
        (registry("mirror: \"https://m.example\""), &[right], FIX),
        (registry("mirror: [\"https://m.example\"]"), &[right], FIX),
        (registry("mirror: { url: \"https://m.example\" }"), &[right], FIX),
        (registry(&format!("{right}, mirror: []")), &["already given as `mirrors`"], SAY),
        (registry(right).replace("docker.io", "\"*\""), &["write `_default`"], FIX),
        (
            format!("adopt: {{ {file}: true }}"),
            &["write `replace` or `remove`", "`replace`: ", "`remove`: "],
            SAY,
        ),
        (format!("adopt: [{file}]"), &["write `adopt: { /etc/containerd/config.toml: replace }`"], SAY),
        (format!("adopt: {file}"), &["write `adopt: { /etc/containerd/config.toml: replace }`"], SAY),
        ("target: { kubelet: 1.35.2 }".into(), &["write `1.35`"], FIX),
        (
            containerd("handlers: { runc: { default: true } }"),
            &["add `config: own` or `config: drop-in`"],
            SAY,
        ),
        (
            containerd("config: own\n        nvidia: true\n        handlers: { runc: { default: true } }"),
            &["`devices: { …: { nvidia: {} } }`"],
            SAY,
        ),
        (
            containerd(
                "config: own\n        handlers: { runc: { default: true, systemdCgroup: true, systemd-cgroup: true } }",
            ),
            &["already given as `systemdCgroup`"],
            SAY,
        ),
        (hook(""), &["add `when: { always: true }`"], SAY),
        (hook(", when: always"), &["write `when: { always: true }`"], FIX),
        (hook(", when: { always: true }, timeout: 10"), &["write `10s`", "timeout: \"10s\""], FIX),
    ] {
        advice("node.yaml", &yaml(&body), words, mends);
    }
}

#[test]
fn one_step_leads_to_the_right_file() {
    let (k, y) = (kdl("label \"a\" \"b\""), yaml("adopt: {}"));
    let json = r#"{"apiVersion": "v1alpha1", "kind": "NodeSpec", "metadata": {"name": "a"}}"#;
    for (name, text, words, mends) in [
        ("node.kdl", "purlin \"v1alpha1\"\nnode\n", &["write `node \"edge-a\"`"][..], SAY),
        ("node.kdl", "purlin \"purlin.dev/v1alpha1\"\nnode \"a\"\n", &["write `\"v1alpha1\"`"], FIX),
        ("node.kdl", "purlin \"v1alpha1\"\npurlin \"v1alpha1\"\nnode \"a\"\n", &["leave this one out"], FIX),
        (
            "node.kdl",
            &format!("{k}{k}"),
            &["into a file of its own, which begins with `purlin \"v1alpha1\"`"],
            SAY,
        ),
        ("node.yaml", &y.replace("purlin.dev/", ""), &["write `purlin.dev/v1alpha1`"], FIX),
        ("node.json", json, &["write `\"purlin.dev/v1alpha1\"`"], FIX),
        ("node.yaml", &y.replace("{ name: edge-a }", "{}"), &["add `name: edge-a`"], SAY),
        ("node.kdl", &y, &["this looks like YAML, not KDL", "name the file `node.yaml`"], SAY),
        ("node.kdl", json, &["this looks like JSON, not KDL", "name the file `node.json`"], SAY),
        ("node.yaml", &k, &["this looks like KDL, not YAML", "name the file `node.kdl`"], SAY),
        ("node.json", &format!("# a comment\n{y}"), &["this looks like YAML, not JSON"], SAY),
    ] {
        advice(name, text, words, mends);
    }
    assert_eq!(check("node.yaml", &json.replace("v1alpha1", "purlin.dev/v1alpha1"), None).0, []);
    // What is surely meant may be applied without asking.
    for (name, text) in [("a.yaml", y.replace("purlin.dev/", "")), ("a.kdl", kdl("label a=b"))] {
        assert!(check(name, &text, None).0[0].fix.as_ref().is_some_and(|fix| fix.certain), "{text}");
    }
}

#[test]
fn what_is_wrong_beside_a_wrong_key_is_said_with_it() {
    let body = r#"runtimes { runtime "m" { containerd version="2.1" config="own" {
        handler "runc" default=#true SystemdCgroup=true
    } } }"#;
    let said = codes(body);
    assert!(said.len() == 2 && said.iter().any(|(_, m)| m == "`true` is no boolean in KDL"), "{said:?}");
    let body = r#"devices { device "a.example/b" { path "/dev/x"; nvidia; usb vendor="0403"; } }"#;
    assert_eq!(codes(body).iter().map(|(c, _)| *c).collect::<Vec<_>>(), [Code::PUR0106, Code::PUR0108]);
}

#[test]
fn advice_shows_no_secret() {
    let url = "https://user:hunter2@m.example";
    let registry = |line: &str| format!("runtimes {{ {RUNTIME}; registry \"docker.io\" {{ {line}; }} }}");
    let mirrors = |value: &str| yaml(&format!("runtimes: {{ registries: {{ docker.io: {{ {value} }} }} }}"));
    for (name, text) in [
        ("a.kdl", kdl(&registry(&format!("mirror \"{url}\" \"https://n.example\"")))),
        ("a.kdl", kdl(&registry(&format!("mirrors={url:?}")))),
        ("a.kdl", kdl(&format!("runtimes {{ registry \"docker.io\" \"{url}\"; }}"))),
        ("a.yaml", mirrors(&format!("mirror: \"{url}\""))),
        ("a.yaml", mirrors(&format!("mirrors: \"{url}\""))),
        ("a.yaml", mirrors(&format!("mirrors: [\"{url}\"]"))),
        ("a.yaml", yaml(&format!("runtimes: {{ registries: [\"{url}\"] }}"))),
    ] {
        let (found, sources) = check(name, &text, None);
        let said = human::render(&found, &sources, human::Style::default());
        assert!(!found.is_empty() && !said.contains("hunter2"), "{text}\n{said}");
    }
}

#[test]
fn a_foreign_file_is_adopted_where_the_help_says() {
    let facts = |toml: &str| {
        let file = serde_json::json!({"kind": "regular", "mode": "0644", "text": toml});
        let facts = serde_json::json!({"version": "purlin.dev/facts/v1alpha1", "places": ["/etc/containerd"],
            "files": {"/etc/containerd/config.toml": file}});
        Facts::from_json(&facts.to_string()).unwrap()
    };
    let said = |name: &str, text: &str, toml: &str| {
        let (found, sources) = check(name, text, Some(&facts(toml)));
        human::render(&found, &sources, human::Style::default())
    };
    let own = format!("runtimes {{ {RUNTIME} }}");
    let adopt = "adopt \"/etc/containerd/config.toml\" \"replace\"";
    let text = said("a.kdl", &kdl(&own), "version = 3");
    assert!(text.contains(&format!("`{adopt}` in the block of `node`")), "{text}");
    assert_eq!(said("a.kdl", &kdl(&format!("{adopt}\n{own}")), "version = 3"), "");
    let own = "runtimes: { runtimes: { m: { containerd: { version: \"2.1\", config: own, handlers: { runc: { default: true } } } } } }";
    let text = said("a.yaml", &yaml(own), "version = 3");
    assert!(text.contains("`adopt: { /etc/containerd/config.toml: replace }` under `spec`"), "{text}");

    let drop_in = format!("runtimes {{ {} }}", RUNTIME.replace("\"own\"", "\"drop-in\""));
    let text = said("a.kdl", &kdl(&drop_in), "version = 3\n\nimports = [\n");
    assert!(text.contains("config.toml is not valid TOML, at line 3"), "{text}");
}
