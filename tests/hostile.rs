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
            assert_eq!(child.wait().unwrap().code(), Some(0));
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

/// What stands below a directory: each file with its content, each directory and link as what it is.
fn state(dir: &Path) -> std::collections::BTreeMap<String, String> {
    fn visit(top: &Path, dir: &Path, found: &mut std::collections::BTreeMap<String, String>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
            let what =
                if kind.is_file() { std::fs::read_to_string(&path).unwrap() } else { format!("{kind:?}") };
            found.insert(path.strip_prefix(top).unwrap().display().to_string(), what);
            if kind.is_dir() {
                visit(top, &path, found);
            }
        }
    }
    let mut found = std::collections::BTreeMap::new();
    visit(dir, dir, &mut found);
    found
}

const LEDGER: &str = "tree/var/lib/purlin/ledger.json";

const CERTS: &str = "tree/etc/containerd/certs.d";

/// containerd takes the first directory that fits, so an empty one would keep a registry from the default one.
#[test]
fn a_registry_that_goes_leaves_no_directory() {
    let dir = workplace();
    registries(dir.path(), "both.kdl", &["_default", "docker.io"]);
    registries(dir.path(), "one.kdl", &["_default"]);
    let run = |arguments: &[&str]| {
        let output = purlin(dir.path(), arguments);
        (output.status.code().unwrap(), said(&output))
    };
    let registry = dir.path().join(CERTS).join("docker.io");
    // The last time somebody else took the file away before.
    for by_hand in [false, true] {
        assert_eq!(run(&["render", "both.kdl", "-o", "tree"]).0, 0);
        assert!(registry.exists());
        if by_hand {
            std::fs::remove_file(registry.join("hosts.toml")).unwrap();
        }
        let (code, diff) = run(&["diff", "one.kdl", "--root", "tree"]);
        assert_eq!(code, 1, "{diff}");
        let line = "delete /etc/containerd/certs.d/docker.io  [hot]\n  the spec no longer asks for it\n  the directory is empty then\n";
        assert!(diff.contains(line) && !diff.contains("PUR0314"), "{diff}");
        let (code, text) = run(&["render", "one.kdl", "-o", "tree"]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("deleted tree/etc/containerd/certs.d/docker.io\n"), "{text}");
        assert!(!registry.exists() && dir.path().join(CERTS).join("_default/hosts.toml").exists());
        assert_eq!(run(&["diff", "one.kdl", "--root", "tree"]).0, 0);
    }
    // With something of somebody else's in it, it stays, and is told.
    assert_eq!(run(&["render", "both.kdl", "-o", "tree"]).0, 0);
    put(dir.path(), &format!("{CERTS}/docker.io/ca.crt"), "theirs");
    let (code, diff) = run(&["diff", "one.kdl", "--root", "tree"]);
    assert_eq!(code, 1, "{diff}");
    assert!(diff.contains("PUR0314") && !diff.contains("the directory is empty then"), "{diff}");
    assert_eq!(run(&["render", "one.kdl", "-o", "tree"]).0, 0);
    assert!(registry.join("ca.crt").exists() && !registry.join("hosts.toml").exists());
    // One that is given into our hands goes with what is in it.
    registries(dir.path(), "adopt.kdl", &["_default"]);
    let spec = std::fs::read_to_string(dir.path().join("adopt.kdl")).unwrap();
    let adopt = "node \"edge-a\" {\n    adopt \"/etc/containerd/certs.d/docker.io/ca.crt\" \"remove\"\n";
    put(dir.path(), "adopt.kdl", &spec.replace("node \"edge-a\" {\n", adopt));
    let (code, diff) = run(&["diff", "adopt.kdl", "--root", "tree"]);
    assert!(code == 1 && diff.contains("the directory is empty then") && !diff.contains("PUR0314"), "{diff}");
    assert_eq!(run(&["render", "adopt.kdl", "-o", "tree"]).0, 0);
    assert!(!registry.exists());
    // The directories of the platform stay, whatever was in them.
    put(dir.path(), "none.kdl", "purlin \"v1alpha1\"\nnode \"edge-a\" { }\n");
    assert_eq!(run(&["render", "none.kdl", "-o", "tree"]).0, 0);
    assert_eq!(std::fs::read_dir(dir.path().join(CERTS)).unwrap().count(), 0);
}

