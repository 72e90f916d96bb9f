//! Paths of the model as people write them (`networks.pods.bridge.mtu`), resolved against the schema: which field is
//! meant, or which step is wrong and what may stand there.
//!
//! A name is taken as it is given, for any may be used; `*` stands for all of them.

use super::case::kebab;
use super::doc::Value;
use super::schema::{Schema, Shape};
use crate::diag::guess;
use std::fmt;

/// One step from a value to one within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field, as the model spells it.
    Field(String),
    /// A field whose struct is no level of its own to a person.
    Inline(String),
    /// A name in a named collection; `None` for any.
    Name(Option<String>),
    /// A position in a list; `None` for any.
    Position(Option<usize>),
}

/// The steps from the document to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The same path with any name and any position.
    #[must_use]
    pub fn pattern(&self) -> Self {
        let any = |step: &Step| match step {
            Step::Name(_) => Step::Name(None),
            Step::Position(_) => Step::Position(None),
            step => step.clone(),
        };
        Self(self.0.iter().map(any).collect())
    }

    /// The path without its last step.
    #[must_use]
    pub fn outer(&self) -> Self {
        Self(self.0.split_last().map(|(_, outer)| outer.to_vec()).unwrap_or_default())
    }

    /// All places of a tree that the path leads to, in its order; none of their steps stands for several.
    #[must_use]
    pub fn matches(&self, root: &Value) -> Vec<Self> {
        let mut found = vec![(Vec::new(), root)];
        for step in &self.0 {
            let mut inner = Vec::new();
            for (way, value) in found {
                let to = |step: Step| [way.as_slice(), &[step]].concat();
                // A value of another type than the schema's has nothing under the step.
                match step {
                    Step::Field(key) | Step::Inline(key) | Step::Name(Some(key)) => {
                        inner.extend(value.get(key).map(|inner| (to(step.clone()), inner)));
                    }
                    Step::Name(None) => {
                        let entries = value.entries().iter();
                        inner.extend(entries.map(|e| (to(Step::Name(Some(e.key.clone()))), &e.value)));
                    }
                    Step::Position(at) => {
                        let items = value.items().iter().enumerate();
                        let wanted = items.filter(|(here, _)| at.is_none_or(|at| at == *here));
                        inner.extend(wanted.map(|(at, i)| (to(Step::Position(Some(at))), &i.value)));
                    }
                }
            }
            found = inner;
        }
        found.into_iter().map(|(way, _)| Self(way)).collect()
    }

    /// The steps as the tree names them.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let key = |step: &Step| match step {
            Step::Field(key) | Step::Inline(key) | Step::Name(Some(key)) => key.clone(),
            Step::Position(Some(at)) => at.to_string(),
            Step::Name(None) | Step::Position(None) => "*".to_owned(),
        };
        self.0.iter().map(key).collect()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self
            .0
            .iter()
            .enumerate()
            .filter_map(|(at, step)| match step {
                Step::Inline(_) if at + 1 < self.0.len() => None,
                Step::Inline(key) | Step::Field(key) => Some(key.clone()),
                Step::Name(Some(name)) => Some(written(name)),
                Step::Position(Some(at)) => Some(at.to_string()),
                Step::Name(None) | Step::Position(None) => Some("*".to_owned()),
            })
            .collect();
        f.write_str(&shown.join("."))
    }
}

/// A name as a step: between quotes where a reader could take a part of it for a step.
fn written(name: &str) -> String {
    let plain =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | ':'));
    match name {
        _ if plain => name.to_owned(),
        _ if name.contains('"') => format!("'{name}'"),
        _ => format!("\"{name}\""),
    }
}

/// What a path leads to.
#[derive(Clone, Debug)]
pub struct Located<'s> {
    pub path: Path,
    pub shape: Shape<'s>,
    /// The struct that it is a field of, if it is one, and the field's name.
    pub field_of: Option<(Shape<'s>, &'s str)>,
    /// Why neither it nor what it stands in is compiled.
    pub planned: Option<&'s str>,
    /// Below the field whose values yield, of which the path no longer tells.
    yielding: bool,
}

/// A field that may stand in a struct, or in one of its inline structs.
#[derive(Clone, Debug)]
pub struct Member<'s> {
    inlines: Vec<&'s str>,
    pub key: &'s str,
    pub shape: Shape<'s>,
    parent: Shape<'s>,
}

impl<'s> Located<'s> {
    const fn document(schema: &'s Schema) -> Self {
        Self { path: Path(Vec::new()), shape: schema.root(), field_of: None, planned: None, yielding: false }
    }

