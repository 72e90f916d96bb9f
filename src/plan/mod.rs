//! What a spec means for a host, as a value: artifacts, actions and endpoints, and how they differ from what is there.
//!
//! A plan is complete: whoever carries it out decides nothing.

mod applied;
mod diff;
mod fleet;
mod ledger;
mod markdown;
mod object;
mod render;

pub use diff::{Change, Content, Diff, Operation, Step, diff};
pub use fleet::{NodeDiff, agree, fleet_json, overview, stat};
pub use markdown::{fleet_markdown, markdown};
pub use render::{DIFF_SCHEMA_TEXT, DIFFS_SCHEMA_TEXT, human, json, painted, summary, unproven_json};

use crate::diag::{Moved, Span};
use crate::facts::within;
use serde::Serialize;
use std::collections::BTreeMap;

/// Where an artifact stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Place {
    /// A file of the host, by absolute path.
    File(String),
    /// An object of the API server, by apiVersion, kind and name (cluster-wide kinds only, so far).
    Object { api_version: String, kind: String, name: String },
}

impl Place {
    /// The path that stands for the place where there is only a directory: an object's manifest is a file there.
    #[must_use]
    pub fn path(&self, objects: &str) -> String {
        match self {
            Self::File(path) => path.clone(),
            Self::Object { api_version, kind, name } => {
                let group = api_version.rsplit_once('/').map_or("core", |(group, _)| group);
                format!("{objects}/{group}_{}_{name}.yaml", kind.to_ascii_lowercase())
            }
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => f.write_str(path),
            Self::Object { kind, name, .. } => write!(f, "{kind}/{name}"),
        }
    }
}

/// Whom an artifact is for: one node, or the whole cluster, so that several specs may ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    Node,
    Cluster,
}

/// The language of an artifact's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    Toml,
    Json,
    Yaml,
}

/// What a change does to running work, from nothing to the loss of data; the strongest of a set wins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Impact {
    None,
    /// The consumer sees it by itself.
    Hot,
    /// The consumer is told to read again.
    Reload(String),
    /// The unit is restarted.
    Restart(String),
    /// The node is drained first.
    Drain,
    Reboot,
    DataLoss,
}

impl std::fmt::Display for Impact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Hot => f.write_str("hot"),
            Self::Reload(unit) => write!(f, "reload {unit}"),
            Self::Restart(unit) => write!(f, "restart {unit}"),
            Self::Drain => f.write_str("drain"),
            Self::Reboot => f.write_str("reboot"),
            Self::DataLoss => f.write_str("data loss"),
        }
    }
}

/// When within a change set an artifact's turn comes: what others refer to first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Turn {
    /// Files that a configuration refers to or that stand alone.
    Referenced,
    /// A daemon's configuration.
    Configuration,
    /// Objects that lead pods to what the files set up.
    Object,
}

/// The part of the spec that something follows from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The model's path: `networks.pods`.
    pub path: String,
    #[serde(skip)]
    pub span: Span,
}

/// A file or object that Purlin owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    pub place: Place,
    pub scope: Scope,
    pub format: Format,
    /// Permission bits; the owner is root.
    pub mode: u32,
    #[serde(serialize_with = "text")]
    pub bytes: Vec<u8>,
    /// Who reads it.
    pub consumer: String,
    /// What making, changing or removing it does.
    pub impact: Impact,
    pub turn: Turn,
    pub origin: Origin,
}

fn text<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

/// A change of the host that is no file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Restart a unit when one of these places changes.
    #[serde(rename_all = "camelCase")]
    RestartUnit { unit: String, when_changed: Vec<Place> },
}

/// A device as a device plugin advertises it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdvertisedDevice {
    pub id: String,
    /// The fully qualified CDI name that Allocate answers with.
    pub cdi: String,
}

/// A socket or address that Purlin serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Endpoint {
    /// A device plugin (v1beta1).
    DevicePlugin { resource: String, socket: String, devices: Vec<AdvertisedDevice>, origin: Origin },
}

/// Who can decide what is unproven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DecidedBy {
    /// Facts of the node, of which some or all are not there.
    Facts,
    /// The API server alone: facts hold none of its objects.
    ApiServer,
}

/// Something that could not be decided, and is not guessed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unproven {
    /// What is not known, as a sentence without a full stop.
    pub what: String,
    pub decided_by: DecidedBy,
    pub origin: Origin,
}

impl Unproven {
    /// The same, its place among the texts of another run.
    #[must_use]
    pub fn moved(mut self, moved: &Moved) -> Self {
        self.origin.span = moved.span(self.origin.span);
        self
    }
}

/// What a spec means for a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The name of the node that it is for.
    pub node: String,
    /// The labels of the node's spec.
    pub labels: BTreeMap<String, String>,
    pub artifacts: Vec<Artifact>,
    pub actions: Vec<Action>,
    pub endpoints: Vec<Endpoint>,
    pub unproven: Vec<Unproven>,
    /// Foreign files that the spec gives into our hands, by path, and whether they go even without one of ours.
    #[serde(skip)]
    pub adoptions: BTreeMap<String, (crate::spec::Adoption, Span)>,
    /// The directories that are ours to look after.
    #[serde(skip)]
    pub places: Vec<&'static str>,
    /// Where objects stand as manifests.
    #[serde(skip)]
    pub objects: &'static str,
    /// The directories that stay even when nothing is left in them.
    #[serde(skip)]
    pub directories: Vec<&'static str>,
    /// The syntax that messages use.
    #[serde(skip)]
    pub syntax: crate::source::Syntax,
}

impl Plan {
    /// Whether a directory stands below one of those that stay, and so is there for what is in it alone.
    #[must_use]
    pub fn may_go(&self, directory: &str) -> bool {
        let stays = |stays: &&str| within(stays, directory);
        let below = |stays: &&str| within(directory, stays);
        self.directories.iter().any(below) && !self.directories.iter().any(stays)
    }
}
