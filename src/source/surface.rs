//! What a struct looks like as a KDL node: which names stand on it or in it, and where each belongs in the model.
//! Reading and writing share it, so that they cannot disagree. All knowledge comes from the schema's annotations.

use super::case::kebab;
use super::schema::Shape;

/// The model's names that the document's two KDL nodes stand for.
pub const API_VERSION: &str = "apiVersion";
pub const OBJECT_KIND: &str = "kind";
/// What a map's nodes are called when the schema does not say.
pub const ENTRY: &str = "entry";

/// A field as KDL shows it.
#[derive(Clone, Debug)]
pub struct Field<'s> {
    /// The name of its node or property.
    pub name: String,
    /// Its name in the model.
    pub key: &'s str,
    /// The inline structs that it is in, outermost first.
    pub path: Vec<&'s str>,
    pub shape: Shape<'s>,
    /// A map or list without a block: each of its entries is a node.
    pub repeated: bool,
    /// Its struct cannot do without it.
    pub required: bool,
}

impl Field<'_> {
    /// It fits on its parent's line: one literal says it all.
    pub fn is_literal(&self) -> bool {
        self.shape.is_scalar() || self.shape.is_json()
    }
}

/// An inline struct within a surface.
#[derive(Clone, Debug)]
pub struct Inline<'s> {
    pub path: Vec<&'s str>,
    pub required: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Surface<'s> {
    pub fields: Vec<Field<'s>>,
    /// Positions in `fields`.
    pub arguments: Vec<usize>,
    pub inlines: Vec<Inline<'s>>,
}

impl<'s> Surface<'s> {
    pub fn of(shape: Shape<'s>) -> Self {
        let mut surface = Self::default();
        surface.add(shape.like().unwrap_or(shape), &[], &[]);
        if shape.is_defaults() {
            // What yields cannot itself take in files, or yield twice.
            surface.fields.retain(|f| !f.shape.is_include() && !f.shape.is_defaults());
        }
        surface
    }

    /// The document's node: the version and kind of the object stand elsewhere.
    pub fn of_document(root: Shape<'s>) -> Self {
        let mut surface = Self::default();
        surface.add(root, &[], &[API_VERSION, OBJECT_KIND]);
        surface
    }

    fn add(&mut self, shape: Shape<'s>, path: &[&'s str], hidden: &[&str]) {
        let mut inlines = Vec::new();
        for (key, property) in shape.properties().filter(|(key, _)| !hidden.contains(key)) {
            if property.is_inline() && property.is_struct() {
                inlines.push((key, property));
                continue;
            }
            let collection = !property.is_json()
                && !property.is_struct()
                && (property.map_value().is_some() || property.item().is_some());
            let repeated = collection && !property.is_block();
            let name = property.node_name().filter(|_| repeated).map_or_else(|| kebab(key), str::to_owned);
            let required = shape.required().contains(&key);
            self.fields.push(Field { name, key, path: path.to_vec(), shape: property, repeated, required });
        }
        for key in shape.arguments() {
            let position = self.fields.iter().position(|f| f.key == key && f.path == path);
            self.arguments.extend(position);
        }
        for (key, property) in inlines {
            let mut inner = path.to_vec();
            inner.push(key);
            self.inlines.push(Inline { path: inner.clone(), required: shape.required().contains(&key) });
            // An inline struct within itself cannot occur in a schema made from types; the bound makes it harmless.
            if inner.len() < 8 {
                self.add(property, &inner, &[]);
            }
        }
    }

    pub fn named(&self, name: &str) -> Option<&Field<'s>> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// A field, or inline struct, that the model calls so but KDL does not.
    pub fn in_model(&self, name: &str) -> Option<&Field<'s>> {
        self.fields.iter().find(|f| f.key == name)
    }

    pub fn has_inline(&self, name: &str) -> bool {
        self.inlines.iter().any(|i| i.path.last() == Some(&name))
    }

    /// Where an unknown name was most likely meant to stand: beside the field that it is most like.
    pub fn likely_path(&self, name: &str) -> Vec<&'s str> {
        self.fields
            .iter()
            .map(|f| (strsim::jaro_winkler(&f.name, name), f))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, f)| f.path.clone())
            .unwrap_or_default()
    }
}
