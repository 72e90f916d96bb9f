//! A value of another form than the one asked for, rewritten into it: the operator's own words in the right brackets.
//!
//! YAML and JSON only; what a KDL node may hold is told while it is read.

use super::spelling::Spelling;
use crate::diag::{bare, masked};
use crate::source::{Comments, Entry, Item, Kind, Shape, Value};

/// What stands where another form is wanted, in that form.
pub struct Fit {
    pub text: String,
    /// It holds all that the operator wrote and nothing else, so that it may take the place of it.
    pub whole: bool,
    /// Nothing else can have been meant.
    pub certain: bool,
}

/// Letters of an example that a message can hold.
const WIDE: usize = 100;

/// The value in the form that a shape wants. None when it is not clear what it would say there.
pub fn fitted(value: &Value, shape: Shape<'_>, spelling: Spelling) -> Option<Fit> {
    if spelling.is_kdl() {
        return None;
    }
    let mut fitting = Fitting { spelling, short: false, whole: !has_comments(value), certain: true };
    let text = fitting.value(value, shape, 0)?;
    // A message must not spread what an address holds.
    if masked(&text).is_some() {
        return None;
    }
    if text.chars().count() <= WIDE {
        return Some(Fit { text, whole: fitting.whole, certain: fitting.certain });
    }
    fitting.short = true;
    let text = fitting.value(value, shape, 0)?;
    (text.chars().count() <= WIDE).then_some(Fit { text, whole: false, certain: false })
}

/// Whether a shape takes a scalar, as far as its type, words and form tell.
pub fn accepts(shape: Shape<'_>, kind: &Kind) -> bool {
    match kind {
        Kind::Bool(_) => shape.has_type("boolean"),
        Kind::Integer(_) => shape.has_type("integer") || shape.has_type("number"),
        Kind::Float(_) => shape.has_type("number"),
        Kind::String(text) => {
            let words = shape.words();
            shape.has_type("string")
                && (words.is_empty() || words.contains(&text.as_str()))
                && shape.admits(text)
        }
        _ => false,
    }
}

/// Whether a shape takes a value, as far as [`accepts`] tells of each scalar.
pub fn takes(shape: Shape<'_>, value: &Value) -> bool {
    match &value.kind {
        Kind::Mapping(_) => shape.is_struct() || shape.map_value().is_some(),
        Kind::Sequence(items) => shape.item().is_some_and(|item| items.iter().all(|i| takes(item, &i.value))),
        scalar => accepts(shape, scalar),
    }
}

/// A scalar as it is written; none for a float, which may have been written otherwise, and for an address that holds
/// a secret.
pub fn literal(kind: &Kind, spelling: Spelling) -> Option<String> {
    match kind {
        Kind::Bool(b) => Some(spelling.boolean(*b).to_owned()),
        Kind::Integer(n) => Some(n.to_string()),
        Kind::String(text) if masked(text).is_none() => Some(spelling.string(text)),
        _ => None,
    }
}

struct Fitting {
    spelling: Spelling,
    /// Only the first of several, without what is in it.
    short: bool,
    whole: bool,
    certain: bool,
}

impl Fitting {
    fn value(&mut self, value: &Value, shape: Shape<'_>, depth: usize) -> Option<String> {
        // Shapes refer to each other, and an example needs no more.
        if depth > 3 {
            return None;
        }
        match &value.kind {
            Kind::Null => None,
            Kind::Mapping(_) if shape.is_struct() || shape.map_value().is_some() => self.flow(value, depth),
            Kind::Sequence(items) => {
                if let Some(member) = shape.map_value() {
                    self.certain = false;
                    return self.named(items, member, depth);
                }
                let item = shape.item()?;
                let texts: Option<Vec<String>> =
                    items.iter().map(|i| self.value(&i.value, item, depth + 1)).collect();
                Some(format!("[{}]", texts?.join(", ")))
            }
            _ if shape.item().is_some() => {
                Some(format!("[{}]", self.value(value, shape.item()?, depth + 1)?))
            }
            Kind::Mapping(_) => None,
            Kind::String(name) if shape.map_value().is_some() => {
                let (name, text) = self.pair(name, shape.map_value()?, depth);
                Some(self.braces(&[(&name, text)]))
            }
            scalar if shape.is_struct() => self.inside(scalar, value, shape, depth),
            scalar => self.scalar(scalar, shape),
        }
    }

    fn scalar(&self, kind: &Kind, shape: Shape<'_>) -> Option<String> {
        accepts(shape, kind).then(|| literal(kind, self.spelling))?
    }

