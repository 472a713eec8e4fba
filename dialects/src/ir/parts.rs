//! Parts of operations that may be missing: what the dialects' views read.

use melior::Context;
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, AttributeLike, ShapedTypeLike, Type, TypeLike};
use mlir_sys::*;

use super::handle::{Block, Op, Val};
use super::shim;
use super::text::{string_ref, text_of};
use super::{attr, ty};

impl<'c> Op<'c> {
    /// The operand groups that `operandSegmentSizes` tells apart.
    ///
    /// `None` where the operation has no such groups, or they do not add up.
    pub fn segments(self) -> Option<Vec<Vec<Val<'c>>>> {
        let sizes = attr::ints32(self.attr("operandSegmentSizes")?)?;
        let mut rest = self.operands();
        let mut groups = Vec::with_capacity(sizes.len());
        for size in sizes {
            let size = usize::try_from(size).ok().filter(|&size| size <= rest.len())?;
            let later = rest.split_off(size);
            groups.push(std::mem::replace(&mut rest, later));
        }
        rest.is_empty().then_some(groups)
    }

    /// The first block of the region at `index`, where there are such.
    pub fn first_block(self, index: usize) -> Option<Block<'c>> {
        if index >= self.region_count() {
            return None;
        }
        self.body(index)
    }

    /// The operations around this one, innermost first.
    pub fn ancestors(self) -> impl Iterator<Item = Op<'c>> {
        std::iter::successors(self.parent(), |op| op.parent())
    }
}

impl<'c> Block<'c> {
    /// The operations in order, one at a time.
    pub fn iter(self) -> impl Iterator<Item = Op<'c>> {
        // SAFETY: the operations live as long as the caller leaves the block alone.
        unsafe {
            let first = Op::option(mlirBlockGetFirstOperation(self.raw));
            std::iter::successors(first, |op| Op::option(mlirOperationGetNextInBlock(op.raw)))
        }
    }
}

/// Memory and sizes of a `#tile.rtile`.
pub(crate) fn rtile<'c>(attribute: Attribute<'c>) -> Option<(&'c str, Vec<i64>)> {
    // SAFETY: checked to be an rTile; axes are below its rank; the name lives as
    // long as the context.
    unsafe {
        let raw = attribute.to_raw();
        shim::weftAttributeIsRTile(raw).then(|| {
            let axes = 0..shim::weftRTileRank(raw);
            (
                text_of(shim::weftRTileMemory(raw)),
                axes.map(|axis| shim::weftRTileSize(raw, axis)).collect(),
            )
        })
    }
}

/// Makes a `#tile.rtile`.
pub(crate) fn of_rtile<'c>(context: &'c Context, memory: &str, sizes: &[i64]) -> Attribute<'c> {
    // SAFETY: MLIR copies the name and the sizes.
    unsafe {
        Attribute::from_raw(shim::weftRTileGet(
            context.to_raw(),
            string_ref(memory),
            sizes.len() as isize,
            sizes.as_ptr(),
        ))
    }
}

/// The fields of a `#tile.schedule`; none where one is left out.
pub(crate) struct ScheduleFields<'c> {
    pub order: Option<Attribute<'c>>,
    pub grow: Option<i64>,
    pub rows: Option<Attribute<'c>>,
    pub slide: Option<Attribute<'c>>,
    pub unroll: Option<Attribute<'c>>,
    pub transpose: Option<i64>,
    pub combine_rows: Option<i64>,
    pub stream: Option<Attribute<'c>>,
    pub ahead: Option<Attribute<'c>>,
    pub cluster: Option<Attribute<'c>>,
    pub bands: Option<Attribute<'c>>,
    pub border: Option<Attribute<'c>>,
    pub phases: Option<Attribute<'c>>,
    pub spread: Option<Attribute<'c>>,
    pub interleave: Option<Attribute<'c>>,
    pub operands: Option<Attribute<'c>>,
    pub stages: i64,
    pub neighbours: i64,
    pub turns: i64,
    pub resident: i64,
}

