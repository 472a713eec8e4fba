//! Handles to operations, values, blocks and regions.
//!
//! A handle is a copy of MLIR's pointer, tied to its context by a lifetime. It
//! does not keep what it points at alive: no handle of an operation may be used
//! after that operation was erased or rewritten.

use melior::ir::{Attribute, AttributeLike, Location, Type, TypeLike};
use mlir_sys::*;
use std::fmt;
use std::marker::PhantomData;

use super::text::{collect, string_ref, text_of};

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $raw:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'c> {
            pub(crate) raw: $raw,
            context: PhantomData<&'c melior::Context>,
        }

        impl<'c> $name<'c> {
            pub(crate) fn new(raw: $raw) -> Self {
                Self { raw, context: PhantomData }
            }

            #[allow(dead_code)]
            pub(crate) fn option(raw: $raw) -> Option<Self> {
                (!raw.ptr.is_null()).then(|| Self::new(raw))
            }
        }
    };
}

handle!(
    /// An operation.
    Op, MlirOperation
);
handle!(
    /// A result of an operation or an argument of a block.
    Val, MlirValue
);
handle!(
    /// A block.
    Block, MlirBlock
);
handle!(
    /// A region.
    Region, MlirRegion
);

impl PartialEq for Op<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw.ptr == other.raw.ptr
    }
}
impl Eq for Op<'_> {}
impl PartialEq for Val<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw.ptr == other.raw.ptr
    }
}
impl Eq for Val<'_> {}
impl std::hash::Hash for Val<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.ptr.hash(state);
    }
}
impl std::hash::Hash for Op<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.ptr.hash(state);
    }
}
impl PartialEq for Block<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw.ptr == other.raw.ptr
    }
}
impl Eq for Block<'_> {}

