//! Device kernels become native code that computes what they say.
//!
//! Every test runs on a machine of 512-bit registers and one of 256 bits, where
//! the processor under the test can.

use std::ffi::c_void;

use weft_dialects::device::Machine;
use weft_dialects::ir::{self, module_op};
use weft_passes::codegen::{CodegenError, Object, Text, compile_kernels, link, print_kernels};

const WIDE: &str = r#"["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "fma", "f16c"]"#;
const NARROW: &str = r#"["avx2", "fma", "f16c"]"#;

/// A machine with registers of `bytes`.
fn machine(bytes: usize) -> String {
    let features = if bytes == 64 { WIDE } else { NARROW };
    let lanes = bytes / 4;
    format!(
        r#"
device.machine @host arch("x86-64") features({features}) {{
  device.memory @dram scope("device") capacity_bytes(1073741824)
  device.memory @vreg scope("thread") capacity_bytes({all}) register_bytes({bytes})
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.move @rename from @vreg to @vreg issue_cycles(0.5) latency_cycles(1) strided
  device.move @through from @dram to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(0.5) latency_cycles(4)
    types([f64, f32, f16, bf16, i64, i32, i16, i8, index])
    operations([{operations}]) reductions(["arith.addf", "arith.maximumf", "arith.addi", "arith.maxsi"])
  device.instruction @vfma on @core operands([@dram, @vreg, @vreg]) issue_cycles(0.5) latency_cycles(4)
  meaning {{
  ^bb0(%a: tensor<f32>, %b: tensor<{lanes}xf32>, %c: tensor<{lanes}xf32>):
    %d = linalg.generic {{
      indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    }} ins(%a, %b : tensor<f32>, tensor<{lanes}xf32>) outs(%c : tensor<{lanes}xf32>) {{
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    }} -> tensor<{lanes}xf32>
    device.yield %d : tensor<{lanes}xf32>
  }} lowering {{
  ^bb0(%a: f32, %b: vector<{lanes}xf32>, %c: vector<{lanes}xf32>):
    %s = vector.broadcast %a : f32 to vector<{lanes}xf32>
    %d = vector.fma %s, %b, %c : vector<{lanes}xf32>
    device.yield %d : vector<{lanes}xf32>
  }}
}}
"#,
        all = 32 * bytes,
        operations = OPERATIONS.map(|name| format!("{name:?}")).join(", "),
    )
}

const OPERATIONS: [&str; 32] = [
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.divf",
    "arith.maximumf",
    "arith.negf",
    "arith.cmpf",
    "arith.cmpi",
    "arith.select",
    "arith.extf",
    "arith.truncf",
    "arith.bitcast",
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.shli",
    "arith.shrsi",
    "arith.andi",
    "arith.maxsi",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
    "arith.sitofp",
    "arith.fptosi",
    "arith.divsi",
    "arith.minimumf",
    "arith.remf",
    "math.exp",
    "math.fma",
    "math.floor",
    "math.sqrt",
    "math.fpowi",
];

/// Register sizes that the processor under the test has.
fn sizes() -> Vec<usize> {
    let has_wide = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    let has_narrow = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c");
    [(64, has_wide), (32, has_narrow)]
        .into_iter()
        .filter_map(|(bytes, has)| has.then_some(bytes))
        .collect()
}

fn compile(text: &str, jobs: usize) -> Result<Vec<Object>, CodegenError> {
    let context = ir::context();
    let module = ir::parse(&context, text).expect("the test is valid IR");
    let op = module_op(&module);
    compile_kernels(op, Machine::of(op).expect("the test has a machine"), jobs)
}

fn print(text: &str, kind: Text) -> String {
    let context = ir::context();
    let module = ir::parse(&context, text).expect("the test is valid IR");
    let op = module_op(&module);
    print_kernels(op, Machine::of(op).expect("the test has a machine"), 1, kind)
        .expect("it compiles")
        .join("")
}

/// A loaded shared object.
struct Code {
    library: libloading::Library,
    _folder: tempfile::TempDir,
}

