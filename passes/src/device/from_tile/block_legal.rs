//! Checks of a block tile that a program describes: what is refused is named, with what would be
//! accepted.

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Report, ty};
use weft_dialects::tile::{Compute, Schedule};

use crate::nest::Nest;
use crate::tile::block::{Block, Dealt, K, Lying, M, N, Ways, of_numbers, to_numbers};

/// A block tile, the machine's ways for it, and how the tile of each input lies.
pub(super) type Checked<'c> = (Block<'c>, Ways<'c>, Vec<Lying>);

/// Reads the block tile of a compute; reports the first thing that does not fit the machine.
pub(super) fn check<'c>(
    machine: Machine<'c>,
    kernel: Op<'c>,
    compute: &Compute<'c>,
    nest: &Nest<'c>,
) -> Result<Checked<'c>, Failed> {
    let report = |what: String, help: String| {
        Report::new(compute.op.location(), format!("@{} {what}", kernel.symbol())).help(help);
        Failed
    };
    let registers = compute.tiles.last().map_or("", |tile| tile.memory.as_str());
    let numbers = compute.layouts.iter().flatten();
    let lying: Option<Vec<Lying>> = numbers.map(|layout| of_numbers(layout)).collect();
    // Without what is checked below it is a block tile, or none at all.
    let plain = Schedule { interleave: Vec::new(), ..compute.schedule.clone() };
    let block = Block::of(machine, nest, compute, &plain);
    if let (Some(ahead), Some(ways)) = (&compute.schedule.ahead, Ways::of(machine, registers))
        && ways.ahead.as_ref().is_none_or(|own| own.name != ahead)
    {
        let what = format!("has a schedule with @{ahead} `ahead`, which does not bring its tiles");
        let help = match ways.ahead {
            Some(own) => format!("name @{}, or leave it out", own.name),
            None => "leave it out".to_owned(),
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
        axes.contains(&lying.inner) && (block.direct.is_some() || lying.layout.pitch >= columns)
    });
    if !fits {
        let help = "the inner axis is one of the input's, the pitch no less than the tile along it";
        return Err(report("has layouts that do not hold its tiles".to_owned(), help.to_owned()));
    }
    let unlike = block.direct.and_then(|direct| {
        let side =
            [M, N].into_iter().find(|&side| lying[block.inputs[side]] != direct[side].lying)?;
        Some((block.inputs[side], to_numbers(&direct[side].lying)))
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
    stages(nest, &block, &ways, &lying).map_err(|(what, help)| report(what, help))?;
    room(nest, &block, &ways, &lying).map_err(|(what, help)| report(what, help))?;
    Ok((block, ways, lying))
}

/// Tests that an engine can bring the tiles as they are to lie.
fn by_engine<'c>(
    nest: &Nest<'c>,
    block: &Block<'c>,
    way: &Move<'c>,
    lying: &[Lying],
) -> Result<(), (String, String)> {
    let what = format!("has a schedule with @{} `ahead`", way.name);
    if block.stages == 1 {
        let help = "leave it out, or give 2 `stages` or more";
        return Err((format!("{what}, and one stage"), help.to_owned()));
    }
    let comes = |side: usize| {
        let inner = lying[block.inputs[side]].inner;
        block.comes_ahead(nest, side, inner, way.least_bytes())
    };
    match [M, N].into_iter().find(|&side| !comes(side)) {
        None => Ok(()),
        Some(side) => {
            let help = format!(
                "let the tile lie as the tensor does, {} bytes side by side in both, or leave `ahead` out",
                way.least_bytes()
            );
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
    let own = [M, N].map(|side| {
        let (input, lying) = (block.inputs[side], lying[block.inputs[side]]);
        let (rows, columns) = block.rows_columns(side, lying.inner);
        let pitch = lying.layout.pitch;
        rows * columns.next_multiple_of(pitch)
            * ty::byte_size(nest.inputs[input].elem()).unwrap_or(1)
    });
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
    if block.direct.is_some() && (stages == 2 || stages > 2 && !block.ahead) {
        let name = block.instruction().name;
        let what = format!(
            "{what}, and @{name} takes tiles where they lie, those of the step before, too"
        );
        let help = match &ways.ahead {
            Some(way) => format!("give 1, or 3 or more with @{} `ahead`", way.name),
            None => "give 1".to_owned(),
        };
        return Err((what, help));
    }
    if let Some(way) = ways.ahead.as_ref().filter(|_| block.ahead) {
        return by_engine(nest, block, way, lying);
    }
    if stages == 1 {
        return Ok(());
    }
    let (near, registers) = (ways.near.name, ways.registers.name);
    if stages > 3 || ways.put.is_none() {
        let (room, most) = match ways.put {
            Some(_) => (format!("@{registers} holds one step ahead of two in @{near}"), "1 to 3"),
            None => (format!("nothing moves from @{registers} to @{near}"), "1"),
        };
        return Err((format!("{what}, and {room}"), format!("give {most}")));
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
