//! `tile-to-task`: the conversion from kernels on tensors to ranges on units.
//!
//! ```text
//! tile.graph { %y = tile.run "relu" @relu(%x) into(%e) }
//!   ->  task.program on @core units 2 {
//!         %t0 = task.range "relu" @relu[0 to 4] on 0(%x, %y) after()
//!         %t1 = task.range "relu" @relu[4 to 8] on 1(%x, %y) after()
//!       }
//! ```
//!
//! Values that depend on weights alone become constants (`values.rs`), buffers get
//! their offsets (`arena.rs`), runs are cut and placed (`schedule.rs`), and tokens
//! say what waits for what (`conflicts.rs`, `reduce.rs`). Kernels are left as they
//! are; where a copy is needed, its kernel is added (`copy.rs`).

use std::collections::HashSet;

use weft_dialects::device::{Machine, Memory, Unit};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Op, Report, remark};
use weft_dialects::repeat::Repeat;
use weft_dialects::tile::{self, Graph};

use super::emit;
use super::kernels::Kernels;
use super::schedule::lanes::Placement;
use super::schedule::operators::{RKernel, Target};
use super::schedule::{self, Arena, Launches, Options, Policy, Range, Schedule, TooLarge};
use super::values::{self, Constant, Job, Lowered, StorageClass};
use crate::remarks::{Refused, chosen};
use crate::tile::cluster_memory::ClusterMemory;

/// See the module.
pub const PASS: Pass = Pass {
    name: "tile-to-task",
    description: "Cut runs into ranges of rTasks, place them on units, and lay out buffers",
    options: &[
        option("unit", "the kind of execution unit; the machine's first where empty", ""),
        option("units", "how many virtual units; as many as the machine has where empty", ""),
        option(
            "split-cycles",
            "estimated cycles above which a run is split; the unit's handover where empty",
            "",
        ),
        option(
            "policy",
            "whose order: text, critical (list scheduling by critical path), wavefront \
             (Rammer's), depth (GraphTurbo's), or auto, the shortest of all by estimate",
            "auto",
        ),
        option(
            "placement",
            "what the wavefront policy gives an operator: any lanes, or ranges of units",
            "lanes",
        ),
        option(
            "waits",
            "what a range waits for: points, the ranges that it touches, or operators",
            "points",
        ),
        option(
            "launches",
            "where a program is cut in launches: by the policy, one, or each operator",
            "policy",
        ),
        option(
            "near",
            "what lies in the memory that the units of a cluster share: auto, what saves bytes of \
             the one that all share, or none",
            "auto",
        ),
        option("remarks", "say what was ordered and split, and why", "false"),
    ],
    statistics: &[
        ("ranges", "ranges of rTasks"),
        ("waits", "tokens that ranges wait for"),
        ("launches", "programs that start one after the other"),
        ("constants", "runs evaluated when the artifact is written"),
        ("buffers", "pieces of the arena"),
        ("arena-bytes", "bytes that all buffers need"),
    ],
    run,
};

const fn option(
    name: &'static str,
    description: &'static str,
    fallback: &'static str,
) -> PassOption {
    PassOption { name, description, fallback }
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let graphs = find_graphs(run.module)?;
    let (mut offered_all, mut used_all) = (HashSet::new(), HashSet::new());
    for graph in graphs {
        let [offered, used] = lower(run, &graph)?;
        offered_all.extend(offered);
        used_all.extend(used);
    }
    for kernel in run.module.body(0).into_iter().flat_map(|block| block.ops()) {
        if offered_all.contains(kernel.symbol()) && !used_all.contains(kernel.symbol()) {
            kernel.erase();
        }
    }
    Ok(())
}

