//! Tiles of a group's members, from that of the last one (WE-1, WE-2, WE-9).

use weft_dialects::ir::{Module, context};
use weft_passes::nest::Nest;
use weft_passes::tile::propagate::{Chain, Link, Refusal, propagate, reach};

use crate::support::{Kernel, MAC_F32, nest};

pub const COPY: &str = "linalg.yield %0 : f32";

pub fn link(reader: usize, read: usize, maker: usize) -> Link {
    Link { reader, read, maker }
}

/// A kernel of one input that copies.
fn copy(
    axes: &'static str,
    [from, shape]: [&'static str; 2],
    [to, made]: [&'static str; 2],
) -> Kernel {
    Kernel { axes, operands: vec![(from, shape), (to, made)], body: COPY }
}

/// Does something with the nests of some kernels.
pub fn with(kernels: &[Kernel], check: impl FnOnce(&[Nest<'_>])) {
    let context = context();
    let modules: Vec<Module<'_>> = kernels.iter().map(|kernel| kernel.module(&context)).collect();
    let nests: Vec<Nest<'_>> = modules.iter().map(nest).collect();
    check(&nests);
}

/// A convolution of 3 x 3, what is done to each element, and the largest of 2 x 2.
fn pooled() -> [Kernel; 3] {
    let largest = "%m = arith.maximumf %2, %0 : f32\nlinalg.yield %m : f32";
    [
        Kernel {
            axes: "h w f +c +r +s",
            operands: vec![
                ("h + r, w + s, c", "10x10x3xf32"),
                ("r, s, c, f", "3x3x3x8xf32"),
                ("h, w, f", "8x8x8xf32"),
            ],
            body: MAC_F32,
        },
        copy("h w f", ["h, w, f", "8x8x8xf32"], ["h, w, f", "8x8x8xf32"]),
        Kernel {
            axes: "p q f +i +j",
            operands: vec![
                ("2 * p + i, 2 * q + j, f", "8x8x8xf32"),
                ("i, j", "2x2xf32"),
                ("p, q, f", "4x4x8xf32"),
            ],
            body: largest,
        },
    ]
}

#[test]
fn we_1_a_tile_of_a_pool_asks_for_tiles_of_all_before_it() {
    with(&pooled(), |nests| {
        let chain = Chain::new(nests.iter().collect(), vec![link(1, 0, 0), link(2, 0, 1)]);
        let tiles = propagate(&chain, &[1, 1, 8, 2, 2]).expect("tiles");
        assert_eq!(tiles.sizes(1), [2, 2, 8]);
        assert_eq!(tiles.sizes(0), [2, 2, 8, 3, 3, 3]);
        assert_eq!(reach(&nests[0].inputs[0], &tiles.spans[0]), [4, 4, 3]);
        // The tile at (3, 1) of the pool: rows 6 and 7 of the others, columns 2 and 3.
        let place = [3, 1, 0, 0, 0];
        let starts = |member: usize| [0, 1].map(|axis| tiles.start(member, axis, &place));
        assert_eq!(starts(1), [6, 2]);
        assert_eq!(starts(0), [6, 2]);
        assert!(tiles.partitions(0) && tiles.partitions(1));
    });
}

#[test]
fn we_1_halos_are_pushed_inside_and_overlap() {
    // y[h] reads x[h + r] of what was made, twice over: 12 -> 10 -> 8 points, tiles of 3.
    let taps = |points: &'static str, made: &'static str| Kernel {
        axes: "h +r",
        operands: vec![("h + r", points), ("r", "3xf32"), ("h", made)],
        body: MAC_F32,
    };
    with(&[taps("12xf32", "10xf32"), taps("10xf32", "8xf32")], |nests| {
        let chain = Chain::new(nests.iter().collect(), vec![link(1, 0, 0)]);
        let tiles = propagate(&chain, &[3, 3]).expect("tiles");
        assert_eq!(tiles.grid, [3, 1]);
        assert_eq!(tiles.sizes(0), [5, 3]);
        // The last tile would end behind the tensor: 6 + 5 > 10.
        let starts: Vec<_> = (0..3).map(|place| tiles.start(0, 0, &[place, 0])).collect();
        assert_eq!(starts, [0, 3, 5]);
        assert!(!tiles.partitions(0), "points between tiles are made twice");
    });
}

#[test]
fn we_2_an_output_that_is_not_axes_is_refused() {
    let strided = copy("m", ["m", "4xf32"], ["2 * m", "8xf32"]);
    let reader = copy("n", ["n", "8xf32"], ["n", "8xf32"]);
    with(&[strided, reader], |nests| {
        let chain = Chain::new(nests.iter().collect(), vec![link(1, 0, 0)]);
        let refusal = propagate(&chain, &[2]).expect_err("which points are not known");
        assert_eq!(refusal, Refusal::NotInvertible { member: 0, dim: 0, index: "2 d0".into() });
        assert!(refusal.to_string().contains("2 d0, not one axis"), "{refusal}");
    });
}

#[test]
fn we_2_readers_that_ask_for_tiles_apart_are_refused() {
    let maker = copy("m", ["m", "16xf32"], ["m", "16xf32"]);
    let reader = Kernel {
        axes: "m",
        operands: vec![("2 * m", "16xf32"), ("3 * m", "16xf32"), ("m", "4xf32")],
        body: "%s = arith.addf %0, %1 : f32\nlinalg.yield %s : f32",
    };
    with(&[maker, reader], |nests| {
        let chain = Chain::new(nests.iter().collect(), vec![link(1, 0, 0), link(1, 1, 0)]);
        let refusal = propagate(&chain, &[1]).expect_err("2 m and 3 m move apart");
        assert_eq!(refusal, Refusal::Conflict { member: 0, one: 1, other: 1, apart: 4 });
        // The whole is one tile.
        assert_eq!(propagate(&chain, &[4]).expect("tiles").sizes(0), [10]);
    });
}

#[test]
fn we_9_a_transpose_inside_a_group_turns_the_tile() {
    let turn = || copy("i j", ["j, i", "6x8xf32"], ["i, j", "8x6xf32"]);
    let reader = copy("a b", ["b, a", "8x6xf32"], ["a, b", "6x8xf32"]);
    with(&[turn(), reader], |nests| {
        let chain = Chain::new(nests.iter().collect(), vec![link(1, 0, 0)]);
        let tiles = propagate(&chain, &[2, 4]).expect("tiles");
        assert_eq!(tiles.sizes(0), [4, 2]);
        let starts: Vec<_> =
            [[0, 0], [1, 0], [2, 1]].map(|at| [0, 1].map(|axis| tiles.start(0, axis, &at))).into();
        assert_eq!(starts, [[0, 0], [0, 2], [4, 4]]);
        assert!(tiles.partitions(0));
    });
}

#[test]
fn we_9_shapes_may_differ_between_maker_and_reader() {
    // 3 x 4 rows of 8 are made; the reader sees 12 rows.
    let maker = copy("h m n", ["h, m, n", "3x4x8xf32"], ["h, m, n", "3x4x8xf32"]);
    let reader = copy("r n", ["r, n", "12x8xf32"], ["r, n", "12x8xf32"]);
    with(&[maker, reader], |nests| {
        let chain = Chain::new(nests.iter().collect(), vec![link(1, 0, 0)]);
        assert_eq!(chain.handed[0], [12, 8]);
        // Rows of one h at a time: the outer axis has one point.
        let tiles = propagate(&chain, &[2, 8]).expect("tiles");
        assert_eq!(tiles.sizes(0), [1, 2, 8]);
        let at = |place: u64| [0, 1].map(|axis| tiles.start(0, axis, &[place, 0]));
        assert_eq!([at(0), at(1), at(2), at(5)], [[0, 0], [0, 2], [1, 0], [2, 2]]);
        assert!(tiles.partitions(0));
        // Tiles of 3 rows lie across two of them: all rows of both.
        assert_eq!(propagate(&chain, &[3, 8]).expect("tiles").sizes(0), [2, 4, 8]);
    });
}
