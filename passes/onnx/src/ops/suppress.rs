//! NonMaxSuppression: of boxes that overlap the one of the greatest score.
//!
//! Round by round each class takes the best box that is left and drops what overlaps it; a round is two
//! nests over all boxes. A few rounds are written out ([`taken`]); the parts of a loop of many are plans of their own,
//! which ends when no box is left.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use crate::elements::Scalar;
use crate::node::{Operand, Plan};
use crate::payload::{Access, Build, Calc, Num, Tensor, identity};
use crate::types::{ElementType, TensorType};

const REAL: ElementType = ElementType::F32;
const PLACE: ElementType = ElementType::I64;

/// What is asked of it.
pub struct Asked {
    /// Boxes that a class may take, one at least.
    pub rounds: i64,
    /// Whether boxes are middles and sizes, not corners.
    pub centered: bool,
    /// Which operand is the overlap from which a box is dropped: 0 without one.
    pub overlap: Option<usize>,
    /// Which operand is the score that a box must exceed: none without one.
    pub score: Option<usize>,
}

/// Plans the boxes that each class of each batch takes, in order; -1 where there is none any more. Operands are
/// boxes, of four numbers for each, scores, for each class of each box, and thresholds.
pub fn taken(operands: Vec<Operand>, asked: Asked) -> Plan {
    let [batches, classes, boxes] = [0, 1, 2].map(|dim| operands[1].dims()[dim]);
    let dims = [batches, classes, boxes];
    let ty = TensorType::temporary(PLACE, &[batches, classes, asked.rounds]);
    Plan::new(operands, vec![ty], move |b, args| {
        let sides = sides(b, &args[0], [batches, boxes], asked.centered);
        let overlap = asked.overlap.map(|at| scalar(b, &args[at]));
        let mut left = candidates(b, args, dims, &asked);
        let mut all = b.fill(PLACE, &[batches, classes, asked.rounds], Scalar::Int(-1));
        for round in 0..asked.rounds {
            let best = best(b, &left);
            let column = b.reshape(&best, &[batches, classes, 1]);
            all = b.insert(&column, &all, &[0, 0, round], &[1; 3]);
            if round + 1 < asked.rounds {
                left = without(b, &left, &best, &sides, overlap.as_ref());
            }
        }
        vec![all]
    })
}

/// Plans what a loop begins with: the four sides of the boxes, the scores of those that may be taken, and a list for each
/// round of those that are: -1. Operands are those of [`taken`].
pub fn begin(operands: Vec<Operand>, asked: Asked) -> Plan {
    let [batches, classes, boxes] = [0, 1, 2].map(|dim| operands[1].dims()[dim]);
    let dims = [batches, classes, boxes];
    let lists = [asked.rounds, batches, classes];
    let mut types = vec![TensorType::temporary(REAL, &[batches, boxes]); 4];
    types.push(TensorType::temporary(REAL, &dims));
    types.push(TensorType::temporary(PLACE, &lists));
    Plan::new(operands, types, move |b, args| {
        let mut made = sides(b, &args[0], [batches, boxes], asked.centered).to_vec();
        made.push(candidates(b, args, dims, &asked));
        made.push(b.fill(PLACE, &lists, Scalar::Int(-1)));
        made
    })
}

/// Plans the best box that is left for each class, and whether there is one of any.
pub fn round(left: &Operand) -> Plan {
    let ty = TensorType::temporary(PLACE, &left.dims()[..2]);
    let any = TensorType::temporary(ElementType::Bool, &[1]);
    Plan::new(vec![left.clone()], vec![ty, any], |b, args| {
        let best = best(b, &args[0]);
        let none = b.fill(PLACE, &[1], Scalar::Int(-1));
        let kinds = [Axis::Parallel, Axis::Reduction, Axis::Reduction];
        let dims = [&[1], best.dims()].concat();
        let read = vec![Linear::axis(3, 1), Linear::axis(3, 2)];
        let outputs = [(&none, vec![Linear::axis(3, 0)])];
        let most =
            b.nest(&kinds, &dims, &[(&best, read)], &outputs, |calc, x| vec![calc.max(x[0], x[1])]);
        let any = b.map(ElementType::Bool, &[1], &[&most[0]], |calc, x| {
            let zero = calc.literal(PLACE, Scalar::Int(0));
            calc.ge(x[0], zero)
        });
        vec![best, any]
    })
}

