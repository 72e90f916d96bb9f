//! Findings for GitHub Actions: workflow commands, which become annotations, and a summary of the step in Markdown.
//!
//! GitHub shows ten annotations of a kind per step, so the summary lists everything. Workflow commands are read from
//! the same stream as everything else: no text of the operator's may begin a line there.

use super::markdown::{Page, cell};
use super::report::{CUT_SHORT, Report, ends, plain_name, told};
use super::{Diagnostic, Severity, visible_line};

/// Annotations of one kind that GitHub shows per step.
const SHOWN: usize = 10;

/// One workflow command per finding.
#[must_use]
pub fn annotations(report: &Report<'_>) -> String {
    let mut out = String::new();
    for (_, why) in report.failures {
        out.push_str(&command("error", &[("title", "purlin".to_owned())], &visible_line(why)));
    }
    for diagnostic in &report.settled.list {
        out.push_str(&annotation(diagnostic, report));
    }
    let mut notices = Vec::new();
    if report.settled.cut_short {
        notices.push(CUT_SHORT.to_owned());
    }
    let failures = report.failures.len();
    for (n, what) in
        [(report.count(Severity::Error) + failures, "errors"), (report.count(Severity::Warning), "warnings")]
    {
        if n > SHOWN {
            notices
                .push(format!("GitHub shows {SHOWN} of the {n} {what}; the step's summary lists them all"));
        }
    }
    for notice in notices {
        out.push_str(&command("notice", &[("title", "purlin".to_owned())], &notice));
    }
    out
}

/// A line that is no finding, such as what would change in all.
#[must_use]
pub fn notice(text: &str) -> String {
    command("notice", &[("title", "purlin".to_owned())], &visible_line(text.trim_end()))
}

fn annotation(diagnostic: &Diagnostic, report: &Report<'_>) -> String {
    let kind = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut properties = Vec::new();
    if let Some(span) = diagnostic.span() {
        let [start, end] = ends(span).map(|s| report.sources.position(s));
        properties.push(("file", visible_line(plain_name(report.sources.name(span.file)))));
        properties.push(("line", start.line.to_string()));
        properties.push(("endLine", end.line.to_string()));
        // GitHub takes columns within one line only.
        if start.line == end.line {
            properties.push(("col", start.column.to_string()));
            properties.push(("endColumn", end.column.to_string()));
        }
    }
    properties.push(("title", diagnostic.code.name().to_owned()));
    command(kind, &properties, &told(diagnostic, report.sources))
}

fn command(kind: &str, properties: &[(&str, String)], message: &str) -> String {
    let list: Vec<String> =
        properties.iter().map(|(key, value)| format!("{key}={}", property(value))).collect();
    format!("::{kind} {}::{}\n", list.join(","), data(message))
}

/// As the runner undoes it: actions/runner, ActionCommand.cs.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The summary of a check, of at most so many bytes: a table of all findings, and what is unproven.
#[must_use]
pub fn summary(report: &Report<'_>, limit: usize) -> String {
    let mut page = Page::new(limit);
    let counted = report.counted();
    let counted = if counted.is_empty() { "nothing to say".to_owned() } else { counted };
    let specs = match report.specs.len() {
        1 => cell(plain_name(&report.specs[0])),
        n => format!("{n} specs"),
    };
    let unread = match report.failures.len() {
        0 => " checked".to_owned(),
        n => format!(", {n} of them not checked"),
    };
    page.push(&format!("### purlin {}: {counted}\n\n{specs}{unread}.\n", report.command));
    findings(&mut page, report);
    page.finish()
}

/// What was found, in a table, what could not be looked at, and what is unproven.
pub fn findings(page: &mut Page, report: &Report<'_>) {
    for (_, why) in report.failures {
        page.push(&format!("\n**error:** {}\n", cell(why)));
    }
    if !report.settled.list.is_empty() {
        page.push("\n| | code | place | what is wrong |\n|---|---|---|---|\n");
    }
    for diagnostic in &report.settled.list {
        let place = diagnostic.span().map_or_else(String::new, |span| {
            let position = report.sources.position(span);
            format!("{}:{}", cell(plain_name(report.sources.name(span.file))), position.line)
        });
        page.push(&format!(
            "| {} | {} | {place} | {} |\n",
            diagnostic.severity.word(),
            diagnostic.code,
            cell(&diagnostic.message)
        ));
    }
    if report.settled.cut_short {
        page.push(&format!("\n{CUT_SHORT}\n"));
    }
    if !report.unproven.is_empty() {
        let items: Vec<String> = report.unproven.iter().map(|line| format!("- {}\n", cell(line))).collect();
        page.push(&format!(
            "\n<details><summary>unproven ({})</summary>\n\n{}\n</details>\n",
            items.len(),
            items.concat()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::sample;
    use super::super::{Code, Settled, Sources};
    use super::*;

    fn report<'a>(specs: &'a [String], settled: &'a Settled, sources: &'a Sources) -> Report<'a> {
        Report { command: "check", specs, settled, sources, failures: &[], unproven: &[], output: "" }
    }

    #[test]
    fn a_finding_is_one_line_whatever_it_quotes() {
        let text = annotations(&sample::run().report(""));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert!(
            lines[1].starts_with(
                "::error file=odd/a%2C b%3A100%25<&>\\u{1b}\u{fffe}\"]\\u{a}.kdl,line=1,endLine=1,col=8,endColumn=14,\
                 title=PUR0101::no `brigde`"
            ),
            "{text}"
        );
        assert!(lines[1].contains("%0Ahelp: what: to write%0Ahelp: did you mean `bridge`?"), "{text}");
        assert!(lines[1].contains("100%25\\u{d}\\u{a}::warning::x"), "{text}");
        // Over several lines there are no columns; without a place there is no file.
        assert!(lines[2].contains("line=1,endLine=2,title=PUR0104::"), "{text}");
        assert!(lines[4].starts_with("::error title=PUR0003::placeless"), "{text}");
        assert!(lines.iter().all(|line| line.starts_with("::")), "{text}");
    }

    #[test]
    fn more_than_github_shows_is_told() {
        let list = vec![Diagnostic::new(Code::PUR0101, "m"); 11];
        let settled = Settled { list, ..Settled::default() };
        let text = annotations(&report(&[], &settled, &Sources::default()));
        assert!(
            text.ends_with("GitHub shows 10 of the 11 errors; the step's summary lists them all\n"),
            "{text}"
        );
    }

    #[test]
    fn a_summary_keeps_its_bound_and_says_that_it_was_cut() {
        let list = vec![Diagnostic::new(Code::PUR0101, "a message | of some length"); 1000];
        let settled = Settled { list, ..Settled::default() };
        let sources = Sources::default();
        let whole = summary(&report(&[], &settled, &sources), usize::MAX);
        assert!(!whole.contains("left out"));
        assert_eq!(whole.matches("PUR0101").count(), 1000);
        for limit in [0, 10, 500, 4096] {
            let cut = summary(&report(&[], &settled, &sources), limit);
            assert!(cut.len() <= limit.max(200), "{limit}: {}", cut.len());
            assert!(cut.ends_with("left out here\n") || limit < 200, "{cut}");
        }
    }
}
