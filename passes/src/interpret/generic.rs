//! A `linalg` operation as a loop nest.

use weft_dialects::ir::{Block, Linear, Op, Val, affine, attr, ty};

use super::compiler::Known;
use super::error::InterpretError;
use crate::length;

/// The accepted index maps, for messages.
const MAPS: &str = "one linear index map per operand, with every axis alone in one of them; \
                    lengths are numbers; named operations become linalg.generic by linalg-generalize-named-ops";

/// A loop nest over the operands of a `linalg` operation.
pub(super) struct Generic<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Number of points along each axis.
    pub extents: Vec<u64>,
    /// Number of operands that are inputs.
    pub inputs: usize,
    /// One index expression per dimension of each operand.
    pub maps: Vec<Vec<Linear>>,
    /// One argument per operand.
    pub body: Block<'c>,
}

impl<'c> Generic<'c> {
    /// Reads an operation that carries its maps and its body, of a run in which symbols stand for these
    /// numbers.
    pub fn of(op: Op<'c>, known: &Known) -> Result<Self, InterpretError> {
        let refuse = |found: String| InterpretError::form(op, found, MAPS);
        let maps = op.attr("indexing_maps").and_then(attr::array);
        let maps = maps.ok_or_else(|| refuse("without index maps".into()))?;
        let maps = maps
            .into_iter()
            .map(|map| affine::linear(map).ok_or_else(|| refuse(format!("the index map {map}"))))
            .collect::<Result<Vec<_>, _>>()?;
        let operands = op.operands();
        let body = op.first_block(0).filter(|body| body.args().len() == operands.len());
        let body = body.ok_or_else(|| refuse("without a body".into()))?;
        let segments = op.segments().unwrap_or_default();
        let [inputs, _] = segments.as_slice() else {
            return Err(refuse("without groups of operands".into()));
        };
        if maps.len() != operands.len() || op.results().len() != operands.len() - inputs.len() {
            return Err(refuse(format!("{} index maps", maps.len())));
        }
        let axes = maps.iter().flatten().map(|index| index.coefficients.len()).max().unwrap_or(0);
        let mut extents = vec![None; axes];
        for (operand, map) in operands.iter().zip(&maps) {
            for (index, dim) in map.iter().zip(ty::shape(operand.ty()).unwrap_or_default()) {
                if let Some(axis) = index.as_axis() {
                    extents[axis] = Some(dim);
                }
            }
        }
        let extents: Option<Vec<u64>> = extents.into_iter().collect();
        let mut extents = extents.ok_or_else(|| refuse("an axis has no extent".into()))?;
        let lengths = length::of_axes(op, axes).map_err(refuse)?;
        let kinds = op.attr("iterator_types").and_then(attr::array).unwrap_or_default();
        let kinds = kinds.into_iter().map(attr::is_parallel).chain(std::iter::repeat(false));
        for (extent, (length, kind)) in extents.iter_mut().zip(lengths.into_iter().zip(kinds)) {
            let Some(length) = length else { continue };
            // Numbers stand for the lengths of one run. Without one, all points are done that
            // do not depend on it.
            let number = length.value(&|name| known.get(name).copied());
            let number = number.and_then(|number| u64::try_from(number).ok());
            match number.filter(|number| number <= extent) {
                Some(number) => *extent = number,
                None if kind => {}
                None => return Err(refuse(format!("a sum of \"{length}\" points"))),
            }
        }
        Ok(Self { op, extents, inputs: inputs.len(), maps, body })
    }

    /// Operand, index and body argument of each output.
    pub fn outputs(&self) -> Vec<(Val<'c>, &[Linear], Val<'c>)> {
        let args = self.body.args();
        (self.inputs..self.maps.len())
            .map(|at| (self.op.operand(at), self.maps[at].as_slice(), args[at]))
            .collect()
    }

    /// The axes along which each point has its own element of every output.
    pub fn parallel(&self) -> Vec<bool> {
        let outputs = &self.maps[self.inputs..];
        let alone = |axis| {
            let has = |map: &Vec<Linear>| map.iter().any(|index| index.as_axis() == Some(axis));
            outputs.iter().all(has)
        };
        (0..self.extents.len()).map(alone).collect()
    }

    /// Returns whether the points of the nest write every element of a tensor of this shape.
    pub fn covers(&self, index: &[Linear], shape: &[u64]) -> bool {
        let whole = |(at, (own, &dim)): (usize, (&Linear, &u64))| match own.as_axis() {
            // An axis that runs along two dimensions writes their diagonal.
            Some(axis) => self.extents[axis] == dim && !index[..at].contains(own),
            None => dim == 1,
        };
        !self.extents.contains(&0) && index.iter().zip(shape).enumerate().all(whole)
    }
}
