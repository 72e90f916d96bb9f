//! What can be said about devices without a host.

use super::spec::Devices;
use super::{Device, Part};
use crate::diag::{Code, Diagnostic, Findings, Span};
use crate::facts::platform::Platform;
use crate::node::CheckContext;
use crate::spec::{DeviceKind, DevicePath, Minor, Program, Symbols};

/// Tells the other sections of the kinds.
pub fn declare(raw: &Devices, _platform: &Platform, symbols: &mut Symbols, _findings: &mut Findings) {
    for (kind, member) in raw {
        symbols.device(kind, member.name_span);
    }
}

/// Checks the section.
#[must_use]
pub fn check(raw: &Devices, context: &CheckContext<'_>, findings: &mut Findings) -> Part {
    let mut owners: Vec<(&DevicePath, &DeviceKind, Span)> = Vec::new();
    let mut devices = Vec::new();
    let mut in_order: Vec<_> = raw.iter().collect();
    in_order.sort_by_key(|(_, member)| member.name_span);
    for (kind, member) in in_order {
        one_letter(kind, member.name_span, context.symbols, findings);
        for path in &member.value.paths {
            let twice = owners.iter().find(|(other, owner, _)| *owner != kind && meet(&path.value, other));
            if let Some((other, owner, span)) = twice {
                let message = if **other == path.value {
                    format!("`{}` is claimed by `{owner}` and by `{kind}`", path.value)
                } else {
                    format!("`{}` of `{kind}` and `{other}` of `{owner}` claim one device", path.value)
                };
                findings.push(
                    Diagnostic::new(Code::PUR0205, message)
                        .at(path.span, format!("`{kind}` claims it here"))
                        .see(*span, format!("`{owner}` claims it here"))
                        .note("each kind would hand the same device to a pod of its own")
                        .help("leave it to one of them"),
                );
            }
            owners.push((&path.value, kind, path.span));
        }
        devices.push(Device { kind: kind.clone(), span: member.name_span, raw: member.value.clone() });
    }
    devices.sort_by(|a, b| a.kind.cmp(&b.kind));
    Part { devices }
}

/// Whether two paths surely stand for one device: the same text, or a name in full that the other's pattern matches. Of
/// two patterns only facts can tell.
fn meet(a: &DevicePath, b: &DevicePath) -> bool {
    let matches = |pattern: &DevicePath, path: &DevicePath| {
        pattern.is_pattern() && !path.is_pattern() && pattern.matches(path.get())
    };
    a == b || matches(a, b) || matches(b, a)
}

/// The CDI library in containerd before 2.4 panics on a kind whose class has one character (its 1.1.1 is mended).
fn one_letter(kind: &DeviceKind, span: Span, symbols: &Symbols, findings: &mut Findings) {
    let one = kind.get().split('/').any(|part| part.len() == 1);
    if let Some((lowest, range)) =
        symbols.lowest(Program::Containerd).filter(|(v, _)| one && *v < Minor(2, 4))
    {
        findings.push(
            Diagnostic::new(Code::PUR0210, format!("containerd {lowest} crashes on the device kind `{kind}`"))
                .at(span, "its class has one character")
                .see(range, format!("the range begins with {lowest}"))
                .note("the CDI library of these versions reads beyond a name of one character, and the whole daemon goes down")
                .help("give the class a longer name, or begin the range at 2.4"),
        );
    }
}
