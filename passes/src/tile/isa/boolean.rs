//! Boolean matrices, and the condition that makes a mapping one.

/// A matrix of bits: rows of equal length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    columns: usize,
    rows: Vec<Vec<bool>>,
}

impl Bits {
    /// The matrix of `rows` by `columns` whose element is `at(row, column)`.
    pub fn of(rows: usize, columns: usize, at: impl Fn(usize, usize) -> bool) -> Self {
        let row = |row: usize| (0..columns).map(|column| at(row, column)).collect();
        Self { columns, rows: (0..rows).map(row).collect() }
    }

    /// One element.
    pub fn at(&self, row: usize, column: usize) -> bool {
        self.rows[row][column]
    }

    /// A column, from the first row on.
    pub fn column(&self, column: usize) -> Vec<bool> {
        self.rows.iter().map(|row| row[column]).collect()
    }

    /// The product `self ⋆ other`, with *and* for times and *or* for plus.
    pub fn times(&self, other: &Self) -> Self {
        Self::of(self.rows.len(), other.columns, |row, column| {
            (0..self.columns).any(|inner| self.at(row, inner) && other.at(inner, column))
        })
    }

    /// Rows become columns.
    pub fn transposed(&self) -> Self {
        Self::of(self.columns, self.rows.len(), |row, column| self.at(column, row))
    }

    /// Only the columns that `keep` names.
    pub fn with_columns(&self, keep: &[usize]) -> Self {
        Self::of(self.rows.len(), keep.len(), |row, column| self.at(row, keep[column]))
    }

    /// Only the rows that `keep` names.
    pub fn with_rows(&self, keep: &[usize]) -> Self {
        Self::of(keep.len(), self.columns, |row, column| self.at(keep[row], column))
    }
}

/// Whether a matching is a mapping: `Z ⋆ Y = X` and `X ⋆ Yᵀ = Z` (ISA Mapper, section 5.2
/// step 4, after AMOS).
///
/// `x` says which operand moves along which axis of the kernel, `z` which along which axis
/// of the instruction, `y` which axis of the instruction is which of the kernel. All three
/// hold mapped axes only: an axis around the instruction, or one of which a single point is
/// used, has no column in `x` or `z`.
pub fn is_valid(x: &Bits, y: &Bits, z: &Bits) -> bool {
    z.times(y) == *x && x.times(&y.transposed()) == *z
}

#[cfg(test)]
mod tests {
    use super::{Bits, is_valid};

    fn bits(rows: &[&[u8]]) -> Bits {
        let columns = rows.first().map_or(0, |row| row.len());
        Bits::of(rows.len(), columns, |row, column| rows[row][column] == 1)
    }

    /// Operands a, b, c of a product by its axes m, n, k.
    fn product() -> Bits {
        bits(&[&[1, 0, 1], &[0, 1, 1], &[1, 1, 0]])
    }

    #[test]
    fn a_product_is_a_product() {
        let one = bits(&[&[1, 0, 0], &[0, 1, 0], &[0, 0, 1]]);
        assert!(is_valid(&product(), &one, &product()));
    }

    #[test]
    fn rows_and_columns_change_places_only_with_their_operands() {
        let swapped = bits(&[&[0, 1, 0], &[1, 0, 0], &[0, 0, 1]]);
        assert!(!is_valid(&product(), &swapped, &product()));
    }

    /// conv2d, by n h w co ci r s: image, filter, result.
    #[test]
    fn several_axes_are_one() {
        let x = bits(&[&[1, 1, 1, 0, 1, 1, 1], &[0, 0, 0, 1, 1, 1, 1], &[1, 1, 1, 1, 0, 0, 0]]);
        let y = bits(&[&[1, 1, 1, 0, 0, 0, 0], &[0, 0, 0, 1, 0, 0, 0], &[0, 0, 0, 0, 1, 1, 1]]);
        assert!(is_valid(&x, &y, &product()));
        // Only mapped axes count: w and s may be around it.
        let mapped = [0, 1, 3, 4, 5];
        assert!(is_valid(&x.with_columns(&mapped), &y.with_columns(&mapped), &product()));
        // The filter does not move along rows of the image.
        let wrong = bits(&[&[1, 0, 1, 0, 0, 0, 0], &[0, 1, 0, 1, 0, 0, 0], &[0, 0, 0, 0, 1, 1, 1]]);
        assert!(!is_valid(&x, &wrong, &product()));
    }

    /// Each condition finds what the other does not.
    #[test]
    fn both_conditions_are_needed() {
        // An axis of the instruction that is none of the kernel's: Z ⋆ Y = X still holds.
        let (x, y) = (bits(&[&[1], &[0]]), bits(&[&[1], &[0]]));
        let z = bits(&[&[1, 1], &[0, 0]]);
        assert!(z.times(&y) == x && !is_valid(&x, &y, &z));
        // An axis of the kernel that is none of the instruction's: X ⋆ Yᵀ = Z still holds.
        let (x, y, z) = (bits(&[&[1, 1]]), bits(&[&[1, 0]]), bits(&[&[1]]));
        assert!(x.times(&y.transposed()) == z && !is_valid(&x, &y, &z));
    }

    #[test]
    fn depthwise_channels_are_no_axis_of_a_product() {
        // c moves along all three operands.
        let x = bits(&[&[1], &[1], &[1]]);
        for own in 0..3 {
            let y = bits(&[&[1]]);
            assert!(!is_valid(&x, &y, &product().with_columns(&[own])));
        }
    }
}
