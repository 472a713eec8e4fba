//! `tile-to-device`: the door from tile programs to the machine's instructions.
//!
//! ```text
//! tile.compute on @vfma lanes 1 tiles [l2 [64, 256, 768], vreg [12, 32, 1]]
//!   ->  device.kernel @mm tasks 6 {
//!         scf.for (register tiles of the rTask) {
//!           start the accumulators; scf.for k { device.copy @load B; device.invoke @vfma }
//!           device.copy @store } }
//! ```
//!
//! The choices stand in the tile program; this pass only applies them. Loops over
//! registers are `affine.for`, which the code generator unrolls. `tiles.rs` writes the
//! loops over tiles (`parts.rs` those over parts of a reduction), and for one tile `register_tile.rs`
//! and `register_steps.rs` what lanes do with it: `across_lanes.rs` where they fold, `across_rows.rs` for several rows
//! at once, `windowed.rs` where windows share what they read, `bordered.rs` where those reach
//! past a tensor's ends. `staged.rs` brings a tile near first, `matrix.rs` writes an instruction
//! that has axes of its own (`matrix_steps.rs`, `matrix_boxes.rs`), `moved.rs` what a move copies,
//! `block.rs` what several groups of lanes share, and `one_pass.rs` a softmax between two products,
//! whose rows they keep in registers.

mod across_lanes;
mod across_rows;
mod block;
mod block_ahead;
mod block_direct;
mod block_engine;
mod block_epilogue;
mod block_fold;
mod block_legal;
mod block_sides;
mod block_steps;
mod body;
mod bordered;
mod cluster;
mod coordinates;
mod group;
mod index;
mod legal;
mod lengths;
mod matrix;
mod matrix_boxes;
mod matrix_epilogue;
mod matrix_steps;
mod member;
mod moved;
mod one_pass;
mod one_pass_factor;
mod one_pass_piece;
mod one_pass_pieces;
mod one_pass_rows;
mod parts;
mod register_steps;
mod register_tile;
mod staged;
mod stitched;
mod stream;
mod tiles;
mod transfer;
mod view;
mod windowed;

use std::collections::{BTreeMap, HashMap, HashSet};

use weft_dialects::device::{Machine, build};
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Builder, Context, Mapping, Op, Report, Type, Val, attr, ty};
use weft_dialects::tile::{self, Compute, RTile, Schedule};

use crate::nest::grid::{task_count, task_grid};
use crate::nest::{self, Access, Nest};
use crate::tile::{Way, binding, gather, lanes_type, way_of};
use block::Blocks;
use bordered::Bordered;
use coordinates::coordinates;
use group::Group;
use index::Sum;
use matrix::{Ends, Matrix};
use member::{LocalTile, LocalTiles};
use moved::{copies, moved};
use register_tile::RegisterTile;
use staged::Staged;
use stitched::Stitched;
use stream::Stream;
use tiles::{Grow, Piece, Tiles};
use transfer::wait;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-to-device",
    description: "Write tile programs in the machine's instructions",
    options: &[],
    statistics: &[("kernels", "kernels written")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let machine = run.machine()?;
    keep_constants(run.context, run.module);
    let body = run.module.body(0).into_iter().flat_map(|block| block.ops());
    let uses = uses(run.module);
    for kernel in body.filter(|op| op.is("tile.kernel")) {
        // A kernel that only makes constants is evaluated, not run.
        if uses.get(kernel.symbol()).is_some_and(|uses| !uses.run) {
            continue;
        }
        lower(run.context, machine, kernel)?;
        run.count("kernels", 1);
    }
    Ok(())
}

/// Uses of a kernel.
#[derive(Clone, Default)]
struct Uses<'c> {
    /// The operations that evaluate it when the artifact is written.
    constants: Vec<Op<'c>>,
    /// True if it runs, too.
    run: bool,
}

