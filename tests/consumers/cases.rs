//! Cases from the field: each a public report about a system that does part of this job, and the outcome that is right.

use crate::drop_in;
use crate::own;
use crate::sandbox::{CONTAINERDS, Node, path, peers, purlin, said};
use serde_json::{Value as Json, json};

/// A spec around the inside of `runtimes`, `networks` and so on.
fn spec(sections: &str) -> String {
    format!("purlin \"v1alpha1\"\n\nnode \"n\" {{\n{sections}\n}}\n")
}

fn containerd(version: &str, more: &str) -> String {
    format!(
        "runtimes {{\nruntime \"main\" {{\ncontainerd version=\"{version}\" config=\"own\" {{\nhandler \"runc\" default=#true\n{more}\n}}\n}}\n\
         registry \"docker.io\" {{\nmirror \"https://mirror.example\"\n}}\n}}"
    )
}

#[test]
fn case_containerd_12612_mirrors_are_hosts_files_only() {
    for version in ["2.0", "2.1", "2.2", "2.3", "2.4", "2.1-2.4"] {
        let node = Node::files(CONTAINERDS[0].0);
        let file = node.spec(&spec(&containerd(version, "")));
        let output = purlin(&["render", path(&file), "-o", path(&node.tree())]);
        assert!(output.status.success(), "{}", said(&output));
        let config: toml::Table = node.read("/etc/containerd/config.toml").parse().unwrap();
        let registry = config["plugins"]["io.containerd.cri.v1.images"]["registry"].as_table().unwrap();
        assert_eq!(
            registry.keys().collect::<Vec<_>>(),
            ["config_path"],
            "{version}: both at once stop the daemon"
        );
        let hosts: toml::Table = node.read("/etc/containerd/certs.d/docker.io/hosts.toml").parse().unwrap();
        assert!(hosts["host"].as_table().unwrap().contains_key("https://mirror.example"));
    }
}

#[test]
fn case_containerd_10959_a_key_that_nobody_knows_is_an_error() {
    for (wrong, code) in [
        ("nri-timeout \"5s\"", "PUR0101"),
        // The daemon would take it at the root without a word; its place is plugins.'io.containerd.nri.v1.nri'.
        ("nri registration-timeout=\"5s\"", "PUR0108"),
    ] {
        let node = Node::files(CONTAINERDS[0].0);
        let file = node.spec(&spec(&containerd("2.1-2.4", wrong)));
        let output = purlin(&["render", path(&file), "-o", path(&node.tree())]);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(code), "{wrong}: {}", said(&output));
        assert!(!node.path("/etc/containerd/config.toml").exists(), "{wrong}");
    }
    // Nothing of a plugin's is ever written to the root of the file.
    let node = Node::files(CONTAINERDS[0].0);
    let output = purlin(&["render", path(&own::spec()), "-o", path(&node.tree())]);
    assert!(output.status.success(), "{}", said(&output));
    let config: toml::Table = node.read("/etc/containerd/config.toml").parse().unwrap();
    assert_eq!(config.keys().collect::<Vec<_>>(), ["plugins", "required_plugins", "version"]);
}

/// What changes, by place, with its impact, and the units restarted.
fn planned(spec: &str, node: &Node) -> (Vec<(String, String)>, Vec<String>, String) {
    let output = purlin(&["diff", spec, "--root", path(&node.tree()), "--format", "json"]);
    let diff: Json =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", said(&output)));
    let steps = diff["steps"].as_array().unwrap();
    let changes = steps
        .iter()
        .filter_map(|s| s.get("change"))
        .map(|c| {
            let place =
                c["place"]["file"].as_str().unwrap_or_else(|| c["place"]["object"]["kind"].as_str().unwrap());
            (place.to_owned(), c["impact"].as_str().unwrap().to_owned())
        })
        .collect();
    let units = steps.iter().filter_map(|s| s["restartUnit"]["unit"].as_str()).map(str::to_owned).collect();
    (changes, units, diff.to_string())
}

