//! N-2. Programs that the compiler made, with one thing wrong: each ends with an error, or with a
//! wrong result.

use std::collections::BTreeSet;

use weft_runtime::Artifact;
use weft_runtime::plan::Plan;
use weft_runtime::simulate::{Code, Op, SimulateError, Simulator, Value, View};
use weft_runtime::vm::{BinaryOp, Scalar};

use crate::desk::{Desk, machine};

/// A compiled program with its data.
struct Program {
    code: Code,
    plan: Plan,
    constants: Vec<u8>,
    inputs: Vec<Vec<u8>>,
}

impl Program {
    /// A product with ragged ends on the toy machine, whose transfers and multiplications run
    /// beside its cores.
    fn product(shape: &str) -> Self {
        let desk = Desk::new();
        desk.write("toy.mlir", machine("toy"));
        let product = "C[m,n] += A[m,k] * B[k,n]";
        let arguments = ["kernel", product, "--shape", shape, "--device", "toy.mlir"];
        desk.weft(&[&arguments[..], &["--emit", "weft", "-o", "k.weft"]].concat());
        let artifact = Artifact::open(&desk.path("k.weft")).expect("an artifact");
        let plan = artifact.plan().clone();
        let inputs = plan.inputs.iter().map(|port| weft_runtime::random::tensor(port, 7).bytes);
        Self {
            code: Code::from_bytes(artifact.code()).expect("simulated code"),
            inputs: inputs.collect(),
            constants: artifact.constants().to_vec(),
            plan,
        }
    }

    fn run(&self, code: &Code) -> Result<Vec<u8>, SimulateError> {
        let mut output = vec![0; self.plan.outputs[0].bytes().expect("a size") as usize];
        let inputs: Vec<&[u8]> = self.inputs.iter().map(Vec::as_slice).collect();
        let simulator = Simulator::new(code, &self.plan)?;
        simulator.run(&self.constants, &inputs, &mut [&mut output])?;
        Ok(output)
    }
}

/// Every operation of a body and of those inside, by its path.
fn paths(body: &[Op], around: &[usize], all: &mut Vec<Vec<usize>>) {
    for (i, op) in body.iter().enumerate() {
        let path = [around, &[i]].concat();
        match op {
            Op::For { body, .. } => paths(body, &path, all),
            Op::If { then, .. } => paths(then, &path, all),
            _ => {}
        }
        all.push(path);
    }
}

/// The slots that say where operands begin.
fn views(body: &[Op], placed: &mut BTreeSet<u32>) {
    for op in body {
        let views: Vec<&View> = match op {
            Op::For { body, .. } | Op::If { then: body, .. } => {
                self::views(body, placed);
                continue;
            }
            Op::Copy { from, to, .. } | Op::Transfer { from, to, .. } => vec![from, to],
            Op::Fill { to, .. } => vec![to],
            Op::Invoke { views, .. } => views.iter().collect(),
            Op::Apply { work, .. } => work.views.iter().collect(),
            _ => continue,
        };
        placed.extend(views.into_iter().flat_map(|view| view.indices.iter().copied()));
    }
}

fn body_at<'a>(body: &'a mut Vec<Op>, path: &[usize]) -> &'a mut Vec<Op> {
    path.iter().fold(body, |body, &i| match &mut body[i] {
        Op::For { body, .. } | Op::If { then: body, .. } => body,
        other => panic!("{other:?} has no body"),
    })
}

/// A way to spoil an operation; nothing where it does not apply.
type Spoil = fn(&mut Op, &mut Vec<i64>) -> Option<()>;

/// A slot that holds a number.
fn constant(slots: &mut Vec<i64>, value: i64) -> u32 {
    slots.push(value);
    slots.len() as u32 - 1
}

fn longest(sizes: &mut [u64]) -> Option<&mut u64> {
    sizes.iter_mut().max_by_key(|size| **size).filter(|size| **size > 1)
}

/// Where a box of more than one element along it has its largest stride.
fn farthest<'a>(strides: &'a mut [i64], sizes: &[u64]) -> Option<&'a mut i64> {
    let wide = strides.iter_mut().zip(sizes).filter(|(_, size)| **size > 1);
    wide.map(|(stride, _)| stride).max_by_key(|stride| **stride)
}

