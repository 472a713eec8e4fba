//! Operators whose nodes are no steps of their own: they have graphs, or read or make what is no
//! tensor.

use std::collections::BTreeMap;

use super::{Bound, Planner, control, flex, found, gradient, lookup, scan, sequence};
use crate::error::{Report, Result};
use crate::graph::{Graph, Vertex, called, describe};
use crate::model::domain;
use crate::node::{Node, Plan};
use crate::ops::{self, Operator};
use crate::plan::{Operand, ValueId};
use crate::types::ElementType;

/// An operator of the standard that the planner itself takes.
pub struct Structure {
    /// Its line in the table of operators.
    pub operator: Operator,
    /// What its outputs stand for.
    pub plan: for<'m> fn(&mut Planner<'m>, &Site<'m>) -> Result<Vec<Bound>>,
}

const ANY: usize = usize::MAX;

/// All of them; each means the same until the next one of its name.
pub const STRUCTURES: &[Structure] = &[
    of("ConcatFromSequence", 11, (1, 1), &["axis", "new_axis"], sequence::concat),
    of("Compress", 9, (2, 2), &["axis"], found::compress),
    of("Constant", 1, (0, 0), CONSTANT, sequence::constant),
    of("FlexAttention", 1, (3, 3), FLEX, flex::attention).in_domain(ops::PREVIEW),
    of("Gradient", 1, (1, ANY), &["xs", "y", "zs"], gradient::gradient)
        .in_domain(ops::training::DOMAIN)
        .makes(ANY),
    of("Identity", 14, (1, 1), &[], |_, site| Ok(vec![site.input(0, "input")?.clone()])),
    of("If", 1, (1, 1), &["else_branch", "then_branch"], control::branch).makes(ANY),
    of("Loop", 1, (0, ANY), &["body"], control::repeat).makes(ANY),
    of("NonMaxSuppression", 10, (2, 5), &["center_point_box"], found::suppression),
    of("NonZero", 9, (1, 1), &[], found::non_zero),
    of("Optional", 15, (0, 1), &["type"], sequence::optional),
    of("OptionalGetElement", 15, (1, 1), &[], sequence::element),
    of("OptionalHasElement", 15, (0, 1), &[], sequence::has_element),
    of("Scan", 8, (2, ANY), &["body", "directions", "num_scan_inputs"], scan::batched).makes(ANY),
    of("Scan", 9, (1, ANY), SCAN, scan::scan).makes(ANY),
    of("SequenceAt", 11, (2, 2), &[], sequence::at),
    of("SequenceConstruct", 11, (1, ANY), &[], sequence::construct),
    of("SequenceEmpty", 11, (0, 0), &["dtype"], |_, _| Ok(vec![Bound::Sequence(vec![])])),
    of("SequenceErase", 11, (1, 2), &[], sequence::erase),
    of("SequenceInsert", 11, (2, 3), &[], sequence::insert),
    of("SequenceLength", 11, (1, 1), &[], sequence::length),
    of("SequenceMap", 17, (1, ANY), &["body"], control::map).makes(ANY),
    of("SplitToSequence", 11, (1, 2), &["axis", "keepdims"], sequence::split),
    of("Unique", 11, (1, 1), &["axis", "sorted"], found::unique).makes(4),
];

const CONSTANT: &[&str] =
    &["value", "value_float", "value_floats", "value_int", "value_ints", "value_string"];

const FLEX: &[&str] = &["prob_mod", "scale", "score_mod", "softmax_precision"];

const SCAN: &[&str] = &[
    "body",
    "num_scan_inputs",
    "scan_input_axes",
    "scan_input_directions",
    "scan_output_axes",
    "scan_output_directions",
];

const fn of(
    name: &'static str,
    since: i64,
    inputs: (usize, usize),
    attributes: &'static [&'static str],
    plan: for<'m> fn(&mut Planner<'m>, &Site<'m>) -> Result<Vec<Bound>>,
) -> Structure {
    fn never(_: &Node<'_>) -> Result<Plan> {
        unreachable!("the planner takes it")
    }
    let operator =
        Operator { domain: "", name, since, inputs, outputs: 1, attributes, plan: never };
    Structure { operator, plan }
}

impl Structure {
    /// The same of another domain than the standard one.
    const fn in_domain(mut self, domain: &'static str) -> Self {
        self.operator.domain = domain;
        self
    }

    /// The same with so many outputs at most.
    const fn makes(mut self, outputs: usize) -> Self {
        self.operator.outputs = outputs;
        self
    }
}

/// The structure that a node is, if it is one.
pub fn find(
    opsets: &BTreeMap<String, i64>,
    vertex: &Vertex,
    inputs: &[Option<Bound>],
) -> Result<Option<&'static Structure>> {
    let (proto, name) = (&vertex.proto, vertex.proto.op_type());
    let tensor = matches!(inputs, [Some(Bound::Tensor(_))]);
    if name == "Identity" && tensor {
        return Ok(None);
    }
    let space = domain(proto.domain());
    let of = |operator: &Operator| operator.domain == space && operator.name == name;
    let forms = || STRUCTURES.iter().filter(|structure| of(&structure.operator));
    let Some(first) = forms().map(|structure| structure.operator.since).min() else {
        return Ok(None);
    };
    let version = lookup::version(opsets, proto)?;
    let found = forms().filter(|structure| structure.operator.since <= version);
    let found = found.max_by_key(|structure| structure.operator.since);
    found.map(Some).ok_or_else(|| {
        Report::new(format!("{} is not supported in version {version}", describe(proto)))
            .help(format!("{name} since version {first}"))
            .unsupported()
    })
}

