//! `tile-pack-weights`: operands lie in the order in which lanes read them.
//!
//! ```text
//! C[i, j] += A[i, k] * B[k, j]      B constant, lanes of 16 on j
//!   ->  P[jo, k, ji] = B[k, jo * 16 + ji]           once, when the artifact is written
//!       C[i, jo * 16 + ji] += A[i, k] * P[jo, k, ji]
//! ```
//!
//! The axis of the lanes is cut in panels of one register, each of them contiguous, so
//! that a register tile may be any number of panels wide. Where registers do not divide the
//! axis a panel is the part of it that wastes the fewest lanes; where all waste many, the
//! operand stays as it is. Lanes along a reduction find the
//! operand with that axis innermost, and so do groups of lanes that share tiles of a constant one. An operand that is not constant is packed anew in
//! every run where that moves less than reading it as it lies.

use std::collections::HashMap;

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{
    Builder, Context, Linear, Location, Op, Val, attr, empty_module, module_op,
};
use weft_dialects::tile::build::{self, RunOp};

use super::block::Repacked;
use super::chooser::Chooser;
use super::constants::constants;
use super::construct_rtiles::{choose, read};
use super::layout::{self, Layout};
use super::policy::{Lanes, Tiled};
use crate::nest::{self, Access, Loop, Nest, Start};

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-pack-weights",
    description: "Lay constant operands out in panels for the lanes that read them",
    options: &[],
    statistics: &[("packed", "operands laid out anew")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let machine = run.machine()?;
    let constants = constant_operands(run.module);
    let chooser = Chooser::of(run, machine);
    for kernel in kernels(run.module) {
        let nest = read(kernel)?;
        let constant = known_inputs(&nest, constants.get(kernel.symbol()));
        // Packing numbers the arguments by the nest's inputs.
        let in_order = nest
            .inputs
            .iter()
            .enumerate()
            .all(|(number, input)| input.argument().index() == number);
        if !in_order {
            continue;
        }
        let known: Vec<Layout> = constant.iter().map(|&constant| Layout::of(constant)).collect();
        let choice = choose(&chooser, kernel, &nest, &known)?;
        if let Tiled::Block(chosen) = &choice.tiled {
            let Some(Repacked { input, axis }) = chosen.repacked else { continue };
            let packed: Vec<bool> = (0..nest.inputs.len()).map(|own| own == input).collect();
            run.count("packed", 1);
            let packing = Packing { axis, panel: None, packed: &packed };
            pack(run.context, run.module, kernel, nest, &packing);
            continue;
        }
        // A transfer lays out what it brings as its reader likes it.
        let Tiled::Lanes(chosen) = choice.tiled else { continue };
        let Lanes { mapped, shape, packed, stage: None, .. } = *chosen else { continue };
        let Some(axis) = shape.lanes_axis.filter(|_| packed.contains(&true)) else { continue };
        // One panel is the axis itself.
        let extent = nest.axes[axis].extent;
        let panel = layout::panel(extent, mapped.lanes)
            .filter(|&panel| !nest.reduces(axis) && panel < extent)
            .filter(|_| nest.axes[axis].length.is_none());
        if panel.is_some_and(|panel| !takes_panels(&nest, axis, panel)) {
            continue;
        }
        run.count("packed", packed.iter().filter(|packed| **packed).count() as u64);
        let packing = Packing { axis, panel, packed: &packed };
        pack(run.context, run.module, kernel, nest, &packing);
    }
    Ok(())
}

/// The layout of a kernel's packed operands.
struct Packing<'p> {
    /// The axis of the lanes.
    axis: usize,
    /// Points of a panel; `None` where the axis is one panel.
    panel: Option<u64>,
    /// Whether each input is packed.
    packed: &'p [bool],
}

/// Returns whether each output has the panels of an axis as dimensions of its own: a body that reads
/// nothing takes the extents of axes from there.
pub(super) fn takes_panels(nest: &Nest<'_>, axis: usize, panel: u64) -> bool {
    let mut cut = nest.clone();
    cut.split(axis, panel);
    let plain = |index: &Linear| index.as_moved_axis().is_some() || index.is_constant();
    let before = nest.outputs.iter().flat_map(|output| &output.index);
    // What was not plain before has its extents from elsewhere.
    !before.clone().all(plain) || cut.outputs.iter().flat_map(|output| &output.index).all(plain)
}

