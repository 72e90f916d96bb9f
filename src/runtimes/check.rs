//! What can be said about runtimes, registries and hooks without a host.

use super::spec::{ConfigMode, Containerd, Hook, Mirror, Registry, Runtimes};
use super::{Daemon, Part};
use crate::diag::{Code, Diagnostic, Findings, Span, Spanned, guess};
use crate::facts::platform::Platform;
use crate::facts::within;
use crate::node::{CheckContext, known_range};
use crate::source::Syntax;
use crate::spec::{AbsolutePath, HookSymbol, Minor, Program, RuntimeSymbol, Symbols, Url, Versions};

/// The containerd versions that Purlin knows: what 1.x reads is shaped otherwise.
pub(super) const CONTAINERDS: Versions = Versions { low: Minor(2, 0), high: Minor(2, 4) };

/// Tells the other sections of runtimes and hooks.
pub fn declare(raw: &Runtimes, platform: &Platform, symbols: &mut Symbols, findings: &mut Findings) {
    for (name, member) in &raw.runtimes {
        if let Some(containerd) = &member.value.containerd {
            let versions = containerd.version.as_ref().map(|v| *v.get());
            symbols.runtime(
                &name.to_string(),
                RuntimeSymbol {
                    program: Program::Containerd,
                    versions: versions.value,
                    versions_span: versions.span,
                },
            );
            let owner = format!("runtime `{name}`");
            let help = "describe one runtime, with a handler for each way to run a container";
            symbols.claim(
                Code::PUR0206,
                "socket",
                platform.containerd_socket,
                &owner,
                member.name_span,
                help,
                findings,
            );
        }
    }
    for (name, member) in &raw.hooks {
        let hook = &member.value;
        symbols.hook(
            &name.to_string(),
            HookSymbol {
                stage: hook.stage.oci(),
                path: hook.path.to_string(),
                args: hook.argv(),
                env: hook.environment(),
                timeout: hook.seconds(),
                devices: hook.when.devices.iter().map(|d| d.value.clone()).collect(),
                span: member.name_span,
            },
        );
    }
}

/// Checks the section.
#[must_use]
pub fn check(raw: &Runtimes, context: &CheckContext<'_>, findings: &mut Findings) -> Part {
    let mut part = Part {
        daemons: Vec::new(),
        registries: Vec::new(),
        everywhere: Vec::new(),
        with_devices: Vec::new(),
    };
    for (name, member) in &raw.runtimes {
        let Some(containerd) = &member.value.containerd else { continue };
        let name = name.to_string();
        let versions = containerd.version.as_ref().map(|v| *v.get());
        if known_range("containerd", versions, CONTAINERDS, context.syntax, findings) {
            context.fit(&["runtimes", "runtimes", &name, "containerd"], "containerd", &versions, findings);
        }
        binaries(containerd, context.syntax, findings);
        defaults(&name, member.name_span, containerd, context.syntax, findings);
        for binary in containerd.handlers.iter().filter_map(|(_, m)| m.value.binary.as_ref()) {
            safe_program(binary, findings);
        }
        part.daemons.push(Daemon { name, span: member.name_span, versions, raw: containerd.clone() });
    }
    for (host, member) in &raw.registries {
        let host = host.to_string();
        let has_default = raw.registries.iter().any(|(other, _)| other.get() == "_default");
        registry(&host, member.name_span, &member.value, has_default, context.syntax, findings);
        part.registries.push(super::Registry {
            host,
            span: member.name_span,
            server: member.value.server.as_ref().map(|s| s.to_string()),
            mirrors: member.value.mirrors.clone(),
        });
    }
    for (name, member) in &raw.hooks {
        hook(&name.to_string(), member.name_span, &member.value, context, findings);
        let list =
            if member.value.when.devices.is_empty() { &mut part.everywhere } else { &mut part.with_devices };
        list.push(super::Hook { name: name.to_string(), raw: member.value.clone() });
    }
    if part.daemons.is_empty() {
        let runtime = context.syntax.example(
            "runtime \"main\" { containerd version=\"2.1\" config=\"own\" { handler \"runc\" default=#true } }",
            "runtimes: { main: { containerd: { version: \"2.1\", config: own, handlers: { runc: { default: true } } } } }",
        );
        for (what, span) in raw
            .registries
            .iter()
            .map(|(n, m)| (format!("registry `{n}`"), m.name_span))
            // A hook of a device stands in the CDI file, which any runtime reads.
            .chain(
                raw.hooks
                    .iter()
                    .filter(|(_, m)| m.value.when.devices.is_empty())
                    .map(|(n, m)| (format!("hook `{n}`"), m.name_span)),
            )
        {
            findings.push(
                Diagnostic::new(Code::PUR0214, format!("{what} has no runtime that would use it"))
                    .at(span, "nothing reads this")
                    .help(format!("describe the runtime beside it: {runtime}")),
            );
        }
    }
    part
}

