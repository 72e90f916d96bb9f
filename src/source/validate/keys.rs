//! Findings about an object's keys: unknown, gone, missing, and choices not made.

use super::Meant;
use super::explain::meanings;
use super::fit::{fitted, takes};
use super::place::{Link, Place};
use super::spelling::{Known, Spelling, list, some, strange};
use crate::diag::{Code, Diagnostic, Guess, bare, guess};
use crate::source::{Entry, Shape, Value};

/// Findings for keys that the schema does not know, with what was meant.
pub fn unknown(
    place: &Place<'_>,
    keys: &[String],
    spelling: Spelling,
    meant: &mut Meant,
    list: &mut Vec<Diagnostic>,
) {
    let outward = place.outward(spelling);
    let known = outward.shape().map(|s| spelling.known(s)).unwrap_or_default();
    for key in keys {
        let Some(entry) = place.value().entry(key) else { continue };
        if let Some(finding) = gone(entry, &outward, place, spelling) {
            // What is gone was a choice of its time: asking for one on top of it is no news.
            for choice in place.shape().map(Shape::one_of).unwrap_or_default().concat() {
                meant.add(place.value(), choice);
            }
            list.push(finding);
        } else {
            let (finding, key) = explain(entry, &outward, &known, spelling);
            if let Some(key) = key {
                // The object that holds an inline field is not the one that lacks it.
                meant.add(place.value(), key);
                meant.add(outward.value(), key);
            }
            list.push(finding);
        }
    }
}

fn gone(entry: &Entry, outward: &Place<'_>, place: &Place<'_>, spelling: Spelling) -> Option<Diagnostic> {
    let shapes = [place.shape(), outward.shape()];
    let instead = shapes
        .into_iter()
        .flatten()
        .find_map(|s| s.gone().into_iter().find(|(key, _)| bare(key) == bare(&entry.key)))?;
    Some(
        Diagnostic::new(Code::PUR0109, format!("`{}` is gone from Kubernetes", spelling.key(&entry.key)))
            .at(entry.key_span, "no longer exists")
            .help(instead.1),
    )
}

/// The finding, and the known key that was meant.
fn explain<'a>(
    entry: &Entry,
    outward: &Place<'_>,
    known: &[Known<'a>],
    spelling: Spelling,
) -> (Diagnostic, Option<&'a str>) {
    let written = spelling.key(&entry.key);
    let title = outward.title(spelling);
    let finding = Diagnostic::new(Code::PUR0101, format!("{title} has no `{written}`"))
        .at(entry.key_span, "unknown key");
    let open = || {
        known.iter().filter(|k| {
            let repeats = spelling.is_kdl() && k.shape.node_name().is_some();
            repeats || !is_given(outward.value(), outward.shape(), k.key, spelling)
        })
    };
    // What this version does not compile, and the other choices where one is made, would only lead to the next error.
    let given = |key: &str| outward.value().entry(key).is_some();
    let choices = outward.shape().map(Shape::one_of).unwrap_or_default();
    let foreclosed = |key: &str| {
        !given(key) && choices.iter().any(|group| group.contains(&key) && group.iter().any(|k| given(k)))
    };
    let useful = || known.iter().filter(|k| k.shape.planned().is_none() && !foreclosed(k.key));
    let named = |shown: &str| known.iter().find(|k| k.shown == shown);
    let renamed =
        |finding, k: &Known<'a>, certain| (rename(finding, entry, k, certain, spelling), Some(k.key));
    let repeated = |finding: Diagnostic, shown: &str| {
        (finding.help(format!("it is already given as `{shown}`; leave this one out")), None)
    };

    if let Some(strange) = strange(&entry.key) {
        let finding = finding.note(strange.message);
        let plain = strange.plain.unwrap_or_default();
        return match open().find(|k| bare(&k.shown) == bare(&plain)) {
            Some(k) => renamed(finding, k, true),
            None => (list_keys(finding, useful(), &title), None),
        };
    }
    if let Some(k) = open().find(|k| bare(&k.shown) == bare(&entry.key) || bare(k.key) == bare(&entry.key)) {
        return renamed(finding, k, true);
    }
    if let Some(k) = known.iter().find(|k| bare(&k.shown) == bare(&entry.key)) {
        return repeated(finding, &k.shown);
    }
    if let Some((key, home)) = home(&entry.key, outward, known, spelling) {
        return (finding.help(format!("`{key}` belongs in {home}")), None);
    }
    let likely = guess(&written, known.iter().map(|k| k.shown.as_str()));
    if let Some(Guess { word, certain: true }) = likely
        && open().all(|k| k.shown != word)
    {
        return repeated(finding, word);
    }
    let likely = guess(&written, open().map(|k| k.shown.as_str()));
    match likely.and_then(|g| Some((named(g.word)?, g.certain))) {
        Some((k, true)) => renamed(finding, k, true),
        likely => match (elsewhere(&entry.key, outward.top(), spelling), likely) {
            (Some(example), _) => {
                (finding.help(format!("`{written}` has its place elsewhere: `{example}`")), None)
            }
            (None, Some((k, certain))) => renamed(finding, k, certain),
            (None, None) => (list_keys(finding, useful(), &title), None),
        },
    }
}

