//! The storage of a device program's values in the code of one thread.

use rustc_hash::FxHashMap;
use weft_dialects::device::{
    Apply, Cluster, Combine, Instruction, Invoke, Machine, Memory, Scope, View,
};
use weft_dialects::ir::{Builder, Context, Diagnostics, Op, Type, Val, attr, ty};

use super::super::index_sum::IndexSum;
use super::super::lower::bf16::bits_of;
use super::isa::Isa;
use super::layout::Layout;
use super::producer::Roles;
use super::tensor_boxes::TensorBoxes;
use super::uniform::RowNumber;
use crate::nest::{emit_sum, row_major};
use crate::tile::banks::Swizzle;

/// A memref of the device program.
#[derive(Clone, Debug)]
pub enum Storage<'c> {
    /// In a memory that threads share: all elements in a row.
    Memory {
        /// `memref<elements x elem, space>`.
        flat: Val<'c>,
        /// Its extents in the device program.
        shape: Vec<u64>,
        /// True if only this group of threads sees it.
        ours: bool,
        /// The swizzle, if elements are not stored in order.
        swizzle: Option<Swizzle>,
    },
    /// In registers: what this thread holds.
    Registers {
        /// `memref<leading extents x slots x elem, space>`.
        slots: Val<'c>,
        /// Its extents in the device program.
        shape: Vec<u64>,
        /// The distribution of the last dimensions over threads.
        layout: Layout<'c>,
    },
}

/// Which thread it is, in indices.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIds<'c> {
    /// Its number in its group.
    pub lane: Val<'c>,
    /// Its number in its block.
    pub number: Val<'c>,
    /// The number of its group in the block.
    pub group: Val<'c>,
}

/// The code of one thread, in the making.
pub struct Thread<'c> {
    pub context: &'c Context,
    pub machine: Machine<'c>,
    pub isa: Isa,
    /// Threads of a group.
    pub lanes: u64,
    /// Groups that run an rTask together.
    pub groups: u64,
    /// The rTasks that run at the same time as a thread's.
    pub cluster: Option<Cluster>,
    /// Number of threads that meet at a barrier, if that is not the whole block.
    pub part: Option<u64>,
    /// Which of them this one is.
    pub place: ThreadIds<'c>,
    /// True if an engine's instructions read memory that threads write.
    pub has_readers: bool,
    pub storages: FxHashMap<Val<'c>, Storage<'c>>,
    /// Transfers that wait until their registers are used, by these.
    pub later: FxHashMap<Val<'c>, Op<'c>>,
    /// The number of each row, for registers that hold one of an operand (`uniform.rs`).
    pub uniform: FxHashMap<Val<'c>, RowNumber>,
    /// Where groups go by turns, for each barrier whether they multiply behind it.
    pub multiplies: FxHashMap<Op<'c>, bool>,
    /// What only some groups do.
    pub roles: Roles<'c>,
    /// Boxes that an engine brings by coordinates.
    pub boxes: TensorBoxes<'c>,
}

impl<'c> Thread<'c> {
    /// Whether rTasks run at the same time that can wait for each other.
    pub fn has_cluster(&self) -> bool {
        self.cluster.is_some() && self.isa.most_blocks_of_cluster() > 1
    }

    /// The scope of those that use what boxes bring.
    pub fn meeting(&self) -> Scope {
        if self.cluster.is_some() { Scope::Cluster } else { Scope::Core }
    }

