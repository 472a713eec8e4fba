//! Checks of a schedule for a nest, beyond what `tile.compute` can check by itself: each field is
//! refused with its value and what would be accepted.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Report};
use weft_dialects::tile::Compute;

use crate::nest::{Border, Nest, Windows, may_combine_rows, stores_along, sums_lie_along};
use crate::tile::{gather, lanes_type, lies_along, way_of, ways};

/// More steps than this are not written out one by one: compiling them takes minutes.
const MOST_WRITTEN_OUT: u64 = 16384;

/// Reports the first field of a compute's schedule that its nest or its tiles do not allow.
pub(super) fn check<'c>(
    machine: Machine<'c>,
    kernel: Op<'c>,
    compute: &Compute<'c>,
    nest: &Nest<'c>,
) -> Result<(), Failed> {
    let checked = Checked::new(machine, compute, nest);
    let checks = [
        Checked::stage,
        Checked::borders,
        Checked::grow,
        Checked::transpose,
        Checked::combine_rows,
        Checked::slide,
        Checked::written_out,
        Checked::stream,
        Checked::neighbours,
        Checked::casts,
    ];
    for check in checks {
        if let Err((what, help)) = check(&checked) {
            Report::new(compute.op.location(), format!("@{}: {what}", kernel.symbol())).help(help);
            return Err(Failed);
        }
    }
    Ok(())
}

/// The error, and what is accepted.
type Refusal = (String, String);

struct Checked<'k, 'c> {
    machine: Machine<'c>,
    compute: &'k Compute<'c>,
    nest: &'k Nest<'c>,
    /// Lanes of a register.
    lanes: u64,
    /// Sizes of the register tile.
    sizes: &'k [u64],
    /// Parallel axes of more than one point without lanes.
    rows: Vec<usize>,
    /// True if tiles are staged in a memory on the way to the registers.
    staged: bool,
}

impl<'k, 'c> Checked<'k, 'c> {
    fn new(machine: Machine<'c>, compute: &'k Compute<'c>, nest: &'k Nest<'c>) -> Self {
        let inner = &compute.tiles[compute.tiles.len() - 1];
        let unit = machine.lanes_units().into_iter().find(|unit| unit.memory() == inner.memory);
        let widest = unit.zip(lanes_type(nest)).and_then(|(unit, elem)| unit.lanes_for(elem));
        let sizes = &inner.sizes[..];
        let rows = nest.rows(sizes, compute.lanes);
        let staged = way_of(machine, compute).is_some_and(|way| way.stage.is_some());
        Self { machine, compute, nest, lanes: widest.unwrap_or(1), sizes, rows, staged }
    }

    /// Steps of one register that a tile takes along the reductions `axes`.
    fn steps(&self, axes: &[usize]) -> u64 {
        let points = axes.iter().map(|&axis| self.nest.axes[axis].extent);
        let rows = self.rows.iter().map(|&axis| self.sizes[axis]);
        points.chain(rows).fold(1, u64::saturating_mul)
    }

    /// What an rTile between the first and the last, in another memory than both, waits in.
    fn stage(&self) -> Result<(), Refusal> {
        let ([task, between, registers], None) = (&self.compute.tiles[..], &self.compute.axes)
        else {
            return Ok(());
        };
        let ways = ways(self.machine, &registers.memory);
        let stages = ways.iter().filter_map(|way| Some(way.stage.as_ref()?.memory.name));
        let stages: Vec<_> = stages.collect();
        let elsewhere = between.memory != task.memory && between.memory != registers.memory;
        if !elsewhere || stages.contains(&&between.memory[..]) {
            return Ok(());
        }
        let what = format!(
            "the rTile in @{0} lies between @{1} and @{2}, and nothing moves through @{0}",
            between.memory, task.memory, registers.memory
        );
        let names: Vec<_> = stages.iter().map(|name| format!("@{name}")).collect();
        let help = match &names[..] {
            [] => {
                format!("let it lie in @{}, as a part of a reduction, or leave it out", task.memory)
            }
            _ => format!("let it lie in {}", names.join(" or ")),
        };
        Err((what, help))
    }

