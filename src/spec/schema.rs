//! The JSON Schema of a spec: made from the types, and from then on the only description that the source side uses.

use super::{FORMATS, NodeSpec};
use crate::source::{Schema, Validator};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The schema as it is checked in; a test holds it equal to what [`generate`] makes of the types.
pub const SCHEMA_TEXT: &str = include_str!("../../schemas/nodespec.json");

/// The schema of facts as it is checked in.
pub const FACTS_SCHEMA_TEXT: &str = include_str!("../../schemas/facts.json");

static EMBEDDED: LazyLock<Schema> = LazyLock::new(|| {
    // The text is part of the binary and a test reads it: null, the schema that knows nothing, is never seen.
    Schema::new(serde_json::from_str(SCHEMA_TEXT).unwrap_or_default()).with_formats(FORMATS)
});

static VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| Validator::new(&EMBEDDED, &FORMATS).ok());

/// The schema of a spec.
#[must_use]
pub fn schema() -> &'static Schema {
    &EMBEDDED
}

/// The compiled schema; `None` only if the embedded one were broken, which a test rules out.
#[must_use]
pub fn validator() -> Option<&'static Validator> {
    VALIDATOR.as_ref()
}

/// Makes the schema from the Rust types.
#[must_use]
pub fn generate() -> Json {
    schema_of::<NodeSpec>("https://purlin.dev/schemas/v1alpha1/nodespec.json")
}

/// The schema of a part as it is checked in: what editors are told of files that specs include.
pub const PART_SCHEMA_TEXT: &str = include_str!("../../schemas/nodepart.json");

/// Makes the schema of a part: a spec's, in which nothing is required and no name is given.
#[must_use]
pub fn generate_part() -> Json {
    let mut schema = generate();
    relax(&mut schema);
    for (pointer, value) in [
        ("/$id", json!("https://purlin.dev/schemas/v1alpha1/nodepart.json")),
        ("/title", json!("NodePart")),
        ("/description", json!("Values that specs take in with `include`.")),
        ("/$defs/DocumentKind/enum", json!([crate::source::PART_KIND])),
    ] {
        if let Some(place) = schema.pointer_mut(pointer) {
            *place = value;
        }
    }
    if let Some(Json::Object(fields)) = schema.pointer_mut("/$defs/Metadata/properties") {
        fields.remove("name");
    }
    schema["required"] = json!(["apiVersion", "kind"]);
    schema
}

/// Takes away all that has to be there; what is only read like a definition can then refer to it.
fn relax(schema: &mut Json) {
    match schema {
        Json::Object(object) => {
            if object.get("required").is_some_and(Json::is_array) {
                object.remove("required");
            }
            if let Some(like) = object.get("x-purlin-like").cloned() {
                object.insert("$ref".into(), like);
                object.remove("additionalProperties");
                object.remove("type");
            }
            object.values_mut().for_each(relax);
        }
        Json::Array(list) => list.iter_mut().for_each(relax),
        _ => {}
    }
}

/// Makes the schema of facts from the Rust types.
#[must_use]
pub fn generate_facts() -> Json {
    schema_of::<crate::facts::Facts>("https://purlin.dev/schemas/v1alpha1/facts.json")
}

/// Makes the schema of any type written like a section: the tests show with it that a new field needs no other change.
#[must_use]
pub fn schema_of<T: schemars::JsonSchema>(id: &str) -> Json {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    plain(&mut schema);
    say_defaults(&mut schema);
    say_planned(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        root.insert("$id".into(), json!(id));
    }
    schema
}

