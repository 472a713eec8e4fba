//! Which instruction of the machine computes the body of a nest.
//!
//! An instruction says what it means by a payload of its own; it fits a nest
//! whose scalar body is the same (`isa/`). What no instruction means falls to a lane
//! unit, operation by operation.

use weft_dialects::device::{Instruction, Lanes, Machine};
use weft_dialects::ir::{Block, Op, Type, ty};
use weft_dialects::tile::Compute;

use super::depth::Depth;
use super::isa::{self, Binding, COMMUTE, Refusal, has_axes};
use crate::math;
use crate::nest::{Access, Border, Nest, index_axis};

/// The instruction that computes a nest's body.
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
    /// The axis of the nest of which each lane adds up all points at once (`depth.rs`).
    pub depth: Option<usize>,
}

/// The instructions of lanes that mean the body of `nest`, once per way to bind its inputs.
pub(super) fn instructions<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<Mapped<'c>> {
    let instructions = machine.instructions();
    let by_lanes = instructions.iter().filter(|instruction| !has_axes(instruction));
    by_lanes.flat_map(|instruction| fits(instruction, nest)).collect()
}

/// Returns whether an instruction whose lanes add neighbours up means the body of a nest.
pub(super) fn is_deep<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> bool {
    let deep =
        |own: &Instruction<'c>| Depth::of(own).is_some() && !bindings(own, nest, &[]).is_empty();
    machine.instructions().iter().any(deep)
}

/// Reasons that no instruction means the body: the rule and what it met, each with its instruction.
pub(super) fn refusals<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<(&'c str, Refusal)> {
    let one = |instruction: &Instruction<'c>| {
        let refusal = if has_axes(instruction) {
            isa::consider(machine, nest, instruction, isa::Search::default(), &mut Vec::new()).err()
        } else {
            fits(instruction, nest).is_empty().then(|| unlike(instruction, nest))
        };
        refusal.map(|refusal| (instruction.name, refusal))
    };
    machine.instructions().iter().filter_map(one).collect()
}

/// The difference between the body and an instruction of lanes.
fn unlike<'c>(instruction: &Instruction<'c>, nest: &Nest<'c>) -> Refusal {
    let (theirs, ours) = match isa::bindings(instruction, nest) {
        Err(unlike) => (unlike.theirs, unlike.ours),
        Ok(_) => ("one operand more".to_owned(), "none for it".to_owned()),
    };
    Refusal::Body { instruction: instruction.name.to_owned(), theirs, ours }
}

fn fits<'c>(instruction: &Instruction<'c>, nest: &Nest<'c>) -> Vec<Mapped<'c>> {
    let form = LaneForm::of(instruction);
    let mapped = |binding: Vec<usize>| {
        let depth = form.depth.as_ref().map(|depth| depth.axis(nest, &binding));
        if depth == Some(None) {
            return None;
        }
        let mut scalar_inputs = vec![false; nest.inputs.len()];
        for (&ours, &has_lanes) in binding.iter().zip(&form.has_lanes) {
            if let Some(scalar) = scalar_inputs.get_mut(ours) {
                *scalar = !has_lanes;
            }
        }
        Some(Mapped {
            name: instruction.name,
            issue_cycles: instruction.issue_cycles(),
            latency_cycles: instruction.latency_cycles() as f64,
            lanes: form.lanes,
            scalar_inputs,
            depth: depth.flatten(),
        })
    };
    bindings(instruction, nest, &[]).into_iter().filter_map(mapped).collect()
}

/// The operands of an instruction of lanes.
struct LaneForm {
    lanes: u64,
    /// For each operand, whether it has lanes; one element is for all of them.
    has_lanes: Vec<bool>,
    depth: Option<Depth>,
}

impl LaneForm {
    fn of(instruction: &Instruction<'_>) -> Self {
        if let Some(depth) = Depth::of(instruction) {
            return Self {
                lanes: depth.lanes,
                has_lanes: depth.has_lanes.clone(),
                depth: Some(depth),
            };
        }
        let operands = instruction.operand_types().into_iter();
        let counts: Vec<u64> = operands.map(|ty| ty::count(ty).unwrap_or(0)).collect();
        Self {
            lanes: counts.iter().copied().max().unwrap_or(1),
            has_lanes: counts.iter().map(|&count| count > 1).collect(),
            depth: None,
        }
    }
}

/// How an instruction of lanes computes a nest.
pub struct LaneBinding {
    /// By the number of the instruction's operand, the nest's input (or, after the inputs,
    /// output) that it takes there.
    pub operands: Vec<usize>,
    /// The axis of which each lane adds up all points at once.
    pub depth: Option<usize>,
}

