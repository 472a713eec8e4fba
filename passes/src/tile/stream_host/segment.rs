//! Neighbouring steps done tile by tile: what each tile holds, in which order it is done, what
//! that takes.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::Flow;
use super::spans::{Span, count, hull, image, points, side_by_side};
use crate::arena::{self, Life};

/// The tiling of a segment: tiles of a size along some dimensions of its last tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tile) struct Cut {
    /// Dimension and size, the first one slowest; none where all is done at once.
    pub sizes: Vec<(usize, u64)>,
}

/// Steps `from..to` of a flow, and what passes their ends.
#[derive(Clone, Debug)]
pub(in crate::tile) struct Segment {
    pub from: usize,
    pub to: usize,
    /// Tensors that it reads and others make.
    pub reads: Vec<usize>,
    /// Tensors that it makes and others read, or the model gives; what is made last is last.
    pub gives: Vec<usize>,
}

impl Segment {
    /// `None` where a tensor would be made by two segments.
    pub fn of(flow: &Flow<'_>, from: usize, to: usize) -> Option<Self> {
        let inside = |step: &usize| (from..to).contains(step);
        let (mut reads, mut gives) = (BTreeSet::new(), Vec::new());
        for touch in &flow.touches[from..to] {
            for &tensor in &touch.tensors {
                let own = &flow.tensors[tensor];
                if !own.writers.iter().any(inside) {
                    reads.insert(tensor);
                    continue;
                }
                if !own.writers.iter().all(inside) {
                    return None;
                }
                let read_later = own.readers.iter().any(|&reader| reader >= to);
                if (own.is_result || read_later) && !gives.contains(&tensor) {
                    gives.push(tensor);
                }
            }
        }
        gives.sort_by_key(|&tensor| flow.tensors[tensor].writers.last().copied());
        Some(Self { from, to, reads: reads.into_iter().collect(), gives })
    }
}

/// One tile of a segment.
#[derive(Clone, Debug)]
pub(in crate::tile) struct Tile {
    /// The boxes of each tensor in the device's memory.
    pub boxes: BTreeMap<usize, Vec<Span>>,
    /// For each step, which of its points are done; none where no point touches the tile.
    pub points: Vec<Option<Vec<Span>>>,
    /// The boxes that are written of each tensor that the segment gives, in the order of `gives`.
    pub pieces: Vec<Vec<Span>>,
}

/// One thing that is done for a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tile) enum Action {
    /// A box of a tensor is brought in.
    In { tile: usize, tensor: usize },
    /// Points of a step are done.
    Do { tile: usize, step: usize },
    /// A piece of the `give`-th tensor is taken out.
    Out { tile: usize, give: usize },
}

/// The tiles of a segment under a cut; `None` where the cut does not reach all that the
/// segment gives.
pub(in crate::tile) fn tiles(flow: &Flow<'_>, segment: &Segment, cut: &Cut) -> Option<Vec<Tile>> {
    let grid = grid(flow, segment, cut)?;
    let pieces = Pieces::of(flow, segment, cut, &grid)?;
    Some(
        (0..pieces.count())
            .map(|number| tile(flow, segment, &pieces.of_tile(segment, number)))
            .collect(),
    )
}

/// The first tile, one of the middle and the last one, and how many there are.
pub(in crate::tile) fn samples(
    flow: &Flow<'_>,
    segment: &Segment,
    cut: &Cut,
) -> Option<(Vec<Tile>, usize)> {
    let grid = grid(flow, segment, cut)?;
    let pieces = Pieces::of(flow, segment, cut, &grid)?;
    let count = pieces.count();
    let mut numbers = vec![0, grid.iter().fold(0, |number, size| number * size + size / 2)];
    numbers.push(count - 1);
    numbers.dedup();
    let of = |&number: &usize| tile(flow, segment, &pieces.of_tile(segment, number));
    Some((numbers.iter().map(of).collect(), count))
}

