//! Single values that the syntaxes share: numbers, the words that look like something else, and what is said about
//! them. Pure text in, [`Kind`] or finding out; no syntax's grammar beyond its scalars.

use super::doc::Kind;
use crate::diag::{Code, Diagnostic, Findings, Span};

/// `null`, in any syntax.
pub fn null(span: Span) -> Diagnostic {
    Diagnostic::new(Code::PUR0103, "a spec has no null")
        .at(span, "null")
        .help("leave the key out: an absent key and its default are the same")
}

/// A key that its mapping has already.
pub fn repeated(key: &str, first: Span, second: Span) -> Diagnostic {
    Diagnostic::new(Code::PUR0102, format!("`{key}` is given twice"))
        .at(second, "given again here")
        .see(first, "first given here")
        .help("keep one of them")
}

/// A number that is infinite, no number, or too large to hold.
pub fn beyond_range(span: Span, written: &str) -> Diagnostic {
    let shown = if written.len() > 40 { "this number" } else { written };
    Diagnostic::new(Code::PUR0104, format!("{shown} is no number that a spec can hold"))
        .at(span, "infinite, or beyond what a number can hold")
        .help("write a finite number")
}

/// Decimal text as JSON and YAML share it: an integer when it looks like one, else a float. One that is out of range
/// is a finding; its value then is an infinite float, which no check takes for another number.
pub fn decimal(text: &str, span: Span, findings: &mut Findings) -> Kind {
    let integral = !text.contains(['.', 'e', 'E']);
    let kind = if integral {
        text.strip_prefix('+').unwrap_or(text).parse::<i128>().map(Kind::Integer).ok()
    } else {
        text.parse::<f64>().ok().filter(|f| f.is_finite()).map(Kind::Float)
    };
    kind.unwrap_or_else(|| {
        findings.push(beyond_range(span, text));
        Kind::Float(f64::INFINITY)
    })
}

/// `0755`: decimal to some readers, octal to others.
pub fn leading_zero(words: &str, span: Span) -> Diagnostic {
    let digits = words.trim_start_matches(['+', '-']);
    let help = match i128::from_str_radix(digits, 8) {
        Ok(n) => {
            let octal = digits.trim_start_matches('0');
            let octal = if octal.is_empty() { "0" } else { octal };
            format!(
                "write `\"{words}\"` for a string such as a file mode, or `0o{octal}` (which is {n}) for an octal number"
            )
        }
        Err(_) => format!("write `\"{words}\"` for a string, or leave the leading zeros out for a number"),
    };
    Diagnostic::new(Code::PUR0104, format!("`{words}` can be read in several ways"))
        .at(span, "decimal to some readers, octal or text to others")
        .help(help)
}

/// The boolean that a word of everyday YAML or speech means.
pub fn means_bool(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "on" => Some(true),
        "false" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}
