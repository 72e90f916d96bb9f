//! What can be said about networks without a host.

use super::spec::{Networks, Range};
use super::{Network, Part};
use crate::diag::{Code, Diagnostic, Findings, Span, Spanned};
use crate::facts::platform::Platform;
use crate::node::CheckContext;
use crate::source::Syntax;
use crate::spec::{Address, Subnet, Symbols};
use ipnet::IpNet;
use std::net::IpAddr;

/// Tells the other sections of the networks and the links that they use.
pub fn declare(raw: &Networks, _platform: &Platform, symbols: &mut Symbols, findings: &mut Findings) {
    for (name, member) in raw {
        symbols.network(&name.to_string(), member.name_span);
        if let Some(bridge) = &member.value.bridge {
            let owner = format!("network `{name}`");
            let help = "give one of the bridges another name";
            symbols.claim(Code::PUR0207, "link", bridge.name.get(), &owner, bridge.name.span, help, findings);
        }
    }
}

/// Checks the section.
#[must_use]
pub fn check(raw: &Networks, context: &CheckContext<'_>, findings: &mut Findings) -> Part {
    let mut networks = Vec::new();
    for (name, member) in raw {
        let default = member.value.default.is_some_and(|d| d.value);
        let network =
            Network { name: name.to_string(), span: member.name_span, default, raw: member.value.clone() };
        addresses(&network, context.syntax, findings);
        networks.push(network);
    }
    one_default(&networks, context.syntax, findings);
    overlaps(&networks, findings);
    Part { networks }
}

fn one_default(networks: &[Network], syntax: Syntax, findings: &mut Findings) {
    let place = |n: &Network| n.raw.default.map_or(n.span, |d| d.span);
    let mut defaults: Vec<_> = networks.iter().filter(|n| n.default).collect();
    defaults.sort_by_key(|n| place(n));
    if let [first, more @ ..] = defaults.as_slice() {
        for network in more {
            findings.push(
                Diagnostic::new(Code::PUR0202, "more than one network is the default")
                    .at(place(network), format!("`{}` is a default too", network.name))
                    .see(place(first), format!("`{}` is the default", first.name))
                    .note("the runtime attaches every pod to the network whose file sorts first, and only to that")
                    .help("leave `default` on one network only"),
            );
        }
    } else if let Some(first) = networks.first() {
        findings.push(
            Diagnostic::new(Code::PUR0203, "no network is the default")
                .at(
                    first.span,
                    "every pod would be attached to this one, unless a file of someone else's sorts first",
                )
                .note("the runtime attaches every pod to the network whose file sorts first")
                .help(format!(
                    "write {} on the network that every pod is to be attached to",
                    syntax.example("default=#true", "default: true")
                )),
        );
    }
}

