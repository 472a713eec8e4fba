//! The rules of names that data decide.

use super::{Base, Find, Plan, PlanError};

impl Plan {
    /// A name is found once, by a step that has the number; who asks for it comes behind, and so does the
    /// next name.
    pub(super) fn check_finds(&self) -> Result<(), PlanError> {
        let finds = &self.lengths.finds;
        for (number, find) in finds.iter().enumerate() {
            let step = self.steps.get(find.step as usize);
            let buffer = self.buffers.get(find.buffer as usize);
            let port =
                |base: Base| !matches!(base, Base::Lengths | Base::Input(_) | Base::Constant);
            let sound = buffer.is_some_and(|own| own.bytes >= 8 && port(own.base))
                && step.is_some_and(|step| step.buffers.contains(&find.buffer))
                && (find.symbol as usize) < self.lengths.symbols.len()
                && !finds[..number].iter().any(|other| other.symbol == find.symbol)
                && !self.lengths.shares.iter().any(|share| share.step == find.step);
            if !sound {
                let Find { step, symbol, buffer } = *find;
                return Err(PlanError::Find { find: number, step, symbol, buffer });
            }
        }
        for dims in &self.lengths.inputs {
            let names = dims.iter().flat_map(|length| length.symbols());
            if let Some(name) = names.into_iter().find(|name| self.finds(name)) {
                return Err(PlanError::FoundInput { symbol: name.to_owned() });
            }
        }
        for find in finds {
            self.check_order_of(find)?;
        }
        Ok(())
    }

    /// Whoever asks for a name comes behind the step that finds it.
    fn check_order_of(&self, find: &Find) -> Result<(), PlanError> {
        let behind = self.behind(find.step as usize);
        let others = self.lengths.finds.iter().map(|other| other.step);
        let others = others.filter(|&other| other > find.step);
        let mut all = self.asking(find.symbol).into_iter().chain(others);
        match all.find(|&step| !behind[step as usize]) {
            None => Ok(()),
            Some(step) => {
                let symbol = self.lengths.symbols[find.symbol as usize].name.clone();
                Err(PlanError::Early { step, symbol, find: find.step })
            }
        }
    }

    /// The steps that ask for a name which a run decides.
    pub(super) fn asking(&self, symbol: u32) -> Vec<u32> {
        let following = self.following(symbol);
        let asks = |buffer: u32| {
            let own = &self.buffers[buffer as usize];
            let (first, end) = (own.offset / 8, (own.offset + own.bytes) / 8);
            let entry = |number: &usize| (first..end).contains(&(*number as u64));
            let shift = |number: &usize| self.lengths.shifts[*number].buffer == buffer;
            own.base == Base::Lengths && following.table.iter().any(entry)
                || following.shifts.iter().any(shift)
        };
        let shares = following.shares.iter().map(|&own| self.lengths.shares[own].step);
        let kernels = self.steps.iter().enumerate();
        let kernels = kernels.filter(|(_, step)| step.buffers.iter().any(|buffer| asks(*buffer)));
        kernels.map(|(step, _)| step as u32).chain(shares).collect()
    }

    /// Whether each step begins when `step` is done.
    fn behind(&self, step: usize) -> Vec<bool> {
        let mut behind = vec![false; self.steps.len()];
        let mut units = vec![false; self.units as usize];
        units[self.steps[step].unit as usize] = true;
        let stretches = self.stretches();
        for (number, own) in self.steps.iter().enumerate().skip(step + 1) {
            let waits = |&wait: &u32| wait as usize == step || behind[wait as usize];
            // Units wait for each other where a loop begins or ends.
            behind[number] = stretches[number] != stretches[step]
                || units[own.unit as usize]
                || own.waits.iter().any(waits);
            units[own.unit as usize] |= behind[number];
        }
        behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::length::{Length, Symbol};
    use crate::plan::{Buffer, Kernel, Lengths, Share, Shift, Step, step};

    /// The first step finds `n`; the second one asks for it on another unit.
    fn plan() -> Plan {
        let at = |base, offset, bytes| Buffer { base, offset, bytes };
        Plan {
            units: 2,
            arena_bytes: 256,
            buffers: vec![
                at(Base::Arena, 0, 8),
                at(Base::Arena, 64, 64),
                at(Base::Lengths, 0, 8),
                at(Base::Lengths, 8, 8),
            ],
            kernels: vec![Kernel { symbol: "k".into(), scratch_bytes: 0 }],
            steps: vec![
                step(0, vec![0], vec![]),
                step(1, vec![1, 2], vec![0]),
                step(1, vec![1], vec![]),
            ],
            ops: vec!["op".into()],
            lengths: Lengths {
                symbols: vec![Symbol { name: "n".into(), least: 0, most: 8, multiple: 1 }],
                table: vec![Length::symbol("n"), Length::number(3)],
                finds: vec![Find { step: 0, symbol: 0, buffer: 0 }],
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
    fn who_asks_waits() {
        assert_eq!(plan().validate(), Ok(()));
        assert!(broken(|p| p.steps[1].waits.clear()).contains("step 1 asks for `n`"));
        // The other entry of the table does not follow from it.
        let mut other = plan();
        other.steps[1] = Step { buffers: vec![1, 3], waits: vec![], ..other.steps[1].clone() };
        assert_eq!(other.validate(), Ok(()));
        let share = |p: &mut Plan, step| {
            p.lengths.shares.push(Share { step, tasks: Length::symbol("n"), part: 0, parts: 2 });
        };
        assert!(
            broken(|p| {
                share(p, 1);
                p.steps[1] = Step { buffers: vec![1], waits: vec![], ..p.steps[1].clone() }
            })
            .contains("step 1 asks")
        );
        let shift = |p: &mut Plan| {
            p.lengths.shifts.push(Shift { buffer: 1, bytes: Length::symbol("n") });
            p.steps[1].waits.clear();
            p.steps[1].buffers.pop();
        };
        assert!(broken(shift).contains("step 1 asks for `n`"));
    }

    #[test]
    fn what_finds_is_sound() {
        assert!(broken(|p| p.lengths.finds[0].step = 2).contains("find 0"));
        assert!(broken(|p| p.lengths.finds[0].symbol = 1).contains("find 0"));
        assert!(broken(|p| p.buffers[0].bytes = 4).contains("find 0"));
        assert!(broken(|p| p.lengths.finds.push(p.lengths.finds[0])).contains("find 1"));
        assert!(broken(|p| p.lengths.inputs.push(vec![Length::symbol("n")])).contains("input"));
    }

    #[test]
    fn callers_say_nothing_of_it() {
        let p = plan();
        assert_eq!(p.bind_shapes(&[]).map(|own| own.table), Ok(vec![0, 3]));
        let said = p.bind_names(&[("n".to_owned(), 2)]).expect_err("nobody says it");
        assert!(said.to_string().contains("no dimension named `n`"), "{said}");
        assert_eq!(p.lengths_of(&[2]).entry(0), Ok(2));
    }
}
