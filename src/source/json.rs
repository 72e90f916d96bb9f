//! JSON to tree. Also reads the JSON that stands inside a KDL string.
//!
//! Strict JSON (RFC 8259): no comments, no trailing commas. Only the syntax is known here.

use super::doc::{Comments, Doc, Entry, Item, Kind, Value};
use super::limits::{Limits, after_mark};
use super::scalar;
use crate::diag::{Code, Diagnostic, FileId, Findings, Span};
use jsonc_parser::ast;
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::ParseErrorKind as Mistake;
use jsonc_parser::{CollectOptions, ParseOptions, ParseStringErrorKind as StringMistake, parse_to_ast};
use std::collections::BTreeMap;

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads a file that [`Limits`] admitted.
pub fn parse(text: &str, file: FileId, findings: &mut Findings) -> Option<Doc> {
    let base = after_mark(text);
    let place = |start, end| Span::new(file, base + start, base + end);
    let root = value(&text[base..], &place, findings)?;
    Some(Doc { root, trailing: Vec::new() })
}

/// Reads JSON that stands within another text; `place` says where its bytes are there.
pub fn embedded(
    text: &str,
    place: &dyn Fn(usize, usize) -> Span,
    limits: &Limits,
    findings: &mut Findings,
) -> Option<Value> {
    if let Some(beyond) = limits.json(text) {
        findings.push(beyond.finding(place(beyond.at, beyond.at + 1)));
        return None;
    }
    value(text, place, findings)
}

fn value(text: &str, place: &dyn Fn(usize, usize) -> Span, findings: &mut Findings) -> Option<Value> {
    match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Ok(parsed) => {
            let Some(root) = parsed.value else {
                findings.push(
                    Diagnostic::new(Code::PUR0001, "there is no JSON value")
                        .at(place(0, text.len()), "nothing but spaces")
                        .help("write an object: `{}`"),
                );
                return None;
            };
            Lower { place, findings }.value(&root)
        }
        Err(error) => {
            let Range { start, end } = error.range();
            let next = text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
            let zero =
                text[..start].ends_with('0') && text[start..].starts_with(|c: char| c.is_ascii_digit());
            let (message, help) = match error.kind() {
                Mistake::ExpectedComma if zero => {
                    ("a number begins with a zero", "leave the zero out, or put the digits in quotes")
                }
                kind => words(kind),
            };
            findings.push(
                Diagnostic::new(Code::PUR0001, message).at(place(start, end.max(next)), "here").help(help),
            );
            None
        }
    }
}

struct Lower<'a> {
    place: &'a dyn Fn(usize, usize) -> Span,
    findings: &'a mut Findings,
}

impl Lower<'_> {
    fn span(&self, of: &impl Ranged) -> Span {
        let Range { start, end } = of.range();
        (self.place)(start, end)
    }

    /// Recurses as deep as the limits admit.
    fn value(&mut self, of: &ast::Value<'_>) -> Option<Value> {
        let span = self.span(of);
        let kind = match of {
            ast::Value::NullKeyword(_) => {
                self.findings.push(scalar::null(span));
                return None;
            }
            ast::Value::BooleanLit(b) => Kind::Bool(b.value),
            ast::Value::StringLit(s) => Kind::String(s.value.clone().into_owned()),
            ast::Value::NumberLit(n) => scalar::decimal(n.value, span, self.findings),
            ast::Value::Array(array) => Kind::Sequence(
                array
                    .elements
                    .iter()
                    .filter_map(|v| Some(Item { value: self.value(v)?, comments: Comments::default() }))
                    .collect(),
            ),
            ast::Value::Object(object) => Kind::Mapping(self.object(object)),
        };
        Some(Value { span, kind })
    }

    fn object(&mut self, object: &ast::Object<'_>) -> Vec<Entry> {
        let mut first: BTreeMap<String, Span> = BTreeMap::new();
        let mut entries = Vec::new();
        for property in &object.properties {
            let (key, key_span) = (property.name.as_str().to_owned(), self.span(&property.name));
            if let Some(before) = first.get(&key) {
                self.findings.push(scalar::repeated(&key, *before, key_span));
                continue;
            }
            first.insert(key.clone(), key_span);
            if let Some(value) = self.value(&property.value) {
                entries.push(Entry { key, key_span, value, comments: Comments::default() });
            }
        }
        entries
    }
}

fn words(mistake: &Mistake) -> (&'static str, &'static str) {
    match mistake {
        Mistake::CommentsNotAllowed | Mistake::UnterminatedCommentBlock => {
            ("JSON has no comments", "remove it, or write the spec in KDL or YAML")
        }
        Mistake::ExpectedColonAfterObjectKey => {
            ("a key is not followed by a colon", "write `\"key\": value`")
        }
        Mistake::ExpectedObjectValue => ("a key has no value", "write a value after the colon"),
        Mistake::ExpectedComma => ("a comma is missing", "separate the values with `,`"),
        Mistake::TrailingCommasNotAllowed => ("a comma stands after the last value", "remove the comma"),
        Mistake::UnexpectedComma => {
            ("a comma stands where a value is expected", "remove it, or write a value")
        }
        Mistake::UnexpectedColon => {
            ("a colon stands where a value is expected", "remove it, or write a value")
        }
        Mistake::SingleQuotedStringsNotAllowed => ("a string stands in single quotes", "use double quotes"),
        Mistake::ExpectedStringObjectProperty => ("a key is not a string", "write the key in double quotes"),
        Mistake::UnexpectedWord | Mistake::UnexpectedToken => {
            ("this is no JSON value", "write a string in double quotes, a number, `true` or `false`")
        }
        Mistake::UnexpectedTokenInObject => {
            ("this is no key of a JSON object", "write `\"key\": value`, with the key in double quotes")
        }
        Mistake::UnexpectedCloseBrace => ("a `}` closes an object that was never opened", "remove it"),
        Mistake::UnexpectedCloseBracket => ("a `]` closes a list that was never opened", "remove it"),
        Mistake::UnterminatedArray => ("a list is never closed", "close it with `]`"),
        Mistake::UnterminatedObject => ("an object is never closed", "close it with `}`"),
        Mistake::MultipleRootJsonValues => ("something stands after the end of the JSON value", "remove it"),
        Mistake::String(StringMistake::UnterminatedStringLiteral) => (
            "a string is never closed",
            "close it with `\"` on the same line; a line break in it is written `\\n`",
        ),
        Mistake::String(_) => (
            "a string holds an escape that JSON does not know",
            "known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
        ),
        Mistake::BareDecimalPointNumbersNotAllowed
        | Mistake::ExpectedDigit
        | Mistake::ExpectedDigitFollowingNegativeSign
        | Mistake::ExpectedPlusMinusOrDigitInNumberLiteral
        | Mistake::HexadecimalNumbersNotAllowed
        | Mistake::NonFiniteNumbersNotAllowed
        | Mistake::UnaryPlusNumbersNotAllowed => {
            ("this is no JSON number", "write it in decimal digits: `12`, `-0.5`, `2e3`")
        }
        Mistake::NestingDepthExceeded => ("brackets nest too deep", "reduce the nesting"),
    }
}
