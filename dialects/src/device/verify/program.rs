//! Constraints of the program half.

use super::super::tokens::arrival_of_round;
use super::super::{Contract, Instruction, Kernel, Layout, Machine, Scope, Transfer, View};
use super::{check_scope, check_token, region_args};
use crate::ir::{Diagnostics, Op, Type, Val, attr, parts, ty};
use crate::lengths::check_attr;
use crate::verify::{check_fact, check_positive, count, elements, int, symbol, text};

/// C1. The first argument is an index, the others are memrefs of static shape.
pub(super) fn kernel_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let mut args = region_args(op, 0).into_iter();
    let first = args.next();
    if !first.is_some_and(ty::is_index) {
        let found = first.map_or("no argument".into(), |first| format!("first {first}"));
        diag.error(op, format!("device.kernel takes {found}"))
            .help("the first argument is the number of the rTask, an index");
    }
    for (place, arg) in args.enumerate() {
        if !ty::is_memref(arg) || ty::shape(arg).is_none() {
            diag.error(op, format!("device.kernel takes {arg} at {}", place + 1))
                .help("arguments are memrefs of static shape");
        }
    }
}

/// C2. There is at least one rTask, and at least one group.
pub(super) fn kernel_c2(op: Op<'_>, diag: &mut Diagnostics) {
    check_positive(op, "tasks", diag);
    check_positive(op, "groups", diag);
}

/// C5. A contract speaks of all rTasks and of each argument, and of what is inside of it.
pub(super) fn kernel_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let parts = ["grid", "blocks", "places", "cycles"];
    let promises = parts.iter().any(|part| op.attr(part).is_some());
    let Some(kernel) = Kernel::of(op).filter(|_| promises) else { return };
    if let Some(part) = parts.into_iter().find(|part| op.attr(part).is_none()) {
        diag.error(op, format!("the contract has no {part}"))
            .help(format!("give {}", parts.join(", ")));
        return;
    }
    let Some(contract) = kernel.contract() else {
        diag.error(op, "the contract's numbers are negative, or a place is not affine in the grid")
            .help("blocks are array<i64: ...>, places are maps such as (i, j) -> (i, 0)");
        return;
    };
    let Contract { grid, blocks, places, .. } = &contract;
    let points = grid.iter().fold(1u64, |points, &own| points.saturating_mul(own));
    if points != kernel.tasks {
        let what =
            format!("the contract's grid has {points} points, the kernel {} rTasks", kernel.tasks);
        diag.error(op, what).help("each point is an rTask");
    }
    let args = kernel.args();
    if blocks.len() != args.len() || places.len() != args.len() {
        let (blocks, places, args) = (blocks.len(), places.len(), args.len());
        let what =
            format!("the contract has {blocks} blocks and {places} places for {args} arguments");
        diag.error(op, what).help("give one block and one place for each argument");
        return;
    }
    for (place, arg) in args.iter().enumerate() {
        let Some(shape) = ty::shape(arg.ty()) else { continue };
        let (block, map) = (&blocks[place], &places[place]);
        let axes = map.iter().all(|one| one.coefficients.len() == grid.len());
        if block.len() != shape.len() || map.len() != shape.len() || !axes {
            let what = format!(
                "block {place} has {} dimensions, its place {}, and {} has {}",
                block.len(),
                map.len(),
                arg.ty(),
                shape.len()
            );
            diag.error(op, what).help(format!(
                "both have the argument's rank, and a place is a map of {} dimensions",
                grid.len()
            ));
            continue;
        }
        for (dim, &extent) in shape.iter().enumerate() {
            let (low, high) = map[dim].range(grid);
            let begins = low >= 0 && (high as u64).saturating_mul(block[dim]) < extent;
            if points > 0 && !(begins && block[dim] > 0) {
                let what = format!(
                    "blocks of {} along dimension {dim} of {} lie at {low} to {high}",
                    block[dim],
                    arg.ty()
                );
                diag.error(op, what).help(format!("each begins inside of its {extent} elements"));
            }
        }
    }
}

/// C11. Its length is of symbols of the module, and it has one where its code asks for one.
pub(super) fn kernel_c11(op: Op<'_>, diag: &mut Diagnostics) {
    check_attr(op, "length", diag);
    if op.attr("length").is_some() {
        return;
    }
    let mut asks = None;
    op.walk(&mut |inner| asks = asks.or(inner.is("device.length").then_some(inner)));
    if let Some(asks) = asks {
        diag.error(op, format!("@{} has no length, and its code asks for one", op.symbol()))
            .note(asks, "here it does")
            .help("say how many rTasks there are in a run: length \"ceil(seq, 8)\"");
    }
}

