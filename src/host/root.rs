//! Paths that cannot leave their root.
//!
//! A base directory may be reached through links (/var/run is one nearly everywhere), which are followed inside the
//! root; below a base directory no link is followed. The kernel does both in one step (openat2); where it does not
//! know the call, or a sandbox forbids it, the same is done one component at a time.

use super::HostError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// As many as the kernel follows.
const LINKS: usize = 40;
/// How often the kernel is asked again when a rename came in between (EAGAIN of openat2).
const TRIES: usize = 16;

/// The directory under which every path of this module is taken: `/`, or the argument of `--root`.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    dir: OwnedFd,
    /// Without openat2.
    walk: bool,
}

/// Where a path leads when links are followed inside the root.
pub(super) struct Trail {
    /// Absent when nothing is there.
    pub fd: Option<OwnedFd>,
    /// The path without links, as far as it exists; what is missing is appended as written.
    pub path: String,
    /// Why others could put something else there: the first directory or link of the way that is not safe.
    pub untrusted: Option<String>,
}

impl Root {
    /// Opens the directory that stands for `/`.
    ///
    /// # Errors
    /// When it is missing, no directory, or may not be entered.
    pub fn open(dir: &Path) -> Result<Self, HostError> {
        let shown = || dir.display().to_string();
        let fail = |e: Errno| match e {
            Errno::NOENT => HostError::NoRoot { path: shown() },
            Errno::NOTDIR => HostError::NotRoot { path: shown() },
            e => HostError::io("open the root directory", shown(), e),
        };
        let path =
            std::path::absolute(dir).map_err(|e| HostError::io("open the root directory", shown(), e))?;
        let fd = rustix::fs::open(dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(fail)?;
        let walk = matches!(
            rustix::fs::openat2(
                &fd,
                ".",
                OFlags::PATH | OFlags::CLOEXEC,
                Mode::empty(),
                ResolveFlags::IN_ROOT
            ),
            Err(Errno::NOSYS | Errno::PERM)
        );
        Ok(Self { path, dir: fd, walk })
    }

    /// The directory itself, absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this is the running host's own root directory.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.path == Path::new("/")
    }

    /// Where a path really leads inside the root, whether or not all of it exists.
    ///
    /// # Errors
    /// When the way is barred or has too many links.
    pub fn leads(&self, path: &str) -> Result<String, HostError> {
        Ok(self.trail(path)?.path)
    }

    /// Reads a file below one of the bases, at most `limit` bytes. Absent when it does not exist.
    ///
    /// # Errors
    /// When a link is in the way, it is no regular file, is larger, or cannot be read.
    pub fn read(&self, bases: &[&str], path: &str, limit: u64) -> Result<Option<Vec<u8>>, HostError> {
        let (base, rest) = split(bases, path)?;
        let Some(dir) = self.base(base)? else { return Ok(None) };
        let Some(fd) = self.below(dir.as_fd(), base, rest, OFlags::PATH)? else { return Ok(None) };
        regular(&fd, path)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let Some(fd) = self.below(dir.as_fd(), base, rest, flags)? else { return Ok(None) };
        read_regular(fd, path, limit).map(Some)
    }

