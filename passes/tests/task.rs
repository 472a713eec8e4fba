//! Task programs keep the meaning of their tile-graph in every order that tokens allow.
//!
//! Random tile-graphs go through the door and into a plan. Then both are executed on
//! numbers that stand for histories: what a kernel writes is a hash of its name and of
//! all it read, so two executions agree only if every read saw the same writes.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use weft_dialects::device::Machine;
use weft_dialects::ir::{Context, Linear, Module, Op, Val, context, module_op, parse, ty};
use weft_dialects::task::Program;
use weft_dialects::tile;
use weft_passes::nest::{Nest, Start, read_kernel};
use weft_passes::task::{ConstantSource, ConstantValue, Planned, check_order, from_tile, plan};
use weft_runtime::plan::{Base, Buffer, Plan};

const MACHINE: &str = r#"
#flat = affine_map<(i) -> (i)>
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j, i)>
#left = affine_map<(i, j, k) -> (i, k)>
#out = affine_map<(i, j, k) -> (i, j)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(4)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}
"#;

/// A kernel on 8 × 8 elements.
#[derive(Clone, Debug)]
enum Kernel {
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
    fn inputs(&self) -> usize {
        if let Kernel::Whole { inputs, .. } = self { *inputs } else { 1 }
    }

    /// Whether it needs what its output held before.
    fn keeps(&self) -> bool {
        matches!(self, Kernel::Window { .. } | Kernel::Adds { .. })
    }

