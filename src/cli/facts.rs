//! Facts that stand in for hosts, from files.

use super::{FACTS_AND_TREES, Failure, input};
use crate::facts::Facts;
use clap::Args;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The option that names facts.
#[derive(Clone, Debug, Default, Args)]
pub struct FactsOption {
    /// Facts of the node, as `purlin observe` writes them. A directory holds NODE.facts.json for each node.
    #[arg(long, value_name = "FILE", help_heading = FACTS_AND_TREES)]
    pub facts: Option<PathBuf>,
    /// One file for all is read once.
    #[arg(skip)]
    read: OnceLock<Facts>,
}

impl FactsOption {
    /// The facts of a node; absent when none are named, or the directory has none of it.
    pub fn of(&self, node: &str) -> Result<Option<Facts>, Failure> {
        let Some(path) = &self.facts else { return Ok(None) };
        if path.is_dir() {
            // A node's name is a plain word: it cannot lead out of the directory.
            let file = path.join(format!("{node}.facts.json"));
            return if file.exists() { input::facts_file(&file).map(Some) } else { Ok(None) };
        }
        if let Some(facts) = self.read.get() {
            return Ok(Some(facts.clone()));
        }
        let facts = input::facts_file(path)?;
        Ok(Some(self.read.get_or_init(|| facts).clone()))
    }
}
