//! Operators whose results are as long as data say.
//!
//! ```text
//! NonZero(x)  ->  marks of x, counted; the length "n" is found from the count;
//!                 places of the marks, of which there are n, and their coordinates
//! ```
//!
//! Such a length is one like those that callers decide: behind the step that finds it kernels stop there.

use weft_dialects::graph::Dims;
use weft_runtime::length::Length;

use super::control::{ROUNDS_FEW, ROUNDS_MAX};
use super::structure::Site;
use super::{Bound, Planner, does_not_go};
use crate::elements::Elements;
use crate::error::Result;
use crate::lengths::Found;
use crate::node::{Node, Plan};
use crate::ops::gather::looked_up;
use crate::ops::{marked, suppress, top_k, unique};
use crate::plan::{Operand, ValueId};
use crate::types::{ElementType, TensorType};

/// `NonZero`.
pub fn non_zero<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let x = site.node.input(0, "X")?;
    if x.rank() == 0 {
        return Err(site.node.unsupported("reads a scalar, which has no coordinates"));
    }
    if let Some(known) = known_coordinates(x) {
        return Ok(vec![Bound::Tensor(planner.literal(known))]);
    }
    let x = planner.calculated(site.tensor(0, "X")?);
    let places = planner.places_of_marks(site.name, x);
    let dims = planner.operand(x).dims().to_vec();
    let plan = marked::coordinates(&planner.operand(places), &dims);
    Ok(vec![Bound::Tensor(planner.step("NonZero", site.name, plan)[0])])
}

/// The result for a tensor that is part of the model, in row-major order.
fn known_coordinates(x: &Operand) -> Option<Elements> {
    let own = x.known.as_ref().filter(|_| !x.follows && x.lengths.iter().all(Option::is_none))?;
    let at: Vec<i64> = own
        .scalars()
        .enumerate()
        .filter(|(_, scalar)| scalar.as_f64() != 0.0)
        .map(|(place, _)| place as i64)
        .collect();
    let coordinates = (0..x.rank()).flat_map(|dim| {
        let stride: i64 = x.dims()[dim + 1..].iter().product();
        at.iter().map(move |place| place / stride % x.dims()[dim])
    });
    let coordinates: Vec<_> = coordinates.collect();
    let ty = TensorType::temporary(ElementType::I64, &[x.rank() as i64, at.len() as i64]);
    Some(Elements::from_ints(&coordinates).reshaped(ty))
}

/// `Compress`.
pub fn compress<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let data = site.node.input(0, "input")?;
    let condition = site.node.typed(1, "condition", &[ElementType::Bool])?;
    let axis = site.node.int("axis")?;
    let axis = axis.map(|axis| site.node.axis(axis, data.rank())).transpose()?;
    let extent = axis.map_or(data.ty.elements() as i64, |axis| data.dims()[axis]);
    if condition.rank() != 1 || condition.dims()[0] > extent {
        return Err(site
            .node
            .report(format!("is told by {} what to keep of {extent}", condition.ty))
            .help(format!("one dimension of at most {extent}"))
            .invalid());
    }
    let all: Vec<usize> = axis.map_or((0..data.rank()).collect(), |axis| vec![axis]);
    let there = data.length_of(&all).unwrap_or_else(|| Length::number(extent));
    let told = condition.length(0).cloned();
    let told = told.unwrap_or_else(|| Length::number(condition.dims()[0]));
    if !planner.graph.symbols.is_no_more(&told, &there) {
        return Err(site
            .node
            .report(format!("is told by `{told}` marks what to keep of `{there}`"))
            .note("nothing says that there are no more marks in any run")
            .help("as many marks as there are elements")
            .unsupported());
    }
    let (mut id, condition) = (site.tensor(0, "input")?, site.tensor(1, "condition")?);
    if axis.is_none() {
        id = planner.flat(site.name, id);
    }
    let condition = planner.calculated(condition);
    let places = planner.places_of_marks(site.name, condition);
    Ok(vec![Bound::Tensor(planner.rows_at(("Compress", site.name), id, places, axis.unwrap_or(0)))])
}

