//! What lengths are to one node of a model.

use weft_dialects::graph::{Allowed, Dims, GraphBuilder, Inference, Operator};
use weft_dialects::ir::{Context, Val, empty_module, module_op};
use weft_runtime::length::Length;

use super::said::SAYING;
use super::{Input, Symbols, allowed, numbers, said};
use crate::elements::Elements;
use crate::import::write::write_step;
use crate::payload::graph_type;
use crate::plan::{Ends, Operand, Plan, ValueId};
use crate::types::TensorType;

/// What a payload that knows of lengths may do.
const KNOWING: Allowed = Allowed { folds: true, asks: true, looks_up: true, borders: false };

/// What its payload is told.
#[derive(Debug, Clone, Default)]
pub struct StepLengths {
    /// The lengths of the payload's arguments.
    operands: Vec<Dims>,
    /// Of the results whose operator says them.
    said: Vec<Option<Dims>>,
    /// What it may do.
    allowed: Allowed,
}

/// The lengths of a result, and its elements where some follow from lengths.
pub struct Lengths {
    /// A length for each dimension.
    pub dims: Dims,
    /// A length for each element.
    pub numbers: Option<Vec<Length>>,
}

/// What lengths are to a node; nothing where there are none.
#[derive(Debug, Default)]
pub struct Found {
    /// What is to be said when it is written.
    pub step: StepLengths,
    results: Vec<Dims>,
    numbers: Option<Vec<Vec<Length>>>,
    /// The operands of the plan that are numbers which follow from lengths, to calculate with.
    pub calculated: Vec<bool>,
}

