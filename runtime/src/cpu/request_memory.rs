//! The memory of one request: arenas, scratch of workers, and the addresses of all operands.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use memmap2::MmapRaw;

use super::schedule::{Named, Operand, Schedule};
use super::{CpuError, memory, spread};
use crate::plan::{Base, BindError, Binding, Following, Plan, Port};

/// The memory of the request in a slot. Between requests only the holder of the slot touches it;
/// posting the request publishes it.
pub struct RequestMemory {
    /// As [`Schedule::operands`], resolved.
    pub operands: Box<[AtomicPtr<u8>]>,
    inputs: Box<[PortMemory]>,
    outputs: Box<[PortMemory]>,
    /// What kernels read of the request's lengths.
    lengths: Box<[AtomicI64]>,
    /// The first rTask, and the one behind the last, of each step that does a share.
    shares: Box<[[AtomicU64; 2]]>,
    /// What the plan's symbols stand for.
    symbols: Box<[AtomicU64]>,
    /// As those of the plan.
    loops: Box<[LoopState]>,
    profiling: AtomicBool,
    /// Locked when something has failed only.
    failure: Mutex<Option<Failure>>,
    arena: MmapRaw,
    /// The arena of tensors that stay in the host's memory.
    _host: MmapRaw,
    _scratch: MmapRaw,
}

/// A loop in the current request. Written by one worker while all others wait for it.
#[derive(Default)]
struct LoopState {
    /// How many rounds there are at most.
    rounds: AtomicU64,
    round: AtomicU64,
    goes_on: AtomicBool,
}

/// A port: its size, its address in the current request, and memory for callers whose own is not
/// aligned to the element's size, or whose rows lie closer together.
struct PortMemory {
    bytes: usize,
    /// Size and alignment of an element.
    align: usize,
    /// The shape that the plan lays out.
    extents: Vec<u64>,
    /// It and another one are one tensor, which callers lay out as the plan does.
    shared: bool,
    at: AtomicPtr<u8>,
    staging: OnceLock<MmapRaw>,
}

/// A call that did not return.
pub struct Failure {
    pub worker: usize,
    /// Index in the plan.
    pub step: usize,
    pub reason: String,
}

impl RequestMemory {
    /// RequestMemory for requests of a plan, with the operands set that stay where they are.
    pub fn new(
        plan: &Plan,
        schedule: &Schedule,
        constants: *mut u8,
    ) -> Result<RequestMemory, CpuError> {
        let arena_bytes = plan.arena_bytes as usize;
        let arena = match plan.has_lengths() {
            true => memory::zeroed_where_touched(arena_bytes)?,
            false => memory::zeroed(arena_bytes)?,
        };
        let arena = MmapRaw::from(arena);
        let host = MmapRaw::from(memory::zeroed(plan.host_bytes as usize)?);
        let lent = schedule.scratch_bytes;
        let scratch = MmapRaw::from(memory::zeroed(lent * schedule.workers.len())?);
        let lengths: Box<[AtomicI64]> =
            plan.lengths.table.iter().map(|_| AtomicI64::default()).collect();
        let resolve = |operand: &Operand| {
            let (base, offset) = match *operand {
                Operand::Buffer { base: Base::Constant, offset, .. } => (constants, offset),
                Operand::Buffer { base: Base::Arena, offset, .. } => (arena.as_mut_ptr(), offset),
                Operand::Buffer { base: Base::Host, offset, .. } => (host.as_mut_ptr(), offset),
                Operand::Buffer { base: Base::Lengths, offset, .. } => {
                    (lengths.as_ptr().cast_mut().cast(), offset)
                }
                // Only simulated code has clusters.
                Operand::Buffer {
                    base: Base::Input(_) | Base::Output(_) | Base::Cluster(_),
                    ..
                } => {
                    return AtomicPtr::default();
                }
                Operand::Scratch { worker } => (scratch.as_mut_ptr(), worker * lent),
            };
            AtomicPtr::new(base.wrapping_add(offset))
        };
        Ok(RequestMemory {
            operands: schedule.operands.iter().map(resolve).collect(),
            inputs: ports(&plan.inputs, |input| plan.output_within(input)),
            outputs: ports(&plan.outputs, |output| plan.input_around(output)),
            shares: plan.lengths.shares.iter().map(|_| Default::default()).collect(),
            lengths,
            symbols: plan.lengths.symbols.iter().map(|_| AtomicU64::default()).collect(),
            loops: plan.lengths.loops.iter().map(|_| LoopState::default()).collect(),
            profiling: AtomicBool::new(false),
            failure: Mutex::new(None),
            arena,
            _host: host,
            _scratch: scratch,
        })
    }

