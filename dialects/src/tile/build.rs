//! Builds the operations of the `tile` dialect, one function or one struct of fields each.
//!
//! Operations with few fields are functions; the others are structs with a `build`. Types that
//! follow from the operands are not asked for.

use super::{Compute, Kernel, RTile, Schedule};
use crate::ir::{Attribute, Block, Builder, Context, Op, Type, Val, attr, ty};

/// `tile.graph @name inputs [...] outputs [...] : (...) -> (...) { ... }`.
#[derive(Clone, Copy, Debug)]
pub struct GraphOp<'a, 'c> {
    /// The name of the symbol.
    pub name: &'a str,
    /// The names of the inputs.
    pub inputs: &'a [&'a str],
    /// The names of the outputs.
    pub outputs: &'a [&'a str],
    /// The graph types of the inputs, and those of the outputs.
    pub signature: (&'a [Type<'c>], &'a [Type<'c>]),
}

impl<'c> GraphOp<'_, 'c> {
    /// The body, which takes the payload types of the inputs and is empty yet.
    pub fn build(&self, b: &mut Builder<'c>) -> Block<'c> {
        let context = b.context();
        let (inputs, outputs) = self.signature;
        let attributes = [
            ("sym_name", attr::of_string(context, self.name)),
            ("inputs", attr::of_strings(context, self.inputs)),
            ("outputs", attr::of_strings(context, self.outputs)),
            ("signature", attr::of_type(ty::of_function(context, inputs, outputs))),
        ];
        let op = b.op_with("tile.graph", &[], &[], &attributes, 1);
        let types: Vec<_> = inputs.iter().map(|&ty| ty::payload(context, ty)).collect();
        b.block(op.region(0), &types)
    }
}

/// `tile.output %a, %b : ...`, which ends a tile-graph.
pub fn output<'c>(b: &mut Builder<'c>, values: &[Val<'c>]) -> Op<'c> {
    b.op("tile.output", values, &[])
}

/// `tile.find "n" %count : ty`.
pub fn find<'c>(b: &mut Builder<'c>, symbol: &str, count: Val<'c>) -> Op<'c> {
    let name = [("name", attr::of_string(b.context(), symbol))];
    b.op_with("tile.find", &[count], &[], &name, 0)
}

/// `tile.empty in @memory : ty`.
pub fn empty<'c>(b: &mut Builder<'c>, memory: &str, ty: Type<'c>) -> Val<'c> {
    let memory = [("memory", attr::of_symbol(b.context(), memory))];
    b.op_with("tile.empty", &[], &[ty], &memory, 0).result(0)
}

/// `tile.empty in @memory at N : ty`.
pub fn empty_at<'c>(b: &mut Builder<'c>, memory: &str, at: u64, ty: Type<'c>) -> Val<'c> {
    let context = b.context();
    let attributes =
        [("memory", attr::of_symbol(context, memory)), ("at", attr::of_int(context, at as i64))];
    b.op_with("tile.empty", &[], &[ty], &attributes, 0).result(0)
}

/// `tile.view %source : ... to ty`.
pub fn view<'c>(b: &mut Builder<'c>, source: Val<'c>, ty: Type<'c>) -> Val<'c> {
    b.op("tile.view", &[source], &[ty]).result(0)
}

/// `tile.connect %source in @memory : ...`.
pub fn connect<'c>(b: &mut Builder<'c>, source: Val<'c>, memory: &str) -> Op<'c> {
    let memory = [("memory", attr::of_symbol(b.context(), memory))];
    b.op_with("tile.connect", &[source], &[source.ty()], &memory, 0)
}

/// `tile.run "name" @kernel(%inputs) into(%inits) at [...] : ...`.
#[derive(Clone, Copy, Debug)]
pub struct RunOp<'a, 'c> {
    /// The operator's name.
    pub name: &'a str,
    /// The name of the kernel.
    pub kernel: &'a str,
    /// The values that it reads.
    pub inputs: &'a [Val<'c>],
    /// The values that it overwrites, one per result.
    pub inits: &'a [Val<'c>],
    /// For each operand the element from which the kernel sees it; left out where all are zero.
    pub at: &'a [u64],
}

impl<'c> RunOp<'_, 'c> {
    /// The operation, whose results have the types of what it overwrites.
    pub fn build(&self, b: &mut Builder<'c>) -> Op<'c> {
        let context = b.context();
        let mut attributes = vec![
            ("name", attr::of_string(context, self.name)),
            ("kernel", attr::of_symbol(context, self.kernel)),
            attr::segments(context, &[self.inputs.len(), self.inits.len()]),
        ];
        attributes.extend(attr::places(context, self.at));
        let types: Vec<_> = self.inits.iter().map(|init| init.ty()).collect();
        b.op_with("tile.run", &[self.inputs, self.inits].concat(), &types, &attributes, 0)
    }
}