/// The way to bind a nest to an instruction with lanes along `lanes_axis`. What it takes once for all
/// lanes does not move along them.
pub fn binding<'c>(
    instruction: &Instruction<'c>,
    nest: &Nest<'c>,
    lanes_axis: Option<usize>,
    operands: &[Option<usize>],
) -> Option<LaneBinding> {
    let form = LaneForm::of(instruction);
    let suits = |binding: &Vec<usize>| {
        binding.iter().zip(&form.has_lanes).all(|(&ours, &has_lanes)| {
            match (nest.inputs.get(ours), lanes_axis) {
                (Some(access), Some(axis)) => access.uses(axis) == has_lanes,
                _ => true,
            }
        })
    };
    let bound = |operands: Vec<usize>| match &form.depth {
        None => Some(LaneBinding { operands, depth: None }),
        Some(depth) => {
            let axis = depth.axis(nest, &operands)?;
            let lies = lanes_axis.is_some_and(|along| lies_deep(nest, along, axis));
            lies.then_some(LaneBinding { operands, depth: Some(axis) })
        }
    };
    bindings(instruction, nest, operands).into_iter().filter(suits).find_map(bound)
}

/// Returns whether what moves along the lanes has the points of a depth side by side in each lane, and
/// lanes behind each other.
pub(super) fn lies_deep(nest: &Nest<'_>, lanes_axis: usize, depth: usize) -> bool {
    let axes = nest.axes.len();
    let points = nest.axes[depth].extent as i64;
    // Windows over lanes are read one element after the other, and borders laid out for that.
    let plain = |access: &Access<'_>| {
        let mut index = access.index.iter();
        Border::of(access).is_none()
            && index.all(|index| index.as_axis().is_some() || index.is_constant())
    };
    let mut deep =
        nest.inputs.iter().filter(|access| access.uses(depth) && access.uses(lanes_axis));
    deep.all(|access| plain(access) && access.stride(axes, lanes_axis) == points)
}

/// Every way to bind the nest's operands to the instruction's without putting anything in, or those
/// that a schedule names: lanes have no room for a constant of their own.
pub(super) fn bindings<'c>(
    instruction: &Instruction<'c>,
    nest: &Nest<'c>,
    operands: &[Option<usize>],
) -> Vec<Vec<usize>> {
    let all = isa::bindings(instruction, nest).unwrap_or_default();
    all.iter().filter(|own| own.is_named(operands)).filter_map(Binding::plain).collect()
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
            None => return Ok(by_unit(&unit, nest)),
        }
    }
    Err(reason)
}

/// The body of a nest, operation by operation, on as many lanes as fit its widest type.
fn by_unit<'c>(unit: &Lanes<'c>, nest: &Nest<'c>) -> Mapped<'c> {
    Mapped {
        name: unit.name,
        issue_cycles: body_cycles(unit, nest.body),
        latency_cycles: unit.latency_cycles() as f64,
        lanes: lanes_type(nest).and_then(|elem| unit.lanes_for(elem)).unwrap_or(1),
        scalar_inputs: Vec::new(),
        depth: None,
    }
}

/// The instruction or lane unit that a tile program names; `None` where it does not compute the
/// body so.
pub(super) fn named<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    compute: &Compute<'_>,
) -> Option<Mapped<'c>> {
    if let Some(unit) = machine.lanes_unit(compute.instruction) {
        return Some(by_unit(&unit, nest));
    }
    let suits = |mapped: &Mapped<'c>| {
        let mut inputs = nest.inputs.iter().zip(&mapped.scalar_inputs);
        compute.lanes.is_none_or(|axis| inputs.all(|(access, &scalar)| access.uses(axis) != scalar))
    };
    fits(&machine.instruction(compute.instruction)?, nest).into_iter().find(suits)
}

/// Cycles that a lane unit issues for a body on one register, at least those of one operation.
pub(super) fn body_cycles<'c>(unit: &Lanes<'c>, body: Block<'c>) -> f64 {
    let is_free = |op: &Op<'c>| {
        matches!(op.name(), "arith.constant" | "graph.length" | "linalg.index" | "linalg.yield")
    };
    let issued = body.ops().into_iter().filter(|op| !is_free(op));
    issued.map(|op| math::cycles(unit, op)).sum::<f64>().max(unit.issue_cycles())
}

fn unsupported<'c>(
    unit: &Lanes<'c>,
    nest: &Nest<'c>,
    expands: &dyn Fn(Op<'_>) -> bool,
) -> Option<String> {
    nest.bodies().into_iter().find_map(|body| not_applied(unit, body, expands))
}

/// Tests that a lane unit applies every operation of a body.
pub(super) fn applies<'c>(
    unit: &Lanes<'c>,
    body: Block<'c>,
    expands: &dyn Fn(Op<'_>) -> bool,
) -> bool {
    not_applied(unit, body, expands).is_none()
}

/// The first operation of a body that a lane unit does not apply.
fn not_applied<'c>(
    unit: &Lanes<'c>,
    body: Block<'c>,
    expands: &dyn Fn(Op<'_>) -> bool,
) -> Option<String> {
    for op in body.ops() {
        let free = matches!(
            op.name(),
            "arith.constant" | "graph.length" | "linalg.index" | "linalg.yield" | "tensor.extract"
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

/// The fold of a reduction: `output = op(output, what the inputs give)`.
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

/// Returns whether the body asks for a coordinate of `axis`.
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
