//! `task-check-ends`: whether what is written of an output ends where the output does.
//!
//! ```text
//! graph.symbol "n" from 0 to 40
//! %y = task.output 0 "y" : memref<40x8xf32>        lengths ["n", ""]
//! %t = task.range "neg" @neg[0 to 5] on 0(%x, %y) after()
//!   error: "neg" writes 320 elements of "y", which has 0 where n = 0
//! ```
//!
//! Outputs are laid out for the greatest lengths, but lie where callers want them, who give as much room as there is in
//! a run. So a kernel may write no more: its axes have lengths, too. Both are expressions, and compared
//! for the least and the greatest value of every symbol, and one between: no proof, but what forgets a length is found.
//! It is run while kernels are tile programs.

use std::collections::HashMap;

use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Op, Report, Val, ty};
use weft_dialects::lengths;
use weft_dialects::repeat::Repeat;
use weft_dialects::task::{self, Port, Program, Range};
use weft_runtime::length::{Length, Symbol};

use crate::nest::{Access, Nest, read_members};

/// See the module.
pub const PASS: Pass = Pass {
    name: "task-check-ends",
    description: "Check that what is written of an output ends where the output does",
    options: &[],
    statistics: &[("ports", "writes of outputs whose lengths callers, or data, decide")],
    run,
};

/// Values of symbols that are tried for one write at most: each further symbol has its least value alone.
const MOST_TRIED: usize = 243;

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let body = run.module.body(0).ok_or(Failed)?;
    let symbols = lengths::symbols(run.module);
    let kernels: HashMap<&str, Op<'_>> =
        body.iter().filter(|op| op.is("tile.kernel")).map(|op| (op.symbol(), op)).collect();
    let mut good = true;
    for program in body.iter().filter_map(Program::of) {
        // Rounds decide what a body writes of its states, which are laid out like the tensors of its caller.
        if Repeat::of(program.op).is_some() {
            continue;
        }
        let ports = ports(&program);
        for range in program.ranges() {
            // Bodies are no kernels, and code is not looked into.
            let Some(members) = kernels.get(range.kernel).and_then(|op| read_members(*op).ok())
            else {
                continue;
            };
            for (_, nest) in &members {
                for write in writes(&range, nest, &ports) {
                    run.count("ports", 1);
                    good &= check(&range, nest, &write, &symbols);
                }
            }
        }
    }
    if good { Ok(()) } else { Err(Failed) }
}

/// The outputs that have lengths, by the value of each: its name, and the elements that it has.
type Ports<'c> = HashMap<Val<'c>, (&'c str, Length)>;

fn ports<'c>(program: &Program<'c>) -> Ports<'c> {
    let lengths = lengths::of_ports(program.op);
    let outputs = lengths.get(program.input_types.len()..).unwrap_or_default();
    let mut found = Ports::new();
    // One that lies in an input has that one's room.
    let ports = program.body.iter().filter_map(|op| Some((op, Port::output(op)?)));
    for (op, port) in ports.filter(|(_, port)| port.within.is_none()) {
        let own = outputs.get(port.index as usize).map(Vec::as_slice).unwrap_or_default();
        let shape = ty::shape(program.output_types[port.index as usize]).unwrap_or_default();
        // Where another than the first dimension ends early callers' rows are not side by side, and all are copied.
        let first = own.iter().enumerate().find_map(|(dim, length)| Some((dim, length.as_ref()?)));
        let Some((first, rows)) = first else { continue };
        let before = shape[..first].iter().all(|&extent| extent == 1);
        let behind: u64 = shape[first + 1..].iter().product();
        if before {
            found.insert(op.result(0), (port.name, rows.times(&Length::number(behind as i64))));
        }
    }
    found
}

/// What a nest writes of a port: the port's name and elements, where it does, and how much further on.
struct Write<'n, 'c> {
    port: &'c str,
    room: Length,
    access: &'n Access<'c>,
    from: Length,
}

fn writes<'n, 'c>(range: &Range<'c>, nest: &'n Nest<'c>, ports: &Ports<'c>) -> Vec<Write<'n, 'c>> {
    let shifts = lengths::shifts(range.op, range.buffers.len());
    let of = |access: &'n Access<'c>| {
        let arg = access.tensor.def().is_none().then(|| access.argument().index())?;
        let (port, room) = ports.get(&task::viewed(*range.buffers.get(arg)?))?.clone();
        let at = Length::number(*range.at.get(arg)? as i64);
        let from = shifts[arg].as_ref().map_or(at.clone(), |shift| at.plus(shift, 1));
        Some(Write { port, room, access, from })
    };
    nest.outputs.iter().filter_map(of).collect()
}

/// Reports values of the symbols for which a write goes on behind the end; gives whether there are none.
fn check(range: &Range<'_>, nest: &Nest<'_>, write: &Write<'_, '_>, symbols: &[Symbol]) -> bool {
    let axes = nest.axes.len();
    let address = write.access.address(axes);
    let mut end = write.from.plus(&Length::number(address.constant + 1), 1);
    let mut counts = Vec::new();
    for (axis, &step) in nest.axes.iter().zip(&address.coefficients) {
        let count = axis.length.cloned().unwrap_or_else(|| Length::number(axis.extent as i64));
        let last = count.plus(&Length::number(1), -1);
        end = end.plus(&last, step.max(0));
        counts.push(count);
    }
    let asked: Vec<&Symbol> = {
        let all = [&end, &write.room];
        let named = |symbol: &&Symbol| all.iter().any(|own| own.symbols().contains(&&*symbol.name));
        symbols.iter().filter(named).collect()
    };
    for values in tried(&asked) {
        let name = |name: &str| {
            let at = asked.iter().position(|symbol| symbol.name == name)?;
            i64::try_from(values[at]).ok()
        };
        let value = |length: &Length| length.value(&name);
        // What is nowhere, or exceeds all numbers, is not written.
        let none = counts.iter().any(|count| value(count).is_none_or(|count| count <= 0));
        let Some((end, room)) = value(&end).zip(value(&write.room)).filter(|_| !none) else {
            continue;
        };
        if end > room {
            let own = asked.iter().zip(&values);
            let own: Vec<_> =
                own.map(|(symbol, value)| format!("{} = {value}", symbol.name)).collect();
            let (name, port, own) = (range.name, write.port, own.join(", "));
            let what = format!(
                "\"{name}\" writes {end} elements of \"{port}\", which has {room} where {own}"
            );
            Report::new(range.op.location(), what)
                .help("let the axes of its kernel end where the output does: graph.lengths");
            return false;
        }
    }
    true
}

/// The least and the greatest value of every symbol, and one between, each with each.
fn tried(symbols: &[&Symbol]) -> Vec<Vec<u64>> {
    let values = |symbol: &Symbol| {
        let multiple = symbol.multiple.max(1);
        let most = symbol.most / multiple * multiple;
        let next = |value: u64| value.next_multiple_of(multiple).min(most);
        let least = next(symbol.least);
        let middle = next(least + (most - least) / 2);
        let mut all = vec![least, middle, most];
        all.dedup();
        all
    };
    let mut all = vec![Vec::new()];
    for symbol in symbols {
        let mut own = values(symbol);
        if all.len() * own.len() > MOST_TRIED {
            own.truncate(1);
        }
        let longer = |values: &Vec<u64>| {
            let values = values.clone();
            own.iter().map(move |value| [&values[..], &[*value]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}
