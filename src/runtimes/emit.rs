//! Runtimes × facts → containerd's files, hosts files, and RuntimeClass objects.

use super::check::CONTAINERDS;
use super::containerd::{Config, needs_base_spec, version_for};
use super::root::Root;
use super::spec::ConfigMode;
use super::{Daemon, Part, base, hosts};
use crate::diag::{Code, Diagnostic};
use crate::emission::Emission;
use crate::facts::{FileKind, within};
use crate::plan::{Action, Artifact, Format, Impact, Origin, Place, Scope, Turn};
use crate::spec::{Adoption, Minor, Versions};
use serde::Serialize;
use std::collections::BTreeMap;

/// The first lines of every file of ours whose format has comments.
const HEADER: &str = "# Made by purlin from a node spec. Edits here are undone: change the spec.\n\n";

/// Says what follows from the section.
pub fn emit(part: &Part, emission: &mut Emission<'_>) {
    for daemon in &part.daemons {
        emit_daemon(daemon, part, emission);
    }
    let everywhere = part.everywhere.iter().filter(|_| !part.daemons.is_empty());
    for hook in everywhere.chain(&part.with_devices) {
        let path = format!("runtimes.hooks.{}", hook.name);
        binary(&path, hook.raw.path.get(), hook.raw.path.span, emission);
    }
    if part.daemons.is_empty() {
        return;
    }
    for registry in &part.registries {
        let path = format!("runtimes.registries.{}", registry.host);
        let file = format!(
            "{}/{}/hosts.toml",
            emission.platform().containerd_hosts,
            hosts::directory(&registry.host)
        );
        match hosts::text(registry) {
            Ok(text) => emission.artifact(Artifact {
                place: Place::File(file),
                scope: Scope::Node,
                format: Format::Toml,
                mode: 0o644,
                bytes: format!("{HEADER}{text}").into_bytes(),
                consumer: "containerd".to_owned(),
                // Read anew for every pull.
                impact: Impact::Hot,
                turn: Turn::Referenced,
                origin: Origin { path, span: registry.span },
            }),
            Err(error) => unwritable(emission, &path, registry.span, &error),
        }
    }
    kept_from_default(part, emission);
}

/// Of the directories that fit a registry containerd takes the first that is there, whatever is in it.
fn kept_from_default(part: &Part, emission: &mut Emission<'_>) {
    let Some(default) = part.registries.iter().find(|r| r.host == "_default") else { return };
    let root = emission.platform().containerd_hosts;
    let Some(facts) = emission.facts().filter(|f| f.knows_place(root)) else {
        let what = format!("whether {root} has directories of registries that the spec does not name");
        return emission.unproven("runtimes.registries._default", default.span, what);
    };
    let removed = |path: &str| {
        emission.node().adoptions().get(path).is_some_and(|(adoption, _)| *adoption == Adoption::Remove)
    };
    let recorded: Vec<&String> =
        facts.ledger.iter().flat_map(|l| l.entries.keys().chain(l.pending.keys())).collect();
    let mut foreign = Vec::new();
    for (path, file) in &facts.files {
        let Some(host) = path
            .strip_prefix(root)
            .and_then(|name| hosts::registry(name.strip_prefix('/')?))
            .filter(|host| part.registries.iter().all(|r| r.host != *host))
        else {
            continue;
        };
        // One of ours goes when nothing else is in it.
        let inside = |p: &&String| within(p, path) && *p != path;
        let goes = file.kind == FileKind::Directory
            && (recorded.iter().copied().any(|p| inside(&p))
                || facts.files.keys().any(|p| inside(&p) && removed(p)))
            && facts.files.keys().filter(inside).all(|p| facts.ours(p).is_some() || removed(p));
        if !goes {
            foreign.push((path, host));
        }
    }
    for (path, host) in foreign {
        let example = emission
            .syntax()
            .example(&format!("registry \"{host}\" {{ … }}"), &format!("registries: {{ \"{host}\": … }}"));
        emission.find(
            Diagnostic::new(Code::PUR0314, format!("`{path}` is there, and purlin did not make it"))
                .at(default.span, format!("what this sets up is not used for `{host}`"))
                .note("containerd takes the first directory that fits the registry, even an empty one")
                .help(format!("remove it, or say in the spec what is to be in it: {example}")),
        );
    }
}

/// No input is known that a serialiser refuses; if one turns up, it is a finding and not a panic.
fn unwritable(
    emission: &mut Emission<'_>,
    path: &str,
    span: crate::diag::Span,
    error: &dyn std::fmt::Display,
) {
    emission.find(
        Diagnostic::new(Code::PUR0104, format!("`{path}` cannot be written down: {error}"))
            .at(span, "from here")
            .help("change the value that the message names"),
    );
}