/// The one place in the whole language that has a key of this name, written from the top.
fn elsewhere(key: &str, top: Option<Shape<'_>>, spelling: Spelling) -> Option<String> {
    let mut found = Vec::new();
    search(key, top?, &mut Vec::new(), &mut found, spelling);
    match found.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

fn search<'a>(
    key: &str,
    shape: Shape<'a>,
    way: &mut Vec<Known<'a>>,
    found: &mut Vec<String>,
    spelling: Spelling,
) {
    // No spec is deeper; the bound is for a schema whose shapes hold each other.
    if way.len() > 8 || found.len() > 1 {
        return;
    }
    for (name, field) in shape.properties().filter(|(_, field)| field.planned().is_none()) {
        let known = Known { shown: spelling.field(name, Some(field)), key: name, shape: field };
        if bare(&known.shown) == bare(key) || bare(known.key) == bare(key) {
            let inner = spelling.example(&known, 1);
            found.push(way.iter().rev().fold(inner, |inner, outer| spelling.around(outer, &inner)));
        }
        let below = field.map_value().or_else(|| field.item()).unwrap_or(field);
        way.push(known);
        search(key, below, way, found, spelling);
        way.pop();
    }
}

/// Whether an object has the key, be it in one of its inline parts.
fn is_given(value: &Value, shape: Option<Shape<'_>>, key: &str, spelling: Spelling) -> bool {
    value.entries().iter().any(|entry| {
        let field = shape.and_then(|s| s.property(&entry.key));
        let inline = spelling.is_kdl() && field.is_some_and(Shape::is_inline);
        if inline { is_given(&entry.value, field, key, spelling) } else { entry.key == key }
    })
}

fn rename(
    finding: Diagnostic,
    entry: &Entry,
    known: &Known<'_>,
    certain: bool,
    spelling: Spelling,
) -> Diagnostic {
    let word = &known.shown;
    let (mut span, mut text) = (entry.key_span, spelling.written_key(word));
    let mut order = format!("did you mean `{word}`?");
    // A name in the singular mostly has a value to match: one error less to meet next.
    if !takes(known.shape, &entry.value)
        && let Some(fit) = fitted(&entry.value, known.shape, spelling)
    {
        let pair = format!("{text}: {}", fit.text);
        order = format!("did you mean `{pair}`?");
        if !fit.whole {
            return finding.help(order);
        }
        (span, text) = (span.to(entry.value.span), pair);
    }
    finding.fix(span, text, order).certain(certain)
}

fn list_keys<'a, 'b: 'a>(
    finding: Diagnostic,
    known: impl Iterator<Item = &'a Known<'b>>,
    title: &str,
) -> Diagnostic {
    let names: Vec<&str> = known.map(|k| k.shown.as_str()).collect();
    if names.is_empty() {
        return finding.help(format!("{title} takes no further keys"));
    }
    finding.help(format!("{title} takes {}", some(&names, "and")))
}

/// The place one level down or up that has the key, and how the key is spelt there.
fn home(key: &str, outward: &Place<'_>, known: &[Known<'_>], spelling: Spelling) -> Option<(String, String)> {
    let has = |shape: Shape<'_>| {
        let names = spelling.known(shape);
        names.into_iter().find(|k| bare(&k.shown) == bare(key) || bare(k.key) == bare(key)).map(|k| k.shown)
    };
    // A block's own nodes: what stands here by its exact name belongs one level down.
    let block = known.iter().filter(|k| spelling.is_kdl() && k.shape.is_block());
    if let Some((node, k)) =
        block.filter_map(|k| Some((k.shape.node_name()?, k))).find(|(n, _)| bare(n) == bare(key))
    {
        return Some((node.to_owned(), format!("`{}`", k.shown)));
    }
    let (mut spelt, mut here, mut absent) = (None, Vec::new(), Vec::new());
    for k in known.iter().filter(|k| k.shape.planned().is_none()) {
        let element = k.shape.map_value().or_else(|| k.shape.item());
        let Some(name) = has(element.unwrap_or(k.shape)) else { continue };
        spelt.get_or_insert(name);
        let member = element.is_some() && !spelling.is_kdl();
        let title = if member { format!("each of `{}`", k.shown) } else { format!("`{}`", k.shown) };
        let present = is_given(outward.value(), outward.shape(), k.key, spelling);
        if present { &mut here } else { &mut absent }.push(title);
    }
    // What the operator has written already is where the key was most likely meant to go.
    let below = if here.is_empty() { absent } else { here };
    if let Some(spelt) = spelt.filter(|_| below.len() <= 2) {
        return Some((spelt, below.join(" or ")));
    }
    let mut above = outward.parent();
    while let Some(place) = above {
        // A named collection or list between two structs is no level of its own to a person.
        if place.shape().is_some_and(Shape::is_struct) {
            let place = place.outward(spelling);
            return Some((place.shape().and_then(has)?, place.title(spelling)));
        }
        above = place.parent();
    }
    None
}

