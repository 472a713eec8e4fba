//! Reasons that a group has no tiles.

use weft_dialects::ir::Linear;

use super::tiles::MOST_PLACES;

/// The reason that a group has no tiles. Members are counted from 0, in their order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The tile of an output does not say which points make it.
    #[error(
        "dimension {dim} of what member {member} makes is {index}, not one axis: which points make a tile is not known"
    )]
    NotInvertible {
        /// The member.
        member: usize,
        /// Of its output.
        dim: usize,
        /// Over its axes.
        index: String,
    },
    /// Two readers ask for tiles that move apart.
    #[error(
        "readers of member {member} ask for tiles of {one} and {other} elements that lie {apart} apart: no one tile serves both"
    )]
    Conflict {
        /// The member.
        member: usize,
        /// Size of one.
        one: u64,
        /// Size of the other.
        other: u64,
        /// Elements from the begin of the first to the end of the last.
        apart: u64,
    },
    /// A member that nothing inside reads has points that no tile of the others leads to.
    #[error("a tile of member {member} reads more than the tiles that its makers have")]
    Beyond {
        /// The member.
        member: usize,
    },
    /// Nobody inside says which tile of a member is needed.
    #[error("nothing in the group reads member {member}, nor makes what it reads")]
    Unasked {
        /// The member.
        member: usize,
    },
    /// Too many places to try.
    #[error(
        "{places} places of the tile, more than {MOST_PLACES}, decide the size of that of member {member}"
    )]
    Places {
        /// The member.
        member: usize,
        /// The number of places.
        places: u64,
    },
    /// A tensor that is read at computed addresses.
    #[error("member {member} reads at addresses that it computes")]
    Computed {
        /// The member.
        member: usize,
    },
    /// A tile that is cut where a plane with a border is read whole.
    #[error("member {member} reads past the ends of what a tile holds only some columns of")]
    Border {
        /// The member that reads.
        member: usize,
    },
    /// A member of several outputs.
    #[error("member {member} has {outputs} outputs, members have one")]
    Outputs {
        /// The member.
        member: usize,
        /// The number of outputs.
        outputs: usize,
    },
    /// Nothing to compute.
    #[error("what member {member} makes has no elements")]
    Empty {
        /// The member.
        member: usize,
    },
}

impl Refusal {
    /// The name of the rule, for reports and tests.
    pub fn rule(&self) -> &'static str {
        match self {
            Refusal::NotInvertible { .. } => "invertible",
            Refusal::Conflict { .. } => "conflict",
            Refusal::Beyond { .. } => "beyond",
            Refusal::Unasked { .. } => "unasked",
            Refusal::Places { .. } => "places",
            Refusal::Computed { .. } => "computed",
            Refusal::Border { .. } => "border",
            Refusal::Outputs { .. } => "outputs",
            Refusal::Empty { .. } => "empty",
        }
    }
}

/// An index expression for people: `2 d0 + d3 - 1`.
pub(super) fn written(index: &Linear) -> String {
    let mut text = String::new();
    for (axis, &factor) in index.coefficients.iter().enumerate().filter(|(_, f)| **f != 0) {
        let sign = if factor < 0 { " - " } else { " + " };
        let times = if factor.abs() == 1 { String::new() } else { format!("{} ", factor.abs()) };
        text += &format!("{sign}{times}d{axis}");
    }
    if index.constant != 0 || text.is_empty() {
        let sign = if index.constant < 0 { " - " } else { " + " };
        text += &format!("{sign}{}", index.constant.abs());
    }
    text.trim_start_matches(" + ").trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_written() {
        let index = Linear { constant: -1, coefficients: vec![2, 0, 1] };
        assert_eq!(written(&index), "2 d0 + d2 - 1");
        assert_eq!(written(&Linear::constant(2, 3)), "3");
    }
}