    /// Its number among those that run the rTask.
    pub fn number(&self) -> Val<'c> {
        if self.groups > 1 { self.place.number } else { self.place.lane }
    }

    /// Returns the elements of so many bytes that it moves at once between its registers and other
    /// memories.
    pub fn widest(&self, elem_bytes: u64) -> u64 {
        let spread = self.machine.memories().into_iter().find(|memory| memory.lanes().is_some());
        spread.map_or(1, |own| (own.access_bytes() / elem_bytes).max(1))
    }

    /// The slot that holds what `slot` of some registers is.
    pub fn held_slot(&self, memref: Val<'c>, slot: u64) -> u64 {
        self.uniform.get(&memref).map_or(slot, |own| own.first[slot as usize])
    }

    /// Whether registers hold parts of sums of rows.
    pub fn sums_rows(&self, memref: Val<'c>) -> bool {
        self.uniform.get(&memref).is_some_and(|own| own.is_sum)
    }

    /// The storage of a view's memref.
    pub fn storage(&self, view: &View<'c>) -> &Storage<'c> {
        &self.storages[&view.memref]
    }

    /// The number of the element that a view of a memory begins at.
    pub fn linear(&self, b: &mut Builder<'c>, shape: &[u64], indices: &[Val<'c>]) -> Val<'c> {
        let terms: Vec<_> = indices.iter().copied().zip(row_major(shape)).collect();
        emit_sum(b, &terms, 0)
    }

    /// The one element that a view of a memory begins at.
    pub fn load(&self, b: &mut Builder<'c>, view: &View<'c>) -> Option<Val<'c>> {
        let Storage::Memory { flat, shape, swizzle, .. } = self.storage(view) else { return None };
        let at = self.linear(b, shape, &view.indices);
        let at = swizzled(b, at, *swizzle);
        Some(load(b, *flat, &[at]))
    }
}

/// The swizzle of a `device.alloc`.
pub fn swizzle(alloc: Op<'_>) -> Option<Swizzle> {
    let numbers = alloc.attr("swizzle").and_then(attr::ints)?;
    let [bits, keep, shift] = numbers[..] else { return None };
    Some(Swizzle { bits: bits as u32, keep: keep as u32, shift: shift as u32 })
}

/// Returns the position of the element `at` of a row of elements.
pub fn swizzled<'c>(b: &mut Builder<'c>, at: Val<'c>, swizzle: Option<Swizzle>) -> Val<'c> {
    let Some(Swizzle { bits, keep, shift }) = swizzle else { return at };
    let index = Type::index(b.context());
    // Neither what it reads nor what it changes is above these bits, so what is moves an address as if
    // nothing was swizzled: accesses that differ by such a number share one.
    let mut sum = IndexSum::default();
    sum.add(at, 1);
    let [own, above] = sum.apart(1 << (keep + shift + bits));
    let beyond = (!above.is_zero()).then(|| above.write(b));
    let at = if beyond.is_some() { own.write(b) } else { at };
    let (shift, mask) = (b.index(shift.into()), b.index(((1 << bits) - 1) << keep));
    let above = b.op("arith.shrui", &[at, shift], &[index]).result(0);
    let by = b.op("arith.andi", &[above, mask], &[index]).result(0);
    let at = b.op("arith.xori", &[at, by], &[index]).result(0);
    beyond.map_or(at, |beyond| emit_sum(b, &[(at, 1), (beyond, 1)], 0))
}

/// `memref.load`.
pub fn load<'c>(b: &mut Builder<'c>, memref: Val<'c>, indices: &[Val<'c>]) -> Val<'c> {
    let elem = ty::elem(memref.ty()).expect("a load is of a memref");
    let operands: Vec<_> = std::iter::once(memref).chain(indices.iter().copied()).collect();
    b.op("memref.load", &operands, &[elem]).result(0)
}

/// `memref.store`.
pub fn store<'c>(b: &mut Builder<'c>, value: Val<'c>, memref: Val<'c>, indices: &[Val<'c>]) {
    let operands: Vec<_> = [value, memref].into_iter().chain(indices.iter().copied()).collect();
    b.op("memref.store", &operands, &[]);
}

/// `memref<elements x elem>` in an address space of LLVM.
pub fn flat<'c>(context: &'c Context, memref: Type<'c>, space: Option<i64>) -> Type<'c> {
    let count = ty::count(memref).unwrap_or(1);
    in_space(context, &[count], memref, space)
}

/// A memref of other extents, with the same elements, in an address space.
pub fn in_space<'c>(
    context: &'c Context,
    shape: &[u64],
    memref: Type<'c>,
    space: Option<i64>,
) -> Type<'c> {
    let elem = ty::elem(memref).map_or(memref, |elem| bits_of(context, elem));
    ty::memref(shape, elem, space.map(|space| attr::of_int(context, space)))
}

