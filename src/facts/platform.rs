//! The table of a distribution's paths, sockets, units and restart commands: the only source of them.

/// Where a distribution keeps what Purlin writes, and how its daemons are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    pub name: &'static str,
    /// containerd's root configuration.
    pub containerd_config: &'static str,
    /// The directory from which containerd's root configuration is expected to import drop-ins.
    pub containerd_drop_in: &'static str,
    /// Registry hosts files, one directory per registry.
    pub containerd_hosts: &'static str,
    /// Base runtime specs that Purlin writes for containerd's handlers.
    pub containerd_base_specs: &'static str,
    pub containerd_socket: &'static str,
    pub containerd_unit: &'static str,
    /// CNI configuration lists.
    pub cni_conf: &'static str,
    /// CNI plugin binaries.
    pub cni_bin: &'static str,
    /// CDI files of devices that come and go with a boot.
    pub cdi_dynamic: &'static str,
    /// CDI files that stay.
    pub cdi_static: &'static str,
    /// The kubelet's directory of device plugin sockets.
    pub device_plugins: &'static str,
    /// Purlin's own state.
    pub state: &'static str,
    /// Directories searched for executables.
    pub binaries: &'static [&'static str],
}

/// Every platform that a spec can name.
pub const PLATFORMS: &[Platform] = &[Platform {
    name: "generic",
    containerd_config: "/etc/containerd/config.toml",
    containerd_drop_in: "/etc/containerd/conf.d",
    containerd_hosts: "/etc/containerd/certs.d",
    containerd_base_specs: "/etc/containerd/purlin",
    containerd_socket: "/run/containerd/containerd.sock",
    containerd_unit: "containerd.service",
    cni_conf: "/etc/cni/net.d",
    cni_bin: "/opt/cni/bin",
    cdi_dynamic: "/var/run/cdi",
    cdi_static: "/etc/cdi",
    device_plugins: "/var/lib/kubelet/device-plugins",
    state: "/var/lib/purlin",
    binaries: &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"],
}];

impl Platform {
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PLATFORMS.iter().find(|p| p.name == name)
    }

    /// The directories whose files belong into facts: all that Purlin may write to, and what may shadow it there.
    #[must_use]
    pub fn places(&self) -> Vec<&'static str> {
        let containerd = self.containerd_config.rsplit_once('/').map_or(self.containerd_config, |(d, _)| d);
        vec![containerd, self.cni_conf, self.cdi_static, self.cdi_dynamic, self.objects()]
    }

    /// The directories that stay even when nothing is left in them: those in which Purlin puts its files, or one for each
    /// of them.
    #[must_use]
    pub fn directories(&self) -> Vec<&'static str> {
        let more = [self.containerd_drop_in, self.containerd_hosts, self.containerd_base_specs, self.state];
        self.places().into_iter().chain(more).collect()
    }

    /// Where the ledger is kept.
    #[must_use]
    pub fn ledger(&self) -> String {
        format!("{}/ledger.json", self.state)
    }

    /// Where objects of the API server stand as manifests when there is only a directory to write to.
    #[must_use]
    pub const fn objects(&self) -> &'static str {
        "/var/lib/purlin/objects"
    }
}
