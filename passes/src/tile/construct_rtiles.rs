//! `tile-construct-rtiles`: kernels become tile programs.
//!
//! ```text
//! tile.kernel @mm { linalg.generic }
//!   ->  %b = tile.load %B to @vreg
//!       %r = tile.compute ins(A, %b) outs(C) on @vfma lanes 1
//!              tiles [#tile.rtile<"l2" [64, 256, 768]>, #tile.rtile<"vreg" [12, 32, 1]>]
//!       tile.store %r from @vreg to C
//! ```
//!
//! The instruction, the axis of its lanes and the register tile come from
//! `policy.rs`; the rTask's tile is a few register tiles, so that every unit has
//! work. A nest that the machine cannot compute is refused with the operation
//! that it lacks.

use std::collections::HashMap;

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Attribute, Builder, Context, Mapping, Op, Report, Val, attr, remark};
use weft_dialects::tile::{Compute, RTile, Schedule};

use super::block::{self, Chosen, Core};
use super::chooser::Chooser;
use super::isa::{Bound, Near, Search};
use super::layout::Layout;
use super::policy::{self, Candidate, Choice, Tiled};
use super::schedule::schedule;
use super::task_tile;
use super::{instruction, isa, offer, pack_weights, parts, roller};
use crate::device::expand_math;
use crate::nest::{self, Nest};
use crate::remarks::{Refused, chosen};
use crate::task::task_grid;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-construct-rtiles",
    description: "Choose instruction, lanes and rTiles for every kernel",
    options: &[
        PassOption {
            name: "remarks",
            description: "say what was chosen and what came next, and what each would cost",
            fallback: "false",
        },
        PassOption {
            name: "rank",
            description: "take the choice of this rank instead of the best, which has rank 0",
            fallback: "0",
        },
        PassOption {
            name: "tiles",
            description: "best of those that are constructed; enumerated: best of every one that \
                          fits; or smallest: the chosen instruction's least tile, as if none were \
                          compared",
            fallback: "best",
        },
        PassOption { name: "told", description: "how many choices remarks tell of", fallback: "5" },
        PassOption {
            name: "strategy",
            description: "which mappings of an instruction are costed: exhaustive, greedy, beam",
            fallback: "exhaustive",
        },
        PassOption {
            name: "model",
            description: "whether moves and instructions cost at once: overlapped, summed",
            fallback: "overlapped",
        },
        PassOption {
            name: "groups",
            description: "whether groups of lanes may share an rTask: together, apart",
            fallback: "together",
        },
        PassOption {
            name: "offer",
            description: "what the schedule chooses from: wide, a kernel that is faster on all \
                          units beside the best of one; or best, that one only",
            fallback: "wide",
        },
    ],
    statistics: &[
        ("kernels", "tile programs made"),
        ("wide", "kernels of more rTasks offered beside them"),
    ],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let Some(machine) = Machine::of(run.module) else {
        Report::new(run.module.location(), "the module has no device.machine to choose tiles for")
            .help("put one in with device-load-machine{file=...}");
        return Err(Failed);
    };
    let number = |option: &str| {
        run.option(option).parse::<usize>().map_err(|_| {
            let what = format!("{option}={} is no number", run.option(option));
            Report::new(run.module.location(), what)
                .help("write digits; rank 0 is the best choice");
            Failed
        })
    };
    let (rank, told) = (number("rank")?, number("told")?);
    let tiles: Tiles = known(run.module, PASS.name, "tiles", run.option("tiles"))?;
    let search = Search {
        strategy: known(run.module, PASS.name, "strategy", run.option("strategy"))?,
        model: known(run.module, PASS.name, "model", run.option("model"))?,
        all_tiles: tiles == Tiles::Enumerated,
        spread: 0,
        apart: is_second(run, "groups", ["together", "apart"])?,
        near: None,
    };
    let smallest = tiles == Tiles::Smallest;
    if smallest && rank > 0 {
        let what = format!("tiles=smallest and rank={rank} both say which tile is taken");
        Report::new(run.module.location(), what).help("leave one of them out");
        return Err(Failed);
    }
    let offer = !is_second(run, "offer", ["wide", "best"])?;
    let remarks = run.option("remarks") == "true";
    let offer = offer && rank == 0 && !smallest;
    let wanted = Wanted { rank, smallest, remarks, told, search, offer };
    let chooser = Chooser::of(run, machine);
    let mut wider: HashMap<String, Op<'_>> = HashMap::new();
    for kernel in pack_weights::kernels(run.module) {
        if let Some(wide) = construct(run.context, &chooser, kernel, wanted)? {
            wider.insert(kernel.symbol().to_owned(), wide);
        }
        run.count("kernels", 1);
    }
    run.count("wide", wider.len() as u64);
    run.module.walk(&mut |op| {
        let kernel = op.attr("kernel").and_then(attr::symbol).filter(|_| op.is("tile.run"));
        if let Some(wide) = kernel.and_then(|name| wider.get(name)) {
            let symbol = attr::of_symbol(run.context, wide.symbol());
            op.set_attr("others", attr::of_array(run.context, &[symbol]));
        }
    });
    Ok(())
}

