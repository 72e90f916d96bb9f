//! KDL laid out anew, from its tokens: what stands in a line and in a block is the author's, spaces are not.
//!
//! The text was read before, so tokens are only gathered here to what a layout needs to know: nodes, and the blocks in
//! them. What `/-` disables is laid out like the rest.

use super::shifted;
use crate::source::kdl::unquote;
use crate::source::tokens::{Lexeme, Quote, Token, Tokens, is_newline};
use std::borrow::Cow;

/// What a line holds before a block in it is split up.
const WIDTH: usize = 100;
const INDENT: usize = 4;

/// Lays out a sound text without a byte order mark whose lines end with `\n`. None when what `/-` disables is no KDL, or
/// more of it than a spec may have.
pub fn format(text: &str) -> Option<String> {
    let open = |l: &Lexeme| match l.token {
        Token::Quoted(quote) => !quote.closed,
        Token::BlockComment { closed, .. } => !closed,
        _ => false,
    };
    let lexemes: Vec<Lexeme> = Tokens::new(text, 0).collect();
    let odd = lexemes.iter().any(open);
    let mut gather = Gather { text, lexemes, at: 0, odd };
    let items = gather.block();
    if gather.odd {
        return None;
    }
    let mut printer = Printer { text, out: String::new(), width: WIDTH };
    printer.items(&items, 0);
    printer.out.push('\n');
    Some(printer.out)
}

/// The words and signs of a text, without what layout may change.
pub fn words(text: &str) -> Vec<(Token, String)> {
    let bare = |written: &str| written.split_whitespace().collect();
    Tokens::new(text, 0)
        .filter_map(|Lexeme { token, start, end }| {
            let written = &text[start..end];
            match token {
                Token::Newline | Token::Continuation | Token::Backslash | Token::Semicolon => None,
                // Their lines may stand elsewhere. That a string's value is the same is seen in the tree.
                Token::LineComment
                | Token::BlockComment { .. }
                | Token::Quoted(Quote { multiline: true, .. }) => Some((token, bare(written))),
                _ => Some((token, written.to_owned())),
            }
        })
        .collect()
}

/// The comments of a text. What `/-` disables is none here.
pub fn comments(text: &str) -> Vec<String> {
    let comment = |token: &Token| matches!(token, Token::LineComment | Token::BlockComment { .. });
    words(text).into_iter().filter(|(token, _)| comment(token)).map(|(_, written)| written).collect()
}

/// A node, or a comment that belongs to none.
struct Item {
    /// Line ends since what stands before it.
    newlines: usize,
    kind: ItemKind,
}

enum ItemKind {
    Comment(Lexeme),
    Node(Vec<Part>),
}

/// A word, sign or comment of a node.
struct Part {
    lexeme: Lexeme,
    /// What stands between the braces, where the lexeme is one.
    block: Option<Block>,
    /// It does not touch what stands before it.
    spaced: bool,
    /// A backslash before it joins its line to the one above.
    continued: bool,
}

struct Block {
    items: Vec<Item>,
    one_line: bool,
}

struct Gather<'a> {
    text: &'a str,
    lexemes: Vec<Lexeme>,
    at: usize,
    /// Something stands where it cannot.
    odd: bool,
}

