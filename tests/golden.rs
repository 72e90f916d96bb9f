//! The examples, as a user runs them: what they render, what their diff says, and how a tree with other people's files
//! comes through it.
//!
//! `PURLIN_BLESS=1 cargo test --test golden` writes tests/golden/ anew.

use purlin::compile::compile;
use purlin::diag::{Findings, Sources};
use purlin::emission::emit;
use purlin::facts::Facts;
use purlin::node::Node;
use purlin::plan::Plan;
use purlin::source::{Syntax, decode, parse};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const EXAMPLES: [&str; 3] = ["laptop", "edge", "gpu-sim"];
const LEDGER: &str = "/var/lib/purlin/ledger.json";

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a run of the program left.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs the program in the repository's root, as in a user's terminal without colours.
fn purlin<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_purlin"))
        .args(arguments)
        .current_dir(repository())
        .env_clear()
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A directory that a test fills, and specs beside it.
struct Tree {
    _keep: tempfile::TempDir,
    root: PathBuf,
    specs: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let (root, specs) = (keep.path().join("root"), keep.path().join("specs"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&specs).unwrap();
        Self { _keep: keep, root, specs }
    }

    fn path(&self) -> &str {
        self.root.to_str().unwrap()
    }

    fn foreign(&self, path: &str, text: &str, mode: u32) {
        let file = self.root.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path.trim_start_matches('/'))).ok()
    }

    /// A spec in KDL with this in its node.
    fn spec(&self, body: &str) -> String {
        let path = self.specs.join("node.kdl");
        std::fs::write(&path, format!("purlin \"v1alpha1\"\nnode \"edge-a\" {{\n{body}\n}}\n")).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn render(&self, spec: &str) -> Ran {
        purlin(&["render", spec, "-o", self.path()])
    }

    fn diff(&self, spec: &str) -> Ran {
        purlin(&["diff", spec, "--root", self.path()])
    }

    /// Every file below the root with all that a careless write would change: bytes, mode, inode, time of change.
    fn state(&self) -> BTreeMap<String, (Vec<u8>, u32, u64, i64, i64)> {
        let mut files = BTreeMap::new();
        walk(&self.root, &mut |path| {
            let stat = std::fs::symlink_metadata(path).unwrap();
            let name = format!("/{}", path.strip_prefix(&self.root).unwrap().display());
            let bytes = std::fs::read(path).unwrap();
            files.insert(name, (bytes, stat.mode(), stat.ino(), stat.mtime(), stat.mtime_nsec()));
        });
        files
    }
}

fn walk(directory: &Path, visit: &mut impl FnMut(&Path)) {
    let mut entries: Vec<_> = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { walk(&path, visit) } else { visit(&path) }
    }
}

/// An example's files: the golden folder of a variant, and the arguments that bring its facts.
fn variants(example: &str) -> [(&'static str, Vec<String>); 2] {
    let facts = format!("examples/{example}.facts.json");
    [("without-facts", Vec::new()), ("with-facts", vec!["--facts".to_owned(), facts])]
}

fn arguments<'a>(words: &[&'a str], facts: &'a [String]) -> Vec<&'a str> {
    words.iter().copied().chain(facts.iter().map(String::as_str)).collect()
}

fn text(path: impl AsRef<Path>) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn node(example: &str, syntax: Syntax) -> Node {
    let ending = if syntax == Syntax::Kdl { "kdl" } else { "yaml" };
    let name = format!("examples/{example}.{ending}");
    let (mut sources, mut findings) = (Sources::default(), Findings::new());
    let file = decode(&mut sources, &name, text(&name).as_bytes(), &mut findings).unwrap();
    let node = compile(&sources, file, syntax, &mut findings);
    assert!(findings.is_empty(), "{name}: {findings:?}");
    node.unwrap()
}

