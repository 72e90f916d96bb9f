//! Every call of a transaction that changes the file system fails once, and is once the last before a crash.

use super::test::{skip, tree};
use super::{HostError, Root, Transaction, is_temporary};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const BASES: &[&str] = &["/etc/cni/net.d", "/etc/containerd", "/var/lib/purlin"];
const RECORD: &str = "var/lib/purlin/ledger.json";
const CALLS: &[&str] =
    &["openat2", "mkdirat", "fchmod", "fsync", "linkat", "renameat", "unlinkat", "unlink", "rename", "mkdir"];

fn before(dir: &Path) {
    super::test::write(dir, "etc/cni/net.d/a", "old a");
    super::test::write(dir, "etc/cni/net.d/b", "old b");
    super::test::write(dir, "etc/cni/net.d/sub/gone", "old gone");
    super::test::write(dir, RECORD, "old");
}

/// Files with their content, without temporary ones.
fn files(dir: &Path) -> BTreeMap<String, String> {
    let plain = |path: &str| !is_temporary(path.rsplit('/').next().unwrap_or_default());
    tree(dir).into_iter().filter_map(|(p, t)| Some((p, t?))).filter(|(p, _)| plain(p)).collect()
}

fn old() -> BTreeMap<String, String> {
    let files = [
        ("etc/cni/net.d/a", "old a"),
        ("etc/cni/net.d/b", "old b"),
        ("etc/cni/net.d/sub/gone", "old gone"),
        (RECORD, "old"),
    ];
    files.map(|(p, t)| (p.to_owned(), t.to_owned())).into()
}

fn new() -> BTreeMap<String, String> {
    let files = [
        ("etc/cni/net.d/a", "new a"),
        ("etc/cni/net.d/b", "new b"),
        ("etc/containerd/conf.d/c/d", "new d"),
        (RECORD, "new"),
    ];
    files.map(|(p, t)| (p.to_owned(), t.to_owned())).into()
}

#[test]
#[ignore = "is run by the tests below"]
fn transaction() {
    let dir = super::test::given();
    let untouched = tree(&dir);
    let root = Root::open(&dir).unwrap();
    let mut set = Transaction::new(&root, BASES);
    set.put("/etc/cni/net.d/a", b"new a", 0o600).unwrap();
    set.put("/etc/containerd/conf.d/c/d", b"new d", 0o600).unwrap();
    set.delete("/etc/cni/net.d/sub/gone").unwrap();
    set.delete_directory("/etc/cni/net.d/sub").unwrap();
    set.put("/etc/cni/net.d/b", b"new b", 0o600).unwrap();
    set.record(&format!("/{RECORD}"), b"under way", b"new", 0o600).unwrap();
    match set.commit() {
        Ok(()) => {
            assert_eq!(files(&dir), new());
            assert!(!tree(&dir).iter().any(|(p, _)| is_temporary(p.rsplit('/').next().unwrap())));
            assert!(!dir.join("etc/cni/net.d/sub").exists());
        }
        // What is left are old contents under temporary names.
        Err(HostError::Leftover { .. }) => assert_eq!(files(&dir), new()),
        Err(error) => {
            assert!(!matches!(error, HostError::Undo { .. }), "{error}");
            assert_eq!(tree(&dir), untouched, "{error}");
        }
    }
}

/// Runs the transaction in a fresh directory under strace; its log, and whether it passed.
fn traced(dir: &Path, options: &[String]) -> Option<(String, bool)> {
    before(dir);
    let log = dir.with_extension("log");
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&log)
        .arg(format!("-etrace={}", CALLS.join(",")))
        .args(options)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "host::faults::transaction", "--ignored", "--nocapture"])
        .env("PURLIN_TEST_DIR", dir)
        .output()
        .ok()?;
    Some((std::fs::read_to_string(log).ok()?, output.status.success()))
}

/// How often each call is made by the thread that makes most of them.
fn calls() -> Option<BTreeMap<&'static str, usize>> {
    let top = tempfile::tempdir().unwrap();
    let (log, passed) = traced(&top.path().join("root"), &[])?;
    if log.is_empty() {
        return None;
    }
    assert!(passed, "{log}");
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in log.lines() {
        let Some((thread, call)) = line.split_once(char::is_whitespace) else { continue };
        let call = call.trim_start();
        if let Some(name) = CALLS.iter().find(|name| call.starts_with(&format!("{name}("))) {
            *counts.entry((thread, name)).or_default() += 1;
        }
    }
    let mut most = BTreeMap::new();
    for ((_, name), count) in counts {
        let name = CALLS.iter().find(|n| **n == name)?;
        let entry = most.entry(*name).or_insert(0);
        *entry = count.max(*entry);
    }
    Some(most)
}

fn sweep(fault: &str, check: impl Fn(&Path, &str, bool)) {
    let Some(calls) = calls() else { return skip("strace that may trace") };
    // What the transaction above surely does: two files replaced, one made, one deleted.
    assert!(calls["renameat"] >= 4 && calls["linkat"] >= 2 && calls["fsync"] >= 6, "{calls:?}");
    for (call, count) in calls {
        for nth in 1..=count {
            let top = tempfile::tempdir().unwrap();
            let dir = top.path().join("root");
            let inject = format!("-einject={call}:{fault}:when={nth}");
            let (log, passed) = traced(&dir, std::slice::from_ref(&inject)).unwrap();
            check(&dir, &format!("{inject}\n{log}"), passed);
        }
    }
}

#[test]
fn whichever_call_fails_all_is_old_or_all_is_new() {
    sweep("error=EIO", |_, log, passed| {
        assert!(log.contains("(INJECTED)"), "{log}");
        assert!(passed, "{log}");
    });
}

#[test]
fn whenever_it_is_killed_each_file_is_old_or_new() {
    sweep("signal=KILL", |dir, log, passed| {
        assert!(!passed, "{log}");
        let (mut files, mut old, mut new) = (files(dir), old(), new());
        let [record, ..] = [&mut files, &mut old, &mut new].map(|files| files.remove(RECORD).unwrap());
        match record.as_str() {
            // Whatever happened, it was told before; and all of it, before that was told.
            "old" => assert_eq!(files, old, "{log}"),
            "new" => assert_eq!(files, new, "{log}"),
            record => assert_eq!(record, "under way", "{log}"),
        }
        for path in old.keys().chain(new.keys()) {
            let found = files.get(path);
            assert!(found == old.get(path) || found == new.get(path), "{path}: {found:?}\n{log}");
        }
        assert!(
            files.keys().all(|path| old.contains_key(path) || new.contains_key(path)),
            "{files:?}\n{log}"
        );
    });
}

#[test]
fn without_openat2_or_hard_links_it_works_too() {
    let faults =
        ["openat2:error=ENOSYS", "openat2:error=EPERM", "linkat:error=EPERM", "linkat:error=EOPNOTSUPP"];
    for fault in faults {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("root");
        match traced(&dir, &[format!("-einject={fault}")]) {
            Some((log, passed)) if !log.is_empty() => {
                assert!(log.contains("(INJECTED)") && passed, "{fault}\n{log}");
                assert_eq!(files(&dir), new(), "{fault}\n{log}");
            }
            _ => return skip("strace that may trace"),
        }
    }
}
