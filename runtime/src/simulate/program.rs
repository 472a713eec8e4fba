//! Kernels as plain data: structured operations on buffers in named memories.

use serde::{Deserialize, Serialize};

use super::machine::{Machine, MemoryId, Scope};
use crate::vm::{BinaryOp, CmpIPredicate, Nest, Scalar, TensorDecl, Ty};

/// An index value of a kernel, by number.
pub type Slot = u32;

/// A token of a kernel, by number.
pub type TokenSlot = u32;

/// Index into [`Kernel::memrefs`].
pub type MemRefId = u32;

/// The code section of a simulated artifact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// The machine that runs it.
    pub machine: Machine,
    /// The kernels, which plans name by symbol.
    pub kernels: Vec<Kernel>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its symbol.
    pub name: String,
    /// Number of rTasks.
    pub tasks: u64,
    /// The threads that run one rTask together: the widest scope of the registers it works in.
    pub group: Scope,
    /// Initial values of the index slots in each rTask; slot 0 gets the rTask's number.
    pub slots: Vec<i64>,
    /// Number of token slots.
    pub tokens: u32,
    /// The arguments, then what is allocated.
    pub memrefs: Vec<MemRef>,
    /// Number of them that are arguments.
    pub arguments: u32,
    /// The code of an rTask.
    pub body: Vec<Op>,
}

/// A buffer in a memory, dense and row-major.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemRef {
    /// The memory that holds it.
    pub memory: MemoryId,
    /// Type of an element.
    pub ty: Ty,
    /// Extents, outermost first.
    pub shape: Vec<u64>,
    /// Bytes of the capacity that it takes: whole registers in a register file.
    pub room_bytes: u64,
}

impl MemRef {
    /// Number of elements.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.elements() * self.ty.bytes() as u64
    }

    /// Elements between neighbours along each dimension.
    pub fn strides(&self) -> Vec<i64> {
        let mut strides = vec![1i64; self.shape.len()];
        for dim in (1..self.shape.len()).rev() {
            strides[dim - 1] = strides[dim] * self.shape[dim].max(1) as i64;
        }
        strides
    }
}

/// A buffer by its first element: one slot per dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The buffer.
    pub memref: MemRefId,
    /// Slots.
    pub indices: Vec<Slot>,
}

impl View {
    /// A view from its parts.
    pub fn new(memref: MemRefId, indices: &[Slot]) -> View {
        View { memref, indices: indices.to_vec() }
    }
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op {
    /// Index arithmetic.
    Set {
        /// The slot that is defined.
        to: Slot,
        /// The value of the slot.
        value: Value,
    },
    /// Runs its body for `counter` from `begin` to below `end`.
    For {
        /// Set before each round.
        counter: Slot,
        /// The first value.
        begin: Slot,
        /// Never reached.
        end: Slot,
        /// Above zero.
        step: Slot,
        /// One round.
        body: Vec<Op>,
    },
    /// Runs one of its bodies.
    If {
        /// Zero for `otherwise`.
        condition: Slot,
        /// Runs where it is not.
        then: Vec<Op>,
        /// Runs where it is.
        otherwise: Vec<Op>,
    },
    /// An allocation in a memory, until the end of the body around.
    Alloc(MemRefId),
    /// Element by element, along one dimension of each buffer.
    Copy {
        /// Index into [`Machine::moves`].
        way: u32,
        /// The views that are read.
        from: View,
        /// The views that are written.
        to: View,
        /// Number of elements.
        count: u64,
        /// The dimension along which it reads, and how far apart; none of a rank of 0.
        from_step: Option<(u32, u64)>,
        /// The dimension along which it writes, and how far apart.
        to_step: Option<(u32, u64)>,
        /// Elements after the last one that become zero: the rest of a register.
        zeros: u64,
        /// The token that it gives; present if the move has an engine.
        token: Option<TokenSlot>,
    },
    /// A box of elements.
    Transfer {
        /// Index into [`Machine::moves`].
        way: u32,
        /// The views that are read.
        from: View,
        /// The views that are written.
        to: View,
        /// Extents of the box, outermost first.
        sizes: Vec<u64>,
        /// Elements between neighbours where it is read.
        from_strides: Vec<i64>,
        /// Elements between neighbours where it is written.
        to_strides: Vec<i64>,
        /// The token that it gives; present if the move has an engine.
        token: Option<TokenSlot>,
    },
    /// A constant in a box.
    Fill {
        /// Index into [`Machine::moves`].
        way: u32,
        /// The views that are written.
        to: View,
        /// Extents of the box, outermost first.
        sizes: Vec<u64>,
        /// Elements between neighbours.
        strides: Vec<i64>,
        /// The constant.
        value: Scalar,
        /// The token that it gives; present if the move has an engine.
        token: Option<TokenSlot>,
    },
    /// An instruction, on views of its operands' shapes along their last dimensions.
    Invoke {
        /// Index into [`Machine::instructions`].
        instruction: u32,
        /// One per operand.
        views: Vec<View>,
        /// The token that it gives; present if the instruction has an engine.
        token: Option<TokenSlot>,
    },
    /// Scalar operations on lanes.
    Apply {
        /// Index into [`Machine::lanes`].
        unit: u32,
        /// True if lanes are combined into one element.
        combines: bool,
        /// The work.
        work: Work,
    },
    /// Waits for tokens.
    Wait(Vec<TokenSlot>),
    /// A token that is given already.
    Ready(TokenSlot),
    /// A token under another name.
    Keep {
        /// The other name.
        to: TokenSlot,
        /// The token.
        from: TokenSlot,
    },
    /// Waits until all of a scope are here.
    Barrier(Scope),
}

/// The computation of an index, in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Value {
    Copy(Slot),
    Binary { op: BinaryOp, a: Slot, b: Slot },
    Compare { predicate: CmpIPredicate, a: Slot, b: Slot },
    Select { condition: Slot, then: Slot, otherwise: Slot },
}

/// The body of a `device.apply` or `device.combine`: a nest, and what its tensors are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The tensors of the nest: first those of `views`, then those of `tables`, then, where
    /// `indices` has any, one of [`Ty::Index`] that holds them.
    pub tensors: Vec<TensorDecl>,
    /// The nest; its accesses begin where the views do.
    pub nest: Nest,
    /// Elements side by side, as many as their tensors hold.
    pub views: Vec<View>,
    /// The use of each view.
    pub uses: Vec<Use>,
    /// Buffers that the body reads at computed addresses.
    pub tables: Vec<MemRefId>,
    /// Index values that the body reads.
    pub indices: Vec<Slot>,
}

/// The use of a view's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Use {
    /// The elements are read.
    Read,
    /// The elements are overwritten.
    Write,
    /// The elements are read, then overwritten.
    Update,
}

impl Use {
    /// Returns whether what they held matters.
    pub fn reads(self) -> bool {
        self != Use::Write
    }

    /// Returns whether they change.
    pub fn writes(self) -> bool {
        self != Use::Read
    }
}
