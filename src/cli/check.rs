//! `purlin check`

use super::parallel::in_parallel;
use super::{Failure, Outcome, OutputFormat, Session, input};
use crate::diag::{self, Findings, Sources};
use crate::emission::emit;
use crate::facts::Facts;
use crate::host::Root;
use crate::plan::{Unproven, unproven_json};
use crate::spec::validator;
use clap::Args;
use std::path::{Path, PathBuf};

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

/// What is to be said about one spec.
#[derive(Default)]
struct Verdict {
    sources: Sources,
    findings: Findings,
    unproven: Vec<Unproven>,
}

impl Check {
    fn one(&self, path: &Path, facts: Option<&Facts>, session: &Session) -> Result<Verdict, Failure> {
        let mut verdict = Verdict::default();
        let Verdict { sources, findings, unproven } = &mut verdict;
        if let Some(node) = input::spec(path, sources, findings)? {
            let tree = match &session.root {
                Some(dir) => {
                    let seen = input::tree(&Root::open(dir)?, facts.cloned(), node.platform())?;
                    seen.warnings.iter().chain(&seen.unread_ledger).for_each(|warning| session.warn(warning));
                    Some(seen.facts)
                }
                None => None,
            };
            let facts = tree.as_ref().or(facts);
            let plan = emit(&node, facts, findings);
            // What stands in our places is part of what can be said with facts.
            *unproven = match facts {
                Some(facts) => crate::plan::diff(&plan, facts, findings).unproven,
                None => plan.unproven,
            };
        }
        Ok(verdict)
    }

    pub fn run(&self, session: &Session) -> Outcome {
        // The schema takes as long to compile as a spec takes to parse; whoever needs it first waits for it.
        let early = std::thread::Builder::new().spawn(|| _ = validator());
        let facts = self.facts.as_deref().map(input::facts_file).transpose()?;
        let mut sources = Sources::default();
        let mut findings = Findings::new();
        let mut unproven = Vec::new();
        let mut unread = Vec::new();
        for verdict in in_parallel(&self.specs, |path| self.one(path, facts.as_ref(), session)) {
            match verdict {
                Ok(verdict) => {
                    let moved = sources.absorb(verdict.sources);
                    findings.absorb(verdict.findings, &moved);
                    unproven.extend(verdict.unproven.into_iter().map(|u| u.moved(&moved)));
                }
                // What one file is not must not hide what is wrong with the others.
                Err(failure) => unread.push(failure),
            }
        }
        drop(early);
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
        unread.dedup_by(|a, b| a.0 == b.0);
        for Failure(message) in &unread {
            session.fail(message);
        }
        Ok(if unread.is_empty() { u8::from(input::failed(&findings)) } else { 2 })
    }
}
