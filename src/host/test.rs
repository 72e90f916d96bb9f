//! What the tests of this folder share.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names what a test needs and does not have, in one line; never silent.
pub fn skip(missing: &str) {
    let test = std::thread::current().name().unwrap_or("test").to_owned();
    // Not by eprintln, which the test harness hides.
    let _ = writeln!(std::io::stderr(), "skipped {test}: no {missing}");
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub fn write(dir: &Path, path: &str, text: &str) -> PathBuf {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    set_mode(&path, 0o644);
    path
}

pub fn script(dir: &Path, path: &str, body: &str) -> PathBuf {
    let path = write(dir, path, &format!("#!/bin/sh\n{body}\n"));
    set_mode(&path, 0o755);
    path
}

pub fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

pub fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

pub fn fifo(path: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o644)).unwrap();
}

/// Every path below a directory, sorted, with its content when it is a file.
pub fn tree(dir: &Path) -> Vec<(String, Option<String>)> {
    fn visit(top: &Path, dir: &Path, out: &mut Vec<(String, Option<String>)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(top).unwrap().display().to_string();
            let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
            out.push((name, kind.is_file().then(|| std::fs::read_to_string(&path).unwrap())));
            if kind.is_dir() {
                visit(top, &path, out);
            }
        }
    }
    let mut out = Vec::new();
    visit(dir, dir, &mut out);
    out.sort();
    out
}

/// Runs one ignored test of this binary again, below a shell line that changes its surroundings first. `$1` of the line
/// is the directory. False (and a visible line) when the surroundings cannot be had.
pub fn again(test: &str, dir: &Path, namespace: bool, line: &str) -> bool {
    let shell = |line: &str| {
        let mut command = if namespace {
            let mut command = Command::new("unshare");
            command.arg(if is_root() { "-m" } else { "-rm" }).arg("sh");
            command
        } else {
            Command::new("sh")
        };
        command.args(["-c", line, "sh"]).arg(dir).arg(std::env::current_exe().unwrap()).arg(test);
        command.env("PURLIN_TEST_DIR", dir);
        command
    };
    let probe = shell(line).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|s| s.success()) {
        skip(&format!("`{line}`"));
        return false;
    }
    let output =
        shell(&format!("{line}; exec \"$2\" --exact \"$3\" --ignored --nocapture")).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    true
}

/// The directory that [`again`] gave.
pub fn given() -> PathBuf {
    PathBuf::from(std::env::var_os("PURLIN_TEST_DIR").expect("is run by another test"))
}