fn plan(example: &str, syntax: Syntax, facts: Option<&Facts>) -> Plan {
    let mut findings = Findings::new();
    let plan = emit(&node(example, syntax), facts, &mut findings);
    assert!(findings.is_empty(), "{example}: {findings:?}");
    plan
}

fn facts(example: &str) -> Facts {
    Facts::from_json(&text(format!("examples/{example}.facts.json"))).unwrap()
}

#[test]
fn both_syntaxes_of_an_example_are_one_model() {
    for example in EXAMPLES {
        let documents = [("kdl", Syntax::Kdl), ("yaml", Syntax::Yaml)].map(|(ending, syntax)| {
            let (mut sources, mut findings) = (Sources::default(), Findings::new());
            let file = sources.add(example, text(format!("examples/{example}.{ending}")));
            let doc = parse(&sources, file, syntax, purlin::spec::schema(), &mut findings);
            doc.unwrap_or_else(|| panic!("{example}.{ending}: {findings:?}")).root.to_json()
        });
        assert_eq!(documents[0], documents[1], "{example}");
        for facts in [None, Some(facts(example))] {
            let [kdl, yaml] = [Syntax::Kdl, Syntax::Yaml]
                .map(|syntax| serde_json::to_string(&plan(example, syntax, facts.as_ref())).unwrap());
            assert_eq!(kdl, yaml, "{example}");
        }
    }
}

#[test]
fn compiling_twice_gives_the_same_bytes() {
    for example in EXAMPLES {
        for facts in [None, Some(facts(example))] {
            let [one, two] =
                [(); 2].map(|()| serde_json::to_string(&plan(example, Syntax::Kdl, facts.as_ref())).unwrap());
            assert_eq!(one, two, "{example}");
        }
    }
}

#[test]
fn an_editor_finds_the_schema_of_every_yaml_example() {
    for example in EXAMPLES {
        let text = text(format!("examples/{example}.yaml"));
        assert_eq!(text.lines().next(), Some("# yaml-language-server: $schema=../schemas/nodespec.json"));
    }
    assert!(repository().join("schemas/nodespec.json").is_file());
}

/// The JSON of a diff is what its schema promises.
fn fits_the_diff_schema(json: &str) {
    let schema = serde_json::from_str(purlin::plan::DIFF_SCHEMA_TEXT).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let document: serde_json::Value = serde_json::from_str(json).unwrap();
    let wrong: Vec<_> =
        validator.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{json}");
}

/// Compares with a golden file, or writes it.
fn golden(path: &Path, found: &str, stale: &mut Vec<String>) {
    if std::env::var_os("PURLIN_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, found).unwrap();
    } else if std::fs::read_to_string(path).ok().as_deref() != Some(found) {
        stale.push(format!("{} is now:\n{found}", path.display()));
    }
}