fn addresses(network: &Network, syntax: Syntax, findings: &mut Findings) {
    let Some(ipam) = &network.raw.ipam else {
        if network.default {
            findings.push(
                Diagnostic::new(
                    Code::PUR0105,
                    format!("the default network `{}` gives pods no address", network.name),
                )
                .at(network.span, "it has no `ipam`")
                .note("the kubelet takes a pod without an address for failed")
                .help(format!(
                    "add {}",
                    syntax.example(
                        "ipam { range \"10.22.0.0/24\" }",
                        "ipam: { ranges: [{ subnet: 10.22.0.0/24 }] }"
                    )
                )),
            );
        }
        return;
    };
    for range in &ipam.ranges {
        let Some(subnet) = &range.subnet else { continue };
        let net = *subnet.get();
        let spare = net.max_prefix_len() - net.prefix_len();
        if spare < 2 {
            findings.push(
                Diagnostic::new(Code::PUR0209, format!("`{net}` has no room for a gateway and a pod"))
                    .at(subnet.span, "too small")
                    .help(format!("use a prefix of at most {} bits", net.max_prefix_len() - 2)),
            );
            continue;
        }
        within(subnet, range, findings);
    }
    let mut seen: Vec<&Spanned<Subnet>> = Vec::new();
    for route in &ipam.routes {
        if let Some(first) = seen.iter().find(|to| to.value == route.to.value) {
            findings.push(
                Diagnostic::new(
                    Code::PUR0205,
                    format!("network `{}` has the route to `{}` twice", network.name, route.to.value),
                )
                .at(route.to.span, "given again")
                .see(first.span, "given first")
                .note("the kernel refuses the second, and no pod is attached")
                .help("leave one out"),
            );
        }
        seen.push(&route.to);
        let v4 = route.to.get().addr().is_ipv4();
        let mut families = ipam.ranges.iter().filter_map(|r| r.subnet.as_ref());
        if families.clone().next().is_some() && families.all(|s| s.get().addr().is_ipv4() != v4) {
            let family = if v4 { "IPv4" } else { "IPv6" };
            findings.push(
                Diagnostic::new(
                    Code::PUR0209,
                    format!(
                        "the route to `{}` is for {family}, and pods have no such address",
                        route.to.value
                    ),
                )
                .at(route.to.span, "no range of this network is of its family")
                .help(format!("leave it out, or add a range for {family}")),
            );
        }
        if let Some(via) = &route.via
            && via.get().is_ipv4() != route.to.get().addr().is_ipv4()
        {
            findings.push(
                Diagnostic::new(
                    Code::PUR0209,
                    format!("the route to `{}` goes by an address of the other family", route.to.value),
                )
                .at(via.span, "not of the route's family")
                .see(route.to.span, "the route")
                .help("name a next hop of the same family"),
            );
        }
    }
}

fn within(subnet: &Spanned<Subnet>, range: &Range, findings: &mut Findings) {
    let net = *subnet.get();
    let mut inside = |what: &str, address: &Option<Spanned<Address>>| -> Option<(IpAddr, Span)> {
        let address = address.as_ref()?;
        let ip = *address.get();
        let wrong = if !net.contains(&ip) {
            "it lies outside"
        } else if ip == net.network() {
            "it is the network's own address"
        } else if net.addr().is_ipv4() && ip == net.broadcast() {
            "it is the broadcast address"
        } else {
            return Some((ip, address.span));
        };
        let example =
            net.hosts().find(|h| *h != net.network()).map(|h| format!("choose one within, like `{h}`"));
        let mut finding =
            Diagnostic::new(Code::PUR0209, format!("the {what} `{ip}` is no address for `{net}`"))
                .at(address.span, wrong)
                .see(subnet.span, "the range's network");
        if let Some(example) = example {
            finding = finding.help(example);
        }
        findings.push(finding);
        None
    };
    inside("gateway", &range.gateway);
    let (start, end) = (inside("start", &range.start), inside("end", &range.end));
    if let (Some((start, start_span)), Some((end, end_span))) = (start, end)
        && start > end
    {
        findings.push(
            Diagnostic::new(Code::PUR0209, format!("the range from `{start}` to `{end}` runs backwards"))
                .at(end_span, "before the start")
                .see(start_span, "the start")
                .help("swap them"),
        );
    }
}

fn overlaps(networks: &[Network], findings: &mut Findings) {
    let mut seen: Vec<(IpNet, Span, &str)> = Vec::new();
    let mut in_order: Vec<_> = networks.iter().collect();
    in_order.sort_by_key(|n| n.span);
    for network in in_order {
        for range in network.raw.ipam.iter().flat_map(|i| &i.ranges) {
            let Some(subnet) = &range.subnet else { continue };
            let net = *subnet.get();
            for (other, span, owner) in &seen {
                if overlap(net, *other) {
                    findings.push(
                        Diagnostic::new(
                            Code::PUR0208,
                            format!(
                                "`{net}` of network `{}` overlaps with `{other}` of network `{owner}`",
                                network.name
                            ),
                        )
                        .at(subnet.span, "these addresses are given out twice")
                        .see(*span, "the other range")
                        .note("two pods could get one address, and the host would route to one of them only")
                        .help("give each range a network of its own"),
                    );
                }
            }
            seen.push((net, subnet.span, &network.name));
        }
    }
}

/// Whether two networks share an address.
#[must_use]
pub fn overlap(a: IpNet, b: IpNet) -> bool {
    a.contains(&b) || b.contains(&a)
}
