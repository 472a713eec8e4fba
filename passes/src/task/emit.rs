//! Writes a schedule as a `task.program`.

use std::collections::BTreeMap;

use weft_dialects::device::{Machine, Scope};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Context, Op, Type, Val, attr, ty};
use weft_dialects::task;
use weft_dialects::tile::Graph;

use super::kernels::Kernels;
use super::schedule::Schedule;
use super::touch::Region;
use super::values::{Arg, Constant, Lowered, StorageClass};

/// Puts the program before `graph`.
pub(crate) fn emit<'c>(
    context: &'c Context,
    graph: &Graph<'c>,
    machine: Machine<'c>,
    (unit, units): (&str, u64),
    lowered: &Lowered<'c>,
    kernels: &Kernels<'c>,
    schedule: &Schedule,
) -> Result<Op<'c>, Failed> {
    let mut b = Builder::before(context, graph.op);
    let signature = graph.op.attr("signature").ok_or(Failed)?;
    let of_scope = |scope: Scope| {
        let own = |name: &str| machine.memory(name).is_some_and(|memory| memory.scope() == scope);
        schedule.arenas.iter().filter(|(name, _)| own(name)).map(|(_, bytes)| *bytes).sum::<u64>()
    };
    let host_arena = of_scope(Scope::Host);
    let arena = schedule.arenas.iter().map(|(_, bytes)| bytes).sum::<u64>() - host_arena;
    let mut attributes = vec![
        ("sym_name", attr::of_string(context, graph.name)),
        ("unit", attr::of_symbol(context, unit)),
        ("units", attr::of_int(context, units as i64)),
        ("arena", attr::of_int(context, arena as i64)),
        ("signature", signature),
    ];
    if host_arena > 0 {
        attributes.push(("host_arena", attr::of_int(context, host_arena as i64)));
    }
    if schedule.in_clusters.bytes() > 0 {
        let bytes = attr::of_int(context, schedule.in_clusters.bytes() as i64);
        attributes.push(("cluster_arena", bytes));
    }
    let moved = moved(lowered, kernels, schedule.own_jobs);
    if !moved.is_empty() {
        let pair = |(name, bytes): (&&str, &u64)| {
            let bytes = attr::of_int(context, *bytes as i64);
            attr::of_array(context, &[attr::of_symbol(context, name), bytes])
        };
        let pairs: Vec<_> = moved.iter().map(pair).collect();
        attributes.push(("moved", attr::of_array(context, &pairs)));
    }
    let program = b.op_with("task.program", &[], &[], &attributes, 1);
    let block = b.block(program.region(0), &[]);
    let mut writer = Writer {
        context,
        b: b.into_block(block),
        lowered,
        schedule,
        shown: vec![Vec::new(); lowered.storages.len()],
    };
    writer.ports("task.input", &graph.inputs, &lowered.inputs);
    writer.ports("task.output", &graph.outputs, &lowered.outputs);
    for constant in &lowered.constants {
        writer.constant(constant)?;
    }
    writer.ranges(kernels);
    Ok(program)
}

/// Bytes that each move takes from memory to memory: what the runs marked with it write.
fn moved<'c>(lowered: &Lowered<'c>, kernels: &Kernels<'c>, jobs: usize) -> BTreeMap<&'c str, u64> {
    let mut moved = BTreeMap::new();
    for job in &lowered.jobs[..jobs] {
        let Some(name) = job.op.attr("move").and_then(attr::symbol) else { continue };
        let facts = kernels.facts(job.kernel);
        let regions = facts.touches.of_tasks(0, facts.tasks);
        let bytes = regions.iter().filter(|region| region.write).map(Region::box_bytes);
        *moved.entry(name).or_insert(0) += bytes.sum::<u64>();
    }
    moved
}

struct Writer<'a, 'c> {
    context: &'c Context,
    b: Builder<'c>,
    lowered: &'a Lowered<'c>,
    schedule: &'a Schedule,
    /// For each storage the buffer, then its views, by type.
    shown: Vec<Vec<(Type<'c>, Val<'c>)>>,
}

