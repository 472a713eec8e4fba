//! Checks that an instruction's lowering computes its meaning.
//!
//! If this processor can run the lowering, both are run on the same random values and
//! compared within the accuracy that the instruction states; where operands are spread
//! over lanes, lane after lane. An operation of the vendor's
//! own has no other meaning than the instruction's, so of it is asked that it takes every
//! operand. What runs elsewhere is said to, and not checked.

use weft_dialects::device::{Instruction, Machine, View, build};
use weft_dialects::ir::{
    Builder, Context, Mapping, Op, Type, Val, affine, attr, empty_module, module_op, ty,
};
use weft_runtime::cpu::{check_features, run_once};
use weft_runtime::dtype::DType;
use weft_runtime::plan::Port;
use weft_runtime::random;
use weft_runtime::tensor::Tensor;
use weft_runtime::vm::Ty;

use super::{compile_kernels, link};
use crate::interpret::{Compiled, element_type};

/// Number of random cases.
const CASES: u64 = 8;

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Both were run and agree.
    Agrees {
        /// Number of cases.
        cases: u64,
        /// The largest share of what may differ that did.
        share: f64,
    },
    /// The lowering is written in the vendor's operations, which take every operand.
    Vendors {
        /// Their names, in order.
        operations: Vec<String>,
    },
    /// There is no lowering: only the encoding and the meaning describe the instruction.
    Empty,
    /// The lowering cannot be run here, with the reason.
    Elsewhere(String),
    /// The lowering is wrong, with the difference.
    Wrong(String),
}

/// Checks one instruction. `host` are the features that code for this processor may use.
pub fn check<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    instruction: &Instruction<'c>,
    host: &[String],
) -> Verdict {
    let Some(lowering) = instruction.lowering() else { return Verdict::Empty };
    let own = machine.vendor_operations();
    let mut operations = Vec::new();
    let mut foreign = None;
    for op in lowering.iter() {
        op.walk(&mut |op| {
            if own.iter().any(|(name, _)| op.is(name)) {
                operations.push(op.name().to_owned());
            }
            let dialect = op.name().split('.').next().unwrap_or("");
            if !["arith", "math", "vector", "device", "scf", "affine"].contains(&dialect) {
                // Casts say less about the lowering than the operations that they feed.
                let casts = foreign.is_none_or(|name: &str| name.starts_with("llvm."));
                if casts {
                    foreign = Some(op.name());
                }
            }
        });
    }
    let unused = lowering.args().iter().position(|arg| arg.uses().is_empty());
    let empty = lowering.iter().all(|op| op.is("device.yield") && op.operands().is_empty());
    if empty && instruction.result_count() > 0 {
        return Verdict::Empty;
    }
    if let Some(operand) = unused {
        return Verdict::Wrong(format!("the lowering does not use operand {operand}"));
    }
    if !operations.is_empty() {
        return Verdict::Vendors { operations };
    }
    if lowering.args().iter().any(|arg| ty::is_index(arg.ty())) {
        return Verdict::Elsewhere("it works on addresses of the machine's memories".to_owned());
    }
    if !is_small(instruction) {
        return Verdict::Elsewhere(
            "it takes too many steps in the reference interpreter".to_owned(),
        );
    }
    let native = machine.arch() == HOST;
    let features = if native {
        machine.features().into_iter().map(str::to_owned).collect()
    } else {
        host.to_vec()
    };
    // Only the machine itself runs its own operations, and those across its lanes.
    if let Some(name) = foreign.filter(|_| !native) {
        return Verdict::Elsewhere(format!("{name} is an operation of {}", machine.arch()));
    }
    if let Err(error) = check_features(&features) {
        return Verdict::Elsewhere(error.to_string());
    }
    match compare(context, machine, instruction, &features) {
        Ok(share) if share <= 1.0 => Verdict::Agrees { cases: CASES, share },
        Ok(_) => Verdict::Wrong("the lowering differs from the meaning".to_owned()),
        Err(reason) => Verdict::Wrong(reason),
    }
}

/// The architecture that code runs on here.
const HOST: &str = "x86-64";

