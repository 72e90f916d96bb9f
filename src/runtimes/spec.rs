//! The `runtimes` section as the operator writes it.

use crate::diag::Spanned;
use crate::spec::{
    AbsolutePath, AnnotationPattern, DeviceKind, Duration, EnvName, Image, Name, Named, RegistryHost, Text,
    Url, VersionRange,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Container runtimes, the registries they pull from, and the OCI hooks they run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Runtimes {
    /// The node's container runtimes, each a daemon with its own configuration.
    #[serde(default)]
    #[schemars(extend("examples" = [{"main": {"containerd": {"version": "2.1-2.4", "config": "own", "handlers": {"runc": {"default": true}}}}}], "x-purlin-node" = "runtime"))]
    pub runtimes: Named<Name, Runtime>,
    /// Registries whose images come by way of mirrors.
    #[serde(default)]
    #[schemars(extend("examples" = [{"docker.io": {"mirrors": [{"url": "https://mirror.example"}]}}], "x-purlin-node" = "registry"))]
    pub registries: Named<RegistryHost, Registry>,
    /// Programs that the runtime calls at points of a container's life (OCI runtime specification, hooks).
    #[serde(default)]
    #[schemars(extend("examples" = [{"audit": {"stage": "createRuntime", "path": "/usr/local/bin/audit", "when": {"always": true}}}], "x-purlin-node" = "hook"))]
    pub hooks: Named<Name, Hook>,
}

/// One container runtime.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend(
    "x-purlin-one-of" = [["containerd", "crio"]],
    "x-purlin-gone" = {
        "dockershim": "dockershim left the kubelet with Kubernetes 1.24; use `containerd`",
        "docker": "the kubelet has no way to Docker since 1.24; use `containerd`, which Docker itself runs on",
        "rkt": "rkt is archived and the kubelet dropped it in 1.11; use `containerd`"
    }
))]
pub struct Runtime {
    /// The runtime is containerd.
    pub containerd: Option<Containerd>,
    /// The runtime is CRI-O.
    #[schemars(extend("x-purlin-planned" = "CRI-O's files come with a later version of purlin"))]
    pub crio: Option<Crio>,
}

/// How a runtime's configuration is shared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigMode {
    /// The whole configuration file is Purlin's.
    Own,
    /// Purlin's file stands beside the root configuration, which someone else keeps.
    DropIn,
}

/// A containerd daemon.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Containerd {
    /// The versions that the configuration must work with.
    pub version: Spanned<VersionRange>,
    /// `own`: the whole file is Purlin's. `drop-in`: a file of ours beside the root configuration of others.
    pub config: Spanned<ConfigMode>,
    /// Ways to run a container, each with a name that a `RuntimeClass` can ask for.
    #[serde(default)]
    #[schemars(extend("examples" = [{"runc": {"default": true}}], "x-purlin-node" = "handler"))]
    pub handlers: Named<Name, Handler>,
    /// The image of the sandbox container.
    #[schemars(extend("x-purlin-default" = "the daemon's own"))]
    pub pause_image: Option<Spanned<Image>>,
    /// Keep a container's `oom_score_adj` at or above containerd's own, for a daemon that may not lower it.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub restrict_oom_score_adj: Option<bool>,
    /// Chown devices to the user of the pod's security context.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub device_ownership_from_security_context: Option<bool>,
    /// Let containers bind ports below 1024 without a capability.
    #[schemars(extend("x-purlin-default" = "true"))]
    pub enable_unprivileged_ports: Option<bool>,
    /// Image volumes are not made from an image's `VOLUME` lines.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub ignore_image_defined_volumes: Option<bool>,
    /// Statistics are taken in this interval.
    #[schemars(extend("x-purlin-default" = "the daemon's own", "x-purlin-since" = {"containerd": "2.3"}))]
    pub stats_collect_period: Option<Spanned<Duration>>,
    /// Keys that the model does not know, as TOML, for one version of the configuration.
    #[serde(default)]
    #[schemars(extend("examples" = [{"3": "oom_score = -999"}], "x-purlin-node" = "extra", "x-purlin-planned" = "keys of your own in containerd's configuration come with a later version of purlin"))]
    pub extra: Named<String, String>,
    /// Node Resource Interface: plugins that adjust containers.
    #[schemars(extend("x-purlin-planned" = "NRI settings come with a later version of purlin"))]
    pub nri: Option<Nri>,
}

