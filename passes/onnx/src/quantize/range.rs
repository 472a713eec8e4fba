//! From the numbers that a tensor held on sample inputs to the scale of its bytes.

/// How a range of numbers is chosen for the codes of a byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ranges {
    /// With the least sum of squared errors.
    Error,
    /// So many percent of the numbers, as 99.99, as many left out at each end.
    Percentile(f64),
    /// All numbers.
    Extremes,
}

/// The scale of a tensor of bytes without a sign: a number is `scale * (code - zero)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// What one step of the code is.
    pub scale: f32,
    /// The code of zero.
    pub zero: u8,
}

impl Scale {
    /// Of the codes from `low`, at most zero, to `high`, at least zero: zero is a code, for
    /// borders and rectified numbers are exact then.
    fn of(low: f64, high: f64) -> Self {
        let scale = ((high - low) / 255.0) as f32;
        if !scale.is_normal() {
            return Self { scale: 1.0, zero: 0 };
        }
        let zero = (-low / f64::from(scale)).round().clamp(0.0, 255.0) as u8;
        Self { scale, zero }
    }

    /// The number that stands in a number's place.
    fn nearest(self, value: f64) -> f64 {
        let (scale, zero) = (f64::from(self.scale), f64::from(self.zero));
        let code = ((value / scale).round_ties_even() + zero).clamp(0.0, 255.0);
        scale * (code - zero)
    }
}

/// The least and the greatest number of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    /// The least, or zero.
    pub low: f64,
    /// The greatest, or zero.
    pub high: f64,
}

impl Default for Extremes {
    fn default() -> Self {
        Self { low: 0.0, high: 0.0 }
    }
}

impl Extremes {
    /// Takes further numbers in; `false` where one is none, or infinite.
    pub fn add(&mut self, numbers: impl Iterator<Item = f64>) -> bool {
        let mut finite = true;
        for number in numbers {
            finite &= number.is_finite();
            self.low = self.low.min(number);
            self.high = self.high.max(number);
        }
        finite
    }
}

/// Bins of a histogram: eight for each code of a byte.
const BINS: usize = 2048;

/// Shares of a range that are tried at each end: all of it, and less by a twentieth each.
const SHARES: usize = 15;

/// How often a tensor held which numbers.
#[derive(Clone, Debug)]
pub struct Histogram {
    extremes: Extremes,
    counts: Vec<u64>,
}

impl Histogram {
    /// An empty one for numbers between these.
    pub fn new(extremes: Extremes) -> Self {
        Self { extremes, counts: vec![0; BINS] }
    }

    fn width(&self) -> f64 {
        (self.extremes.high - self.extremes.low) / BINS as f64
    }

    /// Takes further numbers in.
    pub fn add(&mut self, numbers: impl Iterator<Item = f64>) {
        let (low, width) = (self.extremes.low, self.width());
        for number in numbers {
            let bin = ((number - low) / width) as usize;
            self.counts[bin.min(BINS - 1)] += 1;
        }
    }

    /// The scale for what was taken in.
    pub fn scale(&self, ranges: Ranges) -> Scale {
        let Extremes { low, high } = self.extremes;
        match ranges {
            Ranges::Extremes => Scale::of(low, high),
            Ranges::Percentile(percent) => self.within(percent),
            Ranges::Error => {
                let shares = || (0..SHARES).map(|step| 1.0 - 0.05 * step as f64);
                let ends = shares().flat_map(|below| shares().map(move |above| (below, above)));
                let scales = ends.map(|(below, above)| Scale::of(low * below, high * above));
                let costed = scales.map(|scale| (self.error(scale), scale));
                let least = costed.min_by(|one, other| one.0.total_cmp(&other.0));
                least.expect("all of a range is tried").1
            }
        }
    }

