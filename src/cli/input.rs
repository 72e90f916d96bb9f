//! What several commands read: specs, facts, and a tree in place of a host; and how they show findings.

use super::git::Revision;
use super::specs::{SpecFile, is_ours};
use super::{Failure, OutputFormat, Session};
use crate::compile::{Compiled, alone, compile_in};
use crate::diag::{self, CUT_SHORT, Diagnostic, Findings, Settled, Severity, Sources, visible_line};
use crate::facts::platform::Platform;
use crate::facts::{self, Facts, FactsError};
use crate::host::{self, Observed, Root};
use crate::node::Node;
use crate::plan::{DecidedBy, Unproven};
use crate::source::{Limits, Syntax, Tree, decode};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

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

/// What a file came to.
pub enum Spec {
    /// Its node is absent when it has errors, which the findings then name.
    Whole(Box<Compiled>),
    /// Too broken for that.
    Broken,
    /// A part that was found, and not named.
    Part,
    /// A file of another program that was found, and not named.
    Foreign,
}

impl Spec {
    pub fn node(self) -> Option<Node> {
        match self {
            Self::Whole(spec) => spec.node,
            Self::Broken | Self::Part | Self::Foreign => None,
        }
    }
}

/// Reads and compiles one spec with all that it includes.
pub fn spec(spec: &SpecFile, sources: &mut Sources, findings: &mut Findings) -> Result<Spec, Failure> {
    compile_spec(spec, &read_spec(&spec.path)?, sources, findings)
}

/// The bytes of a spec.
pub fn read_spec(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display().to_string();
    if path.as_os_str() == "-" {
        return Err(Failure(
            "a spec is not read from stdin; name a file, for its name tells the syntax".into(),
        ));
    }
    if path.is_dir() {
        return Err(directory(&name));
    }
    syntax(&name)?;
    read(path, SPEC_BYTES)
}

fn syntax(name: &str) -> Result<Syntax, Failure> {
    Syntax::of(name).ok_or_else(|| unnamed(name))
}

/// Compiles the bytes of a spec with all that it includes.
pub fn compile_spec(
    spec: &SpecFile,
    bytes: &[u8],
    sources: &mut Sources,
    findings: &mut Findings,
) -> Result<Spec, Failure> {
    let name = spec.path.display().to_string();
    let syntax = syntax(&name)?;
    let read = if spec.found && !is_ours(&name, bytes) {
        Spec::Foreign
    } else {
        match text(bytes, &name, &spec.below, syntax, &spec.files, sources, findings) {
            Some(part) if part.is_part && spec.found => Spec::Part,
            Some(part) if part.is_part => {
                findings.push(alone(&part.doc));
                Spec::Broken
            }
            Some(spec) => Spec::Whole(Box::new(spec)),
            None => Spec::Broken,
        }
    };
    // What is shown from here on must not spread a secret that someone wrote into an address.
    sources.mask_credentials();
    findings.mask_credentials();
    Ok(read)
}

