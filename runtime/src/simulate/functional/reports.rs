//! The texts of errors: where in the program and in its buffers they are.

use super::Functional;
use crate::plan::{Base, Plan};
use crate::simulate::error::{Bytes, OpLocation, SimulateError};
use crate::simulate::machine::MemoryId;
use crate::simulate::order::Clash;
use crate::simulate::prepare::{Ready, Side, Site};
use crate::simulate::program::Code;
use crate::simulate::walker::{Fault, Home};

/// What a step does to a buffer of the plan.
pub(super) struct BufferAccess {
    /// Its argument that the buffer is.
    pub argument: usize,
    pub buffer: u32,
    pub writes: bool,
}

/// The texts of errors.
impl<'c> Functional<'_, 'c> {
    pub(super) fn place(&self, ready: &Ready<'c>, at: u32) -> Box<OpLocation> {
        self::place(self.code, self.plan, ready, (self.step, self.task, at))
    }

    pub(super) fn label(&self, ready: &Ready<'c>, site: u32) -> String {
        let place = self.place(ready, ready.sites[site as usize].at);
        let path: Vec<String> = place.path.iter().map(u32::to_string).collect();
        format!("operation {}, {}", path.join("."), place.op)
    }

    /// Bytes of a region as those of a buffer.
    pub(super) fn bytes(&self, ready: &Ready<'c>, memref: u32, begin: u64, end: u64) -> Bytes {
        self.bytes_at(ready, memref, self.walker.homes[memref as usize], begin, end)
    }

    pub(super) fn bytes_at(
        &self,
        ready: &Ready<'c>,
        memref: u32,
        home: Home,
        begin: u64,
        end: u64,
    ) -> Bytes {
        let facts = &ready.kernel.memrefs[memref as usize];
        let buffer = if memref < ready.kernel.arguments {
            let step = &self.plan.steps[self.step as usize];
            let buffer = step.buffers[memref as usize];
            let what = match self.plan.buffers[buffer as usize].base {
                Base::Input(i) => format!("input {:?}", self.plan.inputs[i as usize].name),
                Base::Output(i) => format!("output {:?}", self.plan.outputs[i as usize].name),
                Base::Constant => format!("constant buffer {buffer}"),
                Base::Arena => format!("arena buffer {buffer}"),
                Base::Host => format!("host buffer {buffer}"),
                Base::Cluster(i) => format!("buffer {buffer} of cluster {i}"),
                Base::Lengths => "lengths".to_owned(),
            };
            format!("argument {memref} ({what})")
        } else {
            let shape: Vec<String> = facts.shape.iter().map(u64::to_string).collect();
            format!("buffer {memref} ({}x{})", shape.join("x"), facts.ty)
        };
        Bytes {
            buffer,
            memory: self.memory(facts.memory),
            begin: begin.wrapping_sub(home.begin) as i64,
            end: end.wrapping_sub(home.begin) as i64,
            element_bytes: facts.ty.bytes() as u64,
        }
    }

    /// A buffer is used where it does not exist.
    pub(super) fn nowhere(&self, ready: &Ready<'c>, at: u32, memref: u32) -> SimulateError {
        let end = ready.kernel.memrefs[memref as usize].bytes();
        let home = Home { begin: 0, ..Home::NOWHERE };
        SimulateError::NotAllocated {
            place: self.place(ready, at),
            bytes: Box::new(self.bytes_at(ready, memref, home, 0, end)),
        }
    }

    pub(super) fn memory(&self, memory: MemoryId) -> String {
        format!("@{}", self.code.machine.memories[memory as usize].name)
    }

    pub(super) fn touched_bytes(&self, ready: &Ready<'c>, side: &Side, base: u64) -> Bytes {
        let at = |relative: i64| base.wrapping_add_signed(relative);
        self.bytes(ready, side.memref, at(side.area.low), at(side.area.high))
    }

    pub(super) fn outside(&self, ready: &Ready<'c>, site: &Site, side: &Side) -> SimulateError {
        let indices: Vec<i64> =
            side.indices.iter().map(|&slot| self.walker.slots[slot as usize]).collect();
        let offset: i64 = indices.iter().zip(&side.strides).map(|(i, s)| i.wrapping_mul(*s)).sum();
        let home = self.walker.homes[side.memref as usize];
        let base = home.begin.wrapping_add_signed(offset);
        SimulateError::Outside {
            place: self.place(ready, site.at),
            bytes: Box::new(self.touched_bytes(ready, side, base)),
            shape: ready.kernel.memrefs[side.memref as usize].shape.clone(),
            indices,
            extent: side.extent.clone(),
        }
    }

    pub(super) fn fault(&self, ready: &Ready<'c>, fault: Fault) -> SimulateError {
        let place = (self.step, self.task, self.walker.at as u32);
        self::fault(self.code, self.plan, ready, place, fault)
    }

    pub(super) fn clash(
        &self,
        ready: &Ready<'c>,
        site: &Site,
        BufferAccess { argument, buffer, writes }: BufferAccess,
        clash: Clash,
    ) -> SimulateError {
        let place = self.place(ready, site.at);
        let operator = |step: u32| {
            let step = &self.plan.steps[step as usize];
            (self.plan.ops[step.op as usize].clone(), step.unit)
        };
        match clash {
            Clash::Unordered { other, writes: other_writes, begin, end } => {
                let (other_operator, other_unit) = operator(other);
                SimulateError::Unordered {
                    place,
                    does: does(writes),
                    bytes: Box::new(self.bytes(ready, argument as u32, begin, end)),
                    other,
                    other_operator,
                    other_unit,
                    other_does: does(other_writes),
                }
            }
            Clash::Overlap { other, buffer: other_buffer, begin, end } => SimulateError::Overlap {
                place,
                bytes: Box::new(self.bytes(ready, argument as u32, begin, end)),
                buffer,
                other,
                other_operator: operator(other).0,
                other_buffer,
            },
        }
    }
}

