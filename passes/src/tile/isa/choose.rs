//! The cheapest mapping of an instruction, and the tile that feeds it.
//!
//! Tiles are constructed from one instruction on (`tiles.rs`) and compared by their cycles. For
//! which mappings they are is the strategy, what is cheaper the model; both are options, and
//! neither changes what is legal.

use std::borrow::Cow;

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::tile::RTile;

use super::super::why::Rule;
use super::cost::Mapped;
use super::enumerate::{Filter, mappings};
use super::finish::Finish;
use super::has_axes;
use super::mapping::Mapping;
use super::refusal::Refusal;
use super::residue::{self, Begin, padding_is_neutral};
use super::tiles;
use super::unify::Bound;
use crate::cost::Cost;
use crate::nest::Nest;
use crate::remarks::Refused;

/// Which mappings are looked at closely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Every one that could still be the cheapest.
    #[default]
    Exhaustive,
    /// The one that computes most for a byte that it brings.
    Greedy,
    /// The best few of that order.
    Beam,
}

/// What a tile costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// Engines bring the next step's operands while this one's are used.
    #[default]
    Overlapped,
    /// One thing at a time.
    Summed,
}

/// What waits near a unit beside the nest that an instruction is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near<'n> {
    /// The memory.
    pub memory: &'n str,
    /// Bytes of it that others' tiles take.
    pub taken: u64,
    /// By the number of the nest's access, whether it is to a tile that waits there.
    pub inside: &'n [bool],
}

/// How to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search<'n> {
    /// Which mappings are looked at closely.
    pub strategy: Strategy,
    /// What a tile costs.
    pub model: Model,
    /// Whether every tile that fits is compared, instead of those that are constructed.
    pub all_tiles: bool,
    /// How many units are to share the nest: tiles that are as many, or half as many and so on, are
    /// compared, too. 0 where one unit does all of it.
    pub spread: u64,
    /// Whether each group of lanes works for itself, where several could share an rTask.
    pub apart: bool,
    /// What waits near the unit; without it all tensors lie in the shared memory.
    pub near: Option<Near<'n>>,
}

impl Strategy {
    /// What the option's words stand for.
    pub const WORDS: [(&str, Self); 3] =
        [("exhaustive", Self::Exhaustive), ("greedy", Self::Greedy), ("beam", Self::Beam)];
}

impl Model {
    /// What the option's words stand for.
    pub const WORDS: [(&str, Self); 2] =
        [("overlapped", Self::Overlapped), ("summed", Self::Summed)];
}

/// Mappings that a beam keeps.
const BEAM: usize = 4;

/// A mapped instruction with the rTile that feeds it.
#[derive(Clone, Debug)]
pub struct Matrix<'c> {
    /// Which axes are which.
    pub mapping: Mapping<'c>,
    /// The tile held near the instruction: its memory is that of the accumulator.
    pub tile: RTile,
    /// Steps of the innermost looped reduction whose inputs have room at the same time.
    pub stages: u64,
    /// What the mapping is predicted to take on one unit with its cheapest tile there, by which it is
    /// compared with other ways.
    pub cost: Cost,
    /// What it takes on one unit with its tile, which leaves work to others.
    pub tile_cost: Cost,
    /// Cycles until all units together are done with that tile.
    pub elapsed: f64,
    /// The rule by which the tile was constructed.
    pub(crate) rule: Rule,
    /// Tiles that were compared, of all mappings.
    pub compared: usize,
}

/// A mapping that was looked at, and what became of it.
#[derive(Clone, Debug)]
pub struct Considered {
    /// The mapping, for people.
    pub mapping: String,
    /// Predicted cycles on one unit, where its tile was grown.
    pub cycles: Option<f64>,
    /// Why it is not the one; `None` for the one that was kept.
    pub dropped: Option<String>,
}

