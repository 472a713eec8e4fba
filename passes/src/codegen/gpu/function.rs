//! A kernel as a function: an entry that is launched, or one that an entry calls.

use melior::dialect::llvm::r#type as llvm;
use weft_dialects::device::{Kernel, Machine, Memory, Scope};
use weft_dialects::ir::{Builder, Context, Mapping, Op, Type, Val, attr, ty};

use super::super::lower::view;
use super::boxes;
use super::isa::Isa;
use super::order;
use super::producer::{Division, Roles};
use super::program::Caller;
use super::storage::{self, Storage, Thread, ThreadIds};
use super::turns;
use super::{Descriptor, Launch};

/// Threads that go in step without a barrier of the block, at most.
const WARP: u64 = 64;

/// The purpose of a kernel's function.
#[derive(Clone, Copy)]
pub enum Role<'a> {
    /// An entry: its blocks share out the rTasks from `begin` to `end` by their numbers.
    Entry,
    /// Called by the one entry of a program: the caller's block does them all, one after another.
    Called(&'a Caller<'a>),
}

/// The parameters of a kernel's code for one thread.
#[derive(Clone, Copy)]
pub struct Lowering<'a, 'c> {
    pub machine: Machine<'c>,
    pub isa: Isa,
    pub launch: Launch,
    /// The registers that it works in.
    pub registers: &'a Memory<'c>,
    pub role: Role<'a>,
}

impl Lowering<'_, '_> {
    /// Threads that hold a register together.
    pub fn lanes(&self) -> u64 {
        self.registers.lanes().unwrap_or(1)
    }
}

/// `func.func @k(%begin, %end, memrefs)` with the kernel's body for the rTasks of this
/// thread's group, and where the thread is.
pub fn copy_into_function<'c>(
    context: &'c Context,
    kernel: &Kernel<'c>,
    how: &Lowering<'_, 'c>,
) -> (Op<'c>, ThreadIds<'c>, Roles<'c>) {
    let Lowering { machine, isa, launch, role, .. } = *how;
    let (index, long) = (Type::index(context), ty::int(context, 64));
    let (name, threads) = match role {
        Role::Entry => (kernel.name, launch.threads),
        Role::Called(caller) => (caller.function, caller.threads),
    };
    let (inputs, types) = parameters(context, kernel, how);
    let mut b = Builder::before(context, kernel.op);
    let division = Division::of(machine, kernel);
    let first = division.filter(Division::gives).map(|own| own.registers.first);
    let size = isa.size_attributes(threads).into_iter().chain(isa.unit_attributes(kernel, first));
    let func = declare(&mut b, name, &types, size.collect(), role);
    let block = b.block(func.region(0), &inputs);
    let mut b = b.into_block(block);
    let (place, group) = place(&mut b, how);
    let (int, lanes) = (ty::int(context, 32), how.lanes());
    // A block runs one rTask with all its groups, or one with each.
    let apart = launch.groups > 1;
    let mut roles = Roles::default();
    let values = block.args();
    let part = match role {
        Role::Entry => None,
        Role::Called(caller) => caller.part(launch),
    };
    let copy = |b: &mut Builder<'c>, task: Val<'c>| {
        let shift = |b: &mut Builder<'c>, is_before: bool| {
            turns::shift(b, isa, kernel, (group, part), is_before);
        };
        shift(b, true);
        let task = b.op("arith.index_cast", &[task], &[index]).result(0);
        let mut map = Mapping::default();
        let news = std::iter::once(task).chain(values.iter().copied().skip(2));
        for (old, new) in kernel.body.args().into_iter().zip(news) {
            map.set(old, new);
        }
        for op in kernel.body.ops() {
            b.clone_op(op, &mut map);
        }
        shift(b, false);
    };
    match role {
        Role::Entry => {
            let mut task = isa.block(&mut b);
            if kernel.cluster.is_some() || kernel.bands.is_some() {
                task = order::task_of(&mut b, kernel, task);
            }
            if apart {
                let groups = b.integer(int, launch.groups as i64);
                task = b.op("arith.muli", &[task, groups], &[int]).result(0);
                task = b.op("arith.addi", &[task, group], &[int]).result(0);
            }
            let task = b.op("arith.extui", &[task], &[long]).result(0);
            let task = b.op("arith.addi", &[task, block.arg(0)], &[long]).result(0);
            let inside = boxes::compare(&mut b, "slt", task, block.arg(1));
            boxes::when(&mut b, Some(inside), |b| match &division {
                None => copy(b, task),
                Some(division) => {
                    let copy = |b: &mut Builder<'c>| copy(b, task);
                    roles = Roles::write(b, how, (&place, division), copy);
                }
            });
        }
        Role::Called(caller) => {
            let mut first = block.arg(0);
            if apart {
                let group = b.op("arith.extui", &[group], &[long]).result(0);
                first = b.op("arith.addi", &[first, group], &[long]).result(0);
            }
            let step = b.integer(long, launch.groups as i64);
            boxes::count(&mut b, first, block.arg(1), step, |b, task| {
                copy(b, task);
                // The next rTask writes where lanes may still read this one's tiles.
                if caller.shares {
                    let alone = kernel.groups == 1 && lanes <= WARP;
                    let scope = if alone { Scope::Warp } else { Scope::Core };
                    isa.barrier(b, scope, part);
                }
            });
        }
    }
    b.op("func.return", &[], &[]);
    (func, place, roles)
}

