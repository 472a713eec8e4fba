//! Running a program: statements in order, each nest as it was scheduled beforehand.

use std::collections::BTreeSet;

use super::env::{Env, Memory};
use super::error::{Place, VmError};
use super::eval::Registers;
use super::exec;
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
        self.validate()?;
        let mut written = BTreeSet::new();
        let body = self.schedule(&self.body, 0, &mut Vec::new(), &mut written)?;
        Ok(Prepared { program: self, body, written })
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
                    let place = Place { path: path.clone(), part: None };
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

fn writes(nest: &Nest) -> impl Iterator<Item = TensorId> {
    let stores = nest.stores.iter().map(|(access, _)| access.tensor);
    stores.chain(nest.scatters.iter().map(|s| s.tensor))
}

/// A program that was checked and scheduled.
pub struct Prepared<'p> {
    program: &'p Program,
    body: Vec<Node>,
    written: BTreeSet<TensorId>,
}

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
        let mut env = Env::new(self.program);
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
        env.complete(self.program)?;
        for &tensor in &self.written {
            if let Memory::Read(_) = env.tensors[tensor as usize] {
                return Err(VmError::ReadOnly { tensor });
            }
        }
        self.run_nodes(&self.body, env, &mut Registers::default())
    }

    fn run_nodes(
        &self,
        nodes: &[Node],
        env: &mut Env<'_>,
        registers: &mut Registers,
    ) -> Result<(), VmError> {
        for node in nodes {
            match node {
                Node::Nest(nest) => exec::run(nest, env, registers)?,
                Node::Loop { count, counter, body } => {
                    let rounds = self.read_int(env, *count);
                    for round in 0..rounds {
                        env.tensors[*counter as usize].bytes_mut()[..8]
                            .copy_from_slice(&round.to_le_bytes());
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
    fn read_int(&self, env: &Env<'_>, tensor: TensorId) -> i64 {
        let bytes = self.program.tensors[tensor as usize].ty.bytes();
        let mut wide = [0; 8];
        wide[..bytes].copy_from_slice(&env.get(tensor)[..bytes]);
        let unused = 64 - 8 * bytes as u32;
        i64::from_le_bytes(wide) << unused >> unused
    }
}
