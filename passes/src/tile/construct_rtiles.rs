//! `tile-construct-rtiles`: kernels become tile programs.
//!
//! ```text
//! tile.kernel @mm { linalg.generic }
//!   ->  %b = tile.load %B to @vreg
//!       %r = tile.compute ins(A, %b) outs(C) on @vfma lanes 1
//!              tiles [#tile.rtile<"l2" [64, 256, 768]>, #tile.rtile<"vreg" [12, 32, 1]>]
//!       tile.store %r from @vreg to C
//! ```
//!
//! The instruction, the axis of its lanes and the register tile come from
//! `policy.rs`; the rTask's tile is a few register tiles, so that every unit has
//! work. A nest that the machine cannot compute is refused with the operation
//! that it lacks.

use std::collections::HashMap;

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Context, Op, Report, attr, remark};

use super::chooser::Chooser;
use super::isa::{Model, Search, Strategy};
use super::layout::Layout;
use super::policy::{self, Choice, Ranked, Tiled};
use super::rtiles::Tile;
use super::schedule::schedule;
use super::why::Why;
use super::write_compute::rewrite;
use super::{instruction, isa, offer, pack_weights, roller};
use crate::nest::{self, Nest};
use crate::remarks::chosen;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-construct-rtiles",
    description: "Choose instruction, lanes and rTiles for every kernel",
    options: &[
        PassOption {
            name: "remarks",
            description: "say what was chosen and what came next, and what each would cost",
            fallback: "false",
        },
        PassOption {
            name: "rank",
            description: "take the choice of this rank instead of the best, which has rank 0",
            fallback: "0",
        },
        PassOption {
            name: "tiles",
            description: "which tiles of lanes are compared: constructed, by Roller's rules; or \
                          enumerated, every one that fits",
            fallback: "constructed",
        },
        PassOption { name: "told", description: "how many choices remarks tell of", fallback: "5" },
        PassOption {
            name: "strategy",
            description: "which mappings of an instruction are costed: exhaustive, greedy, beam",
            fallback: "exhaustive",
        },
        PassOption {
            name: "model",
            description: "whether moves and instructions cost at once: overlapped, summed",
            fallback: "overlapped",
        },
        PassOption {
            name: "groups",
            description: "whether groups of lanes may share an rTask: together, apart",
            fallback: "together",
        },
        PassOption {
            name: "offer",
            description: "what the schedule chooses from: wide, a kernel that is faster on all \
                          units beside the best of one; or best, that one only",
            fallback: "wide",
        },
    ],
    statistics: &[
        ("kernels", "tile programs made"),
        ("wide", "kernels of more rTasks offered beside them"),
    ],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let machine = run.machine()?;
    let search = Search {
        strategy: run.word("strategy", &Strategy::WORDS)?,
        model: run.word("model", &Model::WORDS)?,
        all_tiles: run.word("tiles", &[("constructed", false), ("enumerated", true)])?,
        spread: 0,
        apart: run.word("groups", &[("together", false), ("apart", true)])?,
        near: None,
    };
    let rank = run.number("rank")?;
    let offer = run.word("offer", &[("wide", true), ("best", false)])? && rank == 0;
    let (remarks, told) = (run.flag("remarks")?, run.number("told")?);
    let wanted = Wanted { rank, remarks, told, search, offer };
    let chooser = Chooser::of(run, machine);
    let mut wider: HashMap<String, Op<'_>> = HashMap::new();
    for kernel in pack_weights::kernels(run.module) {
        if let Some(wide) = construct(run.context, &chooser, kernel, wanted)? {
            wider.insert(kernel.symbol().to_owned(), wide);
        }
        run.count("kernels", 1);
    }
    run.count("wide", wider.len() as u64);
    run.module.walk(&mut |op| {
        let kernel = op.attr("kernel").and_then(attr::symbol).filter(|_| op.is("tile.run"));
        if let Some(wide) = kernel.and_then(|name| wider.get(name)) {
            let symbol = attr::of_symbol(run.context, wide.symbol());
            op.set_attr("others", attr::of_array(run.context, &[symbol]));
        }
    });
    Ok(())
}

/// What to do beside choosing the best.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Which of the ranked choices to take; the last where there are fewer.
    pub rank: usize,
    /// Say what was chosen, and what came next.
    pub remarks: bool,
    /// How many choices to tell of.
    pub told: usize,
    /// How mappings of instructions are found and costed.
    pub search: Search<'static>,
    /// Whether to offer a kernel of more rTasks, where that is faster on all units.
    pub offer: bool,
}

/// Reads a kernel's nest; reports where it has none.
pub(super) fn read<'c>(kernel: Op<'c>) -> Result<Nest<'c>, Failed> {
    nest::read_kernel(kernel).map_err(|error| {
        Report::new(kernel.location(), format!("@{}: {error}", kernel.symbol()));
        Failed
    })
}

/// Chooses for a kernel; reports where the machine has nothing.
pub(super) fn choose<'c>(
    chooser: &Chooser<'c>,
    kernel: Op<'c>,
    nest: &Nest<'c>,
    layouts: &[Layout],
) -> Result<Choice<'c>, Failed> {
    choose_by(chooser, kernel, nest, layouts, Search::default())
}

