//! Operators as older versions of the standard have them: what was an attribute is an input since,
//! shapes that did not broadcast do, and some were named otherwise.
//!
//! ```text
//! Unsqueeze(x) { axes = [0] }                       before 13   ->   Unsqueeze(x, [0])
//! Add(x, bias) { broadcast = 1, axis = 1 }          before 7    ->   Add(x, bias seen as [c, 1, 1])
//! Upsample(x, scales)                               before 10   ->   Resize(x, none, scales)
//! ```

use std::sync::LazyLock;

use super::softmax::{hardmax_along, softmax_along};
use super::{Operator, cast, fourier, newest, op, pool, sample};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::proto::AttributeProto;
use crate::proto::attribute_proto::AttributeType;
use crate::proto::tensor_proto::DataType;
use crate::types::ElementType;

const POOL: &[&str] = &["auto_pad", "kernel_shape", "pads", "strides"];
const RECURRENT: &[&str] = &[
    "activation_alpha",
    "activation_beta",
    "activations",
    "clip",
    "direction",
    "hidden_size",
    "input_forget",
    "linear_before_reset",
    // Whether all steps are wanted: the outputs that are named say so, too.
    "output_sequence",
];
const BROADCAST: &[&str] = &["axis", "broadcast"];

/// Older forms; each means the same until the next one of its name.
pub const OPERATORS: &[Operator] = &[
    op("Add", 1, 2, BROADCAST, aligned),
    op("And", 1, 2, BROADCAST, aligned),
    op("AveragePool", 1, 1, POOL, renewed),
    op("BatchNormalization", 1, 5, &["epsilon", "is_test", "momentum", "spatial"], |node| {
        expect_inference(node)?;
        batch_normalization(node)
    })
    .up_to(5),
    op("BatchNormalization", 7, 5, &["epsilon", "momentum", "spatial"], batch_normalization)
        .up_to(5),
    op("Cast", 1, 1, &["to"], cast),
    op("Clip", 1, 1, &["max", "min"], clip),
    op("Concat", 1, 1, &["axis"], |node| renewed_with(node, &[&AXIS_ONE])).variadic(),
    op("DFT", 17, 2, &["axis", "inverse", "onesided"], |node| {
        fourier::dft(node, node.int("axis")?.unwrap_or(1))
    })
    .at_least(1),
    op("DepthToSpace", 1, 1, &["blocksize"], renewed),
    op("Div", 1, 2, BROADCAST, aligned),
    op("Dropout", 1, 1, &["is_test", "ratio"], |node| {
        expect_inference(node)?;
        dropout(node)
    })
    .up_to(2),
    op("Dropout", 7, 1, &["ratio"], dropout).up_to(2),
    op("Equal", 1, 2, BROADCAST, aligned),
    op("Gemm", 1, 3, &["alpha", "beta", "broadcast", "transA", "transB"], renewed),
    op("GRU", 1, 6, RECURRENT, renewed).at_least(3).up_to(2),
    op("GlobalLpPool", 1, 1, &["p"], |node| pool::global_lp_pool(node, float_exponent(node)?)),
    op("Greater", 1, 2, BROADCAST, aligned),
    op("Hardmax", 1, 1, &["axis"], |node| flattened(node, hardmax_along)),
    op("LSTM", 1, 8, RECURRENT, renewed).at_least(3).up_to(3),
    op("Less", 1, 2, BROADCAST, aligned),
    op("LogSoftmax", 1, 1, &["axis"], |node| {
        flattened(node, |x, axis| softmax_along(x, axis, true))
    }),
    op("LpPool", 1, 1, &["auto_pad", "kernel_shape", "p", "pads", "strides"], |node| {
        pool::lp_pool(node, float_exponent(node)?)
    }),
    op("Max", 1, 1, &[], renewed).variadic(),
    op("MaxPool", 1, 1, POOL, renewed),
    op("Mean", 1, 1, &[], renewed).variadic(),
    op("Min", 1, 1, &[], renewed).variadic(),
    op("Mul", 1, 2, BROADCAST, aligned),
    op("Or", 1, 2, BROADCAST, aligned),
    op("PRelu", 1, 2, &[], p_relu),
    op("Pad", 1, 1, &["mode", "paddings", "value"], |node| pad(node, "paddings")),
    op("Pad", 2, 1, &["mode", "pads", "value"], |node| pad(node, "pads")),
    op("Pow", 1, 2, BROADCAST, aligned),
    op("RNN", 1, 6, RECURRENT, renewed).at_least(3).up_to(2),
    op("Reshape", 1, 1, &["shape"], |node| {
        let shape = node.ints("shape")?;
        let shape = shape.ok_or_else(|| node.invalid("lacks its attribute shape"))?;
        renew(node, &[Some(constants(shape))])
    }),
    op("Resize", 10, 2, &["mode"], resized_by_input),
    op("RoiAlign", 10, 3, sample::ROI, |node| sample::roi_align(node, "output_half_pixel")),
    op("Scatter", 9, 3, &["axis"], |node| plan_as(node, "ScatterElements", node.inputs().to_vec())),
    op("Selu", 1, 1, &["alpha", "gamma"], |node| renewed_with(node, &[&ALPHA, &GAMMA])),
    op("Slice", 1, 1, &["axes", "ends", "starts"], |node| {
        let [starts, ends] = ["starts", "ends"].map(|name| node.ints(name));
        let (Some(starts), Some(ends)) = (starts?, ends?) else {
            return Err(node.invalid("lacks its attributes starts and ends"));
        };
        let axes = node.ints("axes")?.map(constants);
        renew(node, &[Some(constants(starts)), Some(constants(ends)), axes])
    }),
    op("Softmax", 1, 1, &["axis"], |node| flattened(node, |x, axis| softmax_along(x, axis, false))),
    op("Split", 1, 2, &["axis", "split"], |node| match node.optional(1) {
        Some(_) => renewed(node),
        None => renew(node, &[node.ints("split")?.map(constants)]),
    })
    .at_least(1)
    .up_to(usize::MAX),
    op("Split", 2, 1, &["axis", "split"], |node| {
        renew(node, &[node.ints("split")?.map(constants)])
    })
    .up_to(usize::MAX),
    op("Squeeze", 1, 1, &["axes"], |node| renew(node, &[node.ints("axes")?.map(constants)])),
    op("Sub", 1, 2, BROADCAST, aligned),
    op("Sum", 1, 1, &[], renewed).variadic(),
    op("Tile", 1, 3, &[], tile),
    op("TopK", 1, 1, &["axis", "k"], |node| {
        let Some(k) = node.int("k")? else { return Err(node.invalid("lacks its attribute k")) };
        renew(node, &[Some(constants(&[k]))])
    })
    .up_to(2),
    op("TopK", 10, 2, &["axis"], renewed).up_to(2),
    op("Unsqueeze", 1, 1, &["axes"], |node| renew(node, &[node.ints("axes")?.map(constants)])),
    op("Upsample", 1, 1, &["height_scale", "mode", "width_scale"], |node| {
        let scales = ["height_scale", "width_scale"].map(|name| node.float(name, 1.0));
        let [height, width] = scales;
        resized_by(node, &[1.0, 1.0, height?, width?])
    }),
    op("Upsample", 7, 1, &["mode", "scales"], |node| {
        let scales: Vec<_> = node.floats("scales")?.iter().map(|&scale| scale.into()).collect();
        resized_by(node, &scales)
    }),
    op("Upsample", 9, 2, &["mode"], resized_by_input),
    op("Xor", 1, 2, BROADCAST, aligned),
];

