//! When two scalar bodies compute the same: the second step of ISA Mapper, section 5.2.
//!
//! ```text
//! z + x * y     the instruction
//! s + w * i     the kernel:   x = w, y = i   or   x = i, y = w
//! s + i         the kernel:   x = i, y = 1
//! w * i         the kernel:   both ways, and z starts with zero
//! ```
//!
//! Operands of what commutes are tried both ways round. Chains of one operation are taken
//! apart where order does not matter: for integers, for extrema, and where the instruction
//! says that its `accumulation_order` may differ. One neutral element may be put in. A cast
//! is an operation as any other, so signs and widths are respected.

use weft_dialects::device::Instruction;
use weft_dialects::ir::{Block, Op, Val};

use crate::nest::{Nest, generic_inputs};

/// Operations whose operands may be swapped, and whose chains may be taken apart.
pub(crate) const COMMUTE: &[&str] = &[
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

/// Of these another order gives other roundings.
const ROUNDS: &[&str] = &["arith.addf", "arith.mulf"];

/// Casts that keep one a one.
const KEEPS_ONE: &[&str] = &["arith.extf", "arith.extsi", "arith.extui", "arith.sitofp"];

/// The longest chain of which every order is tried.
const LONGEST_CHAIN: usize = 4;

/// What an operand of an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The nest's input of this number or, after the inputs, output.
    Operand(usize),
    /// One everywhere.
    One,
}

/// What the operands of an instruction are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// One per operand.
    pub operands: Vec<Bound>,
    /// Whether the result is to start with the neutral element of what it adds.
    pub from_zero: bool,
}

impl Binding {
    /// For each operand the number of the nest's, or `None` for one everywhere
    /// (`operands` of `#tile.schedule`).
    pub fn numbers(&self) -> Vec<Option<usize>> {
        let number = |bound: &Bound| match bound {
            Bound::Operand(number) => Some(*number),
            Bound::One => None,
        };
        self.operands.iter().map(number).collect()
    }

    /// Returns whether a schedule names these operands, or none.
    pub fn is_named(&self, operands: &[Option<usize>]) -> bool {
        operands.is_empty() || self.numbers() == operands
    }

    /// The numbers of the nest's operands, where nothing was put in.
    pub fn plain(&self) -> Option<Vec<usize>> {
        if self.from_zero { None } else { self.numbers().into_iter().collect() }
    }
}

/// Where two bodies first differ, as far as matching got: the instruction's, the kernel's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What the instruction has.
    pub theirs: String,
    /// What the kernel has.
    pub ours: String,
}

/// Every way to bind the operands of a nest to those of an instruction.
///
/// # Errors
/// Where the bodies differ.
pub fn bindings<'c>(
    instruction: &Instruction<'c>,
    nest: &Nest<'c>,
) -> Result<Vec<Binding>, Difference> {
    let unlike = |theirs: &str, ours: &str| Difference { theirs: theirs.into(), ours: ours.into() };
    let generic = the_generic(instruction).ok_or_else(|| unlike("no single nest", "one"))?;
    let bodies = generic.body(0).zip(generic.body(0).and_then(Block::terminator));
    let (Some((body, end)), Some(ours)) = (bodies, nest.body.terminator()) else {
        return Err(unlike("no body", "no body"));
    };
    let (theirs, ours) = (end.operands(), ours.operands());
    if theirs.len() != ours.len() {
        let count = |n: usize| format!("{n} results");
        return Err(unlike(&count(theirs.len()), &count(ours.len())));
    }
    let mut search = Search {
        theirs: body,
        ours: nest.body,
        inputs: generic_inputs(generic),
        reassociate: instruction.accuracy().contains(&"accumulation_order"),
        found: Vec::new(),
        closest: None,
    };
    let state = State { bound: vec![None; body.args().len()], ..State::default() };
    search.solve(theirs.into_iter().zip(ours).map(|(t, o)| Goal::Same(t, o)).collect(), state);
    let mut ways: Vec<Binding> = Vec::new();
    for state in std::mem::take(&mut search.found) {
        if let Some(binding) = search.complete(state, nest)
            && !ways.contains(&binding)
        {
            ways.push(binding);
        }
    }
    match search.closest {
        Some((_, [theirs, ours])) if ways.is_empty() => Err(unlike(&words(theirs), &words(ours))),
        None if ways.is_empty() => Err(unlike("other operands", "its own")),
        _ => Ok(ways),
    }
}

