//! KDL text cut into tokens, by a loop that neither recurses nor backtracks.
//!
//! The `kdl` crate's parser does both, so it must never see raw text: the limits count these tokens first, and
//! `kdl.rs` shows the parser an outline of it, without comments and disabled nodes, in which a letter stands for every
//! word. What a token means is not decided here.

/// What stands at a place. Spaces are no tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    Newline,
    /// A newline that a backslash took away.
    Continuation,
    Semicolon,
    /// `// …` without its newline.
    LineComment,
    /// `/* … */`; the deepest nesting within it, and whether it ends.
    BlockComment {
        depth: usize,
        closed: bool,
    },
    SlashDash,
    Open,
    Close,
    ParenOpen,
    ParenClose,
    Equals,
    Backslash,
    /// An identifier, number or keyword.
    Word,
    /// Any literal in quotes.
    Quoted(Quote),
    /// A character that begins nothing in KDL.
    Other,
}

/// How a quoted literal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    pub raw: bool,
    pub multiline: bool,
    pub closed: bool,
}

/// A token and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme {
    pub token: Token,
    pub start: usize,
    pub end: usize,
}

/// The tokens of a text, from an offset on.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// A backslash was seen, and only spaces and comments since.
    continued: bool,
}

impl<'a> Tokens<'a> {
    #[must_use]
    pub const fn new(text: &'a str, at: usize) -> Self {
        Self { text, at, continued: false }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn block_comment(&self) -> (Token, usize) {
        let bytes = self.rest();
        let (mut i, mut open, mut depth) = (2, 1, 1);
        while i < bytes.len() {
            match &bytes[i..] {
                [b'/', b'*', ..] => {
                    open += 1;
                    depth = depth.max(open);
                    i += 2;
                }
                [b'*', b'/', ..] => {
                    open -= 1;
                    i += 2;
                    if open == 0 {
                        return (Token::BlockComment { depth, closed: true }, i);
                    }
                }
                _ => i += 1,
            }
        }
        (Token::BlockComment { depth, closed: false }, i)
    }

    /// A literal that begins with `"` after `hashes` hash signs. One that does not end runs to the end of its line,
    /// or of the text when it may have several lines.
    fn quoted(&self, hashes: usize) -> (Token, usize) {
        let bytes = self.rest();
        let raw = hashes > 0;
        let triple = bytes[hashes..].starts_with(b"\"\"\"");
        // Raw quotes are triple only before a newline; others that look so are a mistake of their own.
        let broken = || self.text[self.at + hashes + 3..].starts_with(is_newline);
        let multiline = triple && (!raw || broken());
        let quotes: &[u8] = if multiline { b"\"\"\"" } else { b"\"" };
        let mut i = hashes + quotes.len();
        let quote = |closed| Token::Quoted(Quote { raw, multiline, closed });
        while i < bytes.len() {
            let tail = &bytes[i..];
            if tail.starts_with(quotes)
                && tail[quotes.len()..].iter().take(hashes).filter(|b| **b == b'#').count() == hashes
            {
                return (quote(true), i + quotes.len() + hashes);
            }
            match tail[0] {
                b'\\' if !raw => {
                    // The escaped character; a newline after a backslash goes on with the string.
                    i += 1;
                    let escaped = self.text[self.at + i..].chars().next();
                    if escaped.is_some_and(|c| is_newline(c) || is_space(c)) && !multiline {
                        i += self.text[self.at + i..].len()
                            - self.text[self.at + i..]
                                .trim_start_matches(|c| is_newline(c) || is_space(c))
                                .len();
                    } else {
                        i += escaped.map_or(0, char::len_utf8);
                    }
                }
                b'\n' | b'\r' if !multiline => return (quote(false), i),
                _ => i += 1,
            }
        }
        (quote(false), bytes.len())
    }

    /// The length of a word that begins after that many hash signs.
    fn word(&self, hashes: usize) -> usize {
        let rest = &self.text[self.at..];
        rest[hashes..]
            .find(|c| is_newline(c) || is_space(c) || "\\/(){}[];\"#=".contains(c))
            .map_or(rest.len(), |n| n + hashes)
    }
}

pub fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{b}' | '\u{c}' | '\u{2028}' | '\u{2029}')
}

pub fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    ) || c == '\u{feff}'
}

impl Iterator for Tokens<'_> {
    type Item = Lexeme;

    fn next(&mut self) -> Option<Lexeme> {
        let (mut first, mut start);
        loop {
            first = self.text[self.at..].chars().next()?;
            start = self.at;
            if !is_space(first) {
                break;
            }
            self.at += first.len_utf8();
        }
        let bytes = self.rest();
        let (token, length) = match first {
            '\r' if bytes.starts_with(b"\r\n") => (Token::Newline, 2),
            c if is_newline(c) => (Token::Newline, c.len_utf8()),
            ';' => (Token::Semicolon, 1),
            '{' => (Token::Open, 1),
            '}' => (Token::Close, 1),
            '(' => (Token::ParenOpen, 1),
            ')' => (Token::ParenClose, 1),
            '=' => (Token::Equals, 1),
            '\\' => (Token::Backslash, 1),
            '/' if bytes.starts_with(b"//") => {
                let rest = &self.text[self.at..];
                (Token::LineComment, rest.find(is_newline).unwrap_or(rest.len()))
            }
            '/' if bytes.starts_with(b"/*") => self.block_comment(),
            '/' if bytes.starts_with(b"/-") => (Token::SlashDash, 2),
            '"' => self.quoted(0),
            '#' => {
                let hashes = bytes.iter().take_while(|b| **b == b'#').count();
                if bytes.get(hashes) == Some(&b'"') {
                    self.quoted(hashes)
                } else {
                    (Token::Word, self.word(hashes))
                }
            }
            '/' | '[' | ']' => (Token::Other, 1),
            _ => (Token::Word, self.word(0)),
        };
        self.at += length;
        let token = match token {
            Token::Newline if self.continued => Token::Continuation,
            token => token,
        };
        self.continued = match token {
            Token::Backslash => true,
            Token::LineComment | Token::BlockComment { .. } => self.continued,
            _ => false,
        };
        Some(Lexeme { token, start, end: self.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        Tokens::new(text, 0).map(|l| &text[l.start..l.end]).collect()
    }

    #[test]
    fn cuts_every_kind() {
        assert_eq!(
            cut("a \"b\\\"{\" #\"c\"d\"# c=#true; /- x /* { /* */ */ { y } // end\n"),
            [
                "a",
                "\"b\\\"{\"",
                "#\"c\"d\"#",
                "c",
                "=",
                "#true",
                ";",
                "/-",
                "x",
                "/* { /* */ */",
                "{",
                "y",
                "}",
                "// end",
                "\n"
            ]
        );
        assert_eq!(cut("a \"\"\"\n { \"\n \"\"\" b"), ["a", "\"\"\"\n { \"\n \"\"\"", "b"]);
        assert_eq!(cut("a ##\"\"# \"##"), ["a", "##\"\"# \"##"]);
        assert_eq!(cut("a \"open\nb"), ["a", "\"open", "\n", "b"]);
    }

    #[test]
    fn every_text_ends() {
        for text in ["#", "##", "\"", "\"\"\"", "#\"", "\\", "/", "/*", "é\u{2028}ß", "\"\\", "#\"\"\"\n"] {
            assert!(Tokens::new(text, 0).count() > 0, "{text:?}");
        }
    }
}
