//! Which rTask a block of a launch is: hardware begins blocks in the order of their numbers.
//!
//! ```text
//! cluster [2, 32]          blocks 0, 1, 2, 3 are rTasks 0, 32, 1, 33
//! bands [4, 16, 32]        blocks 0 to 7 are rTasks 0, 32, 64, 96, 1, 33, 65, 97
//! both                     bands of 2 clusters: blocks 0 to 3 are rTasks 0, 32, 64, 96
//! ```

use weft_dialects::device::{Bands, Cluster, Kernel};
use weft_dialects::ir::{Builder, Val, ty};

/// The rTask of a block, both `i32`: blocks of a cluster follow each other, and clusters go band by band.
pub(super) fn task_of<'c>(b: &mut Builder<'c>, kernel: &Kernel<'c>, block: Val<'c>) -> Val<'c> {
    let Some(cluster) = kernel.cluster else {
        return kernel.bands.map_or(block, |bands| in_bands(b, bands, block));
    };
    let bands = kernel.bands.and_then(|own| own.of_clusters(cluster));
    let Cluster { count, apart } = cluster;
    if apart == 1 && bands.is_none() {
        return block;
    }
    let own = by(b, "arith.remui", block, count);
    let number = by(b, "arith.divui", block, count);
    let number = bands.map_or(number, |bands| in_bands(b, bands, number));
    // (number / apart) count apart + own apart + number mod apart
    let whole = by(b, "arith.divui", number, apart);
    let whole = by(b, "arith.muli", whole, cluster.whole());
    let own = by(b, "arith.muli", own, apart);
    let rest = by(b, "arith.remui", number, apart);
    sum(b, &[whole, own, rest])
}

/// The number at a place of the order that bands make.
fn in_bands<'c>(b: &mut Builder<'c>, bands: Bands, place: Val<'c>) -> Val<'c> {
    let Bands { count, all, apart } = bands;
    let inside = by(b, "arith.remui", place, bands.whole());
    let around = of(b, "arith.subi", place, inside);
    let band = by(b, "arith.divui", inside, count * apart);
    let inside = by(b, "arith.remui", inside, count * apart);
    let first = by(b, "arith.muli", band, count);
    // The last band may have fewer.
    let mut own = number(b, count);
    if !all.is_multiple_of(count) {
        let rest = number(b, all);
        let rest = of(b, "arith.subi", rest, first);
        own = of(b, "arith.minui", own, rest);
    }
    let along = of(b, "arith.remui", inside, own);
    let between = of(b, "arith.divui", inside, own);
    // around + (first + along) apart + between
    let along = of(b, "arith.addi", first, along);
    let along = by(b, "arith.muli", along, apart);
    sum(b, &[around, along, between])
}

fn of<'c>(b: &mut Builder<'c>, name: &str, one: Val<'c>, other: Val<'c>) -> Val<'c> {
    b.op(name, &[one, other], &[one.ty()]).result(0)
}

fn by<'c>(b: &mut Builder<'c>, name: &str, one: Val<'c>, other: u64) -> Val<'c> {
    let other = number(b, other);
    of(b, name, one, other)
}

fn number<'c>(b: &mut Builder<'c>, own: u64) -> Val<'c> {
    let int = ty::int(b.context(), 32);
    b.integer(int, own as i64)
}

fn sum<'c>(b: &mut Builder<'c>, all: &[Val<'c>]) -> Val<'c> {
    let add = |one, other: &Val<'c>| of(b, "arith.addi", one, *other);
    all[1..].iter().fold(all[0], add)
}

#[cfg(test)]
mod tests {
    use weft_dialects::ir::{attr, context, module_op, parse};

    use super::*;

    const MACHINE: &str = r#"device.machine @m arch("m") features([]) {
        device.memory @dram scope("device") capacity_bytes(65536)
        device.memory @smem scope("core") capacity_bytes(65536)
        device.unit @core count(4)
        device.engine @copies on @core queue(8)
        device.move @in from @dram to @smem engine(@copies) strided boxes({dims = 3, points = 256,
          step_bytes = 16, line_bytes = 128, align_bytes = 1024, units = 4, meet_cycles = 100})
      }"#;

    /// What the code computes for a block.
    fn value(of: Val<'_>, block: u32) -> u32 {
        let Some(op) = of.def() else { return block };
        let operand = |number: usize| value(op.operand(number), block);
        match op.name() {
            "arith.constant" => op.attr("value").and_then(attr::int).expect("a number") as u32,
            "arith.addi" => operand(0) + operand(1),
            "arith.subi" => operand(0) - operand(1),
            "arith.muli" => operand(0) * operand(1),
            "arith.divui" => operand(0) / operand(1),
            "arith.remui" => operand(0) % operand(1),
            "arith.minui" => operand(0).min(operand(1)),
            name => unreachable!("{name}"),
        }
    }

    /// The rTasks of a launch's blocks.
    fn tasks(count: u32, order: &str) -> Vec<u32> {
        let context = context();
        let kernel = format!("device.kernel @k tasks {count} {order} {{ ^bb0(%t: index): }}");
        let module = parse(&context, &format!("{MACHINE}\n{kernel}")).expect("it is good");
        let ops = module_op(&module).body(0).expect("a module").ops();
        let kernel = ops.into_iter().find_map(Kernel::of).expect("a kernel");
        let b = Builder::before(&context, kernel.op);
        let block = b.block(kernel.op.region(0), &[ty::int(&context, 32)]);
        let mut b = b.into_block(block);
        let task = task_of(&mut b, &kernel, block.arg(0));
        (0..count).map(|block| value(task, block)).collect()
    }

    #[test]
    fn blocks_are_dealt_band_by_band() {
        assert_eq!(tasks(8, "bands [2, 4, 2]"), [0, 2, 1, 3, 4, 6, 5, 7]);
        // Three, then the one that is left; then the same of what follows.
        assert_eq!(tasks(16, "bands [3, 4, 2]")[..9], [0, 2, 4, 1, 3, 5, 6, 7, 8]);
    }

    #[test]
    fn clusters_stay_whole() {
        assert_eq!(tasks(8, "cluster [2, 2]"), [0, 2, 1, 3, 4, 6, 5, 7]);
        // As far apart: two clusters of a column, then those of the next one.
        assert_eq!(tasks(8, "cluster [2, 2] bands [4, 4, 2]"), [0, 2, 4, 6, 1, 3, 5, 7]);
        // Between the rTasks of a band, and with bands between theirs.
        assert_eq!(tasks(8, "cluster [2, 1] bands [2, 2, 4]"), [0, 1, 4, 5, 2, 3, 6, 7]);
        assert_eq!(tasks(8, "cluster [2, 4] bands [2, 2, 2]"), [0, 4, 2, 6, 1, 5, 3, 7]);
    }

    #[test]
    fn every_task_is_begun_once() {
        for order in
            ["bands [5, 12, 2]", "cluster [4, 1] bands [3, 6, 8]", "cluster [2, 6] bands [4, 8, 6]"]
        {
            let mut all = tasks(48, order);
            all.sort_unstable();
            assert!(all.into_iter().eq(0..48), "{order}");
        }
    }
}
