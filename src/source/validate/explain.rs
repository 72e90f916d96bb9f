//! Findings about one value: of the wrong type, not of the form asked for, out of range, twice in a list.

use super::Formats;
use super::fit::{accepts, fitted, literal};
use super::keys::{first_sentence, sentence};
use super::place::Place;
use super::spelling::{Spelling, as_boolean, quote, some, strange};
use crate::diag::{Code, Diagnostic, Guess, Span, guess};
use crate::source::{Entry, FormatCheck, Kind, Shape, Syntax, Value};
use jsonschema::error::ValidationErrorKind as Error;
use serde_json::Value as Json;

/// Of several errors of one value only the least is told; the others mostly follow from it.
pub const fn rank(kind: &Error) -> u8 {
    match kind {
        Error::Type { .. } => 0,
        Error::FalseSchema => 1,
        Error::Enum { .. } | Error::Constant { .. } => 2,
        Error::MinLength { .. } | Error::MinItems { .. } | Error::MinProperties { .. } => 3,
        Error::Format { .. } => 4,
        Error::Pattern { .. } => 5,
        _ => 6,
    }
}

/// The finding for an error of a value.
pub fn value(place: &Place<'_>, kind: &Error, formats: Formats, spelling: Spelling) -> Diagnostic {
    match kind {
        Error::Type { .. } => wrong_type(place, formats, spelling),
        Error::UniqueItems => repeated(place, spelling),
        _ => {
            let subject = Subject {
                name: place.title(spelling),
                span: place.value().span,
                text: place.value().as_str(),
                shape: place.shape(),
                is_key: false,
            };
            subject.wrong_form(kind, place.value(), formats, spelling)
        }
    }
}

/// The finding for a name in a named collection that is not of the form that names have there.
pub fn name(place: &Place<'_>, name: &str, kind: &Error, formats: Formats, spelling: Spelling) -> Diagnostic {
    let entry = place.value().entry(name);
    let span = entry.map_or_else(|| place.span(), |e| e.key_span);
    let title = entry.map(|entry| {
        let mut member = place.clone();
        member.push(place.entry(entry));
        member.title(spelling)
    });
    let key = Value::new(span, Kind::String(name.to_owned()));
    let subject = Subject {
        name: title.unwrap_or_else(|| format!("the name {}", quote(name, spelling.0))),
        span,
        text: Some(name),
        shape: None,
        is_key: true,
    };
    subject.wrong_form(kind, &key, formats, spelling)
}

/// Numbers that JSON cannot hold, and whole numbers written as fractions: JSON Schema takes `1.0` for an integer, the
/// types behind the schema do not.
pub fn number(place: &Place<'_>, spelling: Spelling) -> Option<Diagnostic> {
    let shape = place.shape();
    let span = place.value().span;
    // Every number of every spec comes through here: a name is made only for those with a finding.
    let form = |what: &str| {
        Diagnostic::new(Code::PUR0104, format!("{} {what}", place.title(spelling))).at(span, "out of range")
    };
    match place.value().kind {
        Kind::Integer(number) => {
            let (least, most) = WIDEST;
            if (least..=most).contains(&number) {
                return None;
            }
            let (least, most) = bounds(shape);
            Some(
                form("is a number beyond 64 bits")
                    .help(format!("write a whole number from {least} to {most}")),
            )
        }
        Kind::Float(number) if !number.is_finite() => Some(
            form("is not a finite number").help("write a number that a computer's floating point can hold"),
        ),
        Kind::Float(number) => {
            let whole = shape.is_some_and(|s| s.has_type("integer") && !s.has_type("number"));
            (whole && number.fract() == 0.0 && number.abs() < 1e15).then(|| {
                let mut finding = wrong_type(place, Formats(&[]), spelling);
                finding.help.clear();
                finding.fix(span, format!("{number:.0}"), "write it without a fraction")
            })
        }
        _ => None,
    }
}

const WIDEST: (i128, i128) = (i64::MIN as i128, u64::MAX as i128);

/// The schema's own bounds, or what fits into 64 bits.
fn bounds(shape: Option<Shape<'_>>) -> (i128, i128) {
    let keyword = |name| shape.and_then(|s| s.keyword(name)).and_then(integer);
    (keyword("minimum").unwrap_or(WIDEST.0), keyword("maximum").unwrap_or(WIDEST.1))
}

fn integer(json: &Json) -> Option<i128> {
    json.as_i64().map(i128::from).or_else(|| json.as_u64().map(i128::from))
}

