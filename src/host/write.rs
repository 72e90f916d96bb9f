//! A set of file changes that happens as a whole or not at all.
//!
//! Every new content is first written beside its destination and synced; only when all of them are safe on disk are
//! they renamed into place, and what they replace is kept until the last one is done. A crash in between leaves each
//! file either old or new, never half; which of them, the diff of the next run says.

use super::HostError;
use super::root::{Root, divide, join, kind, split, sync, word};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Directories that are held open, so that no rename can come between the steps there. More are opened anew for each
/// step: a process may have few handles, and a spec many registries.
const HELD: usize = 16;

/// What the names of temporary files end in. They also begin with a dot, so that no `*.conf`, `*.toml` or `*.json` of a
/// daemon matches them.
const SUFFIX: &str = ".purlin-tmp";

/// Whether a file of this name is one of ours that lives only during a transaction; after a crash one may be left.
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(".purlin-") && name.ends_with(SUFFIX)
}

enum Change {
    Put { bytes: Vec<u8>, mode: u32 },
    Delete,
}

struct Item {
    path: String,
    name: String,
    change: Change,
    /// Index of its directory; absent before it is staged, and for a deletion in a directory that does not exist.
    directory: Option<usize>,
    /// The new content, while it has this name.
    temporary: Option<String>,
    /// The old content, while it has this name.
    backup: Option<String>,
    /// The destination is not as it was.
    changed: bool,
    /// What comes before it is made durable before it, and it before what comes after.
    alone: bool,
}

struct Directory {
    path: String,
    /// By which it is known again: device and inode.
    identity: (u64, u64),
    /// Absent when it is not held.
    fd: Option<Arc<OwnedFd>>,
    /// Something changed in it that is not durable yet.
    dirty: bool,
}

/// File changes that are made together. Dropped without [`Transaction::commit`], it leaves nothing behind.
pub struct Transaction<'a> {
    root: &'a Root,
    bases: Vec<&'a str>,
    items: Vec<Item>,
    /// What comes last of all.
    closing: Option<Item>,
    /// Directories that go when all is done.
    emptied: Vec<String>,
    directories: Vec<Directory>,
    /// Directories that were not there before, by path.
    made: Vec<String>,
    staged: bool,
}

