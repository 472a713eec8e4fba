//! A chosen block tile without what it is about, for a nest of the same form later on.

use weft_dialects::device::Machine;

use super::super::banks::Choice;
use super::super::why::Rule;
use super::{Block, Chosen, Core, K, Lying, M, N, Repacked, Supply, TasksAlong, Ways};
use crate::cost::Cost;
use crate::nest::Nest;

/// What is chosen of a [`Chosen`]: numbers that hold for every nest of one form.
#[derive(Clone)]
pub struct Kept {
    instruction: String,
    /// The axes of the nest that are m and n, and the one that is k.
    sides: [Vec<usize>; 2],
    k: usize,
    slower: [Vec<(usize, u64)>; 2],
    inputs: [usize; 2],
    /// Rows and columns of the lanes, for an instruction of lanes.
    spread: Option<[u64; 2]>,
    tile: [u64; 3],
    group: [u64; 2],
    stages: u64,
    ahead: Option<Supply>,
    cluster: Option<TasksAlong>,
    bands: Option<TasksAlong>,
    turns: u64,
    resident: u64,
    interleaved: [bool; 3],
    along_k: [bool; 2],
    lying: [(Lying, Choice); 2],
    cost: Cost,
    rule: Rule,
    compared: usize,
    repacked: Option<Repacked>,
}

impl Kept {
    /// Keeps a choice.
    pub fn of(chosen: &Chosen<'_>) -> Self {
        let block = &chosen.block;
        let spread = match block.core {
            Core::Matrix(..) => None,
            Core::Lanes(.., spread) => Some(spread),
        };
        Self {
            instruction: block.instruction().name.to_owned(),
            sides: [M, N].map(|side| block.axes_of(side)),
            k: block.axes[K],
            slower: block.slower.clone(),
            inputs: block.inputs,
            spread,
            tile: block.tile,
            group: block.group,
            stages: block.stages,
            ahead: block.ahead,
            cluster: block.cluster,
            bands: block.bands,
            turns: block.turns,
            resident: block.resident,
            interleaved: block.interleaved,
            along_k: block.along_k,
            lying: chosen.lying,
            cost: chosen.cost,
            rule: chosen.rule,
            compared: chosen.compared,
            repacked: chosen.repacked,
        }
    }

    /// The choice for `nest`, which has the form of the one that it was made for.
    pub fn again<'c>(&self, machine: Machine<'c>, nest: &Nest<'c>) -> Option<Chosen<'c>> {
        let own = |block: &Block<'c>| {
            (block.axes[K], block.inputs) == (self.k, self.inputs)
                && [M, N].map(|side| block.axes_of(side)) == self.sides
        };
        let laid = self.repacked.map(|own| own.nest(nest));
        let nest = laid.as_ref().unwrap_or(nest);
        let instruction = machine.instruction(&self.instruction)?;
        let block = Block::by(machine, nest, instruction).into_iter().find(own)?;
        let block = match self.spread {
            Some(spread) => block.with_spread(spread)?,
            None => block,
        };
        let block = Block {
            slower: self.slower.clone(),
            tile: self.tile,
            group: self.group,
            stages: self.stages,
            ahead: self.ahead,
            cluster: self.cluster,
            bands: self.bands,
            turns: self.turns,
            resident: self.resident,
            interleaved: self.interleaved,
            along_k: self.along_k,
            ..block
        };
        let ways = Ways::of(machine, block.instruction().operands().last()?)?;
        Some(Chosen {
            block,
            ways,
            lying: self.lying,
            cost: self.cost,
            rule: self.rule,
            compared: self.compared,
            repacked: self.repacked,
        })
    }
}