/// A way to run a container.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Handler {
    /// Pods without a `RuntimeClass` run through this handler. Exactly one handler of an `own` configuration has it.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub default: Option<Spanned<bool>>,
    /// The OCI runtime's binary.
    #[schemars(extend("x-purlin-default" = "`runc`, searched on the daemon's PATH", "examples" = ["/usr/bin/crun"]))]
    pub binary: Option<Spanned<AbsolutePath>>,
    /// Cgroups are made through systemd.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub systemd_cgroup: Option<bool>,
    /// A `RuntimeClass` of this name leads to the handler.
    #[schemars(extend("examples" = ["crun"]))]
    pub runtime_class: Option<Spanned<Name>>,
    /// Mount cgroups writable in unprivileged containers (cgroup v2 only).
    #[schemars(extend("x-purlin-default" = "false", "x-purlin-since" = {"containerd": "2.1"}))]
    pub cgroup_writable: Option<Spanned<bool>>,
    /// Privileged containers get no host devices.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub privileged_without_host_devices: Option<bool>,
    /// Pod annotations that are handed to the OCI runtime; `*` at the end stands for any ending.
    #[serde(default)]
    #[schemars(extend("x-purlin-node" = "pod-annotation"))]
    pub pod_annotations: Vec<AnnotationPattern>,
    /// The shim's type.
    #[schemars(extend("x-purlin-default" = "`io.containerd.runc.v2`", "examples" = ["io.containerd.kata.v2"], "x-purlin-planned" = "shims other than runc's come with a later version of purlin"))]
    pub shim: Option<String>,
    /// The snapshotter of the handler's images.
    #[schemars(extend("examples" = ["overlayfs"], "x-purlin-planned" = "a handler's own snapshotter comes with a later version of purlin"))]
    pub snapshotter: Option<String>,
    /// The network of the handler's pods.
    #[schemars(extend("x-purlin-refers" = "networks", "x-purlin-planned" = "a handler's own network comes with a later version of purlin"))]
    pub network: Option<Name>,
}

/// A CRI-O daemon.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Crio {
    /// The versions that the configuration must work with.
    #[schemars(extend("examples" = ["1.34-1.36"]))]
    pub version: Spanned<VersionRange>,
    /// Ways to run a container.
    #[serde(default)]
    #[schemars(extend("examples" = [{"runc": {"default": true}}], "x-purlin-node" = "handler"))]
    pub handlers: Named<Name, Handler>,
}

/// Settings of the Node Resource Interface.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Nri {
    /// How long a plugin may take to register.
    pub registration_timeout: Option<Duration>,
    /// How long a plugin may take to answer.
    pub request_timeout: Option<Duration>,
}

/// A registry and the mirrors tried before it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Registry {
    /// The registry itself, asked last.
    #[schemars(extend("x-purlin-default" = "`https://` and the registry's name (for docker.io its known host)", "examples" = ["https://registry-1.docker.io"]))]
    pub server: Option<Spanned<Url>>,
    /// Tried in this order.
    #[serde(default)]
    #[schemars(extend("x-purlin-node" = "mirror"))]
    pub mirrors: Vec<Mirror>,
}

/// What a mirror may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Fetch content by digest.
    Pull,
    /// Turn a tag into a digest.
    Resolve,
    /// Upload.
    Push,
}

