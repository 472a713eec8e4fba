//! Control flow, which is decided here.
//!
//! ```text
//! If     the branch that a known condition takes; else both, and a choice between their results, where they are
//!        short; else the one that a run takes (`rolled.rs`)
//! Loop   its body, as often as a number says that is known, where that is not often; else it is repeated in a run
//!        (`rolled.rs`)
//! ```
//!
//! A loop that cannot be repeated, for what it carries changes its shape, or on a machine that repeats nothing, is
//! written out for the greatest number of rounds that it may have: those behind the end change nothing. Then what a
//! run could go on with for ever is refused, and so is what it makes more or less of.

use super::rolled::Repeated;
use super::structure::Site;
use super::{Bound, Planner};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::graph::Graph;
use crate::inputs;
use crate::plan::{Operand, Plan, ValueId};
use crate::types::{ElementType, TensorType};
use weft_dialects::ir::Linear;
use weft_runtime::length::Length;

use crate::payload::identity;

/// The most rounds of a loop that are unrolled.
pub const ROUNDS_MAX: usize = 1 << 12;

/// The most rounds of a loop that are unrolled though it could be repeated: kernels of several rounds are joined.
pub const ROUNDS_FEW: usize = 8;

/// The most steps of two branches that are both done.
const STEPS_FEW: usize = 6;

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
    let first = planner.graph.steps.len();
    let chosen = planner.attempt(|planner| {
        let both = [take(planner, true)?, take(planner, false)?];
        let pairs = both[0].iter().zip(&both[1]);
        pairs.map(|(yes, no)| choose(planner, site, condition, [yes, no])).collect::<Result<_>>()
    });
    let long = chosen.is_err() || planner.graph.steps.len() - first > STEPS_FEW;
    if !long || planner.unrolls {
        return match (chosen, known) {
            // The caller says what it will be.
            (Err(_), Some(yes)) => take(planner, yes),
            (chosen, _) => chosen,
        };
    }
    match (planner.attempt(|planner| planner.either(site, condition, branches)), known) {
        (Ok(one), _) => Ok(one),
        (Err(_), Some(yes)) if chosen.is_err() => take(planner, yes),
        (Err(_), _) => chosen,
    }
}

/// The outputs of a branch, as many as its node has.
pub(super) fn results<'m>(
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
    let rounds = Rounds::of(planner, site)?;
    let carried = site.inputs_from(2).iter();
    let carried: Vec<_> = carried.map(|input| input.clone().unwrap_or(Bound::Nothing)).collect();
    let body = site.body("body", 2 + carried.len())?;
    let Some(scans) = body.outputs.len().checked_sub(1 + carried.len()) else {
        return Err(site
            .node
            .report(format!("carries {} values through its loop", carried.len()))
            .note(format!("its body makes {}", body.outputs.len()))
            .help("a condition, one for each value, and what is collected")
            .invalid());
    };
    let few = rounds.length.is_none() && rounds.most.is_some_and(|most| most <= ROUNDS_FEW as i64);
    let written_out = |planner: &mut Planner<'m>| {
        planner.attempt(|planner| unrolled(planner, site, &rounds, (body, carried.clone(), scans)))
    };
    let rolled = |planner: &mut Planner<'m>| {
        planner.attempt(|planner| repeated(planner, site, &rounds, (body, &carried, scans)))
    };
    if planner.unrolls {
        return written_out(planner);
    }
    if few {
        return written_out(planner).or_else(|why| rolled(planner).map_err(|_| why));
    }
    rolled(planner).or_else(|why| written_out(planner).map_err(|_| why))
}

/// A loop that a run repeats.
fn repeated<'m>(
    planner: &mut Planner<'m>,
    site: &Site<'m>,
    rounds: &Rounds,
    (body, carried, scans): (&'m Graph, &[Bound], usize),
) -> Result<Vec<Bound>> {
    let unbounded = planner.most_rounds;
    let counted = match (&rounds.length, rounds.most, site.optional(0)) {
        (Some(length), _, _) => Some(length.clone()),
        (None, Some(most), _) => Some(Length::number(most.max(0))),
        (None, None, Some(Bound::Tensor(id))) => {
            // One more than may be says that there are too many, if no condition ends them before.
            let plan = rounds_left(&planner.operand(*id), unbounded + 1);
            let own = planner.step("Loop", site.name, plan)[0];
            Some(planner.find(site.name, own, unbounded + 1))
        }
        (None, None, _) => None,
    };
    let nothing = Bound::Nothing;
    let own = Repeated {
        body,
        rounds: counted,
        most: rounds.most.map_or(unbounded, |most| most.clamp(0, unbounded)),
        condition: Some(site.optional(1).unwrap_or(&nothing)),
        carried,
        reads: &[],
        writes: &vec![(0, false); scans],
    };
    planner.repeat(site, &own)
}

