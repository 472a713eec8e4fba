//! Control flow, which is decided here.
//!
//! ```text
//! If     the branch that a known condition takes; else both, and a choice between their results
//! Loop   its body, as often as a known number and a known condition say
//! ```
//!
//! What only a run decides is refused.

use super::structure::Site;
use super::{Bound, Planner};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::graph::Graph;
use crate::inputs;
use crate::plan::{Operand, Plan, ValueId};
use crate::types::{ElementType, TensorType};
use weft_dialects::ir::Linear;

use crate::payload::identity;

/// The most rounds of a loop that are unrolled.
pub const ROUNDS_MAX: usize = 1 << 12;

/// `If`.
pub fn branch<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let condition = site.node.typed(0, "cond", &[ElementType::Bool])?;
    if condition.ty.elements() != 1 {
        return Err(site.node.invalid(format!("reads \"cond\" as {}", condition.ty)));
    }
    let known = condition.known.as_ref().and_then(Elements::single);
    let known = known.map(|value| value.as_int() != 0);
    let branches = [site.body("then_branch", 0)?, site.body("else_branch", 0)?];
    let take = |planner: &mut Planner<'m>, yes: bool| {
        let (body, name) = if yes { (branches[0], "then") } else { (branches[1], "else") };
        results(planner, site, body, &format!("{}/{name}", site.name))
    };
    if let Some(yes) = known.filter(|_| condition.fixed) {
        return take(planner, yes);
    }
    let both = take(planner, true).and_then(|yes| Ok((yes, take(planner, false)?)));
    let chosen = both.and_then(|(yes, no)| {
        let pairs = yes.iter().zip(&no);
        pairs.map(|(yes, no)| choose(planner, site, condition, [yes, no])).collect()
    });
    match (chosen, known) {
        // The caller says what it will be.
        (Err(_), Some(yes)) => take(planner, yes),
        (chosen, _) => chosen,
    }
}

/// The outputs of a branch, as many as its node has.
fn results<'m>(
    planner: &mut Planner<'m>,
    site: &Site<'m>,
    body: &'m Graph,
    place: &str,
) -> Result<Vec<Bound>> {
    let made = planner.run_body(body, place, [])?;
    if made.len() < site.node.outputs() {
        return Err(site
            .node
            .report(format!("has {} outputs", site.node.outputs()))
            .note(format!("its branch makes {}", made.len()))
            .invalid());
    }
    Ok(made)
}

/// One of two values, when the model runs.
fn choose(
    planner: &mut Planner<'_>,
    site: &Site<'_>,
    condition: &Operand,
    [yes, no]: [&Bound; 2],
) -> Result<Bound> {
    let refused = |one: String, other: String| {
        site.node
            .report("chooses when the model runs, and its branches differ")
            .note(format!("one gives {one}, the other {other}"))
            .help("branches that give the same types, or a condition that is known")
            .unsupported()
    };
    match (yes, no) {
        (Bound::Tensor(yes), Bound::Tensor(no)) if yes == no => Ok(Bound::Tensor(*yes)),
        (Bound::Tensor(yes), Bound::Tensor(no)) => {
            let (yes, no) = (planner.operand(*yes), planner.operand(*no));
            if yes.ty != no.ty {
                return Err(refused(yes.ty.to_string(), no.ty.to_string()));
            }
            let plan = select(condition, yes, no);
            Ok(Bound::Tensor(planner.step("If", site.name, plan)[0]))
        }
        (Bound::Sequence(yes), Bound::Sequence(no)) if yes.len() == no.len() => {
            let pairs = yes.iter().zip(no);
            let all = pairs.map(|(yes, no)| choose(planner, site, condition, [yes, no]));
            all.collect::<Result<_>>().map(Bound::Sequence)
        }
        (Bound::Nothing, Bound::Nothing) => Ok(Bound::Nothing),
        (yes, no) => Err(refused(yes.kind(), no.kind())),
    }
}

fn select(condition: &Operand, yes: Operand, no: Operand) -> Plan {
    let ty = yes.ty.clone();
    let one = condition.rank();
    Plan::new(vec![condition.clone(), yes, no], vec![ty], move |b, args| {
        let rank = args[1].dims().len();
        let inputs = [
            (&args[0], vec![Linear::constant(rank, 0); one]),
            (&args[1], identity(rank)),
            (&args[2], identity(rank)),
        ];
        vec![b.move_at(args[1].element(), args[1].dims(), &inputs, |calc, given| {
            calc.select(given[0], given[1], given[2])
        })]
    })
}