fn uses<'c>(module: Op<'c>) -> BTreeMap<String, Uses<'c>> {
    let mut found: BTreeMap<String, Uses<'c>> = BTreeMap::new();
    module.walk(&mut |op| {
        if op.is("task.constant") || op.is("task.range") || op.is("tile.run") {
            let kernel = op.attr("kernel").and_then(attr::symbol).unwrap_or("");
            let uses = found.entry(kernel.to_owned()).or_default();
            if op.is("task.constant") { uses.constants.push(op) } else { uses.run = true }
        }
    });
    found
}

/// A kernel that makes a constant and also runs becomes two: the one that is evaluated
/// stays a tile program.
fn keep_constants<'c>(context: &'c Context, module: Op<'c>) {
    let uses = uses(module);
    let kernels = module.body(0).map(|block| block.ops()).unwrap_or_default();
    let taken: Vec<&str> = kernels.iter().map(|op| op.symbol()).collect();
    for kernel in kernels.iter().filter(|op| op.is("tile.kernel")) {
        let Some(uses) = uses.get(kernel.symbol()) else { continue };
        if uses.constants.is_empty() || !uses.run {
            continue;
        }
        let name = (0..)
            .map(|number| match number {
                0 => format!("{}_constant", kernel.symbol()),
                _ => format!("{}_constant_{number}", kernel.symbol()),
            })
            .find(|name| !taken.contains(&name.as_str()))
            .expect("names do not run out");
        let copy = Builder::before(context, *kernel).clone_op(*kernel, &mut Mapping::default());
        copy.set_attr("sym_name", attr::of_string(context, &name));
        for constant in &uses.constants {
            constant.set_attr("kernel", attr::of_symbol(context, &name));
        }
    }
}

/// A compute that is to be written, with its instruction, memories and schedule.
struct Plan<'c> {
    pub context: &'c Context,
    pub nest: Nest<'c>,
    /// Lane unit that starts accumulators, and computes unless an instruction does.
    pub unit: &'c str,
    /// The instruction, with the nest's operand for each of its own.
    pub instruction: Option<(&'c str, Vec<usize>)>,
    pub lanes_axis: Option<usize>,
    /// The axis of which each lane adds up all points at once.
    pub depth: Option<usize>,
    /// Lanes of a register; 1 without an axis for them.
    pub lanes: u64,
    /// The register file.
    pub registers: &'c str,
    /// From the kernel's memrefs to the registers and back.
    pub way: Way<'c>,
    /// Of the register tile.
    pub tile: RTile,
    /// The order of the tile's loops, its registers and moves.
    pub schedule: Schedule,
    /// The move of lanes of several registers into one.
    pub gather: Option<&'c str>,
    /// The store of whole registers past the caches, where that pays.
    pub stream: Option<Stream<'c>>,
    /// The kernel's memrefs, by the tensor they stand for.
    pub memrefs: HashMap<Val<'c>, Val<'c>>,
    /// Tensors whose last dimension is laid out in phases, one for each rest of the place by
    /// this number, so that lanes in steps of it lie side by side.
    pub phases: HashMap<Val<'c>, i64>,
    /// Tensors that lie in buffers of the kernel's own, behind whose elements a register may read.
    pub has_slack: HashSet<Val<'c>>,
    /// Tiles of what other computes of the kernel make, by the tensor.
    pub local_tiles: HashMap<Val<'c>, LocalTile<'c>>,
    /// Offset from this nest's points to the coordinates that bodies ask for.
    pub origin: Vec<Sum<'c>>,
}

impl<'c> Plan<'c> {
    /// How tiles grow where others end.
    fn grow(&self) -> Option<Grow> {
        self.schedule.grow.map(|axis| Grow { axis, lanes: self.lanes_axis })
    }

