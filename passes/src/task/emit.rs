//! Writes a schedule as a `task.program`.

use std::collections::BTreeMap;

use weft_dialects::device::Scope;
use weft_dialects::graph::Weight;
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Context, Op, Report, Type, Val, attr, ty};
use weft_dialects::lengths;
use weft_dialects::repeat::Repeat;
use weft_dialects::task::build::{self, Arenas, ProgramOp, RangeOp};
use weft_dialects::tile::Graph;

use super::kernels::Kernels;
use super::schedule::Schedule;
use super::touch::Region;
use super::values::{Arg, Constant, Lowered, StorageClass};

/// Puts the program before `graph`.
pub(crate) fn emit<'c>(
    context: &'c Context,
    graph: &Graph<'c>,
    (unit, units): (&str, u64),
    lowered: &Lowered<'c>,
    kernels: &Kernels<'c>,
    schedule: &Schedule,
) -> Result<Op<'c>, Failed> {
    let mut b = Builder::before(context, graph.op);
    let of_scope = |scope: Scope| {
        let own = |name: &str| {
            kernels.machine().memory(name).is_some_and(|memory| memory.scope() == scope)
        };
        schedule.arenas.iter().filter(|(name, _)| own(name)).map(|(_, bytes)| *bytes).sum::<u64>()
    };
    let host_arena = of_scope(Scope::Host);
    let arena = schedule.arenas.iter().map(|(_, bytes)| bytes).sum::<u64>() - host_arena;
    let moved: Vec<_> = moved(lowered, kernels, schedule.own_jobs).into_iter().collect();
    let program = ProgramOp {
        name: graph.name,
        unit,
        units,
        arenas: Arenas { device: arena, host: host_arena, cluster: schedule.in_clusters.bytes() },
        moved: &moved,
        signature: (&graph.input_types, &graph.output_types),
        lengths: graph.op.attr("lengths"),
    };
    let (program, block) = program.build(&mut b);
    if let Some(own) = Repeat::of(graph.op) {
        own.copy_to(program);
    }
    let mut writer = Writer {
        b: b.into_block(block),
        lowered,
        schedule,
        shown: vec![Vec::new(); lowered.storages.len()],
    };
    for (index, (name, &storage)) in graph.inputs.iter().zip(&lowered.inputs).enumerate() {
        writer.define(storage, |b, ty| build::input(b, index as u64, name, ty));
    }
    for (index, (name, &storage)) in graph.outputs.iter().zip(&lowered.outputs).enumerate() {
        writer.output(index as u64, name, storage);
    }
    for constant in &lowered.constants {
        writer.constant(constant)?;
    }
    writer.ranges(kernels)?;
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

    /// An output, which may lie in an input.
    fn output(&mut self, index: u64, name: &str, storage: usize) {
        match self.lowered.inputs.iter().position(|&input| input == storage) {
            Some(input) => {
                let ty = self.ty(storage);
                build::output_within(&mut self.b, (index, input as u64), name, ty);
            }
            None => self.define(storage, |b, ty| build::output(b, index, name, ty)),
        }
    }

    /// Shows a storage as the buffer that `build` makes of its type.
    fn define(
        &mut self,
        storage: usize,
        build: impl FnOnce(&mut Builder<'c>, Type<'c>) -> Val<'c>,
    ) {
        let ty = self.ty(storage);
        let value = build(&mut self.b, ty);
        self.shown[storage].push((ty, value));
    }

    fn constant(&mut self, constant: &Constant<'c>) -> Result<(), Failed> {
        match constant {
            Constant::Weight { op, storage } => {
                self.at(*op);
                let Weight { tensor, file, hash, .. } = Weight::of(*op).ok_or(Failed)?;
                self.define(*storage, |b, ty| build::weight(b, tensor, file, hash, ty));
            }
            Constant::Literal { op, storage } => {
                self.at(*op);
                let value = op.attr("value").ok_or(Failed)?;
                self.define(*storage, |b, ty| build::literal(b, value, ty));
            }
            Constant::Zeros { storage } => {
                let tensor = self.lowered.storages[*storage].ty;
                let elem = ty::elem(tensor).and_then(ty::byte_size).ok_or(Failed)?;
                let zero = attr::dense(tensor, &vec![0; elem as usize]);
                self.define(*storage, |b, ty| build::literal(b, zero, ty));
            }
            Constant::Expression { run, operands, results } => {
                self.at(run.op);
                let operands: Vec<_> = operands.iter().map(|&arg| self.show(arg)).collect();
                let types: Vec<_> = results.iter().map(|&result| self.ty(result)).collect();
                let op = build::constant(&mut self.b, run.name, run.kernel, &operands, &types);
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
        let view = build::view(&mut self.b, whole, wanted);
        self.shown[arg.storage].push((wanted, view));
        view
    }

    fn buffer(&mut self, storage: usize) {
        let (memory, offset, cluster) = match self.lowered.storages[storage].class {
            StorageClass::Arena(memory) => (memory, self.schedule.offsets[storage], None),
            StorageClass::Cluster { memory, cluster, offset } => (memory, offset, Some(cluster)),
            StorageClass::Input | StorageClass::Constant | StorageClass::Output(_) => {
                unreachable!("ports and constants are written first")
            }
        };
        self.define(storage, |b, ty| build::buffer(b, offset, memory, cluster, ty));
    }

    fn ranges(&mut self, kernels: &Kernels<'c>) -> Result<(), Failed> {
        let mut tokens: Vec<Val<'c>> = Vec::with_capacity(self.schedule.ranges.len());
        let mut launches = self.schedule.launches.iter().peekable();
        for (number, own) in self.schedule.ranges.iter().enumerate() {
            if launches.next_if_eq(&&number).is_some() {
                build::launch(&mut self.b);
            }
            let job = &self.lowered.jobs[own.job];
            self.at(job.op);
            let in_clusters = &self.schedule.in_clusters;
            let seen = |arg: &Arg<'c>| {
                let storage = in_clusters.storage(own.job, arg.storage, own.unit);
                Arg { storage, ..*arg }
            };
            let args: Vec<_> = job.args.iter().map(seen).collect();
            let buffers: Vec<_> = args.into_iter().map(|arg| self.show(arg)).collect();
            let waits: Vec<_> = own.waits.iter().map(|&wait| tokens[wait as usize]).collect();
            let at: Vec<_> = job.args.iter().map(|arg| arg.at).collect();
            let facts = kernels.facts(job.kernel);
            let parts = own.part.map_or(1, |[_, parts]| parts);
            let share = (own.end - own.begin) as f64 / (facts.tasks * parts) as f64;
            let cycles = (facts.cycles as f64 * share).ceil() as u64;
            let range = RangeOp {
                name: job.name,
                kernel: kernels.name(job.kernel),
                tasks: own.begin..own.end,
                part: own.part,
                unit: own.unit,
                buffers: &buffers,
                at: &at,
                waits: &waits,
                cycles: Some(cycles),
            };
            let token = range.build(&mut self.b);
            let shifts: Vec<_> = job.args.iter().map(|arg| arg.shift.cloned()).collect();
            if let Some(range) = token.def() {
                lengths::set_shifts(self.b.context(), range, &shifts);
            }
            tokens.push(token);
            for found in self.lowered.found.iter().filter(|found| found.job == own.job) {
                let alone = self.schedule.ranges.iter().filter(|other| other.job == own.job);
                if alone.count() > 1 {
                    let what = format!("several units make {}", found.symbol);
                    Report::new(job.op.location(), what).help("let one rTask make it");
                    return Err(Failed);
                }
                let count = self.show(found.count);
                build::find(&mut self.b, found.symbol, count, token);
            }
        }
        Ok(())
    }
}

/// A tensor type as a buffer's.
fn memref(tensor: Type<'_>) -> Type<'_> {
    let (shape, elem) = ty::shape(tensor).zip(ty::elem(tensor)).expect("storages have a shape");
    ty::memref(&shape, elem, None)
}