const SPOILS: [(&str, Spoil); 12] = [
    ("a smaller box", |op, _| match op {
        Op::Transfer { sizes, .. } | Op::Fill { sizes, .. } => {
            *longest(sizes)? -= 1;
            Some(())
        }
        _ => None,
    }),
    ("rows nearer where it reads", |op, _| match op {
        Op::Transfer { sizes, from_strides, .. } => {
            *farthest(from_strides, sizes)? -= 1;
            Some(())
        }
        _ => None,
    }),
    ("rows nearer where it writes", |op, _| match op {
        Op::Transfer { sizes, to_strides, .. } => {
            *farthest(to_strides, sizes)? -= 1;
            Some(())
        }
        _ => None,
    }),
    ("rows farther where it writes", |op, _| match op {
        Op::Transfer { sizes, to_strides, .. } => {
            *farthest(to_strides, sizes)? += 1;
            Some(())
        }
        _ => None,
    }),
    ("read one element later", |op, slots| match op {
        Op::Transfer { from, .. } => shift(from, slots),
        _ => None,
    }),
    ("written one element later", |op, slots| match op {
        Op::Transfer { to, .. } => shift(to, slots),
        _ => None,
    }),
    ("filled with ones", |op, _| match op {
        Op::Fill { value, .. } => {
            *value = Scalar::f32(1.0);
            Some(())
        }
        _ => None,
    }),
    ("operands swapped", |op, _| match op {
        Op::Invoke { views, .. } => {
            views.swap(0, 1);
            Some(())
        }
        _ => None,
    }),
    ("the sum somewhere else", |op, _| match op {
        Op::Invoke { views, .. } => {
            views[2] = views[0].clone();
            Some(())
        }
        _ => None,
    }),
    ("an operand twice", |op, _| match op {
        Op::Invoke { views, .. } => {
            views[1] = views[0].clone();
            Some(())
        }
        _ => None,
    }),
    ("a round too few", |op, slots| match op {
        Op::For { end, .. } => {
            let fewer = slots[*end as usize] - 1;
            *end = constant(slots, fewer);
            Some(())
        }
        _ => None,
    }),
    ("twice the step", |op, slots| match op {
        Op::For { step, begin, end, .. } => {
            let [begin, end, width] = [begin, end, &*step].map(|slot| slots[*slot as usize]);
            // A loop of one round does not step.
            (begin + width < end).then_some(())?;
            *step = constant(slots, 2 * width);
            Some(())
        }
        _ => None,
    }),
];

fn shift(view: &mut View, slots: &mut Vec<i64>) -> Option<()> {
    let last = view.indices.last_mut()?;
    let later = slots[*last as usize] + 1;
    *last = constant(slots, later);
    Some(())
}

/// Whether a program without this operation does the same. The first token of a loop matters
/// only where the loop has no round. A wait is implied by the next one, if only transfers are
/// between: their engine works in order.
fn changes_nothing(body: &[Op], at: usize) -> bool {
    match &body[at] {
        Op::Ready(_) | Op::Keep { .. } => true,
        Op::Wait(_) => {
            let engine = |op: &&Op| matches!(op, Op::Transfer { .. } | Op::Fill { .. });
            let rest = &body[at + 1..];
            let others = |op: &Op| !engine(&op) && !matches!(op, Op::Set { .. } | Op::Alloc(_));
            let next = rest.iter().position(others).unwrap_or(rest.len());
            rest[..next].iter().any(|op| engine(&op)) && matches!(rest.get(next), Some(Op::Wait(_)))
        }
        _ => false,
    }
}

/// Everything that can be wrong with one operation.
fn mutants(code: &Code) -> Vec<(String, Code)> {
    let mut mutants = Vec::new();
    for (number, kernel) in code.kernels.iter().enumerate() {
        let mut placed = BTreeSet::new();
        views(&kernel.body, &mut placed);
        let mut all = Vec::new();
        paths(&kernel.body, &[], &mut all);
        for path in all {
            let (last, around) = path.split_last().expect("a path");
            let mut changed = code.clone();
            let spoilt = &mut changed.kernels[number];
            let body = body_at(&mut spoilt.body, around);
            if changes_nothing(body, *last) {
                continue;
            }
            let op = body.remove(*last);
            let what = format!("{op:?}");
            let what = what.split([' ', '(']).next().unwrap_or_default().to_owned();
            // An index that is not computed may be right by chance; one too large is not, if
            // it is where an operand begins. What others are computed from may not matter.
            if let Op::Set { to, .. } = op {
                if !placed.contains(&to) {
                    continue;
                }
                let value =
                    Value::Binary { op: BinaryOp::AddI, a: to, b: constant(&mut spoilt.slots, 1) };
                body.insert(*last, op);
                body.insert(*last + 1, Op::Set { to, value });
            }
            mutants.push((format!("@{} {path:?} {what} dropped or off", kernel.name), changed));
            for (name, spoil) in SPOILS {
                let mut changed = code.clone();
                let kernel = &mut changed.kernels[number];
                let mut slots = std::mem::take(&mut kernel.slots);
                let op = &mut body_at(&mut kernel.body, around)[*last];
                if spoil(op, &mut slots).is_some() {
                    kernel.slots = slots;
                    mutants.push((format!("@{} {path:?} {what}: {name}", kernel.name), changed));
                }
            }
        }
    }
    mutants
}

#[test]
fn n_2_every_mutant_of_a_kernel_is_caught() {
    for shape in ["m=10,n=14,k=11", "m=72,n=40,k=52"] {
        all_are_caught(&Program::product(shape));
    }
}

fn all_are_caught(program: &Program) {
    let right = program.run(&program.code).expect("a sound program");
    let mutants = mutants(&program.code);
    let mut missed = Vec::new();
    let count = mutants.len();
    for (name, code) in mutants {
        if program.run(&code).is_ok_and(|found| found == right) {
            missed.push(name);
        }
    }
    assert!(count >= 50, "{count} mutants");
    assert!(
        missed.is_empty(),
        "of {count} mutants, {} were missed:\n{}",
        missed.len(),
        missed.join("\n")
    );
}
