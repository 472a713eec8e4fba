//! Operators that read between elements: at places that another tensor gives, or that a matrix makes.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::grid_sample::{Mode, Outside, taps, weighed};
use super::linear::{accumulate, zeros};
use super::window::Window;
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Calc, Num, Tensor, computed};
use crate::types::{ElementType, Shape};

pub const OPERATORS: &[Operator] = &[
    op("AffineGrid", 20, 2, &["align_corners"], affine_grid),
    op("DeformConv", 19, 5, DEFORM, deform_conv).at_least(3),
    op("RoiAlign", 16, 3, ROI, |node| roi_align(node, "half_pixel")),
];

const DEFORM: &[&str] = &["dilations", "group", "kernel_shape", "offset_group", "pads", "strides"];

/// The attributes of a RoiAlign.
pub const ROI: &[&str] = &[
    "coordinate_transformation_mode",
    "mode",
    "output_height",
    "output_width",
    "sampling_ratio",
    "spatial_scale",
];

/// The places of an image's elements, from -1 to 1, under a matrix for each batch.
fn affine_grid(node: &Node<'_>) -> Result<Plan> {
    let theta = node.typed(0, "theta", ElementType::FLOATS)?;
    let size = node.known_ints(1, "size")?.unwrap_or_default();
    let rank = size.len().saturating_sub(2);
    let corners = node.flag("align_corners", false)?;
    let batch = size.first().copied().unwrap_or(0);
    let fits = matches!(rank, 2 | 3)
        && size.iter().all(|&n| n > 0)
        && theta.dims() == [batch, rank as i64, rank as i64 + 1];
    if !fits {
        return Err(node
            .report(format!("makes places of {} by {}", Shape(&size), theta.ty))
            .help("batch, channels and two or three dimensions; for each batch a matrix with a row for each dimension and a column more")
            .invalid());
    }
    let element = theta.element();
    let dims = [&[batch], &size[2..], &[rank as i64]].concat();
    let result = node.ty(element, dims.clone())?;
    Ok(Plan::new(vec![theta.clone()], vec![result], move |b, args| {
        let axes = rank + 2;
        let cell = |column: i64| {
            let (batch, row) = (Linear::axis(axes, 0), Linear::axis(axes, axes - 1));
            vec![batch, row, Linear::constant(axes, column)]
        };
        let inputs: Vec<_> = (0..=rank).map(|column| (&args[0], cell(column as i64))).collect();
        vec![b.map_at(element, &dims, &inputs, |calc, cells| {
            let mut sum = cells[rank];
            for (column, &cell) in cells[..rank].iter().enumerate() {
                // Coordinates are in the opposite order of the dimensions.
                let axis = rank - column;
                let place = place(calc, axis, dims[axis], corners, computed(element));
                let product = calc.mul(cell, place);
                sum = calc.add(sum, product);
            }
            sum
        })]
    }))
}

/// The place of an element along an axis, from -1 to 1.
fn place<'c>(
    calc: &mut Calc<'_, 'c>,
    axis: usize,
    extent: i64,
    corners: bool,
    number: ElementType,
) -> Num<'c> {
    let at = calc.index(axis);
    let at = calc.counted(at, number);
    let step = 2.0 / (if corners { extent - 1 } else { extent }).max(1) as f64;
    let first = if corners { -1.0 } else { step / 2.0 - 1.0 };
    let (step, first) = (calc.like(at, step), calc.like(at, first));
    let far = calc.mul(at, step);
    calc.add(first, far)
}

/// A convolution whose taps are moved by offsets, and weighed by a mask.
struct Deformed {
    window: Window,
    batch: i64,
    /// Channels of a group of offsets, and the number of these groups.
    channels: i64,
    offset_group: i64,
    group: i64,
    filters: i64,
}

impl Deformed {
    fn of(node: &Node<'_>, x: &Operand, w: &Operand) -> Result<Self> {
        let (group, offsets) =
            (node.int("group")?.unwrap_or(1), node.int("offset_group")?.unwrap_or(1));
        let fits = x.rank() >= 3
            && w.rank() == x.rank()
            && group >= 1
            && offsets >= 1
            && x.dims()[1] % group == 0
            && x.dims()[1] % offsets == 0
            && w.dims()[0] % group == 0
            && w.dims()[1] == x.dims()[1] / group
            && !x.dims().contains(&0);
        if !fits {
            return Err(node
                .report(format!("convolves {} with {}", x.ty, w.ty))
                .note(format!("in {group} groups, with {offsets} groups of offsets"))
                .help("groups that divide the channels and the filters, and weights for the channels of a group")
                .invalid());
        }
        let window = Window::of(node, x, Some(&w.dims()[2..]), false)?;
        let (batch, channels, filters) = (x.dims()[0], x.dims()[1] / offsets, w.dims()[0]);
        Ok(Self { window, batch, channels, offset_group: offsets, group, filters })
    }