    fn tensor(&self) -> &'static str {
        if let Kernel::Flat { .. } = self { "tensor<64xf32>" } else { "tensor<8x8xf32>" }
    }

    fn text(&self, name: &str) -> String {
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
struct Graph {
    kernels: Vec<Kernel>,
    /// Kernel, inputs, and what is overwritten; numbers are taken modulo what there is.
    runs: Vec<(usize, [usize; 2], usize)>,
    outputs: Vec<usize>,
    units: u64,
    split_cycles: u64,
}

fn kernel() -> impl Strategy<Value = Kernel> {
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

fn graph() -> impl Strategy<Value = Graph> {
    let run = (0usize..100, [0usize..100, 0usize..100], 0usize..100);
    (
        prop::collection::vec(kernel(), 1..5),
        prop::collection::vec(run, 1..24),
        prop::collection::vec(0usize..100, 1..4),
        1u64..5,
        prop::sample::select(vec![0, 8, 40, 100_000]),
    )
        .prop_map(|(kernels, runs, outputs, units, split_cycles)| Graph {
            kernels,
            runs,
            outputs,
            units,
            split_cycles,
        })
}

impl Graph {
    /// Inputs, a weight, then one value per run; later ones are taken more often.
    fn text(&self) -> String {
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

fn mix(one: u64, other: u64) -> u64 {
    (one ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(other)
}

fn named(text: &str) -> u64 {
    text.bytes().fold(7, |hash, byte| mix(hash, u64::from(byte)))
}

/// The elements of a tensor that nothing computed.
fn source(name: &str) -> Vec<u64> {
    (0..64).map(|element| mix(named(name), element)).collect()
}

/// A kernel, ready to be executed point by point.
struct Code {
    copies: bool,
    extents: Vec<u64>,
    /// Axis and piece size of each dimension of the grid.
    cuts: Vec<(usize, u64)>,
    /// Argument and address of each read, then of the write.
    reads: Vec<(usize, Linear)>,
    write: (usize, Linear),
    held: bool,
}

impl Code {
    fn of(kernel: Op<'_>) -> Self {
        let nest: Nest<'_> = read_kernel(kernel).expect("the kernel is a nest");
        let tiles = &tile::Kernel::of(kernel).expect("a tile.kernel").computes()[0].tiles;
        let address = |access: &weft_passes::nest::Access<'_>| {
            (access.tensor.index(), access.address(nest.axes.len()))
        };
        let parallel = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
        Self {
            copies: kernel.symbol().starts_with("copy_"),
            extents: nest.extents(),
            cuts: parallel.map(|axis| (axis, tiles[0].sizes[axis])).collect(),
            reads: nest.inputs.iter().map(address).collect(),
            write: address(&nest.outputs[0]),
            held: matches!(nest.starts[0], Start::Held),
        }
    }

    /// The rTask that a point belongs to.
    fn task(&self, point: &[i64]) -> u64 {
        self.cuts.iter().fold(0, |task, &(axis, size)| {
            task * self.extents[axis].div_ceil(size) + point[axis] as u64 / size
        })
    }

    /// Executes the rTasks `begin..end`; returns a hash of all that was read.
    fn run(
        &self,
        name: &str,
        tasks: std::ops::Range<u64>,
        memory: &mut dyn FnMut(usize, i64, Option<u64>) -> u64,
    ) -> u64 {
        let mut trace = 0;
        let points: u64 = self.extents.iter().product();
        for number in 0..points {
            let mut rest = number;
            let mut point = vec![0i64; self.extents.len()];
            for (at, &extent) in point.iter_mut().zip(&self.extents).rev() {
                *at = (rest % extent) as i64;
                rest /= extent;
            }
            if !tasks.contains(&self.task(&point)) {
                continue;
            }
            let (target, place) = (self.write.0, self.write.1.at(&point));
            let mut value = named(name);
            for (arg, address) in &self.reads {
                let read = memory(*arg, address.at(&point), None);
                value = if self.copies { read } else { mix(value, read) };
            }
            if self.held {
                value = mix(value, memory(target, place, None));
            }
            trace = mix(trace, value);
            memory(target, place, Some(value));
        }
        trace
    }
}

type Codes = HashMap<String, Code>;

fn codes(module: Op<'_>) -> Codes {
    let kernels = module.body(0).expect("a module has a body").ops();
    let kernels = kernels.into_iter().filter(|op| op.is("tile.kernel"));
    kernels.map(|op| (op.symbol().to_owned(), Code::of(op))).collect()
}

/// What the tile-graph means, every tensor a value.
fn meaning(module: Op<'_>, codes: &Codes) -> Vec<Vec<u64>> {
    let ops = module.body(0).expect("a module has a body").ops();
    let graph = ops.into_iter().find_map(tile::Graph::of).expect("there is a tile.graph");
    let mut values: HashMap<Val<'_>, Vec<u64>> = HashMap::new();
    for (arg, name) in graph.body.args().into_iter().zip(&graph.inputs) {
        values.insert(arg, source(name));
    }
    for op in graph.body.iter() {
        let value = match op.name() {
            "graph.weight" => source("w"),
            "tile.empty" => vec![0; 64],
            "tile.view" => values[&op.operand(0)].clone(),
            "tile.run" => {
                let run = tile::Run::of(op).expect("a tile.run");
                let operands: Vec<_> =
                    op.operands().iter().map(|value| values[value].clone()).collect();
                execute(&codes[run.kernel], run.name, operands)
            }
            _ => continue,
        };
        values.insert(op.result(0), value);
    }
    graph.results().iter().map(|result| values[result].clone()).collect()
}

/// Runs a whole kernel on tensors; gives the last one back.
fn execute(code: &Code, name: &str, mut tensors: Vec<Vec<u64>>) -> Vec<u64> {
    code.run(name, 0..u64::MAX, &mut |arg, place, write| {
        let element = &mut tensors[arg][place as usize];
        std::mem::replace(element, write.unwrap_or(*element))
    });
    tensors.pop().expect("a kernel has an output")
}

/// The elements of every constant.
fn constants(sources: &[ConstantSource<'_>], codes: &Codes) -> Vec<Vec<u64>> {
    let mut values: Vec<Vec<u64>> = Vec::new();
    for constant in sources {
        values.push(match &constant.value {
            ConstantValue::Weight { tensor, .. } => source(tensor),
            ConstantValue::Literal(bytes) => {
                assert!(bytes.iter().all(|&byte| byte == 0), "only zeros are made here");
                vec![0; 64]
            }
            ConstantValue::Expression { name, kernel, operands, .. } => {
                let code = &codes[*kernel];
                let mut tensors: Vec<_> =
                    operands.iter().map(|&operand| values[operand].clone()).collect();
                if tensors.len() == code.write.0 {
                    tensors.push(vec![0; 64]);
                }
                execute(code, name, tensors)
            }
        });
    }
    values
}

/// One run of a plan, its steps in any order.
struct Device<'a> {
    plan: &'a Plan,
    codes: &'a Codes,
    arena: Vec<u64>,
    constants: Vec<u64>,
    inputs: Vec<Vec<u64>>,
    outputs: Vec<Vec<u64>>,
}

impl<'a> Device<'a> {
    fn new(planned: &'a Planned<'_>, codes: &'a Codes) -> Self {
        let plan = &planned.plan;
        let mut stored = vec![0; plan.constant_bytes as usize / 4];
        for (constant, value) in planned.constants.iter().zip(constants(&planned.constants, codes))
        {
            if let Some(offset) = constant.offset {
                stored[offset as usize / 4..][..64].copy_from_slice(&value);
            }
        }
        Self {
            plan,
            codes,
            arena: vec![0; plan.arena_bytes as usize / 4],
            constants: stored,
            inputs: plan.inputs.iter().map(|port| source(&port.name)).collect(),
            outputs: vec![vec![0; 64]; plan.outputs.len()],
        }
    }

    fn step(&mut self, number: usize) -> u64 {
        let step = &self.plan.steps[number];
        let kernel = &self.plan.kernels[step.kernel as usize].symbol;
        let buffers: Vec<Buffer> =
            step.buffers.iter().map(|&buffer| self.plan.buffers[buffer as usize]).collect();
        let (codes, name) = (self.codes, &self.plan.ops[step.op as usize]);
        codes[kernel].run(name, step.begin..step.end, &mut |arg, place, write| {
            let buffer = buffers[arg];
            let memory = match buffer.base {
                Base::Input(input) => &mut self.inputs[input as usize],
                Base::Output(output) => &mut self.outputs[output as usize],
                Base::Constant => &mut self.constants,
                Base::Arena => &mut self.arena,
                Base::Host => unreachable!("everything fits the machine"),
            };
            assert!(4 * place < buffer.bytes as i64, "{name} stays inside its buffers");
            let writable = matches!(buffer.base, Base::Output(_) | Base::Arena);
            assert!(write.is_none() || writable, "{name} writes only what may be written");
            let element = &mut memory[buffer.offset as usize / 4 + place as usize];
            std::mem::replace(element, write.unwrap_or(*element))
        })
    }

    /// Executes every step in `order`; returns the trace of each and the outputs.
    fn all(mut self, order: &[usize]) -> (Vec<u64>, Vec<Vec<u64>>) {
        let mut traces = vec![0; order.len()];
        for &step in order {
            traces[step] = self.step(step);
        }
        (traces, self.outputs)
    }
}

/// An order that keeps `waits`; `choose` picks one of the steps that are ready.
fn order(waits: &[Vec<u32>], mut choose: impl FnMut(usize) -> usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut done = vec![false; waits.len()];
    while order.len() < waits.len() {
        let ready =
            |step: &usize| !done[*step] && waits[*step].iter().all(|&wait| done[wait as usize]);
        let ready: Vec<usize> = (0..waits.len()).filter(ready).collect();
        assert!(!ready.is_empty(), "no wait goes in a circle");
        let next = ready[choose(ready.len())];
        done[next] = true;
        order.push(next);
    }
    order
}

/// What is done before `step` starts, in order.
fn ancestors(waits: &[Vec<u32>], step: usize) -> Vec<usize> {
    let mut found = vec![false; waits.len()];
    let mut stack = waits[step].clone();
    while let Some(next) = stack.pop() {
        if !std::mem::replace(&mut found[next as usize], true) {
            stack.extend(&waits[next as usize]);
        }
    }
    (0..waits.len()).filter(|&step| found[step]).collect()
}

struct Lowered<'c> {
    module: Module<'c>,
    meaning: Vec<Vec<u64>>,
}

fn lower<'c>(context: &'c Context, graph: &Graph) -> Lowered<'c> {
    let module = parse(context, &graph.text()).expect("the graph parses");
    let op = module_op(&module);
    let meaning = meaning(op, &codes(op));
    let (units, split) = (graph.units.to_string(), graph.split_cycles.to_string());
    let options = [("units", units.as_str()), ("split-cycles", split.as_str())];
    from_tile::PASS.apply(context, op, &options).expect("the door opens");
    assert!(op.verify(), "the program verifies");
    Lowered { module, meaning }
}

fn program<'c>(module: &Module<'c>) -> Program<'c> {
    let ops = module_op(module).body(0).expect("a module has a body").ops();
    ops.into_iter().find_map(Program::of).expect("there is a task.program")
}

