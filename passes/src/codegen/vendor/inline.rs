//! An invocation as the instruction's lowering, on byte addresses.

use weft_dialects::device::{Instruction, Invoke, Machine, View};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{
    Builder, Context, Linear, Mapping, Op, Report, Type, Val, affine, attr, ty,
};

use super::is_own;
use super::rooms::{Rooms, strides};

/// Puts the lowering in the place of the invocation, where it has operations of the
/// vendor's; whether it did.
pub fn expand<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    rooms: &Rooms<'c>,
    invoke: &Invoke<'c>,
) -> Result<bool, Failed> {
    let Some(instruction) = machine.instruction(invoke.instruction) else { return Ok(false) };
    if !is_vendors(machine, &instruction) {
        return Ok(false);
    }
    let Some(lowering) = instruction.lowering() else { return Ok(false) };
    let mut b = Builder::before(context, invoke.op);
    let mut map = Mapping::default();
    for (arg, view) in lowering.args().into_iter().zip(&invoke.views) {
        let value = if ty::is_index(arg.ty()) {
            address(&mut b, machine, rooms, view)
        } else {
            load(&mut b, view, arg.ty())
        };
        map.set(arg, value);
    }
    for op in lowering.ops() {
        if !op.is("device.yield") {
            b.clone_op(op, &mut map);
            continue;
        }
        // Results overwrite the last operands that have no address.
        let results = op.operands();
        let args = lowering.args().into_iter().zip(&invoke.views);
        let views: Vec<_> =
            args.filter(|(arg, _)| !ty::is_index(arg.ty())).map(|(_, view)| view).collect();
        let first = views.len().saturating_sub(results.len());
        for (result, view) in results.into_iter().zip(&views[first..]) {
            store(&mut b, map.get(result), view);
        }
    }
    waits(context, &instruction, invoke)?;
    invoke.op.erase();
    Ok(true)
}

/// Whether the lowering has an operation of the machine's own dialects.
pub fn is_vendors(machine: Machine<'_>, instruction: &Instruction<'_>) -> bool {
    let names = machine.vendor_operations();
    let mut own = false;
    if let Some(lowering) = instruction.lowering() {
        for op in lowering.iter() {
            op.walk(&mut |op| own |= is_own(&names, op));
        }
    }
    own
}

/// The byte address of the first element of a view. That of a tensor in the shared memory
/// is known when the program runs.
fn address<'c>(
    b: &mut Builder<'c>,
    machine: Machine<'c>,
    rooms: &Rooms<'c>,
    view: &View<'c>,
) -> Val<'c> {
    let memref = view.memref;
    let (base, strides) = match rooms.of(memref) {
        Some(room) => (room.address, room.strides.clone()),
        None => {
            let strides =
                machine.memory_of(memref.ty()).map(|memory| strides(&memory, memref.ty()));
            (0, strides.unwrap_or_default())
        }
    };
    let axes = view.indices.len();
    let mut sum = Linear::constant(axes, base as i64);
    for (dim, stride) in strides.into_iter().enumerate() {
        sum = sum.plus(dim, stride as i64);
    }
    let context = b.context();
    let index = Type::index(context);
    let map = ("map", affine::map(context, axes, &[sum]));
    let inside = b.op_with("affine.apply", &view.indices, &[index], &[map], 0).result(0);
    if rooms.of(memref).is_some() {
        return inside;
    }
    let base = b.op("memref.extract_aligned_pointer_as_index", &[memref], &[index]).result(0);
    b.op("arith.addi", &[base, inside], &[index]).result(0)
}

fn operands<'c>(view: &View<'c>) -> Vec<Val<'c>> {
    std::iter::once(view.memref).chain(view.indices.iter().copied()).collect()
}

fn load<'c>(b: &mut Builder<'c>, view: &View<'c>, ty: Type<'c>) -> Val<'c> {
    let name = if ty::is_vector(ty) { "vector.load" } else { "memref.load" };
    b.op(name, &operands(view), &[ty]).result(0)
}

fn store<'c>(b: &mut Builder<'c>, value: Val<'c>, view: &View<'c>) {
    let name = if ty::is_vector(value.ty()) { "vector.store" } else { "memref.store" };
    let mut all = vec![value];
    all.extend(operands(view));
    b.op(name, &all, &[]);
}

/// What waited for the invocation waits for its engine.
fn waits<'c>(
    context: &'c Context,
    instruction: &Instruction<'c>,
    invoke: &Invoke<'c>,
) -> Result<(), Failed> {
    let (Some(engine), Some(&token)) = (instruction.engine, invoke.op.results().first()) else {
        return Ok(());
    };
    let users: Vec<Op<'c>> = token.uses().into_iter().map(|(user, _)| user).collect();
    for wait in users {
        if !wait.is("device.wait") {
            Report::new(
                wait.location(),
                format!("{} passes on the token of @{}", wait.name(), instruction.name),
            )
            .note(invoke.op, "it is invoked here")
            .help("wait for it in the block that invokes it");
            return Err(Failed);
        }
        let mut engines = engines_of(wait);
        if !engines.contains(&engine) {
            engines.push(engine);
        }
        let rest: Vec<_> =
            wait.operands().into_iter().filter(|operand| *operand != token).collect();
        let names: Vec<_> =
            engines.into_iter().map(|engine| attr::of_symbol(context, engine)).collect();
        let engines = ("engines", attr::of_array(context, &names));
        Builder::before(context, wait).op_with("device.wait", &rest, &[], &[engines], 0);
        wait.erase();
    }
    Ok(())
}

/// The engines that a `device.wait` waits for whole.
pub fn engines_of<'c>(wait: Op<'c>) -> Vec<&'c str> {
    let names = wait.attr("engines").and_then(attr::array).unwrap_or_default();
    names.into_iter().filter_map(attr::symbol).collect()
}
