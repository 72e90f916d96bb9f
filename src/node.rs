//! The checked spec. Only [`check`] can build a [`Node`], so whoever has one has a spec without errors.

use crate::diag::{Code, Diagnostic, Findings, Span, Spanned};
use crate::facts::platform::Platform;
use crate::facts::within;
use crate::sections::{self, Parts};
use crate::source::{Doc, Shape, Syntax, Value, since_fields};
use crate::spec::{Adoption, NodeSpec, Symbols, Versions};
use std::collections::BTreeMap;

/// A spec that has passed every check that needs no host.
#[derive(Clone, Debug)]
pub struct Node {
    name: String,
    syntax: Syntax,
    platform: &'static Platform,
    labels: BTreeMap<String, String>,
    adoptions: BTreeMap<String, (Adoption, Span)>,
    symbols: Symbols,
    parts: Parts,
}

impl Node {
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The syntax that the operator writes, and so that messages use.
    #[must_use]
    pub const fn syntax(&self) -> Syntax {
        self.syntax
    }

    #[must_use]
    pub const fn platform(&self) -> &'static Platform {
        self.platform
    }

    /// The labels of the node's spec.
    #[must_use]
    pub const fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    pub(crate) const fn adoptions(&self) -> &BTreeMap<String, (Adoption, Span)> {
        &self.adoptions
    }

    pub(crate) const fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    pub(crate) const fn parts(&self) -> &Parts {
        &self.parts
    }
}

/// What a section's check may look at besides its own part of the spec.
pub struct CheckContext<'a> {
    pub symbols: &'a Symbols,
    pub platform: &'static Platform,
    /// The syntax that the operator writes, and so that messages use.
    pub syntax: Syntax,
    doc: &'a Doc,
    shape: Shape<'a>,
}

impl CheckContext<'_> {
    /// Reports every field below a path that some version in a program's range cannot carry. The first version that can
    /// is written on the field's type (`x-purlin-since`).
    pub fn fit(&self, path: &[&str], program: &str, range: &Spanned<Versions>, findings: &mut Findings) {
        let full: Vec<&str> = std::iter::once("spec").chain(path.iter().copied()).collect();
        let (Some(value), Some(shape)) = (self.doc.root.at(&full), self.shape.at(&full)) else { return };
        for (entry, since) in since_fields(value, shape, program) {
            let Some(first) = crate::spec::Minor::parse(since) else { continue };
            if range.low < first {
                findings.push(
                    Diagnostic::new(
                        Code::PUR0210,
                        format!("{program} {} cannot carry `{}`", range.low, self.syntax.key(&entry.key)),
                    )
                    .at(entry.key_span, format!("{program} knows it from {first} on"))
                    .see(range.span, format!("the range begins with {}", range.low))
                    .note("an older daemon skips a key that it does not know, with a warning at most")
                    .help(if range.high < first {
                        format!("leave it out, or move the range to `{first}`")
                    } else {
                        let rest = Versions { low: first, high: range.high };
                        format!("leave it out, or begin the range at {first}: `{rest}`")
                    }),
                );
            }
        }
    }

    /// The value as written, for a place inside it.
    #[must_use]
    pub fn value(&self, path: &[&str]) -> Option<&Value> {
        self.doc.root.get("spec")?.at(path)
    }
}

/// Checks a typed spec: names resolve, ranges fit, the targets can express it.
#[must_use]
pub fn check(
    spec: &NodeSpec,
    doc: &Doc,
    shape: Shape<'_>,
    syntax: Syntax,
    findings: &mut Findings,
) -> Option<Node> {
    let before = findings.errors();
    let platform = spec.spec.target.as_ref().and_then(|t| t.platform).unwrap_or_default().platform();
    let mut symbols = Symbols::default();
    sections::declare(&spec.spec, platform, &mut symbols, findings);
    let context = CheckContext { symbols: &symbols, platform, syntax, doc, shape };
    kubelet_range(spec, syntax, findings);
    adoptions(spec, platform, findings);
    let parts = sections::check(&spec.spec, &context, findings);
    let node = Node {
        name: spec.metadata.name.value.to_string(),
        syntax,
        platform,
        labels: spec.metadata.labels.iter().map(|(k, v)| (k.to_string(), v.value.to_string())).collect(),
        adoptions: spec
            .spec
            .adopt
            .iter()
            .map(|(path, member)| (path.to_string(), (member.value, member.name_span)))
            .collect(),
        symbols,
        parts,
    };
    (findings.errors() == before).then_some(node)
}

/// The kubelets that the output can be made for: DRA and CDI as Purlin uses them begin with the first, and later ones
/// are not released.
const KUBELETS: Versions = Versions { low: crate::spec::Minor(1, 31), high: crate::spec::Minor(1, 37) };

fn kubelet_range(spec: &NodeSpec, syntax: Syntax, findings: &mut Findings) {
    if let Some(range) = spec.spec.target.as_ref().and_then(|t| t.kubelet.as_ref()) {
        known_range("kubelet", range.as_ref().map(|r| *r.get()), KUBELETS, syntax, findings);
    }
}

/// What is given into Purlin's hands is overwritten or removed as root, so it has to be where Purlin writes anyhow.
fn adoptions(spec: &NodeSpec, platform: &Platform, findings: &mut Findings) {
    let places = platform.places();
    for (path, member) in &spec.spec.adopt {
        if places.iter().any(|place| path.get() != place && within(path.get(), place)) {
            continue;
        }
        findings.push(
            Diagnostic::new(
                Code::PUR0204,
                format!("`{path}` is in none of the directories that purlin looks after"),
            )
            .at(member.name_span, "not adopted")
            .note(format!("these are: {}", places.join(", ")))
            .help("leave it out, and remove or change that file by hand"),
        );
    }
}

/// Refuses a range that reaches beyond the versions that Purlin knows.
pub fn known_range(
    program: &str,
    range: Spanned<Versions>,
    known: Versions,
    syntax: Syntax,
    findings: &mut Findings,
) -> bool {
    if known.low <= range.low && range.high <= known.high {
        return true;
    }
    let shared = Versions { low: range.low.max(known.low), high: range.high.min(known.high) };
    let shared = if shared.low <= shared.high { shared } else { known };
    findings.push(
        Diagnostic::new(Code::PUR0211, format!("this purlin cannot work for {program} {}", range.value))
            .at(range.span, format!("it knows {program} {known}"))
            .note("what a version's files may hold is known only for versions that were tried")
            .suggest(
                range.span,
                syntax.string(&shared.to_string()),
                format!("choose a range within {known}"),
            ),
    );
    false
}