    /// The fields that may stand here, as the model spells them, in the order of the alphabet.
    #[must_use]
    pub fn members(&self) -> Vec<Member<'s>> {
        fn add<'s>(shape: Shape<'s>, inlines: &[&'s str], members: &mut Vec<Member<'s>>) {
            for (key, field) in shape.properties() {
                // An inline struct within itself cannot occur in a schema made from types; the bound makes it harmless.
                if field.is_inline() && field.is_struct() && inlines.len() < 8 {
                    add(field, &[inlines, &[key]].concat(), members);
                } else {
                    members.push(Member { inlines: inlines.to_vec(), key, shape: field, parent: shape });
                }
            }
        }
        let mut members = Vec::new();
        add(self.shape.like().unwrap_or(self.shape), &[], &mut members);
        if self.yielding || self.shape.is_defaults() {
            // What yields cannot itself take in files, or yield twice.
            members.retain(|m| !m.shape.is_include() && !m.shape.is_defaults());
        }
        members.sort_by_key(|m| m.key);
        members
    }

    /// The same, or what a collection holds: all that a person reads between the two is a name or a position.
    #[must_use]
    pub fn element(&self) -> Self {
        let (inner, step) = match (self.shape.map_value(), self.shape.item()) {
            _ if self.shape.is_json() => return self.clone(),
            (Some(member), _) => (member, Step::Name(None)),
            (None, Some(item)) => (item, Step::Position(None)),
            (None, None) => return self.clone(),
        };
        self.inner(step, inner)
    }

    fn inner(&self, step: Step, shape: Shape<'s>) -> Self {
        let path = Path([self.path.0.as_slice(), &[step]].concat());
        Self { path, shape, field_of: None, planned: self.planned, yielding: self.yielding }
    }

    #[must_use]
    pub fn field(&self, member: &Member<'s>) -> Self {
        let mut path = self.path.clone();
        if self.shape.is_defaults() {
            // What yields is the same field, wherever it stands.
            path.0.pop();
        }
        path.0.extend(member.inlines.iter().map(|key| Step::Inline((*key).to_owned())));
        path.0.push(Step::Field(member.key.to_owned()));
        Self {
            path,
            shape: member.shape,
            field_of: Some((member.parent, member.key)),
            planned: member.shape.planned().or(self.planned),
            yielding: self.yielding || self.shape.is_defaults(),
        }
    }

    /// An inline struct by its own name, for who spells the whole model.
    fn inline(&self, word: &str) -> Option<Self> {
        let field = self.shape.property(word).filter(|f| f.is_inline() && f.is_struct())?;
        Some(self.inner(Step::Inline(word.to_owned()), field))
    }

    fn shown(&self) -> String {
        if self.path.0.is_empty() { "a spec".to_owned() } else { format!("`{}`", self.path) }
    }
}

/// Why a path leads nowhere, as a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Astray(pub String);

/// One step as it was written.
#[derive(Clone, Debug)]
struct Word {
    text: String,
    quoted: bool,
}

impl Word {
    fn is_any(&self) -> bool {
        !self.quoted && self.text == "*"
    }
}

/// Finds what a path means.
///
/// # Errors
/// When a step leads nowhere: which, and what may stand there.
pub fn locate<'s>(schema: &'s Schema, text: &str) -> Result<Located<'s>, Astray> {
    follow(Located::document(schema), &words(text)?)
}

fn follow<'s>(mut here: Located<'s>, words: &[Word]) -> Result<Located<'s>, Astray> {
    let mut rest = words;
    while let [word, more @ ..] = rest {
        rest = more;
        if here.shape.is_json() && here.shape.like().is_none() {
            return Err(Astray(format!(
                "{} is free-form JSON, in which nothing has a meaning to purlin; leave out `{}`",
                here.shown(),
                word.text
            )));
        } else if here.shape.is_struct() || here.shape.like().is_some() {
            here = match field(&here, word) {
                Some(inner) => inner,
                None => return Err(no_field(&here, word, rest)),
            };
        } else if let Some(member) = here.shape.map_value() {
            let inside = here.inner(Step::Name(None), member);
            // Who writes KDL names the node as well: `networks.network.pods`.
            if !word.quoted
                && here.shape.node_name() == Some(word.text.as_str())
                && rest.first().is_some_and(|next| field(&inside, next).is_none())
            {
                continue;
            }
            let (name, left) = name(&here, member, word, rest);
            rest = left;
            here = here.inner(Step::Name(name), member);
        } else if let Some(item) = here.shape.item() {
            let at = word.text.parse::<usize>().ok();
            here = match at {
                _ if word.is_any() => here.inner(Step::Position(None), item),
                Some(_) => here.inner(Step::Position(at), item),
                // Which of them is meant need not be said.
                None => {
                    let any = here.inner(Step::Position(None), item);
                    match field(&any, word) {
                        Some(inner) => inner,
                        None if item.is_struct() => return Err(no_field(&any, word, rest)),
                        None => {
                            return Err(Astray(format!(
                                "{} is a list; write a position, like `0`, or `*` instead of `{}`",
                                here.shown(),
                                word.text
                            )));
                        }
                    }
                }
            };
        } else {
            let shown = here.shown();
            return Err(Astray(format!(
                "{shown} is one value, in which nothing stands; leave out `{}`",
                word.text
            )));
        }
    }
    Ok(here)
}

