//! `graph-winograd`: 3 x 3 convolutions with fewer multiplications.
//!
//! ```text
//! y[n, f, h, w] += x[n, c, h + r, w + s] * k[f, c, r, s]          windows of 3 x 3
//!   ->  U[a, b, f, c]         = G k Gᵀ       of a weight: evaluated once
//!       V[a, b, c, n, th, tw] = Bᵀ x B       of tiles of (m + 2) x (m + 2) that overlap by 2
//!       M[a, b, f, n, th, tw] = Σ_c U * V    (m + 2)² products of matrices
//!       y                     = Aᵀ M A       tiles of m x m
//! ```
//!
//! F(m x m, 3 x 3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks"
//! (CVPR 2016, arXiv:1509.09308, sections 4.1 and 4.3): of 9 m² multiplications for a tile
//! (m + 2)² are left, 2.25 times fewer for tiles of 2 x 2 and 4 times for 4 x 4. Each
//! transform is two sums with a small matrix, one for each direction, so there are plain nests
//! alone. What hangs over the last whole tile is computed and cut off.
//!
//! **Accuracy.** Sums are of other numbers than the direct convolution's, so rounding shows
//! otherwise. `error` is the most that the bound on it may be, as a multiple of the direct
//! convolution's bound (`variant.rs`): tiles of 2 x 2 have `1 + 24 / c` for `c` channels, those
//! of 4 x 4 about 446. An infinity, or what is no number, spreads over its whole tile.
//!
//! On request only, by `tiles`, for which `--accuracy relaxed` of the tools stands. A convolution stays as
//! it is, with the reason as a remark (`read.rs`), where the machine's cost model says that the transforms
//! take more than the multiplications that they save (`cost.rs`); `when=always` does not ask it.

mod cost;
mod emit;
mod read;
mod variant;

use std::fmt;

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Block, Context, Op, remark};

use self::read::{Conv, Refusal};
use self::variant::{F2, F4, Variant};
use crate::remarks::chosen;
use crate::tile::Chooser;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-winograd",
    description: "Compute 3 x 3 convolutions by Winograd's algorithm",
    options: &[
        PassOption {
            name: "tiles",
            description: "outputs that a tile has: none leaves convolutions direct, 2x2, 4x4, or \
                          any, whichever is cheaper",
            fallback: "none",
        },
        PassOption {
            name: "error",
            description: "the most that the bound on rounding errors may be, as a multiple of \
                          the direct convolution's",
            fallback: "4",
        },
        PassOption {
            name: "when",
            description: "where it is applied: cheaper, always",
            fallback: "cheaper",
        },
        PassOption {
            name: "remarks",
            description: "say which convolutions are transformed, which stay direct, and why",
            fallback: "false",
        },
    ],
    statistics: &[("transformed", "convolutions that became products of transformed tiles")],
    run,
};

/// The rewrites that the options allow.
struct Wanted<'c> {
    variants: &'static [&'static Variant],
    error: f64,
    /// Predicts the cheaper form; `None` where that does not matter.
    chooser: Option<Chooser<'c>>,
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let variants = run.word("tiles", &TILES)?;
    let error = run.value("error", "a number above zero", |text| {
        text.parse().ok().filter(|number: &f64| *number > 0.0)
    })?;
    let cheaper = run.word("when", &[("cheaper", true), ("always", false)])?;
    let remarks = run.flag("remarks")?;
    if variants.is_empty() {
        return Ok(());
    }
    let machine = Machine::of(run.module).filter(|_| cheaper);
    let chooser = machine.map(|machine| Chooser::of(run, machine));
    let wanted = Wanted { variants, error, chooser };
    let mut nests = Vec::new();
    run.module.walk(&mut |op| {
        if op.is("linalg.generic") {
            nests.push(op);
        }
    });
    for nest in nests {
        let Some(conv) = Conv::read(nest) else { continue };
        let found = conv.and_then(|conv| Ok((transform(run.context, &conv, &wanted)?, conv)));
        let told = match &found {
            Ok((transformed, _)) => format!("is computed {transformed}"),
            Err(why) => format!("stays a direct convolution: {why} [{}]", why.rule()),
        };
        if remarks {
            remark(nest, &format!("{}{told}", super::named(nest)));
        }
        if let Ok((transformed, conv)) = found {
            transformed.written.replace(&conv);
            run.count("transformed", 1);
        }
    }
    Ok(())
}

/// Writes the nests of the cheapest variant that is accurate enough.
fn transform<'c>(
    context: &'c Context,
    conv: &Conv<'c>,
    wanted: &Wanted<'c>,
) -> Result<Transformed<'c>, Refusal> {
    let channels = conv.summed();
    let bound = |variant: &&&Variant| variant.error(channels);
    let least = wanted.variants.iter().map(|variant| variant.error(channels));
    let least = least.fold(f64::INFINITY, f64::min);
    if least > wanted.error {
        return Err(Refusal::Accuracy { bound: least, allowed: wanted.error });
    }
    let direct = wanted.chooser.as_ref().map(|chooser| cost::direct(chooser, conv));
    let mut best: Option<Transformed<'c>> = None;
    let mut refused = None;
    for variant in wanted.variants.iter().filter(|variant| bound(variant) <= wanted.error) {
        let written = emit::write(context, conv, variant);
        let cycles =
            wanted.chooser.as_ref().map_or(0.0, |chooser| cost::of(chooser, conv, &written));
        let cheaper = best.as_ref().is_none_or(|best| cycles < best.cycles);
        match direct {
            Some(direct) if cycles >= direct => {
                refused.get_or_insert(Refusal::Cost { variant: variant.name(), cycles, direct });
                written.erase();
            }
            _ if !cheaper => written.erase(),
            _ => {
                let error = variant.error(channels);
                let new = Transformed { variant, written, error, cycles, direct };
                if let Some(other) = best.replace(new) {
                    other.written.erase();
                }
            }
        }
    }
    let none = Refusal::Accuracy { bound: least, allowed: wanted.error };
    best.ok_or(refused.unwrap_or(none))
}

/// A convolution by Winograd's algorithm, beside the direct one.
struct Transformed<'c> {
    variant: &'static Variant,
    written: emit::Written<'c>,
    /// The bound on its rounding errors, over that of the direct one.
    error: f64,
    /// Predicted cycles, and those of the direct one where they were asked for.
    cycles: f64,
    direct: Option<f64>,
}

impl fmt::Display for Transformed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = format!("by {}", self.variant.name());
        let told = match self.direct {
            Some(direct) => chosen(&by, self.cycles, Some(("the direct convolution", direct))),
            None => by,
        };
        write!(
            f,
            "{told}; its rounding errors are bounded by {:.1} times the direct ones",
            self.error
        )
    }
}

/// The variants that the words of an option allow.
const TILES: [(&str, &[&Variant]); 4] =
    [("none", &[]), ("2x2", &[&F2]), ("4x4", &[&F4]), ("any", &[&F2, &F4])];

/// Erases an operation without uses, and then the operands that it alone used.
fn erase_unread(op: Op<'_>) {
    let before = op.block().map(Block::ops).unwrap_or_default();
    let mut unread = vec![op];
    for op in before.into_iter().rev() {
        let read = || op.results().iter().any(|result| !result.uses().is_empty());
        if unread.contains(&op) && !read() {
            unread.extend(op.operands().into_iter().filter_map(|operand| operand.def()));
            op.erase();
        }
    }
}
