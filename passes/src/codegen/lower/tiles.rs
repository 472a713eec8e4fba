//! `device.transfer` and `device.fill`: tile registers, and the memory behind them.
//!
//! ```text
//! device.transfer @tile_load %x[%i, %k] to %t sizes [2, 16, 64]  ->  two registers: the move's lowering,
//!                                                                    with the address of row 0 of each
//! ```
//!
//! A register whose rows lie apart by one distance, each in one piece, is moved by what the machine file says. What is
//! less than a register, or lies otherwise, goes through a copy of the register on the stack, row by row.

use weft_dialects::device::tile_box::{TileSide, row_distance, run};
use weft_dialects::device::{Fill, Machine, Memory, Move, Transfer, View};
use weft_dialects::ir::{Block, Builder, Context, Diagnostics, Op, Type, Val, attr, ty};

use super::super::index_sum::IndexSum;
use super::super::pointer::pointer;
use super::invoke::{cast, in_memory, written};
use super::stack_room;
use super::view::{self, elem};
use crate::nest::row_major;

/// A part of a box that lies in one register.
struct Piece {
    /// Elements to it from the first one, in memory and among the registers.
    far: i64,
    near: i64,
    /// The sides inside of the register, the slowest first.
    sides: Vec<TileSide>,
}

impl Piece {
    /// Whether it begins and ends in the same register of `elements`.
    fn is_in_one(&self, elements: u64) -> bool {
        let reach = self.sides.iter().map(|side| side.near * (side.points as i64 - 1)).sum::<i64>();
        let first = self.near.rem_euclid(elements as i64);
        self.sides.iter().all(|side| side.near >= 0) && first + reach < elements as i64
    }
}

/// The registers of a transfer.
struct Ends<'v, 'c> {
    registers: &'v View<'c>,
    memory: &'v View<'c>,
    tile: Memory<'c>,
    loads: bool,
}

/// Puts reads and writes before a transfer; reports one between other memories, or by an engine.
pub fn transfer<'c>(
    b: &mut Builder<'c>,
    machine: Machine<'c>,
    transfer: &Transfer<'c>,
    diag: &mut Diagnostics,
) {
    let way = machine.move_named(transfer.move_name);
    let tile = |view: &View<'c>| machine.memory_of(view.memref.ty()).filter(Memory::holds_tiles);
    let ends = match (tile(&transfer.source), tile(&transfer.target)) {
        (None, Some(tile)) => {
            Ends { registers: &transfer.target, memory: &transfer.source, tile, loads: true }
        }
        (Some(tile), None) => {
            Ends { registers: &transfer.source, memory: &transfer.target, tile, loads: false }
        }
        _ => return refuse(transfer, diag),
    };
    let waits = |way: &Move<'_>| way.engine().is_none() && transfer.limits.is_empty();
    let Some(way) = way.filter(waits) else { return refuse(transfer, diag) };
    let (far, near) = match ends.loads {
        true => (&transfer.from_strides, &transfer.to_strides),
        false => (&transfer.to_strides, &transfer.from_strides),
    };
    let strides = far.iter().zip(near);
    let sides = transfer.sizes.iter().zip(strides);
    let sides: Vec<TileSide> =
        sides.map(|(&points, (&far, &near))| TileSide { points, far, near }).collect();
    let pieces = pieces(&sides, ends.elements());
    if pieces.iter().any(|piece| !piece.is_in_one(ends.elements())) {
        return refuse(transfer, diag);
    }
    let mut copy = None;
    for piece in pieces {
        let rows = ends.rows(&piece);
        match rows.zip(way.lowering()) {
            Some((distance, lowering)) => ends.whole(b, lowering, &piece, distance),
            None => {
                let copy = copy.get_or_insert_with(|| ends.copy(b.context(), transfer.op));
                ends.by_rows(b, &piece, copy);
            }
        }
    }
}

fn refuse(transfer: &Transfer<'_>, diag: &mut Diagnostics) {
    let what = "device.transfer cannot be lowered to code for one thread";
    diag.error(transfer.op, what).help(
        "native code may move boxes between memory and registers that are tiles, by no engine, without limits, \
         and each part from and to one register",
    );
}

/// Writes a number to all elements of registers.
pub fn fill<'c>(
    b: &mut Builder<'c>,
    machine: Machine<'c>,
    fill: &Fill<'c>,
    diag: &mut Diagnostics,
) {
    let memory = machine.memory_of(fill.target.memref.ty()).filter(Memory::holds_tiles);
    let way = machine.move_named(fill.move_name).filter(|way| way.engine().is_none());
    let dense = fill.strides == row_major(&fill.sizes);
    let elem = elem(&fill.target);
    let size = ty::byte_size(elem).unwrap_or(1);
    let count: u64 = fill.sizes.iter().product();
    let lanes = memory.and_then(|memory| memory.register_bytes()).map_or(0, |bytes| bytes / size);
    if way.is_none() || !dense || lanes == 0 || !count.is_multiple_of(lanes) {
        diag.error(fill.op, "device.fill cannot be lowered to code for one thread")
            .help("native code may fill whole registers that are tiles, one behind the other, by no engine");
        return;
    }
    let number = b.op_with("arith.constant", &[], &[elem], &[("value", fill.value)], 0).result(0);
    let value = view::splat(b, number, lanes);
    for register in 0..count / lanes {
        let place = moved(b, &fill.target, (register * lanes) as i64);
        view::store(b, value, &place);
    }
}

