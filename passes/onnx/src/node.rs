//! One node as its operator's function sees it: typed operands, typed attributes, one way to
//! complain.

use crate::elements::Elements;
use crate::error::{ImportError, Report, Result};
use crate::graph::describe;
use crate::inputs::{self, Extent};
use crate::model::Model;
use crate::ops::Operator;
use crate::proto::attribute_proto::AttributeType;
use crate::proto::{AttributeProto, NodeProto, ValueInfoProto};
use crate::types::{ElementType, Shape, TensorType, list};

pub use crate::plan::{Operand, Plan};

/// Inputs that are left out at the end are as if they were not named.
fn without_absent_end(mut inputs: Vec<Option<Operand>>) -> Vec<Option<Operand>> {
    while inputs.last().is_some_and(Option::is_none) {
        inputs.pop();
    }
    inputs
}

/// A node, its operands and its attributes.
pub struct Node<'m> {
    /// The version of the standard operators that the model was written for.
    pub opset: i64,
    model: &'m Model,
    proto: &'m NodeProto,
    operator: &'static Operator,
    /// By name: one that the call of a function gives may have another name there.
    attributes: Vec<(&'m str, &'m AttributeProto)>,
    inputs: Vec<Option<Operand>>,
}

/// A node as it stands in the model, before anything of it is checked.
#[derive(Clone)]
pub struct Call<'m> {
    /// The model.
    pub model: &'m Model,
    /// The node.
    pub proto: &'m NodeProto,
    /// Its attributes by name, with those that the call of a function gives.
    pub attributes: Vec<(&'m str, &'m AttributeProto)>,
    /// The version of the standard operators that it was written for.
    pub opset: i64,
    /// The number of its inputs, with absent ones.
    pub inputs: usize,
}

impl<'m> Node<'m> {
    /// Checks what holds for every operator: the number of operands and results, and that the
    /// operator has these attributes.
    pub fn new(
        call: Call<'m>,
        operator: &'static Operator,
        inputs: Vec<Option<Operand>>,
    ) -> Result<Self> {
        let Call { model, proto, attributes, opset, inputs: count } = call;
        let inputs = without_absent_end(inputs);
        let node = Self { opset, model, proto, operator, attributes, inputs };
        let (least, most) = operator.inputs;
        if count > most || count < least {
            return Err(node
                .invalid_report(format!("has {count} inputs"))
                .help(format!("{} takes {}", operator.name, between(least, most)))
                .invalid());
        }
        if node.outputs() == 0 || node.outputs() > operator.outputs {
            return Err(node
                .invalid_report(format!("has {} outputs", node.outputs()))
                .help(format!("{} makes {}", operator.name, between(1, operator.outputs)))
                .invalid());
        }
        let mut seen = Vec::new();
        for &(name, _) in &node.attributes {
            // An optimisation that the first versions could ask for.
            if name == "consumed_inputs" && node.opset < 6 {
                continue;
            }
            if !operator.attributes.contains(&name) {
                let known = match operator.attributes {
                    [] => "it has none".to_owned(),
                    known => format!("it has {}", known.join(", ")),
                };
                return Err(node
                    .invalid_report(format!("has an attribute {name:?}"))
                    .note(format!("{} has no such attribute; {known}", operator.name))
                    .invalid());
            }
            if seen.contains(&name) {
                return Err(node.invalid(format!("has two attributes {name:?}")));
            }
            seen.push(name);
        }
        Ok(node)
    }

    /// This node as a newer form of its operator, with these inputs.
    pub fn renewed(&self, operator: &'static Operator, inputs: Vec<Option<Operand>>) -> Node<'m> {
        let inputs = without_absent_end(inputs);
        let (opset, model, proto) = (self.opset, self.model, self.proto);
        Node { opset, model, proto, operator, attributes: self.attributes.clone(), inputs }
    }

    /// The same node with other inputs.
    pub fn with_inputs(&self, inputs: Vec<Option<Operand>>) -> Node<'m> {
        self.renewed(self.operator, inputs)
    }

    /// The same with an attribute, where it has none of that name.
    pub fn with_default(mut self, attribute: &'m AttributeProto) -> Self {
        if self.attribute(attribute.name()).is_none() {
            self.attributes.push((attribute.name(), attribute));
        }
        self
    }

