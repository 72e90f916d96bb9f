//! `purlin check --fix`: what is certain is changed, in memory until it has proved itself.

use super::Failure;
use super::check::Verdict;
use crate::diag::{Code, FileId, Findings, Severity, fix, masked, visible_line, visible_text};
use crate::host;
use similar::TextDiff;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Fixes within a mended part show only in the next round; what is not at an end after so many goes in circles.
const ROUNDS: usize = 20;

/// A spec that fixes have changed.
pub struct Fixed {
    path: PathBuf,
    before: String,
    after: String,
    made: usize,
}

/// What came of it: what is to be said of the text as it is now, and the change that led there.
pub type Mended = (Verdict, Result<Option<Fixed>, Failure>);

/// Makes every certain fix of a spec, round after round. A fix that would make it worse is a fault of purlin's own: then
/// there is no change, and what was to be said stays.
pub fn mend(
    path: &Path,
    bytes: Vec<u8>,
    verdict: Verdict,
    look: impl Fn(&[u8]) -> Result<Verdict, Failure>,
) -> Result<Mended, Failure> {
    // What is no text has no certain fixes.
    let Ok(before) = String::from_utf8(bytes) else { return Ok((verdict, Ok(None))) };
    let (mut now, mut text, mut made) = (verdict, before.clone(), 0);
    for _ in 0..ROUNDS {
        let settled = now.findings.clone().settle();
        let certain = settled.list.iter().filter_map(|d| d.fix.as_ref()).filter(|fix| fix.certain);
        // The spec is the first text of its run, and the kept one has masks in it, so that the bytes at hand are fixed.
        let Some((next, count)) = fix::apply(&text, FileId(0), certain) else {
            let fixed = (made > 0).then(|| Fixed { path: path.to_owned(), before, after: text, made });
            return Ok((now, Ok(fixed)));
        };
        let then = look(next.as_bytes())?;
        if worse(&now.findings, &then.findings) {
            break;
        }
        (now, text, made) = (then, next, made + count);
    }
    let fault = Failure(format!(
        "the fixes for `{}` would not make it right, which is a fault of purlin's; nothing is written to it, report it \
         with the spec",
        path.display()
    ));
    Ok((look(before.as_bytes())?, Err(fault)))
}

/// Whether a text is further from being right than the one before.
///
/// Findings come in rounds, text, shape, meaning, node: a text that gets further may have more of them than before. So may
/// one whose text or shape is still wrong, for what stands below a wrong key is looked at only once the key is right;
/// there only the number of rounds shows that fixes lead nowhere.
fn worse(before: &Findings, after: &Findings) -> bool {
    let stage = |findings: &Findings| {
        let errors = || findings.iter().filter(|d| d.severity == Severity::Error);
        if errors().any(|d| d.code < Code::PUR0101 && d.code != Code::PUR0004) {
            0
        } else if findings.is_cut_short() {
            1
        } else if errors().any(|d| d.code < Code::PUR0301) {
            2
        } else {
            3
        }
    };
    let (was, is) = (stage(before), stage(after));
    is < was || (is == was && is > 1 && after.errors() > before.errors())
}

impl Fixed {
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// `2 fixes applied to a.kdl`
    pub fn said(&self, done: &str) -> String {
        let fixes = if self.made == 1 { "fix" } else { "fixes" };
        format!("{} {fixes} {done} to {}\n", self.made, visible_line(&self.name()))
    }

    /// Puts the new text in the old one's place; a link is followed, and mode and owner stay.
    pub fn write(&self) -> Result<(), Failure> {
        let shown = self.path.display();
        let fail = |why: &dyn std::fmt::Display| Failure(format!("cannot write `{shown}`: {why}"));
        let path = std::fs::canonicalize(&self.path).map_err(|e| fail(&e))?;
        let there = std::fs::read(&path).map_err(|e| fail(&e))?;
        if there == self.after.as_bytes() {
            // The spec was named twice.
            return Ok(());
        }
        if there != self.before.as_bytes() {
            return Err(fail(&"someone changed it meanwhile; run the command again"));
        }
        let old = std::fs::metadata(&path).map_err(|e| fail(&e))?;
        host::replace(&path, self.after.as_bytes(), old.mode() & 0o7777).map_err(|e| fail(&e))?;
        let new = std::fs::metadata(&path).map_err(|e| fail(&e))?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::chown(&path, Some(old.uid()), Some(old.gid()))
                .map_err(|e| fail(&format!("{e}; it is written, but give it back to its owner")))?;
        }
        Ok(())
    }

    /// What changes, without the credentials that a line may hold, and without what a terminal would obey.
    pub fn unified(&self, color: bool) -> String {
        let [old, new] =
            [&self.before, &self.after].map(|text| visible_text(masked(text).as_deref().unwrap_or(text)));
        let name = visible_line(&self.name());
        let diff = TextDiff::from_lines(&old, &new);
        let text = diff.unified_diff().context_radius(3).header(&name, &name).to_string();
        crate::plan::painted(&text, color)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Diagnostic, Span};

    /// A run whose text ends in as many errors as it has `!`, and whose fixes add one or take one away.
    fn look(text: &[u8], replacement: &str, code: Code) -> Verdict {
        let mut verdict = Verdict::default();
        let text = std::str::from_utf8(text).unwrap();
        let file = verdict.sources.add("a.kdl", text);
        for (at, _) in text.match_indices('!') {
            let span = Span::new(file, at, at + 1);
            verdict.findings.push(Diagnostic::new(code, "e").at(span, "").fix(span, replacement, "x"));
        }
        verdict
    }

    fn run(text: &str, replacement: &str, code: Code) -> Result<(String, usize), String> {
        let one = |bytes: &[u8]| look(bytes, replacement, code);
        let start = one(text.as_bytes());
        match mend(Path::new("a.kdl"), text.into(), start, |bytes| Ok(one(bytes))) {
            Ok((_, Ok(fixed))) => Ok(fixed.map_or((text.to_owned(), 0), |f| (f.after, f.made))),
            Ok((_, Err(Failure(message)))) | Err(Failure(message)) => Err(message),
        }
    }

    #[test]
    fn rounds_go_on_until_nothing_certain_is_left() {
        assert_eq!(run("a! b! c!", ".", Code::PUR0201), Ok(("a. b. c.".to_owned(), 3)));
        // Next to each other: one per round.
        assert_eq!(run("!!!", ".", Code::PUR0201), Ok(("...".to_owned(), 3)));
        assert_eq!(run("a", ".", Code::PUR0201), Ok(("a".to_owned(), 0)));
    }

    #[test]
    fn fixes_that_make_it_worse_or_never_end_are_a_fault_of_ours() {
        let says = "a fault of purlin's";
        assert!(run("a! b", "!!", Code::PUR0201).unwrap_err().contains(says));
        assert!(run("a! b", " !", Code::PUR0201).unwrap_err().contains(says));
        assert!(run("a! b", " !", Code::PUR0001).unwrap_err().contains(says));
    }
}
