//! Output for CI systems, silencers and fixes, as a user runs them over files with names that nobody should give.
//!
//! `PURLIN_BLESS=1 cargo test --test formats` writes tests/formats/ anew.

use purlin::diag::Code;
use serde_json::Value as Json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory with specs in it, and a step's summary.
struct Desk(tempfile::TempDir);

const ODD: &str = "odd, 100%: <a> & `b`.kdl";
const YAML: &str = "名前/node.yaml";

const ODD_TEXT: &str = r#"purlin "v1alpha1"
node "edge-a" {
    // 🚒 é
    label "🚒" "x" "y"; runtims {
    }
    networks {
        network "pods" default=true {
            bridge name="cni0" mtu=1450 mtu=1500
            ipam { range "10.22.0.0/33"; }
        }
    }
    adopt "/etc/cni/net.d/](http:evil.example)" "drop"
}
"#;
const YAML_TEXT: &str = "apiVersion: purlin.dev/v1alpha1
kind: NodeSpec
metadata:
  name: edge-b
spec:
  networks:
    # purlin: allow PUR0203 because another program brings every pod's network
    pods:
      bridge:
        name: cni0
      ipam:
        ranges:
          # purlin: allow PUR0214
          - subnet: 10.22.0.0/24
  runtimes:
    registries:
      docker.io:
        mirrors:
          - url: https://mirror.example
";
const GOOD: &str = "purlin \"v1alpha1\"\nnode \"edge-c\"\n";
const PODS: &str = r#"purlin "v1alpha1"
node "edge-a" {
    adopt "/etc/cni/net.d/10-purlin-pods.conflist" "replace"
    networks {
        network "pods" default=#true {
            bridge name="cni0"
            ipam { range "10.22.0.0/24"; }
        }
    }
}
"#;

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            desk.write(name, text);
        }
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_purlin"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("NO_COLOR", "1")
            .env("GITHUB_STEP_SUMMARY", self.path("summary.md"))
            .output()
            .unwrap()
    }

    fn out(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn err(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// Compares with what was reviewed, or writes it.
fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(name);
    if std::env::var_os("PURLIN_BLESS").is_some() {
        std::fs::write(path, found).unwrap();
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == found,
        "{name} is now:\n{found}\nlook at it, then: PURLIN_BLESS=1 cargo test --test formats"
    );
}

/// The SARIF as reviewed: without the pages, which are long and have tests of their own, and without the version.
fn sarif(text: &str) -> String {
    let mut log: Json = serde_json::from_str(text).unwrap();
    let schema: Json = serde_json::from_str(include_str!("formats/sarif-subset.schema.json")).unwrap();
    let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(&log).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert_eq!(wrong, Vec::<String>::new());
    let driver = &mut log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["version"], env!("CARGO_PKG_VERSION"));
    driver["version"] = "V".into();
    for rule in driver["rules"].as_array_mut().unwrap() {
        let code = Code::parse(rule["id"].as_str().unwrap()).unwrap();
        assert_eq!(rule["help"]["markdown"], code.page());
        let full = rule["fullDescription"]["text"].as_str().unwrap();
        assert!(
            code.page().contains(full) && !full.starts_with('#') && !full.contains("\n#") && full.len() > 40,
            "{full}"
        );
        rule["help"] = serde_json::json!({"text": "the page"});
        rule["fullDescription"] = serde_json::json!({"text": "its words"});
    }
    format!("{log:#}\n")
}

#[test]
fn a_check_in_every_format() {
    let desk = Desk::new(&[(ODD, ODD_TEXT), (YAML, YAML_TEXT), ("good.kdl", GOOD)]);
    let odd = format!("./{ODD}");
    let run = |format| desk.out(&["check", &odd, YAML, "good.kdl", "absent.kdl", "--format", format], 2);
    golden("check.sarif.json", &sarif(&run("sarif")));
    golden("check.junit.xml", &run("junit"));
    assert!(!desk.path("summary.md").exists());
    golden("check.github.txt", &run("github"));
    golden("check.summary.md", &desk.read("summary.md"));
    // A second one in the same step stands below the first.
    let first = desk.read("summary.md");
    run("github");
    assert_eq!(desk.read("summary.md"), first.repeat(2));
}

