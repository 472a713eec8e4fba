//! Passes on modules, by name, with options and statistics.

use melior::Context;
use mlir_sys::{MlirOperation, MlirStringRef};
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::rc::Rc;
use std::sync::Once;

use super::handle::Op;
use super::shim;
use super::text::text_of;

/// An option of a pass: a name, what it means, its value where none is given.
pub struct PassOption {
    /// As written in a pipeline, `name=value`.
    pub name: &'static str,
    /// For `--help`.
    pub description: &'static str,
    /// The value where none is given.
    pub fallback: &'static str,
}

/// A pass: a function on a module.
pub struct Pass {
    /// `stage-verb-object`.
    pub name: &'static str,
    /// One line for `--help`.
    pub description: &'static str,
    /// Its options.
    pub options: &'static [PassOption],
    /// Its counters, as (name, description).
    pub statistics: &'static [(&'static str, &'static str)],
    /// The work. An error was reported when it says `Err`.
    pub run: for<'c> fn(&mut Run<'c>) -> Result<(), Failed>,
}

/// A pass failed, and has reported why.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("a pass failed")]
pub struct Failed;

/// Results of passes about modules of one context, kept for later passes. A kept result
/// has to hold whatever they change, by its key for instance.
#[derive(Clone, Default)]
pub struct Analyses(Rc<RefCell<HashMap<TypeId, Rc<dyn Any>>>>);

impl Analyses {
    /// The analysis of a type; an empty one if no pass has asked for it yet.
    pub fn get<T: Any + Default>(&self) -> Rc<T> {
        let mut kept = self.0.borrow_mut();
        let own = kept.entry(TypeId::of::<T>()).or_insert_with(|| Rc::new(T::default()));
        own.clone().downcast().expect("it was put in under its type")
    }
}

/// One run of a pass.
pub struct Run<'c> {
    pass: &'static str,
    /// The context of the module.
    pub context: &'c Context,
    /// The module.
    pub module: Op<'c>,
    /// Results that are kept from one pass to the next.
    pub analyses: Analyses,
    options: Vec<(&'static str, String)>,
    statistics: Vec<(&'static str, u64)>,
}

impl<'c> Run<'c> {
    /// A run outside a pass manager, with every option at its fallback.
    pub fn new(pass: &Pass, context: &'c Context, module: Op<'c>) -> Self {
        Self {
            pass: pass.name,
            context,
            module,
            analyses: Analyses::default(),
            options: pass
                .options
                .iter()
                .map(|option| (option.name, option.fallback.to_owned()))
                .collect(),
            statistics: pass.statistics.iter().map(|&(name, _)| (name, 0)).collect(),
        }
    }

    /// The name of the pass.
    pub fn pass(&self) -> &'static str {
        self.pass
    }

    /// Sets an option by name.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        let option = self.options.iter_mut().find(|(own, _)| *own == name);
        option.unwrap_or_else(|| panic!("the pass has no option {name}")).1 = value.into();
    }

    /// The value of an option.
    pub fn option(&self, name: &str) -> &str {
        let option = self.options.iter().find(|(own, _)| *own == name);
        &option.unwrap_or_else(|| panic!("the pass has no option {name}")).1
    }

    /// Adds to a statistic.
    pub fn count(&mut self, name: &str, more: u64) {
        let statistic = self.statistics.iter_mut().find(|(own, _)| *own == name);
        statistic.unwrap_or_else(|| panic!("the pass has no statistic {name}")).1 += more;
    }
}

impl Pass {
    /// Runs the pass on a module with its options at their fallbacks, except those given.
    ///
    /// # Errors
    /// The pass reported what is wrong.
    pub fn apply<'c>(
        &self,
        context: &'c Context,
        module: Op<'c>,
        options: &[(&str, &str)],
    ) -> Result<(), Failed> {
        self.apply_with(context, module, options, Analyses::default())
    }

    /// Runs the pass with the results of earlier passes about modules of the context.
    ///
    /// # Errors
    /// The pass reported what is wrong.
    pub fn apply_with<'c>(
        &self,
        context: &'c Context,
        module: Op<'c>,
        options: &[(&str, &str)],
        analyses: Analyses,
    ) -> Result<(), Failed> {
        let mut run = Run { analyses, ..Run::new(self, context, module) };
        for (name, value) in options {
            run.set(name, *value);
        }
        (self.run)(&mut run)
    }
}

/// Makes passes known to every pass manager and tool of the process.
///
/// Each pass may be registered once; later calls with the same set do nothing.
pub fn register(passes: &'static [&'static Pass]) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| passes.iter().copied().for_each(register_one));
}

fn register_one(pass: &'static Pass) {
    // The registry keeps pointers for the whole process, so these are never freed.
    let c = |text: &str| -> *const std::ffi::c_char {
        CString::new(text).expect("names and descriptions hold no NUL").into_raw()
    };
    let options: Vec<_> = pass
        .options
        .iter()
        .map(|option| shim::WeftOption {
            name: c(option.name),
            description: c(option.description),
            fallback: c(option.fallback),
        })
        .collect();
    let statistics: Vec<_> = pass
        .statistics
        .iter()
        .map(|(name, description)| shim::WeftStatistic {
            name: c(name),
            description: c(description),
        })
        .collect();
    let (options, statistics) = (options.leak(), statistics.leak());
    let description = shim::WeftPass {
        argument: c(pass.name),
        description: c(pass.description),
        options: options.as_ptr(),
        option_count: options.len(),
        statistics: statistics.as_ptr(),
        statistic_count: statistics.len(),
        user: (&raw const *pass).cast_mut().cast(),
        run,
    };
    // SAFETY: everything the description points at lives for ever.
    unsafe { shim::weftRegisterPass(Box::leak(Box::new(description))) }
}

unsafe extern "C" fn run(
    user: *mut c_void,
    module: MlirOperation,
    options: *const MlirStringRef,
    statistics: *mut u64,
) -> bool {
    // SAFETY: `user` is the pass that was registered; the arrays have the lengths
    // of its options and statistics; the module's context outlives the call.
    unsafe {
        let pass = &*user.cast::<Pass>();
        let module = Op::new(module);
        let context = melior::ContextRef::from_raw(mlir_sys::mlirOperationGetContext(module.raw));
        let mut run = Run::new(pass, context.to_ref(), module);
        for (index, option) in run.options.iter_mut().enumerate() {
            option.1 = text_of(*options.add(index)).to_owned();
        }
        // A panic must not cross into C++.
        let work = std::panic::AssertUnwindSafe(|| (pass.run)(&mut run));
        let done = std::panic::catch_unwind(work);
        for (index, (_, count)) in run.statistics.iter().enumerate() {
            *statistics.add(index) += count;
        }
        match done {
            Ok(result) => result.is_ok(),
            Err(_) => {
                super::diag::Report::new(
                    module.location(),
                    format!(
                        "the pass {} failed on an internal error; please report this",
                        pass.name
                    ),
                );
                false
            }
        }
    }
}
