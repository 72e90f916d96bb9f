//! Plan × Facts → what would change: three-way between what is desired, what the ledger says was applied, and what is
//! there.

use super::{Action, Artifact, DecidedBy, Endpoint, Impact, Origin, Place, Plan, Turn, Unproven, object};
use crate::diag::{Code, Diagnostic, Findings, Moved};
use crate::facts::{Facts, File, FileKind, octal, sha256, within};
use crate::source::Syntax;
use crate::spec::Adoption;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What happens to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Operation {
    Create,
    Update,
    Delete,
}

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    Text(String),
    /// Bytes that facts do not hold: a secret, or no text, or too long.
    Opaque,
    /// A symbolic link's target.
    Link(String),
}

/// A change of one file or object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    pub operation: Operation,
    pub place: Place,
    pub impact: Impact,
    /// The part of the spec behind it; absent where the spec no longer mentions the place.
    pub origin: Option<Origin>,
    pub before: Option<Content>,
    pub after: Option<Content>,
    /// Permission bits before, in octal, where they or the owner change.
    pub mode_before: Option<String>,
    pub mode_after: Option<String>,
    /// What a reader should know: drift, adoption.
    pub notes: Vec<String>,
    /// Apply refuses it; a finding says why.
    pub blocked: bool,
    /// It is a directory that goes, for nothing is left in it.
    #[serde(skip)]
    pub directory: bool,
    #[serde(skip)]
    turn: Option<Turn>,
}

impl Change {
    /// A change of a place of which nothing is said yet.
    pub(super) const fn of(operation: Operation, place: Place) -> Self {
        Self {
            operation,
            place,
            impact: Impact::None,
            origin: None,
            before: None,
            after: None,
            mode_before: None,
            mode_after: None,
            notes: Vec::new(),
            blocked: false,
            directory: false,
            turn: None,
        }
    }

    /// What an update or removal of an API object does depends on its kind and on what it says.
    fn mind_object(&mut self) {
        let said = |side: &Option<Content>| match side {
            Some(Content::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let (before, after) = (said(&self.before), said(&self.after));
        if let Some((impact, note)) = object::impact(&self.place, before.as_deref(), after.as_deref()) {
            self.impact = impact;
            self.notes.extend(note.map(str::to_owned));
        }
    }
}

/// One thing that apply does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    Change(Box<Change>),
    #[serde(rename_all = "camelCase")]
    RestartUnit {
        unit: String,
        because: Vec<Place>,
    },
}

/// All that would change, in the order in which apply does it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The name of the node that it is for.
    pub node: String,
    /// The labels of the node's spec.
    pub labels: BTreeMap<String, String>,
    pub steps: Vec<Step>,
    /// What is compared with is no running node: a tree of files, or facts that say of themselves that they are simulated.
    pub simulated: bool,
    pub endpoints: Vec<Endpoint>,
    pub unproven: Vec<Unproven>,
    /// Places of which facts do not tell what stands there, so that a change may be missing here.
    #[serde(skip)]
    pub unseen: BTreeSet<String>,
}

impl Diff {
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.steps.iter().filter_map(|s| match s {
            Step::Change(change) => Some(change.as_ref()),
            Step::RestartUnit { .. } => None,
        })
    }

    /// Whether nothing would change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes().next().is_none()
    }

    /// The same, its places in specs among the texts of another run.
    #[must_use]
    pub fn moved(mut self, moved: &Moved) -> Self {
        for step in &mut self.steps {
            if let Step::Change(change) = step
                && let Some(origin) = &mut change.origin
            {
                origin.span = moved.span(origin.span);
            }
        }
        for Endpoint::DevicePlugin { origin, .. } in &mut self.endpoints {
            origin.span = moved.span(origin.span);
        }
        self.unproven = self.unproven.into_iter().map(|u| u.moved(moved)).collect();
        self
    }

    /// The strongest impact of all changes.
    #[must_use]
    pub fn impact(&self) -> Impact {
        self.changes().map(|c| c.impact.clone()).max().unwrap_or(Impact::None)
    }
}

