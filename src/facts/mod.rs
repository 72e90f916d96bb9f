//! Everything about a host that a plan or a diff may depend on, as one versioned value.
//!
//! Facts are data: only `host/` makes them from a live host, and a file of them stands in for that host anywhere. They
//! hold no secret: of a file that others may not read there is a keyed hash only.

pub mod platform;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The version word of the facts that this binary writes and reads.
pub const VERSION: &str = "purlin.dev/facts/v1alpha1";

/// Bytes of facts in JSON.
pub const BYTES: usize = 16 << 20;
/// Bytes of one file's text; of a longer one there is a hash only.
pub const TEXT: usize = 256 << 10;
/// Values in facts: small ones take many times the memory of their text.
const VALUES: usize = 500_000;

/// What is known of a host. An absent part was not looked at; an empty one was, and there was nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "facts, as an object")]
pub struct Facts {
    /// `purlin.dev/facts/v1alpha1`.
    pub version: String,
    /// Only files were looked at (under `--root`), or the facts were written by hand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// The kernel's boot id: facts that die with a boot are recorded with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// The kernel's release, as `uname -r` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The version of the control groups that the host runs on: 1 (also in its hybrid form) or 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2))]
    pub cgroup: Option<u8>,
    /// Base directories that are reached through a link: the platform's path, and where it leads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub directories: BTreeMap<String, String>,
    /// Programs that serve the node, by name (`containerd`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemons: Option<BTreeMap<String, Daemon>>,
    /// Directories whose executables are all listed in `binaries`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub searched: BTreeSet<String>,
    /// Executable files of the searched directories, by path; those a spec may name.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub binaries: BTreeSet<String>,
    /// CNI plugins by type, with their answer to VERSION.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cni_plugins: Option<BTreeMap<String, CniPlugin>>,
    /// Directories whose files are all listed in `files`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub places: BTreeSet<String>,
    /// Files in Purlin's places, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, File>,
    /// Device nodes below /dev, by path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<BTreeMap<String, DeviceNode>>,
    /// GPUs, as their vendor's library lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<Vec<Gpu>>,
    /// Network links of the host's namespace, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<BTreeMap<String, Link>>,
    /// What Purlin last applied here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            version: VERSION.to_owned(),
            simulated: false,
            boot_id: None,
            kernel: None,
            cgroup: None,
            directories: BTreeMap::new(),
            daemons: None,
            searched: BTreeSet::new(),
            binaries: BTreeSet::new(),
            cni_plugins: None,
            places: BTreeSet::new(),
            files: BTreeMap::new(),
            devices: None,
            gpus: None,
            links: None,
            ledger: None,
        }
    }
}

/// A program that serves the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a daemon, as an object")]
pub struct Daemon {
    /// The binary that was asked.
    pub path: String,
    /// Its version without a leading `v`, as it prints it (`2.1.9`).
    pub version: String,
}

/// A CNI plugin binary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a CNI plugin, as an object")]
pub struct CniPlugin {
    pub path: String,
    /// `supportedVersions` of its answer to VERSION (CNI 1.1.0, section 3); empty when it gave none.
    pub versions: Vec<String>,
}

/// What kind of thing stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FileKind {
    Regular,
    Directory,
    Symlink,
    Other,
}

/// A file in one of Purlin's places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a file, as an object")]
pub struct File {
    pub kind: FileKind,
    /// Permission bits in octal (`0644`).
    pub mode: String,
    /// Owner and group; absent under `--root`, where they mean nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// SHA-256 in hexadecimal of a regular file that everybody may read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// HMAC-SHA-256 in hexadecimal, keyed per node, of a file that others may not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyed_hash: Option<String>,
    /// The content, where it is UTF-8 text, at most 256 KiB, and everybody may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where a symbolic link points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// Numeric user and group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an owner, as an object")]
pub struct Owner {
    pub uid: u32,
    pub gid: u32,
}

/// Character or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DeviceKind {
    Character,
    Block,
}

