//! `weft simulate`: a model on a machine that exists only as text.

use std::path::PathBuf;

use serde::Serialize;
use weft_runtime::compare::Tolerance;
use weft_runtime::plan::CodeKind;
use weft_runtime::session::Job;
use weft_runtime::simulate::{self, Report};
use weft_runtime::{Artifact, Model};

use super::{CompileArgs, check_device, compile_with, is_artifact, write_trace};
use crate::Failure;

/// Runs a model on a simulated machine.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The model, or a simulated `.weft` artifact.
    pub model: PathBuf,
    /// Inputs by tensor name; random ones without.
    #[arg(long, value_name = "NPZ")]
    pub inputs: Option<PathBuf>,
    /// File for the outputs, by tensor name.
    #[arg(long, value_name = "NPZ")]
    pub outputs: Option<PathBuf>,
    /// Expected outputs, by name, or arr_0, arr_1, ... in output order.
    #[arg(long, value_name = "NPZ")]
    pub expect: Option<PathBuf>,
    /// Allowed difference relative to the expected value.
    #[arg(long, default_value_t = 1e-3)]
    pub rtol: f64,
    /// Allowed absolute difference.
    #[arg(long, default_value_t = 1e-4)]
    pub atol: f64,
    /// Seed of random inputs.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Only the time: no data, and none of the checks that need it.
    #[arg(long, conflicts_with_all = ["inputs", "outputs", "expect"])]
    pub timing_only: bool,
    /// Only the results and the checks: no time.
    #[arg(long, conflicts_with_all = ["timing_only", "trace"])]
    pub functional_only: bool,
    /// File for a trace of the run in Chrome's trace format, for Perfetto.
    #[arg(long, value_name = "JSON")]
    pub trace: Option<PathBuf>,
    /// Print everything as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Options of the compilation.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// The result that is printed as JSON.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// True if results were computed and every check passed.
    functional: bool,
    /// True if the results were compared with expected ones; a difference is an error.
    compared: bool,
    outputs: Vec<Output<'a>>,
}

#[derive(Serialize)]
struct Output<'a> {
    name: &'a str,
    dtype: String,
    shape: &'a [u64],
}

/// Does it.
///
/// # Errors
/// A model that does not compile, a program that the simulator refuses, outputs that differ
/// from those expected.
pub fn run(args: &Args) -> Result<(), Failure> {
    let artifact = if is_artifact(&args.model) {
        check_device(&args.model, &args.compile)?;
        Artifact::open(&args.model)?
    } else {
        compile(args)?
    };
    if artifact.plan().code != CodeKind::Simulated {
        return Err(Failure::said(
            "the artifact holds code for a machine that exists, which is not simulated",
            "the model that it was compiled from",
        ));
    }
    let mut model = Model::new(artifact, None)?;
    if !args.timing_only {
        let job = Job {
            inputs: args.inputs.clone(),
            outputs: args.outputs.clone(),
            expect: args.expect.clone(),
            tolerance: Tolerance { rtol: args.rtol, atol: args.atol },
            seed: args.seed,
            ..Job::default()
        };
        job.run(&mut model)?;
    }
    let Model::Simulated(model) = model else { return Ok(()) };
    let mut report = Report::default();
    if !args.functional_only {
        let (timed, trace) = model.simulator()?.time(args.trace.is_some())?;
        report = timed;
        if let (Some(path), Some(trace)) = (&args.trace, trace) {
            write_trace(path, &trace)?;
        }
    }
    print(args, &model, &report);
    Ok(())
}

fn compile(args: &Args) -> Result<Artifact, Failure> {
    let mut options = args.compile.options_for(args.inputs.as_deref())?;
    options.simulate = true;
    let compiled = compile_with(&args.model, &args.compile, options)?;
    // The file is mapped; its name may go.
    Ok(Artifact::open(&compiled.path)?)
}

fn print(args: &Args, model: &simulate::Model, report: &Report) {
    let ports = &model.artifact().plan().outputs;
    if args.json {
        let outputs = ports.iter().map(|port| Output {
            name: &port.name,
            dtype: port.dtype.to_string(),
            shape: &port.shape,
        });
        let printed = Printed {
            report,
            functional: !args.timing_only,
            compared: args.expect.is_some(),
            outputs: outputs.collect(),
        };
        let text = serde_json::to_string_pretty(&printed);
        println!("{}", text.expect("a report is plain data"));
        return;
    }
    for port in ports {
        println!("{}: {} {:?}", port.name, port.dtype, port.shape);
    }
    if args.expect.is_some() {
        println!("as expected");
    }
    if args.functional_only {
        return;
    }
    match report.microseconds {
        Some(time) => println!("{} cycles, {time:.3} us", report.cycles),
        None => println!("{} cycles", report.cycles),
    }
    for memory in report.memories.iter().filter(|memory| memory.peak_bytes > 0) {
        println!(
            "@{}: {} bytes read, {} written, {} of {} taken, {} cycles lost to banks",
            memory.name,
            memory.read_bytes,
            memory.written_bytes,
            memory.peak_bytes,
            memory.capacity_bytes,
            memory.bank_conflict_cycles
        );
    }
}