    /// The extents of what is read of the tensor: a number for each channel, tap and window.
    fn columns(&self) -> Vec<i64> {
        let lead = [self.batch, self.offset_group, self.channels];
        [&lead[..], &self.window.kernel, &self.window.output].concat()
    }

    /// What each window reads, before it is weighed by the filters.
    fn read<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        x: &Tensor<'c>,
        offset: &Tensor<'c>,
        mask: Option<&Tensor<'c>>,
    ) -> Tensor<'c> {
        let (rank, window) = (self.window.rank(), &self.window);
        let lead = [self.batch, self.offset_group];
        let x = b.reshape(x, &[&lead[..], &[self.channels], &window.input].concat());
        let taps_of = [&lead[..], &window.kernel].concat();
        let offset = b.reshape(offset, &[&taps_of[..], &[rank as i64], &window.output].concat());
        let mask = mask.map(|mask| b.reshape(mask, &[&taps_of[..], &window.output].concat()));
        let dims = self.columns();
        let axes = dims.len();
        let axis = |at| Linear::axis(axes, at);
        let kernel = (3..3 + rank).map(axis);
        let outer = |more: Option<i64>| {
            let mut access: Vec<_> = vec![axis(0), axis(1)];
            access.extend(kernel.clone());
            access.extend(more.map(|d| Linear::constant(axes, d)));
            access.extend((3 + rank..axes).map(axis));
            access
        };
        let mut inputs: Vec<_> = (0..rank).map(|d| (&offset, outer(Some(d as i64)))).collect();
        inputs.extend(mask.as_ref().map(|mask| (mask, outer(None))));
        b.map_at(x.element(), &dims, &inputs, |calc, given| {
            let places: Vec<_> = (0..rank)
                .map(|d| {
                    let from = Linear::constant(axes, -window.before[d])
                        .plus(3 + rank + d, window.strides[d])
                        .plus(3 + d, window.dilations[d]);
                    let from = calc.linear(&from);
                    let from = calc.counted(from, computed(x.element()));
                    let at = calc.add(from, given[d]);
                    taps(calc, at, window.input[d], Mode::Linear, Outside::Zeros, true)
                })
                .collect();
            let lead: Vec<_> = (0..3).map(|at| calc.index(at)).collect();
            let found = weighed(calc, &x, &lead, &places);
            match given.get(rank) {
                Some(&mask) => calc.mul(found, mask),
                None => found,
            }
        })
    }

    /// The sums of what windows read, by each filter.
    fn filtered<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        columns: &Tensor<'c>,
        w: &Tensor<'c>,
        bias: Option<&Tensor<'c>>,
    ) -> Tensor<'c> {
        let (rank, window, group) = (self.window.rank(), &self.window, self.group);
        let (depth, own) = (w.dims()[1], self.filters / group);
        let lead = [self.batch, group, depth];
        let columns = b.reshape(columns, &[&lead[..], &window.kernel, &window.output].concat());
        let w = b.reshape(w, &[&[group, own, depth], &window.kernel[..]].concat());
        let dims = [&[self.batch, group, own], &window.output[..]].concat();
        let start = match bias {
            None => zeros(b, w.element(), &dims),
            Some(bias) => {
                let bias = b.reshape(bias, &[group, own]);
                let read = vec![Linear::axis(dims.len(), 1), Linear::axis(dims.len(), 2)];
                b.map_at(computed(w.element()), &dims, &[(&bias, read)], |_, x| x[0])
            }
        };
        let axes = dims.len() + 1 + rank;
        let axis = |at| Linear::axis(axes, at);
        let (reduced, taps) = (dims.len(), dims.len() + 1..axes);
        let mut read = vec![axis(0), axis(1), axis(reduced)];
        read.extend(taps.clone().map(axis));
        read.extend((3..dims.len()).map(axis));
        let mut weights = vec![axis(1), axis(2), axis(reduced)];
        weights.extend(taps.map(axis));
        let depth = [&[depth], &window.kernel[..]].concat();
        accumulate(b, &start, &depth, (&columns, read), (&w, weights))
    }
}

