//! The `kubelet` section as the operator writes it.

use schemars::JsonSchema;
use serde::Deserialize;

/// The kubelet's configuration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-purlin-gone" = {
    "networkPlugin": "--network-plugin left the kubelet with dockershim in 1.24; describe the network under `networks`",
    "cniBinDir": "--cni-bin-dir left the kubelet in 1.24; the container runtime runs CNI plugins",
    "cniConfDir": "--cni-conf-dir left the kubelet in 1.24; the container runtime reads CNI configuration",
    "containerRuntime": "--container-runtime left the kubelet in 1.27: every runtime speaks CRI",
    "podInfraContainerImage": "--pod-infra-container-image is the runtime's to set; use `pause-image` of the runtime"
}))]
pub struct Kubelet {
    /// The most pods that the node takes.
    #[schemars(range(min = 1, max = 65535))]
    #[schemars(extend("examples" = [200]))]
    pub max_pods: Option<u32>,
}