impl Gather<'_> {
    /// What stands up to a block's end. Recurses as deep as the limits admit.
    fn block(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut newlines = 0;
        while let Some(&lexeme) = self.lexemes.get(self.at) {
            let kind = match lexeme.token {
                Token::Close => break,
                Token::LineComment | Token::BlockComment { .. } => {
                    self.at += 1;
                    ItemKind::Comment(lexeme)
                }
                Token::SlashDash | Token::Word | Token::Quoted(_) => ItemKind::Node(self.node()),
                token => {
                    let newline = matches!(token, Token::Newline | Token::Continuation);
                    self.odd |= !newline && !matches!(token, Token::Semicolon | Token::Backslash);
                    newlines += usize::from(newline);
                    self.at += 1;
                    continue;
                }
            };
            items.push(Item { newlines, kind });
            newlines = 0;
        }
        items
    }

    fn node(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut continued = false;
        // Up to here it is known that the node goes on.
        let mut known = self.at;
        // What a `/-` disables may stand on a later line.
        let mut disabling = false;
        while let Some(&lexeme) = self.lexemes.get(self.at) {
            if self.at > known || parts.is_empty() {
                match self.next_part(disabling) {
                    Some(next) => known = next,
                    None => break,
                }
            }
            match lexeme.token {
                Token::Backslash | Token::Newline => {}
                Token::Continuation => continued = true,
                token => {
                    let before = parts.last().map_or(0, |p: &Part| p.lexeme.end);
                    let mut part = Part { lexeme, block: None, spaced: before < lexeme.start, continued };
                    if token == Token::Open {
                        self.at += 1;
                        part.block = Some(self.braced(lexeme.end));
                    }
                    parts.push(part);
                    continued = false;
                    let comment = matches!(token, Token::LineComment | Token::BlockComment { .. });
                    disabling = token == Token::SlashDash || disabling && comment;
                }
            }
            self.at += 1;
        }
        // A `/-` that disables nothing here would disable what is put behind it.
        self.odd |= disabling;
        parts
    }

    /// The next word or sign of the same node, if there is one.
    fn next_part(&self, disabling: bool) -> Option<usize> {
        let mut continued = false;
        for (at, lexeme) in self.lexemes.iter().enumerate().skip(self.at) {
            match lexeme.token {
                Token::Backslash => continued = true,
                Token::Continuation => continued = false,
                Token::BlockComment { .. } => {}
                Token::LineComment if continued || disabling => {}
                Token::Newline if disabling => {}
                Token::Word | Token::Quoted(_) | Token::Equals | Token::Open | Token::SlashDash => {
                    return Some(at);
                }
                _ => return None,
            }
        }
        None
    }

    /// What stands between braces, of which the first ends at `open`. Stops at the other one.
    fn braced(&mut self, open: usize) -> Block {
        let items = self.block();
        self.odd |= self.at >= self.lexemes.len();
        let close = self.lexemes.get(self.at).map_or(self.text.len(), |l| l.start);
        Block { items, one_line: !self.text[open..close].contains(is_newline) }
    }
}

struct Printer<'a> {
    text: &'a str,
    out: String,
    /// Where a line that holds a block ends.
    width: usize,
}

