//! Reasons against one kernel: members that other units share, tensors that are kept in part,
//! memories that are too small.

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Report};
use weft_dialects::tile::{Compute, Kernel};

use super::groups::{Group, maker, starts_empty};
use super::join_kernels::Join;
use super::one_pass::OnePass;
use super::placements::HandedOver;
use super::propagate::{Chain, Tiles};
use super::views::kernel_of;
use super::{isa, waiting_memory};
use crate::nest::{Nest, Start};

/// What is handed over in registers are pieces of rows between two products.
pub(super) fn check_one_pass<'c>(group: &Group<'c>, nests: &[Nest<'c>]) -> Result<(), Failed> {
    let nests: Vec<&Nest<'c>> = nests.iter().collect();
    let found = OnePass::of_exponentials(&nests, &group.links(&nests)).and_then(|_| {
        match (0..nests.len() - 1).any(|member| group.leaves(member)) {
            true => Err("what is between is read elsewhere, too"),
            false => Ok(()),
        }
    });
    found.map_err(|why| {
        let edge = group.edges[0];
        let what = format!("@{} holds no tile of a tensor: {why}", edge.memory);
        Report::new(edge.op.location(), what).help(
            "a softmax between two products hands over in registers, all of its edges; others name a \
             memory or a cache",
        );
        Failed
    })
}

impl<'c> Join<'c> {
    /// Whether all edges are in registers.
    pub(super) fn is_in_registers(&self, group: &Group<'c>) -> bool {
        group.edges.iter().all(|edge| {
            self.machine.memory(edge.memory).is_some_and(|memory| memory.is_registers())
        })
    }

    /// One unit does each member by itself, and what they hand over lies where it finds it: in a
    /// cache, or where tiles are staged for its lanes.
    pub(super) fn check_ways(
        &self,
        group: &Group<'c>,
        kernels: &[Op<'c>],
        nests: &[Nest<'c>],
    ) -> Result<(), Failed> {
        let waiting = waiting_memory(self.machine).map(|memory| memory.name);
        for edge in &group.edges {
            let memory = self.machine.memory(edge.memory).ok_or(Failed)?;
            let near = memory.is_cache() || memory.is_registers() || waiting == Some(memory.name);
            if !near {
                let what = format!("lanes find no tiles in @{}", edge.memory);
                let help = match waiting {
                    Some(name) => format!("name @{name}, or the shared memory"),
                    None => "hand the tensor over in the shared memory".to_owned(),
                };
                Report::new(edge.op.location(), what).help(help);
                return Err(Failed);
            }
        }
        for ((run, kernel), nest) in group.runs.iter().zip(kernels).zip(nests) {
            let computes = Kernel::of(*kernel).map(|kernel| kernel.computes()).unwrap_or_default();
            let stitched = Kernel::of(*kernel).is_some_and(|kernel| kernel.is_stitched());
            let alone = |one: &Compute<'c>| !stitched && self.is_done_alone(one, nest, waiting);
            if !computes.iter().all(alone) {
                let what = format!("@{} is not done by one unit from there", kernel.symbol());
                Report::new(run.location(), what)
                    .note(group.edges[0].op, "it would be joined here")
                    .help("hand over what it reads and makes in the shared memory");
                return Err(Failed);
            }
        }
        Ok(())
    }

    /// Lanes do a compute, or an instruction of axes with moves from and to where tiles wait.
    fn is_done_alone(&self, compute: &Compute<'c>, nest: &Nest<'c>, memory: Option<&str>) -> bool {
        if compute.axes.is_none() {
            return compute.layouts.is_none();
        }
        let found = memory
            .zip(isa::mapping_of(self.machine, nest, compute))
            .filter(|_| compute.layouts.is_none());
        found.is_some_and(|(memory, own)| isa::hands_over(self.machine, memory, nest, &own))
    }

    /// A member makes all of its tensor from nothing, and what leaves is made once.
    pub(super) fn check_member(
        &self,
        group: &Group<'c>,
        member: usize,
        chain: &Chain<'_, 'c>,
        tiles: &Tiles,
    ) -> Result<(), Failed> {
        let (run, nest) = (group.runs[member], chain.nests[member]);
        let output = &nest.outputs[0];
        let points = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
        let points: u64 = points.map(|axis| nest.axes[axis].extent).product();
        let whole = points == output.shape.iter().product::<u64>();
        let held = nest.starts.iter().any(|start| matches!(start, Start::Held));
        let refuse = |what: &str, help: &str| {
            let edge = group.edges.iter().find(|edge| maker(edge.source) == Some(run));
            let place = edge.map_or(run, |edge| edge.op);
            Report::new(place.location(), format!("@{} {what}", kernel_of(run))).help(help);
            Failed
        };
        if !starts_empty(run) || !whole || held {
            let what = "keeps some of what its tensor held, which lies in the shared memory";
            return Err(refuse(what, "hand the tensor over in the shared memory"));
        }
        if group.leaves(member) && chain.hides_border(member).is_some() {
            let what = "is read past its ends in other dimensions than it is made in, and what it makes is \
                        also read outside";
            return Err(refuse(what, "connect all its readers, or none"));
        }
        if group.leaves(member) && !tiles.partitions(member) {
            let what =
                "makes some elements for several tiles, and what it makes is also read outside";
            return Err(refuse(what, "connect all its readers, or none"));
        }
        Ok(())
    }

    /// All tiles that wait in a memory fit it.
    pub(super) fn check_room(
        &self,
        group: &Group<'c>,
        chain: &Chain<'_, 'c>,
        tiles: &Tiles,
    ) -> Result<(), Failed> {
        let last = group.runs.len() - 1;
        let memories: Vec<_> = (0..last).map(|member| group.memory(member)).collect();
        let mut names: Vec<&str> = memories.iter().copied().flatten().collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let memory = self.machine.memory(name).ok_or(Failed)?;
            let edge = group.edges.iter().find(|edge| edge.memory == name);
            let place = edge.map_or(group.runs[0], |edge| edge.op);
            if memory.is_registers() {
                let what = format!("@{name} holds registers of one compute, no tile of a tensor");
                Report::new(place.location(), what).help(
                    "tile-fuse-elementwise hands over in registers; name a memory or a cache",
                );
                return Err(Failed);
            }
            let stays = |member: usize| member < last && !group.leaves(member);
            let waits =
                (0..=last).map(|member| stays(member) && memories[member] == Some(name)).collect();
            let placements = HandedOver::new(chain, waits).placements(tiles);
            let (bytes, holds) = (placements.bytes, memory.kernel_bytes());
            if bytes <= holds {
                continue;
            }
            let parts = placements.of.iter().zip(&group.runs).filter_map(|(placement, run)| {
                let (placement, name) = (placement.as_ref()?, kernel_of(*run));
                Some(match placement.over {
                    Some(other) => format!("@{name} over @{}", kernel_of(group.runs[other])),
                    None => format!("{} of @{name} at {}", placement.bytes, placement.offset),
                })
            });
            let parts: Vec<_> = parts.collect();
            let what = format!("tiles of {bytes} bytes wait in @{name}, which holds {holds}");
            Report::new(place.location(), what)
                .note(group.runs[last], "the first rTile of this one's kernel decides them")
                .help(format!(
                    "they are {}; take a smaller rTile or another memory",
                    parts.join(", ")
                ));
            return Err(Failed);
        }
        Ok(())
    }
}
