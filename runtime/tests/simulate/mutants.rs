//! N-2. Programs with one thing wrong: each ends with an error, or with a wrong result.

use weft_runtime::plan::Plan;
use weft_runtime::simulate::*;
use weft_runtime::vm::{BinaryOp, Scalar};

use crate::toy::*;

/// The operations of the correct program, by where they are.
mod at {
    pub const ALLOCS: [&[usize]; 3] = [&[0], &[1], &[2]];
    pub const ROW: &[usize] = &[3];
    pub const READ_A: &[usize] = &[4];
    pub const FILL: &[usize] = &[5];
    pub const READY: &[usize] = &[6];
    pub const LOOP: &[usize] = &[7];
    pub const HALF: &[usize] = &[7, 0];
    pub const PANEL: &[usize] = &[7, 1];
    pub const READ_B: &[usize] = &[7, 2];
    pub const COLUMN: &[usize] = &[7, 3];
    pub const WAIT_B: &[usize] = &[7, 4];
    pub const WAIT_BEFORE: &[usize] = &[7, 5];
    pub const INNER: &[usize] = &[7, 6];
    pub const INNER_COLUMN: &[usize] = &[7, 6, 0];
    pub const MULTIPLY: &[usize] = &[7, 6, 1];
    pub const WAIT_MULTIPLIED: &[usize] = &[8];
    pub const WRITE: &[usize] = &[9];
    pub const WAIT_WRITTEN: &[usize] = &[10];
}

/// A program that is being spoilt.
struct Program {
    code: Code,
    plan: Plan,
}

impl Program {
    fn kernel(&mut self) -> &mut Kernel {
        &mut self.code.kernels[0]
    }

    fn body(&mut self, path: &[usize]) -> &mut Vec<Op> {
        path.iter().fold(&mut self.kernel().body, |body, &i| match &mut body[i] {
            Op::For { body, .. } => body,
            other => panic!("{other:?} has no body"),
        })
    }

    fn op(&mut self, path: &[usize]) -> &mut Op {
        let (last, around) = path.split_last().expect("a path");
        &mut self.body(around)[*last]
    }

    fn drop(&mut self, path: &[usize]) {
        let (last, around) = path.split_last().expect("a path");
        self.body(around).remove(*last);
    }

    /// What a transfer or a fill moves: sizes, strides where it reads and where it writes.
    fn moved(&mut self, path: &[usize]) -> (&mut Vec<u64>, &mut Vec<i64>, &mut Vec<i64>) {
        match self.op(path) {
            Op::Transfer { sizes, from_strides, to_strides, .. } => {
                (sizes, from_strides, to_strides)
            }
            other => panic!("{other:?} is no transfer"),
        }
    }

    fn ends(&mut self, path: &[usize]) -> (&mut View, &mut View) {
        match self.op(path) {
            Op::Transfer { from, to, .. } => (from, to),
            other => panic!("{other:?} is no transfer"),
        }
    }

    fn views(&mut self) -> &mut Vec<View> {
        match self.op(at::MULTIPLY) {
            Op::Invoke { views, .. } => views,
            other => panic!("{other:?} is no instruction"),
        }
    }

    fn bounds(&mut self, path: &[usize]) -> (&mut Slot, &mut Slot, &mut Slot) {
        match self.op(path) {
            Op::For { begin, end, step, .. } => (begin, end, step),
            other => panic!("{other:?} is no loop"),
        }
    }

    fn shape(&mut self, memref: usize, shape: &[u64]) {
        let memory = self.kernel().memrefs[memref].memory;
        self.kernel().memrefs[memref] = floats(memory, shape);
    }

    fn constant(&mut self, value: i64) -> Slot {
        self.kernel().slots.push(value);
        self.kernel().slots.len() as Slot - 1
    }
}