/// The number of rounds of a loop that data decide: none where it is below zero, and `most` at most.
fn rounds_left(number: &Operand, most: i64) -> Plan {
    let ty = TensorType::temporary(ElementType::I64, &[1]);
    let rank = number.rank();
    Plan::new(vec![number.clone()], vec![ty], move |b, args| {
        let inputs = [(&args[0], vec![Linear::constant(1, 0); rank])];
        vec![b.map_at(ElementType::I64, &[1], &inputs, |calc, x| {
            let [zero, most] = [0, most].map(|own| calc.int_like(x[0], own.into()));
            let own = calc.max(x[0], zero);
            calc.min(own, most)
        })]
    })
}

/// A loop that is written out.
fn unrolled<'m>(
    planner: &mut Planner<'m>,
    site: &Site<'m>,
    rounds: &Rounds,
    (body, mut carried, scans): (&'m Graph, Vec<Bound>, usize),
) -> Result<Vec<Bound>> {
    let mut condition = match site.optional(1) {
        None | Some(Bound::Nothing) => truth(planner, true),
        Some(condition) => condition.clone(),
    };
    let mut collected = vec![Vec::new(); scans];
    let mut round = 0;
    let mut open = Open::default();
    while rounds.most.is_none_or(|rounds| (round as i64) < rounds) {
        if !open.goes_on(planner, site, (rounds, round), &condition)? {
            break;
        }
        if round == ROUNDS_MAX {
            return Err(too_long(site));
        }
        let made = one_round(planner, site, (body, round, rounds), &condition, &carried)?;
        let mut made = made.into_iter();
        condition = made.next().expect("a body makes its condition");
        let next: Vec<_> = made.by_ref().take(carried.len()).collect();
        carried = match open.now.map(|now| planner.operand(now)) {
            None => next,
            Some(now) => {
                let pairs = next.iter().zip(&carried);
                pairs
                    .map(|(new, old)| choose(planner, site, &now, [new, old]))
                    .collect::<Result<_>>()?
            }
        };
        collected.iter_mut().zip(made).for_each(|(all, one)| all.push(one));
        round += 1;
    }
    if open.decides && scans > 0 {
        return Err(site
            .node
            .report("collects a tensor of each round, and a condition says when it runs how many there are")
            .help("a condition that is known, or nothing that is collected")
            .unsupported());
    }
    let mut results = carried;
    if round == 0 && scans > 0 {
        // Never run, but its types are asked for.
        let made = one_round(planner, site, (body, 0, rounds), &condition, &results)?;
        for one in made.into_iter().skip(1 + results.len()) {
            let Bound::Tensor(id) = one else { return Err(collects(site, &one)) };
            let ty = planner.operand(id).ty;
            let dims = [&[0], ty.dims()].concat();
            let ty = site.node.ty(ty.element(), dims)?;
            let none = planner.literal(Elements::from_scalars(ty, []));
            let lengths = planner.graph.values[id.0].dims.clone();
            planner.graph.values[none.0].dims = [vec![None], lengths].concat();
            results.push(Bound::Tensor(none));
        }
        return Ok(results);
    }
    for all in &collected {
        let all = planner.stacked(site, all, 0)?;
        // A condition may have ended it before.
        let there = Length::number(round as i64);
        let all = match &rounds.length {
            Some(length) => {
                let length = planner.graph.symbols.least(length, &there);
                planner.ended(site, all, &length)?
            }
            None => all,
        };
        results.push(Bound::Tensor(all));
    }
    Ok(results)
}

/// How often a loop runs, by its number.
struct Rounds {
    /// At most; for ever without it.
    most: Option<i64>,
    /// The number, where it follows from lengths: `most` is the greatest that it may be.
    length: Option<Length>,
}

impl Rounds {
    fn of(planner: &Planner<'_>, site: &Site<'_>) -> Result<Self> {
        if let Some(Bound::Tensor(id)) = site.optional(0)
            && let Some([length]) = planner.graph.values[id.0].numbers.as_deref()
        {
            let range = planner.graph.symbols.range(length);
            let most = range.map(|[_, most]| most.max(0));
            let some = range.is_some_and(|[least, _]| least >= 0);
            let length = if some { length.clone() } else { length.greatest(&Length::default()) };
            return Ok(Self { most, length: Some(length) });
        }
        // A number that a run decides bounds nothing.
        let known = match site.optional(0) {
            Some(Bound::Tensor(id)) if !planner.unrolls => planner.operand(*id).known.is_some(),
            _ => true,
        };
        Ok(Self { most: if known { site.integer(0, "M")? } else { None }, length: None })
    }

    /// The number of a round, as its body is told: of those behind the end, that of the last one, so that
    /// what it reads is there.
    fn number(&self, planner: &Planner<'_>, round: usize) -> Option<Length> {
        let last = self.length.as_ref()?.plus(&Length::number(1), -1);
        let inside = planner.graph.symbols.range(&last)?[0] >= round as i64;
        (!inside).then(|| Length::number(round as i64).least(&last))
    }
}

/// Whether a loop goes on, as far as only a run knows.
#[derive(Default)]
struct Open {
    /// A value that is true in the rounds which count; none while all do.
    now: Option<ValueId>,
    /// True if a condition is part of it, not only the number of rounds.
    decides: bool,
}

