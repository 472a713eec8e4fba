//! Checks of a block tile that a program describes: what is refused is named, with what would be
//! accepted.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Report, ty};
use weft_dialects::tile::{Compute, Schedule};

use crate::nest::Nest;
use crate::tile::block::{
    Block, Dealt, K, Lying, M, N, Pair, Supply, Ways, of_numbers, to_numbers,
};
use crate::tile::one_pass::OnePass;

/// A block tile, the machine's ways for it, and how the tile of each input lies.
pub(super) type Checked<'c> = (Block<'c>, Ways<'c>, Vec<Lying>);

/// Two products of which one makes a factor of the other, the machine's ways for them, and how the tiles
/// of the inputs of each lie.
pub(super) struct CheckedPair<'c> {
    pub pair: Pair<'c>,
    pub ways: Ways<'c>,
    pub lying: [Vec<Lying>; 2],
}

/// Reads the block tile of a compute; reports the first thing that does not fit the machine.
pub(super) fn check<'c>(
    machine: Machine<'c>,
    kernel: Op<'c>,
    compute: &Compute<'c>,
    nest: &Nest<'c>,
) -> Result<Checked<'c>, Failed> {
    let report = report(kernel, compute);
    let (block, ways, lying) = read(machine, kernel, compute, nest)?;
    if let Some(input) = lying.iter().position(Lying::is_held) {
        let what = format!("has no layout of input {input}, and nothing makes that in registers");
        return Err(report(what, "say how its tile lies".to_owned()));
    }
    if block.continues() {
        let what =
            format!("is on @{}, which takes a factor from registers", block.instruction().name);
        let help =
            "nothing makes that here; name an instruction that takes both from shared memory";
        return Err(report(what, help.to_owned()));
    }
    if block.turns > 1 {
        let what = format!("has a schedule of {} `turns`", block.turns);
        let help = "only groups of a softmax between two products go by turns: leave it out";
        return Err(report(what, help.to_owned()));
    }
    if block.resident > 1 && block.ahead != Some(Supply::BoxesApart) {
        let what = format!("has a schedule of {} `resident` rTasks", block.resident);
        return Err(report(what, RESIDENT.to_owned()));
    }
    let mut alone = block.clone();
    (alone.cluster, alone.bands) = (None, None);
    stages(nest, &alone, &ways, &lying).map_err(|(what, help)| report(what, help))?;
    room(nest, &block, &ways, &lying).map_err(|(what, help)| report(what, help))?;
    block.may_cluster(nest, &ways).map_err(|why| {
        let own = &compute.schedule.cluster;
        let help = format!("{why}; give others, or leave `cluster` out");
        report(format!("has a schedule whose `cluster` is {own:?}"), help)
    })?;
    block.may_have_bands(nest).map_err(|why| {
        let own = &compute.schedule.bands;
        let help = format!("{why}; give others, or leave `bands` out");
        report(format!("has a schedule whose `bands` are {own:?}"), help)
    })?;
    Ok((block, ways, lying))
}

