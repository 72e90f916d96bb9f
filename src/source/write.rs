//! Tree to text, in KDL or YAML, with its comments; reading the text gives the same model and the same comments.
//!
//! Layout is decided here alone. A comment whose place the syntax does not have moves to the line above the node that
//! it is about; none is dropped. Only trees that validation accepted are promised to survive.

use super::doc::{Comment, Comments, Doc, Entry, Item, Kind, Value};
use super::header;
use super::limits::hidden;
use super::schema::{Schema, Shape};
use super::surface::{API_VERSION, ENTRY, Field, OBJECT_KIND, Surface};
use super::tokens::is_newline;
use super::yaml::{Plain, resolve};
use std::fmt::Write as _;

/// What a line holds before it is split up.
const WIDTH: usize = 100;
/// A value that stands on its node's line as a property.
const SHORT: usize = 40;
const PROPERTIES: usize = 3;

/// The spec in KDL.
#[must_use]
pub fn to_kdl(doc: &Doc, schema: &Schema) -> String {
    let root = schema.root();
    let (version, node) = root.document().unwrap_or(("purlin", "node"));
    let mut lines = Vec::new();
    if let Some(entry) = doc.root.entry(API_VERSION) {
        let written = entry.value.as_str().unwrap_or_default();
        let word = written.strip_prefix(header::GROUP).and_then(|w| w.strip_prefix('/')).unwrap_or(written);
        let mut line =
            Line { head: format!("{version} {}", quoted(word)), ..Line::of(&entry.comments, true) };
        line.above.append(&mut line.inner);
        lines.push(line);
    }
    let name = root.part().filter(|_| header::is_part(doc)).unwrap_or(node);
    let mut line = Line::structure(name, None, &doc.root, &Surface::of_document(root), false, 0);
    if let Some(entry) = doc.root.entry(OBJECT_KIND) {
        line.above.splice(0..0, Line::of(&entry.comments, false).above);
        line.inner.extend(texts(&entry.comments.inner));
    }
    lines.push(line);
    let mut out = String::new();
    print(&lines, 0, &mut out);
    for comment in texts(&doc.trailing) {
        print_comment(&comment, 0, &mut out);
    }
    out
}

/// A KDL node before it is printed; without a head it is comments only.
#[derive(Default)]
struct Line {
    above: Vec<String>,
    head: String,
    block: Option<Vec<Self>>,
    /// At the end of the block.
    inner: Vec<String>,
    behind: Option<String>,
    /// On the lines after the node.
    below: Vec<String>,
}

impl Line {
    /// The comments of an entry; what was written behind it stays there when it can.
    fn of(comments: &Comments, behind: bool) -> Self {
        let mut line =
            Self { above: texts(&comments.leading), inner: texts(&comments.inner), ..Self::default() };
        if let Some(comment) = &comments.trailing {
            if behind && !comment.text.contains(is_newline) {
                line.behind = Some(comment.text.clone());
            } else {
                line.above.extend(texts([comment]));
            }
        }
        line
    }

    /// The comments of a node with a block: those from behind a YAML key go above it.
    fn around(comments: &Comments, value: &Value) -> Self {
        let behind = comments
            .trailing
            .as_ref()
            .is_some_and(|c| c.span.file == value.span.file && c.span.start >= value.span.end);
        Self::of(comments, behind)
    }

    fn only(comments: Vec<String>) -> Option<Self> {
        (!comments.is_empty()).then(|| Self { above: comments, ..Self::default() })
    }

