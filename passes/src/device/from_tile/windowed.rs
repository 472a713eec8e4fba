//! Windows that slide over rows of a tile: what several of them read is loaded once.
//!
//! ```text
//! y[i, j] += x[i + p, j + q] * w[p, q]
//!   ->  for each place r of x and each q: load x[r, j + q];
//!         for each i, p with i + p = r: y[i, j] += that * w[p, q]
//! ```
//!
//! All is written out, so every element adds its points in the order of the nest: a tile
//! where it would not is left to the loops over the reductions.

use weft_dialects::ir::{Builder, Val};

use super::index::Sum;
use super::register_tile::{At, RegisterTile};
use super::view::View;
use crate::nest::Windows;

impl<'p, 'c> RegisterTile<'p, 'c> {
    /// The windows that the schedule lets slide over the rows, where several of them share what
    /// they read.
    pub fn windows(&self) -> Option<Windows> {
        let (nest, taps) = (&self.plan.nest, &self.plan.schedule.slide[..]);
        let lanes_axis = self.plan.lanes_axis?;
        if !Windows::share(nest, lanes_axis, &self.rows, taps) {
            return None;
        }
        let rows: Vec<_> = self.rows.iter().map(|&axis| (axis, self.sizes[axis])).collect();
        Windows::of(nest, lanes_axis, &rows, taps)
    }

    /// Writes the steps of `windows` at a place of the other reductions.
    pub fn slide(
        &self,
        b: &mut Builder<'c>,
        windows: &Windows,
        place: &[Sum<'c>],
        accumulators: &[Val<'c>],
    ) {
        // Numbers that index registers and taps, written once.
        let tiles = self.rows.iter().map(|&axis| self.sizes[axis]);
        let extents = windows.taps.iter().map(|&axis| self.plan.nest.axes[axis].extent);
        let most = tiles.chain(extents).max().unwrap_or(1);
        let known: Vec<Val<'c>> = (0..most).map(|number| b.index(number as i64)).collect();
        let short = |b: &mut Builder<'c>, sum: &Sum<'c>| {
            let number = sum.as_number().and_then(|number| known.get(number as usize));
            number.copied().unwrap_or_else(|| sum.emit(b))
        };
        let numbers = |at: &[u64]| at.iter().map(|&n| Sum::number(n as i64)).collect::<Vec<_>>();
        // Every load takes the register of the one before.
        let read = &self.plan.nest.inputs[windows.input];
        let memref = self.alloc(b, &[self.plan.lanes], read.elem());
        let shared = View { memref, indices: vec![known[0]] };
        for group in &windows.groups {
            self.each_vector(b, &mut |b, vector| {
                let (along, count) = (short(b, &vector.number), vector.count);
                let mut loaded = false;
                for [row, tap] in group {
                    let mut place = place.to_vec();
                    for (&axis, tap) in windows.taps.iter().zip(numbers(tap)) {
                        place[axis] = tap;
                    }
                    let rows = numbers(row);
                    let point = self.point(b, &place, At { rows: &rows, vector });
                    let mut inputs = Vec::new();
                    for (number, access) in self.plan.nest.inputs.iter().enumerate() {
                        if number == windows.input {
                            if !loaded {
                                self.load(b, access, &point, &shared, count);
                            }
                            loaded = true;
                            inputs.push(shared.clone());
                            continue;
                        }
                        let places = self.place(access, &point).into_iter();
                        let indices = places.map(|at| short(b, &at)).collect();
                        inputs.push(View { indices, memref: self.memref(access) });
                    }
                    let register = row.iter().map(|&row| known[row as usize]);
                    let indices: Vec<_> = register.chain([along, known[0]]).collect();
                    let outputs: Vec<View<'c>> = accumulators
                        .iter()
                        .map(|&memref| View { memref, indices: indices.clone() })
                        .collect();
                    self.compute(b, &inputs, &outputs, &point, count);
                }
            });
        }
    }
}
