//! `purlin diff`

use super::facts::FactsOption;
use super::git::{Revision, revisions};
use super::parallel::in_parallel;
use super::specs::{Changed, SpecFile, is_ours, one_spec, specs};
use super::tree::{TreeOption, plain};
use super::{Failure, OUTPUT, Outcome, OutputFormat, Session, ci, input};
use crate::diag::{self, Findings, Report, Settled, Sources};
use crate::emission::emit;
use crate::facts::Facts;
use crate::host::{self, Observed, Root};
use crate::node::Node;
use crate::plan::{self, NodeDiff, Plan};
use crate::source::{Syntax, Tree};
use clap::{Args, ValueHint};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct DiffCommand {
    /// Node specs (.kdl, .yaml, .json), or directories of them.
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<PathBuf>,
    /// Compare with what the same specs, and what they include, came to at this Git revision.
    #[arg(long, value_name = "REV", conflicts_with = "against_spec")]
    against: Option<String>,
    /// Compare with what another spec comes to.
    #[arg(long, value_name = "SPEC", value_hint = ValueHint::FilePath)]
    against_spec: Option<PathBuf>,
    #[command(flatten)]
    facts: FactsOption,
    #[command(flatten)]
    tree: TreeOption,
    #[command(flatten)]
    changed: Changed,
    /// Count the lines of each change, and leave them out.
    #[arg(long, help_heading = OUTPUT)]
    stat: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t, help_heading = OUTPUT)]
    format: OutputFormat,
}

/// What is compared with.
enum Other {
    /// What is there: a tree, or a node by its facts or as it is.
    Host,
    /// The same specs at a revision, by tree.
    Revisions(BTreeMap<PathBuf, Revision>),
    /// One other spec.
    Spec(SpecFile),
}

/// What came of one spec.
#[derive(Default)]
struct Verdict {
    sources: Sources,
    findings: Findings,
    /// Absent when the spec has errors; the plan is what other specs may ask for as well.
    compared: Option<(Plan, NodeDiff)>,
    /// Why some of it could not be compared.
    unseen: Option<Failure>,
    /// A part or a foreign file that was found, or a spec that did not change.
    left_out: bool,
}

impl DiffCommand {
    pub fn run(&self, session: &Session) -> Outcome {
        let outcome = self.look(session);
        if let Err(Failure(message)) = &outcome {
            // Who reads a report of a CI has to find there that there is none.
            let names: Vec<String> = self.specs.iter().map(|path| path.display().to_string()).collect();
            let failures = [(names.join(", "), message.clone())];
            let (settled, sources) = (Settled::default(), Sources::default());
            let report = Report { failures: &failures, ..self.of(&settled, &sources) };
            self.report(&[], &[], true, &report, session)?;
        }
        outcome
    }

