//! Bodies that are repeated when the model runs.
//!
//! ```text
//! Loop(M, cond, h)   ->  h' = graph.call @body(..., h), which is repeated M times: the name "i" stands for the
//!                        number of the round, and h is a state, which holds what the round before made
//! what is collected  ->  a state as well, of which i rows are there: a round writes its own behind them
//! If(cond)           ->  two bodies of one round each, of which one is done
//! ```
//!
//! What a body reads of what is around it, it is given.

use weft_dialects::graph::Dims;
use weft_runtime::length::Length;

use super::body::{Open, passes};
use super::structure::Site;
use super::{Bound, Planner, Value, control};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::graph::Graph;
use crate::inputs;
use crate::ops::suppress;
use crate::payload::identity;
use crate::plan::{Operand, Plan, ValueId};
use crate::types::{ElementType, TensorType};

/// As many rounds as this a loop has where nothing is said of them.
const UNBOUNDED: i64 = i32::MAX as i64;

/// A loop as its operator says it.
pub(super) struct Repeated<'a, 'm> {
    pub body: &'m Graph,
    /// How many rounds there are, as many as the condition holds without it; and at most.
    pub rounds: Option<Length>,
    pub most: i64,
    /// Whether there is a first round; none where that is not asked.
    pub condition: Option<&'a Bound>,
    pub carried: &'a [Bound],
    /// What is read in each round: a tensor, along which axis, and whether from its end.
    pub reads: &'a [(ValueId, usize, bool)],
    /// Of what is collected the axis, and whether from its end.
    pub writes: &'a [(i64, bool)],
}

impl<'m> Planner<'m> {
    /// What a loop gives: what it carries, then what it collects.
    pub(super) fn repeat(&mut self, site: &Site<'m>, own: &Repeated<'_, 'm>) -> Result<Vec<Bound>> {
        let inits = self.inits(site, own)?;
        let condition = match own.condition {
            Some(Bound::Tensor(id)) => Some(self.calculated(*id)),
            Some(Bound::Nothing) => {
                Some(self.literal(Elements::scalar(ElementType::Bool, Scalar::Int(1))))
            }
            Some(other) => return Err(site.wrong_kind("cond", other, "a tensor")),
            None => None,
        };
        let mut open = self.open(self.round_name(), own.rounds.clone(), own.most);
        let asked = condition.map(|id| self.state_of(&mut open, id));
        let states = inits.iter().map(|init| init.map(|id| self.state_of(&mut open, id)));
        let states: Vec<_> = states.collect();
        let inputs = self.given(site, own, &open, (asked, &states))?;
        let made = self.run_body(own.body, site.name, inputs)?;
        let mut made = made.into_iter();
        let conditional = match asked.zip(condition) {
            Some(asked) => {
                let next = made.next().expect("a body makes its condition");
                self.goes_on(site, own, &mut open, asked, &next)?
            }
            None => false,
        };
        if !conditional && own.rounds.is_none() {
            let report = site.node.report("loops without end");
            return Err(report.help("a number of rounds, or a condition").invalid());
        }
        let next = made.by_ref().take(states.len()).collect();
        // What is collected is read before a state is written over, which it may be.
        let collected = self.collect(site, own, &mut open, made.collect(), conditional)?;
        let rows = open.results.split_off(usize::from(conditional));
        self.carry(site, &mut open, &states, next)?;
        open.results.extend(rows);
        let counted = conditional && !own.writes.is_empty();
        if counted {
            self.count(&mut open);
        }
        let results = self.close(open, site.name, conditional);
        let mut results = results.into_iter().skip(usize::from(conditional));
        let carried = states.iter().zip(own.carried).map(|(state, before)| match state {
            Some(_) => Bound::Tensor(results.next().expect("a result for each state")),
            None => before.clone(),
        });
        let mut all: Vec<_> = carried.collect();
        let rows: Vec<_> = results.by_ref().take(own.writes.len()).collect();
        let length = match results.next() {
            Some(count) => {
                let count = self.copy(site.name, count);
                Some(self.find(site.name, count, own.most))
            }
            None => {
                let rounds = own.rounds.clone().filter(|rounds| rounds.as_number().is_none());
                let most = Length::number(own.most);
                rounds.map(|rounds| self.graph.symbols.least(&rounds, &most))
            }
        };
        for (row, (dims, axis)) in rows.into_iter().zip(collected) {
            let value = &mut self.graph.values[row.0];
            value.dims = dims;
            value.dims[0] = length.clone();
            all.push(Bound::Tensor(self.axis_to(site, row, axis)?));
        }
        Ok(all)
    }

