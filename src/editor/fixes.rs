//! The changes that findings bring along.

use super::analysis::Analysis;
use crate::diag::{Diagnostic, FileId, Fix};
use std::ops::Range;

/// The findings whose change is in a file and which, or whose change, touches a range.
#[must_use]
pub fn fixes<'a>(
    analysis: &'a Analysis,
    file: FileId,
    range: &Range<usize>,
) -> Vec<(&'a Diagnostic, &'a Fix)> {
    let touches = |span: Range<usize>| span.start <= range.end && range.start <= span.end;
    let with = analysis.findings.iter().filter_map(|finding| Some((finding, finding.fix.as_ref()?)));
    with.filter(|(finding, fix)| {
        let labels = finding.labels.iter().filter(|l| l.primary).map(|l| l.span);
        labels.chain([fix.span]).any(|span| span.file == file && touches(span.range()))
    })
    .collect()
}

/// The changes of a file that need no one to look at them, none within another.
#[must_use]
pub fn certain_fixes(analysis: &Analysis, file: FileId) -> Vec<&Fix> {
    let mut certain: Vec<&Fix> = analysis
        .findings
        .iter()
        .filter_map(|finding| finding.fix.as_ref())
        .filter(|fix| fix.certain && fix.span.file == file)
        .collect();
    certain.sort_by_key(|fix| fix.span);
    certain.dedup_by_key(|fix| (fix.span, fix.replacement.clone()));
    let mut end = 0;
    certain.retain(|fix| {
        let free = fix.span.start >= end;
        if free {
            end = fix.span.end;
        }
        free
    });
    certain
}
