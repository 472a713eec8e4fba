//! The machine of the tests, and kernels for it.

const WIDE: &str = r#"["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "fma", "f16c"]"#;

const NARROW: &str = r#"["avx2", "fma", "f16c"]"#;

/// A machine with registers of `bytes`.
pub fn machine(bytes: usize) -> String {
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

pub const OPERATIONS: [&str; 32] = [
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
pub fn sizes() -> Vec<usize> {
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

/// `c[12, 2 L] += a[k, 12] b[k, 2 L]`, all accumulators in registers.
pub fn gemm(bytes: usize, k: usize) -> String {
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

/// `y[i] = body(x[i])` on whole registers of `lanes`, and on a last one that is not full.
pub fn elementwise(
    name: &str,
    lanes: usize,
    [x, y]: [&str; 2],
    count: usize,
    body: &str,
) -> String {
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
