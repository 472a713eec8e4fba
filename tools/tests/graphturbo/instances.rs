//! Instances give what whole tensors give, whatever the split, and keep what they hand over in the
//! core (GT-5, GT-6).

use crate::desk::Desk;

/// Convolutions with borders and a stride, a residual and a pool, on odd sizes.
pub const BLOCK: &str = "func.func @block(%x: tensor<2x19x15x6xf32>, %w: tensor<10x3x3x6xf32>, %b: tensor<10xf32>, %v: tensor<10x1x1x10xf32>, %c: tensor<10xf32>, %u: tensor<7x3x3x10xf32>, %d: tensor<7xf32>) -> (tensor<2x10x8x7xf32>, tensor<2x9x7x10xf32>) {
  %z = \"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x19x15x6xf32>, tensor<10x3x3x6xf32>, tensor<10xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x19x15x10xf32>
  %r = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x19x15x10xf32>) -> tensor<2x19x15x10xf32>
  %e = tosa.conv2d %r, %v, %c, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x19x15x10xf32>, tensor<10x1x1x10xf32>, tensor<10xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x19x15x10xf32>
  %s = tosa.add %r, %e : (tensor<2x19x15x10xf32>, tensor<2x19x15x10xf32>) -> tensor<2x19x15x10xf32>
  %f = tosa.conv2d %s, %u, %d, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : (tensor<2x19x15x10xf32>, tensor<7x3x3x10xf32>, tensor<7xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x10x8x7xf32>
  %p = tosa.max_pool2d %s {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<2x19x15x10xf32>) -> tensor<2x9x7x10xf32>
  return %f, %p : tensor<2x10x8x7xf32>, tensor<2x9x7x10xf32>
}
";

/// Products and a row's largest, which an instance has whole.
pub const ROWS: &str = "func.func @rows(%x: tensor<1x37x24xf32>, %w: tensor<1x24x50xf32>, %v: tensor<1x50x24xf32>) -> tensor<1x37x24xf32> {
  %z = \"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %h = tosa.matmul %x, %w, %z, %z : (tensor<1x37x24xf32>, tensor<1x24x50xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x37x50xf32>
  %m = tosa.reduce_max %h {axis = 2 : i32} : (tensor<1x37x50xf32>) -> tensor<1x37x1xf32>
  %s = tosa.sub %h, %m : (tensor<1x37x50xf32>, tensor<1x37x1xf32>) -> tensor<1x37x50xf32>
  %e = tosa.exp %s : (tensor<1x37x50xf32>) -> tensor<1x37x50xf32>
  %o = tosa.matmul %e, %v, %z, %z : (tensor<1x37x50xf32>, tensor<1x50x24xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x37x24xf32>
  return %o : tensor<1x37x24xf32>
}
";

pub const CHIP: [&str; 2] = ["stcp920-like.mlir", "@l1 scope(\"core\") capacity_bytes(1048576)"];
pub const DSP: [&str; 2] = ["dsp.mlir", "@tcm scope(\"core\") capacity_bytes(262144)"];

pub fn buffer(machine: [&str; 2], bytes: u64) -> String {
    let (before, _) = machine[1].rsplit_once('(').expect("a capacity");
    format!("{before}({bytes})")
}

#[test]
fn gt_5_instances_give_the_same() {
    for (name, model, machine, sizes) in [
        ("block", BLOCK, CHIP, [1 << 20, 40_000, 24_000]),
        ("block", BLOCK, DSP, [1 << 18, 40_000, 24_000]),
        ("rows", ROWS, CHIP, [1 << 20, 40_000, 24_000]),
        ("rows", ROWS, DSP, [1 << 18, 20_000, 12_000]),
    ] {
        for bytes in sizes {
            let held = buffer(machine, bytes);
            let desk = Desk::new(model, machine[0], [machine[1], &held]);
            desk.simulate("none", "--outputs whole.npz");
            desk.simulate("all", "--expect whole.npz --rtol 1e-4 --atol 1e-4");
            assert!(!desk.remarks().is_empty(), "{name} in {bytes} bytes of {}", machine[0]);
        }
    }
}

/// The same pass in the cache of a processor's core, where lanes bring what an instance reads: on request, for
/// that moves more than kernels that read where tensors lie (GT-10).
#[test]
fn gt_10_instances_in_a_cache_give_the_same() {
    let cache = "@l2 scope(\"core\") capacity_bytes(1048576)";
    let device = "x86-avx2.mlir";
    for model in [BLOCK, ROWS] {
        let instances = [1 << 20, 48_000].map(|bytes| {
            let held = cache.replace("1048576", &bytes.to_string());
            let desk = Desk::new(model, device, [cache, &held]);
            let tile = |how| {
                let text = desk.weft("compile model.mlir --emit tile -o -", how);
                text.unwrap_or_else(|said| panic!("{device}: {said}")).0
            };
            assert_eq!(tile("none").matches("stitched").count(), 0);
            assert_eq!(tile("auto").matches("stitched").count(), 0);
            let text = tile("all");
            assert!(text.matches("stitched").count() > 0, "{device}: {text}");
            assert!(text.contains("in @l2 at"), "{device}: {text}");
            let run =
                |how, more: &str| desk.weft(&format!("run model.mlir --threads 1 {more}"), how);
            run("none", "--outputs whole.npz").unwrap_or_else(|said| panic!("{device}: {said}"));
            let said = run("all", "--expect whole.npz --rtol 1e-4 --atol 1e-4");
            said.unwrap_or_else(|said| panic!("{device}, {bytes} bytes: {said}"));
            desk.remarks().len()
        });
        assert!(instances.iter().all(|own| *own > 0), "{device}: {instances:?}");
    }
}

/// The smaller the buffer, the more instances.
#[test]
fn gt_1_a_smaller_buffer_has_more_instances() {
    let counts = [40_000, 24_000, 16_000].map(|bytes| {
        let desk = Desk::new(BLOCK, DSP[0], [DSP[1], &buffer(DSP, bytes)]);
        let count = |line: &String| {
            let (before, _) = line.split_once(" instances, ").expect("a count");
            before.rsplit(' ').next().and_then(|count| count.parse::<u64>().ok()).expect("a number")
        };
        desk.remarks().iter().map(count).max().expect("a sub-graph")
    });
    assert!(counts[0] < counts[1] && counts[1] <= counts[2], "{counts:?}");
}

/// What keeps cores from the memory of their cluster.
const APART: &str = "--pass-option tile-to-task.near=none";

/// What instances hand over stays in the core, and one kernel does what several did; whatever a
/// cluster shares beside that is left out.
#[test]
fn gt_6_instances_move_less() {
    for (model, machine) in [(BLOCK, CHIP), (BLOCK, DSP), (ROWS, CHIP)] {
        let desk = Desk::new(model, machine[0], [machine[1], machine[1]]);
        let [apart, instances] = ["none", "all"].map(|how| desk.simulate(how, APART));
        let [less, more] = [&instances, &apart].map(|ran| ran.shared_bytes);
        assert!(less < more, "{}: {less} and {more} bytes", machine[0]);
        let [few, many] = [&instances, &apart].map(|ran| ran.runs);
        assert!(0 < few && few < many, "{}: {few} and {many} runs of kernels", machine[0]);
    }
}
