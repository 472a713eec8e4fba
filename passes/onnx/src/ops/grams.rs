//! TfIdfVectorizer: how often each n-gram of a pool stands in a row.
//!
//! The pool is part of the model, so every result compares the row with its own n-gram, at all places at once.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::{Operator, op};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Access, Build, Tensor};
use crate::types::{ElementType, TensorType};

const ATTRIBUTES: &[&str] = &[
    "max_gram_length",
    "max_skip_count",
    "min_gram_length",
    "mode",
    "ngram_counts",
    "ngram_indexes",
    "pool_int64s",
    "pool_strings",
    "weights",
];

pub const OPERATORS: &[Operator] = &[op("TfIdfVectorizer", 9, 1, ATTRIBUTES, vectorizer)];

/// The n-grams of a pool that have one length.
struct Grams {
    length: usize,
    /// For each result the items of its n-gram, 0 where it has none of this length.
    items: Vec<i64>,
    /// For each result 1 where it has one.
    there: Vec<i64>,
}

/// What becomes of a number of times.
#[derive(Clone, Copy)]
struct Mode {
    counts: bool,
    weighs: bool,
}

impl Mode {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [counts, weighs] = match node.string("mode", "TF")? {
            "TF" => [true, false],
            "IDF" => [false, true],
            "TFIDF" => [true, true],
            other => {
                let report = node.report(format!("has mode {other:?}"));
                return Err(report.help("TF, IDF or TFIDF").invalid());
            }
        };
        Ok(Self { counts, weighs })
    }
}

fn vectorizer(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", &[ElementType::I32, ElementType::I64])?;
    let (&[row] | &[_, row]) = x.dims() else {
        return Err(node.report(format!("reads {}", x.ty)).help("one or two dimensions").invalid());
    };
    let number = |name: &str| -> Result<i64> {
        let number = node.int(name)?.filter(|&number| number >= 0);
        number.ok_or_else(|| node.invalid(format!("lacks its attribute {name}")))
    };
    let (least, most) = (number("min_gram_length")?, number("max_gram_length")?);
    let skips = number("max_skip_count")?;
    let indexes = node.ints("ngram_indexes")?.unwrap_or_default();
    let results = indexes.iter().max().map_or(0, |&last| last + 1);
    let mode = Mode::of(node)?;
    let weights = node.floats("weights")?;
    if !weights.is_empty() && weights.len() as i64 != results {
        let what = format!("has {} weights for {results} results", weights.len());
        return Err(node.report(what).help("one for each").invalid());
    }
    let mut grams = pool(node, results)?;
    grams.retain(|own| (least..=most).contains(&(own.length as i64)));
    let mut tables = Vec::new();
    for own in &grams {
        let ty = TensorType::temporary(ElementType::I64, &[results, own.length as i64]);
        tables.push(Elements::from_ints(&own.items).reshaped(ty));
        tables.push(Elements::from_ints(&own.there));
    }
    let scales = weights.iter().map(|&weight| Scalar::Float(weight.into()));
    let scales = scales.chain(std::iter::repeat(Scalar::Float(1.0))).take(results as usize);
    let ty = TensorType::temporary(ElementType::F32, &[results]);
    tables.push(Elements::from_scalars(ty, scales));
    let lead = &x.dims()[..x.rank() - 1];
    let (rows, dims) = (lead.iter().product(), [lead, &[results]].concat());
    let lengths: Vec<usize> = grams.iter().map(|own| own.length).collect();
    let result = node.ty(ElementType::F32, dims.clone())?;
    let plan = Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let (x, tables) = (b.reshape(&args[0], &[rows, row]), &args[1..]);
        let mut found = b.fill(ElementType::I64, &[rows, results], Scalar::Int(0));
        for (&length, own) in lengths.iter().zip(tables.chunks_exact(2)) {
            // One item is at no distance of itself.
            let last = if length == 1 { 0 } else { skips };
            for step in 1..=last + 1 {
                if !found.dims().contains(&0) && row > step * (length as i64 - 1) {
                    found = counted(b, &x, &found, [&own[0], &own[1]], step);
                }
            }
        }
        let y = weighed(b, &found, &tables[tables.len() - 1], mode);
        vec![b.reshape(&y, &dims)]
    });
    Ok(plan.with(tables))
}