#[test]
fn examples_give_what_was_reviewed() {
    let mut stale = Vec::new();
    for example in EXAMPLES {
        let spec = format!("examples/{example}.kdl");
        for (variant, facts) in variants(example) {
            let case = repository().join("tests/golden").join(example).join(variant);
            let empty = Tree::new();
            // Without facts it is an empty tree that is compared with, not the machine of whoever runs the tests.
            let root = ["--root", empty.path()];
            let root: &[&str] = if facts.is_empty() { &root } else { &[] };
            let run = |words: &[&str]| purlin(&arguments(&[words, root].concat(), &facts));

            let check = purlin(&arguments(&["check", &spec], &facts));
            assert_eq!((check.code, check.out.as_str()), (0, ""), "{}", check.err);
            golden(&case.join("check.txt"), &check.err, &mut stale);

            let diff = run(&["diff", &spec]);
            assert_eq!(diff.code, 1, "{example}, {variant}: {}", diff.err);
            assert!(!diff.err.contains("error") && !diff.err.contains("warning"), "{}", diff.err);
            golden(&case.join("diff.txt"), &diff.out, &mut stale);
            let json = run(&["diff", &spec, "--format", "json"]);
            assert_eq!(json.code, 1, "{example}, {variant}: {}", json.err);
            golden(&case.join("diff.json"), &json.out, &mut stale);
            fits_the_diff_schema(&json.out);

            let tree = Tree::new();
            let rendered = purlin(&arguments(&["render", &spec, "-o", tree.path()], &facts));
            assert_eq!(rendered.code, 0, "{example}, {variant}: {}", rendered.err);
            let mut expected = Vec::new();
            for (name, (bytes, mode, ..)) in tree.state() {
                let wanted = if name == LEDGER { 0o600 } else { 0o644 };
                assert_eq!(mode & 0o7777, wanted, "{example}, {variant}: {name}");
                let path = case.join("tree").join(name.trim_start_matches('/'));
                golden(&path, &String::from_utf8(bytes).unwrap(), &mut stale);
                expected.push(path);
            }
            walk(&case.join("tree"), &mut |path| {
                if !expected.iter().any(|e| e == path) {
                    stale.push(format!("{} is not rendered any more", path.display()));
                }
            });
        }
    }
    assert!(
        stale.is_empty(),
        "{}\nlook at them, then: PURLIN_BLESS=1 cargo test --test golden",
        stale.join("\n")
    );
}

#[test]
fn what_is_rendered_is_what_the_diff_asks_for() {
    for example in EXAMPLES {
        let spec = format!("examples/{example}.kdl");
        for (variant, facts) in variants(example) {
            let tree = Tree::new();
            let render = || purlin(&arguments(&["render", &spec, "-o", tree.path()], &facts));
            let diff = || purlin(&arguments(&["diff", &spec, "--root", tree.path()], &facts));
            assert_eq!(diff().code, 1, "{example}, {variant}");
            let first = render();
            assert_eq!((first.code, first.out.as_str()), (0, ""), "{}", first.err);
            let after = diff();
            assert_eq!((after.code, after.out.as_str()), (0, ""), "{example}, {variant}: {}", after.err);

            let before = tree.state();
            let again = render();
            assert_eq!(again.code, 0);
            assert!(again.err.ends_with("is up to date\n"), "{example}, {variant}: {}", again.err);
            assert_eq!(tree.state(), before, "{example}, {variant}: up to date, and yet written to");

            // The other syntax makes the same files.
            let yaml = format!("examples/{example}.yaml");
            let yaml = purlin(&arguments(&["render", &yaml, "-o", tree.path()], &facts));
            assert!(yaml.err.ends_with("is up to date\n"), "{example}, {variant}: {}", yaml.err);
        }
    }
}

const PODS: &str = r#"networks {
    network "pods" default=#true {
        bridge name="cni0"
        ipam { range "10.22.0.0/24" }
    }
}"#;
const STORAGE: &str = r#"networks {
    network "pods" default=#true {
        bridge name="cni0" mtu=1450
        ipam { range "10.22.0.0/24" }
    }
    network "storage" {
        bridge name="cni1"
        ipam { range "10.23.0.0/24" }
    }
}"#;
const OUR_PODS: &str = "/etc/cni/net.d/10-purlin-pods.conflist";
const OUR_STORAGE: &str = "/etc/cni/net.d/50-purlin-storage.conflist";
const CILIUM: &str = "/etc/cni/net.d/20-cilium.conflist";

