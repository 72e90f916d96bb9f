//! What a run has to say to the machines of a CI: the input of the renderers for them.
//!
//! Findings come with the specs that were looked at, for a report that lists only what is wrong does not say what is right;
//! and with what could not be looked at, for that is not right either.

use super::{Diagnostic, Settled, Severity, Sources, Span, visible_line, visible_text};

/// A run, as renderers for machines are given it.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The command that ran: `check`.
    pub command: &'a str,
    /// The specs by the names that they were given with, in that order.
    pub specs: &'a [String],
    pub settled: &'a Settled,
    pub sources: &'a Sources,
    /// Specs that could not be looked at, and why.
    pub failures: &'a [(String, String)],
    /// What could not be decided, one line each, with its place.
    pub unproven: &'a [String],
    /// What the run has to show for one of the specs besides findings, as text.
    pub output: &'a str,
}

/// What is said when a text was not checked to the end.
pub const CUT_SHORT: &str = "what the spec means is checked once its shape is right; more may follow then";

impl<'a> Report<'a> {
    pub(super) fn count(&self, severity: Severity) -> usize {
        self.settled.list.iter().filter(|d| d.severity == severity).count()
    }

    /// The files that findings are told for: the specs, then others that a finding stands in. The last one has no name,
    /// and takes what has no place.
    pub(super) fn files(&self) -> Vec<(&'a str, Vec<&'a Diagnostic>)> {
        let mut files: Vec<(&str, Vec<&Diagnostic>)> = Vec::new();
        let failed = self.failures.iter().map(|(spec, _)| spec);
        for name in self.specs.iter().chain(failed) {
            if !files.iter().any(|(known, _)| known == name) {
                files.push((name, Vec::new()));
            }
        }
        for diagnostic in &self.settled.list {
            let name = diagnostic.span().map_or("", |span| self.sources.name(span.file));
            match files.iter_mut().find(|(known, _)| *known == name) {
                Some((_, list)) => list.push(diagnostic),
                None => files.push((name, vec![diagnostic])),
            }
        }
        files
    }

    /// `2 errors, 1 warning`, or nothing.
    #[must_use]
    pub fn counted(&self) -> String {
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        let parts = [(errors, "error"), (warnings, "warning"), (self.settled.silenced, "silenced")];
        let word = |n: usize, word: &str| match (n, word) {
            (1, _) | (_, "silenced") => format!("{n} {word}"),
            _ => format!("{n} {word}s"),
        };
        parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, w)| word(n, w)).collect::<Vec<_>>().join(", ")
    }
}

/// All that a finding says, in lines: the message, what is to be seen at its places, the notes and the remedies.
pub(super) fn told(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let primary = diagnostic.span();
    let mut lines = vec![visible_line(&diagnostic.message)];
    for label in diagnostic.labels.iter().filter(|l| !l.message.is_empty()) {
        let words = visible_line(&label.message);
        lines.push(if primary == Some(label.span) {
            format!("here: {words}")
        } else {
            format!("{}: {words}", sources.cite(label.span))
        });
    }
    lines.extend(diagnostic.notes.iter().map(|note| format!("note: {}", visible_text(note))));
    lines.extend(diagnostic.help.iter().map(|help| format!("help: {}", visible_text(help))));
    lines.extend(diagnostic.fix.iter().map(|fix| format!("help: {}", visible_line(&fix.message))));
    lines.join("\n")
}

/// Both ends of a place; the second is the first place behind it.
pub(super) fn ends(span: Span) -> [Span; 2] {
    [Span { end: span.start, ..span }, Span { start: span.end, ..span }]
}

/// A name without what says nothing: `./a.kdl` is `a.kdl`.
pub(super) fn plain_name(name: &str) -> &str {
    let mut name = name;
    while let Some(rest) = name.strip_prefix("./") {
        name = rest.trim_start_matches('/');
    }
    name
}

#[cfg(test)]
pub(super) mod sample {
    use super::*;
    use crate::diag::{Code, Span};

    pub const ODD: &str = "./odd/a, b:100%<&>\u{1b}\u{fffe}\"]\n.kdl";

    /// A run with everything that one can hold, over texts that nobody would write.
    pub struct Run {
        specs: Vec<String>,
        settled: Settled,
        sources: Sources,
        failures: Vec<(String, String)>,
    }

    impl Run {
        pub fn report<'a>(&'a self, output: &'a str) -> Report<'a> {
            Report {
                command: "check",
                specs: &self.specs,
                settled: &self.settled,
                sources: &self.sources,
                failures: &self.failures,
                unproven: &[],
                output,
            }
        }
    }

    pub fn run() -> Run {
        let mut sources = Sources::default();
        let odd = sources.add(ODD, "🚒é \"x\" brigde\r\nnext ]]> ``` | <b>\n");
        let other = sources.add("/srv/名.yaml", "a: 1\n");
        let at = Span::new(odd, 11, 17);
        let certain =
            Diagnostic::new(Code::PUR0101, "no `brigde` | <b> in [x](http://evil) ]]>\u{0}\u{fffe}")
                .at(at, "unknown: 100%\r\n::warning::x")
                .see(Span::new(other, 0, 1), "see")
                .note("why,\nin two lines")
                .help("what: to write")
                .fix(at, "bridge", "did you mean `bridge`?");
        let likely =
            Diagnostic::new(Code::PUR0104, "over lines").at(Span::new(odd, 0, 26), "").suggest(at, "x", "y");
        let warning = Diagnostic::new(Code::PUR0203, "warned").at(Span::new(other, 0, 1), "this");
        let settled = Settled {
            list: vec![certain, likely, warning, Diagnostic::new(Code::PUR0003, "placeless").help("h")],
            silenced: 1,
            cut_short: true,
        };
        let specs = vec![ODD.to_owned(), "good.kdl".to_owned()];
        let failures = vec![("absent.kdl".to_owned(), "cannot read `absent.kdl`".to_owned())];
        Run { specs, settled, sources, failures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_there_once_and_every_finding_in_one() {
        let run = sample::run();
        let report = run.report("");
        let files: Vec<_> = report.files().into_iter().map(|(name, list)| (name, list.len())).collect();
        assert_eq!(
            files,
            [(sample::ODD, 2), ("good.kdl", 0), ("absent.kdl", 0), ("/srv/名.yaml", 1), ("", 1)]
        );
        assert_eq!(report.counted(), "3 errors, 1 warning, 1 silenced");
    }
}
