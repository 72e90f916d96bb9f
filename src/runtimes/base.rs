//! The base runtime spec: what containerd starts from for every container of a handler, here with hooks in it.
//!
//! containerd 2.x replaces its own default by the file and sets what CRI asks for on top. What the file lacks stays
//! lacking: without capabilities a container has none, without the device rule every device is allowed. So the file is
//! containerd's own default (`pkg/oci`, `populateDefaultUnixSpec`) with hooks added, and without its rlimits: CRI strips
//! those only when there is no base spec, and RLIMIT_NOFILE 1024 would stay. It is read at start, and for app containers
//! only, never for the sandbox.

use super::Hook;
use super::spec::Stage;
use oci_spec::OciSpecError;
use oci_spec::runtime::{HookBuilder, HooksBuilder, Spec};
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// Why there is no text. Neither is known to happen: the default is a constant, and hooks come checked.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    #[error("the base runtime spec does not fit its types: {0}")]
    Shape(#[from] serde_json::Error),
    #[error("a hook of the base runtime spec is incomplete: {0}")]
    Hook(#[from] OciSpecError),
}

/// A whole runtime spec with these hooks, as JSON with a final newline.
///
/// # Errors
/// See [`BaseError`].
pub fn text(hooks: &[Hook]) -> Result<String, BaseError> {
    let at = |stage: Stage| {
        hooks
            .iter()
            .filter(|h| h.raw.stage == stage)
            .map(|hook| {
                let mut builder =
                    HookBuilder::default().path(PathBuf::from(hook.raw.path.get())).args(hook.raw.argv());
                if !hook.raw.env.is_empty() {
                    builder = builder.env(hook.raw.environment());
                }
                if let Some(seconds) = hook.raw.seconds().and_then(|s| i64::try_from(s).ok()) {
                    builder = builder.timeout(seconds);
                }
                builder.build()
            })
            .collect::<Result<Vec<_>, _>>()
    };
    let mut builder = HooksBuilder::default();
    for stage in Stage::ALL {
        let hooks = at(stage)?;
        if hooks.is_empty() {
            continue;
        }
        builder = match stage {
            Stage::CreateRuntime => builder.create_runtime(hooks),
            Stage::CreateContainer => builder.create_container(hooks),
            Stage::StartContainer => builder.start_container(hooks),
            Stage::Poststart => builder.poststart(hooks),
            Stage::Poststop => builder.poststop(hooks),
        };
    }
    let mut spec: Spec = serde_json::from_value(containerd_default())?;
    spec.set_hooks(Some(builder.build()?));
    let mut text = serde_json::to_string_pretty(&spec)?;
    text.push('\n');
    Ok(text)
}

fn containerd_default() -> Json {
    let capabilities = [
        "CHOWN",
        "DAC_OVERRIDE",
        "FSETID",
        "FOWNER",
        "MKNOD",
        "NET_RAW",
        "SETGID",
        "SETUID",
        "SETFCAP",
        "SETPCAP",
        "NET_BIND_SERVICE",
        "SYS_CHROOT",
        "KILL",
        "AUDIT_WRITE",
    ]
    .map(|c| format!("CAP_{c}"));
    let mount = |destination: &str, kind: &str, source: &str, options: &[&str]| json!({ "destination": destination, "type": kind, "source": source, "options": options });
    let namespaces = ["pid", "ipc", "uts", "mount", "network"].map(|kind| json!({ "type": kind }));
    json!({
        // Every runc and crun in use reads it; it is copied into each container's own spec.
        "ociVersion": "1.0.2",
        "process": {
            "user": { "uid": 0, "gid": 0 },
            "cwd": "/",
            "noNewPrivileges": true,
            "capabilities": { "bounding": capabilities, "effective": capabilities, "permitted": capabilities },
        },
        "root": { "path": "rootfs" },
        "mounts": [
            mount("/proc", "proc", "proc", &["nosuid", "noexec", "nodev"]),
            mount("/dev", "tmpfs", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
            mount("/dev/pts", "devpts", "devpts", &["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]),
            mount("/dev/shm", "tmpfs", "shm", &["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]),
            mount("/dev/mqueue", "mqueue", "mqueue", &["nosuid", "noexec", "nodev"]),
            mount("/sys", "sysfs", "sysfs", &["nosuid", "noexec", "nodev", "ro"]),
            mount("/run", "tmpfs", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
        ],
        "linux": {
            "resources": { "devices": [{ "allow": false, "access": "rwm" }] },
            "cgroupsPath": "/default",
            "namespaces": namespaces,
            "maskedPaths": [
                "/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
                "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/sys/firmware",
                "/sys/devices/virtual/powercap", "/proc/scsi",
            ],
            "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
        },
    })
}