    fn of<'a>(&'a self, settled: &'a Settled, sources: &'a Sources) -> Report<'a> {
        Report { command: "diff", specs: &[], settled, sources, failures: &[], unproven: &[], output: "" }
    }

    fn look(&self, session: &Session) -> Outcome {
        let (specs, mut unread) = specs(&self.specs, &self.tree);
        self.changed.open(&specs)?;
        let other = self.other(&specs)?;
        // One spec that was named is shown as one, many as a fleet.
        let alone = matches!(specs.as_slice(), [only] if !only.found) && unread.is_empty();
        let mut sources = Sources::default();
        let mut findings = Findings::new();
        let (mut plans, mut nodes, mut broken) = (Vec::new(), Vec::new(), false);
        let mut names = Vec::new();
        let verdicts = in_parallel(&specs, |spec| self.one(spec, alone, &other, session));
        for (spec, verdict) in specs.iter().zip(verdicts) {
            let name = spec.path.display().to_string();
            match verdict {
                Ok(verdict) => {
                    let moved = sources.absorb(verdict.sources);
                    findings.absorb(verdict.findings, &moved);
                    unread.extend(verdict.unseen.map(|Failure(why)| (name.clone(), why)));
                    broken |= verdict.compared.is_none() && !verdict.left_out;
                    if !verdict.left_out {
                        names.push(name);
                    }
                    if let Some((plan, node)) = verdict.compared {
                        plans.push(plan.moved(&moved));
                        nodes.push(NodeDiff { diff: node.diff.moved(&moved), ..node });
                    }
                }
                Err(failure) if alone => return Err(failure),
                Err(Failure(why)) => {
                    names.push(name.clone());
                    unread.push((name, why));
                }
            }
        }
        plan::agree(&plans, &mut findings);
        let gone = self.gone(&specs, &other)?;
        let settled = findings.settle();
        input::show(&settled, &sources, session, self.format);
        let human = |color| match nodes.as_slice() {
            [node] if alone && self.stat => plan::summary(&node.diff) + &plan::stat(&node.diff, &sources),
            [node] if alone => plan::human(&node.diff, &sources, color),
            _ if alone => String::new(),
            _ => plan::overview(&nodes, &gone, &sources, self.stat, color),
        };
        let changes = nodes.iter().any(|node| !node.diff.is_empty()) || !gone.is_empty();
        match self.format {
            OutputFormat::Json => {
                let mut document = match nodes.as_slice() {
                    _ if !alone => plan::fleet_json(&nodes, &gone, &sources),
                    [node] => plan::json(&node.diff, &sources),
                    _ => plan::json(&plan::Diff::default(), &sources),
                };
                if let Some(document) = document.as_object_mut() {
                    let findings = diag::json::render(&settled.list, settled.silenced, &sources);
                    document.insert("findings".into(), findings);
                }
                session.print_json(&document)?;
            }
            OutputFormat::Human => {
                if let ([node], true, Other::Host) = (nodes.as_slice(), alone, &other) {
                    input::show_unproven(&node.diff.unproven, &sources, session);
                }
                if !changes && !broken && unread.is_empty() {
                    let compared = if alone { String::new() } else { format!("{} compared, ", nodes.len()) };
                    session.say(&format!("{compared}nothing would change\n"));
                }
                session.print(&human(session.color_out))?;
            }
            _ => {
                let unproven: Vec<_> = match &other {
                    Other::Host => nodes.iter().flat_map(|node| node.diff.unproven.clone()).collect(),
                    _ => Vec::new(),
                };
                let unproven = input::unproven_lines(&unproven, &sources);
                let output = human(false);
                let report = Report {
                    specs: &names,
                    failures: &unread,
                    unproven: &unproven,
                    output: &output,
                    ..self.of(&settled, &sources)
                };
                self.report(&nodes, &gone, alone, &report, session)?;
            }
        }
        input::say_unread(&unread, session);
        Ok(if broken || !unread.is_empty() || input::failed(&settled.list) { 2 } else { u8::from(changes) })
    }

    /// Prints in the formats of CI systems.
    fn report(
        &self,
        nodes: &[NodeDiff],
        gone: &[String],
        alone: bool,
        report: &Report<'_>,
        session: &Session,
    ) -> Result<(), Failure> {
        match self.format {
            OutputFormat::Human | OutputFormat::Json => Ok(()),
            OutputFormat::Sarif => session.print_json(&diag::sarif::render(report)),
            OutputFormat::Junit => session.print(&diag::junit::render(report)),
            OutputFormat::Github => {
                let lines = nodes.iter().filter(|node| !node.diff.is_empty()).map(|node| {
                    let summary = plan::summary(&node.diff);
                    let line = if alone { summary } else { format!("{}: {summary}", node.diff.node) };
                    diag::github::notice(&line)
                });
                let notices: String = lines.collect();
                session.print(&format!("{}{notices}", diag::github::annotations(report)))?;
                ci::summarise(|limit| match nodes {
                    [node] if alone => plan::markdown(Some(&node.diff), report, limit),
                    _ if alone => plan::markdown(None, report, limit),
                    _ => plan::fleet_markdown(nodes, gone, report, limit),
                })
            }
        }
    }

    fn other(&self, specs: &[SpecFile]) -> Result<Other, Failure> {
        if let Some(path) = &self.against_spec {
            return Ok(Other::Spec(one_spec(path, &self.tree)?));
        }
        let Some(word) = &self.against else { return Ok(Other::Host) };
        Ok(Other::Revisions(revisions(specs, word)?))
    }

    fn one(
        &self,
        spec: &SpecFile,
        alone: bool,
        other: &Other,
        session: &Session,
    ) -> Result<Verdict, Failure> {
        let mut verdict = Verdict::default();
        let Verdict { sources, findings, .. } = &mut verdict;
        let read = input::spec(spec, sources, findings)?;
        if matches!(read, input::Spec::Part | input::Spec::Foreign) || self.changed.leaves_out(spec, &read) {
            return Ok(Verdict { left_out: true, ..Verdict::default() });
        }
        let Some(node) = read.node() else { return Ok(verdict) };
        let facts = self.facts.of(node.name())?;
        let facts = match &session.root {
            Some(dir) => Some(told(input::tree(&Root::open(dir)?, facts, node.platform())?, session)?),
            None => facts,
        };
        let before = match other {
            Other::Host => match facts.clone() {
                Some(facts) => Some(facts),
                None => Some(live(&node, alone, session)?),
            },
            Other::Revisions(revisions) => {
                let Some(revision) = revisions.get(spec.files.dir()) else { return Ok(verdict) };
                let mut old = Findings::new();
                let was = input::spec_at(revision, &spec.below, sources, &mut old)?;
                self.applied(was.map(|spec| spec.node), old, facts.as_ref(), &node, findings)
            }
            Other::Spec(other) => {
                let mut old = Findings::new();
                let was = input::spec(other, sources, &mut old)?;
                self.applied(Some(was.node()), old, facts.as_ref(), &node, findings)
            }
        };
        let Some(before) = before else { return Ok(verdict) };
        // With nothing but specs to compare, what only a host can decide is the same on both sides.
        let host = if matches!(other, Other::Host) { Some(&before) } else { facts.as_ref() };
        let plan = emit(&node, host, findings);
        let diff = plan::diff(&plan, &before, findings);
        let unseen = input::unseen(&diff.unseen, self.facts.facts.is_some() && session.root.is_none());
        let node = NodeDiff { spec: spec.path.display().to_string(), diff };
        verdict.compared = Some((plan.shared(), node));
        verdict.unseen = unseen;
        Ok(verdict)
    }

    /// The facts as they would be with the other spec applied; the other's findings count only when it has errors, for
    /// then there is nothing to compare with. Without another spec, nothing is applied.
    fn applied(
        &self,
        other: Option<Option<Node>>,
        mut found: Findings,
        facts: Option<&Facts>,
        node: &Node,
        findings: &mut Findings,
    ) -> Option<Facts> {
        let plan = match other {
            Some(Some(other)) => emit(&other, facts, &mut found),
            Some(None) => Plan::default(),
            None => Plan { objects: node.platform().objects(), ..Plan::default() },
        };
        if found.has_errors() {
            findings.join(found);
            return None;
        }
        Some(plan.applied(facts, node.platform()))
    }

    /// Specs of the directories that were there at the revision and are no more.
    fn gone(&self, specs: &[SpecFile], other: &Other) -> Result<Vec<String>, Failure> {
        let Other::Revisions(revisions) = other else { return Ok(Vec::new()) };
        let mut gone = Vec::new();
        for argument in self.specs.iter().filter(|path| path.is_dir()).map(|path| plain(path)) {
            let Some(first) = specs.iter().find(|s| s.found && s.path.starts_with(&argument)) else {
                continue;
            };
            let Some(revision) = revisions.get(first.files.dir()) else { continue };
            for path in revision.files()? {
                let now = revision.local(&path);
                let hidden = path.split('/').any(|step| step.starts_with('.'));
                if hidden || !now.starts_with(&argument) || Syntax::of(&path).is_none() || now.exists() {
                    continue;
                }
                let bytes = revision.file(&path).ok().flatten().unwrap_or_default();
                if !is_ours(&path, &bytes) {
                    continue;
                }
                let was = input::spec_at(revision, &path, &mut Sources::default(), &mut Findings::new())?;
                if was.is_some() {
                    gone.push(revision.name(&path));
                }
            }
        }
        Ok(gone)
    }
}

/// This host, or why it is not compared with.
fn live(node: &Node, alone: bool, session: &Session) -> Result<Facts, Failure> {
    if !alone {
        return Err(Failure(format!(
            "nothing is known of node `{}`; name a directory with its facts (`--facts DIR`), or a revision to compare with (`--against REV`)",
            node.name()
        )));
    }
    told(host::observe(&Root::open(Path::new("/"))?, true, node.platform(), &[])?, session)
}

/// What was seen, when that is enough to compare with.
fn told(seen: Observed, session: &Session) -> Result<Facts, Failure> {
    seen.warnings.iter().for_each(|warning| session.warn(warning));
    input::needs_ledger(&seen)?;
    Ok(seen.facts)
}
