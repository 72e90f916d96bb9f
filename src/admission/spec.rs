//! The `admission` section as the operator writes it.

use schemars::JsonSchema;
use serde::Deserialize;

/// Decisions on objects before the API server stores them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-purlin-gone" = {
    "initializers": "initializers left Kubernetes in 1.16; use `webhook`, or rules under `policies`",
    "podSecurityPolicy": "PodSecurityPolicy left Kubernetes in 1.25; use rules under `policies`"
}))]
pub struct Admission {
    /// A webhook that the API server asks.
    pub webhook: Option<Webhook>,
}

/// An admission webhook.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Webhook {
    /// The TCP port that it listens on.
    #[schemars(range(min = 1, max = 65535))]
    #[schemars(extend("examples" = [9444]))]
    pub port: u16,
}
