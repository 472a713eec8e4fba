//! The order between steps.
//!
//! Each step has a clock: per unit, how many of its steps are done when it begins. A byte of
//! the arena or of an output remembers who wrote it and who has read it since; whoever touches
//! it next must come after them.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::plan::{Plan, Step};

/// Per region: who touched which bytes last.
pub(super) struct Order<'p> {
    plan: &'p Plan,
    /// Place of each step among those of its unit.
    places: Vec<u32>,
    /// Per step, the clock with which it is done.
    done: Vec<Option<Rc<[u32]>>>,
    /// Per unit, that of its last step.
    units: Vec<Rc<[u32]>>,
    /// Clock of the step that runs.
    now: Vec<u32>,
    maps: BTreeMap<u32, BTreeMap<u64, Cell>>,
}

#[derive(Clone, Debug)]
struct Cell {
    end: u64,
    /// Step and buffer.
    writer: Option<(u32, u32)>,
    readers: Vec<u32>,
}

/// A conflict between steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// Another step touched the bytes, and nothing orders the two.
    Unordered { other: u32, writes: bool, begin: u64, end: u64 },
    /// Another step wrote the bytes as another buffer.
    Overlap { other: u32, buffer: u32, begin: u64, end: u64 },
}

impl<'p> Order<'p> {
    pub fn new(plan: &'p Plan) -> Order<'p> {
        let mut count = vec![0u32; plan.units as usize];
        let mut place = |step: &Step| {
            let own = &mut count[step.unit as usize];
            *own += 1;
            *own - 1
        };
        let zero: Rc<[u32]> = vec![0; plan.units as usize].into();
        Order {
            plan,
            places: plan.steps.iter().map(&mut place).collect(),
            done: vec![None; plan.steps.len()],
            units: vec![zero; plan.units as usize],
            now: Vec::new(),
            maps: BTreeMap::new(),
        }
    }

    /// Begins a step, whose waits are all done.
    pub fn begin(&mut self, step: u32) {
        let facts = &self.plan.steps[step as usize];
        self.now.clear();
        self.now.extend_from_slice(&self.units[facts.unit as usize]);
        for clock in facts.waits.iter().filter_map(|&wait| self.done[wait as usize].as_ref()) {
            for (now, done) in self.now.iter_mut().zip(clock.iter()) {
                *now = (*now).max(*done);
            }
        }
    }

    /// Ends it.
    pub fn end(&mut self, step: u32) {
        let unit = self.plan.steps[step as usize].unit as usize;
        self.now[unit] = self.places[step as usize] + 1;
        let clock: Rc<[u32]> = self.now.as_slice().into();
        self.done[step as usize] = Some(clock.clone());
        self.units[unit] = clock;
    }

    /// Returns whether two buffers of the plan are one, seen from other elements on: they end
    /// together.
    fn is_same(&self, one: u32, other: u32) -> bool {
        let [one, other] = [one, other].map(|number| &self.plan.buffers[number as usize]);
        one.base == other.base && one.offset + one.bytes == other.offset + other.bytes
    }

    fn before(&self, other: u32) -> bool {
        let unit = self.plan.steps[other as usize].unit as usize;
        self.now[unit] > self.places[other as usize]
    }

    /// The step read these bytes, as that buffer. In the arena, bytes belong to the buffer that
    /// they were written as.
    pub fn read(
        &mut self,
        step: u32,
        region: u32,
        buffer: u32,
        arena: bool,
        ranges: &[(u64, u64)],
    ) -> Option<Clash> {
        let mut map = self.maps.remove(&region).unwrap_or_default();
        let unit = self.plan.steps[step as usize].unit;
        let mut clash = None;
        for &(begin, end) in ranges {
            cut(&mut map, begin);
            cut(&mut map, end);
            let mut gaps = Vec::new();
            let mut at = begin;
            for (&start, cell) in map.range_mut(begin..end) {
                if start > at {
                    gaps.push((at, start));
                }
                at = cell.end;
                if let Some((other, as_buffer)) = cell.writer {
                    let (begin, end) = (start, cell.end);
                    if other != step && !self.before(other) {
                        let found = Clash::Unordered { other, writes: true, begin, end };
                        clash.get_or_insert(found);
                    } else if arena && !self.is_same(as_buffer, buffer) {
                        let found = Clash::Overlap { other, buffer: as_buffer, begin, end };
                        clash.get_or_insert(found);
                    }
                }
                cell.readers.retain(|r| self.plan.steps[*r as usize].unit != unit);
                cell.readers.push(step);
            }
            if at < end {
                gaps.push((at, end));
            }
            for (begin, end) in gaps {
                map.insert(begin, Cell { end, writer: None, readers: vec![step] });
            }
        }
        self.maps.insert(region, map);
        clash
    }

    /// The step wrote these bytes, as that buffer.
    pub fn write(
        &mut self,
        step: u32,
        region: u32,
        buffer: u32,
        ranges: &[(u64, u64)],
    ) -> Option<Clash> {
        let mut map = self.maps.remove(&region).unwrap_or_default();
        let mut clash = None;
        for &(begin, end) in ranges {
            cut(&mut map, begin);
            cut(&mut map, end);
            let mut old = Vec::new();
            for (&start, cell) in map.range(begin..end) {
                old.push(start);
                let writer = cell.writer.map(|(other, _)| (other, true));
                let readers = cell.readers.iter().map(|&other| (other, false));
                for (other, writes) in writer.into_iter().chain(readers) {
                    if other != step && !self.before(other) {
                        let (begin, end) = (start, cell.end);
                        clash.get_or_insert(Clash::Unordered { other, writes, begin, end });
                    }
                }
            }
            old.into_iter().for_each(|start| drop(map.remove(&start)));
            map.insert(begin, Cell { end, writer: Some((step, buffer)), readers: Vec::new() });
        }
        self.maps.insert(region, map);
        clash
    }
}

/// Splits the cell that crosses `at`, if one does.
fn cut(map: &mut BTreeMap<u64, Cell>, at: u64) {
    let Some((_, cell)) = map.range_mut(..at).next_back() else {
        return;
    };
    if cell.end > at {
        let rest = cell.clone();
        cell.end = at;
        map.insert(at, rest);
    }
}
