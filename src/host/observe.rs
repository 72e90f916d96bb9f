//! Facts about a host: what is there, read once, in a fixed order, within limits.
//!
//! Nothing here judges what it sees. What cannot be read becomes a warning, and its place is left out of what is known;
//! only a ledger that cannot be understood is an error, because to go on without it would be to forget what is ours.

use super::program::{self, Question};
use super::root::{self, Root, join, kind, read_regular};
use super::{HostError, bases, is_temporary};
use crate::facts::platform::Platform;
use crate::facts::{
    self, CniPlugin, Daemon, DeviceKind, DeviceNode, Facts, File, FileKind, LEDGER_VERSION, Ledger, Owner,
};
use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::os::fd::{AsFd, OwnedFd};

/// Entries in all places together.
const ENTRIES: usize = 10_000;
/// Directories below each other in a place.
const DEPTH: usize = 8;
/// Bytes of all texts together, as JSON writes them: half of what a reader of facts takes.
const TEXTS: usize = facts::BYTES / 2;
/// Bytes of a file that is hashed.
const FILE: u64 = 16 << 20;
/// Bytes that are read in all.
const BYTES: u64 = 256 << 20;
/// Executables in all searched directories together.
const EXECUTABLES: usize = 20_000;
/// Nodes below /dev.
const DEVICES: usize = 4096;
/// CNI plugins that are asked, and how many at the same time.
const PLUGINS: usize = 256;
const PARALLEL: usize = 4;
/// Below /dev, what is no hardware.
const NO_DEVICES: &[&str] = &["fd", "pts", "shm", "mqueue", "hugepages"];
const MACHINE_ID: &str = "/etc/machine-id";

/// Facts, and what is missing from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub facts: Facts,
    /// What could not be looked at, one sentence each, and why.
    pub warnings: Vec<String>,
    /// Why the ledger that is there could not be read: what is Purlin's is not known then, and so no place is.
    pub unread_ledger: Option<String>,
    /// Temporary files of a transaction that is at work or was killed. They are no facts.
    pub leftovers: Vec<String>,
}

/// Looks at a host.
///
/// `live` says that the root is the running host's: then its kernel, links and daemons are asked too, and its CNI
/// plugins are run. Without it only files count, and nothing of the root is ever executed. `extra_paths` are further
/// paths a spec names: a directory becomes one more place; of anything else the directory is searched for executables,
/// and what is no executable is listed like a file of a place.
///
/// # Errors
/// When the ledger is there, and is not valid or of another version. Everything else that fails is a warning, or, when
/// the ledger may not be read, in `unread_ledger`.
pub fn observe(
    root: &Root,
    live: bool,
    platform: &Platform,
    extra_paths: &[String],
) -> Result<Observed, HostError> {
    let mut observer = Observer {
        root,
        live,
        facts: Facts { simulated: !live, ..Facts::default() },
        warnings: Vec::new(),
        unread_ledger: None,
        leftovers: Vec::new(),
        entries: ENTRIES,
        bytes: BYTES,
        executables: EXECUTABLES,
        texts: TEXTS,
        left_out: Vec::new(),
        key: None,
    };
    observer.facts.ledger = observer.ledger(platform)?;
    observer.leftovers(platform.state);
    observer.key = observer.key();
    if live {
        observer.facts.boot_id = observer.kernel("/proc/sys/kernel/random/boot_id");
        observer.facts.kernel = observer.kernel("/proc/sys/kernel/osrelease");
        observer.facts.cgroup = cgroup_version();
    }
    observer.directories(platform);
    for place in platform.places() {
        observer.place(place);
    }
    for dir in platform.binaries.iter().chain([&platform.cni_bin]) {
        // Of two names for one directory (/bin is /usr/bin on most hosts) the real one is enough.
        let twin = observer.facts.directories.get(*dir);
        if !twin.is_some_and(|real| platform.binaries.contains(&real.as_str())) {
            observer.search(dir);
        }
    }
    for path in extra_paths.iter().collect::<BTreeSet<_>>() {
        observer.extra(path);
    }
    if let Some(first) = observer.left_out.first() {
        let more = observer.left_out.len() - 1;
        observer.warnings.push(format!(
            "the files have more text than the {TEXTS} bytes that facts hold; that of `{first}` and {more} more is left out, remove files that do not belong there"
        ));
    }
    observer.devices();
    observer.plugins(platform);
    if live {
        observer.daemons(platform);
        #[cfg(feature = "agent")]
        observer.links();
    }
    if observer.unread_ledger.is_some() {
        // Which of the files are ours is not known, and every one of them would look foreign.
        observer.facts.places.clear();
        observer.facts.files.clear();
    }
    observer.facts.settle();
    let Observer { facts, warnings, unread_ledger, leftovers, .. } = observer;
    Ok(Observed { facts, warnings, unread_ledger, leftovers })
}

