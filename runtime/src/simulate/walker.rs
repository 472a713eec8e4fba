//! Steps through the flat code of a kernel, from one operation on data to the next.
//!
//! Both halves of a run walk the same way: index arithmetic, loops and allocation happen here.

use super::machine::Machine;
use super::prepare::{Inst, Ready, Side};
use super::program::{MemRefId, Value};
use crate::vm;

/// Allocations begin at multiples of this.
const ALLOC_ALIGN: u64 = 64;

/// The memory and bytes of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Home {
    /// Index of a region: memories of the machine first.
    pub region: u32,
    /// Its first byte there.
    pub begin: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Home {
    /// The id of a buffer that does not exist now.
    pub const NOWHERE: Home = Home { region: u32::MAX, begin: 0, bytes: u64::MAX };
}

/// A token, as it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub engine: u32,
    /// Number of operations that the engine was given before it.
    pub number: u64,
}

impl Token {
    /// One that is given already, by no engine.
    pub const READY: Self = Self { engine: u32::MAX, number: 0 };
}

/// Why the walk pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// An operation on data, by number.
    Site(u32),
    /// A wait, by its place in the flat code.
    Wait(u32),
    /// A barrier, by its place in the flat code.
    Barrier(u32),
    /// A buffer that now exists, and the place in the flat code.
    Alloc(MemRefId, u32),
    /// A buffer that does not exist any more.
    Free(MemRefId, u32),
    /// The rTask is done.
    End,
}

/// An error that ends a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// More than a memory holds.
    Capacity { memory: u32, wanted: u64, taken: u64 },
    /// An index without a value.
    Index(&'static str),
}

/// A unit on its way through an rTask.
#[derive(Default)]
pub(super) struct Walker {
    pub at: usize,
    pub slots: Vec<i64>,
    pub tokens: Vec<Option<Token>>,
    /// Per memref; those of arguments are set at the begin of a step.
    pub homes: Vec<Home>,
    /// Buffers that exist, in order.
    alive: Vec<MemRefId>,
    /// The home of the buffer that ended last.
    pub freed: Home,
    /// Length of `alive` where blocks began.
    marks: Vec<usize>,
    /// Per memory of the machine: where the next buffer may begin, and what is taken of the
    /// capacity.
    tops: Vec<u64>,
    taken: Vec<u64>,
    /// The most that was taken.
    pub peak: Vec<u64>,
    /// The most that was touched, with the space between buffers.
    pub extent: Vec<u64>,
}

impl Walker {
    pub fn new(machine: &Machine) -> Walker {
        let none = vec![0; machine.memories.len()];
        Walker {
            tops: none.clone(),
            taken: none.clone(),
            peak: none.clone(),
            extent: none,
            ..Walker::default()
        }
    }

    /// Begins a step of a kernel, whose arguments lie where `homes` says.
    pub fn enter(&mut self, ready: &Ready<'_>, homes: &[Home]) {
        self.homes.clear();
        self.homes.extend_from_slice(homes);
        self.homes.resize(ready.kernel.memrefs.len(), Home::NOWHERE);
    }

    /// Begins an rTask.
    pub fn begin(&mut self, ready: &Ready<'_>, task: u64) {
        self.at = 0;
        self.slots.clear();
        self.slots.extend_from_slice(&ready.kernel.slots);
        self.slots[0] = task as i64;
        self.tokens.clear();
        self.tokens.resize(ready.kernel.tokens as usize, None);
        // A step's rTasks begin without each other's buffers.
        let arguments = ready.kernel.arguments as usize;
        self.homes[arguments..].fill(Home::NOWHERE);
        self.alive.clear();
        self.marks.clear();
        self.tops.fill(0);
        self.taken.fill(0);
    }