/// A node below /dev.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a device node, as an object")]
pub struct DeviceNode {
    pub kind: DeviceKind,
    pub major: u32,
    pub minor: u32,
    /// Permission bits in octal (`0660`).
    pub mode: String,
    pub uid: u32,
    pub gid: u32,
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a GPU, as an object")]
pub struct Gpu {
    /// The vendor's stable name (`GPU-8f1c…`).
    pub uuid: String,
    /// The product's name.
    pub product: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Its device nodes.
    pub nodes: Vec<String>,
    /// Device nodes that every container with a GPU of this vendor needs besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_nodes: Vec<String>,
}

/// A network link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a link, as an object")]
pub struct Link {
    /// The kernel's name of its kind (`bridge`, `veth`); absent for hardware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Bytes.
    pub mtu: u32,
    pub up: bool,
    /// Addresses with their prefix.
    #[schemars(with = "Vec<String>")]
    pub addresses: Vec<IpNet>,
}

/// The durable record of what Purlin last applied. Without an entry here nothing is ever deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a ledger, as an object")]
pub struct Ledger {
    /// `purlin.dev/ledger/v1alpha1`.
    pub version: String,
    /// The generation applied; the first is 1.
    pub generation: u64,
    /// What was applied, by place.
    pub entries: BTreeMap<String, LedgerEntry>,
    /// What was about to be applied when this was written: the run did not come to its end, unless it is still at work.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pending: BTreeMap<String, LedgerEntry>,
}

impl Default for Ledger {
    fn default() -> Self {
        let (entries, pending) = Default::default();
        Self { version: LEDGER_VERSION.to_owned(), generation: 0, entries, pending }
    }
}

/// The version word of the ledger that this binary writes and reads.
pub const LEDGER_VERSION: &str = "purlin.dev/ledger/v1alpha1";

/// One thing that Purlin made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an entry of the ledger, as an object")]
pub struct LedgerEntry {
    /// SHA-256 in hexadecimal of the bytes applied.
    pub sha256: String,
    /// Permission bits in octal.
    pub mode: String,
    /// The unit that was restarted for it, and must be again when it goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<String>,
}

impl LedgerEntry {
    /// Whether a file is as this entry says that it was left.
    #[must_use]
    pub fn matches(&self, file: &File) -> bool {
        file.kind == FileKind::Regular && file.sha256.as_ref() == Some(&self.sha256) && file.mode == self.mode
    }
}

/// Facts that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    #[error("the facts are not valid: {0}; make them with `purlin observe`")]
    Invalid(#[from] serde_json::Error),
    #[error(
        "the facts are longer than the limit of {BYTES} bytes; make them with `purlin observe`, which writes no more"
    )]
    Long,
    #[error(
        "the facts have more values than the limit of {VALUES}; make them with `purlin observe`, which lists fewer"
    )]
    Many,
    #[error(
        "the text of `{path}` in the facts is longer than the limit of {TEXT} bytes; leave it out, as `purlin observe` does"
    )]
    Text { path: String },
    #[error("two GPUs of the facts have the uuid `{uuid}`; give each its own")]
    Gpus { uuid: String },
    #[error(
        "the facts are of version `{found}`, this purlin reads `{VERSION}`; make them anew with `purlin observe`"
    )]
    Version { found: String },
    #[error(
        "the ledger is of version `{found}`, this purlin reads `{LEDGER_VERSION}`; use the purlin that wrote it, or a newer one"
    )]
    Ledger { found: String },
}