    /// Sets the lengths of a request, and the operands that are in inputs and outputs; `moving` has
    /// their indices.
    ///
    /// Memory that begins at a multiple of its elements' size, and has rows where the plan has
    /// them, is used in place; other inputs are copied now, other outputs by
    /// [`RequestMemory::copy_out`].
    pub fn place(
        &self,
        schedule: &Schedule,
        moving: &[usize],
        binding: &Binding,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), CpuError> {
        for (own, &value) in self.lengths.iter().zip(&binding.table) {
            own.store(value, Ordering::Relaxed);
        }
        for (own, ends) in self.shares.iter().zip(&binding.shares) {
            own.iter().zip(ends).for_each(|(own, &end)| own.store(end, Ordering::Relaxed));
        }
        for (own, &value) in self.symbols.iter().zip(&binding.symbols) {
            own.store(value, Ordering::Relaxed);
        }
        let given = inputs.iter().zip(&binding.inputs);
        for (port, (bytes, shape)) in self.inputs.iter().zip(given) {
            if port.settle(bytes.as_ptr().cast_mut(), shape)? {
                port.copy_runs(shape, |port, dense, count| {
                    // SAFETY: the staging has the size of the port's extents, and the input that of
                    // its shape, which is no larger along any dimension; no other request has the
                    // staging while this one holds the slot.
                    unsafe { port.copy_from_nonoverlapping(bytes.as_ptr().add(dense), count) };
                });
            }
        }
        let given = outputs.iter_mut().zip(&binding.outputs);
        for (port, (bytes, shape)) in self.outputs.iter().zip(given) {
            port.settle(bytes.as_mut_ptr(), shape)?;
        }
        for &operand in moving {
            let shift = |number: usize| binding.shifts[number] as usize;
            self.settle(schedule, operand, &shift);
        }
        Ok(())
    }

    /// Sets the address of an operand that is in a port or begins further on.
    fn settle(&self, schedule: &Schedule, operand: usize, by: &dyn Fn(usize) -> usize) {
        let Operand::Buffer { base, offset, shift } = schedule.operands[operand] else { return };
        let begin = match base {
            Base::Input(p) => self.inputs[p as usize].at(),
            Base::Output(p) => self.outputs[p as usize].at(),
            Base::Arena => self.arena.as_mut_ptr(),
            Base::Constant | Base::Host | Base::Cluster(_) | Base::Lengths => return,
        };
        let at = begin.wrapping_add(offset + shift.map_or(0, by));
        self.operands[operand].store(at, Ordering::Relaxed);
    }

    /// Lets names stand for what the call before has calculated, and all that follows from them.
    ///
    /// Calls that ask for what follows begin when this one is complete, and names are found one after
    /// the other ([`Plan::validate`]): so nobody reads meanwhile what is written here.
    pub fn find(
        &self,
        plan: &Plan,
        schedule: &Schedule,
        finds: std::ops::Range<usize>,
    ) -> Result<(), BindError> {
        for find in &schedule.finds[finds] {
            let at = self.operands[find.operand].load(Ordering::Relaxed).cast::<i64>();
            // SAFETY: the buffer has 8 bytes, as the plan was validated, and the call that wrote them
            // has returned.
            let found = unsafe { at.read_unaligned() };
            self.decide(plan, schedule, &find.name, found)?;
        }
        Ok(())
    }

    /// Lets a name stand for a number, and all that follows from it.
    fn decide(
        &self,
        plan: &Plan,
        schedule: &Schedule,
        name: &Named,
        found: i64,
    ) -> Result<(), BindError> {
        let allowed = &plan.lengths.symbols[name.symbol];
        let value = u64::try_from(found).ok().filter(|&value| allowed.allows(value));
        let value = value.ok_or_else(|| {
            let (symbol, allowed) = (allowed.name.clone(), allowed.clone());
            BindError::Found { symbol, found, allowed }
        })?;
        self.symbols[name.symbol].store(value, Ordering::Relaxed);
        let Following { table, shares, shifts } = &name.following;
        if table.is_empty() && shares.is_empty() && shifts.is_empty() {
            return Ok(());
        }
        let symbols = self.symbols();
        let all = plan.lengths_of(&symbols);
        for &entry in table {
            self.lengths[entry].store(all.entry(entry)?, Ordering::Relaxed);
        }
        for &share in shares {
            let ends = all.share(share)?;
            let own = self.shares[share].iter().zip(ends);
            own.for_each(|(own, end)| own.store(end, Ordering::Relaxed));
        }
        let shifts: Vec<(usize, usize)> = shifts
            .iter()
            .map(|&number| Ok((number, all.shift(number)? as usize)))
            .collect::<Result<_, BindError>>()?;
        let shift = |own: usize| {
            shifts.iter().find(|(number, _)| *number == own).map_or(0, |(_, bytes)| *bytes)
        };
        name.moving.iter().for_each(|&operand| self.settle(schedule, operand, &shift));
        Ok(())
    }