impl<'a> Printer<'a> {
    fn written(&self, lexeme: Lexeme) -> &'a str {
        self.text[lexeme.start..lexeme.end].trim_end()
    }

    /// How far this line has come.
    fn column(&self) -> usize {
        let line = self.out.rfind('\n').map_or(0, |i| i + 1);
        self.out[line..].chars().count()
    }

    fn line(&mut self, depth: usize) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', depth * INDENT));
    }

    fn items(&mut self, items: &[Item], depth: usize) {
        // The item before is a comment with nothing before it on its line.
        let mut leads = false;
        for (at, item) in items.iter().enumerate() {
            let begins = at == 0 && depth == 0;
            let behind = item.newlines == 0 && !begins;
            let comment = matches!(item.kind, ItemKind::Comment(_));
            if behind && (comment || leads) {
                self.out.push(' ');
            } else {
                if at > 0 && item.newlines > 1 {
                    self.out.push('\n');
                }
                self.line(depth);
                leads = comment;
            }
            match &item.kind {
                ItemKind::Comment(lexeme) => self.comment(*lexeme),
                ItemKind::Node(parts) => {
                    self.node(parts, depth);
                    leads = false;
                }
            }
        }
    }

    fn comment(&mut self, lexeme: Lexeme) {
        let written = self.written(lexeme);
        if !written.contains('\n') {
            self.out.push_str(written);
            return;
        }
        let indent = |line: &str| line.len() - line.trim_start().len();
        let old = &self.text[self.text[..lexeme.start].rfind('\n').map_or(0, |i| i + 1)..];
        let new = &self.out[self.out.rfind('\n').map_or(0, |i| i + 1)..];
        let shown = shifted(written, indent(old), indent(&format!("{new}/")));
        self.out.push_str(&shown);
    }

    fn node(&mut self, parts: &[Part], depth: usize) {
        let mut before: Option<Token> = None;
        let mut disabling = false;
        for part in parts {
            let token = part.lexeme.token;
            match before {
                None => {}
                Some(Token::LineComment) => {
                    self.line(depth + 1);
                    // Each line that goes on says so before its comment.
                    if token == Token::LineComment && !disabling {
                        self.out.push_str("\\ ");
                    }
                }
                _ if token == Token::LineComment && !disabling => self.out.push_str(" \\ "),
                Some(Token::Equals) => {}
                _ if token == Token::Equals => {}
                Some(Token::SlashDash) if !part.spaced => {}
                _ if part.continued && token != Token::Open && !disabling => {
                    self.out.push_str(" \\");
                    self.line(depth + 1);
                }
                _ => self.out.push(' '),
            }
            match (token, &part.block) {
                (Token::LineComment | Token::BlockComment { .. }, _) => self.comment(part.lexeme),
                (Token::Quoted(quote), _) if quote.multiline => self.multiline(part.lexeme, quote, depth),
                (_, Some(block)) => self.block(block, depth),
                _ => self.out.push_str(self.written(part.lexeme)),
            }
            let comment = matches!(token, Token::LineComment | Token::BlockComment { .. });
            disabling = token == Token::SlashDash || disabling && comment;
            before = Some(token);
        }
    }

    fn block(&mut self, block: &Block, depth: usize) {
        if block.items.is_empty() {
            self.out.push_str("{}");
            return;
        }
        if block.one_line {
            let flat = self.flat(block, depth);
            if self.column() + flat.chars().count() <= self.width {
                self.out.push_str(&flat);
                return;
            }
        }
        self.out.push('{');
        self.items(&block.items, depth + 1);
        self.line(depth);
        self.out.push('}');
    }

    fn flat(&self, block: &Block, depth: usize) -> String {
        let mut flat = Self { text: self.text, out: "{".to_owned(), width: usize::MAX };
        for item in &block.items {
            flat.out.push(' ');
            match &item.kind {
                ItemKind::Comment(lexeme) => flat.comment(*lexeme),
                ItemKind::Node(parts) => {
                    flat.node(parts, depth + 1);
                    flat.out.push(';');
                }
            }
        }
        flat.out + " }"
    }

    /// A string of several lines, whose indentation is that of its closing quotes.
    fn multiline(&mut self, lexeme: Lexeme, quote: Quote, depth: usize) {
        let written = &self.text[lexeme.start..lexeme.end];
        let moved = indented(written, (depth + 1) * INDENT);
        // After a backslash at a line's end there is no telling what is indentation; the language's own reader is asked.
        let same = || matches!((unquote(written, quote), unquote(&moved, quote)), (Ok(a), Ok(b)) if a == b);
        let shown = if *moved == *written || !same() { written } else { &*moved };
        self.out.push_str(shown);
    }
}

fn indented(written: &str, indent: usize) -> Cow<'_, str> {
    let foreign = |c: char| is_newline(c) && c != '\n';
    let (Some(first), Some(last), false) =
        (written.find('\n'), written.rfind('\n'), written.contains(foreign))
    else {
        return written.into();
    };
    let closing = written[last + 1..].trim_start();
    let prefix = &written[last + 1..written.len() - closing.len()];
    let mut out = written[..first].to_owned();
    for line in written[first + 1..].split('\n') {
        let content = line.strip_prefix(prefix).unwrap_or_else(|| line.trim_start());
        out.push('\n');
        if !content.trim().is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(content);
        }
    }
    out.into()
}
