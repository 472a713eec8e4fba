//! Instructions: operands, cost, meaning and lowering.

use super::used::{LOWERING, MEANING};
use super::view::{array, float, number, symbol, text, texts, view};
use crate::ir::{Attribute, Block, Op, Type, affine, attr};

view! {
    /// An instruction: operands, cost, meaning and lowering.
    Instruction is "device.instruction", from |op| {
        /// The execution unit that has it.
        unit: &'c str = symbol(op, "unit")?;
        /// The engine that executes it asynchronously, if one does.
        engine: Option<&'c str> = symbol(op, "engine");
        /// Cycles between two of them.
        issue_cycles: f64 = float(op, "issue_cycles")?;
        /// Cycles until the results are there.
        latency_cycles: u64 = number(op, "latency_cycles")?;
        /// Measured rate on all units, in 10⁹ operations a second.
        gflops: Option<u64> = number(op, "gflops");
        /// The assembly of one invocation.
        encoding: Option<&'c str> = text(op, "encoding");
    }
    lists {
        /// The memory of each operand of the meaning.
        operands: &'c str =
            array(op, "operands")?.into_iter().map(attr::symbol).collect::<Option<_>>()?;
        /// For each operand the affine map from lane and slot to element, if it has one.
        fragments: Option<Attribute<'c>> = fragments(op)?;
        /// The ways in which a result may differ from the meaning.
        accuracy: &'c str = texts(op, "accuracy").unwrap_or_default();
    }
}

fn fragments<'c>(op: Op<'c>) -> Option<Vec<Option<Attribute<'c>>>> {
    Some(match array(op, "fragments") {
        Some(maps) => maps.into_iter().map(|map| affine::axes(map).map(|_| map)).collect(),
        None => vec![None; array(op, "operands")?.len()],
    })
}

impl<'c> Instruction<'c> {
    /// The operation whose first region is the meaning; its attributes do not count as used.
    pub fn meant(&self) -> Op<'c> {
        self.used.mark(MEANING);
        self.op
    }

    /// Returns the body that defines what it computes, on tensors; it ends in `device.yield`.
    pub fn meaning(&self) -> Option<Block<'c>> {
        self.meant().first_block(0)
    }

    /// Returns its lower-level IR; it ends in `device.yield`.
    pub fn lowering(&self) -> Option<Block<'c>> {
        self.used.mark(LOWERING);
        self.op.first_block(1)
    }

    /// The tensor type of each operand.
    pub fn operand_types(&self) -> Vec<Type<'c>> {
        let args = self.meaning().map(Block::args).unwrap_or_default();
        args.into_iter().map(|arg| arg.ty()).collect()
    }

    /// Returns the number of its results; they overwrite as many last operands.
    pub fn result_count(&self) -> usize {
        let end = self.meaning().and_then(Block::terminator);
        end.map_or(0, |end| end.operands().len())
    }
}
