//! Checks every index of the code against what it names, so that a simulation never panics.

use super::error::SimulateError;
use super::machine::Machine;
use super::program::{Code, Kernel, Op, Slot, TokenSlot, Value, View, Work};

/// Bodies may be nested this deep.
const DEPTH_LIMIT: usize = 64;

/// Elements of one buffer or box at most: far above any machine, far below overflow.
const ELEMENTS_LIMIT: u64 = 1 << 40;

impl Code {
    /// Checks every index, rank and size.
    ///
    /// # Errors
    /// The first that does not fit, by name.
    pub fn validate(&self) -> Result<(), SimulateError> {
        self.machine.validate().map_err(|what| {
            SimulateError::Code(format!("machine @{}: {what}", self.machine.name))
        })?;
        for kernel in &self.kernels {
            let check = Check { machine: &self.machine, kernel };
            check
                .kernel()
                .map_err(|what| SimulateError::Code(format!("kernel @{}: {what}", kernel.name)))?;
        }
        Ok(())
    }
}

fn below(what: &str, index: u32, count: usize) -> Result<(), String> {
    if (index as usize) < count {
        return Ok(());
    }
    Err(format!("{what} {index} does not exist, {count} do"))
}

fn positive(what: &str, value: Option<u64>) -> Result<(), String> {
    if value == Some(0) { Err(format!("{what} is zero")) } else { Ok(()) }
}

fn cycles(what: &str, value: f64) -> Result<(), String> {
    if (0.0..=1e12).contains(&value) { Ok(()) } else { Err(format!("{what} takes {value} cycles")) }
}

fn elements(what: &str, sizes: &[u64]) -> Result<(), String> {
    let count = sizes.iter().try_fold(1u64, |n, &size| n.checked_mul(size.max(1)));
    match count.filter(|&count| count <= ELEMENTS_LIMIT) {
        Some(_) => Ok(()),
        None => Err(format!("{what} of {sizes:?} is too large")),
    }
}

impl Machine {
    fn validate(&self) -> Result<(), String> {
        let memories = self.memories.len();
        below("memory", self.shared, memories)?;
        for memory in &self.memories {
            let name = &memory.name;
            positive(&format!("bandwidth of {name}"), memory.bytes_per_cycle)?;
            positive(&format!("transaction of {name}"), memory.transaction_bytes)?;
            positive(&format!("banks of {name}"), memory.banks)?;
            positive(&format!("bank of {name}"), memory.bank_bytes)?;
            positive(&format!("register of {name}"), memory.register_bytes)?;
            if let Some(behind) = memory.caches {
                below("memory", behind, memories)?;
            }
            if let Some(around) = memory.within {
                below("memory", around, memories)?;
            }
        }
        for way in &self.moves {
            below("memory", way.source, memories)?;
            below("memory", way.target, memories)?;
            if let Some(engine) = way.engine {
                below("engine", engine, self.engines.len())?;
            }
            positive(&format!("bandwidth of {}", way.name), way.bytes_per_cycle)?;
            cycles(&way.name, way.issue_cycles.unwrap_or(0.0))?;
            cycles(&way.name, way.latency_cycles as f64)?;
        }
        for instruction in &self.instructions {
            let meaning = &instruction.meaning;
            let name = &instruction.name;
            cycles(name, instruction.issue_cycles)?;
            cycles(name, instruction.latency_cycles as f64)?;
            if let Some(engine) = instruction.engine {
                below("engine", engine, self.engines.len())?;
            }
            let (operands, program) = (&meaning.operands, &meaning.program);
            if program.inputs.len() != operands.len() + meaning.constants.len() {
                return Err(format!("the meaning of {name} takes other operands than it has"));
            }
            if program.outputs.len() > operands.len() || program.outputs.is_empty() {
                return Err(format!("the meaning of {name} has no operand for its results"));
            }
            program.validate().map_err(|error| format!("the meaning of {name}: {error}"))?;
            let first = meaning.first_result();
            let inputs = program.inputs.iter().zip(operands);
            for (&tensor, operand) in inputs.chain(program.outputs.iter().zip(&operands[first..])) {
                below("memory", operand.memory, memories)?;
                elements("an operand", &operand.shape)?;
                let decl = program.tensors[tensor as usize];
                if decl.ty != operand.ty || decl.len != operand.shape.iter().product::<u64>() {
                    return Err(format!("an operand of {name} differs from its meaning's"));
                }
            }
            for (&tensor, bytes) in program.inputs[operands.len()..].iter().zip(&meaning.constants)
            {
                let decl = program.tensors[tensor as usize];
                if decl.len * decl.ty.bytes() as u64 != bytes.len() as u64 {
                    return Err(format!("a constant of {name} has the wrong size"));
                }
            }
        }
        for unit in &self.lanes {
            cycles(&unit.name, unit.issue_cycles)?;
            cycles(&unit.name, unit.latency_cycles as f64)?;
        }
        Ok(())
    }
}

