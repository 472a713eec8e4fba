//! Winograd's algorithm asked for on the command line, on machines of every kind.

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
