//! `purlin migrate`

use super::rewrite::{Texts, Words};
use super::{Outcome, Session};
use crate::source::migrate;
use crate::spec::{MIGRATIONS, schema};
use clap::Args;

#[derive(Debug, Args)]
pub struct Migrate {
    #[command(flatten)]
    texts: Texts,
}

impl Migrate {
    pub fn run(&self, session: &Session) -> Outcome {
        let words = Words {
            done: "migrated",
            same: Some("is of the newest version, nothing to do"),
            verb: "migrate",
        };
        self.texts.run(session, &words, &|sources, file, syntax, findings| {
            migrate(sources, file, syntax, schema(), MIGRATIONS, findings)
        })
    }
}
