//! The bytes of its arguments that a kernel loads from the device's memory and stores to it.

use weft_dialects::ir::{Op, Val, ty};
use weft_dialects::tile::Kernel;

use super::touch::Touches;
use crate::nest::grid::task_grid;
use crate::nest::{Start, read_kernel};

/// Bytes of one argument of a kernel, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Read.
    pub read: u64,
    /// Written.
    pub written: u64,
}

/// One for each argument of a `tile.kernel`, in their order.
///
/// An argument counts from the first byte that is touched to the last, with no more elements
/// read than there are points, and no more written than there are along the axes that do not reduce.
/// Arguments of a kernel that is more than one loop nest count whole.
pub fn moved(kernel: Op<'_>) -> Vec<Moved> {
    let Some(view) = Kernel::of(kernel) else { return Vec::new() };
    let exact = exact(kernel, &view);
    exact.unwrap_or_else(|| {
        let read = view.inputs().into_iter().map(|arg| Moved { read: whole(arg), written: 0 });
        let written = view.outputs().into_iter().map(|arg| Moved { read: 0, written: whole(arg) });
        read.chain(written).collect()
    })
}

fn exact(kernel: Op<'_>, view: &Kernel<'_>) -> Option<Vec<Moved>> {
    let computes = view.computes();
    let [compute] = &computes[..] else { return None };
    let (nest, first) = (read_kernel(kernel).ok()?, compute.tiles.first()?);
    if first.sizes.len() != nest.axes.len() {
        return None;
    }
    let touches = Touches::of(&nest, &task_grid(&nest, first), &first.sizes);
    let held = |arg: usize| {
        let mut starts = nest.outputs.iter().zip(&nest.starts);
        starts
            .any(|(output, start)| output.argument().index() == arg && matches!(start, Start::Held))
    };
    let points = nest.points();
    let parallel = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
    let results = parallel.map(|axis| nest.axes[axis].extent).product();
    let of = |arg: usize| {
        let written = touches.span(arg, true, results);
        let kept = if held(arg) { written } else { 0 };
        Moved { read: touches.span(arg, false, points).max(kept), written }
    };
    Some((0..view.body.args().len()).map(of).collect())
}

fn whole(arg: Val<'_>) -> u64 {
    let elem = ty::elem(arg.ty()).and_then(ty::byte_size);
    elem.zip(ty::count(arg.ty())).map_or(0, |(elem, count)| elem.saturating_mul(count))
}
