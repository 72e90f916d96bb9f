//! Each code by example, over a vocabulary of the tests' own; and that no tree at all brings the check down.

use super::*;
use crate::diag::{Code, FileId, Span};
use crate::source::{Comments, Item, Kind};
use serde_json::{Value as Json, json};

fn cidr(text: &str) -> Result<(), String> {
    match text.split_once('/') {
        Some((address, prefix))
            if address.parse::<std::net::IpAddr>().is_ok() && prefix.parse::<u8>().is_ok() =>
        {
            Ok(())
        }
        Some(_) => Err("this is not an address with a prefix; write it like `10.0.0.0/24`".to_owned()),
        None => Err("the prefix is missing; write it like `10.0.0.0/24`".to_owned()),
    }
}

fn word(text: &str) -> Result<(), String> {
    if text.bytes().all(|b| b.is_ascii_lowercase()) { Ok(()) } else { Err("not a word".to_owned()) }
}

const FORMATS: Formats = Formats(&[("cidr", cidr), ("word", word)]);

fn schema() -> Schema {
    Schema::new(json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["spec"],
        "x-purlin-document": {"version": "tool", "node": "node"},
        "properties": {
            "spec": {"$ref": "#/$defs/Spec", "x-purlin-inline": true},
        },
        "$defs": {
            "Spec": {
                "type": "object",
                "additionalProperties": false,
                "x-purlin-gone": {"dockerShim": "name a containerd instead"},
                "properties": {
                    "roads": {
                        "type": "object", "additionalProperties": {"$ref": "#/$defs/Road"},
                        "x-purlin-node": "road", "x-purlin-block": true,
                        "propertyNames": {"format": "word"},
                    },
                    "later": {"$ref": "#/$defs/Later", "x-purlin-planned": "it comes with the next version"},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}, "x-purlin-node": "label"},
                },
            },
            "Later": {
                "type": "object", "additionalProperties": false, "required": ["when"],
                "properties": {"when": {"type": "string"}, "fast": {"type": "boolean"}},
            },
            "Road": {
                "type": "object",
                "additionalProperties": false,
                "x-purlin-one-of": [["paved", "gravel", "ferry"]],
                "x-purlin-gone": {"rail": "take the road"},
                "properties": {
                    "paved": {"$ref": "#/$defs/Paved"},
                    "gravel": {"type": "object", "additionalProperties": false, "properties": {"depth": {"type": "integer"}}},
                    "ferry": {"type": "object", "additionalProperties": false, "properties": {}, "x-purlin-planned": "no ferries yet"},
                    "speed": {
                        "type": "integer", "minimum": 5, "maximum": 130,
                        "description": "The fastest one may go, in km/h. Not more.",
                        "x-purlin-since": {"map": "2.1"},
                    },
                    "oneWay": {"type": "boolean"},
                    "nets": {"type": "array", "items": {"type": "string", "format": "cidr"}, "uniqueItems": true, "minItems": 1},
                    "surface": {"type": "string", "enum": ["smooth", "rough", "broken"], "x-purlin-words": {"rough": "Mind the holes. Really."}},
                    "version": {"type": "string"},
                    "weight": {"type": "integer", "minimum": 0},
                    "code": {"type": "string", "pattern": "^[A-Z]+$", "minLength": 2},
                    "free": {"type": "object", "x-purlin-json": true},
                    "signs": {"type": "array", "items": {"$ref": "#/$defs/Sign"}, "x-purlin-node": "sign"},
                },
            },
            "Paved": {
                "type": "object", "additionalProperties": false, "required": ["laneWidth"],
                "properties": {"laneWidth": {"type": "integer", "minimum": 1}, "colour": {"type": "string"}, "name": {"type": "string"}},
            },
            "Sign": {
                "type": "object", "additionalProperties": false, "required": ["text"], "x-purlin-arguments": ["text"],
                "properties": {"text": {"type": "string"}, "lit": {"type": "boolean"}},
            },
        },
    }))
}

/// A tree with spans into the compact JSON text of itself, so that a span's text can be looked at.
struct Text {
    text: String,
}

impl Text {
    fn doc(json: &Json) -> (Doc, String) {
        let mut text = Self { text: String::new() };
        let root = text.value(json);
        (Doc { root, trailing: Vec::new() }, text.text)
    }

    fn write(&mut self, part: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(part);
        Span::new(FileId(0), start, self.text.len())
    }

