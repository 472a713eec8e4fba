//! Memory that the threads of a block share.
//!
//! A kernel that is launched has memory of its own for each allocation; one buffer for all where that
//! is more than a kernel has without asking for it, which the launch then does. Kernels that one entry
//! calls lie over each other in one buffer, as large as the largest of them needs: a block does one
//! after the other, with a barrier between.

use rustc_hash::FxHashMap;
use weft_dialects::device::{Kernel, Machine, Memory, Scope};
use weft_dialects::ir::{Builder, Context, Op, Type, Val, attr, ty};

use super::function::Role;
use super::storage;
use super::tensor_boxes::barrier_bytes;

/// The widest that any instruction asks of an address.
const ALIGN: i64 = 1024;

/// The buffers that a kernel's threads share.
pub struct Shared<'k, 'c> {
    pub kernel: &'k Kernel<'c>,
    pub allocs: &'k [Op<'c>],
    pub role: Role<'k>,
    /// The arena of each memory.
    arenas: FxHashMap<&'c str, Val<'c>>,
    /// Names and types of all that is to be declared.
    made: Vec<(String, Type<'c>)>,
    /// The one buffer of what the launch asks for.
    asked: Option<(String, Type<'c>)>,
    /// The first free byte of the one buffer.
    used: i64,
}

impl<'k, 'c> Shared<'k, 'c> {
    pub fn new(
        (context, machine): (&'c Context, Machine<'c>),
        kernel: &'k Kernel<'c>,
        allocs: &'k [Op<'c>],
        role: Role<'k>,
    ) -> Self {
        let asked = matches!(role, Role::Entry) && asked_for(machine, kernel) > 0;
        let asked = asked.then(|| (format!("{}$shared", kernel.name), whole(context, 0, true)));
        Self {
            kernel,
            allocs,
            role,
            arenas: FxHashMap::default(),
            made: Vec::new(),
            asked,
            used: 0,
        }
    }

    /// `memref<elements x elem>` for an alloc: memory of its own, or a part of the arena.
    pub fn allocate(&mut self, b: &mut Builder<'c>, alloc: Op<'c>, memory: &Memory<'c>) -> Val<'c> {
        let flat = storage::flat(b.context(), alloc.result(0).ty(), Some(3));
        let Some(begin) = offset(alloc) else { return self.own(b, memory.name, flat) };
        let arena = match self.arenas.get(memory.name) {
            Some(arena) => *arena,
            None => {
                let ty = row(b.context(), arena_bytes(self.allocs, memory.name));
                let arena = self.own(b, memory.name, ty);
                self.arenas.insert(memory.name, arena);
                arena
            }
        };
        let begin = b.index(begin);
        b.op("memref.view", &[arena, begin], &[flat]).result(0)
    }

    fn own(&mut self, b: &mut Builder<'c>, memory: &str, ty: Type<'c>) -> Val<'c> {
        let whole = match (self.role, &self.asked) {
            (Role::Entry, None) => {
                let name = format!("{}.{memory}{}", self.kernel.name, self.made.len());
                self.made.push((name.clone(), ty));
                return global(b, &name, ty);
            }
            (Role::Entry, Some((name, ty))) => global(b, name, *ty),
            (Role::Called(caller), _) => {
                let end = self.used + padded(bytes(ty));
                assert!(end as u64 <= caller.shared_bytes, "the largest kernel was found");
                global(b, caller.shared, whole(b.context(), caller.shared_bytes, caller.asks))
            }
        };
        let begin = b.index(self.used);
        self.used += padded(bytes(ty));
        b.op("memref.view", &[whole, begin], &[ty]).result(0)
    }

    /// `memref<count x i64>` that takes no more bytes than it has: behind all that is allocated, or by itself.
    pub fn behind_all(&mut self, b: &mut Builder<'c>, ty: Type<'c>) -> Val<'c> {
        self.own(b, "barriers", ty)
    }

    /// Declares, before the function, what a kernel has of its own.
    pub fn declare(self, context: &'c Context, func: Op<'c>) {
        for (name, ty) in self.made.into_iter().chain(self.asked) {
            declare(context, func, &name, ty);
        }
    }
}

