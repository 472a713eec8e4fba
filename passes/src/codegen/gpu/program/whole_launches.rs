//! Launches of kernels whose blocks are dealt to rTasks by whole clusters, or by whole bands.

use thiserror::Error;
use weft_dialects::device::{Bands, Cluster, Kernel};
use weft_dialects::ir::Op;
use weft_runtime::gpu::calls;
use weft_runtime::plan::Plan;

/// A launch takes a part of the rTasks of a cluster, or of those that go in bands.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "a launch takes rTasks {begin} to {end} of @{kernel}, whose clusters or bands are whole every {whole} rTasks"
)]
pub struct CutLaunch {
    kernel: String,
    begin: u64,
    end: u64,
    whole: u64,
}

impl CutLaunch {
    /// What would be accepted.
    pub const HELP: &str = "let ranges of the kernel follow each other from the first rTask to the last, or leave out \
                            its schedule's `cluster` or `bands`";
}

/// Tests that each launch of a module's plan takes whole clusters and bands of a kernel's rTasks.
///
/// # Errors
/// The first one that does not.
pub fn whole_launches(module: Op<'_>, plan: &Plan) -> Result<(), CutLaunch> {
    let ops = module.body(0).map(|block| block.ops()).unwrap_or_default();
    let kernels: Vec<_> = ops.into_iter().filter_map(Kernel::of).collect();
    for call in calls(plan) {
        let name = &plan.kernels[plan.steps[call.first].kernel as usize].symbol;
        let kernel = kernels.iter().find(|kernel| kernel.name == name);
        let Some(kernel) = kernel else { continue };
        // One of both is whole times the other.
        let clusters = kernel.cluster.map_or(1, Cluster::whole);
        let whole = clusters.max(kernel.bands.map_or(1, Bands::whole));
        if [call.begin, call.end].iter().any(|task| !task.is_multiple_of(whole)) {
            let (begin, end) = (call.begin, call.end);
            return Err(CutLaunch { kernel: name.clone(), begin, end, whole });
        }
    }
    Ok(())
}
