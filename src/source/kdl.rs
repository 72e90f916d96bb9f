//! KDL 2 text to nodes, with the comments that belong to each.
//!
//! The `kdl` crate reads the structure only, from a text of the same length in which comments, disabled nodes and the
//! insides of literals are masked: its parser recurses on each of them, backtracks, and guesses after a mistake, and
//! what it is never shown it cannot trip over. Literals are read here. What a node means is `lower.rs`'s matter.

use super::doc::{Comment, Comments, Doc, Kind};
use super::limits::{Limits, after_mark};
use super::lower;
use super::schema::Schema;
use super::tokens::{Lexeme, Quote, Token, Tokens, is_newline};
use crate::diag::{Code, Diagnostic, FileId, Findings, Span, Spanned};
use kdl::{KdlDiagnostic, KdlDocument, KdlEntry, KdlError, KdlIdentifier, KdlNode};
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
    match structure(&layout.masked()) {
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

/// Parses on a thread with a large stack. `None` when the parser panicked.
fn structure(masked: &str) -> Option<Result<KdlDocument, KdlError>> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("kdl".to_owned()).stack_size(STACK);
        match builder.spawn_scoped(scope, || KdlDocument::parse(masked)) {
            Ok(thread) => thread.join().ok(),
            // No thread to be had: the limits alone must do.
            Err(_) => Some(KdlDocument::parse(masked)),
        }
    })
}