fn choose_by<'c>(
    chooser: &Chooser<'c>,
    kernel: Op<'c>,
    nest: &Nest<'c>,
    layouts: &[Layout],
    search: Search<'_>,
) -> Result<Choice<'c>, Failed> {
    let machine = chooser.machine;
    chooser.choose(nest, layouts, search).map_err(|reason| {
        let mut report = Report::new(
            kernel.location(),
            format!("@{} cannot run on @{}: {reason}", kernel.symbol(), machine.name()),
        );
        for (_, refusal) in instruction::refusals(machine, nest) {
            report = report.note(kernel, refusal.to_string());
        }
        report.help("give the machine a device.instruction that means this body, or a lane unit with the operation");
        Failed
    })
}

/// Chooses for a kernel and writes the choice down; reports where the machine has nothing. Gives
/// the kernel that is offered beside it.
pub(crate) fn construct<'c>(
    context: &'c Context,
    chooser: &Chooser<'c>,
    kernel: Op<'c>,
    wanted: Wanted,
) -> Result<Option<Op<'c>>, Failed> {
    let machine = chooser.machine;
    let nest = read(kernel)?;
    // Layouts are what they are now: what was to be packed has been.
    let fixed = vec![Layout::Fixed; nest.inputs.len()];
    let search = wanted.search;
    let mut choice = choose_by(chooser, kernel, &nest, &fixed, search)?;
    if wanted.rank > 0 || wanted.remarks {
        let keep = wanted.told.max(wanted.rank + 1);
        let ranked = policy::candidates(machine, &nest, &fixed, search, keep);
        let Ranked { found: mut ranked, compared } = ranked.expect("there is a best one");
        if wanted.remarks {
            say(kernel, &choice);
            for (rank, candidate) in ranked.iter().take(wanted.told).enumerate() {
                remark(
                    kernel,
                    &format!("@{}: rank {rank}: {}", kernel.symbol(), candidate.report(&nest)),
                );
            }
        }
        let taken = ranked.swap_remove(wanted.rank.min(ranked.len() - 1));
        (choice.tiled, choice.why) =
            (taken.tiled, Why { cost: taken.cost, rule: taken.rule, compared });
    }
    if wanted.remarks {
        say_mappings(machine, kernel, &nest, search);
        for line in roller::lines(machine, &nest) {
            remark(kernel, &format!("@{}: {line}", kernel.symbol()));
        }
        if let Tiled::Block(chosen) = &choice.tiled {
            for side in 0..2 {
                let conflicts = chosen.conflicts(side);
                remark(kernel, &format!("@{}: {conflicts}", kernel.symbol()));
            }
        }
    }
    let best = Tile::of(machine, kernel, &nest, choice.tiled, choice.why)?;
    let wide = match wanted.offer {
        true => offer::wider(machine, &nest, search, &best),
        false => None,
    };
    let wide = wide.map(|wide| {
        let copy = offer::copy(context, kernel);
        if wanted.remarks {
            let (name, other) = (kernel.symbol(), copy.symbol());
            remark(kernel, &format!("@{name}: @{other} is offered, {}", wide.tiled.describe()));
        }
        // What one is beside the other, the schedule has to know.
        for (kernel, tile) in [(kernel, &best), (copy, &wide)] {
            let own = tile.tiled.told(tile.why).cost.cycles;
            kernel.set_attr("cycles", attr::of_int(context, own.ceil() as i64));
        }
        let nest = read(copy).expect("it was read before");
        let schedule = schedule(machine, &nest, &wide.tiled, &wide.tiles);
        rewrite(context, machine, copy, &nest, &wide.tiling(&schedule));
        copy
    });
    let schedule = schedule(machine, &nest, &best.tiled, &best.tiles);
    rewrite(context, machine, kernel, &nest, &best.tiling(&schedule));
    Ok(wide)
}

fn say(kernel: Op<'_>, choice: &Choice<'_>) {
    let second = choice.runner_up.as_ref().map(|(what, cycles)| (&**what, *cycles));
    let told = chosen(&choice.tiled.describe(), choice.why.cost.cycles, second);
    remark(kernel, &format!("@{}: {told}", kernel.symbol()));
}

/// What became of every mapping of an instruction that has axes of its own.
fn say_mappings<'c>(machine: Machine<'c>, kernel: Op<'c>, nest: &Nest<'c>, search: Search<'_>) {
    let name = kernel.symbol();
    // Instructions of many sizes are refused for one reason: the words about the first one, those without
    // its name, and the names of the others.
    let mut refused: Vec<(String, String, Vec<String>)> = Vec::new();
    for instruction in machine.instructions().iter().filter(|one| isa::has_axes(one)) {
        let mut record = Vec::new();
        let found = isa::consider(machine, nest, instruction, search, &mut record);
        for isa::Considered { mapping, cycles, dropped } in record {
            let cycles = cycles.map_or(String::new(), |cycles| format!(" with {cycles:.0} cycles"));
            let why = dropped.map_or("kept".to_owned(), |why| format!("dropped, {why}"));
            remark(kernel, &format!("@{name}: {mapping}{cycles}: {why}"));
        }
        if let Err(refusal) = found {
            let words = refusal.to_string();
            let why = words.replace(&format!("@{}", instruction.name), "");
            match refused.iter_mut().find(|(_, own, _)| *own == why) {
                Some((.., others)) => others.push(format!("@{}", instruction.name)),
                None => refused.push((words, why, Vec::new())),
            }
        }
    }
    for (words, _, others) in refused {
        let (what, rule) = words.split_at(words.find(" [").unwrap_or(words.len()));
        let also = match &others[..] {
            [] => String::new(),
            others => format!(" (so with {})", others.join(", ")),
        };
        remark(kernel, &format!("@{name}: {what}{also}{rule}"));
    }
}
