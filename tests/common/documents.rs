//! Trees that the test schema accepts, with comments at random places; and texts that no one would write.

use super::schema::schema;
use super::signs::SIGNS;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use purlin::diag::Span;
use purlin::source::{Comment, Comments, Doc, Entry, Item, Kind, Syntax, Value, to_kdl, to_yaml};
use serde_json::{Value as Json, json};

pub fn comments(doc: &Doc) -> Vec<String> {
    fn own(comments: &Comments, list: &mut Vec<String>) {
        list.extend(
            comments.leading.iter().chain(&comments.trailing).chain(&comments.inner).map(|c| c.text.clone()),
        );
    }
    fn walk(value: &Value, list: &mut Vec<String>) {
        for entry in value.entries() {
            own(&entry.comments, list);
            walk(&entry.value, list);
        }
        for item in value.items() {
            own(&item.comments, list);
            walk(&item.value, list);
        }
    }
    let mut list: Vec<String> = doc.trailing.iter().map(|c| c.text.clone()).collect();
    walk(&doc.root, &mut list);
    list.sort();
    list
}

/// Text that a careless writer gets wrong.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "\\PC{0,12}",
        "[ \\t\\n\\r\"'#{}\\[\\]\\\\/*:,&!|>%@`a0-]{0,12}",
        "([ -~]{0,10}\n){0,4}",
        Just("no".to_owned()),
        Just("0755".to_owned()),
        Just("1e3".to_owned()),
        Just("2026-01-01".to_owned()),
        Just("null".to_owned()),
        Just("\u{0}\u{7f}\u{85}\u{2028}\u{202e}\u{feff}".to_owned()),
        Just("\"\"\"#".to_owned()),
        Just("<<".to_owned()),
        Just("---".to_owned()),
    ]
}

fn number() -> impl Strategy<Value = Json> {
    prop_oneof![
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_filter_map("finite", |f| f.is_finite().then(|| f.into()))
    ]
}

fn object(fields: Vec<(&'static str, BoxedStrategy<Option<Json>>)>) -> BoxedStrategy<Json> {
    let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    values
        .prop_map(move |values| {
            names.iter().zip(values).filter_map(|(n, v)| Some(((*n).to_owned(), v?))).collect::<Json>()
        })
        .boxed()
}

fn maybe(value: impl Strategy<Value = Json> + 'static) -> BoxedStrategy<Option<Json>> {
    option::of(value).boxed()
}

fn strings(min: usize) -> BoxedStrategy<Json> {
    vec(text(), min..4).prop_map(Json::from).boxed()
}

fn map(value: impl Strategy<Value = Json> + 'static, min: usize) -> BoxedStrategy<Json> {
    btree_map(text(), value, min..4).prop_map(|m| m.into_iter().collect::<Json>()).boxed()
}

fn free() -> BoxedStrategy<Json> {
    let leaf = prop_oneof![text().prop_map(Json::from), number(), any::<bool>().prop_map(Json::from)];
    let value = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Json::from), map(inner, 0)]
    });
    map(value, 0)
}

/// A model that the test schema accepts. An empty collection that is no block is left out, as KDL has no way to write
/// one and an absent one means the same.
fn model() -> impl Strategy<Value = Json> {
    let log = || {
        object(vec![
            ("path", maybe(text().prop_map(Json::from))),
            ("maxLines", maybe(any::<i64>().prop_map(Json::from))),
            ("flags", maybe(map(any::<bool>().prop_map(Json::from), 1))),
        ])
    };
    let pier = object(vec![
        ("range", maybe(text().prop_map(Json::from))),
        ("words", maybe(strings(0))),
        ("gateway", maybe(text().prop_map(Json::from))),
    ]);
    let harbor = object(vec![
        ("country", maybe(text().prop_map(Json::from))),
        ("depth", maybe(number())),
        ("isOpen", maybe(any::<bool>().prop_map(Json::from))),
        ("piers", maybe(vec(pier, 1..3).prop_map(Json::from))),
        ("log", maybe(log())),
    ]);
    let spec = object(vec![
        ("shipLog", maybe(log())),
        ("harbors", maybe(map(harbor, 0))),
        ("count", maybe(any::<i64>().prop_map(Json::from))),
        ("ratio", maybe(number())),
        ("openSea", maybe(any::<bool>().prop_map(Json::from))),
        ("crew", maybe(strings(0))),
        ("ports", maybe(vec(any::<i64>(), 0..4).prop_map(Json::from))),
        ("anchor", maybe(object(vec![("weight", maybe(any::<i64>().prop_map(Json::from)))]))),
        ("raft", maybe(Just(json!({})))),
        ("extra", maybe(free())),
    ]);
    let meta = object(vec![
        ("name", text().prop_map(|t| Some(t.into())).boxed()),
        ("labels", maybe(map(text().prop_map(Json::from), 1))),
    ]);
    (meta, spec).prop_map(|(meta, spec)| {
        json!({"apiVersion": "purlin.dev/v1alpha1", "kind": "NodeSpec", "metadata": meta, "spec": spec})
    })
}

