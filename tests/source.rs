//! Reading and writing specs over a small schema that uses every annotation: what must hold for every text and tree.

mod common {
    pub mod documents;
    pub mod schema;
    pub mod signs;
}

use common::documents::{Shown, comments, documents, soup, write};
use common::schema::schema;
use proptest::prelude::*;
use purlin::diag::{Code, Findings, Sources, Span};
use purlin::source::{Doc, Syntax, parse};
use serde_json::json;

const ALL: [Syntax; 3] = [Syntax::Kdl, Syntax::Yaml, Syntax::Json];

struct Read {
    doc: Option<Doc>,
    findings: Findings,
    sources: Sources,
}

impl Read {
    fn of(syntax: Syntax, text: &str) -> Self {
        let mut sources = Sources::default();
        let file = sources.add("spec", text);
        let mut findings = Findings::new();
        let doc = parse(&sources, file, syntax, &schema(), &mut findings);
        Self { doc, findings, sources }
    }

    fn shown(&self) -> String {
        let place =
            |span: Span| format!("{}:{:?}", self.sources.position(span).line, self.sources.slice(span));
        self.findings
            .iter()
            .map(|d| {
                let labels: Vec<String> = d.labels.iter().map(|l| place(l.span)).collect();
                format!("{} {} at {}\n", d.code, d.message, labels.join(", "))
            })
            .collect()
    }

    /// The tree of a text without findings.
    fn sound(syntax: Syntax, text: &str) -> Result<Doc, TestCaseError> {
        let read = Self::of(syntax, text);
        prop_assert!(read.findings.is_empty(), "{}\nin\n{text}", read.shown());
        Ok(read.doc.expect("a text without findings has a tree"))
    }

