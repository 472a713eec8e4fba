//! Internal errors: a panic becomes a report like every other.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// The message of the last panic, until it is taken.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Keeps panics from printing; [`caught`] tells what they said.
///
/// A panic on another thread prints all the same, for nobody may be there to catch it.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        let said = info.payload_as_str().unwrap_or("without a word");
        let place = info.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
        let text = format!("{said}{}", place.unwrap_or_default());
        if std::thread::current().name() != Some("main") {
            eprintln!("error: internal error in a thread of weft: {text}");
        }
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }));
}

/// Does something that might panic; the error is what the panic said.
///
/// # Errors
/// The error of a thread that panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let kept = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        let text = payload.downcast_ref::<String>().cloned();
        let said = text.or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned()));
        kept.or(said).unwrap_or_default()
    })
}
