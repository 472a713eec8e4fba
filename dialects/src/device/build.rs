//! Builds the operations of the `device` dialect's program half, one function or one struct of
//! fields each. Machines are written by people.
//!
//! Operations with few fields are functions; the others are structs with a `build`. Types that
//! follow from the operands are not asked for.

use super::program::{Kernel, Limit, View, token};
use super::scope::Scope;
use weft_runtime::length::Length;

use crate::ir::{Attribute, Block, Builder, Op, Type, Val, attr, ty};

/// `device.kernel @name tasks 8 { ... }`, whose body takes the rTask's number and `args`, and is
/// empty yet.
pub fn kernel<'c>(b: &mut Builder<'c>, name: &str, tasks: u64, args: &[Type<'c>]) -> Kernel<'c> {
    let context = b.context();
    let attributes = [
        ("sym_name", attr::of_string(context, name)),
        ("tasks", attr::of_int(context, tasks as i64)),
    ];
    let op = b.op_with("device.kernel", &[], &[], &attributes, 1);
    let types: Vec<_> = std::iter::once(Type::index(context)).chain(args.iter().copied()).collect();
    Kernel {
        op,
        name: op.symbol(),
        tasks,
        length: None,
        groups: 1,
        turns: 1,
        resident: None,
        cluster: None,
        bands: None,
        body: b.block(op.region(0), &types),
    }
}

/// `device.yield %a, %b : ...`, which ends a meaning, a lowering, or the body of lanes.
pub fn yield_values<'c>(b: &mut Builder<'c>, values: &[Val<'c>]) -> Op<'c> {
    b.op("device.yield", values, &[])
}

/// `device.group`.
pub fn group<'c>(b: &mut Builder<'c>) -> Val<'c> {
    let index = Type::index(b.context());
    b.op("device.group", &[], &[index]).result(0)
}

/// `device.length "seq"`.
pub fn length<'c>(b: &mut Builder<'c>, length: &Length) -> Val<'c> {
    let context = b.context();
    let text = attr::of_string(context, &length.to_string());
    b.op_with("device.length", &[], &[Type::index(context)], &[("length", text)], 0).result(0)
}

/// `device.lane`.
pub fn lane<'c>(b: &mut Builder<'c>) -> Val<'c> {
    let index = Type::index(b.context());
    b.op("device.lane", &[], &[index]).result(0)
}

/// `device.lane along dim`.
pub fn lane_along<'c>(b: &mut Builder<'c>, dim: usize) -> Val<'c> {
    let index = Type::index(b.context());
    let along = [("along", attr::of_int(b.context(), dim as i64))];
    b.op_with("device.lane", &[], &[index], &along, 0).result(0)
}

/// `device.arrive "scope"`.
pub fn arrive<'c>(b: &mut Builder<'c>, scope: Scope) -> Val<'c> {
    let token = super::token(b.context());
    let scope = [("scope", attr::of_string(b.context(), scope.name()))];
    b.op_with("device.arrive", &[], &[token], &scope, 0).result(0)
}

/// `device.alloc : ty`.
pub fn alloc<'c>(b: &mut Builder<'c>, ty: Type<'c>) -> Val<'c> {
    b.op("device.alloc", &[], &[ty]).result(0)
}

/// `device.alloc at offset : ty`.
pub fn alloc_at<'c>(b: &mut Builder<'c>, offset: u64, ty: Type<'c>) -> Val<'c> {
    let offset = [("offset", attr::of_int(b.context(), offset as i64))];
    b.op_with("device.alloc", &[], &[ty], &offset, 0).result(0)
}

/// `device.alloc swizzle [bits, keep, shift] : ty`.
pub fn alloc_swizzled<'c>(b: &mut Builder<'c>, swizzle: [u32; 3], ty: Type<'c>) -> Val<'c> {
    let swizzle = [("swizzle", attr::of_ints(b.context(), &swizzle.map(i64::from)))];
    b.op_with("device.alloc", &[], &[ty], &swizzle, 0).result(0)
}

/// `device.copy @move_name %source to %target count 16 from_dim 0 from_step 2 : ...`.
#[derive(Clone, Copy, Debug)]
pub struct CopyOp<'a, 'c> {
    /// The name of the move.
    pub move_name: &'a str,
    /// The first element read.
    pub source: &'a View<'c>,
    /// The first element written.
    pub target: &'a View<'c>,
    /// Number of elements.
    pub count: u64,
    /// Which way they run in the source; `None` side by side.
    pub from: Option<Along>,
    /// Which way they run in the target; `None` side by side.
    pub to: Option<Along>,
}

/// Elements that run along a dimension, so far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    /// The dimension.
    pub dim: usize,
    /// Distance of neighbours.
    pub step: i64,
}