    /// The scale for all but the outermost numbers at both ends.
    fn within(&self, percent: f64) -> Scale {
        let all: u64 = self.counts.iter().sum();
        let left_out = (all as f64 * (1.0 - percent / 100.0) / 2.0) as u64;
        let behind = |counts: &mut dyn Iterator<Item = &u64>| {
            let mut sum = 0;
            let inside = counts.take_while(|&&count| {
                sum += count;
                sum <= left_out
            });
            inside.count() as f64
        };
        let Extremes { low, high } = self.extremes;
        let first = low + self.width() * behind(&mut self.counts.iter());
        let last = high - self.width() * behind(&mut self.counts.iter().rev());
        Scale::of(first.min(0.0), last.max(0.0))
    }

    /// The sum of the squared errors of the bins' middles.
    fn error(&self, scale: Scale) -> f64 {
        let width = self.width();
        let bins = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        bins.map(|(bin, &count)| {
            let middle = self.extremes.low + (bin as f64 + 0.5) * width;
            let off = middle - scale.nearest(middle);
            count as f64 * off * off
        })
        .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(numbers: &[f64]) -> Histogram {
        let mut extremes = Extremes::default();
        assert!(extremes.add(numbers.iter().copied()));
        let mut histogram = Histogram::new(extremes);
        histogram.add(numbers.iter().copied());
        histogram
    }

    #[test]
    fn zero_is_a_code_and_the_ends_are_reached() {
        let scale = histogram(&[-1.0, 0.25, 3.0]).scale(Ranges::Extremes);
        assert_eq!(scale, Scale { scale: (4.0f64 / 255.0) as f32, zero: 64 });
        assert_eq!(scale.nearest(0.0), 0.0);
        // Half a step at most.
        for value in [-1.0, 0.25, 3.0] {
            assert!((scale.nearest(value) - value).abs() <= 2.0 / 255.0 + 1e-6, "{value}");
        }
    }

    #[test]
    fn what_has_one_sign_has_all_codes_for_it() {
        let scale = histogram(&[0.5, 2.55]).scale(Ranges::Extremes);
        assert_eq!((scale.zero, scale.scale), (0, 0.01));
        let scale = histogram(&[-2.55, -0.5]).scale(Ranges::Extremes);
        assert_eq!((scale.zero, scale.scale), (255, 0.01));
    }

    #[test]
    fn nothing_but_zeros() {
        for ranges in [Ranges::Error, Ranges::Percentile(99.0), Ranges::Extremes] {
            let scale = histogram(&[0.0, 0.0]).scale(ranges);
            assert_eq!(scale, Scale { scale: 1.0, zero: 0 });
        }
    }

    #[test]
    fn percentiles_leave_out_at_both_ends() {
        // 1,000 numbers up to 1 and one of 100: the last is left out.
        let mut numbers: Vec<f64> = (0..1000).map(|number| f64::from(number) / 1000.0).collect();
        numbers.push(100.0);
        let scale = histogram(&numbers).scale(Ranges::Percentile(99.0));
        assert_eq!(scale.zero, 0);
        let greatest = scale.nearest(100.0);
        assert!((0.9..1.1).contains(&greatest), "{greatest}");
    }

    #[test]
    fn the_least_error_leaves_out_what_is_rare() {
        let mut numbers: Vec<f64> = (0..100_000).map(|n| f64::from(n % 1000) / 1000.0).collect();
        numbers.push(2.0);
        let histogram = histogram(&numbers);
        let (least, all) = (histogram.scale(Ranges::Error), histogram.scale(Ranges::Extremes));
        assert!(least.scale < all.scale);
        assert!(histogram.error(least) < histogram.error(all));
        // What is left out becomes the end of the range, which still holds all others.
        assert!(least.nearest(2.0) >= 0.95, "{}", least.nearest(2.0));
    }

    #[test]
    fn what_is_no_number_is_told() {
        let mut extremes = Extremes::default();
        assert!(!extremes.add([1.0, f64::NAN].into_iter()));
        assert!(!Extremes::default().add([f64::INFINITY].into_iter()));
    }
}
