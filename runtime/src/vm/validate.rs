//! Checks everything that must hold before a program runs, so that running it never panics.

use std::collections::BTreeSet;

use super::error::{Part, ProgramLocation, VmError};
use super::inst::{CastOp, Inst};
use super::program::{Access, Nest, Program, Reg, Stmt, TensorDecl, TensorId};
use super::ty::Ty;

/// Statements may be nested this deep; running and freeing them recurses.
const DEPTH_LIMIT: usize = 64;

impl Program {
    /// Checks every tensor id, register, type and address range.
    pub fn validate(&self) -> Result<(), VmError> {
        let count = self.tensors.len();
        for (tensor, t) in self.tensors.iter().enumerate() {
            let bytes = t.len.checked_mul(t.ty.bytes() as u64);
            if bytes.is_none_or(|bytes| bytes > isize::MAX as u64) {
                return Err(VmError::TooLarge { tensor: tensor as TensorId, len: t.len, ty: t.ty });
            }
        }
        for (what, ids) in [("an input", &self.inputs), ("an output", &self.outputs)] {
            if let Some(&tensor) = ids.iter().find(|&&id| id as usize >= count) {
                return Err(VmError::PortTensor { what, tensor, count });
            }
        }
        let mut seen = BTreeSet::new();
        if let Some(&tensor) = self.inputs.iter().find(|&&id| !seen.insert(id)) {
            return Err(VmError::InputTwice { tensor });
        }
        self.check_stmts(&self.body, 0, &mut Vec::new())
    }

    fn check_stmts(&self, stmts: &[Stmt], first: u32, path: &mut Vec<u32>) -> Result<(), VmError> {
        if path.len() >= DEPTH_LIMIT {
            let place = ProgramLocation { path: path.clone(), part: None };
            return Err(VmError::Depth { place, limit: DEPTH_LIMIT });
        }
        for (i, stmt) in stmts.iter().enumerate() {
            path.push(first + i as u32);
            match stmt {
                Stmt::Nest(nest) => {
                    register_types(&self.tensors, nest, path)?;
                }
                Stmt::Loop { count, counter, body } => {
                    self.check_control(*count, Ty::is_int, "an integer", path)?;
                    self.check_control(*counter, |ty| ty == Ty::Index, "index", path)?;
                    self.check_stmts(body, 0, path)?;
                }
                Stmt::While { before, condition, body } => {
                    self.check_control(*condition, |ty| ty == Ty::I1, "i1", path)?;
                    self.check_stmts(before, 0, path)?;
                    self.check_stmts(body, before.len() as u32, path)?;
                }
                Stmt::If { condition, then, otherwise } => {
                    self.check_control(*condition, |ty| ty == Ty::I1, "i1", path)?;
                    self.check_stmts(then, 0, path)?;
                    self.check_stmts(otherwise, then.len() as u32, path)?;
                }
            }
            path.pop();
        }
        Ok(())
    }

    /// A tensor whose element 0 steers a statement.
    fn check_control(
        &self,
        tensor: TensorId,
        accepts: impl Fn(Ty) -> bool,
        expected: &'static str,
        path: &[u32],
    ) -> Result<(), VmError> {
        let place = || ProgramLocation { path: path.to_vec(), part: None };
        let decl = self.tensors.get(tensor as usize).ok_or_else(|| VmError::NoTensor {
            place: place(),
            tensor,
            count: self.tensors.len(),
        })?;
        if decl.len == 0 || !accepts(decl.ty) {
            let (found, len) = (decl.ty, decl.len);
            return Err(VmError::Control { place: place(), tensor, found, len, expected });
        }
        Ok(())
    }
}

