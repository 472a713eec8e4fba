//! One step of a recurrent cell.

use weft_dialects::ir::Linear;

use super::super::linear::accumulate;
use super::activation::Activation;
use crate::payload::{Build, Tensor, identity};

/// Which cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One gate.
    Rnn,
    /// Update, reset and hidden; `linear`: the state is multiplied before it is reset.
    Gru { linear: bool },
    /// Input, output, forget and cell; `coupled`: what is forgotten is what is not let in.
    Lstm { coupled: bool },
}

impl Kind {
    /// The number of gates.
    pub fn gates(self) -> i64 {
        match self {
            Self::Rnn => 1,
            Self::Gru { .. } => 3,
            Self::Lstm { .. } => 4,
        }
    }

    /// True where a step hands on more than what it shows.
    pub fn has_carry(self) -> bool {
        matches!(self, Self::Lstm { .. })
    }

    /// The functions of a cell that names none.
    pub fn activations(self) -> &'static [Activation] {
        use Activation::{Sigmoid, Tanh};
        match self {
            Self::Rnn => &[Tanh],
            Self::Gru { .. } => &[Sigmoid, Tanh],
            Self::Lstm { .. } => &[Sigmoid, Tanh, Tanh],
        }
    }
}

/// The state that a step hands to the next: `[batch, hidden]` each.
pub struct State<'c> {
    pub hidden: Tensor<'c>,
    pub carry: Option<Tensor<'c>>,
}

/// A cell with its weights.
pub struct Cell<'a, 'c> {
    pub kind: Kind,
    pub activations: &'a [Activation],
    pub clip: Option<f64>,
    /// `[gates · hidden, hidden]`.
    pub recurrence: Tensor<'c>,
    /// The bias that is added before the reset, `[hidden]`.
    pub last: Option<Tensor<'c>>,
    /// `[3, hidden]`.
    pub peephole: Option<Tensor<'c>>,
}

/// The bias of every gate, `[gates · hidden]`, and apart the one that a reset follows, `[hidden]`;
/// `both` is `[2, gates · hidden]`.
pub fn biases<'c>(
    b: &mut Build<'_, 'c>,
    kind: Kind,
    both: &Tensor<'c>,
) -> (Option<Tensor<'c>>, Option<Tensor<'c>>) {
    let rows = both.dims()[1];
    let hidden = rows / kind.gates();
    let row = |at| vec![Linear::constant(1, at), Linear::axis(1, 0)];
    let inputs = [(both, row(0)), (both, row(1))];
    let apart = kind == Kind::Gru { linear: true };
    let sum = b.map_at(both.element(), &[rows], &inputs, |calc, given| {
        let sum = calc.add(given[0], given[1]);
        if !apart {
            return sum;
        }
        let (at, first) = (calc.index(0), calc.at(rows - hidden));
        let last = calc.ge(at, first);
        calc.select(last, given[0], sum)
    });
    let last = apart.then(|| {
        let last = b.slice(both, &[1, rows - hidden], &[1, hidden], &[1; 2]);
        b.reshape(&last, &[hidden])
    });
    (Some(sum), last)
}

