//! Where a spec's files come from.

use super::input::SPEC_BYTES;
use super::{FACTS_AND_TREES, Failure};
use crate::host::Root;
use crate::source::Tree;
use clap::{Args, ValueHint};
use std::path::{Component, Path, PathBuf};

/// The option that says how far includes may reach.
#[derive(Clone, Debug, Default, Args)]
pub struct TreeOption {
    /// The directory that holds the spec and all that it may include [default: the spec's own].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = FACTS_AND_TREES)]
    pub tree: Option<PathBuf>,
}

impl TreeOption {
    /// The tree of a spec, and the spec's path below it.
    pub fn of(&self, spec: &Path) -> Result<(Files, String), Failure> {
        let (dir, below) = match &self.tree {
            None => {
                let name = spec.file_name().map(PathBuf::from).unwrap_or_default();
                (plain(spec.parent().unwrap_or(Path::new(""))), name)
            }
            Some(dir) => {
                let real = |path: &Path| {
                    path.canonicalize().map_err(|e| {
                        Failure(format!("cannot find `{}`: {e}; see that the path is right", path.display()))
                    })
                };
                let parent = spec.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                // The file itself may be a link, as in a ConfigMap's volume; what it includes stands beside the link.
                let (root, file) = (real(dir)?, real(parent)?.join(spec.file_name().unwrap_or_default()));
                let below = file.strip_prefix(&root).map_err(|_| {
                    Failure(format!(
                        "`{}` is not below `{}`; give `--tree` a directory that holds both it and what it includes",
                        spec.display(),
                        dir.display()
                    ))
                })?;
                (plain(dir), below.to_path_buf())
            }
        };
        Ok((Files { dir }, below.display().to_string()))
    }
}

/// The directory as it is put before a file's name: nothing for the one that the command runs in.
pub fn plain(dir: &Path) -> PathBuf {
    dir.components().filter(|step| !matches!(step, Component::CurDir)).collect()
}

/// Files of a directory. Links are followed, but not out of it.
#[derive(Debug)]
pub struct Files {
    dir: PathBuf,
}

impl Files {
    /// The directory, as the operator named it; empty for the one that the command runs in.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    #[cfg(feature = "lsp")]
    pub const fn below(dir: PathBuf) -> Self {
        Self { dir }
    }
}

impl Tree for Files {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let dir = if self.dir.as_os_str().is_empty() { Path::new(".") } else { &self.dir };
        let root = Root::open(dir).map_err(|e| e.to_string())?;
        match root.read_linked(&format!("/{path}"), SPEC_BYTES) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(format!("make the file, or correct the name: there is no `{}`", self.name(path))),
            Err(error) => Err(error.to_string()),
        }
    }

    fn name(&self, path: &str) -> String {
        self.dir.join(path).display().to_string()
    }
}
