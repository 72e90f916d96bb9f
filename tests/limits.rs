//! What is beyond a limit is refused, what is just within is read, and no input ends the program by a signal.

use purlin::compile::compile;
use purlin::diag::{Code, Findings, Sources};
use purlin::source::{Limits, Syntax, decode};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

fn codes(syntax: Syntax, bytes: &[u8]) -> Vec<Code> {
    let mut sources = Sources::default();
    let mut findings = Findings::new();
    if let Some(file) = decode(&mut sources, "spec", bytes, &mut findings) {
        // Each is refused or not; what else is wrong with it is not asked here.
        let _ = compile(&sources, file, syntax, &mut findings);
    }
    findings.into_sorted().iter().map(|d| d.code).collect()
}

const YAML: &str = "apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nmetadata: {name: n}\nspec: {}\n";
const JSON: &str =
    r#"{"apiVersion":"purlin.dev/v1alpha1","kind":"NodeSpec","metadata":{"name":"n"},"spec":{}}"#;

/// A text that takes this much of the limit, for any amount.
type Text = fn(usize) -> String;

/// Each limit, where it stands, and texts of which one takes all of it and the next too much.
fn limits() -> Vec<(&'static str, usize, Syntax, Text)> {
    let all = Limits::default();
    let (kdl, yaml, json) = (Syntax::Kdl, Syntax::Yaml, Syntax::Json);
    vec![
        ("bytes", all.bytes, kdl, |n| format!("purlin \"v1alpha1\"\nnode \"n\"\n//{}", "x".repeat(n - 29))),
        ("bytes", all.bytes, yaml, |n| format!("{YAML}#{}", "x".repeat(n - YAML.len() - 1))),
        ("bytes", all.bytes, json, |n| format!("{JSON}{}", " ".repeat(n - JSON.len()))),
        ("bytes", all.bytes, yaml, |n| {
            format!("{YAML}#{}{}", "é".repeat((n - YAML.len() - 1) / 2), &"x"[..(n - YAML.len() - 1) % 2])
        }),
        ("depth", all.depth, kdl, |n| format!("{}{}", "a {\n".repeat(n), "}\n".repeat(n))),
        ("depth", all.depth, yaml, |n| format!("{}{}", "[".repeat(n), "]".repeat(n))),
        ("depth", all.depth, yaml, |n| (0..n).map(|i| format!("{}a:\n", " ".repeat(i))).collect()),
        ("depth", all.depth, yaml, |n| format!("{}x", "- ".repeat(n))),
        ("depth", all.depth, json, |n| format!("{}{}", "[".repeat(n), "]".repeat(n))),
        ("depth", all.depth, json, |n| format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n))),
        ("nodes", all.nodes, kdl, |n| "a\n".repeat(n)),
        ("nodes", all.nodes, kdl, |n| "a;".repeat(n)),
        // The list, and what is in it.
        ("nodes", all.nodes, yaml, |n| "- 1\n".repeat(n - 1)),
        ("nodes", all.nodes, yaml, |n| format!("[{}]", vec!["1"; n - 1].join(","))),
        ("tokens", all.tokens, kdl, |n| format!("a{}", " 1".repeat(n - 1))),
        ("aliases", all.aliases, yaml, |n| format!("- &a x\n{}", "- *a\n".repeat(n))),
        ("comment depth", all.comment_depth, kdl, |n| format!("{}{}", "/*".repeat(n), "*/".repeat(n))),
        ("slashdash", all.slashdash, kdl, |n| format!("{}a", "/-".repeat(n))),
    ]
}

#[test]
fn each_limit_holds_to_the_last_one() {
    for (name, limit, syntax, text) in limits() {
        let (within, beyond) = (text(limit), text(limit + 1));
        let found = codes(syntax, within.as_bytes());
        assert!(!found.contains(&Code::PUR0003), "{name} in {syntax:?}: {limit} of {limit} gave {found:?}");
        let found = codes(syntax, beyond.as_bytes());
        assert_eq!(found, [Code::PUR0003], "{name} in {syntax:?}: one more than {limit}");
    }
}

#[test]
fn what_aliases_stand_for_counts() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..6 {
        let uses = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
    }
    assert_eq!(codes(Syntax::Yaml, text.as_bytes()), [Code::PUR0003]);
}

#[test]
fn what_no_editor_shows_is_named() {
    for (what, bytes) in [
        ("NUL", b"a: \0\n".as_slice()),
        ("escape", b"a: \x1b[31m\n"),
        ("direction", "a: \u{202e}b\n".as_bytes()),
        ("a late byte order mark", "a: \u{feff}b\n".as_bytes()),
        ("invalid UTF-8", b"a: \xff\n"),
        ("a cut character", b"a: \xc3"),
        ("a surrogate", b"a: \xed\xa0\x80\n"),
        ("an overlong slash", b"a: \xc0\xaf\n"),
        ("UTF-16", b"\xff\xfea\0:\0"),
    ] {
        for syntax in [Syntax::Kdl, Syntax::Yaml, Syntax::Json] {
            let found = codes(syntax, bytes);
            assert!(
                !found.is_empty() && found.iter().all(|c| *c == Code::PUR0002),
                "{what} in {syntax:?}: {found:?}"
            );
        }
    }
}

