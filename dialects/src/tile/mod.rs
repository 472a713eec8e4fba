//! The `tile` dialect: rTiles, tile programs, and the tile-graph they hang in.
//!
//! [`Graph`], [`Run`], [`Empty`], [`View`] and [`Connect`] read the tile-graph; [`Kernel`],
//! [`Load`], [`Compute`] and [`Store`] read tile programs; [`RTile`] is the
//! attribute `#tile.rtile`, [`Schedule`] `#tile.schedule`. [`build`] makes the operations.

pub mod build;
mod schedule;
pub(crate) mod verify;
mod verify_schedule;

pub use schedule::Schedule;

use crate::ir::{Attribute, Block, Context, Op, Type, Val, affine, attr, parts, ty};

/// One size per loop axis, for one memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RTile {
    /// The name of the memory.
    pub memory: String,
    /// The size along each axis, at least 1.
    pub sizes: Vec<u64>,
}

impl RTile {
    /// The rTile that an attribute writes.
    pub fn of(attribute: Attribute<'_>) -> Option<Self> {
        let (memory, sizes) = parts::rtile(attribute)?;
        let size = |size: i64| u64::try_from(size).ok().filter(|&size| size > 0);
        let sizes = sizes.into_iter().map(size).collect::<Option<_>>()?;
        Some(Self { memory: memory.to_owned(), sizes })
    }

    /// The attribute `#tile.rtile<"memory" [sizes]>`.
    pub fn to_attr<'c>(&self, context: &'c Context) -> Attribute<'c> {
        let sizes: Vec<_> = self.sizes.iter().map(|&size| size as i64).collect();
        parts::of_rtile(context, &self.memory, &sizes)
    }

    /// The axis along which `part`, an rTile inside this one, is shorter: a reduction that is done
    /// in parts.
    pub fn cut_by(&self, part: &Self) -> Option<usize> {
        self.sizes.iter().zip(&part.sizes).position(|(whole, part)| part < whole)
    }

    /// Returns the number of points that it covers.
    pub fn points(&self) -> u64 {
        self.sizes.iter().fold(1, |points, &size| points.saturating_mul(size))
    }
}

/// A tile-graph: kernels applied to tensors.
#[derive(Clone, Debug)]
pub struct Graph<'c> {
    /// The `tile.graph`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// The names of the inputs.
    pub inputs: Vec<&'c str>,
    /// The names of the outputs.
    pub outputs: Vec<&'c str>,
    /// The graph types of the inputs.
    pub input_types: Vec<Type<'c>>,
    /// The graph types of the outputs.
    pub output_types: Vec<Type<'c>>,
    /// The runs; ends in `tile.output`.
    pub body: Block<'c>,
}

impl<'c> Graph<'c> {
    /// The view, where `op` is a `tile.graph`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("tile.graph") {
            return None;
        }
        let signature = op.attr("signature").and_then(attr::type_of)?;
        let (input_types, output_types) = ty::function(signature)?;
        Some(Self {
            op,
            name: op.symbol(),
            inputs: op.attr("inputs").and_then(attr::strings)?,
            outputs: op.attr("outputs").and_then(attr::strings)?,
            input_types,
            output_types,
            body: op.first_block(0)?,
        })
    }

    /// The tensors that leave the graph.
    pub fn results(&self) -> Vec<Val<'c>> {
        self.body.terminator().map(Op::operands).unwrap_or_default()
    }
}

/// Applies a kernel to whole tensors.
#[derive(Clone, Debug)]
pub struct Run<'c> {
    /// The `tile.run`.
    pub op: Op<'c>,
    /// The operator's name.
    pub name: &'c str,
    /// The name of the kernel.
    pub kernel: &'c str,
    /// The names of others that mean the same.
    pub others: Vec<&'c str>,
    /// For each operand the element from which the kernel sees it.
    pub at: Vec<u64>,
    /// The values that it reads.
    pub inputs: Vec<Val<'c>>,
    /// The values that it overwrites, one per result.
    pub inits: Vec<Val<'c>>,
}

