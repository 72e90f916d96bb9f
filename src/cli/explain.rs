//! `purlin explain`

use super::{Failure, Outcome, Session};
use crate::diag::{CODES, Code, guess};
use clap::Args;

#[derive(Debug, Args)]
pub struct Explain {
    /// A diagnostic code, like PUR0101. Without one, all codes are listed.
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

impl Explain {
    pub fn run(&self, session: &Session) -> Outcome {
        let Some(word) = &self.code else {
            let lines: Vec<_> =
                CODES.iter().map(|c| format!("{c}  {:7}  {}\n", c.severity().word(), c.title())).collect();
            session.print(&lines.concat())?;
            return Ok(0);
        };
        let Some(code) = Code::parse(word) else {
            let near = guess(word, CODES.iter().map(|c| c.name())).map(|g| g.word);
            let remedy =
                near.map_or("`purlin explain` lists them".to_owned(), |n| format!("did you mean {n}?"));
            return Err(Failure(format!("there is no code `{word}`; {remedy}")));
        };
        session.print(code.page())?;
        Ok(0)
    }
}
