//! The C library, as `include/weft.h` documents it.
//!
//! Every function catches panics, checks its pointers for null and leaves the reason of a
//! failure with the calling thread. What C must promise stands in the header.

mod bind;
mod failure;
mod found;

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;

pub use bind::weft_model_bind;
pub use failure::{Status, weft_last_error_code, weft_last_error_message};
pub use found::weft_model_found;

use failure::{Failure, guarded, invalid};

use crate::cpu::{self, Cancel};
use crate::dtype::DType;
use crate::model::{Model, ModelError};
use crate::plan::{Binding, Plan, Port};

/// `weft_port`: valid for as long as its model.
#[repr(C)]
#[derive(Debug)]
pub struct CPort {
    name: *const c_char,
    dtype: i32,
    rank: usize,
    shape: *const u64,
    bytes: usize,
}

/// `weft_model`.
pub struct CModel {
    model: Held,
    threads: usize,
    inputs: Vec<OwnedPort>,
    outputs: Vec<OwnedPort>,
}

/// A model that any number of threads run, or one that threads run in turns.
enum Held {
    Cpu(Box<cpu::Model>),
    Other(Mutex<Model>),
}

/// `weft_cancel`.
pub struct CCancel(Cancel);

impl CModel {
    /// The output in whose memory an input lies.
    fn output_of(&self, input: usize) -> Option<usize> {
        match &self.model {
            Held::Cpu(model) => model.plan().output_within(input),
            Held::Other(_) => None,
        }
    }

    /// The memory of the inputs, none where it is that of an output: a slice of bytes that are written has
    /// no other beside it.
    fn without_shared(
        &self,
        mut inputs: Vec<(*const u8, usize)>,
        outputs: &[(*const u8, usize)],
    ) -> Result<Vec<(*const u8, usize)>, Failure> {
        for (number, input) in inputs.iter_mut().enumerate() {
            let Some(output) = self.output_of(number) else { continue };
            if *input != outputs[output] {
                return Err(invalid(format!(
                    "input {:?} and output {:?} are one tensor, and two were given",
                    self.inputs[number].name, self.outputs[output].name
                )));
            }
            *input = (std::ptr::dangling(), 0);
        }
        Ok(inputs)
    }
}

struct OwnedPort {
    name: CString,
    dtype: DType,
    shape: Vec<u64>,
    bytes: usize,
}

impl OwnedPort {
    /// The inputs and the outputs of a plan, with the shapes of later runs where they are said.
    fn of(plan: &Plan, binding: Option<&Binding>) -> [Vec<OwnedPort>; 2] {
        let ports = |ports: &[Port], shapes: Option<&Vec<Vec<u64>>>| match shapes {
            None => ports.iter().map(OwnedPort::new).collect(),
            Some(shapes) => Binding::ports(ports, shapes).iter().map(OwnedPort::new).collect(),
        };
        let mut inputs: Vec<OwnedPort> = ports(&plan.inputs, binding.map(|own| &own.inputs));
        let mut outputs: Vec<OwnedPort> = ports(&plan.outputs, binding.map(|own| &own.outputs));
        for alias in &plan.aliases {
            let (input, output) = (alias.input as usize, alias.output as usize);
            let bytes = plan.outputs[output].bytes().unwrap_or(0) as usize;
            (inputs[input].bytes, outputs[output].bytes) = (bytes, bytes);
        }
        [inputs, outputs]
    }

    fn new(port: &Port) -> OwnedPort {
        OwnedPort {
            // C cannot see beyond a zero byte.
            name: CString::new(port.name.replace('\0', "?")).unwrap_or_default(),
            dtype: port.dtype,
            shape: port.shape.clone(),
            bytes: port.bytes().unwrap_or(0) as usize,
        }
    }
}

