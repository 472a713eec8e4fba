//! Conversions to the 16-bit floats with a single rounding.
//!
//! Going through f32 would round twice. Rounding the first time *to odd* (an inexact result
//! takes the neighbour whose last bit is set) keeps the second rounding right.

use half::{bf16, f16};

/// Nearest even f16.
pub fn f64_to_f16(x: f64) -> f16 {
    f16::from_f32(f64_to_f32_odd(x))
}

/// Nearest even bf16.
pub fn f64_to_bf16(x: f64) -> bf16 {
    bf16::from_f32(f64_to_f32_odd(x))
}

/// The f32 that rounds on to a 16-bit float as `x` itself would.
pub fn int_to_f32_odd(x: i128) -> f32 {
    let mut f = x as f64;
    // Integers beyond 2^53 may be inexact in f64; the bit pattern moves towards the odd one.
    let back = f as i128;
    if back != x && f.to_bits() & 1 == 0 {
        f = if (back > x) == (f > 0.0) {
            f64::from_bits(f.to_bits() - 1)
        } else {
            f64::from_bits(f.to_bits() + 1)
        };
    }
    f64_to_f32_odd(f)
}

fn f64_to_f32_odd(x: f64) -> f32 {
    let f = x as f32;
    let back = f as f64;
    if back == x || x.is_nan() || f.to_bits() & 1 == 1 {
        return f;
    }
    // `f` is inexact and even. Its neighbour on the other side of `x` is odd. An overflow to
    // infinity steps back to the largest finite value, which is odd too.
    let towards_zero = back.abs() > x.abs();
    f32::from_bits(if towards_zero { f.to_bits() - 1 } else { f.to_bits() + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_once() {
        // 1 + 2^-11 + 2^-40 lies just above the midpoint of 1 and its f16 successor.
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(f64_to_f16(x), f16::from_bits(f16::ONE.to_bits() + 1));
        assert_eq!(f64_to_f16(-x), f16::from_bits(f16::NEG_ONE.to_bits() + 1));
        let y = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(f64_to_bf16(y), bf16::from_bits(bf16::ONE.to_bits() + 1));
        assert!(f64_to_f16(f64::NAN).is_nan());
        assert_eq!(f64_to_f16(1e300), f16::INFINITY);
        assert_eq!(f64_to_bf16(1e300), bf16::INFINITY);
        assert_eq!(f64_to_f16(1e-300), f16::ZERO);
        assert_eq!(f64_to_f16(-1e-300).to_bits(), f16::NEG_ZERO.to_bits());
    }

    #[test]
    fn rounds_large_integers_once() {
        let x = (1i128 << 62) + (1 << 54) + 1;
        assert_eq!(
            bf16::from_f32(int_to_f32_odd(x)).to_bits(),
            bf16::from_f32(2f32.powi(62)).to_bits() + 1
        );
        assert_eq!(
            bf16::from_f32(int_to_f32_odd(-x)).to_bits(),
            bf16::from_f32(-(2f32.powi(62))).to_bits() + 1
        );
        assert_eq!(int_to_f32_odd(0), 0.0);
    }
}
