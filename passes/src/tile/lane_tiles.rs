//! Register tiles for lanes, constructed by Roller's rules (OSDI'22, section 4).
//!
//! ```text
//! C[i, j] += A[i, k] * B[k, j]    lanes of 16 along j, 32 registers
//!   ->  borders [29, 16], [14, 32], [9, 48], [6, 64], ...
//! ```
//!
//! A tile is registers side by side along the lanes, and rows along up to three other parallel axes.
//! Larger tiles use what is loaded more often, so the candidates are the *borders*: tiles that fit
//! while none that is one step larger does. What has to fit is
//!
//! 1. the registers: sums, what several rows share, and two to work with;
//! 2. the same, and the places of the smallest cache for which rows compete (rule 3, of ways
//!    instead of banks);
//! 3. the same, and that cache, for all that a tile reads over its reductions;
//! 4. where windows slide, the registers, and rows along which they do;
//! 5. the registers, and the unit's largest cache, for a part of the reductions that is long enough
//!    to start the sums anew;
//! 6. where units would be idle, the registers, and so few points that each unit has a tile.
//!
//! Sizes are aligned to the instruction and to the tensor: of an axis those that make fewer tiles
//! than the size before, and waste at most ε of it (rule 4), for ε from nothing to everything.
//! For folds across lanes the plain policy adds the tiles that grow along one axis, and of each
//! width the least one that keeps the unit busy and the largest.

use std::cell::RefCell;
use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cost::Model;
use super::instruction::Mapped;
use super::lane_facts::Facts;
use super::roller::enlarge::{Growth, enlarge};
use super::roller::ladder::EPSILONS;
use super::roller::steps::{Steps, is_thrifty};
use super::shape::Shape;
use super::shapes::{Held, MOST_ROW_AXES, MOST_ROWS, Rows, most_along, row_counts, words};
use super::why::{Border, Rule, percent};
use super::windows;
use crate::nest::Nest;

mod ends;

/// Bits of a size in a [`Tile`].
const BITS: usize = 6;

/// Sizes along the axes of a [`Space`], the first in the lowest bits.
type Tile = u64;

fn size(tile: Tile, at: usize) -> u64 {
    tile >> (BITS * at) & ((1 << BITS) - 1)
}

fn with(tile: Tile, at: usize, size: u64) -> Tile {
    tile & !(((1 << BITS) - 1) << (BITS * at)) | size << (BITS * at)
}

/// A tile, and the rule by which it was constructed.
type Ruled = (Tile, Rule);

/// A walk from the least tile.
struct Round {
    /// The waste of an axis that is allowed.
    epsilon: f64,
    /// The most registers along the lanes.
    most_vectors: u64,
    /// The borders of the registers.
    borders: Vec<Tile>,
}

/// The constructed tiles of a nest with lanes along one axis.
pub(super) struct LaneTiles<'n, 'c> {
    space: Space<'n, 'c>,
    rounds: Vec<Round>,
    /// Those of other rules that ask for nothing but registers.
    others: Vec<Ruled>,
    /// By which inputs lie in the order of the lanes, all of these and those of the caches.
    near: RefCell<FxHashMap<Vec<bool>, Vec<Ruled>>>,
}

