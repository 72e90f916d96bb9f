//! KDL as it is while someone writes: nodes from tokens, each with what the schema says of it.
//!
//! What the parser makes of a sound text, this makes as well (a test in spots.rs holds them together); of a broken one it
//! makes what it can. Blocks stand in a list and not in each other, so no text can make this recurse.

use super::site::{Form, Offer, Site, Wanted, offers};
use super::spots::{Role, Says, Spot};
use crate::source::{ENTRY, Lexeme, Schema, Shape, Surface, Token, Tokens, kdl_content};
use std::collections::BTreeSet;
use std::ops::Range;

struct Block {
    node: Option<usize>,
    /// The bytes between the braces.
    inside: Range<usize>,
    nodes: Vec<usize>,
}

#[derive(Default)]
struct Node {
    block: usize,
    name: Option<Lexeme>,
    entries: Vec<Entry>,
    /// Where its line ends: at a newline, a semicolon, or its block.
    end: usize,
    /// Disabled by `/-`.
    off: bool,
    off_block: bool,
}

/// An argument, or a property.
#[derive(Clone, Copy)]
struct Entry {
    key: Option<Lexeme>,
    equals: Option<usize>,
    value: Option<Lexeme>,
    off: bool,
}

struct Outline<'t> {
    text: &'t str,
    nodes: Vec<Node>,
    blocks: Vec<Block>,
    comments: Vec<(Range<usize>, bool)>,
}

impl<'t> Outline<'t> {
    fn of(text: &'t str) -> Self {
        let base = text.len() - text.trim_start_matches('\u{feff}').len();
        let top = Block { node: None, inside: base..text.len(), nodes: Vec::new() };
        let mut outline = Self { text, nodes: Vec::new(), blocks: vec![top], comments: Vec::new() };
        let mut open = vec![0_usize];
        let mut current: Option<usize> = None;
        let (mut off, mut annotated) = (false, false);
        for lexeme in Tokens::new(text, base) {
            let block = open.last().copied().unwrap_or_default();
            if annotated && !matches!(lexeme.token, Token::Newline | Token::Open | Token::Close) {
                annotated = lexeme.token != Token::ParenClose;
                continue;
            }
            annotated = false;
            match lexeme.token {
                Token::ParenOpen => annotated = true,
                Token::LineComment => outline.comments.push((lexeme.start..lexeme.end, false)),
                Token::BlockComment { closed, .. } => {
                    outline.comments.push((lexeme.start..lexeme.end, closed))
                }
                Token::SlashDash => off = true,
                Token::Newline | Token::Semicolon => outline.end(current.take(), lexeme.start),
                Token::Word | Token::Quoted(_) => match current {
                    Some(node) => outline.nodes[node].take(lexeme, std::mem::take(&mut off)),
                    None => current = Some(outline.begin(block, Some(lexeme), std::mem::take(&mut off))),
                },
                Token::Equals => {
                    if let Some(entry) = current.and_then(|node| outline.nodes[node].entries.last_mut())
                        && entry.key.is_none()
                    {
                        *entry = Entry { key: entry.value, equals: Some(lexeme.end), value: None, ..*entry };
                    }
                }
                Token::Open => {
                    let node = current.take().unwrap_or_else(|| outline.begin(block, None, false));
                    outline.end(Some(node), lexeme.start);
                    outline.nodes[node].off_block = std::mem::take(&mut off);
                    open.push(outline.blocks.len());
                    let inside = lexeme.end..text.len();
                    outline.blocks.push(Block { node: Some(node), inside, nodes: Vec::new() });
                }
                Token::Close => {
                    outline.end(current.take(), lexeme.start);
                    off = false;
                    if open.len() > 1 {
                        open.pop();
                        outline.blocks[block].inside.end = lexeme.start;
                    }
                }
                Token::Continuation | Token::Backslash | Token::ParenClose | Token::Other => {}
            }
        }
        outline
    }

