//! `weft_model_bind` and `weft_model_alias`.

use super::failure::{Failure, guarded, invalid};
use super::{CModel, Held, OwnedPort, Status};

/// `weft_model_bind`.
///
/// # Safety
///
/// `model` is null or a live model that no other thread uses; `shapes` is null or points to as many
/// pointers as the model has inputs, each null or to as many numbers as the input has dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_bind(model: *mut CModel, shapes: *const *const u64) -> Status {
    guarded(|| {
        // SAFETY: by the contract; nobody else uses it.
        let Some(model) = (unsafe { model.as_mut() }) else {
            return Err(invalid("the model is null"));
        };
        // SAFETY: passed on; they are read in this call only.
        let shapes = unsafe { shapes_of(model, shapes)? };
        match &mut model.model {
            // Callers that say the same before each run pay for comparing only.
            Held::Cpu(held) if held.binding().is_some_and(|own| own.inputs == shapes) => {}
            Held::Cpu(held) => {
                let plan = held.plan();
                let binding = plan.bind_shapes(&shapes).map_err(refused)?;
                [model.inputs, model.outputs] = OwnedPort::of(plan, Some(&binding));
                held.bind(binding);
            }
            Held::Other(held) => {
                let held = held.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
                held.plan().bind_shapes(&shapes).map_err(refused)?;
            }
        }
        Ok(())
    })
}

/// `weft_model_alias`.
///
/// # Safety
///
/// `model` is null or a live model; `output` and `extents` are null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_alias(
    model: *const CModel,
    input: usize,
    output: *mut usize,
    extents: *mut *const u64,
) -> Status {
    guarded(|| {
        // SAFETY: by the contract.
        let Some(model) = (unsafe { model.as_ref() }) else {
            return Err(invalid("the model is null"));
        };
        if output.is_null() || extents.is_null() {
            return Err(invalid("the place for the output or for its extents is null"));
        }
        if input >= model.inputs.len() {
            let count = model.inputs.len();
            return Err(invalid(format!("input {input} was asked for, and the model has {count}")));
        }
        let found = match (&model.model, model.output_of(input)) {
            (Held::Cpu(held), Some(own)) => (own, held.plan().outputs[own].shape.as_ptr()),
            _ => (usize::MAX, std::ptr::null()),
        };
        // SAFETY: not null, and by the contract writable.
        unsafe { (*output, *extents) = found };
        Ok(())
    })
}

fn refused(why: crate::plan::BindError) -> Failure {
    invalid(why.to_string())
}

/// The shape of each input.
///
/// # Safety
///
/// As [`weft_model_bind`]; the numbers live as long as what is returned.
unsafe fn shapes_of<'a>(
    model: &CModel,
    shapes: *const *const u64,
) -> Result<Vec<&'a [u64]>, Failure> {
    if shapes.is_null() && !model.inputs.is_empty() {
        return Err(invalid("the array of shapes is null"));
    }
    let shape = |(number, port): (usize, &OwnedPort)| {
        let rank = port.shape.len();
        // SAFETY: not null where there is an input, and by the contract one for each.
        let shape = unsafe { *shapes.add(number) };
        match (shape.is_null(), rank) {
            (_, 0) => Ok(&[][..]),
            (true, _) => Err(invalid(format!("the shape of input {number} is null"))),
            // SAFETY: by the contract as many numbers as the input has dimensions.
            (false, _) => Ok(unsafe { std::slice::from_raw_parts(shape, rank) }),
        }
    };
    model.inputs.iter().enumerate().map(shape).collect()
}
