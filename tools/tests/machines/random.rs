//! Any machine, any kernel: what the simulator computes is what the interpreter does.

use proptest::prelude::*;

use crate::desk::Desk;

/// Expressions and their axes, with how far each may go.
const KERNELS: &[(&str, &[(&str, u64)])] = &[
    ("C[m,n] += A[m,k] * B[k,n]", &[("m", 40), ("n", 40), ("k", 40)]),
    ("C[m,n] += A[k,m] * B[n,k]", &[("m", 20), ("n", 30), ("k", 50)]),
    ("C[b,m,n] += A[b,m,k] * B[b,k,n]", &[("b", 4), ("m", 12), ("n", 12), ("k", 12)]),
    ("C[m] += A[m,k] * B[k]", &[("m", 60), ("k", 60)]),
    ("C[m,n] += A[m] * B[n]", &[("m", 30), ("n", 30)]),
    (
        "O[f,y,x] += W[f,c,r,s] * I[c,2*y+r,x+s]",
        &[("f", 9), ("y", 5), ("x", 9), ("c", 9), ("r", 3), ("s", 3)],
    ),
    ("O[c,y,x] += W[c,r] * I[c,y+r,x]", &[("c", 6), ("y", 6), ("x", 12), ("r", 3)]),
    ("O[c,y,x] max= I[c,2*y+r,2*x+s]", &[("c", 6), ("y", 6), ("x", 6), ("r", 2), ("s", 3)]),
    ("C[i,j] = A[j,i] + B[i]", &[("i", 50), ("j", 50)]),
    ("C[i] = exp(A[i]) * 2", &[("i", 300)]),
    ("C[i] += A[i,j]", &[("i", 30), ("j", 70)]),
    ("C[j] max= A[i,j]", &[("i", 30), ("j", 70)]),
];

/// A machine of the toy's kind.
#[derive(Clone, Debug)]
struct Toy {
    /// Rows, columns and steps of the array.
    array: [u64; 3],
    spad_bytes: u64,
    register_bytes: u64,
    cores: u64,
    /// Whether transfers and products run beside the core.
    engines: [bool; 2],
}

impl Toy {
    fn text(&self) -> String {
        let [m, n, k] = self.array;
        let [dma, mac] = self.engines;
        let on = |by: bool, name: &str| if by { format!("engine(@{name})") } else { String::new() };
        let engine = |by: bool, name: &str| match by {
            true => format!("device.engine @{name} on @core queue(3)"),
            false => String::new(),
        };
        // What lanes know is the toy's.
        let toy = crate::desk::machine("toy");
        let (_, lanes) = toy.split_once("device.lanes").expect("lanes");
        let (lanes, _) = lanes.split_once("  // c += a * b").expect("the instruction");
        let (a, b, c) = (
            format!("tensor<{m}x{k}xf32>"),
            format!("tensor<{k}x{n}xf32>"),
            format!("tensor<{m}x{n}xf32>"),
        );
        format!(
            r#"
device.machine @random arch("random") features([]) {{
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes({spad}) bytes_per_cycle(64) banks(4) bank_bytes(4)
  device.memory @vreg scope("thread") capacity_bytes({registers}) register_bytes({register})
  device.unit @core count({cores}) handover_cycles(100)
  {dma_engine}
  {mac_engine}
  device.move @in from @dram to @spad {by_dma} bytes_per_cycle(8) latency_cycles(20) strided fills
  device.move @out from @spad to @dram {by_dma} bytes_per_cycle(8) latency_cycles(20) strided
  device.move @vload from @spad to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @vstore from @vreg to @spad issue_cycles(1.0) latency_cycles(2) strided
  device.lanes{lanes}
  device.instruction @mac on @core {by_mac} operands([@spad, @spad, @spad]) issue_cycles(1.0) latency_cycles(8)
  meaning {{
  ^bb0(%a: {a}, %b: {b}, %c: {c}):
    %d = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
    device.yield %d : {c}
  }} lowering {{
  ^bb0(%a: index, %b: index, %c: index):
    device.yield
  }}
}}
"#,
            spad = self.spad_bytes,
            registers = 32 * self.register_bytes,
            register = self.register_bytes,
            cores = self.cores,
            dma_engine = engine(dma, "dma"),
            mac_engine = engine(mac, "array"),
            by_dma = on(dma, "dma"),
            by_mac = on(mac, "array"),
        )
    }
}

fn toys() -> impl Strategy<Value = Toy> {
    let array = [1u64..6, 1u64..6, 1u64..6];
    let memory = (
        prop::sample::select(vec![2048u64, 3000, 8192, 65536]),
        prop::sample::select(vec![8u64, 16, 32]),
    );
    (array, memory, 1u64..5, any::<[bool; 2]>()).prop_map(
        |(array, (spad_bytes, register_bytes), cores, engines)| Toy {
            array,
            spad_bytes,
            register_bytes,
            cores,
            engines,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_are_right_on_random_machines(
        toy in toys(),
        kernel in prop::sample::select(KERNELS),
        seeds in prop::array::uniform6(any::<u64>()),
    ) {
        let (expression, axes) = kernel;
        let extents = axes.iter().zip(seeds).map(|((axis, most), seed)| format!("{axis}={}", 1 + seed % most));
        let shape = extents.collect::<Vec<_>>().join(",");
        let desk = Desk::new();
        desk.write("machine.mlir", toy.text());
        let output = desk.tool(&["kernel", expression, "--shape", &shape, "--device", "machine.mlir"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        prop_assert!(output.status.success(), "{expression} of {shape}\n{said}\n{}", toy.text());
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        prop_assert!(told.contains("matches the reference interpreter's result"), "{told}");
    }
}
