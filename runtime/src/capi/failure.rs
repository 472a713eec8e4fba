//! Failures as C sees them: a status, and a reason that stays with the calling thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::cpu::CpuError;
use crate::model::ModelError;

/// `weft_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// A null pointer, an index, count, size or number of threads that is not accepted.
    InvalidArgument = 1,
    /// A file or the system failed.
    System = 2,
    /// The file is no sound artifact of a version this library reads.
    Artifact = 3,
    /// The machine lacks something the code needs.
    Unsupported = 4,
    /// The model is being run by another thread.
    Busy = 5,
    /// A fault of this library.
    Internal = 6,
    /// The run was cancelled.
    Cancelled = 7,
    /// A kernel failed.
    Failed = 8,
}

/// A status, and the reason in words.
pub(super) struct Failure(pub Status, pub String);

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Failure {
        use crate::artifact::ArtifactError;
        use crate::gpu::GpuError;
        use crate::simulate::SimulateError;
        let cpu = match &error {
            ModelError::Cpu(cpu) => cpu,
            ModelError::Simulate(wrong) => {
                let status = match **wrong {
                    SimulateError::Count { .. } | SimulateError::Size { .. } => {
                        Status::InvalidArgument
                    }
                    SimulateError::Memory { .. } => Status::System,
                    _ => Status::Artifact,
                };
                return Failure::new(status, &error);
            }
            ModelError::Gpu(wrong) => {
                let status = match wrong {
                    GpuError::Count { .. } | GpuError::Size { .. } => Status::InvalidArgument,
                    GpuError::NoDriver { .. }
                    | GpuError::Library { .. }
                    | GpuError::Symbol { .. }
                    | GpuError::Rejected { .. } => Status::Unsupported,
                    GpuError::Driver { .. } => Status::System,
                    GpuError::Artifact(_)
                    | GpuError::Code { .. }
                    | GpuError::Launch { .. }
                    | GpuError::Box { .. } => Status::Artifact,
                };
                return Failure::new(status, &error);
            }
        };
        let status = match cpu {
            CpuError::Artifact(ArtifactError::Io { .. } | ArtifactError::Memory(_)) => {
                Status::System
            }
            CpuError::Artifact(_) | CpuError::Symbol { .. } | CpuError::Code(_) => Status::Artifact,
            CpuError::Features { .. } | CpuError::UnknownFeature { .. } => Status::Unsupported,
            CpuError::System { .. } | CpuError::Worker { .. } => Status::System,
            CpuError::Cancelled => Status::Cancelled,
            CpuError::Kernel { .. } => Status::Failed,
            CpuError::Threads { .. }
            | CpuError::Count { .. }
            | CpuError::Size { .. }
            | CpuError::Misaligned { .. }
            | CpuError::Lengths { .. }
            | CpuError::Bind(_)
            | CpuError::OtherModel => Status::InvalidArgument,
        };
        Failure::new(status, &error)
    }
}

impl Failure {
    /// An error with its causes.
    fn new(status: Status, error: &dyn std::error::Error) -> Failure {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            message += &format!(": {inner}");
            cause = inner.source();
        }
        Failure(status, message)
    }
}

pub(super) fn invalid(what: impl Into<String>) -> Failure {
    Failure(Status::InvalidArgument, what.into())
}

thread_local! {
    static LAST: RefCell<(Status, CString)> = RefCell::new((Status::Ok, CString::default()));
}

/// Runs a function's body; keeps the reason if it fails.
pub(super) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let Failure(status, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text =
                text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
            Failure(Status::Internal, format!("internal error: {text}"))
        }
    };
    let message = CString::new(message.replace('\0', "?")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = (status, message));
    status
}

/// `weft_last_error_code`.
#[unsafe(no_mangle)]
pub extern "C" fn weft_last_error_code() -> Status {
    LAST.with(|last| last.borrow().0)
}

/// `weft_last_error_message`.
#[unsafe(no_mangle)]
pub extern "C" fn weft_last_error_message() -> *const c_char {
    LAST.with(|last| last.borrow().1.as_ptr())
}