/// `NonMaxSuppression`.
pub fn suppression<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let real = &[ElementType::F32];
    let [boxes, scores] = [site.node.typed(0, "boxes", real)?, site.node.typed(1, "scores", real)?];
    let fits = boxes.rank() == 3
        && scores.rank() == 3
        && boxes.dims()[2] == 4
        && (boxes.dims()[0], boxes.dims()[1]) == (scores.dims()[0], scores.dims()[2]);
    if !fits {
        return Err(site
            .node
            .report(format!("has boxes of {} and scores of {}", boxes.ty, scores.ty))
            .help("batches of boxes of four numbers, and for each batch and class a score of each box")
            .invalid());
    }
    let centered = site.node.flag("center_point_box", false)?;
    let most = site.integer(2, "max_output_boxes_per_class")?.unwrap_or(0);
    let rounds = most.clamp(0, scores.dims()[2]);
    if scores.ty.elements() == 0 || rounds == 0 {
        let none = TensorType::temporary(ElementType::I64, &[0, 3]);
        return Ok(vec![Bound::Tensor(planner.literal(Elements::from_ints(&[]).reshaped(none)))]);
    }
    if rounds as usize > ROUNDS_MAX && planner.unrolls {
        return Err(site
            .node
            .report(format!("may take {rounds} boxes of a class"))
            .help(format!("max_output_boxes_per_class of at most {ROUNDS_MAX}"))
            .unsupported());
    }
    let mut operands = vec![boxes.clone(), scores.clone()];
    let mut threshold = |at, name| -> Result<Option<usize>> {
        if matches!(site.optional(at), None | Some(Bound::Nothing)) {
            return Ok(None);
        }
        let own = site.node.typed(at, name, real)?;
        if own.ty.elements() != 1 {
            return Err(site
                .node
                .report(format!("has {name} of {}", own.ty))
                .help("one number")
                .invalid());
        }
        operands.push(own.clone());
        Ok(Some(operands.len() - 1))
    };
    let overlap = threshold(3, "iou_threshold")?;
    let score = threshold(4, "score_threshold")?;
    let asked = suppress::Asked { rounds, centered, overlap, score };
    let taken = match planner.unrolls || rounds as usize <= ROUNDS_FEW {
        true => planner.step("NonMaxSuppression", site.name, suppress::taken(operands, asked))[0],
        false => planner.suppressed(site.name, operands, asked),
    };
    let plan = suppress::marks(&planner.operand(taken));
    let marks = planner.step("NonMaxSuppression", site.name, plan)[0];
    let places = planner.places_of_marks(site.name, marks);
    let said = planner.graph.values[places.0].dims.iter().cloned().chain([None]).collect();
    let plan = suppress::rows(&planner.operand(taken), &planner.operand(places));
    let rows = planner.told_step(("NonMaxSuppression", site.name), plan, vec![Some(said)]);
    Ok(vec![Bound::Tensor(rows[0])])
}

/// `Unique`.
pub fn unique<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let x = site.node.typed(0, "X", ElementType::NUMBERS)?;
    let axis = site.node.int("axis")?;
    let axis = axis.map(|axis| site.node.axis(axis, x.rank())).transpose()?;
    let ascending = site.node.flag("sorted", true)?;
    if let Some(length) = x.lengths.iter().flatten().next() {
        return Err(site
            .node
            .report(format!("compares rows of `{length}` elements"))
            .help("one length for the dimension, as --dim NAME=64")
            .unsupported());
    }
    let count = axis.map_or(x.ty.elements() as i64, |axis| x.dims()[axis]);
    if x.ty.elements() == 0 {
        return Err(site.node.unsupported("compares rows of no elements"));
    }
    let name = site.name;
    let id = planner.calculated(site.tensor(0, "X")?);
    let plan = unique::rows(&planner.operand(id), axis.unwrap_or(0), count);
    let rows = planner.step("Unique", name, plan)[0];
    let plan = unique::numbered(&planner.operand(rows), ascending);
    let made = planner.step("Unique", name, plan);
    let length = planner.find(name, made[2], count);
    let plan = unique::counted(&planner.operand(made[0]), &planner.operand(made[1]));
    let own = || Some(vec![Some(length.clone())]);
    let kept = planner.told_step(("Unique", name), plan, vec![own(), own()]);
    let y = match axis {
        Some(axis) => planner.rows_at(("Unique", name), id, kept[0], axis),
        None => {
            let all = planner.rows_at(("Unique", name), rows, kept[0], 0);
            planner.flat(name, all)
        }
    };
    let mut results = vec![y, kept[0], made[0], kept[1]];
    results.truncate(site.node.outputs());
    Ok(results.into_iter().map(Bound::Tensor).collect())
}

