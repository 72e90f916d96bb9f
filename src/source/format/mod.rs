//! One layout for every spec: the text anew, with every word, literal and comment as its author wrote it.
//!
//! Whatever comes out is read again, and thrown away unless it says the same as before: a layout is never worth a spec.

mod kdl;
mod yaml;

use super::limits::{Limits, after_mark};
use super::{Doc, Schema, Syntax, parse, to_json, to_kdl, to_yaml};
use crate::diag::{FileId, Findings, Sources};

/// What came of writing a text anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// Nothing: the text is as it should be.
    Same,
    Text(String),
    /// Nothing, for there is no form for it: for JSON no layout, nor for some of what specs hardly use, nor for what would
    /// be longer than a file may be.
    NoForm,
    /// The text is no sound spec; the findings say why.
    Unsound,
    /// What was written says something else. That is a mistake of this program, and the text is not to be used.
    Fault,
}

/// Lays a text out.
#[must_use]
pub fn format(
    sources: &Sources,
    file: FileId,
    syntax: Syntax,
    schema: &Schema,
    findings: &mut Findings,
) -> Rewritten {
    let errors = findings.errors();
    let Some(doc) = parse(sources, file, syntax, schema, findings).filter(|_| findings.errors() == errors)
    else {
        return Rewritten::Unsound;
    };
    let text = sources.text(file);
    // Both syntaxes take every line end for the same.
    let plain = text[after_mark(text)..].replace("\r\n", "\n").replace('\r', "\n");
    let formatted = match syntax {
        Syntax::Kdl => kdl::format(&plain),
        Syntax::Yaml => yaml::format(&plain, &Limits::default()),
        Syntax::Json => None,
    };
    match formatted {
        None => Rewritten::NoForm,
        Some(formatted) if formatted == text => Rewritten::Same,
        Some(formatted) if formatted.len() > Limits::DEFAULT.bytes => Rewritten::NoForm,
        Some(formatted) if keeps(&doc, &plain, &formatted, syntax, schema) => Rewritten::Text(formatted),
        Some(_) => Rewritten::Fault,
    }
}

/// Whether a text says what the tree and the text before it say, word for word.
fn keeps(doc: &Doc, before: &str, after: &str, syntax: Syntax, schema: &Schema) -> bool {
    let words = match syntax {
        Syntax::Kdl => kdl::words(before) == kdl::words(after),
        _ => {
            let said = |text| yaml::said(text, &Limits::default());
            said(before).is_some_and(|before| said(after) == Some(before))
        }
    };
    // The comments are among the words. In the tree they may belong to other values now, or to none, as far as it does not
    // know what is in a node.
    words && sound(after, syntax, schema).is_some_and(|again| again.root.says(&doc.root))
}

/// Writes a sound spec in a syntax: the model stays, and so does every comment where the syntax has any.
#[must_use]
pub fn convert(doc: &Doc, to: Syntax, schema: &Schema) -> Rewritten {
    let text = match to {
        Syntax::Kdl => to_kdl(doc, schema),
        Syntax::Yaml => with_modeline(to_yaml(doc, schema), doc, schema),
        Syntax::Json => to_json(doc),
    };
    if text.len() > Limits::DEFAULT.bytes {
        return Rewritten::NoForm;
    }
    let comments = |doc: &Doc| {
        let mut texts: Vec<String> = doc.comments().iter().map(|c| c.text.clone()).collect();
        texts.retain(|text| !is_modeline(text));
        texts.sort();
        texts
    };
    let same = sound(&text, to, schema).is_some_and(|again| {
        // The order of a mapping may differ, for it has no meaning.
        again.root.to_json() == doc.root.to_json()
            && (to == Syntax::Json || comments(&again) == comments(doc))
    });
    if same { Rewritten::Text(text) } else { Rewritten::Fault }
}

const MODELINE: &str = "yaml-language-server:";

fn is_modeline(comment: &str) -> bool {
    comment.starts_with(MODELINE)
}

/// Puts the line first by which an editor finds the schema.
fn with_modeline(yaml: String, doc: &Doc, schema: &Schema) -> String {
    match schema.id() {
        Some(id) if !doc.comments().iter().any(|c| is_modeline(&c.text)) => {
            let gap = if yaml.starts_with('#') { "\n" } else { "" };
            format!("# {MODELINE} $schema={id}\n{gap}{yaml}")
        }
        _ => yaml,
    }
}

/// The comments of a sound text as they are written.
pub(super) fn comments(text: &str, syntax: Syntax) -> Vec<String> {
    match syntax {
        Syntax::Kdl => kdl::comments(text),
        Syntax::Yaml => yaml::comments(&text[after_mark(text)..], &Limits::default()).unwrap_or_default(),
        Syntax::Json => Vec::new(),
    }
}

/// The tree of a text without errors.
fn sound(text: &str, syntax: Syntax, schema: &Schema) -> Option<Doc> {
    let mut sources = Sources::default();
    let file = sources.add("", text);
    let mut findings = Findings::new();
    parse(&sources, file, syntax, schema, &mut findings).filter(|_| !findings.has_errors())
}

/// The later lines of a text, moved as the line was on which it begins.
fn shifted(text: &str, old: usize, new: usize) -> String {
    let mut lines = text.split('\n');
    let mut out = ended(lines.next().unwrap_or_default()).to_owned();
    for line in lines {
        let content = ended(line.trim_start_matches(SPACES));
        out.push('\n');
        if !content.is_empty() {
            let indent = line.len() - line.trim_start_matches(SPACES).len();
            out.extend(std::iter::repeat_n(' ', (indent + new).saturating_sub(old)));
            out.push_str(content);
        }
    }
    out
}

/// What both syntaxes take for indentation; other spaces may be words of a text.
const SPACES: [char; 2] = [' ', '\t'];

/// A line without the spaces at its end, unless a backslash may make the first of them count.
fn ended(line: &str) -> &str {
    let ended = line.trim_end_matches(SPACES);
    if ended.ends_with('\\') { line } else { ended }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What the guard is for does not happen, so it is asked here.
    #[test]
    fn a_text_that_says_something_else_is_noticed() {
        let schema = Schema::new(json!({
            "x-purlin-document": {"version": "purlin", "node": "node"},
            "type": "object",
            "properties": {"apiVersion": {}, "kind": {}, "spec": {
                "type": "object", "x-purlin-inline": true,
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}
            }}
        }));
        let kdl =
            "purlin \"v1alpha1\"\nnode {\n    // One.\n    a \"x\"\n    b 16 // Two.\n    c { d; }\n}\n";
        let yaml = "apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nspec:\n  # One.\n  a: x\n  b: 16 # Two.\n  c: {d: e}\n";
        let changes = [
            ("x", "y"),
            ("16", "0x10"),
            ("One.", "Other."),
            ("// Two.", ""),
            (" # Two.", ""),
            ("b 16", ""),
            ("  b: 16", ""),
            ("d", "e"),
            ("{ d; }", ""),
            ("}\n", "}\n// Three.\n"),
        ];
        for (syntax, text) in [(Syntax::Kdl, kdl), (Syntax::Yaml, yaml)] {
            let doc = sound(text, syntax, &schema).expect("a sound spec");
            assert!(keeps(&doc, text, &text.replace('\n', "\n\n"), syntax, &schema));
            for (from, to) in changes {
                let changed = text.replacen(from, to, 1);
                assert!(changed == text || !keeps(&doc, text, &changed, syntax, &schema), "{changed}");
            }
        }
    }
}
