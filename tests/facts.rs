//! Facts stand in for a host: the diff made from them is the host's own, byte for byte, and looks at nothing else.

#[path = "common/cli.rs"]
mod cli;

use cli::{purlin, said};
use std::process::Command;

/// What any host can be asked for: devices, a network, and a runtime with all that needs facts.
const SPEC: &str = r#"purlin "v1alpha1"
node "any" {
    runtimes {
        runtime "main" {
            containerd version="2.0-2.4" config="own" {
                handler "runc" default=#true
            }
        }
        hook "audit" stage="poststop" path="/usr/bin/true" { when { always } }
    }
    networks {
        network "pods" default=#true {
            bridge name="cni0"
            ipam { range "10.213.99.0/24" }
            portmap
        }
    }
    devices {
        device "example.com/serial" { path "/dev/tty[A-Z]*" "/dev/null" }
    }
}
"#;

fn observed() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("node.kdl"), SPEC).unwrap();
    let out = purlin(dir.path(), &["observe", "-o", "facts.json"]);
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    dir
}

#[test]
fn the_diff_from_facts_is_the_hosts_own() {
    for format in ["human", "json"] {
        // A device may come or a link may change between two looks at a living host; a second try tells that apart from
        // a difference that is ours.
        let same = (0..3).any(|_| {
            let dir = observed();
            let live = purlin(dir.path(), &["diff", "node.kdl", "--format", format]);
            let from = purlin(dir.path(), &["diff", "node.kdl", "--format", format, "--facts", "facts.json"]);
            assert!(!live.stdout.is_empty());
            live.stdout == from.stdout && live.status.code() == from.status.code()
        });
        assert!(same, "diff --format {format} from facts is not the host's own");
    }
}

#[test]
fn the_diff_from_facts_looks_at_nothing_of_the_host() {
    if Command::new("strace").arg("--version").output().is_err() {
        eprintln!("skipped: strace is not installed");
        assert!(
            std::env::var_os("PURLIN_PEERS_TESTS").is_none(),
            "strace is missing where nothing may be skipped"
        );
        return;
    }
    let dir = observed();
    let out = Command::new("strace")
        .args(["-f", "-e", "trace=file,network", "-o", "trace", env!("CARGO_BIN_EXE_purlin")])
        .args(["diff", "node.kdl", "--facts", "facts.json"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let trace = std::fs::read_to_string(dir.path().join("trace")).unwrap_or_default();
    if !trace.contains("execve(") {
        eprintln!("skipped: strace may not trace here: {}", String::from_utf8_lossy(&out.stderr));
        assert!(
            std::env::var_os("PURLIN_PEERS_TESTS").is_none(),
            "strace does not work where nothing may be skipped"
        );
        return;
    }
    assert!(trace.contains("facts.json"), "the trace does not even show the facts:\n{trace}");
    for line in trace.lines() {
        let wrong =
            ["\"/sys", "\"/dev", "\"/etc/cni", "\"/etc/containerd", "\"/opt", "\"/run", "\"/var", "socket("]
                .iter()
                .any(|w| line.contains(w));
        assert!(!wrong, "looked at the host: {line}");
    }
}

#[test]
fn facts_of_another_version_are_refused_by_name() {
    let dir = observed();
    let text = std::fs::read_to_string(dir.path().join("facts.json")).unwrap();
    std::fs::write(dir.path().join("facts.json"), text.replace("facts/v1alpha1", "facts/v7")).unwrap();
    let out = purlin(dir.path(), &["diff", "node.kdl", "--facts", "facts.json"]);
    let said = said(&out);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("v7") && said.contains("purlin observe"), "{said}");
}
