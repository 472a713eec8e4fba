//! The plan of a compiled model: which kernels run, in what order, on which memory.
//!
//! Plain data. The compiler fills it in, [`Plan::validate`] holds it against every rule the
//! runtime relies on, and the runtime then follows it without further checks.

mod finds;
mod lengths;
mod loops;
mod validate;

use serde::{Deserialize, Serialize};

use crate::dtype::DType;

pub use lengths::{BindError, Binding, Find, Following, Lengths, Loop, Share, Shift, Valued};
pub use validate::PlanError;

/// Alignment, in bytes, of the arena, of the constants, and of every buffer in them. Inputs and
/// outputs lie where the caller has them: a kernel may count on the size of their elements only.
pub const ALIGN: u64 = 64;

/// A compiled model, apart from its code and the bytes of its constants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The model's name, for people.
    pub name: String,
    /// Virtual execution units. Steps of one unit never overlap.
    pub units: u32,
    /// Number of them, the last ones, that stand for clusters of the others and give work to the
    /// engines of those; none outside of simulated code.
    pub clusters: u32,
    /// Size of the memory that lives for one run.
    pub arena_bytes: u64,
    /// Bytes of the arena in the memory of the machine that drives the device, where tensors
    /// wait that do not fit the device's own.
    pub host_bytes: u64,
    /// Bytes of the arena in the memory of each cluster.
    pub cluster_bytes: u64,
    /// Size of the constants.
    pub constant_bytes: u64,
    /// The ports that the caller fills, in order.
    pub inputs: Vec<Port>,
    /// The ports that the caller reads, in order.
    pub outputs: Vec<Port>,
    /// Pieces of memory that steps work on.
    pub buffers: Vec<Buffer>,
    /// The kind of code in the code section.
    pub code: CodeKind,
    /// Functions in the code.
    pub kernels: Vec<Kernel>,
    /// The steps, in a total order: every wait of a step names an earlier one.
    pub steps: Vec<Step>,
    /// Steps with which another launch begins, ascending; the first one of all is not said.
    /// Every step waits for all launches before its own, as its waits say.
    pub launches: Vec<u32>,
    /// Time that each step takes at least by the facts of the machine, in picoseconds; 0 where
    /// it is not known. For profiles; empty or one for each step.
    pub least_ps: Vec<u64>,
    /// Bytes that one run moves between the two memories, by the moves that the machine has for
    /// it; none where everything fits.
    pub moved: Vec<Moved>,
    /// Operator names, for profiles.
    pub ops: Vec<String>,
    /// Processor features the code uses, by LLVM's names (`avx2`, `avx512f`).
    pub cpu_features: Vec<String>,
    /// Name of the device compiled for.
    pub device: String,
    /// What callers decide with each run.
    pub lengths: Lengths,
    /// The outputs that lie in the memory of an input.
    pub aliases: Vec<Alias>,
    /// The origin of the artifact.
    pub build: Build,
}

impl Plan {
    /// The output that lies in the memory of an input.
    pub fn output_within(&self, input: usize) -> Option<usize> {
        let own = self.aliases.iter().find(|alias| alias.input as usize == input)?;
        Some(own.output as usize)
    }

    /// The input in whose memory an output lies.
    pub fn input_around(&self, output: usize) -> Option<usize> {
        let own = self.aliases.iter().find(|alias| alias.output as usize == output)?;
        Some(own.input as usize)
    }

    /// The cluster of a unit, where a cluster has `units` of them, or that which it stands for.
    pub fn cluster_of(&self, unit: u32, units: u64) -> u32 {
        let of = || u64::from(unit).checked_div(units).unwrap_or(0) as u32;
        unit.checked_sub(self.units - self.clusters).unwrap_or_else(of)
    }
}

/// An input and an output that are one tensor of the caller's memory, laid out by the extents of the
/// output's type whatever its lengths are: a run finds there what the one before left, and writes behind
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// The input, by index; no buffer is part of it.
    pub input: u32,
    /// The output, by index.
    pub output: u32,
}

/// The origin of an artifact; nothing here changes its results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The compiler and its version.
    pub compiler: String,
    /// Further facts by name, such as options; in the order the compiler gives.
    pub facts: Vec<(String, String)>,
}

