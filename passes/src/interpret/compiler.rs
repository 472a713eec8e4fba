//! The state of a compilation: the representation of each value, and which may be overwritten.

use std::collections::{BTreeMap, HashMap};

use weft_dialects::ir::{Block, Op, Type, Val, attr, ty};
use weft_runtime::vm::{Inst, Nest, Program, Scalar, Stmt, TensorId, Ty};

use super::error::InterpretError;
use super::points;
use super::scalar::{self, element_type};
use super::scope;
use super::view::View;

/// The operations that the interpreter knows, for messages.
const ACCEPTED: &str = "linalg.generic, linalg.fill, arith, math, tensor (static shapes), \
                        scf.for, scf.while, scf.if, and the loads, stores and computes of tile";

/// The representation of a value.
#[derive(Clone)]
pub(super) enum Bound<'c> {
    /// Elements of a buffer; a scalar is the only element of one.
    View(View),
    /// A tensor without content.
    Empty(Ty, Vec<u64>),
    /// A literal that has not been read yet.
    Literal(Op<'c>),
    /// A number.
    Scalar(Scalar),
}

/// The facts of a tensor of the program.
struct Buffer {
    /// Uses, still to come, of the values that lie in it.
    pending: usize,
    /// The depth of loops where it may be overwritten after its last use; never, for what
    /// the caller gave.
    writable_at: Option<usize>,
}

/// What symbols stand for in a run, where data have decided it.
pub(super) type Known = BTreeMap<String, i64>;

/// Compiles the operations of a payload, in order.
#[derive(Default)]
pub(super) struct Compiler<'c> {
    /// What lengths are made of.
    pub known: Known,
    pub program: Program,
    /// Contents of the inputs after those for arguments.
    pub constants: Vec<Vec<u8>>,
    /// The statements so far, of the body being compiled.
    pub body: Vec<Stmt>,
    /// Number of enclosing loops.
    pub depth: usize,
    /// The coordinates of a point while a body is run point by point.
    pub counters: Vec<View>,
    bound: HashMap<Val<'c>, Bound<'c>>,
    buffers: Vec<Buffer>,
}

impl<'c> Compiler<'c> {
    /// For a run in which symbols stand for these numbers.
    pub fn of_run(known: Known) -> Self {
        Self { known, ..Self::default() }
    }

    /// Element type and shape of a value; a scalar has rank 0.
    pub fn typed(&self, op: Op<'_>, value: Val<'_>) -> Result<(Ty, Vec<u64>), InterpretError> {
        let full = value.ty();
        let error = || InterpretError::ty(op, full);
        let (elem, shape) = if ty::is_tensor(full) {
            (ty::elem(full).ok_or_else(error)?, ty::shape(full).ok_or_else(error)?)
        } else {
            (full, Vec::new())
        };
        // Far above any memory, and far below overflow in an address.
        let fits = |bytes: u64, &dim: &u64| bytes.checked_mul(dim.max(1)).filter(|&b| b < 1 << 60);
        shape.iter().try_fold(8, fits).ok_or_else(error)?;
        Ok((element_type(elem).ok_or_else(error)?, shape))
    }

    /// A new tensor.
    pub fn fresh(&mut self, ty: Ty, shape: &[u64]) -> View {
        let buffer = self.program.tensor(ty, shape.iter().product());
        self.buffers.push(Buffer { pending: 0, writable_at: Some(self.depth) });
        View::whole(buffer, shape)
    }

    fn input(&mut self, ty: Ty, shape: &[u64]) -> View {
        let view = self.fresh(ty, shape);
        self.program.inputs.push(view.buffer);
        self.buffers[view.buffer as usize].writable_at = None;
        view
    }

    /// Makes a value the next input of the program.
    pub fn argument(&mut self, op: Op<'c>, value: Val<'c>) -> Result<(), InterpretError> {
        let (ty, shape) = self.typed(op, value)?;
        let view = self.input(ty, &shape);
        self.bind(value, Bound::View(view));
        Ok(())
    }

    /// Says what stands for a value.
    pub fn bind(&mut self, value: Val<'c>, to: Bound<'c>) {
        if let Bound::View(view) = &to {
            self.buffers[view.buffer as usize].pending += value.uses().len();
        }
        self.bound.insert(value, to);
    }

    /// Binds a value to a whole or partial buffer.
    pub fn bind_view(&mut self, value: Val<'c>, view: View) {
        self.bind(value, Bound::View(view));
    }

