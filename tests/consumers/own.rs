//! One spec, `own.kdl`, with all that this version compiles: its files make a real node.

use crate::sandbox::{CONTAINERDS, Node, Seen, peers};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// The handlers of own.kdl, with their binaries.
pub const HANDLERS: [(&str, &str); 3] = [
    ("crun", "/usr/bin/crun"),
    ("nvidia", "/usr/local/bin/nvidia-container-runtime"),
    ("runc", "/usr/bin/runc"),
];

pub fn spec() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/consumers/own.kdl")
}

#[test]
fn one_spec_makes_a_node_on_every_containerd() {
    let Some(peers) = peers() else { return };
    for (version, format) in CONTAINERDS {
        let node = Node::new(version);
        let facts = node.observe(&peers);
        let known: Json = serde_json::from_str(&std::fs::read_to_string(&facts).unwrap()).unwrap();
        assert_eq!(known["daemons"]["containerd"]["version"], version);
        node.render(&spec(), &facts);
        let config: toml::Table = node.read("/etc/containerd/config.toml").parse().unwrap();
        assert_eq!(config["version"].as_integer(), Some(format), "{version}");
        let conflist: Json =
            serde_json::from_str(&node.read("/etc/cni/net.d/10-purlin-pods.conflist")).unwrap();
        assert_eq!(conflist["cniVersion"], "1.1.0");

        let seen = node.inside(&peers, &[], &["own"]);
        assert_eq!(seen.code, 0, "{version}: {}", seen.trouble());
        daemon_says(&seen);
        pods_run_through_their_handlers(&seen);
        pods_are_attached(&seen);
        devices_and_hooks(&seen);
        mirrors_are_asked(&seen);
    }
}

