//! Why a tile was chosen: the rule by which it was constructed, the number of tiles that were compared
//! and the terms of its cost; for remarks, the text and `weft explain`.

use std::fmt;

use crate::cost::Cost;

/// Why a tile was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Why {
    /// What it is predicted to take on one unit.
    pub cost: Cost,
    /// The rule by which it was constructed.
    pub rule: Rule,
    /// Tiles that were compared.
    pub compared: usize,
}

impl fmt::Display for Why {
    /// `roller: fills the registers, wastes at most 10 % of an axis; one of 57 tiles; 120 cycles: ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; one of {} tiles; {}", self.rule, self.compared, self.cost)
    }
}

/// What bounds the growth of a tile of lanes: there is no room for a larger one (`lane_tiles.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Border {
    /// The registers.
    Registers,
    /// The places of the smallest cache for which rows compete.
    Ways,
    /// The smallest cache.
    Cache,
    /// The unit's largest cache, for a part of the reductions.
    Parts,
    /// The units, each of which is to have a tile.
    Units,
    /// The rows over which windows slide.
    Windows,
    /// The registers beside all weights of windows that slide.
    Weights,
}

/// The rule by which a tile was constructed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// Grown until there is no room, with at most so many percent of an axis wasted.
    Border(Border, u8),
    /// Grown by what is used again, with at most so many percent of an axis wasted.
    Reuse(u8),
    /// Grown along one axis.
    Line,
    /// Fills the registers, and grows along another axis where one ends.
    Ends,
    /// The least that keeps the unit busy, or the largest of its width.
    Busy,
    /// One of all that fit: nothing is used again, or enumeration was asked for.
    Enumerated,
}

/// The allowed waste of an axis in percent.
pub(crate) fn percent(epsilon: f64) -> u8 {
    (epsilon * 100.0).round() as u8
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, waste) = match self {
            Self::Border(border, waste) => {
                let what = match border {
                    Border::Registers => "roller: fills the registers",
                    Border::Ways => "roller: fills the ways of the smallest cache",
                    Border::Cache => "roller: fills the smallest cache",
                    Border::Parts => "roller: fills the unit's cache with a part of the sums",
                    Border::Units => "roller: leaves a tile for each unit",
                    Border::Windows => "roller: slides windows over its rows",
                    Border::Weights => "roller: holds the weights of windows beside it",
                };
                (what, Some(waste))
            }
            Self::Reuse(waste) => ("roller: grown by reuse", Some(waste)),
            Self::Line => ("roller: grown along one axis", None),
            Self::Ends => ("roller: fills the registers, grows where an axis ends", None),
            Self::Busy => ("roller: keeps the unit busy, or is as large as fits", None),
            Self::Enumerated => ("enumerated: one of all that fit", None),
        };
        match waste {
            Some(waste) => write!(f, "{what}, wastes at most {waste} % of an axis"),
            None => f.write_str(what),
        }
    }
}
