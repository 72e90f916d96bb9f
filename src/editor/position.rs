//! Where a byte stands for an editor: lines that end as the protocol says (LSP 3.17, "Text Documents"), and columns in the
//! units that both sides agreed on.

/// What a column counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    /// What every client can do.
    #[default]
    Utf16,
}

/// A line and a column, both from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// The lines of a text.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Where each line starts.
    starts: Vec<usize>,
    /// Every character is one byte, and one unit: a column needs no counting then, however long its line is.
    ascii: bool,
}

impl Lines {
    #[must_use]
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { starts, ascii: text.is_ascii() }
    }

    /// The line's text without its end.
    fn line<'t>(&self, text: &'t str, line: usize) -> &'t str {
        let start = self.starts.get(line).copied().unwrap_or(text.len());
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }

    #[must_use]
    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = text.get(self.starts[line]..offset).unwrap_or_default();
        let column = match encoding {
            _ if self.ascii => before.len(),
            Encoding::Utf8 => before.len(),
            Encoding::Utf16 => before.encode_utf16().count(),
        };
        Position { line: narrow(line), column: narrow(column) }
    }

    /// The byte at a position. One behind a line's end is the line's end, one within a character is its start.
    #[must_use]
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return text.len() };
        let line = self.line(text, position.line as usize);
        let column = position.column as usize;
        let within = match encoding {
            _ if self.ascii => column.min(line.len()),
            Encoding::Utf8 => line.floor_char_boundary(column),
            Encoding::Utf16 => {
                let mut units = 0;
                let behind = line.char_indices().find(|(_, c)| {
                    units += c.len_utf16();
                    units > column
                });
                behind.map_or(line.len(), |(at, _)| at)
            }
        };
        start + within
    }
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_offsets_are_each_other_s_inverse() {
        let text = "a\u{1f600}é\r\nb\rc\n\u{10ffff}";
        let lines = Lines::of(text);
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            let mut seen = Vec::new();
            for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let position = lines.position(text, offset, encoding);
                let back = lines.offset(text, position, encoding);
                // Between CR and LF is no position of its own.
                assert!(
                    back == offset || text[back..].starts_with("\r\n"),
                    "{encoding:?} {offset} {position:?}"
                );
                seen.push((position.line, position.column));
            }
            assert!(seen.is_sorted());
        }
        let at = |line, column| lines.offset(text, Position { line, column }, Encoding::Utf16);
        assert_eq!((at(0, 1), at(0, 2), at(0, 3), at(0, 4)), (1, 1, 5, 7));
        assert_eq!((at(0, 99), at(1, 0), at(2, 0), at(3, 2), at(9, 9)), (7, 9, 11, 17, 17));
    }
}
