//! The bytes at the head of the file.
//!
//! ```text
//! 0   magic     8 bytes
//! 8   version   u32
//! 12  sections  u32        always 3
//! 16  length    u64        of the whole file
//! 24  checksum  u64        xxh3 of bytes 0..24 and of the section table
//! 32  table     3 × { kind u32, zero u32, offset u64, bytes u64, checksum u64 }
//! 128 plan, code, and, on a page of its own, constants
//! ```
//!
//! All numbers are little-endian, all bytes between sections zero.

use xxhash_rust::xxh3::Xxh3;

use super::ArtifactError;

/// The first bytes of every artifact. The carriage return and line feed show a transfer that
/// rewrote line ends, the first byte one that dropped the eighth bit.
pub const MAGIC: [u8; 8] = *b"\x89weft\r\n\x1a";

/// The version of the format this crate writes, and the only one it reads.
pub const VERSION: u32 = 9;

/// Constants begin at a multiple of this, so that they can be mapped into memory.
pub const PAGE_BYTES: u64 = 4096;

/// Sections begin at a multiple of this.
pub(super) const SECTION_ALIGN: u64 = 64;

pub(super) const HEADER_BYTES: usize = 128;

const TABLE_AT: usize = 32;
const ENTRY_BYTES: usize = 32;

/// A section's kind is its index in the table plus one.
pub(super) const SECTIONS: [&str; 3] = ["plan", "code", "constants"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub offset: u64,
    pub bytes: u64,
    pub checksum: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub length: u64,
    pub sections: [Section; 3],
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[0..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..16].copy_from_slice(&(SECTIONS.len() as u32).to_le_bytes());
        out[16..24].copy_from_slice(&self.length.to_le_bytes());
        for (i, s) in self.sections.iter().enumerate() {
            let at = TABLE_AT + i * ENTRY_BYTES;
            out[at..at + 4].copy_from_slice(&(i as u32 + 1).to_le_bytes());
            out[at + 8..at + 16].copy_from_slice(&s.offset.to_le_bytes());
            out[at + 16..at + 24].copy_from_slice(&s.bytes.to_le_bytes());
            out[at + 24..at + 32].copy_from_slice(&s.checksum.to_le_bytes());
        }
        let sum = header_checksum(&out);
        out[24..32].copy_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads the head of a file of `length` bytes and checks everything it claims.
    pub fn decode(file: &[u8]) -> Result<Header, ArtifactError> {
        let length = file.len() as u64;
        // The mark first: other files are refused by it, however short they are.
        if !file.starts_with(&MAGIC) {
            return Err(ArtifactError::Magic);
        }
        let Some(head) = file.get(..HEADER_BYTES) else {
            return Err(ArtifactError::Length { expected: HEADER_BYTES as u64, found: length });
        };
        let version = read_u32(head, 8);
        if version != VERSION {
            return Err(ArtifactError::Version { found: version, supported: VERSION });
        }
        if read_u64(head, 24) != header_checksum(head) {
            return Err(ArtifactError::Checksum { section: "header" });
        }
        let expected = read_u64(head, 16);
        if expected != length {
            return Err(ArtifactError::Length { expected, found: length });
        }
        let mut sections = [Section::default(); 3];
        let mut end = HEADER_BYTES as u64;
        for (i, s) in sections.iter_mut().enumerate() {
            let at = TABLE_AT + i * ENTRY_BYTES;
            *s = Section {
                offset: read_u64(head, at + 8),
                bytes: read_u64(head, at + 16),
                checksum: read_u64(head, at + 24),
            };
            let align = if i == 2 { PAGE_BYTES } else { SECTION_ALIGN };
            let last = s.offset.checked_add(s.bytes);
            let kind = read_u64(head, at);
            if read_u32(head, 12) as usize != SECTIONS.len()
                || kind != i as u64 + 1
                || s.offset % align != 0
                || s.offset < end
                || last.is_none_or(|last| last > length)
            {
                return Err(ArtifactError::Section { section: SECTIONS[i] });
            }
            end = s.offset + s.bytes;
        }
        Ok(Header { length, sections })
    }
}

fn header_checksum(head: &[u8]) -> u64 {
    let mut sum = Xxh3::new();
    sum.update(&head[..24]);
    sum.update(&head[TABLE_AT..HEADER_BYTES]);
    sum.digest()
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn read_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}
