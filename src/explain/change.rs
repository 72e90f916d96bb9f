//! Other values for a value: what a change is tried with, to see what follows from it.

use crate::source::{Comments, Doc, Entry, Kind, Located, Path, Shape, Step, Value, snippet};
use crate::spec;
use serde_json::Value as Json;

/// Other members of a collection that a field is tried at.
const SIBLINGS: usize = 8;

/// Other values of the same form, the likeliest to fit the rest of a spec first. Whether they do, `check` says.
#[must_use]
pub fn another(shape: Shape<'_>, value: &Json) -> Vec<Json> {
    let words: Vec<Json> = shape.words().into_iter().map(Json::from).filter(|w| w != value).collect();
    if !words.is_empty() {
        return words;
    }
    match value {
        Json::Bool(b) => vec![(!b).into()],
        Json::Number(n) => n
            .as_i64()
            .map(|n| vec![n.saturating_add(1).into(), n.saturating_sub(1).into()])
            .unwrap_or_default(),
        // The only word there is: another is a finding.
        Json::String(_) if !shape.words().is_empty() => vec!["another".into()],
        Json::String(text) => {
            variants(shape.format(), text).into_iter().filter(|t| t != text).map(Json::from).collect()
        }
        _ => Vec::new(),
    }
}

/// Other texts of a format.
#[must_use]
pub fn variants(format: Option<&str>, text: &str) -> Vec<String> {
    let fixed = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect();
    match format {
        Some("purlin-subnet") => subnets(text),
        Some("purlin-address") => addresses(text),
        Some("purlin-version-range") => ranges(text),
        Some("purlin-duration") => fixed(&["1m", "30s"]),
        Some("purlin-image") => fixed(&["registry.k8s.io/pause:3.9", "registry.k8s.io/pause:3.10"]),
        Some("purlin-url") => fixed(&["https://other.example", "https://another.example"]),
        Some("purlin-device-path") => fixed(&["/dev/ttyS1", "/dev/ttyS2"]),
        Some("purlin-device-kind") => fixed(&["example.com/modem", "example.com/another"]),
        Some("purlin-quantity") => fixed(&["1GiB", "2GiB"]),
        // Names, labels, paths and registries may grow by a letter, or be a letter.
        _ => vec![format!("{text}x"), "x".to_owned()],
    }
}

/// Networks beside one, and around it: an address in it may have to stay inside.
fn subnets(text: &str) -> Vec<String> {
    let Ok(net) = text.parse::<ipnet::IpNet>() else { return Vec::new() };
    let beside = if net.network().is_ipv4() { "10.23.0.0/24" } else { "fd00:23::/64" };
    let lengths = [net.prefix_len().checked_sub(1), net.prefix_len().checked_add(1)];
    let around =
        lengths.into_iter().flatten().filter_map(|length| ipnet::IpNet::new(net.network(), length).ok());
    [beside.to_owned()].into_iter().chain(around.map(|net| net.trunc().to_string())).collect()
}

fn addresses(text: &str) -> Vec<String> {
    use std::net::IpAddr;
    let Ok(address) = text.parse::<IpAddr>() else { return Vec::new() };
    let moved = |by: i8| match address {
        IpAddr::V4(a) => IpAddr::V4(u32::from(a).wrapping_add_signed(by.into()).into()),
        IpAddr::V6(a) => IpAddr::V6(u128::from(a).wrapping_add_signed(by.into()).into()),
    };
    [1, -1, 2, 5].into_iter().map(|by| moved(by).to_string()).collect()
}

/// Ranges that begin or end a minor version earlier or later.
fn ranges(text: &str) -> Vec<String> {
    let minor = |text: &str| {
        let (major, minor) = text.trim().split_once('.')?;
        Some((major.to_owned(), minor.split('.').next()?.parse::<u32>().ok()?))
    };
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let (Some((major, low)), Some((_, high))) = (minor(low), minor(high)) else { return Vec::new() };
    let range = |low: u32, high: u32| {
        if low == high { format!("{major}.{low}") } else { format!("{major}.{low}-{major}.{high}") }
    };
    // The lowest version decides the most.
    let pairs = [
        (Some(high), high),
        (low.checked_sub(1), high),
        (low.checked_add(1), high),
        (Some(low), low),
        (Some(low), high.saturating_add(1)),
        (Some(low), high.saturating_sub(1)),
        (low.checked_sub(6), high),
    ];
    pairs
        .into_iter()
        .filter_map(|(low, high)| Some((low?, high)))
        .filter(|(l, h)| l <= h)
        .map(|(l, h)| range(l, h))
        .collect()
}

/// The trees in which the value under a path is another one, or gone; when it is not there, in which it is given.
#[must_use]
pub fn changed(doc: &Doc, located: &Located<'_>, path: &Path) -> Vec<Doc> {
    let keys = path.keys();
    let mut list = Vec::new();
    let with = |list: &mut Vec<Doc>, edit: &dyn Fn(&mut Value) -> bool| {
        let mut changed = doc.clone();
        if edit(&mut changed.root) {
            list.push(changed);
        }
    };
    match doc.root.at(&keys) {
        Some(value) if located.shape.is_scalar() => {
            for other in another(located.shape, &value.to_json()) {
                with(&mut list, &|root| put(root, &path.0, &other));
            }
            with(&mut list, &|root| remove(root, &path.0));
            for sibling in siblings(doc, path) {
                // What exactly one member has, another one can have.
                with(&mut list, &|root| remove(root, &path.0) && put(root, &sibling.0, &value.to_json()));
            }
        }
        Some(_) => with(&mut list, &|root| remove(root, &path.0)),
        None => {
            let Some(example) = example_of(&located.path) else { return list };
            let others = another(located.shape, &example);
            for value in std::iter::once(&example).chain(&others) {
                with(&mut list, &|root| put(root, &path.0, value));
            }
        }
    }
    list
}

