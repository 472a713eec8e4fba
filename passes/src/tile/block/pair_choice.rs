//! Which tiles two products have together of which one makes a factor of the other (`pair.rs`): every one that
//! fits, by the time that all units take.
//!
//! ```text
//! piece = max(instructions, lanes, powers, turns of banks and a part of the smaller, bytes / bandwidth of the cache)
//! time  = ⌈tiles / units⌉ · (pieces · (piece + barriers) + what begins and ends)
//! ```

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;

use super::super::banks::Banks;
use super::super::instruction::body_cycles;
use super::facts::Facts;
use super::pair_way::{TURNS, Way};
use super::{Block, Dealt, K, Lying, M, N, Pair, Supply, Ways, accesses, epilogue, pair};
use crate::cost::{Cost, Term};
use crate::math::POWER;
use crate::nest::Nest;
use crate::tile::one_pass::{OnePass, score_scale};
use crate::tile::relabel;

/// Instructions of a group along its rows, groups of a block, and points of a piece that are compared.
const HEIGHTS: [u64; 3] = [1, 2, 4];
const GROUPS: [u64; 5] = [1, 2, 3, 4, 8];
const PIECES: [u64; 4] = [16, 32, 64, 128];

/// Registers for a number of each row: the greatest one and the one before, the sum, and a weight.
const ROW_NUMBERS: u64 = 4;

/// Registers for the addresses of what an engine copies at once: of the memory behind and of the near one.
const ADDRESS_WORDS: u64 = 3;

/// What part of its cycles something adds that is done beside what takes longer, with two groups in a
/// part of a unit: an estimate, as that of `facts.rs`.
const BESIDE: f64 = 4.0;

/// A pair that was chosen.
#[derive(Clone, Debug)]
pub struct ChosenPair<'c> {
    /// The products.
    pub pair: Pair<'c>,
    /// The memories and moves.
    pub ways: Ways<'c>,
    /// How the inputs of the first product lie, along m and along n.
    pub scores: [Lying; 2],
    /// How those of the second do; the factor is held in registers.
    pub values: [Lying; 2],
    /// What it is predicted to take until all units are done, times units.
    pub cost: Cost,
    /// Whether exponentials are powers of two of rounded exponents.
    pub is_rough: bool,
    /// Pairs that were compared.
    pub compared: usize,
}

/// The best pair that does a softmax between two products in one pass; `None` where there is none.
pub fn choose_pair<'c>(
    machine: Machine<'c>,
    nests: &[&Nest<'c>],
    one_pass: &OnePass,
) -> Option<ChosenPair<'c>> {
    let both = [nests[one_pass.scores], nests[one_pass.values]];
    let [scores, values] = both.map(|nest| Block::all_in_pairs(machine, nest));
    let mut best: Option<ChosenPair<'c>> = None;
    let mut compared = 0;
    for scores in &scores {
        for values in values.iter().filter(|own| pair::follows(scores, own)) {
            let Some(search) = Search::new(machine, nests, both, one_pass, [scores, values]) else {
                continue;
            };
            for found in search.all() {
                compared += 1;
                let cycles = |own: &ChosenPair<'c>| own.cost.cycles;
                if best.as_ref().is_none_or(|best| cycles(&found) < cycles(best)) {
                    best = Some(found);
                }
            }
        }
    }
    best.map(|best| ChosenPair { compared, ..best })
}

/// Two products by one instruction whose tiles are looked for.
struct Search<'s, 'c> {
    nests: [&'s Nest<'c>; 2],
    one_pass: &'s OnePass,
    blocks: [&'s Block<'c>; 2],
    ways: Ways<'c>,
    banks: Banks,
    facts: [Facts; 2],
    /// Cycles that lanes issue for a register of scores, and of values.
    lanes: [f64; 2],
    /// Cycles of a pipe of its own for the exponentials of a register.
    power: f64,
    /// Whether lanes can mask what is behind the end of rows.
    masks: bool,
    is_rough: bool,
}

