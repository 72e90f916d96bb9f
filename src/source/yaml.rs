//! YAML to tree, by the YAML 1.2 core schema and nothing older.
//!
//! granit-parser scans without recursing and gives exact spans. What YAML can do beyond a tree of values (tags,
//! several documents, merge keys, directives) is refused with a place; aliases are expanded within the limits. No
//! rule of a spec's content may live here.

use super::doc::{Comment, Comments, Doc, Entry, Item, Kind, Value};
use super::limits::{self, Limits, after_mark};
use super::scalar;
use crate::diag::{Code, Diagnostic, FileId, Findings, Span};
use granit_parser::{ErrorKind as Mistake, Event, Parser, ScalarStyle, ScanError, StructureStyle};
use std::collections::BTreeMap;

/// Reads a file that [`Limits`] admitted.
pub fn parse(text: &str, file: FileId, limits: &Limits, findings: &mut Findings) -> Option<Doc> {
    let base = after_mark(text);
    let refused = directives(text, base, file, findings);
    let mut reader = Reader {
        text,
        base,
        file,
        limits,
        events: events(&text[base..], limits),
        pending: Vec::new(),
        anchors: BTreeMap::new(),
        values: 0,
        aliases: 0,
        findings,
    };
    match reader.document() {
        Ok(doc) => doc,
        Err(Stop::Said) => None,
        Err(Stop::Scan(error)) => {
            // A directive that was named already may be what the parser trips over.
            if !refused {
                findings.push(mistake(&error, text, base, file, limits));
            }
            None
        }
    }
}

/// What the scanner makes of a text without a byte order mark.
pub fn events<'a>(text: &'a str, limits: &Limits) -> Parser<'a, granit_parser::StrInput<'a>> {
    let options = granit_parser::options! {
        // The limit is on the tree; the parser's own counts the same things and stops one later.
        flow_nesting_limit: limits.depth,
        block_nesting_limit: limits.depth,
        max_buffered_comment_events: limits.nodes,
        emit_unresolved_aliases: true,
    };
    Parser::new_from_str_with_options(text, options)
}

/// Why reading cannot go on.
enum Stop {
    Scan(ScanError),
    /// A finding says it.
    Said,
}

impl From<ScanError> for Stop {
    fn from(error: ScanError) -> Self {
        Self::Scan(error)
    }
}

struct Reader<'a, 'f> {
    text: &'a str,
    base: usize,
    file: FileId,
    limits: &'a Limits,
    events: Parser<'a, granit_parser::StrInput<'a>>,
    /// Comments on lines of their own, not yet given to a value.
    pending: Vec<Comment>,
    /// Anchored values, and how many values each holds.
    anchors: BTreeMap<usize, (Value, usize)>,
    values: usize,
    aliases: usize,
    findings: &'f mut Findings,
}

/// A node as it was read: nothing when a finding took its place.
struct Node {
    value: Option<Value>,
    /// Written as nothing at all.
    empty: bool,
    /// A plain scalar, for keys.
    plain: Option<String>,
    span: Span,
    inner: Vec<Comment>,
}

