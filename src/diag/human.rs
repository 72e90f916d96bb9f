//! Findings as a person reads them, in the look of rustc.
//!
//! The drawing is annotate-snippets' work. What is left here is to hand it only what it can draw: spans on character
//! boundaries, a window of a text rather than the whole of it, and no control characters out of the operator's text.
//! Whether there is a terminal, and how wide, is the caller's to know.

use super::{
    Code, Diagnostic, FileId, Fix, Label, Severity, Sources, Span, obeyed, visible_line, visible_text,
};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet, Title};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// How the text is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub color: bool,
    /// Columns that a line may have.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { color: false, width: 120 }
    }
}

impl Style {
    fn renderer(self) -> Renderer {
        let renderer = if self.color { Renderer::styled().hyperlink(false) } else { Renderer::plain() };
        // Below this there is no room for a line number and a word beside it.
        renderer.term_width(self.width.max(40))
    }
}

/// Findings that are shown; nobody reads more before mending the first.
const SHOWN: usize = 200;
/// Drawing costs the length of the text that is drawn from, and much more than reading it. Beyond these many bytes, for
/// one finding and for all, findings are told with their place alone.
const DRAWN_AT_ONCE: usize = 16 << 10;
const DRAWN: usize = 256 << 10;

/// The findings, an empty line after each, and the summary. Empty for no findings.
#[must_use]
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, style: Style) -> String {
    let renderer = style.renderer();
    let mut out = String::new();
    let mut left = DRAWN;
    for diagnostic in &diagnostics[..diagnostics.len().min(SHOWN)] {
        let cost = drawing(diagnostic, sources);
        let groups = if cost > DRAWN_AT_ONCE.min(left) {
            brief(diagnostic, sources)
        } else {
            left -= cost;
            groups(diagnostic, sources)
        };
        let rendered = renderer.render(&groups);
        // The renderer pads lines of notes to the width of the line numbers.
        for line in rendered.lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out.push('\n');
    }
    if diagnostics.len() > SHOWN {
        out.push_str(&format!("… and {} more; `--format json` lists them all\n", diagnostics.len() - SHOWN));
    }
    out.push_str(&summary(diagnostics, style));
    out
}

/// How many errors and warnings there are, and how to learn more. Empty for no findings.
#[must_use]
pub fn summary(diagnostics: &[Diagnostic], style: Style) -> String {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let counted = |n: usize, word: &str| match n {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{n} {word}s")),
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let parts: Vec<String> =
        counted(errors, "error").into_iter().chain(counted(warnings, "warning")).collect();
    if parts.is_empty() {
        return String::new();
    }
    let level = if errors > 0 { Level::ERROR } else { Level::WARNING };
    let line = style.renderer().render(&[Group::with_title(level.primary_title(parts.join(", ")))]);
    let codes: BTreeSet<Code> = diagnostics.iter().map(|d| d.code).collect();
    let mut codes = codes.into_iter().map(Code::name);
    let first = codes.next().unwrap_or_default();
    let rest: Vec<&str> = codes.collect();
    let also = if rest.is_empty() { String::new() } else { format!(" (also {})", rest.join(", ")) };
    format!("{line}\nfor more, run: purlin explain {first}{also}\n")
}

fn title(diagnostic: &Diagnostic) -> Title<'_> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    level.primary_title(visible_line(&diagnostic.message)).id(diagnostic.code.name())
}

fn groups<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Vec<Group<'a>> {
    let mut main = Group::with_title(title(diagnostic));
    for file in files(diagnostic) {
        main = main.element(snippet(&diagnostic.labels, file, sources));
    }
    for note in &diagnostic.notes {
        main = main.element(Level::NOTE.message(visible_text(note)));
    }
    for help in &diagnostic.help {
        main = main.element(Level::HELP.message(visible_text(help)));
    }
    let mut groups = vec![main];
    if let Some(fix) = &diagnostic.fix {
        groups.push(suggestion(fix, sources));
    }
    groups
}

