//! Which language a spec is written in: the version word, the same for all syntaxes.

use super::Syntax;
use super::doc::{Doc, Kind, Value};
use crate::diag::{Code, Diagnostic, Findings, Span};

pub const GROUP: &str = "purlin.dev";
pub const KIND: &str = "NodeSpec";
/// The kind of a file that specs include.
pub const PART_KIND: &str = "NodePart";
/// The version words that this program reads, the newest last.
pub const VERSIONS: &[&str] = &["v1alpha1"];

/// `purlin.dev/v1alpha1`.
pub fn api_version(word: &str) -> String {
    format!("{GROUP}/{word}")
}

fn newest() -> &'static str {
    VERSIONS.last().copied().unwrap_or_default()
}

/// Says that a version is unknown; `known` is how the newest one is written in the operator's syntax.
pub fn unknown_version(written: &str, span: Span, known: &str) -> Diagnostic {
    let finding =
        Diagnostic::new(Code::PUR0004, format!("the version `{written}` is not known")).at(span, "unknown");
    // The word of one syntax in the other, or with another group before it.
    let certain = VERSIONS.iter().any(|v| written.rsplit('/').next() == Some(v));
    let order = format!("write `{known}`, the version that this program reads");
    finding.fix(span, known, order).certain(certain)
}

pub fn missing_version(span: Span, line: &str) -> Diagnostic {
    Diagnostic::new(Code::PUR0004, "the spec does not say which version it is written in")
        .at(span, "no version in this file")
        .help(format!("begin the file with `{line}`"))
}

/// The version word in a KDL spec's own form.
pub fn newest_word() -> &'static str {
    newest()
}

/// Checks `apiVersion` and `kind` of a YAML or JSON spec. `None` when the root is no mapping at all.
pub fn check(doc: &Doc, syntax: Syntax, findings: &mut Findings) -> Option<()> {
    let root = &doc.root;
    let Kind::Mapping(entries) = &root.kind else {
        findings.push(
            Diagnostic::new(Code::PUR0004, "the file is no spec")
                .at(root.span, format!("{} where a mapping is expected", root.type_name()))
                .help(format!("begin with `apiVersion: {}` and `kind: {KIND}`", api_version(newest()))),
        );
        return None;
    };
    let top = entries.first().map_or(root.span, |e| e.key_span);
    match root.get("apiVersion") {
        None => findings.push(missing_version(top, &format!("apiVersion: {}", api_version(newest())))),
        Some(value) => {
            let known = syntax.string(&api_version(newest()));
            match value.as_str() {
                Some(text) if VERSIONS.iter().any(|v| api_version(v) == text) => {}
                _ => findings.push(unknown_version(&shown(value), value.span, &known)),
            }
        }
    }
    match root.get("kind") {
        None => findings.push(
            Diagnostic::new(Code::PUR0004, "the spec does not say what kind of object it is")
                .at(top, "no `kind` in this file")
                .help(format!("write `kind: {KIND}` below the version")),
        ),
        Some(value) if matches!(value.as_str(), Some(KIND | PART_KIND)) => {}
        Some(value) => findings.push(
            Diagnostic::new(Code::PUR0004, format!("the kind `{}` is not known", shown(value)))
                .at(value.span, "unknown")
                .suggest(value.span, syntax.string(KIND), format!("write `{KIND}`, the one kind of spec")),
        ),
    }
    Some(())
}

/// Whether the document is a part, which only counts together with the specs that include it.
#[must_use]
pub fn is_part(doc: &Doc) -> bool {
    doc.root.get("kind").and_then(Value::as_str) == Some(PART_KIND)
}

/// Has a part pass for a whole document, so that its shape can be looked at.
pub fn make_whole(doc: &mut Doc) {
    if let Kind::Mapping(entries) = &mut doc.root.kind
        && let Some(kind) = entries.iter_mut().find(|e| e.key == "kind")
    {
        kind.value.kind = Kind::String(KIND.to_owned());
    }
}

/// What makes a file a part.
pub fn part_line(syntax: Syntax) -> String {
    match syntax {
        Syntax::Kdl => "`part { … }` in place of `node \"name\" { … }`".to_owned(),
        _ => format!("`kind: {PART_KIND}`, and no `metadata.name`"),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.type_name().to_owned(), str::to_owned)
}
