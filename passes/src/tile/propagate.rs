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
//! Sizes are found by trying every place of the group's tile, along the axes that matter for an
//! axis: each tile holds what its readers' tiles read, whatever the factors are.

use weft_dialects::ir::Linear;

use crate::nest::{Access, Border, Nest};

/// Places of the group's tile that are tried for one axis, at most.
const MOST_PLACES: u64 = 1 << 14;

/// Kernels that hand tensors to each other, each before those that read it; the last one's
/// tile is the group's.
#[derive(Clone)]
pub struct Chain<'n, 'c> {
    /// What each computes, one output each.
    pub nests: Vec<&'n Nest<'c>>,
    /// Who reads what the others make.
    pub links: Vec<Link>,
    /// For each member the dimensions in which what it makes is handed over.
    pub handed: Vec<Vec<u64>>,
}

/// A read of what another member makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The member that reads.
    pub reader: usize,
    /// Which of its [`Nest::reads`].
    pub read: usize,
    /// The member whose output it is.
    pub maker: usize,
}

/// What is asked for along a dimension that is handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The member that asks.
    pub member: usize,
    /// Where it begins, over the axes of that member, at its tile's first point.
    pub start: Linear,
    /// How many elements it is.
    pub size: u64,
}

/// A tile along one axis of a member: from `lowest ask / over % within` on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Who asks for it; nobody for a whole axis and for the group's tile itself.
    pub asks: Vec<Ask>,
    /// Elements of the dimension that one step along the axis is.
    pub over: u64,
    /// Points after which the axis begins anew along the dimension, if it is not the outermost.
    pub within: Option<u64>,
    /// Points of it.
    pub size: u64,
    /// Points of the axis.
    pub extent: u64,
    /// Whether it would begin or end outside of the axis for some tile.
    pub clamped: bool,
    /// The axes of the last member that it moves with.
    pub moves: Vec<usize>,
}

impl Span {
    fn whole(extent: u64) -> Self {
        Self { size: extent, extent, over: 1, ..Self::default() }
    }

    fn place(&self, lowest: i64) -> i64 {
        let at = lowest.max(0) / self.over as i64;
        let at = self.within.map_or(at, |within| at % within as i64);
        at.clamp(0, (self.extent - self.size) as i64)
    }
}

/// Why a group has no tiles. Members are counted from 0, in their order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The tile of an output does not say which points make it.
    #[error(
        "dimension {dim} of what member {member} makes is {index}, not one axis: which points make a tile is not known"
    )]
    NotInvertible {
        /// The member.
        member: usize,
        /// Of its output.
        dim: usize,
        /// Over its axes.
        index: String,
    },
    /// Two readers ask for tiles that move apart.
    #[error(
        "readers of member {member} ask for tiles of {one} and {other} elements that lie {apart} apart: no one tile serves both"
    )]
    Conflict {
        /// The member.
        member: usize,
        /// Size of one.
        one: u64,
        /// Size of the other.
        other: u64,
        /// Elements from the begin of the first to the end of the last.
        apart: u64,
    },
    /// A member that nothing inside reads has points that no tile of the others leads to.
    #[error("a tile of member {member} reads more than the tiles that its makers have")]
    Beyond {
        /// The member.
        member: usize,
    },
    /// Nobody inside says which tile of a member is needed.
    #[error("nothing in the group reads member {member}, nor makes what it reads")]
    Unasked {
        /// The member.
        member: usize,
    },
    /// Too many places to try.
    #[error(
        "{places} places of the tile, more than {MOST_PLACES}, decide the size of that of member {member}"
    )]
    Places {
        /// The member.
        member: usize,
        /// How many.
        places: u64,
    },
    /// A tensor that is read at computed addresses.
    #[error("member {member} reads at addresses that it computes")]
    Computed {
        /// The member.
        member: usize,
    },
    /// A tile that is cut where a plane with a border is read whole.
    #[error("member {member} reads past the ends of what a tile holds only some columns of")]
    Border {
        /// The member that reads.
        member: usize,
    },
    /// A member of several outputs.
    #[error("member {member} has {outputs} outputs, members have one")]
    Outputs {
        /// The member.
        member: usize,
        /// How many.
        outputs: usize,
    },
    /// Nothing to compute.
    #[error("what member {member} makes has no elements")]
    Empty {
        /// The member.
        member: usize,
    },
}