/// By what is mounted where every distribution mounts it (cgroups(7)); nothing there says nothing.
fn cgroup_version() -> Option<u8> {
    /// `CGROUP2_SUPER_MAGIC` of linux/magic.h.
    const CGROUP2: u64 = 0x6367_7270;
    let mounted = rustix::fs::statfs("/sys/fs/cgroup").ok()?;
    Some(if u64::try_from(mounted.f_type).ok()? == CGROUP2 { 2 } else { 1 })
}

struct Observer<'a> {
    root: &'a Root,
    live: bool,
    facts: Facts,
    warnings: Vec<String>,
    unread_ledger: Option<String>,
    leftovers: Vec<String>,
    entries: usize,
    bytes: u64,
    executables: usize,
    texts: usize,
    /// Files whose text found no room.
    left_out: Vec<String>,
    key: Option<[u8; 32]>,
}

impl Observer<'_> {
    fn warn(&mut self, what: impl ToString) {
        self.warnings.push(what.to_string());
    }

    /// The value, or a warning.
    fn tried<T>(&mut self, result: Result<T, HostError>) -> Option<T> {
        result.map_err(|e| self.warn(e)).ok()
    }

    fn ledger(&mut self, platform: &Platform) -> Result<Option<Ledger>, HostError> {
        let path = platform.ledger();
        let read = self.root.read(&bases(platform), &path, FILE);
        if let Err(error) = &read
            && error.is_denied()
        {
            self.unread_ledger = Some(error.to_string());
            return Ok(None);
        }
        let Some(bytes) = read? else { return Ok(None) };
        #[derive(serde::Deserialize)]
        #[serde(expecting = "a ledger, as an object")]
        struct Word {
            version: String,
        }
        let fail = |source| HostError::Ledger { path: path.clone(), source };
        // The version word first: another version would otherwise fail with a riddle about some field.
        let Word { version } = serde_json::from_slice(&bytes).map_err(fail)?;
        if version != LEDGER_VERSION {
            return Err(HostError::LedgerVersion { path, found: version });
        }
        serde_json::from_slice(&bytes).map(Some).map_err(fail)
    }

    /// Temporary files of ours in a directory that is no place.
    fn leftovers(&mut self, path: &str) {
        // What may not be looked at is nothing that a transaction of this user could have left.
        let Ok(Some(dir)) = self.open(path) else { return };
        let names = names(&dir, path, self.entries).unwrap_or_default();
        let ours = names.into_iter().flatten().filter(|name| is_temporary(name));
        self.leftovers.extend(ours.map(|name| join(path, &name)));
    }

    /// The key of this node's hashes of secrets. Without a machine id there is none, and then no hash.
    fn key(&mut self) -> Option<[u8; 32]> {
        let id = self.root.read_linked(MACHINE_ID, 4096);
        let id = self.tried(id)??;
        let id = id.trim_ascii();
        if id.is_empty() || id == b"uninitialized" {
            return None;
        }
        Some(Sha256::new().chain_update(b"purlin\0").chain_update(id).finalize().into())
    }

    fn kernel(&mut self, path: &str) -> Option<String> {
        let text = std::fs::read_to_string(path).map_err(|e| HostError::io("read", path, e));
        self.tried(text).map(|t| t.trim().to_owned())
    }

    fn directories(&mut self, platform: &Platform) {
        let mut paths = bases(platform);
        paths.extend([platform.cni_bin, platform.device_plugins]);
        paths.extend(platform.binaries);
        for path in paths {
            let real = self.root.leads(path);
            if let Some(real) = self.tried(real).filter(|real| real != path) {
                self.facts.directories.insert(path.to_owned(), real);
            }
        }
    }

    fn extra(&mut self, path: &str) {
        // Bases do not matter, only that it is a path.
        if let Err(e) = root::split(&["/"], path) {
            return self.warn(e);
        }
        let found = self.root.follow(path).and_then(|found| {
            found.map(|fd| rustix::fs::fstat(&fd).map_err(|e| HostError::io("look at", path, e))).transpose()
        });
        let Some(stat) = self.tried(found) else { return };
        if stat.as_ref().is_some_and(|s| kind(s) == FileType::Directory) {
            if !self.facts.knows_place(path) {
                self.place(path);
            }
            return;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = if parent.is_empty() { "/" } else { parent };
        if !self.facts.searched.contains(parent) {
            self.search(parent);
        }
        if stat.is_some_and(|s| executable(&s)) || self.facts.knows_place(path) {
            return;
        }
        let mut complete = true;
        if let Some(dir) = self.tried(self.open(parent))
            && let Some(dir) = dir
        {
            complete = self.entry(&dir, parent, name, DEPTH);
        }
        if complete {
            self.facts.places.insert(path.to_owned());
        }
    }

    /// A directory that can be listed. Absent when it does not exist.
    fn open(&self, path: &str) -> Result<Option<OwnedFd>, HostError> {
        let Some(fd) = self.root.base(path)? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::openat(&fd, ".", flags, Mode::empty()) {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(HostError::io("list", path, e)),
        }
    }

    fn place(&mut self, path: &str) {
        let opened = self.open(path).and_then(|dir| match dir {
            None => self.root.can_be_made(path).map(|()| None),
            dir => Ok(dir),
        });
        let Some(dir) = self.tried(opened) else { return };
        if dir.is_none_or(|dir| self.directory(&dir, path, 1)) {
            self.facts.places.insert(path.to_owned());
        }
    }

    /// Lists a directory of a place; whether all of it.
    fn directory(&mut self, dir: &OwnedFd, path: &str, depth: usize) -> bool {
        let names = match names(dir, path, self.entries) {
            Ok(names) => names,
            Err(e) => {
                self.warn(e);
                return false;
            }
        };
        self.entries = self.entries.saturating_sub(names.len());
        let mut complete = true;
        for name in names {
            match name {
                Ok(name) => complete &= self.entry(dir, path, &name, depth),
                Err(name) => {
                    self.warn(HostError::Name { directory: path.to_owned(), name });
                    complete = false;
                }
            }
        }
        complete
    }

    /// Lists one entry of a directory, and what is below it; whether all of it.
    fn entry(&mut self, dir: &OwnedFd, parent: &str, name: &str, depth: usize) -> bool {
        let path = join(parent, name);
        let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // It went away meanwhile.
            Err(Errno::NOENT) => return true,
            Err(e) => {
                self.warn(HostError::io("look at", path, e));
                return false;
            }
        };
        if kind(&stat) == FileType::RegularFile && is_temporary(name) {
            self.leftovers.push(path);
            return true;
        }
        let mut file = self.file(&stat);
        let mut complete = true;
        match file.kind {
            FileKind::Directory if depth >= DEPTH => {
                self.warn(HostError::Limit {
                    path: path.clone(),
                    limit: DEPTH as u64,
                    what: "directories above it",
                });
                complete = false;
            }
            FileKind::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                match rustix::fs::openat(dir, name, flags, Mode::empty()) {
                    Ok(inner) => complete = self.directory(&inner, &path, depth + 1),
                    Err(Errno::NOENT) => return true,
                    Err(e) => {
                        self.warn(HostError::io("list", path.clone(), e));
                        complete = false;
                    }
                }
            }
            FileKind::Symlink => match rustix::fs::readlinkat(dir, name, Vec::new()).map(|t| t.into_string())
            {
                Ok(Ok(target)) => file.target = Some(target),
                Ok(Err(_)) => {
                    self.warn(HostError::Name { directory: path.clone(), name: "its target".to_owned() });
                    return false;
                }
                Err(Errno::NOENT) => return true,
                Err(e) => {
                    self.warn(HostError::io("read the link", path, e));
                    return false;
                }
            },
            FileKind::Regular => {
                let flags =
                    OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
                match rustix::fs::openat(dir, name, flags, Mode::empty()) {
                    Ok(fd) => match self.content(fd, &path) {
                        Ok(read) => file = read,
                        Err(e @ HostError::Limit { .. }) => self.warn(e),
                        Err(e) => {
                            self.warn(e);
                            return false;
                        }
                    },
                    Err(Errno::NOENT) => return true,
                    Err(e) => {
                        self.warn(HostError::io("read", path, e));
                        return false;
                    }
                }
            }
            FileKind::Other => {}
        }
        self.facts.files.insert(path, file);
        complete
    }

    fn file(&self, stat: &Stat) -> File {
        let regular = kind(stat) == FileType::RegularFile;
        File {
            kind: match kind(stat) {
                FileType::RegularFile => FileKind::Regular,
                FileType::Directory => FileKind::Directory,
                FileType::Symlink => FileKind::Symlink,
                _ => FileKind::Other,
            },
            mode: mode(stat),
            owner: self.live.then_some(Owner { uid: stat.st_uid, gid: stat.st_gid }),
            size: regular.then(|| u64::try_from(stat.st_size).unwrap_or_default()),
            sha256: None,
            keyed_hash: None,
            text: None,
            target: None,
        }
    }

    /// Reads a file. What counts is what was opened, not what was listed before.
    ///
    /// Its own mode decides whether it is a secret, not its directory's: containerd makes /etc/cni/net.d itself with
    /// 0700, and what lies there is no secret for that.
    fn content(&mut self, fd: OwnedFd, path: &str) -> Result<File, HostError> {
        let stat = rustix::fs::fstat(&fd).map_err(|e| HostError::io("look at", path, e))?;
        let mut file = self.file(&stat);
        let bytes = read_regular(fd, path, FILE.min(self.bytes))?;
        self.bytes -= (bytes.len() as u64).min(self.bytes);
        file.size = Some(bytes.len() as u64);
        if stat.st_mode & 0o004 != 0 {
            file.sha256 = Some(facts::sha256(&bytes));
            file.text = if bytes.len() <= facts::TEXT { String::from_utf8(bytes).ok() } else { None };
            // As it stands in the facts: an escaped letter takes up to six.
            let size = file.text.as_ref().and_then(|t| serde_json::to_string(t).ok()).map_or(0, |t| t.len());
            match self.texts.checked_sub(size) {
                Some(left) => self.texts = left,
                None => {
                    file.text = None;
                    self.left_out.push(path.to_owned());
                }
            }
        } else {
            file.keyed_hash = self.key.and_then(|key| keyed(&key, &bytes));
        }
        Ok(file)
    }

    fn search(&mut self, path: &str) {
        let opened = self.open(path);
        let Some(dir) = self.tried(opened) else { return };
        let Some(dir) = dir else {
            self.facts.searched.insert(path.to_owned());
            return;
        };
        let Some(names) = self.tried(names(&dir, path, self.executables)) else { return };
        self.executables = self.executables.saturating_sub(names.len());
        // A name that is not UTF-8 cannot stand in a spec, so it is not missed.
        for name in names.into_iter().flatten() {
            let inner = join(path, &name);
            let Ok(stat) = rustix::fs::statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            // A link counts as what it leads to inside the root; one that leads nowhere is no program.
            let stat = if kind(&stat) == FileType::Symlink {
                let Ok(Some(fd)) = self.root.follow(&inner) else { continue };
                let Ok(stat) = rustix::fs::fstat(&fd) else { continue };
                stat
            } else {
                stat
            };
            if executable(&stat) {
                self.facts.binaries.insert(inner);
            }
        }
        self.facts.searched.insert(path.to_owned());
    }

    fn devices(&mut self) {
        let Some(dir) = self.tried(self.open("/dev")) else { return };
        let Some(dir) = dir else { return };
        let mut devices = BTreeMap::new();
        let mut left = DEVICES;
        if self.nodes(&dir, "/dev", 1, &mut left, &mut devices) {
            self.facts.devices = Some(devices);
        }
    }

    /// Lists device nodes; false when there are too many to say what is there.
    fn nodes(
        &mut self,
        dir: &OwnedFd,
        path: &str,
        depth: usize,
        left: &mut usize,
        devices: &mut BTreeMap<String, DeviceNode>,
    ) -> bool {
        let Some(names) = self.tried(names(dir, path, *left)) else { return false };
        *left -= names.len().min(*left);
        for name in names {
            let name = match name {
                Ok(name) => name,
                Err(name) => {
                    self.warn(HostError::Name { directory: path.to_owned(), name });
                    continue;
                }
            };
            if path == "/dev" && NO_DEVICES.contains(&name.as_str()) {
                continue;
            }
            let Ok(stat) = rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let inner = join(path, &name);
            let kind = match kind(&stat) {
                FileType::CharacterDevice => DeviceKind::Character,
                FileType::BlockDevice => DeviceKind::Block,
                FileType::Directory if depth < DEPTH => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    match rustix::fs::openat(dir, &name, flags, Mode::empty()) {
                        Ok(fd) => {
                            if !self.nodes(&fd, &inner, depth + 1, left, devices) {
                                return false;
                            }
                        }
                        Err(e) => self.warn(HostError::io("list", inner, e)),
                    }
                    continue;
                }
                _ => continue,
            };
            let node = DeviceNode {
                kind,
                major: rustix::fs::major(stat.st_rdev),
                minor: rustix::fs::minor(stat.st_rdev),
                mode: mode(&stat),
                uid: stat.st_uid,
                gid: stat.st_gid,
            };
            devices.insert(inner, node);
        }
        true
    }

    fn plugins(&mut self, platform: &Platform) {
        if !self.facts.searched.contains(platform.cni_bin) {
            return;
        }
        let prefix = format!("{}/", platform.cni_bin);
        let paths: Vec<String> =
            self.facts.binaries.iter().filter(|path| path.starts_with(&prefix)).cloned().collect();
        let mut plugins = BTreeMap::new();
        let mut answers: Vec<Result<Vec<u8>, HostError>> = Vec::new();
        if self.live {
            for some in paths[..paths.len().min(PLUGINS)].chunks(PARALLEL) {
                let root = self.root;
                std::thread::scope(|scope| {
                    let asked: Vec<_> = some
                        .iter()
                        .map(|path| {
                            let ask = move || program::ask(root, path, &program::CNI_VERSION);
                            // Without a thread to be had it is asked right here.
                            std::thread::Builder::new().spawn_scoped(scope, ask).map_err(|_| ask())
                        })
                        .collect();
                    for (asked, path) in asked.into_iter().zip(some) {
                        let answer = asked.map(std::thread::ScopedJoinHandle::join);
                        answers.push(match answer {
                            Ok(joined) => joined.unwrap_or_else(|_| Err(silent(path, &program::CNI_VERSION))),
                            Err(answer) => answer,
                        });
                    }
                });
            }
            if paths.len() > PLUGINS {
                self.warn(HostError::Limit {
                    path: platform.cni_bin.to_owned(),
                    limit: PLUGINS as u64,
                    what: "plugins",
                });
            }
        }
        let mut answers = answers.into_iter();
        for path in paths {
            let versions = answers.next().map(|answer| {
                answer.and_then(|a| {
                    program::cni_versions(&a).ok_or_else(|| silent(&path, &program::CNI_VERSION))
                })
            });
            let versions = versions.and_then(|v| self.tried(v)).unwrap_or_default();
            plugins.insert(path[prefix.len()..].to_owned(), CniPlugin { path, versions });
        }
        self.facts.cni_plugins = Some(plugins);
    }

    fn daemons(&mut self, platform: &Platform) {
        let mut daemons = BTreeMap::new();
        let candidates = platform.binaries.iter().map(|dir| join(dir, "containerd"));
        if let Some(path) = candidates.into_iter().find(|path| self.facts.binaries.contains(path)) {
            let question = &program::DAEMON_VERSION;
            let version = program::ask(self.root, &path, question)
                .and_then(|answer| program::daemon_version(&answer).ok_or_else(|| silent(&path, question)));
            // One that is there and does not say its version: not known, rather than not there.
            let Some(version) = self.tried(version) else { return };
            daemons.insert("containerd".to_owned(), Daemon { path, version });
        } else if platform.binaries.iter().any(|dir| !self.facts.has_searched(dir)) {
            return;
        }
        self.facts.daemons = Some(daemons);
    }

    #[cfg(feature = "agent")]
    fn links(&mut self) {
        self.facts.links = self.tried(super::links::links());
    }
}

