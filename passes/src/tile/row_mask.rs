//! What becomes of the scores of a softmax by their places in their rows: a causal mask, say.
//!
//! ```text
//! select(key > token + past, -inf, x)      rows see keys up to their own token
//! ```
//!
//! Lanes do it where the scores are in registers (`one_pass.rs`). Where all that it does is to leave out what lies
//! behind a place that goes up with the rows, pieces behind the last one that any row of a block sees need not be
//! computed, and those in front of the first one that any row does not see whole need no mask.

use weft_dialects::ir::{Block, Op, Val, attr};

use super::fuse_elementwise::is_elementwise;
use super::split_rows::rows::{made_by, same_places};
use crate::nest::{Nest, index_axis};

/// A nest between scores and what reads them, that changes each of them by its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowMask {
    /// Its number among the computes.
    pub member: usize,
    /// For each of its axes what it is, where its body asks for that.
    pub asked: Vec<Option<Asked>>,
    /// How many elements more than its token a row sees, where all others are left out.
    pub sees: Option<i64>,
    /// Whether it leaves scores as they are, or out.
    pub selects: bool,
}

/// What an axis of a mask is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The place in a row.
    Key,
    /// The number of a row, modulo so many: those of a batch and of heads come one after the other.
    Row(u64),
    /// Has one point, whose number is zero.
    Single,
}

impl RowMask {
    /// Reads a nest on scores that have rows of `keys` elements.
    ///
    /// # Errors
    /// What it does besides.
    pub fn of(nest: &Nest<'_>, member: usize, keys: u64) -> Result<Self, &'static str> {
        let [input] = &nest.inputs[..] else {
            return Err("scores are changed by other tensors, too");
        };
        let plain = is_elementwise(nest)
            && nest.outputs.len() == 1
            && same_places(nest, input, &nest.outputs[0])
            && input.elem() == nest.outputs[0].elem();
        plain.then_some(()).ok_or("what becomes of scores lies elsewhere")?;
        let address = input.address(nest.axes.len());
        let asks = |axis: usize| nest.body.ops().into_iter().any(|op| index_axis(op) == Some(axis));
        let own = |axis: usize| {
            let (extent, step) = (nest.axes[axis].extent, address.coefficients[axis]);
            Ok(match step {
                _ if !asks(axis) => None,
                _ if extent == 1 => Some(Asked::Single),
                1 if extent == keys => Some(Asked::Key),
                step if step == keys as i64 => Some(Asked::Row(extent)),
                _ => return Err("a mask asks for another place than that in a row, and the row's"),
            })
        };
        let asked: Vec<_> = (0..nest.axes.len()).map(own).collect::<Result<_, _>>()?;
        let places = Places { asked: &asked, body: nest.body };
        let selected = places.selected();
        let selects = selected.is_some();
        // Where one is another kind of condition, more is left out than what lies behind.
        let ends = selected.unwrap_or_default().into_iter().map(|one| places.sees(one));
        let sees = ends.collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().min());
        Ok(Self { member, asked, sees, selects })
    }

    /// Tests that all places are known of scores whose rows have `rows` points and lie side by side, `keys`
    /// elements each.
    pub fn fits(&self, nest: &Nest<'_>, row_axis: usize, keys: u64) -> bool {
        let step = nest.outputs[0].address(nest.axes.len()).coefficients[row_axis];
        let rows = nest.axes[row_axis].extent;
        self.asked.iter().flatten().all(|asked| match asked {
            Asked::Row(extent) => step == keys as i64 && rows.is_multiple_of(*extent),
            Asked::Key | Asked::Single => true,
        })
    }

    /// The rows after which their numbers begin again.
    pub fn period(&self) -> Option<u64> {
        self.asked.iter().flatten().find_map(|asked| match asked {
            Asked::Row(extent) => Some(*extent),
            Asked::Key | Asked::Single => None,
        })
    }
}

/// A body that asks for places.
struct Places<'a, 'c> {
    asked: &'a [Option<Asked>],
    body: Block<'c>,
}

/// `key · Self.0 + row · Self.1 + Self.2`.
type Line = [i64; 3];

impl<'c> Places<'_, 'c> {
    /// What decides whether a score is left out, and for each whether it is where that is true; `None` where scores
    /// become something else.
    fn selected(&self) -> Option<Vec<(Op<'c>, bool)>> {
        let never = |value: Val<'c>| {
            let number = made_by(value, "arith.constant").and_then(|op| op.attr("value"));
            number.and_then(attr::float) == Some(f64::NEG_INFINITY)
        };
        let (mut value, mut found) = (self.body.terminator()?.operand(0), Vec::new());
        while value != self.body.arg(0) {
            let select = made_by(value, "arith.select")?;
            let compare = made_by(select.operand(0), "arith.cmpi")?;
            let [one, other] = [1, 2].map(|own| select.operand(own));
            let leaves = never(one);
            (leaves || never(other)).then_some(())?;
            found.push((compare, leaves));
            value = if leaves { other } else { one };
        }
        Some(found)
    }

    /// The elements behind its token that a row sees, where it sees all in front.
    fn sees(&self, (compare, leaves): (Op<'c>, bool)) -> Option<i64> {
        let predicate = attr::int(compare.attr("predicate")?)?;
        let [left, right] = [0, 1].map(|own| self.line(compare.operand(own)));
        let (left, right) = (left?, right?);
        let apart: Line = std::array::from_fn(|own| left[own] - right[own]);
        // The difference is above zero, or not below it, where a score is left out.
        let (apart, equal) = match (predicate, leaves) {
            (4, true) | (3, false) => (apart, false),
            (5, true) | (2, false) => (apart, true),
            (2, true) | (5, false) => (apart.map(|own| -own), false),
            (3, true) | (4, false) => (apart.map(|own| -own), true),
            _ => return None,
        };
        let [1, -1, more] = apart else { return None };
        Some(-more - i64::from(equal))
    }

    /// An index as a line of the places.
    fn line(&self, value: Val<'c>) -> Option<Line> {
        let op = value.def()?;
        if let Some(axis) = index_axis(op) {
            return match self.asked[axis]? {
                Asked::Key => Some([1, 0, 0]),
                Asked::Row(_) => Some([0, 1, 0]),
                Asked::Single => Some([0; 3]),
            };
        }
        let both = || Some([self.line(op.operand(0))?, self.line(op.operand(1))?]);
        match op.name() {
            "arith.constant" => Some([0, 0, attr::int(op.attr("value")?)?]),
            "arith.addi" => {
                both().map(|[one, other]| std::array::from_fn(|own| one[own] + other[own]))
            }
            "arith.subi" => {
                both().map(|[one, other]| std::array::from_fn(|own| one[own] - other[own]))
            }
            _ => None,
        }
    }
}
