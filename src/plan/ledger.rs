//! What is recorded once a plan has been carried out.

use super::{Impact, Plan};
use crate::facts::{Facts, Ledger, LedgerEntry, octal, sha256, within};
use std::collections::BTreeMap;

impl Plan {
    /// The record of what stands there once the plan is carried out; a generation more than the old record only when
    /// something is different.
    #[must_use]
    pub fn ledger(&self, facts: &Facts) -> Ledger {
        let made = self.artifacts.iter().map(|artifact| {
            let entry = LedgerEntry {
                sha256: sha256(&artifact.bytes),
                mode: octal(artifact.mode),
                restarts: match &artifact.impact {
                    Impact::Restart(unit) => Some(unit.clone()),
                    _ => None,
                },
            };
            (artifact.place.path(self.objects), entry)
        });
        let Some(old) = &facts.ledger else {
            return Ledger { generation: 1, entries: made.collect(), ..Ledger::default() };
        };
        // What stands where nothing could be seen was not taken away, and is ours as before.
        let unseen = |path: &str| {
            !facts.knows_place(path) && self.directories.iter().any(|directory| within(path, directory))
        };
        let kept = old.entries.iter().filter(|(path, _)| unseen(path)).map(|(p, e)| (p.clone(), e.clone()));
        let entries: BTreeMap<String, LedgerEntry> = kept.chain(made).collect();
        let same = old.entries == entries && old.pending.is_empty();
        Ledger { generation: old.generation.saturating_add(u64::from(!same)), entries, ..Ledger::default() }
    }
}

impl Ledger {
    /// The record while the plan that ends in this one is carried out: a run that is killed forgets neither what was
    /// there before nor what it made.
    #[must_use]
    pub fn underway(&self, old: Option<&Self>) -> Self {
        let (generation, entries) = old.map_or_else(Default::default, |o| (o.generation, o.entries.clone()));
        let pending = self.entries.iter().filter(|(path, entry)| entries.get(*path) != Some(entry));
        let pending = pending.map(|(path, entry)| (path.clone(), entry.clone())).collect();
        Self { generation, entries, pending, ..Self::default() }
    }
}
