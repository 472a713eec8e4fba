//! From device programs to native code.
