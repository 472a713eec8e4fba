//! The roofline: the peak rates of the machine by its file, and each kernel's bottleneck.

use std::collections::BTreeMap;

use weft_dialects::device::Machine;

use super::program::Job;
use super::report::{Ceiling, Device, Memory, Roofline, Slope};
use crate::commands::devices::roofline::{bandwidth, peaks};

/// The machine, as a program on its unit `unit` sees it.
pub(super) fn device(machine: Machine<'_>, unit: &str) -> Device {
    let found = machine.unit(unit);
    let memories = machine.memories().into_iter().map(|memory| Memory {
        name: memory.name.to_owned(),
        scope: memory.scope().name(),
        capacity_bytes: memory.capacity_bytes(),
        gbytes_per_second: bandwidth(machine, &memory, unit).map(|bytes| bytes / 1e9),
        caches: memory.caches().map(str::to_owned),
    });
    Device {
        name: machine.name().to_owned(),
        arch: machine.arch().to_owned(),
        unit: unit.to_owned(),
        count: found.as_ref().map_or(1, |unit| unit.count()),
        clock_mhz: found.and_then(|unit| unit.clock_mhz()),
        shared: machine.shared().map(|memory| memory.name.to_owned()).unwrap_or_default(),
        memories: memories.collect(),
    }
}

/// Ceilings for the element type that most operations are in, and the slopes of memories.
pub(super) fn roofline(machine: Machine<'_>, device: &Device, jobs: &[Job]) -> Roofline {
    let elem = most(jobs);
    let mut ceilings = Vec::new();
    let mut ceiling = |name: &str, units: u64, operations: f64| {
        ceilings.push(Ceiling {
            name: name.to_owned(),
            units,
            goperations_per_second: operations / 1e9,
        });
    };
    let peaks = peaks(machine);
    let of_elem = peaks.iter().filter(|(types, _)| {
        **types == elem || types.strip_prefix(&elem).is_some_and(|rest| rest.starts_with(" ->"))
    });
    let fastest = of_elem.map(|(_, peak)| peak).max_by(|one, other| one.0.total_cmp(&other.0));
    if let Some((rate, instruction)) = fastest {
        ceiling(instruction.name, device.count, 2.0 * rate);
        if device.count > 1 {
            ceiling(instruction.name, 1, 2.0 * rate / device.count as f64);
        }
    }
    for unit in machine.lanes_units() {
        let typed = unit.types().iter().find(|own| own.to_string() == elem);
        let lanes = typed.and_then(|&elem| unit.lanes_for(elem));
        if let (Some(lanes), Some(mhz)) = (lanes, device.clock_mhz)
            && unit.issue_cycles() > 0.0
        {
            let each = lanes as f64 / unit.issue_cycles();
            ceiling(unit.name, device.count, each * mhz as f64 * 1e6 * device.count as f64);
        }
    }
    let slopes = device.memories.iter().filter_map(|memory| {
        Some(Slope { memory: memory.name.clone(), gbytes_per_second: memory.gbytes_per_second? })
    });
    Roofline { elem, ceilings, slopes: slopes.collect() }
}

/// The element type that most operations are in.
fn most(jobs: &[Job]) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for job in jobs {
        *sums.entry(&job.facts.elem).or_default() += job.facts.operations;
    }
    let most = sums.into_iter().max_by_key(|&(_, operations)| operations);
    most.map(|(elem, _)| elem.to_owned()).unwrap_or_default()
}

/// Returns the bottleneck of a kernel: the smallest memory that holds all its arguments, or the
/// highest ceiling; with scalar operations per byte.
pub(super) fn bound(
    device: &Device,
    roofline: &Roofline,
    operations: u64,
    bytes: u64,
) -> Option<String> {
    let holding = device.memories.iter().filter(|memory| {
        let reached = memory.name == device.shared || memory.caches.is_some();
        reached && memory.capacity_bytes >= bytes && memory.gbytes_per_second.is_some()
    });
    let memory = holding.min_by_key(|memory| memory.capacity_bytes)?;
    let ceilings = roofline.ceilings.iter();
    let top = ceilings
        .max_by(|one, other| one.goperations_per_second.total_cmp(&other.goperations_per_second));
    let moving = bytes as f64 / memory.gbytes_per_second?;
    Some(match top {
        Some(top) if operations as f64 / top.goperations_per_second > moving => top.name.clone(),
        _ => memory.name.clone(),
    })
}
