//! Steps that no node of the model is: lengths to calculate with, and copies.

use weft_dialects::graph::Dims;

use super::{Planner, Value};
use crate::lengths::Found;
use crate::payload::identity;
use crate::plan::{Operand, Plan, ValueId};
use crate::types::{ElementType, TensorType};

impl Planner<'_> {
    /// A plan with the lengths that it asks for among its operands.
    pub(super) fn with_asked(&mut self, mut plan: Plan) -> Plan {
        for length in std::mem::take(&mut plan.asks) {
            let id = self.places(&[0], TensorType::temporary(ElementType::I64, &[]), vec![length]);
            let id = self.written_numbers(id);
            plan.operands.push(self.operand(id));
        }
        plan
    }

    /// Numbers that follow from lengths as a tensor that is calculated when it runs.
    pub(super) fn written_numbers(&mut self, id: ValueId) -> ValueId {
        let Value { ty, numbers, .. } = &self.graph.values[id.0];
        let (ty, numbers) = (ty.clone(), numbers.clone().unwrap_or_default());
        let (element, dims) = (ty.element(), ty.dims().to_vec());
        let says = numbers.clone();
        let plan =
            Plan::new(vec![], vec![ty], move |b, _| vec![b.lengths(element, &dims, &numbers)]);
        let plan = Plan { says, ..plan };
        self.planned("Length", "length", plan, Found::default())[0]
    }

    /// A copy of a tensor of which there is as much as `dims` say.
    pub(super) fn told(
        &mut self,
        name: &str,
        operand: Operand,
        dims: Dims,
    ) -> std::result::Result<ValueId, String> {
        let plan = identical(operand);
        let scratch = self.scratch.get_or_insert_with(weft_dialects::ir::context);
        let found = Found::told(&self.graph.symbols, &plan, (vec![dims], vec![None]), scratch)?;
        Ok(self.planned("Identity", name, plan, found)[0])
    }

    /// A copy of a value, as long as it.
    pub(super) fn copy(&mut self, name: &str, id: ValueId) -> ValueId {
        let plan = identical(self.operand(id));
        let dims = self.graph.values[id.0].dims.clone();
        match dims.iter().all(Option::is_none) {
            true => self.step("Identity", name, plan)[0],
            false => self.told_step(("Identity", name), plan, vec![Some(dims)])[0],
        }
    }
}

/// Plans a copy.
fn identical(operand: Operand) -> Plan {
    let ty = operand.ty.clone();
    Plan::new(vec![operand], vec![ty], |b, args| {
        let (element, rank) = (args[0].element(), args[0].dims().len());
        vec![b.move_at(element, args[0].dims(), &[(&args[0], identity(rank))], |_, x| x[0])]
    })
}