    /// The node of a struct. Recurses as deep as the tree.
    fn structure(
        name: &str,
        key: Option<&str>,
        value: &Value,
        surface: &Surface<'_>,
        properties: bool,
        depth: usize,
    ) -> Self {
        let mut line = Self { head: head(name, key), ..Self::default() };
        let mut parts = Vec::new();
        collect(value, surface, &mut Vec::new(), &mut parts);
        let mut used = Vec::new();
        for field in surface.arguments.iter().map(|i| &surface.fields[*i]) {
            let given = parts.iter().position(|p| matches!(p, Part::Field(f, _) if std::ptr::eq(*f, field)));
            let Some((at, Part::Field(_, entry))) = given.map(|at| (at, &parts[at])) else { break };
            let literals = if field.is_literal() {
                literal(&entry.value, field.shape).into_iter().collect()
            } else {
                scalars(&entry.value)
            };
            if literals.is_empty() {
                break;
            }
            used.push(at);
            line.above.extend(all_comments(&entry.comments, &entry.value));
            for literal in literals {
                let _ = write!(line.head, " {literal}");
            }
            if !field.is_literal() {
                break;
            }
        }
        let short: Vec<(usize, String)> = parts
            .iter()
            .enumerate()
            .filter(|(at, _)| !used.contains(at))
            .filter_map(|(at, part)| match part {
                Part::Field(field, entry)
                    if field.shape.is_scalar() && entry.comments == Comments::default() =>
                {
                    let text = format!("{}={}", identifier(&field.name), literal(&entry.value, field.shape)?);
                    (text.len() <= SHORT).then_some((at, text))
                }
                _ => None,
            })
            .collect();
        let length: usize = short.iter().map(|(_, text)| text.len() + 1).sum();
        let fits = depth * 4 + line.head.len() + length <= WIDTH;
        if (properties || !surface.arguments.is_empty() && depth > 0) && short.len() <= PROPERTIES && fits {
            for (at, text) in short {
                used.push(at);
                let _ = write!(line.head, " {text}");
            }
        }
        let mut block: Vec<Self> = Vec::new();
        // Comments of an inline struct, which has no line: they go above the next one.
        let mut waiting = Vec::new();
        for (at, part) in parts.into_iter().enumerate() {
            let mut lines = match part {
                Part::Comments(comments) => {
                    waiting.extend(comments);
                    continue;
                }
                Part::Field(..) if used.contains(&at) => continue,
                Part::Field(field, entry) => Self::field(field, entry, depth + 1),
                Part::Unknown(entry) => vec![Self::unknown(entry)],
            };
            if let Some(first) = lines.first_mut() {
                first.above.splice(0..0, waiting.drain(..));
            }
            block.append(&mut lines);
        }
        block.extend(Self::only(waiting));
        line.block = (!block.is_empty()).then_some(block);
        line
    }

    fn field(field: &Field<'_>, entry: &Entry, depth: usize) -> Vec<Self> {
        let Entry { value, comments, .. } = entry;
        let lines = match &value.kind {
            Kind::Mapping(entries) if field.repeated => field.shape.map_value().map(|shape| {
                entries
                    .iter()
                    .map(|e| Self::value(&field.name, Some(&e.key), &e.value, shape, &e.comments, depth))
                    .collect()
            }),
            Kind::Sequence(items) if field.repeated => {
                field.shape.item().map(|shape| Self::items(&field.name, items, shape, depth))
            }
            _ => None,
        };
        let Some(mut lines): Option<Vec<Self>> = lines else {
            return vec![Self::value(&field.name, None, value, field.shape, comments, depth)];
        };
        // The collection has no node of its own that could carry its comments.
        let own = Self::of(comments, false);
        match (lines.first_mut(), own.above) {
            (Some(first), above) => drop(first.above.splice(0..0, above)),
            (None, above) => lines.extend(Self::only(above)),
        }
        match (lines.last_mut(), own.inner) {
            (Some(last), inner) => last.below.extend(inner),
            (None, inner) => lines.extend(Self::only(inner)),
        }
        lines
    }

    fn items(name: &str, items: &[Item], shape: Shape<'_>, depth: usize) -> Vec<Self> {
        if shape.is_scalar() {
            let literals: Vec<String> = items.iter().filter_map(|i| literal(&i.value, shape)).collect();
            let bare = items.iter().all(|i| i.comments == Comments::default());
            let line = literals.iter().fold(head(name, None), |line, literal| line + " " + literal);
            // A node without arguments is the empty list.
            if literals.is_empty()
                || (bare && literals.len() == items.len() && depth * 4 + line.len() <= WIDTH)
            {
                return vec![Self { head: line, ..Self::default() }];
            }
        }
        items.iter().map(|i| Self::value(name, None, &i.value, shape, &i.comments, depth)).collect()
    }

