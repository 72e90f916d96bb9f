//! Specs of several files: what adds up, what yields, what contradicts, and where includes may lead.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

#[path = "common/cli.rs"]
mod cli;

use cli::{purlin, said};
use purlin::compile::compile_in;
use purlin::diag::{Findings, Sources, human};
use purlin::source::{Syntax, Tree};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Files in memory; the first is the spec.
struct Memory(BTreeMap<&'static str, String>);

impl Tree for Memory {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.get(path).map(|text| text.clone().into()).ok_or_else(|| "see that it is there".to_owned())
    }

    fn name(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// What a spec of these files comes to: the model's `spec` and `metadata`, or the findings' codes and places.
fn load(files: &[(&'static str, &str)]) -> Result<Json, Vec<String>> {
    let whole = |name: &str, body: &str| {
        let node = if name == files[0].0 { "node \"edge-a\"" } else { "part" };
        format!("purlin \"v1alpha1\"\n{node} {{\n{body}\n}}\n")
    };
    let tree = Memory(files.iter().map(|(name, body)| (*name, whole(name, body))).collect());
    let mut sources = Sources::default();
    let mut findings = Findings::new();
    let file = sources.add(files[0].0, tree.0[files[0].0].clone());
    let spec = compile_in(&mut sources, (file, files[0].0), Syntax::Kdl, &tree, &mut findings);
    let findings = findings.into_sorted();
    if !findings.is_empty() {
        println!("{}", human::render(&findings, &sources, human::Style::default()));
        let say = |d: &purlin::diag::Diagnostic| {
            let places: Vec<_> = d.labels.iter().map(|l| sources.cite(l.span)).collect();
            format!("{} {}", d.code, places.join(" "))
        };
        return Err(findings.iter().map(say).collect());
    }
    let doc = spec.expect("without findings there is a spec").doc.root.to_json();
    Ok(json!({ "labels": doc.pointer("/metadata/labels"), "spec": doc["spec"] }))
}

const MTU: &str = "networks { network \"pods\" default=#true { bridge name=\"cni0\"; ipam { range \"10.22.0.0/24\"; }; }; }";

fn mtu(files: &[(&'static str, &str)]) -> Json {
    let spec = load(files).unwrap_or_else(|found| panic!("{found:?}"));
    spec["spec"]["networks"]["pods"]["bridge"]["mtu"].clone()
}

#[test]
fn parts_add_up() {
    let spec = load(&[
        ("a.kdl", "include \"b.kdl\" \"parts/c.kdl\"\nlabel \"x\" \"1\"\ndevices { device \"a.b/cc\" { path \"/dev/c\"; }; }"),
        ("b.kdl", "label \"y\" \"2\"\ndevices { device \"a.b/dd\" { path \"/dev/d\"; }; }"),
        ("parts/c.kdl", "include \"d.kdl\"\ndevices { device \"a.b/cc\" { env \"A\" \"1\"; }; }"),
        ("parts/d.kdl", "include \"../b.kdl\"\ntarget kubelet=\"1.35\""),
    ])
    .unwrap();
    assert_eq!(
        spec,
        json!({
            "labels": {"x": "1", "y": "2"},
            "spec": {
                "target": {"kubelet": "1.35"},
                "devices": {
                    "a.b/cc": {"paths": ["/dev/c"], "env": {"A": "1"}},
                    "a.b/dd": {"paths": ["/dev/d"]},
                },
            },
        })
    );
}

#[test]
fn a_default_yields_to_what_is_given_and_to_nearer_defaults() {
    let default =
        |mtu: u32| format!("defaults {{ networks {{ network \"pods\" {{ bridge mtu={mtu}; }}; }}; }}");
    let include = format!("include \"b.kdl\"\n{MTU}");
    assert_eq!(mtu(&[("a.kdl", &include), ("b.kdl", &default(9000))]), 9000);
    let given = include.replace("name=", "mtu=1450 name=");
    assert_eq!(mtu(&[("a.kdl", &given), ("b.kdl", &default(9000))]), 1450);
    let own = format!("{include}\n{}", default(1400));
    assert_eq!(mtu(&[("a.kdl", &own), ("b.kdl", &default(9000))]), 1400);
    // Also in one file, and through several.
    assert_eq!(mtu(&[("a.kdl", &format!("{MTU}\n{}", default(1300)))]), 1300);
    let through = format!("include \"c.kdl\"\n{}", default(9000));
    assert_eq!(mtu(&[("a.kdl", &include), ("b.kdl", &through), ("c.kdl", &default(1200))]), 9000);
    // Two equally near ones contradict, unless they say the same or somebody decides.
    let both = format!("include \"b.kdl\" \"c.kdl\"\n{MTU}");
    let files = |spec: &'static str, other: u32| {
        [("a.kdl", spec.to_owned()), ("b.kdl", default(9000)), ("c.kdl", default(other))]
    };
    let run = |files: [(&'static str, String); 3]| load(&files.each_ref().map(|(n, t)| (*n, t.as_str())));
    let both: &'static str = both.leak();
    assert_eq!(run(files(both, 1200)).unwrap_err(), ["PUR0110 c.kdl:3 b.kdl:3"]);
    assert!(run(files(both, 9000)).is_ok());
    assert!(
        run(files(both.replace("name=", "mtu=1 name=").leak(), 1200)).unwrap_err()[0].starts_with("PUR0104")
    );
    assert!(run(files(both.replace("name=", "mtu=1400 name=").leak(), 1200)).is_ok());
}

#[test]
fn a_default_choice_yields_as_a_whole_and_a_default_list_too() {
    let spec = format!("include \"b.kdl\"\n{MTU}\ndevices {{ device \"a.b/cc\" {{ path \"/dev/z\"; }}; }}");
    let part = "defaults { networks { network \"pods\" { macvlan parent=\"eth1\"; }; }; devices { device \"a.b/cc\" { path \"/dev/x\" \"/dev/y\"; }; }; }";
    let spec = load(&[("a.kdl", &spec), ("b.kdl", part)]).unwrap();
    assert_eq!(spec.pointer("/spec/devices/a.b~1cc/paths").unwrap(), &json!(["/dev/z"]));
    assert_eq!(spec.pointer("/spec/networks/pods/macvlan"), None);
}

#[test]
fn contradictions_show_both_places() {
    let found = load(&[
        ("a.kdl", "include \"b.kdl\"\ntarget kubelet=\"1.35\""),
        ("b.kdl", "\ntarget kubelet=\"1.36\""),
    ]);
    assert_eq!(found.unwrap_err(), ["PUR0110 b.kdl:4 a.kdl:4"]);
    let found = load(&[
        ("a.kdl", "include \"b.kdl\"\ndevices { device \"a.b/cc\" { path \"/dev/c\"; }; }"),
        ("b.kdl", "devices { device \"a.b/cc\" { path \"/dev/d\"; }; }"),
    ]);
    assert_eq!(found.unwrap_err(), ["PUR0110 b.kdl:3 a.kdl:4"]);
}

#[test]
fn a_finding_points_into_the_file_where_the_mistake_is() {
    let found = load(&[
        ("a.kdl", "include \"b.kdl\""),
        ("b.kdl", "\n\ntarget kubelet=\"1.35\" platfrom=\"generic\""),
    ]);
    assert_eq!(found.unwrap_err(), ["PUR0101 b.kdl:5"]);
    let found = load(&[("a.kdl", "include \"b.kdl\""), ("b.kdl", "target kubelet=")]);
    assert!(found.unwrap_err()[0].starts_with("PUR0001 b.kdl:3"));
}

#[test]
fn includes_that_cannot_be_followed_are_named() {
    for (include, rest) in [
        ("a.kdl", &[][..]),
        ("../b.kdl", &[]),
        ("/etc/b.kdl", &[]),
        ("gone.kdl", &[]),
        ("b.yaml", &[]),
        ("b.toml", &[]),
        ("", &[]),
        ("b.kdl", &[("b.kdl", "include \"a.kdl\"")]),
        ("b.kdl", &[("b.kdl", "include \"c.kdl\""), ("c.kdl", "include \"b.kdl\"")]),
    ] {
        let spec = format!("include \"{include}\"");
        let files: Vec<_> = std::iter::once(("a.kdl", spec.as_str())).chain(rest.iter().copied()).collect();
        let found = load(&files).unwrap_err();
        assert_eq!(found.len(), 1, "{include}: {found:?}");
        assert!(found[0].starts_with("PUR0007"), "{include}: {found:?}");
    }
    // All that lead nowhere are told, and nothing of the spec: what is missing in it may stand in them.
    let found = load(&[("a.kdl", "include \"gone.kdl\" \"../x.kdl\"\ntarget kubelt=\"1.35\"")]).unwrap_err();
    assert_eq!(found, ["PUR0007 a.kdl:3", "PUR0007 a.kdl:3"]);
}

#[test]
fn there_is_an_end_to_includes() {
    let dir = tempfile::tempdir().unwrap();
    let part = |n: usize| format!("purlin \"v1alpha1\"\npart {{ include \"p{}.kdl\"; }}\n", n + 1);
    std::fs::write(dir.path().join("a.kdl"), "purlin \"v1alpha1\"\nnode \"a\" { include \"p0.kdl\"; }\n")
        .unwrap();
    (0..10_000).for_each(|n| std::fs::write(dir.path().join(format!("p{n}.kdl")), part(n)).unwrap());
    let wide: Vec<String> = (0..10_000).map(|n| format!("\"q{n}.kdl\"")).collect();
    std::fs::write(
        dir.path().join("w.kdl"),
        format!("purlin \"v1alpha1\"\nnode \"a\" {{ include {}; }}\n", wide.join(" ")),
    )
    .unwrap();
    for spec in ["a.kdl", "w.kdl"] {
        let output = purlin(dir.path(), &["check", spec]);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains("PUR0007"), "{}", said(&output));
    }
}

#[test]
fn files_are_found_beside_the_spec_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("fleet/nodes/a.kdl", "purlin \"v1alpha1\"\nnode \"a\" { include \"../base.kdl\"; }\n");
    put(
        "fleet/base.kdl",
        "purlin \"v1alpha1\"\npart { devices { device \"a.b/cc\" { path \"/dev/c\"; }; }; }\n",
    );
    put("out.kdl", "purlin \"v1alpha1\"\npart\n");
    let run = |arguments: &[&str]| {
        let output = purlin(dir.path(), arguments);
        (output.status.code().unwrap(), said(&output))
    };
    let (code, text) = run(&["check", "fleet/nodes/a.kdl"]);
    assert!(code == 1 && text.contains("--tree"), "{text}");
    let (code, text) = run(&["check", "--tree", "fleet", "fleet/nodes/a.kdl"]);
    assert!(code == 0 && text.contains("fleet/base.kdl:2"), "{text}");
    let (code, text) = run(&["render", "--tree", "fleet", "fleet/nodes/a.kdl", "-o", "tree"]);
    assert!(code == 0, "{text}");
    let (code, text) = run(&["diff", "--tree", "fleet", "fleet/nodes/a.kdl", "--root", "tree"]);
    assert!(code == 0, "{text}");
    let (code, text) = run(&["check", "--tree", "fleet/nodes", "fleet/base.kdl"]);
    assert!(code == 2 && text.contains("is not below"), "{text}");
    let (code, text) = run(&["check", "fleet/base.kdl"]);
    assert!(code == 1 && text.contains("part"), "{text}");
    // What a spec that is a link includes stands beside the link.
    put("fleet/.data/v1/b.kdl", "purlin \"v1alpha1\"\nnode \"b\" { include \"../base.kdl\"; }\n");
    std::os::unix::fs::symlink("../.data/v1/b.kdl", dir.path().join("fleet/nodes/b.kdl")).unwrap();
    let (code, text) = run(&["check", "--tree", "fleet", "fleet/nodes/b.kdl"]);
    assert!(code == 0 && text.contains("fleet/base.kdl:2"), "{text}");
    // As a ConfigMap's volume does it: links, but only within the tree.
    std::fs::rename(dir.path().join("fleet/base.kdl"), dir.path().join("fleet/.data.kdl")).unwrap();
    std::os::unix::fs::symlink(".data.kdl", dir.path().join("fleet/base.kdl")).unwrap();
    let (code, text) = run(&["check", "--tree", "fleet", "fleet/nodes/a.kdl"]);
    assert!(code == 0, "{text}");
    for target in ["../out.kdl", "/etc/passwd", "base.kdl"] {
        std::fs::remove_file(dir.path().join("fleet/base.kdl")).unwrap();
        std::os::unix::fs::symlink(target, dir.path().join("fleet/base.kdl")).unwrap();
        let (code, text) = run(&["check", "--tree", "fleet", "fleet/nodes/a.kdl"]);
        assert!(code == 1 && text.contains("PUR0007"), "{target}: {text}");
    }
}
