//! `Gradient`: how a tensor changes with others, by the chain rule from the tensor back to them.
//!
//! ```text
//! y = a * b + a     Gradient(a, b) {xs = [a, b], y = y}     dy/da = 1 * b + 1, dy/db = 1 * a
//! ```
//!
//! The nodes between are those around the Gradient. A tensor of several elements counts as their sum.

use std::collections::{BTreeMap, BTreeSet};

use super::structure::Site;
use super::{Bound, Planner};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::graph::Vertex;
use crate::model::domain;
use crate::ops::derivative::{self, Rule, Source};
use crate::plan::{Plan, ValueId};
use crate::types::{ElementType, TensorType};

/// `Gradient`.
pub fn gradient<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let node = &site.node;
    let (xs, zs, y) = (node.strings("xs")?, node.strings("zs")?, node.string("y", "")?);
    let names: Vec<&'m str> = xs.iter().chain(&zs).copied().collect();
    let given = (0..names.len()).map(|at| site.tensor(at, names[at]));
    let given = given.collect::<Result<Vec<_>>>()?;
    if site.inputs_from(names.len()).iter().any(Option::is_some) {
        return Err(node.invalid(format!("has more inputs than its {} xs and zs", names.len())));
    }
    let path = planner.between(&names, y);
    let makes = |vertex: &&Vertex| vertex.proto.output.iter().any(|output| output == y);
    if !path.iter().any(makes) {
        return Err(node
            .report(format!("asks how {y:?} changes, which no node makes of {xs:?}"))
            .help("a tensor that is calculated from all of xs and zs, beside the node")
            .invalid());
    }
    let bound = names.iter().copied().zip(given.into_iter().map(Bound::Tensor)).collect();
    let place = format!("{}/", site.name);
    planner.again(bound, &place, |planner| {
        path.iter().try_for_each(|vertex| planner.node(vertex))?;
        backwards(planner, site, &path, (&xs, y))
    })
}

/// The derivatives by `xs`, with what the nodes of `path` make at hand.
fn backwards<'m>(
    planner: &mut Planner<'m>,
    site: &Site<'m>,
    path: &[&'m Vertex],
    (xs, y): (&[&'m str], &'m str),
) -> Result<Vec<Bound>> {
    let mut found: BTreeMap<&str, ValueId> = BTreeMap::new();
    let last = planner.tensor_named(site, y)?;
    let ids = xs.iter().map(|name| planner.tensor_named(site, name));
    let ids = ids.collect::<Result<Vec<_>>>()?;
    for id in ids.into_iter().chain([last]) {
        let operand = planner.operand(id);
        if let Some(length) = operand.lengths.iter().flatten().next() {
            return Err(site
                .node
                .report(format!("goes along `{length}`, which callers decide"))
                .help("one length for the dimension, as --dim NAME=64")
                .unsupported());
        }
    }
    let ty = planner.operand(last).ty;
    site.node.expect_element(&planner.operand(last), y, ElementType::FLOATS)?;
    let ones = planner.filled(ty, 1);
    found.insert(y, ones);
    let depends: BTreeSet<&str> = xs
        .iter()
        .copied()
        .chain(path.iter().flat_map(|vertex| vertex.proto.output.iter().map(String::as_str)))
        .collect();
    for vertex in path.iter().rev() {
        let proto = &vertex.proto;
        let Some(&outer) = proto.output.iter().find_map(|name| found.get(name.as_str())) else {
            continue;
        };
        let own = domain(proto.domain()).is_empty() && planner.model.function(proto).is_none();
        let plain = own && proto.output.len() == 1;
        let Some(rule) = derivative::of(proto.op_type()).filter(|_| plain) else {
            return Err(site
                .node
                .report(format!("goes through {}, whose derivative is not known", proto.op_type()))
                .help(derivative::known())
                .unsupported());
        };
        let made = planner.tensor_named(site, &proto.output[0])?;
        let inputs = proto.input.iter().map(|name| planner.tensor_named(site, name));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        for (at, name) in proto.input.iter().enumerate() {
            if !depends.contains(name.as_str()) {
                continue;
            }
            let part = planner.part(site, rule, at, (outer, made, &inputs))?;
            let whole = match found.get(name.as_str()) {
                None => part,
                Some(&before) => {
                    let both = [before, part].map(|id| planner.operand(id));
                    planner.step("Gradient", site.name, derivative::sum(both))[0]
                }
            };
            found.insert(name, whole);
        }
    }
    let results = xs.iter().map(|name| match found.get(name) {
        Some(&id) => Ok(Bound::Tensor(id)),
        None => {
            let id = planner.tensor_named(site, name)?;
            let ty = planner.operand(id).ty;
            Ok(Bound::Tensor(planner.filled(ty, 0)))
        }
    });
    results.collect()
}

impl<'m> Planner<'m> {
    /// The nodes between tensors of these names and `y`, in order.
    fn between(&self, names: &[&'m str], y: &str) -> Vec<&'m Vertex> {
        let nodes = &self.graph_around().nodes;
        let mut reached: BTreeSet<&str> = names.iter().copied().collect();
        let mut forward = Vec::new();
        for vertex in nodes {
            let (inputs, outputs) = (&vertex.proto.input, &vertex.proto.output);
            let given = outputs.iter().any(|output| names.contains(&output.as_str()));
            // What its graphs read is not looked at.
            let reads = !vertex.bodies.is_empty()
                || inputs.iter().any(|input| reached.contains(input.as_str()));
            if !given && reads {
                reached.extend(outputs.iter().map(String::as_str));
                forward.push(vertex);
            }
        }
        let mut wanted: BTreeSet<&str> = [y].into();
        let mut path = Vec::new();
        for vertex in forward.into_iter().rev() {
            if vertex.proto.output.iter().any(|output| wanted.contains(output.as_str())) {
                wanted.extend(vertex.proto.input.iter().map(String::as_str));
                path.push(vertex);
            }
        }
        path.reverse();
        path
    }

    fn tensor_named(&mut self, site: &Site<'_>, name: &str) -> Result<ValueId> {
        match self.bound(name)? {
            Bound::Tensor(id) => Ok(id),
            other => Err(site.wrong_kind(name, &other, "a tensor")),
        }
    }

    /// A tensor of one number.
    fn filled(&mut self, ty: TensorType, value: i128) -> ValueId {
        let all = std::iter::repeat_n(Scalar::Float(value as f64), ty.elements());
        self.literal(Elements::from_scalars(ty, all))
    }

    /// What a node adds to the derivative by its input `at`, where that by its result is `outer`.
    fn part(
        &mut self,
        site: &Site<'_>,
        rule: Rule,
        at: usize,
        (outer, made, inputs): (ValueId, ValueId, &[ValueId]),
    ) -> Result<ValueId> {
        let own = self.operand(inputs[at]).ty;
        let value = |source: Source| match source {
            Source::Outer => Some(outer),
            Source::Result => Some(made),
            Source::Input(number) => inputs.get(number).copied(),
        };
        let plan: Option<Plan> = rule.plan(at, |source| value(source).map(|id| self.operand(id)));
        let plan = plan.ok_or_else(|| {
            site.node
                .report(format!("goes back to input {at} of {}", rule.name))
                .help(rule.accepts)
                .unsupported()
        })?;
        let part = self.step("Gradient", site.name, plan)[0];
        let operand = self.operand(part);
        if operand.ty == own {
            return Ok(part);
        }
        Ok(self.step("Gradient", site.name, derivative::summed(operand, own))[0])
    }
}
