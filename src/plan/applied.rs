//! What a host would be like once a plan was carried out: the other side of a comparison of two specs.

use super::Plan;
use crate::facts::platform::Platform;
use crate::facts::{Facts, File, FileKind, octal, sha256};

impl Plan {
    /// The facts as they would be. They are simulated: nothing of this was seen. Without facts to begin with, the host
    /// has nothing in our places but what the plan makes.
    #[must_use]
    pub fn applied(&self, before: Option<&Facts>, platform: &Platform) -> Facts {
        let mut facts = before.cloned().unwrap_or_else(|| Facts {
            places: platform.places().into_iter().map(str::to_owned).collect(),
            ..Facts::default()
        });
        facts.simulated = true;
        facts.places.insert(self.objects.to_owned());
        let ledger = self.ledger(&facts);
        if let Some(old) = facts.ledger.take() {
            facts
                .files
                .retain(|path, _| !old.entries.contains_key(path) || ledger.entries.contains_key(path));
        }
        for (path, (adoption, _)) in &self.adoptions {
            if *adoption == crate::spec::Adoption::Remove {
                facts.files.remove(path);
            }
        }
        for artifact in &self.artifacts {
            let path = artifact.place.path(self.objects);
            let file = File {
                kind: FileKind::Regular,
                mode: octal(artifact.mode),
                owner: None,
                size: Some(artifact.bytes.len() as u64),
                keyed_hash: None,
                sha256: Some(sha256(&artifact.bytes)),
                text: Some(String::from_utf8_lossy(&artifact.bytes).into_owned()),
                target: None,
            };
            facts.files.insert(path, file);
        }
        facts.ledger = Some(ledger);
        facts
    }
}