/// The types of a function's parameters, while its body is read and as it is declared: the first rTask and the end, memrefs,
/// and descriptors of tensors where it is launched.
fn parameters<'c>(
    context: &'c Context,
    kernel: &Kernel<'c>,
    how: &Lowering<'_, 'c>,
) -> (Vec<Type<'c>>, Vec<Type<'c>>) {
    let args = kernel.args();
    let mut inputs = vec![ty::int(context, 64); 2];
    let mut types = inputs.clone();
    inputs.extend(args.iter().map(|arg| view::plain(context, arg.ty())));
    types.extend(args.iter().map(|arg| storage::flat(context, arg.ty(), Some(1))));
    if let Role::Entry = how.role {
        let descriptors = Descriptor::all(how.machine, kernel).len();
        let all = std::iter::repeat_n(llvm::pointer(context, 0), descriptors);
        inputs.extend(all.clone());
        types.extend(all);
    }
    (inputs, types)
}

/// Returns the numbers of a thread in its block, and the number of its group as an `i32`.
fn place<'c>(b: &mut Builder<'c>, how: &Lowering<'_, 'c>) -> (ThreadIds<'c>, Val<'c>) {
    let (isa, lanes) = (how.isa, how.lanes());
    let (int, index) = (ty::int(b.context(), 32), Type::index(b.context()));
    let number = isa.thread(b);
    let (mut lane, mut group) = (number, b.integer(int, 0));
    if how.launch.threads > lanes {
        let width = b.integer(int, lanes as i64);
        lane = b.op("arith.remui", &[number, width], &[int]).result(0);
        group = b.op("arith.divui", &[number, width], &[int]).result(0);
        group = isa.uniform(b, group);
    }
    let mut as_index = |value: Val<'c>| b.op("arith.index_castui", &[value], &[index]).result(0);
    let place =
        ThreadIds { lane: as_index(lane), number: as_index(number), group: as_index(group) };
    (place, group)
}

fn declare<'c>(
    b: &mut Builder<'c>,
    name: &str,
    types: &[Type<'c>],
    size: Vec<(&'static str, String)>,
    role: Role<'_>,
) -> Op<'c> {
    let context = b.context();
    let size = size.iter().map(|(name, value)| attr::of_strings(context, &[name, value.as_str()]));
    let size: Vec<_> = size.collect();
    let mut attributes = vec![
        ("sym_name", attr::of_string(context, name)),
        ("function_type", attr::of_type(ty::of_function(context, types, &[]))),
        ("passthrough", attr::of_array(context, &size)),
    ];
    if matches!(role, Role::Called(_)) {
        attributes.push(("sym_visibility", attr::of_string(context, "private")));
    }
    b.op_with("func.func", &[], &[], &attributes, 1)
}

/// Gives every memref argument a stand-in that is a row of elements: while the
/// program is read, its own memrefs keep the dimensions that they have there.
pub fn stand_in<'c>(thread: &mut Thread<'c>, func: Op<'c>) -> Vec<Op<'c>> {
    let block = func.body(0).expect("a function has a body");
    let first = block.ops().first().copied().expect("a function ends in a return");
    let mut b = Builder::before(thread.context, first);
    let mut rows = Vec::new();
    // Neighbours that a lane moves become one access where that is known.
    let aligned = attr::of_int_type(ty::int(thread.context, 32), thread.widest(1) as i64);
    for arg in block.args().into_iter().skip(2) {
        let Some(shape) = ty::shape(arg.ty()) else { continue };
        let flat = storage::flat(thread.context, arg.ty(), Some(1));
        let row = b.op("builtin.unrealized_conversion_cast", &[arg], &[flat]);
        let assumed = [("alignment", aligned)];
        let assume = "memref.assume_alignment";
        let flat = b.op_with(assume, &[row.result(0)], &[flat], &assumed, 0).result(0);
        thread.storages.insert(arg, Storage::Memory { flat, shape, ours: false, swizzle: None });
        rows.push(row);
    }
    rows
}

/// Puts the arguments, as rows of elements, in the place of their stand-ins.
pub fn take_arguments(rows: Vec<Op<'_>>) {
    for row in rows {
        let (arg, flat) = (row.operand(0), row.result(0));
        arg.set_ty(flat.ty());
        flat.replace_with(arg);
        row.erase();
    }
}