// SAFETY (for every call below): the raw pointers come from MLIR, their context
// lives for 'c, and callers keep the rule of this module: no use after erasure.
impl<'c> Op<'c> {
    /// The full name, such as `linalg.generic`.
    pub fn name(self) -> &'c str {
        // SAFETY: see above; identifiers live as long as the context.
        unsafe { text_of(mlirIdentifierStr(mlirOperationGetName(self.raw))) }
    }

    /// Returns whether this is the operation `name`.
    pub fn is(self, name: &str) -> bool {
        // SAFETY: see above; the bytes of a name live as long as the context.
        let own = unsafe { mlirIdentifierStr(mlirOperationGetName(self.raw)) };
        // SAFETY: as many bytes are there.
        let own = unsafe { std::slice::from_raw_parts(own.data.cast::<u8>(), own.length) };
        own == name.as_bytes()
    }

    /// The operands, in order.
    pub fn operands(self) -> Vec<Val<'c>> {
        // SAFETY: see above.
        unsafe {
            (0..mlirOperationGetNumOperands(self.raw))
                .map(|index| Val::new(mlirOperationGetOperand(self.raw, index)))
                .collect()
        }
    }

    /// The operand at `index`.
    pub fn operand(self, index: usize) -> Val<'c> {
        // SAFETY: see above; the index is checked.
        unsafe {
            let count = mlirOperationGetNumOperands(self.raw) as usize;
            assert!(index < count, "{} has {count} operands, not {index}", self.name());
            Val::new(mlirOperationGetOperand(self.raw, index as isize))
        }
    }

    /// Replaces the operand at `index`.
    pub fn set_operand(self, index: usize, value: Val<'c>) {
        // SAFETY: see above.
        unsafe { mlirOperationSetOperand(self.raw, index as isize, value.raw) }
    }

    /// Gives the operation other operands, more or fewer.
    pub fn set_operands(self, operands: &[Val<'c>]) {
        let raw: Vec<_> = operands.iter().map(|operand| operand.raw).collect();
        // SAFETY: see above; MLIR copies the array.
        unsafe { mlirOperationSetOperands(self.raw, raw.len() as isize, raw.as_ptr()) }
    }

    /// The results, in order.
    pub fn results(self) -> Vec<Val<'c>> {
        // SAFETY: see above.
        unsafe {
            (0..mlirOperationGetNumResults(self.raw))
                .map(|index| Val::new(mlirOperationGetResult(self.raw, index)))
                .collect()
        }
    }

    /// The result at `index`.
    pub fn result(self, index: usize) -> Val<'c> {
        // SAFETY: see above; the index is checked.
        unsafe {
            let count = mlirOperationGetNumResults(self.raw) as usize;
            assert!(index < count, "{} has {count} results, not {index}", self.name());
            Val::new(mlirOperationGetResult(self.raw, index as isize))
        }
    }

    /// Returns the number of regions.
    pub fn region_count(self) -> usize {
        // SAFETY: see above.
        unsafe { mlirOperationGetNumRegions(self.raw) as usize }
    }

    /// The region at `index`.
    pub fn region(self, index: usize) -> Region<'c> {
        assert!(index < self.region_count(), "{} has no region {index}", self.name());
        // SAFETY: see above.
        unsafe { Region::new(mlirOperationGetRegion(self.raw, index as isize)) }
    }

    /// The only block of the region at `index`, where it has one.
    pub fn body(self, index: usize) -> Option<Block<'c>> {
        self.region(index).blocks().first().copied()
    }

    /// The attribute `name`, inherent or discardable.
    pub fn attr(self, name: &str) -> Option<Attribute<'c>> {
        // SAFETY: see above; a null attribute means there is none.
        unsafe {
            let raw = mlirOperationGetAttributeByName(self.raw, string_ref(name));
            (!raw.ptr.is_null()).then(|| Attribute::from_raw(raw))
        }
    }

    /// All attributes by name, in MLIR's (sorted) order.
    pub fn attrs(self) -> Vec<(&'c str, Attribute<'c>)> {
        // SAFETY: see above.
        unsafe {
            (0..mlirOperationGetNumAttributes(self.raw))
                .map(|index| {
                    let named = mlirOperationGetAttribute(self.raw, index);
                    (text_of(mlirIdentifierStr(named.name)), Attribute::from_raw(named.attribute))
                })
                .collect()
        }
    }

    /// Sets the attribute `name`.
    pub fn set_attr(self, name: &str, value: Attribute<'c>) {
        // SAFETY: see above.
        unsafe { mlirOperationSetAttributeByName(self.raw, string_ref(name), value.to_raw()) }
    }

    /// Removes the attribute `name`; false where there was none.
    pub fn remove_attr(self, name: &str) -> bool {
        // SAFETY: see above.
        unsafe { mlirOperationRemoveAttributeByName(self.raw, string_ref(name)) }
    }

    /// Returns the location in the source text.
    pub fn location(self) -> Location<'c> {
        // SAFETY: see above.
        unsafe { Location::from_raw(mlirOperationGetLocation(self.raw)) }
    }

    /// The operation around this one.
    pub fn parent(self) -> Option<Op<'c>> {
        // SAFETY: see above.
        unsafe { Op::option(mlirOperationGetParentOperation(self.raw)) }
    }

    /// The block this operation stands in.
    pub fn block(self) -> Option<Block<'c>> {
        // SAFETY: see above.
        unsafe { Block::option(mlirOperationGetBlock(self.raw)) }
    }

    /// The outermost operation around this one: its module.
    pub fn root(self) -> Op<'c> {
        let mut op = self;
        while let Some(parent) = op.parent() {
            op = parent;
        }
        op
    }

    /// The value of the attribute `sym_name`.
    pub fn symbol(self) -> &'c str {
        self.attr("sym_name").and_then(super::attr::string).unwrap_or("")
    }

    /// Calls `visit` for this operation and every one inside it, outside first; but not for what
    /// is in a machine around which it stands: programs are walked, and facts are asked for.
    pub fn walk(self, visit: &mut dyn FnMut(Op<'c>)) {
        visit(self);
        self.walk_inside(&|op| !op.is("device.machine"), visit);
    }

    /// As [`Op::walk`], machines included.
    pub fn walk_all(self, visit: &mut dyn FnMut(Op<'c>)) {
        visit(self);
        self.walk_inside(&|_| true, visit);
    }

    fn walk_inside(self, enters: &dyn Fn(Op<'c>) -> bool, visit: &mut dyn FnMut(Op<'c>)) {
        for region in 0..self.region_count() {
            for block in self.region(region).blocks() {
                for op in block.ops() {
                    visit(op);
                    if op.region_count() > 0 && enters(op) {
                        op.walk_inside(enters, visit);
                    }
                }
            }
        }
    }

    /// The context, by what no other that lives has.
    pub(crate) fn context_id(self) -> usize {
        // SAFETY: see above.
        unsafe { mlirOperationGetContext(self.raw).ptr as usize }
    }

    /// The operation that stands right behind this one.
    pub fn next(self) -> Option<Op<'c>> {
        // SAFETY: see above.
        unsafe { Op::option(mlirOperationGetNextInBlock(self.raw)) }
    }

    /// Moves the operation to stand right before another one, in whose block it is then.
    pub fn move_before(self, other: Op<'c>) {
        // SAFETY: see above.
        unsafe { mlirOperationMoveBefore(self.raw, other.raw) }
    }

    /// Takes the operation out of its block and destroys it.
    ///
    /// Erases the operation. Its results must have no uses.
    pub fn erase(self) {
        // SAFETY: see above; the caller gives up every handle to it.
        unsafe {
            mlirOperationRemoveFromParent(self.raw);
            mlirOperationDestroy(self.raw);
        }
    }

    /// Returns whether MLIR's and weft's verifiers accept the operation; they report themselves.
    pub fn verify(self) -> bool {
        // SAFETY: see above.
        unsafe { mlirOperationVerify(self.raw) }
    }

    /// The operation as text, large literals whole, without locations.
    pub fn text(self) -> String {
        self.print(false)
    }

    /// As [`Op::text`], but named and aliased for this operation alone: what an
    /// isolated operation says does not depend on what stands around it.
    pub fn own_text(self) -> String {
        self.print(true)
    }

    /// As [`Op::own_text`], without those operations of its first block that are `unneeded`.
    pub fn own_text_without(self, unneeded: &dyn Fn(Op<'c>) -> bool) -> String {
        // SAFETY: the copy stands nowhere, and nothing knows of it when it is destroyed.
        let copy = unsafe { Op::new(mlirOperationClone(self.raw)) };
        let inside = copy.first_block(0).into_iter().flat_map(|block| block.ops());
        inside.filter(|op| unneeded(*op)).for_each(Op::erase);
        let text = copy.own_text();
        copy.erase();
        text
    }

    fn print(self, alone: bool) -> String {
        // SAFETY: the callback only appends to the string it is given.
        unsafe {
            let flags = mlirOpPrintingFlagsCreate();
            if alone {
                mlirOpPrintingFlagsUseLocalScope(flags);
                // Verifying would look at the whole module again for every print.
                mlirOpPrintingFlagsAssumeVerified(flags);
            }
            let mut text = String::new();
            mlirOperationPrintWithFlags(self.raw, flags, Some(collect), (&raw mut text).cast());
            mlirOpPrintingFlagsDestroy(flags);
            text
        }
    }
}

impl fmt::Display for Op<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

impl fmt::Debug for Op<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

impl fmt::Debug for Val<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "value of type {}", self.ty())
    }
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a block of {} operations", self.ops().len())
    }
}

