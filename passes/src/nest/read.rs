//! From `linalg` to [`Nest`].

use std::collections::{HashMap, HashSet};

use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Linear, Op, Val, affine, attr, ty};
use weft_dialects::tile::{self, Compute};

use crate::length;

use super::{Access, Capture, Epilogue, Loop, Nest, Start};

/// Why a payload is no perfect nest.
#[derive(Debug, thiserror::Error)]
pub enum NestError {
    /// An operation that a kernel cannot hold.
    #[error("{0} cannot stand in a kernel; it holds linalg.generic and slices of its arguments")]
    Operation(String),
    /// Lengths that callers decide, and that are none.
    #[error("the lengths of a nest's axes are wrong: {0}")]
    Length(String),
    /// Not exactly one nest, with at most one more per output to start it.
    #[error(
        "a kernel holds one loop nest, what starts its outputs and what becomes of them, this one has {0}"
    )]
    Nests(usize),
    /// An index that is no sum of multiples of axes.
    #[error("the index map {0} is not linear in the axes")]
    Index(String),
    /// A shape that is not static.
    #[error("the type {0} has no static shape")]
    Shape(String),
    /// Sums of a tensor of their own that nothing starts.
    #[error("the sums are stored as another type, and nothing gives them a first value")]
    Start,
    /// A value that comes from nowhere a kernel may read.
    #[error("an operand of {0} is no argument of the kernel")]
    Operand(String),
}

/// The axes of a `linalg.generic`, with extents from its operands' shapes.
pub(crate) fn generic_axes(generic: Op<'_>) -> Result<Vec<Loop>, NestError> {
    let kinds = generic.attr("iterator_types").and_then(attr::array).unwrap_or_default();
    let mut extents = vec![None; kinds.len()];
    for (operand, index) in generic.operands().into_iter().zip(generic_maps(generic)?) {
        let shape =
            ty::shape(operand.ty()).ok_or_else(|| NestError::Shape(operand.ty().to_string()))?;
        for (expr, dim) in index.iter().zip(shape) {
            if let Some(axis) = expr.as_axis() {
                extents[axis] = Some(dim);
            }
        }
    }
    let lengths = length::of_axes(generic, kinds.len()).map_err(NestError::Length)?;
    kinds
        .iter()
        .zip(extents.into_iter().zip(lengths))
        .map(|(kind, (extent, length))| {
            let kind = if attr::is_parallel(*kind) { Axis::Parallel } else { Axis::Reduction };
            let extent = extent.ok_or_else(|| NestError::Index("without a plain axis".into()))?;
            Ok(Loop { extent, kind, length })
        })
        .collect()
}

/// The index expressions of a `linalg.generic`, per operand.
pub(crate) fn generic_maps(generic: Op<'_>) -> Result<Vec<Vec<Linear>>, NestError> {
    generic
        .attr("indexing_maps")
        .and_then(attr::array)
        .unwrap_or_default()
        .into_iter()
        .map(|map| affine::linear(map).ok_or_else(|| NestError::Index(map.to_string())))
        .collect()
}

/// Number of inputs of a `linalg.generic`.
pub(crate) fn generic_inputs(generic: Op<'_>) -> usize {
    generic
        .attr("operandSegmentSizes")
        .and_then(attr::ints32)
        .and_then(|sizes| sizes.first().copied())
        .unwrap_or(0) as usize
}

/// Values that a nest's body takes from outside it, at any depth.
pub(crate) fn captured<'c>(body: weft_dialects::ir::Block<'c>) -> Vec<Val<'c>> {
    let mut inside: HashSet<Val<'c>> = body.args().into_iter().collect();
    let mut found = Vec::new();
    for op in body.ops() {
        take_captured(op, &mut inside, &mut found);
    }
    found
}

/// Returns whether a body reads nothing from outside but scalar literals.
pub(crate) fn captures_literals(body: weft_dialects::ir::Block<'_>) -> bool {
    captured(body).into_iter().all(|outside| {
        !ty::is_tensor(outside.ty()) && outside.def().is_some_and(|op| op.is("arith.constant"))
    })
}

