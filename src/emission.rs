//! Node × Facts → Plan: the frame in which sections say what follows from them.

use crate::diag::{Code, Diagnostic, Findings, Span};
use crate::facts::Facts;
use crate::facts::platform::Platform;
use crate::node::Node;
use crate::plan::{Action, Artifact, DecidedBy, Endpoint, Origin, Place, Plan, Unproven};
use crate::sections;
use crate::source::Syntax;
use crate::spec::Symbols;
use std::collections::{BTreeMap, BTreeSet};

/// A plan in the making.
pub struct Emission<'a> {
    node: &'a Node,
    facts: Option<&'a Facts>,
    findings: &'a mut Findings,
    plan: Plan,
}

impl<'a> Emission<'a> {
    #[must_use]
    pub const fn node(&self) -> &'a Node {
        self.node
    }

    #[must_use]
    pub const fn facts(&self) -> Option<&'a Facts> {
        self.facts
    }

    /// The syntax that messages use.
    #[must_use]
    pub const fn syntax(&self) -> Syntax {
        self.node.syntax()
    }

    #[must_use]
    pub const fn platform(&self) -> &'static Platform {
        self.node.platform()
    }

    #[must_use]
    pub const fn symbols(&self) -> &'a Symbols {
        self.node.symbols()
    }

    pub fn find(&mut self, diagnostic: Diagnostic) {
        self.findings.push(diagnostic);
    }

    pub fn artifact(&mut self, artifact: Artifact) {
        self.plan.artifacts.push(artifact);
    }

    pub fn action(&mut self, action: Action) {
        self.plan.actions.push(action);
    }

    pub fn endpoint(&mut self, endpoint: Endpoint) {
        self.plan.endpoints.push(endpoint);
    }

    /// Notes something that facts would decide.
    pub fn unproven(&mut self, path: &str, span: Span, what: impl Into<String>) {
        self.plan.unproven.push(Unproven {
            what: what.into(),
            decided_by: DecidedBy::Facts,
            origin: Origin { path: path.to_owned(), span },
        });
    }

    /// Whether an executable is known to be absent, known to be there, or not known.
    #[must_use]
    pub fn executable(&self, path: &str) -> Option<bool> {
        let facts = self.facts?;
        let (directory, name) = path.rsplit_once('/')?;
        let real = facts.directories.get(directory).map_or(directory, String::as_str);
        if facts.binaries.contains(path) || facts.binaries.contains(&format!("{real}/{name}")) {
            return Some(true);
        }
        facts.has_searched(directory).then_some(false)
    }

    /// Foreign files of a directory: there by the facts, not in the ledger, not given into our hands by `adopt`, and in the
    /// place of no artifact made so far, by whatever name. What stands in an artifact's own place is the diff's matter.
    pub fn foreign(&self, directory: &str) -> Vec<(&'a str, &'a crate::facts::File)> {
        let Some(facts) = self.facts else { return Vec::new() };
        let artifacts = self.plan.artifacts.iter().map(|a| a.place.path(self.plan.objects));
        let ledger = facts.ledger.iter().flat_map(|l| l.entries.keys().cloned());
        let ledger = ledger.filter(|path| facts.ours(path).is_some());
        let adopted = self.node.adoptions().keys().cloned();
        let ours: BTreeSet<String> = artifacts.chain(ledger).chain(adopted).map(|p| facts.real(&p)).collect();
        facts
            .files
            .iter()
            .filter(|(path, _)| path.rsplit_once('/').is_some_and(|(d, _)| d == directory))
            .filter(|(path, _)| !ours.contains(&facts.real(path)))
            .map(|(path, file)| (path.as_str(), file))
            .collect()
    }
}

/// Makes the plan of a checked spec for a host, or for any host when there are no facts.
#[must_use]
pub fn emit(node: &Node, facts: Option<&Facts>, findings: &mut Findings) -> Plan {
    let plan = Plan {
        node: node.name().to_owned(),
        labels: node.labels().clone(),
        adoptions: node.adoptions().clone(),
        places: node.platform().places(),
        objects: node.platform().objects(),
        directories: node.platform().directories(),
        syntax: node.syntax(),
        ..Plan::default()
    };
    let mut emission = Emission { node, facts, findings, plan };
    sections::emit(node.parts(), &mut emission);
    let mut plan = emission.plan;
    plan.artifacts.sort_by(|a, b| a.place.cmp(&b.place));
    one_owner(&mut plan, findings);
    plan
}

/// Two artifacts in one place would overwrite each other for ever.
fn one_owner(plan: &mut Plan, findings: &mut Findings) {
    let mut owners: BTreeMap<Place, Origin> = BTreeMap::new();
    plan.artifacts.retain(|artifact| {
        let Some(first) = owners.get(&artifact.place) else {
            owners.insert(artifact.place.clone(), artifact.origin.clone());
            return true;
        };
        let (first, again) = if artifact.origin.span < first.span {
            (&artifact.origin, first)
        } else {
            (first, &artifact.origin)
        };
        findings.push(
            Diagnostic::new(
                Code::PUR0205,
                format!("`{}` and `{}` both make {}", first.path, again.path, artifact.place),
            )
            .at(again.span, "this makes it again")
            .see(first.span, "this makes it first")
            .note("a place has one owner, or each would undo the other's work")
            .help("give one of them another name, or leave one out"),
        );
        false
    });
}
