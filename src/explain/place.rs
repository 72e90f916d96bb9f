//! Where in the files of a spec a value is set, what yielded to it, and what it became.

use super::effect::{Trace, trace};
use crate::compile::Compiled;
use crate::diag::{Sources, Span, masked};
use crate::facts::Facts;
use crate::source::{Kind, Located, Path, Shape, Step, Syntax, Value, Yielded};
use serde::Serialize;
use serde_json::Value as Json;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
    /// The line itself, without what it is indented by.
    pub text: String,
}

/// A value that counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Set {
    pub path: String,
    pub value: Json,
    pub place: Place,
}

/// A default that another value came before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Yield {
    pub path: String,
    /// As it is written.
    pub value: String,
    pub place: Place,
    /// What came before it.
    pub to: Place,
}

/// What a spec says of a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// The values that it leads to; of a block or a collection, all in it. Empty when it is not set.
    pub set: Vec<Set>,
    pub yielded: Vec<Yield>,
    /// When a name in the path is none of the spec's: which, and which there are.
    pub unknown: Option<(String, Vec<String>)>,
    /// The spec has no errors.
    pub sound: bool,
    /// What follows from the value, or from its absence, in a sound spec.
    pub became: Option<Trace>,
}

/// Looks a path up in a spec.
#[must_use]
pub fn given(
    compiled: &Compiled,
    sources: &Sources,
    located: &Located<'_>,
    syntax: Syntax,
    facts: Option<&Facts>,
) -> Given {
    let root = &compiled.doc.root;
    let paths = located.path.matches(root);
    let mut set = Vec::new();
    for path in &paths {
        let keys = path.keys();
        let Some(value) = root.at(&keys) else { continue };
        let (last, outer) = keys.split_last().map_or(("", [].as_slice()), |(l, o)| (l.as_str(), o));
        let entry = root.at(outer).and_then(|v| v.entry(last));
        leaves(path, located.shape, value, entry.map_or(value.span, |e| e.key_span), sources, &mut set);
    }
    let concrete = if paths.is_empty() { std::slice::from_ref(&located.path) } else { &paths };
    let yields = |y: &&Yielded| concrete.iter().any(|path| related(&raw(path), &y.path));
    let yielded = compiled.yielded.iter().filter(yields).map(|y| Yield {
        path: y.path.clone(),
        value: first_line(sources.slice(y.lost)),
        place: place(y.lost, sources),
        to: place(y.won, sources),
    });
    Given {
        yielded: yielded.collect(),
        unknown: if paths.is_empty() { unknown(root, &located.path) } else { None },
        sound: compiled.node.is_some(),
        became: compiled.node.as_ref().and_then(|_| trace(&compiled.doc, syntax, located, facts)),
        set,
    }
}

/// Every value below a place that has none below itself.
fn leaves(path: &Path, shape: Shape<'_>, value: &Value, key: Span, sources: &Sources, set: &mut Vec<Set>) {
    let inner = |step: Step| Path([path.0.as_slice(), &[step]].concat());
    match &value.kind {
        Kind::Mapping(entries) if !entries.is_empty() && !shape.is_json() => {
            for entry in entries {
                let step = |key: &str| match shape.property(key) {
                    Some(field) if field.is_inline() => Some((Step::Inline(key.to_owned()), field)),
                    Some(field) => Some((Step::Field(key.to_owned()), field)),
                    None => Some((Step::Name(Some(key.to_owned())), shape.map_value()?)),
                };
                // A key that the schema does not know has a finding of its own.
                if let Some((step, field)) = step(&entry.key) {
                    leaves(&inner(step), field, &entry.value, entry.key_span, sources, set);
                }
            }
        }
        Kind::Sequence(items) if !items.is_empty() && !shape.is_json() => {
            for (at, item) in items.iter().enumerate() {
                let Some(shape) = shape.item() else { continue };
                leaves(&inner(Step::Position(Some(at))), shape, &item.value, item.value.span, sources, set);
            }
        }
        // What a block without fields spans is around it in some syntaxes.
        kind => {
            let nothing = matches!(kind, Kind::Mapping(_) | Kind::Sequence(_));
            let span = if nothing { key } else { value.span };
            set.push(Set {
                path: path.to_string(),
                value: hidden(value.to_json()),
                place: place(span, sources),
            });
        }
    }
}

/// A value without the credentials in its addresses.
fn hidden(value: Json) -> Json {
    match value {
        Json::String(text) => masked(&text).unwrap_or(text).into(),
        Json::Array(list) => list.into_iter().map(hidden).collect(),
        Json::Object(object) => {
            object.into_iter().map(|(k, v)| (k, hidden(v))).collect::<serde_json::Map<_, _>>().into()
        }
        other => other,
    }
}

fn place(span: Span, sources: &Sources) -> Place {
    let position = sources.position(span);
    let text = sources.text(span.file).lines().nth(position.line - 1).unwrap_or_default();
    Place {
        file: sources.name(span.file).to_owned(),
        line: position.line,
        column: position.column,
        text: text.trim().to_owned(),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// The path as merging names what yields.
fn raw(path: &Path) -> String {
    let steps = path.0.iter().zip(path.keys()).filter(|(step, _)| !matches!(step, Step::Inline(_)));
    steps.map(|(_, key)| key).collect::<Vec<_>>().join(".")
}

/// Whether one is the other or stands in it.
fn related(a: &str, b: &str) -> bool {
    let within =
        |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
    a == b || within(a, b) || within(b, a)
}

/// The first name of a path that its collection does not have, and the names that it has.
fn unknown(root: &Value, path: &Path) -> Option<(String, Vec<String>)> {
    let keys = path.keys();
    path.0.iter().enumerate().find_map(|(at, step)| {
        let Step::Name(Some(name)) = step else { return None };
        let collection = root.at(&keys[..at])?;
        let names = collection.entries().iter().map(|e| e.key.clone());
        collection.entry(name).is_none().then(|| (name.clone(), names.collect()))
    })
}
