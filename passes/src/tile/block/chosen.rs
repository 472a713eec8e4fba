//! A block tile that was chosen, and what is said of it.

use super::super::banks::{Choice, Turns};
use super::super::why::Rule;
use super::{Block, ChosenPair, Core, Lying, Repacked, Ways};
use crate::cost::Cost;

/// A block tile that was chosen.
#[derive(Clone, Debug)]
pub struct Chosen<'c> {
    /// The tiles.
    pub block: Block<'c>,
    /// The memories.
    pub ways: Ways<'c>,
    /// How the inputs along m and along n lie, and the conflicts that saves.
    pub lying: [(Lying, Choice); 2],
    /// What it is predicted to take until all units are done, times units.
    pub cost: Cost,
    /// The rule by which the tile was constructed.
    pub(in super::super) rule: Rule,
    /// Tiles that were compared.
    pub compared: usize,
    /// The factor that has to be laid out anew before.
    pub repacked: Option<Repacked>,
}

impl<'c> Chosen<'c> {
    /// One of two products that were chosen together.
    pub fn of_pair(found: &ChosenPair<'c>, block: &Block<'c>, lying: [Lying; 2]) -> Self {
        let uncounted = |lying: Lying| {
            let none = Turns::default();
            (lying, Choice { layout: lying.layout, before: none, after: none })
        };
        Self {
            block: block.clone(),
            ways: found.ways.clone(),
            lying: lying.map(uncounted),
            cost: found.cost,
            rule: Rule::Enumerated,
            compared: found.compared,
            repacked: None,
        }
    }
}

impl Chosen<'_> {
    /// One line for people.
    pub fn describe(&self) -> String {
        let ([bm, bn, bk], [wm, wn]) = (self.block.tile, self.block.group);
        let name = self.block.instruction().name;
        let lanes = match self.block.core {
            Core::Lanes(_, _, [m, n]) if m > 1 => format!(", lanes of {m}x{n}"),
            _ => String::new(),
        };
        let stages = match self.block.stages {
            1 => String::new(),
            stages => format!(", {stages} stages"),
        };
        let clusters = match self.block.cluster {
            None => String::new(),
            Some(own) => format!(", clusters of {}", own.count),
        };
        let bands = match self.block.bands {
            None => String::new(),
            Some(own) => format!(", bands of {}", own.count),
        };
        let said = [lanes, stages, clusters, bands].concat();
        format!("@{name}, blocks of {bm}x{bn}x{bk}, groups of {wm}x{wn}{said}")
    }

    /// How an input lies and what its accesses take, for people.
    pub fn conflicts(&self, side: usize) -> String {
        let (lying, choice) = &self.lying[side];
        let (_, columns) = self.block.rows_columns(side, lying.inner);
        let near = self.ways.near.name;
        let name = ["the input along m", "the input along n"][side];
        format!(
            "{name} in @{near}: {}, {} turns of banks a step (before {}, at least {})",
            lying.layout.describe(columns),
            choice.after.taken,
            choice.before.taken,
            choice.after.least,
        )
    }
}
