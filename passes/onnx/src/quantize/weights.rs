//! Weights as signed bytes, with a scale for each index of one dimension.

use super::Ranges;
use crate::elements::Elements;
use crate::error::{Report, Result};

/// The greatest code; the least is its negative, so that zero is in the middle.
const MOST: f64 = 127.0;

/// Shares of the greatest weight that are tried as the greatest code: all of it, and less by a fiftieth each.
const SHARES: usize = 25;

/// The bytes of weights, row-major, and the scale of each index of `axis`. With [`Ranges::Error`] the greatest
/// weights of a channel may be cut off, where that makes the sum of the squared errors less; otherwise none is.
///
/// # Errors
/// A weight that is no number, or infinite.
pub fn quantize(
    weights: &Elements,
    axis: usize,
    ranges: Ranges,
    what: &str,
) -> Result<(Vec<i8>, Vec<f32>)> {
    let dims: Vec<usize> = weights.ty().dims().iter().map(|&dim| dim as usize).collect();
    let inner: usize = dims[axis + 1..].iter().product();
    let channel = |at: usize| at / inner % dims[axis];
    let mut channels = vec![Vec::new(); dims[axis]];
    for (at, weight) in weights.scalars().enumerate() {
        channels[channel(at)].push(weight.as_f64());
    }
    if channels.iter().flatten().any(|weight| !weight.is_finite()) {
        return Err(Report::new(format!("{what} holds a weight that is no finite number"))
            .help("leave the layer as it is with --keep")
            .invalid());
    }
    let scales: Vec<f32> = channels.iter().map(|own| scale(own, ranges)).collect();
    let codes = weights.scalars().enumerate();
    let codes = codes.map(|(at, weight)| code(weight.as_f64(), scales[channel(at)]) as i8);
    Ok((codes.collect(), scales))
}

fn code(weight: f64, scale: f32) -> f64 {
    (weight / f64::from(scale)).round_ties_even().clamp(-MOST, MOST)
}

fn scale(weights: &[f64], ranges: Ranges) -> f32 {
    let greatest = weights.iter().fold(0.0f64, |most, weight| most.max(weight.abs()));
    let of_share = |share: f64| {
        let scale = (greatest * share / MOST) as f32;
        if scale.is_normal() { scale } else { 1.0 }
    };
    if ranges != Ranges::Error {
        return of_share(1.0);
    }
    let error = |scale: f32| {
        let off = |weight: &f64| weight - f64::from(scale) * code(*weight, scale);
        weights.iter().map(|weight| off(weight).powi(2)).sum::<f64>()
    };
    let scales = (0..SHARES).map(|step| of_share(1.0 - 0.02 * step as f64));
    let costed = scales.map(|scale| (error(scale), scale));
    costed.min_by(|one, other| one.0.total_cmp(&other.0)).expect("all of it is tried").1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::Scalar;
    use crate::types::{ElementType, TensorType};

    fn weights(dims: &[i64], numbers: &[f64]) -> Elements {
        let ty = TensorType::new(ElementType::F32, dims.to_vec(), "weights").unwrap();
        Elements::from_scalars(ty, numbers.iter().map(|&number| Scalar::Float(number)))
    }

    #[test]
    fn a_scale_for_each_index_of_the_axis() {
        let both = weights(&[2, 3], &[1.0, -127.0, 0.5, 2.0, 254.0, 1.0]);
        let (codes, scales) = quantize(&both, 1, Ranges::Extremes, "w").unwrap();
        assert_eq!(scales, [2.0 / 127.0, 2.0, 1.0 / 127.0].map(|scale: f64| scale as f32));
        // 1 / (2 / 127) and 0.5 / (1 / 127) are 63.5, which goes to the even neighbour.
        assert_eq!(codes, [64, -64, 64, 127, 127, 127]);
        let (codes, scales) = quantize(&both, 0, Ranges::Extremes, "w").unwrap();
        assert_eq!(scales, [1.0, 2.0]);
        assert_eq!(codes, [1, -127, 0, 1, 127, 0]);
    }

    #[test]
    fn zeros_have_a_scale() {
        let (codes, scales) =
            quantize(&weights(&[1, 2], &[0.0; 2]), 0, Ranges::Error, "w").unwrap();
        assert_eq!((codes, scales), (vec![0, 0], vec![1.0]));
    }

    #[test]
    fn the_least_error_cuts_off_what_is_rare() {
        let mut numbers: Vec<f64> = (0..1000).map(|n| f64::from(n % 100) / 100.0).collect();
        numbers[7] = 1.3;
        let own = weights(&[1, 1000], &numbers);
        let off = |ranges| {
            let (codes, scales) = quantize(&own, 0, ranges, "w").unwrap();
            let pairs = codes.iter().zip(&numbers);
            pairs.map(|(&c, w)| (f64::from(c) * f64::from(scales[0]) - w).powi(2)).sum::<f64>()
        };
        assert!(off(Ranges::Error) <= off(Ranges::Extremes));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let error = quantize(&weights(&[1, 2], &[1.0, f64::NAN]), 0, Ranges::Error, "weight \"w\"");
        assert!(error.unwrap_err().to_string().contains("weight \"w\" holds a weight that is no"));
    }
}
