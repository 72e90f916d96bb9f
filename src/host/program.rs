//! Programs of the host that are asked one question: with an empty environment, a deadline and a bounded answer.
//!
//! Question and answer go through sealed memory files rather than pipes: nothing blocks on a program that does not read,
//! on one that never stops writing, or on a grandchild that keeps the other end open.

use super::HostError;
use super::root::{Root, distrust, kind};
use rustix::fs::{FileType, MemfdFlags, SealFlags};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const SECONDS: u64 = 2;
const ANSWER: u64 = 64 << 10;

/// What is asked.
pub(super) struct Question {
    pub name: &'static str,
    pub arguments: &'static [&'static str],
    pub environment: &'static [(&'static str, &'static str)],
    pub input: &'static str,
}

/// CNI 1.1.0, section 2: VERSION.
pub(super) const CNI_VERSION: Question = Question {
    name: "CNI VERSION",
    arguments: &[],
    environment: &[("CNI_COMMAND", "VERSION")],
    input: r#"{"cniVersion":"1.1.0"}"#,
};

pub(super) const DAEMON_VERSION: Question =
    Question { name: "`--version`", arguments: &["--version"], environment: &[], input: "" };

/// Runs a program of the root and returns what it prints. One that others could have put there is not run.
pub(super) fn ask(root: &Root, path: &str, question: &Question) -> Result<Vec<u8>, HostError> {
    let trail = root.trail(path)?;
    if let Some(why) = trail.untrusted {
        return Err(HostError::Untrusted { path: path.to_owned(), why });
    }
    let Some(fd) = trail.fd else {
        return Err(HostError::io("run", path, io::Error::from(io::ErrorKind::NotFound)));
    };
    let stat = rustix::fs::fstat(&fd).map_err(|e| HostError::io("look at", path, e))?;
    debug_assert!(distrust(&stat).is_none());
    if kind(&stat) != FileType::RegularFile {
        return Err(HostError::Kind {
            path: path.to_owned(),
            found: super::root::word(kind(&stat)),
            wanted: "a file",
        });
    }
    let (status, answer) =
        run(&root.real(&trail.path), path, question).map_err(|e| HostError::io("run", path, e))?;
    match status {
        None => Err(HostError::Late { path: path.to_owned(), seconds: SECONDS }),
        Some(status) if status.success() => Ok(answer),
        Some(_) => Err(HostError::Answer { path: path.to_owned(), question: question.name }),
    }
}

/// Without a status, it was too late.
fn run(real: &PathBuf, name: &str, question: &Question) -> io::Result<(Option<ExitStatus>, Vec<u8>)> {
    let memory = || {
        rustix::fs::memfd_create("purlin", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).map(File::from)
    };
    let mut input = memory()?;
    input.write_all(question.input.as_bytes())?;
    input.rewind()?;
    let mut output = memory()?;
    output.set_len(ANSWER)?;
    // Whoever writes more gets an error, and fills no memory.
    rustix::fs::fcntl_add_seals(&output, SealFlags::GROW)?;
    let until = Instant::now() + Duration::from_secs(SECONDS);
    let mut command = Command::new(real);
    command
        // Programs of many names look at the one they were called by.
        .arg0(name)
        .args(question.arguments)
        .env_clear()
        .envs(question.environment.iter().copied())
        .current_dir("/")
        // What it starts is killed with it.
        .process_group(0)
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output.try_clone()?))
        .stderr(Stdio::null());
    let mut pause = Duration::from_millis(1);
    let mut wait = || {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
        Instant::now() < until
    };
    let mut child = loop {
        match command.spawn() {
            // It is being replaced right now, or a child of ours that has not yet called exec still holds it open.
            Err(e) if e.kind() == io::ErrorKind::ExecutableFileBusy && wait() => {}
            spawned => break spawned?,
        }
    };
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if !wait() {
            // Not waited for yet, so the number is still its own.
            if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
                rustix::process::kill_process_group(group, rustix::process::Signal::KILL)?;
            }
            child.kill()?;
            child.wait()?;
            break None;
        }
    };
    let mut answer = Vec::new();
    output.rewind()?;
    output.take(ANSWER).read_to_end(&mut answer)?;
    let end = answer.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    answer.truncate(end);
    Ok((status, answer))
}

/// `supportedVersions` of an answer to VERSION.
pub(super) fn cni_versions(answer: &[u8]) -> Option<Vec<String>> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        supported_versions: Vec<String>,
    }
    let Answer { supported_versions } = serde_json::from_slice(answer).ok()?;
    let plain = |v: &String| v.len() <= 32 && v.starts_with(|c: char| c.is_ascii_digit()) && v.is_ascii();
    (!supported_versions.is_empty() && supported_versions.len() <= 64 && supported_versions.iter().all(plain))
        .then_some(supported_versions)
}

