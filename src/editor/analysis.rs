//! All that is known of a spec and its parts as their texts are now: made once per change, asked often.

use super::kdl;
use super::spots::{Spot, spots};
use crate::compile::compile_in;
use crate::diag::{Diagnostic, FileId, Findings, Sources};
use crate::emission::emit;
use crate::source::{Schema, Syntax, Tree};
use crate::spec::schema;
use std::sync::Arc;

/// One text of a spec.
#[derive(Debug)]
pub struct File {
    pub id: FileId,
    pub spots: Vec<Spot<'static>>,
}

/// A spec with its parts, or a part alone.
#[derive(Debug)]
pub struct Analysis {
    pub sources: Sources,
    /// The file itself first.
    pub files: Vec<File>,
    /// What `purlin check` would say, in the order of the text.
    pub findings: Vec<Diagnostic>,
    /// Every text could be read.
    pub read: bool,
    pub part: bool,
}

/// Looks at a text and all that it includes. `path` is its own below the tree.
#[must_use]
pub fn look(name: &str, text: &Arc<str>, path: &str, syntax: Syntax, tree: &dyn Tree) -> Analysis {
    let mut sources = Sources::default();
    let mut findings = Findings::new();
    let file = sources.add(name, Arc::clone(text));
    let spec = compile_in(&mut sources, (file, path), syntax, tree, &mut findings);
    if let Some(node) = spec.as_ref().and_then(|spec| spec.node.as_ref()) {
        // What only facts could decide is nothing to bother a writer with.
        drop(emit(node, None, &mut findings));
    }
    findings.mask_credentials();
    let mut files = Vec::new();
    while let Some(source) = u16::try_from(files.len()).ok().and_then(|id| sources.get(FileId(id))) {
        let id = FileId(u16::try_from(files.len()).unwrap_or(u16::MAX));
        let syntax = Syntax::of(&source.name).filter(|_| id != file).unwrap_or(syntax);
        files.push(File { id, spots: spots(&source.text, syntax, schema()) });
    }
    let (read, part) = (spec.is_some(), spec.is_some_and(|spec| spec.is_part));
    Analysis { sources, files, findings: findings.into_sorted(), read, part }
}

impl Analysis {
    /// The file of that name.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&File> {
        self.files.iter().find(|file| self.sources.name(file.id) == name)
    }
}

/// Whether a text is one of ours, going by what it says at its top: an editor shows us every file of a language.
#[must_use]
pub fn is_spec(text: &str, syntax: Syntax, schema: &Schema) -> bool {
    if syntax == Syntax::Kdl {
        return kdl::is_spec(text, schema);
    }
    let root = schema.root();
    let versions = root.property("apiVersion").map(|version| version.words()).unwrap_or_default();
    let groups: Vec<&str> = versions.iter().filter_map(|version| version.split('/').next()).collect();
    text.lines().any(|line| {
        let line = line.trim_start_matches(['\u{feff}', ' ', '{', '"']);
        line.starts_with("apiVersion") && groups.iter().any(|group| line.contains(*group))
    })
}
