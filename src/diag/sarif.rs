//! Findings as SARIF 2.1.0, for code scanning. Written by hand: what is needed of the format is small.
//!
//! Columns and their ends are in UTF-16 code units, as `columnKind` says; the other formats count characters. Braces in
//! messages are not doubled (section 3.11.5 asks that where a message has arguments; no viewer does otherwise).

use super::report::{CUT_SHORT, Report, ends, plain_name, told};
use super::{Code, Diagnostic, Fix, Severity, Span, visible_text};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What stands in a path as it is (RFC 3986, `unreserved` and the slash).
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The run as one SARIF log.
#[must_use]
pub fn render(report: &Report<'_>) -> Json {
    let codes: Vec<Code> =
        report.settled.list.iter().map(|d| d.code).collect::<BTreeSet<_>>().into_iter().collect();
    let rules: Vec<Json> = codes.iter().map(|code| rule(*code)).collect();
    let results: Vec<Json> = report.settled.list.iter().map(|d| result(d, &codes, report)).collect();
    let notify =
        |level: &str, text: &str| json!({ "level": level, "message": { "text": visible_text(text) } });
    let failed = report.failures.iter().map(|(_, why)| notify("error", why));
    let more = report.settled.cut_short.then(|| notify("note", CUT_SHORT));
    let notifications: Vec<Json> = failed.chain(more).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "purlin",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": "https://purlin.dev/",
                "rules": rules,
            } },
            "columnKind": "utf16CodeUnits",
            "invocations": [{
                "executionSuccessful": report.failures.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn rule(code: Code) -> Json {
    // The first line is the title, and the examples begin with the first heading below it.
    let page = code.page();
    let prose = page.split_once('\n').map_or("", |(_, rest)| rest.split("\n## ").next().unwrap_or(rest));
    json!({
        "id": code.name(),
        "shortDescription": { "text": code.title() },
        "fullDescription": { "text": prose.trim() },
        "help": { "text": page, "markdown": page },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn result(diagnostic: &Diagnostic, codes: &[Code], report: &Report<'_>) -> Json {
    let mut text = visible_text(&told(diagnostic, report.sources));
    // A link of ours there is none; one that someone wrote into a name is text.
    if text.contains("](") {
        text = text.replace('[', "\\[").replace(']', "\\]");
    }
    let mut result = json!({
        "ruleId": diagnostic.code.name(),
        "ruleIndex": codes.iter().position(|c| *c == diagnostic.code).unwrap_or_default(),
        "level": level(diagnostic.severity),
        "message": { "text": text },
    });
    let Some(object) = result.as_object_mut() else { return result };
    if let Some(span) = diagnostic.span() {
        object.insert("locations".into(), json!([{ "physicalLocation": place(span, report) }]));
        let others = diagnostic.labels.iter().filter(|l| l.span != span);
        let related: Vec<Json> = others
            .zip(1..)
            .map(|(label, id)| {
                let mut location = json!({ "id": id, "physicalLocation": place(label.span, report) });
                if !label.message.is_empty() {
                    location["message"] = json!({ "text": visible_text(&label.message) });
                }
                location
            })
            .collect();
        if !related.is_empty() {
            object.insert("relatedLocations".into(), related.into());
        }
    }
    if let Some(fix) = diagnostic.fix.as_ref().filter(|fix| fix.certain) {
        object.insert("fixes".into(), json!([change(fix, report)]));
    }
    result
}

fn place(span: Span, report: &Report<'_>) -> Json {
    json!({ "artifactLocation": artifact(span, report), "region": region(span, report) })
}

fn artifact(span: Span, report: &Report<'_>) -> Json {
    json!({ "uri": uri(report.sources.name(span.file)) })
}

/// Relative to where purlin ran, as code scanning wants it; a whole path is a URI of its own.
fn uri(name: &str) -> String {
    let path = utf8_percent_encode(plain_name(name), PATH);
    if name.starts_with('/') { format!("file://{path}") } else { path.to_string() }
}

fn region(span: Span, report: &Report<'_>) -> Json {
    let [start, end] = ends(span).map(|s| report.sources.position_utf16(s));
    json!({ "startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column })
}

fn change(fix: &Fix, report: &Report<'_>) -> Json {
    json!({
        "description": { "text": visible_text(&fix.message) },
        "artifactChanges": [{
            "artifactLocation": artifact(fix.span, report),
            "replacements": [{
                "deletedRegion": region(fix.span, report),
                "insertedContent": { "text": fix.replacement },
            }],
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::super::report::sample;
    use super::*;

    #[test]
    fn columns_are_in_utf16_and_names_are_uris() {
        let run = sample::run();
        let report = run.report("");
        let log = render(&report);
        let results = &log["runs"][0]["results"];
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["region"], json!({"startLine": 1, "startColumn": 9, "endLine": 1, "endColumn": 15}));
        assert_eq!(
            place["artifactLocation"]["uri"],
            "odd/a%2C%20b%3A100%25%3C%26%3E%1B%EF%BF%BE%22%5D%0A.kdl"
        );
        assert_eq!(
            results[0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///srv/%E5%90%8D.yaml"
        );
        let text = results[0]["message"]["text"].as_str().unwrap();
        assert!(text.contains("\\[x\\](http") && !text.contains('\u{0}'), "{text}");
        assert_eq!(
            results[0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"],
            "bridge"
        );
        // A change that is only likely is nobody's to make.
        assert!(results[1].get("fixes").is_none() && results[3].get("locations").is_none());
        assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        for result in results.as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
    }
}