#[test]
fn a_diff_in_every_format() {
    let desk = Desk::new(&[
        ("node.kdl", PODS),
        ("root/etc/cni/net.d/10-purlin-pods.conflist", "```\n| <b> `x` ::error::x\n````\n"),
        ("root/etc/cni/net.d/05-purlin-old.conflist", "{}\n"),
    ]);
    let run = |format| desk.out(&["diff", "node.kdl", "--root", "root", "--format", format], 2);
    golden("diff.sarif.json", &sarif(&run("sarif")));
    golden("diff.junit.xml", &run("junit"));
    let said = run("github");
    golden("diff.github.txt", &said);
    assert!(said.lines().all(|line| line.starts_with("::")), "nothing of a file begins a line: {said}");
    golden("diff.summary.md", &desk.read("summary.md"));
}

#[test]
fn exit_codes_are_the_same_in_every_format() {
    let desk = Desk::new(&[("good.kdl", GOOD), ("bad.kdl", ODD_TEXT), ("pods.kdl", PODS)]);
    std::fs::create_dir(desk.path("root")).unwrap();
    for format in ["human", "json", "sarif", "github", "junit"] {
        for (arguments, code) in [
            (["check", "good.kdl"], 0),
            (["check", "bad.kdl"], 1),
            (["check", "absent.kdl"], 2),
            (["diff", "good.kdl"], 0),
            (["diff", "pods.kdl"], 1),
            (["diff", "bad.kdl"], 2),
            (["diff", "absent.kdl"], 2),
        ] {
            let out = desk.out(&[&arguments[..], &["--root", "root", "--format", format]].concat(), code);
            // That a file is not there stands in the report, too.
            if arguments[1] == "absent.kdl" && !matches!(format, "human" | "json") {
                assert!(out.contains("cannot read `absent.kdl`"), "{format}: {out}");
            }
        }
    }
}

#[test]
fn a_summary_that_is_full_is_cut_and_one_that_cannot_be_written_is_told() {
    let desk = Desk::new(&[("good.kdl", GOOD)]);
    desk.write("summary.md", &"x".repeat((1 << 20) - 100));
    desk.out(&["check", "good.kdl", "--format", "github"], 0);
    let summary = desk.read("summary.md");
    assert!(summary.len() <= 1 << 20 && summary.ends_with("left out here\n"), "{}", summary.len());
    std::fs::remove_file(desk.path("summary.md")).unwrap();
    std::fs::create_dir(desk.path("summary.md")).unwrap();
    let said = desk.err(&["check", "good.kdl", "--format", "github"], 2);
    assert!(said.contains("cannot write the step's summary"), "{said}");
}

