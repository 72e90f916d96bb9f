//! Every field of the schema does something: set, it traces to an output byte or to a finding. The documents here are
//! generated from the schema, so a field that is added to it and forgotten elsewhere fails by name.

mod common {
    pub mod trace;
}

use common::trace::{Traced, facts};
use purlin::diag::{Code, Findings, Sources};
use purlin::explain::{Effect, Kind, another, trace, variants};
use purlin::source::{
    Doc, Path, Schema, Shape, Syntax, Validator, Value, all_paths, from_value, parse, to_kdl, to_reference,
    to_yaml,
};
use purlin::spec::{AbsolutePath, FORMATS, Name, Named, schema, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Values that must fit each other; everything else comes from the schema's own examples. `*` is any name or position.
fn fitting(path: &str) -> Option<Json> {
    Some(match path {
        "spec.target.kubelet" => json!("1.36-1.37"),
        "spec.adopt" => json!({"/etc/cni/net.d/05-foreign.conflist": "remove"}),
        "spec.runtimes.runtimes.*.containerd.version" => json!("2.3-2.4"),
        "spec.networks.*.ipam.ranges.*.start" => json!("10.22.0.10"),
        "spec.networks.*.ipam.ranges.*.end" => json!("10.22.0.200"),
        "spec.devices.*.paths.*" => json!("/dev/ttyS0"),
        _ => return None,
    })
}

/// Choices that the schema does not mark as such, because a finding says them better: per document, what is taken.
fn tacit_choice(path: &str, document: usize) -> Option<Json> {
    (path == "spec.runtimes.hooks.*.when").then(|| match document {
        0 => json!({"always": true}),
        _ => json!({"devices": ["example.com/serial"]}),
    })
}

/// Conditions that no runtime compiled today can evaluate: each is a finding of its own, like a planned field.
const UNFIT: &[(&str, &str)] =
    &[("annotations", r#"{"audit": "^on$"}"#), ("commands", r#"["^/bin/sh$"]"#), ("hasBindMounts", "true")];

/// Another text of a format.
fn another_text(format: &str, text: &str) -> String {
    variants(Some(format), text).into_iter().next().expect("every text of the samples can be another")
}

/// Fills shapes with values, as one of several documents: in each, another variant of every choice is taken.
struct Filler {
    document: usize,
    /// Whether fields that are only planned are set as well.
    planned: bool,
    /// The generic paths of all fields that were set.
    seen: BTreeSet<String>,
}

impl Filler {
    fn fill(&mut self, shape: Shape<'_>, path: &str) -> Json {
        self.seen.insert(path.to_owned());
        let fixed = fitting(path).or_else(|| tacit_choice(path, self.document));
        if let Some(value) = fixed {
            self.note(&value, path);
            return value;
        }
        if let Some(member) = shape.map_value() {
            let key =
                shape.keyword("propertyNames").and_then(|n| n.pointer("/examples/0")).and_then(Json::as_str);
            let value = self.fill(member, &format!("{path}.*"));
            return [(key.unwrap_or("NAME").to_owned(), value)].into_iter().collect();
        }
        if let Some(item) = shape.item() {
            return vec![self.fill(item, &format!("{path}.*"))].into();
        }
        if shape.is_struct() {
            let dropped = self.not_chosen(shape);
            let fields = shape.properties().filter(|(name, field)| {
                !dropped.contains(name) && (self.planned || field.planned().is_none()) && !other_files(*field)
            });
            let fields: Vec<_> = fields.collect();
            let under = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            return fields.into_iter().map(|(n, f)| (n.to_owned(), self.fill(f, &under(n)))).collect();
        }
        if let Some(word) = shape.words().first() {
            return (*word).into();
        }
        if let Some(example) = shape.keyword("examples").and_then(|e| e.get(0)) {
            return example.clone();
        }
        if shape.has_type("boolean") {
            return true.into();
        }
        if shape.has_type("integer") {
            let least = shape.keyword("minimum").and_then(Json::as_i64).unwrap_or(1);
            return least.max(1).into();
        }
        assert!(shape.has_type("string"), "the generator does not know how to fill {path}");
        "text".into()
    }

    /// Fields set by a value that was not filled field by field.
    fn note(&mut self, value: &Json, path: &str) {
        match value {
            Json::Object(map) => {
                for (key, value) in map {
                    for step in [key, "*"] {
                        let path = format!("{path}.{step}");
                        self.note(value, &path);
                        self.seen.insert(path);
                    }
                }
            }
            Json::Array(list) => {
                for value in list {
                    let path = format!("{path}.*");
                    self.note(value, &path);
                    self.seen.insert(path);
                }
            }
            _ => {}
        }
    }

    fn not_chosen<'a>(&self, shape: Shape<'a>) -> Vec<&'a str> {
        let mut dropped = Vec::new();
        for group in shape.one_of() {
            let compiled: Vec<_> = group
                .iter()
                .filter(|n| self.planned || shape.property(n).is_some_and(|f| f.planned().is_none()))
                .collect();
            let taken = compiled[self.document.min(compiled.len() - 1)];
            dropped.extend(group.iter().filter(|n| *n != taken));
        }
        dropped
    }
}

/// How many documents it takes to have every variant of every choice once.
const DOCUMENTS: usize = 2;

fn documents() -> Vec<(Json, BTreeSet<String>)> {
    (0..DOCUMENTS)
        .map(|document| {
            let mut filler = Filler { document, planned: false, seen: BTreeSet::new() };
            (filler.fill(schema().root(), ""), filler.seen)
        })
        .collect()
}

/// What says how files come together is no part of what they come to; tests/include.rs is about it.
fn other_files(field: Shape<'_>) -> bool {
    field.is_include() || field.is_defaults()
}

/// Every field of the schema by its generic path, and whether it or one around it is only planned.
fn fields() -> Vec<(String, bool)> {
    fn walk(shape: Shape<'_>, path: &str, planned: bool, list: &mut Vec<(String, bool)>) {
        for (name, field) in shape.properties().filter(|(_, field)| !other_files(*field)) {
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let planned = planned || field.planned().is_some();
            list.push((path.clone(), planned));
            walk(field, &path, planned, list);
        }
        if let Some(inner) = shape.map_value().or_else(|| shape.item()) {
            walk(inner, &format!("{path}.*"), planned, list);
        }
    }
    let mut list = Vec::new();
    walk(schema().root(), "", false, &mut list);
    list
}

fn read(syntax: Syntax, text: &str) -> Doc {
    let mut sources = Sources::default();
    let file = sources.add("spec", text);
    let mut findings = Findings::new();
    let doc = parse(&sources, file, syntax, schema(), &mut findings);
    assert!(findings.is_empty(), "{findings:?}\n{text}");
    doc.expect("a text without findings has a tree")
}

/// The reference of the KDL form is itself a document in that form, which has every field of the schema.
#[test]
fn the_kdl_reference_reads_as_kdl_and_has_every_field() {
    fn collect(value: &Value, shape: Shape<'_>, path: &str, found: &mut BTreeSet<String>) {
        for entry in value.entries() {
            let field = shape.property(&entry.key);
            let step = if field.is_some() { entry.key.as_str() } else { "*" };
            let path = if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") };
            let shape = field.or_else(|| shape.map_value()).expect("the schema has the field");
            collect(&entry.value, shape, &path, found);
            found.insert(path);
        }
        for item in value.items() {
            collect(&item.value, shape.item().expect("a list has elements"), &format!("{path}.*"), found);
        }
    }
    let text = to_reference(schema());
    let doc = read(Syntax::Kdl, &text);
    let mut found = BTreeSet::new();
    collect(&doc.root, schema().root(), "", &mut found);
    let missing: Vec<_> = fields().into_iter().map(|(path, _)| path).filter(|p| !found.contains(p)).collect();
    assert!(missing.is_empty(), "no node for {missing:?}\n{text}");
    // That choices stand side by side, and planned parts at all, is what a reference is for; all else must fit.
    let mut findings = Findings::new();
    purlin::spec::validator().expect("the schema compiles").check(&doc, Syntax::Kdl, &mut findings);
    let codes: BTreeSet<Code> = findings.into_sorted().iter().map(|d| d.code).collect();
    assert_eq!(codes, BTreeSet::from([Code::PUR0106, Code::PUR0108]));
    assert!(!text.contains("// ["), "a node is not described");
}

fn both(model: &Json) -> [(Syntax, String); 2] {
    let doc = read(Syntax::Json, &model.to_string());
    [(Syntax::Kdl, to_kdl(&doc, schema())), (Syntax::Yaml, to_yaml(&doc, schema()))]
}

#[test]
fn every_field_of_the_schema_stands_in_some_document() {
    let mut seen: BTreeSet<String> = documents().into_iter().flat_map(|(_, seen)| seen).collect();
    seen.extend(UNFIT.iter().map(|(field, _)| format!("spec.runtimes.hooks.*.when.{field}")));
    let missing: Vec<_> =
        fields().into_iter().filter(|(path, planned)| !planned && !seen.contains(path)).collect();
    assert!(missing.is_empty(), "no document sets {missing:?}");
}

#[test]
fn both_syntaxes_give_the_same_plan_without_findings() {
    for (model, _) in documents() {
        for facts in [None, Some(facts())] {
            let [kdl, yaml] =
                both(&model).map(|(syntax, text)| (Traced::of(syntax, &text, facts.as_ref()), text));
            assert!(kdl.0.findings.is_empty(), "{:#?}\n{}", kdl.0.findings, kdl.1);
            assert!(yaml.0.findings.is_empty(), "{:#?}\n{}", yaml.0.findings, yaml.1);
            assert!(
                kdl.0.plan.as_ref().is_some_and(|p| p["artifacts"].as_array().is_some_and(|a| !a.is_empty()))
            );
            assert_eq!(kdl.0, yaml.0, "{}\n{}", kdl.1, yaml.1);
        }
    }
}

/// A place in a model where something can be changed, and the model after the change.
struct Change {
    what: String,
    model: Json,
}

/// All changes of one model: every leaf to other values, every empty block gone, every name to another one.
fn changes(model: &Json) -> Vec<Change> {
    fn walk(whole: &Json, at: &str, shape: Shape<'_>, list: &mut Vec<Change>) {
        let value = whole.pointer(at).expect("the path was made from the model");
        let step = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        match value {
            Json::Object(map) => {
                for (key, inner) in map {
                    let here = step(key);
                    let field =
                        shape.property(key).or_else(|| shape.map_value()).expect("the schema has the field");
                    if shape.map_value().is_some() {
                        let mut model = whole.clone();
                        let names = shape
                            .keyword("propertyNames")
                            .and_then(|n| n.get("format"))
                            .and_then(Json::as_str);
                        let name = names.map_or(format!("{key}X"), |format| another_text(format, key));
                        let object = model.pointer_mut(at).and_then(Json::as_object_mut).expect("an object");
                        object.remove(key);
                        object.insert(name, inner.clone());
                        list.push(Change { what: format!("the name {here}"), model });
                    }
                    if inner == &json!({}) {
                        let mut model = whole.clone();
                        model.pointer_mut(at).and_then(Json::as_object_mut).expect("an object").remove(key);
                        list.push(Change { what: format!("{here}, taken away"), model });
                    }
                    walk(whole, &here, field, list);
                }
            }
            Json::Array(items) => {
                for index in 0..items.len() {
                    walk(whole, &step(&index.to_string()), shape.item().expect("a list has elements"), list);
                }
            }
            leaf => {
                let others = another(shape, leaf);
                assert!(!others.is_empty() && !others.contains(leaf), "{at}");
                for new in others {
                    let mut model = whole.clone();
                    *model.pointer_mut(at).expect("the path is in the model") = new;
                    list.push(Change { what: format!("{at}, {leaf}"), model });
                }
            }
        }
    }
    let mut list = Vec::new();
    walk(model, "", schema().root(), &mut list);
    list
}

/// What may change without a trace, and why. A field belongs here only when its purpose lies outside this version.
const UNTRACED: &[(&str, &str)] =
    &[("the name /spec/runtimes/hooks/", "decides which of two hooks runs first: see the test below")];

#[test]
fn every_leaf_traces_to_an_output_byte_or_a_finding() {
    let facts = facts();
    let trace = |model: &Json| {
        let yaml = to_yaml(&read_any(model), schema());
        [None, Some(&facts)].map(|facts| Traced::of(Syntax::Yaml, &yaml, facts))
    };
    let (mut silent, mut heard) = (BTreeSet::new(), BTreeSet::new());
    let mut count = 0;
    for (model, _) in documents() {
        let before = trace(&model);
        for change in changes(&model) {
            count += 1;
            let list = if trace(&change.model) == before { &mut silent } else { &mut heard };
            list.insert(change.what);
        }
    }
    // What means nothing beside one variant of a choice may mean something beside another.
    let silent: Vec<_> = silent.into_iter().filter(|what| !heard.contains(what)).collect();
    let excused = |what: &String| UNTRACED.iter().any(|(path, _)| what.starts_with(path));
    let lost: Vec<_> = silent.iter().filter(|what| !excused(what)).map(String::as_str).collect();
    assert!(count > 120, "only {count} leaves were changed");
    assert!(lost.is_empty(), "{} of {count} leaves do nothing:\n{}", lost.len(), lost.join("\n"));
    let idle: Vec<_> =
        UNTRACED.iter().filter(|(path, _)| !silent.iter().any(|s| s.starts_with(path))).collect();
    assert!(idle.is_empty(), "these leave a trace now: {idle:?}");
}

/// Artifacts, and lines of each, that are written down.
const ARTIFACTS: usize = 3;
const LINES: usize = 3;

/// What each field renders to, by what is seen when it is changed in one of the documents, or in an example.
fn renders() -> BTreeMap<String, Effect> {
    let facts = facts();
    let mut samples: Vec<Doc> =
        documents().iter().map(|(model, _)| read_any(&renamed(model, schema().root()))).collect();
    let made_count = samples.len();
    // What two members of a collection decide among them is seen where there are two.
    samples.extend(["laptop", "edge", "gpu-sim"].map(|name| {
        let path = format!("{}/examples/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        read(Syntax::Yaml, &std::fs::read_to_string(path).unwrap())
    }));
    let mut found = BTreeMap::new();
    for located in all_paths(schema()) {
        let (path, shape) = (&located.path, located.shape);
        let files =
            |around: &Path| around.0.len() > 1 && schema().root().at(&around.keys()).is_some_and(other_files);
        if located.planned.is_some() || files(path) || files(&path.outer()) {
            continue;
        }
        // Without facts first, for that is what everyone sees.
        let made = [None, Some(&facts)]
            .into_iter()
            .flat_map(|f| samples[..made_count].iter().map(move |doc| (f, doc)));
        let runs = made.chain(samples[made_count..].iter().map(|doc| (None, doc)));
        let traces = runs.filter_map(|(facts, doc)| {
            (!path.matches(&doc.root).is_empty()).then(|| trace(doc, Syntax::Yaml, &located, facts))?
        });
        let seen = traces
            .min_by_key(|t| (t.within.is_some(), t.effect.kind))
            .map(|t| placeholders(t.effect.as_example()));
        // A condition that no runtime evaluates is in no document: it is a finding. And so is another word than the only
        // one.
        let unfit = UNFIT.iter().any(|(field, _)| path.to_string().contains(&format!("when.{field}")));
        assert!(seen.is_some() || unfit || shape.words().len() == 1, "nothing is seen of {path}");
        let effect = seen.unwrap_or(Effect { kind: Kind::Checked, artifacts: Vec::new(), more: 0 });
        found.insert(path.to_string(), effect.short(ARTIFACTS, LINES));
    }
    found
}

/// The model with names by which a reader knows whose they are: the network's is `the-network`.
fn renamed(model: &Json, shape: Shape<'_>) -> Json {
    match model {
        Json::Object(map) => {
            let names = shape.names().and_then(Shape::format) == Some("purlin-name");
            let node = shape.node_name().filter(|_| names);
            let inner =
                |key: &str| shape.property(key).or_else(|| shape.map_value()).expect("the schema has it");
            map.iter()
                .map(|(key, value)| {
                    let name = node.map_or(key.clone(), |node| format!("the-{node}"));
                    (name, renamed(value, inner(key)))
                })
                .collect::<Map<_, _>>()
                .into()
        }
        Json::Array(list) => {
            list.iter().map(|v| renamed(v, shape.item().expect("a list has elements"))).collect()
        }
        leaf => leaf.clone(),
    }
}

/// The effect with `NETWORK` for whatever the name of the network is.
fn placeholders(effect: Effect) -> Effect {
    let nodes = all_paths(schema()).into_iter().filter_map(|l| l.shape.node_name());
    let text = nodes.fold(serde_json::to_string(&effect).unwrap(), |text, node| {
        text.replace(&format!("the-{node}"), &node.to_uppercase())
    });
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_each_field_renders_to_is_written_down() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/spec/renders.json");
    let text = format!("{:#}\n", serde_json::to_value(renders()).unwrap());
    if std::env::var_os("PURLIN_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap();
    assert!(
        there == text,
        "src/spec/renders.json is out of date; run: PURLIN_BLESS=1 cargo test --test coverage"
    );
}

#[test]
fn the_names_of_hooks_decide_their_order() {
    let trace = |first: &str, second: &str| {
        let (mut model, _) = documents().swap_remove(0);
        let hook = model["spec"]["runtimes"]["hooks"]["pods"].clone();
        let mut twin = hook.clone();
        twin["path"] = json!("/usr/bin/runc");
        model["spec"]["runtimes"]["hooks"] = json!({first: hook, second: twin});
        Traced::of(Syntax::Yaml, &to_yaml(&read_any(&model), schema()), Some(&facts()))
    };
    let (ab, ba) = (trace("a", "b"), trace("b", "a"));
    assert!(ab.findings.is_empty() && ba.findings.is_empty(), "{ab:#?}");
    assert_ne!(ab.plan, ba.plan);
}

/// A tree that may have findings: a changed version word is one.
fn read_any(model: &Json) -> Doc {
    let mut sources = Sources::default();
    let file = sources.add("spec.json", model.to_string());
    parse(&sources, file, Syntax::Json, schema(), &mut Findings::new())
        .expect("JSON was written by serde_json")
}

/// Every planned field, by its path in the model of a document, with that document.
fn planned() -> Vec<(Vec<String>, Json)> {
    fn walk(
        whole: &Json,
        at: &mut Vec<String>,
        generic: &str,
        shape: Shape<'_>,
        list: &mut Vec<(Vec<String>, Json)>,
    ) {
        let value = at.iter().try_fold(whole, |v, s| match v {
            Json::Array(items) => items.get(s.parse::<usize>().ok()?),
            _ => v.get(s),
        });
        let Some(value) = value else { return };
        for (name, field) in shape.properties() {
            let path = format!("{generic}.{name}");
            if field.planned().is_some() {
                let mut filler = Filler { document: 0, planned: true, seen: BTreeSet::new() };
                let mut object: Map<String, Json> = value.as_object().cloned().unwrap_or_default();
                // Of a choice, it takes the place of the variant that is there.
                for group in shape.one_of().into_iter().filter(|g| g.contains(&name)) {
                    object.retain(|key, _| !group.contains(&key.as_str()));
                }
                object.insert(name.to_owned(), filler.fill(field, path.trim_start_matches('.')));
                let mut model = whole.clone();
                *at.iter().fold(&mut model, |v, s| match v {
                    Json::Array(items) => &mut items[s.parse::<usize>().expect("a position")],
                    _ => &mut v[s.as_str()],
                }) = object.into();
                list.push(([at.as_slice(), &[name.to_owned()]].concat(), model));
                continue;
            }
            at.push(name.to_owned());
            walk(whole, at, &path, field, list);
            at.pop();
        }
        let inner = shape.map_value().or_else(|| shape.item());
        let steps: Vec<String> = match value {
            Json::Object(map) => map.keys().cloned().collect(),
            Json::Array(items) => (0..items.len()).map(|i| i.to_string()).collect(),
            _ => Vec::new(),
        };
        for step in steps.into_iter().filter(|_| inner.is_some()) {
            at.push(step);
            walk(whole, at, &format!("{generic}.*"), inner.expect("filtered"), list);
            at.pop();
        }
    }
    let (model, _) = documents().swap_remove(0);
    let mut list = Vec::new();
    walk(&model, &mut Vec::new(), "", schema().root(), &mut list);
    list
}

#[test]
fn every_planned_field_is_named_where_it_stands() {
    let planned = planned();
    let reached = planned.len();
    let known = fields();
    let tops = known.iter().filter(|(path, planned)| {
        let outer = path.rsplit_once('.').map(|(outer, _)| outer.trim_end_matches(".*"));
        *planned && !known.iter().any(|(p, planned)| *planned && Some(p.as_str()) == outer)
    });
    assert_eq!(reached, tops.count(), "the documents do not reach every planned field");
    for (path, model) in planned {
        for (syntax, text) in both(&model) {
            one_finding_at(Code::PUR0108, &path, syntax, &text);
        }
    }
}

#[test]
fn every_condition_that_no_runtime_evaluates_is_named_where_it_stands() {
    for (field, value) in UNFIT {
        let (mut model, _) = documents().swap_remove(0);
        let hooks = model["spec"]["runtimes"]["hooks"].as_object_mut().expect("hooks by name");
        let (name, hook) = hooks.iter_mut().next().expect("the document has a hook");
        let path = ["spec", "runtimes", "hooks", name, "when", field].map(str::to_owned);
        let value: Json = serde_json::from_str(value).expect("a value in JSON");
        hook["when"] = [((*field).to_owned(), value)].into_iter().collect();
        for (syntax, text) in both(&model) {
            one_finding_at(Code::PUR0212, &path, syntax, &text);
        }
    }
}

/// Exactly one finding, of this code, on the entry of this path or within it.
fn one_finding_at(code: Code, path: &[String], syntax: Syntax, text: &str) {
    let doc = read(syntax, text);
    let (last, outer) = path.split_last().expect("a field has a name");
    let entry =
        doc.root.at(outer).and_then(|v| v.entry(last)).unwrap_or_else(|| panic!("no {path:?} in\n{text}"));
    let traced = Traced::of(syntax, text, None);
    let [found] = traced.diagnostics.as_slice() else { panic!("{path:?}: {:#?}\n{text}", traced.findings) };
    assert_eq!(found.code, code, "{path:?}");
    let (span, whole) = (found.span().expect("a finding has a place"), entry.key_span.to(entry.value.span));
    assert!(
        whole.start <= span.start && span.end <= whole.end,
        "{path:?}: the finding is at {:?}, the entry at {:?}\n{text}",
        &text[span.range()],
        &text[whole.range()],
    );
}

mod made_up {
    //! A section that Purlin does not have, as its author would write it.
    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[schemars(extend("x-purlin-document" = {"version": "purlin", "node": "node"}))]
    pub struct Document {
        api_version: String,
        kind: String,
        #[schemars(extend("x-purlin-inline" = true))]
        metadata: Metadata,
        #[schemars(extend("x-purlin-inline" = true))]
        spec: Spec,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[schemars(extend("x-purlin-arguments" = ["name"]))]
    struct Metadata {
        name: String,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Spec {
        #[schemars(extend("x-purlin-block" = true, "x-purlin-node" = "lighthouse"))]
        lighthouses: Named<Name, Lighthouse>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Lighthouse {
        range_miles: u16,
        lit: Option<bool>,
        #[serde(default)]
        #[schemars(extend("x-purlin-node" = "keeper"))]
        keepers: Vec<String>,
        #[serde(default)]
        #[schemars(extend("x-purlin-node" = "flash"))]
        flashes: Vec<Flash>,
        lamp: Option<Lamp>,
        /// The new field.
        #[serde(default)]
        #[schemars(extend("x-purlin-node" = "fog-horn", "x-purlin-since" = {"beacon": "1.2"}))]
        fog_horns: Named<Name, Horn>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[schemars(extend("x-purlin-arguments" = ["colour", "seconds"]))]
    struct Flash {
        colour: String,
        seconds: u8,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[schemars(extend("x-purlin-one-of" = [["oil", "electric"]]))]
    struct Lamp {
        oil: Option<Oil>,
        electric: Option<Electric>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Oil {}

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Electric {
        socket: AbsolutePath,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Horn {
        decibels: u8,
    }

    pub const KDL: &str = r#"purlin "v1alpha1"
node "coast" {
    lighthouses {
        lighthouse "north" range-miles=20 lit=#true {
            keeper "Ada" "Grace"
            // Two of them.
            flash "red" 3
            flash "white" 5
            lamp {
                electric socket="/run/lamp"
            }
            fog-horn "old" decibels=120
        }
    }
}
"#;

    pub const YAML: &str = "apiVersion: purlin.dev/v1alpha1
kind: NodeSpec
metadata:
  name: coast
spec:
  lighthouses:
    north:
      rangeMiles: 20
      lit: true
      keepers: [Ada, Grace]
      # Two of them.
      flashes:
        - colour: red
          seconds: 3
        - {colour: white, seconds: 5}
      lamp:
        electric:
          socket: /run/lamp
      fogHorns:
        old:
          decibels: 120
";
}

#[test]
fn a_made_up_section_needs_nothing_but_its_types() {
    use made_up::{Document, KDL, YAML};
    let schema = Schema::new(schema_of::<Document>("https://example.com/coast.json"));
    let horns = schema
        .root()
        .at(&["spec", "lighthouses", "north", "fogHorns"])
        .expect("the schema has the new field");
    assert_eq!(horns.node_name(), Some("fog-horn"));
    assert_eq!(horns.description(), Some("The new field."));
    assert!(horns.map_value().is_some_and(|h| h.property("decibels").is_some()));

    let validator = Validator::new(&schema, &FORMATS).expect("the schema compiles");
    let read = |syntax: Syntax, text: &str| {
        let mut sources = Sources::default();
        let file = sources.add("coast", text);
        let mut findings = Findings::new();
        let doc = parse(&sources, file, syntax, &schema, &mut findings);
        if let Some(doc) = &doc {
            validator.check(doc, syntax, &mut findings);
        }
        (doc, findings)
    };
    let sound = |syntax: Syntax, text: &str| {
        let (doc, findings) = read(syntax, text);
        assert!(findings.is_empty(), "{findings:?}\n{text}");
        doc.expect("a text without findings has a tree")
    };
    // Spans tell where a name stood; the model is what the two texts share.
    let typed = |doc: &Doc| {
        let document = from_value::<Document>(&doc.root).expect("what fits the schema fits the types");
        format!("{document:?}")
            .split("name_span: Span {")
            .map(|part| {
                part.split_once('}')
                    .filter(|(span, _)| span.contains("file:"))
                    .map_or(part, |(_, rest)| rest)
                    .to_owned()
            })
            .collect::<String>()
    };
    let (kdl, yaml) = (sound(Syntax::Kdl, KDL), sound(Syntax::Yaml, YAML));
    assert_eq!(kdl.root.to_json(), yaml.root.to_json());
    assert_eq!(typed(&kdl), typed(&yaml));
    assert_eq!(
        kdl.root.at(&["spec", "lighthouses", "north", "fogHorns", "old", "decibels"]).map(|v| v.to_json()),
        Some(json!(120))
    );

    // Conversion both ways, with the comment, and layout that settles.
    let (to_yaml_text, to_kdl_text) = (to_yaml(&kdl, &schema), to_kdl(&yaml, &schema));
    assert!(
        to_yaml_text.contains("# Two of them.") && to_kdl_text.contains("// Two of them."),
        "{to_yaml_text}{to_kdl_text}"
    );
    assert!(
        to_yaml_text.contains("fogHorns:") && to_kdl_text.contains("fog-horn \"old\""),
        "{to_yaml_text}{to_kdl_text}"
    );
    let (from_kdl, from_yaml) = (sound(Syntax::Yaml, &to_yaml_text), sound(Syntax::Kdl, &to_kdl_text));
    assert_eq!(from_kdl.root.to_json(), kdl.root.to_json());
    assert_eq!(from_yaml.root.to_json(), yaml.root.to_json());
    assert_eq!(to_kdl(&from_yaml, &schema), to_kdl_text);
    assert_eq!(to_yaml(&from_kdl, &schema), to_yaml_text);

    // A slip of the pen is answered with its name, and a version before its first is told.
    for (syntax, text) in [
        (Syntax::Kdl, KDL.replace("fog-horn", "fog-hron")),
        (Syntax::Yaml, YAML.replace("fogHorns", "fogHrons")),
    ] {
        let (_, findings) = read(syntax, &text);
        let [finding] = findings.iter().as_slice() else { panic!("{findings:#?}") };
        assert_eq!(finding.code, Code::PUR0101);
        let wanted = if syntax == Syntax::Kdl { "fog-horn" } else { "fogHorns" };
        assert_eq!(finding.fix.as_ref().map(|f| f.replacement.as_str()), Some(wanted), "{finding:#?}");
    }
    let since = purlin::source::since_fields(&yaml.root, schema.root(), "beacon");
    assert_eq!(since.iter().map(|(e, v)| (e.key.as_str(), *v)).collect::<Vec<_>>(), [("fogHorns", "1.2")]);
}
