//! Tensors of which a kernel's engine brings boxes, as the code says them and as the driver is asked for them.

use std::collections::HashMap;
use std::ffi::c_void;

/// A tensor, and the shape of its boxes; dimensions the fastest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The kernel's operand that it is.
    pub operand: usize,
    /// Bytes of an element.
    pub elem_bytes: u32,
    /// Elements along each dimension.
    pub extents: Vec<u64>,
    /// Bytes between neighbours along each dimension but the fastest.
    pub strides: Vec<u64>,
    /// Elements of a box along each dimension.
    pub points: Vec<u32>,
    /// The bits of an address in shared memory that are swizzled: 0 to 3.
    pub swizzle: u32,
    /// The line that says it.
    pub line: String,
}

/// The most dimensions.
const DIMS: usize = 5;

impl Tensor {
    /// Reads the comments at the head of the code about the tensors of each kernel, in the order of its parameters
    /// behind its buffers: lines of the form
    /// `// box SYMBOL operand N bytes N extents NxN strides N points NxN swizzle N`, `-` for no strides.
    ///
    /// # Errors
    /// The first of these lines that is something else: a kernel would be launched without one of its parameters.
    pub fn read(code: &str) -> Result<HashMap<&str, Vec<Tensor>>, &str> {
        let mut found: HashMap<&str, Vec<Tensor>> = HashMap::new();
        for line in super::launch::head(code) {
            let Some(words) = line.strip_prefix("box ") else { continue };
            let (symbol, tensor) = one(words).ok_or(line)?;
            found.entry(symbol).or_default().push(tensor);
        }
        Ok(found)
    }
}

fn one(line: &str) -> Option<(&str, Tensor)> {
    let words: Vec<&str> = line.split(' ').collect();
    let [
        symbol,
        "operand",
        operand,
        "bytes",
        bytes,
        "extents",
        extents,
        "strides",
        strides,
        "points",
        points,
        "swizzle",
        swizzle,
    ] = words[..]
    else {
        return None;
    };
    let by = |text: &str| -> Option<Vec<u64>> {
        if text == "-" {
            return Some(Vec::new());
        }
        text.split('x').map(|number| number.parse().ok()).collect()
    };
    let points: Option<Vec<u32>> = by(points)?.into_iter().map(|own| own.try_into().ok()).collect();
    let tensor = Tensor {
        operand: operand.parse().ok()?,
        elem_bytes: bytes.parse().ok()?,
        extents: by(extents)?,
        strides: by(strides)?,
        points: points?,
        swizzle: swizzle.parse().ok()?,
        line: format!("box {line}"),
    };
    let dims = tensor.extents.len();
    let sound = (1..=DIMS).contains(&dims)
        && tensor.strides.len() + 1 == dims
        && tensor.points.len() == dims
        && matches!(tensor.elem_bytes, 1 | 2 | 4 | 8)
        && tensor.swizzle <= 3;
    sound.then_some((symbol, tensor))
}

/// What a kernel takes to find a tensor, which only the driver can write and only the device can read.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Descriptor(pub [u64; 16]);

/// A parameter of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Parameter {
    /// A number, or an address.
    Word(u64),
    /// A descriptor.
    Tensor(Descriptor),
}

impl Parameter {
    /// Where it is, as launches take it.
    pub fn place(&mut self) -> *mut c_void {
        match self {
            Self::Word(word) => (&raw mut *word).cast(),
            Self::Tensor(tensor) => (&raw mut tensor.0).cast(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_the_code_says_which_tensors_come_in_boxes() {
        let code = "// launch mm threads 256 groups 1 shared 196736\n\
                    // box mm operand 0 bytes 2 extents 4096x100 strides 8192 points 64x128 swizzle 3\n\
                    // box mm operand 1 bytes 4 extents 64 strides - points 32 swizzle 0\n\
                    .version 8.0\n";
        let found = Tensor::read(code).unwrap();
        let [first, second] = &found["mm"][..] else { panic!("{found:?}") };
        let expected = Tensor {
            operand: 0,
            elem_bytes: 2,
            extents: vec![4096, 100],
            strides: vec![8192],
            points: vec![64, 128],
            swizzle: 3,
            line: first.line.clone(),
        };
        assert!(first.line.starts_with("box mm operand 0 "));
        assert_eq!(*first, expected);
        assert_eq!((second.operand, &second.strides[..], second.swizzle), (1, &[][..], 0));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_line_that_is_something_else_is_told() {
        for line in [
            "box mm operand 0 bytes 2 extents 64x64 strides 128 points 64 swizzle 3",
            "box mm operand 0 bytes 3 extents 64 strides - points 64 swizzle 3",
            "box mm operand 0 bytes 2 extents 1x1x1x1x1x1 strides 1x1x1x1x1 points 1x1x1x1x1x1 swizzle 0",
            "box mm",
        ] {
            let code = format!("// {line}\n.version 8.0\n");
            assert_eq!(Tensor::read(&code), Err(line));
        }
    }
}
