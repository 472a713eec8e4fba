//! The nests of Winograd's algorithm for one convolution.
//!
//! Axes are named by numbers: those of the convolution keep theirs, and the ones of tiles have
//! numbers behind them. Tiles come last everywhere, so that they are one row of matrices.

use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Context, Linear, Mapping, Op, Type, Val, attr, ty};
use weft_dialects::lengths;

use super::erase_unread;
use super::read::Conv;
use super::variant::Variant;
use crate::length::{self, Length};
use crate::nest::{copy_body, generic_accesses};

/// Axes that the convolution does not have.
#[derive(Clone, Copy)]
struct Names {
    /// The row of a product of matrices in its tile.
    row: usize,
    column: usize,
    /// The position of an input in its tile.
    input: usize,
    /// The position of an output in its tile.
    output: [usize; 2],
    /// Which tile.
    tile: [usize; 2],
    /// Columns of the image.
    across: usize,
}

impl Names {
    fn behind(axes: usize) -> Self {
        let name = |number: usize| axes + number;
        Self {
            row: name(0),
            column: name(1),
            input: name(2),
            output: [name(3), name(4)],
            tile: [name(5), name(6)],
            across: name(7),
        }
    }
}

/// The operations that were written for a convolution.
pub struct Written<'c> {
    /// The nests: the filter's two, the image's two, the products, the output's two.
    pub nests: Vec<Op<'c>>,
    result: Val<'c>,
}

impl<'c> Written<'c> {
    /// Takes the place of the convolution.
    pub fn replace(self, conv: &Conv<'c>) {
        conv.op.result(0).replace_with(self.result);
        erase_unread(conv.op);
    }

    /// Takes everything back.
    pub fn erase(self) {
        if let Some(op) = self.result.def() {
            erase_unread(op);
        }
    }
}

/// A tensor, and the axis or sum of axes of each dimension.
type Operand<'c> = (Val<'c>, Vec<Vec<(usize, i64)>>);

fn by(axes: &[usize]) -> Vec<Vec<(usize, i64)>> {
    axes.iter().map(|&axis| vec![(axis, 1)]).collect()
}

/// Writes the nests in front of the convolution.
pub fn write<'c>(context: &'c Context, conv: &Conv<'c>, variant: &Variant) -> Written<'c> {
    let names = Names::behind(conv.extents.len());
    let step = variant.outputs() as i64;
    let tiles = [conv.rows, conv.columns].map(|own| conv.extents[own.at].div_ceil(step as u64));
    let mut b = Payload::before(context, conv.op);
    let elem = conv.output.elem();
    let [input, filter, output] = [variant.input, variant.filter, variant.output]
        .map(|numbers| matrix(&mut b, numbers, elem));
    let (extents, lengths) = (conv.extents.clone(), conv.lengths.clone());
    let mut all = Sums { b, elem, nests: Vec::new(), extents, lengths };
    let t = variant.inputs();
    let (m, image) = (variant.outputs(), widened(&mut all.b, conv, tiles, variant));
    let across = ty::shape(image.ty()).expect("images are tensors")[conv.columns.dim];
    all.extents.extend([t, t, t, m, m, tiles[0], tiles[1], across]);

    let join = |parts: &[&[usize]]| parts.concat();
    let (rows, columns) = (conv.rows.over, conv.columns.over);
    let (Conv { groups, images, filters, channels, .. }, [down, right]) = (conv, names.tile);

    // U, one direction after the other.
    let weights = join(&[groups, filters, channels]);
    let half = join(&[&[names.row], &weights, &[columns]]);
    let taken: Vec<_> = conv.filter.index.iter().filter_map(Linear::as_axis).collect();
    let u = all.sum(
        &half,
        &[rows],
        &[(filter, by(&[names.row, rows])), (conv.filter.tensor, by(&taken))],
    );
    let u_axes = join(&[&[names.row, names.column], &weights]);
    let u = all.sum(&u_axes, &[columns], &[(filter, by(&[names.column, columns])), (u, by(&half))]);

    // V.
    let pixels = join(&[groups, channels, images]);
    let half = join(&[&[names.row], &pixels, &[down, names.across]]);
    let read = |dim: usize| match dim {
        _ if dim == conv.rows.dim => vec![(down, step), (names.input, 1)],
        _ if dim == conv.columns.dim => vec![(names.across, 1)],
        _ => vec![(conv.image.index[dim].as_axis().expect("it was read"), 1)],
    };
    let read = (0..conv.image.index.len()).map(read).collect();
    let v =
        all.sum(&half, &[names.input], &[(input, by(&[names.row, names.input])), (image, read)]);
    let v_axes = join(&[&[names.row, names.column], &pixels, &[down, right]]);
    let mut read = by(&half);
    *read.last_mut().expect("there are columns") = vec![(right, step), (names.input, 1)];
    let v =
        all.sum(&v_axes, &[names.input], &[(input, by(&[names.column, names.input])), (v, read)]);

    // M.
    let sums = join(&[groups, filters, images, &[down, right]]);
    let m_axes = join(&[&[names.row, names.column], &sums]);
    let products = all.sum(&m_axes, channels, &[(u, by(&u_axes)), (v, by(&v_axes))]);

    // The output, begun with what the convolution's sums begin with.
    let half = join(&[&[names.output[0], names.column], &sums]);
    let p = all.sum(
        &half,
        &[names.row],
        &[(output, by(&[names.output[0], names.row])), (products, by(&m_axes))],
    );
    let placed = conv.output.index.iter().filter_map(Linear::as_axis).flat_map(|axis| match axis {
        _ if axis == conv.rows.at => vec![down, names.output[0]],
        _ if axis == conv.columns.at => vec![right, names.output[1]],
        _ => vec![axis],
    });
    let placed: Vec<_> = placed.collect();
    let begun = begun(&mut all, conv, &placed);
    let y = all.sum_onto(
        begun,
        &placed,
        &[names.column],
        &[(output, by(&[names.output[1], names.column])), (p, by(&half))],
    );
    let result = cut(&mut all, conv, y, tiles.map(|tiles| tiles * m));
    Written { nests: all.nests, result }
}

