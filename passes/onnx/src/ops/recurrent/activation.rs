//! The functions inside a recurrent cell, and how a node names them.

use super::super::unary::{ramp, sigmoid};
use crate::error::Result;
use crate::node::Node;
use crate::payload::{Calc, Num};

/// A function of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    Sigmoid,
    Tanh,
    Relu,
    /// `alpha · x + beta`.
    Affine(f64, f64),
    /// `alpha · x + beta`, between 0 and 1.
    HardSigmoid(f64, f64),
    /// `x`, scaled by this where it is negative.
    LeakyRelu(f64),
}

impl Activation {
    /// Its value, after `x` is brought between `-clip` and `clip`.
    pub fn of<'c>(self, calc: &mut Calc<'_, 'c>, mut x: Num<'c>, clip: Option<f64>) -> Num<'c> {
        if let Some(clip) = clip {
            let (low, high) = (calc.like(x, -clip), calc.like(x, clip));
            x = calc.max(x, low);
            x = calc.min(x, high);
        }
        let zero = calc.like(x, 0.0);
        match self {
            Self::Sigmoid => sigmoid(calc, x),
            Self::Tanh => calc.math("tanh", x),
            Self::Relu => calc.max(x, zero),
            Self::Affine(alpha, beta) => {
                let (alpha, beta) = (calc.like(x, alpha), calc.like(x, beta));
                let scaled = calc.mul(x, alpha);
                calc.add(scaled, beta)
            }
            Self::HardSigmoid(alpha, beta) => ramp(calc, x, alpha, beta),
            Self::LeakyRelu(alpha) => {
                let alpha = calc.like(x, alpha);
                let (below, scaled) = (calc.lt(x, zero), calc.mul(x, alpha));
                calc.select(below, scaled, x)
            }
        }
    }
}

/// The functions of every direction: as the node names them, or `default` for each.
pub fn of_directions(
    node: &Node<'_>,
    directions: usize,
    default: &[Activation],
) -> Result<Vec<Vec<Activation>>> {
    let names = node.strings("activations")?;
    // Functions take their numbers from these lists in turn.
    let mut alphas = node.floats("activation_alpha")?.iter().map(|&x| f64::from(x));
    let mut betas = node.floats("activation_beta")?.iter().map(|&x| f64::from(x));
    if names.is_empty() {
        return Ok(vec![default.to_vec(); directions]);
    }
    if names.len() != directions * default.len() {
        return Err(node
            .report(format!("has {} activations", names.len()))
            .help(format!("{} for each of its {directions} directions", default.len()))
            .invalid());
    }
    let mut named = |name: &&str| {
        Ok(match name.to_ascii_lowercase().as_str() {
            "sigmoid" => Activation::Sigmoid,
            "tanh" => Activation::Tanh,
            "relu" => Activation::Relu,
            "affine" => {
                Activation::Affine(alphas.next().unwrap_or(1.0), betas.next().unwrap_or(0.0))
            }
            "hardsigmoid" => {
                Activation::HardSigmoid(alphas.next().unwrap_or(0.2), betas.next().unwrap_or(0.5))
            }
            "leakyrelu" => Activation::LeakyRelu(alphas.next().unwrap_or(0.01)),
            _ => {
                return Err(node
                    .report(format!("has an activation {name:?}"))
                    .help("Affine, HardSigmoid, LeakyRelu, Relu, Sigmoid, Tanh")
                    .unsupported());
            }
        })
    };
    let all: Vec<_> = names.iter().map(&mut named).collect::<Result<_>>()?;
    Ok(all.chunks(default.len()).map(<[_]>::to_vec).collect())
}
