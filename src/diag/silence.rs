//! Comments that silence warnings: `// purlin: allow PUR0203 because …`, `# purlin: allow PUR0203, PUR0214`.
//!
//! A silencer stands on a line of its own and speaks of the next line that is neither blank nor a comment. Errors are
//! beyond it. One that silences nothing is told, for it would hide the next warning of that code; but only by a run that
//! could have found the warning, and never for codes that depend on facts, which differ from run to run.

use super::{Code, Diagnostic, FileId, Findings, Moved, Severity, Sources, Span, guess};
use std::collections::{BTreeMap, BTreeSet};

/// A comment that silences warnings on the line that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silencer {
    /// The codes, each with its place. Also those that cannot be silenced: whether they are found there is told.
    codes: Vec<(Code, Span)>,
    /// The line that it speaks of. `None` at the text's end.
    target: Option<Span>,
    /// Its own line, with the line break: what goes when it is not needed.
    line: Span,
    used: BTreeSet<Code>,
    /// The run looked at all that it could have silenced.
    judged: bool,
}

impl Silencer {
    fn moved(mut self, moved: &Moved) -> Self {
        self.codes.iter_mut().for_each(|(_, span)| *span = moved.span(*span));
        self.target = self.target.map(|span| moved.span(span));
        self.line = moved.span(self.line);
        self
    }
}

/// Findings by code and place, so that many silencers over many findings cost little.
struct Places(BTreeMap<(Code, FileId, u32), Vec<usize>>);

impl Places {
    fn of(findings: &[Diagnostic], severity: Severity) -> Self {
        let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, finding) in findings.iter().enumerate().filter(|(_, f)| f.severity == severity) {
            if let Some(span) = finding.span() {
                places.entry((finding.code, span.file, span.start)).or_default().push(index);
            }
        }
        Self(places)
    }

    /// The findings of a code that begin on a line.
    fn on(&self, code: Code, line: Option<Span>) -> impl Iterator<Item = usize> {
        let key = |line: Span, at: u32| (code, line.file, at);
        let range = line.map(|line| self.0.range(key(line, line.start)..key(line, line.end)));
        range.into_iter().flatten().flat_map(|(_, indexes)| indexes.iter().copied())
    }
}

/// All silencers of a run, and what they have silenced.
#[derive(Clone, Debug, Default)]
pub(super) struct Silencers {
    list: Vec<Silencer>,
    silenced: Vec<Diagnostic>,
}

impl Silencers {
    pub(super) fn extend(&mut self, silencers: impl IntoIterator<Item = Silencer>) {
        self.list.extend(silencers);
    }

    /// Takes what is silenced out of the findings. `complete` says that nothing kept the run from finding more.
    pub(super) fn apply(&mut self, findings: &mut Vec<Diagnostic>, complete: bool) {
        if self.list.is_empty() {
            return;
        }
        let places = Places::of(findings, Severity::Warning);
        let mut taken = BTreeSet::new();
        for silencer in &mut self.list {
            silencer.judged = complete;
            for (code, _) in &silencer.codes {
                for index in places.on(*code, silencer.target) {
                    // Of two silencers for one finding the first does the work, and the other can go.
                    if taken.insert(index) {
                        silencer.used.insert(*code);
                    }
                }
            }
        }
        self.silenced.extend(taken.iter().map(|index| findings[*index].clone()));
        let mut index = 0..;
        findings.retain(|_| index.next().is_none_or(|index| !taken.contains(&index)));
    }

    pub(super) fn absorb(&mut self, other: Self, moved: &Moved) {
        self.list.extend(other.list.into_iter().map(|s| s.moved(moved)));
        self.silenced.extend(other.silenced.into_iter().map(|d| d.moved(moved)));
    }

    /// How many findings were silenced; one that several runs made counts once.
    pub(super) fn count(&self) -> usize {
        let mut list: Vec<&Diagnostic> = self.silenced.iter().collect();
        list.sort_by_key(|d| (d.span().unwrap_or_default(), d.code));
        list.dedup();
        list.len()
    }