/// Rewrites what schemars makes of Rust into what a custom resource and an operator can live with: optional is not
/// nullable, an enumeration is a list of words, numbers have no Rust names, and a default that says nothing is left out.
fn plain(schema: &mut Json) {
    match schema {
        Json::Object(object) => {
            if let Some(Json::Array(types)) = object.get_mut("type") {
                types.retain(|t| t != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Json::Array(mut branches)) = object.remove("anyOf") {
                branches.retain(|b| b.get("type").is_none_or(|t| t != "null"));
                if let [Json::Object(only)] = branches.as_slice() {
                    for (keyword, value) in only {
                        object.entry(keyword.clone()).or_insert_with(|| value.clone());
                    }
                } else {
                    object.insert("anyOf".into(), branches.into());
                }
            }
            if let Some(Json::Array(branches)) = object.get("oneOf")
                && branches.iter().all(|b| b.get("const").is_some() || b.get("enum").is_some())
            {
                let mut words = Vec::new();
                let mut descriptions = serde_json::Map::new();
                for branch in branches {
                    let listed = branch.get("enum").and_then(Json::as_array).cloned().unwrap_or_default();
                    for word in branch.get("const").cloned().into_iter().chain(listed) {
                        if let (Some(word), Some(text)) = (word.as_str(), branch.get("description")) {
                            descriptions.insert(word.to_owned(), text.clone());
                        }
                        words.push(word);
                    }
                }
                object.remove("oneOf");
                object.insert("type".into(), json!("string"));
                object.insert("enum".into(), words.into());
                object.insert("x-purlin-words".into(), descriptions.into());
            }
            if let Some(format) =
                object.get("format").and_then(Json::as_str).filter(|f| !f.starts_with("purlin-"))
            {
                let most = match format {
                    "uint8" => Some(u64::from(u8::MAX)),
                    "uint16" => Some(u64::from(u16::MAX)),
                    "uint32" => Some(u64::from(u32::MAX)),
                    _ => None,
                };
                object.remove("format");
                if let Some(most) = most {
                    object.entry("maximum").or_insert(json!(most));
                }
            }
            object.remove("default");
            for (keyword, value) in object {
                // The keys of these are names of the spec, not keywords.
                match (keyword.as_str(), value) {
                    ("properties" | "$defs", Json::Object(named)) => named.values_mut().for_each(plain),
                    // A piece of a spec may have keys that are keywords here.
                    ("examples", _) => {}
                    (_, value) => plain(value),
                }
            }
        }
        Json::Array(list) => list.iter_mut().for_each(plain),
        _ => {}
    }
}

/// Puts into words what holds without a field, for an editor shows descriptions and no annotations.
fn say_defaults(part: &mut Json) {
    if let Some(what) = part.get("x-purlin-default").and_then(Json::as_str).map(str::to_owned) {
        add(part, &format!("Default: {what}."));
    }
    match part {
        Json::Object(object) => object.values_mut().for_each(say_defaults),
        Json::Array(list) => list.iter_mut().for_each(say_defaults),
        _ => {}
    }
}

/// The annotation on a part that this version does not compile.
const PLANNED: &str = "x-purlin-planned";

/// Puts into words what the annotation says, for an editor shows descriptions and no annotations: behind the
/// description of each planned part, and of all that occurs in planned parts only.
fn say_planned(schema: &mut Json) {
    let mut compiled = BTreeSet::new();
    reach(schema, schema, &mut compiled);
    if let Some(Json::Object(definitions)) = schema.get_mut("$defs") {
        for (_, definition) in definitions.iter_mut().filter(|(name, _)| !compiled.contains(*name)) {
            add(definition, "Not compiled yet.");
            for (_, property) in
                definition.get_mut("properties").and_then(Json::as_object_mut).into_iter().flatten()
            {
                add(property, "Not compiled yet.");
            }
        }
    }
    annotate(schema);
}

/// Collects the definitions to which a schema leads without crossing a planned part.
fn reach(part: &Json, schema: &Json, found: &mut BTreeSet<String>) {
    match part {
        Json::Object(object) => {
            let name = object.get("$ref").and_then(Json::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
            if let Some(name) = name
                && found.insert(name.to_owned())
                && let Some(definition) = schema.pointer(&format!("/$defs/{name}"))
            {
                reach(definition, schema, found);
            }
            let inner = object.iter().filter(|(keyword, _)| *keyword != "$defs").map(|(_, value)| value);
            inner.filter(|value| value.get(PLANNED).is_none()).for_each(|value| reach(value, schema, found));
        }
        Json::Array(list) => list.iter().for_each(|value| reach(value, schema, found)),
        _ => {}
    }
}

fn annotate(part: &mut Json) {
    if let Some(why) = part.get(PLANNED).and_then(Json::as_str).map(str::to_owned) {
        add(part, &format!("Not compiled yet: {why}."));
    }
    match part {
        Json::Object(object) => object.values_mut().for_each(annotate),
        Json::Array(list) => list.iter_mut().for_each(annotate),
        _ => {}
    }
}

fn add(part: &mut Json, sentence: &str) {
    if let Some(Json::String(text)) = part.get_mut("description") {
        text.push(' ');
        text.push_str(sentence);
    }
}