/// Kernels whose tiles are not chosen yet.
pub(super) fn kernels<'c>(module: Op<'c>) -> Vec<Op<'c>> {
    let plain = |kernel: &Op<'c>| {
        kernel.body(0).is_some_and(|body| !body.ops().iter().any(|op| op.is("tile.compute")))
    };
    let body = module.body(0).into_iter().flat_map(|block| block.ops());
    body.filter(|op| op.is("tile.kernel")).filter(plain).collect()
}

/// For every kernel, which of its arguments are constant wherever it is applied.
pub(super) fn constant_operands(module: Op<'_>) -> HashMap<String, Vec<bool>> {
    let mut found: HashMap<String, Vec<bool>> = HashMap::new();
    let graphs = module.body(0).into_iter().flat_map(|block| block.ops());
    for graph in graphs.filter(|op| op.is("tile.graph")) {
        let constant = constants(graph);
        let ops = graph.body(0).into_iter().flat_map(|block| block.ops());
        for run in ops.filter(|op| op.is("tile.run")) {
            let known = run.operands().into_iter().map(|operand| constant.contains(&operand));
            let name = run.attr("kernel").and_then(attr::symbol).unwrap_or("").to_owned();
            let all = found.entry(name).or_insert_with(|| vec![true; run.operands().len()]);
            all.iter_mut().zip(known).for_each(|(all, known)| *all &= known);
        }
    }
    found
}

/// Per input of a nest, whether its tensor is constant.
pub(super) fn known_inputs(nest: &Nest<'_>, arguments: Option<&Vec<bool>>) -> Vec<bool> {
    let known = |access: &Access<'_>| {
        arguments.is_some_and(|known| known.get(access.argument().index()) == Some(&true))
    };
    nest.inputs.iter().map(known).collect()
}

fn pack<'c>(
    context: &'c Context,
    module: Op<'c>,
    kernel: Op<'c>,
    nest: Nest<'c>,
    packing: &Packing<'_>,
) {
    let name = kernel.symbol().to_owned();
    let (new, packers) = repack(context, module, &name, nest, packing);
    kernel.erase();
    new.set_attr("sym_name", attr::of_string(context, &name));
    rewire(context, module, new, &packers);
}

/// Writes a kernel whose packed inputs are new tensors, and the kernels that make them.
fn repack<'c>(
    context: &'c Context,
    module: Op<'c>,
    name: &str,
    mut nest: Nest<'c>,
    &Packing { axis, panel, packed }: &Packing<'_>,
) -> (Op<'c>, Vec<(usize, Op<'c>)>) {
    let (index, last) = match panel {
        Some(panel) => {
            let index = nest.split(axis, panel);
            (index, nest.axes.len() - 1)
        }
        None => ((0..nest.axes.len()).map(|n| Linear::axis(nest.axes.len(), n)).collect(), axis),
    };
    let mut packers = Vec::new();
    for number in (0..nest.inputs.len()).filter(|&number| packed[number]) {
        let access = &nest.inputs[number];
        let order = layout::packed_order(&nest, access, axis, last);
        let lying = layout::packed(&nest, access, &order);
        let packer = format!("{name}_pack_{number}");
        let own = order.iter().zip(&lying.shape);
        // Of a tensor whose length callers decide, what is there is laid out.
        let axes: Vec<_> = own
            .map(|(&axis, &extent)| Loop {
                length: nest.axes[axis].length,
                ..Loop::parallel(extent)
            })
            .collect();
        let kernel = emit_packer(context, module, &packer, access, &order, &axes);
        packers.push((number, kernel));
        nest.inputs[number] = lying;
    }
    (nest::emit_kernel(context, module, "packed", &nest, &index), packers)
}

