//! KDL 2 text to nodes, with the comments that belong to each.
//!
//! The `kdl` crate reads each literal by itself, and the structure from an outline in which comments and disabled nodes
//! are left out and every word or literal is one letter. It recurses on comments and `/-`, and after a mistake it goes
//! on inside literals, where each brace costs it stack; so it sees a literal only where nothing else can be read. Its
//! time grows with each byte, too, and an outline is short. What a node means is `lower.rs`'s matter.

use super::doc::{Comment, Comments, Doc, Kind};
use super::limits::{Limits, after_mark};
use super::lower;
use super::schema::Schema;
use super::tokens::{Lexeme, Quote, Token, Tokens, is_newline};
use crate::diag::{Code, Diagnostic, FileId, Findings, Span, Spanned};
use kdl::{KdlDiagnostic, KdlDocument, KdlEntry, KdlError, KdlIdentifier, KdlNode, KdlValue};
use std::collections::{BTreeMap, BTreeSet};

/// The parser's stack. It recurses a few kilobytes per level of blocks; this is far more than the limits admit.
const STACK: usize = 64 << 20;

/// Reads a file that [`Limits`] admitted.
pub fn parse(
    text: &str,
    file: FileId,
    schema: &Schema,
    limits: &Limits,
    findings: &mut Findings,
) -> Option<Doc> {
    let document = read(text, file, findings)?;
    lower::lower(document, text, schema, limits, findings)
}

/// The nodes of a file or block, and the comments after the last one.
#[derive(Debug, Default)]
pub struct Block {
    pub nodes: Vec<Node>,
    pub end: Vec<Comment>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Node {
    pub name: Spanned<String>,
    pub arguments: Vec<Literal>,
    pub properties: Vec<(Spanned<String>, Literal)>,
    pub children: Option<Block>,
    /// From the name to the last argument or the closing brace.
    pub span: Span,
    /// From the name to the last argument.
    pub header: Span,
    pub comments: Comments,
}

/// A value as it is written.
#[derive(Clone, Debug)]
pub struct Literal {
    pub span: Span,
    pub kind: Kind,
    /// A string without quotes, with its own words: `true` and the like are no strings, but look like ones.
    pub bare: bool,
    pub quote: Option<Quote>,
}

fn read(text: &str, file: FileId, findings: &mut Findings) -> Option<Block> {
    let mut mistakes = Vec::new();
    let layout = Layout::of(text, file, &mut mistakes, findings);
    let mut block = None;
    match structure(&layout.outline, layout.depth) {
        Some(Ok(document)) => {
            let mut convert =
                Convert { layout: &layout, text, file, next_comment: 0, mistakes: &mut mistakes };
            block = Some(Block {
                span: Span::new(file, after_mark(text), text.len()),
                ..convert.block(&document, 0, text.len())
            });
        }
        Some(Err(error)) => layout.explain(&error.diagnostics, &mut mistakes),
        None => mistakes.push(
            Diagnostic::new(Code::PUR0001, "the KDL parser failed on this text")
                .at(Span::new(file, 0, 0), "somewhere in this file")
                .help("report this with the file; it is a fault of the program"),
        ),
    }
    let sound = mistakes.is_empty();
    mistakes.into_iter().for_each(|d| findings.push(d));
    block.filter(|_| sound)
}

/// Blocks in blocks that any thread's stack has room for, so that a text as people write it costs no thread.
const SHALLOW: usize = 16;

/// Parses on a thread with a large stack where blocks stand deep in each other. `None` when the parser panicked there.
fn structure(outline: &str, depth: usize) -> Option<Result<KdlDocument, KdlError>> {
    if depth <= SHALLOW {
        return Some(KdlDocument::parse(outline));
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("kdl".to_owned()).stack_size(STACK);
        match builder.spawn_scoped(scope, || KdlDocument::parse(outline)) {
            Ok(thread) => thread.join().ok(),
            // No thread to be had: the limits alone must do.
            Err(_) => Some(KdlDocument::parse(outline)),
        }
    })
}