/// `weft_version`.
#[unsafe(no_mangle)]
pub extern "C" fn weft_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// `weft_dtype_name`.
#[unsafe(no_mangle)]
pub extern "C" fn weft_dtype_name(dtype: i32) -> *const c_char {
    let name: &CStr = match usize::try_from(dtype).ok().and_then(|i| DType::ALL.get(i)) {
        None => return std::ptr::null(),
        Some(DType::Bool) => c"bool",
        Some(DType::I8) => c"int8",
        Some(DType::I16) => c"int16",
        Some(DType::I32) => c"int32",
        Some(DType::I64) => c"int64",
        Some(DType::U8) => c"uint8",
        Some(DType::U16) => c"uint16",
        Some(DType::U32) => c"uint32",
        Some(DType::U64) => c"uint64",
        Some(DType::F16) => c"float16",
        Some(DType::BF16) => c"bfloat16",
        Some(DType::F32) => c"float32",
        Some(DType::F64) => c"float64",
        Some(DType::I4) => c"int4",
        Some(DType::U4) => c"uint4",
        Some(DType::I2) => c"int2",
        Some(DType::U2) => c"uint2",
        Some(DType::F8E4M3FN) => c"float8_e4m3fn",
        Some(DType::F8E4M3FNUZ) => c"float8_e4m3fnuz",
        Some(DType::F8E5M2) => c"float8_e5m2",
        Some(DType::F8E5M2FNUZ) => c"float8_e5m2fnuz",
        Some(DType::F8E8M0FNU) => c"float8_e8m0fnu",
        Some(DType::F4E2M1FN) => c"float4_e2m1fn",
        Some(DType::F6E2M3FN) => c"float6_e2m3fn",
        Some(DType::F6E3M2FN) => c"float6_e3m2fn",
    };
    name.as_ptr()
}

/// `weft_model_load`.
///
/// # Safety
///
/// `path` is null or a C string, `model` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_load(
    path: *const c_char,
    threads: usize,
    model: *mut *mut CModel,
) -> Status {
    guarded(|| {
        if path.is_null() || model.is_null() {
            return Err(invalid("the path or the place for the model is null"));
        }
        // SAFETY: not null, and by the contract a C string.
        let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
        let loaded = Model::load(path, (threads > 0).then_some(threads))?;
        let [inputs, outputs] = OwnedPort::of(loaded.plan(), None);
        let loaded = CModel {
            threads: loaded.threads(),
            inputs,
            outputs,
            model: match loaded {
                Model::Cpu(model) => Held::Cpu(model),
                other => Held::Other(Mutex::new(other)),
            },
        };
        // SAFETY: not null, and by the contract writable.
        unsafe { model.write(Box::into_raw(Box::new(loaded))) };
        Ok(())
    })
}

/// `weft_model_free`.
///
/// # Safety
///
/// `model` is null or from [`weft_model_load`], and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_free(model: *mut CModel) {
    guarded(|| {
        if !model.is_null() {
            // SAFETY: by the contract it came from Box::into_raw and is freed once.
            drop(unsafe { Box::from_raw(model) });
            found::keep(std::ptr::null(), None);
        }
        Ok(())
    });
}

/// `weft_model_threads`.
///
/// # Safety
///
/// `model` is null or a live model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_threads(model: *const CModel) -> usize {
    // SAFETY: by the contract.
    unsafe { model.as_ref() }.map_or(0, |m| m.threads)
}

/// `weft_model_input_count`.
///
/// # Safety
///
/// `model` is null or a live model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_input_count(model: *const CModel) -> usize {
    // SAFETY: by the contract.
    unsafe { model.as_ref() }.map_or(0, |m| m.inputs.len())
}

/// `weft_model_output_count`.
///
/// # Safety
///
/// `model` is null or a live model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_output_count(model: *const CModel) -> usize {
    // SAFETY: by the contract.
    unsafe { model.as_ref() }.map_or(0, |m| m.outputs.len())
}

