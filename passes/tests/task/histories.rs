//! Executes tile-graphs and plans on numbers that stand for histories: what a kernel writes is a
//! hash of its name and of all it read, so two executions agree only if every read saw the same
//! writes.

use std::collections::HashMap;

use weft_dialects::ir::{Linear, Op, Val};
use weft_dialects::tile;
use weft_passes::nest::{Nest, Start, read_kernel};
use weft_passes::task::{ConstantSource, ConstantValue, Planned};
use weft_runtime::plan::{Base, Buffer, Plan};

pub fn mix(one: u64, other: u64) -> u64 {
    (one ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(other)
}

pub fn named(text: &str) -> u64 {
    text.bytes().fold(7, |hash, byte| mix(hash, u64::from(byte)))
}

/// The elements of a tensor that nothing computed.
pub fn source(name: &str) -> Vec<u64> {
    (0..64).map(|element| mix(named(name), element)).collect()
}

/// A kernel, ready to be executed point by point.
pub struct Code {
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
    pub fn of(kernel: Op<'_>) -> Self {
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
    pub fn task(&self, point: &[i64]) -> u64 {
        self.cuts.iter().fold(0, |task, &(axis, size)| {
            task * self.extents[axis].div_ceil(size) + point[axis] as u64 / size
        })
    }

    /// Executes the rTasks `begin..end`; returns a hash of all that was read.
    pub fn run(
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

pub type Codes = HashMap<String, Code>;

pub fn codes(module: Op<'_>) -> Codes {
    let kernels = module.body(0).expect("a module has a body").ops();
    let kernels = kernels.into_iter().filter(|op| op.is("tile.kernel"));
    kernels.map(|op| (op.symbol().to_owned(), Code::of(op))).collect()
}

/// What the tile-graph means, every tensor a value.
pub fn meaning(module: Op<'_>, codes: &Codes) -> Vec<Vec<u64>> {
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
pub fn execute(code: &Code, name: &str, mut tensors: Vec<Vec<u64>>) -> Vec<u64> {
    code.run(name, 0..u64::MAX, &mut |arg, place, write| {
        let element = &mut tensors[arg][place as usize];
        std::mem::replace(element, write.unwrap_or(*element))
    });
    tensors.pop().expect("a kernel has an output")
}

/// The elements of every constant.
pub fn constants(sources: &[ConstantSource<'_>], codes: &Codes) -> Vec<Vec<u64>> {
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
pub struct Device<'a> {
    plan: &'a Plan,
    codes: &'a Codes,
    arena: Vec<u64>,
    constants: Vec<u64>,
    inputs: Vec<Vec<u64>>,
    pub outputs: Vec<Vec<u64>>,
}

impl<'a> Device<'a> {
    pub fn new(planned: &'a Planned<'_>, codes: &'a Codes) -> Self {
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

    /// Executes a step; returns a hash of all that it read.
    pub fn step(&mut self, number: usize) -> u64 {
        let step = &self.plan.steps[number];
        self.tasks(number, step.begin..step.end)
    }

    /// Executes the rTasks of a step one by one, in an order that `seed` says.
    pub fn shuffled(&mut self, number: usize, seed: u64) {
        let step = &self.plan.steps[number];
        let mut tasks: Vec<u64> = (step.begin..step.end).collect();
        tasks.sort_by_key(|&task| mix(seed, task));
        for task in tasks {
            self.tasks(number, task..task + 1);
        }
    }

    /// Executes a step, and says which elements of which memory it touches, and writes.
    pub fn watched(&mut self, number: usize, seen: &mut dyn FnMut(u32, usize, bool)) {
        let step = &self.plan.steps[number];
        self.tasks_seen(number, step.begin..step.end, seen);
    }

    fn tasks(&mut self, number: usize, tasks: std::ops::Range<u64>) -> u64 {
        self.tasks_seen(number, tasks, &mut |_, _, _| {})
    }

    fn tasks_seen(
        &mut self,
        number: usize,
        tasks: std::ops::Range<u64>,
        seen: &mut dyn FnMut(u32, usize, bool),
    ) -> u64 {
        let step = &self.plan.steps[number];
        let kernel = &self.plan.kernels[step.kernel as usize].symbol;
        let buffers: Vec<Buffer> =
            step.buffers.iter().map(|&buffer| self.plan.buffers[buffer as usize]).collect();
        let (codes, name) = (self.codes, &self.plan.ops[step.op as usize]);
        codes[kernel].run(name, tasks, &mut |arg, place, write| {
            let buffer = buffers[arg];
            let memory = match buffer.base {
                Base::Input(input) => &mut self.inputs[input as usize],
                Base::Output(output) => &mut self.outputs[output as usize],
                Base::Constant => &mut self.constants,
                Base::Arena => &mut self.arena,
                Base::Host | Base::Cluster(_) => unreachable!("everything fits the machine"),
                Base::Lengths => unreachable!("all shapes are fixed"),
            };
            assert!(4 * place < buffer.bytes as i64, "{name} stays inside its buffers");
            let writable = matches!(buffer.base, Base::Output(_) | Base::Arena);
            assert!(write.is_none() || writable, "{name} writes only what may be written");
            let at = buffer.offset as usize / 4 + place as usize;
            match buffer.base {
                Base::Arena => seen(0, at, write.is_some()),
                Base::Output(output) => seen(output + 1, at, write.is_some()),
                Base::Input(_) | Base::Constant | Base::Host | Base::Cluster(_) | Base::Lengths => {
                }
            }
            let element = &mut memory[at];
            std::mem::replace(element, write.unwrap_or(*element))
        })
    }

    /// Executes every step in `order`; returns the trace of each and the outputs.
    pub fn all(mut self, order: &[usize]) -> (Vec<u64>, Vec<Vec<u64>>) {
        let mut traces = vec![0; order.len()];
        for &step in order {
            traces[step] = self.step(step);
        }
        (traces, self.outputs)
    }
}
