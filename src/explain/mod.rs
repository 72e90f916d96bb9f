//! What a path of the spec means, and what became of a value: the schema's knowledge, an example, what the field renders
//! to, and in a given spec the places that set it and the artifacts' lines that follow.
//!
//! What a field renders to is written nowhere by hand. It is seen by changing the value: for the whole language in the
//! test that keeps src/spec/renders.json, for one spec in the spec itself.

mod change;
mod effect;
mod place;
mod render;

pub use change::{another, variants};
pub use effect::{Effect, Kind, Line, Rendered, Trace, trace};
pub use place::{Given, Set, Yield, given};
pub use render::{SCHEMA_TEXT, VERSION, code_json, codes_json, human, json};

use crate::source::{Located, Snippet, in_words, snippet};
use crate::spec;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What each field renders to, by its path with any names; a test writes it and holds it.
const RENDERS_TEXT: &str = include_str!("../spec/renders.json");

static RENDERS: LazyLock<BTreeMap<String, Effect>> =
    // The text is part of the binary and a test reads it.
    LazyLock::new(|| serde_json::from_str(RENDERS_TEXT).unwrap_or_default());

/// What each field renders to, by its path with any names.
#[must_use]
pub fn renders() -> &'static BTreeMap<String, Effect> {
    &RENDERS
}

/// A word that a value can be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Word {
    pub word: String,
    pub meaning: String,
}

/// A field that may stand in a struct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    pub name: String,
    /// The first sentence about it.
    pub summary: String,
    pub required: bool,
    pub planned: bool,
}

/// All that holds of a path, whatever the spec.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// As the model spells it.
    pub path: String,
    pub description: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub words: Vec<Word>,
    pub required: bool,
    /// The fields of which exactly one has to be there, this one among them.
    pub choice: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The first version of each program that can carry it.
    pub since: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<String>,
    /// What is taken is what each of its members takes.
    #[serde(skip)]
    pub each: bool,
    /// What it takes, or what each of its members takes.
    pub fields: Vec<Field>,
    #[serde(serialize_with = "texts")]
    pub example: Snippet,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renders: Option<Effect>,
}

fn texts<S: serde::Serializer>(snippet: &Snippet, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Texts<'a> {
        kdl: &'a str,
        yaml: &'a str,
    }
    Texts { kdl: &snippet.kdl, yaml: &snippet.yaml }.serialize(serializer)
}

/// Explains a path of the spec.
#[must_use]
pub fn explain(located: &Located<'_>) -> Explanation {
    let shape = located.shape;
    let element = located.element();
    // A list of words means the words.
    let meanings = if shape.is_scalar() { shape.meanings() } else { element.shape.meanings() };
    let listed = if shape.is_scalar() { shape.words() } else { element.shape.words() };
    let (required, choice) = located.field_of.map_or_else(Default::default, |(parent, key)| {
        let groups = parent.one_of();
        let choice = groups.into_iter().find(|group| group.contains(&key)).unwrap_or_default();
        (parent.required().contains(&key), choice.into_iter().map(str::to_owned).collect())
    });
    let members = element.members();
    let fields = members.iter().map(|m| Field {
        name: m.key.to_owned(),
        summary: summary(m.shape.purpose().unwrap_or_default()),
        required: element.field(m).field_of.is_some_and(|(parent, key)| parent.required().contains(&key)),
        planned: m.shape.planned().is_some(),
    });
    Explanation {
        path: located.path.to_string(),
        description: shape.purpose().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "),
        kind: in_words(shape),
        words: listed
            .iter()
            .map(|word| Word {
                word: (*word).to_owned(),
                meaning: meanings.get(word).copied().unwrap_or_default().to_owned(),
            })
            .collect(),
        required,
        choice,
        default: shape.default().map(str::to_owned),
        since: shape.since().into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
        planned: located.planned.map(str::to_owned),
        each: element.path != located.path,
        fields: if element.shape.is_struct() || shape.like().is_some() {
            fields.collect()
        } else {
            Vec::new()
        },
        example: snippet(spec::schema(), &located.path),
        renders: renders().get(&located.path.pattern().to_string()).cloned(),
    }
}

/// The first sentence of a description.
fn summary(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split_once(". ").map_or(text.clone(), |(first, _)| format!("{first}."))
}
