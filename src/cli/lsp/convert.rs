//! Our answers as the protocol's types.

use super::documents::{Documents, text_of};
use crate::diag::{Diagnostic, FileId, Severity, Span};
use crate::editor::{Analysis, Completion, CompletionKind, Encoding, Lines, Symbol};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use tower_lsp_server::ls_types as lsp;

/// Findings that are shown of one file: a file of other words has one for each.
const SHOWN: usize = 500;

fn position(text: &str, lines: &Lines, offset: usize, encoding: Encoding) -> lsp::Position {
    let at = lines.position(text, offset, encoding);
    lsp::Position { line: at.line, character: at.column }
}

pub fn range(text: &str, lines: &Lines, span: &Range<usize>, encoding: Encoding) -> lsp::Range {
    let at = |offset| position(text, lines, offset, encoding);
    lsp::Range { start: at(span.start), end: at(span.end) }
}

/// The texts of an analysis, each cut into lines once.
pub struct Texts<'a> {
    analysis: &'a Analysis,
    encoding: Encoding,
    lines: BTreeMap<FileId, Lines>,
}

impl<'a> Texts<'a> {
    pub const fn of(analysis: &'a Analysis, encoding: Encoding) -> Self {
        Self { analysis, encoding, lines: BTreeMap::new() }
    }

    pub fn range(&mut self, file: FileId, span: &Range<usize>) -> lsp::Range {
        let lines = self.lines.entry(file).or_insert_with(|| text_of(self.analysis, file).1);
        range(self.analysis.sources.text(file), lines, span, self.encoding)
    }
}

/// What is to be said at a file; what has no place is said at the file that was looked at.
pub fn diagnostics(analysis: &Analysis, name: &str, documents: &Documents) -> Vec<lsp::Diagnostic> {
    let mut texts = Texts::of(analysis, documents.encoding);
    let here = analysis.findings.iter().filter(|finding| {
        let file = finding.span().unwrap_or_default().file;
        analysis.sources.name(file) == name
    });
    here.take(SHOWN)
        .filter_map(|finding| diagnostic(finding, name, analysis, &mut texts, documents))
        .collect()
}

/// A finding at the first of its places that is in a file.
pub fn diagnostic(
    finding: &Diagnostic,
    name: &str,
    analysis: &Analysis,
    texts: &mut Texts<'_>,
    documents: &Documents,
) -> Option<lsp::Diagnostic> {
    let of_file = |span: Span| analysis.sources.name(span.file) == name;
    let primary =
        finding.labels.iter().filter(|l| l.primary).chain(&finding.labels).find(|l| of_file(l.span));
    let span = primary.map(|l| l.span).or_else(|| finding.span().is_none().then(Span::default))?;
    let mut message = finding.message.clone();
    if let Some(label) = primary.filter(|l| !l.message.is_empty()) {
        message.push_str(&format!("\n{}", label.message));
    }
    for note in &finding.notes {
        message.push_str(&format!("\nnote: {note}"));
    }
    for help in finding.help.iter().chain(finding.fix.as_ref().map(|fix| &fix.message)) {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let mut related = Vec::new();
    for label in finding.labels.iter().filter(|l| documents.related && primary.is_some_and(|p| p != *l)) {
        if let Some(uri) = documents.uri(analysis.sources.name(label.span.file)) {
            let location = lsp::Location { uri, range: texts.range(label.span.file, &label.span.range()) };
            related.push(lsp::DiagnosticRelatedInformation { location, message: label.message.clone() });
        }
    }
    Some(lsp::Diagnostic {
        range: texts.range(span.file, &span.range()),
        severity: Some(match finding.severity {
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        }),
        code: Some(lsp::NumberOrString::String(finding.code.name().to_owned())),
        source: Some("purlin".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Default::default()
    })
}

pub fn item(item: Completion, range: lsp::Range, rank: usize) -> lsp::CompletionItem {
    let markdown = |value| {
        lsp::Documentation::MarkupContent(lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value })
    };
    lsp::CompletionItem {
        label: item.label,
        kind: Some(match item.kind {
            CompletionKind::Field => lsp::CompletionItemKind::FIELD,
            CompletionKind::Block => lsp::CompletionItemKind::STRUCT,
            CompletionKind::Word => lsp::CompletionItemKind::ENUM_MEMBER,
            CompletionKind::Name => lsp::CompletionItemKind::REFERENCE,
            CompletionKind::File => lsp::CompletionItemKind::FILE,
        }),
        detail: Some(item.detail).filter(|text| !text.is_empty()),
        documentation: Some(item.documentation).filter(|text| !text.is_empty()).map(markdown),
        sort_text: Some(format!("{rank:04}")),
        filter_text: Some(item.filter),
        insert_text_format: item.snippet.then_some(lsp::InsertTextFormat::SNIPPET),
        insert_text_mode: item.snippet.then_some(lsp::InsertTextMode::ADJUST_INDENTATION),
        text_edit: Some(lsp::CompletionTextEdit::Edit(lsp::TextEdit { range, new_text: item.insert })),
        ..Default::default()
    }
}

/// Recurses as deep as names stand in names.
pub fn symbol(symbol: Symbol, range: &dyn Fn(&Range<usize>) -> lsp::Range) -> lsp::DocumentSymbol {
    let children: Vec<_> = symbol.children.into_iter().map(|child| self::symbol(child, range)).collect();
    #[expect(deprecated, reason = "the struct has no default, and this field no other way to be left out")]
    lsp::DocumentSymbol {
        name: symbol.name,
        detail: None,
        kind: if symbol.section { lsp::SymbolKind::NAMESPACE } else { lsp::SymbolKind::OBJECT },
        tags: None,
        deprecated: None,
        range: range(&symbol.span),
        selection_range: range(&symbol.name_span),
        children: (!children.is_empty()).then_some(children),
    }
}

/// Changes of files by their names, in the form that the client takes.
pub fn workspace_edit(
    changes: BTreeMap<String, Vec<lsp::TextEdit>>,
    documents: &Documents,
) -> lsp::WorkspaceEdit {
    let with_uris =
        changes.into_iter().filter_map(|(name, edits)| Some((documents.uri(&name)?, name, edits)));
    if !documents.document_changes {
        let changes: HashMap<_, _> = with_uris.map(|(uri, _, edits)| (uri, edits)).collect();
        return lsp::WorkspaceEdit { changes: Some(changes), ..Default::default() };
    }
    let edits = with_uris.map(|(uri, name, edits)| lsp::TextDocumentEdit {
        text_document: lsp::OptionalVersionedTextDocumentIdentifier {
            uri,
            version: documents.get(&name).map(|open| open.version),
        },
        edits: edits.into_iter().map(lsp::OneOf::Left).collect(),
    });
    lsp::WorkspaceEdit {
        document_changes: Some(lsp::DocumentChanges::Edits(edits.collect())),
        ..Default::default()
    }
}
