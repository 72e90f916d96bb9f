//! Text that came from elsewhere, without what a terminal, or a program that reads lines, would obey.

/// What a terminal would obey: control characters, those that end a line in some reader's eyes, and those that turn the
/// direction of writing.
pub fn obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text of one line, such as a name or a message: nothing in it begins another line.
#[must_use]
pub fn visible_line(text: &str) -> String {
    escaped(text, obeyed)
}

/// A text of lines, such as a file's content.
#[must_use]
pub fn visible_text(text: &str) -> String {
    escaped(text, |c| obeyed(c) && c != '\n' && c != '\t')
}

fn escaped(text: &str, hide: impl Fn(char) -> bool) -> String {
    if !text.contains(&hide) {
        return text.to_owned();
    }
    text.chars().map(|c| if hide(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_obeyed() {
        assert_eq!(visible_line("a\u{1b}[2J\nb\tc"), "a\\u{1b}[2J\\u{a}b\\u{9}c");
        assert_eq!(visible_text("a\u{9b}2J\nb\tc\u{202e}"), "a\\u{9b}2J\nb\tc\\u{202e}");
    }
}