    /// Reads a file that may be reached through links inside the root.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn read_linked(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, HostError> {
        let real = self.leads(path)?;
        self.read(&[divide(&real).0], &real, limit)
    }

    /// A base directory, links followed inside the root. Absent when it does not exist.
    pub(super) fn base(&self, base: &str) -> Result<Option<OwnedFd>, HostError> {
        let Some(fd) = self.follow(base)? else { return Ok(None) };
        let stat = rustix::fs::fstat(&fd).map_err(|e| HostError::io("look at", base, e))?;
        match kind(&stat) {
            FileType::Directory => Ok(Some(fd)),
            found => {
                Err(HostError::Kind { path: base.to_owned(), found: word(found), wanted: "a directory" })
            }
        }
    }

    /// What stands at a path when links are followed inside the root; a handle that reads nothing.
    pub(super) fn follow(&self, path: &str) -> Result<Option<OwnedFd>, HostError> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..if self.walk { 0 } else { TRIES } {
            match rustix::fs::openat2(&self.dir, path, flags, Mode::empty(), resolve) {
                Ok(fd) => return Ok(Some(fd)),
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::AGAIN) => {}
                Err(Errno::XDEV) => return Err(HostError::Escape { path: path.to_owned() }),
                Err(e) => return Err(HostError::io("open", path, e)),
            }
        }
        Ok(self.trail(path)?.fd)
    }

    /// Opens `rest` below a directory without following any link. Absent when it does not exist.
    pub(super) fn below(
        &self,
        dir: BorrowedFd<'_>,
        base: &str,
        rest: &str,
        flags: OFlags,
    ) -> Result<Option<OwnedFd>, HostError> {
        let flags = flags | OFlags::CLOEXEC;
        if !self.walk {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(dir, rest, flags, Mode::empty(), resolve) {
                Ok(fd) => return Ok(Some(fd)),
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::XDEV) => return Err(HostError::Escape { path: join(base, rest) }),
                // The walk below finds out which component it is.
                Err(Errno::LOOP) => {}
                Err(e) => return Err(HostError::io("open", join(base, rest), e)),
            }
        }
        let mut at = base.to_owned();
        let mut held: Option<OwnedFd> = None;
        let mut names = rest.split('/').peekable();
        while let Some(name) = names.next() {
            let here = held.as_ref().map_or(dir, AsFd::as_fd);
            at = join(&at, name);
            let flags = if names.peek().is_some() { OFlags::PATH | OFlags::CLOEXEC } else { flags };
            match rustix::fs::openat(here, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(fd) => {
                    // O_PATH with O_NOFOLLOW opens the link itself.
                    if rustix::fs::fstat(&fd).is_ok_and(|s| kind(&s) == FileType::Symlink) {
                        return Err(HostError::Link { path: at });
                    }
                    held = Some(fd);
                }
                Err(Errno::NOENT) => return Ok(None),
                Err(e) => return Err(barred(here, name, at, e)),
            }
        }
        Ok(held)
    }

    /// A directory that can be listed and synced, below a base or on the way to one. Absent when it does not exist.
    pub(super) fn directory(&self, bases: &[&str], path: &str) -> Result<Option<OwnedFd>, HostError> {
        if !bases.contains(&path)
            && let Ok((base, rest)) = split(bases, path)
        {
            let Some(dir) = self.base(base)? else { return Ok(None) };
            return self.below(dir.as_fd(), base, rest, OFlags::RDONLY | OFlags::DIRECTORY);
        }
        // The handle of a base can be neither listed nor synced.
        let Some(dir) = self.base(path)? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::openat(&dir, ".", flags, Mode::empty()) {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(HostError::io("open", path, e)),
        }
    }

    /// Removes directories, the last one first, those that are empty; and returns what could not be.
    pub(super) fn unmake(&self, bases: &[&str], directories: &[String]) -> Vec<HostError> {
        let mut left = Vec::new();
        let backwards: Vec<(&str, &str)> = directories.iter().rev().map(|path| divide(path)).collect();
        for some in backwards.chunk_by(|a, b| a.0 == b.0) {
            let parent = some[0].0;
            let dir = match self.directory(bases, parent) {
                Ok(Some(dir)) => dir,
                Ok(None) => continue,
                Err(e) => {
                    left.push(e);
                    continue;
                }
            };
            let mut removed = false;
            for (_, name) in some {
                match rustix::fs::unlinkat(&dir, *name, AtFlags::REMOVEDIR) {
                    Ok(()) => removed = true,
                    // Somebody else put something there meanwhile: then it stays.
                    Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => {}
                    Err(e) => left.push(HostError::io("remove the directory", join(parent, name), e)),
                }
            }
            if removed {
                left.extend(sync(&dir, parent).err());
            }
        }
        left
    }

    /// Opens a directory below one of the bases for writing into it; makes what is missing, and notes it in `made`.
    pub(super) fn make(
        &self,
        bases: &[&str],
        path: &str,
        made: &mut Vec<String>,
    ) -> Result<OwnedFd, HostError> {
        let (base, rest) = if bases.contains(&path) { (path, "") } else { split(bases, path)? };
        let (existing, mut dir) = self.existing(base)?;
        let mut at = existing.to_owned();
        // The handle of a base cannot be synced.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        dir = rustix::fs::openat(&dir, ".", flags, Mode::empty())
            .map_err(|e| HostError::io("open", existing, e))?;
        let missing = base.strip_prefix(existing).unwrap_or("");
        for name in missing.split('/').chain(rest.split('/')).filter(|n| !n.is_empty()) {
            at = join(&at, name);
            dir = step(&dir, name, &at, made)?;
        }
        Ok(dir)
    }

    /// Of a base, what exists and may be reached through links; what is made from there on is ours.
    fn existing<'a>(&self, base: &'a str) -> Result<(&'a str, OwnedFd), HostError> {
        let mut existing = base;
        loop {
            if let Some(fd) = self.base(existing)? {
                return Ok((existing, fd));
            }
            existing = divide(existing).0;
        }
    }

    /// Whether a base directory that does not exist could be made.
    ///
    /// # Errors
    /// When a link that leads nowhere has its name, or that of a directory above it.
    pub(super) fn can_be_made(&self, base: &str) -> Result<(), HostError> {
        let (existing, dir) = self.existing(base)?;
        let missing = base[existing.len()..].trim_start_matches('/').split('/').next().unwrap_or_default();
        match rustix::fs::statat(&dir, missing, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) if !missing.is_empty() => Err(HostError::Link { path: join(existing, missing) }),
            _ => Ok(()),
        }
    }

    /// Follows a path by hand, with the links inside the root, and judges the way.
    pub(super) fn trail(&self, path: &str) -> Result<Trail, HostError> {
        let mut todo: Vec<Vec<u8>> = components(path.as_bytes());
        let mut stack: Vec<(Vec<u8>, OwnedFd)> = Vec::new();
        let mut links = 0;
        let mut untrusted = None;
        let mut end = false;
        while let Some(name) = todo.pop() {
            if name == b".." {
                // `..` of the root is the root.
                stack.pop();
                continue;
            }
            let here = stack.last().map_or(self.dir.as_fd(), |(_, fd)| fd.as_fd());
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = match rustix::fs::openat(here, name.as_slice(), flags, Mode::empty()) {
                Ok(fd) => fd,
                Err(Errno::NOENT) => {
                    todo.push(name);
                    end = true;
                    break;
                }
                Err(e) => return Err(HostError::io("open", path, e)),
            };
            let stat = rustix::fs::fstat(&fd).map_err(|e| HostError::io("look at", path, e))?;
            if untrusted.is_none() {
                untrusted = distrust(&stat).map(|why| {
                    format!(
                        "`{}` {why}",
                        text(stack.iter().map(|(n, _)| n.as_slice()).chain([name.as_slice()]))
                    )
                });
            }
            if kind(&stat) != FileType::Symlink {
                stack.push((name, fd));
                continue;
            }
            links += 1;
            if links > LINKS {
                return Err(HostError::io("open", path, Errno::LOOP));
            }
            let target = rustix::fs::readlinkat(&fd, "", Vec::new())
                .map_err(|e| HostError::io("read the link", path, e))?
                .into_bytes();
            if target.starts_with(b"/") {
                stack.clear();
            }
            todo.extend(components(&target));
        }
        let mut names: Vec<Vec<u8>> = stack.iter().map(|(name, _)| name.clone()).collect();
        for name in todo.into_iter().rev() {
            if name == b".." {
                names.pop();
            } else {
                names.push(name);
            }
        }
        let fd = match stack.pop() {
            _ if end => None,
            Some((_, fd)) => Some(fd),
            None => Some(self.dir.try_clone().map_err(|e| HostError::io("open", path, e))?),
        };
        Ok(Trail { fd, path: text(names.iter().map(Vec::as_slice)), untrusted })
    }

    /// The real path of something in the root, for handing it to a program.
    pub(super) fn real(&self, path: &str) -> PathBuf {
        self.path.join(path.trim_start_matches('/'))
    }

    #[cfg(test)]
    pub(super) fn walking(mut self) -> Self {
        self.walk = true;
        self
    }
}

