//! The pure road from text to Node, in one call.

use crate::diag::{Code, Diagnostic, FileId, Findings, Sources, silence};
use crate::node::{self, Node};
use crate::source::{self, Syntax};
use crate::spec::{self, NodeSpec};

/// Compiles one text; `None` when it has errors, which the findings then name.
#[must_use]
pub fn compile(sources: &Sources, file: FileId, syntax: Syntax, findings: &mut Findings) -> Option<Node> {
    let before = findings.errors();
    let schema = spec::schema();
    let Some(doc) = source::parse(sources, file, syntax, schema, findings) else {
        findings.cut_short();
        return None;
    };
    let comments = doc.comments();
    silence::collect(comments.iter().map(|c| (c.text.as_str(), c.span)), sources, findings);
    let fits = spec::validator().is_some_and(|v| v.check(&doc, syntax, findings));
    if !fits || findings.errors() > before {
        findings.cut_short();
        return None;
    }
    match source::from_value::<NodeSpec>(&doc.root) {
        Ok(spec) => node::check(&spec, &doc, schema.root(), syntax, findings),
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