/// The cheapest way for each instruction that means the body.
pub fn choices<'c>(machine: Machine<'c>, nest: &Nest<'c>, search: Search<'_>) -> Vec<Matrix<'c>> {
    // What `lacks` would refuse of every mapping is not mapped at all.
    if nest.outputs.len() != 1 {
        return Vec::new();
    }
    let instructions = machine.instructions().into_iter();
    let own = instructions.filter(|own| {
        has_axes(own)
            && own.layouts().iter().all(Option::is_none)
            && (nest.epilogue.is_none() || Finish::of(machine, nest, own).is_some())
    });
    own.filter_map(|own| consider(machine, nest, &own, search, &mut Vec::new()).ok()).collect()
}

/// A tile that feeds an instruction, and the rule by which it was constructed.
type Ruled = (Vec<u64>, Rule);

/// The cheapest mapping so far, and the tiles that feed it.
struct Best<'c> {
    cost: Cost,
    tiles: Vec<Ruled>,
    mapping: Mapping<'c>,
}

/// The cheapest way for one instruction; writes down what became of every mapping.
///
/// # Errors
/// Why no mapping can be used.
pub fn consider<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    instruction: &Instruction<'c>,
    search: Search<'_>,
    record: &mut Vec<Considered>,
) -> Result<Matrix<'c>, Refusal> {
    let closely = match search.strategy {
        Strategy::Exhaustive => usize::MAX,
        Strategy::Greedy => 1,
        Strategy::Beam => BEAM,
    };
    let (mut refusal, mut grown, mut compared) = (None, 0, 0);
    let mut best: Option<Best<'c>> = None;
    for (least, mapping) in ranked(machine, nest, instruction, search)? {
        let what = mapping.describe();
        let mut note = |cycles: Option<f64>, dropped: Option<String>| {
            record.push(Considered { mapping: what.clone(), cycles, dropped });
        };
        if let Some(best) = &best
            && let Some(why) = is_hopeless(least, best.cost.cycles, grown >= closely)
        {
            note(None, Some(why));
            continue;
        }
        let mapped = Mapped::new(machine, nest, &mapping, search.near);
        match start(&mapped) {
            Err(why) => {
                note(None, Some(why.to_string()));
                refusal = Some(why);
            }
            Ok(sizes) => {
                grown += 1;
                let tiles = tiles(&mapped, &sizes, search);
                compared += tiles.len();
                let cost = |tile: &[u64]| mapped.cost(tile, search.model);
                let (tile, _) = cheapest(&tiles, &|tile| cost(tile).cycles);
                let cost = cost(&tile);
                let before = best.as_ref().map(|best| best.cost.cycles);
                let cheaper = before.is_none_or(|least| cost.cycles < least);
                let dropped = before.filter(|_| !cheaper);
                let dropped = dropped.map(|least| self::dropped("cycles", NO_MORE, least));
                note(Some(cost.cycles), dropped);
                if cheaper {
                    best = Some(Best { cost, tiles, mapping });
                }
            }
        }
    }
    let Some(Best { cost, tiles, mapping }) = best else {
        let instruction = instruction.name.to_owned();
        return Err(refusal.unwrap_or(Refusal::Boolean { instruction }));
    };
    drop_all_but_the_last(record, cost.cycles);
    // What it costs by itself decides whether it is taken; how far its tile grows, how soon
    // all units together are done.
    let mapped = Mapped::new(machine, nest, &mapping, search.near);
    let (sizes, rule) = cheapest(&tiles, &|tile| mapped.elapsed(tile, search.model));
    let (stages, tile_cost) = (mapped.stages(&sizes), mapped.cost(&sizes, search.model));
    let elapsed = mapped.elapsed(&sizes, search.model);
    let memory = mapping.result(nest).map_or("", |result| mapping.instruction.operands()[result]);
    let tile = RTile { memory: memory.to_owned(), sizes };
    Ok(Matrix { tile, stages, mapping, cost, tile_cost, elapsed, rule, compared })
}