/// The spec as it was at a revision; absent when it was not there, or was no spec.
pub fn spec_at(
    revision: &Revision,
    spec: &str,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Result<Option<Compiled>, Failure> {
    let fail = |why: String| Failure(format!("cannot read `{}`: {why}", revision.name(spec)));
    let Some(bytes) = revision.file(spec).map_err(fail)? else { return Ok(None) };
    let Some(syntax) = Syntax::of(spec).filter(|_| is_ours(spec, &bytes)) else { return Ok(None) };
    let read = text(&bytes, &revision.name(spec), spec, syntax, revision, sources, findings);
    sources.mask_credentials();
    findings.mask_credentials();
    Ok(read.filter(|spec| !spec.is_part))
}

/// Compiles the bytes of a file of a tree.
fn text(
    bytes: &[u8],
    name: &str,
    below: &str,
    syntax: Syntax,
    tree: &dyn Tree,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Option<Compiled> {
    let file = decode(sources, name, bytes, findings)?;
    compile_in(sources, (file, below), syntax, tree, findings)
}

/// Lines of what is unproven that a person is shown.
const UNPROVEN_LINES: usize = 40;

/// Facts from a file.
pub fn facts_file(path: &Path) -> Result<Facts, Failure> {
    let fail = |what: &dyn std::fmt::Display| Failure(format!("`{}`: {what}", path.display()));
    let bytes = read(path, facts::BYTES as u64 + 1)?;
    // What is cut off within a letter is too long, and no other mistake.
    if bytes.len() > facts::BYTES {
        return Err(fail(&FactsError::Long));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| fail(&"the facts are not UTF-8 text; make them with `purlin observe`"))?;
    Facts::from_json(&text).map_err(|e| fail(&e))
}

/// What a tree that stands for a host shows: its files, and what a facts file tells of the host itself.
pub fn tree(root: &Root, host: Option<Facts>, platform: &Platform) -> Result<Observed, Failure> {
    let seen = host::observe(root, false, platform, &[])?;
    // A tree is files only: that it holds no binary says nothing of the host that the files are for.
    let facts = Facts {
        simulated: true,
        directories: seen.facts.directories,
        places: seen.facts.places,
        files: seen.facts.files,
        ledger: seen.facts.ledger,
        ..host.unwrap_or_default()
    };
    Ok(Observed { facts, ..seen })
}

/// Refuses what would be wrong without the ledger: to say what would change, or to change it.
pub fn needs_ledger(seen: &Observed) -> Result<(), Failure> {
    match &seen.unread_ledger {
        Some(why) => Err(Failure(format!("what purlin made here is not known: {why}"))),
        None => Ok(()),
    }
}

/// What keeps a command from comparing, where it cannot be seen what stands in some places: `facts` says that a file of
/// facts was to tell it, otherwise a warning has said why it could not be seen.
pub fn unseen(places: &BTreeSet<String>, facts: bool) -> Option<Failure> {
    let first = places.first()?;
    let more = match places.len() - 1 {
        0 => String::new(),
        n => format!(" and in {n} more places"),
    };
    Some(Failure(if facts {
        format!(
            "the facts do not tell what stands at `{first}`{more}; make them anew with `purlin observe` as root"
        )
    } else {
        format!("cannot see what stands at `{first}`{more}; do what the warning above says")
    }))
}

/// Shows findings: on stderr for people; a program gets them within its document.
pub fn show(settled: &Settled, sources: &Sources, session: &Session, format: OutputFormat) {
    if format == OutputFormat::Human && !settled.list.is_empty() {
        let style = diag::human::Style { color: session.color_err, width: session.width };
        session.say(&diag::human::render(&settled.list, sources, style));
        if settled.cut_short {
            session.say(&format!("{CUT_SHORT}\n"));
        }
    }
}

/// What is unproven, a line each, in order of place.
pub fn unproven_lines(unproven: &[Unproven], sources: &Sources) -> Vec<String> {
    let mut in_order: Vec<_> = unproven.iter().collect();
    in_order.sort_by_key(|item| (item.decided_by, item.origin.span));
    in_order
        .iter()
        .map(|item| format!("{}: {}", sources.cite(item.origin.span), visible_line(&item.what)))
        .collect()
}

/// Lists what is unproven, by who can decide it: sending someone for facts that settle nothing would be no help.
pub fn show_unproven(unproven: &[Unproven], sources: &Sources, session: &Session) {
    let mut text = String::new();
    let mut in_order: Vec<_> = unproven.iter().collect();
    in_order.sort_by_key(|item| (item.decided_by, item.origin.span, &item.what));
    // Nodes that share a part share what is unproven of it.
    in_order.dedup();
    let more = in_order.len().saturating_sub(UNPROVEN_LINES);
    in_order.truncate(UNPROVEN_LINES);
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
    if more > 0 {
        let _ = writeln!(text, "  and {more} more; `--format json` lists all");
    }
    session.say(&text);
}

/// Says what could not be read or written: the names, and why.
pub fn say_unread(unread: &[(String, String)], session: &Session) {
    let mut last = None;
    for (_, message) in unread {
        // What is wrong with the surroundings is wrong for every spec.
        if last != Some(message) {
            session.fail(message);
        }
        last = Some(message);
    }
}

/// Whether any finding is an error.
pub fn failed(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|d| d.severity == Severity::Error)
}
