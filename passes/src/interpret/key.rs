//! Equal payloads have equal keys, whatever their values are called and wherever they stand.

use std::collections::HashMap;
use std::fmt::Write;

use weft_dialects::ir::{Block, Val};

/// A text that says all that a payload says, with numbers for values.
pub(super) fn key(block: Block<'_>) -> String {
    let mut text = String::new();
    write_block(&mut text, block, &mut HashMap::new());
    text
}

fn write_block<'c>(text: &mut String, block: Block<'c>, numbers: &mut HashMap<Val<'c>, usize>) {
    text.push('(');
    for arg in block.args() {
        define(text, arg, numbers);
    }
    text.push_str("){");
    for op in block.iter() {
        text.push_str(op.name());
        for operand in op.operands() {
            match numbers.get(&operand) {
                Some(number) => put(text, format_args!(" {number}")),
                None => put(text, format_args!(" ?{}", operand.ty())),
            }
        }
        for (name, value) in op.attrs() {
            put(text, format_args!(" {name}={value}"));
        }
        for region in 0..op.region_count() {
            for inner in op.region(region).blocks() {
                write_block(text, inner, numbers);
            }
            text.push('|');
        }
        for result in op.results() {
            define(text, result, numbers);
        }
        text.push(';');
    }
    text.push('}');
}

fn define<'c>(text: &mut String, value: Val<'c>, numbers: &mut HashMap<Val<'c>, usize>) {
    let number = numbers.len();
    numbers.insert(value, number);
    put(text, format_args!(":{}", value.ty()));
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a String takes everything");
}
