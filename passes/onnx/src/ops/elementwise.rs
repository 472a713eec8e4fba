//! Operators that calculate each element of the result from elements at the same place.

use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Calc, Num};
use crate::types::ElementType;

/// Plans an elementwise operator over operands that broadcast to each other.
///
/// Numbers that the model fixes become constants of the body.
pub fn elementwise(
    node: &Node<'_>,
    operands: &[&Operand],
    element: ElementType,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, &[Num<'c>]) -> Num<'c> + 'static,
) -> Result<Plan> {
    let dims = node.broadcast(operands.iter().map(|operand| operand.dims()))?;
    let result = node.ty(element, dims)?;
    let literals: Vec<_> = operands
        .iter()
        .map(|operand| operand.literal().map(|value| (operand.element(), value)))
        .collect();
    let tensors = operands.iter().filter(|operand| operand.literal().is_none());
    let operands = tensors.map(|&operand| operand.clone()).collect();
    let dims = result.dims().to_vec();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let args: Vec<_> = args.iter().collect();
        vec![b.map(element, &dims, &args, |calc, given| {
            let mut given = given.iter().copied();
            let numbers: Vec<_> = literals
                .iter()
                .map(|literal| match literal {
                    Some((element, value)) => calc.literal(*element, *value),
                    None => given.next().expect("one argument per operand that is no literal"),
                })
                .collect();
            body(calc, &numbers)
        })]
    }))
}

/// Says how to compute an elementwise plan on known operands, from one scalar of each operand.
pub fn fold_each(
    plan: Plan,
    operands: &[&Operand],
    fold: impl Fn(&[Scalar]) -> Scalar + 'static,
) -> Plan {
    let literals: Vec<_> = operands.iter().map(|operand| operand.literal()).collect();
    let result = plan.results[0].clone();
    plan.folds(move |known| {
        let mut places = known.iter().map(|elements| BroadcastReader::new(elements, result.dims()));
        let places: Vec<_> = literals
            .iter()
            .map(|literal| match literal {
                Some(value) => Err(*value),
                None => Ok(places.next().expect("one operand that is no literal")),
            })
            .collect();
        let scalars = (0..result.elements()).map(|at| {
            let given: Vec<_> = places
                .iter()
                .map(|place| match place {
                    Ok(place) => place.get(at),
                    Err(value) => *value,
                })
                .collect();
            fold(&given)
        });
        vec![Elements::from_scalars(result.clone(), scalars)]
    })
}

/// Reads known elements at the places of a shape they broadcast to.
pub struct BroadcastReader<'e> {
    elements: &'e Elements,
    /// For each dimension of the result, from the last: its extent, and the step in `elements`.
    steps: Vec<(usize, usize)>,
}

impl<'e> BroadcastReader<'e> {
    /// `elements` as seen from the shape `dims`.
    pub fn new(elements: &'e Elements, dims: &[i64]) -> Self {
        let mut own = elements.ty().dims().iter().rev();
        let mut step = 1;
        let steps = dims
            .iter()
            .rev()
            .map(|&extent| {
                let have = own.next().copied().unwrap_or(1) as usize;
                let stride = if have == 1 { 0 } else { step };
                step *= have;
                (extent as usize, stride)
            })
            .collect();
        Self { elements, steps }
    }

    /// The element seen at a row-major position.
    pub fn get(&self, mut at: usize) -> Scalar {
        let mut from = 0;
        for &(extent, step) in &self.steps {
            from += at % extent * step;
            at /= extent;
        }
        self.elements.get(from)
    }
}
