//! The KDL form of a schema, told node by node: the name of each, its arguments, what stands in its block, and what it is
//! for. All of it is made from the schema, so it cannot fall behind; nothing here may know a section or a field.

use super::Syntax;
use super::header;
use super::schema::{Schema, Shape};
use super::surface::{ENTRY, Field, Surface};
use serde_json::Value as Json;
use std::fmt::Write as _;

/// As deep as nodes are followed: a type within itself would have no end.
const DEPTH: usize = 16;

/// What a person reads first.
const LEGEND: &str = "\
// Every node of a spec in KDL. In brackets behind what a node is for: whether it is required, how often it may stand,
// and its values. The values that stand here are examples, and not all nodes go together.
// What has one value stands in the block, as here (`key 1`), or as a property on the parent's line (`key=1`).

";

/// How often a node may stand in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    Once,
    /// Once per name, which is its first argument.
    PerName,
    /// As often as one likes; the order counts.
    InOrder,
    /// A list of values: several on one node, or several nodes.
    Values,
}

/// A value that stands behind a node's name.
#[derive(Clone, Debug)]
pub struct Argument<'s> {
    /// What it is called: the field that it fills, or the form of a name; absent for a value that stands alone.
    pub name: Option<String>,
    /// Absent for a name.
    pub shape: Option<Shape<'s>>,
    pub required: bool,
    /// The fields of which exactly one has to be there, this one among them.
    pub choice: Vec<String>,
    /// An example, as it is written.
    pub sample: String,
}

/// A node that may stand in a block.
#[derive(Clone, Debug)]
pub struct Reference<'s> {
    pub name: String,
    /// The model's path, with `*` for any name or position.
    pub path: Vec<String>,
    /// The field that the node fills.
    pub shape: Shape<'s>,
    pub times: Times,
    pub required: bool,
    /// The nodes of which exactly one has to stand there, this one among them.
    pub choice: Vec<String>,
    pub arguments: Vec<Argument<'s>>,
    pub children: Vec<Self>,
}

/// The whole KDL form of a schema, as a document that can be read.
#[must_use]
pub fn to_reference(schema: &Schema) -> String {
    let root = schema.root();
    let (version, _) = root.document().unwrap_or(("purlin", "node"));
    format!("{LEGEND}{version} \"{}\"\n\n{}", header::newest_word(), document(schema).text(DEPTH))
}

/// The document's node, and with it all others.
#[must_use]
pub fn document(schema: &Schema) -> Reference<'_> {
    let root = schema.root();
    let (_, name) = root.document().unwrap_or(("purlin", "node"));
    let surface = Surface::of_document(root);
    Reference {
        name: name.to_owned(),
        path: Vec::new(),
        shape: root,
        times: Times::Once,
        required: true,
        choice: Vec::new(),
        arguments: arguments(root, &surface),
        children: children(root, &surface, &[], 0),
    }
}

/// The nodes that stand in the block of a struct's node, in the order of the alphabet.
fn children<'s>(
    shape: Shape<'s>,
    surface: &Surface<'s>,
    path: &[String],
    depth: usize,
) -> Vec<Reference<'s>> {
    if depth > DEPTH {
        return Vec::new();
    }
    let positional = |at: usize| surface.arguments.contains(&at);
    let mut nodes: Vec<_> = surface
        .fields
        .iter()
        .enumerate()
        .filter(|(at, _)| !positional(*at))
        .map(|(_, field)| node(shape, surface, field, path, depth))
        .collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes
}

fn node<'s>(
    parent: Shape<'s>,
    surface: &Surface<'s>,
    field: &Field<'s>,
    above: &[String],
    depth: usize,
) -> Reference<'s> {
    let shape = field.shape;
    let mut path: Vec<String> = above.to_vec();
    path.extend(field.path.iter().chain([&field.key]).map(|step| (*step).to_owned()));
    let mut reference = Reference {
        name: field.name.clone(),
        path,
        shape,
        times: Times::Once,
        required: required(parent, field),
        choice: choice(parent, surface, field),
        arguments: Vec::new(),
        children: Vec::new(),
    };
    if field.is_literal() {
        reference.arguments.push(only(shape));
    } else if !field.repeated && (shape.map_value().is_some() || shape.item().is_some()) {
        // A block: its nodes are told like any other's.
        let name = shape.node_name().unwrap_or(ENTRY).to_owned();
        let mut inner = Reference { name, required: false, choice: Vec::new(), ..reference.clone() };
        inner.elements(shape, depth);
        // What the block is for is said above it.
        inner.shape = shape.map_value().or_else(|| shape.item()).unwrap_or(shape);
        reference.children.push(inner);
    } else if field.repeated {
        reference.elements(shape, depth);
    } else if shape.like().is_none() {
        reference.structure(shape, depth);
    }
    reference
}

