//! Ensembles of decision trees: for each row and tree a place that goes down a branch in each step,
//! then the weights of the leaves.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::linear::{Finish, label, labels, named};
use super::ml;
use crate::TensorType;
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::ops::Operator;
use crate::payload::{Build, Calc, Num, Tensor, identity};
use crate::types::ElementType;

mod read;

use read::{newer, older};

pub const OPERATORS: &[Operator] = &[
    ml("TreeEnsemble", 5, 1, read::NEWER, ensemble),
    ml("TreeEnsembleClassifier", 1, 1, read::CLASSIFIER, classifier).up_to(2),
    ml("TreeEnsembleRegressor", 1, 1, read::REGRESSOR, regressor),
];

/// The most steps from a root to a leaf.
const DEPTH_MAX: usize = 1 << 10;

/// A test of a feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    /// The feature.
    pub feature: i64,
    /// What it is compared with, and how: by the numbers of `TreeEnsemble`.
    pub value: f64,
    pub mode: u8,
    /// The places behind it: where the test holds, and where not.
    pub ways: [usize; 2],
    /// Whether the test holds for what is no number.
    pub missing: bool,
}

/// Trees side by side: branches first, then leaves.
#[derive(Debug, Default)]
pub struct Trees {
    pub branches: Vec<Branch>,
    /// The targets and weights of each leaf.
    pub leaves: Vec<Vec<(i64, f64)>>,
    pub roots: Vec<usize>,
    pub targets: i64,
    pub base: Vec<f64>,
}

/// How the weights of all trees are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    Sum,
    Average,
    Min,
    Max,
}

/// The tables of a plan, behind its one operand, and the numbers of them.
#[derive(Clone, Copy)]
struct Ensemble {
    branches: i64,
    trees: i64,
    depth: usize,
    slots: i64,
    targets: i64,
    combine: Combine,
    element: ElementType,
}

impl Trees {
    /// The number of steps down to the last leaf.
    fn depth(&self, node: &Node<'_>) -> Result<usize> {
        let mut depth = 0;
        let mut places: Vec<_> = self.roots.clone();
        while places.iter().any(|&place| place < self.branches.len()) {
            depth += 1;
            if depth > DEPTH_MAX {
                let report = node.report(format!("has a tree of more than {DEPTH_MAX} levels"));
                return Err(report.help("trees without circles").unsupported());
            }
            let ways = places.iter().filter_map(|&place| self.branches.get(place));
            places = ways.flat_map(|branch| branch.ways).collect();
            places.sort_unstable();
            places.dedup();
        }
        Ok(depth)
    }

    /// The tables that a payload reads, and what is in them.
    fn tables(
        &self,
        node: &Node<'_>,
        x: &Operand,
        combine: Combine,
    ) -> Result<(Ensemble, Vec<Elements>)> {
        let features = x.dims().last().copied().unwrap_or(0);
        let outside = self.branches.iter().find(|b| !(0..features).contains(&b.feature));
        let wrong = self.leaves.iter().flatten().find(|(at, _)| !(0..self.targets).contains(at));
        if x.rank() != 2 || outside.is_some() || wrong.is_some() || self.roots.is_empty() {
            return Err(node
                .report(format!("decides by {outside:?} and {wrong:?} for {}", x.ty))
                .help(format!("batch and features; a tree, and targets up to {}", self.targets))
                .invalid());
        }
        let element =
            if x.element() == ElementType::F64 { ElementType::F64 } else { ElementType::F32 };
        let slots = self.leaves.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let of = |ty: ElementType, dims: &[i64], all: Vec<Scalar>| {
            Elements::from_scalars(TensorType::temporary(ty, dims), all)
        };
        let ints = |all: Vec<i64>| {
            let dims = [all.len() as i64];
            of(ElementType::I64, &dims, all.into_iter().map(|i| Scalar::Int(i.into())).collect())
        };
        let count = self.branches.len() as i64;
        let all = &self.branches;
        let mut targets = vec![Scalar::Int(-1); self.leaves.len() * slots];
        let mut weights = vec![Scalar::Float(0.0); targets.len()];
        for (leaf, own) in self.leaves.iter().enumerate() {
            for (slot, (target, weight)) in own.iter().enumerate() {
                targets[leaf * slots + slot] = Scalar::Int((*target).into());
                weights[leaf * slots + slot] = Scalar::Float(*weight);
            }
        }
        let leaves = [self.leaves.len() as i64, slots as i64];
        let values = all.iter().map(|b| Scalar::Float(b.value)).collect();
        let base = (0..self.targets as usize)
            .map(|at| Scalar::Float(self.base.get(at).copied().unwrap_or(0.0)));
        let tables = vec![
            ints(all.iter().map(|b| b.feature).collect()),
            of(element, &[count], values),
            ints(all.iter().map(|b| 2 * i64::from(b.mode) + i64::from(b.missing)).collect()),
            ints(all.iter().map(|b| b.ways[0] as i64).collect()),
            ints(all.iter().map(|b| b.ways[1] as i64).collect()),
            ints(self.roots.iter().map(|&root| root as i64).collect()),
            of(ElementType::I64, &leaves, targets),
            of(element, &leaves, weights),
            of(element, &[self.targets], base.collect()),
        ];
        let depth = self.depth(node)?;
        let (trees, slots) = (self.roots.len() as i64, slots as i64);
        node.ty(ElementType::I64, vec![x.dims()[0], trees])?;
        let branches = count;
        let targets = self.targets;
        Ok((Ensemble { branches, trees, depth, slots, targets, combine, element }, tables))
    }
}