/// Tokens of each range, as numbers of ranges.
fn tokens(program: &Program<'_>) -> Vec<Vec<u32>> {
    let ranges = program.ranges();
    let numbers: HashMap<_, _> =
        ranges.iter().enumerate().map(|(number, range)| (range.token(), number as u32)).collect();
    ranges.iter().map(|range| range.waits.iter().map(|wait| numbers[wait]).collect()).collect()
}

#[derive(Default)]
struct Counts {
    programs: u64,
    ranges: u64,
    tokens: u64,
    needed: u64,
    plan_waits: u64,
}

fn check(context: &Context, graph: &Graph, seed: u64, counts: &mut Counts) {
    let lowered = lower(context, graph);
    let module = module_op(&lowered.module);
    let program = program(&lowered.module);
    let machine = Machine::of(module).expect("there is a machine");
    let planned = plan(&program, machine).expect("the program has a plan");
    let (codes, tokens) = (codes(module), tokens(&program));
    let device = || Device::new(&planned, &codes);

    // The order of the text, then any that tokens allow, then any that units allow.
    let text: Vec<usize> = (0..tokens.len()).collect();
    let (traces, outputs) = device().all(&text);
    assert_eq!(outputs, lowered.meaning, "the text means what the tile-graph means");
    let steps = &planned.plan.steps;
    let mut last: HashMap<u32, u32> = HashMap::new();
    let on_units: Vec<Vec<u32>> = steps
        .iter()
        .enumerate()
        .map(|(number, step)| {
            let before = last.insert(step.unit, number as u32);
            step.waits.iter().copied().chain(before).collect()
        })
        .collect();
    let mut state = seed;
    for waits in [&tokens, &on_units] {
        let orders = (0..4).map(|kind| {
            order(waits, |ready| match kind {
                0 => ready - 1,
                _ => {
                    state = mix(state, 1);
                    state as usize % ready
                }
            })
        });
        for order in orders.collect::<Vec<_>>() {
            assert_eq!(device().all(&order), (traces.clone(), outputs.clone()), "{order:?}");
        }
    }
    for (number, step) in steps.iter().enumerate() {
        for &wait in &step.waits {
            assert_ne!(step.unit, steps[wait as usize].unit, "a unit keeps its own order");
            let mut fewer = on_units.clone();
            fewer[number].retain(|&other| other != wait);
            let implied = ancestors(&fewer, number).contains(&(wait as usize));
            assert!(!implied, "step {number} waits for {wait} anyway");
        }
        counts.plan_waits += step.waits.len() as u64;
    }

    // Without any one token something may go wrong.
    for (number, list) in tokens.iter().enumerate() {
        for &token in list {
            let mut fewer = tokens.clone();
            fewer[number].retain(|&other| other != token);
            let mut order = ancestors(&fewer, number);
            assert!(!order.contains(&(token as usize)), "range {number} waits for {token} anyway");
            order.push(number);
            let rest: Vec<usize> =
                text.iter().copied().filter(|step| !order.contains(step)).collect();
            order.extend(rest);
            counts.tokens += 1;
            counts.needed += u64::from(device().all(&order) != (traces.clone(), outputs.clone()));
        }
    }
    counts.programs += 1;
    counts.ranges += tokens.len() as u64;
    check_is_accepted(context, module, &program, &tokens);
}

