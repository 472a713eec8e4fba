//! What kernels compute.

use super::*;

#[test]
fn multiplies_matrices() {
    for bytes in sizes() {
        let (k, rows, n) = (37, if bytes == 64 { 12 } else { 6 }, bytes / 2);
        let code = Code::new(&gemm(bytes, k));
        let (mut a, mut b, mut c) = (numbers(k * rows), numbers(k * n), numbers(rows * n));
        let mut expected = c.clone();
        for (i, j) in (0..rows).flat_map(|i| (0..n).map(move |j| (i, j))) {
            for p in 0..k {
                expected[i * n + j] = a[p * rows + i].mul_add(b[p * n + j], expected[i * n + j]);
            }
        }
        code.run("gemm", &[at(&mut a), at(&mut b), at(&mut c)], 1);
        assert_eq!(c, expected);
    }
}

/// Runs [`elementwise`] on machines of every register size, with last registers of
/// several lengths; compares with `expected`, an element at a time.
fn check_elementwise<X: Copy + Default, Y: Copy + Default + PartialEq + std::fmt::Debug>(
    types: [&str; 2],
    body: &str,
    number: impl Fn(usize) -> X,
    expected: impl Fn(X) -> Y,
    close: impl Fn(Y, Y) -> bool,
) {
    for bytes in sizes() {
        let lanes = bytes / size_of::<X>().max(size_of::<Y>());
        let counts: Vec<_> = [0, 1, 2, 5, lanes - 1]
            .into_iter()
            .filter(|&rest| rest < lanes)
            .map(|rest| 2 * lanes + rest)
            .collect();
        let kernels: Vec<_> = counts
            .iter()
            .map(|&count| elementwise(&format!("k{count}"), lanes, types, count, body))
            .collect();
        let code = Code::new(&(machine(bytes) + &kernels.join("")));
        for count in counts {
            let mut x: Vec<X> = (0..count).map(&number).collect();
            // One more than the kernel may write.
            let mut y = vec![Y::default(); count + 1];
            code.run(&format!("k{count}"), &[at(&mut x), at(&mut y)], 1);
            for (i, (&x, &y)) in x.iter().zip(&y).enumerate() {
                let wanted = expected(x);
                assert!(close(y, wanted), "{body}: [{i}] of {count} is {y:?}, not {wanted:?}");
            }
            assert_eq!(y[count], Y::default(), "written behind the end");
        }
    }
}

pub fn same<T: PartialEq>(a: T, b: T) -> bool {
    a == b
}

#[test]
fn applies_functions_to_a_ragged_end() {
    let close = |a: f32, b: f32| (a - b).abs() <= 4e-7 * b.abs();
    check_elementwise(["f32", "f32"], "%r = math.exp %a : f32", real, f32::exp, close);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-15 * b.abs();
    check_elementwise(
        ["f64", "f64"],
        "%r = math.exp %a : f64",
        |i| f64::from(real(i)),
        f64::exp,
        close,
    );
    check_elementwise(["f32", "f32"], "%r = math.floor %a : f32", real, f32::floor, same);
}

#[test]
fn converts_narrow_floats() {
    use half::{bf16, f16};
    let double = "%b = arith.addf %a, %a : TYPE\n %r = arith.divf %b, %a : TYPE";
    check_elementwise(
        ["f16", "f16"],
        &double.replace("TYPE", "f16"),
        |i| f16::from_f32(real(i)),
        |_| f16::from_f32(2.0),
        same,
    );
    check_elementwise(
        ["bf16", "bf16"],
        &double.replace("TYPE", "bf16"),
        |i| bf16::from_f32(real(i)),
        |_| bf16::from_f32(2.0),
        same,
    );
    check_elementwise(
        ["f32", "bf16"],
        "%r = arith.truncf %a : f32 to bf16",
        real,
        bf16::from_f32,
        same,
    );
    check_elementwise(
        ["f32", "f16"],
        "%r = arith.truncf %a : f32 to f16",
        real,
        f16::from_f32,
        same,
    );
    check_elementwise(
        ["f16", "f32"],
        "%r = arith.extf %a : f16 to f32",
        |i| f16::from_f32(real(i)),
        f16::to_f32,
        same,
    );
    check_elementwise(
        ["bf16", "f32"],
        "%r = arith.extf %a : bf16 to f32",
        |i| bf16::from_f32(real(i)),
        bf16::to_f32,
        same,
    );
    let exp = |x: bf16| bf16::from_f32(x.to_f32().exp());
    check_elementwise(
        ["bf16", "bf16"],
        "%r = math.exp %a : bf16",
        |i| bf16::from_f32(real(i)),
        exp,
        same,
    );
    let root = |x: f16| f16::from_f32(x.to_f32().sqrt());
    check_elementwise(
        ["f16", "f16"],
        "%r = math.sqrt %a : f16",
        |i| f16::from_f32(real(i).abs()),
        root,
        same,
    );
    let number = |i| f64::from(real(i)) * 1.000_244_140_625;
    check_elementwise(
        ["f64", "f16"],
        "%r = arith.truncf %a : f64 to f16",
        number,
        f16::from_f64,
        same,
    );
    check_elementwise(
        ["f64", "bf16"],
        "%r = arith.truncf %a : f64 to bf16",
        number,
        bf16::from_f64,
        same,
    );
}