impl<'c> Val<'c> {
    /// The type.
    pub fn ty(self) -> Type<'c> {
        // SAFETY: see `Op`.
        unsafe { Type::from_raw(mlirValueGetType(self.raw)) }
    }

    /// Changes the type in place, where the one who made the value is changed with it.
    pub fn set_ty(self, ty: Type<'c>) {
        // SAFETY: see `Op`.
        unsafe { mlirValueSetType(self.raw, ty.to_raw()) }
    }

    /// The operation whose result this is.
    pub fn def(self) -> Option<Op<'c>> {
        // SAFETY: see `Op`.
        unsafe { mlirValueIsAOpResult(self.raw).then(|| Op::new(mlirOpResultGetOwner(self.raw))) }
    }

    /// Which result or argument this is.
    pub fn index(self) -> usize {
        // SAFETY: see `Op`.
        unsafe {
            if mlirValueIsAOpResult(self.raw) {
                mlirOpResultGetResultNumber(self.raw) as usize
            } else {
                mlirBlockArgumentGetArgNumber(self.raw) as usize
            }
        }
    }

    /// The block whose argument this is.
    pub fn owner_block(self) -> Option<Block<'c>> {
        // SAFETY: see `Op`.
        unsafe {
            mlirValueIsABlockArgument(self.raw)
                .then(|| Block::new(mlirBlockArgumentGetOwner(self.raw)))
        }
    }

    /// The uses, as (operation, operand number), oldest first.
    pub fn uses(self) -> Vec<(Op<'c>, usize)> {
        let mut uses = Vec::new();
        // SAFETY: see `Op`.
        unsafe {
            let mut next = mlirValueGetFirstUse(self.raw);
            while !mlirOpOperandIsNull(next) {
                uses.push((
                    Op::new(mlirOpOperandGetOwner(next)),
                    mlirOpOperandGetOperandNumber(next) as usize,
                ));
                next = mlirOpOperandGetNextUse(next);
            }
        }
        uses.reverse();
        uses
    }

    /// Makes every user of this value use `other`.
    pub fn replace_with(self, other: Val<'c>) {
        // SAFETY: see `Op`.
        unsafe { mlirValueReplaceAllUsesOfWith(self.raw, other.raw) }
    }
}

