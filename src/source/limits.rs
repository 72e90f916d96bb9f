//! What a spec file may cost, checked before any parser sees it.
//!
//! Parsers recurse, copy and expand; a file of a few kilobytes can end the process of one that does. Here the text is
//! read once, from front to back, with counters only. YAML is the exception in part: where its brackets, quotes and
//! aliases count is known only to a real scanner, so its parser is given the limits and stops at the first event
//! beyond them. No rule of a spec's content may live here.

use super::Syntax;
use super::tokens::{Token, Tokens};
use crate::diag::{Code, Diagnostic, FileId, Findings, Sources, Span};

/// The limits of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    /// Blocks, mappings, lists or brackets within each other.
    pub depth: usize,
    /// KDL nodes; YAML and JSON values. In YAML an alias counts as much as what it stands for.
    pub nodes: usize,
    /// Words, literals and signs of a KDL file.
    pub tokens: usize,
    /// Uses of YAML anchors.
    pub aliases: usize,
    /// `/* /* */ */`.
    pub comment_depth: usize,
    /// `/-` after `/-`, with nothing between.
    pub slashdash: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

const SPLIT: &str = "split the spec into several files and bring them together with `include`";
const FLATTEN: &str = "reduce the nesting; no part of a spec needs that much";
/// A file full of control characters is no text; its first few tell as much as all of them.
const SHOWN: usize = 8;

impl Limits {
    pub const DEFAULT: Self = Self {
        bytes: 256 * 1024,
        depth: 64,
        nodes: 10_000,
        tokens: 100_000,
        aliases: 100,
        comment_depth: 64,
        slashdash: 64,
    };

    /// Whether a parser may see the text; if not, the findings say why and where.
    #[must_use]
    pub fn admit(&self, text: &str, file: FileId, syntax: Syntax, findings: &mut Findings) -> bool {
        let refusal = if text.len() > self.bytes {
            let at = (0..=self.bytes).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
            let span = Span::new(file, at, text.len().min(at + 1));
            // How long it is in all is not said: a reader stops soon after the limit.
            let message = format!("the file is longer than the limit of {} bytes", self.bytes);
            Some(Diagnostic::new(Code::PUR0003, message).at(span, "the limit is passed here").help(SPLIT))
        } else if !plain(text, file, findings) {
            return false;
        } else {
            match syntax {
                Syntax::Kdl => self.kdl(text, file),
                Syntax::Json => self.json(text).map(|b| b.finding(Span::new(file, b.at, b.at + 1))),
                Syntax::Yaml => None,
            }
        };
        let Some(refusal) = refusal else { return true };
        findings.push(refusal);
        false
    }

    fn kdl(&self, text: &str, file: FileId) -> Option<Diagnostic> {
        let (mut depth, mut nodes, mut tokens, mut slashdash) = (0, 0, 0, 0);
        let mut before_node = true;
        for lexeme in Tokens::new(text, 0) {
            let span = Span::new(file, lexeme.start, lexeme.end);
            tokens += 1;
            if tokens > self.tokens {
                return Some(beyond(span, "the file has", tokens, self.tokens, "words and signs", SPLIT));
            }
            match lexeme.token {
                Token::SlashDash => {
                    slashdash += 1;
                    if slashdash > self.slashdash {
                        let help = "one `/-` disables a node; remove the others";
                        return Some(beyond(
                            span,
                            "there are",
                            slashdash,
                            self.slashdash,
                            "`/-` in a row",
                            help,
                        ));
                    }
                    continue;
                }
                Token::BlockComment { depth, .. } if depth > self.comment_depth => {
                    let span = Span::new(file, lexeme.start, lexeme.start + 2);
                    let help = "comments within comments are rarely meant; use `//` on each line";
                    return Some(beyond(span, "a comment nests", depth, self.comment_depth, "deep", help));
                }
                Token::Newline | Token::Semicolon => before_node = true,
                Token::Open => {
                    depth += 1;
                    if depth > self.depth {
                        return Some(beyond(span, "blocks nest", depth, self.depth, "deep", FLATTEN));
                    }
                    // A block without a node is a mistake, but costs the parser as much as one.
                    nodes += usize::from(before_node);
                    before_node = true;
                }
                Token::Close if depth == 0 => {
                    return Some(
                        Diagnostic::new(Code::PUR0001, "a `}` closes a block that was never opened")
                            .at(span, "no `{` belongs to it")
                            .help("remove it, or look above for a block that ends too early"),
                    );
                }
                Token::Close => {
                    depth -= 1;
                    before_node = true;
                }
                Token::Word | Token::Quoted(_) | Token::ParenOpen => {
                    nodes += usize::from(before_node);
                    before_node = false;
                }
                _ => {}
            }
            if nodes > self.nodes {
                return Some(beyond(span, "the file has", nodes, self.nodes, "nodes", SPLIT));
            }
            if !matches!(
                lexeme.token,
                Token::Newline | Token::Continuation | Token::LineComment | Token::BlockComment { .. }
            ) {
                slashdash = 0;
            }
        }
        None
    }