/// The node of a structure.
pub struct Site<'m> {
    /// The node; of its inputs only those that are tensors.
    pub node: Node<'m>,
    /// Its name, in the names of steps.
    pub name: &'m str,
    vertex: &'m Vertex,
    inputs: Vec<Option<Bound>>,
}

impl<'m> Site<'m> {
    /// The node of a structure with these inputs.
    pub fn new(
        planner: &Planner<'m>,
        structure: &'static Structure,
        vertex: &'m Vertex,
        inputs: Vec<Option<Bound>>,
    ) -> Result<Self> {
        let operands = inputs.iter().map(|input| match input {
            Some(Bound::Tensor(id)) => Some(planner.operand(*id)),
            _ => None,
        });
        let node = Node::new(planner.as_called(vertex), &structure.operator, operands.collect())?;
        let proto = &vertex.proto;
        let name = called(proto);
        Ok(Self { node, name, vertex, inputs })
    }

    /// The node as the model has it.
    pub fn proto(&self) -> &'m crate::proto::NodeProto {
        &self.vertex.proto
    }

    /// What its inputs stand for from `first` on.
    pub fn inputs_from(&self, first: usize) -> &[Option<Bound>] {
        self.inputs.get(first..).unwrap_or_default()
    }

    /// What the input at `at` stands for, where it is given.
    pub fn optional(&self, at: usize) -> Option<&Bound> {
        self.inputs.get(at)?.as_ref()
    }

    /// What the input at `at` stands for, which ONNX calls `name`.
    pub fn input(&self, at: usize, name: &str) -> Result<&Bound> {
        self.optional(at)
            .ok_or_else(|| self.node.invalid(format!("lacks its input {at}, {name:?}")))
    }

    /// The tensors of an input that is a sequence.
    pub fn sequence(&self, at: usize, name: &str) -> Result<&[Bound]> {
        match self.input(at, name)? {
            Bound::Sequence(all) => Ok(all),
            other => Err(self.wrong_kind(name, other, "a sequence")),
        }
    }

    /// The value of an input that is a tensor.
    pub fn tensor(&self, at: usize, name: &str) -> Result<ValueId> {
        match self.input(at, name)? {
            Bound::Tensor(id) => Ok(*id),
            other => Err(self.wrong_kind(name, other, "a tensor")),
        }
    }

    /// The integer of an input that must be known before anything runs; `None` if it is absent.
    pub fn integer(&self, at: usize, name: &str) -> Result<Option<i64>> {
        const INTEGERS: &[ElementType] = &[ElementType::I32, ElementType::I64];
        if matches!(self.optional(at), None | Some(Bound::Nothing)) {
            return Ok(None);
        }
        let operand = self.node.typed(at, name, INTEGERS)?;
        let known = self.known(operand, name)?.single();
        let wrong = || self.node.invalid(format!("reads {name:?} as {}", operand.ty));
        let integer = known.ok_or_else(wrong)?.as_int();
        i64::try_from(integer).map(Some).map_err(|_| wrong())
    }

    /// The elements of an input that must be known before anything runs.
    pub fn known<'o>(&self, operand: &'o Operand, name: &str) -> Result<&'o crate::Elements> {
        if operand.follows {
            return Err(self
                .node
                .report(format!(
                    "reads {name:?} from a tensor that follows from lengths which callers decide"
                ))
                .help("one length for the dimension, as --dim NAME=64")
                .unsupported());
        }
        operand.known.as_ref().ok_or_else(|| {
            self.node
                .report(format!("reads {name:?} from a tensor that is only known at run time"))
                .note(format!("it is {}", operand.ty))
                .help("a constant, an initializer, or calculated from shapes")
                .unsupported()
        })
    }

    /// The error that an input is of another kind.
    pub fn wrong_kind(&self, name: &str, found: &Bound, accepted: &str) -> crate::ImportError {
        self.node
            .report(format!("reads {name:?}, which is {}", found.kind()))
            .help(accepted.to_owned())
            .invalid()
    }

    /// Returns whether the node has a graph of that name.
    pub fn has_body(&self, attribute: &str) -> bool {
        self.vertex.bodies.contains_key(attribute)
    }

    /// The graph that is an attribute, with the number of its inputs.
    pub fn body(&self, attribute: &str, takes: usize) -> Result<&'m Graph> {
        let body = self.vertex.bodies.get(attribute);
        let body =
            body.ok_or_else(|| self.node.invalid(format!("lacks its graph {attribute:?}")))?;
        if body.inputs.len() != takes {
            return Err(self
                .node
                .report(format!("gives {takes} inputs to its graph {attribute:?}"))
                .note(format!("it has {}", body.inputs.len()))
                .help("one for each value that the operator gives to its graph")
                .invalid());
        }
        Ok(body)
    }
}