impl Planner<'_> {
    /// A value as it is calculated in a run: also one whose elements follow from lengths.
    pub(super) fn calculated(&mut self, id: ValueId) -> ValueId {
        match self.graph.values[id.0].numbers.is_some() {
            true => self.written_numbers(id),
            false => id,
        }
    }

    /// All elements of a value, in row-major order.
    fn flat(&mut self, name: &str, id: ValueId) -> ValueId {
        let own = self.operand(id);
        let count = own.ty.elements() as i64;
        let ty = TensorType::temporary(own.element(), &[count]);
        let plan =
            Plan::new(vec![own], vec![ty], move |b, args| vec![b.reshape(&args[0], &[count])]);
        self.step("Flatten", name, plan)[0]
    }

    /// A new length, which is the number that a value holds: a tensor of one integer of 64 bits, which a
    /// step makes.
    pub(super) fn find(&mut self, name: &str, count: ValueId, most: i64) -> Length {
        let symbol = self.graph.symbols.find(name, most.unsigned_abs());
        self.graph.finds.push((symbol.name.clone(), count));
        Length::symbol(&symbol.name)
    }

    /// The places of the elements that are not zero, in row-major order: a tensor of one dimension, of a
    /// length that data decide.
    fn places_of_marks(&mut self, name: &str, x: ValueId) -> ValueId {
        let x = self.operand(x);
        let most = x.ty.elements() as i64;
        if most == 0 {
            return self.literal(Elements::from_ints(&[]));
        }
        let marks = self.step("NonZero", name, marked::marks(&x))[0];
        let plan = marked::in_blocks(&self.operand(marks));
        let marks = self.told_step(("NonZero", name), plan, vec![None])[0];
        let plan = marked::ends(&self.operand(marks));
        let ends = self.step("NonZero", name, plan);
        let length = self.find(name, ends[1], most);
        let plan = marked::places(&self.operand(marks), &self.operand(ends[0]), most);
        self.told_step(("NonZero", name), plan, vec![Some(vec![Some(length)])])[0]
    }

    /// The rows of a tensor that lie at places in front of its end.
    fn rows_at(
        &mut self,
        (kind, name): (&'static str, &str),
        data: ValueId,
        places: ValueId,
        axis: usize,
    ) -> ValueId {
        let plan = looked_up(&self.operand(data), &self.operand(places), axis);
        let [data, places] = [data, places].map(|id| self.graph.values[id.0].dims.clone());
        let dims = [&data[..axis], &places[..], &data[axis + 1..]].concat();
        self.told_step((kind, name), plan, vec![Some(dims)])[0]
    }

    /// The results of a plan that knows of lengths, as long as `said` has them.
    pub(super) fn told_step(
        &mut self,
        (kind, name): (&'static str, &str),
        plan: Plan,
        said: Vec<Option<Dims>>,
    ) -> Vec<ValueId> {
        let plan = self.with_asked(plan);
        let dims = |operand: &Operand| self.graph.values[operand.id.0].dims.clone();
        let operands = plan.operands.iter().map(dims).collect();
        let scratch = self.scratch.get_or_insert_with(weft_dialects::ir::context);
        let found = Found::told(&self.graph.symbols, &plan, (operands, said), scratch);
        let found = found.unwrap_or_else(|why| {
            let what = format!("{kind} {name:?} does not go with lengths that callers decide");
            self.refused.get_or_insert(does_not_go(what, why));
            Found::default()
        });
        self.planned(kind, name, plan, found)
    }

    /// The results of a TopK along a length, or of as many as data or lengths say; none of another node.
    pub(super) fn top_k(&mut self, node: &Node<'_>, name: &str) -> Result<Option<Vec<Bound>>> {
        let Some(k) = node.optional(1).filter(|_| node.op() == "TopK") else { return Ok(None) };
        let x = node.typed(0, "X", ElementType::NUMBERS)?;
        let axis = node.axis(node.int("axis")?.unwrap_or(-1), x.rank())?;
        let extent = x.dims()[axis];
        let numbers = self.graph.values[k.id.0].numbers.clone();
        let known = k.known.as_ref().and_then(Elements::single).map(|k| k.as_int() as i64);
        let (length, most) = match (numbers.as_deref(), known) {
            (Some([length]), _) => {
                let range = self.graph.symbols.range(length);
                (length.clone(), range.map_or(extent, |[_, most]| most.min(extent)))
            }
            (_, Some(_)) if x.length(axis).is_none() => return Ok(None),
            (_, Some(k)) => (Length::number(k), k.clamp(0, extent)),
            (_, None) => {
                if k.element() != ElementType::I64 || k.ty.elements() != 1 {
                    return Ok(None);
                }
                let count = self.copy(name, k.id);
                (self.find(name, count, extent), extent)
            }
        };
        let there = x.length(axis).cloned().unwrap_or_else(|| Length::number(extent));
        if !self.graph.symbols.is_no_more(&length, &there) {
            return Err(node
                .report(format!("takes `{length}` of `{there}`"))
                .note("nothing says that there are as many in every run")
                .help(
                    "the smaller one of both, or lengths with other bounds, as --dim NAME=64..512",
                )
                .unsupported());
        }
        let plan = top_k::first(node, axis, most)?;
        let mut dims = x.lengths.clone();
        dims.resize(x.rank(), None);
        dims[axis] = Some(length).filter(|own| own.as_number().is_none());
        let said = vec![Some(dims); plan.results.len()];
        let results = self.told_step(("TopK", name), plan, said);
        Ok(Some(results.into_iter().map(Bound::Tensor).collect()))
    }
}