/// An input or output of the model: a dense row-major tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// The tensor's name in the model.
    pub name: String,
    /// Type of an element.
    pub dtype: DType,
    /// Extents, outermost first; empty for a scalar. Of a dimension whose length callers decide,
    /// the most that it may be.
    pub shape: Vec<u64>,
}

impl Port {
    /// Size in bytes, or `None` if it does not fit in 63 bits.
    pub fn bytes(&self) -> Option<u64> {
        let unit = self.dtype.bytes() as u64;
        // A zero anywhere makes the tensor empty, whatever the other extents multiply to.
        if self.shape.contains(&0) {
            return Some(0);
        }
        let bytes = self.shape.iter().try_fold(unit, |n, &extent| n.checked_mul(extent))?;
        (bytes <= i64::MAX as u64).then_some(bytes)
    }

    /// What it is but for its name.
    fn as_type(&self) -> (DType, &[u64]) {
        (self.dtype, &self.shape)
    }

    /// Number of elements, or `None` if the tensor is too large.
    pub fn elements(&self) -> Option<u64> {
        Some(self.bytes()? / self.dtype.bytes() as u64)
    }
}

/// Bytes that one run takes from one memory to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The machine's name for the move.
    pub name: String,
    /// Number of bytes.
    pub bytes: u64,
}

/// The memory that a buffer is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Base {
    /// An input of the model, by index; read only.
    Input(u32),
    /// An output of the model, by index.
    Output(u32),
    /// The constants; read only.
    Constant,
    /// The arena.
    Arena,
    /// The arena in the memory of the machine that drives the device.
    Host,
    /// The arena in the memory of a cluster of units, by its number.
    Cluster(u32),
    /// The lengths of the run, [`Lengths::table`]; read only.
    Lengths,
}

/// A part of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Buffer {
    /// The memory or port that it is part of.
    pub base: Base,
    /// Its offset in bytes; a multiple of [`ALIGN`] in the arenas and the constants.
    pub offset: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The kind of code in an artifact. Later kinds come after these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CodeKind {
    /// An ELF shared object for the processor.
    #[default]
    Native,
    /// A machine and kernels as plain data, [`crate::simulate::Code`].
    Simulated,
    /// PTX text for a CUDA device. Its first lines say how kernels are launched,
    /// `// launch SYMBOL threads N groups N`, and which steps are one kernel instead,
    /// `// program SYMBOL steps FIRST LAST threads N blocks N`; what tensors a kernel takes descriptors of, `// box`.
    Ptx,
    /// An ELF code object for an AMD GPU.
    Amdgcn,
}

impl CodeKind {
    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            CodeKind::Native => "native",
            CodeKind::Simulated => "simulated",
            CodeKind::Ptx => "PTX",
            CodeKind::Amdgcn => "AMDGCN",
        }
    }
}

/// A function in native code, and a kernel by name in simulated code:
///
/// ```c
/// void kernel(unsigned char *const *buffers, int64_t begin, int64_t end);
/// ```
///
/// It runs its rTasks `begin..end` on the operand buffers of the step that calls it. Behind them
/// comes memory that the caller lends to native code, if the kernel asks for some. In code for
/// a GPU it is an entry for one thread, `(int64_t begin, int64_t end, buffers...)`, and a group of
/// threads that go in step runs the rTask `begin + block * groups + thread / (threads / groups)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kernel {
    /// Name of the exported symbol.
    pub symbol: String,
    /// Bytes of memory that no other call works in meanwhile, at a multiple of [`ALIGN`]; nobody
    /// reads what is left there.
    pub scratch_bytes: u64,
}

/// A range of rTasks of one kernel on one unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step {
    /// The unit it runs on, below [`Plan::units`].
    pub unit: u32,
    /// Index into [`Plan::kernels`].
    pub kernel: u32,
    /// First rTask.
    pub begin: u64,
    /// One past the last rTask.
    pub end: u64,
    /// Indices into [`Plan::buffers`], in the order of the kernel's operands.
    pub buffers: Vec<u32>,
    /// Earlier steps, of any unit, that must be complete before this one begins. Steps of one
    /// unit are ordered without being named here.
    pub waits: Vec<u32>,
    /// Index into [`Plan::ops`].
    pub op: u32,
}

/// Four rTasks of the first kernel, for tests.
#[cfg(test)]
fn step(unit: u32, buffers: Vec<u32>, waits: Vec<u32>) -> Step {
    Step { unit, kernel: 0, begin: 0, end: 4, buffers, waits, op: 0 }
}