/// The last version of operators that there are no more.
pub const ENDS: &[(&str, i64)] = &[("Scatter", 10), ("Upsample", 9)];

/// The axis of a Concat that names none.
static AXIS_ONE: LazyLock<AttributeProto> = LazyLock::new(|| AttributeProto {
    name: Some("axis".to_owned()),
    r#type: Some(AttributeType::Int.into()),
    i: Some(1),
    ..Default::default()
});

/// What the first Selu took for its two numbers.
static ALPHA: LazyLock<AttributeProto> = LazyLock::new(|| float("alpha", 1.6732));
static GAMMA: LazyLock<AttributeProto> = LazyLock::new(|| float("gamma", 1.0507));

fn float(name: &str, value: f32) -> AttributeProto {
    let (name, kind) = (Some(name.to_owned()), Some(AttributeType::Float.into()));
    AttributeProto { name, r#type: kind, f: Some(value), ..Default::default() }
}

fn constants(ints: &[i64]) -> Operand {
    Operand::constant(Elements::from_ints(ints))
}

/// Plans the newest form of a node's operator.
fn renewed(node: &Node<'_>) -> Result<Plan> {
    renew(node, &[])
}

/// The same with attributes for those that it leaves out.
fn renewed_with(node: &Node<'_>, defaults: &[&'static AttributeProto]) -> Result<Plan> {
    let operator = newest(node.op()).expect("older forms have a newest one");
    let renewed = node.renewed(operator, node.inputs().to_vec());
    (operator.plan)(&defaults.iter().fold(renewed, |node, default| node.with_default(default)))
}