impl<'a> Reader<'a, '_> {
    fn span(&self, span: &granit_parser::Span) -> Span {
        // The parser reads a string, for which it always has byte offsets.
        let range = span.byte_range().unwrap_or_default();
        Span::new(self.file, self.base + range.start, self.base + range.end)
    }

    /// The next event that is no comment. A comment on the line of the value before is that
    /// value's, any other waits
    /// for the value below it.
    fn next(&mut self, mut before: Option<(&mut Comments, Span)>) -> Result<(Event<'a>, Span), Stop> {
        loop {
            let Some(next) = self.events.next_event() else {
                // The stream's end was read before; asking again is a mistake of ours, but no reason to fall over.
                return Ok((Event::StreamEnd, Span::new(self.file, self.text.len(), self.text.len())));
            };
            let (event, span) = next?;
            let span = self.span(&span);
            let Event::Comment(words, _) = &event else { return Ok((event, span)) };
            let comment = Comment { text: words.trim().to_owned(), span };
            match &mut before {
                Some((comments, value)) if self.behind(span, *value) && comments.trailing.is_none() => {
                    comments.trailing = Some(comment);
                }
                _ => self.pending.push(comment),
            }
        }
    }

    /// The comment stands on the line on which the value ends, and is not alone there.
    fn behind(&self, comment: Span, value: Span) -> bool {
        let before = &self.text[..comment.start as usize];
        let line = &before[before.rfind('\n').map_or(0, |i| i + 1)..];
        let between = before.get(value.end as usize..).unwrap_or("\n");
        !line.trim().is_empty() && !between.contains('\n')
    }

    fn column(&self, span: Span) -> usize {
        let before = &self.text[..span.start as usize];
        before.len() - before.rfind('\n').map_or(0, |i| i + 1)
    }

    fn document(&mut self) -> Result<Option<Doc>, Stop> {
        loop {
            match self.next(None)? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, span) => {
                    self.findings.push(
                        Diagnostic::new(Code::PUR0001, "the file is empty")
                            .at(span, "nothing but spaces and comments")
                            .help("begin with `apiVersion:` and `kind:`"),
                    );
                    return Ok(None);
                }
                (event, span) => {
                    let node = self.node(event, span, 0)?;
                    self.pending.extend(node.inner);
                    let root = node.value;
                    return self.end(root);
                }
            }
        }
    }

    fn end(&mut self, root: Option<Value>) -> Result<Option<Doc>, Stop> {
        loop {
            match self.next(None)? {
                (Event::StreamEnd, _) => {
                    let trailing = std::mem::take(&mut self.pending);
                    return Ok(root.map(|root| Doc { root, trailing }));
                }
                (Event::DocumentStart(..), span) => {
                    self.findings.push(
                        Diagnostic::new(Code::PUR0005, "a second document begins")
                            .at(span, "here")
                            .help("a spec is one document; put the other into a file of its own"),
                    );
                    return Err(Stop::Said);
                }
                _ => {}
            }
        }
    }

    fn count(&mut self, values: usize, span: Span) -> Result<(), Stop> {
        self.values += values;
        if self.values > self.limits.nodes {
            self.findings.push(limits::too_many_values(span, self.limits.nodes));
            return Err(Stop::Said);
        }
        Ok(())
    }

    /// Reads the node that `event` begins. Recurses as deep as the limits admit.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Stop> {
        if depth > self.limits.depth {
            self.findings.push(limits::too_deep(span, self.limits.depth));
            return Err(Stop::Said);
        }
        self.count(1, span)?;
        let counted = self.values;
        let mut node = Node { value: None, empty: false, plain: None, span, inner: Vec::new() };
        let anchor = match event {
            Event::Scalar(words, style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), span);
                node.empty = style == ScalarStyle::Plain && span.start == span.end;
                node.plain = (style == ScalarStyle::Plain && !node.empty).then(|| words.to_string());
                node.value = self.scalar(&words, style, node.empty, span);
                anchor
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), span);
                let (items, inner, end) = self.sequence(style, span, depth)?;
                node.inner = inner;
                node.span = span.to(end);
                node.value = Some(Value::new(node.span, Kind::Sequence(items)));
                anchor
            }
            Event::MappingStart(style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), span);
                let (entries, inner, end) = self.mapping(style, span, depth)?;
                node.inner = inner;
                node.span = span.to(end);
                node.value = Some(Value::new(node.span, Kind::Mapping(entries)));
                anchor
            }
            Event::Alias(id) => {
                self.aliases += 1;
                if self.aliases > self.limits.aliases {
                    self.findings.push(limits::too_many_aliases(span, self.limits.aliases));
                    return Err(Stop::Said);
                }
                match self.anchors.get(&id).cloned() {
                    Some((value, size)) => {
                        self.count(size, span)?;
                        node.value = Some(value);
                    }
                    None => self.findings.push(
                        Diagnostic::new(Code::PUR0005, "an alias stands inside the value that it repeats")
                            .at(span, "this would go on without end")
                            .help("write the value out"),
                    ),
                }
                0
            }
            Event::UnresolvedAlias(name) => {
                self.findings.push(
                    Diagnostic::new(Code::PUR0001, format!("no anchor `&{name}` stands above this alias"))
                        .at(span, "unknown")
                        .help(
                            "write `&name` at the value to repeat, or quote the text if it is none: `\"*…\"`",
                        ),
                );
                0
            }
            _ => 0,
        };
        if let (true, Some(value)) = (anchor != 0, &node.value) {
            self.anchors.insert(anchor, (value.clone(), self.values - counted));
        }
        Ok(node)
    }

    fn refuse_tag(&mut self, tag: Option<&granit_parser::Tag>, span: Span) {
        if let Some(tag) = tag {
            self.findings.push(
                Diagnostic::new(Code::PUR0005, format!("a tag `{tag}` stands before a value"))
                    .at(span, "the value")
                    .help("remove the tag; to make sure that a value is a string, quote it"),
            );
        }
    }

    fn sequence(
        &mut self,
        style: StructureStyle,
        start: Span,
        depth: usize,
    ) -> Result<(Vec<Item>, Vec<Comment>, Span), Stop> {
        let mut items: Vec<Item> = Vec::new();
        let mut end = Span { end: start.start, ..start };
        let column = self.column(start);
        let mut behind = Comments::default();
        loop {
            let mut own = std::mem::take(items.last_mut().map_or(&mut behind, |i| &mut i.comments));
            let (event, span) = self.next(Some((&mut own, end)))?;
            match items.last_mut() {
                Some(item) => item.comments = own,
                None => behind = own,
            }
            if event == Event::SequenceEnd {
                let mut inner: Vec<Comment> = behind.trailing.into_iter().collect();
                inner.append(&mut self.inner(style, column));
                return Ok((items, inner, if style == StructureStyle::Flow { span } else { end }));
            }
            let mut comments = Comments { leading: std::mem::take(&mut self.pending), ..Comments::default() };
            if items.is_empty() {
                comments.leading.splice(0..0, behind.trailing.take());
            }
            let node = self.node(event, span, depth + 1)?;
            end = node.span;
            comments.inner = node.inner;
            match node.value {
                Some(value) => items.push(Item { value, comments }),
                None => self.pending.extend(comments.leading),
            }
        }
    }

    fn mapping(
        &mut self,
        style: StructureStyle,
        start: Span,
        depth: usize,
    ) -> Result<(Vec<Entry>, Vec<Comment>, Span), Stop> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut first: BTreeMap<String, Span> = BTreeMap::new();
        let mut end = Span { end: start.start, ..start };
        let column = self.column(start);
        let mut behind = Comments::default();
        loop {
            let mut own = std::mem::take(entries.last_mut().map_or(&mut behind, |e| &mut e.comments));
            let (event, span) = self.next(Some((&mut own, end)))?;
            match entries.last_mut() {
                Some(entry) => entry.comments = own,
                None => behind = own,
            }
            if event == Event::MappingEnd {
                let mut inner: Vec<Comment> = behind.trailing.into_iter().collect();
                inner.append(&mut self.inner(style, column));
                return Ok((entries, inner, if style == StructureStyle::Flow { span } else { end }));
            }
            let mut comments = Comments { leading: std::mem::take(&mut self.pending), ..Comments::default() };
            if entries.is_empty() {
                comments.leading.splice(0..0, behind.trailing.take());
            }
            let key = self.node(event, span, depth + 1)?;
            comments.leading.extend(key.inner.iter().cloned());
            let (event, value_span) = self.next(Some((&mut comments, key.span)))?;
            // Comments between a key and a scalar on the next line belong to the key; those before a block to its
            // first entry.
            if !matches!(
                event,
                Event::MappingStart(StructureStyle::Block, ..)
                    | Event::SequenceStart(StructureStyle::Block, ..)
            ) {
                comments.leading.append(&mut self.pending);
            }
            let node = self.node(event, value_span, depth + 1)?;
            end = if node.empty { key.span } else { node.span };
            comments.inner = node.inner;
            let named = self.key(&key);
            let entry = named.and_then(|name| match first.get(&name) {
                Some(before) => {
                    self.findings.push(scalar::repeated(&name, *before, key.span));
                    None
                }
                None => {
                    first.insert(name.clone(), key.span);
                    Some(Entry {
                        key: name,
                        key_span: key.span,
                        value: node.value?,
                        comments: comments.clone(),
                    })
                }
            });
            match entry {
                Some(entry) => entries.push(entry),
                None => {
                    self.pending.extend(comments.leading);
                    self.pending.extend(comments.trailing);
                }
            }
        }
    }

    /// The comments at a block's end that are indented as its entries are; those further out belong to what follows.
    fn inner(&mut self, style: StructureStyle, column: usize) -> Vec<Comment> {
        let count = self
            .pending
            .iter()
            .take_while(|c| style == StructureStyle::Flow || self.column(c.span) >= column.max(1))
            .count();
        self.pending.drain(..count).collect()
    }

    fn key(&mut self, key: &Node) -> Option<String> {
        if key.plain.as_deref() == Some("<<") {
            self.findings.push(
                Diagnostic::new(Code::PUR0005, "a merge key `<<` is not part of YAML 1.2")
                    .at(key.span, "merge key")
                    .help("write the keys out"),
            );
            return None;
        }
        let help = match key.value.as_ref().map(|v| &v.kind) {
            Some(Kind::String(text)) => return Some(text.clone()),
            Some(Kind::Integer(_)) => return key.plain.clone(),
            Some(Kind::Mapping(_) | Kind::Sequence(_)) => "write a string before the colon",
            _ => "put the key in quotes",
        };
        // A null key was named where it was read.
        if key.value.is_some() {
            let what = key.value.as_ref().map_or("null", Value::type_name);
            let mut finding =
                Diagnostic::new(Code::PUR0103, "a key is not a string").at(key.span, what).help(help);
            if let Some(plain) = &key.plain {
                finding = finding.fix(key.span, format!("\"{plain}\""), format!("write `\"{plain}\"`"));
            }
            self.findings.push(finding);
        }
        key.plain.clone()
    }

    fn scalar(&mut self, words: &str, style: ScalarStyle, empty: bool, span: Span) -> Option<Value> {
        let kind = if style != ScalarStyle::Plain {
            Kind::String(words.to_owned())
        } else if empty {
            // Validation knows what was wanted here: a value, or `{}`.
            Kind::Null
        } else {
            match resolve(words) {
                Plain::Null => {
                    self.findings.push(scalar::null(span));
                    return None;
                }
                Plain::Bool(b) => Kind::Bool(b),
                Plain::Decimal => scalar::decimal(words, span, self.findings),
                Plain::Radix(digits, radix) => match i128::from_str_radix(digits, radix) {
                    Ok(n) => Kind::Integer(n),
                    Err(_) => {
                        self.findings.push(scalar::beyond_range(span, words));
                        Kind::Float(f64::INFINITY)
                    }
                },
                Plain::Infinite => {
                    self.findings.push(scalar::beyond_range(span, words));
                    Kind::Float(f64::INFINITY)
                }
                Plain::LeadingZero => {
                    self.findings.push(scalar::leading_zero(words, span));
                    Kind::String(words.to_owned())
                }
                Plain::String => Kind::String(words.to_owned()),
            }
        };
        Some(Value { span, kind })
    }
}

