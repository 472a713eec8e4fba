//! The steps of each block of a program, as a table in the device's memory.
//!
//! ```text
//! units     for each block   where its steps begin and end, and where its arm begins
//! steps     for each step    first rTask, one past the last, list of waits, number to signal
//! arms      for each step    body, list of operands
//! waits     a list           how many; for each the first unit, one past the last, the number
//! operands  a list           for each operand of the body a base, and bytes from there
//! ```
//!
//! Places are counted in words from the beginning of the table; no list begins at 0, so 0 stands
//! for none. Units that do the same on the same buffers, each with rTasks of its own, share an
//! arm (Rammer's ranges of units); equal lists stand there once.

use std::collections::HashMap;
use std::ops::Range;

use weft_runtime::plan::{Base, Plan};

/// Words of a unit.
pub const UNIT: usize = 3;
/// Words of a step of one unit.
pub const STEP: usize = 4;
/// Words of a step of an arm.
pub const ARM: usize = 2;
/// Words of a wait.
pub const WAIT: usize = 3;

/// The table of one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// All of it.
    pub words: Vec<i64>,
    /// Units that have one, the idle ones below the last among them.
    pub units: usize,
    /// Lists of bodies and operands that differ, of units with work.
    pub arms: usize,
    /// Waits for units, each a range of them.
    pub waits: usize,
}

/// Returns the number of bases of a plan: the arena, the host's arena, the constants, inputs,
/// outputs.
pub fn bases(plan: &Plan) -> u64 {
    (3 + plan.inputs.len() + plan.outputs.len()) as u64
}

/// The number of a base.
fn base(plan: &Plan, base: Base) -> i64 {
    match base {
        Base::Arena => 0,
        Base::Host => 1,
        Base::Constant => 2,
        Base::Input(port) => 3 + i64::from(port),
        Base::Output(port) => 3 + plan.inputs.len() as i64 + i64::from(port),
        Base::Cluster(_) => unreachable!("only simulated code has clusters"),
        Base::Lengths => unreachable!("only native code has lengths"),
    }
}

/// Returns the counter value that says that a step is done.
fn number(step: usize) -> i64 {
    step as i64 + 1
}

impl Table {
    /// The table of the steps of one launch; `bodies` gives the body of each kernel.
    pub fn of(plan: &Plan, steps: Range<usize>, bodies: &[Option<usize>]) -> Self {
        let mut of_unit: Vec<Vec<usize>> = Vec::new();
        let mut signals = vec![false; steps.len()];
        // The step of the same unit before each one: what its counter says until it is done.
        let mut before = vec![steps.start as i64; steps.len()];
        for step in steps.clone() {
            let unit = plan.steps[step].unit as usize;
            of_unit.resize(of_unit.len().max(unit + 1), Vec::new());
            if let Some(&last) = of_unit[unit].last() {
                before[step - steps.start] = number(last);
            }
            of_unit[unit].push(step);
            for &wait in plan.steps[step].waits.iter().filter(|&&wait| wait as usize >= steps.start)
            {
                signals[wait as usize - steps.start] = true;
            }
        }
        let mut lists = Lists::default();
        // Each in the words of its own section until all sections have a place.
        let (mut units, mut rows, mut arms) = (Vec::new(), Vec::new(), Vec::new());
        let mut known: HashMap<Vec<i64>, usize> = HashMap::new();
        for own in &of_unit {
            let begin = rows.len();
            let mut arm = Vec::new();
            for &step in own {
                let now = &plan.steps[step];
                let waits = waits(plan, step, &steps, &before);
                let count = waits.len() / WAIT;
                let signal = if signals[step - steps.start] { number(step) } else { 0 };
                let waits = match count {
                    0 => None,
                    _ => Some(lists.waits(std::iter::once(count as i64).chain(waits).collect())),
                };
                rows.push((now.begin as i64, now.end as i64, waits, signal));
                let operands = now.buffers.iter().flat_map(|&buffer| {
                    let buffer = &plan.buffers[buffer as usize];
                    [base(plan, buffer.base), buffer.offset as i64]
                });
                let body = bodies[now.kernel as usize].expect("a body for every kernel");
                arm.extend([body as i64, lists.operands(operands.collect()) as i64]);
            }
            let place = *known.entry(arm.clone()).or_insert_with(|| {
                arms.extend(arm);
                arms.len()
            });
            // A place is remembered by where it ends, for `arm` was moved by then.
            let arm = place - ARM * own.len();
            units.push((begin, rows.len(), arm));
        }
        let busy = known.len() - usize::from(known.contains_key(&Vec::new()));
        let at_rows = UNIT * units.len();
        let at_arms = at_rows + STEP * rows.len();
        let at_lists = at_arms + arms.len();
        let mut words = Vec::with_capacity(at_lists + lists.words.len());
        for (begin, end, arm) in units {
            words.extend(
                [at_rows + STEP * begin, at_rows + STEP * end, at_arms + arm].map(|at| at as i64),
            );
        }
        for (begin, end, waits, signal) in rows {
            let waits = waits.map_or(0, |at| (at_lists + at) as i64);
            words.extend([begin, end, waits, signal]);
        }
        for step in arms.chunks(ARM) {
            words.extend([step[0], at_lists as i64 + step[1]]);
        }
        words.extend(&lists.words);
        Self { words, units: of_unit.len(), arms: busy, waits: lists.waited }
    }
}