/// Runs both; the largest share of what may differ.
fn compare<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    instruction: &Instruction<'c>,
    features: &[String],
) -> Result<f64, String> {
    let code = compile(context, machine, instruction, features)?;
    let meaning = Compiled::of(instruction.meant()).map_err(|error| error.to_string())?;
    let ports: Vec<Port> = instruction
        .operand_types()
        .into_iter()
        .enumerate()
        .map(|(number, ty)| port(number, ty))
        .collect::<Option<_>>()
        .ok_or("an operand has elements that are no numbers")?;
    let results = instruction.result_count();
    let folded = folded(instruction);
    let lanes = lanes(machine, instruction)?;
    let mut worst = 0.0f64;
    for case in 0..CASES {
        let inputs: Vec<Vec<u8>> =
            ports.iter().map(|port| random::tensor(port, case).bytes).collect();
        let run = |inputs: &[Vec<u8>]| {
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            meaning.run(&inputs).map_err(|error| error.to_string())
        };
        let wanted = run(&inputs)?;
        // The sum of the absolute terms bounds the rounding error.
        let sizes: Vec<_> =
            inputs.iter().zip(&ports).map(|(bytes, port)| unsigned(bytes, port.dtype)).collect();
        let bounds = run(&sizes)?;
        let mut buffers = inputs.clone();
        for lane in &lanes {
            let mut own = lane.gather(&buffers);
            run_once(&code, ENTRY, &mut own).map_err(|error| error.to_string())?;
            lane.scatter(&own, &mut buffers, results);
        }
        let first = buffers.len() - results;
        for (number, (wanted, bound)) in wanted.into_iter().zip(bounds).enumerate() {
            let port = &ports[first + number];
            let got = Tensor::of_port(port, buffers[first + number].clone());
            let (wanted, bound) = (Tensor::of_port(port, wanted), Tensor::of_port(port, bound));
            let allowed = Allowed::of(instruction, port.dtype, folded);
            for element in 0..got.elements() {
                let [got, wanted, bound] =
                    [&got, &wanted, &bound].map(|tensor| tensor.number(element).as_f64());
                let share = allowed.share(got, wanted, bound);
                if share > 1.0 {
                    return Err(format!(
                        "element {:?} of operand {} is {got:?}, and {wanted:?} by the meaning (case {case})",
                        Tensor::of_port(port, vec![0; port.bytes().unwrap_or(0) as usize])
                            .position(element),
                        first + number
                    ));
                }
                worst = worst.max(share);
            }
        }
    }
    Ok(worst)
}

/// The elements of each operand that one lane holds: their numbers in the
/// operand, and the bytes of one.
struct Lane {
    operands: Vec<(Vec<usize>, usize)>,
}

impl Lane {
    fn gather(&self, whole: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let one = |((elements, size), bytes): (&(Vec<usize>, usize), &Vec<u8>)| {
            elements.iter().flat_map(|at| bytes[at * size..][..*size].to_vec()).collect()
        };
        self.operands.iter().zip(whole).map(one).collect()
    }

    /// Puts the last `results` operands back.
    fn scatter(&self, own: &[Vec<u8>], whole: &mut [Vec<u8>], results: usize) {
        let first = own.len() - results;
        for (number, bytes) in whole.iter_mut().enumerate().skip(first) {
            let (elements, size) = &self.operands[number];
            for (slot, at) in elements.iter().enumerate() {
                bytes[at * size..][..*size].copy_from_slice(&own[number][slot * size..][..*size]);
            }
        }
    }
}

