//! Lowerings of several matrix instructions, each as a call of the one that the machine has alone: what is written
//! around them runs as the file has it.

use std::fmt::Write as _;

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::ir::Op;

use crate::matrix::call_lines;

const OWN: &str = "nvvm.mma.sync";

fn parts<'c>(instruction: &Instruction<'c>) -> Vec<Op<'c>> {
    let ops = instruction.lowering().map(|block| block.ops()).unwrap_or_default();
    ops.into_iter().filter(|op| op.is(OWN)).collect()
}

/// The instruction that a lowering is composed of, where it is of several.
pub fn part_of<'c>(machine: Machine<'c>, whole: &Instruction<'c>) -> Option<Instruction<'c>> {
    let parts = parts(whole);
    if parts.len() < 2 {
        return None;
    }
    let alone = |other: &Instruction<'c>| match self::parts(other)[..] {
        [one] => parts.iter().all(|part| part.attrs() == one.attrs()),
        _ => false,
    };
    let found = machine.instructions().into_iter().find(alone);
    Some(found.unwrap_or_else(|| panic!("@{}: of what is it composed?", whole.name)))
}

/// Writes the lines of a lowering with calls of `part` in them.
pub struct Composed<'a, 'c> {
    pub part: &'a Instruction<'c>,
    /// Values that are vectors now.
    calls: Vec<String>,
    skipped: usize,
}

impl<'a, 'c> Composed<'a, 'c> {
    pub fn new(part: &'a Instruction<'c>) -> Self {
        Self { part, calls: Vec::new(), skipped: 0 }
    }

    pub fn line(&mut self, line: &str) -> String {
        if self.skipped > 0 {
            self.skipped -= 1;
            return String::new();
        }
        let own = line.trim();
        if let Some((value, rest)) = own.split_once(&format!(" = {OWN} ")) {
            // Attributes and types stand in lines of their own.
            self.skipped = 2;
            self.calls.push(value.to_owned());
            return self.call(value, rest);
        }
        let extract = own.split_once(" = llvm.extractvalue ").and_then(|(to, rest)| {
            let (from, rest) = rest.split_once('[')?;
            self.calls.iter().any(|call| call == from).then_some((to, from, rest))
        });
        match extract {
            Some((to, from, rest)) => {
                let at = rest.split_once(']').expect("an index").0;
                let ty = self.types()[2].clone();
                format!("    {to} = vector.extract {from}r[{at}] : f32 from {ty}\n")
            }
            None => format!("{line}\n"),
        }
    }

    fn types(&self) -> Vec<String> {
        let args = self.part.lowering().expect("a lowering").args();
        args.iter().map(|arg| arg.ty().to_string()).collect()
    }

    fn call(&self, value: &str, text: &str) -> String {
        let types = self.types();
        let mut body = String::new();
        for (name, ty) in ["A", "B", "C"].iter().zip(&types) {
            let from = text.find(&format!("{name}[")).expect("its operands") + 2;
            let list = text[from..].split_once(']').expect("an end").0;
            let own = format!("{value}{}", name.to_lowercase());
            if *name == "C" {
                writeln!(body, "    {own} = vector.from_elements {list} : {ty}").unwrap();
            } else {
                let bits = ty.replace("f32", "i32");
                writeln!(body, "    {own}w = vector.from_elements {list} : {bits}").unwrap();
                writeln!(body, "    {own} = vector.bitcast {own}w : {bits} to {ty}").unwrap();
            }
        }
        body + &call_lines(self.part.name, value, &types)
    }
}