type Entry = unsafe extern "C" fn(*const *mut c_void, i64, i64);

impl Code {
    fn new(text: &str) -> Self {
        let objects = compile(text, 1).expect("the kernel compiles");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("kernels.so");
        std::fs::write(&path, link(&objects).expect("the kernel links"))
            .expect("the folder can be written");
        // SAFETY: the library runs nothing when it is loaded.
        let library = unsafe { libloading::Library::new(&path) }.expect("the library loads");
        Self { library, _folder: folder }
    }

    fn entry(&self, name: &str) -> libloading::Symbol<'_, Entry> {
        // SAFETY: every kernel's entry has this type.
        unsafe { self.library.get(name.as_bytes()) }.expect("the kernel is exported")
    }

    /// Runs tasks below `tasks` of a kernel.
    fn run(&self, name: &str, buffers: &[*mut c_void], tasks: i64) {
        let entry = self.entry(name);
        // SAFETY: each test passes buffers of the sizes that its kernel declares.
        unsafe { entry(buffers.as_ptr(), 0, tasks) }
    }
}

/// The place of a buffer.
fn at<T>(buffer: &mut [T]) -> *mut c_void {
    buffer.as_mut_ptr().cast()
}

/// Numbers that differ, both signs, no pattern of a power of two.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(real).collect()
}