impl<'n, 'c> LaneTiles<'n, 'c> {
    /// Constructs what does not depend on how the inputs lie, for registers of so many `lanes`.
    pub fn of(
        nest: &'n Nest<'c>,
        lanes: u64,
        facts: &Facts<'c>,
        lanes_axis: usize,
        spread: u64,
    ) -> Self {
        let space = Space::of(nest, lanes, facts, lanes_axis);
        let folds = nest.reduces(lanes_axis);
        // Registers along lanes that fold use nothing again: tiles of one are complete, too.
        let widths = if folds { vec![u64::MAX, 1] } else { vec![u64::MAX] };
        let rounds = widths.into_iter().flat_map(|most_vectors| {
            EPSILONS.map(|epsilon| Round { epsilon, most_vectors, borders: Vec::new() })
        });
        let mut rounds: Vec<Round> = rounds.collect();
        for round in &mut rounds {
            round.borders = space.borders(round, &|_| true);
        }
        let line = |at| space.line(at).into_iter().map(|tile| (tile, Rule::Line));
        let mut others: Vec<_> = line(0).collect();
        let mut add = |border: Border, room: &dyn Fn(Tile) -> bool| {
            others.extend(rounds.iter().flat_map(|round| {
                let rule = Rule::Border(border, percent(round.epsilon));
                space.borders(round, room).into_iter().map(move |tile| (tile, rule))
            }));
        };
        let shares = std::iter::successors(Some(spread), |&units| Some(units / 2));
        for units in shares.take_while(|&units| units > 1) {
            add(Border::Units, &|tile| space.tiles(tile) >= units);
        }
        if let Some(slides) = space.sliding() {
            add(Border::Windows, &|tile| {
                (1..space.extents.len()).all(|at| slides[at - 1] || size(tile, at) == 1)
            });
        }
        if space.slides {
            add(Border::Weights, &|tile| space.holds_weights(tile));
        }
        if folds {
            others.extend((1..space.extents.len()).flat_map(line));
        }
        Self { space, rounds, others, near: RefCell::default() }
    }

    /// The candidates of an instruction where the inputs in `packed` lie in the order of the lanes,
    /// as `model` has it, the narrowest first; those that grow where others end come last.
    pub fn candidates(
        &self,
        mapped: &Mapped<'c>,
        model: &Model<'_, 'c>,
        packed: &[bool],
    ) -> Vec<(Shape, Rule)> {
        let space = &self.space;
        let mut near = self.near.borrow_mut();
        let near = near.entry(packed.to_vec()).or_insert_with(|| self.near(model));
        let mut found: Vec<Ruled> = near.clone();
        if space.nest.reduces(space.lanes_axis) {
            found.extend(space.busy_and_full(mapped).into_iter().map(|tile| (tile, Rule::Busy)));
        }
        // Of tiles that cost the same the first is taken: a narrow one, whose rows lie near each
        // other; of those with rows along three axes one with most along the nearest.
        found.sort_by_cached_key(|&(tile, rule)| {
            let all = (1..space.extents.len()).map(|at| (at, size(tile, at)));
            let mut rows = [(0, 0); MOST_ROW_AXES];
            let many = all.filter(|row| row.1 > 1);
            rows.iter_mut().zip(many).for_each(|(own, row)| *own = row);
            let nearest = Some(rows[0].1).filter(|_| rows[MOST_ROW_AXES - 1].1 > 0);
            (size(tile, 0), Reverse(nearest), rows, rule)
        });
        found.dedup_by_key(|(tile, _)| *tile);
        let growing = space.growing(found.iter().map(|&(tile, _)| tile));
        let plain = found.iter().map(|&(tile, rule)| (space.shape(tile), rule));
        plain.chain(growing).collect()
    }

    /// The tiles that registers and caches border where inputs lie as in `model`.
    fn near(&self, model: &Model<'_, 'c>) -> Vec<Ruled> {
        let Self { space, rounds, others, .. } = self;
        let room = Room { space, model, known: RefCell::default() };
        let mut found: FxHashSet<Ruled> = others.iter().copied().collect();
        for round in rounds {
            let borders = |fits: &dyn Fn(Tile) -> bool| space.borders(round, fits);
            let mut add = |border: Border, tiles: &[Tile]| {
                let rule = Rule::Border(border, percent(round.epsilon));
                found.extend(tiles.iter().map(|&tile| (tile, rule)));
            };
            add(Border::Registers, &round.borders);
            // Smaller tiles compete for less and read less.
            let compete = round.borders.iter().any(|&tile| room.of(tile).competes);
            let mut alone = round.borders.clone();
            if compete {
                alone = borders(&|tile| !room.of(tile).competes);
                add(Border::Ways, &alone);
            }
            if alone.iter().any(|&tile| !room.of(tile).stays) {
                let stays = |near: Rooms| near.stays && !(compete && near.competes);
                add(Border::Cache, &borders(&|tile| stays(room.of(tile))));
            }
            if round.borders.iter().any(|&tile| !room.of(tile).in_parts) {
                add(Border::Parts, &borders(&|tile| room.of(tile).in_parts));
            }
        }
        found.into_iter().collect()
    }
}

