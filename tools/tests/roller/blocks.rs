//! RO-2, RO-5, RO-7, RO-8: the blocks of groups that are compiled are constructed ones: they keep
//! Roller's rules, are padded against bank conflicts, are small enough for every core to have one, and
//! are predicted to take no longer than all that are powers of two.
//!
//! The rules are checked on the text of `tile` alone; nothing of the construction is used.

use crate::compiled::weft;

/// Machine, element type, its bytes, lanes of a group, what one instruction covers along m, n and k
/// (1 along m and n where lanes do), and bytes that a kernel may have of the shared memory.
type Facts = (&'static str, &'static str, u64, u64, [u64; 3], u64);

const MACHINES: [Facts; 4] = [
    ("v100", "f32", 4, 32, [1, 1, 1], 49152),
    ("a100", "f32", 4, 32, [1, 1, 1], 49152),
    ("a100", "f16", 2, 32, [16, 8, 16], 166912),
    ("mi300x", "f32", 4, 64, [1, 1, 1], 65536),
];

/// Rows, columns and what is summed up.
const SHAPES: [[u64; 3]; 5] =
    [[1000, 1000, 1000], [65536, 42, 1024], [512, 512, 512], [35, 489, 2560], [128, 4096, 1024]];

/// What was compiled.
struct Made {
    block: Vec<u64>,
    group: Vec<u64>,
    /// Lanes along each axis; none where the instruction has axes.
    spread: Vec<u64>,
    cycles: f64,
    /// For each input, turns of banks a step, as it lies, as it would without padding, and the fewest.
    turns: Vec<[u64; 3]>,
}

fn numbers(line: &str, mark: &str) -> Vec<u64> {
    let text = line.split(mark).nth(1).and_then(|rest| rest.split(']').next());
    let text = text.unwrap_or_default().split(", ").filter(|number| !number.is_empty());
    text.map(|number| number.parse().expect("a number")).collect()
}

/// The best block; `None` where something else is faster.
fn compile([m, n, k]: [u64; 3], (machine, elem, ..): &Facts, tiles: &str) -> Option<Made> {
    let folder = tempfile::tempdir().expect("a folder");
    let shape = format!("m={m},n={n},k={k}");
    let expression = ["kernel", "C[m,n] += A[m,k] * B[k,n]", "--shape", &shape, "--dtype", elem];
    weft(&[&expression, &["--emit", "graph", "-o", "k.mlir"][..]].concat(), folder.path());
    let option = format!("tile-construct-rtiles.tiles={tiles}");
    let compile = ["compile", "k.mlir", "--device", machine, "--emit", "tile", "-o", "-"];
    // Sums in parts have an axis more.
    let whole = "tile-split-reductions.split=false";
    let options = ["--remarks", "--pass-option", &option, "--pass-option", whole];
    let [text, said] = weft(&[&compile[..], &options].concat(), folder.path());
    let line = text.lines().rfind(|line| line.contains(" layouts ["))?;
    let best = said.lines().rfind(|line| line.contains(": rank 0: ")).expect("it is ranked");
    let cycles = best.split(" cycles").next().and_then(|text| text.rsplit(' ').next());
    let tiles: Vec<&str> = line.split("#tile.rtile<\"").skip(1).collect();
    let along = numbers(line, "spread = [");
    let lanes = line.contains(" lanes ");
    Some(Made {
        block: numbers(tiles[0], "\"["),
        group: numbers(tiles[1], "\"["),
        spread: if lanes && along.is_empty() { vec![1, 32, 1] } else { along },
        cycles: cycles.expect("cycles").parse().expect("a number"),
        turns: said
            .lines()
            .filter(|line| line.contains(" turns of banks a step"))
            .map(turns)
            .collect(),
    })
}

/// The numbers of `..., 576 turns of banks a step (before 2112, at least 576)`.
fn turns(line: &str) -> [u64; 3] {
    let (before, behind) = line.split_once(" turns of banks a step (before ").expect("turns");
    let (without, fewest) = behind.split_once(", at least ").expect("the fewest");
    let own = before.rsplit(' ').next().expect("a number");
    [own, without, fewest.trim_end_matches(')')].map(|number| number.parse().expect("a number"))
}

