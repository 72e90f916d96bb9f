//! The structure of a KDL text, read from an outline of it: one letter for each word or literal, signs and newlines as
//! they are, and neither comments, nor disabled nodes, nor indentation.
//!
//! Ordinary nodes are read here, in one pass. Whatever is not ordinary is left to the `kdl` crate, which is also the one
//! that says what is wrong: its parser recurses, backtracks and guesses after a mistake, and what it is never shown it
//! cannot trip over. It is slow too: it would take most of the time of a check. A test holds both to the same trees.

use super::tokens::{Lexeme, Token};
use kdl::{KdlDocument, KdlError};

/// The parser's stack. It recurses a few kilobytes per level of blocks; this is far more than the limits admit.
const STACK: usize = 64 << 20;

/// What a parser is shown in place of a text.
#[derive(Debug)]
pub struct Outline {
    text: String,
    /// In order of their places.
    pieces: Vec<Piece>,
    /// Something without meaning stands after the last piece.
    gap: bool,
    last: Token,
    /// Braces were added that the text does not have.
    mended: bool,
}

/// A character of the outline, and the bytes of the text that it stands for.
#[derive(Debug)]
struct Piece {
    at: usize,
    start: usize,
    end: usize,
}

/// A node: places in the outline.
#[derive(Debug, PartialEq, Eq)]
pub struct Branch {
    /// Where its name begins.
    pub name: usize,
    /// Arguments and properties: where the name of a property begins, and where the value ends.
    pub entries: Vec<(Option<usize>, usize)>,
    pub children: Option<Vec<Branch>>,
}

impl Default for Outline {
    fn default() -> Self {
        Self { text: String::new(), pieces: Vec::new(), gap: false, last: Token::Newline, mended: false }
    }
}

impl Outline {
    /// Takes the next token. What is no part of the structure is passed as a [`Self::gap`].
    pub fn push(&mut self, lexeme: Lexeme) {
        let sign = match lexeme.token {
            // Empty lines are layout.
            Token::Newline if self.last == Token::Newline => return,
            Token::Newline | Token::Continuation => '\n',
            Token::Semicolon => ';',
            Token::Open => '{',
            Token::Close => '}',
            Token::ParenOpen => '(',
            Token::ParenClose => ')',
            Token::Equals => '=',
            Token::Backslash => '\\',
            _ => 'x',
        };
        let words = (self.last, lexeme.token) == (Token::Word, Token::Word);
        if words || (self.gap && self.last != Token::Newline) {
            self.text.push(' ');
        }
        self.pieces.push(Piece { at: self.text.len(), start: lexeme.start, end: lexeme.end });
        self.text.push(sign);
        self.gap = false;
        self.last = lexeme.token;
    }

    pub fn gap(&mut self) {
        self.gap = true;
    }

    /// Closes that many blocks at the end.
    pub fn close(&mut self, blocks: usize) {
        self.text.extend(std::iter::repeat_n('}', blocks));
        self.mended = blocks > 0;
    }

    /// Where the text begins that stands at a place of the outline, or next after it.
    pub fn start(&self, at: usize) -> Option<usize> {
        self.pieces.get(self.pieces.partition_point(|p| p.at < at)).map(|p| p.start)
    }

    /// Where the text ends that ends at a place of the outline.
    pub fn end(&self, at: usize) -> Option<usize> {
        self.pieces[..self.pieces.partition_point(|p| p.at < at)].last().map(|p| p.end)
    }

    /// The nodes of the whole text.
    ///
    /// # Errors
    /// What the `kdl` crate says of a text that is no KDL; nothing when it panicked.
    pub fn nodes(&self) -> Result<Vec<Branch>, Option<KdlError>> {
        if let Some(nodes) = self.ordinary() {
            return Ok(nodes);
        }
        match self.parse() {
            Some(Ok(document)) => Ok(branches(&document)),
            Some(Err(error)) => Err(Some(error)),
            None => Err(None),
        }
    }

    fn ordinary(&self) -> Option<Vec<Branch>> {
        let mut reader = Reader { outline: self, next: 0 };
        let nodes = reader.nodes()?;
        (reader.sign().is_none() && !self.mended).then_some(nodes)
    }

    /// Parses on a thread with a large stack. `None` when the parser panicked.
    fn parse(&self) -> Option<Result<KdlDocument, KdlError>> {
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().name("kdl".to_owned()).stack_size(STACK);
            match builder.spawn_scoped(scope, || KdlDocument::parse(&self.text)) {
                Ok(thread) => thread.join().ok(),
                // No thread to be had: the limits alone must do.
                Err(_) => Some(KdlDocument::parse(&self.text)),
            }
        })
    }
}

