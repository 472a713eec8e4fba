//! Operators that shift and scale by mean and variance.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::reduce::{fold_axes, kept_access, others};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Access, Build, Tensor, broadcast, computed, identity};
use crate::types::{ElementType, Shape};

pub const OPERATORS: &[Operator] = &[
    op("BatchNormalization", 9, 5, &["epsilon", "momentum", "training_mode"], batch_normalization)
        .up_to(3),
    op("GroupNormalization", 18, 3, &["epsilon", "num_groups", "stash_type"], group_normalization),
    op("InstanceNormalization", 1, 3, &["epsilon"], instance_normalization),
    op("LRN", 1, 1, &["alpha", "beta", "bias", "size"], local_response),
    op("LayerNormalization", 17, 3, &["axis", "epsilon", "stash_type"], layer_normalization)
        .at_least(2)
        .up_to(3),
    op("MeanVarianceNormalization", 9, 1, &["axes"], mean_variance),
    op("RMSNormalization", 23, 2, &["axis", "epsilon", "stash_type"], rms_normalization),
    // No operator of the standard, but exporters write it as if it were one.
    op("SimplifiedLayerNormalization", 1, 2, &["axis", "epsilon", "stash_type"], rms_normalization)
        .up_to(2),
];

/// The mean of `x` over some axes.
pub fn mean<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, axes: &[usize]) -> Tensor<'c> {
    let number = computed(x.element());
    let sum =
        fold_axes(b, x, axes, &[], (number, Scalar::Int(0)), |calc, x, sum| calc.add(sum, x[0]));
    divide(b, &sum, count(x, axes))
}

/// The mean of the squared distance to `mean`, or to zero.
pub fn variance<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    axes: &[usize],
    mean: Option<&Tensor<'c>>,
) -> Tensor<'c> {
    let beside: Vec<_> = mean.into_iter().collect();
    let zero = (computed(x.element()), Scalar::Int(0));
    let sum = fold_axes(b, x, axes, &beside, zero, |calc, x, sum| {
        let off = if x.len() > 1 { calc.sub(x[0], x[1]) } else { x[0] };
        let square = calc.mul(off, off);
        calc.add(sum, square)
    });
    divide(b, &sum, count(x, axes))
}

fn count(x: &Tensor<'_>, axes: &[usize]) -> f64 {
    axes.iter().map(|&d| x.dims()[d]).product::<i64>() as f64
}

fn divide<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, by: f64) -> Tensor<'c> {
    b.map(x.element(), x.dims(), &[x], |calc, x| {
        let by = calc.like(x[0], by);
        calc.div(x[0], by)
    })
}

/// `1 / sqrt(x + epsilon)`.
pub fn inverse_deviation<'c>(
    b: &mut Build<'_, 'c>,
    variance: &Tensor<'c>,
    epsilon: f64,
) -> Tensor<'c> {
    b.map(computed(variance.element()), variance.dims(), &[variance], |calc, x| {
        let (epsilon, one) = (calc.like(x[0], epsilon), calc.like(x[0], 1.0));
        let sum = calc.add(x[0], epsilon);
        let root = calc.math("sqrt", sum);
        calc.div(one, root)
    })
}

/// `(x - mean) · factor`, then by a scale and a bias where they are given with their accesses.
pub fn normalized<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    axes: &[usize],
    mean: Option<&Tensor<'c>>,
    factor: &Tensor<'c>,
    affine: &[Access<'_, 'c>],
) -> Tensor<'c> {
    let rank = x.dims().len();
    let beside = kept_access(rank, axes);
    let mut inputs = vec![(x, identity(rank)), (factor, beside.clone())];
    inputs.extend(mean.map(|mean| (mean, beside)));
    let given = inputs.len();
    inputs.extend(affine.iter().cloned());
    b.map_at(x.element(), x.dims(), &inputs, |calc, x| {
        let off = if given > 2 { calc.sub(x[0], x[2]) } else { x[0] };
        let y = calc.mul(off, x[1]);
        match x[given..] {
            [] => y,
            [scale] => calc.mul(y, scale),
            [scale, bias, ..] => {
                let scaled = calc.mul(y, scale);
                calc.add(scaled, bias)
            }
        }
    })
}

/// Fails unless `operand` is calculated with in the type of `x`.
fn expect_number(node: &Node<'_>, x: &Operand, operand: &Operand, name: &str) -> Result<()> {
    let accepted: Vec<_> = ElementType::FLOATS
        .iter()
        .copied()
        .filter(|&element| computed(element) == computed(x.element()))
        .collect();
    node.expect_element(operand, name, &accepted)
}

