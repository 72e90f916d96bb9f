//! Where a thing stands in the operator's own text.

use super::{masked, visible_line};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Names one text within [`Sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u16);

/// A range of bytes in one text; `start` inclusive, `end` exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// Offsets beyond `u32` cannot occur: the limit on a file's bytes comes before any span is made.
    #[must_use]
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { file, start: narrow(start), end: narrow(end.max(start)) }
    }

    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest span that holds both; both must stand in the same file, or `self` is returned.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A value with the place where the operator wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), span: self.span }
    }

    pub fn as_ref(&self) -> Spanned<&T> {
        Spanned { value: &self.value, span: self.span }
    }
}

impl<T> std::ops::Deref for Spanned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// One text: its name as the operator knows it, and its content.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: Arc<str>,
    /// Where each line but the first starts, once it is asked: a text may have as many findings as it has words.
    lines: OnceLock<Vec<u32>>,
}

impl SourceFile {
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            (1..).zip(self.text.bytes()).filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect()
        })
    }
}

/// 1-based line and column (in characters) of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// All texts of one run.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
    by_name: BTreeMap<String, FileId>,
}

impl Sources {
    /// Takes a text in; at most 65,536 of them are told apart.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let id = FileId(u16::try_from(self.files.len()).unwrap_or(u16::MAX));
        let name = name.into();
        self.by_name.insert(name.clone(), id);
        self.files.push(SourceFile { name, text: text.into(), lines: OnceLock::new() });
        id
    }

    /// Takes in the texts of another run. A text that is here already, under the same name, is not taken in again.
    pub fn absorb(&mut self, other: Self) -> Moved {
        let mut place = |file: SourceFile| match self.by_name.get(&file.name).copied() {
            Some(id) if *self.text(id) == *file.text => id,
            _ => self.add(file.name, file.text),
        };
        Moved(other.files.into_iter().map(&mut place).collect())
    }

    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(usize::from(id.0))
    }

    #[must_use]
    pub fn name(&self, id: FileId) -> &str {
        self.get(id).map_or("", |f| f.name.as_str())
    }

    #[must_use]
    pub fn text(&self, id: FileId) -> &str {
        self.get(id).map_or("", |f| &f.text)
    }

    /// Masks the credentials of every address in the texts, byte for byte, so that no rendering of a finding shows them.
    pub fn mask_credentials(&mut self) {
        for file in &mut self.files {
            if let Some(masked) = masked(&file.text) {
                file.text = masked.into();
            }
        }
    }

    /// The text under a span; empty when the span fits no text.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.file).get(span.range()).unwrap_or("")
    }

    /// Line and column of a span's start.
    #[must_use]
    pub fn position(&self, span: Span) -> Position {
        self.place(span, |before| before.chars().count())
    }

    /// Like [`Self::position`], with the column in UTF-16 code units.
    #[must_use]
    pub fn position_utf16(&self, span: Span) -> Position {
        self.place(span, |before| before.encode_utf16().count())
    }

    fn place(&self, span: Span, length: fn(&str) -> usize) -> Position {
        let Some(file) = self.get(span.file) else { return Position { line: 1, column: 1 } };
        let at = file.text.floor_char_boundary(span.start as usize);
        let line = file.lines().partition_point(|start| *start as usize <= at);
        let start = line.checked_sub(1).map_or(0, |i| file.lines()[i] as usize);
        Position { line: line + 1, column: length(&file.text[start..at]) + 1 }
    }

    /// `file:line`, as diffs and messages cite a place.
    #[must_use]
    pub fn cite(&self, span: Span) -> String {
        format!("{}:{}", visible_line(self.name(span.file)), self.position(span).line)
    }
}

/// Where the texts of one run are among those of another; by default, where they were.
#[derive(Clone, Debug, Default)]
pub struct Moved(Vec<FileId>);

impl Moved {
    #[must_use]
    pub fn span(&self, span: Span) -> Span {
        Span { file: self.0.get(usize::from(span.file.0)).copied().unwrap_or(span.file), ..span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_several_runs_are_told_apart_and_shared_ones_kept_once() {
        let texts = |list: &[(&str, &str)]| {
            let mut sources = Sources::default();
            list.iter().for_each(|(name, text)| _ = sources.add(*name, *text));
            sources
        };
        let mut all = texts(&[("a", "1"), ("shared", "2")]);
        let moved = all.absorb(texts(&[("b", "3"), ("shared", "2"), ("a", "other")]));
        let name = |file| {
            let span = moved.span(Span { file: FileId(file), start: 0, end: 1 });
            (all.name(span.file), all.slice(span), span.file.0)
        };
        assert_eq!([name(0), name(1), name(2)], [("b", "3", 2), ("shared", "2", 1), ("a", "o", 3)]);
    }
}
