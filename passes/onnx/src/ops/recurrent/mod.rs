//! RNN, GRU and LSTM, unrolled: the number of steps is known, so each step is nests of its own.
//!
//! The contribution of the inputs to the gates is one product for all steps; a step multiplies the
//! state.

mod activation;
mod cell;

use weft_dialects::ir::Linear;

use self::activation::{Activation, of_directions};
use self::cell::{Cell, Kind, State};
use super::linear::{accumulate, zeros};
use super::{Operator, op};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op(
        "GRU",
        7,
        6,
        &[
            "activation_alpha",
            "activation_beta",
            "activations",
            "clip",
            "direction",
            "hidden_size",
            "layout",
            "linear_before_reset",
        ],
        |node| recurrent(node, Kind::Gru { linear: node.flag("linear_before_reset", false)? }),
    )
    .at_least(3)
    .up_to(2),
    op(
        "LSTM",
        7,
        8,
        &[
            "activation_alpha",
            "activation_beta",
            "activations",
            "clip",
            "direction",
            "hidden_size",
            "input_forget",
            "layout",
        ],
        |node| recurrent(node, Kind::Lstm { coupled: node.flag("input_forget", false)? }),
    )
    .at_least(3)
    .up_to(3),
    op(
        "RNN",
        7,
        6,
        &[
            "activation_alpha",
            "activation_beta",
            "activations",
            "clip",
            "direction",
            "hidden_size",
            "layout",
        ],
        |node| recurrent(node, Kind::Rnn),
    )
    .at_least(3)
    .up_to(2),
];

/// The most steps that are unrolled, over all directions.
const STEPS_MAX: i64 = 1 << 12;

/// The indices of operands among the payload's arguments.
#[derive(Default)]
struct OperandIndices {
    bias: Option<usize>,
    lengths: Option<usize>,
    hidden: Option<usize>,
    carry: Option<usize>,
    peephole: Option<usize>,
}

struct Shape {
    steps: i64,
    batch: i64,
    input: i64,
    hidden: i64,
    directions: i64,
    /// The batch comes before the steps.
    batch_first: bool,
}

fn shape(node: &Node<'_>, kind: Kind) -> Result<Shape> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let (w, r) = (node.input(1, "W")?, node.input(2, "R")?);
    let batch_first = node.flag("layout", false)?;
    let (&[first, second, input], &[directions, ..], &[_, _, hidden]) =
        (x.dims(), w.dims(), r.dims())
    else {
        return Err(node
            .report(format!("reads {}, {} and {}", x.ty, w.ty, r.ty))
            .help("three dimensions each: steps, batch and inputs; directions, gates and inputs; directions, gates and hidden")
            .invalid());
    };
    let (steps, batch) = if batch_first { (second, first) } else { (first, second) };
    let shape = Shape { steps, batch, input, hidden, directions, batch_first };
    let declared = node.int("hidden_size")?.unwrap_or(hidden);
    let way = node.string("direction", "forward")?;
    let wanted = match way {
        "forward" | "reverse" => 1,
        "bidirectional" => 2,
        other => {
            return Err(node
                .report(format!("has direction {other:?}"))
                .help("forward, reverse or bidirectional")
                .invalid());
        }
    };
    if directions != wanted || declared != hidden {
        return Err(node
            .report(format!("has weights of {directions} directions and {hidden} hidden numbers"))
            .note(format!("its direction is {way}, its hidden_size {declared}"))
            .invalid());
    }
    if [steps, batch, input, hidden].contains(&0) {
        return Err(node.report(format!("steps over {}", x.ty)).help("no empty axis").invalid());
    }
    if steps.saturating_mul(directions) > STEPS_MAX {
        return Err(node
            .report(format!("takes {steps} steps in {directions} directions"))
            .help(format!("at most {STEPS_MAX} in all, for they are unrolled"))
            .unsupported());
    }
    // So that no product below overflows: what a weight has, can be counted.
    let gates = kind.gates().checked_mul(hidden).unwrap_or(-1);
    for (at, name, dims) in
        [(1, "W", vec![directions, gates, input]), (2, "R", vec![directions, gates, hidden])]
    {
        expect(node, x, at, name, &dims)?;
    }
    Ok(shape)
}

/// Fails unless an operand has a shape and the element type of `x`.
fn expect(node: &Node<'_>, x: &Operand, at: usize, name: &str, dims: &[i64]) -> Result<()> {
    let operand = node.input(at, name)?;
    node.expect_same_element(x, operand)?;
    if operand.dims() == dims {
        return Ok(());
    }
    Err(node
        .report(format!("reads {name:?} as {}", operand.ty))
        .help(crate::types::Shape(dims).to_string())
        .invalid())
}