/// Reads the block tiles of the products of a softmax in one pass.
pub(super) fn check_pair<'c>(
    machine: Machine<'c>,
    kernel: Op<'c>,
    computes: [(&Compute<'c>, &Nest<'c>); 2],
    one_pass: &OnePass,
) -> Result<CheckedPair<'c>, Failed> {
    let [(first, scores), (last, values)] = computes;
    let report = report(kernel, last);
    let (one, ways, of_scores) = read(machine, kernel, first, scores)?;
    let (other, _, of_values) = read(machine, kernel, last, values)?;
    let stages = [one.stages, other.stages];
    let pair = Pair::new([one, other], [scores, values], one_pass).map_err(|why| {
        let help = "or hand the first product's sums over in the shared memory";
        report("has products that do not go together".to_owned(), format!("{why}; {help}"))
    })?;
    let (rows, own) = (pair.rows, pair.own());
    let keys = of_scores[pair.scores.inputs[own]].is_held();
    let other = of_values[pair.values.inputs[own]].is_held();
    let queries = of_scores[pair.scores.inputs[rows]].is_held() && pair.scores.is_direct();
    if keys || other || queries || !of_values[pair.values.inputs[rows]].is_held() {
        let help = "the second product's factor that the first one makes has an empty layout, and so may \
                    the first one's rows where its instruction takes registers; the others say how they lie";
        return Err(report("has layouts of other inputs".to_owned(), help.to_owned()));
    }
    let brought = [(&pair.scores, scores, &of_scores), (&pair.values, values, &of_values)];
    let suits = |fits: &dyn Fn(&Block<'c>, &Nest<'c>, usize) -> bool| {
        brought.iter().all(|(block, nest, lying)| fits(block, nest, lying[block.inputs[own]].inner))
    };
    let even = || suits(&|block, nest, inner| Dealt::of(block, nest, own, inner).is_some());
    let sides =
        brought.map(|(block, nest, lying)| (block, nest, own, lying[block.inputs[own]].inner));
    beside(&pair).map_err(|(what, help)| report(what, help))?;
    let ahead = pair.scores.ahead.filter(|ahead| pair.values.ahead == Some(*ahead));
    let comes = || ahead.is_some_and(|ahead| ways.can_bring(ahead, &sides));
    let by_engine = [&pair.scores, &pair.values].map(|block| block.is_brought());
    let direct = pair.scores.is_direct();
    let fits = match (stages, by_engine) {
        ([1, 1], [false, false]) => true,
        ([2, 2], [true, true]) => comes(),
        ([3, 3], [false, false]) if !direct => ways.put.is_some() && even(),
        ([first, last], [true, true]) if direct && first == last && first > 2 => comes(),
        _ => false,
    };
    if !fits {
        let mut what = format!("has schedules of {} and {} `stages`", stages[0], stages[1]);
        if pair.scores.ahead != pair.values.ahead {
            what += " whose inputs come by different moves";
        }
        let help = match direct {
            true => {
                "give both 1, or 2 or more with an engine's move `ahead` that can write the tiles"
            }
            false => {
                "give both 1, or 3 where groups can share out the tiles evenly, or 2 with an engine's \
                 move `ahead` that can write them"
            }
        };
        return Err(report(what, help.to_owned()));
    }
    let bytes = |block: &Block<'c>, nest: &Nest<'c>, lying: &[Lying], side: usize| {
        let input = block.inputs[side];
        tile_bytes(nest, block, side, &lying[input])
    };
    let queries = match of_scores[pair.scores.inputs[rows]].is_held() {
        true => 0,
        false => bytes(&pair.scores, scores, &of_scores, rows),
    };
    let pieces = brought.map(|(block, nest, lying)| bytes(block, nest, lying, own));
    let (rooms, most) = (pair.scores.rooms(), ways.near.capacity_bytes());
    let all = queries + rooms * (pieces[0] + pieces[1]);
    if all > most {
        let [keys, values] = pieces;
        let near = ways.near.name;
        let what = format!(
            "has tiles of {queries} bytes, and of {keys} and {values} in {rooms} rooms: {all} bytes of \
             @{near}, which has {most}"
        );
        return Err(report(what, "give 1 for `stages`, or smaller first rTiles".to_owned()));
    }
    Ok(CheckedPair { pair, ways, lying: [of_scores, of_values] })
}

/// Whether groups can go by turns as both products say, and rTasks share a unit.
fn beside(pair: &Pair<'_>) -> Result<(), (String, String)> {
    let blocks = [&pair.scores, &pair.values];
    let said = blocks.map(|block| [block.turns, block.resident]);
    let what = format!("has schedules whose `turns` and `resident` are {said:?}");
    let (way, direct) = (blocks.map(|block| (block.stages, block.ahead)), pair.scores.is_direct());
    let help = match said[0] {
        own if own != said[1] => "give both products the same",
        [turns, _] if turns > 1 && (direct || way != [(3, None); 2]) => {
            "groups go by turns where later pieces come by their registers: give 3 `stages` without \
             `ahead`, or leave `turns` out"
        }
        [_, own] if own > 1 && pair.scores.ahead != Some(Supply::BoxesApart) => RESIDENT,
        _ => return Ok(()),
    };
    Err((what, help.to_owned()))
}

const RESIDENT: &str = "registers are shared where a group of its own asks for boxes: name such a move `ahead`, or leave \
                        `resident` out";