    /// Returns the representation of a value; `None` for one from outside the payload.
    pub fn bound(&self, value: Val<'c>) -> Option<&Bound<'c>> {
        self.bound.get(&value)
    }

    /// The number that a value is known to be.
    pub fn known(&self, value: Val<'c>) -> Option<Scalar> {
        match self.bound(value) {
            Some(Bound::Scalar(scalar)) => Some(*scalar),
            _ => None,
        }
    }

    /// Returns the view of a value's elements.
    pub fn view(&mut self, op: Op<'c>, value: Val<'c>) -> Result<View, InterpretError> {
        match self.bound.get(&value).cloned() {
            Some(Bound::View(view)) => Ok(view),
            Some(Bound::Empty(ty, shape)) => Ok(self.fresh(ty, &shape)),
            Some(Bound::Literal(literal)) => self.literal(literal),
            Some(Bound::Scalar(scalar)) => {
                let cell = self.fresh(scalar.ty, &[]);
                let mut nest = Nest::parallel(&[]);
                let reg = nest.inst(Inst::Const(scalar));
                nest.store(cell.identity(), reg);
                self.push(nest);
                Ok(cell)
            }
            None => Err(InterpretError::form(
                op,
                format!("an operand of type {} comes from outside the payload", value.ty()),
                "arguments of the payload, and what it computes from them",
            )),
        }
    }

    /// A literal becomes an input whose contents are known.
    fn literal(&mut self, op: Op<'c>) -> Result<View, InterpretError> {
        let value = op.result(0);
        if let Some(Bound::View(view)) = self.bound(value) {
            return Ok(view.clone());
        }
        let (ty, shape) = self.typed(op, value)?;
        let bytes = op.attr("value").and_then(attr::dense_bytes).ok_or_else(|| {
            InterpretError::form(op, "this literal has no numbers in the text", "dense<…>")
        })?;
        let view = self.input(ty, &shape);
        self.constants.push(bytes);
        self.bind_view(value, view.clone());
        Ok(view)
    }

    /// Adds a statement.
    pub fn push(&mut self, stmt: impl Into<Stmt>) {
        self.body.push(stmt.into());
    }

    /// Copies elements from one view to another of the same shape.
    pub fn copy(&mut self, from: &View, to: &View) {
        self.push(copy(from, to));
    }

    /// The elements of a value, one after the other from the beginning of a buffer.
    pub fn whole(&mut self, op: Op<'c>, value: Val<'c>) -> Result<View, InterpretError> {
        let view = self.view(op, value)?;
        let tensor = self.program.tensors[view.buffer as usize];
        if view.is_contiguous() && view.offset == 0 && view.count() == tensor.len {
            return Ok(View::whole(view.buffer, &view.shape));
        }
        let to = self.fresh(tensor.ty, &view.shape);
        self.copy(&view, &to);
        Ok(to)
    }

    /// Returns the destination for the new value of `operand`: the old one's memory if this is its
    /// last use, else a copy; memory of any content if all of it is `overwritten`.
    pub fn destination(
        &mut self,
        op: Op<'c>,
        operand: Val<'c>,
        overwritten: bool,
    ) -> Result<View, InterpretError> {
        let (ty, shape) = self.typed(op, operand)?;
        match self.bound(operand) {
            Some(Bound::View(view)) if self.is_free(view.buffer) => return Ok(view.clone()),
            Some(Bound::Empty(..)) => return Ok(self.fresh(ty, &shape)),
            _ if overwritten => return Ok(self.fresh(ty, &shape)),
            _ => {}
        }
        let from = self.view(op, operand)?;
        let to = self.fresh(ty, &shape);
        self.copy(&from, &to);
        Ok(to)
    }

    /// Returns whether the use at hand is the last one of everything in a buffer.
    pub fn is_free(&self, buffer: TensorId) -> bool {
        let buffer = &self.buffers[buffer as usize];
        buffer.pending == 1 && buffer.writable_at == Some(self.depth)
    }

    /// A buffer belongs to a loop's rounds from now on, or to what is around the loop again.
    pub fn own_at(&mut self, buffer: TensorId, depth: usize) {
        self.buffers[buffer as usize].writable_at = Some(depth);
    }

    /// The uses by `op` itself are done.
    pub fn release_operands(&mut self, op: Op<'c>) {
        for operand in op.operands() {
            if let Some(Bound::View(view)) = self.bound.get(&operand) {
                let pending = &mut self.buffers[view.buffer as usize].pending;
                *pending = pending.saturating_sub(1);
            }
        }
    }

    /// The uses by `op` and everything inside it are done.
    pub fn release(&mut self, op: Op<'c>) {
        op.walk(&mut |inner| self.release_operands(inner));
    }

    /// The uses that are still to come, of every buffer.
    pub fn pending(&self) -> Vec<usize> {
        self.buffers.iter().map(|buffer| buffer.pending).collect()
    }

    /// Back to `pending` as it was, less the uses in these blocks; newer buffers keep what
    /// they have.
    pub fn restore(&mut self, pending: &[usize], less: &[&Vec<TensorId>]) {
        for (buffer, &pending) in self.buffers.iter_mut().zip(pending) {
            buffer.pending = pending;
        }
        for &used in less.iter().copied().flatten() {
            let pending = &mut self.buffers[used as usize].pending;
            *pending = pending.saturating_sub(1);
        }
    }

    /// The buffers from outside a block that it uses, once per use.
    pub fn used_in(&self, block: Option<Block<'c>>) -> Vec<TensorId> {
        let mut used = Vec::new();
        for op in block.into_iter().flat_map(Block::ops) {
            op.walk(&mut |inner| {
                for operand in inner.operands() {
                    if let Some(Bound::View(view)) = self.bound(operand) {
                        used.push(view.buffer);
                    }
                }
            });
        }
        used
    }

    /// Compiles a block and returns what its terminator passes on.
    pub fn block(&mut self, block: Block<'c>) -> Result<Vec<Val<'c>>, InterpretError> {
        let mut ops = block.ops();
        let Some(end) = ops.pop() else {
            return Ok(Vec::new());
        };
        let mut run = Vec::new();
        for op in ops {
            if op.is("arith.constant") {
                self.constant(op)?;
            } else if scope::is_scalar(op) {
                run.push(op);
            } else if op.is("tensor.insert") {
                run.push(op);
                self.scalars(&std::mem::take(&mut run))?;
            } else {
                self.scalars(&std::mem::take(&mut run))?;
                self.op(op)?;
            }
        }
        self.scalars(&run)?;
        Ok(end.operands())
    }

    fn constant(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let result = op.result(0);
        let bound = if ty::is_tensor(result.ty()) {
            Bound::Literal(op)
        } else {
            let value = scalar::constant(op).ok_or_else(|| InterpretError::ty(op, result.ty()))?;
            Bound::Scalar(value)
        };
        self.bind(result, bound);
        Ok(())
    }

    fn op(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        match op.name() {
            "linalg.fill" => self.fill(op)?,
            "tensor.empty" | "tile.empty" => {
                let (ty, shape) = self.typed(op, op.result(0))?;
                self.bind(op.result(0), Bound::Empty(ty, shape));
            }
            "tensor.reshape"
            | "tensor.expand_shape"
            | "tensor.collapse_shape"
            | "tensor.cast"
            | "tile.view" => {
                self.reshape(op)?;
            }
            "tensor.extract_slice" => self.extract_slice(op)?,
            "tensor.insert_slice" => self.insert_slice(op)?,
            "tensor.pad" => self.pad(op)?,
            "tensor.generate" => self.generate(op)?,
            "tensor.splat" => self.splat(op)?,
            "tensor.concat" => self.concat(op)?,
            "tensor.from_elements" => self.elements(op)?,
            "tile.load" | "tile.store" => self.alias(op.result(0), op.operand(0), op)?,
            // These release what they use as they go.
            "tile.compute" => return self.inline(op),
            "linalg.generic" if points::branches(op) => return self.points(op),
            "scf.for" => return self.scf_for(op),
            "scf.while" => return self.scf_while(op),
            "scf.if" => return self.scf_if(op),
            "linalg.index" => self.counter(op)?,
            name if name.starts_with("linalg.") => self.generic(op)?,
            _ if scalar::form(op).is_some() => self.elementwise(op)?,
            _ => return Err(InterpretError::operation(op, ACCEPTED)),
        }
        self.release(op);
        Ok(())
    }

    /// `value` is `same` under another name.
    fn alias(&mut self, value: Val<'c>, same: Val<'c>, op: Op<'c>) -> Result<(), InterpretError> {
        let bound = match self.bound(same) {
            Some(bound) => bound.clone(),
            None => Bound::View(self.view(op, same)?),
        };
        self.bind(value, bound);
        Ok(())
    }

    /// The body of a `tile.compute`, on its operands.
    fn inline(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let Some(body) = op.first_block(0) else {
            return Err(InterpretError::form(op, "without a body", "one block"));
        };
        for (arg, operand) in body.args().into_iter().zip(op.operands()) {
            self.alias(arg, operand, op)?;
        }
        self.release_operands(op);
        let values = self.block(body)?;
        for (result, value) in op.results().into_iter().zip(values) {
            self.alias(result, value, op)?;
        }
        body.terminator().into_iter().for_each(|end| self.release_operands(end));
        Ok(())
    }
}

/// Copies elements from one view to another of the same shape, in another buffer.
pub(super) fn copy(from: &View, to: &View) -> Nest {
    let mut nest = Nest::parallel(&to.shape);
    let reg = nest.load(from.identity());
    nest.store(to.identity(), reg);
    nest
}

/// Returns whether a value of this type is a number and no tensor.
pub(super) fn is_number(ty: Type<'_>) -> bool {
    element_type(ty).is_some()
}
