//! Boxes of tensors that an engine brings by coordinates: one thread asks, all wait.
//!
//! ```text
//! %t = device.transfer @stage_boxes A      n = count; count = n + 1
//!                                          thread 0: barrier n mod depth expects the bytes of A; begin its boxes
//! device.wait %t                           until barrier n mod depth is in its phase n / depth
//! ```
//!
//! A token is the number of its transfer, so that loops hand on numbers. Barriers are words in the memory that a block
//! shares, used in turn, more of them than transfers can be under way: a word is used again when every thread has waited,
//! behind the barrier of the block in each round of a loop that begins boxes, or where they are begun after an arrival of
//! the round before (`arrivals.rs`).
//!
//! What the rTasks of a cluster bring together each begins a part of, for all of them; the barriers of each count all bytes.
//! Then all of them meet before words, and rooms, are used again, and before the first word is.
//!
//! The descriptors of tensors are parameters of the kernel, behind its memrefs; a comment at the head of the code says
//! what the driver is to be asked for.

use melior::dialect::llvm::r#type as llvm;
use rustc_hash::FxHashMap;
use weft_dialects::device::tokens::{self, Kind, begun};
use weft_dialects::device::{Cluster, Kernel, Limit, Machine, Scope, Share, TensorBox, Transfer};
use weft_dialects::ir::{Builder, Diagnostics, Op, Type, Val, attr, ty};

use super::super::index_sum::is_same;
use super::super::pointer::pointer;
use super::arrivals::Arrivals;
use super::boxes::{compare, when};
use super::storage::{Storage, Thread, load, store};
use super::words::{WORD_BYTES, Words, until_over};
use crate::nest::emit_sum;

/// A tensor and the shape of its boxes, as the driver is asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The number of the kernel's operand.
    pub operand: usize,
    /// What a box is; of its parts only the shape counts.
    pub shape: TensorBox,
    /// The bits of an address that are changed: 0 where none are.
    pub swizzle: u32,
}

impl Descriptor {
    /// The comment at the head of the code about it.
    pub fn head(&self, kernel: &str) -> String {
        let Self { operand, shape, swizzle } = self;
        let by = |numbers: &[u64]| {
            let all: Vec<String> = numbers.iter().map(u64::to_string).collect();
            if all.is_empty() { "-".to_owned() } else { all.join("x") }
        };
        let (extents, strides, points) =
            (by(&shape.extents), by(&shape.strides), by(&shape.points));
        format!(
            "// box {kernel} operand {operand} bytes {} extents {extents} strides {strides} points {points} swizzle {swizzle}\n",
            shape.elem_bytes
        )
    }

    /// Those of a kernel's transfers, each once, in the order of its parameters.
    pub fn all<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> Vec<Self> {
        found(machine, (kernel.op, kernel.cluster), &kernel.args()).0
    }
}

/// The descriptors of a kernel's transfers whose sources are among `args`, and that of each transfer.
fn found<'c>(
    machine: Machine<'c>,
    (root, cluster): (Op<'c>, Option<Cluster>),
    args: &[Val<'c>],
) -> (Vec<Descriptor>, FxHashMap<Op<'c>, (usize, TensorBox)>) {
    let (mut all, mut of): (Vec<Descriptor>, _) = (Vec::new(), FxHashMap::default());
    root.walk(&mut |op| {
        let Some(transfer) = Transfer::of(op) else { return };
        let boxes = machine.move_named(transfer.move_name).and_then(|way| way.boxes());
        let Some(boxes) = boxes else { return };
        let operand = args.iter().position(|arg| *arg == transfer.source.memref);
        let shares = cluster.filter(|_| transfer.together).map_or(1, |own| own.count);
        let (Some(operand), Ok(shape)) = (operand, TensorBox::of(&transfer, &boxes, shares)) else {
            return;
        };
        let swizzle = boxes.swizzle.filter(|_| shape.is_swizzled).map_or(0, |[bits, ..]| bits);
        let own = Descriptor { operand, shape: without_parts(&shape), swizzle };
        let number = all.iter().position(|known| *known == own).unwrap_or_else(|| {
            all.push(own);
            all.len() - 1
        });
        of.insert(op, (number, shape));
    });
    (all, of)
}

fn without_parts(shape: &TensorBox) -> TensorBox {
    let share = Share { count: 1, at: Vec::new(), place: 0 };
    TensorBox { parts: Vec::new(), sides: Vec::new(), share, ..shape.clone() }
}

/// Bytes that a kernel's barriers take of the memory that a block shares.
pub fn barrier_bytes<'c>(machine: Machine<'c>, root: Op<'c>) -> u64 {
    let depth = depth(machine, root);
    let mut arrives = false;
    root.walk(&mut |op| arrives |= begun(machine, op) == Some(Kind::Arrivals));
    depth * if arrives { 2 } else { 1 } * WORD_BYTES
}

