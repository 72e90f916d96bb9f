//! What a CI system wants besides stdout.

use super::Failure;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// GitHub refuses a step's summary that is longer (docs.github.com, workflow commands, "step isolation and limits").
const SUMMARY: usize = 1 << 20;

/// Appends to the summary of the step that runs, where there is one. `make` is told how many bytes it may have.
pub fn summarise(make: impl FnOnce(usize) -> String) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|p| !p.is_empty()).map(PathBuf::from)
    else {
        return Ok(());
    };
    let fail = |error: std::io::Error| {
        let remedy = match error.kind() {
            ErrorKind::NotFound => "see that the path in GITHUB_STEP_SUMMARY is right",
            ErrorKind::PermissionDenied => "give your user the right to write it",
            _ => "see that it is a file with room",
        };
        Failure(format!("cannot write the step's summary to `{}`: {error}; {remedy}", path.display()))
    };
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&path).map_err(fail)?;
    let there = file.metadata().map_err(fail)?.len();
    let there = usize::try_from(there).unwrap_or(usize::MAX);
    // A line of the step before us may not have ended.
    let text = format!("\n{}", make(SUMMARY.saturating_sub(there).saturating_sub(1)));
    file.write_all(text.as_bytes()).map_err(fail)
}
