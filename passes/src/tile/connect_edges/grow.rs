//! Groups of runs that pay only together.
//!
//! ```text
//! %s = scores; %m = max %s; %e = exp(%s - %m)      %s alone to %m saves nothing, for %e reads it, too
//! ```
//!
//! In a chain where each reads only what the one before makes, edges save what they save alone.

use std::collections::HashSet;

use weft_dialects::ir::{Op, Val, remark};

use super::{Connecting, disconnect};
use crate::tile::groups::{Group, Order, maker};
use crate::tile::subgraph::Unjoined;
use crate::tile::views::kernel_of;

/// Runs that are taken in one after the other, at most.
const MOST: usize = 6;

impl<'c> Connecting<'c> {
    /// Takes the readers of a run and of what they make into its group, one after the other, and
    /// keeps as many as save the most together. Returns the edges that stay.
    pub(super) fn grow(
        &mut self,
        order: &Order<'c>,
        first: Op<'c>,
        constant: &HashSet<Val<'c>>,
    ) -> Vec<(Val<'c>, Op<'c>)> {
        // Constants are no edges; all runs that use a weight may read it.
        let known = first.results().iter().any(|made| constant.contains(made));
        if known || order.readers(&[first]).len() < 2 || self.whole_member(first).is_none() {
            return Vec::new();
        }
        let mut runs =
            Group::around(self.chooser.machine, order, first).map_or(vec![first], |g| g.runs);
        let mut apart = self.saved(order, &[first]);
        // Runs that cannot be members, however it goes on: those between members come first in the
        // text.
        let mut outside: Vec<Op<'c>> = Vec::new();
        let (mut edges, mut kept, mut best) = (Vec::new(), 0, 0.0);
        let most = runs.len() + MOST;
        while runs.len() < most {
            let mut readers = order.readers(&runs).into_iter();
            let next = readers.find(|run| !outside.contains(run) && self.member(*run).is_some());
            let Some(next) = next else { break };
            let alone = self.saved(order, &[next]);
            let before = edges.len();
            for from in self.makers(next, &runs, constant) {
                edges.extend(self.connect(next, from));
            }
            if edges.len() == before {
                outside.push(next);
                continue;
            }
            let Some(group) = Group::around(self.chooser.machine, order, next) else { break };
            if !group.meets(first) && group.stands(order) {
                apart += alone;
                runs = group.runs;
                continue;
            }
            match self.try_group(order, &group, Some(apart + alone + best)) {
                Err(Unjoined::Untiled(_) | Unjoined::Between) => {
                    outside.push(next);
                    disconnect(edges.split_off(before));
                    continue;
                }
                Ok(joined) if joined.saves() - apart - alone > best => {
                    (best, kept) = (joined.saves() - apart - alone, edges.len());
                }
                _ => {}
            }
            apart += alone;
            runs = group.runs;
        }
        if self.remarks && kept > 0 {
            let name = kernel_of(first);
            let told =
                format!("@{name} and its readers: together {best:.0} cycles less than apart");
            remark(edges[0].1, &told);
        }
        disconnect(edges.split_off(kept));
        edges
    }

    /// Members of `runs` that make what a run reads and that is no constant.
    fn makers(&self, reader: Op<'c>, runs: &[Op<'c>], constant: &HashSet<Val<'c>>) -> Vec<Op<'c>> {
        let mut makers: Vec<Op<'c>> = reader.operands().into_iter().filter_map(maker).collect();
        makers.dedup();
        makers.retain(|from| {
            runs.contains(from) && from.results().iter().all(|made| !constant.contains(made))
        });
        makers
    }
}