/// The path cut at its dots.
fn words(text: &str) -> Result<Vec<Word>, Astray> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (word, left) = match quote {
            Some(quote) => {
                let Some((word, left)) = rest[1..].split_once(quote) else {
                    return Err(Astray(format!(
                        "a quote in `{text}` is not closed; put another {quote} behind the name"
                    )));
                };
                if !left.is_empty() && !left.starts_with('.') {
                    return Err(Astray(format!(
                        "after the quote in `{text}` a `.` is missing; put one there"
                    )));
                }
                (Word { text: word.to_owned(), quoted: true }, left.strip_prefix('.'))
            }
            None => {
                let (word, left) = rest.split_once('.').map_or((rest, None), |(w, l)| (w, Some(l)));
                (Word { text: word.to_owned(), quoted: false }, left)
            }
        };
        if word.text.is_empty() && !word.quoted {
            return Err(Astray(format!("a step of `{text}` is empty; put one `.` between two names")));
        }
        words.push(word);
        match left {
            Some(left) => rest = left,
            None => return Ok(words),
        }
    }
}

fn field<'s>(here: &Located<'s>, word: &Word) -> Option<Located<'s>> {
    let members = here.members();
    let by = |is: &dyn Fn(&Member<'s>) -> bool| {
        let mut found = members.iter().filter(|m| is(m));
        // A word for two fields is none.
        found.next().filter(|_| found.next().is_none())
    };
    let text = word.text.as_str();
    let found = by(&|m| m.key == text)
        .or_else(|| by(&|m| kebab(m.key) == text))
        .or_else(|| by(&|m| m.shape.node_name() == Some(text)));
    found.map(|m| here.field(m)).or_else(|| here.inline(text))
}

/// The name that begins with a word, and the words after it. A name may have dots: what follows belongs to it as long
/// as it is no field, and likely none misspelt.
fn name<'w>(
    here: &Located<'_>,
    member: Shape<'_>,
    word: &Word,
    rest: &'w [Word],
) -> (Option<String>, &'w [Word]) {
    if word.is_any() {
        return (None, rest);
    }
    let whole = |words: &[Word]| {
        let more: String = words.iter().map(|w| format!(".{}", w.text)).collect();
        Some(format!("{}{more}", word.text))
    };
    let alone = (Some(word.text.clone()), rest);
    if word.quoted || rest.iter().any(|w| w.quoted && member.is_scalar()) {
        return alone;
    }
    if member.is_scalar() {
        return (whole(rest), &[]);
    }
    if !member.is_struct() {
        return alone;
    }
    let inside = here.inner(Step::Name(None), member);
    let names = here.shape.names();
    let dotted = |example: &str| example.contains('.');
    let looks = names.and_then(Shape::example).and_then(|e| e.as_str()).is_some_and(dotted);
    let ends =
        |w: &Word| w.quoted || w.is_any() || field(&inside, w).is_some() || likely(&inside, w).is_some();
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    // Where no field follows, the rest is either a name's or wrong: it is a name's where names look like that.
    if end == rest.len() && !looks { alone } else { (whole(&rest[..end]), &rest[end..]) }
}

/// The field that a word was meant to be.
fn likely<'s>(here: &Located<'s>, word: &Word) -> Option<String> {
    let members = here.members();
    // Both spellings of one name would be rivals.
    let kebabs = word.text.contains('-');
    let key = |m: &Member<'s>| if kebabs { kebab(m.key) } else { m.key.to_owned() };
    let node = |m: &Member<'s>| m.shape.node_name().map(str::to_owned).filter(|node| *node != key(m));
    let spellings: Vec<String> = members.iter().flat_map(|m| [Some(key(m)), node(m)]).flatten().collect();
    guess(&word.text, spellings.iter().map(String::as_str)).map(|g| g.word.to_owned())
}

