//! Resize: along each axis, every element is a weighted sum of a few elements at places that are
//! known here. Axes are independent, so one after the other is resized.

mod taps;

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis as Kind;

use self::taps::{Axis, Coordinates, Mode, Nearest, Taps};
use super::linear::zeros;
use super::{Operator, op};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed, identity};
use crate::types::{ElementType, TensorType};

pub const OPERATORS: &[Operator] = &[op(
    "Resize",
    11,
    4,
    &[
        "antialias",
        "axes",
        "coordinate_transformation_mode",
        "cubic_coeff_a",
        "exclude_outside",
        "extrapolation_value",
        "keep_aspect_ratio_policy",
        "mode",
        "nearest_mode",
    ],
    resize,
)
.at_least(1)];

/// The greatest number of places and weights that are written for an axis.
const TABLE_MAX: f64 = (1u64 << 22) as f64;

/// The word of an attribute among those that it may be.
fn word<T: Copy>(
    node: &Node<'_>,
    name: &str,
    default: &'static str,
    words: &[(&str, T)],
) -> Result<T> {
    let given = node.string(name, default)?;
    words.iter().find(|(word, _)| *word == given).map(|&(_, found)| found).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|&(word, _)| word).collect();
        node.report(format!("has {name} {given:?}")).help(words.join(", ")).unsupported()
    })
}

/// An input of numbers that decide shapes; `None` if it is absent or empty.
fn numbers(node: &Node<'_>, at: usize, name: &str, count: usize) -> Result<Option<Vec<f64>>> {
    if node.optional(at).is_none_or(|operand| operand.ty.elements() == 0) {
        return Ok(None);
    }
    let numbers: Vec<_> = node.known(at, name)?.scalars().map(Scalar::as_f64).collect();
    if numbers.len() != count || numbers.iter().any(|number| !number.is_finite()) {
        return Err(node
            .report(format!("reads {name:?} as {numbers:?}"))
            .help(format!("{count} finite numbers"))
            .invalid());
    }
    Ok(Some(numbers))
}

/// The extents of the result and the ratios to those of `x`, for the dimensions in `axes`.
fn extents(node: &Node<'_>, x: &Operand, axes: &[usize]) -> Result<Vec<(i64, f64)>> {
    let input: Vec<_> = axes.iter().map(|&d| x.dims()[d]).collect();
    let (scales, sizes) = (
        numbers(node, 2, "scales", axes.len())?,
        node.known_ints(3, "sizes")?.filter(|sizes| !sizes.is_empty()),
    );
    let policy = word(
        node,
        "keep_aspect_ratio_policy",
        "stretch",
        &[("stretch", None), ("not_larger", Some(false)), ("not_smaller", Some(true))],
    )?;
    match (scales, sizes) {
        (Some(scales), None) if scales.iter().all(|&scale| scale > 0.0) => {
            let wide = |(&dim, &scale): (&i64, &f64)| ((dim as f64 * scale).floor() as i64, scale);
            Ok(input.iter().zip(&scales).map(wide).collect())
        }
        (None, Some(sizes)) if sizes.len() == axes.len() && sizes.iter().all(|&size| size >= 0) => {
            let ratios: Vec<_> =
                sizes.iter().zip(&input).map(|(&size, &dim)| size as f64 / dim as f64).collect();
            let Some(greatest) = policy else {
                return Ok(sizes.into_iter().zip(ratios).collect());
            };
            let better = if greatest { f64::max } else { f64::min };
            let ratio = ratios.into_iter().reduce(better).unwrap_or(1.0);
            Ok(input.iter().map(|&dim| ((ratio * dim as f64 + 0.5) as i64, ratio)).collect())
        }
        _ => Err(node
            .report(format!("says not how far to resize {}", x.ty))
            .help(format!("either {0} scales above 0 or {0} sizes", axes.len()))
            .invalid()),
    }
}

fn mode(node: &Node<'_>) -> Result<Mode> {
    let nearest = word(
        node,
        "nearest_mode",
        "round_prefer_floor",
        &[
            ("round_prefer_floor", Nearest::PreferFloor),
            ("round_prefer_ceil", Nearest::PreferCeil),
            ("floor", Nearest::Floor),
            ("ceil", Nearest::Ceil),
        ],
    )?;
    let cubic = Mode::Cubic(node.float("cubic_coeff_a", -0.75)?);
    let modes = [("nearest", Mode::Nearest(nearest)), ("linear", Mode::Linear), ("cubic", cubic)];
    word(node, "mode", "nearest", &modes)
}