impl<'a> Transaction<'a> {
    /// A transaction that may write below the base directories only.
    #[must_use]
    pub fn new(root: &'a Root, bases: &[&'a str]) -> Self {
        Self {
            root,
            bases: bases.to_vec(),
            items: Vec::new(),
            closing: None,
            emptied: Vec::new(),
            directories: Vec::new(),
            made: Vec::new(),
            staged: false,
        }
    }

    /// Asks for a file with these bytes and permission bits. Changes are made in the order in which they were asked for.
    ///
    /// # Errors
    /// When the path is unusable, in no base directory, or already in this transaction. Nothing is touched yet.
    pub fn put(&mut self, path: &str, bytes: &[u8], mode: u32) -> Result<(), HostError> {
        let item = self.item(path, Change::Put { bytes: bytes.to_vec(), mode: mode & 0o7777 })?;
        self.items.push(item);
        Ok(())
    }

    /// Asks for a file to be gone. It is no error when it already is.
    ///
    /// # Errors
    /// As for [`Self::put`].
    pub fn delete(&mut self, path: &str) -> Result<(), HostError> {
        let item = self.item(path, Change::Delete)?;
        self.items.push(item);
        Ok(())
    }

    /// Asks for a directory to be gone once all is done, if it is empty then.
    ///
    /// # Errors
    /// As for [`Self::put`].
    pub fn delete_directory(&mut self, path: &str) -> Result<(), HostError> {
        split(&self.bases, path)?;
        self.emptied.push(path.to_owned());
        Ok(())
    }

    /// Asks for a file that tells of all the other changes: it says `before` until they are made, and then `after`, and
    /// is durable each time before anything else happens. Nothing is asked for after it.
    ///
    /// # Errors
    /// As for [`Self::put`].
    pub fn record(&mut self, path: &str, before: &[u8], after: &[u8], mode: u32) -> Result<(), HostError> {
        let [before, after] = [before, after].map(|bytes| {
            let item = self.item(path, Change::Put { bytes: bytes.to_vec(), mode: mode & 0o7777 })?;
            Ok(Item { alone: true, ..item })
        });
        self.items.insert(0, before?);
        self.closing = Some(after?);
        Ok(())
    }

    fn item(&mut self, path: &str, change: Change) -> Result<Item, HostError> {
        split(&self.bases, path)?;
        if self.items.iter().any(|i| i.path == path) {
            return Err(HostError::Twice { path: path.to_owned() });
        }
        self.staged = false;
        Ok(Item {
            path: path.to_owned(),
            name: divide(path).1.to_owned(),
            change,
            directory: None,
            temporary: None,
            backup: None,
            changed: false,
            alone: false,
        })
    }

    /// Makes all the changes.
    ///
    /// # Errors
    /// When one of them cannot be made: then none is. [`HostError::Undo`] when that could not be achieved either,
    /// [`HostError::Leftover`] when the changes are made but an old content could not be cleared away.
    pub fn commit(mut self) -> Result<(), HostError> {
        let done = self.stage().and_then(|()| self.replace());
        match done {
            Ok(()) => self.finish(),
            Err(cause) => {
                let left = self.undo();
                Err(if left.is_empty() { cause } else { HostError::Undo { cause: Box::new(cause), left } })
            }
        }
    }

    /// Writes every new content beside its destination and makes it durable. [`Self::commit`] does so by itself.
    ///
    /// # Errors
    /// When something stands in the way or the disk is full. Dropping the transaction clears it away.
    pub fn stage(&mut self) -> Result<(), HostError> {
        if self.staged {
            return Ok(());
        }
        self.items.extend(self.closing.take());
        for index in 0..self.items.len() {
            self.stage_one(index)?;
        }
        // A directory is not safe before its own name is.
        let parents: BTreeSet<&str> = self.made.iter().map(|path| divide(path).0).collect();
        for parent in parents {
            if let Some(dir) = self.root.directory(&self.bases, parent)? {
                sync(&dir, parent)?;
            }
        }
        self.staged = true;
        Ok(())
    }

    fn stage_one(&mut self, index: usize) -> Result<(), HostError> {
        let item = &self.items[index];
        if item.directory.is_some() {
            return Ok(());
        }
        let put = matches!(item.change, Change::Put { .. });
        let path = divide(&item.path).0.to_owned();
        let (place, dir) = match self.directories.iter().position(|d| d.path == path) {
            Some(place) => (place, self.open(place)?),
            None => {
                let fd = if put {
                    Some(self.root.make(&self.bases, &path, &mut self.made)?)
                } else {
                    // A directory is not made for a deletion.
                    self.root.directory(&self.bases, &path)?
                };
                let Some(fd) = fd else { return Ok(()) };
                let (identity, fd) = (identity(&fd, &path)?, Arc::new(fd));
                let held = (self.directories.len() < HELD).then(|| fd.clone());
                self.directories.push(Directory { path, identity, fd: held, dirty: false });
                (self.directories.len() - 1, fd)
            }
        };
        let item = &mut self.items[index];
        item.directory = Some(place);
        item.occupied(&dir)?;
        let Change::Put { bytes, mode } = &item.change else { return Ok(()) };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (name, fd) =
            fresh("new", |name| rustix::fs::openat(&dir, name, flags, Mode::from_raw_mode(0o600)))
                .map_err(|e| HostError::io("make a file beside", &item.path, e))?;
        item.temporary = Some(name);
        let mut file = File::from(fd);
        file.write_all(bytes).map_err(|e| HostError::io("write", &item.path, e))?;
        // Neither the umask nor a default of some library decides it.
        rustix::fs::fchmod(&file, Mode::from_raw_mode(*mode))
            .map_err(|e| HostError::io("set the mode of", &item.path, e))?;
        // Not tried again on failure: the kernel may have dropped the pages, and the second call would say all is well.
        file.sync_all().map_err(|e| HostError::io("sync", &item.path, e))
    }

    /// One of the directories; the very one that was staged in, or an error.
    fn open(&self, place: usize) -> Result<Arc<OwnedFd>, HostError> {
        let Directory { path, identity: known, fd, .. } = &self.directories[place];
        if let Some(fd) = fd {
            return Ok(fd.clone());
        }
        match self.root.directory(&self.bases, path)? {
            Some(fd) if identity(&fd, path)? == *known => Ok(Arc::new(fd)),
            _ => Err(HostError::Unsteady { path: path.clone() }),
        }
    }

    fn replace(&mut self) -> Result<(), HostError> {
        for index in 0..self.items.len() {
            let Some(place) = self.items[index].directory else { continue };
            let alone = self.items[index].alone;
            if alone {
                self.sync()?;
            }
            let dir = self.open(place)?;
            self.directories[place].dirty = true;
            self.items[index].replace(&dir)?;
            if alone {
                self.sync()?;
            }
        }
        self.sync()
    }

    /// Makes all that changed durable.
    fn sync(&mut self) -> Result<(), HostError> {
        for place in 0..self.directories.len() {
            if std::mem::take(&mut self.directories[place].dirty) {
                sync(&*self.open(place)?, &self.directories[place].path)?;
            }
        }
        Ok(())
    }

    /// Clears the old contents away; from here on there is no way back.
    fn finish(&mut self) -> Result<(), HostError> {
        let mut left = Vec::new();
        let items = std::mem::take(&mut self.items);
        for place in 0..self.directories.len() {
            let mut old = items
                .iter()
                .filter(|i| i.directory == Some(place))
                .filter_map(|i| i.backup.as_ref())
                .peekable();
            if old.peek().is_none() {
                continue;
            }
            let cleared = self.open(place).and_then(|dir| {
                for name in old {
                    if let Err(e) = rustix::fs::unlinkat(&dir, name, AtFlags::empty()) {
                        left.push(HostError::io(
                            "delete the old",
                            join(&self.directories[place].path, name),
                            e,
                        ));
                    }
                }
                sync(&dir, &self.directories[place].path)
            });
            left.extend(cleared.err());
        }
        self.made.clear();
        left.extend(self.root.unmake(&self.bases, &std::mem::take(&mut self.emptied)));
        if left.is_empty() { Ok(()) } else { Err(HostError::Leftover { left }) }
    }

    /// Takes everything back, newest first, and returns what could not be.
    fn undo(&mut self) -> Vec<HostError> {
        let mut left = Vec::new();
        for item in std::mem::take(&mut self.items).iter_mut().rev() {
            if let Some(place) = item.directory.filter(|_| item.is_begun()) {
                self.directories[place].dirty |= item.changed;
                match self.open(place) {
                    Ok(dir) => item.undo(&dir, &mut left),
                    Err(e) => left.push(e),
                }
            }
        }
        left.extend(self.sync().err());
        // Where there were too few handles, there are enough now.
        self.directories.clear();
        left.extend(self.root.unmake(&self.bases, &std::mem::take(&mut self.made)));
        left
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // Whoever wants to know what is left commits; here nobody listens.
        self.undo();
    }
}

