//! `#tile.schedule`: how the tiles of a nest are walked, held in registers and moved.

use crate::ir::{Attribute, Context, attr, parts};

/// The decisions about a nest beside its rTiles and its instruction (`#tile.schedule`).
///
/// The default is the plainest: loops in the order of the axes, nothing written out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The loops over tiles, outermost first: every parallel axis. Empty for the axes' order.
    pub order: Vec<usize>,
    /// The axis along which tiles are longer where they end ragged along those that are looped over
    /// before it, as many times as they are shorter there; lanes do not count.
    pub grow: Option<usize>,
    /// The axes in whose order the registers of a tile are worked on, slowest first. Axes that
    /// are not named come behind these.
    pub rows: Vec<usize>,
    /// The innermost reductions, along which windows slide over the rows.
    pub slide: Vec<usize>,
    /// Reductions that are written out.
    pub unroll: Vec<usize>,
    /// The axis along which registers are stored after a transpose.
    pub transpose: Option<usize>,
    /// The row axis whose lanes are combined for all rows at once.
    pub combine_rows: Option<usize>,
    /// The move that stores whole registers past the caches.
    pub stream: Option<String>,
    /// The move, of an engine, by which tiles of later steps are brought.
    pub ahead: Option<String>,
    /// The rTasks along each axis that run at the same time on neighbouring units. Empty for 1 each.
    pub cluster: Vec<u64>,
    /// The rTasks along each axis that are begun before the next ones behind. Empty for row by row.
    pub bands: Vec<u64>,
    /// The memory in which inputs with borders are laid out.
    pub border: Option<String>,
    /// For each input with a border, in how many interleaved parts its rows lie. Empty for 1.
    pub phases: Vec<u64>,
    /// The lanes of a group along each axis. Empty where all are along one.
    pub spread: Vec<u64>,
    /// Axes along which neighbours belong to different instructions of a group.
    pub interleave: Vec<usize>,
    /// For each operand of the instruction the number of the nest's, inputs before outputs, or
    /// `None` for ones everywhere. Empty for the first way in which it does the body.
    pub operands: Vec<Option<usize>>,
    /// Pipeline stages: steps of a reduction whose inputs have buffers at the same time, at least 1.
    pub stages: u64,
    /// Points side by side that each lane takes of a tile along the lanes, at least 1.
    pub neighbours: u64,
    /// Turns in which groups go through an rTask, each a barrier behind the ones before, at least 1.
    pub turns: u64,
    /// RTasks that are in a unit at the same time, at least 1.
    pub resident: u64,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            order: Vec::new(),
            grow: None,
            rows: Vec::new(),
            slide: Vec::new(),
            unroll: Vec::new(),
            transpose: None,
            combine_rows: None,
            stream: None,
            ahead: None,
            cluster: Vec::new(),
            bands: Vec::new(),
            border: None,
            phases: Vec::new(),
            spread: Vec::new(),
            interleave: Vec::new(),
            operands: Vec::new(),
            stages: 1,
            neighbours: 1,
            turns: 1,
            resident: 1,
        }
    }
}

impl Schedule {
    /// The schedule that an attribute writes; `None` where it is none, or has negative numbers.
    pub fn of(attribute: Attribute<'_>) -> Option<Self> {
        let fields = parts::schedule(attribute)?;
        let number = |number: i64| u64::try_from(number).ok();
        let numbers = |list: Option<Attribute<'_>>| match list {
            Some(list) => attr::ints(list)?.into_iter().map(number).collect(),
            None => Some(Vec::new()),
        };
        let operands = |list: Option<Attribute<'_>>| match list {
            Some(list) => attr::ints(list).map(|list| {
                list.into_iter().map(|operand| usize::try_from(operand).ok()).collect()
            }),
            None => Some(Vec::new()),
        };
        let axes = |list| Some(numbers(list)?.into_iter().map(|axis| axis as usize).collect());
        let axis = |axis: Option<i64>| match axis {
            Some(axis) => usize::try_from(axis).ok().map(Some),
            None => Some(None),
        };
        let name = |symbol: Option<_>| symbol.and_then(attr::symbol).map(str::to_owned);
        Some(Self {
            order: axes(fields.order)?,
            grow: axis(fields.grow)?,
            rows: axes(fields.rows)?,
            slide: axes(fields.slide)?,
            unroll: axes(fields.unroll)?,
            transpose: axis(fields.transpose)?,
            combine_rows: axis(fields.combine_rows)?,
            stream: name(fields.stream),
            ahead: name(fields.ahead),
            cluster: numbers(fields.cluster)?,
            bands: numbers(fields.bands)?,
            border: name(fields.border),
            phases: numbers(fields.phases)?,
            spread: numbers(fields.spread)?,
            interleave: axes(fields.interleave)?,
            operands: operands(fields.operands)?,
            stages: number(fields.stages)?.max(1),
            neighbours: number(fields.neighbours)?.max(1),
            turns: number(fields.turns)?.max(1),
            resident: number(fields.resident)?.max(1),
        })
    }

    /// The attribute, without what is left out; `None` for the plainest schedule.
    pub fn to_attr<'c>(&self, context: &'c Context) -> Option<Attribute<'c>> {
        if *self == Self::default() {
            return None;
        }
        let list = |numbers: &mut dyn Iterator<Item = i64>| {
            let numbers: Vec<i64> = numbers.collect();
            (!numbers.is_empty()).then(|| attr::of_ints(context, &numbers))
        };
        let axes = |axes: &[usize]| list(&mut axes.iter().map(|&axis| axis as i64));
        let numbers = |own: &[u64]| list(&mut own.iter().map(|&number| number as i64));
        let symbol =
            |name: &Option<String>| name.as_ref().map(|name| attr::of_symbol(context, name));
        let fields = parts::ScheduleFields {
            order: axes(&self.order),
            grow: self.grow.map(|axis| axis as i64),
            rows: axes(&self.rows),
            slide: axes(&self.slide),
            unroll: axes(&self.unroll),
            transpose: self.transpose.map(|axis| axis as i64),
            combine_rows: self.combine_rows.map(|axis| axis as i64),
            stream: symbol(&self.stream),
            ahead: symbol(&self.ahead),
            cluster: numbers(&self.cluster),
            bands: numbers(&self.bands),
            border: symbol(&self.border),
            phases: numbers(&self.phases),
            spread: numbers(&self.spread),
            interleave: axes(&self.interleave),
            operands: list(
                &mut self.operands.iter().map(|own| own.map_or(-1, |number| number as i64)),
            ),
            stages: self.stages as i64,
            neighbours: self.neighbours as i64,
            turns: self.turns as i64,
            resident: self.resident as i64,
        };
        Some(parts::of_schedule(context, &fields))
    }

    /// The loops over tiles, outermost first, of a nest whose parallel axes are these.
    pub fn loops(&self, parallel: impl Iterator<Item = usize>) -> Vec<usize> {
        if self.order.is_empty() { parallel.collect() } else { self.order.clone() }
    }
}
