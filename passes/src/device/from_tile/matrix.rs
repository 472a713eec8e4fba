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

use weft_dialects::device::{Machine, Move, token};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Attribute, Builder, Context, Op, Report, Type, Val, attr, ty};
use weft_dialects::tile::Compute;

use super::index::{Sum, scf_for_carrying, scf_if_giving, unrolled};
use super::member::Room;
use super::staged::each_step;
use super::tiles::compare;
use super::transfer::{Boxed, Pending, alloc, first, ready, wait};
use super::view::View;
use crate::nest::{Access, Nest, Start, row_major};
use crate::tile::isa::{Begin, Digit, Mapping, begin, mapping};
use crate::tile::propagate::merged;

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

/// What to do with a box of blocks, the box of the tensor that it holds, and their sizes.
type EachBox<'f, 'c> = &'f mut dyn FnMut(&mut Builder<'c>, &Boxed<'c>, &Boxed<'c>, &[u64]);

/// Where tensors lie.
pub(super) struct Ends<'p, 'c> {
    /// By the tensor.
    pub memrefs: &'p HashMap<Val<'c>, Val<'c>>,
    /// For tiles of what other computes of the kernel make.
    pub rooms: &'p HashMap<Val<'c>, Room<'c>>,
}

/// How the tiles of a kernel are done by an instruction.
pub(super) struct Matrix<'p, 'c> {
    context: &'c Context,
    nest: &'p Nest<'c>,
    memrefs: &'p HashMap<Val<'c>, Val<'c>>,
    /// Tiles of what other computes of the kernel make, by the tensor.
    rooms: &'p HashMap<Val<'c>, Room<'c>>,
    mapping: Mapping<'c>,
    operands: Vec<Operand<'c>>,
    /// What brings the values that sums start from.
    begins: Option<Move<'c>>,
    begin: Begin,
    /// Steps whose inputs have room at the same time.
    stages: u64,
}