fn required(parent: Shape<'_>, field: &Field<'_>) -> bool {
    parent.at(&field.path).is_some_and(|holder| holder.required().contains(&field.key))
}

/// The fields, as they are written, of which exactly one has to be there, when this is one of them.
fn choice(parent: Shape<'_>, surface: &Surface<'_>, field: &Field<'_>) -> Vec<String> {
    let groups = parent.at(&field.path).map(Shape::one_of).unwrap_or_default();
    let group = groups.into_iter().find(|group| group.contains(&field.key)).unwrap_or_default();
    let shown = |key: &&str| surface.fields.iter().find(|f| f.key == *key && f.path == field.path);
    group.iter().filter_map(shown).map(|f| f.name.clone()).collect()
}

impl<'s> Reference<'s> {
    /// Takes up the members of a map or the elements of a list, one node for each.
    fn elements(&mut self, collection: Shape<'s>, depth: usize) {
        let example = collection.keyword("examples").and_then(|e| e.get(0));
        self.path.push("*".to_owned());
        if let Some(member) = collection.map_value() {
            self.times = Times::PerName;
            let given = example.and_then(Json::as_object).and_then(|o| o.iter().next());
            let names = collection.keyword("propertyNames");
            let name = given
                .map(|(key, _)| key.as_str())
                .or_else(|| names?.pointer("/examples/0").and_then(Json::as_str));
            let form = names.and_then(|n| n.get("format")).and_then(Json::as_str);
            self.arguments.push(Argument {
                name: Some(form.map_or_else(|| "name".to_owned(), plain)),
                shape: None,
                required: true,
                choice: Vec::new(),
                sample: Syntax::Kdl.string(name.unwrap_or("…")),
            });
            if member.is_scalar() || member.is_json() {
                let value = given.map_or_else(|| sample(member), |(_, value)| literal(value));
                self.arguments.push(Argument { sample: value, ..only(member) });
            } else {
                self.structure(member, depth);
            }
        } else if let Some(item) = collection.item() {
            if item.is_scalar() || item.is_json() {
                self.times = Times::Values;
                self.arguments.push(Argument { sample: values(collection), ..only(item) });
            } else {
                self.times = Times::InOrder;
                self.structure(item, depth);
            }
        }
    }

    fn structure(&mut self, shape: Shape<'s>, depth: usize) {
        let surface = Surface::of(shape);
        self.arguments.extend(arguments(shape, &surface));
        self.children = children(shape, &surface, &self.path, depth + 1);
    }

    /// The node as it is written, below comments that say what it is for, and so many levels of what stands in its block.
    #[must_use]
    pub fn text(&self, levels: usize) -> String {
        let mut out = String::new();
        self.write(levels, 0, &mut out);
        out
    }

    fn write(&self, levels: usize, depth: usize, out: &mut String) {
        let indent = "    ".repeat(depth);
        // Writing to a String cannot fail.
        for line in self.comments() {
            let _ = writeln!(out, "{indent}// {line}");
        }
        let samples: String = self.arguments.iter().map(|a| format!(" {}", a.sample)).collect();
        let _ = write!(out, "{indent}{}{samples}", self.name);
        if levels == 0 || self.children.is_empty() {
            out.push('\n');
            return;
        }
        out.push_str(" {\n");
        for child in &self.children {
            child.write(levels - 1, depth + 1, out);
        }
        let _ = writeln!(out, "{indent}}}");
    }

