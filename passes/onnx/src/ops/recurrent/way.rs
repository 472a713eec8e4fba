//! One direction of a recurrent node, in a payload.

use weft_dialects::ir::Linear;

use super::super::linear::{accumulate, zeros};
use super::activation::Activation;
use super::cell::{self, Cell, Kind, State};
use super::{OperandIndices, Shape};
use crate::payload::{Build, Num, Tensor, computed, identity};
use crate::types::ElementType;

/// One direction of a node.
pub struct Way<'w, 'b, 'c> {
    pub b: &'w mut Build<'b, 'c>,
    pub shape: &'w Shape,
    pub args: &'w [Tensor<'c>],
    pub places: &'w OperandIndices,
    pub direction: i64,
    /// True if the last step comes first.
    pub reverse: bool,
}

/// What a direction computes of its gates.
pub struct Gates<'g> {
    pub kind: Kind,
    pub activations: &'g [Activation],
    pub clip: Option<f64>,
}

impl<'c> Way<'_, '_, 'c> {
    /// This direction's rows of a tensor whose first dimension is the direction.
    fn own(&mut self, x: &Tensor<'c>) -> Tensor<'c> {
        let (mut offsets, mut sizes) = (vec![0; x.dims().len()], x.dims().to_vec());
        (offsets[0], sizes[0]) = (self.direction, 1);
        let row = self.b.slice(x, &offsets, &sizes, &vec![1; sizes.len()]);
        let row = self.b.reshape(&row, &sizes[1..]);
        self.b.cast(&row, computed(x.element()))
    }

    /// A state that the node is given, or zeros.
    pub fn state(&mut self, place: Option<usize>, element: ElementType) -> Tensor<'c> {
        let Shape { batch, hidden, batch_first, .. } = *self.shape;
        let Some(place) = place else {
            return zeros(self.b, element, &[batch, hidden]);
        };
        let (mut offsets, mut sizes) = ([0; 3], self.args[place].dims().to_vec());
        let axis = usize::from(batch_first);
        (offsets[axis], sizes[axis]) = (self.direction, 1);
        let row = self.b.slice(&self.args[place], &offsets, &sizes, &[1; 3]);
        let row = self.b.reshape(&row, &[batch, hidden]);
        self.b.cast(&row, element)
    }

    /// The biases of the gates, and apart the one that a reset follows.
    fn biases(&mut self, kind: Kind) -> (Option<Tensor<'c>>, Option<Tensor<'c>>) {
        let Some(place) = self.places.bias else { return (None, None) };
        let both = self.own(&self.args[place]);
        let both = self.b.reshape(&both, &[2, kind.gates() * self.shape.hidden]);
        cell::biases(self.b, kind, &both)
    }

