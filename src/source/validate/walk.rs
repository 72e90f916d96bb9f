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

/// What stands for a planned choice: another that is made already, or those that can be made.
enum Instead {
    Chosen(String),
    Open(String),
}

fn instead(place: &Place<'_>, spelling: Spelling) -> Option<Instead> {
    let (entry, parent) = (place.holder()?, place.parent()?);
    let shape = parent.shape()?;
    let group = shape.one_of().into_iter().find(|g| g.contains(&entry.key.as_str()))?;
    let others = group.into_iter().filter_map(|key| Some((key, shape.property(key)?)));
    let others: Vec<_> = others.filter(|(_, field)| field.planned().is_none()).collect();
    let given = |key: &str| parent.value().entry(key).is_some();
    let named = |made: bool| -> Vec<String> {
        let some = others.iter().filter(|(key, _)| !made || given(key));
        some.map(|(key, field)| spelling.field(key, Some(*field))).collect()
    };
    let (made, open) = (named(true), named(false));
    match (made.as_slice(), open.as_slice()) {
        ([], []) => None,
        ([], open) => Some(Instead::Open(list(open, "or"))),
        (made, _) => Some(Instead::Chosen(list(made, "or"))),
    }
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
        let until = "until a version of Purlin compiles it";
        let help = match instead(place, spelling) {
            Some(Instead::Chosen(names)) => format!("leave it out {until}: {names} is the choice made here"),
            Some(Instead::Open(names)) => format!("use {names} in its place {until}"),
            None => format!("leave it out, with all that cannot do without it, {until}"),
        };
        self.found.push(
            Diagnostic::new(
                Code::PUR0108,
                format!("{} is not compiled by this version yet", place.title(spelling)),
            )
            .at(place.span(), "planned, not built")
            .note(text)
            .help(help),
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
