//! `purlin schema`

use super::{Outcome, Session};
use crate::spec;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct SchemaCommand {
    /// What to describe.
    #[arg(value_enum, default_value_t)]
    what: What,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum What {
    /// A node spec, in YAML or JSON.
    #[default]
    Spec,
    /// Facts, as `observe` writes them.
    Facts,
    /// Findings, as `check --format json` prints them.
    Diagnostics,
}

impl SchemaCommand {
    pub fn run(&self, session: &Session) -> Outcome {
        session.print(match self.what {
            What::Spec => spec::SCHEMA_TEXT,
            What::Facts => spec::FACTS_SCHEMA_TEXT,
            What::Diagnostics => include_str!("../../schemas/diagnostics.json"),
        })?;
        Ok(0)
    }
}
