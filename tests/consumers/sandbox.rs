//! The peers, the sandbox that they run in, and `purlin` beside it.

use serde_json::Value as Json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// The daemons that every test of a configuration runs against, with the format that each is written.
pub const CONTAINERDS: [(&str, i64); 2] = [("2.1.9", 3), ("2.4.2", 4)];

/// One sandbox at a time: the peers are many processes, and times would say nothing.
static TURN: Mutex<()> = Mutex::new(());

/// The real consumers. Whoever holds it has its turn.
pub struct Peers {
    dir: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

/// The peers, or one visible line that says why a test does not run.
///
/// # Panics
/// With the switch on, when something is missing: a skip that should have run is a failure.
pub fn peers() -> Option<Peers> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = std::env::var_os("PURLIN_PEERS").map_or_else(|| repository.join("target/peers"), PathBuf::from);
    let mut missing = Vec::new();
    if !rustix::process::geteuid().is_root() {
        missing.push("root".to_owned());
    }
    let needed = [
        "bin/runc",
        "bin/crun",
        "bin/crictl",
        "bin/cnitool",
        "cni/bridge",
        "images/busybox.tar",
        "images/pause.tar",
    ];
    let daemons = CONTAINERDS.map(|(version, _)| format!("containerd-{version}/containerd"));
    if needed.iter().copied().chain(daemons.iter().map(String::as_str)).any(|p| !dir.join(p).exists()) {
        missing.push(format!("the peers in {} (tests/peers/build.sh makes them)", dir.display()));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    for program in ["bash", "unshare", "setpriv", "ip", "jq", "openssl", "python3"] {
        if !std::env::split_paths(&path).any(|d| d.join(program).is_file()) {
            missing.push(program.to_owned());
        }
    }
    if std::env::var("PURLIN_PEERS_TESTS").as_deref() == Ok("1") {
        assert!(missing.is_empty(), "PURLIN_PEERS_TESTS=1, but there is no: {}", missing.join(", "));
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        return Some(Peers { dir: dir.canonicalize().unwrap(), _turn });
    }
    missing.insert(0, "the switch PURLIN_PEERS_TESTS=1".to_owned());
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not by eprintln!, which the test runner keeps to itself while tests pass.
    let _ = writeln!(std::io::stderr(), "skipped: {name}: missing {}", missing.join(", "));
    None
}

impl Peers {
    /// A program of the peers, to be run outside any sandbox.
    pub fn program(&self, path: &str) -> Command {
        Command::new(self.dir.join(path))
    }

