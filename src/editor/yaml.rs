//! Where the cursor is in YAML or JSON that someone is writing: the keys and dashes above it, by their indentation, and the
//! brackets around it. This is no parser: what a sound text says, its tree says; here a text may break off anywhere.

use super::site::{Form, Site, Wanted, keys};
use super::spots::Says;
use crate::source::{Schema, Shape};
use std::collections::BTreeSet;
use std::ops::Range;

/// Steps of a way: no place of a spec is as deep.
const DEPTH: usize = 64;

/// One step of the way to the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Item,
}

/// What is written at the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// A key, or the only word of a line, which may become one.
    Key,
    Value,
}

#[derive(Debug)]
struct Here {
    path: Vec<Step>,
    at: At,
    replace: Range<usize>,
    form: Form,
    given: BTreeSet<String>,
}

/// A bracket that is open.
#[derive(Debug, Default)]
struct Frame {
    map: bool,
    key: Option<String>,
    given: BTreeSet<String>,
}

struct Scan<'t> {
    text: &'t str,
    offset: usize,
    /// The keys and dashes that the line being read stands below, each with its column.
    above: Vec<(usize, Step)>,
    /// Lines deeper than this column are text.
    literal: Option<usize>,
    brackets: Vec<Frame>,
}

/// A word or literal: its bytes, and what it says where it ends before the cursor.
struct Word {
    span: Range<usize>,
    says: String,
    closed: bool,
}

impl<'t> Scan<'t> {
    fn here(text: &'t str, offset: usize) -> Option<Here> {
        let mut scan = Self { text, offset, above: Vec::new(), literal: None, brackets: Vec::new() };
        let base = text.len() - text.trim_start_matches('\u{feff}').len();
        let mut start = base;
        for line in text[base..].split_inclusive('\n') {
            let end = start + line.trim_end_matches(['\n', '\r']).len();
            let last = offset < start + line.len() || !line.ends_with('\n');
            if last {
                scan.offset = offset.clamp(start, end);
            }
            if let Some(here) = scan.line(start, end, last) {
                return here;
            }
            start += line.len();
        }
        scan.line(start, start, true).flatten()
    }

    /// Reads one line. `Some` when the cursor is on it, with where it is.
    fn line(&mut self, start: usize, end: usize, last: bool) -> Option<Option<Here>> {
        let line = &self.text[start..end];
        let indent = line.len() - line.trim_start_matches(' ').len();
        let blank = line.trim().is_empty();
        if !self.brackets.is_empty() {
            return self.flow(start, end, last);
        }
        if let Some(column) = self.literal {
            if (blank && !last) || (indent > column && !blank) {
                return last.then_some(None);
            }
            if blank && self.offset - start > column {
                return Some(None);
            }
            self.literal = None;
        }
        let (mut at, mut column) = (start + indent, indent);
        if last && self.offset <= at {
            // Before what is on the line, or on an empty one.
            let column = self.offset - start;
            return Some(blank.then(|| self.fresh(column, self.offset..self.offset)));
        }
        if blank || line.trim_start().starts_with('#') {
            return last.then_some(None);
        }
        while self.text[at..end].starts_with("- ") || &self.text[at..end] == "-" {
            self.above.retain(|(c, step)| *c < column || (*c == column && *step != Step::Item));
            if self.above.len() > DEPTH {
                return last.then_some(None);
            }
            self.above.push((column, Step::Item));
            let rest = &self.text[at + 1..end];
            let spaces = rest.len() - rest.trim_start_matches(' ').len();
            at += 1 + spaces;
            column += 1 + spaces;
            if last && self.offset <= at {
                return Some((self.offset > at - spaces).then(|| {
                    let word = self.word(at, end, false);
                    let replace =
                        if self.offset == at { self.replace(&word) } else { self.offset..self.offset };
                    self.fresh(column, replace)
                }));
            }
        }
        if matches!(self.text[at..end].chars().next(), Some('{' | '[')) {
            return self.flow(at, end, last);
        }
        let word = self.word(at, end, false);
        let behind = word.span.end;
        let colon = self.text[behind..end].trim_start_matches(' ').starts_with(':');
        let key = colon && {
            let rest = self.text[behind..end].trim_start_matches(' ');
            rest.len() == 1 || rest[1..].starts_with([' ', '\t'])
        };
        if last && self.offset <= behind {
            return Some(Some(self.fresh(column, self.replace(&word))));
        }
        if !key {
            // A value of a list, or something that is no YAML yet.
            return last.then_some(None);
        }
        self.above.retain(|(c, _)| *c < column);
        self.above.push((column, Step::Key(word.says)));
        let after = behind + self.text[behind..end].find(':').unwrap_or_default() + 1;
        if last && self.offset <= after {
            return Some(None);
        }
        let rest = &self.text[after..end];
        let value = after + rest.len() - rest.trim_start_matches([' ', '\t']).len();
        match self.text[value..end].chars().next() {
            Some('{' | '[') if !(last && self.offset <= value) => return self.flow(value, end, last),
            Some('|' | '>') => self.literal = Some(column),
            _ => {}
        }
        if !last {
            return None;
        }
        if self.literal.is_some() {
            return Some(None);
        }
        let word = self.word(value, end, false);
        if self.text[word.span.end..end].trim_start().starts_with('#') && self.offset > word.span.end {
            return Some(None);
        }
        let inside = value <= self.offset && self.offset <= word.span.end;
        let empty = word.span.is_empty() || self.offset < value;
        let replace = if inside { self.replace(&word) } else { self.offset..self.offset };
        Some((inside || empty).then(|| Here {
            path: self.path(),
            at: At::Value,
            replace,
            form: Form::Line,
            given: BTreeSet::new(),
        }))
    }