#[test]
fn an_edited_spec_changes_and_removes_only_what_is_ours() {
    let tree = Tree::new();
    tree.foreign(CILIUM, "{}\n", 0o600);
    let foreign = tree.state();
    assert_eq!(tree.render(&tree.spec(STORAGE)).code, 0);
    assert!(tree.read(OUR_STORAGE).is_some());

    let edited = tree.spec(PODS);
    let diff = tree.diff(&edited);
    assert_eq!(diff.code, 1, "{}", diff.err);
    assert!(diff.out.starts_with("1 to update, 1 to delete; impact: hot"), "{}", diff.out);
    assert!(diff.out.contains(&format!("delete {OUR_STORAGE}  [hot]\n  the spec no longer asks for it")));
    let ran = tree.render(&edited);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains(&format!("updated {}{OUR_PODS}\n", tree.path())), "{}", ran.err);
    assert!(ran.err.contains(&format!("deleted {}{OUR_STORAGE}\n", tree.path())), "{}", ran.err);
    let left: Vec<_> = tree.state().into_keys().collect();
    assert_eq!(left, [OUR_PODS, CILIUM, LEDGER]);
    assert!(!tree.read(OUR_PODS).unwrap().contains("mtu"));
    assert_eq!(tree.state()[CILIUM], foreign[CILIUM]);
    let ledger: serde_json::Value = serde_json::from_str(&tree.read(LEDGER).unwrap()).unwrap();
    assert_eq!(ledger["generation"], 2);

    // A spec without the section: everything of ours goes, and nothing else.
    let ran = tree.render(&tree.spec(""));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(tree.state().into_keys().collect::<Vec<_>>(), [CILIUM, LEDGER]);
    assert_eq!(tree.state()[CILIUM], foreign[CILIUM]);
    assert_eq!(tree.diff(&tree.spec("")).code, 0);
}

/// A RuntimeClass may be named by pods anywhere in the cluster: its removal is no small thing, and its handler is fixed.
#[test]
fn a_class_that_goes_or_leads_elsewhere_takes_a_drain() {
    let body = |name: &str, class: &str| {
        format!(
            r#"runtimes {{ runtime "main" {{ containerd version="2.1" config="own" {{
                handler "runc" default=#true
                handler "{name}" binary="/usr/bin/crun" {class}
            }} }} }}"#
        )
    };
    let named = r#"runtime-class="crun""#;
    let tree = Tree::new();
    assert_eq!(tree.render(&tree.spec(&body("crun", named))).code, 0);

    let gone = tree.diff(&tree.spec(&body("crun", "")));
    assert!(gone.out.contains("delete RuntimeClass/crun  [drain]\n"), "{}", gone.out);
    assert!(gone.out.contains("new pods that name it are refused"), "{}", gone.out);
    assert!(gone.out.starts_with("1 to delete; impact: drain"), "{}", gone.out);
    let led = tree.diff(&tree.spec(&body("crun2", named)));
    assert!(led.out.contains("update RuntimeClass/crun  [drain]\n"), "{}", led.out);
    assert!(led.out.contains("it is deleted and made anew"), "{}", led.out);

    // What says nothing of the handler does nothing to pods.
    let class = "/var/lib/purlin/objects/node.k8s.io_runtimeclass_crun.yaml";
    let text = tree.read(class).unwrap();
    tree.foreign(class, &format!("# a remark\n{text}"), 0o644);
    let remark = tree.diff(&tree.spec(&body("crun", named)));
    assert!(remark.out.contains("update RuntimeClass/crun  [none]\n"), "{}", remark.out);
    let both = tree.spec(&body("crun2", ""));
    fits_the_diff_schema(&purlin(&["diff", &both, "--root", tree.path(), "--format", "json"]).out);
}

