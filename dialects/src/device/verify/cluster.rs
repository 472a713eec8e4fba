//! Constraints of rTasks that run at the same time, on units beside each other.
//!
//! ```text
//! cluster [2, 32]          rTask t runs with t ± 32; of its number, two rTasks differ in the digit (t / 32) mod 2
//! t mod 32, t / 64         the same for both
//! ```

use super::super::tokens::{BOUNDS, Kind, begun};
use super::super::{Cluster, Kernel, Machine, Scope, Transfer};
use super::rooms::number;
use crate::ir::{Diagnostics, Op, Val};

/// C6. A cluster is two rTasks or more, as many as a move of boxes serves at most, and the kernel's rTasks are whole
/// clusters.
pub(super) fn kernel_c6(op: Op<'_>, diag: &mut Diagnostics) {
    if op.attr("cluster").is_none() {
        return;
    }
    let (Some(kernel), Some(machine)) = (Kernel::of(op), Machine::of(op)) else { return };
    let Some(Cluster { count, apart }) = kernel.cluster else {
        diag.error(op, "device.kernel has a cluster that is not [rTasks, distance]")
            .help("give two numbers: 2 rTasks or more, and 1 or more between the numbers of two");
        return;
    };
    let most = machine.moves().iter().filter_map(|way| way.boxes()?.units).max().unwrap_or(1);
    if count > most {
        let help = match most {
            1 => "leave the cluster out: no move of the machine brings boxes to several units"
                .to_owned(),
            most => format!("a move of the machine brings boxes to {most} units at most"),
        };
        diag.error(op, format!("device.kernel has clusters of {count} rTasks")).help(help);
    }
    let whole = Cluster { count, apart }.whole();
    if !kernel.tasks.is_multiple_of(whole) {
        let what = format!(
            "device.kernel has {} rTasks, and clusters of {count} that are {apart} apart",
            kernel.tasks
        );
        diag.error(op, what).help(format!("their number is a multiple of {whole}"));
    }
}

/// C7. What the rTasks of a cluster do together, to bring one box and to wait for each other, they do alike: by no index
/// that differs between them; these and their own boxes, with which they count, under no condition that does.
pub(super) fn kernel_c7(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(kernel), Some(machine)) = (Kernel::of(op), Machine::of(op)) else { return };
    op.walk(&mut |inner| {
        let together = Transfer::of(inner).is_some_and(|transfer| transfer.together);
        let Some(cluster) = kernel.cluster else {
            if together {
                diag.error(inner, "device.transfer is `together`, and its kernel has no cluster")
                    .help("give the kernel a `cluster`, or leave `together` out");
            }
            return;
        };
        let meets = Scope::of_barrier(inner) == Some(Scope::Cluster);
        if !meets && begun(machine, inner) != Some(Kind::Boxes) {
            return;
        }
        let mut alike = Same { kernel: &kernel, cluster, seen: Vec::new() };
        let around = std::iter::successors(inner.parent(), |own| own.parent());
        let around: Vec<_> = around.take_while(|own| *own != op).collect();
        if let Some(other) = around.iter().find(|own| !own.is("scf.for") && !own.is("scf.if")) {
            let what = format!("{} is inside of {}", inner.name(), other.name());
            diag.error(inner, what).help("rTasks of a cluster do it together: in loops that count and conditions");
            return;
        }
        // A condition has one operand, a loop bounds and what it carries.
        let conditions = around.iter().flat_map(|own| own.operands().into_iter().take(BOUNDS));
        let own = inner.operands().into_iter().filter(|_| together);
        let differs = conditions.chain(own).find(|value| !alike.is(*value));
        if let Some(value) = differs {
            let what = format!("{} takes what differs between rTasks of a cluster", inner.name());
            let place = value.def().or(value.owner_block().and_then(|block| block.parent()));
            let mut report = diag.error(inner, what);
            if let Some(place) = place {
                report = report.note(place, "it comes from here");
            }
            report.help(
                "they do it together: of the rTask's number it depends on (number mod m) where m divides the \
                 distance of the cluster's, or number / m where m is a multiple of all it reaches",
            );
        }
    });
}

/// `number / low mod (high / low)` of an rTask's number; without `high` all of `number / low`.
#[derive(Clone, Copy)]
struct Digit {
    low: u64,
    high: Option<u64>,
}

/// Which values are the same for all rTasks of a cluster.
struct Same<'k, 'c> {
    kernel: &'k Kernel<'c>,
    cluster: Cluster,
    /// What loops carry and is being looked at: the same if everything else is.
    seen: Vec<Val<'c>>,
}

impl<'c> Same<'_, 'c> {
    fn is(&mut self, value: Val<'c>) -> bool {
        if self.seen.contains(&value) {
            return true;
        }
        if let Some(Digit { low, high }) = self.digit(value) {
            let below = high.is_some_and(|high| self.cluster.apart.is_multiple_of(high));
            return below || low.is_multiple_of(self.cluster.whole());
        }
        match value.def() {
            Some(op) if op.is("device.alloc") || op.is("device.group") => true,
            Some(op) if op.is("scf.for") => {
                self.has_bounds(op) && self.is_carried(op, value.index())
            }
            Some(op) => {
                let plain = op.name().starts_with("arith.") || op.is("affine.apply");
                plain && op.operands().into_iter().all(|own| self.is(own))
            }
            None => self.is_argument(value),
        }
    }

    /// An argument of the kernel's, or of a loop's round.
    fn is_argument(&mut self, value: Val<'c>) -> bool {
        let around = value.owner_block().and_then(|block| block.parent());
        match around.filter(|op| op.is("scf.for")) {
            None => around == Some(self.kernel.op),
            Some(round) => match value.index().checked_sub(1) {
                None => self.has_bounds(round),
                Some(place) => {
                    self.seen.push(value);
                    self.is_carried(round, place)
                }
            },
        }
    }

    /// Whether a loop goes as many rounds.
    fn has_bounds(&mut self, round: Op<'c>) -> bool {
        round.operands().into_iter().take(BOUNDS).all(|own| self.is(own))
    }

    /// What a loop hands on, from before it and from each of its rounds.
    fn is_carried(&mut self, round: Op<'c>, place: usize) -> bool {
        let end = round.body(0).and_then(|body| body.terminator());
        let first = round.operands().get(BOUNDS + place).copied();
        let ends = first.into_iter().chain(end.map(|end| end.operand(place)));
        let ends: Vec<_> = ends.collect();
        ends.len() == 2 && ends.into_iter().all(|own| self.is(own))
    }

    /// The part of the rTask's number that a value is.
    fn digit(&self, value: Val<'c>) -> Option<Digit> {
        if self.kernel.task() == Some(value) {
            return Some(Digit { low: 1, high: None });
        }
        let op = value.def().filter(|op| op.is("arith.remui") || op.is("arith.divui"))?;
        let Digit { low, high } = self.digit(op.operand(0))?;
        let by = number(op.operand(1)).and_then(|by| u64::try_from(by).ok())?;
        let cut = low.checked_mul(by).filter(|cut| *cut > 0)?;
        if high.is_some_and(|high| !high.is_multiple_of(cut)) {
            return None;
        }
        Some(match op.is("arith.remui") {
            true => Digit { low, high: Some(cut) },
            false => Digit { low: cut, high },
        })
    }
}
