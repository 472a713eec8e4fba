//! Lengths that callers decide: a table of 64-bit numbers, which code reads where it begins.
//!
//! ```text
//! %rows = device.length "seq"  ->  %n = memref.load %table[0] : memref<1xi64>
//!                                  %rows = arith.index_cast %n
//! ```

use weft_dialects::device::Kernel;
use weft_dialects::ir::{Builder, Context, Op, Type, attr, ty};

/// The type of the table that a kernel reads, if it reads one.
pub fn table<'c>(context: &'c Context, kernel: &Kernel<'c>) -> Option<Type<'c>> {
    let count = kernel.lengths_read().map_or(0, |lengths| lengths.len());
    (count > 0).then(|| ty::memref(&[count as u64], ty::int(context, 64), None))
}

/// Reads every length at the beginning of `func`, whose argument behind the kernel's memrefs the
/// table is. Gives the number of tables, one or none.
pub fn read_from_table<'c>(context: &'c Context, kernel: &Kernel<'c>, func: Op<'c>) -> usize {
    let lengths = kernel.lengths_read().unwrap_or_default();
    if lengths.is_empty() {
        return 0;
    }
    let entry = func.body(0).expect("a function has a block");
    let table = entry.arg(2 + kernel.args().len());
    let first = entry.ops().first().copied().expect("a function ends in a return");
    let mut b = Builder::before(context, first);
    let (index, long) = (Type::index(context), ty::int(context, 64));
    let values: Vec<_> = (0..lengths.len())
        .map(|number| {
            let at = b.index(number as i64);
            let value = b.op("memref.load", &[table, at], &[long]).result(0);
            b.op("arith.index_cast", &[value], &[index]).result(0)
        })
        .collect();
    let mut asking = Vec::new();
    func.walk(&mut |op| asking.extend(op.is("device.length").then_some(op)));
    for op in asking {
        let own = op.attr("length").and_then(attr::string);
        if let Some(number) = lengths.iter().position(|length| Some(*length) == own) {
            op.result(0).replace_with(values[number]);
        }
        op.erase();
    }
    1
}
