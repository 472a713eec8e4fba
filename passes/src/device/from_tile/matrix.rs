//! A tile for an instruction that has axes of its own.
//!
//! ```text
//! C = start                                     blocks of the instruction's operand
//! for (steps of the reductions) {
//!   transfer A, B into blocks                   what is left over of a block is zero
//!   for (blocks of the tile) device.invoke @mac(A[i, k], B[k, j], C[i, j]) }
//! transfer C back
//! ```
//!
//! Buffers hold whole operands one after the other, so that each is where the
//! instruction finds it; transfers do the layout.

use std::collections::HashMap;

use weft_dialects::device::{Machine, Move, build};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Attribute, Builder, Context, Op, Report, Type, Val, attr, ty};
use weft_dialects::tile::Compute;

use super::index::{Sum, scf_for_carrying, unrolled};
use super::matrix_boxes::OperandBlocks;
use super::matrix_epilogue::Room;
use super::member::LocalTile;
use super::tiles::Points;
use super::transfer::{Pending, alloc, first, ready, wait};
use super::view::View;
use crate::nest::{Access, Nest, Start};
use crate::tile::isa::{Begin, Finish, Mapping, begin, mapping_of};

/// An operand of the instruction: the tensor, and its blocks.
struct Operand<'c> {
    /// Where the nest touches the tensor; `None` for one everywhere.
    access: Option<Access<'c>>,
    elem: Type<'c>,
    memory: &'c str,
    /// From where the tensor lies.
    load: Option<Move<'c>>,
    /// To where it lies.
    store: Option<Move<'c>>,
    fill: Option<Move<'c>>,
    registers: bool,
}

/// Where tensors lie.
pub(super) struct Ends<'p, 'c> {
    /// By the tensor.
    pub memrefs: &'p HashMap<Val<'c>, Val<'c>>,
    /// For tiles of what other computes of the kernel make.
    pub local_tiles: &'p HashMap<Val<'c>, LocalTile<'c>>,
}

/// How the tiles of a kernel are done by an instruction.
pub(super) struct Matrix<'p, 'c> {
    pub(super) context: &'c Context,
    pub(super) nest: &'p Nest<'c>,
    pub(super) memrefs: &'p HashMap<Val<'c>, Val<'c>>,
    /// Tiles of what other computes of the kernel make, by the tensor.
    pub(super) local_tiles: &'p HashMap<Val<'c>, LocalTile<'c>>,
    pub(super) mapping: Mapping<'c>,
    operands: Vec<Operand<'c>>,
    /// What brings the values that sums start from.
    begins: Option<Move<'c>>,
    begin: Begin,
    /// Steps whose inputs have room at the same time.
    pub(super) stages: u64,
    /// Who applies the epilogue.
    finish: Option<Finish<'c>>,
}

