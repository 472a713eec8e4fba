// Loops and branches that carry numbers and tensors.
// RUN: weft-opt %s --check-eval

// x[n[i]] += v[i], the last of equal places included.
func.func @scatter_add() -> (tensor<4xi32>, tensor<4xi32>) attributes {check.expect = [
    dense<[11, 2, 53, 4]> : tensor<4xi32>, dense<[1, 2, 3, 4]> : tensor<4xi32>]} {
  %x = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %n = arith.constant dense<[2, 0, 2]> : tensor<3xindex>
  %v = arith.constant dense<[20, 10, 30]> : tensor<3xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x) -> tensor<4xi32> {
    %at = tensor.extract %n[%i] : tensor<3xindex>
    %add = tensor.extract %v[%i] : tensor<3xi32>
    %old = tensor.extract %t[%at] : tensor<4xi32>
    %new = arith.addi %old, %add : i32
    %next = tensor.insert %new into %t[%at] : tensor<4xi32>
    scf.yield %next : tensor<4xi32>
  }
  return %r, %x : tensor<4xi32>, tensor<4xi32>
}

// Both carried values are read before either is written.
func.func @swap() -> (tensor<2xi8>, tensor<2xi8>, i32) attributes {check.expect = [
    dense<2> : tensor<2xi8>, dense<1> : tensor<2xi8>, dense<12> : tensor<i32>]} {
  %x = arith.constant dense<1> : tensor<2xi8>
  %y = arith.constant dense<2> : tensor<2xi8>
  %low = arith.constant 3 : i32
  %high = arith.constant 8 : i32
  %step = arith.constant 2 : i32
  %zero = arith.constant -3 : i32
  %r:3 = scf.for %i = %low to %high step %step iter_args(%a = %x, %b = %y, %n = %zero)
      -> (tensor<2xi8>, tensor<2xi8>, i32) : i32 {
    %m = arith.addi %n, %i : i32
    scf.yield %b, %a, %m : tensor<2xi8>, tensor<2xi8>, i32
  }
  return %r#0, %r#1, %r#2 : tensor<2xi8>, tensor<2xi8>, i32
}

// The largest element and its place.
func.func @branches() -> (f32, index) attributes {check.expect = [
    dense<9.0> : tensor<f32>, dense<2> : tensor<index>]} {
  %x = arith.constant dense<[3.0, 1.0, 9.0, 5.0]> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %least = arith.constant 0xFF800000 : f32
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%best = %least, %at = %c0) -> (f32, index) {
    %v = tensor.extract %x[%i] : tensor<4xf32>
    %more = arith.cmpf ogt, %v, %best : f32
    %b:2 = scf.if %more -> (f32, index) {
      scf.yield %v, %i : f32, index
    } else {
      scf.yield %best, %at : f32, index
    }
    scf.yield %b#0, %b#1 : f32, index
  }
  return %r#0, %r#1 : f32, index
}

// Bubble sort: a loop in a loop in a while, in place.
func.func @sort() -> tensor<5xi32> attributes {check.expect = [
    dense<[1, 2, 3, 4, 5]> : tensor<5xi32>]} {
  %x = arith.constant dense<[5, 3, 4, 1, 2]> : tensor<5xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %yes = arith.constant true
  %no = arith.constant false
  %r:2 = scf.while (%t = %x, %again = %yes) : (tensor<5xi32>, i1) -> (tensor<5xi32>, i1) {
    scf.condition(%again) %t, %again : tensor<5xi32>, i1
  } do {
  ^bb0(%t: tensor<5xi32>, %again: i1):
    %s:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%u = %t, %moved = %no) -> (tensor<5xi32>, i1) {
      %j = arith.addi %i, %c1 : index
      %a = tensor.extract %u[%i] : tensor<5xi32>
      %b = tensor.extract %u[%j] : tensor<5xi32>
      %wrong = arith.cmpi sgt, %a, %b : i32
      %v:2 = scf.if %wrong -> (tensor<5xi32>, i1) {
        %p = tensor.insert %b into %u[%i] : tensor<5xi32>
        %q = tensor.insert %a into %p[%j] : tensor<5xi32>
        scf.yield %q, %yes : tensor<5xi32>, i1
      } else {
        scf.yield %u, %moved : tensor<5xi32>, i1
      }
      scf.yield %v#0, %v#1 : tensor<5xi32>, i1
    }
    scf.yield %s#0, %s#1 : tensor<5xi32>, i1
  }
  return %r#0 : tensor<5xi32>
}

// A loop without rounds gives what it starts from.
func.func @no_rounds() -> tensor<2xi32> attributes {check.expect = [
    dense<[1, 2]> : tensor<2xi32>]} {
  %x = arith.constant dense<[1, 2]> : tensor<2xi32>
  %y = arith.constant dense<0> : tensor<2xi32>
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c5 to %c1 step %c1 iter_args(%t = %x) -> tensor<2xi32> {
    scf.yield %y : tensor<2xi32>
  }
  return %r : tensor<2xi32>
}