    fn begin(&mut self, block: usize, name: Option<Lexeme>, off: bool) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node { block, name, off, end: self.text.len(), ..Node::default() });
        self.blocks[block].nodes.push(node);
        node
    }

    fn end(&mut self, node: Option<usize>, at: usize) {
        if let Some(node) = node {
            self.nodes[node].end = at;
        }
    }

    fn says(&self, lexeme: Lexeme) -> Option<String> {
        kdl_content(lexeme.token, self.text.get(lexeme.start..lexeme.end)?)
    }

    fn named(&self, node: usize) -> Option<String> {
        self.says(self.nodes[node].name?)
    }

    /// The innermost block around an offset.
    fn block_at(&self, offset: usize) -> usize {
        let around = self.blocks.iter().enumerate().rev();
        around
            .filter(|(_, b)| b.inside.start <= offset && offset <= b.inside.end)
            .map(|(at, _)| at)
            .next()
            .unwrap_or_default()
    }
}

impl Node {
    fn take(&mut self, lexeme: Lexeme, off: bool) {
        match self.entries.last_mut() {
            Some(entry) if entry.key.is_some() && entry.value.is_none() => entry.value = Some(lexeme),
            _ => self.entries.push(Entry { key: None, equals: None, value: Some(lexeme), off }),
        }
    }

    fn arguments(&self) -> impl Iterator<Item = Lexeme> {
        self.entries.iter().filter(|e| e.key.is_none() && !e.off).filter_map(|e| e.value)
    }

    fn properties(&self) -> impl Iterator<Item = (Lexeme, Option<Lexeme>)> {
        self.entries.iter().filter(|e| !e.off).filter_map(|e| Some((e.key?, e.value)))
    }
}