/// `task-check-order` accepts the program, and asks for at least what its tokens say.
fn check_is_accepted<'c>(
    context: &'c Context,
    module: Op<'c>,
    program: &Program<'c>,
    tokens: &[Vec<u32>],
) {
    let checked = check_order::check(context, module, program).expect("the kernels are tiled");
    assert!(checked.unordered.is_empty());
    assert!(checked.orders >= tokens.iter().map(|list| list.len() as u64).sum());
}

#[test]
fn any_order_that_tokens_allow_means_the_same() {
    let context = context();
    let mut counts = Counts::default();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let counted = std::cell::RefCell::new(&mut counts);
    runner
        .run(&(graph(), any::<u64>()), |(graph, seed)| {
            check(&context, &graph, seed, &mut counted.borrow_mut());
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    println!(
        "{} programs, {} ranges, {} tokens, of which {} are needed for these values; {} waits in plans",
        counts.programs, counts.ranges, counts.tokens, counts.needed, counts.plan_waits
    );
    assert!(counts.needed * 10 >= counts.tokens * 9, "nine of ten tokens change what is read");
}

#[test]
fn a_missing_token_is_found() {
    let context = context();
    let text = format!(
        "{MACHINE}{}{}",
        Kernel::Flat { tile: 16 }.text("k"),
        r#"task.program @p on @core units 2 arena 256 : (tensor<64xf32>) -> tensor<64xf32> {
  %x = task.input 0 "x" : memref<64xf32>
  %y = task.output 0 "y" : memref<64xf32>
  %b = task.buffer at 0 in @dram : memref<64xf32>
  %t0 = task.range "a" @k[0 to 2] on 0(%x, %b) after() : memref<64xf32>, memref<64xf32>
  %t1 = task.range "a" @k[2 to 4] on 1(%x, %b) after() : memref<64xf32>, memref<64xf32>
  %t2 = task.range "b" @k[1 to 3] on 1(%b, %y) after(%t1) : memref<64xf32>, memref<64xf32>
}"#
    );
    let module = parse(&context, &text).expect("the program parses");
    let program = program(&module);
    let checked =
        check_order::check(&context, module_op(&module), &program).expect("it is checked");
    let found: Vec<_> =
        checked.unordered.iter().map(|pair| (pair.earlier.begin, pair.later.name)).collect();
    assert_eq!(found, [(0, "b")]);
}

/// The sizes of buffers come from types, dtypes from the signature.
#[test]
fn ports_keep_the_types_of_callers() {
    let context = context();
    let text = format!(
        "{MACHINE}{}",
        r#"task.program @p on @core units 1 arena 0 : (tensor<3xui8>, tensor<2xi1>) -> tensor<4xbf16> {
  %z = task.input 1 "z" : memref<2xi8>
  %x = task.input 0 "x" : memref<3xi8>
  %y = task.output 0 "y" : memref<4xbf16>
}"#
    );
    let module = parse(&context, &text).expect("the program parses");
    let machine = Machine::of(module_op(&module)).expect("there is a machine");
    let planned = plan(&program(&module), machine).expect("the program has a plan");
    let ports: Vec<_> = planned.plan.inputs.iter().chain(&planned.plan.outputs).collect();
    let shown: Vec<_> = ports.iter().map(|port| (port.name.as_str(), port.dtype.name())).collect();
    assert_eq!(shown, [("x", "uint8"), ("z", "bool"), ("y", "bfloat16")]);
    assert_eq!(ty::count(program(&module).input_types[0]), Some(3));
}