    fn value(&mut self, json: &Json) -> Value {
        let start = self.text.len();
        let kind = match json {
            Json::Null => {
                self.write("null");
                Kind::Null
            }
            Json::Bool(b) => {
                self.write(&b.to_string());
                Kind::Bool(*b)
            }
            Json::Number(n) => {
                self.write(&n.to_string());
                match n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from)) {
                    Some(n) => Kind::Integer(n),
                    None => Kind::Float(n.as_f64().unwrap_or(f64::NAN)),
                }
            }
            Json::String(s) => {
                self.write(&json.to_string());
                Kind::String(s.clone())
            }
            Json::Array(list) => {
                self.write("[");
                let items = list.iter().map(|j| {
                    let value = self.value(j);
                    self.write(",");
                    Item { value, comments: Comments::default() }
                });
                let items = items.collect();
                self.write("]");
                Kind::Sequence(items)
            }
            Json::Object(map) => {
                self.write("{");
                let entries = map.iter().map(|(key, j)| {
                    let key_span = self.write(key);
                    self.write(":");
                    let value = self.value(j);
                    self.write(",");
                    Entry { key: key.clone(), key_span, value, comments: Comments::default() }
                });
                let entries = entries.collect();
                self.write("}");
                Kind::Mapping(entries)
            }
        };
        Value::new(Span::new(FileId(0), start, self.text.len()), kind)
    }
}

fn validator() -> Validator {
    Validator::new(&schema(), &FORMATS).unwrap()
}

fn check_doc(doc: &Doc, syntax: Syntax) -> Vec<Diagnostic> {
    let mut findings = Findings::new();
    let fits = validator().check(doc, syntax, &mut findings);
    let list: Vec<Diagnostic> = findings.iter().cloned().collect();
    assert_eq!(fits, list.is_empty());
    list
}

fn check(json: &Json, syntax: Syntax) -> Vec<Diagnostic> {
    check_doc(&Text::doc(json).0, syntax)
}

/// A short form of all that is said: code, text under the primary label, message, helps, fix.
fn said(json: &Json, syntax: Syntax) -> Vec<String> {
    let (doc, text) = Text::doc(json);
    let say = |d: &Diagnostic| {
        let at = d.span().and_then(|s| text.get(s.range())).unwrap_or("?");
        let help: String = d.help.iter().map(|h| format!(" = {h}")).collect();
        let fix = d.fix.as_ref().map(|f| {
            let sure = if f.certain { "" } else { "?" };
            format!(" -> {}{sure}", f.replacement)
        });
        format!("{} [{at}] {}{help}{}", d.code, d.message, fix.unwrap_or_default())
    };
    check_doc(&doc, syntax).iter().map(say).collect()
}

fn road(road: Json) -> Json {
    json!({"spec": {"roads": {"main": road}}})
}

/// A road that is fine but for what is added.
fn with(key: &str, value: Json) -> Json {
    let mut json = json!({"gravel": {}});
    json[key] = value;
    road(json)
}

#[track_caller]
fn yaml(json: &Json, want: &[&str]) {
    assert_eq!(said(json, Syntax::Yaml), want);
}

#[track_caller]
fn kdl(json: &Json, want: &[&str]) {
    assert_eq!(said(json, Syntax::Kdl), want);
}

#[test]
fn what_fits_has_no_findings() {
    for syntax in [Syntax::Kdl, Syntax::Yaml, Syntax::Json] {
        let all = json!({
            "gravel": {"depth": 3}, "speed": 50, "oneWay": true, "nets": ["10.0.0.0/8"], "surface": "rough",
            "version": "2.1", "free": {"any": [null, 1.5]}, "signs": [{"text": "a"}], "code": "AB",
        });
        assert_eq!(check(&road(all), syntax), []);
    }
}

