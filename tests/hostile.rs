//! Trees, ledgers and facts that someone made to do harm.

#[path = "common/cli.rs"]
mod cli;

use cli::{purlin, said};
use std::path::Path;
use std::process::Command;

const SPEC: &str = r#"purlin "v1alpha1"
node "edge-a" {
    devices {
        device "example.com/serial" { path "/dev/ttyS0" }
    }
}
"#;

/// A directory with the spec in it.
fn workplace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("node.kdl"), SPEC).unwrap();
    dir
}

fn put(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_ledger_cannot_have_anything_outside_our_places_deleted() {
    let dir = workplace();
    put(dir.path(), "tree/etc/passwd", "root\n");
    let entry = r#"{"sha256":"00","mode":"0644"}"#;
    put(
        dir.path(),
        "tree/var/lib/purlin/ledger.json",
        &format!(
            r#"{{"version":"purlin.dev/ledger/v1alpha1","generation":3,"entries":{{"/etc/passwd":{entry},"/etc/cni/net.d/../../passwd":{entry},"etc/passwd":{entry}}}}}"#
        ),
    );
    let output = purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(dir.path().join("tree/etc/passwd")).unwrap(), "root\n");
}

#[test]
fn a_link_in_a_tree_leads_nowhere() {
    let dir = workplace();
    std::fs::create_dir_all(dir.path().join("outside")).unwrap();
    std::fs::create_dir_all(dir.path().join("tree/var/run")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("outside"), dir.path().join("tree/var/run/cdi")).unwrap();
    let output = purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]);
    assert_ne!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(std::fs::read_dir(dir.path().join("outside")).unwrap().count(), 0);
    assert!(!dir.path().join("tree/var/lib/purlin/ledger.json").exists());
}

#[test]
fn facts_and_ledgers_cannot_write_to_the_terminal() {
    let dir = workplace();
    let evil = "\\u001b]0;pwned\\u0007";
    put(
        dir.path(),
        "facts.json",
        &format!(
            r#"{{"version":"purlin.dev/facts/v1alpha1","simulated":true,"places":["/var/run/cdi","/etc/cdi"],
            "files":{{"/var/run/cdi/{evil}.json":{{"kind":"regular","mode":"0644","text":"{evil}"}}}},
            "ledger":{{"version":"purlin.dev/ledger/v1alpha1","generation":1,"entries":{{
                "/var/run/cdi/{evil}.json":{{"sha256":"{evil}","mode":"{evil}","restarts":"{evil}"}}}}}}}}"#
        ),
    );
    for arguments in
        [["diff", "node.kdl", "--facts", "facts.json"], ["check", "node.kdl", "--facts", "facts.json"]]
    {
        let output = purlin(dir.path(), &arguments);
        let text = said(&output);
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{arguments:?}: {text:?}");
        assert!(output.status.code().is_some_and(|c| c < 2), "{text}");
    }
}