impl Found {
    /// Of a node with these inputs; `dims` gives the lengths of what its plan reads.
    ///
    /// # Errors
    /// Why it cannot be done for fewer elements than are laid out.
    pub fn of<'v>(
        operator: &str,
        symbols: &Symbols,
        inputs: &[Option<Input<'_>>],
        (plan, dims): (&Plan, &dyn Fn(ValueId) -> Option<&'v Dims>),
        scratch: &Context,
    ) -> Result<Self, String> {
        let limited = |dims: &Dims| dims.iter().any(Option::is_some);
        let any = inputs.iter().flatten().any(|own| limited(own.dims) || own.numbers.is_some());
        if !any {
            return Ok(Self::default());
        }
        if let Some(numbers) = numbers(operator, symbols, inputs, plan) {
            let results = plan.results.iter().map(|ty| vec![None; ty.rank()]).collect();
            return Ok(Self { results, numbers: Some(numbers), ..Self::default() });
        }
        let said = said(operator, symbols, inputs, plan)?;
        check_told(operator, inputs, plan)?;
        let calculates = |operand: &Operand| {
            let own = inputs.iter().flatten().find(|input| input.id == operand.id);
            own.is_some_and(|own| own.numbers.is_some())
        };
        let calculated = plan.operands.iter().map(calculates).collect();
        let of_operand = |id: ValueId, ty: &TensorType| {
            dims(id).filter(|own| own.len() == ty.rank()).cloned().unwrap_or(vec![None; ty.rank()])
        };
        let operands = plan.operands.iter().map(|operand| of_operand(operand.id, &operand.ty));
        let tables = plan.tables.iter().map(|table| vec![None; table.ty().rank()]);
        let operands: Vec<Dims> = operands.chain(tables).collect();
        if let Some(knows) = &plan.knows {
            let laid_out = |dims: Dims| match knows.ends {
                Ends::Ignored => vec![None; dims.len()],
                Ends::Known | Ends::Bordered => dims,
            };
            let operands = operands.into_iter().map(laid_out).collect();
            // Less than nothing is nothing, and a number is all that is laid out.
            let there = |length: &Length| {
                let least = length.as_least().map(|[one, other]| symbols.least(one, other));
                let length = least.unwrap_or_else(|| length.clone());
                let there = match symbols.range(&length) {
                    Some([least, most]) if least == most => Length::number(least),
                    Some([least, _]) if least >= 0 => length,
                    _ => length.greatest(&Length::default()),
                };
                there.as_number().is_none().then_some(there)
            };
            let dims = knows.dims.iter().map(|length| there(length.as_ref()?)).collect();
            let allowed = Allowed { borders: knows.ends == Ends::Bordered, ..KNOWING };
            let step = StepLengths { operands, said: vec![Some(dims)], allowed };
            let results = step.try_out(symbols, plan, scratch)?;
            return Ok(Self { step, results, numbers: None, calculated });
        }
        // What a reshape is told is held against what its elements become.
        let holds = operator == "Reshape";
        let mut allowed = allowed(operator);
        // What a slice is told ends where its operand does, or before.
        allowed.looks_up = operator == "Slice" && said.is_some();
        let mut step = StepLengths { operands, said: vec![None; plan.results.len()], allowed };
        step.said[0] = said.clone().filter(|_| !holds);
        let results = step.try_out(symbols, plan, scratch)?;
        if let Some(told) = said.filter(|_| holds) {
            let pairs = told.iter().zip(&results[0]);
            if let Some((told, own)) =
                pairs.into_iter().find(|(told, own)| told.is_some() && told != own)
            {
                let own = own.as_ref().map_or("fixed".to_owned(), |own| format!("`{own}`"));
                let told = told.clone().unwrap_or_default();
                return Err(format!("it makes `{told}` of a length that is {own}"));
            }
        }
        Ok(Self { step, results, numbers: None, calculated })
    }

    /// Of a plan of operands of which no more counts than `operands` say, though more of it is there, and
    /// whose results are as long as `said` has it, where it does. Such a plan knows of lengths: what
    /// it folds, asks for and looks up is what is there.
    ///
    /// # Errors
    /// As [`Found::of`].
    pub fn told(
        symbols: &Symbols,
        plan: &Plan,
        (operands, said): (Vec<Dims>, Vec<Option<Dims>>),
        scratch: &Context,
    ) -> Result<Self, String> {
        let step = StepLengths { operands, said, allowed: KNOWING };
        let results = step.try_out(symbols, plan, scratch)?;
        Ok(Self { step, results, numbers: None, calculated: Vec::new() })
    }

    /// Of the result at `index`.
    pub fn of_result(&self, index: usize, ty: &TensorType) -> Lengths {
        let dims = self.results.get(index).cloned().unwrap_or(vec![None; ty.rank()]);
        let numbers = self.numbers.as_ref().and_then(|numbers| numbers.get(index)).cloned();
        let follow = |numbers: &Vec<Length>| numbers.iter().any(|own| own.as_number().is_none());
        Lengths { dims, numbers: numbers.filter(follow) }
    }
}

/// Checks that a plan was not made for the greatest of numbers that follow from lengths: what it does not
/// calculate with, its operator says (`said.rs`).
fn check_told(operator: &str, inputs: &[Option<Input<'_>>], plan: &Plan) -> Result<(), String> {
    if SAYING.contains(&operator) {
        return Ok(());
    }
    // A tensor may be told and calculated with at once.
    let calculated = |own: &Input<'_>| {
        let given = inputs.iter().flatten().filter(|input| input.id == own.id).count();
        plan.operands.iter().filter(|operand| operand.id == own.id).count() >= given
    };
    let told = inputs.iter().flatten().find(|own| own.numbers.is_some() && !calculated(own));
    let Some(numbers) = told.and_then(|own| own.numbers) else { return Ok(()) };
    let first = numbers.iter().find(|number| number.as_number().is_none());
    Err(format!("what it makes is decided by `{}`", first.cloned().unwrap_or_default()))
}

impl StepLengths {
    /// Writes the lengths of the payload of the operator that gives `results`; those of its results.
    ///
    /// # Errors
    /// Why it may not be run for fewer elements than are laid out.
    pub fn infer<'c>(
        &self,
        context: &'c Context,
        symbols: &Symbols,
        results: &[Val<'c>],
    ) -> Result<Vec<Dims>, String> {
        let op = results.first().and_then(|result| result.def()).and_then(Operator::of);
        let Some(op) = op else { return Ok(Vec::new()) };
        let least = |length: &Length| symbols.range(length).map(|[least, _]| least);
        let inference = Inference::new(context, self.allowed, &least);
        inference.payload(op.payload, &self.operands, &self.said).map_err(|why| why.to_string())
    }

    /// The same before anything is written.
    fn try_out(
        &self,
        symbols: &Symbols,
        plan: &Plan,
        context: &Context,
    ) -> Result<Vec<Dims>, String> {
        let module = empty_module(context);
        let types = plan.operands.iter().map(|operand| &operand.ty);
        let types = types.chain(plan.tables.iter().map(Elements::ty));
        let inputs: Vec<_> = types
            .enumerate()
            .map(|(number, ty)| (number.to_string(), graph_type(context, ty)))
            .collect();
        let mut builder = GraphBuilder::new(context, module_op(&module), "try", &inputs, &[]);
        let operands = builder.inputs();
        let results = write_step(context, &mut builder, ["try", ""], plan, &operands);
        self.infer(context, symbols, &results)
    }
}
