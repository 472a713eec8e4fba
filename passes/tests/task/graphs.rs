//! Random tile-graphs, as text.

use proptest::prelude::*;
use weft_dialects::ir::{Context, Op};
use weft_passes::task::from_tile;

pub const MACHINE: &str = r#"
#flat = affine_map<(i) -> (i)>
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j, i)>
#left = affine_map<(i, j, k) -> (i, k)>
#out = affine_map<(i, j, k) -> (i, j)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(4) wait_cycles(3) launch_cycles(20)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}
"#;

/// A kernel on 8 × 8 elements.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// All elements, in tiles of so many rows and columns; one input may be transposed.
    Whole { tiles: [u64; 2], inputs: usize, transposed: bool },
    /// All elements in a row.
    Flat { tile: u64 },
    /// A window, read from one place and written to another.
    Window { sizes: [u64; 2], from: [u64; 2], to: [u64; 2], tiles: [u64; 2] },
    /// Adds rows of the input to what the output holds.
    Adds { tiles: [u64; 2] },
}

impl Kernel {
    pub fn inputs(&self) -> usize {
        if let Kernel::Whole { inputs, .. } = self { *inputs } else { 1 }
    }

    /// Whether it needs what its output held before.
    pub fn keeps(&self) -> bool {
        matches!(self, Kernel::Window { .. } | Kernel::Adds { .. })
    }

    pub fn tensor(&self) -> &'static str {
        if let Kernel::Flat { .. } = self { "tensor<64xf32>" } else { "tensor<8x8xf32>" }
    }

    pub fn text(&self, name: &str) -> String {
        let t = self.tensor();
        let names: Vec<String> = (0..self.inputs()).map(|input| format!("x{input}")).collect();
        let list = |prefix: &str, suffix: &str| -> String {
            names.iter().map(|name| format!("{prefix}{name}{suffix}, ")).collect()
        };
        let args = format!("{}%o: {t}", list("%", &format!(": {t}")));
        let inner = format!("{}%p: {t}", list("%i", &format!(": {t}")));
        let ins = list("%", "").trim_end_matches(", ").to_owned();
        let types = vec![t; names.len()].join(", ");
        let mut body = String::new();
        let mut reads: Vec<String> = names.iter().map(|name| format!("%i{name}")).collect();
        let (mut write, mut cut) = ("%p".to_owned(), t.to_owned());
        let (maps, kinds, sizes) = match self {
            Kernel::Whole { tiles, transposed, .. } => {
                let first = if *transposed { "#columns" } else { "#rows" };
                let maps = [vec![first], vec!["#rows"; names.len()]].concat();
                (maps.join(", "), "\"parallel\", \"parallel\"", tiles.to_vec())
            }
            Kernel::Flat { tile } => ("#flat, #flat".into(), "\"parallel\"", vec![*tile]),
            Kernel::Window { sizes: [h, w], from, to, tiles } => {
                cut = format!("tensor<{h}x{w}xf32>");
                for (value, of, [i, j]) in [("%a", "%ix0", from), ("%b", "%p", to)] {
                    body += &format!(
                        "    {value} = tensor.extract_slice {of}[{i}, {j}] [{h}, {w}] [1, 1] : {t} to {cut}\n"
                    );
                }
                (reads, write) = (vec!["%a".into()], "%b".into());
                ("#rows, #rows".into(), "\"parallel\", \"parallel\"", tiles.to_vec())
            }
            Kernel::Adds { tiles: [h, w] } => {
                let kinds = "\"parallel\", \"parallel\", \"reduction\"";
                ("#left, #out".into(), kinds, vec![*h, *w, 4])
            }
        };
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let ones = vec!["1"; sizes.len()].join(", ");
        let scalars: Vec<String> = (0..=names.len()).map(|arg| format!("%s{arg}: f32")).collect();
        let other = if let Kernel::Adds { .. } = self { "%s1" } else { "%s0" };
        let types_cut = vec![cut.as_str(); names.len()].join(", ");
        body += &format!(
            "    %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({} : {types_cut}) outs({write} : {cut}) {{\n    ^bb0({}):\n      %v = arith.addf %s0, {other} : f32\n      linalg.yield %v : f32\n    }} -> {cut}\n",
            reads.join(", "),
            scalars.join(", "),
        );
        let mut result = "%r";
        if let Kernel::Window { sizes: [h, w], to: [i, j], .. } = self {
            body += &format!(
                "    %k = tensor.insert_slice %r into %p[{i}, {j}] [{h}, {w}] [1, 1] : {cut} into {t}\n"
            );
            result = "%k";
        }
        format!(
            "tile.kernel @{name} {{\n^bb0({args}):\n  %c = tile.compute ins({ins}) outs(%o) on @valu tiles [#tile.rtile<\"dram\" [{}]>, #tile.rtile<\"vreg\" [{ones}]>] : ({types}, {t}) -> {t} {{\n  ^bb0({inner}):\n{body}    tile.yield {result} : {t}\n  }}\n  tile.yield %c : {t}\n}}\n",
            sizes.join(", ")
        )
    }
}

/// A tile-graph: what each run applies, and to which earlier values.
#[derive(Clone, Debug)]
pub struct Graph {
    pub kernels: Vec<Kernel>,
    /// Kernel, inputs, and what is overwritten; numbers are taken modulo what there is.
    pub runs: Vec<(usize, [usize; 2], usize)>,
    pub outputs: Vec<usize>,
    pub options: Options,
}