/// A user who may read everything but the ledger does not know what is ours.
#[test]
fn a_ledger_that_may_not_be_read_is_not_forgotten() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let dir = workplace();
    assert_eq!(purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]).status.code(), Some(0));
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(dir.path(), 0o755);
    let root = rustix::process::geteuid().is_root();
    if !root {
        mode(&dir.path().join(LEDGER), 0o000);
    }
    // Where it was built others may not be let in.
    let program = dir.path().join("purlin");
    // Not copied from here: a child of another test would hold it open for writing, and then it cannot be run.
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_purlin")).arg(&program).status().unwrap().success());
    let before = root.then(|| state(&dir.path().join("tree")));
    for (arguments, code) in [
        (&["render", "node.kdl", "-o", "tree"] as &[&str], 2),
        (&["diff", "node.kdl", "--root", "tree"], 2),
        (&["check", "node.kdl", "--root", "tree"], 0),
        (&["observe", "--root", "tree"], 0),
    ] {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(dir.path()).env("NO_COLOR", "1");
        if root {
            command.uid(65534).gid(65534);
        }
        let output = command.output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains("ledger.json") && text.contains("run purlin as root"), "{arguments:?}: {text}");
    }
    if let Some(before) = before {
        assert_eq!(state(&dir.path().join("tree")), before);
    }
}

#[test]
fn a_run_that_is_killed_is_taken_up_by_any_other() {
    let dir = workplace();
    registries(dir.path(), "first.kdl", &["_default", "docker.io", "quay.io"]);
    registries(dir.path(), "other.kdl", &["_default", "quay.io:443"]);
    let tree = dir.path().join("tree");
    // What of a tree counts: not how often it was written.
    let counts = |tree: &Path| {
        let mut found = state(tree);
        found.retain(|path, _| !path.ends_with("ledger.json"));
        let ledger = std::fs::read_to_string(tree.join("var/lib/purlin/ledger.json")).unwrap();
        let ledger: serde_json::Value = serde_json::from_str(&ledger).unwrap();
        (found, ledger["entries"].clone(), ledger.get("pending").cloned())
    };
    assert_eq!(purlin(dir.path(), &["render", "other.kdl", "-o", "clean"]).status.code(), Some(0));
    let clean = counts(&dir.path().join("clean"));
    let calls = ["mkdirat", "renameat", "linkat", "fsync", "unlinkat", "write"];
    for call in calls {
        // Once on an empty tree, and once on one with another's files.
        for before in [None, Some("node.kdl")] {
            for nth in 1.. {
                let _ = std::fs::remove_dir_all(&tree);
                if let Some(spec) = before {
                    assert_eq!(purlin(dir.path(), &["render", spec, "-o", "tree"]).status.code(), Some(0));
                }
                let inject = format!("{call}:signal=KILL:when={nth}");
                let Some((killed, log)) = traced(dir.path(), &inject, &["render", "first.kdl", "-o", "tree"])
                else {
                    return;
                };
                let output = purlin(dir.path(), &["render", "other.kdl", "-o", "tree"]);
                let text = said(&output);
                assert_eq!(output.status.code(), Some(0), "{inject}: {text}\n{log}");
                assert!(!text.contains("drift"), "{inject}: {text}\n{log}");
                let mut left = counts(&tree);
                // Directories that the killed run made may stay.
                left.0.retain(|path, what| what.starts_with("FileType") <= clean.0.contains_key(path));
                assert_eq!(left, clean, "{inject}\n{log}");
                if killed.status.code().is_some() {
                    break;
                }
            }
        }
    }
}

