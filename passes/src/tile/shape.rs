//! A register tile of lanes, and what it touches of each operand.

use weft_dialects::ir::ty;

use super::banks::Banks;
use crate::nest::{Access, Border, Nest};

/// A register tile under consideration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The axis along the lanes, if any.
    pub lanes_axis: Option<usize>,
    /// Registers side by side along it.
    pub vectors: u64,
    /// Other parallel axes, and how many points of each; the outermost first.
    pub rows: Vec<(usize, u64)>,
    /// The row axis along which tiles are longer where others end ragged.
    pub grow: Option<usize>,
}

impl Shape {
    /// Registers of one output.
    pub fn registers(&self) -> u64 {
        self.vectors * self.rows.iter().map(|(_, rows)| rows).product::<u64>()
    }

    /// Points along a row axis.
    pub fn size(&self, axis: usize) -> u64 {
        self.rows.iter().find(|row| row.0 == axis).map_or(1, |row| row.1)
    }

    /// The same with so many points along a row axis.
    pub fn with_rows(&self, axis: usize, size: u64) -> Self {
        let mut shape = self.clone();
        match shape.rows.binary_search_by_key(&axis, |row| row.0) {
            Ok(at) => shape.rows[at].1 = size,
            Err(at) => shape.rows.insert(at, (axis, size)),
        }
        shape
    }
}

/// What a tile touches of a dimension of a tensor.
pub(super) struct Reached {
    /// The whole dimension.
    pub extent: u64,
    /// From the first index to the last.
    pub span: u64,
    /// Indices, at most.
    pub points: u64,
}

/// Facts of an operand that the model needs.
pub(super) struct Operand {
    /// Per dimension, innermost last: its extent, and the axes that move along it with
    /// how far.
    pub dims: Vec<(u64, Vec<(usize, u64)>)>,
    /// Bytes between neighbours along each axis.
    pub strides: Vec<i64>,
    pub uses: Vec<bool>,
    /// Bytes of an element.
    pub bytes: i64,
    /// Lies in the order of the lanes, or will.
    pub packed: bool,
    /// Has neighbours of a reduction innermost, so that a register of lanes with these is one access.
    pub deep: bool,
    /// Turns in which the banks where it waits give a register along the lanes.
    pub turns: f64,
    /// Bytes of a register along the lanes, where the operand is not laid out for them.
    pub register_bytes: Option<u64>,
    /// Whether all these registers begin at a multiple of that.
    pub aligned: bool,
}

impl Operand {
    /// `lanes` are the axis along them, and how many there are.
    pub fn of(
        nest: &Nest<'_>,
        access: &Access<'_>,
        packed: bool,
        lanes: Option<(usize, u64)>,
        banks: Option<Banks>,
    ) -> Self {
        // Laid out for the lanes together with its border.
        let packed = packed || Border::of(access).is_some();
        let axes = nest.axes.len();
        let bytes = ty::byte_size(access.elem()).unwrap_or(1) as i64;
        let address = access.address(axes);
        let strides = address.coefficients.iter().map(|step| step * bytes);
        let uses = (0..axes).map(|axis| access.uses(axis)).collect();
        let dims = access.index.iter().zip(&access.shape).map(|(index, &extent)| {
            let steps = index.coefficients.iter().enumerate().filter(|(_, step)| **step != 0);
            (extent, steps.map(|(axis, step)| (axis, step.unsigned_abs())).collect())
        });
        let strides: Vec<i64> = strides.collect();
        let turns = banks.zip(lanes).map_or(1, |(banks, (axis, lanes))| {
            let points = lanes.min(nest.axes[axis].extent);
            let step = if packed { bytes } else { strides[axis] }.unsigned_abs();
            banks.depth((0..points).map(|lane| lane * step), bytes as u64)
        });
        let register_bytes = lanes.filter(|_| !packed).map(|(_, lanes)| lanes * bytes as u64);
        let aligned = lanes.zip(register_bytes).is_some_and(|((along, _), register)| {
            let moves = |&axis: &usize| axis != along && nest.axes[axis].extent > 1;
            let steps = (0..axes).filter(moves).map(|axis| strides[axis]);
            let mut all = steps.chain([address.constant * bytes]);
            all.all(|step| step.unsigned_abs().is_multiple_of(register))
        });
        Self {
            dims: dims.collect(),
            strides,
            uses,
            bytes,
            packed,
            deep: false,
            turns: turns.max(1) as f64,
            register_bytes,
            aligned,
        }
    }

    /// The same where neighbours of a reduction lie innermost, for lanes that add them up.
    pub fn with_depth(self) -> Self {
        Self { deep: true, register_bytes: None, aligned: true, ..self }
    }

    /// Lines of a cache that a tile of these sizes touches.
    pub fn lines(&self, sizes: &[u64], line_bytes: u64) -> f64 {
        let bytes = self.bytes as u64;
        if self.packed {
            return self.packed_bytes(sizes).div_ceil(line_bytes) as f64;
        }
        let (run, pieces) = self.pieces(sizes);
        // A piece seldom begins with a line, unless registers do.
        let lines = (run * bytes) as f64 / line_bytes as f64;
        pieces as f64
            * match self.aligned {
                _ if run == 1 => 1.0,
                true => lines.ceil(),
                false => lines + 0.5,
            }
    }

