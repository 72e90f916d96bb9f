//! Running the binary as a user does.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `purlin` in a directory, without colours.
pub fn purlin(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_purlin"))
        .args(arguments)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// All that it said, on both streams.
pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
