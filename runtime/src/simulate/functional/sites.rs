//! One operation on data: what it may touch, and what it does.

use super::Functional;
use super::reports::does;
use crate::simulate::error::SimulateError;
use crate::simulate::flights::Extent;
use crate::simulate::frames;
use crate::simulate::machine::Scope;
use crate::simulate::prepare::{Apply, Ready, Side, Site, SiteKind};
use crate::simulate::walker::{Home, Token};

impl<'c> Functional<'_, 'c> {
    /// One operation on data.
    pub(super) fn site(
        &mut self,
        ready: &Ready<'c>,
        number: u32,
        wide: bool,
    ) -> Result<(), SimulateError> {
        let site = &ready.sites[number as usize];
        self.extents.clear();
        for (i, side) in site.sides.iter().enumerate() {
            let Some(offset) = self.walker.offset(side) else {
                return Err(self.outside(ready, site, side));
            };
            let home = self.walker.homes[side.memref as usize];
            if home == Home::NOWHERE {
                return Err(self.nowhere(ready, site.at, side.memref));
            }
            let base = home.begin.wrapping_add_signed(offset);
            let writes = side.uses.writes();
            self.extents.push(Extent::new(home.region, base, i as u32, &side.area, writes));
            if writes && self.regions[home.region as usize].is_read_only() {
                let bytes = self.touched_bytes(ready, side, base);
                let place = self.place(ready, site.at);
                return Err(SimulateError::ReadOnly { place, bytes: Box::new(bytes) });
            }
            if side.memref < ready.kernel.arguments {
                self.note(side, number, home.region, base);
            }
        }
        if self.flights.count > 0
            && let Some(found) =
                self.flights.conflict(&ready.sites, site.engine, site, &self.extents)
        {
            let side = &site.sides[found.extent.side as usize];
            return Err(SimulateError::Race {
                place: self.place(ready, site.at),
                does: does(found.extent.writes),
                bytes: Box::new(self.bytes(ready, side.memref, found.begin, found.end)),
                other: self.label(ready, found.site),
                other_does: does(found.other_writes),
                engine: self.code.machine.engines[found.engine as usize].name.clone(),
            });
        }
        if wide {
            self.across_lanes(ready, site)?;
        }
        self.check_written(ready, site)?;
        self.perform(ready, site, number)?;
        for (side, extent) in site.sides.iter().zip(&self.extents) {
            if !extent.writes {
                continue;
            }
            if let Some(bits) = &mut self.regions[extent.region as usize].written {
                for &start in &side.area.starts {
                    let begin = extent.base.wrapping_add_signed(start);
                    bits.set(begin, begin + side.area.run);
                }
            }
        }
        if let Some(engine) = site.engine {
            let number = self.flights.give(engine, number, &self.extents);
            if let Some(token) = site.token {
                self.walker.tokens[token as usize] = Some(Token { engine, number });
            }
        }
        Ok(())
    }

    /// Remembers which bytes of an argument are touched; not those that it reads where it wrote.
    pub(super) fn note(&mut self, side: &Side, number: u32, region: u32, base: u64) {
        let own = &mut self.own[region as usize];
        for writes in [false, true] {
            if !(if writes { side.uses.writes() } else { side.uses.reads() }) {
                continue;
            }
            let touched = &mut self.touched[side.memref as usize][writes as usize];
            if touched.ranges.is_empty() {
                touched.first = number;
            }
            for &start in &side.area.starts {
                let begin = base.wrapping_add_signed(start);
                let end = begin + side.area.run;
                if writes {
                    own.set(begin, end);
                } else if own.first_clear(begin, end).is_none() {
                    continue;
                }
                touched.ranges.add(begin, end);
            }
        }
    }

    pub(super) fn check_written(
        &self,
        ready: &Ready<'c>,
        site: &Site,
    ) -> Result<(), SimulateError> {
        for (side, extent) in site.sides.iter().zip(&self.extents) {
            let Some(bits) = &self.regions[extent.region as usize].written else { continue };
            if !side.uses.reads() {
                continue;
            }
            for &start in &side.area.starts {
                let begin = extent.base.wrapping_add_signed(start);
                let end = begin + side.area.run;
                if let Some(first) = bits.first_clear(begin, end) {
                    let last = bits.first_set(first, end).unwrap_or(end);
                    return Err(SimulateError::Unwritten {
                        place: self.place(ready, site.at),
                        bytes: Box::new(self.bytes(ready, side.memref, first, last)),
                    });
                }
            }
        }
        Ok(())
    }

    /// Checks accesses of a wide group's lanes to memory that other lanes of it see.
    pub(super) fn across_lanes(
        &mut self,
        ready: &Ready<'c>,
        site: &Site,
    ) -> Result<(), SimulateError> {
        let memories = &self.code.machine.memories;
        let local = |region: u32| {
            memories.get(region as usize).is_some_and(|memory| memory.scope > Scope::Warp)
                && memories[region as usize].register_bytes.is_none()
        };
        for writes in [false, true] {
            for (side, extent) in site.sides.iter().zip(&self.extents) {
                let does_it = if writes { extent.writes } else { side.uses.reads() };
                if !does_it || !local(extent.region) {
                    continue;
                }
                let found = self.lanes.find(extent.region, &side.area, extent.base, !writes);
                if let Some((begin, end)) = found {
                    return Err(SimulateError::Barrier {
                        place: self.place(ready, site.at),
                        does: does(writes),
                        bytes: Box::new(self.bytes(ready, side.memref, begin, end)),
                        other_does: if writes { "read" } else { "written" },
                        group: ready.kernel.group.name(),
                    });
                }
            }
        }
        for (side, extent) in site.sides.iter().zip(&self.extents) {
            if local(extent.region) {
                if side.uses.reads() {
                    self.lanes.mark(extent.region, &side.area, extent.base, false);
                }
                if extent.writes {
                    self.lanes.mark(extent.region, &side.area, extent.base, true);
                }
            }
        }
        Ok(())
    }

    /// Does the work.
    pub(super) fn perform(
        &mut self,
        ready: &Ready<'c>,
        site: &Site,
        number: u32,
    ) -> Result<(), SimulateError> {
        match &site.kind {
            SiteKind::Copy => {
                self.buffer.clear();
                let (from, to) = (&self.extents[0], &self.extents[1]);
                let source = self.regions[from.region as usize].bytes();
                frames::gather(source, &site.sides[0].area, from.base, &mut self.buffer);
                let target = self.regions[to.region as usize].bytes_mut();
                frames::scatter(target, &site.sides[1].area, to.base, &self.buffer);
                if let (Some(side), Some(rest)) = (site.sides.get(2), self.extents.get(2)) {
                    let target = self.regions[rest.region as usize].bytes_mut();
                    frames::fill(target, &side.area, rest.base, &[0; 8]);
                }
            }
            SiteKind::Fill { element } => {
                let to = &self.extents[0];
                let target = self.regions[to.region as usize].bytes_mut();
                frames::fill(target, &site.sides[0].area, to.base, element);
            }
            SiteKind::Invoke { instruction } => {
                let meaning = &self.meanings[*instruction as usize];
                let frame = &mut self.frames[*instruction as usize];
                frame.begin();
                for ((side, extent), tensor) in
                    site.sides.iter().zip(&self.extents).zip(&meaning.inputs)
                {
                    if let Some(tensor) = tensor {
                        let source = self.regions[extent.region as usize].bytes();
                        frame.put(*tensor, source, &side.area, extent.base);
                    }
                }
                let done = meaning.program.run_on(frame, &mut self.work.registers);
                let first = site.sides.len() - meaning.outputs.len();
                if let Err(error) = done {
                    let place = self.place(ready, site.at);
                    return Err(SimulateError::Arithmetic { place, error });
                }
                for (i, tensor) in meaning.outputs.iter().enumerate() {
                    let (side, to) = (&site.sides[first + i], &self.extents[first + i]);
                    let target = self.regions[to.region as usize].bytes_mut();
                    frames::scatter(target, &side.area, to.base, frame.get(*tensor));
                }
            }
            SiteKind::Apply(apply) => {
                let gone = |table: &&u32| self.walker.homes[**table as usize] == Home::NOWHERE;
                if let Some(&table) = apply.tables.iter().find(gone) {
                    return Err(self.nowhere(ready, site.at, table));
                }
                let (extents, walker) = (&self.extents[..], &self.walker);
                let applied = frames::Applied { apply, site, extents, ready, walker };
                applied.run(&mut self.regions, &mut self.work).map_err(|error| {
                    let place = self.place(ready, site.at);
                    SimulateError::Arithmetic { place, error }
                })?;
                self.tables(ready, site, number, apply)?;
            }
        }
        Ok(())
    }
}

