//! `weft kernel`: one kernel from a tensor expression.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use weft_dialects::graph::Model as Graph;
use weft_passes::interpret::run_model;
use weft_passes::pipeline::Stage;
use weft_runtime::Model;
use weft_runtime::compare::{Tolerance, compare};
use weft_runtime::plan::Port;
use weft_runtime::session::JobError;
use weft_runtime::{DType, Tensor, random};

use super::compile::{beside, emit, emit_to, print_remarks};
use super::{CompileArgs, candidates, folder_for_run};
use crate::expression::{self, Element, Kernel};
use crate::{Accuracy, Emit, Failure, Remarks, Unit};

/// The interpreter takes a while for more points.
const CHECKED_MAX: u64 = 1 << 28;

/// Compiles a tensor expression. Without --emit and -o, runs it once on random inputs and
/// holds it against the interpreter.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The expression, such as `C[m,n] += A[m,k] * B[k,n]`; also max=, min=, *=, exp(x), h*2+r.
    pub expression: String,
    /// The extents of the axes.
    #[arg(long, value_name = "AXIS=N,...", default_value = "")]
    pub shape: String,
    /// The type of every element: f64, f32, f16, bf16, i64, i32, i16, i8.
    #[arg(long, default_value = "f32")]
    pub dtype: Element,
    /// The form to write: graph, tile, task, device, vendor, llvm, asm, obj, ptx, amdgcn, weft.
    #[arg(long, value_parser = emit)]
    pub emit: Option<Emit>,
    /// File for the result; by default text goes to `-`, standard output.
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// The machine: a name that `weft devices` lists, or a file. The host without it.
    #[arg(long, value_name = "NAME|FILE")]
    pub device: Option<String>,
    /// Threads that compile; as many as processors without it.
    #[arg(long, default_value_t = 0)]
    pub jobs: usize,
    /// Virtual execution units; as many as the machine has without it.
    #[arg(long, default_value_t = 0)]
    pub units: usize,
    /// How results may be rounded.
    #[arg(long, value_enum, default_value_t)]
    pub accuracy: Accuracy,
    /// An option of a pass, as tile-construct-rtiles.rank=1.
    #[arg(long, value_name = "PASS.OPTION=VALUE")]
    pub pass_option: Vec<String>,
    /// Threads that run; at most the units.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Seed of the random inputs.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Say how long each stage took, on standard error.
    #[arg(long)]
    pub timings: bool,
    /// Print the module after every pass, on standard error.
    #[arg(long, alias = "mlir-print-ir-after-all")]
    pub print_ir_after_all: bool,
    /// Options of `--candidates`.
    #[command(flatten)]
    pub candidates: candidates::Args,
}

/// Does it.
///
/// # Errors
/// An expression that means nothing, whatever stands in the way of compiling it, a result
/// that is not the interpreter's.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.candidates.candidates {
        return candidates::print(args);
    }
    let kernel = Kernel::read(&args.expression, &args.shape, args.dtype)?;
    let compile = CompileArgs {
        device: args.device.clone(),
        jobs: args.jobs,
        units: args.units,
        accuracy: args.accuracy,
        pass_option: args.pass_option.clone(),
        print_ir_after_all: args.print_ir_after_all,
        ..CompileArgs::default()
    };
    let mut options = compile.options()?;
    if args.emit == Some(Emit::Stage(Stage::Tile)) {
        options.remarks = Remarks::Tiles;
    }
    if let Some(output) = &args.output {
        options.reproducer = Some(beside(output));
    }
    let context = crate::context();
    let module = kernel.module(&context);
    let mut unit = Unit::from_module(&context, module, Rc::default(), options)?;
    match (args.emit, &args.output) {
        (None, None) => check(&mut unit, &kernel, args)?,
        (emit, output) => {
            let output = output.as_deref().unwrap_or(Path::new("-"));
            emit_to(&mut unit, emit.unwrap_or(Emit::Weft), output)?;
            print_remarks(&unit);
        }
    }
    if args.timings {
        super::print_timings(&unit.timings);
    }
    Ok(())
}

/// Runs the kernel once, and says whether the interpreter agrees.
fn check(unit: &mut Unit<'_>, kernel: &Kernel, args: &Args) -> Result<(), Failure> {
    let port = |tensor: &expression::Tensor| Port {
        name: tensor.name.clone(),
        dtype: kernel.element.dtype(),
        shape: tensor.shape.clone(),
    };
    let ports: Vec<_> = kernel.inputs.iter().map(port).collect();
    let inputs: Vec<_> = ports.iter().map(|port| random::tensor(port, args.seed).bytes).collect();
    let expected = match kernel.points() <= CHECKED_MAX {
        true => Some(interpret(unit, &inputs)?),
        false => None,
    };
    let folder = folder_for_run()?;
    let artifact = folder.path().join("kernel.weft");
    unit.write_artifact(&artifact)?;
    let mut model = Model::load(&artifact, args.threads)?;
    let mut places = model.output_buffers();
    let given: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let mut refs: Vec<&mut [u8]> = places.iter_mut().map(Vec::as_mut_slice).collect();
    model.run(&given, &mut refs)?;
    let output = port(&kernel.output);
    for port in ports.iter().chain([&output]) {
        println!("{}: {} {:?}", port.name, port.dtype, port.shape);
    }
    let got = Tensor::of_port(&output, places.swap_remove(0));
    let Some(expected) = expected else {
        println!(
            "ran; not checked, for {} points are too many for the reference interpreter",
            kernel.points()
        );
        return Ok(());
    };
    let expected = Tensor::of_port(&output, expected);
    let tolerance = tolerance(kernel.element);
    compare(&output.name, &got, &expected, tolerance).map_err(JobError::from)?;
    println!("ok: matches the reference interpreter's result");
    Ok(())
}

fn interpret(unit: &Unit<'_>, inputs: &[Vec<u8>]) -> Result<Vec<u8>, Failure> {
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let model = ops.into_iter().find_map(Graph::of).expect("the kernel is a model");
    let mut weights = |_: &str, _: &str| Err("a kernel has no weights".into());
    let mut results = run_model(model.op, inputs, &mut weights, &mut |_, _| {})?;
    Ok(results.swap_remove(0))
}

/// Sums in another order differ by this much; halves are rounded once more.
fn tolerance(element: Element) -> Tolerance {
    match element.dtype() {
        DType::F16 => Tolerance { rtol: 2e-3, atol: 2e-3 },
        DType::BF16 => Tolerance { rtol: 2e-2, atol: 2e-2 },
        DType::F32 => Tolerance::default(),
        DType::F64 => Tolerance { rtol: 1e-9, atol: 1e-9 },
        _ => Tolerance { rtol: 0.0, atol: 0.0 },
    }
}