/// What the schema says of a node.
#[derive(Clone, Default)]
struct Meaning<'s> {
    /// What its name stands for.
    field: Option<Shape<'s>>,
    /// The path of its value.
    path: Vec<String>,
    /// The path and shape of the collection that its first argument is a name of.
    name: Option<(Vec<String>, Shape<'s>)>,
    /// What its arguments say, and whether there may be several.
    says: Option<(Says<'s>, bool)>,
    /// The struct that it is.
    fields: Option<(Shape<'s>, Surface<'s>)>,
    /// The collection whose members stand in its block.
    members: Option<Shape<'s>>,
    /// It says the version.
    version: bool,
}

impl<'s> Meaning<'s> {
    fn structure(mut self, shape: Shape<'s>) -> Self {
        self.fields = Some((shape, Surface::of(shape)));
        self
    }

    /// A member of a map, or an element of a list.
    fn element(mut self, collection: Shape<'s>, first: Option<String>) -> Self {
        if let Some(member) = collection.map_value() {
            self.name = Some((self.path.clone(), collection));
            self.path.push(first.unwrap_or_default());
            if member.is_scalar() || member.is_json() {
                self.says = Some((Says::of(member), false));
                self
            } else {
                self.structure(member)
            }
        } else if let Some(item) = collection.item() {
            self.path.push("*".to_owned());
            if item.is_scalar() || item.is_json() {
                self.says = Some((Says::of(collection), true));
                self
            } else {
                self.structure(item)
            }
        } else {
            self
        }
    }

    fn field(above: &[String], path: &[&str], key: &str, shape: Shape<'s>) -> Self {
        let mut whole = above.to_vec();
        whole.extend(path.iter().chain([&key]).map(|step| (*step).to_owned()));
        Self { field: Some(shape), path: whole, ..Self::default() }
    }
}

struct Reading<'t, 's> {
    outline: Outline<'t>,
    meanings: Vec<Meaning<'s>>,
    schema: &'s Schema,
}

impl<'t, 's> Reading<'t, 's> {
    fn of(text: &'t str, schema: &'s Schema) -> Self {
        let outline = Outline::of(text);
        let mut reading = Self { meanings: Vec::with_capacity(outline.nodes.len()), outline, schema };
        // A block's node comes before what stands in the block.
        for node in 0..reading.outline.nodes.len() {
            let meaning = reading.meaning(node).unwrap_or_default();
            reading.meanings.push(meaning);
        }
        reading
    }

    fn meaning(&self, index: usize) -> Option<Meaning<'s>> {
        let node = &self.outline.nodes[index];
        let name = self.outline.named(index)?;
        let first = || node.arguments().next().and_then(|l| self.outline.says(l));
        let Some(above) = self.outline.blocks[node.block].node else { return self.top(&name) };
        let parent = self.meanings.get(above)?;
        if node.off || self.outline.nodes[above].off || self.outline.nodes[above].off_block {
            return None;
        }
        if let Some(collection) = parent.members {
            let fits = collection.node_name().unwrap_or(ENTRY) == name;
            let field = collection.map_value().or_else(|| collection.item());
            let meaning = Meaning { field, path: parent.path.clone(), ..Meaning::default() };
            return fits.then(|| meaning.element(collection, first()));
        }
        let (_, surface) = parent.fields.as_ref()?;
        let field = surface.named(&name)?;
        let shape = field.shape;
        let mut meaning = Meaning::field(&parent.path, &field.path, field.key, shape);
        Some(if field.is_literal() {
            meaning.says = Some((Says::of(shape), false));
            meaning
        } else if field.repeated {
            meaning.element(shape, first())
        } else if !shape.is_struct() && shape.like().is_none() {
            meaning.members = Some(shape);
            meaning
        } else {
            if shape.is_defaults() {
                // What stands in it stands for what is beside it.
                meaning.path.pop();
            }
            meaning.structure(shape)
        })
    }

    fn top(&self, name: &str) -> Option<Meaning<'s>> {
        let root = self.schema.root();
        let (version, node) = root.document()?;
        let mut surface = Surface::of_document(root);
        if name == version {
            return Some(Meaning { field: root.property("apiVersion"), version: true, ..Meaning::default() });
        }
        if root.part() == Some(name) {
            // A part's fields are a node's, but it has no name.
            let name = std::mem::take(&mut surface.arguments);
            let mut at = 0;
            surface.fields.retain(|_| {
                at += 1;
                !name.contains(&(at - 1))
            });
        } else if name != node {
            return None;
        }
        Some(Meaning { field: Some(root), fields: Some((root, surface)), ..Meaning::default() })
    }

    fn spots(&self) -> Vec<Spot<'s>> {
        let mut found = Vec::new();
        for (node, meaning) in self.outline.nodes.iter().zip(&self.meanings) {
            self.key(node.name, meaning.field, &meaning.path, &mut found);
            let mut arguments = node.arguments();
            if let Some((collection, shape)) = &meaning.name
                && let Some(first) = arguments.next()
            {
                let member = shape.map_value().unwrap_or(*shape);
                let name = Some((Role::Name(collection.clone()), shape.names()));
                self.spot(Some(first), &meaning.path, name, &Says::of(member), &mut found);
                if let Some(spot) = found.last_mut() {
                    spot.shape = member;
                }
            }
            if let Some((says, several)) = &meaning.says {
                let most = if *several { usize::MAX } else { 1 };
                arguments
                    .by_ref()
                    .take(most)
                    .for_each(|l| self.spot(Some(l), &meaning.path, None, says, &mut found));
            }
            let Some((_, surface)) = &meaning.fields else { continue };
            let path =
                |path: &[&str], key: &str| Meaning::field(&meaning.path, path, key, self.schema.root()).path;
            for field in surface.arguments.iter().map(|at| &surface.fields[*at]) {
                let most = if field.is_literal() { 1 } else { usize::MAX };
                let mut path = path(&field.path, field.key);
                path.extend((!field.is_literal()).then(|| "*".to_owned()));
                let says = Says::of(field.shape);
                arguments
                    .by_ref()
                    .take(most)
                    .for_each(|l| self.spot(Some(l), &path, None, &says, &mut found));
            }
            for (key, value) in node.properties() {
                let Some(field) = self.outline.says(key).and_then(|name| surface.named(&name)) else {
                    continue;
                };
                let path = path(&field.path, field.key);
                self.key(Some(key), Some(field.shape), &path, &mut found);
                self.spot(value, &path, None, &Says::of(field.shape), &mut found);
            }
        }
        found.sort_by_key(|spot| (spot.span.start, spot.span.end));
        found
    }

    fn key(
        &self,
        lexeme: Option<Lexeme>,
        shape: Option<Shape<'s>>,
        path: &[String],
        found: &mut Vec<Spot<'s>>,
    ) {
        if let Some(shape) = shape {
            self.spot(
                lexeme,
                path,
                Some((Role::Key, None)),
                &Says { shape, refers: None, include: false },
                found,
            );
        }
    }

    fn spot(
        &self,
        lexeme: Option<Lexeme>,
        path: &[String],
        role: Option<(Role, Option<Shape<'s>>)>,
        says: &Says<'s>,
        found: &mut Vec<Spot<'s>>,
    ) {
        let Some((lexeme, text)) = lexeme.and_then(|l| Some((l, self.outline.says(l)?))) else { return };
        let (role, names) = role.unwrap_or((Role::Value, None));
        let value = role == Role::Value;
        found.push(Spot {
            span: lexeme.start..lexeme.end,
            text,
            role,
            path: path.to_vec(),
            shape: says.shape,
            names,
            refers: says.refers.clone().filter(|_| value),
            include: says.include && value,
        });
    }
}

