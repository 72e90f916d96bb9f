//! A text as spots: every key, name and value of it with what the schema says of it.

use super::kdl;
use crate::diag::{Findings, Sources};
use crate::source::{self, Kind, Limits, Schema, Shape, Syntax, Value};
use std::ops::Range;

/// What a spot is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A field's name.
    Key,
    /// The name of a member of a collection, which is at this path.
    Name(Vec<String>),
    /// A text, number or boolean.
    Value,
}

/// One word or literal of a text.
#[derive(Clone, Debug)]
pub struct Spot<'s> {
    /// Its bytes, with quotes.
    pub span: Range<usize>,
    /// What it says, without quotes.
    pub text: String,
    pub role: Role,
    /// The model's path of the value that it is, or that its key has; without the struct of defaults.
    pub path: Vec<String>,
    /// Of a key its field's, of a name its member's, of a value its own.
    pub shape: Shape<'s>,
    /// The form of a name.
    pub names: Option<Shape<'s>>,
    /// The collection whose name the value says.
    pub refers: Option<Vec<String>>,
    /// The value is the name of a file.
    pub include: bool,
}

/// What a field's values are.
#[derive(Clone, Debug)]
pub struct Says<'s> {
    pub shape: Shape<'s>,
    pub refers: Option<Vec<String>>,
    pub include: bool,
}

impl<'s> Says<'s> {
    /// The values of a field: its own, or those of its list.
    pub fn of(field: Shape<'s>) -> Self {
        let shape = if field.is_json() { None } else { field.item() }.unwrap_or(field);
        Self { shape, refers: field.refers().map(collection), include: field.is_include() }
    }
}

/// The model's path of a collection that an annotation names.
fn collection(named: &str) -> Vec<String> {
    std::iter::once("spec").chain(named.split('.')).map(str::to_owned).collect()
}

/// All spots of a text, in its order. Of YAML and JSON that do not parse, and of what is beyond the limits, there are none.
#[must_use]
pub fn spots<'s>(text: &str, syntax: Syntax, schema: &'s Schema) -> Vec<Spot<'s>> {
    if text.len() > Limits::default().bytes {
        return Vec::new();
    }
    if syntax == Syntax::Kdl {
        return kdl::spots(text, schema);
    }
    let mut sources = Sources::default();
    let file = sources.add("", text);
    let Some(doc) = source::parse(&sources, file, syntax, schema, &mut Findings::new()) else {
        return Vec::new();
    };
    let mut walk = Walk { text, path: Vec::new(), found: Vec::new() };
    walk.value(&doc.root, &Says { shape: schema.root(), refers: None, include: false });
    walk.found.sort_by_key(|spot| (spot.span.start, spot.span.end));
    walk.found
}

struct Walk<'t, 's> {
    text: &'t str,
    path: Vec<String>,
    found: Vec<Spot<'s>>,
}

impl<'s> Walk<'_, 's> {
    /// Recurses as deep as the limits admit.
    fn value(&mut self, value: &Value, says: &Says<'s>) {
        let shape = says.shape;
        if shape.is_json() {
            return;
        }
        match &value.kind {
            Kind::Mapping(entries) => {
                let fields = shape.like().unwrap_or(shape);
                let defaults = shape.is_defaults().then(|| self.path.pop()).flatten();
                for entry in entries {
                    let field = fields.property(&entry.key);
                    let Some(inner) = field.or_else(|| fields.map_value()) else { continue };
                    let role = if field.is_some() { Role::Key } else { Role::Name(self.path.clone()) };
                    self.path.push(entry.key.clone());
                    self.found.push(Spot {
                        span: entry.key_span.range(),
                        text: entry.key.clone(),
                        role,
                        path: self.path.clone(),
                        shape: inner,
                        names: fields.names().filter(|_| field.is_none()),
                        refers: None,
                        include: false,
                    });
                    // A list's own values are told one by one.
                    self.value(&entry.value, &Says { shape: inner, ..Says::of(inner) });
                    self.path.pop();
                }
                self.path.extend(defaults);
            }
            Kind::Sequence(items) => {
                let Some(item) = shape.item() else { return };
                self.path.push("*".to_owned());
                for each in items {
                    self.value(&each.value, &Says { shape: item, ..says.clone() });
                }
                self.path.pop();
            }
            Kind::Null => {}
            kind => {
                let span = value.span.range();
                let text = match kind {
                    Kind::String(text) => text.clone(),
                    _ => self.text.get(span.clone()).unwrap_or_default().to_owned(),
                };
                self.found.push(Spot {
                    span,
                    text,
                    role: Role::Value,
                    path: self.path.clone(),
                    shape,
                    names: None,
                    refers: says.refers.clone(),
                    include: says.include,
                });
            }
        }
    }
}

/// The spot at an offset; of two that meet there the one that begins there.
#[must_use]
pub fn at<'a, 's>(spots: &'a [Spot<'s>], offset: usize) -> Option<&'a Spot<'s>> {
    let here = spots.iter().filter(|s| s.span.start <= offset && offset <= s.span.end);
    here.min_by_key(|s| (s.span.end == offset && s.span.start != offset, s.span.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::schema;

    /// What both readings of a KDL text must agree on: its names and values, and where they are in the model.
    fn told(spots: &[Spot<'_>], text: &str) -> Vec<(Vec<String>, String)> {
        let wanted = spots.iter().filter(|s| s.role != Role::Key);
        let mut told: Vec<_> = wanted
            .map(|s| (s.path.clone(), text.get(s.span.clone()).unwrap_or_default().to_owned()))
            .collect();
        told.sort();
        told
    }

    #[test]
    fn tokens_and_tree_tell_the_same_of_sound_kdl() {
        for text in [
            include_str!("../../examples/edge.kdl"),
            include_str!("../../examples/gpu-sim.kdl"),
            include_str!("../../examples/laptop.kdl"),
            "purlin \"v1alpha1\"\nnode \"a\" {\n /-label \"x\" \"y\"\n defaults { devices { device \"a.b/cc\" { path \"/dev/x\" \"/dev/y\"; /-env \"A\" \"1\"
} } }
 /- target kubelet=\"1.35\" {}
 runtimes { hook \"h\" stage=\"poststop\" /-path=\"/x\" path=\"/y\" { when { device \"a.b/cc\"; }; } }\n}\n",
        ] {
            let mut sources = Sources::default();
            let file = sources.add("a.kdl", text);
            let doc = source::parse(&sources, file, Syntax::Kdl, schema(), &mut Findings::new());
            let doc = doc.expect("the text is sound KDL");
            let mut walk = Walk { text, path: Vec::new(), found: Vec::new() };
            walk.value(&doc.root, &Says { shape: schema().root(), refers: None, include: false });
            // The version and the kind are said in a form of their own; a bare node is no value.
            walk.found.retain(|s| s.path.len() > 1 && !matches!(&s.role, Role::Value if s.text.is_empty()));
            walk.found.retain(|s| s.role != Role::Value || !told_bare(&s.span, text));
            assert_eq!(told(&spots(text, Syntax::Kdl, schema()), text), told(&walk.found, text), "{text}");
        }
    }

    /// A node without a value, which is `true`.
    fn told_bare(span: &Range<usize>, text: &str) -> bool {
        let written = text.get(span.clone()).unwrap_or_default();
        !written.starts_with(['"', '#']) && written.starts_with(|c: char| c.is_alphabetic())
    }
}