impl Ensemble {
    /// The leaf of each row in each tree.
    fn leaves<'c>(
        self,
        b: &mut Build<'_, 'c>,
        x: &Tensor<'c>,
        tables: &[Tensor<'c>],
    ) -> Tensor<'c> {
        let dims = [x.dims()[0], self.trees];
        let root = vec![Linear::axis(2, 1)];
        let mut places =
            b.move_at(ElementType::I64, &dims, &[(&tables[5], root)], |_, root| root[0]);
        for _ in 0..self.depth {
            let inputs = [(&places, identity(2))];
            places = b.map_at(ElementType::I64, &dims, &inputs, |calc, place| {
                let own = calc.coordinate(place[0]);
                let (last, row) = (calc.at(self.branches - 1), calc.index(0));
                // A leaf stays where it is; what is read of a branch for it does not matter.
                let branch = calc.min(own, last);
                let mut read = |table: &Tensor<'c>| {
                    let found = calc.extract(table, &[branch]);
                    calc.loaded(found)
                };
                let [feature, value, mode] = [0, 1, 2].map(|at| read(&tables[at]));
                let ways = [3, 4].map(|at| read(&tables[at]));
                let feature = calc.coordinate(feature);
                let found = calc.extract(x, &[row, feature]);
                let found = calc.loaded(found);
                let found = calc.cast(found, self.element);
                let holds = holds(calc, found, value, mode);
                let next = calc.select(holds, ways[0], ways[1]);
                let stays = calc.gt(own, last);
                calc.select(stays, place[0], next)
            });
        }
        places
    }

    /// The weights of all trees for each target.
    fn scores<'c>(
        self,
        b: &mut Build<'_, 'c>,
        leaves: &Tensor<'c>,
        tables: &[Tensor<'c>],
    ) -> Tensor<'c> {
        let (batch, number) = (leaves.dims()[0], self.element);
        let first = match self.combine {
            Combine::Sum | Combine::Average => Scalar::Int(0),
            // As the standard begins, for a target that no leaf has.
            Combine::Min if number == ElementType::F64 => Scalar::Float(f64::MAX),
            Combine::Max if number == ElementType::F64 => Scalar::Float(f64::MIN),
            Combine::Min => Scalar::Float(f32::MAX.into()),
            Combine::Max => Scalar::Float(f32::MIN.into()),
        };
        let start = b.fill(number, &[batch, self.targets], first);
        let kinds = [Axis::Parallel, Axis::Parallel, Axis::Reduction, Axis::Reduction];
        let extents = [batch, self.targets, self.trees, self.slots];
        let target = vec![Linear::axis(4, 0), Linear::axis(4, 1)];
        let inputs = [(leaves, vec![Linear::axis(4, 0), Linear::axis(4, 2)])];
        let sums = b.nest(&kinds, &extents, &inputs, &[(&start, target)], |calc, given| {
            let (leaf, branches) = (calc.coordinate(given[0]), calc.at(self.branches));
            let (leaf, slot) = (calc.sub(leaf, branches), calc.index(3));
            let [target, weight] = [6, 7].map(|at: usize| {
                let found = calc.extract(&tables[at], &[leaf, slot]);
                calc.loaded(found)
            });
            let (target, here) = (calc.coordinate(target), calc.index(1));
            let mine = calc.eq(target, here);
            let after = match self.combine {
                Combine::Sum | Combine::Average => calc.add(given[1], weight),
                Combine::Min => calc.min(given[1], weight),
                Combine::Max => calc.max(given[1], weight),
            };
            vec![calc.select(mine, after, given[1])]
        });
        let inputs = [(&sums[0], identity(2)), (&tables[8], vec![Linear::axis(2, 1)])];
        b.map_at(number, &[batch, self.targets], &inputs, |calc, x| {
            let mut sum = x[0];
            if self.combine == Combine::Average {
                let trees = calc.like(sum, self.trees as f64);
                sum = calc.div(sum, trees);
            }
            calc.add(sum, x[1])
        })
    }

    fn build<'c>(self, b: &mut Build<'_, 'c>, args: &[Tensor<'c>]) -> Tensor<'c> {
        let leaves = self.leaves(b, &args[0], &args[1..]);
        self.scores(b, &leaves, &args[1..])
    }
}

