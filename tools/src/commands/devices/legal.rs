//! The constraints of instructions and moves on a tile.

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::ir::{affine, attr};

use super::facts::extents;
use super::sheet::Section;

/// The alignment that each of them asks of each axis.
pub fn section(machine: Machine<'_>) -> Section {
    let mut section = Section::new(
        "legal tiles",
        "what a tile has to be a multiple of; the rest of an axis is padded or done by fewer lanes",
        &["by", "asks"],
    );
    for instruction in machine.instructions() {
        if let Some(asks) = of_instruction(&instruction) {
            section.row([format!("@{}", instruction.name), asks]);
        }
    }
    for lanes in machine.lanes_units() {
        let types = lanes.types().iter().filter_map(|&ty| Some((ty, lanes.lanes_for(ty)?)));
        let types: Vec<_> = types.map(|(ty, count)| format!("{count} {ty}")).collect();
        let asks = format!("one axis in registers of {}", types.join(", "));
        section.row([format!("@{}", lanes.name), asks]);
    }
    for way in machine.moves() {
        let ends = [way.source(), way.target()];
        let memories: Vec<_> = ends.iter().filter_map(|name| machine.memory(name)).collect();
        let run = memories.iter().filter_map(|memory| memory.transaction_bytes()).max();
        let register = memories.iter().find_map(|memory| memory.register_bytes());
        let mut asks = Vec::new();
        asks.extend(register.map(|size| format!("one register of {size} B at a time")));
        asks.extend(run.map(|size| format!("runs of {size} B, or their time")));
        asks.push(if way.strided() {
            "any strides".to_owned()
        } else {
            "elements side by side".to_owned()
        });
        section.row([format!("@{}", way.name), asks.join(", ")]);
    }
    section
}

/// `d0 of 4, d1 of 4, d2 of 4: (d0, d2), (d2, d1), (d0, d1)`.
fn of_instruction(instruction: &Instruction<'_>) -> Option<String> {
    let generic = instruction.meaning()?.iter().find(|op| op.is("linalg.generic"))?;
    let extents = extents(generic)?;
    let maps = generic.attr("indexing_maps").and_then(attr::array)?;
    let operands = maps.into_iter().map(|map| {
        let dims = affine::linear(map)?;
        let dims = dims.iter().map(|index| Some(format!("d{}", index.as_axis()?)));
        Some(format!("({})", dims.collect::<Option<Vec<_>>>()?.join(", ")))
    });
    let operands: Vec<_> = operands.collect::<Option<_>>()?;
    let axes = extents.iter().enumerate().map(|(axis, extent)| format!("d{axis} of {extent}"));
    let axes: Vec<_> = axes.collect();
    Some(format!("{}, on {}", axes.join(", "), operands.join(" ")))
}
