//! Edges in every memory: what becomes one kernel, that results stay, and what is refused
//! (WE-3, WE-7, WE-13).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../devices/x86-avx2.mlir");
pub const ALL: &str = "--pass-option tile-connect-edges.joining=all";

/// A folder in which `weft` works on one of the models beside this file.
pub struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    pub fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/welder").join(name);
        std::fs::copy(model, folder.path().join("model.mlir")).expect("the model is there");
        Self { folder }
    }

    pub fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        let output =
            command.args(arguments.split_whitespace()).current_dir(self.folder.path()).output();
        output.expect("weft starts")
    }

    pub fn weft(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "weft {arguments}\n{text}");
        String::from_utf8(output.stdout).expect("text")
    }

    pub fn fails(&self, arguments: &str, words: &[&str]) {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "weft {arguments}\n{text}");
        assert_eq!(text.matches("error: ").count(), 1, "{text}");
        for word in words {
            assert!(text.contains(word), "{word} is not in\n{text}");
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("written");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The tile stage with every edge near that can be.
    fn tile(&self) -> String {
        self.weft(&format!("compile model.mlir --device {MACHINE} --emit tile -o - {ALL}"))
    }

    /// What the model gives when nothing is joined, in `base.npz`.
    pub fn base(&self) {
        let base = "--pass-option tile-connect-edges.joining=base";
        let apart = "--pass-option tile-fuse-elementwise.fuse=false";
        self.weft(&format!("run model.mlir --device {MACHINE} {base} {apart} --outputs base.npz"));
    }

    /// Whether a text gives that, too.
    pub fn holds(&self, text: &str) {
        self.write("edited.mlir", text);
        let said =
            self.weft("run edited.mlir --expect base.npz --rtol 1e-4 --atol 1e-5 --threads 1");
        assert!(said.contains("as expected"), "{said}");
    }

    /// Kernels that run, and bytes of the arena.
    fn program(&self, text: &str) -> (usize, u64) {
        self.write("edited.mlir", text);
        let task = self.weft("compile edited.mlir --emit task -o -");
        let kernels: std::collections::BTreeSet<&str> = task
            .lines()
            .filter(|line| line.contains("= task.range "))
            .filter_map(|line| line.split('@').nth(1)?.split('[').next())
            .collect();
        let arena = task.split(" arena ").nth(1).and_then(|rest| rest.split(' ').next());
        (kernels.len(), arena.expect("an arena").parse().expect("bytes"))
    }
}