/// Returns whether a test holds: its mode is twice the number of `TreeEnsemble`, and one more where
/// it holds for what is no number.
fn holds<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, value: Num<'c>, mode: Num<'c>) -> Num<'c> {
    let two = calc.int_like(mode, 2);
    let (kind, odd) = (calc.div(mode, two), calc.rem(mode, two));
    let tests = [
        calc.le(x, value),
        calc.lt(x, value),
        calc.ge(x, value),
        calc.gt(x, value),
        calc.eq(x, value),
        calc.ne(x, value),
    ];
    let mut holds = tests[0];
    for (at, test) in tests.into_iter().enumerate().skip(1) {
        let number = calc.int_like(kind, at as i128);
        let own = calc.eq(kind, number);
        holds = calc.select(own, test, holds);
    }
    let (missing, one) = (calc.is_nan(x), calc.int_like(odd, 1));
    let tracks = calc.eq(odd, one);
    calc.select(missing, tracks, holds)
}

/// Plans the scores of trees, with something done behind them.
fn scored(node: &Node<'_>, trees: &Trees, combine: Combine, finish: Finish) -> Result<Plan> {
    let x = node.typed(0, "X", super::FEATURES)?;
    let (ensemble, tables) = trees.tables(node, x, combine)?;
    let result = node.ty(ensemble.element, vec![x.dims()[0], trees.targets])?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let scores = ensemble.build(b, args);
        vec![finish.apply(b, &scores)]
    })
    .with(tables))
}

fn ensemble(node: &Node<'_>) -> Result<Plan> {
    let combine = match node.int("aggregate_function")?.unwrap_or(1) {
        0 => Combine::Average,
        1 => Combine::Sum,
        2 => Combine::Min,
        3 => Combine::Max,
        other => {
            let report = node.report(format!("has aggregate_function {other}"));
            return Err(report.help("0 to 3").invalid());
        }
    };
    let finish = match node.int("post_transform")?.unwrap_or(0) {
        0 => Finish::None,
        1 => Finish::Softmax,
        2 => Finish::Logistic,
        other => return Err(Finish::refused(node, &other.to_string())),
    };
    scored(node, &newer(node)?, combine, finish)
}

fn regressor(node: &Node<'_>) -> Result<Plan> {
    let combine = match node.string("aggregate_function", "SUM")? {
        "AVERAGE" => Combine::Average,
        "SUM" => Combine::Sum,
        "MIN" => Combine::Min,
        "MAX" => Combine::Max,
        other => {
            let report = node.report(format!("has aggregate_function {other:?}"));
            return Err(report.help("AVERAGE, SUM, MIN or MAX").invalid());
        }
    };
    let targets = node.int("n_targets")?.unwrap_or(1);
    scored(node, &older(node, "target", targets)?, combine, Finish::of(node)?)
}