impl<'c> CopyOp<'_, 'c> {
    /// The operation.
    pub fn build(&self, b: &mut Builder<'c>) -> Op<'c> {
        let context = b.context();
        let (from, to) = (self.source, self.target);
        let mut attributes = vec![
            ("move", attr::of_symbol(context, self.move_name)),
            ("count", attr::of_int(context, self.count as i64)),
            attr::segments(context, &[1, from.indices.len(), 1, to.indices.len()]),
        ];
        let ways =
            [(self.from, ["from_dim", "from_step"]), (self.to, ["to_dim", "to_step"])].into_iter();
        for (along, names) in ways.filter_map(|(along, names)| Some((along?, names))) {
            attributes.push((names[0], attr::of_int(context, along.dim as i64)));
            attributes.push((names[1], attr::of_int(context, along.step)));
        }
        b.op_with("device.copy", &[operands(from), operands(to)].concat(), &[], &attributes, 0)
    }
}

/// `device.transfer @move_name %source to %target sizes [...] from_strides [...] to_strides [...]
/// limits(...) steps [...] pads run 4 : ...`.
#[derive(Clone, Copy, Debug)]
pub struct TransferOp<'a, 'c> {
    /// The name of the move.
    pub move_name: &'a str,
    /// The first element read, and elements between neighbours along each side of the box.
    pub source: (&'a View<'c>, &'a [i64]),
    /// The first element written, and elements between neighbours along each side there.
    pub target: (&'a View<'c>, &'a [i64]),
    /// Number of elements along each side.
    pub sizes: &'a [u64],
    /// The limits beyond which elements are left out.
    pub limits: &'a [Limit<'c>],
    /// True if elements that are left out become zero in the target; unused without limits.
    pub pads: bool,
    /// Elements side by side that may be moved at once.
    pub run: u64,
    /// True if all rTasks of a cluster bring it, each a part that all get.
    pub together: bool,
    /// The arrival of all groups behind which it begins.
    pub after: Option<Val<'c>>,
    /// True if an engine does it, and gives a token.
    pub engine: bool,
}

impl<'c> TransferOp<'_, 'c> {
    /// The token, if it gives one.
    pub fn build(&self, b: &mut Builder<'c>) -> Option<Val<'c>> {
        let context = b.context();
        let ((from, from_strides), (to, to_strides)) = (self.source, self.target);
        let after = usize::from(self.after.is_some());
        let segments = [1, from.indices.len(), 1, to.indices.len(), self.limits.len(), after];
        let mut attributes = vec![
            ("move", attr::of_symbol(context, self.move_name)),
            ("sizes", attr::of_sizes(context, self.sizes)),
            ("from_strides", attr::of_ints(context, from_strides)),
            ("to_strides", attr::of_ints(context, to_strides)),
            attr::segments(context, &segments),
        ];
        if !self.limits.is_empty() {
            let steps: Vec<_> =
                self.limits.iter().flat_map(|limit| limit.steps.iter().copied()).collect();
            attributes.push(("limit_steps", attr::of_ints(context, &steps)));
            attributes.extend(self.pads.then(|| ("pads", attr::unit(context))));
        }
        if self.run > 1 {
            attributes.push(("run", attr::of_int(context, self.run as i64)));
        }
        attributes.extend(self.together.then(|| ("together", attr::unit(context))));
        let bounds: Vec<_> = self.limits.iter().map(|limit| limit.bound).collect();
        let after: Vec<_> = self.after.into_iter().collect();
        let operands = [operands(from), operands(to), bounds, after].concat();
        given(b.op_with("device.transfer", &operands, &tokens(b, self.engine), &attributes, 0))
    }
}

/// `device.fill @move_name %target sizes [...] strides [...] value 0.0 : f32 : ...`.
#[derive(Clone, Copy, Debug)]
pub struct FillOp<'a, 'c> {
    /// The name of the move.
    pub move_name: &'a str,
    /// The first element written.
    pub target: &'a View<'c>,
    /// Number of elements along each side of the box.
    pub sizes: &'a [u64],
    /// Elements between neighbours along each side.
    pub strides: &'a [i64],
    /// The number, of the element type.
    pub value: Attribute<'c>,
    /// True if an engine does it, and gives a token.
    pub engine: bool,
}

impl<'c> FillOp<'_, 'c> {
    /// The token, if it gives one.
    pub fn build(&self, b: &mut Builder<'c>) -> Option<Val<'c>> {
        let context = b.context();
        let attributes = [
            ("move", attr::of_symbol(context, self.move_name)),
            ("sizes", attr::of_sizes(context, self.sizes)),
            ("strides", attr::of_ints(context, self.strides)),
            ("value", self.value),
        ];
        let operands = operands(self.target);
        given(b.op_with("device.fill", &operands, &tokens(b, self.engine), &attributes, 0))
    }
}

/// `device.invoke @instruction(%views) : ...`; the token where an `engine` does it.
pub fn invoke<'c>(
    b: &mut Builder<'c>,
    instruction: &str,
    views: &[View<'c>],
    engine: bool,
) -> Option<Val<'c>> {
    let context = b.context();
    let (operands, segments) = dealt(views);
    let attributes = [
        ("instruction", attr::of_symbol(context, instruction)),
        attr::segments(context, &segments),
    ];
    given(b.op_with("device.invoke", &operands, &tokens(b, engine), &attributes, 0))
}