/// Fails unless `operand` has one number per channel of `x`.
fn expect_channels(node: &Node<'_>, x: &Operand, operand: &Operand, name: &str) -> Result<()> {
    expect_number(node, x, operand, name)?;
    if operand.dims() == &x.dims()[1..2] {
        return Ok(());
    }
    Err(node
        .report(format!("reads {name:?} as {}", operand.ty))
        .help(format!("one number for each of the {} channels of {}", x.dims()[1], x.ty))
        .invalid())
}

fn with_channels<'n>(node: &'n Node<'_>) -> Result<&'n Operand> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    if x.rank() < 2 {
        return Err(node.invalid(format!("reads {}; it needs batch and channels", x.ty)));
    }
    Ok(x)
}

fn batch_normalization(node: &Node<'_>) -> Result<Plan> {
    let x = with_channels(node)?;
    let names = ["X", "scale", "B", "input_mean", "input_var"];
    let mut operands = vec![x.clone()];
    for (at, name) in names.iter().enumerate().skip(1) {
        let operand = node.input(at, name)?;
        expect_channels(node, x, operand, name)?;
        operands.push(operand.clone());
    }
    let epsilon = node.float("epsilon", 1e-5)?;
    let momentum = node.float("momentum", 0.9)?;
    let training = node.flag("training_mode", false)?;
    if !training && node.outputs() > 1 {
        return Err(node.invalid("makes running statistics, which are for training_mode 1"));
    }
    let mut results = vec![x.ty.clone()];
    results.extend(operands[3..].iter().map(|operand| operand.ty.clone()));
    results.truncate(node.outputs());
    let (outputs, axes) = (node.outputs(), others(x.rank(), &[1]));
    Ok(Plan::new(operands, results, move |b, args| {
        let [x, scale, bias, mean_in, var_in] = args else { panic!("five operands were planned") };
        let channel = || vec![identity(x.dims().len())[1].clone()];
        let number = computed(x.element());
        let (center, spread) = if training {
            let center = mean(b, x, &axes);
            let spread = variance(b, x, &axes, Some(&center));
            (center, spread)
        } else {
            (mean_in.clone(), var_in.clone())
        };
        // One number per channel, calculated apart: over constants it is a constant.
        let inverse = inverse_deviation(b, &spread, epsilon);
        let factor = b.map(number, scale.dims(), &[scale, &inverse], |calc, given| {
            calc.mul(given[0], given[1])
        });
        let inputs = [
            (x, identity(x.dims().len())),
            (&center, channel()),
            (&factor, channel()),
            (bias, channel()),
        ];
        let y = b.map_at(x.element(), x.dims(), &inputs, |calc, given| {
            let off = calc.sub(given[0], given[1]);
            let scaled = calc.mul(off, given[2]);
            calc.add(scaled, given[3])
        });
        let mut results = vec![y];
        for (before, now) in [(mean_in, &center), (var_in, &spread)].into_iter().take(outputs - 1) {
            results.push(b.map(before.element(), before.dims(), &[before, now], |calc, given| {
                let (keep, take) =
                    (calc.like(given[0], momentum), calc.like(given[1], 1.0 - momentum));
                let (kept, taken) = (calc.mul(given[0], keep), calc.mul(given[1], take));
                calc.add(kept, taken)
            }));
        }
        results
    }))
}

fn instance_normalization(node: &Node<'_>) -> Result<Plan> {
    let x = with_channels(node)?;
    let (scale, bias) = (node.input(1, "scale")?, node.input(2, "B")?);
    expect_channels(node, x, scale, "scale")?;
    expect_channels(node, x, bias, "B")?;
    let epsilon = node.float("epsilon", 1e-5)?;
    let operands = vec![x.clone(), scale.clone(), bias.clone()];
    let axes: Vec<_> = (2..x.rank()).collect();
    Ok(Plan::new(operands, vec![x.ty.clone()], move |b, args| {
        let x = &args[0];
        let center = mean(b, x, &axes);
        let spread = variance(b, x, &axes, Some(&center));
        let factor = inverse_deviation(b, &spread, epsilon);
        let channel = || vec![identity(x.dims().len())[1].clone()];
        let affine = [(&args[1], channel()), (&args[2], channel())];
        vec![normalized(b, x, &axes, Some(&center), &factor, &affine)]
    }))
}