/// Caches that have room for a tile.
#[derive(Clone, Copy)]
struct Rooms {
    /// Its rows push each other out of the smallest one.
    competes: bool,
    /// All that it reads stays there.
    stays: bool,
    /// Parts of its reductions stay in the unit's own.
    in_parts: bool,
}

/// The same for tiles that were asked about.
struct Room<'s, 'n, 'c> {
    space: &'s Space<'n, 'c>,
    model: &'s Model<'s, 'c>,
    known: RefCell<FxHashMap<Tile, Rooms>>,
}

impl Room<'_, '_, '_> {
    fn of(&self, tile: Tile) -> Rooms {
        *self.known.borrow_mut().entry(tile).or_insert_with(|| {
            let shape = self.space.shape(tile);
            Rooms {
                competes: self.model.competes(&shape),
                stays: self.model.stays(&shape),
                in_parts: self.model.has_room_for_parts(&shape),
            }
        })
    }
}

/// Returns whether tiles are constructed: where larger ones use more of what they load again, for
/// points of some parallel axis read the same element of an input, and where lanes fold.
pub(super) fn are_constructed(nest: &Nest<'_>, lanes_axis: usize) -> bool {
    nest.has_reductions() && (nest.reduces(lanes_axis) || reuses(nest))
}

/// Returns whether points of some parallel axis read the same element of an input.
fn reuses(nest: &Nest<'_>) -> bool {
    let parallel = |&axis: &usize| !nest.reduces(axis) && nest.axes[axis].extent > 1;
    let read = nest.inputs.iter().zip(nest.body.args()).filter(|(_, arg)| !arg.uses().is_empty());
    let mut inputs = read.map(|(access, _)| access);
    inputs.any(|access| (0..nest.axes.len()).filter(parallel).any(|axis| !access.uses(axis)))
}

/// The axes along which a register tile grows: registers along the lanes, then rows.
struct Space<'n, 'c> {
    nest: &'n Nest<'c>,
    lanes_axis: usize,
    /// The axis of each row size.
    rows: Vec<usize>,
    /// Registers along the lanes, then points of each row axis.
    extents: Vec<u64>,
    /// The most of each.
    most: Vec<u64>,
    held: Held<'n, 'c>,
    /// For each row axis, which inputs on lanes move along it.
    moves: Vec<Vec<bool>>,
    /// Registers that an element of each lane takes, and registers that there are.
    words: u64,
    registers: u64,
    /// Whether tiles wait in a memory on the way to the registers.
    staged: bool,
    /// Whether windows slide over rows along some axis.
    slides: bool,
    /// For each tile that was asked about, whether it fits the registers.
    fits: RefCell<FxHashMap<Tile, bool>>,
    /// Points of the windows that slide over rows along axes of more than one point.
    taps: RefCell<FxHashMap<u64, Option<u64>>>,
}

impl<'n, 'c> Space<'n, 'c> {
    fn of(nest: &'n Nest<'c>, lanes: u64, facts: &Facts<'c>, lanes_axis: usize) -> Self {
        let Rows { axes: mut rows, most_vectors } = Rows::of(nest, facts, lanes_axis);
        // Those whose rows lie nearest; more axes than these have no bits.
        rows.retain(|&row| nest.axes[row].extent > 1);
        rows.truncate(u64::BITS as usize / BITS - 1);
        let vectors = most_along(nest, lanes_axis, lanes);
        let extents: Vec<u64> =
            std::iter::once(vectors).chain(rows.iter().map(|&row| nest.axes[row].extent)).collect();
        let most = |(at, &extent): (usize, &u64)| match at {
            0 => extent.min(most_vectors),
            _ => extent.min(MOST_ROWS),
        };
        let held = Held::of(nest, facts, lanes_axis);
        let slides = |&row: &usize| windows::tap_points(nest, lanes_axis, &[row]).is_some();
        let rows_slide = rows.iter().any(slides);
        Self {
            nest,
            lanes_axis,
            most: extents.iter().enumerate().map(most).collect(),
            moves: rows.iter().map(|&row| held.moves(row)).collect(),
            rows,
            extents,
            held,
            words: words(nest, facts),
            registers: facts.registers,
            staged: facts.stage.is_some(),
            slides: rows_slide,
            fits: RefCell::default(),
            taps: RefCell::default(),
        }
    }