    /// Writes the contribution of inputs and biases to the gates of every step: `[steps, batch,
    /// gates · hidden]`.
    pub fn inputs(&mut self, kind: Kind) -> Tensor<'c> {
        let Shape { steps, batch, input, hidden, batch_first, .. } = *self.shape;
        let rows = kind.gates() * hidden;
        let (bias, _) = self.biases(kind);
        let bias = bias.as_ref();
        let number = computed(self.args[0].element());
        let start = match bias {
            None => self.b.fill(number, &[steps, batch, rows], crate::elements::Scalar::Int(0)),
            Some(bias) => {
                let read = vec![Linear::axis(3, 2)];
                self.b.map_at(number, &[steps, batch, rows], &[(bias, read)], |_, bias| bias[0])
            }
        };
        let w = self.own(&self.args[1]);
        let axis = |at| Linear::axis(4, at);
        let read = if batch_first {
            vec![axis(1), axis(0), axis(3)]
        } else {
            vec![axis(0), axis(1), axis(3)]
        };
        let x = (&self.args[0], read);
        accumulate(self.b, &start, &[input], x, (&w, vec![axis(2), axis(3)]))
    }

    /// The cell, with the weights of this direction: the third argument, a bias and a peephole.
    pub fn cell<'g>(&mut self, Gates { kind, activations, clip }: Gates<'g>) -> Cell<'g, 'c> {
        let (_, last) = self.biases(kind);
        let hidden = self.shape.hidden;
        let peephole = self.places.peephole.map(|place| {
            let peephole = self.own(&self.args[place]);
            self.b.reshape(&peephole, &[3, hidden])
        });
        let recurrence = self.own(&self.args[2]);
        Cell { kind, activations, clip, recurrence, last, peephole }
    }

    /// The state after a step, to whose gates the inputs add `gates`, and what it shows.
    pub fn step(
        &mut self,
        cell: &Cell<'_, 'c>,
        gates: &Tensor<'c>,
        state: &State<'c>,
        at: At<'_, 'c>,
    ) -> (State<'c>, Tensor<'c>) {
        let mut next = cell.step(self.b, gates, state);
        let mut shown = next.hidden.clone();
        if let Some(lengths) = self.places.lengths.map(|place| &self.args[place]) {
            // Behind its end a sequence keeps its state and shows zeros.
            shown = self.until(lengths, at, &next.hidden, None);
            next.hidden = self.until(lengths, at, &next.hidden, Some(&state.hidden));
            let carries = next.carry.as_ref().zip(state.carry.as_ref());
            next.carry = carries.map(|(new, old)| self.until(lengths, at, new, Some(old)));
        }
        (next, shown)
    }

    /// Unrolls the steps and writes their states into what the node makes.
    pub fn unroll(
        mut self,
        Gates { kind, activations, clip }: Gates<'_>,
        number: ElementType,
        made: &mut [Tensor<'c>],
    ) {
        let Shape { steps, batch, hidden, batch_first, .. } = *self.shape;
        let rows = kind.gates() * hidden;
        let added = self.inputs(kind);
        let cell = self.cell(Gates { kind, activations, clip });
        let mut state = State {
            hidden: self.state(self.places.hidden, number),
            carry: kind.has_carry().then(|| self.state(self.places.carry, number)),
        };
        for step in 0..steps {
            let t = if self.reverse { steps - 1 - step } else { step };
            let gates = self.b.slice(&added, &[t, 0, 0], &[1, batch, rows], &[1; 3]);
            let gates = self.b.reshape(&gates, &[batch, rows]);
            let shown;
            (state, shown) = self.step(&cell, &gates, &state, At::Known(t));
            let (dims, offsets) = if batch_first {
                ([batch, 1, 1, hidden], [0, t, self.direction, 0])
            } else {
                ([1, 1, batch, hidden], [t, self.direction, 0, 0])
            };
            let row = self.b.reshape(&shown, &dims);
            made[0] = self.b.insert(&row, &made[0], &offsets, &[1; 4]);
        }
        let ends = [Some(&state.hidden), state.carry.as_ref()];
        for (made, end) in made[1..].iter_mut().zip(ends.into_iter().flatten()) {
            let (dims, offsets) = if batch_first {
                ([batch, 1, hidden], [0, self.direction, 0])
            } else {
                ([1, batch, hidden], [self.direction, 0, 0])
            };
            let row = self.b.reshape(end, &dims);
            *made = self.b.insert(&row, made, &offsets, &[1; 3]);
        }
    }

    /// `new` while a sequence goes on at a step, then `old`, or zeros.
    fn until(
        &mut self,
        lengths: &Tensor<'c>,
        at: At<'_, 'c>,
        new: &Tensor<'c>,
        old: Option<&Tensor<'c>>,
    ) -> Tensor<'c> {
        let mut inputs = vec![(new, identity(2)), (lengths, vec![Linear::axis(2, 0)])];
        if let At::Asked(t) = at {
            inputs.push((t, vec![]));
        }
        let first = inputs.len();
        inputs.extend(old.map(|old| (old, identity(2))));
        self.b.map_at(new.element(), new.dims(), &inputs, |calc, given| {
            let goes_on = match at {
                At::Known(t) => {
                    let t = calc.int_like(given[1], t.into());
                    calc.lt(t, given[1])
                }
                At::Asked(_) => {
                    let length: Num<'c> = calc.cast(given[1], ElementType::I64);
                    calc.lt(given[2], length)
                }
            };
            let after = given.get(first).copied().unwrap_or_else(|| calc.like(given[0], 0.0));
            calc.select(goes_on, given[0], after)
        })
    }
}

/// Which step it is.
#[derive(Clone, Copy)]
pub enum At<'t, 'c> {
    /// By its number.
    Known(i64),
    /// By a number that is calculated in a run, a scalar of 64 bits.
    Asked(&'t Tensor<'c>),
}