/// C1. It is of symbols of the module.
pub(super) fn length_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_attr(op, "length", diag);
}

fn only_result<'c>(op: Op<'c>) -> Option<Type<'c>> {
    op.results().first().map(|result| result.ty())
}

/// C1. The shape is static, and the machine has the memory of the type's space.
pub(super) fn alloc_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(ty) = only_result(op) else { return };
    if ty::shape(ty).is_none() {
        diag.error(op, format!("device.alloc makes {ty}")).help("the shape is static");
    }
    match (ty::memory(ty), Machine::of(op)) {
        (None, _) => {
            diag.error(op, format!("device.alloc makes {ty}, which names no memory"))
                .help("write the memory into the type, such as memref<16xf32, \"vreg\">");
        }
        (Some(memory), Some(machine)) => {
            check_fact(op, machine, "device.memory", memory, diag);
        }
        _ => {}
    }
}

/// C2. The buffer is no larger than the memory.
pub(super) fn alloc_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(ty) = only_result(op) else { return };
    let Some(machine) = Machine::of(op) else { return };
    let Some(memory) = ty::memory(ty).and_then(|name| machine.memory(name)) else { return };
    if ty::shape(ty).is_none() {
        return;
    }
    if parts::bytes(ty).is_none_or(|bytes| bytes > memory.capacity_bytes()) {
        let (name, capacity) = (memory.name, memory.capacity_bytes());
        diag.error(op, format!("device.alloc makes {ty}, @{name} holds {capacity} bytes"))
            .note(memory.op(), "the memory is here")
            .help("keep a smaller piece in it");
    }
}

/// C3. In a register file the last dimension fills at most one register.
pub(super) fn alloc_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(ty) = only_result(op) else { return };
    let memory = ty::memory(ty).and_then(|name| Machine::of(op)?.memory(name));
    let Some(memory) = memory.filter(|memory| memory.lanes().is_none()) else { return };
    let Some(register) = memory.register_bytes() else { return };
    let (Some(shape), Some(elem)) = (ty::shape(ty), ty::elem(ty).and_then(ty::byte_size)) else {
        return;
    };
    let last = shape.last().copied().unwrap_or(1);
    if last.saturating_mul(elem) > register {
        diag.error(op, format!("device.alloc makes {ty} in registers of {register} bytes"))
            .help(format!("the last dimension is at most {}", register / elem.max(1)));
    }
}

/// C4. The shift of a swizzle is no less than its bits; the buffer is a whole number of its
/// blocks, and no register.
pub(super) fn alloc_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(swizzle) = op.attr("swizzle").and_then(attr::ints) else { return };
    let (Some(ty), Some(machine)) = (only_result(op), Machine::of(op)) else { return };
    let memory = ty::memory(ty).and_then(|name| machine.memory(name));
    if memory.is_some_and(|memory| memory.is_registers()) {
        diag.error(op, format!("device.alloc swizzles {ty}, which is in registers"))
            .help("a swizzle is for memories with banks");
    }
    let block = match swizzle[..] {
        [bits, keep, shift] if bits >= 1 && keep >= 0 && shift >= bits && keep + shift < 32 => {
            1 << (keep + bits)
        }
        _ => {
            diag.error(op, format!("device.alloc has the swizzle {swizzle:?}"))
                .help("it is [bits, keep, shift] with 1 ≤ bits ≤ shift");
            return;
        }
    };
    if let Some(elements) = ty::count(ty)
        && !elements.is_multiple_of(block)
    {
        diag.error(op, format!("device.alloc swizzles {ty} in blocks of {block} elements"))
            .help("use a whole number of blocks");
    }
}

/// The memory that moves see behind the type of a memref, and its name.
pub(super) fn place<'c>(machine: Machine<'c>, memref: Type<'c>) -> Option<&'c str> {
    match ty::memory(memref) {
        Some(name) => machine.behind(name).map(|memory| memory.name),
        None => machine.shared().map(|memory| memory.name),
    }
}

/// Source, indices, target, indices.
fn copy_parts<'c>(op: Op<'c>) -> Option<(Val<'c>, Vec<Val<'c>>, Val<'c>, Vec<Val<'c>>)> {
    let [source, from, target, to] = <[_; 4]>::try_from(op.segments()?).ok()?;
    Some((*source.first()?, from, *target.first()?, to))
}

