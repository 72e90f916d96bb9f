//! A piece of a spec that gives one field, with all that stands around it, in the syntaxes of a reader's own spec. Made
//! from the schema's examples, and from what it says is required.

use super::doc::{Doc, Value};
use super::path::{Path, Step};
use super::schema::{Schema, Shape};
use super::write::{to_kdl, to_yaml};
use crate::diag::Span;
use serde_json::{Map, Value as Json, json};

/// One example in two syntaxes, without what begins every file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    pub kdl: String,
    pub yaml: String,
    /// The whole document that it is a part of, as the model has it.
    pub model: Json,
}

/// As deep as required fields are followed: a type within itself would have no end.
const DEPTH: usize = 16;
/// Fields that a struct without required ones is shown with.
const FIELDS: usize = 3;

/// An example of what a path leads to. Names that it has are used, those that it leaves open are examples.
#[must_use]
pub fn snippet(schema: &Schema, path: &Path) -> Snippet {
    let root = schema.root();
    let model = build(root, &path.0, None, 0);
    let doc = |model: &Json| Doc { root: Value::from_json(model, Span::default()), trailing: Vec::new() };
    let kdl = inside(&to_kdl(&doc(&model), schema), root);
    // In YAML a reader's own file has the other structs of the document already.
    let part = match path.0.first() {
        Some(Step::Inline(key)) => model.get(key).map(|inner| json!({ key.as_str(): inner })),
        _ => None,
    };
    let yaml = to_yaml(&doc(part.as_ref().unwrap_or(&model)), schema);
    Snippet { kdl, yaml, model }
}

/// What stands in the block of the document's node; all of the text when it has none.
fn inside(text: &str, root: Shape<'_>) -> String {
    let (_, node) = root.document().unwrap_or(("purlin", "node"));
    let mut lines = text.lines().skip_while(|l| !(l.starts_with(&format!("{node} ")) && l.ends_with('{')));
    if lines.next().is_none() {
        return text.to_owned();
    }
    let block = lines.take_while(|l| *l != "}");
    block.map(|l| format!("{}\n", l.strip_prefix("    ").unwrap_or(l))).collect()
}

/// A value that has what the steps lead to.
fn build(shape: Shape<'_>, steps: &[Step], given: Option<&Json>, depth: usize) -> Json {
    let Some((step, rest)) = steps.split_first() else {
        return given.cloned().unwrap_or_else(|| shown(shape, depth));
    };
    let base = given.cloned().unwrap_or_else(|| sample(shape, depth));
    match step {
        Step::Field(key) | Step::Inline(key) => {
            let mut object = match base {
                Json::Object(object) => object,
                _ => Map::new(),
            };
            // Of a choice, it takes the place of the variant that is there.
            for group in shape.one_of().into_iter().filter(|g| g.contains(&key.as_str())) {
                object.retain(|other, _| other == key || !group.contains(&other.as_str()));
            }
            if let Some(field) = shape.property(key) {
                let inner = build(field, rest, object.get(key), depth + 1);
                object.insert(key.clone(), inner);
            }
            object.into()
        }
        Step::Name(name) => {
            let Some(member) = shape.map_value() else { return base };
            let first = base.as_object().and_then(|o| o.iter().next());
            let known = first.map(|(key, _)| key.as_str());
            let name = name.as_deref().or(known).unwrap_or("NAME").to_owned();
            let inner = build(member, rest, first.map(|(_, value)| value), depth + 1);
            Json::Object([(name, inner)].into_iter().collect())
        }
        Step::Position(_) => {
            let Some(item) = shape.item() else { return base };
            json!([build(item, rest, base.get(0), depth + 1)])
        }
    }
}

/// What a field is shown with that the whole is about.
fn shown(shape: Shape<'_>, depth: usize) -> Json {
    if let Some(like) = shape.like() {
        // One section says enough.
        let section = like.properties().find(|(_, f)| f.is_section());
        return section.map_or_else(|| json!({}), |(key, f)| json!({ key: shown(f, depth + 1) }));
    }
    let mut value = sample(shape, depth);
    if shape.has_type("boolean") && shape.default() == Some("true") {
        // Nobody has to write what holds anyway.
        value = false.into();
    }
    let Json::Object(object) = &mut value else { return value };
    if object.is_empty() && shape.is_struct() {
        let compiled = || shape.properties().filter(|(_, f)| f.planned().is_none());
        let scalars: Vec<_> = compiled().filter(|(_, f)| f.is_scalar()).take(FIELDS).collect();
        let fields = if scalars.is_empty() { compiled().take(1).collect() } else { scalars };
        object.extend(fields.into_iter().map(|(key, f)| (key.to_owned(), shown(f, depth + 1))));
    }
    value
}

/// A value of a shape: an example of the schema's own, or one made up from its type.
fn sample(shape: Shape<'_>, depth: usize) -> Json {
    if let Some(example) = shape.example() {
        return example.clone();
    }
    if let Some(word) = shape.words().first() {
        return (*word).into();
    }
    if depth > DEPTH {
        return json!({});
    }
    if let Some(member) = shape.map_value() {
        let name = shape.names().and_then(Shape::example).and_then(Json::as_str).unwrap_or("NAME");
        return json!({ name: sample(member, depth + 1) });
    }
    if let Some(item) = shape.item() {
        return json!([sample(item, depth + 1)]);
    }
    if shape.is_struct() {
        let mut keys = shape.required();
        for group in shape.one_of() {
            let compiled = |key: &&&str| shape.property(key).is_some_and(|f| f.planned().is_none());
            if !group.iter().any(|key| keys.contains(key)) {
                keys.extend(group.iter().find(compiled).or(group.first()));
            }
        }
        let fields = keys.into_iter().filter_map(|key| Some((key, shape.property(key)?)));
        return fields
            .map(|(key, field)| (key.to_owned(), sample(field, depth + 1)))
            .collect::<Map<_, _>>()
            .into();
    }
    if shape.has_type("boolean") {
        return true.into();
    }
    if shape.has_type("integer") || shape.has_type("number") {
        return shape.keyword("minimum").cloned().unwrap_or_else(|| 1.into());
    }
    "…".into()
}
