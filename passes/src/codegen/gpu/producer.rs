//! A group of threads that only asks for boxes: it goes the way of the others, and does of it what that takes.
//!
//! ```text
//! %k = transfer @stage_boxes_apart K[0]       threads 0 to 255           threads 256 to 383
//! %f = ready; barrier                         take registers             give registers away
//! for i iter_args(%k, %f) {                   n = 1; barrier             thread 256: ask for K[0]; n = 1
//!   wait %k                                   for i {                    for i {
//!   %l = transfer K[i + 1] after(%f)            wait for box n - 1         thread 256: wait for arrival i - 1
//!   multiply                                    n = n + 1; multiply                    ask for K[i + 1]; n = n + 1
//!   %g = arrive; yield %l, %g }                 arrive }                   }
//! ```
//!
//! Both count transfers and arrivals alike, so a token is the same number for both.

use rustc_hash::FxHashSet;
use weft_dialects::device::tokens::{Kind, begun};
use weft_dialects::device::{Kernel, Machine, RegisterShares, token};
use weft_dialects::ir::{Block, Builder, Context, Op};

use super::boxes::compare;
use super::function::Lowering;
use super::storage::ThreadIds;

/// How a block's threads are divided, where one group only asks.
#[derive(Clone, Copy)]
pub struct Division {
    /// Threads that do everything else, the first ones.
    pub others: u64,
    /// Bytes of registers of each.
    pub registers: RegisterShares,
}

impl Division {
    /// That of a kernel, whose registers were found to do (C8); `None` where every group does everything.
    pub fn of<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> Option<Self> {
        let registers = kernel.shares(machine).ok()??;
        let lanes = kernel.registers(machine)?.lanes()?;
        Some(Self { others: kernel.groups * lanes, registers })
    }

    /// Whether some give registers to others.
    pub fn gives(&self) -> bool {
        self.registers.others > self.registers.first
    }
}

/// What threads of a function leave to others.
#[derive(Default)]
pub struct Roles<'c> {
    /// Transfers and arrivals that the threads that come to them only count: others do them.
    counted: FxHashSet<Op<'c>>,
    /// Threads that do everything else, where some only ask: the next one does.
    others: Option<u64>,
}

impl<'c> Roles<'c> {
    /// Whether a thread that comes to it only counts it.
    pub fn only_counts(&self, op: Op<'c>) -> bool {
        self.counted.contains(&op)
    }

    /// Threads that do everything but ask for boxes, the first ones, where there are others that do.
    pub fn others(&self) -> Option<u64> {
        self.others
    }

    /// Writes the code of a kernel, which `copy` writes, once for those that ask and once for the others.
    pub fn write(
        b: &mut Builder<'c>,
        how: &Lowering<'_, 'c>,
        (place, division): (&ThreadIds<'c>, &Division),
        copy: impl Fn(&mut Builder<'c>),
    ) -> Self {
        let first = b.index(division.others as i64);
        let is_other = compare(b, "slt", place.number, first);
        let choice = b.op_with("scf.if", &[is_other], &[], &[], 2);
        let (machine, RegisterShares { producer, others, .. }) = (how.machine, division.registers);
        let [works, asks] = [0, 1].map(|region| {
            let block = b.block(choice.region(region), &[]);
            let mut inside = b.into_block(block);
            copy(&mut inside);
            inside.op("scf.yield", &[], &[]);
            block
        });
        // Both are at the same buffers.
        let [own, other] = [works, asks].map(|block| {
            inside(block).into_iter().filter(|op| op.is("device.alloc")).collect::<Vec<_>>()
        });
        for (own, other) in own.into_iter().zip(other) {
            own.move_before(choice);
            other.result(0).replace_with(own.result(0));
            other.erase();
        }
        keep_of_producer(b.context(), machine, asks);
        if division.gives() {
            for (block, bytes, more) in [(works, others, true), (asks, producer, false)] {
                let first = block.ops().first().copied().expect("it ends in a yield");
                how.isa.take_registers(&mut Builder::before(b.context(), first), bytes, more);
            }
        }
        let mut counted = FxHashSet::default();
        for op in inside(works) {
            counted.extend((begun(machine, op) == Some(Kind::Boxes)).then_some(op));
        }
        counted.extend(inside(asks).into_iter().filter(|op| op.is("device.arrive")));
        Self { counted, others: Some(division.others) }
    }
}

/// All operations of a block, and in these, in their order.
fn inside(block: Block<'_>) -> Vec<Op<'_>> {
    let mut all = Vec::new();
    for op in block.ops() {
        op.walk(&mut |inner| all.push(inner));
    }
    all
}

/// Leaves of a block what it takes to ask for boxes: those, the arrivals that they wait for, and what both depend on.
fn keep_of_producer<'c>(context: &'c Context, machine: Machine<'c>, block: Block<'c>) {
    let all = inside(block);
    let known: FxHashSet<Op<'c>> = all.iter().copied().collect();
    let asks = |op: &Op<'c>| begun(machine, *op) == Some(Kind::Boxes) || op.is("device.arrive");
    let mut open: Vec<Op<'c>> = all.iter().copied().filter(asks).collect();
    open.extend(block.terminator());
    let token = token(context);
    let mut kept: FxHashSet<Op<'c>> = FxHashSet::default();
    while let Some(op) = open.pop() {
        if !known.contains(&op) || !kept.insert(op) {
            continue;
        }
        // Tokens are of what is kept, or of what others do.
        let numbers = op.operands().into_iter().filter(|value| value.ty() != token);
        open.extend(numbers.filter_map(|value| value.def()));
        open.extend(op.parent());
        let blocks = (0..op.region_count()).filter_map(|region| op.first_block(region));
        open.extend(blocks.filter_map(|block| block.terminator()));
    }
    for op in all.iter().filter(|op| kept.contains(op)) {
        for (place, value) in op.operands().into_iter().enumerate() {
            let maker = value.def().filter(|own| known.contains(own) && !kept.contains(own));
            if maker.is_some() {
                let ready = Builder::before(context, *op).op("device.ready", &[], &[token]);
                op.set_operand(place, ready.result(0));
            }
        }
    }
    for op in all.into_iter().rev().filter(|op| !kept.contains(op)) {
        op.erase();
    }
}