/// Sums of products over named axes.
struct Sums<'c> {
    b: Payload<'c>,
    elem: Type<'c>,
    nests: Vec<Op<'c>>,
    /// By the number of the axis.
    extents: Vec<u64>,
    /// The same of those that the convolution has.
    lengths: Vec<Option<&'static Length>>,
}

impl<'c> Sums<'c> {
    /// Lets the nest that makes a tensor end where these axes, its own, do.
    fn end(&self, made: Val<'c>, axes: &[usize]) {
        let of = |&axis: &usize| self.lengths.get(axis).copied().flatten();
        length::give(self.b.context(), made, &axes.iter().map(of).collect::<Vec<_>>());
    }

    /// `Σ over summed: the product of the inputs`, one dimension of the result for each axis.
    fn sum(&mut self, axes: &[usize], summed: &[usize], inputs: &[Operand<'c>]) -> Val<'c> {
        let shape: Vec<_> = axes.iter().map(|&axis| self.extents[axis]).collect();
        let zeros = self.b.fill(0.0, &shape, self.elem);
        self.sum_onto(zeros, axes, summed, inputs)
    }

    fn sum_onto(
        &mut self,
        begun: Val<'c>,
        axes: &[usize],
        summed: &[usize],
        inputs: &[Operand<'c>],
    ) -> Val<'c> {
        let order = [axes, summed].concat();
        let operand = |(tensor, dims): &Operand<'c>| {
            let index = dims.iter().map(|terms| linear(&order, terms)).collect();
            (*tensor, index)
        };
        let kinds: Vec<_> = (0..order.len())
            .map(|at| if at < axes.len() { Axis::Parallel } else { Axis::Reduction })
            .collect();
        let inputs: Vec<_> = inputs.iter().map(operand).collect();
        let place = operand(&(begun, by(axes)));
        let made = self.b.generic(&kinds, &inputs, &[place], |scalar, args| {
            let product = scalar.mul(args[0], args[1]);
            vec![scalar.add(args[2], product)]
        });
        self.end(made[0], &order);
        self.nests.extend(made[0].def());
        made[0]
    }
}

fn linear(order: &[usize], terms: &[(usize, i64)]) -> Linear {
    let start = Linear::constant(order.len(), 0);
    terms.iter().fold(start, |sum, &(axis, step)| {
        sum.plus(order.iter().position(|own| *own == axis).expect("the axis is there"), step)
    })
}

fn matrix<'c>(b: &mut Payload<'c>, rows: &[&[f64]], elem: Type<'c>) -> Val<'c> {
    let ty = ty::tensor(&[rows.len() as u64, rows[0].len() as u64], elem);
    let wide = ty::byte_size(elem) == Some(8);
    let bytes = |&number: &f64| match wide {
        true => number.to_le_bytes().to_vec(),
        false => (number as f32).to_le_bytes().to_vec(),
    };
    let bytes: Vec<u8> = rows.iter().flat_map(|row| row.iter().flat_map(bytes)).collect();
    let value = ("value", attr::dense(ty, &bytes));
    b.builder().op_with("arith.constant", &[], &[ty], &[value], 0).result(0)
}

/// The image, large enough for whole tiles. What is behind its end is never part of what is
/// kept, so any number does.
fn widened<'c>(
    b: &mut Payload<'c>,
    conv: &Conv<'c>,
    tiles: [u64; 2],
    variant: &Variant,
) -> Val<'c> {
    let image = conv.image.tensor;
    let mut shape = conv.image.shape.clone();
    for (own, tiles) in [conv.rows, conv.columns].into_iter().zip(tiles) {
        shape[own.dim] = shape[own.dim].max(tiles * variant.outputs() + 2);
    }
    if shape == conv.image.shape {
        return image;
    }
    // An image inside a border is put in a larger one, instead of both in another.
    let inner = image.def().filter(|op| op.is("tensor.insert_slice")).and_then(|op| {
        let fixed = |name: &str| op.attr(name).and_then(attr::ints);
        let (offsets, strides) = (fixed("static_offsets")?, fixed("static_strides")?);
        let plain = op.operands().len() == 2 && offsets.iter().all(|&offset| offset >= 0);
        let zeros = op.operand(1).def()?;
        let number = zeros.body(0).filter(|_| zeros.is("linalg.generic"))?;
        let number = number.terminator()?.operand(0).def()?.attr("value")?;
        let zero = attr::float(number) == Some(0.0);
        (plain && zero && strides.iter().all(|&step| step == 1)).then_some((op, offsets))
    });
    let lengths = inner.as_ref().and_then(|(op, _)| op.attr(lengths::OF_AXES));
    let inside = inner.map(|(op, offsets)| (op.operand(0), offsets));
    let (inside, offsets) = inside.unwrap_or_else(|| (image, vec![0; shape.len()]));
    let around = b.fill(0.0, &shape, conv.image.elem());
    let strides = vec![1; shape.len()];
    let wide = b.insert(inside, around, &offsets, &strides);
    match wide.def().zip(lengths) {
        Some((slice, lengths)) => slice.set_attr(lengths::OF_AXES, lengths),
        None => {
            let of_dim = |index: &Linear| index.as_axis().and_then(|axis| conv.lengths[axis]);
            let own: Vec<_> = conv.image.index.iter().map(of_dim).collect();
            length::give(b.context(), wide, &own);
        }
    }
    wide
}

