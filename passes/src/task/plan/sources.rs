//! The sources of constants, and the offsets of those that ranges read.

use std::collections::HashMap;

use weft_dialects::ir::{Op, Type, Val, attr};
use weft_dialects::task;
use weft_runtime::plan::ALIGN;

use super::{PlanningError, broken, bytes};

/// One constant buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantSource<'c> {
    /// Its offset in the constants; `None` if only other constants read it.
    pub offset: Option<u64>,
    /// Its size.
    pub bytes: u64,
    /// Its type, a memref.
    pub ty: Type<'c>,
    /// The source of its elements.
    pub value: ConstantValue<'c>,
}

/// The source of a constant's elements.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantValue<'c> {
    /// A tensor of a file.
    Weight {
        /// Which file, by id.
        file: &'c str,
        /// The tensor's name in the file.
        tensor: &'c str,
        /// BLAKE3 of the little-endian elements, first 32 hexadecimal digits.
        hash: &'c str,
    },
    /// The text: little-endian elements.
    Literal(Vec<u8>),
    /// A kernel. The results of one are neighbours in the list, the first one first.
    Expression {
        /// The operator's name.
        name: &'c str,
        /// The `tile.kernel`'s name.
        kernel: &'c str,
        /// Earlier sources, by index, each under the shape of its argument: the
        /// kernel's inputs; then, where there are that many, what each of its
        /// outputs starts as. Otherwise outputs start as zeros.
        operands: Vec<usize>,
        /// Which result.
        result: usize,
    },
}

/// The constants that are needed, with offsets for those that ranges read.
pub(super) struct Sources<'c> {
    pub list: Vec<ConstantSource<'c>>,
    /// From buffers to their place in the list.
    pub of: HashMap<Val<'c>, usize>,
    /// Size of the constants.
    pub bytes: u64,
}

impl<'c> Sources<'c> {
    pub fn of(ops: &[Op<'c>]) -> Result<Self, PlanningError> {
        // Backwards: what ranges read is stored, what needed constants read is made.
        let (mut stored, mut made) = (HashMap::new(), HashMap::new());
        for &op in ops.iter().rev() {
            if let Some(range) = task::Range::of(op) {
                stored.extend(range.buffers.into_iter().map(|buffer| (task::viewed(buffer), ())));
            } else if let Some(constant) = task::Constant::of(op) {
                let needed =
                    |value: &Val<'c>| stored.contains_key(value) || made.contains_key(value);
                if constant.results.iter().any(needed) {
                    made.extend(
                        constant.operands.into_iter().map(|value| (task::viewed(value), ())),
                    );
                }
            }
        }
        let mut sources = Self { list: Vec::new(), of: HashMap::new(), bytes: 0 };
        for &op in ops {
            let needed = |value: &Val<'c>| stored.contains_key(value) || made.contains_key(value);
            if op.results().iter().any(needed) {
                for (result, value) in op.results().into_iter().enumerate() {
                    if let Some(source) = sources.value(op, result)? {
                        sources.add(op, value, source, stored.contains_key(&value))?;
                    }
                }
            }
        }
        Ok(sources)
    }

    /// Returns the source of a result of `op`; `None` if it is not a constant.
    fn value(&self, op: Op<'c>, result: usize) -> Result<Option<ConstantValue<'c>>, PlanningError> {
        if let Some(task::Weight { file, tensor, hash, .. }) = task::Weight::of(op) {
            return Ok(Some(ConstantValue::Weight { file, tensor, hash }));
        }
        if op.is("task.literal") {
            let bytes = op.attr("value").and_then(attr::dense_bytes).ok_or_else(|| broken(op))?;
            return Ok(Some(ConstantValue::Literal(bytes)));
        }
        let Some(constant) = task::Constant::of(op) else {
            return Ok(None);
        };
        let source = |&operand: &Val<'c>| self.of.get(&task::viewed(operand)).copied();
        let operands = constant.operands.iter().map(source).collect::<Option<_>>();
        let operands = operands.ok_or_else(|| broken(op))?;
        let task::Constant { name, kernel, .. } = constant;
        Ok(Some(ConstantValue::Expression { name, kernel, operands, result }))
    }

    fn add(
        &mut self,
        op: Op<'c>,
        buffer: Val<'c>,
        value: ConstantValue<'c>,
        stored: bool,
    ) -> Result<(), PlanningError> {
        let bytes = bytes(op, buffer.ty())?;
        let offset = stored.then_some(self.bytes);
        if stored {
            self.bytes = (self.bytes + bytes).next_multiple_of(ALIGN);
        }
        self.of.insert(buffer, self.list.len());
        self.list.push(ConstantSource { offset, bytes, ty: buffer.ty(), value });
        Ok(())
    }
}
