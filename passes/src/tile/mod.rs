//! Passes of the `tile` room.