/// `found`, and how often the n-grams of each result stand in a row with so many places from item to item.
fn counted<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    found: &Tensor<'c>,
    [items, there]: [&Tensor<'c>; 2],
    step: i64,
) -> Tensor<'c> {
    let length = items.dims()[1];
    let mut inputs: Vec<Access<'_, 'c>> = Vec::new();
    for item in 0..length {
        let place = Linear::axis(3, 2).offset(step * item);
        inputs.push((x, vec![Linear::axis(3, 0), place]));
    }
    for item in 0..length {
        inputs.push((items, vec![Linear::axis(3, 1), Linear::constant(3, item)]));
    }
    inputs.push((there, vec![Linear::axis(3, 1)]));
    let kinds = [Axis::Parallel, Axis::Parallel, Axis::Reduction];
    let places = x.dims()[1] - step * (length - 1);
    let extents = [found.dims(), &[places]].concat();
    let target = vec![Linear::axis(3, 0), Linear::axis(3, 1)];
    let made = b.nest(&kinds, &extents, &inputs, &[(found, target)], |calc, given| {
        let (read, wanted) = given.split_at(length as usize);
        let mut more = wanted[read.len()];
        let (none, so_far) = (calc.int_like(more, 0), wanted[read.len() + 1]);
        for (&own, &wanted) in read.iter().zip(wanted) {
            let own = calc.cast(own, ElementType::I64);
            let same = calc.eq(own, wanted);
            more = calc.select(same, more, none);
        }
        vec![calc.add(so_far, more)]
    });
    made[0].clone()
}

/// Numbers of times as the mode has them.
fn weighed<'c>(
    b: &mut Build<'_, 'c>,
    found: &Tensor<'c>,
    weights: &Tensor<'c>,
    mode: Mode,
) -> Tensor<'c> {
    b.map(ElementType::F32, found.dims(), &[found, weights], |calc, given| {
        let one = calc.literal(ElementType::I64, Scalar::Int(1));
        let times = if mode.counts { given[0] } else { calc.min(given[0], one) };
        let times = calc.cast(times, ElementType::F32);
        if mode.weighs { calc.mul(times, given[1]) } else { times }
    })
}

/// The n-grams of a pool, by length from 1 on.
fn pool(node: &Node<'_>, results: i64) -> Result<Vec<Grams>> {
    if node.has("pool_strings") {
        return Err(node.unsupported("looks for strings"));
    }
    let items = node.ints("pool_int64s")?.unwrap_or_default();
    let starts = node.ints("ngram_counts")?.unwrap_or_default();
    let mut indexes = node.ints("ngram_indexes")?.unwrap_or_default().iter();
    let mut all = Vec::new();
    for (number, &start) in starts.iter().enumerate() {
        let length = number + 1;
        let end = starts.get(length).copied().unwrap_or(items.len() as i64);
        let own = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let own = own.and_then(|(start, end)| items.get(start..end));
        let own = own.filter(|own| own.len() % length == 0);
        let own = own.ok_or_else(|| {
            node.report(format!(
                "has {length}-grams from {start} to {end} of {} items",
                items.len()
            ))
            .help("a multiple of their length, inside of the pool")
            .invalid()
        })?;
        let mut grams = Grams {
            length,
            items: vec![0; results as usize * length],
            there: vec![0; results as usize],
        };
        for gram in own.chunks(length) {
            let index = indexes.next().and_then(|&index| usize::try_from(index).ok());
            let index = index.filter(|&index| index < grams.there.len() && grams.there[index] == 0);
            let index = index.ok_or_else(|| {
                node.invalid("has no result of its own for each n-gram of its pool")
            })?;
            grams.items[index * length..][..length].copy_from_slice(gram);
            grams.there[index] = 1;
        }
        all.push(grams);
    }
    Ok(all)
}
