//! What follows from a value: the lines of artifacts that are others when the value is another one.

use super::change::{changed, remove, switched};
use crate::compile::compile_doc;
use crate::diag::{Findings, masked};
use crate::emission::emit;
use crate::facts::Facts;
use crate::plan::{Artifact, Format, Plan};
use crate::source::{Doc, Located, Path, Step, Syntax, Value};
use serde::{Deserialize, Serialize};
use similar::{DiffTag, TextDiff};
use std::cell::Cell;

/// What kind of thing follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Lines of artifacts.
    Lines,
    /// No line; with another value there would be some, in these artifacts.
    NoLine,
    /// No artifact; plans and diffs show it, or are decided by it.
    Plan,
    /// Nothing: it is checked only.
    Checked,
}

/// What follows from a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    pub kind: Kind,
    #[serde(default)]
    pub artifacts: Vec<Rendered>,
    /// Further artifacts that are left out.
    #[serde(default, skip_serializing_if = "none")]
    pub more: usize,
}

/// What follows in one artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    pub place: String,
    /// The artifact is there because of the value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// Further lines that are left out.
    #[serde(default, skip_serializing_if = "none")]
    pub more: usize,
}

/// A line of an artifact, without what it is indented by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Line {
    /// Counted from 1; absent where the artifact is an example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    pub text: String,
}

fn none(n: &usize) -> bool {
    *n == 0
}

impl Effect {
    /// The same with so many artifacts and lines at most.
    #[must_use]
    pub fn short(mut self, artifacts: usize, lines: usize) -> Self {
        self.more += self.artifacts.len().saturating_sub(artifacts);
        self.artifacts.truncate(artifacts);
        for rendered in &mut self.artifacts {
            rendered.more += rendered.lines.len().saturating_sub(lines);
            rendered.lines.truncate(lines);
        }
        self
    }

    /// The same without numbers of lines.
    #[must_use]
    pub fn as_example(mut self) -> Self {
        self.artifacts.iter_mut().flat_map(|a| &mut a.lines).for_each(|line| line.number = None);
        self
    }

    /// Takes in what follows from something else.
    fn join(&mut self, other: Self) {
        if other.kind < self.kind {
            *self = other;
            return;
        }
        if other.kind > self.kind {
            return;
        }
        for rendered in other.artifacts {
            match self.artifacts.iter_mut().find(|a| a.place == rendered.place) {
                Some(there) => {
                    there.whole |= rendered.whole;
                    there.lines.extend(rendered.lines);
                    there.lines.sort();
                    there.lines.dedup();
                    if there.whole {
                        there.lines.clear();
                    }
                }
                None => self.artifacts.push(rendered),
            }
        }
        self.artifacts.sort_by(|a, b| a.place.cmp(&b.place));
    }
}

/// What follows from a value in one spec, and from which part of it that could be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub effect: Effect,
    /// The part around the value that had to be taken away with it: any other value alone is refused.
    pub within: Option<String>,
    /// There was more to try than is tried: the effect is true, but may lack something.
    pub partial: bool,
}

/// Specs that are compiled for one answer; of a large spec fewer, as each takes longer.
const TRIES: usize = 500;
const VALUES_TRIED: usize = 60_000;

/// Traces what a path leads to in a sound spec, by changing it and looking at what else becomes. `None` when the spec is
/// not sound, or when nothing else but the value can stand there.
#[must_use]
pub fn trace(doc: &Doc, syntax: Syntax, located: &Located<'_>, facts: Option<&Facts>) -> Option<Trace> {
    let tracing = Tracing::new(doc, syntax, facts)?;
    let mut joint: Option<Trace> = None;
    let mut paths = located.path.matches(&doc.root);
    if paths.is_empty() {
        paths = absent(doc, &located.path);
    }
    for path in paths {
        let Some(found) = tracing.of(located, &path) else { continue };
        match &mut joint {
            None => joint = Some(found),
            Some(joint) => joint.effect.join(found.effect),
        }
    }
    if let Some(joint) = &mut joint {
        joint.partial = tracing.left.get() == 0;
    }
    joint
}

