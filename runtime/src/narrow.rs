//! Floats of at most a byte, and integers of less than one.
//!
//! Outside of the constants of products, such an element takes a byte of its own: a float its
//! bits, an integer its value (two's complement, or zero extended).

/// How a float of at most eight bits is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the fraction.
    pub fraction: u32,
    /// The exponent that stands for 2^0.
    pub bias: i32,
    /// Which codes are no finite numbers.
    pub specials: Specials,
}

/// The codes of a [`Format`] that are no finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// As in IEEE 754: the highest exponent holds the infinities and NaN.
    Ieee,
    /// All bits of exponent and fraction are NaN; there is no infinity.
    TopNan,
    /// Negative zero is NaN; there is no infinity.
    NegativeZero,
    /// There are none: every code is a number.
    None,
    /// A power of two without a sign, and all bits are NaN.
    Scale,
}

impl Format {
    /// One bit of sign, four of exponent, three of fraction (OCP 8-bit floating point, E4M3).
    pub const E4M3FN: Self = Self::new(4, 3, 7, Specials::TopNan);
    /// As [`Format::E4M3FN`], with NaN in the place of negative zero.
    pub const E4M3FNUZ: Self = Self::new(4, 3, 8, Specials::NegativeZero);
    /// The upper half of an f16 (OCP 8-bit floating point, E5M2).
    pub const E5M2: Self = Self::new(5, 2, 15, Specials::Ieee);
    /// As [`Format::E5M2`], with NaN in the place of negative zero and no infinity.
    pub const E5M2FNUZ: Self = Self::new(5, 2, 16, Specials::NegativeZero);
    /// A power of two (OCP microscaling formats, section 5.4).
    pub const E8M0FNU: Self = Self::new(8, 0, 127, Specials::Scale);
    /// Four bits (OCP microscaling formats, section 5.3.3).
    pub const E2M1FN: Self = Self::new(2, 1, 1, Specials::None);
    /// Six bits (OCP microscaling formats, section 5.3.2).
    pub const E2M3FN: Self = Self::new(2, 3, 1, Specials::None);
    /// Six bits (OCP microscaling formats, section 5.3.2).
    pub const E3M2FN: Self = Self::new(3, 2, 3, Specials::None);

    const fn new(exponent: u32, fraction: u32, bias: i32, specials: Specials) -> Self {
        Self { exponent, fraction, bias, specials }
    }

    /// Bits of a code.
    pub const fn bits(self) -> u32 {
        self.exponent + self.fraction + !matches!(self.specials, Specials::Scale) as u32
    }

    /// The bit of the sign; 0 where there is none.
    pub const fn sign(self) -> u8 {
        match self.specials {
            Specials::Scale => 0,
            _ => 1 << (self.exponent + self.fraction),
        }
    }

    /// The code of the greatest finite number.
    pub const fn greatest(self) -> u8 {
        let top = ((1u16 << (self.exponent + self.fraction)) - 1) as u8;
        match self.specials {
            Specials::Ieee => top - (1 << self.fraction),
            Specials::TopNan | Specials::Scale => top - 1,
            Specials::NegativeZero | Specials::None => top,
        }
    }

    /// The code of positive infinity.
    pub const fn infinity(self) -> Option<u8> {
        match self.specials {
            Specials::Ieee => Some(self.greatest() + 1),
            _ => None,
        }
    }

    /// The code of NaN, without a sign where it can have one.
    pub const fn nan(self) -> Option<u8> {
        match self.specials {
            Specials::Ieee => Some(self.greatest() + 1 + (1 << (self.fraction - 1))),
            Specials::TopNan | Specials::Scale => Some(self.greatest() + 1),
            Specials::NegativeZero => Some(1 << (self.exponent + self.fraction)),
            Specials::None => None,
        }
    }