    /// Returns whether what a tile of these sizes touches lies side by side.
    pub fn is_run(&self, sizes: &[u64]) -> bool {
        self.packed || self.pieces(sizes).1 == 1
    }

    /// Returns whether steps along an axis, each of a tile of these sizes, lie far apart.
    pub fn is_far_apart(&self, axis: usize, sizes: &[u64], line_bytes: u64) -> bool {
        let all = self.strides.iter().zip(sizes).enumerate().filter(|&(other, _)| other != axis);
        let inside = all.map(|(_, (step, &size))| (step.unsigned_abs(), size));
        far_apart(self.strides[axis].unsigned_abs(), inside, self.bytes as u64, line_bytes)
    }

    /// Contiguous elements, of inner dimensions for as long as they are whole, and how many such pieces
    /// a tile of these sizes touches.
    fn pieces(&self, sizes: &[u64]) -> (u64, u64) {
        let (mut run, mut pieces, mut whole) = (1, 1, true);
        for Reached { extent, span, points } in self.reached(sizes) {
            if whole {
                run *= span;
            } else {
                pieces *= points;
            }
            whole &= span == extent;
        }
        (run, pieces)
    }

    /// Bytes of what a tile of these sizes touches, which lies side by side.
    pub fn packed_bytes(&self, sizes: &[u64]) -> u64 {
        let used = (0..sizes.len()).filter(|&axis| self.uses[axis]);
        used.map(|axis| sizes[axis]).product::<u64>() * self.bytes as u64
    }

    /// What a tile of these sizes touches of each dimension, the innermost first.
    pub fn reached(&self, sizes: &[u64]) -> impl Iterator<Item = Reached> {
        self.dims.iter().rev().map(|(extent, steps)| {
            let reach: u64 = steps.iter().map(|&(axis, step)| step * (sizes[axis] - 1)).sum();
            let span = (reach + 1).min(*extent);
            let points: u64 = steps.iter().map(|&(axis, _)| sizes[axis]).product();
            Reached { extent: *extent, span, points: points.min(span) }
        })
    }

    /// Registers or elements of a tile, and whether they are registers.
    pub fn count(&self, shape: &Shape) -> (u64, bool) {
        let rows = shape.rows.iter().filter(|(axis, _)| self.uses[*axis]);
        let rows: u64 = rows.map(|(_, rows)| rows).product();
        let lanes = shape.lanes_axis.is_some_and(|axis| self.uses[axis]);
        (rows * if lanes { shape.vectors } else { 1 }, lanes)
    }
}

/// Lines of a cache that a tile of these sizes touches of a tensor.
pub(super) fn lines(nest: &Nest<'_>, access: &Access<'_>, sizes: &[u64], line_bytes: u64) -> f64 {
    Operand::of(nest, access, false, None, None).lines(sizes, line_bytes)
}

/// Returns whether what a step along an axis touches lies more than four lines behind what the step
/// before it did. The step is `step` bytes; `inside` are bytes between neighbours along the other
/// axes, and points along each.
pub(super) fn far_apart(
    step: u64,
    inside: impl Iterator<Item = (u64, u64)>,
    bytes: u64,
    line_bytes: u64,
) -> bool {
    let near = 4 * line_bytes;
    let mut inside: Vec<_> = inside.filter(|&(apart, _)| apart > 0 && apart < step).collect();
    inside.sort_unstable();
    let reaches = inside.into_iter().fold(bytes, |reach, (apart, points)| {
        if apart <= reach + near { reach + apart * (points - 1) } else { reach }
    });
    step > reaches + near
}

/// Runs in which a tile that touches `shape` lies in its tensor, each more than four lines behind the
/// one before it; none where it is one, or they lie nearer.
pub(super) fn runs(access: &Access<'_>, shape: &[u64], line_bytes: u64) -> u64 {
    let (mut run, mut apart) = (1, 1);
    for (&length, &whole) in shape.iter().zip(&access.shape_in_memory()).rev() {
        if run < apart {
            break;
        }
        run *= length;
        apart *= whole;
    }
    let count = shape.iter().product::<u64>() / run.max(1);
    let size = ty::byte_size(access.elem()).unwrap_or(8);
    let near = apart.saturating_sub(run) * size <= 4 * line_bytes;
    if count <= 1 || near { 0 } else { count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_follow_each_other_are_not_apart() {
        // Channels of 3 x 3 weights, eight lanes each, of which a tile reads all or one lane.
        let weights = |lanes| [(96, 3), (32, 3), (4, lanes)].into_iter();
        assert!(!far_apart(288, weights(8), 4, 64));
        assert!(!far_apart(288, weights(1), 4, 64));
        // Channels of an image of 28 x 28 pixels.
        let pixels = [(112, 3), (4, 3)].into_iter();
        assert!(far_apart(3136, pixels, 4, 64));
        // What lies further apart than the steps themselves fills no gap.
        assert!(far_apart(4096, [(65536, 16), (4, 8)].into_iter(), 4, 64));
        assert!(!far_apart(4, [(4096, 16)].into_iter(), 4, 64));
    }
}
