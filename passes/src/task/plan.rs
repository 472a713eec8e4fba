//! From a `task.program` to the plan that the runtime follows.
//!
//! ```text
//! task.range "conv1" @conv[0 to 14] on 0(%x, %w, %y) after(%t0)
//!   ->  Step { unit: 0, kernel: conv, begin: 0, end: 14, buffers: [x, w, y], waits: [..] }
//! ```
//!
//! Tokens name every dependence; a step names only the waits that the order of its
//! unit and its other waits do not keep anyway. Constants that some range reads
//! get a place in the constants; the list of their sources says how to make them.

use std::collections::HashMap;

use weft_dialects::device::Machine;
use weft_dialects::ir::{Op, Type, Val, attr, ty};
use weft_dialects::task;
use weft_runtime::DType;
use weft_runtime::plan::{ALIGN, Base, Buffer, Kernel, Plan, PlanError, Port, Step};

/// A plan, and how to make its constants.
#[derive(Clone, Debug)]
pub struct Planned<'c> {
    /// What the runtime follows.
    pub plan: Plan,
    /// In an order in which they can be made, without what nobody needs.
    pub constants: Vec<ConstantSource<'c>>,
}

/// One constant buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantSource<'c> {
    /// Where it lies in the constants; `None` where only other constants read it.
    pub offset: Option<u64>,
    /// Its size.
    pub bytes: u64,
    /// Its type, a memref.
    pub ty: Type<'c>,
    /// Where its elements come from.
    pub value: ConstantValue<'c>,
}

/// Where the elements of a constant come from.
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
        /// The kernel's first arguments: earlier sources, by index, each under the
        /// shape of its argument. Results whose arguments are not covered start as
        /// zeros, the others as a copy.
        operands: Vec<usize>,
        /// Which result.
        result: usize,
    },
}

/// Why a program has no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanningError {
    /// An element type that the runtime's callers do not know.
    #[error("the {kind} `{name}` has elements of type {elem}, which no caller can give or take")]
    Type {
        /// `input` or `output`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The element type.
        elem: String,
    },
    /// A program that its verifier would refuse.
    #[error("{0} is not as the verifier of task.program wants it")]
    Broken(String),
    /// A plan that breaks the runtime's rules.
    #[error("the plan is not one that the runtime follows")]
    Plan(#[from] PlanError),
}

/// The plan of `program`, to run on `machine`.
///
/// The caller fills in `build`.
///
/// # Errors
/// The program is none that passes its verifier, or its types have no name outside.
pub fn plan<'c>(
    program: &task::Program<'c>,
    machine: Machine<'c>,
) -> Result<Planned<'c>, PlanningError> {
    let ops = program.body.ops();
    let mut planner = Planner {
        plan: Plan {
            name: program.name.to_owned(),
            units: program.units as u32,
            arena_bytes: program.arena,
            cpu_features: machine.features().into_iter().map(str::to_owned).collect(),
            device: machine.name().to_owned(),
            ..Plan::default()
        },
        sources: Sources::of(&ops)?,
        places: HashMap::new(),
        buffers: HashMap::new(),
        kernels: HashMap::new(),
        names: HashMap::new(),
        steps: HashMap::new(),
        clocks: Vec::new(),
        last: vec![None; program.units as usize],
    };
    planner.plan.inputs = ports("input", &ops, &program.input_types)?;
    planner.plan.outputs = ports("output", &ops, &program.output_types)?;
    planner.plan.constant_bytes = planner.sources.bytes;
    for op in ops {
        planner.statement(op)?;
    }
    planner.plan.validate()?;
    Ok(Planned { plan: planner.plan, constants: planner.sources.list })
}

fn broken(op: Op<'_>) -> PlanningError {
    PlanningError::Broken(op.text())
}

/// Bytes of a buffer's type.
fn bytes(op: Op<'_>, ty: Type<'_>) -> Result<u64, PlanningError> {
    let elem = ty::elem(ty).and_then(ty::byte_size);
    let bytes = elem.zip(ty::count(ty)).and_then(|(elem, count)| elem.checked_mul(count));
    bytes.ok_or_else(|| broken(op))
}

