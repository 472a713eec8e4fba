//! `task-check-order`: whether tokens keep every order that the data needs, and buffers that
//! share bytes are used one after the other.
//!
//! ```text
//! %t0 = task.range "a" @f[0 to 4] on 0(%x, %b) after()
//! %t1 = task.range "b" @g[0 to 4] on 1(%b, %y) after()
//!   error: "b"[0 to 4] reads what "a"[0 to 4] writes, and no token orders them
//! ```
//!
//! `tile-to-task` writes such tokens; this proves them, and those of programs that were
//! edited by hand. What the rTasks touch is read from the kernels' nests, so that ranges on
//! different parts of a buffer need no token. Kernels that are code already are taken at their
//! contract; those without one are not looked into: run it while they are tile programs.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use weft_dialects::device::Machine;
use weft_dialects::finds::{self, Find};
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Context, Op, Report, Val};
use weft_dialects::lengths;
use weft_dialects::task::{self, Program, Range};

use super::conflicts::{Access, Conflicts};
use super::kernels::Kernels;
use super::owners::Owners;
use super::reduce::unordered;
use super::touch::{Region, Touches, seen_from};
use crate::length;

/// See the module.
pub const PASS: Pass = Pass {
    name: "task-check-order",
    description: "Check that tokens keep every order that the data needs, and buffers their bytes",
    options: &[],
    statistics: &[("ranges", "ranges checked"), ("orders", "pairs of ranges that need an order")],
    run,
};

/// The most pairs that are reported.
const REPORTED: usize = 10;

/// Two ranges that touch the same bytes, one of them writing, in any order.
#[derive(Clone, Debug)]
pub struct Unordered<'c> {
    /// The one that comes first in the text.
    pub earlier: Range<'c>,
    /// The other.
    pub later: Range<'c>,
}

/// A range that uses a buffer of which another has taken bytes.
#[derive(Clone, Debug)]
pub struct Taken<'c> {
    /// The range.
    pub range: Range<'c>,
    /// The range that took them.
    pub by: Range<'c>,
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let body = run.module.body(0).into_iter().flat_map(|block| block.ops());
    let mut good = true;
    for program in body.filter_map(Program::of) {
        let checked = check(run.context, run.module, &program)?;
        run.count("ranges", checked.ranges);
        run.count("orders", checked.orders);
        let label =
            |range: &Range<'_>| format!("\"{}\"[{} to {}]", range.name, range.begin, range.end);
        for Taken { range, by } in checked.taken.iter().take(REPORTED) {
            good = false;
            let what = format!("{} uses bytes that {} has overwritten", label(range), label(by));
            Report::new(range.op.location(), what)
                .note(by.op, "the other range is here")
                .help("place buffers whose live ranges overlap at different bytes");
        }
        for Unordered { earlier, later } in checked.unordered.iter().take(REPORTED) {
            good = false;
            let what = format!(
                "{} touches what {} touches, and no token orders them",
                label(later),
                label(earlier)
            );
            Report::new(later.op.location(), what)
                .note(earlier.op, "the other range is here; one of the two writes")
                .help("wait for its token, or for one that is given after it");
        }
    }
    if good { Ok(()) } else { Err(Failed) }
}

/// The findings of the check.
pub struct Checked<'c> {
    /// Pairs without an order, in the order of the text.
    pub unordered: Vec<Unordered<'c>>,
    /// Ranges that find other bytes than their buffer's, in the order of the text.
    pub taken: Vec<Taken<'c>>,
    /// Number of ranges.
    pub ranges: u64,
    /// Number of pairs that need an order which no other pair implies.
    pub orders: u64,
}