/// The base that a path belongs to, the innermost one, and the rest below it.
pub(super) fn split<'a, 'b>(bases: &[&'a str], path: &'b str) -> Result<(&'a str, &'b str), HostError> {
    let bad = |why| Err(HostError::Path { path: path.to_owned(), why });
    let Some(inner) = path.strip_prefix('/') else { return bad("it is not absolute") };
    if path.contains('\0') {
        return bad("it contains a NUL");
    }
    if path.len() > 4095 {
        return bad("it is longer than 4095 bytes");
    }
    if inner.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return bad("it has an empty, `.` or `..` component");
    }
    bases
        .iter()
        .filter_map(|base| {
            let rest = path.strip_prefix(base.trim_end_matches('/'))?.strip_prefix('/')?;
            Some((*base, rest))
        })
        .max_by_key(|(base, _)| base.len())
        .ok_or_else(|| HostError::Outside { path: path.to_owned(), bases: bases.join(", ") })
}

pub(super) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

pub(super) fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    }
}

/// Why others could change this: nobody but root and this process's own user may own it or write to it.
pub(super) fn distrust(stat: &Stat) -> Option<&'static str> {
    if stat.st_uid != 0 && stat.st_uid != rustix::process::geteuid().as_raw() {
        return Some("belongs to another user");
    }
    let link = kind(stat) == FileType::Symlink;
    // In a sticky directory nobody moves what is not theirs, and what is in it is looked at by itself.
    let sticky = kind(stat) == FileType::Directory && stat.st_mode & 0o1000 != 0;
    if link || sticky {
        return None;
    }
    if stat.st_mode & 0o002 != 0 {
        return Some("may be written by everybody");
    }
    (stat.st_mode & 0o020 != 0 && stat.st_gid != 0).then_some("may be written by its group")
}