/// `weft_model_input`.
///
/// # Safety
///
/// `model` is null or a live model, `port` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_input(
    model: *const CModel,
    index: usize,
    port: *mut CPort,
) -> Status {
    // SAFETY: by the contract.
    guarded(|| unsafe { describe(model, index, port, "input", |m| &m.inputs) })
}

/// `weft_model_output`.
///
/// # Safety
///
/// `model` is null or a live model, `port` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_output(
    model: *const CModel,
    index: usize,
    port: *mut CPort,
) -> Status {
    // SAFETY: by the contract.
    guarded(|| unsafe { describe(model, index, port, "output", |m| &m.outputs) })
}

/// # Safety
///
/// `model` is null or a live model, `port` is null or may be written.
unsafe fn describe(
    model: *const CModel,
    index: usize,
    port: *mut CPort,
    kind: &str,
    ports: impl Fn(&CModel) -> &[OwnedPort],
) -> Result<(), Failure> {
    // SAFETY: by the contract.
    let Some(model) = (unsafe { model.as_ref() }) else {
        return Err(invalid("the model is null"));
    };
    if port.is_null() {
        return Err(invalid("the place for the description is null"));
    }
    let ports = ports(model);
    let Some(p) = ports.get(index) else {
        return Err(invalid(format!(
            "{kind} {index} was asked for, and the model has {}",
            ports.len()
        )));
    };
    let filled = CPort {
        name: p.name.as_ptr(),
        dtype: p.dtype as i32,
        rank: p.shape.len(),
        shape: p.shape.as_ptr(),
        bytes: p.bytes,
    };
    // SAFETY: not null, and by the contract writable.
    unsafe { port.write(filled) };
    Ok(())
}

/// `weft_model_run`.
///
/// # Safety
///
/// `model` is null or a live model. `inputs` and `outputs` point to as many pointers, and
/// `input_bytes` and `output_bytes` to as many sizes, as the model has ports, each pointer to
/// memory of its size; outputs overlap nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_run(
    model: *mut CModel,
    inputs: *const *const c_void,
    input_bytes: *const usize,
    outputs: *const *mut c_void,
    output_bytes: *const usize,
) -> Status {
    // SAFETY: passed on.
    guarded(|| unsafe { run(model, inputs, input_bytes, outputs, output_bytes, None) })
}

/// `weft_model_run_cancellable`.
///
/// # Safety
///
/// As [`weft_model_run`]; `cancel` is null or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_model_run_cancellable(
    model: *mut CModel,
    inputs: *const *const c_void,
    input_bytes: *const usize,
    outputs: *const *mut c_void,
    output_bytes: *const usize,
    cancel: *const CCancel,
) -> Status {
    guarded(|| {
        // SAFETY: by the contract.
        let Some(CCancel(cancel)) = (unsafe { cancel.as_ref() }) else {
            return Err(invalid("the handle is null"));
        };
        // SAFETY: passed on.
        unsafe { run(model, inputs, input_bytes, outputs, output_bytes, Some(cancel)) }
    })
}

/// `weft_cancel_new`.
///
/// # Safety
///
/// `model` is null or a live model, `cancel` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_cancel_new(
    model: *const CModel,
    cancel: *mut *mut CCancel,
) -> Status {
    guarded(|| {
        // SAFETY: by the contract.
        let Some(model) = (unsafe { model.as_ref() }).filter(|_| !cancel.is_null()) else {
            return Err(invalid("the model or the place for the handle is null"));
        };
        let Held::Cpu(model) = &model.model else {
            let message = "only runs on the processor can be cancelled".to_owned();
            return Err(Failure(Status::Unsupported, message));
        };
        // SAFETY: not null, and by the contract writable.
        unsafe { cancel.write(Box::into_raw(Box::new(CCancel(model.cancel_handle())))) };
        Ok(())
    })
}