/// Looks for pairs of ranges whose order matters and is not kept, and for buffers that are
/// written over while they are used.
///
/// # Errors
/// A kernel is missing or has no rTiles; that was reported.
pub fn check<'c>(
    context: &'c Context,
    module: Op<'c>,
    program: &Program<'c>,
) -> Result<Checked<'c>, Failed> {
    let machine = Machine::required(module)?;
    let mut kernels = Kernels::of(context, module, machine);
    let places = WrittenBuffers::of(program);
    let ranges = program.ranges();
    let mut conflicts = Conflicts::new(places.memories + program.output_types.len());
    let mut regions: HashMap<(usize, u64, u64), Rc<[Region]>> = HashMap::new();
    let mut numbers: HashMap<Val<'c>, u32> = HashMap::new();
    let (mut waits, mut asked) = (Vec::new(), Vec::new());
    let mut owners = Owners::new(places.memories + program.output_types.len());
    let mut taken = Vec::new();
    let mut decided = Lengths::of(module, program);
    for (number, range) in ranges.iter().enumerate() {
        let number_of = kernels.known_by(range.op, range.kernel)?;
        let own: Rc<[Region]> = match number_of {
            Some(kernel) => {
                let touches = &kernels.facts(kernel).touches;
                let own = regions
                    .entry((kernel, range.begin, range.end))
                    .or_insert_with(|| touches.of_tasks(range.begin, range.end).into());
                let shifts = lengths::shifts(range.op, range.buffers.len());
                seen_from(own, |arg| shifts[arg].is_none().then_some(range.at[arg]))
            }
            None => {
                // Code may write all of its arguments, so no older bytes are left there.
                for region in whole(range) {
                    let access = places.access(range, &region);
                    let _ = access.and_then(|access| owners.touch(number as u32, &access));
                }
                Rc::from([])
            }
        };
        let accesses: Vec<_> =
            own.iter().filter_map(|region| places.access(range, region)).collect();
        let mut needed = conflicts.of(&accesses);
        needed.retain(|&earlier| !siblings(&ranges[earlier as usize], range));
        needed.extend(decided.finders(range, number as u32)?);
        let needed = with_all_parts(&ranges, needed);
        asked.push(needed);
        conflicts.enter(number as u32, &accesses);
        // A kernel that reads an argument and keeps nothing of it has written it before.
        let keeps = number_of.map(|kernel| kernels.facts(kernel).keeps.as_slice());
        let kept = |access: &&Access<'_>| {
            let outputs = keeps.map_or(0, <[bool]>::len);
            let output = (access.region.arg + outputs).checked_sub(range.buffers.len());
            output.is_none_or(|output| keeps.is_none_or(|keeps| keeps[output]))
        };
        let (reads, writes): (Vec<_>, Vec<_>) = accesses
            .iter()
            .filter(|access| access.region.write || kept(access))
            .partition(|access| !access.region.write);
        let lost = reads.into_iter().chain(writes);
        let lost = lost.filter_map(|access| owners.touch(number as u32, access)).next();
        taken
            .extend(lost.map(|by| Taken { range: range.clone(), by: ranges[by as usize].clone() }));
        let known = |wait: &Val<'c>| numbers.get(wait).copied();
        let mut list: Vec<u32> = range.waits.iter().filter_map(known).collect();
        list.sort_unstable();
        list.dedup();
        waits.push(list);
        numbers.insert(range.token(), number as u32);
    }
    let pair = |earlier: u32, later: usize| Unordered {
        earlier: ranges[earlier as usize].clone(),
        later: ranges[later].clone(),
    };
    let missing = unordered(&waits, &asked).into_iter().enumerate();
    Ok(Checked {
        unordered: missing
            .flat_map(|(later, list)| list.into_iter().map(move |earlier| (earlier, later)))
            .map(|(earlier, later)| pair(earlier, later))
            .collect(),
        taken,
        ranges: ranges.len() as u64,
        orders: asked.iter().map(|list| list.len() as u64).sum(),
    })
}

/// Lengths that data decide, and who asks for them.
struct Lengths<'c> {
    /// What each kernel asks for.
    asked: HashMap<&'c str, BTreeSet<String>>,
    finds: Vec<Find<'c>>,
    /// The ranges behind which they are known, so far.
    found: HashMap<&'c str, u32>,
}

impl<'c> Lengths<'c> {
    fn of(module: Op<'c>, program: &Program<'c>) -> Self {
        let finds = program.body.iter().filter_map(Find::of).collect();
        Self { asked: length::asked_of_data(module), finds, found: HashMap::new() }
    }

