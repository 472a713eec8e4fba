//! Axes along which neighbours belong to different instructions of a group.
//!
//! ```text
//! 8 instructions of 8 columns     plain:        instruction j has columns 8 j .. 8 j + 7
//!                                 interleaved:  columns j, j + 8, j + 16, ...
//! ```
//!
//! A lane that holds one column of each then finds them side by side where columns lie so, and
//! takes all by one access instead of eight. Sums come in another order along the axis, which
//! only the transfer that stores them knows. Of more instructions than one access takes so many
//! are interleaved, and others follow them: accesses of neighbouring lanes are then neighbours.
//!
//! The axis that reduces has no order but that both inputs share, so what a lane holds of it is
//! put side by side as well, over several steps of the instruction:
//!
//! ```text
//! mma 16 x 8 x 16: lane t of 4 has k = 2 t, 2 t + 1, 2 t + 8, 2 t + 9
//! two steps:       place 8 t + 4 (step) + 2 (k >= 8) + (k mod 2)
//! ```

use weft_dialects::ir::ty;

use super::{Block, Core, K, M, N, power_of_two_in};
use crate::nest::Nest;

/// What a lane holds of an instruction's axis k: `high` runs of `run` points, and as many lanes
/// between two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Runs of a lane.
    pub high: u64,
    /// Lanes that have runs between two of these.
    pub lanes: u64,
    /// Points of a run.
    pub run: u64,
}

