//! What Purlin says to people: findings as data, their codes, and one renderer per format.
//!
//! A user's mistake is a [`Diagnostic`]; a broken world is a typed error. Nothing here knows a section of the
//! spec, and nothing here prints.

mod code;
pub mod fix;
pub mod github;
mod guess;
pub mod human;
pub mod json;
pub mod junit;
pub mod markdown;
mod report;
pub mod sarif;
mod secret;
pub mod silence;
mod span;
mod visible;

pub use code::{CODES, Code};
pub use guess::{Guess, bare, guess};
pub use report::{CUT_SHORT, Report};
pub use secret::masked;
pub use span::{FileId, Moved, Position, SourceFile, Sources, Span, Spanned};
pub use visible::{obeyed, visible_line, visible_text};

use std::collections::BTreeSet;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

impl Severity {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// A place that a finding points at, with what is to be seen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub message: String,
    /// The place of the mistake itself, rather than one that explains it.
    pub primary: bool,
}

/// A change of the operator's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub span: Span,
    pub replacement: String,
    /// What the change does, as an order: "write `handler`".
    pub message: String,
    /// The change is surely what was meant; it may be applied without asking.
    pub certain: bool,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    /// What is wrong: one sentence, lower case, no full stop.
    pub message: String,
    pub labels: Vec<Label>,
    /// Why it matters.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Vec<String>,
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A finding of the code's own severity.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            fix: None,
        }
    }

    /// The place of the mistake.
    #[must_use]
    pub fn at(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into(), primary: true });
        self
    }

    /// A place that explains it.
    #[must_use]
    pub fn see(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into(), primary: false });
        self
    }

    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    #[must_use]
    pub fn fix(mut self, span: Span, replacement: impl Into<String>, message: impl Into<String>) -> Self {
        self.fix =
            Some(Fix { span, replacement: replacement.into(), message: message.into(), certain: true });
        self
    }

    /// Like [`Self::fix`], for a change that is only likely.
    #[must_use]
    pub fn suggest(self, span: Span, replacement: impl Into<String>, message: impl Into<String>) -> Self {
        self.fix(span, replacement, message).certain(false)
    }

    /// Says how sure the fix is, if there is one.
    #[must_use]
    pub fn certain(mut self, certain: bool) -> Self {
        if let Some(fix) = &mut self.fix {
            fix.certain = certain;
        }
        self
    }

    fn mask_credentials(&mut self) {
        let labels = self.labels.iter_mut().map(|label| &mut label.message);
        let texts =
            std::iter::once(&mut self.message).chain(labels).chain(&mut self.notes).chain(&mut self.help);
        for text in texts {
            *text = masked(text).unwrap_or_else(|| std::mem::take(text));
        }
        // A fix that would write a mask is none.
        self.fix.take_if(|fix| masked(&fix.replacement).is_some() || masked(&fix.message).is_some());
    }

    /// The same finding, its places among the texts of another run.
    #[must_use]
    pub fn moved(mut self, moved: &Moved) -> Self {
        self.labels.iter_mut().for_each(|label| label.span = moved.span(label.span));
        self.fix.iter_mut().for_each(|fix| fix.span = moved.span(fix.span));
        self
    }

    /// The first primary place, or the first place at all.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        self.labels.iter().find(|l| l.primary).or_else(|| self.labels.first()).map(|l| l.span)
    }
}

/// The findings of a run, in the order in which they were made.
///
/// Tests switch single codes off with [`Findings::without`] to show that each has a fixture which sees it.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    list: Vec<Diagnostic>,
    off: BTreeSet<Code>,
    cut_short: bool,
    silencers: silence::Silencers,
    /// The silencers of runs that were taken in, judged already.
    absorbed: silence::Silencers,
}

/// The findings of a run as they are shown.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Sorted by place, then code, without exact repeats.
    pub list: Vec<Diagnostic>,
    /// How many more there would be, had comments not silenced them.
    pub silenced: usize,
    /// Some text was not checked to the end, so more may be wrong.
    pub cut_short: bool,
}

impl Findings {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Findings that drop what has one of these codes.
    #[must_use]
    pub fn without(codes: impl IntoIterator<Item = Code>) -> Self {
        Self { off: codes.into_iter().collect(), ..Self::default() }
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.off.contains(&diagnostic.code) {
            self.list.push(diagnostic);
        }
    }

    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// Notes that some text was not checked to the end: what it means can be told only once its shape is right.
    pub const fn cut_short(&mut self) {
        self.cut_short = true;
    }

    /// Whether more may be wrong than is said.
    #[must_use]
    pub const fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// How many errors there are.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.list.iter().filter(|d| d.severity == Severity::Error).count()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Masks the credentials that findings quote.
    pub fn mask_credentials(&mut self) {
        self.list.iter_mut().for_each(Diagnostic::mask_credentials);
    }

    /// Takes in findings about the same texts.
    pub fn join(&mut self, other: Self) {
        self.list.extend(other.list);
        self.cut_short |= other.cut_short;
    }

    /// Takes in a comment that silences warnings.
    pub fn silence(&mut self, silencer: silence::Silencer) {
        self.silencers.extend([silencer]);
    }

    fn hush(&mut self) {
        let complete = !self.cut_short && !self.has_errors();
        self.silencers.apply(&mut self.list, complete);
    }

    /// Takes in the findings of another run that has come to its end. What stood here before them is not silenced by
    /// their comments, nor they by those here: a silencer is judged by its own run.
    pub fn absorb(&mut self, mut other: Self, moved: &Moved) {
        other.hush();
        self.list.extend(other.list.into_iter().map(|d| d.moved(moved)));
        self.absorbed.absorb(other.silencers, moved);
        self.absorbed.absorb(other.absorbed, moved);
        self.cut_short |= other.cut_short;
    }

    /// The end of a run: warnings are silenced, and silencers that did nothing are told.
    #[must_use]
    pub fn settle(mut self) -> Settled {
        self.hush();
        let mut silencers = self.silencers;
        silencers.absorb(self.absorbed, &Moved::default());
        let silenced = silencers.count();
        let mut list = self.list;
        let more = silencers.findings(&list);
        list.extend(more.into_iter().filter(|d| !self.off.contains(&d.code)));
        list.sort_by_key(|d| (d.span().unwrap_or_default(), d.code));
        list.dedup();
        Settled { list, silenced, cut_short: self.cut_short }
    }

    /// What is left when a run has come to its end, sorted by place, then code.
    #[must_use]
    pub fn into_sorted(self) -> Vec<Diagnostic> {
        self.settle().list
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
