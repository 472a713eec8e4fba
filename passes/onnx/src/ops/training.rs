//! Steps of training: new values of tensors from their gradients.

use super::{Operator, op};
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Build, Calc, Num, Tensor, computed};
use crate::types::ElementType;

/// The domain of these operators.
pub const DOMAIN: &str = "ai.onnx.preview.training";

pub const OPERATORS: &[Operator] = &[
    training("Adagrad", &["decay_factor", "epsilon", "norm_coefficient"], adagrad),
    training(
        "Adam",
        &["alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"],
        adam,
    ),
    training("Momentum", &["alpha", "beta", "mode", "norm_coefficient"], momentum),
];

const fn training(
    name: &'static str,
    attributes: &'static [&'static str],
    plan: fn(&Node<'_>) -> Result<Plan>,
) -> Operator {
    let mut operator = op(name, 1, 2, attributes, plan).up_to(usize::MAX);
    operator.domain = DOMAIN;
    operator.inputs = (2, usize::MAX);
    operator
}

/// What a step reads for a tensor: the rate and the number of the step, the tensor, its gradient
/// and what was kept of it.
struct Given<'t, 'c> {
    rate: &'t Tensor<'c>,
    step: &'t Tensor<'c>,
    x: &'t Tensor<'c>,
    gradient: &'t Tensor<'c>,
    kept: Vec<&'t Tensor<'c>>,
}

impl<'c> Given<'_, 'c> {
    /// A tensor like `x` of numbers from the rate, the step, `x`, its gradient, and others.
    fn map(
        &self,
        b: &mut Build<'_, 'c>,
        more: &[&Tensor<'c>],
        body: impl FnOnce(&mut Calc<'_, 'c>, [Num<'c>; 4], &[Num<'c>]) -> Num<'c>,
    ) -> Tensor<'c> {
        let number = computed(self.x.element());
        let inputs = [&[self.rate, self.step, self.x, self.gradient], more].concat();
        b.map(self.x.element(), self.x.dims(), &inputs, |calc, given| {
            let [rate, step] = [given[0], given[1]].map(|scalar| calc.cast(scalar, number));
            body(calc, [rate, step, given[2], given[3]], &given[4..])
        })
    }
}

/// Plans a step for tensors that each have `kept` others, and so many and one results.
fn steps(
    node: &Node<'_>,
    kept: usize,
    build: impl for<'c> Fn(&mut Build<'_, 'c>, &Given<'_, 'c>) -> Vec<Tensor<'c>> + 'static,
) -> Result<Plan> {
    const REAL: &[ElementType] = &[ElementType::F32, ElementType::F64];
    let rate = node.typed(0, "R", REAL)?;
    let step = node.typed(1, "T", &[ElementType::I64])?;
    let inputs = node.input_count() - 2;
    let count = inputs / (kept + 2);
    let fits = inputs.is_multiple_of(kept + 2) && count > 0;
    if !fits || rate.rank() + step.rank() > 0 || node.outputs() != count * (kept + 1) {
        return Err(node
            .report(format!("reads {inputs} tensors by {} and {}", rate.ty, step.ty))
            .note(format!("it has {} outputs", node.outputs()))
            .help(format!(
                "two scalars; for each tensor a gradient and {kept} more, and {} results",
                kept + 1
            ))
            .invalid());
    }
    let mut operands = vec![rate.clone(), step.clone()];
    for at in 2..2 + inputs {
        let operand = node.typed(at, "X", REAL)?;
        let first = node.input(2 + (at - 2) % count, "X")?;
        if operand.ty != first.ty {
            let report = node.report(format!("reads {} beside {}", operand.ty, first.ty));
            return Err(report.help("one type for a tensor and what belongs to it").invalid());
        }
        operands.push(operand.clone());
    }
    let results = (0..count * (kept + 1)).map(|at| operands[2 + at % count].ty.clone());
    Ok(Plan::new(operands.clone(), results.collect(), move |b, args| {
        let mut made = vec![Vec::new(); kept + 1];
        for own in 0..count {
            let at = |group: usize| &args[2 + group * count + own];
            let given = Given {
                rate: &args[0],
                step: &args[1],
                x: at(0),
                gradient: at(1),
                kept: (0..kept).map(|group| at(2 + group)).collect(),
            };
            made.iter_mut().zip(build(b, &given)).for_each(|(all, one)| all.push(one));
        }
        made.concat()
    }))
}

/// `norm · x + g`: the gradient with that of the regularisation.
fn regularized<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, g: Num<'c>, norm: f64) -> Num<'c> {
    let norm = calc.like(x, norm);
    let product = calc.mul(norm, x);
    calc.add(product, g)
}

