//! RNN, GRU and LSTM.
//!
//! The contribution of the inputs to the gates is one product for all steps; a step multiplies the
//! state. A few steps are unrolled: each is nests of its own (`way.rs`). More are a loop, of which the importer
//! plans the parts (`parts.rs`).

mod activation;
mod cell;
mod parts;
mod way;

use self::activation::{Activation, of_directions};
use self::cell::Kind;
use self::way::{Gates, Way};
use super::{Operator, op};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::computed;
use crate::types::{ElementType, TensorType};

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
        recurrent,
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
        recurrent,
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
        recurrent,
    )
    .at_least(3)
    .up_to(2),
];

/// The most steps that are unrolled, over all directions.
const STEPS_MAX: i64 = 1 << 12;

/// The indices of operands among the payload's arguments.
#[derive(Clone, Default)]
pub struct OperandIndices {
    bias: Option<usize>,
    lengths: Option<usize>,
    hidden: Option<usize>,
    carry: Option<usize>,
    peephole: Option<usize>,
}

#[derive(Clone)]
pub struct Shape {
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

/// A node whose operands fit each other.
pub struct Recurrence {
    shape: Shape,
    kind: Kind,
    activations: Vec<Vec<Activation>>,
    clip: Option<f64>,
    /// Whether its only direction goes from the last step to the first.
    backward: bool,
    /// The operands of the payload, in order.
    operands: Vec<Operand>,
    places: OperandIndices,
    results: Vec<TensorType>,
}

impl Recurrence {
    /// Of a node; the number of steps of all directions is not bounded.
    pub fn of(node: &Node<'_>) -> Result<Self> {
        let kind = match node.op() {
            "GRU" => Kind::Gru { linear: node.flag("linear_before_reset", false)? },
            "LSTM" => Kind::Lstm { coupled: node.flag("input_forget", false)? },
            _ => Kind::Rnn,
        };
        let shape = shape(node, kind)?;
        let x = node.input(0, "X")?;
        let Shape { steps, batch, hidden, directions, batch_first, .. } = shape;
        let gates = kind.gates();
        let state =
            if batch_first { [batch, directions, hidden] } else { [directions, batch, hidden] };
        let mut operands =
            vec![x.clone(), node.input(1, "W")?.clone(), node.input(2, "R")?.clone()];
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
        let activations = of_directions(node, directions as usize, kind.activations())?;
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
        Ok(Self { shape, kind, activations, clip, backward, operands, places, results })
    }
}

fn recurrent(node: &Node<'_>) -> Result<Plan> {
    let own = Recurrence::of(node)?;
    let Shape { steps, directions, .. } = own.shape;
    if steps.saturating_mul(directions) > STEPS_MAX {
        return Err(node
            .report(format!("takes {steps} steps in {directions} directions"))
            .help(format!("at most {STEPS_MAX} in all, where they are unrolled"))
            .unsupported());
    }
    let element = own.operands[0].element();
    let Recurrence { shape, kind, activations, clip, backward, operands, places, results } = own;
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
