//! How many lines of a tile fall into each set of a cache: the places for which they compete.
//!
//! Bytes that fit need not stay. Planes of 130 rows of 130 elements lie 67,600 bytes apart, which is
//! nearly half of 4 KiB more than a multiple of it: 24 such planes meet in less than half of the
//! sets, and push each other out of a cache that they fill to a half.

use super::shape::{Operand, Reached};

/// Lines in each set of a cache.
pub(super) struct Sets {
    line_bytes: u64,
    /// Lines of pieces that lie apart.
    lines: Vec<u64>,
    /// Lines that lie side by side: they take as much of every set, wherever they begin.
    even: u64,
}

impl Sets {
    /// None yet, in a cache of which addresses `way_bytes` apart share a set.
    pub fn new(way_bytes: u64, line_bytes: u64) -> Self {
        let sets = (way_bytes / line_bytes).max(1);
        Self { line_bytes, lines: vec![0; sets as usize], even: 0 }
    }

    /// Adds the line of this number.
    pub fn add_line(&mut self, line: u64) {
        let sets = self.lines.len() as u64;
        self.lines[(line % sets) as usize] += 1;
    }

    /// Adds what a tile of these sizes touches of an operand.
    pub fn add(&mut self, operand: &Operand, sizes: &[u64]) {
        if operand.packed {
            self.even += operand.packed_bytes(sizes).div_ceil(self.line_bytes);
            return;
        }
        let bytes = operand.bytes as u64;
        let (mut run, mut far) = (bytes, Vec::new());
        let mut apart = bytes;
        for Reached { extent, span, points } in operand.reached(sizes) {
            let step = apart * (span / points.max(1));
            if apart <= run.max(self.line_bytes) {
                run += apart * (span - 1);
            } else {
                far.push((points, step));
            }
            apart *= extent;
        }
        match far.is_empty() {
            true => self.even += run.div_ceil(self.line_bytes),
            false => self.pieces(0, run, &far),
        }
    }

    fn pieces(&mut self, at: u64, run: u64, far: &[(u64, u64)]) {
        match far {
            [] => self.run(at, run),
            [(points, step), rest @ ..] => {
                for point in 0..*points {
                    self.pieces(at + point * step, run, rest);
                }
            }
        }
    }

    /// Adds bytes that lie side by side.
    fn run(&mut self, at: u64, bytes: u64) {
        let (first, last) = (at / self.line_bytes, (at + bytes - 1) / self.line_bytes);
        (first..=last).for_each(|line| self.add_line(line));
    }

    /// Lines of sets that have no more than `ways` places: whoever comes back to one finds it gone.
    pub fn crowded(&self, ways: u64) -> f64 {
        let even = self.even as f64 / self.lines.len() as f64;
        let lines = self.lines.iter().map(|&lines| lines as f64 + even);
        lines.filter(|&lines| lines > ways as f64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Planes of rows of 130 elements, read in windows of 3 x 3: a tile of 12 rows and 16 columns.
    fn planes(bytes_apart: u64, planes: u64) -> f64 {
        let mut sets = Sets::new(4096, 64);
        let operand = Operand {
            dims: vec![
                (planes, vec![(0, 1)]),
                (bytes_apart / 520, vec![(1, 1), (2, 1)]),
                (130, vec![(3, 1), (4, 1)]),
            ],
            strides: vec![bytes_apart as i64, 520, 520, 4, 4],
            uses: vec![true; 5],
            bytes: 4,
            packed: false,
            deep: false,
            turns: 1.0,
            register_bytes: Some(64),
            aligned: false,
        };
        sets.add(&operand, &[planes, 12, 3, 16, 3]);
        sets.crowded(9)
    }

    #[test]
    fn planes_half_a_way_apart_push_each_other_out() {
        // 24 planes of 14 rows of 72 bytes: 576 to 672 lines of the 768 that fit.
        assert!(planes(67_600, 24) > 400.0, "{}", planes(67_600, 24));
        assert_eq!(planes(67_600, 4), 0.0);
    }

    #[test]
    fn lines_side_by_side_take_as_much_of_every_set() {
        let sets = |even| Sets { even, ..Sets::new(4096, 64) };
        assert_eq!(sets(9 * 64).crowded(9), 0.0);
        assert_eq!(sets(9 * 64 + 1).crowded(9), 9.0 * 64.0 + 1.0);
    }
}
