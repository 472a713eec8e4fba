//! Softmax in parts, and products with it.
//!
//! A part has its own greatest element `m_s`, so what it sums up is too large by
//! `exp(m - m_s)`, for `m` the greatest of all. The greatest of a part begins with the lowest
//! number: where a part is masked by `-inf` its exponentials are 0, as they are with the whole
//! row. NaN and a row of `-inf` give NaN either way. What of a sum the exponentials are divided
//! by, or multiplied with if it is a reciprocal, is the same for all of a row, so products with
//! them are divided instead.

use weft_dialects::ir::{Linear, Mapping, Val};

use super::rows::{
    Applied, Graph, begins_with, folded, front, in_rows, lowest, made_by, of_parts, row,
    same_places, yielded,
};
use super::write::Writer;
use crate::nest::{Access, Epilogue, Loop, Nest, Start, copy_body, scalar_body};
use crate::tile::fuse_elementwise::is_elementwise;
use crate::tile::instruction::combine;
use crate::tile::partial::in_sum;
use crate::tile::views::root;

/// Kernels that are a softmax along the rows of `x`.
pub(super) struct Softmax<'c> {
    /// `m = max x`.
    largest: Applied<'c>,
    /// `e = exp(x - m)`.
    shifted: Applied<'c>,
    /// `l = sum e`.
    total: Applied<'c>,
    /// `sum (e / l) y`, each with the one input that is `e / l`.
    products: Vec<Applied<'c>>,
    /// `e / l`.
    quotient: Option<Quotient<'c>>,
}

/// The division of exponentials by their sum.
struct Quotient<'c> {
    applied: Applied<'c>,
    /// `arith.divf`, or `arith.mulf` by a reciprocal.
    by: &'static str,
}

impl<'c> Softmax<'c> {
    /// The softmax whose greatest elements `largest` finds.
    pub fn at(graph: &mut Graph<'_, 'c>, largest: Applied<'c>) -> Option<Self> {
        let [x] = &largest.nest.inputs[..] else { return None };
        let direct = folded(&largest.nest)? == largest.nest.body.arg(0);
        let lowest = lowest(largest.elem())?;
        let below = begins_with(&largest.nest).is_some_and(|number| number <= lowest);
        if !direct || largest.nest.epilogue.is_some() || !below {
            return None;
        }
        let x = root(x.tensor);
        let mut readers = graph.readers(largest.result()).into_iter();
        let shifted = readers.find_map(|applied| shifted(applied, x))?;
        let mut readers = graph.readers(shifted.result());
        let at = readers.iter().position(|reader| is_total(graph, reader))?;
        let total = readers.swap_remove(at);
        let quotient = readers.into_iter().find_map(|reader| quotient(reader, &total));
        let made = quotient.as_ref().map(|made| made.applied.result());
        let reads = made.map(|made| graph.readers(made)).unwrap_or_default();
        let products = reads.into_iter().filter(is_product).collect();
        Some(Self { largest, shifted, total, products, quotient })
    }

    /// Returns whether something is multiplied with the rows.
    pub fn multiplies(&self) -> bool {
        !self.products.is_empty()
    }

