//! Text to tree: the syntaxes of the spec, read into one [`Doc`] whose every key and value has its span.
//!
//! What a section may contain is known here only through the [`Schema`] and its annotations; nothing in this folder
//! may name a section or a field of one.

mod case;
mod de;
mod doc;
mod example;
mod header;
mod json;
mod kdl;
mod limits;
mod lower;
mod reference;
mod scalar;
mod schema;
mod surface;
mod tokens;
mod validate;
mod write;
mod yaml;

pub use case::kebab;
pub use de::{Error as ShapeError, from_value};
pub use doc::{Comment, Comments, Doc, Entry, Item, Kind, Value};
pub use limits::{Limits, decode};
pub use reference::{Reference, document as kdl_document, to_reference};
pub use schema::{Schema, Shape};
pub use validate::{FormatCheck, Formats, SchemaError, Validator, since_fields};
pub use write::{to_kdl, to_yaml};

use crate::diag::{FileId, Findings, Sources};

/// The syntax of a spec file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    #[default]
    Kdl,
    Yaml,
    Json,
}

impl Syntax {
    /// By the file name's extension.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "kdl" => Some(Self::Kdl),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Reads one text into a tree. `None` when there is no tree to go on with; the findings then say why.
///
/// Limits come before any parser: see [`Limits`]. The tree's shape is not checked here beyond what the syntax needs.
pub fn parse(
    sources: &Sources,
    file: FileId,
    syntax: Syntax,
    schema: &Schema,
    findings: &mut Findings,
) -> Option<Doc> {
    let text = sources.text(file);
    let limits = Limits::default();
    if !limits.admit(text, file, syntax, findings) {
        return None;
    }
    let doc = match syntax {
        // KDL has the version word in a form of its own, and checks it as it reads.
        Syntax::Kdl => return kdl::parse(text, file, schema, &limits, findings),
        Syntax::Yaml => yaml::parse(text, file, &limits, findings),
        Syntax::Json => json::parse(text, file, findings),
    }?;
    header::check(&doc, findings)?;
    Some(doc)
}