impl Item {
    /// Whether there is a file to replace. Anything else at the destination is an error.
    fn occupied(&self, dir: &OwnedFd) -> Result<bool, HostError> {
        match rustix::fs::statat(dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(false),
            Err(e) => Err(HostError::io("look at", &self.path, e)),
            Ok(stat) => match kind(&stat) {
                FileType::RegularFile => Ok(true),
                FileType::Symlink => Err(HostError::Link { path: self.path.clone() }),
                found => {
                    Err(HostError::Kind { path: self.path.clone(), found: word(found), wanted: "a file" })
                }
            },
        }
    }

    /// Whether there is anything to take back.
    const fn is_begun(&self) -> bool {
        self.changed || self.temporary.is_some() || self.backup.is_some()
    }

    fn replace(&mut self, dir: &OwnedFd) -> Result<(), HostError> {
        let fail = |path: &str, e| HostError::io("replace", path, e);
        if self.occupied(dir)? {
            // A second name keeps the destination in place until the new content takes it over in one step.
            let linked = match self.temporary {
                None => Err(Errno::OPNOTSUPP),
                Some(_) => {
                    fresh("old", |name| rustix::fs::linkat(dir, &self.name, dir, name, AtFlags::empty()))
                }
            };
            self.backup = Some(match linked {
                Ok((name, ())) => name,
                // A deletion; or a file system without hard links, or a file of another user: there it is moved aside.
                Err(Errno::OPNOTSUPP | Errno::PERM | Errno::MLINK | Errno::NOSYS) => {
                    let (name, ()) =
                        fresh("old", |name| match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                            Ok(_) => Err(Errno::EXIST),
                            Err(Errno::NOENT) => rustix::fs::renameat(dir, &self.name, dir, name),
                            Err(e) => Err(e),
                        })
                        .map_err(|e| fail(&self.path, e))?;
                    self.changed = true;
                    name
                }
                Err(e) => return Err(fail(&self.path, e)),
            });
        }
        if let Some(temporary) = &self.temporary {
            rustix::fs::renameat(dir, temporary, dir, &self.name).map_err(|e| fail(&self.path, e))?;
            self.changed = true;
            self.temporary = None;
        }
        Ok(())
    }

    fn undo(&mut self, dir: &OwnedFd, left: &mut Vec<HostError>) {
        let mut keep = |doing, name: &str, result: rustix::io::Result<()>| match result {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(e) => left.push(HostError::io(doing, beside(&self.path, name), e)),
        };
        match (self.backup.take(), self.changed) {
            (Some(backup), true) => {
                keep("restore", &self.name, rustix::fs::renameat(dir, &backup, dir, &self.name));
            }
            (Some(backup), false) => {
                keep("delete", &backup, rustix::fs::unlinkat(dir, &backup, AtFlags::empty()))
            }
            (None, true) => {
                keep("delete", &self.name, rustix::fs::unlinkat(dir, &self.name, AtFlags::empty()))
            }
            (None, false) => {}
        }
        if let Some(temporary) = self.temporary.take() {
            keep("delete", &temporary, rustix::fs::unlinkat(dir, &temporary, AtFlags::empty()));
        }
    }
}