/// Which tiles are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tiles {
    /// Those that are constructed.
    Best,
    /// Every one that fits the registers.
    Enumerated,
    /// None: the least one is taken.
    Smallest,
}

impl std::str::FromStr for Tiles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "best" => Ok(Self::Best),
            "enumerated" => Ok(Self::Enumerated),
            "smallest" => Ok(Self::Smallest),
            _ => Err(format!("unknown value '{text}'; expected best, enumerated or smallest")),
        }
    }
}

/// The value of an option; reports one that is none.
pub(super) fn known<T: std::str::FromStr<Err = String>>(
    module: Op<'_>,
    pass: &str,
    option: &str,
    text: &str,
) -> Result<T, Failed> {
    text.parse().map_err(|why: String| unknown(module, pass, option, &why))
}

fn unknown(module: Op<'_>, pass: &str, option: &str, why: &str) -> Failed {
    Report::new(module.location(), format!("{pass} cannot use {option}: {why}"))
        .help(format!("leave {option} out, or give one of these"));
    Failed
}

/// Whether an option is the second of its two words.
fn is_second(run: &Run<'_>, option: &str, words: [&str; 2]) -> Result<bool, Failed> {
    let text = run.option(option);
    let [first, second] = words;
    match text {
        _ if text == first => Ok(false),
        _ if text == second => Ok(true),
        _ => Err(unknown(
            run.module,
            PASS.name,
            option,
            &format!("{text} is neither {first} nor {second}"),
        )),
    }
}

/// What to do beside choosing the best.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Which of the ranked choices to take; the last where there are fewer.
    pub rank: usize,
    /// Take the least tile of the chosen instruction and lanes' axis instead.
    pub smallest: bool,
    /// Say what was chosen, and what came next.
    pub remarks: bool,
    /// How many choices to tell of.
    pub told: usize,
    /// How mappings of instructions are found and costed.
    pub search: Search<'static>,
    /// Whether to offer a kernel of more rTasks, where that is faster on all units.
    pub offer: bool,
}

/// Reads a kernel's nest; reports where it has none.
pub(super) fn read<'c>(kernel: Op<'c>) -> Result<Nest<'c>, Failed> {
    nest::read_kernel(kernel).map_err(|error| {
        Report::new(kernel.location(), format!("@{}: {error}", kernel.symbol()));
        Failed
    })
}

/// Chooses for a kernel; reports where the machine has nothing.
pub(super) fn choose<'c>(
    chooser: &Chooser<'c>,
    kernel: Op<'c>,
    nest: &Nest<'c>,
    layouts: &[Layout],
) -> Result<Choice<'c>, Failed> {
    choose_by(chooser, kernel, nest, layouts, Search::default())
}

