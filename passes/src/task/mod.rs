//! Passes of the `task` room.