/// A mirror of a registry.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-purlin-arguments" = ["url"]))]
pub struct Mirror {
    /// Its address. A path is used as it is when `override-path` is true; otherwise it ends in `/v2`.
    #[schemars(extend("examples" = ["https://mirror.example", "https://mirror.example:5000/v2"]))]
    pub url: Spanned<Url>,
    /// What it is asked for.
    #[serde(default)]
    #[schemars(extend("x-purlin-default" = "pull and resolve", "examples" = [["pull", "resolve"]]))]
    pub capabilities: Vec<Capability>,
    /// The address is the API's root already: `/v2` is not put behind it.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub override_path: Option<bool>,
    /// Its certificate is not checked.
    #[schemars(extend("x-purlin-default" = "false"))]
    pub skip_verify: Option<bool>,
    /// Certificates of authorities that its own is checked against, as files in PEM form.
    #[serde(default)]
    #[schemars(extend("examples" = [["/etc/ssl/certs/mirror.pem"]], "x-purlin-node" = "ca"))]
    pub ca: Vec<Spanned<AbsolutePath>>,
    /// Headers sent with each request, their values by reference.
    #[serde(default)]
    #[schemars(extend("examples" = [{"authorization": {"credential": "mirror-token"}}], "x-purlin-node" = "header", "x-purlin-planned" = "headers with secrets by reference come with a later version of purlin"))]
    pub headers: Named<String, SecretReference>,
}

/// Where a secret is to be found; never the secret itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-purlin-one-of" = [["file", "credential"]]))]
pub struct SecretReference {
    /// A file on the node that holds the secret alone.
    #[schemars(extend("examples" = ["/etc/purlin/mirror-token"]))]
    pub file: Option<AbsolutePath>,
    /// A systemd credential of Purlin's unit.
    #[schemars(extend("examples" = ["mirror-token"]))]
    pub credential: Option<String>,
}

/// When in a container's life a hook runs (OCI runtime specification 1.2, hooks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-purlin-gone" = {
    "prestart": "prestart is deprecated in the OCI runtime specification; use `createRuntime`, which runs at the same point"
}))]
pub enum Stage {
    /// In the runtime's namespace, after the container's namespaces are made.
    CreateRuntime,
    /// In the container's namespace, before its root is changed.
    CreateContainer,
    /// In the container, before its process starts.
    StartContainer,
    /// In the runtime's namespace, after the process has started.
    Poststart,
    /// In the runtime's namespace, after the container is gone.
    Poststop,
}

/// A program that the runtime calls.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hook {
    /// When it runs.
    pub stage: Stage,
    /// The program.
    pub path: Spanned<AbsolutePath>,
    /// Its arguments, without the program's name.
    #[serde(default)]
    #[schemars(extend("examples" = [["--verbose"]], "x-purlin-node" = "arg"))]
    pub args: Vec<Text>,
    /// Its environment; nothing is inherited.
    #[serde(default)]
    #[schemars(extend("x-purlin-node" = "env"))]
    pub env: Named<EnvName, Text>,
    /// How long it may run, in whole seconds.
    #[schemars(extend("x-purlin-default" = "no limit"))]
    pub timeout: Option<Spanned<Duration>>,
    /// For which containers it runs.
    pub when: Spanned<When>,
}

/// For which containers a hook runs. Conditions are joined by "and".
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("examples" = [{"always": true}]))]
pub struct When {
    /// For every container of every handler.
    pub always: Option<Spanned<bool>>,
    /// For containers that are given a device of one of these kinds.
    #[serde(default)]
    #[schemars(extend("x-purlin-node" = "device", "x-purlin-refers" = "devices"))]
    pub devices: Vec<Spanned<DeviceKind>>,
    /// For containers with an annotation whose key and value match these regular expressions.
    #[serde(default)]
    #[schemars(extend("examples" = [{"^example\\.com/audit$": "^on$"}], "x-purlin-node" = "annotation"))]
    pub annotations: Named<String, String>,
    /// For containers whose command matches one of these regular expressions.
    #[serde(default)]
    #[schemars(extend("examples" = [["^/bin/sh$"]], "x-purlin-node" = "command"))]
    pub commands: Vec<Spanned<String>>,
    /// For containers with, or without, bind mounts.
    pub has_bind_mounts: Option<Spanned<bool>>,
}