fn no_field(here: &Located<'_>, word: &Word, rest: &[Word]) -> Astray {
    const MOST: usize = 3;
    let members = here.members();
    let takes: Vec<String> = members.iter().map(|m| format!("`{}`", m.key)).collect();
    let but = match takes.split_last() {
        None => String::new(),
        Some((only, [])) => format!(", but {only}"),
        Some((last, rest)) => format!(", but {} and {last}", rest.join(", ")),
    };
    let remedy = match likely(here, word) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            // A field of that name further down, or a name whose collection was left out.
            let mut elsewhere = Vec::new();
            find(here, &word.text, 0, &mut elsewhere);
            if elsewhere.is_empty() {
                elsewhere = named(here, &[std::slice::from_ref(word), rest].concat());
            }
            match elsewhere.len() {
                0 => "write one of them".to_owned(),
                1..=MOST => format!("did you mean {}?", elsewhere.join(" or ")),
                more => format!("did you mean {}, or another of {more}?", elsewhere[..MOST].join(" or ")),
            }
        }
    };
    let remedy = if takes.is_empty() { "leave it out".to_owned() } else { remedy };
    Astray(format!("{} takes no `{}`{but}; {remedy}", here.shown(), word.text))
}

/// The only collection in which words would be a name and what follows it.
fn named(here: &Located<'_>, words: &[Word]) -> Vec<String> {
    let members = here.members();
    let collections = members.iter().filter(|m| m.shape.map_value().is_some() && !m.shape.is_json());
    let mut found: Vec<_> = collections.filter_map(|m| follow(here.field(m), words).ok()).collect();
    // A name with dots could be all of it; who wrote steps meant steps.
    let most = found.iter().map(|l| l.path.0.len()).max();
    found.retain(|l| Some(l.path.0.len()) == most);
    if let [only] = found.as_slice() { vec![format!("`{}`", only.path)] } else { Vec::new() }
}

/// All fields of a name below a place.
fn find(here: &Located<'_>, name: &str, depth: usize, found: &mut Vec<String>) {
    // A type within itself would have no end.
    if depth > 12 || here.shape.like().is_some() {
        return;
    }
    for member in here.members() {
        let inner = here.field(&member);
        if member.key == name || kebab(member.key) == name {
            found.push(format!("`{}`", inner.path));
        }
        find(&inner.element(), name, depth + 1, found);
    }
}

/// The paths of one step more, for a path that is still being written: all that the schema knows to follow, with what
/// each is for. A name is `*`; a shell that knows a spec can offer the names in it.
#[must_use]
pub fn next_steps<'s>(schema: &'s Schema, begun: &str) -> Vec<(String, &'s str)> {
    let (stem, last) = match begun.rsplit_once('.') {
        Some((stem, last)) => (stem, last),
        None => ("", begun),
    };
    let here = if stem.is_empty() { Ok(Located::document(schema)) } else { locate(schema, stem) };
    let Ok(here) = here else { return Vec::new() };
    let with = |step: &str| if stem.is_empty() { step.to_owned() } else { format!("{stem}.{step}") };
    let collection = here.shape.map_value().is_some() || here.shape.item().is_some();
    if collection && !here.shape.is_json() {
        let about = here.element().shape.description().unwrap_or_default();
        return if last.is_empty() { vec![(with("*"), about)] } else { Vec::new() };
    }
    here.members()
        .iter()
        .filter(|m| m.key.starts_with(last) || kebab(m.key).starts_with(last))
        // In the spelling that was begun with.
        .map(|m| if m.key.starts_with(last) { (m.key.to_owned(), m) } else { (kebab(m.key), m) })
        .map(|(key, m)| (with(&key), m.shape.purpose().unwrap_or_default()))
        .collect()
}