#[test]
fn silencers_work_for_every_command_in_every_syntax() {
    let yaml = "apiVersion: purlin.dev/v1alpha1\nkind: NodeSpec\nmetadata: { name: edge-a }\nspec:\n  networks:\n    \
                # purlin: allow PUR0203, PUR0309\n\n    pods:\n      bridge: { name: cni0 }\n      ipam: { ranges: [{ subnet: 10.22.0.0/24 }] }\n";
    let kdl = PODS
        .replace("    adopt \"/etc/cni/net.d/10-purlin-pods.conflist\" \"replace\"\n", "")
        .replace(" default=#true", "")
        .replace("        network", "        // purlin: allow PUR0203\n        network");
    for (name, text) in [("node.kdl", kdl.as_str()), ("node.yaml", yaml)] {
        let desk = Desk::new(&[(name, text)]);
        std::fs::create_dir(desk.path("root")).unwrap();
        let said = desk.err(&["check", name], 0);
        assert!(said.starts_with("1 spec checked, nothing to say (1 silenced)\n"), "{said}");
        let document: Json =
            serde_json::from_str(&desk.out(&["check", name, "--format", "json"], 0)).unwrap();
        assert_eq!(document["diagnostics"], serde_json::json!([]));
        assert_eq!(document["summary"], serde_json::json!({"errors": 0, "warnings": 0, "silenced": 1}));
        let arguments = ["diff", name, "--root", "root", "--format", "json"];
        let document: Json = serde_json::from_str(&desk.out(&arguments, 1)).unwrap();
        assert_eq!(document["findings"]["summary"]["silenced"], 1);
        assert_eq!(document["findings"]["diagnostics"], serde_json::json!([]));
        let said = desk.err(&["render", name, "-o", "root"], 0);
        assert!(!said.contains("warning"), "{said}");

        // Without its comment it is there, and with another one below it as well.
        let bare: Vec<&str> = text.lines().filter(|line| !line.contains("purlin: allow")).collect();
        desk.write(name, &bare.join("\n"));
        for command in
            [&["check", name][..], &["diff", name, "--root", "root"], &["render", name, "-o", "root"]]
        {
            let output = desk.run(command);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("warning[PUR0203]"), "{command:?}: {said}");
        }
    }
}

#[test]
fn an_error_is_not_silenced() {
    let text =
        PODS.replace("        bridge name", "        // purlin: allow PUR0101\n            brigde name");
    let desk = Desk::new(&[("node.kdl", &text)]);
    let said = desk.err(&["check", "node.kdl"], 1);
    assert!(
        said.contains("error[PUR0101]") && said.contains("PUR0101 cannot be silenced: it is an error"),
        "{said}"
    );
    assert!(said.contains("PUR0101 is found here"), "{said}");
}

const WRONG: &str = r#"purlin "v1alpha1"
node "edge-a" {
    runtimes {
        runtime "main" {
            containerd version="2.1" config="own" {
                handler "runc" defualt=true
            }
        }
        registry "docker.io" { mirror "https://user:s3cr3t@mirror.example"; }
    }
    netwroks {
        network "pods" default=true {
            brigde name="cni0" mtu="1450"
            ipam { range "10.22.0.0/24"; }
        }
    }
}
"#;

