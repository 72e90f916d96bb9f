//! What the commands share that write specs anew: they read a text, and put another in its place, whole or not at all.

use super::specs::texts;
use super::{Failure, Outcome, OutputFormat, Session, input};
use crate::diag::{FileId, Findings, Sources, masked, visible_line, visible_text};
use crate::host;
use crate::source::{Rewritten, Syntax, decode};
use clap::{Args, ValueEnum};
use similar::TextDiff;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SyntaxWord {
    Kdl,
    Yaml,
    Json,
}

impl SyntaxWord {
    pub const fn syntax(self) -> Syntax {
        match self {
            Self::Kdl => Syntax::Kdl,
            Self::Yaml => Syntax::Yaml,
            Self::Json => Syntax::Json,
        }
    }
}

/// The texts that a command writes anew, and what becomes of them.
#[derive(Debug, Args)]
pub struct Texts {
    /// Node specs; `-` is stdin, and what comes of it goes to stdout.
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<PathBuf>,
    /// Write nothing: list what would change on stdout, and exit with 1 if anything would.
    #[arg(long, conflicts_with = "diff")]
    check: bool,
    /// Write nothing: print what would change as a unified diff (credentials masked), and exit with 1 if anything would.
    #[arg(long)]
    diff: bool,
    /// The syntax, where no file name tells it: on stdin.
    #[arg(long, value_enum, value_name = "SYNTAX")]
    syntax: Option<SyntaxWord>,
}

/// A text that was read.
pub struct Text {
    /// For messages.
    pub name: String,
    pub syntax: Syntax,
    /// None when the bytes are no text, which a finding then says.
    pub file: Option<FileId>,
}

impl Text {
    pub fn read(
        path: &Path,
        syntax: Option<SyntaxWord>,
        sources: &mut Sources,
        findings: &mut Findings,
    ) -> Result<Self, Failure> {
        let limit = input::SPEC_BYTES;
        let (name, bytes, syntax) = if path.as_os_str() == "-" {
            let syntax = syntax.ok_or_else(|| {
                Failure(
                    "stdin has no name that tells its syntax; say `--syntax kdl` or `--syntax yaml`".into(),
                )
            })?;
            let mut bytes = Vec::new();
            std::io::stdin()
                .take(limit)
                .read_to_end(&mut bytes)
                .map_err(|e| Failure(format!("cannot read stdin: {e}; see what is written to it")))?;
            ("stdin".to_owned(), bytes, syntax.syntax())
        } else {
            let name = path.display().to_string();
            if path.is_dir() {
                return Err(input::directory(&name));
            }
            let known = syntax.map(SyntaxWord::syntax).or_else(|| Syntax::of(&name));
            let syntax = known.ok_or_else(|| input::unnamed(&name))?;
            (name, input::read(path, limit)?, syntax)
        };
        let file = decode(sources, &name, &bytes, findings);
        Ok(Self { name, syntax, file })
    }
}

/// What a command says of its work.
pub struct Words {
    /// `formatted`
    pub done: &'static str,
    /// What it says of one text that is as it should be; nothing when that goes without saying.
    pub same: Option<&'static str>,
    /// `format`
    pub verb: &'static str,
}

type Rewrite<'a> = &'a dyn Fn(&Sources, FileId, Syntax, &mut Findings) -> Rewritten;

impl Texts {
    /// Writes every text anew. What is wrong with one must not keep the others from it.
    pub fn run(&self, session: &Session, words: &Words, rewrite: Rewrite<'_>) -> Outcome {
        let mut code = 0;
        let failed = |Failure(message)| {
            session.fail(&message);
            2
        };
        for argument in &self.specs {
            match texts(argument) {
                Ok(paths) => {
                    for path in paths {
                        code = code.max(self.one(&path, session, words, rewrite).unwrap_or_else(failed));
                    }
                }
                Err(failure) => code = code.max(failed(failure)),
            }
        }
        Ok(code)
    }

