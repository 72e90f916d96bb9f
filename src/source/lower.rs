//! KDL nodes to tree: the mapping of ARCHITECTURE.md, driven by the schema's annotations.
//!
//! Every wrong use is a finding, and reading goes on. What the schema does not know stays in the tree under the name
//! that the operator wrote, for validation to name; types of scalars are validation's matter too.

use super::doc::{Comments, Doc, Entry, Item, Kind, Value};
use super::header;
use super::json;
use super::kdl::{Block, Literal, Node};
use super::limits::Limits;
use super::misuse::{Misuse, quoted, sample};
use super::scalar;
use super::schema::{Schema, Shape};
use super::surface::{API_VERSION, ENTRY, Field, OBJECT_KIND, Surface};
use super::tokens::is_newline;
use crate::diag::{Code, Diagnostic, Findings, Span, Spanned};
use std::collections::BTreeMap;

pub fn lower(
    document: Block,
    text: &str,
    schema: &Schema,
    limits: &Limits,
    findings: &mut Findings,
) -> Option<Doc> {
    let root = schema.root();
    let (version, node) = root.document().unwrap_or(("purlin", "node"));
    // A part's fields are a node's, but it has no name.
    let part = root.part().filter(|part| document.nodes.iter().any(|n| n.name.value == **part));
    Lower { text, limits, findings }.document(document, root, version, part.unwrap_or(node), part.is_some())
}

struct Lower<'a, 'f> {
    text: &'a str,
    limits: &'a Limits,
    findings: &'f mut Findings,
}

/// What a node is to the one around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Field,
    /// One of a named collection: its first argument is its name.
    Member,
    /// One of a list.
    Element,
}

impl Role {
    /// How many arguments are its name.
    const fn names(self) -> usize {
        matches!(self, Self::Member) as usize
    }
}

/// A struct while its node is read.
#[derive(Default)]
struct Filling {
    entries: Vec<Entry>,
    /// Where each field was given first, by its path and key; also when its value was no good.
    seen: BTreeMap<String, Span>,
}

impl Filling {
    /// The entries of the mapping under a path of inline structs, which is made where it is not there yet.
    fn under(&mut self, path: &[&str], name: Span, whole: Span) -> &mut Vec<Entry> {
        let mut entries = &mut self.entries;
        for step in path {
            let at = entries.iter().position(|e| e.key == *step).unwrap_or_else(|| {
                entries.push(Entry {
                    key: (*step).to_owned(),
                    key_span: name,
                    value: Value::new(whole, Kind::Mapping(Vec::new())),
                    comments: Comments::default(),
                });
                entries.len() - 1
            });
            let kind = &mut entries[at].value.kind;
            if !matches!(kind, Kind::Mapping(_)) {
                *kind = Kind::Mapping(Vec::new());
            }
            let Kind::Mapping(inner) = kind else { unreachable!("it was made a mapping just above") };
            entries = inner;
        }
        entries
    }
}

