//! What a value is, in words that hold for every syntax.

use super::schema::Shape;

/// The type of a value with its bounds, words or form.
#[must_use]
pub fn in_words(shape: Shape<'_>) -> String {
    if shape.like().is_some() {
        return "a block of the fields of a spec, none of them required".to_owned();
    }
    if shape.is_json() {
        return "free-form JSON (in KDL, JSON in a string)".to_owned();
    }
    if let Some(member) = shape.map_value() {
        let name = shape.names().map_or_else(|| "a name".to_owned(), in_words);
        return format!("a collection by name, each {}; the name is {name}", in_words(member));
    }
    if let Some(item) = shape.item() {
        let least = shape.keyword("minItems").map(|n| format!(", at least {n} of them"));
        return format!("a list, each {}{}", in_words(item), least.unwrap_or_default());
    }
    if shape.is_struct() {
        return "a block of fields".to_owned();
    }
    let words = shape.words();
    if let Some((last, rest)) = words.split_last() {
        let rest: Vec<String> = rest.iter().map(|w| format!("`{w}`")).collect();
        return match rest.is_empty() {
            true => format!("the word `{last}`"),
            false => format!("one of the words {} and `{last}`", rest.join(", ")),
        };
    }
    if shape.has_type("boolean") {
        return "`true` or `false` (in KDL `#true` or `#false`)".to_owned();
    }
    if shape.has_type("integer") || shape.has_type("number") {
        return number(shape);
    }
    shape.form().map_or_else(|| "text".to_owned(), clause)
}

fn number(shape: Shape<'_>) -> String {
    let bound = |keyword| shape.keyword(keyword).map(ToString::to_string);
    let kind = match (shape.has_type("string"), shape.has_type("integer")) {
        (true, true) => "a whole number or text",
        (true, false) => "a number or text",
        (false, true) => "a whole number",
        (false, false) => "a number",
    };
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!("{kind} from {least} to {most}"),
        (Some(least), None) => format!("{kind}, at least {least}"),
        (None, Some(most)) => format!("{kind}, at most {most}"),
        (None, None) => kind.to_owned(),
    }
}

/// A sentence as a part of another one.
fn clause(sentence: &str) -> String {
    let text = sentence.trim_end_matches('.');
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
