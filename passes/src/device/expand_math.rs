//! Replace elementary functions by arithmetic that every lane unit has.
//!
//! ```text
//! %r = math.exp %x : f32   ->   %t = math.fma %x, %log2e, %magic : f32 ...
//! ```
//!
//! The arithmetic is in `math/`, one function per operation and type, copied in
//! place of the operation. f16 and bf16 go through f32. A machine's meanings and
//! lowerings are left alone: they are what is meant; so is a function that the lane unit
//! of its kernel lists, for that has an instruction. Scaling by a power of two, which some
//! expansions end with, is such a function, too.

use weft_dialects::device::{Lanes, Machine};
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{
    self, Builder, Context, Diagnostics, Mapping, Module, Op, Type, Val, attr, module_op, ty,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "device-expand-math",
    description: "Replace elementary functions by arithmetic",
    options: &[],
    statistics: &[("expanded", "operations replaced")],
    run,
};

/// Functions by `@OPERATION_TYPE`.
const EXPANSIONS: [&str; 2] =
    [include_str!("math/expansions.mlir"), include_str!("math/arith.mlir")];

/// Operations on floats for which processors have an instruction.
const NATIVE: [&str; 8] =
    ["fma", "sqrt", "absf", "copysign", "floor", "ceil", "trunc", "roundeven"];

/// A float times a power of two.
const SCALE: &str = "llvm.intr.ldexp";

/// Operations that need no expansion whatever the type of their operand.
const BITWISE: [&str; 6] = ["absi", "ctlz", "cttz", "ctpop", "isnan", "isinf"];

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
        // In a device program every operation is listed, so only scaling is known to be meant.
        let name = match around.name() {
            "tile.compute" => around.attr("instruction"),
            "device.apply" if op.is(SCALE) => around.attr("lanes_unit"),
            _ => None,
        };
        Machine::of(around)?.lanes_unit(attr::symbol(name?)?)
    });
    unit.is_some_and(|unit| has_function(&unit, op))
}

/// Returns whether a lane unit applies `op` by itself, and `op` is an elementary function.
pub fn has_function<'c>(unit: &Lanes<'c>, op: Op<'c>) -> bool {
    let function = op.name().strip_prefix("math.");
    let elementary = |name| !NATIVE.contains(&name) && !BITWISE.contains(&name);
    (op.is(SCALE) || function.is_some_and(elementary))
        && op.results().iter().all(|result| unit.supports(op.name(), result.ty()))
}

/// Returns whether the pass gives `op` a form that every lane unit has.
pub fn expands(op: Op<'_>) -> bool {
    Wanted::of(op).is_some_and(|wanted| wanted.native || wanted.text().is_some())
}

/// Cycles that a lane unit issues for an operation on one register, or for what it is replaced by,
/// of which an operation that is replaced in turn counts as one.
pub fn cycles<'c>(unit: &Lanes<'c>, op: Op<'c>) -> f64 {
    let wanted = Wanted::of(op).filter(|_| !has_function(unit, op));
    match wanted.and_then(|wanted| wanted.text()) {
        Some(text) => operations(text).map(|name| unit.cycles_of(name)).sum(),
        None => unit.cycles_of(op.name()),
    }
}

/// The names of the operations in the text of a function, but for those that nothing is issued for.
fn operations(text: &str) -> impl Iterator<Item = &str> {
    let names = text
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(_, rest)| rest.split([' ', '(']).next().unwrap_or(""));
    names.filter(|name| *name != "arith.constant")
}

/// An operation on scalars that cannot stay as it is.
#[derive(Clone, Copy)]
struct Wanted<'c> {
    op: Op<'c>,
    /// Its name without the dialect.
    name: &'c str,
    /// True if it is done on f32, and its result narrowed.
    through_f32: bool,
    /// True if it has an instruction on the type that it is done on.
    native: bool,
}

impl<'c> Wanted<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let result = op.results().first()?.ty();
        let operand = op.operands().first()?.ty();
        let narrow = ty::is_float(result) && ty::bits(result) == Some(16);
        let name = match op.name() {
            // LLVM knows both as calls only.
            "arith.remf" => "remf",
            SCALE => "ldexp",
            "arith.truncf" if narrow && ty::bits(operand) == Some(64) => "truncf",
            name => name.strip_prefix("math.")?,
        };
        let native = NATIVE.contains(&name);
        let through_f32 = narrow && operand == result;
        let stays = BITWISE.contains(&name) || ty::bits(result).is_none() || native && !through_f32;
        (!stays).then_some(Self { op, name, through_f32, native })
    }

    /// The text of its expansion.
    fn text(&self) -> Option<&'static str> {
        let ty =
            if self.through_f32 { "f32".to_owned() } else { self.op.operand(0).ty().to_string() };
        function_text(&format!("{}_{ty}", self.name))
    }
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

/// The text of one function: functions call nothing, so each parses alone.
fn function_text(symbol: &str) -> Option<&'static str> {
    let head = format!("func.func private @{symbol}(");
    let text = EXPANSIONS.into_iter().find_map(|text| Some(&text[text.find(&head)?..]))?;
    let end = text.find("\n}\n").map_or(text.len(), |end| end + 3);
    Some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_takes_what_its_operations_take() {
        let context = ir::context();
        let text = "
            device.machine @toy arch(\"toy\") features([]) {
              device.memory @dram scope(\"device\") capacity_bytes(65536)
              device.memory @vreg scope(\"thread\") capacity_bytes(512) register_bytes(16)
              device.unit @core count(2)
              device.lanes @valu on @core in @vreg issue_cycles(0.5) latency_cycles(1)
                types([f32]) operations([\"arith.divf\", \"math.sin\"]) reductions([])
                operation_cycles({arith.divf = 10.0, math.sin = 3.0})
            }
            func.func @f(%x: f32, %y: f32) {
              %a = arith.addf %x, %y : f32
              %b = arith.divf %x, %y : f32
              %c = math.sin %x : f32
              %d = math.exp %x : f32
              %e = math.tanh %x : f32
              %f = math.sqrt %x : f32
              return
            }";
        let module = ir::parse(&context, text).expect("it parses");
        let ops = module_op(&module).body(0).expect("a block").ops();
        let unit = Machine::new(ops[0]).lanes_units().remove(0);
        let body = ops[1].body(0).expect("a body").ops();
        let cycles: Vec<f64> = body[..6].iter().map(|op| cycles(&unit, *op)).collect();
        // `exp` has 17 operations beside its constants, none of them a division; `tanh` has some.
        let issued = |name: &str| {
            let text = function_text(name).expect("an expansion");
            let lines = text.lines().filter(|line| line.contains(" = "));
            lines.filter(|line| !line.contains("arith.constant")).count() as f64
        };
        let divisions =
            function_text("tanh_f32").expect("one").matches("arith.divf").count() as f64;
        let tanh = 0.5 * (issued("tanh_f32") - divisions) + 10.0 * divisions;
        assert_eq!(cycles, [0.5, 10.0, 3.0, 0.5 * 17.0, tanh, 8.0 * 0.5]);
        assert!(divisions > 0.0, "tanh divides");
    }

    #[test]
    fn every_expansion_parses_alone() {
        let context = ir::context();
        let names = EXPANSIONS.iter().flat_map(|text| text.split("func.func private @").skip(1));
        for name in names.filter_map(|text| text.split_once('(').map(|(name, _)| name)) {
            let text = function_text(name).expect("the function is there");
            assert!(ir::parse(&context, text).is_ok(), "{name}");
        }
    }
}
