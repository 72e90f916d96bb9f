//! Reading the JSON Schema with its `x-purlin-*` annotations: all that lowering, validation and writing know about
//! the spec's vocabulary comes through here.
//!
//! | annotation | on | meaning |
//! |---|---|---|
//! | `x-purlin-document` | the root | `{"version": "purlin", "node": "node", "part": "part"}`: the top-level KDL nodes |
//! | `x-purlin-include` | a property | the names of files whose values belong to this document |
//! | `x-purlin-defaults` | a property | values that yield to those given elsewhere |
//! | `x-purlin-like` | a property | read like this definition, but nothing in it is required |
//! | `x-purlin-arguments` | an object | its fields that KDL takes as arguments, in order |
//! | `x-purlin-inline` | a property | in KDL its fields stand on the parent's node |
//! | `x-purlin-section` | a property | a part of the document that is there or not as a whole |
//! | `x-purlin-node` | a map or list | the name of the repeated KDL node |
//! | `x-purlin-block` | a map | in KDL the repeated nodes stand in a block named like the property |
//! | `x-purlin-json` | a property | free-form JSON: one string in KDL |
//! | `x-purlin-one-of` | an object | groups of fields of which exactly one must be there |
//! | `x-purlin-planned` | a property | in the schema, but not compiled by this version |
//! | `x-purlin-section` | a property | a section of the spec |
//! | `x-purlin-since` | a property | `{"containerd": "2.1"}`: the first version that can carry it |
//! | `x-purlin-default` | a property | what holds when it is not given, in words |
//! | `x-purlin-form` | a text | what its `format` asks for, in words |
//! | `x-purlin-gone` | an object, a list of words | keys or words that are no longer in use, each with the modern way |
//! | `x-purlin-words` | a list of words | what each word means |
//! | `x-purlin-refers` | a text or list of texts | the named collection whose names it says: its path, as `explain` takes it |

use super::validate::Formats;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A JSON Schema document (draft 2020-12, `$ref` only into its own `$defs`).
#[derive(Clone, Debug)]
pub struct Schema {
    document: Json,
    formats: Formats,
}

impl Schema {
    #[must_use]
    pub const fn new(document: Json) -> Self {
        Self { document, formats: Formats(&[]) }
    }

    /// The same with the forms that its `format` words stand for.
    #[must_use]
    pub fn with_formats(self, formats: Formats) -> Self {
        Self { formats, ..self }
    }

    #[must_use]
    pub const fn document(&self) -> &Json {
        &self.document
    }

    /// The name under which an editor knows it.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.document.get("$id").and_then(Json::as_str)
    }

    #[must_use]
    pub const fn root(&self) -> Shape<'_> {
        Shape { schema: self, site: &self.document, target: &self.document }
    }

    fn resolve<'a>(&'a self, site: &'a Json) -> &'a Json {
        let mut target = site;
        // A chain of references is one or two long; the bound only stops a cycle of nothing but references.
        for _ in 0..8 {
            let Some(reference) = target.get("$ref").and_then(Json::as_str) else { break };
            let Some(next) = reference.strip_prefix('#').and_then(|p| self.document.pointer(p)) else {
                break;
            };
            target = next;
        }
        target
    }
}

/// The schema of one value: the place that mentions it, and the definition it refers to.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    schema: &'a Schema,
    site: &'a Json,
    target: &'a Json,
}

impl<'a> Shape<'a> {
    fn of(self, site: &'a Json) -> Self {
        Shape { schema: self.schema, site, target: self.schema.resolve(site) }
    }

