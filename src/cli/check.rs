//! `purlin check`

use super::fix::{Fixed, Mended, mend};
use super::parallel::in_parallel;
use super::{Failure, Outcome, OutputFormat, Session, ci, input};
use crate::diag::{self, Findings, Report, Sources};
use crate::emission::emit;
use crate::facts::Facts;
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
    pub unproven: Vec<Unproven>,
}

impl Check {
    /// Looks at a spec as it was read.
    fn look(
        &self,
        path: &Path,
        bytes: &[u8],
        facts: Option<&Facts>,
        session: &Session,
    ) -> Result<Verdict, Failure> {
        let mut verdict = Verdict::default();
        let Verdict { sources, findings, unproven } = &mut verdict;
        if let Some(node) = input::compile_spec(path, bytes, sources, findings)? {
            let tree = match &session.root {
                Some(dir) => Some(input::tree_facts(session, dir, facts.cloned(), node.platform())?.1),
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

    fn one(&self, path: &Path, facts: Option<&Facts>, session: &Session) -> Result<Mended, Failure> {
        let bytes = input::read_spec(path)?;
        let verdict = self.look(path, &bytes, facts, session)?;
        if !self.fix {
            return Ok((verdict, Ok(None)));
        }
        mend(path, bytes, verdict, |bytes| self.look(path, bytes, facts, session))
    }

    pub fn run(&self, session: &Session) -> Outcome {
        // The schema takes as long to compile as a spec takes to parse; whoever needs it first waits for it.
        let early = std::thread::Builder::new().spawn(|| _ = validator());
        let facts = self.facts.as_deref().map(input::facts_file).transpose()?;
        let mut sources = Sources::default();
        let mut findings = Findings::new();
        let mut unproven = Vec::new();
        let mut unread: Vec<(String, String)> = Vec::new();
        let mut fixed = Vec::new();
        let names: Vec<String> = self.specs.iter().map(|path| path.display().to_string()).collect();
        let verdicts = in_parallel(&self.specs, |path| self.one(path, facts.as_ref(), session));
        for (verdict, name) in verdicts.into_iter().zip(&names) {
            match verdict {
                Ok((verdict, change)) => {
                    let moved = sources.absorb(verdict.sources);
                    findings.absorb(verdict.findings, &moved);
                    unproven.extend(verdict.unproven.into_iter().map(|u| u.moved(&moved)));
                    match change {
                        Ok(change) => fixed.extend(change),
                        Err(Failure(message)) => unread.push((name.clone(), message)),
                    }
                }
                // What one file is not must not hide what is wrong with the others.
                Err(Failure(message)) => unread.push((name.clone(), message)),
            }
        }
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
                if settled.list.is_empty() && unread.is_empty() {
                    let specs = if self.specs.len() == 1 {
                        "1 spec".into()
                    } else {
                        format!("{} specs", self.specs.len())
                    };
                    let silenced = match settled.silenced {
                        0 => String::new(),
                        n => format!(" ({n} silenced)"),
                    };
                    session.say(&format!("{specs} checked, nothing to say{silenced}\n"));
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
        say_unread(unread.iter(), session);
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
        say_unread(unread.iter(), session);
        Ok(if unread.is_empty() { u8::from(left > 0 || !fixed.is_empty()) } else { 2 })
    }
}

fn say_unread<'a>(unread: impl Iterator<Item = &'a (String, String)>, session: &Session) {
    let mut last = None;
    for (_, message) in unread {
        // What is wrong with the surroundings is wrong for every spec.
        if last != Some(message) {
            session.fail(message);
        }
        last = Some(message);
    }
}