/// The lanes that a lowering runs on; one with everything, where no operand has a fragment.
fn lanes<'c>(machine: Machine<'c>, instruction: &Instruction<'c>) -> Result<Vec<Lane>, String> {
    let lowering = instruction.lowering().ok_or("there is no lowering")?;
    let spread = instruction.operands().iter().zip(instruction.fragments());
    let count = spread
        .filter(|(_, fragment)| fragment.is_some())
        .filter_map(|(memory, _)| machine.memory(memory)?.lanes())
        .max()
        .unwrap_or(1);
    let types: Vec<_> = instruction.operand_types();
    let mut lanes = Vec::new();
    for lane in 0..count {
        let mut operands = Vec::new();
        for ((ty, arg), fragment) in types.iter().zip(lowering.args()).zip(instruction.fragments())
        {
            let shape = ty::shape(*ty).ok_or("an operand has no static shape")?;
            let size = ty::elem(*ty).and_then(ty::byte_size).ok_or("elements are no numbers")?;
            let elements = match fragment {
                None => (0..shape.iter().product::<u64>() as usize).collect(),
                Some(map) => {
                    let slots = ty::count(arg.ty()).unwrap_or(1);
                    let points = affine::Points::of(*map).ok_or("a fragment is no map")?;
                    let at = |slot: u64| {
                        let point = points.at(&[lane as i64, slot as i64])?;
                        let number = point
                            .iter()
                            .zip(&shape)
                            .fold(0, |sum, (at, dim)| sum * dim + *at as u64);
                        Some(number as usize)
                    };
                    (0..slots).map(at).collect::<Option<_>>().ok_or("a fragment has no value")?
                }
            };
            operands.push((elements, size as usize));
        }
        lanes.push(Lane { operands });
    }
    Ok(lanes)
}

/// The accepted difference.
struct Allowed {
    /// The accepted part of the error bound; zero where results must be equal.
    relative: f64,
    /// The magnitude below which a number counts as zero.
    absolute: f64,
}

impl Allowed {
    fn of(instruction: &Instruction<'_>, dtype: DType, folded: u64) -> Self {
        let says = |what: &str| instruction.accuracy().contains(&what);
        let (epsilon, least): (f64, f64) = match dtype {
            DType::F16 => (f64::powi(2.0, -10), f64::powi(2.0, -14)),
            DType::BF16 => (f64::powi(2.0, -7), f64::powi(2.0, -126)),
            DType::F32 => (f64::powi(2.0, -23), f64::powi(2.0, -126)),
            DType::F64 => (f64::powi(2.0, -52), f64::MIN_POSITIVE),
            _ => (0.0, 0.0),
        };
        let rounds = says("rounding") || says("accumulation_order");
        Self {
            relative: if rounds { epsilon * (folded + 1) as f64 } else { 0.0 },
            absolute: if says("flush_to_zero") { least } else { 0.0 },
        }
    }

    fn share(&self, got: f64, wanted: f64, bound: f64) -> f64 {
        if got == wanted || (got.is_nan() && wanted.is_nan()) {
            return 0.0;
        }
        let allowed = self.relative * bound.abs().max(wanted.abs()) + self.absolute;
        let share = (got - wanted).abs() / allowed;
        if share.is_nan() { f64::INFINITY } else { share }
    }
}

/// Returns whether operands and nests of the meaning have at most some million elements and points.
fn is_small(instruction: &Instruction<'_>) -> bool {
    const MOST: u64 = 1 << 24;
    let few = |sizes: Vec<u64>| {
        let all = sizes.into_iter().try_fold(1, |all: u64, size| all.checked_mul(size));
        all.is_some_and(|all| all <= MOST)
    };
    let operands = instruction.operand_types().into_iter().all(|ty| ty::shape(ty).is_some_and(few));
    let mut ops = instruction.meaning().into_iter().flat_map(|block| block.ops());
    operands
        && ops.all(|op| {
            !op.is("linalg.generic")
                || crate::nest::generic_axes(op)
                    .is_ok_and(|axes| few(axes.iter().map(|axis| axis.extent).collect()))
        })
}

/// Returns the number of points of the meaning that are reduced to one element of its result.
fn folded(instruction: &Instruction<'_>) -> u64 {
    let generics = instruction.meaning().into_iter().flat_map(|block| block.ops());
    let points = generics.filter(|op| op.is("linalg.generic")).filter_map(|generic| {
        let axes = crate::nest::generic_axes(generic).ok()?;
        let reduced =
            axes.iter().filter(|axis| axis.kind == weft_dialects::ir::payload::Axis::Reduction);
        Some(reduced.map(|axis| axis.extent).product::<u64>())
    });
    points.max().unwrap_or(1)
}