/// The mappings of an instruction with the cycles of their instructions alone: those of the fewest
/// first, so that most others cannot be cheaper; of those, the one that reuses most. The order of
/// the enumeration decides ties.
fn ranked<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    instruction: &Instruction<'c>,
    search: Search<'_>,
) -> Result<Vec<(f64, Mapping<'c>)>, Refusal> {
    let all = mappings(instruction, nest, Filter::Signature)?.into_iter().map(|mapping| {
        let mapped = Mapped::new(machine, nest, &mapping, search.near);
        (mapped.least_cycles(), reuse(&mapped), mapping)
    });
    let mut ranked: Vec<(f64, f64, Mapping<'c>)> = all.collect();
    ranked.sort_by(|one, other| {
        let fewest = one.0.total_cmp(&other.0);
        fewest.then(other.1.total_cmp(&one.1))
    });
    Ok(ranked.into_iter().map(|(least, _, mapping)| (least, mapping)).collect())
}

/// The reason not to look closely at a mapping whose instructions alone take `least` cycles, where
/// the best one takes `best`; `enough` where as many were looked at as the strategy wants.
fn is_hopeless(least: f64, best: f64, enough: bool) -> Option<String> {
    if least >= best {
        let why = format!("its instructions alone take {least:.0} cycles");
        return Some(dropped("least", why, best));
    }
    enough.then(|| dropped("intensity", "another one computes more for a byte", best))
}

/// Only the last mapping that was cheaper is kept.
fn drop_all_but_the_last(record: &mut [Considered], cycles: f64) {
    let kept = record.iter().rposition(|one| one.dropped.is_none());
    for (at, one) in record.iter_mut().enumerate() {
        if one.dropped.is_none() && Some(at) != kept {
            one.dropped = Some(dropped("cycles", NO_MORE, cycles));
        }
    }
}

const NO_MORE: &str = "another one takes no more";

/// Why a mapping is not taken: the rule, and what the best one takes.
fn dropped(rule: &'static str, why: impl Into<Cow<'static, str>>, best: f64) -> String {
    Refused::by(rule, why).met(format!("{best:.0} cycles")).to_string()
}

/// Points that one instruction computes for a byte that is brought for it.
fn reuse(mapped: &Mapped<'_, '_>) -> f64 {
    let axes = 0..mapped.nest.axes.len();
    let sizes: Vec<u64> = axes.map(|axis| mapped.mapping.quantum(axis)).collect();
    let operands = 0..mapped.mapping.binding.operands.len();
    let bytes = operands.map(|n| mapped.held(&sizes, n) * mapped.elem_bytes(n)).sum::<u64>();
    sizes.iter().product::<u64>() as f64 / bytes.max(1) as f64
}

/// One instruction, the least that a tile is; or why not even that can be.
fn start(mapped: &Mapped<'_, '_>) -> Result<Vec<u64>, Refusal> {
    let Mapped { nest, mapping, .. } = mapped;
    lacks(mapped)?;
    let sizes: Vec<u64> = (0..nest.axes.len())
        .map(|axis| mapping.quantum(axis).min(nest.axes[axis].extent).max(1))
        .collect();
    match mapped.overfull(&sizes) {
        Some((memory, needed)) => Err(Refusal::Capacity {
            instruction: mapping.instruction.name.to_owned(),
            memory: memory.to_owned(),
            needed,
            capacity: mapped.room(memory),
        }),
        None => Ok(sizes),
    }
}

/// What the machine lacks to bring operands to the instruction and its result back.
fn lacks(mapped: &Mapped<'_, '_>) -> Result<(), Refusal> {
    let &Mapped { machine, nest, mapping, .. } = mapped;
    let instruction = || mapping.instruction.name.to_owned();
    if nest.epilogue.is_some() && mapped.finish.is_none() {
        return Err(Refusal::Epilogue { instruction: instruction() });
    }
    let shared = machine.shared().ok_or(Refusal::Shared)?;
    let begin = residue::begin(nest, mapping.binding.from_zero)
        .ok_or_else(|| Refusal::Start { instruction: instruction() })?;
    if nest.outputs.len() != 1 {
        return Err(Refusal::Results { instruction: instruction(), count: nest.outputs.len() });
    }
    let path = |from: &str, to: &str| Refusal::Path { from: from.into(), to: to.into() };
    let extents = nest.extents();
    let ragged = (0..mapping.axes.len()).any(|own| mapping.is_ragged(&extents, own));
    for (operand, &memory) in mapping.instruction.operands().iter().enumerate() {
        let result = mapping.is_result(nest, operand);
        let one = mapping.binding.operands[operand] == Bound::One;
        let copied = matches!(begin, Begin::Copied | Begin::Held);
        let loads = if result { copied } else { !one };
        let [from, to] = mapped.homes(operand).map(|home| home.unwrap_or(shared.name));
        if loads && !mapped.load(operand).is_some_and(|way| way.strided()) {
            return Err(path(from, memory));
        }
        if result && !mapped.store(operand).is_some_and(|way| way.strided()) {
            return Err(path(memory, to));
        }
        let starts = result && matches!(begin, Begin::Number | Begin::Zero);
        if (ragged || starts || one) && machine.fill_of(memory).is_none() {
            return Err(Refusal::Fill { memory: memory.to_owned() });
        }
        let prescribed = mapping.instruction.layouts()[operand].is_some();
        if prescribed || !is_laid_out(mapping, operand) {
            return Err(Refusal::Layout { instruction: instruction(), operand });
        }
    }
    if !padding_is_neutral(nest, mapping) {
        return Err(Refusal::Padding { instruction: instruction() });
    }
    Ok(())
}

/// Whether an instruction finds what waits in `memory`: boxes are brought from there to all of its
/// operands, and its result is taken there. Not through registers, whose lanes would have to meet.
pub fn hands_over<'c>(
    machine: Machine<'c>,
    memory: &str,
    nest: &Nest<'c>,
    mapping: &Mapping<'c>,
) -> bool {
    let strided =
        |from: &str, to: &str| machine.move_between(from, to).is_some_and(|way| way.strided());
    mapping.instruction.operands().iter().enumerate().all(|(operand, own)| {
        let registers = machine.memory(own).is_none_or(|memory| memory.is_registers());
        !registers
            && match mapping.is_result(nest, operand) {
                true => strided(own, memory),
                false => mapping.access(nest, operand).is_none() || strided(memory, own),
            }
    })
}

