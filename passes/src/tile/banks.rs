//! Bank conflicts, counted: how a tile lies in a memory of banks, and what that costs.
//!
//! ```text
//! place(row, col) = swizzle(row · pitch + col)
//! swizzle(x)      = x ^ ((x >> shift) & ((1 << bits) - 1) << keep)
//! ```
//!
//! An access is what all lanes of a group ask for at once. The memory serves as many lanes
//! at a time as their widths fill its banks once; of those, each bank gives one word a
//! turn, and lanes that want the same word share it. Turns are counted by enumerating the
//! lanes, never estimated, so a layout can be chosen by the number that the memory takes.
//!
//! Padding is Roller's storage alignment (OSDI'22, section 3.2 rule 3); swizzles exchange
//! pieces of a row instead and take no room.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};

use rustc_hash::FxHashMap;
use weft_dialects::device::Memory;

/// The banks of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Banks {
    /// Number of banks.
    pub count: u64,
    /// Bytes of a word, which a bank gives in one turn.
    pub word_bytes: u64,
}

impl Banks {
    /// Those of a memory; `None` where it states none.
    pub fn of(memory: &Memory<'_>) -> Option<Self> {
        Some(Self { count: memory.banks()?, word_bytes: memory.bank_bytes()? })
    }

    /// Lanes that are served together where each wants `width` bytes.
    pub fn together(self, width: u64) -> usize {
        let all = self.count * self.word_bytes;
        (all / width.max(self.word_bytes)).max(1) as usize
    }

    /// Turns that one access takes: `lanes` are the addresses in bytes, `None` for a lane
    /// that wants nothing.
    ///
    /// ```
    /// # use weft_passes::tile::banks::Banks;
    /// let banks = Banks { count: 32, word_bytes: 4 };
    /// let column = |pitch: u64| (0..32).map(|row| Some(row * pitch * 4)).collect::<Vec<_>>();
    /// assert_eq!(banks.turns(&column(32), 4), 32);
    /// assert_eq!(banks.turns(&column(33), 4), 1);
    /// ```
    pub fn turns(self, lanes: &[Option<u64>], width: u64) -> u64 {
        let (mut wanted, groups) = (Wanted::of(self), lanes.chunks(self.together(width)));
        groups.map(|group| wanted.depth(group.iter().flatten().copied(), width)).sum()
    }

    /// Words that the busiest bank gives, where `width` bytes are wanted at each of these
    /// addresses at once.
    pub fn depth(self, addresses: impl Iterator<Item = u64>, width: u64) -> u64 {
        Wanted::of(self).depth(addresses, width)
    }

    /// Turns that an access takes without conflicts.
    pub fn least(self, lanes: &[Option<u64>], width: u64) -> u64 {
        let groups = lanes.chunks(self.together(width));
        groups.filter(|group| group.iter().any(Option::is_some)).count() as u64
    }
}

/// The words that are wanted of each bank, one access after the other.
struct Wanted {
    /// Bytes of a word, and banks.
    word: Divisor,
    count: Divisor,
    words: Vec<Vec<u64>>,
}

impl Wanted {
    fn of(banks: Banks) -> Self {
        let [word, count] = [banks.word_bytes, banks.count].map(Divisor::new);
        Self { word, count, words: vec![Vec::new(); banks.count as usize] }
    }

    /// See [`Banks::depth`].
    fn depth(&mut self, addresses: impl Iterator<Item = u64>, width: u64) -> u64 {
        let Self { word, count, .. } = *self;
        self.words.iter_mut().for_each(Vec::clear);
        let mut depth = 0;
        for at in addresses {
            for word in word.quotient(at)..=word.quotient(at + width - 1) {
                let own = &mut self.words[count.remainder(word) as usize];
                if !own.contains(&word) {
                    own.push(word);
                    depth = depth.max(own.len());
                }
            }
        }
        depth as u64
    }
}

/// A number that is mostly a power of two, by which addresses are divided many times.
#[derive(Clone, Copy)]
struct Divisor {
    number: u64,
    shift: Option<u32>,
}