fn ports(
    kind: &'static str,
    ops: &[Op<'_>],
    types: &[Type<'_>],
) -> Result<Vec<Port>, PlanningError> {
    let of = |&op| if kind == "input" { task::Port::input(op) } else { task::Port::output(op) };
    let mut found: Vec<_> = ops.iter().filter_map(of).collect();
    found.sort_by_key(|port| port.index);
    let port = |(port, &ty): (&task::Port<'_>, &Type<'_>)| {
        let (shape, elem) = ty::shape(ty).zip(ty::elem(ty)).ok_or_else(|| broken(port.op))?;
        let dtype = dtype(elem).ok_or_else(|| PlanningError::Type {
            kind,
            name: port.name.to_owned(),
            elem: elem.to_string(),
        })?;
        Ok(Port { name: port.name.to_owned(), dtype, shape })
    };
    found.iter().zip(types).map(port).collect()
}

/// The name that callers have for a graph type's elements.
fn dtype(elem: Type<'_>) -> Option<DType> {
    Some(match elem.to_string().as_str() {
        "i1" => DType::Bool,
        "i8" | "si8" => DType::I8,
        "i16" | "si16" => DType::I16,
        "i32" | "si32" => DType::I32,
        "i64" | "si64" => DType::I64,
        "ui8" => DType::U8,
        "ui16" => DType::U16,
        "ui32" => DType::U32,
        "ui64" => DType::U64,
        "f16" => DType::F16,
        "bf16" => DType::BF16,
        "f32" => DType::F32,
        "f64" => DType::F64,
        _ => return None,
    })
}

/// The constants that somebody needs, with places for those that ranges read.
struct Sources<'c> {
    list: Vec<ConstantSource<'c>>,
    of: HashMap<Val<'c>, usize>,
    bytes: u64,
}

impl<'c> Sources<'c> {
    fn of(ops: &[Op<'c>]) -> Result<Self, PlanningError> {
        // Backwards: what ranges read is stored, what needed constants read is made.
        let (mut stored, mut made) = (HashMap::new(), HashMap::new());
        for &op in ops.iter().rev() {
            if let Some(range) = task::Range::of(op) {
                stored.extend(range.buffers.into_iter().map(|buffer| (task::viewed(buffer), ())));
            } else if let Some(constant) = task::Constant::of(op) {
                let needed = |value: &Val<'c>| stored.contains_key(value) || made.contains_key(value);
                if constant.results.iter().any(needed) {
                    made.extend(constant.operands.into_iter().map(|value| (task::viewed(value), ())));
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

    /// What makes a result of `op`; `None` where that is no constant.
    fn value(&self, op: Op<'c>, result: usize) -> Result<Option<ConstantValue<'c>>, PlanningError> {
        if let Some(task::Weight { file, tensor, hash, .. }) = task::Weight::of(op) {
            return Ok(Some(ConstantValue::Weight { file, tensor, hash }));
        }
        if op.is("task.literal") {
            let bytes = op.attr("value").and_then(attr::dense_bytes).ok_or_else(|| broken(op))?;
            return Ok(Some(ConstantValue::Literal(bytes)));
        }
        let Some(constant) = task::Constant::of(op) else { return Ok(None) };
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

struct Planner<'c> {
    plan: Plan,
    sources: Sources<'c>,
    /// Where buffers and their views lie.
    places: HashMap<Val<'c>, Buffer>,
    buffers: HashMap<Buffer, u32>,
    kernels: HashMap<&'c str, u32>,
    names: HashMap<&'c str, u32>,
    /// By token.
    steps: HashMap<Val<'c>, u32>,
    /// For each step and unit, how many steps of the unit are done when the step is.
    clocks: Vec<Vec<u32>>,
    /// The last step of each unit so far.
    last: Vec<Option<u32>>,
}

impl<'c> Planner<'c> {
    fn statement(&mut self, op: Op<'c>) -> Result<(), PlanningError> {
        if let Some(range) = task::Range::of(op) {
            return self.step(&range);
        }
        for value in op.results() {
            if let Some(buffer) = self.place(op, value)? {
                self.places.insert(value, buffer);
            }
        }
        Ok(())
    }

    /// Where a buffer lies; `None` where it is a constant that is not stored.
    fn place(&self, op: Op<'c>, value: Val<'c>) -> Result<Option<Buffer>, PlanningError> {
        if op.is("task.view") {
            return Ok(self.places.get(&task::viewed(value)).copied());
        }
        let (base, offset) = if let Some(port) = task::Port::input(op) {
            (Base::Input(port.index as u32), 0)
        } else if let Some(port) = task::Port::output(op) {
            (Base::Output(port.index as u32), 0)
        } else if let Some(buffer) = task::Buffer::of(op) {
            (Base::Arena, buffer.offset)
        } else {
            let source = self.sources.of.get(&value).map(|&source| &self.sources.list[source]);
            match source.and_then(|source| source.offset) {
                Some(offset) => (Base::Constant, offset),
                None => return Ok(None),
            }
        };
        Ok(Some(Buffer { base, offset, bytes: bytes(op, value.ty())? }))
    }

    fn step(&mut self, range: &task::Range<'c>) -> Result<(), PlanningError> {
        let unit = range.unit as usize;
        if unit >= self.last.len() {
            return Err(broken(range.op));
        }
        let number = self.plan.steps.len() as u32;
        let buffers = range.buffers.iter().map(|&value| self.buffer(range.op, value));
        let buffers = buffers.collect::<Result<_, _>>()?;
        let waits = range.waits.iter().map(|wait| self.steps.get(wait).copied());
        let waits = waits.collect::<Option<Vec<_>>>().ok_or_else(|| broken(range.op))?;
        let waits = self.reduce(number, unit, waits);
        let (kernels, names) = (&mut self.plan.kernels, &mut self.plan.ops);
        let kernel = *self.kernels.entry(range.kernel).or_insert_with(|| {
            kernels.push(Kernel { symbol: range.kernel.to_owned() });
            kernels.len() as u32 - 1
        });
        let op = *self.names.entry(range.name).or_insert_with(|| {
            names.push(range.name.to_owned());
            names.len() as u32 - 1
        });
        let (begin, end) = (range.begin, range.end);
        self.plan.steps.push(Step { unit: unit as u32, kernel, begin, end, buffers, waits, op });
        self.steps.insert(range.token(), number);
        Ok(())
    }

    fn buffer(&mut self, op: Op<'c>, value: Val<'c>) -> Result<u32, PlanningError> {
        let place = *self.places.get(&value).ok_or_else(|| broken(op))?;
        let buffers = &mut self.plan.buffers;
        Ok(*self.buffers.entry(place).or_insert_with(|| {
            buffers.push(place);
            buffers.len() as u32 - 1
        }))
    }

    /// Keeps the waits that neither the unit's order nor a later wait implies.
    fn reduce(&mut self, number: u32, unit: usize, mut waits: Vec<u32>) -> Vec<u32> {
        let mut clock = match self.last[unit] {
            Some(before) => self.clocks[before as usize].clone(),
            None => vec![0; self.last.len()],
        };
        waits.sort_unstable();
        waits.dedup();
        let mut kept = Vec::new();
        for &wait in waits.iter().rev() {
            let done = &self.clocks[wait as usize];
            let other = self.plan.steps[wait as usize].unit as usize;
            if clock[other] >= done[other] {
                continue;
            }
            for (own, done) in clock.iter_mut().zip(done) {
                *own = (*own).max(*done);
            }
            kept.push(wait);
        }
        kept.reverse();
        clock[unit] += 1;
        self.clocks.push(clock);
        self.last[unit] = Some(number);
        kept
    }
}
