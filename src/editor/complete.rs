//! What may be written at a place, in words that an editor can insert.

use super::hover::about;
use super::site::{Form, Offer, Wanted, site};
use super::spots::Says;
use crate::source::{Schema, Shape, Surface, Syntax, values_of};
use serde_json::Value as Json;
use std::fmt::Write as _;
use std::ops::Range;

/// What an editor shows beside a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionKind {
    Field,
    Block,
    Word,
    Name,
    File,
}

/// One thing that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub label: String,
    pub kind: CompletionKind,
    /// Its type, in a few words.
    pub detail: String,
    /// What it is for, in Markdown.
    pub documentation: String,
    /// What is inserted: a snippet where that was asked for and `snippet` says so.
    pub insert: String,
    pub snippet: bool,
    /// What an editor compares with what is typed.
    pub filter: String,
    /// In the language, but not compiled yet.
    pub planned: bool,
    /// What comes first.
    pub rank: u8,
}

/// What a completion may draw on besides the text.
pub struct Known<'a> {
    /// The names of a collection.
    pub names: &'a dyn Fn(&[String]) -> Vec<String>,
    /// The files that may be included.
    pub files: &'a dyn Fn() -> Vec<String>,
    pub snippets: bool,
}

/// The bytes that a completion takes the place of, and what may stand there.
#[must_use]
pub fn complete(
    text: &str,
    offset: usize,
    syntax: Syntax,
    schema: &Schema,
    known: &Known<'_>,
) -> Option<(Range<usize>, Vec<Completion>)> {
    let site = site(text, offset, syntax, schema)?;
    let written = text.get(site.replace.clone()).unwrap_or_default();
    let mut writer = Writer { syntax, known, schema, quoted: written.starts_with('"'), found: Vec::new() };
    for wanted in &site.wanted {
        writer.wanted(wanted);
    }
    let mut found = writer.found;
    found.sort_by(|a, b| (a.planned, a.rank, &a.label).cmp(&(b.planned, b.rank, &b.label)));
    found.dedup_by(|a, b| a.label == b.label);
    Some((site.replace, found))
}

struct Writer<'a, 's> {
    syntax: Syntax,
    known: &'a Known<'a>,
    schema: &'s Schema,
    /// What is there begins with a quote.
    quoted: bool,
    found: Vec<Completion>,
}

