//! The rules of steps that are repeated.

use super::{Base, Loop, Plan, PlanError};

impl Plan {
    /// For each step the number of its stretch: loops begin and end between one and the next.
    pub(super) fn stretches(&self) -> Vec<u32> {
        let mut ends = vec![0; self.steps.len() + 1];
        for own in &self.lengths.loops {
            for step in [own.first, own.end] {
                if let Some(end) = ends.get_mut(step as usize) {
                    *end = 1;
                }
            }
        }
        let stretches = ends.iter().scan(0, |stretch, end| {
            *stretch += end;
            Some(*stretch)
        });
        stretches.take(self.steps.len()).collect()
    }

    /// Loops lie in each other or apart, and what is decided in one is asked for in it.
    pub(super) fn check_loops(&self) -> Result<(), PlanError> {
        let loops = &self.lengths.loops;
        for (number, own) in loops.iter().enumerate() {
            if !self.is_sound(number) {
                let (first, end, steps) = (own.first, own.end, self.steps.len());
                return Err(PlanError::Loop { number, first, end, steps });
            }
        }
        let stretches = self.stretches();
        for (step, own) in self.steps.iter().enumerate() {
            let across = |wait: &&u32| stretches[**wait as usize] != stretches[step];
            if let Some(&wait) = own.waits.iter().find(across) {
                return Err(PlanError::WaitAcross { step, wait });
            }
        }
        for (number, own) in loops.iter().enumerate() {
            self.check_inside(own.symbol, number)?;
            for find in &self.lengths.finds {
                if (own.first..own.end).contains(&find.step) {
                    self.check_inside(find.symbol, number)?;
                }
            }
        }
        Ok(())
    }

    /// A loop that ends behind its beginning, inside of those that have begun before; its name is in no other place.
    fn is_sound(&self, number: usize) -> bool {
        let all = &self.lengths.loops;
        let own = &all[number];
        let apart = |other: &Loop| {
            let inside = other.first <= own.first && own.end <= other.end;
            other.symbol != own.symbol && (other.end <= own.first || inside)
        };
        let place = own.condition.map(|buffer| self.buffers.get(buffer as usize));
        let read = |base: Base| matches!(base, Base::Arena | Base::Host | Base::Output(_));
        own.first < own.end
            && own.end as usize <= self.steps.len()
            && all[..number].iter().all(apart)
            && all[..number].last().is_none_or(|other| other.first <= own.first)
            && (own.symbol as usize) < self.lengths.symbols.len()
            && !self.lengths.finds.iter().any(|find| find.symbol == own.symbol)
            && place.is_none_or(|own| own.is_some_and(|own| own.bytes > 0 && read(own.base)))
            && (own.rounds.is_some() || own.condition.is_some())
    }

