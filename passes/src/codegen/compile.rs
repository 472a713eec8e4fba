//! Kernels of a module as objects, several at a time.
//!
//! A worker has contexts of its own, for neither MLIR's nor LLVM's may be built
//! in by two threads; a kernel travels to it as text with its machine.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use inkwell::targets::FileType;
use weft_dialects::device::{Kernel, Machine, Uses};
use weft_dialects::ir::{self, Op, module_op, ty};
use weft_dialects::lengths;
use weft_dialects::task::Program;

use super::gpu::program::Form;
use super::lower::Scratch;
use super::native::{Backend, Entry, translate};
use super::target::{self, Target};
use super::{CodegenError, gpu, llvm, lower};
use crate::device::expand_math;

/// The object code of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The kernel, and the symbol of its entry
    /// `void symbol(void **buffers, int64_t begin, int64_t end)`; what [`lower::scratch()`] says
    /// of it comes behind its buffers.
    pub symbol: String,
    /// An ELF object.
    pub bytes: Vec<u8>,
}

/// The form in which a kernel's code is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Optimised LLVM IR.
    Llvm,
    /// Assembly.
    Asm,
}

/// Compiles the `device.kernel`s of a module, in their order, on `jobs` threads.
///
/// The result does not depend on `jobs`.
///
/// # Errors
/// The first kernel, in the order of the module, that does not compile.
pub fn compile_kernels(
    module: Op<'_>,
    machine: Machine<'_>,
    jobs: usize,
) -> Result<Vec<Object>, CodegenError> {
    let _compiling = ir::link::compiling();
    let objects = each_kernel(module, machine, jobs, &[], |native| {
        Ok(Object { symbol: native.kernel.to_owned(), bytes: native.emit(FileType::Object)? })
    })?;
    if objects.is_empty() { Ok(vec![no_kernels(machine)?]) } else { Ok(objects) }
}

/// The object of a model that computes nothing: a linker wants one.
fn no_kernels(machine: Machine<'_>) -> Result<Object, CodegenError> {
    let symbol = String::new();
    let backend = Backend::new(&Target::of(machine)?);
    let context = inkwell::context::Context::create();
    let module = context.create_module("none");
    let bytes = backend.and_then(|backend| backend.emit(&module, &symbol, FileType::Object));
    bytes.map(|bytes| Object { symbol, bytes }).map_err(|message| llvm_error("no kernels", message))
}

/// The kernels of a module as text, in their order.
///
/// # Errors
/// The first kernel, in the order of the module, that does not compile.
pub fn print_kernels(
    module: Op<'_>,
    machine: Machine<'_>,
    jobs: usize,
    text: Text,
) -> Result<Vec<String>, CodegenError> {
    let _compiling = ir::link::compiling();
    each_kernel(module, machine, jobs, &[], |native| match text {
        Text::Llvm => Ok(native.module.print_to_string().to_string()),
        Text::Asm => native.assembly(),
    })
}

/// The kernels of a machine whose kernels are code for one thread, as one text of
/// its assembly. It begins with a line for each kernel that says how it is launched,
/// `// launch SYMBOL threads N groups N`: `ceil(rTasks / groups)` blocks of so many threads, and
/// ` shared N` behind it where a block asks for so many bytes of shared memory; then
/// with one for each launch of the program that is one kernel, as [`gpu::program::Form::head`] says.
///
/// # Errors
/// The first kernel, in the order of the module, that does not compile; a machine
/// of another kind.
pub fn whole_text(
    module: Op<'_>,
    machine: Machine<'_>,
    jobs: usize,
    isa: gpu::Isa,
    forms: &[Form],
) -> Result<String, CodegenError> {
    let _compiling = ir::link::compiling();
    let target = target_for(machine, isa)?;
    let text = match isa {
        // Modules of PTX have nothing in common but their heads.
        gpu::Isa::Ptx => {
            gpu::joined(&each_kernel(module, machine, jobs, forms, |native| native.assembly())?)?
        }
        gpu::Isa::Amdgcn => gpu::text(&bitcode(module, machine, jobs, forms)?, &target)?,
    };
    Ok(launches(module, machine, forms) + &text)
}

