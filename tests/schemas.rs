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
fn the_facts_schema_is_what_the_types_make() {
    holds("facts.json", &purlin::spec::generate_facts());
}
