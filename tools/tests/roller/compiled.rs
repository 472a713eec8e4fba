//! RO-2, RO-11: the tiles that are compiled for lanes are constructed ones, keep Roller's rules, and are
//! predicted to take no longer than the best of all that fit.
//!
//! The rules are checked on the text of `tile` alone; nothing of the construction is used.

use std::process::Command;

/// Expression, shape, the axes in their order with their extents, and how many of them are
/// parallel.
struct Case {
    expression: &'static str,
    axes: &'static [(&'static str, u64)],
    parallel: usize,
}

const fn case(
    expression: &'static str,
    axes: &'static [(&'static str, u64)],
    parallel: usize,
) -> Case {
    Case { expression, axes, parallel }
}

const CASES: [Case; 10] = [
    case("C[m,n] += A[m,k] * B[k,n]", &[("m", 33), ("n", 70), ("k", 65)], 2),
    case("C[m,n] += A[m,k] * B[k,n]", &[("m", 128), ("n", 768), ("k", 768)], 2),
    case("C[m,n] += A[m,k] * B[k,n]", &[("m", 5), ("n", 1000), ("k", 31)], 2),
    case("C[m,n] += A[m,k] * B[n,k]", &[("m", 49), ("n", 49), ("k", 32)], 2),
    case("C[b,m,n] += A[b,m,k] * B[b,k,n]", &[("b", 6), ("m", 64), ("n", 32), ("k", 64)], 3),
    case("y[m] += A[m,k] * x[k]", &[("m", 1009), ("k", 192)], 1),
    case("y[m] += A[m,k]", &[("m", 33), ("k", 192)], 1),
    case("y[n] += A[m,n]", &[("n", 300), ("m", 77)], 1),
    case(
        "O[c,y,x] += I[c,y+r,x+s] * W[c,r,s]",
        &[("c", 16), ("y", 28), ("x", 28), ("r", 3), ("s", 3)],
        3,
    ),
    case(
        "O[f,y,x] += I[c,y+r,x+s] * W[f,c,r,s]",
        &[("f", 42), ("y", 14), ("x", 14), ("c", 20), ("r", 3), ("s", 3)],
        3,
    ),
];

/// Machine, lanes of `f32`, registers.
const MACHINES: [(&str, u64, u64); 2] = [("x86-avx2", 8, 16), ("x86-avx512", 16, 32)];

/// Standard output and error of `weft`.
pub fn weft(arguments: &[&str], folder: &std::path::Path) -> [String; 2] {
    let mut weft = Command::new(env!("CARGO_BIN_EXE_weft"));
    let output = weft.args(arguments).current_dir(folder).output().expect("weft starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}\n{said}");
    [String::from_utf8(output.stdout).expect("text"), said]
}

/// What was compiled for a case.
struct Compiled {
    /// Axis of the lanes, if there are any.
    lanes: Option<usize>,
    /// Sizes of the register tile.
    tile: Vec<u64>,
    /// Predicted cycles.
    cycles: f64,
    /// How many tiles were compared.
    compared: usize,
}

fn compile(case: &Case, machine: &str, tiles: &str) -> Compiled {
    let folder = tempfile::tempdir().expect("a folder");
    let shape: Vec<String> =
        case.axes.iter().map(|(name, size)| format!("{name}={size}")).collect();
    let shape = shape.join(",");
    let graph = ["--device", machine, "--emit", "graph", "-o", "k.mlir"];
    weft(&[&["kernel", case.expression, "--shape", &shape], &graph[..]].concat(), folder.path());
    let option = format!("tile-construct-rtiles.tiles={tiles}");
    let [text, said] = weft(
        &[
            "compile",
            "k.mlir",
            "--device",
            machine,
            "--emit",
            "tile",
            "-o",
            "-",
            "--remarks",
            "--pass-option",
            &option,
            "--pass-option",
            "tile-construct-rtiles.told=100000",
        ],
        folder.path(),
    );
    // The last kernel is the expression's; before it may be one that packs an operand.
    let line = text.lines().rfind(|line| line.contains("tile.compute")).expect("a compute");
    let name = said.lines().rfind(|line| line.contains(": rank 0: ")).expect("a best one");
    let name = name.split("remark: ").nth(1).and_then(|rest| rest.split(':').next());
    let name = name.expect("a kernel");
    let of_kernel = |line: &&str| line.contains(&format!("remark: {name}: rank "));
    let best = said.lines().find(of_kernel).expect("it is ranked");
    let cycles = best.split(" cycles").next().and_then(|before| before.rsplit(' ').next());
    let numbers = line.split("<\"vreg\"[").nth(1).and_then(|rest| rest.split(']').next());
    let tile = numbers.expect("a register tile").split(", ");
    let lanes = line.split(" lanes ").nth(1).and_then(|rest| rest.split(' ').next());
    Compiled {
        lanes: lanes.map(|axis| axis.parse().expect("a number")),
        tile: tile.map(|size| size.parse().expect("a number")).collect(),
        cycles: cycles.expect("cycles").parse().expect("a number"),
        compared: said.lines().filter(of_kernel).count(),
    }
}

/// The rules, where the kernel's axes are those of the expression.
fn check_rules(case: &Case, (machine, lanes, registers): (&str, u64, u64), made: &Compiled) {
    let what =
        format!("{} on {machine}: lanes {:?} of {:?}", case.expression, made.lanes, made.tile);
    let Some(axis) = made.lanes else { panic!("{what}: one point at a time") };
    let mut sums = 1;
    for (at, (&size, &(_, extent))) in made.tile.iter().zip(case.axes).enumerate() {
        if at == axis {
            // Rule 1: whole registers, or the whole axis.
            assert!(size.is_multiple_of(lanes) || size == extent, "{what}: axis {at}");
            sums *= size.div_ceil(lanes);
        } else if at < case.parallel && size > 1 {
            // Rule 4: no smaller size makes as many tiles, or it divides the axis.
            let fewer = extent.div_ceil(size) < extent.div_ceil(size - 1);
            assert!(fewer || extent.is_multiple_of(size) || size == 2, "{what}: axis {at}");
            sums *= size;
        }
    }
    assert!(sums + 2 <= registers, "{what}: {sums} sums in {registers} registers");
}

#[test]
fn ro_2_compiled_tiles_keep_the_rules() {
    for case in &CASES {
        for machine in MACHINES {
            let made = compile(case, machine.0, "constructed");
            // An operand that was packed has its panels as axes of their own.
            if made.tile.len() == case.axes.len() {
                check_rules(case, machine, &made);
            }
        }
    }
}

/// The construction compares a part of what fits, and misses nothing by more than a hundredth.
#[test]
fn ro_2_constructed_tiles_are_as_good_as_all() {
    let (mut constructed, mut enumerated) = (0, 0);
    for case in &CASES {
        for (machine, ..) in MACHINES {
            let [ours, all] =
                ["constructed", "enumerated"].map(|tiles| compile(case, machine, tiles));
            let what = format!("{} on {machine}", case.expression);
            assert!(ours.cycles <= all.cycles * 1.01, "{what}: {} and {}", ours.cycles, all.cycles);
            assert!(ours.compared <= all.compared, "{what}");
            constructed += ours.compared;
            enumerated += all.compared;
        }
    }
    assert!(constructed * 10 < enumerated * 7, "{constructed} of {enumerated} tiles are compared");
}
