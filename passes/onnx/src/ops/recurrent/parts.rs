//! The parts of a recurrent node whose steps are a loop, each a plan of its own.

use weft_dialects::ir::Linear;
use weft_runtime::length::Length;

use super::cell::State;
use super::way::{At, Gates, Way};
use super::{OperandIndices, Recurrence, Shape};
use crate::payload::computed;
use crate::plan::{Operand, Plan};
use crate::types::{ElementType, TensorType};

impl Recurrence {
    /// Number of steps, at most; and of directions.
    pub fn steps(&self) -> (i64, i64) {
        (self.shape.steps, self.shape.directions)
    }

    /// How many steps there are in a run, where callers decide that.
    pub fn length(&self) -> Option<&Length> {
        self.operands[0].length(usize::from(self.shape.batch_first))
    }

    /// How many sequences there are in a run, where callers decide that.
    pub fn batch(&self) -> Option<&Length> {
        self.operands[0].length(usize::from(!self.shape.batch_first))
    }

    /// Whether a direction goes from the last step to the first.
    pub fn is_reverse(&self, direction: i64) -> bool {
        self.backward || direction == 1
    }

    /// Whether a step hands on more than what it shows.
    pub fn has_carry(&self) -> bool {
        self.kind.has_carry()
    }

    /// The type that states have: `[batch, hidden]`.
    fn state_type(&self) -> TensorType {
        let Shape { batch, hidden, .. } = self.shape;
        TensorType::temporary(self.number(), &[batch, hidden])
    }

    fn number(&self) -> ElementType {
        computed(self.operands[0].element())
    }

    fn operand(&self, place: Option<usize>) -> Option<&Operand> {
        place.map(|place| &self.operands[place])
    }

    /// What the inputs add to the gates of every step: `[steps, batch, gates · hidden]`.
    pub fn added(&self, direction: i64) -> Plan {
        let Shape { steps, batch, hidden, .. } = self.shape;
        let kind = self.kind;
        let mut operands = vec![self.operands[0].clone(), self.operands[1].clone()];
        let bias = self.operand(self.places.bias);
        let places =
            OperandIndices { bias: bias.map(|_| operands.len()), ..OperandIndices::default() };
        operands.extend(bias.cloned());
        let ty = TensorType::temporary(self.number(), &[steps, batch, kind.gates() * hidden]);
        let (shape, reverse) = (self.shape.clone(), false);
        Plan::new(operands, vec![ty], move |b, args| {
            let mut way = Way { b, shape: &shape, args, places: &places, direction, reverse };
            vec![way.inputs(kind)]
        })
    }

    /// What the states of a direction begin as: what it shows, or what it carries beside.
    pub fn start(&self, direction: i64, carries: bool) -> Plan {
        let place = if carries { self.places.carry } else { self.places.hidden };
        let given = self.operand(place).cloned();
        let (shape, number, places) =
            (self.shape.clone(), self.number(), OperandIndices::default());
        let place = given.as_ref().map(|_| 0);
        Plan::new(given.into_iter().collect(), vec![self.state_type()], move |b, args| {
            let reverse = false;
            let mut way = Way { b, shape: &shape, args, places: &places, direction, reverse };
            vec![way.state(place, number)]
        })
    }

    /// One step, number `at`: from what the inputs add to its gates, `[batch, gates · hidden]`, and states, the next
    /// states and what it shows.
    pub fn step(&self, direction: i64, added: Operand, states: &[Operand], at: Length) -> Plan {
        let (kind, clip, shape) = (self.kind, self.clip, self.shape.clone());
        let activations = self.activations[direction as usize].clone();
        // The third one is what the state is multiplied with.
        let mut operands = vec![added, states[0].clone(), self.operands[2].clone()];
        let mut place = |operand: Option<&Operand>| {
            operand.map(|operand| {
                operands.push(operand.clone());
                operands.len() - 1
            })
        };
        let carry = place(states.get(1));
        let places = OperandIndices {
            bias: place(self.operand(self.places.bias)),
            lengths: place(self.operand(self.places.lengths)),
            peephole: place(self.operand(self.places.peephole)),
            ..OperandIndices::default()
        };
        let asks = places.lengths.map(|_| at);
        let (count, asked) = (operands.len(), asks.is_some());
        let results = vec![self.state_type(); 2 + usize::from(carry.is_some())];
        let plan = Plan::new(operands, results, move |b, args| {
            let reverse = false;
            let mut way = Way { b, shape: &shape, args, places: &places, direction, reverse };
            let cell = way.cell(Gates { kind, activations: &activations, clip });
            let carry = carry.map(|carry| args[carry].clone());
            let state = State { hidden: args[1].clone(), carry };
            // Where no sequence ends before others, nobody asks.
            let at = if asked { At::Asked(&args[count]) } else { At::Known(0) };
            let (next, shown) = way.step(&cell, &args[0], &state, at);
            [Some(next.hidden), next.carry, Some(shown)].into_iter().flatten().collect()
        });
        plan.asking(asks)
    }

    /// All that the directions have shown, `[steps, batch, hidden]` each, as the node gives it.
    pub fn all(&self, shown: Vec<Operand>) -> Plan {
        let (batch_first, ty) = (self.shape.batch_first, self.results[0].clone());
        let Shape { steps, batch, hidden, .. } = self.shape;
        Plan::new(shown, vec![ty.clone()], move |b, args| {
            let element = computed(ty.element());
            let mut all = b.empty(element, ty.dims());
            for (direction, shown) in args.iter().enumerate() {
                let direction = direction as i64;
                let (rows, offsets) = match batch_first {
                    true => {
                        let turned = [1, 0, 2].map(|axis| Linear::axis(3, axis)).to_vec();
                        let dims = [batch, steps, hidden];
                        let turned = b.move_at(element, &dims, &[(shown, turned)], |_, x| x[0]);
                        (b.reshape(&turned, &[batch, steps, 1, hidden]), [0, 0, direction, 0])
                    }
                    false => (b.reshape(shown, &[steps, 1, batch, hidden]), [0, direction, 0, 0]),
                };
                all = b.insert(&rows, &all, &offsets, &[1; 4]);
            }
            vec![b.cast(&all, ty.element())]
        })
    }

    /// The last states of all directions, `[batch, hidden]` each, as the node gives them.
    pub fn last(&self, states: Vec<Operand>) -> Plan {
        let (batch_first, element) = (self.shape.batch_first, self.operands[0].element());
        let Shape { batch, hidden, directions, .. } = self.shape;
        let dims =
            if batch_first { [batch, directions, hidden] } else { [directions, batch, hidden] };
        let ty = TensorType::temporary(element, &dims);
        Plan::new(states, vec![ty], move |b, args| {
            let mut all = b.empty(computed(element), &dims);
            for (direction, state) in args.iter().enumerate() {
                let direction = direction as i64;
                let (row, offsets) = match batch_first {
                    true => (b.reshape(state, &[batch, 1, hidden]), [0, direction, 0]),
                    false => (b.reshape(state, &[1, batch, hidden]), [direction, 0, 0]),
                };
                all = b.insert(&row, &all, &offsets, &[1; 3]);
            }
            vec![b.cast(&all, element)]
        })
    }
}
