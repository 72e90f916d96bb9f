//! A diff as a page of Markdown, for the summary of a CI's step: what reviewers of a pull request read.

use super::render::{summary, unified};
use super::{Diff, Endpoint, NodeDiff, Operation, Step, fleet};
use crate::diag::markdown::{Page, cell, fenced};
use crate::diag::{Report, github, visible_line};

/// The page, of at most so many bytes: the impact, the findings, a table of what would change, and each change folded
/// below it. Without a diff, only why there is none.
#[must_use]
pub fn markdown(diff: Option<&Diff>, report: &Report<'_>, limit: usize) -> String {
    let mut page = Page::new(limit);
    let head = match diff {
        None if !report.failures.is_empty() => "no diff".to_owned(),
        None => "no diff, for the spec has errors".to_owned(),
        Some(diff) if diff.is_empty() => "nothing would change".to_owned(),
        Some(diff) => summary(diff).trim_end().to_owned(),
    };
    let node = diff.map(|d| d.node.as_str()).filter(|node| !node.is_empty());
    let node = node.map(|node| format!(" of {}", cell(node))).unwrap_or_default();
    page.push(&format!("### purlin diff{node}: {}\n", cell(&head)));
    if let Some(diff) = diff {
        table(&mut page, diff, report);
    }
    github::findings(&mut page, report);
    diff.into_iter().for_each(|diff| folded(&mut page, diff));
    page.finish()
}

/// The same for several nodes: a table of those that change, and each set of changes once.
#[must_use]
pub fn fleet_markdown(nodes: &[NodeDiff], gone: &[String], report: &Report<'_>, limit: usize) -> String {
    let mut page = Page::new(limit);
    let sets = fleet::sets(nodes);
    let rows = fleet::rows(&sets);
    let head = match rows.len() + gone.len() {
        0 => "nothing would change".to_owned(),
        _ => format!("{} of {} nodes would change", rows.len(), nodes.len()),
    };
    page.push(&format!("### purlin diff: {head}\n"));
    if !rows.is_empty() {
        page.push("\n| node | spec | what would change |\n|---|---|---|\n");
        for [node, spec, what] in &rows {
            page.push(&format!("| {} | {} | {} |\n", cell(node), cell(spec), cell(what)));
        }
    }
    for spec in gone {
        page.push(&format!("\n{} is gone; what was applied stays on its node\n", cell(spec)));
    }
    github::findings(&mut page, report);
    for members in &sets {
        page.push(&format!("\n#### {}\n", cell(&fleet::names(members))));
        table(&mut page, &members[0].diff, report);
        folded(&mut page, &members[0].diff);
    }
    page.finish()
}

/// Each change's lines, folded.
fn folded(page: &mut Page, diff: &Diff) {
    for change in diff.changes() {
        let text = unified(change);
        if !text.is_empty() {
            let name = cell(&change.place.to_string());
            page.push(&format!(
                "\n<details><summary>{} {name}</summary>\n\n{}\n</details>\n",
                change.operation.word(),
                fenced("diff", &text)
            ));
        }
    }
}

fn table(page: &mut Page, diff: &Diff, report: &Report<'_>) {
    if diff.is_empty() {
        return;
    }
    page.push("\n| | place | impact | spec |\n|---|---|---|---|\n");
    for step in &diff.steps {
        page.push(&match step {
            Step::Change(change) => {
                let origin = change.origin.as_ref();
                let line = origin.map_or_else(
                    || "no longer asked for".to_owned(),
                    |o| format!("{} ({})", o.path, report.sources.cite(o.span)),
                );
                let notes: Vec<String> =
                    change.notes.iter().map(|note| format!("<br>{}", cell(note))).collect();
                format!(
                    "| {}{} | {}{} | {} | {} |\n",
                    change.operation.word(),
                    if change.blocked { " (blocked)" } else { "" },
                    cell(&change.place.to_string()),
                    notes.concat(),
                    cell(&change.impact.to_string()),
                    cell(&line)
                )
            }
            Step::RestartUnit { unit, because } => {
                let places: Vec<String> = because.iter().map(|p| visible_line(&p.to_string())).collect();
                format!(
                    "| restart | {}<br>because of {} | restart | |\n",
                    cell(unit),
                    cell(&places.join(", "))
                )
            }
        });
    }
    for Endpoint::DevicePlugin { resource, socket, .. } in &diff.endpoints {
        page.push(&format!("\nServed by the agent: {} on {}\n", cell(resource), cell(socket)));
    }
}

impl Operation {
    /// As an order: `create`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}