/// Compares a plan with what the facts say is there.
#[must_use]
pub fn diff(plan: &Plan, facts: &Facts, findings: &mut Findings) -> Diff {
    let mut unproven = plan.unproven.clone();
    let mut changes = Vec::new();
    let ours: BTreeSet<String> = plan.artifacts.iter().map(|a| a.place.path(plan.objects)).collect();
    // What goes rather than comes has to be seen, too; a ledger may name what is in no place of ours, which never goes.
    let mut unseen: BTreeSet<String> = facts
        .ledger
        .iter()
        .flat_map(|l| l.entries.keys())
        .chain(plan.adoptions.keys())
        .filter(|path| plan.places.iter().any(|p| within(path, p)) && !facts.knows_place(path))
        .cloned()
        .collect();
    let mut barred = BTreeSet::new();
    for artifact in &plan.artifacts {
        let path = artifact.place.path(plan.objects);
        let hidden = match artifact.place {
            Place::Object { .. } if !facts.simulated => {
                Some((format!("whether the API server has {}", artifact.place), DecidedBy::ApiServer))
            }
            _ if !facts.knows_place(&path) => Some((format!("what stands at {path}"), DecidedBy::Facts)),
            _ => None,
        };
        match hidden {
            Some((what, decided_by)) => {
                if decided_by == DecidedBy::Facts {
                    unseen.insert(path);
                }
                unproven.push(Unproven { what, decided_by, origin: artifact.origin.clone() });
            }
            None => changes.extend(desired(plan, artifact, &path, facts, &mut barred, findings)),
        }
    }
    changes.extend(no_longer_desired(plan, &ours, facts));
    changes.extend(adopted(plan, &ours, facts, findings));
    changes.extend(emptied(plan, &ours, facts, &changes));
    changes.sort_by(|a, b| (turn(a), &a.place).cmp(&(turn(b), &b.place)));
    let mut steps: Vec<Step> = changes.into_iter().map(|c| Step::Change(Box::new(c))).collect();
    restarts(plan, &mut steps);
    Diff {
        node: plan.node.clone(),
        labels: plan.labels.clone(),
        steps,
        simulated: facts.simulated,
        endpoints: plan.endpoints.clone(),
        unproven,
        unseen,
    }
}

/// Objects that lead to something go before it goes and come after it came; of files, what is referred to comes first.
const fn turn(change: &Change) -> u8 {
    match (change.operation, change.turn, &change.place) {
        (Operation::Delete, _, Place::Object { .. }) => 0,
        (Operation::Delete, ..) if change.directory => 4,
        (Operation::Delete, ..) => 3,
        (_, Some(Turn::Object), _) => 5,
        (_, Some(Turn::Configuration), _) => 2,
        _ => 1,
    }
}

/// Restarts come after all files and before the objects that need the restarted daemon.
fn restarts(plan: &Plan, steps: &mut Vec<Step>) {
    let changed: BTreeSet<Place> = steps
        .iter()
        .filter_map(|s| match s {
            Step::Change(c) => Some(c.place.clone()),
            Step::RestartUnit { .. } => None,
        })
        .collect();
    let mut restarts: Vec<(String, Vec<Place>)> = Vec::new();
    let mut add = |unit: &str, place: &Place| match restarts.iter_mut().find(|(u, _)| u == unit) {
        Some((_, because)) if !because.contains(place) => because.push(place.clone()),
        Some(_) => {}
        None => restarts.push((unit.to_owned(), vec![place.clone()])),
    };
    for Action::RestartUnit { unit, when_changed } in &plan.actions {
        when_changed.iter().filter(|p| changed.contains(p)).for_each(|p| add(unit, p));
    }
    // A file that goes has no action left in the plan: what it was for is known from its place.
    for step in &*steps {
        if let Step::Change(change) = step
            && let Impact::Restart(unit) = &change.impact
        {
            add(unit, &change.place);
        }
    }
    let at = steps.iter().position(|s| matches!(s, Step::Change(c) if turn(c) == 5)).unwrap_or(steps.len());
    let restarts = restarts.into_iter().map(|(unit, because)| Step::RestartUnit { unit, because });
    steps.splice(at..at, restarts);
}

fn content(file: &File) -> Content {
    match (&file.kind, &file.text, &file.target) {
        (FileKind::Regular, Some(text), _) => Content::Text(text.clone()),
        (FileKind::Symlink, _, Some(target)) => Content::Link(target.clone()),
        _ => Content::Opaque,
    }
}

