//! The command line beyond its commands: help, completion, manual pages, and what is written about it elsewhere.

use clap::Command;
use purlin::cli::command;

/// The commands in the order in which help shows them.
fn commands(root: &Command) -> Vec<&Command> {
    root.get_subcommands().collect()
}

#[test]
fn help_is_short_and_in_readmes_order() {
    let root = command();
    let readme = include_str!("../README.md");
    let table = readme.split("## Commands").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut at = 0;
    for command in commands(&root) {
        let name = command.get_name();
        let about = command.get_about().unwrap_or_else(|| panic!("{name} says nothing")).to_string();
        assert!(!about.contains('\n') && about.chars().count() <= 80, "{name}: {about}");
        let row = table.find(&format!("| `purlin {name}")).unwrap_or_else(|| panic!("README lacks {name}"));
        assert!(row > at, "README has {name} elsewhere");
        at = row;
        // What does not fit is in the long form, which begins with the short one.
        if let Some(long) = command.get_long_about() {
            assert!(long.to_string().starts_with(about.trim_end_matches('.')), "{name}: {long}");
        }
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty() && help.chars().count() <= 120, "{name} {}: {help}", argument.get_id());
        }
    }
}

/// The words of a command line that has nothing in it that only a shell understands, besides quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn yaml(path: &str) -> serde_yaml::Value {
    let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn hooks_name_commands_that_are_there() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hooks = hooks.as_sequence().unwrap();
    assert_eq!(hooks.len(), 2);
    for hook in hooks {
        let text = |key: &str| hook[key].as_str().unwrap_or_else(|| panic!("no {key}: {hook:?}"));
        assert!(!text("name").is_empty() && !text("description").is_empty());
        assert_eq!(text("language"), "system");
        assert_eq!(text("id").replace('-', " "), text("entry"));
        let mut line = words(text("entry"));
        if let Some(args) = hook["args"].as_sequence() {
            line.extend(args.iter().map(|a| a.as_str().unwrap().to_owned()));
        }
        if hook["pass_filenames"].as_bool() != Some(false) {
            line.extend(["a.kdl".to_owned(), "b c.yaml".to_owned()]);
        }
        command().try_get_matches_from(&line).unwrap_or_else(|e| panic!("{line:?}: {e}"));
        // The pattern as YAML has it, not as a double-quoted string would change it.
        assert!(text("files").contains("kdl") && text("files").contains(r"\."), "{}", text("files"));
    }
}
