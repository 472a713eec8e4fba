//! The head of a `.npy` file: a Python dictionary literal of three known keys.

use std::io::{self, Read};

use crate::dtype::DType;

/// Headers are short; one beyond this is not one.
const HEADER_BYTES_MAX: usize = 1 << 16;

/// Why a stream is not a tensor.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum HeaderError {
    #[error("cannot read it")]
    Io(#[from] io::Error),
    #[error("it does not begin with the mark of an npy file of version 1 to 3")]
    Mark,
    #[error("its header is not understood at `{0}`")]
    Syntax(String),
    #[error("its header lacks `{0}`")]
    Lacks(&'static str),
    #[error("elements of type `{0}` are not supported")]
    DType(String),
    #[error("its shape {0:?} is larger than memory")]
    TooLarge(Vec<u64>),
    #[error("it ends after {found} of {expected} bytes")]
    Short { expected: u64, found: u64 },
}

/// The contents of a header.
#[derive(Debug)]
pub struct Header {
    pub dtype: DType,
    pub big_endian: bool,
    pub fortran_order: bool,
    pub shape: Vec<u64>,
}

impl Header {
    /// Size of the elements.
    pub fn bytes(&self) -> Result<u64, HeaderError> {
        let size = self.shape.iter().try_fold(self.dtype.bytes() as u64, |n, &e| n.checked_mul(e));
        size.filter(|&n| n <= isize::MAX as u64)
            .ok_or_else(|| HeaderError::TooLarge(self.shape.clone()))
    }
}

/// Reads a header; the elements follow.
pub fn read(from: &mut dyn Read) -> Result<Header, HeaderError> {
    let mut mark = [0; 8];
    from.read_exact(&mut mark)?;
    let (b"\x93NUMPY", &[major, _]) = mark.split_at(6) else {
        return Err(HeaderError::Mark);
    };
    let mut length = [0; 4];
    match major {
        1 => from.read_exact(&mut length[..2])?,
        2 | 3 => from.read_exact(&mut length)?,
        _ => return Err(HeaderError::Mark),
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > HEADER_BYTES_MAX {
        return Err(HeaderError::Mark);
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text)?;
    parse(&String::from_utf8_lossy(&text))
}

/// Writes the header of a little-endian, row-major tensor, padded to 64 bytes.
pub fn write(dtype: DType, shape: &[u64]) -> Vec<u8> {
    let extents = match shape {
        [one] => format!("{one},"),
        _ => shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    };
    let descr = match dtype {
        DType::Bool => "|b1",
        DType::I8 | DType::I4 | DType::I2 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U16 | DType::BF16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        _ => "|u1",
    };
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    let padded = (10 + text.len() + 1).next_multiple_of(64);
    text.extend(std::iter::repeat_n(' ', padded - 10 - text.len() - 1));
    text.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.as_bytes());
    out
}

fn parse(text: &str) -> Result<Header, HeaderError> {
    let mut rest = Rest(text.trim());
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    rest.expect("{")?;
    while !rest.accept("}") {
        let key = rest.string()?;
        rest.expect(":")?;
        match key {
            "descr" => descr = Some(rest.string()?),
            "fortran_order" => {
                fortran_order = Some(rest.accept("True"));
                if fortran_order == Some(false) {
                    rest.expect("False")?;
                }
            }
            "shape" => shape = Some(rest.tuple()?),
            other => return Err(HeaderError::Syntax(other.to_owned())),
        }
        if !rest.accept(",") {
            rest.expect("}")?;
            break;
        }
    }
    let descr = descr.ok_or(HeaderError::Lacks("descr"))?;
    let dtype = match descr.trim_start_matches(['<', '>', '=', '|']) {
        "b1" => DType::Bool,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        // ml_dtypes' types of at most a byte have no name of their own in a file.
        "u1" | "V1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "V2" => DType::BF16,
        _ => return Err(HeaderError::DType(descr.to_owned())),
    };
    Ok(Header {
        dtype,
        big_endian: descr.starts_with('>'),
        fortran_order: fortran_order.ok_or(HeaderError::Lacks("fortran_order"))?,
        shape: shape.ok_or(HeaderError::Lacks("shape"))?,
    })
}

/// The text that is left to parse.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn accept(&mut self, word: &str) -> bool {
        let Some(rest) = self.0.strip_prefix(word) else {
            return false;
        };
        self.0 = rest.trim_start();
        true
    }

    fn expect(&mut self, word: &str) -> Result<(), HeaderError> {
        if self.accept(word) { Ok(()) } else { Err(self.error()) }
    }

    fn string(&mut self) -> Result<&'a str, HeaderError> {
        let quote = if self.0.starts_with('"') { '"' } else { '\'' };
        let inner = self.0.strip_prefix(quote).ok_or_else(|| self.error())?;
        let (text, rest) = inner.split_once(quote).ok_or_else(|| self.error())?;
        self.0 = rest.trim_start();
        Ok(text)
    }

    fn tuple(&mut self) -> Result<Vec<u64>, HeaderError> {
        let mut numbers = Vec::new();
        self.expect("(")?;
        while !self.accept(")") {
            let digits =
                self.0.len() - self.0.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, rest) = self.0.split_at(digits);
            numbers.push(number.parse().map_err(|_| self.error())?);
            self.0 = rest.trim_start();
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(numbers)
    }

    fn error(&self) -> HeaderError {
        HeaderError::Syntax(self.0.chars().take(20).collect())
    }
}
