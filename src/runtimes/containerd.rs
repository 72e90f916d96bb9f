//! containerd's configuration, versions 3 and 4, as structs with the daemon's own key names.
//!
//! Sources: containerd 2.0–2.4 `internal/cri/config`, `plugins/cri`. Between 3 and 4 no CRI key moves, only server
//! tables do, and Purlin leaves those at their defaults. The daemon warns about an unknown key at most, and says nothing
//! about an unknown section or runtime option: what stands here is held true by tests against real daemons.

use super::spec::{ConfigMode, Handler};
use super::{Daemon, Hook};
use crate::facts::platform::Platform;
use crate::spec::{Minor, Versions};
use serde::Serialize;
use std::collections::BTreeMap;

/// The shim that runs OCI runtimes with runc's command line.
const RUNC_SHIM: &str = "io.containerd.runc.v2";

/// The highest configuration version that every daemon of a range reads: 3 in 2.0–2.2, 4 from 2.3 on.
#[must_use]
pub const fn version_for(lowest: Minor) -> u8 {
    if lowest.0 > 2 || (lowest.0 == 2 && lowest.1 >= 3) { 4 } else { 3 }
}

#[derive(Serialize)]
pub struct Config {
    version: u8,
    /// Without this a daemon whose CRI part does not load stays up and answers "unknown service".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required_plugins: Vec<&'static str>,
    plugins: Plugins,
}

#[derive(Serialize)]
struct Plugins {
    #[serde(rename = "io.containerd.cri.v1.images", skip_serializing_if = "Option::is_none")]
    images: Option<Images>,
    #[serde(rename = "io.containerd.cri.v1.runtime", skip_serializing_if = "Option::is_none")]
    runtime: Option<Runtime>,
}

#[derive(Default, PartialEq, Eq, Serialize)]
struct Images {
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned_images: Option<BTreeMap<&'static str, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    registry: Option<Registry>,
}

#[derive(PartialEq, Eq, Serialize)]
struct Registry {
    config_path: String,
}

#[derive(Default, PartialEq, Eq, Serialize)]
struct Runtime {
    #[serde(skip_serializing_if = "Option::is_none")]
    restrict_oom_score_adj: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_ownership_from_security_context: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_unprivileged_ports: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_image_defined_volumes: Option<bool>,
    /// A Go duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    stats_collect_period: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cni: Option<Cni>,
    #[serde(skip_serializing_if = "Option::is_none")]
    containerd: Option<Handlers>,
}

#[derive(PartialEq, Eq, Serialize)]
struct Cni {
    /// 2.0 knows this key only; 2.4 no longer does.
    #[serde(skip_serializing_if = "Option::is_none")]
    bin_dir: Option<String>,
    /// Since 2.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    bin_dirs: Option<Vec<String>>,
    conf_dir: String,
}

#[derive(PartialEq, Eq, Serialize)]
struct Handlers {
    #[serde(skip_serializing_if = "Option::is_none")]
    default_runtime_name: Option<String>,
    runtimes: BTreeMap<String, HandlerTable>,
}

#[derive(PartialEq, Eq, Serialize)]
struct HandlerTable {
    runtime_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_runtime_spec: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cgroup_writable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    privileged_without_host_devices: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pod_annotations: Vec<String>,
    #[serde(skip_serializing_if = "Options::is_empty")]
    options: Options,
}

/// Options of the runc shim; their names are the fields of its protobuf message.
#[derive(PartialEq, Eq, Serialize)]
struct Options {
    #[serde(rename = "BinaryName", skip_serializing_if = "Option::is_none")]
    binary_name: Option<String>,
    #[serde(rename = "SystemdCgroup", skip_serializing_if = "Option::is_none")]
    systemd_cgroup: Option<bool>,
}

impl Options {
    const fn is_empty(&self) -> bool {
        self.binary_name.is_none() && self.systemd_cgroup.is_none()
    }
}

impl Config {
    /// The configuration of a daemon whose versions all lie in `versions`.
    #[must_use]
    pub fn new(
        daemon: &Daemon,
        format: u8,
        versions: Versions,
        has_registries: bool,
        base_spec: Option<&str>,
        platform: &Platform,
    ) -> Self {
        let raw = &daemon.raw;
        let own = raw.config.value == ConfigMode::Own;
        let images = Images {
            pinned_images: raw.pause_image.as_ref().map(|i| BTreeMap::from([("sandbox", i.to_string())])),
            registry: has_registries.then(|| Registry { config_path: platform.containerd_hosts.to_owned() }),
        };
        let default = raw.handlers.iter().find(|(_, m)| m.value.default.is_some_and(|d| d.value));
        let handlers = Handlers {
            default_runtime_name: default.map(|(name, _)| name.to_string()),
            runtimes: raw.handlers.iter().map(|(n, m)| (n.to_string(), table(&m.value, base_spec))).collect(),
        };
        let runtime = Runtime {
            restrict_oom_score_adj: raw.restrict_oom_score_adj,
            device_ownership_from_security_context: raw.device_ownership_from_security_context,
            enable_unprivileged_ports: raw.enable_unprivileged_ports,
            ignore_image_defined_volumes: raw.ignore_image_defined_volumes,
            stats_collect_period: raw
                .stats_collect_period
                .as_ref()
                .map(|d| format!("{}ms", d.get().as_millis())),
            cni: own.then(|| cni(versions, platform)),
            containerd: (!handlers.runtimes.is_empty()).then_some(handlers),
        };
        Self {
            version: format,
            required_plugins: if own { vec!["io.containerd.grpc.v1.cri"] } else { Vec::new() },
            plugins: Plugins {
                images: (images != Images::default()).then_some(images),
                runtime: (runtime != Runtime::default()).then_some(runtime),
            },
        }
    }

    /// Whether there is anything in it that a daemon would act on.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.plugins.images.is_none() && self.plugins.runtime.is_none()
    }
}

fn table(handler: &Handler, base_spec: Option<&str>) -> HandlerTable {
    HandlerTable {
        runtime_type: RUNC_SHIM,
        base_runtime_spec: base_spec.map(str::to_owned),
        cgroup_writable: handler.cgroup_writable.map(|c| c.value),
        privileged_without_host_devices: handler.privileged_without_host_devices,
        pod_annotations: handler.pod_annotations.iter().map(ToString::to_string).collect(),
        options: Options {
            binary_name: handler.binary.as_ref().map(|b| b.to_string()),
            systemd_cgroup: handler.systemd_cgroup,
        },
    }
}

/// Distributions' builds have other default directories than upstream's, so both are always written.
fn cni(versions: Versions, platform: &Platform) -> Cni {
    let plural = versions.low >= Minor(2, 1);
    Cni {
        bin_dir: (!plural).then(|| platform.cni_bin.to_owned()),
        bin_dirs: plural.then(|| vec![platform.cni_bin.to_owned()]),
        conf_dir: platform.cni_conf.to_owned(),
    }
}

/// Hooks that a base spec brings to every container.
#[must_use]
pub fn needs_base_spec(hooks: &[Hook], daemon: &Daemon) -> bool {
    !hooks.is_empty() && !daemon.raw.handlers.is_empty()
}