fn emit_daemon(daemon: &Daemon, part: &Part, emission: &mut Emission<'_>) {
    let platform = emission.platform();
    let origin = Origin { path: format!("runtimes.runtimes.{}", daemon.name), span: daemon.span };
    let versions = versions(daemon, &origin, emission);
    let own = daemon.raw.config.value == ConfigMode::Own;
    let file = if own {
        platform.containerd_config.to_owned()
    } else {
        format!("{}/50-purlin.toml", platform.containerd_drop_in)
    };
    let base_spec = needs_base_spec(&part.everywhere, daemon)
        .then(|| format!("{}/{}.json", platform.containerd_base_specs, daemon.name));
    let root = if own { None } else { root_of(daemon, emission) };
    let format = root
        .as_ref()
        .filter(|r| r.is_ours_to_join())
        .and_then(|r| u8::try_from(r.version()).ok())
        .unwrap_or_else(|| version_for(versions.low));
    let config =
        Config::new(daemon, format, versions, !part.registries.is_empty(), base_spec.as_deref(), platform);
    let impact = Impact::Restart(platform.containerd_unit.to_owned());
    let mut places = Vec::new();
    if let Some(path) = &base_spec {
        match base::text(&part.everywhere) {
            Ok(text) => {
                places.push(Place::File(path.clone()));
                emission.artifact(Artifact {
                    place: Place::File(path.clone()),
                    scope: Scope::Node,
                    format: Format::Json,
                    mode: 0o644,
                    bytes: text.into_bytes(),
                    consumer: "containerd".to_owned(),
                    impact: impact.clone(),
                    turn: Turn::Referenced,
                    origin: origin.clone(),
                });
            }
            Err(error) => unwritable(emission, &origin.path, origin.span, &error),
        }
    }
    if own || !config.is_empty() {
        match toml::to_string(&config) {
            Ok(text) => {
                if let Some(root) = &root {
                    not_in_root(root, &text, &file, daemon, emission);
                    if !root.is_ours_to_join() {
                        // A file in a shape that its root cannot have would only mislead whoever reads the diff.
                        return handlers(daemon, emission);
                    }
                }
                places.push(Place::File(file.clone()));
                emission.artifact(Artifact {
                    place: Place::File(file),
                    scope: Scope::Node,
                    format: Format::Toml,
                    mode: 0o644,
                    bytes: format!("{HEADER}{text}").into_bytes(),
                    consumer: "containerd".to_owned(),
                    impact,
                    turn: Turn::Configuration,
                    origin: origin.clone(),
                });
            }
            Err(error) => unwritable(emission, &origin.path, origin.span, &error),
        }
    }
    if !places.is_empty() {
        emission
            .action(Action::RestartUnit { unit: platform.containerd_unit.to_owned(), when_changed: places });
    }
    handlers(daemon, emission);
}

/// The versions that the files are made for: the node's own where facts tell it, the whole range otherwise.
fn versions(daemon: &Daemon, origin: &Origin, emission: &mut Emission<'_>) -> Versions {
    let range = daemon.versions;
    let Some(daemons) = emission.facts().and_then(|f| f.daemons.as_ref()) else {
        if range.low != range.high {
            emission.unproven(
                &origin.path,
                range.span,
                format!(
                    "which containerd of {} runs on the node; the files are made for {}",
                    range.value, range.low
                ),
            );
        }
        return range.value;
    };
    let Some(found) = daemons.get("containerd") else {
        emission.find(
            Diagnostic::new(Code::PUR0308, "containerd is not on the node")
                .at(daemon.span, "this runtime needs it")
                .help(format!("install containerd {}", range.value)),
        );
        return range.value;
    };
    match Minor::parse(&found.version) {
        Some(version) if range.contains(version) => Versions { low: version, high: version },
        version => {
            let wider = version
                .map(|v| Versions { low: v.min(range.low), high: v.max(range.high) })
                .filter(|wider| CONTAINERDS.low <= wider.low && wider.high <= CONTAINERDS.high);
            let remedy = match wider {
                Some(wider) => format!(
                    "widen the range to `{wider}` if the node is right, or bring the node's containerd into the range"
                ),
                None => "bring the node's containerd into the range".to_owned(),
            };
            emission.find(
                Diagnostic::new(Code::PUR0304, format!("the node runs containerd {}", found.version))
                    .at(range.span, format!("the spec is for {}", range.value))
                    .note(format!("asked: `{} --version`", found.path))
                    .help(remedy),
            );
            range.value
        }
    }
}

