//! Placements of groups at random: those that live at once lie apart, and the verifier of device
//! programs, which knows nothing of groups, sees where they do not (WE-5).

use std::collections::BTreeMap;

use proptest::prelude::*;
use weft_dialects::ir::{context, parse};
use weft_passes::arena::{Arena, Life, clash};
use weft_passes::tile::placements::Placements;
use weft_passes::tile::propagate::{Chain, Link, propagate};
use weft_passes::tile::traffic::handed_over;

use crate::arena::{ROW, SUM, TILE, element, sum, two};
use crate::support::Kernel;
use crate::tiles::{link, with};

/// Each element from one in the same place and one of its row.
fn spread() -> Kernel {
    Kernel { axes: "r c", operands: vec![("r, c", TILE), ("r", ROW), ("r, c", TILE)], body: SUM }
}

/// A group: each member is one of four kernels, and reads those before it.
fn group() -> impl Strategy<Value = (Vec<u8>, Vec<Vec<usize>>)> {
    let member = (0u8..4, any::<prop::sample::Index>(), any::<prop::sample::Index>());
    prop::collection::vec(member, 2..9).prop_map(|members| {
        let (mut kinds, mut reads): (Vec<u8>, Vec<Vec<usize>>) = (vec![0], vec![vec![]]);
        let count = members.len();
        for (at, (kind, one, other)) in members.into_iter().enumerate() {
            let tiles: Vec<usize> = (0..kinds.len()).filter(|&of| kinds[of] != 2).collect();
            let rows: Vec<usize> = (0..kinds.len()).filter(|&of| kinds[of] == 2).collect();
            // The last one makes a whole tile.
            let kind = if at + 1 == count && kind == 2 { 0 } else { kind };
            let first = tiles[one.index(tiles.len())];
            let (kind, read) = match kind {
                1 => (1, vec![first, tiles[other.index(tiles.len())]]),
                2 => (2, vec![first]),
                3 if !rows.is_empty() => (3, vec![first, rows[other.index(rows.len())]]),
                _ => (0, vec![first]),
            };
            kinds.push(kind);
            reads.push(read);
        }
        (kinds, reads)
    })
}

/// The placements of such a group, if it has tiles; what nobody reads leaves.
fn placements_of(kinds: &[u8], reads: &[Vec<usize>]) -> Option<Placements> {
    let kernels: Vec<Kernel> = kinds
        .iter()
        .map(|kind| match kind {
            1 => two(),
            2 => sum(),
            3 => spread(),
            _ => element(),
        })
        .collect();
    let links: Vec<Link> = (0..reads.len())
        .flat_map(|reader| {
            reads[reader].iter().enumerate().map(move |(read, &maker)| link(reader, read, maker))
        })
        .collect();
    let leaves: Vec<bool> =
        (0..kinds.len()).map(|member| !links.iter().any(|link| link.maker == member)).collect();
    let mut placements = None;
    with(&kernels, |nests| {
        let chain = Chain::new(nests.iter().collect(), links.clone());
        let tiles = propagate(&chain, &[3, 16]).ok();
        placements = tiles.map(|tiles| handed_over(&chain, &leaves).placements(&tiles));
    });
    placements
}

/// A program that uses placements as a joined kernel does, one loop a member.
fn program(placements: &Placements, reads: &[Vec<usize>], moved: Option<(usize, u64)>) -> String {
    let mut text = "device.machine @toy arch(\"toy\") features([]) {
  device.memory @dram scope(\"device\") capacity_bytes(1048576)
  device.memory @l2 scope(\"core\") capacity_bytes(65536) caches(@dram)
  device.memory @vreg scope(\"thread\") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2)
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2)
}
device.kernel @k tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = device.alloc : memref<4xf32, \"vreg\">\n"
        .to_owned();
    let owner = |member: usize| {
        let mut own = member;
        while let Some(over) = placements.of[own].and_then(|placement| placement.over) {
            own = over;
        }
        own
    };
    for (member, placement) in placements.of.iter().enumerate() {
        let Some(placement) = placement.filter(|placement| placement.over.is_none()) else {
            continue;
        };
        let offset = moved.filter(|(of, _)| *of == member).map_or(placement.offset, |(_, to)| to);
        let count = placement.bytes / 4;
        text += &format!("  %m{member} = device.alloc at {offset} : memref<{count}xf32, \"l2\">\n");
    }
    for (member, read) in reads.iter().enumerate() {
        text += "  scf.for %i = %c0 to %c1 step %c1 {\n";
        for maker in read.iter().filter(|&&maker| placements.of[maker].is_some()) {
            let (maker, count) = (owner(*maker), placements.of[*maker].expect("checked").bytes / 4);
            text += &format!(
                "    device.copy @load %m{maker}[%c0] to %r[%c0] count 1 : memref<{count}xf32, \"l2\"> to memref<4xf32, \"vreg\">\n"
            );
        }
        if let Some(placement) = placements.of[member] {
            let (own, count) = (owner(member), placement.bytes / 4);
            text += &format!(
                "    device.copy @store %r[%c0] to %m{own}[%c0] count 1 : memref<4xf32, \"vreg\"> to memref<{count}xf32, \"l2\">\n"
            );
        }
        text += "  }\n";
    }
    text + "}\n"
}

/// Placements of their own, by the member that each is made for.
fn lives(placements: &Placements) -> BTreeMap<usize, (Life, u64)> {
    let own = placements
        .of
        .iter()
        .enumerate()
        .filter_map(|(member, placement)| Some((member, (*placement)?)));
    own.filter(|(_, placement)| placement.over.is_none())
        .map(|(member, placement)| {
            let (first, last) = (placement.life.0 as u32, placement.life.1 as u32);
            (member, (Life { first, last, bytes: placement.bytes }, placement.offset))
        })
        .collect()
}

fn clashes(lives: &BTreeMap<usize, (Life, u64)>) -> bool {
    let (all, offsets): (Vec<Life>, Vec<u64>) = lives.values().copied().unzip();
    clash(&all, &Arena { offsets, bytes: u64::MAX }).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn we_5_placements_that_live_at_once_lie_apart_and_the_verifier_sees_where_not(
        (kinds, reads) in group(),
        which in any::<prop::sample::Index>(),
        to in 0u64..8,
    ) {
        // Some of them are none: nobody says which tile a member has.
        let placements = placements_of(&kinds, &reads);
        prop_assume!(placements.is_some());
        let placements = placements.expect("it was assumed");
        let mut planned = lives(&placements);
        prop_assert!(!clashes(&planned));
        let context = context();
        context.attach_diagnostic_handler(|_| true);
        let text = program(&placements, &reads, None);
        prop_assert!(parse(&context, &text).is_ok(), "{text}");
        // One of them elsewhere: the verifier refuses it just where two lives meet on a byte.
        let members: Vec<usize> = planned.keys().copied().collect();
        if members.is_empty() {
            return Ok(());
        }
        let (member, to) = (members[which.index(members.len())], 64 * to);
        planned.get_mut(&member).expect("a placement").1 = to;
        let text = program(&placements, &reads, Some((member, to)));
        prop_assert_eq!(parse(&context, &text).is_err(), clashes(&planned), "{}", text);
    }
}