impl Divisor {
    fn new(number: u64) -> Self {
        Self { number, shift: number.is_power_of_two().then(|| number.trailing_zeros()) }
    }

    fn quotient(self, of: u64) -> u64 {
        self.shift.map_or_else(|| of / self.number, |shift| of >> shift)
    }

    fn remainder(self, of: u64) -> u64 {
        self.shift.map_or_else(|| of % self.number, |_| of & (self.number - 1))
    }
}

/// Exchanges runs of `1 << keep` elements: see the head of this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    /// Bits of a place that are exchanged.
    pub bits: u32,
    /// The lowest of them; what is below stays side by side.
    pub keep: u32,
    /// Distance from them up to the bits that they are combined with.
    pub shift: u32,
}

impl Swizzle {
    /// Position of element `x`. Different positions stay different, for the upper bits of the
    /// exclusive or stay as they are.
    pub fn place(self, x: u64) -> u64 {
        x ^ ((x >> self.shift) & (((1 << self.bits) - 1) << self.keep))
    }

    /// Elements of the block within which places are exchanged.
    pub fn block(self) -> u64 {
        1 << (self.keep + self.bits)
    }
}

/// Layout of a tile of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Elements from one row to the next.
    pub pitch: u64,
    /// The swizzle, if any.
    pub swizzle: Option<Swizzle>,
}

impl Layout {
    /// Row after row.
    pub fn plain(columns: u64) -> Self {
        Self { pitch: columns, swizzle: None }
    }

    /// The element, counted from the tile's first, where a row and a column lie.
    pub fn place(&self, row: u64, column: u64) -> u64 {
        let place = row * self.pitch + column;
        self.swizzle.map_or(place, |swizzle| swizzle.place(place))
    }

    /// `pitch 128, swizzle [3, 2, 5]`, for people.
    pub fn describe(&self, columns: u64) -> String {
        match self.swizzle {
            Some(Swizzle { bits, keep, shift }) => format!("xor swizzle [{bits}, {keep}, {shift}]"),
            None if self.pitch > columns => format!("padded by {}", self.pitch - columns),
            None => "plain".to_owned(),
        }
    }
}

/// Addresses of a tile that the lanes of a group access at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Elements that each lane asks for, side by side in a row.
    pub elements: u64,
    /// Row and column of the first, `None` for a lane that asks for nothing.
    pub lanes: Vec<Option<(u64, u64)>>,
    /// Number of times that it is made.
    pub times: u64,
}

impl Hash for Access {
    /// A number for each lane, for these are many and asked for often.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { elements, lanes, times } = self;
        (elements, times, lanes.len()).hash(state);
        for lane in lanes {
            state.write_u64(lane.map_or(u64::MAX, |(row, column)| row.rotate_left(32) ^ column));
        }
    }
}

/// Cuts a list of places, each given for every lane, into those that one access takes:
/// neighbours for every lane, in whole runs, at most `most` of them, a power of two. Places
/// are taken in the order in which they lie, and where one is not known, as they come; that one
/// stays alone. Of places that are there several times the first ones belong together, then the second.
///
/// ```
/// # use weft_passes::tile::banks::runs;
/// let places = [Some(vec![2, 10]), Some(vec![0, 8]), Some(vec![1, 9])];
/// assert_eq!(runs(&places, 4), [vec![1, 2], vec![0]]);
/// let places = [Some(vec![2, 10]), Some(vec![3, 11]), None];
/// assert_eq!(runs(&places, 4), [vec![0, 1], vec![2]]);
/// let places = [Some(vec![0]), Some(vec![1]), Some(vec![0]), Some(vec![1])];
/// assert_eq!(runs(&places, 2), [vec![0, 1], vec![2, 3]]);
/// ```
pub fn runs(places: &[Option<Vec<i64>>], most: u64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    if places.iter().all(Option::is_some) {
        let mut times: FxHashMap<&[i64], usize> = FxHashMap::default();
        let before: Vec<usize> = places
            .iter()
            .flatten()
            .map(|place| {
                let count = times.entry(place).or_default();
                *count += 1;
                *count
            })
            .collect();
        order.sort_by_key(|&place| (before[place], &places[place]));
    }
    let neighbours = |first: usize, count: usize| {
        let Some(Some(begin)) = order.get(first).map(|&place| &places[place]) else { return false };
        begin.iter().all(|at| at.rem_euclid(count as i64) == 0)
            && (1..count).all(|n| match order.get(first + n).map(|&place| &places[place]) {
                Some(Some(own)) => own.iter().zip(begin).all(|(own, at)| *own == at + n as i64),
                _ => false,
            })
    };
    let (mut found, mut first) = (Vec::new(), 0);
    while first < places.len() {
        let mut count = most.max(1) as usize;
        while count > 1 && !neighbours(first, count) {
            count /= 2;
        }
        found.push(order[first..first + count].to_vec());
        first += count;
    }
    found
}

