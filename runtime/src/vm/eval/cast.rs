//! Conversions: through i64 for integers and through f64 for floats, both of which hold every
//! narrower value exactly; the frequent ones directly.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::super::inst::CastOp;
use super::super::round;
use super::super::ty::Ty;
use super::{Elements, Scratch, grow, map, view, view_mut};

pub fn cast(op: CastOp, x: Elements<'_>, to: Ty, out: &mut [u64], s: &mut Scratch, n: usize) {
    let Elements { ty: from, words: x } = x;
    if direct(op, from, to, x, out, n) {
        return;
    }
    grow(&mut s.a, n);
    match op {
        CastOp::ExtSI | CastOp::TruncI | CastOp::IndexCast => {
            read_signed(from, x, view_mut(&mut s.a, n));
            write_int(to, view(&s.a, n), out);
        }
        CastOp::ExtUI | CastOp::IndexCastUI => {
            read_unsigned(from, x, view_mut(&mut s.a, n));
            write_int(to, view(&s.a, n), out);
        }
        CastOp::SIToFP => {
            read_signed(from, x, view_mut(&mut s.a, n));
            let x = view::<i64>(&s.a, n);
            match to {
                Ty::F32 => map(x, view_mut::<f32>(out, n), |x| x as f32),
                Ty::F64 => map(x, view_mut::<f64>(out, n), |x| x as f64),
                _ => int_to_half(to, x, out, |x| x as i128),
            }
        }
        CastOp::UIToFP => {
            read_unsigned(from, x, view_mut(&mut s.a, n));
            let x = view::<i64>(&s.a, n);
            match to {
                Ty::F32 => map(x, view_mut::<f32>(out, n), |x| x as u64 as f32),
                Ty::F64 => map(x, view_mut::<f64>(out, n), |x| x as u64 as f64),
                _ => int_to_half(to, x, out, |x| x as u64 as i128),
            }
        }
        CastOp::FPToSI => {
            read_float(from, x, view_mut(&mut s.a, n));
            let x = view::<f64>(&s.a, n);
            match to {
                Ty::I1 => map(x, view_mut::<u8>(out, n), |x| (x <= -1.0) as u8),
                Ty::I8 => map(x, view_mut::<i8>(out, n), |x| x as i8),
                Ty::I16 => map(x, view_mut::<i16>(out, n), |x| x as i16),
                Ty::I32 => map(x, view_mut::<i32>(out, n), |x| x as i32),
                _ => map(x, view_mut::<i64>(out, n), |x| x as i64),
            }
        }
        CastOp::FPToUI => {
            read_float(from, x, view_mut(&mut s.a, n));
            let x = view::<f64>(&s.a, n);
            match to {
                Ty::I1 => map(x, view_mut::<u8>(out, n), |x| (x >= 1.0) as u8),
                Ty::I8 => map(x, view_mut::<u8>(out, n), |x| x as u8),
                Ty::I16 => map(x, view_mut::<u16>(out, n), |x| x as u16),
                Ty::I32 => map(x, view_mut::<u32>(out, n), |x| x as u32),
                _ => map(x, view_mut::<u64>(out, n), |x| x as u64),
            }
        }
        CastOp::ExtF | CastOp::TruncF => {
            read_float(from, x, view_mut(&mut s.a, n));
            let x = view::<f64>(&s.a, n);
            match to {
                Ty::F16 => map(x, view_mut::<f16>(out, n), round::f64_to_f16),
                Ty::BF16 => map(x, view_mut::<bf16>(out, n), round::f64_to_bf16),
                Ty::F32 => map(x, view_mut::<f32>(out, n), |x| x as f32),
                _ => view_mut::<f64>(out, n).copy_from_slice(x),
            }
        }
        // Types of one width have one representation.
        CastOp::Bitcast => {
            let bytes = n * to.bytes();
            view_mut::<u8>(out, bytes).copy_from_slice(view(x, bytes));
        }
    }
}