fn recurrent(node: &Node<'_>, kind: Kind) -> Result<Plan> {
    let shape = shape(node, kind)?;
    let x = node.input(0, "X")?;
    let Shape { steps, batch, hidden, directions, batch_first, .. } = shape;
    let gates = kind.gates();
    let state = if batch_first { [batch, directions, hidden] } else { [directions, batch, hidden] };
    let mut operands = vec![x.clone(), node.input(1, "W")?.clone(), node.input(2, "R")?.clone()];
    let mut places = OperandIndices::default();
    let optional: [(_, _, &mut Option<usize>, Vec<i64>); 4] = [
        (3, "B", &mut places.bias, vec![directions, 2 * gates * hidden]),
        (5, "initial_h", &mut places.hidden, state.to_vec()),
        (6, "initial_c", &mut places.carry, state.to_vec()),
        (7, "P", &mut places.peephole, vec![directions, 3 * hidden]),
    ];
    for (at, name, place, dims) in optional {
        if let Some(operand) = node.optional(at) {
            expect(node, x, at, name, &dims)?;
            *place = Some(operands.len());
            operands.push(operand.clone());
        }
    }
    if let Some(lengths) = node.optional(4) {
        node.expect_element(lengths, "sequence_lens", &[ElementType::I32])?;
        if lengths.dims() != [batch] {
            return Err(node
                .report(format!("reads \"sequence_lens\" as {}", lengths.ty))
                .help(format!("one number for each of the {batch} sequences"))
                .invalid());
        }
        places.lengths = Some(operands.len());
        operands.push(lengths.clone());
    }
    let default = kind.activations();
    let activations = of_directions(node, directions as usize, default)?;
    let clip = Some(node.float("clip", -1.0)?).filter(|&clip| clip >= 0.0);
    let element = x.element();
    let all = if batch_first {
        vec![batch, steps, directions, hidden]
    } else {
        vec![steps, directions, batch, hidden]
    };
    node.ty(computed(element), vec![steps, batch, gates * hidden])?;
    let mut results = vec![node.ty(element, all)?];
    for _ in 1..node.outputs() {
        results.push(node.ty(element, state.to_vec())?);
    }
    let backward = node.string("direction", "forward")? == "reverse";
    let types = results.clone();
    Ok(Plan::new(operands, results, move |b, args| {
        let number = computed(element);
        // Every element is written by some step.
        let mut made: Vec<_> = types.iter().map(|ty| b.empty(number, ty.dims())).collect();
        for direction in 0..directions {
            let reverse = backward || direction == 1;
            let way = Way { b: &mut *b, shape: &shape, args, places: &places, direction, reverse };
            let activations = &activations[direction as usize];
            way.unroll(Gates { kind, activations, clip }, number, &mut made);
        }
        made.iter().map(|tensor| b.cast(tensor, element)).collect()
    }))
}

/// One direction of a node.
struct Way<'w, 'b, 'c> {
    b: &'w mut Build<'b, 'c>,
    shape: &'w Shape,
    args: &'w [Tensor<'c>],
    places: &'w OperandIndices,
    direction: i64,
    /// True if the last step comes first.
    reverse: bool,
}

/// What a direction computes of its gates.
struct Gates<'g> {
    kind: Kind,
    activations: &'g [Activation],
    clip: Option<f64>,
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
    fn state(&mut self, place: Option<usize>, element: ElementType) -> Tensor<'c> {
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

    /// Writes the contribution of inputs and biases to the gates of every step: `[steps, batch,
    /// gates · hidden]`.
    fn inputs(&mut self, kind: Kind, bias: Option<&Tensor<'c>>) -> Tensor<'c> {
        let Shape { steps, batch, input, hidden, batch_first, .. } = *self.shape;
        let rows = kind.gates() * hidden;
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

    /// Unrolls the steps and writes their states into what the node makes.
    fn unroll(
        mut self,
        Gates { kind, activations, clip }: Gates<'_>,
        number: ElementType,
        made: &mut [Tensor<'c>],
    ) {
        let Shape { steps, batch, hidden, batch_first, .. } = *self.shape;
        let rows = kind.gates() * hidden;
        let (mut biases, mut last) = (None, None);
        if let Some(place) = self.places.bias {
            let both = self.own(&self.args[place]);
            let both = self.b.reshape(&both, &[2, rows]);
            (biases, last) = cell::biases(self.b, kind, &both);
        }
        let peephole = self.places.peephole.map(|place| {
            let peephole = self.own(&self.args[place]);
            self.b.reshape(&peephole, &[3, hidden])
        });
        let added = self.inputs(kind, biases.as_ref());
        let recurrence = self.own(&self.args[2]);
        let mut state = State {
            hidden: self.state(self.places.hidden, number),
            carry: kind.has_carry().then(|| self.state(self.places.carry, number)),
        };
        let lengths = self.places.lengths.map(|place| &self.args[place]);
        let cell = Cell { kind, activations, clip, recurrence, last, peephole };
        for step in 0..steps {
            let t = if self.reverse { steps - 1 - step } else { step };
            let gates = self.b.slice(&added, &[t, 0, 0], &[1, batch, rows], &[1; 3]);
            let gates = self.b.reshape(&gates, &[batch, rows]);
            let mut next = cell.step(self.b, &gates, &state);
            let mut shown = next.hidden.clone();
            if let Some(lengths) = lengths {
                // Behind its end a sequence keeps its state and shows zeros.
                shown = self.until(lengths, t, &next.hidden, None);
                next.hidden = self.until(lengths, t, &next.hidden, Some(&state.hidden));
                let carries = next.carry.as_ref().zip(state.carry.as_ref());
                next.carry = carries.map(|(new, old)| self.until(lengths, t, new, Some(old)));
            }
            state = next;
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

    /// `new` while a sequence goes on at step `t`, then `old`, or zeros.
    fn until(
        &mut self,
        lengths: &Tensor<'c>,
        t: i64,
        new: &Tensor<'c>,
        old: Option<&Tensor<'c>>,
    ) -> Tensor<'c> {
        let mut inputs = vec![(new, identity(2)), (lengths, vec![Linear::axis(2, 0)])];
        inputs.extend(old.map(|old| (old, identity(2))));
        self.b.map_at(new.element(), new.dims(), &inputs, |calc, given| {
            let t = calc.int_like(given[1], t.into());
            let goes_on = calc.lt(t, given[1]);
            let after = given.get(2).copied().unwrap_or_else(|| calc.like(given[0], 0.0));
            calc.select(goes_on, given[0], after)
        })
    }
}
