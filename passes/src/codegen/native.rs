//! From the LLVM dialect to optimised LLVM IR, assembly and object code.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::io::Write as _;
use std::sync::Once;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::{AsContextRef, Context};
use inkwell::module::{Linkage, Module};
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target as LlvmTarget, TargetMachine,
    TargetTriple,
};
use inkwell::types::AnyType as _;
use inkwell::values::{BasicMetadataValueEnum, FunctionValue, PointerValue};
use inkwell::{AddressSpace, OptimizationLevel};
use weft_dialects::ir::targets::knows_processor;
use weft_dialects::ir::{self, Module as MlirModule};
use weft_runtime::plan::ALIGN;

use super::gpu::Isa;
use super::lower::Scratch;
use super::target::Target;

/// Brings a module of the LLVM dialect into `context`; `None` where MLIR reported an error.
pub fn translate<'l>(context: &'l Context, module: &MlirModule<'_>) -> Option<Module<'l>> {
    // SAFETY: both handles live; the module that comes back belongs to `context`
    // and to us, and a null one stands for an error.
    unsafe {
        let raw = mlir_sys::mlirTranslateModuleToLLVMIR(
            module.as_operation().to_raw(),
            context.as_ctx_ref().cast(),
        );
        (!raw.is_null()).then(|| Module::new(raw.cast()))
    }
}

/// Makes code for one processor.
pub struct Backend {
    machine: TargetMachine,
    target: Target,
}

impl Backend {
    /// A backend for `target`, in LLVM's words where it has none.
    pub fn new(target: &Target) -> Result<Self, String> {
        report_fatal_errors();
        ir::link::set_options(&OPTIONS);
        let config = InitializationConfig::default();
        match target.isa {
            None => LlvmTarget::initialize_x86(&config),
            Some(Isa::Ptx) => LlvmTarget::initialize_nvptx(&config),
            Some(Isa::Amdgcn) => LlvmTarget::initialize_amd_gpu(&config),
        }
        let triple = TargetTriple::create(target.triple);
        let machine = LlvmTarget::from_triple(&triple)
            .map_err(|error| error.to_string())?
            .create_target_machine(
                &triple,
                &target.cpu,
                &target.features,
                OptimizationLevel::Aggressive,
                RelocMode::PIC,
                CodeModel::Small,
            )
            .ok_or_else(|| format!("no machine for {}", target.triple))?;
        if let Some(name) = &target.tune {
            // SAFETY: the target machine lives.
            let known = unsafe { knows_processor(machine.as_mut_ptr().cast(), name) };
            if !known {
                return Err(format!(
                    "tune(\"{name}\") names no processor that LLVM has for {}",
                    target.triple
                ));
            }
        }
        Ok(Self { machine, target: target.clone() })
    }

    /// Says in a module what it is for.
    pub fn prepare(&self, module: &Module<'_>) {
        module.set_triple(&self.machine.get_triple());
        module.set_data_layout(&self.machine.get_target_data().get_data_layout());
    }

    /// Gives a translated kernel its entry and optimises it.
    pub fn optimise<'l>(
        &self,
        context: &'l Context,
        module: &Module<'l>,
        kernel: &Entry<'_>,
    ) -> Result<(), String> {
        self.prepare(module);
        let body =
            module.get_function(kernel.name).ok_or("the translated module lacks the kernel")?;
        if let Some(isa) = self.target.isa {
            make_entry(context, body, kernel, isa);
            self.describe(context, body);
        } else {
            let entry = add_entry(context, module, body, kernel);
            for function in [body, entry] {
                self.describe(context, function);
            }
        }
        self.run_passes(module, kernel.name)
    }

    /// Makes a translated function the entry of a program, and the others what it calls.
    pub fn optimise_program<'l>(
        &self,
        context: &'l Context,
        module: &Module<'l>,
        name: &str,
    ) -> Result<(), String> {
        self.prepare(module);
        let isa = self.target.isa.ok_or("only code for threads has programs")?;
        for function in module.get_functions().filter(|own| own.count_basic_blocks() > 0) {
            self.describe(context, function);
            // Its threads meet at barriers.
            function.add_attribute(AttributeLoc::Function, named(context, "convergent", 0));
            if function.get_name().to_bytes() == name.as_bytes() {
                function.set_call_conventions(isa.kernel_convention());
                continue;
            }
            // Called at one place each, so this makes the code no larger.
            function.set_linkage(Linkage::Internal);
            function.add_attribute(AttributeLoc::Function, named(context, "alwaysinline", 0));
            for (number, parameter) in function.get_param_iter().enumerate() {
                // As of a kernel's buffers: what is written overlaps no other operand.
                if parameter.is_pointer_value() {
                    let place = AttributeLoc::Param(number as u32);
                    function.add_attribute(place, named(context, "noalias", 0));
                }
            }
        }
        self.run_passes(module, name)
    }

    fn run_passes(&self, module: &Module<'_>, name: &str) -> Result<(), String> {
        module.verify().map_err(|error| error.to_string())?;
        working_on(name);
        let options = PassBuilderOptions::create();
        // Loops are unrolled already for the number of registers; unrolling more shares
        // loads between rounds until the sums no longer fit.
        options.set_loop_unrolling(false);
        let pipeline = if self.target.isa.is_some() { "default<O3>" } else { PIPELINE };
        let done = module.run_passes(pipeline, &self.machine, options);
        working_on("");
        done.map_err(|error| error.to_string())
    }

    /// The code of an optimised module.
    pub fn emit(
        &self,
        module: &Module<'_>,
        kernel: &str,
        kind: FileType,
    ) -> Result<Vec<u8>, String> {
        working_on(kernel);
        let buffer = self.machine.write_to_memory_buffer(module, kind);
        working_on("");
        buffer.map(|buffer| buffer.as_slice().to_vec()).map_err(|error| error.to_string())
    }

    /// Says what the processor is, function by function.
    fn describe<'l>(&self, context: &'l Context, function: FunctionValue<'l>) {
        let bits = self.target.register_bits.to_string();
        let processor =
            [("target-cpu", self.target.cpu.as_str()), ("target-features", &self.target.features)];
        let widths =
            [("prefer-vector-width", bits.as_str()), ("min-legal-vector-width", bits.as_str())];
        let widths = widths.into_iter().filter(|_| self.target.isa.is_none());
        let tuned = self.target.tune.iter().map(|tune| ("tune-cpu", tune.as_str()));
        for (name, value) in processor.into_iter().chain(widths).chain(tuned) {
            let attribute = context.create_string_attribute(name, value);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        function.add_attribute(AttributeLoc::Function, named(context, "nounwind", 0));
    }
}

