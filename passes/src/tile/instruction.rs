//! Which instruction of the machine computes the body of a nest.
//!
//! An instruction says what it means by a payload of its own; it fits a nest
//! whose scalar body is the same up to the order of commuting operands
//! (ISA Mapper, section 5.2 steps 2 and 3). What no instruction means falls to
//! a lane unit, operation by operation.

use std::collections::HashMap;

use weft_dialects::device::{Instruction, Lanes, Machine};
use weft_dialects::ir::{Block, Op, Type, Val, ty};

use crate::nest::{Nest, index_axis};

/// Operations whose operands may be swapped.
const COMMUTE: &[&str] = &[
    "arith.addf",
    "arith.mulf",
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
    "arith.addi",
    "arith.muli",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.maxsi",
    "arith.minsi",
    "arith.maxui",
    "arith.minui",
];

/// Who computes a nest's body.
#[derive(Clone)]
pub(super) struct Mapped<'c> {
    /// Name of the instruction or lane unit.
    pub name: &'c str,
    /// Cycles that one body on one register takes the unit.
    pub issue_cycles: f64,
    /// Cycles until the result can be used.
    pub latency_cycles: f64,
    /// Lanes of a register; 1 where every point is done alone.
    pub lanes: u64,
    /// For an instruction, by the number of the nest's input: whether it takes
    /// one element for all lanes. Empty for a lane unit, which takes both.
    pub scalar_inputs: Vec<bool>,
}

/// The instructions that mean the body of `nest`, with the nest's inputs bound.
pub(super) fn instructions<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<Mapped<'c>> {
    machine.instructions().iter().filter_map(|instruction| fit(instruction, nest)).collect()
}

/// Why no instruction means the body: one line each.
pub(super) fn refusals<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<String> {
    machine
        .instructions()
        .iter()
        .filter(|instruction| fit(instruction, nest).is_none())
        .map(|instruction| format!("@{} means another body", instruction.name))
        .collect()
}

fn fit<'c>(instruction: &Instruction<'c>, nest: &Nest<'c>) -> Option<Mapped<'c>> {
    let meaning = instruction.meaning()?;
    let [generic] = generics(meaning)[..] else { return None };
    let body = generic.body(0)?;
    let theirs = body.terminator()?.operands();
    let ours = nest.body.terminator()?.operands();
    if theirs.len() != ours.len() {
        return None;
    }
    let mut bound = HashMap::new();
    if !theirs.iter().zip(&ours).all(|(a, b)| unify(*a, *b, body, nest.body, &mut bound)) {
        return None;
    }
    // Every operand is bound, outputs to outputs.
    let args = body.args();
    let inputs = crate::nest::generic_inputs(generic);
    if bound.len() != args.len() || nest.inputs.len() != inputs {
        return None;
    }
    let mut scalar_inputs = vec![false; inputs];
    let mut lanes = 1;
    for (number, arg) in args.iter().enumerate() {
        let ours = bound.get(arg)?.index();
        if (number < inputs) != (ours < nest.inputs.len()) {
            return None;
        }
        // The meaning's arguments are the generic's operands, in their order.
        let shape = ty::shape(generic.operand(number).ty())?;
        let count = shape.iter().product::<u64>();
        lanes = lanes.max(count);
        if number < inputs {
            scalar_inputs[ours] = count == 1;
        }
    }
    Some(Mapped {
        name: instruction.name,
        issue_cycles: instruction.issue_cycles,
        latency_cycles: instruction.latency_cycles as f64,
        lanes,
        scalar_inputs,
    })
}

/// For an instruction that fits, by the number of its operand: the nest's input
/// (or, after the inputs, output) that it takes there.
pub fn binding<'c>(instruction: &Instruction<'c>, nest: &Nest<'c>) -> Option<Vec<usize>> {
    let [generic] = generics(instruction.meaning()?)[..] else { return None };
    let body = generic.body(0)?;
    let mut bound = HashMap::new();
    let theirs = body.terminator()?.operands();
    let ours = nest.body.terminator()?.operands();
    let same = theirs.len() == ours.len()
        && theirs.iter().zip(&ours).all(|(a, b)| unify(*a, *b, body, nest.body, &mut bound));
    if !same {
        return None;
    }
    body.args().iter().map(|arg| bound.get(arg).map(|value| value.index())).collect()
}

fn generics(block: Block<'_>) -> Vec<Op<'_>> {
    block.ops().into_iter().filter(|op| op.is("linalg.generic")).collect()
}

/// Whether two scalar values are the same expression of arguments, which are
/// bound one to one on the way.
fn unify<'c>(
    theirs: Val<'c>,
    ours: Val<'c>,
    their_body: Block<'c>,
    our_body: Block<'c>,
    bound: &mut HashMap<Val<'c>, Val<'c>>,
) -> bool {
    match (theirs.def(), ours.def()) {
        (None, None) => {
            if theirs.owner_block() != Some(their_body) || ours.owner_block() != Some(our_body) {
                return false;
            }
            match bound.get(&theirs) {
                Some(already) => *already == ours,
                None => {
                    let free = !bound.values().any(|value| *value == ours);
                    if free && theirs.ty() == ours.ty() {
                        bound.insert(theirs, ours);
                    }
                    free && theirs.ty() == ours.ty()
                }
            }
        }
        (Some(a), Some(b)) => {
            if a.name() != b.name() || !same_attributes(a, b) {
                return false;
            }
            let (left, right) = (a.operands(), b.operands());
            if left.len() != right.len() {
                return false;
            }
            let before = bound.clone();
            let straight =
                left.iter().zip(&right).all(|(x, y)| unify(*x, *y, their_body, our_body, bound));
            if straight {
                return true;
            }
            if left.len() == 2 && COMMUTE.contains(&a.name()) {
                *bound = before;
                return unify(left[0], right[1], their_body, our_body, bound)
                    && unify(left[1], right[0], their_body, our_body, bound);
            }
            false
        }
        _ => false,
    }
}

