//! What to write in place of a KDL node that holds what it does not take: a value without its field's name, a name
//! where the value should be, a property that is another node's. Findings only; reading is lower.rs's matter.

use super::Syntax;
use super::doc::Kind;
use super::kdl::{Literal, Node};
use super::schema::Shape;
use super::surface::{Field, Surface};
use super::tokens::is_newline;
use super::validate::spelling::{Known, Spelling};
use super::validate::{accepts, meanings};
use crate::diag::{Code, Diagnostic, Span, bare, masked};

const SPELLING: Spelling = Spelling(Syntax::Kdl);

/// A value with the name of the field that could hold it.
enum Form {
    Property(String),
    Child(String),
}

/// A field with a value, as one would write it as a node.
pub fn sample(field: &Field<'_>) -> String {
    SPELLING.example(&Known { shown: field.name.clone(), key: field.key, shape: field.shape }, 0)
}

pub fn quoted(text: &str) -> String {
    SPELLING.string(text)
}

/// A likely change, or only words when it would have a secret shown once more.
fn advise(finding: Diagnostic, span: Span, right: String, order: String) -> Diagnostic {
    match masked(&right) {
        Some(_) => help(finding, order),
        None => finding.suggest(span, right, order),
    }
}

fn help(finding: Diagnostic, text: String) -> Diagnostic {
    finding.help(masked(&text).unwrap_or(text))
}

/// The text that the nodes stand in.
#[derive(Clone, Copy)]
pub struct Misuse<'a> {
    pub text: &'a str,
}

impl<'a> Misuse<'a> {
    fn written(self, span: Span) -> &'a str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// A literal in quotes, as it is written if it has them.
    fn quoted(self, literal: &Literal) -> String {
        let written = self.written(literal.span);
        if literal.quote.is_some() { written.to_owned() } else { quoted(written.trim_start_matches('#')) }
    }

