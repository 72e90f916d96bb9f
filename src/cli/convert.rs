//! `purlin convert`

use super::rewrite::{SyntaxWord, Text, fault, show};
use super::{Failure, OUTPUT, Outcome, Session};
use crate::diag::{Findings, Sources};
use crate::host;
use crate::source::{Rewritten, Syntax, convert, make_whole, parse, rename_includes};
use crate::spec::{schema, validator};
use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Convert {
    /// A node spec (.kdl, .yaml, .json); `-` is stdin.
    #[arg(value_name = "SPEC", value_hint = ValueHint::FilePath)]
    spec: PathBuf,
    /// The syntax to write.
    #[arg(long, value_enum, value_name = "SYNTAX")]
    to: SyntaxWord,
    /// Where to write it; without it, it goes to stdout.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// The syntax of what is read, where no file name tells it: on stdin.
    #[arg(long, value_enum, value_name = "SYNTAX")]
    syntax: Option<SyntaxWord>,
}

impl Convert {
    pub fn run(&self, session: &Session) -> Outcome {
        let to = self.to.syntax();
        if let Some(path) = &self.output {
            let name = path.display().to_string();
            if path.is_dir() {
                return Err(Failure(format!("`{name}` is a directory; name a file")));
            }
            if Syntax::of(&name).is_some_and(|named| named != to) {
                return Err(Failure(format!(
                    "`{name}` is not named for what `--to` says; change one of them"
                )));
            }
        }
        let (mut sources, mut findings) = (Sources::default(), Findings::new());
        let text = Text::read(&self.spec, self.syntax, &mut sources, &mut findings)?;
        let doc = text.file.and_then(|file| parse(&sources, file, text.syntax, schema(), &mut findings));
        // What the schema does not know has no form in another syntax.
        let doc = doc.filter(|doc| {
            // What is missing in one file may stand in another: only what is there has to have a form.
            let mut alone = doc.clone();
            make_whole(&mut alone);
            validator().is_some_and(|v| v.check_part(&alone, text.syntax, &mut findings))
                && !findings.has_errors()
        });
        let Some(mut doc) = doc else {
            findings.cut_short();
            show(findings, sources, session);
            return Ok(1);
        };
        let renamed = rename_includes(&mut doc, to, schema());
        let written = match convert(&doc, to, schema()) {
            Rewritten::Text(written) => written,
            Rewritten::NoForm => {
                return Err(Failure(format!(
                    "`{}` would be longer than a spec may be; split it first",
                    text.name
                )));
            }
            _ => return Err(fault(&text.name, "convert")),
        };
        match &self.output {
            Some(path) => host::replace(path, written.as_bytes(), 0o644)
                .map_err(|e| Failure(format!("cannot write `{}`: {e}", path.display())))?,
            None => session.print(&written)?,
        }
        if renamed > 0 {
            session.say("the includes are named for the new syntax; convert those files too\n");
        }
        let left_out = if to == Syntax::Json { doc.comments().len() } else { 0 };
        if left_out > 0 {
            let comments =
                if left_out == 1 { "1 comment is".to_owned() } else { format!("{left_out} comments are") };
            session.say(&format!("{comments} left out, as JSON has none\n"));
        }
        Ok(0)
    }
}
