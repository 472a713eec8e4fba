//! A tile that waits in a memory between the shared one and the registers.
//!
//! ```text
//! start the outputs in @spad
//! for (tiles of the reductions) { transfer the inputs to @spad; lanes fold them in }
//! the epilogue on the outputs in @spad, unless the reductions were one tile
//! transfer the outputs back
//! ```
//!
//! A staged tile is computed by a nest of its own, on buffers instead of tensors, which is written
//! by the code that writes a whole kernel elsewhere (`register_tile.rs`). A tile that another compute of
//! the kernel made, or will read, is there already: it is read and written in its buffer.

use std::collections::{HashMap, HashSet};

use weft_dialects::ir::{Block, Builder, Val, ty};
use weft_dialects::tile::{RTile, Schedule};

use super::index::{Sum, scf_for};
use super::register_tile::RegisterTile;
use super::tiles::{Piece, Points, Tiles};
use super::transfer::{Boxed, Pending, alloc, first};
use super::view::View;
use super::{Plan, loops};
use crate::nest::{Access, Epilogue, Nest, Start, row_major};
use crate::tile::Stage;
use crate::tile::local::{self, Local};

/// Writes the code of a tile.
type EachTile<'f, 'c> = &'f mut dyn FnMut(&mut Builder<'c>, Points<'_, 'c>);

/// Tiles that are staged in a memory, computed on and stored.
pub(super) struct Staged<'p, 'c> {
    pub plan: &'p Plan<'c>,
    pub stage: &'p Stage<'c>,
}

/// The buffers of a tile.
struct Buffers<'c> {
    /// Of each output's tile.
    outputs: Vec<OutputTile<'c>>,
    /// Of tensors that the body reads at computed addresses, by the value that it reads.
    captured: HashMap<Val<'c>, Val<'c>>,
}

/// A start or an epilogue: a body on every element of an output's tile.
struct Elementwise<'e, 'c> {
    inputs: &'e [Access<'c>],
    body: Block<'c>,
    output: &'e OutputTile<'c>,
    /// What the elements hold before.
    start: Start<'c>,
}

