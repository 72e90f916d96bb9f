//! `purlin completion`

use super::{Arguments, Outcome, Session};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

#[derive(Debug, Args)]
pub struct Completion {
    /// The shell to print a script for.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completion {
    pub fn run(&self, session: &Session) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "purlin", &mut script);
        session.print(&String::from_utf8_lossy(&script))?;
        Ok(0)
    }
}