/// The same with inputs behind its own.
fn renew(node: &Node<'_>, more: &[Option<Operand>]) -> Result<Plan> {
    let inputs = node.inputs().iter().chain(more).cloned().collect();
    plan_as(node, node.op(), inputs)
}

fn plan_as(node: &Node<'_>, name: &str, inputs: Vec<Option<Operand>>) -> Result<Plan> {
    let operator = newest(name).expect("older forms have a newest one");
    (operator.plan)(&node.renewed(operator, inputs))
}

fn resized_by(node: &Node<'_>, scales: &[f64]) -> Result<Plan> {
    let ty = node.ty(ElementType::F32, vec![scales.len() as i64])?;
    let scales = scales.iter().map(|&scale| Scalar::Float(scale));
    resized(node, Operand::constant(Elements::from_scalars(ty, scales)))
}

fn resized_by_input(node: &Node<'_>) -> Result<Plan> {
    resized(node, node.input(1, "scales")?.clone())
}

/// Behind the operand the newest form has a region, which only some of its modes read.
fn resized(node: &Node<'_>, scales: Operand) -> Result<Plan> {
    let x = node.input(0, "X")?.clone();
    plan_as(node, "Resize", vec![Some(x), None, Some(scales)])
}

/// Refuses a node that is to be trained.
fn expect_inference(node: &Node<'_>) -> Result<()> {
    match node.flag("is_test", false)? {
        true => Ok(()),
        false => Err(node.report("trains").help("is_test 1").unsupported()),
    }
}

fn batch_normalization(node: &Node<'_>) -> Result<Plan> {
    if !node.flag("spatial", true)? {
        return Err(node.report("normalises every element").help("spatial 1").unsupported());
    }
    if node.outputs() > 1 {
        return Err(node.report("trains").help("one output").unsupported());
    }
    renewed(node)
}

/// Returns the operand; the mask that says what was kept has its type before 10.
fn dropout(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "data", ElementType::FLOATS)?;
    if node.outputs() < 2 || node.opset >= 10 {
        return plan_as(node, "Dropout", vec![Some(x.clone())]);
    }
    Ok(Plan::new(vec![x.clone()], vec![x.ty.clone(), x.ty.clone()], |b, args| {
        let kept = b.fill(args[0].element(), args[0].dims(), Scalar::Int(1));
        vec![args[0].clone(), kept]
    }))
}

fn clip(node: &Node<'_>) -> Result<Plan> {
    let element = node.typed(0, "input", ElementType::FLOATS)?.element();
    let bound = |name: &str, none: f32| -> Result<Option<Operand>> {
        let bound = node.float(name, none)?;
        // Without an attribute the standard has the largest finite numbers here; infinity stays, as in
        // later versions.
        let given = bound != f64::from(none);
        Ok(given.then(|| Operand::constant(Elements::scalar(element, Scalar::Float(bound)))))
    };
    renew(node, &[bound("min", f32::MIN)?, bound("max", f32::MAX)?])
}

/// A type by its name in the schema.
fn cast(node: &Node<'_>) -> Result<Plan> {
    let name = node.string("to", "")?;
    let ty = DataType::from_str_name(name).ok_or_else(|| {
        let report = node.report(format!("casts to {name:?}"));
        report.help("a type by its name in the schema, such as \"FLOAT\"").invalid()
    })?;
    cast::to(node, ElementType::from_onnx(ty.into(), &node.result_name())?)
}

/// The exponent of a norm, which was a float.
fn float_exponent(node: &Node<'_>) -> Result<i64> {
    let p = node.float("p", 2.0)?;
    if p.fract() != 0.0 || !(1.0..=1024.0).contains(&p) {
        return Err(node.report(format!("has p {p}")).help("a whole number from 1").unsupported());
    }
    Ok(p as i64)
}

