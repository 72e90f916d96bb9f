//! The files of one spec, made one tree.
//!
//! What files say outright adds up; two that give one value differently are a finding, for neither is the better one.
//! What stands under `defaults` yields to it, and to the defaults of a file that is nearer to the spec.

use super::doc::{Comments, Doc, Entry, Kind, Value};
use super::include::{Layer, flagged, take};
use super::schema::{Schema, Shape};
use super::surface::{API_VERSION, OBJECT_KIND};
use crate::diag::{Code, Diagnostic, Findings, Span};
use std::collections::BTreeMap;

/// A value that another one took the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Yielded {
    /// The model's path, as `explain` takes it.
    pub path: String,
    pub lost: Span,
    pub won: Span,
}

/// One tree without includes and defaults, and what yielded in it.
pub fn merge(layers: Vec<Layer>, schema: &Schema, findings: &mut Findings) -> Option<(Doc, Vec<Yielded>)> {
    let root = schema.root();
    let (include, defaults) = (flagged(root, Shape::is_include), flagged(root, Shape::is_defaults));
    let mut merging = Merging { findings, taken: BTreeMap::new(), yielded: Vec::new(), path: Vec::new() };
    let mut whole: Option<Doc> = None;
    let mut yielding = Vec::new();
    for Layer { mut doc, depth, .. } in layers {
        if let Some(path) = include
            && doc
                .root
                .at(&path)
                .is_some_and(|v| !v.items().is_empty() || matches!(v.kind, Kind::Sequence(_)))
        {
            take(&mut doc, path);
        }
        if let Some(path) = defaults
            && doc.root.at(&path).is_some_and(|v| matches!(v.kind, Kind::Mapping(_)))
        {
            yielding.extend(take(&mut doc, path).map(|entry| (entry.value, depth)));
        }
        match &mut whole {
            None => whole = Some(doc),
            Some(whole) => {
                if let Kind::Mapping(entries) = &mut doc.root.kind {
                    entries.retain(|e| e.key != API_VERSION && e.key != OBJECT_KIND);
                }
                merging.join(&mut whole.root, doc.root, Some(root), None);
            }
        }
    }
    let mut whole = whole?;
    if let Some([outer, _]) = defaults {
        for (value, depth) in yielding {
            let span = value.span;
            if let Some(into) = section(&mut whole.root, outer, span) {
                merging.join(into, value, root.property(outer), Some(depth));
            }
        }
    }
    Some((whole, merging.yielded))
}

/// The document's struct of that name, made where it is not there yet. `None` of a root that is no mapping.
fn section<'a>(root: &'a mut Value, name: &str, span: Span) -> Option<&'a mut Value> {
    let Kind::Mapping(entries) = &mut root.kind else { return None };
    let at = entries.iter().position(|e| e.key == name).unwrap_or_else(|| {
        let value = Value::new(span, Kind::Mapping(Vec::new()));
        entries.push(Entry { key: name.to_owned(), key_span: span, value, comments: Comments::default() });
        entries.len() - 1
    });
    Some(&mut entries[at].value)
}

struct Merging<'f> {
    findings: &'f mut Findings,
    /// The values that came from defaults, and from how far.
    taken: BTreeMap<Span, usize>,
    yielded: Vec<Yielded>,
    path: Vec<String>,
}

impl Merging<'_> {
    /// Adds a value to another; with a depth it is a default of a file so far away. Recurses as deep as the limits
    /// admit.
    fn join(&mut self, into: &mut Value, from: Value, shape: Option<Shape<'_>>, depth: Option<usize>) {
        let json = shape.is_some_and(Shape::is_json);
        match (&mut into.kind, from.kind) {
            (Kind::Mapping(entries), Kind::Mapping(more)) if !json => {
                for entry in more {
                    self.add(entries, entry, shape, depth);
                }
            }
            (_, kind) => self.meet(into, &Value { kind, span: from.span }, depth),
        }
    }

    fn add(
        &mut self,
        entries: &mut Vec<Entry>,
        entry: Entry,
        shape: Option<Shape<'_>>,
        depth: Option<usize>,
    ) {
        let field = shape.and_then(|s| s.property(&entry.key).or_else(|| s.map_value()));
        self.path.push(entry.key.clone());
        if let Some(there) = entries.iter_mut().find(|e| e.key == entry.key) {
            self.join(&mut there.value, entry.value, field, depth);
        } else if let Some(made) = depth.and_then(|_| choice(entries, &entry.key, shape)) {
            // A choice is made as a whole: another default of it would contradict.
            self.yields(entry.key_span, made);
        } else {
            if let Some(depth) = depth {
                self.note(&entry.value, depth);
            }
            entries.push(entry);
        }
        self.path.pop();
    }

    /// Remembers what came from a default.
    fn note(&mut self, value: &Value, depth: usize) {
        match &value.kind {
            Kind::Mapping(entries) if !entries.is_empty() => {
                entries.iter().for_each(|e| self.note(&e.value, depth));
            }
            _ => {
                self.taken.insert(value.span, depth);
            }
        }
    }

    /// Two values for one place.
    fn meet(&mut self, there: &Value, other: &Value, depth: Option<usize>) {
        let same = there.to_json() == other.to_json();
        let equal_rank = depth == self.taken.get(&there.span).copied();
        if equal_rank && !same {
            let what = if depth.is_some() { "default" } else { "value" };
            self.findings.push(
                Diagnostic::new(Code::PUR0110, format!("`{}` has two {what}s", self.shown()))
                    .at(other.span, "another one here")
                    .see(there.span, format!("one {what} here"))
                    .help(if depth.is_some() {
                        "keep one of them, or say in the spec itself which it is"
                    } else {
                        "keep one of them; what others may overrule stands under `defaults`"
                    }),
            );
        } else if depth.is_some() {
            self.yields(other.span, there.span);
        }
    }

    fn yields(&mut self, lost: Span, won: Span) {
        self.yielded.push(Yielded { path: self.shown(), lost, won });
    }

    /// The path without the document's own structs.
    fn shown(&self) -> String {
        let steps: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let steps = match steps.as_slice() {
            [first, rest @ ..] if (*first == "spec" || *first == "metadata") && !rest.is_empty() => rest,
            all => all,
        };
        steps.join(".")
    }
}

/// The other choice that is made already, where the key is one of a group of which exactly one is to be given.
fn choice(entries: &[Entry], key: &str, shape: Option<Shape<'_>>) -> Option<Span> {
    let groups = shape?.one_of();
    let group = groups.iter().find(|group| group.contains(&key))?;
    entries.iter().find(|e| group.contains(&e.key.as_str())).map(|e| e.key_span)
}