impl<'p, 'c> Matrix<'p, 'c> {
    /// Reads what the tile program chose; reports what does not fit the machine.
    pub fn new(
        context: &'c Context,
        machine: Machine<'c>,
        kernel: Op<'c>,
        compute: &Compute<'c>,
        nest: &'p Nest<'c>,
        ends: Ends<'p, 'c>,
    ) -> Result<Self, Failed> {
        let Ends { memrefs, local_tiles } = ends;
        let name = compute.instruction;
        let finish = machine.instruction(name).and_then(|own| Finish::of(machine, nest, &own));
        if nest.epilogue.is_some() && finish.is_none() {
            let what =
                format!("@{name} stores what it folds, and @{} has an epilogue", kernel.symbol());
            Report::new(kernel.location(), what)
                .help("give the epilogue a kernel of its own, or groups of lanes that share tiles");
            return Err(Failed);
        }
        let found = mapping_of(machine, nest, compute);
        let start = found.as_ref().and_then(|found| begin(nest, found.binding.from_zero));
        let (Some(mapping), Some(begin), Some(shared)) = (found, start, machine.shared()) else {
            Report::new(
                kernel.location(),
                format!("@{name} with these axes and operands is no part of @{}", kernel.symbol()),
            )
            .help("each axis of the instruction is an axis of the nest that moves along the same operands");
            return Err(Failed);
        };
        let types = mapping.instruction.operand_types();
        let home = |access: Option<&Access<'c>>| {
            let room = access.and_then(|access| local_tiles.get(&access.tensor));
            room.map_or(shared.name, |room| room.memory)
        };
        let operand = |(operand, &memory): (usize, &&'c str)| Operand {
            access: mapping.access(nest, operand).cloned(),
            elem: ty::elem(types[operand]).expect("an operand is a tensor"),
            memory,
            load: machine.move_between(home(mapping.access(nest, operand)), memory),
            store: machine.move_between(memory, home(mapping.access(nest, operand))),
            fill: machine.fill_of(memory),
            registers: machine.memory(memory).is_some_and(|memory| memory.is_registers()),
        };
        let operands: Vec<_> =
            mapping.instruction.operands().iter().enumerate().map(operand).collect();
        let start = match (&nest.starts[0], begin) {
            (Start::From { inputs, .. }, Begin::Copied) => inputs.first(),
            (_, Begin::Held) => nest.outputs.first(),
            _ => None,
        };
        let result = mapping.result(nest).map(|result| operands[result].memory);
        let begins = start.zip(result);
        let begins = begins.and_then(|(from, to)| machine.move_between(home(Some(from)), to));
        Ok(Self {
            context,
            nest,
            memrefs,
            local_tiles,
            mapping,
            operands,
            begins,
            begin,
            stages: compute.schedule.stages,
            finish,
        })
    }

    /// The number of the accumulator among the operands.
    fn result(&self) -> usize {
        self.mapping.result(self.nest).expect("checked by the mapping")
    }

    /// The code of one tile.
    pub fn write(&self, b: &mut Builder<'c>, points: Points<'_, 'c>) {
        let Points { sizes, .. } = points;
        let result = self.result();
        let shape = self.block_shape(result, sizes);
        let sums = self.room(b, result, &shape);
        self.start(b, sums, points);
        let mut rooms = vec![sums; self.operands.len()];
        self.ones(b, &mut rooms);
        let reductions: Vec<usize> =
            (0..sizes.len()).filter(|&axis| self.nest.reduces(axis)).collect();
        self.steps(b, &reductions, points, &rooms);
        let mut pending = Pending::default();
        let Operand { store: Some(store), access: Some(access), .. } = &self.operands[result]
        else {
            return;
        };
        let room = self.finish.as_ref().map(|finish| Room::new(b, self.nest, finish, points));
        let (access, tile) = match &room {
            Some(room) => (&room.access, Some(&room.tile)),
            None => (access, None),
        };
        let place = first(b, sums);
        let blocks = OperandBlocks { operand: result, access, place: &place, room: tile };
        self.boxes(b, blocks, points, &mut |b, near, far, sizes| {
            pending.transfer(b, store, near, far, sizes);
        });
        pending.wait(b);
        if let Some((room, finish)) = room.as_ref().zip(self.finish.as_ref()) {
            room.finish(self.context, b, self.nest, (finish, self.memrefs), points);
        }
    }

    /// Operands that are one everywhere get a block of ones, which every step reads.
    fn ones(&self, b: &mut Builder<'c>, rooms: &mut [Val<'c>]) {
        let mut pending = Pending::default();
        for (operand, own) in self.operands.iter().enumerate() {
            if let (None, Some(fill)) = (&own.access, &own.fill) {
                let shape = self.block_shape(operand, &[]);
                rooms[operand] = self.room(b, operand, &shape);
                let (place, one) = (first(b, rooms[operand]), self.number(operand, 1));
                pending.fill(b, fill, &place, &shape, one);
            }
        }
        pending.wait(b);
    }

    /// The axes of the instruction along the dimensions of an operand.
    pub(super) fn dims(&self, operand: usize) -> &[usize] {
        self.mapping.dims[operand].as_deref().expect("checked when the mapping was chosen")
    }

    /// Room of a shape where an operand lies.
    pub(super) fn room(&self, b: &mut Builder<'c>, operand: usize, shape: &[u64]) -> Val<'c> {
        let own = &self.operands[operand];
        alloc(b, shape, own.elem, own.memory)
    }

    /// The blocks of an operand: the axes that the instruction does not have, how many
    /// blocks there are along those that it has, then the shape of one. What is one
    /// everywhere is a single block.
    pub(super) fn block_shape(&self, operand: usize, sizes: &[u64]) -> Vec<u64> {
        let mut shape = Vec::new();
        if self.operands[operand].access.is_some() {
            let around = self.mapping.around(self.nest, operand);
            shape.extend(around.into_iter().map(|axis| sizes[axis]));
            let blocks = |axis: usize| sizes[axis].div_ceil(self.mapping.quantum(axis));
            shape.extend(self.mapping.inside(operand).into_iter().map(blocks));
        }
        shape.extend(self.dims(operand).iter().map(|&own| self.mapping.extents[own]));
        shape
    }

    /// Whether some block of an operand has points that are none of the nest.
    fn is_ragged(&self, operand: usize, sizes: &[u64]) -> bool {
        self.dims(operand).iter().any(|&own| self.mapping.is_ragged(sizes, own))
    }

    /// Gives the accumulator its first values.
    fn start(&self, b: &mut Builder<'c>, sums: Val<'c>, points: Points<'_, 'c>) {
        let Points { sizes, .. } = points;
        let result = self.result();
        let mut pending = Pending::default();
        let place = first(b, sums);
        let number = match (&self.nest.starts[0], self.begin) {
            (Start::From { body, .. }, Begin::Number) => {
                let value = body.terminator().and_then(|end| end.operands()[0].def());
                value.and_then(|op| op.attr("value"))
            }
            (_, Begin::Zero) => Some(self.neutral(result)),
            (_, Begin::Copied | Begin::Held) if self.is_ragged(result, sizes) => {
                Some(self.number(result, 0))
            }
            _ => None,
        };
        if let (Some(number), Some(fill)) = (number, &self.operands[result].fill) {
            pending.fill(b, fill, &place, &self.block_shape(result, sizes), number);
        }
        let from = match (&self.nest.starts[0], self.begin) {
            (Start::From { inputs, .. }, Begin::Copied) => inputs.first(),
            (_, Begin::Held) => self.operands[result].access.as_ref(),
            _ => None,
        };
        if let (Some(access), Some(load)) = (from, &self.begins) {
            self.order(b, &mut pending, result, load);
            let blocks = OperandBlocks { operand: result, access, place: &place, room: None };
            self.boxes(b, blocks, points, &mut |b, near, far, sizes| {
                pending.transfer(b, load, far, near, sizes);
            });
        }
        // Who waits for an input that the same engine brings later has waited for this.
        let engines = [&self.operands[result].fill, &self.begins];
        let engines: Vec<_> = engines.into_iter().flatten().map(|way| way.engine()).collect();
        let later = |operand: usize| {
            let load = self.operands[operand].load.as_ref();
            load.is_some_and(|load| {
                load.engine().is_some() && engines.iter().all(|e| *e == load.engine())
            })
        };
        if !self.inputs().into_iter().any(later) {
            pending.wait(b);
        }
    }

    /// What one engine does comes in order; between two, or within the unit, a wait does.
    fn order(
        &self,
        b: &mut Builder<'c>,
        pending: &mut Pending<'c>,
        operand: usize,
        load: &Move<'c>,
    ) {
        let fill = self.operands[operand].fill.as_ref().and_then(|fill| fill.engine());
        if load.engine() != fill {
            pending.wait(b);
        }
    }

    fn number(&self, operand: usize, number: i32) -> Attribute<'c> {
        let elem = self.operands[operand].elem;
        if ty::is_float(elem) {
            attr::of_float(self.context, elem, f64::from(number))
        } else {
            attr::of_int_type(elem, i64::from(number))
        }
    }

    /// What adding to changes nothing: the negative zero, where there is one.
    fn neutral(&self, operand: usize) -> Attribute<'c> {
        let elem = self.operands[operand].elem;
        if ty::is_float(elem) {
            attr::of_float(self.context, elem, -0.0)
        } else {
            self.number(operand, 0)
        }
    }

    /// The operands that are brought for every step.
    pub(super) fn inputs(&self) -> Vec<usize> {
        let result = self.result();
        let brought = |operand: &usize| self.operands[*operand].access.is_some();
        (0..self.operands.len()).filter(|&operand| operand != result).filter(brought).collect()
    }

    /// Begins to bring the points of inputs into blocks from their places on: what some blocks have beyond
    /// those is filled before.
    pub(super) fn bring(
        &self,
        b: &mut Builder<'c>,
        pending: &mut Pending<'c>,
        places: &[(usize, View<'c>)],
        points: Points<'_, 'c>,
    ) {
        for (operand, place) in places {
            let shape = self.block_shape(*operand, points.sizes);
            self.pad(b, pending, *operand, (place, &shape), points.sizes);
        }
        self.settle(b, pending, places.iter().map(|(operand, _)| *operand), points.sizes);
        self.load(b, pending, places, points);
    }

    /// Begins to fill blocks of an input, of a shape from `place` on, if they have elements that are no points of a
    /// tile of `sizes`.
    pub(super) fn pad(
        &self,
        b: &mut Builder<'c>,
        pending: &mut Pending<'c>,
        operand: usize,
        (place, shape): (&View<'c>, &[u64]),
        sizes: &[u64],
    ) {
        let fill = self.operands[operand].fill.as_ref();
        if let Some(fill) = fill.filter(|_| self.is_ragged(operand, sizes)) {
            pending.fill(b, fill, place, shape, self.number(operand, 0));
        }
    }

    /// What one engine does comes in order; between two, or within the unit, a wait for what was filled does.
    pub(super) fn settle(
        &self,
        b: &mut Builder<'c>,
        pending: &mut Pending<'c>,
        operands: impl Iterator<Item = usize>,
        sizes: &[u64],
    ) {
        for operand in operands.filter(|&operand| self.is_ragged(operand, sizes)) {
            if let Some(load) = &self.operands[operand].load {
                self.order(b, pending, operand, load);
            }
        }
    }

    /// Begins to load the points of inputs into blocks from their places on.
    pub(super) fn load(
        &self,
        b: &mut Builder<'c>,
        pending: &mut Pending<'c>,
        places: &[(usize, View<'c>)],
        points: Points<'_, 'c>,
    ) {
        for (operand, place) in places {
            let own = &self.operands[*operand];
            if let (Some(load), Some(access)) = (&own.load, &own.access) {
                let blocks = OperandBlocks { operand: *operand, access, place, room: None };
                self.boxes(b, blocks, points, &mut |b, near, far, sizes| {
                    pending.transfer(b, load, far, near, sizes);
                });
            }
        }
    }

    /// The instruction on every block of the tile; reductions outermost, so that
    /// neighbours fold into different blocks. `places` are where the blocks of each
    /// operand begin; returns the token of the last one, which stands for all.
    pub(super) fn fold(
        &self,
        b: &mut Builder<'c>,
        places: &[View<'c>],
        sizes: &[u64],
    ) -> Vec<Val<'c>> {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&axis| !self.nest.reduces(axis));
        let mut point = vec![Sum::number(0); sizes.len()];
        self.nested(b, &order, &mut point, places, sizes)
    }

    /// Loops over the blocks along `order`.
    fn nested(
        &self,
        b: &mut Builder<'c>,
        order: &[usize],
        point: &mut Vec<Sum<'c>>,
        places: &[View<'c>],
        sizes: &[u64],
    ) -> Vec<Val<'c>> {
        let Some((&axis, rest)) = order.split_first() else {
            return self.invoke(b, point, places);
        };
        let count = sizes[axis].div_ceil(self.mapping.quantum(axis));
        if count == 1 {
            point[axis] = Sum::number(0);
            return self.nested(b, rest, point, places, sizes);
        }
        if self.operands[self.result()].registers {
            let mut tokens = Vec::new();
            unrolled(b, count, |b, block| {
                point[axis] = block;
                tokens = self.nested(b, rest, point, places, sizes);
                wait(b, &tokens);
            });
            return tokens.iter().map(|_| ready(b)).collect();
        }
        let engine = self.mapping.instruction.engine();
        let carried: Vec<_> = engine.map(|_| ready(b)).into_iter().collect();
        let bounds = [Sum::number(0), Sum::number(count as i64)];
        scf_for_carrying(b, &bounds[0], &bounds[1], 1, &carried, |b, block, _| {
            point[axis] = Sum::value(block);
            self.nested(b, rest, point, places, sizes)
        })
    }

    /// The instruction on one block of each operand, and its token.
    fn invoke(&self, b: &mut Builder<'c>, point: &[Sum<'c>], places: &[View<'c>]) -> Vec<Val<'c>> {
        let views: Vec<View<'c>> = places
            .iter()
            .enumerate()
            .map(|(operand, place)| {
                let mut view = place.clone();
                if self.operands[operand].access.is_none() {
                    return view;
                }
                let mut axes = self.mapping.around(self.nest, operand);
                axes.extend(self.mapping.inside(operand));
                // Two rooms are one dimension more.
                let outer = view.indices.len() - axes.len() - self.dims(operand).len();
                for (dim, axis) in (outer..).zip(axes) {
                    view.indices[dim] = point[axis].emit(b);
                }
                view
            })
            .collect();
        let instruction = &self.mapping.instruction;
        let token = build::invoke(b, instruction.name, &views, instruction.engine().is_some());
        token.into_iter().collect()
    }
}