/// The text's tokens, and what they tell without a parser.
struct Layout<'a> {
    text: &'a str,
    file: FileId,
    lexemes: Vec<Lexeme>,
    /// The text for the parser.
    outline: String,
    /// The lexeme that each byte of the outline stands for; of a space, the one after it.
    stands_for: Vec<usize>,
    /// In order of the opening brace.
    braces: Vec<(usize, usize)>,
    /// How deep blocks stand in each other.
    depth: usize,
    /// In order of their places.
    comments: Vec<Comment>,
    /// Words and quoted literals that are sound, in order of their places.
    atoms: Vec<Literal>,
    /// What the parser made of words: most texts say a few of them again and again.
    words: BTreeMap<&'a str, Kind>,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str, file: FileId, mistakes: &mut Vec<Diagnostic>, findings: &mut Findings) -> Self {
        let base = after_mark(text);
        let mut layout = Self {
            text,
            file,
            lexemes: Tokens::new(text, base).collect(),
            outline: String::new(),
            stands_for: Vec::new(),
            braces: Vec::new(),
            depth: 0,
            comments: Vec::new(),
            atoms: Vec::new(),
            words: BTreeMap::new(),
        };
        let mut open: Vec<usize> = Vec::new();
        let mut before_node = true;
        let mut site = Site::Node;
        // A stray sign of this line has been told.
        let mut told = false;
        // A `;` would end a disabled node, and nothing that the parser sees.
        let mut hollow = false;
        // Where the last lexeme of the outline ends: what does not touch there does not touch in the outline.
        let mut drawn = base;
        let mut i = 0;
        while let Some(&lexeme) = layout.lexemes.get(i) {
            let Lexeme { token, start, end } = lexeme;
            i += 1;
            if hollow && token == Token::Semicolon {
                hollow = false;
                continue;
            }
            hollow &= matches!(token, Token::BlockComment { .. });
            match token {
                Token::LineComment => {
                    layout.comment(start + 2, end, start..end);
                }
                Token::BlockComment { closed, .. } => {
                    if closed {
                        layout.comment(start + 2, end - 2, start..end);
                    } else {
                        mistakes.push(
                            Diagnostic::new(Code::PUR0001, "a comment is never closed")
                                .at(layout.span(start, start + 2), "it begins here")
                                .help("close it with `*/`; each `/*` within it needs one of its own"),
                        );
                    }
                }
                Token::SlashDash => {
                    let touching = layout.touching(i - 1).is_some();
                    let after = layout.disabled(i, before_node);
                    if touching || after == i {
                        let message = if touching {
                            "a `/-` touches the word before it"
                        } else {
                            "a `/-` disables nothing"
                        };
                        mistakes.push(
                            Diagnostic::new(Code::PUR0001, message)
                                .at(layout.span(start, end), "here")
                                .help("put a space before it, and what it disables after it; a path stands in quotes"),
                        );
                    }
                    // Disabled nodes are no part of the tree. Their text is kept as a comment, so that a rewritten
                    // file still has it.
                    let end = layout.lexemes[after - 1].end;
                    layout.comment(start, end, start..end);
                    i = after;
                    hollow = before_node;
                }
                Token::Open => {
                    open.push(layout.braces.len());
                    layout.depth = layout.depth.max(open.len());
                    layout.braces.push((start, text.len()));
                    before_node = true;
                }
                Token::Close => {
                    if let Some(index) = open.pop() {
                        layout.braces[index].1 = start;
                    }
                    before_node = true;
                }
                Token::Newline | Token::Semicolon => before_node = true,
                Token::ParenOpen => {
                    if let [
                        Lexeme { token: Token::Word | Token::Quoted(_), .. },
                        Lexeme { token: Token::ParenClose, end, .. },
                        ..,
                    ] = layout.lexemes[i..]
                    {
                        // KDL has them before nodes and values, and an operator may think of other places.
                        findings.push(
                            Diagnostic::new(Code::PUR0107, "a spec has no type annotations")
                                .at(layout.span(start, end), "annotation")
                                .help("remove the parentheses and what is in them"),
                        );
                        i += 2;
                        continue;
                    }
                }
                Token::Word | Token::Quoted(_) => {
                    before_node = false;
                    let atom = layout.atom(lexeme, mistakes);
                    layout.atoms.extend(atom);
                    mistakes.extend(layout.touching(i - 1));
                }
                _ => {}
            }
            let stray = match token {
                Token::Newline => {
                    told = false;
                    false
                }
                Token::Equals => !(site == Site::Entry && layout.value_follows(i)),
                Token::Backslash => !layout.newline_follows(i),
                Token::ParenOpen | Token::ParenClose | Token::Other => true,
                _ => false,
            };
            // What mends the outline here, so that the parser goes on as if nothing were wrong.
            let mend = match token {
                Token::Open if site == Site::Node => Some(";x"),
                Token::Word | Token::Quoted(_) if layout.outline.ends_with('}') => Some(";"),
                _ => None,
            };
            if let Some(mend) = mend {
                let (message, help) = sign(token, "");
                mistakes.push(layout.mistake(lexeme, message.to_owned(), help));
                layout.draw(mend, i - 1);
            }
            site = site.after(token);
            if stray {
                // One sign tells as much about a line as all of them.
                if !told {
                    let (message, help) = sign(token, &text[start..end]);
                    mistakes.push(layout.mistake(lexeme, message.to_owned(), help));
                }
                told = true;
                continue;
            }
            if let Some(shown) = outlined(token, &text[start..end]) {
                if drawn < start {
                    layout.draw(" ", i - 1);
                }
                layout.draw(shown, i - 1);
                drawn = end;
            }
        }
        for index in &open {
            let at = layout.braces[*index].0;
            mistakes.push(
                Diagnostic::new(Code::PUR0001, "a block is never closed")
                    .at(layout.span(at, at + 1), "it is opened here")
                    .help("close it with `}`"),
            );
        }
        for _ in open {
            layout.draw("}", layout.lexemes.len());
        }
        layout
    }

    fn draw(&mut self, shown: &str, lexeme: usize) {
        self.outline.push_str(shown);
        self.stands_for.extend(std::iter::repeat_n(lexeme, shown.len()));
    }

    /// What a byte of the outline stands for.
    fn lexeme_at(&self, outlined: usize) -> Lexeme {
        let end = Lexeme { token: Token::Newline, start: self.text.len(), end: self.text.len() };
        self.stands_for.get(outlined).and_then(|index| self.lexemes.get(*index)).copied().unwrap_or(end)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    /// The lines of a comment, each without the decoration of a block comment; blank ones are layout.
    fn comment(&mut self, start: usize, end: usize, whole: std::ops::Range<usize>) {
        let single = !self.text[start..end].contains(is_newline);
        let mut at = start;
        for line in self.text[start..end].split_inclusive(is_newline) {
            let mut words = line.trim();
            if at > start && (words == "*" || words.starts_with("* ")) {
                words = words[1..].trim_start();
            }
            let (first, last) = (at, at + line.trim_end().len());
            at += line.len();
            let span =
                if single { self.span(whole.start, whole.end) } else { self.span(first, last.max(first)) };
            if single || !words.is_empty() {
                self.comments.push(Comment { text: words.to_owned(), span });
            }
        }
        if start == end {
            self.comments.push(Comment { text: String::new(), span: self.span(whole.start, whole.end) });
        }
    }

    /// Whether a property's value comes next, with or without an annotation.
    fn value_follows(&self, from: usize) -> bool {
        let is_value = |l: &Lexeme| matches!(l.token, Token::Word | Token::Quoted(_));
        let joins = |l: &&Lexeme| {
            !matches!(l.token, Token::BlockComment { .. } | Token::Backslash | Token::Continuation)
        };
        let mut rest = self.lexemes[from..].iter().filter(joins);
        match rest.next() {
            Some(l) if l.token == Token::ParenOpen => rest.nth(2).is_some_and(is_value),
            next => next.is_some_and(is_value),
        }
    }

    /// Whether a backslash joins its line to the next one, or to nothing at the text's end.
    fn newline_follows(&self, from: usize) -> bool {
        let comment = |l: &&Lexeme| matches!(l.token, Token::LineComment | Token::BlockComment { .. });
        self.lexemes[from..].iter().find(|l| !comment(l)).is_none_or(|l| l.token == Token::Continuation)
    }

    /// The index after the last token of what a `/-` disables: a node, or one argument, property or block of one.
    fn disabled(&self, from: usize, before_node: bool) -> usize {
        let mut i = from;
        let trivia = |t: Token| {
            matches!(
                t,
                Token::Newline
                    | Token::Continuation
                    | Token::Backslash
                    | Token::LineComment
                    | Token::BlockComment { .. }
                    | Token::SlashDash
            )
        };
        let token = |i: usize| self.lexemes.get(i).map(|l| l.token);
        while token(i).is_some_and(trivia) {
            i += 1;
        }
        let begin = i;
        match token(i) {
            None | Some(Token::Close | Token::Semicolon) => return from,
            Some(_) => {}
        }
        if before_node || token(i) == Some(Token::Open) {
            let mut depth = 0;
            // Within it, too, a line can go on in the next one. What comes after its last word is none of it.
            let (mut disabling, mut continued) = (false, false);
            let mut end = begin + 1;
            while let Some(t) = token(i) {
                match t {
                    Token::Newline if disabling => {}
                    Token::LineComment if disabling || continued => {}
                    Token::Open => depth += 1,
                    Token::Close if depth == 0 => break,
                    Token::Close => {
                        depth -= 1;
                        if depth == 0 && !before_node {
                            return i + 1;
                        }
                    }
                    Token::Newline | Token::Semicolon | Token::LineComment if depth == 0 => break,
                    _ => {}
                }
                disabling = t == Token::SlashDash || disabling && trivia(t);
                continued = t == Token::Backslash
                    || continued && matches!(t, Token::LineComment | Token::BlockComment { .. });
                i += 1;
                if !trivia(t) {
                    end = i;
                }
            }
            return end;
        }
        // `(type)name=(type)value`: values, each with an annotation or not, joined by equals signs.
        loop {
            if token(i) == Some(Token::ParenOpen) {
                while token(i).is_some_and(|t| t != Token::ParenClose && t != Token::Newline) {
                    i += 1;
                }
                i += 1;
            }
            i += 1;
            if token(i) != Some(Token::Equals) {
                return i.min(self.lexemes.len());
            }
            i += 1;
        }
    }

    fn mistake(&self, lexeme: Lexeme, message: String, help: &str) -> Diagnostic {
        Diagnostic::new(Code::PUR0001, message).at(self.span(lexeme.start, lexeme.end), "here").help(help)
    }

    /// A word or quoted literal as the parser reads it by itself; it is not asked about what stands for itself.
    fn atom(&mut self, lexeme: Lexeme, mistakes: &mut Vec<Diagnostic>) -> Option<Literal> {
        let Lexeme { token, start, end } = lexeme;
        let (text, span) = (&self.text[start..end], self.span(start, end));
        if let Some(content) = verbatim(token, text) {
            let (kind, quote) = (Kind::String(content.to_owned()), quote_of(token));
            return Some(Literal { span, kind, bare: quote.is_none(), quote });
        }
        if let Token::Quoted(quote) = token {
            return match unquote(text, quote) {
                Ok(content) => {
                    Some(Literal { span, kind: Kind::String(content), bare: false, quote: Some(quote) })
                }
                Err(wrong) => {
                    mistakes.push(wrong.finding(self.file, start));
                    None
                }
            };
        }
        if let Some(kind) = self.words.get(text) {
            return Some(Literal {
                span,
                kind: kind.clone(),
                bare: matches!(kind, Kind::String(_)),
                quote: None,
            });
        }
        let kind = match KdlEntry::parse(text).as_ref().map(KdlEntry::value) {
            // The lowering says how they are written.
            _ if lower::reserved(text) => Kind::String(text.to_owned()),
            Ok(KdlValue::String(word)) => Kind::String(word.clone()),
            Ok(KdlValue::Integer(n)) => Kind::Integer(*n),
            Ok(KdlValue::Float(f)) => Kind::Float(*f),
            Ok(KdlValue::Bool(b)) => Kind::Bool(*b),
            Ok(KdlValue::Null) => Kind::Null,
            // The parser's integers end where ours do, and nothing but digits is no other mistake.
            Err(_)
                if text.trim_start_matches(['+', '-']).bytes().all(|b| b.is_ascii_digit() || b == b'_') =>
            {
                Kind::Float(f64::INFINITY)
            }
            Err(error) => {
                let (message, help) = wrong_word(text, error);
                mistakes.push(self.mistake(lexeme, message, &help));
                return None;
            }
        };
        self.words.insert(text, kind.clone());
        let bare = matches!(kind, Kind::String(_));
        Some(Literal { span, kind, bare, quote: None })
    }

    /// The sound word or literal that a lexeme is.
    fn literal(&self, lexeme: Lexeme) -> Option<&Literal> {
        self.atoms.binary_search_by_key(&lexeme.start, |l| l.span.start as usize).ok().map(|i| &self.atoms[i])
    }

    /// What is wrong when a token begins where a word or string ends.
    fn touching(&self, index: usize) -> Option<Diagnostic> {
        let previous = self.lexemes.get(index.checked_sub(1)?)?;
        let lexeme = *self.lexemes.get(index)?;
        let touch = previous.end == lexeme.start && matches!(previous.token, Token::Word | Token::Quoted(_));
        touch.then(|| {
            self.mistake(
                lexeme,
                "a value touches what stands before it".to_owned(),
                "separate the two with a space, or put the whole in quotes",
            )
        })
    }

    /// The parser's findings in words for an operator, one for each line: what follows on a line follows from it.
    /// That braces match is known by now, so trouble with one of them follows from another mistake, if there is one.
    fn explain(&self, found: &[KdlDiagnostic], mistakes: &mut Vec<Diagnostic>) {
        let mut lines = BTreeSet::new();
        let mut named: Vec<(Lexeme, &KdlDiagnostic)> = Vec::new();
        for mistake in found {
            let lexeme = self.lexeme_at(mistake.span.offset());
            if lines.insert(self.text[..lexeme.start].matches('\n').count()) {
                named.push((lexeme, mistake));
            }
        }
        named.sort_by_key(|(lexeme, _)| lexeme.start);
        let brace = |l: &Lexeme| matches!(l.token, Token::Open | Token::Close | Token::Newline);
        if named.iter().any(|(l, _)| !brace(l)) || !mistakes.is_empty() {
            named.retain(|(l, _)| !brace(l));
        } else {
            named.truncate(1);
        }
        for (lexeme, mistake) in named {
            let (message, help) = Self::words(lexeme, mistake);
            mistakes.push(
                Diagnostic::new(Code::PUR0001, message)
                    .at(self.span(lexeme.start, lexeme.end), "here")
                    .help(help),
            );
        }
        if mistakes.is_empty() {
            mistakes.push(
                Diagnostic::new(Code::PUR0001, "this is not KDL")
                    .at(self.span(0, 0), "somewhere in this file")
                    .help("see https://kdl.dev for the language"),
            );
        }
    }

    fn words(lexeme: Lexeme, mistake: &KdlDiagnostic) -> (String, String) {
        let (message, help) = match lexeme.token {
            Token::Word | Token::Quoted(_) => {
                ("a value stands where none can be", "begin a node on a line of its own, or after a `;`")
            }
            Token::Close => ("a `}` stands where a value is expected", "complete what stands before it"),
            _ => {
                let message = mistake.message.as_deref().unwrap_or("something is missing here");
                let help = mistake.help.as_deref().unwrap_or("see the line above the mark as well");
                return (message.to_lowercase(), help.to_lowercase());
            }
        };
        (message.to_owned(), help.to_owned())
    }
}

