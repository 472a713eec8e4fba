//! Bodies: what is repeated when a model runs, while it is planned.
//!
//! A body is a stretch of steps, with values that it holds from round to round, its states. The step behind it repeats
//! it (`rolled.rs`), and is written as a call of a model of its own (`write.rs`).

use std::collections::BTreeMap;
use std::ops::Range;

use weft_dialects::graph::Dims;
use weft_runtime::length::Length;

use super::structure::Site;
use super::{Bound, Planner, Source, Step, Value};
use crate::error::Result;
use crate::graph::Graph;
use crate::lengths::{Found, StepLengths, Symbols};
use crate::plan::{Plan, ValueId};
use crate::types::TensorType;

/// What a step repeats.
pub(super) struct Body {
    /// Its steps, those of bodies in it among them; the one that repeats it comes next.
    pub steps: Range<usize>,
    pub round: String,
    pub rounds: Option<Length>,
    /// The first state says whether there is another round.
    pub conditional: bool,
    /// What it holds from round to round, and what that becomes.
    pub states: Vec<ValueId>,
    pub results: Vec<ValueId>,
    /// True while it is planned.
    is_open: bool,
}

/// A body while it is planned.
pub(super) struct Open {
    body: usize,
    /// What states begin as.
    pub inits: Vec<ValueId>,
    pub states: Vec<ValueId>,
    /// What they become.
    pub results: Vec<ValueId>,
    /// The number of the round.
    pub round: Length,
    /// Number of lengths that data have decided before.
    finds: usize,
}

impl Open {
    /// The row that a round is at: the number of the round, or so many before the last of all rounds.
    pub fn row(&self, from_end_of: Option<&Length>) -> Length {
        let last = |rounds: &Length| rounds.plus(&Length::number(1), -1);
        from_end_of.map_or_else(|| self.round.clone(), |rounds| last(rounds).plus(&self.round, -1))
    }
}

/// As far as a model was planned.
pub(super) struct Mark {
    values: usize,
    steps: usize,
    finds: usize,
    bodies: usize,
    symbols: Symbols,
}

