//! What a thing is, in Markdown.

use super::spots::{Role, Spot, at};
use super::yaml;
use crate::diag::{Code, Diagnostic, FileId};
use crate::source::{Schema, Shape, Syntax, values_of};
use std::ops::Range;

/// The place that a hover is about, and what is said of it: what the schema says, and what the codes of the findings there
/// mean.
#[must_use]
pub fn hover(
    text: &str,
    offset: usize,
    syntax: Syntax,
    schema: &Schema,
    spots: &[Spot<'_>],
    findings: &[(FileId, &Diagnostic)],
) -> Option<(Range<usize>, String)> {
    let told = spot(text, offset, syntax, schema, spots);
    let mut codes: Vec<(Range<usize>, Code)> = Vec::new();
    for (file, finding) in findings {
        let spans =
            finding.labels.iter().filter(|l| l.primary && l.span.file == *file).map(|l| l.span.range());
        let mut around = spans.filter(|span| span.start <= offset && offset <= span.end);
        if let Some(span) = around.next()
            && codes.iter().all(|(_, code)| *code != finding.code)
        {
            codes.push((span, finding.code));
        }
    }
    let range =
        told.as_ref().map(|(range, _)| range.clone()).or_else(|| codes.first().map(|(r, _)| r.clone()))?;
    let mut parts: Vec<String> = told.into_iter().map(|(_, text)| text).collect();
    parts.extend(
        codes
            .into_iter()
            .map(|(_, code)| format!("**{code}**: {}\n\n{}", code.title(), first_paragraph(code))),
    );
    Some((range, parts.join("\n\n---\n\n")))
}

fn spot(
    text: &str,
    offset: usize,
    syntax: Syntax,
    schema: &Schema,
    spots: &[Spot<'_>],
) -> Option<(Range<usize>, String)> {
    if let Some(spot) = at(spots, offset) {
        let words = match &spot.role {
            Role::Key => titled(&spot.text, spot.shape, syntax),
            Role::Name(_) => described(&format!("`{}`", spot.text), spot.shape, syntax),
            Role::Value => value(&spot.text, spot.shape),
        };
        return Some((spot.span.clone(), words)).filter(|(_, words)| !words.is_empty());
    }
    if syntax == Syntax::Kdl || !spots.is_empty() {
        return None;
    }
    // The text does not parse.
    let (range, says) = yaml::word_at(text, offset, schema)?;
    let word = text.get(range.clone())?;
    let words = if says.shape.words().contains(&word) {
        value(word, says.shape)
    } else {
        titled(word, says.shape, syntax)
    };
    Some((range, words))
}

fn titled(name: &str, shape: Shape<'_>, syntax: Syntax) -> String {
    described(&format!("**{name}**"), shape, syntax)
}

/// A title with the type and the first versions behind it, and what it is for below.
fn described(title: &str, shape: Shape<'_>, syntax: Syntax) -> String {
    let text = about(shape, syntax);
    let marks = marks(shape, syntax);
    let title = if marks.is_empty() { title.to_owned() } else { format!("{title}: {}", marks.join("; ")) };
    if text.is_empty() { title } else { format!("{title}\n\n{text}") }
}

fn marks(shape: Shape<'_>, syntax: Syntax) -> Vec<String> {
    let scalar = shape.is_scalar() || shape.is_json() || shape.item().is_some_and(Shape::is_scalar);
    let mut marks: Vec<String> = scalar.then(|| values_of(shape, syntax)).flatten().into_iter().collect();
    marks.extend(shape.since().iter().map(|(program, first)| format!("since {program} {first}")));
    marks
}

/// What a shape is for, and what its words mean.
pub fn about(shape: Shape<'_>, syntax: Syntax) -> String {
    let mut text = shape.description().unwrap_or_default().to_owned();
    let inner = shape.item().unwrap_or(shape);
    let meanings = inner.meanings();
    if !meanings.is_empty() {
        text.push('\n');
    }
    for (word, meaning) in meanings {
        text.push_str(&format!("\n- `{}`: {meaning}", syntax.string(word)));
    }
    text
}

fn value(word: &str, shape: Shape<'_>) -> String {
    match shape.meanings().get(word) {
        Some(meaning) => format!("`{word}`: {meaning}"),
        None => String::new(),
    }
}

/// What a code's page begins with.
fn first_paragraph(code: Code) -> String {
    let mut paragraphs = code.page().split("\n\n").map(str::trim);
    let first = paragraphs.find(|p| !p.is_empty() && !p.starts_with('#')).unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}
