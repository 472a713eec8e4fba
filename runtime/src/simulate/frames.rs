//! Between the memories of the machine and the tensors of the virtual machine's programs.

use std::cell::RefCell;

use super::area::Area;
use super::flights::Extent;
use super::machine::Instruction;
use super::prepare::{Apply, Ready, ReadyMeaning, Site};
use super::regions::Region;
use super::walker::Walker;
use crate::vm::{Memories, RunScratch, TensorId, VmError, split_one};

/// The tensors of an instruction's meaning.
#[derive(Debug, Default)]
pub(super) struct Frame {
    tensors: Vec<Vec<u8>>,
    /// The slots that start as zeros and are read.
    zeroed: Vec<TensorId>,
}

/// The frame of a meaning; constants are in their places.
pub(super) fn meaning((ready, instruction): (&ReadyMeaning<'_>, &Instruction)) -> Frame {
    let program = ready.program.program();
    let size = |decl: &crate::vm::TensorDecl| vec![0; decl.len as usize * decl.ty.bytes()];
    let mut tensors: Vec<Vec<u8>> = program.tensors.iter().map(size).collect();
    let meaning = &instruction.meaning;
    let constants = program.inputs[meaning.operands.len()..].iter().zip(&meaning.constants);
    for (&tensor, bytes) in constants {
        tensors[tensor as usize].clone_from(bytes);
    }
    let zeroed = (0..tensors.len() as TensorId)
        .filter(|tensor| !program.inputs.contains(tensor) && program.looks_at(*tensor));
    Frame { zeroed: zeroed.collect(), tensors }
}

impl Frame {
    /// Before each run.
    pub fn begin(&mut self) {
        for &tensor in &self.zeroed {
            self.tensors[tensor as usize].fill(0);
        }
    }

    /// Gives a tensor its elements.
    pub fn put(&mut self, tensor: TensorId, source: &[u8], area: &Area, base: u64) {
        let to = &mut self.tensors[tensor as usize];
        let run = area.run as usize;
        for (to, &start) in to.chunks_exact_mut(run.max(1)).zip(&area.starts) {
            let begin = base.wrapping_add_signed(start) as usize;
            to.copy_from_slice(&source[begin..begin + run]);
        }
    }

    /// The elements of a tensor.
    pub fn get(&self, tensor: TensorId) -> &[u8] {
        &self.tensors[tensor as usize]
    }
}

impl Memories for Frame {
    fn bytes(&self, tensor: TensorId) -> &[u8] {
        &self.tensors[tensor as usize]
    }

    fn bytes_mut(&mut self, tensor: TensorId) -> &mut [u8] {
        &mut self.tensors[tensor as usize]
    }

    fn split<const N: usize>(
        &mut self,
        reads: [TensorId; N],
        write: TensorId,
    ) -> ([&[u8]; N], &mut [u8]) {
        let (reads, write) = split_one(&mut self.tensors, reads, write);
        (reads.map(Vec::as_slice), write)
    }
}

/// Concatenates the parts of an area.
pub(super) fn gather(source: &[u8], area: &Area, base: u64, out: &mut Vec<u8>) {
    for &start in &area.starts {
        let begin = base.wrapping_add_signed(start) as usize;
        out.extend_from_slice(&source[begin..begin + area.run as usize]);
    }
}

/// Puts them back.
pub(super) fn scatter(target: &mut [u8], area: &Area, base: u64, values: &[u8]) {
    let run = area.run as usize;
    for (from, &start) in values.chunks_exact(run.max(1)).zip(&area.starts) {
        let begin = base.wrapping_add_signed(start) as usize;
        target[begin..begin + run].copy_from_slice(from);
    }
}

/// Sets every element of an area.
pub(super) fn fill(target: &mut [u8], area: &Area, base: u64, element: &[u8; 8]) {
    let element = &element[..area.elem as usize];
    for &start in &area.starts {
        let begin = base.wrapping_add_signed(start) as usize;
        for to in target[begin..begin + area.run as usize].chunks_exact_mut(element.len()) {
            to.copy_from_slice(element);
        }
    }
}

/// The tensors of an apply: small copies of its views, and its tables where they lie.
struct ApplyMemory<'a, 'r> {
    /// Per tensor: a part of `own`, or a table.
    parts: &'a [Part],
    own: &'a mut [u8],
    regions: &'a [Region<'r>],
    /// Tensor and address of each element of a table that was read.
    looked_at: RefCell<&'a mut Vec<(TensorId, i64)>>,
}