fn silent(path: &str, question: &Question) -> HostError {
    HostError::Answer { path: path.to_owned(), question: question.name }
}

fn executable(stat: &Stat) -> bool {
    kind(stat) == FileType::RegularFile && stat.st_mode & 0o111 != 0
}

fn mode(stat: &Stat) -> String {
    facts::octal(stat.st_mode & 0o7777)
}

fn keyed(key: &[u8], bytes: &[u8]) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(bytes);
    let code = mac.finalize().into_bytes();
    Some(code.iter().fold(String::with_capacity(64), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    }))
}

/// The names in a directory, sorted; those that are not UTF-8 as errors, readable as well as can be.
fn names(dir: &impl AsFd, path: &str, limit: usize) -> Result<Vec<Result<String, String>>, HostError> {
    let fail = |e: Errno| HostError::io("list", path, e);
    let mut names: Vec<Vec<u8>> = Vec::new();
    for entry in Dir::read_from(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if names.len() >= limit {
            return Err(HostError::Limit {
                path: path.to_owned(),
                limit: limit as u64,
                what: "entries that may still be read",
            });
        }
        names.push(name.to_vec());
    }
    names.sort_unstable();
    Ok(names
        .into_iter()
        .map(|name| String::from_utf8(name).map_err(|e| e.as_bytes().escape_ascii().to_string()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::test::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    const SECRET: &str = "canary-secret-3f81";

    fn platform() -> &'static Platform {
        Platform::named("generic").unwrap()
    }

    fn seen(dir: &Path, live: bool, extra: &[&str]) -> Observed {
        let extra: Vec<String> = extra.iter().map(|p| (*p).to_owned()).collect();
        observe(&Root::open(dir).unwrap(), live, platform(), &extra).unwrap()
    }

    #[test]
    fn an_empty_root_has_empty_places() {
        let dir = tempfile::tempdir().unwrap();
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        assert_eq!(warnings, [""; 0]);
        assert_eq!(facts.places.iter().map(String::as_str).collect::<Vec<_>>(), {
            let mut places = platform().places();
            places.sort_unstable();
            places
        });
        assert!(facts.simulated && facts.files.is_empty() && facts.binaries.is_empty());
        assert_eq!(facts.cni_plugins, Some(BTreeMap::new()));
        assert_eq!((facts.boot_id, facts.kernel, facts.links, facts.daemons), (None, None, None, None));
        assert_eq!((facts.devices, facts.gpus, facts.ledger), (None, None, None));
    }

    fn populated() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        write(at, "etc/machine-id", "0123456789abcdef\n");
        write(at, "etc/containerd/config.toml", "version = 3\n");
        write(at, "etc/containerd/certs.d/docker.io/hosts.toml", "# hosts\n");
        mode_secret(&write(at, "etc/containerd/conf.d/secret.toml", SECRET));
        symlink("/elsewhere", at.join("etc/containerd/link.toml")).unwrap();
        fifo(&at.join("etc/containerd/pipe.toml"));
        std::fs::write(at.join("etc/containerd/binary.toml"), [0xff, 0xfe]).unwrap();
        set_mode(&at.join("etc/containerd/binary.toml"), 0o644);
        write(at, "run/cdi/vendor.json", "{}");
        std::fs::create_dir(at.join("var")).unwrap();
        symlink("/run", at.join("var/run")).unwrap();
        script(at, "usr/bin/runc", "");
        script(at, "usr/lib/crun", "");
        write(at, "usr/bin/README", "");
        symlink("usr/bin", at.join("bin")).unwrap();
        symlink("/usr/lib/crun", at.join("usr/bin/crun")).unwrap();
        symlink("/usr/lib/none", at.join("usr/bin/none")).unwrap();
        dir
    }

    fn mode_secret(path: &Path) {
        set_mode(path, 0o600);
    }

    #[test]
    fn files_are_listed_with_what_others_may_know_of_them() {
        let dir = populated();
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        assert_eq!(warnings, [""; 0]);
        let file = |path: &str| facts.files[path].clone();
        let config = file("/etc/containerd/config.toml");
        assert_eq!((config.kind, config.mode.as_str(), config.size), (FileKind::Regular, "0644", Some(12)));
        assert_eq!(config.sha256.unwrap(), facts::sha256(b"version = 3\n"));
        assert_eq!((config.text.unwrap().as_str(), config.owner), ("version = 3\n", None));
        assert_eq!(file("/etc/containerd/certs.d").kind, FileKind::Directory);
        assert_eq!(file("/etc/containerd/certs.d/docker.io/hosts.toml").text.unwrap(), "# hosts\n");
        assert_eq!(file("/etc/containerd/link.toml").target.unwrap(), "/elsewhere");
        assert_eq!(file("/etc/containerd/pipe.toml").kind, FileKind::Other);
        let binary = file("/etc/containerd/binary.toml");
        assert!(binary.sha256.is_some() && binary.text.is_none());
        assert_eq!(file("/var/run/cdi/vendor.json").text.unwrap(), "{}");
        assert_eq!(facts.directories["/var/run/cdi"], "/run/cdi");
        assert_eq!(facts.directories["/bin"], "/usr/bin");
        let secret = file("/etc/containerd/conf.d/secret.toml");
        assert_eq!((secret.sha256, secret.text), (None, None));
        // HMAC-SHA-256 with SHA-256("purlin\0" "0123456789abcdef"), computed with Python's hmac.
        assert_eq!(secret.keyed_hash.unwrap(), KEYED);
        assert!(!facts.to_json().contains(SECRET));
        assert!(!facts.to_json().contains(&facts::sha256(SECRET.as_bytes())));
        let binaries: Vec<_> = facts.binaries.iter().map(String::as_str).collect();
        assert_eq!(binaries, ["/usr/bin/crun", "/usr/bin/runc"], "/bin is /usr/bin, and one name is enough");
        assert!(facts.searched.contains("/usr/local/bin"));
    }

    const KEYED: &str = "40795d05b25b238d796ce480807ae6102745bd75eb0243615387f7a128a7b025";

    #[test]
    fn without_a_machine_id_a_secret_has_no_hash() {
        let dir = populated();
        std::fs::remove_file(dir.path().join("etc/machine-id")).unwrap();
        let facts = seen(dir.path(), false, &[]).facts;
        let secret = &facts.files["/etc/containerd/conf.d/secret.toml"];
        assert_eq!((&secret.sha256, &secret.keyed_hash, &secret.text), (&None, &None, &None));
    }

    #[test]
    fn looking_twice_gives_the_same() {
        let dir = populated();
        for live in [false, true] {
            let (one, two) = (seen(dir.path(), live, &[]), seen(dir.path(), live, &[]));
            assert_eq!(one.facts.to_json(), two.facts.to_json());
            assert_eq!(one, two);
            assert_eq!(Facts::from_json(&one.facts.to_json()).unwrap(), one.facts);
        }
    }

    #[test]
    fn a_name_that_is_not_utf_8_is_skipped_with_a_warning() {
        use std::os::unix::ffi::OsStrExt;
        let dir = populated();
        let name = std::ffi::OsStr::from_bytes(b"x\xff.conf");
        std::fs::create_dir_all(dir.path().join("etc/cni/net.d")).unwrap();
        std::fs::write(dir.path().join("etc/cni/net.d").join(name), "").unwrap();
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].contains("/etc/cni/net.d") && warnings[0].contains(r"x\\xff.conf"),
            "{warnings:?}"
        );
        assert!(!facts.places.contains("/etc/cni/net.d") && facts.places.contains("/etc/containerd"));
    }

    #[test]
    fn limits_leave_the_place_out() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "etc/cni/net.d/1/2/3/4/5/6/7/a", "");
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        assert_eq!(warnings, [""; 0]);
        assert!(facts.files.contains_key("/etc/cni/net.d/1/2/3/4/5/6/7/a"));
        write(dir.path(), "etc/cni/net.d/1/2/3/4/5/6/7/8/a", "");
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(!facts.places.contains("/etc/cni/net.d"));
        assert!(facts.files.contains_key("/etc/cni/net.d/1/2/3/4/5/6/7/8"));
        assert!(!facts.files.contains_key("/etc/cni/net.d/1/2/3/4/5/6/7/8/a"));
        let fd = rustix::fs::open(dir.path().join("etc"), OFlags::RDONLY, Mode::empty()).unwrap();
        assert!(names(&fd, "/etc", 1).is_ok());
        assert!(matches!(names(&fd, "/etc", 0), Err(HostError::Limit { .. })));
    }

    #[test]
    fn large_files_have_no_text_and_larger_ones_no_hash() {
        let dir = tempfile::tempdir().unwrap();
        let at = "etc/cni/net.d";
        write(dir.path(), &format!("{at}/fits"), &"x".repeat(facts::TEXT));
        write(dir.path(), &format!("{at}/large"), &"x".repeat(facts::TEXT + 1));
        let huge = std::fs::File::create(dir.path().join(at).join("huge")).unwrap();
        huge.set_len(1 << 40).unwrap();
        set_mode(&dir.path().join(at).join("huge"), 0o644);
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        let file = |name: &str| facts.files[&format!("/{at}/{name}")].clone();
        assert!(file("fits").text.is_some());
        assert!(file("large").text.is_none() && file("large").sha256.is_some());
        assert!(file("huge").sha256.is_none() && file("huge").size == Some(1 << 40));
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(facts.places.contains("/etc/cni/net.d"));
    }

    #[test]
    fn texts_beyond_what_facts_hold_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        for name in 0..TEXTS / facts::TEXT {
            write(dir.path(), &format!("etc/cni/net.d/{name:03}"), &"x".repeat(facts::TEXT));
        }
        write(dir.path(), "etc/cni/net.d/small", "x");
        write(dir.path(), "var/run/cdi/a", &"\u{1}".repeat(facts::TEXT));
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        let last = format!("/etc/cni/net.d/{:03}", TEXTS / facts::TEXT - 1);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(&format!("`{last}` and 1 more")), "{warnings:?}");
        assert!(facts.files[&last].text.is_none() && facts.files[&last].sha256.is_some());
        assert_eq!(facts.files["/etc/cni/net.d/small"].text.as_deref(), Some("x"));
        assert_eq!(Facts::from_json(&facts.to_json()).unwrap(), facts);
    }

    #[test]
    fn what_may_not_be_read_is_a_warning() {
        if is_root() {
            return skip("ordinary user (root may read everything)");
        }
        let dir = populated();
        set_mode(&dir.path().join("etc/containerd/config.toml"), 0o004);
        set_mode(&dir.path().join("run/cdi"), 0o000);
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        set_mode(&dir.path().join("run/cdi"), 0o755);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings.iter().all(|w| w.contains("run purlin as root")), "{warnings:?}");
        assert!(!facts.places.contains("/etc/containerd") && !facts.places.contains("/var/run/cdi"));
        assert!(facts.places.contains("/etc/cdi"));
    }

    #[test]
    fn a_file_where_a_directory_belongs_is_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "etc/cni/net.d", "");
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        assert!(warnings[0].contains("`/etc/cni/net.d` is a file, not a directory"), "{warnings:?}");
        assert!(!facts.places.contains("/etc/cni/net.d"));
    }

    #[test]
    fn the_ledger_is_read_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        let look = |text: &str| {
            write(dir.path(), "var/lib/purlin/ledger.json", text);
            observe(&root, false, platform(), &[])
        };
        let good = r#"{"version":"purlin.dev/ledger/v1alpha1","generation":3,"entries":{"/a":{"sha256":"00","mode":"0644"}}}"#;
        assert_eq!(look(good).unwrap().facts.ledger.unwrap().generation, 3);
        let newer = look(r#"{"version":"purlin.dev/ledger/v9","what":"ever"}"#).unwrap_err();
        assert!(newer.to_string().contains("purlin.dev/ledger/v9"), "{newer}");
        for bad in ["", "{", "[]", r#"{"version":"purlin.dev/ledger/v1alpha1"}"#] {
            assert!(matches!(look(bad), Err(HostError::Ledger { .. })), "{bad}");
        }
    }

    #[test]
    fn plugins_are_asked_only_on_the_live_host() {
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().join("marker");
        let answer = r#"echo '{"cniVersion":"1.1.0","supportedVersions":["1.0.0","1.1.0"]}'"#;
        script(dir.path(), "opt/cni/bin/bridge", &format!("echo >> {}; {answer}", marker.display()));
        script(dir.path(), "opt/cni/bin/broken", "exit 1");
        let open = script(dir.path(), "opt/cni/bin/open", answer);
        set_mode(&open, 0o757);
        script(
            dir.path(),
            "usr/bin/containerd",
            "echo containerd github.com/containerd/containerd/v2 v2.1.9~ds1 abc",
        );
        write(dir.path(), "opt/cni/bin/README.md", "");
        for name in ["a", "b", "c", "d", "e"] {
            symlink("bridge", dir.path().join("opt/cni/bin").join(name)).unwrap();
        }
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &[]);
        assert_eq!(warnings, [""; 0]);
        let plugins = facts.cni_plugins.unwrap();
        assert_eq!(
            plugins.keys().map(String::as_str).collect::<Vec<_>>(),
            ["a", "b", "bridge", "broken", "c", "d", "e", "open"]
        );
        assert!(plugins.values().all(|p| p.versions.is_empty()));
        assert_eq!(facts.daemons, None);
        assert!(!marker.exists());

        let Observed { facts, warnings, .. } = seen(dir.path(), true, &[]);
        let plugins = facts.cni_plugins.unwrap();
        assert_eq!(
            plugins["bridge"],
            CniPlugin { path: "/opt/cni/bin/bridge".into(), versions: vec!["1.0.0".into(), "1.1.0".into()] }
        );
        assert_eq!(plugins["e"].versions, plugins["bridge"].versions);
        assert!(plugins["broken"].versions.is_empty() && plugins["open"].versions.is_empty());
        assert_eq!(std::fs::read_to_string(marker).unwrap().lines().count(), 6);
        let about = |name: &str| warnings.iter().any(|w| w.contains(&format!("`/opt/cni/bin/{name}`")));
        assert!(about("broken") && about("open"), "{warnings:?}");
        assert!(warnings.iter().any(|w| w.contains("may be written by everybody")), "{warnings:?}");
        assert_eq!(
            facts.daemons.unwrap()["containerd"],
            Daemon { path: "/usr/bin/containerd".into(), version: "2.1.9".into() }
        );
        assert!(
            facts.boot_id.is_some_and(|b| b.len() == 36) && facts.kernel.is_some_and(|k| k.contains('.'))
        );
    }

    #[test]
    fn extra_paths_are_looked_at_too() {
        let dir = tempfile::tempdir().unwrap();
        script(dir.path(), "opt/tools/runsc", "");
        write(dir.path(), "opt/tools/spec.json", "{}");
        write(dir.path(), "opt/conf/a.toml", "a");
        let extra = ["/opt/tools/runsc", "/opt/tools/spec.json", "/opt/conf", "/opt/none/at", "relative"];
        let Observed { facts, warnings, .. } = seen(dir.path(), false, &extra);
        assert!(facts.binaries.contains("/opt/tools/runsc"));
        assert!(!facts.files.contains_key("/opt/tools/runsc"));
        assert_eq!(facts.files["/opt/tools/spec.json"].text.as_deref(), Some("{}"));
        assert_eq!(facts.files["/opt/conf/a.toml"].text.as_deref(), Some("a"));
        for place in ["/opt/tools/spec.json", "/opt/conf", "/opt/none/at"] {
            assert!(facts.places.contains(place), "{place}");
        }
        assert!(facts.searched.contains("/opt/tools") && facts.searched.contains("/opt/none"));
        assert_eq!(warnings.len(), 1, "{warnings:?}");
    }

    /// A directory is swapped for a link out of its place, as fast as possible, while the place is listed.
    #[test]
    fn a_racing_link_shows_nothing_from_outside() {
        use std::time::{Duration, Instant};
        let outside = tempfile::tempdir().unwrap();
        write(outside.path(), "canary", SECRET);
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("etc/cni/net.d");
        write(dir.path(), "etc/cni/net.d/sub/inside", "inside");
        symlink(outside.path(), base.join("other")).unwrap();
        let until = Instant::now() + Duration::from_secs(1);
        let (mut listed, mut links) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (cwd, exchange) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
                while Instant::now() < until {
                    rustix::fs::renameat_with(cwd, base.join("sub"), cwd, base.join("other"), exchange)
                        .unwrap();
                }
            });
            while Instant::now() < until {
                let facts = seen(dir.path(), false, &[]).facts;
                assert!(
                    !facts.to_json().contains(SECRET)
                        && !facts.files.contains_key("/etc/cni/net.d/sub/canary")
                );
                listed += usize::from(facts.files.contains_key("/etc/cni/net.d/sub/inside"));
                links +=
                    usize::from(facts.files.get("/etc/cni/net.d/sub").is_some_and(|f| f.target.is_some()));
            }
        });
        assert!(listed > 0 && links > 0, "{listed} {links}");
    }

    #[test]
    fn the_live_host_can_be_looked_at() {
        let Observed { facts, .. } = seen(Path::new("/"), true, &[]);
        assert!(!facts.simulated);
        let null = &facts.devices.unwrap()["/dev/null"];
        assert_eq!(
            (null.kind, null.major, null.minor, null.mode.as_str()),
            (DeviceKind::Character, 1, 3, "0666")
        );
        assert!(facts.binaries.contains("/bin/sh") || facts.binaries.contains("/usr/bin/sh"));
        #[cfg(feature = "agent")]
        assert!(facts.links.unwrap().contains_key("lo"));
        #[cfg(not(feature = "agent"))]
        assert_eq!(facts.links, None);
    }
}
