//! The subcommands of `weft`.

mod artifact;
pub mod bench;
mod candidates;
pub mod compile;
pub mod conformance;
pub mod devices;
pub mod explain;
pub mod kernel;
pub mod quantize;
pub mod run;
pub mod simulate;

use std::path::{Path, PathBuf};

use weft_runtime::length::Symbol;
use weft_runtime::npz::Npz;
use weft_runtime::session::JobError;
use weft_runtime::{Model, WholeFile, random};

use crate::cache::{Lent, Settings};
use crate::{Accuracy, Device, Failure, Options, Precision, Remarks, limits};

/// Arguments of every command that compiles.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CompileArgs {
    /// The machine: a name that `weft devices` lists, or a file. The host without it.
    #[arg(long, value_name = "NAME|FILE")]
    pub device: Option<String>,
    /// A file of weights that text names, as ID=FILE; without an ID it is `model`.
    #[arg(long, value_name = "[ID=]FILE")]
    pub weights: Vec<String>,
    /// The shape of an input that the model leaves open, as NAME=1x3x224x224; --inputs says it, too.
    #[arg(long, value_name = "NAME=DIMS")]
    pub shape: Vec<String>,
    /// What a dimension that the model names is: one length, NAME=7, or those that callers may decide
    /// between from run to run, NAME=1..512 or NAME=8..512,multiple=8. Where an artifact is run on
    /// random inputs, what it is in this run.
    #[arg(long, value_name = "NAME=N|N..M")]
    pub dim: Vec<Symbol>,
    /// An output that lies in the memory of an input and only puts rows behind those that are there, as
    /// past=present or past_*=present_*; `caches` is each input that a model has for nothing else
    #[arg(long, value_name = "INPUT=OUTPUT|caches")]
    pub alias: Vec<weft_onnx::Alias>,
    /// Write loops out, for up to 4,096 rounds, and do both branches of an If, instead of repeating and choosing in a run.
    #[arg(long)]
    pub unroll: bool,
    /// The most rounds of a loop that nothing in the model bounds; a run in which there would be more ends with an
    /// error.
    #[arg(long, value_name = "N", default_value_t = i32::MAX as u32)]
    pub rounds: u32,
    /// How many tensors an input holds that is a sequence, or optional, as NAME=3: they are the inputs NAME.0, NAME.1
    /// and so on, or NAME.
    #[arg(long, value_name = "NAME=N")]
    pub tensors: Vec<String>,
    /// Threads that compile; as many as processors without it.
    #[arg(long, default_value_t = 0)]
    pub jobs: usize,
    /// Virtual execution units; as many as the machine has without it.
    #[arg(long, default_value_t = 0)]
    pub units: usize,
    /// The most bytes that one tensor of the model may take, as 64G.
    #[arg(long, value_name = "BYTES", value_parser = limits::parse_bytes, default_value = "16G")]
    pub max_bytes: Option<u64>,
    /// How results may be rounded.
    #[arg(long, value_enum, default_value_t)]
    pub accuracy: Accuracy,
    /// How many bits the factors of products have.
    #[arg(long, value_enum, default_value_t)]
    pub precision: Precision,
    /// An option of a pass, as tile-construct-rtiles.rank=1.
    #[arg(long, value_name = "PASS.OPTION=VALUE")]
    pub pass_option: Vec<String>,
    /// Say what was chosen for every kernel, what came next and what was refused, on standard
    /// error.
    #[arg(long)]
    pub remarks: bool,
    /// Say how long each stage took, on standard error.
    #[arg(long)]
    pub timings: bool,
    /// Print the module after every pass, on standard error.
    #[arg(long, alias = "mlir-print-ir-after-all")]
    pub print_ir_after_all: bool,
    /// The folder of the compile cache; WEFT_CACHE_DIR, or the user's own cache without it.
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    pub cache: Option<PathBuf>,
    /// Compile without the cache.
    #[arg(long)]
    pub no_cache: bool,
}

/// The reproducer of a failed pass, in the folder of the output or the current one.
pub(crate) const REPRODUCER: &str = "weft-reproducer.mlir";