/// The trees in which another variant of a choice stands in a field's place.
#[must_use]
pub fn switched(doc: &Doc, located: &Located<'_>, path: &Path) -> Vec<Doc> {
    let inside =
        |outer: &Path, key: &str| Path([outer.0.as_slice(), &[Step::Field(key.to_owned())]].concat());
    let switch = |other: String| {
        let mut changed = doc.clone();
        let example = example_of(&inside(&located.path.outer(), &other))?;
        let there = inside(&path.outer(), &other);
        (remove(&mut changed.root, &path.0) && put(&mut changed.root, &there.0, &example)).then_some(changed)
    };
    choice(located).into_iter().filter_map(switch).collect()
}

/// The other fields of a choice, as far as they are compiled.
fn choice(located: &Located<'_>) -> Vec<String> {
    let Some((parent, key)) = located.field_of else { return Vec::new() };
    let group = parent.one_of().into_iter().find(|g| g.contains(&key)).unwrap_or_default();
    let compiled = |other: &&str| parent.property(other).is_some_and(|f| f.planned().is_none());
    group.into_iter().filter(|other| *other != key).filter(compiled).map(str::to_owned).collect()
}

/// The same field of other members of the collection.
fn siblings(doc: &Doc, path: &Path) -> Vec<Path> {
    let [outer @ .., Step::Name(Some(name)), field] = path.0.as_slice() else { return Vec::new() };
    let members = Path(outer.to_vec()).keys();
    let names = doc.root.at(&members).map(Value::entries).unwrap_or_default().iter().map(|e| &e.key);
    let other = |name: &String| Path([outer, &[Step::Name(Some(name.clone())), field.clone()]].concat());
    names.filter(|other| *other != name).take(SIBLINGS).map(other).collect()
}

/// The value of a field as an example has it.
pub fn example_of(path: &Path) -> Option<Json> {
    let model = snippet(spec::schema(), path).model;
    let step = |value: &'_ Json, key: &String| -> Option<Json> {
        let any = value.get(0).or_else(|| value.as_object().filter(|_| key == "*")?.values().next());
        value.get(key.as_str()).or(any).cloned()
    };
    path.keys().iter().try_fold(model, |value, key| step(&value, key))
}

/// The value under a path; an absent last field is made.
fn slot<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    let Some((step, rest)) = path.split_first() else { return Some(value) };
    let span = value.span;
    match (step, &mut value.kind) {
        (Step::Field(key) | Step::Inline(key) | Step::Name(Some(key)), Kind::Mapping(entries)) => {
            let at = entries.iter().position(|e| e.key == *key);
            let at = match at {
                Some(at) => at,
                None if rest.is_empty() => {
                    let value = Value::new(span, Kind::Null);
                    let key = key.clone();
                    entries.push(Entry { key, key_span: span, value, comments: Comments::default() });
                    entries.len() - 1
                }
                None => return None,
            };
            slot(&mut entries[at].value, rest)
        }
        (Step::Position(Some(at)), Kind::Sequence(items)) => slot(&mut items.get_mut(*at)?.value, rest),
        _ => None,
    }
}

fn put(root: &mut Value, path: &[Step], new: &Json) -> bool {
    let Some(value) = slot(root, path) else { return false };
    // The place stays: what is said of the value is said of where it stood.
    *value = Value::from_json(new, value.span);
    true
}

/// Takes what a path leads to out of a tree; whether it was there.
pub fn remove(root: &mut Value, path: &[Step]) -> bool {
    let Some((last, outer)) = path.split_last() else { return false };
    let Some(value) = slot(root, outer) else { return false };
    match (last, &mut value.kind) {
        (Step::Field(key) | Step::Inline(key) | Step::Name(Some(key)), Kind::Mapping(entries)) => {
            let before = entries.len();
            entries.retain(|e| e.key != *key);
            entries.len() < before
        }
        (Step::Position(Some(at)), Kind::Sequence(items)) if *at < items.len() => {
            items.remove(*at);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_are_near() {
        let of = |format: &str, text: &str| variants(Some(format), text);
        assert_eq!(
            of("purlin-version-range", "2.1-2.4"),
            ["2.4", "2.0-2.4", "2.2-2.4", "2.1", "2.1-2.5", "2.1-2.3"]
        );
        assert_eq!(of("purlin-version-range", "2.3")[1..2], ["2.2-2.3"]);
        assert_eq!(of("purlin-subnet", "10.22.0.0/24"), ["10.23.0.0/24", "10.22.0.0/23", "10.22.0.0/25"]);
        assert_eq!(of("purlin-address", "10.22.0.1")[..2], ["10.22.0.2", "10.22.0.0"]);
        assert_eq!(of("purlin-address", "fd00::1")[..1], ["fd00::2"]);
    }
}
