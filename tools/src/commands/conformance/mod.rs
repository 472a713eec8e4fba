//! `weft conformance`: a folder in the layout of the ONNX backend tests.
//!
//! `case.rs` reads a case, `worker.rs` runs cases in processes, `record.rs` knows which of them do
//! not pass.

mod case;
mod record;
mod worker;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weft_onnx::{ElementType, Elements, Stored};
use weft_runtime::Model;
use weft_runtime::Tensor;
use weft_runtime::compare::{Tolerance, compare};
use weft_runtime::plan::Binding;

use self::case::{Case, Data};
use self::record::Record;
use super::CompileArgs;
use crate::{Failure, Unit};

/// Runs ONNX backend tests.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A folder of cases, a folder of such folders, or one case.
    #[arg(required_unless_present = "operators")]
    pub folder: Option<PathBuf>,
    /// List the operators of ONNX that are supported, and since which version.
    #[arg(long, conflicts_with = "folder")]
    pub operators: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Only cases whose name holds this.
    #[arg(long, default_value = "")]
    pub only: String,
    /// Allowed difference relative to the expected value.
    #[arg(long, default_value_t = 1e-3)]
    pub rtol: f64,
    /// Allowed absolute difference.
    #[arg(long, default_value_t = 1e-4)]
    pub atol: f64,
    /// Fail where the cases that do not pass are others than those of this record.
    #[arg(long, value_name = "FILE")]
    pub expected: Option<PathBuf>,
    /// Write the record of the cases that do not pass.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["expected", "only"])]
    pub record: Option<PathBuf>,
    /// Processes that run cases side by side.
    #[arg(long, default_value_t = 1)]
    pub processes: usize,
    /// Threads that each case runs on.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Reads cases from standard input; how the command calls itself.
    #[arg(long, hide = true)]
    pub worker: bool,
    /// Options of the compilation.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// The outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every output is as expected.
    Passed,
    /// A wrong result, or an error where there should be none.
    Failed,
    /// weft says that it does not take the model.
    Unsupported,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unsupported => "unsupported",
        })
    }
}

/// A case and how it ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The folder that the case lies in.
    pub suite: String,
    /// The case's name.
    pub case: String,
    /// Its outcome.
    pub verdict: Verdict,
    /// Why, where it did not pass.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub reason: String,
}

/// All cases.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Number of cases.
    pub total: usize,
    /// Cases that passed.
    pub passed: usize,
    /// Cases with a wrong result or an error.
    pub failed: usize,
    /// Cases that weft does not take, and says so.
    pub unsupported: usize,
    /// One row per case, in the order of their names.
    pub cases: Vec<Row>,
}

/// Does it.
///
/// # Errors
/// A folder without cases, or a case that failed; with a record, a case that ended otherwise.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.worker {
        return worker::serve(args);
    }
    let Some(folder) = args.folder.as_deref().filter(|_| !args.operators) else {
        for (name, since) in weft_onnx::operators() {
            println!("{name:<48} since version {since}");
        }
        return Ok(());
    };
    let record = args.expected.as_deref().map(Record::read).transpose()?;
    let cases = Case::all(folder, &args.only)?;
    let rows = worker::run_all(&cases, args.processes)?;
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let summary = Summary {
        total: rows.len(),
        passed: count(Verdict::Passed),
        failed: count(Verdict::Failed),
        unsupported: count(Verdict::Unsupported),
        cases: rows,
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summary).expect("rows are plain data"));
    } else {
        for row in summary.cases.iter().filter(|row| row.verdict == Verdict::Failed) {
            println!("failed {}: {}", row.case, row.reason);
        }
        println!(
            "{} cases: {} passed, {} failed, {} unsupported",
            summary.total, summary.passed, summary.failed, summary.unsupported
        );
    }
    if let Some(path) = &args.record {
        return Record::of(&summary.cases).write(path);
    }
    match record {
        Some(record) => agree(&record, &summary),
        None if summary.failed == 0 => Ok(()),
        None => Err(Failure::said(
            format!("{} of {} cases failed", summary.failed, summary.total),
            "--json tells why, case by case",
        )),
    }
}

/// Fails where cases ended otherwise than a record says.
fn agree(record: &Record, summary: &Summary) -> Result<(), Failure> {
    let differences = record.differences(&summary.cases);
    if differences.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = differences.iter().map(|line| format!("\n  {line}")).collect();
    Err(Failure::said(
        format!(
            "{} of {} cases ended otherwise than recorded:{}",
            differences.len(),
            summary.total,
            lines.concat()
        ),
        "where that is an improvement, --record writes the record anew",
    ))
}

