//! An explanation as text, and as versioned JSON, whose shape is promised by schemas/explain.json.

use super::place::{Given, Place};
use super::{Effect, Explanation, Kind, Rendered};
use crate::diag::{Code, visible_line, visible_text};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// The schema of the document, as `purlin schema explain` prints it.
pub const SCHEMA_TEXT: &str = include_str!("../../schemas/explain.json");

/// The version of the shape; another shape gets another word.
pub const VERSION: &str = "purlin.dev/explain/v1alpha1";

/// Lines and artifacts that a person is shown.
const LINES: usize = 10;
const ARTIFACTS: usize = 10;
/// Names of a collection that a person is shown.
const NAMES: usize = 8;
/// Values of a block or collection that a person is shown.
const VALUES: usize = 40;

/// The document about a path. What a spec says of it goes with the spec's name and the findings about it.
#[must_use]
pub fn json(explanation: &Explanation, spec: Option<(&str, &Given, Json)>) -> Json {
    // Strings, numbers and lists with string keys: serialising cannot fail.
    let mut field = serde_json::to_value(explanation).unwrap_or_default();
    if let (Some(field), Some((file, given, findings))) = (field.as_object_mut(), spec) {
        let mut spec = json!({
            "file": file,
            "set": given.set,
            "yielded": given.yielded,
            "findings": findings,
        });
        if let Some(trace) = &given.became {
            spec["became"] = json!({ "effect": trace.effect });
            if trace.partial {
                spec["became"]["partial"] = true.into();
            }
            if let Some(within) = &trace.within {
                spec["became"]["within"] = within.as_str().into();
            }
        }
        field.insert("spec".to_owned(), spec);
    }
    json!({ "version": VERSION, "field": field })
}

/// The document about one code.
#[must_use]
pub fn code_json(code: Code) -> Json {
    let mut about = about(code);
    about["page"] = code.page().into();
    json!({ "version": VERSION, "code": about })
}

/// The document about all codes.
#[must_use]
pub fn codes_json(codes: &[Code]) -> Json {
    json!({ "version": VERSION, "codes": codes.iter().map(|c| about(*c)).collect::<Vec<_>>() })
}

fn about(code: Code) -> Json {
    json!({ "code": code.name(), "severity": code.severity().word(), "title": code.title() })
}

/// The explanation for people: what the field is; then an example and what it renders to or, with a spec, what that says.
#[must_use]
pub fn human(explanation: &Explanation, spec: Option<(&str, &Given)>, color: bool) -> String {
    let mut page = Page { out: String::new(), color };
    page.head(explanation);
    match spec {
        Some((file, given)) => page.given(explanation, file, given),
        None => {
            page.fields(explanation);
            page.example(explanation);
            if let Some(effect) = &explanation.renders {
                page.title("Renders to");
                page.effect(effect, "  ");
            }
        }
    }
    page.out
}

struct Page {
    out: String,
    color: bool,
}

// Writing to a String cannot fail.
impl Page {
    fn title(&mut self, text: &str) {
        let text = visible_line(text);
        let _ = match self.color {
            true => writeln!(self.out, "\n\x1b[1m{text}\x1b[0m"),
            false => writeln!(self.out, "\n{text}"),
        };
    }

    fn line(&mut self, indent: &str, text: &str) {
        let _ = writeln!(self.out, "{indent}{}", visible_line(text));
    }

    fn head(&mut self, explanation: &Explanation) {
        let Explanation { path, description, planned, .. } = explanation;
        let _ = match self.color {
            true => writeln!(self.out, "\x1b[1m{}\x1b[0m", visible_line(path)),
            false => writeln!(self.out, "{}", visible_line(path)),
        };
        self.line("", description);
        if let Some(why) = planned {
            self.line("", &format!("Not compiled yet: {why}."));
        }
        self.out.push('\n');
        self.line("  type      ", &explanation.kind);
        let width = explanation.words.iter().map(|w| w.word.len()).max().unwrap_or(0);
        for word in explanation.words.iter().filter(|w| !w.meaning.is_empty()) {
            self.line("            ", &format!("{:width$}  {}", word.word, word.meaning));
        }
        if explanation.choice.len() > 1 {
            self.line("  choice    ", &format!("exactly one of {}", explanation.choice.join(", ")));
        } else {
            self.line("  required  ", if explanation.required { "yes" } else { "no" });
        }
        if let Some(default) = &explanation.default {
            self.line("  default   ", default);
        }
        for (program, first) in &explanation.since {
            self.line("  since     ", &format!("{program} {first}"));
        }
    }

    fn fields(&mut self, explanation: &Explanation) {
        if explanation.fields.is_empty() {
            return;
        }
        self.title(if explanation.each { "Each takes" } else { "Takes" });
        let width = explanation.fields.iter().map(|f| f.name.len()).max().unwrap_or(0);
        for field in &explanation.fields {
            let mark = match (field.required, field.planned) {
                (true, _) => " (required)",
                (false, true) => " (not compiled yet)",
                (false, false) => "",
            };
            let line = format!("{:width$}  {}{mark}", field.name, field.summary);
            self.line("  ", line.trim_end());
        }
    }

