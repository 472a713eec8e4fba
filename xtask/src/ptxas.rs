//! NVIDIA's assembler, which says whether generated PTX is sound.
//!
//! Tests that need it say so and go on where it is missing: nothing that is built or shipped needs it.

use crate::pypi;
use crate::workspace::Workspace;

/// The newer one has left the oldest architectures behind; each lies in a folder of its own.
/// The assembler alone: compilers and libraries that come with it are not used.
const PACKAGES: [&str; 2] = ["nvidia-cuda-nvcc==13.5.37", "nvidia-cuda-nvcc-cu12==12.9.86"];
const ASSEMBLERS: [&str; 2] = ["nvidia/cu13/bin/ptxas", "nvidia/cuda_nvcc/bin/ptxas"];

/// Installs what is missing, or says why that was not possible.
pub fn ensure(workspace: &Workspace) {
    if ASSEMBLERS.iter().all(|path| pypi::find(workspace, path).is_some()) {
        return;
    }
    if let Err(reason) = pypi::install(workspace, &PACKAGES) {
        eprintln!("setup: NO PTXAS, so tests will not assemble PTX: {reason}");
    }
}
