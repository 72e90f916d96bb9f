//! `purlin diff`

use super::{Failure, Outcome, OutputFormat, Session, ci, input};
use crate::diag::{self, Findings, Report, Settled, Sources};
use crate::emission::emit;
use crate::facts::Facts;
use crate::facts::platform::Platform;
use crate::host::{self, Root};
use crate::plan::{self, Diff};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct DiffCommand {
    /// A node spec (.kdl, .yaml, .json).
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Compare with the node that these facts tell of. With --root: with that tree, on a host like this.
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

impl DiffCommand {
    pub fn run(&self, session: &Session) -> Outcome {
        let outcome = self.look(session);
        if let Err(Failure(message)) = &outcome {
            // Who reads a report of a CI has to find there that there is none.
            let failures = [(self.name(), message.clone())];
            let (settled, sources) = (Settled::default(), Sources::default());
            self.report(None, &Report { failures: &failures, ..self.of(&settled, &sources) }, session)?;
        }
        outcome
    }

    fn name(&self) -> String {
        self.spec.display().to_string()
    }

    fn of<'a>(&'a self, settled: &'a Settled, sources: &'a Sources) -> Report<'a> {
        Report { command: "diff", specs: &[], settled, sources, failures: &[], unproven: &[], output: "" }
    }

    fn look(&self, session: &Session) -> Outcome {
        let mut sources = Sources::default();
        let mut findings = Findings::new();
        let node = input::spec(&self.spec, &mut sources, &mut findings)?;
        let diff = match node {
            Some(node) => {
                let facts = self.facts(session, node.platform())?;
                let plan = emit(&node, Some(&facts), &mut findings);
                Some(plan::diff(&plan, &facts, &mut findings))
            }
            None => None,
        };
        let settled = findings.settle();
        input::show(&settled, &sources, session, self.format);
        match (self.format, &diff) {
            (OutputFormat::Json, _) => {
                let mut document = plan::json(&diff.clone().unwrap_or_default(), &sources);
                if let Some(document) = document.as_object_mut() {
                    let findings = diag::json::render(&settled.list, settled.silenced, &sources);
                    document.insert("findings".into(), findings);
                }
                session.print_json(&document)?;
            }
            (OutputFormat::Human, Some(diff)) => {
                input::show_unproven(&diff.unproven, &sources, session);
                if diff.is_empty() {
                    session.say("nothing would change\n");
                }
                session.print(&plan::human(diff, &sources, session.color_out))?;
            }
            (OutputFormat::Human, None) => {}
            _ => {
                let unproven = diff
                    .as_ref()
                    .map(|diff| input::unproven_lines(&diff.unproven, &sources))
                    .unwrap_or_default();
                let output = diff.as_ref().map(|diff| plan::human(diff, &sources, false)).unwrap_or_default();
                let specs = [self.name()];
                let report = Report {
                    specs: &specs,
                    unproven: &unproven,
                    output: &output,
                    ..self.of(&settled, &sources)
                };
                self.report(diff.as_ref(), &report, session)?;
            }
        }
        Ok(match diff {
            Some(_) if input::failed(&settled.list) => 2,
            Some(diff) if diff.is_empty() => 0,
            Some(_) => 1,
            None => 2,
        })
    }

    /// Prints in the formats of CI systems.
    fn report(&self, diff: Option<&Diff>, report: &Report<'_>, session: &Session) -> Result<(), Failure> {
        match self.format {
            OutputFormat::Human | OutputFormat::Json => Ok(()),
            OutputFormat::Sarif => session.print_json(&diag::sarif::render(report)),
            OutputFormat::Junit => session.print(&diag::junit::render(report)),
            OutputFormat::Github => {
                let summary = diff.map(plan::summary).filter(|line| !line.is_empty());
                let notice = summary.map(|line| diag::github::notice(&line)).unwrap_or_default();
                session.print(&format!("{}{notice}", diag::github::annotations(report)))?;
                ci::summarise(|limit| plan::markdown(diff, report, limit))
            }
        }
    }

    fn facts(&self, session: &Session, platform: &Platform) -> Result<Facts, Failure> {
        let file = self.facts.as_deref().map(input::facts_file).transpose()?;
        match (&session.root, file) {
            (Some(dir), file) => Ok(input::tree_facts(session, dir, file, platform)?.1),
            (None, Some(facts)) => Ok(facts),
            (None, None) => {
                let seen = host::observe(&Root::open(Path::new("/"))?, true, platform, &[])?;
                for warning in &seen.warnings {
                    session.warn(warning);
                }
                Ok(seen.facts)
            }
        }
    }
}
