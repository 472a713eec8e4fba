//! Layouts of registers: which slot of which thread holds each element.

use weft_dialects::ir::{Attribute, Builder, Type, Val, affine};

/// The distribution of a block of elements, the last dimensions of a memref, over threads.
#[derive(Clone, Debug)]
pub struct Layout<'c> {
    /// The extents of the block.
    pub shape: Vec<u64>,
    /// Elements that one thread holds.
    pub slots: u64,
    /// For each dimension the map from (lane, slot) to the place along it; none where
    /// the lane itself is the place.
    maps: Option<Vec<Attribute<'c>>>,
    /// The element of each slot of each lane, lanes of slot 0 first.
    table: Vec<Vec<i64>>,
}

impl PartialEq for Layout<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape && self.slots == other.slots && self.table == other.table
    }
}

impl<'c> Layout<'c> {
    /// One element a lane, side by side: how `device.copy` and `device.apply` see registers.
    pub fn lanewise(lanes: u64, extent: u64) -> Self {
        let table = (0..lanes as i64).map(|lane| vec![lane]).collect();
        Self { shape: vec![extent], slots: 1, maps: None, table }
    }

    /// The fragment that an instruction's affine map describes; `None` for a map that
    /// cannot be evaluated.
    pub fn fragment(map: Attribute<'c>, lanes: u64, slots: u64, shape: &[u64]) -> Option<Self> {
        let mut table = Vec::with_capacity((lanes * slots) as usize);
        let points = affine::Points::of(map)?;
        for slot in 0..slots as i64 {
            for lane in 0..lanes as i64 {
                table.push(points.at(&[lane, slot])?);
            }
        }
        let side_by_side = shape.len() == 1
            && slots == 1
            && table.iter().enumerate().all(|(lane, place)| place[..] == [lane as i64]);
        if side_by_side {
            return Some(Self::lanewise(lanes, shape[0]));
        }
        Some(Self { shape: shape.to_vec(), slots, maps: Some(affine::results(map)?), table })
    }

    /// Returns whether lane `n` holds element `n`.
    pub fn is_lanewise(&self) -> bool {
        self.maps.is_none()
    }

    /// The least and the greatest place along a dimension that any lane holds in a slot.
    pub fn reach(&self, dim: usize, slot: u64) -> (i64, i64) {
        self.places(slot)
            .iter()
            .map(|place| place[dim])
            .fold((i64::MAX, i64::MIN), |(low, high), place| (low.min(place), high.max(place)))
    }

    /// The places along all dimensions that each lane holds in a slot, lanes in order.
    pub fn places(&self, slot: u64) -> &[Vec<i64>] {
        let lanes = self.table.len() / self.slots as usize;
        &self.table[slot as usize * lanes..(slot as usize + 1) * lanes]
    }

    /// The place along a dimension that `lane` holds in a slot.
    pub fn place(&self, b: &mut Builder<'c>, dim: usize, lane: Val<'c>, slot: u64) -> Val<'c> {
        let Some(maps) = &self.maps else { return lane };
        let slot = b.index(slot as i64);
        let index = Type::index(b.context());
        b.op_with("affine.apply", &[lane, slot], &[index], &[("map", maps[dim])], 0).result(0)
    }
}