pub(super) fn join(base: &str, rest: &str) -> String {
    format!("{}/{rest}", base.trim_end_matches('/'))
}

/// The directory of a path, and its name there: the inverse of [`join`].
pub(super) fn divide(path: &str) -> (&str, &str) {
    path.rsplit_once('/').map_or(("/", path), |(dir, name)| (if dir.is_empty() { "/" } else { dir }, name))
}

/// Makes what changed in a directory durable.
pub(super) fn sync(dir: &OwnedFd, path: &str) -> Result<(), HostError> {
    rustix::fs::fsync(dir).map_err(|e| HostError::io("sync the directory", path, e))
}

/// Reads a regular file, at most `limit` bytes of it.
pub(super) fn read_regular(fd: OwnedFd, path: &str, limit: u64) -> Result<Vec<u8>, HostError> {
    regular(&fd, path)?;
    let mut bytes = Vec::new();
    File::from(fd).take(limit + 1).read_to_end(&mut bytes).map_err(|e| HostError::io("read", path, e))?;
    if bytes.len() as u64 > limit {
        return Err(HostError::Limit { path: path.to_owned(), limit, what: "bytes" });
    }
    Ok(bytes)
}

fn regular(fd: &OwnedFd, path: &str) -> Result<(), HostError> {
    let stat = rustix::fs::fstat(fd).map_err(|e| HostError::io("look at", path, e))?;
    match kind(&stat) {
        FileType::RegularFile => Ok(()),
        found => Err(HostError::Kind { path: path.to_owned(), found: word(found), wanted: "a file" }),
    }
}

