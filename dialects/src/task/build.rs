//! Builds the operations of the `task` dialect, one function or one struct of fields each.
//!
//! Operations with few fields are functions; the others are structs with a `build`. Types that
//! follow from the operands are not asked for.

use super::token;
use crate::ir::{Attribute, Block, Builder, Op, Type, Val, attr, ty};

/// `task.program @name on @unit units 2 arena 4096 : (...) -> (...) { ... }`, with an empty body.
#[derive(Clone, Copy, Debug)]
pub struct ProgramOp<'a, 'c> {
    /// The name of the symbol.
    pub name: &'a str,
    /// The name of the machine's unit.
    pub unit: &'a str,
    /// Number of virtual units.
    pub units: u64,
    /// Bytes of all buffers, by where they lie.
    pub arenas: Arenas,
    /// The moves between the device's memory and the host's in one run: their names and bytes. Left
    /// out where there are none.
    pub moved: &'a [(&'a str, u64)],
    /// The graph types of the inputs, and those of the outputs.
    pub signature: (&'a [Type<'c>], &'a [Type<'c>]),
    /// The lengths of all ports, as the tile-graph has them.
    pub lengths: Option<Attribute<'c>>,
}

/// Bytes that the buffers of a program need together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arenas {
    /// In the memory that the device shares.
    pub device: u64,
    /// In memory of scope `host`; left out where it is zero.
    pub host: u64,
    /// In the memory of each cluster; left out where it is zero.
    pub cluster: u64,
}

impl<'c> ProgramOp<'_, 'c> {
    /// The operation and its body.
    pub fn build(&self, b: &mut Builder<'c>) -> (Op<'c>, Block<'c>) {
        let context = b.context();
        let number = |value: u64| attr::of_int(context, value as i64);
        let signature = ty::of_function(context, self.signature.0, self.signature.1);
        let mut attributes = vec![
            ("sym_name", attr::of_string(context, self.name)),
            ("unit", attr::of_symbol(context, self.unit)),
            ("units", number(self.units)),
            ("arena", number(self.arenas.device)),
            ("signature", attr::of_type(signature)),
        ];
        let others = [("host_arena", self.arenas.host), ("cluster_arena", self.arenas.cluster)];
        let others = others.into_iter().filter(|(_, bytes)| *bytes > 0);
        attributes.extend(others.map(|(name, bytes)| (name, number(bytes))));
        if !self.moved.is_empty() {
            let pair = |(name, bytes): &(&str, u64)| {
                attr::of_array(context, &[attr::of_symbol(context, name), number(*bytes)])
            };
            let pairs: Vec<_> = self.moved.iter().map(pair).collect();
            attributes.push(("moved", attr::of_array(context, &pairs)));
        }
        attributes.extend(self.lengths.map(|lengths| ("lengths", lengths)));
        let op = b.op_with("task.program", &[], &[], &attributes, 1);
        (op, b.block(op.region(0), &[]))
    }
}

/// `task.input index "name" : ty`.
pub fn input<'c>(b: &mut Builder<'c>, index: u64, name: &str, ty: Type<'c>) -> Val<'c> {
    port(b, "task.input", index, name, None, ty)
}

/// `task.output index "name" : ty`.
pub fn output<'c>(b: &mut Builder<'c>, index: u64, name: &str, ty: Type<'c>) -> Val<'c> {
    port(b, "task.output", index, name, None, ty)
}

/// `task.output index "name" in input : ty`.
pub fn output_within<'c>(
    b: &mut Builder<'c>,
    (index, input): (u64, u64),
    name: &str,
    ty: Type<'c>,
) -> Val<'c> {
    port(b, "task.output", index, name, Some(input), ty)
}

fn port<'c>(
    b: &mut Builder<'c>,
    kind: &str,
    index: u64,
    name: &str,
    within: Option<u64>,
    ty: Type<'c>,
) -> Val<'c> {
    let context = b.context();
    let number = |value: u64| attr::of_int(context, value as i64);
    let mut attributes = vec![("index", number(index)), ("name", attr::of_string(context, name))];
    attributes.extend(within.map(|input| ("within", number(input))));
    b.op_with(kind, &[], &[ty], &attributes, 0).result(0)
}