/// Returns the initial value of the convolution's sums, for tiles of the output with these axes.
fn begun<'c>(all: &mut Sums<'c>, conv: &Conv<'c>, placed: &[usize]) -> Val<'c> {
    let accesses = generic_accesses(conv.start).expect("it was read");
    let (place, inputs) = accesses.split_last().expect("a nest has an output");
    // The start's axes by those of the convolution.
    let axis_of = |own: usize| {
        let dim = place.index.iter().position(|index| index.as_axis() == Some(own));
        conv.output.index[dim.expect("it was read")].as_axis().expect("it was read")
    };
    let reads: Vec<_> = inputs
        .iter()
        .map(|access| {
            let dims = access.index.iter().map(|index| {
                let used = index.coefficients.iter().enumerate().filter(|(_, step)| **step != 0);
                let terms: Vec<_> = used.map(|(own, &step)| (axis_of(own), step)).collect();
                linear(placed, &terms).offset(index.constant)
            });
            (access.tensor, dims.collect())
        })
        .collect();
    let shape: Vec<_> = placed.iter().map(|&axis| all.extents[axis]).collect();
    let empty = all.b.empty(&shape, all.elem);
    let identity = (0..placed.len()).map(|axis| Linear::axis(placed.len(), axis)).collect();
    let body = conv.start.body(0).expect("a nest has a body");
    let kinds = vec![Axis::Parallel; placed.len()];
    let begun = all.b.generic(&kinds, &reads, &[(empty, identity)], |scalar, args| {
        copy_body(scalar.builder(), body, args, Mapping::default(), &[])
    })[0];
    all.end(begun, placed);
    begun
}

/// Rows and columns instead of tiles, without those that hang over.
fn cut<'c>(all: &mut Sums<'c>, conv: &Conv<'c>, y: Val<'c>, whole: [u64; 2]) -> Val<'c> {
    let axes: Vec<_> = conv.output.index.iter().filter_map(Linear::as_axis).collect();
    let shape: Vec<_> = axes
        .iter()
        .map(|&axis| match axis {
            _ if axis == conv.rows.at => whole[0],
            _ if axis == conv.columns.at => whole[1],
            _ => conv.extents[axis],
        })
        .collect();
    let y = all.b.reshape(y, &shape);
    if shape == conv.output.shape {
        return y;
    }
    let sizes: Vec<_> = conv.output.shape.iter().map(|&size| size as i64).collect();
    let cut = all.b.slice(y, &vec![0; sizes.len()], &sizes, &vec![1; sizes.len()]);
    all.end(cut, &axes);
    cut
}
