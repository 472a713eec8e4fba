//! Boxes of elements in registers that are tiles: what their moves take whole.
//!
//! ```text
//! register of 16 rows of 64 bytes, elements of a byte
//! sides 16 x 64, in memory 1024 and 1 apart, in the register 64 and 1   rows 1024 apart
//! sides 16 x 16 x 4, in memory 1024, 4 and 1 apart                      the same
//! sides 14 x 64, or 16 x 16 x 4 in memory 1024, 64 and 1 apart          no rows, but 14 and 256 runs
//! ```

/// One side of a box: points, and elements between two of them in memory and in the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSide {
    /// Number of points.
    pub points: u64,
    /// Elements between two in memory.
    pub far: i64,
    /// Elements between two in the register, or among several.
    pub near: i64,
}

/// The distance of rows in memory, in elements, where a box of these sides, the slowest first, is a whole register of
/// `elements` in rows of `row` that lie in one piece each, all of them as far from the one before.
pub fn row_distance(sides: &[TileSide], row: u64, elements: u64) -> Option<i64> {
    let mut sides = sides.to_vec();
    let mut points = 1;
    // What is one piece at both ends.
    while let Some(side) = sides.last().copied() {
        if points == row || [side.far, side.near] != [points as i64; 2] {
            break;
        }
        let whole = side.points * points;
        sides.pop();
        if whole > row {
            // Further rows follow without a gap.
            (whole % row == 0).then_some(())?;
            sides.push(TileSide { points: whole / row, far: row as i64, near: row as i64 });
            points = row;
        } else {
            points = whole;
        }
    }
    (points == row).then_some(())?;
    // Rows of several sides follow as if they were one.
    let distance = sides.last().map_or(row as i64, |side| side.far);
    let mut count = 1;
    for side in sides.iter().rev() {
        let follows = side.near == (row * count) as i64 && side.far == distance * count as i64;
        follows.then_some(())?;
        count *= side.points;
    }
    (row * count == elements).then_some(distance)
}

/// The elements of a box that lie in one piece at both ends, and how many of its last sides these are.
pub fn run(sides: &[TileSide]) -> (u64, usize) {
    let mut points = 1;
    let along = |side: &&TileSide| {
        let follows = [side.far, side.near] == [points as i64; 2];
        if follows {
            points *= side.points;
        }
        follows
    };
    let count = sides.iter().rev().take_while(along).count();
    (points, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(all: &[(u64, i64, i64)]) -> Vec<TileSide> {
        all.iter().map(|&(points, far, near)| TileSide { points, far, near }).collect()
    }

    #[test]
    fn rows_of_one_distance() {
        let rows = |all: &[(u64, i64, i64)]| row_distance(&sides(all), 64, 1024);
        assert_eq!(rows(&[(16, 1000, 64), (64, 1, 1)]), Some(1000));
        assert_eq!(rows(&[(16, 1000, 64), (16, 4, 4), (4, 1, 1)]), Some(1000));
        // One behind the other, and in two sides.
        assert_eq!(rows(&[(1024, 1, 1)]), Some(64));
        assert_eq!(rows(&[(4, 4000, 256), (4, 1000, 64), (64, 1, 1)]), Some(1000));
    }

    #[test]
    fn what_is_no_whole_register() {
        let rows = |all: &[(u64, i64, i64)]| row_distance(&sides(all), 64, 1024);
        assert_eq!(rows(&[(14, 1000, 64), (64, 1, 1)]), None);
        assert_eq!(rows(&[(16, 1000, 64), (32, 1, 1)]), None);
        assert_eq!(rows(&[(16, 1000, 64), (16, 64, 4), (4, 1, 1)]), None);
        // The distance changes between fours of rows.
        assert_eq!(rows(&[(4, 5000, 256), (4, 1000, 64), (64, 1, 1)]), None);
        assert_eq!(rows(&[]), None);
    }

    #[test]
    fn runs_are_one_piece_at_both_ends() {
        assert_eq!(run(&sides(&[(14, 1000, 64), (64, 1, 1)])), (64, 1));
        assert_eq!(run(&sides(&[(16, 1000, 64), (16, 64, 4), (4, 1, 1)])), (4, 1));
        assert_eq!(run(&sides(&[(2, 64, 64), (16, 4, 4), (4, 1, 1)])), (128, 3));
        assert_eq!(run(&sides(&[(16, 1, 4)])), (1, 0));
    }
}
