//! Layouts in memories of banks: conflicts are counted, and what is chosen has the fewest.

use proptest::prelude::*;
use weft_passes::tile::banks::{
    Access, Banks, Layout, Swizzle, Tile, Turns, choose, count, padding,
};

const BANKS: Banks = Banks { count: 32, word_bytes: 4 };

/// 32 lanes that read one column of a tile of f32.
fn column(column: u64) -> Access {
    Access { elements: 1, lanes: (0..32).map(|row| Some((row, column))).collect(), times: 1 }
}

#[test]
fn ro_5_padding_removes_the_conflicts_of_a_column() {
    let plain = Layout::plain(128);
    let before = count(BANKS, &plain, &[column(0), column(5)], 4);
    assert_eq!(before, Turns { taken: 64, least: 2 });
    assert!((before.degree() - 32.0).abs() < 1e-9);

    let padded = Layout { pitch: 128 + padding(BANKS, 128, 1, 4), swizzle: None };
    let after = count(BANKS, &padded, &[column(0), column(5)], 4);
    assert_eq!(after, Turns { taken: 2, least: 2 });
}

#[test]
fn an_access_that_is_made_often_counts_as_often() {
    let often = Access { times: 7, ..column(0) };
    let turns = count(BANKS, &Layout::plain(128), &[often, column(1)], 4);
    assert_eq!(turns, Turns { taken: 8 * 32, least: 8 });
}

#[test]
fn ro_5_padding_separates_the_rows_of_sub_tiles() {
    // Eight lanes read a row of a sub-tile, four rows at once.
    for (columns, elem_bytes, elements) in [(64, 4, 1), (128, 2, 2), (32, 4, 1), (96, 4, 1)] {
        let lanes = (0..32).map(|lane| Some((lane / 8, lane % 8 * elements))).collect();
        let accesses = [Access { elements, lanes, times: 1 }];
        let pitch = columns + padding(BANKS, columns, 8 * elements, elem_bytes);
        let before = count(BANKS, &Layout::plain(columns), &accesses, elem_bytes);
        let after = count(BANKS, &Layout { pitch, swizzle: None }, &accesses, elem_bytes);
        assert_eq!(before.taken, 4, "{columns} columns of {elem_bytes} bytes");
        assert_eq!(after.taken, 1, "{columns} columns of {elem_bytes} bytes");
    }
}

#[test]
fn n_14_wide_accesses_are_served_in_parts() {
    // 32 lanes of 16 bytes are 512 bytes: four turns at least, eight lanes a turn.
    let lanes: Vec<_> = (0..32).map(|lane| Some(lane * 16)).collect();
    assert_eq!((BANKS.turns(&lanes, 16), BANKS.least(&lanes, 16)), (4, 4));
    let lanes: Vec<_> = (0..32).map(|lane| Some(lane * 8)).collect();
    assert_eq!((BANKS.turns(&lanes, 8), BANKS.least(&lanes, 8)), (2, 2));
    // One address for all is one word for all.
    assert_eq!(BANKS.turns(&[Some(64); 32], 4), 1);
    // Two lanes of 16 bits share a word.
    let lanes: Vec<_> = (0..32).map(|lane| Some(lane * 2)).collect();
    assert_eq!(BANKS.turns(&lanes, 2), 1);
    // Who wants nothing is in nobody's way.
    assert_eq!(BANKS.turns(&[None; 32], 4), 0);
}

