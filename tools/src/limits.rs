//! The limit on the size of a model's tensors.
//!
//! A shape is easily written and hard to allocate: a Pad of a few bytes of text may ask for a
//! terabyte. The sizes of all tensors are looked at before any is made.

use weft_dialects::ir::{Op, Type, attr, ty};

use crate::Failure;

/// Default of the most bytes of one tensor: more than the largest layers of today's
/// models, and less than a machine of ordinary size breaks down under.
pub const MOST_BYTES: u64 = 16 << 30;

/// Refuses a module in which a tensor takes more than `most` bytes.
///
/// # Errors
/// The first such tensor in the order of the text: who makes it, its type, and the option that
/// raises the limit.
pub fn check(module: Op<'_>, most: u64) -> Result<(), Failure> {
    let mut large: Option<(String, String)> = None;
    let mut see = |who: &dyn Fn() -> String, ty: Type<'_>| {
        if large.is_none() && !fits(ty, most) {
            large = Some((who(), ty.to_string()));
        }
    };
    module.walk(&mut |op| {
        for result in op.results() {
            see(&|| named(op), result.ty());
        }
        // The arguments of a model, an operator's payload or a kernel.
        for block in (0..op.region_count()).flat_map(|region| op.region(region).blocks()) {
            for arg in block.args() {
                see(&|| named(op), arg.ty());
            }
        }
    });
    let Some((who, ty)) = large else { return Ok(()) };
    Err(Failure::said(
        format!("{who} has a tensor of {ty}, which takes more than {most} bytes"),
        "a smaller tensor, or a larger limit with --max-bytes",
    ))
}

/// Returns whether a tensor of a static shape takes at most so many bytes; others are refused
/// elsewhere.
fn fits(tensor: Type<'_>, most: u64) -> bool {
    let Some(shape) = ty::shape(tensor).filter(|_| ty::is_tensor(tensor)) else { return true };
    // Strides are products of extents also where one of them is zero.
    let element = ty::elem(tensor).and_then(ty::byte_size).unwrap_or(1);
    let bytes = shape.iter().try_fold(element, |bytes, &dim| bytes.checked_mul(dim.max(1)));
    bytes.is_some_and(|bytes| bytes <= most)
}

/// The operator or the program that an operation belongs to, for people.
fn named(op: Op<'_>) -> String {
    let mut around = std::iter::once(op).chain(op.ancestors());
    let owner = around.find(|op| ["graph.op", "graph.model", "tile.graph"].contains(&op.name()));
    match owner {
        Some(operator) if operator.is("graph.op") => {
            let text = |name: &str| operator.attr(name).and_then(attr::string).unwrap_or("");
            format!("{} {:?}", text("kind"), text("name"))
        }
        Some(program) => format!("@{}", program.symbol()),
        None => op.name().to_owned(),
    }
}

/// A number of bytes on the command line: `4096`, `512M`, `64G`.
///
/// # Errors
/// A message with the accepted forms.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a number of bytes; write 4096, 512M, 64G or 2T");
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'K')) => (&text[..at], 10),
        Some((at, 'M')) => (&text[..at], 20),
        Some((at, 'G')) => (&text[..at], 30),
        Some((at, 'T')) => (&text[..at], 40),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("512M"), Ok(512 << 20));
        assert_eq!(parse_bytes("2T"), Ok(2 << 40));
        for wrong in ["", "G", "-1", "1.5G", "0", "99999999999T", "1é"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
