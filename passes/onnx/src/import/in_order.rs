//! Reshapes of what does not lie one behind the other in a run.
//!
//! ```text
//! [batch, seq, 64] -> [batch * seq, 64]      rows of a batch are as far apart as the greatest length of `seq` says
//! ```
//!
//! Where elements stay where they are a reshape is a view; here each is looked up where it lies.

use weft_dialects::graph::Dims;
use weft_runtime::length::Length;

use super::Planner;
use crate::node::{Node, Plan};
use crate::ops::shape::in_order;
use crate::plan::{Operand, ValueId};

impl Planner<'_> {
    /// The result of a Reshape or a Flatten whose elements do not stay where they are; `None` of another node, and
    /// where its lengths are not known.
    pub(super) fn in_order(&mut self, node: &Node<'_>, name: &str, plan: &Plan) -> Option<ValueId> {
        let x = node.optional(0)?;
        let dims = plan.results.first()?.dims();
        let own: Vec<Length> = (0..x.rank()).map(|d| x.count(d)).collect();
        let lengths = match node.op() {
            "Flatten" => {
                let axis = node.int("axis").ok()?.unwrap_or(1);
                let axis = if axis < 0 { axis + x.rank() as i64 } else { axis } as usize;
                let (rows, columns) = own.split_at(axis);
                vec![product(rows), product(columns)]
            }
            "Reshape" => self.asked_for(node, (x, &own), dims)?,
            _ => return None,
        };
        let fits = |(length, &extent): (&Length, &i64)| {
            let range = self.graph.symbols.range(length);
            range.is_some_and(|[least, most]| least >= 0 && most <= extent)
        };
        let same = product(&lengths) == product(&own);
        if !same || !lengths.iter().zip(dims).all(fits) {
            return None;
        }
        let fixed = |length: &Length| length.as_number().is_none().then(|| length.clone());
        let said: Dims = lengths.iter().map(fixed).collect();
        let plan = in_order(x, dims, &said);
        Some(self.told_step((node.op(), name), plan, vec![Some(said)])[0])
    }

    /// The lengths that a Reshape asks for, of a tensor with those of `own`.
    fn asked_for(
        &self,
        node: &Node<'_>,
        (x, own): (&Operand, &[Length]),
        dims: &[i64],
    ) -> Option<Vec<Length>> {
        let shape = node.optional(1)?;
        let numbers = self.graph.values[shape.id.0].numbers.clone();
        let known =
            || Some(shape.known.as_ref()?.ints()?.into_iter().map(Length::number).collect());
        let mut asked: Vec<Length> = numbers.or_else(known)?;
        let zero_is_zero = node.int("allowzero").ok()?.unwrap_or(0) != 0;
        let mut open = None;
        for (at, length) in asked.iter_mut().enumerate() {
            match length.as_number() {
                Some(0) if !zero_is_zero => *length = own.get(at)?.clone(),
                Some(-1) => open = Some(at),
                _ => {}
            }
        }
        if let Some(at) = open {
            let others: Vec<_> = asked
                .iter()
                .enumerate()
                .filter(|(own, _)| *own != at)
                .map(|own| own.1.clone())
                .collect();
            asked[at] = rest(x, own, &product(&others), dims[at])?;
        }
        Some(asked)
    }
}

fn product(lengths: &[Length]) -> Length {
    lengths.iter().fold(Length::number(1), |all, length| all.times(length))
}

/// The length of `extent` at most by which `others` are all elements of a tensor: some of its lengths, and a number.
fn rest(x: &Operand, own: &[Length], others: &Length, extent: i64) -> Option<Length> {
    const MOST: usize = 6;
    let limited: Vec<usize> = (0..x.rank()).filter(|&d| x.length(d).is_some()).take(MOST).collect();
    let all = product(own);
    (0..1usize << limited.len()).find_map(|chosen| {
        let dims =
            limited.iter().enumerate().filter(|(at, _)| chosen & 1 << at != 0).map(|own| *own.1);
        let (length, most) = dims.fold((Length::number(1), 1), |(length, most), d| {
            (length.times(&own[d]), most * x.dims()[d])
        });
        let times = extent.checked_div(most).filter(|times| times * most == extent)?;
        let length = length.times(&Length::number(times));
        (length.times(others) == all).then_some(length)
    })
}
