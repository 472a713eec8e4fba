//! Two block products of which one makes a factor of the other, a piece at a time, in the registers of a
//! group: a softmax's (`one_pass.rs`).
//!
//! ```text
//! scores  [rows, keys, depth]    a group has whole rows of a piece, and goes through all of the depth
//! values  [rows, width, keys]    the same rows; what the first one's sums became is the factor
//! ```
//!
//! Nothing is handed over between lanes: what a lane has of the sums has to be what the same lane has of
//! the factor. That is so where the maps of the instruction's operands say so. Which of its sides are rows
//! is open, so an instruction may suit by its columns. The second product may be by another instruction, which takes
//! that factor from registers and the other one where it lies.

use super::super::spread_rows::SpreadRows;
use super::{Block, Core, K, M, N};
use crate::nest::Nest;
use crate::tile::one_pass::OnePass;
use crate::tile::row_mask::RowMask;

/// Both products and how they go together.
#[derive(Clone, Debug)]
pub struct Pair<'c> {
    /// The product whose sums become the other one's factor.
    pub scores: Block<'c>,
    /// The one that reads it.
    pub values: Block<'c>,
    /// The side of both that are rows, m or n.
    pub rows: usize,
}

impl<'c> Pair<'c> {
    /// Puts two products together.
    ///
    /// # Errors
    /// The reason that one's sums are not the other's factor.
    pub fn new(
        [scores, values]: [Block<'c>; 2],
        [first, last]: [&Nest<'c>; 2],
        one_pass: &OnePass,
    ) -> Result<Self, &'static str> {
        let Some((rows, own)) = sides(&values, one_pass) else {
            return Err("the factor is no input of the second product");
        };
        let matrix = [&scores, &values].iter().all(|block| {
            matches!(block.core, Core::Matrix(..)) && block.slower.iter().all(Vec::is_empty)
        });
        if !matrix || !follows(&scores, &values) {
            let why = "both are products of one matrix instruction that takes registers, or the second one's \
                       takes what the first one's leaves there";
            return Err(why);
        }
        let same = one_pass.rows.contains(&[scores.axes[rows], values.axes[rows]]);
        if !same || one_pass.along != [scores.axes[own], values.axes[K]] {
            return Err("rows are on the same side of the instruction in both");
        }
        let keys = first.axes[scores.axes[own]].extent;
        let fits = |mask: &RowMask| mask.fits(first, scores.axes[rows], keys);
        if !one_pass.mask.as_ref().is_none_or(fits) {
            return Err("a mask asks for the numbers of other rows");
        }
        let reduced = [first, last].iter().zip([&scores, &values]).all(|(nest, block)| {
            (0..nest.axes.len()).all(|axis| nest.reduces(axis) == (axis == block.axes[K]))
        });
        let tiles = scores.tile[rows] == values.tile[rows]
            && scores.group[rows] == values.group[rows]
            && scores.tile[own] == values.tile[K]
            && scores.group[own] == scores.tile[own]
            && values.group[own] == values.tile[own]
            && scores.tile[K] >= first.axes[scores.axes[K]].extent
            && values.tile[own] >= last.axes[values.axes[own]].extent;
        if !reduced || !tiles {
            return Err("pieces are equal, and groups have whole rows of both products");
        }
        let [kept, read] = [scores.interleaved, values.interleaved];
        if kept[rows] || kept[own] || read[rows] || read[K] {
            return Err("rows and what they are long are not interleaved");
        }
        let pair = Self { scores, values, rows };
        if !pair.stays() {
            return Err("lanes have other elements of the sums than of the factor");
        }
        Ok(pair)
    }

    /// The side that is not rows: keys of the first product, the width of the second.
    pub fn own(&self) -> usize {
        M + N - self.rows
    }

    /// Whether each lane has of the sums what it needs of the factor, and rows are lanes that exchange.
    fn stays(&self) -> bool {
        let own = self.own();
        let (Some(sums), Some(factor)) = (
            Places::of(&self.scores, self.scores.output(), [self.rows, own]),
            Places::of(
                &self.values,
                self.values.operand(self.values.inputs[self.rows]),
                [self.rows, K],
            ),
        ) else {
            return false;
        };
        let (wide, deep) = (self.scores.quanta()[own] as i64, self.values.quanta()[K] as i64);
        let held = |step: i64, wanted: &Vec<[i64; 2]>| {
            let place = |&[row, k]: &[i64; 2]| [row, (k + step * deep) % wide];
            let wanted: Vec<_> = wanted.iter().map(place).collect();
            // Which operand of the sums it is has to be the same for all lanes, too.
            sums.0.contains(&wanted)
        };
        let stays =
            (0..(wide / deep).max(1)).all(|step| factor.0.iter().all(|slot| held(step, slot)));
        let alike = |slot: &Vec<[i64; 2]>| slot.iter().all(|[_, k]| k / wide == slot[0][1] / wide);
        stays && factor.0.iter().all(alike) && self.row_spread().is_some()
    }

    /// Elements of a row that one lane has in an operand of the sums, and in how many bits of their numbers the
    /// lanes of the row differ.
    pub(super) fn row_parts(&self) -> Option<[u64; 2]> {
        let spread = self.row_spread()?;
        Some([spread.slots.first()?.len() as u64, spread.bits.len() as u64])
    }

    /// Whether the greatest element of rows is found operand by operand: for each of these lanes exchange, and fold what
    /// they get, once for every bit; else they keep as many parts of a row as they have elements of it in one operand.
    pub fn folds_operands(&self) -> bool {
        let operands = self.scores.counts()[self.own()];
        self.row_parts().is_some_and(|[elements, bits]| operands * bits * 2 <= elements)
    }

    /// How a row of the sums is spread.
    fn row_spread(&self) -> Option<SpreadRows> {
        let places = Places::of(&self.scores, self.scores.output(), [self.rows, self.own()])?;
        let slots: Vec<Vec<Vec<i64>>> = (places.0.iter())
            .map(|slot| slot.iter().map(|place| place.to_vec()).collect())
            .collect();
        let slots: Vec<_> = slots.iter().map(Vec::as_slice).collect();
        SpreadRows::of(&slots, 1, self.scores.quanta()[self.own()])
    }
}

/// Whether the second product's instruction may take what the first one's leaves in registers.
pub(super) fn follows(scores: &Block<'_>, values: &Block<'_>) -> bool {
    let [first, last] = [scores, values].map(Block::instruction);
    if !values.is_direct() {
        return first.name == last.name;
    }
    // A number of each row is kept as an operand of the sums of both.
    let alike =
        first.operands().last() == last.operands().last() && scores.quanta() == values.quanta();
    alike && values.continues() && scores.is_direct() && !scores.continues()
}

/// The side of both products that is rows, and the other one.
pub(super) fn sides(values: &Block<'_>, one_pass: &OnePass) -> Option<(usize, usize)> {
    let rows = values.inputs.iter().position(|&input| input == one_pass.factor)?;
    Some((rows, M + N - rows))
}

/// For each slot the place along two sides that each lane has of an operand.
struct Places(Vec<Vec<[i64; 2]>>);

impl Places {
    fn of(block: &Block<'_>, operand: usize, sides: [usize; 2]) -> Option<Self> {
        let fragment = block.fragment(operand)?;
        let dims = [block.dim(operand, sides[0])?, block.dim(operand, sides[1])?];
        let slots = (0..fragment.slots).map(|slot| {
            let place = |lane: u64| dims.map(|dim| fragment.at(lane, slot)[dim]);
            (0..block.lanes).map(place).collect()
        });
        Some(Self(slots.collect()))
    }
}
