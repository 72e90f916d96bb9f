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