    /// The move that brings elements of a tensor to the registers.
    fn load_of(&self, access: &Access<'c>) -> &'c str {
        self.local_tiles
            .get(&access.tensor)
            .map_or(self.way.load.name, |local_tile| local_tile.moves[0])
    }

    /// The move that takes them back, not past the caches.
    fn plain_store_of(&self, access: &Access<'c>) -> &'c str {
        self.local_tiles
            .get(&access.tensor)
            .map_or(self.way.store.name, |local_tile| local_tile.moves[1])
    }
}

fn lower<'c>(context: &'c Context, machine: Machine<'c>, kernel: Op<'c>) -> Result<(), Failed> {
    let block = kernel.body(0).ok_or(Failed)?;
    let mut members = nest::read_members(kernel).map_err(|error| {
        Report::new(kernel.location(), format!("@{}: {error}", kernel.symbol()));
        Failed
    })?;
    let Some((compute, nest)) = members.last() else {
        Report::new(kernel.location(), format!("@{} has no tiles", kernel.symbol()))
            .help("run tile-construct-rtiles first");
        return Err(Failed);
    };
    for (compute, nest) in &members {
        check(machine, kernel, compute, nest)?;
    }
    let grid = task_grid(nest, &compute.tiles[0]);
    let tasks: u64 = grid.iter().product();

    let mut b = Builder::before(context, kernel);
    let memref = |arg: &Val<'c>| {
        ty::memref(
            &ty::shape(arg.ty()).expect("the nest was read"),
            ty::elem(arg.ty()).expect("the nest was read"),
            None,
        )
    };
    let types: Vec<Type<'c>> = block.args().iter().map(memref).collect();
    let new = build::kernel(&mut b, kernel.symbol(), tasks, &types);
    let (new, body, args) = (new.op, new.body, new.args());
    if let Some(count) = task_count(nest, &compute.tiles[0]) {
        new.set_attr("length", attr::of_string(context, &count.to_string()));
    }
    let memrefs: HashMap<_, _> = block.args().into_iter().zip(args).collect();
    let mut b = b.into_block(body);
    let starts = coordinates(&mut b, body.arg(0), &grid, nest, &compute.tiles[0]);
    let here = Here { context, machine, kernel, memrefs };
    cluster::write(context, kernel, new, &members, &grid)?;
    cluster::write_unit(context, new, &members);
    if one_pass::is_one_pass(machine, &members) {
        let groups = one_pass::write(&here, &mut b, &members, &starts)?;
        new.set_attr("groups", attr::of_int(context, groups as i64));
    } else if tile::Kernel::of(kernel).is_some_and(|kernel| kernel.is_stitched()) {
        Stitched { here: &here, members }.write(&mut b)?;
    } else if members.len() > 1 {
        Group::new(&here, members)?.write(&mut b, &grid, starts)?;
    } else {
        let (compute, nest) = members.remove(0);
        let piece = Piece { outer: &compute.tiles[0], grid: &grid, starts: &starts };
        if let Some(groups) = here.write(&mut b, &compute, nest, piece)? {
            new.set_attr("groups", attr::of_int(context, groups as i64));
        }
    }
    let mut asks = false;
    new.walk(&mut |op| asks |= op.is("device.length"));
    if asks && new.attr("length").is_none() {
        new.set_attr("length", attr::of_string(context, &tasks.to_string()));
    }
    kernel.erase();
    Ok(())
}

/// Checks that a compute has rTiles, and nothing that its instruction cannot do.
fn check<'c>(
    machine: Machine<'c>,
    kernel: Op<'c>,
    compute: &Compute<'c>,
    nest: &Nest<'c>,
) -> Result<(), Failed> {
    if compute.tiles.is_empty() {
        Report::new(kernel.location(), format!("@{} has no rTiles", kernel.symbol()))
            .help("give tile.compute one rTile for the rTask and one for the registers");
        return Err(Failed);
    }
    legal::check(machine, kernel, compute, nest)
}

/// The loops over tiles, outermost first.
fn loops(schedule: &Schedule, nest: &Nest<'_>) -> Vec<usize> {
    schedule.loops((0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)))
}

