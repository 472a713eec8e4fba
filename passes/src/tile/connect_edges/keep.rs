//! What several members of a group read from afar, kept near by a copy.
//!
//! ```text
//! %m = tile.run @max(%x)                  %k = tile.run @copy(%x)          %n = tile.connect %k in @smem
//! %s = tile.run @sum(%x, %m)        ->    %m = tile.run @max(%n)
//! %y = tile.run @share(%x, %m, %s)        %s = tile.run @sum(%n, %m)   ...
//! ```
//!
//! A softmax of rows reads them three times. Where no cache of a unit keeps what its lanes have read,
//! and nothing stages it for all members, each time comes from the memory that all units see. The copy is
//! a member as any other: it is there if the group with it takes less than its readers without.

use std::collections::HashSet;

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Linear, Op, Val, attr, remark, ty};
use weft_dialects::tile::build;

use super::{Connecting, disconnect};
use crate::cost::worth;
use crate::nest::{Access, Loop};
use crate::tile::construct_rtiles::{Wanted, construct};
use crate::tile::groups::{Group, Order};
use crate::tile::pack_weights::emit_packer;
use crate::tile::views::{self, kernel_of};
use crate::tile::way::reads_each_time;

/// An operand of a run, and the value that it had.
type Read<'c> = (Op<'c>, usize, Val<'c>);

impl<'c> Connecting<'c> {
    /// Tries a copy of every tensor that a run and a reader of what it makes both read; returns how many
    /// edges were added.
    pub(super) fn keep(
        &mut self,
        graph: Op<'c>,
        constant: &HashSet<Val<'c>>,
    ) -> Result<u64, Failed> {
        if !reads_each_time(self.chooser.machine) {
            return Ok(0);
        }
        let body = graph.body(0).ok_or(Failed)?;
        let runs = body.ops().into_iter().filter(|op| op.is("tile.run"));
        let made = runs.flat_map(|run| run.results());
        let tensors: Vec<_> = body.args().into_iter().chain(made).collect();
        let mut near = 0;
        for tensor in tensors.into_iter().filter(|tensor| !constant.contains(tensor)) {
            let order = Order::of(graph);
            let mut reads = self.reads(tensor);
            let mut readers: Vec<Op<'c>> = reads.iter().map(|(run, ..)| *run).collect();
            order.sort(&mut readers);
            readers.dedup();
            // A reader on its own has nothing to do with the others.
            let behind = |run: &Op<'c>| order.readers(&[*run]);
            let reads_another = |run: &Op<'c>| readers.iter().any(|own| behind(own).contains(run));
            let is_read = |run: &Op<'c>| behind(run).iter().any(|own| readers.contains(own));
            let together: Vec<Op<'c>> =
                readers.iter().copied().filter(|run| reads_another(run) || is_read(run)).collect();
            reads.retain(|(run, ..)| together.contains(run));
            if !together.is_empty() {
                near += self.copied(graph, tensor, &together, &reads, constant)?;
            }
        }
        Ok(near)
    }

    /// The operands of runs that can be members by which a tensor is read from afar, all of it.
    fn reads(&mut self, tensor: Val<'c>) -> Vec<Read<'c>> {
        let mut found = Vec::new();
        for (run, number) in views::readers(tensor) {
            let inputs = run.operands().len() - run.results().len();
            let reads = run.is("tile.run") && number < inputs && run.attr("at").is_none();
            if reads && self.member(run).is_some() {
                found.push((run, number, run.operand(number)));
            }
        }
        found
    }

    /// Puts a copy before the first reader, and takes it back where no group with it saves anything.
    fn copied(
        &mut self,
        graph: Op<'c>,
        tensor: Val<'c>,
        readers: &[Op<'c>],
        reads: &[Read<'c>],
        constant: &HashSet<Val<'c>>,
    ) -> Result<u64, Failed> {
        let kernel = self.copy_of(tensor)?;
        let before = self.saved(&Order::of(graph), readers);
        let (machine, first) = (self.chooser.machine, readers[0]);
        let mut b = Builder::before(self.context, first).with_location(first.location());
        let shared = machine.shared().ok_or(Failed)?.name;
        let room = build::empty(&mut b, shared, tensor.ty());
        let name = first.attr("name").and_then(attr::string).unwrap_or("copy");
        let (inputs, inits) = (&[tensor][..], &[room][..]);
        let copy = build::RunOp { name, kernel: &kernel, inputs, inits, at: &[] }.build(&mut b);
        for (run, number, own) in reads {
            let seen = views::view(&mut b, copy.result(0), own.ty());
            run.set_operand(*number, seen);
        }
        let order = Order::of(graph);
        let mut edges = self.grow(&order, copy, constant);
        let inside = Group::around(machine, &order, copy).map_or_else(Vec::new, |own| own.runs);
        for (run, number, own) in reads.iter().filter(|(run, ..)| !inside.contains(run)) {
            run.set_operand(*number, *own);
        }
        for run in readers.iter().filter(|run| inside.contains(run)) {
            edges.extend(self.connect(*run, copy));
        }
        // Only now nobody outside reads the copy, and the group is what it will be.
        let group = Group::around(machine, &order, copy);
        let joined = group.as_ref().and_then(|group| self.try_group(&order, group, None).ok());
        // More than predictions are worth: without the copy, some readers may be one kernel already.
        if !joined.is_some_and(|own| worth::is_worth(own.cycles, own.apart - before)) {
            disconnect(std::mem::take(&mut edges));
            for (run, number, own) in reads {
                run.set_operand(*number, *own);
            }
        }
        if edges.is_empty() {
            views::erase_views(copy.result(0));
            copy.erase();
            room.def().ok_or(Failed)?.erase();
        } else if self.remarks {
            let kept = readers.iter().filter(|run| inside.contains(run));
            let names: Vec<_> = kept.map(|run| kernel_of(*run)).collect();
            let told = format!("kept in @{} for @{}", self.memory, names.join(", @"));
            remark(first, &format!("what @{} reads is {told}", kernel_of(first)));
        }
        Ok(edges.len() as u64)
    }

    /// The kernel that copies tensors of a type.
    fn copy_of(&mut self, tensor: Val<'c>) -> Result<String, Failed> {
        let key = tensor.ty().to_string();
        if let Some(known) = self.copies.get(&key) {
            return Ok(known.clone());
        }
        let shape = ty::shape(tensor.ty()).ok_or(Failed)?;
        let order: Vec<usize> = (0..shape.len()).collect();
        let index = order.iter().map(|&axis| Linear::axis(order.len(), axis)).collect();
        let access = Access { tensor, shape: shape.clone(), index };
        let loops: Vec<_> = shape.iter().map(|&extent| Loop::parallel(extent)).collect();
        let name = self.free_name("copy");
        let kernel = emit_packer(self.context, self.module, &name, &access, &order, &loops);
        construct(self.context, &self.chooser, kernel, Wanted::default())?;
        self.copies.insert(key, name.clone());
        Ok(name)
    }

    /// Erases the kernels that copies were tried with: groups have their own.
    pub(super) fn erase_copies(&mut self, graph: Op<'c>) {
        self.tried.clear();
        let applied = views::applied(&[graph]);
        for name in std::mem::take(&mut self.copies).into_values() {
            self.members.remove(&name);
            let ops = self.module.body(0).map(|body| body.ops()).unwrap_or_default();
            let kernel = ops.into_iter().find(|op| op.is("tile.kernel") && op.symbol() == name);
            debug_assert!(!applied.contains(&name), "@{name} is applied outside groups");
            kernel.filter(|_| !applied.contains(&name)).into_iter().for_each(Op::erase);
        }
    }
}