/// The kernels of a machine whose kernels are code for one thread, and the launches of the
/// program that are one kernel, as one object. What [`whole_text`] begins with is in a section of its
/// own, [`weft_runtime::gpu::LAUNCHES`].
///
/// # Errors
/// As [`whole_text`].
pub fn whole_code(
    module: Op<'_>,
    machine: Machine<'_>,
    jobs: usize,
    isa: gpu::Isa,
    forms: &[Form],
) -> Result<Object, CodegenError> {
    let _compiling = ir::link::compiling();
    let target = target_for(machine, isa)?;
    gpu::object(&bitcode(module, machine, jobs, forms)?, &launches(module, machine, forms), &target)
}

/// The comments about how kernels and programs are launched.
fn launches(module: Op<'_>, machine: Machine<'_>, forms: &[Form]) -> String {
    let kernels =
        module.first_block(0).into_iter().flat_map(|block| block.ops()).filter_map(Kernel::of);
    let launches = kernels.filter_map(|kernel| {
        let launch = gpu::Launch::of(machine, &kernel)?.head(kernel.name);
        let boxes = gpu::Descriptor::all(machine, &kernel);
        let boxes = boxes.iter().map(|own| own.head(kernel.name));
        Some(std::iter::once(launch).chain(boxes).collect::<String>())
    });
    launches.chain(forms.iter().map(Form::head)).collect()
}

fn target_for(machine: Machine<'_>, isa: gpu::Isa) -> Result<Target, CodegenError> {
    let target = Target::of(machine)?;
    if target.isa == Some(isa) {
        return Ok(target);
    }
    Err(CodegenError::Form { arch: machine.arch().to_owned(), form: isa.form() })
}

/// Each kernel, then each launch that is one, as optimised LLVM bitcode.
fn bitcode(
    module: Op<'_>,
    machine: Machine<'_>,
    jobs: usize,
    forms: &[Form],
) -> Result<Vec<Vec<u8>>, CodegenError> {
    each_kernel(module, machine, jobs, forms, |native| {
        Ok(native.module.write_bitcode_to_memory().as_slice().to_vec())
    })
}

/// `finish` of each kernel, then of each launch that is one.
fn each_kernel<T: Send>(
    module: Op<'_>,
    machine: Machine<'_>,
    jobs: usize,
    forms: &[Form],
    finish: impl Fn(&Native<'_, '_>) -> Result<T, CodegenError> + Sync,
) -> Result<Vec<T>, CodegenError> {
    let target = Target::of(machine)?;
    let mut work = jobs_of(module, machine, &target);
    work.extend(forms.iter().map(|form| job_of_form(module, machine, form)));
    each(&work, &target, machine.listener(), jobs, finish)
}

/// One optimised kernel.
struct Native<'a, 'l> {
    kernel: &'a str,
    backend: &'a Backend,
    module: inkwell::module::Module<'l>,
}

impl Native<'_, '_> {
    fn assembly(&self) -> Result<String, CodegenError> {
        Ok(String::from_utf8_lossy(&self.emit(FileType::Assembly)?).into_owned())
    }

    fn emit(&self, kind: FileType) -> Result<Vec<u8>, CodegenError> {
        self.backend
            .emit(&self.module, self.kernel, kind)
            .map_err(|message| llvm_error(self.kernel, message))
    }
}

/// A kernel as it is handed to a worker.
struct Job {
    kernel: String,
    text: String,
    arg_bytes: Vec<u64>,
    scratch: Scratch,
    /// The entry, if the text is that of all kernels that it calls.
    form: Option<Form>,
}