    /// The name and the first arguments of a node, up to a literal.
    fn head(self, node: &Node, end: &Literal) -> String {
        let before = node.arguments.iter().take_while(|a| a.span != end.span);
        let words = std::iter::once(node.name.value.as_str()).chain(before.map(|a| self.written(a.span)));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Properties on a node whose value is no struct, with so many arguments for its name. `around` is the node that
    /// it stands in.
    pub fn properties(
        self,
        node: &Node,
        value: Option<Shape<'_>>,
        names: usize,
        around: Option<(&Node, &Surface<'_>)>,
    ) -> Option<Diagnostic> {
        let ((first, literal), (_, last)) = (node.properties.first()?, node.properties.last()?);
        let name = &node.name.value;
        let span = first.span.to(last.span);
        let finding = Diagnostic::new(Code::PUR0107, format!("`{name}` takes no properties"))
            .at(span, "no properties here");
        let theirs = |(_, surface): &(&Node, &Surface<'_>)| {
            let fields = node.properties.iter().map(|(p, _)| surface.named(&p.value));
            fields.into_iter().all(|field| field.is_some_and(Field::is_literal))
        };
        if let Some((home, _)) = around.filter(theirs) {
            let key = home.arguments.first().map(|a| format!(" {}", self.written(a.span)));
            let home = format!("{}{}", home.name.value, key.unwrap_or_default());
            let order = format!("it belongs on the node around: `{home} {}`", self.written(span));
            return Some(help(finding, order));
        }
        if value.is_some_and(|v| !v.is_scalar() && !v.is_json()) {
            return Some(finding.help(format!("write what belongs to `{name}` as nodes in its block")));
        }
        if node.arguments.len() > names {
            return Some(finding.help(format!("leave it out: `{name}` has its value already")));
        }
        // `replace=#true`: the value stands in the place of its name.
        let words = value.map(Shape::words).unwrap_or_default();
        let right = if words.contains(&first.value.as_str()) {
            quoted(&first.value)
        } else {
            self.written(literal.span).to_owned()
        };
        let order = format!("write the value alone: `{} {right}`", self.head(node, literal));
        Some(advise(finding, span, right, order))
    }

    /// A node of a named collection without its name.
    pub fn no_name(self, node: &Node, value: Shape<'_>) -> Diagnostic {
        let name = &node.name.value;
        let finding = Diagnostic::new(Code::PUR0107, format!("`{name}` has no name"))
            .at(node.name.span, "its name is expected after it");
        if let (true, Some((first, _)), Some((_, last))) =
            (value.is_scalar(), node.properties.first(), node.properties.last())
        {
            // `label a=b`: the property is the pair.
            let pairs = node.properties.iter();
            let nodes = pairs.map(|(key, v)| format!("{name} {} {}", quoted(&key.value), self.quoted(v)));
            let right = nodes.collect::<Vec<_>>().join("; ");
            let order = format!("write `{right}`");
            let sure = node.properties.len() == 1;
            return advise(finding, node.name.span.to(first.span).to(last.span), right, order).certain(sure);
        }
        let fields = Surface::of(value);
        let own = node.properties.iter().find(|(key, _)| fields.named(&key.value).is_none());
        match own {
            Some((key, literal)) if matches!(literal.kind, Kind::String(_)) => {
                let right = self.quoted(literal);
                let order = format!("write `{name} {right}`");
                advise(finding, key.span.to(literal.span), right, order)
            }
            _ => finding.help(format!("write `{name} \"…\"`, with a name that you choose")),
        }
    }

    /// A node of one value without it.
    pub fn no_value(self, node: &Node, value: Shape<'_>) -> Diagnostic {
        let name = &node.name.value;
        let mut finding = Diagnostic::new(Code::PUR0107, format!("`{name}` has no value"))
            .at(node.header, "a value is expected after it");
        finding.notes = meanings(value);
        // `label "a=b"`: both in one.
        let pair = node.arguments.first().and_then(|l| match &l.kind {
            Kind::String(text) => text.split_once('=').filter(|(key, _)| !key.is_empty()),
            _ => None,
        });
        let right = match pair {
            Some((key, value)) => format!("{name} {} {}", quoted(key), quoted(value)),
            None => format!("{} {}", self.written(node.header), SPELLING.sample(value, 0)),
        };
        let order = format!("write `{right}`");
        advise(finding, node.header, right, order)
    }

    /// Several values on one node of a list whose elements take one each.
    pub fn one_node_each(self, node: &Node) -> Option<Diagnostic> {
        let [_, second, ..] = node.arguments.as_slice() else { return None };
        let last = node.arguments.last()?;
        let name = &node.name.value;
        let nodes: Vec<String> =
            node.arguments.iter().map(|l| format!("{name} {}", self.written(l.span))).collect();
        let finding = Diagnostic::new(Code::PUR0107, format!("`{name}` takes one value"))
            .at(second.span.to(last.span), "too many");
        let order = format!("write a node for each: `{}`", nodes.join("; "));
        // What else stands on the node may be meant for one of them or for all.
        if node.children.is_some() || !node.properties.is_empty() {
            return Some(help(finding, order));
        }
        let start = node.name.span.start as usize;
        let line = self.text[..start].rfind(is_newline).unwrap_or(0);
        let before = self.text[line..start].trim_start_matches(is_newline);
        let joint = if before.trim().is_empty() { format!("\n{before}") } else { "; ".to_owned() };
        Some(advise(finding, node.header, nodes.join(&joint), order))
    }

    /// A value without the name of its field, where it is clear enough which that is.
    pub fn nameless(self, node: &Node, surface: &Surface<'_>, literal: &Literal) -> Option<Diagnostic> {
        let given = |field: &Field<'_>| {
            let child = node.children.iter().flat_map(|c| &c.nodes).any(|c| c.name.value == field.name);
            let argument = surface.arguments.iter().any(|i| surface.fields[*i].name == field.name);
            child || argument || node.properties.iter().any(|(p, _)| p.value == field.name)
        };
        let head = self.head(node, literal);
        let finding = Diagnostic::new(Code::PUR0107, format!("`{}` takes no such argument", node.name.value))
            .at(literal.span, "a value without its name");
        let forms = self.forms(surface, literal, given);
        Some(match forms.as_slice() {
            [Form::Property(form)] => {
                let order = format!("write `{head} {form}`");
                advise(finding, literal.span, form.clone(), order)
            }
            [Form::Child(form)] if node.children.is_none() && literal.span.end == node.header.end => {
                let order = format!("write `{head} {{ {form} }}`");
                advise(finding, literal.span, format!("{{ {form} }}"), order)
            }
            [Form::Child(form)] => help(finding, format!("write `{form}` in the block of `{head}`")),
            [] => return None,
            several if several.len() <= 3 => {
                let shown = several.iter().map(|form| match form {
                    Form::Property(form) => format!("`{head} {form}`"),
                    Form::Child(form) => format!("`{head} {{ {form} }}`"),
                });
                help(finding, format!("say what it is: {}", shown.collect::<Vec<_>>().join(" or ")))
            }
            _ => return None,
        })
    }

    /// What may stand on a struct's node in place of a bare value; when a field that the struct cannot do without could
    /// hold it, only such.
    fn forms(
        self,
        surface: &Surface<'_>,
        literal: &Literal,
        given: impl Fn(&Field<'_>) -> bool,
    ) -> Vec<Form> {
        if let Kind::String(word) = &literal.kind {
            let switch = |f: &&Field<'_>| f.shape.has_type("boolean") && bare(&f.name) == bare(word);
            if let Some(field) = surface.fields.iter().find(switch) {
                return vec![Form::Child(field.name.clone())];
            }
        }
        let value = self.written(literal.span);
        let takes = |shape: Shape<'_>| {
            let first = shape.arguments().first().and_then(|key| shape.property(key));
            accepts(first.unwrap_or(shape), &literal.kind)
        };
        let mut forms = Vec::new();
        for field in surface.fields.iter().filter(|f| f.shape.planned().is_none() && !given(f)) {
            if field.shape.is_scalar() && accepts(field.shape, &literal.kind) {
                forms.push((field.required, Form::Property(format!("{}={value}", field.name))));
            } else if field.repeated && field.shape.item().is_some_and(takes) {
                forms.push((field.required, Form::Child(format!("{} {value}", field.name))));
            }
        }
        let needed = forms.iter().any(|(required, _)| *required);
        forms.into_iter().filter(|(required, _)| *required || !needed).map(|(_, form)| form).collect()
    }

    /// A property for a field that has more to it than one literal.
    pub fn not_a_property(self, property: Span, field: &Field<'_>, literal: &Literal) -> Diagnostic {
        let finding =
            Diagnostic::new(Code::PUR0107, format!("`{}` cannot be written as a property", field.name))
                .at(property.to(literal.span), "it holds more than one value");
        help(finding, format!("write it as a node in the block: `{}`", self.as_node(field, literal)))
    }

    /// A field as a node, with the value that was given for it where there is one place for that.
    fn as_node(self, field: &Field<'_>, literal: &Literal) -> String {
        let Field { name, shape, repeated, .. } = field;
        if *repeated && shape.item().is_some_and(|s| accepts(s, &literal.kind)) {
            return format!("{name} {}", self.written(literal.span));
        }
        if shape.is_struct() {
            match self.forms(&Surface::of(*shape), literal, |_| false).as_slice() {
                [Form::Property(form)] => return format!("{name} {form}"),
                [Form::Child(form)] => return format!("{name} {{ {form} }}"),
                _ => {}
            }
        }
        sample(field)
    }
}
