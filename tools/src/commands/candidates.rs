//! `weft kernel --candidates`: the tiles that Roller's policies construct, as JSON.
//!
//! ```text
//! weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4096,n=4096,k=4096 \
//!     --device devices/golden/v100.mlir --candidates
//! ```

use std::time::Instant;

use clap::ValueEnum;
use serde::Serialize;
use weft_dialects::ir::Type;
use weft_passes::tile::roller::{
    Arch, Candidate, Operator, Options, Policy, Refusal, Score, Variant, construct,
};

use super::devices::Loaded;
use crate::expression::Kernel;
use crate::{Device, Failure};

/// By which score tiles are enlarged.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ScoreArg {
    /// That of the published candidates: operations per byte with one more element.
    #[default]
    Shipped,
    /// That of the paper: traffic saved per byte of memory.
    Paper,
}

/// The rules by which tiles are constructed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum TilesArg {
    /// The published implementation of Roller, version 1.
    #[default]
    Published,
    /// Tiles that keep every rule of alignment, also where they were shrunk.
    Aligned,
}

/// Options of the construction.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Print the tiles that are constructed for the kernel, as JSON, and compile nothing. An
    /// index may go down to -p: p zeros on either side of that dimension.
    #[arg(long, conflicts_with_all = ["emit", "output"])]
    pub candidates: bool,
    /// By which score tiles are enlarged.
    #[arg(long, alias = "policy", value_enum, default_value = "shipped", requires = "candidates")]
    pub score: ScoreArg,
    /// The rules by which tiles are constructed.
    #[arg(long, value_enum, default_value = "published", requires = "candidates")]
    pub tiles: TilesArg,
    /// Tiles for the machine's fastest matrix instruction.
    #[arg(long, requires = "candidates")]
    pub matrix: bool,
}

/// The printed result. Sizes are in the order of the axes, reductions last.
#[derive(Serialize)]
struct Printed<'a> {
    op: &'a str,
    device: &'a str,
    policy: &'static str,
    axes: Vec<PrintedAxis<'a>>,
    candidates: Vec<PrintedCandidate<'a>>,
}

#[derive(Serialize)]
struct PrintedAxis<'a> {
    name: &'a str,
    extent: u64,
    kind: &'static str,
}

/// One candidate; bytes are those of one block.
#[derive(Serialize)]
struct PrintedCandidate<'a> {
    /// A size for every axis.
    shared: &'a [u64],
    /// A size for every axis of the output.
    register: &'a [u64],
    /// A size for every reduction.
    register_step: &'a [u64],
    epsilon: f64,
    traffic: u64,
    footprint: u64,
    waste: f64,
    predicted_ms: f64,
    blocks: u64,
    threads: u64,
    padding: &'a [u64],
}

/// Prints the candidates of a kernel.
///
/// # Errors
/// A machine that cannot be read or that lacks what tiles ask for; an operator that no tile
/// fits.
pub fn print(args: &super::kernel::Args) -> Result<(), Failure> {
    let (expression, element) = (args.expression.as_str(), args.dtype);
    let kernel = Kernel::read_bordered(expression, &args.shape, element)?;
    let operator = kernel.operator().fused();
    let device = Device::asked(args.device.as_deref());
    let context = crate::context();
    let loaded = Loaded::of(&context, &device)?;
    let machine = loaded.machine();
    let elem: Type<'_> = element.ty(&context);
    let arch = match args.candidates.matrix {
        true => Arch::with_matrix(machine, elem),
        false => Arch::of(machine, elem),
    };
    let arch = arch.map_err(|error| {
        let help = "a machine of threads in step, with a memory that the threads of a core share";
        Failure::said(error.to_string(), help)
    })?;
    let options = Options {
        score: match args.candidates.score {
            ScoreArg::Shipped => Score::Shipped,
            ScoreArg::Paper => Score::Paper,
        },
        variant: match args.candidates.tiles {
            TilesArg::Published => Variant::Published,
            TilesArg::Aligned => Variant::Aligned,
        },
        ..Options::PUBLISHED
    };
    let refused = |refusal: Refusal| Failure::said(refusal.to_string(), refusal.help());
    let begin = Instant::now();
    let (policy, found) = construct(&operator, &arch, &options).map_err(refused)?;
    let seconds = begin.elapsed().as_secs_f64();
    if args.timings {
        super::print_timings(&[("construct".to_owned(), seconds)]);
    }
    let printed = printed(expression, machine.name(), policy, &operator, &arch, &found);
    let text = serde_json::to_string_pretty(&printed).expect("numbers and names are JSON");
    println!("{text}");
    Ok(())
}

fn printed<'a>(
    op: &'a str,
    device: &'a str,
    policy: Policy,
    operator: &'a Operator,
    arch: &Arch,
    found: &'a [Candidate],
) -> Printed<'a> {
    let axis = |axis: &'a weft_passes::tile::roller::Axis| PrintedAxis {
        name: &axis.name,
        extent: axis.extent,
        kind: if axis.reduction { "reduction" } else { "parallel" },
    };
    let candidate = |found: &'a Candidate| {
        let (register, register_step) = found.registers.split_at(operator.spatial());
        PrintedCandidate {
            shared: &found.block,
            register,
            register_step,
            // The ladder adds tenths up; the sum is one.
            epsilon: (found.epsilon * 10.0).round() / 10.0,
            traffic: found.prediction.traffic_bytes,
            footprint: found.prediction.footprint_bytes,
            waste: found.prediction.waste,
            predicted_ms: found.prediction.predicted_ms,
            blocks: found.blocks(operator),
            threads: found.threads(operator, arch),
            padding: &found.padding,
        }
    };
    Printed {
        op,
        device,
        policy: policy.name(),
        axes: operator.axes.iter().map(axis).collect(),
        candidates: found.iter().map(candidate).collect(),
    }
}
