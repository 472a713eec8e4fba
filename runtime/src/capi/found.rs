//! `weft_model_found`: how long outputs came out whose lengths data decide.

use std::cell::RefCell;

use super::failure::{guarded, invalid};
use super::{CModel, Status};

thread_local! {
    /// The model that this thread ran last, and what that found of its outputs.
    static FOUND: RefCell<(usize, Vec<Vec<u64>>)> = const { RefCell::new((0, Vec::new())) };
}

/// Keeps what a run of a model has found; nothing of one that finds nothing, fails or is freed.
pub(super) fn keep(model: *const CModel, shapes: Option<Vec<Vec<u64>>>) {
    FOUND.set((model.addr(), shapes.unwrap_or_default()));
}

/// `weft_model_found`.
///
/// # Safety
///
/// `model` is null or a live model; `shape` is null or points to as many numbers as the output has
/// dimensions, which may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_found(
    model: *const CModel,
    output: usize,
    shape: *mut u64,
) -> Status {
    guarded(|| {
        // SAFETY: by the contract.
        let Some(own) = (unsafe { model.as_ref() }) else {
            return Err(invalid("the model is null"));
        };
        let Some(port) = own.outputs.get(output) else {
            let count = own.outputs.len();
            let what = format!("output {output} was asked for, and the model has {count}");
            return Err(invalid(what));
        };
        if shape.is_null() && !port.shape.is_empty() {
            return Err(invalid("the place for the shape is null"));
        }
        FOUND.with_borrow(|(at, shapes)| {
            // What data do not decide is as it was said.
            let found = shapes
                .get(output)
                .filter(|own| *at == model.addr() && own.len() == port.shape.len());
            let found = found.map_or(&port.shape[..], |own| &own[..]);
            for (number, &extent) in found.iter().enumerate() {
                // SAFETY: by the contract there is room for each dimension.
                unsafe { shape.add(number).write(extent) };
            }
        });
        Ok(())
    })
}
