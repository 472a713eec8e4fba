//! Outputs that lie in the memory of an input: how they stand in the text of a model and of a tile-graph,
//! and their constraints.

use crate::ir::{Diagnostics, Op, Type, attr};

/// An input and an output in one memory, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The input.
    pub input: usize,
    /// The output.
    pub output: usize,
}

/// Those of a `graph.model` or a `tile.graph`.
pub fn of(op: Op<'_>) -> Vec<Alias> {
    named(op).into_iter().filter_map(Result::ok).collect()
}

/// Each of the attribute, or why it is none.
fn named(op: Op<'_>) -> Vec<Result<Alias, String>> {
    let names = |kind| op.attr(kind).and_then(attr::strings).unwrap_or_default();
    let (inputs, outputs) = (names("inputs"), names("outputs"));
    let find = |kind: &str, all: &[&str], name: &str| {
        let number = all.iter().position(|own| *own == name);
        number.ok_or_else(|| format!("an alias of {name:?}, which is no {kind}"))
    };
    let alias = |pair| match attr::strings(pair).unwrap_or_default()[..] {
        [input, output] => Ok(Alias {
            input: find("input", &inputs, input)?,
            output: find("output", &outputs, output)?,
        }),
        ref all => Err(format!("an alias of {} names", all.len())),
    };
    let pairs = op.attr("aliases").and_then(attr::array).unwrap_or_default();
    pairs.into_iter().map(alias).collect()
}

/// Checks the aliases of a program whose ports have these types.
pub(crate) fn check(op: Op<'_>, [inputs, outputs]: [&[Type<'_>]; 2], diag: &mut Diagnostics) {
    const ACCEPTED: &str = "write the name of an input and of an output of its type, each once";
    let mut seen: Vec<Alias> = Vec::new();
    for alias in named(op) {
        let alias = match alias {
            Ok(alias) => alias,
            Err(why) => {
                diag.error(op, format!("{} has {why}", op.name())).help(ACCEPTED);
                continue;
            }
        };
        if let (Some(input), Some(output)) = (inputs.get(alias.input), outputs.get(alias.output))
            && input != output
        {
            let what = format!("{} has an alias of {input} and {output}", op.name());
            diag.error(op, what).help(ACCEPTED);
        }
        let twice = |other: &Alias| other.input == alias.input || other.output == alias.output;
        if seen.iter().any(twice) {
            diag.error(op, format!("{} has a port in two aliases", op.name())).help(ACCEPTED);
        }
        seen.push(alias);
    }
}