/// One finding for all the keys that an object lacks.
pub fn missing(
    place: &Place<'_>,
    keys: &[String],
    spelling: Spelling,
    meant: &Meant,
    findings: &mut Vec<Diagnostic>,
) {
    let field = |key: &str| place.shape().and_then(|s| s.property(key));
    let lacks: Vec<&str> =
        keys.iter().map(String::as_str).filter(|key| !meant.has(place.value(), key)).collect();
    if lacks.is_empty() {
        return;
    }
    let names: Vec<String> = lacks.iter().map(|key| spelling.field(key, field(key))).collect();
    let outward = place.outward(spelling);
    let mut finding =
        Diagnostic::new(Code::PUR0105, format!("{} lacks {}", outward.title(spelling), list(&names, "and")))
            .at(
                outward.span(),
                format!(
                    "{} missing",
                    if names.len() == 1 { "a required key is" } else { "required keys are" }
                ),
            );
    let positions = place.shape().map(Shape::arguments).unwrap_or_default();
    for (key, shown) in lacks.into_iter().zip(names) {
        let Some(shape) = field(key) else { continue };
        let known = Known { shown, key, shape };
        let words = meanings(shape);
        if words.is_empty() {
            finding.notes.extend(first_sentence(shape).map(|text| format!("`{}`: {text}", known.shown)));
        }
        finding.notes.extend(words);
        let positional = spelling.is_kdl() && positions.contains(&key);
        let sample = spelling.sample(known.shape, 0);
        let node = match outward.last().link {
            Link::Element(_) => Some(outward.title(spelling).trim_matches('`').to_owned()),
            Link::Field(entry) => Some(spelling.field(&entry.key, outward.shape())),
            Link::Root => outward.shape().and_then(Shape::document).map(|(_, node)| node.to_owned()),
            Link::Member(_) => None,
        };
        let words = shape.words();
        finding = finding.help(match node {
            _ if !positional && (2..=4).contains(&words.len()) => {
                let words = words.iter().map(|word| spelling.with_value(&known, &spelling.string(word)));
                format!("add {}", some(&words.collect::<Vec<_>>(), "or"))
            }
            _ if !positional && shape.is_scalar() => {
                format!("add `{}`", spelling.with_value(&known, &sample))
            }
            _ if !positional && spelling.is_kdl() => {
                format!("add in its block: `{}`", spelling.example(&known, 0))
            }
            _ if !positional => format!("add `{}`", spelling.example(&known, 0)),
            Some(node) => format!("write `{node} {sample}`"),
            None => format!("write it after the node's key: `{sample}`"),
        });
    }
    findings.push(finding);
}

/// A choice of which nothing was made.
pub fn undecided(
    (place, group): &(Place<'_>, Vec<&str>),
    spelling: Spelling,
    meant: &Meant,
    findings: &mut Vec<Diagnostic>,
) {
    let Some(shape) = place.shape() else { return };
    if group.iter().any(|key| meant.has(place.value(), key)) {
        return;
    }
    let choices: Vec<Known<'_>> = group
        .iter()
        .filter_map(|key| Some((*key, shape.property(key)?)))
        .filter(|(_, field)| field.planned().is_none())
        .map(|(key, field)| Known { shown: spelling.field(key, Some(field)), key, shape: field })
        .collect();
    let names: Vec<&str> = choices.iter().map(|k| k.shown.as_str()).collect();
    let wants = if names.len() == 1 { "needs" } else { "needs exactly one of" };
    let mut finding =
        Diagnostic::new(Code::PUR0106, format!("{} {wants} {}", place.title(spelling), some(&names, "and")))
            .at(
                place.outward(spelling).span(),
                if names.len() == 1 { "it is not here" } else { "none of them is here" },
            );
    if let Some(first) = choices.first() {
        let such = if names.len() == 1 { "add" } else { "add one of them, such as" };
        finding = finding.help(format!("{such} `{}`", spelling.example(first, 0)));
    }
    findings.push(finding);
}

/// The first sentence of what the schema says about a value.
pub fn first_sentence(shape: Shape<'_>) -> Option<String> {
    sentence(shape.description()?)
}

/// The first sentence of a text, on one line and without its full stop.
pub fn sentence(text: &str) -> Option<String> {
    let text = text.split("\n\n").next()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.find(". ").unwrap_or(text.len());
    Some(text[..end].trim_end_matches('.').to_owned()).filter(|t| !t.is_empty())
}