    /// A keyword, looked up at the mention first, then at the definition.
    #[must_use]
    pub fn keyword(self, name: &str) -> Option<&'a Json> {
        self.site.get(name).or_else(|| self.target.get(name))
    }

    fn text(self, name: &str) -> Option<&'a str> {
        self.keyword(name).and_then(Json::as_str)
    }

    fn flag(self, name: &str) -> bool {
        self.keyword(name).and_then(Json::as_bool).unwrap_or(false)
    }

    /// The fields of an object, by name in the model's spelling, in alphabetical order.
    pub fn properties(self) -> impl Iterator<Item = (&'a str, Shape<'a>)> {
        self.target
            .get("properties")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
            .map(move |(name, site)| (name.as_str(), self.of(site)))
    }

    #[must_use]
    pub fn property(self, name: &str) -> Option<Self> {
        self.target.get("properties")?.get(name).map(|site| self.of(site))
    }

    /// An object with fixed fields.
    #[must_use]
    pub fn is_struct(self) -> bool {
        self.target.get("properties").is_some_and(Json::is_object)
            || (self.has_type("object") && self.map_value().is_none() && !self.is_json())
    }

    /// The schema of the values of a named collection.
    #[must_use]
    pub fn map_value(self) -> Option<Self> {
        self.target.get("additionalProperties").filter(|a| a.is_object()).map(|site| self.of(site))
    }

    /// The schema of a list's elements.
    #[must_use]
    pub fn item(self) -> Option<Self> {
        self.target.get("items").map(|site| self.of(site))
    }

    #[must_use]
    pub fn has_type(self, name: &str) -> bool {
        match self.target.get("type") {
            Some(Json::String(t)) => t == name,
            Some(Json::Array(list)) => list.iter().any(|t| t == name),
            _ => false,
        }
    }

    /// Neither a struct nor a collection.
    #[must_use]
    pub fn is_scalar(self) -> bool {
        !self.is_json() && !self.is_struct() && self.map_value().is_none() && self.item().is_none()
    }

    #[must_use]
    pub fn required(self) -> Vec<&'a str> {
        strings(self.target.get("required"))
    }

    #[must_use]
    pub fn description(self) -> Option<&'a str> {
        self.text("description")
    }

    /// The description without what the annotations beside it say as well: the generator puts that behind it, because
    /// an editor shows nothing else.
    #[must_use]
    pub fn purpose(self) -> Option<&'a str> {
        let mut text = self.description()?;
        let planned = self.planned().map(|why| format!("Not compiled yet: {why}."));
        // What occurs in planned parts only.
        let within = Some("Not compiled yet.".to_owned());
        let default = self.default().map(|what| format!("Default: {what}."));
        for said in [planned, within, default].into_iter().flatten() {
            text = text.strip_suffix(&said).map_or(text, str::trim_end);
        }
        Some(text)
    }

    /// What holds when the field is not given, in words.
    #[must_use]
    pub fn default(self) -> Option<&'a str> {
        self.site.get("x-purlin-default").and_then(Json::as_str)
    }

    /// What the format of a text asks for, in words.
    #[must_use]
    pub fn form(self) -> Option<&'a str> {
        self.text("x-purlin-form")
    }

    /// A value that it can have.
    #[must_use]
    pub fn example(self) -> Option<&'a Json> {
        self.keyword("examples")?.get(0)
    }

    /// What each word means.
    #[must_use]
    pub fn meanings(self) -> BTreeMap<&'a str, &'a str> {
        pairs(self.keyword("x-purlin-words"))
    }

    /// What the names of a collection are, as a schema of their own.
    #[must_use]
    pub fn names(self) -> Option<Self> {
        self.target.get("propertyNames").map(|site| self.of(site))
    }

    #[must_use]
    pub fn format(self) -> Option<&'a str> {
        self.text("format")
    }

    /// Whether a text is of the form asked for, as far as the form is known.
    #[must_use]
    pub fn admits(self, text: &str) -> bool {
        let check = self.format().and_then(|name| self.schema.formats.get(name));
        check.is_none_or(|check| check(text).is_ok())
    }

    /// What is wrong with a text that is not of the form asked for, as far as the form is known.
    ///
    /// # Errors
    /// The form's own message, which says what to write.
    pub fn try_form(self, text: &str) -> Result<(), String> {
        self.format().and_then(|name| self.schema.formats.get(name)).map_or(Ok(()), |check| check(text))
    }

    /// The named collection whose names the text, or each text of the list, says.
    #[must_use]
    pub fn refers(self) -> Option<&'a str> {
        self.text("x-purlin-refers")
    }

    /// The words that a string may be, if they are listed.
    #[must_use]
    pub fn words(self) -> Vec<&'a str> {
        strings(self.target.get("enum"))
    }

    #[must_use]
    pub fn arguments(self) -> Vec<&'a str> {
        strings(self.keyword("x-purlin-arguments"))
    }

    #[must_use]
    pub fn node_name(self) -> Option<&'a str> {
        self.text("x-purlin-node")
    }

    #[must_use]
    pub fn is_block(self) -> bool {
        self.flag("x-purlin-block")
    }

    #[must_use]
    pub fn is_inline(self) -> bool {
        self.flag("x-purlin-inline")
    }

    /// A part of the document that is there or not as a whole.
    #[must_use]
    pub fn is_section(self) -> bool {
        self.flag("x-purlin-section")
    }

    #[must_use]
    pub fn is_json(self) -> bool {
        self.flag("x-purlin-json")
    }

    /// What the operator is told about a part that this version does not compile.
    #[must_use]
    pub fn planned(self) -> Option<&'a str> {
        self.site.get("x-purlin-planned").and_then(Json::as_str)
    }

    /// The first version of each program that can carry the field.
    #[must_use]
    pub fn since(self) -> BTreeMap<&'a str, &'a str> {
        pairs(self.site.get("x-purlin-since"))
    }

    #[must_use]
    pub fn gone(self) -> BTreeMap<&'a str, &'a str> {
        pairs(self.keyword("x-purlin-gone"))
    }

    /// Groups of fields of which exactly one must be given.
    #[must_use]
    pub fn one_of(self) -> Vec<Vec<&'a str>> {
        self.keyword("x-purlin-one-of")
            .and_then(Json::as_array)
            .map(|groups| groups.iter().map(|g| strings(Some(g))).collect())
            .unwrap_or_default()
    }

    /// The names of the two top-level KDL nodes: the version's and the document's.
    #[must_use]
    pub fn document(self) -> Option<(&'a str, &'a str)> {
        let names = self.keyword("x-purlin-document")?;
        Some((names.get("version")?.as_str()?, names.get("node")?.as_str()?))
    }

    /// The name of the top-level KDL node of a file that specs include.
    #[must_use]
    pub fn part(self) -> Option<&'a str> {
        self.keyword("x-purlin-document")?.get("part")?.as_str()
    }

    /// The field that names files to include.
    #[must_use]
    pub fn is_include(self) -> bool {
        self.flag("x-purlin-include")
    }

    /// The definition that the value is read like, though nothing in it is required. Whoever walks over the schema does not
    /// follow it, for it may lead back to where it stands.
    #[must_use]
    pub fn like(self) -> Option<Self> {
        let pointer = self.text("x-purlin-like")?.strip_prefix('#')?;
        self.schema.document.pointer(pointer).map(|site| self.of(site))
    }

    /// The field whose values yield to others.
    #[must_use]
    pub fn is_defaults(self) -> bool {
        self.flag("x-purlin-defaults")
    }

    /// The shape under a path of the model: fields, map keys, list positions.
    #[must_use]
    pub fn at(self, path: &[impl AsRef<str>]) -> Option<Self> {
        path.iter().try_fold(self, |shape, step| {
            shape.property(step.as_ref()).or_else(|| shape.map_value()).or_else(|| shape.item())
        })
    }
}

fn strings(list: Option<&Json>) -> Vec<&str> {
    list.and_then(Json::as_array).map(|l| l.iter().filter_map(Json::as_str).collect()).unwrap_or_default()
}

fn pairs(map: Option<&Json>) -> BTreeMap<&str, &str> {
    map.and_then(Json::as_object)
        .map(|m| m.iter().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?))).collect())
        .unwrap_or_default()
}