/// Converts one graph; gives the kernels that were offered beside others, and those that are used.
fn lower<'c>(run: &mut Run<'c>, graph: &Graph<'c>) -> Result<[HashSet<&'c str>; 2], Failed> {
    let machine = run.machine()?;
    let (unit, options) = read_options(run, machine)?;
    let near = run.word("near", &[("auto", true), ("none", false)])?;
    let remarks = run.flag("remarks")?;
    let Some(shared) = machine.shared() else {
        Report::new(
            machine.location(),
            format!("{} has no memory of scope device", machine.name()),
        )
        .help("buffers are in the first memory of scope \"device\" that is not a cache");
        return Err(Failed);
    };
    let mut kernels = Kernels::of(run.context, run.module, machine);
    let mut lowered = values::lower(graph, &mut kernels, shared.name)?;
    let fits = |arenas: &[Arena]| match too_large(machine, arenas) {
        None => Ok(()),
        Some((memory, bytes)) => Err(TooLarge {
            memory: memory.name.to_owned(),
            bytes,
            capacity: memory.capacity_bytes(),
        }),
    };
    let offers = |job| schedule::ways(job, &kernels, &options.target);
    let offers: Vec<_> =
        if remarks { lowered.jobs.iter().map(offers).collect() } else { Vec::new() };
    let cluster_memory = ClusterMemory::of(machine, &unit, options.target.units).filter(|_| near);
    let schedule =
        schedule::schedule(&mut lowered, &mut kernels, options, cluster_memory.as_ref(), &fits)?;
    check_fits(graph, machine, &schedule)?;
    emit::emit(
        run.context,
        graph,
        (unit.name, options.target.units),
        &lowered,
        &kernels,
        &schedule,
    )?;
    if remarks {
        explain(graph, &lowered, &kernels, &schedule, options);
        for (job, line) in cluster_memory
            .iter()
            .flat_map(|cluster_memory| schedule.in_clusters.report(&lowered, cluster_memory))
        {
            let job = &lowered.jobs[job];
            remark(job.op, &format!("\"{}\" {line}", job.name));
        }
        for (job, ways) in lowered.jobs.iter().zip(&offers).filter(|(_, ways)| ways.len() > 1) {
            say_kernel(job, ways, &kernels, &options.target);
        }
    }
    count(run, &lowered, &schedule);
    let offered = offered(graph);
    graph.op.erase();
    let evaluated = lowered.constants.iter().filter_map(|constant| match constant {
        Constant::Expression { run, .. } => Some(run.kernel),
        _ => None,
    });
    let used = lowered.jobs.iter().map(|job| kernels.name(job.kernel)).chain(evaluated).collect();
    Ok([offered, used])
}

/// The kernels of runs that were done by one of several.
fn offered<'c>(graph: &Graph<'c>) -> HashSet<&'c str> {
    let runs = graph.body.iter().filter_map(tile::Run::of).filter(|run| !run.others.is_empty());
    runs.flat_map(|run| std::iter::once(run.kernel).chain(run.others)).collect()
}

/// Refuses buffers that do not fit their memory.
fn check_fits(graph: &Graph<'_>, machine: Machine<'_>, schedule: &Schedule) -> Result<(), Failed> {
    let Some((memory, bytes)) = too_large(machine, &schedule.arenas) else { return Ok(()) };
    let (name, capacity) = (memory.name, memory.capacity_bytes());
    let what = format!("buffers take {bytes} bytes of @{name}, which holds {capacity}");
    Report::new(graph.op.location(), what)
        .note(memory.op(), "the memory is here")
        .help("a memory of scope \"host\" with moves to and from it lets tensors wait there");
    Err(Failed)
}

/// The first arena that does not fit its memory, where the capacity of that was declared and not
/// measured: then it is the system that says how much there is.
fn too_large<'c>(machine: Machine<'c>, arenas: &[Arena]) -> Option<(Memory<'c>, u64)> {
    let declared = arenas.iter().filter_map(|(name, bytes)| Some((machine.memory(name)?, *bytes)));
    let declared = declared.filter(|(memory, _)| memory.host().is_none());
    declared.into_iter().find(|(memory, bytes)| *bytes > memory.capacity_bytes())
}

/// The tile-graphs, each behind the bodies that it calls; none where the module is past this conversion.
fn find_graphs(module: Op<'_>) -> Result<Vec<Graph<'_>>, Failed> {
    let ops = || module.body(0).into_iter().flat_map(|block| block.ops());
    let (bodies, models): (Vec<_>, Vec<_>) =
        ops().filter_map(Graph::of).partition(|graph| Repeat::of(graph.op).is_some());
    if let [first, second, ..] = &models[..] {
        Report::new(second.op.location(), "the module has a second tile.graph")
            .note(first.op, "the first one")
            .help("a program is one model; split the module");
        return Err(Failed);
    }
    if models.is_empty() && !ops().any(|op| op.is("task.program")) {
        Report::new(module.location(), "the module has no tile.graph")
            .help("run graph-to-tile first");
        return Err(Failed);
    }
    let mut found = Vec::new();
    let mut open: Vec<_> = models.into_iter().map(|model| (model, false)).collect();
    while let Some((graph, done)) = open.pop() {
        if done {
            found.push(graph);
            continue;
        }
        let called = graph.body.iter().filter_map(tile::Run::of).map(|run| run.kernel);
        let called = called.filter_map(|name| bodies.iter().find(|body| body.name == name));
        let called: Vec<_> = called.cloned().collect();
        open.push((graph, true));
        open.extend(called.into_iter().map(|body| (body, false)));
    }
    let idle = |body: &&Graph<'_>| found.iter().all(|own: &Graph<'_>| own.op != body.op);
    if let Some(body) = bodies.iter().find(idle) {
        Report::new(body.op.location(), format!("no tile.run calls the body @{}", body.name))
            .help("call it, or leave it out");
        return Err(Failed);
    }
    Ok(found)
}