#[test]
fn what_facts_cannot_settle_is_told_apart() {
    let tree = Tree::new();
    let spec = tree.spec(
        r#"runtimes { runtime "main" { containerd version="2.1" config="own" {
            handler "runc" default=#true runtime-class="runc"
        } } }"#,
    );
    // Of a running node, but of next to nothing on it.
    let facts = tree.specs.join("facts.json");
    std::fs::write(&facts, r#"{"version": "purlin.dev/facts/v1alpha1", "places": ["/etc/containerd"]}"#)
        .unwrap();
    let facts = facts.to_str().unwrap();
    let diff = purlin(&["diff", &spec, "--facts", facts]);
    assert_eq!(diff.code, 1, "{}", diff.err);
    let (first, second) =
        diff.err.split_once("unproven, for facts hold no objects of the API server").unwrap();
    assert!(first.contains("unproven, for want of facts") && first.contains("whether `runc` is on the node"));
    assert!(
        !first.contains("RuntimeClass") && second.contains("whether the API server has RuntimeClass/runc")
    );
    // Nothing here is simulated, and nothing is said to be.
    assert!(diff.out.starts_with("1 to create; impact: restart containerd.service\n"), "{}", diff.out);

    for command in ["diff", "check"] {
        let run = purlin(&[command, &spec, "--facts", facts, "--format", "json"]);
        let document: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let list = document["unproven"].as_array().unwrap();
        let by: Vec<_> = list
            .iter()
            .map(|u| (u["decidedBy"].as_str().unwrap(), u["what"].as_str().unwrap().contains("API server")))
            .collect();
        assert!(by.contains(&("apiServer", true)) && by.contains(&("facts", false)), "{by:?}");
        assert!(by.iter().all(|(by, api)| (*by == "apiServer") == *api), "{by:?}");
    }
    fits_the_diff_schema(&purlin(&["diff", &spec, "--facts", facts, "--format", "json"]).out);
    // A spec with errors has a document too.
    let wrong = purlin(&["diff", &tree.spec("bridge"), "--facts", facts, "--format", "json"]);
    assert_eq!(wrong.code, 2);
    fits_the_diff_schema(&wrong.out);
}

#[test]
fn what_someone_changed_in_our_file_is_told_and_put_right() {
    let tree = Tree::new();
    let spec = tree.spec(PODS);
    assert_eq!(tree.render(&spec).code, 0);
    let ours = tree.read(OUR_PODS).unwrap();
    tree.foreign(OUR_PODS, &ours.replace("cni0", "br0"), 0o644);
    let diff = tree.diff(&spec);
    assert_eq!(diff.code, 1, "{}", diff.err);
    assert!(diff.out.contains("drift: purlin made it, and someone changed it since"), "{}", diff.out);
    assert_eq!(tree.render(&spec).code, 0);
    assert_eq!(tree.read(OUR_PODS).unwrap(), ours);
}

#[test]
fn a_foreign_file_in_our_place_blocks() {
    let tree = Tree::new();
    tree.foreign(OUR_PODS, "{\"theirs\": true}\n", 0o644);
    tree.foreign("/etc/cni/net.d/notes.txt", "kept\n", 0o640);
    let before = tree.state();
    let spec = tree.spec(STORAGE);

    let diff = tree.diff(&spec);
    assert_eq!(diff.code, 2);
    assert!(diff.err.contains("error[PUR0301]") && diff.err.contains(OUR_PODS), "{}", diff.err);
    assert!(
        diff.out.contains("1 blocked") && diff.out.contains("blocked: someone else made it"),
        "{}",
        diff.out
    );
    let ran = tree.render(&spec);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("error[PUR0301]"), "{}", ran.err);
    // Not even the file that nothing stands in the way of, nor a ledger.
    assert_eq!(tree.state(), before);

    let spec = tree.spec(&format!("adopt \"{OUR_PODS}\" \"replace\"\n{STORAGE}"));
    let diff = tree.diff(&spec);
    assert_eq!(diff.code, 1, "{}", diff.err);
    assert!(diff.out.contains("adopted: someone else made it; purlin takes it over"), "{}", diff.out);
    assert!(diff.out.contains("-{\"theirs\": true}"), "{}", diff.out);
    assert_eq!(tree.render(&spec).code, 0);
    assert!(tree.read(OUR_PODS).unwrap().contains("cni0"));
    assert_eq!(tree.diff(&spec).out, "");
    // From here on the file is ours: the line has done its work and can go.
    let diff = tree.diff(&tree.spec(STORAGE));
    assert_eq!((diff.code, diff.out.as_str()), (0, ""), "{}", diff.err);
    assert_eq!(tree.state()["/etc/cni/net.d/notes.txt"], before["/etc/cni/net.d/notes.txt"]);
}