    /// What is to be said of the silencers themselves, given what is left of the findings.
    pub(super) fn findings(self, left: &[Diagnostic]) -> Vec<Diagnostic> {
        let mut list = self.list;
        list.sort_by_key(|s| s.line);
        // A file that several specs share has its silencers in each of their runs; use in one is use enough.
        list.dedup_by(|next, first| {
            let same = next.line == first.line;
            if same {
                first.used.append(&mut next.used);
                first.judged &= next.judged;
            }
            same
        });
        let errors = Places::of(left, Severity::Error);
        list.iter()
            .flat_map(|s| {
                let error = |code| errors.on(code, s.target).next().and_then(|index| left[index].span());
                let elsewhere = |code| {
                    let same = |d: &&Diagnostic| d.code == code && d.severity == Severity::Warning;
                    let mut spans = left.iter().filter(same).filter_map(Diagnostic::span);
                    spans.find(|span| span.file == s.line.file)
                };
                said_of(s, error, elsewhere)
            })
            .collect()
    }
}

/// `error` tells where on the silencer's line an error of a code is found, `elsewhere` where in its file a warning of it
/// stands that is not silenced.
fn said_of(
    silencer: &Silencer,
    error: impl Fn(Code) -> Option<Span>,
    elsewhere: impl Fn(Code) -> Option<Span>,
) -> Vec<Diagnostic> {
    let mut said = Vec::new();
    let mut unused = Vec::new();
    for (at, (code, span)) in silencer.codes.iter().enumerate() {
        if let Some(why) = never(*code) {
            let mut finding = Diagnostic::new(Code::PUR0006, format!("{code} cannot be silenced: {why}"))
                .at(*span, "silences nothing");
            if let Some(place) = error(*code) {
                finding = finding.see(place, format!("{code} is found here"));
            }
            said.push(finding.help(format!(
                "do what it says instead (`purlin explain {code}`), and leave the code out of the comment"
            )));
        } else if !silencer.used.contains(code)
            && let Some(place) = elsewhere(*code)
        {
            // Most likely it was meant for that one; its words must not be lost.
            said.push(
                idle(code.name(), *span)
                    .see(place, format!("{code} is found here"))
                    .help("move the comment to the line before that one"),
            );
        } else if silencer.judged && !silencer.used.contains(code) && !depends_on_facts(*code) {
            unused.push(at);
        }
    }
    let all = unused.len() == silencer.codes.len();
    if let ([at, ..], true) = (unused.as_slice(), all) {
        let names: Vec<&str> = silencer.codes.iter().map(|(code, _)| code.name()).collect();
        let span = silencer.codes[*at].1.to(silencer.codes[silencer.codes.len() - 1].1);
        said.push(idle(&names.join(", "), span).fix(silencer.line, "", "leave the comment out"));
        return said;
    }
    for at in unused {
        let (code, span) = silencer.codes[at];
        // With the comma that it leaves without a code behind it, or before it when it is the last.
        let gone = match (silencer.codes.get(at + 1), at.checked_sub(1)) {
            (Some((_, next)), _) => Span { end: next.start, ..span },
            (None, Some(before)) => Span { start: silencer.codes[before].1.end, ..span },
            (None, None) => span,
        };
        said.push(idle(code.name(), span).fix(gone, "", format!("leave {code} out")));
    }
    said
}

fn idle(names: &str, span: Span) -> Diagnostic {
    let none = if names.contains(',') { "none of " } else { "no " };
    Diagnostic::new(Code::PUR0006, format!("there is {none}{names} on the next line to silence"))
        .at(span, "silences nothing")
        .note("a silencer that has outlived its warning hides the next one")
}

/// Why a code is beyond every silencer.
fn never(code: Code) -> Option<&'static str> {
    match (code, code.severity()) {
        (_, Severity::Error) => Some("it is an error"),
        (Code::PUR0006, _) => Some("it is about silencers"),
        _ => None,
    }
}

/// Whether facts of the node decide that it is found, so that a run with others, or with none, says nothing of it.
fn depends_on_facts(code: Code) -> bool {
    code.name().starts_with("PUR03")
}