fn wanted(shape: Shape<'_>, spelling: Spelling) -> String {
    let mut types = Vec::new();
    for (name, words) in [
        ("string", "a string"),
        ("integer", "a whole number"),
        ("number", "a number"),
        ("boolean", "a boolean"),
        ("array", "a list"),
        ("object", spelling.mapping()),
    ] {
        if shape.has_type(name) {
            types.push(words);
        }
    }
    if types.is_empty() { "another type of value".to_owned() } else { types.join(" or ") }
}

fn wrong_type(place: &Place<'_>, formats: Formats, spelling: Spelling) -> Diagnostic {
    let title = place.title(spelling);
    let value = place.value();
    let Some(shape) = place.shape() else {
        return Diagnostic::new(Code::PUR0103, format!("{title} is of the wrong type"))
            .at(value.span, "this value")
            .help("`purlin schema` tells what stands here");
    };
    let wants = wanted(shape, spelling);
    let stands = if matches!(value.kind, Kind::Mapping(_)) { spelling.mapping() } else { value.type_name() };
    let finding = Diagnostic::new(Code::PUR0103, format!("{title} takes {wants}, not {stands}"))
        .at(place_of(place), format!("this is {stands}"));
    let finding = match first_sentence(shape) {
        Some(text) => finding.note(format!("{title}: {text}")),
        None => finding,
    };
    let finding = helped(finding, place, shape, formats, spelling);
    if !finding.help.is_empty() || finding.fix.is_some() {
        return finding;
    }
    match spelling.sample(shape, 0) {
        sample if sample.is_empty() => finding.help(format!("write {wants}")),
        sample => finding.help(format!("write {wants}, such as `{sample}`")),
    }
}

/// A whole block is not underlined for being of the wrong type; its beginning is.
fn place_of(place: &Place<'_>) -> Span {
    match place.value().kind {
        Kind::Mapping(_) | Kind::Sequence(_) | Kind::Null => place.span(),
        _ => place.value().span,
    }
}

/// Adds what to write instead.
fn helped(
    finding: Diagnostic,
    place: &Place<'_>,
    shape: Shape<'_>,
    formats: Formats,
    spelling: Spelling,
) -> Diagnostic {
    let span = place.value().span;
    if let Some(fit) = fitted(place.value(), shape, spelling) {
        let named = place.holder().map_or_else(|| fit.text.clone(), |e| set(&e.key, &fit.text, spelling));
        let order = if shape.map_value().is_some() {
            format!("the name is the key: write `{named}`")
        } else {
            format!("write `{named}`")
        };
        return if fit.whole {
            finding.fix(span, fit.text, order).certain(fit.certain)
        } else {
            finding.help(order)
        };
    }
    let yes_or_no = || format!("write `{}` or `{}`", spelling.boolean(true), spelling.boolean(false));
    match &place.value().kind {
        Kind::Null => {
            let absent = finding.help("an absent field is left out: take the key away");
            match place.holder() {
                Some(entry) if shape.has_type("boolean") => absent.help(format!(
                    "to switch it on, write `{}`",
                    set(entry.key.as_str(), spelling.boolean(true), spelling)
                )),
                Some(entry) if shape.is_struct() && shape.required().is_empty() && !spelling.is_kdl() => {
                    absent.help(format!(
                        "to have it with its defaults, write `{}`",
                        set(&entry.key, "{}", spelling)
                    ))
                }
                _ => absent,
            }
        }
        Kind::String(text) if shape.has_type("boolean") => match as_boolean(text) {
            Some(b) => finding.fix(span, spelling.boolean(b), format!("write `{}`", spelling.boolean(b))),
            None => finding.help(yes_or_no()),
        },
        Kind::Integer(n @ (0 | 1)) if shape.has_type("boolean") => {
            let word = spelling.boolean(*n == 1);
            finding.suggest(span, word, format!("write `{word}`"))
        }
        Kind::Integer(_) | Kind::Float(_) if shape.has_type("boolean") => finding.help(yes_or_no()),
        Kind::String(text) if shape.has_type("integer") || shape.has_type("number") => {
            let fits = text.parse::<i64>().is_ok()
                || (shape.has_type("number") && text.parse::<f64>().is_ok_and(f64::is_finite));
            // `007` and `+1` are read differently by different people: they get no fix.
            let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'))
                && !text.trim_start_matches('-').starts_with("00");
            if fits && plain {
                finding.fix(span, text.clone(), "write the number without quotes")
            } else {
                finding.help(format!("write a number, such as `{}`", spelling.sample(shape, 0)))
            }
        }
        Kind::Integer(_) | Kind::Float(_) | Kind::Bool(_) if shape.has_type("string") => {
            let words = shape.words();
            let written = as_written(place.value(), spelling);
            if !words.is_empty() && !written.as_deref().is_some_and(|w| words.contains(&w)) {
                let words: Vec<String> = words.iter().map(|w| spelling.string(w)).collect();
                let mut finding = finding.help(format!("write {}", some(&words, "or")));
                finding.notes.extend(meanings(shape));
                return finding;
            }
            let check = shape.format().and_then(|f| formats.get(f));
            let wrong = written.as_deref().and_then(|text| check?(text).err());
            if let Some((text, order)) = wrong.as_deref().and_then(|said| instead(said, check)) {
                return finding.suggest(span, quote(text, spelling.0), order);
            }
            match written {
                Some(text) => {
                    let quoted = quote(&text, spelling.0);
                    let order = format!("write it in quotes: `{quoted}`");
                    finding.fix(span, quoted, order)
                }
                None => finding.help("write it in quotes"),
            }
        }
        Kind::Mapping(entries) if shape.is_scalar() => too_much(finding, place, shape, entries, spelling),
        _ => finding,
    }
}

