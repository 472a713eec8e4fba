//! Running a program: statements in order, each nest as it was scheduled beforehand.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::env::{Env, Memories, Memory};
use super::error::{ProgramLocation, VmError};
use super::eval::Registers;
use super::exec;
use super::inst::Inst;
use super::nest::Scheduled;
use super::program::{Nest, Program, Stmt, TensorId};
use super::validate::register_types;

impl Program {
    /// Runs the program on its inputs, in the order of [`Program::inputs`], each as the bytes
    /// of its elements at any alignment, and returns its outputs likewise.
    ///
    /// # Errors
    ///
    /// Whatever [`Program::validate`] refuses, inputs of the wrong number or size, and what can
    /// go wrong on the way: a division by zero or an address outside of a tensor.
    pub fn run(&self, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, VmError> {
        self.prepare()?.run(inputs)
    }

    /// Runs the program in memory that the caller gives; results stay there.
    pub fn run_in(&self, env: &mut Env<'_>) -> Result<(), VmError> {
        self.prepare()?.run_in(env)
    }

    /// Checks and schedules the program once, to be run many times.
    pub fn prepare(&self) -> Result<Prepared<'_>, VmError> {
        let (body, written) = self.scheduled()?;
        Ok(Prepared { program: Cow::Borrowed(self), body, written })
    }

    /// As [`Program::prepare`], keeping the program.
    pub fn into_prepared(self) -> Result<Prepared<'static>, VmError> {
        let (body, written) = self.scheduled()?;
        Ok(Prepared { program: Cow::Owned(self), body, written })
    }

    /// Returns whether anything that the program does depends on what a tensor holds at first or
    /// later; what is only written does not.
    pub fn looks_at(&self, tensor: TensorId) -> bool {
        self.body.iter().any(|stmt| stmt.looks_at(tensor))
    }

    fn scheduled(&self) -> Result<(Vec<Node>, BTreeSet<TensorId>), VmError> {
        self.validate()?;
        let mut written = BTreeSet::new();
        let body = self.schedule(&self.body, 0, &mut Vec::new(), &mut written)?;
        Ok((body, written))
    }

    fn schedule(
        &self,
        stmts: &[Stmt],
        first: u32,
        path: &mut Vec<u32>,
        written: &mut BTreeSet<TensorId>,
    ) -> Result<Vec<Node>, VmError> {
        let mut nodes = Vec::with_capacity(stmts.len());
        for (i, stmt) in stmts.iter().enumerate() {
            path.push(first + i as u32);
            nodes.push(match stmt {
                Stmt::Nest(nest) => {
                    written.extend(writes(nest));
                    let types = register_types(&self.tensors, nest, path)?;
                    let place = ProgramLocation { path: path.clone(), part: None };
                    Node::Nest(Box::new(Scheduled::new(&self.tensors, nest, &types, place)))
                }
                Stmt::Loop { count, counter, body } => {
                    written.insert(*counter);
                    let body = self.schedule(body, 0, path, written)?;
                    Node::Loop { count: *count, counter: *counter, body }
                }
                Stmt::While { before, condition, body } => Node::While {
                    before: self.schedule(before, 0, path, written)?,
                    condition: *condition,
                    body: self.schedule(body, before.len() as u32, path, written)?,
                },
                Stmt::If { condition, then, otherwise } => Node::If {
                    condition: *condition,
                    then: self.schedule(then, 0, path, written)?,
                    otherwise: self.schedule(otherwise, then.len() as u32, path, written)?,
                },
            });
            path.pop();
        }
        Ok(nodes)
    }
}

impl Stmt {
    fn looks_at(&self, tensor: TensorId) -> bool {
        let any = |body: &[Stmt]| body.iter().any(|stmt| stmt.looks_at(tensor));
        match self {
            Stmt::Nest(nest) => nest.looks_at(tensor),
            Stmt::Loop { count, counter, body } => [count, counter].contains(&&tensor) || any(body),
            Stmt::While { before, condition, body } => {
                *condition == tensor || any(before) || any(body)
            }
            Stmt::If { condition, then, otherwise } => {
                *condition == tensor || any(then) || any(otherwise)
            }
        }
    }
}

impl Nest {
    /// Returns whether a register that is loaded from the tensor has a use.
    fn looks_at(&self, tensor: TensorId) -> bool {
        let mut used = vec![false; self.loads.len() + self.body.len()];
        let mut computed = false;
        for inst in &self.body {
            computed |= matches!(inst, Inst::LoadAt { tensor: from, .. } if *from == tensor);
            inst.for_each_operand(|r| used[r as usize] = true);
        }
        self.stores.iter().for_each(|(_, r)| used[*r as usize] = true);
        for scatter in &self.scatters {
            used[scatter.address as usize] = true;
            used[scatter.value as usize] = true;
        }
        computed || self.loads.iter().zip(used).any(|(load, used)| used && load.tensor == tensor)
    }
}

