//! A spec and the parts that it includes, each read once, as a list of trees. Which file a name means is decided here;
//! how its bytes are come by is the caller's matter, and so is the file system.

use super::doc::{Doc, Kind};
use super::header;
use super::limits::{Limits, decode};
use super::schema::{Schema, Shape};
use super::{Syntax, parse};
use crate::diag::{Code, Diagnostic, FileId, Findings, Sources, Span};

/// The files among which a spec may name others.
pub trait Tree {
    /// A file's bytes by its path below the tree; at least one byte more than a spec may have shows that it is too long.
    ///
    /// # Errors
    /// Why it cannot be read, and what to do, in the words of a message.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;

    /// The path as the operator knows the file.
    fn name(&self, path: &str) -> String;
}

/// No files at all: a text that stands alone.
pub struct Alone;

impl Tree for Alone {
    fn read(&self, _path: &str) -> Result<Vec<u8>, String> {
        Err("this text stands alone; check it as a file, where others stand beside it".to_owned())
    }

    fn name(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// One file of a spec.
#[derive(Debug)]
pub struct Layer {
    pub doc: Doc,
    pub file: FileId,
    /// Its path below the tree.
    pub path: String,
    /// How many includes lead to it, the fewest way.
    pub depth: usize,
}

/// Files that one spec may consist of, and the bytes in all of them.
const FILES: usize = 100;
const BYTES: usize = 1 << 20;

/// Reads a spec and all that it includes: itself first, then the nearest.
///
/// `path` is the spec's own below the tree. `None` when a text is so broken, or so much is missing, that what is left would
/// be told of faults that it does not have; what is wrong is in the findings.
pub fn load(
    sources: &mut Sources,
    (file, path): (FileId, &str),
    syntax: Syntax,
    tree: &dyn Tree,
    schema: &Schema,
    findings: &mut Findings,
) -> Option<Vec<Layer>> {
    let doc = parse(sources, file, syntax, schema, findings)?;
    let mut layers = vec![Layer { doc, file, path: path.to_owned(), depth: 0 }];
    // The files that lead to each: an include of one of them goes round in a circle.
    let mut above: Vec<Vec<usize>> = vec![Vec::new()];
    let mut bytes = sources.text(file).len();
    let mut sound = true;
    let mut next = 0;
    while let Some(layer) = layers.get(next) {
        let (depth, names) = (layer.depth + 1, includes(&layer.doc, schema));
        for (name, span) in names {
            let refuse = |message: String, help: &str| {
                Diagnostic::new(Code::PUR0007, message).at(span, "not followed").help(help)
            };
            let target = match resolve(&layers[next].path, &name, syntax) {
                Ok(target) => target,
                Err((message, help)) => {
                    findings.push(refuse(message, &help));
                    sound = false;
                    continue;
                }
            };
            if let Some(known) = layers.iter().position(|l| l.path == target) {
                if known == next || above[next].contains(&known) {
                    let own = if known == next { "itself" } else { "a file that includes this one" };
                    findings.push(refuse(format!("`{name}` is {own}"), "leave this include out"));
                }
                continue;
            }
            if layers.len() >= FILES {
                let message = format!("the spec consists of more than {FILES} files");
                findings.push(refuse(message, "bring parts together in fewer files"));
                return None;
            }
            let read = match tree.read(&target) {
                Ok(read) => read,
                Err(why) => {
                    findings.push(refuse(format!("`{name}` cannot be read"), &why));
                    sound = false;
                    continue;
                }
            };
            bytes += read.len().min(Limits::default().bytes);
            if bytes > BYTES {
                let message = format!("the files of the spec have more than {} KiB in all", BYTES >> 10);
                findings.push(refuse(message, "reduce them; a spec for one node needs a few KiB"));
                return None;
            }
            let doc = decode(sources, &tree.name(&target), &read, findings)
                .and_then(|file| Some((parse(sources, file, syntax, schema, findings)?, file)));
            let Some((doc, file)) = doc else {
                sound = false;
                continue;
            };
            if header::is_part(&doc) {
                layers.push(Layer { doc, file, path: target, depth });
                let mut chain = above[next].clone();
                chain.push(next);
                above.push(chain);
            } else {
                let help = format!("make it a part: {}", header::part_line(syntax));
                findings
                    .push(refuse(format!("`{name}` describes a node, and only parts are included"), &help));
            }
        }
        next += 1;
    }
    sound.then_some(layers)
}

/// The names in a file's `include`, with their places. What is no list of texts is validation's to name.
pub fn includes(doc: &Doc, schema: &Schema) -> Vec<(String, Span)> {
    let Some(path) = flagged(schema.root(), Shape::is_include) else { return Vec::new() };
    let items = doc.root.at(&path).map(super::Value::items).unwrap_or_default();
    items.iter().filter_map(|i| Some((i.value.as_str()?.to_owned(), i.value.span))).collect()
}

/// Gives the names in a file's `include` the ending of a syntax, for a spec and its parts are written in one; how many that
/// changed.
pub fn rename_includes(doc: &mut Doc, to: Syntax, schema: &Schema) -> usize {
    let Some([outer, inner]) = flagged(schema.root(), Shape::is_include) else { return 0 };
    let mut changed = 0;
    let Kind::Mapping(top) = &mut doc.root.kind else { return 0 };
    for holder in top.iter_mut().filter(|e| e.key == outer) {
        let Kind::Mapping(fields) = &mut holder.value.kind else { continue };
        for field in fields.iter_mut().filter(|e| e.key == inner) {
            let Kind::Sequence(items) = &mut field.value.kind else { continue };
            for item in items {
                if let Kind::String(name) = &mut item.value.kind
                    && Syntax::of(name).is_some_and(|syntax| syntax != to)
                    && let Some((stem, _)) = name.rsplit_once('.')
                {
                    *name = format!("{stem}.{}", to.ending());
                    changed += 1;
                }
            }
        }
    }
    changed
}

/// Where in the document the one field with a certain meaning stands.
pub fn flagged<'s>(root: Shape<'s>, is: impl Fn(Shape<'s>) -> bool) -> Option<[&'s str; 2]> {
    root.properties().find_map(|(outer, shape)| {
        shape.properties().find(|(_, field)| is(*field)).map(|(inner, _)| [outer, inner])
    })
}

/// The path below the tree that a name in the file `from` means.
///
/// # Errors
/// Why it means none, and what to do.
pub fn resolve(from: &str, name: &str, syntax: Syntax) -> Result<String, (String, String)> {
    if name.is_empty() || name.starts_with('/') || name.contains(['\0', '\\']) {
        let help = "write the path of a file below the spec's directory, like `parts/gpu.kdl`";
        return Err((format!("`{name}` is no relative path"), help.to_owned()));
    }
    let mut steps: Vec<&str> = from.split('/').collect();
    steps.pop();
    for step in name.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                if steps.pop().is_none() {
                    let help = "move the file into the spec's directory, or widen the tree: `--tree DIR`, the directory that holds both";
                    return Err((format!("`{name}` leads out of the spec's directory"), help.to_owned()));
                }
            }
            step => steps.push(step),
        }
    }
    let target = steps.join("/");
    match Syntax::of(&target) {
        Some(other) if syntax.reads(other) => Ok(target),
        Some(other) => {
            let help = format!("write both in one: `purlin convert --to {}`", syntax.ending());
            Err((format!("`{name}` is {}, and this file is {}", other.name(), syntax.name()), help))
        }
        None => Err((
            format!("`{name}` is no spec by its name"),
            format!("name it .{}, as the file that includes it", syntax.ending()),
        )),
    }
}

