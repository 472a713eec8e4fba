//! Convolution.

use weft_dialects::ir::Linear;

use super::linear::{accumulate, zeros};
use super::window::Window;
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed};
use crate::plan::Ends;
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[op(
    "Conv",
    1,
    3,
    &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"],
    conv,
)
.at_least(2)];

/// Plans a convolution.
pub fn conv(node: &Node<'_>) -> Result<Plan> {
    let (x, w) = (node.typed(0, "X", ElementType::FLOATS)?, node.input(1, "W")?);
    node.expect_same_element(x, w)?;
    let convolution = Convolution::of(node, x, w)?;
    let mut operands = vec![x.clone(), w.clone()];
    if let Some(bias) = node.optional(2) {
        node.expect_same_element(x, bias)?;
        convolution.expect_bias(node, bias)?;
        operands.push(bias.clone());
    }
    let element = x.element();
    let dims = convolution.dims();
    let result = node.ty(element, dims.clone())?;
    let lead = [x.length(0).cloned(), None];
    let lengths = convolution.window.lengths(node, x, &lead)?;
    let ends = lengths.is_some();
    let plan = Plan::new(operands, vec![result], move |b, args| {
        let padded = convolution.window.pad_to_ends(b, &args[0], (Scalar::Int(0), ends));
        let start = convolution.start(b, computed(element), args.get(2));
        let Reads { x, w, reduced } = convolution.reads(b, &padded, &args[1]);
        let sum = accumulate(b, &start, &reduced, (&x.0, x.1), (&w.0, w.1));
        let y = b.cast(&sum, element);
        vec![b.reshape(&y, &dims)]
    });
    Ok(plan.knowing_by(Ends::Bordered, lengths))
}

/// Groups are an axis of their own; a group of one channel or filter has no axis for it.
pub struct Convolution {
    /// The window over the tensor.
    pub window: Window,
    batch: i64,
    group: i64,
    /// Channels of a group.
    depth: i64,
    /// The number of filters.
    pub filters: i64,
}

/// The factors of a convolution's nest with their accesses, and the extents of the axes that are
/// summed over; those of [`Convolution::shape`] come first.
pub struct Reads<'c> {
    pub x: (Tensor<'c>, Vec<Linear>),
    pub w: (Tensor<'c>, Vec<Linear>),
    pub reduced: Vec<i64>,
}

impl Convolution {
    /// The convolution of `x`, `[batch, channels, extents ...]`, with `w`,
    /// `[filters, channels / groups, extents ...]`.
    ///
    /// # Errors
    /// Ranks, groups or windows that do not fit.
    pub fn of(node: &Node<'_>, x: &Operand, w: &Operand) -> Result<Self> {
        if w.rank() != x.rank() || w.rank() < 3 {
            return Err(node
                .report(format!("convolves {} with {}", x.ty, w.ty))
                .help("batch, channels and at least one more dimension; weights of as many")
                .invalid());
        }
        let group = node.int("group")?.unwrap_or(1);
        let (batch, channels) = (x.dims()[0], x.dims()[1]);
        let (filters, depth) = (w.dims()[0], w.dims()[1]);
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
        Ok(Self { window, batch, group, depth, filters })
    }

    /// Fails unless there is one number of the bias for each filter.
    pub fn expect_bias(&self, node: &Node<'_>, bias: &Operand) -> Result<()> {
        if bias.dims() == [self.filters] {
            return Ok(());
        }
        Err(node
            .report(format!("adds a bias of {}", bias.ty))
            .help(format!("one number for each of its {} filters", self.filters))
            .invalid())
    }

    /// The extents of the result.
    pub fn dims(&self) -> Vec<i64> {
        [&[self.batch, self.filters], &self.window.output[..]].concat()
    }

    /// The extents of the result, with the axes of groups.
    pub fn shape(&self) -> Vec<i64> {
        [&self.lead_y()[..], &self.window.output[..]].concat()
    }

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

    /// Numbers of which there is one for each filter, and their access in a nest of `axes` axes
    /// whose first ones are those of [`Convolution::shape`].
    pub fn beside<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        numbers: &Tensor<'c>,
        axes: usize,
    ) -> (Tensor<'c>, Vec<Linear>) {
        let lead = self.lead_y();
        let read = (1..lead.len()).map(|at| Linear::axis(axes, at)).collect();
        (b.reshape(numbers, &lead[1..]), read)
    }

    /// Where sums begin: at the bias where there is one, with the axes of groups.
    pub fn start<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        element: ElementType,
        bias: Option<&Tensor<'c>>,
    ) -> Tensor<'c> {
        let shape = self.shape();
        match bias {
            None => zeros(b, element, &shape),
            Some(bias) => {
                let (bias, read) = self.beside(b, bias, shape.len());
                b.map_at(element, &shape, &[(&bias, read)], |_, bias| bias[0])
            }
        }
    }

    /// The factors, of which `padded` is the tensor within its border.
    pub fn reads<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        padded: &Tensor<'c>,
        w: &Tensor<'c>,
    ) -> Reads<'c> {
        let Self { window, depth, .. } = self;
        let (depth, grouped, lead_y) = (*depth, self.is_grouped(), self.lead_y());
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

        let x = b.reshape(padded, &[&self.lead_x()[..], &padded.dims()[2..]].concat());
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
        let w = b.reshape(w, &shape_w);
        Reads { x: (x, read_x), w: (w, read_w), reduced }
    }
}
