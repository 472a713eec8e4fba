//! The ways to join kernels that a report holds side by side.

use weft_passes::pipeline;

use super::program::Program;
use super::report::{Joining, Pattern, Summary};
use crate::Options;

/// The pass and its option that join kernels, and the option's three values; builds without
/// the pass join single loops alone.
const JOINS: (&str, &str) = ("tile-connect-edges", "joining");

/// The pass that joins elementwise loops to their producers, and the option that leaves it out.
const FUSES: (&str, &str, &str) = ("tile-fuse-elementwise", "fuse", "false");

/// A way to join kernels, and the options of passes that ask for it.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub name: &'static str,
    pub what: &'static str,
    pub options: Vec<(String, String, String)>,
}

/// The three ways, from the fewest joined to the most.
pub(super) fn ways() -> [Way; 3] {
    let way = |name, what, options: &[(&str, &str, &str)]| {
        let known = options.iter().filter(|(pass, option, _)| is_option(pass, option));
        let owned = known.map(|&(pass, option, value)| (pass.into(), option.into(), value.into()));
        Way { name, what, options: owned.collect() }
    };
    let joining = |value| (JOINS.0, JOINS.1, value);
    [
        way("none", "one kernel per loop nest", &[FUSES, joining("none")]),
        way("base", "elementwise kernels with what makes their input", &[joining("base")]),
        way("full", "whatever is handed over in a local memory", &[joining("full")]),
    ]
}

/// Returns whether this build has a pass that joins more than elementwise kernels.
pub(super) fn joins_fully() -> bool {
    is_option(JOINS.0, JOINS.1)
}

fn is_option(pass: &str, option: &str) -> bool {
    fallback(pass, option).is_some()
}

/// The default value of an option.
fn fallback(pass: &str, option: &str) -> Option<&'static str> {
    let known = pipeline::PASSES.iter().find(|known| known.name == pass)?;
    let own = known.options.iter().find(|own| own.name == option)?;
    Some(own.fallback)
}

fn is_fallback((pass, option, value): &(String, String, String)) -> bool {
    fallback(pass, option) == Some(value)
}

impl Way {
    /// The options of a compilation that joins like this, whatever else was asked for.
    pub fn options(&self, asked: &Options) -> Options {
        let mut options = asked.clone();
        let joins = |(pass, option, _): &(String, String, String)| {
            let own = (pass.as_str(), option.as_str());
            own == JOINS || own == (FUSES.0, FUSES.1)
        };
        options.pass_options.retain(|option| !joins(option));
        options.pass_options.extend(self.options.iter().cloned());
        options
    }

    /// Returns whether options that were asked for join like this: what an option is without being
    /// asked for makes no difference.
    pub fn is(&self, asked: &Options) -> bool {
        let told = |options: &Options| {
            let options = options.pass_options.iter();
            let mut told: Vec<_> = options.filter(|option| !is_fallback(option)).cloned().collect();
            told.sort();
            told
        };
        told(&self.options(asked)) == told(asked)
    }
}

/// The figures of one way.
pub(super) fn figures(way: &Way, shown: bool, summary: Summary) -> Joining {
    let text =
        |(pass, option, value): &(String, String, String)| format!("{pass}.{option}={value}");
    Joining {
        name: way.name,
        what: way.what,
        options: way.options.iter().map(text).collect(),
        shown,
        summary,
        patterns: 0,
        joined_patterns: 0,
    }
}

/// The patterns of all ways, those of most kernels first; counts them in each.
pub(super) fn patterns(ways: &mut [Joining], programs: &[&Program]) -> Vec<Pattern> {
    let mut found: Vec<Pattern> = Vec::new();
    let mut numbers = std::collections::BTreeMap::new();
    for (way, program) in ways.iter().zip(programs) {
        for job in &program.jobs {
            let number = *numbers.entry(&job.facts.pattern).or_insert_with(|| {
                found.push(Pattern {
                    nests: job.facts.pattern.clone(),
                    counts: ways.iter().map(|way| (way.name, 0)).collect(),
                    example: job.name.clone(),
                    joined: false,
                });
                found.len() - 1
            });
            *found[number].counts.entry(way.name).or_default() += 1;
        }
    }
    for pattern in &mut found {
        pattern.joined = pattern.counts.get("none") == Some(&0);
    }
    for way in ways.iter_mut() {
        let own = || found.iter().filter(|pattern| pattern.counts[way.name] > 0);
        (way.patterns, way.joined_patterns) =
            (own().count(), own().filter(|pattern| pattern.joined).count());
    }
    let kernels = |pattern: &Pattern| pattern.counts.values().sum::<usize>();
    found.sort_by_key(|pattern| (std::cmp::Reverse(kernels(pattern)), pattern.nests.clone()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(options: &[(&str, &str, &str)]) -> Options {
        let owned = options
            .iter()
            .map(|&(pass, option, value)| (pass.to_owned(), option.to_owned(), value.to_owned()));
        Options { pass_options: owned.collect(), ..Options::default() }
    }

    #[test]
    fn what_is_asked_for_by_name_is_the_same() {
        let (pass, option, _) = FUSES;
        let default = fallback(pass, option).expect("an option");
        let [none, base, _] = ways();
        let (silent, named) = (asked(&[]), asked(&[(pass, option, default)]));
        assert!(!none.is(&silent) && !none.is(&named));
        assert_eq!(base.is(&silent), base.is(&named));
    }

    #[test]
    fn other_options_stay() {
        let rank = ("tile-construct-rtiles", "rank", "1");
        let [none, ..] = ways();
        let options = none.options(&asked(&[rank, FUSES])).pass_options;
        assert_eq!(options[0], asked(&[rank]).pass_options[0]);
        assert_eq!(options.iter().filter(|(pass, ..)| pass == FUSES.0).count(), 1);
    }
}