fn coordinates(node: &Node<'_>) -> Result<Coordinates> {
    word(
        node,
        "coordinate_transformation_mode",
        if node.opset < 11 { "asymmetric" } else { "half_pixel" },
        &[
            ("half_pixel", Coordinates::HalfPixel),
            ("half_pixel_symmetric", Coordinates::HalfPixelSymmetric),
            ("pytorch_half_pixel", Coordinates::PytorchHalfPixel),
            ("align_corners", Coordinates::AlignCorners),
            ("asymmetric", Coordinates::Asymmetric),
            ("tf_crop_and_resize", Coordinates::CropAndResize),
        ],
    )
}

fn resize(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "X")?;
    let rank = x.rank();
    let axes = match node.ints("axes")? {
        Some(axes) => node.axes(axes, rank)?,
        None => (0..rank).collect(),
    };
    let (mode, coordinates) = (mode(node)?, coordinates(node)?);
    let antialias = node.flag("antialias", false)?;
    let exclude_outside = node.flag("exclude_outside", false)?;
    let extrapolation = node.float("extrapolation_value", 0.0)?;
    if let Mode::Nearest(_) = mode {
        if antialias {
            return Err(node.report("smooths the nearest").help("mode linear or cubic").invalid());
        }
    } else {
        node.expect_element(x, "X", ElementType::FLOATS)?;
    }
    let crops = coordinates == Coordinates::CropAndResize;
    let roi = if crops { numbers(node, 1, "roi", 2 * axes.len())? } else { None };
    if crops && roi.is_none() {
        return Err(node
            .report("crops without \"roi\"")
            .help(format!("{} numbers, the beginnings and then the ends", 2 * axes.len()))
            .invalid());
    }
    let mut dims = x.dims().to_vec();
    let mut wanted = Vec::new();
    for (at, (output, scale)) in extents(node, x, &axes)?.into_iter().enumerate() {
        let (d, input) = (axes[at], x.dims()[axes[at]]);
        dims[d] = output;
        let roi = roi.as_ref().map_or((0.0, 1.0), |roi| (roi[at], roi[axes.len() + at]));
        let mode = match mode {
            // Before 11 an image that grows took the lower place, and one that shrinks the upper.
            Mode::Nearest(_) if node.opset < 11 && scale < 1.0 => Mode::Nearest(Nearest::Ceil),
            Mode::Nearest(_) if node.opset < 11 => Mode::Nearest(Nearest::Floor),
            mode => mode,
        };
        let axis =
            Axis { mode, coordinates, antialias, exclude_outside, input, output, scale, roi };
        if input == 0 && output > 0 {
            return Err(node.invalid(format!("makes {output} elements of none, along axis {d}")));
        }
        if input == 0 || output == 0 || axis.keeps() {
            continue;
        }
        if axis.width() * output as f64 > TABLE_MAX {
            return Err(node
                .report(format!("resizes axis {d} from {input} to {output}"))
                .help(format!("at most {TABLE_MAX} places to read"))
                .unsupported());
        }
        wanted.push((d, axis));
    }
    let result = node.ty(x.element(), dims)?;
    let mut partial = x.dims().to_vec();
    for (d, axis) in &wanted {
        partial[*d] = axis.output;
        node.ty(computed(x.element()), partial.clone())?;
    }
    // Elements are looked up along the axes that are resized; of others there are as many as before.
    let others = wanted.iter().all(|(d, _)| x.length(*d).is_none());
    let knows = (others && x.has_lengths()).then(|| x.lengths.clone());
    let steps: Vec<_> = wanted.into_iter().map(|(d, axis)| Step::new(d, &axis)).collect();
    let tables: Vec<_> = steps.iter().flat_map(|step| step.tables(x.element())).collect();
    let x = x.clone();
    let plan = Plan::new(vec![x], vec![result.clone()], move |b, args| {
        let (x, mut tables) = (&args[0], &args[1..]);
        if result.dims().contains(&0) {
            return vec![b.empty(result.element(), result.dims())];
        }
        let mut y = x.clone();
        for step in &steps {
            let (mine, rest) = tables.split_at(step.table_count());
            tables = rest;
            y = step.apply(b, &y, mine, extrapolation);
        }
        vec![b.cast(&y, result.element())]
    });
    Ok(plan.with(tables).knowing(knows))
}

/// One axis that is resized.
struct Step {
    axis: usize,
    output: i64,
    repeats: Option<i64>,
    taps: Taps,
}

