//! The schemas checked in are what the types make of them. `PURLIN_BLESS=1 cargo test` writes them anew.

use serde_json::Value;
use std::path::Path;

fn holds(file: &str, generated: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(file);
    let text = format!("{generated:#}\n");
    if std::env::var_os("PURLIN_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap();
    assert!(there == text, "schemas/{file} is out of date; run: PURLIN_BLESS=1 cargo test --test schemas");
}

#[test]
fn the_spec_schema_is_what_the_types_make() {
    holds("nodespec.json", &purlin::spec::generate_schema());
}

#[test]
fn the_part_schema_is_what_the_types_make() {
    holds("nodepart.json", &purlin::spec::generate_part());
    let schema = jsonschema::draft202012::new(&purlin::spec::generate_part()).unwrap();
    let part = |spec: Value| serde_json::json!({"apiVersion": "purlin.dev/v1alpha1", "kind": "NodePart", "spec": spec});
    let mtu = serde_json::json!({"networks": {"pods": {"bridge": {"mtu": 9000}}}});
    assert!(schema.is_valid(&part(mtu.clone())));
    assert!(schema.is_valid(&part(serde_json::json!({"defaults": mtu}))));
    let wrong = serde_json::json!({"defaults": {"networks": {"pods": {"bridge": {"mut": 9000}}}}});
    assert!(!schema.is_valid(&part(wrong)));
}

#[test]
fn the_facts_schema_is_what_the_types_make() {
    holds("facts.json", &purlin::spec::generate_facts());
}

/// Every schema within one, with the place that it stands at.
fn parts<'a>(schema: &'a Value, at: &str, visit: &mut impl FnMut(&'a Value, &str)) {
    visit(schema, at);
    let below = |keyword: &str| schema.get(keyword).filter(|v| v.is_object());
    for keyword in ["properties", "$defs"] {
        for (name, part) in below(keyword).and_then(Value::as_object).into_iter().flatten() {
            parts(part, &format!("{at}/{keyword}/{name}"), visit);
        }
    }
    for keyword in ["additionalProperties", "items"] {
        if let Some(part) = below(keyword) {
            parts(part, &format!("{at}/{keyword}"), visit);
        }
    }
    for (index, part) in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().enumerate() {
        parts(part, &format!("{at}/anyOf/{index}"), visit);
    }
}

#[test]
fn every_example_of_the_spec_schema_fits_where_it_stands() {
    let schema = purlin::spec::generate_schema();
    parts(&schema, "", &mut |part, at| {
        for example in part.get("examples").and_then(Value::as_array).into_iter().flatten() {
            let mut alone = part.clone();
            alone["$defs"] = schema["$defs"].clone();
            let mut options = jsonschema::draft202012::options().should_validate_formats(true);
            for (name, check) in purlin::spec::FORMATS.0 {
                options = options.with_format(*name, move |text: &str| check(text).is_ok());
            }
            let validator = options.build(&alone).unwrap();
            let wrong: Vec<_> = validator.iter_errors(example).map(|e| e.to_string()).collect();
            assert!(wrong.is_empty(), "{at}: {example}: {wrong:?}");
        }
    });
}

/// A number or text whose form is not listed in words is shown by example, in the field itself or its list or map.
#[test]
fn what_a_field_takes_is_shown() {
    let schema = purlin::spec::generate_schema();
    let mut shown = Vec::new();
    parts(&schema, "", &mut |part, at| {
        if part.get("examples").is_some() {
            shown.push(at.to_owned());
        }
    });
    let mut bare = Vec::new();
    parts(&schema, "", &mut |part, at| {
        let known = part.get("type").is_none_or(|t| t == "boolean" || t == "object" || t == "array");
        let around = at.strip_suffix("/items").or_else(|| at.strip_suffix("/additionalProperties"));
        let seen = [Some(at), around].into_iter().flatten().any(|at| shown.iter().any(|s| s == at));
        if !known && part.get("enum").is_none() && !seen {
            bare.push(at.to_owned());
        }
    });
    assert_eq!(bare, Vec::<String>::new());
}

#[test]
fn what_is_planned_says_so_where_an_editor_shows_it() {
    let schema = purlin::spec::generate_schema();
    let mut count = 0;
    parts(&schema, "", &mut |part, at| {
        let text = part["description"].as_str().unwrap_or_default();
        if let Some(why) = part.get("x-purlin-planned").and_then(Value::as_str) {
            assert!(text.ends_with(&format!(" Not compiled yet: {why}.")), "{at}: {text}");
            count += 1;
        }
    });
    assert!(count > 10, "{count}");
    let says =
        |path: &str| schema.pointer(path).unwrap()["description"].as_str().unwrap().contains("Not compiled");
    // What only a planned part leads to, and what a compiled one leads to as well.
    assert!(says("/$defs/Kubelet/properties/maxPods") && says("/$defs/OnParent/properties/parent"));
    assert!(!says("/$defs/Handler/properties/binary") && !says("/$defs/Containerd"));
}

fn text(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The schemas that speak of findings carry theirs within them, so that each can be used without a second file.
#[test]
fn other_schemas_hold_the_one_of_findings() {
    for name in ["diff.json", "explain.json"] {
        assert_eq!(text(name)["$defs"]["Diagnostics"], text("diagnostics.json"), "{name}");
    }
}

/// Several diffs are a list of what one diff is.
#[test]
fn the_schema_of_diffs_holds_the_one_of_a_diff() {
    assert_eq!(text("diffs.json")["$defs"]["Diff"], text("diff.json"));
}

#[test]
fn the_schemas_of_documents_are_closed_and_say_what_each_field_is() {
    for name in ["diff.json", "diffs.json", "diagnostics.json", "explain.json"] {
        let schema = text(name);
        parts(&schema, "", &mut |part, at| {
            if part.get("type").is_some_and(|t| t == "object") {
                assert!(part.get("additionalProperties").is_some_and(|a| *a != true), "{name}{at} is open");
            }
            for (field, part) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let own = part.get("description");
                let target = part.get("$ref").and_then(Value::as_str).and_then(|r| schema.pointer(&r[1..]));
                let described = own.or_else(|| target.and_then(|t| t.get("description"))).is_some();
                // Within the diff's schema the references of the findings' begin at their own root; they are seen alone.
                let within = at.contains("/Diagnostics") || at.contains("/$defs/Diff");
                assert!(described || within, "{name}{at}: {field} is not described");
            }
        });
    }
}
