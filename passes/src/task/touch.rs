//! Which bytes of a kernel's arguments some of its rTasks touch.
//!
//! Every access is linear in the axes, so a box of tiles touches an interval in
//! each dimension and one of addresses. Both are bounds: they hold everything
//! that is touched, and [`Region::dense`] says where they hold nothing else.
//! A tensor that is read at computed addresses counts as touched whole.

use std::rc::Rc;

use weft_dialects::device::Contract;
use weft_dialects::ir::{Linear, Type, ty};

use crate::nest::grid;
use crate::nest::{Access, Nest};
use crate::tile::propagate::Tiles;

/// The part of one argument that some rTasks touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The number of the argument.
    pub arg: usize,
    /// True if it is written (and perhaps read), or only read.
    pub write: bool,
    /// First byte, from the argument's begin.
    pub begin: u64,
    /// One past the last byte.
    pub end: u64,
    /// The argument's shape.
    pub shape: Rc<[u64]>,
    /// First and last index along each dimension.
    pub dims: Rc<[(u64, u64)]>,
    /// True if every byte between `begin` and `end` is touched.
    pub dense: bool,
    /// Bytes of an element.
    pub elem_bytes: u64,
}

impl Region {
    /// Bytes of the box that is touched.
    pub fn box_bytes(&self) -> u64 {
        let elements = self.dims.iter().map(|(low, high)| high - low + 1).product::<u64>();
        elements * self.elem_bytes
    }

    /// The same where the kernel sees its argument from element `at` on.
    fn shifted(&self, at: u64) -> Self {
        let elements: u64 = self.shape.iter().product();
        let size = self.elem_bytes;
        let (begin, end) = (self.begin + at * size, (self.end + at * size).min(elements * size));
        let mut rest = at;
        let mut places = vec![0; self.shape.len()];
        for (place, &dim) in places.iter_mut().zip(self.shape.iter()).rev() {
            (*place, rest) = (rest % dim.max(1), rest / dim.max(1));
        }
        let moved = self.dims.iter().zip(&places);
        let dims: Vec<_> = moved.map(|((low, high), place)| (low + place, high + place)).collect();
        // A box that does not stay one is bounded by its bytes alone.
        let fits = dims.iter().zip(self.shape.iter()).all(|((_, high), dim)| high < dim);
        let all = || self.shape.iter().map(|dim| (0, dim.saturating_sub(1))).collect();
        let dims = if fits { dims } else { all() };
        Self { begin, end, dims: dims.into(), shape: self.shape.clone(), ..*self }
    }

    /// The same where callers decide from which element on the kernel sees its argument: any of its bytes.
    fn anywhere(&self) -> Self {
        let elements: u64 = self.shape.iter().product();
        let dims: Vec<_> = self.shape.iter().map(|dim| (0, dim.saturating_sub(1))).collect();
        let (begin, end, dense) = (0, elements * self.elem_bytes, false);
        Self { begin, end, dims: dims.into(), shape: self.shape.clone(), dense, ..*self }
    }
}

/// Regions of a kernel that sees each argument from an element of its own on; `None` where callers
/// decide from which.
pub(crate) fn seen_from(regions: &Rc<[Region]>, at: impl Fn(usize) -> Option<u64>) -> Rc<[Region]> {
    let seen = |region: &Region| match at(region.arg) {
        Some(at) => region.shifted(at),
        None => region.anywhere(),
    };
    match regions.iter().all(|region| at(region.arg) == Some(0)) {
        true => regions.clone(),
        false => regions.iter().map(seen).collect(),
    }
}

/// One argument of a kernel as its rTasks access it.
#[derive(Clone, Debug)]
struct Touch {
    arg: usize,
    write: bool,
    elem_bytes: u64,
    shape: Rc<[u64]>,
    /// One expression per dimension; `None` where addresses are computed.
    index: Option<Vec<Linear>>,
    /// Whose axes those are, where it is a compute before the last one.
    member: Option<usize>,
}

/// The accesses of a kernel's rTasks to its arguments.
#[derive(Clone, Debug)]
pub struct Touches {
    grid: Vec<u64>,
    /// Axis and tile size for each dimension of the grid.
    cuts: Vec<(usize, u64)>,
    extents: Vec<u64>,
    touches: Vec<Touch>,
    /// The tiles of all computes, where there are several.
    tiles: Option<Tiles>,
}