impl<'s, 'c> Search<'s, 'c> {
    fn new(
        machine: Machine<'c>,
        nests: &[&'s Nest<'c>],
        both: [&'s Nest<'c>; 2],
        one_pass: &'s OnePass,
        blocks: [&'s Block<'c>; 2],
    ) -> Option<Self> {
        let registers = *blocks[0].instruction().operands().last()?;
        let ways = Ways::of(machine, registers)?;
        relabel(machine, registers)?;
        let banks = Banks::of(&ways.near)?;
        let facts = [
            Facts::of(machine, both[0], blocks[0], &ways)?,
            Facts::of(machine, both[1], blocks[1], &ways)?,
        ];
        let mut units = machine.lanes_units().into_iter();
        let unit = units.find(|unit| unit.memory() == registers)?;
        one_pass.reorders(nests, &unit).then_some(())?;
        let body = |own: usize| body_cycles(&unit, nests[own].body);
        let rough = one_pass.rough(nests, &unit);
        // What divides is left to the end. A power is issued as others are, and done by a pipe of its own.
        let (power, exponential) = match rough {
            Some(_) => (unit.cycles_of(POWER), unit.cycles_of("math.fma") + unit.issue_cycles()),
            None => (0.0, body(one_pass.shifted)),
        };
        let narrow = nests[one_pass.quotient].outputs[0].elem();
        let cast = match narrow == nests[one_pass.shifted].outputs[0].elem() {
            true => 0.0,
            false => unit.cycles_of("arith.truncf"),
        };
        // Where rows see what is in front of a place, few pieces are masked.
        let masked = one_pass.mask.as_ref().filter(|mask| mask.sees.is_none());
        let masked = masked.map_or(0.0, |mask| body(mask.member));
        let issued = body(one_pass.largest) + exponential + body(one_pass.total) + cast + masked;
        let finish = |own: usize| {
            let one = epilogue::cycles(machine, both[own], blocks[own]);
            let quanta = blocks[own].quanta();
            one / (quanta[M] * quanta[N]).div_ceil(blocks[own].lanes) as f64
        };
        // Then what scores are multiplied with is in the exponent's scale.
        let kept = one_pass.mask.as_ref().is_none_or(|mask| mask.selects);
        let scaled = rough.is_some() && kept && score_scale(both[0]).is_some();
        let lanes = [issued + if scaled { 0.0 } else { finish(0) }, unit.cycles_of("arith.mulf")];
        let is_rough = rough.is_some();
        let masks = unit.supports("arith.select", both[0].outputs[0].elem());
        Some(Self {
            nests: both,
            one_pass,
            blocks,
            ways,
            banks,
            facts,
            lanes,
            power,
            masks,
            is_rough,
        })
    }