/// The door, the plan and the check of a long program: its ranges, and what waits for what.
fn place(text: &str) -> (usize, usize) {
    let context = context();
    let module = parse(&context, text).expect("the graph parses");
    let options = [("units", "4"), ("split-cycles", "8")];
    from_tile::PASS.apply(&context, module_op(&module), &options).expect("the door opens");
    let program = program(&module);
    let machine = Machine::of(module_op(&module)).expect("there is a machine");
    let planned = plan(&program, machine).expect("the program has a plan");
    let checked =
        check_order::check(&context, module_op(&module), &program).expect("it is checked");
    assert!(checked.unordered.is_empty());
    (planned.plan.steps.len(), planned.plan.steps.iter().map(|step| step.waits.len()).sum())
}

const LONG: usize = if cfg!(debug_assertions) { 2_000 } else { 25_000 };

/// Long programs have as many ranges as they need, and wait for little: what is waited for by way
/// of something else is not waited for again.
fn placed(text: &str) {
    let (ranges, waits) = place(text);
    assert!((LONG..=4 * LONG).contains(&ranges), "{ranges} ranges");
    assert!(waits <= 2 * ranges, "{waits} waits of {ranges} ranges");
}

/// A long program with skips, branches, windows and copies.
#[test]
fn long_programs_are_placed() {
    let kernels = vec![
        Kernel::Whole { tiles: [2, 8], inputs: 2, transposed: false },
        Kernel::Flat { tile: 16 },
        Kernel::Window { sizes: [4, 4], from: [0, 0], to: [4, 4], tiles: [2, 4] },
        Kernel::Whole { tiles: [4, 4], inputs: 1, transposed: true },
    ];
    let mut state = 1;
    let mut next = |below: usize| {
        state = mix(state, 3);
        (state >> 20) as usize % below
    };
    let runs = (0..LONG).map(|_| (next(7).min(3), [next(60), next(100)], next(10))).collect();
    let graph = Graph { kernels, runs, outputs: vec![0], units: 4, split_cycles: 8 };
    placed(&graph.text());
}

