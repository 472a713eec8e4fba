//! Memory that kernels work in, on large pages where it is large.
//!
//! The processor keeps the places of a few thousand pages at hand and fetches ahead within
//! a page only: on small pages a stream from memory reaches three quarters of the bandwidth.

use memmap2::{Advice, MmapMut, MmapOptions};

use super::CpuError;

/// Memory of at least this size asks for large pages.
const LARGE: usize = 4 << 20;

/// Zeroed memory on a page boundary; at least a byte, which the system asks for.
pub fn zeroed(bytes: usize) -> Result<MmapMut, CpuError> {
    let system = |source| CpuError::System { what: "get memory for the model", source };
    let map = MmapMut::map_anon(bytes.max(1)).map_err(system)?;
    if bytes >= LARGE {
        // A system without large pages gives small ones, which hold the same.
        let _ = map.advise(Advice::HugePage);
    }
    Ok(map)
}

/// The same without a claim on all of it: of an arena that is laid out for the greatest lengths, most
/// runs touch a part.
pub fn zeroed_where_touched(bytes: usize) -> Result<MmapMut, CpuError> {
    let system = |source| CpuError::System { what: "get memory for the model", source };
    MmapOptions::new().len(bytes.max(1)).no_reserve_swap().map_anon().map_err(system)
}

/// A copy of constants that lie in a file, whose pages are small; `None` for those so few
/// that it would not pay.
pub fn copy_of_large(constants: &[u8]) -> Result<Option<MmapMut>, CpuError> {
    if constants.len() < LARGE {
        return Ok(None);
    }
    let mut copy = zeroed(constants.len())?;
    copy[..constants.len()].copy_from_slice(constants);
    Ok(Some(copy))
}