#[test]
fn an_unknown_key() {
    kdl(&with("onWay", json!(true)), &["PUR0101 [onWay] `road \"main\"` has no `on-way` -> one-way"]);
    yaml(&with("onWay", json!(true)), &["PUR0101 [onWay] `roads.main` has no `onWay` -> oneWay"]);
    yaml(&with("one-way", json!(true)), &["PUR0101 [one-way] `roads.main` has no `one-way` -> oneWay"]);
    // The repeated node's name is what stands in KDL.
    kdl(&with("sing", json!([])), &["PUR0101 [sing] `road \"main\"` has no `sing` -> sign"]);
    // Inline parts offer their keys where the operator sees them.
    kdl(&json!({"spec": {}, "labl": {}}), &["PUR0101 [labl] `node` has no `labl` -> label"]);
    yaml(
        &with("completelyOther", json!(1)),
        &[
            "PUR0101 [completelyOther] `roads.main` has no `completelyOther` = `roads.main` takes `code`, `free`, \
         `gravel`, `nets`, `oneWay`, `signs`, `speed`, `surface` and 2 more",
        ],
    );
}

#[test]
fn long_lists_are_cut() {
    let words: Vec<String> = ('a'..='j').map(String::from).collect();
    assert_eq!(spelling::some(&words[..2], "and"), "`a` and `b`");
    assert_eq!(spelling::some(&words, "and"), "`a`, `b`, `c`, `d`, `e`, `f`, `g`, `h` and 2 more");
}

#[test]
fn a_key_that_belongs_elsewhere() {
    yaml(
        &with("depth", json!(1)),
        &["PUR0101 [depth] `roads.main` has no `depth` = `depth` belongs in `gravel`"],
    );
    yaml(
        &road(json!({"gravel": {"speed": 1}})),
        &["PUR0101 [speed] `gravel` has no `speed` = `speed` belongs in `roads.main`"],
    );
    kdl(
        &road(json!({"gravel": {}, "lit": true})),
        &["PUR0101 [lit] `road \"main\"` has no `lit` = `lit` belongs in `sign`"],
    );
}

#[test]
fn a_key_of_a_place_far_away() {
    kdl(
        &json!({"spec": {"laneWidth": 3}}),
        &[
            "PUR0101 [laneWidth] `node` has no `lane-width` = `lane-width` has its place elsewhere: `roads { road \"…\" { \
           paved { lane-width 1 } } }`",
        ],
    );
}

#[test]
fn a_key_and_its_value_are_mended_at_once() {
    yaml(&with("sign", json!("a")), &["PUR0101 [sign] `roads.main` has no `sign` -> signs: [{ text: a }]"]);
    // Another value than any that would fit says nothing of the form.
    yaml(&with("net", json!("x")), &["PUR0101 [net] `roads.main` has no `net` -> nets"]);
}

#[test]
fn a_misspelt_key_is_not_also_missing() {
    yaml(
        &road(json!({"paved": {"laneWith": 2}})),
        &["PUR0101 [laneWith] `paved` has no `laneWith` -> laneWidth"],
    );
    yaml(&road(json!({"gravl": {"depth": "x"}})), &["PUR0101 [gravl] `roads.main` has no `gravl` -> gravel"]);
}

#[test]
fn a_key_in_foreign_letters() {
    let list = check(&with("sрeed", json!(7)), Syntax::Yaml);
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].notes, ["the `р` here is U+0440, which is not the ASCII `p`"]);
    assert_eq!(list[0].fix.as_ref().map(|f| f.replacement.as_str()), Some("speed"));
}

#[test]
fn a_key_that_is_gone() {
    kdl(
        &json!({"spec": {"dockershim": 1}}),
        &["PUR0109 [dockershim] `dockershim` is gone from Kubernetes = name a containerd instead"],
    );
}

#[test]
fn what_is_gone_is_not_also_a_choice_not_made() {
    kdl(&road(json!({"rail": true})), &["PUR0109 [rail] `rail` is gone from Kubernetes = take the road"]);
}

