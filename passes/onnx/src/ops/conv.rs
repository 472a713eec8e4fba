//! Convolution.

use weft_dialects::ir::Linear;

use super::linear::{accumulate, zeros};
use super::window::Window;
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Build, Tensor, computed};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[op(
    "Conv",
    1,
    3,
    &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"],
    conv,
)
.at_least(2)];

fn conv(node: &Node<'_>) -> Result<Plan> {
    let (x, w) = (node.typed(0, "X", ElementType::FLOATS)?, node.input(1, "W")?);
    node.expect_same_element(x, w)?;
    if w.rank() != x.rank() || w.rank() < 3 {
        return Err(node
            .report(format!("convolves {} with {}", x.ty, w.ty))
            .help("batch, channels and at least one more dimension; weights of as many")
            .invalid());
    }
    let element = x.element();
    let group = node.int("group")?.unwrap_or(1);
    let (batch, channels, filters, depth) = (x.dims()[0], x.dims()[1], w.dims()[0], w.dims()[1]);
    let splits = group >= 1 && channels % group == 0 && filters % group == 0;
    if !splits || channels / group != depth {
        return Err(node
            .report(format!("convolves {channels} channels in {group} groups with {}", w.ty))
            .help(
                "groups that divide channels and filters, and channels / groups weights per filter",
            )
            .invalid());
    }
    let window = Window::of(node, x, Some(&w.dims()[2..]), false)?;
    let mut operands = vec![x.clone(), w.clone()];
    if let Some(bias) = node.optional(2) {
        node.expect_same_element(x, bias)?;
        if bias.dims() != [filters] {
            return Err(node
                .report(format!("adds a bias of {}", bias.ty))
                .help(format!("one number for each of its {filters} filters"))
                .invalid());
        }
        operands.push(bias.clone());
    }
    let dims = [&[batch, filters], &window.output[..]].concat();
    let result = node.ty(element, dims.clone())?;
    let convolution = Convolution { window, element, batch, group, depth, filters };
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let y = convolution.build(b, args);
        vec![b.reshape(&y, &dims)]
    }))
}

/// Groups are an axis of their own; a group of one channel or filter has no axis for it.
struct Convolution {
    window: Window,
    element: ElementType,
    batch: i64,
    group: i64,
    /// Channels of a group.
    depth: i64,
    filters: i64,
}

impl Convolution {
    fn is_grouped(&self) -> bool {
        self.group > 1
    }

    /// Extents of the tensor before those that the window slides along.
    fn lead_x(&self) -> Vec<i64> {
        match (self.is_grouped(), self.depth) {
            (true, 1) => vec![self.batch, self.group],
            (true, _) => vec![self.batch, self.group, self.depth],
            (false, _) => vec![self.batch, self.depth],
        }
    }

    /// Extents of the result before those.
    fn lead_y(&self) -> Vec<i64> {
        match (self.is_grouped(), self.filters / self.group) {
            (true, 1) => vec![self.batch, self.group],
            (true, per_group) => vec![self.batch, self.group, per_group],
            (false, _) => vec![self.batch, self.filters],
        }
    }

    /// The result, with the axes of groups.
    fn build<'c>(&self, b: &mut Build<'_, 'c>, args: &[Tensor<'c>]) -> Tensor<'c> {
        let Self { window, element, depth, .. } = self;
        let (element, depth, grouped, lead_y) =
            (*element, *depth, self.is_grouped(), self.lead_y());
        let wide = window.wide();
        let kernel: Vec<_> = wide.iter().map(|&d| window.kernel[d]).collect();
        let sums_channels = !grouped || depth > 1;
        let mut reduced = kernel.clone();
        if sums_channels {
            reduced.insert(0, depth);
        }
        let free = lead_y.len() + window.rank();
        let axes = free + reduced.len();
        let axis = |at| Linear::axis(axes, at);
        let first_kernel = free + usize::from(sums_channels);

        let padded = window.pad(b, &args[0], Scalar::Int(0));
        let x = b.reshape(&padded, &[&self.lead_x()[..], &padded.dims()[2..]].concat());
        let mut read_x = vec![axis(0)];
        if grouped {
            read_x.push(axis(1));
        }
        if sums_channels {
            read_x.push(axis(free));
        }
        read_x.extend(window.indices(axes, lead_y.len(), first_kernel));

        // Weights lose the dimensions in which the window has one element.
        let mut shape_w = lead_y[1..].to_vec();
        let mut read_w: Vec<_> = (1..lead_y.len()).map(axis).collect();
        if sums_channels {
            shape_w.push(depth);
            read_w.push(axis(free));
        }
        shape_w.extend(&kernel);
        read_w.extend((0..kernel.len()).map(|at| axis(first_kernel + at)));
        let w = b.reshape(&args[1], &shape_w);

        let shape_y = [&lead_y[..], &window.output[..]].concat();
        let start = match args.get(2) {
            None => zeros(b, element, &shape_y),
            Some(bias) => {
                let bias = b.reshape(bias, &lead_y[1..]);
                let read = (1..lead_y.len()).map(|at| Linear::axis(free, at)).collect();
                b.map_at(computed(element), &shape_y, &[(&bias, read)], |_, bias| bias[0])
            }
        };
        let sum = accumulate(b, &start, &reduced, (&x, read_x), (&w, read_w));
        b.cast(&sum, element)
    }
}
