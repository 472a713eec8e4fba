//! The program half: kernels, and what they do in named memories.

use super::begin_order::{Bands, Cluster};
use super::producer::{Producer, RegisterShares};
use super::{Machine, Memory};
use crate::ir::parts::rank;
use crate::ir::{Attribute, Block, Context, Linear, Op, Type, Val, affine, attr, parts};

/// A view of a memref by its first element.
#[derive(Clone, Debug)]
pub struct View<'c> {
    /// The memref.
    pub memref: Val<'c>,
    /// One index per dimension.
    pub indices: Vec<Val<'c>>,
}

impl<'c> View<'c> {
    /// The memrefs with their indices, dealt out by rank; `None` where they do not add up.
    pub(crate) fn deal(memrefs: &[Val<'c>], indices: &[Val<'c>]) -> Option<Vec<Self>> {
        let mut rest = indices;
        let mut views = Vec::with_capacity(memrefs.len());
        for &memref in memrefs {
            let (own, later) = rest.split_at_checked(rank(memref.ty())?)?;
            views.push(Self { memref, indices: own.to_vec() });
            rest = later;
        }
        rest.is_empty().then_some(views)
    }
}

/// One kernel in the machine's instructions.
#[derive(Clone, Debug)]
pub struct Kernel<'c> {
    /// The `device.kernel`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// Number of rTasks, or the most that there may be.
    pub tasks: u64,
    /// How many there are in a run, where callers decide lengths.
    pub length: Option<&'c str>,
    /// Number of groups of lanes that run each rTask together.
    pub groups: u64,
    /// Turns in which groups go through an rTask, each a barrier behind the ones before; at least 1.
    pub turns: u64,
    /// The rTasks that are in a unit at the same time, where the kernel says it.
    pub resident: Option<u64>,
    /// The rTasks that run at the same time, on units beside each other.
    pub cluster: Option<Cluster>,
    /// The order in which a launch begins rTasks, where it is not that of their numbers.
    pub bands: Option<Bands>,
    /// The code of one rTask.
    pub body: Block<'c>,
}

