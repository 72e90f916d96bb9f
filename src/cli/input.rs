//! What several commands read: specs, facts, and a tree in place of a host; and how they show findings.

use super::{Failure, OutputFormat, Session};
use crate::compile::compile;
use crate::diag::{self, Diagnostic, Findings, Severity, Sources, visible_line};
use crate::facts::Facts;
use crate::facts::platform::Platform;
use crate::host::{self, Root};
use crate::node::Node;
use crate::plan::{DecidedBy, Unproven};
use crate::source::{Limits, Syntax, decode};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// Bytes of facts that are read at most.
const FACTS_BYTES: u64 = 64 << 20;

/// One whole letter more than the language's limit shows that it is passed.
pub const SPEC_BYTES: u64 = Limits::DEFAULT.bytes as u64 + 4;

/// A directory where a spec is expected.
pub fn directory(name: &str) -> Failure {
    Failure(format!("`{name}` is a directory; name the specs in it, like `{name}/*.kdl`"))
}

/// A file whose name does not tell its syntax.
pub fn unnamed(name: &str) -> Failure {
    Failure(format!("`{name}` is no spec by its name; name it .kdl, .yaml or .json"))
}

pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let fail = |error: std::io::Error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::NotFound => "see that the path is right",
            std::io::ErrorKind::PermissionDenied => "give your user the right to read it",
            _ => "see that it is a readable file",
        };
        Failure(format!("cannot read `{}`: {error}; {remedy}", path.display()))
    };
    let metadata = std::fs::metadata(path).map_err(fail)?;
    if metadata.is_dir() {
        return Err(Failure(format!("`{}` is a directory; name a file", path.display())));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(fail)?.take(limit).read_to_end(&mut bytes).map_err(fail)?;
    Ok(bytes)
}

/// Reads and compiles one spec. `None` when it has errors, which the findings then name.
pub fn spec(path: &Path, sources: &mut Sources, findings: &mut Findings) -> Result<Option<Node>, Failure> {
    let name = path.display().to_string();
    if path.as_os_str() == "-" {
        return Err(Failure(
            "a spec is not read from stdin; name a file, for its name tells the syntax".into(),
        ));
    }
    if path.is_dir() {
        return Err(directory(&name));
    }
    let Some(syntax) = Syntax::of(&name) else { return Err(unnamed(&name)) };
    let bytes = read(path, SPEC_BYTES)?;
    let Some(file) = decode(sources, &name, &bytes, findings) else { return Ok(None) };
    let node = compile(sources, file, syntax, findings);
    // What is shown from here on must not spread a secret that someone wrote into an address.
    sources.mask_credentials(file);
    findings.mask_credentials();
    Ok(node)
}

/// Facts from a file.
pub fn facts_file(path: &Path) -> Result<Facts, Failure> {
    let bytes = read(path, FACTS_BYTES)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure(format!("`{}` is not UTF-8; make it with `purlin observe`", path.display())))?;
    Facts::from_json(&text).map_err(|e| Failure(format!("`{}`: {e}", path.display())))
}

/// The facts of a tree that stands for a host: its files, and what a facts file tells of the host itself.
pub fn tree_facts(
    session: &Session,
    dir: &Path,
    host: Option<Facts>,
    platform: &Platform,
) -> Result<(Root, Facts), Failure> {
    let root = Root::open(dir)?;
    let seen = host::observe(&root, false, platform, &[])?;
    for warning in &seen.warnings {
        session.warn(warning);
    }
    // A tree is files only: that it holds no binary says nothing of the host that the files are for.
    let tree = seen.facts;
    let facts = Facts {
        simulated: true,
        directories: tree.directories,
        places: tree.places,
        files: tree.files,
        ledger: tree.ledger,
        ..host.unwrap_or_default()
    };
    Ok((root, facts))
}

/// Shows findings: on stderr for people; a program gets them within its document.
pub fn show(
    findings: &[Diagnostic],
    cut_short: bool,
    sources: &Sources,
    session: &Session,
    format: OutputFormat,
) {
    if format == OutputFormat::Human && !findings.is_empty() {
        let style = diag::human::Style { color: session.color_err, width: session.width };
        session.say(&diag::human::render(findings, sources, style));
        if cut_short {
            session.say("what the spec means is checked once its shape is right; more may follow then\n");
        }
    }
}

/// Lists what is unproven, by who can decide it: sending someone for facts that settle nothing would be no help.
pub fn show_unproven(unproven: &[Unproven], sources: &Sources, session: &Session) {
    let mut text = String::new();
    let mut in_order: Vec<_> = unproven.iter().collect();
    in_order.sort_by_key(|item| (item.decided_by, item.origin.span));
    for group in in_order.chunk_by(|a, b| a.decided_by == b.decided_by) {
        text.push_str(match group[0].decided_by {
            DecidedBy::Facts => {
                "unproven, for want of facts (`purlin observe` on the node, then `--facts FILE`):\n"
            }
            DecidedBy::ApiServer => {
                "unproven, for facts hold no objects of the API server (look with `kubectl get`):\n"
            }
        });
        for item in group {
            // Writing to a String cannot fail; one write of the whole is a hundred times cheaper than one per line.
            let _ = writeln!(text, "  {}: {}", sources.cite(item.origin.span), visible_line(&item.what));
        }
    }
    session.say(&text);
}

/// Whether any finding is an error.
pub fn failed(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|d| d.severity == Severity::Error)
}
