// RUN: weft-opt %s --device-expand-math --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @elementary
//   CHECK-NOT:   math.exp
//       CHECK:   math.fma
func.func @elementary(%x: f32) -> f32 {
  %r = math.exp %x : f32
  return %r : f32
}

// A processor has this one.
// CHECK-LABEL: @native
//       CHECK:   math.sqrt %{{.+}} : f32
func.func @native(%x: f32) -> f32 {
  %r = math.sqrt %x : f32
  return %r : f32
}

// Narrow floats go through f32.
// CHECK-LABEL: @narrow
//       CHECK:   %[[WIDE:.+]] = arith.extf %{{.+}} : f16 to f32
//       CHECK:   %[[ROOT:.+]] = math.sqrt %[[WIDE]] : f32
//       CHECK:   arith.truncf %[[ROOT]] : f32 to f16
func.func @narrow(%x: f16) -> f16 {
  %r = math.sqrt %x : f16
  return %r : f16
}

// Rounding twice must give what rounding once gives: to an odd f32 first.
// CHECK-LABEL: @rounds_once
//       CHECK:   arith.truncf %{{.+}} : f64 to f32
//       CHECK:   arith.cmpf one
//       CHECK:   arith.truncf %{{.+}} : f32 to f16
func.func @rounds_once(%x: f64) -> f16 {
  %r = arith.truncf %x : f64 to f16
  return %r : f16
}

// An expansion may hold what has one itself.
// CHECK-LABEL: @remainder
//   CHECK-NOT:   arith.remf
func.func @remainder(%x: f32, %y: f32) -> f32 {
  %r = arith.remf %x, %y : f32
  return %r : f32
}

// -----

func.func @unknown(%x: f32, %n: i32) -> f32 {
  // expected-error @+2 {{math.fpowi has no expansion on f32}}
  // expected-note @+1 {{the expansions are functions named `OPERATION_TYPE`}}
  %r = math.fpowi %x, %n : f32, i32
  return %r : f32
}
