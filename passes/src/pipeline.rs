//! The order of the passes, with the reason for each place.

use weft_dialects::ir::pass::{self, Analyses, Failed, Pass};
use weft_dialects::ir::{Context, Op};

use crate::{codegen, device, graph, interpret, task, tile};

/// A stage of the way down, named after the dialect its programs are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Operators on whole tensors.
    Graph,
    /// Tile programs in a tile-graph.
    Tile,
    /// A task program; kernels are still tile programs.
    Task,
    /// A task program; kernels are device programs.
    Device,
}

/// The passes that lead to a stage from the one before.
pub fn passes_to(stage: Stage) -> &'static [&'static Pass] {
    match stage {
        Stage::Graph => &[],
        Stage::Tile => &[
            // First: all others read nests, slices and reshapes only.
            &graph::simplify_payloads::PASS,
            // Before the conversion: after it a product is a kernel, and its consumers are others. First,
            // for the rows of many products are then one tensor, and more weights may share it.
            &graph::batch_products::PASS,
            &graph::merge_products::PASS,
            // Behind it, for a merged convolution has more filters to share a transform; and
            // where accuracy is relaxed only: sums are rounded otherwise than a model's author expects.
            &graph::winograd::PASS,
            // Behind all that read products; on request only, as products are rounded otherwise.
            &graph::cut_factors::PASS,
            // As the one before: behind all that read products, on request only.
            &graph::narrow_factors::PASS,
            // Behind it, whose products of narrow factors an instruction takes.
            &graph::widen_factors::PASS,
            // Before zero points leave the products: it makes products of integers. On request only.
            &graph::quantise_activations::PASS,
            // As the one before: it makes products of integers, whose zero points they are.
            &graph::multiply_integers::PASS,
            // Behind all that read products: it leaves more than a product.
            &graph::hoist_zero_points::PASS,
            // Behind all that asks what a weight is: it lies otherwise then.
            &graph::pack_narrow::PASS,
            // Behind all that asks what an operator is: it is written in other operations then.
            &graph::known_divisors::PASS,
            &graph::to_tile::PASS,
            // After the conversion, whose kernels are one nest each; before panels and tiles, which
            // look at what a kernel reads.
            &tile::fuse_elementwise::PASS,
            // After elementwise kernels were joined: a product has its epilogue, and a constant few kernels
            // that make it. Before anything is laid out, which would be for the wider constant.
            &tile::inline_constants::PASS,
            // After elementwise kernels were joined: what a copy wrote inside a border, another
            // kernel writes then. Before anything is chosen for the layout of tensors.
            &tile::fill_borders::PASS,
            // After elementwise kernels were joined, which makes fewer tensors; before anything
            // looks at a kernel's extents.
            &tile::stream_host::PASS,
            // After elementwise kernels were joined, which makes fewer tensors; before anything
            // is chosen for their layout.
            &tile::lay_out::PASS,
            // Behind the host's streaming, whose slabs it may split; before
            // anything is chosen for kernels, for those of instances are finished here.
            &tile::instances::PASS,
            // After elementwise kernels were joined: what a row goes through is few kernels then.
            // Before the next, which would share out each of its folds apart.
            &tile::split_rows::PASS,
            // After elementwise kernels were joined: the sum of the parts takes the epilogue.
            &tile::split_reductions::PASS,
            // Before weights are packed: an end may have lanes where the rest has none.
            &tile::peel::PASS,
            // Before weights are packed: what it lays out lies as lanes read it.
            &tile::pack_depth::PASS,
            // Before tiles: a panel is as wide as the register tile that reads it.
            &tile::pack_weights::PASS,
            // With panels, for they are axes of the nests.
            &tile::construct_rtiles::PASS,
            // Last: it weighs tiles against each other.
            &tile::connect_edges::PASS,
        ],
        Stage::Task => &[
            // Before the conversion, which makes ranges of each kernel; not earlier: until
            // then the memory of an edge is a word that may be edited.
            &tile::join_kernels::PASS,
            // After tiles: they say how many rTasks there are.
            &task::from_tile::PASS,
            // After the conversion, for a range sees part of a buffer where a run does not; after joining:
            // the kernels of a group's members differ by what they read, too.
            &task::share_kernels::PASS,
        ],
        Stage::Device => &[
            // First: it reads what rTasks touch from tile programs. The text may have been edited,
            // and a plan is proved before it runs.
            &task::check_order::PASS,
            // Beside it: both read nests, which are gone behind the conversion.
            &task::check_ends::PASS,
            // Before the conversion: a lane unit has no elementary functions. Not earlier:
            // people and the interpreter read `math.exp` better.
            &device::expand_math::PASS,
            &device::from_tile::PASS,
            // Behind the conversion, which writes transfers where each layer needs them.
            &device::overlap_layers::PASS,
            // Last: it reorders the code that the conversion wrote.
            &device::order_instructions::PASS,
        ],
    }
}