/// Number of tiles along each dimension that is cut.
fn grid(flow: &Flow<'_>, segment: &Segment, cut: &Cut) -> Option<Vec<usize>> {
    let last = &flow.tensors[*segment.gives.last()?];
    let pieces = |&(dim, size): &(usize, u64)| Some(last.shape.get(dim)?.div_ceil(size) as usize);
    cut.sizes.iter().map(pieces).collect()
}

/// Dimension and piece for each dimension of a grid.
type Pieced = Vec<(usize, u64)>;

/// The pieces of all that a segment gives.
struct Pieces {
    grid: Vec<usize>,
    /// For each tensor its shape, and dimension and piece for each dimension of the grid.
    tensors: Vec<(Vec<u64>, Pieced)>,
}

impl Pieces {
    fn of(flow: &Flow<'_>, segment: &Segment, cut: &Cut, grid: &[usize]) -> Option<Self> {
        let (&last, others) = segment.gives.split_last()?;
        let mut pieces = Self { grid: grid.to_vec(), tensors: Vec::new() };
        let cuts = cut.sizes.clone();
        if cuts.is_empty() {
            let whole = |tensor: &usize| (flow.tensors[*tensor].shape.clone(), Vec::new());
            pieces.tensors = segment.gives.iter().map(whole).collect();
            return Some(pieces);
        }
        if !flow.tensors[last].may_be_cut {
            return None;
        }
        // The tile of the last tensor decides the cuts of the others.
        let shape = flow.tensors[last].shape.clone();
        let mut middle: Vec<Span> = flow.tensors[last].whole();
        for &(dim, size) in &cuts {
            let at = shape[dim].div_ceil(size) / 2 * size;
            middle[dim] = (at.min(shape[dim] - 1), (at + size).min(shape[dim]));
        }
        let mut wanted = vec![(last, middle.clone())];
        let mut needed = match others {
            [] => BTreeMap::new(),
            _ => tile(flow, segment, &wanted).boxes,
        };
        // Tensors made beside them are cut as the last one is.
        for &tensor in others.iter().rev() {
            let own = &flow.tensors[tensor];
            if !needed.contains_key(&tensor) && own.may_be_cut && own.shape == shape {
                wanted.push((tensor, middle.clone()));
                needed = tile(flow, segment, &wanted).boxes;
            }
        }
        for &tensor in others {
            let (own, spans) = (&flow.tensors[tensor], needed.get(&tensor)?);
            let part = |dim: &usize| spans[*dim] != (0, own.shape[*dim]);
            let dims: Vec<usize> = (0..spans.len()).filter(part).collect();
            if dims.len() != cuts.len() {
                return None;
            }
            let size = |(&dim, &(of, size)): (&usize, &(usize, u64))| {
                let count = shape[of].div_ceil(size);
                let scaled = size * own.shape[dim];
                let exact = scaled.is_multiple_of(shape[of]).then(|| scaled / shape[of]);
                (dim, exact.unwrap_or_else(|| own.shape[dim].div_ceil(count)).max(1))
            };
            let sizes: Vec<_> = dims.iter().zip(&cuts).map(size).collect();
            pieces.tensors.push((own.shape.clone(), sizes));
        }
        pieces.tensors.push((shape, cuts));
        // Every tile takes something of everything out.
        let all = |(shape, sizes): &(Vec<u64>, Vec<(usize, u64)>)| {
            let as_many = |((dim, size), &count): (&(usize, u64), &usize)| {
                shape[*dim].div_ceil(*size) == count as u64
            };
            sizes.iter().zip(grid).all(as_many)
        };
        pieces.tensors.iter().all(all).then_some(pieces)
    }

    fn count(&self) -> usize {
        self.grid.iter().product()
    }