/// Hands out comments until none is left.
struct Pen(Vec<(u8, String)>);

impl Pen {
    fn comments(&mut self) -> Comments {
        let mut comments = Comments::default();
        for _ in 0..2 {
            let Some((place, words)) = self.0.pop() else { break };
            let comment = Comment { text: words.trim().to_owned(), span: Span::default() };
            match place % 8 {
                0 => comments.leading.push(comment),
                1 => comments.trailing = Some(comment),
                2 => comments.inner.push(comment),
                _ => {}
            }
        }
        comments
    }

    fn value(&mut self, json: &Json) -> Value {
        let kind = match json {
            Json::Null => Kind::Null,
            Json::Bool(b) => Kind::Bool(*b),
            Json::Number(n) => match n.as_i64() {
                Some(n) => Kind::Integer(n.into()),
                None => Kind::Float(n.as_f64().expect("a number that is no integer is a float")),
            },
            Json::String(s) => Kind::String(s.clone()),
            Json::Array(list) => Kind::Sequence(
                list.iter().map(|v| Item { comments: self.comments(), value: self.value(v) }).collect(),
            ),
            Json::Object(map) => Kind::Mapping(
                map.iter()
                    .map(|(key, v)| Entry {
                        key: key.clone(),
                        key_span: Span::default(),
                        comments: self.comments(),
                        value: self.value(v),
                    })
                    .collect(),
            ),
        };
        Value::new(Span::default(), kind)
    }
}

/// A tree whose failure report can be read.
#[derive(Clone)]
pub struct Shown(pub Doc);

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n{:?}", to_yaml(&self.0, &schema()), comments(&self.0))
    }
}

pub fn documents() -> impl Strategy<Value = Shown> {
    (model(), vec((any::<u8>(), "[ -~é]{0,10}"), 0..60)).prop_map(|(model, words)| {
        let mut pen = Pen(words);
        let root = pen.value(&model);
        Shown(Doc { root, trailing: pen.comments().leading })
    })
}

pub fn write(syntax: Syntax, doc: &Doc) -> String {
    match syntax {
        Syntax::Kdl => to_kdl(doc, &schema()),
        Syntax::Yaml => to_yaml(doc, &schema()),
        // serde_json escapes only what JSON must; a spec also has no direction marks and the like.
        Syntax::Json => serde_json::to_string_pretty(&doc.root.to_json())
            .expect("JSON can be written")
            .chars()
            .map(|c| match u32::from(c) {
                n @ 0x7f..=0xffff => format!("\\u{n:04x}"),
                _ => c.to_string(),
            })
            .collect(),
    }
}

/// Signs that mean something to some parser, in any order.
pub fn soup() -> impl Strategy<Value = String> {
    vec(
        prop_oneof![
            prop::sample::select(
                [
                    SIGNS,
                    &[
                        "  ",
                        "?",
                        "|",
                        ">",
                        "|2",
                        "!",
                        "%",
                        "---",
                        "<<",
                        "а",
                        "1",
                        "purlin",
                        "node",
                        "\"v1alpha1\"",
                        "harbors",
                        "harbor",
                        "pier",
                        "extra",
                        "ship-log",
                        "shipLog",
                        "spec",
                        "label",
                        "\"x\"",
                    ]
                ]
                .concat()
            )
            .prop_map(str::to_owned),
            "\\PC{0,4}",
        ],
        0..60,
    )
    .prop_map(|parts| parts.concat())
}