pub fn spots<'s>(text: &str, schema: &'s Schema) -> Vec<Spot<'s>> {
    Reading::of(text, schema).spots()
}

/// Whether a text says at its top that it is a spec.
pub fn is_spec(text: &str, schema: &Schema) -> bool {
    let root = schema.root();
    let Some((version, node)) = root.document() else { return false };
    let outline = Outline::of(text);
    let ours = |name: &str| name == version || name == node || root.part() == Some(name);
    outline.blocks[0].nodes.iter().any(|at| outline.named(*at).is_some_and(|name| ours(&name)))
}

/// What may be written at an offset.
pub fn site<'s>(text: &str, offset: usize, schema: &'s Schema) -> Option<Site<'s>> {
    let reading = Reading::of(text, schema);
    let outline = &reading.outline;
    let commented = |(span, closed): &(Range<usize>, bool)| {
        span.start < offset && (offset < span.end || (offset == span.end && !closed))
    };
    if outline.comments.iter().any(commented) {
        return None;
    }
    let block = outline.block_at(offset);
    let begun = |at: &&usize| outline.nodes[**at].name.is_some_and(|name| name.start <= offset);
    let here = outline.blocks[block].nodes.iter().rev().find(begun).copied();
    match here.filter(|at| offset <= outline.nodes[*at].end) {
        Some(node) if outline.nodes[node].name.is_some_and(|name| name.end < offset) => {
            reading.on_line(node, offset)
        }
        here => {
            let word = here.and_then(|at| outline.nodes[at].name);
            let replace = word.map_or(offset..offset, |name| name.start..name.end);
            reading.in_block(block, here, replace)
        }
    }
}

