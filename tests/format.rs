//! Laying specs out, writing them in another syntax, and rewriting old ones: what is written stays, whatever it is.

#[path = "common/cli.rs"]
mod cli;
mod common {
    pub mod documents;
    pub mod schema;
    pub mod signs;
}

use ::purlin::diag::{Findings, Sources};
use ::purlin::source::{
    Comments, Doc, Edit, Migration, Rewritten, Syntax, Value, convert, format, migrate, parse,
};
use cli::{purlin, said};
use common::documents::{Shown, comments, documents, soup, write};
use common::schema::schema;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::path::Path;
use std::process::Stdio;

fn formatted(syntax: Syntax, text: &str) -> Rewritten {
    let mut sources = Sources::default();
    let file = sources.add("spec", text);
    format(&sources, file, syntax, &schema(), &mut Findings::new())
}

fn sound(syntax: Syntax, text: &str) -> Doc {
    let mut sources = Sources::default();
    let file = sources.add("spec", text);
    let mut findings = Findings::new();
    let doc = parse(&sources, file, syntax, &schema(), &mut findings);
    assert!(findings.is_empty(), "{findings:?}\nin\n{text}");
    doc.expect("a text without findings has a tree")
}

/// Every comment with the value that it belongs to, and how.
fn placed(doc: &Doc) -> Vec<String> {
    fn own(path: &str, comments: &Comments, list: &mut Vec<String>) {
        let places = [("above", comments.leading.as_slice()), ("within", comments.inner.as_slice())];
        for (place, comments) in places {
            list.extend(comments.iter().map(|c| format!("{path} {place} {}", c.text)));
        }
        list.extend(comments.trailing.iter().map(|c| format!("{path} behind {}", c.text)));
    }
    fn walk(path: &str, value: &Value, list: &mut Vec<String>) {
        for entry in value.entries() {
            let path = format!("{path}/{}", entry.key);
            own(&path, &entry.comments, list);
            walk(&path, &entry.value, list);
        }
        for (at, item) in value.items().iter().enumerate() {
            let path = format!("{path}/{at}");
            own(&path, &item.comments, list);
            walk(&path, &item.value, list);
        }
    }
    let mut list = doc.trailing.iter().map(|c| format!("end {}", c.text)).collect();
    walk("", &doc.root, &mut list);
    list
}

/// The text is laid out or refused, never spoilt; and a layout is its own.
fn holds(syntax: Syntax, text: &str) -> Result<Option<String>, TestCaseError> {
    match formatted(syntax, text) {
        Rewritten::Text(once) => {
            let again = formatted(syntax, &once);
            prop_assert_eq!(&again, &Rewritten::Same, "{}\nbecame\n{}", text, once);
            Ok(Some(once))
        }
        Rewritten::Fault => Err(TestCaseError::fail(format!("a fault with\n{text}"))),
        Rewritten::Same => Ok(Some(text.to_owned())),
        Rewritten::Unsound | Rewritten::NoForm => Ok(None),
    }
}

const KDL_DAMAGE: &[&str] = &[
    "  ",
    "\t",
    "\n",
    "\n\n\n",
    "\r\n",
    " \\\n ",
    " \\ // c\n",
    " \\\n\n",
    "; ",
    ";",
    ";\n",
    " /* c */ ",
    " /* c\n   * d\n*/ ",
    " // c\n",
    "\n// c\n",
    " /-",
    " /- ",
    "\n/- ",
    " /-{ x; } ",
    " { ",
    " } ",
    " {\n",
    "\n}\n",
    " = ",
    " \"\"\"\n a\n  b\n \"\"\" ",
    " #\"\"\"\n\ta\n\t\"\"\"# ",
    " \"\"\"\n  a\\\n b\n  \"\"\" ",
    " { /* c */ ",
    " { // c\n",
];

const YAML_DAMAGE: &[&str] = &[
    "  ",
    "\t",
    "\n",
    "\n\n\n",
    "\r\n",
    " # c\n",
    "\n# c\n",
    "\n      # c\n",
    "\n  # c\n",
    " &a ",
    " *a ",
    " ? ",
    " |\n",
    " |2\n",
    " >-\n   ",
    " |+\n      a\n\n\n",
    "\n- ",
    "\n  - ",
    "\n    -\n",
    " [ ",
    " ] ",
    " {",
    "}\n",
    ": ",
    ": [a,\n b]\n",
    ": \"a\n  b\"\n",
    ": 'a\n\n b'\n",
    ": a\n   b # c\n",
    "---\n",
    "\n...\n",
    "    ",
];

