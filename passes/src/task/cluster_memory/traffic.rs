//! The clock of the device's memory.

use super::super::schedule::Turn;

/// Corrects times that are estimated as if each turn had the device's memory for
/// itself: where several move more than that gives, time passes more slowly for all of them.
pub(super) struct Traffic {
    /// Estimated times, ascending, and what they are then.
    passed: Vec<(u64, f64)>,
}

impl Traffic {
    /// Of turns that move these bytes, evenly while they last, through a memory of this rate.
    pub fn of(turns: &[Turn], bytes: &[u64], rate: f64) -> Self {
        // The bytes a cycle that begin or end at a time.
        let mut changes: Vec<(u64, f64)> = Vec::new();
        for (turn, &bytes) in turns.iter().zip(bytes) {
            let (begin, end) = (turn.span.0, turn.span.1.max(turn.span.0 + 1));
            let own = bytes as f64 / (end - begin) as f64;
            changes.extend([(begin, own), (end, -own)]);
        }
        changes.sort_by_key(|(time, _)| *time);
        let (mut now, mut passed) = (0.0, vec![(0, 0.0)]);
        for (time, change) in changes {
            let (before, then) = passed[passed.len() - 1];
            let slower = f64::max(1.0, now / rate);
            passed.push((time, then + slower * (time - before) as f64));
            now += change;
        }
        Self { passed }
    }

    /// When what is estimated for a time happens.
    pub fn when(&self, time: u64) -> u64 {
        let behind = self.passed.partition_point(|own| own.0 <= time);
        let (from, then) = self.passed[behind.max(1) - 1];
        let more = (time - from) as f64;
        let slower = self
            .passed
            .get(behind)
            .map_or(1.0, |&(to, later)| (later - then) / (to - from).max(1) as f64);
        // No time passes faster than it is estimated, rounding included.
        (then + slower * more).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_beyond_a_rate_takes_longer() {
        let turn = |span| Turn { job: 0, kernel: 0, units: vec![], past: 0, launch: false, span };
        let traffic = Traffic::of(&[turn((0, 100)), turn((50, 150))], &[1000, 2000], 10.0);
        // 10 bytes a cycle, 30 where both move, then 20.
        assert_eq!(
            [25, 50, 75, 100, 150, 200].map(|time| traffic.when(time)),
            [25, 50, 125, 200, 300, 350]
        );
    }
}