    /// What the states of a loop begin as; none of what every round gives on as it is.
    fn inits(&mut self, site: &Site<'m>, own: &Repeated<'_, 'm>) -> Result<Vec<Option<ValueId>>> {
        let first = own.body.inputs.len() - own.carried.len() - own.reads.len();
        let asks = usize::from(own.condition.is_some());
        let init = |(number, one): (usize, &Bound)| match one {
            _ if passes(own.body, first + number, number + asks) => Ok(None),
            Bound::Tensor(id) => Ok(Some(self.of_its_own(site.name, *id))),
            other => Err(site.wrong_kind("what is carried", other, "a tensor")),
        };
        own.carried.iter().enumerate().map(init).collect()
    }

    /// What a round is given: its number and the condition, what is carried, and rows.
    fn given(
        &mut self,
        site: &Site<'m>,
        own: &Repeated<'_, 'm>,
        open: &Open,
        (asked, states): (Option<ValueId>, &[Option<ValueId>]),
    ) -> Result<Vec<Bound>> {
        let mut given = Vec::new();
        if let Some(asked) = asked {
            given.push(Bound::Tensor(self.round_number(own, open)?));
            given.push(Bound::Tensor(asked));
        }
        let carried = states.iter().zip(own.carried);
        given.extend(carried.map(|(state, one)| state.map_or_else(|| one.clone(), Bound::Tensor)));
        for &(id, axis, back) in own.reads {
            let at = open.row(own.rounds.as_ref().filter(|_| back));
            given.push(Bound::Tensor(self.row_at(site.name, id, axis, &at)));
        }
        Ok(given)
    }

    /// What becomes of the condition; says whether it decides anything. It is no state where it does not.
    fn goes_on(
        &mut self,
        site: &Site<'_>,
        own: &Repeated<'_, '_>,
        open: &mut Open,
        (asked, first): (ValueId, ValueId),
        next: &Bound,
    ) -> Result<bool> {
        let always = |id: ValueId| {
            let Value { known, numbers, fixed, .. } = &self.graph.values[id.0];
            let known = known.as_ref().filter(|_| *fixed && numbers.is_none());
            known.and_then(Elements::single).is_some_and(|own| own.as_int() != 0)
        };
        let stays = match next {
            Bound::Tensor(next) => *next == asked || passes(own.body, 1, 0) || always(*next),
            _ => false,
        };
        if always(first) && stays {
            open.states.remove(0);
            open.inits.remove(0);
            return Ok(false);
        }
        // One element is one, however it is shaped.
        let mut next = next.clone();
        if let Bound::Tensor(id) = next
            && self.graph.values[id.0].ty.elements() == 1
        {
            let (made, ty) = (self.operand(id), self.graph.values[asked.0].ty.clone());
            if made.dims() != ty.dims() {
                let plan = Plan::new(vec![made], vec![ty.clone()], move |b, args| {
                    vec![b.reshape(&args[0], ty.dims())]
                });
                next = Bound::Tensor(self.step("Reshape", site.name, plan)[0]);
            }
        }
        let next = self.becomes(site, asked, &next)?;
        open.results.push(next);
        Ok(true)
    }

    /// What becomes of what is carried.
    fn carry(
        &mut self,
        site: &Site<'_>,
        open: &mut Open,
        states: &[Option<ValueId>],
        mut next: Vec<Bound>,
    ) -> Result<()> {
        for (state, made) in states.iter().zip(&mut next) {
            // Another state is written over before this one is.
            if let Bound::Tensor(id) = *made
                && *state != Some(id)
                && open.states.contains(&self.shown(id))
            {
                *made = Bound::Tensor(self.copy(site.name, id));
            }
        }
        for (state, made) in states.iter().zip(&next) {
            if let Some(state) = *state {
                let result = self.becomes(site, state, made)?;
                open.results.push(result);
            }
        }
        Ok(())
    }

