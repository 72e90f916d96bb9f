//! Every name in the files for containerd is misspelt in turn, and each must be noticed: containerd itself ignores most of
//! them with a warning at most, some without a word, and the node then runs with defaults.
//!
//! What notices them is what holds the right file: first a comparison with the keys that the daemon itself prints, which
//! costs no start, then what a started daemon says.

use crate::own;
use crate::sandbox::{CONTAINERDS, Node, Peers, Seen, peers};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// A path of keys.
type Keys = Vec<String>;

/// Every table and key of a configuration.
fn paths(table: &Table, at: &[String], found: &mut Vec<Keys>) {
    for (key, value) in table {
        let path: Keys = at.iter().cloned().chain([key.clone()]).collect();
        found.push(path.clone());
        if let Value::Table(inner) = value {
            paths(inner, &path, found);
        }
    }
}

fn misspell(table: &mut Table, path: &[String]) {
    match path {
        [] => {}
        [last] => {
            let value = table.remove(last).unwrap();
            table.insert(format!("{last}x"), value);
        }
        [first, rest @ ..] => misspell(table.get_mut(first).unwrap().as_table_mut().unwrap(), rest),
    }
}

/// Names that the daemon does not print among its own. It prints every option of its built-in handler `runc`, which stand
/// for those of any handler of that type; the handlers' own names are free.
fn unknown(ours: &Table, known: &Table, at: &str, found: &mut Vec<String>) {
    for (key, value) in ours {
        let path = format!("{at}.{key}");
        let handler = at.ends_with(".containerd.runtimes");
        match (value, known.get(if handler { "runc" } else { key })) {
            (_, None) => found.push(path),
            (Value::Table(ours), Some(Value::Table(known))) => unknown(ours, known, &path, found),
            (ours, Some(known)) if ours.is_table() != known.is_table() => found.push(path),
            _ => {}
        }
    }
}

fn structure(ours: &Table, known: &Table) -> Vec<String> {
    let mut found = Vec::new();
    unknown(ours, known, "", &mut found);
    found
}

/// What is wrong by what a started daemon says. `name` is the configuration's folder in what was seen.
fn effect(seen: &Seen, name: &str, config: &Table) -> Vec<String> {
    let log = seen.text(&format!("{name}/log"));
    let mut wrong: Vec<String> =
        log.lines().filter(|l| l.contains("Ignoring unknown key")).map(str::to_owned).collect();
    if !seen.has(&format!("{name}/info.json")) {
        wrong.push(format!("it does not run: {}", log.lines().last().unwrap_or_default()));
        return wrong;
    }
    let plugins = seen.text(&format!("{name}/plugins.txt"));
    for section in config["plugins"].as_table().unwrap().keys() {
        let (kind, id) = section.rsplit_once('.').unwrap();
        let loaded = plugins.lines().map(|l| l.split_whitespace().collect::<Vec<_>>());
        if !loaded
            .into_iter()
            .any(|l| l.first() == Some(&kind) && l.get(1) == Some(&id) && l.last() == Some(&"ok"))
        {
            wrong.push(format!("no plugin {section}"));
        }
    }
    let info = seen.json(&format!("{name}/info.json"));
    let containerd = &info["config"]["containerd"];
    let handlers: Vec<&String> = containerd["runtimes"].as_object().unwrap().keys().collect();
    if handlers != own::HANDLERS.map(|(name, _)| name) {
        wrong.push(format!("handlers are {handlers:?}"));
    }
    if containerd["defaultRuntimeName"] != "runc" {
        wrong.push(format!("the default is {}", containerd["defaultRuntimeName"]));
    }
    for (handler, binary) in own::HANDLERS {
        if containerd["runtimes"][handler]["options"]["BinaryName"] != binary {
            wrong.push(format!("{handler} does not run {binary}"));
        }
    }
    wrong
}

/// own.kdl with the settings that it cannot have: because a version in its range does not know them, or because the
/// daemon would not start where there is cgroup v1.
fn everything(version: &str) -> String {
    let text = std::fs::read_to_string(own::spec()).unwrap();
    let with = |text: &str, old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    };
    let text = with(&text, r#"binary="/usr/bin/crun""#, r#"binary="/usr/bin/crun" cgroup-writable=#true"#);
    if version.starts_with("2.4") { period(&text) } else { text }
}

