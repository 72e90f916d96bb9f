//! Files as they were at a Git revision, by way of the git program.

use super::Failure;
use super::input::SPEC_BYTES;
use super::specs::SpecFile;
use crate::source::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

/// Runs git in a directory; its output.
fn git(dir: &Path, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
    let output = command(dir).args(arguments).stdin(Stdio::null()).output().map_err(unavailable)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().strip_prefix("fatal: ").unwrap_or(said.trim());
    Err(Failure(format!("git: {said}; see that `{}` is in a Git repository that you may read", shown(dir))))
}

fn command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    // Reading takes no locks, and starts nothing that the repository's own configuration names.
    command.args(["-c", "core.fsmonitor=false", "-C"]).arg(if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    });
    command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    command
}

fn unavailable(error: std::io::Error) -> Failure {
    Failure(format!("cannot run git: {error}; install git, or compare with a file: `--against-spec FILE`"))
}

fn shown(dir: &Path) -> String {
    if dir.as_os_str().is_empty() { ".".to_owned() } else { dir.display().to_string() }
}

/// A directory as it was at a revision.
#[derive(Debug)]
pub struct Revision {
    dir: PathBuf,
    /// As the operator wrote it.
    word: String,
    commit: String,
    /// The directory's path in the repository, with a slash at its end, or nothing at the top.
    prefix: String,
    reader: Mutex<Reader>,
}

#[derive(Debug)]
struct Reader {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It ends with its input; a kill makes sure of it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The trees of specs as they were at a revision, each asked for once.
pub fn revisions(specs: &[SpecFile], word: &str) -> Result<BTreeMap<PathBuf, Revision>, Failure> {
    let mut revisions = BTreeMap::new();
    for spec in specs {
        let dir = spec.files.dir();
        if !revisions.contains_key(dir) {
            revisions.insert(dir.to_path_buf(), Revision::open(dir, word)?);
        }
    }
    Ok(revisions)
}

impl Revision {
    /// Finds the revision in the repository that the directory is in.
    fn open(dir: &Path, word: &str) -> Result<Self, Failure> {
        let line = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned();
        let prefix = line(git(dir, &["rev-parse", "--show-prefix"])?);
        let commit = git(
            dir,
            &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{word}^{{commit}}")],
        )
        .map_err(|_| {
            Failure(format!(
                "there is no revision `{word}` here; see `git log`, and fetch it where the clone is shallow"
            ))
        })?;
        let mut child = command(dir)
            .args(["cat-file", "--batch", "--follow-symlinks"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(unavailable)?;
        let (Some(ask), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure("git gives no answers; try again".to_owned()));
        };
        Ok(Self {
            dir: dir.to_path_buf(),
            word: word.to_owned(),
            commit: line(commit),
            prefix,
            reader: Mutex::new(Reader { child, ask, answers: BufReader::new(answers) }),
        })
    }

    /// A file's bytes at the revision; absent when it was not there.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        if path.contains('\n') {
            return Err("a name with a line break cannot be asked of git; rename the file".to_owned());
        }
        let failed = |error: std::io::Error| format!("git stopped answering: {error}; try again");
        let mut reader = self.reader.lock().map_err(|_| "git stopped answering; try again".to_owned())?;
        writeln!(reader.ask, "{}:{}{path}", self.commit, self.prefix).map_err(failed)?;
        reader.ask.flush().map_err(failed)?;
        let mut head = String::new();
        reader.answers.read_line(&mut head).map_err(failed)?;
        // `ID TYPE SIZE`, `… missing`, or what a link is, with the size of its text.
        let words: Vec<&str> = head.trim_end().rsplitn(3, ' ').collect();
        let (last, kind) = (words.first().copied().unwrap_or(""), words.get(1).copied().unwrap_or(""));
        let Ok(size) = last.parse::<u64>() else { return Ok(None) };
        let limit = SPEC_BYTES;
        let mut bytes = Vec::new();
        (&mut reader.answers).take(size.min(limit)).read_to_end(&mut bytes).map_err(failed)?;
        // The rest, and the line break that ends an answer.
        let rest = size.saturating_sub(limit) + 1;
        std::io::copy(&mut (&mut reader.answers).take(rest), &mut std::io::sink()).map_err(failed)?;
        match kind {
            "blob" => Ok(Some(bytes)),
            "tree" => Err("it is a directory at that revision; name a file".to_owned()),
            _ => {
                Err("it is a link that leads out of the repository, or nowhere, at that revision".to_owned())
            }
        }
    }

    /// Where a path below the directory stands now.
    pub fn local(&self, path: &str) -> PathBuf {
        self.dir.join(path)
    }

    /// The files below the directory at the revision.
    pub fn files(&self) -> Result<Vec<String>, Failure> {
        // Names below the directory that git runs in, as they are.
        names(git(&self.dir, &["ls-tree", "-r", "-z", "--name-only", &self.commit, "--", "."])?)
    }

    /// The files below the directory that are not as they were at the revision, new ones included.
    pub fn changed(&self) -> Result<BTreeSet<String>, Failure> {
        let of = |arguments: &[&str]| names(git(&self.dir, arguments)?);
        let mut changed: BTreeSet<String> = BTreeSet::new();
        changed.extend(of(&[
            "diff",
            "--name-only",
            "--relative",
            "--no-renames",
            "-z",
            &self.commit,
            "--",
            ".",
        ])?);
        changed.extend(of(&["ls-files", "--others", "--exclude-standard", "-z", "--", "."])?);
        Ok(changed)
    }
}

fn names(bytes: Vec<u8>) -> Result<Vec<String>, Failure> {
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure("a file's name in the repository is not UTF-8; rename it".to_owned()))?;
    Ok(text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

impl Tree for Revision {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.file(path)?.ok_or_else(|| format!("it was not there at `{}`", self.word))
    }

    fn name(&self, path: &str) -> String {
        format!("{}:{}{path}", self.word, self.prefix)
    }
}