/// Finds the silencers among all comments of one text, each given as its words and its place; what is wrong with their
/// form is a finding at once.
pub fn collect<'a>(
    comments: impl Iterator<Item = (&'a str, Span)> + Clone,
    sources: &Sources,
    findings: &mut Findings,
) {
    // The lines of each text on which more than comments stands, once they are asked for.
    let mut spoken: BTreeMap<FileId, Vec<Span>> = BTreeMap::new();
    for (words, span) in comments.clone() {
        // Most comments are none, and cost no more than this.
        let Some(rest) = words.strip_prefix("purlin") else { continue };
        let text = sources.text(span.file);
        let Some(start) = sources.slice(span).find(words).map(|at| span.start as usize + at) else {
            continue;
        };
        let order = Order { file: span.file, start, words, rest };
        let Some(codes) = order.codes(findings) else { continue };
        let line = line_of(text, span);
        let alone = text[line.clone()].trim() == sources.slice(span).trim()
            && ["//", "#", "/*"].iter().any(|mark| sources.slice(span).starts_with(mark));
        if !alone {
            findings.push(
                Diagnostic::new(Code::PUR0006, "a silencer does not stand on a line of its own")
                    .at(Span::new(span.file, start, start + words.len()), "silences nothing")
                    .note("it speaks of the next line that is not blank and no comment")
                    .help("move it to a line of its own, right before the line that it is about"),
            );
        } else if !codes.is_empty() {
            let lines = spoken
                .entry(span.file)
                .or_insert_with(|| spoken_lines(text, span.file, comments.clone().map(|(_, span)| span)));
            let next = lines.partition_point(|l| (l.start as usize) < line.end);
            let target = lines.get(next).copied();
            let line = Span::new(span.file, line.start, text.len().min(line.end + 1));
            findings.silence(Silencer { codes, target, line, used: BTreeSet::new(), judged: false });
        }
    }
}

/// A comment that begins with `purlin`.
struct Order<'a> {
    file: FileId,
    /// Where its words begin.
    start: usize,
    words: &'a str,
    /// What follows `purlin`.
    rest: &'a str,
}

impl<'a> Order<'a> {
    fn span(&self, word: &str) -> Span {
        // Each word is a part of the comment's words.
        let at = self.start + (word.as_ptr() as usize - self.words.as_ptr() as usize);
        Span::new(self.file, at, at + word.len())
    }

    /// The codes that it names, or nothing when it is no silencer. What is wrong with it is said.
    fn codes(&self, findings: &mut Findings) -> Option<Vec<(Code, Span)>> {
        let rest = self.rest.trim_start();
        let (colon, rest) = rest.strip_prefix(':').map_or((false, rest), |rest| (true, rest.trim_start()));
        let verb = rest.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default();
        let list = listed(&rest[verb.len()..]);
        if !(colon && verb == "allow") {
            // Prose may begin so as well; with a code it is meant for us.
            let meant = like_code(verb) || (list.first().is_some_and(|word| like_code(word)));
            if meant {
                let head = &self.words[..self.words.len() - rest.len() + verb.len()];
                findings.push(
                    Diagnostic::new(Code::PUR0006, "a comment that names a code is no silencer as it stands")
                        .at(self.span(head), "silences nothing")
                        .help("begin it with `purlin: allow`, and then the codes: `purlin: allow PUR0203`"),
                );
            }
            return None;
        }
        if list.is_empty() {
            findings.push(
                Diagnostic::new(Code::PUR0006, "a silencer names no code")
                    .at(self.span(self.words), "silences nothing")
                    .help("name what it is to silence: `purlin: allow PUR0203`"),
            );
            return None;
        }
        let mut codes: Vec<(Code, Span)> = Vec::new();
        for word in list {
            match Code::parse(word).filter(|code| code.name() == word) {
                Some(code) => codes.push((code, self.span(word))),
                None => findings.push(unknown(word, self.span(word))),
            }
        }
        Some(codes)
    }
}