    /// Only the steps of a loop, by its number, ask for a name that is decided there.
    fn check_inside(&self, symbol: u32, around: usize) -> Result<(), PlanError> {
        let Some(name) = self.lengths.symbols.get(symbol as usize).map(|own| own.name.clone())
        else {
            return Ok(());
        };
        let Loop { first, end, .. } = self.lengths.loops[around];
        let outside =
            |who: String| Err(PlanError::Outside { who, symbol: name.clone(), first, end });
        if let Some(step) = self.asking(symbol).into_iter().find(|own| !(first..end).contains(own))
        {
            return outside(format!("step {step}"));
        }
        for (number, other) in self.lengths.loops.iter().enumerate() {
            let asks = other.rounds.as_ref().is_some_and(|own| own.symbols().contains(&&name[..]));
            let inside = number > around && first <= other.first && other.end <= end;
            if asks && !inside {
                return outside(format!("loop {number}"));
            }
        }
        let ports = self.lengths.outputs.iter().flatten();
        match ports.flat_map(|length| length.symbols()).any(|own| own == name) {
            true => outside("an output".to_owned()),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::length::{Length, Symbol};
    use crate::plan::{Buffer, Find, Kernel, Lengths, step};

    /// A step, two that are repeated, one of which asks for the round, and one more.
    fn plan() -> Plan {
        let at = |base, offset, bytes| Buffer { base, offset, bytes };
        let symbol = |name: &str| Symbol { name: name.into(), least: 0, most: 8, multiple: 1 };
        Plan {
            units: 2,
            arena_bytes: 256,
            buffers: vec![at(Base::Arena, 0, 8), at(Base::Lengths, 0, 8)],
            kernels: vec![Kernel { symbol: "k".into(), scratch_bytes: 0 }],
            steps: vec![
                step(0, vec![0], vec![]),
                step(0, vec![0], vec![]),
                step(1, vec![0, 1], vec![1]),
                step(1, vec![0], vec![]),
            ],
            ops: vec!["op".into()],
            lengths: Lengths {
                symbols: vec![symbol("i"), symbol("n")],
                table: vec![Length::symbol("i")],
                loops: vec![Loop {
                    first: 1,
                    end: 3,
                    symbol: 0,
                    rounds: Some(Length::symbol("n")),
                    condition: Some(0),
                }],
                ..Lengths::default()
            },
            ..Plan::default()
        }
    }

    fn broken(change: impl FnOnce(&mut Plan)) -> String {
        let mut p = plan();
        change(&mut p);
        p.validate().expect_err("the plan is broken").to_string()
    }

    #[test]
    fn a_loop_is_sound() {
        assert_eq!(plan().validate(), Ok(()));
        assert_eq!(plan().stretches(), [0, 1, 1, 2]);
        assert!(broken(|p| p.lengths.loops[0].end = 5).contains("loop 0"));
        assert!(broken(|p| p.lengths.loops[0].first = 3).contains("loop 0"));
        assert!(broken(|p| p.lengths.loops[0].symbol = 2).contains("loop 0"));
        assert!(broken(|p| p.lengths.loops[0].condition = Some(1)).contains("loop 0"));
        assert!(broken(|p| p.lengths.loops.push(p.lengths.loops[0].clone())).contains("loop 1"));
        let endless = |p: &mut Plan| {
            p.lengths.loops[0].rounds = None;
            p.lengths.loops[0].condition = None;
        };
        assert!(broken(endless).contains("loop 0"));
        let cut = |p: &mut Plan| {
            p.lengths.loops.push(Loop {
                first: 2,
                end: 4,
                symbol: 1,
                ..p.lengths.loops[0].clone()
            });
        };
        assert!(broken(cut).contains("loop 1"));
    }

    #[test]
    fn a_round_is_known_inside() {
        assert!(broken(|p| p.steps[3].buffers.push(1)).contains("step 3 asks for `i`"));
        assert!(
            broken(|p| p.lengths.outputs.push(vec![Length::symbol("i")])).contains("an output")
        );
        assert!(broken(|p| p.steps[3].waits = vec![2]).contains("a loop begins or ends"));
        let found = |p: &mut Plan| {
            p.lengths.finds.push(Find { step: 1, symbol: 1, buffer: 0 });
        };
        assert!(broken(found).contains("loop 0 asks for `n`"));
    }

    /// Of two loops of the same steps the one around the other comes first.
    #[test]
    fn loops_of_the_same_steps() {
        let mut p = plan();
        p.lengths.symbols.push(Symbol { name: "j".into(), ..p.lengths.symbols[0].clone() });
        let inner =
            Loop { symbol: 2, rounds: Some(Length::symbol("i")), ..p.lengths.loops[0].clone() };
        p.lengths.loops.push(inner);
        assert_eq!(p.validate(), Ok(()));
        p.lengths.loops.reverse();
        let why = p.validate().expect_err("the inner one is outside").to_string();
        assert!(why.contains("loop 0 asks for `i`"), "{why}");
    }

    #[test]
    fn who_asks_for_what_was_found_before_a_loop_need_not_wait() {
        let mut p = plan();
        p.lengths.finds.push(Find { step: 0, symbol: 1, buffer: 0 });
        p.lengths.table[0] = Length::symbol("n").plus(&Length::symbol("i"), 1);
        assert_eq!(p.validate(), Ok(()));
        assert_eq!(p.following(0).table, [0]);
        assert!(p.following(1).table.is_empty());
        let entry = p.bind_names(&[]).map(|own| own.table);
        assert_eq!(entry, Ok(vec![0]));
    }
}