/// The optimisations of a processor's kernels: those of `default<O3>` but for the ones that
/// keep what was loaded in registers for later rounds, or put it together in new ones (loads
/// made redundant across rounds, vectors of scalars). Tiles fill the registers with sums.
const PIPELINE: &str = "inferattrs,function(simplifycfg,sroa<modify-cfg>,early-cse<>),ipsccp,\
    globalopt,function(instcombine<no-verify-fixpoint>,simplifycfg),always-inline,\
    require<globals-aa>,\
    cgscc(devirt<4>(inline,function-attrs,argpromotion,function<eager-inv>(sroa<modify-cfg>,\
    early-cse<memssa>,jump-threading,correlated-propagation,simplifycfg,\
    instcombine<no-verify-fixpoint>,aggressive-instcombine,simplifycfg,reassociate,\
    constraint-elimination,loop-mssa(loop-instsimplify,loop-simplifycfg,\
    licm<no-allowspeculation>,loop-rotate,licm<allowspeculation>,\
    simple-loop-unswitch<nontrivial;trivial>),simplifycfg,instcombine<no-verify-fixpoint>,\
    loop(loop-idiom,indvars,loop-deletion),sroa<modify-cfg>,vector-combine,mldst-motion,\
    gvn<no-load-pre>,sccp,bdce,instcombine<no-verify-fixpoint>,jump-threading,\
    correlated-propagation,adce,memcpyopt,dse,loop-mssa(licm<allowspeculation>),\
    simplifycfg<hoist-common-insts;sink-common-insts>,instcombine<no-verify-fixpoint>))),\
    deadargelim,globalopt,globaldce,rpo-function-attrs,recompute-globalsaa,\
    function<eager-inv>(float2int,lower-constant-intrinsics,loop(loop-rotate,loop-deletion),\
    loop-vectorize,infer-alignment,instcombine<no-verify-fixpoint>,\
    simplifycfg<hoist-common-insts;sink-common-insts;switch-range-to-icmp>,vector-combine,\
    instcombine<no-verify-fixpoint>,sroa<preserve-cfg>,infer-alignment,\
    instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),\
    alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs,simplifycfg),globaldce,\
    constmerge";

/// The interface of a kernel to its caller.
pub struct Entry<'a> {
    /// The kernel and the symbol of its entry.
    pub name: &'a str,
    /// Bytes of each memref.
    pub arg_bytes: &'a [u64],
    /// The scratch memory that the caller lends.
    pub scratch: &'a Scratch,
}