/// The kernel that writes `access` in the order `order` of the nest's axes, which are `loops` there.
pub(super) fn emit_packer<'c>(
    context: &'c Context,
    module: Op<'c>,
    name: &str,
    access: &Access<'c>,
    order: &[usize],
    loops: &[Loop],
) -> Op<'c> {
    let axes = order.len();
    let shape: Vec<u64> = loops.iter().map(|own| own.extent).collect();
    let read = |index: &Linear| Linear {
        coefficients: order.iter().map(|&axis| index.coefficients[axis]).collect(),
        constant: index.constant,
    };
    let identity: Vec<Linear> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
    // A body that copies, written into a module that is thrown away.
    let scratch = empty_module(context);
    let block = module_op(&scratch).body(0).expect("a module has a block");
    let mut payload = Payload::new(context, block, Location::unknown(context));
    let target = payload.empty(&shape, access.elem());
    let kinds = vec![Axis::Parallel; axes];
    let copy = payload.generic(
        &kinds,
        &[(target, identity.clone())],
        &[(target, identity.clone())],
        |_, args| vec![args[0]],
    )[0];
    let body = copy.def().and_then(|op| op.body(0)).expect("a nest has a body");
    let nest = Nest {
        axes: loops.to_vec(),
        inputs: vec![Access {
            tensor: access.tensor,
            shape: access.shape.clone(),
            index: access.index.iter().map(read).collect(),
        }],
        outputs: vec![Access { tensor: target, shape, index: identity }],
        body,
        starts: vec![Start::Unread],
        epilogue: None,
        captures: Vec::new(),
    };
    nest::emit_kernel(context, module, name, &nest, &[])
}

/// Packs the operand of every application of the kernel, each tensor once, and
/// shows it the others in the shapes that it takes now.
pub(super) fn rewire<'c>(
    context: &'c Context,
    module: Op<'c>,
    kernel: Op<'c>,
    packers: &[(usize, Op<'c>)],
) {
    let types: Vec<_> = kernel
        .body(0)
        .map(|block| block.args().iter().map(|arg| arg.ty()).collect())
        .unwrap_or_default();
    let graphs = module.body(0).into_iter().flat_map(|block| block.ops());
    for graph in graphs.filter(|op| op.is("tile.graph")) {
        let mut done: HashMap<(Val<'c>, usize), Val<'c>> = HashMap::new();
        for run in graph.body(0).into_iter().flat_map(|block| block.ops()) {
            let applies = run.attr("kernel").and_then(attr::symbol) == Some(kernel.symbol());
            if !run.is("tile.run") || !applies {
                continue;
            }
            for (number, packer) in packers {
                let source = run.operand(*number);
                let packed = *done
                    .entry((source, *number))
                    .or_insert_with(|| apply_packer(context, module, run, source, *packer));
                run.set_operand(*number, packed);
            }
            reshape_operands(context, run, &types);
        }
    }
}

/// Views in front of operands, and behind results, whose shapes changed.
fn reshape_operands<'c>(context: &'c Context, run: Op<'c>, types: &[weft_dialects::ir::Type<'c>]) {
    let mut b = Builder::before(context, run);
    for (number, (operand, ty)) in run.operands().into_iter().zip(types).enumerate() {
        if operand.ty() != *ty {
            run.set_operand(number, build::view(&mut b, operand, *ty));
        }
    }
    let mut b = Builder::after(context, run);
    let outputs = &types[types.len() - run.results().len()..];
    for (result, ty) in run.results().into_iter().zip(outputs) {
        let before = result.ty();
        if before == *ty {
            continue;
        }
        let uses = result.uses();
        result.set_ty(*ty);
        let view = build::view(&mut b, result, before);
        for (user, number) in uses {
            user.set_operand(number, view);
        }
    }
}

fn apply_packer<'c>(
    context: &'c Context,
    module: Op<'c>,
    run: Op<'c>,
    source: Val<'c>,
    packer: Op<'c>,
) -> Val<'c> {
    let args = packer.body(0).expect("the packer was just made").args();
    let memory = Machine::of(module).and_then(|machine| machine.shared());
    let memory = memory.map_or("dram", |memory| memory.name);
    let mut b = Builder::before(context, run);
    let mut source = source;
    if source.ty() != args[0].ty() {
        source = build::view(&mut b, source, args[0].ty());
    }
    let place = build::empty(&mut b, memory, args[1].ty());
    let kernel = packer.symbol();
    let name = run.attr("name").and_then(attr::string).unwrap_or(kernel);
    RunOp { name, kernel, inputs: &[source], inits: &[place], at: &[] }.build(&mut b).result(0)
}
