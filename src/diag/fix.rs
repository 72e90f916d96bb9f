//! Applying fixes to a text.

use super::{FileId, Fix};

/// The text with fixes of one file made, and how many; `None` when there is none to make. Of fixes that touch each other
/// only the first is made: what the others are worth shows only afterwards.
#[must_use]
pub fn apply<'a>(text: &str, file: FileId, fixes: impl Iterator<Item = &'a Fix>) -> Option<(String, usize)> {
    let mut fixes: Vec<&Fix> = fixes.filter(|fix| fix.span.file == file).collect();
    fixes.sort_by_key(|fix| fix.span);
    let (mut out, mut from, mut made) = (String::with_capacity(text.len()), 0, 0);
    for fix in fixes {
        let range = fix.span.range();
        let touches = made > 0 && range.start <= from;
        let Some(before) = text.get(from..range.start).filter(|_| !touches) else { continue };
        if text.get(range.clone()).is_none_or(|old| old == fix.replacement) {
            continue;
        }
        out.push_str(before);
        out.push_str(&fix.replacement);
        from = range.end;
        made += 1;
    }
    out.push_str(&text[from..]);
    (made > 0).then_some((out, made))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Span;

    fn fixed(text: &str, fixes: &[(usize, usize, &str)]) -> Option<(String, usize)> {
        let fixes: Vec<Fix> = fixes
            .iter()
            .map(|(start, end, replacement)| Fix {
                span: Span::new(FileId(0), *start, *end),
                replacement: (*replacement).to_owned(),
                message: String::new(),
                certain: true,
            })
            .collect();
        apply(text, FileId(0), fixes.iter())
    }

    #[test]
    fn what_does_not_touch_is_made_at_once() {
        let done = |text: &str, made| Some((text.to_owned(), made));
        assert_eq!(fixed("abc def", &[(4, 7, "x"), (0, 3, "longer")]), done("longer x", 2));
        // Overlapping, next to each other, and twice the same.
        assert_eq!(fixed("abcdef", &[(0, 3, "x"), (2, 4, "y")]), done("xdef", 1));
        assert_eq!(fixed("abcdef", &[(0, 3, "x"), (3, 4, "y")]), done("xdef", 1));
        assert_eq!(fixed("abc", &[(1, 1, "x"), (1, 1, "x")]), done("axbc", 1));
        // Nothing to do, no place for it, or within a letter.
        assert_eq!(fixed("abc", &[(0, 1, "a"), (2, 9, "x")]), None);
        assert_eq!(fixed("é", &[(1, 2, "x")]), None);
        assert_eq!(fixed("", &[]), None);
        assert_eq!(fixed("a\nb\n", &[(0, 2, "")]), done("b\n", 1));
    }
}
