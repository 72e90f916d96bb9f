//! What every spec has around its sections: the document, names, references, and the types that fields are made of.
//!
//! Sections do not know each other. What one says about another goes through [`Symbols`].

mod named;
mod scalar;
mod schema;
mod symbols;

pub use named::{Member, Named};
pub use scalar::{
    AbsolutePath, Address, AnnotationPattern, DeviceKind, DevicePath, Duration, EnvName, FORMATS, Image,
    LabelKey, LabelValue, LinkName, Minor, Name, Quantity, RegistryHost, Subnet, Text, Url, VersionRange,
    Versions,
};
pub use schema::{
    FACTS_SCHEMA_TEXT, PART_SCHEMA_TEXT, SCHEMA_TEXT, generate as generate_schema, generate_facts,
    generate_part, schema, schema_of, validator,
};
pub use symbols::{HookSymbol, Program, RuntimeSymbol, Symbols};

use crate::diag::Spanned;
use crate::sections::Spec;
use crate::source::{Migration, Syntax};
use schemars::JsonSchema;
use serde::Deserialize;

/// The version of the language that this binary reads.
pub const API_VERSION: &str = "purlin.dev/v1alpha1";

/// What has changed from version to version of the language; there is one so far.
pub const MIGRATIONS: &[Migration] = &[];

/// What a Kubernetes node offers to pods: its runtimes, networks, volumes and devices, and the policies on them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-purlin-document" = {"version": "purlin", "node": "node", "part": "part"}))]
pub struct NodeSpec {
    /// The version of the language.
    pub api_version: ApiVersion,
    /// What the document describes.
    pub kind: DocumentKind,
    /// The node's name and labels.
    #[schemars(extend("x-purlin-inline" = true))]
    pub metadata: Metadata,
    /// What the node offers.
    #[serde(default)]
    #[schemars(extend("x-purlin-inline" = true))]
    pub spec: Spec,
}

/// The version of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ApiVersion {
    /// The first one.
    #[serde(rename = "purlin.dev/v1alpha1")]
    V1alpha1,
}

/// What a document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum DocumentKind {
    /// One node, or several of the same make.
    NodeSpec,
}

/// The node's name and labels.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-purlin-arguments" = ["name"]))]
pub struct Metadata {
    /// The node's name.
    #[schemars(extend("examples" = ["edge-a"]))]
    pub name: Spanned<Name>,
    /// Labels that tell this node from others, for whoever reads plans and diffs. Cluster-wide objects do not carry them:
    /// those must be the same from every node's spec.
    #[serde(default)]
    #[schemars(extend("x-purlin-node" = "label"))]
    pub labels: Named<LabelKey, LabelValue>,
}

/// A distribution of Kubernetes, with its paths and units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlatformName {
    /// Upstream's own paths, as kubeadm uses them.
    #[default]
    Generic,
}

impl PlatformName {
    /// Its row of the platform table.
    #[must_use]
    pub const fn platform(self) -> &'static crate::facts::platform::Platform {
        match self {
            Self::Generic => &crate::facts::platform::PLATFORMS[0],
        }
    }
}

/// What the output must work with.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Target {
    /// The kubelet's versions.
    #[schemars(extend("examples" = ["1.35"]))]
    pub kubelet: Option<Spanned<VersionRange>>,
    /// The distribution.
    #[schemars(extend("x-purlin-default" = "generic"))]
    pub platform: Option<PlatformName>,
}

/// What becomes of a foreign file in a place of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adoption {
    /// Ours takes its place.
    Replace,
    /// It is removed.
    Remove,
}

impl Adoption {
    /// The line that adopts a file so, as a message quotes it.
    #[must_use]
    pub fn example(self, syntax: Syntax, path: &str) -> String {
        let word = match self {
            Self::Replace => "replace",
            Self::Remove => "remove",
        };
        syntax.example(
            &format!("adopt {} \"{word}\"", Syntax::Kdl.string(path)),
            &format!("adopt: {{ {}: {word} }}", Syntax::Yaml.string(path)),
        )
    }
}
