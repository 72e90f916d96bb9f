//! Does a tree fit the schema? Every mistake at once, in the operator's own words and at the operator's own text.
//!
//! `jsonschema` decides what fits; this module only says it better, and adds what JSON Schema cannot say to a person:
//! choices, planned parts, numbers that JSON does not have. What a spec *means* (names that resolve, versions that
//! can carry a field) is the sections' check and must not come here; neither may the name of any section or field.

mod explain;
mod fit;
mod keys;
mod place;
pub(super) mod spelling;
mod walk;

use super::{Doc, Entry, Schema, Shape, Syntax, Value};
use crate::diag::{Diagnostic, Findings, Severity, Span};
pub(super) use explain::meanings;
pub(super) use fit::accepts;
use jsonschema::error::ValidationErrorKind;
use place::Place;
use spelling::Spelling;
use std::collections::{BTreeMap, BTreeSet};

/// A string value as it stands in a text of that syntax.
pub fn string(syntax: Syntax, text: &str) -> String {
    Spelling(syntax).string(text)
}

/// Whether a string has a form. An error says what is wrong and, after `"; "`, what to write instead.
pub type FormatCheck = fn(&str) -> Result<(), String>;

/// The forms that the schema's `format` keyword may name.
#[derive(Clone, Copy, Debug)]
pub struct Formats(pub &'static [(&'static str, FormatCheck)]);

impl Formats {
    pub(super) fn get(self, name: &str) -> Option<FormatCheck> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, check)| *check)
    }
}

/// The schema itself is broken. No spec can cause this.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    #[error("the spec's schema does not compile, at {at}")]
    Compile { at: String, source: Box<jsonschema::ValidationError<'static>> },
}

/// A compiled schema. Compiling is dearer than a check: make one per process.
#[derive(Debug)]
pub struct Validator {
    schema: Schema,
    formats: Formats,
    compiled: jsonschema::Validator,
}

/// The errors of one value.
struct Group<'a> {
    place: Place<'a>,
    missing: Vec<String>,
    unknown: Vec<String>,
    /// Mistakes in the names of a named collection: the key, and what is wrong with it.
    names: Vec<(String, ValidationErrorKind)>,
    /// The most telling of the other errors.
    other: Option<ValidationErrorKind>,
}

impl Group<'_> {
    /// Drops what more of the document could mend.
    fn needs_no_more(&mut self) {
        self.missing.clear();
        self.other.take_if(|kind| {
            matches!(kind, ValidationErrorKind::MinItems { .. } | ValidationErrorKind::MinProperties { .. })
        });
    }
}

impl Validator {
    /// Compiles a schema (draft 2020-12) with these forms, which are asserted.
    ///
    /// # Errors
    /// When the schema is no schema.
    pub fn new(schema: &Schema, formats: &Formats) -> Result<Self, SchemaError> {
        let mut options =
            jsonschema::options().with_draft(jsonschema::Draft::Draft202012).should_validate_formats(true);
        for (name, check) in formats.0 {
            options = options.with_format(*name, move |text: &str| check(text).is_ok());
        }
        let compiled = options.build(schema.document()).map_err(|source| SchemaError::Compile {
            at: source.instance_path().to_string(),
            source: Box::new(source),
        })?;
        Ok(Self { schema: schema.clone().with_formats(*formats), formats: *formats, compiled })
    }

    /// Adds a finding for everything in the tree that does not fit the schema, in the order of the text. `true` when
    /// there was nothing, so that the tree fits the types that the schema was made from.
    ///
    /// What `findings` holds already counts as said: of a value that the parser has complained about nothing more is
    /// said, and an object that lost a key to such a complaint is not told that the key is missing.
    pub fn check(&self, doc: &Doc, syntax: Syntax, findings: &mut Findings) -> bool {
        self.look(doc, syntax, true, findings)
    }

    /// The same for a part alone: what is missing in it may stand in another file.
    pub fn check_part(&self, doc: &Doc, syntax: Syntax, findings: &mut Findings) -> bool {
        self.look(doc, syntax, false, findings)
    }

    fn look(&self, doc: &Doc, syntax: Syntax, whole: bool, findings: &mut Findings) -> bool {
        let spelling = Spelling(syntax);
        let said: BTreeSet<Span> =
            findings.iter().filter(|d| d.severity == Severity::Error).filter_map(Diagnostic::span).collect();
        let mut walk = walk::run(&doc.root, self.schema.root(), spelling);
        let json = doc.root.to_json();
        let mut groups = self.groups(doc, &json, &walk.settled, &walk.planned);
        if !whole {
            walk.undecided.clear();
            groups.iter_mut().for_each(Group::needs_no_more);
            groups.retain(|g| !g.unknown.is_empty() || !g.names.is_empty() || g.other.is_some());
        }

        let mut list = walk.found;
        let mut meant = Meant::default();
        for group in &groups {
            keys::unknown(&group.place, &group.unknown, spelling, &mut meant, &mut list);
        }
        let mut fits = list.is_empty() && groups.is_empty() && walk.undecided.is_empty();
        for group in groups {
            if !lost_key(&group.place, spelling, &said) {
                keys::missing(&group.place, &group.missing, spelling, &meant, &mut list);
            }
            for (name, kind) in &group.names {
                list.push(explain::name(&group.place, name, kind, self.formats, spelling));
            }
            if let Some(kind) = &group.other {
                list.push(explain::value(&group.place, kind, self.formats, spelling));
            }
        }
        for choice in walk.undecided.iter().filter(|(place, _)| !lost_key(place, spelling, &said)) {
            keys::undecided(choice, spelling, &meant, &mut list);
        }

        fits &= list.is_empty();
        list.retain(|d| d.span().is_none_or(|span| !said.contains(&span)));
        list.sort_by_key(|d: &Diagnostic| (d.span().unwrap_or_default(), d.code));
        list.into_iter().for_each(|d| findings.push(d));
        fits
    }

