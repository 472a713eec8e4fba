//! One point, one instruction, one scalar at a time: slow, and easy to believe.

use half::{bf16, f16};

use crate::vm::*;

pub enum Stop {
    DivisionByZero,
    Address,
}

/// Runs the nests of a program; the last value of each tensor is returned.
pub fn run(program: &Program, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, Stop> {
    let bytes = |t: &TensorDecl| vec![0; t.len as usize * t.ty.bytes()];
    let mut memory: Vec<Vec<u8>> = program.tensors.iter().map(bytes).collect();
    for (&id, bytes) in program.inputs.iter().zip(inputs) {
        memory[id as usize] = bytes.to_vec();
    }
    for stmt in &program.body {
        let Stmt::Nest(nest) = stmt else { panic!("only nests are compared") };
        run_nest(program, nest, &mut memory)?;
    }
    Ok(program.outputs.iter().map(|&id| memory[id as usize].clone()).collect())
}

fn run_nest(program: &Program, nest: &Nest, memory: &mut [Vec<u8>]) -> Result<(), Stop> {
    let ty = |tensor: u32| program.tensors[tensor as usize].ty;
    let points: u64 = nest.extents.iter().product();
    for point in 0..points {
        let mut position = vec![0; nest.extents.len()];
        let mut rest = point;
        for axis in (0..nest.extents.len()).rev() {
            position[axis] = (rest % nest.extents[axis]) as i64;
            rest /= nest.extents[axis];
        }
        let at = |a: &Access| {
            a.offset + a.strides.iter().zip(&position).map(|(s, p)| s * p).sum::<i64>()
        };
        let mut registers: Vec<Scalar> = Vec::new();
        for load in &nest.loads {
            registers.push(read(&memory[load.tensor as usize], ty(load.tensor), at(load))?);
        }
        for inst in &nest.body {
            let value = match *inst {
                Inst::Index(axis) => Scalar::int(Ty::Index, position[axis as usize]),
                Inst::LoadAt { tensor, address } => {
                    let address = signed(registers[address as usize]) as i64;
                    read(&memory[tensor as usize], ty(tensor), address)?
                }
                _ => compute(inst, &registers)?,
            };
            registers.push(value);
        }
        for (access, value) in &nest.stores {
            write(&mut memory[access.tensor as usize], at(access), registers[*value as usize])?;
        }
        for s in &nest.scatters {
            let address = signed(registers[s.address as usize]) as i64;
            write(&mut memory[s.tensor as usize], address, registers[s.value as usize])?;
        }
    }
    Ok(())
}

fn read(memory: &[u8], ty: Ty, address: i64) -> Result<Scalar, Stop> {
    let at = usize::try_from(address).map_err(|_| Stop::Address)?;
    let element = memory.chunks_exact(ty.bytes()).nth(at).ok_or(Stop::Address)?;
    let mut bits = [0; 8];
    bits[..ty.bytes()].copy_from_slice(element);
    let bits = u64::from_le_bytes(bits);
    Ok(Scalar { ty, bits: if ty == Ty::I1 { (bits != 0) as u64 } else { bits } })
}

fn write(memory: &mut [u8], address: i64, value: Scalar) -> Result<(), Stop> {
    let width = value.ty.bytes();
    let at = usize::try_from(address).map_err(|_| Stop::Address)?;
    let slot = memory.chunks_exact_mut(width).nth(at).ok_or(Stop::Address)?;
    slot.copy_from_slice(&value.bits.to_le_bytes()[..width]);
    Ok(())
}

fn unsigned(x: Scalar) -> i128 {
    let bits = x.ty.bits();
    (x.bits as u128 & ((1u128 << bits) - 1)) as i128
}

fn signed(x: Scalar) -> i128 {
    let (bits, value) = (x.ty.bits(), unsigned(x));
    if value >> (bits - 1) & 1 == 1 { value - (1 << bits) } else { value }
}

fn wrap(ty: Ty, value: i128) -> Scalar {
    Scalar { ty, bits: (value as u128 & ((1u128 << ty.bits()) - 1)) as u64 }
}

/// An f64 result of an exactly rounded operation on the type, rounded to it.
fn float(ty: Ty, single: impl Fn() -> f32, double: impl Fn() -> f64) -> Scalar {
    match ty {
        Ty::F16 => Scalar { ty, bits: f16::from_f32(single()).to_bits() as u64 },
        Ty::BF16 => Scalar { ty, bits: bf16::from_f32(single()).to_bits() as u64 },
        Ty::F32 => Scalar::f32(single()),
        _ => Scalar { ty, bits: double().to_bits() },
    }
}

fn float1(x: Scalar, single: impl Fn(f32) -> f32, double: impl Fn(f64) -> f64) -> Scalar {
    let v = x.as_f64();
    float(x.ty, || single(v as f32), || double(v))
}

fn float2(
    a: Scalar,
    b: Scalar,
    single: impl Fn(f32, f32) -> f32,
    double: impl Fn(f64, f64) -> f64,
) -> Scalar {
    let (x, y) = (a.as_f64(), b.as_f64());
    float(a.ty, || single(x as f32, y as f32), || double(x, y))
}

fn elementary(x: Scalar, f: impl Fn(f64) -> f64) -> Scalar {
    float1(x, |x| f(x as f64) as f32, &f)
}

fn compute(inst: &Inst, registers: &[Scalar]) -> Result<Scalar, Stop> {
    let reg = |r: u32| registers[r as usize];
    Ok(match *inst {
        Inst::Const(scalar) if scalar.ty.is_int() => wrap(scalar.ty, unsigned(scalar)),
        Inst::Const(scalar) => scalar,
        Inst::Unary { op, x } => unary(op, reg(x)),
        Inst::Binary { op: BinaryOp::FPowI, a, b } => {
            let power = signed(reg(b));
            let pow = |x: f64| {
                libm::pow(x.abs(), power as f64).copysign(if power & 1 == 1 { x } else { 1.0 })
            };
            elementary(reg(a), pow)
        }
        Inst::Binary { op: BinaryOp::LdExp, a, b } => {
            let power = signed(reg(b)).clamp(-10_000, 10_000) as i32;
            elementary(reg(a), |x| libm::scalbn(x, power))
        }
        Inst::Binary { op, a, b } if op.is_float() => binary_float(op, reg(a), reg(b)),
        Inst::Binary { op, a, b } => binary_int(op, reg(a), reg(b))?,
        Inst::Fma { a, b, c } => {
            let (a, b, c) = (reg(a), reg(b), reg(c));
            let (x, y, z) = (a.as_f64(), b.as_f64(), c.as_f64());
            float(a.ty, || (x as f32).mul_add(y as f32, z as f32), || x.mul_add(y, z))
        }
        Inst::CmpI { predicate, a, b } => {
            use CmpIPredicate::*;
            let (a, b) = (reg(a), reg(b));
            let by_sign = matches!(predicate, Slt | Sle | Sgt | Sge);
            let (a, b) = if by_sign { (signed(a), signed(b)) } else { (unsigned(a), unsigned(b)) };
            Scalar::bool(match predicate {
                Eq => a == b,
                Ne => a != b,
                Slt | Ult => a < b,
                Sle | Ule => a <= b,
                Sgt | Ugt => a > b,
                Sge | Uge => a >= b,
            })
        }
        Inst::CmpF { predicate, a, b } => {
            use std::cmp::Ordering::*;
            let order = reg(a).as_f64().partial_cmp(&reg(b).as_f64());
            let column = match order {
                Some(Equal) => 0,
                Some(Greater) => 1,
                Some(Less) => 2,
                None => 3,
            };
            // Bit 0 equal, bit 1 greater, bit 2 less, bit 3 unordered; one entry per predicate.
            let table = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 8, 15];
            Scalar::bool(table[predicate as usize] >> column & 1 == 1)
        }
        Inst::Select { condition, then, otherwise } => {
            if reg(condition).bits != 0 {
                reg(then)
            } else {
                reg(otherwise)
            }
        }
        Inst::Cast { op, to, x } => cast(op, to, reg(x)),
        Inst::Index(_) | Inst::LoadAt { .. } => unreachable!("done by the caller"),
    })
}

