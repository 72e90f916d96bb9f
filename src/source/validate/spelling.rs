//! The operator's syntax: how names and values are written in it, what looks like them, and what is likely meant.

use crate::source::case::kebab;
use crate::source::{Shape, Syntax};

/// Spells names and values in one syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling(pub Syntax);

/// A key that an object takes: as it is written, and as the model calls it.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    pub shown: String,
    pub key: &'a str,
    pub shape: Shape<'a>,
}

impl Spelling {
    pub const fn is_kdl(self) -> bool {
        matches!(self.0, Syntax::Kdl)
    }

    /// A field's name, without regard to its shape.
    pub fn key(self, key: &str) -> String {
        if self.is_kdl() { kebab(key) } else { key.to_owned() }
    }

    /// A field's name as it is written: in KDL, the repeated node's.
    pub fn field(self, key: &str, shape: Option<Shape<'_>>) -> String {
        let repeated = shape.filter(|s| self.is_kdl() && !s.is_block()).and_then(Shape::node_name);
        repeated.map_or_else(|| self.key(key), str::to_owned)
    }

    /// The keys that may stand in an object, in the order of the alphabet as they are written: a list of them is looked
    /// through by eye.
    pub fn known<'a>(self, shape: Shape<'a>) -> Vec<Known<'a>> {
        let outer = self.is_kdl() && shape.document().is_some();
        let mut known = Vec::new();
        for (key, field) in shape.properties() {
            if self.is_kdl() && field.is_inline() {
                known.extend(self.known(field));
            } else if !outer {
                known.push(Known { shown: self.field(key, Some(field)), key, shape: field });
            }
        }
        known.sort_by(|a, b| a.shown.cmp(&b.shown));
        known
    }

    pub const fn boolean(self, value: bool) -> &'static str {
        match (self.is_kdl(), value) {
            (true, true) => "#true",
            (true, false) => "#false",
            (false, true) => "true",
            (false, false) => "false",
        }
    }

    /// A string value.
    pub fn string(self, text: &str) -> String {
        if self.0 == Syntax::Yaml && is_plain(text) { text.to_owned() } else { quote(text, self.0) }
    }

    /// A key as it stands in the text.
    pub fn written_key(self, key: &str) -> String {
        if self.0 == Syntax::Json { quote(key, self.0) } else { key.to_owned() }
    }

    /// A mapping, a list: as people call them in this syntax.
    pub const fn mapping(self) -> &'static str {
        if self.is_kdl() { "a block of its own fields" } else { "a mapping" }
    }

    /// One field with a value, as one would write it.
    pub fn example(self, known: &Known<'_>, depth: usize) -> String {
        let Known { shown, key, shape } = known;
        let shape = *shape;
        if let Some(member) = shape.map_value() {
            let inner = self.sample(member, depth);
            return match (self.0, shape.node_name()) {
                (Syntax::Kdl, Some(node)) if shape.is_block() => {
                    format!("{} {{ {} }}", self.key(key), format!("{node} \"…\" {inner}").trim_end())
                }
                (Syntax::Kdl, _) => format!("{shown} \"…\" {inner}").trim_end().to_owned(),
                (Syntax::Yaml, _) => format!("{shown}: {{ …: {inner} }}"),
                (Syntax::Json, _) => format!("\"{shown}\": {{ \"…\": {inner} }}"),
            };
        }
        let inner = self.sample(shape, depth);
        match self.0 {
            Syntax::Kdl if inner.is_empty() => shown.clone(),
            Syntax::Kdl => format!("{shown} {inner}"),
            Syntax::Yaml => format!("{shown}: {inner}"),
            Syntax::Json => format!("\"{shown}\": {inner}"),
        }
    }

    /// A value of a shape: an example of the schema's own, or one made up from its type.
    pub fn sample(self, shape: Shape<'_>, depth: usize) -> String {
        if let Some(given) = shape.keyword("examples").and_then(|e| e.get(0)) {
            match given {
                serde_json::Value::String(text) => return self.string(text),
                serde_json::Value::Number(number) => return number.to_string(),
                serde_json::Value::Bool(b) => return self.boolean(*b).to_owned(),
                example if depth < 2 => return self.json(example, shape),
                _ => {}
            }
        }
        if let Some(element) = shape.item() {
            let inner = self.sample(element, depth);
            return if self.is_kdl() { inner } else { format!("[{inner}]") };
        }
        if self.is_kdl() && shape.is_json() {
            return "\"{ … }\"".to_owned();
        }
        if shape.is_struct() || shape.map_value().is_some() || shape.is_json() {
            return self.sample_struct(shape, depth);
        }
        if let Some(word) = shape.words().first() {
            return self.string(word);
        }
        if shape.has_type("boolean") {
            return self.boolean(true).to_owned();
        }
        if shape.has_type("integer") || shape.has_type("number") {
            return shape.keyword("minimum").map_or_else(|| "1".to_owned(), ToString::to_string);
        }
        "\"…\"".to_owned()
    }

    /// A literal field with a value, as one would add it: in KDL a property, which fits wherever its node does.
    pub fn with_value(self, known: &Known<'_>, value: &str) -> String {
        let shown = &known.shown;
        match self.0 {
            Syntax::Kdl if is_literal(known.shape) => format!("{shown}={value}"),
            Syntax::Kdl => format!("{shown} {value}").trim_end().to_owned(),
            Syntax::Yaml => format!("{shown}: {value}"),
            Syntax::Json => format!("\"{shown}\": {value}"),
        }
    }

    /// Something within the block or mapping of a field, whatever the names of a collection are.
    pub fn around(self, outer: &Known<'_>, inner: &str) -> String {
        let Known { shown, key, shape } = outer;
        // Such a struct is no level of its own to a person.
        if shape.is_inline() {
            return inner.to_owned();
        }
        let (map, list) = (shape.map_value().is_some(), shape.item().is_some());
        match (self.0, shape.node_name()) {
            (Syntax::Kdl, Some(node)) if map && shape.is_block() => {
                format!("{} {{ {node} \"…\" {{ {inner} }} }}", self.key(key))
            }
            (Syntax::Kdl, _) if map => format!("{shown} \"…\" {{ {inner} }}"),
            (Syntax::Kdl, _) => format!("{shown} {{ {inner} }}"),
            (Syntax::Yaml, _) if map => format!("{shown}: {{ …: {{ {inner} }} }}"),
            (Syntax::Yaml, _) if list => format!("{shown}: [{{ {inner} }}]"),
            (Syntax::Yaml, _) => format!("{shown}: {{ {inner} }}"),
            (Syntax::Json, _) if map => format!("\"{shown}\": {{ \"…\": {{ {inner} }} }}"),
            (Syntax::Json, _) if list => format!("\"{shown}\": [{{ {inner} }}]"),
            (Syntax::Json, _) => format!("\"{shown}\": {{ {inner} }}"),
        }
    }

    /// A value that the model spells in JSON, as it is written after its key.
    fn json(self, value: &serde_json::Value, shape: Shape<'_>) -> String {
        use serde_json::Value as Json;
        match value {
            Json::String(text) => self.string(text),
            Json::Bool(b) => self.boolean(*b).to_owned(),
            Json::Array(list) => {
                let items = list.iter().map(|v| shape.item().map_or_else(String::new, |s| self.json(v, s)));
                let items: Vec<String> = items.collect();
                // Examples have one element, which is one node.
                if self.is_kdl() { items.join(" ") } else { format!("[{}]", items.join(", ")) }
            }
            Json::Object(object) => {
                let (mut line, mut block) = (Vec::new(), Vec::new());
                let positions = if self.is_kdl() { shape.arguments() } else { Vec::new() };
                for (key, value) in object {
                    let Some(field) = shape.property(key) else { continue };
                    let known = Known { shown: self.field(key, Some(field)), key, shape: field };
                    let text = self.json(value, field);
                    if positions.contains(&key.as_str()) {
                        line.push(text);
                    } else if self.is_kdl() && *value == Json::Bool(true) {
                        block.push(known.shown);
                    } else if self.is_kdl() && is_literal(field) {
                        line.push(self.with_value(&known, &text));
                    } else {
                        block.push(self.with_value(&known, &text));
                    }
                }
                match (self.is_kdl(), block.is_empty()) {
                    (true, true) => line.join(" "),
                    (true, false) => {
                        line.push(format!("{{ {} }}", block.join("; ")));
                        line.join(" ")
                    }
                    (false, _) => format!("{{ {} }}", block.join(", ")),
                }
            }
            Json::Null | Json::Number(_) => value.to_string(),
        }
    }

    fn sample_struct(self, shape: Shape<'_>, depth: usize) -> String {
        let required = shape.required();
        // An example of an example helps nobody.
        if depth >= 2 || shape.is_json() || shape.map_value().is_some() {
            return "{ … }".to_owned();
        }
        let (mut line, mut block) = (Vec::new(), Vec::new());
        for known in self.known(shape).iter().filter(|k| required.contains(&k.key)) {
            if self.is_kdl() && shape.arguments().contains(&known.key) {
                line.insert(0, self.sample(known.shape, depth + 1));
            } else if self.is_kdl() && is_literal(known.shape) {
                line.push(self.with_value(known, &self.sample(known.shape, depth + 1)));
            } else {
                block.push(self.example(known, depth + 1));
            }
        }
        if self.is_kdl() {
            if !block.is_empty() {
                line.push(format!("{{ {} }}", block.join("; ")));
            }
            line.join(" ")
        } else if block.is_empty() {
            "{}".to_owned()
        } else {
            format!("{{ {} }}", block.join(", "))
        }
    }
}