#[derive(Clone, Copy)]
pub(super) enum Part {
    Own { begin: usize, end: usize },
    Table { region: u32, begin: usize, end: usize },
}

impl Memories for ApplyMemory<'_, '_> {
    fn bytes(&self, tensor: TensorId) -> &[u8] {
        match self.parts[tensor as usize] {
            Part::Own { begin, end } => &self.own[begin..end],
            Part::Table { region, begin, end } => {
                &self.regions[region as usize].bytes()[begin..end]
            }
        }
    }

    fn bytes_mut(&mut self, tensor: TensorId) -> &mut [u8] {
        match self.parts[tensor as usize] {
            Part::Own { begin, end } => &mut self.own[begin..end],
            Part::Table { .. } => &mut [],
        }
    }

    fn looked_at(&self, tensor: TensorId, addresses: &[i64]) {
        self.looked_at.borrow_mut().extend(addresses.iter().map(|&address| (tensor, address)));
    }

    fn split<const N: usize>(
        &mut self,
        reads: [TensorId; N],
        write: TensorId,
    ) -> ([&[u8]; N], &mut [u8]) {
        let Part::Own { begin, end } = self.parts[write as usize] else {
            return (reads.map(|_| &[][..]), &mut []);
        };
        let (before, rest) = self.own.split_at_mut(begin);
        let (to, after) = rest.split_at_mut(end - begin);
        let (before, after, regions) = (&*before, &*after, self.regions);
        let parts = self.parts;
        let read = |tensor: TensorId| match parts[tensor as usize] {
            Part::Own { begin: b, end: e } if e <= begin => &before[b..e],
            Part::Own { begin: b, end: e } => &after[b - end..e - end],
            Part::Table { region, begin, end } => &regions[region as usize].bytes()[begin..end],
        };
        (reads.map(read), to)
    }
}

/// An apply of a kernel, and where its operands lie.
pub(super) struct Applied<'a> {
    pub apply: &'a Apply,
    pub site: &'a Site,
    pub extents: &'a [Extent],
    pub ready: &'a Ready<'a>,
    pub walker: &'a Walker,
}

impl Applied<'_> {
    /// Runs the body; says which elements of tables it looked at.
    pub fn run(&self, regions: &mut [Region<'_>], work: &mut ApplyScratch) -> Result<(), VmError> {
        let Applied { apply, site, extents, ready, walker } = *self;
        let ApplyScratch { own, parts, looked_at, registers } = work;
        own.clear();
        parts.clear();
        looked_at.clear();
        for (side, extent) in site.sides.iter().zip(extents) {
            let begin = own.len();
            if side.uses.reads() {
                gather(regions[extent.region as usize].bytes(), &side.area, extent.base, own);
            } else {
                own.resize(begin + side.area.bytes() as usize, 0);
            }
            parts.push(Part::Own { begin, end: own.len() });
        }
        for &table in &apply.tables {
            let home = walker.homes[table as usize];
            let bytes = ready.kernel.memrefs[table as usize].bytes();
            let (begin, end) = (home.begin as usize, (home.begin + bytes) as usize);
            parts.push(Part::Table { region: home.region, begin, end });
        }
        if !apply.indices.is_empty() {
            let begin = own.len();
            for &slot in &apply.indices {
                own.extend_from_slice(&walker.slots[slot as usize].to_le_bytes());
            }
            parts.push(Part::Own { begin, end: own.len() });
        }
        let mut memory = ApplyMemory { parts, own, regions, looked_at: RefCell::new(looked_at) };
        apply.work.run_on(&mut memory, registers)?;
        for ((side, extent), part) in site.sides.iter().zip(extents).zip(parts.iter()) {
            if let (true, Part::Own { begin, end }) = (side.uses.writes(), *part) {
                let target = regions[extent.region as usize].bytes_mut();
                scatter(target, &side.area, extent.base, &own[begin..end]);
            }
        }
        Ok(())
    }
}

/// Memory that applies use one after the other.
#[derive(Default)]
pub(super) struct ApplyScratch {
    own: Vec<u8>,
    parts: Vec<Part>,
    /// Tensor and address of each element of a table that was read.
    pub looked_at: Vec<(TensorId, i64)>,
    pub registers: RunScratch,
}
