//! Groups whose tiles wait in a scratchpad, or in the memory of a block of threads: results stay,
//! and the simulator counts the bytes that were predicted (WE-7, WE-8).

use std::path::Path;
use std::process::Command;

use weft_dialects::ir::{attr, context, module_op, parse};
use weft_passes::nest::{Nest, read_members};
use weft_passes::tile::passing::Passing;
use weft_passes::tile::propagate::{Chain, links, propagate};
use weft_passes::tile::traffic::traffic;

/// A model of this folder on a machine with a scratchpad.
struct Desk {
    folder: tempfile::TempDir,
    /// `tile-connect-edges.joining`.
    joining: &'static str,
}

impl Desk {
    fn new(text: &str, machine: &str, joining: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("model.mlir"), text).expect("written");
        std::fs::write(folder.path().join("machine.mlir"), machine).expect("written");
        Self { folder, joining }
    }

    fn weft(&self, arguments: &str) -> Result<String, String> {
        let joining = format!("tile-connect-edges.joining={}", self.joining);
        let output = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(arguments.split_whitespace())
            .args(["--device", "machine.mlir", "--pass-option", &joining])
            .args(["--pass-option", "tile-split-instances.instances=none"])
            .current_dir(self.folder.path())
            .output()
            .expect("weft starts");
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).expect("text")),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// What it says beside what it gives.
    fn says(&self, arguments: &str) -> String {
        let joining = format!("tile-connect-edges.joining={}", self.joining);
        let output = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(arguments.split_whitespace())
            .args(["--device", "machine.mlir", "--pass-option", &joining])
            .current_dir(self.folder.path())
            .output()
            .expect("weft starts");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// What the model gives, and the bytes that its moves bring from the shared memory and take
    /// back there.
    fn simulate(&self) -> (Vec<u8>, u64) {
        let report = self.weft("simulate model.mlir --json --outputs out.npz").expect("it runs");
        let report: serde_json::Value = serde_json::from_str(&report).expect("an object");
        let moves = report["moves"].as_array().expect("moves");
        // By transfers to where tiles wait, or straight to registers.
        let far = ["fetch", "flush", "in", "out", "load", "store", "load_acc", "store_acc"];
        let staged = moves.iter().filter(|one| far.contains(&name(one)));
        let bytes = staged.map(|one| one["bytes"].as_u64().expect("a number")).sum();
        (std::fs::read(self.folder.path().join("out.npz")).expect("results"), bytes)
    }

    /// The same bytes, by the formula, of every kernel that runs; and how many there are.
    fn predicted(&self, scratchpad: &str) -> (usize, u64) {
        let stage = if self.joining == "none" { "tile" } else { "task" };
        let text = self.weft(&format!("compile model.mlir --emit {stage} -o -")).expect("text");
        let context = context();
        let module = parse(&context, &text).expect("it is read again");
        let ops = module_op(&module).body(0).expect("a module has a block").ops();
        let graph = ops.iter().find(|op| op.is("tile.graph")).copied();
        let runs: Vec<_> = graph
            .and_then(|graph| graph.body(0))
            .into_iter()
            .flat_map(|block| block.ops())
            .filter_map(|op| op.attr("kernel").and_then(attr::symbol))
            .collect();
        let (mut count, mut bytes) = (0, 0);
        for kernel in ops.iter().filter(|op| op.is("tile.kernel")) {
            let members = read_members(*kernel).expect("computes");
            let nests: Vec<_> = members.iter().map(|(_, nest)| nest).collect();
            let links = links(&nests);
            // What is written to an argument of the kernel.
            let written = |nest: &&Nest<'_>| nest.outputs[0].argument().def().is_none();
            let leaves: Vec<bool> = nests.iter().map(written).collect();
            let (last, _) = members.last().expect("there is one");
            // A kernel alone brings every tile that waits; a group brings its rTask's.
            let tile = match members.len() {
                1 => last.tile_in(scratchpad).expect("tiles wait there"),
                _ => &last.tiles[0],
            };
            let chain = Chain::new(nests, links);
            let tiles = propagate(&chain, &tile.sizes).expect("tiles follow");
            let times = runs.iter().filter(|run| **run == kernel.symbol()).count();
            let times = if graph.is_some() { times } else { 1 };
            count += times;
            bytes += times as u64 * traffic(&chain, &tiles, &leaves, &Passing::plain()).moved;
        }
        (count, bytes)
    }
}

fn name(one: &serde_json::Value) -> &str {
    one["name"].as_str().expect("a name")
}

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(folder.join("tests/welder").join(name)).expect("the model is there")
}

fn machine(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(folder.join("../devices").join(name)).expect("the machine is there")
}

#[test]
fn we_7_attention_moves_through_a_scratchpad_what_was_predicted() {
    let [apart, joined] = ["none", "all"]
        .map(|joining| Desk::new(&text("attention.mlir"), &machine("dsp.mlir"), joining));
    let ((expected, more), (got, less)) = (apart.simulate(), joined.simulate());
    assert_eq!(got, expected, "joined kernels give the same, to the bit");
    assert_eq!(joined.predicted("tcm"), (1, less));
    let (kernels, bytes) = apart.predicted("tcm");
    assert_eq!(bytes, more);
    assert_eq!(kernels, 6);
    // Queries, keys and values once, and what comes out of it.
    assert_eq!(less, 4 * 2 * (37 * 19 + 19 * 29 + 29 * 21 + 37 * 21));
}

