//! `weft bench`: how fast a model runs, as one JSON object.

use std::path::PathBuf;

use weft_runtime::Model;
use weft_runtime::session::Job;

use super::{CompileArgs, check_device, compile_for_run, is_artifact, write_trace};
use crate::Failure;

/// Measures a model or an artifact.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The model, or a `.weft` artifact.
    pub model: PathBuf,
    /// Inputs by tensor name.
    #[arg(long, value_name = "NPZ")]
    pub inputs: Option<PathBuf>,
    /// Threads; at most the model's units.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Measured runs.
    #[arg(long, default_value_t = 20)]
    pub repeat: usize,
    /// Also time per operator and kernel.
    #[arg(long)]
    pub profile: bool,
    /// Also write what ran when, predicted and measured, for Perfetto.
    #[arg(long, value_name = "JSON")]
    pub trace: Option<PathBuf>,
    /// The only format there is; here for scripts.
    #[arg(long)]
    pub json: bool,
    /// Options of the compilation.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// Does it.
///
/// # Errors
/// The options of `weft run`.
pub fn run(args: &Args) -> Result<(), Failure> {
    let compiled;
    let (path, seconds) = if is_artifact(&args.model) {
        check_device(&args.model, &args.compile)?;
        (&args.model, None)
    } else {
        compiled = compile_for_run(&args.model, &args.compile, args.inputs.as_deref())?;
        (&compiled.path, Some(compiled.seconds))
    };
    let mut model = Model::load(path, args.threads)?;
    let job = Job {
        inputs: args.inputs.clone(),
        lengths: args.compile.lengths(&args.model),
        bench: args.repeat.max(1),
        profile: args.profile,
        timeline: args.trace.is_some(),
        ..Job::default()
    };
    let outcome = job.run(&mut model)?;
    if let (Some(path), Some(timeline)) = (&args.trace, &outcome.timeline) {
        write_trace(path, timeline)?;
    }
    if let Some(mut measurement) = outcome.measurement {
        measurement.compile_s = seconds;
        let text = serde_json::to_string_pretty(&measurement);
        println!("{}", text.expect("a measurement is plain data"));
    }
    Ok(())
}
