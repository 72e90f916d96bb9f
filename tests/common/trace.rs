//! What a text leads to, without its own layout: the plan and the differences from a host, and findings by code and place.

use purlin::compile::compile;
use purlin::diag::{Diagnostic, Findings, Sources, Span};
use purlin::emission::emit;
use purlin::facts::Facts;
use purlin::plan;
use purlin::source::{Doc, Syntax, Value, parse};
use purlin::spec::schema;
use serde_json::{Value as Json, json};

#[derive(Debug)]
pub struct Traced {
    /// `None` when the text has errors.
    pub plan: Option<Json>,
    /// Code, and the place in the model.
    pub findings: Vec<String>,
    pub diagnostics: Vec<Diagnostic>,
}

impl PartialEq for Traced {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan && self.findings == other.findings
    }
}

impl Traced {
    pub fn of(syntax: Syntax, text: &str, facts: Option<&Facts>) -> Self {
        let mut sources = Sources::default();
        let file = sources.add("spec", text);
        let mut findings = Findings::new();
        let node = compile(&sources, file, syntax, &mut findings);
        let plan = node.map(|node| {
            let plan = emit(&node, facts, &mut findings);
            let diff = facts.map(|facts| plan::diff(&plan, facts, &mut findings));
            let mut value = json!({ "plan": plan, "diff": diff.map(|d| plan::json(&d, &sources)) });
            bare(&mut value);
            json!({ "artifacts": value["plan"]["artifacts"], "actions": value["plan"]["actions"],
                    "endpoints": value["plan"]["endpoints"], "node": value["plan"]["node"], "diff": value["diff"] })
        });
        let diagnostics = findings.into_sorted();
        let doc = parse(&sources, file, syntax, schema(), &mut Findings::new());
        let at = |d: &Diagnostic| {
            d.span().and_then(|span| doc.as_ref().map(|doc| path(doc, span))).unwrap_or_default()
        };
        let mut findings: Vec<_> = diagnostics.iter().map(|d| format!("{} at {}", d.code, at(d))).collect();
        findings.sort();
        Self { plan, findings, diagnostics }
    }
}

/// Drops what only tells where in the text something comes from.
fn bare(value: &mut Json) {
    match value {
        Json::Object(map) => {
            map.remove("origin");
            map.remove("unproven");
            map.values_mut().for_each(bare);
        }
        Json::Array(list) => list.iter_mut().for_each(bare),
        _ => {}
    }
}

/// The path of the innermost entry that a place lies in.
fn path(doc: &Doc, span: Span) -> String {
    fn step(value: &Value, span: Span, path: &mut String) {
        let holds = |outer: Span| outer.start <= span.start && span.end <= outer.end;
        if let Some(entry) = value.entries().iter().find(|e| holds(e.key_span) || holds(e.value.span)) {
            path.push('/');
            path.push_str(&entry.key);
            return step(&entry.value, span, path);
        }
        if let Some(index) = value.items().iter().position(|i| holds(i.value.span)) {
            path.push_str(&format!("/{index}"));
            step(&value.items()[index].value, span, path);
        }
    }
    let mut at = String::new();
    step(&doc.root, span, &mut at);
    at
}

/// A node on which the generated specs are at home: all that they name is there, and one foreign file.
pub fn facts() -> Facts {
    let plugin =
        |name: &str| json!({"path": format!("/opt/cni/bin/{name}"), "versions": ["0.4.0", "1.0.0", "1.1.0"]});
    let file = json!({"kind": "regular", "mode": "0644", "sha256": "00", "text": "{}"});
    let device = |minor: u32| json!({"kind": "character", "major": 4, "minor": minor, "mode": "0660", "uid": 0, "gid": 0});
    let facts = json!({
        "version": "purlin.dev/facts/v1alpha1",
        "simulated": true,
        "daemons": {"containerd": {"path": "/usr/bin/containerd", "version": "2.3.1"}},
        "searched": ["/usr/local/bin", "/usr/bin", "/usr/local/sbin", "/usr/sbin", "/sbin", "/bin"],
        "binaries": ["/usr/bin/crun", "/usr/local/bin/audit", "/usr/local/bin/auditx", "/usr/bin/runc"],
        "cniPlugins": {"bridge": plugin("bridge"), "host-local": plugin("host-local"), "portmap": plugin("portmap")},
        "places": ["/etc/containerd", "/etc/cni/net.d", "/etc/cdi", "/var/run/cdi", "/var/lib/purlin/objects"],
        "files": {"/etc/cni/net.d/05-foreign.conflist": file},
        "devices": {"/dev/ttyS0": device(64), "/dev/ttyS1": device(65)},
        "gpus": [{"uuid": "GPU-8f1c", "product": "X", "memory": 1, "nodes": ["/dev/nvidia0"]}],
        "links": {"lo": {"mtu": 65536, "up": true, "addresses": ["127.0.0.1/8"]}},
    });
    Facts::from_json(&facts.to_string()).expect("facts are written as they are read")
}