    /// One node that holds a value, with the key that it has in a map.
    fn value(
        name: &str,
        key: Option<&str>,
        value: &Value,
        shape: Shape<'_>,
        comments: &Comments,
        depth: usize,
    ) -> Self {
        let mut line = Self::around(comments, value);
        let head = head(name, key);
        let inside = match &value.kind {
            Kind::Mapping(_) if shape.is_struct() && !shape.is_json() => {
                let surface = Surface::of(shape);
                Self::structure(name, key, value, &surface, key.is_some(), depth)
            }
            Kind::Mapping(entries) if shape.map_value().is_some() && !shape.is_json() => {
                let (node, shape) = (shape.node_name().unwrap_or(ENTRY), shape.map_value().unwrap_or(shape));
                let block: Vec<Self> = entries
                    .iter()
                    .map(|e| Self::value(node, Some(&e.key), &e.value, shape, &e.comments, depth + 1))
                    .collect();
                Self { head, block: (!block.is_empty()).then_some(block), ..Self::default() }
            }
            Kind::Sequence(items) if shape.item().is_some() && !shape.is_json() => {
                let (node, item) = (shape.node_name().unwrap_or(ENTRY), shape.item().unwrap_or(shape));
                if item.is_scalar() {
                    line.above.extend(items.iter().flat_map(|i| all_comments(&i.comments, &i.value)));
                    let literals = scalars(value);
                    Self { head: literals.iter().fold(head, |h, l| h + " " + l), ..Self::default() }
                } else {
                    let block = Self::items(node, items, item, depth + 1);
                    Self { head, block: (!block.is_empty()).then_some(block), ..Self::default() }
                }
            }
            _ => {
                line.above.extend(nested_comments(value));
                let text = alone(value, shape, depth).or_else(|| literal(value, shape)).unwrap_or_default();
                Self { head: format!("{head} {text}").trim_end().to_owned(), ..Self::default() }
            }
        };
        line.above.extend(inside.above);
        line.head = inside.head;
        line.block = inside.block;
        if line.block.is_none() {
            // A comment alone would need a block, which not every node may have.
            line.above.append(&mut line.inner);
        }
        line
    }

    /// A key that the schema does not know.
    fn unknown(entry: &Entry) -> Self {
        let mut line = Self::around(&entry.comments, &entry.value);
        line.head = head(&entry.key, None);
        match &entry.value.kind {
            Kind::Mapping(entries) => {
                line.block = Some(entries.iter().map(Self::unknown).collect());
            }
            Kind::Sequence(_) => {
                line.above.extend(nested_comments(&entry.value));
                for literal in scalars(&entry.value) {
                    let _ = write!(line.head, " {literal}");
                }
            }
            _ => {
                let _ = write!(line.head, " {}", scalar(&entry.value).unwrap_or_default());
            }
        }
        if line.block.is_none() {
            line.above.append(&mut line.inner);
        }
        line
    }
}

