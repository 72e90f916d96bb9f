//! `purlin explain PATH`, alone and with a spec.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

#[path = "common/cli.rs"]
mod cli;

use cli::{purlin, said};
use purlin::compile::{compile_doc, compile_in};
use purlin::diag::{Code, Findings, Sources};
use purlin::emission::emit;
use purlin::explain::{explain, given, human, json};
use purlin::facts::Facts;
use purlin::source::{Alone, Doc, Located, Syntax, Value, all_paths, kebab, locate, next_steps};
use purlin::spec::schema;
use serde_json::Value as Json;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Exit code and all that was said.
fn run(arguments: &[&str]) -> (i32, String) {
    let output = purlin(root(), &[&["explain"], arguments].concat());
    (output.status.code().unwrap(), said(&output))
}

fn fits(document: &Json) {
    let read = |name: &str| std::fs::read_to_string(root().join("schemas").join(name)).unwrap();
    let schema: Json = serde_json::from_str(&read("explain.json")).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let wrong: Vec<_> =
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{document:#}");
}

#[test]
fn a_path_is_told_with_all_that_holds_of_it() {
    for (path, words) in [
        (
            "networks.pods.bridge.mtu",
            &[
                "Bytes in the largest packet.",
                "a whole number from 68 to 65535",
                "required  no",
                "default   the kernel's",
                "network \"pods\" {",
                "mtu 1450",
                "mtu: 1450",
                "/etc/cni/net.d/10-purlin-NETWORK.conflist",
                "\"mtu\": 1450",
            ][..],
        ),
        (
            "network.x.bridge",
            &["networks.x.bridge\n", "exactly one of bridge, macvlan, ptp, ipvlan", "ipMasq", "(required)"],
        ),
        ("networks.*.bridge.isolated", &["Not compiled yet: port isolation", "default   false"]),
        ("networks", &["Each takes", "network \"pods\"", "macvlan", "(not compiled yet)"]),
        (
            "runtimes.registry.docker.io.mirror",
            &["runtimes.registries.\"docker.io\".mirrors\n", "a list", "Tried in this order"],
        ),
        (
            "runtimes.registries.*.mirrors.capabilities",
            &[
                "a list, each one of the words `pull`, `resolve` and `push`",
                "Turn a tag into a digest.",
                "default   pull and resolve",
            ],
        ),
        (
            "runtimes.runtimes.main.containerd.handlers.runc.cgroup-writable",
            &["since     containerd 2.1", "cgroup_writable = true"],
        ),
        (
            "runtimes.runtimes.main.containerd.config",
            &["`own` and `drop-in`", "The whole configuration file is Purlin's.", "required  yes"],
        ),
        ("runtimes.hooks.audit.when.commands", &["checked only"]),
        (
            "devices.example.com/serial.permissions",
            &["devices.\"example.com/serial\".permissions\n", "`rw`", "\"permissions\": \"r\""],
        ),
        ("labels", &["label \"example.com/pool\" \"gpu\"", "plans and diffs show it"]),
        ("name", &["node \"edge-a\"", "metadata:\n    name: edge-a"]),
        ("volumes", &["Not compiled yet: volumes come with a later version"]),
        ("volumes.pools.fast.directory", &["Not compiled yet: volumes come"]),
        ("include", &["include \"parts/gpu.kdl\""]),
        ("defaults.networks.pods.bridge.mtu", &["networks.pods.bridge.mtu\n", "the kernel's"]),
        ("defaults", &["defaults {", "networks"]),
        ("target.kubelet", &["a version or an inclusive range of versions", "1.35"]),
    ] {
        let (code, text) = run(&[path]);
        assert_eq!(code, 0, "{path}: {text}");
        for word in words {
            assert!(text.contains(word), "{path}: no {word:?} in\n{text}");
        }
    }
}

#[test]
fn what_leads_nowhere_is_told_with_the_way() {
    for (path, words) in [
        ("network.pods.brigde", "did you mean `bridge`?"),
        ("networks.pods.bridge.mut", "`networks.pods.bridge` takes no `mut`, but `gateway`, "),
        ("netwroks", "a spec takes no `netwroks`"),
        ("mtu", "did you mean `networks.*.bridge.mtu` or"),
        ("runtimes.main.containerd.version", "did you mean `runtimes.runtimes.main.containerd.version`?"),
        ("networks.pods.bridge.mtu.x", "one value"),
        ("networks.\"pods", "not closed"),
        ("", "empty"),
        ("PUR9999", "there is no code `PUR9999`"),
        ("PUR01O4", "there is no code `PUR01O4`; did you mean PUR0104?"),
    ] {
        let (code, text) = run(&[path]);
        assert!(code == 2 && text.contains(words), "{path}: {code} {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    for arguments in [
        &["PUR0104", "--spec", "examples/laptop.kdl"][..],
        &["--spec", "examples/laptop.kdl"],
        &["name", "--facts", "x"],
    ] {
        assert_eq!(run(arguments).0, 2, "{arguments:?}");
    }
}

#[test]
fn codes_are_explained_as_ever() {
    let (code, text) = run(&["PUR0104"]);
    assert!(code == 0 && text.contains("## Wrong"), "{text}");
    let (code, text) = run(&[]);
    assert!(code == 0 && text.starts_with("PUR0001") && text.contains("purlin explain networks"), "{text}");
}

/// The path as one writes it who knows KDL.
fn in_kdl(located: &Located<'_>) -> String {
    located.path.to_string().split('.').map(kebab).collect::<Vec<_>>().join(".")
}

#[test]
fn every_field_is_explained_in_both_spellings() {
    let all = all_paths(schema());
    assert!(all.len() > 150, "{}", all.len());
    for located in &all {
        let path = located.path.to_string();
        for text in [&path, &in_kdl(located)] {
            let again = locate(schema(), text).unwrap_or_else(|why| panic!("{text}: {why:?}"));
            assert_eq!(again.path, located.path, "{text}");
        }
        let explanation = explain(located);
        assert!(!explanation.description.is_empty() || path.ends_with('*'), "{path} is not described");
        assert!(!explanation.description.contains("Default:"), "{path}");
        let text = human(&explanation, None, false);
        assert!(text.starts_with(&path) && !explanation.example.kdl.contains('…'), "{text}");
        fits(&json(&explanation, None));
    }
    let (_, text) = run(&["networks.pods.bridge.mtu", "--format", "json"]);
    fits(&serde_json::from_str(&text).unwrap());
    for arguments in [&["--format", "json"][..], &["PUR0104", "--format", "json"]] {
        let output = purlin(root(), &[&["explain"], arguments].concat());
        fits(&serde_json::from_slice(&output.stdout).unwrap());
    }
}

/// What a reader pastes is of the right shape; what it means alone may lack what it refers to, or who uses it.
#[test]
fn every_example_is_a_piece_of_a_spec() {
    let lacking = [Code::PUR0201, Code::PUR0203, Code::PUR0214];
    let odd_by_nature = |path: &str| match path.rsplit_once(".when.") {
        // A condition that no runtime evaluates.
        Some(_) => Some(Code::PUR0212),
        // A field that not all versions of the example have.
        None => path.ends_with(".statsCollectPeriod").then_some(Code::PUR0210),
    };
    for located in all_paths(schema()) {
        let path = located.path.to_string();
        let snippet = explain(&located).example;
        let doc = Doc { root: Value::from_json(&snippet.model, Default::default()), trailing: Vec::new() };
        let mut findings = Findings::new();
        let _ = compile_doc(&doc, Syntax::Kdl, &mut findings);
        for finding in findings.into_sorted() {
            let planned = finding.code == Code::PUR0108 && located.planned.is_some();
            let expected = lacking.contains(&finding.code) || odd_by_nature(&path) == Some(finding.code);
            assert!(planned || expected, "{path}: {finding:#?}");
        }
    }
}

#[test]
fn every_step_can_be_completed() {
    let all: Vec<String> = all_paths(schema()).iter().map(|l| l.path.to_string()).collect();
    for path in all {
        let (stem, last) = path.rsplit_once('.').unwrap_or(("", &path));
        let begun = if stem.is_empty() { String::new() } else { format!("{stem}.") };
        let offered = next_steps(schema(), &begun);
        assert!(offered.iter().any(|(offer, _)| offer.ends_with(last)), "{path}: {offered:?}");
    }
}

/// A spec of three files, in a directory.
fn fleet() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put(
        "nodes/a.kdl",
        r#"purlin "v1alpha1"
node "a" {
    include "../base.kdl"
    networks {
        network "pods" default=#true {
            bridge name="cni0"
            ipam { range "10.22.0.0/24" gateway="10.22.0.1"; }
        }
    }
}
"#,
    );
    put(
        "base.kdl",
        r#"purlin "v1alpha1"
part {
    include "far.kdl"
    defaults {
        networks { network "pods" { bridge mtu=9000 ip-masq=#true; }; }
    }
}
"#,
    );
    put(
        "far.kdl",
        r#"purlin "v1alpha1"
part {
    defaults {
        networks { network "pods" { bridge mtu=1400; macvlan parent="eth1"; }; }
    }
}
"#,
    );
    dir
}

#[test]
fn a_value_is_followed_from_its_file_to_the_artifact() {
    let dir = fleet();
    let run = |path: &str, more: &[&str]| {
        let arguments = [&["explain", path, "--spec", "nodes/a.kdl", "--tree", "."], more].concat();
        let output = purlin(dir.path(), &arguments);
        (output.status.code().unwrap(), said(&output), output.stdout)
    };
    for (path, words) in [
        (
            "networks.pods.bridge.mtu",
            &[
                "9000, set at base.kdl:5:48",
                "networks { network \"pods\" { bridge mtu=9000 ip-masq=#true; }; }",
                "the default 1400, set at far.kdl:4:48, yields to what is set at base.kdl:5:48",
                "/etc/cni/net.d/10-purlin-pods.conflist:10",
                "\"mtu\": 9000",
            ][..],
        ),
        (
            "networks.*.bridge.ip-masq",
            &["networks.pods.bridge.ipMasq  true, set at base.kdl:5:", "\"ipMasq\": true"],
        ),
        ("networks.pods.bridge.gateway", &["not set, so the default holds: true", "\"isGateway\": true"]),
        ("networks.pods.bridge.vlan", &["not set\n", "no line"]),
        (
            "networks.pods.macvlan",
            &["not set", "the default macvlan, set at far.kdl:4:", "yields to what is set at nodes/a.kdl:6:"],
        ),
        (
            "networks.pods.bridge",
            &["networks.pods.bridge.name ", "base.kdl:5:48", "nodes/a.kdl:6:25", "\"bridge\": \"cni0\""],
        ),
        ("networks.pod.bridge.mtu", &["the spec has no `pod`, but `pods`"]),
        ("networks", &["networks.pods.ipam.ranges.0.subnet ", "(the whole of it)"]),
        // Another subnet alone would leave the gateway outside.
        (
            "networks.pods.ipam.ranges.0.subnet",
            &["\"10.22.0.0/24\", set at nodes/a.kdl:7:26", "\"subnet\": \"10.22.0.0/24\""],
        ),
        ("target.kubelet", &["not set"]),
        ("networks.pods.plugin", &["default holds: `reference`", "checked only"]),
    ] {
        let (code, text, _) = run(path, &[]);
        assert_eq!(code, 0, "{path}: {text}");
        for word in words {
            assert!(text.contains(word), "{path}: no {word:?} in\n{text}");
        }
        let (code, _, out) = run(path, &["--format", "json"]);
        assert_eq!(code, 0);
        fits(&serde_json::from_slice(&out).unwrap());
    }
}

/// What is said to be a line of an artifact is one, with that number; and a place is where the value stands.
#[test]
fn every_line_that_a_value_became_is_there() {
    for (name, ending, syntax) in
        [("laptop", "kdl", Syntax::Kdl), ("edge", "yaml", Syntax::Yaml), ("gpu-sim", "kdl", Syntax::Kdl)]
    {
        let path = format!("examples/{name}.{ending}");
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        let facts = std::fs::read_to_string(root().join(format!("examples/{name}.facts.json"))).unwrap();
        let facts = Facts::from_json(&facts).unwrap();
        let mut sources = Sources::default();
        let file = sources.add(path.clone(), text.clone());
        let mut findings = Findings::new();
        let compiled = compile_in(&mut sources, (file, &path), syntax, &Alone, &mut findings).unwrap();
        let plan = emit(compiled.node.as_ref().unwrap(), Some(&facts), &mut findings);
        let (mut lines, mut places) = (0, 0);
        for located in all_paths(schema()) {
            let given = given(&compiled, &sources, &located, syntax, Some(&facts));
            for set in &given.set {
                assert_eq!(
                    text.lines().nth(set.place.line - 1).unwrap().trim(),
                    set.place.text,
                    "{}",
                    set.path
                );
                let name = set.path.rsplit('.').next().unwrap();
                let value = set.value.as_str().map_or(set.value.to_string(), str::to_owned);
                // KDL has a form of its own for these two.
                let header = name == "apiVersion" || name == "kind";
                assert!(
                    header || set.place.text.contains(&value) || set.place.text.contains(name),
                    "{set:?}"
                );
                places += 1;
            }
            for rendered in given.became.iter().flat_map(|trace| &trace.effect.artifacts) {
                let artifact = plan.artifacts.iter().find(|a| a.place.to_string() == rendered.place);
                for line in &rendered.lines {
                    let text = String::from_utf8_lossy(&artifact.unwrap().bytes);
                    let there = text.lines().nth(line.number.unwrap() - 1).unwrap();
                    assert_eq!(there.trim().trim_end_matches(','), line.text, "{}", rendered.place);
                    lines += 1;
                }
            }
        }
        assert!(lines > 20 && places > 20, "{name}: {lines} {places}");
    }
}

#[test]
fn a_spec_with_errors_still_tells_where_a_value_is_set() {
    let dir = fleet();
    let run = |text: &str, format: &[&str]| {
        std::fs::write(dir.path().join("b.kdl"), text).unwrap();
        let output = purlin(
            dir.path(),
            &[&["explain", "networks.pods.bridge.mtu", "--spec", "b.kdl"], format].concat(),
        );
        (output.status.code().unwrap(), said(&output), output.stdout)
    };
    let wrong = "purlin \"v1alpha1\"\nnode \"a\" {\n    networks { network \"pods\" { bridge name=\"cni0\" mtu=7; }; }\n}\n";
    let (code, text, _) = run(wrong, &[]);
    assert_eq!(code, 1, "{text}");
    for word in ["PUR0104", "7, set at b.kdl:3:", "once the spec is right"] {
        assert!(text.contains(word), "no {word:?} in\n{text}");
    }
    let (code, _, out) = run(wrong, &["--format", "json"]);
    let document: Json = serde_json::from_slice(&out).unwrap();
    fits(&document);
    assert_eq!(
        (code, &document["field"]["spec"]["findings"]["diagnostics"][0]["code"]),
        (1, &"PUR0104".into())
    );
    let (code, text, _) = run("purlin \"v1alpha1\"\nnode \"a\" {", &[]);
    assert!(code == 1 && text.contains("once it can be read") && text.contains("PUR0001"), "{text}");
    let output = purlin(dir.path(), &["explain", "name", "--spec", "gone.kdl"]);
    assert!(output.status.code() == Some(2) && said(&output).contains("gone.kdl"), "{}", said(&output));
}

#[test]
fn credentials_are_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let text = "purlin \"v1alpha1\"\nnode \"a\" {\n    runtimes { registry \"docker.io\" { mirror \"https://me:hunter2@mirror.example\"; }; }\n}\n";
    std::fs::write(dir.path().join("a.kdl"), text).unwrap();
    for format in ["human", "json"] {
        let output =
            purlin(dir.path(), &["explain", "runtimes.registries", "--spec", "a.kdl", "--format", format]);
        let text = said(&output);
        assert!(text.contains("mirror.example") && !text.contains("hunter2"), "{text}");
    }
}

#[test]
fn facts_are_taken_into_account() {
    let (code, text) =
        run(&["devices", "--spec", "examples/gpu-sim.kdl", "--facts", "examples/gpu-sim.facts.json"]);
    assert!(
        code == 0 && text.contains("/var/run/cdi/purlin-nvidia.com_gpu.json (the whole of it)"),
        "{text}"
    );
}

#[test]
fn a_large_spec_is_told_of_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let network = |n: usize| {
        let range = format!("10.{}.{}.0/24", n / 256, n % 256);
        format!(
            "network \"n{n}\" default=#{} {{ bridge name=\"br{n}\" mtu=1400; ipam {{ range \"{range}\"; }}; }}\n",
            n == 0
        )
    };
    let networks: String = (0..500).map(network).collect();
    let text = format!("purlin \"v1alpha1\"\nnode \"a\" {{\nnetworks {{\n{networks}}}\n}}\n");
    std::fs::write(dir.path().join("a.kdl"), text).unwrap();
    let run = |path: &str| {
        let output = purlin(dir.path(), &["explain", path, "--spec", "a.kdl"]);
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    let text = run("networks.*.bridge.mtu");
    assert!(text.contains("not all of it was tried") && text.contains("and 460 more"), "{text}");
    let text = run("networks.n499.bridge.mtu");
    assert!(text.contains("50-purlin-n499.conflist:9") && !text.contains("tried"), "{text}");
    assert!(run("networks.n500").contains("but `n0`, `n1`, "));
}