    /// Which rows windows slide over, where they do not over all.
    fn sliding(&self) -> Option<Vec<bool>> {
        if !self.slides {
            return None;
        }
        let alone = |moves: &Vec<bool>| moves.iter().all(|&moves| moves);
        let alone: Vec<bool> = self.moves.iter().map(alone).collect();
        (!alone.iter().all(|&alone| alone)).then_some(alone)
    }

    fn least(&self) -> Tile {
        (0..self.extents.len()).fold(0, |tile, at| with(tile, at, 1))
    }

    fn shape(&self, tile: Tile) -> Shape {
        let rows = self.rows.iter().enumerate();
        let rows = rows.map(|(at, &axis)| (axis, size(tile, at + 1)));
        let mut rows: Vec<_> = rows.filter(|&(_, size)| size > 1).collect();
        rows.sort_unstable();
        Shape { lanes_axis: Some(self.lanes_axis), vectors: size(tile, 0), rows, grow: None }
    }

    /// Registers of one output.
    fn registers(&self, tile: Tile) -> u64 {
        (0..self.extents.len()).map(|at| size(tile, at)).product()
    }

    /// Tiles of the whole nest.
    fn tiles(&self, tile: Tile) -> u64 {
        let along = self.extents.iter().enumerate();
        // Those along lanes that fold are done one after the other.
        let along = along.skip(self.nest.reduces(self.lanes_axis).into());
        let tiled: u64 = along.map(|(at, extent)| extent.div_ceil(size(tile, at))).product();
        let apart = |&axis: &usize| {
            !self.nest.reduces(axis) && axis != self.lanes_axis && !self.rows.contains(&axis)
        };
        let apart = (0..self.nest.axes.len()).filter(apart);
        tiled * apart.map(|axis| self.nest.axes[axis].extent).product::<u64>()
    }

    /// Returns whether registers hold a tile, of rows along a few axes at most, and windows that
    /// slide over it are not too much code.
    fn fits(&self, tile: Tile) -> bool {
        if let Some(&known) = self.fits.borrow().get(&tile) {
            return known;
        }
        let vectors = size(tile, 0);
        let rows = (0..self.rows.len()).map(|at| (at, size(tile, at + 1)));
        let many = rows.clone().filter(|(_, size)| *size > 1);
        let all: u64 = rows.clone().map(|(_, size)| size).product();
        let own = (0..self.held.count()).map(|input| {
            let along = rows.clone().filter(|(at, _)| self.moves[*at][input]);
            vectors * along.map(|(_, size)| size).product::<u64>()
        });
        let fits = many.clone().count() <= MOST_ROW_AXES
            && all <= MOST_ROWS
            && self.held.registers(vectors, all, own) * self.words <= self.registers
            && self.taps(many).is_none_or(|taps| vectors * all * taps <= windows::MOST_STEPS);
        self.fits.borrow_mut().insert(tile, fits);
        fits
    }

    /// Returns whether registers hold the weights of a tile's windows beside it.
    fn holds_weights(&self, tile: Tile) -> bool {
        let rows = (0..self.rows.len()).map(|at| (at, size(tile, at + 1)));
        let taps = self.taps(rows.filter(|(_, size)| *size > 1));
        taps.is_none_or(|taps| windows::held(self.registers(tile), taps) <= self.registers)
    }