/// One literal says all of it.
fn is_literal(shape: Shape<'_>) -> bool {
    shape.is_scalar() || shape.is_json()
}

/// A string between double quotes, with the escapes of the syntax.
pub fn quote(text: &str, syntax: Syntax) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() && syntax == Syntax::Kdl => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)))
            }
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether YAML reads the bare word as this very string, whatever version of YAML reads it.
fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/'))
        && as_boolean(text).is_none()
        && !matches!(text.to_ascii_lowercase().as_str(), "null" | "nan" | "inf" | "y" | "n")
}

/// The words that one or another language takes for a boolean.
pub fn as_boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "#true" => Some(true),
        "false" | "no" | "off" | "#false" => Some(false),
        _ => None,
    }
}

/// `` `a`, `b` and `c` ``.
pub fn list(words: &[impl AsRef<str>], joint: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("`{}`", w.as_ref())).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {joint} {last}", rest.join(", ")),
    }
}

/// At most eight words, and how many more there are.
pub fn some(words: &[impl AsRef<str>], joint: &str) -> String {
    const MOST: usize = 8;
    if words.len() <= MOST + 1 {
        return list(words, joint);
    }
    let shown: Vec<String> = words[..MOST].iter().map(|w| format!("`{}`", w.as_ref())).collect();
    format!("{} {joint} {} more", shown.join(", "), words.len() - MOST)
}

