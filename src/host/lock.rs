//! One run at a time: whoever writes below a root holds its lock, so that what else looks like the work of a run is what
//! a killed one left.

use super::root::{Root, divide, join};
use super::{HostError, is_temporary};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

const NAME: &str = "lock";
/// How long another run is waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// The right to write below a root, until it is dropped.
#[derive(Debug)]
pub struct Lock<'a> {
    root: &'a Root,
    bases: Vec<&'a str>,
    dir: OwnedFd,
    /// The kernel forgets the lock when this is closed, however the process ends.
    _file: File,
    made: Vec<String>,
}

impl<'a> Lock<'a> {
    /// Takes the lock in a directory below the bases, which is made when it is missing. Waits for another run, briefly.
    ///
    /// # Errors
    /// [`HostError::Busy`] when another run keeps it; others when the directory cannot be made or written to.
    pub fn take(root: &'a Root, bases: &[&'a str], directory: &str) -> Result<Self, HostError> {
        let path = join(directory, NAME);
        let mut made = Vec::new();
        let taken = attempt(root, bases, directory, &path, &mut made);
        match taken {
            Ok((dir, file)) => Ok(Self { root, bases: bases.to_vec(), dir, _file: file, made }),
            Err(e) => {
                root.unmake(bases, &made);
                Err(e)
            }
        }
    }

    /// Deletes temporary files that a killed run left, and the directories that are empty then, where `may_go` says so.
    ///
    /// # Errors
    /// When one of them cannot be deleted.
    pub fn clear(&self, leftovers: &[String], may_go: impl Fn(&str) -> bool) -> Result<(), HostError> {
        for path in leftovers {
            let (parent, name) = divide(path);
            debug_assert!(is_temporary(name), "{path}");
            let Some(dir) = self.root.directory(&self.bases, parent)? else { continue };
            match rustix::fs::unlinkat(&dir, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(e) => return Err(HostError::io("delete", path, e)),
            }
            if may_go(parent)
                && let Some(error) = self.root.unmake(&self.bases, &[parent.to_owned()]).pop()
            {
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // While it is still held: whoever opened it meanwhile sees that it is gone, and makes a new one.
        let _ = rustix::fs::unlinkat(&self.dir, NAME, AtFlags::empty());
        self.root.unmake(&self.bases, &self.made);
    }
}

fn attempt(
    root: &Root,
    bases: &[&str],
    directory: &str,
    path: &str,
    made: &mut Vec<String>,
) -> Result<(OwnedFd, File), HostError> {
    let until = Instant::now() + PATIENCE;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fail = |e| HostError::io("lock", path, e);
    loop {
        // A run that failed takes away what it made, and may do so at any time.
        let dir = match root.make(bases, directory, made) {
            Err(e) if e.is_missing() && Instant::now() < until => continue,
            dir => dir?,
        };
        let mut file = match rustix::fs::openat(&dir, NAME, flags, Mode::from_raw_mode(0o600)) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) if Instant::now() < until => continue,
            Err(e) => return Err(fail(e.into())),
        };
        match file.try_lock() {
            Ok(()) if is_at(&file, &dir) => {
                // It says who holds it; where there is no room for that, it is held all the same.
                let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
                return Ok((dir, file));
            }
            // The run before took it away.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = Read::take(&mut file, 32).read_to_string(&mut text);
                let holder = text.trim().parse().ok();
                return Err(HostError::Busy { path: path.to_owned(), holder });
            }
            Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(e)) => return Err(fail(e)),
        }
    }
}

/// Whether a file still has its name.
fn is_at(file: &File, dir: &OwnedFd) -> bool {
    let (held, named) =
        (rustix::fs::fstat(file.as_fd()), rustix::fs::statat(dir, NAME, AtFlags::SYMLINK_NOFOLLOW));
    held.is_ok_and(|h| named.is_ok_and(|n| (h.st_dev, h.st_ino) == (n.st_dev, n.st_ino)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::test::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const BASES: &[&str] = &["/var/lib/purlin", "/etc/containerd"];
    const STATE: &str = "/var/lib/purlin";

    #[test]
    fn it_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        let lock = Lock::take(&root, BASES, STATE).unwrap();
        let held = dir.path().join("var/lib/purlin/lock");
        assert_eq!(std::fs::read_to_string(&held).unwrap().trim(), std::process::id().to_string());
        assert_eq!(mode_of(&held), 0o600, "others could keep it for ever");
        let error = Lock::take(&root, BASES, STATE).unwrap_err().to_string();
        assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        drop(lock);
        assert_eq!(tree(dir.path()), []);
        // One that was killed had it: the file is there, and nobody holds it.
        write(dir.path(), "var/lib/purlin/lock", "1\n");
        drop(Lock::take(&root, BASES, STATE).unwrap());
        assert!(!held.exists());
    }

    #[test]
    fn two_never_hold_it_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let root = Root::open(dir.path()).unwrap();
                    for _ in 0..50 {
                        match Lock::take(&root, BASES, STATE) {
                            Ok(_lock) => {
                                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                                std::thread::yield_now();
                                inside.fetch_sub(1, Ordering::SeqCst);
                            }
                            Err(HostError::Busy { .. }) => {}
                            Err(e) => panic!("{e}"),
                        }
                    }
                });
            }
        });
        // The directories may stay, when one who did not make them was the last.
        assert!(tree(dir.path()).iter().all(|(_, text)| text.is_none()));
    }

    #[test]
    fn what_stands_in_its_place_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        let victim = write(dir.path(), "victim", "as it was");
        std::fs::create_dir_all(dir.path().join("var/lib/purlin")).unwrap();
        std::os::unix::fs::symlink(&victim, dir.path().join("var/lib/purlin/lock")).unwrap();
        assert!(matches!(Lock::take(&root, BASES, STATE), Err(HostError::Io { .. })));
        assert_eq!(std::fs::read_to_string(victim).unwrap(), "as it was");
    }

    #[test]
    fn leftovers_go_with_the_directory_that_was_made_for_them() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        let names =
            ["a/.purlin-new-1-0.purlin-tmp", "b/.purlin-old-1-1.purlin-tmp", "c/.purlin-new-1-2.purlin-tmp"]
                .map(|name| format!("etc/containerd/{name}"));
        for name in &names {
            write(dir.path(), name, "");
        }
        write(dir.path(), "etc/containerd/b/theirs", "");
        let lock = Lock::take(&root, BASES, STATE).unwrap();
        lock.clear(&names.map(|name| format!("/{name}")), |dir| !dir.ends_with("/c")).unwrap();
        drop(lock);
        let left: Vec<_> = tree(dir.path()).into_iter().map(|(path, _)| path).collect();
        assert_eq!(
            left,
            ["etc", "etc/containerd", "etc/containerd/b", "etc/containerd/b/theirs", "etc/containerd/c"]
        );
    }
}