    /// Writes what a round has made behind what the ones before have: for each the lengths of the whole,
    /// and its axis.
    fn collect(
        &mut self,
        site: &Site<'_>,
        own: &Repeated<'_, '_>,
        open: &mut Open,
        made: Vec<Bound>,
        conditional: bool,
    ) -> Result<Vec<(Dims, usize)>> {
        let mut collected = Vec::new();
        for (one, &(axis, back)) in made.into_iter().zip(own.writes) {
            let Bound::Tensor(id) = one else { return Err(control::collects(site, &one)) };
            let id = self.calculated(id);
            self.leaves(site, open, id)?;
            let row = self.operand(id);
            if own.most >= UNBOUNDED {
                return Err(site
                    .node
                    .report(
                        "collects a tensor of each round, and nothing says how many there may be",
                    )
                    .help("a number of rounds at most: M that is known, or --rounds")
                    .unsupported());
            }
            if back && (conditional || own.rounds.is_none()) {
                return Err(site
                    .node
                    .unsupported("collects rows from an end that a condition decides"));
            }
            let axis = site.node.axis(axis, row.rank() + 1)?;
            let dims = [&[own.most], row.dims()].concat();
            let ty = site.node.ty(row.element(), dims)?;
            let rounds = own.rounds.as_ref().filter(|_| back);
            let whole = self.collect_row(open, site.name, id, (ty, rounds));
            collected.push((whole, axis));
        }
        Ok(collected)
    }

    /// Writes a row behind those of the rounds before, or in front of them where it is said how many rounds there
    /// are; gives the lengths of all of them together.
    pub(super) fn collect_row(
        &mut self,
        open: &mut Open,
        name: &str,
        row: ValueId,
        (ty, rounds): (TensorType, Option<&Length>),
    ) -> Dims {
        let row = self.operand(row);
        let mut lengths: Dims = row.lengths.clone();
        lengths.resize(row.rank(), None);
        let at = open.row(rounds);
        let there = rounds.is_none().then(|| at.clone());
        let whole: Dims = std::iter::once(there).chain(lengths).collect();
        // It reads nothing, so it is written where it is read: in front of the body.
        let init = self.nothing(name, ty.clone());
        let state = self.state(open, init, whole.clone());
        let operands = vec![row, self.operand(state)];
        let says = vec![at.clone()];
        let plan = Plan::new(operands, vec![ty], move |b, args| {
            let row = b.reshape(&args[0], &[&[1], args[0].dims()].concat());
            vec![b.insert_behind(&row, &args[1], 0, &at)]
        });
        let result = self.told_step(("Loop", name), Plan { says, ..plan }, vec![None])[0];
        open.results.push(result);
        whole
    }

    /// Counts rounds.
    fn count(&mut self, open: &mut Open) {
        let ty = TensorType::temporary(ElementType::I64, &[1]);
        let init = self.literal(Elements::from_scalars(ty.clone(), [Scalar::Int(0)]));
        self.state(open, init, vec![None]);
        let next = open.round.plus(&Length::number(1), 1);
        let number = self.places(&[1], ty, vec![next]);
        let number = self.written_numbers(number);
        open.results.push(number);
    }

    /// The number of the round, with a dimension where the body says so.
    fn round_number(&mut self, own: &Repeated<'_, '_>, open: &Open) -> Result<ValueId> {
        let declared = inputs::declared(&own.body.inputs[0], "the number of the round")?;
        let rank = declared.and_then(|declared| declared.dims).map_or(0, |dims| dims.len().min(1));
        let ty = TensorType::new(ElementType::I64, vec![1; rank], "the number of the round")?;
        Ok(self.places(&[(own.most - 1).max(0)], ty, vec![open.round.clone()]))
    }

    /// The row of a tensor at a place that a length says, in front of its end.
    pub(super) fn row_at(
        &mut self,
        name: &str,
        data: ValueId,
        axis: usize,
        at: &Length,
    ) -> ValueId {
        let data = self.operand(data);
        let (mut dims, mut lengths) = (data.dims().to_vec(), data.lengths.clone());
        dims.remove(axis);
        lengths.resize(data.rank(), None);
        lengths.remove(axis);
        let (at, element) = (at.clone(), data.element());
        let says = vec![at.clone()];
        let ty = TensorType::temporary(element, &dims);
        let plan = Plan::new(vec![data], vec![ty], move |b, args| {
            let row = b.row_at(&args[0], axis, &at);
            vec![b.reshape(&row, &dims)]
        });
        self.told_step(("Gather", name), Plan { says, ..plan }, vec![Some(lengths)])[0]
    }

    /// A tensor with its first axis at another place.
    fn axis_to(&mut self, site: &Site<'_>, id: ValueId, axis: usize) -> Result<ValueId> {
        if axis == 0 {
            return Ok(id);
        }
        let own = self.operand(id);
        let mut order: Vec<usize> = (1..own.rank()).collect();
        order.insert(axis, 0);
        let dims: Vec<i64> = order.iter().map(|&dim| own.dims()[dim]).collect();
        let ty = site.node.ty(own.element(), dims.clone())?;
        let plan = Plan::new(vec![own], vec![ty], move |b, args| {
            let whole = identity(dims.len());
            let mut access = whole.clone();
            for (place, &dim) in order.iter().enumerate() {
                access[dim] = whole[place].clone();
            }
            vec![b.move_at(args[0].element(), &dims, &[(&args[0], access)], |_, x| x[0])]
        });
        Ok(self.step("Transpose", site.name, plan)[0])
    }

