//! Numbers that sums do not round, in the types of a machine.

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Multiples of a quarter from -2 to 2; whole numbers from -8 to 8 for integers.
    pub fn numbers(&mut self, count: u64, elem: &str) -> Vec<f64> {
        let unit = if elem.starts_with('i') { 1.0 } else { 0.25 };
        (0..count).map(|_| (self.next() % 17) as f64 - 8.0).map(|x| x * unit).collect()
    }
}

/// The bytes of numbers in an element type.
pub fn bytes(numbers: &[f64], elem: &str) -> Vec<u8> {
    let each = |x: &f64| match elem {
        "f64" => x.to_le_bytes().to_vec(),
        "f32" => (*x as f32).to_le_bytes().to_vec(),
        "f16" => half::f16::from_f64(*x).to_le_bytes().to_vec(),
        "bf16" => half::bf16::from_f64(*x).to_le_bytes().to_vec(),
        "i8" => (*x as i8).to_le_bytes().to_vec(),
        _ => (*x as i32).to_le_bytes().to_vec(),
    };
    numbers.iter().flat_map(each).collect()
}

/// The numbers of bytes in an element type.
pub fn numbers(bytes: &[u8], elem: &str) -> Vec<f64> {
    fn each<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        bytes.chunks_exact(N).map(|chunk| read(chunk.try_into().expect("chunks of N"))).collect()
    }
    match elem {
        "f64" => each(bytes, f64::from_le_bytes),
        "f32" => each(bytes, |x| f64::from(f32::from_le_bytes(x))),
        "f16" => each(bytes, |x| half::f16::from_le_bytes(x).to_f64()),
        "bf16" => each(bytes, |x| half::bf16::from_le_bytes(x).to_f64()),
        "i8" => each(bytes, |x| f64::from(i8::from_le_bytes(x))),
        _ => each(bytes, |x| f64::from(i32::from_le_bytes(x))),
    }
}
