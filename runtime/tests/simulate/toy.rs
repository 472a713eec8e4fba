//! A toy machine and programs on it, written by hand.

use weft_runtime::DType;
use weft_runtime::plan::{Base, Buffer, Kernel as Symbol, Plan, Port, Step};
use weft_runtime::simulate::*;
use weft_runtime::vm::{Access, BinaryOp, Inst, Nest, Program, Scalar, Ty};

pub const DRAM: MemoryId = 0;
pub const SPAD: MemoryId = 1;
pub const REG: MemoryId = 2;
pub const DMA: EngineId = 0;
pub const TENSOR: EngineId = 1;
/// Moves: through the engine, and by the unit itself.
pub const IN: u32 = 0;
pub const OUT: u32 = 1;
pub const LOAD: u32 = 2;
pub const STORE: u32 = 3;
/// Instructions: on the engine and by the unit itself.
pub const MAC: u32 = 0;
pub const MAC_NOW: u32 = 1;

pub fn memory(name: &str, scope: Scope, capacity_bytes: u64) -> Memory {
    Memory {
        name: name.into(),
        scope,
        capacity_bytes,
        bytes_per_cycle: None,
        transaction_bytes: None,
        banks: None,
        bank_bytes: None,
        register_bytes: None,
        lanes: None,
        caches: None,
        within: None,
    }
}

pub fn way(name: &str, source: MemoryId, target: MemoryId, engine: Option<EngineId>) -> Move {
    Move {
        name: name.into(),
        source,
        target,
        engine,
        bytes_per_cycle: None,
        issue_cycles: None,
        latency_cycles: 0,
    }
}

/// `c += a · b` on matrices of `m·k`, `k·n` and `m·n` floats.
pub fn mac(name: &str, engine: Option<EngineId>, [m, n, k]: [u64; 3]) -> Instruction {
    let mut program = Program::default();
    let a = program.input(Ty::F32, m * k);
    let b = program.input(Ty::F32, k * n);
    let c = program.input(Ty::F32, m * n);
    program.outputs = vec![c];
    let mut nest = Nest::new(&[m, n, k], &[true, true, false]);
    let at = |t, strides: [u64; 3]| Access::new(t, 0, &strides.map(|s| s as i64));
    let sum = nest.load(at(c, [n, 1, 0]));
    let (x, y) = (nest.load(at(a, [k, 0, 1])), nest.load(at(b, [0, 1, n])));
    let product = nest.inst(Inst::binary(BinaryOp::MulF, x, y));
    let sum = nest.inst(Inst::binary(BinaryOp::AddF, sum, product));
    nest.store(at(c, [n, 1, 0]), sum);
    program.push(nest);
    let operand = |shape: [u64; 2]| Operand { memory: SPAD, ty: Ty::F32, shape: shape.to_vec() };
    Instruction {
        name: name.into(),
        engine,
        issue_cycles: 4.0,
        latency_cycles: 8,
        meaning: Meaning {
            operands: vec![operand([m, k]), operand([k, n]), operand([m, n])],
            program,
            constants: vec![],
        },
    }
}

pub fn machine() -> Machine {
    let mut dram = memory("dram", Scope::Device, 1 << 30);
    (dram.bytes_per_cycle, dram.transaction_bytes) = (Some(16), Some(64));
    let mut spad = memory("spad", Scope::Core, 1 << 17);
    (spad.bytes_per_cycle, spad.banks, spad.bank_bytes) = (Some(64), Some(16), Some(4));
    let mut reg = memory("reg", Scope::Thread, 1024);
    reg.register_bytes = Some(32);
    let dma = |name: &str, from, to| Move {
        bytes_per_cycle: Some(16),
        latency_cycles: 200,
        ..way(name, from, to, Some(DMA))
    };
    let engine = |name: &str, queue| Engine { name: name.into(), queue };
    Machine {
        name: "toy".into(),
        unit: "core".into(),
        units: 4,
        cluster_units: 0,
        clock_mhz: Some(1000),
        wait_cycles: 0,
        launch_cycles: 0,
        memories: vec![dram, spad, reg],
        shared: DRAM,
        engines: vec![engine("dma", 8), engine("tensor", 8)],
        moves: vec![
            dma("in", DRAM, SPAD),
            dma("out", SPAD, DRAM),
            Move { issue_cycles: Some(1.0), latency_cycles: 7, ..way("load", SPAD, REG, None) },
            Move { issue_cycles: Some(1.0), latency_cycles: 7, ..way("store", REG, SPAD, None) },
        ],
        instructions: vec![mac("mac", Some(TENSOR), [4; 3]), mac("mac_now", None, [4; 3])],
        lanes: vec![LaneUnit { name: "valu".into(), issue_cycles: 1.0, latency_cycles: 4 }],
    }
}