#[test]
fn a_wrong_type() {
    yaml(&with("oneWay", json!("no")), &["PUR0103 [\"no\"] `oneWay` takes a boolean, not a string -> false"]);
    kdl(&with("oneWay", json!("on")), &["PUR0103 [\"on\"] `one-way` takes a boolean, not a string -> #true"]);
    yaml(&with("version", json!(2.1)), &["PUR0103 [2.1] `version` takes a string, not a number -> \"2.1\""]);
    yaml(&with("speed", json!("50")), &["PUR0103 [\"50\"] `speed` takes a whole number, not a string -> 50"]);
    yaml(&with("speed", json!(50.0)), &["PUR0103 [50.0] `speed` takes a whole number, not a number -> 50"]);
    yaml(
        &with("speed", json!(50.5)),
        &["PUR0103 [50.5] `speed` takes a whole number, not a number = write a whole number, such as `5`"],
    );
    yaml(
        &with("nets", json!("10.0.0.0/8")),
        &["PUR0103 [\"10.0.0.0/8\"] `nets` takes a list, not a string -> [\"10.0.0.0/8\"]"],
    );
    yaml(
        &with("signs", json!(["a"])),
        &["PUR0103 [\"a\"] `signs[0]` takes a mapping, not a string -> { text: a }"],
    );
    yaml(
        &road(json!({"paved": 3})),
        &["PUR0103 [3] `paved` takes a mapping, not an integer -> { laneWidth: 3 }?"],
    );
    yaml(
        &json!({"spec": {"roads": [{"name": "a", "gravel": {}}]}}),
        &["PUR0103 [roads] `roads` takes a mapping, not a list -> { a: { gravel: {} } }?"],
    );
    yaml(
        &json!({"spec": {"labels": ["a=b", "c"]}}),
        &["PUR0103 [labels] `labels` takes a mapping, not a list = the name is the key: write \
           `labels: { a: b, c: \"…\" }`"],
    );
    yaml(
        &with("nets", json!([{"net": "10.0.0.0/8", "speed": 7}])),
        &[
            "PUR0103 [{net] `nets[0]` takes a string, not a mapping = write `\"10.0.0.0/8\"` alone = `speed` belongs in \
           `roads.main`",
        ],
    );
    yaml(
        &road(json!({"gravel": null})),
        &[
            "PUR0103 [gravel] `gravel` takes a mapping, not null = an absent field is left out: take the key away = to have \
         it with its defaults, write `gravel: {}`",
        ],
    );
}

#[test]
fn a_number_that_lost_its_form_gets_no_fix() {
    let (mut doc, _) = Text::doc(&with("version", json!(755)));
    fn widen(value: &mut Value) {
        if let Kind::Mapping(entries) = &mut value.kind {
            for entry in entries {
                if entry.key == "version" {
                    entry.value.span.end += 1;
                }
                widen(&mut entry.value);
            }
        }
    }
    widen(&mut doc.root);
    let list = check_doc(&doc, Syntax::Yaml);
    assert_eq!(
        (list.len(), list[0].fix.clone(), list[0].help.join("")),
        (1, None, "write it in quotes".to_owned())
    );
}

#[test]
fn a_wrong_form() {
    yaml(
        &with("nets", json!(["10.0.0.0"])),
        &["PUR0104 [\"10.0.0.0\"] `nets[0]`: the prefix is missing = write it like `10.0.0.0/24`"],
    );
    yaml(&with("surface", json!("smoth")), &["PUR0104 [\"smoth\"] `surface` cannot be \"smoth\" -> smooth"]);
    kdl(
        &with("surface", json!("smoth")),
        &["PUR0104 [\"smoth\"] `surface` cannot be \"smoth\" -> \"smooth\""],
    );
    yaml(
        &with("surface", json!("x")),
        &["PUR0104 [\"x\"] `surface` cannot be \"x\" = write one of `smooth`, `rough` and `broken`"],
    );
    yaml(
        &with("speed", json!(2)),
        &["PUR0104 [2] `speed` is 2, the least is 5 = write a whole number from 5 up to 130"],
    );
    yaml(&with("code", json!("")), &["PUR0104 [\"\"] `code` is empty = write 2 characters or more"]);
    yaml(
        &with("code", json!("ab")),
        &["PUR0104 [\"ab\"] `code` is not of the form asked for = write what matches `^[A-Z]+$`"],
    );
    yaml(
        &with("nets", json!([])),
        &["PUR0104 [[]] `nets` is empty = add what is missing, or leave `nets` out"],
    );
    yaml(
        &json!({"spec": {"roads": {"007": {"gravel": {}}}}}),
        &["PUR0104 [007] `roads.007`: not a word = choose another"],
    );
    let list = check(&with("surface", json!("rogh")), Syntax::Yaml);
    assert_eq!(list[0].notes, ["`rough`: Mind the holes"]);
    let list = check(&with("speed", json!(2)), Syntax::Yaml);
    assert_eq!(list[0].notes, ["`speed`: The fastest one may go, in km/h"]);
}