fn take_captured<'c>(op: Op<'c>, inside: &mut HashSet<Val<'c>>, found: &mut Vec<Val<'c>>) {
    for operand in op.operands() {
        if !inside.contains(&operand) && !found.contains(&operand) {
            found.push(operand);
        }
    }
    for block in (0..op.region_count()).flat_map(|region| op.region(region).blocks()) {
        inside.extend(block.args());
        block.ops().into_iter().for_each(|op| take_captured(op, inside, found));
    }
    inside.extend(op.results());
}

/// The accesses of a `linalg.generic` to its operands as they stand.
pub(crate) fn generic_accesses(generic: Op<'_>) -> Result<Vec<Access<'_>>, NestError> {
    generic
        .operands()
        .into_iter()
        .zip(generic_maps(generic)?)
        .map(|(tensor, index)| {
            let shape =
                ty::shape(tensor.ty()).ok_or_else(|| NestError::Shape(tensor.ty().to_string()))?;
            Ok(Access { tensor, shape, index })
        })
        .collect()
}

/// Returns whether a body reads the value so far of output `output`.
pub(crate) fn reads_output(generic: Op<'_>, output: usize) -> bool {
    let block = generic.body(0).expect("linalg.generic has a body");
    !block.arg(generic_inputs(generic) + output).uses().is_empty()
}

/// Rewrites accesses over a start's own axes as accesses over the axes of `nest`.
///
/// `own` is the start's access to the output, `main` the nest's: the axis in `own[d]`
/// becomes the expression `main[d]`, less what `own[d]` adds to it.
pub(crate) fn rebase<'c>(
    inputs: Vec<Access<'c>>,
    own: &[Linear],
    main: &[Linear],
    main_axes: usize,
) -> Result<Vec<Access<'c>>, NestError> {
    let mut of_axis: HashMap<usize, Linear> = HashMap::new();
    for (own, main) in own.iter().zip(main) {
        if own.is_constant() && main == &Linear::constant(main_axes, own.constant) {
            continue;
        }
        let axis = own.as_moved_axis().ok_or_else(|| NestError::Index("of a start".into()))?;
        of_axis.insert(axis, main.clone().offset(-own.constant));
    }
    inputs
        .into_iter()
        .map(|mut access| {
            access.index = access
                .index
                .iter()
                .map(|index| {
                    let mut sum = Linear::constant(main_axes, index.constant);
                    for (axis, &factor) in index.coefficients.iter().enumerate() {
                        if factor != 0 {
                            let main = of_axis
                                .get(&axis)
                                .ok_or_else(|| NestError::Index("of a start".into()))?;
                            sum = sum.add(&(*main).clone().scale(factor));
                        }
                    }
                    Ok(sum)
                })
                .collect::<Result<_, NestError>>()?;
            Ok(access)
        })
        .collect()
}

/// Reads the nest of a `tile.kernel`, before or after tiles were chosen.
///
/// Accesses are to the kernel's arguments.
///
/// # Errors
/// The first thing that no kernel can hold.
pub fn read_kernel(kernel: Op<'_>) -> Result<Nest<'_>, NestError> {
    let mut reader = Reader { alias: HashMap::new(), generics: Vec::new() };
    reader.block(kernel.body(0).ok_or(NestError::Nests(0))?)?;
    reader.last()
}

/// Reads the nest of every `tile.compute` of a `tile.kernel`, in order.
///
/// Accesses are to the kernel's arguments, and to the `tile.empty`s inside it through which
/// its computes hand tensors to each other.
///
/// # Errors
/// The first thing that no kernel can hold.
pub fn read_members(kernel: Op<'_>) -> Result<Vec<(Compute<'_>, Nest<'_>)>, NestError> {
    let mut reader = Reader { alias: HashMap::new(), generics: Vec::new() };
    let block = kernel.body(0).ok_or(NestError::Nests(0))?;
    let mut members = Vec::new();
    for op in block.ops() {
        reader.generics.clear();
        reader.op(op)?;
        if let Some(compute) = Compute::of(op) {
            members.push((compute, reader.last()?));
        }
    }
    Ok(members)
}

/// A tensor as a window of a kernel argument.
#[derive(Clone)]
struct Window<'c> {
    root: Val<'c>,
    offsets: Vec<i64>,
    strides: Vec<i64>,
}

