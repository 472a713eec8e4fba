//! Write device kernels as functions on memrefs and vectors.
//!
//! ```text
//! device.kernel @k tasks 4 {            func.func @k(%begin: index, %end: index, %x: memref<4096xf32>) {
//! ^bb0(%task: index, %x: ...):            %r = memref.alloca() : memref<16xf32>
//!   %r = device.alloc                     scf.for %task = %begin to %end {
//!   device.copy @load %x[%i] to %r  ->      %v = vector.load %x[%i]
//!                                           vector.store %v, %r[%c0]
//! ```
//!
//! Registers become arrays on the stack; once the register loops (`affine.for`)
//! are unrolled every index of them is a constant, and LLVM turns them into
//! values. Lengths are read from a table, the last of the function's memrefs (`lengths.rs`). What only a parallel unit can do (asynchronous moves, barriers of
//! more than one thread) is refused.

mod apply;
pub(super) mod bf16;
mod combine;
mod copy;
pub(super) mod extremes;
mod flatten;
pub(super) mod invoke;
mod lanewise;
mod lengths;
pub(super) mod record;
mod scratch;
mod stream;
mod tiles;
pub(super) mod view;

use weft_dialects::device::{Apply, Combine, Copy, Fill, Invoke, Kernel, Machine, Transfer};
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Block, Builder, Context, Diagnostics, Mapping, Op, Type, Val, attr, ty};

use super::target;
pub use scratch::{Scratch, scratch};

/// The pass.
pub const PASS: Pass = Pass {
    name: "device-lower-to-vector",
    description: "Write device kernels as functions on memrefs and vectors",
    options: &[],
    statistics: &[],
    run,
};

/// Registers that a kernel may name, in bytes: before code keeps them in registers they are arrays
/// on the stack of its thread.
const STACK_BYTES: u64 = 1 << 20;

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut diag = Diagnostics::new();
    let kernels: Vec<_> =
        run.module.body(0).ok_or(Failed)?.ops().into_iter().filter_map(Kernel::of).collect();
    for kernel in kernels {
        let machine = Machine::required(kernel.op)?;
        if kernel.groups > 1 {
            diag.error(kernel.op, format!("@{} has {} groups", kernel.name, kernel.groups))
                .help("on a processor one thread runs an rTask: give the kernel one group");
            continue;
        }
        lower(run.context, machine, &kernel, &mut diag);
    }
    if diag.is_ok() { Ok(()) } else { Err(Failed) }
}

/// Puts a function in the place of a kernel.
fn lower<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: &Kernel<'c>,
    diag: &mut Diagnostics,
) {
    let lent = scratch::write_places(context, machine, kernel);
    let func = copy_into_function(context, machine, kernel, &lent);
    let tables = lengths::read_from_table(context, kernel, func);
    bf16::as_bits(context, func, bf16::Rounds::Here);
    let mut device_ops = Vec::new();
    func.walk(&mut |op| {
        if op.name().starts_with("device.") {
            device_ops.push(op);
        }
    });
    let (allocs, steps): (Vec<_>, Vec<_>) =
        device_ops.into_iter().partition(|op| op.is("device.alloc"));
    // Operations inside the body of another one are lowered with that one.
    let outer = steps
        .into_iter()
        .filter(|op| !op.parent().is_some_and(|around| around.name().starts_with("device.")));
    for op in outer.collect::<Vec<_>>() {
        expand(context, machine, op, diag);
        op.erase();
    }
    extremes::as_intrinsics(context, func);
    place_allocs(context, func, allocs, kernel.args().len() + 2 + tables, diag);
    flatten::memrefs(context, func);
    kernel.op.erase();
}

/// `func.func @k(%begin, %end, memrefs, scratch)` with the kernel's body in a loop over tasks.
fn copy_into_function<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: &Kernel<'c>,
    lent: &Scratch,
) -> Op<'c> {
    let index = Type::index(context);
    let args = kernel.args();
    let mut inputs = vec![index, index];
    inputs.extend(args.iter().map(|arg| view::plain(context, arg.ty())));
    inputs.extend(lengths::table(context, kernel));
    inputs.extend(scratch::types(context, lent));
    let mut b = Builder::before(context, kernel.op);
    let func = b.op_with(
        "func.func",
        &[],
        &[],
        &[
            ("sym_name", attr::of_string(context, kernel.name)),
            ("function_type", attr::of_type(ty::of_function(context, &inputs, &[]))),
        ],
        1,
    );
    let block = b.block(func.region(0), &inputs);
    let mut b = b.into_block(block);
    let args = block.args().into_iter().skip(2);
    let memrefs: Vec<_> = kernel.args().into_iter().zip(args).collect();
    let mut streamed = stream::targets(machine, kernel);
    if streamed.is_empty() {
        tasks(&mut b, kernel, block, &memrefs);
    } else {
        let new = |old| memrefs.iter().find(|(from, _)| from == old).map(|&(_, to)| to);
        streamed = streamed.iter().filter_map(new).collect();
        let whole = stream::aligned(&mut b, &streamed, target::register_bytes(machine));
        let choice = b.op_with("scf.if", &[whole], &[], &[], 2);
        for region in 0..2 {
            let form = b.block(choice.region(region), &[]);
            let mut inner = b.into_block(form);
            let all = tasks(&mut inner, kernel, block, &memrefs);
            if region == 0 {
                stream::fence(&mut inner);
            } else {
                stream::give_up(context, machine, all);
            }
            inner.op("scf.yield", &[], &[]);
        }
    }
    b.op("func.return", &[], &[]);
    func
}

