//! Edges in registers: a softmax between two products, done in one pass over its rows.
//!
//! ```text
//! %s = tile.run @scores(%q, %k)                 %c = tile.connect %s in @reg
//! %m = tile.run @max(%s)                  ->    ...
//! ... %o = tile.run @values(%p, %v)             %o = tile.run @values_near(%d, %v)
//! ```
//!
//! All its edges pay together or none: what is handed over are pieces of rows that are gone when the next
//! piece comes (`tile/one_pass.rs`). The tiles of both products are chosen together (`block/pair.rs`).

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Context, Op, attr, remark};
use weft_dialects::tile::{RTile, Schedule};

use super::{CloneKey, Connecting, disconnect};
use crate::length;
use crate::math::POWER;
use crate::nest::Nest;
use crate::remarks;
use crate::tile::block::{self, Chosen, ChosenPair};
use crate::tile::construct_rtiles::read;
use crate::tile::groups::{Group, Order, starts_empty};
use crate::tile::one_pass::{Found, OnePass};
use crate::tile::policy::Tiled;
use crate::tile::views::kernel_of;
use crate::tile::why::{Rule, Why};
use crate::tile::write_compute::{Tiling, rewrite, rewrite_rows};

impl<'c> Connecting<'c> {
    /// Hands over in registers what lies between a product and one before it, where that is predicted to pay;
    /// gives how many edges there are.
    pub(super) fn one_pass(&mut self, order: &Order<'c>, last: Op<'c>) -> Result<u64, Failed> {
        if !self.has_registers() {
            return Ok(0);
        }
        let kernel = |name: &str| self.kernel(name);
        let found = match Found::at(&kernel, last) {
            Ok(found) => found,
            Err(why) => {
                if let Some(why) = why {
                    self.not_in_one_pass(last, why);
                }
                return Ok(0);
            }
        };
        if found.runs.iter().any(|run| length::is_in_run(*run, self.kernel(kernel_of(*run)))) {
            self.not_in_one_pass(last, "its rows end where a length says");
            return Ok(0);
        }
        let (chosen, told) = match self.chosen(&found) {
            Ok(chosen) => chosen,
            Err(why) => {
                self.not_in_one_pass(last, &why);
                return Ok(0);
            }
        };
        let registers = chosen.ways.registers.name;
        let mut edges = Vec::new();
        for &reader in &found.runs {
            for &from in found.runs.iter().filter(|from| **from != reader) {
                edges.extend(self.connect_in(reader, from, registers));
            }
        }
        if let Err(why) = self.stands(order, &found) {
            self.not_in_one_pass(last, why);
            disconnect(edges);
            return Ok(0);
        }
        if self.remarks {
            remark(last, &format!("@{}: {told}", kernel_of(last)));
        }
        self.write_one_pass(&found, &chosen)?;
        self.in_registers.extend(found.runs);
        Ok(edges.len() as u64)
    }

    fn not_in_one_pass(&self, last: Op<'c>, why: &str) {
        if self.remarks {
            let name = kernel_of(last);
            remark(last, &format!("@{name}: not in one pass with the product before: {why}"));
        }
    }

    /// Whether lanes are threads with registers of their own.
    fn has_registers(&self) -> bool {
        let memories = self.chooser.machine.memories();
        memories.iter().any(|memory| memory.is_registers() && memory.lanes().is_some())
    }

