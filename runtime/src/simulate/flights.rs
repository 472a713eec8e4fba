//! Asynchronous operations that have not been waited for yet.
//!
//! An engine works in order, so its operations never disturb each other, and a wait for one is
//! a wait for all before it.

use std::collections::VecDeque;

use super::area::Area;
use super::prepare::Site;

/// The operations in flight of one engine.
#[derive(Debug, Default)]
pub(super) struct Flights {
    engines: Vec<Engine>,
    /// Operations under way on all engines.
    pub count: usize,
    spare: Vec<Vec<Extent>>,
}

#[derive(Debug, Default)]
struct Engine {
    given: u64,
    /// Oldest first.
    flights: VecDeque<Flight>,
}

/// An operation under way.
#[derive(Debug)]
pub(super) struct Flight {
    pub number: u64,
    /// Number of the site.
    pub site: u32,
    pub extents: Vec<Extent>,
}

/// The bytes that it touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub region: u32,
    pub base: u64,
    /// The side of the site.
    pub side: u32,
    pub writes: bool,
    low: u64,
    high: u64,
}

impl Extent {
    pub fn new(region: u32, base: u64, side: u32, area: &Area, writes: bool) -> Extent {
        let at = |relative: i64| base.wrapping_add_signed(relative);
        Extent { region, base, side, writes, low: at(area.low), high: at(area.high) }
    }
}

/// Two operations that touch the same bytes.
#[derive(Debug)]
pub(super) struct Conflict {
    pub engine: u32,
    pub site: u32,
    pub other_writes: bool,
    /// The extent of the later operation.
    pub extent: Extent,
    /// Bytes of the region.
    pub begin: u64,
    pub end: u64,
}

impl Flights {
    /// Makes the queues of some engines; nothing is in flight.
    pub fn begin(&mut self, engines: usize) {
        self.engines.resize_with(engines, Engine::default);
        for engine in &mut self.engines {
            engine.given = 0;
            engine.flights.clear();
        }
        self.count = 0;
    }

    /// The first operation that conflicts with one that `engine` (or the unit itself) would do
    /// now.
    pub fn conflict(
        &self,
        sites: &[Site],
        engine: Option<u32>,
        site: &Site,
        extents: &[Extent],
    ) -> Option<Conflict> {
        for (number, other) in self.engines.iter().enumerate() {
            if engine == Some(number as u32) {
                continue;
            }
            for flight in &other.flights {
                for theirs in &flight.extents {
                    for own in extents {
                        let apart = theirs.region != own.region
                            || !(theirs.writes || own.writes)
                            || theirs.high <= own.low
                            || own.high <= theirs.low;
                        if apart {
                            continue;
                        }
                        let area = &site.sides[own.side as usize].area;
                        let their_site = &sites[flight.site as usize];
                        let their_area = &their_site.sides[theirs.side as usize].area;
                        if let Some((begin, end)) = meet(area, own.base, their_area, theirs.base) {
                            return Some(Conflict {
                                engine: number as u32,
                                site: flight.site,
                                other_writes: theirs.writes,
                                extent: *own,
                                begin,
                                end,
                            });
                        }
                    }
                }
            }
        }
        None
    }

    /// The first operation that touches some bytes of a region.
    pub fn touching(&self, region: u32, begin: u64, end: u64) -> Option<(u32, &Flight)> {
        let engines = self.engines.iter().enumerate();
        let mut all = engines.flat_map(|(i, e)| e.flights.iter().map(move |f| (i as u32, f)));
        all.find(|(_, flight)| {
            flight.extents.iter().any(|e| e.region == region && e.low < end && begin < e.high)
        })
    }

    /// The first operation that may write some bytes of a region.
    pub fn writing(&self, region: u32, begin: u64, end: u64) -> Option<(u32, &Flight)> {
        let engines = self.engines.iter().enumerate();
        let mut all = engines.flat_map(|(i, e)| e.flights.iter().map(move |f| (i as u32, f)));
        all.find(|(_, flight)| {
            let meets = |e: &Extent| e.region == region && e.low < end && begin < e.high;
            flight.extents.iter().any(|e| e.writes && meets(e))
        })
    }

    /// Returns the oldest operation that was not waited for.
    pub fn oldest(&self) -> Option<(u32, &Flight)> {
        let engines = self.engines.iter().enumerate();
        engines.filter_map(|(i, engine)| Some((i as u32, engine.flights.front()?))).next()
    }

    /// Gives an operation to an engine and returns its number.
    pub fn give(&mut self, engine: u32, site: u32, extents: &[Extent]) -> u64 {
        let mut own = self.spare.pop().unwrap_or_default();
        own.clear();
        own.extend_from_slice(extents);
        let engine = &mut self.engines[engine as usize];
        let number = engine.given;
        engine.given += 1;
        engine.flights.push_back(Flight { number, site, extents: own });
        self.count += 1;
        number
    }

    /// Operation `number` of an engine is done, and with it all before it.
    pub fn done(&mut self, engine: u32, number: u64) {
        // A token that was ready from the beginning is no engine's.
        let Some(engine) = self.engines.get_mut(engine as usize) else { return };
        let flights = &mut engine.flights;
        while flights.front().is_some_and(|flight| flight.number <= number) {
            if let Some(flight) = flights.pop_front() {
                self.spare.push(flight.extents);
                self.count -= 1;
            }
        }
    }
}

/// The first bytes that two areas share.
fn meet(a: &Area, a_base: u64, b: &Area, b_base: u64) -> Option<(u64, u64)> {
    let sorted = |area: &Area, base: u64| {
        let mut starts: Vec<u64> =
            area.starts.iter().map(|start| base.wrapping_add_signed(*start)).collect();
        if !starts.is_sorted() {
            starts.sort_unstable();
        }
        starts
    };
    let (x, y) = (sorted(a, a_base), sorted(b, b_base));
    let (mut i, mut j) = (0, 0);
    while i < x.len() && j < y.len() {
        let (begin, end) = (x[i].max(y[j]), (x[i] + a.run).min(y[j] + b.run));
        if begin < end {
            return Some((begin, end));
        }
        if x[i] + a.run <= y[j] + b.run {
            i += 1;
        } else {
            j += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Area, meet};

    #[test]
    fn columns_of_one_matrix_do_not_meet() {
        let tile = Area::new(&[(4, 8), (4, 1)], 4);
        assert_eq!(meet(&tile, 0, &tile, 16), None);
        assert_eq!(meet(&tile, 0, &tile, 12), Some((12, 16)));
        assert_eq!(meet(&tile, 0, &tile, 64), Some((64, 80)));
    }
}