impl Step {
    fn new(d: usize, axis: &Axis) -> Self {
        let taps = axis.taps();
        let crops = taps.outside.contains(&true);
        let repeats = taps.repeats(axis.input, axis.output).filter(|_| !crops);
        Self { axis: d, output: axis.output, repeats, taps }
    }

    /// Places, then weights where they differ from 1, then what lies outside if anything does.
    fn tables(&self, element: ElementType) -> Vec<Elements> {
        if self.repeats.is_some() {
            return Vec::new();
        }
        let count = self.taps.count as i64;
        let table = |element, dims: Vec<i64>, scalars: Vec<Scalar>| {
            Elements::from_scalars(TensorType::temporary(element, &dims), scalars)
        };
        let places = self.taps.places.iter().map(|&place| Scalar::Int(place.into())).collect();
        let mut tables = vec![table(ElementType::I64, vec![self.output, count], places)];
        if !self.taps.moves() {
            let weights = self.taps.weights.iter().map(|&weight| Scalar::Float(weight)).collect();
            tables.push(table(computed(element), vec![self.output, count], weights));
        }
        if self.taps.outside.contains(&true) {
            let outside = self.taps.outside.iter().map(|&out| Scalar::Int(out.into())).collect();
            tables.push(table(ElementType::Bool, vec![self.output], outside));
        }
        tables
    }

    fn table_count(&self) -> usize {
        match self.repeats {
            Some(_) => 0,
            None => {
                1 + usize::from(!self.taps.moves()) + usize::from(self.taps.outside.contains(&true))
            }
        }
    }

    fn apply<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        x: &Tensor<'c>,
        tables: &[Tensor<'c>],
        extrapolation: f64,
    ) -> Tensor<'c> {
        let d = self.axis;
        let mut dims = x.dims().to_vec();
        dims[d] = self.output;
        if let Some(factor) = self.repeats {
            // The repeated axis becomes two, of which the second is not read.
            let mut wide = x.dims().to_vec();
            wide.insert(d + 1, factor);
            let mut read = identity(wide.len());
            read.remove(d + 1);
            let y = b.move_at(x.element(), &wide, &[(x, read)], |_, x| x[0]);
            return b.reshape(&y, &dims);
        }
        let y = if self.taps.moves() {
            let rank = dims.len();
            let read = vec![Linear::axis(rank, d), Linear::constant(rank, 0)];
            b.move_at(x.element(), &dims, &[(&tables[0], read)], |calc, given| {
                let mut place: Vec<_> = (0..rank).map(|axis| calc.index(axis)).collect();
                place[d] = calc.coordinate(given[0]);
                calc.extract(x, &place)
            })
        } else {
            self.weigh(b, x, &tables[0], &tables[1], &dims)
        };
        if !self.taps.outside.contains(&true) {
            return y;
        }
        let (rank, element) = (dims.len(), y.element());
        let outside = tables.last().expect("there is a table of what lies outside");
        let inputs = [(&y, identity(rank)), (outside, vec![Linear::axis(rank, d)])];
        b.move_at(element, &dims, &inputs, |calc, given| {
            let elsewhere = calc.stored(element, Scalar::Float(extrapolation));
            calc.select(given[1], elsewhere, given[0])
        })
    }

    /// The sums over the taps.
    fn weigh<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        x: &Tensor<'c>,
        places: &Tensor<'c>,
        weights: &Tensor<'c>,
        dims: &[i64],
    ) -> Tensor<'c> {
        let (d, rank) = (self.axis, dims.len());
        let x = b.cast(x, computed(x.element()));
        let start = zeros(b, x.element(), dims);
        let kinds = [vec![Kind::Parallel; rank], vec![Kind::Reduction]].concat();
        let extents = [dims, &[self.taps.count as i64]].concat();
        let table = || vec![Linear::axis(rank + 1, d), Linear::axis(rank + 1, rank)];
        let target: Vec<_> = (0..rank).map(|axis| Linear::axis(rank + 1, axis)).collect();
        let inputs = [(places, table()), (weights, table())];
        let results = b.nest(&kinds, &extents, &inputs, &[(&start, target)], |calc, given| {
            let mut place: Vec<_> = (0..rank).map(|axis| calc.index(axis)).collect();
            place[d] = calc.coordinate(given[0]);
            let element = calc.extract(&x, &place);
            let element = calc.loaded(element);
            let product = calc.mul(element, given[1]);
            vec![calc.add(given[2], product)]
        });
        results.into_iter().next().expect("one output gives one result")
    }
}