#[test]
fn works_on_integers() {
    let small = |i: usize| (i * 37 % 251) as u8 as i8;
    check_elementwise(["i8", "i32"], "%r = arith.extsi %a : i8 to i32", small, i32::from, same);
    check_elementwise(
        ["i8", "i8"],
        "%r = arith.muli %a, %a : i8",
        small,
        |x| x.wrapping_mul(x),
        same,
    );
    let long = |i: usize| (i as i64 - 9) * 3_000_000_019;
    let body = "%c = arith.constant 7 : i64\n %b = arith.muli %a, %c : i64\n %r = arith.maxsi %a, %b : i64";
    check_elementwise(["i64", "i64"], body, long, |x| x.max(7 * x), same);
    let body = "%c = arith.constant 7 : i64\n %r = arith.divsi %a, %c : i64";
    check_elementwise(["i64", "i64"], body, long, |x| x / 7, same);
    check_elementwise(
        ["i64", "f32"],
        "%r = arith.sitofp %a : i64 to f32",
        long,
        |x| x as f32,
        same,
    );
    check_elementwise(
        ["f64", "i64"],
        "%r = arith.fptosi %a : f64 to i64",
        |i| f64::from(real(i)),
        |x| x as i64,
        same,
    );
    let body = "%c = arith.constant 0.0 : f32\n %b = arith.cmpf ogt, %a, %c : f32\n %r = arith.extui %b : i1 to i8";
    check_elementwise(["f32", "i8"], body, real, |x| i8::from(x > 0.0), same);
}

#[test]
fn keeps_nan_in_a_maximum() {
    let number = |i| if i % 5 == 3 { f32::NAN } else { real(i) };
    let max = |x: f32, y: f32| if x.is_nan() { x } else { x.max(y) };
    let close = |a: f32, b: f32| a == b || a.is_nan() && b.is_nan();
    let zero = "%c = arith.constant 0.0 : f32\n %r = arith.maximumf %a, %c : f32";
    check_elementwise(["f32", "f32"], zero, number, |x| max(x, 0.0), close);
    let zero = "%c = arith.constant 0.0 : f32\n %r = arith.minimumf %c, %a : f32";
    check_elementwise(["f32", "f32"], zero, number, |x| -max(-x, 0.0), close);
    let both = "%b = arith.negf %a : f32\n %r = arith.maximumf %a, %b : f32";
    check_elementwise(["f32", "f32"], both, number, f32::abs, close);
}

#[test]
fn leaves_the_remainder_of_a_division() {
    let body = "%c = arith.constant 0.7 : f32\n %b = arith.mulf %a, %a : f32\n %d = arith.mulf %b, %a : f32\n %r = arith.remf %d, %c : f32";
    check_elementwise(["f32", "f32"], body, |i| 100.0 * real(i), |x| (x * x * x) % 0.7, same);
}

#[test]
fn chooses_lanes_by_a_mask() {
    let body = "%c = arith.constant 0.0 : f32\n %b = arith.cmpf ogt, %a, %c : f32\n %n = arith.negf %a : f32\n %r = arith.select %b, %c, %n : f32";
    check_elementwise(["f32", "f32"], body, real, |x| if x > 0.0 { 0.0 } else { -x }, same);
}

/// `s[task] = combine(s[task], x[task, :])`.
pub fn combined(bytes: usize, elem: &str, lanes: usize, op: &str) -> String {
    format!(
        r#"{machine}
device.kernel @k tasks 3 {{
^bb0(%task: index, %x: memref<3x{lanes}x{elem}>, %s: memref<3x{elem}>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<{lanes}x{elem}, "vreg">
  device.copy @load %x[%task, %c0] to %r[%c0] count {lanes} : memref<3x{lanes}x{elem}> to memref<{lanes}x{elem}, "vreg">
  device.combine @valu lanes {lanes} ins(%r[%c0]) outs(%s[%task]) : (memref<{lanes}x{elem}, "vreg">) -> (memref<3x{elem}>) {{
  ^bb0(%a: {elem}, %b: {elem}):
    %c = {op} %a, %b : {elem}
    device.yield %c : {elem}
  }}
}}"#,
        machine = machine(bytes)
    )
}

#[test]
fn combines_lanes() {
    for bytes in sizes() {
        for lanes in [bytes / 4, 7, 5, 2, 1] {
            let (mut x, mut s) = (numbers(3 * lanes), vec![1.0f32; 3]);
            Code::new(&combined(bytes, "f32", lanes, "arith.addf")).run(
                "k",
                &[at(&mut x), at(&mut s)],
                3,
            );
            for (row, s) in x.chunks(lanes).zip(&s) {
                assert!((s - 1.0 - row.iter().sum::<f32>()).abs() < 1e-5);
            }
            let (mut x, mut s) =
                ((0..3 * lanes as i32).map(|i| i * 7 % 5).collect::<Vec<_>>(), vec![-1; 3]);
            Code::new(&combined(bytes, "i32", lanes, "arith.maxsi")).run(
                "k",
                &[at(&mut x), at(&mut s)],
                3,
            );
            assert!(x.chunks(lanes).zip(&s).all(|(row, s)| row.iter().max() == Some(s)));
        }
    }
}

#[test]
fn works_on_one_lane() {
    for bytes in sizes() {
        let body = "%l = device.lane\n %n = arith.index_cast %l : index to i32\n %f = arith.sitofp %n : i32 to f32\n %r = arith.addf %a, %f : f32";
        let code = Code::new(&(machine(bytes) + &elementwise("k", 1, ["f32", "f32"], 3, body)));
        let (mut x, mut y) = (numbers(3), vec![0f32; 3]);
        code.run("k", &[at(&mut x), at(&mut y)], 1);
        assert_eq!(x, y);
    }
}