#[test]
fn a_number_that_is_too_wide() {
    for kind in [Kind::Integer(i128::MAX), Kind::Float(f64::INFINITY), Kind::Float(f64::NAN)] {
        let (mut doc, _) = Text::doc(&with("weight", json!(1)));
        fn set(value: &mut Value, kind: &Kind) {
            match &mut value.kind {
                Kind::Mapping(entries) => entries.iter_mut().for_each(|e| set(&mut e.value, kind)),
                Kind::Integer(_) => value.kind = kind.clone(),
                _ => {}
            }
        }
        set(&mut doc.root, &kind);
        let codes: Vec<Code> = check_doc(&doc, Syntax::Yaml).iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::PUR0104]);
    }
}

#[test]
fn a_value_in_foreign_letters() {
    let list = check(&with("nets", json!(["1О.0.0.0/8"])), Syntax::Kdl);
    assert_eq!(list.len(), 1);
    assert_eq!(
        list[0].notes.last().map(String::as_str),
        Some("the `О` here is U+041E, which is not the ASCII `O`")
    );
    let list = check(&json!({"spec": {"roads": {"mаin": {"gravel": {}}}}}), Syntax::Kdl);
    assert_eq!(list[0].fix.as_ref().map(|f| f.replacement.as_str()), Some("\"main\""));
}

#[test]
fn a_missing_key() {
    yaml(&road(json!({"paved": {}})), &["PUR0105 [paved] `paved` lacks `laneWidth` = add `laneWidth: 1`"]);
    kdl(&road(json!({"paved": {}})), &["PUR0105 [paved] `paved` lacks `lane-width` = add `lane-width=1`"]);
    kdl(&with("signs", json!([{"lit": true}])), &["PUR0105 [{lit] `sign` lacks `text` = write `sign \"…\"`"]);
    yaml(&json!({}), &["PUR0105 [{}] the document lacks `spec` = add `spec: {}`"]);
}

#[test]
fn a_choice() {
    yaml(
        &road(json!({})),
        &["PUR0106 [main] `roads.main` needs exactly one of `paved` and `gravel` = add one of them, \
                              such as `paved: { laneWidth: 1 }`"],
    );
    kdl(
        &road(json!({})),
        &["PUR0106 [main] `road \"main\"` needs exactly one of `paved` and `gravel` = add one of them, \
                             such as `paved lane-width=1`"],
    );
    let both = check(&road(json!({"paved": {"laneWidth": 1}, "gravel": {}})), Syntax::Yaml);
    assert_eq!(both.len(), 1);
    assert_eq!((both[0].code, both[0].labels.len()), (Code::PUR0106, 2));
}

#[test]
fn a_planned_choice_beside_a_made_one_is_one_finding() {
    yaml(
        &with("ferry", json!({})),
        &[
            "PUR0108 [ferry] `ferry` is not compiled by this version yet = leave it out until a version of Purlin \
           compiles it: `gravel` is the choice made here",
        ],
    );
}

#[test]
fn a_planned_part() {
    yaml(
        &json!({"spec": {"later": {"fast": "x", "wen": 1}}}),
        &[
            "PUR0108 [later] `later` is not compiled by this version yet = leave it out, with all that cannot do without it, \
             until a version of Purlin compiles it",
            "PUR0101 [wen] `later` has no `wen` -> when",
        ],
    );
    yaml(
        &road(json!({"ferry": {}})),
        &[
            "PUR0108 [ferry] `ferry` is not compiled by this version yet = use `paved` or `gravel` in its place until a \
           version of Purlin compiles it",
        ],
    );
}

#[test]
fn a_list_with_the_same_twice() {
    let list = check(&with("nets", json!(["10.0.0.0/8", "11.0.0.0/8", "10.0.0.0/8"])), Syntax::Yaml);
    assert_eq!(list.len(), 1);
    assert_eq!((list[0].code, list[0].labels.len()), (Code::PUR0102, 2));
}

#[test]
fn findings_stand_in_the_order_of_the_text() {
    let list = check(
        &json!({"zzz": 1, "spec": {"roads": {"main": {"gravel": {"depth": "x"}, "code": "a", "speed": 1000}}}}),
        Syntax::Yaml,
    );
    let spans: Vec<_> = list.iter().map(Diagnostic::span).collect();
    assert!(list.len() == 4 && spans.is_sorted());
}

