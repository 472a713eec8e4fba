//! IM-3, IM-10, IM-11. Every mapping computes the same, whichever is chosen, and moves the
//! bytes that were predicted.

use weft_dialects::device::Machine;
use weft_dialects::ir::{Op, module_op, parse};
use weft_dialects::tile::Compute;
use weft_passes::nest::{Nest, read_kernel};
use weft_passes::tile::isa::{
    Considered, Filter, Refusal, Search, Traffic, consider, mapping, mappings, traffic,
};

use crate::desk::{Desk, machine};

/// A desk with a kernel `k.mlir`, its result on the host, and a machine.
fn desk(expression: &str, shape: &str, device: &str) -> Desk {
    let desk = Desk::new();
    desk.write("machine.mlir", machine(device));
    desk.weft(&["kernel", expression, "--shape", shape, "--emit", "graph", "-o", "k.mlir"]);
    desk.weft(&["run", "k.mlir", "--outputs", "host.npz"]);
    desk
}

fn tiles(desk: &Desk, options: &[&str]) -> String {
    let compile = ["compile", "k.mlir", "--device", "machine.mlir", "--emit", "tile", "-o", "-"];
    // One kernel, which is edited.
    let best = ["--pass-option", "tile-construct-rtiles.offer=best"];
    desk.weft(&[&compile[..], &best, options].concat())
}

/// The one kernel of a module at the stage of tiles.
struct Tiled<'c> {
    machine: Machine<'c>,
    nest: Nest<'c>,
    compute: Compute<'c>,
}

impl<'c> Tiled<'c> {
    fn of(module: Op<'c>) -> Self {
        let kernels = module.body(0).expect("a body").ops();
        let kernel = kernels.into_iter().find(|op| op.is("tile.kernel")).expect("a kernel");
        let ops = kernel.body(0).expect("a body").ops();
        Self {
            machine: Machine::of(module).expect("a machine"),
            nest: read_kernel(kernel).expect("a nest"),
            compute: ops.into_iter().find_map(Compute::of).expect("a compute"),
        }
    }
}

fn bytes_moved(report: &serde_json::Value) -> Traffic {
    let moves = report["moves"].as_array().expect("moves").iter();
    let one = |moved: &serde_json::Value| {
        let name = moved["name"].as_str().expect("a name").to_owned();
        (name, moved["bytes"].as_u64().expect("a number"))
    };
    moves.map(one).filter(|(_, bytes)| *bytes > 0).collect()
}

/// All 98 mappings of a convolution to the product of the toy: 49 with the image as its first
/// operand, 49 as its second. Tiles are no whole number of boxes, so every kind of rest occurs.
#[test]
fn im_3_every_mapping_of_a_convolution_is_right() {
    let convolution = "O[n,f,y,x] += W[f,c,r,s] * I[n,c,y+r,x+s]";
    let desk = desk(convolution, "n=2,f=5,y=3,x=3,c=3,r=2,s=2", "toy");
    let chosen = tiles(&desk, &[]);
    let context = weft::context();
    let module = parse(&context, &chosen).expect("it parses back");
    let tiled = Tiled::of(module_op(&module));
    let instruction = tiled.machine.instruction("mac4x4x4").expect("it is there");
    let all = mappings(&instruction, &tiled.nest, Filter::Signature).expect("mappings");
    assert_eq!(all.len(), 98);
    let (before, rest) = chosen.split_once("tile.compute ").expect("a compute");
    let (operands, rest) = rest.split_once(" on @").expect("a choice");
    let (_, after) = rest.split_once(" : ").expect("types");
    let before = format!("{before}tile.compute {operands} on @mac4x4x4");
    for mapping in all {
        let axes = Compute::axes_attr(&context, &mapping.axes);
        let sizes = "#tile.rtile<\"dram\"[2, 5, 3, 3, 3, 2, 2]>, #tile.rtile<\"spad\"[2, 3, 2, 3, 2, 2, 1]>";
        desk.write("by.mlir", format!("{before} axes {axes} tiles [{sizes}] : {after}"));
        let report = desk.simulate(&["by.mlir", "--expect", "host.npz"]);
        assert_eq!(report["compared"], true, "{}", mapping.describe());
        assert_eq!(
            report["instructions"][0]["name"],
            "mac4x4x4",
            "{}: {report}",
            mapping.describe()
        );
    }
}

/// Bytes by name of the move, as the simulator counts them and as the choice predicts them.
fn counted_and_predicted(desk: &Desk) -> (Traffic, Traffic) {
    let text = tiles(desk, &[]);
    let context = weft::context();
    let module = parse(&context, &text).expect("it parses back");
    let Tiled { machine: toy, nest, compute } = Tiled::of(module_op(&module));
    let instruction = toy.instruction(compute.instruction).expect("it is there");
    let axes = compute.axes.as_ref().expect("the instruction has axes");
    let mapping = mapping(&instruction, &nest, axes, &[]).expect("a mapping");
    let (task, tile) = (&compute.tiles[0].sizes, &compute.tiles[compute.tiles.len() - 1].sizes);
    let predicted = traffic(toy, &nest, &mapping, (task, tile), None);
    let report = desk.simulate(&["k.mlir", "--device", "machine.mlir", "--expect", "host.npz"]);
    assert_eq!(report["compared"], true);
    (bytes_moved(&report), predicted)
}