impl<'c> Run<'c> {
    /// The view, where `op` is a `tile.run`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("tile.run") {
            return None;
        }
        let [inputs, inits] = <[_; 2]>::try_from(op.segments()?).ok()?;
        Some(Self {
            op,
            name: op.attr("name").and_then(attr::string)?,
            kernel: op.attr("kernel").and_then(attr::symbol)?,
            others: Self::others(op),
            at: places(op, inputs.len() + inits.len()),
            inputs,
            inits,
        })
    }

    /// The kernels beside its own that `op`, a `tile.run`, may be done by.
    pub fn others(op: Op<'c>) -> Vec<&'c str> {
        let names = op.attr("others").and_then(attr::array).unwrap_or_default();
        names.into_iter().filter_map(attr::symbol).collect()
    }
}

/// The attribute `at` of an operation, for so many operands: zeros where it has none.
pub fn places(op: Op<'_>, operands: usize) -> Vec<u64> {
    let at = op.attr("at").and_then(attr::ints);
    let at = at.map(|at| at.into_iter().map(|place| u64::try_from(place).unwrap_or(0)).collect());
    at.unwrap_or_else(|| vec![0; operands])
}

/// A tensor without content, in a named memory.
#[derive(Clone, Copy, Debug)]
pub struct Empty<'c> {
    /// The `tile.empty`.
    pub op: Op<'c>,
    /// The memory that carries every edge that leaves it.
    pub memory: &'c str,
    /// The first byte of its tile there.
    pub at: Option<u64>,
}

impl<'c> Empty<'c> {
    /// The view, where `op` is a `tile.empty`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let memory = op.is("tile.empty").then(|| op.attr("memory")).flatten()?;
        let at = op.attr("at").and_then(attr::int).and_then(|at| u64::try_from(at).ok());
        Some(Self { op, memory: attr::symbol(memory)?, at })
    }
}

/// A view: the same elements under another shape.
#[derive(Clone, Copy, Debug)]
pub struct View<'c> {
    /// The `tile.view`.
    pub op: Op<'c>,
    /// The tensor.
    pub source: Val<'c>,
}

impl<'c> View<'c> {
    /// The view, where `op` is a `tile.view`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let source = op.is("tile.view").then(|| op.operands().first().copied()).flatten()?;
        Some(Self { op, source })
    }
}

/// An edge that is handed over through a memory.
#[derive(Clone, Copy, Debug)]
pub struct Connect<'c> {
    /// The `tile.connect`.
    pub op: Op<'c>,
    /// The tensor.
    pub source: Val<'c>,
    /// Through which its readers get it.
    pub memory: &'c str,
}

impl<'c> Connect<'c> {
    /// The view, where `op` is a `tile.connect`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let source = op.is("tile.connect").then(|| op.operands().first().copied()).flatten()?;
        Some(Self { op, source, memory: op.attr("memory").and_then(attr::symbol)? })
    }
}

/// One loop nest, as a tile program.
#[derive(Clone, Debug)]
pub struct Kernel<'c> {
    /// The `tile.kernel`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// The tile program, or the payload; ends in `tile.yield`.
    pub body: Block<'c>,
}

impl<'c> Kernel<'c> {
    /// The view, where `op` is a `tile.kernel`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("tile.kernel") {
            return None;
        }
        Some(Self { op, name: op.symbol(), body: op.first_block(0)? })
    }

    /// The yielded values.
    pub fn results(&self) -> Vec<Val<'c>> {
        let end = self.body.terminator().filter(|end| end.is("tile.yield"));
        end.map(Op::operands).unwrap_or_default()
    }

    /// The arguments that are only read.
    pub fn inputs(&self) -> Vec<Val<'c>> {
        let mut args = self.body.args();
        args.truncate(args.len().saturating_sub(self.results().len()));
        args
    }

    /// The arguments that are overwritten, one per yielded value.
    pub fn outputs(&self) -> Vec<Val<'c>> {
        self.body.args().split_off(self.inputs().len())
    }

    /// Returns whether its computes are done whole, one after the other, by one rTask.
    pub fn is_stitched(&self) -> bool {
        self.op.attr("stitched").is_some()
    }

    /// Returns the number of rTasks: the first rTiles of its last compute that cover the
    /// parallel axes. `None` where no compute says so.
    pub fn tasks(&self) -> Option<u64> {
        if self.is_stitched() {
            return Some(1);
        }
        let last = self.computes().pop()?;
        let (tile, nest) = (last.tiles.first()?, last.nest()?);
        let axes = axes(nest)?;
        if axes.len() != tile.sizes.len() {
            return None;
        }
        let tiles = axes.iter().zip(&tile.sizes).filter(|(axis, _)| axis.parallel);
        tiles.map(|(axis, &size)| axis.extent.div_ceil(size)).try_fold(1u64, u64::checked_mul)
    }

    /// The computes of a tile program, in order; none while the body is the payload.
    pub fn computes(&self) -> Vec<Compute<'c>> {
        self.body.iter().filter_map(Compute::of).collect()
    }
}