/// Returns whether a kernel shares memory.
pub fn is_used<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> bool {
    !allocs(machine, kernel).is_empty()
}

/// Bytes that a kernel needs of the buffer of the entry that calls it.
pub fn needed<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> u64 {
    let all = allocs(machine, kernel);
    let mut arenas = Vec::new();
    let mut sum = 0;
    for &alloc in &all {
        let memory = ty::memory(alloc.result(0).ty()).unwrap_or_default();
        if offset(alloc).is_none() {
            sum += padded(bytes(alloc.result(0).ty()));
        } else if !arenas.contains(&memory) {
            arenas.push(memory);
            sum += padded(arena_bytes(&all, memory));
        }
    }
    sum as u64 + barrier_bytes(machine, kernel.op)
}

/// Bytes that a kernel asks for when it is launched: 0 where it has as many without that.
pub fn asked_for<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> u64 {
    let bytes = needed(machine, kernel);
    if memory(machine, kernel).is_some_and(|memory| memory.asks_for(bytes)) { bytes } else { 0 }
}

/// The memory of a kernel's shared allocations.
pub fn memory<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> Option<Memory<'c>> {
    machine.memory_of(allocs(machine, kernel).first()?.result(0).ty())
}

fn allocs<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> Vec<Op<'c>> {
    let mut found = Vec::new();
    kernel.op.walk(&mut |op| {
        let shared = |memory: Memory<'c>| memory.scope() == Scope::Core && !memory.is_registers();
        if op.is("device.alloc") && machine.memory_of(op.result(0).ty()).is_some_and(shared) {
            found.push(op);
        }
    });
    found
}

/// Bytes of the arena of a memory.
fn arena_bytes(allocs: &[Op<'_>], memory: &str) -> i64 {
    let pieces = allocs.iter().filter(|other| ty::memory(other.result(0).ty()) == Some(memory));
    let end = |piece: &Op<'_>| Some(offset(*piece)? + bytes(piece.result(0).ty()));
    pieces.filter_map(end).max().unwrap_or(0)
}

/// Returns the offset of a buffer in an arena.
pub fn offset(alloc: Op<'_>) -> Option<i64> {
    alloc.attr("offset").and_then(attr::int)
}

fn bytes(memref: Type<'_>) -> i64 {
    let size = ty::elem(memref).and_then(ty::byte_size).unwrap_or(1);
    (ty::count(memref).unwrap_or(1) * size) as i64
}

fn padded(bytes: i64) -> i64 {
    bytes.div_euclid(ALIGN) * ALIGN + if bytes % ALIGN == 0 { 0 } else { ALIGN }
}

/// One buffer of so many bytes; without a size where the launch asks for it.
pub fn whole(context: &Context, bytes: u64, asks: bool) -> Type<'_> {
    row(context, if asks { 0 } else { bytes as i64 })
}

/// Bytes in memory that a block shares.
fn row(context: &Context, bytes: i64) -> Type<'_> {
    ty::memref(&[bytes as u64], ty::int(context, 8), Some(attr::of_int(context, 3)))
}

/// What a global of the module is.
pub fn global<'c>(b: &mut Builder<'c>, name: &str, ty: Type<'c>) -> Val<'c> {
    let symbol = [("name", attr::of_symbol(b.context(), name))];
    b.op_with("memref.get_global", &[], &[ty], &symbol, 0).result(0)
}

/// `memref.global` without a value, before an operation; one without elements is as large as the
/// launch says.
pub fn declare<'c>(context: &'c Context, before: Op<'c>, name: &str, ty: Type<'c>) {
    let mut attributes = vec![
        ("sym_name", attr::of_string(context, name)),
        ("type", attr::of_type(ty)),
        ("alignment", attr::of_int(context, ALIGN)),
    ];
    if ty::count(ty) != Some(0) {
        attributes.push(("sym_visibility", attr::of_string(context, "private")));
        attributes.push(("initial_value", attr::unit(context)));
    }
    Builder::before(context, before).op_with("memref.global", &[], &[], &attributes, 0);
}