/// What stands where a file of ours or a directory above it is to be, is neither, and is never replaced.
fn in_the_way<'a>(path: &'a str, facts: &Facts) -> Option<(&'a str, String)> {
    let above = path.match_indices('/').map(|(at, _)| (&path[..at], FileKind::Directory, "a directory"));
    above.chain([(path, FileKind::Regular, "a file")]).find_map(|(at, wanted, word)| {
        let found = facts.files.get(at).filter(|file| file.kind != wanted)?;
        Some((at, format!("{}, not {word}", a(found.kind))))
    })
}

const fn a(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Regular => "a file",
        FileKind::Directory => "a directory",
        FileKind::Symlink => "a symbolic link",
        FileKind::Other => "a pipe, socket or device",
    }
}

fn desired(
    plan: &Plan,
    artifact: &Artifact,
    path: &str,
    facts: &Facts,
    barred: &mut BTreeSet<String>,
    findings: &mut Findings,
) -> Option<Change> {
    let entry = facts.ours(path);
    let mode = octal(artifact.mode);
    let mut change = Change {
        impact: artifact.impact.clone(),
        origin: Some(artifact.origin.clone()),
        after: Some(Content::Text(String::from_utf8_lossy(&artifact.bytes).into_owned())),
        mode_after: Some(mode.clone()),
        turn: Some(artifact.turn),
        ..Change::of(Operation::Create, artifact.place.clone())
    };
    let way = in_the_way(path, facts);
    if let Some((at, found)) = &way {
        change.blocked = true;
        change.notes.push(format!("blocked: `{at}` is {found}"));
        // Many files may be wanted in one directory.
        if barred.insert((*at).to_owned()) {
            findings.push(
                Diagnostic::new(Code::PUR0301, format!("`{at}` is {found}, and purlin did not make it"))
                    .at(artifact.origin.span, format!("this needs {path}"))
                    .note("purlin follows no link there, and replaces nothing but files")
                    .help("move it away"),
            );
        }
    }
    let Some(file) = facts.files.get(path) else {
        if entry.is_some() {
            change.notes.push("drift: purlin made it, and someone removed it".to_owned());
        }
        return Some(change);
    };
    let same_bytes =
        file.kind == FileKind::Regular && file.sha256.as_deref() == Some(&sha256(&artifact.bytes));
    let roots = file.owner.is_none_or(|o| o.uid == 0 && o.gid == 0);
    if same_bytes && file.mode == mode && roots {
        return None;
    }
    change.operation = Operation::Update;
    change.before = Some(content(file));
    change.mind_object();
    change.mode_before = Some(file.mode.clone());
    if !roots && let Some(owner) = file.owner {
        change.notes.push(format!("owner: {}:{} becomes 0:0", owner.uid, owner.gid));
    }
    match entry {
        _ if way.is_some() => {}
        Some(entry) if entry.matches(file) => {}
        Some(_) => change.notes.push("drift: purlin made it, and someone changed it since".to_owned()),
        None if same_bytes => {}
        None if plan.adoptions.contains_key(path) => {
            change.notes.push("adopted: someone else made it; purlin takes it over".to_owned());
        }
        None => {
            change.blocked = true;
            change.notes.push("blocked: someone else made it".to_owned());
            let adopt = Adoption::Replace.example(plan.syntax, path);
            let place = match plan.syntax {
                Syntax::Kdl => "in the block of `node`",
                Syntax::Yaml | Syntax::Json => "under `spec`",
            };
            findings.push(
                Diagnostic::new(Code::PUR0301, format!("`{path}` is there, and purlin did not make it"))
                    .at(artifact.origin.span, "this would overwrite it")
                    .note("someone's work would be lost")
                    .help(format!("move it away, or let purlin take it over: {adopt} {place}")),
            );
        }
    }
    Some(change)
}

fn removal(path: &str, file: &File, impact: Impact, plan: &Plan) -> Change {
    let mut change = Change {
        impact,
        before: Some(content(file)),
        mode_before: Some(file.mode.clone()),
        ..Change::of(Operation::Delete, place_of(path, plan.objects))
    };
    change.mind_object();
    change
}

/// The place behind a path, the inverse of [`Place::path`].
fn place_of(path: &str, objects: &str) -> Place {
    let object = path.strip_prefix(objects).and_then(|rest| {
        let mut parts = rest.strip_prefix('/')?.strip_suffix(".yaml")?.splitn(3, '_');
        let (group, kind, name) = (parts.next()?, parts.next()?, parts.next()?);
        Some(object::place(group, kind, name))
    });
    object.unwrap_or_else(|| Place::File(path.to_owned()))
}

