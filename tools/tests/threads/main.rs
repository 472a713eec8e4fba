//! Code for many threads: what it computes, and that it assembles.

mod assemble;
mod host;
mod instructions;
mod numbers;
mod kernels;
mod fragments;
