//! A `device.kernel` as plain data.

use std::collections::HashMap;

use weft_dialects::device::{self, Machine};
use weft_dialects::ir::{Block, Op, Type, Val, attr, ty};
use weft_runtime::simulate as plain;
use weft_runtime::simulate::{MemRef, MemRefId, Op as Plain, Slot, TokenSlot, Value};
use weft_runtime::vm::{BinaryOp, Scalar};

use super::TranslateError;
use super::index::{Slots, is_index};
use super::machine::scope;
use super::names::Names;
use super::work::{Around, Operand};
use crate::interpret::{InterpretError, element_type};

/// The supported operations, for messages.
const ACCEPTED: &str = "arith on index, affine.apply, scf.for, scf.if, affine.for, and the \
                        program half of device";

/// Translates one kernel for a machine whose facts are known.
pub(super) fn translate<'c>(
    machine: Machine<'c>,
    facts: &plain::Machine,
    names: &Names<'c>,
    kernel: &device::Kernel<'c>,
) -> Result<plain::Kernel, TranslateError> {
    let mut writer = Writer {
        machine,
        facts,
        names,
        slots: Slots::default(),
        tokens: HashMap::new(),
        token_count: 0,
        memrefs: HashMap::new(),
        declared: Vec::new(),
        reach: HashMap::new(),
        body: Vec::new(),
    };
    if kernel.groups > 1 {
        return Err(refuse(kernel.op, "has several groups, the simulator runs one").into());
    }
    if let Some(task) = kernel.task() {
        writer.slots.define(task);
    }
    for arg in kernel.args() {
        writer.declare(kernel.op, arg)?;
    }
    let arguments = writer.declared.len() as u32;
    let body = writer.block(kernel.body, |_, _| Ok(()))?;
    let registers = writer.declared.iter().map(|memref| &facts.memories[memref.memory as usize]);
    let registers = registers.filter(|memory| memory.register_bytes.is_some());
    let group = registers.map(|memory| memory.scope).max().unwrap_or(plain::Scope::Thread);
    Ok(plain::Kernel {
        name: kernel.name.to_owned(),
        tasks: kernel.tasks,
        group,
        slots: writer.slots.initial,
        tokens: writer.token_count,
        memrefs: writer.declared,
        arguments,
        body,
    })
}

struct Writer<'a, 'c> {
    machine: Machine<'c>,
    facts: &'a plain::Machine,
    names: &'a Names<'c>,
    slots: Slots<'c>,
    tokens: HashMap<Val<'c>, TokenSlot>,
    token_count: u32,
    memrefs: HashMap<Val<'c>, MemRefId>,
    declared: Vec<MemRef>,
    /// Bytes of the kernel's arena in each memory that its buffers take so far.
    reach: HashMap<u32, u64>,
    /// The operations of the block that is being written.
    body: Vec<Plain>,
}

/// A value that a loop or a branch passes on.
#[derive(Clone, Copy)]
enum Passed {
    Slot(Slot),
    Token(TokenSlot),
}

