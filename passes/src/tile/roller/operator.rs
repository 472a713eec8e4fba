//! An operator as plain data: axes, and which element of which tensor a point touches.
//!
//! ```text
//! C[m, n] += A[m, k] * B[k, n]     axes m, n, k(reduction); A by (m, k), B by (k, n)
//! ```
//!
//! A tile of an operator is one size per axis; what it needs of a tensor is the image of that
//! box under the tensor's index forms.

/// A loop of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its name, for people.
    pub name: String,
    /// Number of its points, at least 1.
    pub extent: u64,
    /// True for a reduction.
    pub reduction: bool,
}

/// A dimension of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Distance that the index moves with each axis.
    pub steps: Vec<i64>,
    /// Number of elements stored along it.
    pub extent: u64,
    /// Zeros on either side that an operator reads and nobody stores.
    pub border: u64,
}

impl Dim {
    /// The axis that alone is the index, if one is.
    pub fn axis(&self) -> Option<usize> {
        let mut moving = self.steps.iter().enumerate().filter(|(_, step)| **step != 0);
        match (moving.next(), moving.next(), self.border) {
            (Some((axis, 1)), None, 0) => Some(axis),
            _ => None,
        }
    }

    /// Returns whether several axes move it, as a window does.
    pub fn is_window(&self) -> bool {
        self.steps.iter().filter(|step| **step != 0).count() > 1
    }

    /// Number of elements from the first to the last that a tile touches.
    fn reach(&self, tile: &[u64]) -> i64 {
        let ends = self.steps.iter().zip(tile);
        ends.map(|(step, &size)| step.abs() * (size as i64 - 1)).sum::<i64>() + 1
    }
}

/// A tensor that an operator reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its dimensions; the last one is contiguous.
    pub dims: Vec<Dim>,
    /// Size of an element.
    pub elem_bytes: u64,
}

impl Tensor {
    /// Returns whether the element that it reads changes with `axis`.
    pub fn uses(&self, axis: usize) -> bool {
        self.dims.iter().any(|dim| dim.steps[axis] != 0)
    }
}

/// An operator: one value per point, written or folded into one output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Those of the output in its order, then the reductions.
    pub axes: Vec<Axis>,
    /// Tensors that it reads.
    pub inputs: Vec<Tensor>,
    /// The tensor that it writes.
    pub output: Tensor,
}

impl Operator {
    /// Number of the output's axes.
    pub fn spatial(&self) -> usize {
        self.axes.iter().filter(|axis| !axis.reduction).count()
    }

    /// The extent of each axis.
    pub fn extents(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.extent).collect()
    }

    /// Size of an element of the first input, by which transactions are counted; of the output
    /// where nothing is read.
    pub fn elem_bytes(&self) -> u64 {
        self.inputs.first().unwrap_or(&self.output).elem_bytes
    }

    /// Number of points.
    pub fn points(&self) -> f64 {
        self.axes.iter().map(|axis| axis.extent as f64).product()
    }

    /// Returns whether borders are written out before tiles are made: they are where a window meets
    /// another operand, so that both are staged alike. A window alone skips them, and its tile
    /// is as much smaller (Roller's expressions for depthwise convolutions and for pooling).
    fn borders_are_stored(&self) -> bool {
        self.inputs.len() > 1
    }

    /// The tile of every input, in elements per dimension. A window over nothing but border
    /// may be empty or less: its size is signed.
    pub fn input_tiles(&self, tile: &[u64]) -> Vec<Vec<i64>> {
        let trim = |dim: &Dim| if self.borders_are_stored() { 0 } else { 2 * dim.border as i64 };
        let shape = |tensor: &Tensor| {
            tensor.dims.iter().map(|dim| dim.reach(tile) - trim(dim)).collect::<Vec<_>>()
        };
        self.inputs.iter().map(shape).collect()
    }

    /// The tile of the output, in elements per dimension.
    pub fn output_tile(&self, tile: &[u64]) -> Vec<i64> {
        self.output.dims.iter().map(|dim| dim.reach(tile)).collect()
    }

    /// For every input, then the output: from how many elements on the last dimension of its
    /// tile counts as whole.
    ///
    /// An input is whole when what is stored of a row is. Where borders are written out, the
    /// output is held against the row with its border.
    pub fn whole_rows(&self) -> Vec<i64> {
        let row = |tensor: &Tensor| tensor.dims.last().map_or(1, |dim| dim.extent as i64);
        let mut rows: Vec<_> = self.inputs.iter().map(row).collect();
        let window = self.inputs.iter().find(|input| input.dims.iter().any(Dim::is_window));
        rows.push(match window {
            Some(window) if self.borders_are_stored() => {
                row(window) + window.dims.last().map_or(0, |dim| 2 * dim.border as i64)
            }
            _ => row(&self.output),
        });
        rows
    }
}