/// A mapping where a scalar is wanted: the scalar in it, and where the rest of it belongs.
fn too_much(
    mut finding: Diagnostic,
    place: &Place<'_>,
    shape: Shape<'_>,
    entries: &[Entry],
    spelling: Spelling,
) -> Diagnostic {
    let mut above = place.parent();
    let home = loop {
        match above {
            Some(place) if place.shape().is_some_and(Shape::is_struct) => break Some(place),
            Some(place) => above = place.parent(),
            None => break None,
        }
    };
    let (at_home, own): (Vec<&Entry>, Vec<&Entry>) = entries
        .iter()
        .partition(|e| home.as_ref().and_then(Place::shape).and_then(|s| s.property(&e.key)).is_some());
    if let [entry] = own.as_slice()
        && accepts(shape, &entry.value.kind)
        && let Some(text) = literal(&entry.value.kind, spelling)
    {
        let order = format!("write `{text}` alone");
        finding = match at_home.as_slice() {
            [] => finding.suggest(place.value().span, text, order),
            _ => finding.help(order),
        };
    }
    let title = home.map(|h| h.title(spelling)).unwrap_or_default();
    for entry in at_home {
        finding = finding.help(format!("`{}` belongs in {title}", spelling.key(&entry.key)));
    }
    finding
}

/// What a form's error says to write, if that is of the form indeed, and the whole of the advice.
fn instead(said: &str, check: Option<FormatCheck>) -> Option<(&str, &str)> {
    let (_, order) = said.split_once("; ")?;
    let text = order.strip_prefix("write `")?.split('`').next()?;
    check?(text).is_ok().then_some((text, order))
}

fn set(key: &str, value: &str, spelling: Spelling) -> String {
    match spelling.0 {
        Syntax::Kdl => format!("{} {value}", spelling.key(key)),
        Syntax::Yaml => format!("{key}: {value}"),
        Syntax::Json => format!("\"{key}\": {value}"),
    }
}

/// A number or boolean as the operator wrote it, when that is sure: `0755` and `1.10` are not what they are read as,
/// so a text of another length than the value's own is not trusted.
fn as_written(value: &Value, spelling: Spelling) -> Option<String> {
    let length = value.span.range().len();
    let texts = match &value.kind {
        Kind::Integer(n) => vec![n.to_string()],
        Kind::Float(f) => vec![f.to_string(), format!("{f:?}")],
        Kind::Bool(b) if spelling.boolean(*b).len() == length => return Some(b.to_string()),
        _ => vec![],
    };
    texts.into_iter().find(|t| t.len() == length)
}

fn repeated(place: &Place<'_>, spelling: Spelling) -> Diagnostic {
    let title = place.title(spelling);
    let items = place.value().items();
    let mut finding = Diagnostic::new(Code::PUR0102, format!("{title} has the same element twice"));
    let shown: Vec<Json> = items.iter().map(|i| i.value.to_json()).collect();
    for (at, item) in shown.iter().enumerate() {
        if let Some(before) = shown[..at].iter().position(|earlier| earlier == item) {
            finding =
                finding.at(items[at].value.span, "again here").see(items[before].value.span, "first here");
            break;
        }
    }
    if finding.labels.is_empty() {
        finding = finding.at(place.span(), "in this list");
    }
    finding.help("keep one of them")
}

/// What a finding about a form is about: a value, or a key.
struct Subject<'a> {
    name: String,
    span: Span,
    text: Option<&'a str>,
    shape: Option<Shape<'a>>,
    is_key: bool,
}