impl<'c> Staged<'_, 'c> {
    /// The code of one tile.
    pub fn write(&self, b: &mut Builder<'c>, points: Points<'_, 'c>) {
        let Points { at, sizes, .. } = points;
        let nest = &self.plan.nest;
        let captured = self.captured(b);
        let outputs = nest.outputs.iter().map(|output| self.output(b, output, sizes)).collect();
        let buffers = Buffers { outputs, captured };
        let outputs = &buffers.outputs;
        let cut =
            (0..sizes.len()).any(|axis| nest.reduces(axis) && sizes[axis] < nest.axes[axis].extent);
        if cut {
            self.start(b, points, &buffers);
            let reductions: Vec<usize> =
                (0..sizes.len()).filter(|&axis| nest.reduces(axis)).collect();
            // Loops of one round free what they took before the epilogue takes it.
            let ends = [Sum::number(0), Sum::number(1)];
            scf_for(b, &ends[0], &ends[1], 1, |b, _| {
                self.reduction_tiles(b, &reductions, points, &mut |b, points| {
                    let starts = vec![Start::Held; outputs.len()];
                    self.fold(b, points, &buffers, starts, None);
                });
            });
            self.finish(b, points, &buffers);
        } else {
            let mut pending = Pending::default();
            let held = nest.outputs.iter().zip(&nest.starts).zip(outputs);
            for ((output, start), near) in held {
                if let (Start::Held, OutputTile::Own(buffer, tile)) = (start, near) {
                    self.bring(b, &mut pending, output, at, (*buffer, tile));
                }
            }
            pending.wait(b);
            let (starts, epilogue) = (nest.starts.clone(), nest.epilogue.clone());
            self.fold(b, points, &buffers, starts, epilogue);
        }
        let mut pending = Pending::default();
        for (output, near) in nest.outputs.iter().zip(outputs) {
            let OutputTile::Own(buffer, tile) = near else { continue };
            let (near, far) = self.ends(b, output, at, (*buffer, tile));
            pending.transfer(b, &self.stage.store, &near, &far, &tile.shape);
        }
        pending.wait(b);
    }

    /// Tensors that the body reads at computed addresses, brought near whole.
    fn captured(&self, b: &mut Builder<'c>) -> HashMap<Val<'c>, Val<'c>> {
        let mut pending = Pending::default();
        let mut near = HashMap::new();
        for capture in &self.plan.nest.captures {
            let tensor = self.plan.memrefs[&capture.tensor];
            let shape = ty::shape(tensor.ty()).expect("the nest was read");
            let elem = ty::elem(tensor.ty()).expect("the nest was read");
            let buffer = alloc(b, &shape, elem, self.stage.memory.name);
            let [from, to] = [tensor, buffer]
                .map(|memref| Boxed { view: first(b, memref), strides: row_major(&shape) });
            pending.transfer(b, &self.stage.load, &from, &to, &shape);
            near.insert(capture.value, buffer);
        }
        pending.wait(b);
        near
    }

    fn output(&self, b: &mut Builder<'c>, access: &Access<'c>, sizes: &[u64]) -> OutputTile<'c> {
        if self.plan.local_tiles.contains_key(&access.tensor) {
            return OutputTile::Shared(access.clone());
        }
        let tile = local::output(access, sizes, self.plan.lanes_axis);
        OutputTile::Own(alloc(b, &tile.shape, access.elem(), self.stage.memory.name), tile)
    }

    /// The box in the buffer and the one in the tensor, for a tile at `at`.
    fn ends(
        &self,
        b: &mut Builder<'c>,
        access: &Access<'c>,
        at: &[Sum<'c>],
        (buffer, tile): (Val<'c>, &Local),
    ) -> (Boxed<'c>, Boxed<'c>) {
        let near = Boxed { view: first(b, buffer), strides: row_major(&tile.shape) };
        let indices = access
            .index
            .iter()
            .zip(&tile.below)
            .map(|(index, below)| Sum::of(index, at).plus(&Sum::number(-below), 1).emit(b));
        let view = View { memref: self.plan.memrefs[&access.tensor], indices: indices.collect() };
        (near, Boxed { view, strides: tile.strides.clone() })
    }

    fn bring(
        &self,
        b: &mut Builder<'c>,
        pending: &mut Pending<'c>,
        access: &Access<'c>,
        at: &[Sum<'c>],
        buffer: (Val<'c>, &Local),
    ) {
        let (near, far) = self.ends(b, access, at, buffer);
        pending.transfer(b, &self.stage.load, &far, &near, &buffer.1.shape);
    }

    /// Inputs of `body` brought near, as accesses of the tile's own nest. What only gives
    /// a window its size is read by nobody and stays where it is, as does what is near already.
    fn inputs(
        &self,
        b: &mut Builder<'c>,
        pending: &mut Pending<'c>,
        accesses: &[Access<'c>],
        body: Block<'c>,
        Points { at, sizes, .. }: Points<'_, 'c>,
    ) -> Vec<Access<'c>> {
        let on_lanes =
            |access: &Access<'c>| self.plan.lanes_axis.is_some_and(|axis| access.uses(axis));
        accesses
            .iter()
            .zip(body.args())
            .map(|(access, arg)| {
                let near = self.plan.local_tiles.contains_key(&access.tensor);
                if near || arg.uses().is_empty() && !on_lanes(access) {
                    return access.clone();
                }
                let tile = local::input(access, sizes, self.plan.lanes_axis);
                let buffer = alloc(b, &tile.shape, access.elem(), self.stage.memory.name);
                self.bring(b, pending, access, at, (buffer, &tile));
                OutputTile::Own(buffer, tile).access()
            })
            .collect()
    }

    /// Gives the outputs their first values.
    fn start(&self, b: &mut Builder<'c>, points: Points<'_, 'c>, buffers: &Buffers<'c>) {
        let nest = &self.plan.nest;
        let once = self.once(points.sizes);
        let once = Points { sizes: &once, ..points };
        for (number, start) in nest.starts.iter().enumerate() {
            let (access, near) = (&nest.outputs[number], &buffers.outputs[number]);
            let mut pending = Pending::default();
            match (start, near) {
                (Start::Held, OutputTile::Own(buffer, tile)) => {
                    self.bring(b, &mut pending, access, points.at, (*buffer, tile));
                }
                (Start::Unread | Start::Held, _) => {}
                (Start::From { inputs, body }, _) => {
                    let (body, start) = (*body, Start::Unread);
                    let elementwise = Elementwise { inputs, body, output: near, start };
                    self.elementwise(b, once, elementwise, buffers);
                }
            }
            pending.wait(b);
        }
    }

    /// The epilogue on what waits of the output.
    fn finish(&self, b: &mut Builder<'c>, points: Points<'_, 'c>, buffers: &Buffers<'c>) {
        let nest = &self.plan.nest;
        let Some(Epilogue { inputs, body }) = &nest.epilogue else { return };
        let (body, output) = (*body, &buffers.outputs[0]);
        let once = Points { sizes: &self.once(points.sizes), ..points };
        let elementwise = Elementwise { inputs, body, output, start: Start::Held };
        self.elementwise(b, once, elementwise, buffers);
    }

    /// Does a start or an epilogue, on points that are folded already.
    fn elementwise(
        &self,
        b: &mut Builder<'c>,
        once: Points<'_, 'c>,
        Elementwise { inputs, body, output, start }: Elementwise<'_, 'c>,
        buffers: &Buffers<'c>,
    ) {
        let mut pending = Pending::default();
        let own = Nest {
            axes: self.plan.nest.axes.clone(),
            inputs: self.inputs(b, &mut pending, inputs, body, once),
            outputs: vec![output.access()],
            body,
            starts: vec![start],
            epilogue: None,
            captures: Vec::new(),
        };
        pending.wait(b);
        let ends = [Sum::number(0), Sum::number(1)];
        // It is no instruction; and a loop of one round frees what it took.
        scf_for(b, &ends[0], &ends[1], 1, |b, _| self.run(b, own, once, buffers, false));
    }

    /// The sizes of a tile whose points are folded already.
    fn once(&self, sizes: &[u64]) -> Vec<u64> {
        let once = |(axis, &size)| if self.plan.nest.reduces(axis) { 1 } else { size };
        sizes.iter().enumerate().map(once).collect()
    }

    /// Brings the inputs of some points near and folds them into the outputs.
    fn fold(
        &self,
        b: &mut Builder<'c>,
        points: Points<'_, 'c>,
        buffers: &Buffers<'c>,
        starts: Vec<Start<'c>>,
        epilogue: Option<Epilogue<'c>>,
    ) {
        let nest = &self.plan.nest;
        let mut pending = Pending::default();
        let inputs = self.inputs(b, &mut pending, &nest.inputs, nest.body, points);
        let starts = starts
            .into_iter()
            .map(|start| match start {
                Start::From { inputs, body } => Start::From {
                    inputs: self.inputs(b, &mut pending, &inputs, body, points),
                    body,
                },
                other => other,
            })
            .collect();
        let once = Points { sizes: &self.once(points.sizes), ..points };
        let epilogue = epilogue.map(|Epilogue { inputs, body }| Epilogue {
            inputs: self.inputs(b, &mut pending, &inputs, body, once),
            body,
        });
        pending.wait(b);
        let outputs = buffers.outputs.iter().map(OutputTile::access).collect();
        let own = Nest {
            axes: nest.axes.clone(),
            inputs,
            outputs,
            body: nest.body,
            starts,
            epilogue,
            captures: nest.captures.clone(),
        };
        self.run(b, own, points, buffers, true);
    }

    /// The tile's own nest, in register tiles.
    fn run(
        &self,
        b: &mut Builder<'c>,
        mut own: Nest<'c>,
        Points { at, sizes, .. }: Points<'_, 'c>,
        buffers: &Buffers<'c>,
        by_instruction: bool,
    ) {
        let plan = self.plan;
        for (axis, &size) in own.axes.iter_mut().zip(sizes) {
            axis.extent = size;
        }
        let mut memrefs = plan.memrefs.clone();
        memrefs.extend(buffers.captured.iter().map(|(value, buffer)| (*value, *buffer)));
        let tile = RTile {
            memory: plan.tile.memory.clone(),
            sizes: plan.tile.sizes.iter().zip(sizes).map(|(tile, size)| *tile.min(size)).collect(),
        };
        let outer = RTile { memory: String::new(), sizes: sizes.to_vec() };
        // A start has no points along an axis that reduces, so it has no lanes there.
        let lanes_axis = plan.lanes_axis.filter(|&axis| by_instruction || !own.reduces(axis));
        let near = Plan {
            context: plan.context,
            unit: plan.unit,
            instruction: plan.instruction.clone().filter(|_| by_instruction),
            lanes_axis,
            depth: plan.depth.filter(|_| by_instruction),
            lanes: lanes_axis.map_or(1, |_| plan.lanes),
            registers: plan.registers,
            way: plan.way.clone(),
            tile: tile.clone(),
            schedule: if by_instruction { plan.schedule.clone() } else { Schedule::default() },
            memrefs,
            phases: HashMap::new(),
            gather: None,
            stream: None,
            has_slack: HashSet::new(),
            local_tiles: plan.local_tiles.clone(),
            origin: at.to_vec(),
            nest: own,
        };
        let mut ends = tile.sizes.iter().zip(sizes);
        let ragged = ends.any(|(&tile, size)| tile > 0 && !size.is_multiple_of(tile));
        let order = loops(&near.schedule, &near.nest);
        let grid = vec![1; order.len()];
        let starts = vec![Sum::number(0); sizes.len()];
        let piece = Piece { outer: &outer, grid: &grid, starts: &starts };
        let tiles = Tiles {
            nest: &near.nest,
            tile: &tile,
            piece,
            order: &order,
            grow: None,
            repeats: None,
        };
        tiles.write(b, &|b, points| {
            let write = |b: &mut Builder<'c>| RegisterTile::new(&near, points).write(b);
            // Loops of one round free what one tile took before the next one begins.
            match ragged {
                true => scf_for(b, &Sum::number(0), &Sum::number(1), 1, |b, _| write(b)),
                false => write(b),
            }
        });
    }

    /// Loops over the tiles of the reductions that are staged at once; a ragged last one is
    /// written apart.
    fn reduction_tiles(
        &self,
        b: &mut Builder<'c>,
        axes: &[usize],
        points: Points<'_, 'c>,
        body: EachTile<'_, 'c>,
    ) {
        let Some((&axis, rest)) = axes.split_first() else {
            body(b, points);
            return;
        };
        let Points { at, sizes, .. } = points;
        each_step(b, self.plan.nest.axes[axis].extent, sizes[axis], &mut |b, place, size| {
            let (mut at, mut sizes) = (at.to_vec(), sizes.to_vec());
            at[axis] = place;
            sizes[axis] = size;
            self.reduction_tiles(b, rest, Points { at: &at, sizes: &sizes, ends: &[] }, body);
        });
    }
}

/// Steps of `size` through `extent`, and the rest.
pub(super) fn each_step<'c>(
    b: &mut Builder<'c>,
    extent: u64,
    size: u64,
    body: &mut dyn FnMut(&mut Builder<'c>, Sum<'c>, u64),
) {
    let whole = extent - extent % size;
    // A loop, even of one round, frees what a step took before the rest begins.
    if whole == size && whole == extent {
        body(b, Sum::number(0), size);
    } else if whole > 0 {
        let bounds = [Sum::number(0), Sum::number(whole as i64)];
        scf_for(b, &bounds[0], &bounds[1], size as i64, |b, iv| body(b, Sum::value(iv), size));
    }
    if whole < extent {
        body(b, Sum::number(whole as i64), extent - whole);
    }
}

/// The buffer of an output's tile.
enum OutputTile<'c> {
    /// In a buffer of its own, until it is transferred to the tensor.
    Own(Val<'c>, Local),
    /// In the local tile from which other computes of the kernel read it.
    Shared(Access<'c>),
}

impl<'c> OutputTile<'c> {
    /// As an access of the tile's own nest.
    fn access(&self) -> Access<'c> {
        match self {
            OutputTile::Own(buffer, tile) => {
                Access { tensor: *buffer, shape: tile.shape.clone(), index: tile.index.clone() }
            }
            OutputTile::Shared(access) => access.clone(),
        }
    }
}