    /// The number of a code; bits beyond the format's are not looked at.
    pub fn decode(self, code: u8) -> f64 {
        let magnitude = code & (((1u16 << (self.exponent + self.fraction)) - 1) as u8);
        let negative = code & self.sign() != 0;
        let value = match self.specials {
            Specials::NegativeZero if negative && magnitude == 0 => return f64::NAN,
            Specials::Ieee if magnitude > self.greatest() + 1 => f64::NAN,
            Specials::Ieee if magnitude > self.greatest() => f64::INFINITY,
            Specials::TopNan | Specials::Scale if magnitude > self.greatest() => f64::NAN,
            Specials::Scale => return f64::from(magnitude as i32 - self.bias).exp2(),
            _ => self.finite(magnitude.into()),
        };
        if negative { -value } else { value }
    }

    /// The number that exponent and fraction mean where nothing is special.
    fn finite(self, magnitude: u16) -> f64 {
        let exponent = i32::from(magnitude >> self.fraction);
        let fraction = f64::from(magnitude & ((1 << self.fraction) - 1));
        let step = f64::from(exponent.max(1) - self.bias - self.fraction as i32).exp2();
        let hidden = if exponent == 0 { 0.0 } else { f64::from(1u32 << self.fraction) };
        (hidden + fraction) * step
    }

    /// The code of the nearest number, the even one of two as near.
    ///
    /// What rounds to more than the greatest number becomes it if `saturates`; else infinity, or NaN
    /// where there is none. NaN becomes negative zero where the format has none. To a power of two it is
    /// rounded up, and its sign is not looked at.
    pub fn encode(self, x: f64, saturates: bool) -> u8 {
        if self.specials == Specials::Scale {
            return self.encode_scale(x, Rounding::Up, saturates);
        }
        let sign = if x.is_sign_negative() { self.sign() } else { 0 };
        if x.is_nan() {
            return match self.specials {
                Specials::NegativeZero | Specials::None => self.sign(),
                _ => self.nan().map_or(0, |nan| nan | sign),
            };
        }
        let size = x.abs();
        // Magnitudes rise with their codes: the last one that is not above.
        let (mut low, mut above) = (0u16, u16::from(self.greatest()) + 2);
        while above - low > 1 {
            let middle = (low + above) / 2;
            if self.finite(middle) <= size { low = middle } else { above = middle }
        }
        let (down, up) = (self.finite(low), self.finite(low + 1));
        let nearest = match (size - down).total_cmp(&(up - size)) {
            std::cmp::Ordering::Less => low,
            std::cmp::Ordering::Greater => low + 1,
            std::cmp::Ordering::Equal => low + (low & 1),
        };
        if nearest <= self.greatest().into() {
            return match (nearest, self.specials) {
                (0, Specials::NegativeZero) => 0,
                (code, _) => code as u8 | sign,
            };
        }
        match (saturates, self.specials) {
            (false, Specials::Ieee) => (self.greatest() + 1) | sign,
            (false, Specials::TopNan) => (self.greatest() + 1) | sign,
            (false, Specials::NegativeZero) => self.sign(),
            _ => self.greatest() | sign,
        }
    }

    /// The code of a power of two beside `x`; what is out of range is moved to the end of it if
    /// `saturates`, and NaN otherwise. The sign is not looked at.
    pub fn encode_scale(self, x: f64, rounding: Rounding, saturates: bool) -> u8 {
        let (nan, size) = (self.greatest() + 1, x.abs());
        if x.is_nan() {
            return nan;
        }
        let least = self.decode(0);
        if size < least || size > self.decode(self.greatest()) {
            return match saturates {
                true if size < least => 0,
                true => self.greatest(),
                false => nan,
            };
        }
        let low = (0..=self.greatest()).rev().find(|&code| self.decode(code) <= size).unwrap_or(0);
        let down = self.decode(low);
        let up = match rounding {
            Rounding::Down => false,
            Rounding::Up => size > down,
            Rounding::Nearest => size >= 1.5 * down,
        };
        match low + u8::from(up) {
            code if code > self.greatest() && saturates => self.greatest(),
            code => code,
        }
    }
}

/// Where a number between two powers of two goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Away from zero.
    Up,
    /// To zero.
    Down,
    /// To the nearer one, away from zero at the middle.
    Nearest,
}

