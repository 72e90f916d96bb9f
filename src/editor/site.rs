//! What may be written at a place, before it is put into words.

use super::spots::Says;
use super::{kdl, yaml};
use crate::source::{Limits, Schema, Shape, Surface, Syntax};
use std::collections::BTreeSet;
use std::ops::Range;

/// A place in a text.
#[derive(Clone, Debug)]
pub struct Site<'s> {
    /// What a completion takes the place of.
    pub replace: Range<usize>,
    pub wanted: Vec<Wanted<'s>>,
}

/// What may stand there.
#[derive(Clone, Debug)]
pub enum Wanted<'s> {
    /// The first lines of a KDL spec.
    Top {
        given: BTreeSet<String>,
    },
    /// The word of the language's version.
    Version,
    /// The name of a field.
    Fields {
        offers: Vec<Offer<'s>>,
        form: Form,
    },
    /// In KDL a member of the collection around.
    Member {
        name: String,
        collection: Shape<'s>,
    },
    /// The name of a member.
    Name {
        collection: Vec<String>,
        given: BTreeSet<String>,
    },
    Value {
        says: Says<'s>,
        form: Form,
    },
}

/// How a thing is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A KDL node, or its argument.
    Node,
    /// `name=value`.
    Property,
    /// `key: value` on a line, or its value.
    Line,
    /// As [`Form::Line`], but the dash of the list is still to be written.
    Item,
    /// `key: value` between braces, or its value.
    Flow,
}

/// A field that may be given.
#[derive(Clone, Debug)]
pub struct Offer<'s> {
    /// As it is written.
    pub name: String,
    pub shape: Shape<'s>,
    pub required: bool,
    /// A map or list whose entries stand there themselves.
    pub repeated: bool,
    /// One value says it all.
    pub literal: bool,
}

/// What may be written at an offset; `None` in a comment, and where a text is beyond the limits.
#[must_use]
pub fn site<'s>(text: &str, offset: usize, syntax: Syntax, schema: &'s Schema) -> Option<Site<'s>> {
    if text.len() > Limits::default().bytes {
        return None;
    }
    let offset = text.floor_char_boundary(offset);
    match syntax {
        Syntax::Kdl => kdl::site(text, offset, schema),
        Syntax::Yaml | Syntax::Json => yaml::site(text, offset, schema),
    }
}

/// The fields of a struct that are not given yet, in KDL.
pub fn offers<'s>(shape: Shape<'s>, surface: &Surface<'s>, given: &BTreeSet<String>) -> Vec<Offer<'s>> {
    let chosen = |path: &[&str], key: &str| {
        let groups = shape.at(path).map(Shape::one_of).unwrap_or_default();
        let group = groups.into_iter().find(|group| group.contains(&key)).unwrap_or_default();
        surface.fields.iter().any(|f| f.path == path && group.contains(&f.key) && given.contains(&f.name))
    };
    let free = surface.fields.iter().filter(|f| {
        let several = f.repeated && f.shape.node_name().is_some();
        (several || !given.contains(&f.name)) && (given.contains(&f.name) || !chosen(&f.path, f.key))
    });
    free.map(|f| Offer {
        name: f.name.clone(),
        shape: f.shape,
        required: f.required,
        repeated: f.repeated,
        literal: f.is_literal(),
    })
    .collect()
}

/// The same in YAML and JSON, where fields are called as in the model.
pub fn keys<'s>(shape: Shape<'s>, given: &BTreeSet<String>) -> Vec<Offer<'s>> {
    let groups = shape.one_of();
    let required = shape.required();
    let chosen = |key: &str| {
        let group = groups.iter().find(|group| group.contains(&key));
        group.is_some_and(|group| group.iter().any(|other| given.contains(*other)))
    };
    let free = shape.properties().filter(|(key, _)| !given.contains(*key) && !chosen(key));
    free.map(|(key, field)| Offer {
        name: key.to_owned(),
        shape: field,
        required: required.contains(&key),
        repeated: false,
        literal: field.is_scalar() || field.is_json(),
    })
    .collect()
}
