//! `purlin check`

use super::facts::FactsOption;
use super::fix::{Fixed, Mended, mend};
use super::parallel::in_parallel;
use super::specs::{Changed, SpecFile, specs};
use super::tree::TreeOption;
use super::{Failure, OUTPUT, Outcome, OutputFormat, Session, ci, input};
use crate::diag::{self, Findings, Report, Sources};
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
    #[arg(long, value_enum, default_value_t, help_heading = OUTPUT)]
    format: OutputFormat,
    /// Change the specs where it is certain what was meant, then say what is left.
    #[arg(long)]
    fix: bool,
    /// Print what --fix would change, and change nothing. Exit code: 0 nothing, and no errors; 1 otherwise.
    #[arg(long, requires = "fix", conflicts_with = "format")]
    diff: bool,
}

/// What is to be said about one spec.
#[derive(Default)]
pub struct Verdict {
    pub sources: Sources,
    pub findings: Findings,
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
    /// Looks at a spec as it was read.
    fn look(&self, spec: &SpecFile, bytes: &[u8], session: &Session) -> Result<Verdict, Failure> {
        let mut verdict = Verdict::default();
        let Verdict { sources, findings, unproven, .. } = &mut verdict;
        let read = input::compile_spec(spec, bytes, sources, findings)?;
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

    fn one(&self, spec: &SpecFile, session: &Session) -> Result<Mended, Failure> {
        let bytes = input::read_spec(&spec.path)?;
        let verdict = self.look(spec, &bytes, session)?;
        // A file of somebody else's, or a spec that is left out, is not changed.
        if !self.fix || verdict.counted.is_none() {
            return Ok((verdict, Ok(None)));
        }
        mend(&spec.path, bytes, verdict, |bytes| self.look(spec, bytes, session))
    }

    pub fn run(&self, session: &Session) -> Outcome {
        // The schema takes as long to compile as a spec takes to parse; whoever needs it first waits for it.
        let early = std::thread::Builder::new().spawn(|| _ = validator());
        let (specs, failures) = specs(&self.specs, &self.tree);
        let mut unread: Vec<(String, String)> = failures;
        self.changed.open(&specs)?;
        let mut sources = Sources::default();
        let mut findings = Findings::new();
        let mut unproven = Vec::new();
        let (mut plans, mut counted, mut fixed) = (Vec::new(), Vec::new(), Vec::new());
        let mut names = Vec::new();
        for (spec, verdict) in specs.iter().zip(in_parallel(&specs, |spec| self.one(spec, session))) {
            let name = spec.path.display().to_string();
            match verdict {
                Ok((verdict, change)) => {
                    let moved = sources.absorb(verdict.sources);
                    findings.absorb(verdict.findings, &moved);
                    unproven.extend(verdict.unproven.into_iter().map(|u| u.moved(&moved)));
                    plans.extend(verdict.plan.map(|plan| plan.moved(&moved)));
                    counted.extend(verdict.counted);
                    if verdict.counted.is_some() {
                        names.push(name.clone());
                    }
                    match change {
                        Ok(change) => fixed.extend(change),
                        Err(Failure(message)) => unread.push((name, message)),
                    }
                }
                // What one file is not must not hide what is wrong with the others.
                Err(Failure(message)) => {
                    names.push(name.clone());
                    unread.push((name, message));
                }
            }
        }
        agree(&plans, &mut findings);
        drop(early);
        if self.diff {
            return self.show_fixes(&fixed, findings, &unread, session);
        }
        for change in &fixed {
            match change.write() {
                Ok(()) => session.say(&change.said("applied")),
                Err(Failure(message)) => unread.push((change.name(), message)),
            }
        }
        let settled = findings.settle();
        let unproven_lines = input::unproven_lines(&unproven, &sources);
        let report = Report {
            command: "check",
            specs: &names,
            settled: &settled,
            sources: &sources,
            failures: &unread,
            unproven: &unproven_lines,
            output: "",
        };
        match self.format {
            OutputFormat::Json => {
                let mut document = diag::json::render(&settled.list, settled.silenced, &sources);
                if let Some(document) = document.as_object_mut() {
                    document.insert("cutShort".into(), settled.cut_short.into());
                    document.insert("unproven".into(), unproven_json(&unproven, &sources));
                }
                session.print_json(&document)?;
            }
            OutputFormat::Human => {
                input::show(&settled, &sources, session, self.format);
                let silenced = match settled.silenced {
                    0 => String::new(),
                    n => format!(" ({n} silenced)"),
                };
                if settled.list.is_empty() && unread.is_empty() {
                    session.say(&format!("{} checked, nothing to say{silenced}\n", count(&counted)));
                } else if counted.len() > 1 {
                    session.say(&format!("{} checked{silenced}\n", count(&counted)));
                }
                input::show_unproven(&unproven, &sources, session);
            }
            OutputFormat::Sarif => session.print_json(&diag::sarif::render(&report))?,
            OutputFormat::Junit => session.print(&diag::junit::render(&report))?,
            OutputFormat::Github => {
                session.print(&diag::github::annotations(&report))?;
                ci::summarise(|limit| diag::github::summary(&report, limit))?;
            }
        }
        input::say_unread(&unread, session);
        Ok(if unread.is_empty() { u8::from(input::failed(&settled.list)) } else { 2 })
    }

    /// What `--fix` would do, as a unified diff; nothing is written.
    fn show_fixes(
        &self,
        fixed: &[Fixed],
        findings: Findings,
        unread: &[(String, String)],
        session: &Session,
    ) -> Outcome {
        for change in fixed {
            session.print(&change.unified(session.color_out))?;
            session.say(&change.said("would be applied"));
        }
        let left = findings.errors();
        if fixed.is_empty() && unread.is_empty() {
            session.say("nothing to fix\n");
        }
        if left > 0 {
            session.say(&format!(
                "{left} {} would be left; `purlin check` lists what is wrong now\n",
                if left == 1 { "error" } else { "errors" }
            ));
        }
        input::say_unread(unread, session);
        Ok(if unread.is_empty() { u8::from(left > 0 || !fixed.is_empty()) } else { 2 })
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
