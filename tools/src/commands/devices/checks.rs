//! Checks that lowerings compute their meanings.

use weft_dialects::device::Instruction;
use weft_dialects::ir::{Context, Report, module_op, parse};
use weft_passes::codegen::check_lowering::{Verdict, check};

use super::assemble::{Assembled, assemble};
use super::loaded::Loaded;
use super::sheet::Section;
use crate::{Device, Failure};

/// Checks every instruction.
///
/// # Errors
/// A lowering that is wrong, at its place.
pub fn section(context: &Context, loaded: &Loaded<'_>) -> Result<Section, Failure> {
    let mut section = Section::new(
        "lowerings",
        "each against its meaning, on random values",
        &["instruction", "how it is written"],
    );
    let host = host_features(context);
    let mut wrong = false;
    for instruction in loaded.machine().instructions() {
        let verdict = check(context, loaded.machine(), &instruction, &host);
        if let Verdict::Wrong(reason) = &verdict {
            wrong = true;
            complain(&instruction, reason);
        }
        let mut words = told(&instruction, &verdict);
        if let Verdict::Elsewhere(reason) = &verdict {
            let assembled = assemble(context, loaded.machine(), &instruction);
            words = elsewhere(reason, assembled);
        }
        section.row([format!("@{}", instruction.name), words]);
    }
    if wrong { Err(loaded.collector.failure()) } else { Ok(section) }
}

/// Lists the form of each lowering, without running anything, so it is the same on every host.
pub fn written(loaded: &Loaded<'_>) -> Section {
    let machine = loaded.machine();
    let mut section = Section::new("lowerings", "", &["instruction", "written in", "assembly"]);
    for instruction in machine.instructions() {
        let mut names = Vec::new();
        for op in instruction.lowering().into_iter().flat_map(|block| block.ops()) {
            let name = format!("`{}`", op.name());
            if !op.is("device.yield") && !names.contains(&name) {
                names.push(name);
            }
        }
        let encoding = instruction.encoding().map_or(String::new(), |text| format!("`{text}`"));
        section.row([format!("@{}", instruction.name), names.join(", "), encoding]);
    }
    section
}

/// Describes a lowering that cannot be run here, but may be assembled by LLVM.
fn elsewhere(reason: &str, assembled: Option<Assembled>) -> String {
    match assembled {
        Some(Assembled::Lines(count)) => {
            format!(
                "not run here, assembled with its meaning as a kernel ({count} lines): {reason}"
            )
        }
        Some(Assembled::NotUsed) => {
            format!("not run here, and its meaning as a kernel is computed by lanes: {reason}")
        }
        Some(Assembled::Refused(why)) => {
            let why = why.lines().next().unwrap_or_default();
            format!("not run here, and not assembled ({why}): {reason}")
        }
        None => format!("not run here: {reason}"),
    }
}

fn told(instruction: &Instruction<'_>, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Agrees { cases, .. } if instruction.accuracy().is_empty() => {
            format!("agrees with its meaning to the last bit, {cases} times")
        }
        Verdict::Agrees { cases, share } => {
            let percent = share * 100.0;
            format!(
                "agrees with its meaning, {cases} times; {percent:.0} % of what may differ does"
            )
        }
        Verdict::Vendors { operations } => {
            format!("{}, whose meaning is the instruction's", operations.join(", "))
        }
        Verdict::Empty => "without a lowering: its encoding is all that is written".to_owned(),
        Verdict::Elsewhere(reason) => format!("not run here: {reason}"),
        Verdict::Wrong(reason) => format!("wrong: {reason}"),
    }
}

fn complain(instruction: &Instruction<'_>, reason: &str) {
    let place = instruction.lowering().and_then(|block| block.iter().next());
    let place = place.map_or(instruction.op().location(), |op| op.location());
    Report::new(place, format!("@{}: {reason}", instruction.name))
        .note(instruction.op(), "the meaning is here")
        .help("a lowering takes every operand and gives what the meaning gives, within `accuracy`");
}

/// The features of the shipped machine that is this processor; none where none is.
fn host_features(context: &Context) -> Vec<String> {
    let Ok(host) = Device::Host.text(context) else { return Vec::new() };
    let Ok(module) = parse(context, &host.text) else { return Vec::new() };
    let machine = weft_dialects::device::Machine::of(module_op(&module));
    let features = machine.map(|machine| machine.features()).unwrap_or_default();
    features.into_iter().map(str::to_owned).collect()
}