    /// Products first, which take longest.
    pub fn folds(&self) -> Vec<&Applied<'c>> {
        self.products.iter().chain([&self.total, &self.largest]).collect()
    }

    /// Writes it in `count` parts, in the place of its kernels.
    pub fn write(self, writer: &mut Writer<'c>, count: u64) -> Option<()> {
        let Self { largest, shifted, total, products, quotient } = self;
        let (at, elem) = (largest.run, largest.elem());
        let (mut nest, index) = writer.parts(&largest, count)?;
        nest.starts = vec![writer.start(elem, lowest(elem)?)];
        let largest_of = writer.apply_parts(at, largest.run, (nest, index));

        // The same, with the greatest of its own part.
        let (axis, elements) = shifted.row();
        let mut nest = shifted.nest.clone();
        let index = nest.split(axis, elements / count);
        let other = 1 - shifted.input;
        nest.inputs[other] = of_parts(&nest.inputs[other], largest_of, axis, count);
        let exponentials = writer.apply(at, shifted.run, "parts", &nest, &index);
        let parts = writer.parts(&total.reading(exponentials), count)?;
        let total_of = writer.apply_parts(at, total.run, parts);

        let nest = writer.sum(&largest, largest_of, count)?;
        let greatest = writer.apply_plain(at, largest.run, "whole", &nest);
        let nest = self::weights(writer, &largest, (largest_of, greatest), count);
        let weights = writer.apply_plain(at, shifted.run, "weights", &nest);
        let rows = total.nest.outputs[0].clone();
        let nest = weighted(writer, &total, (total_of, weights), &rows, count)?;
        let whole = writer.apply_plain(at, total.run, "whole", &nest);

        for product in &products {
            let at = product.run;
            let parts = writer.parts(&product.reading(exponentials), count)?;
            let product_of = writer.apply_parts(at, at, parts);
            let rows = front(&product.nest.inputs[product.input]);
            let mut nest = weighted(writer, product, (product_of, weights), &rows, count)?;
            let whole = Access { tensor: whole, ..in_sum(&product.nest, &rows) };
            let by = quotient.as_ref().map_or("arith.divf", |quotient| quotient.by);
            nest.epilogue = Some(divided(writer, nest.epilogue.take(), whole, by));
            let result = writer.apply_plain(at, at, "whole", &nest);
            writer.replace(at, result);
        }
        writer.replace(largest.run, greatest);
        writer.replace(total.run, whole);
        let idle = quotient.iter().map(|quotient| &quotient.applied).chain([&shifted]);
        idle.for_each(|idle| writer.erase_idle(idle.run));
        Some(())
    }
}

/// `w_s = exp(m_s - m)`: by how much a part's exponentials are too large.
fn weights<'c>(
    writer: &Writer<'c>,
    largest: &Applied<'c>,
    (of_part, greatest): (Val<'c>, Val<'c>),
    count: u64,
) -> Nest<'c> {
    let output = &largest.nest.outputs[0];
    let shape: Vec<u64> = [count].into_iter().chain(output.shape.iter().copied()).collect();
    let all: Vec<_> = (0..shape.len()).map(|axis| Linear::axis(shape.len(), axis)).collect();
    let elem = largest.elem();
    let body = scalar_body(writer.context, writer.scratch(), &[elem; 2], elem, |b, args| {
        let less = b.sub(args[0], args[1]);
        vec![b.same("math.exp", &[less])]
    });
    let axes = shape.iter().map(|&extent| Loop::parallel(extent)).collect();
    let rows = Access { tensor: greatest, shape: output.shape.clone(), index: all[1..].to_vec() };
    let parts = Access { tensor: of_part, shape, index: all };
    Nest {
        axes,
        inputs: vec![parts.clone(), rows],
        outputs: vec![parts],
        body,
        starts: vec![Start::Unread],
        epilogue: None,
        captures: Vec::new(),
    }
}

/// The sum of a fold's parts, each times the weight of its row; `rows` are those of the fold.
fn weighted<'c>(
    writer: &Writer<'c>,
    fold: &Applied<'c>,
    (of_part, weights): (Val<'c>, Val<'c>),
    rows: &Access<'c>,
    count: u64,
) -> Option<Nest<'c>> {
    let mut nest = writer.sum(fold, of_part, count)?;
    let rows = in_sum(&fold.nest, rows);
    let axis = nest.axes.len() - 1;
    nest.inputs.push(of_parts(&rows, weights, axis, count));
    let elem = fold.elem();
    nest.body = scalar_body(writer.context, writer.scratch(), &[elem; 2], elem, |b, args| {
        let weighted = b.mul(args[0], args[1]);
        vec![b.add(args[2], weighted)]
    });
    Some(nest)
}

