//! Programs as plain data, and the few methods that make writing them pleasant.

use serde::{Deserialize, Serialize};

use super::inst::Inst;
use super::ty::Ty;

/// A register of a nest: loads come first, then the body's instructions, one each.
pub type Reg = u32;

/// Index into [`Program::tensors`].
pub type TensorId = u32;

/// Tensors, and statements over them.
///
/// Tensors that are not inputs start as zeros. An input may be written; the caller's bytes are
/// then copied first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Every tensor, by id.
    pub tensors: Vec<TensorDecl>,
    /// Tensors given by the caller, in the order of the arguments of [`Program::run`].
    pub inputs: Vec<TensorId>,
    /// Tensors returned to the caller, in this order.
    pub outputs: Vec<TensorId>,
    /// Statements, run in order.
    pub body: Vec<Stmt>,
}

/// A tensor is a flat array; shapes live in the strides of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TensorDecl {
    /// Type of an element.
    pub ty: Ty,
    /// Number of elements.
    pub len: u64,
}

/// A statement. Loops and branches take their facts from element 0 of a tensor, so that a
/// nest over one point (no extents) computes what they depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stmt {
    /// A perfect loop nest.
    Nest(Nest),
    /// Runs `body` for each `i` in `0..count`, with `i` in element 0 of `counter`.
    Loop {
        /// Element 0, an integer read once before the loop, is the signed number of rounds.
        count: TensorId,
        /// A tensor of type [`Ty::Index`] that is set at the start of each round.
        counter: TensorId,
        /// The statements of one round.
        body: Vec<Stmt>,
    },
    /// Runs `before`; as long as element 0 of `condition` is then true, runs `body` and again.
    While {
        /// Computes the condition.
        before: Vec<Stmt>,
        /// A tensor of type [`Ty::I1`].
        condition: TensorId,
        /// The statements of one round.
        body: Vec<Stmt>,
    },
    /// Runs `then` if element 0 of `condition` is true, else `otherwise`.
    If {
        /// A tensor of type [`Ty::I1`].
        condition: TensorId,
        /// Runs if the condition is true.
        then: Vec<Stmt>,
        /// Runs if it is false.
        otherwise: Vec<Stmt>,
    },
}

impl From<Nest> for Stmt {
    fn from(nest: Nest) -> Stmt {
        Stmt::Nest(nest)
    }
}

/// A perfect loop nest. Points run in lexicographic order, axis 0 outermost.
///
/// At each point the loads fill registers 0.., each instruction of the body defines the next
/// register, then the stores happen in order, then the scatters. An accumulator is a load and
/// a store of the same access. No extents mean one point; an extent of zero means none.
///
/// `parallel[i]` is a promise: of two points whose coordinates along the parallel axes differ,
/// neither touches an element that the other writes. The machine then runs them in any order; a
/// broken promise gives unspecified values, never undefined behaviour. Where the accesses alone
/// show that an axis is parallel, the machine finds out for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nest {
    /// Number of points along each axis.
    pub extents: Vec<u64>,
    /// Which axes are parallel; as long as `extents`.
    pub parallel: Vec<bool>,
    /// Registers `0..loads.len()`.
    pub loads: Vec<Access>,
    /// Registers from `loads.len()` on.
    pub body: Vec<Inst>,
    /// The stores of each point.
    pub stores: Vec<(Access, Reg)>,
    /// The stores at computed addresses.
    pub scatters: Vec<Scatter>,
}

impl Nest {
    /// An empty nest with these extents and parallel axes.
    pub fn new(extents: &[u64], parallel: &[bool]) -> Nest {
        Nest { extents: extents.to_vec(), parallel: parallel.to_vec(), ..Nest::default() }
    }

    /// An empty nest whose axes are all parallel.
    pub fn parallel(extents: &[u64]) -> Nest {
        Nest::new(extents, &vec![true; extents.len()])
    }

    /// Adds a load and returns its register.
    ///
    /// # Panics
    ///
    /// If the body has begun: its registers are already numbered.
    pub fn load(&mut self, access: Access) -> Reg {
        assert!(self.body.is_empty(), "all loads come before the first instruction");
        self.loads.push(access);
        self.loads.len() as Reg - 1
    }

    /// Adds an instruction and returns the register it defines.
    pub fn inst(&mut self, inst: Inst) -> Reg {
        self.body.push(inst);
        (self.loads.len() + self.body.len()) as Reg - 1
    }

    /// Adds a store of a register.
    pub fn store(&mut self, access: Access, value: Reg) {
        self.stores.push((access, value));
    }

    /// Adds a store of a register at a computed address.
    pub fn store_at(&mut self, tensor: TensorId, address: Reg, value: Reg) {
        self.scatters.push(Scatter { tensor, address, value });
    }
}

/// An affine access: element address = `offset + Σ strides[i] * iv[i]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    /// The tensor.
    pub tensor: TensorId,
    /// Address at the first point, in elements.
    pub offset: i64,
    /// Elements per step along each axis of the nest; as long as its extents.
    pub strides: Vec<i64>,
}

impl Access {
    /// An access from its parts.
    pub fn new(tensor: TensorId, offset: i64, strides: &[i64]) -> Access {
        Access { tensor, offset, strides: strides.to_vec() }
    }
}

/// A store at a computed address. An address outside of the tensor ends the run with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scatter {
    /// The tensor.
    pub tensor: TensorId,
    /// Register with the linear element index, a signed integer of any width.
    pub address: Reg,
    /// Register with the value, of the tensor's element type.
    pub value: Reg,
}

impl Program {
    /// Declares a tensor that is neither input nor output.
    pub fn tensor(&mut self, ty: Ty, len: u64) -> TensorId {
        self.tensors.push(TensorDecl { ty, len });
        self.tensors.len() as TensorId - 1
    }

    /// Declares the next input.
    pub fn input(&mut self, ty: Ty, len: u64) -> TensorId {
        let id = self.tensor(ty, len);
        self.inputs.push(id);
        id
    }

    /// Declares the next output.
    pub fn output(&mut self, ty: Ty, len: u64) -> TensorId {
        let id = self.tensor(ty, len);
        self.outputs.push(id);
        id
    }

    /// Adds a statement.
    pub fn push(&mut self, stmt: impl Into<Stmt>) {
        self.body.push(stmt.into());
    }
}