impl Facts {
    /// Reads facts from JSON.
    ///
    /// # Errors
    /// When the text is no facts, of another version, or beyond a limit.
    pub fn from_json(text: &str) -> Result<Self, FactsError> {
        #[derive(Deserialize)]
        #[serde(expecting = "facts, as an object")]
        struct Word {
            version: String,
        }
        // Some editors and shells begin a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > BYTES {
            return Err(FactsError::Long);
        }
        if values(text) > VALUES {
            return Err(FactsError::Many);
        }
        // The version word first: facts of another version would otherwise fail with a riddle about some field.
        let word: Word = serde_json::from_str(text)?;
        if word.version != VERSION {
            return Err(FactsError::Version { found: word.version });
        }
        let mut facts: Self = serde_json::from_str(text)?;
        if let Some(ledger) = facts.ledger.as_ref().filter(|l| l.version != LEDGER_VERSION) {
            return Err(FactsError::Ledger { found: ledger.version.clone() });
        }
        let mut long = facts.files.iter().filter(|(_, f)| f.text.as_ref().is_some_and(|t| t.len() > TEXT));
        if let Some((path, _)) = long.next() {
            return Err(FactsError::Text { path: path.clone() });
        }
        let mut seen = BTreeSet::new();
        if let Some(gpu) = facts.gpus.iter().flatten().find(|gpu| !seen.insert(&gpu.uuid)) {
            return Err(FactsError::Gpus { uuid: gpu.uuid.clone() });
        }
        facts.settle();
        Ok(facts)
    }

    /// Of what a run was about to make when it was killed, what stands there as it was meant to counts as made. The rest
    /// it did not come to: what stands there is somebody else's, or as the run before left it.
    pub fn settle(&mut self) {
        let Some(ledger) = &mut self.ledger else { return };
        for (path, entry) in &ledger.pending {
            if self.files.get(path).is_some_and(|file| entry.matches(file)) {
                ledger.entries.insert(path.clone(), entry.clone());
            }
        }
    }

    /// What Purlin is known to have made at a path. It makes files only: whatever else stands there now is not its own.
    #[must_use]
    pub fn ours(&self, path: &str) -> Option<&LedgerEntry> {
        let entry = self.ledger.as_ref()?.entries.get(path)?;
        self.files.get(path).is_none_or(|file| file.kind == FileKind::Regular).then_some(entry)
    }

    /// Writes facts as JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Every map has string keys and no value can fail to serialise.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Where a path leads, as far as base directories that are links tell.
    #[must_use]
    pub fn real(&self, path: &str) -> String {
        let path = path.trim_end_matches('/');
        let ends = path.rmatch_indices('/').map(|(at, _)| at);
        let link = std::iter::once(path.len()).chain(ends).find_map(|end| {
            let real = self.directories.get(&path[..end])?;
            Some(format!("{real}{}", &path[end..]))
        });
        link.unwrap_or_else(|| path.to_owned())
    }

    /// Whether two paths name one place, as far as base directories that are links tell.
    #[must_use]
    pub fn same_place(&self, a: &str, b: &str) -> bool {
        self.real(a) == self.real(b)
    }

    /// Whether all executables of a directory are listed, under its own name or that of the directory it leads to.
    #[must_use]
    pub fn has_searched(&self, directory: &str) -> bool {
        let real = self.directories.get(directory).map_or(directory, String::as_str);
        self.searched.contains(directory) || self.searched.contains(real)
    }

    /// Whether all files below the path's directory are listed.
    #[must_use]
    pub fn knows_place(&self, path: &str) -> bool {
        self.places.iter().any(|p| within(path, p))
    }
}

/// How many values a JSON text has at most, for a limit before the parser.
fn values(text: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    text.bytes()
        .filter(|byte| {
            let inside = quoted;
            quoted ^= *byte == b'"' && !escaped;
            escaped = inside && *byte == b'\\' && !escaped;
            !inside && matches!(byte, b',' | b'[' | b'{')
        })
        .count()
}

/// Whether `path` is `directory` or stands below it.
#[must_use]
pub fn within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Permission bits as facts and ledgers write them: `0644`.
#[must_use]
pub fn octal(mode: u32) -> String {
    format!("{mode:04o}")
}

/// SHA-256 in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    use std::fmt::Write;
    sha2::Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
