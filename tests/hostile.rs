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

/// A tree with our files in it, of which nothing says that they are ours.
fn without_ledger(dir: &Path, spec: &str) {
    std::fs::write(dir.join("node.kdl"), spec).unwrap();
    let output = purlin(dir, &["render", "node.kdl", "-o", "tree"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    std::fs::remove_file(dir.join("tree/var/lib/purlin/ledger.json")).unwrap();
}

fn nothing_would_change(dir: &Path) {
    let output = purlin(dir, &["diff", "node.kdl", "--root", "tree"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!said(&output).contains("PUR"), "{}", said(&output));
}

#[test]
fn our_own_file_is_no_duplicate_by_any_of_its_names() {
    use std::os::unix::fs::symlink;
    let dir = workplace();
    without_ledger(dir.path(), SPEC);
    nothing_would_change(dir.path());
    let tree = dir.path().join("tree");
    std::fs::create_dir_all(tree.join("etc")).unwrap();
    std::fs::rename(tree.join("var/run/cdi"), tree.join("etc/cdi")).unwrap();
    symlink("/etc/cdi", tree.join("var/run/cdi")).unwrap();
    nothing_would_change(dir.path());
    std::fs::remove_file(tree.join("var/run/cdi")).unwrap();
    std::fs::rename(tree.join("etc/cdi"), tree.join("var/run/cdi")).unwrap();
    symlink("../var/run/cdi", tree.join("etc/cdi")).unwrap();
    nothing_would_change(dir.path());
    // A file of someone else's is told once, as what it is: one of the directory that ours stands in.
    let theirs = r#"{"cdiVersion":"0.5.0","kind":"example.com/serial","devices":[{"name":"ttyS0"}]}"#;
    put(dir.path(), "tree/var/run/cdi/theirs.json", theirs);
    let output = purlin(dir.path(), &["diff", "node.kdl", "--root", "tree"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(said(&output).matches("[PUR0307]").count(), 1, "{}", said(&output));
}

#[test]
fn our_own_conflists_do_not_shadow_each_other() {
    let dir = workplace();
    let network = |name: &str, rest: &str, range: &str| {
        format!(r#"network "{name}" {rest} {{ bridge name="{name}"; ipam {{ range "{range}"; }}; }};"#)
    };
    let networks = [network("a", "", "10.1.0.0/24"), network("b", "default=#true", "10.2.0.0/24")].join("\n");
    let spec = format!("purlin \"v1alpha1\"\nnode \"edge-a\" {{ networks {{ {networks} }} }}\n");
    without_ledger(dir.path(), &spec);
    nothing_would_change(dir.path());
    put(dir.path(), "tree/etc/cni/net.d/05-theirs.conflist", "{}");
    let output = purlin(dir.path(), &["diff", "node.kdl", "--root", "tree"]);
    assert!(said(&output).contains("PUR0302"), "{}", said(&output));
}

#[test]
fn what_cannot_be_compared_is_no_agreement() {
    let dir = workplace();
    put(dir.path(), "facts.json", r#"{"version":"purlin.dev/facts/v1alpha1"}"#);
    for format in ["human", "json"] {
        let output = purlin(dir.path(), &["diff", "node.kdl", "--facts", "facts.json", "--format", format]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let said = said(&output);
        assert!(!said.contains("nothing would change"), "{said}");
        assert!(
            said.contains("do not tell what stands at `/var/run/cdi/purlin-example.com_serial.json`"),
            "{said}"
        );
        assert!(said.contains("make them anew with `purlin observe`"), "{said}");
    }
    // Of what goes, too.
    put(
        dir.path(),
        "facts.json",
        r#"{"version":"purlin.dev/facts/v1alpha1","places":["/var/run/cdi","/etc/cdi"],"ledger":{"version":
        "purlin.dev/ledger/v1alpha1","generation":1,"entries":{"/etc/cni/net.d/10-purlin-a.conflist":{"sha256":"","mode":"0644"}}}}"#,
    );
    let output = purlin(dir.path(), &["diff", "node.kdl", "--facts", "facts.json"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("`/etc/cni/net.d/10-purlin-a.conflist`"), "{}", said(&output));
}

#[test]
fn each_reason_why_a_place_cannot_be_seen_has_its_own_remedy() {
    let (a_file, a_loop) = (r"printf x > var/run/cdi", r"ln -s cdi var/run/cdi");
    let reasons = [
        (a_file, "`/var/run/cdi` is a file, not a directory; move it away"),
        (a_loop, "replace the link that leads back to itself"),
        ("mkfifo var/run/cdi", "`/var/run/cdi` is a named pipe, not a directory; move it away"),
        ("rmdir var/run && touch var/run", "move the file away that stands where a directory belongs"),
    ];
    for (make, remedy) in reasons {
        let dir = workplace();
        std::fs::create_dir_all(dir.path().join("tree/var/run")).unwrap();
        let made =
            Command::new("sh").args(["-c", make]).current_dir(dir.path().join("tree")).status().unwrap();
        assert!(made.success());
        for arguments in [["diff", "node.kdl", "--root", "tree"], ["render", "node.kdl", "-o", "tree"]] {
            let output = purlin(dir.path(), &arguments);
            assert_eq!(output.status.code(), Some(2), "{make}: {}", said(&output));
            let said = said(&output);
            assert!(said.contains(remedy) && said.contains("cannot see what stands at"), "{make}: {said}");
            assert!(!said.contains("your user"), "{make}: {said}");
        }
    }
}

/// Runs it with little memory, and gives what it said; it has to end by itself, and soon.
fn within_bounds(dir: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let begun = std::time::Instant::now();
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 400000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_purlin")])
        .args(arguments)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(begun.elapsed().as_secs() < 60, "{arguments:?} took {:?}", begun.elapsed());
    (output.status.code(), said(&output))
}

#[test]
fn a_foreign_cdi_file_costs_no_more_than_a_spec() {
    let dir = workplace();
    let devices = ["{\"name\":\"ttyS0\"}"; 12_000].join(",");
    let diff = ["diff", "node.kdl", "--root", "tree"];
    for text in
        ["{a: ".repeat(60_000), "- ".repeat(60_000), format!("a: &a x\nb: [{}]", "*a,".repeat(50_000))]
    {
        put(dir.path(), "tree/etc/cdi/deep.yaml", &text);
        put(dir.path(), "tree/var/run/cdi/deep.json", &text);
        let (code, said) = within_bounds(dir.path(), &diff);
        assert_eq!(code, Some(1), "{said}");
        for path in ["/etc/cdi/deep.yaml", "/var/run/cdi/deep.json"] {
            assert!(said.contains(&format!("which devices {path} defines")), "{said}");
        }
    }
    for file in 0..20 {
        let text = format!(r#"{{"cdiVersion":"0.5.0","kind":"example.com/serial","devices":[{devices}]}}"#);
        put(dir.path(), &format!("tree/etc/cdi/{file}.json"), &text);
    }
    let (code, said) = within_bounds(dir.path(), &diff);
    assert_eq!((code, said.matches("[PUR0307]").count()), (Some(1), 20), "{said}");
}

#[test]
fn a_foreign_cdi_file_counts_in_every_form_that_cdi_reads() {
    let kind = "cdiVersion: 0.5.0\nkind: example.com/serial\ndevices:\n";
    let yaml = format!("---\n{kind}- name: ttyS0\n  containerEdits: {{env: [A=b]}}\n");
    let odd = format!("{kind}- name: ttyS0\n  containerEdits: ~\n");
    for (path, text, says) in [
        ("serial.yaml", yaml.as_str(), "PUR0307"),
        ("serial.json", yaml.as_str(), "PUR0307"),
        ("serial.yaml", odd.as_str(), "PUR0307"),
        ("serial.yaml", "!!map {kind: example.com/serial}", "which devices /etc/cdi/serial.yaml defines"),
        ("serial.yaml", "kind: other.example/serial\ndevices: [{name: ttyS0}]", ""),
        ("serial.json", r#"{"kind": "example.com/serial"}"#, ""),
        ("serial.txt", yaml.as_str(), ""),
    ] {
        let dir = workplace();
        put(dir.path(), &format!("tree/etc/cdi/{path}"), text);
        let said = said(&purlin(dir.path(), &["diff", "node.kdl", "--root", "tree"]));
        let about = says.is_empty() && (said.contains("PUR0307") || said.contains("which devices"));
        assert!(said.contains(says) && !about, "{path}: {said}");
    }
}

const OWN: &str = r#"purlin "v1alpha1"
node "edge-a" {
    adopt "/etc/containerd/config.toml" "replace"
    runtimes {
        runtime "main" { containerd version="2.1" config="own" { handler "runc" default=#true; }; }
    }
}
"#;

fn facts_with(text: &str) -> String {
    format!(
        r#"{{"version":"purlin.dev/facts/v1alpha1","places":["/etc/containerd"],"files":{{"/etc/containerd/config.toml":
        {{"kind":"regular","mode":"0644","text":"{text}"}}}}}}"#
    )
}

#[test]
fn facts_beyond_a_limit_are_refused_with_the_limit() {
    let dir = workplace();
    let many: String = (0..600_000).map(|n| format!(",\"{n:x}\"")).collect();
    for (facts, says) in [
        (
            facts_with(&"\\n".repeat(262_145)),
            "`/etc/containerd/config.toml` in the facts is longer than the limit of 262144",
        ),
        (facts_with(&"\\n".repeat(30_000_000)), "longer than the limit of 16777216 bytes"),
        // Cut off within a letter.
        (format!("x{}", "é".repeat(9_000_000)), "longer than the limit of 16777216 bytes"),
        (
            format!(r#"{{"version":"purlin.dev/facts/v1alpha1","places":["/"{many}]}}"#),
            "more values than the limit of 500000",
        ),
    ] {
        put(dir.path(), "facts.json", &facts);
        let (code, said) = within_bounds(dir.path(), &["diff", "node.kdl", "--facts", "facts.json"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn the_longest_texts_are_compared_in_bounds() {
    let dir = workplace();
    std::fs::write(dir.path().join("node.kdl"), OWN).unwrap();
    let mut seed = 1_u32;
    let mut words = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ["", "[plugins]", "[metrics]", "version = 3"][(seed >> 24) as usize % 4]
    };
    let mixed: String = (0..30_000).map(|_| format!("{}\\n", words())).collect();
    for text in ["\\n".repeat(262_144), mixed, "x\\n".repeat(131_072)] {
        put(dir.path(), "facts.json", &facts_with(&text));
        let (code, said) = within_bounds(dir.path(), &["diff", "node.kdl", "--facts", "facts.json"]);
        assert_eq!(code, Some(1), "{}", &said[..said.len().min(2000)]);
    }
}

#[test]
fn what_observe_writes_can_be_read() {
    let dir = workplace();
    for file in 0..80 {
        put(dir.path(), &format!("tree/etc/containerd/{file:02}.toml"), &"\u{1}".repeat(262_144));
    }
    let output = purlin(dir.path(), &["observe", "--root", "tree", "-o", "facts.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        said(&output).contains("that of `/etc/containerd/05.toml` and 74 more is left out"),
        "{}",
        said(&output)
    );
    let (code, said) = within_bounds(dir.path(), &["diff", "node.kdl", "--facts", "facts.json"]);
    assert_eq!(code, Some(1), "{said}");
}

#[test]
fn what_observe_may_not_replace_is_named_as_the_user_named_it() {
    let dir = workplace();
    std::fs::create_dir_all(dir.path().join("tree")).unwrap();
    std::os::unix::fs::symlink("elsewhere", dir.path().join("lnk")).unwrap();
    assert!(Command::new("mkfifo").arg(dir.path().join("fff")).status().unwrap().success());
    for (name, says) in [
        ("lnk", "`lnk` is a symbolic link, and none is followed here; name the file that it leads to"),
        ("fff", "`fff` is no file that can be replaced; name a file"),
        ("tree", "`tree` is a directory; name a file"),
    ] {
        let output = purlin(dir.path(), &["observe", "--root", "tree", "-o", name]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(says), "{}", said(&output));
    }
}

#[test]
fn facts_that_are_none_say_where_facts_come_from() {
    let dir = workplace();
    let whole = |rest: &str| format!(r#"{{"version":"purlin.dev/facts/v1alpha1"{rest}}}"#);
    let gpu = r#"{"uuid":"GPU-1","product":"x","memory":1,"nodes":["/dev/nvidia0"]}"#;
    for (facts, says) in [
        (String::new(), "make them with `purlin observe`"),
        ("null".to_owned(), "expected facts, as an object"),
        (whole(r#","files":{"/a":3}"#), "expected a file, as an object"),
        (whole(r#","unknown":3"#), "make them with `purlin observe`"),
        (whole(&format!(r#","gpus":[{gpu},{gpu}]"#)), "two GPUs of the facts have the uuid `GPU-1`"),
    ] {
        put(dir.path(), "facts.json", &facts);
        let output = purlin(dir.path(), &["diff", "node.kdl", "--facts", "facts.json"]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let said = said(&output);
        assert!(said.contains(says) && !said.contains("struct"), "{facts}: {said}");
    }
    put(dir.path(), "facts.json", &format!("\u{feff}{}", whole(r#","places":["/var/run/cdi","/etc/cdi"]"#)));
    let output = purlin(dir.path(), &["diff", "node.kdl", "--facts", "facts.json"]);
    assert_eq!(output.status.code(), Some(1), "a byte order mark is no mistake: {}", said(&output));
}

#[test]
fn every_device_that_is_asked_for_is_there() {
    let dir = workplace();
    let paths = r#""/dev/foo/0" "/dev/foo-0" "/dev/a@1" "/dev/a_1" "/dev/ttyUSB0" "/dev/ttyUSB*" "/dev/x?1""#;
    std::fs::write(dir.path().join("node.kdl"), SPEC.replace(r#""/dev/ttyS0""#, paths)).unwrap();
    let nodes = ["foo/0", "foo-0", "a@1", "a_1", "ttyUSB0", "x@1", "x_1"];
    let node = r#"{"kind":"character","major":4,"minor":65,"mode":"0660","uid":0,"gid":20}"#;
    let devices: Vec<String> = nodes.iter().map(|n| format!("\"/dev/{n}\":{node}")).collect();
    put(
        dir.path(),
        "facts.json",
        &format!(r#"{{"version":"purlin.dev/facts/v1alpha1","devices":{{{}}}}}"#, devices.join(",")),
    );
    let output = purlin(dir.path(), &["render", "node.kdl", "-o", "tree", "--facts", "facts.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!said(&output).contains("PUR"), "what is there is not missed: {}", said(&output));
    let file = dir.path().join("tree/var/run/cdi/purlin-example.com_serial.json");
    let cdi: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let found: std::collections::BTreeSet<&str> = cdi["devices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["containerEdits"]["deviceNodes"][0]["path"].as_str().unwrap().trim_start_matches("/dev/"))
        .collect();
    assert_eq!(found, nodes.into());
}