/// Barriers of a kernel, a power of two: more than transfers that not all groups have waited for. Each of those was begun
/// by one operation's last round, or is carried by a loop.
fn depth<'c>(machine: Machine<'c>, root: Op<'c>) -> u64 {
    let (mut begins, mut carried) = (Vec::new(), Vec::new());
    root.walk(&mut |op| {
        if begun(machine, op) == Some(Kind::Boxes) {
            begins.extend(op.results());
        }
        if op.name().ends_with(".for") {
            carried.extend(op.results());
        }
    });
    let Some(token) = begins.first().map(|token| token.ty()) else { return 0 };
    let carried = carried.into_iter().filter(|value| value.ty() == token).count();
    (begins.len() + carried).next_power_of_two() as u64
}

/// The boxes of a function for one thread.
#[derive(Default)]
pub struct TensorBoxes<'c> {
    of: FxHashMap<Op<'c>, (usize, TensorBox)>,
    /// The parameters that descriptors are.
    descriptors: Vec<Val<'c>>,
    /// The number of each transfer, an index.
    numbers: FxHashMap<Op<'c>, Val<'c>>,
    /// The operands of each wait that are numbers of boxes.
    waits: FxHashMap<Op<'c>, Vec<usize>>,
    /// In the memory that a block shares.
    barriers: Option<Words<'c>>,
    depth: u64,
    arrivals: Arrivals<'c>,
}

