// Operations of `arith` that no processor has, in the form of `expansions.mlir`: `@NAME_TYPE` computes `arith.NAME`
// on a value of TYPE.

// f64 to f32, rounded to odd: an inexact result has its last bit set, so that rounding it again, to f16 or bf16, gives
// what rounding once would have given.
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

// x - trunc(x / y) y, exact while the quotient is below 2^53; zero beyond.
func.func private @remf_f64(%x: f64, %y: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %ax = math.absf %x : f64
  %ay = math.absf %y : f64
  %quotient = arith.divf %ax, %ay : f64
  %whole = math.trunc %quotient : f64
  %minus = arith.negf %whole : f64
  %0 = math.fma %minus, %ay, %ax : f64
  // The quotient may have been rounded to the next whole number, either way.
  %below = arith.cmpf olt, %0, %zero : f64
  %1 = arith.addf %0, %ay : f64
  %2 = arith.select %below, %1, %0 : f64
  %above = arith.cmpf oge, %2, %ay : f64
  %3 = arith.subf %2, %ay : f64
  %4 = arith.select %above, %3, %2 : f64
  // Written so that NaN stays.
  %low = arith.cmpf olt, %4, %zero : f64
  %high = arith.cmpf oge, %4, %ay : f64
  %lost = arith.ori %low, %high : i1
  %5 = arith.select %lost, %zero, %4 : f64
  // Not `math.copysign`: LLVM narrows that, and calls a helper that is not there for f16.
  %negative = arith.cmpf olt, %x, %zero : f64
  %minus_5 = arith.negf %5 : f64
  %6 = arith.select %negative, %minus_5, %5 : f64
  // A finite number is its own remainder by infinity.
  %finite = arith.cmpf olt, %ax, %inf : f64
  %by_inf = arith.cmpf oeq, %ay, %inf : f64
  %whole_x = arith.andi %finite, %by_inf : i1
  %7 = arith.select %whole_x, %x, %6 : f64
  return %7 : f64
}

// As f64, which holds every remainder of f32.
func.func private @remf_f32(%a: f32, %b: f32) -> f32 {
  %x = arith.extf %a : f32 to f64
  %y = arith.extf %b : f32 to f64
  %r = arith.remf %x, %y : f64
  %s = arith.truncf %r : f64 to f32
  return %s : f32
}
