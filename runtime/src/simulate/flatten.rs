//! From the bodies of a kernel to flat code and sites.

use super::area::Area;
use super::error::SimulateError;
use super::machine::{EngineId, Machine};
use super::prepare::{Apply, By, Cost, Inst, Ready, ReadyMeaning, Side, Site, SiteKind};
use super::program::{Kernel, MemRef, Op, TokenSlot, Use, View, Work};
use crate::vm::{Program, TensorId};

/// Pieces of one operand, at most.
const PIECES_LIMIT: u64 = 1 << 27;

/// One end of a copy.
struct CopyEnd<'v> {
    view: &'v View,
    /// The dimension along which its elements lie, and how far apart.
    step: Option<(u32, u64)>,
}

/// Writes the flat code of a kernel.
pub(super) struct Flatten<'a, 'c> {
    pub machine: &'c Machine,
    pub kernel: &'c Kernel,
    pub meanings: &'a [ReadyMeaning<'a>],
    /// What is written so far.
    pub ready: Ready<'c>,
    /// The path of the operation that is written.
    pub path: Vec<u32>,
}

impl<'c> Flatten<'_, 'c> {
    fn push(&mut self, inst: Inst) -> usize {
        self.ready.code.push(inst);
        self.ready.paths.push(self.path.clone());
        self.ready.code.len() - 1
    }

    fn here(&self) -> u32 {
        self.ready.code.len() as u32
    }

    /// A body; what it allocates ends with it.
    pub(super) fn block(&mut self, body: &'c [Op], first: u32) -> Result<(), SimulateError> {
        let allocates = body.iter().any(|op| matches!(op, Op::Alloc(_)));
        if allocates {
            self.push(Inst::Open);
        }
        for (i, op) in body.iter().enumerate() {
            self.path.push(first + i as u32);
            self.op(op)?;
            self.path.pop();
        }
        if allocates {
            self.push(Inst::Close);
        }
        Ok(())
    }

    fn op(&mut self, op: &'c Op) -> Result<(), SimulateError> {
        match op {
            Op::Set { to, value } => {
                self.push(Inst::Set { to: *to, value: *value });
            }
            Op::For { counter, begin, end, step, body } => {
                let (counter, begin, end, step) = (*counter, *begin, *end, *step);
                let enter = self.push(Inst::Enter { counter, begin, end, step, exit: 0 });
                let top = self.here();
                self.block(body, 0)?;
                self.push(Inst::Next { counter, end, step, top });
                let exit = self.here();
                self.ready.code[enter] = Inst::Enter { counter, begin, end, step, exit };
            }
            Op::If { condition, then, otherwise } => {
                let branch = self.push(Inst::Branch { condition: *condition, otherwise: 0 });
                self.block(then, 0)?;
                let jump = self.push(Inst::Jump(0));
                let second = self.here();
                self.ready.code[branch] = Inst::Branch { condition: *condition, otherwise: second };
                self.block(otherwise, then.len() as u32)?;
                self.ready.code[jump] = Inst::Jump(self.here());
            }
            Op::Alloc(memref) => {
                self.push(Inst::Alloc(*memref));
            }
            Op::Wait(tokens) => {
                self.push(Inst::Wait(tokens.clone()));
            }
            Op::Ready(token) => {
                self.push(Inst::Ready(*token));
            }
            Op::Keep { to, from } => {
                self.push(Inst::Keep { to: *to, from: *from });
            }
            Op::Barrier(scope) => {
                self.push(Inst::Barrier(*scope));
            }
            Op::Copy { way, from, to, count, from_step, to_step, zeros, token } => {
                let from = CopyEnd { view: from, step: *from_step };
                let to = CopyEnd { view: to, step: *to_step };
                let sides = self.copied(&from, &to, *count, *zeros)?;
                self.site(SiteKind::Copy, self.way(*way), *token, sides);
            }
            Op::Transfer { way, from, to, sizes, from_strides, to_strides, token } => {
                let elem = self.memref(from).ty.bytes() as u64;
                let (read, written) = self.pair(sizes, from_strides, to_strides, elem)?;
                let sides = vec![
                    self.side(from, read, vec![], Use::Read),
                    self.side(to, written, vec![], Use::Write),
                ];
                self.site(SiteKind::Copy, self.way(*way), *token, sides);
            }
            Op::Fill { way, to, sizes, strides, value, token } => {
                let elem = value.ty.bytes() as u64;
                self.few(sizes)?;
                let dims: Vec<_> = sizes.iter().copied().zip(strides.iter().copied()).collect();
                let sides = vec![self.side(to, Area::new(&dims, elem), vec![], Use::Write)];
                let element = value.bits.to_le_bytes();
                self.site(SiteKind::Fill { element }, self.way(*way), *token, sides);
            }
            Op::Invoke { instruction, views, token } => self.invoke(*instruction, views, *token)?,
            Op::Apply { unit, combines, work } => self.apply(*unit, *combines, work)?,
        }
        Ok(())
    }

    /// The sides of a copy of `count` elements; `zeros` more are written in the target.
    fn copied(
        &self,
        from: &CopyEnd<'_>,
        to: &CopyEnd<'_>,
        count: u64,
        zeros: u64,
    ) -> Result<Vec<Side>, SimulateError> {
        let elem = self.memref(from.view).ty.bytes() as u64;
        let along = |end: &CopyEnd<'_>| {
            let memref = self.memref(end.view);
            let mut extent = vec![1; memref.shape.len()];
            let stride = end.step.map_or(1, |(dim, step)| {
                extent[dim as usize] = (count.max(1) - 1) * step + 1;
                memref.strides()[dim as usize] * step as i64
            });
            (extent, stride)
        };
        let ((from_extent, a), (to_extent, b)) = (along(from), along(to));
        let (read, written) = self.pair(&[count], &[a], &[b], elem)?;
        let mut sides = vec![
            self.side(from.view, read, from_extent, Use::Read),
            self.side(to.view, written, to_extent, Use::Write),
        ];
        if zeros > 0 {
            // The rest of the register: one more thing that is written.
            let mut area = Area::new(&[(zeros, b)], elem);
            area.shift(count as i64 * b * elem as i64);
            let mut extent = sides[1].extent.clone();
            if let Some((dim, step)) = to.step {
                extent[dim as usize] += zeros * step;
            }
            sides.push(self.side(to.view, area, extent, Use::Write));
        }
        Ok(sides)
    }

    fn invoke(
        &mut self,
        instruction: u32,
        views: &[View],
        token: Option<TokenSlot>,
    ) -> Result<(), SimulateError> {
        let facts = &self.machine.instructions[instruction as usize];
        let first = facts.meaning.first_result();
        let ready = &self.meanings[instruction as usize];
        let mut sides = Vec::with_capacity(views.len());
        for (i, (view, operand)) in views.iter().zip(&facts.meaning.operands).enumerate() {
            let uses = match (ready.inputs[i].is_some(), i >= first) {
                (true, true) => Use::Update,
                (false, true) => Use::Write,
                _ => Use::Read,
            };
            self.few(&operand.shape)?;
            sides.push(self.window(view, &operand.shape, uses));
        }
        let cost = Cost {
            by: By::Instruction(instruction),
            issue_cycles: facts.issue_cycles,
            latency_cycles: facts.latency_cycles,
            bytes_per_cycle: None,
        };
        let kind = SiteKind::Invoke { instruction };
        self.site(kind, (cost, facts.engine), token, sides);
        Ok(())
    }

    fn apply(&mut self, unit: u32, combines: bool, work: &'c Work) -> Result<(), SimulateError> {
        let facts = &self.machine.lanes[unit as usize];
        let writes =
            |tensor: TensorId| work.uses.get(tensor as usize).is_some_and(|uses| uses.writes());
        if work.nest.stores.iter().any(|(access, _)| !writes(access.tensor))
            || !work.nest.scatters.is_empty()
        {
            let what = "an apply writes what is no output of it".to_owned();
            return Err(SimulateError::Code(what));
        }
        let mut program = Program { tensors: work.tensors.clone(), ..Program::default() };
        program.push(work.nest.clone());
        let work_ready = program.into_prepared().map_err(|error| {
            let what = format!("an operation of @{} in @{}", facts.name, self.kernel.name);
            SimulateError::Meaning { what, error }
        })?;
        let sides = work.views.iter().zip(&work.uses).zip(&work.tensors);
        let sides = sides.map(|((view, &uses), tensor)| {
            let shape: &[u64] =
                if self.memref(view).shape.is_empty() { &[] } else { &[tensor.len] };
            self.window(view, shape, uses)
        });
        let sides = sides.collect();
        let cost = Cost {
            by: By::Lanes { unit, combines },
            issue_cycles: facts.issue_cycles,
            latency_cycles: facts.latency_cycles,
            bytes_per_cycle: None,
        };
        let table_elements = work.tables.iter().map(|&table| {
            let memref = &self.kernel.memrefs[table as usize];
            (memref.memory, memref.ty.bytes() as u64)
        });
        let apply = Apply {
            table_elements: table_elements.collect(),
            work: work_ready,
            tables: work.tables.clone(),
            indices: work.indices.clone(),
        };
        self.site(SiteKind::Apply(Box::new(apply)), (cost, None), None, sides);
        Ok(())
    }

    fn memref(&self, view: &View) -> &'c MemRef {
        &self.kernel.memrefs[view.memref as usize]
    }

    /// Returns the cost of a move, and its engine. Without a number it takes the unit for a cycle,
    /// and an engine for no longer than its bytes do.
    fn way(&self, way: u32) -> (Cost, Option<EngineId>) {
        let facts = &self.machine.moves[way as usize];
        let default = if facts.engine.is_some() { 0.0 } else { 1.0 };
        let cost = Cost {
            by: By::Move(way),
            issue_cycles: facts.issue_cycles.unwrap_or(default),
            latency_cycles: facts.latency_cycles,
            bytes_per_cycle: facts.bytes_per_cycle,
        };
        (cost, facts.engine)
    }

    fn few(&self, sizes: &[u64]) -> Result<(), SimulateError> {
        if sizes.iter().product::<u64>() > PIECES_LIMIT {
            let what = format!("kernel @{}: a box of {sizes:?} is too large", self.kernel.name);
            return Err(SimulateError::Code(what));
        }
        Ok(())
    }

    fn pair(
        &self,
        sizes: &[u64],
        from: &[i64],
        to: &[i64],
        elem: u64,
    ) -> Result<(Area, Area), SimulateError> {
        self.few(sizes)?;
        Ok(Area::pair(sizes, from, to, elem))
    }

    /// A view of a shape along the last dimensions of its buffer.
    fn window(&self, view: &View, shape: &[u64], uses: Use) -> Side {
        let memref = self.memref(view);
        let strides = memref.strides();
        let leading = memref.shape.len() - shape.len();
        let dims: Vec<_> = shape.iter().copied().zip(strides[leading..].iter().copied()).collect();
        let mut extent = vec![1; leading];
        extent.extend(shape);
        self.side(view, Area::new(&dims, memref.ty.bytes() as u64), extent, uses)
    }

    fn side(&self, view: &View, area: Area, mut extent: Vec<u64>, uses: Use) -> Side {
        let memref = self.memref(view);
        extent.resize(memref.shape.len(), 1);
        let elem = memref.ty.bytes() as i64;
        let limits = memref.shape.iter().zip(&extent);
        Side {
            memref: view.memref,
            memory: memref.memory,
            indices: view.indices.clone(),
            strides: memref.strides().iter().map(|stride| stride * elem).collect(),
            limits: limits.map(|(&dim, &extent)| dim as i64 - extent as i64 + 1).collect(),
            extent,
            bytes: memref.bytes(),
            area,
            uses,
        }
    }

    fn site(
        &mut self,
        kind: SiteKind,
        (cost, engine): (Cost, Option<EngineId>),
        token: Option<TokenSlot>,
        sides: Vec<Side>,
    ) {
        let at = self.here();
        let number = self.ready.sites.len() as u32;
        let kernel = self.ready.place as u32;
        self.ready.sites.push(Site { kind, engine, token, sides, at, number, kernel, cost });
        self.push(Inst::Site(number));
    }
}
