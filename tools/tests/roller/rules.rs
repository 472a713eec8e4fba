//! Every tile keeps the rules: random operators on random machines, held against the checker.

use proptest::prelude::*;
use weft_passes::tile::roller::align::{Violation, check};
use weft_passes::tile::roller::{
    Arch, Candidate, MatrixUnit, Operator, Options, Policy, Refusal, Score, Tiles, Variant, banks,
    construct,
};

use super::suite;
use super::support::{V100, arch, axes, matmul, tensor};

/// A machine of threads in step.
fn machines() -> impl Strategy<Value = Arch> {
    let warp = prop_oneof![Just(8u64), Just(16), Just(32), Just(64)];
    let width = prop_oneof![Just(4u64), Just(8)];
    let transaction = prop_oneof![Just(16u64), Just(32), Just(64), Just(128)];
    let sizes = (2048u64..100_000, 8u64..256, 1u64..5, 1u64..200);
    let rates = (50.0..2000.0f64, 1000.0..20_000.0f64, 1000.0..60_000.0f64);
    (warp, width, transaction, sizes, rates).prop_map(
        |(
            warp,
            bank_bytes,
            device_transaction_bytes,
            (local_bytes, registers, partitions, cores),
            rates,
        )| Arch {
            device: "far".into(),
            local: "near".into(),
            registers: "reg".into(),
            device_gbytes_per_s: rates.0,
            local_gbytes_per_s: rates.1,
            device_transaction_bytes,
            local_bytes,
            banks: 32,
            bank_bytes,
            peak_gflops: rates.2,
            thread_registers: registers,
            block_registers: registers * 512,
            cores,
            partitions,
            warp,
            block_threads: 512,
            staging: 0,
            matrix: None,
        },
    )
}

fn extent() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..70, 100u64..3000, Just(4096), Just(881_792), Just(1)]
}

/// Products with operands either way round, sums, windows, elementwise operators.
fn operators() -> impl Strategy<Value = Operator> {
    let product = (extent(), extent(), extent(), any::<bool>(), any::<bool>()).prop_map(
        |(m, n, k, left, right)| {
            let axes = axes(&[m, n], &[k]);
            let of = |a: usize, b: usize, turned: bool| {
                let (a, b) = if turned { (b, a) } else { (a, b) };
                tensor(&axes, &[(&[(a, 1)], 0), (&[(b, 1)], 0)])
            };
            let inputs = vec![of(0, 2, left), of(2, 1, right)];
            Operator { inputs, output: of(0, 1, false), axes }
        },
    );
    let window = (1u64..40, 5u64..60, 1u64..6, 1u64..3, 0u64..2)
        .prop_map(|(c, size, kernel, stride, same)| suite::pool(c, size, kernel, stride, same));
    let depthwise = (1u64..40, 8u64..60, 1u64..4, 1u64..3)
        .prop_map(|(c, size, half, stride)| suite::depthwise(c, size, 2 * half + 1, stride));
    let conv = (1u64..200, 8u64..40, 1u64..200, 1u64..4, 1u64..3)
        .prop_map(|(c, size, f, kernel, stride)| suite::conv(c, size, f, kernel, stride, 0));
    let flat = (extent(), extent()).prop_map(|(a, b)| suite::reduce(a, b));
    let relu = (1u64..2000, 1u64..60).prop_map(|(c, size)| suite::relu(c, size));
    prop_oneof![product, window, depthwise, conv, flat, relu].prop_map(|found| found.fused())
}

