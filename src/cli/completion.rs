//! `purlin completion`

use super::{Arguments, Failure, Outcome, Session};
use crate::diag::CODES;
use crate::facts::platform::PLATFORMS;
use crate::source::next_steps;
use crate::spec;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::{CompleteEnv, Shells};
use std::ffi::{OsStr, OsString};

/// While it is set, purlin answers a shell that asks what may follow. Not clap's COMPLETE, which may well be set by others.
const ASKED: &str = "PURLIN_COMPLETE";

#[derive(Debug, Args)]
pub struct Completion {
    /// The shell to print a script for.
    #[arg(value_enum)]
    shell: Shell,
    /// Print a script that asks purlin itself what may follow.
    ///
    /// It offers also codes and paths of the spec, for explain. Since it fits only the purlin that printed it, load it
    /// when the shell starts and keep no copy: source <(purlin completion bash --dynamic).
    #[arg(long)]
    dynamic: bool,
}

impl Completion {
    pub fn run(&self, session: &Session) -> Outcome {
        let mut script = Vec::new();
        if self.dynamic {
            let shells = Shells::builtins();
            let name = self.shell.to_string();
            let shell = shells
                .completer(&name)
                .ok_or_else(|| Failure(format!("{name} cannot ask; leave out `--dynamic`")))?;
            shell.write_registration(ASKED, "purlin", "purlin", "purlin", &mut script)?;
        } else {
            clap_complete::generate(self.shell, &mut Arguments::command(), "purlin", &mut script);
        }
        session.print(&String::from_utf8_lossy(&script))?;
        Ok(0)
    }
}

/// Answers a shell, if it is one that asks; gives the exit code then.
pub fn answer(arguments: &[OsString]) -> Option<u8> {
    std::env::var_os(ASKED)?;
    let dir = std::env::current_dir().ok();
    match CompleteEnv::with_factory(Arguments::command)
        .var(ASKED)
        .bin("purlin")
        .completer("purlin")
        .try_complete(arguments, dir.as_deref())
    {
        Ok(answered) => answered.then_some(0),
        // The shell would show it in the middle of what is being typed.
        Err(_) => Some(2),
    }
}

/// What `explain` can explain that begins so.
pub fn explainable(begun: &OsStr) -> Vec<CompletionCandidate> {
    let Some(begun) = begun.to_str() else { return Vec::new() };
    let begins = |code: &str| code.get(..begun.len()).is_some_and(|start| start.eq_ignore_ascii_case(begun));
    let codes = CODES
        .iter()
        .filter(|code| begins(code.name()))
        .map(|code| CompletionCandidate::new(code.name()).help(Some(code.title().to_string().into())));
    let paths = next_steps(spec::schema(), begun).into_iter().map(|(path, about)| {
        let about = about.lines().next().unwrap_or_default().to_owned();
        CompletionCandidate::new(path).help(Some(about.into()))
    });
    // Paths first: without a word, they are fewer.
    paths.chain(codes).collect()
}

/// The platforms that `observe` knows.
pub fn platforms() -> Vec<CompletionCandidate> {
    PLATFORMS.iter().map(|platform| CompletionCandidate::new(platform.name)).collect()
}