/// The tiles of all members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// For each member a span per axis.
    pub spans: Vec<Vec<Span>>,
    /// How many tiles the last member has along each of its axes; 1 where it reduces.
    pub grid: Vec<u64>,
}

/// Who of some nests reads what others of them make, by the tensors of their accesses.
pub fn links(nests: &[&Nest<'_>]) -> Vec<Link> {
    let mut found = Vec::new();
    for (reader, nest) in nests.iter().enumerate() {
        for (read, access) in nest.reads().into_iter().enumerate() {
            let makes = |nest: &&Nest<'_>| nest.outputs[0].argument() == access.argument();
            let maker = nests[..reader].iter().rposition(makes);
            found.extend(maker.map(|maker| Link { reader, read, maker }));
        }
    }
    found
}

impl<'n, 'c> Chain<'n, 'c> {
    /// Members and who reads what they make.
    pub fn new(nests: Vec<&'n Nest<'c>>, links: Vec<Link>) -> Self {
        let handed = (0..nests.len())
            .map(|maker| {
                let mut ends = ends(&nests[maker].outputs[0].shape);
                for link in links.iter().filter(|link| link.maker == maker) {
                    let seen = self::ends(&nests[link.reader].reads()[link.read].shape_in_memory());
                    ends.retain(|end| seen.contains(end));
                }
                ends.windows(2).map(|pair| pair[0] / pair[1].max(1)).collect()
            })
            .collect();
        Self { nests, links, handed }
    }

    /// An access to what `maker` makes, in the dimensions in which it is handed over.
    pub fn merged(&self, maker: usize, access: &Access<'c>) -> Vec<Linear> {
        merged(access, &self.handed[maker])
    }

    /// Whether some member reads what `member` makes.
    pub fn is_read(&self, member: usize) -> bool {
        self.links.iter().any(|link| link.maker == member)
    }
}

/// Elements behind which a dimension begins, from all of them to one.
fn ends(shape: &[u64]) -> Vec<u64> {
    let mut ends = vec![1];
    for size in shape.iter().rev().filter(|&&size| size != 1) {
        ends.push(ends[ends.len() - 1] * size);
    }
    ends.reverse();
    ends
}

/// The dimensions of `shape` that are merged to each of `handed`: which, and the elements of
/// the merged one between neighbours.
pub fn groups(shape: &[u64], handed: &[u64]) -> Vec<Vec<(usize, u64)>> {
    let mut found = vec![Vec::new(); handed.len()];
    let mut dim = shape.len();
    for (group, &size) in found.iter_mut().zip(handed).rev() {
        let mut step = 1;
        while dim > 0 && step < size {
            dim -= 1;
            if shape[dim] != 1 {
                group.insert(0, (dim, step));
                step *= shape[dim];
            }
        }
    }
    found
}

/// Where an access touches a tensor that is seen in the dimensions `handed`.
pub fn merged(access: &Access<'_>, handed: &[u64]) -> Vec<Linear> {
    let index = access.index_in_memory();
    let axes = index.first().map_or(0, |index| index.coefficients.len());
    let merge = |dims: Vec<(usize, u64)>| {
        let none = Linear::constant(axes, 0);
        dims.into_iter()
            .fold(none, |sum, (dim, step)| sum.add(&index[dim].clone().scale(step as i64)))
    };
    groups(&access.shape_in_memory(), handed).into_iter().map(merge).collect()
}

/// The tiles of all members for a tile of `sizes` points of the last one.
///
/// # Errors
/// Why there are none.
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
            Span { size: size(axis), moves, ..Span::whole(nest.axes[axis].extent) }
        })
        .collect();
    for member in (0..root).rev().filter(|&member| chain.is_read(member)) {
        tiles.spans[member] = asked_for(chain, &tiles, member)?;
    }
    for member in (0..root).filter(|&member| !chain.is_read(member)) {
        tiles.spans[member] = beside(chain, &tiles, member)?;
    }
    for link in &chain.links {
        bordered(chain, &tiles, link)?;
    }
    Ok(tiles)
}

