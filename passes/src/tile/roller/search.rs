//! Recursive enlargement (Roller, section 4.2): tiles grow axis by axis, depth first.
//!
//! A tile starts at one point in registers. Where it is worth going on from it in the local
//! memory, that is done at once; then every axis is enlarged by one step, the most promising
//! first. What no longer fits leaves its predecessor behind as a border.

use rustc_hash::FxHashMap;

use super::arch::Arch;
use super::cost::{footprint, registers, traffic, work};
use super::enlarge::{Growth, enlarge};
use super::operator::Operator;
use super::score;
use super::steps::{self, Steps};
use super::{Options, Policy, Tiles, Variant, align, banks};

/// One round: everything that is found with at most ε of waste.
pub struct Search<'a> {
    pub operator: &'a Operator,
    pub arch: &'a Arch,
    pub options: &'a Options,
    pub policy: Policy,
    /// True if any round has found a block tile that is aligned and bound by computing.
    pub found_any: bool,
    /// Block tiles that are aligned and worth it, at most as many as asked for.
    pub found: Vec<Tiles>,
    /// Aligned block tiles behind which the machine ends.
    pub borders: Vec<Tiles>,
    epsilon: f64,
    seen: FxHashMap<Tiles, bool>,
    /// Tiles of the rounds before.
    before: usize,
}

impl<'a> Search<'a> {
    pub fn new(
        operator: &'a Operator,
        arch: &'a Arch,
        options: &'a Options,
        policy: Policy,
    ) -> Self {
        Self {
            operator,
            arch,
            options,
            policy,
            found_any: false,
            found: Vec::new(),
            borders: Vec::new(),
            epsilon: 0.0,
            seen: FxHashMap::default(),
            before: 0,
        }
    }

    /// Tiles that were looked at.
    pub fn looked(&self) -> usize {
        self.before + self.seen.len()
    }

    /// Begins afresh with another ε.
    pub fn round(&mut self, epsilon: f64) {
        self.epsilon = epsilon;
        self.before = self.looked();
        self.seen.clear();
        self.found.clear();
        // The plain policy of version 1 keeps the borders of the rounds before.
        if self.policy == Policy::Reuse {
            self.borders.clear();
        }
        let Some(steps) = steps::of_registers(self.operator, self.arch, epsilon) else { return };
        let first = Tiles { registers: base(&steps), block: None };
        enlarge(self, None, &first, &steps, &mut vec![0; steps.len()]);
    }

    /// Goes on from a register tile in the local memory.
    fn descend(&mut self, from: &Tiles) {
        let (operator, arch) = (self.operator, self.arch);
        let steps = steps::of_near(
            operator,
            arch,
            self.options,
            self.policy,
            &from.registers,
            self.epsilon,
        );
        let Some(steps) = steps else { return };
        let first = Tiles { registers: from.registers.clone(), block: Some(base(&steps)) };
        enlarge(self, None, &first, &steps, &mut vec![0; steps.len()]);
    }

    /// Rule 1, by the policy.
    fn issues(&self, tiles: &Tiles) -> bool {
        let threads = tiles.threads(self.operator, self.arch);
        threads.is_multiple_of(align::threads(self.arch, self.policy))
    }

    /// Every other rule but the third, which is kept by the padding that a tile gets, where tiles are
    /// ours.
    fn keeps_rules(&self, tiles: &Tiles) -> bool {
        let (operator, arch, epsilon) = (self.operator, self.arch, self.epsilon);
        self.options.variant == Variant::Published
            || align::check(operator, arch, self.policy, tiles, epsilon, None).is_empty()
    }

    /// Returns whether to enlarge a register tile further, or to keep a block tile.
    fn is_worth_it(&self, tiles: &Tiles) -> bool {
        if tiles.block.is_some() && !(self.issues(tiles) && self.keeps_rules(tiles)) {
            return false;
        }
        match (self.policy, &tiles.block) {
            (Policy::Reuse, None) => {
                self.computes_longer(&tiles.registers, self.arch.local_gbytes_per_s)
            }
            (Policy::Reuse, Some(block)) => {
                self.computes_longer(block, self.arch.device_gbytes_per_s)
            }
            (Policy::Plain, block) => {
                let spatial = self.operator.spatial();
                let whole = |block: &Vec<u64>| align::whole_rows(self.operator, self.arch, block);
                // Two elements a thread at least, so that loads overlap.
                tiles.registers[..spatial].iter().product::<u64>() >= 2
                    && block.as_ref().is_none_or(whole)
            }
        }
    }

    /// Returns whether computing a tile takes longer than loading it.
    fn computes_longer(&self, tile: &[u64], gbytes_per_s: f64) -> bool {
        let compute = work(self.operator, tile) / self.arch.peak();
        compute > traffic(self.operator, tile) as f64 / gbytes_per_s
    }
}

impl Growth for Search<'_> {
    type Tile = Tiles;

    fn fits(&self, tiles: &Tiles) -> bool {
        fits(self.operator, self.arch, self.options, tiles)
    }

    fn with(&self, tiles: &Tiles, axis: usize, size: u64) -> Tiles {
        let mut next = tiles.clone();
        next.current_mut()[axis] = size;
        next
    }

    fn order(&self, now: &Tiles, next: &[Option<u64>]) -> Vec<usize> {
        if self.policy == Policy::Plain {
            return (0..self.operator.axes.len()).rev().collect();
        }
        score::order(self.operator, now.current(), next, self.options.score)
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.options.keep || self.looked() >= self.options.most
    }

    fn visit(&mut self, now: &Tiles) {
        if !self.is_worth_it(now) {
            return;
        }
        if now.block.is_none() {
            self.descend(now);
        } else {
            self.found_any |= self.policy == Policy::Reuse;
            self.found.push(now.clone());
        }
    }

    /// The last tile that fitted: it is kept, or gone on from while nothing better is known.
    fn overflow(&mut self, last: &Tiles) {
        if last.block.is_none() {
            if !self.found_any {
                self.descend(last);
            }
        } else if self.issues(last) && self.keeps_rules(last) {
            // The plain policy of version 1 counts a border as often as it is come to.
            if self.policy == Policy::Plain || !self.borders.contains(last) {
                self.borders.push(last.clone());
            }
        }
    }

    fn seen(&mut self) -> &mut FxHashMap<Tiles, bool> {
        &mut self.seen
    }
}

/// Returns whether a machine has room for tiles: registers of a thread, and for a block tile those
/// of a block, the local memory, and the threads of a block.
pub fn fits(operator: &Operator, arch: &Arch, options: &Options, tiles: &Tiles) -> bool {
    let lanes = arch.matrix.as_ref().map_or(1, |_| arch.warp);
    let each = registers(operator, &tiles.registers, lanes);
    let Some(block) = &tiles.block else { return each <= arch.thread_registers as f64 };
    let groups = tiles.groups(operator);
    let taken = |padding: &[u64]| footprint(operator, block, padding);
    let threads = tiles.threads(operator, arch);
    let brought = taken(&[]).max(0) as u64 / 4 * arch.staging;
    let each = each + brought.div_ceil(threads.max(1)) as f64;
    each <= arch.thread_registers as f64
        && each * groups as f64 <= arch.block_registers as f64
        && taken(&[]) < arch.local_bytes as i64
        && threads <= arch.block_threads
        && taken(&banks::paddings(operator, arch, options, tiles)) < arch.local_bytes as i64
}

fn base(steps: &Steps) -> Vec<u64> {
    steps.iter().map(|sizes| sizes[0]).collect()
}