/// What can stand next in a node, as far as an `=` goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Site {
    /// A node's name.
    Node,
    /// An argument or a property's name.
    Name,
    /// An `=` as well.
    Entry,
    /// A property's value.
    Value,
}

impl Site {
    const fn after(self, token: Token) -> Self {
        match (token, self) {
            (Token::Newline | Token::Semicolon | Token::Open | Token::Close, _) => Self::Node,
            (Token::Equals, Self::Entry) => Self::Value,
            (Token::Word | Token::Quoted(_), Self::Node | Self::Value) => Self::Name,
            (Token::Word | Token::Quoted(_), _) => Self::Entry,
            _ => self,
        }
    }
}

/// What is wrong with a token where it stands. The parser does not get to see it: its recovery recurses on such
/// mistakes, or takes time without end.
fn sign(token: Token, text: &str) -> (&'static str, &'static str) {
    match token {
        Token::Equals => {
            ("an `=` has no name or no value beside it", "a property is written `name=\"value\"`")
        }
        Token::ParenOpen | Token::ParenClose => {
            ("a parenthesis stands where none can be", "put text that holds parentheses in quotes")
        }
        Token::Backslash => (
            "a `\\` stands inside a line",
            "a backslash only joins a line to the next one; put text that holds one in quotes",
        ),
        Token::Open => (
            "a block stands where a node's name is expected",
            "put the `{` on the line of the node that it belongs to, behind its name",
        ),
        Token::Word | Token::Quoted(_) => (
            "a value stands behind a block",
            "a node ends with its block; begin the next on a line of its own, or after a `;`",
        ),
        _ if text == "/" => ("a `/` begins no value", "put a path in quotes"),
        _ => ("KDL has no brackets", "write the values of a list one after the other: `name \"a\" \"b\"`"),
    }
}

