//! `purlin check`

use super::{Failure, Outcome, OutputFormat, Session, input};
use crate::diag::{self, Findings, Sources};
use crate::emission::emit;
use crate::plan::unproven_json;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Check {
    /// Node specs (.kdl, .yaml, .json).
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<PathBuf>,
    /// Facts of the node, as `purlin observe` writes them: more can be proved then.
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

impl Check {
    pub fn run(&self, session: &Session) -> Outcome {
        let facts = self.facts.as_deref().map(input::facts_file).transpose()?;
        let mut sources = Sources::default();
        let mut findings = Findings::new();
        let mut unproven = Vec::new();
        let mut unread = Vec::new();
        for path in &self.specs {
            // What one file is not must not hide what is wrong with the others.
            let node = match input::spec(path, &mut sources, &mut findings) {
                Ok(Some(node)) => node,
                Ok(None) => continue,
                Err(failure) => {
                    unread.push(failure);
                    continue;
                }
            };
            let facts = match &session.root {
                Some(dir) => Some(input::tree_facts(session, dir, facts.clone(), node.platform())?.1),
                None => facts.clone(),
            };
            let mut plan = emit(&node, facts.as_ref(), &mut findings);
            if let Some(facts) = &facts {
                // What stands in our places is part of what can be said with facts.
                let diff = crate::plan::diff(&plan, facts, &mut findings);
                plan.unproven = diff.unproven;
            }
            unproven.append(&mut plan.unproven);
        }
        let cut_short = findings.is_cut_short();
        let findings = findings.into_sorted();
        if self.format == OutputFormat::Json {
            let mut document = diag::json::render(&findings, &sources);
            if let Some(document) = document.as_object_mut() {
                document.insert("cutShort".into(), cut_short.into());
                document.insert("unproven".into(), unproven_json(&unproven, &sources));
            }
            session.print_json(&document)?;
        } else {
            input::show(&findings, cut_short, &sources, session, self.format);
            if findings.is_empty() && unread.is_empty() {
                let specs = if self.specs.len() == 1 {
                    "1 spec".into()
                } else {
                    format!("{} specs", self.specs.len())
                };
                session.say(&format!("{specs} checked, nothing to say\n"));
            }
            input::show_unproven(&unproven, &sources, session);
        }
        for Failure(message) in &unread {
            session.fail(message);
        }
        Ok(if unread.is_empty() { u8::from(input::failed(&findings)) } else { 2 })
    }
}
