//! Runs a scheduled nest.

use super::copy;
use super::env::Memories;
use super::error::{Part, ProgramLocation, VmError};
use super::eval::{self, Fault, Registers};
use super::inst::Inst;
use super::multiply;
use super::nest::*;
use super::program::Reg;
use super::ty::Ty;

/// Runs a nest in an environment that holds memory of the right size for each tensor.
pub(super) fn run<M: Memories>(
    nest: &Scheduled,
    env: &mut M,
    registers: &mut Registers,
) -> Result<(), VmError> {
    match &nest.kind {
        Kind::Nothing => Ok(()),
        Kind::Copy(plan) => {
            let ([from], to) = env.split([plan.from], plan.to);
            copy::run(plan, from, to);
            Ok(())
        }
        Kind::Multiply(plan) => {
            multiply::run(plan, env);
            Ok(())
        }
        Kind::Strips(strips) => {
            let mut places = std::mem::take(&mut registers.places);
            let done = Run::new(strips, &nest.place, env, registers, &mut places).loops();
            registers.places = places;
            done
        }
    }
}

struct Run<'r, M> {
    strips: &'r Strips,
    place: &'r ProgramLocation,
    env: &'r mut M,
    registers: &'r mut Registers,
    /// Points of the previous strip; 0 before the first.
    points: usize,
    at: &'r mut NestAddresses,
}

/// The addresses at a nest's current point; kept from one nest to the next to reuse the allocation.
#[derive(Default)]
pub(super) struct NestAddresses {
    /// Per address, where the current strip begins.
    bases: Vec<i64>,
    /// Per address, where it began when its register was last filled.
    filled: Vec<i64>,
    /// Per register, whether this strip gave it new values.
    changed: Vec<bool>,
    /// Per loop, its round.
    position: Vec<u64>,
}

impl<'r, M: Memories> Run<'r, M> {
    fn new(
        strips: &'r Strips,
        place: &'r ProgramLocation,
        env: &'r mut M,
        registers: &'r mut Registers,
        at: &'r mut NestAddresses,
    ) -> Self {
        registers.reserve(&strips.types, strips.points, strips.tail.is_some());
        for &(reg, scalar) in &strips.constants {
            eval::fill(&mut registers.strip[reg as usize], scalar, strips.points);
        }
        at.bases.clear();
        at.bases.extend(strips.addresses.iter().map(|a| a.offset));
        at.filled.clone_from(&at.bases);
        at.changed.clear();
        at.changed.resize(strips.types.len(), false);
        at.position.clear();
        at.position.resize(strips.loops.len(), 0);
        Run { strips, place, env, registers, points: 0, at }
    }

    /// Steps through the loops like an odometer.
    fn loops(mut self) -> Result<(), VmError> {
        let strips = self.strips;
        loop {
            let last =
                strips.chunked.is_some_and(|i| self.at.position[i] + 1 == strips.loops[i].count);
            self.strip(if last { strips.last_points } else { strips.points })?;
            let mut i = strips.loops.len();
            loop {
                if i == 0 {
                    self.flush();
                    return Ok(());
                }
                i -= 1;
                let Loop { count, strides } = &strips.loops[i];
                self.at.position[i] += 1;
                if self.at.position[i] < *count {
                    for (base, stride) in self.at.bases.iter_mut().zip(strides) {
                        *base = base.wrapping_add(*stride);
                    }
                    break;
                }
                self.at.position[i] = 0;
                for (base, stride) in self.at.bases.iter_mut().zip(strides) {
                    *base = base.wrapping_sub(stride.wrapping_mul(*count as i64 - 1));
                }
            }
        }
    }