/// The root configuration beside which a drop-in stands.
fn root_of(daemon: &Daemon, emission: &mut Emission<'_>) -> Option<Root> {
    let path = emission.platform().containerd_config;
    let place = daemon.raw.config.span;
    let origin = format!("runtimes.runtimes.{}", daemon.name);
    let Some(facts) = emission.facts().filter(|f| f.knows_place(path)) else {
        emission.unproven(
            &origin,
            place,
            format!("whether {path} imports the drop-in, and of which version it is"),
        );
        return None;
    };
    if emission.node().adoptions().get(path).is_some_and(|(adoption, _)| *adoption == Adoption::Remove) {
        emission.find(
            Diagnostic::new(Code::PUR0305, format!("{path} is to be removed, and the drop-in needs it"))
                .at(place, "a drop-in is loaded only when a root file imports it")
                .help(format!(
                    "write {}, or leave the file where it is",
                    emission.syntax().example("config=\"own\"", "config: own")
                )),
        );
        return None;
    }
    let Some(file) = facts.files.get(path) else {
        if facts.simulated {
            emission.unproven(
                &origin,
                place,
                format!("whether {path} imports the drop-in: the tree has no such file"),
            );
            return None;
        }
        emission.find(
            Diagnostic::new(Code::PUR0305, format!("there is no {path}"))
                .at(place, "a drop-in is loaded only when a root file imports it")
                .note("containerd prints a default `imports` line, but reads no drop-in without one in a root file")
                .help(format!(
                    "write {}, or make the root file: `containerd config default >{path}`",
                    emission.syntax().example("config=\"own\"", "config: own")
                )),
        );
        return None;
    };
    let Some(text) = &file.text else {
        emission.unproven(
            &origin,
            place,
            format!("what {path} says: it is not readable for everybody, or no text"),
        );
        return None;
    };
    match Root::parse(text) {
        Ok(root) => Some(root),
        Err(error) => {
            let first = error.message().lines().next().unwrap_or("it is not TOML").to_owned();
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
            emission.find(
                Diagnostic::new(Code::PUR0305, format!("{path} is not valid TOML, at line {line}"))
                    .at(place, "a drop-in needs a root file that loads")
                    .note(format!("the parser says: {first}"))
                    .help("mend the root file; containerd does not start on it either"),
            );
            None
        }
    }
}

/// What the root file must and must not say for our drop-in to count.
fn not_in_root(root: &Root, ours: &str, file: &str, daemon: &Daemon, emission: &mut Emission<'_>) {
    let path = emission.platform().containerd_config;
    let adopted = emission.node().adoptions().contains_key(path);
    let place = daemon.raw.config.span;
    if !root.imports(path, file) {
        let all = format!("\"{}/*.toml\"", emission.platform().containerd_drop_in);
        emission.find(
            Diagnostic::new(Code::PUR0305, format!("{path} does not import {file}"))
                .at(place, "this drop-in would not be loaded")
                .note("containerd reads a drop-in only when the root file itself has an `imports` line that names it")
                .help(if root.has_imports() {
                    format!("add {all} to the list `imports` of the root file")
                } else {
                    format!("add at the top of the root file: `imports = [{all}]`")
                }),
        );
    }
    if !root.is_ours_to_join() {
        emission.find(
            Diagnostic::new(Code::PUR0305, format!("{path} is of configuration version {}", root.version()))
                .at(place, format!("{file} must be of its root's version, and purlin writes 3 and 4"))
                .note("containerd 2.0 to 2.2 loses the whole CRI section of a root of another version than its drop-in")
                .help("bring the root file up: `containerd config migrate`"),
        );
    }
    directories(root, daemon, emission);
    let Ok(ours) = ours.parse() else { return };
    for conflict in root.conflicts(&ours) {
        if adopted {
            break;
        }
        emission.find(
            Diagnostic::new(Code::PUR0306, format!("{path} sets `{}` too, to something else", conflict.key))
                .at(daemon.span, format!("this runtime sets it to {}", conflict.ours))
                .note(format!(
                    "the root file sets it to {}; the drop-in would win, without a word",
                    conflict.theirs
                ))
                .help("take the key out of one of the two"),
        );
    }
}

