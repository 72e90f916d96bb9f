//! Reading and writing specs over a small schema that uses every annotation.

mod common {
    pub mod schema;
}

use common::schema::schema;
use purlin::diag::{Code, Findings, Sources};
use purlin::source::{Doc, Syntax, parse};

fn read(syntax: Syntax, text: &str) -> (Option<Doc>, Findings, Sources) {
    let mut sources = Sources::default();
    let file = sources.add("spec", text);
    let mut findings = Findings::new();
    let doc = parse(&sources, file, syntax, &schema(), &mut findings);
    (doc, findings, sources)
}

fn show(findings: &Findings, sources: &Sources) -> String {
    findings
        .iter()
        .map(|d| {
            let labels: Vec<String> = d
                .labels
                .iter()
                .map(|l| format!("{}:{:?}", sources.position(l.span).line, sources.slice(l.span)))
                .collect();
            format!("{} {} [{}] help: {}\n", d.code, d.message, labels.join(", "), d.help.join("; "))
        })
        .collect()
}

#[test]
fn scratch() {
    for (syntax, path) in
        [(Syntax::Kdl, "/tmp/s.kdl"), (Syntax::Yaml, "/tmp/s.yaml"), (Syntax::Json, "/tmp/s.json")]
    {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let (doc, findings, sources) = read(syntax, &text);
        println!("== {path}\n{}", show(&findings, &sources));
        if let Some(doc) = doc {
            println!("{}", serde_json::to_string_pretty(&doc.root.to_json()).unwrap());
            if std::env::var("TREE").is_ok() {
                println!("{doc:#?}");
            }
        }
    }
    let _ = Code::PUR0001;
}
