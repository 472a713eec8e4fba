//! `device-order-instructions`: reorders a core's instructions, so that few wait for results.
//!
//! ```text
//! device.copy @vld %x[0] to %r; device.apply ins(%r) outs(%a); device.copy @vld %x[64] to %r; ...
//!   ->  device.copy @vld %x[0] to %r; device.copy @vld %x[64] to %s
//!       device.apply ins(%r) outs(%a); device.apply ins(%s) outs(%b); ...
//! ```
//!
//! Loops that are unrolled anyway are written out, and the instructions between two operations of
//! another kind are put in the order of a list (`schedule.rs`), each value in a register of its own
//! if any is free. Only instructions that a core issues in order are moved: operations of engines
//! have tokens. Only where registers are filled by moves from a memory in which tiles wait;
//! elsewhere a code generator or the hardware itself orders instructions.

mod schedule;
mod touch;
mod unroll;

use std::collections::{HashMap, HashSet};

use weft_dialects::device::{Kernel, Machine, Memory, View, build};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Block, Builder, Context, Op, Type, Val, attr, remark, ty};

use crate::remarks::{Refused, chosen};
use crate::tile::way;
use schedule::{Cell, Item, Order};
pub(super) use touch::number;
use touch::{Costs, Touch, row};

/// The pass.
pub const PASS: Pass = Pass {
    name: "device-order-instructions",
    description: "Order the instructions of a core so that few wait for results",
    options: &[
        PassOption {
            name: "order",
            description: "list: what can begin first, then what most depends on; text: as it is written",
            fallback: "list",
        },
        PassOption {
            name: "remarks",
            description: "say which kernels are in another order, and what both take",
            fallback: "false",
        },
    ],
    statistics: &[("ordered", "pieces of kernels that were put in another order")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let as_written = run.word("order", &[("list", false), ("text", true)])?;
    let remarks = run.flag("remarks")?;
    if as_written {
        return Ok(());
    }
    let Some((machine, registers)) = Machine::of(run.module).and_then(in_order) else {
        return Ok(());
    };
    let costs = Costs::of(machine);
    let ops = run.module.body(0).map(|block| block.ops()).unwrap_or_default();
    for kernel in ops.into_iter().filter_map(Kernel::of) {
        let (context, registers) = (run.context, &registers);
        let mut writer =
            Writer { context, costs: &costs, registers, ordered: 0, pieces: Vec::new() };
        let all = registers.capacity_bytes() / registers.register_bytes().unwrap_or(1);
        writer.block(kernel.body, all as usize);
        run.count("ordered", writer.ordered);
        if remarks && !writer.pieces.is_empty() {
            remark(kernel.op, &format!("@{}: {}", kernel.op.symbol(), told(&writer.pieces)));
        }
    }
    Ok(())
}

/// Reports the cycles of every block in the order that was chosen, and in the other.
fn told(pieces: &[[f64; 2]]) -> String {
    let sum = |side: usize| pieces.iter().map(|piece| piece[side]).sum::<f64>();
    let better: Vec<_> = pieces.iter().filter(|[text, list]| list < text).copied().collect();
    if better.is_empty() {
        let why = Refused::by("cycles", "list scheduling takes no fewer cycles");
        let why = why.met(format!("{:.0} cycles, {:.0} as written", sum(1), sum(0)));
        return format!("its instructions stay as written: {why}");
    }
    let [text, list] = [0, 1].map(|side| better.iter().map(|piece| piece[side]).sum::<f64>());
    let what =
        format!("{} of {} blocks are reordered by list scheduling", better.len(), pieces.len());
    chosen(&what, list, Some(("as written", text)))
}

/// The registers of a machine whose cores take instructions in order, tile by tile.
pub(super) fn in_order<'c>(machine: Machine<'c>) -> Option<(Machine<'c>, Memory<'c>)> {
    let registers = machine.memory(machine.lanes_units().first()?.memory())?;
    let staged = way(machine, registers.name)?.stage.is_some();
    (staged && registers.lanes().is_none() && registers.register_bytes().is_some())
        .then_some((machine, registers))
}

struct Writer<'a, 'c> {
    context: &'c Context,
    costs: &'a Costs<'c>,
    registers: &'a Memory<'c>,
    ordered: u64,
    /// Cycles of every block as it is written, and by list scheduling.
    pieces: Vec<[f64; 2]>,
}

