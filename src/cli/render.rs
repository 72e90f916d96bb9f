//! `purlin render`

use super::{Failure, Outcome, OutputFormat, Session, input};
use crate::diag::{Findings, Sources, visible_line};
use crate::emission::emit;
use crate::host::{Transaction, bases};
use crate::plan::{self, Operation};
use clap::Args;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Render {
    /// A node spec (.kdl, .yaml, .json).
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// The directory to write below; made when it is not there. Needed, unless --root names the tree.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Facts of the node that the files are for.
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
}

impl Render {
    pub fn run(&self, session: &Session) -> Outcome {
        let dir = match (&self.output, &session.root) {
            (Some(output), None) => output,
            (None, Some(root)) if std::fs::metadata(root).is_err_and(|e| e.kind() == NotFound) => {
                return Err(Failure(format!(
                    "there is no directory `{}`; make it first, or use `--output`, which makes it",
                    root.display()
                )));
            }
            (None, Some(root)) => root,
            (Some(_), Some(_)) => {
                return Err(Failure("--output and --root name one thing; give one of them".into()));
            }
            (None, None) => return Err(Failure("say where to: `--output DIR`".into())),
        };
        // A file there, or on the way there.
        let way = std::fs::metadata(dir);
        let barred = way.as_ref().is_err_and(|e| e.kind() == NotADirectory);
        if barred || way.is_ok_and(|m| !m.is_dir()) {
            return Err(Failure(format!("`{}` is no directory; name one", dir.display())));
        }
        let host = self.facts.as_deref().map(input::facts_file).transpose()?;
        let mut sources = Sources::default();
        let mut findings = Findings::new();
        let Some(node) = input::spec(&self.spec, &mut sources, &mut findings)? else {
            input::show(&findings.settle(), &sources, session, OutputFormat::Human);
            return Ok(1);
        };
        std::fs::create_dir_all(dir).map_err(|e| {
            Failure(format!("cannot make `{}`: {e}; choose a directory that you may write to", dir.display()))
        })?;
        let (root, facts) = input::tree_facts(session, dir, host, node.platform())?;
        let plan = emit(&node, Some(&facts), &mut findings);
        // What could not be looked at would be neither compared nor written, and yet recorded as ours.
        let paths = plan.artifacts.iter().map(|a| a.place.path(plan.objects));
        if let Some(path) = paths.into_iter().find(|path| !facts.knows_place(path)) {
            return Err(Failure(format!(
                "cannot see what stands at `{}{path}`; give your user the right to look there",
                dir.display()
            )));
        }
        let diff = plan::diff(&plan, &facts, &mut findings);
        let settled = findings.settle();
        input::show(&settled, &sources, session, OutputFormat::Human);
        input::show_unproven(&plan.unproven, &sources, session);
        if input::failed(&settled.list) {
            return Ok(1);
        }
        let old = facts.ledger.as_ref();
        let ledger = plan.ledger(old);
        if diff.is_empty() && old.is_some_and(|o| o.entries == ledger.entries) {
            session.say(&format!("{} is up to date\n", dir.display()));
            return Ok(0);
        }
        let bases = bases(node.platform());
        let mut transaction = Transaction::new(&root, &bases);
        for change in diff.changes() {
            let path = change.place.path(plan.objects);
            let artifact = plan.artifacts.iter().find(|a| a.place == change.place);
            match (change.operation, artifact) {
                (Operation::Delete, _) | (_, None) => transaction.delete(&path)?,
                (_, Some(artifact)) => transaction.put(&path, &artifact.bytes, artifact.mode)?,
            }
        }
        // Strings and numbers with string keys: serialising cannot fail.
        let mut text = serde_json::to_string_pretty(&ledger).unwrap_or_default();
        text.push('\n');
        transaction.put(&node.platform().ledger(), text.as_bytes(), 0o600)?;
        transaction.commit()?;
        for change in diff.changes() {
            let word = match change.operation {
                Operation::Create => "created",
                Operation::Update => "updated",
                Operation::Delete => "deleted",
            };
            let path = visible_line(&change.place.path(plan.objects));
            session.say(&format!("{word} {}{path}\n", dir.display()));
        }
        Ok(0)
    }
}