    /// Checks that connected runs are a group of their own that nobody else reads from.
    fn stands(&self, order: &Order<'c>, found: &Found<'c>) -> Result<(), &'static str> {
        let machine = self.chooser.machine;
        let last = found.runs[found.runs.len() - 1];
        let group = Group::around(machine, order, last).ok_or("nothing is handed over")?;
        if group.runs != found.runs {
            return Err("others read what is between");
        }
        let members = group.runs.len() - 1;
        if !group.stands(order) || (0..members).any(|member| group.leaves(member)) {
            return Err("what is between is read elsewhere, too");
        }
        if !group.runs.iter().take(members).all(|run| starts_empty(*run)) {
            return Err("a tensor between holds something before");
        }
        Ok(())
    }

    /// How they are done in one pass, and what is said of that.
    ///
    /// # Errors
    /// The reason that they are not.
    fn chosen(&self, found: &Found<'c>) -> Result<(ChosenPair<'c>, String), String> {
        let nests = found.nests();
        let chosen = block::choose_pair(self.chooser.machine, &nests, &found.one_pass)
            .ok_or("no instruction does both products so that lanes hand over nothing")?;
        let fixed =
            |nest: &&Nest<'c>| self.chooser.cycles_where(nest, &vec![false; nest.inputs.len()]);
        let apart: Option<f64> = nests.iter().map(fixed).sum();
        let (cycles, apart) = (chosen.cost.cycles, apart.unwrap_or(f64::INFINITY));
        if cycles >= apart && !self.all {
            return Err(format!("{cycles:.0} cycles, and {apart:.0} apart"));
        }
        let pair = &chosen.pair;
        let what = format!(
            "one pass by @{}, blocks of {} rows and pieces of {}",
            pair.scores.instruction().name,
            pair.scores.tile[pair.rows],
            pair.values.tile[block::K],
        );
        let told = remarks::chosen(&what, cycles, Some(("apart", apart)));
        Ok((chosen, told))
    }

    /// Gives each run a kernel of its own with the tiles of the pass.
    fn write_one_pass(&mut self, found: &Found<'c>, chosen: &ChosenPair<'c>) -> Result<(), Failed> {
        let names: Vec<_> = found.runs.iter().map(|run| kernel_of(*run).to_owned()).collect();
        for (member, run) in found.runs.iter().enumerate() {
            let (tile, extents) = (Vec::new(), Vec::new());
            let key = CloneKey { names: names.join(" "), member, tile, extents };
            let name = match self.clones.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let kernel = self.kernel(&names[member]).ok_or(Failed)?;
                    let new = self.plain(kernel)?;
                    self.tile_of_pass(new, member, &found.one_pass, chosen)?;
                    new.symbol().to_owned()
                }
            };
            run.set_attr("kernel", attr::of_symbol(self.context, &name));
            run.remove_attr("others");
            self.clones.insert(key, name);
        }
        Ok(())
    }

    fn tile_of_pass(
        &self,
        kernel: Op<'c>,
        member: usize,
        one_pass: &OnePass,
        chosen: &ChosenPair<'c>,
    ) -> Result<(), Failed> {
        let machine = self.chooser.machine;
        let nest = read(kernel)?;
        let ChosenPair { pair, ways, .. } = chosen;
        let products = [
            (one_pass.scores, &pair.scores, chosen.scores),
            (one_pass.values, &pair.values, chosen.values),
        ];
        if let Some((_, block, lying)) = products.into_iter().find(|(own, ..)| *own == member) {
            let tiles = block.rtiles(&nest, ways);
            let schedule = Schedule {
                stages: block.stages,
                turns: block.turns,
                resident: block.resident,
                ahead: ways.brings(block.ahead).map(|way| way.name.to_owned()),
                interleave: block.interleaved_axes(),
                ..Schedule::default()
            };
            let own = Chosen::of_pair(chosen, block, lying);
            let why = Why { cost: chosen.cost, rule: Rule::Enumerated, compared: chosen.compared };
            let last = member == one_pass.values;
            let tiled = Tiled::Block(Box::new(own));
            let why = last.then_some(why);
            let tiling = Tiling { tiled: &tiled, tiles: &tiles, schedule: &schedule, why };
            rewrite(self.context, machine, kernel, &nest, &tiling);
            return Ok(());
        }
        let mut units = machine.lanes_units().into_iter();
        let unit = units.find(|unit| unit.memory() == ways.registers.name);
        let unit = unit.ok_or(Failed)?;
        if member == one_pass.shifted && chosen.is_rough {
            roughen(self.context, kernel);
        }
        // NaN comes from the exponentials in any case, and some lanes take longer to look for it.
        if member == one_pass.largest && unit.reduces("arith.maxnumf", nest.sum_type(0)) {
            ignore_nan(self.context, kernel);
        }
        let side = pair.rows;
        let sizes = [
            (ways.near.name, [pair.scores.tile[side], pair.values.tile[block::K]]),
            (ways.registers.name, [pair.scores.group[side], pair.values.tile[block::K]]),
        ];
        let tiles = sizes.map(|(memory, own)| rows_tile(&nest, memory, own));
        rewrite_rows(self.context, kernel, &nest, unit.name, &tiles);
        Ok(())
    }
}

/// Greatest elements of those that are numbers.
fn ignore_nan<'c>(context: &'c Context, kernel: Op<'c>) {
    for op in named(kernel, "arith.maximumf") {
        let mut b = Builder::before(context, op).with_location(op.location());
        let results = [op.result(0).ty()];
        let greatest = b.op("arith.maxnumf", &op.operands(), &results).result(0);
        op.result(0).replace_with(greatest);
        op.erase();
    }
}

/// The operations of a kernel that have a name.
fn named<'c>(kernel: Op<'c>, name: &str) -> Vec<Op<'c>> {
    let mut found = Vec::new();
    kernel.walk(&mut |op| {
        if op.is(name) {
            found.push(op);
        }
    });
    found
}

/// `exp x` as the power of two of a rounded product.
fn roughen<'c>(context: &'c Context, kernel: Op<'c>) {
    for op in named(kernel, "math.exp") {
        let (value, ty) = (op.operand(0), op.result(0).ty());
        let mut b = Builder::before(context, op).with_location(op.location());
        let scale = b.number(ty, std::f64::consts::LOG2_E);
        let scaled = b.op("arith.mulf", &[value, scale], &[ty]).result(0);
        let power = b.op(POWER, &[scaled], &[ty]).result(0);
        op.result(0).replace_with(power);
        op.erase();
    }
}

/// So many rows, and points of each, of a nest that goes along the rows of its first input.
fn rows_tile(nest: &Nest<'_>, memory: &str, [rows, points]: [u64; 2]) -> RTile {
    let address = nest.inputs[0].address(nest.axes.len());
    let mut axes: Vec<usize> =
        (0..nest.axes.len()).filter(|&axis| address.coefficients[axis] != 0).collect();
    axes.sort_by_key(|&axis| address.coefficients[axis]);
    let mut sizes = vec![1; nest.axes.len()];
    for (axis, size) in axes.into_iter().zip([points, rows]) {
        sizes[axis] = size.min(nest.axes[axis].extent);
    }
    RTile { memory: memory.to_owned(), sizes }
}
