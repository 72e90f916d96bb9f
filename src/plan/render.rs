//! A diff as people and programs read it.

use super::{Change, Content, Diff, Endpoint, Operation, Step, Unproven};
use crate::diag::Sources;
use serde_json::{Value as Json, json};
use similar::TextDiff;
use std::fmt::Write;

/// The version word of a diff in JSON.
const VERSION: &str = "purlin.dev/diff/v1alpha1";

/// Colours of a terminal, or none.
struct Paint(bool);

impl Paint {
    fn line(&self, color: &str, text: &str) -> String {
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
    let apart = if diff.simulated { " (on a node; here only files are touched)" } else { "" };
    format!("{}; impact: {}{apart}\n", parts.join(", "), visible(&diff.impact().to_string()))
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
    for step in &diff.steps {
        out.push('\n');
        match step {
            Step::Change(change) => write_change(&mut out, change, sources, &paint),
            Step::RestartUnit { unit, because } => {
                let places: Vec<String> = because.iter().map(|p| visible(&p.to_string())).collect();
                let head =
                    format!("restart {}{}", visible(unit), if diff.simulated { " (simulated)" } else { "" });
                let _ = writeln!(out, "{}", paint.line("1", &head));
                let _ = writeln!(out, "  because of {}", places.join(", "));
            }
        }
    }
    for Endpoint::DevicePlugin { resource, socket, devices, .. } in &diff.endpoints {
        let _ = write!(out, "\n{}", paint.line("1", &format!("serve {resource}")));
        let _ = writeln!(out, " on {socket}, by the agent");
        for device in devices {
            let _ = writeln!(out, "  {} as {}", device.id, device.cdi);
        }
    }
    out
}

fn write_change(out: &mut String, change: &Change, sources: &Sources, paint: &Paint) {
    let (word, color) = match change.operation {
        Operation::Create => ("create", "1;32"),
        Operation::Update => ("update", "1;33"),
        Operation::Delete => ("delete", "1;31"),
    };
    let name = visible(&change.place.to_string());
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{}  [{}]",
        paint.line(color, &format!("{word} {name}")),
        visible(&change.impact.to_string())
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
        let _ = writeln!(out, "  mode: {} becomes {}", visible(before), visible(after));
    }
    let old = side(change.before.as_ref());
    let new = side(change.after.as_ref());
    if old == new {
        return;
    }
    let (from, to) = match change.operation {
        Operation::Create => ("/dev/null", name.as_str()),
        Operation::Update => (name.as_str(), name.as_str()),
        Operation::Delete => (name.as_str(), "/dev/null"),
    };
    let unified =
        TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).header(from, to).to_string();
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
}

fn side(content: Option<&Content>) -> String {
    match content {
        None => String::new(),
        // What a foreign file holds must not reach the terminal as control sequences.
        Some(Content::Text(text)) => visible(text),
        Some(Content::Opaque) => "(content not shown: secret, not text, or too long)\n".to_owned(),
        Some(Content::Link(target)) => format!("(symbolic link to {})\n", visible(target)),
    }
}

/// Text from a host, or from a ledger or facts that someone may have written, without control sequences.
#[must_use]
pub fn visible(text: &str) -> String {
    if !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return text.to_owned();
    }
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\n' && c != '\t' {
                format!("\\u{{{:x}}}", c as u32)
            } else {
                c.to_string()
            }
        })
        .collect()
}

/// Where in the spec something comes from.
fn cite(origin: &super::Origin, sources: &Sources) -> Json {
    let position = sources.position(origin.span);
    json!({ "path": origin.path, "file": sources.name(origin.span.file), "line": position.line })
}

/// What only facts can decide, as it stands in every JSON document.
#[must_use]
pub fn unproven_json(unproven: &[Unproven], sources: &Sources) -> Json {
    unproven.iter().map(|u| json!({ "what": u.what, "origin": cite(&u.origin, sources) })).collect()
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