impl<'c> Block<'c> {
    /// The operations, in order.
    pub fn ops(self) -> Vec<Op<'c>> {
        let mut ops = Vec::new();
        // SAFETY: see `Op`.
        unsafe {
            let mut next = mlirBlockGetFirstOperation(self.raw);
            while !next.ptr.is_null() {
                ops.push(Op::new(next));
                next = mlirOperationGetNextInBlock(next);
            }
        }
        ops
    }

    /// The operation that ends the block.
    pub fn terminator(self) -> Option<Op<'c>> {
        // SAFETY: see `Op`; null where there is none.
        unsafe { Op::option(mlirBlockGetTerminator(self.raw)) }
    }

    /// The arguments, in order.
    pub fn args(self) -> Vec<Val<'c>> {
        // SAFETY: see `Op`.
        unsafe {
            (0..mlirBlockGetNumArguments(self.raw))
                .map(|index| Val::new(mlirBlockGetArgument(self.raw, index)))
                .collect()
        }
    }

    /// The argument at `index`.
    pub fn arg(self, index: usize) -> Val<'c> {
        // SAFETY: see `Op`; the index is one of the block's.
        unsafe {
            let count = mlirBlockGetNumArguments(self.raw);
            assert!((index as i64) < count as i64, "argument {index} of {count}");
            Val::new(mlirBlockGetArgument(self.raw, index as isize))
        }
    }

    /// Appends an argument.
    pub fn add_arg(self, ty: Type<'c>, location: Location<'c>) -> Val<'c> {
        // SAFETY: see `Op`.
        unsafe { Val::new(mlirBlockAddArgument(self.raw, ty.to_raw(), location.to_raw())) }
    }

    /// The operation whose region holds the block.
    pub fn parent(self) -> Option<Op<'c>> {
        // SAFETY: see `Op`.
        unsafe { Op::option(mlirBlockGetParentOperation(self.raw)) }
    }
}

impl<'c> Region<'c> {
    /// The blocks, in order.
    pub fn blocks(self) -> Vec<Block<'c>> {
        let mut blocks = Vec::new();
        // SAFETY: see `Op`.
        unsafe {
            let mut next = mlirRegionGetFirstBlock(self.raw);
            while !next.ptr.is_null() {
                blocks.push(Block::new(next));
                next = mlirBlockGetNextInRegion(next);
            }
        }
        blocks
    }
}