impl Touches {
    /// Reads them from the nest of a kernel whose first rTile is `sizes`.
    pub fn of(nest: &Nest<'_>, grid: &[u64], sizes: &[u64]) -> Self {
        let cuts = grid::parallel_axes(nest).into_iter().map(|axis| (axis, sizes[axis]));
        let mut touches: Vec<Touch> = Vec::new();
        let outputs = nest.accesses().len() - nest.outputs.len();
        for (number, access) in nest.accesses().into_iter().enumerate() {
            touches.push(Touch::of(access, number >= outputs));
        }
        touches.extend(nest.captures.iter().filter_map(|capture| {
            Touch::whole(capture.tensor.index(), capture.tensor.ty(), false)
        }));
        let (cuts, extents) = (cuts.collect(), nest.extents());
        Self { grid: grid.to_vec(), cuts, extents, touches, tiles: None }
    }

    /// Those of a kernel of several computes, whose tiles are `tiles`; what they hand to each
    /// other is not an argument.
    pub fn of_members(nests: &[&Nest<'_>], grid: &[u64], sizes: &[u64], tiles: Tiles) -> Self {
        let last = nests.len() - 1;
        let mut all = Self::of(nests[last], grid, sizes);
        let outside = |access: &Access<'_>| access.argument().def().is_none();
        let accesses = nests[last].accesses();
        let mut own = all.touches.iter().zip(accesses.iter().map(|access| outside(access)));
        let mut kept: Vec<Touch> =
            own.by_ref().filter(|(_, outside)| *outside).map(|(touch, _)| touch.clone()).collect();
        kept.extend(all.touches[accesses.len().min(all.touches.len())..].iter().cloned());
        for (member, nest) in nests[..last].iter().enumerate() {
            let outputs = nest.reads().len();
            for (number, access) in nest.accesses().into_iter().enumerate() {
                if outside(access) {
                    let touch = Touch::of(access, number >= outputs);
                    kept.push(Touch { member: Some(member), ..touch });
                }
            }
        }
        (all.touches, all.tiles) = (kept, Some(tiles));
        all
    }

    /// Those of code whose accesses are not known, with arguments of these types:
    /// it reads the first `inputs` and writes the others.
    pub fn unknown(tasks: u64, args: &[Type<'_>], inputs: usize) -> Self {
        let whole = |(arg, &ty): (usize, &Type<'_>)| Touch::whole(arg, ty, arg >= inputs);
        let touches = args.iter().enumerate().filter_map(whole).collect();
        let grid = vec![tasks];
        Self { grid, cuts: Vec::new(), extents: Vec::new(), touches, tiles: None }
    }

    /// Those of code that promises which block of each argument an rTask touches: it reads the
    /// first `inputs` and writes the others.
    pub fn promised(contract: &Contract, args: &[Type<'_>], inputs: usize) -> Self {
        let grid = contract.grid.clone();
        // The axes are those of the grid, behind them one for each dimension of a block.
        let sizes = contract.blocks.iter().flatten();
        let extents: Vec<u64> = grid.iter().chain(sizes).copied().collect();
        let mut inner = grid.len();
        let mut touches = Vec::new();
        for (arg, &ty) in args.iter().enumerate() {
            let mut index = Vec::new();
            for (place, &block) in contract.places[arg].iter().zip(&contract.blocks[arg]) {
                let mut own = place.clone().scale(block as i64);
                own.coefficients.resize(extents.len(), 0);
                own.coefficients[inner] = 1;
                index.push(own);
                inner += 1;
            }
            let whole = Touch::whole(arg, ty, arg >= inputs);
            touches.extend(whole.map(|touch| Touch { index: Some(index), ..touch }));
        }
        let cuts = (0..grid.len()).map(|axis| (axis, 1)).collect();
        Self { grid, cuts, extents, touches, tiles: None }
    }

    /// Returns the regions that the rTasks from `begin` to before `end` touch.
    pub fn of_tasks(&self, begin: u64, end: u64) -> Vec<Region> {
        let mut regions = Vec::new();
        for (number, pieces) in grid::boxes(&self.grid, begin, end).into_iter().enumerate() {
            let mut axes: Vec<(u64, u64)> =
                self.extents.iter().map(|&extent| (0, extent.saturating_sub(1))).collect();
            for (&(axis, size), (first, last)) in self.cuts.iter().zip(pieces) {
                let past = ((last + 1) * size).min(self.extents[axis]);
                axes[axis] = (first * size, past.saturating_sub(1));
            }
            let inner = self.inner(Some(&axes));
            for touch in &self.touches {
                // A region that does not move with the task is the same for every box.
                if number == 0 || touch.member.is_some() || touch.moves(&self.cuts) {
                    let axes = touch.member.map_or(&axes, |member| &inner[member]);
                    regions.extend(touch.region(axes));
                }
            }
        }
        regions
    }

    /// Returns whether all rTasks together write every element of argument `arg`.
    pub fn fill(&self, arg: usize) -> bool {
        if self.cuts.iter().any(|&(axis, _)| self.extents[axis] == 0) {
            return false;
        }
        self.touches.iter().filter(|touch| touch.arg == arg && touch.write).any(|touch| {
            let bytes = touch.shape.iter().product::<u64>() * touch.elem_bytes;
            let region = touch.region(&self.all(touch.member));
            region.is_some_and(|all| all.dense && all.end - all.begin == bytes)
        })
    }

    /// All points of the axes of a compute.
    fn all(&self, member: Option<usize>) -> Vec<(u64, u64)> {
        let all = |extent: u64| (0, extent.max(1) - 1);
        match (member, &self.tiles) {
            (Some(member), Some(tiles)) => {
                tiles.spans[member].iter().map(|span| all(span.extent)).collect()
            }
            _ => self.extents.iter().map(|&extent| all(extent)).collect(),
        }
    }

    /// The points that computes before the last one do while that does those between `axes`.
    fn inner(&self, axes: Option<&[(u64, u64)]>) -> Vec<Vec<(u64, u64)>> {
        let Some(tiles) = &self.tiles else { return Vec::new() };
        let members = tiles.spans.len() - 1;
        let Some(axes) = axes else { return (0..members).map(|m| self.all(Some(m))).collect() };
        let places: Vec<(u64, u64)> = (0..axes.len())
            .map(|axis| match self.cuts.iter().find(|(own, _)| *own == axis) {
                Some((_, size)) => (axes[axis].0 / size, axes[axis].1 / size),
                None => (0, 0),
            })
            .collect();
        (0..members).map(|member| tiles.between(member, &places)).collect()
    }

    /// Returns whether some rTask reads argument `arg` by an access of its own.
    pub fn read(&self, arg: usize) -> bool {
        self.touches.iter().any(|touch| touch.arg == arg && !touch.write)
    }

    /// Returns the part of argument `arg` that all rTasks touch: bytes from the first one read, or
    /// written, to the last, and no more of a gathered one than `points` elements.
    pub fn span(&self, arg: usize, write: bool, points: u64) -> u64 {
        let own = self.touches.iter().filter(|touch| touch.arg == arg && touch.write == write);
        let regions = own.filter_map(|touch| Some((touch, touch.region(&self.all(touch.member))?)));
        let (mut begin, mut end, mut most) = (u64::MAX, 0, 0);
        for (touch, region) in regions {
            (begin, end) = (begin.min(region.begin), end.max(region.end));
            most = points.saturating_mul(touch.elem_bytes);
        }
        end.saturating_sub(begin).min(most)
    }

    /// Bytes that the whole kernel moves: each argument once, and no more of a
    /// gathered one than `points` elements.
    pub fn bytes(&self, points: u64) -> u64 {
        let of = |touch: &Touch| {
            let most = points.saturating_mul(touch.elem_bytes);
            let axes = self.all(touch.member);
            touch.region(&axes).map_or(0, |region| (region.end - region.begin).min(most))
        };
        self.touches.iter().map(of).sum()
    }
}

impl Touch {
    fn of(access: &Access<'_>, write: bool) -> Self {
        Self {
            arg: access.argument().index(),
            write,
            elem_bytes: ty::byte_size(access.elem()).unwrap_or(1),
            shape: access.shape_in_memory().into(),
            index: Some(access.index_in_memory()),
            member: None,
        }
    }

    fn whole(arg: usize, ty: Type<'_>, write: bool) -> Option<Self> {
        let elem_bytes = ty::byte_size(ty::elem(ty)?)?;
        let shape = ty::shape(ty)?.into();
        Some(Self { arg, write, elem_bytes, shape, index: None, member: None })
    }

    fn moves(&self, cuts: &[(usize, u64)]) -> bool {
        let moves = |&(axis, _): &(usize, u64)| {
            self.index.iter().flatten().any(|index| index.coefficients[axis] != 0)
        };
        cuts.iter().any(moves)
    }

    /// Nothing where the tensor has no elements.
    fn region(&self, axes: &[(u64, u64)]) -> Option<Region> {
        let mut inside = true;
        let mut dims = Vec::with_capacity(self.shape.len());
        let mut flat = Linear::constant(axes.len(), 0);
        for (dim, &size) in self.shape.iter().enumerate() {
            let top = size.checked_sub(1)?;
            let (low, high) = match &self.index {
                Some(index) => {
                    flat = flat.scale(size as i64).add(&index[dim]);
                    reach(&index[dim], axes)
                }
                None => (0, top as i64),
            };
            inside &= low >= 0 && high <= top as i64;
            // Elements outside are never touched; a bound that is wholly outside says nothing.
            let (low, high) = (low.max(0) as u64, high.clamp(0, top as i64) as u64);
            dims.push(if low <= high { (low, high) } else { (0, top) });
        }
        let count: u64 = self.shape.iter().product();
        let row_major = |pick: fn(&(u64, u64)) -> u64| {
            dims.iter().zip(self.shape.iter()).fold(0, |flat, (dim, &size)| flat * size + pick(dim))
        };
        let (mut first, mut last) = (row_major(|dim| dim.0), row_major(|dim| dim.1));
        let mut dense = false;
        if self.index.is_some() && inside {
            let (low, high) = reach(&flat, axes);
            // Dimensions that move against each other bound less than the address does.
            first = first.max(low.max(0) as u64);
            last = last.min(high.max(0) as u64).min(count - 1);
            dense = gapless(&flat, axes);
        }
        Some(Region {
            elem_bytes: self.elem_bytes,
            arg: self.arg,
            write: self.write,
            shape: self.shape.clone(),
            begin: first * self.elem_bytes,
            end: (last + 1) * self.elem_bytes,
            dims: dims.into(),
            dense,
        })
    }
}

/// Smallest and largest value while each axis stays inside its interval.
fn reach(index: &Linear, axes: &[(u64, u64)]) -> (i64, i64) {
    let (mut low, mut high) = (index.constant, index.constant);
    for (&factor, &(first, last)) in index.coefficients.iter().zip(axes) {
        let ends = (factor * first as i64, factor * last as i64);
        low += ends.0.min(ends.1);
        high += ends.0.max(ends.1);
    }
    (low, high)
}

/// Returns whether the expression takes every value between its smallest and its largest.
fn gapless(index: &Linear, axes: &[(u64, u64)]) -> bool {
    let mut steps: Vec<(u64, u64)> = index
        .coefficients
        .iter()
        .zip(axes)
        .filter(|&(&factor, &(first, last))| factor != 0 && first < last)
        .map(|(factor, (first, last))| (factor.unsigned_abs(), last - first))
        .collect();
    steps.sort_unstable();
    let mut covered = 0;
    steps.into_iter().all(|(factor, count)| {
        let fits = factor <= covered + 1;
        covered += factor * count;
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(constant: i64, coefficients: &[i64]) -> Linear {
        Linear { constant, coefficients: coefficients.to_vec() }
    }

    fn touches(shape: &[u64], index: Vec<Linear>, extents: &[u64], sizes: &[u64]) -> Touches {
        let cuts: Vec<_> = sizes.iter().copied().enumerate().collect();
        let grid = extents.iter().zip(sizes).map(|(e, s)| e.div_ceil(*s)).collect();
        let touch = Touch {
            arg: 0,
            write: true,
            elem_bytes: 4,
            shape: shape.into(),
            index: Some(index),
            member: None,
        };
        Touches { grid, cuts, extents: extents.to_vec(), touches: vec![touch], tiles: None }
    }

    #[test]
    fn rows_are_dense() {
        let rows = touches(&[8, 4], vec![linear(0, &[1, 0]), linear(0, &[0, 1])], &[8, 4], &[2, 4]);
        let region = &rows.of_tasks(1, 3)[0];
        assert_eq!((region.begin, region.end, region.dense), (32, 96, true));
        assert!(rows.fill(0));
    }

    #[test]
    fn columns_are_not() {
        let index = vec![linear(0, &[1, 0]), linear(2, &[0, 1])];
        let columns = touches(&[8, 4], index, &[8, 2], &[8, 2]);
        let region = &columns.of_tasks(0, 1)[0];
        assert_eq!((region.begin, region.end, region.dense), (8, 128, false));
        assert_eq!(*region.dims, [(0, 7), (2, 3)]);
        assert!(!columns.fill(0));
    }

    /// One dimension that two axes share: 8 i + j.
    #[test]
    fn mixed_radix_is_dense() {
        let whole = touches(&[32], vec![linear(0, &[8, 1])], &[4, 8], &[1, 8]);
        assert!(whole.fill(0));
        let strided = touches(&[32], vec![linear(0, &[8, 2])], &[4, 4], &[1, 4]);
        assert!(!strided.fill(0));
    }

    /// A ragged rest, and a run of tasks that ends inside a row.
    #[test]
    fn the_last_piece_is_cut() {
        let index = vec![linear(0, &[1, 0]), linear(0, &[0, 1])];
        let ragged = touches(&[5, 6], index, &[5, 6], &[2, 4]);
        let regions = ragged.of_tasks(0, 3);
        assert_eq!((regions[0].begin, regions[0].end), (0, 48));
        assert_eq!(*regions[1].dims, [(2, 3), (0, 3)]);
        assert_eq!(*ragged.of_tasks(5, 6)[0].dims, [(4, 4), (4, 5)]);
    }
}
