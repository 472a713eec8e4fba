//! Random inputs that are the same on every machine and in every version.

use half::{bf16, f16};

use crate::dtype::DType;
use crate::plan::Port;
use crate::tensor::Tensor;

/// A tensor for a port. Floats are normally distributed, integers 0 to 7 (valid indices in most
/// models) or 0 to 3, signed ones of at most 8 bits -8 to 7 or -2 to 1. The port's name takes part in the seed, so that two
/// ports of one shape differ.
pub fn tensor(port: &Port, seed: u64) -> Tensor {
    let mut random = Random(port.name.bytes().fold(seed, |s, b| Random(s ^ b as u64).next()));
    let count = port.elements().unwrap_or(0) as usize;
    let mut bytes = Vec::with_capacity(count * port.dtype.bytes());
    for _ in 0..count {
        if let Some(format) = port.dtype.format() {
            bytes.push(format.encode(random.normal(), true));
            continue;
        }
        match port.dtype {
            DType::Bool => bytes.push((random.next() & 1) as u8),
            DType::I8 => bytes.push(((random.next() & 15) as i8 - 8) as u8),
            DType::I4 => bytes.push(((random.next() & 15) as i8 - 8) as u8),
            DType::I2 => bytes.push(((random.next() & 3) as i8 - 2) as u8),
            DType::U2 => bytes.push((random.next() & 3) as u8),
            DType::F16 => bytes.extend(f16::from_f64(random.normal()).to_le_bytes()),
            DType::BF16 => bytes.extend(bf16::from_f64(random.normal()).to_le_bytes()),
            DType::F32 => bytes.extend((random.normal() as f32).to_le_bytes()),
            DType::F64 => bytes.extend(random.normal().to_le_bytes()),
            _ => bytes.extend(&(random.next() & 7).to_le_bytes()[..port.dtype.bytes()]),
        }
    }
    Tensor::of_port(port, bytes)
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Box and Muller's transform, with functions that give the same bits everywhere.
    fn normal(&mut self) -> f64 {
        let unit = |bits: u64| ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let (u, v) = (unit(self.next()), unit(self.next()));
        libm::sqrt(-2.0 * libm::log(u)) * libm::cos(std::f64::consts::TAU * v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_and_repeatable() {
        let port = |name: &str| Port { name: name.into(), dtype: DType::F64, shape: vec![10_000] };
        let t = tensor(&port("x"), 1);
        assert_eq!(t, tensor(&port("x"), 1));
        assert_ne!(t, tensor(&port("x"), 2));
        assert_ne!(t, tensor(&port("y"), 1));
        let values: Vec<f64> = (0..t.elements()).map(|i| t.number(i).as_f64()).collect();
        let mean = values.iter().sum::<f64>() / 1e4;
        let variance = values.iter().map(|v| v * v).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn integers_are_small() {
        for dtype in DType::ALL {
            let t = tensor(&Port { name: "i".into(), dtype, shape: vec![100] }, 0);
            assert_eq!(t.bytes.len(), 100 * dtype.bytes());
            if !dtype.is_float() {
                assert!((0..100).all(|i| t.number(i).as_f64().abs() <= 8.0));
            }
        }
    }
}
