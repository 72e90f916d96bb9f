//! Text to tree: the syntaxes of the spec, read into one [`Doc`] whose every key and value has its span.
//!
//! What a section may contain is known here only through the [`Schema`] and its annotations; nothing in this folder
//! may name a section or a field of one.

mod case;
mod de;
mod doc;
mod example;
mod format;
mod header;
mod include;
mod json;
mod kdl;
mod kind;
mod limits;
mod lower;
mod merge;
mod migrate;
mod misuse;
mod path;
mod reference;
mod scalar;
mod schema;
mod snippet;
mod surface;
mod tokens;
mod validate;
mod write;
mod yaml;

pub use case::kebab;
pub use de::{Error as ShapeError, from_value};
pub use doc::{Comment, Comments, Doc, Entry, Item, Kind, Value};
pub use format::{Rewritten, convert, format};
pub use header::{PART_KIND, is_part, make_whole};
pub use include::{Alone, Layer, Tree, includes, load, rename_includes, resolve as resolve_include};
pub use kdl::content as kdl_content;
pub use kind::in_words;
pub use limits::{Limits, decode};
pub use merge::{Yielded, merge};
pub use migrate::{Edit, Migration, migrate};
pub use path::{Astray, Located, Member, Path, Step, all_paths, locate, next_steps};
pub use reference::{Reference, document as kdl_document, to_reference, values_of};
pub use schema::{Schema, Shape};
pub use snippet::{Snippet, snippet};
pub use surface::{ENTRY, Field, Surface};
pub use tokens::{Lexeme, Quote, Token, Tokens};
pub use validate::{FormatCheck, Formats, SchemaError, Validator, since_fields};
pub use write::{to_json, to_kdl, to_yaml};

use crate::diag::{Code, Diagnostic, FileId, Findings, Sources, Span};

/// The syntax of a spec file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    #[default]
    Kdl,
    Yaml,
    Json,
}

impl Syntax {
    /// Whether a file named for this syntax may hold that one: JSON is YAML.
    fn reads(self, other: Self) -> bool {
        self == other || (self, other) == (Self::Yaml, Self::Json)
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Kdl => "kdl",
            Self::Yaml => "yaml",
            Self::Json => "json",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Kdl => "KDL",
            Self::Yaml => "YAML",
            Self::Json => "JSON",
        }
    }

    /// By the file name's extension.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "kdl" => Some(Self::Kdl),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Reads YAML that is no spec, such as a foreign file's, within the limits of one: what could be read, and whether that is
/// all that it says.
#[must_use]
pub fn foreign_yaml(text: &str) -> (Option<Value>, bool) {
    let mut sources = Sources::default();
    let file = sources.add("", text);
    let (limits, mut findings) = (Limits::default(), Findings::new());
    let read = limits.admit(text, file, Syntax::Yaml, &mut findings);
    let doc = read.then(|| yaml::parse(text, file, &limits, &mut findings)).flatten();
    (doc.map(|doc| doc.root), !findings.has_errors())
}

/// Reads one text into a tree. `None` when there is no tree to go on with; the findings then say why.
///
/// Limits come before any parser: see [`Limits`]. The tree's shape is not checked here beyond what the syntax needs.
pub fn parse(
    sources: &Sources,
    file: FileId,
    syntax: Syntax,
    schema: &Schema,
    findings: &mut Findings,
) -> Option<Doc> {
    let text = sources.text(file);
    let limits = Limits::default();
    if !limits.admit(text, file, syntax, findings) {
        return None;
    }
    if let Some(other) = looks_like(text, schema).filter(|other| !syntax.reads(*other)) {
        findings.push(misnamed(sources, file, syntax, other));
        return None;
    }
    let doc = match syntax {
        // KDL has the version word in a form of its own, and checks it as it reads.
        Syntax::Kdl => return kdl::parse(text, file, schema, &limits, findings),
        Syntax::Yaml => yaml::parse(text, file, &limits, findings),
        Syntax::Json => json::parse(text, file, findings),
    }?;
    header::check(&doc, syntax, findings)?;
    Some(doc)
}

/// The syntax that a spec's first line can only be of. None when it could be of several, or of none.
fn looks_like(text: &str, schema: &Schema) -> Option<Syntax> {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim);
    // A comment shows as well what the file is, but a shebang or a header of a tool may stand in any.
    let line = lines.find(|l| !l.is_empty() && !l.starts_with("//") && !l.starts_with('#') && *l != "---")?;
    if text.trim_start().strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('"')) {
        return Some(Syntax::Json);
    }
    let root = schema.root();
    let word = line.split(|c: char| !c.is_alphanumeric()).next()?;
    let rest = line[word.len()..].trim_start();
    if rest.starts_with(':') && root.property(word).is_some() {
        return Some(Syntax::Yaml);
    }
    let (version, node) = root.document()?;
    let part = root.part().unwrap_or(node);
    let value = rest.starts_with(|c: char| c == '"' || c == '{' || c.is_alphanumeric());
    (value && (word == version || word == node || word == part)).then_some(Syntax::Kdl)
}

fn misnamed(sources: &Sources, file: FileId, syntax: Syntax, other: Syntax) -> Diagnostic {
    let text = sources.text(file);
    let start = text.len() - text.trim_start_matches('\u{feff}').trim_start().len();
    let end = text[start..].find(char::is_whitespace).map_or(text.len(), |n| start + n);
    let name = sources.name(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    Diagnostic::new(Code::PUR0001, format!("this looks like {}, not {}", other.name(), syntax.name()))
        .at(Span::new(file, start, end), format!("{} begins so", other.name()))
        .note(format!("the ending of the file's name says that it is {}", syntax.name()))
        .help(format!("name the file `{stem}.{}`", other.ending()))
}