/// Brings the tiles of a tensor into a memory.
#[derive(Clone, Copy, Debug)]
pub struct Load<'c> {
    /// The `tile.load`.
    pub op: Op<'c>,
    /// The tensor.
    pub source: Val<'c>,
    /// The memory that its tiles are copied to.
    pub memory: &'c str,
}

impl<'c> Load<'c> {
    /// The view, where `op` is a `tile.load`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let source = op.is("tile.load").then(|| op.operands().first().copied()).flatten()?;
        Some(Self { op, source, memory: op.attr("memory").and_then(attr::symbol)? })
    }
}

/// Takes finished tiles from a memory to their tensor.
#[derive(Clone, Copy, Debug)]
pub struct Store<'c> {
    /// The `tile.store`.
    pub op: Op<'c>,
    /// The finished tiles.
    pub source: Val<'c>,
    /// The memory that holds them.
    pub memory: &'c str,
    /// The tensor that they overwrite.
    pub target: Val<'c>,
}

impl<'c> Store<'c> {
    /// The view, where `op` is a `tile.store`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("tile.store") {
            return None;
        }
        let [source, target] = <[_; 2]>::try_from(op.operands()).ok()?;
        Some(Self { op, source, memory: op.attr("memory").and_then(attr::symbol)?, target })
    }
}

/// A loop nest, its rTiles and the instruction that runs it.
#[derive(Clone, Debug)]
pub struct Compute<'c> {
    /// The `tile.compute`.
    pub op: Op<'c>,
    /// The values that it reads.
    pub inputs: Vec<Val<'c>>,
    /// The values that it overwrites, one per result.
    pub inits: Vec<Val<'c>>,
    /// The name of the instruction or lane unit.
    pub instruction: &'c str,
    /// The axis that the lanes run along; without it every point is done alone.
    pub lanes: Option<usize>,
    /// For each axis of the instruction, the axes of the nest that it is, the slowest first.
    pub axes: Option<Vec<Vec<usize>>>,
    /// One rTile per memory, the rTask's first, the registers' last.
    pub tiles: Vec<RTile>,
    /// The layouts of the inputs' tiles in the first rTile's memory, as numbers.
    pub layouts: Option<Vec<Vec<i64>>>,
    /// The order of its tiles, their registers and their moves.
    pub schedule: Schedule,
    /// Why its tile was chosen, for people.
    pub because: Option<&'c str>,
    /// The payload; ends in `tile.yield`.
    pub body: Block<'c>,
}

