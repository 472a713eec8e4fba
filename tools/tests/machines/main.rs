//! Machines that exist only as text run models.

mod bytes;
mod desk;
mod digits;
mod mutants;
mod one_ir;
mod resnet;
mod resnet_runs;
mod retarget;
mod shapes;