    fn strip(&mut self, n: usize) -> Result<(), VmError> {
        let strips = self.strips;
        let fresh = n != self.points;
        // First, while registers still hold what the previous strip computed.
        self.load_accumulators(n, fresh);
        self.load(n, fresh);
        self.points = n;
        for op in &strips.ops {
            let mut due = fresh || op.volatile;
            op.kind.for_each_operand(|r| due |= self.at.changed[r as usize]);
            self.at.changed[op.dst as usize] = due;
            if due {
                let done = op_on(
                    op,
                    &strips.types,
                    self.env,
                    &mut self.registers.strip,
                    &mut self.registers.scratch,
                    n,
                );
                done.map_err(|fault| self.error(fault, Part::Inst(op.number)))?;
            }
        }
        if let Some(tail) = &strips.tail {
            self.tail(tail, n)?;
        }
        for store in &strips.stores {
            let address = &strips.addresses[store.address];
            let ty = strips.types[store.value as usize];
            let memory = self.env.bytes_mut(address.tensor);
            let words = &self.registers.strip[store.value as usize];
            eval::store(ty, words, memory, self.at.bases[store.address], &address.pattern, n);
        }
        for (i, scatter) in strips.scatters.iter().enumerate() {
            let (address_ty, ty) =
                (strips.types[scatter.address as usize], strips.types[scatter.value as usize]);
            let Registers { strip, scratch, .. } = &mut *self.registers;
            let addresses = scratch.addresses(address_ty, &strip[scatter.address as usize], n);
            let memory = self.env.bytes_mut(scatter.tensor);
            let done = eval::store_at(
                ty,
                &strip[scatter.value as usize],
                memory,
                addresses,
                scatter.tensor,
            );
            done.map_err(|fault| self.error(fault, Part::Scatter(i as u32)))?;
        }
        Ok(())
    }

    /// Fills the registers of loads and positions, unless they hold the values already.
    fn load(&mut self, n: usize, fresh: bool) {
        let strips = self.strips;
        for load in &strips.loads {
            let r = load.reg as usize;
            let due = fresh || !load.pure || self.at.filled[r] != self.at.bases[r];
            self.at.changed[r] = due;
            if due {
                self.at.filled[r] = self.at.bases[r];
                self.gather(load.reg, n, false);
            }
        }
        for &(reg, address) in &strips.indices {
            let due = fresh || self.at.filled[address] != self.at.bases[address];
            self.at.changed[reg as usize] = due;
            if due {
                self.at.filled[address] = self.at.bases[address];
                let words = &mut self.registers.strip[reg as usize];
                eval::positions(
                    words,
                    self.at.bases[address],
                    &strips.addresses[address].pattern,
                    n,
                );
            }
        }
    }

    /// Accumulators stay in registers until their address changes.
    fn load_accumulators(&mut self, n: usize, fresh: bool) {
        let strips = self.strips;
        let tail = strips.tail.is_some();
        let stays = |run: &Self, load: Reg| {
            run.points != 0
                && (tail || !fresh)
                && run.at.filled[load as usize] == run.at.bases[load as usize]
        };
        let leaving = strips.accumulators.iter().filter(|a| !stays(self, a.load));
        let leaving: Vec<&Accumulator> = leaving.collect();
        // Results are stored before values are exchanged.
        if self.points != 0 {
            leaving.iter().for_each(|a| self.store_accumulator(a));
        }
        if !tail && leaving.len() < strips.accumulators.len() {
            // Copies before trades: a value that is copied may then trade places.
            for swap in [false, true] {
                for a in strips.accumulators.iter().filter(|a| a.swap == swap) {
                    if !stays(self, a.load) {
                        continue;
                    }
                    let registers = &mut self.registers.strip;
                    if swap {
                        registers.swap(a.load as usize, a.value as usize);
                    } else {
                        let mut load = std::mem::take(&mut registers[a.load as usize]);
                        eval::copy(&registers[a.value as usize], &mut load);
                        registers[a.load as usize] = load;
                    }
                }
            }
        }
        for a in leaving {
            self.at.filled[a.load as usize] = self.at.bases[a.load as usize];
            self.gather(a.load, if tail { 1 } else { n }, tail);
        }
        for a in &strips.accumulators {
            self.at.changed[a.load as usize] = true;
        }
    }

