//! Container runtimes: containerd's configuration, registry hosts files, base runtime specs with hooks, and the
//! RuntimeClass objects that lead pods to handlers.

mod base;
mod check;
mod containerd;
mod emit;
mod hosts;
mod root;
pub mod spec;

pub use check::{check, declare};
pub use emit::emit;

use crate::diag::{Span, Spanned};
use crate::spec::Versions;
use spec::{Containerd, Mirror};

/// The checked section.
#[derive(Clone, Debug)]
pub struct Part {
    daemons: Vec<Daemon>,
    registries: Vec<Registry>,
    /// Hooks of every container, in the order of their names.
    everywhere: Vec<Hook>,
    /// Hooks that come with a device, by way of its CDI file.
    with_devices: Vec<Hook>,
}

/// A checked containerd.
#[derive(Clone, Debug)]
struct Daemon {
    name: String,
    span: Span,
    versions: Spanned<Versions>,
    raw: Containerd,
}

/// A checked registry.
#[derive(Clone, Debug)]
struct Registry {
    host: String,
    span: Span,
    server: Option<String>,
    mirrors: Vec<Mirror>,
}

/// A checked hook.
#[derive(Clone, Debug)]
struct Hook {
    name: String,
    raw: spec::Hook,
}

impl spec::Stage {
    const ALL: [Self; 5] =
        [Self::CreateRuntime, Self::CreateContainer, Self::StartContainer, Self::Poststart, Self::Poststop];

    /// The stage's name in the OCI runtime specification.
    const fn oci(self) -> &'static str {
        match self {
            Self::CreateRuntime => "createRuntime",
            Self::CreateContainer => "createContainer",
            Self::StartContainer => "startContainer",
            Self::Poststart => "poststart",
            Self::Poststop => "poststop",
        }
    }
}

impl spec::Hook {
    /// Arguments as the specification wants them: the program's name comes first.
    fn argv(&self) -> Vec<String> {
        let path = self.path.get();
        let name = path.rsplit('/').next().unwrap_or(path);
        std::iter::once(name.to_owned()).chain(self.args.iter().map(ToString::to_string)).collect()
    }

    fn environment(&self) -> Vec<String> {
        self.env.iter().map(|(name, member)| format!("{name}={}", member.value)).collect()
    }

    fn seconds(&self) -> Option<u64> {
        self.timeout.as_ref().map(|t| t.get().as_secs())
    }
}
