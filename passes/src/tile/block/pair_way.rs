//! How pieces come to the groups of two products, and these go through them.

use super::Supply;

/// Turns that are weighed: while one half of the groups multiplies the other one folds rows.
pub(super) const TURNS: u64 = 2;

/// How pieces come, and groups go through them.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// Pieces that have room at the same time.
    pub stages: u64,
    /// The engine that brings them, if one does.
    pub ahead: Option<Supply>,
    /// Turns of the groups.
    pub turns: u64,
}

impl Way {
    pub fn of(stages: u64, ahead: Option<Supply>) -> Self {
        Self { stages, ahead, turns: 1 }
    }

    /// Whether groups can go by turns: they bring later pieces by way of their registers.
    pub fn goes_by_turns(self) -> bool {
        self.stages > 1 && self.ahead.is_none()
    }
}