/// How the parser is shown a token; nothing where it must see none.
fn outlined(token: Token, text: &str) -> Option<&str> {
    match token {
        Token::LineComment | Token::BlockComment { .. } | Token::SlashDash | Token::Other => None,
        Token::Word | Token::Quoted(_) => Some("x"),
        _ => Some(text),
    }
}

const fn quote_of(token: Token) -> Option<Quote> {
    match token {
        Token::Quoted(quote) => Some(quote),
        _ => None,
    }
}

/// The text that a word or literal says, if it is made of characters that all stand for themselves.
fn verbatim(token: Token, text: &str) -> Option<&str> {
    match token {
        Token::Word => {
            let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':'));
            (plain && !lower::reserved(text)).then_some(text)
        }
        Token::Quoted(Quote { raw: false, multiline: false, closed: true }) => {
            let content = text.strip_prefix('"')?.strip_suffix('"')?;
            content.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'\\' && b != b'"').then_some(content)
        }
        _ => None,
    }
}

/// What a word or quoted literal says; `None` where that is not decided, as in one that is never closed.
#[must_use]
pub fn content(token: Token, text: &str) -> Option<String> {
    match token {
        Token::Word => Some(text.to_owned()),
        Token::Quoted(quote) => {
            verbatim(token, text).map(str::to_owned).or_else(|| unquote(text, quote).ok())
        }
        _ => None,
    }
}