struct Reader<'c> {
    alias: HashMap<Val<'c>, Val<'c>>,
    generics: Vec<Op<'c>>,
}

impl<'c> Reader<'c> {
    fn block(&mut self, block: weft_dialects::ir::Block<'c>) -> Result<(), NestError> {
        block.ops().into_iter().try_for_each(|op| self.op(op))
    }

    fn op(&mut self, op: Op<'c>) -> Result<(), NestError> {
        match op.name() {
            "linalg.generic" => self.generics.push(op),
            "tile.load" => {
                self.alias.insert(op.result(0), op.operand(0));
            }
            // Who reads what was stored reads the place where it was stored.
            "tile.store" => {
                self.alias.insert(op.result(0), op.operand(1));
            }
            "tile.compute" => {
                let body = op.body(0).ok_or(NestError::Nests(0))?;
                self.alias.extend(body.args().into_iter().zip(op.operands()));
                self.block(body)?;
                if let Some(end) = body.terminator() {
                    self.alias.extend(op.results().into_iter().zip(end.operands()));
                }
            }
            "tile.empty"
            | "tensor.empty"
            | "tile.view"
            | "tile.yield"
            | "tensor.extract_slice"
            | "tensor.insert_slice"
            | "tensor.pad"
            | "arith.constant" => {}
            other => return Err(NestError::Operation(other.to_owned())),
        }
        Ok(())
    }

