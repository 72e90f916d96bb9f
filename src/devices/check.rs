//! What can be said about devices without a host.

use super::spec::Devices;
use super::{Device, Part};
use crate::diag::{Code, Diagnostic, Findings};
use crate::node::CheckContext;
use crate::spec::{DevicePath, Symbols};
use std::collections::BTreeMap;

/// Tells the other sections of the kinds.
pub fn declare(raw: &Devices, symbols: &mut Symbols, _findings: &mut Findings) {
    for (kind, member) in raw {
        symbols.device(kind, member.name_span);
    }
}

/// Checks the section.
#[must_use]
pub fn check(raw: &Devices, _context: &CheckContext<'_>, findings: &mut Findings) -> Part {
    let mut owners: BTreeMap<&DevicePath, (String, crate::diag::Span)> = BTreeMap::new();
    let mut devices = Vec::new();
    for (kind, member) in raw {
        for path in &member.value.paths {
            if let Some((owner, span)) = owners.get(&path.value) {
                findings.push(
                    Diagnostic::new(Code::PUR0205, format!("`{}` is claimed by `{owner}` and by `{kind}`", path.value))
                        .at(path.span, format!("`{kind}` claims it here"))
                        .see(*span, format!("`{owner}` claims it here"))
                        .note("each kind would hand the same device to a pod of its own")
                        .help("leave it to one of them"),
                );
            } else {
                owners.insert(&path.value, (kind.to_string(), path.span));
            }
        }
        devices.push(Device { kind: kind.clone(), span: member.name_span, raw: member.value.clone() });
    }
    Part { devices }
}
