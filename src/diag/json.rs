//! Findings as versioned JSON, for programs. The shape is promised by schemas/diagnostics.json.
//!
//! Lines and columns count from 1, columns in characters; bytes count from 0 into the file as it is on disk.

use super::{Diagnostic, Severity, Sources, Span};
use serde::Serialize;

/// The schema of the document, as `purlin schema diagnostics` prints it.
pub const SCHEMA_TEXT: &str = include_str!("../../schemas/diagnostics.json");

/// The version of the shape; another shape gets another word.
pub const VERSION: &str = "purlin.dev/diagnostics/v1alpha1";

#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    diagnostics: Vec<Finding<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Finding<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    labels: Vec<Place<'a>>,
    notes: &'a [String],
    help: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Change<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    #[serde(flatten)]
    range: Range<'a>,
    message: &'a str,
    primary: bool,
}

#[derive(Serialize)]
struct Change<'a> {
    #[serde(flatten)]
    range: Range<'a>,
    replacement: &'a str,
    message: &'a str,
    certain: bool,
}

#[derive(Serialize)]
struct Range<'a> {
    file: &'a str,
    start: Point,
    end: Point,
}

#[derive(Serialize)]
struct Point {
    line: usize,
    column: usize,
    byte: u32,
}

#[derive(Serialize)]
struct Summary {
    errors: usize,
    warnings: usize,
    silenced: usize,
}

/// The findings as one JSON value; what comments have silenced is only counted. `check` adds `unproven` and `cutShort`,
/// which the schema knows as well.
#[must_use]
pub fn render(diagnostics: &[Diagnostic], silenced: usize, sources: &Sources) -> serde_json::Value {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let report = Report {
        version: VERSION,
        diagnostics: diagnostics.iter().map(|d| finding(d, sources)).collect(),
        summary: Summary { errors: count(Severity::Error), warnings: count(Severity::Warning), silenced },
    };
    // Serialising fails only for maps with keys that are no strings and for failing `Serialize` impls; there are none.
    serde_json::to_value(report).unwrap_or_default()
}

fn finding<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Finding<'a> {
    Finding {
        code: diagnostic.code.name(),
        severity: diagnostic.severity.word(),
        message: &diagnostic.message,
        labels: diagnostic
            .labels
            .iter()
            .map(|l| Place { range: range(l.span, sources), message: &l.message, primary: l.primary })
            .collect(),
        notes: &diagnostic.notes,
        help: &diagnostic.help,
        fix: diagnostic.fix.as_ref().map(|f| Change {
            range: range(f.span, sources),
            replacement: &f.replacement,
            message: &f.message,
            certain: f.certain,
        }),
    }
}

fn range(span: Span, sources: &Sources) -> Range<'_> {
    Range {
        file: sources.name(span.file),
        start: point(span, span.start, sources),
        end: point(span, span.end, sources),
    }
}

fn point(span: Span, at: u32, sources: &Sources) -> Point {
    let position = sources.position(Span { start: at, end: at, ..span });
    Point { line: position.line, column: position.column, byte: at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Code, FileId};
    use serde_json::json;

    fn sample() -> serde_json::Value {
        let mut sources = Sources::default();
        let file = sources.add("a.yaml", "é: 1\nbrigde: {}\n");
        let at = Span::new(file, 6, 12);
        let one = Diagnostic::new(Code::PUR0101, "there is no `brigde`")
            .at(at, "unknown key")
            .see(Span::new(file, 0, 2), "after this")
            .note("n")
            .help("h")
            .fix(at, "bridge", "did you mean `bridge`?");
        render(&[one, Diagnostic::new(Code::PUR0203, "no default")], 1, &sources)
    }

    #[test]
    fn says_all_that_a_finding_holds() {
        let at = json!({"line": 2, "column": 1, "byte": 6});
        let to = json!({"line": 2, "column": 7, "byte": 12});
        let first = json!({
            "code": "PUR0101", "severity": "error", "message": "there is no `brigde`",
            "labels": [
                {"file": "a.yaml", "start": at, "end": to, "message": "unknown key", "primary": true},
                {"file": "a.yaml", "start": {"line": 1, "column": 1, "byte": 0},
                 "end": {"line": 1, "column": 2, "byte": 2}, "message": "after this", "primary": false},
            ],
            "notes": ["n"], "help": ["h"],
            "fix": {"file": "a.yaml", "start": at, "end": to, "replacement": "bridge",
                    "message": "did you mean `bridge`?", "certain": true},
        });
        let second = json!({
            "code": "PUR0203", "severity": "warning", "message": "no default", "labels": [], "notes": [], "help": [],
        });
        let want = json!({
            "version": VERSION, "diagnostics": [first, second], "summary": {"errors": 1, "warnings": 1, "silenced": 1},
        });
        assert_eq!(sample(), want);
    }

    #[test]
    fn keeps_what_its_schema_promises() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA_TEXT).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let errors =
            |json: &serde_json::Value| validator.iter_errors(json).map(|e| e.to_string()).collect::<Vec<_>>();
        assert_eq!(errors(&sample()), Vec::<String>::new());
        assert_eq!(errors(&render(&[], 0, &Sources::default())), Vec::<String>::new());
        // The schema is closed: a field that it does not promise is seen.
        let mut more = sample();
        more["diagnostics"][0]["more"] = json!(1);
        assert_eq!(errors(&more).len(), 1);
        more = sample();
        more["diagnostics"][0]["labels"][0]["start"]["line"] = json!(0);
        assert_eq!(errors(&more).len(), 1);
    }

    #[test]
    fn a_span_into_no_text_is_no_panic() {
        let nowhere = Span { file: FileId(9), start: 7, end: 3 };
        let json = render(&[Diagnostic::new(Code::PUR0001, "m").at(nowhere, "")], 0, &Sources::default());
        assert_eq!(json["diagnostics"][0]["labels"][0]["start"], json!({"line": 1, "column": 1, "byte": 7}));
    }
}