/// Every place of the schema, with any name and any position: each field, and what each collection holds.
#[must_use]
pub fn all_paths(schema: &Schema) -> Vec<Located<'_>> {
    fn walk<'s>(here: &Located<'s>, depth: usize, all: &mut Vec<Located<'s>>) {
        // What yields is the same fields again, and a type within itself would have no end.
        if depth > 12 || here.shape.like().is_some() {
            return;
        }
        for member in here.members() {
            let mut inner = here.field(&member);
            loop {
                all.push(inner.clone());
                let element = inner.element();
                if element.path == inner.path {
                    break;
                }
                inner = element;
            }
            walk(&inner, depth + 1, all);
        }
    }
    let mut all = Vec::new();
    walk(&Located::document(schema), 0, &mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        let names = |example: &str| json!({"type": "string", "examples": [example]});
        Schema::new(json!({
            "type": "object",
            "properties": {
                "metadata": {"type": "object", "x-purlin-inline": true, "properties": {
                    "labels": {"type": "object", "x-purlin-node": "label", "additionalProperties": {"type": "string"}}
                }},
                "spec": {"$ref": "#/$defs/Spec", "x-purlin-inline": true}
            },
            "$defs": {
                "Spec": {"type": "object", "properties": {
                    "usual": {"type": "object", "x-purlin-defaults": true, "x-purlin-like": "#/$defs/Spec"},
                    "roads": {
                        "type": "object", "x-purlin-node": "road", "x-purlin-block": true,
                        "propertyNames": names("main"), "additionalProperties": {"$ref": "#/$defs/Road"}
                    },
                    "hosts": {
                        "type": "object", "x-purlin-node": "host",
                        "propertyNames": names("a.example"), "additionalProperties": {"$ref": "#/$defs/Road"}
                    }
                }},
                "Road": {"type": "object", "properties": {
                    "laneCount": {"type": "integer"},
                    "towns": {"type": "array", "x-purlin-node": "town", "items": {"type": "string"}},
                    "stops": {"type": "array", "x-purlin-node": "stop", "items": {
                        "type": "object", "properties": {"at": {"type": "number"}}
                    }}
                }}
            }
        }))
    }

    #[test]
    fn paths_are_read_in_every_spelling() {
        let schema = schema();
        for (text, path) in [
            ("labels", "labels"),
            ("label", "labels"),
            ("metadata.labels", "labels"),
            ("spec", "spec"),
            ("labels.a.b/c", "labels.\"a.b/c\""),
            ("roads", "roads"),
            ("road.main", "roads.main"),
            ("roads.road.main.lane-count", "roads.main.laneCount"),
            ("roads.road.laneCount", "roads.road.laneCount"),
            ("spec.roads.*.laneCount", "roads.*.laneCount"),
            ("roads.'a.b'.towns.0", "roads.\"a.b\".towns.0"),
            ("roads.a.b.town.*", "roads.\"a.b\".towns.*"),
            ("roads.main.stops.at", "roads.main.stops.*.at"),
            ("roads.main.stop.2.at", "roads.main.stops.2.at"),
            ("hosts.a.example", "hosts.\"a.example\""),
            ("hosts.a.b.example.towns", "hosts.\"a.b.example\".towns"),
            ("hosts.\"laneCount\".laneCount", "hosts.laneCount.laneCount"),
            ("usual", "usual"),
            ("usual.roads.main.lane-count", "roads.main.laneCount"),
        ] {
            match locate(&schema, text) {
                Ok(located) => assert_eq!(located.path.to_string(), path, "{text}"),
                Err(Astray(why)) => panic!("{text}: {why}"),
            }
        }
    }

    #[test]
    fn a_wrong_step_is_told_with_what_may_stand_there() {
        let schema = schema();
        for (text, words) in [
            (
                "raods",
                "a spec takes no `raods`, but `hosts`, `labels`, `roads` and `usual`; did you mean `roads`?",
            ),
            ("roads.main.lanecount", "did you mean `laneCount`?"),
            (
                "hosts.a.example.lane-cuont",
                "`hosts.\"a.example\"` takes no `lane-cuont`, but `laneCount`, `stops` and `towns`; did you mean `lane-count`?",
            ),
            (
                "roads.main.foo",
                "`roads.main` takes no `foo`, but `laneCount`, `stops` and `towns`; write one",
            ),
            ("lane-count", "did you mean `hosts.*.laneCount` or `roads.*.laneCount`?"),
            ("roads.main.laneCount.x", "one value"),
            ("roads.main.towns.x", "write a position"),
            ("roads.main.stops.y", "`roads.main.stops.*` takes no `y`, but `at`; write"),
            ("roads..x", "empty"),
            ("", "empty"),
            ("roads.\"main", "not closed"),
            ("roads.\"main\"x", "missing"),
            ("usual.usual", "takes no `usual`"),
        ] {
            let Err(Astray(why)) = locate(&schema, text) else { panic!("{text}") };
            assert!(why.contains(words), "{text}: {why}");
        }
    }

    #[test]
    fn a_path_can_be_completed_step_by_step() {
        let schema = schema();
        let next =
            |begun: &str| next_steps(&schema, begun).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        assert_eq!(next(""), ["hosts", "labels", "roads", "usual"]);
        assert_eq!(next("ro"), ["roads"]);
        assert_eq!(next("roads."), ["roads.*"]);
        assert_eq!(next("roads.main."), ["roads.main.laneCount", "roads.main.stops", "roads.main.towns"]);
        assert_eq!(next("roads.main.lane-"), ["roads.main.lane-count"]);
        assert!(next("roads.main.laneCount.").is_empty() && next("x.y").is_empty());
    }
}