impl Open {
    /// Returns whether there is another round, in some run.
    fn goes_on(
        &mut self,
        planner: &mut Planner<'_>,
        site: &Site<'_>,
        (rounds, round): (&Rounds, usize),
        condition: &Bound,
    ) -> Result<bool> {
        let Bound::Tensor(condition) = condition else {
            return Err(site.wrong_kind("cond", condition, "a tensor"));
        };
        let operand = planner.operand(*condition);
        let known = operand.known.as_ref().filter(|_| !operand.follows).and_then(Elements::single);
        let mut reads = Vec::new();
        match known.map(|value| value.as_int() != 0) {
            Some(false) => return Ok(false),
            Some(true) => {}
            None if rounds.most.is_none() => {
                return Err(site
                    .node
                    .report("loops for as long as a condition holds that is only known at run time")
                    .note(format!("before round {round} it is {}", operand.ty))
                    .help("a number of rounds at most, M; or a condition that is known: a constant, or calculated from shapes and the number of the round")
                    .unsupported());
            }
            None => {
                self.decides = true;
                reads.push(operand);
            }
        }
        let length = rounds.length.as_ref().filter(|_| rounds.number(planner, round).is_some());
        if reads.is_empty() && length.is_none() {
            return Ok(true);
        }
        reads.extend(self.now.map(|now| planner.operand(now)));
        let plan = all_hold(reads, round).asking(length.cloned());
        self.now = Some(planner.step("Loop", site.name, plan)[0]);
        Ok(true)
    }
}

/// Whether all of these conditions hold, and there are more rounds than `round` if it is told how many.
fn all_hold(conditions: Vec<Operand>, round: usize) -> Plan {
    let (count, ranks) = (conditions.len(), conditions.iter().map(Operand::rank));
    let places: Vec<Vec<Linear>> = ranks.map(|rank| vec![Linear::constant(0, 0); rank]).collect();
    let ty = TensorType::temporary(ElementType::Bool, &[]);
    Plan::new(conditions, vec![ty], move |b, args| {
        let mut inputs: Vec<_> = args.iter().zip(places.iter().cloned()).collect();
        inputs.extend(args.get(count).map(|rounds| (rounds, Vec::new())));
        vec![b.map_at(ElementType::Bool, &[], &inputs, |calc, given| {
            let (conditions, rounds) = given.split_at(count);
            let more = rounds.first().map(|&rounds| {
                let round = calc.int_like(rounds, round as i128);
                calc.gt(rounds, round)
            });
            let mut all = conditions.iter().copied().chain(more);
            let first = all.next().expect("something is asked");
            all.fold(first, |all, one| calc.and(all, one))
        })]
    })
}

fn truth(planner: &mut Planner<'_>, value: bool) -> Bound {
    let value = Elements::scalar(ElementType::Bool, Scalar::Int(value.into()));
    Bound::Tensor(planner.literal(value))
}

/// What one round of a loop makes.
fn one_round<'m>(
    planner: &mut Planner<'m>,
    site: &Site<'m>,
    (body, round, rounds): (&'m Graph, usize, &Rounds),
    condition: &Bound,
    carried: &[Bound],
) -> Result<Vec<Bound>> {
    // A number of the round, with a dimension where the body says so.
    let declared = inputs::declared(&body.inputs[0], "the number of the round")?;
    let rank = declared.and_then(|declared| declared.dims).map_or(0, |dims| dims.len().min(1));
    let ty = TensorType::new(ElementType::I64, vec![1; rank], "the number of the round")?;
    let number = match rounds.number(planner, round) {
        Some(number) => planner.places(&[round as i64], ty, vec![number]),
        None => planner.literal(Elements::from_scalars(ty, [Scalar::Int(round as i128)])),
    };
    let inputs = [Bound::Tensor(number), condition.clone()].into_iter();
    let place = format!("{}/{round}", site.name);
    planner.run_body(body, &place, inputs.chain(carried.iter().cloned()))
}

/// The error that a loop has more rounds than are unrolled.
pub fn too_long(site: &Site<'_>) -> crate::ImportError {
    site.node
        .report(format!("has more than {ROUNDS_MAX} rounds"))
        .note("loops are unrolled")
        .help(format!("at most {ROUNDS_MAX}"))
        .unsupported()
}

pub(super) fn collects(site: &Site<'_>, found: &Bound) -> crate::ImportError {
    site.node.report(format!("collects {}", found.kind())).help("a tensor of each round").invalid()
}

impl Planner<'_> {
    /// What was collected in all rounds that there may be, as long as there are some in a run.
    fn ended(&mut self, site: &Site<'_>, all: ValueId, length: &Length) -> Result<ValueId> {
        let operand = self.operand(all);
        let mut dims = operand.lengths.clone();
        dims[0] = Some(length.clone()).filter(|length| length.as_number().is_none());
        self.told(site.name, operand, dims).map_err(|why| {
            site.node.report("does not go with lengths that callers decide").note(why).unsupported()
        })
    }

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
