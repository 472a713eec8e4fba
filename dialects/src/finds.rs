//! Lengths that data decide: `graph.find`, `tile.find` and `task.find`, which name the tensor that holds
//! the number; and who asks for it.

use std::collections::BTreeSet;

use crate::ir::{Diagnostics, Op, Val, attr, ty};
use crate::lengths::{self, OF_AXES};
use crate::verify::{symbol, text};

/// The operations that find a length, at each stage.
const FINDS: [&str; 3] = ["graph.find", "tile.find", "task.find"];

/// A length that data decide.
#[derive(Clone, Copy, Debug)]
pub struct Find<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// The name that stands for it.
    pub symbol: &'c str,
    /// The tensor, or the buffer, that holds it.
    pub count: Val<'c>,
    /// The token of the range behind which it is known; none but in a program.
    pub after: Option<Val<'c>>,
}

impl<'c> Find<'c> {
    /// Returns it if `op` is one.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let operands = op.operands();
        let own = FINDS.contains(&op.name());
        let symbol = text(op, "name").filter(|_| own)?;
        Some(Self { op, symbol, count: *operands.first()?, after: operands.get(1).copied() })
    }
}

/// Adds the symbols of what an operation, or one inside of it, asks for: lengths of axes, numbers in
/// payloads and code, places of operands.
pub fn add_asked(op: Op<'_>, found: &mut BTreeSet<String>) {
    op.walk(&mut |op| {
        let texts = [OF_AXES, "shifts"].into_iter().filter_map(|name| op.attr(name));
        let texts = texts.filter_map(attr::strings).flatten();
        let number = ["graph.length", "device.length"].contains(&op.name());
        let number = text(op, "length").filter(|_| number);
        for text in texts.chain(number) {
            if let Ok(Some(length)) = lengths::read(text) {
                found.extend(length.symbols().into_iter().map(str::to_owned));
            }
        }
    });
}

/// C1. The module has the symbol, and no other operation finds it. C2. What holds it is one integer of 64
/// bits.
pub(crate) fn check(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(find) = Find::of(op) else { return };
    let known = lengths::symbols(op);
    if !known.iter().any(|symbol| symbol.name == find.symbol) {
        let names: Vec<_> = known.iter().map(|symbol| symbol.name.as_str()).collect();
        let help = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        diag.error(
            op,
            format!("the module has no symbol {}, which {} finds", find.symbol, op.name()),
        )
        .help(format!("it has {help}"));
    }
    let before = op.block().map(|block| block.ops()).unwrap_or_default().into_iter();
    let same = |other: &Find<'_>| other.symbol == find.symbol;
    let mut before = before.take_while(|other| *other != op).filter_map(Find::of);
    if let Some(earlier) = before.find(same) {
        diag.error(op, format!("{} is found twice", find.symbol))
            .note(earlier.op, "the first time is here")
            .help("a name stands for one number in a run");
    }
    let ty = find.count.ty();
    let wide = ty::elem(ty).filter(|elem| elem.to_string().ends_with("i64"));
    if wide.is_none() || ty::count(ty) != Some(1) {
        diag.error(op, format!("{} reads {} from {ty}", op.name(), find.symbol))
            .help("a length is one integer of 64 bits");
    }
}

/// C3. Nothing in front of a find asks for what it finds, by itself or by a kernel that it applies.
pub(crate) fn check_before(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(find) = Find::of(op) else { return };
    let asks = |op: Op<'_>| {
        let mut asked = BTreeSet::new();
        add_asked(op, &mut asked);
        asked.contains(find.symbol)
    };
    let module = op.ancestors().find(|op| op.is("builtin.module"));
    let around = module.and_then(|module| module.first_block(0)).map(|block| block.ops());
    let kernels = around.unwrap_or_default().into_iter().filter(|op| op.is("tile.kernel"));
    let kernels: BTreeSet<_> = kernels.filter(|op| asks(*op)).map(|op| op.symbol()).collect();
    let applies = |op: Op<'_>| symbol(op, "kernel").is_some_and(|name| kernels.contains(name));
    let before = op.block().map(|block| block.ops()).unwrap_or_default();
    let mut before = before.into_iter().take_while(|other| *other != op);
    if let Some(user) = before.find(|user| asks(*user) || applies(*user)) {
        let what = format!("{} asks for {}, which is not known yet", user.name(), find.symbol);
        diag.error(user, what).note(op, "it is found here").help("move it behind");
    }
}
