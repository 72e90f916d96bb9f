//! Named collections: a map in YAML, a repeated node in KDL.

use crate::diag::{Span, Spanned};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map;
use std::fmt;
use std::marker::PhantomData;

/// Values by name, in the order of their names: the order in which an operator writes them has no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<K, T>(BTreeMap<K, Member<T>>);

/// A member of a named collection, and where its name stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<T> {
    pub name_span: Span,
    pub value: T,
}

impl<K, T> Default for Named<K, T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord, T> Named<K, T> {
    pub fn iter(&self) -> btree_map::Iter<'_, K, Member<T>> {
        self.0.iter()
    }

    #[must_use]
    pub fn get(&self, name: &K) -> Option<&Member<T>> {
        self.0.get(name)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a, K: Ord, T> IntoIterator for &'a Named<K, T> {
    type Item = (&'a K, &'a Member<T>);
    type IntoIter = btree_map::Iter<'a, K, Member<T>>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'de, K: Deserialize<'de> + Ord, T: Deserialize<'de>> Deserialize<'de> for Named<K, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<K, T>(PhantomData<(K, T)>);

        impl<'de, K: Deserialize<'de> + Ord, T: Deserialize<'de>> Visitor<'de> for Members<K, T> {
            type Value = Named<K, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping from names to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = BTreeMap::new();
                while let Some(name) = map.next_key::<Spanned<K>>()? {
                    let value = map.next_value()?;
                    members.insert(name.value, Member { name_span: name.span, value });
                }
                Ok(Named(members))
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

impl<K: JsonSchema, T: JsonSchema> JsonSchema for Named<K, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Named_{}_{}", K::schema_name(), T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (name, value) = (generator.subschema_for::<K>(), generator.subschema_for::<T>());
        json_schema!({ "type": "object", "propertyNames": name, "additionalProperties": value })
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