/// Lists of words, equal ones once.
#[derive(Default)]
struct Lists {
    words: Vec<i64>,
    places: HashMap<Vec<i64>, usize>,
    waited: usize,
}

impl Lists {
    fn place(&mut self, list: Vec<i64>) -> (usize, bool) {
        let next = self.words.len();
        let place = *self.places.entry(list).or_insert_with_key(|list| {
            self.words.extend(list);
            next
        });
        (place, place == next)
    }

    fn operands(&mut self, list: Vec<i64>) -> usize {
        self.place(list).0
    }

    fn waits(&mut self, list: Vec<i64>) -> usize {
        let count = list[0] as usize;
        let (place, new) = self.place(list);
        self.waited += if new { count } else { 0 };
        place
    }
}

/// Returns the waits of a step: words of ranges of neighbouring units whose counters reach one
/// number.
///
/// A unit's counter goes from the number of one of its steps to that of the next, so any number
/// above the step before the one that is waited for, and not above its own, means that one. The
/// steps of one operator are neighbours in the plan: one number does for all its units. The
/// waiting unit itself may be in a range; it does not wait for itself.
fn waits(plan: &Plan, step: usize, steps: &Range<usize>, before: &[i64]) -> Vec<i64> {
    let mut last: Vec<(u32, usize)> = plan.steps[step]
        .waits
        .iter()
        .map(|&wait| wait as usize)
        .filter(|wait| *wait >= steps.start)
        .map(|wait| (plan.steps[wait].unit, wait))
        .filter(|(unit, _)| *unit != plan.steps[step].unit)
        .collect();
    // Of several steps of one unit the last one.
    last.sort_unstable();
    let last: Vec<_> =
        last.chunk_by(|one, other| one.0 == other.0).filter_map(|own| own.last()).collect();
    let me = i64::from(plan.steps[step].unit);
    let mut words: Vec<i64> = Vec::new();
    // Numbers that mean the right step for all units of the range that is being written.
    let (mut above, mut most) = (0, 0);
    for &&(unit, wait) in &last {
        let (unit, low, high) = (i64::from(unit), before[wait - steps.start], number(wait));
        let both = (above.max(low), most.min(high));
        if let [.., _, end, number] = &mut words[..]
            && (*end == unit || (*end == me && me + 1 == unit))
            && both.0 < both.1
        {
            (above, most) = both;
            (*end, *number) = (unit + 1, most);
        } else {
            (above, most) = (low, high);
            words.extend([unit, unit + 1, high]);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use weft_runtime::plan::{Buffer, Kernel, Step};

    use super::*;

    fn plan(steps: &[(u32, u32, &[u32])]) -> Plan {
        let mut tasks = 0;
        let mut step = |&(unit, kernel, waits): &(u32, u32, &[u32])| {
            tasks += 1;
            let (begin, buffers, waits) = (tasks - 1, vec![kernel, 0], waits.to_vec());
            Step { unit, kernel, begin, end: tasks, buffers, waits, op: 0 }
        };
        let buffer = |offset| Buffer { base: Base::Arena, offset, bytes: 64 };
        let kernel = |name: &str| Kernel { symbol: name.to_owned(), scratch_bytes: 0 };
        Plan {
            units: 4,
            buffers: vec![buffer(0), buffer(64)],
            kernels: vec![kernel("a"), kernel("b")],
            steps: steps.iter().map(&mut step).collect(),
            ..Plan::default()
        }
    }

    const BODIES: [Option<usize>; 2] = [Some(0), Some(1)];

    #[test]
    fn rm_12_units_with_equal_lists_share_an_arm() {
        let plan = plan(&[(0, 0, &[]), (1, 0, &[]), (2, 0, &[]), (0, 1, &[1, 2]), (1, 1, &[0, 2])]);
        let table = Table::of(&plan, 0..5, &BODIES);
        // Units 0 and 1 do both kernels, unit 2 the first one.
        assert_eq!((table.units, table.arms), (3, 2));
        let arm = |unit: usize| table.words[UNIT * unit + 2];
        assert_eq!(arm(0), arm(1));
        assert_ne!(arm(1), arm(2));
        // Neighbours that wait for each other wait for a range of units, themselves in it.
        assert_eq!(table.waits, 2);
        let at = |place: i64| &table.words[place as usize..];
        let first = at(table.words[0]);
        assert_eq!(first[..STEP], [0, 1, 0, 1], "begin, end, no waits, signalled");
        assert_eq!(first[STEP..STEP + 2], [3, 4]);
        assert_eq!(first[STEP + 3], 0, "nobody waits for it");
        assert_eq!(at(first[STEP + 2])[..1 + WAIT], [1, 1, 3, 2]);
        let second = at(table.words[UNIT]);
        assert_eq!(at(second[STEP + 2])[..1 + WAIT], [1, 0, 3, 1]);
    }

    #[test]
    fn waits_for_units_that_are_not_neighbours_stay_apart() {
        let plan = plan(&[(0, 0, &[]), (2, 0, &[]), (3, 0, &[]), (3, 1, &[0, 1]), (1, 1, &[3])]);
        let table = Table::of(&plan, 0..5, &BODIES);
        let at = |place: i64| &table.words[place as usize..];
        let last = at(table.words[UNIT * 3]);
        assert_eq!(at(last[STEP + 2])[..1 + 2 * WAIT], [2, 0, 1, 1, 2, 3, 2]);
        let other = at(table.words[UNIT]);
        assert_eq!(at(other[2])[..1 + WAIT], [1, 3, 4, 4]);
    }

    #[test]
    fn one_number_means_the_same_step_of_every_unit_of_a_range() {
        // Unit 1 did a step between: its counter passes the number of unit 0's step earlier.
        let plan = plan(&[(1, 0, &[]), (0, 0, &[]), (1, 0, &[]), (2, 1, &[1, 2])]);
        let table = Table::of(&plan, 0..4, &BODIES);
        let at = |place: i64| &table.words[place as usize..];
        let waits = at(at(table.words[UNIT * 2])[2]);
        assert_eq!(waits[..1 + WAIT], [1, 0, 2, 2]);
        // 2 is above what unit 1's first step signals, 1, and both are done when it is reached.
    }

    #[test]
    fn a_unit_without_work_has_no_steps() {
        let plan = plan(&[(0, 0, &[]), (3, 1, &[0])]);
        let table = Table::of(&plan, 0..2, &BODIES);
        assert_eq!(table.units, 4);
        assert_eq!(table.words[UNIT], table.words[UNIT + 1]);
    }

    #[test]
    fn what_an_earlier_launch_did_is_not_waited_for() {
        let plan = plan(&[(0, 0, &[]), (1, 0, &[]), (1, 1, &[0])]);
        let table = Table::of(&plan, 2..3, &BODIES);
        assert_eq!(table.waits, 0);
    }
}
