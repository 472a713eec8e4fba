//! Inputs that are read past their ends.
//!
//! ```text
//! %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] { 0 }     %p: 8x58x58, %x: 8x56x56
//! linalg.generic ins(%p ...)
//! ```
//!
//! Such an access is to the padded tensor, which is never made as a whole: who writes the
//! kernel's code lays out a part of it where it is used. Only the last dimensions have a
//! border, each moved along by more than one axis or in steps, so that fusing axes leaves
//! them alone.

use weft_dialects::ir::{Builder, Linear, Mapping, Op, Type, Val, attr, ty};

use super::Access;

/// Lanes that run along a bordered dimension in steps of at most this many elements find them
/// side by side: elements whose place leaves the same rest are laid out together.
pub const MOST_PHASES: i64 = 4;

/// The border of an access.
pub struct Border<'c> {
    /// The tensor inside the border.
    pub source: Val<'c>,
    /// Elements before it, of the last dimensions.
    pub low: Vec<u64>,
    /// Its extents, of the same dimensions.
    pub inside: Vec<u64>,
    /// The scalar constant around it.
    pub value: Op<'c>,
}

impl<'c> Border<'c> {
    /// The border of an access to the result of `tensor.pad`, or of `tensor.insert_slice` into
    /// a tensor that holds one number everywhere.
    pub fn of(access: &Access<'c>) -> Option<Self> {
        let op = access.tensor.def()?;
        let (low, value) = match op.name() {
            "tensor.pad" => (op.attr("static_low")?, op.body(0)?),
            "tensor.insert_slice" => {
                let fill = op.operand(1).def().filter(|own| own.is("linalg.generic"))?;
                (op.attr("static_offsets")?, fill.body(0)?)
            }
            _ => return None,
        };
        let (low, source) = (attr::ints(low)?, op.operand(0));
        let [inside, whole] = [source.ty(), op.result(0).ty()].map(ty::shape);
        let (inside, whole) = (inside?, whole?);
        let first = (0..low.len()).find(|&dim| inside[dim] != whole[dim])?;
        // A simplified access has fewer dimensions, in which no border can be said.
        if low.len() - first > access.index.len() {
            return None;
        }
        let value = value.terminator()?.operand(0).def().filter(|op| op.is("arith.constant"))?;
        Some(Self {
            source,
            low: low[first..].iter().map(|&low| low as u64).collect(),
            inside: inside[first..].to_vec(),
            value,
        })
    }

    /// Axes of the nest that choose one of its planes: those along the dimensions before.
    pub fn plane_axes(&self, access: &Access<'c>) -> Vec<usize> {
        let leading = &access.index[..access.index.len() - self.rank()];
        let axes = access.index.first().map_or(0, |index| index.coefficients.len());
        let moves = |axis: &usize| leading.iter().any(|index| index.coefficients[*axis] != 0);
        (0..axes).filter(moves).collect()
    }

    /// Returns the number of dimensions, the last ones, that it has.
    pub fn rank(&self) -> usize {
        self.low.len()
    }
}

impl<'c> Access<'c> {
    /// Shape of the tensor that lies in memory: without a border.
    pub fn shape_in_memory(&self) -> Vec<u64> {
        let Some(border) = Border::of(self) else { return self.shape.clone() };
        let leading = self.shape.len() - border.rank();
        self.shape[..leading].iter().chain(&border.inside).copied().collect()
    }

    /// Returns the index at which each point touches the stored tensor, or would beyond its ends.
    pub fn index_in_memory(&self) -> Vec<Linear> {
        let low = Border::of(self).map(|border| border.low).unwrap_or_default();
        let leading = self.index.len() - low.len();
        let offsets = std::iter::repeat_n(0, leading).chain(low.iter().map(|&low| -(low as i64)));
        self.index.iter().cloned().zip(offsets).map(|(index, by)| index.offset(by)).collect()
    }

    /// The argument of the kernel that is read or written, or the `tile.empty` inside it.
    pub fn argument(&self) -> Val<'c> {
        argument(Border::of(self).map_or(self.tensor, |border| border.source))
    }
}

/// The kernel's argument behind a value inside `tile.compute`.
fn argument(value: Val<'_>) -> Val<'_> {
    match value.def() {
        Some(op) if op.is("tile.load") || op.is("tile.view") => return argument(op.operand(0)),
        Some(op) if op.is("tile.store") => return argument(op.operand(1)),
        _ => {}
    }
    let around = value.owner_block().and_then(|block| block.parent());
    match around.filter(|op| op.is("tile.compute")) {
        Some(compute) => argument(compute.operand(value.index())),
        None => value,
    }
}

/// Writes the padded tensor of an access whose kernel argument is `arg`.
pub(crate) fn emit_pad<'c>(
    b: &mut Builder<'c>,
    access: &Access<'c>,
    border: &Border<'c>,
    arg: Val<'c>,
) -> Val<'c> {
    let context = b.context();
    let leading = access.shape.len() - border.rank();
    let mut low = vec![0; leading];
    let mut high = low.clone();
    for ((&before, &inside), &whole) in
        border.low.iter().zip(&border.inside).zip(&access.shape[leading..])
    {
        low.push(before as i64);
        high.push((whole - inside - before) as i64);
    }
    let pad = b.op_with(
        "tensor.pad",
        &[arg],
        &[ty::tensor(&access.shape, access.elem())],
        &[
            ("static_low", attr::of_ints(context, &low)),
            ("static_high", attr::of_ints(context, &high)),
            ("operandSegmentSizes", attr::of_ints32(context, &[1, 0, 0])),
        ],
        1,
    );
    let indices = vec![Type::index(context); access.shape.len()];
    let block = b.block(pad.region(0), &indices);
    let mut inside = b.into_block(block);
    let value = inside.clone_op(border.value, &mut Mapping::default()).result(0);
    inside.op("tensor.yield", &[value], &[]);
    pad.result(0)
}
