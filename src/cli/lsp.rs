//! `purlin lsp`: what an editor may ask over the Language Server Protocol (3.17). Texts and files are kept here, on the shell's
//! side; the answers are src/editor's.

mod convert;
mod documents;
mod transport;

use super::{Outcome, Session};
use crate::diag::{Findings, Sources};
use crate::editor::{self, Analysis, Known, RenameError};
use crate::source::{self, Rewritten, Syntax, resolve_include};
use crate::spec::{schema, validator};
use clap::Args;
use convert::{Texts, diagnostics, item, range, symbol, workspace_edit};
use documents::{Documents, Open, name_of, offsets};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp_server::ls_types::{self as lsp, Uri};
use tower_lsp_server::{Client, LanguageServer, LspService};

/// A text in the layout of `fmt`; `None` of one that has it, or cannot be read.
fn laid_out(text: &str, syntax: Syntax) -> Option<String> {
    let mut sources = Sources::default();
    let file = sources.add("", text);
    match source::format(&sources, file, syntax, schema(), &mut Findings::new()) {
        Rewritten::Text(new) if new != text => Some(new),
        _ => None,
    }
}

/// How long a question waits for the newest text to be read. Its answer is then of the text before.
const PATIENCE: Duration = Duration::from_secs(2);
/// Files that are looked at for one completion.
const FILES: usize = 2000;
/// Changes that are offered for one place.
const ACTIONS: usize = 100;
/// Directories within each other that are looked into.
const DEPTH: usize = 6;

#[derive(Debug, Args)]
pub struct Lsp {
    /// The directory that holds the specs and all that they may include [default: each spec's own].
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// For editors that say how they talk; there is no other way.
    #[arg(long, hide = true)]
    stdio: bool,
}

impl Lsp {
    pub fn run(&self, _: &Session) -> Outcome {
        let tree = self.tree.as_deref().map(std::fs::canonicalize).transpose()?;
        // The first spec should not wait for the schema.
        let _ = std::thread::Builder::new().spawn(|| _ = validator());
        let (service, socket) = LspService::new(|client| Server {
            client,
            shared: Arc::new(Shared {
                documents: Mutex::new(Documents::new(tree)),
                work: Notify::new(),
                done: watch::Sender::new(0),
            }),
            ended: AtomicBool::new(false),
        });
        let service = transport::serve(service, socket)?;
        Ok(u8::from(!service.inner().ended.load(Ordering::Relaxed)))
    }
}

/// What the questions and the work in the background share.
struct Shared {
    documents: Mutex<Documents>,
    /// Something is to be looked at.
    work: Notify,
    /// Counts what was looked at.
    done: watch::Sender<u64>,
}

impl Shared {
    /// No one panics while holding it; if someone did, the texts would still be the editor's.
    fn documents(&self) -> MutexGuard<'_, Documents> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Server {
    client: Client,
    shared: Arc<Shared>,
    /// The client said goodbye.
    ended: AtomicBool,
}

/// Looks at what is new, the newest first, one after the other; a text that changes meanwhile is looked at again.
async fn work(
    shared: Arc<Shared>,
    client: Client,
    mut shown: BTreeMap<String, (Option<i32>, Vec<lsp::Diagnostic>)>,
) {
    loop {
        shared.work.notified().await;
        loop {
            let task = shared.documents().next();
            let Some(task) = task else { break };
            let looked = tokio::task::spawn_blocking(move || {
                let analysis = task.look();
                (task, analysis)
            });
            // It does not panic; if it did, there would be nothing to tell.
            let Ok((task, analysis)) = looked.await else { break };
            shared.documents().learn(&task, analysis);
            publish(&shared, &client, &mut shown).await;
            shared.done.send_modify(|count| *count += 1);
        }
        // What was closed has nothing to be looked at, but something to be taken back.
        publish(&shared, &client, &mut shown).await;
    }
}