    /// The nest of the generics so far.
    fn last(&self) -> Result<Nest<'c>, NestError> {
        let &last = self.generics.last().ok_or(NestError::Nests(0))?;
        match tile::epilogue_of(last) {
            Some(main) => self.nest(main, Some(last)),
            None => self.nest(last, None),
        }
    }

    fn window(&self, value: Val<'c>, user: &str) -> Result<Window<'c>, NestError> {
        let value = self.follow(value);
        let root = value.def().is_some_and(|op| op.is("tile.empty") || op.is("tile.view"));
        if root || value.owner_block().is_some() {
            let rank = ty::shape(value.ty())
                .ok_or_else(|| NestError::Shape(value.ty().to_string()))?
                .len();
            return Ok(Window { root: value, offsets: vec![0; rank], strides: vec![1; rank] });
        }
        let op = value.def().ok_or_else(|| NestError::Operand(user.to_owned()))?;
        match op.name() {
            "tensor.extract_slice" => {
                let base = self.window(op.operand(0), user)?;
                let read = |name: &str| op.attr(name).and_then(attr::ints).unwrap_or_default();
                let (offsets, strides) = (read("static_offsets"), read("static_strides"));
                if offsets.len() != base.offsets.len() || op.operands().len() != 1 {
                    return Err(NestError::Operand(user.to_owned()));
                }
                Ok(Window {
                    root: base.root,
                    offsets: base
                        .offsets
                        .iter()
                        .zip(&base.strides)
                        .zip(&offsets)
                        .map(|((base, stride), offset)| base + stride * offset)
                        .collect(),
                    strides: base.strides.iter().zip(&strides).map(|(a, b)| a * b).collect(),
                })
            }
            // Read past its ends: the access is to the padded tensor (see `border.rs`).
            "tensor.pad" => {
                let rank = ty::shape(value.ty()).map_or(0, |shape| shape.len());
                Ok(Window { root: value, offsets: vec![0; rank], strides: vec![1; rank] })
            }
            // The initial value of an output is written to the output's own buffer.
            "linalg.generic" => self.window(op.operand(generic_inputs(op) + value.index()), user),
            other => Err(NestError::Operand(format!("{user}, made by {other},"))),
        }
    }

    fn follow(&self, mut value: Val<'c>) -> Val<'c> {
        while let Some(next) = self.alias.get(&value) {
            value = *next;
        }
        value
    }

    /// The access to a kernel argument that an access to a window of it is.
    fn resolve(&self, access: Access<'c>) -> Result<Access<'c>, NestError> {
        let window = self.window(access.tensor, "linalg.generic")?;
        let index = access
            .index
            .into_iter()
            .zip(window.offsets.iter().zip(&window.strides))
            .map(|(index, (&offset, &stride))| index.scale(stride).offset(offset))
            .collect();
        let shape = ty::shape(window.root.ty())
            .ok_or_else(|| NestError::Shape(window.root.ty().to_string()))?;
        Ok(Access { tensor: window.root, shape, index })
    }

    fn nest(&self, generic: Op<'c>, epilogue: Option<Op<'c>>) -> Result<Nest<'c>, NestError> {
        let axes = generic_axes(generic)?;
        let inputs = generic_inputs(generic);
        let accesses = generic_accesses(generic)?;
        let mut starts = Vec::new();
        let mut used = 1;
        for (output, access) in accesses[inputs..].iter().enumerate() {
            let made_by = self.follow(access.tensor).def().filter(|op| op.is("linalg.generic"));
            starts.push(match made_by {
                _ if !reads_output(generic, output) => Start::Unread,
                None => Start::Held,
                Some(start) => {
                    used += 1;
                    let own = generic_accesses(start)?;
                    let count = generic_inputs(start);
                    let place = &own[count + self.follow(access.tensor).index()];
                    let rebased =
                        rebase(own[..count].to_vec(), &place.index, &access.index, axes.len())?;
                    Start::From {
                        inputs: rebased
                            .into_iter()
                            .map(|access| self.resolve(access))
                            .collect::<Result<_, _>>()?,
                        body: start.body(0).ok_or(NestError::Nests(0))?,
                    }
                }
            });
        }
        if used + usize::from(epilogue.is_some()) != self.generics.len() {
            return Err(NestError::Nests(self.generics.len()));
        }
        let body = generic.body(0).ok_or(NestError::Nests(0))?;
        let captures = captured(body)
            .into_iter()
            .filter(|value| ty::is_tensor(value.ty()))
            .map(|value| Capture { value, tensor: self.follow(value) })
            .collect();
        let mut inner = accesses;
        let mut outputs = inner.split_off(inputs);
        let sums = outputs.first().map(|sums| sums.tensor);
        let epilogue = match epilogue {
            Some(last) => {
                let (epilogue, stored) = self.epilogue(last, &outputs[0], axes.len())?;
                // Sums of another type have a tensor of their own, which no kernel keeps.
                outputs = stored.map_or(outputs, |stored| vec![stored]);
                Some(epilogue)
            }
            None => None,
        };
        if outputs.first().map(|output| output.tensor) != sums
            && matches!(starts[..], [Start::Held])
        {
            return Err(NestError::Start);
        }
        let [inputs, outputs] = [inner, outputs].map(|accesses| -> Result<Vec<_>, NestError> {
            accesses.into_iter().map(|access| self.resolve(access)).collect()
        });
        Ok(Nest { axes, inputs: inputs?, outputs: outputs?, body, starts, epilogue, captures })
    }

    /// The epilogue on what a nest of `axes` folds by the access `sums`, and what it writes where that
    /// is another tensor.
    fn epilogue(
        &self,
        last: Op<'c>,
        sums: &Access<'c>,
        axes: usize,
    ) -> Result<(Epilogue<'c>, Option<Access<'c>>), NestError> {
        let mut own = generic_accesses(last)?;
        let place = own.remove(generic_inputs(last));
        let casts = self.follow(place.tensor).def().is_none_or(|op| !op.is("linalg.generic"));
        let (read, written) = match casts {
            true => (own.pop().ok_or(NestError::Nests(1))?, Some(place)),
            false => (place, None),
        };
        let count = own.len();
        own.extend(written);
        let mut rebased = rebase(own, &read.index, &sums.index, axes)?;
        let written = rebased.split_off(count).pop();
        let inputs = rebased.into_iter().map(|access| self.resolve(access));
        let epilogue = Epilogue {
            inputs: inputs.collect::<Result<_, _>>()?,
            body: last.body(0).ok_or(NestError::Nests(0))?,
        };
        Ok((epilogue, written))
    }
}
