//! Elementary functions as `device-expand-math` writes them, within 4 ulp of the
//! true value on f32: the bound that `expansions.mlir` states.
//!
//! Arguments are spread over all bit patterns, so over every exponent and both
//! signs; the reference is calculated in f64.

use weft_dialects::ir::{context, module_op, parse};
use weft_passes::device::expand_math;
use weft_passes::interpret::Compiled;

/// Bit patterns from one argument to the next: prime, so that mantissas differ too.
const STRIDE: u32 = 30_011;

/// The largest difference allowed, in units in the last place.
const LIMIT: f64 = 4.0;

/// Name, the true value, and up to which magnitude the bound is stated.
type Function = (&'static str, fn(f64) -> f64, f32);

const FUNCTIONS: [Function; 24] = [
    ("exp", libm::exp, f32::INFINITY),
    ("exp2", libm::exp2, f32::INFINITY),
    ("expm1", libm::expm1, f32::INFINITY),
    ("log", libm::log, f32::INFINITY),
    ("log2", libm::log2, f32::INFINITY),
    ("log10", libm::log10, f32::INFINITY),
    ("log1p", libm::log1p, f32::INFINITY),
    ("tanh", libm::tanh, f32::INFINITY),
    ("erf", libm::erf, f32::INFINITY),
    ("erfc", libm::erfc, f32::INFINITY),
    ("sin", libm::sin, 1e5),
    ("cos", libm::cos, 1e5),
    ("tan", libm::tan, 1e5),
    ("asin", libm::asin, f32::INFINITY),
    ("acos", libm::acos, f32::INFINITY),
    ("atan", libm::atan, f32::INFINITY),
    ("sinh", libm::sinh, f32::INFINITY),
    ("cosh", libm::cosh, f32::INFINITY),
    ("asinh", libm::asinh, f32::INFINITY),
    ("acosh", f64::acosh, f32::INFINITY),
    ("atanh", libm::atanh, f32::INFINITY),
    ("cbrt", libm::cbrt, f32::INFINITY),
    ("rsqrt", |x| 1.0 / x.sqrt(), f32::INFINITY),
    ("round", libm::round, f32::INFINITY),
];

#[test]
fn functions_are_within_four_ulp() {
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX];
    let spread = (0..=u32::MAX / STRIDE).map(|step| f32::from_bits(step * STRIDE));
    let arguments: Vec<f32> = special.into_iter().chain(spread).collect();
    for (name, truth, reach) in FUNCTIONS {
        let results = expanded(name, &arguments);
        let mut worst = (0.0, 0.0);
        for (&argument, result) in arguments.iter().zip(results) {
            if argument.is_finite() && argument.abs() > reach {
                continue;
            }
            let truth = truth(f64::from(argument));
            // The one function that has no subnormal results, nor the least normal ones, as
            // `expansions.mlir` says.
            let least = (-125.5_f64).exp2();
            if name == "exp" && truth < least {
                assert!(result == 0.0, "exp({argument:e}) is {result:e}");
                continue;
            }
            let error = ulps(result, truth);
            if error > worst.0 {
                worst = (error, argument);
            }
        }
        let (error, argument) = worst;
        assert!(error <= LIMIT, "{name}({argument:e}) is {error:.2} ulp off");
    }
}

/// The function on every argument: expanded, then interpreted.
fn expanded(name: &str, arguments: &[f32]) -> Vec<f32> {
    let context = context();
    let count = arguments.len();
    let module = parse(
        &context,
        &format!(
            "func.func @f(%x: tensor<{count}xf32>) -> tensor<{count}xf32> {{
               %e = tensor.empty() : tensor<{count}xf32>
               %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                                     iterator_types = [\"parallel\"]}}
                    ins(%x : tensor<{count}xf32>) outs(%e : tensor<{count}xf32>) {{
               ^bb0(%a: f32, %b: f32):
                 %y = math.{name} %a : f32
                 linalg.yield %y : f32
               }} -> tensor<{count}xf32>
               return %r : tensor<{count}xf32>
             }}"
        ),
    )
    .expect("the function is valid");
    let op = module_op(&module);
    expand_math::PASS.apply(&context, op, &[]).expect("the function has an expansion");
    let function = op.body(0).expect("a module has a block").ops()[0];
    assert!(!function.text().contains(&format!("math.{name} ")), "{name} was not expanded");
    let bytes: Vec<u8> = arguments.iter().flat_map(|argument| argument.to_le_bytes()).collect();
    let compiled = Compiled::of(function).expect("the function is a payload");
    let results = compiled.run(&[&bytes]).expect("the function runs").remove(0);
    results
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
        .collect()
}

/// How far `got` is from `truth`, in units in the last place of the nearest f32.
fn ulps(got: f32, truth: f64) -> f64 {
    let nearest = truth as f32;
    if nearest.is_nan() || got.is_nan() {
        return if nearest.is_nan() == got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if nearest == got {
        return 0.0;
    }
    if nearest.is_infinite() || got.is_infinite() {
        // The largest number and infinity are neighbours.
        let finite = if got.is_infinite() { nearest } else { got };
        let edge = finite.abs() >= f32::MAX && finite.signum() == nearest.signum();
        return if edge { 1.0 } else { f64::INFINITY };
    }
    let exponent = (nearest.to_bits() >> 23 & 0xff) as i32;
    let unit = 2f64.powi(exponent.max(1) - 150);
    (f64::from(got) - truth).abs() / unit
}
