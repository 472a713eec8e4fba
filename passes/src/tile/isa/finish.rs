//! Who applies the epilogue to sums that an instruction leaves in tile registers, in which no lanes work.
//!
//! ```text
//! sums in @tmm  --its move-->  a room in the core's smallest cache  --lanes-->  epilogue  -->  the output
//! ```

use weft_dialects::device::{Instruction, Machine, Scope};

use crate::math;
use crate::nest::Nest;
use crate::tile::instruction;
use crate::tile::way::{Way, way};

/// How lanes finish the sums of a tile.
pub struct Finish<'c> {
    /// The lane unit.
    pub unit: &'c str,
    /// The axis along which they lie.
    pub lanes_axis: usize,
    /// How many a register has.
    pub lanes: u64,
    /// From memory to their registers and back.
    pub way: Way<'c>,
    /// The registers.
    pub registers: &'c str,
    /// The cache in which the sums wait.
    pub room: &'c str,
    /// Cycles for one register of sums.
    cycles: f64,
}

impl<'c> Finish<'c> {
    /// `None` where a nest has no epilogue, lanes work where the sums are, or nothing applies it.
    pub fn of(
        machine: Machine<'c>,
        nest: &Nest<'c>,
        instruction: &Instruction<'c>,
    ) -> Option<Self> {
        let epilogue = nest.epilogue.as_ref()?;
        let result = machine.memory(instruction.operands().last()?)?;
        let caches = machine.memories().into_iter();
        let caches = caches.filter(|memory| memory.is_cache() && memory.scope() == Scope::Core);
        let room = caches.min_by_key(|memory| memory.capacity_bytes())?.name;
        let mapped = instruction::lane_unit(machine, nest, &math::expands).ok()?;
        let unit = machine.lanes_unit(mapped.name)?;
        let way = way(machine, unit.memory()).filter(|way| way.stage.is_none())?;
        let output = &nest.outputs[0];
        let along =
            |axis: &usize| output.stride(nest.axes.len(), *axis) == 1 && !nest.reduces(*axis);
        let lanes_axis =
            (0..nest.axes.len()).filter(along).find(|&axis| nest.axes[axis].extent > 1)?;
        let [load, store] = [&way.load, &way.store].map(|way| way.issue_cycles().unwrap_or(1.0));
        let reads = 1 + epilogue.inputs.len();
        let cycles = reads as f64 * load + store + instruction::body_cycles(&unit, epilogue.body);
        let (name, registers, lanes) = (unit.name, unit.memory(), mapped.lanes);
        result.holds_tiles().then_some(Self {
            unit: name,
            lanes_axis,
            lanes,
            way,
            registers,
            room,
            cycles,
        })
    }

    /// Cycles for the sums of a tile of these sizes.
    pub fn cycles(&self, nest: &Nest<'_>, sizes: &[u64]) -> f64 {
        let parallel = (0..sizes.len()).filter(|&axis| !nest.reduces(axis));
        let registers = parallel.map(|axis| match axis == self.lanes_axis {
            true => sizes[axis].div_ceil(self.lanes),
            false => sizes[axis],
        });
        registers.product::<u64>() as f64 * self.cycles
    }
}
