//! Small files with a checksum: a hash, then JSON.

use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weft_dialects::device::Fact;
use weft_runtime::WholeFile;

/// Length of a hash as text.
const HASH_LEN: usize = 64;

/// The inputs of an artifact, and its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recipe {
    /// The compiler and the options.
    pub inputs: Vec<(String, String)>,
    /// The facts of the machine that were used.
    pub facts: Vec<Used>,
    pub made: Made,
}

/// A fact, and the hash of what the machine said of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Used {
    pub kind: String,
    pub name: String,
    pub field: String,
    pub value: String,
}

impl Used {
    pub fn fact(&self) -> Fact {
        let (kind, name, field) = (self.kind.clone(), self.name.clone(), self.field.clone());
        Fact { kind, name, field }
    }
}

/// The result of a compilation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The artifact's hash, by which it is stored.
    pub artifact: String,
    /// The remarks that `weft compile` prints on standard error.
    pub remarks: Vec<String>,
}

/// The artifact of a model's bytes and all other inputs; saves the import.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Files beside the model, by their path from its folder, and their hashes.
    pub files: Vec<(String, String)>,
    pub made: Made,
}

/// The result of reading a record.
pub(super) enum Read<T> {
    Whole(T),
    Missing,
    Damaged,
}

/// The file's text, hash first.
pub(super) fn text_of(record: &impl Serialize) -> String {
    let body = serde_json::to_string(record).expect("a record is plain data");
    format!("{}{body}", blake3::hash(body.as_bytes()).to_hex())
}

/// Writes a record whole or not at all.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = WholeFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.commit_early()
}

/// Reads a record that [`write`] wrote.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Read<T>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Read::Missing),
        Err(error) => return Err(error),
    };
    let Some((hash, body)) = bytes.split_at_checked(HASH_LEN) else { return Ok(Read::Damaged) };
    if blake3::hash(body).to_hex().as_bytes() != hash {
        return Ok(Read::Damaged);
    }
    Ok(serde_json::from_slice(body).map_or(Read::Damaged, Read::Whole))
}
