//! The conflist through libcni and the real plugins, without a runtime between.

use crate::own;
use crate::sandbox::{CONTAINERDS, Node, path, peers, purlin, said};
use serde_json::Value as Json;

#[test]
fn cnitool_attaches_and_detaches() {
    let Some(peers) = peers() else { return };
    let node = Node::new(CONTAINERDS[0].0);
    let facts = node.observe(&peers);
    // The real plugins' own answers decide on the version.
    let known: Json = serde_json::from_str(&std::fs::read_to_string(&facts).unwrap()).unwrap();
    for plugin in ["bridge", "host-local", "portmap"] {
        let versions = known["cniPlugins"][plugin]["versions"].as_array().unwrap();
        assert!(versions.iter().any(|v| v == "1.1.0"), "{plugin}: {versions:?}");
    }
    node.render(&own::spec(), &facts);
    let seen = node.inside(&peers, &["--no-start"], &["cnitool"]);
    assert_eq!(seen.code, 0, "{}", seen.trouble());

    let added = seen.json("add.json");
    assert_eq!(added["cniVersion"], "1.1.0");
    assert_eq!(added["ips"][0]["address"], "10.23.0.40/24");
    assert_eq!(added["ips"][0]["gateway"], "10.23.0.1");
    assert_eq!(added["routes"][0]["dst"], "0.0.0.0/0");
    let link = &seen.json("link.json")[0];
    assert_eq!((&link["ifname"], &link["mtu"]), (&"eth0".into(), &1420.into()));
    assert_eq!(link["addr_info"][0]["local"], "10.23.0.40");
    assert!(seen.text("ping.txt").contains("1 received"));
    assert_eq!(seen.json("port.json")[0]["linkinfo"]["info_slave_data"]["hairpin"], true);
    let nat = seen.text("nat.txt");
    assert!(nat.contains("MASQUERADE") && nat.contains("--to-destination 10.23.0.40:80"), "{nat}");
    assert!(seen.text("leases.txt").contains("10.23.0.40"));
    // DEL of what is gone is no error.
    assert_eq!(seen.text("gone.txt"), "del 0\nagain 0\n");
    assert!(!seen.text("leases-after.txt").contains("10.23.0.40"));
    assert!(!seen.text("nat-after.txt").contains("10.23.0.40"));
    assert_eq!(seen.text("link-after.txt"), "");
}

/// What libcni says of a conflist that purlin refuses to write (cni#523).
#[test]
fn case_cni_523_libcni_refuses_what_purlin_does_not_write() {
    let Some(peers) = peers() else { return };
    let node = Node::new(CONTAINERDS[0].0);
    let facts = node.observe(&peers);
    node.render(&own::spec(), &facts);
    let seen = node.inside(&peers, &["--no-start"], &["cni_refused"]);
    assert_eq!(seen.code, 0, "{}", seen.trouble());
    assert!(seen.text("nope.txt").contains("failed to find plugin \"nope\""), "{}", seen.text("nope.txt"));
    assert!(seen.text("version.txt").contains("9.9.9"), "{}", seen.text("version.txt"));
    // A node without the plugin: the facts are as observed there.
    let mut known: Json = serde_json::from_str(&std::fs::read_to_string(&facts).unwrap()).unwrap();
    known["cniPlugins"].as_object_mut().unwrap().remove("portmap");
    let facts = node.beside("without.json", &known.to_string());
    let output = purlin(&["check", path(&own::spec()), "--facts", path(&facts)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("PUR0303"), "{}", said(&output));
}
