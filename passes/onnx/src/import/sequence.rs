//! Sequences and optional values, which are tuples here.

use weft_dialects::ir::Linear;

use super::structure::Site;
use super::{Bound, Planner};
use crate::constant;
use crate::elements::{Elements, Scalar};
use crate::error::{Report, Result};
use crate::graph::describe;
use crate::plan::{Plan, ValueId};
use crate::proto::AttributeProto;
use crate::types::ElementType;

/// A `Constant` of which the call of a function gives the value.
pub fn constant<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let mut proto = site.proto().clone();
    let given = planner.attributes(site.proto());
    let given = given.into_iter().map(|(name, attribute)| AttributeProto {
        name: Some(name.to_owned()),
        ref_attr_name: None,
        ..attribute.clone()
    });
    proto.attribute = given.collect();
    if proto.attribute.is_empty() {
        return Err(Report::new(format!("{} has no value", describe(&proto)))
            .note("the call of the function that it is in gives none")
            .invalid());
    }
    let (name, tensor) = constant::tensor_of(proto)?;
    let elements = planner.model.attribute(&tensor, &format!("constant {name:?}"))?;
    Ok(vec![Bound::Tensor(planner.literal(elements))])
}

/// `SequenceConstruct`.
pub fn construct<'m>(_: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let count = site.inputs_from(0).len();
    let all = (0..count).map(|at| site.tensor(at, "inputs").map(Bound::Tensor));
    Ok(vec![Bound::Sequence(all.collect::<Result<_>>()?)])
}

/// The place in a sequence of `length` that an input names; `None` where it is absent.
fn place(site: &Site<'_>, at: usize, length: usize) -> Result<Option<usize>> {
    let Some(position) = site.integer(at, "position")? else { return Ok(None) };
    let length = length as i64;
    if !(-length..length.max(1)).contains(&position) {
        return Err(site
            .node
            .report(format!("names position {position} of a sequence of {length}"))
            .help(format!("{} to {}", -length, length - 1))
            .invalid());
    }
    Ok(Some(if position < 0 { position + length } else { position } as usize))
}

/// `SequenceAt`.
pub fn at<'m>(_: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let all = site.sequence(0, "input_sequence")?;
    let place = place(site, 1, all.len())?.filter(|&place| place < all.len());
    let found = place.and_then(|place| all.get(place));
    found.map(|one| vec![one.clone()]).ok_or_else(|| site.node.invalid("reads an empty sequence"))
}

/// `SequenceInsert`: at the end, where no position is given.
pub fn insert<'m>(_: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let mut all = site.sequence(0, "input_sequence")?.to_vec();
    let one = site.tensor(1, "tensor")?;
    // The position may be that behind the last one.
    let last = site.integer(2, "position")? == Some(all.len() as i64);
    let place = if last { None } else { place(site, 2, all.len())? };
    all.insert(place.unwrap_or(all.len()), Bound::Tensor(one));
    Ok(vec![Bound::Sequence(all)])
}

/// `SequenceErase`: the last one, where no position is given.
pub fn erase<'m>(_: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let mut all = site.sequence(0, "input_sequence")?.to_vec();
    if all.is_empty() {
        return Err(site.node.invalid("erases from an empty sequence"));
    }
    all.remove(place(site, 1, all.len())?.unwrap_or(all.len() - 1));
    Ok(vec![Bound::Sequence(all)])
}

/// `SequenceLength`.
pub fn length<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let length = site.sequence(0, "input_sequence")?.len();
    let length = Elements::scalar(ElementType::I64, Scalar::Int(length as i128));
    Ok(vec![Bound::Tensor(planner.literal(length))])
}

/// `ConcatFromSequence`.
pub fn concat<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let all = site.sequence(0, "input_sequence")?;
    let new = site.node.flag("new_axis", false)?;
    let axis = site.node.int("axis")?;
    let axis = axis.ok_or_else(|| site.node.invalid("lacks the attribute \"axis\""))?;
    let mut ids = Vec::with_capacity(all.len());
    for one in all {
        let Bound::Tensor(id) = one else {
            return Err(site.wrong_kind("input_sequence", one, "a sequence of tensors"));
        };
        ids.push(*id);
    }
    let Some(&first) = ids.first() else {
        return Err(site.node.report("joins an empty sequence").help("a tensor").unsupported());
    };
    let axis = site.node.axis(axis, planner.operand(first).rank() + usize::from(new))?;
    Ok(vec![Bound::Tensor(planner.joined(site, &ids, axis, new)?)])
}

