//! The command line beyond its commands: help, completion, manual pages, and what is written about it elsewhere.

#[path = "common/cli.rs"]
mod cli;

use clap::Command;
use cli::{purlin, said};
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

#[cfg(feature = "man")]
#[test]
fn every_command_has_a_manual_page() {
    let dir = tempfile::tempdir().unwrap();
    let out = purlin(dir.path(), &["man", "pages/man1"]);
    assert!(out.status.success() && said(&out).is_empty(), "{}", said(&out));
    let root = command();
    let mut expected: Vec<_> =
        commands(&root).iter().map(|command| format!("purlin-{}.1", command.get_name())).collect();
    expected.push("purlin.1".to_owned());
    expected.sort();
    let pages = dir.path().join("pages/man1");
    let mut names: Vec<_> = std::fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, expected);
    for name in &names {
        let page = std::fs::read_to_string(pages.join(name)).unwrap();
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(page.contains(&format!("\n.SH {section}\n")), "{name} has no {section}");
        }
        assert!(page.contains(&format!(".TH {} 1", name.trim_end_matches(".1"))), "{name}: {page}");
    }
    let main = std::fs::read_to_string(pages.join("purlin.1")).unwrap();
    for word in ["EXIT STATUS", "FILES", "ENVIRONMENT", "NO_COLOR", "GITHUB_STEP_SUMMARY", "COLUMNS"] {
        assert!(main.contains(word), "{word}");
    }
    assert_eq!(purlin(dir.path(), &["man"]).stdout, main.as_bytes());
    // What cannot be written is said.
    std::fs::write(dir.path().join("file"), "").unwrap();
    let out = purlin(dir.path(), &["man", "file"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(said(&out).contains("`file`"), "{}", said(&out));
}

/// What fish would be told to offer after these words.
fn offered(words: &[&str]) -> Vec<String> {
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_purlin"))
        .env("PURLIN_COMPLETE", "fish")
        .args(["--", "purlin"])
        .args(words)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", said(&out));
    let text = String::from_utf8(out.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn completion_offers_codes_paths_and_documents() {
    let codes = offered(&["explain", "PUR01"]);
    assert!(codes.len() > 5 && codes.iter().all(|code| code.starts_with("PUR01")), "{codes:?}");
    assert_eq!(offered(&["explain", "pur0101"]), ["PUR0101"]);
    assert_eq!(offered(&["explain", "networks.pods.bri"]), ["networks.pods.bridge"]);
    assert!(offered(&["explain", ""]).contains(&"networks".to_owned()));
    assert_eq!(offered(&["explain", "é"]), [""; 0]);
    assert_eq!(offered(&["schema", "dia"]), ["diagnostics"]);
    assert_eq!(offered(&["observe", "--platform", "gen"]), ["generic"]);
}

#[test]
fn scripts_for_completion() {
    let here = std::path::Path::new(".");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let fixed = purlin(here, &["completion", shell]);
        assert!(fixed.status.success() && !fixed.stdout.is_empty(), "{shell}: {}", said(&fixed));
        assert!(!said(&fixed).contains("PURLIN_COMPLETE"), "{shell}");
        let asking = purlin(here, &["completion", shell, "--dynamic"]);
        assert!(asking.status.success() && said(&asking).contains("PURLIN_COMPLETE"), "{}", said(&asking));
    }
    // Set to nothing, or to 0, or what is not a shell: no answer where none was asked for, and no noise.
    for (value, code) in [("", 0), ("0", 0), ("nonsense", 2)] {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_purlin"))
            .env("PURLIN_COMPLETE", value)
            .arg("--version")
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(code), "{value}");
        assert!(out.stderr.is_empty() && out.stdout.is_empty() == (code == 2), "{value}: {}", said(&out));
    }
}

/// All scripts in a CI system's file: what stands at `run` and `script`.
fn scripts(value: &serde_yaml::Value, found: &mut Vec<String>) {
    if let Some(map) = value.as_mapping() {
        for (key, inner) in map {
            match key.as_str() {
                Some("run") => found.push(inner.as_str().unwrap().to_owned()),
                Some("script") => {
                    found.extend(inner.as_sequence().unwrap().iter().map(|l| l.as_str().unwrap().to_owned()));
                }
                _ => scripts(inner, found),
            }
        }
    }
    for inner in value.as_sequence().into_iter().flatten() {
        scripts(inner, found);
    }
}

/// The purlin commands of a script, as arguments. What an array holds stands for the array.
fn purlin_lines(script: &str) -> Vec<Vec<String>> {
    let arrays = |name: &str| -> Vec<String> {
        let starts = [format!("{name}=("), format!("{name}+=(")];
        script
            .lines()
            .flat_map(|line| starts.iter().filter_map(move |start| line.split(start.as_str()).nth(1)))
            .flat_map(|rest| words(rest.split(')').next().unwrap()))
            .collect()
    };
    let mut found = Vec::new();
    for line in script.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let all = words(line);
        let Some(at) = all.iter().position(|word| word == "purlin") else { continue };
        let operator = |word: &String| ["||", "&&", "|", ">", ";"].contains(&word.as_str());
        let line = all[at..].iter().take_while(|word| !operator(word));
        found.push(
            line.flat_map(|word| match word.strip_prefix("${").and_then(|w| w.strip_suffix("[@]}")) {
                Some(name) => arrays(name),
                None => vec![word.clone()],
            })
            .collect(),
        );
    }
    found
}