/// What stands in a struct, in the order of the tree.
enum Part<'a, 's> {
    Field(&'a Field<'s>, &'a Entry),
    Unknown(&'a Entry),
    Comments(Vec<String>),
}

fn collect<'a, 's>(
    value: &'a Value,
    surface: &'a Surface<'s>,
    path: &mut Vec<&'a str>,
    parts: &mut Vec<Part<'a, 's>>,
) {
    for entry in value.entries() {
        let inline =
            surface.inlines.iter().any(|i| i.path.split_last() == Some((&entry.key.as_str(), &path[..])));
        if inline && matches!(entry.value.kind, Kind::Mapping(_)) {
            let comments = Line::of(&entry.comments, false);
            parts.push(Part::Comments(comments.above));
            path.push(&entry.key);
            collect(&entry.value, surface, path, parts);
            path.pop();
            parts.push(Part::Comments(comments.inner));
            continue;
        }
        match surface.fields.iter().find(|f| f.key == entry.key && f.path == *path) {
            Some(field) => parts.push(Part::Field(field, entry)),
            None if path.is_empty() && (entry.key == API_VERSION || entry.key == OBJECT_KIND) => {}
            None => parts.push(Part::Unknown(entry)),
        }
    }
}

fn texts<'a>(comments: impl IntoIterator<Item = &'a Comment>) -> Vec<String> {
    comments.into_iter().flat_map(|c| c.text.split(is_newline).map(|l| l.trim().to_owned())).collect()
}

/// All comments of an entry and of what is in it, for a place where none can stand.
fn all_comments(comments: &Comments, value: &Value) -> Vec<String> {
    let mut list = texts(&comments.leading);
    list.extend(texts(&comments.trailing));
    list.extend(nested_comments(value));
    list.extend(texts(&comments.inner));
    list
}

fn nested_comments(value: &Value) -> Vec<String> {
    let entries = value.entries().iter().flat_map(|e| all_comments(&e.comments, &e.value));
    entries.chain(value.items().iter().flat_map(|i| all_comments(&i.comments, &i.value))).collect()
}

fn print(lines: &[Line], depth: usize, out: &mut String) {
    for (at, line) in lines.iter().enumerate() {
        // The parts of a spec stand apart from each other; deeper down lines keep together.
        let apart = at > 0
            && (depth == 0 || depth == 1 && (line.block.is_some() || lines[at - 1].block.is_some()))
            && !(line.head.is_empty() && line.above.is_empty());
        if apart {
            out.push('\n');
        }
        for comment in &line.above {
            print_comment(comment, depth, out);
        }
        if !line.head.is_empty() {
            let _ = write!(out, "{:1$}{2}", "", depth * 4, line.head);
            let inner = !line.inner.is_empty();
            if line.block.is_some() || inner {
                out.push_str(" {\n");
                print(line.block.as_deref().unwrap_or_default(), depth + 1, out);
                for comment in &line.inner {
                    print_comment(comment, depth + 1, out);
                }
                let _ = write!(out, "{:1$}}}", "", depth * 4);
            }
            if let Some(comment) = &line.behind {
                let _ = write!(out, " {}", format!("// {comment}").trim_end());
            }
            out.push('\n');
        }
        for comment in &line.below {
            print_comment(comment, depth, out);
        }
    }
}

fn print_comment(text: &str, depth: usize, out: &mut String) {
    let _ = writeln!(out, "{:1$}{2}", "", depth * 4, format!("// {text}").trim_end());
}

fn head(name: &str, key: Option<&str>) -> String {
    match key {
        Some(key) => format!("{} {}", identifier(name), quoted(key)),
        None => identifier(name),
    }
}

/// A name, in quotes only where it needs them.
fn identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && !matches!(name, "true" | "false" | "null" | "inf" | "nan");
    if plain { name.to_owned() } else { quoted(name) }
}

/// A value on a node's line. Nothing for what no literal can say.
fn literal(value: &Value, shape: Shape<'_>) -> Option<String> {
    if shape.is_json() { Some(raw(&json(value, None))) } else { scalar(value) }
}

/// The literals of a list of scalars; none when another value is among them.
fn scalars(value: &Value) -> Vec<String> {
    let literals: Option<Vec<String>> = value.items().iter().map(|i| scalar(&i.value)).collect();
    literals.unwrap_or_default()
}

fn scalar(value: &Value) -> Option<String> {
    Some(match &value.kind {
        Kind::Null => "#null".to_owned(),
        Kind::Bool(b) => format!("#{b}"),
        Kind::Integer(n) => n.to_string(),
        Kind::Float(f) if f.is_finite() => format!("{f:?}"),
        Kind::Float(f) if *f > 0.0 => "#inf".to_owned(),
        Kind::Float(f) if *f < 0.0 => "#-inf".to_owned(),
        Kind::Float(_) => "#nan".to_owned(),
        Kind::String(text) => quoted(text),
        Kind::Sequence(_) | Kind::Mapping(_) => return None,
    })
}