impl<'c> TensorBoxes<'c> {
    /// Reads a function whose parameters behind `begin` and `end` are memrefs, then descriptors, and gives each
    /// transfer of boxes a number in the place of its token; `kernel` has the same program once.
    pub fn take(thread: &Thread<'c>, kernel: Op<'c>, func: Op<'c>, diag: &mut Diagnostics) -> Self {
        let (machine, args) = (thread.machine, func.body(0).map(|block| block.args()));
        let args: Vec<_> = args.into_iter().flatten().skip(2).collect();
        let is_memref = |arg: &&Val<'c>| ty::shape(arg.ty()).is_some();
        let memrefs: Vec<_> = args.iter().filter(is_memref).copied().collect();
        let descriptors = args[memrefs.len()..].to_vec();
        let (_, of) = found(machine, (func, thread.cluster), &memrefs);
        let depth = depth(machine, kernel);
        let (mut waits, mut givers) = (FxHashMap::default(), Vec::new());
        func.walk(&mut |op| {
            if begun(machine, op) == Some(Kind::Boxes) {
                givers.push(op);
            }
            if op.is("device.wait") {
                let own = tokens::boxes(machine, op);
                if own.iter().any(|(token, _)| !tokens::is_only_of_boxes(machine, *token)) {
                    diag.error(
                        op,
                        "a token is that of boxes on one way, and another one on others",
                    )
                    .help(
                        "let each value that a loop carries be the token of boxes always, or never",
                    );
                }
                let places = op.operands().into_iter().enumerate();
                let places =
                    places.filter(|(_, token)| own.iter().any(|(known, _)| known == token));
                waits.insert(op, places.map(|(place, _)| place).collect::<Vec<_>>());
            }
        });
        let arrivals = Arrivals::take(thread, func, depth);
        let mut boxes = Self { of, descriptors, waits, depth, arrivals, ..Self::default() };
        if givers.is_empty() {
            return boxes;
        }
        if !thread.isa.brings_boxes() {
            let what = format!("{} has no engine that brings boxes of tensors", thread.isa.form());
            diag.error(givers[0], what).help("bring them by a move that takes elements one by one");
        }
        let most = thread.isa.most_blocks_of_cluster();
        if let Some(cluster) = thread.cluster.filter(|own| own.count > most) {
            let what = format!("a cluster of {} blocks", cluster.count);
            diag.error(givers[0], what)
                .help(format!("{} has clusters of {most}", thread.isa.form()));
        }
        for giver in &givers {
            let giver = *giver;
            // Blocks of a cluster count alike, their own boxes, too.
            let scope = thread.meeting();
            let after = Transfer::of(giver).is_some_and(|own| own.after.is_some());
            let known = after && thread.cluster.is_none();
            if !known && !meets_in_each_round(giver, scope) {
                let who = if scope == Scope::Core { "groups" } else { "rTasks" };
                let what = format!("boxes are begun in a loop in whose rounds {who} do not meet");
                diag.error(giver, what).help(format!(
                    "put device.barrier \"{}\" into the loop, behind the wait for what was begun before, or begin them after an \
                     arrival of the round before",
                    scope.name()
                ));
            }
            if !boxes.of.contains_key(&giver) || boxes.descriptors.is_empty() {
                diag.error(giver, "boxes of what is no operand of a kernel that is launched")
                    .help("bring it by a move that takes elements one by one");
            }
        }
        boxes.numbers = counted(thread, func, &givers, 0);
        boxes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Words that are needed.
    pub fn words(&self) -> u64 {
        if self.arrivals.is_empty() { self.depth } else { 2 * self.depth }
    }

    /// Makes the barriers ready before any thread goes on to rTasks.
    pub fn begin(&mut self, func: Op<'c>, thread: &Thread<'c>, memref: Val<'c>) {
        let barriers = Words { memref, first: 0, depth: self.depth };
        let arrivals = Words { first: self.depth, ..barriers };
        let arrive = !self.arrivals.is_empty();
        self.barriers = Some(barriers);
        self.arrivals.at(arrivals);
        let ops = func.body(0).map(|block| block.ops()).unwrap_or_default();
        let of_tasks = ops.into_iter().find(|op| op.is("scf.if"));
        let b = &mut Builder::before(thread.context, of_tasks.expect("an entry has a condition"));
        let first = is_number(b, thread, 0);
        when(b, Some(first), |b| {
            barriers.make(b, thread, 1);
            if arrive {
                arrivals.make(b, thread, thread.groups * thread.lanes / thread.isa.warp() as u64);
            }
            thread.isa.show_barriers(b);
        });
        thread.isa.barrier(b, thread.meeting(), None);
        if let Some(end) =
            func.body(0).and_then(|block| block.terminator()).filter(|_| thread.cluster.is_some())
        {
            // What a block asked for goes to others until they have waited for it: it does not leave before them.
            thread.isa.barrier(&mut Builder::before(thread.context, end), Scope::Cluster, None);
        }
    }

    /// Begins a transfer.
    pub fn bring(
        &self,
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        transfer: &Transfer<'c>,
        diag: &mut Diagnostics,
    ) {
        let (Some((descriptor, shape)), Some(barriers)) =
            (self.of.get(&transfer.op), self.barriers)
        else {
            return;
        };
        if thread.roles.only_counts(transfer.op) {
            return;
        }
        let mut limits = transfer.limits.iter();
        if let Some(number) = limits.position(|own| !ends(own, transfer, shape)) {
            diag.error(transfer.op, format!("limit {number} does not end where the tensor does"))
                .help("boxes leave out what is behind the end of a dimension: bring it by a move that takes elements one by one");
        }
        let Storage::Memory { flat, shape: held, .. } = thread.storage(&transfer.target) else {
            return;
        };
        let (flat, context) = (*flat, b.context());
        let base = thread.linear(b, held, &transfer.target.indices);
        let shared = llvm::pointer(context, 3);
        let int = ty::int(context, 32);
        let [barrier, _] = barriers.of(b, self.numbers[&transfer.op], 0);
        let begin: Vec<_> = transfer.source.indices.iter().rev().copied().collect();
        let first = is_number(b, thread, thread.roles.others().unwrap_or(0));
        let Share { count, at: step, place: step_in_target } = &shape.share;
        when(b, Some(first), |b| {
            self.arrivals.wait(b, thread, transfer);
            thread.isa.expect_bytes(b, barrier, shape.bytes());
            // Where this rTask's share begins.
            let own = (*count > 1).then(|| {
                let own = thread.isa.block_of_cluster(b);
                b.op("arith.index_castui", &[own], &[Type::index(context)]).result(0)
            });
            let behind = |b: &mut Builder<'c>, begin: Val<'c>, step: u64, at: u64| {
                let own = own.map(|own| (own, step as i64)).filter(|(_, step)| *step > 0);
                let all: Vec<_> = std::iter::once((begin, 1)).chain(own).collect();
                emit_sum(b, &all, at as i64)
            };
            for (at, place) in &shape.parts {
                let place = behind(b, base, *step_in_target, *place);
                let to = pointer(b, [flat, place], shared);
                let at = begin.iter().zip(step).zip(at).map(|((begin, step), at)| {
                    let at = behind(b, *begin, *step, *at);
                    b.op("arith.index_cast", &[at], &[int]).result(0)
                });
                let at: Vec<_> = at.collect();
                let descriptor = self.descriptors[*descriptor];
                thread.isa.bring_box(b, [to, barrier], descriptor, &at, *count);
            }
        });
    }

    /// A group arrives.
    pub fn arrive(&self, b: &mut Builder<'c>, thread: &Thread<'c>, op: Op<'c>) {
        self.arrivals.arrive(b, thread, op);
    }

    /// Waits for the boxes of a `device.wait`.
    pub fn wait(&self, b: &mut Builder<'c>, thread: &Thread<'c>, wait: Op<'c>) {
        let (Some(barriers), Some(own)) = (self.barriers, self.waits.get(&wait)) else { return };
        for place in own {
            let word = barriers.of(b, wait.operand(*place), 0);
            until_over(b, thread, word);
        }
    }
}

/// Whether those of a scope meet in each round of the loop around an operation, if there is one.
fn meets_in_each_round(op: Op<'_>, scope: Scope) -> bool {
    let round = std::iter::successors(op.parent(), |own| own.parent());
    let round = round.into_iter().find(|own| own.name().ends_with(".for"));
    round
        .and_then(|own| own.body(0))
        .is_none_or(|body| body.ops().into_iter().any(|op| Scope::of_barrier(op) >= Some(scope)))
}

/// Whether this thread of the block has a number.
fn is_number<'c>(b: &mut Builder<'c>, thread: &Thread<'c>, number: u64) -> Val<'c> {
    let number = b.index(number as i64);
    compare(b, "eq", thread.place.number, number)
}

/// Puts a number in the place of the token of each of some operations, which a thread counts from a number on, as all
/// threads of a block do alike.
pub fn counted<'c>(
    thread: &Thread<'c>,
    func: Op<'c>,
    givers: &[Op<'c>],
    from: i64,
) -> FxHashMap<Op<'c>, Val<'c>> {
    let (context, index) = (thread.context, Type::index(thread.context));
    let first = func.body(0).and_then(|block| block.ops().first().copied());
    let Some(first) = first.filter(|_| !givers.is_empty()) else { return FxHashMap::default() };
    let mut b = Builder::before(context, first);
    let space = thread.isa.private_space().map(|space| attr::of_int(context, space));
    let ty = ty::memref(&[1], index, space);
    let none = attr::of_ints32(context, &[0, 0]);
    let own = [("operandSegmentSizes", none)];
    let counter = b.op_with("memref.alloca", &[], &[ty], &own, 0).result(0);
    let (zero, from) = (b.index(0), b.index(from));
    store(&mut b, from, counter, &[zero]);
    let number = |giver: &Op<'c>| {
        let mut b = Builder::before(context, *giver);
        let (place, one) = ([b.index(0)], b.index(1));
        let number = load(&mut b, counter, &place);
        let next = b.op("arith.addi", &[number, one], &[index]).result(0);
        store(&mut b, next, counter, &place);
        giver.result(0).replace_with(number);
        (*giver, number)
    };
    givers.iter().map(number).collect()
}