/// The epilogue of a product that is still to be divided `by` the combined sums of its rows.
fn divided<'c>(
    writer: &Writer<'c>,
    before: Option<Epilogue<'c>>,
    whole: Access<'c>,
    by: &str,
) -> Epilogue<'c> {
    let elem = whole.elem();
    let mut inputs = vec![whole];
    inputs.extend(before.iter().flat_map(|before| before.inputs.clone()));
    let types: Vec<_> = inputs.iter().map(Access::elem).collect();
    let body = scalar_body(writer.context, writer.scratch(), &types, elem, |b, args| {
        let last = args.len() - 1;
        let value = b.same(by, &[args[last], args[0]]);
        match &before {
            Some(before) => {
                let args: Vec<_> = args[1..last].iter().copied().chain([value]).collect();
                copy_body(b.builder(), before.body, &args, Mapping::default(), &[])
            }
            None => vec![value],
        }
    });
    Epilogue { inputs, body }
}

/// A reader of the greatest elements that is `exp(x - m)`, point by point; its input is `x`.
fn shifted<'c>(reader: Applied<'c>, x: Val<'c>) -> Option<Applied<'c>> {
    let nest = &reader.nest;
    let [_, _] = &nest.inputs[..] else { return None };
    let (largest, input) = (reader.input, 1 - reader.input);
    let less = made_by(yielded(nest)?, "math.exp")?.operand(0);
    let less = made_by(less, "arith.subf")?;
    let same = less.operand(0) == nest.body.arg(input) && less.operand(1) == nest.body.arg(largest);
    let access = &nest.inputs[input];
    let fits = is_elementwise(nest)
        && root(access.tensor) == x
        && in_rows(nest, access, &nest.inputs[largest])
        && same_places(nest, access, &nest.outputs[0]);
    (same && fits).then_some(Applied { input, ..reader })
}

/// A reader of the exponentials that is their sum along each row.
fn is_total<'c>(graph: &mut Graph<'_, 'c>, reader: &Applied<'c>) -> bool {
    let adds = combine(&reader.nest).is_some_and(|fold| fold.op.is("arith.addf"));
    adds && folded(&reader.nest) == Some(reader.nest.body.arg(0))
        && graph.fold(reader.run).is_some()
}

/// A reader of the exponentials that divides each by the sum of its row, or by what became of it.
fn quotient<'c>(reader: Applied<'c>, total: &Applied<'c>) -> Option<Quotient<'c>> {
    let nest = &reader.nest;
    let [_, _] = &nest.inputs[..] else { return None };
    let other = &nest.inputs[1 - reader.input];
    let access = &nest.inputs[reader.input];
    let args = [reader.input, 1 - reader.input].map(|input| nest.body.arg(input));
    let made = yielded(nest)?;
    let by = |name: &'static str| {
        let operands = made_by(made, name)?.operands();
        let turned = name == "arith.mulf" && operands.iter().rev().eq(&args);
        (turned || operands == args).then_some(name)
    };
    let by = by("arith.divf").or(by("arith.mulf"))?;
    let fits = is_elementwise(nest)
        && root(other.tensor) == total.result()
        && in_rows(nest, access, other)
        && same_places(nest, access, &nest.outputs[0]);
    fits.then_some(Quotient { applied: reader, by })
}

/// A reader of the quotients whose sums along the rows are as many times larger as they are.
fn is_product(reader: &Applied<'_>) -> bool {
    let nest = &reader.nest;
    let own = nest.body.arg(reader.input);
    let linear = folded(nest).is_some_and(|value| {
        let factors = made_by(value, "arith.mulf").map(|op| [op.operand(0), op.operand(1)]);
        let other = |value: &Val<'_>| nest.body.args().contains(value) && *value != own;
        value == own
            || factors.is_some_and(|factors| factors.contains(&own) && factors.iter().any(other))
    });
    let row = row(&nest.inputs[reader.input])
        .filter(|&(axis, elements)| nest.reduces(axis) && nest.axes[axis].extent == elements);
    let adds = combine(nest).is_some_and(|fold| fold.op.is("arith.addf"));
    let alone = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis)).count() == 1;
    let zero = begins_with(nest) == Some(0.0);
    linear && adds && alone && zero && row.is_some()
}