impl<'s> Writer<'_, 's> {
    fn wanted(&mut self, wanted: &Wanted<'s>) {
        match wanted {
            Wanted::Top { given } => self.top(given),
            Wanted::Version => {
                let root = self.schema.root();
                let words = root.property("apiVersion").map(Shape::words).unwrap_or_default();
                let shape = root.property("apiVersion").unwrap_or(root);
                for word in words.iter().filter_map(|word| word.rsplit('/').next()) {
                    self.value(word, shape, CompletionKind::Word, Form::Node);
                }
            }
            Wanted::Fields { offers, form } => offers.iter().for_each(|offer| self.field(offer, *form)),
            Wanted::Member { name, collection } => {
                let inner = collection.map_value().or_else(|| collection.item()).unwrap_or(*collection);
                let insert = self.entry(name, *collection);
                self.push(name, CompletionKind::Block, inner, insert, 0);
            }
            Wanted::Name { collection, given } => {
                let names = (self.known.names)(collection);
                for name in names.iter().filter(|name| !given.contains(*name)) {
                    let written = self.written(name);
                    let shape = self.schema.root();
                    let insert = if self.syntax == Syntax::Kdl { written } else { format!("{written}:") };
                    let mut item = item(name, CompletionKind::Name, shape, insert);
                    item.documentation = "a name that is defined elsewhere in this spec".to_owned();
                    item.filter = self.filter(name, &item.insert);
                    self.found.push(item);
                }
            }
            Wanted::Value { says, form } => self.values(says, *form),
        }
    }

    fn top(&mut self, given: &std::collections::BTreeSet<String>) {
        let root = self.schema.root();
        let Some((version, node)) = root.document() else { return };
        if !given.contains(version) {
            let word = root.property("apiVersion").map(Shape::words).unwrap_or_default();
            let word = word.last().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
            let shape = root.property("apiVersion").unwrap_or(root);
            self.push(
                version,
                CompletionKind::Field,
                shape,
                Some(format!("{version} {}", self.string(word))),
                0,
            );
        }
        if !given.contains(node) && root.part().is_none_or(|part| !given.contains(part)) {
            let insert = Some(format!("{node} {} {{\n\t$0\n}}", self.hole(1, "\"name\"")));
            self.push(node, CompletionKind::Block, root, insert, 1);
            if let Some(part) = root.part() {
                self.push(part, CompletionKind::Block, root, Some(format!("{part} {{\n\t$0\n}}")), 2);
            }
        }
    }

    fn field(&mut self, offer: &Offer<'s>, form: Form) {
        let (name, shape) = (&offer.name, offer.shape);
        let insert = match form {
            Form::Node if offer.repeated => self.entry(name, shape),
            Form::Node if offer.literal => Some(format!("{name} {}", self.sample(1, shape))),
            Form::Node => Some(self.block(name, shape)),
            Form::Property => Some(format!("{name}={}", self.sample(1, shape))),
            Form::Line | Form::Item | Form::Flow => Some(self.line(name, shape, form)),
        };
        let kind = if offer.literal { CompletionKind::Field } else { CompletionKind::Block };
        // A property is shorter than a node, so it comes after the values that may stand there too.
        let rank = u8::from(!offer.required) + if form == Form::Property { 2 } else { 0 };
        self.push(name, kind, shape, insert, rank);
        if form == Form::Property
            && let Some(item) = self.found.last_mut().filter(|item| !item.snippet)
        {
            item.insert = format!("{name}=");
        }
    }

    /// A node of a struct, or of a collection in a block.
    fn block(&self, name: &str, shape: Shape<'s>) -> String {
        if shape.map_value().is_none() && shape.item().is_none() && shape.like().is_none() {
            let surface = Surface::of(shape);
            let arguments = self.arguments(&surface, 1);
            let empty = surface.fields.is_empty();
            let optional = surface.fields.iter().all(|f| !f.required) && shape.one_of().is_empty();
            if empty || (optional && !shape.properties().any(|(_, f)| !f.is_scalar())) {
                return format!("{name}{arguments}");
            }
            return format!("{name}{arguments} {{\n\t$0\n}}");
        }
        format!("{name} {{\n\t$0\n}}")
    }

    /// A node that adds an entry to a collection.
    fn entry(&self, name: &str, collection: Shape<'s>) -> Option<String> {
        if let Some(member) = collection.map_value() {
            let example = collection.keyword("examples").and_then(|e| e.get(0)).and_then(Json::as_object);
            let names = collection.names();
            let first = example.and_then(|e| e.keys().next().map(String::as_str));
            let first = first.or_else(|| names?.keyword("examples")?.get(0)?.as_str()).unwrap_or("name");
            let key = self.hole(1, &self.string(first));
            if member.is_scalar() || member.is_json() {
                return Some(format!("{name} {key} {}", self.sample(2, member)));
            }
            let surface = Surface::of(member);
            return Some(format!("{name} {key}{} {{\n\t$0\n}}", self.arguments(&surface, 2)));
        }
        let item = collection.item()?;
        if item.is_scalar() || item.is_json() {
            let given =
                collection.keyword("examples").and_then(|e| e.get(0)?.get(0)).map(|v| self.literal(v));
            let sample = given.map_or_else(|| self.sample(1, item), |given| self.hole(1, &given));
            return Some(format!("{name} {sample}"));
        }
        let surface = Surface::of(item);
        let arguments = self.arguments(&surface, 1);
        Some(if arguments.is_empty() { format!("{name} {{\n\t$0\n}}") } else { format!("{name}{arguments}") })
    }

    fn arguments(&self, surface: &Surface<'s>, first: usize) -> String {
        let fields = surface.arguments.iter().map(|at| &surface.fields[*at]);
        let holes = fields.enumerate().map(|(n, f)| format!(" {}", self.sample(first + n, f.shape)));
        holes.collect()
    }

    fn line(&self, name: &str, shape: Shape<'s>, form: Form) -> String {
        let json = self.syntax == Syntax::Json;
        let key = if json { self.string(name) } else { name.to_owned() };
        let dash = if form == Form::Item { "- " } else { "" };
        let nested = if form == Form::Item { "\n\t\t" } else { "\n\t" };
        let list = shape.item().is_some() && !shape.is_json();
        let scalar = shape.is_scalar() || shape.is_json();
        let value = match (form, scalar, list) {
            (_, true, _) => format!(" {}", self.sample(1, shape)),
            (Form::Flow, _, true) => " [$0]".to_owned(),
            (Form::Flow, _, false) => " { $0 }".to_owned(),
            (_, _, true) => format!("{nested}- $0"),
            (_, _, false) if shape.properties().next().is_none() && shape.is_struct() => " {}".to_owned(),
            (_, _, false) => format!("{nested}$0"),
        };
        format!("{dash}{key}:{value}")
    }

    fn values(&mut self, says: &Says<'s>, form: Form) {
        let list = says.shape.item().filter(|_| !says.shape.is_json());
        let shape = list.unwrap_or(says.shape);
        // A list's only value in YAML stands in brackets of its own.
        let wrapped = list.is_some() && matches!(form, Form::Line | Form::Flow);
        let around = self.found.len();
        for word in shape.words() {
            self.value(word, shape, CompletionKind::Word, form);
        }
        if shape.has_type("boolean") {
            for word in ["true", "false"] {
                let insert = if self.syntax == Syntax::Kdl { format!("#{word}") } else { word.to_owned() };
                self.found.push(Completion {
                    filter: insert.clone(),
                    ..item(&insert, CompletionKind::Word, shape, insert.clone())
                });
            }
        }
        if let Some(collection) = &says.refers {
            for name in (self.known.names)(collection) {
                self.value(&name, shape, CompletionKind::Name, form);
            }
        }
        if says.include {
            for file in (self.known.files)() {
                self.value(&file, shape, CompletionKind::File, form);
            }
        }
        for item in self.found.iter_mut().skip(around) {
            if wrapped {
                item.insert = format!("[{}]", item.insert);
            } else if form == Form::Item {
                item.insert = format!("- {}", item.insert);
            }
        }
    }

    fn value(&mut self, word: &str, shape: Shape<'s>, kind: CompletionKind, form: Form) {
        let _ = form;
        let insert = self.written(word);
        let mut item = item(word, kind, shape, insert);
        if let Some(meaning) = shape.meanings().get(word) {
            item.documentation = (*meaning).to_owned();
        }
        item.filter = self.filter(word, &item.insert);
        self.found.push(item);
    }

    /// A text as it is written at a place where a quote may stand already.
    fn written(&self, word: &str) -> String {
        if self.quoted { Syntax::Json.string(word) } else { self.syntax.string(word) }
    }

    fn filter(&self, word: &str, insert: &str) -> String {
        if self.quoted { insert.to_owned() } else { word.to_owned() }
    }

    fn push(&mut self, name: &str, kind: CompletionKind, shape: Shape<'s>, insert: Option<String>, rank: u8) {
        let insert = insert.filter(|_| self.known.snippets);
        let snippet = insert.as_ref().is_some_and(|text| text.contains('$'));
        let plain = || match self.syntax {
            Syntax::Kdl => name.to_owned(),
            Syntax::Yaml => format!("{name}:"),
            Syntax::Json => format!("{}:", self.string(name)),
        };
        let mut item = item(name, kind, shape, insert.unwrap_or_else(plain));
        item.detail = values_of_field(shape, self.syntax);
        item.documentation = about(shape, self.syntax);
        item.filter = if self.quoted { self.string(name) } else { name.to_owned() };
        item.snippet = snippet;
        item.planned = shape.planned().is_some();
        item.rank = rank;
        self.found.push(item);
    }

    fn string(&self, text: &str) -> String {
        self.syntax.string(text)
    }

    /// A place of a snippet with something in it.
    fn hole(&self, number: usize, text: &str) -> String {
        let mut hole = format!("${{{number}:");
        escape(text, &['$', '}', '\\'], &mut hole);
        hole + "}"
    }

    /// A value to write over.
    fn sample(&self, number: usize, shape: Shape<'s>) -> String {
        let words: Vec<String> = if shape.has_type("boolean") {
            let mark = if self.syntax == Syntax::Kdl { "#" } else { "" };
            ["true", "false"].map(|word| format!("{mark}{word}")).into()
        } else {
            shape.words().into_iter().map(|word| self.string(word)).collect()
        };
        if !words.is_empty() {
            let mut choice = format!("${{{number}|");
            for (n, word) in words.iter().enumerate() {
                choice.push_str(if n > 0 { "," } else { "" });
                escape(word, &['$', '}', '\\', ',', '|'], &mut choice);
            }
            return choice + "|}";
        }
        if let Some(given) = shape.keyword("examples").and_then(|e| e.get(0)) {
            return self.hole(number, &self.literal(given));
        }
        if shape.has_type("integer") || shape.has_type("number") {
            let least = shape.keyword("minimum").map_or_else(|| "1".to_owned(), ToString::to_string);
            return self.hole(number, &least);
        }
        self.hole(number, &self.string(""))
    }

    fn literal(&self, value: &Json) -> String {
        match value {
            Json::String(text) => self.string(text),
            Json::Bool(b) if self.syntax == Syntax::Kdl => format!("#{b}"),
            Json::Array(list) if self.syntax == Syntax::Kdl => {
                list.iter().map(|v| self.literal(v)).collect::<Vec<_>>().join(" ")
            }
            Json::Object(_) if self.syntax == Syntax::Kdl => self.string(&value.to_string()),
            other => other.to_string(),
        }
    }
}

fn escape(text: &str, signs: &[char], out: &mut String) {
    for c in text.chars() {
        if signs.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
}

fn item(label: &str, kind: CompletionKind, shape: Shape<'_>, insert: String) -> Completion {
    let documentation = match kind {
        CompletionKind::Word => String::new(),
        _ => shape.description().unwrap_or_default().to_owned(),
    };
    Completion {
        label: label.to_owned(),
        kind,
        detail: String::new(),
        documentation,
        filter: insert.clone(),
        insert,
        snippet: false,
        planned: false,
        rank: 0,
    }
}

/// A field's type in a few words; nothing for one that is told by what stands in it.
fn values_of_field(shape: Shape<'_>, syntax: Syntax) -> String {
    let scalar = shape.is_scalar() || shape.is_json() || shape.item().is_some_and(Shape::is_scalar);
    let mut text = scalar.then(|| values_of(shape, syntax)).flatten().unwrap_or_default();
    if shape.planned().is_some() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}not compiled yet", if text.is_empty() { "" } else { "; " });
    }
    text
}
