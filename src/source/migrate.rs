//! Specs of an old version, rewritten for the newest: single words are replaced where they stand, so that layout and
//! comments stay. What changed from one version to the next is the caller's to say.

use super::doc::Doc;
use super::format::{Rewritten, comments};
use super::header::{self, newest_word};
use super::surface::API_VERSION;
use super::{Schema, Syntax, parse};
use crate::diag::{FileId, Findings, Sources, Span};

/// The step from one version to a later one.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// The version words.
    pub from: &'static str,
    pub to: &'static str,
    /// What is written otherwise in the later version. The version word itself is not among it. In a KDL text, keys that
    /// today's schema does not know are spelt as the author spelt them.
    pub edits: fn(&Doc, Syntax) -> Vec<Edit>,
}

/// A word to put in another's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The key or value; quotes around the word stay.
    pub span: Span,
    pub from: String,
    pub to: String,
}

/// Rewrites a text for the newest version, one step after the other. Whether the spec is sound beyond its version is
/// not asked.
#[must_use]
pub fn migrate(
    sources: &Sources,
    file: FileId,
    syntax: Syntax,
    schema: &Schema,
    migrations: &[Migration],
    findings: &mut Findings,
) -> Rewritten {
    let (mut current, mut at) = (sources.clone(), file);
    let mut said = Findings::new();
    // Each step can be taken once, so a table that leads in circles ends too.
    for _ in 0..=migrations.len() {
        said = Findings::new();
        let Some(doc) = parse(&current, at, syntax, schema, &mut said) else { break };
        let text = current.text(at);
        let Some((word, span)) = version(&doc) else { break };
        if word == newest_word() {
            return if at == file {
                Rewritten::Same
            } else if comments(text, syntax) == comments(sources.text(file), syntax) {
                Rewritten::Text(text.to_owned())
            } else {
                Rewritten::Fault
            };
        }
        let Some(step) = migrations.iter().find(|m| m.from == word) else { break };
        let mut edits = (step.edits)(&doc, syntax);
        edits.push(Edit { span, from: word.to_owned(), to: step.to.to_owned() });
        let Some(text) = edited(text, edits) else { return Rewritten::Fault };
        let name = current.name(at).to_owned();
        at = current.add(name, text);
    }
    if at != file {
        return Rewritten::Fault;
    }
    said.iter().for_each(|finding| findings.push(finding.clone()));
    Rewritten::Unsound
}

/// The version word, and its literal.
fn version(doc: &Doc) -> Option<(&str, Span)> {
    let value = doc.root.get(API_VERSION)?;
    let word = value.as_str()?.strip_prefix(header::GROUP)?.strip_prefix('/')?;
    Some((word, value.span))
}

/// The text with its words replaced; none when one is not where it should be.
fn edited(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    edits.sort_by_key(|e| e.span.start);
    let mut out = String::new();
    let mut at = 0;
    for Edit { span, from, to } in edits {
        let start = span.range().start + text.get(span.range())?.rfind(&from)?;
        out.push_str(text.get(at..start)?);
        out.push_str(&to);
        at = start + from.len();
    }
    out.push_str(text.get(at..)?);
    Some(out)
}
