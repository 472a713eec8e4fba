//! A softmax between two products, which takes one pass over what its rows are long.
//!
//! ```text
//! s = q k;  m = max s;  e = exp(s - m);  l = sum e;  p = e / l;  o = p v
//!
//! for (pieces of the rows) {
//!   s = q k;  n = max(m, max s);  w = exp(m - n);  e = exp(s - n)
//!   l = w l + sum e;  o = w o + e v;  m = n }
//! o = o / l
//! ```
//!
//! What is summed up so far is too large by `w` once a greater element is found (Milakov and Gimelshein,
//! "Online normalizer calculation for softmax", 2018; Dao et al., FlashAttention, NeurIPS'22). The
//! kernel says the first form, and tiles that the second one goes by. Folds are done in another order, and
//! what one factor of the second product is rounded to is `e` and not `p`; so only where lanes may
//! fold in another order (`reductions`). The greatest element begins with the lowest number: where a
//! piece is masked by `-inf` its exponentials are 0. A compute behind the first product may change scores by their
//! places (`row_mask.rs`).

use weft_dialects::device::Lanes;
use weft_dialects::ir::{Op, Val, attr, ty};

use super::fuse_elementwise::is_elementwise;
use super::groups::maker;
use super::instruction::{applies, combine};
use super::propagate::Link;
use super::row_mask::RowMask;
use super::split_rows::rows::{
    begins_with, folded, in_rows, lowest, made_by, row, same_places, yielded,
};
use super::views::kernel_of;
use crate::math::POWER;
use crate::nest::{Access, Nest, read_kernel};

/// Which computes of a kernel are what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnePass {
    /// `s = q k`.
    pub scores: usize,
    /// What becomes of them by their places, before others read them.
    pub mask: Option<RowMask>,
    /// `m = max s`.
    pub largest: usize,
    /// `e = exp(s - m)`.
    pub shifted: usize,
    /// The input of that which is `s`.
    pub score: usize,
    /// `l = sum e`.
    pub total: usize,
    /// `p = e / l`.
    pub quotient: usize,
    /// `arith.divf`, or `arith.mulf` where `l` is a reciprocal.
    pub by: &'static str,
    /// `o = p v`.
    pub values: usize,
    /// The input of that which is `p`.
    pub factor: usize,
    /// Axes of the first product and of the second that are the same: those of rows.
    pub rows: Vec<[usize; 2]>,
    /// Other axes of rows of the first product, with the elements between two of their points: the second one
    /// has some of them as one, or one of them as some.
    pub others: Vec<(usize, i64)>,
    /// The axes of rows of the second product, and the elements of its factor between two of their points.
    pub steps: Vec<(usize, i64)>,
    /// The axis along a row in both.
    pub along: [usize; 2],
}

