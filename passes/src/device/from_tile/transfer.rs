//! Writing transfers and fills, and waiting for them.

use weft_dialects::device::build::{self, FillOp, TransferOp};
use weft_dialects::device::{Limit, Move};
use weft_dialects::ir::{Attribute, Builder, Type, Val, attr, ty};

use super::index::Sum;
use super::view::View;
use crate::nest::row_major;

/// A box of elements of a view, by the elements between neighbours along each side.
pub(super) struct Boxed<'c> {
    /// The first element.
    pub view: View<'c>,
    /// Elements between neighbours along each side.
    pub strides: Vec<i64>,
}

/// Limits of a box, and what its elements promise: see `device.transfer`.
#[derive(Default)]
pub(super) struct Within<'c> {
    /// Parts that are left out.
    pub limits: Vec<Limit<'c>>,
    /// True if the parts that are left out become zero.
    pub pads: bool,
    /// Elements side by side that may be moved at once; 0 where nothing is promised.
    pub run: u64,
    /// True if all rTasks of a cluster bring it together.
    pub together: bool,
    /// The arrival of all groups behind which it begins.
    pub after: Option<Val<'c>>,
}

/// A box of elements to transfer, and what limits leave out of it.
pub(super) struct Transfer<'t, 'c> {
    /// Where it begins.
    pub from: &'t Boxed<'c>,
    /// Where it goes.
    pub to: &'t Boxed<'c>,
    /// Its size along each side.
    pub sizes: &'t [u64],
    pub within: &'t Within<'c>,
}

/// Tokens of what was begun and not waited for.
#[derive(Default)]
pub(super) struct Pending<'c>(pub Vec<Val<'c>>);

impl<'c> Pending<'c> {
    /// Begins a transfer of a box of `sizes`.
    pub fn transfer(
        &mut self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        from: &Boxed<'c>,
        to: &Boxed<'c>,
        sizes: &[u64],
    ) {
        self.transfer_within(b, way, Transfer { from, to, sizes, within: &Within::default() });
    }

    /// Begins a transfer of a box without what limits leave out.
    pub fn transfer_within(
        &mut self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        Transfer { from, to, sizes, within }: Transfer<'_, 'c>,
    ) {
        let transfer = TransferOp {
            move_name: way.name,
            source: (&from.view, &from.strides),
            target: (&to.view, &to.strides),
            sizes,
            limits: &within.limits,
            pads: within.pads,
            run: within.run,
            together: within.together,
            after: within.after,
            engine: way.engine().is_some(),
        };
        self.0.extend(transfer.build(b));
    }

    /// Begins to write `value` to every element of a row-major `shape` from `view` on.
    pub fn fill(
        &mut self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        view: &View<'c>,
        shape: &[u64],
        value: Attribute<'c>,
    ) {
        let fill = FillOp {
            move_name: way.name,
            target: view,
            sizes: shape,
            strides: &row_major(shape),
            value,
            engine: way.engine().is_some(),
        };
        self.0.extend(fill.build(b));
    }

    /// Tokens of what was begun, for the caller to wait for.
    pub fn take(&mut self) -> Vec<Val<'c>> {
        std::mem::take(&mut self.0)
    }

    /// Waits for everything that was begun.
    pub fn wait(&mut self, b: &mut Builder<'c>) {
        wait(b, &self.take());
    }
}

/// Waits for some tokens.
pub(super) fn wait<'c>(b: &mut Builder<'c>, tokens: &[Val<'c>]) {
    if !tokens.is_empty() {
        build::wait(b, tokens);
    }
}

/// A token that is given already.
pub(super) fn ready<'c>(b: &mut Builder<'c>) -> Val<'c> {
    build::ready(b)
}

/// Room of a shape in a named memory.
pub(super) fn alloc<'c>(
    b: &mut Builder<'c>,
    shape: &[u64],
    elem: Type<'c>,
    memory: &str,
) -> Val<'c> {
    let memory = attr::of_string(b.context(), memory);
    let ty = ty::memref(shape, elem, Some(memory));
    build::alloc(b, ty)
}

/// The view from the first element on.
pub(super) fn first<'c>(b: &mut Builder<'c>, memref: Val<'c>) -> View<'c> {
    let rank = ty::shape(memref.ty()).map_or(0, |shape| shape.len());
    View { memref, indices: (0..rank).map(|_| b.index(0)).collect() }
}

/// The view from a place on that is given along the first dimensions.
pub(super) fn at_place<'p, 'c: 'p>(
    b: &mut Builder<'c>,
    memref: Val<'c>,
    place: impl IntoIterator<Item = &'p Sum<'c>>,
) -> View<'c> {
    let mut view = first(b, memref);
    for (index, place) in view.indices.iter_mut().zip(place) {
        *index = place.emit(b);
    }
    view
}