fn deform_conv(node: &Node<'_>) -> Result<Plan> {
    let (x, w) = (node.typed(0, "X", ElementType::FLOATS)?, node.input(1, "W")?);
    let offset = node.input(2, "offset")?;
    let deformed = Deformed::of(node, x, w)?;
    let window = &deformed.window;
    let taps = deformed.offset_group * window.kernel.iter().product::<i64>();
    let of = |count: i64| [&[deformed.batch, count], &window.output[..]].concat();
    let mut operands = vec![x.clone(), w.clone(), offset.clone()];
    let shapes = [
        (2, "offset", of(taps * window.rank() as i64)),
        (3, "B", vec![deformed.filters]),
        (4, "mask", of(taps)),
    ];
    for (at, name, dims) in shapes {
        let operand = node.optional_of(at, name, x, &dims)?;
        operands.extend(operand.filter(|_| at > 2).cloned());
    }
    node.expect_same_element(x, w)?;
    let has_bias = node.optional(3).is_some();
    let element = x.element();
    let dims = [&[deformed.batch, deformed.filters], &window.output[..]].concat();
    let result = node.ty(element, dims.clone())?;
    node.ty(computed(element), deformed.columns())?;
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let bias = args.get(3).filter(|_| has_bias);
        let columns = deformed.read(b, &args[0], &args[2], args.get(3 + usize::from(has_bias)));
        let sums = deformed.filtered(b, &columns, &args[1], bias);
        let y = b.cast(&sums, element);
        vec![b.reshape(&y, &dims)]
    }))
}

/// Bins of regions of images, each the mean or the greatest of samples.
#[derive(Clone, Copy)]
struct Regions {
    /// Bins along both dimensions, and samples of a bin along each.
    bins: [i64; 2],
    samples: i64,
    scale: f64,
    /// Places count from the middle of elements.
    half_pixel: bool,
    greatest: bool,
}

impl Regions {
    fn of(node: &Node<'_>, default: &'static str) -> Result<Self> {
        let small = |name: &str, default: i64, least: i64| {
            let value = node.int(name)?.unwrap_or(default);
            if !(least..=1 << 16).contains(&value) {
                let report = node.report(format!("has {name} {value}"));
                return Err(report.help(format!("{least} or more")).invalid());
            }
            Ok(value)
        };
        let bins = [small("output_height", 1, 1)?, small("output_width", 1, 1)?];
        let samples = small("sampling_ratio", 0, 0)?;
        if samples == 0 {
            return Err(node
                .report("takes as many samples as its regions are large")
                .help("a sampling_ratio from 1")
                .unsupported());
        }
        let half_pixel = match node.string("coordinate_transformation_mode", default)? {
            "half_pixel" => true,
            "output_half_pixel" => false,
            other => {
                let report = node.report(format!("has coordinate_transformation_mode {other:?}"));
                return Err(report.help("half_pixel or output_half_pixel").invalid());
            }
        };
        let greatest = match node.string("mode", "avg")? {
            "avg" => false,
            "max" => true,
            other => {
                return Err(node
                    .report(format!("has mode {other:?}"))
                    .help("avg or max")
                    .invalid());
            }
        };
        let scale = node.float("spatial_scale", 1.0)?;
        Ok(Self { bins, samples, scale, half_pixel, greatest })
    }

    /// The place of a sample along a dimension, of bin `axes[0]` and sample `axes[1]`.
    fn place<'c>(
        self,
        calc: &mut Calc<'_, 'c>,
        [start, end]: [Num<'c>; 2],
        bins: i64,
        axes: [usize; 2],
    ) -> Num<'c> {
        let number = |calc: &mut Calc<'_, 'c>, x: f64| calc.like(start, x);
        let (scale, offset) =
            (number(calc, self.scale), number(calc, if self.half_pixel { 0.5 } else { 0.0 }));
        let [start, end] = [start, end].map(|edge| {
            let edge = calc.mul(edge, scale);
            calc.sub(edge, offset)
        });
        let mut length = calc.sub(end, start);
        if !self.half_pixel {
            let one = calc.like(length, 1.0);
            length = calc.max(length, one);
        }
        let bins = calc.like(length, bins as f64);
        let width = calc.div(length, bins);
        let element = if calc.is_long(width) { ElementType::F64 } else { ElementType::F32 };
        let [bin, sample] = axes.map(|axis| {
            let at = calc.index(axis);
            calc.counted(at, element)
        });
        let (half, samples) = (calc.like(width, 0.5), calc.like(width, self.samples as f64));
        let middle = calc.add(sample, half);
        let part = calc.mul(middle, width);
        let part = calc.div(part, samples);
        let far = calc.mul(bin, width);
        let place = calc.add(start, far);
        calc.add(place, part)
    }
}