impl CompileArgs {
    /// Returns the settings of the cache.
    fn cache_settings(&self) -> Result<Settings, Failure> {
        match self.no_cache {
            true => Ok(Settings::none()),
            false => Ok(Settings::of(self.cache.as_deref())?),
        }
    }

    /// The options they ask for, with the shapes in a file of inputs for what the model leaves open.
    pub fn options_for(&self, inputs: Option<&Path>) -> Result<Options, Failure> {
        let mut options = self.options()?;
        if let Some(path) = inputs {
            let npz = Npz::read(path).map_err(JobError::from)?;
            let offered = npz.names().filter_map(|name| {
                let shape = npz.get(name)?.shape.iter().map(|&extent| extent as i64).collect();
                Some((name.to_owned(), shape))
            });
            options.import.offered = offered.collect();
        }
        Ok(options)
    }

    /// The lengths that are said of a run, by name: of an artifact. What is said of a model is in the
    /// code that is made of it.
    pub fn lengths(&self, model: &Path) -> Vec<(String, u64)> {
        let one = |symbol: &&Symbol| is_artifact(model) && symbol.least == symbol.most;
        let said = self.dim.iter().filter(one);
        said.map(|symbol| (symbol.name.clone(), symbol.most)).collect()
    }

    /// The options they ask for.
    pub fn options(&self) -> Result<Options, Failure> {
        let mut options = Options {
            device: Device::asked(self.device.as_deref()),
            jobs: self.jobs,
            units: self.units,
            reproducer: Some(PathBuf::from(REPRODUCER)),
            print_ir: self.print_ir_after_all,
            remarks: if self.remarks { Remarks::Tiles } else { Remarks::None },
            progress: true,
            max_bytes: self.max_bytes.unwrap_or(limits::MOST_BYTES),
            ..Options::default()
        };
        for weights in &self.weights {
            let (id, file) = weights.split_once('=').unwrap_or(("model", weights));
            options.weights.push((id.to_owned(), PathBuf::from(file)));
        }
        for shape in &self.shape {
            let dims = shape.split_once('=').and_then(|(name, dims)| {
                let dims =
                    dims.split('x').map(|dim| dim.parse().ok()).collect::<Option<Vec<i64>>>();
                Some((name.to_owned(), dims?))
            });
            let Some((name, dims)) = dims else {
                return Err(Failure::said(format!("`{shape}` is not a shape"), "NAME=1x3x224x224"));
            };
            options.import.shapes.insert(name, dims);
        }
        for symbol in &self.dim {
            let (name, most) = (symbol.name.clone(), symbol.most as i64);
            match symbol.least == symbol.most {
                true => drop(options.import.symbols.insert(name, most)),
                false => options.import.dims.push(symbol.clone()),
            }
        }
        (options.import.unroll, options.import.rounds) = (self.unroll, self.rounds);
        options.import.aliases.clone_from(&self.alias);
        for tensors in &self.tensors {
            let parsed = tensors.rsplit_once('=').map(|(name, count)| (name, count.parse()));
            let Some((name, Ok(count))) = parsed else {
                return Err(Failure::said(
                    format!("`{tensors}` is not a number of tensors"),
                    "NAME=3",
                ));
            };
            options.import.tensors.insert(name.to_owned(), count);
        }
        options.pass_options.extend(self.accuracy.pass_options());
        options.pass_options.extend(self.precision.pass_options());
        for option in &self.pass_option {
            options.pass_options.push(pass_option(option)?);
        }
        Ok(options)
    }
}

/// `PASS.OPTION=VALUE` of a pass that has such an option.
fn pass_option(text: &str) -> Result<(String, String, String), Failure> {
    let parts = text.split_once('=').and_then(|(left, value)| {
        let (pass, option) = left.split_once('.')?;
        Some((pass, option, value))
    });
    let Some((pass, option, value)) = parts else {
        return Err(Failure::said(format!("`{text}` is not an option"), "PASS.OPTION=VALUE"));
    };
    let passes = weft_passes::pipeline::PASSES;
    let Some(found) = passes.iter().find(|known| known.name == pass) else {
        let alike = |known: &str| strsim::jaro_winkler(pass, known);
        let nearest = passes.iter().max_by(|a, b| alike(a.name).total_cmp(&alike(b.name)));
        let nearest = nearest.map_or("", |pass| pass.name);
        let help = format!("the nearest is {nearest}; `weft-opt --help` lists all");
        return Err(Failure::said(format!("there is no pass `{pass}`"), help));
    };
    if !found.options.iter().any(|known| known.name == option) {
        let names: Vec<_> = found.options.iter().map(|option| option.name).collect();
        let what = format!("{pass} has no option `{option}`");
        return Err(Failure::said(what, format!("its options are: {}", names.join(", "))));
    }
    Ok((pass.to_owned(), option.to_owned(), value.to_owned()))
}