    fn borders(&self) -> Result<(), Refusal> {
        let bordered: Vec<_> =
            self.nest.inputs.iter().filter(|access| Border::of(access).is_some()).collect();
        let schedule = &self.compute.schedule;
        let Some(memory) = &schedule.border else {
            if bordered.is_empty() {
                return Ok(());
            }
            let what = "reads past the ends of a tensor, and its schedule has no `border`";
            return Err((what.to_owned(), "name a cache of a unit".to_owned()));
        };
        if bordered.is_empty() || self.staged {
            let what = format!("the schedule's `border` is @{memory}, and lanes read past no ends");
            return Err((what, "leave it out".to_owned()));
        }
        for (access, &phases) in bordered.iter().zip(&schedule.phases) {
            let last = access.index.last().expect("a border has a dimension");
            let step = self.compute.lanes.map_or(1, |axis| last.coefficients[axis]);
            if phases != 1 && phases as i64 != step {
                let what =
                    format!("the schedule has {phases} `phases` for lanes in steps of {step}");
                let others = if step > 1 { format!(", or {step}") } else { String::new() };
                return Err((what, format!("give 1{others}")));
            }
        }
        Ok(())
    }

    fn transpose(&self) -> Result<(), Refusal> {
        let Some(axis) = self.compute.schedule.transpose else { return Ok(()) };
        let what = format!("the schedule's `transpose` is {axis}");
        let sums = |lanes: usize| sums_lie_along(self.nest, lanes, axis);
        if !self.staged && self.compute.lanes.is_some_and(sums) {
            return Ok(());
        }
        let stores = |lanes: usize| stores_along(self.nest, lanes, axis);
        if self.staged || !self.compute.lanes.is_some_and(stores) {
            let help = "name an axis along which all outputs lie side by side, and not along the lanes, where \
                        nothing is staged; without reductions inputs lie along the lanes";
            return Err((
                format!("{what}, which registers cannot be stored along"),
                help.to_owned(),
            ));
        }
        let across = self.compute.lanes.map_or(1, |lanes| self.sizes[lanes]);
        let square = self.rows == [axis] && self.sizes[axis] <= self.lanes && across <= self.lanes;
        if !square && !self.rows.is_empty() {
            let help = format!(
                "let the register tile have at most {} points along axis {axis} and along the lanes, and one elsewhere",
                self.lanes
            );
            return Err((format!("{what} in a register tile of {:?}", self.sizes), help));
        }
        Ok(())
    }

    fn grow(&self) -> Result<(), Refusal> {
        let schedule = &self.compute.schedule;
        let Some(axis) = schedule.grow else { return Ok(()) };
        let what = format!("the schedule's `grow` is {axis}");
        if self.staged {
            let help = "leave it out where tiles wait in a memory on the way to the registers";
            return Err((format!("{what}, and tiles are staged"), help.to_owned()));
        }
        let parallel = (0..self.sizes.len()).filter(|&axis| !self.nest.reduces(axis));
        let order = schedule.loops(parallel);
        if order.first() == Some(&axis) {
            let help = "let an axis along which tiles end ragged come before it in `order`";
            return Err((format!("{what}, whose loop is the outermost"), help.to_owned()));
        }
        Ok(())
    }

    fn combine_rows(&self) -> Result<(), Refusal> {
        let Some(axis) = self.compute.schedule.combine_rows else { return Ok(()) };
        let what = format!("the schedule's `combine_rows` is {axis}");
        let registers = self.compute.tiles.last().map_or("", |tile| tile.memory.as_str());
        if self.staged || gather(self.machine, registers).is_none() {
            let help = format!("the machine needs a strided move from @{registers} to itself");
            return Err((format!("{what}, and nothing transposes registers"), help));
        }
        let folds = |lanes: usize| {
            self.nest.reduces(lanes) && may_combine_rows(self.nest, lanes, self.lanes, axis)
        };
        if !self.compute.lanes.is_some_and(folds) {
            let help = "the lanes reduce an axis of whole registers, rows start alike and lie side \
                        by side in the output; otherwise leave it out";
            return Err((
                format!("{what}, whose lanes cannot be combined together"),
                help.to_owned(),
            ));
        }
        if self.rows != [axis] || self.sizes[axis] > self.lanes {
            let help = format!(
                "let the register tile have 2 to {} points along axis {axis}, and one on other parallel axes",
                self.lanes
            );
            return Err((format!("{what} in a register tile of {:?}", self.sizes), help));
        }
        Ok(())
    }

