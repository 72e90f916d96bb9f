//! `purlin explain`

use super::completion::explainable;
use super::specs::one_spec;
use super::tree::TreeOption;
use super::{FACTS_AND_TREES, Failure, OUTPUT, Outcome, OutputFormat, Session, input};
use crate::diag::{self, CODES, Code, Findings, Sources, guess};
use crate::emission::emit;
use crate::explain;
use crate::host::Root;
use crate::source::{Astray, Located, Syntax, locate};
use crate::spec;
use clap::{Args, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct Explain {
    /// A path of the spec, like networks.pods.bridge.mtu, or a diagnostic code, like PUR0101.
    ///
    /// Without either, all codes are listed.
    #[arg(value_name = "PATH|CODE", add = ArgValueCompleter::new(explainable))]
    what: Option<String>,
    /// Say also what this spec sets there, in which line of which file, and what it becomes.
    #[arg(long, value_name = "FILE", requires = "what", value_hint = ValueHint::FilePath)]
    spec: Option<PathBuf>,
    #[command(flatten)]
    tree: TreeOption,
    /// Facts of the node, as `purlin observe` writes them, for what the value becomes.
    #[arg(long, value_name = "FILE", requires = "spec", value_hint = ValueHint::FilePath, help_heading = FACTS_AND_TREES)]
    facts: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t, help_heading = OUTPUT)]
    format: Format,
}

/// An explanation is no finding: formats for those have no place for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Human,
    /// One versioned JSON document on stdout.
    Json,
}

impl Explain {
    pub fn run(&self, session: &Session) -> Outcome {
        let json = self.format == Format::Json;
        let Some(word) = &self.what else {
            if json {
                session.print_json(&explain::codes_json(CODES))?;
                return Ok(0);
            }
            let lines: Vec<_> =
                CODES.iter().map(|c| format!("{c}  {:7}  {}\n", c.severity().word(), c.title())).collect();
            session.print(&lines.concat())?;
            session.say("a path of the spec is explained too: `purlin explain networks`\n");
            return Ok(0);
        };
        if let Some(code) = Code::parse(word) {
            if self.spec.is_some() {
                return Err(Failure(format!("`{word}` is a code, which no spec sets; leave out `--spec`")));
            }
            match json {
                true => session.print_json(&explain::code_json(code))?,
                false => session.print(code.page())?,
            }
            return Ok(0);
        }
        let located = locate(spec::schema(), word).map_err(|astray| not_found(word, astray))?;
        match &self.spec {
            Some(file) => self.in_spec(&located, file, session),
            None => {
                let explanation = explain::explain(&located);
                match json {
                    true => session.print_json(&explain::json(&explanation, None))?,
                    false => session.print(&explain::human(&explanation, None, session.color_out))?,
                }
                Ok(0)
            }
        }
    }

    fn in_spec(&self, located: &Located<'_>, file: &Path, session: &Session) -> Outcome {
        if located.shape.is_include() || located.shape.is_defaults() {
            return Err(Failure(
                "includes and defaults are worked into the spec as it counts; ask for a value that they bring, or leave out `--spec`".to_owned(),
            ));
        }
        let host = self.facts.as_deref().map(input::facts_file).transpose()?;
        let mut sources = Sources::default();
        let mut findings = Findings::new();
        let spec = one_spec(file, &self.tree)?;
        let compiled = match input::spec(&spec, &mut sources, &mut findings)? {
            input::Spec::Whole(compiled) => Some(compiled),
            input::Spec::Broken | input::Spec::Part | input::Spec::Foreign => None,
        };
        let mut given = None;
        if let Some(compiled) = &compiled {
            let facts = match (&session.root, &compiled.node) {
                (Some(dir), Some(node)) => Some(input::tree(&Root::open(dir)?, host, node.platform())?.facts),
                _ => host,
            };
            if let Some(node) = &compiled.node {
                let _ = emit(node, facts.as_ref(), &mut findings);
                findings.mask_credentials();
            }
            let syntax = Syntax::of(&file.display().to_string()).unwrap_or_default();
            given = Some(explain::given(compiled, &sources, located, syntax, facts.as_ref()));
        }
        let settled = findings.settle();
        if self.format == Format::Human {
            input::show(&settled, &sources, session, OutputFormat::Human);
        }
        let explanation = explain::explain(located);
        let name = file.display().to_string();
        if self.format == Format::Json {
            let findings = diag::json::render(&settled.list, settled.silenced, &sources);
            let given = given.unwrap_or_default();
            session.print_json(&explain::json(&explanation, Some((&name, &given, findings))))?;
        } else if let Some(given) = &given {
            session.print(&explain::human(&explanation, Some((&name, given)), session.color_out))?;
        } else {
            session.say("what the spec sets can be told once it can be read\n");
        }
        Ok(u8::from(input::failed(&settled.list)))
    }
}

/// Neither a path nor a code.
fn not_found(word: &str, Astray(why): Astray) -> Failure {
    let code_like = word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("pur"));
    match guess(word, CODES.iter().map(|c| c.name())) {
        Some(near) if code_like => Failure(format!("there is no code `{word}`; did you mean {}?", near.word)),
        _ if code_like => Failure(format!("there is no code `{word}`; `purlin explain` lists them")),
        _ => Failure(why),
    }
}