/// Checks a nest and returns the type of each of its registers.
pub(super) fn register_types(
    tensors: &[TensorDecl],
    nest: &Nest,
    path: &[u32],
) -> Result<Vec<Ty>, VmError> {
    let check = Check { tensors, nest, path };
    check.shape()?;
    let mut types = Vec::with_capacity(nest.loads.len() + nest.body.len());
    for (i, access) in nest.loads.iter().enumerate() {
        types.push(check.access(access, Part::Load(i as u32))?.ty);
    }
    for (i, inst) in nest.body.iter().enumerate() {
        types.push(check.inst(inst, &types, Part::Inst(i as u32))?);
    }
    for (i, (access, value)) in nest.stores.iter().enumerate() {
        let part = Part::Store(i as u32);
        let tensor = check.access(access, part)?;
        check.stored(access.tensor, tensor.ty, *value, &types, part)?;
        check.moves_along_parallel_axes(access, part)?;
    }
    for (i, scatter) in nest.scatters.iter().enumerate() {
        let part = Part::Scatter(i as u32);
        let tensor = check.tensor(scatter.tensor, part)?;
        check.address(scatter.address, &types, part)?;
        check.stored(scatter.tensor, tensor.ty, scatter.value, &types, part)?;
    }
    Ok(types)
}

struct Check<'a> {
    tensors: &'a [TensorDecl],
    nest: &'a Nest,
    path: &'a [u32],
}