/// `Loop`.
pub fn repeat<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let rounds = site.integer(0, "M")?;
    let carried = site.inputs_from(2).iter();
    let mut carried: Vec<_> =
        carried.map(|input| input.clone().unwrap_or(Bound::Nothing)).collect();
    let body = site.body("body", 2 + carried.len())?;
    let Some(scans) = body.outputs.len().checked_sub(1 + carried.len()) else {
        return Err(site
            .node
            .report(format!("carries {} values through its loop", carried.len()))
            .note(format!("its body makes {}", body.outputs.len()))
            .help("a condition, one for each value, and what is collected")
            .invalid());
    };
    let mut condition = match site.optional(1) {
        None | Some(Bound::Nothing) => truth(planner, true),
        Some(condition) => condition.clone(),
    };
    let mut collected = vec![Vec::new(); scans];
    let mut round = 0;
    while rounds.is_none_or(|rounds| (round as i64) < rounds) {
        if !holds(planner, site, &condition, round)? {
            break;
        }
        if round == ROUNDS_MAX {
            return Err(too_long(site));
        }
        let made = one_round(planner, site, (body, round), &condition, &carried)?;
        let mut made = made.into_iter();
        condition = made.next().expect("a body makes its condition");
        carried = made.by_ref().take(carried.len()).collect();
        collected.iter_mut().zip(made).for_each(|(all, one)| all.push(one));
        round += 1;
    }
    let mut results = carried;
    if round == 0 && scans > 0 {
        // Never run, but its types are asked for.
        let made = one_round(planner, site, (body, 0), &condition, &results)?;
        for one in made.into_iter().skip(1 + results.len()) {
            let Bound::Tensor(id) = one else { return Err(collects(site, &one)) };
            let ty = planner.operand(id).ty;
            let dims = [&[0], ty.dims()].concat();
            let ty = site.node.ty(ty.element(), dims)?;
            results.push(Bound::Tensor(planner.literal(Elements::from_scalars(ty, []))));
        }
        return Ok(results);
    }
    for all in &collected {
        results.push(Bound::Tensor(planner.stacked(site, all, 0)?));
    }
    Ok(results)
}

fn truth(planner: &mut Planner<'_>, value: bool) -> Bound {
    let value = Elements::scalar(ElementType::Bool, Scalar::Int(value.into()));
    Bound::Tensor(planner.literal(value))
}

/// What one round of a loop makes.
fn one_round<'m>(
    planner: &mut Planner<'m>,
    site: &Site<'m>,
    (body, round): (&'m Graph, usize),
    condition: &Bound,
    carried: &[Bound],
) -> Result<Vec<Bound>> {
    // A number of the round, with a dimension where the body says so.
    let declared = inputs::declared(&body.inputs[0], "the number of the round")?;
    let rank = declared.and_then(|declared| declared.dims).map_or(0, |dims| dims.len().min(1));
    let ty = TensorType::new(ElementType::I64, vec![1; rank], "the number of the round")?;
    let number = planner.literal(Elements::from_scalars(ty, [Scalar::Int(round as i128)]));
    let inputs = [Bound::Tensor(number), condition.clone()].into_iter();
    let place = format!("{}/{round}", site.name);
    planner.run_body(body, &place, inputs.chain(carried.iter().cloned()))
}

/// Returns whether a loop goes on.
fn holds(planner: &Planner<'_>, site: &Site<'_>, condition: &Bound, round: usize) -> Result<bool> {
    let Bound::Tensor(id) = condition else {
        return Err(site.wrong_kind("cond", condition, "a tensor"));
    };
    let operand = planner.operand(*id);
    let known = operand.known.as_ref().and_then(Elements::single);
    known.map(|value| value.as_int() != 0).ok_or_else(|| {
        site.node
            .report("loops for as long as a condition holds that is only known at run time")
            .note(format!("before round {round} it is {}", operand.ty))
            .help("a condition that is known: a constant, or calculated from shapes and the number of the round")
            .unsupported()
    })
}

/// The error that a loop has more rounds than are unrolled.
pub fn too_long(site: &Site<'_>) -> crate::ImportError {
    site.node
        .report(format!("has more than {ROUNDS_MAX} rounds"))
        .note("loops are unrolled")
        .help(format!("at most {ROUNDS_MAX}"))
        .unsupported()
}

fn collects(site: &Site<'_>, found: &Bound) -> crate::ImportError {
    site.node.report(format!("collects {}", found.kind())).help("a tensor of each round").invalid()
}

impl Planner<'_> {
    /// Tensors of all rounds side by side, along a new axis.
    pub(super) fn stacked(
        &mut self,
        site: &Site<'_>,
        all: &[Bound],
        axis: usize,
    ) -> Result<ValueId> {
        let mut ids = Vec::with_capacity(all.len());
        for one in all {
            let Bound::Tensor(id) = one else { return Err(collects(site, one)) };
            ids.push(*id);
        }
        self.joined(site, &ids, axis, true)
    }
}

/// `SequenceMap`.
pub fn map<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let length = site.sequence(0, "input_sequence")?.len();
    let inputs = site.inputs_from(0);
    let body = site.body("body", inputs.len())?;
    let mut all = vec![Vec::with_capacity(length); body.outputs.len()];
    for round in 0..length {
        let given = inputs.iter().map(|input| match input {
            Some(Bound::Sequence(own)) if own.len() == length => Ok(own[round].clone()),
            Some(Bound::Sequence(own)) => Err(site
                .node
                .report(format!("reads sequences of {length} and of {}", own.len()))
                .help("sequences of one length")
                .invalid()),
            other => Ok(other.clone().unwrap_or(Bound::Nothing)),
        });
        let given = given.collect::<Result<Vec<_>>>()?;
        let made = planner.run_body(body, &format!("{}/{round}", site.name), given)?;
        all.iter_mut().zip(made).for_each(|(all, one)| all.push(one));
    }
    Ok(all.into_iter().map(Bound::Sequence).collect())
}