    fn groups<'a>(
        &'a self,
        doc: &'a Doc,
        json: &serde_json::Value,
        settled: &BTreeSet<*const Value>,
        planned: &BTreeSet<*const Value>,
    ) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut by_value: BTreeMap<*const Value, usize> = BTreeMap::new();
        for error in self.compiled.iter_errors(json) {
            let place = Place::find(&doc.root, self.schema.root(), error.instance_path().as_str());
            let value = std::ptr::from_ref(place.value());
            if settled.contains(&value) {
                continue;
            }
            let inside_planned = place.values().any(|v| planned.contains(&std::ptr::from_ref(v)));
            let at = *by_value.entry(value).or_insert_with(|| {
                groups.push(Group {
                    place,
                    missing: Vec::new(),
                    unknown: Vec::new(),
                    names: Vec::new(),
                    other: None,
                });
                groups.len() - 1
            });
            let group = &mut groups[at];
            match error.into_parts().kind {
                ValidationErrorKind::AdditionalProperties { unexpected }
                | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                    group.unknown.extend(unexpected)
                }
                _ if inside_planned => {}
                ValidationErrorKind::Required { property } => {
                    group.missing.extend(property.as_str().map(str::to_owned));
                }
                ValidationErrorKind::PropertyNames { error } => {
                    let name = error.instance().as_str().unwrap_or_default().to_owned();
                    if group.names.iter().all(|(n, _)| *n != name) {
                        group.names.push((name, error.into_parts().kind));
                    }
                }
                kind => {
                    if group.other.as_ref().is_none_or(|o| explain::rank(&kind) < explain::rank(o)) {
                        group.other = Some(kind);
                    }
                }
            }
        }
        groups
    }
}

/// Whether something that the parser complained about stood in the object, but is not in the tree.
fn lost_key(place: &Place<'_>, spelling: Spelling, said: &BTreeSet<Span>) -> bool {
    // Fields of an inline struct stand among those of the object around it.
    let object = place.outward(spelling);
    let inside = |span: Span| within(span, object.value().span);
    said.iter().any(|span| inside(*span) && !kept(object.value(), object.shape(), spelling, *span))
}

/// Whether the span belongs to an entry that is in the tree.
fn kept(object: &Value, shape: Option<Shape<'_>>, spelling: Spelling, span: Span) -> bool {
    object.entries().iter().any(|entry| {
        let field = shape.and_then(|s| s.property(&entry.key));
        if spelling.is_kdl() && field.is_some_and(Shape::is_inline) {
            kept(&entry.value, field, spelling, span)
        } else {
            within(span, entry.key_span.to(entry.value.span))
        }
    })
}

fn within(inner: Span, outer: Span) -> bool {
    inner.file == outer.file && inner.start >= outer.start && inner.end <= outer.end
}

/// Which known keys an operator surely or likely meant by an unknown one, per object: these are not also missing.
#[derive(Default)]
struct Meant(BTreeMap<*const Value, Vec<String>>);

impl Meant {
    fn add(&mut self, object: &Value, key: &str) {
        self.0.entry(std::ptr::from_ref(object)).or_default().push(key.to_owned());
    }

    fn has(&self, object: &Value, key: &str) -> bool {
        self.0.get(&std::ptr::from_ref(object)).is_some_and(|keys| keys.iter().any(|k| k == key))
    }
}

/// The fields written below `value` that not every version of `program` can carry, each with the first that can.
#[must_use]
pub fn since_fields<'a>(value: &'a Value, shape: Shape<'a>, program: &str) -> Vec<(&'a Entry, &'a str)> {
    let mut found = Vec::new();
    collect_since(value, shape, program, &mut found);
    found
}

fn collect_since<'a>(
    value: &'a Value,
    shape: Shape<'a>,
    program: &str,
    found: &mut Vec<(&'a Entry, &'a str)>,
) {
    for entry in value.entries() {
        if let Some(field) = shape.property(&entry.key) {
            if let Some(version) = field.since().get(program) {
                found.push((entry, version));
            }
            collect_since(&entry.value, field, program, found);
        } else if let Some(member) = shape.map_value() {
            collect_since(&entry.value, member, program, found);
        }
    }
    if let Some(element) = shape.item() {
        for item in value.items() {
            collect_since(&item.value, element, program, found);
        }
    }
}

#[cfg(test)]
mod tests;