fn port(number: usize, ty: Type<'_>) -> Option<Port> {
    let dtype = match element_type(ty::elem(ty)?)? {
        Ty::I1 => DType::Bool,
        Ty::I8 => DType::I8,
        Ty::I16 => DType::I16,
        Ty::I32 => DType::I32,
        Ty::I64 => DType::I64,
        Ty::F16 => DType::F16,
        Ty::BF16 => DType::BF16,
        Ty::F32 => DType::F32,
        Ty::F64 => DType::F64,
        Ty::Index => return None,
    };
    Some(Port { name: format!("operand {number}"), dtype, shape: ty::shape(ty)? })
}

/// Returns the absolute values.
fn unsigned(bytes: &[u8], dtype: DType) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if dtype.is_float() {
        for element in bytes.chunks_mut(dtype.bytes()) {
            if let Some(last) = element.last_mut() {
                *last &= 0x7f;
            }
        }
    }
    bytes
}

/// The kernel that invokes the instruction.
const ENTRY: &str = "check";

/// The lowering as code for this processor: a machine with nothing but the instruction, all
/// of whose operands lie in memory, as the lowering takes them. It means nothing: what is
/// compiled is the lowering.
fn compile<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    instruction: &Instruction<'c>,
    features: &[String],
) -> Result<Vec<u8>, String> {
    let module = empty_module(context);
    let body = module_op(&module).body(0).ok_or("a module has a body")?;
    let mut b = Builder::at_end(context, body);
    let copy = b.clone_op(machine.op(), &mut Mapping::default());
    copy.set_attr("arch", attr::of_string(context, HOST));
    copy.set_attr("features", attr::of_strings(context, features));
    let shared = machine.shared().ok_or("the machine has no shared memory")?.name;
    // Code for this processor may use registers as wide as the machine's own.
    let native = machine.arch() == HOST;
    let unneeded = |op: &Op<'c>| match op.name() {
        "device.memory" => {
            op.symbol() != shared && !(native && op.attr("register_bytes").is_some())
        }
        "device.instruction" => op.symbol() != instruction.name,
        "device.unit" => false,
        _ => true,
    };
    for op in copy.first_block(0).into_iter().flat_map(|block| block.ops()).filter(unneeded) {
        op.erase();
    }
    let only = Machine::new(copy);
    let alone = only.instruction(instruction.name).ok_or("the instruction was copied")?;
    let memory = attr::of_symbol(context, shared);
    let operands = vec![memory; alone.operands().len()];
    alone.op().set_attr("operands", attr::of_array(context, &operands));
    for name in ["engine", "fragments", "encoding"] {
        alone.op().remove_attr(name);
    }
    let args = instruction.lowering().map(|block| block.args()).unwrap_or_default();
    let shaped = |ty: Type<'c>| match (ty::shape(ty), ty::elem(ty)) {
        (Some(shape), Some(elem)) => (shape, elem),
        _ => (Vec::new(), ty),
    };
    let shapes: Vec<_> = args.iter().map(|arg| shaped(arg.ty())).collect();
    let meaning = alone.meaning().ok_or("the instruction was copied")?;
    for op in meaning.ops().into_iter().rev() {
        op.erase();
    }
    for (arg, (shape, elem)) in meaning.args().into_iter().zip(&shapes) {
        arg.set_ty(ty::tensor(shape, *elem));
    }
    let results = instruction.result_count();
    let last: Vec<_> = meaning.args().split_off(args.len() - results);
    build::yield_values(&mut Builder::at_end(context, meaning), &last);

    let memrefs: Vec<Type<'c>> =
        shapes.iter().map(|(shape, elem)| ty::memref(shape, *elem, None)).collect();
    let kernel = build::kernel(&mut b, ENTRY, 1, &memrefs);
    let mut b = b.into_block(kernel.body);
    let zero = b.index(0);
    let first = |memref: Val<'c>| {
        let rank = ty::shape(memref.ty()).map_or(0, |shape| shape.len());
        View { memref, indices: vec![zero; rank] }
    };
    let views: Vec<_> = kernel.args().into_iter().map(first).collect();
    build::invoke(&mut b, instruction.name, &views, false);
    let objects =
        compile_kernels(module_op(&module), only, 1).map_err(|error| error.to_string())?;
    link(&objects).map_err(|error| error.to_string())
}