/// The letter beyond ASCII that a person cannot tell from an ASCII one, with that one.
///
/// Cyrillic, Greek, fullwidth forms, and what word processors make of hyphens and quotes.
const fn twin(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'в' => 'b',
        'В' | 'Β' => 'B',
        'с' | 'ϲ' => 'c',
        'С' | 'Ϲ' => 'C',
        'ԁ' => 'd',
        'е' | 'ҽ' => 'e',
        'һ' | 'н' => 'h',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'κ' | 'к' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'М' | 'Μ' => 'M',
        'п' | 'η' => 'n',
        'о' | 'ο' | 'σ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ц' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'А' | 'Α' => 'A',
        'Е' | 'Ε' => 'E',
        'Н' | 'Η' => 'H',
        'І' | 'Ι' => 'I',
        'Ј' => 'J',
        'К' | 'Κ' => 'K',
        'Ν' => 'N',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'Ѕ' => 'S',
        'Т' | 'Τ' => 'T',
        'Х' | 'Χ' => 'X',
        'У' | 'Υ' => 'Y',
        'Ζ' => 'Z',
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        '․' => '.',
        '⁄' | '∕' => '/',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        // Fullwidth forms stand 0xFEE0 above their ASCII twins.
        '！'..='～' => match char::from_u32(c as u32 - 0xFEE0) {
            Some(ascii) => ascii,
            None => return None,
        },
        '\u{a0}' | '\u{2007}' | '\u{202f}' => ' ',
        _ => return None,
    })
}

/// What is strange about the letters of a text that should be plain.
pub struct Strange {
    /// One sentence about the first strange letter.
    pub message: String,
    /// The text with every twin replaced; only when nothing beyond ASCII is left.
    pub plain: Option<String>,
}

/// Looks for letters beyond ASCII.
pub fn strange(text: &str) -> Option<Strange> {
    let c = text.chars().find(|c| !c.is_ascii())?;
    let code = u32::from(c);
    // An invisible character must not be shown as itself.
    let shown = if c.is_alphanumeric() || twin(c).is_some_and(|t| t != ' ') {
        format!("the `{c}` here is U+{code:04X}")
    } else {
        format!("there is a U+{code:04X} here")
    };
    let message = match twin(c) {
        Some(' ') => format!("{shown}, which is not the ASCII space"),
        Some(ascii) => format!("{shown}, which is not the ASCII `{ascii}`"),
        None => format!("{shown}, which is not an ASCII letter"),
    };
    let plain: String = text.chars().map(|c| twin(c).unwrap_or(c)).collect();
    Some(Strange { message, plain: plain.is_ascii().then_some(plain) })
}