impl<'c> Kernel<'c> {
    /// The view, where `op` is a `device.kernel`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("device.kernel") {
            return None;
        }
        let tasks = u64::try_from(int(op, "tasks")?).ok()?;
        let groups = u64::try_from(int(op, "groups").unwrap_or(1)).ok()?;
        let turns = int(op, "turns").and_then(|own| u64::try_from(own).ok()).unwrap_or(1).max(1);
        let resident = int(op, "resident").and_then(|own| u64::try_from(own).ok());
        let cluster = op.attr("cluster").and_then(attr::ints).and_then(|own| Cluster::read(&own));
        let bands = op.attr("bands").and_then(attr::ints).and_then(|own| Bands::read(&own));
        let body = op.first_block(0)?;
        let length = op.attr("length").and_then(attr::string);
        Some(Self {
            op,
            name: op.symbol(),
            tasks,
            length,
            groups,
            turns,
            resident,
            cluster,
            bands,
            body,
        })
    }

    /// The lengths that its code asks for, each once; none of a kernel whose extents are fixed.
    pub fn lengths_read(&self) -> Option<Vec<&'c str>> {
        self.length?;
        let mut found: Vec<&'c str> = Vec::new();
        self.op.walk(&mut |op| {
            let asked = op.attr("length").and_then(attr::string);
            let asked = asked.filter(|own| op.is("device.length") && !found.contains(own));
            found.extend(asked);
        });
        Some(found)
    }

    /// The group that asks for the kernel's boxes, where one of its own does; the first of several.
    pub fn producer(&self, machine: Machine<'c>) -> Option<Producer> {
        let mut found = None;
        self.op.walk(&mut |op| found = found.or_else(|| Transfer::of(op)?.producer(machine)));
        found
    }

    /// The registers that it works in, or the first of the machine that are spread over lanes.
    pub fn registers(&self, machine: Machine<'c>) -> Option<Memory<'c>> {
        let mut used: Option<Memory<'c>> = None;
        self.op.walk(&mut |op| {
            if op.is("device.alloc")
                && let Some(memory) = machine.memory_of(op.result(0).ty())
                && memory.lanes().is_some()
                && used.as_ref().is_none_or(|used| used.lanes() < memory.lanes())
            {
                used = Some(memory);
            }
        });
        used.or_else(|| machine.memories().into_iter().find(|memory| memory.lanes().is_some()))
    }

    /// What lanes have of the registers where a group of its own asks for boxes.
    ///
    /// # Errors
    /// The sum that is not one, as a sentence.
    pub fn shares(&self, machine: Machine<'c>) -> Result<Option<RegisterShares>, String> {
        let (Some(producer), Some(registers)) = (self.producer(machine), self.registers(machine))
        else {
            return Ok(None);
        };
        let lanes = registers.lanes().unwrap_or(1);
        let core = registers.core_bytes().unwrap_or(u64::MAX);
        let most = registers.capacity_bytes() / lanes;
        let lanes = self.groups.saturating_mul(lanes);
        producer.share([core, most], lanes, self.resident.unwrap_or(1)).map(Some)
    }

    /// The number of the rTask.
    pub fn task(&self) -> Option<Val<'c>> {
        self.body.args().first().copied()
    }

    /// The memrefs that the kernel works on.
    pub fn args(&self) -> Vec<Val<'c>> {
        self.body.args().into_iter().skip(1).collect()
    }

    /// Returns what it promises of its rTasks; `None` if it promises nothing, or something
    /// inconsistent.
    pub fn contract(&self) -> Option<Contract> {
        let numbers = |attribute: Attribute<'c>| -> Option<Vec<u64>> {
            attr::ints(attribute)?.into_iter().map(|value| u64::try_from(value).ok()).collect()
        };
        let grid = numbers(self.op.attr("grid")?)?;
        let blocks = self.op.attr("blocks").and_then(attr::array)?;
        let places = self.op.attr("places").and_then(attr::array)?;
        let cycles = u64::try_from(int(self.op, "cycles")?).ok()?;
        Some(Contract {
            grid,
            blocks: blocks.into_iter().map(numbers).collect::<Option<_>>()?,
            places: places.into_iter().map(affine::linear).collect::<Option<_>>()?,
            cycles,
        })
    }
}

/// The promise of a kernel that no pass looks into: each rTask is a point of a grid, and touches
/// one block of each argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Points along each dimension of the grid; the last one runs fastest.
    pub grid: Vec<u64>,
    /// Elements of a block along each dimension, by argument.
    pub blocks: Vec<Vec<u64>>,
    /// The position of a point's block, in blocks, by argument and dimension.
    pub places: Vec<Vec<Linear>>,
    /// Cycles of all rTasks on one unit.
    pub cycles: u64,
}

/// Copies elements by a move of the machine.
#[derive(Clone, Debug)]
pub struct Copy<'c> {
    /// The `device.copy`.
    pub op: Op<'c>,
    /// The name of the move.
    pub move_name: &'c str,
    /// The first element read.
    pub source: View<'c>,
    /// The first element written.
    pub target: View<'c>,
    /// Number of elements.
    pub count: u64,
    /// The dimension of the source that they run along.
    pub from_dim: usize,
    /// Distance between them there, in elements.
    pub from_step: u64,
    /// The dimension of the target that they run along.
    pub to_dim: usize,
    /// Distance between them there, in elements.
    pub to_step: u64,
}

impl<'c> Copy<'c> {
    /// The view, where `op` is a `device.copy`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("device.copy") {
            return None;
        }
        let groups = op.segments()?;
        let [source, from, target, to] = groups.as_slice() else { return None };
        let source = View { memref: *source.first()?, indices: from.clone() };
        let target = View { memref: *target.first()?, indices: to.clone() };
        // Without a dimension the last one; a memref of rank 0 has only its element.
        let dim = |name, view: &View<'c>| match int(op, name) {
            Some(dim) => usize::try_from(dim).ok(),
            None => Some(rank(view.memref.ty())?.saturating_sub(1)),
        };
        let step = |name| u64::try_from(int(op, name).unwrap_or(1)).ok();
        Some(Self {
            op,
            move_name: op.attr("move").and_then(attr::symbol)?,
            count: u64::try_from(int(op, "count")?).ok()?,
            from_dim: dim("from_dim", &source)?,
            from_step: step("from_step")?,
            to_dim: dim("to_dim", &target)?,
            to_step: step("to_step")?,
            source,
            target,
        })
    }
}