impl Subject<'_> {
    fn wrong_form(&self, kind: &Error, value: &Value, formats: Formats, spelling: Spelling) -> Diagnostic {
        let name = &self.name;
        let mut help = Vec::new();
        let mut noted = true;
        let mut better = None;
        let (message, label) = match kind {
            Error::Format { format } => {
                let check = formats.get(format);
                let said = self.text.and_then(|text| check?(text).err());
                let (what, order) = match said.as_deref().map(|s| s.split_once("; ").unwrap_or((s, ""))) {
                    Some((what, order)) => (what.to_owned(), order.to_owned()),
                    None => (format!("this is not of the form `{format}`"), String::new()),
                };
                better = said.as_deref().and_then(|s| instead(s, check)).map(|(text, _)| text.to_owned());
                help.extend((!order.is_empty()).then(|| self.own_example(&order).unwrap_or(order)));
                noted = said.is_none();
                (format!("{name}: {what}"), "not of the form asked for".to_owned())
            }
            Error::Pattern { pattern } => {
                (format!("{name} is not of the form asked for"), format!("does not match `{pattern}`"))
            }
            Error::Enum { options } => return self.not_a_word(options, spelling),
            Error::Constant { expected_value } => {
                return self.not_a_word(&Json::Array(vec![(**expected_value).clone()]), spelling);
            }
            Error::Minimum { .. }
            | Error::Maximum { .. }
            | Error::ExclusiveMinimum { .. }
            | Error::ExclusiveMaximum { .. } => {
                let (message, how) = self.out_of_range(kind, value);
                help.push(how);
                (message, "out of range".to_owned())
            }
            Error::MinLength { limit } => match self.text {
                Some("") => (format!("{name} is empty"), "nothing is written here".to_owned()),
                _ => (format!("{name} is shorter than {limit} characters"), "too short".to_owned()),
            },
            Error::MaxLength { limit } => {
                let length = self.text.map_or(0, |t| t.chars().count());
                (
                    format!("{name} has {length} characters, {limit} at most are allowed"),
                    "too long".to_owned(),
                )
            }
            Error::MinItems { limit } => (few(name, value.items().len(), *limit), "too few".to_owned()),
            Error::MinProperties { limit } => {
                (few(name, value.entries().len(), *limit), "too few".to_owned())
            }
            Error::MaxItems { limit } => (many(name, value.items().len(), *limit), "too many".to_owned()),
            Error::MaxProperties { limit } => {
                (many(name, value.entries().len(), *limit), "too many".to_owned())
            }
            Error::MultipleOf { multiple_of } => {
                (format!("{name} is no multiple of {multiple_of}"), "this number".to_owned())
            }
            other => (
                format!("{name} is not of the form asked for"),
                format!("does not satisfy `{}`", other.keyword()),
            ),
        };
        if help.is_empty() {
            help.push(self.remedy(kind, spelling));
        }
        let mut finding = Diagnostic::new(Code::PUR0104, message).at(self.span, label);
        match better {
            Some(better) => {
                let order = help.concat();
                // Only a letter's case makes no other name of it.
                let certain = self.text.is_some_and(|t| t.eq_ignore_ascii_case(&better));
                let text = self.written(&better, spelling);
                finding = finding.fix(self.span, text, order).certain(certain);
            }
            None => finding.help = help,
        }
        if let Some(text) = self.shape.filter(|_| noted).and_then(first_sentence) {
            finding = finding.note(format!("{name}: {text}"));
        }
        match self.text.and_then(strange) {
            Some(strange) => {
                let finding = finding.note(strange.message);
                let fits = |plain: &str| match kind {
                    Error::Format { format } => formats.get(format).is_some_and(|check| check(plain).is_ok()),
                    _ => false,
                };
                match strange.plain {
                    Some(plain) if fits(&plain) => finding.fix(
                        self.span,
                        self.written(&plain, spelling),
                        format!("write `{plain}` in ASCII letters"),
                    ),
                    _ => finding,
                }
            }
            None => finding,
        }
    }

    /// In place of a form's examples that of the field, where it has one of its own: a version of another program
    /// is of the right form, and of no use.
    fn own_example(&self, order: &str) -> Option<String> {
        let example = self.shape?.keyword("examples")?.get(0)?.as_str()?;
        let quoted = format!("`{example}`");
        (order.starts_with("write it like ") && !order.contains(&quoted))
            .then(|| format!("write it like {quoted}"))
    }

    /// What to write where the error itself does not tell.
    fn remedy(&self, kind: &Error, spelling: Spelling) -> String {
        match kind {
            Error::MinItems { .. } | Error::MinProperties { .. } => {
                format!("add what is missing, or leave {} out", self.name)
            }
            Error::Pattern { pattern } => format!("write what matches `{pattern}`"),
            Error::MaxItems { .. } | Error::MaxProperties { .. } => "take some away".to_owned(),
            Error::MinLength { limit } => format!("write {limit} characters or more"),
            Error::MaxLength { limit } => format!("write {limit} characters or fewer"),
            _ => match self.shape {
                Some(shape) => format!("write it like `{}`", spelling.sample(shape, 0)),
                None => "choose another".to_owned(),
            },
        }
    }

    fn written(&self, text: &str, spelling: Spelling) -> String {
        if self.is_key && spelling.0 != Syntax::Kdl {
            spelling.written_key(text)
        } else {
            spelling.string(text)
        }
    }

    fn not_a_word(&self, options: &Json, spelling: Spelling) -> Diagnostic {
        let words: Vec<String> = options
            .as_array()
            .into_iter()
            .flatten()
            .map(|o| o.as_str().map_or_else(|| o.to_string(), str::to_owned))
            .collect();
        let text = self.text.unwrap_or_default();
        if let Some(instead) = self.shape.and_then(|s| s.gone().get(text).copied()) {
            return Diagnostic::new(
                Code::PUR0109,
                format!("{} can no longer be {}", self.name, quote(text, spelling.0)),
            )
            .at(self.span, "no longer in use")
            .help(instead);
        }
        let message = match self.text {
            Some(text) => format!("{} cannot be {}", self.name, quote(text, spelling.0)),
            None => format!("{} is not one of the values that it can be", self.name),
        };
        let label =
            if words.len() == 1 { "another value is wanted" } else { "not one of the words that it can be" };
        let mut finding = Diagnostic::new(Code::PUR0104, message).at(self.span, label);
        finding.notes = self.words();
        let odd = strange(text);
        let plain = odd.as_ref().and_then(|s| s.plain.clone());
        if let Some(odd) = odd {
            finding = finding.note(odd.message);
        }
        let meant = guess(plain.as_deref().unwrap_or(text), words.iter().map(String::as_str));
        match meant.filter(|_| self.text.is_some()) {
            Some(Guess { word, certain }) => {
                let (new, order) = (self.written(word, spelling), format!("did you mean `{word}`?"));
                finding.fix(self.span, new, order).certain(certain)
            }
            None if words.len() == 1 => finding.help(format!("write {}", some(&words, "or"))),
            None => finding.help(format!("write one of {}", some(&words, "and"))),
        }
    }

    fn words(&self) -> Vec<String> {
        self.shape.map(meanings).unwrap_or_default()
    }

    fn out_of_range(&self, kind: &Error, value: &Value) -> (String, String) {
        let stands = match &value.kind {
            Kind::Integer(n) => n.to_string(),
            Kind::Float(f) => f.to_string(),
            _ => "this".to_owned(),
        };
        let side = match kind {
            Error::Minimum { limit } => format!("the least is {limit}"),
            Error::Maximum { limit } => format!("the most is {limit}"),
            Error::ExclusiveMinimum { limit } => format!("it must be above {limit}"),
            Error::ExclusiveMaximum { limit } => format!("it must be below {limit}"),
            _ => "out of range".to_owned(),
        };
        let keyword = |name| self.shape.and_then(|s| s.keyword(name));
        let low = keyword("minimum")
            .map(|n| format!("from {n}"))
            .or_else(|| keyword("exclusiveMinimum").map(|n| format!("above {n}")));
        let high = keyword("maximum")
            .map(|n| format!("up to {n}"))
            .or_else(|| keyword("exclusiveMaximum").map(|n| format!("below {n}")));
        let range: Vec<String> = low.into_iter().chain(high).collect();
        let kind = if self.shape.is_some_and(|s| s.has_type("integer")) { "whole number" } else { "number" };
        (format!("{} is {stands}, {side}", self.name), format!("write a {kind} {}", range.join(" ")))
    }
}

/// What the words of a shape mean, where the schema says so and it is short.
pub fn meanings(shape: Shape<'_>) -> Vec<String> {
    let meanings = shape.keyword("x-purlin-words").and_then(Json::as_object);
    meanings
        .filter(|m| m.len() <= 4)
        .into_iter()
        .flatten()
        .filter_map(|(word, text)| Some(format!("`{word}`: {}", sentence(text.as_str()?)?)))
        .collect()
}

fn few(name: &str, has: usize, limit: u64) -> String {
    match has {
        0 => format!("{name} is empty"),
        _ => format!("{name} has {has} elements, {limit} at least are needed"),
    }
}

fn many(name: &str, has: usize, limit: u64) -> String {
    format!("{name} has {has} elements, {limit} at most are allowed")
}
