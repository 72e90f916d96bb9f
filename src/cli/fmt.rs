//! `purlin fmt`

use super::rewrite::{Texts, Words};
use super::{Outcome, Session};
use crate::source::format;
use crate::spec::schema;
use clap::Args;

#[derive(Debug, Args)]
pub struct Fmt {
    #[command(flatten)]
    texts: Texts,
}

impl Fmt {
    pub fn run(&self, session: &Session) -> Outcome {
        let words = Words { done: "formatted", same: None, verb: "format" };
        self.texts.run(session, &words, &|sources, file, syntax, findings| {
            format(sources, file, syntax, schema(), findings)
        })
    }
}