impl OnePass {
    /// Finds what the computes are.
    ///
    /// # Errors
    /// What is no softmax between two products.
    pub fn of(nests: &[&Nest<'_>], links: &[Link]) -> Result<Self, &'static str> {
        let [.., last] = nests else { return Err("there are no computes") };
        let masks = usize::from(nests.len() == 7);
        if nests.len() != 6 + masks || links.len() != 7 + masks {
            return Err(
                "a softmax between two products is six computes that read each other, or seven with a mask",
            );
        }
        let maker = |reader: usize, read: usize| {
            let found = links.iter().find(|link| (link.reader, link.read) == (reader, read));
            found.map(|link| link.maker)
        };
        let values = nests.len() - 1;
        let two = |member: usize| (nests[member].reads().len() == 2).then_some(member);
        let factor = (0..last.inputs.len()).find(|&input| maker(values, input).is_some());
        let quotient = factor.and_then(|factor| two(maker(values, factor)?));
        let (Some(factor), Some(quotient)) = (factor, quotient) else {
            return Err("the last product reads no quotient");
        };
        let both = |member: usize| Some([maker(member, 0)?, maker(member, 1)?]);
        let folds = |member: usize, of: usize| {
            nests[member].reads().len() == 1 && maker(member, 0) == Some(of)
        };
        let divided = both(quotient).and_then(|[one, other]| {
            let own = [(one, other, 0), (other, one, 1)];
            own.into_iter().find(|&(shifted, total, _)| folds(total, shifted))
        });
        let (shifted, total, exponential) =
            divided.ok_or("a quotient is of a sum's own numbers")?;
        let read = two(shifted).and_then(both).and_then(|[one, other]| {
            let own = [(one, other, 0), (other, one, 1)];
            own.into_iter().find(|&(scores, largest, _)| folds(largest, scores))
        });
        let (read, largest, score) = read.ok_or("exponentials are of a fold's own numbers")?;
        let (scores, mask) = match masks {
            0 => (read, None),
            _ => {
                let scores = maker(read, 0).ok_or("what is folded is made of no scores")?;
                let keys = nests[largest].inputs.first().and_then(row).map_or(0, |(_, keys)| keys);
                (scores, Some(RowMask::of(nests[read], read, keys)?))
            }
        };
        let by = divides(nests[quotient], exponential).ok_or("the quotient is another body")?;
        let checks: [(bool, &'static str); 5] = [
            (is_largest(nests[largest]), "the greatest elements are found in another way"),
            (is_shifted(nests[shifted], score), "what is summed up is no function of a difference"),
            (is_total(nests[total]), "the sums of rows are others"),
            (is_product(nests[values], factor), "the last product is not along the rows"),
            (is_whole(nests[scores]), "the first product does not make all of the rows"),
        ];
        if let Some((_, why)) = checks.into_iter().find(|(holds, _)| !holds) {
            return Err(why);
        }
        let (made, read) = (&nests[scores].outputs[0], &nests[values].inputs[factor]);
        let Axes { rows, others, steps, along } =
            same_axes((nests[scores], made), (nests[values], read))
                .ok_or("the products have other rows")?;
        Ok(Self {
            scores,
            mask,
            largest,
            shifted,
            score,
            total,
            quotient,
            by,
            values,
            factor,
            rows,
            others,
            steps,
            along,
        })
    }

    /// Tests that lanes may fold rows in another order, and mask them.
    pub fn reorders(&self, nests: &[&Nest<'_>], unit: &Lanes<'_>) -> bool {
        let folds = [self.largest, self.total].into_iter().all(|member| {
            let fold = combine(nests[member]).map(|fold| fold.op.name());
            fold.is_some_and(|name| unit.reduces(name, nests[member].sum_type(0)))
        });
        let applied = |mask: &RowMask| applies(unit, nests[mask.member].body, &|_| false);
        folds && self.mask.as_ref().is_none_or(applied)
    }

    /// The exponential, where it may be the power of two of a rounded exponent: what becomes of it is rounded to
    /// fewer bits than that is wrong by, `|x| 2^-24` for `exp x`, before it vanishes.
    pub fn rough<'c>(&self, nests: &[&Nest<'c>], unit: &Lanes<'c>) -> Option<Op<'c>> {
        let (made, narrow) = (&nests[self.shifted].outputs[0], &nests[self.quotient].outputs[0]);
        let bits = |access: &Access<'_>| ty::bits(access.elem()).unwrap_or(0);
        let fewer = bits(made) == 32 && bits(narrow) == 16 && unit.supports(POWER, made.elem());
        yielded(nests[self.shifted]).and_then(|value| made_by(value, "math.exp")).filter(|_| fewer)
    }

    /// How exponents are made of scores, where elements go through `2^(c (x - m))`.
    pub fn exponent(&self, nests: &[&Nest<'_>]) -> Option<Exponent> {
        let scores = nests[self.scores];
        let power = made_by(yielded(nests[self.shifted])?, POWER)?;
        let scaled = made_by(power.operand(0), "arith.mulf")?;
        made_by(scaled.operand(0), "arith.subf")?;
        let scale = number(scaled.operand(1))?;
        let kept = self.mask.as_ref().is_none_or(|mask| mask.selects);
        let before = score_scale(scores).filter(|_| kept);
        Some(Exponent {
            scale: scale * before.unwrap_or(1.0),
            apart: kept && is_bounded(scores),
            unscaled: before.is_some(),
        })
    }

    /// The same before exponentials are expanded: afterwards nobody can see that they are any.
    ///
    /// # Errors
    /// What is no softmax between two products.
    pub fn of_exponentials(nests: &[&Nest<'_>], links: &[Link]) -> Result<Self, &'static str> {
        let found = Self::of(nests, links)?;
        match found.is_exponential(nests) {
            true => Ok(found),
            false => Err("what is summed up are no exponentials"),
        }
    }

    /// Tests that `exp` is what the shifted elements go through, or a power of two whose exponent is a number
    /// times those.
    fn is_exponential(&self, nests: &[&Nest<'_>]) -> bool {
        let Some(value) = yielded(nests[self.shifted]) else { return false };
        let scaled = |value: Val<'_>| {
            made_by(value, "arith.mulf")
                .is_some_and(|op| made_by(op.operand(1), "arith.constant").is_some())
        };
        made_by(value, "math.exp").is_some()
            || made_by(value, POWER).is_some_and(|op| scaled(op.operand(0)))
    }
}

/// How exponents are made of scores: `c (x - m)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponent {
    /// `c`.
    pub scale: f64,
    /// Whether `c x - c m` is as good: `c x` is a number for whatever scores are, and what is wrong with `c m` is so
    /// for all that is summed up.
    pub apart: bool,
    /// Whether scores are taken before they are multiplied with a number that is in `c`: they are read
    /// nowhere else, and their order is the same.
    pub unscaled: bool,
}

/// Runs of a tile-graph that are a softmax between two products, in their order, with their nests.
pub(super) struct Found<'c> {
    pub runs: Vec<Op<'c>>,
    pub nests: Vec<Nest<'c>>,
    pub one_pass: OnePass,
}

impl<'c> Found<'c> {
    /// Those that end with the run `last`; `kernel` gives kernels by their names.
    ///
    /// # Errors
    /// The reason that there are none; nothing where runs do not read each other so.
    pub fn at(
        kernel: &dyn Fn(&str) -> Option<Op<'c>>,
        last: Op<'c>,
    ) -> Result<Self, Option<&'static str>> {
        let read = |run: &Op<'c>| read_kernel(kernel(kernel_of(*run))?).ok();
        let masks = |run: Op<'c>| read(&run).is_some_and(|nest| is_elementwise(&nest));
        let runs = around(last, &masks).ok_or(None)?;
        let nests: Vec<Nest<'c>> = runs.iter().map(read).collect::<Option<_>>().ok_or(None)?;
        let mut links = Vec::new();
        for (reader, (run, nest)) in runs.iter().zip(&nests).enumerate() {
            for (read, access) in nest.reads().into_iter().enumerate() {
                let from = maker(run.operand(access.argument().index()));
                let maker = runs.iter().position(|run| Some(*run) == from);
                links.extend(maker.map(|maker| Link { reader, read, maker }));
            }
        }
        let own: Vec<&Nest<'c>> = nests.iter().collect();
        let one_pass = OnePass::of_exponentials(&own, &links)?;
        Ok(Self { runs, nests, one_pass })
    }

    /// Its nests.
    pub fn nests(&self) -> Vec<&Nest<'c>> {
        self.nests.iter().collect()
    }
}

/// The runs back from a product that read each other as a softmax and the product before it do; or with one between
/// that `masks`.
fn around<'c>(last: Op<'c>, masks: &dyn Fn(Op<'c>) -> bool) -> Option<Vec<Op<'c>>> {
    let quotient = makers(last).into_iter().find(|run| makers(*run).len() == 2)?;
    let [shifted, total] = one_of_other(&makers(quotient))?;
    let [scores, largest] = one_of_other(&makers(shifted))?;
    let product = if masks(scores) { Some(*makers(scores).first()?) } else { None };
    let all = product.into_iter().chain([scores, largest, shifted, total, quotient, last]);
    Some(all.collect())
}

/// Of two runs one, and the other that reads nothing but what that makes.
fn one_of_other<'c>(own: &[Op<'c>]) -> Option<[Op<'c>; 2]> {
    let [one, other] = own[..] else { return None };
    [[one, other], [other, one]].into_iter().find(|&[of, fold]| makers(fold) == [of])
}

/// The runs that make what a run reads.
fn makers(run: Op<'_>) -> Vec<Op<'_>> {
    let inputs = run.operands().len() - run.results().len();
    let mut own: Vec<_> = run.operands().into_iter().take(inputs).filter_map(maker).collect();
    own.dedup();
    own
}

/// A value, or what it is widened from.
fn widened(value: Val<'_>) -> Val<'_> {
    made_by(value, "arith.extf").map_or(value, |op| op.operand(0))
}

/// The number that a value is.
fn number(value: Val<'_>) -> Option<f64> {
    attr::float(made_by(value, "arith.constant")?.attr("value")?)
}

/// What all scores are multiplied with behind the product, where that is a number above zero and all that becomes
/// of them.
pub(super) fn score_scale(nest: &Nest<'_>) -> Option<f64> {
    let epilogue = nest.epilogue.as_ref().filter(|own| own.inputs.is_empty())?;
    let scaled = made_by(epilogue.body.terminator()?.operand(0), "arith.mulf")?;
    let plain = !nest.casts_sums() && scaled.operand(0) == epilogue.body.arg(0);
    number(scaled.operand(1)).filter(|scale| plain && *scale > 0.0 && scale.is_finite())
}

/// What a sum of products of numbers of `f16` may be multiplied with and still be far from the greatest of `f32`.
const MOST_SCALE: f64 = 65536.0;

/// Whether a product's results are far from the greatest number of `f32`, or infinite: of factors in `f16`, and
/// nothing but numbers between that they are multiplied with; or stored in `f16`.
fn is_bounded(nest: &Nest<'_>) -> bool {
    let half = |access: &Access<'_>| access.elem().to_string() == "f16";
    let ops = nest.epilogue.iter().flat_map(|epilogue| epilogue.body.ops());
    let plain = ops.into_iter().all(|op| {
        let scales = op.is("arith.mulf")
            && number(op.operand(1)).is_some_and(|number| number.abs() <= MOST_SCALE);
        let casts = ["arith.extf", "arith.truncf", "arith.constant", "linalg.yield"];
        scales || casts.contains(&op.name())
    });
    half(&nest.outputs[0]) || plain && nest.inputs.iter().all(half)
}

fn is_largest(nest: &Nest<'_>) -> bool {
    let greatest = combine(nest)
        .is_some_and(|fold| fold.op.is("arith.maximumf") || fold.op.is("arith.maxnumf"));
    let direct = folded(nest).is_some_and(|value| widened(value) == nest.body.arg(0));
    let lowest = lowest(nest.sum_type(0));
    let below = begins_with(nest).zip(lowest).is_some_and(|(begin, lowest)| begin <= lowest);
    greatest && direct && below && nest.epilogue.is_none() && folds_rows(nest)
}

/// Each element of the output is the fold of a row of the input, in their order.
fn folds_rows(nest: &Nest<'_>) -> bool {
    let [input] = &nest.inputs[..] else { return false };
    let Some((axis, _)) = row(input) else { return false };
    let reduces = (0..nest.axes.len()).all(|other| nest.reduces(other) == (other == axis));
    reduces && in_rows(nest, input, &nest.outputs[0]) && nest.captures.is_empty()
}

/// A function of `x - m`, point by point, that asks for nothing else.
fn is_shifted(nest: &Nest<'_>, score: usize) -> bool {
    let [score_arg, other] = [score, 1 - score].map(|input| nest.body.arg(input));
    let ops = nest.body.ops();
    let difference = ops.iter().find(|op| {
        op.is("arith.subf") && widened(op.operand(0)) == score_arg && op.operand(1) == other
    });
    let alone = |value: Val<'_>| value.uses().len() == 1;
    let wide = difference.is_some_and(|op| alone(op.operand(0)));
    let access = &nest.inputs[score];
    wide && alone(score_arg)
        && alone(other)
        && is_elementwise(nest)
        && in_rows(nest, access, &nest.inputs[1 - score])
        && same_places(nest, access, &nest.outputs[0])
}

fn is_total(nest: &Nest<'_>) -> bool {
    let adds = combine(nest).is_some_and(|fold| fold.op.is("arith.addf"));
    let direct = folded(nest) == Some(nest.body.arg(0));
    let plain = nest.epilogue.as_ref().is_none_or(|epilogue| epilogue.inputs.is_empty());
    adds && direct
        && plain
        && !nest.casts_sums()
        && begins_with(nest) == Some(0.0)
        && folds_rows(nest)
}

/// By which operation elements are divided by the sum of their row, and perhaps made narrower.
fn divides(nest: &Nest<'_>, exponential: usize) -> Option<&'static str> {
    let args = [exponential, 1 - exponential].map(|input| nest.body.arg(input));
    let value = yielded(nest)?;
    let value = made_by(value, "arith.truncf").map_or(value, |op| op.operand(0));
    let by = |name: &'static str| {
        let operands = made_by(value, name)?.operands();
        let turned = name == "arith.mulf" && operands.iter().rev().eq(&args);
        (turned || operands == args).then_some(name)
    };
    let by = by("arith.divf").or(by("arith.mulf"))?;
    let (access, rows) = (&nest.inputs[exponential], &nest.inputs[1 - exponential]);
    let fits = is_elementwise(nest)
        && in_rows(nest, access, rows)
        && same_places(nest, access, &nest.outputs[0]);
    fits.then_some(by)
}

/// Sums along the rows of a factor that begin with zero.
fn is_product(nest: &Nest<'_>, factor: usize) -> bool {
    let own = row(&nest.inputs[factor])
        .filter(|&(axis, elements)| nest.reduces(axis) && nest.axes[axis].extent == elements);
    let adds = combine(nest).is_some_and(|fold| fold.op.is("arith.addf"));
    let alone = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis)).count() == 1;
    adds && alone && own.is_some() && begins_with(nest) == Some(0.0)
}

fn is_whole(nest: &Nest<'_>) -> bool {
    let parallel = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
    let points: u64 = parallel.map(|axis| nest.axes[axis].extent).product();
    let alone = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis)).count() == 1;
    alone && points == nest.outputs[0].shape.iter().product::<u64>()
}