/// Reports what is wrong with a compute, and what would be accepted.
fn report<'c>(
    kernel: Op<'c>,
    compute: &Compute<'c>,
) -> impl Fn(String, String) -> Failed + use<'c> {
    let (place, name) = (compute.op.location(), kernel.symbol());
    move |what, help| {
        Report::new(place, format!("@{name} {what}")).help(help);
        Failed
    }
}

/// The moves of engines that bring tiles, as text writes them.
fn known(ways: &Ways<'_>) -> Vec<String> {
    let all = [&ways.boxes, &ways.boxes_apart, &ways.ahead].into_iter().flatten();
    all.map(|way| format!("@{}", way.name)).collect()
}

/// Reads a block tile without looking at how its inputs come.
fn read<'c>(
    machine: Machine<'c>,
    kernel: Op<'c>,
    compute: &Compute<'c>,
    nest: &Nest<'c>,
) -> Result<Checked<'c>, Failed> {
    let report = report(kernel, compute);
    let registers = compute.tiles.last().map_or("", |tile| tile.memory.as_str());
    let numbers = compute.layouts.iter().flatten();
    let lying: Option<Vec<Lying>> = numbers.map(|layout| of_numbers(layout)).collect();
    // Without what is checked below it is a block tile, or none at all.
    let plain = Schedule { interleave: Vec::new(), ..compute.schedule.clone() };
    let block = Block::of(machine, nest, compute, &plain);
    if let (Some(ahead), Some(ways)) = (&compute.schedule.ahead, Ways::of(machine, registers))
        && ways.of_name(ahead).is_none()
    {
        let what = format!("has a schedule with @{ahead} `ahead`, which does not bring its tiles");
        let help = match &known(&ways)[..] {
            [] => "leave it out".to_owned(),
            some => format!("name {}, or leave it out", some.join(" or ")),
        };
        return Err(report(what, help));
    }
    let (Some(block), Some(ways), Some(lying)) = (block, Ways::of(machine, registers), lying)
    else {
        let help = "the first rTile is whole ones of the last, that whole instructions, both powers \
                    of two along axes that are one of the instruction together, and the machine \
                    has moves by the memory of the first";
        let what = "has layouts, and no tiles that groups can share";
        return Err(report(what.to_owned(), help.to_owned()));
    };
    let fits = [M, N].into_iter().all(|side| {
        let lying = lying[block.inputs[side]];
        let axes = [block.axes[side], block.axes[K]];
        let (_, columns) = block.rows_columns(side, lying.inner);
        let wide = block.direct[side].is_some() || lying.layout.pitch >= columns;
        lying.is_held() || axes.contains(&lying.inner) && wide
    });
    if !fits {
        let help = "the inner axis is one of the input's, the pitch no less than the tile along it";
        return Err(report("has layouts that do not hold its tiles".to_owned(), help.to_owned()));
    }
    let unlike = [M, N].into_iter().find_map(|side| {
        let (input, own) = (block.inputs[side], block.direct[side]?.lying);
        (lying[input] != own).then(|| (input, to_numbers(&own)))
    });
    if let Some((input, numbers)) = unlike {
        let name = block.instruction().name;
        let what = format!("has a layout of input {input} that @{name} does not take");
        return Err(report(what, format!("give {numbers:?}")));
    }
    let axes = &compute.schedule.interleave;
    let block = block.with_interleaved(axes).ok_or_else(|| {
        let own = [M, N, K].into_iter().filter(|&own| block.interleave(own).is_some());
        let accepted: Vec<usize> = own.map(|own| block.axes[own]).collect();
        let help = match &accepted[..] {
            [] => "leave it out".to_owned(),
            some => format!("give some of {some:?}, along which a lane has several operands"),
        };
        let what = format!(
            "has a schedule whose `interleave` is {axes:?}, which changes nothing that a lane takes"
        );
        report(what, help)
    })?;
    Ok((block, ways, lying))
}

/// Bytes of an input's tile that lies so.
fn tile_bytes<'c>(nest: &Nest<'c>, block: &Block<'c>, side: usize, lying: &Lying) -> u64 {
    let (rows, columns) = block.rows_columns(side, lying.inner);
    let elem = nest.inputs[block.inputs[side]].elem();
    rows * columns.next_multiple_of(lying.layout.pitch) * ty::byte_size(elem).unwrap_or(1)
}

