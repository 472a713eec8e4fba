//! Products by instructions whose registers are tiles: on a machine of tiles of 4 rows of 16 bytes that any processor with
//! AVX2 can be, for its moves and its instruction are written with lanes.

use std::fmt::Write;

use super::narrow::{Bytes, PLAIN, Zero, bytes_product};
use super::*;

const MEMORY: &str = "  // 16 registers of 32 bytes.\n";
const LANES: &str = "device.lanes @valu on @core in @vreg issue_cycles(5.000000e-01)";

/// The numbers of a shuffle: `of` gives one for each lane.
fn lanes(count: usize, of: impl Fn(usize) -> usize) -> String {
    (0..count).map(|lane| of(lane).to_string()).collect::<Vec<_>>().join(", ")
}

/// Eight registers of 4 x 4 quads of bytes, moves to and from them, and the product of two, added up.
fn tiles() -> String {
    let mut text = String::from(
        "  device.memory @tile scope(\"thread\") capacity_bytes(512) register_bytes(64) row_bytes(16)\n\
         \x20 device.move @tile_load from @dram to @tile issue_cycles(1.0) latency_cycles(9) strided fills\n\
         \x20 lowering {\n  ^bb0(%at: !llvm.ptr, %distance: i64):\n",
    );
    let mut at = "%at".to_owned();
    for row in 0..4 {
        writeln!(
            text,
            "    %r{row} = llvm.load {at} {{alignment = 1 : i64}} : !llvm.ptr -> vector<16xi8>"
        )
        .unwrap();
        let next = format!("%at{row}");
        writeln!(
            text,
            "    {next} = llvm.getelementptr {at}[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8"
        )
        .unwrap();
        at = next;
    }
    let (two, four) = (lanes(32, |lane| lane), lanes(64, |lane| lane));
    writeln!(
        text,
        "    %low = vector.shuffle %r0, %r1 [{two}] : vector<16xi8>, vector<16xi8>\n    \
         %high = vector.shuffle %r2, %r3 [{two}] : vector<16xi8>, vector<16xi8>\n    \
         %all = vector.shuffle %low, %high [{four}] : vector<32xi8>, vector<32xi8>\n    \
         device.yield %all : vector<64xi8>\n  }}\n  \
         device.move @tile_store from @tile to @dram issue_cycles(1.0) latency_cycles(9) strided\n  \
         lowering {{\n  ^bb0(%v: vector<64xi8>, %at: !llvm.ptr, %distance: i64):"
    )
    .unwrap();
    let mut at = "%at".to_owned();
    for row in 0..4 {
        let own = lanes(16, |lane| 16 * row + lane);
        writeln!(
            text,
            "    %r{row} = vector.shuffle %v, %v [{own}] : vector<64xi8>, vector<64xi8>\n    \
             llvm.store %r{row}, {at} {{alignment = 1 : i64}} : vector<16xi8>, !llvm.ptr\n    \
             %at{row} = llvm.getelementptr {at}[%distance] : (!llvm.ptr, i64) -> !llvm.ptr, i8"
        )
        .unwrap();
        at = format!("%at{row}");
    }
    text += "    device.yield\n  }\n\
         \x20 device.instruction @quads on @core operands([@tile, @tile, @tile]) issue_cycles(1.0) latency_cycles(4)\n\
         \x20 meaning {\n  ^bb0(%a: tensor<4x4x4xi8>, %b: tensor<4x4x4xi8>, %c: tensor<4x4xi32>):\n\
         \x20   %d = linalg.generic {indexing_maps = [affine_map<(m, n, k, q) -> (m, k, q)>, affine_map<(m, n, k, q) -> (k, n, q)>, affine_map<(m, n, k, q) -> (m, n)>],\n\
         \x20     iterator_types = [\"parallel\", \"parallel\", \"reduction\", \"reduction\"]}\n\
         \x20     ins(%a, %b : tensor<4x4x4xi8>, tensor<4x4x4xi8>) outs(%c : tensor<4x4xi32>) {\n\
         \x20   ^bb0(%x: i8, %y: i8, %z: i32):\n\
         \x20     %u = arith.extui %x : i8 to i32\n\
         \x20     %v = arith.extsi %y : i8 to i32\n\
         \x20     %p = arith.muli %u, %v : i32\n\
         \x20     %s = arith.addi %z, %p : i32\n\
         \x20     linalg.yield %s : i32\n\
         \x20   } -> tensor<4x4xi32>\n\
         \x20   device.yield %d : tensor<4x4xi32>\n\
         \x20 } lowering {\n\
         \x20 ^bb0(%a: vector<64xi8>, %b: vector<64xi8>, %c: vector<16xi32>):\n\
         \x20   %u = arith.extui %a : vector<64xi8> to vector<64xi32>\n\
         \x20   %v = arith.extsi %b : vector<64xi8> to vector<64xi32>\n";
    let mut sum = "%c".to_owned();
    for (k, q) in (0..4).flat_map(|k| (0..4).map(move |q| (k, q))) {
        let rows = lanes(16, |lane| lane / 4 * 16 + 4 * k + q);
        let columns = lanes(16, |lane| 16 * k + lane % 4 * 4 + q);
        let own = format!("{k}{q}");
        writeln!(
            text,
            "    %a{own} = vector.shuffle %u, %u [{rows}] : vector<64xi32>, vector<64xi32>\n    \
             %b{own} = vector.shuffle %v, %v [{columns}] : vector<64xi32>, vector<64xi32>\n    \
             %p{own} = arith.muli %a{own}, %b{own} : vector<16xi32>\n    \
             %s{own} = arith.addi {sum}, %p{own} : vector<16xi32>"
        )
        .unwrap();
        sum = format!("%s{own}");
    }
    writeln!(text, "    device.yield {sum} : vector<16xi32>\n  }}").unwrap();
    text
}

