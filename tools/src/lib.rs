//! weft.