    fn gather(&mut self, load: Reg, n: usize, tail: bool) {
        let address = &self.strips.addresses[load as usize];
        let memory = self.env.bytes(address.tensor);
        let registers = if tail { &mut self.registers.tail } else { &mut self.registers.strip };
        let (ty, base) = (self.strips.types[load as usize], self.at.bases[load as usize]);
        eval::load(ty, &mut registers[load as usize], memory, base, &address.pattern, n);
    }

    /// Writes an accumulator back to where it was loaded from.
    fn store_accumulator(&mut self, a: &Accumulator) {
        let address = &self.strips.addresses[a.load as usize];
        let memory = self.env.bytes_mut(address.tensor);
        let (words, n) = match self.strips.tail {
            Some(_) => (&self.registers.tail[a.load as usize], 1),
            None => (&self.registers.strip[a.value as usize], self.points),
        };
        let (ty, base) = (self.strips.types[a.load as usize], self.at.filled[a.load as usize]);
        eval::store(ty, words, memory, base, &address.pattern, n);
    }

    fn flush(&mut self) {
        let strips = self.strips;
        for a in &strips.accumulators {
            self.store_accumulator(a);
        }
    }

    /// The part of a strip that accumulates, point by point.
    fn tail(&mut self, tail: &Tail, n: usize) -> Result<(), VmError> {
        let strips = self.strips;
        let Registers { strip, tail: one, scratch, .. } = &mut *self.registers;
        match tail {
            Tail::Folds(folds) => {
                for fold in folds {
                    let ty = strips.types[fold.load as usize];
                    let accumulator = &mut one[fold.load as usize];
                    let x = eval::Elements { ty, words: &strip[fold.x as usize] };
                    eval::fold(fold.op, accumulator, x, fold.first, n, scratch);
                }
            }
            Tail::Ops { inputs, ops } => {
                for point in 0..n {
                    for &r in inputs {
                        let ty = strips.types[r as usize];
                        eval::extract(ty, &strip[r as usize], point, &mut one[r as usize]);
                    }
                    for op in ops {
                        let done = op_on(op, &strips.types, self.env, one, scratch, 1);
                        done.map_err(|fault| error(self.place, fault, Part::Inst(op.number)))?;
                    }
                    for swap in [false, true] {
                        for a in strips.accumulators.iter().filter(|a| a.swap == swap) {
                            if swap {
                                one.swap(a.load as usize, a.value as usize);
                            } else {
                                one[a.load as usize][0] = one[a.value as usize][0];
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn error(&self, fault: Fault, part: Part) -> VmError {
        error(self.place, fault, part)
    }
}

fn error(place: &ProgramLocation, fault: Fault, part: Part) -> VmError {
    let place = ProgramLocation { part: Some(part), ..place.clone() };
    match fault {
        Fault::DivisionByZero => VmError::DivisionByZero { place },
        Fault::Address { tensor, address, len } => VmError::Address { place, tensor, address, len },
    }
}

/// Runs one instruction over `n` points.
fn op_on<M: Memories>(
    op: &Op,
    types: &[Ty],
    env: &M,
    registers: &mut [Vec<u64>],
    scratch: &mut eval::Scratch,
    n: usize,
) -> Result<(), Fault> {
    let mut out = std::mem::take(&mut registers[op.dst as usize]);
    let done = match op.kind {
        OpKind::MulAdd { a, b, c } => {
            let [a, b, c] = [a, b, c].map(|r| &registers[r as usize][..]);
            eval::mul_add(types[op.dst as usize], a, b, c, &mut out, n);
            Ok(())
        }
        OpKind::Plain(Inst::LoadAt { tensor, address }) => {
            let addresses =
                scratch.addresses(types[address as usize], &registers[address as usize], n);
            let memory = env.bytes(tensor);
            let done = eval::load_at(types[op.dst as usize], &mut out, memory, addresses, tensor);
            if done.is_ok() {
                env.looked_at(tensor, addresses);
            }
            done
        }
        OpKind::Plain(inst) => eval::inst(&inst, types, registers, &mut out, scratch, n),
    };
    registers[op.dst as usize] = out;
    done
}
