//! Replace elementary functions by arithmetic that every lane unit has.
//!
//! ```text
//! %r = math.exp %x : f32   ->   %t = math.fma %x, %log2e, %magic : f32 ...
//! ```
//!
//! The arithmetic is in `crate::math`, one function per operation and type, copied in
//! place of the operation. f16 and bf16 go through f32. A machine's meanings and
//! lowerings are left alone: they are what is meant; so is a function that the lane unit
//! of its kernel lists, for that has an instruction. Scaling by a power of two, which some
//! expansions end with, is such a function, too.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{
    self, Builder, Context, Diagnostics, Mapping, Module, Op, Type, Val, attr, module_op, ty,
};

use crate::math::{POWER, SCALE, Wanted, has_function};

/// The pass.
pub const PASS: Pass = Pass {
    name: "device-expand-math",
    description: "Replace elementary functions by arithmetic",
    options: &[],
    statistics: &[("expanded", "operations replaced")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut work = Vec::new();
    for op in run.module.first_block(0).ok_or(Failed)?.ops() {
        if !op.is("device.machine") {
            let wanted = |op| Wanted::of(op).filter(|_| !listed(op));
            op.walk(&mut |inner| work.extend(wanted(inner)));
        }
    }
    let mut diag = Diagnostics::new();
    let mut library = Library { context: run.context, modules: Vec::new() };
    // An expansion may hold operations that have one: they come after it.
    let mut next = 0;
    while let Some(wanted) = work.get(next).copied() {
        expand(&mut library, wanted, &mut work, &mut diag);
        next += 1;
    }
    run.count("expanded", work.len() as u64);
    if diag.is_ok() { Ok(()) } else { Err(Failed) }
}

/// Returns whether the lane unit that a kernel runs on has an instruction for an elementary
/// function.
fn listed(op: Op<'_>) -> bool {
    let unit = op.ancestors().find_map(|around| {
        // In a device program every operation is listed. Of what is meant the code generator knows scaling,
        // and where lanes are threads the power of two.
        let name = match around.name() {
            "tile.compute" => around.attr("instruction"),
            "device.apply" if op.is(SCALE) || op.is(POWER) => around.attr("lanes_unit"),
            _ => None,
        };
        let machine = Machine::of(around)?;
        let unit = machine.lanes_unit(attr::symbol(name?)?)?;
        let threads = machine.memory(unit.memory()).is_some_and(|own| own.lanes().is_some());
        (around.is("tile.compute") || op.is(SCALE) || threads).then_some(unit)
    });
    unit.is_some_and(|unit| has_function(&unit, op))
}

/// Replaces an operation; what was copied and has expansions itself joins `work`.
fn expand<'c>(
    library: &mut Library<'c>,
    wanted: Wanted<'c>,
    work: &mut Vec<Wanted<'c>>,
    diag: &mut Diagnostics,
) {
    let (context, op) = (library.context, wanted.op);
    let ty = op.result(0).ty();
    let body = wanted.text().map(|text| library.parsed(text));
    if !wanted.native && body.is_none() {
        diag.error(op, format!("{} has no expansion on {ty}", op.name()))
            .help("the expansions are functions named `OPERATION_TYPE`, on f32 and f64");
        return;
    }
    let wide = if wanted.through_f32 { Type::float32(context) } else { op.operand(0).ty() };
    let mut b = Builder::before(context, op);
    let mut widened = |x: Val<'c>| match ty::is_float(x.ty()) {
        true => cast(&mut b, "arith.extf", x, wide),
        false => x,
    };
    let operands: Vec<_> = op.operands().into_iter().map(&mut widened).collect();
    let result = match body {
        Some(body) => inline(&mut b, body, &operands, work),
        None => b.op_with(op.name(), &operands, &[wide], &op.attrs(), 0).result(0),
    };
    let result = cast(&mut b, "arith.truncf", result, ty);
    op.result(0).replace_with(result);
    op.erase();
}

fn cast<'c>(b: &mut Builder<'c>, name: &str, x: Val<'c>, ty: Type<'c>) -> Val<'c> {
    if x.ty() == ty { x } else { b.op(name, &[x], &[ty]).result(0) }
}

/// Copies the body of a function of one result; the result.
fn inline<'c>(
    b: &mut Builder<'c>,
    func: Op<'c>,
    operands: &[Val<'c>],
    work: &mut Vec<Wanted<'c>>,
) -> Val<'c> {
    let body = func.first_block(0).expect("an expansion has a body");
    let mut map = Mapping::default();
    for (arg, &operand) in body.args().into_iter().zip(operands) {
        map.set(arg, operand);
    }
    let ops = body.ops();
    let (end, ops) = ops.split_last().expect("an expansion returns");
    for &op in ops {
        work.extend(Wanted::of(b.clone_op(op, &mut map)).filter(|wanted| !listed(wanted.op)));
    }
    map.get(end.operand(0))
}

/// The expansions asked for so far.
struct Library<'c> {
    context: &'c Context,
    modules: Vec<(&'static str, Module<'c>)>,
}

impl<'c> Library<'c> {
    /// The function that `text` holds.
    fn parsed(&mut self, text: &'static str) -> Op<'c> {
        let known = self.modules.iter().position(|(known, _)| std::ptr::eq(*known, text));
        let place = known.unwrap_or_else(|| {
            let module = ir::parse(self.context, text).expect("a test parses every expansion");
            self.modules.push((text, module));
            self.modules.len() - 1
        });
        let block = module_op(&self.modules[place].1).first_block(0);
        block.and_then(|block| block.ops().first().copied()).expect("the text is one function")
    }
}