/// C1. The machine has the move, between the memories of the two types. A cache
/// counts as what it caches.
pub(super) fn copy_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(machine), Some(name)) = (Machine::of(op), symbol(op, "move")) else { return };
    let Some((source, _, target, _)) = copy_parts(op) else { return };
    check_fact(op, machine, "device.move", name, diag);
    let Some(way) = machine.move_named(name) else { return };
    for (memory, what, memref) in [(way.source(), "from", source), (way.target(), "to", target)] {
        let behind = machine.behind(memory).map_or(memory, |memory| memory.name);
        if place(machine, memref.ty()) != Some(behind) {
            let ty = memref.ty();
            diag.error(op, format!("device.copy goes {what} {ty}, @{name} {what} @{memory}"))
                .note(way.op(), "the move is here")
                .help("name a move between the memories of the two types");
        }
    }
}

/// C2. Both types have the same element type.
pub(super) fn copy_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some((source, _, target, _)) = copy_parts(op) else { return };
    let (source, target) = (source.ty(), target.ty());
    if ty::elem(source) != ty::elem(target) {
        diag.error(op, format!("device.copy goes from {source} to {target}"))
            .help("a copy keeps the element type; convert it with device.apply");
    }
}

/// C3. There is one index per dimension, dimensions are inside the ranks, steps
/// and the count above zero.
pub(super) fn copy_c3(op: Op<'_>, diag: &mut Diagnostics) {
    for name in ["count", "from_step", "to_step"] {
        check_positive(op, name, diag);
    }
    let Some((source, from, target, to)) = copy_parts(op) else { return };
    for (memref, indices, name) in [(source, from, "from_dim"), (target, to, "to_dim")] {
        let Some(rank) = parts::rank(memref.ty()) else { continue };
        if indices.len() != rank {
            let (given, ty) = (count(indices.len(), "index"), memref.ty());
            diag.error(op, format!("device.copy gives {given} to {ty}"))
                .help("give one index per dimension");
        }
        if let Some(dim) = int(op, name)
            && !usize::try_from(dim).is_ok_and(|dim| dim < rank)
        {
            let ty = memref.ty();
            diag.error(op, format!("device.copy has {name} {dim} of {ty}"))
                .help("name a dimension of the type, from zero");
        }
    }
}

/// C4. What is not side by side needs a strided move.
pub(super) fn copy_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(machine), Some(name)) = (Machine::of(op), symbol(op, "move")) else { return };
    let Some(way) = machine.move_named(name).filter(|way| !way.strided()) else { return };
    let Some((source, _, target, _)) = copy_parts(op) else { return };
    if int(op, "count") == Some(1) {
        return;
    }
    for (memref, dim, step) in [(source, "from_dim", "from_step"), (target, "to_dim", "to_step")] {
        let Some(shape) = ty::shape(memref.ty()) else { continue };
        let last = shape.len().saturating_sub(1);
        let dim = int(op, dim).map_or(Some(last), |dim| usize::try_from(dim).ok());
        let Some(inner) = dim.and_then(|dim| shape.get(dim + 1..)) else { continue };
        let apart = inner.iter().fold(1u64, |apart, &dim| apart.saturating_mul(dim));
        let step = int(op, step).unwrap_or(1);
        if apart.saturating_mul(step.unsigned_abs()) != 1 {
            let ty = memref.ty();
            diag.error(op, format!("device.copy steps over elements of {ty}, @{name} cannot"))
                .note(way.op(), "the move is here")
                .help("use a strided move, or go along the last dimension by steps of one");
        }
    }
}

/// C5. A move that streams writes whole registers, side by side.
pub(super) fn copy_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(machine), Some(name)) = (Machine::of(op), symbol(op, "move")) else { return };
    let Some(way) = machine.move_named(name).filter(|way| way.streams()) else { return };
    let Some((_, _, target, _)) = copy_parts(op) else { return };
    let count = int(op, "count").unwrap_or(0).unsigned_abs();
    let bytes = ty::elem(target.ty()).and_then(ty::byte_size).map(|bytes| bytes * count);
    let whole = machine.memory(way.source()).and_then(|memory| memory.register_bytes());
    let aside = op.attr("to_dim").is_some() || op.attr("to_step").is_some();
    if bytes != whole || aside {
        diag.error(op, format!("device.copy writes {count} elements by @{name}, which streams"))
            .note(way.op(), "the move is here")
            .help("give it a whole register that goes to elements side by side");
    }
}