#[test]
fn numbers_letters_and_paths_that_deceive() {
    let kdl = |field: &str| format!("purlin \"v1alpha1\"\nnode \"n\" {{\n{field}\n}}\n");
    let network = |field: &str| kdl(&format!("networks {{ network \"pods\" default=#true {{ {field} }}; }}"));
    for (text, code) in [
        (
            network(
                "bridge name=\"cni0\" mtu=99999999999999999999999999999999999999999999; ipam { range \"10.0.0.0/24\"; }",
            ),
            Code::PUR0104,
        ),
        (network("bridge name=\"cni0\" mtu=1.5e400; ipam { range \"10.0.0.0/24\"; }"), Code::PUR0104),
        (network("bridge name=\"cni0\" mtu=-1; ipam { range \"10.0.0.0/24\"; }"), Code::PUR0104),
        (network("bridge name=\"cni0\" mtu=#inf; ipam { range \"10.0.0.0/24\"; }"), Code::PUR0104),
        (network("bridge name=\"cnі0\"; ipam { range \"10.0.0.0/24\"; }"), Code::PUR0104),
        (network("brіdge name=\"cni0\"; ipam { range \"10.0.0.0/24\"; }"), Code::PUR0101),
        (kdl("devices { device \"example.com/a\" { path \"/dev/../etc/shadow\"; }; }"), Code::PUR0104),
        (kdl("adopt \"/etc/cni/net.d/../../shadow\" \"remove\""), Code::PUR0104),
    ] {
        assert_eq!(codes(Syntax::Kdl, text.as_bytes()), [code], "{text}");
    }
}

/// A directory that every user may search, with the program in it, so that it can be run as another user.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { dir }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Exit code and all that was said; a signal, or more than a minute, is a failure.
fn run(command: &mut Command) -> (i32, String) {
    let mut child = command
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = rustix::process::Pid::from_child(&child);
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(60)).is_err() {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    });
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || std::io::read_to_string(&mut out).unwrap());
    let said = std::io::read_to_string(&mut err).unwrap() + &reader.join().unwrap();
    let status = child.wait().unwrap();
    let _ = done.send(());
    watch.join().unwrap();
    (status.code().unwrap_or_else(|| panic!("{command:?} ended by {status}\n{said}")), said)
}

fn purlin() -> Command {
    Command::new(env!("CARGO_BIN_EXE_purlin"))
}

#[test]
fn no_bomb_ends_the_program() {
    let place = Place::new();
    let many = 40_000;
    let bombs = [
        ("braces.kdl", "a{".repeat(many)),
        ("closed-braces.kdl", format!("{}{}", "a{".repeat(many), "}".repeat(many))),
        ("comments.kdl", "/*".repeat(many)),
        ("closed-comments.kdl", format!("{}{}", "/*".repeat(many), "*/".repeat(many))),
        ("slashdash.kdl", "/-".repeat(many)),
        ("slashdash-lines.kdl", "/-\n".repeat(many)),
        ("slashdash-blocks.kdl", "/-a{".repeat(many)),
        ("stray.kdl", "}".repeat(many)),
        ("parens.kdl", "(".repeat(many)),
        ("quotes.kdl", "\"".repeat(many)),
        ("raw.kdl", format!("a {}", "#".repeat(many))),
        ("multiline.kdl", "\"\"\"\n".repeat(many)),
        ("escapes.kdl", "\\\n".repeat(many)),
        ("letters.kdl", "a\n".repeat(many)),
        ("big.kdl", "a\n".repeat(10 * 1024 * 1024)),
        ("flow.yaml", "[".repeat(many)),
        ("flow-maps.yaml", "{a: ".repeat(many)),
        ("block.yaml", (0..700).map(|i| format!("{}a:\n", " ".repeat(i))).collect()),
        ("dashes.yaml", "- ".repeat(many)),
        ("keys.yaml", "? ".repeat(many)),
        ("tags.yaml", "!a ".repeat(many)),
        ("anchors.yaml", "&a ".repeat(many)),
        ("documents.yaml", "---\n".repeat(many)),
        ("aliases.yaml", format!("a: &a [x]\nb: [{}]", "*a, ".repeat(many))),
        (
            "laughs.yaml",
            (1..60).fold("a0: &a0 [x, x]\n".to_owned(), |t, i| {
                format!("{t}a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1)
            }),
        ),
        ("itself.yaml", "a: &a [*a]\n".to_owned()),
        ("brackets.json", "[".repeat(many)),
        ("objects.json", "{\"a\":".repeat(many)),
        ("closed.json", format!("{}{}", "[".repeat(many), "]".repeat(many))),
    ];
    for (name, text) in bombs {
        let path = place.file(name, text.as_bytes());
        let (code, said) = run(purlin().arg("check").arg(&path));
        assert_eq!(code, 1, "{name}: {said}");
        assert!(
            ["PUR0001", "PUR0003", "PUR0004", "PUR0005"].iter().any(|c| said.contains(c)),
            "{name} was refused for another reason: {said}"
        );
        assert!(said.len() < 64 * 1024, "{name}: {} bytes were said", said.len());
    }
}

#[test]
fn a_file_cut_at_the_limit_is_not_called_something_else() {
    let place = Place::new();
    let limit = Limits::default().bytes;
    // The limit falls between the bytes of a letter in one of the two.
    for (name, start) in [("even.yaml", "# "), ("odd.yaml", "#")] {
        let path = place.file(name, format!("{start}{}", "é".repeat(limit)).as_bytes());
        let (code, said) = run(purlin().arg("check").arg(&path));
        assert!(code == 1 && said.contains("PUR0003") && !said.contains("PUR0002"), "{name}: {said}");
    }
}

#[test]
fn facts_that_are_none_are_refused() {
    let place = Place::new();
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/laptop.kdl");
    for (name, text) in [
        ("empty.json", String::new()),
        ("deep.json", "[".repeat(100_000)),
        (
            "deep-files.json",
            format!("{{\"version\": \"purlin.dev/facts/v1alpha1\", \"files\": {}", "{\"a\":".repeat(100_000)),
        ),
        ("other.json", "{\"version\": \"purlin.dev/facts/v2\"}".to_owned()),
        ("unknown.json", "{\"version\": \"purlin.dev/facts/v1alpha1\", \"secrets\": {}}".to_owned()),
    ] {
        let path = place.file(name, text.as_bytes());
        for command in ["check", "diff"] {
            let (code, said) = run(purlin().arg(command).arg(&spec).arg("--facts").arg(&path));
            assert_eq!(code, 2, "{command} {name}: {said}");
        }
    }
}

/// All that stands below a directory, with its content.
fn listing(dir: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut list = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            list.extend(listing(&path));
            list.push((path, None));
        } else {
            let bytes = std::fs::read(&path).ok();
            list.push((path, bytes));
        }
    }
    list.sort();
    list
}