fn same_attributes(a: Op<'_>, b: Op<'_>) -> bool {
    let text = |op: Op<'_>| -> Vec<String> {
        op.attrs().iter().map(|(name, value)| format!("{name}={value}")).collect()
    };
    text(a) == text(b)
}

/// The lane unit that applies every operation of the body, on as many lanes as
/// fit the widest type; or why there is none.
pub(super) fn lane_unit<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    expands: &dyn Fn(Op<'_>) -> bool,
) -> Result<Mapped<'c>, String> {
    let mut reason = "the machine has no lane unit".to_owned();
    for unit in machine.lanes_units() {
        match unsupported(&unit, nest, expands) {
            Some(what) => reason = format!("@{} does not apply {what}", unit.name),
            None => {
                let lanes = lanes_type(nest).and_then(|elem| unit.lanes_for(elem)).unwrap_or(1);
                return Ok(Mapped {
                    name: unit.name,
                    issue_cycles: unit.issue_cycles * body_cost(nest),
                    latency_cycles: unit.latency_cycles as f64,
                    lanes,
                    scalar_inputs: Vec::new(),
                });
            }
        }
    }
    Err(reason)
}

/// Operations of the body, an expanded function counted as about twenty.
fn body_cost(nest: &Nest<'_>) -> f64 {
    let cost = |op: &Op<'_>| match op.name() {
        "arith.constant" | "linalg.index" => 0.0,
        "arith.divf" | "math.sqrt" | "arith.divsi" | "arith.remsi" => 8.0,
        name if name.starts_with("math.") && !name.contains("fma") => 20.0,
        _ => 1.0,
    };
    nest.body_ops().iter().map(cost).sum::<f64>().max(1.0)
}

fn unsupported<'c>(
    unit: &Lanes<'c>,
    nest: &Nest<'c>,
    expands: &dyn Fn(Op<'_>) -> bool,
) -> Option<String> {
    let starts = nest.starts.iter().filter_map(|start| match start {
        crate::nest::Start::From { body, .. } => Some(*body),
        _ => None,
    });
    for op in std::iter::once(nest.body).chain(starts).flat_map(|body| body.ops()) {
        let free = matches!(
            op.name(),
            "arith.constant" | "linalg.index" | "linalg.yield" | "tensor.extract"
        );
        if free || expands(op) {
            continue;
        }
        for value in op.operands().into_iter().chain(op.results()) {
            if !ty::is_index(value.ty()) && !unit.supports(op.name(), value.ty()) {
                return Some(format!("{} on {}", op.name(), value.ty()));
            }
        }
    }
    None
}

/// The widest element type that a register must hold a lane of.
pub fn lanes_type<'c>(nest: &Nest<'c>) -> Option<Type<'c>> {
    let accesses = nest.accesses().into_iter().map(|access| access.elem());
    let values = nest.body.ops().into_iter().flat_map(|op| op.results()).map(|value| value.ty());
    accesses
        .chain(values)
        .filter(|ty| !ty::is_index(*ty) && ty::bits(*ty).is_some())
        .max_by_key(|ty| ty::bits(*ty))
}

/// How a reduction folds: `output = op(output, what the inputs give)`.
#[derive(Clone, Copy)]
pub struct Combine<'c> {
    /// The folding operation.
    pub op: Op<'c>,
}

/// The fold of a body with one output, where it has the form of one.
pub fn combine<'c>(nest: &Nest<'c>) -> Option<Combine<'c>> {
    let [result] = nest.body.terminator()?.operands()[..] else { return None };
    let op = result.def()?;
    let so_far = nest.body.arg(nest.inputs.len());
    let folds = COMMUTE.contains(&op.name()) && op.operands().contains(&so_far);
    (folds && so_far.uses().len() == 1).then_some(Combine { op })
}

/// Whether the body asks for a coordinate of `axis`.
pub(super) fn asks_for(nest: &Nest<'_>, axis: usize) -> bool {
    nest.body.ops().into_iter().filter_map(index_axis).any(|asked| asked == axis)
}

/// The neutral element that lanes start with before they are combined.
pub fn identity(op: &str, elem: Type<'_>) -> Option<Identity> {
    let bits = ty::bits(elem)? as u32;
    Some(match op {
        "arith.addf" => Identity::Float(-0.0),
        "arith.addi" | "arith.ori" | "arith.xori" | "arith.maxui" => Identity::Int(0),
        "arith.mulf" => Identity::Float(1.0),
        "arith.muli" => Identity::Int(1),
        "arith.maximumf" | "arith.maxnumf" => Identity::Float(f64::NEG_INFINITY),
        "arith.minimumf" | "arith.minnumf" => Identity::Float(f64::INFINITY),
        "arith.andi" | "arith.minui" => Identity::Int(-1),
        "arith.maxsi" => Identity::Int(i64::MIN >> (64 - bits)),
        "arith.minsi" => Identity::Int(i64::MAX >> (64 - bits)),
        _ => return None,
    })
}

/// A number of a type that is float or integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Identity {
    /// Of a float type.
    Float(f64),
    /// Of an integer type.
    Int(i64),
}