/// A box in parts that lie in one register of `elements` each.
fn pieces(sides: &[TileSide], elements: u64) -> Vec<Piece> {
    let inside = |side: &&TileSide| side.near.unsigned_abs() < elements;
    let own: Vec<TileSide> =
        sides.iter().filter(inside).filter(|side| side.points > 1).copied().collect();
    let mut pieces = vec![Piece { far: 0, near: 0, sides: own }];
    for side in sides.iter().filter(|side| !inside(side)) {
        let at = |piece: &Piece, point: u64| Piece {
            far: piece.far + side.far * point as i64,
            near: piece.near + side.near * point as i64,
            sides: piece.sides.clone(),
        };
        pieces = pieces
            .iter()
            .flat_map(|piece| (0..side.points).map(move |point| at(piece, point)))
            .collect();
    }
    pieces
}

impl<'c> Ends<'_, 'c> {
    /// Elements of a register.
    fn elements(&self) -> u64 {
        let size = ty::byte_size(elem(self.registers)).unwrap_or(1);
        self.tile.register_bytes().unwrap_or(size) / size
    }

    /// The distance of rows in memory, in bytes, where a piece is a whole register in rows.
    fn rows(&self, piece: &Piece) -> Option<i64> {
        let size = ty::byte_size(elem(self.registers))?;
        let row = self.tile.row_bytes()? / size;
        Some(row_distance(&piece.sides, row, self.elements())? * size as i64)
    }

    /// A register by the move's lowering.
    fn whole(&self, b: &mut Builder<'c>, lowering: Block<'c>, piece: &Piece, distance: i64) {
        let place = moved(b, self.memory, piece.far);
        let args = lowering.args();
        let at = address(b, &place, args[usize::from(!self.loads)].ty());
        let long = ty::int(b.context(), 64);
        let distance = attr::of_int_type(long, distance);
        let distance =
            b.op_with("arith.constant", &[], &[long], &[("value", distance)], 0).result(0);
        let register = moved(b, self.registers, piece.near);
        let vector = ty::vector(self.elements(), elem(self.registers));
        if self.loads {
            let loaded = written(b, lowering, &[at, distance])[0];
            let loaded = bits(b, loaded, vector);
            view::store(b, loaded, &register);
        } else {
            let whole = view::load(b, &register, self.elements());
            let whole = bits(b, whole, args[0].ty());
            written(b, lowering, &[whole, at, distance]);
        }
    }

    /// Room for a copy of a register on the stack of the function around an operation: as a loop begins its next round,
    /// the stack grows no further.
    fn copy(&self, context: &'c Context, op: Op<'c>) -> View<'c> {
        let around = std::iter::successors(Some(op), |op| op.parent());
        let func = around.into_iter().find(|op| op.is("func.func"));
        let entry =
            func.and_then(|func| func.body(0)).and_then(|block| block.ops().first().copied());
        let entry = entry.expect("a kernel is a function by now");
        let mut b = Builder::before(context, entry);
        on_stack(&mut b, elem(self.registers), self.elements())
    }

    /// What is less than a register, or lies otherwise: row by row, by way of a copy on the stack.
    fn by_rows(&self, b: &mut Builder<'c>, piece: &Piece, copy: &View<'c>) {
        let elements = self.elements();
        let register = moved(b, self.registers, piece.near - piece.near % elements as i64);
        let before = view::load(b, &register, elements);
        view::store(b, before, copy);
        let (run, last) = run(&piece.sides);
        let sides = &piece.sides[..piece.sides.len() - last];
        let mut rows = vec![(piece.far, piece.near % elements as i64)];
        for side in sides {
            let along = |&(far, near): &(i64, i64)| {
                (0..side.points as i64).map(move |at| (far + side.far * at, near + side.near * at))
            };
            rows = rows.iter().flat_map(along).collect();
        }
        for (far, near) in rows {
            let (far, near) = (moved(b, self.memory, far), moved(b, copy, near));
            let [from, to] = if self.loads { [&far, &near] } else { [&near, &far] };
            let row = view::load(b, from, run);
            view::store(b, row, to);
        }
        if self.loads {
            let after = view::load(b, copy, elements);
            view::store(b, after, &register);
        }
    }
}

/// A view so many elements behind another, counted through all of its memref.
fn moved<'c>(b: &mut Builder<'c>, view: &View<'c>, by: i64) -> View<'c> {
    let mut view = view.clone();
    let last = view.indices.len() - 1;
    if by != 0 {
        let by = b.index(by);
        let index = Type::index(b.context());
        view.indices[last] = b.op("arith.addi", &[view.indices[last], by], &[index]).result(0);
    }
    view
}

/// The pointer of a type to a view's first element.
fn address<'c>(b: &mut Builder<'c>, view: &View<'c>, ty: Type<'c>) -> Val<'c> {
    let shape = ty::shape(view.memref.ty()).unwrap_or_default();
    let at = IndexSum::row_major(&view.indices, &shape).write(b);
    pointer(b, [view.memref, at], ty)
}

/// The same bytes as a vector of other elements.
fn bits<'c>(b: &mut Builder<'c>, value: Val<'c>, vector: Type<'c>) -> Val<'c> {
    let vector = in_memory(b, vector);
    if value.ty() == vector {
        return value;
    }
    match ty::count(value.ty()) == ty::count(vector) {
        true => cast(b, value, vector),
        false => b.op("vector.bitcast", &[value], &[vector]).result(0),
    }
}

/// Room for a register's elements.
fn on_stack<'c>(b: &mut Builder<'c>, elem: Type<'c>, elements: u64) -> View<'c> {
    let room = stack_room(b, ty::memref(&[elements], elem, None));
    View { memref: room, indices: vec![b.index(0)] }
}