/// Registers beyond those that a block needs anyway, where there are blocks inside: what is done
/// there round after round has more need of them.
const SPARED: usize = 2;

/// Registers that values share one after another, by type.
type Pool<'c> = Vec<(Type<'c>, Vec<Val<'c>>)>;

impl<'c> Writer<'_, 'c> {
    /// Orders a block, whose registers and those of blocks inside may be `most`.
    fn block(&mut self, block: Block<'c>, most: usize) {
        let inside = self.inside(block, &|_| true);
        // Registers of a loop stay in use when it is unrolled.
        let rounds = self.inside(block, &|op| op.is("affine.for"));
        if self.own(block) + rounds + inside <= most {
            unroll::unroll(self.context, block, &|op| {
                let value = self.taken(op).is_none_or(|count| count == 1 && self.begins(op));
                value && (self.is_pure(op) || Touch::of(self.costs, op).is_some())
            });
        }
        let inside = self.inside(block, &|_| true);
        let mut pool = Pool::new();
        for piece in self.pieces(block) {
            let spared = if inside > 0 { SPARED } else { usize::MAX };
            self.order(&piece, most.saturating_sub(inside), spared, &mut pool);
        }
        let left = most.saturating_sub(self.own(block));
        for op in block.ops().into_iter().filter(|op| !is_lanewise(*op)) {
            for region in 0..op.region_count() {
                op.region(region).blocks().into_iter().for_each(|inner| self.block(inner, left));
            }
        }
    }

    /// Registers that are taken in a block itself.
    fn own(&self, block: Block<'c>) -> usize {
        block.ops().into_iter().filter_map(|op| self.taken(op)).sum()
    }

    /// Registers that blocks inside some operations take at once.
    fn inside(&self, block: Block<'c>, of: &dyn Fn(Op<'c>) -> bool) -> usize {
        let around = block.ops().into_iter().filter(|op| !is_lanewise(*op) && of(*op));
        let blocks = around.flat_map(|op| {
            (0..op.region_count()).flat_map(move |region| op.region(region).blocks())
        });
        blocks.map(|inner| self.own(inner) + self.inside(inner, &|_| true)).max().unwrap_or(0)
    }

    /// Registers of a `device.alloc`.
    fn taken(&self, op: Op<'c>) -> Option<usize> {
        let ty = op.is("device.alloc").then(|| op.result(0).ty())?;
        let registers = ty::memory(ty).is_some_and(|name| name == self.registers.name);
        let shape = ty::shape(ty).filter(|_| registers)?;
        let (lanes, rows) = shape.split_last()?;
        let bytes = lanes * ty::byte_size(ty::elem(ty)?)?;
        let each = bytes.div_ceil(self.registers.register_bytes()?);
        Some((rows.iter().product::<u64>() * each) as usize)
    }

    /// Returns whether an operation takes no time and may stand before what it stands behind.
    fn is_pure(&self, op: Op<'c>) -> bool {
        is_index(op) || self.taken(op).is_some()
    }

    /// Runs of operations between two of another kind.
    fn pieces(&self, block: Block<'c>) -> Vec<Vec<Op<'c>>> {
        let mut pieces = vec![Vec::new()];
        for op in block.ops() {
            if self.is_pure(op) || Touch::of(self.costs, op).is_some() {
                pieces.last_mut().expect("there is one").push(op);
            } else if pieces.last().is_some_and(|piece| !piece.is_empty()) {
                pieces.push(Vec::new());
            }
        }
        pieces
    }

    /// Reorders a block of instructions, if that makes it shorter. It may use `most` registers; the list
    /// takes at most `spared` more than the text does.
    fn order(&mut self, piece: &[Op<'c>], most: usize, spared: usize, pool: &mut Pool<'c>) {
        // A kernel's block may end with index arithmetic.
        let Some(end) = piece.last().and_then(|op| op.next()) else { return };
        let (pure, timed): (Vec<Op<'c>>, Vec<Op<'c>>) =
            piece.iter().partition(|op| self.is_pure(**op));
        let touches: Vec<_> = timed.iter().filter_map(|&op| Touch::of(self.costs, op)).collect();
        let here: HashSet<Op<'c>> = timed.iter().copied().collect();
        let values: Vec<Op<'c>> =
            pure.iter().copied().filter(|&op| self.is_value(op, &here)).collect();
        for op in &values {
            let ty = op.result(0).ty();
            if !pool.iter().any(|(kind, _)| *kind == ty) {
                pool.push((ty, Vec::new()));
            }
        }
        let read = InstructionBlock::read(&touches, &values, pool, self.registers.name);
        let there: Vec<usize> = pool.iter().map(|(_, own)| own.len()).collect();
        let text = schedule::as_written(&read.items, &read.kind_of, &there);
        let more = text.kinds.iter().sum::<usize>() - there.iter().sum::<usize>();
        // Those that values have now are not taken any more.
        let taken = self.own(end.block().expect("it stands in one")) - values.len();
        let left = most.saturating_sub(taken).min(more.saturating_add(spared));
        let cycles = |order: &Order| schedule::cycles(&read.items, &order.items);
        let found = schedule::list(&read.items, &read.kind_of, &there, left).filter(|found| {
            debug_assert!(schedule::is_legal(&read.items, &read.kind_of, found));
            let both = [cycles(&text), cycles(found)];
            if both[0] > 0.0 {
                self.pieces.push(both);
            }
            both[1] < both[0]
        });
        self.ordered += u64::from(found.is_some());
        let order = found.unwrap_or(text);
        self.write(end, (&pure, &timed), &read, &order, pool);
        values.into_iter().for_each(Op::erase);
    }

    /// Returns whether a register is for values of these operations only.
    fn is_value(&self, op: Op<'c>, timed: &HashSet<Op<'c>>) -> bool {
        let users = op.result(0).uses();
        self.taken(op) == Some(1)
            && !users.is_empty()
            && users.iter().all(|(user, _)| timed.contains(user))
            && self.begins(op)
    }

    /// Returns whether the first operation that touches a register writes it whole.
    fn begins(&self, op: Op<'c>) -> bool {
        let own = op.result(0);
        let mut later = std::iter::successors(op.next(), |op| op.next());
        let first = later.find(|op| op.operands().contains(&own));
        first.and_then(|first| Touch::of(self.costs, first)).is_some_and(|touch| {
            let here = |views: &[View<'c>]| views.iter().any(|view| view.memref == own);
            touch.whole && here(&touch.writes) && !here(&touch.reads)
        })
    }

    /// Writes the block before `end`.
    fn write(
        &self,
        end: Op<'c>,
        (pure, timed): (&[Op<'c>], &[Op<'c>]),
        read: &InstructionBlock<'c>,
        order: &Order,
        pool: &mut Pool<'c>,
    ) {
        let block = end.block().expect("it stands in one");
        for ((kind, known), count) in pool.iter_mut().zip(&order.kinds) {
            while known.len() < *count {
                let first = block.ops()[0];
                let mut b = Builder::before(self.context, first).with_location(end.location());
                known.push(build::alloc(&mut b, *kind));
            }
        }
        for (number, values) in read.values.iter().enumerate() {
            for &(memref, value) in values {
                let own = pool[read.kind_of[value]].1[order.registers[value]];
                for (place, operand) in timed[number].operands().into_iter().enumerate() {
                    if operand == memref {
                        timed[number].set_operand(place, own);
                    }
                }
            }
        }
        pure.iter().for_each(|op| op.move_before(end));
        order.items.iter().for_each(|&number| timed[number].move_before(end));
    }
}

/// Returns whether an operation is arithmetic of indices, which takes no time.
pub(super) fn is_index(op: Op<'_>) -> bool {
    op.region_count() == 0 && (op.is("affine.apply") || op.name().starts_with("arith."))
}

/// Returns whether the blocks of an operation are done lane by lane.
fn is_lanewise(op: Op<'_>) -> bool {
    op.is("device.apply") || op.is("device.combine")
}

/// A block of instructions as list scheduling sees it.
#[derive(Default)]
struct InstructionBlock<'c> {
    items: Vec<Item>,
    /// By value, its kind in the pool.
    kind_of: Vec<usize>,
    /// By item, the registers that values replace, and by which.
    values: Vec<Vec<(Val<'c>, usize)>>,
}

impl<'c> InstructionBlock<'c> {
    /// `values` are the registers of values.
    fn read(touches: &[Touch<'c>], values: &[Op<'c>], pool: &Pool<'c>, registers: &'c str) -> Self {
        let own: HashSet<Val<'c>> = values.iter().map(|op| op.result(0)).collect();
        let views = touches.iter().flat_map(|touch| touch.reads.iter().chain(&touch.writes));
        let mut cells = Cells { registers, ..Cells::default() };
        cells.blurred.extend(views.filter(|view| row(view).is_none()).map(|view| view.memref));
        cells.blurred.extend(touches.iter().flat_map(|touch| touch.spread.iter().copied()));
        let mut piece = Self::default();
        let mut current: HashMap<Val<'c>, usize> = HashMap::new();
        for touch in touches {
            for view in touch.writes.iter().filter(|view| own.contains(&view.memref)) {
                let read = touch.reads.iter().any(|other| other.memref == view.memref);
                if touch.whole && !read {
                    current.insert(view.memref, piece.kind_of.len());
                    let kind = pool.iter().position(|(kind, _)| *kind == view.memref.ty());
                    piece.kind_of.push(kind.expect("the pool has the types of all values"));
                }
            }
            let mut replaced = Vec::new();
            let mut of = |view: &View<'c>| match current.get(&view.memref) {
                Some(&value) => {
                    replaced.push((view.memref, value));
                    vec![Cell::Value(value as u32)]
                }
                None => cells.of(view),
            };
            let mut reads: Vec<Cell> = touch.reads.iter().flat_map(&mut of).collect();
            let writes = touch.writes.iter().flat_map(of).collect();
            reads.extend(touch.tables.iter().flat_map(|&table| cells.memory(table)));
            piece.values.push(replaced);
            piece.items.push(Item { issue: touch.issue, latency: touch.latency, reads, writes });
        }
        piece
    }
}

/// Numbers for what keeps its name.
#[derive(Default)]
struct Cells<'c> {
    /// The memory of registers.
    registers: &'c str,
    rows: HashMap<(Val<'c>, Vec<i64>), u32>,
    /// The memrefs for which some access does not name one register.
    blurred: HashSet<Val<'c>>,
    memories: Vec<(Val<'c>, u32)>,
    next: u32,
}

impl<'c> Cells<'c> {
    /// One register of several, or all that may be in the same bytes.
    fn of(&mut self, view: &View<'c>) -> Vec<Cell> {
        let rows = row(view).filter(|_| {
            ty::memory(view.memref.ty()) == Some(self.registers)
                && !self.blurred.contains(&view.memref)
        });
        let Some(rows) = rows else { return self.memory(view.memref) };
        let next = &mut self.next;
        let cell = *self.rows.entry((view.memref, rows)).or_insert_with(|| {
            *next += 1;
            *next - 1
        });
        vec![Cell::Fixed(cell)]
    }

    /// A memory is one cell for all that may be in the same bytes.
    fn memory(&mut self, memref: Val<'c>) -> Vec<Cell> {
        let known: Vec<u32> = self
            .memories
            .iter()
            .filter(|(other, _)| *other == memref || may_meet(*other, memref))
            .map(|(_, cell)| *cell)
            .collect();
        if !self.memories.iter().any(|(other, _)| *other == memref) {
            self.memories.push((memref, self.next));
            self.next += 1;
            let own = self.next - 1;
            return known.into_iter().chain([own]).map(Cell::Fixed).collect();
        }
        known.into_iter().map(Cell::Fixed).collect()
    }
}

/// Returns whether two buffers may share bytes: arguments of a kernel, or buffers in one arena.
fn may_meet<'c>(one: Val<'c>, other: Val<'c>) -> bool {
    if ty::memory(one.ty()) != ty::memory(other.ty()) {
        return false;
    }
    let piece = |value: Val<'c>| {
        let op = value.def()?;
        let begin = op.attr("offset").and_then(attr::int)?;
        let bytes = ty::count(value.ty())? * ty::byte_size(ty::elem(value.ty())?)?;
        Some((begin, begin + bytes as i64))
    };
    match (one.def(), other.def(), piece(one), piece(other)) {
        (Some(_), Some(_), Some(a), Some(b)) => a.0 < b.1 && b.0 < a.1,
        // A buffer of a block has bytes of its own.
        (Some(_), Some(_), _, _) => false,
        _ => true,
    }
}
