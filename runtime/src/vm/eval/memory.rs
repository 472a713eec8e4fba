//! Between memory and registers.
//!
//! Memory is bytes at any alignment. Addresses of affine accesses were checked for the whole
//! nest; computed ones are checked here.

use super::super::nest::Pattern;
use super::super::program::TensorId;
use super::super::ty::Ty;
use super::{Fault, view_mut};

/// Calls `$f::<W>` with the width of the type.
macro_rules! by_width {
    ($ty:expr, $f:ident ( $($arg:expr),* )) => {
        match $ty.bytes() {
            1 => $f::<1>($($arg),*),
            2 => $f::<2>($($arg),*),
            4 => $f::<4>($($arg),*),
            _ => $f::<8>($($arg),*),
        }
    };
}

/// Loads `n` elements.
pub fn load(ty: Ty, words: &mut [u64], memory: &[u8], base: i64, pattern: &Pattern, n: usize) {
    by_width!(ty, load_as(words, memory, base, pattern, n));
    normalise(ty, words, n);
}

/// Bytes of truth values become 0 or 1.
fn normalise(ty: Ty, words: &mut [u64], n: usize) {
    if ty == Ty::I1 {
        view_mut::<u8>(words, n).iter_mut().for_each(|b| *b = (*b != 0) as u8);
    }
}

fn elements<const W: usize>(words: &[u64]) -> &[[u8; W]] {
    bytemuck::cast_slice::<u64, u8>(words).as_chunks().0
}

fn elements_mut<const W: usize>(words: &mut [u64]) -> &mut [[u8; W]] {
    bytemuck::cast_slice_mut::<u64, u8>(words).as_chunks_mut().0
}

fn load_as<const W: usize>(
    words: &mut [u64],
    memory: &[u8],
    base: i64,
    pattern: &Pattern,
    n: usize,
) {
    let memory = memory.as_chunks::<W>().0;
    let out = &mut elements_mut::<W>(words)[..n];
    match pattern {
        Pattern::Uniform => out.fill(memory[base as usize]),
        Pattern::Unit => out.copy_from_slice(&memory[base as usize..][..n]),
        Pattern::Strided(stride) => {
            let mut at = base;
            for out in out {
                *out = memory[at as usize];
                at = at.wrapping_add(*stride);
            }
        }
        Pattern::Runs { len, starts } => {
            for (out, start) in out.chunks_mut(*len).zip(starts) {
                out.copy_from_slice(&memory[base.wrapping_add(*start) as usize..][..out.len()]);
            }
        }
        Pattern::Table(table) => {
            for (out, at) in out.iter_mut().zip(table) {
                *out = memory[base.wrapping_add(*at) as usize];
            }
        }
    }
}

/// Stores `n` elements.
pub fn store(ty: Ty, words: &[u64], memory: &mut [u8], base: i64, pattern: &Pattern, n: usize) {
    by_width!(ty, store_as(words, memory, base, pattern, n));
}

fn store_as<const W: usize>(
    words: &[u64],
    memory: &mut [u8],
    base: i64,
    pattern: &Pattern,
    n: usize,
) {
    let memory = memory.as_chunks_mut::<W>().0;
    let values = &elements::<W>(words)[..n];
    match pattern {
        Pattern::Uniform => {
            if let Some(last) = values.last() {
                memory[base as usize] = *last;
            }
        }
        Pattern::Unit => memory[base as usize..][..n].copy_from_slice(values),
        Pattern::Strided(stride) => {
            let mut at = base;
            for value in values {
                memory[at as usize] = *value;
                at = at.wrapping_add(*stride);
            }
        }
        Pattern::Runs { len, starts } => {
            for (values, start) in values.chunks(*len).zip(starts) {
                memory[base.wrapping_add(*start) as usize..][..values.len()]
                    .copy_from_slice(values);
            }
        }
        Pattern::Table(table) => {
            for (value, at) in values.iter().zip(table) {
                memory[base.wrapping_add(*at) as usize] = *value;
            }
        }
    }
}

/// Loads from computed addresses.
pub fn load_at(
    ty: Ty,
    words: &mut [u64],
    memory: &[u8],
    addresses: &[i64],
    tensor: TensorId,
) -> Result<(), Fault> {
    by_width!(ty, load_at_as(words, memory, addresses, tensor))?;
    normalise(ty, words, addresses.len());
    Ok(())
}

fn load_at_as<const W: usize>(
    words: &mut [u64],
    memory: &[u8],
    addresses: &[i64],
    tensor: TensorId,
) -> Result<(), Fault> {
    let memory = memory.as_chunks::<W>().0;
    for (out, &address) in elements_mut::<W>(words).iter_mut().zip(addresses) {
        let Some(value) = usize::try_from(address).ok().and_then(|at| memory.get(at)) else {
            return Err(Fault::Address { tensor, address, len: memory.len() as u64 });
        };
        *out = *value;
    }
    Ok(())
}

/// Stores to computed addresses.
pub fn store_at(
    ty: Ty,
    words: &[u64],
    memory: &mut [u8],
    addresses: &[i64],
    tensor: TensorId,
) -> Result<(), Fault> {
    by_width!(ty, store_at_as(words, memory, addresses, tensor))
}

fn store_at_as<const W: usize>(
    words: &[u64],
    memory: &mut [u8],
    addresses: &[i64],
    tensor: TensorId,
) -> Result<(), Fault> {
    let memory = memory.as_chunks_mut::<W>().0;
    let len = memory.len() as u64;
    for (value, &address) in elements::<W>(words).iter().zip(addresses) {
        let Some(slot) = usize::try_from(address).ok().and_then(|at| memory.get_mut(at)) else {
            return Err(Fault::Address { tensor, address, len });
        };
        *slot = *value;
    }
    Ok(())
}

/// The positions along an axis.
pub fn positions(words: &mut [u64], base: i64, pattern: &Pattern, n: usize) {
    let out = view_mut::<i64>(words, n);
    match pattern {
        Pattern::Uniform => out.fill(base),
        Pattern::Unit => out.iter_mut().zip(base..).for_each(|(out, i)| *out = i),
        Pattern::Strided(stride) => {
            out.iter_mut().zip(0..).for_each(|(out, i)| *out = base + i * stride);
        }
        Pattern::Runs { len, starts } => {
            for (out, start) in out.chunks_mut(*len).zip(starts) {
                out.iter_mut().zip(base + start..).for_each(|(out, i)| *out = i);
            }
        }
        Pattern::Table(table) => {
            out.iter_mut().zip(table).for_each(|(out, at)| *out = base + at);
        }
    }
}

/// Copies one element of a strip to the front of `one`.
pub fn extract(ty: Ty, words: &[u64], point: usize, one: &mut [u64]) {
    by_width!(ty, extract_as(words, point, one));
}

fn extract_as<const W: usize>(words: &[u64], point: usize, one: &mut [u64]) {
    elements_mut::<W>(one)[0] = elements::<W>(words)[point];
}