/// Tests that an engine can bring the tiles as they are to lie.
fn by_engine<'c>(
    nest: &Nest<'c>,
    block: &Block<'c>,
    ways: &Ways<'c>,
    lying: &[Lying],
) -> Result<(), (String, String)> {
    let Some((ahead, way)) = block.ahead.zip(ways.brings(block.ahead)) else { return Ok(()) };
    let what = format!("has a schedule with @{} `ahead`", way.name);
    if block.stages == 1 {
        let help = "leave it out, or give 2 `stages` or more";
        return Err((format!("{what}, and one stage"), help.to_owned()));
    }
    let comes = |side: usize| {
        ways.can_bring(ahead, &[(block, nest, side, lying[block.inputs[side]].inner)])
    };
    match [M, N].into_iter().find(|&side| !comes(side)) {
        None => Ok(()),
        Some(side) => {
            let help = match way.boxes() {
                Some(own) => format!(
                    "boxes are of rows of {} bytes, along dimensions of the tensor whose ends tiles pass, and of {} \
                     points a side: name another move, or leave `ahead` out",
                    own.line_bytes, own.points
                ),
                None => format!(
                    "let the tile lie as the tensor does, {} bytes side by side in both, or leave `ahead` out",
                    way.least_bytes()
                ),
            };
            Err((
                format!("{what}, which cannot write the tile of input {}", block.inputs[side]),
                help,
            ))
        }
    }
}

/// Tests that all rooms of both inputs are in the memory of a core together.
fn room<'c>(
    nest: &Nest<'c>,
    block: &Block<'c>,
    ways: &Ways<'c>,
    lying: &[Lying],
) -> Result<(), (String, String)> {
    let own = [M, N].map(|side| tile_bytes(nest, block, side, &lying[block.inputs[side]]));
    let (rooms, most) = (block.rooms(), ways.near.capacity_bytes());
    if rooms * (own[M] + own[N]) <= most {
        return Ok(());
    }
    let (near, all) = (ways.near.name, rooms * (own[M] + own[N]));
    let [m, n] = own;
    let what = format!(
        "has tiles of {m} and {n} bytes in {rooms} rooms: {all} bytes of @{near}, which has {most}"
    );
    Err((what, "give fewer `stages`, or a smaller first rTile".to_owned()))
}

/// Tests that the stages are as many as there is room for on the way to the groups.
fn stages<'c>(
    nest: &Nest<'c>,
    block: &Block<'c>,
    ways: &Ways<'c>,
    lying: &[Lying],
) -> Result<(), (String, String)> {
    let stages = block.stages;
    let what = format!("has a schedule of {stages} `stages`");
    if block.is_direct() && (stages == 2 || stages > 2 && !block.is_brought()) {
        let name = block.instruction().name;
        let what = format!(
            "{what}, and @{name} takes tiles where they lie, those of the step before, too"
        );
        let help = match &known(ways)[..] {
            [] => "give 1".to_owned(),
            some => format!("give 1, or 3 or more with {} `ahead`", some.join(" or ")),
        };
        return Err((what, help));
    }
    if block.is_brought() {
        return by_engine(nest, block, ways, lying);
    }
    if stages == 1 {
        return Ok(());
    }
    let (near, registers) = (ways.near.name, ways.registers.name);
    if ways.put.is_none() {
        let what = format!("{what}, and nothing moves from @{registers} to @{near}");
        return Err((what, "give 1".to_owned()));
    }
    let (count, held) = (block.steps(nest), block.on_the_way());
    if !count.is_multiple_of(held) {
        let what = format!("{what}, {held} of them in @{registers}, and {count} steps");
        let help = format!("give 1 to 3, or 2 more than a number that divides {count}");
        return Err((what, help));
    }
    let uneven = [M, N].into_iter().find(|&side| {
        let inner = lying[block.inputs[side]].inner;
        Dealt::of(block, nest, side, inner).is_none()
    });
    match uneven {
        None => Ok(()),
        Some(side) => {
            let (own, k) = (block.tile[side], block.tile[K]);
            let groups: u64 = block.groups().iter().product();
            let what = format!(
                "{what}, and {groups} groups cannot share out a tile of {own} x {k} evenly"
            );
            let help = "give 1, or sizes of the first rTile that are multiples of what all lanes \
                        move at once";
            Err((what, help.to_owned()))
        }
    }
}