impl<'c> Cell<'_, 'c> {
    /// `start + state · weightsᵀ`, for the gates from `first` on.
    fn product(
        &self,
        b: &mut Build<'_, 'c>,
        start: &Tensor<'c>,
        state: &Tensor<'c>,
        first: i64,
    ) -> Tensor<'c> {
        let (rows, hidden) = (start.dims()[1], state.dims()[1]);
        let weights = b.slice(&self.recurrence, &[first * hidden, 0], &[rows, hidden], &[1; 2]);
        let at = |first, second| vec![Linear::axis(3, first), Linear::axis(3, second)];
        accumulate(b, start, &[hidden], (state, at(0, 2)), (&weights, at(1, 2)))
    }

    /// The state after a step, to whose gates the inputs add `added`, `[batch, gates · hidden]`.
    pub fn step(&self, b: &mut Build<'_, 'c>, added: &Tensor<'c>, state: &State<'c>) -> State<'c> {
        match self.kind {
            Kind::Rnn => {
                let sum = self.product(b, added, &state.hidden, 0);
                let hidden = b.map(sum.element(), sum.dims(), &[&sum], |calc, x| {
                    self.activations[0].of(calc, x[0], self.clip)
                });
                State { hidden, carry: None }
            }
            Kind::Gru { linear } => self.gru(b, added, &state.hidden, linear),
            Kind::Lstm { coupled } => {
                let carry = state.carry.as_ref().expect("an LSTM has a carry");
                self.lstm(b, added, &state.hidden, carry, coupled)
            }
        }
    }

    fn gru(
        &self,
        b: &mut Build<'_, 'c>,
        added: &Tensor<'c>,
        old: &Tensor<'c>,
        linear: bool,
    ) -> State<'c> {
        let &[batch, hidden] = old.dims() else { unreachable!("a state is a matrix") };
        let (f, g, clip) = (self.activations[0], self.activations[1], self.clip);
        let first = b.slice(added, &[0, 0], &[batch, 2 * hidden], &[1; 2]);
        let sums = self.product(b, &first, old, 0);
        let gates = b.map(sums.element(), sums.dims(), &[&sums], |calc, x| f.of(calc, x[0], clip));
        let update = b.slice(&gates, &[0, 0], &[batch, hidden], &[1; 2]);
        let reset = b.slice(&gates, &[0, hidden], &[batch, hidden], &[1; 2]);
        let last = b.slice(added, &[0, 2 * hidden], &[batch, hidden], &[1; 2]);
        let (number, dims) = (old.element(), [batch, hidden]);
        let sum = if linear {
            let start = match &self.last {
                None => b.fill(number, &dims, crate::elements::Scalar::Int(0)),
                Some(bias) => b.map(number, &dims, &[bias], |_, bias| bias[0]),
            };
            let product = self.product(b, &start, old, 2);
            b.map(number, &dims, &[&product, &reset, &last], |calc, x| {
                let reset = calc.mul(x[0], x[1]);
                calc.add(x[2], reset)
            })
        } else {
            let left = b.map(number, &dims, &[old, &reset], |calc, x| calc.mul(x[0], x[1]));
            self.product(b, &last, &left, 2)
        };
        let hidden = b.map(number, &dims, &[&sum, &update, old], |calc, x| {
            let one = calc.like(x[1], 1.0);
            let (new, keep) = (g.of(calc, x[0], clip), calc.sub(one, x[1]));
            let (new, old) = (calc.mul(keep, new), calc.mul(x[1], x[2]));
            calc.add(new, old)
        });
        State { hidden, carry: None }
    }

    fn lstm(
        &self,
        b: &mut Build<'_, 'c>,
        added: &Tensor<'c>,
        old: &Tensor<'c>,
        carry: &Tensor<'c>,
        coupled: bool,
    ) -> State<'c> {
        let &[batch, hidden] = old.dims() else { unreachable!("a state is a matrix") };
        let (f, g, h) = (self.activations[0], self.activations[1], self.activations[2]);
        let clip = self.clip;
        let sums = self.product(b, added, old, 0);
        let sums = b.reshape(&sums, &[batch, 4, hidden]);
        let (number, dims) = (old.element(), [batch, hidden]);
        let gate = |at| vec![Linear::axis(2, 0), Linear::constant(2, at), Linear::axis(2, 1)];
        let view = |at| vec![Linear::constant(2, at), Linear::axis(2, 1)];
        // Gates in the order of the weights: input, output, forget, cell.
        let mut inputs =
            vec![(&sums, gate(0)), (&sums, gate(2)), (&sums, gate(3)), (carry, identity(2))];
        if let Some(peephole) = &self.peephole {
            inputs.extend([(peephole, view(0)), (peephole, view(2))]);
        }
        let new = b.map_at(number, &dims, &inputs, |calc, x| {
            let (mut input, mut forget) = (x[0], x[1]);
            if let [input_view, forget_view] = x[4..] {
                let (seen, kept) = (calc.mul(input_view, x[3]), calc.mul(forget_view, x[3]));
                (input, forget) = (calc.add(input, seen), calc.add(forget, kept));
            }
            let input = f.of(calc, input, clip);
            let forget = if coupled {
                let one = calc.like(input, 1.0);
                calc.sub(one, input)
            } else {
                f.of(calc, forget, clip)
            };
            let candidate = g.of(calc, x[2], clip);
            let (kept, taken) = (calc.mul(forget, x[3]), calc.mul(input, candidate));
            calc.add(kept, taken)
        });
        let mut inputs = vec![(&sums, gate(1)), (&new, identity(2))];
        inputs.extend(self.peephole.as_ref().map(|peephole| (peephole, view(1))));
        let hidden = b.map_at(number, &dims, &inputs, |calc, x| {
            let mut output = x[0];
            if let Some(&view) = x.get(2) {
                let seen = calc.mul(view, x[1]);
                output = calc.add(output, seen);
            }
            let (output, shown) = (f.of(calc, output, clip), h.of(calc, x[1], None));
            calc.mul(output, shown)
        });
        State { hidden, carry: Some(new) }
    }
}
