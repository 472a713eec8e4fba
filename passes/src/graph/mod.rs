//! Passes of the `graph` room.