/// What was about to be made when a run was killed is ours where it was made, and nobody's where it was not.
#[test]
fn a_killed_run_claims_nothing_that_it_did_not_make() {
    let dir = workplace();
    put(dir.path(), "none.kdl", "purlin \"v1alpha1\"\nnode \"edge-a\" { }\n");
    assert_eq!(purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]).status.code(), Some(0));
    let file = dir.path().join("tree/var/run/cdi/purlin-example.com_serial.json");
    let ours = std::fs::read_to_string(&file).unwrap();
    let ledger = std::fs::read_to_string(dir.path().join(LEDGER)).unwrap();
    let mut ledger: serde_json::Value = serde_json::from_str(&ledger).unwrap();
    ledger["pending"] = std::mem::replace(&mut ledger["entries"], serde_json::json!({}));
    ledger["generation"] = 0.into();
    let killed = ledger.to_string();
    for (text, goes) in [(ours.as_str(), true), ("theirs", false)] {
        std::fs::write(&file, text).unwrap();
        put(dir.path(), LEDGER, &killed);
        let wanted = purlin(dir.path(), &["diff", "node.kdl", "--root", "tree"]);
        assert_eq!(wanted.status.code(), Some(if goes { 0 } else { 2 }), "{}", said(&wanted));
        let output = purlin(dir.path(), &["render", "none.kdl", "-o", "tree"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_eq!(file.exists(), !goes, "{}", said(&output));
        let after = std::fs::read_to_string(dir.path().join(LEDGER)).unwrap();
        assert!(!after.contains("pending") && !after.contains("serial"), "{after}");
    }
}

#[test]
fn one_run_at_a_time_clears_what_a_killed_one_left() {
    let dir = workplace();
    assert_eq!(purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]).status.code(), Some(0));
    let before = state(dir.path());
    let left = ["var/run/cdi", "var/lib/purlin", "etc/containerd/certs.d/docker.io"]
        .map(|place| format!("tree/{place}/.purlin-new-1-0.purlin-tmp"));
    left.iter().for_each(|path| put(dir.path(), path, "half"));
    // The one that holds it may need them still.
    put(dir.path(), "tree/var/lib/purlin/lock", "4711\n");
    let lock = std::fs::File::open(dir.path().join("tree/var/lib/purlin/lock")).unwrap();
    lock.try_lock().unwrap();
    let output = purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("locked by another purlin (process 4711)"), "{}", said(&output));
    assert!(left.iter().all(|path| dir.path().join(path).exists()));
    drop(lock);
    let output = purlin(dir.path(), &["diff", "node.kdl", "--root", "tree"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let output = purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).ends_with("is up to date\n"), "{}", said(&output));
    let mut after = state(dir.path());
    for path in ["tree/etc", "tree/etc/containerd", "tree/etc/containerd/certs.d"] {
        assert!(after.remove(path).is_some(), "{path}");
    }
    assert_eq!(after, before);
}

/// Whatever stands in the way, the diff knows of it before a render does.
#[test]
fn diff_and_render_agree_on_what_is_in_the_way() {
    type Put = fn(&Path);
    fn remove(path: &Path) {
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            let _ = std::fs::remove_file(path);
        }
    }
    let ways: [(&str, Put); 5] = [
        ("a directory", |path| std::fs::create_dir_all(path.join("full")).unwrap()),
        ("an empty directory", |path| std::fs::create_dir_all(path).unwrap()),
        ("a symbolic link", |path| std::os::unix::fs::symlink("elsewhere", path).unwrap()),
        ("a pipe", |path| {
            let mode = rustix::fs::Mode::from_raw_mode(0o644);
            rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
        }),
        ("a file", |path| std::fs::write(path, "theirs").unwrap()),
    ];
    let dir = workplace();
    registries(dir.path(), "some.kdl", &["_default", "docker.io", "quay.io"]);
    put(dir.path(), "none.kdl", "purlin \"v1alpha1\"\nnode \"edge-a\" { }\n");
    let spec = std::fs::read_to_string(dir.path().join("none.kdl")).unwrap();
    let tree = dir.path().join("tree");
    let places = [
        "etc/containerd/config.toml",
        "etc/containerd/certs.d/docker.io/hosts.toml",
        "etc/containerd/certs.d/docker.io",
        "etc/containerd/certs.d",
    ];
    for place in places {
        let adopt = |word: &str, spec: &str| {
            spec.replace("node \"edge-a\" {", &format!("node \"edge-a\" {{\n adopt \"/{place}\" \"{word}\";"))
        };
        put(dir.path(), "remove.kdl", &adopt("remove", &spec));
        let some = std::fs::read_to_string(dir.path().join("some.kdl")).unwrap();
        put(dir.path(), "replace.kdl", &adopt("replace", &some));
        for (what, make) in ways {
            for recorded in [false, true] {
                for spec in ["some.kdl", "none.kdl", "remove.kdl", "replace.kdl"] {
                    let case = format!("{what} at {place}, recorded: {recorded}, {spec}");
                    remove(&tree);
                    if recorded {
                        let output = purlin(dir.path(), &["render", "some.kdl", "-o", "tree"]);
                        assert_eq!(output.status.code(), Some(0), "{case}");
                    }
                    remove(&tree.join(place));
                    std::fs::create_dir_all(tree.join(place).parent().unwrap()).unwrap();
                    make(&tree.join(place));
                    let before = state(&tree);
                    let diff = purlin(dir.path(), &["diff", spec, "--root", "tree", "--format", "json"]);
                    let said_diff = said(&diff);
                    let json: serde_json::Value = serde_json::from_slice(&diff.stdout).unwrap();
                    let blocked = json["steps"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .filter(|step| step["change"]["blocked"] == true)
                        .inspect(|step| {
                            let notes = step["change"]["notes"].as_array().unwrap();
                            assert!(
                                notes.iter().any(|n| n.as_str().unwrap().starts_with("blocked: ")),
                                "{case}"
                            );
                        })
                        .count();
                    let render = purlin(dir.path(), &["render", spec, "-o", "tree"]);
                    let both = format!("{case}\n{said_diff}\n{}", said(&render));
                    match diff.status.code() {
                        Some(2) => {
                            assert!(json["findings"]["summary"]["errors"] != 0, "{both}");
                            assert_eq!(render.status.code(), Some(1), "{both}");
                            assert_eq!(state(&tree), before, "{both}");
                        }
                        Some(code) => {
                            assert_eq!((render.status.code(), blocked), (Some(0), 0), "{both}");
                            let mut after = state(&tree);
                            after.retain(|path, _| !path.starts_with("var"));
                            let mut as_before = before.clone();
                            as_before.retain(|path, _| !path.starts_with("var"));
                            assert_eq!(code == 0, after == as_before, "{both}");
                            let again = purlin(dir.path(), &["diff", spec, "--root", "tree"]);
                            assert_eq!(again.status.code(), Some(0), "{both}\n{}", said(&again));
                        }
                        None => panic!("{both}"),
                    }
                }
            }
        }
    }
}

