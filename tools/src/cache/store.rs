//! The cache's folder: artifacts by their own hash, and what led to them.
//!
//! ```text
//! v1/artifacts/HASH       artifacts
//! v1/recipes/MODEL/HASH   what an artifact was made from
//! v1/seen/HASH            what the bytes of a model led to
//! v1/lent/PROCESS-NUMBER  names of artifacts that are being run
//! ```
//!
//! Every file is written beside its place and renamed, so several processes share a folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use weft_runtime::WholeFile;

use super::record;

/// Age after which a temporary file of another process may be removed.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// The hash of a file's bytes.
pub(crate) fn hash_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_mmap(path)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// A cache's folder.
#[derive(Clone, Debug)]
pub(super) struct Store {
    root: PathBuf,
    bytes_max: u64,
}

/// The result of a request for an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Got<T> {
    Whole(T),
    Missing,
    Damaged,
}

/// An artifact under a name that no other process removes.
#[derive(Debug)]
pub struct Lent {
    /// Its path.
    pub path: PathBuf,
}

impl Drop for Lent {
    fn drop(&mut self) {
        // A file that remains is removed when it is stale.
        let _ = fs::remove_file(&self.path);
    }
}

impl Store {
    pub fn new(folder: &Path, bytes_max: u64) -> Self {
        Self { root: folder.join("v1"), bytes_max }
    }

    fn artifact(&self, hash: &str) -> PathBuf {
        self.root.join("artifacts").join(hash)
    }

    pub fn seen(&self, key: &str) -> PathBuf {
        self.root.join("seen").join(key)
    }

    pub fn recipes(&self, model: &str) -> PathBuf {
        self.root.join("recipes").join(model)
    }

    /// Writes an artifact to `output`, checked on the way; that appears whole or not at all.
    pub fn copy(&self, hash: &str, output: &Path) -> io::Result<Got<()>> {
        let path = self.artifact(hash);
        let Ok(source) = File::open(&path) else { return Ok(Got::Missing) };
        // A file that is written in place cannot be restored.
        let there = fs::metadata(output).ok();
        let in_place = there.as_ref().is_some_and(|there| !there.is_file());
        let as_long = there.is_some_and(|there| {
            there.is_file() && source.metadata().is_ok_and(|own| own.len() == there.len())
        });
        // Renaming over a file waits until the disk has the new one: for weights a third of a second.
        if as_long && self.is_there(hash, output)? {
            touch(output);
            touch(&path);
            return Ok(Got::Whole(()));
        }
        if in_place && !self.check(hash)? {
            return Ok(Got::Damaged);
        }
        let mut out = WholeFile::create(output)?;
        let whole = std::thread::scope(|scope| {
            let checked = scope.spawn(|| in_place || self.check(hash).unwrap_or(false));
            let copied = out.append(&source);
            let whole = checked.join().expect("hashing does not panic");
            copied.map(|_| whole)
        })?;
        if !whole {
            return Ok(Got::Damaged);
        }
        out.commit_early()?;
        touch(&path);
        Ok(Got::Whole(()))
    }

    /// An artifact to run: it is not written to, so it need not be copied.
    pub fn lend(&self, hash: &str) -> io::Result<Got<Lent>> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = self.root.join("lent");
        let path = folder.join(format!("{}-{number}.weft", std::process::id()));
        if !self.artifact(hash).exists() {
            return Ok(Got::Missing);
        }
        fs::create_dir_all(&folder)?;
        // A process of the same number may have been stopped.
        let _ = fs::remove_file(&path);
        fs::hard_link(self.artifact(hash), &path)?;
        let lent = Lent { path };
        if hash_file(&lent.path)? != hash {
            self.discard(hash);
            return Ok(Got::Damaged);
        }
        touch(&lent.path);
        Ok(Got::Whole(lent))
    }

    /// Returns whether a file holds an artifact already, which is looked at beside it.
    fn is_there(&self, hash: &str, output: &Path) -> io::Result<bool> {
        std::thread::scope(|scope| {
            let checked = scope.spawn(|| self.check(hash));
            let same = hash_file(output).is_ok_and(|found| found == hash);
            Ok(checked.join().expect("hashing does not panic")? && same)
        })
    }

    /// Returns whether an artifact is what its name says; one that is not goes.
    fn check(&self, hash: &str) -> io::Result<bool> {
        let whole = hash_file(&self.artifact(hash))? == hash;
        if !whole {
            self.discard(hash);
        }
        Ok(whole)
    }

    fn discard(&self, hash: &str) {
        // Another process may have found it damaged, too.
        let _ = fs::remove_file(self.artifact(hash));
    }

    /// Keeps a copy of an artifact; gives its hash, or `None` where it is too large for the cache.
    pub fn keep(&self, file: &Path) -> io::Result<Option<String>> {
        if fs::metadata(file)?.len() > self.bytes_max {
            return Ok(None);
        }
        let hash = hash_file(file)?;
        let path = self.artifact(&hash);
        fs::create_dir_all(self.root.join("artifacts"))?;
        let mut out = WholeFile::create(&path)?;
        out.append(&File::open(file)?)?;
        out.commit_early()?;
        Ok(Some(hash))
    }

    /// Writes a record, then takes away what was not used for longest while there is too much.
    pub fn note(&self, path: &Path, text: &str) -> io::Result<()> {
        record::write(path, text)?;
        let mut files = Vec::new();
        list(&self.root, &mut files)?;
        let now = SystemTime::now();
        let old = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age > STALE);
        let passing = |path: &Path| {
            path.parent().is_some_and(|folder| folder.ends_with("lent"))
                || path.to_string_lossy().contains(".part-")
        };
        let (passing, mut kept): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(_, _, path)| passing(path));
        for (_, _, path) in passing.into_iter().filter(|(time, ..)| old(*time)) {
            let _ = fs::remove_file(path);
        }
        kept.sort();
        let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, own, path) in kept {
            if bytes <= self.bytes_max {
                break;
            }
            // Another process may be doing the same.
            let _ = fs::remove_file(path);
            bytes -= own;
        }
        Ok(())
    }
}

/// Says that a file was used now; the order in which files go is all that depends on it.
pub(super) fn touch(path: &Path) {
    let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Every file below a folder, with its time and size; what vanishes meanwhile is not there.
fn list(folder: &Path, files: &mut Vec<(SystemTime, u64, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let Ok(entry) = entry else { continue };
        let Ok(known) = entry.metadata() else { continue };
        if known.is_dir() {
            list(&entry.path(), files).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
        } else if let Ok(time) = known.modified() {
            files.push((time, known.len(), entry.path()));
        }
    }
    Ok(())
}
