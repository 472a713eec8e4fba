//! Boxes of a matrix instruction's blocks, and of the tensor that they hold: what transfers move.

use weft_dialects::ir::{Builder, Val};

use super::index::Sum;
use super::matrix::Matrix;
use super::member::LocalTile;
use super::tiles::Points;
use super::transfer::Boxed;
use super::view::View;
use crate::nest::{Access, row_major};
use crate::tile::isa::Digit;
use crate::tile::propagate::merged;

/// What to do with a box of blocks, the box of the tensor that it holds, and their sizes.
type EachBox<'f, 'c> = &'f mut dyn FnMut(&mut Builder<'c>, &Boxed<'c>, &Boxed<'c>, &[u64]);

/// The blocks of an operand, and the tensor whose points they hold.
pub(super) struct OperandBlocks<'b, 'c> {
    /// Which operand of the instruction.
    pub operand: usize,
    pub access: &'b Access<'c>,
    /// The first element of the first block.
    pub place: &'b View<'c>,
    /// Where what is accessed waits, if not by its tensor.
    pub room: Option<&'b LocalTile<'c>>,
}

impl<'c> Matrix<'_, 'c> {
    /// The boxes of an operand's blocks that hold points of the tensor: whole blocks, and
    /// for each ragged axis the last one apart. An axis is one side of a box for the blocks
    /// along it and one for the points inside them, wherever these lie in a block.
    pub(super) fn boxes(
        &self,
        b: &mut Builder<'c>,
        OperandBlocks { operand, access, place, room }: OperandBlocks<'_, 'c>,
        Points { at, sizes, .. }: Points<'_, 'c>,
        body: EachBox<'_, 'c>,
    ) {
        let around = self.mapping.around(self.nest, operand);
        let far = match room {
            Some(room) => Far { access, memref: room.memref, room: Some(room) },
            None => self.far(access),
        };
        let shape = self.block_shape(operand, sizes);
        let strides = row_major(&shape);
        let outer = place.indices.len() - shape.len();
        let inside: Vec<Inside> = self.inside(operand, &strides);
        let parts = inside.iter().map(|inside| inside.parts(sizes)).collect::<Vec<_>>();
        for parts in product(&parts) {
            let (mut point, mut near) = (at.to_vec(), place.clone());
            let (mut counts, mut inner) = (Vec::new(), Vec::new());
            for (dim, &axis) in around.iter().enumerate() {
                counts.push((sizes[axis], far.stride(axis), strides[dim]));
            }
            for ((dim, inside), part) in (around.len()..).zip(&inside).zip(&parts) {
                let Digit { axis, count: side, .. } = inside.digit;
                let moved = Sum::number((part.block * side) as i64);
                point[axis] = point[axis].clone().plus(&moved, 1);
                let stride = far.stride(axis);
                near.indices[outer + dim] = b.index(part.block as i64);
                counts.push((part.count, stride * side as i64, strides[dim]));
                inner.push((part.points, stride, inside.stride));
            }
            let mut all: Vec<_> =
                counts.into_iter().filter(|(count, ..)| *count > 1).chain(inner).collect();
            // A box has a side.
            if all.is_empty() {
                all.push((1, 1, 1));
            }
            let far = Boxed {
                view: far.view(b, &point),
                strides: all.iter().map(|(_, far, _)| *far).collect(),
            };
            let near = Boxed { view: near, strides: all.iter().map(|(.., near)| *near).collect() };
            let sizes: Vec<_> = all.iter().map(|(size, ..)| *size).collect();
            body(b, &near, &far, &sizes);
        }
    }

    /// Where the tensor of an access lies.
    fn far<'a>(&'a self, access: &'a Access<'c>) -> Far<'a, 'c> {
        let room = self.local_tiles.get(&access.tensor);
        Far { access, memref: self.memrefs[&access.tensor], room }
    }

    /// The axes inside the blocks of an operand, in the order of the blocks' dimensions.
    fn inside(&self, operand: usize, strides: &[i64]) -> Vec<Inside> {
        let dims = self.dims(operand);
        let one = &strides[strides.len() - dims.len()..];
        let digits = dims.iter().zip(one).flat_map(|(&own, &stride)| {
            let digits = self.mapping.digits(own).into_iter();
            digits.map(move |digit| Inside { digit, stride: stride * digit.step as i64 })
        });
        digits.collect()
    }
}

/// A tensor of the nest, whole or in a room.
pub(super) struct Far<'a, 'c> {
    pub access: &'a Access<'c>,
    pub memref: Val<'c>,
    pub room: Option<&'a LocalTile<'c>>,
}

impl<'c> Far<'_, 'c> {
    /// Elements between two neighbours along an axis of the nest.
    pub fn stride(&self, axis: usize) -> i64 {
        let (index, shape) = match self.room {
            Some(room) => (merged(self.access, &room.handed), &room.sizes),
            None => (self.access.index.clone(), &self.access.shape),
        };
        let steps = index.iter().zip(row_major(shape));
        steps.map(|(index, stride)| index.coefficients[axis] * stride).sum()
    }

    /// The element that a point touches.
    pub fn view(&self, b: &mut Builder<'c>, point: &[Sum<'c>]) -> View<'c> {
        let place: Vec<_> = self.access.index.iter().map(|index| Sum::of(index, point)).collect();
        let place = match self.room {
            Some(room) => room.place(&self.access.shape, &place),
            None => place,
        };
        View { memref: self.memref, indices: place.iter().map(|own| own.emit(b)).collect() }
    }
}

/// An axis of the nest inside the blocks of an operand.
#[derive(Clone, Copy)]
struct Inside {
    digit: Digit,
    /// Elements between two points of it in a block.
    stride: i64,
}

impl Inside {
    /// Whole blocks, then the rest.
    fn parts(&self, sizes: &[u64]) -> Vec<Part> {
        let Digit { axis, count: side, .. } = self.digit;
        let (whole, rest) = (sizes[axis] / side, sizes[axis] % side);
        let all = Part { block: 0, count: whole, points: side };
        let last = Part { block: whole, count: 1, points: rest };
        [(whole, all), (rest, last)].into_iter().filter(|(n, _)| *n > 0).map(|(_, p)| p).collect()
    }
}

/// Blocks along one axis of the nest that hold the same number of its points.
#[derive(Clone, Copy)]
struct Part {
    /// The first block.
    block: u64,
    /// How many there are.
    count: u64,
    /// Points in each.
    points: u64,
}

/// Every choice of one part per axis.
fn product(parts: &[Vec<Part>]) -> Vec<Vec<Part>> {
    parts.iter().fold(vec![Vec::new()], |all, along| {
        let with = |before: &Vec<Part>| {
            let before = before.clone();
            along.iter().map(move |part| [&before[..], &[*part]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    })
}