/// Turns of a list of accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Cycles that they take.
    pub taken: u64,
    /// Cycles that they would take without a conflict.
    pub least: u64,
}

impl Turns {
    /// Turns per turn that would do: 1 without a conflict.
    pub fn degree(self) -> f64 {
        self.taken as f64 / self.least.max(1) as f64
    }
}

/// The turns of accesses to a tile that lies in a layout.
pub fn count(banks: Banks, layout: &Layout, accesses: &[Access], elem_bytes: u64) -> Turns {
    count_below(banks, layout, accesses, elem_bytes, u64::MAX).expect("no number is above")
}

/// The same, if conflicts take fewer than `most` turns; most layouts show early that theirs take more.
fn count_below(
    banks: Banks,
    layout: &Layout,
    accesses: &[Access],
    elem_bytes: u64,
    most: u64,
) -> Option<Turns> {
    let (mut wanted, mut sum) = (Wanted::of(banks), Turns::default());
    for access in accesses {
        let width = access.elements * elem_bytes;
        for lanes in access.lanes.chunks(banks.together(width)) {
            let asking = lanes.iter().flatten();
            let addresses = asking.map(|&(row, column)| layout.place(row, column) * elem_bytes);
            let depth = wanted.depth(addresses, width);
            sum.taken += access.times * depth;
            sum.least += access.times * depth.min(1);
        }
        if sum.taken - sum.least >= most {
            return None;
        }
    }
    Some(sum)
}

/// Roller's padding: what is added to rows of `columns` elements so that rows of a sub-tile
/// of `sub` columns begin in different banks (OSDI'22, section 3.2; as shipped:
/// `(banks + ⌈sub⌉ − columns mod banks) mod banks`, in elements, `⌈ ⌉` to whole words).
///
/// ```
/// # use weft_passes::tile::banks::{Banks, padding};
/// let banks = Banks { count: 32, word_bytes: 4 };
/// assert_eq!(padding(banks, 128, 1, 4), 1);
/// assert_eq!(padding(banks, 128, 1, 2), 2);
/// ```
pub fn padding(banks: Banks, columns: u64, sub: u64, elem_bytes: u64) -> u64 {
    let word = (banks.word_bytes / elem_bytes).max(1);
    let row = banks.count * word;
    (row + sub.next_multiple_of(word) - columns % row) % row
}

/// A tile to be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Its rows.
    pub rows: u64,
    /// Elements of a row.
    pub columns: u64,
    /// Bytes of an element.
    pub elem_bytes: u64,
    /// Elements that must stay side by side, a power of two.
    pub run: u64,
}

/// A layout that was chosen, and what it brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The layout.
    pub layout: Layout,
    /// Turns row after row.
    pub before: Turns,
    /// Turns as it is.
    pub after: Turns,
}

