//! Blocks whose rows or columns are several axes of the nest: pixels of several images.

use crate::blocks::slow;
use crate::edited::{device_program, with_tiles};
use crate::host;
use crate::kernels::{check_as, product_alone};
use crate::numbers::{Random, bytes, numbers};
use weft_passes::pipeline::Stage;

const ROWS: &str = "y[n,h,w,o] += x[n,2*h+r,w+s,c] * f[r,s,c,o]";
/// Every line is read: tiles of pixels are boxes of the tensor.
const LINES: &str = "y[n,h,w,o] += x[n,h+r,w+s,c] * f[r,s,c,o]";
const COLUMNS: &str = "y[o,n,h,w] += f[r,s,o,c] * x[n,h+r,2*w+s,c]";
/// Pixels of a channel are neighbours, as models have them.
const PLANES: &str = "y[n,o,h,w] += x[n,c,h+r,w+s] * f[o,c,r,s]";

/// Boxes that the cost chooses, all of whose axes are ragged.
#[test]
fn pixels_are_rows_of_blocks() {
    let cases =
        [("v100", "f16"), ("a100", "f16"), ("h200", "bf16"), ("mi300x", "f16"), ("mi250x", "bf16")];
    for (machine, elem) in cases {
        let file = slow(machine);
        let path = file.path().to_str().expect("a path is text");
        for product in [PLANES, ROWS, COLUMNS] {
            let what = (product, "n=3,h=7,w=9,o=40,r=3,s=2,c=24");
            let counted = check_as(path, machine, what, elem);
            assert_eq!(counted.blocks, 1, "{machine}, {product} of {elem}: not in blocks");
            assert_eq!(counted.said, counted.found, "{machine}, {product} of {elem}");
        }
    }
}

/// Every way that tiles come: at once, by registers with one room and with two, by an engine, and to where
/// an instruction takes them.
#[test]
fn boxes_come_by_every_way() {
    let warps = r#"on @mma_m16n8k16_f16 axes [[0, 1, 2], [3], [6]] tiles [#tile.rtile<"smem"[2, 4, 8, 32, 1, 1, 32]>, #tile.rtile<"reg"[1, 4, 8, 16, 1, 1, 16]>] layouts [array<i64: 6, 40>, array<i64: 3, 40>]"#;
    let warpgroups = r#"on @wgmma_m64n64k16_f16_kn axes [[0, 1, 2], [3], [6]] tiles [#tile.rtile<"smem"[4, 8, 4, 64, 1, 1, 64]>, #tile.rtile<"acc"[2, 8, 4, 64, 1, 1, 16]>] layouts [array<i64: 6, 64, 3, 3, 3>, array<i64: 3, 64, 3, 3, 3>]"#;
    let wavefronts = r#"on @mfma_16x16x16_f16 axes [[0, 1, 2], [3], [6]] tiles [#tile.rtile<"lds"[2, 4, 8, 32, 1, 1, 64]>, #tile.rtile<"reg"[1, 4, 8, 16, 1, 1, 16]>] layouts [array<i64: 6, 72>, array<i64: 3, 40>]"#;
    // Tiles that are turned on their way through registers: runs of a lane are several places along an axis.
    let turned = r#"on @mma_m16n16k4_f16 axes [[3], [0, 1, 2], [6]] tiles [#tile.rtile<"smem"[4, 4, 4, 64, 1, 1, 32]>, #tile.rtile<"reg"[4, 4, 4, 32, 1, 1, 4]>] layouts [array<i64: 2, 64, 3, 3, 4>, array<i64: 3, 64>]"#;
    let (two, three) = ("stages = 2", "stages = 3");
    let engine = "ahead = @stage_ahead, stages = 3";
    // RTasks beside each other along pixels share weights, along channels pixels.
    let boxes = [
        "ahead = @stage_boxes, stages = 3",
        "ahead = @stage_boxes, stages = 4",
        "ahead = @stage_boxes, cluster = [1, 1, 2, 1, 1, 1, 1], stages = 4",
        "ahead = @stage_boxes, cluster = [1, 1, 1, 2, 1, 1, 1], stages = 3",
    ];
    for (machine, tiles, schedules) in [
        ("a100", warps, &["", two, three, engine, "interleave = [2]"][..]),
        ("h200", warpgroups, &["", engine, "ahead = @stage_ahead, stages = 4"]),
        ("mi300x", wavefronts, &["", two, three]),
        ("v100", turned, &["", two, three, "interleave = [2, 3], stages = 3"]),
    ] {
        for schedule in schedules {
            let tiles = format!("{tiles} schedule <{schedule}>").replace(" schedule <>", "");
            holds(machine, (ROWS, 2, [6, 7]), &tiles);
        }
    }
    for schedule in boxes {
        let tiles = format!("{warpgroups} schedule <{schedule}>");
        let program = holds("h200", (LINES, 1, [8, 8]), &tiles);
        assert!(program.contains("sizes [4, 8, 4, 1, 64]"), "{program}");
    }
}

/// Holds what the threads give in these tiles against sums in f64, for a product that goes so many lines down for each
/// of its own, which it has so many of, and pixels. Gives the device program.
fn holds(machine: &str, (product, down, [h, w]): (&str, u64, [u64; 2]), tiles: &str) -> String {
    let [n, o, r, s, c] = [5, 72, 2, 3, 48];
    let shape = format!("n={n},h={h},w={w},o={o},r={r},s={s},c={c}");
    let context = weft::context();
    let mut unit = product_alone(&context, machine, (product, &shape), "f16");
    unit.lower(Stage::Tile).expect("the machine can do it");
    let text = device_program(machine, &with_tiles(&unit.module().text(), tiles));
    let [lines, pixels] = [down * (h - 1) + r, w + s - 1];
    let mut random = Random(7);
    let x = random.numbers(n * lines * pixels * c, "f16");
    let f = random.numbers(r * s * c * o, "f16");
    // Behind the last image is room for one more, which no group writes.
    let end = (n * h * w * o * 4) as usize;
    let sums = vec![0xff; end + end / n as usize];
    let mut given = vec![bytes(&x, "f16"), bytes(&f, "f16"), sums];
    host::run(machine, &text, &mut given);
    let (sums, rest) = given[2].split_at(end);
    assert!(rest.iter().all(|&byte| byte == 0xff), "{machine}: {tiles} goes past the end");
    let mut wanted = Vec::new();
    for place in 0..n * h * w * o {
        let (at, column) = (place / o, place % o);
        let [image, line, pixel] = [at / (h * w), at / w % h, at % w];
        let mut sum = 0.0;
        for tap in 0..r * s * c {
            let [below, right, channel] = [tap / (s * c), tap / c % s, tap % c];
            let row = (image * lines + down * line + below) * pixels + pixel + right;
            sum += x[(row * c + channel) as usize] * f[(tap * o + column) as usize];
        }
        wanted.push(sum);
    }
    let got = numbers(sums, "f32");
    assert!(got == wanted, "{machine}: {tiles}");
    text
}
