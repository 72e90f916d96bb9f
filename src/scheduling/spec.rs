//! The `scheduling` section as the operator writes it.

use schemars::JsonSchema;
use serde::Deserialize;

/// A say in where pods go.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-purlin-gone" = {
    "policy": "the scheduler's Policy file left Kubernetes in 1.23; use `extender` here, or rules under `policies`"
}))]
pub struct Scheduling {
    /// An extender that kube-scheduler asks.
    pub extender: Option<Extender>,
}

/// A scheduler extender.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Extender {
    /// The TCP port that it listens on.
    #[schemars(range(min = 1, max = 65535))]
    #[schemars(extend("examples" = [9443]))]
    pub port: u16,
}