#[test]
fn a_base_that_is_a_link_to_nowhere_is_told() {
    let dir = workplace();
    std::fs::create_dir_all(dir.path().join("tree/var/run")).unwrap();
    std::os::unix::fs::symlink("/nowhere", dir.path().join("tree/var/run/cdi")).unwrap();
    for arguments in
        [&["diff", "node.kdl", "--root", "tree"] as &[&str], &["render", "node.kdl", "-o", "tree"]]
    {
        let output = purlin(dir.path(), arguments);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("warning: `/var/run/cdi` is a symbolic link"), "{text}");
        assert!(text.contains("what stands at"), "{text}");
    }
}

#[test]
fn a_render_that_fails_leaves_no_directory() {
    let dir = workplace();
    let wrong = SPEC.replace("path \"/dev/ttyS0\"", "path \"/dev/ttyS0\"; hook \"none\"");
    put(dir.path(), "wrong.kdl", &wrong);
    put(dir.path(), "facts.json", r#"{"version":"purlin.dev/facts/v1alpha1","daemons":{}}"#);
    registries(dir.path(), "some.kdl", &["_default"]);
    for (arguments, code) in [
        (&["render", "wrong.kdl", "-o", "a/b/c"] as &[&str], 1),
        // What only facts show comes after the tree was looked at.
        (&["render", "some.kdl", "--facts", "facts.json", "-o", "a/b/c"], 1),
    ] {
        let output = purlin(dir.path(), arguments);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(!dir.path().join("a").exists(), "{}", said(&output));
    }
    // What was there before stays.
    std::fs::create_dir(dir.path().join("a")).unwrap();
    assert_eq!(
        purlin(dir.path(), &["render", "some.kdl", "--facts", "facts.json", "-o", "a/b"]).status.code(),
        Some(1)
    );
    assert_eq!(std::fs::read_dir(dir.path().join("a")).unwrap().count(), 0);
}

#[test]
fn a_ledger_of_the_last_generation_is_no_panic() {
    let dir = workplace();
    let ledger = |generation: &str| {
        format!(r#"{{"version":"purlin.dev/ledger/v1alpha1","generation":{generation},"entries":{{}}}}"#)
    };
    put(dir.path(), LEDGER, &ledger(&u64::MAX.to_string()));
    let output = purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for wrong in ["18446744073709551616", "-1", "1.5"] {
        put(dir.path(), LEDGER, &ledger(wrong));
        let output = purlin(dir.path(), &["render", "node.kdl", "-o", "tree"]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("is not valid"), "{}", said(&output));
    }
}