/// The layout of the fewest turns that takes no more than `room` elements.
///
/// Among equals the simplest wins: row after row, then padded by the least, then swizzled. A
/// padded place is a sum whose constants go into the access; a swizzled one needs an address
/// of its own, which a thread keeps in a register, and so is for where padding has no room
/// or does not do.
pub fn choose(banks: Banks, tile: Tile, room: u64, accesses: &[Access]) -> Choice {
    kept((banks, tile, room, true), accesses, || {
        best_of(banks, tile, room, accesses, swizzled(banks, tile))
    })
}

/// The best one of rows that are padded alone. Accesses that are written out then have one address
/// and numbers beside it, where each has an address of its own in rows that are swizzled.
pub fn choose_padded(banks: Banks, tile: Tile, room: u64, accesses: &[Access]) -> Choice {
    kept((banks, tile, room, false), accesses, || {
        best_of(banks, tile, room, accesses, std::iter::empty())
    })
}

/// What a layout is chosen for: with the accesses it decides the answer.
type Asked = (Banks, Tile, u64, bool);

/// Answers that are kept at once.
const MOST_KEPT: usize = 1 << 14;

/// The answer to what was asked before, or a new one. Kernels of one model, and the passes one after the
/// other, ask for the same tiles again and again; of accesses 128 bits of their hashes tell.
fn kept(asked: Asked, accesses: &[Access], choose: impl FnOnce() -> Choice) -> Choice {
    thread_local! {
        static KEPT: RefCell<FxHashMap<(Asked, [u64; 2]), Choice>> = RefCell::default();
    }
    let mut hasher = DefaultHasher::new();
    accesses.hash(&mut hasher);
    let low = hasher.finish();
    hasher.write_u8(0);
    let key = (asked, [low, hasher.finish()]);
    if let Some(known) = KEPT.with_borrow(|kept| kept.get(&key).copied()) {
        return known;
    }
    let choice = choose();
    KEPT.with_borrow_mut(|kept| {
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, choice);
    });
    choice
}

fn best_of(
    banks: Banks,
    tile: Tile,
    room: u64,
    accesses: &[Access],
    others: impl Iterator<Item = Layout>,
) -> Choice {
    let plain = Layout::plain(tile.columns);
    let before = count(banks, &plain, accesses, tile.elem_bytes);
    let mut best = Choice { layout: plain, before, after: before };
    let padded = padded(banks, tile).take_while(|layout| layout.pitch * tile.rows <= room);
    for layout in padded.chain(others) {
        if best.after.taken == before.least {
            break;
        }
        // What they take without conflicts is the same in every layout.
        let most = best.after.taken - best.after.least;
        if let Some(after) = count_below(banks, &layout, accesses, tile.elem_bytes, most) {
            best = Choice { layout, before, after };
        }
    }
    best
}

/// Pitches that keep runs whole, up to one more row of banks.
fn padded(banks: Banks, tile: Tile) -> impl Iterator<Item = Layout> {
    let row = (banks.count * banks.word_bytes / tile.elem_bytes).max(tile.run);
    let step = tile.run as usize;
    let pitch = move |more: u64| Layout { pitch: tile.columns + more, swizzle: None };
    (tile.run..row).step_by(step).map(pitch)
}

/// Swizzles that keep runs whole and stay inside the tile.
fn swizzled(banks: Banks, tile: Tile) -> impl Iterator<Item = Layout> {
    let words = banks.count * banks.word_bytes / tile.elem_bytes;
    let size = tile.rows * tile.columns;
    let (low, high) = (tile.run.trailing_zeros(), words.max(1).ilog2());
    (low..high)
        .flat_map(move |keep| (1..=high - keep).map(move |bits| (keep, bits)))
        .flat_map(move |(keep, bits)| (bits..=12).map(move |shift| Swizzle { bits, keep, shift }))
        .filter(move |swizzle| {
            let reaches = size >> (swizzle.keep + swizzle.shift) > 0;
            reaches && size.is_multiple_of(swizzle.block())
        })
        .map(move |swizzle| Layout { pitch: tile.columns, swizzle: Some(swizzle) })
}
