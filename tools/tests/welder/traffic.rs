//! What a group moves and holds (WE-4, WE-6, WE-8): the softmax of scores, worked out by hand.

use weft_passes::tile::group_tiles::{Limits, configs};
use weft_passes::tile::passing::Passing;
use weft_passes::tile::propagate::{Chain, Link, propagate};
use weft_passes::tile::traffic::{footprint, traffic};

use crate::support::{Kernel, MAC_F32};
use crate::tiles::{link, with};

const SCORES: &str = "768x128x128xf32";
const ROWS: &str = "768x128xf32";

/// 64 x 12 heads of 128 x 64: scores, the largest of each row, sums of exponentials, quotients.
fn softmax() -> [Kernel; 4] {
    [
        Kernel {
            axes: "b m n +d",
            operands: vec![
                ("b, m, d", "768x128x64xf32"),
                ("b, n, d", "768x128x64xf32"),
                ("b, m, n", SCORES),
            ],
            body: MAC_F32,
        },
        Kernel {
            axes: "b m +n",
            operands: vec![("b, m, n", SCORES), ("b, m", ROWS)],
            body: "%r = arith.maximumf %1, %0 : f32\nlinalg.yield %r : f32",
        },
        Kernel {
            axes: "b m +n",
            operands: vec![("b, m, n", SCORES), ("b, m", ROWS), ("b, m", ROWS)],
            body: "%d = arith.subf %0, %1 : f32
%e = math.exp %d : f32
%r = arith.addf %2, %e : f32
linalg.yield %r : f32",
        },
        Kernel {
            axes: "b m n",
            operands: vec![
                ("b, m, n", SCORES),
                ("b, m", ROWS),
                ("b, m", ROWS),
                ("b, m, n", SCORES),
            ],
            body: "%d = arith.subf %0, %1 : f32
%e = math.exp %d : f32
%r = arith.divf %e, %2 : f32
linalg.yield %r : f32",
        },
    ]
}

fn links() -> Vec<Link> {
    vec![link(1, 0, 0), link(2, 0, 0), link(2, 1, 1), link(3, 0, 0), link(3, 1, 1), link(3, 2, 2)]
}

const NOTHING_LEAVES: [bool; 4] = [false; 4];

fn limits(room: u64) -> Limits<'static> {
    Limits {
        room,
        units: 80,
        passing: Passing::plain(),
        steps: &[1, 1, 1],
        leaves: &NOTHING_LEAVES,
        lays_out: false,
    }
}

#[test]
fn we_4_traffic_and_footprint_of_joined_scores() {
    with(&softmax(), |nests| {
        let chain = Chain::new(nests.iter().collect(), links());
        let of = |rows: u64| {
            let tiles = propagate(&chain, &[1, rows, 128]).expect("tiles");
            (
                traffic(&chain, &tiles, &NOTHING_LEAVES, &Passing::plain()).moved,
                footprint(&chain, &tiles, &NOTHING_LEAVES),
            )
        };
        let (q, s) = (25_165_824, 50_331_648);
        // Scores of a tile, and two numbers a row.
        assert_eq!(of(128), (q + q + s, 65_536 + 1024));
        assert_eq!(of(64), (q + 2 * q + s, 32_768 + 512));
    });
}

#[test]
fn we_4_each_device_gets_its_tile() {
    with(&softmax(), |nests| {
        let chain = Chain::new(nests.iter().collect(), links());
        let best = |room: u64| configs(&chain, &limits(room), 1).expect("a tile").remove(0);
        assert_eq!(best(49_152).sizes, [1, 64, 128]);
        assert_eq!(best(98_304).sizes, [1, 128, 128]);
    });
}

#[test]
fn we_6_configurations_fit_and_are_sorted() {
    with(&softmax(), |nests| {
        let chain = Chain::new(nests.iter().collect(), links());
        let five = configs(&chain, &limits(49_152), 5).expect("tiles");
        assert_eq!(five.len(), 5);
        for pair in five.windows(2) {
            assert!(pair[0].priority <= pair[1].priority, "{pair:?}");
        }
        for config in &five {
            assert!(config.footprint <= 49_152);
            let waves = config.tiles.count().div_ceil(80);
            let each = config.traffic.moved / config.tiles.count();
            assert_eq!(config.priority, (each + 1) * waves * 80);
        }
        // More that are worse change nothing about the best.
        let best = configs(&chain, &limits(49_152), 1).expect("a tile");
        assert_eq!(best[0].sizes, five[0].sizes);
    });
}

/// No tile that the search could have reached is better than the one that it puts first, so none
/// that is added to them changes it.
#[test]
fn we_6_no_tile_that_fits_is_better_than_the_first() {
    let halves = |extent: u64| {
        std::iter::successors(Some(extent), |own| (*own > 1).then(|| own.div_ceil(2)))
    };
    with(&softmax(), |nests| {
        let chain = Chain::new(nests.iter().collect(), links());
        for room in [12_288, 49_152, 98_304] {
            let mut looked = 0;
            let mut least = (u64::MAX, Vec::new());
            for sizes in halves(768).flat_map(|heads| {
                halves(128).flat_map(move |rows| halves(128).map(move |row| [heads, rows, row]))
            }) {
                let Ok(tiles) = propagate(&chain, &sizes) else { continue };
                if footprint(&chain, &tiles, &NOTHING_LEAVES) > room {
                    continue;
                }
                let each = traffic(&chain, &tiles, &NOTHING_LEAVES, &Passing::plain()).moved
                    / tiles.count();
                let priority = (each + 1) * tiles.count().div_ceil(80) * 80;
                looked += 1;
                if priority < least.0 {
                    least = (priority, sizes.to_vec());
                }
            }
            let first = configs(&chain, &limits(room), 1).expect("a tile").remove(0);
            assert!(looked > 20, "{looked} tiles in {room} bytes");
            assert!(first.priority <= least.0, "{:?} and {least:?} in {room}", first.sizes);
        }
    });
}

#[test]
fn we_8_with_a_tiny_memory_nothing_is_joined() {
    with(&softmax(), |nests| {
        let chain = Chain::new(nests.iter().collect(), links());
        // One row of scores and its two numbers, each from a multiple of 64 bytes on.
        assert!(configs(&chain, &limits(512 + 64 + 4), 1).is_ok());
        let why = configs(&chain, &limits(512 + 64 + 3), 1).expect_err("a row does not fit");
        assert!(why.to_string().ends_with("there is room for 579]"), "{why}");
    });
}