/// A root file that sends the daemon to other directories makes our files there count for nothing.
fn directories(root: &Root, daemon: &Daemon, emission: &mut Emission<'_>) {
    let (platform, symbols) = (emission.platform(), emission.symbols());
    let Some(facts) = emission.facts() else { return };
    let reads = |key: &[&str], ours: &str| {
        let value = root.cri(key)?;
        let list = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        let listed: Vec<String> = list.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect();
        let there = listed.iter().any(|directory| facts.same_place(directory, ours));
        (!there).then(|| (key.join("."), listed.join("`, `"), ours.to_owned()))
    };
    let mut elsewhere = Vec::new();
    if let Some((_, span)) = symbols.devices().iter().next() {
        elsewhere.extend(reads(&["cdi_spec_dirs"], platform.cdi_dynamic).map(|r| (r, *span, "devices")));
        // Daemons from 2.4 on no longer look at the key.
        let off = root.cri(&["enable_cdi"]).and_then(toml::Value::as_bool) == Some(false);
        if off && daemon.versions.low < Minor(2, 4) {
            emission.find(
                Diagnostic::new(Code::PUR0312, format!("{} switches CDI off", platform.containerd_config))
                    .at(*span, "devices come to containers by CDI")
                    .see(daemon.span, "this runtime reads that root file")
                    .help("take `enable_cdi = false` out of the root file"),
            );
        }
    }
    if let Some((_, span)) = symbols.networks().iter().next() {
        elsewhere.extend(reads(&["cni", "conf_dir"], platform.cni_conf).map(|r| (r, *span, "networks")));
        for key in [["cni", "bin_dirs"], ["cni", "bin_dir"]] {
            elsewhere.extend(reads(&key, platform.cni_bin).map(|r| (r, *span, "networks")));
        }
    }
    for ((key, theirs, ours), span, what) in elsewhere {
        emission.find(
            Diagnostic::new(
                Code::PUR0312,
                format!("{} does not look into {ours}", platform.containerd_config),
            )
            .at(span, format!("the {what} of this spec need it"))
            .see(daemon.span, "this runtime reads that root file")
            .note(format!("its `{key}` names `{theirs}`"))
            .help(format!("add \"{ours}\" to `{key}` of the root file, or take the key out of it")),
        );
    }
}

fn handlers(daemon: &Daemon, emission: &mut Emission<'_>) {
    for (name, member) in &daemon.raw.handlers {
        if let Some(writable) = member.value.cgroup_writable.filter(|w| w.value)
            && emission.facts().and_then(|f| f.cgroup) == Some(1)
        {
            emission.find(
                Diagnostic::new(Code::PUR0313, "the node runs on cgroup v1")
                    .at(writable.span, "this needs cgroup v2")
                    .note("containerd's CRI part does not load with it there, and no pod starts")
                    .help("leave it out, or boot the node with cgroup v2"),
            );
        }
        let path = format!("runtimes.runtimes.{}.containerd.handlers.{name}", daemon.name);
        if let Some(own) = &member.value.binary {
            binary(&path, own.get(), own.span, emission);
        } else {
            let found: Vec<_> = emission
                .platform()
                .binaries
                .iter()
                .map(|d| emission.executable(&format!("{d}/runc")))
                .collect();
            if !found.contains(&Some(true)) {
                if found.iter().all(|f| *f == Some(false)) {
                    emission.find(missing("runc", member.name_span));
                } else {
                    emission.unproven(&path, member.name_span, "whether `runc` is on the node");
                }
            }
        }
        if let Some(class) = &member.value.runtime_class {
            let object = RuntimeClass {
                api_version: "node.k8s.io/v1",
                kind: "RuntimeClass",
                metadata: Metadata {
                    name: class.value.to_string(),
                    labels: BTreeMap::from([("app.kubernetes.io/managed-by", "purlin")]),
                },
                handler: name.to_string(),
            };
            let place = Place::Object {
                api_version: object.api_version.to_owned(),
                kind: object.kind.to_owned(),
                name: class.value.to_string(),
            };
            match serde_yaml::to_string(&object) {
                Ok(text) => emission.artifact(Artifact {
                    place,
                    scope: Scope::Cluster,
                    format: Format::Yaml,
                    mode: 0o644,
                    bytes: format!("{HEADER}{text}").into_bytes(),
                    consumer: "kube-apiserver".to_owned(),
                    impact: Impact::None,
                    turn: Turn::Object,
                    origin: Origin { path, span: class.span },
                }),
                Err(error) => unwritable(emission, &path, class.span, &error),
            }
        }
    }
}

fn binary(path: &str, file: &str, span: crate::diag::Span, emission: &mut Emission<'_>) {
    match emission.executable(file) {
        Some(true) => {}
        Some(false) => emission.find(missing(file, span)),
        None => emission.unproven(path, span, format!("whether `{file}` is on the node")),
    }
}

fn missing(file: &str, span: crate::diag::Span) -> Diagnostic {
    Diagnostic::new(Code::PUR0308, format!("`{file}` is not on the node"))
        .at(span, "needed here")
        .note("a pod that needs it would fail to start")
        .help("install it, or name the path where it is")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuntimeClass {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata,
    handler: String,
}

#[derive(Serialize)]
struct Metadata {
    name: String,
    labels: BTreeMap<&'static str, &'static str>,
}
