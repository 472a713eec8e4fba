//! Vectors as LLVM's structs of as many elements, which assembly takes registers in.

use melior::dialect::llvm::r#type as llvm;
use weft_dialects::ir::{Builder, Op, Type, Val, attr, ty};

/// The struct of some elements.
pub fn of<'c>(b: &Builder<'c>, elements: &[Type<'c>]) -> Type<'c> {
    llvm::r#struct(b.context(), elements, false)
}

/// Writes a cast of a lowering from a vector to a struct, or back; `None` for other operations.
pub fn cast<'c>(b: &mut Builder<'c>, op: Op<'c>, value: Val<'c>) -> Option<Val<'c>> {
    if !op.is("builtin.unrealized_conversion_cast") {
        return None;
    }
    let ty = op.result(0).ty();
    let (from, to) = (ty::is_vector(value.ty()), ty::is_vector(ty));
    match (from, to) {
        (true, false) => Some(pack(b, value, ty)),
        (false, true) => Some(unpack(b, value, ty)),
        _ => None,
    }
}

/// A vector's elements as a struct.
fn pack<'c>(b: &mut Builder<'c>, vector: Val<'c>, record: Type<'c>) -> Val<'c> {
    let mut held = b.op("llvm.mlir.undef", &[], &[record]).result(0);
    for (place, element) in elements(b, vector).into_iter().enumerate() {
        let position = [("position", attr::of_ints(b.context(), &[place as i64]))];
        held = b.op_with("llvm.insertvalue", &[held, element], &[record], &position, 0).result(0);
    }
    held
}

/// A struct's elements as a vector.
fn unpack<'c>(b: &mut Builder<'c>, record: Val<'c>, vector: Type<'c>) -> Val<'c> {
    let elem = ty::elem(vector).expect("a vector has elements");
    let fields = fields(b, record, &vec![elem; ty::count(vector).unwrap_or(1) as usize]);
    b.op("vector.from_elements", &fields, &[vector]).result(0)
}

/// A struct's elements, of these types.
pub fn fields<'c>(b: &mut Builder<'c>, record: Val<'c>, types: &[Type<'c>]) -> Vec<Val<'c>> {
    let field = |(place, ty): (usize, &Type<'c>)| {
        let position = [("position", attr::of_ints(b.context(), &[place as i64]))];
        b.op_with("llvm.extractvalue", &[record], &[*ty], &position, 0).result(0)
    };
    types.iter().enumerate().map(field).collect()
}

/// A vector's elements.
pub fn elements<'c>(b: &mut Builder<'c>, vector: Val<'c>) -> Vec<Val<'c>> {
    let elem = ty::elem(vector.ty()).expect("a vector has elements");
    let count = ty::count(vector.ty()).unwrap_or(1) as usize;
    b.op("vector.to_elements", &[vector], &vec![elem; count]).results()
}
