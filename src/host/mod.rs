//! The only access to the operating system: paths that stay under a root, facts about a host, sets of file changes.
//!
//! Nothing here knows what a spec says or what a plan wants: callers pass places and bytes, and get facts and typed
//! errors. Every wait has a deadline and every listing a limit, for a host is not always well.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

#[cfg(test)]
mod faults;
#[cfg(feature = "agent")]
mod links;
mod lock;
mod observe;
mod program;
mod root;
#[cfg(test)]
mod test;
mod write;

pub use lock::Lock;
pub use observe::{Observed, observe};
pub use root::Root;
pub use write::{Transaction, is_temporary};

use crate::facts::platform::Platform;
use rustix::io::Errno;
use std::io;

/// A world that is not as it has to be. A user's mistake is a finding, never this.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error("cannot {doing} `{path}`: {source}; {}", remedy(.source))]
    Io { doing: &'static str, path: String, source: io::Error },
    #[error("`{path}` is no path that can be used here: {why}")]
    Path { path: String, why: &'static str },
    #[error(
        "`{path}` is a symbolic link, and below a base directory none is followed; replace it by what it points to"
    )]
    Link { path: String },
    #[error("`{path}` is being replaced by somebody else; find out who, and try again")]
    Unsteady { path: String },
    #[error("`{path}` leads out of its root or base directory; replace what leads out, it is never followed")]
    Escape { path: String },
    #[error(
        "`{path}` is in none of the directories that purlin may write to ({bases}); choose a path below one of them"
    )]
    Outside { path: String, bases: String },
    #[error("`{path}` is {found}, not {wanted}; move it away")]
    Kind { path: String, found: &'static str, wanted: &'static str },
    #[error("there is no directory `{path}`; make it, or name one that is there")]
    NoRoot { path: String },
    #[error("`{path}` is no directory; name one")]
    NotRoot { path: String },
    #[error("`{path}` is changed twice in one transaction; make it one change")]
    Twice { path: String },
    #[error("`{path}` has more than {limit} {what}; it is left out, make it smaller")]
    Limit { path: String, limit: u64, what: &'static str },
    #[error("the name {name:?} in `{directory}` is not UTF-8; rename it")]
    Name { directory: String, name: String },
    #[error(
        "`{path}` is not run, for {why}; let root own it, and nobody else write to it or to the directories above it"
    )]
    Untrusted { path: String, why: String },
    #[error("`{path}` gave no answer within {seconds} s and was killed; try it by hand")]
    Late { path: String, seconds: u64 },
    #[error("`{path}` gave no usable answer to {question}; try it by hand")]
    Answer { path: String, question: &'static str },
    #[error("cannot list the network links: {why}; see that netlink is allowed here")]
    Links { why: String },
    #[error(
        "the ledger `{path}` is not valid: {source}; restore it from a backup, for without it nothing is ever deleted"
    )]
    Ledger { path: String, source: serde_json::Error },
    #[error(
        "the ledger `{path}` is of version `{found}`, this purlin reads `{}`; use the purlin that wrote it, or a newer one",
        crate::facts::LEDGER_VERSION
    )]
    LedgerVersion { path: String, found: String },
    #[error(
        "`{path}` is locked by another purlin{}, which writes there; wait until it is done, and try again",
        .holder.map(|id: u32| format!(" (process {id})")).unwrap_or_default()
    )]
    Busy { path: String, holder: Option<u32> },
    #[error("{cause}; and not all of it could be undone: {}", joined(.left))]
    Undo {
        #[source]
        cause: Box<HostError>,
        left: Vec<HostError>,
    },
    #[error("the files were changed, but not all of the old ones could be cleared away: {}", joined(.left))]
    Leftover { left: Vec<HostError> },
}

impl HostError {
    pub(crate) fn io(doing: &'static str, path: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { doing, path: path.into(), source: source.into() }
    }

    /// Whether something that was there a moment ago is gone.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the caller's rights are what is missing.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match Errno::from_io_error(source) {
        Some(Errno::MFILE) => return "let purlin open more files at a time (`ulimit -n`)",
        Some(Errno::NFILE) => return "the whole host has too many files open: end what holds them",
        Some(Errno::AGAIN | Errno::NOMEM) => {
            return "let purlin have more processes and memory, or try again later";
        }
        _ => {}
    }
    match source.kind() {
        io::ErrorKind::PermissionDenied => "run purlin as root, or give its user the right",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on that file system",
        io::ErrorKind::FileTooLarge => {
            "let purlin write larger files (`ulimit -f`), or make room for them on that file system"
        }
        io::ErrorKind::ReadOnlyFilesystem => "mount that file system writable",
        io::ErrorKind::NotFound => "see that it is there",
        io::ErrorKind::NotADirectory => "move the file away that stands where a directory belongs",
        _ if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            "replace the link that leads back to itself"
        }
        _ => "see what the kernel's log says about that path",
    }
}

fn joined(errors: &[HostError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Makes a write beyond the limit of file sizes an error, which is undone and told, instead of the process's end. For
/// this thread and those that it starts; a program that is run gets its signals as ever.
pub fn fail_at_limits() {
    use nix::sys::signal::{SigSet, Signal};
    // It cannot fail with a signal that there is; and without it a kill is survived too.
    let _ = SigSet::from_iter([Signal::SIGXFSZ]).thread_block();
}

/// The base directories of a platform: what may be reached through links, and below which none is followed.
#[must_use]
pub fn bases(platform: &Platform) -> Vec<&'static str> {
    let mut bases = platform.places();
    bases.push(platform.state);
    bases
}

/// Replaces one file, wherever the user wants it: the new content is whole or the old one stays.
///
/// # Errors
/// When the directory is not there or cannot be written to, or there is no room.
pub fn replace(path: &std::path::Path, bytes: &[u8], mode: u32) -> Result<(), HostError> {
    let shown = path.display().to_string();
    let (Some(name), parent) = (path.file_name().and_then(|n| n.to_str()), path.parent()) else {
        return Err(HostError::Path { path: shown, why: "it names no file; end it with a file's name" });
    };
    let parent = parent.filter(|p| !p.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    let root = Root::open(parent)?;
    let mut transaction = Transaction::new(&root, &["/"]);
    transaction.put(&format!("/{name}"), bytes, mode)?;
    transaction.commit().map_err(|error| match error {
        // The user knows the file by the name that was given, not by the one below its own directory.
        HostError::Io { doing, source, .. } => HostError::Io { doing, path: shown, source },
        error => error,
    })
}
