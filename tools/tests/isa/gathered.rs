//! Loads of pieces that lanes gather: what each lane gets is what its slot wants, or there are none.

use weft_dialects::device::{Gathering, Machine};
use weft_dialects::ir::{self, affine, module_op, parse, ty};
use weft_passes::tile::gather::loads;

/// Where each slot of each lane of an operand lies, for so many operands `apart` from each other.
fn places(
    instruction: &weft_dialects::device::Instruction<'_>,
    operand: usize,
    strides: [i64; 2],
    (count, apart): (i64, i64),
) -> Vec<Option<Vec<i64>>> {
    let map = instruction.fragments()[operand].expect("it has a fragment");
    let slots = instruction.lowering().and_then(|own| ty::count(own.args()[operand].ty()));
    let place = |number: i64, lane: i64, slot: i64| {
        let at = affine::evaluate(map, &[lane, slot]).expect("it is a map");
        number * apart + at[0] * strides[0] + at[1] * strides[1]
    };
    let slots = slots.expect("slots are a vector") as i64;
    let own = |number: i64| {
        (0..slots).map(move |slot| Some((0..32).map(|lane| place(number, lane, slot)).collect()))
    };
    (0..count).flat_map(own).collect()
}

/// What is written down for each move, by what the maker says of it and not by the file's map.
fn got(turned: bool, pieces: &[i64], lane: usize, slot: usize) -> i64 {
    let (matrix, row, place) = match turned {
        false => (slot / 2, lane / 4, 2 * (lane % 4) + slot % 2),
        true => (slot / 2, 2 * (lane % 4) + slot % 2, lane / 4),
    };
    pieces[8 * matrix + row] + place as i64
}

#[test]
fn lanes_get_what_their_slots_want() {
    let context = ir::context();
    let module = parse(&context, include_str!("../../../devices/a100.mlir")).expect("it parses");
    let machine = Machine::of(module_op(&module)).expect("a machine");
    let gathering = |name: &str| -> Gathering {
        machine.move_named(name).and_then(|way| way.gathering(machine)).expect("it gathers")
    };
    let ways = [gathering("matrix_load"), gathering("matrix_load_turned")];
    let instruction = machine.instruction("mma_m16n8k16_bf16").expect("it is there");
    let mut found = 0;
    // Rows of either operand along either of its dimensions, so far apart, for 1 to 6 operands.
    for (operand, along) in (0..2).flat_map(|operand| [(operand, 0), (operand, 1)]) {
        for pitch in [1, 7, 8, 12, 16, 24, 40, 72, 136, 264] {
            let strides = if along == 0 { [1, pitch] } else { [pitch, 1] };
            for (count, apart) in [(1, 0), (2, 16), (2, 16 * pitch), (3, 8), (4, 8), (6, 8 * pitch)]
            {
                let places = places(&instruction, operand, strides, (count, apart));
                for (turned, way) in ways.iter().enumerate() {
                    let Some(all) = loads(way, &places) else { continue };
                    found += 1;
                    assert_eq!(all.len() * way.slots(), places.len());
                    for (number, wanted) in places.iter().enumerate() {
                        let pieces = &all[number / way.slots()];
                        assert!(pieces.iter().all(|piece| piece % 8 == 0), "{pieces:?}");
                        for (lane, wanted) in wanted.iter().flatten().enumerate() {
                            let slot = number % way.slots();
                            assert_eq!(got(turned == 1, pieces, lane, slot), *wanted);
                        }
                    }
                }
            }
        }
    }
    // Both operands in rows along either dimension, of each of the seven numbers of whole pieces: of A any
    // number of operands is whole loads, of B an even one.
    assert_eq!(found, 2 * 7 * (6 + 4));
}

#[test]
fn what_no_piece_has_is_not_gathered() {
    let context = ir::context();
    let module = parse(&context, include_str!("../../../devices/a100.mlir")).expect("it parses");
    let machine = Machine::of(module_op(&module)).expect("a machine");
    let way = machine.move_named("matrix_load").and_then(|way| way.gathering(machine));
    let way = way.expect("it gathers");
    let instruction = machine.instruction("mma_m16n8k16_f16").expect("it is there");
    let right = places(&instruction, 0, [40, 1], (1, 0));
    assert!(loads(&way, &right).is_some());
    // One lane wants its neighbour's element.
    let mut other = right.clone();
    other[3].as_mut().expect("it is known")[5] += 2;
    assert_eq!(loads(&way, &other), None);
    // A slot of which nothing is known, half a load, and none.
    let mut unknown = right.clone();
    unknown[0] = None;
    assert_eq!(loads(&way, &unknown), None);
    assert_eq!(loads(&way, &right[..4]), None);
    assert_eq!(loads(&way, &[]), None);
    // Pieces that begin between others.
    let beside: Vec<_> = right
        .iter()
        .map(|slot| slot.as_ref().map(|lanes| lanes.iter().map(|place| place + 4).collect()))
        .collect();
    assert_eq!(loads(&way, &beside), None);
}
