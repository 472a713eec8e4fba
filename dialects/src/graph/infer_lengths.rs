//! Which lengths the nests of a payload have, where its operands have some.
//!
//! ```text
//! %x: 512 x 768, "seq" rows       linalg.generic (i, j) -> reads x[i, j]
//!   ->  {graph.lengths = ["seq", ""]}, and its result has "seq" rows
//! ```
//!
//! A payload is written for the greatest lengths. An axis ends where the tensors end that it reads
//! along; a result has the lengths of the axes along which it is written. What is read at other
//! places than those of an axis (windows, turned rows, places that the body computes) would reach behind
//! a length, so a payload that does that is refused.

use std::collections::HashMap;

use weft_runtime::length::Length;

use super::put_together::Filled;
use super::reshaped::reshaped;
use super::yielded;
use crate::ir::{Block, Context, Linear, Op, Val, affine, attr, ty};
use crate::lengths::{self, OF_AXES};

/// A length for each dimension; `None` where it is fixed.
pub type Dims = Vec<Option<Length>>;

/// What a payload may do, which its text does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Fold along a length: no number in it stands for how many points are folded.
    pub folds: bool,
    /// Ask where along a length a point lies: no number in it is compared that stands for the end.
    pub asks: bool,
    /// Read elements at places that it computes: none of them lies behind an end.
    pub looks_up: bool,
    /// Read behind an end what a tensor was filled with into which it puts another one.
    pub borders: bool,
}

/// Why lengths do not go through a payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum InferError {
    #[error("`{one}` and `{other}` meet along one axis, and nothing says that they are equal")]
    Disagree { one: Length, other: Length },
    #[error("`{length}` meets {extent}, and nothing says that they are equal")]
    Fixed { length: Length, extent: u64 },
    #[error("elements are read apart from each other along `{length}`, so behind its end")]
    Places { length: Length },
    #[error("element {at} is read along `{length}`, which may be shorter")]
    Element { at: i64, length: Length },
    #[error("elements at places that are computed are read along `{length}`")]
    Computed { length: Length },
    #[error("it folds along `{length}`, and may count on how many elements there are")]
    Folds { length: Length },
    #[error("it asks where along `{length}` an element lies, and may count on where it ends")]
    Asks { length: Length },
    #[error("{op} takes apart what `{length}` elements are")]
    Reshape { op: String, length: Length },
    #[error("{op} has an operand of `{length}` elements")]
    Operation { op: String, length: Length },
}

/// Writes the lengths of all nests and slices of a payload.
pub struct Inference<'a, 'c> {
    pub(super) context: &'c Context,
    allowed: Allowed,
    /// The least value of a length.
    least: &'a dyn Fn(&Length) -> Option<i64>,
    dims: HashMap<Val<'c>, Dims>,
    /// Tensors that are being put together along a dimension: which, and as far as they are.
    pub(super) filled: HashMap<Val<'c>, Filled>,
}

impl<'a, 'c> Inference<'a, 'c> {
    /// Of payloads of which this is allowed; `least` gives the least value of a length.
    pub fn new(
        context: &'c Context,
        allowed: Allowed,
        least: &'a dyn Fn(&Length) -> Option<i64>,
    ) -> Self {
        Self { context, allowed, least, dims: HashMap::new(), filled: HashMap::new() }
    }

    /// The lengths of the results of a payload, whose operands have those of `operands`. Where the
    /// operator says by itself how long a result is, `said` has that: then it is written no further.
    ///
    /// # Errors
    /// Why it may not be run for fewer elements than are laid out.
    pub fn payload(
        mut self,
        payload: Block<'c>,
        operands: &[Dims],
        said: &[Option<Dims>],
    ) -> Result<Vec<Dims>, InferError> {
        for (arg, dims) in payload.args().into_iter().zip(operands) {
            self.set(arg, dims.clone());
        }
        let told = told(payload, said);
        for op in payload.ops() {
            if op.is("graph.yield") {
                continue;
            }
            let said = op.results().iter().find_map(|result| told.get(result));
            self.op(op, said)?;
        }
        let of_result = |(number, value): (usize, &Val<'c>)| {
            let said = said.get(number).cloned().flatten();
            said.unwrap_or_else(|| self.of(*value))
        };
        Ok(yielded(payload).iter().enumerate().map(of_result).collect())
    }