impl Block<'_> {
    /// What a lane holds of an instruction's points along k; `None` where that is not alike for
    /// all lanes, or the instruction has no such axis.
    pub(super) fn find_parts(&self) -> Option<Parts> {
        let Core::Matrix(mapping, _) = &self.core else { return None };
        let own = mapping.axes.iter().position(|own| own.contains(&self.axes[K]))?;
        let operand = self.operand(self.inputs[M]);
        let dim = mapping.dims[operand].iter().flatten().position(|&dim| dim == own)?;
        let fragment = self.fragment(operand)?;
        let held = |lane: u64| {
            let place = |slot| fragment.at(lane, slot)[dim] as u64;
            let mut found: Vec<u64> = (0..fragment.slots).map(place).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let first = held(0);
        let run =
            (1..=first.len() as u64).take_while(|&n| first[n as usize - 1] == n - 1).last()?;
        let high = first.len() as u64 / run;
        let apart = first.get(run as usize).map_or(self.quanta()[K], |&next| next);
        let parts = Parts { high, lanes: apart / run, run };
        let alike = (0..self.lanes).all(|lane| {
            let held = held(lane);
            let begin = held[0];
            let place = |n: u64| begin + n / run * apart + n % run;
            begin.is_multiple_of(run)
                && begin < apart
                && held.iter().copied().eq((0..high * run).map(place))
        });
        (alike && high * apart == self.quanta()[K]).then_some(parts)
    }

    /// Elements of an input that a lane puts together into registers in a step, all groups' lanes of a
    /// number counted: those that the instruction takes as neighbours along k from a tile that does not
    /// lie so, and those that one access brings which are no neighbours for the instruction.
    pub(super) fn packed(&self, side: usize) -> u64 {
        let neighbours = self.parts.is_some_and(|parts| parts.run > 1);
        let whole = self.along_k[side] && (self.deep() == 1 || self.has_rows(side));
        let inner = if self.along_k[side] { K } else { side };
        let taken = self.direct[side].is_some() || self.gathers_along(side, self.axes[inner]);
        if !matches!(self.core, Core::Matrix(..)) || !neighbours || whole || taken {
            return 0;
        }
        let slots = self.slots(self.operand(self.inputs[side]));
        let groups: u64 = self.groups().iter().product();
        groups * self.counts()[side] * slots * (self.tile[K] / self.quanta()[K])
    }

    /// Whether the slots of a lane that hold parts of one row along k follow each other.
    fn has_rows(&self, side: usize) -> bool {
        let Core::Matrix(mapping, _) = &self.core else { return true };
        let operand = self.operand(self.inputs[side]);
        let k = mapping.axes.iter().position(|own| own.contains(&self.axes[K]));
        let dim = mapping.dims[operand].iter().flatten().position(|&dim| Some(dim) == k);
        let Some((dim, fragment)) = dim.zip(self.fragment(operand)) else { return true };
        let row = |slot: u64| {
            let mut place = fragment.at(0, slot).to_vec();
            place.remove(dim);
            place
        };
        let own = self.parts.map_or(1, |parts| parts.high * parts.run);
        (0..own).all(|slot| row(slot) == row(0))
    }

    /// Slots of a lane for an operand of the instruction.
    pub(super) fn slots(&self, operand: usize) -> u64 {
        self.fragment(operand).map_or(1, |own| own.slots)
    }

    /// Steps of the instruction along k whose points are interleaved, 1 where they are not.
    pub fn deep(&self) -> u64 {
        match self.parts.filter(|_| self.interleaved[K]) {
            Some(parts) => {
                let most = (self.widest(self.elem_bytes) / (parts.high * parts.run)).max(1);
                power_of_two_in(most, self.tile[K] / self.quanta()[K])
            }
            None => 1,
        }
    }

    /// Steps of the instruction along k for which a group brings an input to its registers at
    /// once: those that lie side by side.
    pub fn at_once(&self, side: usize) -> u64 {
        if self.along_k[side] { self.deep() } else { 1 }
    }

    /// Points of the tile along k between an interleaved step and the next.
    pub fn step_apart(&self) -> u64 {
        match self.parts.filter(|_| self.deep() > 1) {
            Some(parts) => parts.high * parts.run,
            None => self.quanta()[K],
        }
    }

    /// The first point of the tile along k of a step of the instruction.
    pub fn step_begin(&self, step: u64) -> u64 {
        let deep = self.deep();
        step / deep * deep * self.quanta()[K] + step % deep * self.step_apart()
    }

    /// Instructions of a group along m or n whose points are interleaved: as many as a lane takes by
    /// one access, 1 where points of one instruction are neighbours. Those of lanes always are.
    pub(super) fn neighbours(&self, side: usize) -> u64 {
        let (count, most) = (self.counts()[side], self.widest(self.elem_bytes));
        match &self.core {
            Core::Matrix(..) if !self.interleaved[side] => 1,
            _ if count <= most => count,
            _ => power_of_two_in(most, count),
        }
    }

    /// The instructions of a group along m or n: how many, and points of the tile between them;
    /// two such counts where a part of them is interleaved.
    pub fn repeats(&self, side: usize) -> Vec<(u64, u64)> {
        let (count, quantum) = (self.counts()[side], self.quanta()[side]);
        match self.neighbours(side) {
            1 => vec![(count, quantum)],
            all if all == count => vec![(count, 1)],
            some => vec![(count / some, some * quantum), (some, 1)],
        }
    }

    /// The same with an axis interleaved; `None` where that changes nothing that a lane takes.
    pub fn interleave(&self, axis: usize) -> Option<Self> {
        let mut block = self.clone();
        block.interleaved[axis] = true;
        let useful = match (&self.core, axis) {
            (Core::Lanes(..), _) => false,
            (Core::Matrix(..), _) if self.is_direct() => false,
            (Core::Matrix(..), K) => block.deep() > 1,
            (Core::Matrix(..), side) => block.neighbours(side) > 1,
        };
        useful.then_some(block)
    }

    /// The axes of the nest that are interleaved.
    pub fn interleaved_axes(&self) -> Vec<usize> {
        let mut axes: Vec<usize> = [M, N, K]
            .into_iter()
            .filter(|&own| self.interleaved[own])
            .map(|own| self.axes[own])
            .collect();
        axes.sort_unstable();
        axes
    }

    /// Reads which axes of the nest are interleaved; `None` where that does nothing.
    pub fn with_interleaved(&self, axes: &[usize]) -> Option<Self> {
        axes.iter().try_fold(self.clone(), |block, axis| {
            let own = self.axes.iter().position(|own| own == axis)?;
            block.interleave(own)
        })
    }
}

/// Bytes of an element of the inputs, the wider one's.
pub(super) fn elem_bytes(nest: &Nest<'_>, inputs: [usize; 2]) -> u64 {
    let bytes = |input: usize| ty::byte_size(nest.inputs[input].elem()).unwrap_or(1);
    inputs.map(bytes).into_iter().max().unwrap_or(1)
}
