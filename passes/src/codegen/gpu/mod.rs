//! Write device kernels as functions for one thread of many.
//!
//! ```text
//! device.kernel @k tasks 4 {            func.func @k(%begin: i64, %end: i64, %x: memref<4096xf32, 1>) {
//! ^bb0(%task: index, %x: ...):            %lane = thread mod lanes
//!   %r = device.alloc                     %task = %begin + block * groups + thread / lanes
//!   device.copy @load %x[%i] to %r  ->    %r = memref.alloca() : memref<1xf32>
//!                                         scf.if %task < %end { %v = memref.load %x[%i + %lane] ... }
//! ```
//!
//! The threads that go in step run one rTask together; registers that are spread
//! over them become what one thread holds. Instructions get the slots of the
//! thread, copies the elements that it holds, combining goes by shuffles.

mod arrivals;
mod boxes;
mod exchange;
mod function;
mod gathered;
mod invoke;
mod isa;
mod isa_boxes;
mod lanes;
mod later;
mod layout;
mod order;
mod producer;
pub mod program;
mod registers;
mod rows;
mod shared;
mod spread;
mod step_loops;
mod storage;
mod tensor_boxes;
mod together;
mod tokens;
mod turns;
mod uniform;
mod whole;
mod words;
mod zeros;

use rustc_hash::{FxHashMap, FxHashSet};
use weft_dialects::device::{Apply, Combine, Copy, Fill, Invoke, Kernel, Machine, Scope, Transfer};
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Builder, Context, Diagnostics, Op, attr, ty};

use super::lower::{bf16, extremes};
use function::{Lowering, Role, copy_into_function, stand_in, take_arguments};
use shared::{Shared, offset};
use storage::{Storage, Thread};
pub use tensor_boxes::Descriptor;
use tensor_boxes::TensorBoxes;
use tokens::Kind;

pub use isa::Isa;
pub(super) use whole::{joined, object, text};

/// The pass.
pub const PASS: Pass = Pass {
    name: "device-lower-to-threads",
    description: "Write device kernels as functions for one thread of many",
    options: &[],
    statistics: &[],
    run,
};

/// Threads of a block, where a group of threads that go in step needs nothing of a block.
const BLOCK_THREADS: u64 = 128;

/// The launch of a kernel: `ceil(rTasks / groups)` blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Threads of a block.
    pub threads: u64,
    /// Groups of threads in a block, each of which runs one rTask.
    pub groups: u64,
    /// Bytes of shared memory that a block asks for, beyond what it has without that.
    pub shared_bytes: u64,
}

impl Launch {
    /// The comment at the head of the code about a kernel of that name.
    pub fn head(&self, kernel: &str) -> String {
        let Self { threads, groups, .. } = self;
        let shared = shared_words(self.shared_bytes);
        format!("// launch {kernel} threads {threads} groups {groups}{shared}\n")
    }

    /// Returns the launch of a kernel on a machine whose registers are spread over lanes.
    pub fn of<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> Option<Self> {
        let lanes = kernel.registers(machine)?.lanes()?;
        let shared_bytes = shared::asked_for(machine, kernel);
        let producer = kernel.producer(machine).map_or(0, |own| own.lanes);
        if kernel.groups > 1 || producer > 0 {
            let threads = kernel.groups * lanes + producer;
            return Some(Self { threads, groups: 1, shared_bytes });
        }
        let mut alone =
            lanes >= BLOCK_THREADS || kernel.cluster.is_some() || kernel.bands.is_some();
        kernel.op.walk(&mut |op| {
            alone |= Scope::of_barrier(op).is_some_and(|scope| scope > Scope::Warp);
            alone |= op.is("device.alloc")
                && machine.memory_of(op.result(0).ty()).is_some_and(|m| !m.is_registers());
        });
        // A unit whose blocks had more would leave another one idle.
        let units = machine.units().first().map_or(1, |unit| unit.count().max(1));
        let share = kernel.tasks.div_ceil(units).max(1).next_power_of_two();
        let groups = if alone { 1 } else { (BLOCK_THREADS / lanes).min(share) };
        Some(Self { threads: groups * lanes, groups, shared_bytes })
    }
}