/// Takes a list of texts, or a struct, out of the document.
pub fn take(doc: &mut Doc, [outer, inner]: [&str; 2]) -> Option<super::Entry> {
    let Kind::Mapping(entries) = &mut doc.root.kind else { return None };
    let outer = entries.iter_mut().find(|e| e.key == outer)?;
    let Kind::Mapping(entries) = &mut outer.value.kind else { return None };
    let at = entries.iter().position(|e| e.key == inner)?;
    Some(entries.remove(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_tree() {
        let of = |from: &str, name: &str| resolve(from, name, Syntax::Kdl).map_err(|(message, _)| message);
        assert_eq!(of("a.kdl", "b.kdl").unwrap(), "b.kdl");
        assert_eq!(of("nodes/a.kdl", "../parts/./x.kdl").unwrap(), "parts/x.kdl");
        assert_eq!(of("nodes/a.kdl", "x//y.kdl").unwrap(), "nodes/x/y.kdl");
        for (name, word) in [
            ("/etc/x.kdl", "relative"),
            ("", "relative"),
            ("../x.kdl", "leads out"),
            ("x/../../x.kdl", "leads out"),
            ("x.yaml", "YAML"),
            ("x", "by its name"),
            ("a\\b.kdl", "relative"),
        ] {
            let said = of("a.kdl", name).unwrap_err();
            assert!(said.contains(word), "{name}: {said}");
        }
    }
}
