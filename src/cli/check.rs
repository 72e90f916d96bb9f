//! `purlin check`

use super::facts::FactsOption;
use super::parallel::in_parallel;
use super::specs::{Changed, SpecFile, specs};
use super::tree::TreeOption;
use super::{Failure, Outcome, OutputFormat, Session, input};
use crate::diag::{self, Findings, Sources};
use crate::emission::emit;
use crate::host::Root;
use crate::plan::{Plan, Unproven, agree, unproven_json};
use crate::spec::validator;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Check {
    /// Node specs (.kdl, .yaml, .json), or directories of them.
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<PathBuf>,
    #[command(flatten)]
    facts: FactsOption,
    #[command(flatten)]
    tree: TreeOption,
    #[command(flatten)]
    changed: Changed,
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
    /// What the rest of the cluster shares with it; without the node's own files.
    plan: Option<Plan>,
    /// Its own, not counting what it includes.
    counted: Option<Counted>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    Spec,
    Part,
}

impl Check {
    fn one(&self, spec: &SpecFile, session: &Session) -> Result<Verdict, Failure> {
        let mut verdict = Verdict::default();
        let Verdict { sources, findings, unproven, .. } = &mut verdict;
        let read = input::spec(spec, sources, findings)?;
        if self.changed.leaves_out(spec, &read) {
            return Ok(Verdict::default());
        }
        let counted = match &read {
            input::Spec::Foreign => None,
            input::Spec::Part => Some(Counted::Part),
            input::Spec::Whole(_) | input::Spec::Broken => Some(Counted::Spec),
        };
        if let Some(node) = read.node() {
            let facts = self.facts.of(node.name())?;
            let facts = match &session.root {
                Some(dir) => {
                    let seen = input::tree(&Root::open(dir)?, facts, node.platform())?;
                    seen.warnings.iter().chain(&seen.unread_ledger).for_each(|warning| session.warn(warning));
                    Some(seen.facts)
                }
                None => facts,
            };
            let mut plan = emit(&node, facts.as_ref(), findings);
            // What stands in our places is part of what can be said with facts.
            *unproven = match &facts {
                Some(facts) => crate::plan::diff(&plan, facts, findings).unproven,
                None => std::mem::take(&mut plan.unproven),
            };
            verdict.plan = Some(plan.shared());
        }
        verdict.counted = counted;
        Ok(verdict)
    }

    pub fn run(&self, session: &Session) -> Outcome {
        // The schema takes as long to compile as a spec takes to parse; whoever needs it first waits for it.
        let early = std::thread::Builder::new().spawn(|| _ = validator());
        let (specs, mut unread) = specs(&self.specs, &self.tree);
        self.changed.open(&specs)?;
        let mut sources = Sources::default();
        let mut findings = Findings::new();
        let mut unproven = Vec::new();
        let mut plans = Vec::new();
        let mut counted = Vec::new();
        for verdict in in_parallel(&specs, |spec| self.one(spec, session)) {
            match verdict {
                Ok(verdict) => {
                    let moved = sources.absorb(verdict.sources);
                    findings.absorb(verdict.findings, &moved);
                    unproven.extend(verdict.unproven.into_iter().map(|u| u.moved(&moved)));
                    plans.extend(verdict.plan.map(|plan| plan.moved(&moved)));
                    counted.extend(verdict.counted);
                }
                // What one file is not must not hide what is wrong with the others.
                Err(failure) => unread.push(failure),
            }
        }
        agree(&plans, &mut findings);
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
                session.say(&format!("{} checked, nothing to say\n", count(&counted)));
            } else if counted.len() > 1 {
                session.say(&format!("{} checked\n", count(&counted)));
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

/// How many files of which kind.
fn count(counted: &[Counted]) -> String {
    let of = |kind, word: &str| match counted.iter().filter(|c| **c == kind).count() {
        0 => None,
        1 => Some(format!("1 {word}")),
        n => Some(format!("{n} {word}s")),
    };
    let words: Vec<String> =
        [of(Counted::Spec, "spec"), of(Counted::Part, "part")].into_iter().flatten().collect();
    if words.is_empty() { "no spec".to_owned() } else { words.join(" and ") }
}
