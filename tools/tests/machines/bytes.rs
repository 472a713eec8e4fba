//! N-8. The bytes that the simulator counts are those that one counts by hand.

use crate::desk::{Desk, machine};

/// Sizes of the first rTile of a memory in the text of the tile stage.
fn tile(text: &str, memory: &str) -> Vec<u64> {
    let begin = format!("#tile.rtile<\"{memory}\"[");
    let (_, rest) = text.split_once(&begin).expect("the rTile is there");
    let (sizes, _) = rest.split_once(']').expect("it ends");
    sizes.split(", ").map(|size| size.parse().expect("a size")).collect()
}

/// Bytes that the move `name` moved.
fn moved(report: &serde_json::Value, name: &str) -> u64 {
    let moves = report["moves"].as_array().expect("moves");
    let one = moves.iter().find(|one| one["name"] == name).expect("the move is there");
    one["bytes"].as_u64().expect("a number")
}

/// Bytes of a float operand that moves along some axes and comes again for every tile of
/// the others.
fn by_hand(extents: &[u64], tile: &[u64], uses: &[usize]) -> u64 {
    let along = |axis: usize| match uses.contains(&axis) {
        true => extents[axis],
        false => extents[axis].div_ceil(tile[axis]),
    };
    4 * (0..extents.len()).map(along).product::<u64>()
}

fn compile(expression: &str, shape: &str) -> (Desk, String) {
    let desk = Desk::new();
    desk.write(
        "machine.mlir",
        machine("toy").replace("capacity_bytes(131072)", "capacity_bytes(8192)"),
    );
    desk.weft(&["kernel", expression, "--shape", shape, "--emit", "graph", "-o", "kernel.mlir"]);
    let tiles = desk.weft(&[
        "compile",
        "kernel.mlir",
        "--device",
        "machine.mlir",
        "--emit",
        "tile",
        "-o",
        "-",
    ]);
    (desk, tiles)
}

#[test]
fn n_8_bytes_of_a_product() {
    let (desk, tiles) = compile("C[m,n] += A[m,k] * B[k,n]", "m=64,n=64,k=64");
    let report = desk.simulate(&["kernel.mlir", "--device", "machine.mlir"]);
    let (extents, tile) = ([64, 64, 64], tile(&tiles, "spad"));
    // In 8 KiB wait two tiles each of A and B and one of C: 32 x 32 sums.
    assert_eq!(tile[0] * tile[1], 1024, "{tile:?}");
    let (a, b) = (by_hand(&extents, &tile, &[0, 2]), by_hand(&extents, &tile, &[1, 2]));
    let c = 4 * 64 * 64;
    assert_eq!(a + b, 4 * 64 * 64 * (64 / 32 + 64 / 32));
    // Every sum is filled with zeros where it waits, and written once.
    assert_eq!(moved(&report, "in"), a + b + c);
    assert_eq!(moved(&report, "out"), c);
    // What is read from the shared memory are whole pieces of 64 bytes, rows of the tiles.
    assert_eq!(report["memories"][0]["written_bytes"], c);
}

#[test]
fn n_8_bytes_of_a_convolution() {
    let (desk, tiles) =
        compile("O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]", "f=16,y=8,x=8,c=16,r=3,s=3");
    let report = desk.simulate(&["kernel.mlir", "--device", "machine.mlir"]);
    let (extents, tile) = ([16, 8, 8, 16, 3, 3], tile(&tiles, "spad"));
    // Pixels come again for every row and column of the window.
    let weights = by_hand(&extents, &tile, &[0, 3, 4, 5]);
    let pixels = by_hand(&extents, &tile, &[1, 2, 3, 4, 5]);
    let sums = 4 * 16 * 8 * 8;
    assert_eq!(moved(&report, "in"), weights + pixels + sums);
    assert_eq!(moved(&report, "out"), sums);
    let mac = &report["instructions"][0];
    assert_eq!((mac["name"].as_str(), mac["count"].as_u64()), (Some("mac4x4x4"), Some(2304)));
}