fn choose_by<'c>(
    chooser: &Chooser<'c>,
    kernel: Op<'c>,
    nest: &Nest<'c>,
    layouts: &[Layout],
    search: Search<'_>,
) -> Result<Choice<'c>, Failed> {
    let machine = chooser.machine;
    chooser.choose(nest, layouts, search).map_err(|reason| {
        let mut report = Report::new(
            kernel.location(),
            format!("@{} cannot run on @{}: {reason}", kernel.symbol(), machine.name()),
        );
        for (_, refusal) in instruction::refusals(machine, nest) {
            report = report.note(kernel, refusal.to_string());
        }
        report.help("give the machine a device.instruction that means this body, or a lane unit with the operation");
        Failed
    })
}

/// Whether lanes, near the shared memory or not, are the best way to fold `before` and can
/// do all of `joined`, which is that and something more.
///
/// # Errors
/// Why not.
pub(super) fn lanes_do<'c>(
    chooser: &Chooser<'c>,
    before: &Nest<'c>,
    joined: &Nest<'c>,
) -> Result<(), Refused> {
    let machine = chooser.machine;
    if instruction::lane_unit(machine, joined, &expand_math::expands).is_err() {
        return Err(Refused::by("lanes", "no lane unit does both"));
    }
    let search = Search::default();
    let others = isa::choices(machine, before, search).iter().any(Result::is_ok)
        || !block::choose(machine, before).is_empty();
    if !others {
        return Ok(());
    }
    let layouts = vec![Layout::Fixed; before.inputs.len()];
    match chooser.choose(before, &layouts, search) {
        Ok(Choice { tiled: Tiled::Lanes(_), .. }) => Ok(()),
        best => {
            let why = Refused::by("epilogue", "the best way to fold it stores what it folds");
            Err(match best {
                Ok(Choice { tiled, cycles, runner_up }) => {
                    let second = runner_up.as_ref().map(|(what, cycles)| (&**what, *cycles));
                    why.met(chosen(&tiled.describe(), cycles, second))
                }
                Err(none) => why.met(none),
            })
        }
    }
}

/// Chooses for a kernel and writes the choice down; reports where the machine has nothing. Gives
/// the kernel that is offered beside it.
pub(crate) fn construct<'c>(
    context: &'c Context,
    chooser: &Chooser<'c>,
    kernel: Op<'c>,
    wanted: Wanted,
) -> Result<Option<Op<'c>>, Failed> {
    let machine = chooser.machine;
    let nest = read(kernel)?;
    // Layouts are what they are now: what was to be packed has been.
    let fixed = vec![Layout::Fixed; nest.inputs.len()];
    let search = wanted.search;
    let mut choice = choose_by(chooser, kernel, &nest, &fixed, search)?;
    if wanted.rank > 0 || wanted.remarks {
        let keep = wanted.told.max(wanted.rank + 1);
        let ranked = policy::candidates(machine, &nest, &fixed, search, keep);
        let mut ranked = ranked.expect("there is a best one");
        if wanted.remarks {
            say(kernel, &choice);
            for (rank, candidate) in ranked.iter().take(wanted.told).enumerate() {
                remark(
                    kernel,
                    &format!("@{}: rank {rank}: {}", kernel.symbol(), candidate.report(&nest)),
                );
            }
        }
        let taken = ranked.swap_remove(wanted.rank.min(ranked.len() - 1));
        (choice.tiled, choice.cycles) = (taken.tiled, taken.cycles);
    }
    if wanted.smallest {
        let of_all = usize::MAX;
        let all = policy::candidates(machine, &nest, &fixed, search, of_all);
        let same = |one: &Candidate<'_>| one.tiled.alike(&choice.tiled);
        let points = |one: &Candidate<'_>| one.tiled.tile(&nest).sizes.iter().product::<u64>();
        let all = all.expect("there is a best one").into_iter();
        let least = all.filter(same).min_by_key(points).expect("the best is one of them");
        (choice.tiled, choice.cycles) = (least.tiled, least.cycles);
    }
    if wanted.remarks {
        say_mappings(machine, kernel, &nest, search);
        for line in roller::lines(machine, &nest) {
            remark(kernel, &format!("@{}: {line}", kernel.symbol()));
        }
        if let Tiled::Block(chosen) = &choice.tiled {
            for side in 0..2 {
                let conflicts = chosen.conflicts(side);
                remark(kernel, &format!("@{}: {conflicts}", kernel.symbol()));
            }
        }
    }
    let best = Tile::of(machine, kernel, &nest, choice.tiled, choice.cycles)?;
    let wide = match wanted.offer {
        true => offer::wider(machine, &nest, search, &best),
        false => None,
    };
    let wide = wide.map(|wide| {
        let copy = offer::copy(context, kernel);
        if wanted.remarks {
            let (name, other) = (kernel.symbol(), copy.symbol());
            remark(kernel, &format!("@{name}: @{other} is offered, {}", wide.tiled.describe()));
        }
        // What one is beside the other, the schedule has to know.
        for (kernel, tile) in [(kernel, &best), (copy, &wide)] {
            kernel.set_attr("cycles", attr::of_int(context, tile.cycles.ceil() as i64));
        }
        let nest = read(copy).expect("it was read before");
        let schedule = schedule(machine, &nest, &wide.tiled, &wide.tiles);
        rewrite(context, machine, copy, &nest, (&wide.tiled, &wide.tiles, &schedule));
        copy
    });
    let schedule = schedule(machine, &nest, &best.tiled, &best.tiles);
    rewrite(context, machine, kernel, &nest, (&best.tiled, &best.tiles, &schedule));
    Ok(wide)
}