struct Check<'a> {
    machine: &'a Machine,
    kernel: &'a Kernel,
}

impl Check<'_> {
    fn kernel(&self) -> Result<(), String> {
        let kernel = self.kernel;
        if kernel.slots.is_empty() {
            return Err("slot 0 does not exist".to_owned());
        }
        if kernel.arguments as usize > kernel.memrefs.len() {
            return Err(format!("{} arguments are declared", kernel.memrefs.len()));
        }
        for memref in &kernel.memrefs {
            below("memory", memref.memory, self.machine.memories.len())?;
            elements("a buffer", &memref.shape)?;
        }
        self.body(&kernel.body, 0)
    }

    fn body(&self, body: &[Op], depth: usize) -> Result<(), String> {
        if depth >= DEPTH_LIMIT {
            return Err(format!("bodies are nested deeper than {DEPTH_LIMIT}"));
        }
        body.iter().try_for_each(|op| self.op(op, depth))
    }

    fn op(&self, op: &Op, depth: usize) -> Result<(), String> {
        match op {
            Op::Set { to, value } => {
                self.slot(*to)?;
                self.value(*value)
            }
            Op::For { counter, begin, end, step, body } => {
                self.slots(&[*counter, *begin, *end, *step])?;
                self.body(body, depth + 1)
            }
            Op::If { condition, then, otherwise } => {
                self.slot(*condition)?;
                self.body(then, depth + 1)?;
                self.body(otherwise, depth + 1)
            }
            Op::Alloc(memref) => {
                below("buffer", *memref, self.kernel.memrefs.len())?;
                if *memref < self.kernel.arguments {
                    return Err(format!("argument {memref} is allocated"));
                }
                Ok(())
            }
            Op::Copy { way, from, to, count, from_step, to_step, zeros, token } => {
                let engine = self.way(*way)?;
                self.token(engine, *token)?;
                self.same_type(from, to)?;
                self.between(*way, Some(from), to)?;
                elements("a copy", &[*count, (*zeros).max(1)])?;
                for (view, step) in [(from, from_step), (to, to_step)] {
                    self.view(view)?;
                    if let Some((dim, step)) = step {
                        below("dimension", *dim, view.indices.len())?;
                        elements("a copy", &[*count, *step])?;
                    } else if *count > 1 {
                        return Err("a copy of several elements has a dimension".to_owned());
                    }
                }
                Ok(())
            }
            Op::Transfer { way, from, to, sizes, from_strides, to_strides, token } => {
                let engine = self.way(*way)?;
                self.token(engine, *token)?;
                self.same_type(from, to)?;
                self.between(*way, Some(from), to)?;
                self.strides(sizes, from_strides)?;
                self.strides(sizes, to_strides)
            }
            Op::Fill { way, to, sizes, strides, value, token } => {
                let engine = self.way(*way)?;
                self.token(engine, *token)?;
                self.view(to)?;
                self.between(*way, None, to)?;
                if self.kernel.memrefs[to.memref as usize].ty != value.ty {
                    return Err(format!("a fill writes {} as another type", value.ty));
                }
                self.strides(sizes, strides)
            }
            Op::Invoke { instruction, views, token } => self.invoke(*instruction, views, *token),
            Op::Apply { unit, work, .. } => {
                below("lane unit", *unit, self.machine.lanes.len())?;
                self.work(work)
            }
            Op::Wait(tokens) => tokens.iter().try_for_each(|&token| self.token_slot(token)),
            Op::Ready(token) => self.token_slot(*token),
            Op::Keep { to, from } => {
                self.token_slot(*to)?;
                self.token_slot(*from)
            }
            Op::Barrier(_) => Ok(()),
        }
    }

    fn value(&self, value: Value) -> Result<(), String> {
        match value {
            Value::Copy(a) => self.slot(a),
            Value::Binary { op, .. } if op.is_float() => {
                Err(format!("{op:?} is no operation on indices"))
            }
            Value::Binary { a, b, .. } | Value::Compare { a, b, .. } => self.slots(&[a, b]),
            Value::Select { condition, then, otherwise } => {
                self.slots(&[condition, then, otherwise])
            }
        }
    }

    fn invoke(
        &self,
        instruction: u32,
        views: &[View],
        token: Option<TokenSlot>,
    ) -> Result<(), String> {
        below("instruction", instruction, self.machine.instructions.len())?;
        let instruction = &self.machine.instructions[instruction as usize];
        self.token(instruction.engine.is_some(), token)?;
        let operands = &instruction.meaning.operands;
        if views.len() != operands.len() {
            return Err(format!("{} is given {} views", instruction.name, views.len()));
        }
        for (view, operand) in views.iter().zip(operands) {
            self.view(view)?;
            let memref = &self.kernel.memrefs[view.memref as usize];
            if memref.ty != operand.ty
                || memref.shape.len() < operand.shape.len()
                || memref.memory != operand.memory && !operand.shape.is_empty()
            {
                return Err(format!("a view of {} is no operand", instruction.name));
            }
        }
        Ok(())
    }

    fn slot(&self, slot: Slot) -> Result<(), String> {
        below("slot", slot, self.kernel.slots.len())
    }

    fn slots(&self, slots: &[Slot]) -> Result<(), String> {
        slots.iter().try_for_each(|&slot| self.slot(slot))
    }

    fn token_slot(&self, token: TokenSlot) -> Result<(), String> {
        below("token", token, self.kernel.tokens as usize)
    }

    fn token(&self, engine: bool, token: Option<TokenSlot>) -> Result<(), String> {
        match token {
            Some(token) if engine => self.token_slot(token),
            None if !engine => Ok(()),
            Some(_) => Err("a token is given by what has no engine".to_owned()),
            None => Err("what has an engine gives no token".to_owned()),
        }
    }

    /// Returns whether the move has an engine.
    fn way(&self, way: u32) -> Result<bool, String> {
        below("move", way, self.machine.moves.len())?;
        Ok(self.machine.moves[way as usize].engine.is_some())
    }

    /// Returns whether a move leads from one buffer to another.
    fn between(&self, way: u32, from: Option<&View>, to: &View) -> Result<(), String> {
        let facts = &self.machine.moves[way as usize];
        let memory = |view: &View| self.kernel.memrefs[view.memref as usize].memory;
        let names = |id: u32| &self.machine.memories[id as usize].name;
        for (view, end) in [(from, facts.source), (Some(to), facts.target)] {
            let reached = |&found: &u32| self.machine.reaches(end, found);
            if let Some(found) = view.map(memory).filter(|found| !reached(found)) {
                return Err(format!(
                    "the move @{} is used on @{}, and goes from @{} to @{}",
                    facts.name,
                    names(found),
                    names(facts.source),
                    names(facts.target)
                ));
            }
        }
        Ok(())
    }

    fn view(&self, view: &View) -> Result<(), String> {
        below("buffer", view.memref, self.kernel.memrefs.len())?;
        self.slots(&view.indices)?;
        let rank = self.kernel.memrefs[view.memref as usize].shape.len();
        if view.indices.len() != rank {
            return Err(format!("{} indices into rank {rank}", view.indices.len()));
        }
        Ok(())
    }

    fn same_type(&self, from: &View, to: &View) -> Result<(), String> {
        self.view(from)?;
        self.view(to)?;
        let ty = |view: &View| self.kernel.memrefs[view.memref as usize].ty;
        if ty(from) == ty(to) {
            return Ok(());
        }
        Err(format!("{} is copied to {}", ty(from), ty(to)))
    }

    fn strides(&self, sizes: &[u64], strides: &[i64]) -> Result<(), String> {
        elements("a box", sizes)?;
        if sizes.len() != strides.len() {
            return Err(format!("{} strides for {} sizes", strides.len(), sizes.len()));
        }
        let magnitudes: Vec<u64> = strides.iter().map(|stride| stride.unsigned_abs()).collect();
        for (&size, &stride) in sizes.iter().zip(&magnitudes) {
            elements("a box", &[size, stride])?;
        }
        Ok(())
    }

    fn work(&self, work: &Work) -> Result<(), String> {
        let given = work.views.len() + work.tables.len() + usize::from(!work.indices.is_empty());
        if work.tensors.len() != given || work.uses.len() != work.views.len() {
            return Err("the tensors of an apply are not its operands".to_owned());
        }
        self.slots(&work.indices)?;
        for (view, tensor) in work.views.iter().zip(&work.tensors) {
            self.view(view)?;
            if self.kernel.memrefs[view.memref as usize].ty != tensor.ty {
                return Err("an operand of an apply has another type".to_owned());
            }
            elements("an operand", &[tensor.len])?;
        }
        for (&table, tensor) in work.tables.iter().zip(&work.tensors[work.views.len()..]) {
            below("buffer", table, self.kernel.memrefs.len())?;
            let memref = &self.kernel.memrefs[table as usize];
            if memref.ty != tensor.ty || memref.elements() != tensor.len {
                return Err("a table of an apply has another type".to_owned());
            }
        }
        Ok(())
    }
}
