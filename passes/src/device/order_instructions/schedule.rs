//! List scheduling of what one core issues in order (GraphTurbo's instruction scheduling, on
//! plain numbers).
//!
//! ```text
//! load a; add a; load b; add b       a load takes 4 cycles:  10 cycles
//!   ->  load a; load b; add a; add b                          7
//! ```
//!
//! An item waits for what it reads and overwrites. Of those that may go next, the one that can begin
//! first does, then the one with the longest way to the end behind it. *Values* are registers that
//! something writes whole before it is read: each write is a value of its own, and which register it
//! takes is decided here, so that the next one need not wait for the last.

use std::collections::HashMap;

use crate::precedence::Precedence;

/// Items in the order of the text that are looked at for the next place, at most.
const WINDOW: usize = 64;

/// Something that is read or written whole, as far as order goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cell {
    /// A register that keeps its name, or a part of memory.
    Fixed(u32),
    /// The contents of a register from the item that writes it first to the last that touches it.
    Value(u32),
}

/// One instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    /// Cycles until the next one may be issued.
    pub issue: f64,
    /// Cycles until what it writes is ready.
    pub latency: f64,
    pub reads: Vec<Cell>,
    pub writes: Vec<Cell>,
}

/// The dependences between instructions, and the registers of values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    /// Items by number.
    pub items: Vec<usize>,
    /// By value, the register of its kind.
    pub registers: Vec<usize>,
    /// Registers of each kind.
    pub kinds: Vec<usize>,
}

/// The items that each one comes after, and whether it waits for their results.
fn before(items: &[Item]) -> Vec<Vec<(usize, bool)>> {
    let mut last: HashMap<Cell, (Option<usize>, Vec<usize>)> = HashMap::new();
    let mut found = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        let mut own: Vec<(usize, bool)> = Vec::new();
        for cell in item.reads.iter().chain(&item.writes) {
            own.extend(last.get(cell).and_then(|known| known.0).map(|writer| (writer, true)));
        }
        for cell in &item.writes {
            let readers = last.get(cell).map(|known| &known.1[..]).unwrap_or_default();
            own.extend(readers.iter().map(|&reader| (reader, false)));
        }
        for &cell in &item.reads {
            last.entry(cell).or_default().1.push(number);
        }
        for &cell in &item.writes {
            last.insert(cell, (Some(number), Vec::new()));
        }
        own.retain(|(one, _)| *one != number);
        // Who waits for a result waits for its maker in any case.
        own.sort_unstable_by_key(|&(one, waits)| (one, !waits));
        own.dedup_by_key(|(one, _)| *one);
        found.push(own);
    }
    found
}

/// Cycles of items that are issued in this order, until all results are there.
pub(super) fn cycles(items: &[Item], order: &[usize]) -> f64 {
    let before = before(items);
    let mut ready = vec![0f64; items.len()];
    let (mut now, mut end) = (0f64, 0f64);
    for &number in order {
        let waits = before[number].iter().filter(|(_, waits)| *waits);
        let start = waits.fold(now, |start, &(one, _)| start.max(ready[one]));
        ready[number] = start + items[number].latency.max(items[number].issue);
        now = start + items[number].issue;
        end = end.max(ready[number]);
    }
    end
}

/// Returns whether every item comes after what it has to, and no two values are in one register at
/// a time.
pub(super) fn is_legal(items: &[Item], kind_of: &[usize], order: &Order) -> bool {
    let mut place = vec![usize::MAX; items.len()];
    order.items.iter().enumerate().for_each(|(at, &number)| place[number] = at);
    let kept = before(items)
        .iter()
        .enumerate()
        .all(|(number, own)| own.iter().all(|&(one, _)| place[one] < place[number]));
    let lives = lives(items, kind_of.len(), &order.items);
    let apart = |one: usize, other: usize| {
        let same = (kind_of[one], order.registers[one]) == (kind_of[other], order.registers[other]);
        let (a, b) = (lives[one], lives[other]);
        !same || a.1 < b.0 || b.1 < a.0
    };
    kept && order.items.len() == items.len()
        && (0..lives.len()).all(|one| (0..one).all(|other| apart(one, other)))
}