    pub(super) fn of(&self, value: Val<'c>) -> Dims {
        let rank = ty::shape(value.ty()).map_or(0, |shape| shape.len());
        self.dims.get(&value).cloned().unwrap_or_else(|| vec![None; rank])
    }

    pub(super) fn set(&mut self, value: Val<'c>, dims: Dims) {
        if dims.iter().any(Option::is_some) {
            self.dims.insert(value, dims);
        }
    }

    /// Some length of a value.
    fn any(&self, value: Val<'c>) -> Option<&Length> {
        self.dims.get(&value)?.iter().flatten().next()
    }

    pub(super) fn write(&self, op: Op<'c>, dims: &[Option<Length>]) {
        if dims.iter().any(Option::is_some) {
            let texts: Vec<_> = dims.iter().map(|length| lengths::write(length.as_ref())).collect();
            op.set_attr(OF_AXES, attr::of_strings(self.context, &texts));
        }
    }

    fn op(&mut self, op: Op<'c>, said: Option<&Dims>) -> Result<(), InferError> {
        match op.name() {
            "linalg.generic" => self.nest(op, said),
            "tensor.expand_shape" | "tensor.collapse_shape" | "tensor.reshape" => self.reshape(op),
            "tensor.extract_slice" => match said.filter(|_| self.allowed.looks_up) {
                Some(said) => {
                    self.write(op, said);
                    Ok(())
                }
                None => self.slice(op),
            },
            "tensor.insert_slice" => self.insert(op),
            "tensor.pad" => self.pad(op),
            "tensor.empty" | "arith.constant" => Ok(()),
            name => match op.operands().into_iter().find_map(|operand| self.any(operand)) {
                Some(length) => {
                    let (op, length) = (name.to_owned(), length.clone());
                    Err(InferError::Operation { op, length })
                }
                None => Ok(()),
            },
        }
    }