fn period(spec: &str) -> String {
    spec.replace(r#"containerd version="2.1-2.4""#, r#"containerd version="2.4""#)
        .replace("restrict-oom-score-adj #true", "restrict-oom-score-adj #true\nstats-collect-period \"7s\"")
}

fn rendered(peers: &Peers, version: &'static str, spec: Option<&str>) -> (Node, String) {
    let node = Node::new(version);
    let facts = node.observe(peers);
    // What needs cgroup v2 is refused for a host without it; here only the names in the file matter.
    let text = std::fs::read_to_string(&facts).unwrap();
    std::fs::write(&facts, text.replace("\"cgroup\": 1,", "\"cgroup\": 2,")).unwrap();
    let spec = spec.map_or_else(own::spec, |text| node.spec(text));
    node.render(&spec, &facts);
    let text = node.read("/etc/containerd/config.toml");
    (node, text)
}

#[test]
fn every_misspelt_name_of_containerds_configuration_is_noticed() {
    let Some(peers) = peers() else { return };
    for (version, _) in CONTAINERDS {
        let known = peers.config_default(version);
        let (_, text) = rendered(&peers, version, Some(&everything(version)));
        let right: Table = text.parse().unwrap();
        assert_eq!(structure(&right, &known), [""; 0], "{version}: the right file");
        let mut all = Vec::new();
        paths(&right, &[], &mut all);
        // Whatever the structs in src/runtimes/containerd.rs may come to hold, this is what the test is worth.
        assert!(all.len() >= 38, "{}", all.len());
        let missed: BTreeSet<String> = all
            .into_iter()
            .filter(|path| {
                let mut wrong = right.clone();
                misspell(&mut wrong, path);
                structure(&wrong, &known).is_empty()
            })
            .map(|path| path.last().unwrap().clone())
            .collect();
        assert_eq!(
            missed,
            own::HANDLERS.map(|(name, _)| name.to_owned()).into(),
            "{version}: only a handler's name is free"
        );

        started(&peers, version);
    }
}

/// What the structure cannot tell is told by a daemon: the right file, and handlers' names.
fn started(peers: &Peers, version: &'static str) {
    let (node, text) = rendered(peers, version, None);
    let right: Table = text.parse().unwrap();
    let mut tries = vec![("right".to_owned(), right.clone())];
    for (name, _) in own::HANDLERS {
        let mut wrong = right.clone();
        let path =
            ["plugins", "io.containerd.cri.v1.runtime", "containerd", "runtimes", name].map(str::to_owned);
        misspell(&mut wrong, &path);
        tries.push((format!("handler-{name}"), wrong));
    }
    // Names that are values.
    let mut wrong = right.clone();
    wrong["required_plugins"][0] = "io.containerd.grpc.v1.crix".into();
    tries.push(("required".to_owned(), wrong));
    let mut wrong = right.clone();
    wrong["plugins"]["io.containerd.cri.v1.runtime"]["containerd"]["default_runtime_name"] = "runcx".into();
    tries.push(("default".to_owned(), wrong));
    let folder = tempfile::tempdir().unwrap();
    for (name, config) in &tries {
        std::fs::write(folder.path().join(name), toml::to_string(config).unwrap()).unwrap();
    }
    let later = version.starts_with("2.4");
    if later {
        let spec = period(&std::fs::read_to_string(own::spec()).unwrap());
        std::fs::write(folder.path().join("period"), rendered(peers, version, Some(&spec)).1).unwrap();
    }
    let seen = node.inside(peers, &["--no-start"], &["configs", crate::sandbox::path(folder.path())]);
    assert_eq!(seen.code, 0, "{}", seen.trouble());
    for (name, config) in &tries {
        let wrong = effect(&seen, name, config);
        assert_eq!(wrong.is_empty(), name == "right", "{version}, {name}: {wrong:?}");
    }
    if later {
        let info = seen.json("period/info.json");
        assert_eq!(info["config"]["statsCollectPeriod"], "7000ms");
    }
}

/// Which request goes where says which key was read. Absent capabilities mean all of them, and a pull cannot tell that
/// from "pull and resolve": for these the mirror that may only pull speaks.
#[test]
fn every_misspelt_name_of_a_hosts_file_is_noticed() {
    let Some(peers) = peers() else { return };
    for (version, _) in CONTAINERDS {
        let (node, _) = rendered(&peers, version, None);
        let right = node.read("/etc/containerd/certs.d/docker.io/hosts.toml");
        let same = r#"capabilities = ["pull", "resolve"]"#;
        let mut tries = vec![("right".to_owned(), right.clone())];
        let lines: Vec<&str> = right.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let wrong = match line.split_once(" = ") {
                Some((key, value)) if !line.starts_with('#') && *line != same => format!("{key}x = {value}"),
                None if line.starts_with("[host.") => line.replace("[host.", "[hostx."),
                _ => continue,
            };
            let mut text = lines.clone();
            text[at] = &wrong;
            tries.push((format!("{at:02}"), text.join("\n") + "\n"));
        }
        assert_eq!(lines.iter().filter(|l| **l == same).count(), 3);
        assert_eq!(tries.len(), 1 + 9, "server, four hosts, capabilities, ca, skip_verify, override_path");
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in &tries {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let seen = node.inside(&peers, &["--no-images"], &["hosts", crate::sandbox::path(folder.path())]);
        assert_eq!(seen.code, 0, "{}", seen.trouble());
        for (name, text) in &tries {
            let asked = seen.text(&format!("{name}.asked"));
            let as_planned = asked == own::asked();
            assert_eq!(as_planned, name == "right", "{version}, {name}:\n{text}\n{asked}");
        }
    }
}
