//! `FlexAttention`: attention whose scores and shares go through graphs of the model.

use super::structure::Site;
use super::{Bound, Planner};
use crate::error::Result;
use crate::ops::flexible::{product, shares, weighed};
use crate::plan::ValueId;
use crate::types::ElementType;

/// Plans the products, the softmax and the weighed values, with the graphs between them.
pub fn attention<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let node = &site.node;
    let precision = match node.int("softmax_precision")? {
        Some(code) => {
            ElementType::from_onnx(i32::try_from(code).unwrap_or(-1), &node.result_name())?
        }
        None if node.input(0, "Q")?.element() == ElementType::F64 => ElementType::F64,
        None => ElementType::F32,
    };
    let scores = planner.step(node.op(), site.name, product(node, precision)?)[0];
    let scores = modified(planner, site, "score_mod", scores)?;
    let plan = shares(&planner.operand(scores));
    let all = planner.step(node.op(), site.name, plan)[0];
    let all = modified(planner, site, "prob_mod", all)?;
    let plan = weighed(node, &planner.operand(all))?;
    Ok(vec![Bound::Tensor(planner.step(node.op(), site.name, plan)[0])])
}

/// A value after a graph, where the node has one of that name.
fn modified<'m>(
    planner: &mut Planner<'m>,
    site: &Site<'m>,
    name: &str,
    value: ValueId,
) -> Result<ValueId> {
    if !site.has_body(name) {
        return Ok(value);
    }
    let (body, ty) = (site.body(name, 1)?, planner.operand(value).ty);
    let place = format!("{}/{name}", site.name);
    let made = planner.run_body(body, &place, [Bound::Tensor(value)])?;
    match made[..] {
        [Bound::Tensor(made)] if planner.operand(made).ty == ty => Ok(made),
        _ => Err(site
            .node
            .report(format!("has a graph {name:?} that makes another type"))
            .help(format!("one tensor of {ty}"))
            .invalid()),
    }
}
