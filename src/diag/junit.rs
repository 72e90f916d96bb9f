//! Findings as JUnit's XML, which many CI systems show as tests: a suite per file, a case for the file itself and one per
//! finding. Only an error fails; a warning is a case that passes and says something.

use super::report::{CUT_SHORT, Report, told};
use super::{Diagnostic, Severity, visible_line, visible_text};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

type Xml = Writer<Vec<u8>>;

/// The run as one document.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    // Writing to memory cannot fail, and all that is written is text.
    let _ = document(&mut xml, report);
    let mut text = String::from_utf8(xml.into_inner()).unwrap_or_default();
    text.push('\n');
    text
}

struct Suite<'a> {
    name: &'a str,
    findings: Vec<&'a Diagnostic>,
    /// Why it could not be looked at.
    failures: Vec<&'a str>,
    /// A spec that was named, and so has a case of its own.
    spec: bool,
}

impl Suite<'_> {
    fn tests(&self) -> usize {
        self.findings.len() + usize::from(self.spec)
    }

    fn failed(&self) -> usize {
        self.findings.iter().filter(|d| d.severity == Severity::Error).count()
    }

    fn errors(&self) -> usize {
        usize::from(!self.failures.is_empty())
    }

    fn counts(suites: &[Self]) -> [(&'static str, String); 3] {
        let sum = |of: fn(&Self) -> usize| suites.iter().map(of).sum::<usize>().to_string();
        [("tests", sum(Self::tests)), ("failures", sum(Self::failed)), ("errors", sum(Self::errors))]
    }
}

fn document(xml: &mut Xml, report: &Report<'_>) -> io::Result<()> {
    let suites: Vec<Suite<'_>> = report
        .files()
        .into_iter()
        .map(|(name, findings)| {
            let own = report.failures.iter().filter(|(spec, _)| spec == name);
            let failures: Vec<&str> = own.map(|(_, why)| why.as_str()).collect();
            let spec = report.specs.iter().any(|s| s == name) || !failures.is_empty();
            Suite { name, findings, failures, spec }
        })
        .collect();
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut root = xml.create_element("testsuites").with_attribute(("name", command(report).as_str()));
    for (key, value) in Suite::counts(&suites) {
        root = root.with_attribute((key, value.as_str()));
    }
    root.write_inner_content(|xml| suites.iter().try_for_each(|s| suite(xml, s, report)))?;
    Ok(())
}

fn command(report: &Report<'_>) -> String {
    format!("purlin {}", report.command)
}

fn suite(xml: &mut Xml, suite: &Suite<'_>, report: &Report<'_>) -> io::Result<()> {
    let name = line(if suite.name.is_empty() { "no file" } else { suite.name });
    let mut element = xml.create_element("testsuite").with_attribute(("name", name.as_str()));
    for (key, value) in Suite::counts(std::slice::from_ref(suite)) {
        element = element.with_attribute((key, value.as_str()));
    }
    element.write_inner_content(|xml| {
        if suite.spec {
            own_case(xml, suite, &name, report)?;
        }
        suite.findings.iter().try_for_each(|finding| case(xml, finding, &name, report))
    })?;
    Ok(())
}

/// The case of the spec itself, which is there when nothing is wrong with it, and fails only when it could not be read.
fn own_case(xml: &mut Xml, suite: &Suite<'_>, name: &str, report: &Report<'_>) -> io::Result<()> {
    let attributes = [("classname", name), ("name", &command(report))];
    let mut said = String::new();
    if report.settled.cut_short && suite.failed() > 0 {
        said = format!("{CUT_SHORT}\n");
    }
    said.push_str(report.output);
    let element = xml.create_element("testcase").with_attributes(attributes);
    if suite.failures.is_empty() && said.is_empty() {
        element.write_empty()?;
        return Ok(());
    }
    element.write_inner_content(|xml| {
        for why in &suite.failures {
            xml.create_element("error").with_attribute(("message", line(why).as_str())).write_empty()?;
        }
        if !said.is_empty() {
            let said = text(&said);
            xml.create_element("system-out").write_text_content(BytesText::new(&said))?;
        }
        Ok(())
    })?;
    Ok(())
}

fn case(xml: &mut Xml, finding: &Diagnostic, file: &str, report: &Report<'_>) -> io::Result<()> {
    let at = finding.span().map_or_else(String::new, |span| {
        let position = report.sources.position(span);
        format!(" at {}:{}", position.line, position.column)
    });
    let name = format!("{}{at}: {}", finding.code, line(&finding.message));
    let said = text(&told(finding, report.sources));
    let attributes = [("classname", file), ("name", name.as_str())];
    xml.create_element("testcase").with_attributes(attributes).write_inner_content(|xml| {
        let said = BytesText::new(&said);
        match finding.severity {
            Severity::Error => xml
                .create_element("failure")
                .with_attribute(("type", finding.code.name()))
                .with_attribute(("message", line(&finding.message).as_str()))
                .write_text_content(said)?,
            Severity::Warning => xml.create_element("system-out").write_text_content(said)?,
        };
        Ok(())
    })?;
    Ok(())
}

fn line(words: &str) -> String {
    lawful(&visible_line(words))
}

fn text(words: &str) -> String {
    lawful(&visible_text(words))
}

/// XML 1.0 has no place for two characters that no terminal minds, not even as references (section 2.2).
fn lawful(words: &str) -> String {
    words.replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

#[cfg(test)]
mod tests {
    use super::super::report::sample;
    use super::*;

    #[test]
    fn it_is_well_formed_and_says_what_it_counts() {
        let run = sample::run();
        let report = run.report("]]> <&> \u{1b}\u{ffff}\n");
        let document = render(&report);
        let lawful =
            |c: char| matches!(c, '\n' | '\t' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        assert!(document.chars().all(lawful), "{document:?}");
        let mut reader = quick_xml::Reader::from_str(&document);
        reader.config_mut().check_end_names = true;
        let (mut cases, mut failed, mut errors, mut open) = (0, 0, 0, 0);
        loop {
            match reader.read_event().unwrap() {
                Event::Start(tag) => {
                    open += 1;
                    cases += usize::from(tag.name().as_ref() == "testcase");
                    failed += usize::from(tag.name().as_ref() == "failure");
                    tag.attributes().for_each(|a| drop(a.unwrap()));
                }
                Event::Empty(tag) => {
                    cases += usize::from(tag.name().as_ref() == "testcase");
                    errors += usize::from(tag.name().as_ref() == "error");
                }
                Event::End(_) => open -= 1,
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!((cases, failed, errors, open), (7, 3, 1, 0), "{document}");
        let head = r#"<testsuites name="purlin check" tests="7" failures="3" errors="1">"#;
        assert!(document.contains(head), "{document}");
    }
}
