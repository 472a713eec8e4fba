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
        /// For each operand the layout of the buffer that it is read from, if that is prescribed.
        layouts: Option<Layout> = layouts(op)?;
        /// The features that it needs and not every processor of the file has, by LLVM's names.
        requires: &'c str = texts(op, "requires").unwrap_or_default();
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

/// How the buffer lies from which an instruction takes an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Elements of a row. An operand with more columns goes on in the next panel.
    pub pitch: u64,
    /// Rows of a panel, where an operand takes several.
    pub rows: Option<u64>,
    /// Bits, keep and shift of the swizzle: see `device.alloc`.
    pub swizzle: [u32; 3],
}

impl Layout {
    /// Reads `[rows, pitch, bits, keep, shift]`, or the same without rows.
    pub fn of(layout: Attribute<'_>) -> Option<Self> {
        let numbers: Vec<u64> = attr::array(layout)?
            .into_iter()
            .map(|number| u64::try_from(attr::int(number)?).ok())
            .collect::<Option<_>>()?;
        let (dims, swizzle) = numbers.split_at(numbers.len().checked_sub(3)?);
        let (pitch, rows) = match *dims {
            [pitch] => (pitch, None),
            [rows, pitch] => (pitch, Some(rows)),
            _ => return None,
        };
        let mut bits = [0; 3];
        for (own, number) in bits.iter_mut().zip(swizzle) {
            *own = u32::try_from(*number).ok()?;
        }
        let [own, keep, shift] = bits;
        let swizzles = own >= 1 && shift >= own && keep + shift < 32;
        let whole = || pitch.is_multiple_of(1 << (keep + own));
        (pitch > 0 && rows != Some(0) && swizzles && whole()).then_some(Self {
            pitch,
            rows,
            swizzle: bits,
        })
    }
}

/// The layout of each operand; none where there is no list of them.
fn layouts(op: Op<'_>) -> Option<Vec<Option<Layout>>> {
    Some(match array(op, "layouts") {
        Some(layouts) => layouts.into_iter().map(Layout::of).collect(),
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
