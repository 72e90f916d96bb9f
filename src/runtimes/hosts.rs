//! A registry's hosts.toml: the mirrors, in order, and the registry itself.
//!
//! Source: containerd `core/remotes/docker/config/hosts.go`. Unknown keys are ignored by the daemon and a file with an
//! unknown capability is skipped whole, so nothing is written that the lowest version does not know.

use super::Registry;
use super::spec::{Capability, Mirror};
use crate::spec::RegistryHost;
use serde::Serialize;

#[derive(Serialize)]
struct Hosts {
    /// Absent only for `_default`, where the registry asked is the one that the image names.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(rename = "host", skip_serializing_if = "InOrder::is_empty")]
    hosts: InOrder,
}

/// Tables whose order in the file counts: containerd tries them as they stand.
struct InOrder(Vec<(String, Host)>);

impl InOrder {
    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for InOrder {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(url, host)| (url, host)))
    }
}

#[derive(Serialize)]
struct Host {
    capabilities: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ca: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip_verify: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    override_path: Option<bool>,
}

/// The directory below containerd's `config_path` that belongs to a registry: a colon is spelt `_` on both sides of the
/// port, which every version reads.
#[must_use]
pub fn directory(host: &str) -> String {
    host.rsplit_once(':').map_or_else(|| host.to_owned(), |(name, port)| format!("{name}_{port}_"))
}

/// The registry to which a directory belongs, the inverse of [`directory`] in every spelling that is read. `None` for
/// `_default`, and for what is no registry's name.
#[must_use]
pub fn registry(directory: &str) -> Option<String> {
    let port = directory.strip_suffix('_').and_then(|d| d.rsplit_once('_'));
    let host = port.map_or_else(|| directory.to_owned(), |(name, port)| format!("{name}:{port}"));
    (directory != "_default" && host.parse::<RegistryHost>().is_ok()).then_some(host)
}

/// The file's text, without the header.
///
/// # Errors
/// When the serialiser refuses, which strings, booleans and lists of them give it no reason to.
pub fn text(registry: &Registry) -> Result<String, toml::ser::Error> {
    let server = registry.server.clone().or_else(|| match registry.host.as_str() {
        "_default" => None,
        "docker.io" => Some("https://registry-1.docker.io".to_owned()),
        host => Some(format!("https://{host}")),
    });
    let hosts = registry.mirrors.iter().map(|m| (m.url.to_string(), host(m))).collect();
    toml::to_string(&Hosts { server, hosts: InOrder(hosts) })
}

fn host(mirror: &Mirror) -> Host {
    let mut capabilities: Vec<_> = mirror
        .capabilities
        .iter()
        .map(|c| match c {
            Capability::Pull => "pull",
            Capability::Resolve => "resolve",
            Capability::Push => "push",
        })
        .collect();
    if capabilities.is_empty() {
        capabilities = vec!["pull", "resolve"];
    }
    Host {
        capabilities,
        ca: mirror.ca.iter().map(|c| c.to_string()).collect(),
        skip_verify: mirror.skip_verify,
        override_path: mirror.override_path,
    }
}