/// Who computes a nest, and its rTiles, the rTask's first.
pub(super) struct Tile<'c> {
    pub tiled: Tiled<'c>,
    pub tiles: Vec<RTile>,
    /// Predicted cycles on one unit.
    pub cycles: f64,
}

impl<'c> Tile<'c> {
    /// The rTiles around that in the registers; reports what does not fit.
    pub fn of(
        machine: Machine<'c>,
        kernel: Op<'c>,
        nest: &Nest<'c>,
        tiled: Tiled<'c>,
        cycles: f64,
    ) -> Result<Self, Failed> {
        Self::fitting(machine, nest, tiled, cycles).map_err(|reason| {
            let name = kernel.symbol();
            Report::new(kernel.location(), format!("@{name} does not fit: {reason}"))
                .help("give the memory more bytes, or cut the tensor before");
            Failed
        })
    }

    /// As [`Tile::of`].
    ///
    /// # Errors
    /// What does not fit.
    pub fn fitting(
        machine: Machine<'c>,
        nest: &Nest<'c>,
        tiled: Tiled<'c>,
        cycles: f64,
    ) -> Result<Self, String> {
        if let Tiled::Block(chosen) = &tiled {
            let tiles = chosen.block.rtiles(nest, &chosen.ways).to_vec();
            return Ok(Self { tiled, tiles, cycles });
        }
        let unit = machine.units().into_iter().next().ok_or("the machine has no units")?;
        let inner = tiled.tile(nest);
        let tasks = task_tile::tasks_per_unit(machine, nest);
        let outer = task_tile::task_tile(nest, &inner, &unit, cycles, tasks, task_memory(machine));
        let (outer, part) = match &tiled {
            Tiled::Lanes(lanes) => {
                let axis = lanes.shape.lanes_axis;
                parts::in_parts(machine, nest, axis, cycles, &inner, outer)
            }
            _ => (outer, None),
        };
        let mut tiles: Vec<RTile> =
            [Some(outer), part, Some(inner)].into_iter().flatten().collect();
        if let Tiled::Lanes(lanes) = &tiled
            && let Some(stage) = &lanes.stage
        {
            let staged = task_tile::stage_tile(nest, &tiles[1], &tiles[0], stage)?;
            // What waits may be less than what the registers would take.
            for (inner, staged) in tiles[1].sizes.iter_mut().zip(&staged.sizes) {
                *inner = (*inner).min(*staged);
            }
            tiles.insert(1, staged);
        }
        Ok(Self { tiled, tiles, cycles })
    }