/// A plain scalar by the core schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plain<'a> {
    Null,
    Bool(bool),
    Decimal,
    Radix(&'a str, u32),
    Infinite,
    /// `0755`: an octal number to some readers, a decimal one to others.
    LeadingZero,
    String,
}

/// YAML 1.2, 10.3.2 (tag resolution of the core schema).
pub fn resolve(words: &str) -> Plain<'_> {
    match words {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Plain::Infinite,
        _ => {}
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = words.strip_prefix(prefix) {
            let known = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            return if known { Plain::Radix(digits, radix) } else { Plain::String };
        }
    }
    let unsigned = words.strip_prefix(['+', '-']).unwrap_or(words);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Plain::Infinite;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let number = digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|e| {
            let e = e.strip_prefix(['+', '-']).unwrap_or(e);
            !e.is_empty() && digits(e)
        });
    if !number {
        Plain::String
    } else if unsigned.len() > 1 && unsigned.starts_with('0') && digits(unsigned) {
        Plain::LeadingZero
    } else {
        Plain::Decimal
    }
}

/// Directives stand before the document's `---`; only the version is of use, and only 1.2 or no number at all.
fn directives(text: &str, base: usize, file: FileId, findings: &mut Findings) -> bool {
    let mut at = base;
    let mut refused = false;
    for line in text[base..].split_inclusive('\n') {
        let words = line.trim_end();
        if words.starts_with('%') && !words.starts_with("%YAML ") {
            refused = true;
            findings.push(
                Diagnostic::new(Code::PUR0005, "a directive other than %YAML stands before the document")
                    .at(Span::new(file, at, at + words.len()), "directive")
                    .help("remove it; tags are not used in a spec"),
            );
        } else if !(words.starts_with('%') || words.is_empty() || words.trim_start().starts_with('#')) {
            break;
        }
        at += line.len();
    }
    refused
}

