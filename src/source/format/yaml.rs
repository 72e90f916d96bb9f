//! YAML laid out anew: the scanner's events say what stands where, and every byte between them is accounted for.
//!
//! Scalars and flow collections are the author's own text; only the indentation of their later lines moves with them.
//! What specs hardly use (a `?` before a key, an anchor on a line of its own) makes no layout, and the text stays as it is.

use super::{SPACES, ended, shifted};
use crate::source::limits::Limits;
use crate::source::yaml::events;
use granit_parser::{Event, ScalarStyle, ScanError, StructureStyle};
use std::ops::Range;

const INDENT: usize = 2;

/// Lays out a sound text without a byte order mark whose lines end with `\n`. None for what has no layout.
pub fn format(text: &str, limits: &Limits) -> Option<String> {
    let mut gather = Gather { text, events: Vec::new(), comments: Vec::new(), at: 0 };
    gather.read(limits).ok()?;
    let root = gather.document()?;
    let comments = gather.comments;
    let mut printer =
        Printer { text, comments, next: 0, at: 0, out: String::new(), opened: false, indentless: None };
    printer.document(&root)?;
    Some(printer.out)
}

/// All that a text says, without its layout.
pub fn said(text: &str, limits: &Limits) -> Option<Vec<String>> {
    let (mut said, mut comments) = read(text, limits)?;
    said.append(&mut comments);
    Some(said)
}

pub fn comments(text: &str, limits: &Limits) -> Option<Vec<String>> {
    read(text, limits).map(|(_, comments)| comments)
}

/// Events and comments, each in the order of the text.
fn read(text: &str, limits: &Limits) -> Option<(Vec<String>, Vec<String>)> {
    let (mut said, mut comments) = (Vec::new(), Vec::new());
    for event in events(text, limits) {
        match event.ok()? {
            (Event::Comment(words, _), span) => {
                comments.push((span.byte_range().unwrap_or_default().start, words.trim().to_owned()));
            }
            (event, _) => said.push(format!("{event:?}")),
        }
    }
    // The scanner tells of a comment when it comes to it, which may be after the value that follows.
    comments.sort();
    Some((said, comments.into_iter().map(|(_, words)| words).collect()))
}

struct Node {
    anchored: bool,
    span: Range<usize>,
    kind: Kind,
}

enum Kind {
    /// Nothing is written.
    Empty,
    Scalar,
    /// A literal or folded text; its span is that of the lines.
    Text,
    /// In brackets.
    Flow,
    Mapping(Vec<(Node, Node)>),
    Sequence(Vec<Node>),
}

struct Gather<'a> {
    text: &'a str,
    events: Vec<(Event<'a>, Range<usize>)>,
    comments: Vec<Range<usize>>,
    at: usize,
}

impl Gather<'_> {
    fn read(&mut self, limits: &Limits) -> Result<(), ScanError> {
        for event in events(self.text, limits) {
            let (event, span) = event?;
            let span = span.byte_range().unwrap_or_default();
            match event {
                Event::Comment(..) => self.comments.push(span),
                Event::StreamStart | Event::DocumentStart(..) => {}
                event => self.events.push((event, span)),
            }
        }
        self.comments.sort_by_key(|c| c.start);
        Ok(())
    }

    fn document(&mut self) -> Option<Node> {
        let root = self.node()?;
        matches!(self.events.get(self.at)?.0, Event::DocumentEnd).then_some(root)
    }

    fn is_next(&self, event: &Event<'_>) -> bool {
        self.events.get(self.at).is_some_and(|(next, _)| next == event)
    }

    /// Recurses as deep as the limits admit.
    fn node(&mut self) -> Option<Node> {
        let (event, span) = self.events.get(self.at)?;
        let mut span = span.clone();
        self.at += 1;
        let (anchored, kind) = match event {
            Event::Scalar(_, ScalarStyle::Plain, anchor, _) if span.is_empty() => (*anchor != 0, Kind::Empty),
            Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, anchor, _) => {
                (*anchor != 0, Kind::Text)
            }
            Event::Scalar(_, _, anchor, _) => (*anchor != 0, Kind::Scalar),
            Event::Alias(_) => (false, Kind::Scalar),
            Event::MappingStart(StructureStyle::Flow, anchor, _)
            | Event::SequenceStart(StructureStyle::Flow, anchor, _) => {
                let anchored = *anchor != 0;
                span.end = self.flow()?;
                (anchored, Kind::Flow)
            }
            Event::MappingStart(_, anchor, _) => {
                let anchored = *anchor != 0;
                let mut entries = Vec::new();
                while !self.is_next(&Event::MappingEnd) {
                    entries.push((self.node()?, self.node()?));
                }
                self.at += 1;
                (anchored, Kind::Mapping(entries))
            }
            Event::SequenceStart(_, anchor, _) => {
                let anchored = *anchor != 0;
                let mut items = Vec::new();
                while !self.is_next(&Event::SequenceEnd) {
                    items.push(self.node()?);
                }
                self.at += 1;
                (anchored, Kind::Sequence(items))
            }
            _ => return None,
        };
        Some(Node { anchored, span, kind })
    }

    /// The end of a collection whose bracket was read.
    fn flow(&mut self) -> Option<usize> {
        let mut open = 1;
        loop {
            let (event, span) = self.events.get(self.at)?;
            self.at += 1;
            match event {
                Event::MappingStart(..) | Event::SequenceStart(..) => open += 1,
                Event::MappingEnd | Event::SequenceEnd => open -= 1,
                _ => {}
            }
            if open == 0 {
                return Some(span.end);
            }
        }
    }
}