/// Plans a RoiAlign whose places count as `default` says where no attribute does.
pub fn roi_align(node: &Node<'_>, default: &'static str) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let (rois, images) = (node.input(1, "rois")?, node.input(2, "batch_indices")?);
    node.expect_same_element(x, rois)?;
    node.expect_element(images, "batch_indices", &[ElementType::I64])?;
    let regions = Regions::of(node, default)?;
    let count = rois.dims().first().copied().unwrap_or(0);
    let fits = x.rank() == 4 && rois.dims() == [count, 4] && images.dims() == [count];
    if !fits || x.dims().contains(&0) {
        return Err(node
            .report(format!("aligns {} of {} in {}", rois.ty, images.ty, x.ty))
            .help("batch, channels and two dimensions; four edges and a batch for each region")
            .invalid());
    }
    let element = x.element();
    let dims = [count, x.dims()[1], regions.bins[0], regions.bins[1]];
    let result = node.ty(element, dims.to_vec())?;
    let operands = vec![x.clone(), rois.clone(), images.clone()];
    Ok(Plan::new(operands, vec![result], move |b, args| {
        if count == 0 {
            return vec![b.empty(element, &dims)];
        }
        let number = computed(element);
        let samples = regions.samples;
        let kinds = [vec![Axis::Parallel; 4], vec![Axis::Reduction; 2]].concat();
        let extents = [&dims[..], &[samples; 2]].concat();
        let edge = |at: i64| vec![Linear::axis(6, 0), Linear::constant(6, at)];
        let mut inputs: Vec<_> = [1, 3, 0, 2].map(|at| (&args[1], edge(at))).to_vec();
        inputs.push((&args[2], vec![Linear::axis(6, 0)]));
        let first =
            if regions.greatest { Scalar::Float(f64::NEG_INFINITY) } else { Scalar::Int(0) };
        let start = b.fill(number, &dims, first);
        let target = (0..4).map(|axis| Linear::axis(6, axis)).collect();
        let x = &args[0];
        let folded = b.nest(&kinds, &extents, &inputs, &[(&start, target)], |calc, given| {
            let [height, width] = [[given[0], given[1]], [given[2], given[3]]];
            let image = calc.coordinate(given[4]);
            let (zero, last) = (calc.at(0), calc.at(x.dims()[0] - 1));
            let image = calc.max(image, zero);
            let lead = [calc.min(image, last), calc.index(1)];
            let y = regions.place(calc, height, regions.bins[0], [2, 4]);
            let along = regions.place(calc, width, regions.bins[1], [3, 5]);
            let corners = corners(calc, x, &lead, [y, along]);
            let (greatest, so_far) = (regions.greatest, given[5]);
            vec![corners.into_iter().fold(so_far, |all, corner| match greatest {
                true => calc.max(all, corner),
                false => calc.add(all, corner),
            })]
        });
        if regions.greatest {
            return vec![b.cast(&folded[0], element)];
        }
        vec![b.map(element, &dims, &[&folded[0]], |calc, sum| {
            let share = calc.like(sum[0], 1.0 / (samples * samples) as f64);
            calc.mul(sum[0], share)
        })]
    }))
}

/// The four elements around a place with their weights; nothing beyond an element from the border.
fn corners<'c>(
    calc: &mut Calc<'_, 'c>,
    x: &Tensor<'c>,
    lead: &[Num<'c>],
    place: [Num<'c>; 2],
) -> [Num<'c>; 4] {
    let mut inside = None;
    let mut pairs = Vec::with_capacity(2);
    for (d, at) in place.into_iter().enumerate() {
        let extent = x.dims()[2 + d];
        let (least, most) = (calc.like(at, -1.0), calc.like(at, extent as f64));
        let (after, before) = (calc.ge(at, least), calc.le(at, most));
        let there = calc.and(after, before);
        inside = Some(inside.map_or(there, |all| calc.and(all, there)));
        let (zero, last) = (calc.like(at, 0.0), calc.like(at, (extent - 1) as f64));
        let at = calc.max(at, zero);
        let at = calc.min(at, last);
        let low = calc.math("floor", at);
        let (one, high) = (calc.like(at, 1.0), calc.sub(at, low));
        let less = calc.sub(one, high);
        let low = calc.cast(low, ElementType::I32);
        let low = calc.coordinate(low);
        let (step, end) = (calc.at(1), calc.at(extent - 1));
        let next = calc.add(low, step);
        let next = calc.min(next, end);
        pairs.push([(low, less), (next, high)]);
    }
    let inside = inside.expect("a place has coordinates");
    [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(row, column)| {
        let ((y, above), (along, beside)) = (pairs[0][row], pairs[1][column]);
        let found = calc.extract(x, &[lead[0], lead[1], y, along]);
        let found = calc.loaded(found);
        let weight = calc.mul(above, beside);
        let part = calc.mul(found, weight);
        let none = calc.like(part, 0.0);
        calc.select(inside, part, none)
    })
}