/// Returns the distribution of a register memref over threads: that of the instructions that use
/// it, lane by lane where none does.
///
/// Reports instructions that disagree, and gives `None` then.
pub fn layout_of<'c>(
    machine: Machine<'c>,
    alloc: Op<'c>,
    memory: &Memory<'c>,
    diag: &mut Diagnostics,
) -> Option<Layout<'c>> {
    let value = alloc.result(0);
    let shape = ty::shape(value.ty())?;
    let lanes = memory.lanes()?;
    let mut found: Option<(Layout<'c>, Op<'c>)> = None;
    for (user, _) in value.uses() {
        let Some(wanted) = wanted(machine, user, value, lanes) else { continue };
        match &found {
            Some((layout, first)) if *layout != wanted => {
                diag.error(user, "the instruction wants a register in another order than others")
                    .note(*first, "this one uses it as well")
                    .help("give each order a register of its own, and move between them by memory");
                return None;
            }
            Some(_) => {}
            None => found = Some((wanted, user)),
        }
    }
    let last = shape.last().copied().unwrap_or(1);
    Some(found.map_or_else(|| Layout::lanewise(lanes, last), |(layout, _)| layout))
}

/// The order that one use asks for: an instruction, the other registers of a body on whole operands,
/// or lane by lane.
fn wanted<'c>(
    machine: Machine<'c>,
    user: Op<'c>,
    value: Val<'c>,
    lanes: u64,
) -> Option<Layout<'c>> {
    if let Some(invoke) = Invoke::of(user) {
        let instruction = machine.instruction(invoke.instruction)?;
        let operand = invoke.views.iter().position(|view| view.memref == value)?;
        return fragment(&instruction, operand, lanes);
    }
    if let Some(others) = beside(user, value) {
        let mut seen = vec![value];
        let mut waiting = others;
        while let Some(other) = waiting.pop().filter(|_| seen.len() < MOST_BESIDE) {
            if seen.contains(&other) {
                continue;
            }
            seen.push(other);
            let users: Vec<_> = other.uses().into_iter().map(|(op, _)| op).collect();
            let invoke = users.iter().find(|op| op.is("device.invoke"));
            if let Some(invoke) = invoke {
                return wanted(machine, *invoke, other, lanes);
            }
            waiting.extend(users.into_iter().filter_map(|op| beside(op, other)).flatten());
        }
        return None;
    }
    let last = ty::shape(value.ty())?.last().copied().unwrap_or(1);
    (user.is("device.apply") || user.is("device.combine")).then(|| Layout::lanewise(lanes, last))
}

/// Registers that are looked through for those of an instruction.
const MOST_BESIDE: usize = 64;

/// The other registers of what lanes do to whole operands of an instruction; `None` for what they do lane
/// by lane.
fn beside<'c>(user: Op<'c>, value: Val<'c>) -> Option<Vec<Val<'c>>> {
    let last = ty::shape(value.ty())?.last().copied().unwrap_or(1);
    let all = if let Some(apply) = Apply::of(user).filter(|apply| apply.lanes > last) {
        apply.outputs.iter().chain(&apply.inputs).map(|view| view.memref).collect()
    } else if let Some(combine) = Combine::of(user).filter(|combine| combine.along.is_some()) {
        vec![combine.input.memref, combine.output.memref]
    } else {
        return None;
    };
    Some(all.into_iter().filter(|other| *other != value).collect())
}

/// The layout of an operand of an instruction, where it has a fragment.
fn fragment<'c>(instruction: &Instruction<'c>, operand: usize, lanes: u64) -> Option<Layout<'c>> {
    let map = (*instruction.fragments().get(operand)?)?;
    let shape = ty::shape(*instruction.operand_types().get(operand)?)?;
    let arg = instruction.lowering()?.args().get(operand)?.ty();
    Layout::fragment(map, lanes, ty::count(arg).unwrap_or(1), &shape)
}
