//! A diff as people and programs read it.

use super::{Change, Content, Diff, Endpoint, Operation, Step, Unproven};
use crate::diag::{Sources, visible_line, visible_text};
use serde_json::{Value as Json, json};
use similar::TextDiff;
use std::fmt::Write;

/// The schema of a diff in JSON, as `purlin schema diff` prints it.
pub const DIFF_SCHEMA_TEXT: &str = include_str!("../../schemas/diff.json");

/// The schema of several diffs in JSON.
pub const DIFFS_SCHEMA_TEXT: &str = include_str!("../../schemas/diffs.json");

/// The version word of a diff in JSON. The shape is promised by schemas/diff.json; another shape gets another word.
const VERSION: &str = "purlin.dev/diff/v1alpha1";

/// Colours of a terminal, or none.
pub(super) struct Paint(bool);

pub(super) const fn paint(color: bool) -> Paint {
    Paint(color)
}

impl Paint {
    pub(super) fn line(&self, color: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{color}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// One line: how much changes, and what it does to running work. Empty when nothing changes.
#[must_use]
pub fn summary(diff: &Diff) -> String {
    if diff.is_empty() {
        return String::new();
    }
    let count = |operation| diff.changes().filter(|c| c.operation == operation).count();
    let parts: Vec<String> = [
        (count(Operation::Create), "to create"),
        (count(Operation::Update), "to update"),
        (count(Operation::Delete), "to delete"),
        (diff.changes().filter(|c| c.blocked).count(), "blocked"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    let apart = if diff.simulated { " (on a node; this one is simulated)" } else { "" };
    format!("{}; impact: {}{apart}\n", parts.join(", "), visible_line(&diff.impact().to_string()))
}

/// The whole diff as text: the summary, then each step with its impact, the spec line behind it, and the bytes as a
/// unified diff. Empty when nothing changes.
#[must_use]
pub fn human(diff: &Diff, sources: &Sources, color: bool) -> String {
    let paint = Paint(color);
    let mut out = summary(diff);
    if out.is_empty() {
        return out;
    }
    out.push_str(&details(diff, sources, color));
    for Endpoint::DevicePlugin { resource, socket, devices, .. } in &diff.endpoints {
        let _ = write!(out, "\n{}", paint.line("1", &format!("serve {resource}")));
        let _ = writeln!(out, " on {socket}, by the agent");
        for device in devices {
            let _ = writeln!(out, "  {} as {}", device.id, device.cdi);
        }
    }
    out
}

/// Each step of a diff that is not empty.
pub(super) fn details(diff: &Diff, sources: &Sources, color: bool) -> String {
    let paint = Paint(color);
    let mut out = String::new();
    for step in &diff.steps {
        out.push('\n');
        match step {
            Step::Change(change) => write_change(&mut out, change, sources, &paint),
            Step::RestartUnit { unit, because } => {
                let places: Vec<String> = because.iter().map(|p| visible_line(&p.to_string())).collect();
                let head = format!(
                    "restart {}{}",
                    visible_line(unit),
                    if diff.simulated { " (simulated)" } else { "" }
                );
                let _ = writeln!(out, "{}", paint.line("1", &head));
                let _ = writeln!(out, "  because of {}", places.join(", "));
            }
        }
    }
    out
}

fn write_change(out: &mut String, change: &Change, sources: &Sources, paint: &Paint) {
    let word = change.operation.word();
    let color = match change.operation {
        Operation::Create => "1;32",
        Operation::Update => "1;33",
        Operation::Delete => "1;31",
    };
    let name = visible_line(&change.place.to_string());
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{}  [{}]",
        paint.line(color, &format!("{word} {name}")),
        visible_line(&change.impact.to_string())
    );
    if let Some(origin) = &change.origin {
        let _ = writeln!(out, "  from {} ({})", origin.path, sources.cite(origin.span));
    } else {
        let _ = writeln!(out, "  the spec no longer asks for it");
    }
    for note in &change.notes {
        let _ = writeln!(out, "  {note}");
    }
    if let (Some(before), Some(after)) = (&change.mode_before, &change.mode_after)
        && before != after
    {
        let _ = writeln!(out, "  mode: {} becomes {}", visible_line(before), visible_line(after));
    }
    out.push_str(&painted(&unified(change), paint.0));
}

/// The bytes of a change as a unified diff. Empty when only its mode or owner changes.
pub(super) fn unified(change: &Change) -> String {
    let name = visible_line(&change.place.to_string());
    let (old, new) = change.texts();
    if old == new {
        return String::new();
    }
    let (from, to) = match change.operation {
        Operation::Create => ("/dev/null", name.as_str()),
        Operation::Update => (name.as_str(), name.as_str()),
        Operation::Delete => (name.as_str(), "/dev/null"),
    };
    // Facts hold no text beyond `facts::TEXT`, and Myers' search stops at a bound of its own, by count and not by time, so
    // that even wholly different texts take seconds at most and the same bytes come out everywhere.
    TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).header(from, to).to_string()
}

/// A unified diff in the colours that people know, or as it is.
#[must_use]
pub fn painted(unified: &str, color: bool) -> String {
    let paint = Paint(color);
    let mut out = String::new();
    for line in unified.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        let end = &line[bare.len()..];
        let painted = match bare.as_bytes().first() {
            Some(b'+') if !bare.starts_with("+++ ") => paint.line("32", bare),
            Some(b'-') if !bare.starts_with("--- ") => paint.line("31", bare),
            Some(b'@') => paint.line("36", bare),
            _ => bare.to_owned(),
        };
        out.push_str(&painted);
        out.push_str(end);
    }
    out
}

impl Change {
    /// Both sides as they are shown.
    pub(super) fn texts(&self) -> (String, String) {
        (side(self.before.as_ref()), side(self.after.as_ref()))
    }
}

fn side(content: Option<&Content>) -> String {
    match content {
        None => String::new(),
        // What a foreign file holds must not reach the terminal as control sequences.
        Some(Content::Text(text)) => visible_text(text),
        Some(Content::Opaque) => "(content not shown: secret, not text, or too long)\n".to_owned(),
        Some(Content::Link(target)) => format!("(symbolic link to {})\n", visible_line(target)),
    }
}

/// Where in the spec something comes from.
fn cite(origin: &super::Origin, sources: &Sources) -> Json {
    let position = sources.position(origin.span);
    json!({ "path": origin.path, "file": sources.name(origin.span.file), "line": position.line })
}

/// What is unproven, as it stands in every JSON document.
#[must_use]
pub fn unproven_json(unproven: &[Unproven], sources: &Sources) -> Json {
    let one = |u: &Unproven| json!({ "what": u.what, "decidedBy": u.decided_by, "origin": cite(&u.origin, sources) });
    unproven.iter().map(one).collect()
}

/// The diff as versioned JSON.
#[must_use]
pub fn json(diff: &Diff, sources: &Sources) -> Json {
    let steps: Vec<Json> = diff
        .steps
        .iter()
        .map(|step| {
            // Plain data with string keys: serialising cannot fail.
            let mut value = serde_json::to_value(step).unwrap_or_default();
            if let (Step::Change(change), Some(object)) =
                (step, value.get_mut("change").and_then(Json::as_object_mut))
            {
                object
                    .insert("origin".into(), change.origin.as_ref().map_or(Json::Null, |o| cite(o, sources)));
                object.insert("impact".into(), json!(change.impact.to_string()));
            }
            value
        })
        .collect();
    let endpoints: Vec<Json> = diff
        .endpoints
        .iter()
        .map(|endpoint| {
            let Endpoint::DevicePlugin { origin, .. } = endpoint;
            let mut value = serde_json::to_value(endpoint).unwrap_or_default();
            if let Some(object) = value.get_mut("devicePlugin").and_then(Json::as_object_mut) {
                object.insert("origin".into(), cite(origin, sources));
            }
            value
        })
        .collect();
    json!({
        "version": VERSION,
        "node": diff.node,
        "labels": diff.labels,
        "simulated": diff.simulated,
        "impact": diff.impact().to_string(),
        "steps": steps,
        "endpoints": endpoints,
        "unproven": unproven_json(&diff.unproven, sources),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{AdvertisedDevice, DecidedBy, Impact, Origin, Place};
    use super::*;
    use crate::diag::{Code, Diagnostic, Span};
    use std::collections::BTreeSet;

    /// A diff with everything that one can hold.
    fn sample() -> Json {
        let mut sources = Sources::default();
        let span = Span::new(sources.add("a.kdl", "node\n"), 0, 4);
        let origin = || Origin { path: "networks.pods".to_owned(), span };
        let class = Place::Object {
            api_version: "node.k8s.io/v1".to_owned(),
            kind: "RuntimeClass".to_owned(),
            name: "c".to_owned(),
        };
        let text = Content::Text("a\n".to_owned());
        let operations = [
            (Operation::Create, None, Some(text.clone()), Impact::Restart("u.service".to_owned())),
            (Operation::Update, Some(Content::Opaque), Some(text), Impact::Reload("u.service".to_owned())),
            (Operation::Delete, Some(Content::Link("/b".to_owned())), None, Impact::DataLoss),
        ];
        let mut steps: Vec<Step> = operations
            .into_iter()
            .map(|(operation, before, after, impact)| {
                let mut change = Change::of(operation, Place::File("/etc/a".to_owned()));
                change.origin = (operation != Operation::Delete).then(origin);
                change.mode_before = before.is_some().then(|| "0644".to_owned());
                change.mode_after = after.is_some().then(|| "0600".to_owned());
                (change.before, change.after, change.impact) = (before, after, impact);
                change.notes.push("n".to_owned());
                Step::Change(Box::new(change))
            })
            .collect();
        steps.push(Step::RestartUnit { unit: "u.service".to_owned(), because: vec![class] });
        let diff = Diff {
            node: "a".to_owned(),
            labels: [("k".to_owned(), "v".to_owned())].into(),
            steps,
            simulated: true,
            endpoints: vec![Endpoint::DevicePlugin {
                resource: "a.example/b".to_owned(),
                socket: "/s".to_owned(),
                devices: vec![AdvertisedDevice { id: "0".to_owned(), cdi: "a.example/b=0".to_owned() }],
                origin: origin(),
            }],
            unproven: vec![Unproven {
                what: "w".to_owned(),
                decided_by: DecidedBy::ApiServer,
                origin: origin(),
            }],
            ..Diff::default()
        };
        let mut document = json(&diff, &sources);
        let finding = Diagnostic::new(Code::PUR0301, "m").at(span, "here");
        document["findings"] = crate::diag::json::render(&[finding], 0, &sources);
        document
    }

    fn errors(document: &Json) -> Vec<String> {
        let schema = serde_json::from_str(DIFF_SCHEMA_TEXT).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect()
    }

    #[test]
    fn keeps_what_its_schema_promises() {
        assert_eq!(errors(&sample()), Vec::<String>::new());
        let mut empty = json(&Diff::default(), &Sources::default());
        empty["findings"] = crate::diag::json::render(&[], 0, &Sources::default());
        assert_eq!(errors(&empty), Vec::<String>::new());
        // The schema is closed: a field that it does not promise is seen, also one of the findings within.
        for place in [
            "",
            "/steps/0",
            "/steps/0/change",
            "/steps/0/change/place",
            "/endpoints/0/devicePlugin",
            "/findings",
        ] {
            let mut more = sample();
            more.pointer_mut(place).unwrap()["more"] = json!(1);
            assert!(!errors(&more).is_empty(), "{place}");
        }
        let mut odd = sample();
        odd["steps"][0]["change"]["impact"] = json!("hotter");
        assert!(!errors(&odd).is_empty());
    }

    #[test]
    fn its_schema_promises_nothing_that_is_never_there() {
        fn names(schema: &Json, found: &mut BTreeSet<String>) {
            if let Some(fields) = schema.get("properties").and_then(Json::as_object) {
                found.extend(fields.keys().cloned());
            }
            match schema {
                Json::Object(object) => {
                    object.iter().filter(|(k, _)| *k != "Diagnostics").for_each(|(_, v)| names(v, found));
                }
                Json::Array(list) => list.iter().for_each(|v| names(v, found)),
                _ => {}
            }
        }
        fn keys(value: &Json, found: &mut BTreeSet<String>) {
            match value {
                Json::Object(object) => object.iter().for_each(|(key, value)| {
                    found.insert(key.clone());
                    keys(value, found);
                }),
                Json::Array(list) => list.iter().for_each(|value| keys(value, found)),
                _ => {}
            }
        }
        let (mut promised, mut there) = (BTreeSet::new(), BTreeSet::new());
        names(&serde_json::from_str(DIFF_SCHEMA_TEXT).unwrap(), &mut promised);
        keys(&sample(), &mut there);
        assert!(promised.len() > 20);
        assert_eq!(promised.difference(&there).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}
