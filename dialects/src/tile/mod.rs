//! The `tile` dialect.
pub(crate) mod verify;
