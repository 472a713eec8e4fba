//! A payload as a program.

use weft_dialects::ir::{Block, Op};
use weft_runtime::vm::{Program, VmError};

use super::compiler::{Compiler, Known};
use super::error::InterpretError;

/// The operations whose first region is a payload.
const PAYLOADS: &str = "graph.op, tile.kernel, tile.compute, device.instruction and func.func, \
                        with a body of one block";

/// A payload that is ready to run.
///
/// ```no_run
/// use weft_dialects::ir::{context, module_op, parse};
/// use weft_passes::interpret::Compiled;
///
/// let context = context();
/// let module = parse(&context, r#"
///     func.func @double(%x: tensor<2xi32>) -> tensor<2xi32> {
///       %y = arith.addi %x, %x : tensor<2xi32>
///       return %y : tensor<2xi32>
///     }"#)?;
/// let double = module_op(&module).body(0).unwrap().ops()[0];
/// let out = Compiled::of(double)?.run(&[&[1, 0, 0, 0, 2, 0, 0, 0]])?;
/// assert_eq!(out[0], [2, 0, 0, 0, 4, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program. Its inputs are the arguments of the payload, then one per constant; its
    /// outputs are what the payload yields. All other tensors are temporaries.
    pub program: Program,
    /// The values of the program's last inputs, the same in every run.
    pub constants: Vec<Vec<u8>>,
}

impl Compiled {
    /// Compiles the payload of an operation.
    ///
    /// For a `tile.kernel`, tensors that are overwritten are inputs like the others, and come
    /// back as outputs.
    ///
    /// # Errors
    /// The first operation or type without a meaning here.
    pub fn of(op: Op<'_>) -> Result<Self, InterpretError> {
        const NAMES: [&str; 5] =
            ["graph.op", "tile.kernel", "tile.compute", "device.instruction", "func.func"];
        if !NAMES.contains(&op.name()) {
            return Err(InterpretError::operation(op, PAYLOADS));
        }
        match op.region(0).blocks().as_slice() {
            [block] => Self::of_block(op, *block),
            blocks => {
                let found = format!("a body of {} blocks", blocks.len());
                Err(InterpretError::form(op, found, PAYLOADS))
            }
        }
    }

    /// Compiles a block: its arguments are the inputs, what its terminator passes on the
    /// outputs. `op` is whose block it is, for messages.
    ///
    /// # Errors
    /// The first operation or type without a meaning here.
    pub fn of_block<'c>(op: Op<'c>, block: Block<'c>) -> Result<Self, InterpretError> {
        Self::of_run(op, block, &Known::default())
    }

    /// The same for a run in which symbols stand for these numbers.
    pub(super) fn of_run<'c>(
        op: Op<'c>,
        block: Block<'c>,
        known: &Known,
    ) -> Result<Self, InterpretError> {
        let mut compiler = Compiler::of_run(known.clone());
        for arg in block.args() {
            compiler.argument(op, arg)?;
        }
        for value in compiler.block(block)? {
            let output = compiler.whole(op, value)?;
            compiler.program.outputs.push(output.buffer);
        }
        let Compiler { mut program, constants, body, .. } = compiler;
        program.body = body;
        Ok(Self { program, constants })
    }

    /// Runs the payload on the bytes of its arguments.
    ///
    /// # Errors
    /// Arguments of the wrong number or size, a division by zero, an address outside of its
    /// tensor.
    pub fn run(&self, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, VmError> {
        let constants = self.constants.iter().map(Vec::as_slice);
        let all: Vec<&[u8]> = inputs.iter().copied().chain(constants).collect();
        self.program.run(&all)
    }
}
