//! Values of pass options: parsed once, and refused with what is accepted.

use weft_dialects::ir::pass::{Failed, Run};
use weft_dialects::ir::{Location, Op, Report};

/// Parses the value of an option, or reports why it cannot be used.
pub(crate) fn known<T: std::str::FromStr<Err = String>>(
    module: Op<'_>,
    pass: &str,
    option: &str,
    text: &str,
) -> Result<T, Failed> {
    text.parse().map_err(|why: String| {
        let what = format!("unknown value '{text}' for option '{option}' of {pass}");
        Report::new(module.location(), what).help(why);
        Failed
    })
}

/// Reports a value that an option does not take; `accepted` says which it takes, as in "a whole
/// number".
pub(crate) fn unknown_value(
    location: Location<'_>,
    pass: &str,
    option: &str,
    text: &str,
    accepted: &str,
) -> Failed {
    let what = format!("unknown value '{text}' for option '{option}' of {pass}");
    Report::new(location, format!("{what}; expected {accepted}"));
    Failed
}

/// Returns what the value of an option stands for in a list of words.
pub(crate) fn word<T: Copy>(
    run: &Run<'_>,
    pass: &str,
    option: &str,
    words: &[(&str, T)],
) -> Result<T, Failed> {
    let text = run.option(option);
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        unknown_value(run.module.location(), pass, option, text, &alternatives(&names))
    })
}

/// Returns whether an option has the second of its two words.
pub(crate) fn is_second(
    run: &Run<'_>,
    pass: &str,
    option: &str,
    [first, second]: [&str; 2],
) -> Result<bool, Failed> {
    word(run, pass, option, &[(first, false), (second, true)])
}

/// Joins words as a sentence lists them: 'a', 'b' or 'c'.
fn alternatives(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
