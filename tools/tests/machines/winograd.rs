//! Winograd's algorithm asked for on the command line, on machines of every kind.

use weft_runtime::cpu::check_features;
use weft_runtime::npz::{Npz, write};
use weft_runtime::{DType, Tensor};

use crate::desk::{Desk, machine};

/// A convolution of 24 to 20 channels with a border, on an image of 13 x 11, and relu.
const CONV: &str = r#"
func.func @conv(%x: tensor<2x24x13x11xf32>, %k: tensor<20x24x3x3xf32>, %b: tensor<20xf32>) -> tensor<2x20x13x11xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x24x13x11xf32> to tensor<2x24x15x13xf32>
  %e = tensor.empty() : tensor<2x20x13x11xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, f, y, x) -> (f)>, affine_map<(n, f, y, x) -> (n, f, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b : tensor<20xf32>) outs(%e : tensor<2x20x13x11xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<2x20x13x11xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %k : tensor<2x24x15x13xf32>, tensor<20x24x3x3xf32>) outs(%s : tensor<2x20x13x11xf32>) -> tensor<2x20x13x11xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, y, x) -> (n, f, y, x)>, affine_map<(n, f, y, x) -> (n, f, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<2x20x13x11xf32>) outs(%e : tensor<2x20x13x11xf32>) {
  ^bb0(%a: f32, %c: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x20x13x11xf32>
  return %r : tensor<2x20x13x11xf32>
}
"#;

const ALWAYS: [&str; 6] = [
    "--pass-option",
    "graph-winograd.when=always",
    "--pass-option",
    "graph-winograd.error=1000",
    "--pass-option",
    "graph-winograd.remarks=true",
];

#[test]
fn convolutions_are_right_by_either_tile() {
    let desk = Desk::new();
    desk.write("conv.mlir", CONV);
    desk.weft(&["run", "conv.mlir", "--outputs", "direct.npz"]);
    for tiles in ["graph-winograd.tiles=2x2", "graph-winograd.tiles=4x4"] {
        let asked = [&ALWAYS[..], &["--pass-option", tiles]].concat();
        for units in ["1", "2"] {
            let run = ["run", "conv.mlir", "--units", units, "--expect", "direct.npz"];
            desk.weft(&[&run[..], &asked].concat());
        }
        for device in ["toy", "systolic", "dsp", "ipu"] {
            desk.write("machine.mlir", machine(device));
            let on = ["conv.mlir", "--device", "machine.mlir", "--expect", "direct.npz"];
            assert_eq!(desk.simulate(&[&on[..], &asked].concat())["compared"], true, "{device}");
        }
        let text = ["compile", "conv.mlir", "--emit", "tile", "-o", "-"];
        let text = desk.weft(&[&text[..], &asked].concat());
        // Image, products, output: the window is gone.
        assert!(!text.contains("20x24x3x3xf32>, tensor<2x20x13x11"), "{text}");
    }
}

/// Few channels: transforms of three take more than the products save.
#[test]
fn a_machine_says_what_is_dearer() {
    let desk = Desk::new();
    desk.write("few.mlir", CONV.replace("24x", "3x"));
    desk.write(
        "many.mlir",
        CONV.replace("24x", "256x")
            .replace("20x", "256x")
            .replace("13x11", "28x28")
            .replace("15x13", "30x30"),
    );
    let machine = crate::desk::file("devices/x86-avx512.mlir");
    let machine = machine.to_str().expect("a path");
    let asked = [
        "--device",
        machine,
        "--emit",
        "tile",
        "-o",
        "-",
        "--pass-option",
        "graph-winograd.error=100",
        "--pass-option",
        "graph-winograd.tiles=2x2",
    ];
    let kernels = |model: &str| {
        let text = desk.weft(&[&["compile", model], &asked[..]].concat());
        text.matches("tile.run").count()
    };
    assert!(kernels("few.mlir") < 6);
    assert!(kernels("many.mlir") > 7);
}

/// Channels, filters, rows and columns of a larger convolution.
const LARGE: [usize; 4] = [64, 48, 22, 19];

/// The sums of a direct convolution without a border in f64, and those of the magnitudes.
fn exact(x: &[f32], k: &[f32]) -> Vec<(f64, f64)> {
    let [c, f, h, w] = LARGE;
    let at = |f: usize, row: usize, column: usize| {
        let taps = (0..c).flat_map(|c| (0..9).map(move |tap| (c, tap / 3, tap % 3)));
        taps.fold((0.0, 0.0), |(sum, size), (n, r, s)| {
            let one = f64::from(x[(n * h + row + r) * w + column + s]);
            let term = one * f64::from(k[((f * c + n) * 3 + r) * 3 + s]);
            (sum + term, size + term.abs())
        })
    };
    let points =
        (0..f).flat_map(|f| (0..h - 2).flat_map(move |y| (0..w - 2).map(move |x| (f, y, x))));
    points.map(|(f, y, x)| at(f, y, x)).collect()
}

/// `--accuracy relaxed` computes otherwise, and within the bound that it states; without it nothing
/// changes.
#[test]
fn relaxed_keeps_its_bound() {
    if let Err(why) = check_features(&["avx2", "fma", "f16c", "bmi2"].map(str::to_owned)) {
        eprintln!("not run: {why}");
        return;
    }
    let [c, f, h, w] = LARGE;
    let number = |at: usize| ((at * 7919 + 13) % 2003) as f32 / 1001.5 - 1.0;
    let x: Vec<f32> = (0..c * h * w).map(number).collect();
    let k: Vec<f32> = (0..f * c * 9).map(|at| number(at * 31 + 5)).collect();
    let (high, wide) = (h - 2, w - 2);
    let bytes = k.iter().flat_map(|number| number.to_le_bytes());
    let filter: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    let desk = Desk::new();
    desk.write(
        "conv.mlir",
        format!(
            "func.func @conv(%x: tensor<1x{c}x{h}x{w}xf32>) -> tensor<1x{f}x{high}x{wide}xf32> {{
               %zero = arith.constant 0.0 : f32
               %k = arith.constant dense<\"0x{filter}\"> : tensor<{f}x{c}x3x3xf32>
               %e = tensor.empty() : tensor<1x{f}x{high}x{wide}xf32>
               %s = linalg.fill ins(%zero : f32) outs(%e : tensor<1x{f}x{high}x{wide}xf32>) -> tensor<1x{f}x{high}x{wide}xf32>
               %y = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x{c}x{h}x{w}xf32>, tensor<{f}x{c}x3x3xf32>)
                 outs(%s : tensor<1x{f}x{high}x{wide}xf32>) -> tensor<1x{f}x{high}x{wide}xf32>
               return %y : tensor<1x{f}x{high}x{wide}xf32>
             }}"
        ),
    );
    let shape = [1, c, h, w].map(|dim| dim as u64).to_vec();
    let bytes = x.iter().flat_map(|number| number.to_le_bytes()).collect();
    let image = Tensor { dtype: DType::F32, shape, bytes };
    write(&desk.path("x.npz"), [("arg0", &image)]).expect("written");
    let results = |more: &[&str]| {
        let run =
            ["run", "conv.mlir", "--device", "x86-avx2", "--inputs", "x.npz", "--outputs", "y.npz"];
        desk.weft(&[&run[..], more].concat());
        let outputs = Npz::read(&desk.path("y.npz")).expect("outputs");
        let name = outputs.names().next().expect("one").to_owned();
        let words = outputs.get(&name).expect("it is there").bytes.chunks_exact(4);
        words.map(|word| f32::from_le_bytes(word.try_into().expect("four"))).collect::<Vec<_>>()
    };
    let (direct, relaxed) = (results(&[]), results(&["--accuracy", "relaxed"]));
    assert_eq!(direct, results(&["--accuracy", "model"]));
    assert_ne!(direct, relaxed);
    let terms = (9 * c) as f64;
    let unit = f64::from(f32::EPSILON) / 2.0;
    let bound = |times: f64, size: f64| times * terms * unit * size;
    for ((direct, relaxed), (sum, size)) in direct.iter().zip(&relaxed).zip(exact(&x, &k)) {
        assert!((f64::from(*direct) - sum).abs() <= bound(1.0, size), "{direct} is {sum}");
        assert!((f64::from(*relaxed) - sum).abs() <= bound(1024.0, size), "{relaxed} is {sum}");
    }
}