/// Many tensors that live at once, and one that everybody reads.
#[test]
fn wide_programs_are_placed() {
    let t = "tensor<8x8xf32>";
    let add = Kernel::Whole { tiles: [2, 8], inputs: 2, transposed: false }.text("add");
    let graph = |body: &str, result: &str| {
        format!(
            "{MACHINE}{add}tile.graph @g inputs [\"x\", \"z\"] outputs [\"y\"] : ({t}, {t}) -> {t} {{\n^bb0(%x: {t}, %z: {t}):\n{body}  tile.output {result} : {t}\n}}\n"
        )
    };
    let run = |name: &str, one: &str, other: &str| {
        format!(
            "  %e{name} = tile.empty in @dram : {t}\n  %{name} = tile.run \"{name}\" @add({one}, {other}) into(%e{name}) : ({t}, {t}, {t}) -> {t}\n"
        )
    };
    let mut body = String::new();
    let mut level: Vec<String> = (0..LONG / 2)
        .map(|leaf| {
            body += &run(&format!("l{leaf}"), "%x", "%z");
            format!("%l{leaf}")
        })
        .collect();
    let mut count = 0;
    while level.len() > 1 {
        let pairs = level.chunks(2).map(|pair| match pair {
            [one, other] => {
                count += 1;
                body += &run(&format!("t{count}"), one, other);
                format!("%t{count}")
            }
            _ => pair[0].clone(),
        });
        level = pairs.collect();
    }
    placed(&graph(&body, &level[0]));

    let mut body = run("r0", "%x", "%z");
    for number in 1..LONG {
        body += &run(&format!("r{number}"), "%r0", &format!("%r{}", number - 1));
    }
    placed(&graph(&body, &format!("%r{}", LONG - 1)));
}