/// The elements, `bits` each, that lie one behind the other in `packed`, from the low bits up: one
/// byte each, sign extended if they are `signed`.
///
/// # Panics
///
/// If there are fewer than `count`.
pub fn unpack(packed: &[u8], bits: u32, signed: bool, count: usize) -> Vec<u8> {
    let unused = 8 - bits;
    let element = |at: usize| {
        let place = at * bits as usize;
        let low = u16::from(packed[place / 8]);
        let high = u16::from(packed.get(place / 8 + 1).copied().unwrap_or(0));
        let code = (((high << 8) | low) >> (place % 8)) as u8;
        let top = code << unused;
        if signed { (top as i8 >> unused) as u8 } else { top >> unused }
    };
    (0..count).map(element).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: [Format; 7] = [
        Format::E4M3FN,
        Format::E4M3FNUZ,
        Format::E5M2,
        Format::E5M2FNUZ,
        Format::E2M1FN,
        Format::E2M3FN,
        Format::E3M2FN,
    ];

    /// The greatest and the least positive number, from the specifications.
    #[test]
    fn ends_of_every_format() {
        let ends = [
            (448.0, 2f64.powi(-9)),
            (240.0, 2f64.powi(-10)),
            (57344.0, 2f64.powi(-16)),
            (57344.0, 2f64.powi(-17)),
            (6.0, 0.5),
            (7.5, 0.125),
            (28.0, 0.0625),
        ];
        for (format, (greatest, least)) in FORMATS.into_iter().zip(ends) {
            assert_eq!(format.decode(format.greatest()), greatest, "{format:?}");
            assert_eq!(format.decode(1), least, "{format:?}");
        }
        assert_eq!(Format::E8M0FNU.decode(0), 2f64.powi(-127));
        assert_eq!(Format::E8M0FNU.decode(254), 2f64.powi(127));
        assert!(Format::E8M0FNU.decode(255).is_nan());
    }

    #[test]
    fn e5m2_is_the_upper_half_of_an_f16() {
        for code in 0..=255u8 {
            let (got, want) =
                (Format::E5M2.decode(code), half::f16::from_bits(u16::from(code) << 8).to_f64());
            assert!(got == want || got.is_nan() && want.is_nan(), "{code}: {got} {want}");
        }
    }

    #[test]
    fn codes_come_back() {
        for format in FORMATS {
            for code in 0..(1u16 << format.bits()) {
                let code = code as u8;
                let x = format.decode(code);
                if x.is_nan() {
                    assert!(format.decode(format.encode(x, true)).is_nan());
                } else if x.is_finite() {
                    assert_eq!(format.encode(x, true), code, "{format:?} {x}");
                }
            }
        }
        for code in 0..=255u8 {
            assert_eq!(Format::E8M0FNU.encode(Format::E8M0FNU.decode(code), true), code);
        }
    }

    #[test]
    fn rounds_to_even_and_saturates() {
        let format = Format::E4M3FN;
        // 1, 1.125, 1.25 are neighbours.
        assert_eq!(format.decode(format.encode(1.0625, true)), 1.0);
        assert_eq!(format.decode(format.encode(1.1875, true)), 1.25);
        assert_eq!(format.decode(format.encode(464.0, false)), 448.0);
        assert!(format.decode(format.encode(464.1, false)).is_nan());
        assert_eq!(format.decode(format.encode(f64::NEG_INFINITY, true)), -448.0);
        assert_eq!(Format::E5M2.decode(Format::E5M2.encode(-1e9, false)), f64::NEG_INFINITY);
        assert_eq!(Format::E4M3FNUZ.encode(-0.0, true), 0);
        assert_eq!(Format::E2M1FN.encode(f64::NAN, true), 8);
    }

    #[test]
    fn packed_bits_come_apart() {
        assert_eq!(unpack(&[0x2f, 0x01], 4, true, 3), [0xff, 2, 1]);
        assert_eq!(unpack(&[0x2f, 0x01], 4, false, 3), [15, 2, 1]);
        assert_eq!(unpack(&[0b11_10_01_00], 2, true, 4), [0, 1, 0xfe, 0xff]);
        assert_eq!(unpack(&[0x41, 0x20, 0x0c], 6, false, 4), [1, 1, 2, 3]);
    }
}