/// Makes something under a name that nobody has yet.
fn fresh<T>(
    word: &str,
    mut make: impl FnMut(&str) -> rustix::io::Result<T>,
) -> rustix::io::Result<(String, T)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // Names of an earlier process with the same number may be left over from a crash.
    for _ in 0..1000 {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".purlin-{word}-{}-{count}{SUFFIX}", std::process::id());
        match make(&name) {
            Ok(made) => return Ok((name, made)),
            Err(Errno::EXIST) => {}
            Err(e) => return Err(e),
        }
    }
    Err(Errno::EXIST)
}

fn identity(dir: &OwnedFd, path: &str) -> Result<(u64, u64), HostError> {
    let stat = rustix::fs::fstat(dir).map_err(|e| HostError::io("look at", path, e))?;
    Ok((stat.st_dev, stat.st_ino))
}

fn beside(path: &str, name: &str) -> String {
    join(divide(path).0, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::test::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::time::{Duration, Instant};

    const BASES: &[&str] = &["/etc/cni/net.d", "/etc/containerd", "/var/run/cdi"];
    const HERE: &str = "host::write::tests";

    fn root(dir: &Path) -> Root {
        Root::open(dir).unwrap()
    }

    #[test]
    fn files_are_put_replaced_and_deleted_with_their_modes() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("run")).unwrap();
        std::fs::create_dir_all(dir.path().join("var")).unwrap();
        symlink("/run", dir.path().join("var/run")).unwrap();
        write(dir.path(), "etc/cni/net.d/old.conflist", "old");
        write(dir.path(), "etc/cni/net.d/gone.conflist", "gone");
        let root = root(dir.path());
        let mut set = Transaction::new(&root, BASES);
        set.put("/etc/cni/net.d/old.conflist", b"new", 0o640).unwrap();
        set.put("/etc/containerd/certs.d/docker.io/hosts.toml", b"hosts", 0o600).unwrap();
        set.put("/var/run/cdi/purlin.json", b"{}", 0o644).unwrap();
        set.delete("/etc/cni/net.d/gone.conflist").unwrap();
        set.delete("/etc/cni/net.d/never.conflist").unwrap();
        set.delete("/etc/containerd/no/such/directory").unwrap();
        set.commit().unwrap();
        let files: Vec<_> = tree(dir.path()).into_iter().filter(|(_, text)| text.is_some()).collect();
        let expected = [
            ("etc/cni/net.d/old.conflist", "new"),
            ("etc/containerd/certs.d/docker.io/hosts.toml", "hosts"),
            ("run/cdi/purlin.json", "{}"),
        ];
        assert_eq!(files, expected.map(|(p, t)| (p.to_owned(), Some(t.to_owned()))));
        assert_eq!(mode_of(&dir.path().join("etc/cni/net.d/old.conflist")), 0o640);
        assert_eq!(mode_of(&dir.path().join("etc/containerd/certs.d/docker.io/hosts.toml")), 0o600);
        assert_eq!(mode_of(&dir.path().join("run/cdi/purlin.json")), 0o644);
    }

    #[test]
    fn what_cannot_be_a_change_is_refused_before_anything_happens() {
        let dir = tempfile::tempdir().unwrap();
        let root = root(dir.path());
        let mut set = Transaction::new(&root, BASES);
        assert!(matches!(set.put("/etc/passwd", b"", 0o644), Err(HostError::Outside { .. })));
        assert!(matches!(set.put("/etc/cni/net.d/../../passwd", b"", 0o644), Err(HostError::Path { .. })));
        assert!(matches!(set.delete("/etc/cni/net.d"), Err(HostError::Outside { .. })));
        set.put("/etc/cni/net.d/a", b"", 0o644).unwrap();
        assert!(matches!(set.delete("/etc/cni/net.d/a"), Err(HostError::Twice { .. })));
        drop(set);
        assert_eq!(tree(dir.path()), []);
    }

    /// Each hindrance comes last, so that there is something to undo.
    #[test]
    fn a_hindrance_leaves_everything_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "etc/cni/net.d/old", "old");
        write(dir.path(), "etc/cni/net.d/directory/a", "a");
        write(dir.path(), "secret", "secret");
        symlink("/secret", dir.path().join("etc/cni/net.d/link")).unwrap();
        symlink("/", dir.path().join("etc/cni/net.d/up")).unwrap();
        fifo(&dir.path().join("etc/cni/net.d/pipe"));
        let root = root(dir.path());
        let before = std::fs::read_dir(dir.path().join("etc/cni/net.d")).unwrap().count();
        for last in ["link", "up/secret", "pipe", "directory", "old/a"] {
            for delete in [false, true] {
                let mut set = Transaction::new(&root, BASES);
                set.put("/etc/cni/net.d/old", b"new", 0o600).unwrap();
                set.put("/etc/containerd/conf.d/purlin.toml", b"new", 0o600).unwrap();
                let last = format!("/etc/cni/net.d/{last}");
                if delete { set.delete(&last) } else { set.put(&last, b"x", 0o644) }.unwrap();
                let error = set.commit().unwrap_err();
                let named = last.trim_end_matches("/secret").trim_end_matches("/a");
                assert!(error.to_string().contains(&format!("`{named}")), "{error}");
                assert!(!matches!(error, HostError::Undo { .. }), "{error}");
                assert_eq!(std::fs::read(dir.path().join("etc/cni/net.d/old")).unwrap(), b"old");
                assert_eq!(mode_of(&dir.path().join("etc/cni/net.d/old")), 0o644);
                assert_eq!(std::fs::read(dir.path().join("secret")).unwrap(), b"secret");
                assert!(!dir.path().join("etc/containerd").exists());
                assert_eq!(std::fs::read_dir(dir.path().join("etc/cni/net.d")).unwrap().count(), before);
            }
        }
    }

    /// A hindrance that comes up between the two phases.
    #[test]
    fn a_failure_in_the_middle_is_undone() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "etc/cni/net.d/old", "old");
        write(dir.path(), "etc/cni/net.d/gone", "gone");
        let root = root(dir.path());
        let mut set = Transaction::new(&root, BASES);
        set.put("/etc/cni/net.d/old", b"new", 0o600).unwrap();
        set.put("/etc/cni/net.d/fresh", b"new", 0o600).unwrap();
        set.delete("/etc/cni/net.d/gone").unwrap();
        set.put("/etc/containerd/a", b"new", 0o600).unwrap();
        set.stage().unwrap();
        std::fs::create_dir(dir.path().join("etc/containerd/a")).unwrap();
        assert!(matches!(set.commit(), Err(HostError::Kind { .. })));
        std::fs::remove_dir(dir.path().join("etc/containerd/a")).unwrap();
        // The directory was in use when the undo came by, so it stayed.
        std::fs::remove_dir(dir.path().join("etc/containerd")).unwrap();
        let files: Vec<_> = tree(dir.path()).into_iter().filter(|(_, text)| text.is_some()).collect();
        let expected = [("etc/cni/net.d/gone", "gone"), ("etc/cni/net.d/old", "old")];
        assert_eq!(files, expected.map(|(p, t)| (p.to_owned(), Some(t.to_owned()))));
        assert_eq!(mode_of(&dir.path().join("etc/cni/net.d/old")), 0o644);
    }

    /// What is not held open is known again when it is opened anew.
    #[test]
    fn a_directory_that_is_exchanged_is_not_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let at = |n: usize| format!("etc/containerd/{n:02}");
        let root = root(dir.path());
        let mut set = Transaction::new(&root, BASES);
        for n in 0..=HELD {
            set.put(&format!("/{}/a", at(n)), b"new", 0o600).unwrap();
        }
        set.stage().unwrap();
        std::fs::rename(dir.path().join(at(HELD)), dir.path().join("etc/away")).unwrap();
        write(dir.path(), &format!("{}/a", at(HELD)), "theirs");
        let error = set.commit().unwrap_err().to_string();
        assert!(error.contains(&format!("`/{}` is being replaced by somebody else", at(HELD))), "{error}");
        let files: Vec<_> = tree(dir.path()).into_iter().filter(|(_, text)| text.is_some()).collect();
        assert_eq!(files.len(), 2, "{files:?}");
        assert_eq!(files[1], (format!("{}/a", at(HELD)), Some("theirs".to_owned())));
        assert!(is_temporary(files[0].0.rsplit('/').next().unwrap()), "{files:?}");
    }

    #[test]
    fn a_dropped_transaction_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = root(dir.path());
        let mut set = Transaction::new(&root, BASES);
        set.put("/var/run/cdi/a.json", b"{}", 0o644).unwrap();
        set.stage().unwrap();
        let names: Vec<_> =
            tree(dir.path()).into_iter().filter(|(_, t)| t.is_some()).map(|(n, _)| n).collect();
        assert_eq!(names.len(), 1);
        assert!(is_temporary(names[0].rsplit('/').next().unwrap()), "{names:?}");
        drop(set);
        assert_eq!(tree(dir.path()), []);
    }

    #[test]
    fn a_name_left_over_from_a_crash_is_stepped_over() {
        let mut taken = 3;
        let (name, ()) = fresh("new", |_| {
            taken -= 1;
            if taken > 0 { Err(Errno::EXIST) } else { Ok(()) }
        })
        .unwrap();
        assert!(is_temporary(&name));
        assert!(matches!(fresh("new", |_| Err::<(), _>(Errno::EXIST)), Err(Errno::EXIST)));
    }

    #[test]
    fn the_umask_decides_no_mode() {
        let dir = tempfile::tempdir().unwrap();
        again(&format!("{HERE}::puts_under_umask"), dir.path(), false, "umask 077");
    }

    #[test]
    #[ignore = "is run by the_umask_decides_no_mode"]
    fn puts_under_umask() {
        let root = root(&given());
        let mut set = Transaction::new(&root, BASES);
        set.put("/etc/cni/net.d/a", b"a", 0o644).unwrap();
        set.put("/etc/cni/net.d/b", b"b", 0o755).unwrap();
        set.commit().unwrap();
        assert_eq!(mode_of(&given().join("etc")), 0o755);
        assert_eq!(mode_of(&given().join("etc/cni/net.d")), 0o755);
        assert_eq!(mode_of(&given().join("etc/cni/net.d/a")), 0o644);
        assert_eq!(mode_of(&given().join("etc/cni/net.d/b")), 0o755);
    }

    #[test]
    fn a_file_size_limit_leaves_everything_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let limit = "trap '' XFSZ; ulimit -f 8";
        again(&format!("{HERE}::puts_more_than_fits"), dir.path(), false, limit);
    }

    #[test]
    fn a_full_disk_leaves_everything_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let mount = "mount -t tmpfs -o size=64k none \"$1\"";
        again(&format!("{HERE}::puts_more_than_fits"), dir.path(), true, mount);
    }

    #[test]
    #[ignore = "is run by the two tests above"]
    fn puts_more_than_fits() {
        write(&given(), "etc/cni/net.d/old", "old");
        let before = tree(&given());
        let root = root(&given());
        let mut set = Transaction::new(&root, BASES);
        set.put("/etc/cni/net.d/old", b"new", 0o600).unwrap();
        set.put("/etc/containerd/conf.d/a.toml", b"a", 0o600).unwrap();
        set.put("/etc/cni/net.d/large", &vec![b'x'; 256 << 10], 0o600).unwrap();
        let error = set.commit().unwrap_err();
        assert!(error.to_string().contains("make room"), "{error}");
        assert_eq!(tree(&given()), before);
    }

    #[test]
    fn a_read_only_directory_leaves_everything_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("etc/containerd")).unwrap();
        let line = "mount --bind \"$1/etc/containerd\" \"$1/etc/containerd\" && mount -o remount,ro,bind \"$1/etc/containerd\"";
        again(&format!("{HERE}::puts_where_it_may_not"), dir.path(), true, line);
    }

    #[test]
    fn a_directory_of_others_leaves_everything_as_it_was() {
        if is_root() {
            return skip("ordinary user (root may write anywhere; the read-only mount is tested instead)");
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("etc/containerd")).unwrap();
        set_mode(&dir.path().join("etc/containerd"), 0o555);
        again(&format!("{HERE}::puts_where_it_may_not"), dir.path(), false, "true");
    }

    #[test]
    #[ignore = "is run by the two tests above"]
    fn puts_where_it_may_not() {
        write(&given(), "etc/cni/net.d/old", "old");
        let before = tree(&given());
        let root = root(&given());
        let mut set = Transaction::new(&root, BASES);
        set.put("/etc/cni/net.d/old", b"new", 0o600).unwrap();
        set.put("/var/run/cdi/a.json", b"a", 0o600).unwrap();
        set.put("/etc/containerd/a.toml", b"a", 0o600).unwrap();
        let error = set.commit().unwrap_err();
        assert!(error.to_string().contains("/etc/containerd/a.toml"), "{error}");
        assert_eq!(tree(&given()), before);
    }

    /// A directory below a base is swapped for a link out of it, as fast as possible, while files are put below it.
    #[test]
    fn a_racing_link_never_leads_out() {
        let outside = tempfile::tempdir().unwrap();
        write(outside.path(), "canary", "canary");
        let before = tree(outside.path());
        for walk in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), "etc/cni/net.d/sub/canary", "inside");
            symlink(outside.path(), dir.path().join("etc/cni/net.d/other")).unwrap();
            let root = if walk { root(dir.path()).walking() } else { root(dir.path()) };
            let until = Instant::now() + Duration::from_secs(1);
            let (mut done, mut refused) = (0, 0);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let base = dir.path().join("etc/cni/net.d");
                    let exchange = rustix::fs::RenameFlags::EXCHANGE;
                    while Instant::now() < until {
                        rustix::fs::renameat_with(
                            rustix::fs::CWD,
                            base.join("sub"),
                            rustix::fs::CWD,
                            base.join("other"),
                            exchange,
                        )
                        .unwrap();
                    }
                });
                while Instant::now() < until {
                    let mut set = Transaction::new(&root, BASES);
                    set.put("/etc/cni/net.d/sub/new", b"new", 0o644).unwrap();
                    set.put("/etc/cni/net.d/sub/canary", b"overwritten", 0o644).unwrap();
                    set.delete("/etc/cni/net.d/sub/gone").unwrap();
                    match set.commit() {
                        Ok(()) => done += 1,
                        Err(HostError::Link { .. } | HostError::Unsteady { .. }) => refused += 1,
                        Err(e) => panic!("{e}"),
                    }
                    match root.read(BASES, "/etc/cni/net.d/sub/canary", 100) {
                        Ok(text) => assert_ne!(text.as_deref(), Some(&b"canary"[..])),
                        Err(HostError::Link { .. } | HostError::Unsteady { .. }) => {}
                        Err(e) => panic!("{e}"),
                    }
                }
            });
            assert!(done > 0 && refused > 0, "done {done}, refused {refused}");
            assert_eq!(tree(outside.path()), before);
        }
    }
}
