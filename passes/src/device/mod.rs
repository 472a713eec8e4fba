//! Passes of the `device` room.