#[test]
fn what_is_certain_is_fixed_in_place() {
    let right = WRONG
        .replace("defualt=true", "default=#true")
        .replace("default=true", "default=#true")
        .replace("netwroks", "networks")
        .replace("brigde", "bridge")
        .replace("\"1450\"", "1450");
    let desk = Desk::new(&[("a.kdl", WRONG), ("good.kdl", GOOD), ("dir/b.kdl", WRONG)]);
    std::fs::set_permissions(desk.path("a.kdl"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("dir/b.kdl", desk.path("link.kdl")).unwrap();

    let arguments = ["check", "--fix", "--diff", "a.kdl", "good.kdl"];
    let output = desk.run(&arguments);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(out.starts_with("--- a.kdl\n+++ a.kdl\n@@") && out.contains("+    networks {\n"), "{out}");
    assert!(!out.contains("s3cr3t") && out.contains("https://***********@mirror.example"), "{out}");
    assert!(err.contains("fixes would be applied to a.kdl\n1 error would be left"), "{err}");
    assert_eq!((desk.read("a.kdl"), desk.read("good.kdl")), (WRONG.to_owned(), GOOD.to_owned()));

    let before = std::fs::metadata(desk.path("good.kdl")).unwrap().modified().unwrap();
    let said = desk.err(&["check", "--fix", "a.kdl", "link.kdl", "good.kdl", "a.kdl"], 1);
    assert!(
        said.contains("6 fixes applied to a.kdl\n") && said.contains("6 fixes applied to link.kdl\n"),
        "{said}"
    );
    // What nobody can fix but its author is still told, and what it holds is still not.
    assert!(said.contains("error[PUR0213]") && !said.contains("s3cr3t"), "{said}");
    assert_eq!(desk.read("a.kdl"), right);
    assert_eq!(desk.read("dir/b.kdl"), right);
    assert!(std::fs::symlink_metadata(desk.path("link.kdl")).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(desk.path("a.kdl")).unwrap().permissions().mode() & 0o7777, 0o640);
    assert_eq!(std::fs::metadata(desk.path("good.kdl")).unwrap().modified().unwrap(), before);
    let left = std::fs::read_dir(desk.0.path()).unwrap().count();
    assert_eq!(left, 4, "nothing is left behind");

    let output = desk.run(&["check", "--fix", "--diff", "good.kdl"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]));
    for wrong in
        [&["check", "--diff", "good.kdl"][..], &["check", "--fix", "--diff", "--format", "json", "good.kdl"]]
    {
        assert_eq!(desk.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
    assert!(desk.err(&["check", "--fix", "-"], 2).contains("not read from stdin"));
}

#[test]
fn a_silencer_that_is_not_needed_is_fixed_away() {
    // Where a warning of its code stands elsewhere, it was likely meant for that one, and stays.
    let desk = Desk::new(&[(YAML, YAML_TEXT)]);
    let said = desk.err(&["check", "--fix", YAML], 0);
    assert!(said.contains("PUR0214 is found here") && !said.contains("applied"), "{said}");
    let text = YAML_TEXT.replace("allow PUR0214", "allow PUR0203");
    let desk = Desk::new(&[(YAML, &text)]);
    let said = desk.err(&["check", "--fix", YAML], 0);
    assert!(
        said.contains(&format!("1 fix applied to {YAML}\n")) && said.contains("warning[PUR0214]"),
        "{said}"
    );
    assert_eq!(desk.read(YAML), YAML_TEXT.replace("          # purlin: allow PUR0214\n", ""));
}

#[test]
fn what_is_no_text_and_what_may_not_be_written_stay_as_they_are() {
    let desk = Desk::new(&[]);
    std::fs::write(desk.path("bytes.kdl"), b"purlin \"v1alpha1\"\nnode \"a\xff\"\n").unwrap();
    let said = desk.err(&["check", "--fix", "bytes.kdl"], 1);
    assert!(said.contains("PUR0002") && !said.contains("applied"), "{said}");
    // A byte order mark and other line ends stay.
    let text = format!("\u{feff}{}", WRONG.replace('\n', "\r\n"));
    desk.write("dos.kdl", &text);
    desk.err(&["check", "--fix", "dos.kdl"], 1);
    let fixed = desk.read("dos.kdl");
    assert!(fixed.starts_with('\u{feff}') && fixed.contains("    networks {\r\n"), "{fixed:?}");
    assert_eq!(fixed.matches("\r\n").count(), fixed.matches('\n').count());
}

/// A comment is found wherever it stands: one before each line of each example, of which none silences anything.
#[test]
fn no_comment_of_a_sound_spec_is_overlooked() {
    use purlin::compile::compile;
    use purlin::diag::{Findings, Sources};
    use purlin::source::Syntax;
    for example in ["laptop", "edge", "gpu-sim"] {
        for (ending, syntax, mark) in [("kdl", Syntax::Kdl, "//"), ("yaml", Syntax::Yaml, "#")] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{example}.{ending}"));
            let text = std::fs::read_to_string(path).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            for at in 0..=lines.len() {
                let mut with = lines.clone();
                let comment = format!("   {mark} purlin: allow PUR0203");
                with.insert(at, &comment);
                let mut sources = Sources::default();
                let file = sources.add("spec", with.join("\n"));
                let mut findings = Findings::new();
                assert!(compile(&sources, file, syntax, &mut findings).is_some());
                let found: Vec<_> =
                    findings.into_sorted().iter().map(|d| (d.code, d.span().unwrap())).collect();
                assert_eq!(found.len(), 1, "{example}.{ending}, line {}: {found:?}", at + 1);
                assert_eq!((found[0].0, sources.position(found[0].1).line), (Code::PUR0006, at + 1));
            }
        }
    }
}