/// The position of a run: step, rTask, and index in the flat code.
type Now = (u32, u64, u32);

pub(super) fn place(
    code: &Code,
    plan: &Plan,
    ready: &Ready<'_>,
    (step, task, at): Now,
) -> Box<OpLocation> {
    let facts = &plan.steps[step as usize];
    Box::new(OpLocation {
        kernel: ready.kernel.name.clone(),
        path: ready.paths.get(at as usize).cloned().unwrap_or_default(),
        op: ready.name(&code.machine, at as usize),
        step,
        operator: plan.ops[facts.op as usize].clone(),
        unit: facts.unit,
        task,
    })
}

/// Returns the error that stopped a walk.
pub(in crate::simulate) fn fault(
    code: &Code,
    plan: &Plan,
    ready: &Ready<'_>,
    now: Now,
    fault: Fault,
) -> SimulateError {
    let place = place(code, plan, ready, now);
    match fault {
        Fault::Index(what) => SimulateError::Index { place, what: what.to_owned() },
        Fault::Capacity { memory, wanted, taken } => {
            let memory = &code.machine.memories[memory as usize];
            SimulateError::Capacity {
                place,
                memory: format!("@{}", memory.name),
                wanted_bytes: wanted,
                taken_bytes: taken,
                capacity_bytes: memory.capacity_bytes,
            }
        }
    }
}

pub(super) fn does(writes: bool) -> &'static str {
    if writes { "writes" } else { "reads" }
}

/// The waits of units that do not continue.
pub(in crate::simulate) fn deadlock(
    plan: &Plan,
    heads: impl Iterator<Item = u32>,
    missing: impl Fn(&u32) -> bool,
) -> SimulateError {
    let waiting = heads.map(|step| {
        let facts = &plan.steps[step as usize];
        let waits: Vec<String> =
            facts.waits.iter().filter(|w| missing(w)).map(|w| format!("step {w}")).collect();
        let operator = &plan.ops[facts.op as usize];
        format!("unit {} at step {step} {operator:?} waits for {}", facts.unit, waits.join(", "))
    });
    SimulateError::Deadlock { waiting: waiting.collect() }
}