/// Returns whether a path names an artifact.
pub fn is_artifact(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "weft")
}

/// Refuses `--device` beside an artifact for another machine.
///
/// # Errors
/// An artifact that cannot be read; the two machines.
pub(crate) fn check_device(artifact: &Path, args: &CompileArgs) -> Result<(), Failure> {
    let device = Device::asked(args.device.as_deref());
    if device == Device::Host {
        return Ok(());
    }
    let artifact = weft_runtime::Artifact::open(artifact)?;
    device.agree(&crate::context(), "the artifact", &artifact.plan().device)
}

/// An artifact under a name that vanishes with it.
pub struct Compiled {
    _folder: tempfile::TempDir,
    _lent: Option<Lent>,
    /// The artifact.
    pub path: PathBuf,
    /// Seconds it took.
    pub seconds: f64,
}

/// Compiles a model for a run in this process. The shapes in `inputs`, the file of tensors that it
/// is to run on, fill in what the model leaves open.
///
/// # Errors
/// As [`crate::Unit::write_artifact`].
pub fn compile_for_run(
    path: &Path,
    args: &CompileArgs,
    inputs: Option<&Path>,
) -> Result<Compiled, Failure> {
    compile_with(path, args, args.options_for(inputs)?)
}

/// As [`compile_for_run`], with options that the arguments do not say.
fn compile_with(path: &Path, args: &CompileArgs, options: Options) -> Result<Compiled, Failure> {
    let begin = std::time::Instant::now();
    let folder = folder_for_run()?;
    let artifact = folder.path().join("model.weft");
    let made = artifact::make(path, args, options, &artifact, true)?;
    if args.timings {
        print_timings(&made.timings);
    }
    let path = made.lent.as_ref().map_or(artifact, |lent| lent.path.clone());
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Compiled { _folder: folder, _lent: made.lent, path, seconds })
}

/// A folder for artifacts that are only run; it vanishes with what is returned.
pub(crate) fn folder_for_run() -> Result<tempfile::TempDir, Failure> {
    tempfile::tempdir().map_err(|source| Failure::File {
        doing: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })
}

/// Writes what ran when, in Chrome's trace format.
pub(crate) fn write_trace(path: &Path, trace: &impl serde::Serialize) -> Result<(), Failure> {
    let failed = |source| Failure::File { doing: "write", path: path.to_owned(), source };
    let mut file = WholeFile::create(path).map_err(failed)?;
    serde_json::to_writer(&mut file, trace).map_err(|error| failed(error.into()))?;
    file.commit().map_err(failed)
}

/// The inputs of a run: from a file, by name, or random ones.
///
/// # Errors
/// A file that lacks one, or holds another type or shape.
pub(crate) fn read_inputs(
    path: Option<&Path>,
    seed: u64,
    model: &Model,
) -> Result<Vec<Vec<u8>>, Failure> {
    let ports = &model.plan().inputs;
    let Some(path) = path else {
        return Ok(ports.iter().map(|port| random::tensor(port, seed).bytes).collect());
    };
    let mut npz = Npz::read(path).map_err(JobError::from)?;
    let tensors = ports.iter().enumerate().map(|(number, port)| npz.take(port, number));
    let tensors = tensors.collect::<Result<Vec<_>, _>>().map_err(JobError::from)?;
    Ok(tensors.into_iter().map(|tensor| tensor.bytes).collect())
}

/// One line per stage on standard error.
pub fn print_timings(timings: &[(String, f64)]) {
    for (name, seconds) in timings {
        eprintln!("{name} {:.1} ms", seconds * 1e3);
    }
}
