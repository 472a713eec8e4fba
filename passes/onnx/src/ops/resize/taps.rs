//! The taps of a resized axis: a few positions for each element, and their weights.

/// The interpolation of an element between two places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// One of the two places beside it.
    Nearest(Nearest),
    /// By distance, from two places.
    Linear,
    /// By a cubic of this coefficient, from four.
    Cubic(f64),
}

/// Which of two places is the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nearest {
    /// The nearest, the lower one in the middle.
    PreferFloor,
    /// The nearest, the upper one in the middle.
    PreferCeil,
    /// The lower one.
    Floor,
    /// The upper one.
    Ceil,
}

/// The map from a coordinate of the result to one of the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinates {
    AlignCorners,
    Asymmetric,
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    CropAndResize,
}

/// The parameters of one axis.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    pub mode: Mode,
    pub coordinates: Coordinates,
    pub antialias: bool,
    pub exclude_outside: bool,
    /// The extent of the operand, of the result, and their exact ratio.
    pub input: i64,
    pub output: i64,
    pub scale: f64,
    /// The part that is kept, from 0 to 1, for [`Coordinates::CropAndResize`].
    pub roi: (f64, f64),
}

/// The taps of the elements of one axis: rows of as many taps each.
#[derive(Debug, Clone, PartialEq)]
pub struct Taps {
    /// The number of taps of each element.
    pub count: usize,
    /// The positions that they read.
    pub places: Vec<i64>,
    /// Their weights; all 1 where there is one tap.
    pub weights: Vec<f64>,
    /// The elements that lie outside of the operand.
    pub outside: Vec<bool>,
}

impl Axis {
    /// The number of places that an element may be made of.
    pub fn width(&self) -> f64 {
        let shrunk = if self.antialias { self.scale.min(1.0) } else { 1.0 };
        match self.mode {
            Mode::Nearest(_) => 2.0,
            Mode::Linear => 2.0 - 2.0 * ((-1.0 / shrunk).floor() + 1.0),
            Mode::Cubic(_) => 2.0 - 2.0 * ((-2.0 / shrunk).floor() + 1.0),
        }
    }

    /// True where the result is the operand.
    pub fn keeps(&self) -> bool {
        let crop = self.coordinates == Coordinates::CropAndResize && self.roi != (0.0, 1.0);
        self.input == self.output && (self.scale - 1.0).abs() <= 1e-9 && !crop
    }

    /// The coordinate in the operand of element `at` of the result.
    fn place(&self, at: f64) -> f64 {
        let (scale, input) = (self.scale, self.input as f64);
        let wide = scale * input;
        let half = (at + 0.5) / scale - 0.5;
        match self.coordinates {
            Coordinates::AlignCorners if wide == 1.0 => 0.0,
            Coordinates::AlignCorners => at * (input - 1.0) / (wide - 1.0),
            Coordinates::Asymmetric => at / scale,
            Coordinates::HalfPixel => half,
            Coordinates::HalfPixelSymmetric => {
                input / 2.0 * (1.0 - self.output as f64 / wide) + half
            }
            Coordinates::PytorchHalfPixel if wide == 1.0 => -0.5,
            Coordinates::PytorchHalfPixel => half,
            Coordinates::CropAndResize => {
                let (from, to) = self.roi;
                let part = (to - from) * (input - 1.0);
                let step = if wide == 1.0 { part / 2.0 } else { at * part / (wide - 1.0) };
                step + from * (input - 1.0)
            }
        }
    }

    /// Returns the weight of each of `width` places for an element `ratio` after the middle pair's
    /// first.
    fn weights(&self, ratio: f64, width: i64) -> Vec<f64> {
        let shrunk = if self.antialias { self.scale.min(1.0) } else { 1.0 };
        let distances = (0..width).map(|at| ((at + 1 - width / 2) as f64 - ratio) * shrunk);
        match self.mode {
            Mode::Nearest(nearest) => {
                let upper = ratio == 1.0
                    || match nearest {
                        Nearest::PreferFloor => ratio > 0.5,
                        Nearest::PreferCeil => ratio >= 0.5,
                        Nearest::Floor => false,
                        Nearest::Ceil => true,
                    };
                vec![f64::from(!upper), f64::from(upper)]
            }
            Mode::Linear => distances.map(|d| (1.0 - d.abs()).clamp(0.0, 1.0)).collect(),
            Mode::Cubic(a) => distances.map(|d| cubic(d.abs(), a)).collect(),
        }
    }

