//! Markdown for a page of someone else's: text that is shown as it is, and a page that keeps a bound.

use super::{visible_line, visible_text};

/// One line of text in a table or a paragraph. What stands between backticks is shown as code; nothing else of it is
/// markup, link, mention or HTML.
#[must_use]
pub fn cell(text: &str) -> String {
    let text = visible_line(text);
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, more)) = rest.split_once('`') {
        out.push_str(&escaped(before));
        match more.split_once('`') {
            Some((code, behind)) if !code.is_empty() => {
                out.push_str(&format!("<code>{}</code>", escaped(code)));
                rest = behind;
            }
            // A backtick without another, or next to it, encloses nothing.
            _ => {
                out.push_str(&escaped("`"));
                rest = more;
            }
        }
    }
    out.push_str(&escaped(rest));
    out
}

/// Each sign that could mean something as a reference to itself, which Markdown takes for text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(
            c,
            '&' | '<' | '>' | '\\' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '@' | '!' | '$' | '`'
        ) {
            out.push_str(&format!("&#{};", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// Lines in a block of a language, which nothing in them ends.
#[must_use]
pub fn fenced(language: &str, text: &str) -> String {
    let text = visible_text(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

/// A page of at most so many bytes. It takes blocks whole; after the first that does not fit it takes none.
#[derive(Debug)]
pub struct Page {
    text: String,
    room: usize,
    cut: bool,
}

const CUT: &str = "\n**Cut:** GitHub shows no more of a summary; the rest is left out here\n";

impl Page {
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { text: String::new(), room: limit.saturating_sub(CUT.len()), cut: false }
    }

    pub fn push(&mut self, block: &str) {
        self.cut |= block.len() > self.room;
        if !self.cut {
            self.room -= block.len();
            self.text.push_str(block);
        }
    }

    /// The page, with a line at its end when it was cut.
    #[must_use]
    pub fn finish(mut self) -> String {
        if self.cut {
            self.text.push_str(CUT);
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_cell_is_markup() {
        for (text, shown) in [
            ("no `brigde` here", "no <code>brigde</code> here"),
            ("`a|b` and `c`", "<code>a&#124;b</code> and <code>c</code>"),
            ("one ` alone", "one &#96; alone"),
            ("`a` and ` alone", "<code>a</code> and &#96; alone"),
            ("<b> [x](y) *z* @me", "&#60;b&#62; &#91;x&#93;(y) &#42;z&#42; &#64;me"),
            ("a\nb", "a\\u{a}b".replace('\\', "&#92;").as_str()),
        ] {
            assert_eq!(cell(text), shown, "{text}");
        }
        for text in ["``", "```x```", "a``b", "`````"] {
            assert!(!cell(text).contains('`'), "{text}: {}", cell(text));
        }
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("diff", "a\n"), "```diff\na\n```\n");
        assert_eq!(fenced("diff", "````\nb"), "`````diff\n````\nb\n`````\n");
    }
}