/// What is wrong with a token that is neither a word, nor a number, nor a keyword.
fn wrong_word(word: &str, error: &KdlError) -> (String, String) {
    let shown = if word.len() > 40 { "this word" } else { &format!("`{word}`") };
    if word.starts_with('#') {
        let help = "the keywords are `#true` and `#false`; a comment begins with `//`";
        return (format!("{shown} is no keyword of KDL"), help.to_owned());
    }
    // Too many digits have the parser look for other reasons.
    let told = error.diagnostics.iter().find_map(|d| d.help.as_deref());
    let help = match told {
        _ if word.len() > 38 => "put it in quotes if it is text; a number has at most 38 digits in each part",
        Some(help) if help.starts_with("Floats") => help,
        _ => "put it in quotes if it is text",
    };
    (format!("{shown} is neither a number nor a word"), help.to_owned())
}

/// What is wrong with a quoted literal, and where in it.
pub(super) struct Unquotable {
    start: usize,
    end: usize,
    message: String,
    help: String,
}

impl Unquotable {
    fn finding(self, file: FileId, base: usize) -> Diagnostic {
        Diagnostic::new(Code::PUR0001, self.message)
            .at(Span::new(file, base + self.start, base + self.end), "here")
            .help(self.help)
    }
}

/// The text of a quoted literal.
pub(super) fn unquote(literal: &str, quote: Quote) -> Result<String, Unquotable> {
    let hashes = literal.bytes().take_while(|b| *b == b'#').count();
    if !quote.closed {
        let end = literal.trim_end().len();
        let mark = if quote.multiline { "\"\"\"" } else { "\"" };
        return Err(Unquotable {
            start: 0,
            end: if quote.multiline { hashes + 3 } else { end },
            message: "a string is never closed".to_owned(),
            help: format!(
                "close it with `{mark}{}`{}",
                "#".repeat(hashes),
                if quote.multiline {
                    " on a line of its own"
                } else {
                    " on the same line, or begin it with `\"\"\"`"
                }
            ),
        });
    }
    match alone(literal) {
        Ok(name) => Ok(name.value().to_owned()),
        Err(error) => Err(wrong_literal(literal, quote, &error)),
    }
}