    /// The taps of every element.
    pub fn taps(&self) -> Taps {
        let width = self.width() as i64;
        let rows: Vec<_> = (0..self.output).map(|at| self.row(at, width)).collect();
        let count = rows.iter().map(|(row, _)| row.len()).max().unwrap_or(1);
        let (mut places, mut weights) = (Vec::new(), Vec::new());
        for (row, _) in &rows {
            for tap in 0..count {
                // A row that needs fewer reads its first place for nothing.
                let &(place, weight) = row.get(tap).unwrap_or(&(row[0].0, 0.0));
                places.push(place);
                weights.push(weight);
            }
        }
        let outside = rows.iter().map(|&(_, outside)| outside).collect();
        Taps { count, places, weights, outside }
    }

    /// The taps of one element, none of which counts nothing, and whether it lies outside.
    fn row(&self, at: i64, width: i64) -> (Vec<(i64, f64)>, bool) {
        let place = self.place(at as f64);
        let last = self.input - 1;
        let crop = self.coordinates == Coordinates::CropAndResize;
        let outside = crop && !(0.0..=last as f64).contains(&place);
        // The middle pair begins strictly before the place.
        let begin = place.ceil() - 1.0;
        let mut weights = self.weights(place - begin, width);
        let first = begin as i64 + 1 - width / 2;
        let inside = |tap: usize| (0..=last).contains(&first.saturating_add(tap as i64));
        if self.exclude_outside {
            for (tap, weight) in weights.iter_mut().enumerate() {
                *weight *= f64::from(inside(tap));
            }
        }
        let sum: f64 = weights.iter().sum();
        if (self.exclude_outside || self.antialias) && sum != 0.0 {
            weights.iter_mut().for_each(|weight| *weight /= sum);
        }
        let mut row: Vec<(i64, f64)> = Vec::new();
        for (tap, weight) in weights.into_iter().enumerate().filter(|&(_, weight)| weight != 0.0) {
            let place = first.saturating_add(tap as i64).clamp(0, last);
            match row.last_mut() {
                Some(before) if before.0 == place => before.1 += weight,
                _ => row.push((place, weight)),
            }
        }
        if row.is_empty() {
            row.push((0, 0.0));
        }
        (row, outside)
    }
}

/// The cubic of the convolution, at a distance.
fn cubic(d: f64, a: f64) -> f64 {
    match d {
        d if d <= 1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
        d if d < 2.0 => ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a,
        _ => 0.0,
    }
}

impl Taps {
    /// The factor by which elements are repeated, where that is all that happens.
    pub fn repeats(&self, input: i64, output: i64) -> Option<i64> {
        let factor = output / input.max(1);
        let repeated = || self.places.iter().enumerate().all(|(at, &p)| p == at as i64 / factor);
        (self.moves() && factor > 0 && output == input * factor && repeated()).then_some(factor)
    }

    /// True where every element is one of the operand.
    pub fn moves(&self) -> bool {
        self.count == 1 && self.weights.iter().all(|&weight| weight == 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(mode: Mode, coordinates: Coordinates, input: i64, output: i64) -> Axis {
        let scale = output as f64 / input as f64;
        let roi = (0.0, 1.0);
        Axis {
            mode,
            coordinates,
            antialias: false,
            exclude_outside: false,
            input,
            output,
            scale,
            roi,
        }
    }

    #[test]
    fn whole_factors_repeat() {
        for factor in 1..6 {
            for coordinates in [Coordinates::HalfPixel, Coordinates::PytorchHalfPixel] {
                let nearest = Mode::Nearest(Nearest::PreferFloor);
                let taps = axis(nearest, coordinates, 7, 7 * factor).taps();
                assert_eq!(taps.repeats(7, 7 * factor), Some(factor));
            }
        }
        let nearest = Mode::Nearest(Nearest::Ceil);
        assert_eq!(axis(nearest, Coordinates::Asymmetric, 4, 8).taps().repeats(4, 8), None);
    }

    #[test]
    fn halves_are_between_two() {
        let taps = axis(Mode::Linear, Coordinates::HalfPixel, 4, 2).taps();
        assert_eq!(taps.count, 2);
        assert_eq!(taps.places, [0, 1, 2, 3]);
        assert_eq!(taps.weights, [0.5; 4]);
    }

    #[test]
    fn borders_are_repeated_or_excluded() {
        let mut axis = axis(Mode::Cubic(-0.75), Coordinates::HalfPixel, 3, 6);
        for exclude in [false, true] {
            axis.exclude_outside = exclude;
            let taps = axis.taps();
            for row in taps.weights.chunks(taps.count) {
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
            }
            assert!(taps.places.iter().all(|place| (0..3).contains(place)));
        }
    }

    #[test]
    fn what_is_cropped_away_is_outside() {
        let mut axis = axis(Mode::Linear, Coordinates::CropAndResize, 4, 4);
        axis.roi = (0.5, 1.5);
        assert_eq!(axis.taps().outside, [false, false, true, true]);
    }
}