/// C1. The machine has the instruction.
pub(super) fn invoke_c1(op: Op<'_>, diag: &mut Diagnostics) {
    if let (Some(machine), Some(name)) = (Machine::of(op), symbol(op, "instruction")) {
        check_fact(op, machine, "device.instruction", name, diag);
    }
}

/// C2. One view per operand, in the operand's memory, of its element type, with
/// space for its shape; a single element may be elsewhere.
pub(super) fn invoke_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(machine), Some(name)) = (Machine::of(op), symbol(op, "instruction")) else { return };
    let Some(instruction) = machine.instruction(name) else { return };
    let Some(Ok([views, _])) = op.segments().map(<[_; 2]>::try_from) else { return };
    let operands = instruction.operand_types();
    if views.len() != operands.len() {
        let (views, operands) = (count(views.len(), "view"), operands.len());
        diag.error(op, format!("device.invoke gives {views} to @{name}, which takes {operands}"))
            .note(instruction.op(), "the instruction is here")
            .help("give one view per operand");
        return;
    }
    for (index, ((view, operand), memory)) in
        views.into_iter().zip(operands).zip(instruction.operands()).enumerate()
    {
        let ty = view.ty();
        let behind = machine.behind(memory).map_or(*memory, |memory| memory.name);
        let there = place(machine, ty) == Some(behind);
        let fits = (there || is_within_reach(machine, &instruction, index, ty))
            && ty::elem(ty) == elements(operand).map(|(_, elem)| elem)
            && match instruction.layouts().get(index) {
                Some(Some(layout)) => has_panels(ty, operand, layout),
                _ => has_room(ty, operand) || fills_register(machine, ty, operand),
            };
        if !fits {
            let what = format!("device.invoke gives {ty} to @{name}, whose operand {index} is");
            diag.error(op, format!("{what} {operand} in @{memory}"))
                .note(instruction.op(), "the instruction is here")
                .help("give it a view of the same memory and element type, at least as large in the last dimensions");
        }
    }
}

/// Returns whether an operand is one element that the lowering takes as a number, and a move goes
/// from where it lies to the registers of the result.
fn is_within_reach<'c>(
    machine: Machine<'c>,
    instruction: &Instruction<'c>,
    operand: usize,
    memref: Type<'c>,
) -> bool {
    let wanted = instruction.operand_types().get(operand).and_then(|ty| elements(*ty));
    let taken =
        instruction.lowering().and_then(|lowering| Some(lowering.args().get(operand)?.ty()));
    let number = wanted.is_some_and(|(count, elem)| count == 1 && taken == Some(elem));
    let from = ty::memory(memref).filter(|_| number);
    let to = instruction.operands().last();
    from.zip(to).is_some_and(|(from, to)| machine.move_between(from, to).is_some())
}

/// Returns whether the last dimensions of `memref` are no smaller than the shape of `operand`.
fn has_room(memref: Type<'_>, operand: Type<'_>) -> bool {
    // Nothing is known of shapes that are not static.
    let (Some(own), Some(shape)) = (ty::shape(memref), ty::shape(operand)) else { return true };
    own.len() >= shape.len()
        && own.iter().rev().zip(shape.iter().rev()).all(|(own, wanted)| own >= wanted)
}

/// Returns whether `memref` is registers each of which holds all elements of `operand`, one behind the other.
fn fills_register(machine: Machine<'_>, memref: Type<'_>, operand: Type<'_>) -> bool {
    let registers = machine.memory_of(memref).is_some_and(|memory| memory.is_registers());
    let (Some(own), Some(shape)) = (ty::shape(memref), ty::shape(operand)) else { return false };
    registers && own.last().is_some_and(|&last| last >= shape.iter().product())
}

/// Returns whether an operand of two dimensions fits the panels of `memref`.
fn has_panels(memref: Type<'_>, operand: Type<'_>, layout: &Layout) -> bool {
    let (Some(own), Some(shape)) = (ty::shape(memref), ty::shape(operand)) else { return true };
    let ([panels, rows, columns], [most_rows, all]) = (last(&own), last(&shape));
    let needed = all.div_ceil(layout.pitch.max(1));
    rows >= most_rows && panels >= needed && columns >= all.min(layout.pitch)
}

/// The last numbers of a list, ones where it has fewer.
fn last<const N: usize>(numbers: &[u64]) -> [u64; N] {
    let mut found = [1; N];
    for (own, number) in found.iter_mut().rev().zip(numbers.iter().rev()) {
        *own = *number;
    }
    found
}