fn mistake(error: &ScanError, text: &str, base: usize, file: FileId, limits: &Limits) -> Diagnostic {
    let start = (base + error.marker().byte_offset().unwrap_or(0)).min(text.len());
    // The parser marks the scalar that a tab ends; the tab itself is what is wrong.
    let tab = is_about_tabs(error.kind()).then(|| text[start..].find('\t')).flatten();
    let start = start + tab.unwrap_or(0);
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    let span = Span::new(file, start, start + length);
    if *error.kind() == Mistake::RecursionLimitExceeded {
        return limits::too_deep(span, limits.depth);
    }
    let (message, help) = words(error.kind());
    Diagnostic::new(Code::PUR0001, message).at(span, "here").help(help)
}

fn is_about_tabs(mistake: &Mistake) -> bool {
    matches!(
        mistake,
        Mistake::TabNotAllowed
            | Mistake::TabInBlockIndentation
            | Mistake::TabInIndentation
            | Mistake::TabAtBlockScalarStart
            | Mistake::TabInPlainScalar
    )
}

fn words(mistake: &Mistake) -> (String, &'static str) {
    let (message, help) = match mistake {
        tabs if is_about_tabs(tabs) => ("a tab is used for indentation", "indent with spaces"),
        Mistake::InvalidIndentation
        | Mistake::InvalidBlockScalarIndent
        | Mistake::InvalidQuotedScalarIndent
        | Mistake::InvalidFlowScalarIndent => (
            "the indentation fits no block above",
            "indent the keys of one mapping, and the items of one list, alike",
        ),
        Mistake::UnclosedQuotedScalar | Mistake::DocumentIndicatorInQuotedScalar => {
            ("a quoted string is never closed", "close it with the quote that it begins with")
        }
        Mistake::UnclosedFlowCollection { .. }
        | Mistake::UnexpectedEofFlowSequence
        | Mistake::UnexpectedEofFlowMapping
        | Mistake::UnexpectedEofImplicitFlowMapping => {
            ("a `[` or `{` is never closed", "close it with `]` or `}`")
        }
        Mistake::MisplacedFlowCollectionEnd | Mistake::MismatchedFlowCollectionEnd { .. } => {
            ("a closing bracket does not belong to an open one", "remove it, or use the bracket that opened")
        }
        Mistake::ExpectedFlowMappingSeparator | Mistake::ExpectedFlowSequenceSeparator => {
            ("a comma is missing between brackets", "separate the values with `,`")
        }
        Mistake::SimpleKeyExpected | Mistake::InvalidSimpleKey | Mistake::ExpectedBlockMappingKey => (
            "a line is no `key: value`",
            "write a colon and a space after the key, and keep the key on one line",
        ),
        Mistake::MappingValueNotAllowed | Mistake::InvalidColonPlacement => {
            ("a second colon makes a key where none can be", "quote the value if it holds `: `")
        }
        Mistake::MappingKeyNotAllowed => ("a key stands where none can be", "begin it on a line of its own"),
        Mistake::ExpectedBlockSequenceEntry => (
            "the next item of a list is expected here",
            "begin it with `- `, or indent it less to end the list",
        ),
        Mistake::BlockSequenceEntryNotAllowed
        | Mistake::BlockEntryInFlowCollection
        | Mistake::InvalidBlockEntryWhitespace
        | Mistake::PlainScalarStartsWithDashFlowIndicator => {
            ("a list's dash stands where none can be", "begin each item on a line of its own: `- item`")
        }
        Mistake::InvalidTrailingSingleQuotedScalar | Mistake::InvalidTrailingDoubleQuotedScalar => (
            "something follows a quoted string",
            "escape the quotes within it: `\\\"` in double, `''` in single quotes",
        ),
        Mistake::UnknownQuotedScalarEscape
        | Mistake::InvalidQuotedScalarHexEscape
        | Mistake::InvalidLowSurrogateHexEscape
        | Mistake::InvalidLowSurrogate
        | Mistake::MissingLowSurrogate
        | Mistake::UnpairedLowSurrogate
        | Mistake::InvalidUnicodeEscape => (
            "a string holds an escape that YAML does not know",
            "write `\\\\` for a backslash, or use single quotes",
        ),
        Mistake::CommentNotSeparated => {
            ("a `#` follows a value without a space", "put a space before the comment")
        }
        Mistake::CommentInterceptedScalar => {
            ("a comment stands inside a text of several lines", "quote the text, or move the comment")
        }
        Mistake::UnexpectedCharacter { character } => {
            return (format!("`{character}` cannot begin a value"), "quote the value");
        }
        other => return (format!("this is not YAML: {other}"), "see the line above the mark as well"),
    };
    (message.to_owned(), help)
}
