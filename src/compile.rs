//! The pure road from text to Node, in one call.

use crate::diag::{Code, Diagnostic, FileId, Findings, Sources};
use crate::node::{self, Node};
use crate::source::{self, Alone, Doc, Layer, Syntax, Tree, Yielded};
use crate::spec::{self, NodeSpec};

/// A spec as it counts: all files in one.
#[derive(Debug)]
pub struct Compiled {
    /// Without includes and defaults.
    pub doc: Doc,
    /// The defaults that others came before.
    pub yielded: Vec<Yielded>,
    /// `None` when there are errors, which the findings then name.
    pub node: Option<Node>,
}

/// Compiles one text that stands alone; `None` when it has errors, which the findings then name.
#[must_use]
pub fn compile(sources: &Sources, file: FileId, syntax: Syntax, findings: &mut Findings) -> Option<Node> {
    // Only a text without includes needs no others, so the copy of names and references is all there is to take in.
    compile_in(&mut sources.clone(), (file, ""), syntax, &Alone, findings)?.node
}

/// Compiles a spec with all that it includes: `path` is its own below the tree. `None` when the texts are too broken to
/// be one spec.
#[must_use]
pub fn compile_in(
    sources: &mut Sources,
    (file, path): (FileId, &str),
    syntax: Syntax,
    tree: &dyn Tree,
    findings: &mut Findings,
) -> Option<Compiled> {
    let before = findings.errors();
    let layers = source::load(sources, (file, path), syntax, tree, spec::schema(), findings);
    let Some(layers) = layers.filter(|layers| whole(layers, findings)) else {
        findings.cut_short();
        return None;
    };
    let (doc, yielded) = source::merge(layers, spec::schema(), findings)?;
    let node = node(&doc, syntax, before, findings);
    Some(Compiled { doc, yielded, node })
}

/// What can be said of a file while it is written.
#[derive(Debug)]
pub struct Look {
    /// The file and all that it includes could be read.
    pub read: bool,
    /// The file is a part.
    pub part: bool,
    /// `None` of a part, and when there are errors.
    pub node: Option<Node>,
}

/// The same as [`compile_in`] for someone who writes: a part alone is looked at, too, but only for its shape, for what is
/// missing in it may stand in the specs that include it.
#[must_use]
pub fn look_in(
    sources: &mut Sources,
    (file, path): (FileId, &str),
    syntax: Syntax,
    tree: &dyn Tree,
    findings: &mut Findings,
) -> Look {
    let before = findings.errors();
    let layers = source::load(sources, (file, path), syntax, tree, spec::schema(), findings);
    let Some(mut layers) = layers else { return Look { read: false, part: false, node: None } };
    let part = layers.first().is_some_and(|layer| source::is_part(&layer.doc));
    if part {
        source::make_whole(&mut layers[0].doc);
    }
    let merged = source::merge(layers, spec::schema(), findings);
    let node = match (merged, part) {
        (Some((doc, _)), true) => {
            // What does not fit is in the findings.
            let _ = spec::validator().is_some_and(|v| v.check_part(&doc, syntax, findings));
            None
        }
        (Some((doc, _)), false) => node(&doc, syntax, before, findings),
        (None, _) => None,
    };
    Look { read: true, part, node }
}

/// Whether the first file describes a node.
fn whole(layers: &[Layer], findings: &mut Findings) -> bool {
    let Some(first) = layers.first().filter(|layer| source::is_part(&layer.doc)) else { return true };
    let at = first.doc.root.get("kind").map_or(first.doc.root.span, |kind| kind.span);
    findings.push(
        Diagnostic::new(
            Code::PUR0004,
            "this is a part, and only counts together with a spec that includes it",
        )
        .at(at, "no node")
        .help("name the specs that include it"),
    );
    false
}

fn node(doc: &Doc, syntax: Syntax, before: usize, findings: &mut Findings) -> Option<Node> {
    let schema = spec::schema();
    let fits = spec::validator().is_some_and(|v| v.check(doc, syntax, findings));
    if !fits || findings.errors() > before {
        findings.cut_short();
        return None;
    }
    match source::from_value::<NodeSpec>(&doc.root) {
        Ok(spec) => node::check(&spec, doc, schema.root(), syntax, findings),
        Err(error) => {
            // Validation has let something through that the types refuse. Say where, rather than nothing.
            findings.push(
                Diagnostic::new(Code::PUR0104, error.message.clone())
                    .at(error.span.unwrap_or(doc.root.span), "this value")
                    .help("write it in the form that `purlin schema` describes"),
            );
            None
        }
    }
}