    /// How many rTasks there are.
    pub fn tasks(&self, nest: &Nest<'_>) -> u64 {
        task_grid(nest, &self.tiles[0]).iter().product()
    }
}

/// Who computes a tile of a group's member, and its rTiles.
pub(super) struct NearTile<'c> {
    tiled: Tiled<'c>,
    tiles: Vec<RTile>,
    /// Predicted cycles on one unit.
    pub cycles: f64,
    /// Bytes that an instruction of axes moves to and from the shared memory; none for lanes,
    /// whose tensors come once.
    pub far_bytes: Option<u64>,
}

impl NearTile<'_> {
    /// Sizes of the register tile.
    pub fn registers(&self) -> &[u64] {
        self.tiles.last().map_or(&[], |tile| &tile.sizes)
    }
}

/// Chooses for a tile of `sizes`, which looks like `near`. Where tiles are staged, those of others
/// take some of that memory. Nothing where blocks, or instructions that find nothing there, are the
/// best, or what is left there is too little.
pub(super) fn near_tile<'c>(
    chooser: &Chooser<'c>,
    near: &Nest<'c>,
    sizes: &[u64],
    beside: Near<'_>,
) -> Option<NearTile<'c>> {
    let fixed = vec![Layout::Fixed; near.inputs.len()];
    let search = Search { apart: true, near: Some(beside), ..Search::default() };
    let machine = chooser.machine;
    let choice = chooser.choose(near, &fixed, search).ok()?;
    let mut inner = choice.tiled.tile(near);
    let outer = RTile { memory: task_memory(machine).to_owned(), sizes: sizes.to_vec() };
    let lanes = match &choice.tiled {
        Tiled::Lanes(lanes) => lanes,
        Tiled::Matrix(matrix)
            if !isa::hands_over(machine, beside.memory, near, &matrix.mapping) =>
        {
            return None;
        }
        Tiled::Matrix(matrix) => {
            let tile = (&outer.sizes[..], &inner.sizes[..]);
            let moved = isa::traffic(machine, near, &matrix.mapping, tile, Some(beside));
            let shared = machine.shared()?.name;
            let far = |name: &&String| {
                let way = machine.move_named(name);
                way.is_some_and(|way| way.source() == shared || way.target() == shared)
            };
            let far_bytes = Some(moved.iter().filter(|(name, _)| far(name)).map(|own| own.1).sum());
            let (tiles, cycles) = (vec![outer, inner], choice.cycles);
            return Some(NearTile { tiles, cycles, tiled: choice.tiled, far_bytes });
        }
        Tiled::Block(_) | Tiled::Moved(..) => return None,
    };
    let staged = match lanes.stage.clone() {
        Some(mut stage) => {
            let left = stage.memory.capacity_bytes().checked_sub(beside.taken)?;
            stage.memory = stage.memory.with_capacity(left);
            Some(task_tile::stage_tile(near, &inner, &outer, &stage).ok()?)
        }
        None => None,
    };
    for (inner, staged) in inner.sizes.iter_mut().zip(staged.iter().flat_map(|one| &one.sizes)) {
        *inner = (*inner).min(*staged);
    }
    let tiles = [Some(outer), staged, Some(inner)].into_iter().flatten().collect();
    Some(NearTile { tiles, cycles: choice.cycles, tiled: choice.tiled, far_bytes: None })
}

/// Writes rTiles and the schedule for a tile of `kernel` that waits near a unit, which looks like
/// `near`, or for the last member of a group, which is done as it stands.
pub(super) fn construct_tile<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    near: Option<&Nest<'c>>,
    tile: &NearTile<'c>,
) -> Result<(), Failed> {
    let nest = read(kernel)?;
    let schedule = schedule(machine, near.unwrap_or(&nest), &tile.tiled, &tile.tiles);
    rewrite(context, machine, kernel, &nest, (&tile.tiled, &tile.tiles, &schedule));
    Ok(())
}

