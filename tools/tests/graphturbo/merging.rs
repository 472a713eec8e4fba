//! Sub-graphs merge along chains, around what forks and joins again, and beside each other (GT-2);
//! their instances' rooms fit the local buffer (GT-7).

use crate::desk::Desk;
use crate::instances::{BLOCK, CHIP, DSP, ROWS, buffer};

const ZERO: &str =
    "%z = \"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>";

/// A convolution of 3x3 with as many channels as it reads.
fn conv(name: &str, input: &str, weights: &str) -> String {
    format!(
        "%{name} = tosa.conv2d %{input}, %{weights}, %b, %z, %z {{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}} : (tensor<1x16x15x8xf32>, tensor<8x3x3x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x15x8xf32>"
    )
}

/// A function of an image and three sets of weights, with these lines.
fn model(lines: &[String], results: &[&str]) -> String {
    let ty = "tensor<1x16x15x8xf32>";
    let types = vec![ty; results.len()].join(", ");
    let values: Vec<_> = results.iter().map(|own| format!("%{own}")).collect();
    format!(
        "func.func @m(%x: {ty}, %u: tensor<8x3x3x8xf32>, %v: tensor<8x3x3x8xf32>, %w: tensor<8x3x3x8xf32>, %b: tensor<8xf32>) -> ({types}) {{\n{ZERO}\n{}\nreturn {} : {types}\n}}\n",
        lines.join("\n"),
        values.join(", "),
    )
}

/// How many sub-graphs a model is, and the operators that are in none.
fn subgraphs(model: &str, bytes: u64) -> (usize, usize) {
    let desk = Desk::new(model, CHIP[0], [CHIP[1], &buffer(CHIP, bytes)]);
    let remarks = desk.remarks();
    let task = desk.weft("compile model.mlir --emit task -o -", "all").expect("it compiles").0;
    // An operator of its own is run under its own name, an instance under that of a sub-graph.
    let alone =
        task.lines().filter(|line| line.contains("= task.range ") && !line.contains(" to "));
    (remarks.len(), alone.count())
}

#[test]
fn gt_2_straight_diamond_and_branch_merge() {
    let straight = model(&[conv("p", "x", "u"), conv("q", "p", "v"), conv("r", "q", "w")], &["r"]);
    let add = |name: &str, one: &str, other: &str| {
        format!(
            "%{name} = tosa.add %{one}, %{other} : (tensor<1x16x15x8xf32>, tensor<1x16x15x8xf32>) -> tensor<1x16x15x8xf32>"
        )
    };
    let diamond = model(&[conv("p", "x", "u"), conv("q", "p", "v"), add("r", "p", "q")], &["r"]);
    // As in an Inception cell: what reads one tensor is put together at the end.
    let cell = model(
        &[conv("p", "x", "u"), conv("q", "x", "v"), conv("s", "q", "w"), add("r", "p", "s")],
        &["r"],
    );
    let branch = model(&[conv("p", "x", "u"), conv("q", "x", "v")], &["p", "q"]);
    for (name, model) in
        [("straight", straight), ("diamond", diamond), ("cell", cell), ("branch", branch)]
    {
        assert_eq!(subgraphs(&model, 1 << 20), (1, 0), "{name}");
    }
}

/// Merging goes on until nothing changes: a chain of six is one sub-graph, not three pairs.
#[test]
fn gt_2_a_fixpoint_is_reached() {
    let names = ["x", "p", "q", "r", "s", "t", "o"];
    let chain: Vec<String> = names.windows(2).map(|pair| conv(pair[1], pair[0], "u")).collect();
    assert_eq!(subgraphs(&model(&chain, &["o"]), 1 << 20), (1, 0));
}