/// The type `!device.token`.
pub fn token(context: &Context) -> Type<'_> {
    parts::device_token(context)
}

/// Moves a box of elements.
#[derive(Clone, Debug)]
pub struct Transfer<'c> {
    /// The `device.transfer`.
    pub op: Op<'c>,
    /// The name of the move.
    pub move_name: &'c str,
    /// The first element read.
    pub source: View<'c>,
    /// The first element written.
    pub target: View<'c>,
    /// Number of elements along each side of the box.
    pub sizes: Vec<u64>,
    /// Elements between neighbours along each side, where they are read.
    pub from_strides: Vec<i64>,
    /// Their strides where they are written.
    pub to_strides: Vec<i64>,
    /// The limits beyond which elements are left out.
    pub limits: Vec<Limit<'c>>,
    /// True if targets of what is left out take zero.
    pub pads: bool,
    /// Elements side by side that may be moved at once.
    pub run: u64,
    /// Whether all rTasks of a cluster bring the same box, each a part that all get.
    pub together: bool,
    /// The arrival of all groups behind which it begins.
    pub after: Option<Val<'c>>,
}

/// Leaves out the elements of a box where `Σ t·steps ≥ bound`.
#[derive(Clone, Debug)]
pub struct Limit<'c> {
    /// The first sum that is left out.
    pub bound: Val<'c>,
    /// One step per side of the box.
    pub steps: Vec<i64>,
}

impl<'c> Transfer<'c> {
    /// The group that asks for it, where one of its own does.
    pub fn producer(&self, machine: Machine<'c>) -> Option<Producer> {
        machine.move_named(self.move_name)?.boxes()?.producer
    }

    /// The view, where `op` is a `device.transfer`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("device.transfer") {
            return None;
        }
        let groups = op.segments()?;
        let [source, from, target, to, bounds, after] = groups.as_slice() else { return None };
        let sizes = sizes(op)?;
        let steps = op.attr("limit_steps").and_then(attr::ints).unwrap_or_default();
        let limit = |(number, &bound): (usize, &Val<'c>)| {
            let own = number * sizes.len()..(number + 1) * sizes.len();
            Some(Limit { bound, steps: steps.get(own)?.to_vec() })
        };
        let limits = bounds.iter().enumerate().map(limit).collect::<Option<_>>()?;
        Some(Self {
            op,
            move_name: op.attr("move").and_then(attr::symbol)?,
            source: View { memref: *source.first()?, indices: from.clone() },
            target: View { memref: *target.first()?, indices: to.clone() },
            sizes,
            limits,
            pads: op.attr("pads").is_some(),
            run: u64::try_from(int(op, "run").unwrap_or(1)).ok()?,
            together: op.attr("together").is_some(),
            after: after.first().copied(),
            from_strides: op.attr("from_strides").and_then(attr::ints)?,
            to_strides: op.attr("to_strides").and_then(attr::ints)?,
        })
    }

    /// Returns the number of elements that it moves.
    pub fn count(&self) -> u64 {
        self.sizes.iter().product()
    }
}

/// Writes one number to a box of elements.
#[derive(Clone, Debug)]
pub struct Fill<'c> {
    /// The `device.fill`.
    pub op: Op<'c>,
    /// The name of the move.
    pub move_name: &'c str,
    /// The first element written.
    pub target: View<'c>,
    /// Number of elements along each side of the box.
    pub sizes: Vec<u64>,
    /// Elements between neighbours along each side.
    pub strides: Vec<i64>,
    /// The number, of the element type.
    pub value: Attribute<'c>,
}

