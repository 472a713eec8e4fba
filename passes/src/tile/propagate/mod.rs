//! Which tiles of its members a group has to make for one tile of the last of them.
//!
//! ```text
//! pool[p, q] reads relu[2p + i, 2q + j], that reads conv[h, w], that reads x[h + r, w + s]
//! tile of pool [1, 1]  =>  relu [2, 2]  =>  conv [2, 2]  =>  x [4, 4]
//! ```
//!
//! Interval analysis on the linear index expressions, from readers back to makers (Welder,
//! OSDI'23, section 4.1). A tile's sizes are the same wherever it lies; its place follows from its
//! readers' places, the lowest where there are several, pushed inside the tensor. So at a border
//! a tile holds some points that nobody asked for, instead of being a smaller one.
//!
//! Makers and readers may see a tensor in different shapes. What both have is a row of dimensions
//! that each side gets by merging some of its own ([`Chain::handed`]): there every index is linear,
//! and what is asked for is one interval. Its tile on the maker's side is cut along one of the axes
//! that the dimension is made of; those outside of it have one point, those inside are whole, so
//! that it is one interval there, too.
//!
//! Where all that is asked for begins at one place, its size is the largest ask (`placed.rs`). Otherwise sizes
//! are found by trying every place of the group's tile, along the axes that matter for an axis: each
//! tile holds what its readers' tiles read, whatever the factors are.

mod chain;
mod placed;
mod refusal;
mod tiles;

use weft_dialects::ir::Linear;

use crate::nest::Border;
pub use chain::{Chain, Link, groups, links, merged};
use placed::Placed;
pub use refusal::Refusal;
use refusal::written;
use tiles::asked;
pub use tiles::{Ask, Span, Tiles, reach};

/// The tiles of all members for a tile of `sizes` points of the last one.
///
/// # Errors
/// The reason that there are none.
pub fn propagate(chain: &Chain<'_, '_>, sizes: &[u64]) -> Result<Tiles, Refusal> {
    let root = chain.nests.len() - 1;
    for (member, nest) in chain.nests.iter().enumerate() {
        if nest.outputs.len() != 1 {
            return Err(Refusal::Outputs { member, outputs: nest.outputs.len() });
        }
        if nest.points() == 0 {
            return Err(Refusal::Empty { member });
        }
    }
    let nest = chain.nests[root];
    let size = |axis: usize| match nest.reduces(axis) {
        true => nest.axes[axis].extent,
        false => sizes[axis].min(nest.axes[axis].extent),
    };
    let grid = (0..nest.axes.len()).map(|axis| nest.axes[axis].extent.div_ceil(size(axis)));
    let mut tiles = Tiles { spans: vec![Vec::new(); root + 1], grid: grid.collect() };
    tiles.spans[root] = (0..nest.axes.len())
        .map(|axis| {
            let moves = if tiles.grid[axis] > 1 { vec![axis] } else { Vec::new() };
            let (extent, size) = (nest.axes[axis].extent, size(axis));
            let placed = Some(Placed::group(tiles.grid.len(), axis, size));
            Span { size, moves, placed, ..Span::whole(extent) }
        })
        .collect();
    for member in (0..root).rev().filter(|&member| chain.is_read(member)) {
        let spans = asked_for(chain, &tiles, member)?;
        tiles.spans[member] = spans.into_iter().map(|span| tiles.placed(span)).collect();
    }
    for member in (0..root).filter(|&member| !chain.is_read(member)) {
        let spans = beside(chain, &tiles, member)?;
        tiles.spans[member] = spans.into_iter().map(|span| tiles.placed(span)).collect();
    }
    for link in &chain.links {
        bordered(chain, &tiles, link)?;
    }
    Ok(tiles)
}

/// A tensor that is read past its ends is laid out with its border row by row, so its tiles need
/// whole rows.
fn bordered(chain: &Chain<'_, '_>, tiles: &Tiles, link: &Link) -> Result<(), Refusal> {
    let read = chain.nests[link.reader].reads()[link.read];
    let Some(border) = Border::of(read) else { return Ok(()) };
    let shape = read.shape_in_memory();
    let rows = shape.len() - border.rank();
    let seen = groups(&shape, &chain.handed[link.maker]);
    for (dims, digits) in seen.iter().zip(digits(chain, link.maker)?) {
        let spans = &tiles.spans[link.maker];
        let whole = digits.iter().all(|digit| spans[digit.axis].size == spans[digit.axis].extent);
        let columns = dims.iter().any(|&(dim, _)| dim > rows);
        let with_rows = border.rank() > 1 && dims.iter().any(|&(dim, _)| dim == rows);
        let alone = border.rank() == 1 && dims.iter().any(|&(dim, _)| dim == rows);
        if !whole && (alone || (columns && !with_rows)) {
            return Err(Refusal::Border { member: link.reader });
        }
    }
    Ok(())
}

