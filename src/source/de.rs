//! Tree to typed values: a serde deserializer over [`Value`], so that a field of a spec type costs one line.
//!
//! A [`Spanned`] anywhere in a type receives the span of the value (or map key) it is read from. Validation has seen
//! the tree before, so an error here means that the schema and the types disagree; it still carries its place.

use super::doc::{Entry, Kind, Value};
use crate::diag::{FileId, Span, Spanned};
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt;

/// A struct name that no other type uses: it marks the request for a span.
const SPANNED: &str = "$purlin::Spanned";
const FIELDS: &[&str] = &["span", "value"];

/// A value that does not fit its type, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub message: String,
    pub span: Option<Span>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }
}

/// Reads a typed value out of a tree.
///
/// # Errors
/// When the tree does not fit the type.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    T::deserialize(Tree(value))
}

struct Tree<'a>(&'a Value);

impl<'a> Tree<'a> {
    fn any<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.0.kind {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(b) => visitor.visit_bool(*b),
            Kind::Integer(n) => {
                if let Ok(n) = i64::try_from(*n) {
                    visitor.visit_i64(n)
                } else if let Ok(n) = u64::try_from(*n) {
                    visitor.visit_u64(n)
                } else {
                    visitor.visit_i128(*n)
                }
            }
            Kind::Float(f) => visitor.visit_f64(*f),
            Kind::String(s) => visitor.visit_str(s),
            Kind::Sequence(items) => visitor.visit_seq(Seq(items.iter().map(|i| &i.value))),
            Kind::Mapping(entries) => visitor.visit_map(Map { entries: entries.iter(), value: None }),
        }
    }

    fn placed<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        let span = self.0.span;
        result.map_err(|mut e| {
            e.span.get_or_insert(span);
            e
        })
    }
}

impl<'de> Deserializer<'de> for Tree<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let result = Tree(self.0).any(visitor);
        self.placed(result)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        // Optional is not nullable: an absent field has no value at all.
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == SPANNED {
            let (span, value) = (self.0.span, Tree(self.0));
            return visitor.visit_map(WithSpan { span: Some(span), value: Some(value) });
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let result = match self.0.as_str() {
            Some(word) => visitor.visit_enum(StrDeserializer::<Error>::new(word)),
            None => Err(de::Error::custom(format_args!("a word is wanted, not {}", self.0.type_name()))),
        };
        self.placed(result)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct Seq<I>(I);

impl<'a, 'de, I: Iterator<Item = &'a Value>> de::SeqAccess<'de> for Seq<I> {
    type Error = Error;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|v| seed.deserialize(Tree(v))).transpose()
    }
}

struct Map<'a> {
    entries: std::slice::Iter<'a, Entry>,
    value: Option<&'a Value>,
}

impl<'de> de::MapAccess<'de> for Map<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        self.value = Some(&entry.value);
        seed.deserialize(Key { word: &entry.key, span: entry.key_span }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let value =
            self.value.take().ok_or_else(|| de::Error::custom("a value was asked for before its key"))?;
        seed.deserialize(Tree(value))
    }
}

/// A mapping's key: a word with a span of its own.
struct Key<'a> {
    word: &'a str,
    span: Span,
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.word)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == SPANNED {
            return visitor.visit_map(WithSpan { span: Some(self.span), value: Some(self) });
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(StrDeserializer::<Error>::new(self.word))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// Presents a value as `{span: [file, start, end], value: …}`.
struct WithSpan<D> {
    span: Option<Span>,
    value: Option<D>,
}

impl<'de, D: Deserializer<'de, Error = Error>> de::MapAccess<'de> for WithSpan<D> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let field = if self.span.is_some() {
            FIELDS[0]
        } else if self.value.is_some() {
            FIELDS[1]
        } else {
            return Ok(None);
        };
        seed.deserialize(StrDeserializer::<Error>::new(field)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        if let Some(span) = self.span.take() {
            let numbers = [u32::from(span.file.0), span.start, span.end];
            return seed.deserialize(de::value::SeqDeserializer::<_, Error>::new(
                numbers.into_iter().map(IntoDeserializer::<Error>::into_deserializer),
            ));
        }
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(de::Error::custom("a spanned value was read twice")),
        }
    }
}

impl<'de, T: de::Deserialize<'de>> de::Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(std::marker::PhantomData<T>);

        impl<'de, T: de::Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Spanned<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value read from a spec")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Spanned<T>, A::Error> {
                let (mut span, mut value) = (Span::default(), None);
                while let Some(field) = map.next_key::<String>()? {
                    if field == FIELDS[0] {
                        let (file, start, end) = map.next_value::<(u16, u32, u32)>()?;
                        span = Span { file: FileId(file), start, end };
                    } else {
                        value = Some(map.next_value()?);
                    }
                }
                Ok(Spanned::new(value.ok_or_else(|| de::Error::missing_field("value"))?, span))
            }
        }

        deserializer.deserialize_struct(SPANNED, FIELDS, Fields(std::marker::PhantomData))
    }
}