/// containernetworking multus#1429: a forgotten 00-multus.conf shadows the network that is wanted.
#[test]
fn case_multus_1429() {
    const MULTUS: &str = "/etc/cni/net.d/00-multus.conf";
    let tree = Tree::new();
    tree.foreign(MULTUS, "{\"type\": \"multus\"}\n", 0o600);
    let before = tree.state();

    let spec = tree.spec(PODS);
    let diff = tree.diff(&spec);
    assert_eq!(diff.code, 2);
    assert!(diff.err.contains("error[PUR0302]") && diff.err.contains(MULTUS), "{}", diff.err);
    let remedy = format!("adopt \"{MULTUS}\" \"remove\"");
    assert!(diff.err.contains(&remedy), "{}", diff.err);
    assert_eq!(tree.render(&spec).code, 1);
    assert_eq!(tree.state(), before);

    let spec = tree.spec(&format!("{remedy}\n{PODS}"));
    let diff = tree.diff(&spec);
    assert_eq!(diff.code, 1, "{}", diff.err);
    assert!(diff.out.contains(&format!("delete {MULTUS}  [hot]")), "{}", diff.out);
    assert!(diff.out.contains("adopted: someone else made it; purlin removes it"), "{}", diff.out);
    let ran = tree.render(&spec);
    assert!(ran.err.contains(&format!("deleted {}{MULTUS}\n", tree.path())), "{}", ran.err);
    assert_eq!(tree.state().into_keys().collect::<Vec<_>>(), [OUR_PODS, LEDGER]);
    // It is gone, and the line may stay.
    let diff = tree.diff(&spec);
    assert_eq!((diff.code, diff.out.as_str()), (0, ""), "{}", diff.err);
    assert!(tree.render(&spec).err.ends_with("is up to date\n"));
}

#[test]
fn a_spec_of_devices_only_changes_no_foreign_byte() {
    // As nvidia-ctk leaves it: version 2 under a containerd 2.x, its own runtime merged in, no final newline.
    const EDITED: &str = "disabled_plugins = []\nversion = 2\n\n[plugins]\n\n  [plugins.\"io.containerd.grpc.v1.cri\"]\n\n    [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\n      runtime_type = \"io.containerd.runc.v2\"\n\n      [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.options]\n        BinaryName = \"/usr/bin/nvidia-container-runtime\"";
    let tree = Tree::new();
    tree.foreign("/etc/cni/net.d/05-cilium.conflist", "{\n  \"name\": \"cilium\"\n}\n", 0o600);
    tree.foreign("/etc/containerd/config.toml", EDITED, 0o644);
    tree.foreign("/etc/containerd/conf.d/99-nvidia.toml", "version = 2\n", 0o640);
    tree.foreign("/etc/cdi/nvidia.yaml", "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n", 0o644);
    tree.foreign("/var/run/cdi/k8s.example.json", "{}\n", 0o644);
    let before = tree.state();

    let spec = tree.spec("devices {\n    device \"example.com/serial\" { path \"/dev/ttyS1\" }\n}");
    let diff = tree.diff(&spec);
    assert_eq!(diff.code, 1, "{}", diff.err);
    assert!(diff.out.starts_with("1 to create; impact: hot"), "{}", diff.out);
    let ran = tree.render(&spec);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut after = tree.state();
    assert!(after.remove("/var/run/cdi/purlin-example.com_serial.json").is_some());
    assert!(after.remove(LEDGER).is_some());
    assert_eq!(after, before);

    // And away again.
    assert_eq!(tree.render(&tree.spec("")).code, 0);
    let mut after = tree.state();
    assert!(after.remove(LEDGER).is_some());
    assert_eq!(after, before);
}
