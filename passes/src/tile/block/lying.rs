//! How the tiles of a block's inputs lie, what can be moved together, and the numbers that say so in the
//! text.

use weft_dialects::ir::ty;

use super::super::banks::{Layout, Swizzle};
use super::{Block, K, power_of_two_in};
use crate::nest::{Access, Nest};

/// How the tile of an input lies in the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lying {
    /// The axis of the nest that runs fastest.
    pub inner: usize,
    /// How its rows lie.
    pub layout: Layout,
}

impl Lying {
    /// That of a factor which another product makes in registers: it lies nowhere else.
    pub fn held() -> Self {
        Self { inner: usize::MAX, layout: Layout::plain(0) }
    }

    /// Whether it is that.
    pub fn is_held(&self) -> bool {
        *self == Self::held()
    }
}

/// The attribute that says how the tiles of inputs lie, one entry per input:
/// `[inner axis, pitch]`, and `bits, keep, shift` of a swizzle; nothing for one that is held in registers.
pub fn to_numbers(lying: &Lying) -> Vec<i64> {
    if lying.is_held() {
        return Vec::new();
    }
    let mut numbers = vec![lying.inner as i64, lying.layout.pitch as i64];
    if let Some(Swizzle { bits, keep, shift }) = lying.layout.swizzle {
        numbers.extend([bits, keep, shift].map(i64::from));
    }
    numbers
}

/// What [`to_numbers`] wrote.
pub fn of_numbers(numbers: &[i64]) -> Option<Lying> {
    let (inner, pitch, swizzle) = match *numbers {
        [] => return Some(Lying::held()),
        [inner, pitch] => (inner, pitch, None),
        [inner, pitch, bits, keep, shift] => {
            let [bits, keep, shift] =
                [bits, keep, shift].map(|number| u32::try_from(number).unwrap_or(0));
            (inner, pitch, Some(Swizzle { bits, keep, shift }))
        }
        _ => return None,
    };
    let layout = Layout { pitch: u64::try_from(pitch).ok()?, swizzle };
    Some(Lying { inner: usize::try_from(inner).ok()?, layout })
}

impl Block<'_> {
    /// Rows and columns of an input's tile in the shared memory.
    pub fn rows_columns(&self, side: usize, inner: usize) -> (u64, u64) {
        let (own, k) = (self.tile[side], self.tile[K]);
        if inner == self.axes[K] { (own, k) } else { (k, own) }
    }

    /// Elements between neighbours along m, n and k where the tile of an input lies.
    pub fn apart(&self, side: usize, lying: &Lying) -> [i64; 3] {
        let pitch = lying.layout.pitch as i64;
        let (own, k) = if lying.inner == self.axes[K] { (pitch, 1) } else { (1, pitch) };
        let mut apart = [0; 3];
        (apart[side], apart[K]) = (own, k);
        apart
    }

    /// Elements that can be moved together between a tensor and its tile, and the side of
    /// the tile along which they lie: m or n, or k. Aligned for every block that begins at
    /// a whole tile.
    pub fn run(&self, nest: &Nest<'_>, access: &Access<'_>, sides: [usize; 2]) -> (u64, usize) {
        let address = access.address(nest.axes.len());
        let elem = ty::byte_size(access.elem()).unwrap_or(1);
        let along = sides.into_iter().find(|&side| address.coefficients[self.axes[side]] == 1);
        let Some(side) = along else { return (1, sides[1]) };
        let axis = self.axes[side];
        let others = address.coefficients.iter().enumerate().filter(|(own, _)| *own != axis);
        let numbers = others.map(|(_, step)| step.unsigned_abs()).chain([
            address.constant.unsigned_abs(),
            self.points_along(axis).unwrap_or(1),
            nest.axes[axis].extent,
        ]);
        (numbers.fold(self.widest(elem), power_of_two_in), side)
    }

    /// Elements of so many bytes that a lane moves at once.
    pub fn widest(&self, elem_bytes: u64) -> u64 {
        (self.access_bytes / elem_bytes).max(1)
    }

    /// Whether an engine can bring the tile of an input that lies with `inner` fastest, which it
    /// moves in pieces of so many bytes at least.
    pub fn comes_ahead(&self, nest: &Nest<'_>, side: usize, inner: usize, least: u64) -> bool {
        let access = &nest.inputs[self.inputs[side]];
        let (run, along) = self.run(nest, access, [side, K]);
        let bytes = run * ty::byte_size(access.elem()).unwrap_or(1);
        self.axes[along] == inner && bytes >= least
    }
}
