//! Names: where one is defined, who says it, and what to change to give it another.

use super::analysis::Analysis;
use super::spots::{Role, Spot, at};
use crate::diag::FileId;
use crate::source::{Shape, Syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A name, and the word that was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The path of the collection that the name is of.
    pub collection: Vec<String>,
    pub name: String,
    pub span: Range<usize>,
}

/// A change of one text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    pub start: usize,
    pub end: usize,
    pub replacement: String,
}

/// Why a name cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    #[error(
        "this is no name that the spec defines; put the cursor on the name of a member, or where it is referred to"
    )]
    NoName,
    #[error("`{0}` is taken already; choose another name")]
    Taken(String),
    #[error("{0}")]
    Form(String),
    #[error(
        "`{0}` or a file that it includes cannot be read yet; mend it first, so that no use of the name is missed"
    )]
    Broken(String),
}

/// The name at an offset.
#[must_use]
pub fn target(spots: &[Spot<'_>], offset: usize) -> Option<Target> {
    let spot = at(spots, offset)?;
    let collection = match &spot.role {
        // Labels and the like have keys, but nobody refers to them.
        Role::Name(collection) if spot.shape.is_struct() => collection.clone(),
        Role::Value => spot.refers.clone()?,
        _ => return None,
    };
    Some(Target { collection, name: spot.text.clone(), span: spot.span.clone() })
}

/// Where a name stands: the file, the place, and whether it is defined there.
#[must_use]
pub fn occurrences(analysis: &Analysis, target: &Target) -> Vec<(FileId, Range<usize>, bool)> {
    let mut found = Vec::new();
    for file in &analysis.files {
        for spot in file.spots.iter().filter(|spot| spot.text == target.name) {
            let definition = spot.role == Role::Name(target.collection.clone());
            let reference = spot.role == Role::Value && spot.refers.as_ref() == Some(&target.collection);
            if (definition || reference)
                && !found.iter().any(|(id, span, _)| *id == file.id && *span == spot.span)
            {
                found.push((file.id, spot.span.clone(), definition));
            }
        }
    }
    found
}

/// The names of a collection, in the order of the alphabet.
#[must_use]
pub fn names(analysis: &Analysis, collection: &[String]) -> BTreeSet<String> {
    let spots = analysis.files.iter().flat_map(|file| &file.spots);
    let members = spots.filter(|s| matches!(&s.role, Role::Name(of) if of == collection));
    members.map(|s| s.text.clone()).collect()
}

/// The changes, by the names of the files, that give the name at an offset of a file another one. A file that several specs
/// include ties their names together.
///
/// # Errors
/// When it is no name, or the new one cannot be given.
pub fn rename(
    specs: &[&Analysis],
    file: &str,
    offset: usize,
    new: &str,
) -> Result<BTreeMap<String, Vec<Edit>>, RenameError> {
    let first = specs.iter().find_map(|spec| spec.file(file)).ok_or(RenameError::NoName)?;
    let target = target(&first.spots, offset).ok_or(RenameError::NoName)?;
    let mut edits: BTreeMap<String, Vec<Edit>> = BTreeMap::new();
    let mut tied: BTreeSet<String> = BTreeSet::from([file.to_owned()]);
    let mut open: Vec<&Analysis> = specs.to_vec();
    let mut form: Option<Shape<'_>> = None;
    let mut defined = false;
    while let Some(next) = open.iter().position(|spec| tied.iter().any(|name| spec.file(name).is_some())) {
        let spec = open.swap_remove(next);
        if !spec.read {
            return Err(RenameError::Broken(spec.sources.name(FileId(0)).to_owned()));
        }
        if new != target.name && names(spec, &target.collection).contains(new) {
            return Err(RenameError::Taken(new.to_owned()));
        }
        for (id, span, definition) in occurrences(spec, &target) {
            let name = spec.sources.name(id);
            tied.insert(name.to_owned());
            defined |= definition;
            let spots = spec.files.iter().filter(|f| f.id == id).flat_map(|f| &f.spots);
            form = form.or_else(|| spots.filter(|s| s.span == span).find_map(|s| s.names.or(Some(s.shape))));
            let written = spec.sources.text(id).get(span.clone()).unwrap_or_default();
            let syntax = Syntax::of(name).unwrap_or_default();
            let quoted = written.starts_with('"') || syntax == Syntax::Kdl;
            let replacement = if quoted { Syntax::Json.string(new) } else { syntax.string(new) };
            let edit = Edit { start: span.start, end: span.end, replacement };
            let list = edits.entry(name.to_owned()).or_default();
            if !list.contains(&edit) {
                list.push(edit);
            }
        }
    }
    if !defined {
        return Err(RenameError::NoName);
    }
    if let Some(form) = form {
        form.try_form(new).map_err(RenameError::Form)?;
    }
    edits.values_mut().for_each(|list| list.sort());
    Ok(edits)
}