/// What a comment at the head of the code says of shared memory that is asked for.
fn shared_words(bytes: u64) -> String {
    if bytes > 0 { format!(" shared {bytes}") } else { String::new() }
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut diag = Diagnostics::new();
    let kernels: Vec<_> =
        run.module.body(0).ok_or(Failed)?.ops().into_iter().filter_map(Kernel::of).collect();
    // Before anything is written: addresses of a kernel with lengths are no sums of numbers.
    if let Some(asked) = kernels.iter().find_map(|kernel| asked_length(kernel.op)) {
        let length = asked.attr("length").and_then(attr::string).unwrap_or_default();
        let what = format!("the kernel asks for `{length}`, and code for threads has no lengths");
        diag.error(asked, what).help(
            "one number for each dimension, as --dim NAME=64; what data decide is for processors",
        );
        return Err(Failed);
    }
    for kernel in kernels {
        let machine = Machine::required(kernel.op)?;
        let Some(isa) = Isa::of_arch(machine.arch()) else {
            diag.error(kernel.op, format!("no threads on the architecture {:?}", machine.arch()))
                .help("`sm_` and `gfx` begin the names of those that have them");
            continue;
        };
        let (Some(launch), Some(registers)) =
            (Launch::of(machine, &kernel), kernel.registers(machine))
        else {
            diag.error(kernel.op, "the machine has no registers that are spread over lanes")
                .help("give one of its memories `lanes`");
            continue;
        };
        let how = Lowering { machine, isa, launch, registers: &registers, role: Role::Entry };
        lower(run.context, &kernel, &how, &mut diag);
    }
    if diag.is_ok() { Ok(()) } else { Err(Failed) }
}

/// The first length that a kernel asks for.
fn asked_length(kernel: Op<'_>) -> Option<Op<'_>> {
    let mut found = None;
    kernel.walk(&mut |op| found = found.or(Some(op).filter(|op| op.is("device.length"))));
    found
}

/// Puts a function in the place of a kernel.
fn lower<'c>(
    context: &'c Context,
    kernel: &Kernel<'c>,
    how: &Lowering<'_, 'c>,
    diag: &mut Diagnostics,
) {
    let Lowering { machine, isa, launch, role, .. } = *how;
    let lanes = how.lanes();
    let (func, place, roles) = copy_into_function(context, kernel, how);
    bf16::as_bits(context, func, bf16::Rounds::Llvm);
    let storages = FxHashMap::default();
    let groups = kernel.groups;
    let part = match role {
        Role::Entry => roles.others(),
        Role::Called(caller) => caller.part(launch),
    };
    let has_readers = invoke::has_readers(machine, func);
    let (later, uniform) = (FxHashMap::default(), FxHashMap::default());
    let mut thread = Thread {
        context,
        machine,
        isa,
        lanes,
        groups,
        cluster: kernel.cluster,
        part,
        place,
        has_readers,
        storages,
        later,
        uniform,
        roles,
        multiplies: FxHashMap::default(),
        boxes: TensorBoxes::default(),
    };
    let rows = stand_in(&mut thread, func);
    thread.boxes = TensorBoxes::take(&thread, kernel.op, func, diag);
    let waits = tokens::Waits::take(context, machine, func);
    let turns = spread::turns(machine, func);
    if kernel.turns > 1 {
        turns::check(isa, kernel, lanes, diag);
        thread.multiplies = turns::multiplies(func);
    }
    step_loops::keep(context, func);
    let mut device_ops = Vec::new();
    func.walk(&mut |op| {
        if op.name().starts_with("device.") {
            device_ops.push(op);
        }
    });
    let (allocs, steps): (Vec<_>, Vec<_>) =
        device_ops.into_iter().partition(|op| op.is("device.alloc"));
    if !place_allocs(&mut thread, kernel, func, &allocs, how, diag) {
        return;
    }
    // Operations inside the body of another one are lowered with that one.
    let outer = steps
        .into_iter()
        .filter(|op| !op.parent().is_some_and(|around| around.name().starts_with("device.")));
    let outer: Vec<_> = outer.collect();
    thread.later = later::transfers(&thread, &outer);
    thread.uniform = uniform::rows(&thread, &outer);
    let waiting: FxHashSet<Op<'c>> = thread.later.values().copied().collect();
    for op in outer {
        if waiting.contains(&op) {
            continue;
        }
        if let Some(turns) = turns.get(&op) {
            isa.take_turns(&mut Builder::before(context, op), *turns);
        }
        expand(&thread, op, &waits, diag);
        op.erase();
    }
    waiting.into_iter().for_each(|op| op.erase());
    rewrite_loads(&thread, func);
    take_arguments(rows);
    extremes::as_intrinsics(context, func);
    zeros::declare(context, func);
    for alloc in allocs {
        alloc.erase();
    }
    kernel.op.erase();
}