/// `device.apply @lanes_unit lanes 16 ins(%inputs) outs(%outputs) : ... { ... }`.
///
/// The body, which is given, takes an element of each input and is empty yet.
pub fn apply<'c>(
    b: &mut Builder<'c>,
    lanes_unit: &str,
    lanes: u64,
    inputs: &[View<'c>],
    outputs: &[View<'c>],
) -> Block<'c> {
    let op = lanewise(b, "device.apply", (lanes_unit, lanes), inputs, outputs);
    let types: Vec<_> = inputs.iter().map(element).collect();
    b.block(op.region(0), &types)
}

/// `device.combine @lanes_unit lanes 16 ins(%input) outs(%output) : ... { ... }`.
///
/// The body, which is given, takes two elements and is empty yet.
pub fn combine<'c>(
    b: &mut Builder<'c>,
    lanes_unit: &str,
    lanes: u64,
    input: View<'c>,
    output: View<'c>,
) -> Block<'c> {
    let elem = element(&input);
    let op = lanewise(b, "device.combine", (lanes_unit, lanes), &[input], &[output]);
    b.block(op.region(0), &[elem, elem])
}

/// The same on whole operands of `elements`, along a dimension of them.
pub fn combine_along<'c>(
    b: &mut Builder<'c>,
    lanes_unit: &str,
    (elements, along): (u64, usize),
    input: View<'c>,
    output: View<'c>,
) -> Block<'c> {
    let block = combine(b, lanes_unit, elements, input, output);
    let op = block.parent().expect("it is an operation's");
    op.set_attr("along", attr::of_int(b.context(), along as i64));
    block
}

fn lanewise<'c>(
    b: &mut Builder<'c>,
    kind: &str,
    (unit, lanes): (&str, u64),
    inputs: &[View<'c>],
    outputs: &[View<'c>],
) -> Op<'c> {
    let context = b.context();
    let ((read, reads), (written, writes)) = (dealt(inputs), dealt(outputs));
    let attributes = [
        ("lanes_unit", attr::of_symbol(context, unit)),
        ("lanes", attr::of_int(context, lanes as i64)),
        attr::segments(context, &[reads, writes].concat()),
    ];
    b.op_with(kind, &[read, written].concat(), &[], &attributes, 1)
}

/// `device.ready`.
pub fn ready<'c>(b: &mut Builder<'c>) -> Val<'c> {
    let token = token(b.context());
    b.op("device.ready", &[], &[token]).result(0)
}

/// `device.mark @engine`.
pub fn mark<'c>(b: &mut Builder<'c>, engine: &str) -> Val<'c> {
    let context = b.context();
    let engine = [("engine", attr::of_symbol(context, engine))];
    b.op_with("device.mark", &[], &[token(context)], &engine, 0).result(0)
}

/// `device.wait %tokens`.
pub fn wait<'c>(b: &mut Builder<'c>, tokens: &[Val<'c>]) -> Op<'c> {
    b.op("device.wait", tokens, &[])
}

/// `device.barrier "scope"`.
pub fn barrier<'c>(b: &mut Builder<'c>, scope: Scope) -> Op<'c> {
    let scope = [("scope", attr::of_string(b.context(), scope.name()))];
    b.op_with("device.barrier", &[], &[], &scope, 0)
}

/// The memref of a view, then its indices.
fn operands<'c>(view: &View<'c>) -> Vec<Val<'c>> {
    [&[view.memref], &view.indices[..]].concat()
}

/// The memrefs of all views, then the indices of all, and how many there are of each.
fn dealt<'c>(views: &[View<'c>]) -> (Vec<Val<'c>>, [usize; 2]) {
    let indices = views.iter().flat_map(|view| view.indices.iter().copied());
    let all: Vec<_> = views.iter().map(|view| view.memref).chain(indices).collect();
    let segments = [views.len(), all.len() - views.len()];
    (all, segments)
}

fn element<'c>(view: &View<'c>) -> Type<'c> {
    ty::elem(view.memref.ty()).expect("views are of memrefs")
}

fn tokens<'c>(b: &Builder<'c>, engine: bool) -> Vec<Type<'c>> {
    engine.then(|| token(b.context())).into_iter().collect()
}

fn given(op: Op<'_>) -> Option<Val<'_>> {
    op.results().first().copied()
}
