//! `weft-run`: runs a compiled artifact. Needs no compiler.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use weft_runtime::compare::Tolerance;
use weft_runtime::length::Symbol;
use weft_runtime::plan::CodeKind;
use weft_runtime::session::Job;
use weft_runtime::{Artifact, Model};

/// Runs a compiled model.
///
/// Without inputs, random ones are made, the same each time. Exits with 1 if the model cannot
/// be run or its outputs are not those expected, and with 2 on wrong usage.
#[derive(Parser)]
#[command(name = "weft-run", version)]
struct Args {
    /// The compiled model, a `.weft` file.
    artifact: PathBuf,
    /// Refuse a model that was compiled for something else. Without it, whatever the model was
    /// compiled for runs it.
    #[arg(long, value_enum)]
    device: Option<Device>,
    /// Inputs by tensor name, or arr_0, arr_1 … in input order.
    #[arg(long, value_name = "NPZ")]
    inputs: Option<PathBuf>,
    /// File for the outputs, by tensor name.
    #[arg(long, value_name = "NPZ")]
    outputs: Option<PathBuf>,
    /// Expected outputs by tensor name, or arr_0, arr_1 … in output order.
    #[arg(long, value_name = "NPZ")]
    expect: Option<PathBuf>,
    /// The length of a dimension of random inputs; the largest that it may have without.
    #[arg(long, value_name = "NAME=N", value_parser = dim)]
    dim: Vec<(String, u64)>,
    /// Allowed difference relative to the expected value.
    #[arg(long, default_value_t = 1e-3, value_parser = tolerance)]
    rtol: f64,
    /// Allowed absolute difference.
    #[arg(long, default_value_t = 1e-4, value_parser = tolerance)]
    atol: f64,
    /// Threads; at most the model's execution units. By default as many as the machine allows.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Measure N runs and print JSON.
    #[arg(long, value_name = "N", default_value_t = 0)]
    bench: usize,
    /// With --bench, also time per operator and kernel.
    #[arg(long, requires = "bench")]
    profile: bool,
    /// Write what ran when, predicted and measured, for Perfetto.
    #[arg(long, value_name = "JSON")]
    trace: Option<PathBuf>,
    /// Seed of random inputs.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Read all constants and check them before running.
    #[arg(long)]
    verify: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Device {
    /// This machine's processor.
    Cpu,
    /// The first CUDA device.
    Cuda,
    /// The first device of AMD's driver.
    Hip,
    /// A machine that exists only as text.
    Simulated,
}

impl Device {
    fn runs(self) -> CodeKind {
        match self {
            Device::Cpu => CodeKind::Native,
            Device::Cuda => CodeKind::Ptx,
            Device::Hip => CodeKind::Amdgcn,
            Device::Simulated => CodeKind::Simulated,
        }
    }
}

fn main() -> ExitCode {
    // clap exits with 2 on wrong usage.
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(inner) = cause {
                eprintln!("  because: {inner}");
                cause = inner.source();
            }
            ExitCode::from(1)
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let artifact = Artifact::open(&args.artifact)?;
    let (plan, wanted) = (artifact.plan(), args.device.map(Device::runs));
    if let Some(wanted) = wanted.filter(|&wanted| wanted != plan.code) {
        let (found, wanted) = (plan.code.name(), wanted.name());
        return Err(format!("the model is {found} code for `{}`, not {wanted}", plan.device).into());
    }
    let mut model = Model::new(artifact, args.threads)?;
    if args.verify {
        model.artifact().verify_constants()?;
    }
    let job = Job {
        inputs: args.inputs.clone(),
        outputs: args.outputs.clone(),
        expect: args.expect.clone(),
        lengths: args.dim.clone(),
        tolerance: Tolerance { rtol: args.rtol, atol: args.atol },
        seed: args.seed,
        bench: args.bench,
        profile: args.profile,
        timeline: args.trace.is_some(),
    };
    let outcome = job.run(&mut model)?;
    if let (Some(path), Some(timeline)) = (&args.trace, &outcome.timeline) {
        let text = serde_json::to_string(timeline)?;
        std::fs::write(path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    match outcome.measurement {
        Some(measurement) => println!("{}", serde_json::to_string_pretty(&measurement)?),
        None => {
            for (port, tensor) in model.plan().outputs.iter().zip(&outcome.outputs) {
                println!("{}: {} {:?}", port.name, tensor.dtype, tensor.shape);
            }
        }
    }
    Ok(())
}

fn dim(text: &str) -> Result<(String, u64), String> {
    let symbol: Symbol = text.parse().map_err(|error| format!("{error}"))?;
    match symbol.least == symbol.most {
        true => Ok((symbol.name, symbol.most)),
        false => Err(format!("`{text}` is more than one length; NAME=7 is one")),
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if value >= 0.0 { Ok(value) } else { Err("a tolerance is not negative".to_owned()) }
}
