//! A device program as a listing: labels for loops, a line per instruction.
//!
//! ```text
//! .kernel mm, tasks 4
//!   set r0, 0
//! L0:
//!   dma.in 4096, x0+256*r0, 16x4, 256x4, 16x4
//!   mark r1, dma
//!   wait r1
//!   mac 0, 4096, 8192+64*r0
//!   add r0, r0, 1
//!   blt r0, 16, L0
//! ```
//!
//! Moves and instructions are written by their encodings, the vendor's operations by
//! that of their `irdl.operation`. Addresses are in bytes, as sums of numbers and
//! registers; `x0` is where the kernel's first tensor lies. Register loops are unrolled,
//! so that every register has a number. What no encoding says is written by its name:
//! control (`set`, `add`, `blt`, `bge`, `beq`, `jump`), index arithmetic and lanes.
//! `mark` takes the number of the last order that an engine was given, from 1 on, and
//! `wait` waits until the orders of these numbers are done. Control and index arithmetic are written
//! here, moves, instructions and lanes in `orders.rs`.

mod orders;

use std::collections::HashMap;
use std::fmt::Write;

use weft_dialects::device::{Apply, Combine, Copy, Fill, Invoke, Kernel, Machine, Transfer, View};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Attribute, Block, Op, Val, affine, attr, ty};

use orders::elem;

use super::allocations::{self, Allocations};
use super::sum::Sum;

/// The kernels of a module, one after the other.
///
/// # Errors
/// Reported: memories that are too small.
pub fn listing(module: Op<'_>, machine: Machine<'_>) -> Result<String, Failed> {
    let mut text = format!(".machine {}\n", machine.name());
    let encodings = encodings(machine);
    for kernel in module.body(0).ok_or(Failed)?.iter().filter_map(Kernel::of) {
        let allocations = allocations::place(machine, &kernel)?;
        let mut listing = Listing {
            machine,
            allocations,
            encodings: &encodings,
            values: HashMap::new(),
            registers: 0,
            labels: 0,
            temporaries: 0,
            text: String::new(),
        };
        listing.kernel(&kernel);
        text += "\n";
        text += &listing.text;
    }
    Ok(text)
}

/// Returns the encodings of the vendor's operations: those of their declarations, or of the
/// instruction whose lowering they are, with the operation's operand for each of its own.
fn encodings(machine: Machine<'_>) -> HashMap<String, String> {
    let declared = machine.vendor_operations();
    let mut found = HashMap::new();
    for (name, op) in &declared {
        if let Some(encoding) = op.attr("encoding").and_then(attr::string) {
            found.insert(name.clone(), encoding.to_owned());
        }
    }
    for instruction in machine.instructions() {
        let (Some(encoding), Some(lowering)) = (instruction.encoding(), instruction.lowering())
        else {
            continue;
        };
        let own: Vec<_> =
            lowering.iter().filter(|op| declared.iter().any(|(name, _)| op.is(name))).collect();
        let [op] = own[..] else { continue };
        let place = |arg: Val<'_>| op.operands().iter().position(|operand| *operand == arg);
        let places: Option<Vec<usize>> = lowering.args().into_iter().map(place).collect();
        if let Some(places) = places {
            let encoding = write_encoding(encoding, &|name| {
                let place = places.get(name.parse::<usize>().ok()?)?;
                Some(format!("{{{place}}}"))
            });
            found.entry(op.name().to_owned()).or_insert(encoding);
        }
    }
    found
}

/// An encoding with what `of` gives for each name in braces.
fn write_encoding(encoding: &str, of: &dyn Fn(&str) -> Option<String>) -> String {
    let (mut text, mut rest) = (String::new(), encoding);
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        text += before;
        text += &of(name).unwrap_or_else(|| format!("{{{name}}}"));
        rest = after;
    }
    text + rest
}

/// The token of what never began: the first order of an engine has number 1.
const READY: &str = "0";

/// The name of a value in the listing.
#[derive(Clone, Debug)]
enum Name {
    /// An index.
    Sum(Sum),
    /// Anything else.
    Text(String),
}