/// The bytes of the operator's text that a finding is drawn from.
fn drawing(diagnostic: &Diagnostic, sources: &Sources) -> usize {
    let labels = &diagnostic.labels;
    let of_file = |file| labels.iter().map(|l| l.span).filter(move |s| s.file == file);
    let drawn = files(diagnostic).into_iter().map(|f| Window::around(of_file(f), f, sources).text.len());
    let fixed =
        diagnostic.fix.iter().map(|f| Window::around([f.span].into_iter(), f.span.file, sources).text.len());
    drawn.chain(fixed).sum()
}

/// A finding with its places, and no drawing.
fn brief<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Vec<Group<'a>> {
    let mut main = Group::with_title(title(diagnostic));
    if let Some(span) = diagnostic.span() {
        let at = sources.position(span);
        let name = visible_line(sources.name(span.file));
        main = main.element(Origin::path(name).line(at.line).char_column(at.column));
    }
    let labels = diagnostic.labels.iter().filter(|l| !l.message.is_empty());
    let said = labels.map(|l| format!("{}: {}", sources.cite(l.span), l.message));
    for note in said.chain(diagnostic.notes.iter().cloned()) {
        main = main.element(Level::NOTE.message(visible_text(&note)));
    }
    for help in diagnostic.help.iter().chain(diagnostic.fix.iter().map(|f| &f.message)) {
        main = main.element(Level::HELP.message(visible_text(help)));
    }
    vec![main]
}

/// The files that the labels point into: that of the mistake first.
fn files(diagnostic: &Diagnostic) -> Vec<FileId> {
    let mut files: Vec<FileId> = diagnostic.span().map(|s| s.file).into_iter().collect();
    for label in &diagnostic.labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
}

fn snippet<'a>(
    labels: &'a [Label],
    file: FileId,
    sources: &'a Sources,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let labels: Vec<&Label> = labels.iter().filter(|l| l.span.file == file).collect();
    let window = Window::around(labels.iter().map(|l| l.span), file, sources);
    let annotations = labels.iter().map(|label| {
        let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let text = (!label.message.is_empty()).then(|| visible_line(&label.message));
        kind.span(window.place(label.span)).label(text)
    });
    let annotations: Vec<_> = annotations.collect();
    window.snippet().annotations(annotations)
}

fn suggestion<'a>(fix: &'a Fix, sources: &'a Sources) -> Group<'a> {
    let window = Window::around(std::iter::once(fix.span), fix.span.file, sources);
    let patch = Patch::new(window.place(fix.span), visible_text(&fix.replacement));
    let title = Level::HELP.secondary_title(visible_line(&fix.message));
    Group::with_title(title).element(window.snippet().patch(patch))
}

/// The lines of a text that some spans touch.
///
/// Drawing costs the length of the text that it is handed; with many findings in a long file that is felt.
struct Window<'a> {
    text: &'a str,
    whole: &'a str,
    start: usize,
    line: usize,
    path: Option<String>,
}

impl<'a> Window<'a> {
    fn around(spans: impl Iterator<Item = Span>, file: FileId, sources: &'a Sources) -> Self {
        let whole = sources.text(file);
        let (mut start, mut end) = (whole.len(), 0);
        for span in spans {
            let range = clamp(whole, span);
            start = start.min(range.start);
            end = end.max(range.end);
        }
        let start = whole[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = end.max(start);
        let end = whole[end..].find('\n').map_or(whole.len(), |at| end + at + 1);
        Self {
            text: &whole[start..end],
            whole,
            start,
            line: whole[..start].bytes().filter(|b| *b == b'\n').count() + 1,
            path: Some(visible_line(sources.name(file))).filter(|name| !name.is_empty()),
        }
    }

    fn place(&self, span: Span) -> Range<usize> {
        let range = clamp(self.whole, span);
        let within = |at: usize| at.saturating_sub(self.start).min(self.text.len());
        within(range.start)..within(range.end)
    }

    fn snippet<T: Clone>(&self) -> Snippet<'a, T> {
        Snippet::source(visible(self.text)).line_start(self.line).path(self.path.clone())
    }
}

/// The span within the text, widened to whole characters.
fn clamp(text: &str, span: Span) -> Range<usize> {
    let floor = text.floor_char_boundary(span.start as usize);
    let end = (span.end as usize).max(span.start as usize);
    if end == span.start as usize { floor..floor } else { floor..text.ceil_char_boundary(end) }
}