/// The spans of a member that others read.
fn asked_for(chain: &Chain<'_, '_>, tiles: &Tiles, member: usize) -> Result<Vec<Span>, Refusal> {
    let nest = chain.nests[member];
    let mut spans: Vec<Span> = nest.extents().into_iter().map(Span::whole).collect();
    let links = chain.links.iter().filter(|link| link.maker == member);
    // A member that has no tile yet is no ancestor of the last one, and takes what is there.
    let links: Vec<_> = links.filter(|link| !tiles.spans[link.reader].is_empty()).collect();
    if links.is_empty() {
        return Err(Refusal::Unasked { member });
    }
    for (dim, digits) in digits(chain, member)?.into_iter().enumerate() {
        let asks = links.iter().map(|link| {
            let read = chain.nests[link.reader].reads()[link.read];
            let index = &chain.merged(member, read)[dim];
            let (start, size) = asked(index, &tiles.spans[link.reader]);
            let first = digits.first().map_or(0, |digit| digit.first);
            Ask { member: link.reader, start: start.offset(-first), size }
        });
        cut(tiles, member, &asks.collect::<Vec<_>>(), &digits, &mut spans)?;
    }
    Ok(spans)
}

/// An axis that is, perhaps with others, a dimension that is handed over.
struct Digit {
    axis: usize,
    /// Elements of the dimension that a step along it is.
    step: u64,
    /// Position of its first point.
    first: i64,
}

/// For each dimension that a member hands over, the axes it is made of, the slowest first.
fn digits(chain: &Chain<'_, '_>, member: usize) -> Result<Vec<Vec<Digit>>, Refusal> {
    let nest = chain.nests[member];
    if !nest.captures.is_empty() {
        return Err(Refusal::Computed { member });
    }
    let output = &nest.outputs[0];
    let groups = groups(&output.shape, &chain.handed[member]);
    let digit = |several: bool, (dim, step): (usize, u64)| {
        let index = &output.index[dim];
        let axis = index.as_moved_axis();
        // Several axes in a row fill the dimension, each its own.
        let fills = |axis: &usize| !several || nest.axes[*axis].extent == output.shape[dim];
        let axis = axis.filter(fills).ok_or_else(|| {
            let index = written(index);
            Refusal::NotInvertible { member, dim, index }
        })?;
        Ok(Digit { axis, step, first: index.constant })
    };
    let all = |dims: &Vec<(usize, u64)>| {
        dims.iter().map(|one| digit(dims.len() > 1, *one)).collect::<Result<Vec<_>, _>>()
    };
    groups.iter().map(all).collect()
}

