//! Comparison of results: `|got - expected| <= atol + rtol * |expected|`.

use std::fmt;

use crate::tensor::{Number, Tensor};

/// The accepted difference between results and expected values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { rtol: 1e-3, atol: 1e-4 }
    }
}

/// A difference between a tensor and the expected one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Difference {
    #[error("output `{output}` has shape {got:?}, and {expected:?} is expected")]
    Shape { output: String, got: Vec<u64>, expected: Vec<u64> },
    #[error("{0}")]
    Values(Box<Worst>),
}

/// The element that exceeds the allowed difference most.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Worst {
    pub output: String,
    pub index: Vec<u64>,
    pub got: Number,
    pub expected: Number,
    /// `|got - expected|`; NaN if one of them is.
    pub difference: f64,
    /// `atol + rtol * |expected|`.
    pub allowed: f64,
    /// Number of elements that differ by more than is allowed.
    pub count: usize,
    /// Number of elements.
    pub elements: usize,
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "output `{}` differs in {} of {} elements; the worst is at {:?}: got {}, expected {}, \
             difference {:e} where {:e} is allowed",
            self.output,
            self.count,
            self.elements,
            self.index,
            self.got,
            self.expected,
            self.difference,
            self.allowed
        )
    }
}

/// Compares a result with what is expected; element types may differ, values are compared.
/// NaN equals NaN, infinities equal themselves.
///
/// # Errors
///
/// Another shape, or an element beyond the tolerance; the worst one is named.
pub fn compare(
    output: &str,
    got: &Tensor,
    expected: &Tensor,
    tolerance: Tolerance,
) -> Result<(), Difference> {
    if got.shape != expected.shape {
        let (got, expected) = (got.shape.clone(), expected.shape.clone());
        return Err(Difference::Shape { output: output.to_owned(), got, expected });
    }
    let elements = got.elements().min(expected.elements());
    let (mut count, mut worst): (usize, Option<(f64, usize)>) = (0, None);
    for i in 0..elements {
        let excess = excess(got.number(i), expected.number(i), tolerance);
        if excess > 0.0 {
            count += 1;
            if worst.is_none_or(|(most, _)| excess > most) {
                worst = Some((excess, i));
            }
        }
    }
    let Some((_, at)) = worst else { return Ok(()) };
    let (g, e) = (got.number(at), expected.number(at));
    Err(Difference::Values(Box::new(Worst {
        output: output.to_owned(),
        index: got.position(at),
        got: g,
        expected: e,
        difference: difference(g, e),
        allowed: tolerance.atol + tolerance.rtol * e.as_f64().abs(),
        count,
        elements,
    })))
}

/// Returns how far a difference exceeds the tolerance, infinite for NaN; 0 or less if within it.
fn excess(got: Number, expected: Number, tolerance: Tolerance) -> f64 {
    let (g, e) = (got.as_f64(), expected.as_f64());
    if got == expected || (g.is_nan() && e.is_nan()) {
        return 0.0;
    }
    // An infinite expectation would allow everything.
    if !g.is_finite() || !e.is_finite() {
        return f64::INFINITY;
    }
    difference(got, expected) - (tolerance.atol + tolerance.rtol * e.abs())
}

fn difference(got: Number, expected: Number) -> f64 {
    match (got, expected) {
        (Number::Int(a), Number::Int(b)) => (a - b).unsigned_abs() as f64,
        _ => (got.as_f64() - expected.as_f64()).abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn floats(values: &[f32]) -> Tensor {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Tensor { dtype: DType::F32, shape: vec![values.len() as u64], bytes }
    }

    fn against(got: &[f32], expected: &[f32]) -> Result<(), String> {
        compare("y", &floats(got), &floats(expected), Tolerance { rtol: 0.1, atol: 0.5 })
            .map_err(|e| e.to_string())
    }

    #[test]
    fn within_tolerance() {
        assert_eq!(against(&[10.0, -10.0, 0.5, f32::NAN], &[11.0, -11.6, 0.0, f32::NAN]), Ok(()));
        assert_eq!(against(&[f32::INFINITY], &[f32::INFINITY]), Ok(()));
        assert_eq!(against(&[], &[]), Ok(()));
    }

    #[test]
    fn names_the_worst() {
        let message = against(&[1.0, 5.0, 9.0], &[1.0, 1.0, 1.0]).expect_err("differs");
        assert!(message.contains("differs in 2 of 3 elements"), "{message}");
        assert!(
            message.contains("at [2]: got 9, expected 1, difference 8e0 where 6e-1"),
            "{message}"
        );
        assert!(against(&[f32::NAN], &[1.0]).is_err());
        assert!(against(&[1e30], &[f32::INFINITY]).is_err());
        assert!(against(&[1.0], &[1.0, 2.0]).expect_err("differs").contains("shape [1]"));
    }

    #[test]
    fn large_integers_are_exact() {
        let int =
            |v: i64| Tensor { dtype: DType::I64, shape: vec![], bytes: v.to_le_bytes().to_vec() };
        let exact = Tolerance { rtol: 0.0, atol: 0.0 };
        assert!(compare("y", &int(i64::MAX), &int(i64::MAX - 1), exact).is_err());
        assert_eq!(compare("y", &int(i64::MIN), &int(i64::MIN), exact), Ok(()));
    }
}
