//! Constraints of the order in which a launch begins rTasks.

use super::super::Kernel;
use crate::ir::{Diagnostics, Op};

/// C10. A band is 2 rTasks or more of at least as many, 2 or more apart; the kernel's rTasks are whole times all of them.
/// Clusters as far apart are whole in a band; others lie between its rTasks, or have whole bands between theirs.
pub(super) fn kernel_c10(op: Op<'_>, diag: &mut Diagnostics) {
    if op.attr("bands").is_none() {
        return;
    }
    let Some(kernel) = Kernel::of(op) else { return };
    let Some(bands) = kernel.bands else {
        diag.error(op, "device.kernel has bands that are not [rTasks, all, distance]").help(
            "give three numbers: 2 rTasks or more, as many or more in all, and 2 or more between the numbers of two",
        );
        return;
    };
    if !kernel.tasks.is_multiple_of(bands.whole()) {
        let (all, apart) = (bands.all, bands.apart);
        let what = format!(
            "device.kernel has {} rTasks, and bands of {all} that are {apart} apart",
            kernel.tasks
        );
        diag.error(op, what).help(format!("their number is a multiple of {}", bands.whole()));
    }
    if let Some(cluster) = kernel.cluster
        && bands.of_clusters(cluster).is_none()
    {
        let own = [bands.count, bands.all, bands.apart];
        let what = format!(
            "device.kernel has bands {own:?}, and clusters of {} that are {} apart",
            cluster.count, cluster.apart
        );
        diag.error(op, what).help(format!(
            "where they are as far apart, let bands be multiples of {}; else let clusters lie between the rTasks of a band, or bands between theirs",
            cluster.count
        ));
    }
}