    /// Decides whether a loop, by its number, has another round, and lets its name stand for that.
    ///
    /// All workers wait meanwhile, with all that they have called complete.
    pub fn turn(
        &self,
        plan: &Plan,
        schedule: &Schedule,
        of: usize,
        is_end: bool,
    ) -> Result<(), BindError> {
        let (own, repeated) = (&self.loops[of], &schedule.loops[of]);
        if !is_end {
            let rounds = plan.lengths_of(&self.symbols()).rounds(of)?;
            own.rounds.store(rounds.unwrap_or(u64::MAX), Ordering::Relaxed);
        }
        let round = if is_end { own.round.load(Ordering::Relaxed) + 1 } else { 0 };
        let holds = |operand: usize| {
            let at = self.operands[operand].load(Ordering::Relaxed);
            // SAFETY: the buffer has a byte, as the plan was validated, and nobody writes it now.
            unsafe { at.read() != 0 }
        };
        let goes_on =
            round < own.rounds.load(Ordering::Relaxed) && repeated.condition.is_none_or(holds);
        own.round.store(round, Ordering::Relaxed);
        own.goes_on.store(goes_on, Ordering::Relaxed);
        if !goes_on {
            return Ok(());
        }
        let most = plan.lengths.symbols[repeated.round.symbol].most;
        if round > most {
            return Err(BindError::Rounds { most: most + 1 });
        }
        self.decide(plan, schedule, &repeated.round, i64::try_from(round).unwrap_or(i64::MAX))
    }

    /// Whether a loop goes on, as the last turn has decided.
    pub fn goes_on(&self, of: usize) -> bool {
        self.loops[of].goes_on.load(Ordering::Relaxed)
    }

    /// What the plan's symbols stand for: behind a run, also those that it has found.
    pub fn symbols(&self) -> Vec<u64> {
        self.symbols.iter().map(|own| own.load(Ordering::Relaxed)).collect()
    }

    /// Copies outputs to callers whose memory could not be used in place, and puts rows together that
    /// came out shorter than they are laid out.
    pub fn copy_out(&self, shapes: &[Vec<u64>], outputs: &mut [&mut [u8]]) {
        let given = outputs.iter_mut().zip(shapes);
        for (port, (bytes, shape)) in self.outputs.iter().zip(given) {
            let placed = port.at() == bytes.as_mut_ptr();
            if placed && (port.shared || spread::is_beginning(shape, &port.extents)) {
                continue;
            }
            port.copy_runs(shape, |port, dense, count| {
                // SAFETY: as for inputs in `place`; the workers have left the request. In the caller's
                // own memory a run moves towards the beginning, where what was there has moved before.
                unsafe { bytes.as_mut_ptr().add(dense).copy_from(port, count) };
            });
        }
    }

    /// The rTasks of a share.
    pub fn share(&self, number: usize) -> [i64; 2] {
        [0, 1].map(|end| self.shares[number][end].load(Ordering::Relaxed) as i64)
    }

    /// Returns whether the current request records when its steps begin and end.
    pub fn is_profiling(&self) -> bool {
        self.profiling.load(Ordering::Relaxed)
    }

    /// As [`RequestMemory::is_profiling`].
    pub fn set_profiling(&self, on: bool) {
        self.profiling.store(on, Ordering::Relaxed);
    }

    /// Keeps the first failure of a request.
    pub fn fail(&self, failure: Failure) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }

    /// The failure of a request that has one.
    pub fn take_failure(&self) -> Option<Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn ports(ports: &[Port], other: impl Fn(usize) -> Option<usize>) -> Box<[PortMemory]> {
    let of = |(number, port)| PortMemory::new(port, other(number).is_some());
    ports.iter().enumerate().map(of).collect()
}

impl PortMemory {
    fn new(port: &Port, shared: bool) -> PortMemory {
        PortMemory {
            shared,
            bytes: port.bytes().unwrap_or(0) as usize,
            align: port.dtype.bytes(),
            extents: port.shape.clone(),
            at: AtomicPtr::default(),
            staging: OnceLock::new(),
        }
    }

    fn at(&self) -> *mut u8 {
        self.at.load(Ordering::Relaxed)
    }

    /// Calls `copy` with an address in the port, a byte of the caller's memory, and how many bytes lie
    /// together there.
    fn copy_runs(&self, shape: &[u64], mut copy: impl FnMut(*mut u8, usize, usize)) {
        let size = self.align;
        spread::runs(shape, &self.extents, |dense, own, count| {
            copy(self.at().wrapping_add(own * size), dense * size, count * size);
        });
    }

    /// Sets the address of the port. Returns whether that is in staging memory, which is allocated
    /// when first needed.
    fn settle(&self, given: *mut u8, shape: &[u64]) -> Result<bool, CpuError> {
        let aligned = given.addr().is_multiple_of(self.align);
        if self.shared || aligned && spread::is_beginning(shape, &self.extents) {
            self.at.store(given, Ordering::Relaxed);
            return Ok(false);
        }
        let staging = match self.staging.get() {
            Some(staging) => staging,
            None => {
                let made = MmapRaw::from(memory::zeroed_where_touched(self.bytes)?);
                self.staging.get_or_init(|| made)
            }
        };
        self.at.store(staging.as_mut_ptr(), Ordering::Relaxed);
        Ok(true)
    }
}