/// An instance cannot make what it needs by an operator that has none: what feeds that operator and
/// what reads it stay two sub-graphs, although the second reads the first as well.
#[test]
fn gt_2_a_way_around_through_another_operator_keeps_two_apart() {
    let (image, rows) = ("tensor<1x16x15x8xf32>", "tensor<1x240x8xf32>");
    let reshape = |name: &str, input: &str, shape: &str, [from, to]: [&str; 2]| {
        let rank = shape.split(',').count();
        format!(
            "%{name}s = tosa.const_shape {{values = dense<[{shape}]> : tensor<{rank}xindex>}} : () -> !tosa.shape<{rank}>\n%{name} = tosa.reshape %{input}, %{name}s : ({from}, !tosa.shape<{rank}>) -> {to}"
        )
    };
    // Pixels at computed places.
    let gather = [
        reshape("g0", "q", "1, 240, 8", [image, rows]),
        format!("%g1 = tosa.gather %g0, %i : ({rows}, tensor<1x240xi32>) -> {rows}"),
        reshape("g", "g1", "1, 16, 15, 8", [rows, image]),
    ];
    let add = format!("%s = tosa.add %r, %q : ({image}, {image}) -> {image}");
    let around = |input: &str, between: &[String]| {
        let first = [conv("p", "x", "u"), conv("q", "p", "v")];
        let last = [conv("r", input, "w"), add.clone()];
        let model = model(&[&first[..], between, &last].concat(), &["s"]);
        model.replace("%b: tensor<8xf32>)", "%b: tensor<8xf32>, %i: tensor<1x240xi32>)")
    };
    assert_eq!(subgraphs(&around("q", &[]), 1 << 20), (1, 0), "without it they are one");
    let model = around("g", &gather);
    assert_eq!(subgraphs(&model, 1 << 20).0, 2);
    let desk = Desk::new(&model, CHIP[0], [CHIP[1], CHIP[1]]);
    let option = "--pass-option tile-split-instances.remarks=true";
    let compile = format!("compile model.mlir --emit tile -o t.mlir {option}");
    let said = desk.weft(&compile, "all").expect("it compiles").1;
    let why = "stays apart from \"m\": it reads at computed addresses";
    assert!(said.contains(why), "{said}");
}

/// A room's bytes in the local buffer, from the text of the device stage.
fn rooms(text: &str, memory: &str) -> Vec<(u64, u64)> {
    let of = |line: &str| {
        let (_, rest) = line.split_once("device.alloc at ")?;
        let (begin, ty) = rest.split_once(" : memref<")?;
        let (shape, _) = ty.split_once(&format!(", \"{memory}\">"))?;
        let dims = shape.strip_suffix("xf32").expect("the model is in f32").split('x');
        let elements: u64 = dims.map(|dim| dim.parse::<u64>().expect("a number")).product();
        let begin = begin.parse::<u64>().expect("a number");
        Some((begin, begin + 4 * elements))
    };
    text.lines().filter_map(of).collect()
}

/// Every instance's rooms end inside the buffer, and share bytes only one after the other: a text in
/// which two that are in use meet is refused, and so is a buffer that is smaller than they are.
#[test]
fn gt_7_rooms_of_instances_fit() {
    for (model, machine, memory, sizes) in [
        (BLOCK, CHIP, "l1", [1 << 20, 40_000]),
        (BLOCK, DSP, "tcm", [1 << 18, 40_000]),
        (ROWS, CHIP, "l1", [1 << 20, 40_000]),
    ] {
        for bytes in sizes {
            let held = buffer(machine, bytes);
            let desk = Desk::new(model, machine[0], [machine[1], &held]);
            let text = desk.weft("compile model.mlir --emit device -o -", "all").expect("text").0;
            let rooms = rooms(&text, memory);
            let last = rooms.iter().map(|room| room.1).max().expect("instances have rooms");
            assert!(last <= bytes, "{last} of {bytes} bytes of {}", machine[0]);
            // The verifier sees what this test counts on.
            let less = text.replacen(&held, &buffer(machine, last - 1), 1);
            desk.write("less.mlir", &less);
            let refused = desk.weft("compile less.mlir --emit device -o -", "all");
            assert!(refused.expect_err("too small").contains("device.alloc ends at byte"));
            let (begin, _) = *rooms.iter().max_by_key(|room| room.0).expect("rooms");
            let onto = text.replace(&format!("device.alloc at {begin} "), "device.alloc at 0 ");
            desk.write("onto.mlir", &onto);
            if begin > 0 {
                let refused = desk.weft("compile onto.mlir --emit device -o -", "all");
                let said = refused.expect_err("two rooms in use meet");
                assert!(said.contains("device.alloc shares byte "), "{said}");
            }
        }
    }
}