/// The text's tokens, and what they tell without a parser.
struct Layout<'a> {
    text: &'a str,
    file: FileId,
    lexemes: Vec<Lexeme>,
    /// Bytes that the parser must not see as they are: the range and whether something is there at all.
    masks: Vec<(usize, usize, Mask)>,
    /// In order of the opening brace.
    braces: Vec<(usize, usize)>,
    unclosed: usize,
    /// In order of their places.
    comments: Vec<Comment>,
    /// The text of each quoted literal, by its start.
    strings: BTreeMap<usize, String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mask {
    /// Nothing is there.
    Blank,
    /// A literal or name is there.
    Atom,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str, file: FileId, mistakes: &mut Vec<Diagnostic>, findings: &mut Findings) -> Self {
        let base = after_mark(text);
        let mut layout = Self {
            text,
            file,
            lexemes: Tokens::new(text, base).collect(),
            masks: vec![(0, base, Mask::Blank)],
            braces: Vec::new(),
            unclosed: 0,
            comments: Vec::new(),
            strings: BTreeMap::new(),
        };
        let mut open: Vec<usize> = Vec::new();
        let mut before_node = true;
        let mut others = None;
        let mut i = 0;
        while let Some(&lexeme) = layout.lexemes.get(i) {
            let Lexeme { token, start, end } = lexeme;
            i += 1;
            match token {
                Token::LineComment => {
                    layout.masks.push((start, end, Mask::Blank));
                    layout.comment(start + 2, end, start..end);
                }
                Token::BlockComment { closed, .. } => {
                    layout.masks.push((start, end, Mask::Blank));
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
                    layout.masks.push((start, end, Mask::Blank));
                    layout.comment(start, end, start..end);
                    i = after;
                }
                Token::Open => {
                    open.push(layout.braces.len());
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
                        layout.masks.push((start, end, Mask::Blank));
                        findings.push(
                            Diagnostic::new(Code::PUR0107, "a spec has no type annotations")
                                .at(layout.span(start, end), "annotation")
                                .help("remove the parentheses and what is in them"),
                        );
                        i += 2;
                    }
                }
                Token::Word => {
                    before_node = false;
                    layout.masks.push((start, end, Mask::Atom));
                    if let Some((message, help)) = not_a_word(&text[start..end]) {
                        mistakes.push(layout.mistake(lexeme, message, help));
                    }
                    mistakes.extend(layout.touching(i - 1));
                }
                Token::Quoted(quote) => {
                    before_node = false;
                    layout.masks.push((start, end, Mask::Atom));
                    match unquote(&text[start..end], quote) {
                        Ok(content) => {
                            layout.strings.insert(start, content);
                        }
                        Err(wrong) => mistakes.push(wrong.finding(file, start)),
                    }
                    mistakes.extend(layout.touching(i - 1));
                }
                Token::Other => {
                    layout.masks.push((start, end, Mask::Blank));
                    let line = text[..start].rfind(is_newline).unwrap_or(0);
                    // One sign tells as much about a line as all of them.
                    if others.replace(line) != Some(line) {
                        let (message, help) = if &text[start..end] == "/" {
                            ("a `/` begins no value", "put a path in quotes")
                        } else {
                            (
                                "KDL has no brackets",
                                "write the values of a list one after the other: `name \"a\" \"b\"`",
                            )
                        };
                        mistakes.push(layout.mistake(lexeme, message.to_owned(), help));
                    }
                }
                _ => {}
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
        layout.unclosed = open.len();
        layout
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
            while let Some(t) = token(i) {
                match t {
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
                i += 1;
            }
            return i.max(begin + 1);
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

    /// The text for the parser: as long as the operator's, byte by byte.
    fn masked(&self) -> String {
        let mut bytes = self.text.as_bytes().to_vec();
        for &(start, end, mask) in &self.masks {
            bytes[start..end].fill(b' ');
            if mask == Mask::Atom {
                bytes[start] = b'x';
            }
        }
        bytes.extend(std::iter::repeat_n(b'}', self.unclosed));
        // Whole tokens were replaced, by ASCII.
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The parser's findings in words for an operator, one for each line: what follows on a line follows from it.
    /// That braces match is known by now, so trouble with one of them follows from another mistake, if there is one.
    fn explain(&self, found: &[KdlDiagnostic], mistakes: &mut Vec<Diagnostic>) {
        let mut lines = BTreeSet::new();
        let mut named: Vec<(Lexeme, &KdlDiagnostic)> = Vec::new();
        for mistake in found {
            let at = mistake.span.offset().min(self.text.len());
            let index = self.lexemes.partition_point(|l| l.end <= at);
            let end = Lexeme { token: Token::Newline, start: self.text.len(), end: self.text.len() };
            let lexeme = self.lexemes.get(index).copied().unwrap_or(end);
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
            Token::Equals => {
                ("an `=` has no name or no value beside it", "a property is written `name=\"value\"`")
            }
            Token::Open => (
                "a block stands where a node's name is expected",
                "put the `{` on the line of the node that it belongs to, behind its name",
            ),
            Token::Close => ("a `}` stands where a value is expected", "complete what stands before it"),
            Token::ParenOpen | Token::ParenClose => {
                ("a parenthesis stands where none can be", "put text that holds parentheses in quotes")
            }
            Token::Backslash => (
                "a `\\` stands inside a line",
                "a backslash only joins a line to the next one; put text that holds one in quotes",
            ),
            _ => {
                let message = mistake.message.as_deref().unwrap_or("something is missing here");
                let help = mistake.help.as_deref().unwrap_or("see the line above the mark as well");
                return (message.to_lowercase(), help.to_lowercase());
            }
        };
        (message.to_owned(), help.to_owned())
    }

    /// The token that ends at `end`.
    fn ending(&self, end: usize) -> Option<Lexeme> {
        self.lexemes[..self.lexemes.partition_point(|l| l.start < end)].last().copied()
    }
}

/// What is wrong with a token that is neither a word, nor a number, nor a keyword.
fn not_a_word(word: &str) -> Option<(String, &'static str)> {
    let shown = if word.len() > 40 { "this word" } else { word };
    let digits = word.trim_start_matches(['+', '-', '.']);
    if Word::of(word) != Word::Other {
        None
    } else if word.starts_with('#') {
        let help = "the keywords are `#true` and `#false`; a comment begins with `//`";
        Some((format!("`{shown}` is no keyword of KDL"), help))
    } else if digits.starts_with(|c: char| c.is_ascii_digit()) && word.len() - digits.len() <= 2 {
        Some((format!("`{shown}` is neither a number nor a word"), "put it in quotes if it is text"))
    } else {
        None
    }
}

/// What a token without quotes is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Word {
    Number,
    Keyword,
    /// `true` and the like without a `#`: KDL 2 keeps people from writing them by refusing them.
    Reserved,
    Other,
}

impl Word {
    fn of(word: &str) -> Self {
        match word {
            "#true" | "#false" | "#null" | "#inf" | "#-inf" | "#nan" => Self::Keyword,
            "true" | "false" | "null" | "inf" | "-inf" | "nan" => Self::Reserved,
            _ if number(word).is_some() => Self::Number,
            _ => Self::Other,
        }
    }
}

/// A KDL 2 number (KDL 2.0.0, section 3.14). Beyond its type's range it is infinite.
fn number(word: &str) -> Option<Kind> {
    let (sign, unsigned) = match word.strip_prefix(['+', '-']) {
        Some(rest) => (if word.starts_with('-') { "-" } else { "" }, rest),
        None => ("", word),
    };
    let run = |text: &str, radix| {
        text.starts_with(|c: char| c.is_digit(radix)) && text.chars().all(|c| c == '_' || c.is_digit(radix))
    };
    let plain = |text: &str| format!("{sign}{}", text.replace('_', ""));
    let integer = |text: &str, radix| {
        i128::from_str_radix(&plain(text), radix).map_or(Kind::Float(f64::INFINITY), Kind::Integer)
    };
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)] {
        if let Some(digits) = unsigned.strip_prefix(prefix) {
            return run(digits, radix).then(|| integer(digits, radix));
        }
    }
    if run(unsigned, 10) {
        return Some(integer(unsigned, 10));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let fits = run(whole, 10)
        && fraction.is_none_or(|f| run(f, 10))
        && exponent.is_none_or(|e| run(e.strip_prefix(['+', '-']).unwrap_or(e), 10));
    fits.then(|| plain(unsigned).parse().map_or(Kind::Float(f64::INFINITY), Kind::Float))
}

/// What is wrong with a quoted literal, and where in it.
struct Unquotable {
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
fn unquote(literal: &str, quote: Quote) -> Result<String, Unquotable> {
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
    let content = &literal[hashes + 1..literal.len() - hashes - 1];
    // What has neither escapes nor lines stands for itself.
    if !quote.multiline && (quote.raw || !content.contains('\\')) && content != "\"" {
        return Ok(content.to_owned());
    }
    match KdlEntry::parse(literal) {
        Ok(entry) if entry.value().is_string() => {
            Ok(entry.value().as_string().unwrap_or_default().to_owned())
        }
        Ok(_) => Err(Unquotable {
            start: 0,
            end: literal.len(),
            message: "this is no string".to_owned(),
            help: "check its quotes".to_owned(),
        }),
        Err(error) => Err(wrong_literal(literal, quote, &error)),
    }
}

fn wrong_literal(literal: &str, quote: Quote, error: &KdlError) -> Unquotable {
    let known = "known are \\n \\r \\t \\\" \\\\ \\b \\f \\s and \\u{…}; a raw string takes backslashes as they are: #\"…\"#";
    if !quote.raw
        && let Some(at) = wrong_escape(literal)
    {
        let length = literal[at + 1..].chars().next().map_or(0, char::len_utf8);
        return Unquotable {
            start: at,
            end: at + 1 + length,
            message: "a string holds an escape that KDL does not know".to_owned(),
            help: known.to_owned(),
        };
    }
    let (message, help) = if quote.multiline {
        (
            "the lines of this string do not fit its quotes",
            "begin it on the line after `\"\"\"`, close it on a line of its own, and indent each line at least as the closing quotes",
        )
    } else {
        ("this is no string of KDL", "check its quotes")
    };
    let start = error.diagnostics.first().map_or(0, |d| d.span.offset()).min(literal.len());
    let start = (0..=start).rev().find(|i| literal.is_char_boundary(*i)).unwrap_or(0);
    let end = literal[start..].find(is_newline).map_or(literal.len(), |n| start + n);
    Unquotable { start, end, message: message.to_owned(), help: help.to_owned() }
}

fn wrong_escape(literal: &str) -> Option<usize> {
    let mut chars = literal.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            continue;
        }
        match chars.next() {
            Some((_, '\\' | '"' | 'b' | 'f' | 'n' | 'r' | 't' | 's')) => {}
            Some((_, c)) if c.is_whitespace() => {}
            Some((_, 'u')) => {
                let digits = literal[at + 2..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
                let known = digits
                    .filter(|(hex, _)| (1..=6).contains(&hex.len()))
                    .and_then(|(hex, _)| u32::from_str_radix(hex, 16).ok())
                    .and_then(char::from_u32);
                if known.is_none() {
                    return Some(at);
                }
            }
            _ => return Some(at),
        }
    }
    None
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
            let comments = self.comments(node.span().offset());
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
            let end = entry.span().offset() + entry.span().len();
            let Some(literal) = self.literal(end) else { continue };
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
        let start = name.span().offset();
        let end = self.layout.ending(start + 1).map_or(start, |l| l.end);
        let span = self.span(start, end);
        let text = &self.text[start..end];
        if let Some(content) = self.layout.strings.get(&start) {
            return Spanned::new(content.clone(), span);
        }
        if Word::of(text) != Word::Other {
            self.mistakes.push(
                Diagnostic::new(Code::PUR0001, format!("`{text}` is not {what}"))
                    .at(span, format!("{what} is a word"))
                    .help("begin the line with the name of what it describes"),
            );
        }
        Spanned::new(text.to_owned(), span)
    }

    /// The literal that ends at `end`.
    fn literal(&self, end: usize) -> Option<Literal> {
        let Lexeme { token, start, end } = self.layout.ending(end)?;
        let span = self.span(start, end);
        if let Token::Quoted(quote) = token {
            let content = self.layout.strings.get(&start)?.clone();
            return Some(Literal { span, kind: Kind::String(content), bare: false, quote: Some(quote) });
        }
        let word = &self.text[start..end];
        let kind = match word {
            "#true" => Kind::Bool(true),
            "#false" => Kind::Bool(false),
            "#null" => Kind::Null,
            "#inf" | "#-inf" | "#nan" => Kind::Float(f64::INFINITY),
            _ => number(word).unwrap_or_else(|| Kind::String(word.to_owned())),
        };
        let bare = matches!(kind, Kind::String(_));
        Some(Literal { span, kind, bare, quote: None })
    }
}