#[test]
fn we_7_other_chains_give_the_same_on_scratchpads() {
    for (model, device) in [
        ("norm.mlir", "dsp.mlir"),
        ("norm.mlir", "toy.mlir"),
        ("separable.mlir", "dsp.mlir"),
        ("feed.mlir", "dsp.mlir"),
        ("attention.mlir", "toy.mlir"),
        // Products by an instruction of axes.
        ("feed.mlir", "stcp920-like.mlir"),
        ("attention.mlir", "stcp920-like.mlir"),
    ] {
        let [apart, joined] =
            ["none", "all"].map(|joining| Desk::new(&text(model), &machine(device), joining));
        let ((expected, more), (got, less)) = (apart.simulate(), joined.simulate());
        let equal = got == expected || device != "dsp.mlir" && close(&joined, &apart);
        assert!(equal, "{model} on {device}");
        assert!(less < more, "{model} on {device}: {less} and {more} bytes");
    }
}

/// Whether lanes that fold in another order give the same but for rounding.
fn close(joined: &Desk, apart: &Desk) -> bool {
    let expected = apart.folder.path().join("out.npz");
    let run = format!("simulate model.mlir --expect {}", expected.display());
    joined.weft(&format!("{run} --rtol 1e-5 --atol 1e-6")).is_ok()
}

#[test]
fn we_8_a_small_scratchpad_keeps_kernels_apart() {
    let small = machine("dsp.mlir").replace("capacity_bytes(262144)", "capacity_bytes(256)");
    let desk = Desk::new(&text("attention.mlir"), &small, "all");
    let (kernels, _) = desk.predicted("tcm");
    assert!(kernels > 1, "one kernel in 256 bytes");
    let whole = Desk::new(&text("attention.mlir"), &machine("dsp.mlir"), "none");
    assert_eq!(desk.simulate().0, whole.simulate().0);
}

/// A row of scores takes 262,144 bytes, as many as the scratchpad has.
#[test]
fn n_12_rows_that_do_not_fit_are_folded_in_parts() {
    let long = text("attention.mlir")
        .replace("2x37x", "1x8x")
        .replace("2x19x29", "1x16x65536")
        .replace("2x29x21", "1x65536x16")
        .replace("8x19", "8x16")
        .replace("8x29", "8x65536")
        .replace("8x21", "8x16");
    let [whole, parts] = ["none", "full"].map(|how| Desk::new(&long, &machine("dsp.mlir"), how));
    let simulate = "simulate model.mlir --json --outputs out.npz";
    let report = whole.weft(&format!("{simulate} --pass-option tile-split-rows.parts=1"));
    let report: serde_json::Value = serde_json::from_str(&report.expect("it runs")).expect("JSON");
    let moved = |report: &serde_json::Value| {
        let moves = report["moves"].as_array().expect("moves").iter();
        let near = moves.filter(|one| ["fetch", "flush"].contains(&name(one)));
        near.map(|one| one["bytes"].as_u64().expect("a number")).sum::<u64>()
    };
    let more = moved(&report);
    let (_, less) = parts.simulate();
    assert!(close(&parts, &whole), "parts and whole rows differ");
    let (kernels, bytes) = parts.predicted("tcm");
    // Where scores are made in two pieces, the queries come twice.
    assert!(bytes <= less && less - bytes < bytes / 256, "{bytes} predicted, {less} moved");
    // Parts of everything in one kernel, which are put together by others.
    assert!(kernels <= 5, "{kernels} kernels");
    // Neither scores nor exponentials are written where they do not fit.
    let inputs = 4 * (8 * 16 + 2 * 16 * 65536);
    assert!(less < inputs + inputs / 64 && 2 * less < more, "{less} and {more} bytes");
}

/// Rows of whole registers, for what is left over is read element by element, by no move; so many
/// that no row is worked on twice to have more to share out.
#[test]
fn we_7_a_softmax_of_threads_moves_what_was_predicted() {
    for (device, memory, [rows, columns]) in
        [("h200.mlir", "smem", [4096, 128]), ("mi300x.mlir", "lds", [4096, 192])]
    {
        let model = text("softmax.mlir").replace("x203x", &format!("x{columns}x"));
        let model = model.replace("<45x", &format!("<{rows}x"));
        let tensor = 4 * rows * columns;
        let [apart, joined] =
            ["none", "all"].map(|joining| Desk::new(&model, &machine(device), joining));
        let (_, more) = apart.simulate();
        let (_, less) = joined.simulate();
        assert!(close(&joined, &apart), "{device}");
        assert_eq!(joined.predicted(memory), (1, less), "{device}");
        // Twice in and once out; apart the exponentials go out once, and in twice.
        assert_eq!(less, 3 * tensor, "{device}");
        assert!(more >= 6 * tensor, "{device}: {more} bytes");
    }
}

/// What a block may have keeps kernels apart, and says so.
#[test]
fn we_8_a_small_memory_of_a_block_keeps_kernels_apart() {
    let rows = text("softmax.mlir").replace("x203x", "x192x");
    let small = machine("h200.mlir").replace("static_bytes(49152)", "static_bytes(512)");
    let desk = Desk::new(&rows, &small, "all");
    let whole = "--pass-option tile-split-rows.parts=1";
    let compile = format!("compile model.mlir --emit tile -o t.mlir {whole}");
    let told = desk.says(&format!("{compile} --pass-option tile-connect-edges.remarks=true"));
    // A row of exponentials over its largest, and its sum behind it.
    assert!(told.contains("[room: 772 bytes, there is room for 512]"), "{told}");
    let whole = Desk::new(&rows, &machine("h200.mlir"), "none");
    whole.simulate();
    desk.simulate();
    assert!(close(&desk, &whole));
}