impl Check<'_> {
    fn place(&self, part: Part) -> ProgramLocation {
        ProgramLocation { path: self.path.to_vec(), part: Some(part) }
    }

    fn shape(&self) -> Result<(), VmError> {
        let (extents, parallel) = (self.nest.extents.len(), self.nest.parallel.len());
        if extents != parallel {
            let place = ProgramLocation { path: self.path.to_vec(), part: None };
            return Err(VmError::Flags { place, extents, parallel });
        }
        Ok(())
    }

    fn tensor(&self, tensor: TensorId, part: Part) -> Result<TensorDecl, VmError> {
        self.tensors.get(tensor as usize).copied().ok_or_else(|| VmError::NoTensor {
            place: self.place(part),
            tensor,
            count: self.tensors.len(),
        })
    }

    fn access(&self, access: &Access, part: Part) -> Result<TensorDecl, VmError> {
        let decl = self.tensor(access.tensor, part)?;
        let (strides, extents) = (access.strides.len(), self.nest.extents.len());
        if strides != extents {
            return Err(VmError::Rank { place: self.place(part), strides, extents });
        }
        if self.nest.extents.contains(&0) {
            return Ok(decl);
        }
        let (mut low, mut high) = (access.offset as i128, access.offset as i128);
        for (&stride, &extent) in access.strides.iter().zip(&self.nest.extents) {
            // The product of an i64 and a u64 fits in an i128; the sum of several may not.
            let reach = stride as i128 * (extent - 1) as i128;
            let bound = if reach < 0 { &mut low } else { &mut high };
            *bound = bound.saturating_add(reach);
        }
        if low < 0 || high >= decl.len as i128 {
            let (tensor, len) = (access.tensor, decl.len);
            return Err(VmError::Range { place: self.place(part), tensor, low, high, len });
        }
        Ok(decl)
    }

    fn moves_along_parallel_axes(&self, access: &Access, part: Part) -> Result<(), VmError> {
        let nest = self.nest;
        let fixed = (0..nest.extents.len())
            .find(|&i| nest.parallel[i] && nest.extents[i] > 1 && access.strides[i] == 0);
        match fixed {
            Some(axis) if !nest.extents.contains(&0) => {
                Err(VmError::NotParallel { place: self.place(part), axis })
            }
            _ => Ok(()),
        }
    }

    fn register(&self, register: Reg, types: &[Ty], part: Part) -> Result<Ty, VmError> {
        types.get(register as usize).copied().ok_or_else(|| VmError::Register {
            place: self.place(part),
            register,
            defined: types.len() as u32,
        })
    }

    fn address(&self, register: Reg, types: &[Ty], part: Part) -> Result<(), VmError> {
        let found = self.register(register, types, part)?;
        if found.is_int() {
            Ok(())
        } else {
            Err(VmError::AddressType { place: self.place(part), found })
        }
    }

    fn stored(
        &self,
        tensor: TensorId,
        ty: Ty,
        value: Reg,
        types: &[Ty],
        part: Part,
    ) -> Result<(), VmError> {
        let value = self.register(value, types, part)?;
        if value != ty {
            return Err(VmError::StoreType { place: self.place(part), tensor, ty, value });
        }
        Ok(())
    }

    /// The type an instruction gives.
    fn inst(&self, inst: &Inst, types: &[Ty], part: Part) -> Result<Ty, VmError> {
        let reg = |r: Reg| self.register(r, types, part);
        let takes = |found: Ty, accepts: bool, expected: &'static str| {
            let wrong = || VmError::Type { place: self.place(part), inst: *inst, found, expected };
            if accepts { Ok(found) } else { Err(wrong()) }
        };
        let float = |ty: Ty| takes(ty, ty.is_float(), "floats");
        let int = |ty: Ty| takes(ty, ty.is_int(), "integers");
        let same = |a: Ty, b: Ty| {
            let wrong = || VmError::TypesDiffer { place: self.place(part), inst: *inst, a, b };
            if a == b { Ok(a) } else { Err(wrong()) }
        };
        match *inst {
            Inst::Const(scalar) => Ok(scalar.ty),
            Inst::Index(axis) => {
                let extents = self.nest.extents.len();
                if axis as usize >= extents {
                    return Err(VmError::Axis { place: self.place(part), axis, extents });
                }
                Ok(Ty::Index)
            }
            Inst::LoadAt { tensor, address } => {
                self.address(address, types, part)?;
                Ok(self.tensor(tensor, part)?.ty)
            }
            Inst::Unary { op, x } => {
                let ty = if op.is_float() { float(reg(x)?)? } else { int(reg(x)?)? };
                Ok(if op.is_test() { Ty::I1 } else { ty })
            }
            Inst::Binary { op, a, b } if op.takes_power() => {
                int(reg(b)?)?;
                float(reg(a)?)
            }
            Inst::Binary { op, a, b } => {
                let ty = same(reg(a)?, reg(b)?)?;
                if op.is_float() { float(ty) } else { int(ty) }
            }
            Inst::Fma { a, b, c } => float(same(same(reg(a)?, reg(b)?)?, reg(c)?)?),
            Inst::CmpI { a, b, .. } => int(same(reg(a)?, reg(b)?)?).map(|_| Ty::I1),
            Inst::CmpF { a, b, .. } => float(same(reg(a)?, reg(b)?)?).map(|_| Ty::I1),
            Inst::Select { condition, then, otherwise } => {
                let ty = reg(condition)?;
                takes(ty, ty == Ty::I1, "an i1 as condition")?;
                same(reg(then)?, reg(otherwise)?)
            }
            Inst::Cast { op, to, x } => {
                let from = reg(x)?;
                if casts(op, from, to) {
                    Ok(to)
                } else {
                    Err(VmError::Cast { place: self.place(part), inst: *inst, from, to })
                }
            }
        }
    }
}

fn casts(op: CastOp, from: Ty, to: Ty) -> bool {
    let ints = from.is_int() && to.is_int() && from != Ty::Index && to != Ty::Index;
    let floats = from.is_float() && to.is_float();
    match op {
        CastOp::ExtF => floats && from.bytes() < to.bytes(),
        CastOp::TruncF => floats && from.bytes() > to.bytes(),
        CastOp::ExtSI | CastOp::ExtUI => ints && from.bits() < to.bits(),
        CastOp::TruncI => ints && from.bits() > to.bits(),
        CastOp::SIToFP | CastOp::UIToFP => from.is_int() && to.is_float(),
        CastOp::FPToSI | CastOp::FPToUI => from.is_float() && to.is_int(),
        CastOp::Bitcast => from.bits() == to.bits(),
        CastOp::IndexCast | CastOp::IndexCastUI => {
            from.is_int() && to.is_int() && (from == Ty::Index) != (to == Ty::Index)
        }
    }
}