/// Whether every dimension of an operand is an axis of the instruction, none shares what it is
/// with another, and, where lanes hold the operand, a box of it has one side along each.
fn is_laid_out(mapping: &Mapping<'_>, operand: usize) -> bool {
    let Some(dims) = &mapping.dims[operand] else { return false };
    let all = mapping.axes.concat();
    let once = |axis: &usize| all.iter().filter(|other| *other == axis).count() == 1;
    let spread = mapping.instruction.fragments().get(operand).is_some_and(Option::is_some);
    let one_side = |own: &usize| {
        let sides = mapping.digits(*own).into_iter().filter(|digit| digit.count > 1);
        sides.count() <= 1
    };
    all.iter().all(once) && (!spread || dims.iter().all(one_side))
}

/// The tiles that are compared, from one instruction on, whose sizes are `least`.
fn tiles(mapped: &Mapped<'_, '_>, least: &[u64], search: Search<'_>) -> Vec<Ruled> {
    match search.all_tiles {
        true => tiles::enumerated(mapped, least),
        false => tiles::constructed(mapped, least),
    }
}

/// The cheapest of tiles, of which there is one, the first among equals.
fn cheapest(tiles: &[Ruled], cycles: &dyn Fn(&[u64]) -> f64) -> Ruled {
    let costs = tiles.iter().map(|tile| (tile, cycles(&tile.0)));
    let least = costs.min_by(|one, other| one.1.total_cmp(&other.1));
    least.expect("one instruction fits").0.clone()
}
