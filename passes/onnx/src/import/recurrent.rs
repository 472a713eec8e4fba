//! RNN, GRU and LSTM of many steps, or of as many as callers decide: a loop for each direction, of one product of the
//! state in each round. What the inputs add is one product before.

use weft_dialects::graph::Dims;
use weft_runtime::length::Length;

use super::{Bound, Planner};
use crate::error::Result;
use crate::node::Node;
use crate::ops::Recurrence;
use crate::plan::ValueId;
use crate::types::TensorType;

/// The most steps that are unrolled: their kernels are scheduled together.
const STEPS_FEW: i64 = 16;

/// A direction that was planned: what it has shown in all steps, and its last states.
struct Way {
    shown: ValueId,
    states: Vec<ValueId>,
}

impl Planner<'_> {
    /// The results of a recurrent node whose steps are repeated; none of another one.
    pub(super) fn recurrent(&mut self, node: &Node<'_>, name: &str) -> Result<Option<Vec<Bound>>> {
        let is_one = ["GRU", "LSTM", "RNN"].contains(&node.op()) && node.opset >= 7;
        if !is_one || self.unrolls {
            return Ok(None);
        }
        let own = Recurrence::of(node)?;
        let (steps, directions) = own.steps();
        if own.length().is_none() && steps <= STEPS_FEW {
            return Ok(None);
        }
        let ways = (0..directions).map(|direction| self.direction(node, name, &own, direction));
        let ways: Vec<_> = ways.collect();
        let shown = ways.iter().map(|way| self.operand(way.shown)).collect();
        let (length, batch) = (own.length().cloned(), own.batch().cloned());
        let kind = node.op();
        let first = node.flag("layout", false)?;
        let all: Dims = match first {
            true => vec![batch.clone(), length, None, None],
            false => vec![length, None, batch.clone(), None],
        };
        let mut results = vec![self.told_step((kind, name), own.all(shown), vec![Some(all)])[0]];
        let last: Dims = if first { vec![batch, None, None] } else { vec![None, batch, None] };
        for state in 0..node.outputs().saturating_sub(1) {
            let states = ways.iter().map(|way| self.operand(way.states[state])).collect();
            let plan = own.last(states);
            results.push(self.told_step((kind, name), plan, vec![Some(last.clone())])[0]);
        }
        Ok(Some(results.into_iter().map(Bound::Tensor).collect()))
    }

    fn direction(&mut self, node: &Node<'_>, name: &str, own: &Recurrence, direction: i64) -> Way {
        let kind = node.op();
        let (steps, _) = own.steps();
        let (length, batch) = (own.length().cloned(), own.batch().cloned());
        let rows: Dims = vec![length.clone(), batch.clone(), None];
        let state: Dims = vec![batch.clone(), None];
        let added = self.told_step((kind, name), own.added(direction), vec![Some(rows)])[0];
        let inits = [false, true].into_iter().take(1 + usize::from(own.has_carry()));
        let inits: Vec<_> = inits
            .map(|carries| {
                let plan = own.start(direction, carries);
                let own = self.told_step((kind, name), plan, vec![Some(state.clone())])[0];
                self.of_its_own(name, own)
            })
            .collect();
        let rounds = length.clone().unwrap_or_else(|| Length::number(steps));
        let mut open = self.open(self.round_name(), Some(rounds.clone()), steps);
        let states: Vec<_> = inits.iter().map(|&id| self.state_of(&mut open, id)).collect();
        let reverse = Some(&rounds).filter(|_| own.is_reverse(direction));
        let at = open.row(reverse);
        let row = self.row_at(name, added, 0, &at);
        let operands: Vec<_> = states.iter().map(|&id| self.operand(id)).collect();
        let plan = own.step(direction, self.operand(row), &operands, at);
        let said = vec![Some(state); plan.results.len()];
        let mut made = self.told_step((kind, name), plan, said);
        let shown = made.pop().expect("a step shows something");
        for (&state, &made) in states.iter().zip(&made) {
            let next = self.written_over(name, state, made);
            open.results.push(next);
        }
        let row = self.operand(shown);
        let ty = TensorType::temporary(row.element(), &[&[steps], row.dims()].concat());
        let mut dims = self.collect_row(&mut open, name, shown, (ty, reverse));
        let mut states = self.close(open, name, false);
        let shown = states.pop().expect("what is shown is a state");
        dims[0] = length;
        self.graph.values[shown.0].dims = dims;
        Way { shown, states }
    }
}
