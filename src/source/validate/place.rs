//! Where in the tree and in the schema a finding is: the way from the root to a value, and how to name it.

use super::spelling::{Spelling, quote};
use crate::diag::Span;
use crate::source::{Entry, Kind, Shape, Syntax, Value};

/// How a value hangs below the one before it.
#[derive(Clone, Copy, Debug)]
pub enum Link<'a> {
    Root,
    /// A field of a struct.
    Field(&'a Entry),
    /// A member of a named collection, or a key that no struct has.
    Member(&'a Entry),
    Element(usize),
}

/// One value on the way.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    pub link: Link<'a>,
    pub value: &'a Value,
    /// `None` below free-form JSON and unknown keys.
    pub shape: Option<Shape<'a>>,
}

/// The way from the root to a value; never empty.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    root: Step<'a>,
    below: Vec<Step<'a>>,
}

impl<'a> Place<'a> {
    pub const fn root(value: &'a Value, shape: Shape<'a>) -> Self {
        Self { root: Step { link: Link::Root, value, shape: Some(shape) }, below: Vec::new() }
    }

    /// The value under a JSON pointer, or the last one on the way that the tree has.
    pub fn find(value: &'a Value, shape: Shape<'a>, pointer: &str) -> Self {
        let mut place = Self::root(value, shape);
        for segment in pointer.split('/').skip(1) {
            // The library's own split drops empty keys and reads `007` as a position; hence this one.
            let key = segment.replace("~1", "/").replace("~0", "~");
            let step = match &place.value().kind {
                Kind::Sequence(items) => key
                    .parse()
                    .ok()
                    .and_then(|at: usize| Some((at, &items.get(at)?.value)))
                    .map(|(at, v)| place.element(at, v)),
                _ => place.value().entry(&key).map(|entry| place.entry(entry)),
            };
            let Some(step) = step else { break };
            place.push(step);
        }
        place
    }

    pub fn entry(&self, entry: &'a Entry) -> Step<'a> {
        let shape = self.shape();
        let field = shape.and_then(|s| s.property(&entry.key));
        let link = if field.is_some() { Link::Field(entry) } else { Link::Member(entry) };
        Step { link, value: &entry.value, shape: field.or_else(|| shape.and_then(Shape::map_value)) }
    }

    pub fn element(&self, at: usize, value: &'a Value) -> Step<'a> {
        Step { link: Link::Element(at), value, shape: self.shape().and_then(Shape::item) }
    }

    pub fn push(&mut self, step: Step<'a>) {
        self.below.push(step);
    }

    pub fn pop(&mut self) {
        self.below.pop();
    }

    pub fn last(&self) -> &Step<'a> {
        self.below.last().unwrap_or(&self.root)
    }

    pub fn value(&self) -> &'a Value {
        self.last().value
    }

    pub fn shape(&self) -> Option<Shape<'a>> {
        self.last().shape
    }

    /// The shape of the whole tree.
    pub const fn top(&self) -> Option<Shape<'a>> {
        self.root.shape
    }

    /// All values on the way, this one included.
    pub fn values(&self) -> impl Iterator<Item = &'a Value> {
        std::iter::once(self.root.value).chain(self.below.iter().map(|s| s.value))
    }

    pub fn parent(&self) -> Option<Self> {
        let (_, above) = self.below.split_last()?;
        Some(Self { root: self.root, below: above.to_vec() })
    }

    /// The entry that holds the value, if it is not an element or the root.
    pub fn holder(&self) -> Option<&'a Entry> {
        match self.last().link {
            Link::Field(entry) | Link::Member(entry) => Some(entry),
            Link::Root | Link::Element(_) => None,
        }
    }

    /// The nearest value at or above this one that has a node of its own in the syntax.
    pub fn outward(&self, spelling: Spelling) -> Self {
        let mut place = self.clone();
        while spelling.0 == Syntax::Kdl && place.shape().is_some_and(Shape::is_inline) {
            let Some(parent) = place.parent() else { break };
            place = parent;
        }
        place
    }

    /// Where a finding about the value as a whole points: short, even when the value runs over many lines.
    pub fn span(&self) -> Span {
        if let Some(entry) = self.holder() {
            return entry.key_span;
        }
        let whole = self.value().span;
        match self.value().entries().first().map(|e| e.key_span) {
            Some(first) if first.file == whole.file && first.start >= whole.start => {
                Span { end: first.end.min(whole.end).max(whole.start), ..whole }
            }
            _ => whole,
        }
    }

    /// The value as the operator calls it, in backticks.
    pub fn title(&self, spelling: Spelling) -> String {
        let place = self.outward(spelling);
        let parent = place.parent();
        let above = parent.as_ref().and_then(Place::holder);
        let group = parent.as_ref().and_then(Place::shape).and_then(Shape::node_name);
        let kdl = spelling.0 == Syntax::Kdl;
        match place.last().link {
            Link::Root => match place.shape().and_then(Shape::document) {
                Some((_, node)) if kdl => format!("`{node}`"),
                _ => "the document".to_owned(),
            },
            Link::Field(entry) => format!("`{}`", spelling.field(&entry.key, place.shape())),
            Link::Member(entry) => match (group, above) {
                (Some(node), _) if kdl => format!("`{node} {}`", quote(&entry.key, spelling.0)),
                (_, Some(map)) if !kdl => format!("`{}.{}`", map.key, segment(&entry.key)),
                _ => format!("`{}`", spelling.key(&entry.key)),
            },
            Link::Element(at) => match (group, above) {
                (Some(node), _) if kdl => format!("`{node}`"),
                (_, Some(list)) if kdl => format!("`{}`", spelling.key(&list.key)),
                (_, Some(list)) => format!("`{}[{at}]`", list.key),
                _ => format!("element {at}"),
            },
        }
    }
}

/// A key within a dotted path: quoted when it has dots or the like of its own.
fn segment(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    if plain { key.to_owned() } else { quote(key, Syntax::Yaml) }
}