fn read_options<'c>(run: &Run<'c>, machine: Machine<'c>) -> Result<(Unit<'c>, Options), Failed> {
    let kinds = machine.units();
    let words: Vec<_> =
        kinds.iter().enumerate().map(|(number, unit)| (unit.name, number)).collect();
    let found = if run.option("unit").is_empty() { 0 } else { run.word("unit", &words)? };
    let Some(unit) = kinds.into_iter().nth(found) else {
        Report::new(machine.location(), format!("{} has no units", machine.name()))
            .help("a program is placed on the execution units of a machine");
        return Err(Failed);
    };
    let most = unit.count();
    let units = run.value("units", &format!("a number from 1 to {most}"), |text| match text {
        "" => Some(most),
        text => text.parse().ok().filter(|units| (1..=most).contains(units)),
    })?;
    let target = Target {
        units,
        capacity: units * unit.partitions(),
        // A handover is never free: on equal terms a unit continues with its own results.
        wait_cycles: unit.wait_cycles().max(1),
        launch_cycles: unit.launch_cycles(),
        split_cycles: run.given_number("split-cycles")?.unwrap_or(unit.handover_cycles()),
    };
    let options = Options {
        target,
        policy: run.word(
            "policy",
            &[
                ("auto", Policy::Auto),
                ("text", Policy::Text),
                ("critical", Policy::Critical),
                ("wavefront", Policy::Wavefront),
                ("depth", Policy::Depth),
            ],
        )?,
        placement: run
            .word("placement", &[("lanes", Placement::Lanes), ("ranges", Placement::Ranges)])?,
        whole_waits: run.word("waits", &[("points", false), ("operators", true)])?,
        launches: run.word(
            "launches",
            &[("policy", Launches::Policy), ("one", Launches::One), ("each", Launches::Each)],
        )?,
    };
    Ok((unit, options))
}

/// One remark for each run: what was estimated, what was decided; and those of the policy.
fn explain(
    graph: &Graph<'_>,
    lowered: &Lowered<'_>,
    kernels: &Kernels<'_>,
    schedule: &Schedule,
    options: Options,
) {
    let name = |job: usize| format!("\"{}\"", lowered.jobs[job].name);
    for line in schedule.order.report(&options.target, name) {
        remark(graph.op, &line);
    }
    // `cluster_memory/` reports what clusters copy.
    let by_units = |ranges: &&[Range]| ranges[0].unit < options.target.units;
    let jobs = schedule.ranges.chunk_by(|one, other| one.job == other.job);
    for ranges in jobs.filter(by_units) {
        let job = &lowered.jobs[ranges[0].job];
        let (parts, unit) = (ranges.len(), ranges[0].unit);
        let facts = kernels.facts(job.kernel);
        let (cycles, limit, tasks) = (facts.cycles, options.target.split_cycles, facts.tasks);
        let why = match (parts > 1, cycles > limit) {
            (true, _) => format!("split in {parts}: {cycles} cycles on one unit are above {limit}"),
            (false, false) => {
                format!("whole on unit {unit}: {cycles} cycles are not above {limit}")
            }
            (false, true) => format!(
                "whole on unit {unit}: {cycles} cycles are above {limit}, but there are {tasks} rTasks for {} units",
                options.target.units
            ),
        };
        remark(job.op, &format!("\"{}\" @{} is {why}", job.name, kernels.name(job.kernel)));
    }
}

/// Which of the kernels that are offered for a job does it, and the next.
fn say_kernel(job: &Job<'_>, ways: &[(usize, RKernel)], kernels: &Kernels<'_>, target: &Target) {
    let Some((number, own)) = ways.iter().find(|(number, _)| *number == job.kernel) else { return };
    let told = |(number, kernel): &(usize, RKernel)| {
        (format!("@{}", kernels.name(*number)), kernel.time(target) as f64)
    };
    let second = ways.iter().find(|(other, _)| other != number);
    let named = second.map(&told);
    let named = named.as_ref().map(|(name, cycles)| (&**name, *cycles));
    let mut line = chosen(&told(&(*number, *own)).0, own.time(target) as f64, named);
    // A wave of more than the machine does at once takes those that take the least of it.
    if let Some((_, other)) = second.filter(|(_, other)| other.time(target) < own.time(target)) {
        let values = format!("{} groups of lanes, {}", own.resource(), other.resource());
        line += &format!("; {}", Refused::by("wave", "the machine is full").met(values));
    }
    remark(job.op, &format!("\"{}\" is done by {line}", job.name));
}

fn count(run: &mut Run<'_>, lowered: &Lowered<'_>, schedule: &Schedule) {
    let constant = |constant: &&Constant<'_>| matches!(constant, Constant::Expression { .. });
    let arena = |storage: &&values::Storage<'_>| matches!(storage.class, StorageClass::Arena(_));
    run.count("ranges", schedule.ranges.len() as u64);
    run.count("launches", schedule.launches.len() as u64 + 1);
    run.count("waits", schedule.ranges.iter().map(|range| range.waits.len() as u64).sum());
    run.count("constants", lowered.constants.iter().filter(constant).count() as u64);
    run.count("buffers", lowered.storages.iter().filter(arena).count() as u64);
    run.count("arena-bytes", schedule.arenas.iter().map(|(_, bytes)| bytes).sum());
}
