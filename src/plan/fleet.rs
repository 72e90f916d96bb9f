//! What several specs come to together: the cluster-wide objects that they share, and their changes side by side.

use super::render::{details, paint};
use super::{Diff, Plan, Scope, summary};
use crate::diag::{Code, Diagnostic, Findings, Moved, Sources, visible_line};
use serde_json::{Value as Json, json};
use similar::{ChangeTag, TextDiff};
use std::collections::BTreeMap;
use std::fmt::Write as _;

impl Plan {
    /// What other specs may ask for as well: the cluster-wide artifacts.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.artifacts.retain(|artifact| artifact.scope == Scope::Cluster);
        self.actions.clear();
        self.endpoints.clear();
        self.unproven.clear();
        self
    }

    /// The same, its artifacts' places in the spec among the texts of another run.
    #[must_use]
    pub fn moved(mut self, moved: &Moved) -> Self {
        for artifact in &mut self.artifacts {
            artifact.origin.span = moved.span(artifact.origin.span);
        }
        self
    }
}

/// Holds the specs to one form of each cluster-wide object: whoever applies last would undo the others' otherwise.
pub fn agree<'p>(plans: impl IntoIterator<Item = &'p Plan>, findings: &mut Findings) {
    let mut first = BTreeMap::new();
    for plan in plans {
        for artifact in plan.artifacts.iter().filter(|a| a.scope == Scope::Cluster) {
            let (owner, other) = *first.entry(&artifact.place).or_insert((&plan.node, artifact));
            if other.bytes == artifact.bytes {
                continue;
            }
            findings.push(
                Diagnostic::new(
                    Code::PUR0215,
                    format!("`{}` and `{owner}` make {} differently", plan.node, artifact.place),
                )
                .at(artifact.origin.span, format!("one form of it follows from `{}`", artifact.origin.path))
                .see(other.origin.span, "another one follows from here")
                .note("the whole cluster has one such object: the node that applies last would overwrite the others'")
                .help("make the two equal, or give one of them another name"),
            );
        }
    }
}

/// A node's changes, and the spec that they follow from.
#[derive(Clone, Debug)]
pub struct NodeDiff {
    pub spec: String,
    pub diff: Diff,
}

/// Changes counted, one line each: what happens to which place, how many lines it gains and loses, and what that does.
#[must_use]
pub fn stat(diff: &Diff, sources: &Sources) -> String {
    let rows: Vec<[String; 5]> = diff
        .changes()
        .map(|change| {
            let (old, new) = change.texts();
            let lines = TextDiff::from_lines(&old, &new);
            let count = |tag| lines.iter_all_changes().filter(|c| c.tag() == tag).count();
            [
                change.operation.word().to_owned(),
                visible_line(&change.place.to_string()),
                format!("+{} -{}", count(ChangeTag::Insert), count(ChangeTag::Delete)),
                format!("[{}]", visible_line(&change.impact.to_string())),
                change.origin.as_ref().map_or_else(String::new, |origin| sources.cite(origin.span)),
            ]
        })
        .collect();
    table(&rows)
}

/// The changes of several nodes: a table of all that change, then each set of changes once, under the nodes that share it.
#[must_use]
pub fn overview(
    nodes: &[NodeDiff],
    gone: &[String],
    sources: &Sources,
    stat_only: bool,
    color: bool,
) -> String {
    let paint = paint(color);
    let sets = sets(nodes);
    let rows = rows(&sets);
    let mut out = table(&rows);
    for spec in gone {
        let _ = writeln!(out, "{} is gone; what was applied stays on its node", visible_line(spec));
    }
    let unchanged = nodes.len() - rows.len();
    if unchanged > 0 && !out.is_empty() {
        let _ = writeln!(out, "and {unchanged} without changes");
    }
    for members in &sets {
        let _ = writeln!(out, "\n{}", paint.line("1;4", &names(members)));
        let diff = &members[0].diff;
        out.push_str(&if stat_only { stat(diff, sources) } else { details(diff, sources, color) });
    }
    out
}

/// The nodes that change, together with those that change in the same way.
pub(super) fn sets(nodes: &[NodeDiff]) -> Vec<Vec<&NodeDiff>> {
    let mut sets: Vec<(String, Vec<&NodeDiff>)> = Vec::new();
    for node in nodes.iter().filter(|n| !n.diff.is_empty()) {
        // The same changes from the same parts of the specs: where in each file they stand may differ.
        let key = serde_json::to_string(&node.diff.steps).unwrap_or_default();
        match sets.iter_mut().find(|(other, _)| *other == key) {
            Some((_, members)) => members.push(node),
            None => sets.push((key, vec![node])),
        }
    }
    sets.into_iter().map(|(_, members)| members).collect()
}

/// Node, spec, and what changes, in the order of the nodes' names.
pub(super) fn rows(sets: &[Vec<&NodeDiff>]) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    for members in sets {
        for (at, node) in members.iter().enumerate() {
            let what = if at == 0 {
                summary(&node.diff).trim_end().to_owned()
            } else {
                format!("as {}", visible_line(&members[0].diff.node))
            };
            rows.push([visible_line(&node.diff.node), visible_line(&node.spec), what]);
        }
    }
    rows.sort();
    rows
}

/// The names of nodes, as a heading.
pub(super) fn names(members: &[&NodeDiff]) -> String {
    members.iter().map(|n| visible_line(&n.diff.node)).collect::<Vec<_>>().join(", ")
}

/// The version word of several diffs in JSON. The shape is promised by schemas/diffs.json.
const VERSION: &str = "purlin.dev/diffs/v1alpha1";

/// The diffs of several specs as versioned JSON, and the specs that are gone.
#[must_use]
pub fn fleet_json(nodes: &[NodeDiff], gone: &[String], sources: &Sources) -> Json {
    let diffs = nodes.iter().map(|node| {
        let mut diff = super::json(&node.diff, sources);
        // Those of all specs stand together.
        diff["findings"] = crate::diag::json::render(&[], 0, sources);
        json!({ "spec": node.spec, "diff": diff })
    });
    json!({ "version": VERSION, "diffs": diffs.collect::<Vec<_>>(), "gone": gone })
}

/// Rows with their columns under each other; the last column is as long as it is.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