    fn example(&mut self, explanation: &Explanation) {
        for (name, text) in [("KDL", &explanation.example.kdl), ("YAML", &explanation.example.yaml)] {
            self.title(&format!("In {name}"));
            for line in visible_text(text).lines() {
                let _ = writeln!(self.out, "{}", format!("  {line}").trim_end());
            }
        }
    }

    fn effect(&mut self, effect: &Effect, indent: &str) {
        match effect.kind {
            Kind::Lines => {}
            Kind::NoLine => self.line(indent, "no line; another value would make lines in"),
            Kind::Plan => self.line(indent, "no artifact; plans and diffs show it, or are decided by it"),
            Kind::Checked => self.line(indent, "no artifact; it is checked only"),
        }
        let effect = effect.clone().short(ARTIFACTS, LINES);
        for Rendered { place, whole, lines, more } in &effect.artifacts {
            let at = lines.first().and_then(|l| l.number).filter(|_| lines.len() == 1);
            let place = at.map_or_else(|| place.clone(), |number| format!("{place}:{number}"));
            let mark = if *whole && effect.kind == Kind::Lines { " (the whole of it)" } else { "" };
            self.line(indent, &format!("{place}{mark}"));
            for line in lines {
                let number = line.number.filter(|_| lines.len() > 1).map(|n| format!("{n}: "));
                self.line(indent, &format!("    {}{}", number.unwrap_or_default(), line.text));
            }
            if *more > 0 {
                self.line(indent, &format!("    and {more} more"));
            }
        }
        if effect.more > 0 {
            self.line(indent, &format!("and {} more", effect.more));
        }
    }

    fn given(&mut self, explanation: &Explanation, file: &str, given: &Given) {
        self.title(&format!("In {file}"));
        match given.set.as_slice() {
            [] => self.absent(explanation, given),
            [only] if only.path == explanation.path => {
                self.line("  ", &format!("{}, set at {}", only.value, cite(&only.place)));
                self.line("      ", &only.place.text);
            }
            several => {
                let shown = &several[..several.len().min(VALUES)];
                let width = shown.iter().map(|s| s.path.chars().count()).max().unwrap_or(0);
                for set in shown {
                    let line = format!("{:width$}  {}, set at {}", set.path, set.value, cite(&set.place));
                    self.line("  ", &line);
                }
                if several.len() > VALUES {
                    self.line("  ", &format!("and {} more", several.len() - VALUES));
                }
            }
        }
        for other in &given.yielded {
            let what =
                if other.path == explanation.path { String::new() } else { format!(" of {}", other.path) };
            let (from, to) = (cite(&other.place), cite(&other.to));
            let line =
                format!("the default {}{what}, set at {from}, yields to what is set at {to}", other.value);
            self.line("  ", &line);
        }
        let Some(trace) = &given.became else {
            if !given.sound {
                self.line("  ", "what it becomes can be told once the spec is right");
            } else if !given.set.is_empty() {
                self.line("  ", "what it became cannot be told: nothing else passes the checks there");
            }
            return;
        };
        match (&trace.within, given.set.is_empty()) {
            (Some(within), _) => self.title(&format!("Became, as a part of {within}")),
            (None, true) => self.title("What holds became"),
            (None, false) => self.title("Became"),
        }
        let renders = explanation.renders.as_ref().is_some_and(|r| r.kind < Kind::Checked);
        if trace.effect.kind == Kind::Checked && renders {
            self.line("  ", "nothing that another value would change, in this spec");
        } else {
            self.effect(&trace.effect, "  ");
        }
        if trace.partial {
            self.line("  ", "the spec is large, and not all of it was tried; a longer path tells more");
        }
    }

    fn absent(&mut self, explanation: &Explanation, given: &Given) {
        match &given.unknown {
            Some((name, known)) if known.is_empty() => {
                self.line("  ", &format!("not set: the spec has no `{name}`, and nothing else there"));
            }
            Some((name, known)) => {
                let shown: Vec<_> = known.iter().take(NAMES).map(|k| format!("`{k}`")).collect();
                let more = known.len().saturating_sub(NAMES);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                self.line(
                    "  ",
                    &format!("not set: the spec has no `{name}`, but {}{more}", shown.join(", ")),
                );
            }
            None => self.line(
                "  ",
                &explanation.default.as_ref().map_or_else(
                    || "not set".to_owned(),
                    |default| format!("not set, so the default holds: {default}"),
                ),
            ),
        }
    }
}

fn cite(place: &Place) -> String {
    format!("{}:{}:{}", place.file, place.line, place.column)
}
