//! Replace elementary functions by arithmetic that every lane unit has.
//!
//! ```text
//! %r = math.exp %x : f32   ->   %t = math.fma %x, %log2e, %magic : f32 ...
//! ```
//!
//! The arithmetic is in `math/expansions.mlir`, one function per operation and
//! type, copied in place of the operation. f16 and bf16 go through f32, and f64
//! goes to them through an f32 that is rounded to odd, which keeps what the
//! second rounding needs to know. A machine's meanings and lowerings are left
//! alone: they are what is meant.

use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{
    self, Builder, Context, Diagnostics, Mapping, Module, Op, Type, Val, module_op, ty,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "device-expand-math",
    description: "Replace elementary functions by arithmetic",
    options: &[],
    statistics: &[("expanded", "operations replaced")],
    run,
};

const EXPANSIONS: &str = include_str!("math/expansions.mlir");

/// f64 to f32, where an inexact result has its last bit set.
const ROUND_TO_ODD: &str = "
func.func private @truncf_f64(%x: f64) -> f32 {
  %near = arith.truncf %x : f64 to f32
  %wide = arith.extf %near : f32 to f64
  %inexact = arith.cmpf one, %wide, %x : f64
  %wide_size = math.absf %wide : f64
  %size = math.absf %x : f64
  %short = arith.cmpf olt, %wide_size, %size : f64
  %bits = arith.bitcast %near : f32 to i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %last = arith.andi %bits, %one : i32
  %even = arith.cmpi eq, %last, %zero : i32
  %up = arith.addi %bits, %one : i32
  %down = arith.subi %bits, %one : i32
  %odd_bits = arith.select %short, %up, %down : i32
  %odd = arith.bitcast %odd_bits : i32 to f32
  %even_or_near = arith.select %even, %odd, %near : f32
  %r = arith.select %inexact, %even_or_near, %near : f32
  return %r : f32
}
";

/// Operations on floats for which processors have an instruction.
const NATIVE: [&str; 8] = ["fma", "sqrt", "absf", "copysign", "floor", "ceil", "trunc", "roundeven"];

/// Operations that need no expansion whatever the type of their operand.
const BITWISE: [&str; 6] = ["absi", "ctlz", "cttz", "ctpop", "isnan", "isinf"];

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut found = Vec::new();
    for op in run.module.first_block(0).ok_or(Failed)?.ops() {
        if !op.is("device.machine") {
            op.walk(&mut |inner| found.extend(name_of(inner).map(|name| (inner, name))));
        }
    }
    let mut diag = Diagnostics::new();
    let mut library = Library { context: run.context, parsed: Vec::new() };
    for (op, name) in found {
        if expand(&mut library, op, name, &mut diag) {
            run.count("expanded", 1);
        }
    }
    if diag.is_ok() { Ok(()) } else { Err(Failed) }
}

/// Whether the pass gives `op` a form that every lane unit has.
pub fn expands(op: Op<'_>) -> bool {
    let Some(name) = name_of(op) else { return false };
    let ty = op.result(0).ty();
    let wide = if ty::bits(ty) == Some(16) { "f32".to_owned() } else { ty.to_string() };
    NATIVE.contains(&name) || function_text(&format!("{name}_{wide}")).is_some()
}

/// The name of a scalar operation that may need an expansion.
fn name_of(op: Op<'_>) -> Option<&str> {
    let name = match op.name() {
        // LLVM knows it as a call only.
        "arith.remf" => "remf",
        "arith.truncf" if is_narrow(op.result(0).ty()) && ty::bits(op.operand(0).ty()) == Some(64) => "truncf",
        name => name.strip_prefix("math.")?,
    };
    let scalar = op.results().iter().all(|result| ty::bits(result.ty()).is_some());
    (scalar && !BITWISE.contains(&name)).then_some(name)
}

/// Replaces `op`; false where it stays as it is.
fn expand<'c>(library: &mut Library<'c>, op: Op<'c>, name: &str, diag: &mut Diagnostics) -> bool {
    let context = library.context;
    let ty = op.result(0).ty();
    let wide = match name {
        "truncf" => op.operand(0).ty(),
        _ if is_narrow(ty) => Type::float32(context),
        _ => ty,
    };
    let native = NATIVE.contains(&name);
    if native && wide == ty {
        return false;
    }
    let body = if native { None } else { library.find(name, wide) };
    if !native && body.is_none() {
        diag.error(op, format!("{} has no expansion on {ty}", op.name()))
            .help("the expansions are functions named `OPERATION_TYPE`, on f32 and f64");
        return false;
    }
    let mut b = Builder::before(context, op);
    let operands: Vec<_> = op.operands().into_iter().map(|x| cast(&mut b, "arith.extf", x, wide)).collect();
    let result = match body {
        Some(body) => inline(&mut b, body, &operands),
        None => b.op_with(op.name(), &operands, &[wide], &op.attrs(), 0).result(0),
    };
    let result = cast(&mut b, "arith.truncf", result, ty);
    op.result(0).replace_with(result);
    op.erase();
    true
}

/// Whether the type is f16 or bf16.
fn is_narrow(ty: Type<'_>) -> bool {
    ty::is_float(ty) && ty::bits(ty) == Some(16)
}

fn cast<'c>(b: &mut Builder<'c>, name: &str, x: Val<'c>, ty: Type<'c>) -> Val<'c> {
    if x.ty() == ty { x } else { b.op(name, &[x], &[ty]).result(0) }
}

/// Copies the body of a function of one result; the result.
fn inline<'c>(b: &mut Builder<'c>, func: Op<'c>, operands: &[Val<'c>]) -> Val<'c> {
    let body = func.first_block(0).expect("an expansion has a body");
    let mut map = Mapping::default();
    for (arg, &operand) in body.args().into_iter().zip(operands) {
        map.set(arg, operand);
    }
    let (end, ops) = body.ops().split_last().map(|(end, ops)| (*end, ops.to_vec())).expect("an expansion returns");
    for op in ops {
        // What is copied was written where it is copied to.
        b.clone_op(op, &mut map);
    }
    map.get(end.operand(0))
}

/// The expansions asked for so far.
struct Library<'c> {
    context: &'c Context,
    parsed: Vec<(String, Module<'c>)>,
}

impl<'c> Library<'c> {
    /// The function `name_ty`.
    fn find(&mut self, name: &str, ty: Type<'c>) -> Option<Op<'c>> {
        let symbol = format!("{name}_{ty}");
        let known = self.parsed.iter().position(|(known, _)| *known == symbol);
        let known = match known {
            Some(known) => known,
            None => {
                let text = function_text(&symbol)?;
                let module = ir::parse(self.context, text).expect("the expansions are valid");
                self.parsed.push((symbol, module));
                self.parsed.len() - 1
            }
        };
        module_op(&self.parsed[known].1).first_block(0)?.ops().first().copied()
    }
}

/// The text of one function: functions call nothing, so each parses alone.
fn function_text(symbol: &str) -> Option<&'static str> {
    let head = format!("func.func private @{symbol}(");
    let text = [EXPANSIONS, ROUND_TO_ODD].into_iter().find_map(|text| Some(&text[text.find(&head)?..]))?;
    let end = text.find("\n}\n").map_or(text.len(), |end| end + 3);
    Some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expansion_parses_alone() {
        let context = ir::context();
        let names = EXPANSIONS.split("func.func private @").skip(1);
        for name in names.filter_map(|text| text.split_once('(').map(|(name, _)| name)) {
            let text = function_text(name).expect("the function is there");
            assert!(ir::parse(&context, text).is_ok(), "{name}");
        }
    }
}