fn writes(nest: &Nest) -> impl Iterator<Item = TensorId> {
    let stores = nest.stores.iter().map(|(access, _)| access.tensor);
    stores.chain(nest.scatters.iter().map(|s| s.tensor))
}

/// Registers of a running program, kept from one run to the next.
#[derive(Default)]
pub struct RunScratch(Registers);

/// A program that was checked and scheduled.
#[derive(Debug)]
pub struct Prepared<'p> {
    program: Cow<'p, Program>,
    body: Vec<Node>,
    written: BTreeSet<TensorId>,
}

#[derive(Debug)]
enum Node {
    Nest(Box<Scheduled>),
    Loop { count: TensorId, counter: TensorId, body: Vec<Node> },
    While { before: Vec<Node>, condition: TensorId, body: Vec<Node> },
    If { condition: TensorId, then: Vec<Node>, otherwise: Vec<Node> },
}

impl Prepared<'_> {
    /// See [`Program::run`].
    pub fn run(&self, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, VmError> {
        let (expected, found) = (self.program.inputs.len(), inputs.len());
        if expected != found {
            return Err(VmError::InputCount { expected, found });
        }
        let mut env = Env::new(&self.program);
        for (&tensor, bytes) in self.program.inputs.iter().zip(inputs) {
            if self.written.contains(&tensor) {
                env.give(tensor, bytes.to_vec());
            } else {
                env.bind(tensor, bytes);
            }
        }
        self.run_in(&mut env)?;
        let outputs = &self.program.outputs;
        Ok(outputs
            .iter()
            .enumerate()
            // A tensor may be returned twice; only its last mention takes it out.
            .map(
                |(i, &t)| {
                    if outputs[i + 1..].contains(&t) { env.get(t).to_vec() } else { env.take(t) }
                },
            )
            .collect())
    }

    /// See [`Program::run_in`].
    pub fn run_in(&self, env: &mut Env<'_>) -> Result<(), VmError> {
        env.complete(&self.program)?;
        for &tensor in &self.written {
            if let Memory::Read(_) = env.tensors[tensor as usize] {
                return Err(VmError::ReadOnly { tensor });
            }
        }
        self.run_nodes(&self.body, env, &mut Registers::default())
    }

    /// Runs the program where its tensors lie, without taking memory once `scratch` has it:
    /// a program that is run millions of times, as an instruction on a simulated machine.
    ///
    /// # Errors
    ///
    /// Memory of another size than declared, and what [`Program::run`] can end with.
    pub fn run_on<M: Memories>(
        &self,
        memories: &mut M,
        scratch: &mut RunScratch,
    ) -> Result<(), VmError> {
        for (i, decl) in self.program.tensors.iter().enumerate() {
            let tensor = i as TensorId;
            let found = memories.bytes(tensor).len() as u64;
            let expected = decl.len * decl.ty.bytes() as u64;
            if found != expected {
                return Err(VmError::InputSize { tensor, expected, found });
            }
        }
        self.run_nodes(&self.body, memories, &mut scratch.0)
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    fn run_nodes<M: Memories>(
        &self,
        nodes: &[Node],
        env: &mut M,
        registers: &mut Registers,
    ) -> Result<(), VmError> {
        for node in nodes {
            match node {
                Node::Nest(nest) => exec::run(nest, env, registers)?,
                Node::Loop { count, counter, body } => {
                    let rounds = self.read_int(env, *count);
                    for round in 0..rounds {
                        env.bytes_mut(*counter)[..8].copy_from_slice(&round.to_le_bytes());
                        self.run_nodes(body, env, registers)?;
                    }
                }
                Node::While { before, condition, body } => loop {
                    self.run_nodes(before, env, registers)?;
                    if self.read_int(env, *condition) == 0 {
                        break;
                    }
                    self.run_nodes(body, env, registers)?;
                },
                Node::If { condition, then, otherwise } => {
                    let taken = self.read_int(env, *condition) != 0;
                    self.run_nodes(if taken { then } else { otherwise }, env, registers)?;
                }
            }
        }
        Ok(())
    }

    /// Element 0 of an integer tensor, with its sign.
    fn read_int<M: Memories>(&self, env: &M, tensor: TensorId) -> i64 {
        let bytes = self.program.tensors[tensor as usize].ty.bytes();
        let mut wide = [0; 8];
        wide[..bytes].copy_from_slice(&env.bytes(tensor)[..bytes]);
        let unused = 64 - 8 * bytes as u32;
        i64::from_le_bytes(wide) << unused >> unused
    }
}
