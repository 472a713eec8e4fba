//! The memory a program runs in.

use super::error::VmError;
use super::program::{Program, TensorId};

/// Memory for each tensor of a program. Tensors that are not bound get zeroed memory of their
/// own when the program runs, and keep what a run leaves in them.
#[derive(Debug, Default)]
pub struct Env<'a> {
    pub(super) tensors: Vec<Memory<'a>>,
}

#[derive(Debug, Default)]
pub(super) enum Memory<'a> {
    #[default]
    Unset,
    Read(&'a [u8]),
    Write(&'a mut [u8]),
    Owned(Vec<u8>),
}

impl Memory<'_> {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Memory::Unset => &[],
            Memory::Read(m) => m,
            Memory::Write(m) => m,
            Memory::Owned(m) => m,
        }
    }

    /// # Panics
    ///
    /// On read-only memory; [`super::Prepared`] refuses it for tensors that are written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Unset => &mut [],
            Memory::Read(_) => unreachable!("written tensors are bound to writable memory"),
            Memory::Write(m) => m,
            Memory::Owned(m) => m,
        }
    }
}

/// The memory of a program's tensors while it runs.
pub trait Memories {
    /// The bytes of a tensor, as many as its declaration says.
    fn bytes(&self, tensor: TensorId) -> &[u8];
    /// Returns the memory of a tensor that the program writes.
    fn bytes_mut(&mut self, tensor: TensorId) -> &mut [u8];
    /// Elements of a tensor are read at these addresses, which were computed and are inside.
    fn looked_at(&self, _tensor: TensorId, _addresses: &[i64]) {}
    /// A tensor that is written, and others that are read meanwhile.
    fn split<const N: usize>(
        &mut self,
        reads: [TensorId; N],
        write: TensorId,
    ) -> ([&[u8]; N], &mut [u8]);
}

/// Takes one item of a slice out for writing, for [`Memories::split`].
pub fn split_one<T, const N: usize>(
    items: &mut [T],
    reads: [TensorId; N],
    write: TensorId,
) -> ([&T; N], &mut T) {
    let (before, rest) = items.split_at_mut(write as usize);
    let (to, after) = rest.split_at_mut(1);
    let (before, after) = (&*before, &*after);
    let of = |id: TensorId| {
        if id < write { &before[id as usize] } else { &after[(id - write) as usize - 1] }
    };
    (reads.map(of), &mut to[0])
}

impl Memories for Env<'_> {
    fn bytes(&self, tensor: TensorId) -> &[u8] {
        self.tensors[tensor as usize].bytes()
    }

    fn bytes_mut(&mut self, tensor: TensorId) -> &mut [u8] {
        self.tensors[tensor as usize].bytes_mut()
    }

    fn split<const N: usize>(
        &mut self,
        reads: [TensorId; N],
        write: TensorId,
    ) -> ([&[u8]; N], &mut [u8]) {
        let (reads, write) = split_one(&mut self.tensors, reads, write);
        (reads.map(Memory::bytes), write.bytes_mut())
    }
}

impl<'a> Env<'a> {
    /// No tensor bound yet.
    pub fn new(program: &Program) -> Env<'a> {
        Env { tensors: program.tensors.iter().map(|_| Memory::Unset).collect() }
    }

    /// Binds a tensor to memory that is read; any alignment will do. A tensor that the program
    /// does not have is ignored.
    pub fn bind(&mut self, tensor: TensorId, bytes: &'a [u8]) {
        self.set(tensor, Memory::Read(bytes));
    }

    /// Binds a tensor to memory that is read and written, such as a mapped file. Its
    /// initial content is that of the memory.
    pub fn bind_mut(&mut self, tensor: TensorId, bytes: &'a mut [u8]) {
        self.set(tensor, Memory::Write(bytes));
    }

    /// Gives a tensor memory of its own with these contents.
    pub fn give(&mut self, tensor: TensorId, bytes: Vec<u8>) {
        self.set(tensor, Memory::Owned(bytes));
    }

    /// Returns the bytes of a tensor; empty before the first run unless it was bound.
    pub fn get(&self, tensor: TensorId) -> &[u8] {
        self.tensors.get(tensor as usize).map_or(&[], Memory::bytes)
    }

    /// Takes a tensor's contents out, copying them if the memory is the caller's.
    pub fn take(&mut self, tensor: TensorId) -> Vec<u8> {
        match self.tensors.get_mut(tensor as usize).map(std::mem::take) {
            Some(Memory::Owned(bytes)) => bytes,
            Some(other) => other.bytes().to_vec(),
            None => Vec::new(),
        }
    }

    fn set(&mut self, tensor: TensorId, memory: Memory<'a>) {
        if let Some(slot) = self.tensors.get_mut(tensor as usize) {
            *slot = memory;
        }
    }

    /// Zeroed memory for what is not bound, and a check of the size of what is.
    pub(super) fn complete(&mut self, program: &Program) -> Result<(), VmError> {
        let (expected, found) = (program.tensors.len(), self.tensors.len());
        if expected != found {
            return Err(VmError::Environment { expected, found });
        }
        for (i, (memory, decl)) in self.tensors.iter_mut().zip(&program.tensors).enumerate() {
            let tensor = i as TensorId;
            let bytes = decl.len * decl.ty.bytes() as u64;
            if let Memory::Unset = memory {
                let mut own = Vec::new();
                own.try_reserve_exact(bytes as usize)
                    .map_err(|_| VmError::Memory { tensor, bytes })?;
                own.resize(bytes as usize, 0);
                *memory = Memory::Owned(own);
            }
            let found = memory.bytes().len() as u64;
            if found != bytes {
                return Err(VmError::InputSize { tensor, expected: bytes, found });
            }
        }
        Ok(())
    }
}
