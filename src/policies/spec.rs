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
    #[schemars(extend("examples" = [["baseline"]]))]
    pub uses: Vec<Name>,
    /// Rules of your own.
    #[serde(default)]
    #[schemars(extend("examples" = [{"no-host-network": {"at": ["admission"], "when": "object.spec.?hostNetwork.orValue(false)", "deny": "pods of this cluster do not use the host's network"}}], "x-purlin-node" = "rule"))]
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
    #[schemars(extend("examples" = [["admission"]]))]
    pub at: Vec<Point>,
    /// The condition, in CEL.
    #[schemars(extend("examples" = ["object.spec.?hostNetwork.orValue(false)"]))]
    pub when: String,
    /// What is said when the condition holds and the request is refused.
    #[schemars(extend("examples" = ["pods of this cluster do not use the host's network"]))]
    pub deny: Option<String>,
}