fn daemon_says(seen: &Seen) {
    let info = seen.json("info.json");
    let config = &info["config"];
    let runtimes = config["containerd"]["runtimes"].as_object().unwrap();
    let names: Vec<&str> = runtimes.keys().map(String::as_str).collect();
    assert_eq!(names, HANDLERS.map(|(name, _)| name));
    assert_eq!(config["containerd"]["defaultRuntimeName"], "runc");
    for (name, binary) in HANDLERS {
        assert_eq!(runtimes[name]["options"]["BinaryName"], binary);
        assert_eq!(runtimes[name]["baseRuntimeSpec"], "/etc/containerd/purlin/main.json");
        let handlers = info["runtimeHandlers"].as_array().unwrap();
        let usable = handlers.iter().any(|h| h["name"] == name && h["features"].is_object());
        assert!(usable, "{name}: its binary does not answer `features`: {handlers:?}");
    }
    assert_eq!(runtimes["nvidia"]["options"]["SystemdCgroup"], true);
    assert_eq!(runtimes["runc"]["privileged_without_host_devices"], true);
    assert_eq!(runtimes["runc"]["PodAnnotations"], json!(["purlin.test/*"]));
    assert_eq!(config["restrictOOMScoreAdj"], true);
    assert_eq!(config["device_ownership_from_security_context"], true);
    assert_eq!(config["enableUnprivilegedPorts"], false);
    assert_eq!(config["ignoreImageDefinedVolumes"], true);
    assert_eq!(config["cni"]["binDirs"], json!(["/opt/cni/bin"]));
    assert_eq!(config["cni"]["confDir"], "/etc/cni/net.d");
    assert_eq!(info["lastCNILoadStatus"], "OK");
    let network =
        info["cniconfig"]["Networks"].as_array().unwrap().iter().find(|n| n["Config"]["Name"] == "pods");
    assert_eq!(network.unwrap()["Config"]["CNIVersion"], "1.1.0");
    // It follows the default handler.
    assert!(seen.text("runtime-config.txt").contains("CGROUPFS"));
    let unknown: Vec<_> = seen.log.lines().filter(|l| l.contains("Ignoring unknown key")).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

fn pods_run_through_their_handlers(seen: &Seen) {
    let ask = |name: &str| seen.json(&format!("pod-{name}.json"));
    for (name, binary) in HANDLERS {
        let pod = ask(&format!("p{name}"));
        assert_eq!(pod["status"]["state"], "SANDBOX_READY");
        assert_eq!(pod["info"]["runtimeOptions"]["binary_name"], binary, "{name}");
        let systemd = pod["info"]["runtimeOptions"]["systemd_cgroup"].as_bool().unwrap_or(false);
        assert_eq!(systemd, name == "nvidia");
        assert_eq!(pod["info"]["image"], "purlin.test/pause:1");
        let note = &pod["info"]["runtimeSpec"]["annotations"]["purlin.test/note"];
        assert_eq!(note.as_str(), (name == "runc").then_some("kept"), "pod annotations of {name}");
    }
    assert_eq!(ask("p")["info"]["runtimeOptions"]["binary_name"], "/usr/bin/runc", "the default handler");
    let calls = seen.text("nvidia.log");
    assert!(calls.lines().any(|l| l.contains("--systemd-cgroup") && l.contains("create")), "{calls}");
}

fn pods_are_attached(seen: &Seen) {
    let ip = seen.json("pod-p.json")["status"]["network"]["ip"].as_str().unwrap().to_owned();
    let last: u8 = ip.strip_prefix("10.23.0.").unwrap_or_else(|| panic!("{ip}")).parse().unwrap();
    assert!((40..=60).contains(&last), "{ip}");
    let link = &seen.json("address.json")[0];
    assert_eq!(link["addr_info"][0]["local"], ip);
    assert_eq!(link["mtu"], 1420);
    assert_eq!(seen.json("bridge.json")[0]["addr_info"][0]["local"], "10.23.0.1");
    assert!(seen.text("ping.txt").contains("1 received"));
    assert_eq!(seen.text("answer.txt"), "through the host port\n");
}

fn devices_and_hooks(seen: &Seen) {
    let hooks = seen.text("hooks.log");
    let ran = |mark: &str, container: &str| {
        hooks.lines().any(|l| l.starts_with(mark) && l.contains(&format!("\"id\":\"{container}\"")))
    };
    for (name, _) in HANDLERS {
        let log = seen.text(&format!("c{name}.log"));
        let lines: Vec<&str> = log.lines().map(str::trim).collect();
        assert_eq!(
            lines[..3],
            ["1:5 character special file", "00 00 00 00", "SERIAL=zero"],
            "{name}: {}",
            seen.trouble()
        );
        // The base spec brings the default capabilities, and must not bring the default limit of 1024 files.
        assert_eq!(lines[3], "CapEff:\t00000000a80425fb", "{name}");
        let process = &seen.json(&format!("container-c{name}.json"))["info"]["runtimeSpec"]["process"];
        assert!(process["args"].is_array() && process["rlimits"].is_null(), "{name}: {process}");
        let id = seen.text(&format!("c{name}.id"));
        assert!(ran("everywhere all ", id.trim()), "{name}: {hooks}");
        assert!(ran("serial device ", id.trim()), "{name}: {hooks}");
    }
    let bare = seen.text("without.log");
    assert!(bare.contains("No such file") && bare.contains("SERIAL=\n"), "{bare}");
    let id = seen.text("without.id");
    assert!(ran("everywhere all ", id.trim()) && !ran("serial device ", id.trim()), "{hooks}");
}

fn mirrors_are_asked(seen: &Seen) {
    assert_eq!(seen.text("asked.txt"), asked());
}

/// What the mirrors of own.kdl are asked for an image that none has, first by tag and then by digest: in the order written
/// there, the one that may not resolve tags for the digest only, and the server last.
pub fn asked() -> String {
    let digest = format!("sha256:{}", "0".repeat(64));
    let mut log = String::new();
    for (what, ports) in [
        ("manifests/1".to_owned(), &[5002, 5004, 5003, 5005][..]),
        (format!("manifests/{digest}"), &[5002, 5004, 5001, 5003, 5005]),
        (format!("blobs/{digest}"), &[5002, 5004, 5001, 5003, 5005]),
    ] {
        for port in ports {
            let root = if *port == 5002 { "/v2/cache" } else { "/v2" };
            log += &format!("{port} HEAD {root}/library/purlin-test/{what}?ns=docker.io\n");
        }
    }
    log
}