/// C5. An operand with a layout is in a buffer that lies so.
pub(super) fn invoke_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(machine), Some(name)) = (Machine::of(op), symbol(op, "instruction")) else { return };
    let Some(instruction) = machine.instruction(name) else { return };
    let Some(Ok([views, _])) = op.segments().map(<[_; 2]>::try_from) else { return };
    for (index, (view, layout)) in views.into_iter().zip(instruction.layouts()).enumerate() {
        let (Some(layout), Some(shape)) = (layout, ty::shape(view.ty())) else { continue };
        let [rows, pitch] = last(&shape);
        let alloc = view.def().filter(|def| def.is("device.alloc"));
        let swizzle = alloc.and_then(|alloc| alloc.attr("swizzle")).and_then(attr::ints);
        let wanted = layout.swizzle.map(i64::from);
        let lies = pitch == layout.pitch && layout.rows.is_none_or(|own| own == rows);
        if !lies || swizzle.as_deref() != Some(&wanted[..]) {
            let ty = view.ty();
            let how = swizzle.map_or("no swizzle".to_owned(), |own| format!("swizzle {own:?}"));
            let dims: Vec<u64> = layout.rows.into_iter().chain([layout.pitch]).collect();
            diag.error(op, format!("device.invoke gives {ty} with {how} to @{name}"))
                .note(instruction.op(), "the instruction is here")
                .help(format!("operand {index} is in a buffer with last dimensions {dims:?} and swizzle {wanted:?}"));
        }
    }
}

/// C3. One index per dimension.
pub(super) fn invoke_c3(op: Op<'_>, diag: &mut Diagnostics) {
    if let Some(Ok([views, indices])) = op.segments().map(<[_; 2]>::try_from) {
        check_indices(op, &views, &indices, diag);
    }
}

/// C4. It gives a token if, and only if, an engine does the instruction.
pub(super) fn invoke_c4(op: Op<'_>, diag: &mut Diagnostics) {
    if let Some(name) = symbol(op, "instruction") {
        check_token(op, "device.instruction", name, diag);
    }
}

pub(super) fn check_indices(
    op: Op<'_>,
    views: &[Val<'_>],
    indices: &[Val<'_>],
    diag: &mut Diagnostics,
) {
    if View::deal(views, indices).is_none() {
        let ranks: Option<usize> = views.iter().map(|view| parts::rank(view.ty())).sum();
        let given = count(indices.len(), "index");
        diag.error(op, format!("{} gives {given} to {} dimensions", op.name(), ranks.unwrap_or(0)))
            .help("give one index per dimension of each view");
    }
}

/// C1. The scope is "core".
pub(super) fn arrive_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let scope = text(op, "scope").unwrap_or_default();
    if scope != Scope::Core.name() {
        diag.error(op, format!("device.arrive has the scope \"{scope}\""))
            .help("write \"core\": groups of a block arrive for those who ask for its boxes");
    }
}

/// The arrival that a transfer is after.
fn is_after<'c>(op: &Op<'c>) -> Option<Val<'c>> {
    Transfer::of(*op)?.after
}

/// C2. It is the only one in the body of a loop that is in no other loop, behind all waits of a round and all transfers that
/// are after one; some transfer there is after it.
pub(super) fn arrive_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let round = op.parent().filter(|own| own.is("scf.for"));
    let round = round.filter(|own| own.parent().is_some_and(|around| around.is("device.kernel")));
    let Some(ops) = round.and_then(|own| own.body(0)).map(|body| body.ops()) else {
        diag.error(op, "device.arrive is in no loop of its kernel, or in one of another loop")
            .help("put it at the end of a loop whose boxes are begun after it; elsewhere groups wait for each other by device.barrier");
        return;
    };
    let place = ops.iter().position(|own| *own == op).unwrap_or(0);
    let what = if ops.iter().any(|own| own.is("device.arrive") && *own != op) {
        "device.arrive is not the only one of its loop"
    } else if ops[place..].iter().any(|own| own.is("device.wait")) {
        "device.arrive is in front of a wait of its round"
    } else if ops[place..].iter().any(|own| is_after(own).is_some()) {
        "device.arrive is in front of a box of its round that is after another one"
    } else if !ops
        .iter()
        .any(|own| is_after(own).and_then(|after| arrival_of_round(*own, after)) == Some(op))
    {
        "device.arrive is in a loop no box of which is begun after it"
    } else {
        return;
    };
    diag.error(op, what).help("arrive once, at the end of a round, for boxes of the next one");
}

/// C1. The scope is one that a memory can have.
pub(super) fn barrier_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_scope(op, diag);
}
