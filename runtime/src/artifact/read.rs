//! Reading an artifact: mapped into memory, everything checked before it is used.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::{Mmap, MmapMut};
use xxhash_rust::xxh3::xxh3_64;

use super::ArtifactError;
use super::format::{Header, SECTIONS, Section};
use crate::plan::Plan;

/// An artifact, checked: its plan is valid and its sections lie within the file.
#[derive(Debug)]
pub struct Artifact {
    plan: Plan,
    header: Header,
    file: Mmap,
}

impl Artifact {
    /// Maps the file at `path` and checks it.
    ///
    /// Constants are read from the disk when they are first touched, and their checksum is not
    /// looked at; [`Artifact::verify_constants`] does that.
    pub fn open(path: &Path) -> Result<Artifact, ArtifactError> {
        let io = |what| move |source| ArtifactError::Io { what, path: path.to_owned(), source };
        let file = File::open(path).map_err(io("open"))?;
        // A directory opens but cannot be mapped; metadata tells it from an empty file.
        if !file.metadata().map_err(io("read"))?.is_file() {
            return Err(ArtifactError::Magic);
        }
        // SAFETY: artifacts are replaced by renaming, never changed in place; a process that
        // does otherwise to a file it runs is outside of what can be guarded against.
        let map = unsafe { Mmap::map(&file) }.map_err(io("map"))?;
        Artifact::from_map(map)
    }

    /// Copies `bytes` to page-aligned memory and checks them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Artifact, ArtifactError> {
        if bytes.is_empty() {
            return Err(ArtifactError::Magic);
        }
        let mut map = MmapMut::map_anon(bytes.len()).map_err(ArtifactError::Memory)?;
        map.copy_from_slice(bytes);
        Artifact::from_map(map.make_read_only().map_err(ArtifactError::Memory)?)
    }

    fn from_map(file: Mmap) -> Result<Artifact, ArtifactError> {
        let header = Header::decode(&file)?;
        let [plan, code, constants] = &header.sections;
        for (section, name) in [plan, code].into_iter().zip(SECTIONS) {
            if xxh3_64(slice(&file, section)) != section.checksum {
                return Err(ArtifactError::Checksum { section: name });
            }
        }
        let (decoded, rest) = postcard::take_from_bytes::<Plan>(slice(&file, plan))
            .map_err(|e| ArtifactError::Decode(e.to_string()))?;
        if !rest.is_empty() {
            return Err(ArtifactError::Decode(format!("{} bytes follow it", rest.len())));
        }
        decoded.validate()?;
        if decoded.constant_bytes != constants.bytes {
            return Err(ArtifactError::Section { section: "constants" });
        }
        Ok(Artifact { plan: decoded, header, file })
    }

    /// The plan, which [`Plan::validate`] accepts.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The code, of the kind that [`Plan::code`] says.
    pub fn code(&self) -> &[u8] {
        slice(&self.file, &self.header.sections[1])
    }

    /// The constants, on a page boundary.
    pub fn constants(&self) -> &[u8] {
        slice(&self.file, &self.header.sections[2])
    }

    /// Reads all constants and holds them against their checksum.
    pub fn verify_constants(&self) -> Result<(), ArtifactError> {
        if xxh3_64(self.constants()) != self.header.sections[2].checksum {
            return Err(ArtifactError::Checksum { section: "constants" });
        }
        Ok(())
    }
}

/// A section of a file whose header was checked against its length.
fn slice<'a>(file: &'a impl Deref<Target = [u8]>, section: &Section) -> &'a [u8] {
    &file[section.offset as usize..(section.offset + section.bytes) as usize]
}
