//! The texts that are open in the editor, and what is known of each.

use super::super::tree::Files;
use crate::diag::FileId;
use crate::editor::{Analysis, Encoding, Lines, Position, Spot, is_spec, look, spots};
use crate::source::{Alone, Syntax, Tree};
use crate::spec::schema;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use tower_lsp_server::ls_types::{Range, TextDocumentContentChangeEvent, Uri};

/// A text in the editor.
pub struct Open {
    pub uri: Uri,
    pub text: Arc<str>,
    pub lines: Arc<Lines>,
    pub version: i32,
    pub syntax: Syntax,
    /// It says that it is a spec or a part.
    pub ours: bool,
    /// Counts what it needs to be looked at anew for.
    wanted: u64,
    /// What of that the analysis knows.
    known: u64,
    pub analysis: Option<Arc<Analysis>>,
    /// The last one in which every text could be read.
    pub whole: Option<Arc<Analysis>>,
}

impl Open {
    /// All is known of it that is to be known; of what is not ours that is nothing.
    pub const fn is_fresh(&self) -> bool {
        !self.ours || self.wanted == self.known
    }
}

/// What an analysis is to be made of.
pub struct Task {
    pub name: String,
    text: Arc<str>,
    syntax: Syntax,
    wanted: u64,
    tree: Option<(Overlay, String)>,
}

impl Task {
    /// Reads and compiles; to be run where blocking does no harm.
    pub fn look(&self) -> Analysis {
        match &self.tree {
            Some((tree, path)) => look(&self.name, &self.text, path, self.syntax, tree),
            None => look(&self.name, &self.text, "", self.syntax, &Alone),
        }
    }
}

/// Files on disk, with those that are open as they are in the editor.
struct Overlay {
    files: Files,
    open: BTreeMap<String, Arc<str>>,
}

impl Tree for Overlay {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match self.open.get(&self.name(path)) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.files.read(path),
        }
    }

    fn name(&self, path: &str) -> String {
        self.files.name(path)
    }
}

#[derive(Default)]
pub struct Documents {
    pub encoding: Encoding,
    pub snippets: bool,
    pub document_changes: bool,
    pub watch: bool,
    pub related: bool,
    /// The directory that holds specs and what they include, when it was named.
    tree: Option<PathBuf>,
    open: BTreeMap<String, Open>,
    /// Where someone types.
    latest: String,
    /// Files whose findings are to be shown anew.
    pub changed: BTreeSet<String>,
}

/// What names a document: its path, or its URI when it is no file.
pub fn name_of(uri: &Uri) -> String {
    match uri.to_file_path().filter(|_| uri.scheme().as_str() == "file") {
        Some(path) => plain(&path).display().to_string(),
        None => uri.as_str().to_owned(),
    }
}

/// The path without dots, as includes are resolved.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for step in path.components() {
        match step {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            step => plain.push(step),
        }
    }
    plain
}

impl Documents {
    pub fn new(tree: Option<PathBuf>) -> Self {
        Self { tree, ..Self::default() }
    }