const CI: [(&str, usize); 3] =
    [("examples/ci/github.yml", 3), ("examples/ci/gitlab.yml", 2), ("examples/ci/action/action.yml", 2)];

#[test]
fn what_ci_examples_run_is_understood() {
    for (path, count) in CI {
        let mut found = Vec::new();
        scripts(&yaml(path), &mut found);
        // What is only proposed, in a comment, is held to it as well.
        let text =
            std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let proposed = text.lines().filter_map(|line| line.trim_start().strip_prefix("# - run: "));
        found.extend(proposed.map(ToOwned::to_owned));
        let mut lines = 0;
        for script in &found {
            // An expression in a script is a hole for whoever may choose a branch's name.
            assert!(!script.contains("${{"), "{path}: {script}");
            for line in purlin_lines(script) {
                command().try_get_matches_from(&line).unwrap_or_else(|e| panic!("{path}: {line:?}: {e}"));
                lines += 1;
            }
        }
        assert_eq!(lines, count, "{path}");
    }
    let action = yaml(CI[2].0);
    for step in action["runs"]["steps"].as_sequence().unwrap() {
        assert_eq!(step["shell"].as_str(), Some("bash"), "a step of a composite action names its shell");
    }
    for input in ["specs", "against", "tree"] {
        assert!(action["inputs"][input]["description"].is_string(), "{input}");
    }
}

/// The action's scripts with names that a careless one would run.
#[test]
fn the_action_runs() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let odd = "fl eet$(touch owned)'";
    for sub in ["nodes", "parts"] {
        std::fs::create_dir_all(at(odd).join(sub)).unwrap();
    }
    for file in ["nodes/edge-a.kdl", "nodes/edge-b.kdl", "parts/base.kdl"] {
        let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/fleet").join(file);
        std::fs::copy(from, at(odd).join(file)).unwrap();
    }
    let git = |arguments: &[&str]| {
        let out = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", said(&out));
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "one"]);
    let node = at(odd).join("nodes/edge-b.kdl");
    let text = std::fs::read_to_string(&node).unwrap();
    let changed = text.replace("9000", "1450");
    assert_ne!(changed, text);
    std::fs::write(&node, changed).unwrap();
    // A stand-in for gh, which keeps what it was told.
    std::fs::create_dir(at("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_purlin"), at("bin/purlin")).unwrap();
    std::fs::write(at("bin/gh"), "#!/bin/sh\nprintf '%s\\n' \"$@\" > told\ntest -z \"$DENIED\"\n").unwrap();
    std::fs::set_permissions(at("bin/gh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();

    let action = yaml(CI[2].0);
    let step = |index: usize, env: &[(&str, &str)]| {
        let script = action["runs"]["steps"][index]["run"].as_str().unwrap();
        let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
        std::process::Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
            .current_dir(dir.path())
            .env("PATH", path)
            .env("RUNNER_TEMP", dir.path())
            .env("GITHUB_STEP_SUMMARY", at("summary.md"))
            .env("NUMBER", "7")
            .envs(env.iter().copied())
            .output()
            .unwrap()
    };
    let specs = format!("\n{odd}\n");
    let given = [("SPECS", specs.as_str()), ("TREE", ""), ("AGAINST", "HEAD")];
    let check = step(0, &given);
    assert!(check.status.success(), "{}", said(&check));
    let diff = step(1, &given);
    assert!(diff.status.success() && said(&diff).contains("edge-b"), "{}", said(&diff));
    let summary = std::fs::read_to_string(at("summary.md")).unwrap();
    assert!(summary.contains("edge-b") && summary.contains("1450"), "{summary}");
    let comment = step(2, &[]);
    assert!(comment.status.success() && comment.stdout.is_empty(), "{}", said(&comment));
    assert!(std::fs::read_to_string(at("told")).unwrap().starts_with("pr\ncomment\n7\n--edit-last\n"));
    let denied = step(2, &[("DENIED", "1")]);
    assert!(denied.status.success() && said(&denied).starts_with("::warning::"), "{}", said(&denied));
    // A tree of its own, and what cannot be said: the step fails with it.
    let named = format!("{odd}/nodes/edge-b.kdl");
    let with_tree = [("SPECS", named.as_str()), ("TREE", odd), ("AGAINST", "HEAD")];
    let out = step(0, &with_tree);
    assert!(out.status.success(), "{}", said(&out));
    let out = step(1, &[("SPECS", odd), ("TREE", ""), ("AGAINST", "--output=owned")]);
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
    assert!(!at("owned").exists() && !dir.path().join("owned)'").exists());
}