fn run_case(case: &Case, args: &Args) -> Result<(), Failure> {
    let path = case.model();
    let model = weft_onnx::Model::open(&path)?;
    let ports = (&model.graph.inputs[..], &model.graph.outputs[..]);
    let names: Vec<String> = ports.0.iter().map(|input| input.name().to_owned()).collect();
    let sets = match case.data(ports.0, ports.1) {
        Ok(sets) => sets,
        // Texts are no tensors that are read: the model says that it has them.
        Err(failure) => {
            let context = crate::context();
            Unit::open(&context, &path, args.compile.options()?)?;
            return Err(failure);
        }
    };
    sets.into_iter().try_for_each(|set| run_set(&path, &names, set, args))
}

/// Tells the importer about a value for an input, whose tensors are returned.
fn told(import: &mut weft_onnx::Options, name: &str, value: Stored) -> Vec<Elements> {
    let is_sequence = matches!(value, Stored::Sequence(_));
    let tensors = value.tensors();
    import.tensors.insert(name.to_owned(), tensors.len());
    for (at, tensor) in tensors.iter().enumerate() {
        let name = if is_sequence { format!("{name}.{at}") } else { name.to_owned() };
        if decides_shapes(tensor) {
            import.known_inputs.insert(name.clone(), tensor.clone());
        }
        import.offered.insert(name, tensor.ty().dims().to_vec());
    }
    tensors
}

fn run_set(path: &Path, names: &[String], set: Data, args: &Args) -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(|source| Failure::File {
        doing: "make a folder in",
        path: "/tmp".into(),
        source,
    })?;
    let artifact = folder.path().join("case.weft");
    let context = crate::context();
    let mut options = args.compile.options()?;
    options.reproducer = None;
    let inputs = names.iter().zip(set.inputs);
    let inputs = inputs.flat_map(|(name, value)| told(&mut options.import, name, value));
    let inputs: Vec<Elements> = inputs.collect();
    let expected: Vec<_> = set.outputs.into_iter().flat_map(Stored::tensors).collect();
    Unit::open(&context, path, options)?.write_artifact(&artifact)?;
    let mut model = Model::load(&artifact, args.threads)?;
    let ports = model.plan().inputs.iter().enumerate();
    let given = ports.map(|(number, port)| match inputs.get(number) {
        Some(input) if Some(input.bytes().len() as u64) == port.bytes() => Ok(&input.bytes()[..]),
        _ => Err(Failure::said(
            format!("the case has no input {number}, `{}` of {:?}", port.name, port.shape),
            "an input_N.pb for every input of the model",
        )),
    });
    let given: Vec<&[u8]> = given.collect::<Result<_, _>>()?;
    let mut places = model.output_buffers();
    let mut refs: Vec<&mut [u8]> = places.iter_mut().map(Vec::as_mut_slice).collect();
    model.run(&given, &mut refs)?;
    if places.len() != expected.len() {
        return Err(Failure::said(
            format!("the model has {} outputs, the case {}", places.len(), expected.len()),
            "an output_N.pb for every output of the model",
        ));
    }
    let shapes = model.output_shapes().unwrap_or_default();
    let ports = Binding::ports(&model.plan().outputs, &shapes);
    for ((port, mut place), expected) in ports.iter().zip(places).zip(&expected) {
        place.truncate(port.bytes().unwrap_or(0) as usize);
        let got = Tensor::of_port(port, place);
        let tolerance = Tolerance { rtol: args.rtol, atol: args.atol };
        compare(&port.name, &got, &tensor(expected), tolerance)
            .map_err(weft_runtime::session::JobError::from)?;
    }
    Ok(())
}

/// Returns whether an input may decide a shape: the suite has no initialisers, so the compiler is
/// told the values of vectors of integers and conditions, and of short float vectors such as scales.
fn decides_shapes(input: &Elements) -> bool {
    let integer =
        matches!(input.ty().element(), ElementType::I64 | ElementType::I32 | ElementType::Bool);
    let scale = input.ty().element().is_float() && input.len() <= 8;
    (integer || scale) && input.ty().rank() <= 1
}

fn tensor(elements: &Elements) -> Tensor {
    let dtype = elements.ty().element().dtype();
    let shape = elements.ty().dims().iter().map(|&dim| dim as u64).collect();
    Tensor { dtype, shape, bytes: elements.bytes().to_vec() }
}
