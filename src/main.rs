//! The `purlin` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    purlin::cli::run(std::env::args_os())
}