impl<'c> Fill<'c> {
    /// The view, where `op` is a `device.fill`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("device.fill") {
            return None;
        }
        let operands = op.operands();
        let (memref, indices) = operands.split_first()?;
        Some(Self {
            op,
            move_name: op.attr("move").and_then(attr::symbol)?,
            target: View { memref: *memref, indices: indices.to_vec() },
            sizes: sizes(op)?,
            strides: op.attr("strides").and_then(attr::ints)?,
            value: op.attr("value")?,
        })
    }
}

fn sizes(op: Op<'_>) -> Option<Vec<u64>> {
    let sizes = op.attr("sizes").and_then(attr::ints)?;
    sizes.into_iter().map(|size| u64::try_from(size).ok()).collect()
}

/// One instruction of the machine, on views.
#[derive(Clone, Debug)]
pub struct Invoke<'c> {
    /// The `device.invoke`.
    pub op: Op<'c>,
    /// The name of the instruction.
    pub instruction: &'c str,
    /// One view per operand; results overwrite the last ones.
    pub views: Vec<View<'c>>,
}

impl<'c> Invoke<'c> {
    /// The view, where `op` is a `device.invoke`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("device.invoke") {
            return None;
        }
        let groups = op.segments()?;
        let [views, indices] = groups.as_slice() else { return None };
        Some(Self {
            op,
            instruction: op.attr("instruction").and_then(attr::symbol)?,
            views: View::deal(views, indices)?,
        })
    }
}

/// Scalar operations on every lane of some registers.
#[derive(Clone, Debug)]
pub struct Apply<'c> {
    /// The `device.apply`.
    pub op: Op<'c>,
    /// The name of the lane unit.
    pub lanes_unit: &'c str,
    /// Number of lanes that take part.
    pub lanes: u64,
    /// The views that are read.
    pub inputs: Vec<View<'c>>,
    /// The views that are written.
    pub outputs: Vec<View<'c>>,
    /// The scalar operations; ends in `device.yield`.
    pub body: Block<'c>,
}

impl<'c> Apply<'c> {
    /// The view, where `op` is a `device.apply`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("device.apply") {
            return None;
        }
        let (lanes_unit, lanes, inputs, outputs, body) = lane_parts(op)?;
        Some(Self { op, lanes_unit, lanes, inputs, outputs, body })
    }
}

/// Combines the lanes of registers into one element each.
#[derive(Clone, Debug)]
pub struct Combine<'c> {
    /// The `device.combine`.
    pub op: Op<'c>,
    /// The name of the lane unit.
    pub lanes_unit: &'c str,
    /// Number of lanes that take part.
    pub lanes: u64,
    /// The register.
    pub input: View<'c>,
    /// The element, or an operand like the input.
    pub output: View<'c>,
    /// The dimension of an instruction's operand along which elements are combined.
    pub along: Option<usize>,
    /// The operation that combines two lanes; it ends in `device.yield`.
    pub body: Block<'c>,
}

impl<'c> Combine<'c> {
    /// The view, where `op` is a `device.combine`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("device.combine") {
            return None;
        }
        let (lanes_unit, lanes, inputs, outputs, body) = lane_parts(op)?;
        let (input, output) = (inputs.into_iter().next()?, outputs.into_iter().next()?);
        let along = int(op, "along").and_then(|along| usize::try_from(along).ok());
        Some(Self { op, lanes_unit, lanes, input, output, along, body })
    }
}

type LaneParts<'c> = (&'c str, u64, Vec<View<'c>>, Vec<View<'c>>, Block<'c>);

fn lane_parts<'c>(op: Op<'c>) -> Option<LaneParts<'c>> {
    let groups = op.segments()?;
    let [inputs, from, outputs, to] = groups.as_slice() else { return None };
    Some((
        op.attr("lanes_unit").and_then(attr::symbol)?,
        u64::try_from(int(op, "lanes")?).ok()?,
        View::deal(inputs, from)?,
        View::deal(outputs, to)?,
        op.first_block(0)?,
    ))
}

fn int(op: Op<'_>, name: &str) -> Option<i64> {
    op.attr(name).and_then(attr::int)
}