/// Has the parser read a quoted literal by itself. After a mistake it would take what follows a `/` for a comment and
/// recurse on it, so a text in which a letter stands for each `/`, which means nothing in a literal, goes first.
fn alone(literal: &str) -> Result<KdlIdentifier, KdlError> {
    if literal.contains("/*") {
        KdlIdentifier::parse(&literal.replace('/', "x"))?;
    }
    KdlIdentifier::parse(literal)
}

fn wrong_literal(literal: &str, quote: Quote, error: &KdlError) -> Unquotable {
    if !quote.raw
        && let Some((start, end)) = wrong_escape(literal)
    {
        let help = "known are \\n \\r \\t \\\" \\\\ \\b \\f \\s and \\u{…}; a raw string takes backslashes as they are: #\"…\"#";
        return Unquotable {
            start,
            end,
            message: "a string holds an escape that KDL does not know".to_owned(),
            help: help.to_owned(),
        };
    }
    let told = error.diagnostics.iter().find_map(|d| Some((d.message.as_deref()?, d.help.as_deref()?)));
    let (message, help) = match told {
        _ if quote.multiline => (
            "the lines of this string do not fit its quotes",
            "begin it on the line after `\"\"\"`, close it on a line of its own, and indent each line at least as the closing quotes",
        ),
        Some(told) => told,
        None => ("this is no string of KDL", "check its quotes"),
    };
    let mut message = message.to_owned();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let start = error.diagnostics.first().map_or(0, |d| d.span.offset()).min(literal.len());
    let start = (0..=start).rev().find(|i| literal.is_char_boundary(*i)).unwrap_or(0);
    let end = literal[start..].find(is_newline).map_or(literal.len(), |n| start + n);
    Unquotable { start, end, message, help: help.to_owned() }
}