/// `finish` of each kernel, in their order. The longest are begun first, so that none of them is
/// what the others wait for at the end.
fn each<T: Send>(
    work: &[Job],
    target: &Target,
    uses: Option<Uses>,
    jobs: usize,
    finish: impl Fn(&Native<'_, '_>) -> Result<T, CodegenError> + Sync,
) -> Result<Vec<T>, CodegenError> {
    let results: Vec<_> = work.iter().map(|_| Mutex::new(None)).collect();
    let mut order: Vec<usize> = (0..work.len()).collect();
    order.sort_by_key(|&number| Reverse(work[number].text.len()));
    let next = AtomicUsize::new(0);
    let worker = || {
        let worker = Worker::new(target);
        let _listening = uses.as_ref().map(|uses| uses.listen(&worker.mlir));
        while let Some(&number) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let made = worker.compile(&work[number], &finish);
            *results[number].lock().expect("a result is written once") = Some(made);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, work.len().max(1)) {
            scope.spawn(worker);
        }
    });
    results
        .into_iter()
        .map(|result| {
            result.into_inner().expect("no worker panicked").expect("every kernel was picked")
        })
        .collect()
}

/// Each kernel as a module of itself and the machine.
fn jobs_of(module: Op<'_>, machine: Machine<'_>, target: &Target) -> Vec<Job> {
    // A thread of a GPU is lent nothing.
    let lent = |kernel: &Kernel<'_>| match target.isa {
        None => lower::scratch(machine, kernel),
        Some(_) => Scratch::default(),
    };
    let kernels =
        module.first_block(0).into_iter().flat_map(|block| block.ops()).filter_map(Kernel::of);
    let latest = latest_starts(module);
    kernels
        .map(|kernel| Job {
            kernel: kernel.name.to_owned(),
            text: machine.carry(&symbols_and(&kernel)),
            arg_bytes: bytes_left(&kernel, latest.get(kernel.name)),
            scratch: lent(&kernel),
            form: None,
        })
        .collect()
}

/// The text of a kernel, behind that of the symbols that its lengths are made of.
fn symbols_and(kernel: &Kernel<'_>) -> String {
    let around = kernel.length.and_then(|_| kernel.op.block());
    let symbols = around.map(|block| block.ops()).unwrap_or_default().into_iter();
    let symbols = symbols.filter(|op| op.is("graph.symbol")).map(|op| op.own_text() + "\n");
    symbols.chain([kernel.op.own_text()]).collect()
}

/// For each kernel and argument the last element from which a range sees a buffer.
fn latest_starts<'c>(module: Op<'c>) -> HashMap<&'c str, Vec<u64>> {
    let mut latest: HashMap<&str, Vec<u64>> = HashMap::new();
    let ops = module.first_block(0).into_iter().flat_map(|block| block.ops());
    for range in ops.filter_map(Program::of).flat_map(|program| program.ranges()) {
        let own = latest.entry(range.kernel).or_insert_with(|| vec![0; range.at.len()]);
        let shifts = lengths::shifts(range.op, range.at.len());
        for (last, (at, shift)) in own.iter_mut().zip(range.at.iter().zip(shifts)) {
            // As far on as there are elements, where callers decide.
            *last = (*last).max(shift.map_or(*at, |_| u64::MAX));
        }
    }
    latest
}

/// Bytes behind each argument of a kernel, whichever range applies it: LLVM may read all of them.
fn bytes_left(kernel: &Kernel<'_>, latest: Option<&Vec<u64>>) -> Vec<u64> {
    if let Some(lengths) = kernel.lengths_read() {
        // Tensors of callers may be shorter than their types say.
        let lengths = (!lengths.is_empty()).then_some(8 * lengths.len() as u64);
        return kernel.args().iter().map(|_| 0).chain(lengths).collect();
    }
    let left = |(number, arg): (usize, &ir::Val<'_>)| {
        let at = latest.and_then(|latest| latest.get(number)).copied().unwrap_or(0);
        let elem = ty::elem(arg.ty()).and_then(ty::byte_size).unwrap_or(0);
        bytes(arg.ty()).saturating_sub(at.saturating_mul(elem))
    };
    kernel.args().iter().enumerate().map(left).collect()
}

/// The kernels that an entry calls as a module with the machine.
fn job_of_form(module: Op<'_>, machine: Machine<'_>, form: &Form) -> Job {
    let kernels =
        module.first_block(0).into_iter().flat_map(|block| block.ops()).filter_map(Kernel::of);
    let called = kernels.filter(|own| form.bodies.iter().any(|body| body.kernel == own.name));
    let texts: Vec<_> = called.map(|kernel| kernel.op.own_text()).collect();
    Job {
        kernel: form.symbol.clone(),
        text: machine.carry(&texts.join("\n")),
        arg_bytes: Vec::new(),
        scratch: Scratch::default(),
        form: Some(form.clone()),
    }
}