/// Stages in their order.
pub const STAGES: [Stage; 4] = [Stage::Graph, Stage::Tile, Stage::Task, Stage::Device];

/// Every pass, for the tools.
pub const PASSES: &[&Pass] = &[
    &graph::simplify_payloads::PASS,
    // On request only: written-out windows are as many times larger as they overlap.
    &graph::gather_windows::PASS,
    &graph::batch_products::PASS,
    &graph::merge_products::PASS,
    &graph::winograd::PASS,
    &graph::cut_factors::PASS,
    &graph::narrow_factors::PASS,
    &graph::widen_factors::PASS,
    &graph::quantise_activations::PASS,
    &graph::multiply_integers::PASS,
    &graph::hoist_zero_points::PASS,
    &graph::pack_narrow::PASS,
    &graph::known_divisors::PASS,
    &graph::to_tile::PASS,
    &tile::fuse_elementwise::PASS,
    &tile::inline_constants::PASS,
    &tile::fill_borders::PASS,
    &tile::stream_host::PASS,
    &tile::instances::PASS,
    &tile::lay_out::PASS,
    &tile::split_rows::PASS,
    &tile::split_reductions::PASS,
    &tile::peel::PASS,
    &tile::pack_depth::PASS,
    &tile::pack_weights::PASS,
    &tile::construct_rtiles::PASS,
    &tile::connect_edges::PASS,
    &tile::join_kernels::PASS,
    &task::from_tile::PASS,
    &task::share_kernels::PASS,
    &task::check_order::PASS,
    &task::check_ends::PASS,
    &device::load_machine::PASS,
    &device::expand_math::PASS,
    &device::from_tile::PASS,
    &device::overlap_layers::PASS,
    &device::order_instructions::PASS,
    &codegen::lower::PASS,
    &codegen::vendor::PASS,
    &codegen::gpu::program::PASS,
    &codegen::gpu::PASS,
    &interpret::check_eval::PASS,
];

/// Makes the passes known to every tool of the process.
pub fn register() {
    pass::register(PASSES);
}

/// The stage that the text of a module is at, by what it holds.
pub fn stage_of(module: Op<'_>) -> Option<Stage> {
    let ops = module.body(0).map(|block| block.ops()).unwrap_or_default();
    let has = |name: &str| ops.iter().any(|op| op.is(name));
    if has("graph.model") {
        Some(Stage::Graph)
    } else if has("tile.graph") {
        Some(Stage::Tile)
    } else if has("task.program") {
        let unlowered = ops.iter().any(|op| {
            op.is("tile.kernel") && range_kernels(module).iter().any(|name| name == op.symbol())
        });
        Some(if unlowered { Stage::Task } else { Stage::Device })
    } else {
        None
    }
}

/// Kernels that a task program runs.
fn range_kernels(module: Op<'_>) -> Vec<String> {
    let mut names = Vec::new();
    module.walk(&mut |op| {
        if op.is("task.range")
            && let Some(name) = op.attr("kernel").and_then(weft_dialects::ir::attr::symbol)
        {
            names.push(name.to_owned());
        }
    });
    names
}

/// Lowers a module from the stage it is at to `to`, and verifies it after every stage.
///
/// # Errors
/// Reported by the pass or verifier that refuses.
pub fn lower<'c>(
    context: &'c Context,
    module: Op<'c>,
    from: Stage,
    to: Stage,
    options: &[(&str, &str, &str)],
    done: &mut dyn FnMut(&'static str),
) -> Result<(), Failed> {
    let analyses = Analyses::default();
    for stage in STAGES.into_iter().filter(|stage| *stage > from && *stage <= to) {
        for pass in passes_to(stage) {
            let own: Vec<_> = options
                .iter()
                .filter(|(name, _, _)| *name == pass.name)
                .map(|(_, option, value)| (*option, *value))
                .collect();
            pass.apply_with(context, module, &own, analyses.clone())?;
            done(pass.name);
        }
        if !module.verify() {
            return Err(Failed);
        }
    }
    Ok(())
}
