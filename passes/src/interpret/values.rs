//! Tensors between operators, kept until their last use.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use weft_dialects::ir::{Op, Type, Val, ty};

use super::error::InterpretError;

/// The bytes of a tensor.
pub(super) type Bytes<'w> = Rc<Cow<'w, [u8]>>;

/// Tensors by value.
#[derive(Default)]
pub(super) struct Values<'c, 'w> {
    held: HashMap<Val<'c>, (Bytes<'w>, usize)>,
}

impl<'c, 'w> Values<'c, 'w> {
    /// Sets the content of `value`; it is dropped at once if it has no uses.
    pub fn set(&mut self, value: Val<'c>, bytes: Bytes<'w>) {
        let uses = value.uses().len();
        if uses > 0 {
            self.held.insert(value, (bytes, uses));
        }
    }

    /// A tensor that is held.
    pub fn get(&self, value: Val<'c>) -> Option<Bytes<'w>> {
        self.held.get(&value).map(|(bytes, _)| bytes.clone())
    }

    /// The uses by `op` are done.
    pub fn done(&mut self, op: Op<'c>) {
        for operand in op.operands() {
            if let Some((_, left)) = self.held.get_mut(&operand) {
                *left -= 1;
                if *left == 0 {
                    self.held.remove(&operand);
                }
            }
        }
    }
}

/// Checks that bytes from outside are those of a tensor of type `ty`.
pub(super) fn check_size(
    what: impl FnOnce() -> String,
    ty: Type<'_>,
    found: usize,
) -> Result<(), InterpretError> {
    let expected = size(ty).unwrap_or(0);
    if found as u64 != expected || size(ty).is_none() {
        let ty = ty.to_string();
        return Err(InterpretError::Bytes { what: what(), ty, expected, found: found as u64 });
    }
    Ok(())
}

/// The bytes of a tensor of type `ty`.
pub(super) fn size(ty: Type<'_>) -> Option<u64> {
    ty::byte_size(ty::elem(ty)?)?.checked_mul(ty::count(ty)?)
}
