//! What `purlin check` costs, against the goals: whole processes, measured in turn with one that does nothing, and the
//! stages within one process. `cargo bench` prints the tables; `PURLIN_BENCH_SAMPLES` (200) sets how often each is run.

#[path = "common/model.rs"]
mod model;

use model::spec;
use purlin::diag::{Findings, Sources};
use purlin::emission::emit;
use purlin::source::{Limits, Syntax, Validator, from_value, parse};
use purlin::spec::{FORMATS, NodeSpec, SCHEMA_TEXT, schema, validator};
use purlin::{compile, node};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Times in order.
struct Sample(Vec<Duration>);

impl Sample {
    fn at(&self, part: f64) -> Duration {
        // Of 200 samples the 198th is the p99.
        let index = (self.0.len() as f64 * part).ceil() as usize;
        self.0[index.clamp(1, self.0.len()) - 1]
    }

    fn median(&self) -> Duration {
        self.at(0.5)
    }

    fn p99(&self) -> Duration {
        self.at(0.99)
    }
}

/// Does what is measured, and says how long it took.
type Task<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// Runs each in turn, so often, so that what disturbs the machine disturbs all alike.
fn in_turn(count: usize, tasks: &mut [(String, Task<'_>)]) -> Vec<(String, Sample)> {
    let mut times = vec![Vec::with_capacity(count); tasks.len()];
    for round in 0..=count {
        for ((_, task), times) in tasks.iter_mut().zip(&mut times) {
            let time = task();
            // The first round warms caches.
            if round > 0 {
                times.push(time);
            }
        }
    }
    tasks
        .iter()
        .zip(times)
        .map(|((name, _), mut times)| {
            times.sort_unstable();
            (name.clone(), Sample(times))
        })
        .collect()
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

/// The time of a whole process; it has to end with this code.
fn process(program: &str, arguments: &[String], code: i32) -> Duration {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().unwrap_or_else(|e| panic!("{program}: {e}"));
    let time = start.elapsed();
    assert_eq!(status.code(), Some(code), "{program} {arguments:?}");
    time
}

/// The most memory that a process had, in KiB, by GNU time; `None` where that is not installed.
fn peak(program: &str, arguments: &[String]) -> Option<u64> {
    let output = Command::new("/usr/bin/time")
        .args(["-f", "peak %M", program])
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    said.lines().rev().find_map(|line| line.strip_prefix("peak ")?.parse().ok())
}

/// The program measured: `PURLIN_BENCH_BINARY`, else the one that cargo built beside this, which unwinds on a panic as a
/// released one does not.
static PURLIN: LazyLock<String> = LazyLock::new(|| {
    std::env::var("PURLIN_BENCH_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_purlin").to_owned())
});

struct Case {
    name: &'static str,
    files: Vec<String>,
    code: i32,
    /// Milliseconds in the median, and MiB.
    goal: (u64, Option<u64>),
}

fn cases(dir: &Path) -> Vec<Case> {
    let file = |name: String, text: String| -> String {
        let path: PathBuf = dir.join(name);
        std::fs::write(&path, text).expect("the temporary directory takes files");
        path.display().to_string()
    };
    let limits = Limits::default();
    let over =
        |name: &'static str, file: String| Case { name, files: vec![file], code: 1, goal: (10, Some(32)) };
    let hundred = spec(Syntax::Kdl, 100, false);
    let hundred_yaml = spec(Syntax::Yaml, 100, false);
    vec![
        Case {
            name: "1,000 lines, KDL",
            files: vec![file("spec.kdl".into(), spec(Syntax::Kdl, 1000, false))],
            code: 0,
            goal: (15, None),
        },
        Case {
            name: "1,000 lines, YAML",
            files: vec![file("spec.yaml".into(), spec(Syntax::Yaml, 1000, false))],
            code: 0,
            goal: (5, None),
        },
        Case {
            name: "1,000 specs of 100 lines, KDL",
            files: (0..1000).map(|i| file(format!("{i}.kdl"), hundred.clone())).collect(),
            code: 0,
            goal: (1000, None),
        },
        Case {
            name: "1,000 specs of 100 lines, YAML",
            files: (0..1000).map(|i| file(format!("{i}.yaml"), hundred_yaml.clone())).collect(),
            code: 0,
            goal: (1000, None),
        },
        over("too many bytes", file("bytes.kdl".into(), "label \"a\" \"b\"\n".repeat(1 << 17))),
        over("one line of too many bytes", file("line.kdl".into(), "x".repeat(limits.bytes + 1))),
        over("blocks too deep", file("depth.kdl".into(), "a {\n".repeat(60_000))),
        over("too many nodes", file("nodes.kdl".into(), "a\n".repeat(limits.bytes / 2))),
        over("too many words", file("words.kdl".into(), format!("a{}", " 1".repeat(limits.tokens)))),
        over("comments too deep", file("comments.kdl".into(), "/*".repeat(limits.bytes / 2))),
        over("too many `/-`", file("slashdash.kdl".into(), "/-".repeat(limits.bytes / 2))),
        over("a stray `}`", file("stray.kdl".into(), "}".repeat(limits.bytes))),
        over("YAML too deep", file("depth.yaml".into(), "[".repeat(limits.bytes))),
        over("too many YAML values", file("values.yaml".into(), "- 1\n".repeat(limits.bytes / 4))),
        over(
            "YAML aliases",
            file(
                "aliases.yaml".into(),
                (1..60).fold("a0: &a0 [x, x]\n".to_owned(), |t, i| {
                    format!("{t}a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1)
                }),
            ),
        ),
        over("JSON too deep", file("depth.json".into(), "[".repeat(limits.bytes))),
    ]
}

fn processes(samples: usize, dir: &Path) {
    let cases = cases(dir);
    let arguments: Vec<Vec<String>> = cases
        .iter()
        .map(|c| std::iter::once("check".to_owned()).chain(c.files.iter().cloned()).collect())
        .collect();
    println!(
        "\nWhole processes, {samples} samples in turn (many files in one call: {}), milliseconds:\n",
        samples / 20
    );
    println!("| purlin check | median | p99 | × floor | p99 × floor | goal | peak MiB | goal |");
    println!("|---|---|---|---|---|---|---|---|");
    let row =
        |name: &str, sample: &Sample, floor: &Sample, goal: Option<(u64, Option<u64>)>, peak: Option<u64>| {
            let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
            let mark = |met: bool| if met { "met" } else { "MISSED" };
            let time = goal.map_or("–".into(), |(ms, _)| {
                format!("≤ {ms}: {}", mark(sample.median() <= Duration::from_millis(ms)))
            });
            let memory = goal
                .and_then(|g| g.1)
                .zip(peak)
                .map_or("–".into(), |(mib, kib)| format!("≤ {mib}: {}", mark(kib <= mib * 1024)));
            println!(
                "| {name} | {} | {} | {:.1} | {:.1} | {time} | {} | {memory} |",
                milliseconds(sample.median()),
                milliseconds(sample.p99()),
                ratio(sample.median(), floor.median()),
                ratio(sample.p99(), floor.p99()),
                peak.map_or("?".into(), |kib| format!("{:.1}", kib as f64 / 1024.0)),
            );
        };
    // One round of the calls with many files lasts as long as dozens of the others.
    let (many, few): (Vec<_>, Vec<_>) = cases.iter().zip(&arguments).partition(|(c, _)| c.files.len() > 1);
    for (group, samples) in [(few, samples), (many, samples / 20)] {
        let mut tasks: Vec<(String, Task<'_>)> = vec![
            ("an empty process (/bin/true)".into(), Box::new(|| process("/bin/true", &[], 0))),
            ("purlin --version".into(), Box::new(|| process(&PURLIN, &["--version".into()], 0))),
        ];
        for (case, arguments) in &group {
            tasks.push((case.name.into(), Box::new(|| process(&PURLIN, arguments, case.code))));
        }
        let measured = in_turn(samples.max(1), &mut tasks);
        let floor = &measured[0].1;
        for (name, sample) in &measured {
            let case = group.iter().find(|(case, _)| case.name == name);
            let peak = match case {
                Some((_, arguments)) => peak(&PURLIN, arguments),
                None if name.starts_with("purlin") => peak(&PURLIN, &["--version".into()]),
                None => peak("/bin/true", &[]),
            };
            row(name, sample, floor, case.map(|(c, _)| c.goal), peak);
        }
    }
}

fn stages(samples: usize) {
    println!(
        "\nStages of one 1,000-line spec within one process, {samples} samples in turn, milliseconds:\n"
    );
    println!("| stage | median | p99 |");
    println!("|---|---|---|");
    let timed = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let mut tasks: Vec<(String, Task<'_>)> = vec![
        (
            "schema: read".into(),
            Box::new(move || {
                timed(&mut || drop(serde_json::from_str::<Json>(SCHEMA_TEXT).expect("the schema is JSON")))
            }),
        ),
        (
            "schema: compile".into(),
            Box::new(move || {
                timed(&mut || drop(Validator::new(schema(), &FORMATS).expect("the schema compiles")))
            }),
        ),
    ];
    for syntax in [Syntax::Kdl, Syntax::Yaml] {
        let mut sources = Sources::default();
        let file = sources.add("bench", spec(syntax, 1000, false));
        let doc = parse(&sources, file, syntax, schema(), &mut Findings::new()).expect("the spec is sound");
        let typed = from_value::<NodeSpec>(&doc.root).expect("the spec fits the types");
        let checked =
            compile::compile(&sources, file, syntax, &mut Findings::new()).expect("the spec is sound");
        let sources = std::rc::Rc::new(sources);
        let (doc, whole) = (std::rc::Rc::new(doc), sources.clone());
        let (for_types, for_check) = (doc.clone(), doc.clone());
        let name = |stage: &str| format!("{syntax:?}: {stage}");
        tasks.push((name("parse"), {
            Box::new(move || {
                timed(&mut || drop(parse(&sources, file, syntax, schema(), &mut Findings::new())))
            })
        }));
        tasks.push((name("validate"), {
            let validator = validator().expect("the schema compiles");
            Box::new(move || timed(&mut || assert!(validator.check(&doc, syntax, &mut Findings::new()))))
        }));
        tasks.push((name("types"), {
            Box::new(move || timed(&mut || drop(from_value::<NodeSpec>(&for_types.root))))
        }));
        tasks.push((name("check"), {
            Box::new(move || {
                timed(&mut || {
                    drop(node::check(&typed, &for_check, schema().root(), syntax, &mut Findings::new()))
                })
            })
        }));
        tasks.push((name("emit"), {
            Box::new(move || timed(&mut || drop(emit(&checked, None, &mut Findings::new()))))
        }));
        tasks.push((name("all of it"), {
            Box::new(move || {
                timed(&mut || {
                    let mut findings = Findings::new();
                    let node =
                        compile::compile(&whole, file, syntax, &mut findings).expect("the spec is sound");
                    drop(emit(&node, None, &mut findings));
                })
            })
        }));
    }
    for (name, sample) in in_turn(samples, &mut tasks) {
        println!("| {name} | {} | {} |", milliseconds(sample.median()), milliseconds(sample.p99()));
    }
}

fn main() {
    // `cargo test --all-targets` runs this as well: measuring is not its business.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let samples = std::env::var("PURLIN_BENCH_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    for syntax in [Syntax::Kdl, Syntax::Yaml] {
        let text = spec(syntax, 1000, false);
        println!("{syntax:?}: {} lines, {} bytes", text.lines().count(), text.len());
    }
    processes(samples, dir.path());
    stages(samples);
}