#[test]
fn im_11_bytes_predicted_are_bytes_counted() {
    let cases = [
        ("C[m,n] += A[m,k] * B[k,n]", "m=64,n=64,k=64", "toy"),
        ("C[m,n] += A[m,k] * B[k,n]", "m=67,n=130,k=259", "toy"),
        ("C[m,n] += A[k,m] * B[n,k]", "m=35,n=70,k=41", "systolic"),
        ("C[m] += A[m,k] * B[k]", "m=77,k=99", "systolic"),
        ("C[b,m,n] += A[b,m,k] * B[b,k,n]", "b=3,m=33,n=18,k=20", "toy"),
        ("C[m] += A[m,k]", "m=100,k=77", "systolic"),
        ("O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]", "f=40,y=7,x=7,c=24,r=3,s=3", "systolic"),
        ("O[f,y,x] += W[f,c,r,s] * I[c,2*y+r,2*x+s]", "f=20,y=9,x=9,c=3,r=7,s=7", "systolic"),
        ("O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]", "f=17,y=2,x=2,c=19,r=3,s=3", "toy"),
    ];
    for (expression, shape, device) in cases {
        let desk = desk(expression, shape, device);
        let (counted, predicted) = counted_and_predicted(&desk);
        assert_eq!(counted, predicted, "{expression} {shape} on {device}");
    }
}

/// What became of the mappings to the product of the toy.
fn considered(desk: &Desk) -> (Result<f64, Refusal>, Vec<Considered>) {
    let context = weft::context();
    let module = parse(&context, &tiles(desk, &[])).expect("it parses back");
    let Tiled { machine, nest, .. } = Tiled::of(module_op(&module));
    let instruction = machine.instruction("mac4x4x4").expect("it is there");
    let mut record = Vec::new();
    let found = consider(machine, &nest, &instruction, Search::default(), &mut record);
    (found.map(|found| found.cost.cycles), record)
}

/// What waits fits where it waits, or the bytes say why not.
#[test]
fn im_11_a_tile_that_does_not_fit_is_refused_with_the_bytes() {
    let desk = desk("C[m,n] += A[m,k] * B[k,n]", "m=8,n=8,k=8", "toy");
    let small = machine("toy").replace("capacity_bytes(131072)", "capacity_bytes(160)");
    desk.write("machine.mlir", small);
    let (found, _) = considered(&desk);
    let refusal = found.expect_err("no room");
    // A block of 4 x 4 sums, and two each of what streams through.
    let (memory, needed, capacity) = ("spad".to_owned(), 5 * 64, 160);
    let instruction = "mac4x4x4".to_owned();
    assert_eq!(refusal, Refusal::Capacity { instruction, memory, needed, capacity });
    let said = refusal.to_string();
    assert!(said.contains("320 bytes of @spad, which holds 160"), "{said}");
}

#[test]
fn im_10_strategies_and_models_choose_otherwise_and_agree() {
    let convolution = "O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]";
    let desk = desk(convolution, "f=64,y=14,x=14,c=64,r=3,s=3", "toy");
    let mut chosen = std::collections::BTreeSet::new();
    for strategy in ["exhaustive", "greedy", "beam"] {
        for model in ["overlapped", "summed"] {
            let options = [
                "--pass-option".to_owned(),
                format!("tile-construct-rtiles.strategy={strategy}"),
                "--pass-option".to_owned(),
                format!("tile-construct-rtiles.model={model}"),
            ];
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let text = tiles(&desk, &options);
            let (_, choice) = text.split_once(" on @mac4x4x4 axes ").expect("the product");
            chosen.insert(choice.split(" : ").next().expect("a choice").to_owned());
            desk.write("by.mlir", &text);
            let report = desk.simulate(&["by.mlir", "--expect", "host.npz"]);
            assert_eq!(report["compared"], true, "{strategy} {model}");
        }
    }
    assert!(chosen.len() > 1, "{chosen:?}");
}

#[test]
fn im_10_an_unknown_strategy_is_refused_with_those_there_are() {
    let desk = desk("C[m,n] += A[m,k] * B[k,n]", "m=8,n=8,k=8", "toy");
    let compile = ["compile", "k.mlir", "--device", "machine.mlir", "--emit", "tile", "-o", "-"];
    let said = |option: &str| desk.refused(&[&compile[..], &["--pass-option", option]].concat());
    let wrong = said("tile-construct-rtiles.strategy=lucky");
    let accepted =
        "unknown value 'lucky' for option 'strategy'; expected 'exhaustive', 'greedy' or 'beam'";
    assert!(wrong.contains(accepted), "{wrong}");
    let wrong = said("tile-construct-rtiles.luck=1");
    assert!(wrong.contains("has no option `luck`") && wrong.contains("strategy"), "{wrong}");
}

/// Every mapping that was looked at is told, with what became of it.
#[test]
fn im_10_mappings_are_kept_and_dropped_with_a_reason() {
    let desk = desk("O[f,y,x] += W[f,c,r,s] * I[c,y+r,x+s]", "f=8,y=4,x=4,c=8,r=3,s=3", "toy");
    let (found, record) = considered(&desk);
    // {y, x} by {c, r, s}: 3 · 7 sets, with the image first or second.
    assert_eq!(record.len(), 42);
    let kept: Vec<_> = record.iter().filter(|one| one.dropped.is_none()).collect();
    assert_eq!(kept.len(), 1, "{record:?}");
    assert_eq!(kept[0].cycles, found.ok());
    let least = record.iter().filter_map(|one| one.cycles).fold(f64::INFINITY, f64::min);
    assert_eq!(kept[0].cycles, Some(least));
}