    /// Piece `number` of each tensor.
    fn of_tile(&self, segment: &Segment, number: usize) -> Vec<(usize, Vec<Span>)> {
        let mut at = Vec::new();
        let mut rest = number;
        for &size in self.grid.iter().rev() {
            at.push((rest % size) as u64);
            rest /= size;
        }
        at.reverse();
        let of = |(shape, sizes): &(Vec<u64>, Vec<(usize, u64)>)| {
            let mut spans: Vec<Span> = shape.iter().map(|&dim| (0, dim)).collect();
            for (&(dim, size), at) in sizes.iter().zip(&at) {
                spans[dim] = (at * size, ((at + 1) * size).min(shape[dim]));
            }
            spans
        };
        segment.gives.iter().copied().zip(self.tensors.iter().map(of)).collect()
    }
}

/// The boxes needed for some tiles: backwards through the steps, until nothing grows.
fn tile(flow: &Flow<'_>, segment: &Segment, wanted: &[(usize, Vec<Span>)]) -> Tile {
    let mut boxes: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    for (tensor, spans) in wanted {
        grow(flow, &mut boxes, *tensor, spans);
    }
    let touches = &flow.touches[segment.from..segment.to];
    let mut done = vec![None; touches.len()];
    let mut grew = true;
    while grew {
        grew = false;
        for (touch, done) in touches.iter().zip(&mut done).rev() {
            let mut own: Option<Vec<Span>> = None;
            for (tensor, index) in &touch.outputs {
                let Some(spans) = boxes.get(tensor) else { continue };
                let found = match touch.rigid || !flow.tensors[*tensor].may_be_cut {
                    true => Some(touch.extents.iter().map(|&extent| (0, extent)).collect()),
                    false => points(index, &touch.extents, spans),
                };
                own = match (own, found) {
                    (Some(own), Some(found)) => Some(hull(&own, &found)),
                    (own, found) => own.or(found),
                };
            }
            if let Some(own) = &own {
                let mut need = |tensor: usize, spans: &[Span]| {
                    // Only what this pass has seen already makes another one necessary.
                    let again = touch.outputs.iter().any(|(written, _)| *written == tensor);
                    grew |= grow(flow, &mut boxes, tensor, spans) && again;
                };
                for (tensor, index) in &touch.accesses {
                    if flow.tensors[*tensor].may_be_cut {
                        need(*tensor, &image(index, own));
                    } else {
                        need(*tensor, &flow.tensors[*tensor].whole());
                    }
                }
                for &tensor in &touch.whole {
                    need(tensor, &flow.tensors[tensor].whole());
                }
            }
            *done = own;
        }
    }
    let pieces = wanted.iter().map(|(_, spans)| spans.clone()).collect();
    Tile { boxes, points: done, pieces }
}

/// Makes a box hold some more; says whether it did not already.
fn grow(
    flow: &Flow<'_>,
    boxes: &mut BTreeMap<usize, Vec<Span>>,
    tensor: usize,
    spans: &[Span],
) -> bool {
    let own = &flow.tensors[tensor];
    let inside = |(&(low, high), &dim): (&Span, &u64)| (low.min(dim), high.min(dim));
    let spans: Vec<Span> = match own.may_be_cut {
        true => spans.iter().zip(&own.shape).map(inside).collect(),
        false => own.whole(),
    };
    let new = match boxes.get(&tensor) {
        Some(old) => hull(old, &spans),
        None => spans,
    };
    if boxes.get(&tensor) == Some(&new) {
        return false;
    }
    boxes.insert(tensor, new);
    true
}