/// Gives storage to every `device.alloc`: this thread's slots, or memory that the block shares.
fn place_allocs<'c>(
    thread: &mut Thread<'c>,
    kernel: &Kernel<'c>,
    func: Op<'c>,
    allocs: &[Op<'c>],
    &Lowering { registers, role, .. }: &Lowering<'_, 'c>,
    diag: &mut Diagnostics,
) -> bool {
    let context = thread.context;
    let first = func.body(0).and_then(|block| block.ops().first().copied());
    let mut b = Builder::before(context, first.expect("a function ends in a return"));
    let mut shared = Shared::new((context, thread.machine), kernel, allocs, role);
    let (bytes, memory) =
        (shared::needed(thread.machine, kernel), shared::memory(thread.machine, kernel));
    let blocks = kernel.resident.unwrap_or(1);
    if let Some(memory) =
        memory.filter(|memory| memory.capacity_bytes() < blocks.saturating_mul(bytes))
    {
        let (name, most) = (memory.name, memory.capacity_bytes());
        let each = if blocks > 1 { format!(", each of {blocks} in a unit") } else { String::new() };
        let what = format!("a block shares {bytes} bytes{each}, and of @{name} there are {most}");
        diag.error(kernel.op, what).help(
            "give its tiles fewer stages, or smaller sizes; each begins at a multiple of 1024",
        );
        return false;
    }
    for &alloc in allocs {
        let value = alloc.result(0);
        let shape = ty::shape(value.ty()).unwrap_or_default();
        let Some(memory) = thread.machine.memory_of(value.ty()) else {
            diag.error(alloc, "the machine has no memory of this name");
            return false;
        };
        let storage = if memory.name == registers.name {
            let Some(layout) = storage::layout_of(thread.machine, alloc, &memory, diag) else {
                return false;
            };
            if layout.shape.len() > shape.len() {
                diag.error(
                    alloc,
                    "the register has fewer dimensions than its instruction's operand",
                );
                return false;
            }
            let lead = shape.len() - layout.shape.len();
            let mut own = shape[..lead].to_vec();
            own.push(layout.slots);
            let ty = storage::in_space(context, &own, value.ty(), thread.isa.private_space());
            let none = attr::of_ints32(context, &[0, 0]);
            let made = b.op_with("memref.alloca", &[], &[ty], &[("operandSegmentSizes", none)], 0);
            Storage::Registers { slots: made.result(0), shape, layout }
        } else if memory.lanes().is_some() {
            diag.error(alloc, format!("@{} beside registers of @{}", memory.name, registers.name))
                .help("a kernel works in the registers of one scope");
            return false;
        } else if memory.scope() == Scope::Core {
            let flat = shared.allocate(&mut b, alloc, &memory);
            // Several groups wait for shared data by barriers of the program, as the lanes
            // of one do for what lies in an arena.
            let ours = kernel.groups == 1 && offset(alloc).is_none();
            Storage::Memory { flat, shape, ours, swizzle: storage::swizzle(alloc) }
        } else {
            diag.error(alloc, format!("code for threads cannot allocate in @{}", memory.name))
                .help("registers that are spread over lanes, or a memory of scope \"core\"");
            return false;
        };
        thread.storages.insert(value, storage);
    }
    if !thread.boxes.is_empty() {
        let ty = ty::memref(
            &[thread.boxes.words()],
            ty::int(context, 64),
            Some(attr::of_int(context, 3)),
        );
        let barriers = shared.behind_all(&mut b, ty);
        let mut boxes = std::mem::take(&mut thread.boxes);
        boxes.begin(func, thread, barriers);
        thread.boxes = boxes;
    }
    shared.declare(context, func);
    true
}