/// The one nest of a meaning, where it works on the arguments in their order.
pub(crate) fn the_generic<'c>(instruction: &Instruction<'c>) -> Option<Op<'c>> {
    let meaning = instruction.meaning()?;
    let mut generics = meaning.iter().filter(|op| op.is("linalg.generic"));
    let generic = generics.next()?;
    (generics.next().is_none() && generic.operands() == meaning.args()).then_some(generic)
}

/// What a value is, for people.
fn words(value: Val<'_>) -> String {
    match value.def() {
        Some(op) => format!("{} on {}", op.name(), value.ty()),
        None => format!("an operand of {}", value.ty()),
    }
}

/// What is still to be shown.
#[derive(Clone, Copy)]
enum Goal<'c> {
    /// The instruction's value is the kernel's.
    Same(Val<'c>, Val<'c>),
    /// The instruction's value is one.
    One(Val<'c>),
}

/// What was assumed.
#[derive(Clone, Debug, Default)]
struct State {
    /// By the instruction's argument.
    bound: Vec<Option<Bound>>,
    /// Operations that were the same.
    depth: usize,
    /// Whether a neutral element was put in; one is enough.
    inserted: bool,
    from_zero: bool,
}

struct Search<'c> {
    theirs: Block<'c>,
    ours: Block<'c>,
    /// Inputs of the instruction.
    inputs: usize,
    /// Whether another order of adding is allowed.
    reassociate: bool,
    found: Vec<State>,
    closest: Option<(usize, [Val<'c>; 2])>,
}

impl<'c> Search<'c> {
    fn solve(&mut self, mut goals: Vec<Goal<'c>>, state: State) {
        match goals.pop() {
            None => self.found.push(state),
            Some(Goal::One(value)) => self.one(value, goals, state),
            Some(Goal::Same(theirs, ours)) => self.same(theirs, ours, goals, state),
        }
    }

    fn same(&mut self, theirs: Val<'c>, ours: Val<'c>, goals: Vec<Goal<'c>>, state: State) {
        if !state.inserted {
            self.insert(theirs, ours, &goals, &state);
        }
        match (theirs.def(), ours.def()) {
            (None, None) => self.bind(theirs, ours, goals, state),
            (Some(a), Some(b)) if alike(a, b) => {
                let state = State { depth: state.depth + 1, ..state };
                for pairs in self.pairings(a, b) {
                    let mut goals = goals.clone();
                    goals.extend(pairs.into_iter().map(|(t, o)| Goal::Same(t, o)));
                    self.solve(goals, state.clone());
                }
            }
            _ => self.differ(&state, theirs, ours),
        }
    }

    /// An argument is an argument; none is two.
    fn bind(&mut self, theirs: Val<'c>, ours: Val<'c>, goals: Vec<Goal<'c>>, mut state: State) {
        let inside =
            theirs.owner_block() == Some(self.theirs) && ours.owner_block() == Some(self.ours);
        if !inside || theirs.ty() != ours.ty() {
            self.differ(&state, theirs, ours);
            return;
        }
        let bound = Some(Bound::Operand(ours.index()));
        let fits = match state.bound[theirs.index()] {
            None => !state.bound.contains(&bound),
            already => already == bound,
        };
        if fits {
            state.bound[theirs.index()] = bound;
            self.solve(goals, state);
        }
    }

    /// `x * 1` for `x`, and `0 + x` for what starts.
    fn insert(&mut self, theirs: Val<'c>, ours: Val<'c>, goals: &[Goal<'c>], state: &State) {
        let Some(op) = theirs.def() else { return };
        let [left, right] = op.operands()[..] else { return };
        for (kept, other) in [(left, right), (right, left)] {
            let state = State { inserted: true, ..state.clone() };
            match op.name() {
                "arith.mulf" | "arith.muli" => {
                    let goals = [goals, &[Goal::Same(kept, ours), Goal::One(other)]].concat();
                    self.solve(goals, state);
                }
                "arith.addf" | "arith.addi" if self.is_result(other) => {
                    let goals = [goals, &[Goal::Same(kept, ours)]].concat();
                    self.solve(goals, State { from_zero: true, ..state });
                }
                _ => {}
            }
        }
    }

    fn is_result(&self, value: Val<'c>) -> bool {
        value.owner_block() == Some(self.theirs) && value.index() >= self.inputs
    }

    fn one(&mut self, mut value: Val<'c>, goals: Vec<Goal<'c>>, mut state: State) {
        while let Some(op) = value.def() {
            if !KEEPS_ONE.contains(&op.name()) {
                return;
            }
            value = op.operand(0);
        }
        let input = value.owner_block() == Some(self.theirs) && value.index() < self.inputs;
        if input && state.bound[value.index()].is_none() {
            state.bound[value.index()] = Some(Bound::One);
            self.solve(goals, state);
        }
    }

    /// Which operands of two like operations may be pairs.
    fn pairings(&self, a: Op<'c>, b: Op<'c>) -> Vec<Vec<(Val<'c>, Val<'c>)>> {
        let pairs = |theirs: &[Val<'c>], ours: &[Val<'c>]| -> Vec<_> {
            theirs.iter().copied().zip(ours.iter().copied()).collect()
        };
        let (left, right) = (a.operands(), b.operands());
        if !COMMUTE.contains(&a.name()) {
            return vec![pairs(&left, &right)];
        }
        if self.reassociate || !ROUNDS.contains(&a.name()) {
            let (left, right) = (chain(a), chain(b));
            if left.len() == right.len() && (3..=LONGEST_CHAIN).contains(&left.len()) {
                return orders(&right).iter().map(|right| pairs(&left, right)).collect();
            }
        }
        let both_ways = left.len() == 2 && left[0] != left[1] && right[0] != right[1];
        let mut ways = vec![pairs(&left, &right)];
        if both_ways {
            ways.push(pairs(&left, &[right[1], right[0]]));
        }
        ways
    }

    fn differ(&mut self, state: &State, theirs: Val<'c>, ours: Val<'c>) {
        // What was put in was a guess, and differs by its own fault.
        if !state.inserted && self.closest.as_ref().is_none_or(|(depth, _)| *depth < state.depth) {
            self.closest = Some((state.depth, [theirs, ours]));
        }
    }

    /// The binding that a solution is: inputs are inputs, every input of the kernel is used,
    /// and results are results in their order, also where nobody reads them.
    fn complete(&self, state: State, nest: &Nest<'c>) -> Option<Binding> {
        let mut operands = Vec::new();
        for (place, bound) in state.bound.iter().enumerate() {
            let result = place.checked_sub(self.inputs).map(|result| nest.inputs.len() + result);
            operands.push(match (bound, result) {
                (Some(Bound::Operand(number)), None) if *number < nest.inputs.len() => {
                    Bound::Operand(*number)
                }
                (Some(Bound::One), None) => Bound::One,
                (Some(Bound::Operand(number)), Some(result)) if *number == result => {
                    Bound::Operand(result)
                }
                (None, Some(result)) => Bound::Operand(result),
                _ => return None,
            });
        }
        let used = |number: usize| operands.contains(&Bound::Operand(number));
        // A neutral start is put in only where the kernel does not say how it starts.
        let reads = |output: usize| !nest.body.arg(nest.inputs.len() + output).uses().is_empty();
        let starts = state.from_zero && (0..nest.outputs.len()).any(reads);
        ((0..nest.inputs.len()).all(used) && !starts)
            .then_some(Binding { operands, from_zero: state.from_zero })
    }
}

/// The operands of a chain of one operation whose inner results nobody else uses.
fn chain<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let mut leaves = Vec::new();
    for value in op.operands() {
        match value.def() {
            Some(inner) if inner.name() == op.name() && value.uses().len() == 1 => {
                leaves.extend(chain(inner));
            }
            _ => leaves.push(value),
        }
    }
    leaves
}

/// Every order of some values.
fn orders<'c>(values: &[Val<'c>]) -> Vec<Vec<Val<'c>>> {
    if values.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in 0..values.len() {
        let mut rest = values.to_vec();
        let first = rest.remove(first);
        for mut order in orders(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

/// The same operation, with the same attributes.
fn alike<'c>(a: Op<'c>, b: Op<'c>) -> bool {
    let types = |op: Op<'c>| op.results().into_iter().map(Val::ty).collect::<Vec<_>>();
    a.name() == b.name()
        && a.operands().len() == b.operands().len()
        && a.attrs() == b.attrs()
        && types(a) == types(b)
}