/// The kernel that is being written.
struct Here<'c> {
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    /// The new kernel's memrefs, by the old one's arguments.
    memrefs: HashMap<Val<'c>, Val<'c>>,
}

impl<'c> Here<'c> {
    /// Writes the only compute of a kernel, and says how many groups of lanes share it, if
    /// several do.
    fn write(
        &self,
        b: &mut Builder<'c>,
        compute: &Compute<'c>,
        nest: Nest<'c>,
        piece: Piece<'_, 'c>,
    ) -> Result<Option<u64>, Failed> {
        let Here { context, machine, kernel, .. } = *self;
        let memrefs = self.memrefs_of(&nest);
        if compute.layouts.is_some() {
            let blocks = Blocks::new(context, machine, kernel, compute, &nest, &memrefs)?;
            let groups = blocks.groups();
            blocks.write(b, piece.starts);
            return Ok((groups > 1).then_some(groups));
        }
        if compute.axes.is_some() {
            let inner = &compute.tiles[compute.tiles.len() - 1];
            let order = loops(&compute.schedule, &nest);
            let local_tiles = HashMap::new();
            let ends = Ends { memrefs: &memrefs, local_tiles: &local_tiles };
            let matrix = Matrix::new(context, machine, kernel, compute, &nest, ends)?;
            Tiles { nest: &nest, tile: inner, piece, order: &order, grow: None, repeats: None }
                .write(b, &|b, points| matrix.write(b, points));
            return Ok(None);
        }
        if let Some(way) = machine.move_named(compute.instruction) {
            if !copies(&nest) {
                let what = format!("@{} is no copy that @{} does", kernel.symbol(), way.name);
                Report::new(compute.op.location(), what)
                    .note(way.op(), "the move is here")
                    .help("a kernel on a move gives the elements of its one input, as they are");
                return Err(Failed);
            }
            let local_tiles = LocalTiles::new();
            let order: Vec<usize> = (0..nest.axes.len()).collect();
            let tiles = Tiles {
                nest: &nest,
                tile: piece.outer,
                piece,
                order: &order,
                grow: None,
                repeats: None,
            };
            let written = std::cell::Cell::new(Ok(()));
            tiles.write(b, &|b, points| match moved(self, b, &way, &nest, &local_tiles, points) {
                Ok(tokens) => wait(b, &tokens),
                Err(failed) => written.set(Err(failed)),
            });
            return written.into_inner().map(|()| None);
        }
        let plan = self.plan(compute, nest)?;
        self.lanes(b, compute, plan, piece)?;
        Ok(None)
    }

    /// The memrefs of a nest's tensors.
    fn memrefs_of(&self, nest: &Nest<'c>) -> HashMap<Val<'c>, Val<'c>> {
        let captures = nest.captures.iter();
        let captured = captures.map(|capture| (capture.value, self.memrefs[&capture.tensor]));
        self.memrefs.iter().map(|(arg, memref)| (*arg, *memref)).chain(captured).collect()
    }