    fn nest(&mut self, op: Op<'c>, said: Option<&Dims>) -> Result<(), InferError> {
        let kinds = op.attr("iterator_types").and_then(attr::array).unwrap_or_default();
        let maps = op.attr("indexing_maps").and_then(attr::array).unwrap_or_default();
        let maps: Vec<Option<Vec<Linear>>> = maps.into_iter().map(affine::linear).collect();
        let sizes = op.attr("operandSegmentSizes").and_then(attr::ints32).unwrap_or_default();
        let inputs = sizes.first().map_or(0, |count| *count as usize);
        let (operands, body) = (op.operands(), op.body(0));
        let mut axes: Dims = vec![None; kinds.len()];
        for (operand, map) in operands.iter().zip(&maps) {
            for (dim, length) in self.of(*operand).into_iter().enumerate() {
                let Some(length) = length else { continue };
                let index = map.as_ref().and_then(|map| map.get(dim));
                self.along(&mut axes, index, length)?;
            }
        }
        let end = operands.len() - op.results().len();
        if let (Some(said), Some(Some(map))) = (said, maps.get(end)) {
            for (index, length) in map.iter().zip(said) {
                let Some(length) = length else { continue };
                self.along(&mut axes, Some(index), length.clone())?;
            }
        }
        if axes.iter().all(Option::is_none) {
            return self.captures(op);
        }
        self.check_fixed(&axes, &operands[..inputs], &maps)?;
        for (axis, (length, kind)) in axes.iter().zip(&kinds).enumerate() {
            let Some(length) = length else { continue };
            if !attr::is_parallel(*kind) && !self.allowed.folds {
                return Err(InferError::Folds { length: length.clone() });
            }
            let asks = |op: &Op<'c>| {
                op.is("linalg.index") && op.attr("dim").and_then(attr::int) == Some(axis as i64)
            };
            let asked = body.is_some_and(|body| body.ops().iter().any(asks));
            if asked && !self.allowed.asks {
                return Err(InferError::Asks { length: length.clone() });
            }
        }
        self.captures(op)?;
        self.write(op, &axes);
        for (result, map) in op.results().into_iter().zip(&maps[end..]) {
            let map = map.as_deref().unwrap_or_default();
            let mut dims: Dims = vec![None; map.len()];
            for (axis, length) in axes.iter().enumerate() {
                let Some(length) = length else { continue };
                for (dim, index) in map.iter().enumerate() {
                    match index.coefficients[axis] {
                        0 => {}
                        _ if index.as_axis() == Some(axis) => dims[dim] = Some(length.clone()),
                        _ => return Err(InferError::Places { length: length.clone() }),
                    }
                }
            }
            self.set(result, dims);
        }
        Ok(())
    }

    /// Lets an axis end where the dimension does that is read by `index`.
    fn along(
        &self,
        axes: &mut Dims,
        index: Option<&Linear>,
        length: Length,
    ) -> Result<(), InferError> {
        let Some(index) = index else { return Err(InferError::Places { length }) };
        if index.is_constant() {
            let inside = (self.least)(&length).is_some_and(|least| least > index.constant);
            let at = index.constant;
            return if inside { Ok(()) } else { Err(InferError::Element { at, length }) };
        }
        let Some(axis) = index.as_axis() else { return Err(InferError::Places { length }) };
        match &axes[axis] {
            Some(one) if *one != length => {
                Err(InferError::Disagree { one: one.clone(), other: length })
            }
            _ => {
                axes[axis] = Some(length);
                Ok(())
            }
        }
    }

    /// What a nest reads along a length has that length everywhere.
    fn check_fixed(
        &self,
        axes: &Dims,
        inputs: &[Val<'c>],
        maps: &[Option<Vec<Linear>>],
    ) -> Result<(), InferError> {
        for (input, map) in inputs.iter().zip(maps) {
            let dims = self.of(*input);
            let shape = ty::shape(input.ty()).unwrap_or_default();
            for ((index, length), &extent) in map.iter().flatten().zip(&dims).zip(&shape) {
                let axis = index.as_axis().and_then(|axis| axes[axis].as_ref());
                if let (Some(own), None) = (axis, length)
                    // What this payload filled has no end of its own.
                    && input.def().is_none()
                {
                    return Err(InferError::Fixed { length: own.clone(), extent });
                }
            }
        }
        Ok(())
    }

    /// Elements at computed places may lie behind a length.
    fn captures(&self, op: Op<'c>) -> Result<(), InferError> {
        if self.allowed.looks_up {
            return Ok(());
        }
        let mut found = None;
        op.walk(&mut |inner| {
            let outside = inner.is("tensor.extract").then(|| inner.operand(0));
            found = found.take().or_else(|| outside.and_then(|tensor| self.any(tensor)).cloned());
        });
        found.map_or(Ok(()), |length| Err(InferError::Computed { length }))
    }

    /// Rows, of fewer of which there are less elements, one after the other.
    fn reshape(&mut self, op: Op<'c>) -> Result<(), InferError> {
        let (source, result) = (op.operand(0), op.result(0));
        let Some(length) = self.any(source).cloned() else { return Ok(()) };
        let refused = || InferError::Reshape { op: op.name().to_owned(), length: length.clone() };
        let (from, own) = (ty::shape(source.ty()), self.of(source));
        let (from, to) = from.zip(ty::shape(result.ty())).ok_or_else(refused)?;
        let dims = reshaped(&from, &own, &to).ok_or_else(refused)?;
        self.set(result, dims);
        Ok(())
    }

    fn slice(&mut self, op: Op<'c>) -> Result<(), InferError> {
        let dims = self.windowed(op, op.operand(0), true)?;
        self.write(op, &dims);
        self.set(op.result(0), dims);
        Ok(())
    }

    /// The lengths of the source, each of which goes along all of the target; or the next part of a
    /// tensor that is put together.
    fn insert(&mut self, op: Op<'c>) -> Result<(), InferError> {
        let [source, target] = [op.operand(0), op.operand(1)];
        if let Some(before) = self.is_next_part(op) {
            return self.put_behind(op, &before);
        }
        if let Some(dim) = self.is_behind(op) {
            return self.longer(op, dim);
        }
        let from = self.of(source);
        if self.allowed.borders && fills(target) {
            // Behind its end there is what is around it.
            self.write(op, &from);
            return Ok(());
        }
        // The tensor around it is known to be as long where it is not filled here.
        let into = self.windowed(op, target, false)?;
        let pairs = from.into_iter().zip(into);
        let dims = pairs.map(|(from, into)| either(from, into)).collect::<Result<Dims, _>>()?;
        in_all_of(&dims, source, target)?;
        self.fill_to(target, &dims);
        self.write(op, &dims);
        self.set(op.result(0), dims);
        Ok(())
    }

    /// Lets a tensor that is filled for one slice, as a border around it, be filled as far as that goes.
    fn fill_to(&self, target: Val<'c>, dims: &Dims) {
        let Some(fill) = target.def().filter(|_| fills(target)) else { return };
        let maps = fill.attr("indexing_maps").and_then(attr::array).unwrap_or_default();
        let index = maps.first().copied().and_then(affine::linear).unwrap_or_default();
        if index.iter().enumerate().all(|(dim, index)| index.as_axis() == Some(dim)) {
            self.write(fill, dims);
        }
    }

    fn pad(&mut self, op: Op<'c>) -> Result<(), InferError> {
        let (source, dims) = (op.operand(0), self.of(op.operand(0)));
        in_all_of(&dims, source, op.result(0))?;
        self.write(op, &dims);
        self.set(op.result(0), dims);
        Ok(())
    }

    /// The lengths of a window of `tensor`: a part of a length is as long as it is laid out, if it lies
    /// in front of every end.
    fn windowed(&self, op: Op<'c>, tensor: Val<'c>, parts: bool) -> Result<Dims, InferError> {
        let read = |name: &str| op.attr(name).and_then(attr::ints).unwrap_or_default();
        let (offsets, sizes) = (read("static_offsets"), read("static_sizes"));
        let strides = read("static_strides");
        let shape = ty::shape(tensor.ty()).unwrap_or_default();
        let dim = |(dim, length): (usize, Option<Length>)| {
            let Some(length) = length else { return Ok(None) };
            let place = [&offsets, &sizes, &strides].map(|all| all.get(dim).copied());
            let [Some(offset), Some(size), Some(stride)] = place else {
                return Err(InferError::Places { length });
            };
            if offset == i64::MIN && self.allowed.looks_up {
                return Ok(None);
            }
            if (offset, stride) == (0, 1) && size as u64 == shape[dim] {
                return Ok(Some(length));
            }
            let last = offset + (size - 1) * stride;
            let inside = (self.least)(&length).is_some_and(|least| last < least);
            match parts && inside {
                true => Ok(None),
                false => Err(InferError::Element { at: last, length }),
            }
        };
        self.of(tensor).into_iter().enumerate().map(dim).collect()
    }
}