/// Makes a kernel that copies or fills the work of a move, at once or `most` points of an axis in
/// an rTask.
pub(crate) fn construct_move<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    way: &Move<'c>,
    most: Option<u64>,
) -> Result<(), Failed> {
    let nest = read(kernel)?;
    let size = |extent: u64| extent.min(most.unwrap_or(extent));
    let sizes = nest.extents().into_iter().map(size).collect();
    let tile = RTile { memory: way.target().to_owned(), sizes };
    let tiles = [tile.clone()];
    let moved = Tiled::Moved(way.name, tile);
    rewrite(context, machine, kernel, &nest, (&moved, &tiles, &Schedule::default()));
    Ok(())
}

fn say(kernel: Op<'_>, choice: &Choice<'_>) {
    let second = choice.runner_up.as_ref().map(|(what, cycles)| (&**what, *cycles));
    let told = chosen(&choice.tiled.describe(), choice.cycles, second);
    remark(kernel, &format!("@{}: {told}", kernel.symbol()));
}

/// What became of every mapping of an instruction that has axes of its own.
fn say_mappings<'c>(machine: Machine<'c>, kernel: Op<'c>, nest: &Nest<'c>, search: Search<'_>) {
    let name = kernel.symbol();
    for instruction in machine.instructions().iter().filter(|one| isa::has_axes(one)) {
        let mut record = Vec::new();
        let found = isa::consider(machine, nest, instruction, search, &mut record);
        for isa::Considered { mapping, cycles, dropped } in record {
            let cycles = cycles.map_or(String::new(), |cycles| format!(" with {cycles:.0} cycles"));
            let why = dropped.map_or("kept".to_owned(), |why| format!("dropped, {why}"));
            remark(kernel, &format!("@{name}: {mapping}{cycles}: {why}"));
        }
        if let Err(refusal) = found {
            remark(kernel, &format!("@{name}: {refusal}"));
        }
    }
}

/// The memory an rTask's tile is kept in: the largest cache of one core, or the
/// shared memory where there is none.
fn task_memory(machine: Machine<'_>) -> &str {
    machine
        .memories()
        .iter()
        .filter(|memory| memory.is_cache() && memory.scope() == weft_dialects::device::Scope::Core)
        .max_by_key(|memory| memory.capacity_bytes())
        .map(|memory| memory.name)
        .or_else(|| machine.shared().map(|memory| memory.name))
        .unwrap_or("dram")
}