    /// What it is for on the first line; then its arguments, where it has more than its only value, and its words.
    fn comments(&self) -> Vec<String> {
        let mut lines = vec![with(describe(self.shape), &self.marks())];
        for argument in &self.arguments {
            if let (Some(name), Some(shape)) = (&argument.name, argument.shape) {
                let mut marks = needs(argument.required, &argument.choice);
                marks.extend(values_of(shape, Syntax::Kdl));
                lines.push(format!("  {name}: {}", with(describe(shape), &marks)));
            }
            let meanings = argument.shape.and_then(|s| s.keyword("x-purlin-words")).and_then(Json::as_object);
            for (word, meaning) in meanings.into_iter().flatten() {
                lines.push(format!(
                    "  {}: {}",
                    Syntax::Kdl.string(word),
                    meaning.as_str().unwrap_or_default()
                ));
            }
        }
        lines
    }

    /// What stands in the brackets.
    fn marks(&self) -> Vec<String> {
        let mut marks = needs(self.required, &self.choice);
        let key = self.arguments.first().and_then(|a| a.name.as_deref()).unwrap_or("name");
        marks.extend(match self.times {
            Times::Once => None,
            Times::PerName => Some(format!("one per {key}")),
            Times::InOrder => Some("any number, in order".to_owned()),
            Times::Values => Some("one value or several".to_owned()),
        });
        // The only value, and what a name leads to, have no line of their own.
        let alone = self.arguments.iter().filter(|a| a.name.is_none()).filter_map(|a| a.shape);
        marks.extend(alone.filter_map(|shape| values_of(shape, Syntax::Kdl)));
        marks.extend(self.shape.since().iter().map(|(program, first)| format!("since {program} {first}")));
        marks
    }
}

fn arguments<'s>(shape: Shape<'s>, surface: &Surface<'s>) -> Vec<Argument<'s>> {
    let fields = surface.arguments.iter().map(|at| &surface.fields[*at]);
    let argument = |field: &Field<'s>| Argument {
        name: Some(field.name.clone()),
        shape: Some(field.shape),
        required: required(shape, field),
        choice: choice(shape, surface, field),
        sample: if field.is_literal() { sample(field.shape) } else { values(field.shape) },
    };
    fields.map(argument).collect()
}