fn group_normalization(node: &Node<'_>) -> Result<Plan> {
    let x = with_channels(node)?;
    let (scale, bias) = (node.input(1, "scale")?, node.input(2, "bias")?);
    let groups = node.int("num_groups")?.ok_or_else(|| node.invalid("lacks \"num_groups\""))?;
    let channels = x.dims()[1];
    if groups < 1 || channels % groups != 0 {
        return Err(node.invalid(format!("splits {channels} channels into {groups} groups")));
    }
    // Up to version 20 there is one scale per group, later one per channel.
    let scales = if node.opset < 21 { groups } else { channels };
    for (operand, name) in [(scale, "scale"), (bias, "bias")] {
        expect_number(node, x, operand, name)?;
        if operand.dims() != [scales] {
            return Err(node
                .report(format!("reads {name:?} as {}", operand.ty))
                .help(format!("{scales} numbers"))
                .invalid());
        }
    }
    let epsilon = node.float("epsilon", 1e-5)?;
    let operands = vec![x.clone(), scale.clone(), bias.clone()];
    Ok(Plan::new(operands, vec![x.ty.clone()], move |b, args| {
        let dims = args[0].dims().to_vec();
        let split = [&[dims[0], groups, channels / groups], &dims[2..]].concat();
        let x = b.reshape(&args[0], &split);
        let axes: Vec<_> = (2..split.len()).collect();
        let center = mean(b, &x, &axes);
        let spread = variance(b, &x, &axes, Some(&center));
        let factor = inverse_deviation(b, &spread, epsilon);
        let all = identity(split.len());
        let (shape, access) = if scales == groups {
            (vec![groups], vec![all[1].clone()])
        } else {
            (vec![groups, channels / groups], all[1..3].to_vec())
        };
        let (scale, bias) = (b.reshape(&args[1], &shape), b.reshape(&args[2], &shape));
        let affine = [(&scale, access.clone()), (&bias, access)];
        let y = normalized(b, &x, &axes, Some(&center), &factor, &affine);
        vec![b.reshape(&y, &dims)]
    }))
}

/// Reads the inputs of LayerNormalization and RMSNormalization: the axes from `axis` on, and a
/// scale and a bias that broadcast to them.
fn layer<'n>(node: &'n Node<'_>) -> Result<(Vec<&'n Operand>, Vec<usize>)> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let axis = node.axis(node.int("axis")?.unwrap_or(-1), x.rank())?;
    if node.int("stash_type")?.unwrap_or(1) != 1 {
        return Err(node.report("has another stash_type than 1").help("1, float").unsupported());
    }
    let mut operands = vec![x];
    for at in 1..node.input_count() {
        let name = if at == 1 { "Scale" } else { "B" };
        let operand = node.input(at, name)?;
        expect_number(node, x, operand, name)?;
        let fits = operand.rank() <= x.rank()
            && node.broadcast([x.dims(), operand.dims()]).is_ok_and(|dims| dims == x.dims());
        if !fits {
            return Err(node
                .report(format!("reads {name:?} as {}", operand.ty))
                .help(format!("a shape that broadcasts to {}", Shape(&x.dims()[axis..])))
                .invalid());
        }
        operands.push(operand);
    }
    Ok((operands, (axis..x.rank()).collect()))
}

fn layer_normalization(node: &Node<'_>) -> Result<Plan> {
    let (operands, axes) = layer(node)?;
    let x = operands[0];
    let epsilon = node.float("epsilon", 1e-5)?;
    let folded: Vec<_> =
        (0..x.rank()).map(|d| if axes.contains(&d) { 1 } else { x.dims()[d] }).collect();
    let mut results = vec![x.ty.clone()];
    let number = computed(x.element());
    for _ in 1..node.outputs() {
        results.push(node.ty(number, folded.clone())?);
    }
    let outputs = node.outputs();
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, results, move |b, args| {
        let x = &args[0];
        let center = mean(b, x, &axes);
        let spread = variance(b, x, &axes, Some(&center));
        let factor = inverse_deviation(b, &spread, epsilon);
        let rank = x.dims().len();
        let affine: Vec<_> = args[1..]
            .iter()
            .map(|tensor| (tensor, broadcast(tensor.dims(), x.dims(), rank)))
            .collect();
        let mut results = vec![normalized(b, x, &axes, Some(&center), &factor, &affine)];
        for statistic in [&center, &factor].into_iter().take(outputs - 1) {
            results.push(b.reshape(statistic, &folded));
        }
        results
    }))
}

