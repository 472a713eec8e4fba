//! Making operations.

use melior::Context;
use melior::ir::{Attribute, AttributeLike, Location, Type, TypeLike};
use mlir_sys::*;

use super::handle::{Block, Op, Region, Val};
use super::text::string_ref;
use super::{attr, ty};

/// The insertion point.
#[derive(Clone, Copy)]
enum InsertionPoint<'c> {
    End(Block<'c>),
    Before(Op<'c>),
    After(Op<'c>),
}

/// Makes operations at a place, with a location.
///
/// ```text
/// let sum = b.op("arith.addf", &[x, y], &[f32]).result(0);
/// ```
#[derive(Clone, Copy)]
pub struct Builder<'c> {
    context: &'c Context,
    location: Location<'c>,
    place: InsertionPoint<'c>,
}

impl<'c> Builder<'c> {
    /// Appends to `block`.
    pub fn at_end(context: &'c Context, block: Block<'c>) -> Self {
        Self { context, location: Location::unknown(context), place: InsertionPoint::End(block) }
    }

    /// Inserts before `op`, at its location.
    pub fn before(context: &'c Context, op: Op<'c>) -> Self {
        Self { context, location: op.location(), place: InsertionPoint::Before(op) }
    }

    /// Inserts after `op`; what is built next comes after what was built before.
    pub fn after(context: &'c Context, op: Op<'c>) -> Self {
        Self { context, location: op.location(), place: InsertionPoint::After(op) }
    }

    /// Returns a builder at the same place with another location.
    pub fn with_location(mut self, location: Location<'c>) -> Self {
        self.location = location;
        self
    }

    /// A builder for the end of another block, with the same location.
    pub fn into_block(self, block: Block<'c>) -> Self {
        Self { place: InsertionPoint::End(block), ..self }
    }

    /// The context.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// The location that operations get.
    pub fn location(&self) -> Location<'c> {
        self.location
    }

    /// An operation without attributes and regions.
    pub fn op(&mut self, name: &str, operands: &[Val<'c>], results: &[Type<'c>]) -> Op<'c> {
        self.op_with(name, operands, results, &[], 0)
    }

    /// An operation with attributes, and with regions of no block yet.
    ///
    /// # Panics
    /// When MLIR refuses to create it: the builder was called with names or
    /// types that cannot belong together, which is our mistake.
    pub fn op_with(
        &mut self,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
        regions: usize,
    ) -> Op<'c> {
        // SAFETY: all handles live; MLIR copies the arrays; regions are given away.
        let op = unsafe {
            let mut state = mlirOperationStateGet(string_ref(name), self.location.to_raw());
            let operands: Vec<_> = operands.iter().map(|operand| operand.raw).collect();
            mlirOperationStateAddOperands(&mut state, operands.len() as isize, operands.as_ptr());
            let results: Vec<_> = results.iter().map(|result| result.to_raw()).collect();
            mlirOperationStateAddResults(&mut state, results.len() as isize, results.as_ptr());
            let attributes: Vec<_> = attributes
                .iter()
                .map(|(name, value)| {
                    mlirNamedAttributeGet(
                        mlirIdentifierGet(self.context.to_raw(), string_ref(name)),
                        value.to_raw(),
                    )
                })
                .collect();
            mlirOperationStateAddAttributes(
                &mut state,
                attributes.len() as isize,
                attributes.as_ptr(),
            );
            let regions: Vec<_> = (0..regions).map(|_| mlirRegionCreate()).collect();
            mlirOperationStateAddOwnedRegions(&mut state, regions.len() as isize, regions.as_ptr());
            let raw = mlirOperationCreate(&mut state);
            assert!(!raw.ptr.is_null(), "MLIR cannot create {name} from what it was given");
            Op::new(raw)
        };
        self.insert(op);
        op
    }

    /// Puts an operation that stands nowhere at the builder's place.
    pub fn insert(&mut self, op: Op<'c>) {
        // SAFETY: the operation is in no block, the place is alive.
        unsafe {
            match self.place {
                InsertionPoint::End(block) => mlirBlockAppendOwnedOperation(block.raw, op.raw),
                InsertionPoint::Before(next) => mlirBlockInsertOwnedOperationBefore(
                    mlirOperationGetBlock(next.raw),
                    next.raw,
                    op.raw,
                ),
                InsertionPoint::After(previous) => {
                    mlirBlockInsertOwnedOperationAfter(
                        mlirOperationGetBlock(previous.raw),
                        previous.raw,
                        op.raw,
                    );
                    self.place = InsertionPoint::After(op);
                }
            }
        }
    }

    /// A new block at the end of a region.
    pub fn block(&self, region: Region<'c>, args: &[Type<'c>]) -> Block<'c> {
        // SAFETY: MLIR takes the block over.
        unsafe {
            let types: Vec<_> = args.iter().map(|arg| arg.to_raw()).collect();
            let places = vec![self.location.to_raw(); types.len()];
            let raw = mlirBlockCreate(types.len() as isize, types.as_ptr(), places.as_ptr());
            mlirRegionAppendOwnedBlock(region.raw, raw);
            Block::new(raw)
        }
    }

    /// A copy of `op` here; operands are looked up in `map`, at every depth,
    /// and its results are entered there.
    pub fn clone_op(&mut self, op: Op<'c>, map: &mut Mapping<'c>) -> Op<'c> {
        // SAFETY: the clone stands nowhere until it is inserted.
        let copy = unsafe { Op::new(mlirOperationClone(op.raw)) };
        self.insert(copy);
        remap(copy, map);
        for (old, new) in op.results().into_iter().zip(copy.results()) {
            map.set(old, new);
        }
        copy
    }

    /// `arith.constant` of an index.
    pub fn index(&mut self, value: i64) -> Val<'c> {
        let index = Type::index(self.context);
        self.op_with(
            "arith.constant",
            &[],
            &[index],
            &[("value", attr::of_int_type(index, value))],
            0,
        )
        .result(0)
    }

    /// `arith.constant` of a float or integer type.
    pub fn number(&mut self, ty: Type<'c>, value: f64) -> Val<'c> {
        let attribute = if ty::is_float(ty) {
            attr::of_float(self.context, ty, value)
        } else {
            attr::of_int_type(ty, value as i64)
        };
        self.op_with("arith.constant", &[], &[ty], &[("value", attribute)], 0).result(0)
    }

    /// An `arith.constant` of an integer type or of index, exact for 64 bits.
    pub fn integer(&mut self, ty: Type<'c>, value: i64) -> Val<'c> {
        let attribute = attr::of_int_type(ty, value);
        self.op_with("arith.constant", &[], &[ty], &[("value", attribute)], 0).result(0)
    }
}

/// From old values to new ones, while operations are copied.
#[derive(Default)]
pub struct Mapping<'c> {
    pairs: rustc_hash::FxHashMap<Val<'c>, Val<'c>>,
}

impl<'c> Mapping<'c> {
    /// `new` takes the place of `old`.
    pub fn set(&mut self, old: Val<'c>, new: Val<'c>) {
        self.pairs.insert(old, new);
    }

    /// Returns the replacement of `old`, or `old` itself if it has none.
    pub fn get(&self, old: Val<'c>) -> Val<'c> {
        self.pairs.get(&old).copied().unwrap_or(old)
    }
}

fn remap<'c>(op: Op<'c>, map: &Mapping<'c>) {
    op.walk_all(&mut |inner| {
        for (index, operand) in inner.operands().into_iter().enumerate() {
            let new = map.get(operand);
            if new != operand {
                inner.set_operand(index, new);
            }
        }
    });
}

/// A module without operations, at an unknown place.
pub fn empty_module(context: &Context) -> melior::ir::Module<'_> {
    melior::ir::Module::new(Location::unknown(context))
}

/// The operation of a module.
pub fn module_op<'c>(module: &melior::ir::Module<'c>) -> Op<'c> {
    // SAFETY: the module owns the operation; it lives as long as the module does,
    // which callers keep alive.
    unsafe { Op::new(mlirModuleGetOperation(module.to_raw())) }
}