/// Writes kernels.
pub struct Writer {
    pub kernel: Kernel,
}

impl Writer {
    pub fn new(name: &str, tasks: u64, arguments: &[&[u64]]) -> Writer {
        let mut kernel = Kernel {
            name: name.into(),
            tasks,
            group: Scope::Thread,
            slots: vec![0],
            tokens: 0,
            memrefs: vec![],
            arguments: arguments.len() as u32,
            body: vec![],
        };
        for shape in arguments {
            kernel.memrefs.push(floats(DRAM, shape));
        }
        Writer { kernel }
    }

    /// A slot that holds a constant.
    pub fn constant(&mut self, value: i64) -> Slot {
        self.kernel.slots.push(value);
        self.kernel.slots.len() as Slot - 1
    }

    pub fn slot(&mut self) -> Slot {
        self.constant(0)
    }

    pub fn token(&mut self) -> TokenSlot {
        self.kernel.tokens += 1;
        self.kernel.tokens - 1
    }

    /// A buffer, and its allocation.
    pub fn buffer(&mut self, memory: MemoryId, shape: &[u64]) -> (MemRefId, Op) {
        self.kernel.memrefs.push(floats(memory, shape));
        let id = self.kernel.memrefs.len() as MemRefId - 1;
        (id, Op::Alloc(id))
    }

    pub fn times(&mut self, to: Slot, a: Slot, b: Slot) -> Op {
        Op::Set { to, value: Value::Binary { op: BinaryOp::MulI, a, b } }
    }
}

pub fn floats(memory: MemoryId, shape: &[u64]) -> MemRef {
    let bytes = shape.iter().product::<u64>() * 4;
    MemRef { memory, ty: Ty::F32, shape: shape.to_vec(), room_bytes: bytes }
}

/// The sides of a box, as they lie at both ends of a transfer.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    pub sizes: &'a [u64],
    pub from_strides: &'a [i64],
    pub to_strides: &'a [i64],
}

impl<'a> Sides<'a> {
    /// A box that lies alike at both ends.
    pub fn alike(sizes: &'a [u64], strides: &'a [i64]) -> Self {
        Self { sizes, from_strides: strides, to_strides: strides }
    }
}

pub fn transfer(way: u32, from: View, to: View, sides: Sides<'_>, token: Option<TokenSlot>) -> Op {
    Op::Transfer {
        way,
        from,
        to,
        sizes: sides.sizes.to_vec(),
        from_strides: sides.from_strides.to_vec(),
        to_strides: sides.to_strides.to_vec(),
        token,
    }
}

pub fn fill(way: u32, to: View, sizes: &[u64], strides: &[i64], token: Option<TokenSlot>) -> Op {
    let value = Scalar::f32(0.0);
    Op::Fill { way, to, sizes: sizes.to_vec(), strides: strides.to_vec(), value, token }
}