fn column(text: &str, at: usize) -> usize {
    at - text[..at].rfind('\n').map_or(0, |i| i + 1)
}

struct Printer<'a> {
    text: &'a str,
    comments: Vec<Range<usize>>,
    /// The first comment that is not printed yet.
    next: usize,
    /// Up to here the text is printed.
    at: usize,
    out: String,
    /// A block has just begun: no blank line stands there.
    opened: bool,
    /// Whether lists stand at the column of their keys: as the first one does.
    indentless: Option<bool>,
}

impl<'a> Printer<'a> {
    /// What stands next, comments aside, up to a space.
    fn sign(&self) -> Option<(usize, &'a str)> {
        let (mut at, mut next) = (self.at, self.next);
        loop {
            at += self.text[at..].find(|c: char| !c.is_ascii_whitespace())?;
            match self.comments.get(next) {
                Some(comment) if comment.start <= at => at = at.max(comment.end),
                _ => break,
            }
            next += 1;
        }
        let rest = &self.text[at..];
        Some((at, &rest[..rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len())]))
    }

    /// The start of what stands next, if it begins so.
    fn begins_with(&self, sign: &str) -> Option<usize> {
        self.sign().filter(|(_, run)| run.starts_with(sign)).map(|(at, _)| at)
    }

    fn begins_at(&self, start: usize) -> Option<usize> {
        self.sign().filter(|(at, _)| *at == start).map(|(at, _)| at)
    }

    fn push(&mut self, range: Range<usize>) {
        self.at = range.end;
        self.out.push_str(&self.text[range]);
    }

    /// What separates what was printed from what stands at `start`. None when that comes before.
    fn gap(&self, start: usize) -> Option<&'a str> {
        self.text.get(self.at..start)
    }

    /// Begins a line for what stands at `start`.
    fn line(&mut self, start: usize, indent: usize) -> Option<()> {
        let newlines = self.gap(start)?.matches('\n').count();
        if !self.out.is_empty() {
            self.out.push_str(if newlines > 1 && !self.opened { "\n\n" } else { "\n" });
        }
        self.opened = false;
        self.out.extend(std::iter::repeat_n(' ', indent));
        Some(())
    }

    /// The next comment, if it stands before `end`.
    fn comment_before(&self, end: usize) -> Option<Range<usize>> {
        self.comments.get(self.next).filter(|c| c.start < end).cloned()
    }

    /// Whether a comment stands on the line of what was printed last.
    fn is_behind(&self, comment: &Range<usize>) -> bool {
        !self.out.is_empty() && self.gap(comment.start).is_some_and(|gap| !gap.contains('\n'))
    }

    fn comment(&mut self, comment: Range<usize>, indent: usize) -> Option<()> {
        if self.is_behind(&comment) {
            self.out.push(' ');
        } else {
            self.line(comment.start, indent)?;
        }
        self.next += 1;
        self.at = comment.end;
        self.out.push_str(self.text[comment].trim_end());
        Some(())
    }

    fn comments(&mut self, end: usize, indent: usize) -> Option<()> {
        while let Some(comment) = self.comment_before(end) {
            self.comment(comment, indent)?;
        }
        Some(())
    }

    /// The comments at a block's end that are indented as its entries are; those further out belong to what follows. A
    /// list at its key's column has none of its own there.
    fn close(&mut self, least: usize, indent: usize) -> Option<()> {
        let end = self.sign().map_or(self.text.len(), |(at, _)| at);
        while let Some(comment) = self.comment_before(end) {
            if !self.is_behind(&comment) && column(self.text, comment.start) < least.max(1) {
                break;
            }
            self.comment(comment, indent)?;
        }
        Some(())
    }

    fn document(&mut self, root: &Node) -> Option<()> {
        while let Some(start) = self.begins_with("%") {
            self.comments(start, 0)?;
            self.line(start, 0)?;
            let end = start + self.text[start..].find('\n').unwrap_or(self.text.len() - start);
            self.push(start..end);
        }
        if let Some(start) = self.begins_with("---") {
            self.comments(start, 0)?;
            self.line(start, 0)?;
            self.push(start..start + 3);
        }
        match &root.kind {
            Kind::Mapping(entries) if !root.anchored => self.mapping(entries, 0, false)?,
            Kind::Flow if !root.anchored => {
                let start = self.begins_at(root.span.start)?;
                self.comments(start, 0)?;
                self.line(start, 0)?;
                self.moved(root, 0);
            }
            _ => return None,
        }
        if let Some(start) = self.begins_with("...") {
            self.comments(start, 0)?;
            self.line(start, 0)?;
            self.push(start..start + 3);
        }
        if self.sign().is_some() {
            return None;
        }
        self.comments(self.text.len(), 0)?;
        self.out.push('\n');
        Some(())
    }

    /// Recurses as deep as the limits admit. `begun` when the first entry's line is.
    fn mapping(&mut self, entries: &[(Node, Node)], indent: usize, mut begun: bool) -> Option<()> {
        for (key, value) in entries {
            let start = if key.anchored { self.begins_with("&")? } else { self.begins_at(key.span.start)? };
            if !begun {
                self.comments(start, indent)?;
                self.line(start, indent)?;
            }
            begun = false;
            if key.anchored {
                self.anchor()?;
                self.out.push(' ');
            }
            let written = &self.text[key.span.clone()];
            // An alias would take the colon for its own.
            let plain =
                matches!(key.kind, Kind::Scalar) && !written.starts_with('*') && !written.contains('\n');
            self.begins_at(key.span.start).filter(|_| plain)?;
            self.push(key.span.clone());
            let colon = self.begins_with(":")?;
            self.push(colon..colon + 1);
            self.value(value, start, indent)?;
        }
        Some(())
    }

    fn anchor(&mut self) -> Option<()> {
        let (start, run) = self.sign().filter(|(_, run)| run.starts_with('&'))?;
        if self.comment_before(start).is_some() {
            return None;
        }
        self.push(start..start + run.len());
        Some(())
    }

    /// What follows a key's colon; `key` is where that stood.
    fn value(&mut self, value: &Node, key: usize, indent: usize) -> Option<()> {
        if value.anchored {
            self.out.push(' ');
            self.anchor()?;
        }
        let start = self.sign().map_or(self.text.len(), |(at, _)| at);
        let begins = column(self.text, start);
        match &value.kind {
            Kind::Mapping(entries) => {
                self.opened = true;
                self.mapping(entries, indent + INDENT, false)?;
                self.close(begins, indent + INDENT)?;
            }
            Kind::Sequence(items) => {
                let same = begins == column(self.text, key);
                let indentless = *self.indentless.get_or_insert(same);
                let inside = if indentless { indent } else { indent + INDENT };
                self.opened = true;
                self.sequence(items, inside, false)?;
                self.close(begins + usize::from(same), inside)?;
            }
            _ => self.leaf(value, indent)?,
        }
        Some(())
    }

    fn sequence(&mut self, items: &[Node], indent: usize, mut begun: bool) -> Option<()> {
        for item in items {
            let (dash, _) = self.sign().filter(|(_, run)| *run == "-")?;
            if !begun {
                self.comments(dash, indent)?;
                self.line(dash, indent)?;
            }
            begun = false;
            self.push(dash..dash + 1);
            if item.anchored {
                self.out.push(' ');
                self.anchor()?;
            }
            let inside = indent + INDENT;
            let start = self.sign().map_or(self.text.len(), |(at, _)| at);
            // An anchor on the line of a first key would be that key's.
            let begun = !item.anchored && self.comment_before(start).is_none();
            let begins = column(self.text, start);
            match &item.kind {
                Kind::Mapping(_) | Kind::Sequence(_) if begun => self.out.push(' '),
                Kind::Mapping(_) | Kind::Sequence(_) => self.opened = true,
                _ => {}
            }
            match &item.kind {
                Kind::Mapping(entries) => {
                    self.mapping(entries, inside, begun)?;
                    self.close(begins, inside)?;
                }
                Kind::Sequence(items) => {
                    self.sequence(items, inside, begun)?;
                    self.close(begins, inside)?;
                }
                _ => self.leaf(item, indent)?,
            }
        }
        Some(())
    }

    /// A value that is no block, behind its key or dash; below it, when comments stand between.
    fn leaf(&mut self, value: &Node, indent: usize) -> Option<()> {
        if matches!(value.kind, Kind::Empty) {
            return Some(());
        }
        let (start, run) = self.sign()?;
        let text = matches!(value.kind, Kind::Text);
        let sound = if text { run.starts_with(['|', '>']) } else { start == value.span.start };
        if !sound {
            return None;
        }
        if self.comment_before(start).is_some() {
            self.opened = true;
            self.comments(start, indent + INDENT)?;
            self.line(start, indent + INDENT)?;
        } else {
            self.out.push(' ');
        }
        self.opened = false;
        if text {
            self.text(value, start, run, indent)
        } else {
            self.moved(value, indent);
            Some(())
        }
    }

    /// A scalar or flow collection, whose later lines keep their place below the first, or have none.
    fn moved(&mut self, value: &Node, indent: usize) {
        let written = &self.text[value.span.clone()];
        self.at = value.span.end;
        if !written.contains('\n') {
            self.out.push_str(written);
        } else if matches!(value.kind, Kind::Scalar) {
            for (at, line) in written.split('\n').enumerate() {
                let line = ended(line);
                let content = if at == 0 { line } else { line.trim_start_matches(SPACES) };
                if at > 0 {
                    self.out.push('\n');
                    self.out.extend(std::iter::repeat_n(
                        ' ',
                        if content.is_empty() { 0 } else { indent + INDENT },
                    ));
                }
                self.out.push_str(content);
            }
        } else {
            let spaces = |line: &str| line.len() - line.trim_start_matches(SPACES).len();
            let old = &self.text[self.text[..value.span.start].rfind('\n').map_or(0, |i| i + 1)..];
            let new = format!("{}[", &self.out[self.out.rfind('\n').map_or(0, |i| i + 1)..]);
            let shown = shifted(written, spaces(old), spaces(&new));
            self.out.push_str(&shown);
            while self.comment_before(value.span.end).is_some() {
                self.next += 1;
            }
        }
    }

    /// A literal or folded text; `header` is what stands before its lines.
    fn text(&mut self, value: &Node, start: usize, header: &str, indent: usize) -> Option<()> {
        let end = start + self.text[start..].find('\n').unwrap_or(self.text.len() - start);
        self.push(start..start + header.len());
        self.comments(end, indent)?;
        // Where no line has words, all of their spaces are indentation.
        let old = if value.span.is_empty() { usize::MAX } else { column(self.text, value.span.start) };
        let digit = header.bytes().find(u8::is_ascii_digit).map(|d| usize::from(d - b'0'));
        let new = indent + digit.unwrap_or(INDENT);
        // A line of tabs behind it is one of its lines to some readers, and none to others.
        let behind = self.text[value.span.end..].split('\n').next().unwrap_or_default();
        if behind.trim_start().is_empty() && behind.contains('\t') {
            return None;
        }
        let mut region = self.text.get(end + 1..value.span.end).unwrap_or_default();
        // The scanner counts the next line's indentation in.
        if value.span.end < self.text.len() {
            region = &region[..region.rfind('\n').map_or(0, |i| i + 1)];
        }
        let mut lines: Vec<&str> = region.strip_suffix('\n').unwrap_or(region).split('\n').collect();
        let blank = |line: &str| line.len() <= old && line.bytes().all(|b| b == b' ');
        let kept = header.contains('+');
        while !kept && lines.last().is_some_and(|line| blank(line)) {
            lines.pop();
        }
        self.at = end;
        if region.is_empty() {
            return Some(());
        }
        for line in &lines {
            self.out.push('\n');
            if !blank(line) {
                let content = line.get(old..).filter(|_| line.bytes().take(old).all(|b| b == b' '))?;
                self.out.extend(std::iter::repeat_n(' ', new));
                self.out.push_str(content);
            }
        }
        // The line's end is not printed yet.
        self.at = end + lines.iter().map(|line| line.len() + 1).sum::<usize>();
        Some(())
    }
}