fn unary(op: UnaryOp, x: Scalar) -> Scalar {
    use UnaryOp::*;
    let zeros = |order: &mut dyn Iterator<Item = u32>| {
        let bits = unsigned(x);
        wrap(x.ty, order.take_while(|i| bits >> i & 1 == 0).count() as i128)
    };
    let width = x.ty.bits();
    match op {
        NegF => float1(x, |x| -x, |x| -x),
        AbsF => float1(x, f32::abs, f64::abs),
        Ceil => float1(x, f32::ceil, f64::ceil),
        Floor => float1(x, f32::floor, f64::floor),
        Round => float1(x, f32::round, f64::round),
        RoundEven => float1(x, f32::round_ties_even, f64::round_ties_even),
        Trunc => float1(x, f32::trunc, f64::trunc),
        Sqrt => float1(x, f32::sqrt, f64::sqrt),
        Rsqrt => elementary(x, |x| 1.0 / x.sqrt()),
        Acos => elementary(x, libm::acos),
        Acosh => elementary(x, |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
        Asin => elementary(x, libm::asin),
        Asinh => elementary(x, libm::asinh),
        Atan => elementary(x, libm::atan),
        Atanh => elementary(x, libm::atanh),
        Cbrt => elementary(x, libm::cbrt),
        Cos => elementary(x, libm::cos),
        Cosh => elementary(x, libm::cosh),
        Erf => elementary(x, libm::erf),
        Erfc => elementary(x, libm::erfc),
        Exp => elementary(x, libm::exp),
        Exp2 => elementary(x, libm::exp2),
        ExpM1 => elementary(x, libm::expm1),
        Log => elementary(x, libm::log),
        Log10 => elementary(x, libm::log10),
        Log1p => elementary(x, libm::log1p),
        Log2 => elementary(x, libm::log2),
        Sin => elementary(x, libm::sin),
        Sinh => elementary(x, libm::sinh),
        Tan => elementary(x, libm::tan),
        Tanh => elementary(x, libm::tanh),
        IsNan => Scalar::bool(x.as_f64().is_nan()),
        IsInf => Scalar::bool(x.as_f64().is_infinite()),
        IsFinite => Scalar::bool(x.as_f64().is_finite()),
        IsNormal => Scalar::bool(match x.ty {
            Ty::F16 => f16::from_bits(x.bits as u16).is_normal(),
            Ty::F64 => x.as_f64().is_normal(),
            _ => (x.as_f64() as f32).is_normal(),
        }),
        AbsI => wrap(x.ty, signed(x).abs()),
        Ctlz => zeros(&mut (0..width).rev()),
        Cttz => zeros(&mut (0..width)),
        Ctpop => wrap(x.ty, unsigned(x).count_ones() as i128),
    }
}

fn binary_float(op: BinaryOp, a: Scalar, b: Scalar) -> Scalar {
    use BinaryOp::*;
    // The larger, with +0 above -0, and NaN only if both are.
    let larger = |a: f64, b: f64| {
        if a.is_nan() || a < b || (a == b && a.is_sign_negative()) { b } else { a }
    };
    let smaller = |a: f64, b: f64| -larger(-a, -b);
    let nan = a.as_f64().is_nan() || b.as_f64().is_nan();
    let pick = |v: f64| Scalar::float(a.ty, v);
    match op {
        AddF => float2(a, b, |a, b| a + b, |a, b| a + b),
        SubF => float2(a, b, |a, b| a - b, |a, b| a - b),
        MulF => float2(a, b, |a, b| a * b, |a, b| a * b),
        DivF => float2(a, b, |a, b| a / b, |a, b| a / b),
        RemF => float2(a, b, |a, b| a % b, |a, b| a % b),
        MaximumF | MinimumF if nan => pick(f64::NAN),
        MaximumF | MaxNumF => pick(larger(a.as_f64(), b.as_f64())),
        MinimumF | MinNumF => pick(smaller(a.as_f64(), b.as_f64())),
        Atan2 => float2(a, b, |a, b| libm::atan2(a as f64, b as f64) as f32, libm::atan2),
        CopySign => float2(a, b, f32::copysign, f64::copysign),
        PowF => float2(a, b, |a, b| libm::pow(a as f64, b as f64) as f32, libm::pow),
        _ => unreachable!("{op:?}"),
    }
}

fn binary_int(op: BinaryOp, a: Scalar, b: Scalar) -> Result<Scalar, Stop> {
    use BinaryOp::*;
    let (ty, bits) = (a.ty, a.ty.bits());
    let (sa, sb, ua, ub) = (signed(a), signed(b), unsigned(a), unsigned(b));
    if matches!(op, DivSI | DivUI | CeilDivSI | CeilDivUI | FloorDivSI | RemSI | RemUI) && ub == 0 {
        return Err(Stop::DivisionByZero);
    }
    let inside = ub < bits as i128;
    Ok(wrap(
        ty,
        match op {
            AddI => sa + sb,
            SubI => sa - sb,
            MulI => sa * sb,
            MulSIHigh => (sa * sb) >> bits,
            MulUIHigh => ((ua as u128 * ub as u128) >> bits) as i128,
            DivSI => sa / sb,
            DivUI => ua / ub,
            CeilDivSI => {
                -(-sa).div_euclid(sb) * (sb > 0) as i128 + sa.div_euclid(sb) * (sb < 0) as i128
            }
            CeilDivUI => (ua + ub - 1) / ub,
            FloorDivSI if sb > 0 => sa.div_euclid(sb),
            FloorDivSI => (-sa).div_euclid(-sb),
            RemSI => sa % sb,
            RemUI => ua % ub,
            AndI => ua & ub,
            OrI => ua | ub,
            XorI => ua ^ ub,
            ShLI if inside => ua << ub,
            ShLI => 0,
            ShRSI => sa >> ub.min(bits as i128 - 1),
            ShRUI if inside => ua >> ub,
            ShRUI => 0,
            MaxSI => sa.max(sb),
            MinSI => sa.min(sb),
            MaxUI => ua.max(ub),
            MinUI => ua.min(ub),
            IPowI if sb < 0 => match sa {
                0 => return Err(Stop::DivisionByZero),
                1 => 1,
                -1 => [1, -1][(sb & 1) as usize],
                _ => 0,
            },
            IPowI => (0..bits).rev().fold(1, |r, i| {
                let square = wrap(Ty::I64, r * r);
                wrap(Ty::I64, signed(square) * [1, sa][(sb >> i & 1) as usize]).bits as i64 as i128
            }),
            _ => unreachable!("{op:?}"),
        },
    ))
}

fn cast(op: CastOp, to: Ty, x: Scalar) -> Scalar {
    let int_to_float = |v: i128| match to {
        Ty::F64 => Scalar { ty: to, bits: (v as f64).to_bits() },
        Ty::F32 => Scalar::f32(v as f32),
        // Every i64 has a neighbour in bf16 that is nearest; find it by search.
        _ => nearest(to, v),
    };
    let (low, high) = (-(1i128 << (to.bits() - 1)), (1i128 << (to.bits() - 1)) - 1);
    match op {
        CastOp::ExtF | CastOp::TruncF => Scalar::float(to, x.as_f64()),
        CastOp::ExtSI | CastOp::TruncI | CastOp::IndexCast => wrap(to, signed(x)),
        CastOp::ExtUI | CastOp::IndexCastUI => wrap(to, unsigned(x)),
        CastOp::SIToFP => int_to_float(signed(x)),
        CastOp::UIToFP => int_to_float(unsigned(x)),
        CastOp::FPToSI => wrap(to, (x.as_f64() as i128).clamp(low, high)),
        CastOp::FPToUI => wrap(to, (x.as_f64() as i128).clamp(0, high - low)),
        CastOp::Bitcast => Scalar { ty: to, bits: x.bits },
    }
}

/// The half-precision float nearest to an integer, ties to even.
fn nearest(ty: Ty, v: i128) -> Scalar {
    let value = |bits: u64| Scalar { ty, bits }.as_f64();
    let infinity = Scalar::float(ty, f64::INFINITY).bits;
    let size = v.unsigned_abs() as i128;
    // Floats of one sign are ordered as their bits are: halve the interval that holds the value.
    let (mut below, mut above) = (0, infinity);
    while above - below > 1 {
        let middle = (below + above) / 2;
        let v = value(middle);
        if v as i128 <= size && v <= size as f64 { below = middle } else { above = middle }
    }
    let (low, high) = (value(below) as i128, value(below + 1));
    // Beyond the largest, the next power of two stands for infinity.
    let high = if high.is_finite() { high as i128 } else { 2 * low - value(below - 1) as i128 };
    let up = 2 * size > low + high || (2 * size == low + high && below & 1 == 1);
    let exact = low == size;
    let bits = if up && !exact { below + 1 } else { below };
    Scalar { ty, bits: bits | ((v < 0) as u64) << 15 }
}