/// The numbers of the version that a daemon prints: `containerd containerd.io v1.6.4 212e8b6`,
/// `containerd github.com/containerd/containerd 1.7.24~ds1 1.7.24~ds1-6+b4`.
pub(super) fn daemon_version(answer: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(answer).ok()?;
    text.lines().next()?.split_whitespace().find_map(|word| {
        let word = word.strip_prefix('v').unwrap_or(word);
        let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
        let version = word[..end].trim_end_matches('.');
        let parts: Vec<_> = version.split('.').collect();
        ((2..=3).contains(&parts.len()) && parts.iter().all(|p| !p.is_empty() && p.len() <= 9))
            .then(|| version.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::test::*;

    fn asked(body: &str, question: &Question) -> Result<Vec<u8>, HostError> {
        let dir = tempfile::tempdir().unwrap();
        script(dir.path(), "bin/it", body);
        ask(&Root::open(dir.path()).unwrap(), "/bin/it", question)
    }

    #[test]
    fn a_plugin_gets_the_question_and_nothing_else() {
        let answer = asked("/usr/bin/env; /bin/cat; echo; /bin/pwd; echo err >&2", &CNI_VERSION).unwrap();
        let text = String::from_utf8(answer).unwrap();
        let mut lines: Vec<_> = text
            .lines()
            .filter(|l| !["PWD=", "OLDPWD=", "SHLVL=", "_="].iter().any(|s| l.starts_with(s)))
            .collect();
        lines.sort_unstable();
        assert_eq!(lines, ["/", "CNI_COMMAND=VERSION", r#"{"cniVersion":"1.1.0"}"#]);
    }

    #[test]
    fn a_plugin_has_no_file_of_ours() {
        let _held = File::open("/").unwrap();
        let answer = asked("exec /bin/ls -l /proc/self/fd", &CNI_VERSION).unwrap();
        let text = String::from_utf8(answer).unwrap();
        // Its own handle on the listing is the fourth; what this test was started with is not ours.
        let ours = |l: &&str| l.contains(" -> ") && !l.contains("/proc/") && !inherited(l);
        assert_eq!(text.lines().filter(ours).count(), 3, "{text}");
    }

    /// A handle that the test runner left open for everybody.
    fn inherited(line: &str) -> bool {
        let number = line.split(" -> ").next().and_then(|l| l.rsplit(' ').next()).unwrap_or("");
        let flags = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
        let flags =
            flags.lines().find_map(|l| l.strip_prefix("flags:")).unwrap_or("02000000").trim().to_owned();
        number.parse::<u32>().is_ok_and(|n| n > 2)
            && u32::from_str_radix(&flags, 8).is_ok_and(|f| f & 0o2_000_000 == 0)
    }

    #[test]
    fn one_that_hangs_is_killed_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let pids = dir.path().join("pids");
        script(
            dir.path(),
            "bin/it",
            &format!("/bin/sleep 100 & echo $! > {0}; echo $$ >> {0}; wait", pids.display()),
        );
        let root = Root::open(dir.path()).unwrap();
        let start = Instant::now();
        assert!(matches!(ask(&root, "/bin/it", &CNI_VERSION), Err(HostError::Late { .. })));
        assert!(start.elapsed() < Duration::from_secs(SECONDS + 2));
        let until = Instant::now() + Duration::from_secs(5);
        for pid in std::fs::read_to_string(pids).unwrap().lines() {
            // An orphan stays a zombie until init takes note of it.
            let alive =
                || std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(") Z "));
            while alive() {
                assert!(Instant::now() < until, "{pid} is alive");
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn an_endless_answer_is_cut_off() {
        let answer =
            asked("while :; do echo 0123456789012345678901234567890123456789 || exit 0; done", &CNI_VERSION);
        assert!(answer.unwrap().len() as u64 <= ANSWER);
    }

    #[test]
    fn one_that_fails_has_no_answer() {
        assert!(matches!(asked("echo '{}'; exit 3", &CNI_VERSION), Err(HostError::Answer { .. })));
        assert!(asked("exec 0<&- 1>&-", &CNI_VERSION).unwrap().is_empty());
    }

    #[test]
    fn one_that_others_may_write_is_not_run() {
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().join("marker");
        let it = script(dir.path(), "bin/it", &format!("echo > {}", marker.display()));
        set_mode(&it, 0o777);
        let root = Root::open(dir.path()).unwrap();
        assert!(matches!(ask(&root, "/bin/it", &CNI_VERSION), Err(HostError::Untrusted { .. })));
        assert!(!marker.exists());
    }

    #[test]
    fn versions_are_read_from_answers() {
        let some = br#"{"cniVersion":"1.1.0","supportedVersions":["0.4.0","1.0.0"]}"#;
        assert_eq!(cni_versions(some).unwrap(), ["0.4.0", "1.0.0"]);
        for none in [
            "",
            "{}",
            "[]",
            r#"{"supportedVersions":[]}"#,
            r#"{"supportedVersions":["x"]}"#,
            r#"{"supportedVersions":"1.0.0"}"#,
        ] {
            assert_eq!(cni_versions(none.as_bytes()), None, "{none}");
        }
        for (text, version) in [
            ("containerd github.com/containerd/containerd/v2 v2.4.2 c0ffee", Some("2.4.2")),
            ("containerd github.com/containerd/containerd/v2 2.1.9~ds1 2.1.9~ds1-1+b2", Some("2.1.9")),
            ("containerd containerd.io 1.6.4 212e8b6", Some("1.6.4")),
            ("containerd github.com/containerd/containerd v1.7.28-0ubuntu1~24.04.1", Some("1.7.28")),
            ("containerd github.com/k3s-io/containerd v2.1.5-k3s1 abc", Some("2.1.5")),
            ("containerd", None),
            ("", None),
            ("1.2.3.4", None),
        ] {
            assert_eq!(daemon_version(text.as_bytes()).as_deref(), version, "{text}");
        }
    }
}