#[test]
fn case_containerd_13285_a_plan_restarts_or_leaves_alone_and_signals_nothing() {
    for text in [std::fs::read_to_string(own::spec()).unwrap(), drop_in::SPEC.to_owned()] {
        let node = Node::files(CONTAINERDS[0].0);
        let (changes, units, all) = planned(path(&node.spec(&text)), &node);
        assert_eq!(units, ["containerd.service"], "{all}");
        for (place, impact) in &changes {
            let right = match place.as_str() {
                p if p.contains("certs.d") || p.contains("/cni/") || p.contains("/cdi/") => "hot",
                "RuntimeClass" => "none",
                _ => "restart containerd.service",
            };
            assert_eq!(impact, right, "{place}");
        }
        assert!(!all.contains("SIGHUP") && !all.contains("reload"), "{all}");
    }
    // A mirror alone needs no restart.
    let node = Node::files(CONTAINERDS[0].0);
    let file = node.spec(&spec(&containerd("2.1-2.4", "")));
    assert!(purlin(&["render", path(&file), "-o", path(&node.tree())]).status.success());
    let text = std::fs::read_to_string(&file).unwrap().replace("mirror.example", "other.example");
    let (changes, units, _) = planned(path(&node.spec(&text)), &node);
    assert_eq!(changes, [("/etc/containerd/certs.d/docker.io/hosts.toml".to_owned(), "hot".to_owned())]);
    assert!(units.is_empty());
}

const NETWORK: &str = "networks {\nnetwork \"pods\" default=#true {\nbridge name=\"purlin0\"\nipam {\nrange \"10.23.0.0/24\"\n}\nportmap\n}\n}";

