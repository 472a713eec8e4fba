//! Installs, checks and tests weft.
fn main() {}