struct Listing<'e, 'c> {
    machine: Machine<'c>,
    allocations: Allocations<'c>,
    encodings: &'e HashMap<String, String>,
    values: HashMap<Val<'c>, Name>,
    registers: usize,
    labels: usize,
    temporaries: usize,
    text: String,
}

impl<'c> Listing<'_, 'c> {
    fn line(&mut self, what: impl std::fmt::Display) {
        writeln!(self.text, "  {what}").expect("a string takes everything");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels - 1)
    }

    fn put(&mut self, label: &str) {
        writeln!(self.text, "{label}:").expect("a string takes everything");
    }

    fn register(&mut self) -> String {
        self.registers += 1;
        format!("r{}", self.registers - 1)
    }

    fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("t{}", self.temporaries - 1)
    }

    fn set(&mut self, value: Val<'c>, name: Name) {
        self.values.insert(value, name);
    }

    /// The index that a value is.
    fn sum(&self, value: Val<'c>) -> Sum {
        match self.values.get(&value) {
            Some(Name::Sum(sum)) => sum.clone(),
            Some(Name::Text(text)) => Sum::register(text.clone()),
            None => Sum::register("?"),
        }
    }

    fn name(&self, value: Val<'c>) -> String {
        match self.values.get(&value) {
            Some(Name::Sum(sum)) => sum.to_string(),
            Some(Name::Text(text)) => text.clone(),
            None => "?".to_owned(),
        }
    }

    fn kernel(&mut self, kernel: &Kernel<'c>) {
        writeln!(self.text, ".kernel {}, tasks {}", kernel.name, kernel.tasks)
            .expect("a string takes everything");
        if let Some(task) = kernel.task() {
            self.set(task, Name::Sum(Sum::register("task")));
        }
        for (number, arg) in kernel.args().into_iter().enumerate() {
            let shape: String =
                ty::shape(arg.ty()).unwrap_or_default().iter().map(|n| format!("{n}x")).collect();
            self.line(format_args!(".tensor x{number} {shape}{}", elem(arg.ty())));
            self.set(arg, Name::Text(format!("x{number}")));
        }
        self.block(kernel.body);
        self.line("end");
    }

    fn block(&mut self, block: Block<'c>) {
        for op in block.iter() {
            self.op(op);
        }
    }

    fn op(&mut self, op: Op<'c>) {
        if let Some(transfer) = Transfer::of(op) {
            return self.transfer(&transfer);
        }
        if let Some(fill) = Fill::of(op) {
            return self.fill(&fill);
        }
        if let Some(copy) = Copy::of(op) {
            return self.copy(&copy);
        }
        if let Some(invoke) = Invoke::of(op) {
            return self.invoke(&invoke);
        }
        if let Some(apply) = Apply::of(op) {
            return self.apply(&apply);
        }
        if let Some(combine) = Combine::of(op).filter(|combine| combine.along.is_none()) {
            return self.combine(&combine);
        }
        match op.name() {
            "scf.for" => self.scf_for(op),
            "affine.for" => self.affine_for(op),
            "scf.if" => self.scf_if(op),
            "scf.yield" | "affine.yield" | "device.yield" | "device.alloc" => {}
            "device.wait" => self.wait(op),
            "device.ready" => self.set(op.result(0), Name::Text(READY.to_owned())),
            "device.mark" => {
                let engine = op.attr("engine").and_then(attr::symbol);
                self.mark(engine, Some(op.result(0)));
            }
            "device.barrier" => {
                let scope = op.attr("scope").and_then(attr::string).unwrap_or("");
                self.line(format_args!("barrier {scope}"));
            }
            "device.lane" if op.attr("along").is_none() => {
                self.set(op.result(0), Name::Text("lane".to_owned()))
            }
            "memref.extract_aligned_pointer_as_index" => {
                let base = self.name(op.operand(0));
                self.set(op.result(0), Name::Sum(Sum::register(base)));
            }
            _ => self.scalar(op),
        }
    }

    /// Arithmetic: sums are kept, everything else is a line of its own.
    fn scalar(&mut self, op: Op<'c>) {
        if let Some(known) = self.known(op) {
            return self.set(op.result(0), known);
        }
        if let Some(encoding) = self.encodings.get(op.name()) {
            let operands: Vec<_> = op.operands().into_iter().map(|v| self.name(v)).collect();
            let line = write_encoding(encoding, &|name| {
                operands.get(name.parse::<usize>().ok()?).cloned()
            });
            for result in op.results() {
                let name = self.temporary();
                self.set(result, Name::Text(name));
            }
            return self.line(line);
        }
        let results: Vec<_> = op
            .results()
            .into_iter()
            .map(|result| {
                let whole = ty::is_index(result.ty()) || ty::is_int(result.ty(), 1);
                let name = if whole { self.register() } else { self.temporary() };
                self.set(result, Name::Text(name.clone()));
                name
            })
            .collect();
        let operands = self.operands(op);
        let all: Vec<_> = results.into_iter().chain(operands).collect();
        self.line(format_args!("{} {}", mnemonic(op), all.join(", ")));
    }

    /// The operands; a memref and its indices are one address.
    fn operands(&self, op: Op<'c>) -> Vec<String> {
        let operands = op.operands();
        let Some(at) = operands.iter().position(|operand| ty::is_memref(operand.ty())) else {
            return operands.into_iter().map(|operand| self.name(operand)).collect();
        };
        let view = View { memref: operands[at], indices: operands[at + 1..].to_vec() };
        let before = operands[..at].iter().map(|operand| self.name(*operand));
        before.chain(std::iter::once(self.place(&view))).collect()
    }

    /// Returns the result of an operation that needs no instruction.
    fn known(&self, op: Op<'c>) -> Option<Name> {
        match op.name() {
            "arith.constant" => {
                let value = op.attr("value")?;
                Some(match attr::int(value) {
                    Some(number) => Name::Sum(Sum::number(number)),
                    None => Name::Text(number(value)),
                })
            }
            "affine.apply" => {
                let [sum] = &affine::linear(op.attr("map")?)?[..] else { return None };
                let mut total = Sum::number(sum.constant);
                for (operand, &factor) in op.operands().into_iter().zip(&sum.coefficients) {
                    total = total.plus(&self.sum(operand).scale(factor));
                }
                Some(Name::Sum(total))
            }
            "arith.addi" | "arith.subi" | "arith.muli" if ty::is_index(op.result(0).ty()) => {
                let (left, right) = (self.sum(op.operand(0)), self.sum(op.operand(1)));
                let sum = match op.name() {
                    "arith.addi" => left.plus(&right),
                    "arith.subi" => left.plus(&right.scale(-1)),
                    _ => match (left.as_number(), right.as_number()) {
                        (Some(number), _) => right.scale(number),
                        (_, Some(number)) => left.scale(number),
                        _ => return None,
                    },
                };
                Some(Name::Sum(sum))
            }
            _ => None,
        }
    }

    fn scf_for(&mut self, op: Op<'c>) {
        let (Some(body), [low, high, step, inits @ ..]) = (op.body(0), &op.operands()[..]) else {
            return;
        };
        let (low, high, step) = (self.sum(*low), self.sum(*high), self.sum(*step));
        let counter = self.register();
        let mut carried = Vec::new();
        let args = body.args();
        for (&init, arg) in inits.iter().zip(&args[1..]) {
            let name = self.register();
            let from = self.name(init);
            self.line(format_args!("set {name}, {from}"));
            self.set(*arg, Name::Text(name.clone()));
            carried.push(name);
        }
        self.line(format_args!("set {counter}, {low}"));
        self.set(args[0], Name::Sum(Sum::register(counter.clone())));
        let begin = self.label();
        let runs = low.as_number().zip(high.as_number()).is_some_and(|(low, high)| low < high);
        let end = (!runs).then(|| self.label());
        if let Some(end) = &end {
            self.line(format_args!("bge {counter}, {high}, {end}"));
        }
        self.put(&begin);
        self.block(body);
        let yielded = body.terminator().map(|end| end.operands()).unwrap_or_default();
        // Together, for one may be what another was.
        let names: Vec<_> = yielded.into_iter().map(|value| self.name(value)).collect();
        match (&carried[..], &names[..]) {
            ([], _) => {}
            ([name], [value]) => self.line(format_args!("set {name}, {value}")),
            _ => self.line(format_args!("set ({}), ({})", carried.join(", "), names.join(", "))),
        }
        self.line(format_args!("add {counter}, {counter}, {step}"));
        self.line(format_args!("blt {counter}, {high}, {begin}"));
        if let Some(end) = end {
            self.put(&end);
        }
        for (result, name) in op.results().into_iter().zip(carried) {
            self.set(result, Name::Text(name));
        }
    }

    /// Loops over registers: these have numbers, so that each point is written.
    fn affine_for(&mut self, op: Op<'c>) {
        let (Some(body), Some(rounds)) = (op.body(0), affine::rounds(op)) else { return };
        for at in rounds {
            self.set(body.arg(0), Name::Sum(Sum::number(at)));
            self.block(body);
        }
    }

    fn scf_if(&mut self, op: Op<'c>) {
        let (Some(then), condition) = (op.body(0), self.name(op.operand(0))) else { return };
        let results: Vec<String> = op.results().iter().map(|_| self.register()).collect();
        let otherwise = op.first_block(1).filter(|block| block.iter().next().is_some());
        let other = self.label();
        self.line(format_args!("beq {condition}, 0, {other}"));
        self.branch(then, &results);
        if let Some(otherwise) = otherwise {
            let end = self.label();
            self.line(format_args!("jump {end}"));
            self.put(&other);
            self.branch(otherwise, &results);
            self.put(&end);
        } else {
            self.put(&other);
        }
        for (result, name) in op.results().into_iter().zip(results) {
            self.set(result, Name::Text(name));
        }
    }

    fn branch(&mut self, block: Block<'c>, results: &[String]) {
        self.block(block);
        let yielded = block.terminator().map(|end| end.operands()).unwrap_or_default();
        for (name, value) in results.iter().zip(yielded) {
            let value = self.name(value);
            self.line(format_args!("set {name}, {value}"));
        }
    }

    /// A token is the number of what its engine was given last, in a register.
    fn mark(&mut self, engine: Option<&str>, token: Option<Val<'c>>) {
        let (Some(engine), Some(token)) = (engine, token) else { return };
        if token.uses().is_empty() {
            return;
        }
        let name = self.register();
        self.line(format_args!("mark {name}, {engine}"));
        self.set(token, Name::Text(name));
    }

    fn wait(&mut self, op: Op<'c>) {
        let mut tokens = Vec::new();
        for token in op.operands() {
            let name = self.name(token);
            // A token that is given already needs no wait.
            if name != READY && !tokens.contains(&name) {
                tokens.push(name);
            }
        }
        if !tokens.is_empty() {
            self.line(format_args!("wait {}", tokens.join(", ")));
        }
    }
}

/// A number without its type.
fn number(value: Attribute<'_>) -> String {
    if let Some(number) = attr::int(value) {
        return number.to_string();
    }
    attr::float(value).map_or_else(|| value.to_string(), |number| format!("{number:?}"))
}

/// The name without its dialect, with what a comparison asks.
fn mnemonic(op: Op<'_>) -> String {
    let name = op.name();
    let short = name.strip_prefix("arith.").or_else(|| name.strip_prefix("math."));
    let short = short.or_else(|| name.strip_prefix("memref.")).unwrap_or(name);
    const INTEGERS: [&str; 10] =
        ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
    const FLOATS: [&str; 16] = [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
        "ule", "une", "uno", "true",
    ];
    let asked = op.attr("predicate").and_then(attr::int).and_then(|n| usize::try_from(n).ok());
    let asked = asked.and_then(|asked| match short {
        "cmpi" => INTEGERS.get(asked),
        "cmpf" => FLOATS.get(asked),
        _ => None,
    });
    asked.map_or_else(|| short.to_owned(), |asked| format!("{short}.{asked}"))
}
