//! Zeros in the device's memory, where lanes read what is left out of a box.
//!
//! ```text
//! value = load (inside ? place : first); inside ? value : 0      waits for the load, where it stands
//! value = load (inside ? place : zeros)                          waits where the value is used
//! ```

use melior::dialect::llvm::r#type as llvm;
use weft_dialects::ir::{Builder, Context, Op, Type, Val, attr, ty};

use super::super::pointer::pointer;
use super::shared::global;
use super::storage::in_space;

const NAME: &str = "weft.zeros";

/// Bytes of the widest access of a lane.
const BYTES: u64 = 16;

/// The address space of the device's memory in LLVM.
const SPACE: i64 = 1;

/// Whether a memref lies in the memory that the zeros lie in.
pub fn lie_beside(context: &Context, memref: Val<'_>) -> bool {
    let ty = memref.ty();
    ty::shape(ty).is_some_and(|shape| in_space(context, &shape, ty, Some(SPACE)) == ty)
}

/// `count` elements from a place in the device's memory on, one or a vector: zeros without the condition.
pub fn read<'c>(
    b: &mut Builder<'c>,
    [memref, at]: [Val<'c>; 2],
    count: u64,
    inside: Val<'c>,
) -> Val<'c> {
    let context = b.context();
    let elem = ty::elem(memref.ty()).expect("a load is of a memref");
    let bytes = ty::byte_size(elem).unwrap_or(1) * count;
    assert!(bytes <= BYTES, "no lane moves more at once");
    let place = llvm::pointer(context, SPACE as u32);
    let zeros = global(b, NAME, zeros(context));
    let zero = b.index(0);
    let ends = [[memref, at], [zeros, zero]].map(|end| pointer(b, end, place));
    let from = b.op("arith.select", &[inside, ends[0], ends[1]], &[place]).result(0);
    let value = if count == 1 { elem } else { ty::vector(count, elem) };
    let attributes = [("alignment", attr::of_int(context, bytes as i64))];
    b.op_with("llvm.load", &[from], &[value], &attributes, 0).result(0)
}

/// Declares the zeros, before a function that reads them, if no other one had them declared.
pub fn declare<'c>(context: &'c Context, func: Op<'c>) {
    let mut read = false;
    func.walk(&mut |op| {
        let name = op.attr("name").and_then(attr::symbol);
        read |= op.is("memref.get_global") && name == Some(NAME);
    });
    let module = func.block().expect("a function stands in a module");
    let there = |op: Op<'c>| op.is("memref.global") && op.symbol() == NAME;
    if !read || module.ops().into_iter().any(there) {
        return;
    }
    let ty = zeros(context);
    let value = attr::dense(ty::tensor(&[BYTES], ty::int(context, 8)), &[0; BYTES as usize]);
    let attributes = [
        ("sym_name", attr::of_string(context, NAME)),
        ("sym_visibility", attr::of_string(context, "private")),
        ("type", attr::of_type(ty)),
        ("initial_value", value),
        ("constant", attr::unit(context)),
        ("alignment", attr::of_int(context, BYTES as i64)),
    ];
    Builder::before(context, func).op_with("memref.global", &[], &[], &attributes, 0);
}

fn zeros(context: &Context) -> Type<'_> {
    ty::memref(&[BYTES], ty::int(context, 8), Some(attr::of_int(context, SPACE)))
}
