//! Sums of one product as the factor of another: the same registers under other names.

use weft_dialects::ir::Builder;

use super::one_pass::Pass;
use super::one_pass_rows::Registers;
use super::transfer::{Boxed, Pending, Transfer, Within, first};
use crate::nest::row_major;
use crate::tile::block::{Held, K};

impl<'c> Pass<'_, 'c> {
    /// The exponentials as a factor of the second product.
    pub(super) fn relabel(&self, b: &mut Builder<'c>, held: &Registers<'c>) {
        let (scores, values) = (&self.scores.block, &self.values.block);
        let from = scores.held_output(self.scores.nest.inputs.len());
        let mut to = values.held_input(self.rows);
        // The steps along a piece come first.
        let (quantum, deep) = (values.quanta()[K], values.deep());
        let steps =
            [(deep, values.step_apart()), (values.tile[K] / quantum / deep, deep * quantum)];
        for (count, apart) in steps {
            to.sizes.insert(0, count);
            for (side, along) in to.along.iter_mut().enumerate() {
                along.insert(0, if side == K { apart as i64 } else { 0 });
            }
        }
        let from = Runs::of(&from, [self.rows, self.own()]);
        let to = Runs::of(&to, [self.rows, K]);
        let sides: Vec<[u64; 3]> =
            (0..2).flat_map(|side| common(&from.0[side], &to.0[side])).collect();
        let sizes: Vec<u64> = sides.iter().map(|[size, ..]| *size).collect();
        let boxed = |b: &mut Builder<'c>, memref, end: usize| Boxed {
            view: first(b, memref),
            strides: sides.iter().map(|side| side[end] as i64).collect(),
        };
        let (from, to) = (boxed(b, held.narrow, 1), boxed(b, held.factor, 2));
        let moved = Transfer { from: &from, to: &to, sizes: &sizes, within: &Within::default() };
        Pending::default().transfer_within(b, &self.keep, moved);
    }
}

/// For both sides of what is held its parts: points, points between them, elements between them.
struct Runs([Vec<[u64; 3]>; 2]);

impl Runs {
    fn of(held: &Held, sides: [usize; 2]) -> Self {
        let near = row_major(&held.sizes);
        Self(sides.map(|side| {
            let own = (0..held.sizes.len()).filter(|&own| held.along[side][own] != 0);
            own.map(|own| [held.sizes[own], held.along[side][own] as u64, near[own] as u64])
                .collect()
        }))
    }
}

/// Parts of a side that are parts on both ends: points, elements between them here and there.
fn common(from: &[[u64; 3]], to: &[[u64; 3]]) -> Vec<[u64; 3]> {
    let ends = |own: &[[u64; 3]]| -> Vec<u64> {
        own.iter().flat_map(|[size, step, _]| [*step, size * step]).collect()
    };
    let mut cuts = [ends(from), ends(to)].concat();
    cuts.sort_unstable();
    cuts.dedup();
    let apart = |own: &[[u64; 3]], begin: u64, end: u64| {
        let part = own.iter().find(|[size, step, _]| *step <= begin && end <= size * step);
        part.map_or(0, |[_, step, near]| begin / step * near)
    };
    let parts = cuts.windows(2).map(|cut| {
        let (begin, end) = (cut[0], cut[1]);
        [end / begin, apart(from, begin, end), apart(to, begin, end)]
    });
    let mut parts: Vec<_> = parts.filter(|[size, ..]| *size > 1).collect();
    parts.reverse();
    parts
}