    /// A key or a value that begins at a column.
    fn fresh(&mut self, column: usize, replace: Range<usize>) -> Here {
        // A dash on the cursor's own line stands left of it.
        self.above.retain(|(c, _)| *c < column);
        let given = self.siblings(column);
        Here { path: self.path(), at: At::Key, replace, form: Form::Line, given }
    }

    fn path(&self) -> Vec<Step> {
        self.above.iter().map(|(_, step)| step.clone()).collect()
    }

    /// The keys of the mapping at a column around the cursor, but for the one at the cursor.
    fn siblings(&self, column: usize) -> BTreeSet<String> {
        let mut given = BTreeSet::new();
        let key = |line: &str| {
            let rest = line.trim_start_matches([' ', '-']);
            let at = line.len() - rest.len();
            let key = rest.split(':').next().filter(|k| k.len() < rest.len())?;
            Some((at, key.trim().trim_matches(['"', '\'']).to_owned()))
        };
        let start = self.text[..self.offset].rfind('\n').map_or(0, |n| n + 1);
        let own = self.text[start..self.offset].contains("- ");
        let mut take = |line: &str, down: bool| {
            let content = line.trim();
            if content.is_empty() || content.starts_with('#') {
                return true;
            }
            let indent = line.len() - line.trim_start_matches(' ').len();
            let dash = content.starts_with("- ") || content == "-";
            let outside = indent < column;
            // The dash of the item that the mapping is has its first key behind it.
            let first = outside && dash && !down;
            if outside && !first {
                return false;
            }
            if let Some((at, key)) = key(line)
                && at == column
            {
                given.insert(key);
            }
            !first
        };
        if !own {
            for line in self.text[..start].lines().rev() {
                if !take(line, false) {
                    break;
                }
            }
        }
        let after = self.text[self.offset..].find('\n').map_or(self.text.len(), |n| self.offset + n + 1);
        for line in self.text[after..].lines() {
            if !take(line, true) {
                break;
            }
        }
        given
    }

    /// The word or literal at an offset of a line.
    fn word(&self, at: usize, end: usize, flow: bool) -> Word {
        let rest = &self.text[at..end];
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let mut says = String::new();
            let mut chars = rest.char_indices().skip(1).peekable();
            while let Some((n, c)) = chars.next() {
                if c == '\\' && quote == '"' {
                    says.extend(chars.next().map(|(_, c)| c));
                } else if c == quote && quote == '\'' && chars.peek().is_some_and(|(_, c)| *c == '\'') {
                    chars.next();
                    says.push(c);
                } else if c == quote {
                    return Word { span: at..at + n + 1, says, closed: true };
                } else {
                    says.push(c);
                }
            }
            return Word { span: at..end, says, closed: false };
        }
        let mut length = rest.len();
        let mut before = ' ';
        for (n, c) in rest.char_indices() {
            let colon = c == ':'
                && rest[n + 1..]
                    .chars()
                    .next()
                    .is_none_or(|c| c.is_whitespace() || (flow && ",[]{}".contains(c)));
            if colon || (c == '#' && before.is_whitespace()) || (flow && ",[]{}".contains(c)) {
                length = n;
                break;
            }
            before = c;
        }
        let says = rest[..length].trim_end();
        Word { span: at..at + says.len(), says: says.to_owned(), closed: true }
    }

    fn replace(&self, word: &Word) -> Range<usize> {
        word.span.start..if word.closed { word.span.end } else { self.offset.max(word.span.start) }
    }

    /// Reads a part of a line on which brackets are open or about to open.
    fn flow(&mut self, start: usize, end: usize, last: bool) -> Option<Option<Here>> {
        let mut at = start;
        while at < end {
            let rest = &self.text[at..end];
            let Some(c) = rest.chars().next() else { break };
            if last && self.offset < at {
                break;
            }
            if c.is_whitespace() {
                at += c.len_utf8();
                continue;
            }
            if last && self.offset == at && matches!(c, ',' | '}' | ']' | '{' | '[' | '#') {
                break;
            }
            match c {
                '{' | '[' => self.brackets.push(Frame { map: c == '{', ..Frame::default() }),
                '}' | ']' => {
                    self.brackets.pop();
                    if self.brackets.is_empty() {
                        return last.then_some(None);
                    }
                }
                ',' => {
                    if let Some(frame) = self.brackets.last_mut() {
                        frame.key = None;
                    }
                }
                '#' => return last.then_some(None),
                ':' if rest[1..].chars().next().is_none_or(|c| c.is_whitespace() || "\"'{[".contains(c)) => {}
                _ => {
                    let word = self.word(at, end, true);
                    let behind = word.span.end.max(at + c.len_utf8());
                    let frame = self.brackets.last_mut();
                    let key = self.text[behind..end].trim_start().starts_with(':');
                    if last && at <= self.offset && self.offset <= word.span.end {
                        let replace = self.replace(&word);
                        return Some(self.in_flow(replace));
                    }
                    if let Some(frame) = frame.filter(|f| f.map && f.key.is_none() && key) {
                        frame.given.insert(word.says.clone());
                        frame.key = Some(word.says);
                    }
                    at = behind;
                    continue;
                }
            }
            at += c.len_utf8();
        }
        last.then(|| self.in_flow(self.offset..self.offset))
    }

    fn in_flow(&self, replace: Range<usize>) -> Option<Here> {
        let mut path = self.path();
        let (last, around) = self.brackets.split_last()?;
        for frame in around {
            path.push(frame.step()?);
        }
        let key = last.map && last.key.is_none();
        if !key {
            path.push(last.step()?);
        }
        let at = if key { At::Key } else { At::Value };
        Some(Here { path, at, replace, form: Form::Flow, given: last.given.clone() })
    }
}