/// A value that has its node to itself, on several lines where that is easier to read.
fn alone(value: &Value, shape: Shape<'_>, depth: usize) -> Option<String> {
    let text = match &value.kind {
        _ if shape.is_json() => {
            let short = json(value, None);
            if depth * 4 + short.len() <= WIDTH - SHORT {
                return Some(raw(&short));
            }
            json(value, Some(0))
        }
        Kind::String(text) => text.clone(),
        _ => return None,
    };
    let lines: Vec<&str> = text.split('\n').collect();
    let sound = lines.len() > 1
        && !text.contains(|c| c != '\n' && (is_newline(c) || hidden(c)))
        && lines.iter().all(|l| l.is_empty() || !l.trim().is_empty());
    if !sound {
        return None;
    }
    let hashes = hashes(&text, "\"\"\"");
    let indent = " ".repeat(depth * 4 + 4);
    let mut out = format!("{hashes}\"\"\"\n");
    for line in lines {
        if !line.is_empty() {
            let _ = write!(out, "{indent}{line}");
        }
        out.push('\n');
    }
    let _ = write!(out, "{indent}\"\"\"{hashes}");
    Some(out)
}

/// A string of one line as it stands.
fn raw(text: &str) -> String {
    let hashes = hashes(text, "\"");
    format!("{hashes}\"{text}\"{hashes}")
}

