//! Files mapped into memory: the model itself and the data it keeps outside.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use memmap2::Mmap;

use crate::error::{ImportError, Report, Result};
use crate::proto::TensorProto;
use crate::types::TensorType;

/// Maps the whole of a file. Nothing is read before it is looked at.
pub fn map(path: &Path) -> Result<Bytes> {
    let file = File::open(path).map_err(|e| ImportError::io("open", path, e))?;
    let meta = file.metadata().map_err(|e| ImportError::io("open", path, e))?;
    if !meta.is_file() {
        let what = std::io::Error::other("it is not a regular file");
        return Err(ImportError::io("read", path, what));
    }
    if meta.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: the map is private and only read. Should another process shorten the file meanwhile,
    // the system stops us with a signal, as it does for every mapped library.
    let map = unsafe { Mmap::map(&file) }.map_err(|e| ImportError::io("map", path, e))?;
    Ok(Bytes::from_owner(map))
}

/// The folder of a model, and the files in it that its tensors point at.
#[derive(Debug, Default)]
pub struct Folder {
    path: PathBuf,
    mapped: Mutex<BTreeMap<PathBuf, Bytes>>,
}

impl Folder {
    /// The folder that holds `model`.
    pub fn of(model: &Path) -> Self {
        let path = match model.parent() {
            Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
            Some(parent) => parent.to_owned(),
            None => PathBuf::from("."),
        };
        Self { path, mapped: Mutex::default() }
    }

    /// The files that were mapped so far, and those that a model names.
    pub fn paths<'m>(&self, named: impl Iterator<Item = &'m TensorProto>) -> Vec<PathBuf> {
        let mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let mut paths: BTreeSet<_> = mapped.keys().map(|path| self.path.join(path)).collect();
        let locations = named.flat_map(|tensor| &tensor.external_data);
        let locations = locations.filter(|entry| entry.key() == "location");
        paths.extend(locations.map(|entry| self.path.join(entry.value())));
        paths.into_iter().collect()
    }

    /// The bytes of a tensor whose data lies outside of the model.
    pub fn external(&self, tensor: &TensorProto, ty: &TensorType, what: &str) -> Result<Bytes> {
        let entry = |key: &str| {
            let found = tensor.external_data.iter().find(|entry| entry.key() == key);
            found.map(|entry| entry.value())
        };
        let number = |key: &str| match entry(key) {
            None => Ok(None),
            Some(text) => text.parse::<u64>().map(Some).map_err(|_| {
                Report::new(format!("{what} has external data with {key} {text:?}"))
                    .help("a whole number of bytes")
                    .malformed()
            }),
        };
        let location = entry("location").ok_or_else(|| {
            Report::new(format!("{what} has external data without a location")).malformed()
        })?;
        let bytes = self.file(location, what)?;
        let offset = number("offset")?.unwrap_or(0);
        let length = number("length")?.unwrap_or(ty.file_bytes() as u64);
        if length != ty.file_bytes() as u64 {
            return Err(Report::new(format!("{what} has {length} bytes of external data"))
                .note(format!("its type {ty} takes {}", ty.file_bytes()))
                .malformed());
        }
        match offset.checked_add(length) {
            Some(end) if end <= bytes.len() as u64 => {
                Ok(bytes.slice(offset as usize..end as usize))
            }
            _ => Err(Report::new(format!("{what} has external data past the end of {location:?}"))
                .note(format!("{length} bytes at {offset}; the file has {}", bytes.len()))
                .malformed()),
        }
    }

    /// Maps a file of the folder, once.
    fn file(&self, location: &str, what: &str) -> Result<Bytes> {
        let relative = Path::new(location);
        let leaves = || {
            Report::new(format!(
                "{what} has external data at {location:?}, outside of the model's folder"
            ))
            .help("a path relative to the model's folder that stays in it")
            .malformed()
        };
        let inside =
            relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        if location.is_empty() || !inside {
            return Err(leaves());
        }
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = mapped.get(relative) {
            return Ok(bytes.clone());
        }
        let resolve = |path: &Path| {
            path.canonicalize().map_err(|e| ImportError::io("find the external data", path, e))
        };
        let (folder, path) = (resolve(&self.path)?, resolve(&self.path.join(relative))?);
        // A symbolic link may lead out although the words do not.
        if !path.starts_with(&folder) {
            return Err(leaves());
        }
        let bytes = map(&path)?;
        mapped.insert(relative.to_owned(), bytes.clone());
        Ok(bytes)
    }
}
