//! `weft run`: a model or an artifact on given or random inputs.

use std::path::PathBuf;
use std::time::Instant;

use weft_runtime::Model;
use weft_runtime::compare::{Difference, Tolerance};
use weft_runtime::session::{Job, JobError};

use super::{CompileArgs, check_device, compile_for_run, is_artifact, read_inputs};
use crate::Failure;
use crate::bisect::{Settings, first_difference};
use crate::reports::Report;
use crate::sources::Sources;

/// Runs a model or an artifact.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The model, or a `.weft` artifact.
    pub model: PathBuf,
    /// Inputs by tensor name.
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
    /// If outputs differ, find the first operator whose result differs from the reference
    /// interpreter's.
    #[arg(long, requires = "expect")]
    pub bisect: bool,
    /// Threads; at most the model's units.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Seed of random inputs.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Options of the compilation.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// Does it.
///
/// # Errors
/// A model that does not compile or run, outputs that differ from those expected.
pub fn run(args: &Args) -> Result<(), Failure> {
    let compiled;
    let path = if is_artifact(&args.model) {
        check_device(&args.model, &args.compile)?;
        &args.model
    } else {
        compiled = compile_for_run(&args.model, &args.compile, args.inputs.as_deref())?;
        &compiled.path
    };
    let begin = Instant::now();
    let mut model = Model::load(path, args.threads)?;
    if args.compile.timings {
        eprintln!("load {:.1} ms", begin.elapsed().as_secs_f64() * 1e3);
    }
    let job = Job {
        inputs: args.inputs.clone(),
        outputs: args.outputs.clone(),
        expect: args.expect.clone(),
        lengths: args.compile.lengths(&args.model),
        tolerance: Tolerance { rtol: args.rtol, atol: args.atol },
        seed: args.seed,
        ..Job::default()
    };
    let begin = Instant::now();
    let outcome = match job.run(&mut model) {
        Err(JobError::Difference(difference)) if args.bisect => {
            return Err(blame(args, &model, &difference)?);
        }
        outcome => outcome?,
    };
    if args.compile.timings {
        eprintln!("run {:.1} ms", begin.elapsed().as_secs_f64() * 1e3);
    }
    for (port, tensor) in model.plan().outputs.iter().zip(&outcome.outputs) {
        println!("{}: {} {:?}", port.name, tensor.dtype, tensor.shape);
    }
    if args.expect.is_some() {
        println!("as expected");
    }
    Ok(())
}

/// Why the outputs differ: the first operator that is not the interpreter's, or none.
fn blame(args: &Args, model: &Model, difference: &Difference) -> Result<Failure, Failure> {
    if is_artifact(&args.model) {
        return Err(Failure::said(
            format!("{difference}; an artifact has no operators to compare"),
            "--bisect with the model that it was compiled from",
        ));
    }
    if !model.plan().lengths.loops.is_empty() {
        return Err(Failure::said(
            format!("{difference}; operators are compared where nothing is repeated"),
            "--bisect with --unroll",
        ));
    }
    if model.plan().has_lengths() {
        return Err(Failure::said(
            format!("{difference}; operators are compared at one length of each dimension"),
            "--bisect with one number for each --dim",
        ));
    }
    let settings = Settings {
        options: args.compile.options_for(args.inputs.as_deref())?,
        tolerance: Tolerance { rtol: args.rtol, atol: args.atol },
        threads: args.threads,
    };
    let report = Report::new(difference.to_string());
    let inputs = read_inputs(args.inputs.as_deref(), args.seed, model)?;
    let report = match first_difference(&args.model, &inputs, &settings)? {
        Some(found) => report
            .note(format!(
                "operator {} of {}, {} {:?}, is the first whose result differs from the reference interpreter's",
                found.number, found.operators, found.kind, found.name
            ))
            .note(found.difference.to_string()),
        None => report.note("every operator matches the reference interpreter's result").help(
            "the model, its import, or what is expected is wrong, or the tolerance too small",
        ),
    };
    Ok(Failure::placed(report, Sources::default()))
}