/// Plans the scores of what is left when a box is taken; `sides` are those of [`begin`], with the overlap behind them
/// where one is given.
pub fn rest(left: &Operand, best: &Operand, sides: Vec<Operand>) -> Plan {
    let operands = [vec![left.clone(), best.clone()], sides].concat();
    Plan::new(operands, vec![left.ty.clone()], |b, args| {
        let overlap = args.get(6).map(|overlap| scalar(b, overlap));
        let sides = std::array::from_fn(|side| args[2 + side].clone());
        vec![without(b, &args[0], &args[1], &sides, overlap.as_ref())]
    })
}

/// Plans the lists of all rounds as [`taken`] gives them.
pub fn listed(lists: &Operand) -> Plan {
    let [rounds, batches, classes] = [0, 1, 2].map(|dim| lists.dims()[dim]);
    let dims = [batches, classes, rounds];
    let ty = TensorType::temporary(PLACE, &dims);
    Plan::new(vec![lists.clone()], vec![ty], move |b, args| {
        let turned = [2, 0, 1].map(|axis| Linear::axis(3, axis)).to_vec();
        vec![b.move_at(PLACE, &dims, &[(&args[0], turned)], |_, x| x[0])]
    })
}

/// The scores of the boxes that may be taken.
fn candidates<'c>(
    b: &mut Build<'_, 'c>,
    args: &[Tensor<'c>],
    dims: [i64; 3],
    asked: &Asked,
) -> Tensor<'c> {
    let score = asked.score.map(|at| scalar(b, &args[at]));
    let inputs = with((&args[1], identity(3)), score.as_ref());
    b.map_at(REAL, &dims, &inputs, |calc, x| match x.get(1) {
        Some(score) => {
            let (above, none) = (calc.gt(x[0], *score), nothing(calc));
            calc.select(above, x[0], none)
        }
        // The least of all scores is one of a box that is there.
        None => {
            let least = calc.literal(REAL, Scalar::Float(f32::MIN.into()));
            calc.max(x[0], least)
        }
    })
}

/// Plans a number for each box that might be taken, which is zero where none is.
pub fn marks(taken: &Operand) -> Plan {
    Plan::new(vec![taken.clone()], vec![taken.ty.clone()], |b, args| {
        vec![b.map(PLACE, args[0].dims(), &[&args[0]], |calc, x| {
            let one = calc.literal(PLACE, Scalar::Int(1));
            calc.add(x[0], one)
        })]
    })
}

/// Plans batch, class and box for each place of a taken box among all that might be.
pub fn rows(taken: &Operand, places: &Operand) -> Plan {
    let [_, classes, rounds] = [0, 1, 2].map(|dim| taken.dims()[dim]);
    let (all, most) = (taken.ty.elements() as i64, places.dims()[0]);
    let ty = TensorType::temporary(PLACE, &[most, 3]);
    Plan::new(vec![taken.clone(), places.clone()], vec![ty], move |b, args| {
        let flat = b.reshape(&args[0], &[all]);
        let inputs = [(&args[1], vec![Linear::axis(2, 0)])];
        vec![b.map_at(PLACE, &[most, 3], &inputs, |calc, x| {
            let place = calc.coordinate(x[0]);
            let number = calc.extract(&flat, &[place]);
            let number = calc.loaded(number);
            let [per_class, per_batch, around] = [rounds, rounds * classes, classes]
                .map(|own| calc.literal(PLACE, Scalar::Int(own.into())));
            let class = calc.div(x[0], per_class);
            let (batch, class) = (calc.div(x[0], per_batch), calc.rem(class, around));
            let (column, zero, one) = (calc.index(1), calc.at(0), calc.at(1));
            let (first, second) = (calc.eq(column, zero), calc.eq(column, one));
            let rest = calc.select(second, class, number);
            calc.select(first, batch, rest)
        })]
    })
}

/// A threshold, however it is shaped.
fn scalar<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
    b.reshape(x, &[])
}

fn with<'t, 'c>(own: Access<'t, 'c>, scalar: Option<&'t Tensor<'c>>) -> Vec<Access<'t, 'c>> {
    std::iter::once(own).chain(scalar.map(|scalar| (scalar, vec![]))).collect()
}

/// The score of a box that is not there.
fn nothing<'c>(calc: &mut Calc<'_, 'c>) -> Num<'c> {
    calc.literal(REAL, Scalar::Float(f64::NEG_INFINITY))
}