#[test]
fn what_the_parser_said_is_not_said_again() {
    let (doc, text) = Text::doc(&road(json!({"paved": {"colour": 7}, "speed": 1000})));
    let at =
        |part: &str| Span::new(FileId(0), text.find(part).unwrap(), text.find(part).unwrap() + part.len());
    let mut findings = Findings::new();
    findings.push(Diagnostic::new(Code::PUR0104, "").at(at("1000"), ""));
    assert!(!validator().check(&doc, Syntax::Yaml, &mut findings));
    let codes = |f: &Findings| f.iter().map(|d| d.code).collect::<Vec<_>>();
    assert_eq!(codes(&findings), [Code::PUR0104, Code::PUR0105, Code::PUR0103]);
    // The parser has dropped something out of `paved`: it may have been the required key.
    let mut findings = Findings::new();
    findings.push(Diagnostic::new(Code::PUR0103, "").at(at(",}"), ""));
    assert!(!validator().check(&doc, Syntax::Yaml, &mut findings));
    assert_eq!(codes(&findings), [Code::PUR0103, Code::PUR0103, Code::PUR0104]);
}

#[test]
fn fields_with_a_first_version() {
    let (doc, _) = Text::doc(&with("speed", json!(7)));
    let schema = schema();
    let found = since_fields(&doc.root, schema.root(), "map");
    assert_eq!(found.iter().map(|(e, v)| (e.key.as_str(), *v)).collect::<Vec<_>>(), [("speed", "2.1")]);
    assert_eq!(since_fields(&doc.root, schema.root(), "other"), []);
}

#[test]
fn a_broken_schema_is_an_error() {
    let error = Validator::new(&Schema::new(json!({"type": 7})), &FORMATS).unwrap_err();
    assert_eq!(error.to_string(), "the spec's schema does not compile, at /type");
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn key() -> impl Strategy<Value = String> {
        prop_oneof![
            proptest::sample::select(vec![
                "spec",
                "roads",
                "main",
                "paved",
                "gravel",
                "ferry",
                "later",
                "speed",
                "nets",
                "signs",
                "text",
                "free",
                "laneWidth",
                "oneWay",
                "surface",
                "sрeed",
                "0",
                "",
                "a/b~c",
                "labels",
                "dockerShim",
            ])
            .prop_map(str::to_owned),
            "\\PC{0,6}",
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let span = (any::<u8>(), any::<u8>())
            .prop_map(|(a, b)| Span::new(FileId(0), usize::from(a.min(b)), usize::from(a.max(b))));
        let leaf = prop_oneof![
            Just(Kind::Null),
            any::<bool>().prop_map(Kind::Bool),
            any::<i128>().prop_map(Kind::Integer),
            any::<i16>().prop_map(|n| Kind::Integer(n.into())),
            any::<f64>().prop_map(Kind::Float),
            "\\PC{0,8}".prop_map(Kind::String),
        ];
        let spanned = span.clone();
        let leaf = (span, leaf).prop_map(|(span, kind)| Value::new(span, kind));
        leaf.prop_recursive(6, 40, 5, move |inner| {
            let list = proptest::collection::vec(inner.clone(), 0..5).prop_map(|list| {
                Kind::Sequence(
                    list.into_iter().map(|value| Item { value, comments: Comments::default() }).collect(),
                )
            });
            let map = proptest::collection::vec((key(), spanned.clone(), inner), 0..5).prop_map(|list| {
                Kind::Mapping(
                    list.into_iter()
                        .map(|(key, key_span, value)| Entry {
                            key,
                            key_span,
                            value,
                            comments: Comments::default(),
                        })
                        .collect(),
                )
            });
            (spanned.clone(), prop_oneof![1 => list, 3 => map])
                .prop_map(|(span, kind)| Value::new(span, kind))
        })
    }

    proptest! {
        /// Any tree gets an answer, the same one every time, and an empty one only when the schema takes the tree.
        #[test]
        fn any_tree_is_answered(root in value()) {
            let doc = Doc { root, trailing: Vec::new() };
            let validator = validator();
            for syntax in [Syntax::Kdl, Syntax::Yaml, Syntax::Json] {
                let (mut one, mut two) = (Findings::new(), Findings::new());
                let fits = validator.check(&doc, syntax, &mut one);
                validator.check(&doc, syntax, &mut two);
                prop_assert_eq!(fits, one.is_empty());
                prop_assert!(!fits || validator.compiled.is_valid(&doc.root.to_json()));
                prop_assert_eq!(one.into_sorted(), two.into_sorted());
            }
        }
    }
}
