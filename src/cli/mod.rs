//! The command line: it reads files and arguments, calls the pure road, and prints. Data goes to stdout, talk to stderr.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod check;
mod ci;
mod completion;
mod convert;
mod diff;
mod explain;
mod facts;
mod fix;
mod fmt;
mod git;
mod input;
#[cfg(feature = "lsp")]
mod lsp;
#[cfg(feature = "man")]
mod man;
mod migrate;
mod observe;
mod parallel;
mod render;
mod rewrite;
mod schema;
mod specs;
mod tree;

use crate::diag::{obeyed, visible_line};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Headings of options in the help.
const FACTS_AND_TREES: &str = "Facts and trees";
const OUTPUT: &str = "Output";

/// One checked node spec, compiled to everything a Kubernetes node's runtimes, networks and devices need.
#[derive(Debug, Parser)]
#[command(name = "purlin", version, max_term_width = 100, disable_help_subcommand = true)]
struct Arguments {
    /// Work on the tree below this directory as if it were the host's file system; nothing outside it is touched.
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = FACTS_AND_TREES)]
    root: Option<PathBuf>,
    /// When to use colours.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = OUTPUT)]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    #[default]
    Human,
    /// One versioned JSON document on stdout.
    Json,
    /// SARIF 2.1.0 on stdout, for code scanning: the findings.
    Sarif,
    /// Workflow commands on stdout, for GitHub Actions; a summary goes where GITHUB_STEP_SUMMARY says.
    Github,
    /// JUnit XML on stdout: a suite per spec, a failure per error.
    Junit,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say all that is wrong with specs, or with directories of them.
    ///
    /// First all that is wrong with their shape, then all that is wrong with their meaning; each with a code, the place
    /// and the remedy. Exit code: 0 fine (warnings too), 1 errors, 2 could not look.
    Check(check::Check),
    /// Show what applying a spec would change.
    ///
    /// With the impact on running work, and the line of the spec behind each change. Without --facts, --root and
    /// --against it looks at this host. Exit code: 0 nothing, 1 differences, 2 could not say.
    Diff(diff::DiffCommand),
    /// Write the files that follow from a spec below a directory.
    ///
    /// All of them or none. Exit code: 0 done, 1 errors, 2 could not write.
    Render(render::Render),
    /// Lay specs out in the one style, in place.
    ///
    /// Comments, numbers and strings stay as they are written. Exit code: 0 fine, 1 a text has errors (or would change,
    /// with --check and --diff), 2 could not read or write.
    Fmt(fmt::Fmt),
    /// Write a spec in another syntax, with its comments.
    ///
    /// Exit code: 0 done, 1 errors, 2 could not read or write.
    Convert(convert::Convert),
    /// Rewrite specs of an old version for the newest, in place.
    ///
    /// Exit codes as for fmt.
    Migrate(migrate::Migrate),
    /// Write down all about this host that a plan or a diff depends on.
    ///
    /// Versions, files, plugins, devices and links. Exit code: 0 done, 2 could not look or write.
    Observe(observe::Observe),
    /// Explain a path of the spec, or a diagnostic code, at length.
    ///
    /// Exit code: 0 done, 1 the spec has errors, 2 there is no such thing.
    Explain(explain::Explain),
    /// Print the JSON Schema of a spec or another document, or a spec's KDL form.
    Schema(schema::SchemaCommand),
    /// Print a completion script for a shell.
    Completion(completion::Completion),
    /// Serve an editor over stdin and stdout with the Language Server Protocol.
    ///
    /// Exit code: 0 when the editor said goodbye first, 1 else.
    #[cfg(feature = "lsp")]
    Lsp(lsp::Lsp),
    /// Print the manual page, or write one per command into a directory.
    #[cfg(feature = "man")]
    Man(man::ManCommand),
}

/// Something that keeps a command from doing its work, already in words for a person.
#[derive(Debug)]
struct Failure(String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.contains(&cause_text) {
                text.push_str(": ");
                text.push_str(&cause_text);
            }
            source = cause.source();
        }
        Self(text)
    }
}

type Outcome = Result<u8, Failure>;

/// What every command may need of the surroundings.
struct Session {
    root: Option<PathBuf>,
    color_out: bool,
    color_err: bool,
    width: usize,
}

/// The command line as clap knows it: for tests of what is written about it elsewhere.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Runs the command that the arguments name, and gives the process's exit code.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<_> = arguments.into_iter().collect();
    if let Some(code) = completion::answer(&arguments) {
        return ExitCode::from(code);
    }
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Printing help into a closed pipe is nobody's mistake; help that finds no room was not given.
            let lost = error.print().is_err_and(|e| e.kind() != std::io::ErrorKind::BrokenPipe);
            return ExitCode::from(if lost || error.use_stderr() { 2 } else { 0 });
        }
    };
    let session = Session::new(arguments.root, arguments.color);
    crate::host::fail_at_limits();
    let outcome = match &arguments.command {
        Command::Check(command) => command.run(&session),
        Command::Diff(command) => command.run(&session),
        Command::Render(command) => command.run(&session),
        Command::Fmt(command) => command.run(&session),
        Command::Convert(command) => command.run(&session),
        Command::Migrate(command) => command.run(&session),
        Command::Observe(command) => command.run(&session),
        Command::Explain(command) => command.run(&session),
        Command::Schema(command) => command.run(&session),
        Command::Completion(command) => command.run(&session),
        #[cfg(feature = "lsp")]
        Command::Lsp(command) => command.run(&session),
        #[cfg(feature = "man")]
        Command::Man(command) => command.run(&session),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(Failure(message)) => {
            session.fail(&message);
            ExitCode::from(2)
        }
    }
}

impl Session {
    fn new(root: Option<PathBuf>, color: Color) -> Self {
        use std::io::{IsTerminal, stderr, stdout};
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            && std::env::var_os("TERM").is_none_or(|v| v != "dumb");
        let decide = |terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => allowed && terminal,
        };
        let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        Self {
            root,
            color_out: decide(stdout().is_terminal()),
            color_err: decide(stderr().is_terminal()),
            width: columns.unwrap_or(120),
        }
    }

    /// Says what keeps a command from doing its work.
    fn fail(&self, message: &str) {
        self.say(&format!("{}: {}\n", self.bold_red("error"), visible_line(message)));
    }

    /// Says what is odd about the surroundings.
    fn warn(&self, warning: impl std::fmt::Display) {
        self.say(&format!("warning: {}\n", visible_line(&warning.to_string())));
    }

    fn bold_red(&self, text: &str) -> String {
        if self.color_err { format!("\x1b[1;31m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Talk, for people: stderr.
    fn say(&self, text: &str) {
        use std::io::Write;
        // A closed stderr leaves no one to tell.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    /// Data: stdout. A reader that has gone (`| head`) is no error of ours.
    fn print(&self, text: &str) -> Result<(), Failure> {
        use std::io::{ErrorKind, Write};
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure(format!("cannot write to stdout: {error}; see that there is room")))
            }
            _ => Ok(()),
        }
    }

    fn print_json(&self, value: &serde_json::Value) -> Result<(), Failure> {
        let text = format!("{value:#}\n");
        let hidden = |c: char| obeyed(c) && !c.is_ascii() || c == '\u{7f}';
        if !text.contains(hidden) {
            return self.print(&text);
        }
        // Only strings hold such characters, and all of them have four digits.
        let escape = |c: char| if hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
        self.print(&text.chars().map(escape).collect::<String>())
    }
}