/// What the checker says of a candidate; that of version 1 is held to the rules before it was
/// shrunk, and is not padded.
fn violations(
    operator: &Operator,
    arch: &Arch,
    policy: Policy,
    found: &Candidate,
    variant: Variant,
) -> Vec<Violation> {
    let now = found.tiles();
    match variant {
        Variant::Published => {
            let tiles = found.unshrunk.as_ref().unwrap_or(&now);
            check(operator, arch, policy, tiles, found.epsilon, None)
        }
        Variant::Aligned => {
            check(operator, arch, policy, &now, found.epsilon, Some(&found.padding))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Ours keeps all rules, whatever the operator and the machine.
    #[test]
    fn ro_2_every_tile_is_aligned(operator in operators(), arch in machines(), paper in any::<bool>()) {
        let score = if paper { Score::Paper } else { Score::Shipped };
        let options = Options { score, ..Options::default() };
        let Ok((policy, found)) = construct(&operator, &arch, &options) else { return Ok(()) };
        for candidate in &found {
            let broken = violations(&operator, &arch, policy, candidate, Variant::Aligned);
            prop_assert!(broken.is_empty(), "{:?}: {}", candidate.block, broken[0]);
            prop_assert!(candidate.prediction.footprint_bytes < arch.local_bytes);
            prop_assert!(candidate.threads(&operator, &arch) <= 512);
            prop_assert!(candidate.prediction.predicted_ms.is_finite());
        }
    }

    /// A tile that is cut for a small operator gives every core a block, or nothing smaller
    /// is aligned; what was large enough is left alone.
    #[test]
    fn ro_7_cores_have_blocks(operator in operators(), arch in machines()) {
        let options = Options::default();
        let Ok((policy, found)) = construct(&operator, &arch, &options) else { return Ok(()) };
        for candidate in &found {
            if let Some(whole) = &candidate.unshrunk {
                prop_assert!(blocks(&operator, whole) < arch.cores);
                prop_assert!(candidate.blocks(&operator) > blocks(&operator, whole));
                let broken = violations(&operator, &arch, policy, candidate, Variant::Aligned);
                prop_assert!(broken.is_empty());
            }
        }
    }
}

fn blocks(operator: &Operator, tiles: &Tiles) -> u64 {
    let block = tiles.block.as_ref().expect("candidates have block tiles");
    let sizes = operator.extents().into_iter().zip(block).take(operator.spatial());
    sizes.map(|(extent, size)| extent.div_ceil(*size)).product()
}

/// The published tiles keep the rules too, before those of small operators are shrunk.
#[test]
fn ro_2_the_published_suite() {
    let arch = arch(V100);
    for (name, operator) in suite::all() {
        for variant in [Variant::Published, Variant::Aligned] {
            let options = Options { variant, ..Options::PUBLISHED };
            let (policy, found) = construct(&operator, &arch, &options).expect("there are tiles");
            for candidate in &found {
                let broken = violations(&operator, &arch, policy, candidate, variant);
                assert!(broken.is_empty(), "{name} {:?}: {}", candidate.block, broken[0]);
            }
        }
    }
}

/// Each rule is seen to be broken.
#[test]
fn ro_2_the_checker_sees() {
    let (operator, arch) = (matmul(1024, 1000, 512), arch(V100));
    let broken = |block: [u64; 3], registers: [u64; 3], padding: Option<&[u64]>| {
        let tiles = Tiles { registers: registers.to_vec(), block: Some(block.to_vec()) };
        let found = check(&operator, &arch, Policy::Reuse, &tiles, 0.1, padding);
        found.iter().map(Violation::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(broken([128, 64, 8], [8, 8, 1], None), "");
    assert_eq!(broken([64, 64, 8], [8, 8, 1], None), "rule 1: 64 threads are no multiple of 128");
    assert!(broken([128, 64, 6], [8, 8, 1], None).contains("rule 2: a row of 6 elements"));
    assert!(broken([96, 64, 8], [8, 8, 1], None).contains("rule 1: 96 threads"));
    assert!(broken([1024, 8, 32], [8, 8, 1], Some(&[0, 0])).contains("rule 3: rows of input 0"));
    assert!(broken([128, 768, 8], [16, 48, 1], None).contains("cover 1536 of 1000"));
}

/// A small product on 80 cores: version 1 halves all axes until every core has a block and
/// looks no further, ours keeps the alignment.
#[test]
fn ro_7_small_operators() {
    let (operator, arch) = (matmul(128, 1000, 4032), arch(V100));
    for variant in [Variant::Published, Variant::Aligned] {
        let options = Options { variant, ..Options::PUBLISHED };
        let (policy, found) = construct(&operator, &arch, &options).expect("there are tiles");
        for found in &found {
            assert!(found.blocks(&operator) >= 80, "{variant:?} {:?}", found.block);
            let broken = check(&operator, &arch, policy, &found.tiles(), found.epsilon, None);
            assert!(variant == Variant::Published || broken.is_empty(), "{broken:?}");
        }
        assert!(found.iter().any(|found| found.unshrunk.is_some()));
    }
}

/// Rows of 32 floats lie in the same banks, and 8 lanes that read one column wait for each
/// other; one free element behind every row, and they do not.
#[test]
fn ro_5_padding_ends_conflicts() {
    let (operator, arch) = (matmul(4096, 4096, 4096), arch(V100));
    let tiles = Tiles { registers: vec![8, 8, 1], block: Some(vec![256, 32, 32]) };
    let before = banks::degree(&operator, &arch, &tiles, 0, 0);
    let padding = banks::padding(&operator, &arch, &tiles, 0);
    let after = banks::degree(&operator, &arch, &tiles, 0, padding);
    assert_eq!((before, padding, after), (8, 1, 1));
    // The published formula does so too, with more room where rows are short.
    assert_eq!(banks::published_padding(&arch, 4, 32, 1), 1);
    assert_eq!(banks::published_padding(&arch, 4, 8, 1), 25);
    assert_eq!(banks::degree(&operator, &arch, &tiles, 0, 1), 1);
    // Neighbouring lanes read neighbouring elements of the other input.
    assert_eq!(banks::degree(&operator, &arch, &tiles, 1, 0), 1);
}

/// Counted by hand: lanes at a stride of 2 share 16 banks, at 32 one; all at one word, none.
#[test]
fn ro_5_conflicts_are_counted() {
    let arch = arch(V100);
    let stride = |by: u64| (0..32).map(|lane| lane * by).collect::<Vec<_>>();
    let count = |by: u64| banks::conflicts(&arch, 4, &stride(by));
    assert_eq!([count(0), count(1), count(2), count(32), count(33)], [1, 1, 2, 32, 1]);
    // Two halves of a word are one access.
    assert_eq!(banks::conflicts(&arch, 2, &stride(1)), 1);
}

/// What the two scores say of one tile, calculated by hand.
#[test]
fn ro_6_both_scores() {
    use weft_passes::tile::roller::score::{by_ratio, by_saving};
    let operator = matmul(64, 64, 32);
    let tile = [4, 2, 1];
    // 5 x 2 points of 32 multiply-adds; 5 x 32, 32 x 2 and 5 x 2 elements.
    let expected = (5.0 * 2.0 * 32.0 * 2.0) / (4.0 * (160.0 + 64.0 + 10.0));
    assert!((by_ratio(&operator, &tile, 0) - expected).abs() < 1e-12);
    // 16 x 32 tiles of 200 elements, then 8 x 32 of 336; 6 elements take room, then 10.
    let saved = 4.0 * (512.0 * 200.0 - 256.0 * 336.0);
    assert!((by_saving(&operator, &tile, 0, 8) - saved / 16.0).abs() < 1e-9);
}

/// A matrix instruction of any shape: tiles are multiples of it along its axes.
#[test]
fn ro_10_multiples_of_the_instruction() {
    let operator = matmul(4096, 4096, 4096);
    for sizes in [[16, 16, 4], [16, 8, 16], [64, 32, 8]] {
        let matrix = MatrixUnit { name: "mma".into(), sizes, peak_gflops: 125_000.0 };
        let arch = Arch { matrix: Some(matrix), ..arch(V100) };
        let (policy, found) =
            construct(&operator, &arch, &Options::default()).expect("there are tiles");
        for candidate in found {
            let whole = |tile: &[u64]| tile.iter().zip(sizes).all(|(size, of)| size % of == 0);
            assert!(whole(&candidate.block) && whole(&candidate.registers), "{sizes:?}");
            let tiles = candidate.tiles();
            let broken = check(&operator, &arch, policy, &tiles, candidate.epsilon, None);
            assert!(broken.is_empty(), "{broken:?}");
        }
    }
}

/// A search that may look at few tiles gives up, and does not say that there are none.
#[test]
fn a_search_that_ends_early_says_so() {
    let (arch, operator) = (arch(V100), matmul(4096, 4096, 4096));
    let options = |most| Options { most, ..Options::default() };
    let refused = construct(&operator, &arch, &options(8)).expect_err("eight are too small");
    let Refusal::Long { looked } = refused else { panic!("{refused}") };
    assert!((8..64).contains(&looked), "{looked}");
    assert_eq!(
        construct(&operator, &arch, &options(10_000)),
        construct(&operator, &arch, &Options::default())
    );
}

/// What is refused says the least that would do, and that does.
#[test]
fn what_would_do_does() {
    let (arch, options) = (arch(V100), Options::PUBLISHED);
    let small = matmul(3, 4, 4096);
    let refused = construct(&small, &arch, &options).expect_err("12 points are no warp");
    let Refusal::Waste { enough: Some(enough), .. } = refused else { panic!("{refused}") };
    assert!(construct(&matmul(3, enough, 4096), &arch, &options).is_ok());
    assert!(construct(&matmul(3, enough - 1, 4096), &arch, &options).is_err());

    let operator = matmul(512, 512, 512);
    let poor = Arch { local_bytes: 256, ..arch.clone() };
    let refused = construct(&operator, &poor, &options).expect_err("a tile needs more");
    let Refusal::Local { needed, has, .. } = &refused else { panic!("{refused}") };
    assert_eq!((*needed, *has), (288, 256));
    assert_eq!(refused.help(), "@smem with capacity_bytes(289) would do");

    let bare = Arch { thread_registers: 2, ..arch.clone() };
    let refused = construct(&operator, &bare, &options).expect_err("a point needs three");
    assert!(refused.to_string().contains("takes 3 registers, a thread has 2"), "{refused}");

    let wide = Arch { partitions: 32, ..arch.clone() };
    let refused = construct(&operator, &wide, &options).expect_err("a block has 512 threads");
    assert!(refused.to_string().contains("issues 1024 threads"), "{refused}");

    let empty = matmul(0, 4, 4);
    assert!(construct(&empty, &arch, &options).is_err());
}