/// Cuts the axes of a dimension so that the tile holds what is asked for.
fn cut(
    tiles: &Tiles,
    member: usize,
    asks: &[Ask],
    digits: &[Digit],
    spans: &mut [Span],
) -> Result<(), Refusal> {
    let mut moves: Vec<usize> = Vec::new();
    for ask in asks {
        for (factor, span) in ask.start.coefficients.iter().zip(&tiles.spans[ask.member]) {
            if *factor != 0 {
                moves.extend(&span.moves);
            }
        }
    }
    moves.sort_unstable();
    moves.dedup();
    let Some(outermost) = digits.first() else { return Ok(()) };
    let whole = spans[outermost.axis].extent * outermost.step;
    if let ([digit], Some((size, clamped))) = (digits, tiles.asked_once(asks, whole))
        && digit.step == 1
    {
        let extent = spans[digit.axis].extent;
        let span = Span { asks: asks.to_vec(), size, clamped, moves, ..Span::whole(extent) };
        spans[digit.axis] = if size == extent { Span::whole(extent) } else { span };
        return Ok(());
    }
    // Begin and end, for every place of the group's tile.
    let mut places = Vec::new();
    let mut clamped = false;
    let most: u64 = asks.iter().map(|ask| ask.size).sum();
    let mut apart = None;
    let mut lowest = Vec::new();
    tiles.each_place(&moves, member, &mut |place| {
        let first = |ask: &Ask| tiles.first(ask, place);
        let low = asks.iter().map(first).min().unwrap_or(0);
        let high = asks.iter().map(|ask| first(ask) + ask.size as i64).max().unwrap_or(0);
        if high - low > most as i64 {
            apart = Some((high - low) as u64);
        }
        clamped |= low < 0 || high > whole as i64;
        lowest.push(low);
        let inside = |at: i64| at.clamp(0, whole as i64) as u64;
        places.push((inside(low), inside(high)));
    })?;
    if let (Some(apart), [one, .., other]) = (apart, asks) {
        return Err(Refusal::Conflict { member, one: one.size, other: other.size, apart });
    }
    let mut within = None;
    for digit in digits {
        let span = &mut spans[digit.axis];
        let points = |&(low, high): &(u64, u64)| {
            let last = high.max(low + 1) - 1;
            last / digit.step - low / digit.step + 1
        };
        let size = places.iter().map(points).max().unwrap_or(1).min(span.extent);
        *span = Span {
            asks: asks.to_vec(),
            over: digit.step,
            within,
            size,
            moves: moves.clone(),
            ..Span::whole(span.extent)
        };
        let outside = |&(low, _): &(u64, u64)| {
            let at = low / digit.step;
            within.map_or(at, |within| at % within) + size > span.extent
        };
        span.clamped = clamped || places.iter().any(outside);
        if size == span.extent {
            *span = Span::whole(span.extent);
        } else {
            let starts = lowest.iter().map(|&low| u32::try_from(span.place(low)).ok());
            span.starts = starts.collect();
        }
        if size > 1 {
            break;
        }
        for (low, high) in &mut places {
            let inside = *low % digit.step;
            (*low, *high) = (inside, inside + (*high - *low).max(1));
        }
        let inner = digits.iter().skip_while(|other| other.axis != digit.axis).nth(1);
        within = inner.map(|inner| digit.step / inner.step);
    }
    Ok(())
}

/// The spans of a member that nothing inside reads: beside those that make what it reads.
fn beside(chain: &Chain<'_, '_>, tiles: &Tiles, member: usize) -> Result<Vec<Span>, Refusal> {
    let nest = chain.nests[member];
    let mut spans: Vec<Span> = nest.extents().into_iter().map(Span::whole).collect();
    let links: Vec<&Link> = chain.links.iter().filter(|link| link.reader == member).collect();
    if links.is_empty() {
        return Err(Refusal::Unasked { member });
    }
    // An axis of its own that is one of a maker's, point by point.
    let pairs = |link: &Link| -> Result<Vec<(usize, usize)>, Refusal> {
        let read = chain.merged(link.maker, nest.reads()[link.read]);
        let pair = |(index, digits): (&Linear, Vec<Digit>)| {
            let [digit] = &digits[..] else { return None };
            let own = index.as_moved_axis()?;
            let maker = &tiles.spans[link.maker][digit.axis];
            let same = index.constant == digit.first && maker.extent == nest.axes[own].extent;
            // A part of a fold is none of what it gives.
            let cut = maker.size < maker.extent && !nest.reduces(own);
            (same && cut).then_some((own, digit.axis))
        };
        Ok(read.iter().zip(digits(chain, link.maker)?).filter_map(pair).collect())
    };
    for link in &links {
        for (own, axis) in pairs(link)? {
            let maker = &tiles.spans[link.maker][axis];
            let start = Linear::axis(chain.nests[link.maker].axes.len(), axis);
            let asks = vec![Ask { member: link.maker, start, size: maker.size }];
            let (size, moves) = (maker.size, maker.moves.clone());
            spans[own] = Span { asks, size, moves, ..Span::whole(maker.extent) };
        }
    }
    for link in links {
        let paired = pairs(link)?;
        for (axis, maker) in tiles.spans[link.maker].iter().enumerate() {
            let same =
                paired.iter().any(|&(own, other)| other == axis && !spans[own].moves.is_empty());
            if maker.size < maker.extent && !same {
                return Err(Refusal::Beyond { member });
            }
        }
    }
    Ok(spans)
}