/// The one score of a model of two classes, which is that of the second class.
#[derive(Clone, Copy)]
struct Single {
    /// No weight is negative: the score is a share.
    share: bool,
    finish: Finish,
}

impl Single {
    /// One score for both classes, where all leaves are of one class.
    fn of(node: &Node<'_>, trees: &mut Trees, finish: Finish) -> Result<Option<Self>> {
        let mut all = trees.leaves.iter().flatten();
        let first = all.next().map(|(target, _)| *target);
        if trees.targets != 2 || !all.all(|(target, _)| Some(*target) == first) {
            return Ok(None);
        }
        if finish == Finish::Softmax || trees.base.len() > 1 {
            return Err(node
                .report("has one score for two classes")
                .note(format!("with {finish:?} and {} base values", trees.base.len()))
                .help("post_transform NONE or LOGISTIC, and at most one base value")
                .unsupported());
        }
        let share = trees.leaves.iter().flatten().all(|(_, weight)| *weight >= 0.0);
        trees.leaves.iter_mut().flatten().for_each(|(target, _)| *target = 0);
        trees.targets = 1;
        Ok(Some(Self { share, finish }))
    }

    /// The scores of both classes, and the number of the better one.
    fn both<'c>(self, b: &mut Build<'_, 'c>, score: &Tensor<'c>) -> [Tensor<'c>; 2] {
        let batch = score.dims()[0];
        let inputs = [(score, vec![Linear::axis(2, 0), Linear::constant(2, 0)])];
        let scores = b.map_at(score.element(), &[batch, 2], &inputs, |calc, x| {
            let (class, zero) = (calc.index(1), calc.at(0));
            let (first, unit) = (calc.eq(class, zero), calc.like(x[0], 1.0));
            // The first class has the rest of a share that stays one.
            let rest = self.share && self.finish == Finish::None;
            let other = if rest { calc.sub(unit, x[0]) } else { calc.neg(x[0]) };
            calc.select(first, other, x[0])
        });
        let scores = self.finish.apply(b, &scores);
        let inputs = [(score, vec![Linear::axis(1, 0), Linear::constant(1, 0)])];
        let best = b.map_at(ElementType::I64, &[batch], &inputs, |calc, x| {
            let edge = calc.like(x[0], if self.share { 0.5 } else { 0.0 });
            let second = calc.gt(x[0], edge);
            calc.cast(second, ElementType::I64)
        });
        [scores, best]
    }
}

/// The label of the greatest score, and the scores. One score for two classes means what ONNX Runtime
/// makes of it, for the standard does not say.
fn classifier(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", super::FEATURES)?;
    let labels = labels(node, "classlabels_int64s", "classlabels_strings")?;
    let classes = labels.len() as i64;
    let mut trees = older(node, "class", classes)?;
    let finish = Finish::of(node)?;
    let single = Single::of(node, &mut trees, finish)?;
    let (ensemble, mut tables) = trees.tables(node, x, Combine::Sum)?;
    let mut results = vec![
        node.ty(ElementType::I64, vec![x.dims()[0]])?,
        node.ty(ElementType::F32, vec![x.dims()[0], classes])?,
    ];
    results.truncate(node.outputs());
    let outputs = results.len();
    let ty = TensorType::temporary(ElementType::I64, &[classes]);
    tables.push(Elements::from_scalars(ty, labels.iter().map(|&own| Scalar::Int(own.into()))));
    Ok(Plan::new(vec![x.clone()], results, move |b, args| {
        let scores = ensemble.build(b, args);
        let names = &args[args.len() - 1];
        let (label, scores) = match single {
            Some(single) => {
                let [scores, best] = single.both(b, &scores);
                (named(b, &best, names), scores)
            }
            None => {
                let scores = finish.apply(b, &scores);
                (label(b, &scores, names), scores)
            }
        };
        [label, b.cast(&scores, ElementType::F32)][..outputs].to_vec()
    })
    .with(tables))
}
