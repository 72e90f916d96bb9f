//! Devices × facts → CDI files (CDI 1.1.0) and device plugin endpoints.

use super::spec::Permissions;
use super::{Device, Part};
use crate::diag::{Code, Diagnostic, Span};
use crate::emission::Emission;
use crate::facts::{Facts, sha256};
use crate::plan::{AdvertisedDevice, Artifact, Endpoint, Format, Impact, Origin, Place, Scope, Turn};
use crate::spec::Adoption;
use crate::spec::DevicePath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
            cdi(device, found, emission);
        }
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
            let name = device_name(text);
            found.entry(name.clone()).or_insert_with(|| Found {
                name,
                nodes: vec![text.clone()],
                span: path.span,
            });
            continue;
        }
        let Some(nodes) = nodes else {
            emission.unproven(&device.path(), path.span, format!("which devices match `{text}`"));
            continue;
        };
        let before = found.len();
        for node in nodes.keys().filter(|n| path.value.matches(n)) {
            let name = device_name(node);
            found.entry(name.clone()).or_insert_with(|| Found {
                name,
                nodes: vec![node.clone()],
                span: path.span,
            });
        }
        if found.len() == before {
            emission.find(nothing(text, path.span));
        }
    }
    if let Some(nvidia) = &device.raw.nvidia {
        gpus(device, nvidia.span, facts, &mut found, emission);
    }
    found.into_values().collect()
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

/// A CDI device name and device plugin id: what of the path differs from device to device, in the letters that both
/// allow (CDI 1.1.0; device plugin ids have at most 63 characters).
fn device_name(path: &str) -> String {
    let name: String = path
        .trim_start_matches("/dev/")
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' | ':' => c,
            '/' => '-',
            _ => '_',
        })
        .collect();
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    if name.len() <= 63 && ends(name.chars().next()) && ends(name.chars().next_back()) {
        return name;
    }
    // What does not fit is told apart by a hash of the whole.
    format!("device-{}", &sha256(path.as_bytes())[..16])
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
    redefined(device, &names, emission);
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

/// Two files of equal priority that define one device make it unresolvable; across directories the later one wins.
fn redefined(device: &Device, names: &[String], emission: &mut Emission<'_>) {
    let platform = emission.platform();
    for (directory, equal) in [(platform.cdi_dynamic, true), (platform.cdi_static, false)] {
        if !emission.facts().is_some_and(|f| f.knows_place(directory)) {
            emission.unproven(
                &device.path(),
                device.span,
                format!("whether a file in {directory} defines the same device"),
            );
            continue;
        }
        for (path, file) in emission.foreign(directory) {
            let Some(text) = &file.text else { continue };
            let parsed: Option<ForeignCdi> = match path.rsplit_once('.').map(|(_, ending)| ending) {
                Some("json") => serde_json::from_str(text).ok(),
                Some("yaml") => serde_yaml::from_str(text).ok(),
                _ => None,
            };
            let Some(foreign) = parsed.filter(|f| f.kind == device.kind.to_string()) else { continue };
            for twice in foreign.devices.iter().filter(|d| names.contains(&d.name)) {
                let mut finding = Diagnostic::new(
                    Code::PUR0307,
                    format!("`{path}` defines the device `{}={}` too", device.kind, twice.name),
                )
                .at(device.span, "this kind");
                finding = if equal {
                    finding
                        .note("a device that two files of one directory define cannot be resolved, and no pod gets it")
                        .help(format!(
                            "remove that file, let purlin remove it ({}), or leave the device to it",
                            Adoption::Remove.example(emission.syntax(), path)
                        ))
                } else {
                    finding.severity = crate::diag::Severity::Warning;
                    finding
                        .note(format!("files in {} win over those in {directory}", platform.cdi_dynamic))
                        .help("remove that file, or leave the device to it")
                };
                emission.find(finding);
            }
        }
    }
}