/// RMSNormalization; SimplifiedLayerNormalization is the same, and may also make the factors.
pub fn rms_normalization(node: &Node<'_>) -> Result<Plan> {
    let (operands, axes) = layer(node)?;
    let (x, scale) = (operands[0], operands[1]);
    let epsilon = node.float("epsilon", 1e-5)?;
    // The result has the type of the scale, and is rounded to it once.
    let (element, number) = (scale.element(), computed(x.element()));
    let mut results = vec![node.ty(element, x.dims().to_vec())?];
    let folded: Vec<_> =
        (0..x.rank()).map(|d| if axes.contains(&d) { 1 } else { x.dims()[d] }).collect();
    results.push(node.ty(number, folded.clone())?);
    results.truncate(node.outputs());
    let outputs = results.len();
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, results, move |b, args| {
        let same = args[0].element() == element;
        let x = if same { args[0].clone() } else { b.cast(&args[0], number) };
        let spread = variance(b, &x, &axes, None);
        let factor = inverse_deviation(b, &spread, epsilon);
        let rank = x.dims().len();
        let affine = [(&args[1], broadcast(args[1].dims(), x.dims(), rank))];
        let y = normalized(b, &x, &axes, None, &factor, &affine);
        let mut results = vec![b.cast(&y, element)];
        if outputs > 1 {
            results.push(b.reshape(&factor, &folded));
        }
        results
    }))
}

fn mean_variance(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let axes = node.axes(node.ints("axes")?.unwrap_or(&[0, 2, 3]), x.rank())?;
    Ok(Plan::new(vec![x.clone()], vec![x.ty.clone()], move |b, args| {
        let x = &args[0];
        let center = mean(b, x, &axes);
        let spread = variance(b, x, &axes, Some(&center));
        // The standard adds to the root, not under it.
        let factor = b.map(spread.element(), spread.dims(), &[&spread], |calc, x| {
            let (epsilon, one) = (calc.like(x[0], 1e-9), calc.like(x[0], 1.0));
            let root = calc.math("sqrt", x[0]);
            let sum = calc.add(root, epsilon);
            calc.div(one, sum)
        });
        vec![normalized(b, x, &axes, Some(&center), &factor, &[])]
    }))
}

/// `x / (bias + alpha / size · (sum of the squares of channels near by))^beta`.
fn local_response(node: &Node<'_>) -> Result<Plan> {
    let x = with_channels(node)?;
    let (alpha, beta) = (node.float("alpha", 1e-4)?, node.float("beta", 0.75)?);
    let bias = node.float("bias", 1.0)?;
    let size = node.int("size")?.ok_or_else(|| node.invalid("lacks the attribute \"size\""))?;
    if !(1..=i32::MAX.into()).contains(&size) {
        return Err(node.report(format!("has size {size}")).help("1 or more").invalid());
    }
    let (before, after) = ((size - 1) / 2, size - 1 - (size - 1) / 2);
    let mut padded = x.dims().to_vec();
    padded[1] += size - 1;
    node.ty(x.element(), padded)?;
    Ok(Plan::new(vec![x.clone()], vec![x.ty.clone()], move |b, args| {
        let x = &args[0];
        let rank = x.dims().len();
        let number = computed(x.element());
        let mut border = (vec![0; rank], vec![0; rank]);
        (border.0[1], border.1[1]) = (before, after);
        let padded = b.pad(x, &border.0, &border.1, Scalar::Int(0));
        let kinds = [vec![Axis::Parallel; rank], vec![Axis::Reduction]].concat();
        let extents = [x.dims(), &[size]].concat();
        let all = |d| Linear::axis(rank + 1, d);
        let mut read: Vec<_> = (0..rank).map(all).collect();
        let target = read.clone();
        read[1] = read[1].clone().plus(rank, 1);
        let start = b.fill(number, x.dims(), Scalar::Int(0));
        let sums = b.nest(&kinds, &extents, &[(&padded, read)], &[(&start, target)], |calc, x| {
            let square = calc.mul(x[0], x[0]);
            vec![calc.add(x[1], square)]
        });
        vec![b.map(x.element(), x.dims(), &[x, &sums[0]], |calc, given| {
            let scale = calc.like(given[0], alpha / size as f64);
            let (bias, beta) = (calc.like(given[0], bias), calc.like(given[0], beta));
            let scaled = calc.mul(given[1], scale);
            let base = calc.add(bias, scaled);
            let power = calc.powf(base, beta);
            calc.div(given[0], power)
        })]
    }))
}
