//! `purlin diff`

use super::{Failure, Outcome, OutputFormat, Session, input};
use crate::diag::{self, Findings, Sources};
use crate::emission::emit;
use crate::facts::Facts;
use crate::facts::platform::Platform;
use crate::host::{self, Root};
use crate::plan;
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
        let cut_short = findings.is_cut_short();
        let findings = findings.into_sorted();
        input::show(&findings, cut_short, &sources, session, self.format);
        if self.format == OutputFormat::Json {
            let mut document = plan::json(&diff.clone().unwrap_or_default(), &sources);
            if let Some(document) = document.as_object_mut() {
                document.insert("findings".into(), diag::json::render(&findings, &sources));
            }
            session.print_json(&document)?;
        } else if let Some(diff) = &diff {
            input::show_unproven(&diff.unproven, &sources, session);
            if diff.is_empty() && diff.unseen.is_empty() {
                session.say("nothing would change\n");
            }
            session.print(&plan::human(diff, &sources, session.color_out))?;
        }
        let from_facts = self.facts.is_some() && session.root.is_none();
        if let Some(failure) = diff.as_ref().and_then(|d| input::unseen(&d.unseen, from_facts)) {
            return Err(failure);
        }
        Ok(match diff {
            Some(_) if input::failed(&findings) => 2,
            Some(diff) if diff.is_empty() => 0,
            Some(_) => 1,
            None => 2,
        })
    }

    fn facts(&self, session: &Session, platform: &Platform) -> Result<Facts, Failure> {
        let file = self.facts.as_deref().map(input::facts_file).transpose()?;
        let seen = match (&session.root, file) {
            (Some(dir), file) => input::tree(&Root::open(dir)?, file, platform)?,
            (None, Some(facts)) => return Ok(facts),
            (None, None) => host::observe(&Root::open(Path::new("/"))?, true, platform, &[])?,
        };
        seen.warnings.iter().for_each(|warning| session.warn(warning));
        input::needs_ledger(&seen)?;
        Ok(seen.facts)
    }
}