/// One edge after the other in a memory.
fn with_edge(text: &str, edge: usize, memory: &str) -> String {
    let mut seen = 0;
    let lines = text.lines().map(|line| {
        if !line.contains("tile.connect") {
            return line.to_owned();
        }
        seen += 1;
        if seen - 1 == edge {
            let now = if line.contains("in @l1") { "in @l1" } else { "in @l2" };
            line.replace(now, &format!("in @{memory}"))
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn we_7_chains_become_one_kernel() {
    for name in ["attention.mlir", "feed.mlir"] {
        let desk = Desk::new(name);
        desk.base();
        let text = desk.tile();
        assert_eq!(desk.program(&text), (1, 0), "{name}: one kernel, and nothing in the arena");
        desk.holds(&text);
    }
}

/// Squares see their tensor as one row of numbers, what sums them as channels of pixels: joined in the axes
/// of the latter, a tile is some pixels with all of their channels, and none is computed twice.
#[test]
fn we_9_members_that_see_a_tensor_in_different_shapes_share_its_axes() {
    let desk = Desk::new("channels.mlir");
    desk.base();
    let text = desk.tile();
    assert_eq!(desk.program(&text), (1, 0), "one kernel, and nothing in the arena");
    let squares = text.lines().find(|line| line.contains("tile.run") && line.contains("_2_near"));
    let squares = squares.expect("a run of the squares");
    assert!(squares.contains("-> tensor<16x480xf32>"), "{squares}");
    desk.holds(&text);
}

#[test]
fn we_7_what_is_read_outside_leaves_the_kernel_of_a_normalisation() {
    let desk = Desk::new("norm.mlir");
    desk.base();
    let text = desk.tile();
    // The sum is an output of the model, and of the one kernel.
    assert_eq!(desk.program(&text), (1, 0));
    desk.holds(&text);
}

#[test]
fn we_7_a_pointwise_convolution_takes_rows_of_a_depthwise_one() {
    let desk = Desk::new("separable.mlir");
    desk.base();
    let text = desk.tile();
    let (joined, bytes) = desk.program(&text);
    desk.holds(&text);
    let all_apart = (0..9).fold(text.clone(), |text, edge| with_edge(&text, edge, "dram"));
    let (kernels, more) = desk.program(&all_apart);
    assert!(joined < kernels, "{joined} and {kernels} kernels");
    assert!(bytes < more, "{bytes} and {more} bytes of arena");
    desk.holds(&all_apart);
}

#[test]
fn we_3_and_we_13_every_edge_may_be_in_every_memory() {
    let desk = Desk::new("attention.mlir");
    desk.base();
    let text = desk.tile();
    let edges = text.matches("tile.connect").count();
    assert!(edges >= 5, "{text}");
    let (joined, _) = desk.program(&text);
    let mut chosen = 0;
    for edge in 0..edges {
        for memory in ["l1", "l2", "dram"] {
            let edited = with_edge(&text, edge, memory);
            chosen += usize::from(edited == text);
            desk.holds(&edited);
        }
    }
    assert_eq!(chosen, edges, "the compiler has put each in one of them");
    // All of them in the shared memory: as many kernels as runs.
    let apart = (0..edges).fold(text.clone(), |text, edge| with_edge(&text, edge, "dram"));
    let (kernels, arena) = desk.program(&apart);
    assert!(kernels > joined && arena > 0, "{kernels} kernels, {arena} bytes");
    desk.holds(&apart);
}

#[test]
fn an_edited_edge_shows_in_the_report() {
    let desk = Desk::new("feed.mlir");
    let text = desk.tile();
    let memory_of = |text: &str| {
        desk.write("edited.mlir", text);
        desk.weft("explain edited.mlir -o report.html --json report.json");
        let json = std::fs::read_to_string(desk.folder.path().join("report.json")).expect("read");
        json.matches("\"l1\"").count()
    };
    let near = memory_of(&text);
    let apart = memory_of(&with_edge(&text, 0, "dram"));
    assert!(near > apart, "@l1 is named {near} times, and {apart} times once the edge is moved");
}

#[test]
fn memories_that_cannot_hold_an_edge_are_refused_with_the_sum() {
    let desk = Desk::new("attention.mlir");
    let text = desk.tile();
    desk.write("edited.mlir", &with_edge(&text, 0, "vreg"));
    desk.fails("compile edited.mlir -o x.weft", &["@vreg holds registers of one compute"]);

    // All of the scores at once: the first rTile of the last kernel is what decides.
    let small = with_capacity(&text, "@l1", 64);
    desk.write("edited.mlir", &with_edge(&small, 0, "l1"));
    desk.fails(
        "compile edited.mlir -o x.weft",
        &[
            "bytes wait in @l1, which holds 64",
            "they are ",
            "take a smaller rTile or another memory",
        ],
    );
    assert!(!desk.folder.path().join("x.weft").exists());
}

/// The text with another capacity of a memory, whatever the host has.
fn with_capacity(text: &str, memory: &str, bytes: u64) -> String {
    let (before, line) = text.split_once(&format!("device.memory {memory} ")).expect("the memory");
    let (scope, rest) = line.split_once("capacity_bytes(").expect("a capacity");
    let (_, rest) = rest.split_once(')').expect("its end");
    format!("{before}device.memory {memory} {scope}capacity_bytes({bytes}){rest}")
}