    /// Points of the windows that slide over these rows.
    fn taps(&self, rows: impl Iterator<Item = (usize, u64)>) -> Option<u64> {
        let rows: Vec<usize> = rows.map(|(at, _)| at).collect();
        let key = rows.iter().fold(0, |key, at| key | 1 << at);
        *self.taps.borrow_mut().entry(key).or_insert_with(|| {
            let axes: Vec<usize> = rows.iter().map(|&at| self.rows[at]).collect();
            windows::tap_points(self.nest, self.lanes_axis, &axes)
        })
    }

    /// The aligned sizes of the axis `at` that waste at most ε.
    fn sizes(&self, at: usize, epsilon: f64) -> Vec<u64> {
        let (extent, most) = (self.extents[at], self.most[at]);
        let others: Vec<u64> =
            if at == 0 { (2..=most).collect() } else { row_counts(extent, most).collect() };
        let others = others.into_iter().filter(|&size| is_thrifty(extent, size, epsilon));
        std::iter::once(1).chain(others).collect()
    }

    /// The tiles of a round behind which there is no room for larger ones.
    fn borders(&self, round: &Round, room: &dyn Fn(Tile) -> bool) -> Vec<Tile> {
        let steps = (0..self.extents.len()).map(|at| self.sizes(at, round.epsilon));
        let mut steps: Steps = steps.collect();
        steps[0].retain(|&vectors| vectors <= round.most_vectors);
        let least = self.least();
        let seen = FxHashMap::default();
        let mut borders = Borders { space: self, room, seen, found: Vec::new() };
        enlarge(&mut borders, None, &least, &steps, &mut vec![0; steps.len()]);
        borders.found
    }

    /// Tiles that grew along one axis, the least one first.
    fn line(&self, at: usize) -> Vec<Tile> {
        let tiles = self.sizes(at, 1.0).into_iter().map(|size| with(self.least(), at, size));
        tiles.take_while(|&tile| self.fits(tile)).collect()
    }

    /// For each number of registers along the lanes the fewest rows along an axis with which the
    /// unit need not wait for its own results, and the most rows that fit.
    fn busy_and_full(&self, mapped: &Mapped<'_>) -> Vec<Tile> {
        let busy = |tile: &&Tile| {
            self.registers(**tile) as f64 * mapped.issue_cycles >= mapped.latency_cycles
        };
        let of = |vectors: u64, at: usize| {
            let tiles = self.sizes(at, 1.0).into_iter();
            let tiles = tiles.map(|size| with(with(self.least(), 0, vectors), at, size));
            let tiles: Vec<Tile> = tiles.take_while(|&tile| self.fits(tile)).collect();
            [tiles.iter().find(busy).copied(), tiles.last().copied()]
        };
        let vectors = self.sizes(0, 1.0).into_iter();
        let tiles =
            vectors.flat_map(|vectors| (1..self.extents.len()).map(move |at| of(vectors, at)));
        tiles.flatten().flatten().collect()
    }
}

/// Tiles that fit while none that is a step larger does.
struct Borders<'s, 'n, 'c> {
    space: &'s Space<'n, 'c>,
    /// Condition that a tile must meet beside the registers.
    room: &'s dyn Fn(Tile) -> bool,
    seen: FxHashMap<Tile, bool>,
    found: Vec<Tile>,
}

impl Growth for Borders<'_, '_, '_> {
    type Tile = Tile;

    fn fits(&self, tile: &Tile) -> bool {
        self.space.fits(*tile) && (self.room)(*tile)
    }

    fn with(&self, tile: &Tile, axis: usize, size: u64) -> Tile {
        with(*tile, axis, size)
    }

    fn order(&self, _tile: &Tile, next: &[Option<u64>]) -> Vec<usize> {
        (0..next.len()).collect()
    }

    fn is_full(&self) -> bool {
        false
    }

    fn leave(&mut self, tile: &Tile, grew: bool) {
        if !grew {
            self.found.push(*tile);
        }
    }

    fn seen(&mut self) -> &mut FxHashMap<Tile, bool> {
        &mut self.seen
    }
}