    /// A struct, for the scalar that stands in its place.
    fn inside(&mut self, kind: &Kind, value: &Value, shape: Shape<'_>, depth: usize) -> Option<String> {
        if let Kind::String(word) = kind
            && let Some((key, _)) =
                shape.properties().find(|(key, p)| p.has_type("boolean") && bare(key) == bare(word))
        {
            return Some(self.braces(&[(key, self.spelling.boolean(true).to_owned())]));
        }
        let required = shape.required();
        self.certain &= !shape.arguments().is_empty();
        if *kind == Kind::Bool(true) && required.is_empty() && shape.one_of().is_empty() {
            // There may be more to say than that it is there.
            return Some(self.spelling.sample(shape, depth)).filter(|s| s == "{}");
        }
        let first = shape.arguments().into_iter().chain(required.iter().copied());
        let direct = first.filter_map(|key| Some((key, self.scalar(kind, shape.property(key)?)?))).next();
        if let Some((key, text)) = direct {
            let mut fields = vec![(key, text)];
            for other in required.iter().filter(|other| **other != key) {
                self.whole = false;
                fields.push((other, self.spelling.sample(shape.property(other)?, depth + 1)));
            }
            return Some(self.braces(&fields));
        }
        // One level down, only what has a form of its own: any text would do for a text.
        let formed =
            |s: Shape<'_>| s.item().unwrap_or(s).is_struct() || s.item().unwrap_or(s).format().is_some();
        let (key, text) = shape
            .properties()
            .filter(|(key, p)| p.planned().is_none() && formed(*p) && required.iter().all(|r| r == key))
            .find_map(|(key, p)| Some((key, self.value(value, p, depth + 1)?)))?;
        Some(self.braces(&[(key, text)]))
    }

    /// A named collection, for a list: of structs with their names in them, or of names.
    fn named(&mut self, items: &[Item], member: Shape<'_>, depth: usize) -> Option<String> {
        let shown = if self.short { &items[..items.len().min(1)] } else { items };
        let mut parts = Vec::new();
        for item in shown {
            let (name, text) = match &item.value.kind {
                Kind::Mapping(entries) => self.member(entries, member, depth)?,
                Kind::String(text) => self.pair(text, member, depth),
                _ => return None,
            };
            let part = format!("{}: ", self.key(&name));
            // Two of one name are no mapping.
            self.whole &= parts.iter().all(|p: &String| !p.starts_with(&part));
            parts.push(part + &text);
        }
        if shown.len() < items.len() {
            parts.push("…".to_owned());
        }
        (!parts.is_empty()).then(|| format!("{{ {} }}", parts.join(", ")))
    }

    fn member(&mut self, entries: &[Entry], member: Shape<'_>, depth: usize) -> Option<(String, String)> {
        if let [only] = entries
            && (only.value.as_str().is_none() || member.is_scalar())
        {
            return Some((only.key.clone(), self.value(&only.value, member, depth + 1)?));
        }
        let name =
            entries.iter().find(|e| member.property(&e.key).is_none() && e.value.as_str().is_some())?;
        let rest: Vec<Entry> = entries.iter().filter(|e| e.key_span != name.key_span).cloned().collect();
        let text = match rest.as_slice() {
            [value] if member.is_scalar() => self.value(&value.value, member, depth + 1)?,
            _ if member.is_scalar() => return None,
            rest => self.flow(&Value::new(name.value.span, Kind::Mapping(rest.to_vec())), depth + 1)?,
        };
        Some((name.value.as_str()?.to_owned(), text))
    }

    /// A name alone, or `name=value`.
    fn pair(&mut self, text: &str, member: Shape<'_>, depth: usize) -> (String, String) {
        if member.is_scalar()
            && let Some((name, value)) = text.split_once('=').or_else(|| text.split_once(':'))
            && let Some(value) = self.scalar(&Kind::String(value.trim().to_owned()), member)
        {
            return (name.trim().to_owned(), value);
        }
        self.whole = false;
        (text.to_owned(), self.spelling.sample(member, depth))
    }

    /// A value as it is, on one line.
    fn flow(&mut self, value: &Value, depth: usize) -> Option<String> {
        let elided = self.short && depth > 1;
        match &value.kind {
            Kind::Mapping(entries) if elided && !entries.is_empty() => Some("{ … }".to_owned()),
            Kind::Sequence(items) if elided && !items.is_empty() => Some("[…]".to_owned()),
            Kind::Mapping(entries) => {
                let fields: Option<Vec<_>> =
                    entries.iter().map(|e| Some((e.key.as_str(), self.flow(&e.value, depth + 1)?))).collect();
                Some(self.braces(&fields?))
            }
            Kind::Sequence(items) => {
                let items: Option<Vec<_>> = items.iter().map(|i| self.flow(&i.value, depth + 1)).collect();
                Some(format!("[{}]", items?.join(", ")))
            }
            scalar => literal(scalar, self.spelling),
        }
    }

    fn braces(&self, fields: &[(&str, String)]) -> String {
        if fields.is_empty() {
            return "{}".to_owned();
        }
        let fields: Vec<String> =
            fields.iter().map(|(key, text)| format!("{}: {text}", self.key(key))).collect();
        format!("{{ {} }}", fields.join(", "))
    }

    fn key(&self, key: &str) -> String {
        self.spelling.string(key)
    }
}

fn has_comments(value: &Value) -> bool {
    let commented = |c: &Comments| *c != Comments::default();
    value.entries().iter().any(|e| commented(&e.comments) || has_comments(&e.value))
        || value.items().iter().any(|i| commented(&i.comments) || has_comments(&i.value))
}