/// What is said of results, and of what they are another view of.
fn told<'c>(payload: Block<'c>, said: &[Option<Dims>]) -> HashMap<Val<'c>, Dims> {
    let mut told = HashMap::new();
    for (value, dims) in yielded(payload).iter().zip(said) {
        let Some(dims) = dims else { continue };
        told.insert(*value, dims.clone());
        let views = ["tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape"];
        let seen = value.def().filter(|op| views.contains(&op.name())).map(|op| op.operand(0));
        let shapes = seen.and_then(|seen| Some((ty::shape(value.ty())?, ty::shape(seen.ty())?)));
        let own = shapes.and_then(|(from, to)| reshaped(&from, dims, &to));
        told.extend(seen.zip(own));
    }
    told
}

/// Whether a tensor is filled for one slice, as a border around it.
fn fills(target: Val<'_>) -> bool {
    let fill = target.def().filter(|op| op.is("linalg.generic") && op.operands().len() == 1);
    fill.is_some() && target.uses().len() == 1
}

/// The one length that two tensors have along a dimension.
pub(super) fn either(
    one: Option<Length>,
    other: Option<Length>,
) -> Result<Option<Length>, InferError> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => Err(InferError::Disagree { one, other }),
        (one, other) => Ok(one.or(other)),
    }
}

/// Checks that `part` lies along all of `whole` where it has a length.
pub(super) fn in_all_of(dims: &Dims, part: Val<'_>, whole: Val<'_>) -> Result<(), InferError> {
    let [part, whole] = [part, whole].map(|tensor| ty::shape(tensor.ty()).unwrap_or_default());
    for (length, sizes) in dims.iter().zip(part.iter().zip(&whole)) {
        if let Some(length) = length.as_ref().filter(|_| sizes.0 != sizes.1) {
            return Err(InferError::Places { length: length.clone() });
        }
    }
    Ok(())
}
