//! `weft explain`: a page with the decisions for a model, their alternatives and costs.

use std::path::{Path, PathBuf};

use super::compile::{beside, write};
use super::{CompileArgs, is_artifact};
use crate::Failure;
use crate::explain::{Measure, explain, model_explorer, page};

/// Explains a model.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The model: `.onnx`, or `.mlir` of the stage graph or tile.
    pub model: PathBuf,
    /// File for the page, HTML that needs no other file; `-` is standard output.
    #[arg(short, long)]
    pub output: PathBuf,
    /// File for the figures, with a graph that Model Explorer opens; beside the page by default.
    #[arg(long, value_name = "JSON")]
    pub json: Option<PathBuf>,
    /// Run the model on this processor, too, and tell measured times beside predicted ones.
    #[arg(long)]
    pub run: bool,
    /// Inputs of the runs by tensor name; random ones without.
    #[arg(long, value_name = "NPZ", requires = "run")]
    pub inputs: Option<PathBuf>,
    /// Threads of the runs; at most the model's units.
    #[arg(long, requires = "run")]
    pub threads: Option<usize>,
    /// Measured runs.
    #[arg(long, default_value_t = 20, requires = "run")]
    pub repeat: usize,
    /// Options of the compilation.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// Does it.
///
/// # Errors
/// As [`explain`]; a file that cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    if is_artifact(&args.model) {
        return Err(Failure::said(
            "an artifact holds no edges and no reasons",
            "the model that it was compiled from",
        ));
    }
    let mut options = args.compile.options_for(args.inputs.as_deref())?;
    options.reproducer = Some(beside(&args.output));
    let measure = args.run.then(|| Measure {
        inputs: args.inputs.clone(),
        threads: args.threads,
        repeat: args.repeat,
    });
    let report = explain(&args.model, &options, measure.as_ref())?;
    write(&args.output, page(&report).as_bytes())?;
    let json = args
        .json
        .clone()
        .or_else(|| (args.output != Path::new("-")).then(|| args.output.with_extension("json")));
    match json {
        Some(json) => write(&json, model_explorer(&report).as_bytes()),
        None => Ok(()),
    }
}