/// `y = x · w`, 16 by 16 each: an rTask makes 4 rows. The rows of `w` come in pieces of 4, into
/// one of two buffers while the matrix engine works on the other.
pub fn product() -> Kernel {
    let mut w = Writer::new("product", 4, &[&[16, 16], &[16, 16], &[16, 16]]);
    let task = 0;
    let [zero, one, two, four] = [0, 1, 2, 4].map(|value| w.constant(value));
    let [row, k, j, at, half] = [(); 5].map(|()| w.slot());
    let [fa, fc, fb, m, o] = [(); 5].map(|()| w.token());
    let (a, alloc_a) = w.buffer(SPAD, &[4, 16]);
    let (b, alloc_b) = w.buffer(SPAD, &[2, 4, 16]);
    let (c, alloc_c) = w.buffer(SPAD, &[4, 16]);
    let set = |to, op, x, y| Op::Set { to, value: Value::Binary { op, a: x, b: y } };
    let column = |w: &mut Writer| (w.slot(), w.slot());
    let (ka, jc) = column(&mut w);
    let panel = [4u64, 16];
    let rows = [16i64, 1];
    let rows_from = |view: View, to: View, token| {
        transfer(IN, view, to, Sides::alike(&panel, &rows), Some(token))
    };
    let multiply = vec![
        set(jc, BinaryOp::MulI, j, four),
        Op::Invoke {
            instruction: MAC,
            views: vec![
                View::new(a, &[zero, ka]),
                View::new(b, &[half, zero, jc]),
                View::new(c, &[zero, jc]),
            ],
            token: Some(m),
        },
    ];
    let round = vec![
        set(half, BinaryOp::RemUI, k, two),
        set(at, BinaryOp::MulI, k, four),
        rows_from(View::new(1, &[at, zero]), View::new(b, &[half, zero, zero]), fb),
        set(ka, BinaryOp::MulI, k, four),
        Op::Wait(vec![fb]),
        // The multiplications of the round before, whose half is next.
        Op::Wait(vec![m]),
        Op::For { counter: j, begin: zero, end: four, step: one, body: multiply },
    ];
    let corner = View::new(c, &[zero, zero]);
    let out = View::new(2, &[row, zero]);
    let body = vec![
        alloc_a,
        alloc_b,
        alloc_c,
        w.times(row, task, four),
        rows_from(View::new(0, &[row, zero]), View::new(a, &[zero, zero]), fa),
        fill(IN, corner.clone(), &panel, &rows, Some(fc)),
        Op::Ready(m),
        Op::For { counter: k, begin: zero, end: four, step: one, body: round },
        Op::Wait(vec![m]),
        transfer(OUT, corner, out, Sides::alike(&panel, &rows), Some(o)),
        Op::Wait(vec![o]),
    ];
    w.kernel.body = body;
    w.kernel
}

pub fn port(name: &str, shape: &[u64]) -> Port {
    Port { name: name.into(), dtype: DType::F32, shape: shape.to_vec() }
}

pub fn step(unit: u32, kernel: u32, tasks: [u64; 2], buffers: &[u32], waits: &[u32]) -> Step {
    let [begin, end] = tasks;
    Step { unit, kernel, begin, end, buffers: buffers.to_vec(), waits: waits.to_vec(), op: 0 }
}

/// `y = x · w · v` on two units; the first product goes through the arena, from one unit to
/// the other.
pub fn plan() -> Plan {
    let square = |base, offset| Buffer { base, offset, bytes: 1024 };
    Plan {
        name: "products".into(),
        units: 2,
        arena_bytes: 1024,
        inputs: vec![port("x", &[16, 16]), port("w", &[16, 16]), port("v", &[16, 16])],
        outputs: vec![port("y", &[16, 16])],
        buffers: vec![
            square(Base::Input(0), 0),
            square(Base::Input(1), 0),
            square(Base::Input(2), 0),
            square(Base::Arena, 0),
            square(Base::Output(0), 0),
        ],
        kernels: vec![Symbol { symbol: "product".into(), scratch_bytes: 0 }],
        steps: vec![
            step(0, 0, [0, 2], &[0, 1, 3], &[]),
            step(1, 0, [2, 4], &[0, 1, 3], &[]),
            step(1, 0, [0, 2], &[3, 2, 4], &[0]),
            step(0, 0, [2, 4], &[3, 2, 4], &[1]),
        ],
        ops: vec!["product".into()],
        device: "toy".into(),
        ..Plan::default()
    }
}

pub fn code() -> Code {
    Code { machine: machine(), kernels: vec![product()] }
}

/// Floats that tell places apart.
pub fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2654435761).wrapping_add(12345);
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            ((state >> 24) as i32 - 128) as f32 / 16.0
        })
        .collect()
}

pub fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Runs a plan on float inputs.
pub fn run(code: &Code, plan: &Plan, inputs: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, SimulateError> {
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|values| bytes(values)).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let size = |port: &Port| vec![0u8; port.bytes().unwrap_or(0) as usize];
    let mut outputs: Vec<Vec<u8>> = plan.outputs.iter().map(size).collect();
    let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    Simulator::new(code, plan)?.run(&[], &inputs, &mut places)?;
    let float = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(outputs.iter().map(|bytes| bytes.chunks_exact(4).map(float).collect()).collect())
}

/// `x · w`, squares of a side, summed in order.
pub fn multiplied(x: &[f32], w: &[f32], side: usize) -> Vec<f32> {
    let mut y = vec![0f32; side * side];
    for i in 0..side {
        for j in 0..side {
            for k in 0..side {
                y[i * side + j] += x[i * side + k] * w[k * side + j];
            }
        }
    }
    y
}