/// Puts loads, the compute and stores around the payload.
fn rewrite<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    nest: &Nest<'c>,
    (tiled, tiles, schedule): (&Tiled<'c>, &[RTile], &Schedule),
) {
    let block = kernel.body(0).expect("the kernel was read");
    let payload = block.ops();
    let args = block.args();
    let results = nest.outputs.len();
    let (inputs, inits) = args.split_at(args.len() - results);
    let shared = machine.shared().map_or("dram", |memory| memory.name);
    let registers = &tiles[tiles.len() - 1].memory;

    let mut b = Builder::at_end(context, block).with_location(kernel.location());
    let loaded: Vec<Val<'c>> = inputs
        .iter()
        .map(|arg| {
            path(nest, tiled, *arg, shared).into_iter().fold(*arg, |value, memory| {
                let memory = ("memory", attr::of_symbol(context, memory));
                b.op_with("tile.load", &[value], &[arg.ty()], &[memory], 0).result(0)
            })
        })
        .collect();
    let operands: Vec<_> = loaded.iter().chain(inits).copied().collect();
    let types: Vec<_> = inits.iter().map(|init| init.ty()).collect();
    let rtiles: Vec<_> = tiles.iter().map(|tile| tile.to_attr(context)).collect();
    let mut attributes = vec![
        ("instruction", attr::of_symbol(context, tiled.instruction())),
        ("tiles", attr::of_array(context, &rtiles)),
        ("operandSegmentSizes", attr::of_ints32(context, &[loaded.len() as i32, results as i32])),
    ];
    match tiled {
        Tiled::Lanes(lanes) => {
            if let Some(axis) = lanes.shape.lanes_axis {
                attributes.push(("lanes", attr::of_int(context, axis as i64)));
            }
        }
        Tiled::Matrix(matrix) => {
            attributes.push(("axes", Compute::axes_attr(context, &matrix.mapping.axes)));
        }
        Tiled::Block(chosen) => attributes.extend(block_attributes(context, chosen)),
        Tiled::Moved(..) => {}
    }
    attributes.extend(schedule.to_attr(context).map(|schedule| ("schedule", schedule)));
    let compute = b.op_with("tile.compute", &operands, &types, &attributes, 1);
    let arg_types: Vec<_> = operands.iter().map(|operand| operand.ty()).collect();
    let body = b.block(compute.region(0), &arg_types);
    let mut map = Mapping::default();
    for (old, new) in args.iter().zip(body.args()) {
        map.set(*old, new);
    }
    let mut inside = b.into_block(body);
    for op in &payload {
        inside.clone_op(*op, &mut map);
    }
    let stored: Vec<_> = compute
        .results()
        .into_iter()
        .zip(inits)
        .map(|(result, init)| {
            let memory = ("memory", attr::of_symbol(context, registers));
            b.op_with("tile.store", &[result, *init], &[init.ty()], &[memory], 0).result(0)
        })
        .collect();
    b.op("tile.yield", &stored, &[]);
    for op in payload.into_iter().rev() {
        op.erase();
    }
}

/// What a block tile says beside its tiles: axes or lanes, and layouts.
fn block_attributes<'c>(
    context: &'c Context,
    chosen: &Chosen<'c>,
) -> Vec<(&'static str, Attribute<'c>)> {
    let block = &chosen.block;
    let axes = match &block.core {
        Core::Matrix(mapping, _) => ("axes", Compute::axes_attr(context, &mapping.axes)),
        Core::Lanes(..) => ("lanes", attr::of_int(context, block.axes[block::N] as i64)),
    };
    let layout = |input: usize| {
        let side = block.inputs.iter().position(|own| *own == input).unwrap_or(0);
        attr::of_ints(context, &block::to_numbers(&chosen.lying[side].0))
    };
    vec![axes, ("layouts", attr::of_array(context, &[layout(0), layout(1)]))]
}

/// The memories that the tiles of an argument are brought to, one after the other.
fn path<'c>(nest: &Nest<'c>, tiled: &Tiled<'c>, arg: Val<'c>, shared: &'c str) -> Vec<&'c str> {
    match tiled {
        Tiled::Lanes(lanes) => {
            let captured = nest.captures.iter().any(|capture| capture.tensor == arg);
            let access = nest.accesses().into_iter().find(|access| access.tensor == arg);
            let on_lanes = match (access, lanes.shape.lanes_axis) {
                (Some(access), Some(axis)) => !captured && access.uses(axis),
                _ => false,
            };
            let stage = lanes.stage.as_ref().map(|stage| stage.memory.name);
            let last =
                if on_lanes { Some(lanes.memory) } else { stage.is_none().then_some(shared) };
            stage.into_iter().chain(last).collect()
        }
        Tiled::Matrix(matrix) => {
            let bound = |input: usize| {
                let bound = Bound::Operand(input);
                let mut operands = matrix.mapping.binding.operands.iter();
                let operand = operands.position(|operand| *operand == bound);
                operand.map(|operand| matrix.mapping.instruction.operands()[operand])
            };
            let input = nest.inputs.iter().position(|access| access.tensor == arg);
            vec![input.and_then(bound).unwrap_or(shared)]
        }
        Tiled::Block(chosen) => {
            let input = nest.inputs.iter().any(|access| access.tensor == arg);
            let ways = &chosen.ways;
            if input { vec![ways.near.name, ways.registers.name] } else { vec![shared] }
        }
        Tiled::Moved(..) => Vec::new(),
    }
}
