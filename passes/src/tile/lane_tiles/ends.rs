//! Tiles that grow along one axis where another ends (`grow` in `#tile.schedule`).
//!
//! ```text
//! seven columns in tiles of 1 row x 6 columns      six columns: row by row
//!   ->                                             the seventh: six rows at once
//! ```
//!
//! What an axis leaves over is no waste then (rule 4), so its sizes need not be aligned to the tensor.

use std::collections::BTreeSet;

use super::{Space, Tile, size, with};
use crate::tile::shape::Shape;
use crate::tile::why::Rule;

impl Space<'_, '_> {
    /// Tiles like these that end ragged along one row axis, as large along it as they are or as the
    /// registers hold, with the axis along which their ends are longer. None where tiles are staged
    /// or lanes fold; nor where windows slide, since they are written out for ends, too.
    pub(super) fn growing(
        &self,
        tiles: impl Iterator<Item = Tile>,
    ) -> impl Iterator<Item = (Shape, Rule)> {
        let grows = !self.staged && !self.slides && !self.nest.reduces(self.lanes_axis);
        let mut found = BTreeSet::new();
        for tile in tiles.filter(|_| grows) {
            for at in self.row_places().filter(|&at| self.divides_all_but(tile, at)) {
                let own = size(tile, at);
                let larger =
                    (own..=self.most[at]).take_while(|&size| self.fits(with(tile, at, size)));
                for whole in [own, larger.last().unwrap_or(own)] {
                    let tile = with(tile, at, whole);
                    let along = self.row_places().filter(|&along| self.may_grow(tile, at, along));
                    found.extend(along.map(|along| (tile, along)));
                }
            }
        }
        found.into_iter().map(|(tile, along)| {
            (Shape { grow: Some(self.rows[along - 1]), ..self.shape(tile) }, Rule::Ends)
        })
    }

    fn row_places(&self) -> std::ops::Range<usize> {
        1..self.extents.len()
    }

    /// Returns whether a tile divides all row axes but perhaps one: each end is code of its own.
    fn divides_all_but(&self, tile: Tile, at: usize) -> bool {
        let divides = |other: usize| self.extents[other].is_multiple_of(size(tile, other));
        self.row_places().all(|other| other == at || divides(other))
    }

    /// Returns whether a tile that ends along one axis has more points along another there, and
    /// registers hold them. Both move the same inputs, so that the order of their loops changes
    /// nothing that stays near.
    fn may_grow(&self, tile: Tile, at: usize, along: usize) -> bool {
        let (whole, extent) = (size(tile, at), self.extents[at]);
        let rest = extent % whole;
        if at == along || rest == 0 || whole >= extent || !self.are_alike(at, along) {
            return false;
        }
        let own = size(tile, along);
        let more = (own * (whole / rest)).min(self.extents[along]);
        own < more && more <= self.most[along] && self.fits(with(with(tile, at, rest), along, more))
    }

    /// Returns whether the same inputs move along two row axes.
    fn are_alike(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.rows[one - 1], self.rows[other - 1]);
        self.nest.inputs.iter().all(|access| access.uses(one) == access.uses(other))
    }
}
