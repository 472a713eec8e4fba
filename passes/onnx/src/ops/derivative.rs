//! Derivatives of operators by their inputs, for `Gradient`.

use weft_dialects::ir::Linear;

use super::linear::{accumulate, zeros};
use super::reduce::fold_axes;
use crate::elements::Scalar;
use crate::node::Plan;
use crate::payload::{Calc, Num, computed};
use crate::plan::Operand;
use crate::types::TensorType;

/// A tensor that a derivative is calculated from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The derivative by the result.
    Outer,
    /// The result.
    Result,
    /// The input of this number.
    Input(usize),
}

use Source::{Input, Outer, Result};

/// Calculates an element from those of the sources.
type Element = for<'c> fn(&mut Calc<'_, 'c>, &[Num<'c>]) -> Num<'c>;

/// The derivative by one input.
#[derive(Clone, Copy)]
enum Part {
    /// Element by element.
    Each(&'static [Source], Element),
    /// `dy · bᵀ` of a product `y = a · b`.
    Left,
    /// `aᵀ · dy`.
    Right,
}

/// The derivatives of an operator.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it has derivatives for.
    pub accepts: &'static str,
    parts: &'static [Part],
}

const fn rule(name: &'static str, parts: &'static [Part]) -> Rule {
    Rule { name, accepts: "inputs of floats", parts }
}

const OUTER: Part = Part::Each(&[Outer], |_, x| x[0]);

const RULES: &[Rule] = &[
    rule("Add", &[OUTER, OUTER]),
    rule(
        "Div",
        &[
            Part::Each(&[Outer, Input(1)], |calc, x| calc.div(x[0], x[1])),
            Part::Each(&[Outer, Result, Input(1)], |calc, x| {
                let product = calc.mul(x[0], x[1]);
                let quotient = calc.div(product, x[2]);
                calc.neg(quotient)
            }),
        ],
    ),
    rule("Exp", &[Part::Each(&[Outer, Result], |calc, x| calc.mul(x[0], x[1]))]),
    rule("Identity", &[OUTER]),
    rule("Log", &[Part::Each(&[Outer, Input(0)], |calc, x| calc.div(x[0], x[1]))]),
    Rule {
        name: "MatMul",
        accepts: "products of two matrices, without a batch",
        parts: &[Part::Left, Part::Right],
    },
    rule(
        "Mul",
        &[
            Part::Each(&[Outer, Input(1)], |calc, x| calc.mul(x[0], x[1])),
            Part::Each(&[Outer, Input(0)], |calc, x| calc.mul(x[0], x[1])),
        ],
    ),
    rule("Neg", &[Part::Each(&[Outer], |calc, x| calc.neg(x[0]))]),
    rule(
        "Relu",
        &[Part::Each(&[Outer, Result], |calc, x| {
            let zero = calc.like(x[0], 0.0);
            let more = calc.gt(x[1], zero);
            calc.select(more, x[0], zero)
        })],
    ),
    rule(
        "Sigmoid",
        &[Part::Each(&[Outer, Result], |calc, x| {
            let one = calc.like(x[1], 1.0);
            let rest = calc.sub(one, x[1]);
            let slope = calc.mul(x[1], rest);
            calc.mul(x[0], slope)
        })],
    ),
    rule(
        "Sqrt",
        &[Part::Each(&[Outer, Result], |calc, x| {
            let double = calc.add(x[1], x[1]);
            calc.div(x[0], double)
        })],
    ),
    rule("Sub", &[OUTER, Part::Each(&[Outer], |calc, x| calc.neg(x[0]))]),
    rule(
        "Tanh",
        &[Part::Each(&[Outer, Result], |calc, x| {
            let (one, square) = (calc.like(x[1], 1.0), calc.mul(x[1], x[1]));
            let slope = calc.sub(one, square);
            calc.mul(x[0], slope)
        })],
    ),
];

/// The derivatives of the operator of this name.
pub fn of(operator: &str) -> Option<Rule> {
    RULES.iter().find(|rule| rule.name == operator).copied()
}

/// The operators that have some.
pub fn known() -> String {
    RULES.iter().map(|rule| rule.name).collect::<Vec<_>>().join(", ")
}

impl Rule {
    /// Plans what an operator adds to the derivative by its input `at`; it has the shape of the result
    /// where the input was extended to that. `None` where that is not known.
    pub fn plan(self, at: usize, operand: impl Fn(Source) -> Option<Operand>) -> Option<Plan> {
        let part = *self.parts.get(at)?;
        match part {
            Part::Each(sources, element) => {
                let read = sources.iter().map(|&source| operand(source));
                let read = read.collect::<Option<Vec<_>>>()?;
                Some(each(read, element))
            }
            Part::Left => product(operand(Outer)?, operand(Input(1))?, [[0, 2], [1, 2]]),
            Part::Right => product(operand(Input(0))?, operand(Outer)?, [[2, 0], [2, 1]]),
        }
    }
}

/// Element by element, in the shape of the first one.
fn each(read: Vec<Operand>, element: Element) -> Plan {
    let ty = read[0].ty.clone();
    Plan::new(read, vec![ty.clone()], move |b, args| {
        let read: Vec<_> = args.iter().collect();
        vec![b.map(ty.element(), ty.dims(), &read, element)]
    })
}

/// A product of matrices, whose elements lie at these of its axes: rows, columns and what is summed.
fn product(x: Operand, y: Operand, axes: [[usize; 2]; 2]) -> Option<Plan> {
    if x.rank() != 2 || y.rank() != 2 {
        return None;
    }
    let extent = |axis: usize| {
        let own = |(operand, axes): (&Operand, &[usize; 2])| {
            let dim = axes.iter().position(|own| *own == axis)?;
            Some(operand.dims()[dim])
        };
        [(&x, &axes[0]), (&y, &axes[1])].into_iter().find_map(own)
    };
    let [rows, columns, summed] = [extent(0)?, extent(1)?, extent(2)?];
    let ty = TensorType::temporary(x.element(), &[rows, columns]);
    Some(Plan::new(vec![x, y], vec![ty.clone()], move |b, args| {
        let read = axes.map(|axes| axes.map(|axis| Linear::axis(3, axis)).to_vec());
        let [left, right] = read;
        let start = zeros(b, ty.element(), ty.dims());
        let sum = accumulate(b, &start, &[summed], (&args[0], left), (&args[1], right));
        vec![b.cast(&sum, ty.element())]
    }))
}

/// Plans the sum of two tensors of one type.
pub fn sum(both: [Operand; 2]) -> Plan {
    each(both.to_vec(), |calc, x| calc.add(x[0], x[1]))
}

/// Plans the sum of a tensor over the dimensions along which one of type `to` was extended to it.
pub fn summed(x: Operand, to: TensorType) -> Plan {
    let lead = x.rank() - to.rank();
    let extended = |&dim: &usize| dim < lead || to.dims()[dim - lead] != x.dims()[dim];
    let axes: Vec<usize> = (0..x.rank()).filter(extended).collect();
    let element = x.element();
    Plan::new(vec![x], vec![to.clone()], move |b, args| {
        let zero = (computed(element), Scalar::Int(0));
        let sum = fold_axes(b, &args[0], &axes, &[], zero, |calc, x, sum| calc.add(sum, x[0]));
        let sum = b.cast(&sum, element);
        vec![b.reshape(&sum, to.dims())]
    })
}