fn bytes(memref: ir::Type<'_>) -> u64 {
    let size = ty::elem(memref).and_then(ty::byte_size);
    ty::count(memref).zip(size).map_or(0, |(count, size)| count * size)
}

/// Contexts and a backend that one thread uses for kernel after kernel.
struct Worker {
    mlir: ir::Context,
    backend: Result<Backend, String>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Worker {
    fn new(target: &Target) -> Self {
        let mlir = ir::context();
        mlir.enable_multi_threading(false);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = heard.clone();
        mlir.attach_diagnostic_handler(move |diagnostic| {
            listener.lock().expect("only this thread listens").push(diagnostic.to_string());
            true
        });
        Self { mlir, backend: Backend::new(target), heard }
    }

    fn compile<T>(
        &self,
        job: &Job,
        finish: impl Fn(&Native<'_, '_>) -> Result<T, CodegenError>,
    ) -> Result<T, CodegenError> {
        let kernel = &job.kernel;
        let mlir = self.to_llvm_dialect(job)?;
        let backend = self.backend.as_ref().map_err(|message| llvm_error(kernel, message))?;
        let context = inkwell::context::Context::create();
        let module =
            translate(&context, &mlir).ok_or_else(|| self.failed(kernel, "translation to LLVM"))?;
        let done = match job.form {
            Some(_) => backend.optimise_program(&context, &module, kernel),
            None => {
                let (arg_bytes, scratch) = (&job.arg_bytes[..], &job.scratch);
                backend.optimise(&context, &module, &Entry { name: kernel, arg_bytes, scratch })
            }
        };
        done.map_err(|message| llvm_error(kernel, message))?;
        finish(&Native { kernel, backend, module })
    }

    fn to_llvm_dialect(&self, job: &Job) -> Result<ir::Module<'_>, CodegenError> {
        let kernel = &job.kernel;
        let mut module = ir::parse(&self.mlir, &job.text)
            .map_err(|source| CodegenError::Parse { kernel: kernel.clone(), source })?;
        let op = module_op(&module);
        let machine = Machine::of(op).expect("the machine travels with the kernel");
        let half = target::half_arithmetic(machine);
        let isa = gpu::Isa::of_arch(machine.arch());
        let to_functions = if isa.is_some() { &gpu::PASS } else { &lower::PASS };
        expand_math::PASS
            .apply(&self.mlir, op, &[])
            .map_err(|_| self.failed(kernel, "device-expand-math"))?;
        if let Some(form) = &job.form {
            let pass = &gpu::program::PASS;
            gpu::program::write(&self.mlir, op, machine, form)
                .map_err(|_| self.failed(kernel, pass.name))?;
            let rest = op.body(0).map(|block| block.ops()).unwrap_or_default();
            rest.into_iter().filter(|op| Kernel::of(*op).is_some()).for_each(Op::erase);
        } else {
            to_functions
                .apply(&self.mlir, op, &[])
                .map_err(|_| self.failed(kernel, to_functions.name))?;
        }
        machine.erase();
        let symbols = op.body(0).map(|block| block.ops()).unwrap_or_default();
        symbols.into_iter().filter(|op| op.is("graph.symbol")).for_each(Op::erase);
        llvm::lower_to_llvm_dialect(&self.mlir, &mut module, half).map_err(|error| {
            self.heard.lock().expect("only this thread listens").push(error.to_string());
            self.failed(kernel, "lowering to the LLVM dialect")
        })?;
        Ok(module)
    }

    fn failed(&self, kernel: &str, stage: &'static str) -> CodegenError {
        let heard = std::mem::take(&mut *self.heard.lock().expect("only this thread listens"));
        CodegenError::Stage { kernel: kernel.to_owned(), stage, message: heard.join("\n  ") }
    }
}

fn llvm_error(kernel: &str, message: impl Into<String>) -> CodegenError {
    CodegenError::Llvm { kernel: kernel.to_owned(), message: message.into() }
}
