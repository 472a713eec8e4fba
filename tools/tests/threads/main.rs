//! Code for many threads: what it computes, and that it assembles.

mod assemble;
mod attention;
mod blocks;
mod composed;
mod cut_factors;
mod edited;
mod fragments;
mod host;
mod instructions;
mod joined;
mod kept;
mod kernels;
mod kinds;
mod matrix;
mod mutants;
mod numbers;
mod one_pass;
mod pixels;
mod program;
mod sides;
mod tutorial;
mod warpgroups;