fn spec(place: &Place) -> PathBuf {
    let text = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/laptop.kdl")).unwrap();
    place.file("laptop.kdl", &text)
}

#[test]
fn rendering_where_one_may_not_write_leaves_nothing() {
    let place = Place::new();
    let program = place.dir.path().join("purlin");
    std::fs::copy(env!("CARGO_BIN_EXE_purlin"), &program).unwrap();
    let spec = spec(&place);
    let out = place.dir.path().join("out");
    std::fs::create_dir_all(out.join("etc/cni")).unwrap();
    std::fs::write(out.join("etc/cni/kept"), "theirs").unwrap();
    for dir in ["etc/cni", "etc", ""] {
        std::fs::set_permissions(out.join(dir), std::fs::Permissions::from_mode(0o555)).unwrap();
    }
    let before = listing(&out);
    let mut command = Command::new(&program);
    command.arg("render").arg(&spec).arg("--output").arg(&out);
    if rustix::process::geteuid().is_root() {
        use std::os::unix::process::CommandExt;
        // Root may write anywhere: the program runs as nobody.
        command.uid(65534).gid(65534);
        if let Err(error) = Command::new("true").uid(65534).gid(65534).status() {
            eprintln!(
                "skipped rendering_where_one_may_not_write_leaves_nothing: cannot become another user ({error})"
            );
            return;
        }
    }
    let (code, said) = run(&mut command);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("ermission denied"), "{said}");
    assert_eq!(listing(&out), before, "{said}");
    for dir in ["", "etc", "etc/cni"] {
        std::fs::set_permissions(out.join(dir), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn rendering_without_room_leaves_what_was_there() {
    let place = Place::new();
    let spec = spec(&place);
    // As on a full disk, any write fails; the signal that comes with this limit is ignored, as its error is the point.
    let render = |limit: &str, out: &Path| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("trap '' XFSZ; ulimit -f {limit}; exec \"$@\""), "sh"]);
        command.arg(env!("CARGO_BIN_EXE_purlin")).arg("render").arg(&spec).arg("--output").arg(out);
        run(&mut command)
    };
    let fresh = place.dir.path().join("fresh");
    let (code, said) = render("0", &fresh);
    assert_eq!(code, 2, "{said}");
    assert!(!fresh.exists() || listing(&fresh).is_empty(), "{:?}\n{said}", listing(&fresh));

    let used = place.dir.path().join("used");
    let (code, said) = render("unlimited", &used);
    assert_eq!(code, 0, "{said}");
    let before = listing(&used);
    assert!(before.len() > 5);
    // Another spec over the first one's files: some are rewritten, some go.
    let text =
        std::fs::read_to_string(&spec).unwrap().replace("10.22.0.", "10.23.0.").replace("crun", "youki");
    std::fs::write(&spec, text).unwrap();
    let (code, said) = render("0", &used);
    assert_eq!(code, 2, "{said}");
    assert_eq!(listing(&used), before, "{said}");
}