    /// The configuration that a containerd has without a file, as it prints it: all keys that it knows.
    pub fn config_default(&self, version: &str) -> toml::Table {
        let mut command = self.program(&format!("containerd-{version}/containerd"));
        let output = command.args(["config", "default"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().parse().unwrap()
    }
}

/// A tree that stands for a node's files, with what it takes to try it.
pub struct Node {
    dir: TempDir,
    version: &'static str,
}

impl Node {
    /// A node that is files only.
    pub fn files(version: &'static str) -> Self {
        let node = Self { dir: tempfile::tempdir().unwrap(), version };
        std::fs::create_dir(node.tree()).unwrap();
        node
    }

    /// A node with the programs and the device that the specs here name.
    pub fn new(version: &'static str) -> Self {
        let node = Self::files(version);
        node.program(
            "/usr/local/bin/nvidia-container-runtime",
            // There is no systemd in the sandbox: the flag is noted and not passed on.
            "#!/bin/bash\nprintf '%s\\n' \"$*\" >>/run/nvidia.log\na=()\n\
             for x; do [ \"$x\" = --systemd-cgroup ] || a+=(\"$x\"); done\nexec /usr/bin/runc \"${a[@]}\"\n",
        );
        node.program(
            "/usr/local/bin/purlin-test-hook",
            "#!/bin/sh\necho \"$1 $MARK $(tr -d '\\n')\" >>/run/purlin-test-hook.log\n",
        );
        let device = node.path("/dev/purlin/serial0");
        std::fs::create_dir_all(device.parent().unwrap()).unwrap();
        // Reads as zeros.
        let made = Command::new("mknod").arg(device).args(["c", "1", "5"]).status().unwrap();
        assert!(made.success());
        node
    }

    /// The place in the tree of a path of the node.
    pub fn path(&self, path: &str) -> PathBuf {
        self.tree().join(path.trim_start_matches('/'))
    }

    pub fn tree(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn program(&self, path: &str, text: &str) {
        self.put(path, text);
        std::fs::set_permissions(self.path(path), PermissionsExt::from_mode(0o755)).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Writes a spec beside the tree.
    pub fn spec(&self, text: &str) -> PathBuf {
        self.beside("spec.kdl", text)
    }

    /// Writes a file beside the tree.
    pub fn beside(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// What `purlin observe` sees of this node.
    pub fn observe(&self, peers: &Peers) -> PathBuf {
        let facts = self.dir.path().join("facts.json");
        let seen = self.enter(
            peers,
            &["--no-start"],
            &[env!("CARGO_BIN_EXE_purlin"), "observe", "-o", facts.to_str().unwrap()],
        );
        assert_eq!(seen.code, 0, "{}", seen.trouble());
        facts
    }

    /// Renders a spec into the tree for a node of these facts, and holds the diff against it to be empty.
    pub fn render(&self, spec: &Path, facts: &Path) {
        let tree = self.tree();
        let output = purlin(&["render", path(spec), "-o", path(&tree), "--facts", path(facts)]);
        assert!(output.status.success(), "{}", said(&output));
        let output = purlin(&["diff", path(spec), "--root", path(&tree), "--facts", path(facts)]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_eq!(
            said(&output).trim(),
            "nothing would change",
            "a tree just written differs from its plan, or something is unproven"
        );
    }

    /// Runs one function of inside.sh in a sandbox on this tree.
    pub fn inside(&self, peers: &Peers, options: &[&str], what: &[&str]) -> Seen {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/consumers/inside.sh");
        let command: Vec<&str> = [path(&script)].into_iter().chain(what.iter().copied()).collect();
        self.enter(peers, options, &command)
    }

    fn enter(&self, peers: &Peers, options: &[&str], command: &[&str]) -> Seen {
        let out = tempfile::tempdir().unwrap();
        let work = tempfile::tempdir().unwrap();
        let sandbox = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/sandbox.sh");
        // The end of sandbox.sh is the end of everything in it, also when it is told to end.
        let output = Command::new("timeout")
            .args(["--kill-after=30", "120", path(&sandbox)])
            .args(["--tree", path(&self.tree()), "--containerd", self.version])
            .args(["--peers", path(&peers.dir), "--work", path(work.path())])
            .args(options)
            .arg("--")
            .args(command)
            .env("OUT", out.path())
            .output()
            .unwrap();
        left_nothing(work.path());
        let log = std::fs::read_to_string(work.path().join("containerd.log")).unwrap_or_default();
        Seen { out, code: output.status.code().unwrap_or(-1), said: said(&output), log }
    }
}

/// Looks for a process or a mount of a sandbox that has ended.
fn left_nothing(work: &Path) {
    let work = path(work);
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(work), "a mount is left:\n{mounts}");
    let needle = format!("SANDBOX_WORK={work}\0");
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(environ) = std::fs::read(process.path().join("environ")) else { continue };
        let of_it = environ.windows(needle.len()).any(|w| w == needle.as_bytes());
        assert!(!of_it, "process {} is left", process.path().display());
    }
}

/// What a run in the sandbox left for the tests to judge.
pub struct Seen {
    out: TempDir,
    pub code: i32,
    said: String,
    /// containerd's log.
    pub log: String,
}

impl Seen {
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.out.path().join(name))
            .unwrap_or_else(|e| panic!("{name}: {e}\n{}", self.trouble()))
    }

    pub fn has(&self, name: &str) -> bool {
        self.out.path().join(name).exists()
    }

    pub fn json(&self, name: &str) -> Json {
        serde_json::from_str(&self.text(name)).unwrap_or_else(|e| panic!("{name}: {e}\n{}", self.trouble()))
    }

    /// All that may explain a failure.
    pub fn trouble(&self) -> String {
        let mut text = format!("exit code {}\n{}", self.code, self.said);
        let calls = std::fs::read_to_string(self.out.path().join("calls.log")).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = write!(text, "\n---- tools\n{}\n---- containerd\n", tail(&calls));
        let loud = self.log.lines().filter(|l| !l.contains("level=info")).collect::<Vec<_>>().join("\n");
        text + tail(&loud)
    }
}

fn tail(text: &str) -> &str {
    let start = text.char_indices().rev().nth(4000).map_or(0, |(i, _)| i);
    &text[start..]
}

/// Runs purlin.
pub fn purlin(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_purlin")).args(arguments).env("NO_COLOR", "1").output().unwrap()
}

/// Both streams of a program.
pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A path as text: those of the tests are UTF-8.
pub fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
