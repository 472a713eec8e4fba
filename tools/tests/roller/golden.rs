//! The published lists, whole and in order.

use weft_passes::tile::roller::{Candidate, Operator, Options, Score, construct, policy};

use super::suite;
use super::support::{K80, MI50, V100, arch, matmul, shapes};

fn published(operator: &Operator, machine: &str) -> Vec<Candidate> {
    construct(operator, &arch(machine), &Options::PUBLISHED).expect("there are tiles").1
}

/// The tiles of a matrix product, written `block/registers`.
fn list(operator: &Operator, machine: &str) -> Vec<String> {
    let found = shapes(&published(operator, machine), 2);
    found.iter().map(|(block, inner)| format!("{block:?}/{}x{}", inner[0], inner[1])).collect()
}

#[test]
fn ro_1_k80() {
    let expected = [
        "[128, 128, 8]/8x8",
        "[128, 128, 32]/8x8",
        "[256, 64, 8]/8x8",
        "[256, 64, 32]/8x8",
        "[64, 256, 8]/8x8",
        "[64, 256, 32]/8x8",
        "[192, 128, 8]/8x8",
        "[192, 128, 32]/8x8",
        "[128, 192, 8]/8x8",
        "[128, 192, 32]/8x8",
    ];
    let operator = matmul(65536, 1024, 1024);
    assert_eq!(list(&operator, K80), expected);
    let epsilons: Vec<_> = published(&operator, K80).iter().map(|found| found.epsilon).collect();
    assert_eq!(epsilons, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.2, 0.2, 0.2]);
}

#[test]
fn ro_1_v100() {
    let expected = [
        "[128, 64, 8]/8x4",
        "[128, 128, 8]/8x4",
        "[128, 128, 32]/8x4",
        "[256, 64, 8]/8x4",
        "[256, 64, 32]/8x4",
        "[128, 64, 32]/8x4",
        "[64, 128, 8]/8x4",
        "[64, 256, 8]/8x4",
        "[64, 256, 32]/8x4",
        "[64, 128, 32]/8x4",
    ];
    assert_eq!(list(&matmul(4096, 4096, 4096), V100), expected);
}

#[test]
fn ro_1_mi50_has_only_six() {
    let expected = [
        "[128, 64, 16]/8x4",
        "[128, 64, 32]/8x4",
        "[64, 128, 16]/8x4",
        "[64, 128, 32]/8x4",
        "[256, 32, 16]/8x4",
        "[32, 256, 16]/8x4",
    ];
    assert_eq!(list(&matmul(65536, 1024, 1024), MI50), expected);
}

#[test]
fn ro_1_a_small_operator_is_shrunk() {
    let found = list(&matmul(128, 1000, 4032), K80);
    assert_eq!(found[..2], ["[64, 64, 8]/4x4", "[32, 48, 8]/2x2"]);
}

#[test]
fn ro_1_a_short_reduction() {
    assert_eq!(list(&matmul(65536, 1024, 2), MI50)[9], "[32, 256, 2]/16x2");
}

/// C9, a convolution of 42 channels: nothing without waste, five tiles with a fifth, ten more
/// with three fifths; all of them borders of what the machine has room for.
#[test]
fn ro_3_more_waste_until_there_are_enough() {
    let conv = suite::conv(42, 83, 42, 1, 1, 0).fused();
    assert_eq!(conv.extents(), [42, 881_792, 42]);
    let found = published(&conv, V100);
    assert_eq!(
        (found[0].block.as_slice(), &found[0].registers[..2]),
        (&[48, 512, 8][..], &[4, 16][..])
    );
    let at = |epsilon: f64| found.iter().filter(|own| (own.epsilon - epsilon).abs() < 0.01).count();
    assert_eq!((at(0.0), at(0.2), found.len()), (0, 5, 10));
    // 42 filters in tiles of 48.
    assert!(
        (found[0].prediction.waste - (48.0 * 881_920.0 / (42.0 * 881_792.0) - 1.0)).abs() < 0.01
    );
}

/// A faster local memory is one fact of the machine, and another register tile.
#[test]
fn ro_13_another_bandwidth_is_another_tile() {
    let operator = matmul(65536, 1024, 1024);
    let first = |machine: &str| list(&operator, machine).swap_remove(0);
    assert!(first(K80).ends_with("8x8"));
    let faster = K80.replace("gbytes_per_second(2540)", "gbytes_per_second(3990)");
    assert!(first(&faster).ends_with("8x4"), "{}", first(&faster));
}

/// The extents that the suite's operators are cut along, and who cuts them.
#[test]
fn what_is_cut_along_which_axes() {
    let suite = suite::all();
    assert_eq!(suite.len(), 119);
    let of = |name: &str| {
        let (_, operator) = suite.iter().find(|(own, _)| own == name).expect("it is in the suite");
        (policy(operator).name(), operator.extents())
    };
    assert_eq!(of("C35"), ("reuse", vec![64, 1_605_632, 147]));
    assert_eq!(of("M0"), ("reuse", vec![65536, 1024, 2]));
    assert_eq!(of("D0"), ("plain", vec![128, 84, 42, 42, 5, 5]));
    assert_eq!(of("P1"), ("plain", vec![86016, 11, 11, 3, 3]));
    assert_eq!(of("E0"), ("plain", vec![227_598_336]));
    assert_eq!(of("R2"), ("plain", vec![516_096, 121]));
}

/// Elementwise, reduction, pooling and depthwise: the innermost axis grows first.
#[test]
fn ro_11_the_plain_policy() {
    let first = |operator: &Operator, machine: &str| {
        let found = published(operator, machine).swap_remove(0);
        (found.block, found.registers)
    };
    let relu = suite::relu(1008, 42).fused();
    assert_eq!(first(&relu, V100), (vec![64], vec![2]));
    let reduce = suite::reduce(516_096, 121).fused();
    assert_eq!(first(&reduce, V100), (vec![64, 121], vec![2, 1]));
    // The window's row is 24 with its border, which the tile of 16 covers.
    let pool = suite::pool(672, 21, 3, 2, 1).fused();
    assert_eq!(first(&pool, V100), (vec![1, 4, 16, 3, 3], vec![1, 1, 2, 1, 1]));
    let depthwise = suite::depthwise(84, 83, 5, 2).fused();
    assert_eq!(first(&depthwise, V100), (vec![1, 1, 4, 48, 5, 5], vec![1, 1, 1, 2, 1, 1]));
    assert_eq!(first(&depthwise, MI50), (vec![1, 1, 8, 48, 5, 5], vec![1, 1, 1, 2, 1, 1]));
}

/// Every operator of the suite has tiles on every machine, in all variants.
#[test]
fn ro_8_all_have_tiles() {
    let aligned = Options::default();
    let paper = Options { score: Score::Paper, ..Options::PUBLISHED };
    for machine in [V100, K80, MI50] {
        let arch = arch(machine);
        for (name, operator) in suite::all() {
            for options in [&Options::PUBLISHED, &paper, &aligned] {
                let found = construct(&operator, &arch, options);
                assert!(found.is_ok_and(|(_, found)| !found.is_empty()), "{name} {options:?}");
            }
        }
    }
}