/// Facts of a node with these plugins.
fn plugins(node: &Node, plugins: &[(&str, &[&str])]) -> std::path::PathBuf {
    let plugins: Json = plugins
        .iter()
        .map(|(name, versions)| {
            ((*name).to_owned(), json!({ "path": format!("/opt/cni/bin/{name}"), "versions": versions }))
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    node.beside(
        "facts.json",
        &json!({ "version": "purlin.dev/facts/v1alpha1", "cniPlugins": plugins, "links": {} }).to_string(),
    )
}

#[test]
fn case_cni_523_a_conflist_is_of_the_plugins_there_are() {
    let node = Node::files(CONTAINERDS[0].0);
    let file = node.spec(&spec(NETWORK));
    let conflist = "/etc/cni/net.d/10-purlin-pods.conflist";
    let all: &[&str] = &["0.4.0", "1.0.0", "1.1.0"];
    for (there, wrong) in [
        (vec![("bridge", all), ("host-local", all)], "`portmap` is not in"),
        (vec![("bridge", all), ("host-local", &["0.1.0"]), ("portmap", all)], "`host-local` speaks none of"),
    ] {
        let facts = plugins(&node, &there);
        for command in [
            vec!["check", path(&file), "--facts", path(&facts)],
            vec!["render", path(&file), "-o", path(&node.tree()), "--facts", path(&facts)],
        ] {
            let output = purlin(&command);
            let text = said(&output);
            assert_eq!(output.status.code(), Some(1), "{text}");
            assert!(text.contains("PUR0303") && text.contains(wrong), "{text}");
        }
        assert!(!node.path(conflist).exists());
    }
    // One that speaks less than the others decides for all.
    let facts = plugins(&node, &[("bridge", all), ("host-local", &["0.4.0", "1.0.0"]), ("portmap", all)]);
    node.render(&file, &facts);
    let text: Json = serde_json::from_str(&node.read(conflist)).unwrap();
    assert_eq!(text["cniVersion"], "1.0.0");
    // A plugin of a type that is not ours to name.
    let file = node.spec(&spec(&NETWORK.replace("bridge name", "nope name")));
    let output = purlin(&["check", path(&file)]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

const DEVICE: &str =
    "devices {\ndevice \"purlin.test/serial\" {\npath \"/dev/purlin/serial0\"\nenv \"FROM\" \"purlin\"\n}\n}";

fn foreign_cdi(from: &str) -> String {
    json!({ "cdiVersion": "0.3.0", "kind": "purlin.test/serial", "devices": [
        { "name": "purlin:serial0", "containerEdits": { "env": [format!("FROM={from}")] } } ] })
    .to_string()
}

/// Our own file is written first, and theirs comes later: what a daemon does then, and what purlin says of it.
fn with_foreign(version: &'static str, place: Option<&str>) -> (Node, std::process::Output) {
    let node = Node::new(version);
    let file =
        node.spec(&spec(&format!("{}\n{DEVICE}", containerd("2.1-2.4", "restrict-oom-score-adj #true"))));
    let output = purlin(&["render", path(&file), "-o", path(&node.tree())]);
    assert!(output.status.success(), "{}", said(&output));
    if let Some(place) = place {
        node.put(place, &foreign_cdi("elsewhere"));
    }
    let output = purlin(&["check", path(&file), "--root", path(&node.tree())]);
    (node, output)
}

#[test]
fn case_cdi_precedence_the_later_directory_wins() {
    let Some(peers) = peers() else { return };
    for (version, _) in CONTAINERDS {
        let (node, output) = with_foreign(version, Some("/etc/cdi/theirs.json"));
        assert!(output.status.success() && said(&output).contains("warning[PUR0307]"), "{}", said(&output));
        let seen = node.inside(&peers, &[], &["cdi"]);
        assert_eq!(seen.code, 0, "{}", seen.trouble());
        assert_eq!(seen.text("c.log"), "FROM=purlin\n1:5\n", "{version}: {}", seen.trouble());
    }
}

#[test]
fn case_cdi_precedence_twice_in_one_directory_is_unresolvable() {
    let Some(peers) = peers() else { return };
    for (version, _) in CONTAINERDS {
        let (node, output) = with_foreign(version, Some("/var/run/cdi/theirs.json"));
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains("error[PUR0307]"), "{}", said(&output));
        let seen = node.inside(&peers, &[], &["cdi"]);
        assert_eq!(seen.code, 0, "{}", seen.trouble());
        assert_eq!(seen.text("c.log"), "not created\n");
        assert!(seen.text("c.error").contains("unresolvable CDI devices purlin.test/serial=purlin:serial0"));
    }
}

#[test]
fn case_cdi_115_the_dynamic_directory_alone_is_enough() {
    let Some(peers) = peers() else { return };
    for (version, _) in CONTAINERDS {
        let (node, output) = with_foreign(version, None);
        assert!(output.status.success(), "{}", said(&output));
        let seen = node.inside(&peers, &[], &["cdi", "only-dynamic"]);
        assert_eq!(seen.code, 0, "{}", seen.trouble());
        assert_eq!(seen.text("c.log"), "FROM=purlin\n1:5\n", "{version}: {}", seen.trouble());
    }
}

/// containerd 2.1 watches the directory for new names only: a file moved in from elsewhere would go unnoticed.
#[test]
fn a_device_written_beside_a_running_daemon_is_there_at_once() {
    let Some(peers) = peers() else { return };
    for (version, _) in CONTAINERDS {
        let node = Node::new(version);
        let runtimes = containerd("2.1-2.4", "restrict-oom-score-adj #true");
        let file = node.spec(&spec(&runtimes));
        let output = purlin(&["render", path(&file), "-o", path(&node.tree())]);
        assert!(output.status.success(), "{}", said(&output));
        let file = node.spec(&spec(&format!("{runtimes}\n{DEVICE}")));
        let seen = node.inside(&peers, &[], &["hot", env!("CARGO_BIN_EXE_purlin"), path(&file)]);
        assert_eq!(seen.code, 0, "{}", seen.trouble());
        assert_eq!(seen.text("before.log"), "not created\n");
        assert_eq!(seen.text("after.log"), "1:5\n", "{version}: {}", seen.trouble());
    }
}
