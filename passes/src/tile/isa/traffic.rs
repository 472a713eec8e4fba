//! The bytes that moves carry for a nest that an instruction with axes computes.

use std::collections::BTreeMap;

use weft_dialects::device::{Machine, Move};

use super::choose::Near;
use super::cost::Mapped;
use super::mapping::Mapping;
use super::residue::{Begin, begin};
use crate::nest::Nest;
use crate::tile;
use crate::tile::far::bytes;
use crate::tile::passing::Passing;

/// Bytes that each move carries, by its name.
pub type Traffic = BTreeMap<String, u64>;

/// Bytes that the moves carry for a whole nest, exactly: what is filled, brought and taken
/// back, with every ragged tile as large as it is. `task` and `tile` are the sizes of an rTask
/// and of the tile that waits beside the instruction.
pub fn traffic<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    mapping: &Mapping<'c>,
    (task, tile): (&[u64], &[u64]),
    near: Option<Near<'_>>,
) -> Traffic {
    let mapped = Mapped::new(machine, nest, mapping, near);
    let pieces: Vec<Vec<(u64, u64)>> = (0..nest.axes.len())
        .map(|axis| pieces(nest.axes[axis].extent, task[axis], tile[axis]))
        .collect();
    let mut traffic = Traffic::new();
    each(&pieces, &|axis| !nest.reduces(axis), &mut |times, sizes| {
        mapped.of_result(times, sizes, &mut traffic);
    });
    let ahead = mapped.ahead(tile);
    each(&pieces, &|_| true, &mut |times, sizes| {
        // Steps that come ahead of time are filled once for each room.
        let filled = match ahead {
            Some((axis, steps, rooms)) if sizes[axis] == tile[axis] => times / steps * rooms,
            _ => times,
        };
        mapped.of_inputs([times, filled], sizes, &mut traffic);
    });
    traffic
}

/// Bytes of the memory that all units share which the whole nest reads and writes, in whole transactions.
/// `task` and `tile` are as for [`traffic`].
pub fn shared_traffic<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    mapping: &Mapping<'c>,
    (task, tile): (&[u64], &[u64]),
    passing: &Passing,
) -> tile::traffic::Traffic {
    let mapped = Mapped::new(machine, nest, mapping, None);
    let pieces: Vec<Vec<(u64, u64)>> = (0..nest.axes.len())
        .map(|axis| pieces(nest.axes[axis].extent, task[axis], tile[axis]))
        .collect();
    let mut all = tile::traffic::Traffic::default();
    for (operand, own) in mapped.operands.iter().enumerate() {
        let Some(access) = mapping.access(nest, operand).filter(|_| !own.is_one) else { continue };
        let mut moved = 0;
        let counts = |axis: usize| !own.is_result || !nest.reduces(axis);
        each(&pieces, &counts, &mut |times, sizes| {
            moved += times * mapped.moved_bytes(sizes, operand) as u64;
        });
        all.moved += moved;
        all.passing += if own.is_result { moved } else { passing.bytes(moved, bytes(access)) };
    }
    all
}

/// Sizes of the tiles along an axis, with how many there are of each.
fn pieces(extent: u64, task: u64, tile: u64) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut add = |size: u64, count: u64| {
        if size > 0 && count > 0 {
            match found.iter_mut().find(|(known, _)| *known == size) {
                Some((_, counted)) => *counted += count,
                None => found.push((size, count)),
            }
        }
    };
    for (span, tasks) in [(task, extent / task), (extent % task, 1)] {
        add(tile, tasks * (span / tile));
        add(span % tile, tasks);
    }
    found
}

/// Every combination of pieces along the axes that count, with how often it comes; an axis
/// that does not count is as long as its first piece.
fn each(
    pieces: &[Vec<(u64, u64)>],
    counts: &dyn Fn(usize) -> bool,
    body: &mut dyn FnMut(u64, &[u64]),
) {
    let mut all = vec![(1, Vec::new())];
    for (axis, pieces) in pieces.iter().enumerate() {
        let along: Vec<(u64, u64)> = match counts(axis) {
            true => pieces.clone(),
            false => pieces.iter().take(1).map(|(size, _)| (*size, 1)).collect(),
        };
        all = all
            .into_iter()
            .flat_map(|(times, sizes): (u64, Vec<u64>)| {
                along.iter().map(move |(size, count)| {
                    (times * count, sizes.iter().copied().chain([*size]).collect())
                })
            })
            .collect();
    }
    for (times, sizes) in all {
        body(times, &sizes);
    }
}

impl<'c> Mapped<'_, 'c> {
    /// Bytes of the tensor that a tile of an operand is.
    fn tile_bytes(&self, sizes: &[u64], operand: usize) -> u64 {
        let inside = self.mapping.inside(operand);
        let around = self.mapping.around(self.nest, operand);
        let points: u64 = inside.into_iter().chain(around).map(|axis| sizes[axis]).product();
        points * self.elem_bytes(operand)
    }

    fn of_result(&self, times: u64, sizes: &[u64], traffic: &mut Traffic) {
        let Some(result) = self.mapping.result(self.nest) else { return };
        let begins = begin(self.nest, self.mapping.binding.from_zero);
        let copied = matches!(begins, Some(Begin::Copied | Begin::Held));
        let filled = matches!(begins, Some(Begin::Number | Begin::Zero))
            || copied && self.is_ragged(sizes, result);
        self.fill(times, sizes, result, filled, traffic);
        if copied {
            self.carry(self.load(result), times * self.tile_bytes(sizes, result), traffic);
        }
        self.carry(self.store(result), times * self.tile_bytes(sizes, result), traffic);
        for (operand, own) in self.operands.iter().enumerate() {
            self.fill(times, sizes, operand, own.is_one, traffic);
        }
    }

    fn of_inputs(&self, [times, filled]: [u64; 2], sizes: &[u64], traffic: &mut Traffic) {
        for (operand, own) in self.operands.iter().enumerate() {
            if !own.is_one && !own.is_result {
                self.fill(filled, sizes, operand, self.is_ragged(sizes, operand), traffic);
                self.carry(self.load(operand), times * self.tile_bytes(sizes, operand), traffic);
            }
        }
    }

    fn fill(&self, times: u64, sizes: &[u64], operand: usize, does: bool, traffic: &mut Traffic) {
        if does {
            let way = self.machine.fill_of(self.mapping.instruction.operands()[operand]);
            let bytes = self.held(sizes, operand) * self.elem_bytes(operand);
            self.carry(way.as_ref(), times * bytes, traffic);
        }
    }

    fn carry(&self, way: Option<&Move<'c>>, bytes: u64, traffic: &mut Traffic) {
        if let Some(way) = way.filter(|_| bytes > 0) {
            *traffic.entry(way.name.to_owned()).or_default() += bytes;
        }
    }
}