/// Shows what is to be said of the files that are concerned.
async fn publish(
    shared: &Shared,
    client: &Client,
    shown: &mut BTreeMap<String, (Option<i32>, Vec<lsp::Diagnostic>)>,
) {
    let mut messages: Vec<(Uri, Vec<lsp::Diagnostic>, Option<i32>)> = Vec::new();
    {
        let mut documents = shared.documents();
        for name in std::mem::take(&mut documents.changed) {
            let Some(uri) = documents.uri(&name) else { continue };
            let open = documents.get(&name);
            let version = open.map(|open| open.version);
            let mut told: Vec<lsp::Diagnostic> = Vec::new();
            // A spec that knows a part as it was before is about to be looked at again, and says then what it has to say.
            for analysis in documents.specs_with(&name) {
                for diagnostic in diagnostics(&analysis, &name, &documents) {
                    if !told.contains(&diagnostic) {
                        told.push(diagnostic);
                    }
                }
            }
            let told = (version, told);
            let before = shown.get(&name);
            if before == Some(&told) || (before.is_none() && told.1.is_empty() && open.is_none()) {
                continue;
            }
            messages.push((uri, told.1.clone(), version));
            if told.1.is_empty() && open.is_none() {
                shown.remove(&name);
            } else {
                shown.insert(name, told);
            }
        }
    }
    for (uri, told, version) in messages {
        client.publish_diagnostics(uri, told, version).await;
    }
}

fn failed(message: String) -> Error {
    // RequestFailed (LSP 3.17): the request was sound, and cannot be met.
    Error { code: ErrorCode::ServerError(-32803), message: message.into(), data: None }
}

/// A document as a question finds it.
struct Asked {
    name: String,
    text: Arc<str>,
    lines: Arc<editor::Lines>,
    syntax: Syntax,
    offset: usize,
    encoding: editor::Encoding,
}

impl Asked {
    fn range(&self, span: &std::ops::Range<usize>) -> lsp::Range {
        range(&self.text, &self.lines, span, self.encoding)
    }
}

impl Server {
    fn changed(&self) {
        self.shared.work.notify_one();
    }

    /// The document and the offset in it; `None` of one that is not open, or not ours. An empty KDL text may become ours.
    fn asked(&self, uri: &Uri, at: lsp::Position) -> Option<Asked> {
        let documents = self.shared.documents();
        let name = name_of(uri);
        let open = documents.get(&name).filter(|open| concerns(open))?;
        let at = lsp::Range { start: at, end: at };
        let (offset, _) = offsets(&open.text, &open.lines, at, documents.encoding);
        Some(Asked {
            text: Arc::clone(&open.text),
            lines: Arc::clone(&open.lines),
            syntax: open.syntax,
            encoding: documents.encoding,
            offset,
            name,
        })
    }

