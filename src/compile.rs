//! The pure road from text to Node, in one call.

use crate::diag::{Code, Diagnostic, FileId, Findings, Sources, silence};
use crate::node::{self, Node};
use crate::source::{self, Alone, Doc, Layer, Syntax, Tree, Yielded};
use crate::spec::{self, NodeSpec};

/// A spec as it counts: all files in one.
#[derive(Debug)]
pub struct Compiled {
    /// Without includes and defaults.
    pub doc: Doc,
    /// The files that it consists of, by their paths below the tree, its own first.
    pub files: Vec<String>,
    /// It is a part, and no spec: of that only the shape was looked at, for what is missing may stand in the specs that
    /// include it.
    pub is_part: bool,
    /// The defaults that others came before.
    pub yielded: Vec<Yielded>,
    /// `None` when there are errors, which the findings then name.
    pub node: Option<Node>,
}

/// Compiles one text that stands alone; `None` when it has errors, which the findings then name.
#[must_use]
pub fn compile(sources: &Sources, file: FileId, syntax: Syntax, findings: &mut Findings) -> Option<Node> {
    // Only a text without includes needs no others, so the copy of names and references is all there is to take in.
    let spec = compile_in(&mut sources.clone(), (file, ""), syntax, &Alone, findings)?;
    if spec.is_part {
        findings.push(alone(&spec.doc));
    }
    spec.node
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
    let Some(mut layers) = layers else {
        findings.cut_short();
        return None;
    };
    let files = layers.iter().map(|layer| layer.path.clone()).collect();
    silencers(&layers, sources, findings);
    let part = layers.first_mut().filter(|layer| source::is_part(&layer.doc));
    let is_part = part.map(|layer| source::make_whole(&mut layer.doc)).is_some();
    let (doc, yielded) = source::merge(layers, spec::schema(), findings)?;
    let node = if is_part {
        // What does not fit is in the findings.
        let _ = spec::validator().is_some_and(|v| v.check_part(&doc, syntax, findings));
        None
    } else {
        node(&doc, syntax, before, findings)
    };
    Some(Compiled { doc, files, is_part, yielded, node })
}

/// Compiles a spec whose files are one tree already.
#[must_use]
pub fn compile_doc(doc: &Doc, syntax: Syntax, findings: &mut Findings) -> Option<Node> {
    node(doc, syntax, findings.errors(), findings)
}

/// Takes in the comments that silence warnings, of every file.
fn silencers(layers: &[Layer], sources: &Sources, findings: &mut Findings) {
    for layer in layers {
        let mut comments = layer.doc.comments();
        // One comment silences once, however often an alias repeats what it stands at.
        comments.dedup_by_key(|comment| comment.span);
        silence::collect(comments.iter().map(|c| (c.text.as_str(), c.span)), sources, findings);
    }
}

/// Says that a part was taken for a spec.
#[must_use]
pub fn alone(doc: &Doc) -> Diagnostic {
    let at = doc.root.get("kind").map_or(doc.root.span, |kind| kind.span);
    Diagnostic::new(Code::PUR0004, "this is a part, and only counts together with a spec that includes it")
        .at(at, "no node")
        .help("name the specs that include it")
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