/// What the ledger says is ours and the spec no longer asks for.
fn no_longer_desired(plan: &Plan, ours: &BTreeSet<String>, facts: &Facts) -> Vec<Change> {
    let Some(ledger) = &facts.ledger else { return Vec::new() };
    ledger
        .entries
        .iter()
        .filter(|(path, _)| !ours.contains(*path))
        .filter_map(|(path, _)| {
            let (file, entry) = (facts.files.get(path)?, facts.ours(path)?);
            let mut change =
                removal(path, file, entry.restarts.clone().map_or(Impact::Hot, Impact::Restart), plan);
            if !entry.matches(file) {
                change.notes.push("drift: purlin made it, and someone changed it since".to_owned());
            }
            Some(change)
        })
        .collect()
}

/// Foreign files that the spec lets Purlin remove.
fn adopted(plan: &Plan, ours: &BTreeSet<String>, facts: &Facts, findings: &mut Findings) -> Vec<Change> {
    let mut changes = Vec::new();
    for (path, (adoption, span)) in &plan.adoptions {
        match adoption {
            Adoption::Remove if !ours.contains(path) && facts.ours(path).is_none() => {
                if let Some(file) = facts.files.get(path) {
                    let mut change = removal(path, file, Impact::Hot, plan);
                    if file.kind == FileKind::Regular {
                        change.notes.push("adopted: someone else made it; purlin removes it".to_owned());
                    } else {
                        change.blocked = true;
                        let found = format!("{}, and purlin removes nothing but files", a(file.kind));
                        change.notes.push(format!("blocked: it is {found}"));
                        findings.push(
                            Diagnostic::new(Code::PUR0301, format!("`{path}` is {found}"))
                                .at(*span, "adopted here")
                                .help("remove it by hand, and leave the adoption out"),
                        );
                    }
                    change.origin = Some(Origin { path: "adopt".to_owned(), span: *span });
                    changes.push(change);
                }
            }
            Adoption::Replace if !ours.contains(path) => findings.push(
                Diagnostic::new(Code::PUR0311, format!("nothing of ours takes the place of `{path}`"))
                    .at(*span, "adopted here")
                    .help(format!(
                        "leave it out, or let purlin remove the file: {}",
                        Adoption::Remove.example(plan.syntax, path)
                    )),
            ),
            _ => {}
        }
    }
    changes
}

/// Directories that stood there for what goes now, or went: an empty one of a registry would still keep the daemon from
/// the default one.
fn emptied(plan: &Plan, ours: &BTreeSet<String>, facts: &Facts, changes: &[Change]) -> Vec<Change> {
    let mut going: BTreeMap<String, Option<Origin>> = changes
        .iter()
        .filter(|c| c.operation == Operation::Delete && !c.blocked)
        .map(|c| (c.place.path(plan.objects), c.origin.clone()))
        .collect();
    let recorded = facts.ledger.iter().flat_map(|l| l.entries.keys().chain(l.pending.keys()));
    let gone = recorded.filter(|path| !ours.contains(*path)).map(|path| (path.clone(), None));
    let causes: Vec<_> = going.clone().into_iter().chain(gone).collect();
    let mut emptied = Vec::new();
    for (path, origin) in causes {
        let mut rest = path.as_str();
        while let Some((directory, _)) = rest.rsplit_once('/') {
            let below = format!("{directory}/");
            let inside = |path: &&String| path.starts_with(&below);
            let Some(file) = facts.files.get(directory).filter(|f| f.kind == FileKind::Directory) else {
                break;
            };
            let stays = going.contains_key(directory)
                || !plan.may_go(directory)
                || ours.range(below.clone()..).next().is_some_and(|p| inside(&p))
                || facts
                    .files
                    .range(below.clone()..)
                    .map(|(p, _)| p)
                    .take_while(inside)
                    .any(|p| !going.contains_key(p));
            if stays {
                break;
            }
            emptied.push(Change {
                impact: Impact::Hot,
                origin: origin.clone(),
                mode_before: Some(file.mode.clone()),
                notes: vec!["the directory is empty then".to_owned()],
                directory: true,
                ..Change::of(Operation::Delete, Place::File(directory.to_owned()))
            });
            going.insert(directory.to_owned(), origin.clone());
            rest = directory;
        }
    }
    emptied
}