/// The lower end, the upper end of all boxes along both directions.
fn sides<'c>(
    b: &mut Build<'_, 'c>,
    boxes: &Tensor<'c>,
    dims: [i64; 2],
    centered: bool,
) -> [Tensor<'c>; 4] {
    // Corners are y, x, y, x; middles and sizes x, y, width, height.
    let pairs = [[0, 2], [1, 3]];
    let at = |number| {
        let mut read = identity(2);
        read.push(Linear::constant(2, number));
        (boxes, read)
    };
    let ends = pairs.map(|[one, other]| {
        [false, true].map(|upper| {
            b.map_at(REAL, &dims, &[at(one), at(other)], |calc, x| {
                if !centered {
                    return if upper { calc.max(x[0], x[1]) } else { calc.min(x[0], x[1]) };
                }
                let two = calc.literal(REAL, Scalar::Float(2.0));
                let half = calc.div(x[1], two);
                if upper { calc.add(x[0], half) } else { calc.sub(x[0], half) }
            })
        })
    });
    let [[a, b], [c, d]] = ends;
    [a, b, c, d]
}

/// For each class the first of the boxes of the greatest score; -1 where none is left.
fn best<'c>(b: &mut Build<'_, 'c>, left: &Tensor<'c>) -> Tensor<'c> {
    let dims = left.dims().to_vec();
    let score = b.fill(REAL, &dims[..2], Scalar::Float(f64::NEG_INFINITY));
    let place = b.fill(PLACE, &dims[..2], Scalar::Int(-1));
    let to = || vec![Linear::axis(3, 0), Linear::axis(3, 1)];
    let kinds = [Axis::Parallel, Axis::Parallel, Axis::Reduction];
    let outputs = [(&score, to()), (&place, to())];
    let made = b.nest(&kinds, &dims, &[(left, identity(3))], &outputs, |calc, x| {
        let (better, here) = (calc.gt(x[0], x[1]), calc.index(2));
        let here = calc.counted(here, PLACE);
        vec![calc.select(better, x[0], x[1]), calc.select(better, here, x[2])]
    });
    made[1].clone()
}

/// The scores of what is left when a box is taken: neither itself nor what overlaps it.
fn without<'c>(
    b: &mut Build<'_, 'c>,
    left: &Tensor<'c>,
    best: &Tensor<'c>,
    sides: &[Tensor<'c>; 4],
    overlap: Option<&Tensor<'c>>,
) -> Tensor<'c> {
    let dims = left.dims().to_vec();
    let own = || vec![Linear::axis(3, 0), Linear::axis(3, 2)];
    let mut inputs =
        vec![(left, identity(3)), (best, vec![Linear::axis(3, 0), Linear::axis(3, 1)])];
    inputs.extend(sides.iter().map(|side| (side, own())));
    inputs.extend(overlap.map(|overlap| (overlap, vec![])));
    b.map_at(REAL, &dims, &inputs, |calc, x| {
        let none = calc.literal(PLACE, Scalar::Int(0));
        let [batch, at] = [calc.index(0), calc.max(x[1], none)];
        let at = calc.coordinate(at);
        let taken = sides.each_ref().map(|side| {
            let end = calc.extract(side, &[batch, at]);
            calc.loaded(end)
        });
        let zero = calc.literal(REAL, Scalar::Int(0));
        let (mut common, mut one, mut other) = (None, None, None);
        for along in [0, 2] {
            let (low, high) =
                (calc.max(x[2 + along], taken[along]), calc.min(x[3 + along], taken[along + 1]));
            let both = calc.sub(high, low);
            let both = calc.max(both, zero);
            let mine = calc.sub(x[3 + along], x[2 + along]);
            let its = calc.sub(taken[along + 1], taken[along]);
            common = Some(common.map_or(both, |before| calc.mul(before, both)));
            one = Some(one.map_or(mine, |before| calc.mul(before, mine)));
            other = Some(other.map_or(its, |before| calc.mul(before, its)));
        }
        let [common, one, other] = [common, one, other].map(|own| own.expect("two directions"));
        let both = calc.add(one, other);
        let all = calc.sub(both, common);
        let share = calc.div(common, all);
        let most = x.get(6).copied().unwrap_or(zero);
        let (meets, overlaps) = (calc.gt(common, zero), calc.gt(share, most));
        let drops = calc.and(meets, overlaps);
        let here = calc.index(2);
        let here = calc.counted(here, PLACE);
        let itself = calc.eq(here, x[1]);
        let gone = calc.or(drops, itself);
        // Where nothing was taken, nothing is left.
        let nothing = nothing(calc);
        calc.select(gone, nothing, x[0])
    })
}