/// Runs cases on the machine, whose lanes are slow, so that tiles are taken where they can be; tells how many took them.
fn check_on_tiles(cases: &[Case]) -> usize {
    let memory = [&tiles(), MEMORY].concat();
    let slow = LANES.replace("5.000000e-01", "4.000000e+01");
    let other = "issue_cycles(2.000000e+00) latency_cycles(7)";
    let replaced = [
        (MEMORY, memory.as_str()),
        (LANES, slow.as_str()),
        (other, "issue_cycles(1.000000e+03) latency_cycles(7)"),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = other_machine(folder.path(), &replaced) else { return cases.len() };
    check_on(cases, std::slice::from_ref(&device));
    let takes_tiles = |case: &&Case| {
        let context = weft::context();
        let options = Options { device: device.clone(), ..Options::default() };
        let mut unit = Unit::from_text(&context, &case.text, options).expect("it ran");
        unit.lower(Stage::Tile).expect("it ran");
        unit.text().contains("on @quads axes")
    };
    cases.iter().filter(takes_tiles).count()
}

/// Whole tiles, parts of tiles along each axis, several tiles of each, and one row.
#[test]
fn products_of_bytes_by_tiles() {
    let mut cases = Vec::new();
    for mnk in [
        (4, 4, 16),
        (8, 8, 64),
        (12, 20, 48),
        (5, 8, 32),
        (8, 7, 32),
        (8, 8, 20),
        (13, 18, 36),
        (1, 16, 64),
        (3, 2, 4),
        (40, 36, 128),
        (6, 48, 7),
    ] {
        let zeros = [Zero::Given, Zero::Nothing];
        for (constant_y, epilogue) in [(true, false), (false, false), (true, true)] {
            cases.push(bytes_product(Bytes { mnk, constant_y, epilogue, ..PLAIN }));
            cases.push(bytes_product(Bytes { mnk, zeros, constant_y, epilogue, ..PLAIN }));
        }
    }
    let took = check_on_tiles(&cases);
    // Sums that quads do not divide, and some of few products, are done by lanes.
    assert!(took * 4 >= cases.len() * 3, "{took} of {}", cases.len());
}

/// The same on the tile registers of this processor, if it has some.
#[test]
fn products_by_the_tiles_of_the_processor() {
    let has = |name: &str| check_features(&[name.to_owned()]).is_ok();
    if !has("amx-int8") || !has("avx512bw") {
        eprintln!("not run: the processor has no tile registers");
        return;
    }
    let device = "x86-avx512+avx512vnni+amx-int8+amx-tile";
    let mut cases = Vec::new();
    for mnk in [(64, 64, 256), (70, 64, 128), (64, 72, 192), (33, 40, 320), (17, 100, 68)] {
        for (constant_y, epilogue) in [(true, false), (false, false), (true, true)] {
            cases.push(bytes_product(Bytes { mnk, constant_y, epilogue, ..PLAIN }));
        }
    }
    check_on(&cases, &[Device::Named(device.to_owned())]);
}
