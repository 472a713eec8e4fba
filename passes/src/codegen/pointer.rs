//! Pointers to elements of memories, in steps that LLVM keeps apart.
//!
//! ```text
//! base + lane's place       outside of loops, once
//!      + 8192 * room        one addition a round
//!      + 1024               the offset of the access
//! ```
//!
//! As one index the three would be put together by `or`, for they have no bits in common, and then be shifted
//! and added anew for every access.

use weft_dialects::ir::{Builder, Type, Val, attr, ty};

use super::index_sum::IndexSum;

/// The pointer of a type to the element `at` of a memref, counted row-major through all of it.
pub fn pointer<'c>(b: &mut Builder<'c>, [memref, at]: [Val<'c>; 2], pointer: Type<'c>) -> Val<'c> {
    let context = b.context();
    let (index, long) = (Type::index(context), ty::int(context, 64));
    let elem = ty::elem(memref.ty()).expect("a pointer is to an element of a memref");
    let base = b.op("memref.extract_aligned_pointer_as_index", &[memref], &[index]).result(0);
    let base = b.op("arith.index_cast", &[base], &[long]).result(0);
    let mut found = b.op("llvm.inttoptr", &[base], &[pointer]).result(0);
    let mut sum = IndexSum::default();
    sum.add(at, 1);
    for part in sum.outermost_first(depth) {
        let part = part.write(b);
        let part = b.op("arith.index_cast", &[part], &[long]).result(0);
        let attributes = [
            ("elem_type", attr::of_type(elem)),
            // The index is no constant of the operation's.
            ("rawConstantIndices", attr::of_ints32(context, &[i32::MIN])),
        ];
        found =
            b.op_with("llvm.getelementptr", &[found, part], &[pointer], &attributes, 0).result(0);
    }
    found
}

/// How many operations a value is inside of.
fn depth(value: Val<'_>) -> usize {
    std::iter::successors(value.owner_block(), |block| block.parent()?.block()).count()
}
