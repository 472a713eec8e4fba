//! Windows that slide over the rows of a register tile: what several rows read is loaded once.
//!
//! ```text
//! y[i, j] += x[i + p, j + q] * w[p, q]      row i + p of x is read by several rows i
//! ```

use std::collections::BTreeMap;

use weft_dialects::ir::Linear;

use super::Nest;

/// The steps of a register tile, gathered by what they read of one input.
pub struct Windows {
    /// The input on lanes that the windows slide over.
    pub input: usize,
    /// The reductions that the windows are made of.
    pub taps: Vec<usize>,
    /// Steps that read the same registers of the input: the place on the row axes, and on the taps.
    pub groups: Vec<Vec<[Vec<u64>; 2]>>,
}

impl Windows {
    /// The steps of a tile with `rows`, each an axis and how many points of it, along `taps`.
    ///
    /// `None` where several inputs move along the lanes, where the taps are not the innermost
    /// reductions, or where a point would be added in another order than that of the nest.
    pub fn of(
        nest: &Nest<'_>,
        lanes_axis: usize,
        rows: &[(usize, u64)],
        taps: &[usize],
    ) -> Option<Self> {
        let mut on_lanes = nest.inputs.iter().enumerate().filter(|(_, one)| one.uses(lanes_axis));
        let (input, access) = on_lanes.next().filter(|_| on_lanes.next().is_none())?;
        let reduces = |axis: &usize| nest.reduces(*axis) && nest.axes[*axis].extent > 1;
        let reductions: Vec<usize> = (0..nest.axes.len()).filter(reduces).collect();
        let looped: Vec<usize> = taps.iter().copied().filter(reduces).collect();
        if !reductions.ends_with(&looped) || taps.contains(&lanes_axis) {
            return None;
        }
        let sizes: Vec<u64> = rows.iter().map(|&(_, size)| size).collect();
        let extents: Vec<u64> = taps.iter().map(|&axis| nest.axes[axis].extent).collect();
        let mut groups: BTreeMap<Vec<i64>, Vec<[Vec<u64>; 2]>> = BTreeMap::new();
        for tap in places(&extents) {
            for row in places(&sizes) {
                let along = |index: &Linear| {
                    let rows = rows.iter().map(|&(axis, _)| axis).zip(&row);
                    let axes = rows.chain(taps.iter().copied().zip(&tap));
                    axes.map(|(axis, &at)| index.coefficients[axis] * at as i64).sum()
                };
                let place = access.index.iter().map(along).collect();
                groups.entry(place).or_default().push([row.clone(), tap.clone()]);
            }
        }
        let groups: Vec<_> = groups.into_values().collect();
        let mut last: BTreeMap<&[u64], &[u64]> = BTreeMap::new();
        let in_order = groups.iter().flatten().all(|[row, tap]| {
            let before = last.insert(row, tap);
            before.is_none_or(|before| before < tap.as_slice())
        });
        in_order.then_some(Self { input, taps: taps.to_vec(), groups })
    }

    /// Returns whether several rows read the same registers.
    pub fn share(nest: &Nest<'_>, lanes_axis: usize, rows: &[usize], taps: &[usize]) -> bool {
        let moves =
            |index: &Linear, axes: &[usize]| axes.iter().any(|&axis| index.coefficients[axis] != 0);
        let inputs = nest.inputs.iter().filter(|access| access.uses(lanes_axis));
        let mut indices = inputs.flat_map(|access| &access.index);
        indices.any(|index| moves(index, taps) && moves(index, rows))
    }
}

/// All places of a box of these extents, the last moving fastest.
fn places(extents: &[u64]) -> Vec<Vec<u64>> {
    extents.iter().fold(vec![Vec::new()], |places, &extent| {
        let longer = |place: Vec<u64>| {
            (0..extent).map(move |at| place.iter().copied().chain([at]).collect::<Vec<_>>())
        };
        places.into_iter().flat_map(longer).collect()
    })
}