impl<'c> Writer<'_, 'c> {
    fn at(&mut self, op: Op<'c>) {
        self.b = self.b.with_location(op.location());
    }

    /// The type of storage `number` as a buffer.
    fn ty(&self, number: usize) -> Type<'c> {
        memref(self.lowered.storages[number].ty)
    }

    fn ports(&mut self, kind: &str, names: &[&str], storages: &[usize]) {
        for (index, (name, &storage)) in names.iter().zip(storages).enumerate() {
            let attributes = [
                ("index", attr::of_int(self.context, index as i64)),
                ("name", attr::of_string(self.context, name)),
            ];
            self.define(kind, storage, &attributes);
        }
    }

    fn define(
        &mut self,
        kind: &str,
        storage: usize,
        attributes: &[(&str, weft_dialects::ir::Attribute<'c>)],
    ) {
        let ty = self.ty(storage);
        let value = self.b.op_with(kind, &[], &[ty], attributes, 0).result(0);
        self.shown[storage].push((ty, value));
    }

    fn constant(&mut self, constant: &Constant<'c>) -> Result<(), Failed> {
        match constant {
            Constant::Weight { op, storage } => {
                self.at(*op);
                let copied = |name: &'static str| Some((name, op.attr(name)?));
                let attributes: Vec<_> =
                    ["tensor", "file", "hash"].into_iter().filter_map(copied).collect();
                self.define("task.weight", *storage, &attributes);
            }
            Constant::Literal { op, storage } => {
                self.at(*op);
                let value = op.attr("value").ok_or(Failed)?;
                self.define("task.literal", *storage, &[("value", value)]);
            }
            Constant::Zeros { storage } => {
                let tensor = self.lowered.storages[*storage].ty;
                let elem = ty::elem(tensor).and_then(ty::byte_size).ok_or(Failed)?;
                let zero = attr::dense(tensor, &vec![0; elem as usize]);
                self.define("task.literal", *storage, &[("value", zero)]);
            }
            Constant::Expression { run, operands, results } => {
                self.at(run.op);
                let operands: Vec<_> = operands.iter().map(|&arg| self.show(arg)).collect();
                let types: Vec<_> = results.iter().map(|&result| self.ty(result)).collect();
                let attributes = [
                    ("name", attr::of_string(self.context, run.name)),
                    ("kernel", attr::of_symbol(self.context, run.kernel)),
                ];
                let op = self.b.op_with("task.constant", &operands, &types, &attributes, 0);
                for (&storage, value) in results.iter().zip(op.results()) {
                    self.shown[storage].push((value.ty(), value));
                }
            }
        }
        Ok(())
    }

    /// A storage under the type that a kernel wants, made where it is first used.
    fn show(&mut self, arg: Arg<'c>) -> Val<'c> {
        let wanted = memref(arg.ty);
        if self.shown[arg.storage].is_empty() {
            self.buffer(arg.storage);
        }
        let shown = &self.shown[arg.storage];
        if let Some((_, value)) = shown.iter().find(|(ty, _)| *ty == wanted) {
            return *value;
        }
        let whole = shown[0].1;
        let view = self.b.op("task.view", &[whole], &[wanted]).result(0);
        self.shown[arg.storage].push((wanted, view));
        view
    }

    fn buffer(&mut self, storage: usize) {
        let number = |value: u64| attr::of_int(self.context, value as i64);
        let (memory, offset, cluster) = match self.lowered.storages[storage].class {
            StorageClass::Arena(memory) => (memory, self.schedule.offsets[storage], None),
            StorageClass::Cluster { memory, cluster, offset } => (memory, offset, Some(cluster)),
            StorageClass::Input | StorageClass::Constant | StorageClass::Output(_) => {
                unreachable!("ports and constants are written first")
            }
        };
        let memory = ("memory", attr::of_symbol(self.context, memory));
        let mut attributes = vec![("offset", number(offset)), memory];
        attributes.extend(cluster.map(|cluster| ("cluster", number(cluster))));
        self.define("task.buffer", storage, &attributes);
    }

    fn ranges(&mut self, kernels: &Kernels<'c>) {
        let token = task::token(self.context);
        let mut tokens: Vec<Val<'c>> = Vec::with_capacity(self.schedule.ranges.len());
        let mut launches = self.schedule.launches.iter().peekable();
        for (number, range) in self.schedule.ranges.iter().enumerate() {
            if launches.next_if_eq(&&number).is_some() {
                self.b.op("task.launch", &[], &[]);
            }
            let job = &self.lowered.jobs[range.job];
            self.at(job.op);
            let in_clusters = &self.schedule.in_clusters;
            let seen = |arg: &Arg<'c>| {
                let storage = in_clusters.storage(range.job, arg.storage, range.unit);
                Arg { storage, ..*arg }
            };
            let args: Vec<_> = job.args.iter().map(seen).collect();
            let mut operands: Vec<_> = args.into_iter().map(|arg| self.show(arg)).collect();
            operands.extend(range.waits.iter().map(|&wait| tokens[wait as usize]));
            let groups = [job.args.len() as i32, range.waits.len() as i32];
            let number = |value: u64| attr::of_int(self.context, value as i64);
            let facts = kernels.facts(job.kernel);
            let share = (range.end - range.begin) as f64 / facts.tasks as f64;
            let cycles = (facts.cycles as f64 * share).ceil() as u64;
            let attributes = [
                ("name", attr::of_string(self.context, job.name)),
                ("kernel", attr::of_symbol(self.context, kernels.name(job.kernel))),
                ("begin", number(range.begin)),
                ("end", number(range.end)),
                ("unit", number(range.unit)),
                ("cycles", number(cycles)),
                ("operandSegmentSizes", attr::of_ints32(self.context, &groups)),
            ];
            let mut attributes = attributes.to_vec();
            if job.args.iter().any(|arg| arg.at > 0) {
                let at: Vec<_> = job.args.iter().map(|arg| arg.at as i64).collect();
                attributes.push(("at", attr::of_ints(self.context, &at)));
            }
            let op = self.b.op_with("task.range", &operands, &[token], &attributes, 0);
            tokens.push(op.result(0));
        }
    }
}

/// A tensor type as a buffer's.
fn memref(tensor: Type<'_>) -> Type<'_> {
    let (shape, elem) = ty::shape(tensor).zip(ty::elem(tensor)).expect("storages have a shape");
    ty::memref(&shape, elem, None)
}