/// Puts other white space, or more than that, in the place of some.
fn damaged(text: &str, at: Index, put: &str) -> String {
    let places: Vec<usize> = text.match_indices([' ', '\n']).map(|(i, _)| i).collect();
    let mut text = text.to_owned();
    if !places.is_empty() {
        let at = places[at.index(places.len())];
        text.replace_range(at..at + 1, put);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_layout_keeps_all_and_is_its_own(Shown(doc) in documents()) {
        for syntax in [Syntax::Kdl, Syntax::Yaml] {
            let text = write(syntax, &doc);
            let once = holds(syntax, &text)?.expect("what is written is sound");
            let (before, after) = (sound(syntax, &text), sound(syntax, &once));
            prop_assert_eq!(after.root.to_json(), doc.root.to_json());
            prop_assert_eq!(placed(&after), placed(&before), "{}\nbecame\n{}", text, once);
        }
    }

    #[test]
    fn white_space_is_all_that_a_layout_changes(
        Shown(doc) in documents(), damage in vec(any::<(Index, Index)>(), 1..20)
    ) {
        for (syntax, put) in [(Syntax::Kdl, KDL_DAMAGE), (Syntax::Yaml, YAML_DAMAGE)] {
            let mut text = write(syntax, &doc);
            for (at, what) in &damage {
                let next = damaged(&text, *at, put[what.index(put.len())]);
                if holds(syntax, &next)?.is_some() {
                    text = next;
                }
            }
        }
    }

    #[test]
    fn no_text_is_spoilt(text in prop_oneof![soup(), "\\PC{0,80}"]) {
        for syntax in [Syntax::Kdl, Syntax::Yaml, Syntax::Json] {
            holds(syntax, &text)?;
        }
    }

    #[test]
    fn converting_there_and_back_keeps_model_and_comments(Shown(doc) in documents()) {
        let to = |doc: &Doc, syntax| match convert(doc, syntax, &schema()) {
            Rewritten::Text(text) => Ok(text),
            other => Err(TestCaseError::fail(format!("{other:?}"))),
        };
        let kdl = sound(Syntax::Kdl, &to(&doc, Syntax::Kdl)?);
        let yaml = sound(Syntax::Yaml, &to(&kdl, Syntax::Yaml)?);
        let back = sound(Syntax::Kdl, &to(&yaml, Syntax::Kdl)?);
        prop_assert_eq!(back.root.to_json(), doc.root.to_json());
        prop_assert_eq!(comments(&back), comments(&doc));
        let json = sound(Syntax::Json, &to(&back, Syntax::Json)?);
        prop_assert_eq!(json.root.to_json(), doc.root.to_json());
    }
}

/// A spec with these lines in its block.
fn kdl(block: &str) -> String {
    format!("purlin \"v1alpha1\"\n\nnode \"n\" {{\n{block}}}\n")
}

fn yaml(spec: &str) -> String {
    format!("apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nspec:\n{spec}")
}

fn becomes(syntax: Syntax, before: &str, after: &str) {
    let text = match formatted(syntax, before) {
        Rewritten::Text(text) => text,
        Rewritten::Same => before.to_owned(),
        other => panic!("{other:?} with\n{before}"),
    };
    assert!(text == after, "{before}\nbecame\n{text}\nnot\n{after}");
    assert_eq!(formatted(syntax, after), Rewritten::Same, "{after}");
}

#[test]
fn kdl_is_laid_out() {
    let long = "x".repeat(40);
    for (before, after) in [
        // Indentation, spaces, blank lines.
        ("a\n\tb   1    c =  2\n", "    a\n    b 1 c=2\n"),
        ("\n\n a\n\n\n\n b {\n\n c\n\n\n}\n\n\n", "    a\n\n    b {\n        c\n    }\n"),
        ("a;b;c;\n", "    a\n    b\n    c\n"),
        ("a;\n\nb\n", "    a\n\n    b\n"),
        ("a \\\n {\n b\n}\n", "    a {\n        b\n    }\n"),
        ("a {\n}\nb { }\nc {\n // x\n}\n", "    a {}\n    b {}\n    c {\n        // x\n    }\n"),
        // Blocks of one line.
        ("a {b;  c 1  ; }\n", "    a { b; c 1; }\n"),
        ("a {b{c}}\nd { /* x */ e /* y */; f }\n", "    a { b { c; }; }\n    d { /* x */ e; /* y */ f; }\n"),
        (
            &format!("a {{ b \"{long}\" {{ c \"{long}\"; }}; d; }}\n"),
            &format!(
                "    a {{\n        b \"{long}\" {{\n            c \"{long}\"\n        }}\n        d\n    }}\n"
            ),
        ),
        (
            &format!("a {{ b \"{long}\" {{ c \"x\"; }}; d \"{long}\"; }}\n"),
            &format!("    a {{\n        b \"{long}\" {{ c \"x\"; }}\n        d \"{long}\"\n    }}\n"),
        ),
        // Comments stay where they are.
        (
            "a    // x  \n//y\n\n\n  //   z\nb {//u\nc\n} //v\n",
            "    a // x\n    //y\n\n    //   z\n    b { //u\n        c\n    } //v\n",
        ),
        ("/* x */ a; /* y */ b /*z*/ 1\n", "    /* x */ a /* y */\n    b /*z*/ 1\n"),
        ("  /* x\n   * y\n\n   z */\na\n", "    /* x\n     * y\n\n     z */\n    a\n"),
        ("a {\n  b\n  // last\n}\n// end\n", "    a {\n        b\n        // last\n    }\n    // end\n"),
        // What is disabled is laid out with its sign.
        ("/-a   1 {\nb\n}\n/-  c\n/-\nd\n", "    /-a 1 {\n        b\n    }\n    /- c\n    /- d\n"),
        ("a  /-1   b=2 /- c = 3\nd /-{ e } { f }\n", "    a /-1 b=2 /- c=3\n    d /-{ e; } { f; }\n"),
        (
            "/- a /-\n1 2\nb\n/- c \\ // x\n1\nd\n",
            "    /- a /- 1 2\n    b\n    /- c \\ // x\n        1\n    d\n",
        ),
        (
            "a { /- b }\nc { /-d; e }\n/- f; g\nh /-1; i { j; /- k /* x */; }\n",
            "    a { /- b; }\n    c { /-d; e; }\n    /- f\n    g\n    h /-1\n    i { j; /- k; /* x */ }\n",
        ),
        // What the tree does not know has no comments in it.
        (
            "chair { a 1;  /-{ x; }\n b; // y\n}\n",
            "    chair {\n        a 1\n        /-{ x; }\n        b // y\n    }\n",
        ),
        // Lines that go on.
        (
            "a 1 \\\n2 \\   // x\n  3\nb \\\n\nc\n",
            "    a 1 \\\n        2 \\ // x\n        3\n    b\n\n    c\n",
        ),
        // Literals, as they are written.
        (
            "a 0x10 1_000 1.50e3 +1 \"\\u{41}\" #\"\\\"# #true \"b c\"=x\n",
            "    a 0x10 1_000 1.50e3 +1 \"\\u{41}\" #\"\\\"# #true \"b c\"=x\n",
        ),
        (
            "a \"\"\"\n  x\n\n    y  \n  \"\"\" 1\n",
            "    a \"\"\"\n        x\n\n          y  \n        \"\"\" 1\n",
        ),
        ("a #\"\"\"\nx\n\"\"\"#\n", "    a #\"\"\"\n        x\n        \"\"\"#\n"),
        ("a \"\"\"\n  x \\\n    y\n  \"\"\"\n", "    a \"\"\"\n        x \\\n          y\n        \"\"\"\n"),
    ] {
        becomes(Syntax::Kdl, &kdl(before), &kdl(after));
    }
    for (before, after) in [
        (
            "\u{feff}purlin \"v1alpha1\"\r\nnode \"n\" { // x\r\n}",
            "purlin \"v1alpha1\"\nnode \"n\" { // x\n}\n",
        ),
        ("\n\n// x\n\n\npurlin v1alpha1;node n\n\n\n// y\n\n", "// x\n\npurlin v1alpha1\nnode n\n\n// y\n"),
        ("/* x */ purlin v1alpha1\nnode n", "/* x */ purlin v1alpha1\nnode n\n"),
    ] {
        becomes(Syntax::Kdl, before, after);
    }
}

#[test]
fn yaml_is_laid_out() {
    for (before, after) in [
        ("    a:   1\n    b :\n\n\n          c: x\n\n\n\n    d:\n", "  a: 1\n  b:\n    c: x\n\n  d:\n"),
        (
            "  a:\n     -   x\n     - k: v\n       l: w\n     -\n       m: n\n     - - o\n       - p\n     -\n",
            "  a:\n    - x\n    - k: v\n      l: w\n    - m: n\n    - - o\n      - p\n    -\n",
        ),
        // The file's own style of lists.
        (
            "  a:\n  - x\n  -   k:\n      - y\n  b:\n       - z\n",
            "  a:\n  - x\n  - k:\n    - y\n  b:\n  - z\n",
        ),
        // Comments.
        (
            "   a: 1    #x\n       # y\n   b: # z\n      - 1\n      # in\n    # out\n\n\n   c: 2\n# end\n",
            "  a: 1 #x\n  # y\n  b: # z\n    - 1\n    # in\n  # out\n\n  c: 2\n# end\n",
        ),
        (
            "  a:\n     # x\n     b\n  c: # y\n     d\n  e:\n  - # z\n    f: g\n  -   # u\n    h\n",
            "  a:\n    # x\n    b\n  c: # y\n    d\n  e:\n  - # z\n    f: g\n  - # u\n    h\n",
        ),
        // Scalars and brackets, as they are written.
        (
            "   a: 0x10\n   b:   'it''s'\n   c: \"\\u0041\"\n   d: [ 1,2,  {x: y} ]\n   \"e\": {}\n",
            "  a: 0x10\n  b: 'it''s'\n  c: \"\\u0041\"\n  d: [ 1,2,  {x: y} ]\n  \"e\": {}\n",
        ),
        (
            "     a: [\n       x, # c\n\n       y\n     ]\n     b:\n        {k: v,\n         l: w}\n",
            "  a: [\n    x, # c\n\n    y\n  ]\n  b: {k: v,\n   l: w}\n",
        ),
        (
            "   a: x\n            y\n\n     z\n   b: \"p \\\n        q\"\n",
            "  a: x\n    y\n\n    z\n  b: \"p \\\n    q\"\n",
        ),
        (
            "     a: |   # c\n        x\n          y\n\n\n     b: >-\n           p\n\n           q\n     c: |+\n       r\n\n\n     d: |2\n         s\n     e:\n       - |1\n          t\n",
            "  a: | # c\n    x\n      y\n\n  b: >-\n    p\n\n    q\n  c: |+\n    r\n\n\n  d: |2\n      s\n  e:\n    - |1\n       t\n",
        ),
        (
            "  a:   &x\n      k: v\n  b:  &y 1\n  c: *y\n  d:\n    -  &z\n       k: v\n    -   &u l: w\n",
            "  a: &x\n    k: v\n  b: &y 1\n  c: *y\n  d:\n    - &z\n      k: v\n    - &u l: w\n",
        ),
    ] {
        becomes(Syntax::Yaml, &yaml(before), &yaml(after));
    }
    for (before, after) in [
        (
            "\u{feff}# yaml-language-server: $schema=x\r\n\r\n%YAML 1.2\r\n---   # d\r\n\r\napiVersion:  purlin.dev/v1alpha1\r\nkind: NodeSpec\r\n...\r\n# e",
            "# yaml-language-server: $schema=x\n\n%YAML 1.2\n--- # d\n\napiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\n...\n# e\n",
        ),
        (
            "{apiVersion: purlin.dev/v1alpha1,\n   kind: NodeSpec}",
            "{apiVersion: purlin.dev/v1alpha1,\n   kind: NodeSpec}\n",
        ),
    ] {
        becomes(Syntax::Yaml, before, after);
    }
    // A space of another kind is a word's.
    becomes(Syntax::Yaml, &yaml("  a: x\u{a0}\n     \u{a0}y\n"), &yaml("  a: x\u{a0}\n    \u{a0}y\n"));
    for odd in ["  ? a\n  : b\n", "  a: &a b\n  *a : c\n"] {
        assert_eq!(formatted(Syntax::Yaml, &yaml(odd)), Rewritten::NoForm, "{odd}");
    }
}

#[test]
fn a_large_text_is_laid_out_in_time() {
    let many = 200 * 1024;
    for (syntax, text) in [
        (Syntax::Kdl, kdl(&"a\n".repeat(9_000))),
        (Syntax::Kdl, kdl(&format!("a {{{}}}\n", "b;".repeat(9_000)))),
        (Syntax::Kdl, kdl(&format!("{}b;{}\n", "a { c;".repeat(60), "}".repeat(60)))),
        (Syntax::Kdl, kdl(&format!("a {} 1\n", "/**/ ".repeat(many / 5)))),
        (Syntax::Kdl, kdl(&"/**/ ".repeat(many / 5))),
        (Syntax::Kdl, kdl(&format!("a{}\n", " \\ // x\n 1".repeat(10_000)))),
        (Syntax::Kdl, kdl(&format!("a{}\n", " /- 1".repeat(20_000)))),
        (Syntax::Kdl, kdl(&"// x\n".repeat(many / 10))),
        (Syntax::Kdl, kdl(&format!("a \"\"\"\n{}  \"\"\"\n", "  x\n".repeat(many / 10)))),
        (Syntax::Kdl, kdl(&"a \"\"\"\n x\n \"\"\"\n".repeat(5_000))),
        (Syntax::Kdl, kdl(&format!("/*{}*/\n", " *\n".repeat(many / 8)))),
        (Syntax::Yaml, yaml(&format!("  a:\n{}", "    - b\n".repeat(9_000)))),
        (Syntax::Yaml, yaml(&format!("  a: [{}]\n", "b,\n".repeat(9_000)))),
        (Syntax::Yaml, yaml(&format!("  a:\n{}    b: c\n", "    # x\n".repeat(9_000)))),
        (Syntax::Yaml, yaml(&format!("  a: b\n{}", "  # x\n".repeat(9_000)))),
        (Syntax::Yaml, yaml(&format!("  a: |\n{}", "     x\n".repeat(many / 8)))),
        (Syntax::Yaml, yaml(&format!("  a: x\n{}", "     x\n".repeat(many / 8)))),
        (Syntax::Yaml, yaml(&format!("  a:\n   {} b\n", "- ".repeat(58)))),
    ] {
        let begun = std::time::Instant::now();
        let written = formatted(syntax, &text);
        assert!(matches!(written, Rewritten::Text(_) | Rewritten::Same), "{text:.80}");
        let took = begun.elapsed();
        if std::env::var_os("SHOW_TIMES").is_some() {
            println!("{took:?} {text:.80}");
        }
        // Far more than it takes, in a debug build on a busy machine.
        assert!(took.as_secs() < 20, "{took:?} for {text:.80}");
    }
}

#[test]
fn what_would_get_too_long_is_left_alone() {
    let text = kdl(&"// x\n".repeat(45_000));
    assert_eq!(formatted(Syntax::Kdl, &text), Rewritten::NoForm);
}

/// What v1alpha0 would have been: `count` was called `howMany`, and there was a version before it.
fn rename(doc: &Doc, syntax: Syntax) -> Vec<Edit> {
    let (old, new) = if syntax == Syntax::Kdl { ("how-many", "count") } else { ("howMany", "count") };
    let spec = doc.root.get("spec").map(Value::entries).unwrap_or_default();
    let found = spec.iter().filter(|e| e.key == old);
    found.map(|e| Edit { span: e.key_span, from: old.to_owned(), to: new.to_owned() }).collect()
}

const MIGRATIONS: &[Migration] = &[
    Migration { from: "v1alpha0", to: "v1alpha1", edits: rename },
    Migration { from: "v0", to: "v1alpha0", edits: |_, _| Vec::new() },
    Migration { from: "circle", to: "circle", edits: |_, _| Vec::new() },
    Migration {
        from: "broken",
        to: "v1alpha1",
        edits: |doc, _| vec![Edit { span: doc.root.span, from: "kind".to_owned(), to: "[".to_owned() }],
    },
    Migration { from: "nowhere", to: "v9", edits: |_, _| Vec::new() },
];

fn migrated(syntax: Syntax, text: &str) -> (Rewritten, Findings) {
    let mut sources = Sources::default();
    let file = sources.add("spec", text);
    let mut findings = Findings::new();
    let rewritten = migrate(&sources, file, syntax, &schema(), MIGRATIONS, &mut findings);
    (rewritten, findings)
}

#[test]
fn an_old_version_is_rewritten_and_nothing_else() {
    let kdl = "// x\npurlin   \"v1alpha0\"\nnode \"n\" {\n\thow-many   0x10 // how-many\n  /- how-many 2\n crew\n}\n";
    let yaml =
        "# v1alpha0\napiVersion:   'purlin.dev/v1alpha0'\nkind: NodeSpec\nspec:\n    howMany:  0x10   # y\n";
    let json = "{ \"apiVersion\":\"purlin.dev/v1alpha0\", \"kind\":\"NodeSpec\",\"spec\":{\"howMany\":1}}";
    for (syntax, text, from, to) in [
        (Syntax::Kdl, kdl, "\thow-many", "\tcount"),
        (Syntax::Yaml, yaml, "howMany", "count"),
        (Syntax::Json, json, "howMany", "count"),
    ] {
        let wanted = text.replacen(from, to, 1);
        let at = wanted.rfind("v1alpha0").unwrap();
        let wanted = format!("{}v1alpha1{}", &wanted[..at], &wanted[at + 8..]);
        let (old, older) = (text.to_owned(), text.replace("v1alpha0", "v0"));
        for (text, wanted) in [(old, wanted.clone()), (older, wanted.replacen("# v1alpha0", "# v0", 1))] {
            let (rewritten, findings) = migrated(syntax, &text);
            assert_eq!(rewritten, Rewritten::Text(wanted.clone()), "{text}");
            assert!(findings.is_empty());
            assert_eq!(migrated(syntax, &wanted).0, Rewritten::Same);
        }
    }
    let yaml = |word: &str| format!("apiVersion: {word}\nkind: NodeSpec\n");
    for word in ["purlin.dev/v7", "v1alpha0", "1", "other.dev/v1alpha0"] {
        let (rewritten, findings) = migrated(Syntax::Yaml, &yaml(word));
        assert!(rewritten == Rewritten::Unsound && findings.len() == 1, "{word} {rewritten:?} {findings:?}");
    }
    for text in ["", "kind: NodeSpec\n", "apiVersion: [\n"] {
        let (rewritten, findings) = migrated(Syntax::Yaml, text);
        assert!(rewritten == Rewritten::Unsound && findings.has_errors(), "{text} {rewritten:?}");
    }
    // Tables that are no good.
    for word in ["circle", "broken", "nowhere"] {
        assert_eq!(
            migrated(Syntax::Yaml, &yaml(&format!("purlin.dev/{word}"))).0,
            Rewritten::Fault,
            "{word}"
        );
    }
}

const UGLY: &str = "purlin   \"v1alpha1\"\nnode \"n\" { // x\n  devices\n}";
const TIDY: &str = "purlin \"v1alpha1\"\nnode \"n\" { // x\n    devices\n}\n";
const BROKEN: &str = "purlin \"v1alpha1\"\nnode \"n\" {\n";

fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// Exit code, stdout and stderr.
fn ran(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = purlin(dir, arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The same with a text on stdin.
fn fed(dir: &Path, arguments: &[&str], text: &str) -> (i32, String, String) {
    use std::io::Write;
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_purlin"))
        .args(arguments)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that looks at its arguments first reads none of it.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn fmt_writes_in_place_or_says_what_it_would() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let dir = directory(&[
        ("ugly.kdl", UGLY),
        ("tidy.kdl", TIDY),
        ("broken.kdl", BROKEN),
        ("x.json", "{\"apiVersion\": 1}"),
    ]);
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let path = dir.path().join("ugly.kdl");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("ugly.kdl", dir.path().join("link.kdl")).unwrap();

    let (code, out, err) = ran(dir.path(), &["fmt", "--check", "ugly.kdl", "tidy.kdl"]);
    assert_eq!((code, out.as_str(), err.as_str()), (1, "ugly.kdl\n", ""));
    let (code, out, err) = ran(dir.path(), &["fmt", "--diff", "tidy.kdl", "ugly.kdl"]);
    assert!(code == 1 && err.is_empty() && out.starts_with("--- ugly.kdl\n+++ ugly.kdl\n@@ "), "{out}{err}");
    assert!(out.contains("-purlin   \"v1alpha1\"\n+purlin \"v1alpha1\"\n"), "{out}");
    assert_eq!(ran(dir.path(), &["fmt", "--check", "tidy.kdl"]), (0, String::new(), String::new()));
    assert_eq!(read("ugly.kdl"), UGLY);

    // One that cannot be laid out keeps no other from it.
    let (code, out, err) = ran(dir.path(), &["fmt", "broken.kdl", "link.kdl", "tidy.kdl"]);
    assert!(code == 1 && out.is_empty() && err.contains("a block is never closed"), "{out}{err}");
    assert!(err.contains("formatted link.kdl\n") && !err.contains("tidy"), "{err}");
    assert_eq!((read("ugly.kdl").as_str(), read("broken.kdl").as_str()), (TIDY, BROKEN));
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
    assert!(std::fs::symlink_metadata(dir.path().join("link.kdl")).unwrap().is_symlink());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 5);

    let (code, _, err) = ran(dir.path(), &["fmt", "gone.kdl", "broken.kdl"]);
    assert!(code == 2 && err.contains("see that the path is right") && err.contains("PUR0001"), "{err}");
    // Of a directory, all specs in it.
    let (code, _, err) = ran(dir.path(), &["fmt", "--check", "."]);
    assert!(code == 1 && err.contains("PUR0001") && err.contains("broken.kdl"), "{err}");
    let (code, _, err) = ran(dir.path(), &["fmt", "-"]);
    assert!(code == 2 && err.contains("say `--syntax kdl`"), "{err}");
}

#[test]
fn what_is_no_spec_is_left_alone() {
    let deep = format!("purlin \"v1alpha1\"\nnode \"n\" {{\n{}{}}}\n", "a {".repeat(70), "}".repeat(70));
    let dashes = "/-".repeat(5_000);
    for (name, bytes) in [
        ("a.kdl", b"".as_slice()),
        ("a.kdl", b"\xff\xfe"),
        ("a.kdl", b"purlin \"v1alpha1\"\nnode \"n\" { a \"\0\" }"),
        ("a.kdl", b"purlin \"v1alpha1\"\nnode \"n\" { (t)a }"),
        ("a.kdl", b"purlin \"v1alpha1\"\nnode \"n\" { a \"\"\"\nb\n \"\"\" }"),
        ("a.kdl", deep.as_bytes()),
        ("a.kdl", dashes.as_bytes()),
        ("a.kdl", b"apiVersion: purlin.dev/v1alpha1\n"),
        ("a.yaml", b""),
        ("a.yaml", b"apiVersion: purlin.dev/v1alpha1\nkind: !!str NodeSpec\n"),
        ("a.yaml", b"apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\n---\na: 1\n"),
        ("a.yaml", b"apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nspec: *x\n"),
        ("a.yaml", b"apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nspec:\n\t- a\n"),
        ("a.yaml", b"- a\n"),
    ] {
        let dir = directory(&[]);
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        for command in ["fmt", "migrate", "convert"] {
            let mut arguments = vec![command, name];
            arguments.extend(if command == "convert" { &["--to", "yaml"] as &[&str] } else { &[] });
            let (code, out, err) = ran(dir.path(), &arguments);
            let shown = String::from_utf8_lossy(bytes);
            // An old or new version is all that `migrate` asks for.
            let sound = command == "migrate" && code == 0;
            assert!(
                sound || code == 1 && out.is_empty() && err.contains("PUR0"),
                "{command} {shown:.80}: {err}"
            );
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "{command} {shown:.80}");
        }
    }
}

#[test]
fn fmt_does_not_write_to_what_is_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = directory(&[("node.kdl", UGLY)]);
    let path = dir.path().join("node.kdl");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let (code, _, err) = ran(dir.path(), &["fmt", "node.kdl"]);
    assert!(code == 2 && err.contains("`node.kdl` is read-only; make it writable"), "{err}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), UGLY);
}

#[test]
fn fmt_reads_stdin_and_writes_stdout() {
    let dir = directory(&[]);
    let (code, out, err) = fed(dir.path(), &["fmt", "-", "--syntax", "kdl"], UGLY);
    assert_eq!((code, out.as_str(), err.as_str()), (0, TIDY, ""));
    assert_eq!(fed(dir.path(), &["fmt", "-", "--syntax", "kdl"], TIDY), (0, TIDY.to_owned(), String::new()));
    let (code, out, _) = fed(dir.path(), &["fmt", "-", "--check", "--syntax", "kdl"], UGLY);
    assert_eq!((code, out.as_str()), (1, "stdin\n"));
    let (code, out, err) = fed(dir.path(), &["fmt", "-", "--syntax", "kdl"], BROKEN);
    assert!(code == 1 && out.is_empty() && err.contains("PUR0001"), "{out}{err}");
    let json = "{\"apiVersion\": \"purlin.dev/v1alpha1\", \"kind\": \"NodeSpec\"}";
    let (code, out, err) = fed(dir.path(), &["fmt", "-", "--syntax", "json"], json);
    assert!(code == 0 && out == json && err.contains("JSON has no layout"), "{out}{err}");
}

#[test]
fn a_diff_shows_no_credentials() {
    let dir = directory(&[(
        "node.kdl",
        "purlin \"v1alpha1\"\nnode \"n\" { runtimes {\n registry \"a.b\" { mirror \"https://me:s3cr3t@h\"; }\n} }\n",
    )]);
    let (code, out, err) = ran(dir.path(), &["fmt", "--diff", "node.kdl"]);
    assert!(code == 1 && !out.contains("s3cr3t") && out.contains("******@h"), "{out}{err}");
}

#[test]
fn convert_writes_each_syntax() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir =
        directory(&[("broken.kdl", BROKEN), ("shape.kdl", "purlin \"v1alpha1\"\nnode \"n\" { chair; }\n")]);
    for name in ["laptop", "edge", "gpu-sim"] {
        let example = |ending: &str| root.join(format!("examples/{name}.{ending}")).display().to_string();
        let (code, yaml, err) = ran(dir.path(), &["convert", &example("kdl"), "--to", "yaml"]);
        assert!(code == 0 && err.is_empty(), "{err}");
        assert!(yaml.starts_with("# yaml-language-server: $schema=https://purlin.dev/schemas/"), "{yaml}");
        let (code, kdl, err) = fed(dir.path(), &["convert", "-", "--syntax", "yaml", "--to", "kdl"], &yaml);
        assert!(code == 0 && err.is_empty(), "{err}");
        // The line for editors is there once.
        let (_, again, _) = fed(dir.path(), &["convert", "-", "--syntax", "kdl", "--to", "yaml"], &kdl);
        assert_eq!(again.matches("yaml-language-server").count(), 1, "{again}");
        let (code, _, err) =
            ran(dir.path(), &["convert", &example("yaml"), "--to", "json", "-o", "out.json"]);
        assert!(code == 0 && err.ends_with(" comments are left out, as JSON has none\n"), "{err}");
        let (code, _, err) = ran(dir.path(), &["convert", "out.json", "--to", "kdl", "-o", "out.kdl"]);
        assert!(code == 0 && err.is_empty(), "{err}");
        // What is written has the one layout, and says what the example says.
        let (code, _, err) = ran(dir.path(), &["fmt", "--check", "out.kdl"]);
        assert!(code == 0, "{err}");
        let render = |spec: &str, out: &str| {
            let facts = example("facts.json");
            let output = purlin(dir.path(), &["diff", spec, "--facts", &facts, "--format", "json"]);
            let text = String::from_utf8(output.stdout).unwrap();
            let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(!json["steps"].as_array().unwrap().is_empty(), "{out}");
            fn bare(json: &mut serde_json::Value) {
                if let Some(map) = json.as_object_mut() {
                    for key in ["origin", "file", "line", "sources"] {
                        map.remove(key);
                    }
                    map.values_mut().for_each(bare);
                }
                json.as_array_mut().into_iter().flatten().for_each(bare);
            }
            bare(&mut json);
            json
        };
        assert_eq!(render("out.kdl", "converted"), render(&example("kdl"), "example"));
    }
    for spec in ["broken.kdl", "shape.kdl"] {
        let output = purlin(dir.path(), &["convert", spec, "--to", "yaml", "-o", "never.yaml"]);
        let text = said(&output);
        assert!(output.status.code() == Some(1) && text.contains("PUR0"), "{text}");
        assert!(!dir.path().join("never.yaml").exists());
    }
    for arguments in [
        ["convert", "gone.kdl", "--to", "yaml", "-o", "out.yaml"],
        ["convert", "out.kdl", "--to", "yaml", "-o", "out.json"],
        ["convert", "out.kdl", "--to", "yaml", "-o", "."],
        ["convert", "out.kdl", "--to", "yaml", "-o", "gone/out.yaml"],
    ] {
        assert_eq!(ran(dir.path(), &arguments).0, 2, "{arguments:?}");
    }
}

