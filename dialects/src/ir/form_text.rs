//! The structure of operations as text that does not depend on their location.

use std::collections::HashMap;
use std::fmt::Write;

use mlir_sys::{mlirOperationGetNumSuccessors, mlirOperationGetSuccessor};

use super::{Block, Op, Region, Val};

impl Op<'_> {
    /// The operation with all inside, without locations and names of values: equal ones of any
    /// context have equal texts. For hashing, not for reading.
    pub fn form_text(self) -> String {
        let mut writer = Writer::default();
        writer.op(self);
        writer.text
    }
}

impl Region<'_> {
    /// As [`Op::form_text`], of the blocks alone.
    pub fn form_text(self) -> String {
        let mut writer = Writer::default();
        writer.region(self);
        writer.text
    }
}

#[derive(Default)]
struct Writer<'c> {
    text: String,
    numbers: HashMap<Val<'c>, usize>,
}

impl<'c> Writer<'c> {
    /// Texts come with their length: what they hold cannot be taken for what stands around them.
    fn word(&mut self, word: &str) {
        write!(self.text, "{}:{word} ", word.len()).expect("memory takes all");
    }

    fn number(&mut self, number: usize) {
        write!(self.text, "{number} ").expect("memory takes all");
    }

    fn value(&mut self, value: Val<'c>) {
        let next = self.numbers.len();
        let number = *self.numbers.entry(value).or_insert(next);
        self.number(number);
    }

    fn values(&mut self, values: Vec<Val<'c>>) {
        self.number(values.len());
        for value in values {
            self.value(value);
            self.word(&value.ty().to_string());
        }
    }

    fn op(&mut self, op: Op<'c>) {
        self.word(op.name());
        self.values(op.operands());
        self.values(op.results());
        let attrs = op.attrs();
        self.number(attrs.len());
        for (name, value) in attrs {
            self.word(name);
            self.word(&value.to_string());
        }
        self.successors(op);
        self.number(op.region_count());
        (0..op.region_count()).for_each(|region| self.region(op.region(region)));
    }

    /// The blocks that may follow, by their place in the region.
    fn successors(&mut self, op: Op<'c>) {
        // SAFETY: the operation lives, and so do the blocks it names.
        let next: Vec<Block<'c>> = unsafe {
            (0..mlirOperationGetNumSuccessors(op.raw))
                .map(|index| Block::new(mlirOperationGetSuccessor(op.raw, index)))
                .collect()
        };
        self.number(next.len());
        let around = op.block().and_then(Block::parent);
        let beside: Vec<_> = around
            .into_iter()
            .flat_map(|around| (0..around.region_count()).map(move |index| around.region(index)))
            .flat_map(Region::blocks)
            .collect();
        for block in next {
            self.number(beside.iter().position(|own| *own == block).unwrap_or(beside.len()));
        }
    }

    fn region(&mut self, region: Region<'c>) {
        let blocks = region.blocks();
        self.number(blocks.len());
        for block in blocks {
            self.values(block.args());
            let ops = block.ops();
            self.number(ops.len());
            ops.into_iter().for_each(|op| self.op(op));
        }
    }
}