/// As many hash signs as the text needs around its quotes.
fn hashes(text: &str, quotes: &str) -> String {
    let mut hashes = "#".to_owned();
    while text.contains(&format!("{quotes}{hashes}")) {
        hashes.push('#');
    }
    hashes
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if hidden(c) || is_newline(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// JSON on one line, or on several from a level of indentation on.
fn json(value: &Value, level: Option<usize>) -> String {
    let list = |open: char, items: Vec<String>, close: char| match level {
        _ if items.is_empty() => format!("{open}{close}"),
        None => format!("{open}{}{close}", items.join(", ")),
        Some(level) => {
            let indent = "  ".repeat(level + 1);
            format!("{open}\n{indent}{}\n{}{close}", items.join(&format!(",\n{indent}")), "  ".repeat(level))
        }
    };
    let next = level.map(|l| l + 1);
    match &value.kind {
        Kind::Sequence(items) => list('[', items.iter().map(|i| json(&i.value, next)).collect(), ']'),
        Kind::Mapping(entries) => {
            let pair = |e: &Entry| format!("{}: {}", json_string(&e.key), json(&e.value, next));
            list('{', entries.iter().map(pair).collect(), '}')
        }
        Kind::String(text) => json_string(text),
        Kind::Bool(b) => b.to_string(),
        Kind::Integer(n) => n.to_string(),
        Kind::Float(f) if f.is_finite() => format!("{f:?}"),
        Kind::Null | Kind::Float(_) => "null".to_owned(),
    }
}

/// Also right as a double-quoted YAML string.
fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // All of them have four digits.
            c if hidden(c) || is_newline(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The spec in JSON, which has no comments.
#[must_use]
pub fn to_json(doc: &Doc) -> String {
    json(&doc.root, Some(0)) + "\n"
}

/// The spec in YAML.
#[must_use]
pub fn to_yaml(doc: &Doc, _schema: &Schema) -> String {
    let mut yaml = Yaml { out: String::new() };
    match &doc.root.kind {
        Kind::Mapping(entries) if !entries.is_empty() => yaml.mapping(entries, 0, false),
        _ => {
            let _ = writeln!(yaml.out, "{}", yaml_scalar(&doc.root));
        }
    }
    yaml.comments(&texts(&doc.trailing), 0);
    yaml.out
}

struct Yaml {
    out: String,
}

impl Yaml {
    fn comments(&mut self, comments: &[String], indent: usize) {
        for comment in comments {
            let _ = writeln!(self.out, "{:1$}{2}", "", indent, format!("# {comment}").trim_end());
        }
    }

    /// A mapping with entries; `begun` when the first line's indentation is written already. Recurses as deep as the
    /// tree.
    fn mapping(&mut self, entries: &[Entry], indent: usize, mut begun: bool) {
        for Entry { key, value, comments, .. } in entries {
            if !begun {
                self.comments(&above(value, comments), indent);
                let _ = write!(self.out, "{:1$}", "", indent);
            }
            begun = false;
            let key = plain(key).unwrap_or_else(|| json_string(key));
            let _ = write!(self.out, "{key}:");
            self.value(value, comments, indent);
        }
    }

    /// What follows a key's colon, to the end of the line and in the block below.
    fn value(&mut self, value: &Value, comments: &Comments, indent: usize) {
        let behind = match comments.trailing.as_ref().map(|c| texts([c])) {
            Some(words) if words.len() == 1 => format!(" # {}", words[0]).trim_end().to_owned(),
            Some(words) => {
                // Only a tree that no text gave has these; the lines go on below.
                format!(" # {}", words.join(" ")).trim_end().to_owned()
            }
            None => String::new(),
        };
        match &value.kind {
            Kind::Mapping(entries) if !entries.is_empty() => {
                let _ = writeln!(self.out, "{behind}");
                self.mapping(entries, indent + 2, false);
            }
            Kind::Sequence(items) if !items.is_empty() => {
                let _ = writeln!(self.out, "{behind}");
                self.sequence(items, indent + 2);
            }
            Kind::String(text) if block_scalar(text) => {
                let _ = writeln!(self.out, " {}{behind}", chomping(text));
                self.lines(text, indent + 2);
            }
            // Nothing at all is how YAML writes what a person has yet to write.
            Kind::Null => {
                let _ = writeln!(self.out, "{behind}");
            }
            _ => {
                let _ = writeln!(self.out, " {}{behind}", yaml_scalar(value));
            }
        }
        if has_block(value) {
            self.comments(&texts(&comments.inner), indent + 2);
        }
    }

    fn lines(&mut self, text: &str, indent: usize) {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if !line.is_empty() {
                let _ = write!(self.out, "{:1$}{2}", "", indent, line);
            }
            self.out.push('\n');
        }
    }

    fn sequence(&mut self, items: &[Item], indent: usize) {
        for Item { value, comments } in items {
            self.comments(&above(value, comments), indent);
            let _ = write!(self.out, "{:1$}-", "", indent);
            match &value.kind {
                Kind::Mapping(entries)
                    if comments.trailing.is_none()
                        && entries.first().is_some_and(|e| above(&e.value, &e.comments).is_empty()) =>
                {
                    self.out.push(' ');
                    self.mapping(entries, indent + 2, true);
                    self.comments(&texts(&comments.inner), indent + 2);
                }
                _ => self.value(value, comments, indent),
            }
        }
    }
}

/// The value has a block below its key, at whose end comments can stand.
fn has_block(value: &Value) -> bool {
    !(value.entries().is_empty() && value.items().is_empty())
}

fn above(value: &Value, comments: &Comments) -> Vec<String> {
    let mut list = texts(&comments.leading);
    if !has_block(value) {
        list.extend(texts(&comments.inner));
    }
    list
}

/// A value on one line.
fn yaml_scalar(value: &Value) -> String {
    match &value.kind {
        Kind::String(text) => plain(text).unwrap_or_else(|| json_string(text)),
        Kind::Mapping(_) => "{}".to_owned(),
        Kind::Sequence(_) => "[]".to_owned(),
        Kind::Float(f) if f.is_nan() => ".nan".to_owned(),
        Kind::Float(f) if f.is_infinite() => if *f > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
        _ => json(value, None),
    }
}

/// The text without quotes, if every reader of YAML, old or new, takes it for the same string.
fn plain(text: &str) -> Option<String> {
    let words = ["yes", "no", "on", "off", "y", "n", "true", "false", "null"];
    let sound = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/' || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./@+,%^$=~()*;<>|&! ".contains(c) || c == ':')
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && resolve(text) == Plain::String
        && !words.contains(&text.to_ascii_lowercase().as_str())
        // Old readers know sexagesimal numbers, dates and underscores in numbers.
        && (!text.starts_with(|c: char| c.is_ascii_digit()) || text.contains(['/', '%', '@']) || text.matches('.').count() > 1);
    sound.then(|| text.to_owned())
}

/// Whether a text of several lines can stand as a literal block, which has no escapes.
fn block_scalar(text: &str) -> bool {
    let odd = |c: char| c != '\n' && (is_newline(c) || hidden(c));
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !text.contains(odd)
        && text.split('\n').all(|l| l.is_empty() || !l.trim().is_empty())
}

fn chomping(text: &str) -> &'static str {
    if text.ends_with("\n\n") {
        "|+"
    } else if text.ends_with('\n') {
        "|"
    } else {
        "|-"
    }
}