#[test]
fn n_14_a_swizzle_wins_where_padding_has_no_room() {
    // Columns of 16 bytes, as a store that transposes and a load of rows want them.
    let tile = Tile { rows: 32, columns: 64, elem_bytes: 4, run: 4 };
    let rows = (0..8).map(|row| Access {
        elements: 4,
        lanes: (0..32).map(|lane| Some((row * 4 + lane / 16, lane % 16 * 4))).collect(),
        times: 1,
    });
    let columns = (0..16).map(|column| Access {
        elements: 4,
        lanes: (0..32).map(|lane| Some((lane, column * 4))).collect(),
        times: 1,
    });
    let accesses: Vec<_> = rows.chain(columns).collect();
    let chosen = choose(BANKS, tile, 32 * 64, &accesses);
    assert_eq!(chosen.after.taken, chosen.after.least);
    assert!(chosen.before.taken > chosen.before.least);
    assert!(chosen.layout.swizzle.is_some());
    // With room padding does the same, and is simpler.
    let padded = choose(BANKS, tile, 32 * 80, &accesses);
    assert_eq!(padded.after.taken, chosen.after.taken);
    assert_eq!(padded.layout, Layout { pitch: 68, swizzle: None });
}

#[test]
fn what_has_no_conflict_stays_as_it_is() {
    let tile = Tile { rows: 8, columns: 32, elem_bytes: 4, run: 1 };
    let lanes = (0..32).map(|lane| Some((3, lane))).collect();
    let chosen = choose(BANKS, tile, u64::MAX, &[Access { elements: 1, lanes, times: 1 }]);
    assert_eq!(chosen.layout, Layout::plain(32));
}

/// Turns as a memory would find them: words dealt out one by one.
fn by_hand(lanes: &[Option<u64>], width: u64) -> u64 {
    let mut turns = 0;
    for group in lanes.chunks((128 / width.max(4)) as usize) {
        let mut waiting: Vec<std::collections::BTreeSet<u64>> = vec![Default::default(); 32];
        for at in group.iter().flatten() {
            for byte in 0..width {
                let word = (at + byte) / 4;
                waiting[(word % 32) as usize].insert(word);
            }
        }
        while waiting.iter().any(|words| !words.is_empty()) {
            turns += 1;
            waiting.iter_mut().for_each(|words| {
                words.pop_first();
            });
        }
    }
    turns
}

proptest! {
    #[test]
    fn n_14_counted_turns_are_those_of_a_memory_that_serves_word_by_word(
        lanes in prop::collection::vec(prop::option::weighted(0.9, 0u64..4096), 1..65),
        width in prop::sample::select(vec![1u64, 2, 4, 8, 16]),
    ) {
        let lanes: Vec<_> = lanes.into_iter().map(|at| at.map(|at| at / width * width)).collect();
        prop_assert_eq!(BANKS.turns(&lanes, width), by_hand(&lanes, width));
        prop_assert!(BANKS.turns(&lanes, width) >= BANKS.least(&lanes, width));
    }

    #[test]
    fn a_swizzle_keeps_every_element_apart(bits in 1u32..4, keep in 0u32..4, more in 0u32..4) {
        let swizzle = Swizzle { bits, keep, shift: bits + more };
        let size = swizzle.block() << (bits + more);
        let mut places: Vec<_> = (0..size).map(|x| swizzle.place(x)).collect();
        places.sort_unstable();
        prop_assert!(places.into_iter().eq(0..size));
    }

    #[test]
    fn n_14_what_is_chosen_is_never_worse_and_fits(
        rows in 1u64..40, columns in 1u64..80, elem_bytes in prop::sample::select(vec![2u64, 4, 8]),
        step in 1u64..40,
    ) {
        let tile = Tile { rows, columns, elem_bytes, run: 1 };
        let lanes = (0..32).map(|lane| {
            let place = lane * step % (rows * columns);
            Some((place / columns, place % columns))
        });
        let accesses = [Access { elements: 1, lanes: lanes.collect(), times: 1 }];
        let chosen = choose(BANKS, tile, u64::MAX, &accesses);
        prop_assert!(chosen.after.taken <= chosen.before.taken);
        for row in 0..rows {
            for column in 0..columns {
                prop_assert!(chosen.layout.place(row, column) < rows * chosen.layout.pitch);
            }
        }
    }
}