/// Where a field that is not given would stand.
fn absent(doc: &Doc, path: &Path) -> Vec<Path> {
    let Some(last) = path.0.last().filter(|step| matches!(step, Step::Field(_))) else {
        return Vec::new();
    };
    let outer = path.outer().matches(&doc.root);
    outer
        .into_iter()
        .map(|Path(steps)| Path([steps.as_slice(), std::slice::from_ref(last)].concat()))
        .collect()
}

struct Tracing<'a> {
    doc: &'a Doc,
    syntax: Syntax,
    facts: Option<&'a Facts>,
    plan: Plan,
    errors: usize,
    /// Specs that may still be compiled.
    left: Cell<usize>,
}

impl<'a> Tracing<'a> {
    fn new(doc: &'a Doc, syntax: Syntax, facts: Option<&'a Facts>) -> Option<Self> {
        let (plan, errors) = plan(doc, syntax, facts)?;
        let tries = (VALUES_TRIED / count(&doc.root)).clamp(8, TRIES);
        Some(Self { doc, syntax, facts, plan, errors, left: Cell::new(tries) })
    }

    fn trace(&self, effect: Effect, within: Option<String>) -> Trace {
        Trace { effect, within, partial: self.left.get() == 0 }
    }

    fn of(&self, located: &Located<'_>, path: &Path) -> Option<Trace> {
        if let Some(effect) = self.best(changed(self.doc, located, path)) {
            return Some(self.trace(effect, None));
        }
        self.doc.root.at(&path.keys())?;
        // What cannot go as a whole is the sum of its parts.
        if let Some(effect) = self.parts(located, path) {
            return Some(self.trace(effect, None));
        }
        if let Some(effect) = self.best(switched(self.doc, located, path)) {
            return Some(self.trace(effect, None));
        }
        // And what is tied to its surroundings is seen with them, but for a whole section, in which everything is.
        let mut outer = path.outer();
        while outer.0.iter().filter(|step| !matches!(step, Step::Inline(_))).count() > 1 {
            let mut gone = self.doc.clone();
            if remove(&mut gone.root, &outer.0)
                && let Some(effect) = self.best(vec![gone])
            {
                return Some(self.trace(effect, Some(outer.to_string())));
            }
            outer = outer.outer();
        }
        None
    }

    /// The most that any of the changed specs shows.
    fn best(&self, changed: Vec<Doc>) -> Option<Effect> {
        let mut best: Option<Effect> = None;
        for doc in changed {
            let Some(left) = self.left.get().checked_sub(1) else { break };
            self.left.set(left);
            let other = plan(&doc, self.syntax, self.facts);
            let Some((other, _)) = other.filter(|(_, errors)| *errors <= self.errors) else { continue };
            let effect = difference(&self.plan, &other);
            if effect.kind == Kind::Lines {
                return Some(effect);
            }
            if best.as_ref().is_none_or(|b| effect.kind < b.kind) {
                best = Some(effect);
            }
        }
        best
    }

    fn parts(&self, located: &Located<'_>, path: &Path) -> Option<Effect> {
        let mut joint: Option<Effect> = None;
        let element = located.element();
        let inner: Vec<Located<'_>> = if element.path == located.path {
            located.members().iter().map(|m| located.field(m)).collect()
        } else {
            vec![element]
        };
        for part in inner {
            let last = part.path.0.last()?.clone();
            // The way is the concrete one, the shape is of any.
            let steps =
                if located.shape.is_struct() { &part.path.0[located.path.0.len()..] } else { &[last][..] };
            let concrete = Path([path.0.as_slice(), steps].concat());
            for place in concrete.matches(&self.doc.root) {
                let found = self.best(changed(self.doc, &part, &place));
                let Some(effect) = found.or_else(|| self.parts(&part, &place)) else { continue };
                match &mut joint {
                    None => joint = Some(effect),
                    Some(joint) => joint.join(effect),
                }
            }
        }
        joint
    }
}

