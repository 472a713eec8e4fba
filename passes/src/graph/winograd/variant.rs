//! The matrices of Winograd's algorithm, and how much its rounding errors may grow.
//!
//! ```text
//! y = Aᵀ [(G k Gᵀ) ∘ (Bᵀ x B)] A        ∘ multiplies element by element
//! ```
//!
//! A sum of `n` products has an error of at most `n u` times the sum of their magnitudes, `u`
//! the unit of rounding (Higham, "Accuracy and Stability of Numerical Algorithms", section
//! 3.1). The direct convolution sums `9 c` products of at most `|x| |k|`. Here an output sums `c` of
//! them, each grown by at most `(‖Aᵀ‖ ‖G‖ ‖Bᵀ‖)²`, ‖·‖ the largest sum of a row's magnitudes,
//! and is as many roundings away from its inputs as the sums on its way have terms.

/// F(m x m, 3 x 3).
#[derive(Debug)]
pub struct Variant {
    /// Bᵀ, (m + 2) x (m + 2).
    pub input: &'static [&'static [f64]],
    /// G, (m + 2) x 3.
    pub filter: &'static [&'static [f64]],
    /// Aᵀ, m x (m + 2).
    pub output: &'static [&'static [f64]],
}

/// F(2 x 2, 3 x 3): Lavin and Gray, section 4.1.
pub const F2: Variant = Variant {
    input: &[
        &[1.0, 0.0, -1.0, 0.0],
        &[0.0, 1.0, 1.0, 0.0],
        &[0.0, -1.0, 1.0, 0.0],
        &[0.0, 1.0, 0.0, -1.0],
    ],
    filter: &[&[1.0, 0.0, 0.0], &[0.5, 0.5, 0.5], &[0.5, -0.5, 0.5], &[0.0, 0.0, 1.0]],
    output: &[&[1.0, 1.0, 1.0, 0.0], &[0.0, 1.0, -1.0, -1.0]],
};

/// F(4 x 4, 3 x 3): section 4.3.
pub const F4: Variant = Variant {
    input: &[
        &[4.0, 0.0, -5.0, 0.0, 1.0, 0.0],
        &[0.0, -4.0, -4.0, 1.0, 1.0, 0.0],
        &[0.0, 4.0, -4.0, -1.0, 1.0, 0.0],
        &[0.0, -2.0, -1.0, 2.0, 1.0, 0.0],
        &[0.0, 2.0, -1.0, -2.0, 1.0, 0.0],
        &[0.0, 4.0, 0.0, -5.0, 0.0, 1.0],
    ],
    filter: &[
        &[1.0 / 4.0, 0.0, 0.0],
        &[-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
        &[-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
        &[1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
        &[1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
        &[0.0, 0.0, 1.0],
    ],
    output: &[
        &[1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
        &[0.0, 1.0, -1.0, 2.0, -2.0, 0.0],
        &[0.0, 1.0, 1.0, 4.0, 4.0, 0.0],
        &[0.0, 1.0, -1.0, 8.0, -8.0, 1.0],
    ],
};

impl Variant {
    /// Outputs of a tile along one direction.
    pub fn outputs(&self) -> u64 {
        self.output.len() as u64
    }

    /// Inputs of a tile along one direction.
    pub fn inputs(&self) -> u64 {
        self.input.len() as u64
    }

    /// `F(2x2, 3x3)`.
    pub fn name(&self) -> String {
        let m = self.outputs();
        format!("F({m}x{m}, 3x3)")
    }

    /// The bound on the error for sums over `channels`, over that of the direct convolution.
    pub fn error(&self, channels: u64) -> f64 {
        let grown = (norm(self.output) * norm(self.filter) * norm(self.input)).powi(2);
        let channels = channels.max(1) as f64;
        // Two sums of 3 for the filter, two of t for the input and for the output, and the
        // numbers of G.
        let roundings = channels + (2 * 3 + 4 * self.inputs() + 2) as f64;
        roundings * grown / (9.0 * channels * 9.0)
    }
}

/// The largest sum of a row's magnitudes.
fn norm(matrix: &[&[f64]]) -> f64 {
    let rows = matrix.iter().map(|row| row.iter().map(|number| number.abs()).sum::<f64>());
    rows.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `y[u] = Σ_r k[r] x[u + r]`, coefficient by coefficient.
    #[test]
    fn matrices_are_a_convolution() {
        for variant in [&F2, &F4] {
            let (m, t) = (variant.outputs() as usize, variant.inputs() as usize);
            assert_eq!(t, m + 2);
            for u in 0..m {
                for r in 0..3 {
                    for i in 0..t {
                        let terms = (0..t).map(|a| {
                            variant.output[u][a] * variant.filter[a][r] * variant.input[a][i]
                        });
                        let wanted = f64::from(u8::from(i == u + r));
                        assert!((terms.sum::<f64>() - wanted).abs() < 1e-12, "{u} {r} {i}");
                    }
                }
            }
        }
    }

    #[test]
    fn bounds_are_those_that_the_pass_states() {
        assert_eq!(F2.error(64), 1.0 + 24.0 / 64.0);
        assert!((F4.error(1 << 40) - 445.7).abs() < 0.1);
    }
}
