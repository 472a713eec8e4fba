//! Checks that LLVM writes a lowering in the machine's assembly.
//!
//! The instruction's meaning is a kernel, and the machine is left with this instruction, with
//! its lanes or without: the way down then has to use it, and what comes out is its assembly.

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::{Builder, Context, Mapping, Type, empty_module, module_op, ty};
use weft_passes::codegen::gpu::Isa;
use weft_passes::pipeline::Stage;

use crate::compiler::{Options, Unit};
use crate::failure::Failure;

/// The result of assembling.
pub enum Assembled {
    /// LLVM wrote it, in so many lines.
    Lines(usize),
    /// The way down used something else.
    NotUsed,
    /// LLVM refused it.
    Refused(String),
}

/// Assembles a kernel that is the instruction's meaning; `None` for a machine whose
/// kernels are no code for one thread of many.
pub fn assemble<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    instruction: &Instruction<'c>,
) -> Option<Assembled> {
    let isa = Isa::of_arch(machine.arch())?;
    let ask =
        |lanes| Some(lines(&kernel(context, machine, instruction, lanes)?, instruction.name, isa));
    let mut answer = ask(true)?;
    if let Ok(Assembled::NotUsed) = answer {
        // Lanes may be cheaper for a kernel as small as one instruction.
        answer = ask(false)?;
    }
    Some(answer.unwrap_or_else(|failure| Assembled::Refused(failure.to_string())))
}

fn lines(text: &str, name: &str, isa: Isa) -> Result<Assembled, Failure> {
    // Apart, for what a refusal says is not about the text of the machine file.
    let context = crate::context();
    let mut unit = Unit::from_text(&context, text, Options::default())?;
    unit.lower(Stage::Device)?;
    let mut used = false;
    unit.module().walk(&mut |op| {
        let invoked = op.attr("instruction").and_then(weft_dialects::ir::attr::symbol);
        used |= op.is("device.invoke") && invoked == Some(name);
    });
    if !used {
        return Ok(Assembled::NotUsed);
    }
    Ok(Assembled::Lines(unit.threads_text(isa)?.lines().count()))
}

/// The text of a module of the machine with this one instruction, and of a model that is
/// its meaning.
fn kernel<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    instruction: &Instruction<'c>,
    lanes: bool,
) -> Option<String> {
    let module = empty_module(context);
    let top = module_op(&module);
    let copy =
        Builder::at_end(context, top.body(0)?).clone_op(machine.op(), &mut Mapping::default());
    let others = copy.first_block(0).into_iter().flat_map(|block| block.ops());
    let unwanted = |op: &weft_dialects::ir::Op<'c>| match op.name() {
        "device.instruction" => op.symbol() != instruction.name,
        "device.lanes" => !lanes,
        _ => false,
    };
    for op in others.filter(unwanted) {
        op.erase();
    }
    let meaning = instruction.meaning()?;
    let types: Vec<_> = instruction.operand_types();
    let inputs: Vec<_> = types
        .iter()
        .enumerate()
        .map(|(number, ty)| Some((format!("x{number}"), graph_type(context, *ty)?)))
        .collect::<Option<_>>()?;
    let end = meaning.terminator()?;
    let names: Vec<_> = (0..end.operands().len()).map(|number| format!("y{number}")).collect();
    let results: Vec<_> = end
        .operands()
        .into_iter()
        .map(|value| graph_type(context, value.ty()))
        .collect::<Option<_>>()?;
    let mut b = GraphBuilder::new(context, top, "meaning", &inputs, &names);
    let operands = b.inputs();
    let values = b.op("Meaning", "meaning", &operands, &results, |payload, args| {
        let mut map = Mapping::default();
        for (old, new) in meaning.args().into_iter().zip(args) {
            map.set(old, *new);
        }
        for op in meaning.ops().into_iter().filter(|op| *op != end) {
            payload.builder().clone_op(op, &mut map);
        }
        end.operands().into_iter().map(|value| map.get(value)).collect()
    });
    b.finish(&values);
    Some(top.text())
}

/// Integers of models have a sign, those of payloads none.
fn graph_type<'c>(context: &'c Context, tensor: Type<'c>) -> Option<Type<'c>> {
    let (shape, elem) = (ty::shape(tensor)?, ty::elem(tensor)?);
    if !ty::is_integer(elem) {
        return Some(tensor);
    }
    let signed = ty::parse(context, &format!("si{}", ty::bits(elem)?))?;
    Some(ty::tensor(&shape, signed))
}