    /// Waits until a document, or all of them, were looked at as they are now; not for ever.
    async fn settled(&self, of: Option<&Uri>) {
        let name = of.map(name_of);
        let mut done = self.shared.done.subscribe();
        let fresh = || {
            let documents = self.shared.documents();
            match &name {
                Some(name) => documents.get(name).is_none_or(Open::is_fresh),
                None => documents.iter().all(Open::is_fresh),
            }
        };
        let wait = async {
            while !fresh() {
                if done.changed().await.is_err() {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(PATIENCE, wait).await;
    }

    /// The name at the cursor, and the specs that it is a name of.
    fn name_at(&self, asked: &Asked) -> Option<(editor::Target, Vec<Arc<Analysis>>)> {
        let documents = self.shared.documents();
        let open = documents.get(&asked.name)?;
        let target = editor::target(&documents.spots(open), asked.offset)?;
        Some((target, documents.names(&asked.name)))
    }

    /// The places of a name, those where it is defined or all of them.
    fn places(&self, target: &editor::Target, specs: &[Arc<Analysis>], all: bool) -> Vec<lsp::Location> {
        let documents = self.shared.documents();
        let mut places: Vec<lsp::Location> = Vec::new();
        for spec in specs {
            let mut texts = Texts::of(spec, documents.encoding);
            for (file, span, _) in
                editor::occurrences(spec, target).into_iter().filter(|(.., defined)| *defined || all)
            {
                let Some(uri) = documents.uri(spec.sources.name(file)) else { continue };
                let place = lsp::Location { uri, range: texts.range(file, &span) };
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        places
    }

    /// The file that an include at the cursor names.
    fn included(&self, asked: &Asked) -> Option<lsp::Location> {
        let documents = self.shared.documents();
        let spots = documents.spots(documents.get(&asked.name)?);
        let spot = editor::at(&spots, asked.offset).filter(|spot| spot.include)?;
        let (dir, path) = documents.dir_of(&asked.name)?;
        let target = dir.join(resolve_include(&path, &spot.text, asked.syntax).ok()?);
        let name = target.display().to_string();
        if documents.get(&name).is_none() && !target.is_file() {
            return None;
        }
        Some(lsp::Location { uri: documents.uri(&name)?, range: lsp::Range::default() })
    }
}

fn concerns(open: &Open) -> bool {
    open.ours || (open.syntax == Syntax::Kdl && open.text.trim().is_empty())
}

/// The files that a document may include, as it would name them.
fn candidates(dir: &Path, path: &str, syntax: Syntax) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![(PathBuf::new(), 0)];
    let mut seen = 0;
    while let Some((below, depth)) = open.pop() {
        for entry in std::fs::read_dir(dir.join(&below)).into_iter().flatten().flatten() {
            seen += 1;
            if seen > FILES {
                return found.into_iter().collect();
            }
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.');
            let inner = below.join(&name);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !hidden && depth < DEPTH => open.push((inner, depth + 1)),
                Ok(kind) if !kind.is_dir() => {
                    let inner = inner.display().to_string();
                    if inner != path && Syntax::of(&inner) == Some(syntax) {
                        found.insert(relative(path, &inner));
                    }
                }
                _ => {}
            }
        }
    }
    found.into_iter().collect()
}

/// One path below the tree as a file at another names it.
fn relative(from: &str, to: &str) -> String {
    let mut from: Vec<&str> = from.split('/').collect();
    from.pop();
    let to: Vec<&str> = to.split('/').collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count().min(to.len() - 1);
    let up = std::iter::repeat_n("..", from.len() - shared);
    up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

impl LanguageServer for Server {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let can = params.capabilities;
        let utf8 = can.general.and_then(|g| g.position_encodings).unwrap_or_default();
        let utf8 = utf8.contains(&lsp::PositionEncodingKind::UTF8);
        let text = can.text_document.unwrap_or_default();
        let workspace = can.workspace.unwrap_or_default();
        {
            let mut documents = self.shared.documents();
            documents.encoding = if utf8 { editor::Encoding::Utf8 } else { editor::Encoding::Utf16 };
            let item = text.completion.and_then(|c| c.completion_item);
            documents.snippets = item.and_then(|i| i.snippet_support).unwrap_or_default();
            documents.related =
                text.publish_diagnostics.and_then(|p| p.related_information).unwrap_or_default();
            documents.document_changes =
                workspace.workspace_edit.and_then(|e| e.document_changes).unwrap_or_default();
            let watch = workspace.did_change_watched_files.and_then(|w| w.dynamic_registration);
            documents.watch = watch.unwrap_or_default();
        }
        let encoding = if utf8 { lsp::PositionEncodingKind::UTF8 } else { lsp::PositionEncodingKind::UTF16 };
        Ok(lsp::InitializeResult {
            capabilities: lsp::ServerCapabilities {
                position_encoding: Some(encoding),
                text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(
                    lsp::TextDocumentSyncOptions {
                        open_close: Some(true),
                        change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
                        save: Some(lsp::TextDocumentSyncSaveOptions::Supported(true)),
                        ..Default::default()
                    },
                )),
                completion_provider: Some(lsp::CompletionOptions {
                    trigger_characters: Some(["\"", "=", " ", "/"].map(str::to_owned).to_vec()),
                    ..Default::default()
                }),
                hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
                definition_provider: Some(lsp::OneOf::Left(true)),
                references_provider: Some(lsp::OneOf::Left(true)),
                document_symbol_provider: Some(lsp::OneOf::Left(true)),
                document_formatting_provider: Some(lsp::OneOf::Left(true)),
                rename_provider: Some(lsp::OneOf::Right(lsp::RenameOptions {
                    prepare_provider: Some(true),
                    work_done_progress_options: Default::default(),
                })),
                code_action_provider: Some(lsp::CodeActionProviderCapability::Options(
                    lsp::CodeActionOptions {
                        code_action_kinds: Some(vec![
                            lsp::CodeActionKind::QUICKFIX,
                            lsp::CodeActionKind::SOURCE_FIX_ALL,
                        ]),
                        ..Default::default()
                    },
                )),
                ..Default::default()
            },
            server_info: Some(lsp::ServerInfo {
                name: "purlin".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..Default::default()
        })
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        tokio::spawn(work(Arc::clone(&self.shared), self.client.clone(), BTreeMap::new()));
        self.changed();
        let watch = self.shared.documents().watch;
        if watch {
            let watchers = ["**/*.kdl", "**/*.yaml", "**/*.yml", "**/*.json"]
                .map(|glob| serde_json::json!({ "globPattern": glob }));
            let registration = lsp::Registration {
                id: "files".to_owned(),
                method: "workspace/didChangeWatchedFiles".to_owned(),
                register_options: Some(serde_json::json!({ "watchers": watchers })),
            };
            // A client that will not watch has us learn of other files when one is saved.
            let _ = self.client.register_capability(vec![registration]).await;
        }
    }

    async fn shutdown(&self) -> Result<()> {
        self.ended.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        let lsp::TextDocumentItem { uri, language_id, version, text } = params.text_document;
        self.shared.documents().open(uri, &language_id, version, text);
        self.changed();
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        let lsp::VersionedTextDocumentIdentifier { uri, version } = params.text_document;
        self.shared.documents().change(&uri, version, params.content_changes);
        self.changed();
    }

    async fn did_save(&self, _: lsp::DidSaveTextDocumentParams) {
        self.shared.documents().touch_all();
        self.changed();
    }

    async fn did_close(&self, params: lsp::DidCloseTextDocumentParams) {
        self.shared.documents().close(&params.text_document.uri);
        self.changed();
    }

    async fn did_change_watched_files(&self, _: lsp::DidChangeWatchedFilesParams) {
        self.shared.documents().touch_all();
        self.changed();
    }

    async fn completion(&self, params: lsp::CompletionParams) -> Result<Option<lsp::CompletionResponse>> {
        let at = params.text_document_position;
        let Some(asked) = self.asked(&at.text_document.uri, at.position) else { return Ok(None) };
        let (snippets, specs, place) = {
            let documents = self.shared.documents();
            (documents.snippets, documents.names(&asked.name), documents.dir_of(&asked.name))
        };
        let work = move || {
            let names = |collection: &[String]| {
                let all = specs.iter().flat_map(|spec| editor::names(spec, collection));
                all.collect::<BTreeSet<String>>().into_iter().collect()
            };
            let files = || match &place {
                Some((dir, path)) => candidates(dir, path, asked.syntax),
                None => Vec::new(),
            };
            let known = Known { names: &names, files: &files, snippets };
            let (span, items) = editor::complete(&asked.text, asked.offset, asked.syntax, schema(), &known)?;
            let span = asked.range(&span);
            let items = items.into_iter().enumerate().map(|(rank, it)| item(it, span, rank)).collect();
            Some(lsp::CompletionResponse::List(lsp::CompletionList { is_incomplete: false, items }))
        };
        Ok(tokio::task::spawn_blocking(work).await.ok().flatten())
    }

    async fn hover(&self, params: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        let at = params.text_document_position_params;
        let Some(asked) = self.asked(&at.text_document.uri, at.position) else { return Ok(None) };
        let documents = self.shared.documents();
        let Some(open) = documents.get(&asked.name) else { return Ok(None) };
        let specs = if open.is_fresh() { documents.specs_with(&asked.name) } else { Vec::new() };
        let spots = documents.spots(open);
        drop(documents);
        let mut findings = Vec::new();
        for spec in &specs {
            let file = spec.file(&asked.name).map(|file| file.id).unwrap_or_default();
            findings.extend(spec.findings.iter().map(|finding| (file, finding)));
        }
        let told = editor::hover(&asked.text, asked.offset, asked.syntax, schema(), &spots, &findings);
        Ok(told.map(|(span, value)| lsp::Hover {
            contents: lsp::HoverContents::Markup(lsp::MarkupContent {
                kind: lsp::MarkupKind::Markdown,
                value,
            }),
            range: Some(asked.range(&span)),
        }))
    }

    async fn goto_definition(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        let at = params.text_document_position_params;
        self.settled(Some(&at.text_document.uri)).await;
        let Some(asked) = self.asked(&at.text_document.uri, at.position) else { return Ok(None) };
        if let Some(file) = self.included(&asked) {
            return Ok(Some(lsp::GotoDefinitionResponse::Scalar(file)));
        }
        let places = self.name_at(&asked).map(|(target, specs)| self.places(&target, &specs, false));
        Ok(places.filter(|places| !places.is_empty()).map(lsp::GotoDefinitionResponse::Array))
    }

    async fn references(&self, params: lsp::ReferenceParams) -> Result<Option<Vec<lsp::Location>>> {
        let at = params.text_document_position;
        self.settled(None).await;
        let Some(asked) = self.asked(&at.text_document.uri, at.position) else { return Ok(None) };
        let Some((target, specs)) = self.name_at(&asked) else { return Ok(None) };
        let mut places = self.places(&target, &specs, true);
        if !params.context.include_declaration {
            let defined = self.places(&target, &specs, false);
            places.retain(|place| !defined.contains(place));
        }
        Ok(Some(places))
    }

    async fn prepare_rename(
        &self,
        params: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        let Some(asked) = self.asked(&params.text_document.uri, params.position) else { return Ok(None) };
        Ok(self.name_at(&asked).map(|(target, _)| {
            // Without the quotes, for whoever types a name types none.
            let written = asked.text.get(target.span.clone()).unwrap_or_default();
            let inner = written.find(&target.name).map_or(target.span.clone(), |n| {
                target.span.start + n..target.span.start + n + target.name.len()
            });
            lsp::PrepareRenameResponse::RangeWithPlaceholder {
                range: asked.range(&inner),
                placeholder: target.name,
            }
        }))
    }

    async fn rename(&self, params: lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
        let at = params.text_document_position;
        self.settled(None).await;
        let Some(asked) = self.asked(&at.text_document.uri, at.position) else {
            return Err(failed(RenameError::NoName.to_string()));
        };
        let documents = self.shared.documents();
        if documents.iter().any(|open| open.ours && !open.is_fresh()) {
            return Err(Error {
                code: ErrorCode::ContentModified,
                message: "the texts have changed; try again".into(),
                data: None,
            });
        }
        let specs = documents.specs();
        // The document's own spec first: its name may be a part's that others include, too.
        let own = documents.specs_with(&asked.name);
        let rest = specs.iter().filter(|spec| !own.iter().any(|o| Arc::ptr_eq(o, spec)));
        let ordered: Vec<&Analysis> = own.iter().chain(rest).map(AsRef::as_ref).collect();
        let edits = editor::rename(&ordered, &asked.name, asked.offset, &params.new_name)
            .map_err(|error| failed(error.to_string()))?;
        let mut changes = BTreeMap::new();
        for (name, edits) in edits {
            let spec = ordered.iter().find_map(|spec| Some((spec, spec.file(&name)?.id)));
            let Some((spec, file)) = spec else { continue };
            let mut texts = Texts::of(spec, documents.encoding);
            let edits = edits.into_iter().map(|edit| lsp::TextEdit {
                range: texts.range(file, &(edit.start..edit.end)),
                new_text: edit.replacement,
            });
            changes.insert(name, edits.collect());
        }
        Ok(Some(workspace_edit(changes, &documents)))
    }

    async fn code_action(&self, params: lsp::CodeActionParams) -> Result<Option<lsp::CodeActionResponse>> {
        self.settled(Some(&params.text_document.uri)).await;
        let Some(asked) = self.asked(&params.text_document.uri, params.range.start) else { return Ok(None) };
        let documents = self.shared.documents();
        let Some(open) = documents.get(&asked.name).filter(|open| open.is_fresh()) else { return Ok(None) };
        let (start, end) = offsets(&open.text, &open.lines, params.range, documents.encoding);
        let only = params.context.only;
        let wants = |kind: &lsp::CodeActionKind| {
            let within = |asked: &lsp::CodeActionKind| {
                let (asked, kind) = (asked.as_str(), kind.as_str());
                kind == asked || kind.strip_prefix(asked).is_some_and(|rest| rest.starts_with('.'))
            };
            only.as_ref().is_none_or(|only| only.iter().any(within))
        };
        let mut actions: Vec<lsp::CodeAction> = Vec::new();
        let mut all: Vec<lsp::TextEdit> = Vec::new();
        for spec in documents.specs_with(&asked.name) {
            let Some(file) = spec.file(&asked.name).map(|file| file.id) else { continue };
            let mut texts = Texts::of(&spec, documents.encoding);
            for (finding, fix) in editor::fixes(&spec, file, &(start..end)).into_iter().take(ACTIONS) {
                let edit = lsp::TextEdit {
                    range: texts.range(fix.span.file, &fix.span.range()),
                    new_text: fix.replacement.clone(),
                };
                let changes = BTreeMap::from([(spec.sources.name(fix.span.file).to_owned(), vec![edit])]);
                let action = lsp::CodeAction {
                    title: fix.message.clone(),
                    kind: Some(lsp::CodeActionKind::QUICKFIX),
                    diagnostics: convert::diagnostic(finding, &asked.name, &spec, &mut texts, &documents)
                        .map(|d| vec![d]),
                    edit: Some(workspace_edit(changes, &documents)),
                    is_preferred: Some(fix.certain),
                    ..Default::default()
                };
                if !actions.contains(&action) {
                    actions.push(action);
                }
            }
            let certain = editor::certain_fixes(&spec, file);
            // Of two specs with one part the one that knows more to mend.
            if certain.len() > all.len() {
                let edit = |fix: &crate::diag::Fix| lsp::TextEdit {
                    range: texts.range(file, &fix.span.range()),
                    new_text: fix.replacement.clone(),
                };
                all = certain.into_iter().map(edit).collect();
            }
        }
        actions.retain(|_| wants(&lsp::CodeActionKind::QUICKFIX));
        if !all.is_empty() && wants(&lsp::CodeActionKind::SOURCE_FIX_ALL) {
            actions.push(lsp::CodeAction {
                title: "make all changes that are certain".to_owned(),
                kind: Some(lsp::CodeActionKind::SOURCE_FIX_ALL),
                edit: Some(workspace_edit(BTreeMap::from([(asked.name.clone(), all)]), &documents)),
                ..Default::default()
            });
        }
        Ok(Some(actions.into_iter().map(lsp::CodeActionOrCommand::CodeAction).collect()))
    }

    async fn document_symbol(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<lsp::DocumentSymbolResponse>> {
        let Some(asked) = self.asked(&params.text_document.uri, lsp::Position::default()) else {
            return Ok(None);
        };
        let documents = self.shared.documents();
        let Some(open) = documents.get(&asked.name) else { return Ok(None) };
        let symbols = editor::symbols(&documents.spots(open));
        Ok(Some(lsp::DocumentSymbolResponse::Nested(
            symbols.into_iter().map(|s| symbol(s, &|span| asked.range(span))).collect(),
        )))
    }

    async fn formatting(&self, params: lsp::DocumentFormattingParams) -> Result<Option<Vec<lsp::TextEdit>>> {
        let Some(asked) = self.asked(&params.text_document.uri, lsp::Position::default()) else {
            return Ok(None);
        };
        let work = move || {
            let new_text = laid_out(&asked.text, asked.syntax)?;
            Some(vec![lsp::TextEdit { range: asked.range(&(0..asked.text.len())), new_text }])
        };
        Ok(tokio::task::spawn_blocking(work).await.ok().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_where_they_are_included() {
        for (from, to, name) in [
            ("a.kdl", "b.kdl", "b.kdl"),
            ("nodes/a.kdl", "nodes/parts/b.kdl", "parts/b.kdl"),
            ("nodes/a.kdl", "parts/b.kdl", "../parts/b.kdl"),
            ("x/y/a.kdl", "b.kdl", "../../b.kdl"),
        ] {
            assert_eq!(relative(from, to), name);
            assert_eq!(resolve_include(from, name, Syntax::Kdl).unwrap(), to);
        }
    }
}
