//! `tile-split-rows`: softmax and variances of rows that do not fit near a unit, in parts.
//!
//! ```text
//! m = max x; e = exp(x - m); l = sum e; o = sum (e / l) v             rows of 65536
//!   ->  m_s = max x_s; e_s = exp(x_s - m_s); l_s = sum e_s; o_s = sum e_s v_s    16 parts each
//!       m = max m_s; w_s = exp(m_s - m); l = sum w_s l_s; o = (sum w_s o_s) / l
//! ```
//!
//! A row that is folded, and folded again with what came of it, has to wait near the unit
//! meanwhile. In parts each of which is folded with its own result, only a part waits, and what is
//! wrong with the results is known: a factor per part where exponentials are summed
//! (`softmax.rs`: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018;
//! Dao et al., FlashAttention, NeurIPS'22), a square per part where squares are (`variance.rs`:
//! Chan, Golub and LeVeque, "Updating formulae", 1979). Parts are kernels as others are, so they
//! join what makes their rows and what they are multiplied with, and are shared out among units.
//!
//! Rows are cut where whole ones fill more than the room near a unit, several of them where they
//! share what they are multiplied with, and where units would have nothing to do. Folds are done in
//! another order, so only where the lanes may (`reductions`).

pub(in crate::tile) mod rows;
mod softmax;
mod variance;
mod write;

use std::collections::HashSet;
use std::fmt;

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Op, remark, ty};

use super::chooser::Chooser;
use super::instruction::combine;
use super::layout::Layout;
use super::one_pass::Found;
use super::pace::Pace;
use super::pack_weights::kernels;
use super::split_reductions::{MOST_PARTS, Time, another_kernel, time};
use super::views::kernel_of;
use crate::remarks::Refused;
use rows::{Applied, Graph};
use softmax::Softmax;
use variance::Variance;
pub(super) use write::CUT;
use write::Writer;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-split-rows",
    description: "Do softmax and variances of rows that do not fit near a unit in parts",
    options: &[
        PassOption {
            name: "parts",
            description: "auto: as few as fit; 1: rows stay whole; N: so many",
            fallback: "auto",
        },
        PassOption {
            name: "remarks",
            description: "say which rows are cut or why not",
            fallback: "false",
        },
    ],
    statistics: &[("split", "softmaxes and variances that are done in parts")],
    run,
};

/// Register tiles of rows that what they are multiplied with is to be read for at once: with one,
/// it streams by as fast as it is used.
const SHARING: u64 = 2;

/// Number of parts that rows are to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    Auto,
    Number(u64),
}

impl Parts {
    fn of(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            text => text.parse().ok().filter(|&number| number > 0).map(Self::Number),
        }
    }
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let parts = run.value("parts", "'auto' or a number of parts", Parts::of)?;
    let remarks = run.flag("remarks")?;
    if parts == Parts::Number(1) {
        return Ok(());
    }
    let machine = run.machine()?;
    let plain = kernels(run.module);
    let chooser = Chooser::of(run, machine);
    let mut writer = Writer::new(run.context, run.module, machine);
    let ops = run.module.body(0).ok_or(Failed)?.ops().into_iter();
    for body in ops.filter(|op| op.is("tile.graph")) {
        let Some(block) = body.body(0) else { continue };
        let mut graph = Graph::new(&plain);
        let runs: Vec<Op<'_>> = block.ops().into_iter().filter(|op| op.is("tile.run")).collect();
        let passed = in_one_pass(machine, &plain, &runs);
        // From the end: what is split takes runs behind the first with it.
        for first in runs.into_iter().rev() {
            if passed.contains(&first) {
                if remarks {
                    let why = "rows stay whole: one pass goes over them, between two products";
                    remark(first, &format!("@{}: {why}", kernel_of(first)));
                }
                continue;
            }
            let Some(found) = Long::at(&mut graph, first) else { continue };
            let count = found.parts(&chooser, parts);
            if remarks {
                let told = match &count {
                    Ok((count, need)) => found.describe(*count, need.as_ref()),
                    Err(why) => format!("rows stay whole: {why}"),
                };
                remark(first, &format!("@{}: {told}", kernel_of(first)));
            }
            if let Ok((count, _)) = count
                && count > 1
            {
                found.write(&mut writer, count);
                run.count("split", 1);
            }
        }
    }
    writer.finish(&plain);
    Ok(())
}

/// The runs that find the greatest elements of rows which a group of lanes goes over in one pass: these rows
/// wait nowhere.
fn in_one_pass<'c>(machine: Machine<'c>, kernels: &[Op<'c>], runs: &[Op<'c>]) -> HashSet<Op<'c>> {
    let kernel = |name: &str| kernels.iter().find(|kernel| kernel.symbol() == name).copied();
    let found = runs.iter().filter_map(|last| Found::at(&kernel, *last).ok());
    let done = found.filter(|found| {
        super::block::choose_pair(machine, &found.nests(), &found.one_pass).is_some()
    });
    done.map(|found| found.runs[found.one_pass.largest]).collect()
}

/// Facts that decide the number of parts: bytes that have to be near a unit, and units that would
/// idle.
struct Need<'c> {
    /// Of rows that share a tile, and of what they become.
    bytes: u64,
    /// The memory near a unit, and its room.
    near: Option<(&'c str, u64)>,
    /// Tiles to share out.
    pieces: u64,
    units: u64,
    /// True if all of it takes less than handing it over.
    little: bool,
}