/// Reports what code for threads does not have.
fn is_refused(op: Op<'_>, diag: &mut Diagnostics) -> bool {
    let asynchronous = !op.is("device.group");
    let is_waited_for = op.results().iter().any(|result| !result.uses().is_empty());
    if asynchronous && is_waited_for {
        diag.error(
            op,
            format!("{} is asynchronous, which code for threads does not support", op.name()),
        )
        .help("use a move or an instruction without an engine");
    }
    asynchronous && is_waited_for
}

fn expand<'c>(thread: &Thread<'c>, op: Op<'c>, waits: &tokens::Waits<'c>, diag: &mut Diagnostics) {
    let mut b = Builder::before(thread.context, op);
    let b = &mut b;
    if is_refused(op, diag) {
        return;
    }
    if let Some(copy) = Copy::of(op) {
        boxes::copy(b, thread, &copy, diag);
    } else if let Some(transfer) = Transfer::of(op) {
        boxes::transfer(b, thread, &transfer, diag);
    } else if let Some(fill) = Fill::of(op) {
        boxes::fill(b, thread, &fill, diag);
    } else if let Some(invoke) = Invoke::of(op) {
        let result = invoke.views.last().and_then(|view| ty::elem(view.memref.ty()));
        if tokens::begun(thread.machine, op).is_some()
            && !result.is_some_and(|elem| thread.isa.begins_instructions(elem))
        {
            diag.error(op, "threads cannot begin this instruction and go on").help(
                "use an instruction without an engine on this architecture, or with other sums",
            );
        }
        invoke::expand(b, thread, &invoke, diag);
    } else if let Some(apply) = Apply::of(op) {
        lanes::apply(b, thread, &apply, diag);
    } else if let Some(combine) = Combine::of(op) {
        if let Some(along) = combine.along {
            rows::combine(b, thread, &combine, along, diag);
        } else {
            if thread.lanes > 64 {
                diag.error(op, "lanes of more than one warp cannot be combined");
            }
            lanes::combine(b, thread, &combine, diag);
        }
    } else if op.is("device.arrive") {
        thread.boxes.arrive(b, thread, op);
    } else if op.is("device.group") {
        op.result(0).replace_with(thread.place.group);
    } else if let Some(under_way) = waits.under_way(op) {
        for &(kind, count) in under_way {
            match kind {
                Kind::Copies => thread.isa.wait_for_copies(b, count),
                Kind::Instructions => invoke::wait(b, thread, count, &waits.results),
                // Waited for one by one.
                Kind::Boxes | Kind::Arrivals => {}
            }
        }
        thread.boxes.wait(b, thread, op);
    } else if op.is("device.ready") || op.is("device.wait") && op.operands().is_empty() {
        // Nothing was begun that could still be under way.
    } else if op.is("device.barrier") {
        match Scope::of_barrier(op) {
            Some(scope)
                if scope <= Scope::Core || scope == Scope::Cluster && thread.has_cluster() =>
            {
                if scope >= Scope::Core && thread.has_readers {
                    thread.isa.show_to_engines(b);
                }
                match thread.multiplies.get(&op) {
                    Some(multiplies) => turns::meet(b, thread.isa, thread.part, *multiplies),
                    None => thread.isa.barrier(b, scope, thread.part),
                }
            }
            _ => {
                diag.error(op, "blocks do not wait for each other").help(
                    "the widest barrier of code for threads is that of scope \"core\", or \"cluster\" where the kernel has one",
                );
            }
        }
    } else {
        diag.error(op, format!("{} cannot be lowered to code for threads", op.name()));
    }
}

/// Loads that the bodies of lanes made of a memref's own indices: now of one number.
fn rewrite_loads<'c>(thread: &Thread<'c>, func: Op<'c>) {
    let mut loads = Vec::new();
    func.walk(&mut |op| {
        if op.is("memref.load") {
            loads.push(op);
        }
    });
    for op in loads {
        let operands = op.operands();
        let Some(Storage::Memory { flat, shape, swizzle, .. }) = thread.storages.get(&operands[0])
        else {
            continue;
        };
        let mut b = Builder::before(thread.context, op);
        let at = thread.linear(&mut b, shape, &operands[1..]);
        let at = storage::swizzled(&mut b, at, *swizzle);
        let loaded = storage::load(&mut b, *flat, &[at]);
        op.result(0).replace_with(loaded);
        op.erase();
    }
}