    fn one(&self, path: &Path, session: &Session, words: &Words, rewrite: Rewrite<'_>) -> Outcome {
        let (mut sources, mut findings) = (Sources::default(), Findings::new());
        let text = Text::read(path, self.syntax, &mut sources, &mut findings)?;
        let Some(file) = text.file else {
            show(findings, sources, session);
            return Ok(1);
        };
        let stdin = path.as_os_str() == "-";
        let old = sources.text(file).to_owned();
        let new = match rewrite(&sources, file, text.syntax, &mut findings) {
            Rewritten::Text(new) => new,
            Rewritten::Unsound => {
                show(findings, sources, session);
                return Ok(1);
            }
            Rewritten::Fault => return Err(fault(&text.name, words.verb)),
            unchanged => {
                let said = match unchanged {
                    Rewritten::NoForm if text.syntax == Syntax::Json => {
                        Some("is left as it is, as JSON has no layout here")
                    }
                    Rewritten::NoForm => Some(
                        "is left as it is, as it has no layout: it holds a `?`, an anchor in an odd place or what is no KDL behind a `/-`, or would get too long",
                    ),
                    _ => words.same,
                };
                if let Some(said) = said {
                    session.say(&format!("{} {said}\n", visible_line(&text.name)));
                }
                if stdin && !self.check && !self.diff {
                    session.print(&old)?;
                }
                return Ok(0);
            }
        };
        let name = visible_line(&text.name);
        if self.check {
            session.print(&format!("{name}\n"))?;
            Ok(1)
        } else if self.diff {
            session.print(&unified(&name, &old, &new))?;
            Ok(1)
        } else if stdin {
            session.print(&new)?;
            Ok(0)
        } else {
            replace(path, &new)?;
            session.say(&format!("{} {name}\n", words.done));
            Ok(0)
        }
    }
}

/// What is wrong with a text, as `check` shows it.
pub fn show(mut findings: Findings, mut sources: Sources, session: &Session) {
    sources.mask_credentials();
    findings.mask_credentials();
    input::show(&findings.settle(), &sources, session, OutputFormat::Human);
}

/// The program's own mistake.
pub fn fault(name: &str, verb: &str) -> Failure {
    Failure(format!(
        "cannot {verb} `{name}`, as the result would say something else; report this with the file, it is a fault of the program"
    ))
}

fn unified(name: &str, old: &str, new: &str) -> String {
    // It may go into a log that everyone reads.
    let shown = |text: &str| visible_text(&masked(text).unwrap_or_else(|| text.to_owned()));
    let (old, new) = (shown(old), shown(new));
    TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).header(name, name).to_string()
}

/// Puts a text in the place of a file's, and keeps the file's mode and owner. A link stays one.
fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    let fail =
        |e: std::io::Error| Failure(format!("cannot write `{shown}`: {e}; see that you may write to it"));
    let target = std::fs::canonicalize(path).map_err(fail)?;
    let metadata = std::fs::metadata(&target).map_err(fail)?;
    // A rename asks only for the directory; that the file itself is not to be written to counts all the same.
    if metadata.permissions().readonly() {
        return Err(Failure(format!("`{shown}` is read-only; make it writable, or use `--diff`")));
    }
    std::fs::OpenOptions::new().write(true).open(&target).map_err(fail)?;
    host::replace(&target, text.as_bytes(), metadata.permissions().mode() & 0o7777)
        .map_err(|e| Failure(format!("cannot write `{shown}`: {e}")))?;
    let now = std::fs::metadata(&target).map_err(fail)?;
    if (now.uid(), now.gid()) != (metadata.uid(), metadata.gid()) {
        std::os::unix::fs::chown(&target, Some(metadata.uid()), Some(metadata.gid())).map_err(|e| {
            Failure(format!(
                "`{shown}` is written, but has another owner now: {e}; give it back with `chown`"
            ))
        })?;
    }
    Ok(())
}