/// `task.weight "tensor" in "file" hash "..." : ty`.
pub fn weight<'c>(
    b: &mut Builder<'c>,
    tensor: &str,
    file: &str,
    hash: &str,
    ty: Type<'c>,
) -> Val<'c> {
    let text = |text: &str| attr::of_string(b.context(), text);
    let attributes = [("tensor", text(tensor)), ("file", text(file)), ("hash", text(hash))];
    b.op_with("task.weight", &[], &[ty], &attributes, 0).result(0)
}

/// `task.literal dense<...> : ... -> ty`.
pub fn literal<'c>(b: &mut Builder<'c>, value: Attribute<'c>, ty: Type<'c>) -> Val<'c> {
    b.op_with("task.literal", &[], &[ty], &[("value", value)], 0).result(0)
}

/// `task.constant "name" @kernel(%operands) : (...) -> results`.
pub fn constant<'c>(
    b: &mut Builder<'c>,
    name: &str,
    kernel: &str,
    operands: &[Val<'c>],
    results: &[Type<'c>],
) -> Op<'c> {
    let context = b.context();
    let attributes =
        [("name", attr::of_string(context, name)), ("kernel", attr::of_symbol(context, kernel))];
    b.op_with("task.constant", operands, results, &attributes, 0)
}

/// `task.buffer at offset in @memory of cluster : ty`.
pub fn buffer<'c>(
    b: &mut Builder<'c>,
    offset: u64,
    memory: &str,
    cluster: Option<u64>,
    ty: Type<'c>,
) -> Val<'c> {
    let context = b.context();
    let number = |value: u64| attr::of_int(context, value as i64);
    let mut attributes =
        vec![("offset", number(offset)), ("memory", attr::of_symbol(context, memory))];
    attributes.extend(cluster.map(|cluster| ("cluster", number(cluster))));
    b.op_with("task.buffer", &[], &[ty], &attributes, 0).result(0)
}

/// `task.view %source : ... to ty`.
pub fn view<'c>(b: &mut Builder<'c>, source: Val<'c>, ty: Type<'c>) -> Val<'c> {
    b.op("task.view", &[source], &[ty]).result(0)
}

/// `task.range "name" @kernel[0 to 14] on 0(%buffers) at [...] after(%waits) cycles(n) : ...`.
#[derive(Clone, Debug)]
pub struct RangeOp<'a, 'c> {
    /// The operator's name.
    pub name: &'a str,
    /// The name of the kernel.
    pub kernel: &'a str,
    /// The first rTask, and the one after the last.
    pub tasks: std::ops::Range<u64>,
    /// Which of how many parts of all rTasks, where callers decide how many those are.
    pub part: Option<[u64; 2]>,
    /// The virtual unit.
    pub unit: u64,
    /// The kernel's arguments.
    pub buffers: &'a [Val<'c>],
    /// For each of them the element from which the kernel sees it; left out where all are zero.
    pub at: &'a [u64],
    /// The tokens that it waits for.
    pub waits: &'a [Val<'c>],
    /// Cycles that it takes at least on one unit.
    pub cycles: Option<u64>,
}

impl<'c> RangeOp<'_, 'c> {
    /// Its token.
    pub fn build(&self, b: &mut Builder<'c>) -> Val<'c> {
        let context = b.context();
        let number = |value: u64| attr::of_int(context, value as i64);
        let mut attributes = vec![
            ("name", attr::of_string(context, self.name)),
            ("kernel", attr::of_symbol(context, self.kernel)),
            ("begin", number(self.tasks.start)),
            ("end", number(self.tasks.end)),
            ("unit", number(self.unit)),
            attr::segments(context, &[self.buffers.len(), self.waits.len()]),
        ];
        if let Some([part, parts]) = self.part {
            attributes.extend([("part", number(part)), ("parts", number(parts))]);
        }
        attributes.extend(self.cycles.map(|cycles| ("cycles", number(cycles))));
        attributes.extend(attr::places(context, self.at));
        let operands = [self.buffers, self.waits].concat();
        b.op_with("task.range", &operands, &[token(context)], &attributes, 0).result(0)
    }
}

/// `task.find "n" in %count after(%after) : ty`.
pub fn find<'c>(b: &mut Builder<'c>, symbol: &str, count: Val<'c>, after: Val<'c>) -> Op<'c> {
    let name = [("name", attr::of_string(b.context(), symbol))];
    b.op_with("task.find", &[count, after], &[], &name, 0)
}

/// `task.launch`.
pub fn launch<'c>(b: &mut Builder<'c>) -> Op<'c> {
    b.op("task.launch", &[], &[])
}
