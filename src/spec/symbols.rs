//! What sections tell each other: names that one defines and another refers to, in neutral terms.

use super::{DeviceKind, Minor, Versions};
use crate::diag::{Code, Diagnostic, Findings, Span};
use std::collections::BTreeMap;

/// The table that every section fills before any is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    runtimes: BTreeMap<String, RuntimeSymbol>,
    devices: BTreeMap<DeviceKind, Span>,
    networks: BTreeMap<String, Span>,
    hooks: BTreeMap<String, HookSymbol>,
    claims: BTreeMap<(Code, String), (String, Span)>,
}

/// The programs that can be a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    Containerd,
}

impl Program {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Containerd => "containerd",
        }
    }
}

/// A runtime as other sections see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeSymbol {
    pub program: Program,
    pub versions: Versions,
    pub versions_span: Span,
}

/// An OCI hook as other sections see it: what a CDI file says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSymbol {
    /// The stage's name in the OCI runtime specification.
    pub stage: &'static str,
    pub path: String,
    /// With the program's name in front.
    pub args: Vec<String>,
    /// `NAME=value`.
    pub env: Vec<String>,
    /// Seconds.
    pub timeout: Option<u64>,
    /// The kinds of device that bring the hook with them.
    pub devices: Vec<DeviceKind>,
    pub span: Span,
}

impl Symbols {
    pub fn runtime(&mut self, name: &str, symbol: RuntimeSymbol) {
        self.runtimes.insert(name.to_owned(), symbol);
    }

    pub fn device(&mut self, kind: &DeviceKind, span: Span) {
        self.devices.insert(kind.clone(), span);
    }

    pub fn network(&mut self, name: &str, span: Span) {
        self.networks.insert(name.to_owned(), span);
    }

    pub fn hook(&mut self, name: &str, symbol: HookSymbol) {
        self.hooks.insert(name.to_owned(), symbol);
    }

    /// Takes something of which there is only one for its owner; a second owner is a finding with the given code and
    /// help.
    #[expect(clippy::too_many_arguments, reason = "two callers, and each says all of it in words")]
    pub fn claim(
        &mut self,
        code: Code,
        what: &str,
        thing: &str,
        owner: &str,
        span: Span,
        help: &str,
        findings: &mut Findings,
    ) {
        let key = (code, thing.to_owned());
        if let Some((other, other_span)) = self.claims.get(&key) {
            // The later one in the text is the mistake.
            let ((first, first_span), (again, again_span)) = if span < *other_span {
                ((owner, span), (other.as_str(), *other_span))
            } else {
                ((other.as_str(), *other_span), (owner, span))
            };
            findings.push(
                Diagnostic::new(code, format!("{first} and {again} both use the {what} `{thing}`"))
                    .at(again_span, format!("{again} uses it here"))
                    .see(first_span, format!("{first} uses it here"))
                    .help(help),
            );
        } else {
            self.claims.insert(key, (owner.to_owned(), span));
        }
    }

    #[must_use]
    pub fn devices(&self) -> &BTreeMap<DeviceKind, Span> {
        &self.devices
    }

    #[must_use]
    pub const fn networks(&self) -> &BTreeMap<String, Span> {
        &self.networks
    }

    /// The hooks that come with a kind of device, by name.
    pub fn hooks_of<'a>(&'a self, kind: &'a DeviceKind) -> impl Iterator<Item = (&'a str, &'a HookSymbol)> {
        self.hooks.iter().filter(move |(_, h)| h.devices.contains(kind)).map(|(n, h)| (n.as_str(), h))
    }

    /// The lowest version of a program among all runtimes that are one.
    #[must_use]
    pub fn lowest(&self, program: Program) -> Option<(Minor, Span)> {
        self.runtimes
            .values()
            .filter(|r| r.program == program)
            .map(|r| (r.versions.low, r.versions_span))
            .min_by_key(|(version, _)| *version)
    }
}