/// A handler of another name that runs runc after all is a mistake that nothing would ever report: pods start.
fn binaries(containerd: &Containerd, syntax: Syntax, findings: &mut Findings) {
    for (handler, member) in &containerd.handlers {
        if member.value.binary.is_some() || handler.get() == "runc" {
            continue;
        }
        let example = format!("/usr/bin/{handler}");
        findings.push(
            Diagnostic::new(
                Code::PUR0105,
                format!("handler `{handler}` has no `binary`, and would run `runc`"),
            )
            .at(member.name_span, "the name alone chooses no program")
            .note("its pods would start, in the wrong runtime")
            .help(format!(
                "name the program: `{}`",
                syntax.example(&format!("binary=\"{example}\""), &format!("binary: {example}"))
            )),
        );
    }
}

fn defaults(name: &str, span: Span, containerd: &Containerd, syntax: Syntax, findings: &mut Findings) {
    let mut defaults: Vec<_> = containerd
        .handlers
        .iter()
        .filter_map(|(handler, m)| m.value.default.filter(|d| d.value).map(|d| (handler, d.span)))
        .collect();
    defaults.sort_by_key(|(_, span)| *span);
    let own = containerd.config.value == ConfigMode::Own;
    match defaults.as_slice() {
        [] if own => {
            let mut finding =
                Diagnostic::new(Code::PUR0202, format!("runtime `{name}` has no default handler"));
            finding = if containerd.handlers.is_empty() {
                finding.at(span, "it has no handlers").help(format!(
                    "add one: {}",
                    syntax.example("handler \"runc\" default=#true", "handlers: { runc: { default: true } }")
                ))
            } else {
                let first = containerd.handlers.iter().next();
                let finding = finding.at(span, "none of its handlers is the default");
                match first {
                    Some((handler, member)) => {
                        finding.see(member.name_span, format!("`{handler}` could be")).help(format!(
                            "write {} on one handler",
                            syntax.example("default=#true", "default: true")
                        ))
                    }
                    None => finding,
                }
            };
            findings.push(finding.note("a pod without a RuntimeClass runs through the default handler"));
        }
        [first, more @ ..] => {
            for (handler, place) in more {
                findings.push(
                    Diagnostic::new(
                        Code::PUR0202,
                        format!("runtime `{name}` has more than one default handler"),
                    )
                    .at(*place, format!("`{handler}` is a default too"))
                    .see(first.1, format!("`{}` is the default", first.0))
                    .help("leave `default` on one handler only"),
                );
            }
        }
        [] => {}
    }
}

fn registry(
    host: &str,
    span: Span,
    raw: &Registry,
    has_default: bool,
    syntax: Syntax,
    findings: &mut Findings,
) {
    // Beside `_default` an empty entry says something: this registry is asked itself.
    if raw.mirrors.is_empty() && raw.server.is_none() && !has_default {
        findings.push(
            Diagnostic::new(Code::PUR0214, format!("registry `{host}` has neither mirrors nor a server"))
                .at(span, "this changes nothing")
                .help(format!(
                    "add a mirror: {}, or leave the registry out",
                    syntax.example(
                        "mirror \"https://mirror.example\"",
                        "mirrors: [{ url: \"https://mirror.example\" }]"
                    )
                )),
        );
    }
    let urls = raw.mirrors.iter().map(|m| &m.url).chain(&raw.server);
    for url in urls {
        no_secret(url, syntax, findings);
    }
    let mut seen: Vec<(&Spanned<Url>, (String, String))> = Vec::new();
    for mirror in &raw.mirrors {
        let asked = asked(mirror);
        // One text twice is one table twice, which is no TOML, even where `override-path` differs.
        let same = seen.iter().find(|(url, other)| url.value == mirror.url.value || *other == asked);
        if let Some((first, _)) = same {
            // Not as it is written: that may hold a password.
            let (server, path) = mirror.url.value.leads_to();
            let mut finding = Diagnostic::new(
                Code::PUR0205,
                format!("registry `{host}` has the mirror `{server}{path}` twice"),
            )
            .at(mirror.url.span, "given again")
            .see(first.span, "given first");
            if first.value != mirror.url.value {
                finding = finding.note(format!("both spellings are asked at `{}{}`", asked.0, asked.1));
            }
            findings.push(finding.help("leave one out"));
        }
        seen.push((&mirror.url, asked));
    }
}

/// What containerd asks a mirror's server for: its path ends in `/v2`, unless it is to be taken as it is
/// (`core/remotes/docker/config/hosts.go`, parseHostConfig).
fn asked(mirror: &Mirror) -> (String, String) {
    let (server, mut path) = mirror.url.value.leads_to();
    if mirror.override_path != Some(true) && !path.ends_with("/v2") {
        path.push_str("/v2");
    }
    (server, path)
}