/// `tile.kernel @name { ... }`, whose body takes `args` and is empty yet.
pub fn kernel<'c>(b: &mut Builder<'c>, name: &str, args: &[Type<'c>]) -> Kernel<'c> {
    let name = [("sym_name", attr::of_string(b.context(), name))];
    let op = b.op_with("tile.kernel", &[], &[], &name, 1);
    Kernel { op, name: op.symbol(), body: b.block(op.region(0), args) }
}

/// `tile.kernel @name stitched { ... }`, whose body takes `args` and is empty yet.
pub fn stitched_kernel<'c>(b: &mut Builder<'c>, name: &str, args: &[Type<'c>]) -> Kernel<'c> {
    let kernel = kernel(b, name, args);
    kernel.op.set_attr("stitched", attr::unit(b.context()));
    kernel
}

/// `tile.yield %a, %b : ...`, which ends a kernel or a `tile.compute`.
pub fn yield_values<'c>(b: &mut Builder<'c>, values: &[Val<'c>]) -> Op<'c> {
    b.op("tile.yield", values, &[])
}

/// `tile.load %source to @memory : ...`.
pub fn load<'c>(b: &mut Builder<'c>, source: Val<'c>, memory: &str) -> Val<'c> {
    let memory = [("memory", attr::of_symbol(b.context(), memory))];
    b.op_with("tile.load", &[source], &[source.ty()], &memory, 0).result(0)
}

/// `tile.store %source from @memory to %target : ...`.
pub fn store<'c>(b: &mut Builder<'c>, source: Val<'c>, memory: &str, target: Val<'c>) -> Val<'c> {
    let memory = [("memory", attr::of_symbol(b.context(), memory))];
    b.op_with("tile.store", &[source, target], &[target.ty()], &memory, 0).result(0)
}

/// `tile.compute ins(%inputs) outs(%inits) on @instruction lanes 1 axes [...] tiles [...]
/// layouts [...] schedule <...> because "..." : ... { ... }`.
#[derive(Clone, Copy, Debug)]
pub struct ComputeOp<'a, 'c> {
    /// The values that it reads.
    pub inputs: &'a [Val<'c>],
    /// The values that it overwrites, one per result.
    pub inits: &'a [Val<'c>],
    /// The name of the instruction, lane unit or move.
    pub instruction: &'a str,
    /// The axis that the lanes run along.
    pub lanes: Option<usize>,
    /// For each axis of the instruction, the axes of the nest that it is, the slowest first.
    pub axes: Option<&'a [Vec<usize>]>,
    /// One rTile per memory, the rTask's first, the registers' last.
    pub tiles: &'a [RTile],
    /// The layouts of the inputs' tiles in the first rTile's memory, as numbers.
    pub layouts: Option<&'a [Vec<i64>]>,
    /// The order of its tiles, their registers and their moves.
    pub schedule: &'a Schedule,
    /// Why its tile was chosen, for people.
    pub because: Option<&'a str>,
}

impl<'c> ComputeOp<'_, 'c> {
    /// The operation, whose results have the types of what it overwrites, and its body, which takes
    /// one argument per operand and is empty yet.
    pub fn build(&self, b: &mut Builder<'c>) -> (Op<'c>, Block<'c>) {
        let context = b.context();
        let rtiles: Vec<_> = self.tiles.iter().map(|tile| tile.to_attr(context)).collect();
        let mut attributes = vec![
            ("instruction", attr::of_symbol(context, self.instruction)),
            ("tiles", attr::of_array(context, &rtiles)),
            attr::segments(context, &[self.inputs.len(), self.inits.len()]),
        ];
        let lanes = self.lanes.map(|axis| attr::of_int(context, axis as i64));
        attributes.extend(lanes.map(|lanes| ("lanes", lanes)));
        attributes.extend(self.axes.map(|axes| ("axes", Compute::axes_attr(context, axes))));
        attributes.extend(self.layouts.map(|all| ("layouts", layouts(context, all))));
        attributes.extend(self.schedule.to_attr(context).map(|schedule| ("schedule", schedule)));
        let because = self.because.map(|why| attr::of_string(context, why));
        attributes.extend(because.map(|why| ("because", why)));
        let operands = [self.inputs, self.inits].concat();
        let results: Vec<_> = self.inits.iter().map(|init| init.ty()).collect();
        let op = b.op_with("tile.compute", &operands, &results, &attributes, 1);
        let types: Vec<_> = operands.iter().map(|operand| operand.ty()).collect();
        (op, b.block(op.region(0), &types))
    }
}

fn layouts<'c>(context: &'c Context, all: &[Vec<i64>]) -> Attribute<'c> {
    let all: Vec<_> = all.iter().map(|layout| attr::of_ints(context, layout)).collect();
    attr::of_array(context, &all)
}