    fn slide(&self) -> Result<(), Refusal> {
        let slide = &self.compute.schedule.slide;
        if slide.is_empty() {
            return Ok(());
        }
        let what = format!("the schedule's `slide` is {slide:?}");
        let rows: Vec<_> = self.rows.iter().map(|&axis| (axis, self.sizes[axis])).collect();
        let parts = self.parted().is_some_and(|axis| slide.contains(&axis));
        let steps = self.steps(slide);
        if steps > MOST_WRITTEN_OUT {
            let help = format!("write out at most {MOST_WRITTEN_OUT} steps");
            return Err((format!("{what}, which are {steps} steps"), help));
        }
        let slides = self
            .compute
            .lanes
            .is_some_and(|lanes| Windows::of(self.nest, lanes, &rows, slide).is_some());
        if !slides || parts {
            let help = "name the innermost reductions, of windows over the one input that moves \
                        along the lanes, so that points are added in the order of the nest";
            return Err((format!("{what}, which no windows slide along"), help.to_owned()));
        }
        Ok(())
    }

    /// The reduction that an rTile between the first and the last cuts, where nothing is staged.
    fn parted(&self) -> Option<usize> {
        let [task, part, _] = &self.compute.tiles[..] else { return None };
        task.cut_by(part).filter(|_| !self.staged)
    }

    fn written_out(&self) -> Result<(), Refusal> {
        let unroll = &self.compute.schedule.unroll;
        let steps = self.steps(unroll);
        if !unroll.is_empty() && steps > MOST_WRITTEN_OUT {
            let what = format!("the schedule's `unroll` is {unroll:?}, which are {steps} steps");
            return Err((what, format!("write out at most {MOST_WRITTEN_OUT} steps")));
        }
        let parted = self.parted().filter(|axis| unroll.contains(axis));
        match parted {
            None => Ok(()),
            Some(axis) => {
                let what = format!("the schedule's `unroll` has axis {axis}, which an rTile cuts");
                Err((what, "parts of a reduction are loops; leave it out".to_owned()))
            }
        }
    }

    /// Sums of another type than what is stored stay in registers until they are whole.
    fn casts(&self) -> Result<(), Refusal> {
        let nest = self.nest;
        let around = self.compute.tiles.split_last().map_or(&[][..], |(_, around)| around);
        let cut = around.iter().find(|tile| {
            let mut axes = tile.sizes.iter().zip(&nest.axes).enumerate();
            axes.any(|(axis, (size, own))| nest.reduces(axis) && *size < own.extent)
        });
        // Those of a block stay in the registers of its groups.
        let alone = self.compute.axes.is_none() && self.compute.layouts.is_none();
        let Some(tile) = cut.filter(|_| nest.casts_sums() && alone) else { return Ok(()) };
        let (sum, stored) = (nest.sum_type(0), nest.outputs[0].elem());
        let what = format!(
            "an rTile in @{} has a part of a reduction, whose sums are {sum} and stored as {stored}",
            tile.memory
        );
        let help = "let it have the whole reduction, or give the cast a kernel of its own";
        Err((what, help.to_owned()))
    }

    /// Points side by side for each lane: a whole tile of them, in the order of every tensor that has them.
    fn neighbours(&self) -> Result<(), Refusal> {
        let (schedule, nest) = (&self.compute.schedule, self.nest);
        let count = schedule.neighbours;
        if count == 1 {
            return Ok(());
        }
        let what = format!("the schedule's `neighbours` is {count}, and ");
        let refused = |why: &str, help: &str| Err((format!("{what}{why}"), help.to_owned()));
        let Some(axis) = self.compute.lanes else {
            return refused("there are no lanes", "leave it out");
        };
        if self.staged || schedule.border.is_some() {
            return refused("lanes read tiles that were brought near", "leave it out");
        }
        if !schedule.slide.is_empty() {
            return refused("windows slide over the tile's rows", "leave out one of both");
        }
        if schedule.transpose.is_some() {
            return refused("the tile is stored transposed", "leave out one of both");
        }
        if !self.sizes[axis].is_multiple_of(count.saturating_mul(self.lanes)) {
            let why = format!("tiles have {} points along {} lanes", self.sizes[axis], self.lanes);
            return refused(
                &why,
                "give a number whose multiple by the lanes divides the tile's size",
            );
        }
        if !lies_along(nest, axis) {
            let help = "leave it out, or run lanes along another axis";
            return refused("a tensor has them elsewhere than in its order", help);
        }
        Ok(())
    }

    fn stream(&self) -> Result<(), Refusal> {
        let Some(stream) = &self.compute.schedule.stream else { return Ok(()) };
        let shared = self.machine.shared().map_or("", |shared| shared.name);
        let target = self.machine.move_named(stream).map(|way| way.target());
        if self.staged || target != Some(shared) {
            let what = format!(
                "the schedule's `stream` is @{stream}, and no registers go to @{shared} by it"
            );
            return Err((what, "leave it out".to_owned()));
        }
        Ok(())
    }
}