/// Reads of bodies at addresses that they compute.
impl<'c> Functional<'_, 'c> {
    /// Holds what an apply looked at to the rules for everything that is read.
    pub(super) fn tables(
        &mut self,
        ready: &Ready<'c>,
        site: &Site,
        number: u32,
        apply: &Apply,
    ) -> Result<(), SimulateError> {
        let views = site.sides.len();
        for i in 0..self.work.looked_at.len() {
            let (tensor, address) = self.work.looked_at[i];
            // The tensors after the views are tables; the last may hold indices.
            let Some(&memref) = apply.tables.get((tensor as usize).wrapping_sub(views)) else {
                continue;
            };
            let home = self.walker.homes[memref as usize];
            let elem = ready.kernel.memrefs[memref as usize].ty.bytes() as u64;
            let begin = home.begin + address as u64 * elem;
            let end = begin + elem;
            if let Some(bits) = &self.regions[home.region as usize].written
                && bits.first_clear(begin, end).is_some()
            {
                let place = self.place(ready, site.at);
                let bytes = Box::new(self.bytes(ready, memref, begin, end));
                return Err(SimulateError::Unwritten { place, bytes });
            }
            if self.flights.count > 0
                && let Some((engine, flight)) = self.flights.writing(home.region, begin, end)
            {
                return Err(SimulateError::Race {
                    place: self.place(ready, site.at),
                    does: does(false),
                    bytes: Box::new(self.bytes(ready, memref, begin, end)),
                    other: self.label(ready, flight.site),
                    other_does: does(true),
                    engine: self.code.machine.engines[engine as usize].name.clone(),
                });
            }
            if memref < ready.kernel.arguments {
                let touched = &mut self.touched[memref as usize][0];
                if touched.ranges.is_empty() {
                    touched.first = number;
                }
                touched.ranges.add(begin, end);
            }
        }
        Ok(())
    }
}