/// The fields of a `#tile.schedule`.
pub(crate) fn schedule(attribute: Attribute<'_>) -> Option<ScheduleFields<'_>> {
    let mut raw = std::mem::MaybeUninit::uninit();
    // SAFETY: what it says is one has its fields written; they live as long as the context, and
    // one that is null is not touched.
    unsafe {
        if !shim::weftScheduleRead(attribute.to_raw(), raw.as_mut_ptr()) {
            return None;
        }
        let raw = raw.assume_init();
        let field = |raw: MlirAttribute| (!raw.ptr.is_null()).then(|| Attribute::from_raw(raw));
        let axis = |axis: i64| (axis != i64::MIN).then_some(axis);
        Some(ScheduleFields {
            order: field(raw.order),
            grow: axis(raw.grow),
            rows: field(raw.rows),
            slide: field(raw.slide),
            unroll: field(raw.unroll),
            transpose: axis(raw.transpose),
            combine_rows: axis(raw.combine_rows),
            stream: field(raw.stream),
            ahead: field(raw.ahead),
            cluster: field(raw.cluster),
            bands: field(raw.bands),
            border: field(raw.border),
            phases: field(raw.phases),
            spread: field(raw.spread),
            interleave: field(raw.interleave),
            operands: field(raw.operands),
            stages: raw.stages,
            neighbours: raw.neighbours,
            turns: raw.turns,
            resident: raw.resident,
        })
    }
}

/// Makes a `#tile.schedule`; lists are `array<i64>`s and names symbols.
pub(crate) fn of_schedule<'c>(context: &'c Context, fields: &ScheduleFields<'c>) -> Attribute<'c> {
    let raw = |field: Option<Attribute<'c>>| {
        field.map_or(MlirAttribute { ptr: std::ptr::null() }, |field| field.to_raw())
    };
    let own = shim::WeftSchedule {
        order: raw(fields.order),
        rows: raw(fields.rows),
        slide: raw(fields.slide),
        unroll: raw(fields.unroll),
        stream: raw(fields.stream),
        ahead: raw(fields.ahead),
        cluster: raw(fields.cluster),
        bands: raw(fields.bands),
        border: raw(fields.border),
        phases: raw(fields.phases),
        spread: raw(fields.spread),
        interleave: raw(fields.interleave),
        operands: raw(fields.operands),
        grow: fields.grow.unwrap_or(i64::MIN),
        transpose: fields.transpose.unwrap_or(i64::MIN),
        combine_rows: fields.combine_rows.unwrap_or(i64::MIN),
        stages: fields.stages,
        neighbours: fields.neighbours,
        turns: fields.turns,
        resident: fields.resident,
    };
    // SAFETY: the attributes are of this context and have the kinds that are asked for.
    unsafe { Attribute::from_raw(shim::weftScheduleGet(context.to_raw(), &own)) }
}

/// Number of dimensions of a memref.
pub(crate) fn rank(ty: Type<'_>) -> Option<usize> {
    MemRefType::try_from(ty).ok().map(|memref| memref.rank())
}

/// Bytes of a tensor or memref of static shape whose elements are numbers.
pub(crate) fn bytes(ty: Type<'_>) -> Option<u64> {
    let element = ty::byte_size(ty::elem(ty)?)?;
    ty::shape(ty)?.into_iter().try_fold(element, u64::checked_mul)
}

/// The payload type of a graph type, in the type's own context.
pub(crate) fn payload(ty: Type<'_>) -> Type<'_> {
    let context = ty.context();
    // SAFETY: the reference does not outlive `context`; the new type
    // lives in it.
    unsafe { ty::payload(context.to_ref(), ty) }
}

/// The type `!device.token`.
pub(crate) fn device_token<'c>(context: &'c Context) -> Type<'c> {
    // SAFETY: the context lives for 'c.
    unsafe { Type::from_raw(shim::weftDeviceTokenGet(context.to_raw())) }
}

/// The type `!task.token`.
pub(crate) fn token<'c>(context: &'c Context) -> Type<'c> {
    // SAFETY: the context lives for 'c.
    unsafe { Type::from_raw(shim::weftTaskTokenGet(context.to_raw())) }
}
