//! The best tiles of lanes that work in one register file.

use rustc_hash::FxHashMap;
use weft_dialects::device::Machine;

use super::block::Alone;
use super::cost::Model;
use super::instruction::Mapped;
use super::isa::Search;
use super::lane_facts::Facts;
use super::lane_tiles::{LaneTiles, are_constructed};
use super::layout::{Layout, layings};
use super::policy::{Candidate, EQUAL, Lanes, Tiled, by_cycles, register_tile};
use super::shape::Shape;
use super::shapes::{combines_lanes, lanes_axes, shapes};
use super::shorter::FAR;
use super::why::Rule;
use crate::cost::{Cost, Term, worth};
use crate::nest::Nest;

/// What is asked about lanes that work in one register file.
pub(super) struct ByLanes<'n, 'c> {
    pub machine: Machine<'c>,
    pub nest: &'n Nest<'c>,
    /// The same where lengths are less than they may be, and how many of them are as much.
    pub shorter: &'n [(Nest<'c>, f64)],
    pub memory: &'c str,
    pub facts: &'n Facts<'c>,
    /// What a tile takes that is predicted to issue for so many cycles, where that is not all.
    pub alone: Option<&'n Alone<'n, 'c>>,
    /// Whether groups may share tiles of the nest.
    pub share: bool,
    pub layouts: &'n [Layout],
    pub search: Search<'n>,
    pub keep: usize,
}

impl<'n, 'c> ByLanes<'n, 'c> {
    /// The best tiles of each instruction, axis and layout; counts those that are compared.
    pub fn of<'u>(
        &self,
        units: impl Iterator<Item = &'u Mapped<'c>>,
        compared: &mut usize,
    ) -> Vec<Candidate<'c>>
    where
        'c: 'u,
    {
        let Self { machine, nest, facts, layouts, memory, .. } = *self;
        let combines = combines_lanes(machine, memory, nest);
        // Instructions of as many lanes have the same tiles.
        let mut constructed: FxHashMap<(usize, u64, Option<usize>), LaneTiles<'n, 'c>> =
            FxHashMap::default();
        let mut found = Vec::new();
        for mapped in units {
            for axis in lanes_axes(nest, mapped, combines) {
                let cached = facts.near.is_some();
                let mut ways = layings(machine, nest, axis, mapped.lanes, cached, layouts);
                if mapped.depth.is_some() {
                    // It lies as it is read already.
                    ways = vec![(vec![false; nest.inputs.len()], 0.0)];
                }
                for (packed, price) in ways {
                    let model = Model::new(nest, facts, mapped, axis, &packed);
                    let candidates = match axis.filter(|&axis| self.constructs(axis)) {
                        Some(axis) => {
                            let new = || {
                                LaneTiles::of(nest, mapped.lanes, facts, axis, self.search.spread)
                            };
                            let tiles = constructed
                                .entry((axis, mapped.lanes, mapped.depth))
                                .or_insert_with(new);
                            tiles.candidates(mapped, &model, &packed)
                        }
                        None => {
                            let all = shapes(nest, mapped, facts, axis).into_iter();
                            all.map(|shape| (shape, Rule::Enumerated)).collect()
                        }
                    };
                    *compared += candidates.len();
                    let way = WayOfLanes { lanes: self, mapped, axis, packed };
                    found.extend(way.best(&model, candidates, price));
                }
            }
        }
        found
    }

    /// Whether tiles with lanes along an axis are constructed.
    fn constructs(&self, axis: usize) -> bool {
        !self.search.all_tiles && are_constructed(self.nest, axis)
    }
}

/// An instruction with lanes along an axis, on inputs of which some lie as these read them.
struct WayOfLanes<'b, 'n, 'c> {
    lanes: &'b ByLanes<'n, 'c>,
    mapped: &'b Mapped<'c>,
    axis: Option<usize>,
    packed: Vec<bool>,
}

impl<'c> WayOfLanes<'_, '_, 'c> {
    /// The best of some tiles, as many as are kept; what lays inputs out takes `price` cycles.
    fn best(
        &self,
        model: &Model<'_, 'c>,
        candidates: Vec<(Shape, Rule)>,
        price: f64,
    ) -> Vec<Candidate<'c>> {
        let &ByLanes { nest, shorter, facts, alone, share, keep, .. } = self.lanes;
        let fewer: Vec<_> = shorter
            .iter()
            .map(|(nest, times)| {
                (Model::new(nest, facts, self.mapped, self.axis, &self.packed), *times)
            })
            .collect();
        let (mut least, mut plain, mut whole) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let ends = |shape: &Shape| shape.grow.is_none() || !nest.has_lengths();
        let costed = |(shape, rule): (Shape, Rule)| {
            // Ends of another shape are more code, and have to be worth it.
            let most = match shape.grow {
                Some(_) => worth::most(plain),
                None => f64::INFINITY,
            };
            let mut rank = None;
            let cost = match alone {
                Some(alone) => {
                    let tile = register_tile(nest, &self.with(shape.clone()));
                    let own = model.cost(&shape);
                    let waiting = alone.cost(&tile, own);
                    rank = Some(waiting.cycles);
                    if share { waiting } else { own }
                }
                None if !fewer.is_empty() => {
                    let cost = model.cost_up_to(&shape, most.min(whole * FAR))?;
                    whole = whole.min(cost.cycles);
                    let own = fewer.iter().map(|(model, times)| model.cost(&shape).cycles * times);
                    let all = cost.cycles + own.sum::<f64>();
                    rank = Some(all / (1 + fewer.len()) as f64);
                    cost
                }
                // Where one is kept, no other needs to be counted to its end.
                None if keep == 1 => model.cost_up_to(&shape, most.min(least * (1.0 + EQUAL)))?,
                None => model.cost_up_to(&shape, most)?,
            };
            let rank = rank.unwrap_or(cost.cycles);
            least = rank.min(least);
            if shape.grow.is_none() {
                plain = least;
            }
            Some((shape, rule, cost, rank))
        };
        let mut tiles: Vec<_> =
            candidates.into_iter().filter(|(shape, _)| ends(shape)).filter_map(costed).collect();
        by_cycles(&mut tiles, |tile| tile.3);
        tiles.truncate(keep);
        let candidate = |(shape, rule, cost, rank)| Candidate {
            tiled: Tiled::Lanes(Box::new(self.with(shape))),
            cost: cost + Cost::of(Term::Layout, price),
            rank: rank + price,
            rule,
        };
        tiles.into_iter().map(candidate).collect()
    }

    fn with(&self, shape: Shape) -> Lanes<'c> {
        let (mapped, packed) = (self.mapped.clone(), self.packed.clone());
        let ByLanes { memory, facts, .. } = self.lanes;
        Lanes { mapped, shape, packed, memory, stage: facts.stage.clone() }
    }
}
