//! The steps of a block tile whose inputs are brought a step ahead, through registers.
//!
//! ```text
//! fetch step 0 to registers
//! for i { barrier; put the registers into the shared memory; barrier
//!         fetch step i + 1 to registers
//!         fold the shared memory }
//! ```
//!
//! What was fetched is waited for where it is put, when the step before it is computed. The last
//! step fetches itself again, for a branch would cost every step.

use weft_dialects::device::{Limit, Move, Scope, build};
use weft_dialects::ir::{Builder, Type, Val};

use super::block::Blocks;
use super::block_steps::Steps;
use super::index::{Sum, scf_for};
use super::transfer::{Boxed, Pending, Transfer, Within, alloc, first};
use super::view::View;
use crate::tile::block::{Dealt, M, N, power_of_two_in};

/// An input's tile in the registers of the groups.
struct Ahead<'c> {
    side: usize,
    dealt: Dealt,
    registers: Val<'c>,
}

impl<'c> Blocks<'_, 'c> {
    /// How the tile of an input goes through registers; `None` where groups would not have as
    /// much each.
    fn dealt(&self, side: usize) -> Option<Dealt> {
        Dealt::of(&self.block, self.nest, side, self.lying(side).inner)
    }

    /// Folds all steps of the reductions into the sums, by way of `put`.
    pub(super) fn steps_ahead(
        &self,
        b: &mut Builder<'c>,
        put: &Move<'c>,
        starts: &[Sum<'c>],
        tiles: [Val<'c>; 2],
        fold: impl FnOnce(&mut Builder<'c>),
    ) {
        let held = [M, N].map(|side| {
            let dealt = self.dealt(side).expect("it was checked");
            let elem = self.input(side).elem();
            let registers = alloc(b, &dealt.shape(), elem, self.ways.registers.name);
            Ahead { side, dealt, registers }
        });
        let steps = Steps::of(self, starts);
        let begin = steps.at(b, Sum::number(0));
        for own in &held {
            self.fetch(b, own, &begin);
        }
        scf_for(b, &Sum::number(0), &Sum::number(steps.count() as i64), 1, |b, step| {
            self.barrier(b);
            for own in &held {
                self.put(b, put, own, tiles[own.side]);
            }
            self.barrier(b);
            let at = steps.at_or_last(b, &Sum::value(step).plus(&Sum::number(1), 1));
            for own in &held {
                self.fetch(b, own, &at);
            }
            // Else the code generator moves these to where they are used.
            build::barrier(b, Scope::Thread);
            fold(b);
        });
    }

    /// Where this group's part of a tile begins, across and along.
    fn begin(&self, b: &mut Builder<'c>, dealt: &Dealt) -> [Sum<'c>; 2] {
        let index = Type::index(self.context);
        let groups: u64 = self.block.groups().iter().product();
        let group = match groups {
            1 => Sum::number(0),
            _ => Sum::value(build::group(b)),
        };
        let place = match dealt.columns {
            1 => [group, Sum::number(0)],
            columns if columns >= groups => [Sum::number(0), group],
            columns => {
                let (group, columns) = (group.emit(b), b.index(columns as i64));
                ["arith.divui", "arith.remui"]
                    .map(|name| Sum::value(b.op(name, &[group, columns], &[index]).result(0)))
            }
        };
        let [row, column] = place;
        let [across, along] = dealt.apart();
        [(row, across), (column, along)]
            .map(|(place, apart)| Sum::default().plus(&place, apart as i64))
    }

    fn in_registers(&self, b: &mut Builder<'c>, own: &Ahead<'c>) -> Boxed<'c> {
        Boxed { view: first(b, own.registers), strides: own.dealt.in_registers() }
    }

    /// This group's part of an input's tile to its registers, zeros behind the end.
    fn fetch(&self, b: &mut Builder<'c>, own: &Ahead<'c>, at: &[Sum<'c>]) {
        let (dealt, access) = (own.dealt, self.input(own.side));
        let sides = [dealt.across, dealt.along];
        let mut at = at.to_vec();
        for (side, begin) in sides.into_iter().zip(self.begin(b, &dealt)) {
            let place = &mut at[self.block.axes[side]];
            *place = place.clone().plus(&begin, 1);
        }
        let far = self.strides(access);
        let strides = dealt.steps(sides.map(|side| far[side]));
        let from = Boxed { view: self.view(b, access, &at), strides };
        let to = self.in_registers(b, own);
        let limits = (0..2).filter_map(|place| {
            let bound = self.left(b, sides[place], &at)?;
            let steps = dealt.steps([0, 1].map(|own| i64::from(own == place)));
            Some(Limit { bound, steps })
        });
        let within = Within { limits: limits.collect(), pads: true, run: dealt.run };
        let sizes = dealt.sizes();
        let moved = Transfer { from: &from, to: &to, sizes: &sizes, within: &within };
        Pending::default().transfer_within(b, &self.ways.fetch, moved);
    }

    /// What was fetched of a tile to where all groups read it.
    fn put(&self, b: &mut Builder<'c>, way: &Move<'c>, own: &Ahead<'c>, tile: Val<'c>) {
        let (dealt, lying) = (own.dealt, self.lying(own.side));
        let sides = [dealt.across, dealt.along];
        let near = self.block.apart(own.side, &lying);
        let mut indices = self.begin(b, &dealt).map(|begin| begin.emit(b)).to_vec();
        if lying.inner != self.block.axes[dealt.along] {
            indices.reverse();
        }
        let from = self.in_registers(b, own);
        let strides = dealt.steps(sides.map(|side| near[side]));
        let to = Boxed { view: View { memref: tile, indices }, strides };
        let run = power_of_two_in(dealt.wide(), lying.layout.pitch);
        let within = Within { run, ..Within::default() };
        let sizes = dealt.sizes();
        let moved = Transfer { from: &from, to: &to, sizes: &sizes, within: &within };
        Pending::default().transfer_within(b, way, moved);
    }
}