impl<'a> Lower<'a, '_> {
    fn document(
        &mut self,
        document: Block,
        root: Shape<'_>,
        version: &str,
        node: &str,
        part: bool,
    ) -> Option<Doc> {
        let mut trailing = document.end;
        let (mut versions, mut nodes) = (Vec::new(), Vec::new());
        for top in document.nodes {
            if top.name.value == version {
                versions.push(top);
            } else if top.name.value == node {
                nodes.push(top);
            } else {
                let finding = Diagnostic::new(
                    Code::PUR0101,
                    format!("`{}` does not stand at the top of a spec", top.name.value),
                )
                .at(top.name.span, format!("only `{version}` and `{node}` stand here"));
                self.findings
                    .push(finding.help(format!("move it into the block of `{node} \"name\" {{ … }}`")));
            }
        }
        let line = format!("{version} \"{}\"", header::newest_word());
        for (list, name) in [(&versions, version), (&nodes, node)] {
            if let [first, others @ ..] = list.as_slice() {
                for other in others {
                    // Two whole specs are one mistake.
                    if name == version && nodes.len() > 1 {
                        continue;
                    }
                    let code = if name == version { Code::PUR0004 } else { Code::PUR0102 };
                    let finding = Diagnostic::new(code, format!("`{name}` is given twice"))
                        .at(other.name.span, "given again here")
                        .see(first.name.span, "first given here");
                    self.findings.push(if name != version {
                        finding.help(format!("put it into a file of its own, which begins with `{line}`"))
                    } else if self.written(first.header) == self.written(other.header) {
                        finding.fix(
                            other.header,
                            "",
                            "one line says the version of the whole file: leave this one out",
                        )
                    } else {
                        finding.help("one line says the version of the whole file: leave one of them out")
                    });
                }
            }
        }
        let mut entries = Vec::new();
        if versions.is_empty() {
            let at =
                nodes.first().map_or(Span { end: document.span.start, ..document.span }, |n| n.name.span);
            self.findings.push(header::missing_version(at, &line));
        } else {
            entries.extend(self.version(versions.remove(0), &line));
        }
        if nodes.is_empty() {
            self.findings.push(
                Diagnostic::new(Code::PUR0105, format!("the spec has no `{node}`"))
                    .at(Span { start: document.span.end, ..document.span }, "expected by the end of the file")
                    .help(format!("write `{node} \"name\" {{ … }}` below the version")),
            );
            return None;
        }
        let node = nodes.remove(0);
        let span = node.span;
        let kind = if part { header::PART_KIND } else { header::KIND };
        entries.push(Entry {
            key: OBJECT_KIND.to_owned(),
            key_span: node.name.span,
            value: Value::new(node.name.span, Kind::String(kind.to_owned())),
            comments: Comments { leading: node.comments.leading.clone(), ..Comments::default() },
        });
        trailing.splice(0..0, node.comments.trailing.clone());
        let mut inner = node.children.as_ref().map(|c| c.end.clone()).unwrap_or_default();
        let mut surface = Surface::of_document(root);
        if part {
            surface.arguments.clear();
        }
        entries.append(&mut self.fields(&node, &surface, Role::Field));
        // The block's last comments belong to the last struct whose fields stand in it.
        match entries.iter_mut().rev().find(|e| surface.has_inline(&e.key)) {
            Some(entry) => entry.comments.inner.append(&mut inner),
            None => trailing.splice(0..0, inner).for_each(drop),
        }
        Some(Doc { root: Value::new(span, Kind::Mapping(entries)), trailing })
    }

    fn version(&mut self, node: Node, line: &str) -> Option<Entry> {
        self.no_properties(&node, None, None);
        self.no_children(&node);
        self.no_more_arguments(&node, 1, line);
        let literal = node.arguments.first();
        let Some(Literal { span, kind: Kind::String(word), .. }) = literal else {
            let at = literal.map_or(node.name.span, |l| l.span);
            self.findings.push(header::missing_version(at, line));
            return None;
        };
        if !header::VERSIONS.contains(&word.as_str()) {
            let known = format!("\"{}\"", header::newest_word());
            self.findings.push(header::unknown_version(word, *span, &known));
        }
        Some(Entry {
            key: API_VERSION.to_owned(),
            key_span: node.name.span,
            value: Value::new(*span, Kind::String(header::api_version(word))),
            comments: node.comments,
        })
    }

    /// The mapping of a struct's node. Recurses as deep as the limits admit.
    fn fields(&mut self, node: &Node, surface: &Surface<'_>, role: Role) -> Vec<Entry> {
        let mut filling = Filling::default();
        let (name, whole) = (node.name.span, node.span);
        self.arguments(node, surface, role, &mut filling);
        for (property, literal) in &node.properties {
            match surface.named(&property.value) {
                Some(field) if field.is_literal() => {
                    if self.first(field, property.span, &mut filling)
                        && let Some(value) = self.literal(literal, field.shape)
                    {
                        let entry = plain_entry(field.key, property.span, value);
                        filling.under(&field.path, name, whole).push(entry);
                    }
                }
                Some(field) => {
                    let finding = self.misuse().not_a_property(property.span, field, literal);
                    self.findings.push(finding);
                }
                None => {
                    if let Some(field) = self.in_model(property, surface, node) {
                        if field.is_literal()
                            && self.first(field, property.span, &mut filling)
                            && let Some(value) = self.literal(literal, field.shape)
                        {
                            let entry = plain_entry(field.key, property.span, value);
                            filling.under(&field.path, name, whole).push(entry);
                        }
                    } else if !surface.has_inline(&property.value) && !hidden(&property.value) {
                        self.keyword(literal);
                        let value = Value::new(literal.span, literal.kind.clone());
                        let entry = plain_entry(&property.value, property.span, value);
                        filling.under(&surface.likely_path(&property.value), name, whole).push(entry);
                    }
                }
            }
        }
        for child in node.children.iter().flat_map(|c| &c.nodes) {
            self.child(child, node, surface, &mut filling);
        }
        for inline in surface.inlines.iter().filter(|i| i.required) {
            filling.under(&inline.path, name, whole);
        }
        filling.entries
    }

    fn arguments(&mut self, node: &Node, surface: &Surface<'_>, role: Role, filling: &mut Filling) {
        let skip = role.names();
        let given = node.arguments.get(skip..).unwrap_or_default();
        let mut rest = given;
        for field in surface.arguments.iter().map(|i| &surface.fields[*i]) {
            let Some((literal, others)) = rest.split_first() else { return };
            let (key_span, value) = if let Some(item) = field.shape.item().filter(|_| !field.shape.is_json())
            {
                rest = &[];
                let span = literal.span.to(others.last().unwrap_or(literal).span);
                let items = std::iter::once(literal)
                    .chain(others)
                    .filter_map(|l| Some(plain_item(self.literal(l, item)?)))
                    .collect();
                (span, Some(Value::new(span, Kind::Sequence(items))))
            } else {
                rest = others;
                (literal.span, self.literal(literal, field.shape))
            };
            if self.first(field, key_span, filling)
                && let Some(value) = value
            {
                let entry = plain_entry(field.key, key_span, value);
                filling.under(&field.path, node.name.span, node.span).push(entry);
            }
        }
        if let ([first, ..], Some(last)) = (rest, rest.last()) {
            let each = role == Role::Element && surface.arguments.len() == 1;
            let better = match (each, rest) {
                (true, _) => self.misuse().one_node_each(node),
                (false, [literal]) => self.misuse().nameless(node, surface, literal),
                _ => None,
            };
            if let Some(finding) = better {
                self.findings.push(finding);
                return;
            }
            let name = &node.name.value;
            let fields: Vec<String> =
                surface.arguments.iter().map(|i| format!("<{}>", surface.fields[*i].name)).collect();
            let help = if fields.is_empty() && skip == 0 {
                format!("write the values as properties or nodes of `{name}`, with their names")
            } else {
                let key = if skip > 0 { "<name> " } else { "" };
                format!("it is written `{}`", format!("{name} {key}{}", fields.join(" ")).trim_end())
            };
            let count = surface.arguments.len() + skip;
            let message = if count == 0 {
                format!("`{name}` takes no arguments")
            } else {
                format!("`{name}` has more arguments than the {count} that it takes")
            };
            self.misused(first.span.to(last.span), message, "too many", help);
        }
    }

    fn child(&mut self, child: &Node, parent: &Node, surface: &Surface<'_>, filling: &mut Filling) {
        let (name, whole) = (parent.name.span, parent.span);
        let Some(field) = surface.named(&child.name.value) else {
            if let Some(field) = self.in_model(&child.name, surface, parent) {
                self.no_properties(child, Some(field.shape), Some((parent, surface)));
                if !field.repeated
                    && self.first(field, child.name.span, filling)
                    && let Some(value) = self.value(child, field.shape, Role::Field)
                {
                    let comments = comments(child);
                    let entry = Entry { comments, ..plain_entry(field.key, child.name.span, value) };
                    filling.under(&field.path, name, whole).push(entry);
                }
            } else if !surface.has_inline(&child.name.value) && !hidden(&child.name.value) {
                child.arguments.iter().for_each(|literal| self.keyword(literal));
                let entry = Entry { comments: comments(child), ..unknown(child) };
                filling.under(&surface.likely_path(&child.name.value), name, whole).push(entry);
            }
            return;
        };
        self.no_properties(child, Some(field.shape), Some((parent, surface)));
        if !field.repeated {
            if self.first(field, child.name.span, filling)
                && let Some(value) = self.value(child, field.shape, Role::Field)
            {
                let entry =
                    Entry { comments: comments(child), ..plain_entry(field.key, child.name.span, value) };
                filling.under(&field.path, name, whole).push(entry);
            }
            return;
        }
        let map = field.shape.map_value();
        // Given once as an argument or property, then as nodes: that is the one way to give a collection twice.
        let given = filling.under(&field.path, name, whole);
        let at = match given.iter().position(|e| e.key == field.key) {
            Some(at) => {
                given[at].value.span = given[at].value.span.to(child.span);
                at
            }
            None => {
                let kind = if map.is_some() { Kind::Mapping(Vec::new()) } else { Kind::Sequence(Vec::new()) };
                given.push(plain_entry(field.key, child.name.span, Value::new(child.span, kind)));
                given.len() - 1
            }
        };
        match (map, field.shape.item()) {
            (Some(value), _) => {
                let mut entry = self.map_entry(child, value);
                let given = &mut filling.under(&field.path, name, whole)[at];
                if let (Kind::Mapping(entries), Some(entry)) = (&mut given.value.kind, entry.take()) {
                    self.push_unless_repeated(entries, entry);
                }
            }
            (None, Some(item)) => {
                let (mut items, own) = self.items(child, item);
                let given = &mut filling.under(&field.path, name, whole)[at];
                if let Kind::Sequence(all) = &mut given.value.kind {
                    all.append(&mut items);
                }
                given.comments.leading.extend(own.leading);
                given.comments.inner.extend(own.trailing.into_iter().chain(own.inner));
            }
            (None, None) => {}
        }
    }

    fn push_unless_repeated(&mut self, entries: &mut Vec<Entry>, entry: Entry) {
        match entries.iter().find(|e| e.key == entry.key) {
            Some(first) => self.findings.push(scalar::repeated(&entry.key, first.key_span, entry.key_span)),
            None => entries.push(entry),
        }
    }

    /// Whether the field is given for the first time; the second time is a finding.
    fn first(&mut self, field: &Field<'_>, span: Span, filling: &mut Filling) -> bool {
        let id = format!("{}/{}", field.path.join("/"), field.key);
        if let Some(first) = filling.seen.get(&id) {
            self.findings.push(scalar::repeated(&field.name, *first, span));
            return false;
        }
        filling.seen.insert(id, span);
        true
    }

    /// A name that is the model's, but not KDL's: says how KDL spells it.
    fn in_model<'s, 'x>(
        &mut self,
        name: &Spanned<String>,
        surface: &'x Surface<'s>,
        parent: &Node,
    ) -> Option<&'x Field<'s>> {
        let written = &name.value;
        let finding = Diagnostic::new(Code::PUR0101, format!("`{written}` is not a name in KDL"));
        if surface.has_inline(written) || hidden(written) {
            self.findings.push(
                finding
                    .at(name.span, "a name of the YAML form")
                    .help(format!("write what is in it directly into the block of `{}`", parent.name.value)),
            );
            return None;
        }
        let field = surface.in_model(written)?;
        let right = &field.name;
        let nodes = parent.children.iter().flat_map(|c| &c.nodes).map(|n| &n.name);
        let spelt = parent.properties.iter().map(|(p, _)| p).chain(nodes).find(|n| n.value == *right);
        if let Some(spelt) = spelt.filter(|_| !field.repeated) {
            self.findings.push(
                Diagnostic::new(Code::PUR0102, format!("`{right}` is given twice, once as `{written}`"))
                    .at(name.span, "a name of the YAML form")
                    .see(spelt.span, "given here as well")
                    .help("keep one of them, in KDL's spelling"),
            );
            return None;
        }
        let finding = finding.at(name.span, "a name of the YAML form");
        let node = parent.children.iter().flat_map(|c| &c.nodes).find(|n| n.name.span == name.span);
        self.findings.push(match node {
            // A block of all of them, where each is a node of its own.
            Some(node) if field.repeated && node.arguments.is_empty() => finding
                .help(format!("write each as a node of its own, without this block: `{}`", sample(field))),
            None if field.repeated => {
                finding.help(format!("write it as a node in the block: `{}`", sample(field)))
            }
            _ => finding.fix(name.span, right.clone(), format!("write `{right}`")),
        });
        Some(field)
    }

    /// What one node says about a value. Recurses as deep as the limits admit.
    fn value(&mut self, node: &Node, shape: Shape<'_>, role: Role) -> Option<Value> {
        let skip = role.names();
        if shape.is_json() || shape.is_scalar() {
            return self.single(node, shape, role);
        }
        if shape.is_struct() {
            let entries = self.fields(node, &Surface::of(shape), role);
            return Some(Value::new(node.span, Kind::Mapping(entries)));
        }
        if let Some(value) = shape.map_value() {
            let kind = shape.node_name().unwrap_or(ENTRY);
            self.no_more_arguments(node, skip, &format!("{} {{ {kind} … }}", node.name.value));
            let mut entries = Vec::new();
            for child in self.named(node, kind, value) {
                if let Some(entry) = self.map_entry(child, value) {
                    self.push_unless_repeated(&mut entries, entry);
                }
            }
            return Some(Value::new(node.span, Kind::Mapping(entries)));
        }
        let item = shape.item()?;
        let mut items: Vec<Item> = Vec::new();
        if item.is_scalar() {
            let literals = node.arguments.get(skip..).unwrap_or_default();
            items.extend(literals.iter().filter_map(|l| Some(plain_item(self.literal(l, item)?))));
            self.no_children(node);
        } else {
            let kind = shape.node_name().unwrap_or(ENTRY);
            self.no_more_arguments(node, skip, &format!("{} {{ {kind} … }}", node.name.value));
            for child in self.named(node, kind, item) {
                items.append(&mut self.items(child, item).0);
            }
        }
        Some(Value::new(node.span, Kind::Sequence(items)))
    }

    /// The children of that name, each of a shape; others are findings.
    fn named<'n>(&mut self, node: &'n Node, name: &str, shape: Shape<'_>) -> Vec<&'n Node> {
        let mut list = Vec::new();
        for child in node.children.iter().flat_map(|c| &c.nodes) {
            if child.name.value == name {
                self.no_properties(child, Some(shape), None);
                list.push(child);
                continue;
            }
            let written = &child.name.value;
            let finding = Diagnostic::new(
                Code::PUR0101,
                format!("`{written}` does not stand in `{}`", node.name.value),
            )
            .at(child.name.span, format!("only `{name}` stands here"));
            let alike = strsim::jaro_winkler(written, name) > 0.8;
            let right = format!("{name} {}", quoted(written));
            self.findings.push(if alike || !child.arguments.is_empty() {
                finding.suggest(child.name.span, name, format!("write `{name}`"))
            } else {
                finding.suggest(child.name.span, right.clone(), format!("write `{right}`"))
            });
        }
        list
    }

    /// A scalar's or free-form value's node: one argument and nothing else.
    fn single(&mut self, node: &Node, shape: Shape<'_>, role: Role) -> Option<Value> {
        self.no_children(node);
        let skip = role.names();
        let name = &node.name.value;
        let form = if skip > 0 { format!("{name} \"name\" <value>") } else { format!("{name} <value>") };
        self.no_more_arguments(node, skip + 1, &form);
        match node.arguments.get(skip) {
            Some(literal) => self.literal(literal, shape),
            None if shape.has_type("boolean") => Some(Value::new(node.header, Kind::Bool(true))),
            // What stands there in the form of a property was named as such.
            None if !node.properties.is_empty() => None,
            None => {
                let finding = self.misuse().no_value(node, shape);
                self.findings.push(finding);
                None
            }
        }
    }

    fn map_entry(&mut self, node: &Node, shape: Shape<'_>) -> Option<Entry> {
        let name = &node.name.value;
        let Some(key) = node.arguments.first() else {
            self.findings.push(self.misuse().no_name(node, shape));
            return None;
        };
        let written = self.written(key.span).to_owned();
        let text = match &key.kind {
            Kind::String(text) if !(key.bare && reserved(text)) => text.clone(),
            _ => {
                let quoted = format!("\"{}\"", written.trim_start_matches('#'));
                self.findings.push(
                    Diagnostic::new(Code::PUR0103, format!("the name of a `{name}` is not a string"))
                        .at(key.span, "a name is expected here")
                        .fix(key.span, quoted.clone(), format!("write `{quoted}`")),
                );
                written
            }
        };
        let value = self.value(node, shape, Role::Member)?;
        Some(Entry { key: text, key_span: key.span, value, comments: comments(node) })
    }

    /// The items that one node adds to a list, and the comments of a node that adds none.
    fn items(&mut self, node: &Node, shape: Shape<'_>) -> (Vec<Item>, Comments) {
        if !shape.is_scalar() {
            let item =
                self.value(node, shape, Role::Element).map(|value| Item { value, comments: comments(node) });
            return (item.into_iter().collect(), Comments::default());
        }
        self.no_children(node);
        let mut items: Vec<Item> =
            node.arguments.iter().filter_map(|l| Some(plain_item(self.literal(l, shape)?))).collect();
        let mut own = comments(node);
        if let Some(first) = items.first_mut() {
            first.comments.leading = std::mem::take(&mut own.leading);
            first.comments.inner = std::mem::take(&mut own.inner);
        }
        if let Some(last) = items.last_mut() {
            last.comments.trailing = own.trailing.take();
        }
        (items, own)
    }

    /// A literal as the model has it. Another type than the schema's is kept: validation says what was wanted.
    fn literal(&mut self, literal: &Literal, shape: Shape<'_>) -> Option<Value> {
        let span = literal.span;
        if shape.is_json() && !matches!(literal.kind, Kind::Null) {
            return self.json(literal);
        }
        let wants_bool = shape.has_type("boolean");
        let kind = match &literal.kind {
            Kind::Null => {
                self.findings.push(scalar::null(span));
                return None;
            }
            Kind::Float(f) if !f.is_finite() => {
                let written = self.written(span).to_owned();
                self.findings.push(scalar::beyond_range(span, &written));
                literal.kind.clone()
            }
            Kind::Integer(_) => {
                let written = self.written(span);
                let digits = written.trim_start_matches(['+', '-']);
                if digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()) {
                    let finding = scalar::leading_zero(written, span);
                    let text = written.to_owned();
                    self.findings.push(finding);
                    Kind::String(text)
                } else {
                    literal.kind.clone()
                }
            }
            Kind::String(word) if literal.bare && wants_bool && scalar::means_bool(word).is_some() => {
                let meant = scalar::means_bool(word).unwrap_or_default();
                self.findings.push(no_boolean(word, span, meant));
                Kind::Bool(meant)
            }
            Kind::String(word) if literal.bare && reserved(word) => {
                self.findings.push(
                    Diagnostic::new(Code::PUR0103, format!("`{word}` is neither a string nor a keyword"))
                        .at(span, "KDL reads this word in neither way")
                        .help(format!("write `\"{word}\"` for a string or `#{word}` for the keyword")),
                );
                literal.kind.clone()
            }
            kind => kind.clone(),
        };
        Some(Value::new(span, kind))
    }

    /// A word without its `#` is a mistake whatever it stands for.
    fn keyword(&mut self, literal: &Literal) {
        if let Kind::String(word) = &literal.kind
            && literal.bare
            && matches!(word.as_str(), "true" | "false")
        {
            self.findings.push(no_boolean(word, literal.span, word == "true"));
        }
    }

    fn json(&mut self, literal: &Literal) -> Option<Value> {
        let Kind::String(content) = &literal.kind else {
            self.findings.push(
                Diagnostic::new(Code::PUR0103, "JSON is written in a string")
                    .at(literal.span, "no string")
                    .help("write it as a raw string: `#\"{\"key\": \"value\"}\"#`"),
            );
            return None;
        };
        let lines = self.lines(literal, content);
        let place = |start: usize, end: usize| {
            let at = |offset: usize| {
                let line = lines.partition_point(|(content, _)| *content <= offset).checked_sub(1)?;
                let (content, text) = lines[line];
                Some(text + (offset - content))
            };
            match (at(start), at(end)) {
                (Some(start), Some(end)) => Span::new(literal.span.file, start, end),
                _ => literal.span,
            }
        };
        json::embedded(content, &place, self.limits, self.findings)
    }

    /// Where the lines of a string's content stand: pairs of an offset in the content and one in the text. None when
    /// escapes make them stand nowhere.
    fn lines(&self, literal: &Literal, content: &str) -> Vec<(usize, usize)> {
        let written = self.written(literal.span);
        let Some(quote) = literal.quote else { return vec![(0, literal.span.start as usize)] };
        if !quote.raw && written.contains('\\') {
            return Vec::new();
        }
        let hashes = written.bytes().take_while(|b| *b == b'#').count();
        let base = literal.span.start as usize;
        if !quote.multiline {
            return vec![(0, base + hashes + 1)];
        }
        // The lines between the quotes, without the indentation of the closing ones.
        let closing = written.len() - hashes - 3;
        let indent = closing - written[..closing].rfind(is_newline).map_or(closing, |n| n + 1);
        let mut at = written.find(is_newline).map_or(0, |n| n + 1);
        if written[at - 1..].starts_with("\r\n") {
            at += 1;
        }
        let mut lines = Vec::new();
        let mut offset = 0;
        for line in content.split('\n') {
            let rest = &written[at.min(written.len())..];
            let length = rest.find(is_newline).unwrap_or(rest.len());
            lines.push((offset, base + at + if line.is_empty() { 0 } else { indent }));
            offset += line.len() + 1;
            at += length + if rest[length..].starts_with("\r\n") { 2 } else { 1 };
        }
        lines
    }

    const fn misuse(&self) -> Misuse<'a> {
        Misuse { text: self.text }
    }

    fn written(&self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or_default()
    }

    fn misused(&mut self, span: Span, message: String, label: &str, help: String) {
        self.findings.push(Diagnostic::new(Code::PUR0107, message).at(span, label).help(help));
    }

    /// Properties on a node whose value is no struct: `shape` is the field's, `around` the node that it stands in.
    fn no_properties(
        &mut self,
        node: &Node,
        shape: Option<Shape<'_>>,
        around: Option<(&Node, &Surface<'_>)>,
    ) {
        let repeated = shape.filter(|s| !s.is_block());
        let member = repeated.and_then(Shape::map_value);
        let value = member.or_else(|| repeated.and_then(Shape::item)).or(shape);
        let names = usize::from(member.is_some());
        // Without its name a node of a collection has a finding that says how the whole is written.
        if value.is_some_and(|v| v.is_struct() && !v.is_json()) || node.arguments.len() < names {
            return;
        }
        let finding = self.misuse().properties(node, value, names, around);
        finding.into_iter().for_each(|f| self.findings.push(f));
    }

    fn no_children(&mut self, node: &Node) {
        if let Some(block) = &node.children {
            let name = &node.name.value;
            self.misused(
                block.span,
                format!("`{name}` takes no block"),
                "no block here",
                format!("end the line after the value of `{name}`"),
            );
        }
    }

    fn no_more_arguments(&mut self, node: &Node, count: usize, form: &str) {
        if let ([first, ..], Some(last)) =
            (node.arguments.get(count..).unwrap_or_default(), node.arguments.last())
        {
            let name = &node.name.value;
            let message = match count {
                0 => format!("`{name}` takes no arguments"),
                1 => format!("`{name}` takes one argument"),
                _ => format!("`{name}` takes {count} arguments"),
            };
            self.misused(first.span.to(last.span), message, "too many", format!("it is written `{form}`"));
        }
    }
}

