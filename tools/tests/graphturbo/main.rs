//! GraphTurbo: sub-graphs in instances, on machines whose cores have a local buffer.

mod ablation;
mod clusters;
mod desk;
mod instances;
mod merging;
mod order;
