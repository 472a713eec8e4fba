//! Padding against bank conflicts (rule 3), and conflicts counted one by one.
//!
//! ```text
//! rows of 32 floats in 32 banks    lanes of one column all meet bank 0
//! rows of 33                       each meets its own
//! ```

use super::{Arch, Operator, Options, Tiles, Variant};
use crate::tile::banks::Banks;

/// Elements to leave free behind every row of an input, as the options say.
pub fn paddings(operator: &Operator, arch: &Arch, options: &Options, tiles: &Tiles) -> Vec<u64> {
    let inputs = 0..operator.inputs.len();
    match options.variant {
        // Storage padding was off where the published candidates were made.
        Variant::Published => vec![0; inputs.len()],
        Variant::Aligned => inputs.map(|input| padding(operator, arch, tiles, input)).collect(),
    }
}

/// The fewest elements to leave free behind every row of an input so that lanes meet as few
/// banks twice as rows can be arranged for: none where they meet none.
pub fn padding(operator: &Operator, arch: &Arch, tiles: &Tiles, input: usize) -> u64 {
    let now = degree(operator, arch, tiles, input, 0);
    let row =
        operator.input_tiles(tiles.current())[input].last().map_or(0, |&row| row.max(0) as u64);
    if now == 1 || row == 0 {
        return 0;
    }
    let wide = (arch.bank_bytes / operator.inputs[input].elem_bytes).max(1);
    // Rows that are an odd number of banks long begin in a different bank each.
    let odd =
        |padding: &u64| (row + padding).is_multiple_of(wide) && (row + padding) / wide % 2 == 1;
    let padding = (0..2 * wide).find(odd).unwrap_or(0);
    if degree(operator, arch, tiles, input, padding) < now { padding } else { 0 }
}

/// The padding of the published formula, for rows of `row` elements of which `read` are read
/// together: the next row begins as many banks further as those are wide.
pub fn published_padding(arch: &Arch, elem_bytes: u64, row: u64, read: u64) -> u64 {
    let wide = (arch.bank_bytes / elem_bytes).max(1);
    let all = arch.banks * wide;
    let offset = read.div_ceil(wide) * wide;
    (all + offset - row % all) % all
}

/// Largest number of accesses to one bank by a warp whose lane `l` reads the element at
/// `addresses[l]`: lanes that read the same word share an access.
pub fn conflicts(arch: &Arch, elem_bytes: u64, addresses: &[u64]) -> u64 {
    let banks = Banks { count: arch.banks, word_bytes: arch.bank_bytes };
    let bytes = addresses.iter().map(|address| address * elem_bytes);
    // By where elements begin: a bank counts once for one that is wider.
    banks.depth(bytes, 1).max(1)
}

/// Conflicts of the first warp of a block when its threads read their first element of an
/// input, with `padding` elements behind every row. Neighbouring threads have neighbouring
/// elements: the register tile is spread over the block.
pub fn degree(operator: &Operator, arch: &Arch, tiles: &Tiles, input: usize, padding: u64) -> u64 {
    let (block, spatial) = (tiles.current(), operator.spatial());
    let counts: Vec<u64> =
        (0..spatial).map(|axis| block[axis].div_ceil(tiles.registers[axis])).collect();
    let mut shape = operator.input_tiles(block).swap_remove(input);
    if let Some(last) = shape.last_mut() {
        *last += padding as i64;
    }
    let address = |lane: u64| {
        let mut rest = lane;
        let mut point = vec![0i64; operator.axes.len()];
        for axis in (0..spatial).rev() {
            point[axis] = (rest % counts[axis]) as i64;
            rest /= counts[axis];
        }
        let index = operator.inputs[input]
            .dims
            .iter()
            .map(|dim| dim.steps.iter().zip(&point).map(|(step, at)| step.abs() * at).sum::<i64>());
        shape.iter().zip(index).fold(0, |sum, (&size, index)| sum * size + index).max(0) as u64
    };
    let lanes = arch.warp.min(counts.iter().product());
    let addresses: Vec<_> = (0..lanes).map(address).collect();
    conflicts(arch, operator.inputs[input].elem_bytes, &addresses)
}