/// The conversions that models are full of.
fn direct(op: CastOp, from: Ty, to: Ty, x: &[u64], out: &mut [u64], n: usize) -> bool {
    match (op, from, to) {
        (CastOp::ExtF, Ty::F16, Ty::F32) => {
            view::<f16>(x, n).convert_to_f32_slice(view_mut(out, n))
        }
        (CastOp::ExtF, Ty::BF16, Ty::F32) => {
            view::<bf16>(x, n).convert_to_f32_slice(view_mut(out, n))
        }
        (CastOp::TruncF, Ty::F32, Ty::F16) => {
            view_mut::<f16>(out, n).convert_from_f32_slice(view(x, n))
        }
        (CastOp::TruncF, Ty::F32, Ty::BF16) => {
            view_mut::<bf16>(out, n).convert_from_f32_slice(view(x, n))
        }
        (CastOp::ExtSI, Ty::I8, Ty::I32) => {
            map(view::<i8>(x, n), view_mut::<i32>(out, n), |x| x as i32)
        }
        (CastOp::ExtUI, Ty::I8, Ty::I32) => {
            map(view::<u8>(x, n), view_mut::<u32>(out, n), |x| x as u32)
        }
        (CastOp::SIToFP, Ty::I8, Ty::F32) => {
            map(view::<i8>(x, n), view_mut::<f32>(out, n), |x| x as f32)
        }
        (CastOp::SIToFP, Ty::I32, Ty::F32) => {
            map(view::<i32>(x, n), view_mut::<f32>(out, n), |x| x as f32)
        }
        _ => return false,
    }
    true
}

/// Integers with their sign; a true bit is -1.
pub fn read_signed(ty: Ty, x: &[u64], out: &mut [i64]) {
    let n = out.len();
    match ty {
        Ty::I1 => map(view::<u8>(x, n), out, |x| -(x as i64)),
        Ty::I8 => map(view::<i8>(x, n), out, |x| x as i64),
        Ty::I16 => map(view::<i16>(x, n), out, |x| x as i64),
        Ty::I32 => map(view::<i32>(x, n), out, |x| x as i64),
        _ => out.copy_from_slice(view(x, n)),
    }
}

fn read_unsigned(ty: Ty, x: &[u64], out: &mut [i64]) {
    let n = out.len();
    match ty {
        Ty::I1 | Ty::I8 => map(view::<u8>(x, n), out, |x| x as i64),
        Ty::I16 => map(view::<u16>(x, n), out, |x| x as i64),
        Ty::I32 => map(view::<u32>(x, n), out, |x| x as i64),
        _ => out.copy_from_slice(view(x, n)),
    }
}

fn write_int(ty: Ty, x: &[i64], out: &mut [u64]) {
    let n = x.len();
    match ty {
        Ty::I1 => map(x, view_mut::<u8>(out, n), |x| x as u8 & 1),
        Ty::I8 => map(x, view_mut::<i8>(out, n), |x| x as i8),
        Ty::I16 => map(x, view_mut::<i16>(out, n), |x| x as i16),
        Ty::I32 => map(x, view_mut::<i32>(out, n), |x| x as i32),
        _ => view_mut::<i64>(out, n).copy_from_slice(x),
    }
}

fn read_float(ty: Ty, x: &[u64], out: &mut [f64]) {
    let n = out.len();
    match ty {
        Ty::F16 => map(view::<f16>(x, n), out, f16::to_f64),
        Ty::BF16 => map(view::<bf16>(x, n), out, bf16::to_f64),
        Ty::F32 => map(view::<f32>(x, n), out, |x| x as f64),
        _ => out.copy_from_slice(view(x, n)),
    }
}

fn int_to_half(ty: Ty, x: &[i64], out: &mut [u64], exact: impl Fn(i64) -> i128) {
    let n = x.len();
    match ty {
        Ty::F16 => {
            map(x, view_mut::<f16>(out, n), |x| f16::from_f32(round::int_to_f32_odd(exact(x))))
        }
        _ => map(x, view_mut::<bf16>(out, n), |x| bf16::from_f32(round::int_to_f32_odd(exact(x)))),
    }
}
