//! A kernel that can be part of a group, and what it takes as a kernel of its own.

use std::rc::Rc;

use weft_dialects::tile::Compute;

use super::chooser::Chooser;
use super::far::Far;
use super::isa;
use super::passing::Passing;
use super::propagate::{Chain, propagate};
use super::traffic::{Traffic, traffic};
use crate::nest::grid::task_grid;
use crate::nest::{Nest, Start};

/// A kernel that can be part of a group.
pub(super) struct Member<'c> {
    /// Its kernel's.
    pub name: String,
    pub nest: Nest<'c>,
    /// Cycles that it is predicted to take as a kernel of its own on one unit.
    pub cycles: f64,
    /// Its rTasks then.
    pub tasks: u64,
    /// Steps of one of them.
    pub steps: f64,
    /// Bytes of theirs that pass the memory that all units share.
    pub traffic: u64,
    /// Bytes of them that an instruction brings more than once.
    pub again: u64,
    /// True where it makes all of its output.
    pub whole: bool,
    /// True for a copy that nobody needs but the group.
    pub copies: bool,
    /// Of what a tile of a group is a multiple, per axis, where this one is the last.
    pub multiples: Vec<u64>,
}

impl<'c> Member<'c> {
    /// `None` for what groups of lanes do together, or reads what its output held, and
    /// for instructions of axes whose operands are not brought from `memory`, too.
    pub fn new(
        chooser: &Chooser<'c>,
        memory: &str,
        name: &str,
        compute: Compute<'c>,
        nest: Nest<'c>,
    ) -> Option<Self> {
        let machine = chooser.machine;
        let together = compute.layouts.is_some();
        let mapping = match &compute.axes {
            Some(_) => {
                let found = isa::mapping_of(machine, &nest, &compute)?;
                Some(found).filter(|found| isa::hands_over(machine, memory, &nest, found))
            }
            None => None,
        };
        let apart = compute.axes.is_some() != mapping.is_some();
        let held = nest.starts.iter().any(|start| matches!(start, Start::Held));
        let [output] = &nest.outputs[..] else { return None };
        let parallel = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
        let points: u64 = parallel.map(|axis| nest.axes[axis].extent).product();
        let whole = points == output.shape.iter().product::<u64>();
        if together || apart || held || points == 0 || !nest.captures.is_empty() {
            return None;
        }
        let cycles = chooser.cycles_where(&nest, &vec![false; nest.inputs.len()])?;
        let cycles = Far::of(machine).kernel(&nest, cycles);
        let (task, registers) = (compute.tiles.first()?, compute.tiles.last()?);
        let tasks = task_grid(&nest, task).iter().product();
        let steps = steps(&nest, &task.sizes, &registers.sizes);
        let alone = Chain::new(vec![&nest], Vec::new());
        let tiles = propagate(&alone, &task.sizes);
        let passing = Passing::of(machine);
        let mut traffic =
            tiles.map_or(Traffic::default(), |tiles| traffic(&alone, &tiles, &[false], &passing));
        let once = traffic.moved;
        let mut multiples = registers.sizes.clone();
        if let Some(mapping) = &mapping {
            let tile = (&task.sizes[..], &registers.sizes[..]);
            traffic = isa::shared_traffic(machine, &nest, mapping, tile, &passing);
            multiples = (0..nest.axes.len()).map(|axis| mapping.quantum(axis)).collect();
        } else if machine.memory(&registers.memory)?.lanes().is_some() {
            // Rows are any number of registers; what lanes lie along is whole ones.
            for (axis, size) in multiples.iter_mut().enumerate() {
                *size = if compute.lanes == Some(axis) { *size } else { 1 };
            }
        }
        let again = traffic.moved.saturating_sub(once);
        Some(Self {
            name: name.to_owned(),
            nest,
            cycles,
            tasks,
            steps,
            traffic: traffic.passing,
            again,
            whole,
            copies: false,
            multiples,
        })
    }

    /// The same, as a copy that is left out where there is no group.
    pub fn copying(self) -> Self {
        Self { copies: true, ..self }
    }
}

/// The members that are kernels of their own where there is no group.
pub(super) fn needed<'m, 'c>(
    members: &'m [Rc<Member<'c>>],
) -> impl Iterator<Item = &'m Member<'c>> {
    members.iter().map(Rc::as_ref).filter(|member| !member.copies)
}

/// Register tiles of a piece, times the steps of the reductions in each.
pub(super) fn steps(nest: &Nest<'_>, piece: &[u64], registers: &[u64]) -> f64 {
    let along = |axis: usize| {
        let whole = if nest.reduces(axis) { nest.axes[axis].extent } else { piece[axis] };
        whole.div_ceil(registers[axis].max(1)) as f64
    };
    (0..nest.axes.len()).map(along).product()
}