impl Need<'_> {
    /// The fewest parts with which rows that share a tile fit near a unit, and all units have one.
    fn least(&self) -> u64 {
        let fit = self.near.map_or(1, |(_, room)| self.bytes.div_ceil(room.max(1)));
        let idle = self.pieces < self.units && !self.little;
        let busy = if idle { self.units.div_ceil(self.pieces) } else { 1 };
        fit.max(busy.min(MOST_PARTS * self.units))
    }
}

impl fmt::Display for Need<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((memory, room)) = self.near {
            write!(f, "{} bytes for {room} of @{memory}, ", self.bytes)?;
        }
        write!(f, "{} tiles for {} units", self.pieces, self.units)
    }
}

/// Something that folds its rows twice.
enum Long<'c> {
    Softmax(Box<Softmax<'c>>),
    Variance(Box<Variance<'c>>),
}

impl<'c> Long<'c> {
    /// The softmax or variance that begins with the run `first`.
    fn at(graph: &mut Graph<'_, 'c>, first: Op<'c>) -> Option<Self> {
        let first = graph.fold(first)?;
        match combine(&first.nest)?.op.name() {
            "arith.maximumf" => {
                Softmax::at(graph, first).map(|found| Self::Softmax(Box::new(found)))
            }
            "arith.addf" => Variance::at(graph, first).map(|found| Self::Variance(Box::new(found))),
            _ => None,
        }
    }

    /// The folds; the first takes longest.
    fn folds(&self) -> Vec<&Applied<'c>> {
        match self {
            Self::Softmax(softmax) => softmax.folds(),
            Self::Variance(variance) => variance.folds(),
        }
    }

    /// Returns the number of parts that rows get.
    ///
    /// # Errors
    /// The reason that rows that should be split are not.
    fn parts(
        &self,
        chooser: &Chooser<'c>,
        parts: Parts,
    ) -> Result<(u64, Option<Need<'c>>), Refused> {
        let folds = self.folds();
        let first = folds[0];
        let row = first.row().1;
        for fold in &folds {
            let (name, elem) = (combine(&fold.nest).map(|fold| fold.op.name()), first.elem());
            let reorders = chooser
                .machine
                .lanes_units()
                .iter()
                .any(|unit| name.is_some_and(|name| unit.reduces(name, elem)));
            if !reorders {
                let why = format!("no lanes fold {} in another order", name.unwrap_or(""));
                return Err(Refused::by("reductions", why));
            }
        }
        let Parts::Auto = parts else {
            let Parts::Number(number) = parts else { return Ok((1, None)) };
            return match row.is_multiple_of(number) {
                true => Ok((number, None)),
                false => {
                    let why = format!("{number} parts of {row} elements are not equal");
                    Err(Refused::by("equal", why))
                }
            };
        };
        let need = self.least(chooser, row);
        let least = need.as_ref().map_or(1, Need::least);
        if least <= 1 {
            return Ok((1, need));
        }
        // Parts of a few elements have more results than elements.
        let most = row / 2;
        let most = most.min(2 * least);
        let Some(count) = (least..=most).find(|&count| row.is_multiple_of(count)) else {
            let why = format!("{row} elements have no {least} to {most} equal parts");
            let why = Refused::by("equal", why);
            return Err(need.map_or(why.clone(), |need| why.met(need.to_string())));
        };
        Ok((count, need))
    }

    /// Facts that decide the least number of parts.
    fn least(&self, chooser: &Chooser<'c>, row: u64) -> Option<Need<'c>> {
        let machine = chooser.machine;
        let fold = self.folds()[0];
        let layouts = vec![Layout::Fixed; fold.nest.inputs.len()];
        let unit = machine.units().into_iter().next()?;
        let found = time(chooser, &unit, &fold.nest, &layouts).filter(|found| !found.shares)?;
        let Time { cycles, pieces, tile, .. } = found;
        let near = super::waiting_memory(machine)
            .and_then(|memory| Some((Pace::of(machine, memory.name)?, memory)));
        // Groups of lanes that take turns have little each, and hide the waiting for the rest.
        let shares = near.as_ref().is_none_or(|(pace, _)| pace.at_once == 1);
        let rows = match self {
            // Rows in whole register tiles share what they are multiplied with.
            Self::Softmax(softmax) if softmax.multiplies() && shares => {
                let access = &fold.nest.inputs[fold.input];
                let axes = (0..tile.sizes.len()).filter(|&axis| axis != fold.row().0);
                let axes = axes.filter(|&axis| access.uses(axis));
                let axes = axes.map(|axis| (tile.sizes[axis].max(1), fold.nest.axes[axis].extent));
                let (tile, all) =
                    axes.fold((1, 1), |(tile, all), (own, whole)| (tile * own, all * whole));
                all.min(SHARING * tile)
            }
            _ => 1,
        };
        // Bytes of a row's input and of its result.
        let bytes = 2 * rows * row * ty::byte_size(fold.elem())?;
        let near = near.map(|(pace, memory)| (memory.name, pace.room(&memory)));
        let little = cycles <= another_kernel(&unit) as f64;
        Some(Need { bytes, near, pieces, units: unit.count(), little })
    }

    fn describe(&self, count: u64, need: Option<&Need<'c>>) -> String {
        let what = match self {
            Self::Softmax(_) => "softmax",
            Self::Variance(_) => "variance",
        };
        let row = self.folds()[0].row().1;
        let how = if count == 1 { "whole".to_owned() } else { format!("in {count} parts") };
        let why = need.map_or(String::new(), |need| format!(" [room: {need}]"));
        format!("a {what} of {row} elements is done {how}{why}")
    }

    fn write(self, writer: &mut Writer<'c>, count: u64) {
        match self {
            Self::Softmax(softmax) => softmax.write(writer, count),
            Self::Variance(variance) => variance.write(writer, count),
        };
    }
}