fn branches(document: &KdlDocument) -> Vec<Branch> {
    let branch = |node: &kdl::KdlNode| Branch {
        name: node.name().span().offset(),
        entries: node
            .entries()
            .iter()
            .map(|e| (e.name().map(|n| n.span().offset()), e.span().offset() + e.span().len()))
            .collect(),
        children: node.children().map(branches),
    };
    document.nodes().iter().map(branch).collect()
}

/// Reads pieces from front to back. `None` from any of it: this is not ordinary.
struct Reader<'a> {
    outline: &'a Outline,
    next: usize,
}

impl Reader<'_> {
    fn sign(&self) -> Option<u8> {
        self.outline.pieces.get(self.next).map(|p| self.outline.text.as_bytes()[p.at])
    }

    fn take(&mut self) -> usize {
        let at = self.outline.pieces[self.next].at;
        self.next += 1;
        at
    }

    /// The nodes up to a closing brace or the end. Recurses as deep as the limits admit.
    fn nodes(&mut self) -> Option<Vec<Branch>> {
        let mut nodes = Vec::new();
        loop {
            match self.sign() {
                Some(b'\n') => self.next += 1,
                Some(b'x') => nodes.push(self.node()?),
                Some(b'}') | None => return Some(nodes),
                Some(_) => return None,
            }
        }
    }

    fn node(&mut self) -> Option<Branch> {
        let mut branch = Branch { name: self.take(), entries: Vec::new(), children: None };
        loop {
            match self.sign() {
                Some(b'x') if branch.children.is_none() => {
                    let at = self.take();
                    if self.sign() != Some(b'=') {
                        branch.entries.push((None, at + 1));
                        continue;
                    }
                    self.next += 1;
                    if self.sign() != Some(b'x') {
                        return None;
                    }
                    branch.entries.push((Some(at), self.take() + 1));
                }
                Some(b'{') if branch.children.is_none() => {
                    self.next += 1;
                    branch.children = Some(self.nodes()?);
                    if self.sign() != Some(b'}') {
                        return None;
                    }
                    self.next += 1;
                }
                Some(b'\n' | b';') => {
                    self.next += 1;
                    return Some(branch);
                }
                Some(b'}') | None => return Some(branch),
                Some(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tokens::Tokens;
    use proptest::prelude::*;

    fn outline(text: &str) -> Outline {
        let mut outline = Outline::default();
        let mut end = 0;
        for lexeme in Tokens::new(text, 0) {
            if lexeme.start > end {
                outline.gap();
            }
            end = lexeme.end;
            outline.push(lexeme);
        }
        outline
    }

    #[test]
    fn ordinary_nodes_need_no_other_parser() {
        for text in ["", "\n\n", "a", "a;", "a b c=d\n\n\ne { f; g }\n", "a {\n  b {\n  }\n}\n", "a = b"] {
            let ordinary = outline(text).ordinary();
            assert_eq!(ordinary.is_some(), text != "a = b", "{text:?} gave {ordinary:?}");
        }
        let spaced = outline("n a = b c =d e= f");
        let kdl = branches(&spaced.parse().unwrap().unwrap());
        assert_eq!(spaced.ordinary().unwrap(), kdl);
        let outline = outline("one  two three=four {\n five\n}");
        assert_eq!(outline.text, "x x x=x {\nx\n}");
        let nodes = outline.ordinary().unwrap();
        let [node] = nodes.as_slice() else { panic!("{nodes:?}") };
        assert_eq!((outline.start(node.name), node.children.as_ref().map(Vec::len)), (Some(0), Some(1)));
        let places =
            |(name, end): &(Option<usize>, usize)| (name.and_then(|n| outline.start(n)), outline.end(*end));
        let entries: Vec<_> = node.entries.iter().map(places).collect();
        assert_eq!(entries, [(None, Some(8)), (Some(9), Some(19))]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        /// What is read here is what the `kdl` crate reads.
        #[test]
        fn both_parsers_see_the_same(
            parts in proptest::collection::vec(
                proptest::sample::select(vec!["a", "a", " ", " ", "\n", "\n", ";", "{", "}", " {\n", "}\n", "=", " b=c", "(", ")", "\\", "\\\n"]),
                0..24,
            )
        ) {
            let outline = outline(&parts.concat());
            if let Some(nodes) = outline.ordinary() {
                let document = outline.parse().expect("the parser does not panic");
                let document = document.map_err(|e| TestCaseError::fail(format!("{:?}: {e:?}", outline.text)))?;
                prop_assert_eq!(nodes, branches(&document), "{:?}", outline.text);
            }
        }
    }
}
