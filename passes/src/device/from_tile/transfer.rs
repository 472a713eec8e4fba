//! Writing transfers and fills, and waiting for them.

use weft_dialects::device::{Move, token};
use weft_dialects::ir::{Attribute, Builder, Type, Val, attr, ty};

use super::view::View;
use crate::nest::row_major;

/// A box of elements of a view, by the elements between neighbours along each side.
pub(super) struct Boxed<'c> {
    /// The first element.
    pub view: View<'c>,
    /// Elements between neighbours along each side.
    pub strides: Vec<i64>,
}

/// What is left out of a box, and what its elements promise: see `device.transfer`.
#[derive(Default)]
pub(super) struct Within<'c> {
    /// Bounds, each with a step per side.
    pub limits: Vec<(Val<'c>, Vec<i64>)>,
    /// Whether what is left out becomes zero.
    pub pads: bool,
    /// Elements side by side that may be moved together; 0 where nothing is promised.
    pub run: u64,
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
        self.transfer_within(b, way, from, to, sizes, &Within::default());
    }

    /// Begins a transfer of a box of `sizes` without what limits leave out.
    pub fn transfer_within(
        &mut self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        from: &Boxed<'c>,
        to: &Boxed<'c>,
        sizes: &[u64],
        within: &Within<'c>,
    ) {
        let context = b.context();
        let [read, written] = [from, to].map(|end| end.view.indices.len() as i32);
        let segments = [1, read, 1, written, within.limits.len() as i32];
        let operands: Vec<_> = [&from.view, &to.view]
            .into_iter()
            .flat_map(|view| std::iter::once(view.memref).chain(view.indices.iter().copied()))
            .chain(within.limits.iter().map(|(bound, _)| *bound))
            .collect();
        let mut attributes = vec![
            ("move", attr::of_symbol(context, way.name)),
            ("sizes", of_sizes(b, sizes)),
            ("from_strides", attr::of_ints(context, &from.strides)),
            ("to_strides", attr::of_ints(context, &to.strides)),
            ("operandSegmentSizes", attr::of_ints32(context, &segments)),
        ];
        if !within.limits.is_empty() {
            let steps: Vec<_> =
                within.limits.iter().flat_map(|(_, steps)| steps.iter().copied()).collect();
            attributes.push(("limit_steps", attr::of_ints(context, &steps)));
            if within.pads {
                attributes.push(("pads", attr::unit(context)));
            }
        }
        if within.run > 1 {
            attributes.push(("run", attr::of_int(context, within.run as i64)));
        }
        let op = b.op_with("device.transfer", &operands, &results(b, way), &attributes, 0);
        self.0.extend(op.results());
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
        let context = b.context();
        let operands: Vec<_> =
            std::iter::once(view.memref).chain(view.indices.iter().copied()).collect();
        let op = b.op_with(
            "device.fill",
            &operands,
            &results(b, way),
            &[
                ("move", attr::of_symbol(context, way.name)),
                ("sizes", of_sizes(b, shape)),
                ("strides", attr::of_ints(context, &row_major(shape))),
                ("value", value),
            ],
            0,
        );
        self.0.extend(op.results());
    }

    /// What was begun, for somebody else to wait for.
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
        b.op("device.wait", tokens, &[]);
    }
}

/// A token that is given already.
pub(super) fn ready<'c>(b: &mut Builder<'c>) -> Val<'c> {
    let ty = token(b.context());
    b.op("device.ready", &[], &[ty]).result(0)
}

/// What an engine does gives a token.
pub(super) fn results<'c>(b: &Builder<'c>, way: &Move<'c>) -> Vec<Type<'c>> {
    way.engine().map(|_| token(b.context())).into_iter().collect()
}

fn of_sizes<'c>(b: &Builder<'c>, sizes: &[u64]) -> Attribute<'c> {
    let sizes: Vec<_> = sizes.iter().map(|&size| size as i64).collect();
    attr::of_ints(b.context(), &sizes)
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
    b.op("device.alloc", &[], &[ty]).result(0)
}

/// The view from the first element on.
pub(super) fn first<'c>(b: &mut Builder<'c>, memref: Val<'c>) -> View<'c> {
    let rank = ty::shape(memref.ty()).map_or(0, |shape| shape.len());
    View { memref, indices: (0..rank).map(|_| b.index(0)).collect() }
}
