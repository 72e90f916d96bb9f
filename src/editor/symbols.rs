//! A text's outline: its sections and the names in them.

use super::spots::{Role, Spot};
use std::ops::Range;

/// A section or a name, with those in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    /// A section, rather than a name.
    pub section: bool,
    /// From its name to the end of the last name in it.
    pub span: Range<usize>,
    pub name_span: Range<usize>,
    pub children: Vec<Self>,
}

/// The symbols of a text. Recurses as deep as names stand in names.
#[must_use]
pub fn symbols(spots: &[Spot<'_>]) -> Vec<Symbol> {
    let told: Vec<&Spot<'_>> = spots.iter().filter(|spot| is_section(spot) || is_name(spot)).collect();
    nest(&told)
}

fn is_section(spot: &Spot<'_>) -> bool {
    spot.role == Role::Key && spot.shape.keyword("x-purlin-section").is_some()
}

fn is_name(spot: &Spot<'_>) -> bool {
    matches!(spot.role, Role::Name(_)) && spot.shape.is_struct()
}

fn nest(spots: &[&Spot<'_>]) -> Vec<Symbol> {
    let mut found = Vec::new();
    let mut rest = spots;
    while let Some((first, more)) = rest.split_first() {
        let inside = more
            .iter()
            .take_while(|s| s.path.len() > first.path.len() && s.path.starts_with(&first.path))
            .count();
        let children = nest(&more[..inside]);
        let end = children.last().map_or(first.span.end, |last| last.span.end);
        found.push(Symbol {
            name: first.text.clone(),
            section: is_section(first),
            span: first.span.start..end,
            name_span: first.span.clone(),
            children,
        });
        rest = &more[inside..];
    }
    found
}