/// First and last place at which each value is touched.
fn lives(items: &[Item], values: usize, order: &[usize]) -> Vec<(usize, usize)> {
    let mut lives = vec![(usize::MAX, 0); values];
    for (at, &number) in order.iter().enumerate() {
        for cell in items[number].reads.iter().chain(&items[number].writes) {
            if let Cell::Value(value) = *cell {
                let life = &mut lives[value as usize];
                *life = (life.0.min(at), life.1.max(at));
            }
        }
    }
    lives
}

/// Registers that values take while the list goes on.
struct RegisterAllocator<'a> {
    kind_of: &'a [usize],
    /// Registers that may still be taken.
    left: usize,
    kinds: Vec<usize>,
    free: Vec<Vec<usize>>,
    taken: Vec<Option<usize>>,
    /// Items that still touch each value.
    users: Vec<usize>,
    /// By item, the values that it touches.
    touched: Vec<Vec<usize>>,
}

impl<'a> RegisterAllocator<'a> {
    fn new(items: &[Item], kind_of: &'a [usize], pool: &[usize], left: usize) -> Self {
        let kinds = pool.to_vec();
        let free = pool.iter().map(|&own| (0..own).rev().collect()).collect();
        let touched: Vec<_> = items.iter().map(touched).collect();
        let mut users = vec![0; kind_of.len()];
        touched.iter().flatten().for_each(|&value| users[value] += 1);
        let taken = vec![None; kind_of.len()];
        Self { kind_of, left, kinds, free, taken, users, touched }
    }

    /// Returns whether there are registers for the values that an item begins.
    fn fits(&self, item: usize) -> bool {
        let begins = |value: &&usize| self.taken[**value].is_none();
        let mut kinds: Vec<usize> =
            self.touched[item].iter().filter(begins).map(|&value| self.kind_of[value]).collect();
        kinds.sort_unstable();
        let beyond = |own: &[usize]| own.len().saturating_sub(self.free[own[0]].len());
        kinds.chunk_by(|one, other| one == other).map(beyond).sum::<usize>() <= self.left
    }

    /// Takes registers for what an item begins, and gives back those of what it is the last to touch.
    fn issue(&mut self, item: usize) {
        for value in std::mem::take(&mut self.touched[item]) {
            let kind = self.kind_of[value];
            if self.taken[value].is_none() {
                let register = self.free[kind].pop().unwrap_or_else(|| {
                    self.left = self.left.saturating_sub(1);
                    self.kinds[kind] += 1;
                    self.kinds[kind] - 1
                });
                self.taken[value] = Some(register);
            }
            self.users[value] -= 1;
            if self.users[value] == 0 {
                // The one that was free longest comes last, so that results have time to arrive.
                self.free[kind].insert(0, self.taken[value].unwrap_or(0));
            }
        }
    }
}

/// The values that an item touches, each once.
fn touched(item: &Item) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for cell in item.reads.iter().chain(&item.writes) {
        match cell {
            Cell::Value(value) if !found.contains(&(*value as usize)) => {
                found.push(*value as usize)
            }
            _ => {}
        }
    }
    found
}

/// The items in the order of the text, with as few registers as it needs beside those of each kind
/// that are there.
pub(super) fn as_written(items: &[Item], kind_of: &[usize], pool: &[usize]) -> Order {
    let mut registers = RegisterAllocator::new(items, kind_of, pool, usize::MAX);
    (0..items.len()).for_each(|item| registers.issue(item));
    finish((0..items.len()).collect(), registers)
}

/// An order by the list, whose values take at most `left` registers beside those of each kind that
/// are there; none where that gets stuck. `kind_of` says for each value which registers hold it.
pub(super) fn list(
    items: &[Item],
    kind_of: &[usize],
    pool: &[usize],
    left: usize,
) -> Option<Order> {
    let before = before(items);
    let mut precedence = Precedence::of(before.iter().map(|own| own.iter().copied()));
    let result = |number: usize| items[number].latency.max(items[number].issue);
    let height = precedence.ways(result, |number, &waits| match waits {
        true => result(number),
        false => items[number].issue,
    });
    let mut ready = vec![0f64; items.len()];
    let mut registers = RegisterAllocator::new(items, kind_of, pool, left);
    let mut waiting: Vec<usize> = (0..items.len()).collect();
    let (mut order, mut now) = (Vec::with_capacity(items.len()), 0f64);
    while !waiting.is_empty() {
        let start = |number: usize| {
            let waits = before[number].iter().filter(|(_, waits)| *waits);
            waits.fold(now, |start, &(one, _)| start.max(ready[one]))
        };
        let seen = waiting.iter().take(WINDOW).copied().enumerate();
        let may = seen.filter(|&(_, number)| precedence.is_free(number) && registers.fits(number));
        let (begin, _, number, at) = may
            .map(|(at, number)| (start(number), -height[number], number, at))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)))?;
        waiting.remove(at);
        ready[number] = begin + result(number);
        now = begin + items[number].issue;
        precedence.done(number).for_each(drop);
        registers.issue(number);
        order.push(number);
    }
    Some(finish(order, registers))
}

