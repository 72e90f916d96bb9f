//! Devices × facts → CDI files (CDI 1.1.0) and device plugin endpoints.

use super::spec::Permissions;
use super::{Device, Part};
use crate::diag::{Code, Diagnostic, Severity, Span};
use crate::emission::Emission;
use crate::facts::{Facts, File, FileKind, sha256};
use crate::plan::{AdvertisedDevice, Artifact, Endpoint, Format, Impact, Origin, Place, Scope, Turn};
use crate::source::{foreign_yaml, from_value};
use crate::spec::{Adoption, DevicePath};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CdiSpec {
    cdi_version: &'static str,
    kind: String,
    #[serde(skip_serializing_if = "ContainerEdits::is_empty")]
    container_edits: ContainerEdits,
    devices: Vec<CdiDevice>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CdiDevice {
    name: String,
    container_edits: ContainerEdits,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ContainerEdits {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    env: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    device_nodes: Vec<CdiNode>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<CdiHook>,
}

impl ContainerEdits {
    const fn is_empty(&self) -> bool {
        self.env.is_empty() && self.device_nodes.is_empty() && self.hooks.is_empty()
    }
}

#[derive(Serialize)]
struct CdiNode {
    path: String,
    permissions: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CdiHook {
    hook_name: &'static str,
    path: String,
    args: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    env: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
}

/// A device found: its name within the kind and its nodes.
struct Found {
    name: String,
    nodes: Vec<String>,
    span: Span,
}

/// Says what follows from the section.
pub fn emit(part: &Part, emission: &mut Emission<'_>) {
    patterns(part, emission);
    let mut owners: BTreeMap<String, (String, Span)> = BTreeMap::new();
    let mut made = BTreeMap::new();
    for device in &part.devices {
        let found = find(device, emission);
        for (node, span) in found.iter().flat_map(|f| f.nodes.first().map(|n| (n, f.span))) {
            let kind = device.kind.to_string();
            match owners.get(node) {
                Some((owner, first)) if *owner != kind => emission.find(
                    Diagnostic::new(
                        Code::PUR0205,
                        format!("`{node}` is claimed by `{owner}` and by `{kind}`"),
                    )
                    .at(span, format!("`{kind}` claims it here"))
                    .see(*first, format!("`{owner}` claims it here"))
                    .note("each kind would hand the same device to a pod of its own")
                    .help("narrow one of the patterns"),
                ),
                Some(_) => {}
                None => {
                    owners.insert(node.clone(), (kind, span));
                }
            }
        }
        endpoint(device, &found, emission);
        if !found.is_empty() {
            made.insert(device.kind.to_string(), (device, found.iter().map(|f| f.name.clone()).collect()));
            cdi(device, found, emission);
        }
    }
    // What is foreign can be told only once all of ours are made.
    if !made.is_empty() {
        redefined(&made, emission);
    }
}

/// Whether patterns of two kinds match one device can be seen only where the devices are.
fn patterns(part: &Part, emission: &mut Emission<'_>) {
    if emission.facts().is_some_and(|f| f.devices.is_some()) {
        return;
    }
    let mut seen: Vec<(&Device, &DevicePath)> = Vec::new();
    for device in &part.devices {
        for path in device.raw.paths.iter().filter(|p| p.value.is_pattern()) {
            let may_meet = |(other, pattern): &&(&Device, &DevicePath)| {
                let (a, b) = (pattern.literal(), path.value.literal());
                other.kind != device.kind && (a.starts_with(b) || b.starts_with(a))
            };
            if let Some((other, pattern)) = seen.iter().find(may_meet) {
                let what = format!(
                    "whether a device matches both `{}` and `{pattern}` of `{}`",
                    path.value, other.kind
                );
                emission.unproven(&device.path(), path.span, what);
            }
            seen.push((device, &path.value));
        }
    }
}

fn find(device: &Device, emission: &mut Emission<'_>) -> Vec<Found> {
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    let facts = emission.facts();
    for path in &device.raw.paths {
        let text = path.get();
        let nodes = facts.and_then(|f| f.devices.as_ref());
        if !path.value.is_pattern() {
            // A device named in full keeps its place while it is unplugged: it comes back under the same id.
            match nodes.map(|n| n.contains_key(text)) {
                Some(true) => {}
                Some(false) => emission.find(nothing(text, path.span)),
                None => emission.unproven(&device.path(), path.span, format!("whether `{text}` is there")),
            }
            add(&mut found, text, path.span);
            continue;
        }
        let Some(nodes) = nodes else {
            emission.unproven(&device.path(), path.span, format!("which devices match `{text}`"));
            continue;
        };
        let mut matches = nodes.keys().filter(|n| path.value.matches(n)).peekable();
        if matches.peek().is_none() {
            emission.find(nothing(text, path.span));
        }
        matches.for_each(|node| add(&mut found, node, path.span));
    }
    if let Some(nvidia) = &device.raw.nvidia {
        gpus(device, nvidia.span, facts, &mut found, emission);
    }
    found.into_values().collect()
}

/// Adds a device node as a device of its own; the first path that leads to it is the one that is named.
fn add(found: &mut BTreeMap<String, Found>, node: &str, span: Span) {
    let name = device_name(node.strip_prefix("/dev/").unwrap_or(node));
    found.entry(name.clone()).or_insert_with(|| Found { name, nodes: vec![node.to_owned()], span });
}

fn gpus(
    device: &Device,
    span: Span,
    facts: Option<&Facts>,
    found: &mut BTreeMap<String, Found>,
    emission: &mut Emission<'_>,
) {
    let Some(gpus) = facts.and_then(|f| f.gpus.as_ref()) else {
        // `observe` has no way to ask the vendor's library yet.
        let what = "which NVIDIA GPUs the node has (`purlin observe` does not list them yet: write `gpus` into the facts)";
        emission.unproven(&device.path(), span, what);
        return;
    };
    if gpus.is_empty() {
        emission.find(nothing("nvidia", span));
    }
    for gpu in gpus {
        let nodes = gpu.nodes.iter().chain(&gpu.shared_nodes).cloned().collect();
        let name = device_name(&gpu.uuid);
        found.insert(name.clone(), Found { name, nodes, span });
    }
}

fn nothing(what: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code::PUR0309, format!("nothing on the node matches `{what}`"))
        .at(span, "no such device now")
        .note("a device that is plugged in later is taken up then")
        .help("check the path on the node, or leave it so")
}

/// A CDI device name and device plugin id from a path below /dev or a GPU's uuid, in the letters that both allow
/// (CDI 1.1.0; device plugin ids have at most 63 characters).
///
/// No two get one name, and a name depends on nothing but what it is for: pods and checkpoints hold it, so that a device
/// added later may not rename it. A `:` for each `/` loses nothing where there was no `:` before; all else that has to be
/// changed is told apart by a hash of the whole, behind a `::` that no path gives.
fn device_name(of: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let ends = |c: char| !c.is_ascii_alphanumeric();
    if of.len() <= 63
        && of.chars().all(|c| plain(c) || c == '/')
        && !of.is_empty()
        && !of.contains("//")
        && !of.starts_with(ends)
        && !of.ends_with(ends)
    {
        return of.replace('/', ":");
    }
    let near: String = of.chars().map(|c| if plain(c) { c } else { '_' }).take(45).collect();
    let near = match near.trim_matches(ends) {
        "" => "device",
        near => near,
    };
    format!("{near}::{}", &sha256(of.as_bytes())[..16])
}

fn endpoint(device: &Device, found: &[Found], emission: &mut Emission<'_>) {
    let kind = device.kind.to_string();
    let mut name = format!("purlin-{}", kind.replace('/', "_"));
    if name.len() > 60 {
        // A unix socket's whole path has at most 107 bytes.
        name = format!("purlin-{}", &sha256(kind.as_bytes())[..16]);
    }
    let devices = found
        .iter()
        .map(|f| AdvertisedDevice { id: f.name.clone(), cdi: format!("{kind}={}", f.name) })
        .collect();
    emission.endpoint(Endpoint::DevicePlugin {
        socket: format!("{}/{name}.sock", emission.platform().device_plugins),
        resource: kind,
        devices,
        origin: Origin { path: device.path(), span: device.span },
    });
}

fn cdi(device: &Device, found: Vec<Found>, emission: &mut Emission<'_>) {
    let kind = device.kind.to_string();
    let permissions = match device.raw.permissions {
        Some(Permissions::R) => "r",
        None | Some(Permissions::Rw) => "rw",
        Some(Permissions::Rwm) => "rwm",
    };
    let hooks = emission
        .symbols()
        .hooks_of(&device.kind)
        .map(|(_, hook)| CdiHook {
            hook_name: hook.stage,
            path: hook.path.clone(),
            args: hook.args.clone(),
            env: hook.env.clone(),
            timeout: hook.timeout,
        })
        .collect();
    let edits = ContainerEdits {
        env: device.raw.env.iter().map(|(name, member)| format!("{name}={}", member.value)).collect(),
        device_nodes: Vec::new(),
        hooks,
    };
    let names: Vec<String> = found.iter().map(|f| f.name.clone()).collect();
    let devices = found
        .into_iter()
        .map(|f| CdiDevice {
            name: f.name,
            container_edits: ContainerEdits {
                device_nodes: f.nodes.into_iter().map(|path| CdiNode { path, permissions }).collect(),
                ..ContainerEdits::default()
            },
        })
        .collect();
    let spec = CdiSpec {
        cdi_version: cdi_version(&kind, &names),
        kind: kind.clone(),
        container_edits: edits,
        devices,
    };
    let directory = emission.platform().cdi_dynamic;
    let file = format!("{directory}/purlin-{}.json", kind.replace('/', "_"));
    // Structs of strings with string keys: there is nothing to refuse.
    let mut text = serde_json::to_string_pretty(&spec).unwrap_or_default();
    text.push('\n');
    emission.artifact(Artifact {
        place: Place::File(file),
        scope: Scope::Node,
        format: Format::Json,
        mode: 0o644,
        bytes: text.into_bytes(),
        consumer: "CDI".to_owned(),
        // Runtimes read the directory again for every container that asks for a device.
        impact: Impact::Hot,
        turn: Turn::Referenced,
        origin: Origin { path: device.path(), span: device.span },
    });
}

/// The lowest version that carries what is written: a runtime refuses a file of a version above its library's. Names that
/// begin with a digit need 0.5.0, a dot in the class 0.6.0; nodes, environment and hooks are in every version.
fn cdi_version(kind: &str, names: &[String]) -> &'static str {
    if kind.split_once('/').is_some_and(|(_, class)| class.contains('.')) {
        "0.6.0"
    } else if names.iter().any(|n| n.starts_with(|c: char| c.is_ascii_digit())) {
        "0.5.0"
    } else {
        "0.3.0"
    }
}

/// What is read of a foreign CDI file.
#[derive(Deserialize)]
struct ForeignCdi {
    kind: String,
    devices: Vec<ForeignDevice>,
}

#[derive(Deserialize)]
struct ForeignDevice {
    name: String,
}

/// The kind and the devices that a foreign file defines, as far as it is one of CDI, and whether that is all.
fn foreign(path: &str, file: &File) -> (Option<ForeignCdi>, bool) {
    // CDI reads files of these names, through links too.
    if !(path.ends_with(".json") || path.ends_with(".yaml")) || file.kind == FileKind::Directory {
        return (None, true);
    }
    let Some(text) = &file.text else { return (None, false) };
    match serde_json::from_str(text) {
        Ok(read) => (Some(read), true),
        // JSON that has not the shape of CDI: runtimes pass it over.
        Err(error) if error.is_data() => (None, true),
        // By whatever name, it is YAML to CDI.
        Err(_) => {
            let (value, whole) = foreign_yaml(text);
            (value.and_then(|value| from_value(&value).ok()), whole)
        }
    }
}

/// Two files of equal priority that define one device make it unresolvable; across directories the later one wins.
fn redefined(made: &BTreeMap<String, (&Device, Vec<String>)>, emission: &mut Emission<'_>) {
    let platform = emission.platform();
    let mut places = vec![(platform.cdi_dynamic, true), (platform.cdi_static, false)];
    if emission.facts().is_some_and(|f| f.same_place(platform.cdi_dynamic, platform.cdi_static)) {
        places.pop();
    }
    for (directory, equal) in places {
        if !emission.facts().is_some_and(|f| f.knows_place(directory)) {
            for (device, _) in made.values() {
                let what = format!("whether a file in {directory} defines the same device");
                emission.unproven(&device.path(), device.span, what);
            }
            continue;
        }
        for (path, file) in emission.foreign(directory) {
            let (read, whole) = foreign(path, file);
            let ours = read.as_ref().and_then(|read| made.get(&read.kind));
            let defined = read.iter().flat_map(|read| &read.devices).map(|d| &d.name);
            let twice: BTreeSet<&String> = match ours {
                Some((_, names)) => defined.filter(|name| names.binary_search(name).is_ok()).collect(),
                None => BTreeSet::new(),
            };
            if let (Some((device, _)), Some(first)) = (ours, twice.first()) {
                emission.find(twin(device, path, first, twice.len() - 1, equal, emission));
            } else if !whole && let Some((device, _)) = made.values().next() {
                let what = format!(
                    "which devices {path} defines: it is not readable for everybody, or no text that purlin can read"
                );
                emission.unproven("devices", device.span, what);
            }
        }
    }
}

/// A foreign file that defines a device of ours, and how many more.
fn twin(
    device: &Device,
    path: &str,
    name: &str,
    more: usize,
    equal: bool,
    emission: &Emission<'_>,
) -> Diagnostic {
    let more = if more > 0 { format!(" and {more} more of the kind") } else { String::new() };
    let finding = Diagnostic::new(
        Code::PUR0307,
        format!("`{path}` defines the device `{}={name}`{more} too", device.kind),
    )
    .at(device.span, "this kind");
    if equal {
        return finding
            .note("a device that two files of one directory define cannot be resolved, and no pod gets it")
            .help(format!(
                "remove that file, let purlin remove it ({}), or leave the device to it",
                Adoption::Remove.example(emission.syntax(), path)
            ));
    }
    let platform = emission.platform();
    let mut finding = finding
        .note(format!("files in {} win over those in {}", platform.cdi_dynamic, platform.cdi_static))
        .help("remove that file, or leave the device to it");
    finding.severity = Severity::Warning;
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_devices_get_one_name() {
        for (of, name) in [
            ("ttyS0", "ttyS0"),
            ("foo-0", "foo-0"),
            ("foo/0", "foo:0"),
            ("dri/renderD128", "dri:renderD128"),
            ("GPU-8f1c", "GPU-8f1c"),
        ] {
            assert_eq!(device_name(of), name);
        }
        let long = "x".repeat(70);
        let texts = [
            "a_1",
            "a@1",
            "a#1",
            "a é",
            "foo-0",
            "foo/0",
            "foo:0",
            "foo_0",
            "foo//0",
            "foo::0",
            ".h",
            "-h",
            "h",
            "h.",
            "_",
            "@",
            "",
            "/",
            "/h",
            "é",
            &long,
            &long[1..],
            "device",
            "a_1::e351959bb58dfbb8",
        ];
        let names: BTreeSet<String> = texts.iter().map(|t| device_name(t)).collect();
        assert_eq!(names.len(), texts.len(), "{names:?}");
        for name in &names {
            let letter = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
            assert!(name.len() <= 63 && name.chars().all(letter), "{name}");
            let ends = |c: char| c.is_ascii_alphanumeric();
            assert!(name.starts_with(ends) && name.ends_with(ends), "{name}");
        }
    }
}