    pub fn get(&self, name: &str) -> Option<&Open> {
        self.open.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Open> {
        self.open.values()
    }

    pub fn open(&mut self, uri: Uri, language: &str, version: i32, text: String) {
        let name = name_of(&uri);
        let syntax = Syntax::of(&name).or(match language {
            "kdl" => Some(Syntax::Kdl),
            "yaml" => Some(Syntax::Yaml),
            "json" | "jsonc" => Some(Syntax::Json),
            _ => None,
        });
        let Some(syntax) = syntax else { return };
        let open = Open {
            uri,
            lines: Arc::new(Lines::of(&text)),
            ours: is_spec(&text, syntax, schema()),
            text: text.into(),
            version,
            syntax,
            wanted: 0,
            known: 0,
            analysis: None,
            whole: None,
        };
        self.open.insert(name.clone(), open);
        self.touch(&name);
        self.latest = name;
    }

    /// Applies changes in their order; of a document that is not open there is nothing to change.
    pub fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let (name, encoding) = (name_of(uri), self.encoding);
        let Some(open) = self.open.get_mut(&name) else { return };
        let mut text = open.text.to_string();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let lines = Lines::of(&text);
                    let (start, end) = offsets(&text, &lines, range, encoding);
                    text.replace_range(start..end, &change.text);
                }
            }
        }
        open.lines = Arc::new(Lines::of(&text));
        let before = std::mem::replace(&mut open.ours, is_spec(&text, open.syntax, schema()));
        if before && !open.ours {
            self.changed.extend(open.analysis.iter().flat_map(|a| files(a)));
        }
        open.text = text.into();
        open.version = version;
        self.touch(&name);
        self.latest = name;
    }

    pub fn close(&mut self, uri: &Uri) {
        let name = name_of(uri);
        if let Some(open) = self.open.remove(&name) {
            self.changed.insert(name.clone());
            self.changed.extend(open.analysis.iter().flat_map(|a| files(a)));
            self.touch(&name);
        }
    }

    /// Something about a file is new: it and every spec that takes it in are to be looked at again.
    fn touch(&mut self, name: &str) {
        for (other, open) in &mut self.open {
            let concerned = other == name
                || open
                    .analysis
                    .as_ref()
                    .is_some_and(|a| !a.read || a.file(name).is_some() || cannot_follow(a));
            open.wanted += u64::from(concerned);
        }
    }

    /// Anything on disk may be new.
    pub fn touch_all(&mut self) {
        self.open.values_mut().for_each(|open| open.wanted += 1);
    }

    /// The next document to look at, first the one in which someone types.
    pub fn next(&mut self) -> Option<Task> {
        let stale = |name: &String| self.open.get(name).is_some_and(|open| !open.is_fresh());
        let name = std::iter::once(&self.latest).chain(self.open.keys()).find(|name| stale(name))?.clone();
        let tree = self.tree_of(&name);
        let open = self.open.get_mut(&name)?;
        Some(Task { text: Arc::clone(&open.text), syntax: open.syntax, wanted: open.wanted, tree, name })
    }

    fn tree_of(&self, name: &str) -> Option<(Overlay, String)> {
        let (dir, below) = self.dir_of(name)?;
        let open = self.open.iter().map(|(name, open)| (name.clone(), Arc::clone(&open.text))).collect();
        Some((Overlay { files: Files::below(dir), open }, below))
    }

    /// The directory that a document may include files of, and its own path below it.
    pub fn dir_of(&self, name: &str) -> Option<(PathBuf, String)> {
        let path = Path::new(name);
        let dir = path.is_absolute().then(|| path.parent())??;
        let below =
            |dir: &Path| Some((dir.to_path_buf(), path.strip_prefix(dir).ok()?.display().to_string()));
        self.tree.as_deref().and_then(below).or_else(|| below(dir))
    }

    /// Takes in what came of a task, unless it is out of date by now.
    pub fn learn(&mut self, task: &Task, analysis: Analysis) {
        // A file that another editor window changed while it was read has the spec looked at again.
        let same = analysis.files.iter().all(|file| {
            let open = self.open.get(analysis.sources.name(file.id));
            open.is_none_or(|open| *open.text == *analysis.sources.text(file.id))
        });
        let Some(open) = self.open.get_mut(&task.name) else { return };
        if open.wanted != task.wanted || !same {
            open.wanted += u64::from(open.wanted == task.wanted);
            return;
        }
        self.changed.extend(open.analysis.iter().flat_map(|a| files(a)));
        self.changed.extend(files(&analysis));
        let analysis = Arc::new(analysis);
        if analysis.read {
            open.whole = Some(Arc::clone(&analysis));
        }
        open.analysis = Some(analysis);
        open.known = task.wanted;
    }

    /// What is known of the specs that a file is part of, its own first; only of those that say that they are ours.
    fn around(&self, name: &str) -> Vec<Arc<Analysis>> {
        let own = self.open.get(name);
        let others = self.open.iter().filter(|(other, _)| *other != name).map(|(_, open)| open);
        let told =
            own.into_iter().chain(others).filter(|open| open.ours).filter_map(|open| open.analysis.as_ref());
        told.filter(|analysis| analysis.file(name).is_some()).map(Arc::clone).collect()
    }

    /// The same, of those that know the file as it is now, so that places in it are right.
    pub fn specs_with(&self, name: &str) -> Vec<Arc<Analysis>> {
        let mut specs = self.around(name);
        specs.retain(|spec| {
            let known = spec.file(name).map(|file| spec.sources.text(file.id));
            self.open.get(name).is_none_or(|open| known == Some(&*open.text))
        });
        specs
    }

    /// All that is known.
    pub fn specs(&self) -> Vec<Arc<Analysis>> {
        let ours = self.open.values().filter(|open| open.ours);
        ours.filter_map(|open| open.analysis.as_ref()).map(Arc::clone).collect()
    }

    /// What is known of the specs that a file is part of, also as they were before a text broke: names stay what they are.
    pub fn names(&self, name: &str) -> Vec<Arc<Analysis>> {
        let mut specs = self.around(name);
        specs.extend(self.open.get(name).and_then(|open| open.whole.clone()));
        specs
    }

    /// The spots of a document as it is now.
    pub fn spots(&self, open: &Open) -> Vec<Spot<'static>> {
        let fresh = open.analysis.as_ref().filter(|_| open.is_fresh());
        match fresh.and_then(|analysis| analysis.files.first()) {
            Some(file) => file.spots.clone(),
            None => spots(&open.text, open.syntax, schema()),
        }
    }

    /// The URI of a file: the client's own where it is open.
    pub fn uri(&self, name: &str) -> Option<Uri> {
        if let Some(open) = self.open.get(name) {
            return Some(open.uri.clone());
        }
        if Path::new(name).is_absolute() { Uri::from_file_path(name) } else { Uri::from_str(name).ok() }
    }
}

/// The names of the files of an analysis.
fn files(analysis: &Analysis) -> Vec<String> {
    analysis.files.iter().map(|file| analysis.sources.name(file.id).to_owned()).collect()
}

/// Whether an include leads nowhere so far: the file may come.
fn cannot_follow(analysis: &Analysis) -> bool {
    analysis.findings.iter().any(|finding| finding.code == crate::diag::Code::PUR0007)
}

/// A range of the protocol as bytes; one that runs backwards is empty.
pub fn offsets(text: &str, lines: &Lines, range: Range, encoding: Encoding) -> (usize, usize) {
    let at = |p: tower_lsp_server::ls_types::Position| {
        lines.offset(text, Position { line: p.line, column: p.character }, encoding)
    };
    let start = at(range.start);
    (start, at(range.end).max(start))
}

/// The text of a file of an analysis, with its lines.
pub fn text_of(analysis: &Analysis, file: FileId) -> (&str, Lines) {
    let text = analysis.sources.text(file);
    (text, Lines::of(text))
}