impl<'p, 'c> Matrix<'p, 'c> {
    /// Reads what the tile program chose; reports what does not fit the machine.
    pub fn new(
        context: &'c Context,
        machine: Machine<'c>,
        kernel: Op<'c>,
        (compute, axes): (&Compute<'c>, &[Vec<usize>]),
        nest: &'p Nest<'c>,
        ends: Ends<'p, 'c>,
    ) -> Result<Self, Failed> {
        let Ends { memrefs, rooms } = ends;
        let name = compute.instruction;
        let found = machine.instruction(name).and_then(|found| mapping(&found, nest, axes));
        let start = found.as_ref().and_then(|found| begin(nest, found.binding.from_zero));
        let (Some(mapping), Some(begin), Some(shared)) = (found, start, machine.shared()) else {
            Report::new(
                kernel.location(),
                format!("@{name} with these axes is no part of @{}", kernel.symbol()),
            )
            .help("each axis of the instruction is an axis of the nest that moves along the same operands");
            return Err(Failed);
        };
        let types = mapping.instruction.operand_types();
        let home = |access: Option<&Access<'c>>| {
            let room = access.and_then(|access| rooms.get(&access.tensor));
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
            rooms,
            mapping,
            operands,
            begins,
            begin,
            stages: compute.schedule.stages,
        })
    }

    /// The number of the accumulator among the operands.
    fn result(&self) -> usize {
        self.mapping.result(self.nest).expect("checked by the mapping")
    }

    /// The code of one tile, `sizes` points from `at` on.
    pub fn write(&self, b: &mut Builder<'c>, at: &[Sum<'c>], sizes: &[u64]) {
        let result = self.result();
        let shape = self.block_shape(result, sizes);
        let sums = self.room(b, result, &shape);
        self.start(b, sums, at, sizes);
        let mut rooms = vec![sums; self.operands.len()];
        self.ones(b, &mut rooms);
        let reductions: Vec<usize> =
            (0..sizes.len()).filter(|&axis| self.nest.reduces(axis)).collect();
        self.steps(b, &reductions, at, sizes, &rooms);
        let mut pending = Pending::default();
        let Operand { store: Some(store), access: Some(access), .. } = &self.operands[result]
        else {
            return;
        };
        let place = first(b, sums);
        self.blocks(b, result, access, &place, at, sizes, &mut |b, near, far, sizes| {
            pending.transfer(b, store, near, far, sizes);
        });
        pending.wait(b);
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
    fn dims(&self, operand: usize) -> &[usize] {
        self.mapping.dims[operand].as_deref().expect("checked when the mapping was chosen")
    }

    /// Room of a shape where an operand lies.
    fn room(&self, b: &mut Builder<'c>, operand: usize, shape: &[u64]) -> Val<'c> {
        let own = &self.operands[operand];
        alloc(b, shape, own.elem, own.memory)
    }

    /// The blocks of an operand: the axes that the instruction does not have, how many
    /// blocks there are along those that it has, then the shape of one. What is one
    /// everywhere is a single block.
    fn block_shape(&self, operand: usize, sizes: &[u64]) -> Vec<u64> {
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
    fn start(&self, b: &mut Builder<'c>, sums: Val<'c>, at: &[Sum<'c>], sizes: &[u64]) {
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
            self.blocks(b, result, access, &place, at, sizes, &mut |b, near, far, sizes| {
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

    /// Loops over the steps of the reductions, outermost first. With several stages the
    /// innermost loop brings the inputs of later steps while it folds its own.
    fn steps(
        &self,
        b: &mut Builder<'c>,
        axes: &[usize],
        at: &[Sum<'c>],
        sizes: &[u64],
        rooms: &[Val<'c>],
    ) {
        let Some((&axis, rest)) = axes.split_first() else {
            self.step(b, at, sizes, rooms);
            return;
        };
        let (extent, size) = (self.nest.axes[axis].extent, sizes[axis]);
        let looped = |axis: &usize| self.nest.axes[*axis].extent > sizes[*axis];
        let whole = extent - extent % size;
        let ahead = self.stages > 1 && whole > size && !rest.iter().any(looped);
        let mut one = |b: &mut Builder<'c>, place, size| {
            let (mut at, mut sizes) = (at.to_vec(), sizes.to_vec());
            at[axis] = place;
            sizes[axis] = size;
            self.steps(b, rest, &at, &sizes, rooms);
        };
        if !ahead {
            each_step(b, extent, size, &mut one);
            return;
        }
        self.steps_ahead(b, axis, whole / size, at, sizes, rooms);
        if whole < extent {
            one(b, Sum::number(whole as i64), extent - whole);
        }
    }

    /// The operands that are brought for every step.
    fn inputs(&self) -> Vec<usize> {
        let result = self.result();
        let brought = |operand: &usize| self.operands[*operand].access.is_some();
        (0..self.operands.len()).filter(|&operand| operand != result).filter(brought).collect()
    }

    /// One step: brings its inputs and folds them in.
    fn step(&self, b: &mut Builder<'c>, at: &[Sum<'c>], sizes: &[u64], rooms: &[Val<'c>]) {
        let mut pending = Pending::default();
        let mut buffers = rooms.to_vec();
        for operand in self.inputs() {
            let shape = self.block_shape(operand, sizes);
            buffers[operand] = self.room(b, operand, &shape);
            let place = first(b, buffers[operand]);
            self.bring(b, &mut pending, operand, &place, at, sizes);
        }
        pending.wait(b);
        let places: Vec<_> = buffers.iter().map(|buffer| first(b, *buffer)).collect();
        let tokens = self.fold(b, &places, sizes);
        wait(b, &tokens);
    }

    /// `count` steps of one size along `axis`, with room for the inputs of several stages: those
    /// of later steps fill while one is used.
    ///
    /// ```text
    /// loads = bring steps 0 .. stages - 1
    /// for i { next = bring step i + stages - 1, if there is one, when its room is free again
    ///         wait for the first of loads; fold; loads = the others, next }
    /// ```
    fn steps_ahead(
        &self,
        b: &mut Builder<'c>,
        axis: usize,
        count: u64,
        at: &[Sum<'c>],
        sizes: &[u64],
        held: &[Val<'c>],
    ) {
        let size = sizes[axis] as i64;
        let index = Type::index(self.context);
        let stages = self.stages.min(count);
        let rooms: Vec<(usize, Val<'c>)> = self
            .inputs()
            .into_iter()
            .map(|operand| {
                let mut shape = vec![stages];
                shape.extend(self.block_shape(operand, sizes));
                (operand, self.room(b, operand, &shape))
            })
            .collect();
        let bring = |b: &mut Builder<'c>, room: Val<'c>, place: Sum<'c>| {
            let mut pending = Pending::default();
            let mut at = at.to_vec();
            at[axis] = place;
            for (operand, buffer) in &rooms {
                let mut view = first(b, *buffer);
                view.indices[0] = room;
                self.bring(b, &mut pending, *operand, &view, &at, sizes);
            }
            pending.take()
        };
        let mut carried = Vec::new();
        for step in 0..stages as i64 - 1 {
            let room = b.index(step);
            carried.extend(bring(b, room, Sum::number(step * size)));
        }
        let loads = carried.len();
        let each = loads / (stages as usize - 1);
        let by_engine = self.mapping.instruction.engine().is_some();
        carried.extend(by_engine.then(|| ready(b)));
        let bounds = [Sum::number(0), Sum::number(count as i64)];
        let last = scf_for_carrying(b, &bounds[0], &bounds[1], 1, &carried, |b, step, carried| {
            let (loaded, folded) = carried.split_at(loads);
            let (loaded, later) = loaded.split_at(each);
            let rounds = b.index(stages as i64);
            let room = b.op("arith.remui", &[step, rounds], &[index]).result(0);
            let next = Sum::value(step).plus(&Sum::number(stages as i64 - 1), 1).emit(b);
            let other = b.op("arith.remui", &[next, rounds], &[index]).result(0);
            let more = compare(b, "ult", &Sum::value(next), &Sum::number(count as i64));
            // The room is free when the step before this one is folded in.
            wait(b, folded);
            let next = scf_if_giving(b, more, loaded, |b| {
                bring(b, other, Sum::default().plus(&Sum::value(next), size))
            });
            wait(b, loaded);
            let mut places: Vec<_> = held.iter().map(|room| first(b, *room)).collect();
            for (operand, buffer) in &rooms {
                places[*operand] = first(b, *buffer);
                places[*operand].indices[0] = room;
            }
            let folded = self.fold(b, &places, sizes);
            later.iter().copied().chain(next).chain(folded).collect()
        });
        wait(b, &last[loads..]);
    }

    /// Begins to bring the points of an input into blocks from `place` on.
    fn bring(
        &self,
        b: &mut Builder<'c>,
        pending: &mut Pending<'c>,
        operand: usize,
        place: &View<'c>,
        at: &[Sum<'c>],
        sizes: &[u64],
    ) {
        let own = &self.operands[operand];
        if let (true, Some(fill)) = (self.is_ragged(operand, sizes), &own.fill) {
            let shape = self.block_shape(operand, sizes);
            pending.fill(b, fill, place, &shape, self.number(operand, 0));
            if let Some(load) = &own.load {
                self.order(b, pending, operand, load);
            }
        }
        if let (Some(load), Some(access)) = (&own.load, &own.access) {
            self.blocks(b, operand, access, place, at, sizes, &mut |b, near, far, sizes| {
                pending.transfer(b, load, far, near, sizes);
            });
        }
    }

    /// The instruction on every block of the tile; reductions outermost, so that
    /// neighbours fold into different blocks. `places` are where the blocks of each
    /// operand begin; returns the token of the last one, which stands for all.
    fn fold(&self, b: &mut Builder<'c>, places: &[View<'c>], sizes: &[u64]) -> Vec<Val<'c>> {
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
        let memrefs = views.iter().map(|view| view.memref);
        let operands: Vec<_> =
            memrefs.chain(views.iter().flat_map(|view| view.indices.iter().copied())).collect();
        let segments = [views.len() as i32, (operands.len() - views.len()) as i32];
        let instruction = &self.mapping.instruction;
        let results: Vec<_> =
            instruction.engine().map(|_| token(self.context)).into_iter().collect();
        let op = b.op_with(
            "device.invoke",
            &operands,
            &results,
            &[
                ("instruction", attr::of_symbol(self.context, instruction.name)),
                ("operandSegmentSizes", attr::of_ints32(self.context, &segments)),
            ],
            0,
        );
        op.results()
    }

    /// The boxes of an operand's blocks that hold points of the tensor: whole blocks, and
    /// for each ragged axis the last one apart. An axis is one side of a box for the blocks
    /// along it and one for the points inside them, wherever these lie in a block.
    #[allow(clippy::too_many_arguments)]
    fn blocks(
        &self,
        b: &mut Builder<'c>,
        operand: usize,
        access: &Access<'c>,
        place: &View<'c>,
        at: &[Sum<'c>],
        sizes: &[u64],
        body: EachBox<'_, 'c>,
    ) {
        let around = self.mapping.around(self.nest, operand);
        let far = self.far(access);
        let shape = self.block_shape(operand, sizes);
        let strides = row_major(&shape);
        let outer = place.indices.len() - shape.len();
        let inside: Vec<Inside> = self.inside(operand, &strides);
        let parts = inside.iter().map(|inside| inside.parts(sizes)).collect::<Vec<_>>();
        for parts in product(&parts) {
            let (mut point, mut near) = (at.to_vec(), place.clone());
            let (mut counts, mut inner) = (Vec::new(), Vec::new());
            for (dim, &axis) in around.iter().enumerate() {
                counts.push((sizes[axis], far.stride(axis), strides[dim]));
            }
            for ((dim, inside), part) in (around.len()..).zip(&inside).zip(&parts) {
                let Digit { axis, count: side, .. } = inside.digit;
                let moved = Sum::number((part.block * side) as i64);
                point[axis] = point[axis].clone().plus(&moved, 1);
                let stride = far.stride(axis);
                near.indices[outer + dim] = b.index(part.block as i64);
                counts.push((part.count, stride * side as i64, strides[dim]));
                inner.push((part.points, stride, inside.stride));
            }
            let mut all: Vec<_> =
                counts.into_iter().filter(|(count, ..)| *count > 1).chain(inner).collect();
            // A box has a side.
            if all.is_empty() {
                all.push((1, 1, 1));
            }
            let far = Boxed {
                view: far.view(b, &point),
                strides: all.iter().map(|(_, far, _)| *far).collect(),
            };
            let near = Boxed { view: near, strides: all.iter().map(|(.., near)| *near).collect() };
            let sizes: Vec<_> = all.iter().map(|(size, ..)| *size).collect();
            body(b, &near, &far, &sizes);
        }
    }

    /// Where the tensor of an access lies.
    fn far<'a>(&'a self, access: &'a Access<'c>) -> Far<'a, 'c> {
        let room = self.rooms.get(&access.tensor);
        Far { access, memref: self.memrefs[&access.tensor], room }
    }

    /// The axes inside the blocks of an operand, in the order of the blocks' dimensions.
    fn inside(&self, operand: usize, strides: &[i64]) -> Vec<Inside> {
        let dims = self.dims(operand);
        let one = &strides[strides.len() - dims.len()..];
        let digits = dims.iter().zip(one).flat_map(|(&own, &stride)| {
            let digits = self.mapping.digits(own).into_iter();
            digits.map(move |digit| Inside { digit, stride: stride * digit.step as i64 })
        });
        digits.collect()
    }
}

/// A tensor of the nest, whole or in a room.
pub(super) struct Far<'a, 'c> {
    pub access: &'a Access<'c>,
    pub memref: Val<'c>,
    pub room: Option<&'a Room<'c>>,
}

impl<'c> Far<'_, 'c> {
    /// Elements between two neighbours along an axis of the nest.
    pub fn stride(&self, axis: usize) -> i64 {
        let (index, shape) = match self.room {
            Some(room) => (merged(self.access, &room.handed), &room.sizes),
            None => (self.access.index.clone(), &self.access.shape),
        };
        let steps = index.iter().zip(row_major(shape));
        steps.map(|(index, stride)| index.coefficients[axis] * stride).sum()
    }

    /// The element that a point touches.
    pub fn view(&self, b: &mut Builder<'c>, point: &[Sum<'c>]) -> View<'c> {
        let place: Vec<_> = self.access.index.iter().map(|index| Sum::of(index, point)).collect();
        let place = match self.room {
            Some(room) => room.place(&self.access.shape, &place),
            None => place,
        };
        View { memref: self.memref, indices: place.iter().map(|own| own.emit(b)).collect() }
    }
}

/// An axis of the nest inside the blocks of an operand.
#[derive(Clone, Copy)]
struct Inside {
    digit: Digit,
    /// Elements between two points of it in a block.
    stride: i64,
}

impl Inside {
    /// Whole blocks, then the rest.
    fn parts(&self, sizes: &[u64]) -> Vec<Part> {
        let Digit { axis, count: side, .. } = self.digit;
        let (whole, rest) = (sizes[axis] / side, sizes[axis] % side);
        let all = Part { block: 0, count: whole, points: side };
        let last = Part { block: whole, count: 1, points: rest };
        [(whole, all), (rest, last)].into_iter().filter(|(n, _)| *n > 0).map(|(_, p)| p).collect()
    }
}

/// Blocks along one axis of the nest that hold the same number of its points.
#[derive(Clone, Copy)]
struct Part {
    /// The first block.
    block: u64,
    /// How many there are.
    count: u64,
    /// Points in each.
    points: u64,
}

/// Every choice of one part per axis.
fn product(parts: &[Vec<Part>]) -> Vec<Vec<Part>> {
    parts.iter().fold(vec![Vec::new()], |all, along| {
        let with = |before: &Vec<Part>| {
            let before = before.clone();
            along.iter().map(move |part| [&before[..], &[*part]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    })
}
