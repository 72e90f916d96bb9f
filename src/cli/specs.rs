//! Which specs a command is about: files as they are named, and all those below a directory.

use super::git::revisions;
use super::input::Spec;
use super::tree::{Files, TreeOption};
use super::{FACTS_AND_TREES, Failure};
use crate::editor::is_spec;
use crate::source::Syntax;
use crate::spec::schema;
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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

/// The one spec that an argument names.
pub fn one_spec(path: &Path, tree: &TreeOption) -> Result<SpecFile, Failure> {
    if path.is_dir() {
        return Err(Failure(format!("`{}` is a directory; name a spec in it", path.display())));
    }
    let (files, below) = tree.of(path)?;
    Ok(SpecFile { path: path.to_path_buf(), files, below, found: false })
}

/// All specs that arguments mean, in the arguments' order; those of a directory in the order of their names. What cannot
/// be looked at does not hide the others: its name and the reason stand apart.
pub fn specs(arguments: &[PathBuf], tree: &TreeOption) -> (Vec<SpecFile>, Vec<(String, String)>) {
    let mut list = Vec::new();
    let mut failures = Vec::new();
    for argument in arguments {
        match of_one(argument, tree) {
            Ok(mut some) => list.append(&mut some),
            Err(Failure(why)) => failures.push((argument.display().to_string(), why)),
        }
    }
    (list, failures)
}

fn of_one(argument: &Path, tree: &TreeOption) -> Result<Vec<SpecFile>, Failure> {
    if !argument.is_dir() {
        return Ok(vec![one_spec(argument, tree)?]);
    }
    let mut names = Vec::new();
    walk(argument, &mut names)?;
    if names.is_empty() {
        return Err(Failure(format!(
            "there is no spec below `{}`; name a directory with .kdl, .yaml or .json files in it",
            argument.display()
        )));
    }
    names.sort();
    // Of a directory, all of it is the tree.
    let tree = TreeOption { tree: Some(tree.tree.clone().unwrap_or_else(|| argument.to_path_buf())) };
    let found = |path: PathBuf| {
        let spec = one_spec(&path, &tree)?;
        // What was found is called as its tree calls it.
        Ok(SpecFile { path: spec.files.dir().join(&spec.below), found: true, ..spec })
    };
    names.into_iter().map(found).collect()
}

/// The option that leaves out what did not change.
#[derive(Clone, Debug, Default, Args)]
pub struct Changed {
    /// Only specs that are not as they were at this Git revision, themselves or in what they include.
    #[arg(long, value_name = "REV", help_heading = FACTS_AND_TREES)]
    changed_since: Option<String>,
    /// By tree: the paths below it that changed.
    #[arg(skip)]
    paths: OnceLock<BTreeMap<PathBuf, BTreeSet<String>>>,
}

impl Changed {
    /// Asks Git, once for each tree.
    pub fn open(&self, specs: &[SpecFile]) -> Result<(), Failure> {
        let Some(revision) = &self.changed_since else { return Ok(()) };
        let trees = revisions(specs, revision)?.into_iter();
        let _ = self
            .paths
            .set(trees.map(|(dir, tree)| Ok((dir, tree.changed()?))).collect::<Result<_, Failure>>()?);
        Ok(())
    }

    /// Whether the spec is as it was. One that is broken may have been broken by an include, and stays in.
    pub fn leaves_out(&self, spec: &SpecFile, read: &Spec) -> bool {
        let Some(changed) = self.paths.get().and_then(|paths| paths.get(spec.files.dir())) else {
            return false;
        };
        match read {
            Spec::Whole(whole) => !whole.files.iter().any(|path| changed.contains(path)),
            Spec::Part | Spec::Foreign => !changed.contains(&spec.below),
            Spec::Broken => false,
        }
    }
}

/// The files that an argument means: itself, or of a directory the specs and parts in it.
pub fn texts(argument: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !argument.is_dir() {
        return Ok(vec![argument.to_path_buf()]);
    }
    let mut names = Vec::new();
    walk(argument, &mut names)?;
    names.sort();
    // What cannot be read is told where it is read again.
    names.retain(|path| {
        std::fs::read(path).map_or(true, |bytes| is_ours(&path.display().to_string(), &bytes))
    });
    Ok(names)
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

/// Whether a text that was found is a spec or a part, or at least meant as one: another program's YAML is not.
#[must_use]
pub fn is_ours(name: &str, text: &[u8]) -> bool {
    Syntax::of(name).is_some_and(|syntax| is_spec(&String::from_utf8_lossy(text), syntax, schema()))
}