fn hidden(name: &str) -> bool {
    name == API_VERSION
}

/// Words that KDL 2 keeps people from writing for a keyword by refusing them.
pub(super) fn reserved(word: &str) -> bool {
    matches!(word, "true" | "false" | "null" | "inf" | "-inf" | "nan")
}

fn plain_entry(key: &str, key_span: Span, value: Value) -> Entry {
    Entry { key: key.to_owned(), key_span, value, comments: Comments::default() }
}

fn plain_item(value: Value) -> Item {
    Item { value, comments: Comments::default() }
}

fn no_boolean(word: &str, span: Span, meant: bool) -> Diagnostic {
    Diagnostic::new(Code::PUR0103, format!("`{word}` is no boolean in KDL"))
        .at(span, "a word without `#` is a string")
        .fix(span, format!("#{meant}"), format!("write `#{meant}`"))
}

/// A node's comments, with those at the end of its block.
fn comments(node: &Node) -> Comments {
    let inner = node.children.iter().flat_map(|c| c.end.iter().cloned()).collect();
    Comments { inner, ..node.comments.clone() }
}

/// An unknown node: validation needs its name and place only.
fn unknown(node: &Node) -> Entry {
    let value = match node.arguments.as_slice() {
        [literal] if node.children.is_none() && node.properties.is_empty() => {
            Value::new(literal.span, literal.kind.clone())
        }
        _ => Value::new(node.span, Kind::Mapping(Vec::new())),
    };
    plain_entry(&node.name.value, node.name.span, value)
}
