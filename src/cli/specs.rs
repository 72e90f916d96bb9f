//! Which specs a command is about: files as they are named, and all those below a directory.

use super::Failure;
use super::tree::{Files, TreeOption};
use crate::source::Syntax;
use std::path::{Path, PathBuf};

/// Specs that one call takes at most, so that a wrong directory ends soon.
const MOST: usize = 20_000;

/// A spec, and the files among which it may include others.
#[derive(Debug)]
pub struct SpecFile {
    /// As the operator knows it.
    pub path: PathBuf,
    pub files: Files,
    /// Its path below those files.
    pub below: String,
    /// It was found, not named: a part, or a file of another program, is no mistake there.
    pub found: bool,
}

/// All specs that arguments mean, in the arguments' order; those of a directory in the order of their names.
pub fn specs(arguments: &[PathBuf], tree: &TreeOption) -> Result<Vec<SpecFile>, Failure> {
    let mut list = Vec::new();
    for argument in arguments {
        if !argument.is_dir() {
            let (files, below) = tree.of(argument)?;
            list.push(SpecFile { path: argument.clone(), files, below, found: false });
            continue;
        }
        let before = list.len();
        let mut names = Vec::new();
        walk(argument, &mut names)?;
        names.sort();
        // Of a directory, all of it is the tree.
        let whole = tree.tree.clone().unwrap_or_else(|| argument.clone());
        let tree = TreeOption { tree: Some(whole) };
        for path in names {
            let (files, below) = tree.of(&path)?;
            list.push(SpecFile { path, files, below, found: true });
        }
        if list.len() == before {
            return Err(Failure(format!(
                "there is no spec below `{}`; name a directory with .kdl, .yaml or .json files in it",
                argument.display()
            )));
        }
    }
    Ok(list)
}

/// The files below a directory that may be specs by their names. Links to directories are not followed.
fn walk(dir: &Path, list: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure(format!("cannot look into `{}`: {error}; give your user the right to", dir.display()))
    };
    for entry in std::fs::read_dir(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let kind = entry.file_type().map_err(fail)?;
        if kind.is_dir() {
            walk(&entry.path(), list)?;
        } else if Syntax::of(name).is_some() && entry.path().is_file() {
            if list.len() == MOST {
                return Err(Failure(format!(
                    "there are more than {MOST} specs below `{}`; name a part of it",
                    dir.display()
                )));
            }
            list.push(entry.path());
        }
    }
    Ok(())
}

/// Whether a text that was found is a spec, a part, or at least meant as one: another program's YAML is not.
#[must_use]
pub fn is_ours(name: &str, text: &[u8]) -> bool {
    let has = |word: &str| text.windows(word.len()).any(|w| w == word.as_bytes());
    match Syntax::of(name) {
        Some(Syntax::Kdl) => has("purlin"),
        Some(Syntax::Yaml | Syntax::Json) => has("purlin.dev/"),
        None => false,
    }
}
