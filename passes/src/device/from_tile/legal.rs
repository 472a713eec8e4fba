//! What a schedule may say of a nest, beyond what `tile.compute` can check by itself: each field is
//! refused with its value and what would be accepted.

use weft_dialects::device::{Machine, Scope};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Report};
use weft_dialects::tile::Compute;

use crate::nest::{Border, Nest, Windows, may_combine_rows, stores_along};
use crate::tile::{lanes_type, way};

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
        Checked::borders,
        Checked::transpose,
        Checked::combine_rows,
        Checked::slide,
        Checked::written_out,
        Checked::stream,
    ];
    for check in checks {
        if let Err((what, help)) = check(&checked) {
            Report::new(compute.op.location(), format!("@{}: {what}", kernel.symbol())).help(help);
            return Err(Failed);
        }
    }
    Ok(())
}

/// What is wrong, and what is accepted.
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
}

impl<'k, 'c> Checked<'k, 'c> {
    fn new(machine: Machine<'c>, compute: &'k Compute<'c>, nest: &'k Nest<'c>) -> Self {
        let inner = &compute.tiles[compute.tiles.len() - 1];
        let unit = machine.lanes_units().into_iter().find(|unit| unit.memory() == inner.memory);
        let widest = unit.zip(lanes_type(nest)).and_then(|(unit, elem)| unit.lanes_for(elem));
        let sizes = &inner.sizes[..];
        let is_row =
            |&axis: &usize| sizes[axis] > 1 && Some(axis) != compute.lanes && !nest.reduces(axis);
        let rows = (0..sizes.len()).filter(is_row).collect();
        Self { machine, compute, nest, lanes: widest.unwrap_or(1), sizes, rows }
    }

    fn staged(&self) -> bool {
        let registers = self.compute.tiles.last().map_or("", |tile| tile.memory.as_str());
        way(self.machine, registers).is_some_and(|way| way.stage.is_some())
    }

    fn borders(&self) -> Result<(), Refusal> {
        let bordered: Vec<_> =
            self.nest.inputs.iter().filter(|access| Border::of(access).is_some()).collect();
        let schedule = &self.compute.schedule;
        let is_cache_of_a_unit = |name: &str| {
            let memory = self.machine.memory(name);
            memory.is_some_and(|memory| memory.is_cache() && memory.scope() == Scope::Core)
        };
        let caches = self.machine.memories().into_iter().map(|memory| memory.name);
        let caches: Vec<_> =
            caches.filter(|name| is_cache_of_a_unit(name)).map(|name| format!("@{name}")).collect();
        let accepted = match &caches[..] {
            [] => "the machine has none; write the padded tensor first".to_owned(),
            _ => format!("one of {}", caches.join(", ")),
        };
        let Some(memory) = &schedule.border else {
            if bordered.is_empty() {
                return Ok(());
            }
            let what = "reads past the ends of a tensor, and its schedule has no `border`";
            return Err((what.to_owned(), format!("name a cache of a unit: {accepted}")));
        };
        if bordered.is_empty() || self.compute.axes.is_some() || self.staged() {
            let what = format!("the schedule's `border` is @{memory}, and lanes read past no ends");
            return Err((what, "leave it out".to_owned()));
        }
        if !is_cache_of_a_unit(memory) {
            let what = format!("the schedule's `border` is @{memory}, which is no cache of a unit");
            return Err((what, accepted));
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
        let stores = |lanes: usize| stores_along(self.nest, lanes, axis);
        if self.staged() || !self.compute.lanes.is_some_and(stores) {
            let help = "name an axis along which all outputs lie side by side, in a nest that \
                        reduces nothing, whose inputs lie along the lanes, and of which nothing is staged";
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

    fn combine_rows(&self) -> Result<(), Refusal> {
        let Some(axis) = self.compute.schedule.combine_rows else { return Ok(()) };
        let what = format!("the schedule's `combine_rows` is {axis}");
        let registers = self.compute.tiles.last().map_or("", |tile| tile.memory.as_str());
        let gathers = self.machine.move_between(registers, registers);
        if self.staged() || !gathers.is_some_and(|way| way.strided()) {
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
        let points = |axes: &[usize]| -> u64 {
            axes.iter().map(|&axis| self.nest.axes[axis].extent).product()
        };
        let steps = points(slide) * rows.iter().map(|(_, size)| size).product::<u64>();
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
        let cut = (0..self.sizes.len()).find(|&axis| part.sizes[axis] < task.sizes[axis]);
        cut.filter(|_| !self.staged())
    }

    fn written_out(&self) -> Result<(), Refusal> {
        let unroll = &self.compute.schedule.unroll;
        let extents = unroll.iter().map(|&axis| self.nest.axes[axis].extent);
        let rows = self.rows.iter().map(|&axis| self.sizes[axis]);
        let steps = extents.chain(rows).fold(1, u64::saturating_mul);
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

    fn stream(&self) -> Result<(), Refusal> {
        let Some(stream) = &self.compute.schedule.stream else { return Ok(()) };
        let shared = self.machine.shared().map_or("", |shared| shared.name);
        let target = self.machine.move_named(stream).map(|way| way.target());
        if self.compute.axes.is_some() || self.staged() || target != Some(shared) {
            let what = format!(
                "the schedule's `stream` is @{stream}, and no registers go to @{shared} by it"
            );
            return Err((what, "leave it out".to_owned()));
        }
        Ok(())
    }
}