    /// Goes on to the next operation that is not the walker's own.
    #[inline]
    pub fn next(&mut self, ready: &Ready<'_>, machine: &Machine) -> Result<Stop, Fault> {
        loop {
            let at = self.at;
            let Some(inst) = ready.code.get(at) else {
                return Ok(Stop::End);
            };
            self.at = at + 1;
            match inst {
                Inst::Site(site) => return Ok(Stop::Site(*site)),
                Inst::Set { to, value } => {
                    self.slots[*to as usize] = self.value(*value).ok_or_else(|| {
                        self.at = at;
                        Fault::Index("a division by zero, or an overflow of its kind")
                    })?;
                }
                Inst::Enter { counter, begin, end, step, exit } => {
                    let [begin, end, step] = [begin, end, step].map(|s| self.slots[*s as usize]);
                    if step <= 0 {
                        self.at = at;
                        return Err(Fault::Index("the step of a loop is not above zero"));
                    }
                    self.slots[*counter as usize] = begin;
                    if begin >= end {
                        self.at = *exit as usize;
                    }
                }
                Inst::Next { counter, end, step, top } => {
                    let [now, end, step] = [counter, end, step].map(|s| self.slots[*s as usize]);
                    let next = now.saturating_add(step);
                    self.slots[*counter as usize] = next;
                    if next < end {
                        self.at = *top as usize;
                    }
                }
                Inst::Branch { condition, otherwise } => {
                    if self.slots[*condition as usize] == 0 {
                        self.at = *otherwise as usize;
                    }
                }
                Inst::Jump(to) => self.at = *to as usize,
                Inst::Open => self.marks.push(self.alive.len()),
                Inst::Close => {
                    if let Some(memref) = self.free(ready) {
                        // Comes back until the block has nothing left.
                        self.at = at;
                        return Ok(Stop::Free(memref, at as u32));
                    }
                    self.marks.pop();
                }
                Inst::Alloc(memref) => {
                    self.alloc(ready, machine, *memref)?;
                    return Ok(Stop::Alloc(*memref, at as u32));
                }
                Inst::Wait(_) => return Ok(Stop::Wait(at as u32)),
                Inst::Ready(token) => self.tokens[*token as usize] = Some(Token::READY),
                Inst::Keep { to, from } => {
                    self.tokens[*to as usize] = self.tokens[*from as usize];
                }
                Inst::Barrier(_) => return Ok(Stop::Barrier(at as u32)),
            }
        }
    }

    #[inline]
    fn value(&self, value: Value) -> Option<i64> {
        let slot = |s: u32| self.slots[s as usize];
        match value {
            Value::Copy(a) => Some(slot(a)),
            Value::Binary { op, a, b } => vm::index(op, slot(a), slot(b)),
            Value::Compare { predicate, a, b } => {
                Some(vm::index_compare(predicate, slot(a), slot(b)) as i64)
            }
            Value::Select { condition, then, otherwise } => {
                Some(if slot(condition) != 0 { slot(then) } else { slot(otherwise) })
            }
        }
    }

    fn alloc(&mut self, ready: &Ready<'_>, machine: &Machine, id: MemRefId) -> Result<(), Fault> {
        let memref = &ready.kernel.memrefs[id as usize];
        let memory = memref.memory as usize;
        let taken = self.taken[memory];
        let wanted = memref.room_bytes;
        let after = taken.saturating_add(wanted);
        if after > machine.memories[memory].capacity_bytes {
            self.at -= 1;
            return Err(Fault::Capacity { memory: memref.memory, wanted, taken });
        }
        self.taken[memory] = after;
        self.peak[memory] = self.peak[memory].max(after);
        let begin = self.tops[memory];
        self.tops[memory] = (begin + memref.bytes()).next_multiple_of(ALLOC_ALIGN);
        self.extent[memory] = self.extent[memory].max(self.tops[memory]);
        self.homes[id as usize] = Home { region: memref.memory, begin, bytes: u64::MAX };
        self.alive.push(id);
        Ok(())
    }

    /// Ends the youngest buffer of the block, if it has one.
    fn free(&mut self, ready: &Ready<'_>) -> Option<MemRefId> {
        if self.alive.len() <= self.marks.last().copied().unwrap_or(0) {
            return None;
        }
        let id = self.alive.pop()?;
        let memref = &ready.kernel.memrefs[id as usize];
        let memory = memref.memory as usize;
        self.taken[memory] -= memref.room_bytes;
        let home = &mut self.homes[id as usize];
        self.tops[memory] = home.begin;
        // Errors need to say where it was.
        self.freed = std::mem::replace(home, Home::NOWHERE);
        Some(id)
    }

    /// Returns the offset of an operand in its buffer; `None` if it is outside.
    #[inline]
    pub fn offset(&self, side: &Side) -> Option<i64> {
        let mut offset = 0i64;
        let parts = side.indices.iter().zip(&side.strides).zip(&side.limits);
        for ((&slot, &stride), &limit) in parts {
            let index = self.slots[slot as usize];
            if index < 0 || index >= limit {
                return None;
            }
            offset += index * stride;
        }
        // A step may see a buffer from one of its elements on.
        let bytes = side.bytes.min(self.homes[side.memref as usize].bytes);
        let inside = offset + side.area.low >= 0 && offset + side.area.high <= bytes as i64;
        inside.then_some(offset)
    }
}
