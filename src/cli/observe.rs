//! `purlin observe`

use super::completion::platforms;
use super::{Failure, OUTPUT, Outcome, Session};
use crate::facts;
use crate::facts::platform::{PLATFORMS, Platform};
use crate::host::{self, Root};
use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCandidates;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct Observe {
    /// Where to write the facts; without it they go to stdout.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// The distribution whose places are looked at.
    #[arg(long, default_value = "generic", value_name = "NAME", add = ArgValueCandidates::new(platforms))]
    platform: String,
    /// Look at this path too: a directory is one more place, a binary is looked for.
    #[arg(long = "path", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<String>,
}

impl Observe {
    pub fn run(&self, session: &Session) -> Outcome {
        let platform = Platform::named(&self.platform).ok_or_else(|| {
            let known: Vec<_> = PLATFORMS.iter().map(|p| p.name).collect();
            Failure(format!("there is no platform `{}`; choose one of: {}", self.platform, known.join(", ")))
        })?;
        let root = Root::open(session.root.as_deref().unwrap_or(Path::new("/")))?;
        let seen = host::observe(&root, session.root.is_none(), platform, &self.paths)?;
        seen.warnings.iter().chain(&seen.unread_ledger).for_each(|warning| session.warn(warning));
        let text = seen.facts.to_json();
        if text.len() > facts::BYTES {
            return Err(Failure(format!(
                "the facts would be longer than the {} bytes that purlin reads; remove files that do not belong into {}",
                facts::BYTES,
                platform.places().join(", ")
            )));
        }
        match &self.output {
            Some(path) => replace(path, &text)?,
            None => session.print(&text)?,
        }
        Ok(0)
    }
}

/// Replaces the file that the user named; what is there and is no file is nothing to replace.
fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    // Where nothing is, or nothing can be seen, writing says what is wrong.
    if let Ok(there) = std::fs::symlink_metadata(path) {
        let kind = there.file_type();
        if kind.is_symlink() {
            return Err(Failure(format!(
                "`{shown}` is a symbolic link, and none is followed here; name the file that it leads to"
            )));
        } else if kind.is_dir() {
            return Err(Failure(format!("`{shown}` is a directory; name a file")));
        } else if !kind.is_file() {
            return Err(Failure(format!(
                "`{shown}` is no file that can be replaced; name a file, or leave `-o` out and redirect stdout"
            )));
        }
    }
    host::replace(path, text.as_bytes(), 0o644).map_err(|e| Failure(format!("cannot write `{shown}`: {e}")))
}