/// `void kernel(void **buffers, int64_t begin, int64_t end)`, which calls the body. What the kernel
/// is lent comes behind its buffers.
///
/// The body stays a function of its own, where it is easiest to see that pointers
/// alias nothing.
fn add_entry<'l>(
    context: &'l Context,
    module: &Module<'l>,
    body: FunctionValue<'l>,
    kernel: &Entry<'_>,
) -> FunctionValue<'l> {
    body.as_global_value().set_name(&format!("{}.body", kernel.name));
    body.set_linkage(Linkage::Internal);
    body.add_attribute(AttributeLoc::Function, named(context, "noinline", 0));
    describe_buffers(context, body, kernel);
    let (pointer, long) = (context.ptr_type(AddressSpace::default()), context.i64_type());
    let ty = context.void_type().fn_type(&[pointer.into(), long.into(), long.into()], false);
    let entry = module.add_function(kernel.name, ty, None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(entry, ""));
    let param = |number| entry.get_nth_param(number).expect("the entry has three parameters");
    let mut values = vec![param(1).into(), param(2).into()];
    let byte = |base: PointerValue<'l>, offset: u64| {
        let offset = long.const_int(offset, false);
        // SAFETY: the caller passes as many pointers as the kernel has memrefs, and one to as
        // much as it is lent.
        let place = unsafe { builder.build_gep(context.i8_type(), base, &[offset], "") };
        place.expect("the builder has a place")
    };
    let buffer = |number: usize| {
        let place = byte(param(0).into_pointer_value(), 8 * number as u64);
        builder.build_load(pointer, place, "").expect("the builder has a place")
    };
    let count = kernel.arg_bytes.len();
    values.extend((0..count).map(|number| BasicMetadataValueEnum::from(buffer(number))));
    if !kernel.scratch.pieces.is_empty() {
        let lent = buffer(count).into_pointer_value();
        let pieces = kernel.scratch.pieces.iter();
        values.extend(pieces.map(|&(offset, _)| BasicMetadataValueEnum::from(byte(lent, offset))));
    }
    builder.build_call(body, &values, "").expect("the builder has a place");
    builder.build_return(None).expect("the builder has a place");
    entry
}

/// Size and alignment of the descriptor of a tensor: CUDA's driver API, `CUtensorMap`.
const DESCRIPTOR_BYTES: u32 = 128;
const DESCRIPTOR_ALIGN: u64 = 64;

/// `kernel(i64 begin, i64 end, buffers..., descriptors...)` for one thread, which the driver starts.
fn make_entry(context: &Context, body: FunctionValue<'_>, kernel: &Entry<'_>, isa: Isa) {
    body.set_call_conventions(isa.kernel_convention());
    describe_buffers(context, body, kernel);
    // Descriptors of tensors are parameters themselves, of which no thread makes a copy.
    let bytes = context.i8_type().array_type(DESCRIPTOR_BYTES).as_any_type_enum();
    let by_value = Attribute::get_named_enum_kind_id("byval");
    for number in 2 + kernel.arg_bytes.len() as u32..body.count_params() {
        let place = AttributeLoc::Param(number);
        body.add_attribute(place, context.create_type_attribute(by_value, bytes));
        body.add_attribute(place, named(context, "align", DESCRIPTOR_ALIGN));
        body.add_attribute(place, context.create_string_attribute("nvvm.grid_constant", ""));
    }
}

/// A written buffer overlaps no other operand of a range, and pieces of what is lent overlap
/// nothing, so pointers alias nothing.
fn describe_buffers(context: &Context, body: FunctionValue<'_>, kernel: &Entry<'_>) {
    let lent = kernel.scratch.pieces.iter().map(|(_, bytes)| bytes);
    for (number, &bytes) in kernel.arg_bytes.iter().chain(lent).enumerate() {
        let place = AttributeLoc::Param(number as u32 + 2);
        if number >= kernel.arg_bytes.len() {
            body.add_attribute(place, named(context, "align", ALIGN));
        }
        for (name, value) in
            [("noalias", 0), ("noundef", 0), ("nonnull", 0), ("dereferenceable", bytes)]
        {
            if name != "dereferenceable" || bytes > 0 {
                body.add_attribute(place, named(context, name, value));
            }
        }
    }
}

fn named(context: &Context, name: &str, value: u64) -> Attribute {
    context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
}

thread_local! {
    static KERNEL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Remembers what LLVM works on in this thread, for the report if it gives up.
fn working_on(kernel: &str) {
    KERNEL.with_borrow_mut(|current| kernel.clone_into(current));
}

/// LLVM aborts on code that a processor cannot run; this reports it and exits.
fn report_fatal_errors() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler never returns into LLVM and lives as long as the process.
    ONCE.call_once(|| unsafe {
        inkwell::support::error_handling::install_fatal_error_handler(fatal)
    });
}

/// What LLVM takes for all of a process:
///
/// - `-nvptx-short-ptr`: pointers to NVIDIA's shared memory have 32 bits; addresses there take one register each, and one sum.
/// - `-disable-lsr`: loops keep the addresses that they were written with. Code here steps them by itself, and LLVM's search
///   for others is slow in the large bodies of register tiles. It is off for every machine: else code would depend on what
///   a process has compiled before.
const OPTIONS: [&CStr; 2] = [c"-nvptx-short-ptr", c"-disable-lsr"];

extern "C" fn fatal(reason: *const c_char) {
    // SAFETY: LLVM passes a string that ends in NUL.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    let kernel =
        KERNEL.try_with(|kernel| kernel.try_borrow().map(|name| name.clone()).unwrap_or_default());
    let kernel = kernel.unwrap_or_default();
    // Not `eprintln!`, which a test harness would swallow.
    let _ = write!(
        std::io::stderr(),
        "error: kernel {kernel}: LLVM failed: {reason}\n  help: the machine description \
         lists the processor's `features`; the lowering of an instruction may need more\n"
    );
    // SAFETY: ends the process at once; other threads may be inside LLVM, whose
    // destructors must not run beside them.
    unsafe { libc::_exit(1) }
}