/// `c[12, 2 L] += a[k, 12] b[k, 2 L]`, all accumulators in registers.
fn gemm(bytes: usize, k: usize) -> String {
    let (lanes, rows) = (bytes / 4, if bytes == 64 { 12 } else { 6 });
    let n = 2 * lanes;
    format!(
        r#"{machine}
device.kernel @gemm tasks 1 {{
^bb0(%task: index, %a: memref<{k}x{rows}xf32>, %b: memref<{k}x{n}xf32>, %c: memref<{rows}x{n}xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %depth = arith.constant {k} : index
  %acc = device.alloc : memref<{rows}x2x{lanes}xf32, "vreg">
  %rb = device.alloc : memref<2x{lanes}xf32, "vreg">
  affine.for %i = 0 to {rows} {{
    affine.for %j = 0 to 2 {{
      %n = affine.apply affine_map<(d0) -> (d0 * {lanes})>(%j)
      device.copy @load %c[%i, %n] to %acc[%i, %j, %c0] count {lanes} : memref<{rows}x{n}xf32> to memref<{rows}x2x{lanes}xf32, "vreg">
    }}
  }}
  scf.for %k = %c0 to %depth step %c1 {{
    affine.for %j = 0 to 2 {{
      %n = affine.apply affine_map<(d0) -> (d0 * {lanes})>(%j)
      device.copy @load %b[%k, %n] to %rb[%j, %c0] count {lanes} : memref<{k}x{n}xf32> to memref<2x{lanes}xf32, "vreg">
    }}
    affine.for %i = 0 to {rows} {{
      affine.for %j = 0 to 2 {{
        device.invoke @vfma(%a[%k, %i], %rb[%j, %c0], %acc[%i, %j, %c0]) : memref<{k}x{rows}xf32>, memref<2x{lanes}xf32, "vreg">, memref<{rows}x2x{lanes}xf32, "vreg">
      }}
    }}
  }}
  affine.for %i = 0 to {rows} {{
    affine.for %j = 0 to 2 {{
      %n = affine.apply affine_map<(d0) -> (d0 * {lanes})>(%j)
      device.copy @store %acc[%i, %j, %c0] to %c[%i, %n] count {lanes} : memref<{rows}x2x{lanes}xf32, "vreg"> to memref<{rows}x{n}xf32>
    }}
  }}
}}"#,
        machine = machine(bytes)
    )
}

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

/// `y[i] = body(x[i])` on whole registers of `lanes`, and on a last one that is not full.
fn elementwise(name: &str, lanes: usize, [x, y]: [&str; 2], count: usize, body: &str) -> String {
    let (whole, rest) = (count - count % lanes, count % lanes);
    let step = |i: &str, part: usize| {
        format!(
            r#"
    device.copy @load %x[{i}] to %rx[%c0] count {part} : memref<{count}x{x}> to memref<{lanes}x{x}, "vreg">
    device.apply @valu lanes {lanes} ins(%rx[%c0]) outs(%ry[%c0]) : (memref<{lanes}x{x}, "vreg">) -> (memref<{lanes}x{y}, "vreg">) {{
    ^bb0(%a: {x}):
      {body}
      device.yield %r : {y}
    }}
    device.copy @store %ry[%c0] to %y[{i}] count {part} : memref<{lanes}x{y}, "vreg"> to memref<{count}x{y}>"#
        )
    };
    let rest = if rest > 0 { step("%end", rest) } else { String::new() };
    format!(
        r#"
device.kernel @{name} tasks 1 {{
^bb0(%task: index, %x: memref<{count}x{x}>, %y: memref<{count}x{y}>):
  %c0 = arith.constant 0 : index
  %step = arith.constant {lanes} : index
  %end = arith.constant {whole} : index
  %rx = device.alloc : memref<{lanes}x{x}, "vreg">
  %ry = device.alloc : memref<{lanes}x{y}, "vreg">
  scf.for %i = %c0 to %end step %step {{{loop_body}
  }}{rest}
}}"#,
        loop_body = step("%i", lanes),
    )
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

fn same<T: PartialEq>(a: T, b: T) -> bool {
    a == b
}

fn real(i: usize) -> f32 {
    ((i * 37 + 11) % 101) as f32 / 13.0 - 3.5
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

/// A kernel of one register, one copy in and one out, with what else they say.
fn copies(
    bytes: usize,
    elem: &str,
    lanes: usize,
    [x, y]: [&str; 2],
    [from, to]: [&str; 2],
    [i, j]: [&str; 2],
) -> String {
    format!(
        r#"{machine}
device.kernel @k tasks 2 {{
^bb0(%task: index, %x: memref<{x}x{elem}>, %y: memref<{y}x{elem}>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = device.alloc : memref<{lanes}x{elem}, "vreg">
  device.copy @load %x[{i}] to %r[%c0] {from} : memref<{x}x{elem}> to memref<{lanes}x{elem}, "vreg">
  device.copy @store %r[%c0] to %y[{j}] {to} : memref<{lanes}x{elem}, "vreg"> to memref<{y}x{elem}>
}}"#,
        machine = machine(bytes)
    )
}

#[test]
fn copies_by_steps() {
    for bytes in sizes() {
        let lanes = bytes / 4;
        for (step, count) in
            [2, 3, 4, 5].into_iter().flat_map(|step| [lanes, 5, 3, 1].map(|count| (step, count)))
        {
            let span = (count - 1) * step + 1;
            let from = format!("count {count} from_step {step}");
            let to = format!("count {lanes}");
            let code = Code::new(&copies(
                bytes,
                "f32",
                lanes,
                [&format!("2x{span}"), &format!("2x{lanes}")],
                [&from, &to],
                ["%task, %c0"; 2],
            ));
            let (mut x, mut y) = (numbers(2 * span), vec![9.0f32; 2 * lanes]);
            code.run("k", &[at(&mut x), at(&mut y)], 2);
            let expected: Vec<f32> = (0..2)
                .flat_map(|row| (0..lanes).map(move |t| (row, t)))
                .map(|(row, t)| if t < count { x[row * span + t * step] } else { 0.0 })
                .collect();
            assert_eq!(y, expected, "step {step}, count {count}");
        }
    }
}

#[test]
fn copies_columns() {
    for bytes in sizes() {
        let lanes = bytes / 4;
        for count in [lanes, 5, 1] {
            let [from, to] =
                [format!("count {count} from_dim 0"), format!("count {count} to_dim 0 to_step 2")];
            let code = Code::new(&copies(
                bytes,
                "i32",
                lanes,
                [&format!("{count}x3"), &format!("{}x2", 2 * count)],
                [&from, &to],
                ["%c0, %c1", "%c1, %task"],
            ));
            let mut x: Vec<i32> = (0..3 * count as i32).collect();
            let mut y = vec![-1i32; 4 * count];
            code.run("k", &[at(&mut x), at(&mut y)], 2);
            for (row, column) in (0..2 * count).flat_map(|row| [(row, 0), (row, 1)]) {
                let wanted = if row % 2 == 1 { x[3 * (row / 2) + 1] } else { -1 };
                assert_eq!(y[2 * row + column], wanted, "row {row}");
            }
        }
    }
}

#[test]
fn copies_bytes_under_a_mask() {
    for bytes in sizes() {
        for count in [1, 7, 13, bytes] {
            let whole = format!("count {count}");
            let code = Code::new(&copies(
                bytes,
                "i8",
                bytes,
                [&format!("2x{count}"); 2],
                [&whole; 2],
                ["%task, %c0"; 2],
            ));
            let (mut x, mut y) =
                ((0..2 * count as u32).map(|i| i as u8).collect::<Vec<_>>(), vec![0u8; 2 * count]);
            code.run("k", &[at(&mut x), at(&mut y)], 2);
            assert_eq!(x, y);
        }
    }
}

#[test]
fn copies_memory_to_memory() {
    for bytes in sizes() {
        for count in [3, bytes / 4, 100] {
            let text = format!(
                r#"{machine}
device.kernel @k tasks 2 {{
^bb0(%task: index, %x: memref<2x{count}xf32>, %y: memref<{count}x2xf32>):
  %c0 = arith.constant 0 : index
  device.copy @through %x[%task, %c0] to %y[%c0, %task] count {count} to_dim 0 : memref<2x{count}xf32> to memref<{count}x2xf32>
}}"#,
                machine = machine(bytes)
            );
            let (mut x, mut y) = (numbers(2 * count), vec![0f32; 2 * count]);
            Code::new(&text).run("k", &[at(&mut x), at(&mut y)], 2);
            assert!((0..2 * count).all(|i| y[i] == x[i % 2 * count + i / 2]));
        }
    }
}

/// `s[task] = combine(s[task], x[task, :])`.
fn combined(bytes: usize, elem: &str, lanes: usize, op: &str) -> String {
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
fn gathers_and_loads_neighbours() {
    for bytes in sizes() {
        let lanes = bytes / 4;
        let text = format!(
            r#"{machine}
device.kernel @k tasks 2 {{
^bb0(%task: index, %table: memref<50x3xf32>, %rows: memref<{lanes}xi32>, %bias: memref<{more}xf32>, %y: memref<2x{lanes}xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ri = device.alloc : memref<{lanes}xi32, "vreg">
  %ry = device.alloc : memref<{lanes}xf32, "vreg">
  device.copy @load %rows[%c0] to %ri[%c0] count {lanes} : memref<{lanes}xi32> to memref<{lanes}xi32, "vreg">
  device.apply @valu lanes {lanes} ins(%ri[%c0], %bias[%task]) outs(%ry[%c0]) : (memref<{lanes}xi32, "vreg">, memref<{more}xf32>) -> (memref<{lanes}xf32, "vreg">) {{
  ^bb0(%row: i32, %scale: f32):
    %i = arith.index_cast %row : i32 to index
    %t = memref.load %table[%i, %c1] : memref<50x3xf32>
    %lane = device.lane
    %j = arith.addi %task, %lane : index
    %b = memref.load %bias[%j] : memref<{more}xf32>
    %same = memref.load %bias[%c1] : memref<{more}xf32>
    %k = arith.index_cast %j : index to i32
    %f = arith.sitofp %k : i32 to f32
    %0 = arith.mulf %t, %scale : f32
    %1 = arith.addf %0, %b : f32
    %2 = arith.addf %1, %same : f32
    %3 = arith.addf %2, %f : f32
    device.yield %3 : f32
  }}
  device.copy @store %ry[%c0] to %y[%task, %c0] count {lanes} : memref<{lanes}xf32, "vreg"> to memref<2x{lanes}xf32>
}}"#,
            machine = machine(bytes),
            more = lanes + 1,
        );
        let (mut table, mut bias) = (numbers(150), numbers(lanes + 1));
        let mut rows: Vec<i32> = (0..lanes as i32).map(|i| i * 17 % 50).collect();
        let mut y = vec![0f32; 2 * lanes];
        Code::new(&text).run("k", &[at(&mut table), at(&mut rows), at(&mut bias), at(&mut y)], 2);
        for (task, lane) in
            [0, 1].into_iter().flat_map(|task| (0..lanes).map(move |lane| (task, lane)))
        {
            let wanted = table[3 * rows[lane] as usize + 1] * bias[task]
                + bias[task + lane]
                + bias[1]
                + (task + lane) as f32;
            assert_eq!(y[task * lanes + lane], wanted);
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

#[test]
fn any_number_of_jobs_gives_the_same_bytes() {
    let kernel = |name: &str| {
        combined(32, "f32", 8, "arith.addf")
            .split("device.kernel")
            .nth(1)
            .unwrap_or_default()
            .replace("@k", name)
    };
    let kernels: Vec<_> =
        ["@d", "@b", "@c", "@a"].map(|name| format!("device.kernel{}", kernel(name))).into();
    let text = format!("{}{}", machine(32), kernels.join("\n"));
    let [one, three] = [1, 3].map(|jobs| compile(&text, jobs).expect("the kernels compile"));
    assert_eq!(
        one.iter().map(|object| object.symbol.as_str()).collect::<Vec<_>>(),
        ["d", "b", "c", "a"]
    );
    assert_eq!(one, three);
    assert_eq!(link(&one).expect("they link"), link(&three).expect("they link"));
}

/// Operations that take one type and give it back.
const FLOAT_OPERATIONS: [&str; 22] = [
    "addf",
    "subf",
    "mulf",
    "divf",
    "negf",
    "maximumf",
    "minimumf",
    "maxnumf",
    "minnumf",
    "remf",
    "math.sqrt",
    "math.absf",
    "math.floor",
    "math.ceil",
    "math.trunc",
    "math.roundeven",
    "math.copysign",
    "math.exp",
    "math.rsqrt",
    "math.erf",
    "math.powf",
    "math.fma",
];
const INTEGER_OPERATIONS: [&str; 23] = [
    "addi",
    "subi",
    "muli",
    "divsi",
    "divui",
    "remsi",
    "remui",
    "floordivsi",
    "ceildivsi",
    "ceildivui",
    "andi",
    "ori",
    "xori",
    "shli",
    "shrsi",
    "shrui",
    "maxsi",
    "minsi",
    "maxui",
    "minui",
    "math.ctpop",
    "math.ctlz",
    "math.cttz",
];
const CONVERSIONS: [(&str, &[&str], &[&str]); 8] = [
    ("sitofp", &["i8", "i16", "i32", "i64"], &["f16", "bf16", "f32", "f64"]),
    ("uitofp", &["i8", "i16", "i32", "i64"], &["f16", "bf16", "f32", "f64"]),
    ("fptosi", &["f16", "bf16", "f32", "f64"], &["i8", "i16", "i32", "i64"]),
    ("fptoui", &["f16", "bf16", "f32", "f64"], &["i8", "i16", "i32", "i64"]),
    ("extf", &["f16", "bf16"], &["f32", "f64"]),
    ("truncf", &["f32", "f64"], &["f16", "bf16"]),
    ("extsi", &["i8", "i16"], &["i32", "i64"]),
    ("trunci", &["i32", "i64"], &["i8", "i16"]),
];

fn bytes_of(ty: &str) -> usize {
    ty.trim_start_matches(|letter: char| !letter.is_ascii_digit())
        .parse::<usize>()
        .map_or(8, |bits| bits / 8)
}

/// A kernel for each operation on whole and on odd registers.
fn all_operations(bytes: usize) -> String {
    let mut kernels = Vec::new();
    let mut add = |types: [&str; 2], body: &str| {
        let lanes = bytes / bytes_of(types[0]).max(bytes_of(types[1]));
        for lanes in [lanes, 1, 3] {
            kernels.push(elementwise(
                &format!("k{}", kernels.len()),
                lanes,
                types,
                lanes + lanes / 2,
                body,
            ));
        }
    };
    let floats =
        FLOAT_OPERATIONS.iter().flat_map(|op| ["f16", "bf16", "f32", "f64"].map(|ty| (op, ty)));
    let integers =
        INTEGER_OPERATIONS.iter().flat_map(|op| ["i8", "i16", "i32", "i64"].map(|ty| (op, ty)));
    for (op, ty) in floats.chain(integers) {
        let operands = match *op {
            "math.fma" => "%a, %a, %a",
            "math.copysign" | "math.powf" => "%a, %a",
            op if op == "negf" || op.starts_with("math.") => "%a",
            _ => "%a, %a",
        };
        let op = if op.contains('.') { (*op).to_owned() } else { format!("arith.{op}") };
        add([ty; 2], &format!("%r = {op} {operands} : {ty}"));
    }
    for ty in ["f16", "bf16", "f32", "f64"] {
        add(
            [ty; 2],
            &format!(
                "%c = arith.cmpf ult, %a, %a : {ty}\n %n = arith.constant 1.5 : {ty}\n %r = arith.select %c, %a, %n : {ty}"
            ),
        );
    }
    for (op, from, to) in CONVERSIONS {
        for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
            add([from, to], &format!("%r = arith.{op} %a : {from} to {to}"));
        }
    }
    let names: Vec<_> = FLOAT_OPERATIONS
        .iter()
        .chain(&INTEGER_OPERATIONS)
        .chain(CONVERSIONS.iter().map(|(op, _, _)| op))
        .collect();
    let names = names
        .iter()
        .map(|op| if op.contains('.') { format!("\"{op}\"") } else { format!("\"arith.{op}\"") });
    let old = format!("operations([{}])", OPERATIONS.map(|name| format!("{name:?}")).join(", "));
    let new = format!(
        "operations([{}, \"arith.cmpf\", \"arith.select\"])",
        names.collect::<Vec<_>>().join(", ")
    );
    machine(bytes).replace(&old, &new) + &kernels.join("")
}

#[test]
#[ignore = "a thousand kernels"]
fn every_operation_has_code() {
    for bytes in sizes() {
        let objects = compile(&all_operations(bytes), 2).expect("every kernel compiles");
        link(&objects).expect("nothing is missing");
    }
}

#[test]
fn refuses_what_has_no_code() {
    let strange =
        machine(32).replace("x86-64", "pdp-11") + "device.kernel @k tasks 1 {\n^bb0(%t: index):\n}";
    let error = compile(&strange, 1).expect_err("there is no such target").to_string();
    assert!(error.contains("pdp-11"), "{error}");
    let error = compile(
        &(machine(32)
            + &elementwise(
                "k",
                8,
                ["f32", "f32"],
                8,
                "%n = arith.constant 3 : i32\n%r = math.fpowi %a, %n : f32, i32",
            )),
        1,
    );
    let error = error.expect_err("no instruction and no expansion").to_string();
    assert!(
        error.contains("kernel k") && error.contains("math.fpowi has no expansion on f32"),
        "{error}"
    );
    // Registers lie on the stack; what else a kernel keeps is lent to it.
    let room = |memory: &str| {
        let many = machine(32).replace("capacity_bytes(1024)", "capacity_bytes(2097152)");
        let alloc = format!("%big = device.alloc : memref<32769x8xf32, \"{memory}\">");
        many + &format!("device.kernel @k tasks 1 {{\n^bb0(%t: index):\n  {alloc}\n}}")
    };
    let error = compile(&room("vreg"), 1).expect_err("the stack is smaller").to_string();
    assert!(error.contains("1048608 bytes"), "{error}");
    compile(&room("dram"), 1).expect("a worker lends it");
}

/// `y = body(x)` by an instruction of the machine, whatever its lowering needs.
fn instruction(bytes: usize, ty: &str, body: &str) -> String {
    let fact = format!(
        r#"
  device.instruction @strange on @core operands([@vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {{
  ^bb0(%x: tensor<{ty}>):
    device.yield %x : tensor<{ty}>
  }} lowering {{
  ^bb0(%x: vector<{ty}>):
    {body}
    device.yield %y : vector<{ty}>
  }}
}}
device.kernel @k tasks 1 {{
^bb0(%task: index, %x: memref<{ty}>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<{ty}, "vreg">
  device.copy @load %x[%c0] to %r[%c0] count {count} : memref<{ty}> to memref<{ty}, "vreg">
  device.invoke @strange(%r[%c0]) : memref<{ty}, "vreg">
  device.copy @store %r[%c0] to %x[%c0] count {count} : memref<{ty}, "vreg"> to memref<{ty}>
}}"#,
        count = ty.split('x').next().unwrap_or("1"),
    );
    machine(bytes).trim_end().trim_end_matches('}').to_owned() + &fact
}

#[test]
fn names_what_nothing_provides() {
    let objects = compile(&instruction(32, "8xf32", "%y = math.sin %x : vector<8xf32>"), 1);
    let error =
        link(&objects.expect("LLVM calls sinf")).expect_err("nothing provides it").to_string();
    assert!(error.contains("kernel k calls sinf"), "{error}");
    let error = link(&[Object { symbol: "k".into(), bytes: b"not an object".into() }]);
    assert!(error.expect_err("it is no ELF").to_string().contains("the code of k"));
}

/// LLVM ends the process here, so another one runs it.
#[test]
#[ignore = "run by the test after it"]
fn uses_an_instruction_that_is_not_there() {
    let body = "%b = vector.bitcast %x : vector<8xi32> to vector<32xi8>\n %y = llvm.call_intrinsic \"llvm.x86.avx512.vpdpbusd.256\"(%x, %b, %b) : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>";
    let objects = compile(&instruction(32, "8xi32", body), 1);
    unreachable!("{objects:?}");
}

#[test]
fn reports_what_llvm_cannot_do() {
    let test = std::process::Command::new(std::env::current_exe().expect("the test is a program"))
        .args(["--ignored", "--exact", "uses_an_instruction_that_is_not_there"])
        .output()
        .expect("the test starts again");
    let error = String::from_utf8_lossy(&test.stderr);
    assert_eq!(test.status.code(), Some(1), "{error}");
    assert!(error.contains("error: kernel k: LLVM failed"), "{error}");
}

#[test]
#[ignore = "a measurement"]
fn prints_the_matrix_kernel() {
    for bytes in sizes() {
        eprintln!("{}", print(&gemm(bytes, 1024), Text::Asm));
        let (k, rows, n) = (1024, if bytes == 64 { 12 } else { 6 }, bytes / 2);
        let code = Code::new(&gemm(bytes, k));
        let (mut a, mut b, mut c) = (numbers(k * rows), numbers(k * n), numbers(rows * n));
        let best = (0..2000)
            .map(|_| {
                let begin = std::time::Instant::now();
                (0..10).for_each(|_| code.run("gemm", &[at(&mut a), at(&mut b), at(&mut c)], 1));
                begin.elapsed().as_secs_f64() / 10.0
            })
            .fold(f64::MAX, f64::min);
        eprintln!("{bytes}-byte registers: {:.1} GFLOP/s", 2e-9 * (k * rows * n) as f64 / best);
    }
}

#[test]
#[ignore = "a measurement"]
fn prints_compile_times() {
    let texts = [
        ("gemm", gemm(64, 1024)),
        ("exp", machine(64) + &elementwise("k", 16, ["f32", "f32"], 37, "%r = math.exp %a : f32")),
    ];
    for (name, text) in texts {
        for _ in 0..3 {
            let begin = std::time::Instant::now();
            compile(&text, 1).expect("it compiles");
            eprintln!("{name}: {:?}", begin.elapsed());
        }
    }
}