/// Whether a limit leaves out what is behind the end of one dimension of the tensor, and nothing else.
fn ends<'c>(limit: &Limit<'c>, transfer: &Transfer<'c>, shape: &TensorBox) -> bool {
    let along = |dim: usize| {
        shape.sides.iter().zip(&limit.steps).all(|(side, step)| match side {
            Some((own, by)) if *own == dim => *step == *by as i64,
            Some(_) => *step == 0,
            None => true,
        })
    };
    let Some([end, before]) = left(limit.bound) else { return false };
    let Some(end) = end.def().and_then(|op| op.attr("value")).and_then(attr::int) else {
        return false;
    };
    let begin = transfer.source.indices.iter().rev();
    shape.extents.iter().zip(begin).enumerate().any(|(dim, (extent, begin))| {
        along(dim) && *extent as i64 == end && is_same(before, *begin)
    })
}

/// The numbers `end` and `begin` of `end - min(begin, end)`.
fn left(bound: Val<'_>) -> Option<[Val<'_>; 2]> {
    let less = bound.def().filter(|op| op.is("arith.subi"))?;
    let least = less.operand(1).def().filter(|op| op.is("arith.minui"))?;
    let same = is_same(less.operand(0), least.operand(1));
    same.then(|| [less.operand(0), least.operand(0)])
}