#[test]
fn ro_2_compiled_blocks_keep_the_rules() {
    let mut blocks = 0;
    for facts in &MACHINES {
        let &(machine, elem, bytes, lanes, instruction, room) = facts;
        for shape in SHAPES {
            let Some(Made { block, group, spread, .. }) = compile(shape, facts, "constructed")
            else {
                continue;
            };
            blocks += 1;
            let what = format!("{machine}, {shape:?} of {elem}: {block:?}, {group:?}, {spread:?}");
            // Rule 1: whole instructions, whose rows may be the product's columns, and whole groups.
            let [m, n, k] = instruction;
            let whole = |along: [u64; 3]| {
                (0..3).all(|axis| {
                    let along = spread.get(axis).copied().unwrap_or(1) * along[axis];
                    group[axis].is_multiple_of(along)
                })
            };
            assert!(whole([m, n, k]) || whole([n, m, k]), "{what}");
            for axis in 0..3 {
                assert!(block[axis].is_multiple_of(group[axis]), "{what}: axis {axis}");
            }
            assert!(spread.is_empty() || spread.iter().product::<u64>() == lanes, "{what}");
            let groups = block[0] / group[0] * (block[1] / group[1]);
            assert!(groups * lanes <= 1024, "{what}");
            // Rule 2: rows of A along k and of B along n are whole transactions of 32 bytes.
            let whole = |axis: usize| {
                (block[axis] * bytes).is_multiple_of(32) || block[axis] >= shape[axis]
            };
            assert!(whole(1) && whole(2), "{what}");
            // Rule 4: no axis computes more than twice what it is, and what is left over is less
            // than one tile.
            for axis in 0..2 {
                let covered = shape[axis].div_ceil(block[axis]) * block[axis];
                assert!(covered <= 2 * shape[axis].next_multiple_of(8), "{what}: axis {axis}");
            }
            assert!((block[0] + block[1]) * block[2] * bytes <= room, "{what}");
        }
    }
    assert!(blocks >= 12, "{blocks} kernels are in blocks");
}

/// What little work there is goes to all cores: in tiles of large products few of them would have any.
#[test]
fn ro_7_small_products_leave_a_block_for_each_core() {
    for (facts, cores) in [(&MACHINES[0], 80), (&MACHINES[1], 108), (&MACHINES[2], 108)] {
        for shape in [[512, 512, 512], [256, 256, 1024], [128, 128, 512]] {
            let Some(made) = compile(shape, facts, "constructed") else { continue };
            let along = [0, 1].map(|axis| shape[axis].div_ceil(made.block[axis]));
            let blocks = along[0] * along[1];
            let what = format!("{}, {shape:?}: {blocks} blocks of {:?}", facts.0, made.block);
            assert!(2 * blocks > cores, "{what} for {cores} cores");
            // Roller's rule 2 still holds: rows are whole transactions of 32 bytes.
            assert!((made.block[1] * facts.2).is_multiple_of(32), "{what}");
        }
        let large = compile([1000, 1000, 1000], facts, "constructed").expect("a block");
        let points = large.block[0] * large.block[1];
        assert!(128 * 128 * 2 < points * cores, "{}: {:?}", facts.0, large.block);
    }
}

/// Rows of powers of two meet the same banks without padding; `threads` counts what the compiled
/// accesses take.
#[test]
fn ro_5_inputs_are_padded_against_bank_conflicts() {
    let (mut own, mut without) = (0, 0);
    for facts in &MACHINES[..3] {
        for shape in [[512, 512, 512], [256, 256, 1024], [128, 128, 512]] {
            let Some(made) = compile(shape, facts, "constructed") else { continue };
            for [taken, plain, fewest] in made.turns {
                let what = format!("{}, {shape:?}: {taken} of {plain}", facts.0);
                assert!(taken <= plain && 2 * taken <= 3 * fewest, "{what}, at least {fewest}");
                (own, without) = (own + taken, without + plain);
            }
        }
    }
    assert!(4 * own < 3 * without, "{own} turns of {without}");
}

/// 42 columns are 48, whole transactions, and not the 64 of the next power of two.
#[test]
fn ro_8_sizes_are_those_that_waste_least() {
    for machine in &MACHINES[..2] {
        let made = compile([65536, 42, 1024], machine, "constructed").expect("a block");
        assert_eq!(made.block[1], 48, "{}: {:?}", machine.0, made.block);
    }
}

#[test]
fn ro_2_constructed_blocks_are_as_good_as_powers_of_two() {
    let (mut sum, mut count) = (0.0, 0.0);
    for facts in &MACHINES {
        for shape in SHAPES {
            let [ours, all] =
                ["constructed", "enumerated"].map(|tiles| compile(shape, facts, tiles));
            let (Some(ours), Some(all)) = (ours, all) else { continue };
            let ratio = ours.cycles / all.cycles;
            assert!(ratio <= 1.2, "{}, {shape:?} of {}: {ratio}", facts.0, facts.1);
            sum += ratio.ln();
            count += 1.0;
        }
    }
    assert!(count > 0.0 && sum <= 0.0, "{} of {count}", (sum / count).exp());
}
