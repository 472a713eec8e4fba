//! Machines that exist only as text run models.

mod bad_programs;
mod bytes;
mod desk;
mod digits;
mod gates;
mod mappings;
mod mutants;
mod one_ir;
mod operators;
mod predicted;
mod random;
mod resnet;
mod resnet_runs;
mod retarget;
mod shapes;
mod threads;
mod winograd;