impl Frame {
    fn step(&self) -> Option<Step> {
        if self.map { self.key.clone().map(Step::Key) } else { Some(Step::Item) }
    }
}

/// What a path leads to in the schema: the shape, what its values are, and the path without the struct of defaults.
fn descend<'s>(schema: &'s Schema, path: &[Step]) -> Option<(Says<'s>, Vec<String>)> {
    let mut says = Says { shape: schema.root(), refers: None, include: false };
    let mut model: Vec<String> = Vec::new();
    for step in path {
        let shape = says.shape;
        if shape.is_json() {
            return None;
        }
        let fields = shape.like().unwrap_or(shape);
        if shape.is_defaults() {
            model.pop();
        }
        match step {
            Step::Key(key) => {
                let inner = fields.property(key).or_else(|| fields.map_value())?;
                says = Says { shape: inner, ..Says::of(inner) };
                model.push(key.clone());
            }
            Step::Item => {
                says.shape = fields.item()?;
                model.push("*".to_owned());
            }
        }
    }
    Some((says, model))
}

pub fn site<'s>(text: &str, offset: usize, schema: &'s Schema) -> Option<Site<'s>> {
    let here = Scan::here(text, offset)?;
    let (says, mut model) = descend(schema, &here.path)?;
    let shape = says.shape;
    let replace = here.replace;
    let one = |wanted| Some(Site { replace: replace.clone(), wanted: vec![wanted] });
    let fields = |shape: Shape<'s>, form| {
        let fields = shape.like().unwrap_or(shape);
        let mut offers = keys(fields, &here.given);
        if shape.is_defaults() {
            offers.retain(|o| !o.shape.is_include() && !o.shape.is_defaults());
        }
        Wanted::Fields { offers, form }
    };
    if shape.is_json() {
        return None;
    }
    if here.at == At::Value {
        return one(Wanted::Value { says, form: here.form });
    }
    if shape.is_struct() || shape.like().is_some() {
        return one(fields(shape, here.form));
    }
    if shape.map_value().is_some() {
        if shape.is_defaults() {
            model.pop();
        }
        return one(Wanted::Name { collection: model, given: here.given });
    }
    if let Some(item) = shape.item() {
        return match item.is_struct() {
            true => one(fields(item, Form::Item)),
            false => one(Wanted::Value { says: Says { shape: item, ..says }, form: Form::Item }),
        };
    }
    // The value of a list's dash.
    let dash = here.path.last() == Some(&Step::Item);
    if dash { one(Wanted::Value { says, form: here.form }) } else { None }
}

/// The key, or the value, that an offset is in, in a text that does not parse.
pub fn word_at<'s>(text: &str, offset: usize, schema: &'s Schema) -> Option<(Range<usize>, Says<'s>)> {
    let mut here = Scan::here(text, offset)?;
    if here.at == At::Key {
        let word = text.get(here.replace.clone())?.trim_matches(['"', '\'']);
        here.path.push(Step::Key(word.to_owned()));
    }
    let (says, _) = descend(schema, &here.path)?;
    (!here.replace.is_empty()).then_some((here.replace, says))
}