/// The first escape with which the parser refuses a string that holds nothing else.
fn wrong_escape(literal: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    loop {
        let start = at + literal[at..].find('\\')?;
        at = start + 1 + literal[start + 1..].chars().next().map_or(0, char::len_utf8);
        let rest = &literal[at..];
        let length = rest.find(|c| c == '\\' || c == '"' || is_newline(c)).unwrap_or(rest.len());
        if alone(&format!("\"{}\"", &literal[start..at + length])).is_err() {
            return Some((start, at));
        }
    }
}

/// The parser's nodes, with literals and comments put back.
struct Convert<'a, 'f> {
    layout: &'a Layout<'a>,
    text: &'a str,
    file: FileId,
    next_comment: usize,
    mistakes: &'f mut Vec<Diagnostic>,
}

impl Convert<'_, '_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    /// The comments that begin before `end` and were not given away.
    fn comments(&mut self, end: usize) -> Vec<Comment> {
        let rest = &self.layout.comments[self.next_comment..];
        let taken: Vec<Comment> =
            rest.iter().take_while(|c| (c.span.start as usize) < end).cloned().collect();
        self.next_comment += taken.len();
        taken
    }

    /// Recurses as deep as the limits admit.
    fn block(&mut self, document: &KdlDocument, start: usize, end: usize) -> Block {
        let mut block = Block { span: self.span(start, end), ..Block::default() };
        for node in document.nodes() {
            let comments = self.comments(self.layout.lexeme_at(node.span().offset()).start);
            let leading = self.behind(&mut block.nodes, comments);
            let mut node = self.node(node);
            node.comments.leading.splice(0..0, leading);
            block.nodes.push(node);
        }
        let comments = self.comments(end);
        block.end = self.behind(&mut block.nodes, comments);
        block
    }

    /// Gives the first comment to the node on whose line it stands; returns the others.
    fn behind(&self, nodes: &mut [Node], mut comments: Vec<Comment>) -> Vec<Comment> {
        if let (Some(node), Some(comment)) = (nodes.last_mut(), comments.first()) {
            let between = self.text.get(node.span.end as usize..comment.span.start as usize).unwrap_or("\n");
            if !between.contains(is_newline) {
                node.comments.trailing = Some(comments.remove(0));
            }
        }
        comments
    }

    fn node(&mut self, node: &KdlNode) -> Node {
        let name = self.name(node.name(), "a node's name");
        let mut arguments = Vec::new();
        let mut properties = Vec::new();
        let mut header = name.span;
        for entry in node.entries() {
            // Its value is its last letter.
            let last = (entry.span().offset() + entry.span().len()).saturating_sub(1);
            let Some(literal) = self.layout.literal(self.layout.lexeme_at(last)).cloned() else { continue };
            header = header.to(literal.span);
            match entry.name() {
                Some(name) => properties.push((self.name(name, "a property's name"), literal)),
                None => arguments.push(literal),
            }
        }
        let mut comments = Comments::default();
        let mut span = header;
        let children = node.children().map(|document| {
            let braces = &self.layout.braces;
            let index = braces.partition_point(|(open, _)| *open < header.end as usize);
            let (open, close) = braces.get(index).copied().unwrap_or_default();
            comments.leading = self.comments(open);
            span = span.to(self.span(open, (close + 1).min(self.text.len())));
            let block = self.block(document, open, close);
            Block { span: self.span(open, (close + 1).min(self.text.len())), ..block }
        });
        // A comment between two arguments.
        comments.leading.extend(self.comments(span.end as usize));
        Node { name, arguments, properties, children, span, header, comments }
    }

    fn name(&mut self, name: &KdlIdentifier, what: &str) -> Spanned<String> {
        let lexeme = self.layout.lexeme_at(name.span().offset());
        let span = self.span(lexeme.start, lexeme.end);
        let literal = self.layout.literal(lexeme);
        if let Some(Literal { kind: Kind::String(text), bare, .. }) = literal
            && !(*bare && lower::reserved(text))
        {
            return Spanned::new(text.clone(), span);
        }
        // What is no sound literal has its finding.
        let text = self.text.get(span.range()).unwrap_or_default();
        if literal.is_some() {
            self.mistakes.push(
                Diagnostic::new(Code::PUR0001, format!("`{text}` is not {what}"))
                    .at(span, format!("{what} is a word"))
                    .help("begin the line with the name of what it describes"),
            );
        }
        Spanned::new(text.to_owned(), span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is taken as it stands, the parser takes for the same.
        #[test]
        fn verbatim_is_what_the_parser_reads(text in "[ -~]{0,12}|[a-z][-_.:0-9A-Za-z]{0,8}") {
            let quote = Quote { raw: false, multiline: false, closed: true };
            let literal = format!("\"{text}\"");
            if let Some(content) = verbatim(Token::Quoted(quote), &literal) {
                let read = alone(&literal).unwrap();
                prop_assert_eq!(read.value(), content);
            }
            if let Some(word) = verbatim(Token::Word, &text) {
                let read = KdlEntry::parse(&text).unwrap();
                prop_assert_eq!(read.value(), &KdlValue::String(word.to_owned()));
            }
        }
    }
}
