//! The `policies` section as the operator writes it.

use crate::spec::{Name, Named};
use schemars::JsonSchema;
use serde::Deserialize;

/// Rules that pods and specs are held to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policies {
    /// Ready-made rules to apply.
    #[serde(default, rename = "use")]
    pub uses: Vec<Name>,
    /// Rules of your own.
    #[serde(default)]
    #[schemars(extend("x-purlin-node" = "rule"))]
    pub rules: Named<Name, Rule>,
}

/// Where a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// When a spec is checked.
    Spec,
    /// When the API server is about to store an object.
    Admission,
    /// When a node is sought for a pod.
    Scheduling,
    /// When a container is made.
    Create,
    /// When a device is handed out.
    Allocate,
}

/// A rule.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    /// Where it applies.
    pub at: Vec<Point>,
    /// The condition, in CEL.
    pub when: String,
    /// What is said when the condition holds and the request is refused.
    pub deny: Option<String>,
}