    /// The first place where JSON is beyond a limit.
    pub(super) fn json(&self, text: &str) -> Option<Beyond> {
        let (mut depth, mut values) = (0_usize, 1_usize);
        let (mut quoted, mut escaped) = (false, false);
        for (at, byte) in text.bytes().enumerate() {
            if quoted {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => quoted = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => quoted = true,
                b'{' | b'[' => {
                    depth += 1;
                    values += 1;
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                b',' => values += 1,
                _ => {}
            }
            if depth > self.depth {
                return Some(Beyond {
                    at,
                    what: "brackets nest",
                    count: depth,
                    limit: self.depth,
                    of: "deep",
                });
            }
            if values > self.nodes {
                return Some(Beyond {
                    at,
                    what: "the text has",
                    count: values,
                    limit: self.nodes,
                    of: "values",
                });
            }
        }
        None
    }
}

/// A limit that a text is beyond, and where.
pub(super) struct Beyond {
    pub at: usize,
    what: &'static str,
    count: usize,
    limit: usize,
    of: &'static str,
}

impl Beyond {
    pub fn finding(&self, span: Span) -> Diagnostic {
        let help = if self.of == "deep" { FLATTEN } else { SPLIT };
        beyond(span, self.what, self.count, self.limit, self.of, help)
    }
}

/// Nesting that a parser found to be beyond the limit.
pub(super) fn too_deep(span: Span, limit: usize) -> Diagnostic {
    beyond(span, "mappings and lists nest", limit + 1, limit, "deep", FLATTEN)
}

/// Values, with what aliases stand for, that a parser found to be beyond the limit.
pub(super) fn too_many_values(span: Span, limit: usize) -> Diagnostic {
    beyond(span, "the file has", limit + 1, limit, "values, with those that its aliases repeat", SPLIT)
}

pub(super) fn too_many_aliases(span: Span, limit: usize) -> Diagnostic {
    let help = "write the values where they are used";
    beyond(span, "the file has", limit + 1, limit, "aliases", help)
}

fn beyond(span: Span, what: &str, count: usize, limit: usize, of: &str, help: &str) -> Diagnostic {
    Diagnostic::new(Code::PUR0003, format!("{what} {count} {of}, more than the limit of {limit}"))
        .at(span, "the limit is passed here")
        .help(help)
}

/// Refuses what an editor does not show: a reader must see all that Purlin reads.
fn plain(text: &str, file: FileId, findings: &mut Findings) -> bool {
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t')) {
        return true;
    }
    let mut found = 0;
    for (at, c) in text.char_indices() {
        if !hidden(c) || (c == '\u{feff}' && at == 0) {
            continue;
        }
        found += 1;
        if found <= SHOWN {
            let name = match c {
                '\0' => "a NUL byte".to_owned(),
                '\u{feff}' => "a byte order mark that is not at the start".to_owned(),
                c if c.is_control() => format!("the control character U+{:04X}", u32::from(c)),
                c => format!("U+{:04X}, which changes the direction of the text around it", u32::from(c)),
            };
            findings.push(
                Diagnostic::new(Code::PUR0002, format!("the file holds {name}"))
                    .at(Span::new(file, at, at + c.len_utf8()), "here")
                    .help("remove it; inside a string write an escape instead"),
            );
        }
    }
    found == 0
}

/// Characters that have no place in a spec's text: they are invisible, or make it look like another one.
pub(super) const fn hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Where the text begins after a byte order mark.
pub(super) fn after_mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// Takes a file's bytes in as text. What is not UTF-8 is a finding, and its text is kept with replacement
/// characters so that the finding can show the place.
#[must_use]
pub fn decode(sources: &mut Sources, name: &str, bytes: &[u8], findings: &mut Findings) -> Option<FileId> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Some(sources.add(name, text)),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    if error.error_len().is_none() && at > Limits::default().bytes {
        // A long file whose reader stopped within a letter: its length is the mistake.
        return Some(sources.add(name, String::from_utf8_lossy(&bytes[..at])));
    }
    // The text before the first wrong byte is the same in the lossy copy, so the offset is right in both; what
    // follows is shown only as far as the line goes.
    let shown = &bytes[..bytes.len().min(at + 200)];
    let file = sources.add(name, String::from_utf8_lossy(shown));
    let line = bytes[..at].iter().filter(|b| **b == b'\n').count() + 1;
    let finding = Diagnostic::new(
        Code::PUR0002,
        format!("byte {at} of the file, 0x{:02X} on line {line}, is not UTF-8", bytes[at]),
    )
    .at(Span::new(file, at, at + '\u{fffd}'.len_utf8()), "not UTF-8");
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    findings.push(finding.help(if utf16 {
        "the file is UTF-16; save it as UTF-8"
    } else {
        "save the file as UTF-8; a binary file does not belong here"
    }));
    None
}