    /// The ranges that find what the next one asks for.
    fn finders(&mut self, range: &Range<'c>, number: u32) -> Result<Vec<u32>, Failed> {
        let mut asked = self.asked.get(range.kernel).cloned().unwrap_or_default();
        finds::add_asked(range.op, &mut asked);
        let finder = |find: &Find<'c>| {
            self.found.get(find.symbol).copied().ok_or_else(|| {
                let what =
                    format!("\"{}\" asks for {}, which is not known yet", range.name, find.symbol);
                Report::new(range.op.location(), what).note(find.op, "it is found here");
                Failed
            })
        };
        let own = self.finds.iter().filter(|find| asked.contains(find.symbol));
        let finders = own.map(finder).collect();
        let known = self.finds.iter().filter(|find| find.after == Some(range.token()));
        self.found.extend(known.map(|find| (find.symbol, number)));
        finders
    }
}

/// All bytes of what a range is given, written.
fn whole(range: &Range<'_>) -> Vec<Region> {
    let types: Vec<_> = range.buffers.iter().map(|buffer| buffer.ty()).collect();
    let mut regions = Touches::unknown(1, &types, 0).of_tasks(0, 1);
    regions.iter_mut().for_each(|region| region.dense = true);
    regions
}

/// Different rTasks of one run never depend on each other.
fn siblings(one: &Range<'_>, other: &Range<'_>) -> bool {
    one.kernel == other.kernel
        && one.name == other.name
        && one.buffers == other.buffers
        && one.at == other.at
        && match (one.part, other.part) {
            (Some([part, parts]), Some([other, all])) => part != other && parts == all,
            _ => one.end <= other.begin || other.end <= one.begin,
        }
}

/// The same ranges, and of those that do a part, all others of the run: each of them may have done
/// what is needed.
fn with_all_parts(ranges: &[Range<'_>], needed: Vec<u32>) -> Vec<u32> {
    let mut all = Vec::new();
    for number in needed {
        let own = &ranges[number as usize];
        let parts = own.part.map_or(0, |[_, parts]| parts as usize);
        let (first, end) = ((number as usize).saturating_sub(parts), number as usize + parts + 1);
        let near = ranges.iter().enumerate().take(end).skip(first);
        all.extend(near.filter(|(_, other)| siblings(own, other)).map(|(near, _)| near as u32));
        all.push(number);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The buffers of a program that are written: space, begin, and value.
struct WrittenBuffers<'c> {
    /// Number of memories that hold buffers, each a space.
    memories: usize,
    known: HashMap<Val<'c>, (usize, u64, usize)>,
}

impl<'c> WrittenBuffers<'c> {
    fn of(program: &Program<'c>) -> Self {
        let mut known = HashMap::new();
        let place = |buffer: &task::Buffer<'c>| (buffer.memory, buffer.cluster);
        let buffers = program.body.iter().filter_map(task::Buffer::of);
        let names: BTreeSet<_> = buffers.map(|buffer| place(&buffer)).collect();
        let names: Vec<_> = names.into_iter().collect();
        for (storage, op) in program.body.iter().enumerate() {
            if let Some(buffer) = task::Buffer::of(op) {
                let space = names.binary_search(&place(&buffer)).unwrap_or(0);
                known.insert(op.result(0), (space, buffer.offset, storage));
            } else if let Some(port) = task::Port::output(op) {
                let place = (names.len() + port.index as usize, 0, storage);
                let mut ops = program.body.iter();
                let input = ops.find(|op| {
                    let input = task::Port::input(*op).map(|input| input.index);
                    input.is_some() && input == port.within
                });
                let values = input.iter().chain([&op]).map(|op| op.result(0));
                known.extend(values.map(|value| (value, place)));
            }
        }
        Self { memories: names.len(), known }
    }

    fn access<'r>(&self, range: &Range<'c>, region: &'r Region) -> Option<Access<'r>> {
        let buffer = task::viewed(*range.buffers.get(region.arg)?);
        let &(space, base, storage) = self.known.get(&buffer)?;
        Some(Access { space, base, storage, region })
    }
}