fn no_secret(url: &Spanned<Url>, syntax: Syntax, findings: &mut Findings) {
    let text = url.get();
    let authority = text.split("://").nth(1).unwrap_or("").split('/').next().unwrap_or("");
    if let Some((_, host)) = authority.rsplit_once('@') {
        let clean = text.replacen(authority, host, 1);
        findings.push(
            Diagnostic::new(Code::PUR0213, "the address holds credentials")
                .at(url.span, "a user name or password before the `@`")
                .note("a spec is kept in Git and shown in reviews; a secret in it is a secret no more")
                .note("credentials by reference come with a later version of purlin")
                // Never made without asking: the spec may hold the only copy, and the secret is to be changed as well.
                .suggest(
                    url.span,
                    syntax.string(&clean),
                    "leave them out, and change them where they are in use",
                ),
        );
    }
}

fn hook(name: &str, span: Span, hook: &Hook, context: &CheckContext<'_>, findings: &mut Findings) {
    let when = &hook.when;
    let syntax = context.syntax;
    safe_program(&hook.path, findings);
    for kind in &when.devices {
        if !context.symbols.devices().contains_key(&kind.value) {
            let known: Vec<String> = context.symbols.devices().keys().map(ToString::to_string).collect();
            let mut finding = Diagnostic::new(Code::PUR0201, format!("there is no device `{}`", kind.value))
                .at(kind.span, "not defined under `devices`");
            finding = match guess(kind.get(), known.iter().map(String::as_str)) {
                Some(near) => finding.suggest(
                    kind.span,
                    syntax.string(near.word),
                    format!("did you mean `{}`?", near.word),
                ),
                None => finding.help(format!(
                    "describe it under `devices`: {}",
                    syntax.example(
                        &format!("device \"{}\" {{ path \"/dev/ttyUSB*\" }}", kind.value),
                        &format!("{}: {{ paths: [\"/dev/ttyUSB*\"] }}", kind.value)
                    )
                )),
            };
            findings.push(finding);
        }
    }
    let node = |kdl, model| if syntax == Syntax::Kdl { kdl } else { model };
    let unfit = [
        (node("annotation", "annotations"), when.annotations.iter().next().map(|(_, m)| m.name_span)),
        (node("command", "commands"), when.commands.first().map(|c| c.span)),
        (node("has-bind-mounts", "hasBindMounts"), when.has_bind_mounts.map(|b| b.span)),
    ];
    let always = syntax.example("always", "always: true");
    // A kind that the spec describes, so that the example can be taken as it is.
    let instead = context.symbols.devices().keys().next().map_or_else(
        || format!("write {always}, and let the hook's program decide"),
        |kind| {
            let device = syntax.example(&format!("device \"{kind}\""), &format!("devices: [{kind}]"));
            format!("write {always} and let the hook's program decide, or tie it to a device, like {device}")
        },
    );
    for (condition, place) in unfit.iter().filter_map(|(c, p)| p.map(|p| (c, p))) {
        findings.push(
            Diagnostic::new(Code::PUR0212, format!("no runtime of this spec can evaluate the condition `{condition}`"))
                .at(place, "containerd has no such condition for a hook")
                .see(span, format!("hook `{name}`"))
                .note("containerd runs hooks for every container of a handler, or for containers with a CDI device; CRI-O evaluates conditions itself")
                .help(instead.clone()),
        );
    }
    let always = when.always.is_some_and(|a| a.value);
    let conditional = !when.devices.is_empty() || unfit.iter().any(|(_, p)| p.is_some());
    if !always && !conditional {
        findings.push(
            Diagnostic::new(Code::PUR0212, format!("hook `{name}` has no condition that could hold"))
                .at(when.span, "nothing here is true for any container")
                .help(instead),
        );
    } else if always && conditional {
        findings.push(
            Diagnostic::new(Code::PUR0214, "`always` says nothing beside another condition")
                .at(when.always.map_or(when.span, |a| a.span), "conditions are joined by \"and\"")
                .help("leave `always` out"),
        );
    }
    if let Some(timeout) = &hook.timeout
        && (timeout.get().subsec_millis() != 0 || timeout.get().is_zero())
    {
        findings.push(
            Diagnostic::new(Code::PUR0104, "a hook's timeout is a whole number of seconds, at least one")
                .at(timeout.span, "the OCI runtime specification counts in seconds")
                .suggest(
                    timeout.span,
                    syntax.string(&format!("{}s", timeout.get().as_secs().max(1))),
                    "write a whole number of seconds",
                ),
        );
    }
}

/// Directories in which everybody may make files.
const ANYBODYS: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// Whoever can put a program where root starts one is root.
fn safe_program(path: &Spanned<AbsolutePath>, findings: &mut Findings) {
    let Some(directory) = ANYBODYS.iter().find(|d| within(path.get(), d)) else { return };
    let name = path.get().rsplit('/').next().unwrap_or_default();
    findings.push(
        Diagnostic::new(
            Code::PUR0204,
            format!("`{}` is run as root from where everybody may write", path.value),
        )
        .at(path.span, format!("anybody can put a program into {directory}"))
        .note("who can choose what root runs has the whole node")
        .help(format!("keep it where only root may write, such as `/usr/local/bin/{name}`")),
    );
}