/// Axes of two nests that go through one tensor.
struct Axes {
    rows: Vec<[usize; 2]>,
    others: Vec<(usize, i64)>,
    steps: Vec<(usize, i64)>,
    along: [usize; 2],
}

/// The axes of a maker and of a reader along a tensor, by the elements between two of their points; `None` where
/// one of the two does not go through all of it, or rows are not the same.
fn same_axes(
    (maker, made): (&Nest<'_>, &Access<'_>),
    (reader, read): (&Nest<'_>, &Access<'_>),
) -> Option<Axes> {
    // The slowest first; dense, so that a place in the tensor is one along each axis.
    let steps = |nest: &Nest<'_>, access: &Access<'_>| {
        let address = access.address(nest.axes.len());
        let own = (0..nest.axes.len()).map(|axis| (axis, address.coefficients[axis]));
        let mut own: Vec<_> = own
            .filter(|&(axis, step)| step != 0 && nest.axes[axis].extent > 1)
            .map(|(axis, step)| (axis, step, nest.axes[axis].extent))
            .collect();
        own.sort_by_key(|&(_, step, _)| std::cmp::Reverse(step));
        let whole = own.iter().rev().try_fold(1, |reach, &(_, step, extent)| {
            (step == reach).then_some(reach * extent as i64)
        });
        let count = access.shape.iter().product::<u64>() as i64;
        (address.constant == 0 && whole == Some(count)).then_some(own)
    };
    let (mut one, mut other) = (steps(maker, made)?, steps(reader, read)?);
    let along = one.pop().zip(other.pop())?;
    let ((own, _, long), (read, _, length)) = along;
    (long == length && !maker.reduces(own) && reader.reduces(read)).then_some(())?;
    let same = |&(_, step, extent): &(usize, i64, u64)| {
        let found = other.iter().find(|own| (own.1, own.2) == (step, extent));
        found.map(|own| own.0)
    };
    let rows = one.iter().filter_map(|own| Some([own.0, same(own)?])).collect();
    let others = one.iter().filter(|own| same(own).is_none());
    Some(Axes {
        rows,
        others: others.map(|&(axis, step, _)| (axis, step)).collect(),
        steps: other.iter().map(|&(axis, step, _)| (axis, step)).collect(),
        along: [own, read],
    })
}

/// The lowest number that rows' greatest elements may have.
pub(crate) fn lowest_of(largest: &Nest<'_>) -> f64 {
    lowest(largest.sum_type(0)).expect("the type of greatest elements has a lowest number")
}
