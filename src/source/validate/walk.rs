//! The walk over tree and schema for what JSON Schema cannot say: choices, planned parts, numbers.

use super::explain;
use super::place::Place;
use super::spelling::{Spelling, list};
use crate::diag::{Code, Diagnostic};
use crate::source::{Kind, Shape, Value};
use std::collections::BTreeSet;
use std::ptr::from_ref;

/// What the walk found.
#[derive(Default)]
pub struct Walk<'a> {
    pub found: Vec<Diagnostic>,
    /// Values about which all is said.
    pub settled: BTreeSet<*const Value>,
    /// Values of planned fields: only unknown keys are findings in them.
    pub planned: BTreeSet<*const Value>,
    /// Objects that make none of a choice, and which group of choices it is.
    pub undecided: Vec<(Place<'a>, Vec<&'a str>)>,
}

pub fn run<'a>(root: &'a Value, shape: Shape<'a>, spelling: Spelling) -> Walk<'a> {
    let mut walk = Walk::default();
    walk.visit(&mut Place::root(root, shape), spelling);
    walk
}

impl<'a> Walk<'a> {
    fn visit(&mut self, place: &mut Place<'a>, spelling: Spelling) {
        let value = place.value();
        match &value.kind {
            Kind::Integer(_) | Kind::Float(_) => {
                if let Some(finding) = explain::number(place, spelling) {
                    self.found.push(finding);
                    self.settled.insert(from_ref(value));
                }
            }
            Kind::Mapping(entries) => {
                if let Some(shape) = place.shape() {
                    self.choices(place, shape, spelling);
                }
                for entry in entries {
                    place.push(place.entry(entry));
                    match place.shape().and_then(Shape::planned) {
                        Some(text) => self.is_planned(place, text, spelling),
                        None => self.visit(place, spelling),
                    }
                    place.pop();
                }
            }
            Kind::Sequence(items) => {
                for (at, item) in items.iter().enumerate() {
                    place.push(place.element(at, &item.value));
                    self.visit(place, spelling);
                    place.pop();
                }
            }
            Kind::Null | Kind::Bool(_) | Kind::String(_) => {}
        }
    }

    fn is_planned(&mut self, place: &Place<'a>, text: &str, spelling: Spelling) {
        self.planned.insert(from_ref(place.value()));
        self.found.push(
            Diagnostic::new(
                Code::PUR0108,
                format!("{} is not compiled by this version yet", place.title(spelling)),
            )
            .at(place.span(), "planned, not built")
            .note(text)
            .help("leave it out until a version of Purlin compiles it"),
        );
    }

    fn choices(&mut self, place: &Place<'a>, shape: Shape<'a>, spelling: Spelling) {
        for group in shape.one_of() {
            let given: Vec<_> =
                place.value().entries().iter().filter(|e| group.contains(&e.key.as_str())).collect();
            if given.is_empty() {
                self.undecided.push((place.clone(), group));
                continue;
            }
            let field = |key: &str| shape.property(key);
            // A planned choice is a finding of its own; with it mended, the choice is made.
            let compiled = given.into_iter().filter(|e| field(&e.key).and_then(Shape::planned).is_none());
            let compiled: Vec<_> = compiled.collect();
            let [first, rest @ ..] = compiled.as_slice() else { continue };
            if rest.is_empty() {
                continue;
            }
            let names: Vec<String> = compiled.iter().map(|e| spelling.field(&e.key, field(&e.key))).collect();
            let message = format!("{} takes only one of {}", place.title(spelling), list(&names, "and"));
            let mut finding =
                Diagnostic::new(Code::PUR0106, message).see(first.key_span, "one choice is made here");
            for entry in rest {
                finding = finding.at(entry.key_span, "another here");
            }
            self.found.push(finding.help("keep one of them"));
        }
    }
}