/// The loop over the rTasks of a kernel from the first of the function's arguments to the second.
fn tasks<'c>(
    b: &mut Builder<'c>,
    kernel: &Kernel<'c>,
    function: Block<'c>,
    memrefs: &[(Val<'c>, Val<'c>)],
) -> Op<'c> {
    let step = b.index(1);
    let tasks = b.op_with("scf.for", &[function.arg(0), function.arg(1), step], &[], &[], 1);
    let body = b.block(tasks.region(0), &[Type::index(b.context())]);
    let mut map = Mapping::default();
    let task = [(kernel.body.arg(0), body.arg(0))];
    for &(old, new) in task.iter().chain(memrefs) {
        map.set(old, new);
    }
    let mut b = b.into_block(body);
    for op in kernel.body.ops() {
        b.clone_op(op, &mut map);
    }
    b.op("scf.yield", &[], &[]);
    tasks
}

fn expand<'c>(context: &'c Context, machine: Machine<'c>, op: Op<'c>, diag: &mut Diagnostics) {
    let mut b = Builder::before(context, op);
    if let Some(copy) = Copy::of(op) {
        copy::expand(&mut b, machine, &copy);
    } else if let Some(invoke) = Invoke::of(op) {
        invoke::expand(&mut b, machine, &invoke, diag);
    } else if let Some(apply) = Apply::of(op) {
        apply::expand(&mut b, machine, &apply, diag);
    } else if let Some(combine) = Combine::of(op) {
        combine::expand(&mut b, &combine, diag);
    } else if let Some(transfer) = Transfer::of(op) {
        tiles::transfer(&mut b, machine, &transfer, diag);
    } else if let Some(fill) = Fill::of(op) {
        tiles::fill(&mut b, machine, &fill, diag);
    } else if op.is("device.wait") && op.operands().is_empty() {
        // Nothing was begun that could still be under way.
    } else if op.is("device.barrier") && op.attr("scope").and_then(attr::string) == Some("thread") {
        // One thread is always there.
    } else {
        diag.error(op, format!("{} cannot be lowered to code for one thread", op.name())).help(
            "native code may hold copies, instructions and operations on lanes, and no waits",
        );
    }
}

/// Makes every `device.alloc` an array at the function's entry, or a view of what a worker lends,
/// whose parts are the arguments from `lent` on.
fn place_allocs<'c>(
    context: &'c Context,
    func: Op<'c>,
    allocs: Vec<Op<'c>>,
    lent: usize,
    diag: &mut Diagnostics,
) {
    let first = func.body(0).and_then(|block| block.ops().first().copied());
    let mut b = Builder::before(context, first.expect("a function ends in a return"));
    let mut bytes = 0;
    for alloc in allocs {
        let ty = view::plain(context, alloc.result(0).ty());
        if let Some((piece, offset)) = scratch::place(alloc) {
            let piece = func.body(0).expect("a function has a block").arg(lent + piece);
            alloc.result(0).replace_with(scratch::view(&mut b, piece, offset, ty));
            alloc.erase();
            continue;
        }
        bytes += ty::count(ty)
            .zip(ty::elem(ty).and_then(ty::byte_size))
            .map_or(0, |(count, size)| count * size);
        if bytes > STACK_BYTES {
            diag.error(alloc, format!("the kernel's buffers in registers take {bytes} bytes"))
                .help(format!("a kernel names at most {STACK_BYTES}; take smaller tiles"));
        }
        alloc.result(0).replace_with(stack_room(&mut b, ty));
        alloc.erase();
    }
}

/// An array on the stack, of a memref's type, that begins where a line of a cache does.
fn stack_room<'c>(b: &mut Builder<'c>, memref: Type<'c>) -> Val<'c> {
    let context = b.context();
    let attributes = [
        ("alignment", attr::of_int(context, 64)),
        ("operandSegmentSizes", attr::of_ints32(context, &[0, 0])),
    ];
    b.op_with("memref.alloca", &[], &[memref], &attributes, 0).result(0)
}