    fn all(&self) -> impl Iterator<Item = ChosenPair<'c>> {
        let heights = HEIGHTS.into_iter().flat_map(|high| GROUPS.map(move |groups| [high, groups]));
        let tiles =
            heights.flat_map(|[high, groups]| PIECES.map(move |piece| [high, groups, piece]));
        tiles.filter_map(|tile| self.with(tile))
    }

    /// The pair of a tile: instructions of a group along its rows, groups, points of a piece.
    fn with(&self, [high, groups, piece]: [u64; 3]) -> Option<ChosenPair<'c>> {
        let [scores, values] = self.blocks;
        let (rows, own) = pair::sides(values, self.one_pass)?;
        let quanta = scores.quanta();
        let group = high * quanta[rows];
        // Rows beyond the end are worth nothing once a smaller tile reaches it.
        let least = scores.extent(self.nests[0], rows).next_multiple_of(quanta[rows]);
        (group * groups < 2 * least).then_some(())?;
        let keys = scores.extent(self.nests[0], own);
        (piece < 2 * keys.next_multiple_of(PIECES[0])).then_some(())?;
        (self.masks || keys.is_multiple_of(piece)).then_some(())?;
        let tiled = |block: &Block<'c>, [wide, deep]: [u64; 2]| {
            let mut found = block.clone();
            found.tile[rows] = group * groups;
            found.group[rows] = group;
            found.tile[own] = wide;
            found.group[own] = wide;
            found.tile[K] = deep;
            (found.stages, found.ahead, found.turns) = (1, None, 1);
            found
        };
        let scores = tiled(scores, [piece, scores.whole(self.nests[0], K)]);
        let values = tiled(values, [values.whole(self.nests[1], own), piece]);
        (scores.is_whole() && values.is_whole()).then_some(())?;
        let pair = Pair::new([scores, values], self.nests, self.one_pass).ok()?;
        let steps = keys.div_ceil(piece);
        let blocks = [(&pair.scores, self.nests[0]), (&pair.values, self.nests[1])];
        let gathers = blocks.into_iter().all(|(block, nest)| block.gathers_as_it_lies(nest, own));
        let [apart, boxes, pieces] = [Supply::BoxesApart, Supply::Boxes, Supply::Pieces].map(Some);
        let turns = self.turns(&pair);
        let ways: Vec<Way> = match (steps > 1, pair.scores.is_direct()) {
            (false, _) => [Way::of(1, None)].into(),
            // An engine packs nothing, and takes no registers.
            (true, false) if gathers => {
                [Way::of(2, pieces), Way::of(3, None), Way::of(1, None)].into()
            }
            (true, false) => [Way::of(3, None), Way::of(2, pieces), Way::of(1, None)].into(),
            // The first of those that take as long: the room of a piece is a remainder, which is no division
            // where rooms are a power of two.
            (true, true) => {
                let stages = [4, 3, 2].into_iter();
                let all = stages.flat_map(|n| [apart, boxes, pieces].map(|own| Way::of(n, own)));
                all.chain([Way::of(1, None)]).collect()
            }
        };
        let by_turns = ways.iter().filter(|way| turns > 1 && way.goes_by_turns());
        let by_turns: Vec<_> = by_turns.map(|way| Way { turns, ..*way }).collect();
        let ways = [ways, by_turns].concat();
        // A depth of several instructions may be interleaved, so that lanes load more of it at once.
        let depths = std::iter::once(pair.scores.clone()).chain(pair.scores.interleave(K));
        let all = depths.flat_map(|scores| ways.iter().map(move |&way| (scores.clone(), way)));
        let held: &[bool] = if pair.scores.is_direct() { &[false] } else { &[true, false] };
        let all =
            all.flat_map(|(scores, way)| held.iter().map(move |&held| (scores.clone(), way, held)));
        let found = all.filter_map(|(scores, way, held)| self.laid(&pair, &scores, way, held));
        found.min_by(|one, other| one.cost.cycles.total_cmp(&other.cost.cycles))
    }

    /// Turns in which groups may go: as many in each for all parts of a unit.
    fn turns(&self, pair: &Pair<'c>) -> u64 {
        let groups: u64 = pair.scores.groups().iter().product();
        let turns = self.facts[0].turns.min(TURNS);
        let even = groups.is_multiple_of(turns * self.facts[0].partitions as u64);
        if even && !pair.scores.is_direct() { turns } else { 1 }
    }

    /// The pair with its first product so, and pieces that come in a way; with queries held in registers or near all
    /// groups.
    fn laid(
        &self,
        pair: &Pair<'c>,
        scores: &Block<'c>,
        Way { stages, ahead, turns }: Way,
        is_held: bool,
    ) -> Option<ChosenPair<'c>> {
        let (own, rows, [first, last]) = (pair.own(), pair.rows, self.nests);
        (stages == 1 || ahead.is_some() || self.ways.put.is_some()).then_some(())?;
        let room = self.facts[0].room;
        let lie = |block: &Block<'c>, nest: &Nest<'c>, side: usize, facts: &Facts| {
            // Only the width of the second product has no order that others depend on.
            let free = std::ptr::eq(facts, &self.facts[1]) && side == own;
            let part = (room.min(2 * facts.own(block, side)), facts.pack_cycles(side));
            accesses::lie(self.banks, nest, block, side, part, free)
        };
        let staged = |block: &Block<'c>| Block { stages, ahead, turns, ..block.clone() };
        let query = match is_held {
            true => None,
            false => Some(lie(scores, first, rows, &self.facts[0])?),
        };
        let scores = query.as_ref().map_or(scores, |query| &query.block);
        let keys = lie(&staged(scores), first, own, &self.facts[0])?;
        let values = lie(&staged(&pair.values), last, own, &self.facts[1])?;
        let sides = [
            (&keys.block, first, own, keys.lying.inner),
            (&values.block, last, own, values.lying.inner),
        ];
        if let Some(ahead) = ahead {
            self.ways.can_bring(ahead, &sides).then_some(())?;
        } else if stages > 1 {
            let dealt = |&(block, nest, side, inner): &(&Block<'c>, &Nest<'c>, usize, usize)| {
                Dealt::of(block, nest, side, inner).is_some()
            };
            sides.iter().all(dealt).then_some(())?;
        }
        let blocks = [keys.block.clone(), values.block.clone()];
        let mut pair = Pair::new(blocks, self.nests, self.one_pass).ok()?;
        let tiles = [
            (&pair.scores, &self.facts[0], rows, query.as_ref()),
            (&pair.scores, &self.facts[0], own, Some(&keys)),
            (&pair.values, &self.facts[1], own, Some(&values)),
        ];
        let bytes = tiles.map(|(block, facts, side, laid)| {
            let Some(laid) = laid else { return 0 };
            let (rows, columns) = block.rows_columns(side, laid.lying.inner);
            rows * columns.next_multiple_of(laid.lying.layout.pitch) * facts.elem_bytes[side]
        });
        let bank_turns =
            tiles.map(|(.., laid)| laid.map_or(0, |laid| laid.choice.after.taken) as f64);
        // Queries are stored once.
        let once = query.as_ref().map_or(0.0, |_| self.facts[0].stored(&pair.scores, rows));
        let read =
            tiles.map(|(block, facts, side, laid)| laid.map_or(0.0, |_| facts.read(block, side)));
        let bank_turns = bank_turns.iter().chain(&read).sum::<f64>() - once;
        let packed = tiles.map(|(block, facts, side, laid)| {
            laid.map_or(0.0, |_| block.packed(side) as f64 * facts.pack_cycles(side))
        });
        let resident = self.resident(&pair, bytes)?;
        let cost = self.cost(&pair, resident, bytes, (bank_turns, packed.iter().sum()));
        if ahead == Some(Supply::BoxesApart) {
            (pair.scores.resident, pair.values.resident) = (resident, resident);
        }
        let side = |row: Lying, other: Lying| if rows == M { [row, other] } else { [other, row] };
        Some(ChosenPair {
            scores: side(query.map_or(Lying::held(), |query| query.lying), keys.lying),
            values: side(Lying::held(), values.lying),
            ways: self.ways.clone(),
            pair,
            cost,
            is_rough: self.is_rough,
            compared: 0,
        })
    }

    /// Registers of a lane; `query` are bytes of queries near the groups, `pieces` those of a piece.
    fn registers(&self, pair: &Pair<'c>, [query, pieces]: [u64; 2]) -> u64 {
        let Pair { scores, values, rows } = pair;
        let (own, facts) = (pair.own(), &self.facts[0]);
        let lanes = scores.groups().iter().product::<u64>() * scores.lanes;
        let word = |elements: u64, bytes: u64| {
            (elements * bytes).div_ceil(scores.lanes * facts.lane_bytes)
        };
        let sums = |block: &Block<'c>| block.group[M] * block.group[N];
        let factor = facts.elem_bytes[*rows];
        let parts = |block: &Block<'c>, side: usize, bytes: u64| {
            (block.held(side) * bytes).div_ceil(facts.lane_bytes)
        };
        // Numbers of rows that are folded at once have one value in all of a lane's slots of one.
        let slots = scores.slots(scores.output()) * scores.counts()[*rows];
        let row = match pair.row_parts().filter(|_| pair.folds_operands()) {
            Some([elements, _]) => 2 * slots / elements,
            None => slots,
        };
        let staged = match (scores.stages, scores.is_brought()) {
            (1, _) => 0,
            // Copies take turns with an engine's instructions, and what is spared is enough.
            _ if scores.is_direct() => 0,
            // A copy has an address at either end.
            (_, true) => ADDRESS_WORDS * pieces.div_ceil(lanes * scores.access_bytes),
            _ => pieces.div_ceil(lanes * facts.lane_bytes),
        };
        // Queries for all of the depth, or those of a step.
        let queries = match query {
            0 => parts(scores, *rows, factor) * (scores.tile[K] / scores.quanta()[K]),
            _ => 0,
        };
        let near = if query == 0 { 0 } else { parts(scores, *rows, factor) };
        let one = (near + parts(scores, own, factor)).max(parts(values, own, factor));
        word(sums(scores), 4)
            // Sums become the factor one by one: half of it is there while others still are.
            + word(sums(scores), factor) / 2
            + word(sums(values), 4)
            + queries
            + one
            + ROW_NUMBERS * row.div_ceil(2)
            + staged
    }

    /// Cycles that groups issue to bring a piece of so many bytes, keys and values, or to have an engine bring it.
    fn asked(&self, scores: &Block<'c>, groups: u64, bytes: u64) -> f64 {
        let way = self.ways.brings(scores.ahead).unwrap_or(&self.ways.stage);
        let times = match scores.ahead {
            // Every group asks, or passes by, and waits, or only waits: once for each of both.
            Some(Supply::Boxes | Supply::BoxesApart) => (2 * groups) as f64,
            _ => bytes as f64 / (scores.lanes * scores.access_bytes) as f64,
        };
        times * way.issue_cycles().unwrap_or(0.0)
    }

    /// How many blocks take turns in a unit, two at most, and no more than there are; `None` where one has no room.
    fn resident(&self, pair: &Pair<'c>, [query, keys, width]: [u64; 3]) -> Option<u64> {
        let (scores, facts) = (&pair.scores, &self.facts[0]);
        let lanes = scores.groups().iter().product::<u64>() * scores.lanes;
        let bytes = query + scores.rooms() * (keys + width);
        let held = self.registers(pair, [query, keys + width]);
        let fits = bytes <= facts.room && held <= facts.registers && lanes <= facts.block_lanes;
        fits.then_some(())?;
        let each =
            (self.facts[1].tiles(self.nests[1], &pair.values) / facts.units).ceil().max(1.0) as u64;
        let most = each.min(facts.whole / bytes);
        let boxes = self.ways.brings(scores.ahead).and_then(|way| way.boxes());
        let Some(producer) = boxes.and_then(|boxes| boxes.producer) else {
            let given = lanes.next_multiple_of(scores.lanes * facts.partitions as u64);
            let by_registers = facts.core_registers / ((held + facts.spare) * given);
            return (by_registers > 0).then(|| most.min(by_registers).clamp(1, 2));
        };
        let registers = &self.ways.registers;
        let all = [registers.core_bytes()?, registers.capacity_bytes() / scores.lanes];
        let held = (held + facts.spare) * facts.lane_bytes;
        let has_room = |blocks: &u64| {
            let share = producer.share(all, lanes, *blocks);
            *blocks <= most && share.is_ok_and(|own| held <= own.others)
        };
        (lanes + producer.lanes <= facts.block_lanes).then_some(())?;
        [2, 1].into_iter().find(has_room)
    }

    /// What all units take, with so many blocks in each.
    fn cost(
        &self,
        pair: &Pair<'c>,
        resident: u64,
        [query, keys, width]: [u64; 3],
        (turns, packed): (f64, f64),
    ) -> Cost {
        let Pair { scores, values, .. } = pair;
        let (own, facts) = (pair.own(), &self.facts[0]);
        let groups: u64 = scores.groups().iter().product();
        let sums = |block: &Block<'c>| block.group[M] * block.group[N];
        let resident = resident as f64;
        let busy = (groups as f64 * resident / facts.partitions).min(1.0);
        let instructions = |block: &Block<'c>, facts: &Facts| {
            let count =
                block.counts().iter().product::<u64>() * (block.tile[K] / block.quanta()[K]);
            count as f64 * facts.issue
        };
        let products = [instructions(scores, facts), instructions(values, &self.facts[1])];
        let products = products.map(|own| groups as f64 * own / busy);
        let compute: f64 = products.iter().sum();
        let registers = |block: &Block<'c>| (groups * sums(block)) as f64 / block.lanes as f64;
        let lanes = [registers(scores), registers(values)];
        let asked = self.asked(scores, groups, keys + width);
        let elementwise =
            (lanes[0] * self.lanes[0] + lanes[1] * self.lanes[1] + packed + asked) / busy;
        let power = lanes[0] * self.power;
        let turned = (groups as f64 * resident / facts.partitions).max(1.0);
        let issued = match scores.turns {
            1 if turned > 1.0 => compute.max(elementwise) + compute.min(elementwise) / turned,
            1 => compute + elementwise,
            // Each product beside the rows of others, and both beside each other.
            turns => {
                let beside: f64 = products.iter().map(|own| own.max(elementwise)).sum();
                (compute + beside) / turns as f64
            }
        };
        let far = (keys + width) as f64 / facts.cached;
        let waits = match scores.stages {
            1 => (facts.latency + far) / resident,
            _ => (facts.latency / resident).max(far),
        };
        let issued = issued.max(power);
        let busy = issued.max(turns) + issued.min(turns) / BESIDE;
        // Who asks for boxes waits for others, and only that one.
        let barriers = match (scores.turns, scores.stages, scores.ahead) {
            (2.., ..) => 3.0,
            (_, 1, _) => 2.0,
            (.., Some(Supply::BoxesApart)) => 0.0,
            _ => 1.0,
        };
        // Blocks that bring a piece only when they need it begin together, and wait together for a part of it.
        let step = match scores.stages {
            1 => busy + waits,
            _ => busy.max(far).max(waits),
        };
        let step = step + barriers * facts.barrier;
        let steps = scores.extent(self.nests[0], own).div_ceil(scores.tile[own]) as f64;
        let nest = self.nests[1];
        let tiles = self.facts[1].tiles(nest, values);
        let stored = ty::byte_size(nest.outputs[0].elem()).unwrap_or(1);
        let ends = (values.tile[M] * values.tile[N] * stored + query) as f64 / facts.far;
        let tile = Cost::default()
            .with(Term::Compute, steps * issued)
            .with(Term::Loads, steps * turns)
            .with(Term::Transfers, steps * far)
            .with(Term::Waits, steps * waits + facts.latency)
            .with(Term::Results, ends)
            .taking(steps * step + ends + facts.latency);
        // Blocks that are in a unit together are counted one after the other, each with its share of the time.
        tile * (tiles / facts.units).ceil() * facts.units
    }
}