impl<'s> Reading<'_, 's> {
    /// A node may begin here.
    fn in_block(&self, block: usize, but: Option<usize>, replace: Range<usize>) -> Option<Site<'s>> {
        let siblings = self.outline.blocks[block].nodes.iter().filter(|at| Some(**at) != but);
        let mut given: BTreeSet<String> = siblings.filter_map(|at| self.outline.named(*at)).collect();
        let Some(node) = self.outline.blocks[block].node else {
            return Some(Site { replace, wanted: vec![Wanted::Top { given }] });
        };
        let meaning = self.meanings.get(node)?;
        if let Some(collection) = meaning.members {
            let name = collection.node_name().unwrap_or(ENTRY).to_owned();
            return Some(Site { replace, wanted: vec![Wanted::Member { name, collection }] });
        }
        let (shape, surface) = meaning.fields.as_ref()?;
        given.extend(self.given_on_line(node, None));
        let offers = offers(*shape, surface, &given);
        Some(Site { replace, wanted: vec![Wanted::Fields { offers, form: Form::Node }] })
    }

    /// The fields that a node's arguments and properties fill, but for the entry at an offset.
    fn given_on_line(&self, node: usize, but: Option<usize>) -> Vec<String> {
        let (line, meaning) = (&self.outline.nodes[node], &self.meanings[node]);
        let counted = |key: &Lexeme| but.is_none_or(|at| !(key.start <= at && at <= key.end));
        let properties = line.properties().map(|(key, _)| key).filter(counted);
        let mut given: Vec<String> = properties.filter_map(|key| self.outline.says(key)).collect();
        if let Some((_, surface)) = &meaning.fields {
            let count =
                line.arguments().filter(counted).count().saturating_sub(usize::from(meaning.name.is_some()));
            given.extend(surface.arguments.iter().take(count).map(|at| surface.fields[*at].name.clone()));
        }
        given
    }

    /// On a node's line behind its name.
    fn on_line(&self, node: usize, offset: usize) -> Option<Site<'s>> {
        let (line, meaning) = (&self.outline.nodes[node], &self.meanings[node]);
        let touched = |l: Lexeme| l.start <= offset && offset <= l.end;
        for entry in line.entries.iter().filter(|e| !e.off) {
            let Some(name) = entry.key.filter(|key| key.end < offset) else { continue };
            let value = entry.value.filter(|l| touched(*l));
            let bare = entry.value.is_none() && entry.equals.is_some_and(|equals| equals <= offset);
            if value.is_none() && !bare {
                continue;
            }
            let (_, surface) = meaning.fields.as_ref()?;
            let field = surface.named(&self.outline.says(name)?)?;
            let replace = value.map_or(offset..offset, |l| self.replaced(l, offset));
            let wanted = vec![Wanted::Value { says: Says::of(field.shape), form: Form::Property }];
            return Some(Site { replace, wanted });
        }
        let under = line.entries.iter().filter_map(|e| e.key.or(e.value)).find(|l| touched(*l));
        let replace = under.map_or(offset..offset, |l| self.replaced(l, offset));
        let before =
            line.arguments().filter(|l| l.end < offset || (l.end == offset && Some(*l) != under)).count();
        let mut wanted = Vec::new();
        let key = under.is_some_and(|under| line.properties().any(|(key, _)| key == under));
        let mut at = before;
        if meaning.version && at == 0 {
            wanted.push(Wanted::Version);
        }
        if let Some((collection, _)) = &meaning.name {
            if at == 0 && !key {
                let given = self.siblings(node);
                wanted.push(Wanted::Name { collection: collection.clone(), given });
            }
            // The name comes first; nothing else makes sense before it.
            if at == 0 && under.is_none() {
                return Some(Site { replace, wanted });
            }
            at = at.saturating_sub(1);
        }
        let named = meaning.name.is_none() || before > 0;
        if let Some((says, several)) = &meaning.says
            && (at == 0 || *several)
            && named
            && !key
        {
            wanted.push(Wanted::Value { says: says.clone(), form: Form::Node });
        }
        if let Some((shape, surface)) = &meaning.fields {
            let field = surface.arguments.get(at).or_else(|| {
                let last = surface.arguments.last()?;
                (!surface.fields[*last].is_literal()).then_some(last)
            });
            if let Some(field) = field.map(|at| &surface.fields[*at]).filter(|_| named && !key) {
                wanted.push(Wanted::Value { says: Says::of(field.shape), form: Form::Node });
            }
            // A property's name is no text in quotes.
            if under.is_none_or(|l| l.token == Token::Word) {
                let mut given: BTreeSet<String> =
                    self.given_on_line(node, Some(offset)).into_iter().collect();
                let children = self.outline.blocks.iter().find(|b| b.node == Some(node));
                let nodes = children.into_iter().flat_map(|b| &b.nodes);
                given.extend(nodes.filter_map(|at| self.outline.named(*at)));
                let mut offers = offers(*shape, surface, &given);
                offers.retain(|o: &Offer<'_>| o.literal);
                wanted.push(Wanted::Fields { offers, form: Form::Property });
            }
        }
        Some(Site { replace, wanted })
    }

    /// The bytes that a completion takes the place of: of a string that has no end only what stands before the cursor.
    fn replaced(&self, lexeme: Lexeme, offset: usize) -> Range<usize> {
        let open = matches!(lexeme.token, Token::Quoted(quote) if !quote.closed);
        lexeme.start..if open { offset } else { lexeme.end }
    }

    /// The names of the other members beside a node.
    fn siblings(&self, node: usize) -> BTreeSet<String> {
        let block = &self.outline.blocks[self.outline.nodes[node].block];
        let same = |at: &&usize| **at != node && self.outline.named(**at) == self.outline.named(node);
        let firsts =
            block.nodes.iter().filter(same).filter_map(|at| self.outline.nodes[*at].arguments().next());
        firsts.filter_map(|l| self.outline.says(l)).collect()
    }
}
