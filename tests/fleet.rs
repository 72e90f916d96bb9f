//! Directories of specs, Git revisions, and other specs to compare with.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

#[path = "common/cli.rs"]
mod cli;

use cli::{purlin, said};
use serde_json::Value as Json;
use std::path::Path;
use std::process::Command;

/// A repository of specs with one commit.
struct Fleet(tempfile::TempDir);

impl Fleet {
    fn new() -> Self {
        let fleet = Self(tempfile::tempdir().unwrap());
        for node in ["a", "b", "c", "d"] {
            fleet.put(
                &format!("nodes/edge-{node}.kdl"),
                &format!(
                    "purlin \"v1alpha1\"\nnode \"edge-{node}\" {{\n    include \"../parts/runtime.kdl\"\n    \
                     devices {{ device \"example.com/serial\" {{ path \"/dev/ttyS0\"; }}; }}\n}}\n"
                ),
            );
        }
        fleet.put(
            "parts/runtime.kdl",
            "purlin \"v1alpha1\"\npart {\n    runtimes {\n        runtime \"main\" {\n            \
             containerd version=\"2.1-2.4\" config=\"own\" {\n                handler \"runc\" default=#true\n\
             \x20               handler \"crun\" binary=\"/usr/bin/crun\" runtime-class=\"fast\"\n            }\n        }\n\
             \x20       registry \"docker.io\" { mirror \"https://mirror.example\"; }\n    }\n}\n",
        );
        fleet.put("kustomization.yaml", "resources: [a.yaml]\n");
        fleet.put(".hidden/x.kdl", "purlin broken {\n");
        fleet.git(&["init", "-q", "."]);
        fleet.commit();
        fleet
    }

    fn dir(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.dir().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn change(&self, path: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.dir().join(path)).unwrap();
        assert!(text.contains(from), "{text}");
        self.put(path, &text.replace(from, to));
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(self.dir())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .status()
            .expect("git is there");
        assert!(status.success(), "{arguments:?}");
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "x"]);
    }

    /// The exit code, data and talk of a call.
    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = purlin(self.dir(), arguments);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

const REPORT: &str = "\
edge-a  nodes/edge-a.kdl  1 to update; impact: hot (on a node; this one is simulated)
edge-b  nodes/edge-b.kdl  3 to update; impact: restart containerd.service (on a node; this one is simulated)
edge-c  nodes/edge-c.kdl  as edge-a
HEAD~1:nodes/edge-d.kdl is gone; what was applied stays on its node

edge-a, edge-c
update  /etc/containerd/certs.d/docker.io/hosts.toml  +1 -1  [hot]  parts/runtime.kdl:10

edge-b
update  /etc/containerd/certs.d/docker.io/hosts.toml  +1 -1  [hot]                         parts/runtime.kdl:10
update  /var/run/cdi/purlin-example.com_serial.json   +2 -2  [hot]                         nodes/edge-b.kdl:5
update  /etc/containerd/config.toml                   +6 -0  [restart containerd.service]  nodes/edge-b.kdl:4
";