/// The actions for some tiles, in order: the inputs of the next tile are loaded while this one is
/// computed; with only one tile, when they are first read.
pub(in crate::tile) fn actions(flow: &Flow<'_>, segment: &Segment, tiles: &[Tile]) -> Vec<Action> {
    let read = |tile: usize| {
        let boxes = &tiles[tile].boxes;
        let brought = segment.reads.iter().filter(move |tensor| boxes.contains_key(tensor));
        brought.map(move |&tensor| Action::In { tile, tensor })
    };
    let mut actions: Vec<Action> = Vec::new();
    if tiles.len() > 1 {
        actions.extend(read(0));
    }
    for (number, tile) in tiles.iter().enumerate() {
        if number + 1 < tiles.len() {
            actions.extend(read(number + 1));
        }
        for (offset, _) in tile.points.iter().enumerate().filter(|(_, done)| done.is_some()) {
            let step = segment.from + offset;
            if tiles.len() == 1 {
                let touched = &flow.touches[step].tensors;
                let first = |action: &Action| matches!(action, Action::In { tensor, .. } if touched.contains(tensor));
                let missing: Vec<_> =
                    read(0).filter(first).filter(|action| !actions.contains(action)).collect();
                actions.extend(missing);
            }
            actions.push(Action::Do { tile: number, step });
        }
        actions.extend((0..segment.gives.len()).map(|give| Action::Out { tile: number, give }));
    }
    actions
}

/// The arena that the tiles need in the device's memory.
pub(in crate::tile) fn arena_bytes(flow: &Flow<'_>, segment: &Segment, tiles: &[Tile]) -> u64 {
    let actions = actions(flow, segment, tiles);
    let mut lives: BTreeMap<(usize, usize), Life> = BTreeMap::new();
    let mut touch = |at: usize, tile: usize, tensor: usize| {
        let Some(spans) = tiles[tile].boxes.get(&tensor) else { return };
        let bytes = flow.tensors[tensor].bytes(count(spans));
        let at = at as u32;
        lives.entry((tile, tensor)).or_insert(Life { first: at, last: at, bytes }).last = at;
    };
    for (at, action) in actions.into_iter().enumerate() {
        match action {
            Action::In { tile, tensor } => touch(at, tile, tensor),
            Action::Do { tile, step } => {
                for &tensor in &flow.touches[step].tensors {
                    touch(at, tile, tensor);
                }
            }
            Action::Out { tile, give } => touch(at, tile, segment.gives[give]),
        }
    }
    let lives: Vec<Life> = lives.into_values().collect();
    arena::place(&lives, arena::LAG).bytes
}

/// Bytes that the whole flow needs as it is, without streaming: the model's inputs and what it
/// gives are the caller's.
pub(in crate::tile) fn unlimited_bytes(flow: &Flow<'_>) -> u64 {
    let own = flow.tensors.iter().filter(|tensor| tensor.source.is_none() && !tensor.is_result);
    let life = |tensor: &super::flow::Tensor<'_>| {
        let all = || tensor.writers.iter().chain(&tensor.readers).map(|&step| step as u32);
        let bytes = tensor.bytes(tensor.elements);
        Some(Life { first: all().min()?, last: all().max()?, bytes })
    };
    let lives: Vec<Life> = own.filter_map(life).collect();
    arena::place(&lives, arena::LAG).bytes
}

/// Bytes that pass the link: what is brought in, and what is taken out; each row of elements that
/// lie side by side in whole pieces of `transaction` bytes.
pub(in crate::tile) fn moved(
    flow: &Flow<'_>,
    segment: &Segment,
    tile: &Tile,
    transaction: u64,
) -> (u64, u64) {
    let bytes = |tensor: usize, spans: &[Span]| {
        let own = &flow.tensors[tensor];
        let row = side_by_side(&own.shape, spans);
        let rows = count(spans) / row.max(1);
        rows * own.bytes(row).next_multiple_of(transaction.max(1))
    };
    let read = segment.reads.iter();
    let read = read.filter_map(|&tensor| Some(bytes(tensor, tile.boxes.get(&tensor)?))).sum();
    let given = segment.gives.iter().zip(&tile.pieces);
    (read, given.map(|(&tensor, spans)| bytes(tensor, spans)).sum())
}

/// Points that a tile does.
pub(in crate::tile) fn work(flow: &Flow<'_>, segment: &Segment, tile: &Tile) -> u64 {
    let steps = flow.touches[segment.from..segment.to].iter().zip(&tile.points);
    steps.filter_map(|(touch, points)| Some(count(points.as_ref()?) * touch.operations)).sum()
}
