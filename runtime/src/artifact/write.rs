//! Writing an artifact: streamed, under a temporary name, the same bytes every time.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::ArtifactError;
use super::format::{HEADER_BYTES, Header, PAGE_BYTES, SECTION_ALIGN, Section};
use crate::plan::Plan;
use crate::whole_file::WholeFile;

/// The error of a constants writer; `?` converts any error into it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Writes an artifact to `path`.
///
/// `code` is of the kind that [`Plan::code`] says. `constants` is called once and writes exactly
/// [`Plan::constant_bytes`] bytes, in order, in pieces of any size; they are never all held in
/// memory. The file appears under its name only when it is complete; until then, and after an
/// error, a file of that name stays as it was.
///
/// # Errors
///
/// A plan that [`Plan::validate`] refuses, a failure of `constants`, a number of bytes other
/// than announced, or a failure to write.
pub fn write<F>(path: &Path, plan: &Plan, code: &[u8], constants: F) -> Result<(), ArtifactError>
where
    F: FnOnce(&mut Constants<'_>) -> Result<(), BoxError>,
{
    let io = |what| {
        let path = path.to_owned();
        move |source| ArtifactError::Io { what, path, source }
    };
    let mut out = WholeFile::create(path).map_err(io("create"))?;
    write_to(&mut out, plan, code, constants)?;
    out.commit().map_err(io("write"))
}

/// Writes an artifact to a stream that begins at position 0; see [`write()`].
pub fn write_to<W, F>(
    out: &mut W,
    plan: &Plan,
    code: &[u8],
    constants: F,
) -> Result<(), ArtifactError>
where
    W: Write + Seek,
    F: FnOnce(&mut Constants<'_>) -> Result<(), BoxError>,
{
    plan.validate()?;
    let encoded = postcard::to_stdvec(plan).map_err(|e| ArtifactError::Decode(e.to_string()))?;
    let at = HEADER_BYTES as u64;
    let plan_section =
        Section { offset: at, bytes: encoded.len() as u64, checksum: xxh3_64(&encoded) };
    let at = (at + plan_section.bytes).next_multiple_of(SECTION_ALIGN);
    let code_section = Section { offset: at, bytes: code.len() as u64, checksum: xxh3_64(code) };
    let at = (at + code_section.bytes).next_multiple_of(PAGE_BYTES);

    // The header is known only at the end; its place is kept.
    let body =
        [(0, &[][..]), (plan_section.offset, &encoded), (code_section.offset, code), (at, &[])];
    let mut position = 0;
    for (offset, bytes) in body {
        pad(out, offset - position).map_err(ArtifactError::Write)?;
        out.write_all(bytes).map_err(ArtifactError::Write)?;
        position = offset + bytes.len() as u64;
    }

    let mut stream = Constants { out, position: 0, limit: plan.constant_bytes, sum: Xxh3::new() };
    constants(&mut stream).map_err(ArtifactError::Constants)?;
    let (written, checksum) = (stream.position, stream.sum.digest());
    if written != plan.constant_bytes {
        return Err(ArtifactError::ConstantBytes { announced: plan.constant_bytes, written });
    }
    let constants_section = Section { offset: at, bytes: written, checksum };
    let header =
        Header { length: at + written, sections: [plan_section, code_section, constants_section] };
    out.seek(SeekFrom::Start(0)).map_err(ArtifactError::Write)?;
    out.write_all(&header.encode()).map_err(ArtifactError::Write)?;
    out.flush().map_err(ArtifactError::Write)
}

/// Receives the bytes of the constants, in order.
pub struct Constants<'a> {
    out: &'a mut dyn Write,
    position: u64,
    limit: u64,
    sum: Xxh3,
}

impl Constants<'_> {
    /// Bytes written so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes zeros up to byte `offset` of the constants.
    ///
    /// # Errors
    ///
    /// If that byte is already past, or the zeros cannot be written.
    pub fn pad_to(&mut self, offset: u64) -> Result<(), ArtifactError> {
        let position = self.position;
        let gap = offset
            .checked_sub(position)
            .ok_or(ArtifactError::ConstantOrder { wanted: offset, position })?;
        pad(self, gap).map_err(ArtifactError::Write)
    }
}

impl Write for Constants<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Refused here rather than at the end: a runaway closure must not fill the disk.
        if bytes.len() as u64 > self.limit - self.position {
            let end = self.position + bytes.len() as u64;
            let limit = self.limit;
            return Err(io::Error::other(format!(
                "constants reach byte {end}, and the plan announces {limit}"
            )));
        }
        let n = self.out.write(bytes)?;
        self.sum.update(&bytes[..n]);
        self.position += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn pad(out: &mut dyn Write, mut gap: u64) -> io::Result<()> {
    let zeros = [0; 4096];
    while gap > 0 {
        let n = gap.min(zeros.len() as u64);
        out.write_all(&zeros[..n as usize])?;
        gap -= n;
    }
    Ok(())
}
