//! `check-eval`: functions against the answers written beside them.
//!
//! ```mlir
//! func.func @wraps() -> tensor<1xi8> attributes {check.expect = [dense<-128> : tensor<1xi8>]} {
//!   %x = arith.constant dense<127> : tensor<1xi8>
//!   %y = arith.constant dense<1> : tensor<1xi8>
//!   %r = arith.addi %x, %y : tensor<1xi8>
//!   return %r : tensor<1xi8>
//! }
//! ```
//!
//! Every function that says `check.expect` is evaluated. Its results must be the literals bit
//! for bit, where any NaN is as good as another. With `check.tolerance = 1.0e-6 : f64`, floats
//! may be off by that much, or by that share of the expected number if it is above one. A
//! module in which no function says what it expects is an error: it would check nothing.

use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Attribute, Op, Report, Type, attr, ty};
use weft_runtime::vm::{Scalar, Ty};

use super::payload::Compiled;
use super::scalar::element_type;

/// The pass.
pub const PASS: Pass = Pass {
    name: "check-eval",
    description: "Evaluate functions and compare their results with check.expect",
    options: &[],
    statistics: &[("functions", "functions whose results were compared")],
    run,
};

const EXPECT: &str = "check.expect";
const TOLERANCE: &str = "check.tolerance";

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut functions = Vec::new();
    run.module.walk(&mut |op| functions.extend(op.attr(EXPECT).map(|expect| (op, expect))));
    if functions.is_empty() {
        Report::new(run.module.location(), "check-eval found nothing to check")
            .help("write `attributes {check.expect = [dense<…> : tensor<…>]}` on a func.func");
        return Err(Failed);
    }
    run.count("functions", functions.len() as u64);
    // Every failure is worth seeing.
    let failed = functions.into_iter().filter(|(op, expect)| check(*op, *expect).is_err()).count();
    if failed == 0 { Ok(()) } else { Err(Failed) }
}

/// Evaluates one function and compares all its results.
fn check(op: Op<'_>, expect: Attribute<'_>) -> Result<(), Failed> {
    let name = format!("@{}", op.symbol());
    let refuse = |message: String, help: &str| {
        Report::new(op.location(), message).help(help);
        Failed
    };
    let expected = attr::array(expect).ok_or_else(|| {
        refuse(format!("{EXPECT} of {name} is no list"), "one dense literal per result")
    })?;
    let signature = op.attr("function_type").and_then(attr::type_of).and_then(ty::function);
    let (inputs, types) = signature.ok_or_else(|| {
        refuse(format!("{name} is no function"), "write check.expect on a func.func")
    })?;
    if !inputs.is_empty() {
        let message = format!("{name} takes arguments");
        return Err(refuse(message, "write its inputs as arith.constant in the body"));
    }
    if types.len() != expected.len() {
        let message =
            format!("{name} returns {} results, and {} are expected", types.len(), expected.len());
        return Err(refuse(message, "one dense literal per result"));
    }
    let compiled = Compiled::of(op).map_err(|error| {
        refuse(format!("{name} cannot be evaluated: {error}"), "see passes/src/interpret/mod.rs")
    })?;
    let results = compiled.run(&[]).map_err(|error| {
        refuse(format!("{name} stopped: {error}"), "an index or a divisor is out of range")
    })?;
    let tolerance = op.attr(TOLERANCE).and_then(attr::float).unwrap_or(0.0);
    for (number, ((got, ty), literal)) in results.iter().zip(types).zip(expected).enumerate() {
        // A number is expected as a tensor of rank 0.
        let ty = if ty::is_tensor(ty) { ty } else { ty::tensor(&[], ty) };
        let want = attr::dense_bytes(literal).filter(|want| want.len() == got.len());
        let want =
            want.filter(|_| literal_type(literal) == Some(ty.to_string())).ok_or_else(|| {
                refuse(
                    format!("result {number} of {name} is a {ty}, expected {literal}"),
                    "expect a literal of the same type",
                )
            })?;
        if let Some(message) = difference(ty, got, &want, tolerance) {
            return Err(refuse(
                format!("result {number} of {name}{message}"),
                "this is the first element that differs",
            ));
        }
    }
    Ok(())
}

/// The type at the end of a literal's text.
fn literal_type(literal: Attribute<'_>) -> Option<String> {
    literal.to_string().rsplit_once(" : ").map(|(_, ty)| ty.to_owned())
}

/// Names the first element that differs.
fn difference(ty: Type<'_>, got: &[u8], want: &[u8], tolerance: f64) -> Option<String> {
    let element = element_type(ty::elem(ty)?)?;
    let size = element.bytes();
    let pairs = got
        .chunks_exact(size)
        .zip(want.chunks_exact(size))
        .map(|(got, want)| (scalar(element, got), scalar(element, want)));
    let (at, (got, want)) =
        pairs.enumerate().find(|(_, (got, want))| !agree(*got, *want, tolerance))?;
    let index = position(at as u64, &ty::shape(ty)?);
    Some(format!(" at {index:?} is {}, expected {}", show(got), show(want)))
}

fn scalar(ty: Ty, bytes: &[u8]) -> Scalar {
    let mut bits = [0; 8];
    bits[..bytes.len()].copy_from_slice(bytes);
    Scalar { ty, bits: u64::from_le_bytes(bits) }
}

fn agree(got: Scalar, want: Scalar, tolerance: f64) -> bool {
    if got.bits == want.bits {
        return true;
    }
    if !got.ty.is_float() {
        return false;
    }
    let (got, want) = (got.as_f64(), want.as_f64());
    (got.is_nan() && want.is_nan())
        || (tolerance > 0.0 && (got - want).abs() <= tolerance * want.abs().max(1.0))
}

fn show(scalar: Scalar) -> String {
    if scalar.ty.is_float() {
        format!("{:?} (0x{:0width$X})", scalar.as_f64(), scalar.bits, width = 2 * scalar.ty.bytes())
    } else {
        scalar.as_i64().to_string()
    }
}

/// The index of the element that is number `at` in row-major order.
fn position(mut at: u64, shape: &[u64]) -> Vec<u64> {
    let mut index: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&dim| {
            let here = at % dim;
            at /= dim;
            here
        })
        .collect();
    index.reverse();
    index
}
