//! The `task` dialect.
pub(crate) mod verify;