/// The operator's own lines without what a terminal would obey. Places are told in bytes, so each such character is
/// replaced by one of the same length; those of ASCII are the renderer's own work.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| !c.is_ascii() && obeyed(c)) {
        return text.into();
    }
    text.chars()
        .map(|c| match c.len_utf8() {
            2 if obeyed(c) => '\u{bf}',
            3 if obeyed(c) => '\u{fffd}',
            _ => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "node \"edge\" {\n    brigde name=\"cni0\"\n    ipam { range \"10.0.0.0/24\" }\n}\n";

    fn span(text: &str, part: &str) -> Span {
        let start = text.find(part).unwrap();
        Span::new(FileId(0), start, start + part.len())
    }

    fn one(text: &str, diagnostic: Diagnostic) -> String {
        let mut sources = Sources::default();
        sources.add("edge.kdl", text);
        render(&[diagnostic], &sources, Style { color: false, width: 100 })
    }

    #[test]
    fn looks_like_rustc() {
        let diagnostic = Diagnostic::new(Code::PUR0101, "`network` has no `brigde`")
            .at(span(TEXT, "brigde"), "unknown key")
            .see(span(TEXT, "ipam"), "known")
            .note("a key that nobody reads does nothing")
            .help("look at it again")
            .fix(span(TEXT, "brigde"), "bridge", "did you mean `bridge`?");
        let want = "\
error[PUR0101]: `network` has no `brigde`
 --> edge.kdl:2:5
  |
2 |     brigde name=\"cni0\"
  |     ^^^^^^ unknown key
3 |     ipam { range \"10.0.0.0/24\" }
  |     ---- known
  |
  = note: a key that nobody reads does nothing
  = help: look at it again
help: did you mean `bridge`?
  |
2 -     brigde name=\"cni0\"
2 +     bridge name=\"cni0\"
  |

error: 1 error
for more, run: purlin explain PUR0101
";
        assert_eq!(one(TEXT, diagnostic), want);
    }

    #[test]
    fn shows_every_file() {
        let mut sources = Sources::default();
        sources.add("a.kdl", "mtu 1450\n");
        let b = sources.add("b.kdl", "one\r\n\tmtu 1500\r\n");
        let diagnostic = Diagnostic::new(Code::PUR0102, "`mtu` is given twice")
            .see(Span::new(FileId(0), 0, 3), "first here")
            .at(Span::new(b, 6, 9), "again here");
        let text = render(&[diagnostic], &sources, Style::default());
        let want = "\
error[PUR0102]: `mtu` is given twice
 --> b.kdl:2:2
  |
2 |     mtu 1500
  |     ^^^ again here
  |
 ::: a.kdl:1:1
  |
1 | mtu 1450
  | --- first here

error: 1 error
for more, run: purlin explain PUR0102
";
        assert_eq!(text, want);
    }

    #[test]
    fn sums_up() {
        let of = |codes: &[Code]| {
            summary(&codes.iter().map(|c| Diagnostic::new(*c, "")).collect::<Vec<_>>(), Style::default())
        };
        assert_eq!(of(&[]), "");
        assert_eq!(of(&[Code::PUR0203]), "warning: 1 warning\nfor more, run: purlin explain PUR0203\n");
        assert_eq!(
            of(&[Code::PUR0104, Code::PUR0101, Code::PUR0203, Code::PUR0104]),
            "error: 3 errors, 1 warning\nfor more, run: purlin explain PUR0101 (also PUR0104, PUR0203)\n"
        );
    }

    #[test]
    fn wide_and_combining_characters_keep_the_marks_in_place() {
        let text = "名前 e\u{301} x\n";
        let shown = one(text, Diagnostic::new(Code::PUR0101, "m").at(span(text, "x"), "here"));
        assert!(shown.contains("1 | 名前 e\u{301} x\n  |        ^ here\n"), "{shown}");
    }

    #[test]
    fn the_end_of_the_file_is_a_place() {
        let shown = one(
            "a {\n",
            Diagnostic::new(Code::PUR0001, "m").at(Span::new(FileId(0), 4, 4), "a `}` is missing"),
        );
        assert!(shown.contains("edge.kdl:2:1"), "{shown}");
        let shown =
            one("", Diagnostic::new(Code::PUR0001, "m").at(Span::new(FileId(0), 0, 0), "nothing here"));
        assert!(shown.contains("nothing here"), "{shown}");
    }

    #[test]
    fn no_escape_gets_through() {
        let evil = "\u{1b}[31m\u{202e}k\u{7}\u{9b}31m\u{200e}\n";
        let diagnostic = Diagnostic::new(Code::PUR0101, format!("no `{evil}`"))
            .at(Span::new(FileId(0), 0, 8), evil)
            .note(evil)
            .help(evil)
            .fix(Span::new(FileId(0), 0, 8), evil, evil);
        let shown = one(evil, diagnostic.clone());
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{7}', '\u{9b}', '\u{200e}']), "{shown:?}");
        let mut sources = Sources::default();
        sources.add("x", evil);
        let colored = render(&[diagnostic], &sources, Style { color: true, width: 80 });
        assert!(colored.contains("\u{1b}[") && !colored.contains("\u{1b}[31m\u{202e}"));
    }

    #[test]
    fn what_costs_too_much_is_told_without_a_drawing() {
        let long = "x ".repeat(DRAWN_AT_ONCE);
        let at = |start| Span::new(FileId(0), start, start + 1);
        let far =
            Diagnostic::new(Code::PUR0102, "twice").at(at(20_000), "again").see(at(0), "first").help("mend");
        assert_eq!(
            one(&long, far),
            "error[PUR0102]: twice\n--> edge.kdl:1:20001\n = note: edge.kdl:1: again\n = note: edge.kdl:1: first\n \
             = help: mend\n\nerror: 1 error\nfor more, run: purlin explain PUR0102\n"
        );
        let mut sources = Sources::default();
        sources.add("node.kdl", "a b\n");
        let near = Diagnostic::new(Code::PUR0101, "odd").at(at(2), "this");
        let shown = render(&vec![near; SHOWN + 5], &sources, Style { color: false, width: 80 });
        assert_eq!(shown.matches("^ this").count(), SHOWN);
        assert!(shown.contains("… and 5 more; ") && shown.contains("error: 205 errors"), "{shown}");
    }

    mod properties {
        use super::*;
        use proptest::prelude::*;

        fn text() -> impl Strategy<Value = String> {
            proptest::collection::vec(
                proptest::sample::select(vec![
                    "a",
                    "key ",
                    "\n",
                    "\r\n",
                    "\r",
                    "\t",
                    "é",
                    "e\u{301}",
                    "名",
                    "🚒",
                    "\u{200b}",
                    "\u{202e}",
                    "\u{1b}",
                    " ",
                    "{",
                    "\u{0}",
                    "long-long-long-long-long-long-word ",
                ]),
                0..60,
            )
            .prop_map(|parts| parts.concat())
        }

        fn span() -> impl Strategy<Value = Span> {
            (0..4_u16, 0..200_u32, 0..200_u32).prop_map(|(file, start, end)| Span {
                file: FileId(file),
                start,
                end,
            })
        }

        proptest! {
            #![proptest_config(ProptestConfig::with_cases(1000))]
            /// Any places over any texts are drawn, in any width, and without colour there is no escape.
            #[test]
            fn everything_is_drawn(
                texts in proptest::collection::vec(text(), 0..3),
                labels in proptest::collection::vec((span(), text(), any::<bool>()), 0..5),
                fix in proptest::option::of((span(), text())),
                width in 0..200_usize,
                color in any::<bool>(),
            ) {
                let mut sources = Sources::default();
                for text in texts {
                    sources.add("x.kdl", text);
                }
                let mut diagnostic = Diagnostic::new(Code::PUR0101, "message");
                for (span, message, primary) in labels {
                    diagnostic.labels.push(Label { span, message, primary });
                }
                if let Some((span, text)) = fix {
                    diagnostic = diagnostic.fix(span, text, "write this");
                }
                let shown = render(&[diagnostic], &sources, Style { color, width });
                prop_assert!(shown.starts_with("error[PUR0101]: message") || color);
                prop_assert!(color || !shown.contains('\u{1b}'), "an escape");
            }
        }
    }
}
