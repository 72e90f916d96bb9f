//! The walls of the house: what is pure stays pure, sections do not know each other, and `source/` knows no section.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules that touch the world; everything else under src/ is pure.
const SHELL: &[&str] = &["cli", "host"];
const SECTIONS: &[&str] = &[
    "admission",
    "devices",
    "kubelet",
    "networks",
    "policies",
    "runtimes",
    "scheduling",
    "system",
    "volumes",
];
/// What a pure module must not mention. Clippy sees calls; this sees imports and paths that it has no rule for.
const WORLD: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net::Tcp",
    "std::net::Udp",
    "std::os::unix::net",
    "std::process",
    "SystemTime",
    "Instant::now",
    "tokio::",
    "tower_lsp",
    "rtnetlink",
    "rustix::",
    "crate::host",
    "crate::cli",
    "std::io::std",
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(below: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![below.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(src()).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The code of a file: without comments, and without the tests at its end.
fn code(text: &str) -> String {
    let body = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    body.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn is_shell(name: &str) -> bool {
    SHELL.iter().any(|s| name.starts_with(&format!("{s}/"))) || name == "main.rs" || name.starts_with("bin/")
}

fn is_test(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.ends_with("/test.rs")
}

#[test]
fn pure_modules_do_not_mention_the_world() {
    let mut wrong = Vec::new();
    for (name, text) in files(&src()) {
        if is_shell(&name) || is_test(&name) || name == "lib.rs" {
            continue;
        }
        let code = code(&text);
        wrong.extend(WORLD.iter().filter(|w| code.contains(**w)).map(|w| format!("src/{name} mentions {w}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_pure_module_denies_the_lint() {
    let lib = fs::read_to_string(src().join("lib.rs")).unwrap();
    assert!(lib.contains("#![deny(clippy::disallowed_methods, clippy::disallowed_types)]"));
    for (name, text) in files(&src()) {
        let allows = text.contains("allow(clippy::disallowed");
        assert!(!allows || is_shell(&name) || is_test(&name), "src/{name} lifts the ban without being shell");
    }
}

#[test]
fn sections_do_not_import_each_other() {
    for section in SECTIONS {
        for (name, text) in files(&src().join(section)) {
            for other in SECTIONS.iter().filter(|o| *o != section) {
                assert!(!code(&text).contains(&format!("crate::{other}")), "src/{name} imports {other}");
            }
        }
    }
}

#[test]
fn the_source_side_knows_no_section() {
    for (name, text) in files(&src().join("source")) {
        let code = code(&text);
        for section in SECTIONS {
            assert!(!code.contains(&format!("\"{section}\"")), "src/{name} names the section {section}");
            assert!(!code.contains(&format!("crate::{section}")), "src/{name} imports {section}");
        }
        assert!(
            !code.contains("crate::spec") && !code.contains("crate::plan"),
            "src/{name} looks downstream"
        );
    }
}

#[test]
fn the_editor_knows_no_section_and_nothing_of_plans() {
    for (name, text) in files(&src().join("editor")) {
        if is_test(&name) {
            continue;
        }
        let code = code(&text);
        for section in SECTIONS {
            assert!(!code.contains(&format!("\"{section}\"")), "src/{name} names the section {section}");
            assert!(!code.contains(&format!("crate::{section}")), "src/{name} imports {section}");
        }
        assert!(
            !code.contains("crate::plan") && !code.contains("crate::facts"),
            "src/{name} looks downstream"
        );
    }
}

#[test]
fn folders_are_at_most_three_deep() {
    for (name, _) in files(&src()) {
        assert!(name.matches('/').count() <= 2, "src/{name} is too deep");
    }
}