impl<'c> Compute<'c> {
    /// The view, where `op` is a `tile.compute`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("tile.compute") {
            return None;
        }
        let [inputs, inits] = <[_; 2]>::try_from(op.segments()?).ok()?;
        let lanes = match op.attr("lanes") {
            Some(axis) => Some(usize::try_from(attr::int(axis)?).ok()?),
            None => None,
        };
        let tiles = op.attr("tiles").and_then(attr::array)?;
        let layouts = op.attr("layouts").and_then(attr::array);
        let layouts = layouts.map(|all| all.into_iter().map(attr::ints).collect::<Option<_>>());
        let axes = match op.attr("axes") {
            Some(axes) => {
                let own = attr::array(axes)?.into_iter();
                Some(
                    own.map(|axes| mapped_axes(axes)?.into_iter().map(number).collect())
                        .collect::<Option<_>>()?,
                )
            }
            None => None,
        };
        Some(Self {
            op,
            inputs,
            inits,
            instruction: op.attr("instruction").and_then(attr::symbol)?,
            lanes,
            axes,
            tiles: tiles.into_iter().map(RTile::of).collect::<Option<_>>()?,
            layouts: layouts.flatten(),
            schedule: match op.attr("schedule") {
                Some(schedule) => Schedule::of(schedule)?,
                None => Schedule::default(),
            },
            because: op.attr("because").and_then(attr::string),
            body: op.first_block(0)?,
        })
    }

    /// Returns the attribute for the axes of an instruction: `[0, -1, 2]` where none is more
    /// than one axis of the nest, else `[[0, 1], [], [2]]`.
    pub fn axes_attr(context: &'c Context, axes: &[Vec<usize>]) -> Attribute<'c> {
        let number = |axis: i64| attr::of_int(context, axis);
        let one = |axes: &Vec<usize>| number(axes.first().map_or(-1, |&axis| axis as i64));
        let all = |axes: &Vec<usize>| {
            let axes: Vec<_> = axes.iter().map(|&axis| number(axis as i64)).collect();
            attr::of_array(context, &axes)
        };
        let fused = axes.iter().any(|axes| axes.len() > 1);
        let own: Vec<_> =
            axes.iter().map(|axes| if fused { all(axes) } else { one(axes) }).collect();
        attr::of_array(context, &own)
    }

    /// The payload's `linalg.generic` whose axes the rTiles measure.
    pub fn nest(&self) -> Option<Op<'c>> {
        nest(self.body)
    }

    /// The rTile for the memory `name`.
    pub fn tile_in(&self, name: &str) -> Option<&RTile> {
        self.tiles.iter().find(|tile| tile.memory == name)
    }
}

/// The axes of the nest that one axis of an instruction is: `2`, `-1` for none, `[0, 1]`.
pub(crate) fn mapped_axes(attribute: Attribute<'_>) -> Option<Vec<i64>> {
    match attr::int(attribute) {
        Some(-1) => Some(Vec::new()),
        Some(axis) => Some(vec![axis]),
        None => attr::array(attribute)?.into_iter().map(attr::int).collect(),
    }
}

fn number(axis: i64) -> Option<usize> {
    usize::try_from(axis).ok()
}

/// An axis of a loop nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Number of points.
    pub extent: u64,
    /// True if they are independent.
    pub parallel: bool,
}

/// The axes of a `linalg.generic` whose every axis is a dimension of an operand.
pub(crate) fn axes(nest: Op<'_>) -> Option<Vec<Axis>> {
    let kinds = attr::array(nest.attr("iterator_types")?)?;
    let mut extents = vec![None; kinds.len()];
    let maps = attr::array(nest.attr("indexing_maps")?)?;
    for (operand, map) in nest.operands().into_iter().zip(maps) {
        for (&dim, access) in ty::shape(operand.ty())?.iter().zip(affine::linear(map)?) {
            if let Some(extent) = access.as_axis().and_then(|axis| extents.get_mut(axis)) {
                *extent = Some(dim);
            }
        }
    }
    let axis = |(extent, kind): (Option<u64>, Attribute<'_>)| {
        Some(Axis { extent: extent?, parallel: attr::is_parallel(kind) })
    };
    extents.into_iter().zip(kinds).map(axis).collect()
}

/// The `linalg.generic` that a payload is about: the last one, or the one before that
/// reduces where the last is its epilogue.
pub(crate) fn nest(body: Block<'_>) -> Option<Op<'_>> {
    let last = body.iter().filter(|op| op.is("linalg.generic")).last()?;
    Some(epilogue_of(last).unwrap_or(last))
}

/// The nest that `last` is the epilogue of: it reduces, and its result is the only output of
/// `last`, which does not; or the last input, where `last` stores another type than it folds.
pub fn epilogue_of(last: Op<'_>) -> Option<Op<'_>> {
    let [_] = last.results()[..] else { return None };
    let operands = last.operands();
    let (output, inputs) = operands.split_last()?;
    let reduces = |nest| Some(axes(nest)?.iter().any(|axis| !axis.parallel));
    let casts = |input: &Val<'_>| ty::elem(input.ty()) != ty::elem(output.ty());
    let sums = [Some(*output), inputs.last().copied().filter(casts)];
    let mut makers = sums.into_iter().flatten().filter_map(Val::def);
    makers.find(|before| {
        let is_nest = before.is("linalg.generic");
        is_nest && reduces(*before) == Some(true) && reduces(last) == Some(false)
    })
}
