//! `purlin schema`

use super::{Outcome, Session};
use crate::source::to_reference;
use crate::{diag, explain, plan, spec};
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
    /// Differences, as `diff --format json` prints them.
    Diff,
    /// Differences of several specs, as `diff --format json` prints them.
    Diffs,
    /// A part, which specs include.
    Part,
    /// Explanations, as `explain --format json` prints them.
    Explain,
    /// No JSON Schema: every node of a spec in KDL, with its values and what it is for.
    Kdl,
}

impl SchemaCommand {
    pub fn run(&self, session: &Session) -> Outcome {
        session.print(match self.what {
            What::Spec => spec::SCHEMA_TEXT,
            What::Facts => spec::FACTS_SCHEMA_TEXT,
            What::Diagnostics => diag::json::SCHEMA_TEXT,
            What::Diff => plan::DIFF_SCHEMA_TEXT,
            What::Diffs => plan::DIFFS_SCHEMA_TEXT,
            What::Part => spec::PART_SCHEMA_TEXT,
            What::Explain => explain::SCHEMA_TEXT,
            What::Kdl => return session.print(&to_reference(spec::schema())).map(|()| 0),
        })?;
        Ok(0)
    }
}