/// Along one axis, as often as a scalar says.
fn tile(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input")?;
    let one = |at, name| -> Result<i64> {
        let scalar = node.known(at, name)?.single();
        let scalar =
            scalar.ok_or_else(|| node.invalid(format!("reads {name:?} that is no scalar")));
        Ok(scalar?.as_int() as i64)
    };
    let axis = node.axis(one(2, "axis")?, x.rank())?;
    let mut repeats = vec![1; x.rank()];
    repeats[axis] = one(1, "tiles")?;
    plan_as(node, "Tile", vec![Some(x.clone()), Some(constants(&repeats))])
}

fn pad(node: &Node<'_>, name: &str) -> Result<Plan> {
    let element = node.input(0, "data")?.element();
    let Some(pads) = node.ints(name)? else {
        return Err(node.invalid(format!("lacks its attribute {name}")));
    };
    let value = Elements::scalar(element, Scalar::Float(node.float("value", 0.0)?));
    renew(node, &[Some(constants(pads)), Some(Operand::constant(value))])
}

/// An operator along an axis, as it was before 13: along that axis and all behind it.
fn flattened(node: &Node<'_>, plan: fn(&Operand, usize) -> Plan) -> Result<Plan> {
    let x = node.typed(0, "input", ElementType::FLOATS)?;
    let axis = node.int("axis")?.unwrap_or(1);
    let axis = if axis == x.rank() as i64 { x.rank() } else { node.axis(axis, x.rank())? };
    if axis + 1 == x.rank() {
        return Ok(plan(x, axis));
    }
    let (rows, columns) = x.dims().split_at(axis);
    let flat = vec![rows.iter().product(), columns.iter().product()];
    let seen = x.seen_as(node.ty(x.element(), flat.clone())?);
    let inner = plan(&seen, 1).payload;
    Ok(Plan::new(vec![x.clone()], vec![x.ty.clone()], move |b, args| {
        let rows = b.reshape(&args[0], &flat);
        let made = inner(b, &[rows]);
        vec![b.reshape(&made[0], args[0].dims())]
    }))
}

/// An operator on two operands, as it was before 7: of one shape, or the second one's are
/// dimensions of the first from `axis` on.
fn aligned(node: &Node<'_>) -> Result<Plan> {
    let (a, b) = (node.input(0, "A")?, node.input(1, "B")?);
    let broadcasts = node.flag("broadcast", false)?;
    if !broadcasts && a.dims() != b.dims() {
        return Err(node
            .report(format!("combines {} and {}", a.ty, b.ty))
            .help("operands of one shape, or broadcast 1")
            .invalid());
    }
    if broadcasts && b.ty.elements() == 1 && b.rank() <= a.rank() {
        return renewed(node);
    }
    let axis = match node.int("axis")?.filter(|_| broadcasts) {
        Some(axis) => node.axis(axis, a.rank().max(1))?,
        None => a.rank().saturating_sub(b.rank()),
    };
    with_second_from(node, axis)
}

/// The slope of a channel: of one dimension, which is the second of the operand.
fn p_relu(node: &Node<'_>) -> Result<Plan> {
    let (x, slope) = (node.input(0, "X")?, node.input(1, "slope")?);
    match slope.rank() == 1 && slope.ty.elements() > 1 && x.rank() > 1 {
        true => with_second_from(node, 1),
        false => renewed(node),
    }
}

/// Plans the newest form with the second operand's dimensions as those of the first from `axis` on.
fn with_second_from(node: &Node<'_>, axis: usize) -> Result<Plan> {
    let (a, b) = (node.input(0, "A")?, node.input(1, "B")?);
    let Some(behind) = a.rank().checked_sub(axis + b.rank()) else {
        return Err(node
            .report(format!("combines {} with {} from axis {axis} on", a.ty, b.ty))
            .help("no more dimensions than the first has from there on")
            .invalid());
    };
    if behind == 0 {
        return renewed(node);
    }
    let dims = [b.dims(), &vec![1; behind]].concat();
    let seen = b.seen_as(node.ty(b.element(), dims.clone())?);
    let inputs = vec![Some(a.clone()), Some(seen)];
    let mut plan = plan_as(node, node.op(), inputs)?;
    // A number may be part of the payload, and no operand.
    if let Some(place) = plan.operands.iter().position(|operand| operand.id == b.id) {
        plan.operands[place] = b.clone();
        plan.fold = None;
        let inner = plan.payload;
        plan.payload = Box::new(move |build, args| {
            let mut seen = args.to_vec();
            seen[place] = build.reshape(&args[place], &dims);
            inner(build, &seen)
        });
    }
    Ok(plan)
}