impl Planner<'_> {
    pub(super) fn mark(&self) -> Mark {
        let (values, steps) = (self.graph.values.len(), self.graph.steps.len());
        let (finds, bodies) = (self.graph.finds.len(), self.graph.bodies.len());
        Mark { values, steps, finds, bodies, symbols: self.graph.symbols.clone() }
    }

    /// Forgets what was planned since.
    pub(super) fn undo(&mut self, mark: Mark) {
        self.graph.values.truncate(mark.values);
        self.graph.steps.truncate(mark.steps);
        self.graph.finds.truncate(mark.finds);
        self.graph.bodies.truncate(mark.bodies);
        self.graph.symbols = mark.symbols;
        self.weights.retain(|_, id| id.0 < mark.values);
    }

    /// What `plan` gives; nothing is left of it where it fails.
    pub(super) fn attempt<T>(&mut self, plan: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let (mark, refused) = (self.mark(), self.refused.take());
        let made = plan(self).and_then(|made| self.refused.take().map_or(Ok(made), Err));
        self.refused = refused;
        if made.is_err() {
            self.undo(mark);
        }
        made
    }

    /// A name for the number of a round.
    pub(super) fn round_name(&self) -> &'static str {
        const NAMES: [&str; 4] = ["i", "j", "k", "l"];
        let around = self.graph.bodies.iter().filter(|body| body.is_open).count();
        NAMES[around.min(NAMES.len() - 1)]
    }

    /// Begins a body of at most so many rounds.
    pub(super) fn open(&mut self, name: &str, rounds: Option<Length>, most: i64) -> Open {
        let of = rounds.clone().unwrap_or_else(|| Length::number(most));
        let round = self.graph.symbols.round(name, (most - 1).max(0).unsigned_abs(), of);
        let first = self.graph.steps.len();
        let (states, results) = (Vec::new(), Vec::new());
        self.graph.bodies.push(Body {
            steps: first..first,
            round: round.clone(),
            rounds,
            conditional: false,
            states,
            results,
            is_open: true,
        });
        Open {
            body: self.graph.bodies.len() - 1,
            inits: Vec::new(),
            states: Vec::new(),
            results: Vec::new(),
            round: Length::symbol(&round),
            finds: self.graph.finds.len(),
        }
    }

    /// Refuses a value of a body that is as long as the body decides: nobody outside knows that.
    pub(super) fn leaves(&self, site: &Site<'_>, open: &Open, id: ValueId) -> Result<()> {
        let finds = self.graph.finds[open.finds..].iter().map(|(name, _)| name);
        let rounds = self.graph.bodies[open.body..].iter().map(|body| &body.round);
        let inside: Vec<&String> = finds.chain(rounds).collect();
        let lengths = self.graph.values[id.0].dims.iter().flatten();
        let decided = |length: &&Length| {
            length.symbols().into_iter().any(|name| inside.iter().any(|own| *own == name))
        };
        match { lengths }.find(decided) {
            None => Ok(()),
            Some(length) => Err(site
                .node
                .report(format!("gives tensors of `{length}` elements, which each round decides"))
                .help("tensors that are as long in every round")
                .unsupported()),
        }
    }

    /// A value of the body that begins as `init`, and is always as long as that.
    pub(super) fn state_of(&mut self, open: &mut Open, init: ValueId) -> ValueId {
        self.state(open, init, self.graph.values[init.0].dims.clone())
    }

    /// A value of the body that begins as `init`; of as much as `dims` say.
    pub(super) fn state(&mut self, open: &mut Open, init: ValueId, dims: Dims) -> ValueId {
        let ty = self.graph.values[init.0].ty.clone();
        let source = Source::State { body: open.body };
        let state = self.add(Value { dims, ..Value::new(source, ty, None, false) });
        open.inits.push(init);
        open.states.push(state);
        state
    }

    /// Ends a body; gives its states behind the last round.
    pub(super) fn close(&mut self, open: Open, name: &str, conditional: bool) -> Vec<ValueId> {
        let Open { body, inits, states, results, .. } = open;
        assert_eq!(states.len(), results.len(), "each state becomes something");
        let end = self.graph.steps.len();
        let own = &mut self.graph.bodies[body];
        (own.states, own.results, own.conditional) = (states, results, conditional);
        (own.steps.end, own.is_open) = (end, false);
        let says = own.rounds.iter().cloned().collect();
        let operands = inits.iter().map(|&init| self.operand(init)).collect();
        let types: Vec<_> = inits.iter().map(|init| self.graph.values[init.0].ty.clone()).collect();
        let plan = Plan::new(operands, types.clone(), |_, _| unreachable!("a body is no payload"));
        let plan = Plan { says, ..plan };
        let name = format!("{}{name}", self.path());
        let (kind, lengths, repeats) = ("Loop", StepLengths::default(), Some(body));
        self.graph.steps.push(Step { kind, name, plan, lengths, repeats });
        let results = types.into_iter().zip(inits).enumerate().map(|(index, (ty, init))| {
            let dims = self.graph.values[init.0].dims.clone();
            let source = Source::Result { step: end, index };
            self.add(Value { dims, ..Value::new(source, ty, None, false) })
        });
        results.collect()
    }

    /// What a state may begin as: memory that rounds write over. One of a length is copied by a kernel that knows it.
    pub(super) fn of_its_own(&mut self, name: &str, id: ValueId) -> ValueId {
        let id = self.calculated(id);
        match self.graph.values[id.0].dims.iter().all(Option::is_none) {
            true => id,
            false => self.copy(name, id),
        }
    }

    /// A tensor that holds nothing yet.
    pub(super) fn nothing(&mut self, name: &str, ty: TensorType) -> ValueId {
        let plan =
            Plan::new(vec![], vec![ty.clone()], move |b, _| vec![b.empty(ty.element(), ty.dims())]);
        self.planned("Empty", name, plan, Found::default())[0]
    }

    /// What becomes of a state, which is of its type and as long as it.
    pub(super) fn becomes(
        &mut self,
        site: &Site<'_>,
        state: ValueId,
        made: &Bound,
    ) -> Result<ValueId> {
        let Bound::Tensor(made) = *made else {
            return Err(site.wrong_kind("what a round makes", made, "a tensor"));
        };
        // Numbers that follow from lengths are calculated.
        let made = self.calculated(made);
        let [own, new] = [state, made].map(|id| &self.graph.values[id.0]);
        if own.ty != new.ty || own.dims != new.dims {
            return Err(site
                .node
                .report(format!(
                    "carries {} from round to round, of which one makes {}",
                    own.ty, new.ty
                ))
                .note("how many rounds there are is only known at run time, or they are many")
                .help("tensors that keep their shape")
                .unsupported());
        }
        Ok(self.written_over(site.name, state, made))
    }

    /// What a state becomes, where it lies: how much there is of one of a length, a copy must know.
    pub(super) fn written_over(&mut self, name: &str, state: ValueId, made: ValueId) -> ValueId {
        if self.graph.values[state.0].dims.iter().all(Option::is_none) || state == made {
            return made;
        }
        let operands = vec![self.operand(made), self.operand(state)];
        let ty = operands[1].ty.clone();
        let plan = Plan::new(operands, vec![ty], |b, args| {
            let zero = vec![0; args[0].dims().len()];
            vec![b.insert(&args[0], &args[1], &zero, &vec![1; zero.len()])]
        });
        self.step("Identity", name, plan)[0]
    }
}

/// Whether an output of a body is its input, given on as it is.
pub(super) fn passes(body: &Graph, input: usize, output: usize) -> bool {
    let (Some(input), Some(output)) = (body.inputs.get(input), body.outputs.get(output)) else {
        return false;
    };
    let mut made: BTreeMap<&str, &str> = BTreeMap::new();
    for vertex in &body.nodes {
        let proto = &vertex.proto;
        if let ("Identity", [from], [to]) = (proto.op_type(), &proto.input[..], &proto.output[..]) {
            made.insert(to, from);
        }
    }
    let mut name = output.name();
    while let Some(from) = made.get(name) {
        name = from;
    }
    name == input.name()
}
