//! What an editor waits for, against the goal of 20 ms: each answer of src/editor on a spec of 1,000 lines, in process, as the
//! server gives it. `cargo bench --bench lsp` prints the table; `PURLIN_BENCH_SAMPLES` (200) sets how often each is asked.

#[path = "common/model.rs"]
mod model;

use model::spec;
use purlin::editor::{
    Analysis, Encoding, Known, Lines, complete, hover, look, names, occurrences, rename, spots, symbols,
    target,
};
use purlin::source::{Alone, Syntax};
use purlin::spec::schema;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const GOAL: Duration = Duration::from_millis(20);

/// Prints the median and the p99 of something done so often.
fn row(name: &str, samples: usize, work: &mut dyn FnMut()) {
    let mut times = Vec::with_capacity(samples);
    for round in 0..=samples {
        let start = Instant::now();
        work();
        // The first round warms caches.
        if round > 0 {
            times.push(start.elapsed());
        }
    }
    times.sort_unstable();
    let at = |part: f64| times[((times.len() as f64 * part).ceil() as usize).clamp(1, times.len()) - 1];
    let milliseconds = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
    let mark = if at(0.99) <= GOAL { "met" } else { "MISSED" };
    println!(
        "| {name} | {} | {} | ≤ {}: {mark} |",
        milliseconds(at(0.5)),
        milliseconds(at(0.99)),
        GOAL.as_millis()
    );
}

fn measure(syntax: Syntax, samples: usize) {
    let name = if syntax == Syntax::Kdl { "spec.kdl" } else { "spec.yaml" };
    let text: Arc<str> = spec(syntax, 1000, true).into();
    let made = || look(name, &text, name, syntax, &Alone);
    let analysis: Analysis = made();
    assert!(analysis.findings.is_empty(), "{:?}", analysis.findings);
    let file = &analysis.files[0];
    let find = |word: &str| text.rfind(word).expect("the spec has it") + 1;
    let label = |what: &str| format!("{what}, {syntax:?}");
    let known_names = |collection: &[String]| names(&analysis, collection).into_iter().collect::<Vec<_>>();
    let files = Vec::new;
    let known = Known { names: &known_names, files: &files, snippets: true };
    let (mtu, device, last) = (find("mtu"), find("device-1"), find("portmap"));
    row(&label("change to diagnostics"), samples, &mut || drop(black_box(made())));
    row(&label("change: spots anew"), samples, &mut || drop(black_box(spots(&text, syntax, schema()))));
    row(&label("completion of keys"), samples, &mut || {
        let (_, items) = complete(&text, last, syntax, schema(), &known).expect("a key may stand there");
        assert!(!black_box(items).is_empty());
    });
    row(&label("completion of names"), samples, &mut || {
        let at = text.find("device-1").expect("the spec has it") + 1;
        black_box(complete(&text, at, syntax, schema(), &known));
    });
    row(&label("hover"), samples, &mut || {
        let findings: Vec<_> = analysis.findings.iter().map(|d| (file.id, d)).collect();
        assert!(black_box(hover(&text, mtu, syntax, schema(), &file.spots, &findings)).is_some());
    });
    row(&label("definition"), samples, &mut || {
        let target = target(&file.spots, device).expect("a name");
        let lines = Lines::of(&text);
        let found = occurrences(&analysis, &target);
        assert!(found.len() > 1);
        found
            .iter()
            .for_each(|(_, span, _)| _ = black_box(lines.position(&text, span.start, Encoding::Utf16)));
    });
    row(&label("rename"), samples, &mut || {
        let edits = rename(&[&analysis], name, device, "other.example/device").expect("the name is free");
        assert!(black_box(edits)[name].len() > 1);
    });
    row(&label("symbols"), samples, &mut || assert!(!black_box(symbols(&file.spots)).is_empty()));
}

fn main() {
    // `cargo test --all-targets` runs this as well: measuring is not its business.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let samples = std::env::var("PURLIN_BENCH_SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    println!("\nAn editor's questions on a spec of 1,000 lines, {samples} samples each, milliseconds:\n");
    println!("| question | median | p99 | goal |");
    println!("|---|---|---|---|");
    for syntax in [Syntax::Kdl, Syntax::Yaml] {
        measure(syntax, samples);
    }
}