/// One directory further, which is made when it is missing.
fn step(dir: &OwnedFd, name: &str, at: &str, made: &mut Vec<String>) -> Result<OwnedFd, HostError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(dir, name, flags, Mode::empty());
    match open() {
        Ok(fd) => return Ok(fd),
        Err(Errno::NOENT) => {}
        Err(e) => return Err(barred(dir.as_fd(), name, at.to_owned(), e)),
    }
    match rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o755)) {
        Ok(()) => {}
        // Somebody else was faster: then it is theirs.
        Err(Errno::EXIST) => return open().map_err(|e| barred(dir.as_fd(), name, at.to_owned(), e)),
        Err(e) => return Err(HostError::io("make the directory", at, e)),
    }
    made.push(at.to_owned());
    let fd = open().map_err(|e| barred(dir.as_fd(), name, at.to_owned(), e))?;
    // The umask must not decide it.
    rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o755))
        .map_err(|e| HostError::io("set the mode of", at, e))?;
    Ok(fd)
}

/// What an error of opening one component means.
fn barred(dir: BorrowedFd<'_>, name: &str, path: String, error: Errno) -> HostError {
    let found = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|s| kind(&s));
    match (error, found) {
        (Errno::LOOP, _) | (Errno::NOTDIR, Some(FileType::Symlink)) => HostError::Link { path },
        (Errno::NOTDIR, Some(found)) if found != FileType::Directory => {
            HostError::Kind { path, found: word(found), wanted: "a directory" }
        }
        // By now it is a directory.
        (Errno::NOTDIR, Some(_)) => HostError::Unsteady { path },
        _ => HostError::io("open", path, error),
    }
}

/// The components of a path, last first.
fn components(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|b| *b == b'/').filter(|n| !n.is_empty() && *n != b".").map(<[u8]>::to_vec).rev().collect()
}

