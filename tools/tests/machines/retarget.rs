//! N-3. One number of the machine file changes what is made of a program, and its time.

use crate::desk::{Desk, machine};

struct Made {
    tiles: String,
    cycles: f64,
}

/// The kernel that a machine gets, without what does not depend on the choice.
fn make(text: &str) -> Made {
    let desk = Desk::new();
    desk.write("machine.mlir", text);
    let product = "C[m,n] += A[m,k] * B[k,n]";
    desk.weft(&["kernel", product, "--shape", "m=64,n=64,k=64", "--emit", "graph", "-o", "k.mlir"]);
    let tiles =
        desk.weft(&["compile", "k.mlir", "--device", "machine.mlir", "--emit", "tile", "-o", "-"]);
    let compute = tiles.lines().find(|line| line.contains("tile.compute")).expect("a kernel");
    let (_, choice) = compute.split_once(" on ").expect("a choice");
    let (choice, _) = choice.split_once(" because ").expect("a reason");
    let report = desk.simulate(&["k.mlir", "--device", "machine.mlir"]);
    Made { tiles: choice.to_owned(), cycles: report["cycles"].as_f64().expect("a number") }
}

#[test]
fn n_3_a_smaller_scratchpad_makes_smaller_tiles() {
    let (large, small) =
        (machine("toy"), machine("toy").replace("capacity_bytes(131072)", "capacity_bytes(4096)"));
    let (large, small) = (make(&large), make(&small));
    assert_eq!(
        large.tiles,
        r#"@mac4x4x4 axes [0, 1, 2] tiles [#tile.rtile<"dram"[32, 32, 64]>, #tile.rtile<"spad"[32, 32, 16]>] schedule <stages = 2>"#
    );
    assert!(small.tiles.contains(r#"<"spad"[16, 32, 4]"#), "{}", small.tiles);
    assert!(small.cycles > large.cycles, "{} and {}", small.cycles, large.cycles);
}

#[test]
fn n_3_a_slower_engine_takes_longer() {
    let slow = machine("toy")
        .replace("engine(@dma) bytes_per_cycle(16)", "engine(@dma) bytes_per_cycle(1)");
    let (fast, slow) = (make(&machine("toy")), make(&slow));
    // On each of four units 24 KiB come in and 4 KiB go out at 1 byte a cycle.
    assert!(slow.cycles > 20480.0, "{}", slow.cycles);
    assert!(slow.cycles > 3.0 * fast.cycles, "{} and {}", fast.cycles, slow.cycles);
}

/// Where a transfer takes long to begin to come, fewer bring the same.
#[test]
fn n_3_a_longer_latency_changes_the_plan() {
    let late =
        machine("toy").replace("latency_cycles(200) strided", "latency_cycles(2000) strided");
    let (soon, late) = (make(&machine("toy")), make(&late));
    assert!(soon.tiles.contains(r#"<"spad"[32, 32, 16]"#), "{}", soon.tiles);
    assert!(late.tiles.contains(r#"<"spad"[32, 32, 64]"#), "{}", late.tiles);
    assert!(late.cycles > 1800.0 + soon.cycles, "{} and {}", soon.cycles, late.cycles);
}

#[test]
fn n_3_an_added_instruction_is_used() {
    let toy = machine("toy");
    let begin = toy.find("  // c += a * b on blocks").expect("the instruction is there");
    let without =
        format!("{}}}\n", &toy[..begin]).replace("  device.engine @mac on @core queue(4)\n", "");
    let (without, with) = (make(&without), make(&toy));
    assert!(without.tiles.starts_with("@valu lanes "), "{}", without.tiles);
    assert!(with.tiles.starts_with("@mac4x4x4 axes [0, 1, 2] "), "{}", with.tiles);
    assert!(1.5 * with.cycles < without.cycles, "{} and {}", with.cycles, without.cycles);
}

/// The number of units is part of the plan.
#[test]
fn n_3_fewer_units_share_the_work() {
    let of = |units: &str| {
        let desk = Desk::new();
        desk.write("machine.mlir", machine("toy").replace("@core count(4)", units));
        let product = "C[m,n] += A[m,k] * B[k,n]";
        desk.weft(&[
            "kernel",
            product,
            "--shape",
            "m=256,n=128,k=64",
            "--emit",
            "graph",
            "-o",
            "k.mlir",
        ]);
        desk.simulate(&["k.mlir", "--device", "machine.mlir"])["cycles"].as_f64().expect("a number")
    };
    let (one, four) = (of("@core count(1)"), of("@core count(4)"));
    assert!(one > 3.0 * four, "{one} on one core, {four} on four");
}