type Mutant = (&'static str, Box<dyn Fn(&mut Program)>);

fn mutant(name: &'static str, spoil: impl Fn(&mut Program) + 'static) -> Mutant {
    (name, Box::new(spoil))
}

/// Memrefs of the kernel after its three arguments.
const A: usize = 3;
const B: usize = 4;
const C: usize = 5;

fn dropped() -> Vec<Mutant> {
    let all: [(&str, &'static [usize]); 16] = [
        ("no room for a", at::ALLOCS[0]),
        ("no room for b", at::ALLOCS[1]),
        ("no room for c", at::ALLOCS[2]),
        ("the row is not computed", at::ROW),
        ("a is not read", at::READ_A),
        ("c is not filled", at::FILL),
        ("the first token is not ready", at::READY),
        ("halves do not change", at::HALF),
        ("always the first panel", at::PANEL),
        ("b is not read", at::READ_B),
        ("always the first column of a", at::COLUMN),
        ("no wait for b", at::WAIT_B),
        ("no wait for the round before", at::WAIT_BEFORE),
        ("always the first column of b", at::INNER_COLUMN),
        ("no wait for the products", at::WAIT_MULTIPLIED),
        ("no wait for the result", at::WAIT_WRITTEN),
    ];
    let mut mutants: Vec<Mutant> =
        all.into_iter().map(|(name, path)| mutant(name, move |p| p.drop(path))).collect();
    mutants.push(mutant("nothing is multiplied", |p| p.drop(at::MULTIPLY)));
    mutants.push(mutant("nothing is written", |p| p.drop(at::WRITE)));
    mutants
}

fn moved() -> Vec<Mutant> {
    vec![
        mutant("a row of a too few", |p| p.moved(at::READ_A).0[0] = 3),
        mutant("a column of a too few", |p| p.moved(at::READ_A).0[1] = 15),
        mutant("rows of a too near in memory", |p| p.moved(at::READ_A).1[0] = 15),
        mutant("rows of a too near in the scratchpad", |p| p.moved(at::READ_A).2[0] = 15),
        mutant("rows of a too far in the scratchpad", |p| p.moved(at::READ_A).2[0] = 17),
        mutant("a row of b too few", |p| p.moved(at::READ_B).0[0] = 3),
        mutant("one row of b again and again", |p| p.moved(at::READ_B).1[0] = 0),
        mutant("b is transposed", |p| *p.moved(at::READ_B).2 = vec![1, 4]),
        mutant("b begins a column too late", |p| {
            let one = p.constant(1);
            p.ends(at::READ_B).0.indices[1] = one;
        }),
        mutant("a begins a row too late", |p| {
            let four = p.constant(4);
            p.ends(at::READ_A).0.indices[0] = four;
        }),
        mutant("b is read from x", |p| p.ends(at::READ_B).0.memref = 0),
        mutant("a is read from w", |p| p.ends(at::READ_A).0.memref = 1),
        mutant("b is written over a", |p| {
            *p.ends(at::READ_B).1 = p.ends(at::READ_A).1.clone();
        }),
        mutant("b goes to the other half", |p| {
            let one = p.constant(1);
            p.ends(at::READ_B).1.indices[0] = one;
        }),
        mutant("b goes out instead of in", |p| {
            if let Op::Transfer { way, .. } = p.op(at::READ_B) {
                *way = OUT;
            }
        }),
        mutant("a column of the result too few", |p| p.moved(at::WRITE).0[1] = 15),
        mutant("rows of the result too near", |p| p.moved(at::WRITE).2[0] = 15),
        mutant("the result is a, not c", |p| p.ends(at::WRITE).0.memref = A as u32),
        mutant("the result goes to the first row", |p| {
            let zero = p.constant(0);
            p.ends(at::WRITE).1.indices[0] = zero;
        }),
        mutant("the result goes to w", |p| p.ends(at::WRITE).1.memref = 1),
        mutant("c is filled in part", |p| {
            if let Op::Fill { sizes, .. } = p.op(at::FILL) {
                sizes[0] = 3;
            }
        }),
        mutant("c is filled with ones", |p| {
            if let Op::Fill { value, .. } = p.op(at::FILL) {
                *value = Scalar::f32(1.0);
            }
        }),
    ]
}

fn computed() -> Vec<Mutant> {
    vec![
        mutant("operands are swapped", |p| p.views().swap(0, 1)),
        mutant("c instead of a", |p| p.views()[0] = p.views()[2].clone()),
        mutant("the sum goes to b", |p| p.views()[2] = p.views()[1].clone()),
        mutant("the other half of b", |p| {
            let one = p.constant(1);
            p.views()[1].indices[0] = one;
        }),
        mutant("halves lie two apart", |p| {
            if let Op::Set { value: Value::Binary { op, .. }, .. } = p.op(at::HALF) {
                *op = BinaryOp::MulI;
            }
        }),
        mutant("a round too few", |p| *p.bounds(at::LOOP).1 = p.constant(3)),
        mutant("a round too late", |p| *p.bounds(at::LOOP).0 = p.constant(1)),
        mutant("a round too many", |p| *p.bounds(at::LOOP).1 = p.constant(5)),
        mutant("a column too few", |p| *p.bounds(at::INNER).1 = p.constant(3)),
        mutant("every other column", |p| *p.bounds(at::INNER).2 = p.constant(2)),
        mutant("a step of nothing", |p| *p.bounds(at::INNER).2 = p.constant(0)),
        mutant("a wait for the wrong token", |p| *p.op(at::WAIT_B) = Op::Wait(vec![0])),
        mutant("a wait before the transfer", |p| p.body(at::LOOP).swap(2, 4)),
        mutant("a token under the wrong name", |p| {
            if let Op::Invoke { token, .. } = p.op(at::MULTIPLY) {
                *token = Some(2);
            }
        }),
        mutant("a has a row too few", |p| p.shape(A, &[3, 16])),
        mutant("b has one half", |p| p.shape(B, &[1, 4, 16])),
        mutant("b has longer rows", |p| p.shape(B, &[2, 4, 20])),
        mutant("c has shorter rows", |p| p.shape(C, &[4, 12])),
        mutant("c lies in the wrong memory", |p| p.kernel().memrefs[C].memory = REG),
    ]
}

fn planned() -> Vec<Mutant> {
    vec![
        mutant("no wait of step 2", |p| p.plan.steps[2].waits.clear()),
        mutant("no wait of step 3", |p| p.plan.steps[3].waits.clear()),
        mutant("a wait for the wrong step", |p| p.plan.steps[2].waits = vec![1]),
        mutant("an rTask of step 1 too few", |p| p.plan.steps[1].end = 3),
        mutant("an rTask of step 0 too late", |p| p.plan.steps[0].begin = 1),
        mutant("buffers of step 0 are swapped", |p| p.plan.steps[0].buffers.swap(0, 1)),
        mutant("step 2 reads x again", |p| p.plan.steps[2].buffers[0] = 0),
        mutant("step 3 writes the arena", |p| p.plan.steps[3].buffers[2] = 3),
        mutant("two buffers overlap", |p| {
            p.plan.arena_bytes = 2048;
            let moved = weft_runtime::plan::Buffer { offset: 512, ..p.plan.buffers[3] };
            p.plan.buffers.push(moved);
            p.plan.steps[3].buffers[0] = 5;
        }),
    ]
}

#[test]
fn n_2_every_mutant_is_caught() {
    let inputs = [numbers(256, 4), numbers(256, 5), numbers(256, 6)];
    let right = run(&code(), &plan(), &inputs).unwrap_or_else(|error| panic!("{error}"));
    let h = multiplied(&inputs[0], &inputs[1], 16);
    assert_eq!(right[0], multiplied(&h, &inputs[2], 16));
    let all = [dropped(), moved(), computed(), planned()].into_iter().flatten();
    let mut errors = 0;
    let mut missed = Vec::new();
    let mut count = 0;
    for (name, spoil) in all {
        let mut program = Program { code: code(), plan: plan() };
        spoil(&mut program);
        count += 1;
        match run(&program.code, &program.plan, &inputs) {
            Err(error) => {
                errors += 1;
                // Whatever is wrong is said without a stack of causes, and timing survives it.
                assert!(!error.to_string().is_empty());
            }
            Ok(found) if found == right => missed.push(name),
            Ok(_) => {}
        }
        if let Ok(simulator) = Simulator::new(&program.code, &program.plan) {
            let _ = simulator.time(false);
        }
    }
    assert!(count >= 50, "{count} mutants");
    assert_eq!(missed, Vec::<&str>::new(), "of {count} mutants, {errors} gave an error");
    assert!(errors >= 35, "{errors} of {count} mutants gave an error");
}
