//! The tree that every syntax becomes: values with spans, and the comments around them.
//!
//! The same model written in KDL, YAML or JSON gives the same tree but for spans and comments. Mappings keep the
//! order in which they were written; their meaning does not depend on it.

use crate::diag::Span;

/// A whole text.
#[derive(Clone, Debug, PartialEq)]
pub struct Doc {
    pub root: Value,
    /// Comments after the last value.
    pub trailing: Vec<Comment>,
}

impl Doc {
    /// All comments, in the order of the text that the tree was read from. A value that an alias repeats has its comments
    /// once more.
    #[must_use]
    pub fn comments(&self) -> Vec<&Comment> {
        let mut found: Vec<&Comment> = self.trailing.iter().collect();
        let mut open = vec![&self.root];
        while let Some(value) = open.pop() {
            let entries = value.entries().iter().map(|e| (&e.comments, &e.value));
            for (comments, below) in entries.chain(value.items().iter().map(|i| (&i.comments, &i.value))) {
                found.extend(comments.leading.iter().chain(&comments.trailing).chain(&comments.inner));
                open.push(below);
            }
        }
        found.sort_by_key(|comment| comment.span);
        found
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub span: Span,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    String(String),
    Sequence(Vec<Item>),
    Mapping(Vec<Entry>),
}

/// An element of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub value: Value,
    pub comments: Comments,
}

/// A key with its value. Keys are in the model's spelling (camelCase for fields), whatever the syntax.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Value,
    pub comments: Comments,
}

/// The comments that belong to an entry or item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comments {
    /// On the lines before.
    pub leading: Vec<Comment>,
    /// On the same line, after the value.
    pub trailing: Option<Comment>,
    /// Inside a block, after its last entry.
    pub inner: Vec<Comment>,
}

/// The words of a comment without its marks, trimmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub text: String,
    pub span: Span,
}

impl Value {
    #[must_use]
    pub const fn new(span: Span, kind: Kind) -> Self {
        Self { span, kind }
    }

    /// Whether the other value is the same and its mappings have the same order; places and comments do not count.
    #[must_use]
    pub fn says(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Sequence(a), Kind::Sequence(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.value.says(&b.value))
            }
            (Kind::Mapping(a), Kind::Mapping(b)) => {
                let same = |(a, b): (&Entry, &Entry)| a.key == b.key && a.value.says(&b.value);
                a.len() == b.len() && a.iter().zip(b).all(same)
            }
            (a, b) => a == b,
        }
    }

    /// What an operator would call the type.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Integer(_) => "an integer",
            Kind::Float(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Sequence(_) => "a list",
            Kind::Mapping(_) => "a mapping",
        }
    }

    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(s) => Some(s),
            _ => None,
        }
    }

    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Mapping(entries) => entries,
            _ => &[],
        }
    }

    #[must_use]
    pub fn items(&self) -> &[Item] {
        match &self.kind {
            Kind::Sequence(items) => items,
            _ => &[],
        }
    }

    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|e| e.key == key)
    }

    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|e| &e.value)
    }

    /// The value under a path of keys and list positions.
    #[must_use]
    pub fn at(&self, path: &[impl AsRef<str>]) -> Option<&Self> {
        path.iter().try_fold(self, |value, step| {
            let step = step.as_ref();
            match &value.kind {
                Kind::Sequence(items) => {
                    step.parse::<usize>().ok().and_then(|i| items.get(i)).map(|i| &i.value)
                }
                _ => value.get(step),
            }
        })
    }

    /// A tree that no text gave, all of it at one place.
    #[must_use]
    pub fn from_json(model: &serde_json::Value, at: Span) -> Self {
        use serde_json::Value as Json;
        let kind = match model {
            Json::Null => Kind::Null,
            Json::Bool(b) => Kind::Bool(*b),
            Json::Number(n) => match n.as_i64() {
                Some(n) => Kind::Integer(n.into()),
                None => Kind::Float(n.as_f64().unwrap_or_default()),
            },
            Json::String(text) => Kind::String(text.clone()),
            Json::Array(list) => {
                let item = |v| Item { value: Self::from_json(v, at), comments: Comments::default() };
                Kind::Sequence(list.iter().map(item).collect())
            }
            Json::Object(object) => {
                let entry = |(key, v): (&String, &Json)| Entry {
                    key: key.clone(),
                    key_span: at,
                    value: Self::from_json(v, at),
                    comments: Comments::default(),
                };
                Kind::Mapping(object.iter().map(entry).collect())
            }
        };
        Self::new(at, kind)
    }

    /// The same tree as JSON, without spans and comments. An integer beyond 64 bits and a float that JSON does not
    /// have become null: validation has refused them by then.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match &self.kind {
            Kind::Null => serde_json::Value::Null,
            Kind::Bool(b) => (*b).into(),
            Kind::Integer(n) => i64::try_from(*n)
                .map(serde_json::Value::from)
                .or_else(|_| u64::try_from(*n).map(serde_json::Value::from))
                .unwrap_or(serde_json::Value::Null),
            Kind::Float(f) => serde_json::Number::from_f64(*f).map_or(serde_json::Value::Null, Into::into),
            Kind::String(s) => s.as_str().into(),
            Kind::Sequence(items) => items.iter().map(|i| i.value.to_json()).collect(),
            Kind::Mapping(entries) => entries
                .iter()
                .map(|e| (e.key.clone(), e.value.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }
}
