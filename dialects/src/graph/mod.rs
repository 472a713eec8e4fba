//! The `graph` dialect.
pub(crate) mod verify;