/// The words that stand where codes do: up to the first that no comma binds to the list and that does not look like one.
fn listed(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    let mut bound = true;
    while !rest.is_empty() {
        let word = rest.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default();
        if !like_code(word) && (words.is_empty() || !bound) {
            break;
        }
        rest = rest[word.len()..].trim_start();
        bound = rest.starts_with(',');
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

/// Whether a word was meant as a code, right or wrong.
fn like_code(word: &str) -> bool {
    let letters = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let head = word[..word.len() - letters.len()].to_ascii_uppercase();
    !letters.is_empty()
        && letters.len() <= 8
        && letters.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && (head.is_empty() || (head.len() <= 4 && head.starts_with(['P', 'U'])))
}

fn unknown(word: &str, span: Span) -> Diagnostic {
    let finding = Diagnostic::new(Code::PUR0006, format!("there is no code `{word}` to silence"))
        .at(span, "silences nothing");
    if let Some(code) = Code::parse(word) {
        return finding.fix(span, code.name(), format!("write `{code}`"));
    }
    match guess(word, super::CODES.iter().map(|c| c.name())) {
        Some(near) => finding.suggest(span, near.word, format!("did you mean `{}`?", near.word)),
        None => finding.help("`purlin explain` lists the codes"),
    }
}

/// The line that a place begins on, without its end.
fn line_of(text: &str, span: Span) -> std::ops::Range<usize> {
    let at = text.floor_char_boundary(span.start as usize);
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
    start..end
}

/// The lines of a text on which something stands beside comments.
fn spoken_lines(text: &str, file: FileId, comments: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut left = text.as_bytes().to_vec();
    for span in comments.filter(|s| s.file == file) {
        if let Some(comment) = left.get_mut(span.range()) {
            comment.iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        }
    }
    let mut lines = Vec::new();
    let mut start = 0;
    for line in left.split_inclusive(|b| *b == b'\n') {
        let words = String::from_utf8_lossy(line);
        // Of a comment of several lines, only those with words have a place; its marks remain.
        let words =
            words.trim().trim_start_matches("*/").trim_end_matches("/*").trim_end_matches("/**").trim();
        if !matches!(words, "" | "*") {
            lines.push(Span::new(file, start, start + line.len()));
        }
        start += line.len();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes and message of what is left, and how many were silenced, for a text whose lines with `!` get a warning.
    fn run(text: &str, errors: bool) -> (Vec<String>, usize) {
        let mut sources = Sources::default();
        let file = sources.add("a.kdl", text);
        let mut findings = Findings::new();
        let comments: Vec<(String, Span)> = text
            .match_indices("//")
            .map(|(at, _)| {
                let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
                (text[at + 2..end].trim().to_owned(), Span::new(file, at, end))
            })
            .collect();
        collect(comments.iter().map(|(words, span)| (words.as_str(), *span)), &sources, &mut findings);
        for (at, _) in text.match_indices('!') {
            findings.push(Diagnostic::new(Code::PUR0203, "w").at(Span::new(file, at, at + 1), ""));
        }
        if errors {
            findings
                .push(Diagnostic::new(Code::PUR0101, "e").at(Span::new(file, text.len(), text.len()), ""));
        }
        let settled = findings.settle();
        let said = settled.list.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
        (said, settled.silenced)
    }

    #[test]
    fn the_next_line_that_says_something_is_silenced() {
        for text in [
            "// purlin: allow PUR0203\na !\n",
            "  //purlin:  allow PUR0203 because the other one brings it\n\n// more\n  a !",
            "// purlin: allow PUR0214, PUR0203\n!",
            "// purlin: allow PUR0203 PUR0309\n!\n",
            "// purlin: allow PUR0203\r\n!\r\n",
        ] {
            let (said, silenced) = run(text, true);
            assert_eq!((said, silenced), (vec!["PUR0101 e".to_owned()], 1), "{text}");
        }
        // Only that line, and only that code.
        let (said, silenced) = run("// purlin: allow PUR0203\na !\nb !\n", true);
        assert_eq!((said.len(), silenced), (2, 1));
        assert_eq!(run("// purlin: allow PUR0214\na !\n", true).1, 0);
        assert_eq!(run("a ! // purlin: allow PUR0203\n", true).1, 0);
    }

    #[test]
    fn what_silences_nothing_is_told_once_it_is_sure() {
        let idle = "// purlin: allow PUR0203\na\n";
        assert_eq!(run(idle, false).0, ["PUR0006 there is no PUR0203 on the next line to silence"]);
        assert_eq!(run(idle, true).0, ["PUR0101 e"]);
        // What facts decide is never sure.
        assert_eq!(run("// purlin: allow PUR0309\na\n", false).0, Vec::<String>::new());
        let some = run("// purlin: allow PUR0214, PUR0203\na !\n", false);
        assert_eq!(some, (vec!["PUR0006 there is no PUR0214 on the next line to silence".to_owned()], 1));
        let end = run("a\n// purlin: allow PUR0203, PUR0214\n", false).0;
        assert_eq!(end, ["PUR0006 there is none of PUR0203, PUR0214 on the next line to silence"]);
    }

    #[test]
    fn a_silencer_that_cannot_be_one_is_told() {
        for (text, says) in [
            ("// purlin: allow PUR0101\n", "PUR0101 cannot be silenced: it is an error"),
            ("// purlin: allow PUR0006\n", "PUR0006 cannot be silenced: it is about silencers"),
            ("// purlin: allow PUR0230\n", "there is no code `PUR0230`"),
            ("// purlin: allow pur0203\n", "there is no code `pur0203`"),
            ("// purlin: allow 0203\n", "there is no code `0203`"),
            ("// purlin: allow\n", "names no code"),
            ("// purlin: allow because I say so\n", "names no code"),
            ("// purlin: ignore PUR0203\n", "no silencer as it stands"),
            ("// purlin allow PUR0203\n", "no silencer as it stands"),
            ("// purlin: PUR0203\n", "no silencer as it stands"),
            ("a // purlin: allow PUR0203\nb !", "not stand on a line of its own"),
        ] {
            let (said, silenced) = run(text, true);
            assert_eq!(silenced, 0, "{text}");
            assert!(
                said.len() >= 2 && said.iter().any(|s| s.starts_with("PUR0006") && s.contains(says)),
                "{text}: {said:?}"
            );
        }
        for prose in ["// purlin: the spec of this node\n", "// purlin checks this\n", "// purlins\n"] {
            assert_eq!(run(prose, false).0, Vec::<String>::new(), "{prose}");
        }
    }

    #[test]
    fn an_error_stays_and_the_silencer_says_where_it_is() {
        let mut sources = Sources::default();
        let text = "// purlin: allow PUR0101\nbrigde\n";
        let file = sources.add("a.kdl", text);
        let mut findings = Findings::new();
        collect([("purlin: allow PUR0101", Span::new(file, 0, 24))].into_iter(), &sources, &mut findings);
        findings.push(Diagnostic::new(Code::PUR0101, "e").at(Span::new(file, 25, 31), ""));
        let settled = findings.settle();
        assert_eq!((settled.list.len(), settled.silenced), (2, 0));
        assert_eq!(settled.list[0].labels[1].span, Span::new(file, 25, 31));
    }

    #[test]
    fn a_shared_file_is_used_when_one_spec_uses_it() {
        let mut sources = Sources::default();
        let text = "// purlin: allow PUR0203\na\n";
        let one = |warns: bool, error: bool| {
            let mut own = Sources::default();
            let file = own.add("base.kdl", text);
            let mut findings = Findings::new();
            collect([("purlin: allow PUR0203", Span::new(file, 0, 24))].into_iter(), &own, &mut findings);
            if warns {
                findings.push(Diagnostic::new(Code::PUR0203, "w").at(Span::new(file, 25, 26), ""));
            }
            if error {
                findings.push(Diagnostic::new(Code::PUR0101, "e").at(Span::new(file, 26, 26), ""));
            }
            (own, findings)
        };
        let mut all = |runs: &[(bool, bool)]| {
            let mut findings = Findings::new();
            for (warns, error) in runs {
                let (own, more) = one(*warns, *error);
                let moved = sources.absorb(own);
                findings.absorb(more, &moved);
            }
            let settled = findings.settle();
            (settled.list.iter().filter(|d| d.code == Code::PUR0006).count(), settled.silenced)
        };
        assert_eq!(all(&[(false, false), (true, false), (true, false)]), (0, 1));
        assert_eq!(all(&[(false, false), (false, false)]), (1, 0));
        assert_eq!(all(&[(false, false), (false, true)]), (0, 0));
    }
}
