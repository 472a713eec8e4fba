//! Which bytes an operand covers, relative to where it begins.

/// Pieces of equal length, in the order in which elements are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// The offset of each run, in bytes.
    pub starts: Vec<i64>,
    /// The length of each run.
    pub run: u64,
    /// Size of an element.
    pub elem: u64,
    /// The first byte, and the one after the last.
    pub low: i64,
    pub high: i64,
}

impl Area {
    /// The area of one side of a box: per dimension, outermost first, its extent and the
    /// elements between neighbours.
    pub fn new(dims: &[(u64, i64)], elem: u64) -> Area {
        let (starts, run) = pieces(dims, elem);
        Area::of(starts, run, elem)
    }

    fn of(starts: Vec<i64>, run: u64, elem: u64) -> Area {
        let low = starts.iter().copied().min().unwrap_or(0);
        let high = starts.iter().copied().max().map_or(0, |last| last + run as i64);
        Area { starts, run, elem, low, high }
    }

    /// Both sides of a box, in parts that correspond.
    pub fn pair(sizes: &[u64], from: &[i64], to: &[i64], elem: u64) -> (Area, Area) {
        let dims = |strides: &[i64]| {
            sizes.iter().copied().zip(strides.iter().copied()).collect::<Vec<_>>()
        };
        let (mut from, mut to) = (dims(from), dims(to));
        // Neighbouring dimensions that both sides walk as one are one.
        let mut dim = 0;
        while dim + 1 < from.len() {
            let inner = from[dim + 1].0;
            let joins = |(_, outer): (u64, i64), (_, stride): (u64, i64)| {
                outer == stride.wrapping_mul(inner as i64)
            };
            if joins(from[dim], from[dim + 1]) && joins(to[dim], to[dim + 1]) {
                for side in [&mut from, &mut to] {
                    let extent = side[dim].0 * inner;
                    side[dim + 1].0 = extent;
                    side.remove(dim);
                }
            } else {
                dim += 1;
            }
        }
        let dense = from.last().is_some_and(|d| d.1 == 1) && to.last().is_some_and(|d| d.1 == 1);
        let run = if dense { from.last().map_or(1, |d| d.0) } else { 1 };
        let outer = from.len() - usize::from(dense);
        let starts = |dims: &[(u64, i64)]| walk(&dims[..outer], elem);
        let side = |dims: &[(u64, i64)]| Area::of(starts(dims), run * elem, elem);
        let empty = sizes.contains(&0);
        let none = || Area::of(Vec::new(), elem, elem);
        if empty { (none(), none()) } else { (side(&from), side(&to)) }
    }

    /// Moves it by some bytes.
    pub fn shift(&mut self, by: i64) {
        self.starts.iter_mut().for_each(|start| *start += by);
        self.low += by;
        self.high += by;
    }

    /// Bytes, counting those twice that it covers twice.
    pub fn bytes(&self) -> u64 {
        self.starts.len() as u64 * self.run
    }
}

/// Pieces side by side as far as they go.
fn pieces(dims: &[(u64, i64)], elem: u64) -> (Vec<i64>, u64) {
    if dims.iter().any(|d| d.0 == 0) {
        return (Vec::new(), elem);
    }
    let (mut run, mut rest) = (1u64, dims.len());
    while rest > 0 {
        let (extent, stride) = dims[rest - 1];
        if extent != 1 && stride != run as i64 {
            break;
        }
        run *= extent;
        rest -= 1;
    }
    (walk(&dims[..rest], elem), run * elem)
}

/// The byte where each point of some dimensions begins, the last one fastest.
fn walk(dims: &[(u64, i64)], elem: u64) -> Vec<i64> {
    let mut starts = vec![0i64];
    for &(extent, stride) in dims {
        let step = stride * elem as i64;
        starts = starts
            .iter()
            .flat_map(|&start| (0..extent as i64).map(move |i| start + i * step))
            .collect();
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::Area;

    #[test]
    fn rows_of_a_wider_matrix() {
        let area = Area::new(&[(2, 32), (4, 1)], 4);
        assert_eq!((area.starts, area.run, area.low, area.high), (vec![0, 128], 16, 0, 144));
    }

    #[test]
    fn whole_rows_are_one_piece() {
        let area = Area::new(&[(2, 4), (4, 1)], 4);
        assert_eq!((area.starts, area.run), (vec![0], 32));
    }

    #[test]
    fn a_transpose_goes_element_by_element() {
        let (from, to) = Area::pair(&[2, 3], &[3, 1], &[1, 2], 2);
        assert_eq!(from.starts, [0, 2, 4, 6, 8, 10]);
        assert_eq!(to.starts, [0, 4, 8, 2, 6, 10]);
        assert_eq!((from.run, to.run), (2, 2));
    }

    #[test]
    fn a_broadcast_reads_one_piece_again() {
        let (from, to) = Area::pair(&[3, 4], &[0, 1], &[4, 1], 4);
        assert_eq!((from.starts, to.starts, from.run), (vec![0, 0, 0], vec![0, 16, 32], 16));
    }
}
