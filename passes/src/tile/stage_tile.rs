//! The rTile that waits in a memory between the shared one and the registers, constructed by reuse
//! (Roller, OSDI'22, section 4.2).
//!
//! ```text
//! registers [14, 32, 1]   task [512, 32, 512]
//! [1, 1, 1] -> ... -> [14, 32, 1] -> [14, 32, 2] -> ... -> [56, 32, 512]
//! ```
//!
//! It grows from one point on, inside the rTask's tile, always along the axis that saves the most
//! cycles of moves for a byte that it holds, until the memory is full. Sizes below the register
//! tile's are for memories that do not hold one.

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;
use weft_dialects::tile::RTile;

use super::local;
use super::roller::path::path;
use super::way::{Stage, move_cycles};
use crate::nest::Nest;

/// The tiles around the one that waits.
#[derive(Clone, Debug)]
pub(super) struct Around<'l> {
    /// Sizes of the tile in the registers.
    pub registers: &'l [u64],
    /// Sizes of the rTask's tile.
    pub task: &'l [u64],
    /// Cycles to store the sums of a register tile and load them again.
    pub restart: f64,
}

/// The rTile that waits in the memory of `stage`, inside that of the rTask.
///
/// # Errors
/// The tensors that do not fit.
pub(super) fn stage_tile(
    machine: Machine<'_>,
    nest: &Nest<'_>,
    around: &Around<'_>,
    stage: &Stage<'_>,
) -> Result<RTile, String> {
    let moves = Moves { machine, nest, around, stage };
    let axes = around.registers.iter().zip(around.task).enumerate();
    let steps = axes.map(|(axis, (&register, &whole))| match nest.reduces(axis) {
        // Sums of a part wait where the output does.
        true if nest.casts_sums() => vec![whole.max(1)],
        true => parts(whole),
        false => multiples(register, whole),
    });
    let steps = steps.collect();
    let room = stage.memory.capacity_bytes();
    let fits = |tile: &[u64]| local::bytes(nest, tile) <= room;
    let score = |now: &[u64], wider: &[u64]| {
        let held = local::bytes(nest, wider).saturating_sub(local::bytes(nest, now));
        (moves.cycles(now) - moves.cycles(wider)) / held.max(1) as f64
    };
    let memory = stage.memory.name.to_owned();
    match path(&steps, &fits, &score).pop() {
        Some(sizes) => Ok(RTile { memory, sizes }),
        None => Err(refusal(nest, &memory, room)),
    }
}

/// Says what one point needs of a memory of `room` bytes.
fn refusal(nest: &Nest<'_>, memory: &str, room: u64) -> String {
    let bytes = local::bytes(nest, &vec![1; nest.axes.len()]);
    let tables = match local::captured_bytes(nest) {
        0 => String::new(),
        whole => format!(", {whole} of them read at computed addresses"),
    };
    format!("one point needs {bytes} bytes of @{memory}{tables}; it holds {room}")
}

/// Sizes of an axis, the least first: halves of the register tile's, multiples of it, and the whole
/// axis of the rTask. Each multiple is by a third or more longer than the one before.
fn multiples(register: u64, whole: u64) -> Vec<u64> {
    let whole = whole.max(1);
    let register = register.clamp(1, whole);
    let mut sizes = vec![register];
    while let Some(&size @ 2..) = sizes.last() {
        sizes.push(size.div_ceil(2));
    }
    sizes.reverse();
    for size in (2..whole.div_ceil(register)).map(|count| count * register) {
        if size * 3 >= sizes[sizes.len() - 1] * 4 {
            sizes.push(size);
        }
    }
    if whole > register {
        sizes.push(whole);
    }
    sizes
}

/// Sizes of a reduction, the least first: parts that are as long as each other (rule 4), in steps of
/// about a third.
fn parts(whole: u64) -> Vec<u64> {
    let mut sizes = vec![whole.max(1)];
    while let Some(&size @ 2..) = sizes.last() {
        let count = whole.div_ceil((size * 3).div_ceil(4).min(size - 1));
        sizes.push(whole.div_ceil(count));
    }
    sizes.reverse();
    sizes
}

/// What brings an rTask's tensors to the memory in which tiles wait, and on to the registers.
struct Moves<'l, 'n, 'c> {
    machine: Machine<'c>,
    nest: &'l Nest<'n>,
    around: &'l Around<'l>,
    stage: &'l Stage<'c>,
}

impl Moves<'_, '_, '_> {
    /// Cycles of an rTask's moves with a tile of these sizes: tiles of inputs come for every tile,
    /// results leave once, and between parts of a reduction they leave the registers and return.
    fn cycles(&self, tile: &[u64]) -> f64 {
        let rounds = |axis: usize| self.around.task[axis].div_ceil(tile[axis].max(1)) as f64;
        let (reduced, parallel): (Vec<usize>, Vec<usize>) =
            (0..tile.len()).partition(|&axis| self.nest.reduces(axis));
        let parts: f64 = reduced.into_iter().map(rounds).product();
        let results: f64 = parallel.iter().copied().map(rounds).product();
        let [loaded, stored] = self.bytes(tile);
        let [load_latency, store_latency] = self.stage.latencies();
        let load = load_latency + move_cycles(self.machine, &self.stage.load, loaded);
        let store = store_latency + move_cycles(self.machine, &self.stage.store, stored);
        let restarts = parallel.iter().map(|&axis| {
            let register = self.around.registers[axis].min(tile[axis]).max(1);
            tile[axis].div_ceil(register) as f64
        });
        let restart = self.around.restart * restarts.product::<f64>();
        results * (parts * load + store + (parts - 1.0) * restart)
    }

    /// Bytes of a tile's inputs and outputs.
    fn bytes(&self, tile: &[u64]) -> [f64; 2] {
        let size = |piece: local::Local, elem| {
            piece.shape.iter().product::<u64>() as f64 * ty::byte_size(elem).unwrap_or(8) as f64
        };
        let reads = self.nest.reads();
        let inputs = reads.iter().map(|one| size(local::input(one, tile, None), one.elem()));
        let outputs = &self.nest.outputs;
        let outputs = outputs.iter().map(|one| size(local::output(one, tile, None), one.elem()));
        [inputs.sum(), outputs.sum()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_go_through_the_register_tile() {
        let wide = [1, 2, 4, 7, 14, 28, 42, 56, 84, 112, 154, 210, 280, 378, 504, 512];
        assert_eq!(multiples(14, 512), wide);
        assert_eq!(multiples(1, 5), [1, 2, 3, 4, 5]);
        assert_eq!(multiples(32, 32), [1, 2, 4, 8, 16, 32]);
        assert_eq!(multiples(0, 0), [1]);
    }

    #[test]
    fn parts_of_a_reduction_are_even() {
        let even = [1, 2, 3, 4, 5, 6, 7, 9, 11, 14, 18, 24, 32, 43, 64, 86, 128, 256];
        assert_eq!(parts(256), even);
        assert_eq!(parts(1), [1]);
        assert_eq!(parts(0), [1]);
    }
}
