//! Networks × facts → conflists (CNI 1.1.0, section 1).

use super::check::overlap;
use super::spec::{Bridge, Ipam, Portmap};
use super::{Network, Part};
use crate::diag::{Code, Diagnostic, Span};
use crate::emission::Emission;
use crate::facts::FileKind;
use crate::plan::{Artifact, Format, Impact, Origin, Place, Scope, Turn};
use crate::spec::Adoption;
use serde::Serialize;

/// The versions of the CNI configuration that Purlin writes, best first.
const CNI_VERSIONS: &[&str] = &["1.1.0", "1.0.0", "0.4.0"];

/// What is written when the plugins' answers are not known: every reference plugin since 2021 reads it.
const CNI_FALLBACK: &str = "1.0.0";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Conflist<'a> {
    cni_version: &'static str,
    name: &'a str,
    plugins: Vec<Plugin<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Plugin<'a> {
    Bridge(BridgePlugin<'a>),
    Portmap(PortmapPlugin),
}

/// Source: containernetworking/plugins 1.10.0 `plugins/main/bridge`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BridgePlugin<'a> {
    r#type: &'static str,
    bridge: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_gateway: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip_masq: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hairpin_mode: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    promisc_mode: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vlan: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipam: Option<HostLocal>,
}

/// Source: containernetworking/plugins 1.10.0 `plugins/ipam/host-local/backend/allocator`.
#[derive(Serialize)]
struct HostLocal {
    r#type: &'static str,
    /// One set per address that a pod gets; a set here holds one range.
    ranges: Vec<[HostLocalRange; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    routes: Vec<HostLocalRoute>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HostLocalRange {
    subnet: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    range_start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range_end: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway: Option<String>,
}

#[derive(Serialize)]
struct HostLocalRoute {
    dst: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    gw: Option<String>,
}

/// Source: containernetworking/plugins 1.10.0 `plugins/meta/portmap`.
#[derive(Serialize)]
struct PortmapPlugin {
    r#type: &'static str,
    capabilities: PortmapCapabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    snat: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PortmapCapabilities {
    port_mappings: bool,
}

/// Says what follows from the section.
pub fn emit(part: &Part, emission: &mut Emission<'_>) {
    for network in &part.networks {
        let version = cni_version(network, emission);
        let file = file_name(network);
        let place = format!("{}/{file}", emission.platform().cni_conf);
        let Some(bridge) = &network.raw.bridge else { continue };
        let mut plugins = vec![Plugin::Bridge(bridge_plugin(network, bridge))];
        if let Some(portmap) = &network.raw.portmap {
            plugins.push(Plugin::Portmap(portmap_plugin(portmap)));
        }
        let conflist = Conflist { cni_version: version, name: &network.name, plugins };
        // Structs of strings, numbers and booleans with string keys: there is nothing to refuse.
        let mut text = serde_json::to_string_pretty(&conflist).unwrap_or_default();
        text.push('\n');
        emission.artifact(Artifact {
            place: Place::File(place),
            scope: Scope::Node,
            format: Format::Json,
            mode: 0o644,
            bytes: text.into_bytes(),
            consumer: "CNI".to_owned(),
            // containerd and CRI-O watch the directory.
            impact: Impact::Hot,
            turn: Turn::Referenced,
            origin: Origin { path: network.path(), span: network.span },
        });
    }
    // What is foreign can be told only once all of ours are made.
    for network in &part.networks {
        shadows(network, emission);
        hosts_addresses(network, emission);
    }
}

/// The default sorts before our other networks, and a site's own files can still sort before it.
fn file_name(network: &Network) -> String {
    format!("{}-purlin-{}.conflist", if network.default { "10" } else { "50" }, network.name)
}

fn bridge_plugin<'a>(network: &'a Network, bridge: &'a Bridge) -> BridgePlugin<'a> {
    let ipam = network.raw.ipam.as_ref();
    BridgePlugin {
        r#type: "bridge",
        bridge: bridge.name.get(),
        is_gateway: ipam.map(|_| bridge.gateway.unwrap_or(true)),
        ip_masq: bridge.ip_masq,
        mtu: bridge.mtu,
        hairpin_mode: bridge.hairpin,
        promisc_mode: bridge.promiscuous,
        vlan: bridge.vlan,
        ipam: ipam.map(|i| host_local(i, network.default)),
    }
}

fn host_local(ipam: &Ipam, default: bool) -> HostLocal {
    let subnets: Vec<_> =
        ipam.ranges.iter().filter_map(|r| r.subnet.as_ref().map(|s| (r, *s.get()))).collect();
    let mut routes: Vec<_> = ipam
        .routes
        .iter()
        .map(|r| HostLocalRoute { dst: r.to.to_string(), gw: r.via.as_ref().map(|v| v.to_string()) })
        .collect();
    if routes.is_empty() && default {
        for (everywhere, v4) in [("0.0.0.0/0", true), ("::/0", false)] {
            if subnets.iter().any(|(_, net)| net.addr().is_ipv4() == v4) {
                routes.push(HostLocalRoute { dst: everywhere.to_owned(), gw: None });
            }
        }
    }
    let ranges = subnets
        .into_iter()
        .map(|(range, net)| {
            [HostLocalRange {
                subnet: net.to_string(),
                range_start: range.start.as_ref().map(|a| a.to_string()),
                range_end: range.end.as_ref().map(|a| a.to_string()),
                gateway: range.gateway.as_ref().map(|a| a.to_string()),
            }]
        })
        .collect();
    HostLocal { r#type: "host-local", ranges, routes }
}

const fn portmap_plugin(portmap: &Portmap) -> PortmapPlugin {
    PortmapPlugin {
        r#type: "portmap",
        capabilities: PortmapCapabilities { port_mappings: true },
        snat: portmap.snat,
    }
}

fn plugin_types(network: &Network) -> Vec<&'static str> {
    let mut types = Vec::new();
    if network.raw.bridge.is_some() {
        types.push("bridge");
    }
    if network.raw.ipam.is_some() {
        types.push("host-local");
    }
    if network.raw.portmap.is_some() {
        types.push("portmap");
    }
    types
}

/// The best version that every plugin of the network answers to VERSION.
fn cni_version(network: &Network, emission: &mut Emission<'_>) -> &'static str {
    let directory = emission.platform().cni_bin;
    let Some(known) = emission.facts().and_then(|f| f.cni_plugins.as_ref()) else {
        emission.unproven(
            &network.path(),
            network.span,
            format!("which versions the plugins in {directory} speak; the conflist says {CNI_FALLBACK}"),
        );
        return CNI_FALLBACK;
    };
    let mut candidates = CNI_VERSIONS.to_vec();
    let mut silent = false;
    for kind in plugin_types(network) {
        match known.get(kind) {
            None => emission.find(
                Diagnostic::new(Code::PUR0303, format!("the CNI plugin `{kind}` is not in {directory}"))
                    .at(network.span, "this network needs it")
                    .note(if network.default {
                        "every pod of the node would stay in ContainerCreating"
                    } else {
                        "a pod on this network would stay in ContainerCreating"
                    })
                    .help(format!("install the CNI reference plugins into {directory}")),
            ),
            Some(plugin) if plugin.versions.is_empty() => silent = true,
            Some(plugin) => {
                candidates.retain(|c| plugin.versions.iter().any(|v| v == c));
                if candidates.is_empty() {
                    emission.find(
                        Diagnostic::new(
                            Code::PUR0303,
                            format!("the CNI plugin `{kind}` speaks none of {}", CNI_VERSIONS.join(", ")),
                        )
                        .at(network.span, "this network needs it")
                        .note(format!("{} answers: {}", plugin.path, plugin.versions.join(", ")))
                        .help("install newer CNI reference plugins"),
                    );
                    return CNI_FALLBACK;
                }
            }
        }
    }
    if silent {
        emission.unproven(&network.path(), network.span, format!(
            "which versions the plugins in {directory} speak: they were not asked; the conflist says {CNI_FALLBACK}"
        ));
        return CNI_FALLBACK;
    }
    candidates.first().copied().unwrap_or(CNI_FALLBACK)
}

/// Of the files that a runtime reads, the first in lexical order is every pod's network.
fn shadows(network: &Network, emission: &mut Emission<'_>) {
    if !network.default {
        return;
    }
    let file = file_name(network);
    let directory = emission.platform().cni_conf;
    if !emission.facts().is_some_and(|f| f.knows_place(directory)) {
        emission.unproven(
            &network.path(),
            network.span,
            format!("whether another file in {directory} sorts before {file}"),
        );
        return;
    }
    for (path, found) in emission.foreign(directory) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let read = [".conf", ".conflist", ".json"].iter().any(|ending| name.ends_with(ending));
        if read && name < file.as_str() {
            let at: Span = network.raw.default.map_or(network.span, |d| d.span);
            // Only a file can be given into our hands.
            let adopt = if found.kind == FileKind::Regular {
                format!("let purlin remove it ({}), ", Adoption::Remove.example(emission.syntax(), path))
            } else {
                String::new()
            };
            emission.find(
                Diagnostic::new(Code::PUR0302, format!("`{path}` sorts before `{file}`"))
                    .at(at, "this network would not be the default")
                    .note("purlin did not make that file; the runtime takes the first in lexical order")
                    .help(format!("remove it by hand, {adopt}or take `default` off this network")),
            );
        }
    }
}

/// A pod's address that is also the host's, or lies behind one of its links, cannot be reached.
fn hosts_addresses(network: &Network, emission: &mut Emission<'_>) {
    let ranges: Vec<_> =
        network.raw.ipam.iter().flat_map(|i| &i.ranges).filter_map(|r| r.subnet.as_ref()).collect();
    if ranges.is_empty() {
        return;
    }
    let Some(links) = emission.facts().and_then(|f| f.links.as_ref()) else {
        emission.unproven(
            &network.path(),
            network.span,
            "whether the node has addresses of these ranges elsewhere",
        );
        return;
    };
    let own = network.raw.bridge.as_ref().map(|b| b.name.get().as_str());
    let foreign = links.iter().filter(|(name, _)| Some(name.as_str()) != own);
    for (name, address) in foreign.flat_map(|(name, link)| link.addresses.iter().map(move |a| (name, a))) {
        for range in ranges.iter().filter(|r| overlap(*r.get(), address.trunc())) {
            emission.find(
                Diagnostic::new(
                    Code::PUR0310,
                    format!("`{}` overlaps with `{address}` of the node's link `{name}`", range.value),
                )
                .at(range.span, "pods would get addresses that the node reaches elsewhere")
                .help("choose a range that the node has no part of"),
            );
        }
    }
}