impl<'c> Writer<'_, 'c> {
    /// Translates a block; `end` is given its terminator, if it has one.
    fn block(
        &mut self,
        block: Block<'c>,
        end: impl FnOnce(&mut Self, Op<'c>) -> Result<(), InterpretError>,
    ) -> Result<Vec<Plain>, InterpretError> {
        let around = std::mem::take(&mut self.body);
        let mut last = None;
        for op in block.ops() {
            if ["scf.yield", "affine.yield"].contains(&op.name()) {
                last = Some(op);
                break;
            }
            self.op(op)?;
        }
        if let Some(op) = last {
            end(self, op)?;
        }
        self.flush();
        Ok(std::mem::replace(&mut self.body, around))
    }

    /// Index arithmetic goes where it was asked for.
    fn flush(&mut self) {
        self.body.append(&mut self.slots.pending);
    }

    fn push(&mut self, op: Plain) {
        self.flush();
        self.body.push(op);
    }

    fn op(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        if self.slots.op(op)? {
            self.flush();
            return Ok(());
        }
        match op.name() {
            "device.alloc" => {
                let id = self.declare(op, op.result(0))?;
                self.push(Plain::Alloc(id));
            }
            "device.copy" => self.copy(op)?,
            "device.transfer" => self.transfer(op)?,
            "device.fill" => self.fill(op)?,
            "device.invoke" => self.invoke(op)?,
            "device.apply" => self.apply(op)?,
            "device.combine" => self.combine(op)?,
            "device.wait" => {
                let tokens = op.operands().into_iter().map(|token| self.token_of(op, token));
                let tokens = tokens.collect::<Result<_, _>>()?;
                self.push(Plain::Wait(tokens));
            }
            "device.ready" => {
                let token = self.define_token(op.result(0));
                self.push(Plain::Ready(token));
            }
            "device.barrier" => {
                let named = op.attr("scope").and_then(attr::string).and_then(device::Scope::parse);
                let named = named.ok_or_else(|| refuse(op, "without a scope"))?;
                self.push(Plain::Barrier(scope(named)));
            }
            "scf.for" => self.scf_for(op)?,
            "affine.for" => self.affine_for(op)?,
            "scf.if" => self.scf_if(op)?,
            // A constant of another type is for the bodies of applies.
            "arith.constant" => {}
            _ => return Err(InterpretError::operation(op, ACCEPTED)),
        }
        Ok(())
    }

    /// A buffer that exists from here on.
    fn declare(&mut self, op: Op<'c>, value: Val<'c>) -> Result<MemRefId, InterpretError> {
        let full = value.ty();
        let error = || InterpretError::ty(op, full);
        let elem = ty::elem(full).and_then(element_type).ok_or_else(error)?;
        let shape = ty::shape(full).ok_or_else(error)?;
        let memory = self.memory_of(full).ok_or_else(error)?;
        let bytes = shape.iter().product::<u64>() * elem.bytes() as u64;
        let room_bytes = self.room(memory, &shape, elem.bytes() as u64);
        let room_bytes = match op.attr("offset").and_then(attr::int) {
            // Bytes of an arena beyond the buffers before it.
            Some(offset) => {
                let reach = self.reach.entry(memory).or_insert(0);
                let end = offset as u64 + bytes;
                let more = end.saturating_sub(*reach);
                *reach += more;
                more
            }
            None => room_bytes.max(bytes),
        };
        self.declared.push(MemRef { memory, ty: elem, shape, room_bytes });
        let id = self.declared.len() as MemRefId - 1;
        self.memrefs.insert(value, id);
        Ok(id)
    }

    fn memory_of(&self, memref: Type<'c>) -> Option<u32> {
        self.names.memories.get(self.machine.memory_of(memref)?.name).copied()
    }

    /// Bytes of the capacity that a buffer takes: whole registers.
    fn room(&self, memory: u32, shape: &[u64], elem: u64) -> u64 {
        let facts = &self.facts.memories[memory as usize];
        let Some(register) = facts.register_bytes else {
            return shape.iter().product::<u64>() * elem;
        };
        let registers = match facts.lanes {
            // One element of each lane, whatever its type.
            Some(lanes) => shape.iter().product::<u64>().div_ceil(lanes.max(1)),
            None => {
                let row = shape.last().copied().unwrap_or(1) * elem;
                let rows = shape.iter().rev().skip(1).product::<u64>();
                rows * row.div_ceil(register.max(1))
            }
        };
        registers * register
    }

    fn view(&self, op: Op<'c>, view: &device::View<'c>) -> Result<plain::View, InterpretError> {
        let memref = self.memrefs.get(&view.memref).copied();
        let memref = memref.ok_or_else(|| refuse(op, "works on no buffer of the kernel"))?;
        Ok(plain::View { memref, indices: self.slots.all(op, &view.indices)? })
    }

    fn way(&self, op: Op<'c>, name: &str) -> Result<u32, InterpretError> {
        let found = self.names.moves.get(name).copied();
        found.ok_or_else(|| {
            refuse(op, &format!("names @{name}, which is not a move of the machine"))
        })
    }

    /// The slot of the token that an operation gives.
    fn given(&mut self, op: Op<'c>) -> Option<TokenSlot> {
        let token = *op.results().first()?;
        Some(self.define_token(token))
    }

    fn define_token(&mut self, token: Val<'c>) -> TokenSlot {
        let slot = self.fresh_token();
        self.tokens.insert(token, slot);
        slot
    }

    fn fresh_token(&mut self) -> TokenSlot {
        self.token_count += 1;
        self.token_count - 1
    }

    fn token_of(&self, op: Op<'c>, token: Val<'c>) -> Result<TokenSlot, InterpretError> {
        self.tokens
            .get(&token)
            .copied()
            .ok_or_else(|| refuse(op, "waits for no token of the kernel"))
    }

    fn copy(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let copy = device::Copy::of(op).ok_or_else(|| refuse(op, "is malformed"))?;
        let way = self.way(op, copy.move_name)?;
        let (from, to) = (self.view(op, &copy.source)?, self.view(op, &copy.target)?);
        let step = |view: &plain::View, dim: usize, step: u64| {
            (!view.indices.is_empty()).then_some((dim as u32, step))
        };
        let (from_step, to_step) =
            (step(&from, copy.from_dim, copy.from_step), step(&to, copy.to_dim, copy.to_step));
        let zeros = self.rest_of_register(&copy, &to);
        let token = self.given(op);
        let count = copy.count;
        self.push(Plain::Copy { way, from, to, count, from_step, to_step, zeros, token });
        Ok(())
    }

    /// Elements behind a short copy into the front of a register: they become zero.
    fn rest_of_register(&self, copy: &device::Copy<'c>, to: &plain::View) -> u64 {
        let declared = &self.declared[to.memref as usize];
        let registers = self.facts.memories[declared.memory as usize].register_bytes.is_some();
        let behind = declared.shape.iter().skip(copy.to_dim + 1).product::<u64>();
        let front = copy.target.indices.last().is_none_or(|&index| {
            let zero = index.def().filter(|def| def.is("arith.constant"));
            zero.and_then(|def| def.attr("value")).and_then(attr::int) == Some(0)
        });
        let lanes = declared.shape.last().copied().unwrap_or(1);
        if registers && front && copy.to_step * behind == 1 {
            lanes.saturating_sub(copy.count)
        } else {
            0
        }
    }

    fn transfer(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let transfer = device::Transfer::of(op).ok_or_else(|| refuse(op, "is malformed"))?;
        if !transfer.limits.is_empty() {
            return Err(refuse(op, "has limits, which the simulator does not know"));
        }
        let way = self.way(op, transfer.move_name)?;
        let (from, to) = (self.view(op, &transfer.source)?, self.view(op, &transfer.target)?);
        let token = self.given(op);
        let device::Transfer { sizes, from_strides, to_strides, .. } = transfer;
        self.push(Plain::Transfer { way, from, to, sizes, from_strides, to_strides, token });
        Ok(())
    }

    fn fill(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let fill = device::Fill::of(op).ok_or_else(|| refuse(op, "is malformed"))?;
        let way = self.way(op, fill.move_name)?;
        let to = self.view(op, &fill.target)?;
        let ty = self.declared[to.memref as usize].ty;
        let value = attr::int(fill.value).map(|int| Scalar::int(ty, int));
        let value = value.or_else(|| attr::float(fill.value).map(|float| Scalar::float(ty, float)));
        let value = value.ok_or_else(|| refuse(op, "fills with no number"))?;
        let token = self.given(op);
        let device::Fill { sizes, strides, .. } = fill;
        self.push(Plain::Fill { way, to, sizes, strides, value, token });
        Ok(())
    }

    fn invoke(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let invoke = device::Invoke::of(op).ok_or_else(|| refuse(op, "is malformed"))?;
        let found = self.names.instructions.get(invoke.instruction).copied();
        let instruction = found.ok_or_else(|| refuse(op, "names no instruction"))?;
        let views = invoke.views.iter().map(|view| self.view(op, view));
        let views = views.collect::<Result<_, _>>()?;
        let token = self.given(op);
        self.push(Plain::Invoke { instruction, views, token });
        Ok(())
    }

    /// The lane unit, and its register file.
    fn lane_unit(&self, op: Op<'c>, name: &str) -> Result<(u32, u32), InterpretError> {
        let unit = self.names.lanes.get(name).copied();
        let memory = self.machine.lanes_unit(name).map(|unit| unit.memory());
        let memory = memory.and_then(|memory| self.names.memories.get(memory).copied());
        unit.zip(memory).ok_or_else(|| refuse(op, "names no lane unit"))
    }

    fn operand(
        &self,
        op: Op<'c>,
        view: &device::View<'c>,
        lanes: u64,
        registers: u32,
    ) -> Result<Operand, InterpretError> {
        let view = self.view(op, view)?;
        let lanewise = self.declared[view.memref as usize].memory == registers;
        Ok(Operand { view, elements: if lanewise { lanes } else { 1 } })
    }

    fn apply(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let apply = device::Apply::of(op).ok_or_else(|| refuse(op, "is malformed"))?;
        let (unit, registers) = self.lane_unit(op, apply.lanes_unit)?;
        let operands = |views: &[device::View<'c>]| {
            views.iter().map(|view| self.operand(op, view, apply.lanes, registers)).collect()
        };
        let (inputs, outputs) = (operands(&apply.inputs), operands(&apply.outputs));
        let (inputs, outputs): (Result<Vec<_>, _>, Result<Vec<_>, _>) = (inputs, outputs);
        let work = self.around(op, apply.body).apply(apply.lanes, inputs?, outputs?)?;
        self.push(Plain::Apply { unit, combines: false, work });
        Ok(())
    }

    fn combine(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let combine = device::Combine::of(op).ok_or_else(|| refuse(op, "is malformed"))?;
        if combine.along.is_some() {
            return Err(refuse(op, "combines an operand whose lanes are not simulated"));
        }
        let (unit, registers) = self.lane_unit(op, combine.lanes_unit)?;
        let input = self.operand(op, &combine.input, combine.lanes, registers)?;
        let output = self.operand(op, &combine.output, 1, registers)?;
        let work = self.around(op, combine.body).combine(combine.lanes, input, output)?;
        self.push(Plain::Apply { unit, combines: true, work });
        Ok(())
    }

    fn around<'a>(&'a self, op: Op<'c>, body: Block<'c>) -> Around<'a, 'c> {
        let (slots, memrefs, declared) = (&self.slots, &self.memrefs, &self.declared);
        Around { op, body, slots, memrefs, declared }
    }

    fn scf_for(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let operands = op.operands();
        let [begin, end, step] =
            <[Val<'c>; 3]>::try_from(&operands[..3]).map_err(|_| refuse(op, "is malformed"))?;
        let bounds = self.slots.all(op, &[begin, end, step])?;
        self.round(op, [bounds[0], bounds[1], bounds[2]], &operands[3..])
    }

    fn affine_for(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let groups = op.segments().unwrap_or_default();
        let [lower, upper, inits] = groups.as_slice() else {
            return Err(refuse(op, "is malformed"));
        };
        let (lower, upper) = (self.slots.all(op, lower)?, self.slots.all(op, upper)?);
        let lower = self.slots.map_of(op, "lowerBoundMap", &lower)?;
        let upper = self.slots.map_of(op, "upperBoundMap", &upper)?;
        let begin = self.slots.fold_slots(BinaryOp::MaxSI, &lower);
        let end = self.slots.fold_slots(BinaryOp::MinSI, &upper);
        let step = op.attr("step").and_then(attr::int).unwrap_or(1);
        let step = self.slots.constant(step);
        self.flush();
        self.round(op, [begin, end, step], inits)
    }

    /// A loop; what it passes from round to round has a place of its own.
    fn round(
        &mut self,
        op: Op<'c>,
        [begin, end, step]: [Slot; 3],
        inits: &[Val<'c>],
    ) -> Result<(), InterpretError> {
        let block = op.first_block(0).ok_or_else(|| refuse(op, "without a body"))?;
        let args = block.args();
        let mut passed = Vec::with_capacity(inits.len());
        for (&init, &arg) in inits.iter().zip(&args[1..]) {
            let place = self.place(op, arg)?;
            self.pass(op, init, place)?;
            passed.push(place);
        }
        let counter = self.slots.define(args[0]);
        let places = passed.clone();
        let body = self.block(block, |writer, end| writer.pass_all(end, &places))?;
        self.push(Plain::For { counter, begin, end, step, body });
        self.results(op, &passed);
        Ok(())
    }

    fn scf_if(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let condition = self.slots.get(op, op.operand(0))?;
        let mut passed = Vec::new();
        for result in op.results() {
            passed.push(self.place(op, result)?);
        }
        let mut branches = [Vec::new(), Vec::new()];
        for (region, branch) in branches.iter_mut().enumerate() {
            if let Some(block) = op.first_block(region) {
                let places = passed.clone();
                *branch = self.block(block, |writer, end| writer.pass_all(end, &places))?;
            }
        }
        let [then, otherwise] = branches;
        self.push(Plain::If { condition, then, otherwise });
        self.results(op, &passed);
        Ok(())
    }

    /// A place for what is passed on as `value`.
    fn place(&mut self, op: Op<'c>, value: Val<'c>) -> Result<Passed, InterpretError> {
        if is_index(value.ty()) {
            return Ok(Passed::Slot(self.slots.define(value)));
        }
        if value.ty().to_string() == "!device.token" {
            return Ok(Passed::Token(self.define_token(value)));
        }
        Err(refuse(op, &format!("passes on a {}", value.ty())))
    }

    /// Puts a value in its place.
    fn pass(&mut self, op: Op<'c>, value: Val<'c>, to: Passed) -> Result<(), InterpretError> {
        let set = match to {
            Passed::Slot(to) => {
                let from = self.slots.get(op, value)?;
                Plain::Set { to, value: Value::Copy(from) }
            }
            Passed::Token(to) => Plain::Keep { to, from: self.token_of(op, value)? },
        };
        self.push(set);
        Ok(())
    }

    /// Puts what a block ends with in its places, all at once.
    fn pass_all(&mut self, end: Op<'c>, places: &[Passed]) -> Result<(), InterpretError> {
        let mut between = Vec::with_capacity(places.len());
        for (value, &place) in end.operands().into_iter().zip(places) {
            let own = match place {
                Passed::Slot(_) => Passed::Slot(self.slots.fresh()),
                Passed::Token(_) => Passed::Token(self.fresh_token()),
            };
            self.pass(end, value, own)?;
            between.push((own, place));
        }
        for pair in between {
            match pair {
                (Passed::Slot(from), Passed::Slot(to)) => {
                    self.push(Plain::Set { to, value: Value::Copy(from) });
                }
                (Passed::Token(from), Passed::Token(to)) => self.push(Plain::Keep { to, from }),
                _ => {}
            }
        }
        Ok(())
    }

    fn results(&mut self, op: Op<'c>, places: &[Passed]) {
        for (result, &place) in op.results().into_iter().zip(places) {
            match place {
                Passed::Slot(slot) => self.slots.alias(result, slot),
                Passed::Token(token) => {
                    self.tokens.insert(result, token);
                }
            }
        }
    }
}

fn refuse(op: Op<'_>, found: &str) -> InterpretError {
    InterpretError::form(op, found, ACCEPTED)
}