/// `weft_cancel_free`.
///
/// # Safety
///
/// `cancel` is null or from [`weft_cancel_new`], and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_cancel_free(cancel: *mut CCancel) {
    guarded(|| {
        if !cancel.is_null() {
            // SAFETY: by the contract it came from Box::into_raw and is freed once.
            drop(unsafe { Box::from_raw(cancel) });
        }
        Ok(())
    });
}

/// `weft_cancel_now`.
///
/// # Safety
///
/// `cancel` is null or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_cancel_now(cancel: *const CCancel) {
    // SAFETY: by the contract.
    if let Some(CCancel(cancel)) = unsafe { cancel.as_ref() } {
        cancel.cancel();
    }
}

/// `weft_cancel_reset`.
///
/// # Safety
///
/// `cancel` is null or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn weft_cancel_reset(cancel: *const CCancel) {
    // SAFETY: by the contract.
    if let Some(CCancel(cancel)) = unsafe { cancel.as_ref() } {
        cancel.reset();
    }
}

/// # Safety
///
/// As [`weft_model_run`].
unsafe fn run(
    model: *mut CModel,
    inputs: *const *const c_void,
    input_bytes: *const usize,
    outputs: *const *mut c_void,
    output_bytes: *const usize,
    cancel: Option<&Cancel>,
) -> Result<(), Failure> {
    let at = model.cast_const();
    found::keep(at, None);
    // SAFETY: by the contract; threads share it.
    let Some(model) = (unsafe { model.as_ref() }) else {
        return Err(invalid("the model is null"));
    };
    // SAFETY: by the contract the arrays have the lengths of the ports.
    let (inputs, outputs) = unsafe {
        (
            pairs(inputs, input_bytes, model.inputs.len(), "input")?,
            pairs(outputs.cast(), output_bytes, model.outputs.len(), "output")?,
        )
    };
    let inputs = model.without_shared(inputs, &outputs)?;
    let inputs: Vec<&[u8]> = inputs
        .into_iter()
        // SAFETY: by the contract; not null, as `pairs` checks.
        .map(|(at, bytes)| unsafe { std::slice::from_raw_parts(at, bytes) })
        .collect();
    let mut outputs: Vec<&mut [u8]> = outputs
        .into_iter()
        // SAFETY: as above; C gave it as a pointer to memory that may be written.
        .map(|(at, bytes)| unsafe { std::slice::from_raw_parts_mut(at.cast_mut(), bytes) })
        .collect();
    match &model.model {
        Held::Cpu(model) => {
            let ran = model.run_shared(None, &inputs, &mut outputs, cancel);
            found::keep(at, ran.map_err(ModelError::from)?);
            Ok(())
        }
        Held::Other(model) => {
            let Ok(mut running) = model.try_lock() else {
                let message = "the model is being run by another thread".to_owned();
                return Err(Failure(Status::Busy, message));
            };
            Ok(running.run(&inputs, &mut outputs)?)
        }
    }
}

/// Pointers and sizes, no pointer null where bytes are.
///
/// # Safety
///
/// Both arrays, unless null, have `count` entries.
unsafe fn pairs(
    pointers: *const *const c_void,
    bytes: *const usize,
    count: usize,
    kind: &str,
) -> Result<Vec<(*const u8, usize)>, Failure> {
    if count > 0 && (pointers.is_null() || bytes.is_null()) {
        return Err(invalid(format!("the array of {kind}s or of their sizes is null")));
    }
    let pair = |i: usize| {
        // SAFETY: below the count, by the contract.
        let (pointer, bytes) = unsafe { (*pointers.add(i), *bytes.add(i)) };
        match (pointer.is_null(), bytes) {
            // A slice is never null, not even an empty one.
            (true, 0) => Ok((std::ptr::dangling(), 0)),
            (true, _) => Err(invalid(format!("{kind} {i} is null"))),
            (false, _) => Ok((pointer.cast(), bytes)),
        }
    };
    (0..count).map(pair).collect()
}
