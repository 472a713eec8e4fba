//! `weft explain`: the decisions for a model, their alternatives and costs.
//!
//! | Part of the report | From |
//! |---|---|
//! | the tile-graph | the text of the stage `tile`: `graph.rs`; what each memory hands over: `layers.rs` |
//! | kernels in their order, the arena | the text of the stage `task`: `program.rs` |
//! | what a kernel computes, by which tile, at what predicted cost | its own text: `kernels.rs` |
//! | why | what passes said: `remarks.rs` |
//! | code | the text of the stage `device`: `listing.rs`; from operators to it: `links.rs` |
//! | ceilings | the machine file: `roofline.rs` |
//! | none, base and full joining | a compilation of each: `joining.rs` |
//! | measured times | runs on the processor that compiles: `measure.rs` |
//!
//! A report ([`Report`]) is plain data. The page (`page.rs`) holds it and draws it, and the
//! graph for Model Explorer (`model_explorer.rs`) holds it, too: neither computes a figure.

mod graph;
mod joining;
mod kernels;
mod layers;
mod links;
mod listing;
mod measure;
mod model_explorer;
mod page;
mod program;
mod remarks;
mod report;
mod roofline;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use weft_dialects::device::Machine;
use weft_passes::pipeline::Stage;

use crate::commands::folder_for_run;
use crate::{Failure, Options, Remarks, Unit};

pub use measure::Measure;
pub use model_explorer::model_explorer;
pub use page::page;
pub use report::*;

use joining::Way;
use kernels::Kernels;
use measure::Runner;
use program::{Job, Program};

/// The result of one compilation.
struct Compiled {
    program: Program,
    graph: Graph,
    remarks: Vec<Remark>,
    device: Device,
    roofline: Roofline,
    /// The text of each kernel, or why there is none.
    code: Result<BTreeMap<String, String>, String>,
}

/// Explains the model at `path`; runs it where `measure` says how.
///
/// # Errors
/// A model that does not compile; text past the stage `tile`; what a run refuses.
pub fn explain(
    path: &Path,
    options: &Options,
    measure: Option<&Measure>,
) -> Result<Report, Failure> {
    let mut asked = options.clone();
    asked.remarks = Remarks::All;
    let (shown, runner, from_graph) = compile(path, &asked, measure)?;
    let mut runners: Vec<Runner> = runner.into_iter().collect();
    // The joining that is shown comes first; those with the same options share a compilation.
    let mut programs = vec![shown.program.clone()];
    let mut ways: Vec<(Way, usize)> = Vec::new();
    // Text of the stage `tile` is joined as it is.
    for way in joining::ways().into_iter().filter(|_| from_graph) {
        let same = ways.iter().find(|(other, _)| other.options == way.options);
        let known = if way.is(&asked) { Some(0) } else { same.map(|&(_, number)| number) };
        let number = match known {
            Some(number) => number,
            None => {
                let mut options = way.options(&asked);
                options.remarks = Remarks::None;
                let (compiled, runner, _) = compile(path, &options, measure)?;
                runners.extend(runner);
                programs.push(compiled.program);
                programs.len() - 1
            }
        };
        ways.push((way, number));
    }
    let mut report = report(path, &shown);
    report.quantized = quantized(path, &report.kernels)?;
    if let Some(measure) = measure {
        report.measured = Some(measure::in_turns(&mut runners, measure)?);
        let times = runners[0].jobs_ms(&shown.program.jobs)?;
        for (kernel, time) in report.kernels.iter_mut().zip(times) {
            kernel.measured_ms = time;
        }
        // A step of the plan is a range of the program, in its order.
        let ranges = report.kernels.iter_mut().flat_map(|kernel| &mut kernel.ranges);
        for (range, times) in ranges.zip(runners[0].ranges_ms()) {
            range.measured_ms = Some(times);
        }
    }
    for (program, number) in programs.iter_mut().zip(0..) {
        program.summary.measured_ms = runners.get(number).and_then(Runner::median_ms);
    }
    report.summary = programs[0].summary.clone();
    side_by_side(&mut report, &programs, &ways);
    Ok(report)
}

/// Puts the figures of all ways into the report; each is the compilation of its number.
fn side_by_side(report: &mut Report, programs: &[Program], ways: &[(Way, usize)]) {
    let own: Vec<&Program> = ways.iter().map(|&(_, number)| &programs[number]).collect();
    let figures = ways.iter().zip(&own).map(|((way, number), program)| {
        joining::figures(way, *number == 0, program.summary.clone())
    });
    report.joinings = figures.collect();
    report.patterns = joining::patterns(&mut report.joinings, &own);
    for (kernel, job) in report.kernels.iter_mut().zip(&programs[0].jobs) {
        let same = |pattern: &Pattern| pattern.nests == job.facts.pattern;
        kernel.pattern = report.patterns.iter().position(same);
    }
}