fn finish(items: Vec<usize>, allocator: RegisterAllocator<'_>) -> Order {
    let registers = allocator.taken.into_iter().map(|register| register.unwrap_or(0)).collect();
    Order { items, registers, kinds: allocator.kinds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn item(latency: f64, reads: &[Cell], writes: &[Cell]) -> Item {
        Item { issue: 1.0, latency, reads: reads.to_vec(), writes: writes.to_vec() }
    }

    /// Loads of values that are added to sums, one after the other.
    fn sums(count: u32) -> Vec<Item> {
        (0..count)
            .flat_map(|n| {
                let (value, sum) = (Cell::Value(n), Cell::Fixed(n));
                [item(4.0, &[], &[value]), item(4.0, &[value, sum], &[sum])]
            })
            .collect()
    }

    #[test]
    fn loads_go_ahead_of_what_waits_for_them() {
        let items = sums(8);
        let text = as_written(&items, &[0; 8], &[0]);
        assert_eq!((cycles(&items, &text.items), &text.kinds[..]), (8.0 * 5.0 + 3.0, &[1][..]));
        let order = list(&items, &[0; 8], &[0], 8).expect("there are registers");
        assert_eq!(cycles(&items, &order.items), 19.0);
        // With two registers a load waits for the addition that frees one.
        let few = list(&items, &[0; 8], &[1], 1).expect("there are registers");
        assert!(is_legal(&items, &[0; 8], &few));
        assert_eq!(few.kinds, [2]);
        assert!(cycles(&items, &few.items) > 19.0);
        assert!(list(&items, &[0; 8], &[0], 0).is_none());
    }

    #[test]
    fn an_order_that_breaks_a_wait_is_refused() {
        let items = sums(2);
        let mut order = as_written(&items, &[0; 2], &[0]);
        assert!(is_legal(&items, &[0; 2], &order));
        order.items.swap(1, 2);
        assert!(!is_legal(&items, &[0; 2], &order), "both values are in one register");
        order.registers[1] = 1;
        assert!(is_legal(&items, &[0; 2], &order));
        order.items.swap(0, 2);
        assert!(!is_legal(&items, &[0; 2], &order), "a sum reads what is not there");
    }

    proptest! {
        /// Whatever items touch, the list keeps every order that they need, and is not slower than
        /// the text where it is taken.
        #[test]
        fn orders_are_legal(
            shape in prop::collection::vec((0u32..6, 0u32..6, 0u32..4, 1u32..9), 1..40),
            registers in 1usize..5,
        ) {
            let mut items = Vec::new();
            let mut kinds = Vec::new();
            for (read, write, kind, latency) in shape {
                let latency = f64::from(latency);
                if kind == 0 {
                    let value = Cell::Value(kinds.len() as u32);
                    kinds.push(write as usize % 2);
                    items.push(item(latency, &[Cell::Fixed(read)], &[value]));
                    items.push(item(latency, &[value], &[Cell::Fixed(write)]));
                } else {
                    items.push(item(latency, &[Cell::Fixed(read)], &[Cell::Fixed(write)]));
                }
            }
            let text = as_written(&items, &kinds, &[0, 0]);
            prop_assert!(is_legal(&items, &kinds, &text));
            if let Some(order) = list(&items, &kinds, &[0, 0], registers) {
                prop_assert!(is_legal(&items, &kinds, &order));
                prop_assert!(order.kinds.iter().sum::<usize>() <= registers);
            }
        }
    }
}
