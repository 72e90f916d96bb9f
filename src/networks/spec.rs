//! The `networks` section as the operator writes it.

use crate::diag::Spanned;
use crate::spec::{Address, LinkName, Name, Named, Subnet};
use schemars::JsonSchema;
use serde::Deserialize;

/// Networks that pods can be attached to, by name.
pub type Networks = Named<Name, Network>;

/// Which programs attach pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Plugin {
    /// The reference plugins of the CNI project, one process per step.
    Reference,
}

/// A network.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend(
    "x-purlin-one-of" = [["bridge", "macvlan", "ptp", "ipvlan"]],
    "examples" = [{"bridge": {"name": "cni0"}, "ipam": {"ranges": [{"subnet": "10.22.0.0/24"}]}}],
    "x-purlin-gone" = {
        "networkPlugin": "the kubelet's --network-plugin went with dockershim in 1.24; the runtime reads what stands here, so leave it out",
        "kubenet": "kubenet went with dockershim in 1.24; use `bridge` with `ipam` and `portmap`"
    }
))]
pub struct Network {
    /// Pods are attached to this network unless they ask for another. At most one network has it.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub default: Option<Spanned<bool>>,
    /// Which programs attach pods.
    #[schemars(extend("x-purlin-default" = "`reference`"))]
    pub plugin: Option<Plugin>,
    /// A bridge on the host joins the pods.
    pub bridge: Option<Bridge>,
    /// Pods get a link of their own on a host link.
    #[schemars(extend("x-purlin-planned" = "macvlan networks come with a later version of purlin"))]
    pub macvlan: Option<OnParent>,
    /// A pair of links joins each pod to the host.
    #[schemars(extend("x-purlin-planned" = "ptp networks come with a later version of purlin"))]
    pub ptp: Option<Ptp>,
    /// Pods share a host link's hardware address.
    #[schemars(extend("x-purlin-planned" = "ipvlan networks come with a later version of purlin"))]
    pub ipvlan: Option<OnParent>,
    /// Where pods' addresses come from.
    pub ipam: Option<Ipam>,
    /// Ports of the host lead to ports of pods (`hostPort`).
    pub portmap: Option<Portmap>,
    /// Pods' rates are limited by annotation.
    #[schemars(extend("x-purlin-planned" = "bandwidth limits come with a later version of purlin"))]
    pub bandwidth: Option<Bandwidth>,
}

/// A bridge on the host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bridge {
    /// The bridge's link name on the host; made when it is not there.
    pub name: Spanned<LinkName>,
    /// Bytes in the largest packet.
    #[schemars(range(min = 68, max = 65535))]
    #[schemars(extend("x-purlin-default" = "the kernel's", "examples" = [1450]))]
    pub mtu: Option<u32>,
    /// The bridge has each range's gateway address.
    #[schemars(extend("x-purlin-default" = "true"))]
    pub gateway: Option<bool>,
    /// What leaves the network takes the host's address.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub ip_masq: Option<bool>,
    /// A pod may reach itself through the bridge.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub hairpin: Option<bool>,
    /// The bridge sees all packets.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub promiscuous: Option<bool>,
    /// Pods on the bridge do not see each other's addresses but for the gateway's.
    #[schemars(extend("x-purlin-default" = "false", "x-purlin-planned" = "port isolation comes with a later version of purlin"))]
    pub isolated: Option<bool>,
    /// The bridge's VLAN for these pods.
    #[schemars(range(min = 1, max = 4094))]
    #[schemars(extend("examples" = [100]))]
    pub vlan: Option<u16>,
}

/// A link on top of a host link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnParent {
    /// The host's link.
    #[schemars(extend("examples" = ["eth1"]))]
    pub parent: LinkName,
    /// Bytes in the largest packet.
    #[schemars(range(min = 68, max = 65535))]
    #[schemars(extend("x-purlin-default" = "the parent's", "examples" = [1450]))]
    pub mtu: Option<u32>,
}

/// A point-to-point link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ptp {
    /// Bytes in the largest packet.
    #[schemars(range(min = 68, max = 65535))]
    #[schemars(extend("x-purlin-default" = "the kernel's", "examples" = [1450]))]
    pub mtu: Option<u32>,
    /// What leaves the network takes the host's address.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub ip_masq: Option<bool>,
}

/// Addresses from ranges that this node keeps itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("examples" = [{"ranges": [{"subnet": "10.22.0.0/24"}]}]))]
pub struct Ipam {
    /// A pod gets one address of each range.
    #[serde(default)]
    #[schemars(extend("x-purlin-node" = "range"), length(min = 1))]
    pub ranges: Vec<Range>,
    /// Routes in the pod.
    #[serde(default)]
    #[schemars(extend("x-purlin-default" = "for the default network a route to everywhere, per address family", "x-purlin-node" = "route"))]
    pub routes: Vec<Route>,
}

/// Where a range comes from when it is not written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RangeSource {
    /// The node's pod CIDRs, as the cluster hands them out.
    PodCidr,
}

/// A range of addresses.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend(
    "x-purlin-arguments" = ["subnet"],
    "x-purlin-one-of" = [["subnet", "from"]],
    "examples" = [{"subnet": "10.22.0.0/24"}]
))]
pub struct Range {
    /// The network that the addresses are of.
    pub subnet: Option<Spanned<Subnet>>,
    /// The network comes from the cluster.
    #[schemars(extend("x-purlin-planned" = "ranges from the node's pod CIDR come with a later version of purlin"))]
    pub from: Option<RangeSource>,
    /// The pods' gateway.
    #[schemars(extend("x-purlin-default" = "the subnet's first address"))]
    pub gateway: Option<Spanned<Address>>,
    /// The first address given out.
    #[schemars(extend("x-purlin-default" = "the first after the gateway's", "examples" = ["10.22.0.10"]))]
    pub start: Option<Spanned<Address>>,
    /// The last address given out.
    #[schemars(extend("x-purlin-default" = "the subnet's last", "examples" = ["10.22.0.200"]))]
    pub end: Option<Spanned<Address>>,
}

/// A route in the pod.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-purlin-arguments" = ["to"]))]
pub struct Route {
    /// Where it leads to.
    #[schemars(extend("examples" = ["0.0.0.0/0"]))]
    pub to: Spanned<Subnet>,
    /// The next hop.
    #[schemars(extend("x-purlin-default" = "the range's gateway"))]
    pub via: Option<Spanned<Address>>,
}

/// Ports of the host that lead to pods.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Portmap {
    /// Rewrite the source of what comes through a host port where it would not find back.
    #[schemars(extend("x-purlin-default" = "true"))]
    pub snat: Option<bool>,
}

/// Limits of pods' rates.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bandwidth {}