/// What is read past its ends is laid out with its border row by row, so that rows are whole.
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
    // What has no tile yet lies beside, and takes what is there.
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
    /// Where its first point lies.
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
        let axis = index.clone().offset(-index.constant).as_axis();
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
    // Begin and end, for every place of the group's tile.
    let mut places = Vec::new();
    let mut clamped = false;
    let most: u64 = asks.iter().map(|ask| ask.size).sum();
    let mut apart = None;
    tiles.each_place(&moves, member, &mut |place| {
        let first = |ask: &Ask| tiles.first(ask, place);
        let low = asks.iter().map(first).min().unwrap_or(0);
        let high = asks.iter().map(|ask| first(ask) + ask.size as i64).max().unwrap_or(0);
        if high - low > most as i64 {
            apart = Some((high - low) as u64);
        }
        clamped |= low < 0 || high > whole as i64;
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
            let own = index.clone().offset(-index.constant).as_axis()?;
            let maker = &tiles.spans[link.maker][digit.axis];
            let same = index.constant == digit.first && maker.extent == nest.axes[own].extent;
            (same && maker.size < maker.extent).then_some((own, digit.axis))
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

/// An index expression for people: `2 d0 + d3 - 1`.
fn written(index: &Linear) -> String {
    let mut text = String::new();
    for (axis, &factor) in index.coefficients.iter().enumerate().filter(|(_, f)| **f != 0) {
        let sign = if factor < 0 { " - " } else { " + " };
        let times = if factor.abs() == 1 { String::new() } else { format!("{} ", factor.abs()) };
        text += &format!("{sign}{times}d{axis}");
    }
    if index.constant != 0 || text.is_empty() {
        let sign = if index.constant < 0 { " - " } else { " + " };
        text += &format!("{sign}{}", index.constant.abs());
    }
    text.trim_start_matches(" + ").trim_start().to_owned()
}

/// What `index` reads of a dimension for a tile of these spans: where it begins, over the places
/// of the spans, and how much.
fn asked(index: &Linear, spans: &[Span]) -> (Linear, u64) {
    let (mut start, mut size) = (index.clone(), 1);
    for (&factor, span) in index.coefficients.iter().zip(spans) {
        let reach = span.size.saturating_sub(1);
        if factor < 0 {
            start.constant += factor * reach as i64;
        }
        size += factor.unsigned_abs() * reach;
    }
    (start, size)
}

/// The elements of a tensor that `access` touches in a tile of these spans, per dimension, not more
/// than there are.
pub fn reach(access: &Access<'_>, spans: &[Span]) -> Vec<u64> {
    let (dims, shape) = (access.index_in_memory(), access.shape_in_memory());
    dims.iter().zip(shape).map(|(index, dim)| asked(index, spans).1.min(dim)).collect()
}

impl Tiles {
    /// How many tiles the group has.
    pub fn count(&self) -> u64 {
        self.grid.iter().product()
    }

    /// The sizes of a member's tile.
    pub fn sizes(&self, member: usize) -> Vec<u64> {
        self.spans[member].iter().map(|span| span.size).collect()
    }

    /// Calls `body` with each place of the group's tile along some axes.
    fn each_place(
        &self,
        moves: &[usize],
        member: usize,
        body: &mut dyn FnMut(&[u64]),
    ) -> Result<(), Refusal> {
        let places: u64 = moves.iter().map(|&axis| self.grid[axis]).product();
        if places > MOST_PLACES {
            return Err(Refusal::Places { member, places });
        }
        let mut place = vec![0u64; self.grid.len()];
        for number in 0..places {
            let mut rest = number;
            for &axis in moves {
                place[axis] = rest % self.grid[axis];
                rest /= self.grid[axis];
            }
            body(&place);
        }
        Ok(())
    }

    /// Where an ask begins for the group's tile at `place`, counted in tiles.
    fn first(&self, ask: &Ask, place: &[u64]) -> i64 {
        let axes = ask.start.coefficients.iter().enumerate().filter(|(_, factor)| **factor != 0);
        axes.fold(ask.start.constant, |at, (axis, factor)| {
            at + factor * self.start(ask.member, axis, place)
        })
    }

    /// The first point of a member's tile along an axis for the group's tile at `place`,
    /// counted in tiles.
    pub fn start(&self, member: usize, axis: usize, place: &[u64]) -> i64 {
        let span = &self.spans[member][axis];
        if member + 1 == self.spans.len() {
            return (place[axis] * span.size) as i64;
        }
        let lowest = span.asks.iter().map(|ask| self.first(ask, place)).min();
        lowest.map_or(0, |lowest| span.place(lowest))
    }

    /// First and last point on each axis of a member of all its tiles for the group's tiles whose
    /// places on each axis are from the first to the last of `places`.
    pub fn between(&self, member: usize, places: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let axis = |(axis, span): (usize, &Span)| {
            let all = (0, span.extent.max(1) - 1);
            let counts = span.moves.iter().map(|&own| places[own].1 - places[own].0 + 1);
            let count: u64 = counts.product();
            if count > MOST_PLACES {
                return all;
            }
            let mut place = vec![0u64; self.grid.len()];
            let mut found: Option<(u64, u64)> = None;
            for number in 0..count {
                let mut rest = number;
                for &own in &span.moves {
                    let (first, last) = places[own];
                    place[own] = first + rest % (last - first + 1);
                    rest /= last - first + 1;
                }
                let start = self.start(member, axis, &place) as u64;
                let end = (start + span.size).max(1) - 1;
                found = Some(found.map_or((start, end), |(a, z)| (a.min(start), z.max(end))));
            }
            found.unwrap_or(all)
        };
        self.spans[member].iter().enumerate().map(axis).collect()
    }

    /// Whether every point of a member is in exactly one tile of it: then what it makes can also
    /// be kept for others.
    pub fn partitions(&self, member: usize) -> bool {
        let points: u64 = self.spans[member].iter().map(|span| span.size).product();
        let whole: u64 = self.spans[member].iter().map(|span| span.extent).product();
        if points * self.count() != whole || self.count() > MOST_PLACES {
            return false;
        }
        let all: Vec<usize> = (0..self.grid.len()).collect();
        let mut seen = std::collections::HashSet::new();
        let done = self.each_place(&all, member, &mut |place| {
            let axes = 0..self.spans[member].len();
            seen.insert(axes.map(|axis| self.start(member, axis, place)).collect::<Vec<_>>());
        });
        // As many tiles of one size as fit, none of them twice, and all on a grid of that size.
        let on_grid = |starts: &Vec<i64>| {
            let spans = starts.iter().zip(&self.spans[member]);
            spans.into_iter().all(|(start, span)| *start % span.size as i64 == 0)
        };
        done.is_ok() && seen.len() as u64 == self.count() && seen.iter().all(on_grid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_written() {
        let index = Linear { constant: -1, coefficients: vec![2, 0, 1] };
        assert_eq!(written(&index), "2 d0 + d2 - 1");
        assert_eq!(written(&Linear::constant(2, 3)), "3");
    }

    #[test]
    fn dimensions_are_merged() {
        assert_eq!(ends(&[12, 1, 128]), [1536, 128, 1]);
        assert_eq!(
            groups(&[12, 128, 4, 32], &[1536, 128]),
            [vec![(0, 128), (1, 1)], vec![(2, 32), (3, 1)]]
        );
    }
}