/// `a · x + b · y`.
fn mixed<'c>(calc: &mut Calc<'_, 'c>, [a, x]: [Num<'c>; 2], [b, y]: [Num<'c>; 2]) -> Num<'c> {
    let (one, other) = (calc.mul(a, x), calc.mul(b, y));
    calc.add(one, other)
}

fn adagrad(node: &Node<'_>) -> Result<Plan> {
    let norm = node.float("norm_coefficient", 0.0)?;
    let (decay, epsilon) = (node.float("decay_factor", 0.0)?, node.float("epsilon", 1e-6)?);
    steps(node, 1, move |b, given| {
        let squares = given.map(b, &given.kept, |calc, [_, _, x, g], kept| {
            let g = regularized(calc, x, g, norm);
            let square = calc.mul(g, g);
            calc.add(kept[0], square)
        });
        let x = given.map(b, &[&squares], |calc, [rate, step, x, g], squares| {
            let g = regularized(calc, x, g, norm);
            let (one, decay) = (calc.like(x, 1.0), calc.like(x, decay));
            let decayed = calc.mul(step, decay);
            let slower = calc.add(one, decayed);
            let (rate, root) = (calc.div(rate, slower), calc.math("sqrt", squares[0]));
            let epsilon = calc.like(x, epsilon);
            let root = calc.add(root, epsilon);
            let change = calc.mul(rate, g);
            let change = calc.div(change, root);
            calc.sub(x, change)
        });
        vec![x, squares]
    })
}

fn adam(node: &Node<'_>) -> Result<Plan> {
    let norm = node.float("norm_coefficient", 0.0)?;
    let after = 1.0 - node.float("norm_coefficient_post", 0.0)?;
    let (alpha, beta) = (node.float("alpha", 0.9)?, node.float("beta", 0.999)?);
    let epsilon = node.float("epsilon", 1e-6)?;
    steps(node, 2, move |b, given| {
        let mean = given.map(b, &given.kept[..1], |calc, [_, _, x, g], kept| {
            let g = regularized(calc, x, g, norm);
            let (old, new) = (calc.like(x, alpha), calc.like(x, 1.0 - alpha));
            mixed(calc, [old, kept[0]], [new, g])
        });
        let squares = given.map(b, &given.kept[1..], |calc, [_, _, x, g], kept| {
            let g = regularized(calc, x, g, norm);
            let square = calc.mul(g, g);
            let (old, new) = (calc.like(x, beta), calc.like(x, 1.0 - beta));
            mixed(calc, [old, kept[0]], [new, square])
        });
        let x = given.map(b, &[&mean, &squares], |calc, [rate, step, x, _], kept| {
            let (zero, one) = (calc.like(x, 0.0), calc.like(x, 1.0));
            // Both averages begin at zero, which the first steps make up for.
            let [first, second] = [alpha, beta].map(|decay| {
                let decay = calc.like(x, decay);
                let left = calc.powf(decay, step);
                calc.sub(one, left)
            });
            let second = calc.math("sqrt", second);
            let corrected = calc.mul(rate, second);
            let corrected = calc.div(corrected, first);
            let later = calc.gt(step, zero);
            let rate = calc.select(later, corrected, rate);
            let (root, epsilon) = (calc.math("sqrt", kept[1]), calc.like(x, epsilon));
            let root = calc.add(root, epsilon);
            let share = calc.div(kept[0], root);
            let change = calc.mul(rate, share);
            let (new, after) = (calc.sub(x, change), calc.like(x, after));
            calc.mul(after, new)
        });
        vec![x, mean, squares]
    })
}

fn momentum(node: &Node<'_>) -> Result<Plan> {
    let norm = node.float("norm_coefficient", 0.0)?;
    let (alpha, beta) = (node.float("alpha", 0.0)?, node.float("beta", 0.0)?);
    let nesterov = match node.string("mode", "standard")? {
        "standard" => false,
        "nesterov" => true,
        other => {
            let report = node.report(format!("has mode {other:?}"));
            return Err(report.help("standard or nesterov").invalid());
        }
    };
    steps(node, 1, move |b, given| {
        let moment = given.map(b, &given.kept, |calc, [_, step, x, g], kept| {
            let g = regularized(calc, x, g, norm);
            let [zero, one, alpha, beta] = [0.0, 1.0, alpha, beta].map(|own| calc.like(x, own));
            let later = calc.gt(step, zero);
            let beta = calc.select(later, beta, one);
            mixed(calc, [alpha, kept[0]], [beta, g])
        });
        let x = given.map(b, &[&moment], |calc, [rate, _, x, g], kept| {
            let mut way = kept[0];
            if nesterov {
                let (g, alpha) = (regularized(calc, x, g, norm), calc.like(x, alpha));
                let far = calc.mul(alpha, kept[0]);
                way = calc.add(g, far);
            }
            let change = calc.mul(rate, way);
            calc.sub(x, change)
        });
        vec![x, moment]
    })
}