/// `SplitToSequence`.
pub fn split<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let id = site.tensor(0, "input")?;
    let operand = planner.operand(id);
    let axis = site.node.axis(site.node.int("axis")?.unwrap_or(0), operand.rank())?;
    let extent = operand.dims()[axis];
    let Some(split) = site.node.optional(1) else {
        let keep = site.node.flag("keepdims", true)?;
        let one = |at| match keep {
            true => planner.piece(site, id, axis, (at, 1)),
            false => planner.picked(site, id, axis, at),
        };
        let all = (0..extent).map(one).map(Bound::Tensor);
        return Ok(vec![Bound::Sequence(all.collect())]);
    };
    let wrong = |sizes: String| {
        site.node
            .report(format!("splits {extent} along axis {axis} into {sizes}"))
            .help("a size from 1, or sizes that sum to it")
            .invalid()
    };
    let sizes = if split.rank() == 0 {
        let size = site.integer(1, "split")?.unwrap_or(0);
        if size < 1 {
            return Err(wrong(size.to_string()));
        }
        (0..extent).step_by(size as usize).map(|at| size.min(extent - at)).collect()
    } else {
        site.known(split, "split")?.ints().unwrap_or_default()
    };
    let total = sizes.iter().try_fold(0i64, |sum, &size| sum.checked_add(size));
    if total != Some(extent) || sizes.iter().any(|&size| size < 0) {
        return Err(wrong(format!("{sizes:?}")));
    }
    let mut start = 0;
    let all = sizes.into_iter().map(|size| {
        let piece = planner.piece(site, id, axis, (start, size));
        start += size;
        Bound::Tensor(piece)
    });
    Ok(vec![Bound::Sequence(all.collect())])
}

/// `Optional`.
pub fn optional<'m>(_: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    Ok(vec![site.optional(0).cloned().unwrap_or(Bound::Nothing)])
}

/// `OptionalHasElement`.
pub fn has_element<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let there = site.optional(0).is_some_and(|bound| !matches!(bound, Bound::Nothing));
    let there = Elements::scalar(ElementType::Bool, Scalar::Int(there.into()));
    Ok(vec![Bound::Tensor(planner.literal(there))])
}

/// `OptionalGetElement`.
pub fn element<'m>(_: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    match site.input(0, "input")? {
        Bound::Nothing => Err(site.wrong_kind("input", &Bound::Nothing, "one that is there")),
        there => Ok(vec![there.clone()]),
    }
}

impl Planner<'_> {
    /// The part of a tensor at one place of an axis, without that axis.
    pub(super) fn picked(&mut self, site: &Site<'_>, id: ValueId, axis: usize, at: i64) -> ValueId {
        let operand = self.operand(id);
        let (rank, mut dims) = (operand.rank(), operand.dims().to_vec());
        dims.remove(axis);
        let mut access: Vec<_> = (0..rank - 1).map(|d| Linear::axis(rank - 1, d)).collect();
        access.insert(axis, Linear::constant(rank - 1, at));
        self.taken(site, id, dims, access)
    }

    /// So many elements of a tensor along an axis.
    pub(super) fn piece(
        &mut self,
        site: &Site<'_>,
        id: ValueId,
        axis: usize,
        (start, size): (i64, i64),
    ) -> ValueId {
        let operand = self.operand(id);
        let (rank, mut dims) = (operand.rank(), operand.dims().to_vec());
        dims[axis] = size;
        let mut access: Vec<_> = (0..rank).map(|d| Linear::axis(rank, d)).collect();
        access[axis] = access[axis].clone().offset(start);
        self.taken(site, id, dims, access)
    }

    /// Elements of a tensor at linear indices.
    fn taken(
        &mut self,
        site: &Site<'_>,
        id: ValueId,
        dims: Vec<i64>,
        access: Vec<Linear>,
    ) -> ValueId {
        let plan = crate::ops::gathered(&self.operand(id), dims, access);
        self.step(site.node.op(), site.name, plan)[0]
    }

    /// Tensors behind each other along an axis, which may be a new one.
    pub(super) fn joined(
        &mut self,
        site: &Site<'_>,
        ids: &[ValueId],
        axis: usize,
        new: bool,
    ) -> Result<ValueId> {
        let all = ids.iter().map(|&id| {
            let operand = self.operand(id);
            if !new {
                return Ok(operand);
            }
            let mut dims = operand.dims().to_vec();
            dims.insert(axis, 1);
            Ok(operand.seen_as(site.node.ty(operand.element(), dims)?))
        });
        let all = all.collect::<Result<Vec<_>>>()?;
        let seen: Vec<_> = all.iter().map(|operand| operand.dims().to_vec()).collect();
        let Plan { payload, fold, results, .. } = crate::ops::joined(&site.node, &all, axis)?;
        let operands = ids.iter().map(|&id| self.operand(id)).collect();
        let views: Vec<_> = all.iter().map(|operand| operand.ty.clone()).collect();
        let mut plan = Plan::new(operands, results, move |b, args| {
            let args: Vec<_> =
                args.iter().zip(&seen).map(|(arg, dims)| b.reshape(arg, dims)).collect();
            payload(b, &args)
        });
        if let Some(fold) = fold {
            plan = plan.folds(move |known| {
                let known: Vec<_> =
                    known.iter().zip(&views).map(|(one, ty)| one.reshaped(ty.clone())).collect();
                fold(&known)
            });
        }
        Ok(self.step(site.node.op(), site.name, plan)[0])
    }
}