#[test]
fn a_revision_is_compared_node_by_node_with_what_it_included() {
    let fleet = Fleet::new();
    let (code, out, talk) = fleet.run(&["diff", ".", "--against", "HEAD"]);
    assert_eq!((code, out.as_str(), talk.as_str()), (0, "", "4 compared, nothing would change\n"));

    fleet.change("parts/runtime.kdl", "mirror.example", "mirror2.example");
    fleet.change("nodes/edge-b.kdl", "ttyS0", "ttyS1");
    fleet.change(
        "nodes/edge-b.kdl",
        "    devices",
        "    runtimes { runtime \"main\" { containerd version=\"2.1-2.4\" config=\"own\" { handler \"slow\" binary=\"/usr/bin/slow\"; }; }; }\n    devices",
    );
    std::fs::remove_file(fleet.dir().join("nodes/edge-d.kdl")).unwrap();
    fleet.commit();
    let (code, out, talk) = fleet.run(&["diff", ".", "--against", "HEAD~1", "--stat"]);
    assert_eq!((code, talk.as_str()), (1, ""));
    assert_eq!(out, REPORT, "{out}");

    // The whole of it names the lines too, and each shared set once.
    let (_, out, _) = fleet.run(&["diff", ".", "--against", "HEAD~1"]);
    assert_eq!(out.matches("+[host.\"https://mirror2.example\"]").count(), 2, "{out}");
    assert!(out.contains("from devices.example.com/serial (nodes/edge-b.kdl:5)"), "{out}");

    // One spec alone, from a directory of its own.
    let (code, out, _) =
        fleet.run(&["diff", "nodes/edge-a.kdl", "--tree", ".", "--against", "HEAD~1", "--stat"]);
    assert!(code == 1 && out.contains("+1 -1"), "{out}");

    // A program reads the same.
    let (code, out, _) = fleet.run(&["diff", ".", "--against", "HEAD~1", "--format", "json"]);
    let json: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((code, json["diffs"].as_array().map(Vec::len)), (1, Some(3)));
    assert_eq!(json["gone"], serde_json::json!(["HEAD~1:nodes/edge-d.kdl"]));
    assert_eq!(json["version"], "purlin.dev/diffs/v1alpha1");
    let schema: Json = serde_json::from_str(purlin::plan::DIFFS_SCHEMA_TEXT).unwrap();
    let wrong: Vec<_> =
        jsonschema::draft202012::new(&schema).unwrap().iter_errors(&json).map(|e| e.to_string()).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn what_cannot_be_compared_is_said() {
    let fleet = Fleet::new();
    let (code, out, talk) = fleet.run(&["diff", ".", "--against", "nope"]);
    assert!(code == 2 && out.is_empty() && talk.contains("no revision `nope`"), "{talk}");
    let (code, _, talk) = fleet.run(&["diff", ".", "--against=--output=x"]);
    assert!(code == 2 && talk.contains("no revision"), "{talk}");
    let (code, _, talk) = fleet.run(&["diff", "."]);
    assert!(code == 2 && talk.contains("--facts DIR"), "{talk}");

    // Broken then, sound now; and the other way round.
    fleet.put("nodes/edge-a.kdl", "purlin \"v1alpha1\"\nnode \"edge-a\" {\n    bridge\n}\n");
    fleet.commit();
    let (code, _, talk) = fleet.run(&["diff", ".", "--against", "HEAD~1"]);
    assert!(code == 2 && talk.contains("nodes/edge-a.kdl:3"), "{talk}");
    fleet.put("nodes/edge-a.kdl", "purlin \"v1alpha1\"\nnode \"edge-a\"\n");
    let (code, _, talk) = fleet.run(&["diff", "nodes/edge-a.kdl", "--against", "HEAD"]);
    assert!(code == 2 && talk.contains("HEAD:nodes/edge-a.kdl:3"), "{talk}");

    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a.kdl"), "purlin \"v1alpha1\"\nnode \"a\"\n").unwrap();
    let output = purlin(outside.path(), &["diff", "a.kdl", "--against", "HEAD"]);
    assert!(output.status.code() == Some(2) && said(&output).contains("Git repository"), "{}", said(&output));
}

#[test]
fn another_spec_and_nothing_at_all_are_compared_with() {
    let fleet = Fleet::new();
    let common = ["diff", "nodes/edge-a.kdl", "--tree", ".", "--stat"];
    let (code, out, _) = fleet.run(&[&common[..], &["--against-spec", "nodes/edge-b.kdl"]].concat());
    assert_eq!((code, out.as_str()), (0, ""));
    fleet.change("nodes/edge-b.kdl", "    include \"../parts/runtime.kdl\"\n", "");
    let (code, out, _) = fleet.run(&[&common[..], &["--against-spec", "nodes/edge-b.kdl"]].concat());
    assert!(code == 1 && out.contains("create  /etc/containerd/config.toml"), "{out}");
    // A new spec has nothing to compare with.
    fleet.put(
        "nodes/edge-e.kdl",
        "purlin \"v1alpha1\"\nnode \"edge-e\" {\n    include \"../parts/runtime.kdl\"\n}\n",
    );
    let (code, out, _) = fleet.run(&["diff", ".", "--against", "HEAD", "--stat"]);
    assert!(code == 1 && out.contains("edge-e") && out.contains("create  RuntimeClass/fast"), "{out}");
}

