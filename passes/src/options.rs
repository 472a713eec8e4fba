//! Values of passes' options, read once and refused with what is accepted.

use weft_dialects::ir::pass::{Failed, Run};
use weft_dialects::ir::{Op, Report};

/// The value of an option; reports one that is none.
pub(crate) fn known<T: std::str::FromStr<Err = String>>(
    module: Op<'_>,
    pass: &str,
    option: &str,
    text: &str,
) -> Result<T, Failed> {
    text.parse().map_err(|why: String| unknown(module, pass, option, &why))
}

fn unknown(module: Op<'_>, pass: &str, option: &str, why: &str) -> Failed {
    Report::new(module.location(), format!("{pass} cannot use {option}: {why}"))
        .help(format!("leave {option} out, or give one of these"));
    Failed
}

/// Whether an option is the second of its two words.
pub(crate) fn is_second(
    run: &Run<'_>,
    pass: &str,
    option: &str,
    words: [&str; 2],
) -> Result<bool, Failed> {
    let text = run.option(option);
    let [first, second] = words;
    match text {
        _ if text == first => Ok(false),
        _ if text == second => Ok(true),
        _ => Err(unknown(
            run.module,
            pass,
            option,
            &format!("{text} is neither {first} nor {second}"),
        )),
    }
}
