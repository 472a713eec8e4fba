//! Elementary functions as arithmetic that every lane unit has.
//!
//! One function per operation and type, in `expansions.mlir` and `arith.mlir`: what
//! `device-expand-math` puts in the place of an operation, and so what that costs.

use weft_dialects::device::Lanes;
use weft_dialects::ir::{Op, ty};

/// Functions by `@OPERATION_TYPE`.
const EXPANSIONS: [&str; 2] = [include_str!("expansions.mlir"), include_str!("arith.mlir")];

/// Operations on floats for which processors have an instruction.
const NATIVE: [&str; 8] =
    ["fma", "sqrt", "absf", "copysign", "floor", "ceil", "trunc", "roundeven"];

/// A float times a power of two.
pub(crate) const SCALE: &str = "llvm.intr.ldexp";

/// The power of two.
pub(crate) const POWER: &str = "math.exp2";

/// Operations that need no expansion whatever the type of their operand.
const BITWISE: [&str; 6] = ["absi", "ctlz", "cttz", "ctpop", "isnan", "isinf"];

/// Returns whether a lane unit applies `op` by itself, and `op` is an elementary function.
pub(crate) fn has_function<'c>(unit: &Lanes<'c>, op: Op<'c>) -> bool {
    let function = op.name().strip_prefix("math.");
    let elementary = |name| !NATIVE.contains(&name) && !BITWISE.contains(&name);
    (op.is(SCALE) || function.is_some_and(elementary))
        && op.results().iter().all(|result| unit.supports(op.name(), result.ty()))
}

/// Returns whether `device-expand-math` gives `op` a form that every lane unit has.
pub(crate) fn expands(op: Op<'_>) -> bool {
    Wanted::of(op).is_some_and(|wanted| wanted.native || wanted.text().is_some())
}

/// Cycles that a lane unit issues for an operation on one register, or for what it is replaced by,
/// of which an operation that is replaced in turn counts as one.
pub(crate) fn cycles<'c>(unit: &Lanes<'c>, op: Op<'c>) -> f64 {
    let wanted = Wanted::of(op).filter(|_| !has_function(unit, op));
    match wanted.and_then(|wanted| wanted.text()) {
        Some(text) => operations(text).map(|name| unit.cycles_of(name)).sum(),
        None => unit.cycles_of(op.name()),
    }
}

/// The registers that hold what an operation, or what it is replaced by, takes beside its operands.
pub(crate) fn constants<'c>(unit: &Lanes<'c>, op: Op<'c>) -> u64 {
    let wanted = Wanted::of(op).filter(|_| !has_function(unit, op));
    let text = wanted.and_then(|wanted| wanted.text()).unwrap_or_default();
    // Those of integers are parts of instructions.
    let floats = |line: &&str| line.contains(" = arith.constant ") && line.contains(" : f");
    text.lines().filter(floats).count() as u64
}

/// The names of the operations in the text of a function, but for those that nothing is issued for.
fn operations(text: &str) -> impl Iterator<Item = &str> {
    let names = text
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(_, rest)| rest.split([' ', '(']).next().unwrap_or(""));
    names.filter(|name| !["arith.constant", "arith.bitcast"].contains(name))
}

/// An operation on scalars that cannot stay as it is.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'c> {
    pub op: Op<'c>,
    /// Its name without the dialect.
    name: &'c str,
    /// True if it is done on f32, and its result narrowed.
    pub through_f32: bool,
    /// True if it has an instruction on the type that it is done on.
    pub native: bool,
}

impl<'c> Wanted<'c> {
    pub fn of(op: Op<'c>) -> Option<Self> {
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
    pub fn text(&self) -> Option<&'static str> {
        let ty =
            if self.through_f32 { "f32".to_owned() } else { self.op.operand(0).ty().to_string() };
        function_text(&format!("{}_{ty}", self.name))
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
    use weft_dialects::device::Machine;
    use weft_dialects::ir::{self, module_op};

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
        // `exp` has 15 operations beside constants and bits that are read as another type, none of
        // them a division; `tanh` has some.
        let issued = |name: &str| {
            let text = function_text(name).expect("an expansion");
            let lines = text.lines().filter(|line| line.contains(" = "));
            let free = |line: &&str| ["constant", "bitcast"].iter().any(|name| line.contains(name));
            lines.filter(|line| !free(line)).count() as f64
        };
        let divisions =
            function_text("tanh_f32").expect("one").matches("arith.divf").count() as f64;
        let tanh = 0.5 * (issued("tanh_f32") - divisions) + 10.0 * divisions;
        assert_eq!(cycles, [0.5, 10.0, 3.0, 0.5 * 15.0, tanh, 8.0 * 0.5]);
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
