//! `purlin render`

use super::specs::one_spec;
use super::tree::TreeOption;
use super::{FACTS_AND_TREES, Failure, OUTPUT, Outcome, OutputFormat, Session, input};
use crate::diag::{Findings, Sources, visible_line};
use crate::emission::emit;
use crate::host::{Lock, Root, Transaction, bases};
use crate::plan::{self, Operation};
use clap::{Args, ValueHint};
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct Render {
    /// A node spec (.kdl, .yaml, .json).
    #[arg(value_name = "SPEC", value_hint = ValueHint::FilePath)]
    spec: PathBuf,
    #[command(flatten)]
    tree: TreeOption,
    /// The directory to write below; made when it is not there. Needed, unless --root names the tree.
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// Facts of the node that the files are for.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = FACTS_AND_TREES)]
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
        let spec = one_spec(&self.spec, &self.tree)?;
        let Some(node) = input::spec(&spec, &mut sources, &mut findings)?.node() else {
            input::show(&findings.settle(), &sources, session, OutputFormat::Human);
            return Ok(1);
        };
        let (platform, bases) = (node.platform(), bases(node.platform()));
        let _made = MadeDirectories::down_to(dir)?;
        let root = Root::open(dir)?;
        let mut lock = None;
        let (seen, plan, diff, ledger, same, findings) = loop {
            let mut findings = findings.clone();
            let seen = input::tree(&root, host.clone(), platform)?;
            if lock.is_none() {
                seen.warnings.iter().for_each(|warning| session.warn(warning));
            }
            input::needs_ledger(&seen)?;
            let plan = emit(&node, Some(&seen.facts), &mut findings);
            let diff = plan::diff(&plan, &seen.facts, &mut findings);
            // What could not be looked at would be neither compared nor written, and yet recorded as ours or forgotten.
            if let Some(failure) = input::unseen(&diff.unseen, false) {
                return Err(failure);
            }
            let ledger = plan.ledger(&seen.facts);
            let same = diff.is_empty() && seen.facts.ledger.as_ref() == Some(&ledger);
            if lock.is_none() && !(same && seen.leftovers.is_empty()) {
                // What was seen so far may be the half-done work of another run: it is looked at anew.
                match Lock::take(&root, &bases, platform.state) {
                    Ok(taken) => {
                        lock = Some(taken);
                        continue;
                    }
                    // What is wrong is told also where nothing may be written.
                    Err(_) if findings.has_errors() => {}
                    Err(error) => return Err(error.into()),
                }
            }
            break (seen, plan, diff, ledger, same, findings);
        };
        let settled = findings.settle();
        input::show(&settled, &sources, session, OutputFormat::Human);
        input::show_unproven(&plan.unproven, &sources, session);
        if input::failed(&settled.list) {
            return Ok(1);
        }
        if let Some(lock) = &lock {
            lock.clear(&seen.leftovers, |directory| plan.may_go(directory))?;
        }
        if same {
            session.say(&format!("{} is up to date\n", dir.display()));
            return Ok(0);
        }
        let mut transaction = Transaction::new(&root, &bases);
        for change in diff.changes() {
            let path = change.place.path(plan.objects);
            let artifact = plan.artifacts.iter().find(|a| a.place == change.place);
            match (change.operation, artifact) {
                _ if change.directory => transaction.delete_directory(&path)?,
                (Operation::Delete, _) | (_, None) => transaction.delete(&path)?,
                (_, Some(artifact)) => transaction.put(&path, &artifact.bytes, artifact.mode)?,
            }
        }
        let [before, after] = [&ledger.underway(seen.facts.ledger.as_ref()), &ledger].map(|ledger| {
            // Strings and numbers with string keys: serialising cannot fail.
            format!("{}\n", serde_json::to_string_pretty(ledger).unwrap_or_default())
        });
        transaction.record(&platform.ledger(), before.as_bytes(), after.as_bytes(), 0o600)?;
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

/// Directories that were made for a run, which go again when nothing came into them.
struct MadeDirectories<'a>(Vec<&'a Path>);

impl<'a> MadeDirectories<'a> {
    fn down_to(dir: &'a Path) -> Result<Self, Failure> {
        let made = Self(dir.ancestors().take_while(|d| !d.as_os_str().is_empty() && !d.exists()).collect());
        std::fs::create_dir_all(dir).map_err(|e| {
            Failure(format!("cannot make `{}`: {e}; choose a directory that you may write to", dir.display()))
        })?;
        Ok(made)
    }
}

impl Drop for MadeDirectories<'_> {
    fn drop(&mut self) {
        // The innermost comes first; one that is not empty stays, and so does what is above it.
        self.0.iter().for_each(|dir| _ = std::fs::remove_dir(dir));
    }
}