    /// Every finding has a place within the text, on character boundaries.
    fn places_fit(&self) -> bool {
        self.findings.iter().all(|d| {
            !d.labels.is_empty()
                && d.labels.iter().all(|l| self.sources.text(l.span.file).get(l.span.range()).is_some())
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn writing_then_reading_keeps_model_and_comments(Shown(doc) in documents()) {
        for syntax in [Syntax::Kdl, Syntax::Yaml] {
            let text = write(syntax, &doc);
            let again = Read::sound(syntax, &text)?;
            prop_assert_eq!(again.root.to_json(), doc.root.to_json(), "{}", text);
            prop_assert_eq!(comments(&again), comments(&doc), "{}", text);
        }
        let text = write(Syntax::Json, &doc);
        prop_assert_eq!(Read::sound(Syntax::Json, &text)?.root.to_json(), doc.root.to_json(), "{}", text);
    }

    #[test]
    fn conversion_goes_both_ways_and_layout_settles(Shown(doc) in documents()) {
        let yaml = Read::sound(Syntax::Yaml, &write(Syntax::Yaml, &doc))?;
        let kdl = Read::sound(Syntax::Kdl, &write(Syntax::Kdl, &yaml))?;
        let back = Read::sound(Syntax::Yaml, &write(Syntax::Yaml, &kdl))?;
        prop_assert_eq!(back.root.to_json(), doc.root.to_json());
        prop_assert_eq!(comments(&back), comments(&doc));
        for (syntax, doc) in [(Syntax::Kdl, kdl), (Syntax::Yaml, back)] {
            let once = write(syntax, &doc);
            let twice = write(syntax, &Read::sound(syntax, &once)?);
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place(text in prop_oneof![soup(), "\\PC{0,80}"]) {
        for syntax in ALL {
            let read = Read::of(syntax, &text);
            prop_assert!(read.doc.is_some() || !read.findings.is_empty(), "{:?}", text);
            prop_assert!(read.places_fit(), "{}\n{:?}", read.shown(), text);
        }
    }

    #[test]
    fn a_changed_text_is_read_or_refused(
        Shown(doc) in documents(), cut in any::<prop::sample::Index>(), length in 0..20usize, put in soup()
    ) {
        for syntax in ALL {
            let mut text = write(syntax, &doc);
            let fit = |i: usize, text: &str| (0..=i.min(text.len())).rev().find(|i| text.is_char_boundary(*i));
            let from = fit(cut.index(text.len() + 1), &text).expect("0 is a boundary");
            let to = fit(from + length, &text).expect("0 is a boundary").max(from);
            text.replace_range(from..to, &put);
            let read = Read::of(syntax, &text);
            prop_assert!(read.doc.is_some() || !read.findings.is_empty(), "{}", text);
            prop_assert!(read.places_fit(), "{}\n{}", read.shown(), text);
        }
    }

    #[test]
    fn line_ends_and_a_byte_order_mark_change_nothing(Shown(doc) in documents()) {
        for syntax in ALL {
            let text = write(syntax, &doc);
            let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
            let again = Read::sound(syntax, &windows)?;
            prop_assert_eq!(again.root.to_json(), doc.root.to_json(), "{:?}", windows);
        }
    }
}

/// The code and the marked text of each finding.
fn marked(syntax: Syntax, text: &str) -> Vec<(Code, String)> {
    let read = Read::of(syntax, text);
    read.findings
        .iter()
        .map(|d| (d.code, read.sources.slice(d.span().expect("every finding has a place")).to_owned()))
        .collect()
}

fn codes(syntax: Syntax, text: &str) -> Vec<Code> {
    marked(syntax, text).into_iter().map(|(code, _)| code).collect()
}

fn kdl(block: &str) -> String {
    format!("purlin \"v1alpha1\"\nnode \"n\" {{\n{block}\n}}\n")
}

fn yaml(spec: &str) -> String {
    format!("apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nmetadata: {{name: n}}\nspec:\n{spec}\n")
}

#[test]
fn each_limit_admits_what_is_just_under_it() {
    let nested = |n: usize| kdl(&format!("{}{}", "a {".repeat(n), "}".repeat(n)));
    let lists = |n: usize| yaml(&format!("  a: {}{}", "[".repeat(n), "]".repeat(n)));
    let dashes = |n: usize| yaml(&format!("  a:\n    {}x", "- ".repeat(n)));
    let brackets = |n: usize| {
        let value = "[".repeat(n) + &"]".repeat(n);
        format!(r#"{{"apiVersion": "purlin.dev/v1alpha1", "kind": "NodeSpec", "a": {value}}}"#)
    };
    let comment = |n: usize| kdl(&format!("{}{}", "/*".repeat(n), "*/".repeat(n)));
    let inside = |n: usize| kdl(&format!("extra #\"{{\"a\": {}{}}}\"#", "[".repeat(n), "]".repeat(n)));
    let aliases = |n: usize| yaml(&format!("  a: &a x\n  b: [{}]", "*a,".repeat(n)));
    let values = |n: usize| yaml(&format!("  a: [{}]", "x,".repeat(n)));
    let bytes = |n: usize| format!("{}//", kdl("").as_str()) + &"x".repeat(n - kdl("").len() - 2);
    let nodes = |n: usize| kdl(&"sailor a\n".repeat(n));
    let over = |syntax, text: &str| assert_eq!(codes(syntax, text), [Code::PUR0003], "{:.60}", text);
    let under = |syntax, text: &str| assert!(!codes(syntax, text).contains(&Code::PUR0003), "{:.60}", text);

    under(Syntax::Kdl, &nested(63));
    over(Syntax::Kdl, &nested(64));
    // `spec` and the root take two levels.
    under(Syntax::Yaml, &lists(61));
    over(Syntax::Yaml, &lists(65));
    under(Syntax::Yaml, &dashes(61));
    over(Syntax::Yaml, &dashes(65));
    under(Syntax::Json, &brackets(63));
    over(Syntax::Json, &brackets(64));
    under(Syntax::Kdl, &comment(64));
    over(Syntax::Kdl, &comment(65));
    under(Syntax::Kdl, &inside(63));
    over(Syntax::Kdl, &inside(64));
    under(Syntax::Yaml, &aliases(100));
    over(Syntax::Yaml, &aliases(101));
    under(Syntax::Yaml, &values(9_980));
    over(Syntax::Yaml, &values(10_000));
    under(Syntax::Kdl, &bytes(256 * 1024));
    over(Syntax::Kdl, &bytes(256 * 1024 + 1));
    under(Syntax::Kdl, &nodes(9_998));
    over(Syntax::Kdl, &nodes(9_999));
    under(Syntax::Kdl, &kdl(&format!("{} a", "/-".repeat(64))));
    over(Syntax::Kdl, &kdl(&format!("{} a", "/-".repeat(65))));
}

#[test]
fn bombs_are_refused_or_read_in_time() {
    let laughs: String =
        (1..9).map(|i| format!("  a{i}: &a{i} [{}]\n", format!("*a{},", i - 1).repeat(9))).collect();
    let many = 256 * 1024 - 100;
    let bombs = [
        (Syntax::Kdl, "a {".repeat(many / 3)),
        (Syntax::Kdl, "{".repeat(many)),
        (Syntax::Kdl, "}".repeat(many)),
        (Syntax::Kdl, "/-".repeat(many / 2)),
        (Syntax::Kdl, "/- a\n".repeat(many / 5)),
        (Syntax::Kdl, "/- a {".repeat(many / 6)),
        (Syntax::Kdl, "/*".repeat(many / 2)),
        (Syntax::Kdl, format!("/*{}*/", "*".repeat(many))),
        (Syntax::Kdl, "/* */ ".repeat(many / 6)),
        (Syntax::Kdl, "\\\n".repeat(many / 2)),
        (Syntax::Kdl, "\n".repeat(many)),
        (Syntax::Kdl, " ".repeat(many)),
        (Syntax::Kdl, format!("a \"{}", "{".repeat(many - 10))),
        (Syntax::Kdl, format!("a \"\\q{}\"", "{".repeat(many - 10))),
        (Syntax::Kdl, format!("a \"\\q{}\"", "/*".repeat(many / 2 - 10))),
        (Syntax::Kdl, format!("a \"\"\"\nb\n{}\n \"\"\"", "/*".repeat(many / 2 - 10))),
        (Syntax::Kdl, format!("a #\"\"\"\nb\n{}\n \"\"\"#", "/*".repeat(many / 2 - 10))),
        (Syntax::Kdl, format!("a \"/*\u{2028}{}\"", "/*".repeat(many / 2 - 10))),
        (Syntax::Kdl, format!("a \"{}\\q\"", "\\n".repeat(many / 2 - 10))),
        (Syntax::Kdl, "a \"\\u{110000}\" ".repeat(many / 15)),
        (Syntax::Kdl, "\"".repeat(many)),
        (Syntax::Kdl, format!("a {}", "#\" ".repeat(many / 3 - 2))),
        (Syntax::Kdl, (1..700).map(|i| format!("{}\" ", "#".repeat(i))).collect()),
        (Syntax::Kdl, format!("a 0x{}", "f".repeat(many - 10))),
        (Syntax::Kdl, format!("a 1\"{}\"", "{".repeat(many - 10))),
        (Syntax::Kdl, format!("a =\"{}\"", "{".repeat(many - 10))),
        (Syntax::Kdl, format!("a \"\"\"\n{}\"\"\"", "\\".repeat(many - 20))),
        (Syntax::Kdl, format!("a \"\"\"\n{}\n\"\"\"", "x\n".repeat(many / 2 - 20))),
        (Syntax::Kdl, format!("a #\"\"\"\n{}\n\"\"\"#", "x\n".repeat(many / 2 - 20))),
        (Syntax::Kdl, "a ".repeat(many / 2)),
        (Syntax::Kdl, "a=".repeat(many / 2)),
        (Syntax::Kdl, "(".repeat(many)),
        (Syntax::Kdl, "a (".repeat(9_000)),
        (Syntax::Kdl, "a b=\n".repeat(9_000)),
        (Syntax::Kdl, "a ] {\n}\n".repeat(4_000)),
        (Syntax::Kdl, format!("{}{}", "a ] {\n".repeat(60), "}\n".repeat(60))),
        (Syntax::Kdl, format!("{}{}", "a b={\n".repeat(60), "}\n".repeat(60))),
        (Syntax::Kdl, format!("{}{}", "{".repeat(60), "}\n".repeat(60))),
        (Syntax::Kdl, "#".repeat(many)),
        (Syntax::Kdl, kdl(&format!("extra \"{}\"", "[".repeat(many / 2)))),
        (Syntax::Yaml, "[".repeat(many)),
        (Syntax::Yaml, "{a: ".repeat(many / 4)),
        (Syntax::Yaml, "- ".repeat(many / 2)),
        (Syntax::Yaml, "? ".repeat(many / 2)),
        (Syntax::Yaml, "&a ".repeat(many / 3)),
        (Syntax::Yaml, "#\n".repeat(many / 2)),
        (Syntax::Yaml, "a: |\n".to_owned() + &" ".repeat(many - 10)),
        (Syntax::Yaml, "\"".to_owned() + &"\n".repeat(many - 10)),
        (Syntax::Yaml, "a: ".repeat(many / 3)),
        (Syntax::Yaml, "a\n".repeat(many / 2)),
        (Syntax::Yaml, "---\n".repeat(many / 4)),
        (Syntax::Yaml, yaml(&format!("  a0: &a0 x\n{laughs}"))),
        (Syntax::Json, "[".repeat(many)),
        (Syntax::Json, "{\"a\":".repeat(many / 5)),
        (Syntax::Json, "\"".to_owned() + &"\\".repeat(many - 10)),
    ];
    for (syntax, bomb) in bombs {
        let begun = std::time::Instant::now();
        let read = Read::of(syntax, &bomb);
        let took = begun.elapsed();
        if std::env::var_os("SHOW_TIMES").is_some() {
            println!("{took:?} {syntax:?} {:.20?} {:.80}", bomb, read.shown());
        }
        assert!(!read.findings.is_empty(), "{bomb:.40}");
        // Far more than it takes, in a debug build on a busy machine; far less than a bomb that goes off.
        assert!(took.as_secs() < 120, "{took:?} for {bomb:.40}");
    }
}

#[test]
fn a_broken_literal_is_marked_where_it_stands() {
    let shown = |line: &str| {
        let read = Read::of(Syntax::Kdl, &kdl(line));
        assert!(read.doc.is_none(), "{line}");
        read.shown()
    };
    let cases = [
        (r#"crew "a\qb""#, r#"a string holds an escape that KDL does not know at 3:"\\q""#),
        (r#"crew "a\\\u{110000}b""#, r#"a string holds an escape that KDL does not know at 3:"\\u""#),
        (
            "crew \"\"\"\n  a\\\n  \\\"\\q/*\n  \"\"\"",
            r#"a string holds an escape that KDL does not know at 5:"\\q""#,
        ),
        (
            "crew \"\"\"a\"\"\"",
            "the lines of this string do not fit its quotes at 3:\"\\\"\\\"\\\"a\\\"\\\"\\\"\"",
        ),
        ("crew \"\"\"\na\n  \"\"\"", "the lines of this string do not fit its quotes at 3:\"\\\"\\\"\\\"\""),
        (
            "crew #\"\"\"\na\n  \"\"\"#",
            "the lines of this string do not fit its quotes at 3:\"#\\\"\\\"\\\"\"",
        ),
        ("crew #\"\"\"#", "single-line raw strings cannot look like multi-line ones at 3:\"#\\\"\\\"\\\"#\""),
        ("crew \"a\u{2028}b\"", "unexpected newline in single-line quoted string at 3:\"\\\"a\""),
        ("crew \"a", "a string is never closed at 3:\"\\\"a\""),
        ("count 1x", "`1x` is neither a number nor a word at 3:\"1x\""),
        ("count 0xg", "`0xg` is neither a number nor a word at 3:\"0xg\""),
        ("ratio 1.", "`1.` is neither a number nor a word at 3:\"1.\""),
        ("ratio -.5", "`-.5` is neither a number nor a word at 3:\"-.5\""),
        ("open-sea #yes", "`#yes` is no keyword of KDL at 3:\"#yes\""),
        ("1 2", "`1` is not a node's name at 3:\"1\""),
        ("true 2", "`true` is not a node's name at 3:\"true\""),
        ("crew \"a\"\"b\"", "a value touches what stands before it at 3:\"\\\"b\\\"\""),
    ];
    for (line, message) in cases {
        assert_eq!(shown(line), format!("PUR0001 {message}\n"), "{line}");
    }
    // The findings of one literal hide none of another.
    assert_eq!(shown("crew \"\\q{\" 1x \"\\q/*\" #yes\ncount 2x").lines().count(), 5);
}

#[test]
fn every_way_to_write_a_kdl_value_is_read() {
    let read = |line: &str| {
        let doc = Read::sound(Syntax::Kdl, &kdl(line)).expect("a sound spec");
        doc.root.to_json()["spec"].clone()
    };
    for (written, value) in [("1_000", 1000), ("-0x1F", -31), ("+0o17", 15), ("0B1_1", 3)] {
        assert_eq!(read(&format!("count {written}")), json!({"count": value}), "{written}");
    }
    for (written, value) in [("1_0.5e-1", 1.05), ("-2E+2", -200.0), ("0.25", 0.25)] {
        assert_eq!(read(&format!("ratio {written}")), json!({"ratio": value}), "{written}");
    }
    for written in
        ["9".repeat(50), format!("-1_{}", "0".repeat(60)), "1e400".into(), "#inf".into(), "#nan".into()]
    {
        let text = kdl(&format!("ratio {written}"));
        let found = marked(Syntax::Kdl, &text);
        assert!(found.iter().any(|(_, at)| *at == written), "{found:?}");
        assert!(!found.iter().any(|(code, _)| *code == Code::PUR0001), "{found:?}");
    }
    for (written, value) in [
        ("a-b", "a-b"),
        ("\"/etc/*.d // {\"", "/etc/*.d // {"),
        (r#""\"\\\n\t\s\u{e9}\   x""#, "\"\\\n\t \u{e9}x"),
        (r##"#"a\b"c"#"##, r#"a\b"c"#),
        ("\"\"\"\n    a\n      /* \\\"\"\"\n\n    \"\"\"", "a\n  /* \"\"\"\n"),
        ("##\"\"\"\r\n  a\\\r\n  \"#\r\n  \"\"\"##", "a\\\n\"#"),
    ] {
        assert_eq!(read(&format!("sailor {written}")), json!({"crew": [value]}), "{written}");
        assert_eq!(read(&format!("\"sailor\" \\\n  {written} // x")), json!({"crew": [value]}), "{written}");
    }
}