    /// The boxes that are taken by a NonMaxSuppression of many rounds.
    pub(super) fn suppressed(
        &mut self,
        name: &str,
        operands: Vec<Operand>,
        asked: suppress::Asked,
    ) -> ValueId {
        let kind = "NonMaxSuppression";
        let (rounds, overlap) = (asked.rounds, asked.overlap.map(|at| operands[at].clone()));
        let made = self.step(kind, name, suppress::begin(operands, asked));
        let [ref sides @ .., left, lists] = made[..] else { unreachable!("six are made") };
        let sides: Vec<_> = sides.iter().map(|&side| self.operand(side)).chain(overlap).collect();
        let some = Elements::scalar(ElementType::Bool, Scalar::Int(1));
        let some = some.reshaped(TensorType::temporary(ElementType::Bool, &[1]));
        let some = self.literal(some);
        let mut open = self.open(self.round_name(), Some(Length::number(rounds)), rounds);
        let [_, left, lists] = [some, left, lists].map(|id| self.state_of(&mut open, id));
        let best = self.step(kind, name, suppress::round(&self.operand(left)));
        let plan = suppress::rest(&self.operand(left), &self.operand(best[0]), sides);
        let rest = self.step(kind, name, plan)[0];
        let (lists, row) = (self.operand(lists), self.operand(best[0]));
        let (at, ty) = (open.round.clone(), lists.ty.clone());
        let says = vec![at.clone()];
        let plan = Plan::new(vec![row, lists], vec![ty], move |b, args| {
            let row = b.reshape(&args[0], &[&[1], args[0].dims()].concat());
            vec![b.insert_behind(&row, &args[1], 0, &at)]
        });
        let lists = self.step(kind, name, Plan { says, ..plan })[0];
        open.results = vec![best[1], rest, lists];
        let lists = self.close(open, name, true)[2];
        self.step(kind, name, suppress::listed(&self.operand(lists)))[0]
    }

    /// What the branches of an If give, of which a run does one.
    pub(super) fn either(
        &mut self,
        site: &Site<'m>,
        condition: &Operand,
        branches: [&'m Graph; 2],
    ) -> Result<Vec<Bound>> {
        let yes = self.calculated(condition.id);
        let no = {
            let plan = opposite(condition);
            self.step("Not", site.name, plan)[0]
        };
        let mut before: Option<Vec<ValueId>> = None;
        for (decides, branch, place) in [(yes, branches[0], "then"), (no, branches[1], "else")] {
            let mut open = self.open(self.round_name(), Some(Length::number(1)), 1);
            let asked = self.state_of(&mut open, decides);
            open.results.push(asked);
            let made = control::results(self, site, branch, &format!("{}/{place}", site.name))?;
            let mut ids = Vec::new();
            for one in &made {
                let Bound::Tensor(id) = *one else {
                    return Err(site.wrong_kind("a branch", one, "a tensor"));
                };
                let id = self.calculated(id);
                self.leaves(site, &open, id)?;
                ids.push(id);
            }
            let inits = match &before {
                Some(before) => before.clone(),
                None => ids
                    .iter()
                    .map(|id| {
                        let Value { ty, dims, .. } = &self.graph.values[id.0];
                        let (ty, dims) = (ty.clone(), dims.clone());
                        let nothing = self.nothing(site.name, ty);
                        self.graph.values[nothing.0].dims = dims;
                        nothing
                    })
                    .collect(),
            };
            for (&id, init) in ids.iter().zip(inits) {
                let dims = self.graph.values[init.0].dims.clone();
                let state = self.state(&mut open, init, dims);
                let result = self.becomes(site, state, &Bound::Tensor(id))?;
                open.results.push(result);
            }
            let made = self.close(open, &format!("{}/{place}", site.name), true);
            before = Some(made[1..].to_vec());
        }
        Ok(before.into_iter().flatten().map(Bound::Tensor).collect())
    }
}

fn opposite(condition: &Operand) -> Plan {
    let rank = condition.rank();
    let ty = TensorType::temporary(ElementType::Bool, condition.dims());
    Plan::new(vec![condition.clone()], vec![ty], move |b, args| {
        let inputs = [(&args[0], identity(rank))];
        vec![b.map_at(ElementType::Bool, args[0].dims(), &inputs, |calc, x| calc.not(x[0]))]
    })
}