/// Options of the door into the task room.
#[derive(Clone, Debug)]
pub struct Options {
    pub units: u64,
    pub split_cycles: u64,
    pub policy: &'static str,
    pub placement: &'static str,
    pub waits: &'static str,
    pub launches: &'static str,
}

impl Options {
    /// What is chosen where nobody says.
    pub fn of(units: u64, split_cycles: u64) -> Self {
        let (policy, placement, waits, launches) = ("auto", "lanes", "points", "policy");
        Self { units, split_cycles, policy, placement, waits, launches }
    }

    /// Opens the door.
    pub fn apply<'c>(&self, context: &'c Context, module: Op<'c>) {
        let (units, split) = (self.units.to_string(), self.split_cycles.to_string());
        let options = [
            ("units", units.as_str()),
            ("split-cycles", split.as_str()),
            ("policy", self.policy),
            ("placement", self.placement),
            ("waits", self.waits),
            ("launches", self.launches),
        ];
        from_tile::PASS.apply(context, module, &options).expect("the door opens");
        assert!(module.verify(), "the program verifies");
    }
}

fn options() -> impl Strategy<Value = Options> {
    let word = |words: &'static [&'static str]| prop::sample::select(words);
    (
        1u64..5,
        prop::sample::select(vec![0, 8, 40, 100_000]),
        word(&["auto", "text", "critical", "wavefront"]),
        word(&["lanes", "ranges"]),
        word(&["points", "points", "operators"]),
        word(&["policy", "one", "each"]),
    )
        .prop_map(|(units, split_cycles, policy, placement, waits, launches)| Options {
            units,
            split_cycles,
            policy,
            placement,
            waits,
            launches,
        })
}

pub fn kernel() -> impl Strategy<Value = Kernel> {
    let tiles = || (1u64..9, 1u64..9).prop_map(|(h, w)| [h, w]);
    let place = || (0u64..5, 0u64..5).prop_map(|(i, j)| [i, j]);
    let size = || (1u64..5, 1u64..5).prop_map(|(h, w)| [h, w]);
    prop_oneof![
        (tiles(), 1usize..3, any::<bool>()).prop_map(|(tiles, inputs, transposed)| Kernel::Whole {
            tiles,
            inputs,
            transposed
        }),
        (1u64..70).prop_map(|tile| Kernel::Flat { tile }),
        (size(), place(), place(), tiles()).prop_map(|(sizes, from, to, tiles)| Kernel::Window {
            sizes,
            from,
            to,
            tiles
        }),
        tiles().prop_map(|tiles| Kernel::Adds { tiles }),
    ]
}

pub fn graph() -> impl Strategy<Value = Graph> {
    let run = (0usize..100, [0usize..100, 0usize..100], 0usize..100);
    (
        prop::collection::vec(kernel(), 1..5),
        prop::collection::vec(run, 1..24),
        prop::collection::vec(0usize..100, 1..4),
        options(),
    )
        .prop_map(|(kernels, runs, outputs, options)| Graph {
            kernels,
            runs,
            outputs,
            options,
        })
}

impl Graph {
    /// Inputs, a weight, then one value per run; later ones are taken more often.
    pub fn text(&self) -> String {
        let t = "tensor<8x8xf32>";
        let mut values = vec!["%x".to_owned(), "%z".to_owned(), "%w".to_owned()];
        let mut body = format!("  %w = graph.weight \"w\" in \"model\" hash \"00\" : {t}\n");
        for (number, (kernel, inputs, init)) in self.runs.iter().enumerate() {
            let kernel = kernel % self.kernels.len();
            let spec = &self.kernels[kernel];
            let own = spec.tensor();
            let last = values.len() - 1;
            let pick =
                |choice: usize| values[last - (choice * choice / 100) % values.len()].clone();
            let mut shown = |value: String, name: String| {
                if own == t {
                    return value;
                }
                body += &format!("  %{name} = tile.view {value} : {t} to {own}\n");
                format!("%{name}")
            };
            let operands: Vec<String> = (0..spec.inputs())
                .map(|input| shown(pick(inputs[input]), format!("v{number}_{input}")))
                .collect();
            let init = match spec.keeps() {
                true => shown(pick(*init), format!("v{number}_o")),
                false => {
                    body += &format!("  %e{number} = tile.empty in @dram : {own}\n");
                    format!("%e{number}")
                }
            };
            let types = vec![own; operands.len() + 1].join(", ");
            body += &format!(
                "  %r{number} = tile.run \"r{number}\" @k{kernel}({}) into({init}) : ({types}) -> {own}\n",
                operands.join(", ")
            );
            let mut value = format!("%r{number}");
            if own != t {
                body += &format!("  %y{number} = tile.view %r{number} : {own} to {t}\n");
                value = format!("%y{number}");
            }
            values.push(value);
        }
        let last = values.len() - 1;
        let outputs: Vec<String> = self
            .outputs
            .iter()
            .map(|choice| values[last - (choice * choice / 100) % values.len()].clone())
            .collect();
        let names: Vec<String> =
            (0..outputs.len()).map(|output| format!("\"y{output}\"")).collect();
        let types = vec![t; outputs.len()].join(", ");
        let kernels: String = self
            .kernels
            .iter()
            .enumerate()
            .map(|(number, kernel)| kernel.text(&format!("k{number}")))
            .collect();
        format!(
            "{MACHINE}{kernels}tile.graph @g inputs [\"x\", \"z\"] outputs [{}] : ({t}, {t}) -> ({types}) {{\n^bb0(%x: {t}, %z: {t}):\n{body}  tile.output {} : {types}\n}}\n",
            names.join(", "),
            outputs.join(", ")
        )
    }
}
