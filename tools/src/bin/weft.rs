//! `weft`: compiles and runs models.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use weft::commands::{
    bench, compile, conformance, devices, explain, kernel, quantize, run, simulate,
};
use weft::{Failure, reports};

/// Takes the place of `malloc`, too, and so serves MLIR and LLVM, which allocate all the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A deep-learning compiler for any machine that is described in one text file.
#[derive(Parser)]
#[command(name = "weft", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile a model to an artifact, or to the text of a stage.
    Compile(compile::Args),
    /// Run a model or an artifact.
    Run(run::Args),
    /// Run ONNX backend tests.
    Conformance(conformance::Args),
    /// Measure a model or an artifact.
    Bench(bench::Args),
    /// Compile one kernel from a tensor expression.
    Kernel(kernel::Args),
    /// Run a model or an artifact on a simulated machine, with its time.
    Simulate(simulate::Args),
    /// Write a page that shows what was chosen for a model, from what, and what it costs.
    Explain(explain::Args),
    /// Write a model in f32 with products of bytes.
    Quantize(quantize::Args),
    /// List the machines, or check and describe one.
    Devices(devices::Args),
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    reports::quiet_panics();
    match reports::caught(|| run_command(&command)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => failed(&failure),
        // Who reads has seen enough.
        Err(said) if said.starts_with("failed printing to stdout: Broken pipe") => {
            ExitCode::SUCCESS
        }
        Err(said) => failed(&Failure::mistake(&said)),
    }
}

fn run_command(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Compile(args) => compile::run(args),
        Command::Run(args) => run::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Conformance(args) => conformance::run(args),
        Command::Kernel(args) => kernel::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Quantize(args) => quantize::run(args),
        Command::Devices(args) => devices::run(args),
    }
}

fn failed(failure: &Failure) -> ExitCode {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    eprint!("{}", reports::draw(failure, colour));
    ExitCode::FAILURE
}