#[test]
fn migrate_says_that_there_is_nothing_to_do() {
    let dir = directory(&[("node.kdl", UGLY), ("old.kdl", "purlin \"v1alpha0\"\nnode \"n\"\n")]);
    for arguments in [&["migrate", "node.kdl"] as &[&str], &["migrate", "--check", "node.kdl"]] {
        let (code, out, err) = ran(dir.path(), arguments);
        assert_eq!(
            (code, out.as_str(), err.as_str()),
            (0, "", "node.kdl is of the newest version, nothing to do\n")
        );
    }
    let (code, out, err) = ran(dir.path(), &["migrate", "old.kdl"]);
    assert!(code == 1 && out.is_empty() && err.contains("PUR0004"), "{err}");
    assert_eq!(std::fs::read_to_string(dir.path().join("node.kdl")).unwrap(), UGLY);
}

/// The layout of the examples is the one that users see first.
#[test]
fn the_examples_are_laid_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files =
        std::fs::read_dir(root.join("examples")).unwrap().map(|e| e.unwrap().path().display().to_string());
    let specs: Vec<String> = files.filter(|f| f.ends_with(".kdl") || f.ends_with(".yaml")).collect();
    let mut arguments = vec!["fmt", "--diff"];
    arguments.extend(specs.iter().map(String::as_str));
    let (code, out, err) = ran(root, &arguments);
    assert!(code == 0 && !specs.is_empty(), "{out}{err}");
}
