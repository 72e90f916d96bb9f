//! Laying specs out, writing them in another syntax, and rewriting old ones: what is written stays, whatever it is.

mod common {
    pub mod documents;
    pub mod schema;
}

use common::documents::{Shown, comments, documents, soup, write};
use common::schema::schema;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use purlin::diag::{Findings, Sources};
use purlin::source::{Comments, Doc, Rewritten, Syntax, Value, convert, format, parse};

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
        Rewritten::Unsound | Rewritten::NoLayout => Ok(None),
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
fn damaged(text: &str, put: &[&'static str], damage: &[(Index, Index)]) -> String {
    let mut text = text.to_owned();
    for (at, what) in damage {
        let places: Vec<usize> = text.match_indices([' ', '\n']).map(|(i, _)| i).collect();
        if !places.is_empty() {
            let at = places[at.index(places.len())];
            text.replace_range(at..at + 1, put[what.index(put.len())]);
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("CASES").map_or(300, |c| c.parse().unwrap()), failure_persistence: None, ..ProptestConfig::default() })]

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
        Shown(doc) in documents(), damage in vec(any::<(Index, Index)>(), 1..8)
    ) {
        for (syntax, put) in [(Syntax::Kdl, KDL_DAMAGE), (Syntax::Yaml, YAML_DAMAGE)] {
            // A text that all of it breaks may take some of it.
            for count in 1..=damage.len() {
                holds(syntax, &damaged(&write(syntax, &doc), put, &damage[..count]))?;
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