    fn plan(&self, compute: &Compute<'c>, nest: Nest<'c>) -> Result<Plan<'c>, Failed> {
        let Here { context, machine, kernel, .. } = *self;
        let memrefs = self.memrefs_of(&nest);
        plan(context, machine, kernel, compute, nest, memrefs)
    }

    /// Writes what lanes do of a piece.
    fn lanes(
        &self,
        b: &mut Builder<'c>,
        compute: &Compute<'c>,
        mut plan: Plan<'c>,
        piece: Piece<'_, 'c>,
    ) -> Result<(), Failed> {
        let bordered = Bordered::new(b, self.machine, &mut plan);
        let nest = plan.nest.clone();
        let inner = plan.tile.clone();
        let order = loops(&plan.schedule, &nest);
        let whole =
            |tile| Tiles { nest: &nest, tile, piece, order: &order, grow: None, repeats: None };
        // What is stored for several rows at once, or read along them, goes from the first one on.
        let Schedule { transpose, combine_rows, slide, .. } = &plan.schedule;
        let alone = transpose.is_none() && combine_rows.is_none() && slide.is_empty();
        let repeats = alone.then_some(plan.lanes_axis);
        let around = |tile| Tiles { grow: plan.grow(), repeats, ..whole(tile) };
        if let Some(bordered) = bordered {
            bordered.surround(b, &plan);
            whole(&bordered.tile(piece.outer))
                .write(b, &|b, points| bordered.write(b, &plan, points));
            return Ok(());
        }
        if let Some(stage) = plan.way.stage.clone() {
            let staged = Staged { plan: &plan, stage: &stage };
            let mut tile = compute.tile_in(stage.memory.name).unwrap_or(&inner).clone();
            for (size, outer) in tile.sizes.iter_mut().zip(&piece.outer.sizes) {
                *size = (*size).min(*outer);
            }
            whole(&tile).write(b, &|b, points| staged.write(b, points));
            return Ok(());
        }
        match parts::of(self.kernel, compute, &nest)? {
            Some(parts) => parts.write(b, &nest, |b, part| {
                around(&inner).write(b, &|b, points| {
                    RegisterTile::new(&plan, points).part(part).write(b);
                });
            }),
            None => around(&inner).write(b, &|b, points| {
                RegisterTile::new(&plan, points).write(b);
            }),
        }
        Ok(())
    }
}

fn plan<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    compute: &Compute<'c>,
    nest: Nest<'c>,
    memrefs: HashMap<Val<'c>, Val<'c>>,
) -> Result<Plan<'c>, Failed> {
    let (outer, inner) = (&compute.tiles[0], &compute.tiles[compute.tiles.len() - 1]);
    let name = compute.instruction;
    let instruction = match machine.instruction(name) {
        Some(found) => match binding(&found, &nest, compute.lanes, &compute.schedule.operands) {
            Some(bound) => Some((name, bound)),
            None => {
                Report::new(
                    kernel.location(),
                    format!("@{name} does not mean what @{} computes", kernel.symbol()),
                )
                .note(found.op(), "its meaning is here")
                .help("name an instruction of the same body and operands, or a lane unit");
                return Err(Failed);
            }
        },
        None => None,
    };
    let depth = instruction.as_ref().and_then(|(_, bound)| bound.depth);
    let Some(registers) = machine.memory(&inner.memory).map(|memory| memory.name) else {
        Report::new(kernel.location(), format!("the machine has no memory @{}", inner.memory))
            .help("the last rTile lies in a register file of the machine");
        return Err(Failed);
    };
    let unit = match machine.lanes_unit(name) {
        Some(unit) => Some(unit),
        None => machine.lanes_units().into_iter().find(|unit| unit.memory() == registers),
    };
    let (Some(unit), Some(way)) = (unit, way_of(machine, compute)) else {
        Report::new(
            kernel.location(),
            format!("@{registers} lacks a lane unit, or a way from the shared memory and back"),
        )
        .help("give it a device.lanes, and moves there and back, at most by one other memory");
        return Err(Failed);
    };
    let widest = lanes_type(&nest).and_then(|elem| unit.lanes_for(elem)).unwrap_or(1);
    let axes = nest.axes.len();
    Ok(Plan {
        context,
        lanes: compute.lanes.map_or(1, |_| widest),
        unit: unit.name,
        instruction: instruction.map(|(name, bound)| (name, bound.operands)),
        lanes_axis: compute.lanes,
        depth,
        registers,
        gather: gather(machine, registers).map(|way| way.name),
        stream: Stream::of(machine, &compute.schedule, outer),
        schedule: compute.schedule.clone(),
        way,
        tile: inner.clone(),
        origin: vec![Sum::number(0); axes],
        phases: HashMap::new(),
        has_slack: HashSet::new(),
        local_tiles: HashMap::new(),
        memrefs,
        nest,
    })
}