/// Names of files, and what files that cannot be used say of themselves, are shown too.
#[test]
fn no_name_and_no_message_is_obeyed() {
    let dir = workplace();
    let name = "\u{1b}]0;x\u{7}\n::error::\u{9b}2J";
    let spec = format!("a{name}.kdl");
    std::fs::write(dir.path().join(&spec), "purlin \"v1alpha1\"\nnode \"a\" { bridge; }\n").unwrap();
    let json = serde_json::Value::from(name);
    put(dir.path(), "version.json", &format!(r#"{{"version":{json}}}"#));
    put(dir.path(), "field.json", &format!(r#"{{"version":"purlin.dev/facts/v1alpha1",{json}:1}}"#));
    for arguments in [
        &["check", &spec] as &[&str],
        &["check", "--format", "json", &spec],
        &["check", &format!("gone{name}.kdl")],
        &["check", "node.kdl", "--facts", "version.json"],
        &["check", "node.kdl", "--facts", "field.json"],
    ] {
        let text = said(&purlin(dir.path(), arguments));
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{arguments:?}: {text:?}");
        assert!(!text.contains("\n::error::"), "{arguments:?}: {text:?}");
    }
}

#[test]
fn a_full_or_closed_stdout_is_no_success_and_no_panic() {
    for argument in ["schema", "--help"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = Command::new(env!("CARGO_BIN_EXE_purlin"))
            .arg(argument)
            .stdout(full)
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(2), "{argument}");
    }
}

#[test]
fn two_renders_at_once_leave_whole_files() {
    let dir = workplace();
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_purlin"))
            .args(["render", "node.kdl", "-o", "tree"])
            .current_dir(dir.path())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    for _ in 0..10 {
        let _ = std::fs::remove_dir_all(dir.path().join("tree"));
        let mut both = [start(), start()];
        for child in &mut both {
            assert!(child.wait().unwrap().code().is_some());
        }
        let output = purlin(dir.path(), &["diff", "node.kdl", "--root", "tree"]);
        let again = purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]);
        assert_eq!(again.status.code(), Some(0), "{}\n{}", said(&output), said(&again));
        let output = purlin(dir.path(), &["diff", "node.kdl", "--root", "tree"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
}

/// A shell line in front of a run: `exec "$@"` is the run itself.
fn under(line: &str, dir: &Path, arguments: &[&str]) -> std::process::Output {
    Command::new("sh")
        .args(["-c", &format!("{line}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_purlin")])
        .args(arguments)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// A spec of a containerd with these registries, each with a mirror.
fn registries(dir: &Path, name: &str, hosts: &[&str]) {
    let registries: String = hosts
        .iter()
        .map(|host| format!("        registry \"{host}\" {{ mirror \"https://mirror.example\" }}\n"))
        .collect();
    let runtime =
        r#"runtime "main" { containerd version="2.1" config="own" { handler "runc" default=#true; } }"#;
    put(
        dir,
        name,
        &format!(
            "purlin \"v1alpha1\"\nnode \"edge-a\" {{\n    runtimes {{\n        {runtime}\n{registries}    }}\n}}\n"
        ),
    );
}

#[test]
fn few_open_files_are_enough_for_many_registries() {
    let dir = workplace();
    let hosts: Vec<String> = (0..600).map(|n| format!("r{n}.example")).collect();
    registries(dir.path(), "many.kdl", &hosts.iter().map(String::as_str).collect::<Vec<_>>());
    let output = under("ulimit -n 64", dir.path(), &["render", "many.kdl", "-o", "tree"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let all = dir.path().join("tree/etc/containerd/certs.d");
    assert_eq!(std::fs::read_dir(&all).unwrap().count(), 600);
    // With too few nothing is left behind.
    registries(dir.path(), "many.kdl", &hosts[..40].iter().map(String::as_str).collect::<Vec<_>>());
    for limit in 4..24 {
        let line = format!("ulimit -n {limit}");
        let output = under(&line, dir.path(), &["render", "many.kdl", "-o", "other"]);
        let text = said(&output);
        assert!(output.status.code().is_some(), "{line}: {text}");
        if output.status.code() == Some(0) {
            continue;
        }
        assert!(!text.contains("could not be undone"), "{line}: {text}");
        let files = dir.path().join("other/etc/containerd/certs.d");
        assert!(!files.exists(), "{line}: {text}");
    }
}

/// Neither the signal of the limit nor what is written up to it ends a run half-way.
#[test]
fn a_limit_of_file_sizes_is_an_error() {
    let dir = workplace();
    let hosts: Vec<String> = (0..300).map(|n| format!("r{n}.example")).collect();
    registries(dir.path(), "many.kdl", &hosts.iter().map(String::as_str).collect::<Vec<_>>());
    // The ledger alone is larger than that.
    let output = under("ulimit -f 16", dir.path(), &["render", "many.kdl", "-o", "tree"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("ulimit -f"), "{text}");
    assert!(!dir.path().join("tree/etc").exists() && !dir.path().join("tree/var").exists(), "{text}");
    let output = under("ulimit -f 0", dir.path(), &["observe", "--root", "tree", "-o", "facts.json"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let output = under("ulimit -f 0; exec > out", dir.path(), &["schema"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// Runs below strace, which makes calls fail or kills; `None`, and a visible line, where it may not trace.
fn traced(dir: &Path, inject: &str, arguments: &[&str]) -> Option<(std::process::Output, String)> {
    let log = dir.join("strace.log");
    let _ = std::fs::remove_file(&log);
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&log)
        .arg(format!("-einject={inject}"))
        .arg(env!("CARGO_BIN_EXE_purlin"))
        .args(arguments)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .output();
    let log = std::fs::read_to_string(log).unwrap_or_default();
    if log.is_empty() {
        use std::io::Write;
        // Not by eprintln, which the test harness hides.
        let _ = writeln!(std::io::stderr(), "skipped: no strace that may trace");
        return None;
    }
    Some((output.unwrap(), log))
}

#[test]
fn without_a_thread_to_be_had_it_works_too() {
    let dir = workplace();
    put(dir.path(), "other.kdl", SPEC);
    for arguments in [
        &["observe"] as &[&str],
        &["check", "node.kdl", "other.kdl"],
        &["render", "node.kdl", "-o", "tree"],
        &["diff", "node.kdl", "--root", "tree"],
    ] {
        let Some((output, log)) = traced(dir.path(), "clone3,clone:error=EAGAIN", arguments) else { return };
        let text = said(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
        assert!(!text.contains("panicked"), "{arguments:?}: {text}\n{log}");
    }
}