#[test]
fn a_directory_is_checked_as_a_whole() {
    let fleet = Fleet::new();
    let (code, _, talk) = fleet.run(&["check", "."]);
    assert!(code == 0 && talk.starts_with("4 specs and 1 part checked, nothing to say\n"), "{talk}");
    // What nodes share is told once.
    assert_eq!(talk.matches("parts/runtime.kdl:5: which containerd").count(), 1, "{talk}");

    fleet.change(
        "nodes/edge-b.kdl",
        "    include \"../parts/runtime.kdl\"",
        "    include \"../parts/other.kdl\"",
    );
    let part = std::fs::read_to_string(fleet.dir().join("parts/runtime.kdl")).unwrap();
    fleet.put("parts/other.kdl", &part.replace("handler \"crun\"", "handler \"krun\""));
    let (code, _, talk) = fleet.run(&["check", "."]);
    assert!(code == 1 && talk.contains("PUR0215") && talk.contains("parts/other.kdl:7"), "{talk}");

    let (_, _, talk) = fleet.run(&["check", ".", "--changed-since", "HEAD"]);
    assert!(talk.starts_with("1 spec and 1 part checked"), "{talk}");
    // A part that changed brings in all that include it.
    fleet.change("parts/runtime.kdl", "mirror.example", "mirror2.example");
    let (_, _, talk) = fleet.run(&["check", "nodes", "--tree", ".", "--changed-since", "HEAD"]);
    assert!(talk.contains("4 specs checked"), "{talk}");

    let empty = tempfile::tempdir_in(fleet.dir()).unwrap();
    let (code, _, talk) = fleet.run(&["check", &empty.path().display().to_string()]);
    assert!(code == 2 && talk.contains("no spec below"), "{talk}");
    // One that is missing hides nothing.
    let (code, _, talk) = fleet.run(&["check", "gone.kdl", "nodes", "--tree", "."]);
    assert!(code == 2 && talk.contains("gone.kdl"), "{talk}");
}

/// examples/fleet, as README shows it.
#[test]
fn the_example_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let output = purlin(&root, &["check", "fleet"]);
    assert!(said(&output).starts_with("2 specs and 1 part checked, nothing to say\n"), "{}", said(&output));
    let arguments =
        ["diff", "fleet/nodes/edge-b.kdl", "--tree", "fleet", "--against-spec", "fleet/nodes/edge-a.kdl"];
    let output = purlin(&root, &arguments);
    assert!(
        output.status.code() == Some(1) && said(&output).contains("+      \"mtu\": 9000,"),
        "{}",
        said(&output)
    );
}

/// A fleet in the other syntax is the same fleet.
#[test]
fn a_fleet_is_converted_with_its_parts() {
    let fleet = Fleet::new();
    let nodes = ["a", "b", "c", "d"].map(|node| format!("nodes/edge-{node}"));
    for stem in nodes.iter().map(String::as_str).chain(["parts/runtime"]) {
        let (from, to) = (format!("{stem}.kdl"), format!("{stem}.yaml"));
        let (code, _, talk) = fleet.run(&["convert", &from, "--to", "yaml", "-o", &to]);
        assert!(code == 0 && talk.contains("includes") == stem.starts_with("nodes"), "{stem}: {talk}");
        assert_eq!(fleet.run(&["fmt", "--check", &from, &to]).0, 0, "{stem}");
    }
    let (code, _, talk) = fleet.run(&["check", "."]);
    assert!(code == 0 && talk.starts_with("8 specs and 2 parts checked, nothing to say\n"), "{talk}");
    let compare = ["diff", "nodes/edge-a.yaml", "--tree", ".", "--against-spec", "nodes/edge-a.kdl"];
    assert_eq!(fleet.run(&compare).0, 0);
}
