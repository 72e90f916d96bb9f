//! What is recorded once a plan has been carried out.

use super::{Impact, Plan};
use crate::facts::{LEDGER_VERSION, Ledger, LedgerEntry, octal, sha256};
use std::collections::BTreeMap;

impl Plan {
    /// The record of what stands there once the plan is carried out; a generation more than the old record only when
    /// something is different.
    #[must_use]
    pub fn ledger(&self, old: Option<&Ledger>) -> Ledger {
        let entries: BTreeMap<String, LedgerEntry> = self
            .artifacts
            .iter()
            .map(|artifact| {
                let entry = LedgerEntry {
                    sha256: sha256(&artifact.bytes),
                    mode: octal(artifact.mode),
                    restarts: match &artifact.impact {
                        Impact::Restart(unit) => Some(unit.clone()),
                        _ => None,
                    },
                };
                (artifact.place.path(self.objects), entry)
            })
            .collect();
        let generation = match old {
            Some(old) if old.entries == entries => old.generation,
            Some(old) => old.generation + 1,
            None => 1,
        };
        Ledger { version: LEDGER_VERSION.to_owned(), generation, entries }
    }
}