fn text<'a>(names: impl Iterator<Item = &'a [u8]>) -> String {
    let mut out = String::new();
    for name in names {
        out.push('/');
        out.push_str(&String::from_utf8_lossy(name));
    }
    if out.is_empty() { "/".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::test::*;
    use std::os::unix::fs::symlink;

    const BASES: &[&str] = &["/etc/cni/net.d", "/var/run/cdi"];

    fn both(check: impl Fn(&Path, &Root)) {
        for walk in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let root = Root::open(dir.path()).unwrap();
            check(dir.path(), &if walk { root.walking() } else { root });
        }
    }

    #[test]
    fn this_kernel_knows_openat2_so_both_ways_are_tested() {
        let root = Root::open(Path::new("/")).unwrap();
        assert!(root.is_live());
        if root.walk {
            skip("openat2");
        }
    }

    #[test]
    fn a_base_is_reached_through_links_inside_the_root() {
        both(|dir, root| {
            write(dir, "run/cdi/a.json", "{}");
            std::fs::create_dir(dir.join("var")).unwrap();
            // Absolute, and with more `..` than there are directories: both end inside the root.
            for target in ["/run", "../run", "../../../../../../../../run"] {
                symlink(target, dir.join("var/run")).unwrap();
                assert_eq!(root.read(BASES, "/var/run/cdi/a.json", 10).unwrap().unwrap(), b"{}");
                assert_eq!(root.leads("/var/run/cdi").unwrap(), "/run/cdi");
                assert_eq!(root.leads("/var/run/none/at/all").unwrap(), "/run/none/at/all");
                std::fs::remove_file(dir.join("var/run")).unwrap();
            }
        });
    }

    #[test]
    fn below_a_base_no_link_is_followed() {
        both(|dir, root| {
            write(dir, "etc/cni/net.d/real/a.conf", "a");
            symlink("/etc/passwd", dir.join("etc/cni/net.d/x")).unwrap();
            symlink("real", dir.join("etc/cni/net.d/inner")).unwrap();
            for (path, link) in [
                ("/etc/cni/net.d/x", "/etc/cni/net.d/x"),
                ("/etc/cni/net.d/inner/a.conf", "/etc/cni/net.d/inner"),
            ] {
                let error = root.read(BASES, path, 10).unwrap_err();
                assert!(matches!(&error, HostError::Link { path } if path == link), "{error}");
                let mut made = Vec::new();
                let error = root.make(BASES, path, &mut made).unwrap_err();
                assert!(matches!(&error, HostError::Link { path } if path == link), "{error}");
                assert!(made.is_empty());
            }
        });
    }

    #[test]
    fn a_base_that_dangles_is_not_made_elsewhere() {
        both(|dir, root| {
            std::fs::create_dir_all(dir.join("etc/cni")).unwrap();
            symlink("/nowhere/else", dir.join("etc/cni/net.d")).unwrap();
            let error = root.make(BASES, "/etc/cni/net.d", &mut Vec::new()).unwrap_err();
            assert!(matches!(&error, HostError::Link { path } if path == "/etc/cni/net.d"), "{error}");
            assert!(!dir.join("nowhere").exists());
        });
    }

    #[test]
    fn link_loops_and_files_in_the_way_are_errors() {
        both(|dir, root| {
            std::fs::create_dir_all(dir.join("var")).unwrap();
            symlink("run", dir.join("var/run")).unwrap();
            assert!(matches!(root.read(BASES, "/var/run/cdi/a", 1), Err(HostError::Io { .. })));
            write(dir, "etc/cni/net.d", "a file");
            assert!(matches!(root.read(BASES, "/etc/cni/net.d/a", 1), Err(HostError::Kind { .. })));
        });
    }

    #[test]
    fn paths_are_checked_before_they_are_used() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        for path in [
            "etc/cni/net.d/a",
            "/etc/cni/net.d/../a",
            "/etc/cni/net.d//a",
            "/etc/cni/net.d/./a",
            "/etc/cni/net.d/",
            "/etc/cni/net.d/a\0",
        ] {
            assert!(matches!(root.read(BASES, path, 1), Err(HostError::Path { .. })), "{path}");
        }
        for path in ["/etc/passwd", "/etc/cni/net.dx/a", "/etc/cni/net.d"] {
            assert!(matches!(root.read(BASES, path, 1), Err(HostError::Outside { .. })), "{path}");
        }
        assert_eq!(split(&["/a", "/a/b"], "/a/b/c").unwrap(), ("/a/b", "c"));
    }

    #[test]
    fn a_pipe_is_refused_without_waiting_for_a_writer() {
        both(|dir, root| {
            std::fs::create_dir_all(dir.join("etc/cni/net.d")).unwrap();
            fifo(&dir.join("etc/cni/net.d/a"));
            assert!(matches!(root.read(BASES, "/etc/cni/net.d/a", 1), Err(HostError::Kind { .. })));
        });
    }

    #[test]
    fn the_limit_of_a_read_holds() {
        both(|dir, root| {
            write(dir, "etc/cni/net.d/a", "1234");
            assert!(root.read(BASES, "/etc/cni/net.d/a", 4).unwrap().is_some());
            assert!(matches!(root.read(BASES, "/etc/cni/net.d/a", 3), Err(HostError::Limit { .. })));
            assert!(root.read(BASES, "/etc/cni/net.d/b", 3).unwrap().is_none());
            assert!(root.read(BASES, "/var/run/cdi/b", 3).unwrap().is_none());
        });
    }

    #[test]
    fn a_way_that_others_may_change_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        write(dir.path(), "opt/cni/bin/a", "");
        assert_eq!(root.trail("/opt/cni/bin/a").unwrap().untrusted, None);
        set_mode(&dir.path().join("opt"), 0o777);
        assert_eq!(
            root.trail("/opt/cni/bin/a").unwrap().untrusted.unwrap(),
            "`/opt` may be written by everybody"
        );
        set_mode(&dir.path().join("opt"), 0o1777);
        assert_eq!(root.trail("/opt/cni/bin/a").unwrap().untrusted, None);
    }
}