/// Compiles as far as the stage `task`, and the rest where it is to be run. Says, too, whether
/// it began before the stage `tile`.
fn compile(
    path: &Path,
    options: &Options,
    measure: Option<&Measure>,
) -> Result<(Compiled, Option<Runner>, bool), Failure> {
    let context = crate::context();
    let mut unit = Unit::open(&context, path, options.clone())?;
    let from_graph = unit.stage() < Stage::Tile;
    if unit.stage() > Stage::Tile {
        return Err(Failure::said(
            format!("the text is already at the stage {:?}", unit.stage()).to_lowercase(),
            "a model, or text of the stage graph or tile: edges are gone later",
        ));
    }
    unit.lower(Stage::Tile)?;
    let read = {
        let machine = machine_of(&unit)?;
        graph::read(unit.module(), machine, &mut Kernels::of(unit.module(), machine))?
    };
    unit.lower(Stage::Task)?;
    let mut compiled = {
        let machine = machine_of(&unit)?;
        let mut kernels = Kernels::of(unit.module(), machine);
        let program = program::read(unit.module(), machine, &mut kernels, &read.joined())?;
        let device = roofline::device(machine, &program.unit);
        let roofline = roofline::roofline(machine, &device, &program.jobs);
        let graph = graph::place(read.graph, &program.jobs, &device.shared);
        let (remarks, code) = (Vec::new(), Ok(BTreeMap::new()));
        Compiled { program, graph, remarks, device, roofline, code }
    };
    // Other joinings are reported by figures alone.
    if options.remarks == Remarks::All {
        compiled.code = code(&mut unit);
        compiled.remarks = remarks::counted(&unit.remarks);
    }
    let runner = match measure {
        Some(measure) => Some(Runner::new(&mut unit, folder_for_run()?.path(), measure)?),
        None => None,
    };
    unit.end_progress();
    Ok((compiled, runner, from_graph))
}

/// The code of all kernels. A machine may be one to plan for, without code of its own: what was
/// chosen is explained nevertheless.
fn code(unit: &mut Unit<'_>) -> Result<BTreeMap<String, String>, String> {
    unit.lower(Stage::Device).map_err(|failure| failure.to_string())?;
    unit.choose_forms().map_err(|failure| failure.to_string())?;
    Ok(listing::texts(unit.module()))
}

fn machine_of<'c>(unit: &Unit<'c>) -> Result<Machine<'c>, Failure> {
    Machine::of(unit.module())
        .ok_or_else(|| Failure::said("the module has no machine", "give one with --device"))
}

/// The report without times that were measured and without other ways to join.
/// What `weft quantize` wrote down in a model, with the kernels that are made of these products.
fn quantized(path: &Path, kernels: &[Kernel]) -> Result<Vec<Quantized>, Failure> {
    if path.extension().is_some_and(|extension| extension == "mlir") {
        return Ok(Vec::new());
    }
    let model = weft_onnx::Model::open(path)?;
    let of_layer = |(name, error): (String, f64)| {
        let computes = |kernel: &&Kernel| kernel.op.split('+').any(|op| op == name);
        let of_kernels = kernels.iter().zip(0..).filter(|(kernel, _)| computes(kernel));
        let kernels = of_kernels.map(|(_, number)| number).collect();
        Quantized { name, error, kernels }
    };
    Ok(weft_onnx::quantize::errors_of(&model.metadata).into_iter().map(of_layer).collect())
}

fn report(path: &Path, compiled: &Compiled) -> Report {
    let Compiled { program, graph, remarks, device, roofline, code } = compiled;
    let mut kernels: Vec<Kernel> =
        program.jobs.iter().map(|job| kernel(job, device, roofline)).collect();
    let mut graph = graph.clone();
    remarks::attach(remarks, &mut kernels, &mut graph);
    let listings = code.as_ref().map(|texts| listing::listings(texts, &mut kernels));
    let no_code = code.as_ref().err().cloned();
    let operators = users(&kernels, |kernel| kernel.op.split('+').collect());
    let instructions = users(&kernels, |kernel| {
        kernel.computes.iter().map(|compute| compute.instruction.as_str()).collect()
    });
    Report {
        weft: format!("weft {}", env!("CARGO_PKG_VERSION")),
        model: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        device: device.clone(),
        summary: program.summary.clone(),
        operators,
        instructions,
        listings: listings.unwrap_or_default(),
        no_code,
        kernels,
        graph,
        arenas: program.arenas.clone(),
        roofline: roofline.clone(),
        joins_fully: joining::joins_fully(),
        joinings: Vec::new(),
        patterns: Vec::new(),
        quantized: Vec::new(),
        remarks: remarks.clone(),
        measured: None,
    }
}

/// By name, the kernels for which it is given.
fn users(kernels: &[Kernel], names: impl Fn(&Kernel) -> Vec<&str>) -> Vec<Users> {
    let mut found: Vec<Users> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (number, kernel) in kernels.iter().enumerate() {
        for name in names(kernel) {
            let place = *places.entry(name).or_insert(found.len());
            if place == found.len() {
                found.push(Users { name: name.to_owned(), kernels: Vec::new() });
            }
            if found[place].kernels.last() != Some(&number) {
                found[place].kernels.push(number);
            }
        }
    }
    found
}

fn kernel(job: &Job, device: &Device, roofline: &Roofline) -> Kernel {
    let facts = &job.facts;
    let read_bytes = facts.moved.iter().map(|moved| moved.read).sum();
    let written_bytes = facts.moved.iter().map(|moved| moved.written).sum();
    let bytes: u64 = read_bytes + written_bytes;
    let intensity = facts.operations as f64 / bytes as f64;
    Kernel {
        op: job.name.clone(),
        kernel: job.kernel.clone(),
        computes: facts.computes.clone(),
        tasks: facts.tasks,
        ranges: job.ranges.clone(),
        operations: facts.operations,
        read_bytes,
        written_bytes,
        predicted: facts.predicted.clone(),
        floor_ms: job.floor_ms,
        floor_total_ms: job.floor_total_ms,
        predicted_ms: job.predicted_ms,
        measured_ms: None,
        intensity: (bytes > 0).then_some(intensity),
        bound: roofline::bound(device, roofline, facts.operations, bytes),
        pattern: None,
        listing: None,
        remarks: Vec::new(),
    }
}