    /// The inputs, without absent ones at the end.
    pub fn inputs(&self) -> &[Option<Operand>] {
        &self.inputs
    }

    /// The operator's name.
    pub fn op(&self) -> &'static str {
        self.operator.name
    }

    /// The number of outputs that the node names, without unnamed ones at the end.
    pub fn outputs(&self) -> usize {
        self.proto.output.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1)
    }

    /// Returns whether the node names its output at `at`, so that something may read it.
    pub fn names_output(&self, at: usize) -> bool {
        self.proto.output.get(at).is_some_and(|name| !name.is_empty())
    }

    /// The extent on `axis` that the model declares of its own output that the node makes at `at`.
    pub fn declared_output(&self, at: usize, axis: usize) -> Option<Extent<'m>> {
        extent_of(&self.model.graph.outputs, self.proto.output.get(at)?, axis)
    }

    /// The extent on `axis` that the model declares of its own input that the node reads at `at`.
    pub fn declared_input(&self, at: usize, axis: usize) -> Option<Extent<'m>> {
        extent_of(&self.model.graph.inputs, self.proto.input.get(at)?, axis)
    }

    /// The number of inputs, without absent ones at the end.
    pub fn input_count(&self) -> usize {
        self.inputs.len()
    }

    /// The input at `at`, which ONNX calls `name` and requires.
    pub fn input(&self, at: usize, name: &str) -> Result<&Operand> {
        self.optional(at).ok_or_else(|| self.invalid(format!("lacks its input {at}, {name:?}")))
    }

    /// The input at `at`, where it is given.
    pub fn optional(&self, at: usize) -> Option<&Operand> {
        self.inputs.get(at)?.as_ref()
    }

    /// The input at `at`, if it is there: of the elements of `x`, and of shape `dims`.
    pub fn optional_of(
        &self,
        at: usize,
        name: &str,
        x: &Operand,
        dims: &[i64],
    ) -> Result<Option<&Operand>> {
        let Some(operand) = self.optional(at) else { return Ok(None) };
        self.expect_same_element(x, operand)?;
        if operand.dims() != dims {
            let report = self.report(format!("reads {name:?} as {}", operand.ty));
            return Err(report.help(Shape(dims).to_string()).invalid());
        }
        Ok(Some(operand))
    }

    /// Every input, of an operator that takes any number of them.
    pub fn variadic(&self) -> Result<Vec<&Operand>> {
        (0..self.inputs.len()).map(|at| self.input(at, "data")).collect()
    }

    /// The input at `at`, whose elements must be one of `accepted`.
    pub fn typed(&self, at: usize, name: &str, accepted: &[ElementType]) -> Result<&Operand> {
        let input = self.input(at, name)?;
        self.expect_element(input, name, accepted)?;
        Ok(input)
    }

    /// Fails unless `operand` has an element type of `accepted`.
    pub fn expect_element(
        &self,
        operand: &Operand,
        name: &str,
        accepted: &[ElementType],
    ) -> Result<()> {
        if accepted.contains(&operand.element()) {
            return Ok(());
        }
        Err(self
            .invalid_report(format!("reads {name:?} as {}", operand.ty))
            .help(format!("an element type of {}", list(accepted)))
            .invalid())
    }

    /// Fails unless both have the same element type.
    pub fn expect_same_element(&self, a: &Operand, b: &Operand) -> Result<()> {
        if a.element() == b.element() {
            return Ok(());
        }
        Err(self.invalid(format!("mixes {} and {}", a.ty, b.ty)))
    }

    /// The integers of an input that must be known before anything runs; `None` if it is absent.
    pub fn known_ints(&self, at: usize, name: &str) -> Result<Option<Vec<i64>>> {
        let Some(operand) = self.optional(at) else {
            return Ok(None);
        };
        if operand.rank() > 1 {
            return Err(self.invalid(format!("reads {name:?} as {}; it is a list", operand.ty)));
        }
        let ints = self.known(at, name)?.ints();
        ints.map(Some).ok_or_else(|| self.invalid(format!("reads {name:?} as {}", operand.ty)))
    }

    /// The elements of an input that must be known before anything runs.
    pub fn known(&self, at: usize, name: &str) -> Result<&Elements> {
        let operand = self.input(at, name)?;
        operand.known.as_ref().ok_or_else(|| {
            self.invalid_report(format!("reads {name:?} from a tensor that is only known at run time"))
                .note(match self.proto.input.get(at) {
                    Some(value) => format!("{value:?} is {}", operand.ty),
                    None => format!("it is {}", operand.ty),
                })
                .help("it decides shapes, so it needs to be known at compile time: a constant, an initializer, or calculated from shapes")
                .unsupported()
        })
    }

    /// The elements of an input that is stored in the model, however many; `None` of others.
    pub fn stored(&self, at: usize) -> Result<Option<Elements>> {
        let weight = self.optional(at).and_then(|operand| operand.weight.as_ref());
        weight.map_or(Ok(None), |name| self.model.tensor(name))
    }

    /// Returns whether the input at `at` is of integers that are part of the model, and all zero.
    pub fn is_zero(&self, at: usize) -> Result<bool> {
        let Some(operand) = self.optional(at).filter(|own| own.fixed || own.known.is_none()) else {
            return Ok(false);
        };
        let integer = !operand.element().is_float() && operand.element().format().is_none();
        let stored = if operand.known.is_none() { self.stored(at)? } else { None };
        let elements = operand.known.as_ref().or(stored.as_ref());
        Ok(integer && elements.is_some_and(|own| own.bytes().iter().all(|&byte| byte == 0)))
    }

    fn attribute(&self, name: &str) -> Option<&'m AttributeProto> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, attribute)| *attribute)
    }

    fn attribute_of(&self, name: &str, ty: AttributeType) -> Result<Option<&'m AttributeProto>> {
        debug_assert!(
            self.operator.attributes.contains(&name),
            "{name} is listed for {}",
            self.op()
        );
        let Some(attribute) = self.attribute(name) else {
            return Ok(None);
        };
        if attribute.r#type() != ty {
            return Err(self
                .invalid_report(format!(
                    "has attribute {name:?} of type {}",
                    attribute.r#type().as_str_name()
                ))
                .help(format!("{:?} is of type {}", name, ty.as_str_name()))
                .invalid());
        }
        Ok(Some(attribute))
    }

    /// Returns whether the node has an attribute of that name.
    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// An integer attribute.
    pub fn int(&self, name: &str) -> Result<Option<i64>> {
        Ok(self.attribute_of(name, AttributeType::Int)?.map(|attribute| attribute.i()))
    }

    /// An integer attribute that is 0 or 1.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.int(name)? {
            None => Ok(default),
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            Some(other) => Err(self.invalid(format!("has {name} {other}; it is 0 or 1"))),
        }
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Result<Option<&'m [i64]>> {
        Ok(self.attribute_of(name, AttributeType::Ints)?.map(|attribute| &attribute.ints[..]))
    }

    /// A number.
    pub fn float(&self, name: &str, default: f32) -> Result<f64> {
        let attribute = self.attribute_of(name, AttributeType::Float)?;
        Ok(attribute.map_or(default, |attribute| attribute.f()).into())
    }

    /// A text.
    pub fn string(&self, name: &str, default: &'static str) -> Result<&'m str> {
        let Some(attribute) = self.attribute_of(name, AttributeType::String)? else {
            return Ok(default);
        };
        std::str::from_utf8(attribute.s.as_deref().unwrap_or_default())
            .map_err(|_| self.invalid(format!("has attribute {name:?} that is not UTF-8")))
    }

    /// A list of numbers.
    pub fn floats(&self, name: &str) -> Result<&'m [f32]> {
        let attribute = self.attribute_of(name, AttributeType::Floats)?;
        Ok(attribute.map_or(&[], |attribute| &attribute.floats[..]))
    }

    /// A list of texts.
    pub fn strings(&self, name: &str) -> Result<Vec<&'m str>> {
        let attribute = self.attribute_of(name, AttributeType::Strings)?;
        let texts = attribute.map_or(&[][..], |attribute| &attribute.strings[..]);
        let text = |bytes: &'m bytes::Bytes| {
            std::str::from_utf8(bytes)
                .map_err(|_| self.invalid(format!("has attribute {name:?} that is not UTF-8")))
        };
        texts.iter().map(text).collect()
    }

    /// A tensor.
    pub fn tensor(&self, name: &str) -> Result<Option<Elements>> {
        let Some(attribute) = self.attribute_of(name, AttributeType::Tensor)? else {
            return Ok(None);
        };
        let what = format!("attribute {name:?} of {}", describe(self.proto));
        let Some(tensor) = &attribute.t else {
            return Err(Report::new(format!("{what} is empty")).malformed());
        };
        self.model.attribute(tensor, &what).map(Some)
    }

    /// Returns the name of the first result in messages.
    pub fn result_name(&self) -> String {
        format!("the result of {}", describe(self.proto))
    }

    /// A type of this node, named in the error should it be too large.
    pub fn ty(&self, element: ElementType, dims: Vec<i64>) -> Result<TensorType> {
        TensorType::new(element, dims, &self.result_name())
    }

    /// `axis` counted from the front of `rank` dimensions.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize> {
        let rank = rank as i64;
        if (-rank..rank).contains(&axis) {
            return Ok(if axis < 0 { axis + rank } else { axis } as usize);
        }
        Err(self
            .invalid_report(format!("has axis {axis} for {rank} dimensions"))
            .help(if rank == 0 {
                "a scalar has no axis".to_owned()
            } else {
                format!("{} to {}", -rank, rank - 1)
            })
            .invalid())
    }

    /// Several different axes, counted from the front.
    pub fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>> {
        let mut found = Vec::with_capacity(axes.len().min(rank));
        for &axis in axes {
            let axis = self.axis(axis, rank)?;
            if found.contains(&axis) {
                return Err(self.invalid(format!("names axis {axis} twice")));
            }
            found.push(axis);
        }
        Ok(found)
    }

    /// The shape to which all of `shapes` broadcast.
    pub fn broadcast<'a>(&self, shapes: impl IntoIterator<Item = &'a [i64]>) -> Result<Vec<i64>> {
        let mut result: Vec<i64> = Vec::new();
        for shape in shapes {
            if shape.len() > result.len() {
                let lead = shape.len() - result.len();
                result.splice(0..0, shape[..lead].iter().copied());
            }
            let lead = result.len() - shape.len();
            for at in 0..shape.len() {
                let (have, new) = (result[lead + at], shape[at]);
                if have == new || new == 1 {
                    continue;
                }
                if have != 1 {
                    return Err(self
                        .invalid_report(format!(
                            "reads shapes that do not broadcast: {} and {}",
                            Shape(&result),
                            Shape(shape)
                        ))
                        .note(format!("dimension {at} of the latter is {new} beside {have}"))
                        .help("equal extents, or one of them 1")
                        .invalid());
                }
                result[lead + at] = new;
            }
        }
        Ok(result)
    }

    fn invalid_report(&self, what: String) -> Report {
        Report::new(format!("{} {what}", describe(self.proto)))
    }

    /// A report about this node: "node … `what`".
    pub fn report(&self, what: impl Into<String>) -> Report {
        self.invalid_report(what.into())
    }

    /// The model is wrong here: "node … `what`".
    pub fn invalid(&self, what: impl Into<String>) -> ImportError {
        self.invalid_report(what.into()).invalid()
    }

    /// The model may be right, but is not taken: "node … `what`".
    pub fn unsupported(&self, what: impl Into<String>) -> ImportError {
        self.invalid_report(what.into()).unsupported()
    }
}

/// The extent on an axis that the one of that name declares.
fn extent_of<'m>(all: &'m [ValueInfoProto], name: &str, axis: usize) -> Option<Extent<'m>> {
    let info = all.iter().find(|info| info.name() == name)?;
    inputs::declared(info, name).ok()??.dims?.into_iter().nth(axis)
}

fn between(least: usize, most: usize) -> String {
    match (least, most) {
        (least, most) if least == most => least.to_string(),
        (least, usize::MAX) => format!("{least} or more"),
        (least, most) => format!("{least} to {most}"),
    }
}