/// A value that has no name of its own.
fn only(shape: Shape<'_>) -> Argument<'_> {
    Argument { name: None, shape: Some(shape), required: true, choice: Vec::new(), sample: sample(shape) }
}

/// What the schema says of a value, on one line.
fn describe(shape: Shape<'_>) -> String {
    shape.description().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn with(text: String, marks: &[String]) -> String {
    let marks = if marks.is_empty() { String::new() } else { format!("[{}]", marks.join("; ")) };
    [text, marks].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn needs(required: bool, choice: &[String]) -> Vec<String> {
    let one_of = (choice.len() > 1).then(|| format!("exactly one of {}", choice.join(", ")));
    required.then(|| "required".to_owned()).into_iter().chain(one_of).collect()
}

/// The word of a format says what it is of: `purlin-link-name` is a link name.
fn plain(format: &str) -> String {
    format.strip_prefix("purlin-").unwrap_or(format).replace('-', " ")
}

/// Which values there are, in words for an operator.
#[must_use]
pub fn values_of(shape: Shape<'_>, syntax: Syntax) -> Option<String> {
    let words = shape.words();
    if !words.is_empty() {
        let words: Vec<String> = words.into_iter().map(|w| syntax.string(w)).collect();
        return Some(words.join(", "));
    }
    if shape.is_json() {
        let kdl = syntax == Syntax::Kdl;
        return Some(if kdl { "JSON in a string" } else { "JSON" }.to_owned());
    }
    if let Some(item) = shape.item() {
        return values_of(item, syntax).map(|values| format!("{values}, once or several times"));
    }
    if shape.has_type("boolean") {
        let words = if syntax == Syntax::Kdl { "#true, #false" } else { "true, false" };
        return Some(words.to_owned());
    }
    if shape.has_type("integer") || shape.has_type("number") {
        let bound = |keyword| shape.keyword(keyword).map(ToString::to_string);
        let kind = match (shape.has_type("string"), shape.has_type("integer")) {
            (true, _) => "number or text",
            (false, true) => "whole number",
            (false, false) => "number",
        };
        return Some(match (bound("minimum"), bound("maximum")) {
            (Some(least), Some(most)) => format!("{kind}, {least} to {most}"),
            (Some(least), None) => format!("{kind}, at least {least}"),
            (None, Some(most)) => format!("{kind}, at most {most}"),
            (None, None) => kind.to_owned(),
        });
    }
    Some(shape.format().map_or_else(|| "text".to_owned(), plain))
}

/// An example of a list's values, one behind the other.
fn values(list: Shape<'_>) -> String {
    let given = list.keyword("examples").and_then(|e| e.get(0)).and_then(Json::as_array);
    match (given, list.item()) {
        (Some(values), _) => values.iter().map(literal).collect::<Vec<_>>().join(" "),
        (None, Some(item)) => sample(item),
        (None, None) => String::new(),
    }
}

/// An example of a value, as it is written.
fn sample(shape: Shape<'_>) -> String {
    if let Some(given) = shape.keyword("examples").and_then(|e| e.get(0)) {
        return literal(given);
    }
    if let Some(word) = shape.words().first() {
        return Syntax::Kdl.string(word);
    }
    if shape.is_json() {
        return Syntax::Kdl.string("{}");
    }
    if shape.has_type("boolean") {
        return "#true".to_owned();
    }
    if shape.has_type("integer") || shape.has_type("number") {
        return shape.keyword("minimum").map_or_else(|| "1".to_owned(), ToString::to_string);
    }
    Syntax::Kdl.string("…")
}

fn literal(value: &Json) -> String {
    match value {
        Json::Bool(b) => format!("#{b}"),
        Json::Number(number) => number.to_string(),
        Json::String(text) => Syntax::Kdl.string(text),
        other => Syntax::Kdl.string(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        Schema::new(json!({
            "x-purlin-document": {"version": "purlin", "node": "node"},
            "type": "object",
            "properties": {
                "name": {"type": "string", "examples": ["a"], "description": "Its name."},
                "roads": {
                    "type": "object", "description": "Roads.", "x-purlin-node": "road", "x-purlin-block": true,
                    "propertyNames": {"examples": ["main"], "format": "purlin-road-name"},
                    "additionalProperties": {"$ref": "#/$defs/Road"}
                },
                "signs": {
                    "type": "object", "additionalProperties": {"type": "integer"}, "x-purlin-node": "sign",
                    "examples": [{"stop": 2}]
                }
            },
            "required": ["name"],
            "x-purlin-arguments": ["name"],
            "$defs": {
                "Road": {
                    "description": "A road.",
                    "type": "object", "x-purlin-one-of": [["gravel", "laneCount"]], "required": ["paved"],
                    "properties": {
                        "gravel": {"type": "object", "properties": {}, "description": "No tar."},
                        "laneCount": {"type": "integer", "minimum": 1, "maximum": 9, "x-purlin-since": {"cars": "2.1"}},
                        "paved": {"enum": ["yes", "no"], "x-purlin-words": {"no": "It is not."}},
                        "towns": {"type": "array", "items": {"type": "string"}, "examples": [["a", "b"]]},
                        "stops": {
                            "type": "array", "x-purlin-node": "stop",
                            "items": {
                                "type": "object", "properties": {"at": {"type": "number"}},
                                "x-purlin-arguments": ["at"]
                            }
                        }
                    }
                }
            }
        }))
    }

    #[test]
    fn every_kind_of_node_is_told_with_its_values() {
        let want = r##"// [required]
//   name: Its name. [required; text]
node "a" {
    // Roads.
    roads {
        // A road. [one per road name]
        road "main" {
            // No tar. [exactly one of gravel, lane-count]
            gravel
            // [exactly one of gravel, lane-count; whole number, 1 to 9; since cars 2.1]
            lane-count 1
            // [required; "yes", "no"]
            //   "no": It is not.
            paved "yes"
            // [any number, in order]
            //   at: [number]
            stop 1
            // [one value or several; text]
            towns "a" "b"
        }
    }
    // [one per name; whole number]
    sign "stop" 2
}
"##;
        assert_eq!(document(&schema()).text(DEPTH), want);
    }

    #[test]
    fn one_node_can_be_told_alone() {
        let schema = schema();
        let document = document(&schema);
        let road = &document.children[0].children[0];
        assert_eq!(road.path, ["roads", "*"]);
        assert_eq!(road.text(0), "// A road. [one per road name]\nroad \"main\"\n");
        assert_eq!(road.children[1].path, ["roads", "*", "laneCount"]);
    }
}
