//! What a compilation is asked for.

use std::path::PathBuf;

use weft_dialects::ir::pass::Pass;
use weft_passes::codegen::gpu::Isa;
use weft_passes::pipeline::{self, Stage};
use weft_passes::{graph, task, tile};

use crate::limits;
use crate::machines::Device;

/// The options of a compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The machine to compile for.
    pub device: Device,
    /// Threads that compile; 0 for as many as there are processors.
    pub jobs: usize,
    /// Virtual execution units of the task program; 0 for as many as the machine has.
    pub units: usize,
    /// Files of weights, by the id that text names them with.
    pub weights: Vec<(String, PathBuf)>,
    /// For the ONNX importer.
    pub import: weft_onnx::Options,
    /// File for the module that a pass failed on, with the command that repeats it.
    pub reproducer: Option<PathBuf>,
    /// Print the module after every pass, on standard error.
    pub print_ir: bool,
    /// Which passes say what they chose, and from what.
    pub remarks: Remarks,
    /// Say on a terminal what is being done.
    pub progress: bool,
    /// Write artifacts for the simulator, also where there is native code for the machine.
    pub simulate: bool,
    /// Options of passes: pass, option, value.
    pub pass_options: Vec<(String, String, String)>,
    /// The most bytes that one tensor of the model may take.
    pub max_bytes: u64,
}

impl Options {
    /// Options of passes: pass, option, value; `units` is the number as text.
    pub(super) fn of_passes<'o>(&'o self, units: &'o str) -> Vec<(&'o str, &'o str, &'o str)> {
        let mut options = Vec::new();
        if self.units > 0 {
            options.push((task::from_tile::PASS.name, "units", units));
        }
        if self.simulate {
            // A simulated unit runs one group at a time.
            options.push((tile::construct_rtiles::PASS.name, "groups", "apart"));
        }
        match self.remarks {
            Remarks::None => {}
            Remarks::Tiles => {
                options.push((tile::peel::PASS.name, "remarks", "true"));
                options.push((tile::construct_rtiles::PASS.name, "remarks", "true"));
            }
            Remarks::All => {
                let says = |pass: &&&Pass| pass.options.iter().any(|own| own.name == "remarks");
                let saying = pipeline::PASSES.iter().filter(says);
                options.extend(saying.map(|pass| (pass.name, "remarks", "true")));
            }
        }
        let asked = self.pass_options.iter();
        options.extend(asked.map(|(pass, option, value)| (&**pass, &**option, &**value)));
        options
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device: Device::default(),
            jobs: 0,
            units: 0,
            weights: Vec::new(),
            import: weft_onnx::Options::default(),
            reproducer: None,
            print_ir: false,
            remarks: Remarks::default(),
            progress: false,
            simulate: false,
            pass_options: Vec::new(),
            max_bytes: limits::MOST_BYTES,
        }
    }
}

/// How results may be rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Accuracy {
    /// As the model says: sums of the products that it names.
    #[default]
    Model,
    /// 3 x 3 convolutions may be computed with fewer multiplications, where that takes less time; the bound
    /// on the rounding errors of a sum is at most 1024 times that of the model's.
    Relaxed,
}

impl Accuracy {
    /// What `Relaxed` allows: the bound on the rounding errors of a sum, as a multiple of the model's.
    pub const RELAXED_BOUND: u32 = 1024;

    /// The options of passes that it stands for; what is asked for beside it comes behind them.
    pub fn pass_options(self) -> Vec<(String, String, String)> {
        let pass = graph::winograd::PASS.name;
        match self {
            Self::Model => Vec::new(),
            Self::Relaxed => vec![
                (pass.to_owned(), "tiles".to_owned(), "any".to_owned()),
                (pass.to_owned(), "error".to_owned(), Self::RELAXED_BOUND.to_string()),
            ],
        }
    }
}

/// How many bits the factors of products have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Precision {
    /// As many as the model says.
    #[default]
    Model,
    /// Those of f32 are rounded to bf16, where the machine multiplies it; sums stay in f32.
    Bf16,
    /// The same with f16, in which numbers of 65,520 and above are infinite.
    F16,
    /// Those of f32 lose their last 13 bits, where the machine multiplies such factors faster.
    Tf32,
    /// Activations of few rows that meet weights in blocks are rounded to 16 bits of the greatest of each block, where
    /// the machine multiplies bytes.
    Int16,
    /// The same with 8 bits.
    Int8,
}

impl Precision {
    /// The options of passes that it stands for; what is asked for beside it comes behind them.
    pub fn pass_options(self) -> Vec<(String, String, String)> {
        let (pass, option, value) = match self {
            Self::Model => return Vec::new(),
            Self::Bf16 => (graph::narrow_factors::PASS.name, "to", "bf16"),
            Self::F16 => (graph::narrow_factors::PASS.name, "to", "f16"),
            Self::Tf32 => (graph::cut_factors::PASS.name, "f32", "tf32"),
            Self::Int16 => (graph::quantise_activations::PASS.name, "to", "int16"),
            Self::Int8 => (graph::quantise_activations::PASS.name, "to", "int8"),
        };
        vec![(pass.to_owned(), option.to_owned(), value.to_owned())]
    }
}

/// Which passes say what they chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remarks {
    /// None.
    #[default]
    None,
    /// The passes that choose tiles.
    Tiles,
    /// Every one that can.
    All,
}

/// The forms that a compilation can produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The module's text at a stage.
    Stage(Stage),
    /// LLVM IR of the kernels, optimised.
    Llvm,
    /// Assembly of the kernels.
    Asm,
    /// Kernels in the operations of the machine's own dialect.
    Vendor,
    /// The linked code, an ELF shared object.
    Obj,
    /// Assembly of kernels that are code for one thread of many.
    Threads(Isa),
    /// The artifact.
    Weft,
}