/// The values of a tree, at least one.
fn count(value: &Value) -> usize {
    let inner = value.entries().iter().map(|e| &e.value).chain(value.items().iter().map(|i| &i.value));
    1 + inner.map(count).sum::<usize>()
}

/// The plan of a tree, and how many errors came with it.
fn plan(doc: &Doc, syntax: Syntax, facts: Option<&Facts>) -> Option<(Plan, usize)> {
    let mut findings = Findings::new();
    let node = compile_doc(doc, syntax, &mut findings)?;
    let plan = emit(&node, facts, &mut findings);
    Some((plan, findings.errors()))
}

/// What is in a plan because it is not another one.
fn difference(plan: &Plan, other: &Plan) -> Effect {
    let mut artifacts = Vec::new();
    let mut without = Vec::new();
    for artifact in &plan.artifacts {
        match other.artifacts.iter().find(|a| a.place == artifact.place) {
            Some(changed) if changed.bytes == artifact.bytes => {}
            Some(changed) => {
                let lines = lines(artifact, changed);
                let list = if lines.is_empty() { &mut without } else { &mut artifacts };
                list.push(Rendered { place: artifact.place.to_string(), whole: false, lines, more: 0 });
            }
            None => {
                let place = artifact.place.to_string();
                artifacts.push(Rendered { place, whole: true, lines: Vec::new(), more: 0 });
            }
        }
    }
    let (ours, theirs) = (&plan.artifacts, &other.artifacts);
    let fresh = theirs.iter().filter(|a| ours.iter().all(|o| o.place != a.place));
    without.extend(fresh.map(|a| Rendered {
        place: a.place.to_string(),
        whole: true,
        lines: Vec::new(),
        more: 0,
    }));
    let rest = |plan: &Plan| {
        (
            plan.node.clone(),
            plan.labels.clone(),
            plan.actions.clone(),
            plan.adoptions.clone(),
            endpoints(plan),
        )
    };
    let kind = match (artifacts.is_empty(), without.is_empty()) {
        (false, _) => Kind::Lines,
        (true, false) => Kind::NoLine,
        (true, true) if rest(plan) != rest(other) => Kind::Plan,
        (true, true) => Kind::Checked,
    };
    Effect { kind, artifacts: if kind == Kind::NoLine { without } else { artifacts }, more: 0 }
}

/// The endpoints without where they come from.
fn endpoints(plan: &Plan) -> serde_json::Value {
    let mut list = serde_json::to_value(&plan.endpoints).unwrap_or_default();
    for endpoint in list.as_array_mut().into_iter().flatten() {
        for inner in endpoint.as_object_mut().into_iter().flat_map(|e| e.values_mut()) {
            inner.as_object_mut().map(|fields| fields.remove("origin"));
        }
    }
    list
}

/// The lines of an artifact that another one for the same place does not have.
fn lines(artifact: &Artifact, other: &Artifact) -> Vec<Line> {
    let text = |artifact: &Artifact| String::from_utf8_lossy(&artifact.bytes).into_owned();
    let (ours, theirs) = (text(artifact), text(other));
    // What a line is indented by, and the comma behind it, belong to what is around it.
    let bare = |line: &str| {
        let line = line.trim();
        if artifact.format == Format::Json { line.trim_end_matches(',') } else { line }.to_owned()
    };
    let ours: Vec<String> = ours.lines().map(bare).collect();
    let theirs: Vec<String> = theirs.lines().map(bare).collect();
    let (ours_text, theirs_text): (Vec<&str>, Vec<&str>) =
        (ours.iter().map(String::as_str).collect(), theirs.iter().map(String::as_str).collect());
    let diff = TextDiff::from_slices(&ours_text, &theirs_text);
    let changed = diff.ops().iter().filter(|op| matches!(op.tag(), DiffTag::Delete | DiffTag::Replace));
    changed
        .flat_map(|op| op.old_range())
        // A brace alone says nothing.
        .filter(|at| ours[*at].contains(char::is_alphanumeric))
        .map(|at| Line { number: Some(at + 1), text: masked(&ours[at]).unwrap_or_else(|| ours[at].clone()) })
        .collect()
}
