//! The subcommands of `weft`.

pub mod bench;
pub mod compile;
pub mod conformance;
pub mod devices;
pub mod kernel;
pub mod run;
pub mod simulate;

use std::path::{Path, PathBuf};

use crate::{Device, Failure, Options, Unit};

/// Arguments of every command that compiles.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CompileArgs {
    /// The machine: a name that `weft devices` lists, or a file. The host without it.
    #[arg(long, value_name = "NAME|FILE")]
    pub device: Option<String>,
    /// A file of weights that text names, as ID=FILE; without an ID it is `model`.
    #[arg(long, value_name = "[ID=]FILE")]
    pub weights: Vec<String>,
    /// The shape of an input that the model leaves open, as NAME=1x3x224x224.
    #[arg(long, value_name = "NAME=DIMS")]
    pub shape: Vec<String>,
    /// Threads that compile; as many as processors without it.
    #[arg(long, default_value_t = 0)]
    pub jobs: usize,
    /// Virtual execution units; as many as the machine has without it.
    #[arg(long, default_value_t = 0)]
    pub units: usize,
    /// An option of a pass, as tile-construct-rtiles.strategy=greedy.
    #[arg(long, value_name = "PASS.OPTION=VALUE")]
    pub option: Vec<String>,
    /// Say how long each stage took, on standard error.
    #[arg(long)]
    pub timings: bool,
    /// Print the module after every pass, on standard error.
    #[arg(long, alias = "mlir-print-ir-after-all")]
    pub print_ir_after_all: bool,
}

/// What a failing pass leaves behind, in the folder of the output or the current one.
pub(crate) const REPRODUCER: &str = "weft-reproducer.mlir";

impl CompileArgs {
    /// The options they ask for.
    pub fn options(&self) -> Result<Options, Failure> {
        let mut options = Options {
            device: self.device.clone().map_or(Device::Host, Device::Named),
            jobs: self.jobs,
            units: self.units,
            reproducer: Some(PathBuf::from(REPRODUCER)),
            print_ir: self.print_ir_after_all,
            progress: true,
            ..Options::default()
        };
        for weights in &self.weights {
            let (id, file) = weights.split_once('=').unwrap_or(("model", weights));
            options.weights.push((id.to_owned(), PathBuf::from(file)));
        }
        for option in &self.option {
            options.passes.push(pass_option(option)?);
        }
        for shape in &self.shape {
            let dims = shape.split_once('=').and_then(|(name, dims)| {
                let dims =
                    dims.split('x').map(|dim| dim.parse().ok()).collect::<Option<Vec<i64>>>();
                Some((name.to_owned(), dims?))
            });
            let Some((name, dims)) = dims else {
                return Err(Failure::said(format!("`{shape}` is no shape"), "NAME=1x3x224x224"));
            };
            options.import.shapes.insert(name, dims);
        }
        Ok(options)
    }
}

/// `PASS.OPTION=VALUE` of a pass that has the option.
fn pass_option(text: &str) -> Result<(String, String, String), Failure> {
    let parts = text.split_once('=').and_then(|(place, value)| {
        let (pass, option) = place.split_once('.')?;
        Some((pass.to_owned(), option.to_owned(), value.to_owned()))
    });
    let passes = weft_passes::pipeline::PASSES;
    let known = |pass: &str, option: &str| {
        let own = passes.iter().filter(|known| known.name == pass);
        own.flat_map(|pass| pass.options).any(|known| known.name == option)
    };
    parts.filter(|(pass, option, _)| known(pass, option)).ok_or_else(|| {
        let named = |pass: &&weft_dialects::ir::pass::Pass| {
            let name = pass.name;
            pass.options.iter().map(move |option| format!("{name}.{}", option.name)).collect()
        };
        let all: Vec<Vec<String>> = passes.iter().map(named).collect();
        Failure::said(format!("`{text}` is no option of a pass"), all.concat().join(", "))
    })
}

/// Whether a path names an artifact.
pub fn is_artifact(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "weft")
}

/// Refuses `--device` beside an artifact for another machine.
///
/// # Errors
/// An artifact that cannot be read; the two machines.
pub(crate) fn check_device(artifact: &Path, args: &CompileArgs) -> Result<(), Failure> {
    let Some(device) = args.device.clone().map(Device::Named) else { return Ok(()) };
    let artifact = weft_runtime::Artifact::open(artifact)?;
    device.agree(&crate::context(), "the artifact", &artifact.plan().device)
}

/// An artifact in a folder that vanishes with it.
pub struct Compiled {
    _folder: tempfile::TempDir,
    /// The artifact.
    pub path: PathBuf,
    /// Seconds it took.
    pub seconds: f64,
}

/// Compiles a model for a run in this process.
///
/// # Errors
/// As [`Unit::write_artifact`].
pub fn compile_for_run(path: &Path, args: &CompileArgs) -> Result<Compiled, Failure> {
    let begin = std::time::Instant::now();
    let folder = folder_for_run()?;
    let artifact = folder.path().join("model.weft");
    let context = crate::context();
    let mut unit = Unit::open(&context, path, args.options()?)?;
    unit.write_artifact(&artifact)?;
    if args.timings {
        print_timings(&unit.timings);
    }
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Compiled { _folder: folder, path: artifact, seconds })
}

/// A folder for artifacts that are only run; it vanishes with what is returned.
pub(crate) fn folder_for_run() -> Result<tempfile::TempDir, Failure> {
    tempfile::tempdir().map_err(|source| Failure::File {
        doing: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })
}

/// One line per stage on standard error.
pub fn print_timings(timings: &[(String, f64)]) {
    for (name, seconds) in timings {
        eprintln!("{name} {:.1} ms", seconds * 1e3);
    }
}
