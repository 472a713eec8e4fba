//! Spectra of signals, as products with tables of waves; windows and filters for them.

use std::f64::consts::PI;

use weft_dialects::ir::Linear;

use super::linear::{accumulate, zeros};
use super::{Operator, op};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("BlackmanWindow", 17, 1, WINDOW, |node| window(node, [0.42, 0.5, 0.08])),
    op("DFT", 20, 3, &["inverse", "onesided"], |node| {
        let axis = match node.optional(2) {
            None => -2,
            Some(_) => node.known(2, "axis")?.single().map_or(-2, |axis| axis.as_int() as i64),
        };
        dft(node, axis)
    })
    .at_least(1),
    op("HammingWindow", 17, 1, WINDOW, |node| window(node, [25.0 / 46.0, 21.0 / 46.0, 0.0])),
    op("HannWindow", 17, 1, WINDOW, |node| window(node, [0.5, 0.5, 0.0])),
    op("MelWeightMatrix", 17, 5, &["output_datatype"], mel_weights),
    op("STFT", 17, 4, &["onesided"], stft).at_least(2),
];

const WINDOW: &[&str] = &["output_datatype", "periodic"];
const SIGNALS: &[ElementType] =
    &[ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64];

/// The element type that an attribute names.
fn output_type(node: &Node<'_>) -> Result<ElementType> {
    let code = node.int("output_datatype")?.unwrap_or(1);
    let element = ElementType::from_onnx(i32::try_from(code).unwrap_or(-1), &node.result_name())?;
    if !ElementType::NUMBERS.contains(&element) {
        return Err(node.report(format!("makes {element}")).help("a number").invalid());
    }
    Ok(element)
}

/// A number that must be known before anything runs.
fn known_number(node: &Node<'_>, at: usize, name: &str) -> Result<Scalar> {
    let single = node.known(at, name)?.single();
    single.ok_or_else(|| node.report(format!("reads {name:?}")).help("one number").invalid())
}

/// A sum of two waves: `a - b · cos(2πn / N) + c · cos(4πn / N)`.
fn window(node: &Node<'_>, [a, b, c]: [f64; 3]) -> Result<Plan> {
    let element = output_type(node)?;
    let size = known_number(node, 0, "size")?.as_int();
    let size = i64::try_from(size).unwrap_or(-1);
    let result = node.ty(element, vec![size])?;
    let period = if node.flag("periodic", true)? { size } else { size - 1 };
    let step = 2.0 * PI / period.max(1) as f64;
    Ok(Plan::new(vec![], vec![result], move |build, _| {
        vec![build.map_at(element, &[size], &[], |calc, _| {
            let number = if element == ElementType::F64 { element } else { ElementType::F32 };
            let at = calc.index(0);
            let at = calc.counted(at, number);
            let turned = calc.like(at, step);
            let angle = calc.mul(at, turned);
            let wave = calc.math("cos", angle);
            // The second wave is twice the square of the first, less one.
            let square = calc.mul(wave, wave);
            let [first, linear, quadratic] = [a - c, -b, 2.0 * c].map(|x| calc.like(at, x));
            let (linear, quadratic) = (calc.mul(linear, wave), calc.mul(quadratic, square));
            let sum = calc.add(first, linear);
            let sum = calc.add(sum, quadratic);
            calc.cast(sum, computed(element))
        })]
    }))
}

/// Triangles that are evenly apart on the mel scale, over the bins of a spectrum.
fn mel_weights(node: &Node<'_>) -> Result<Plan> {
    let element = output_type(node)?;
    let [filters, length, rate, low, high] = [
        (0, "num_mel_bins"),
        (1, "dft_length"),
        (2, "sample_rate"),
        (3, "lower_edge_hertz"),
        (4, "upper_edge_hertz"),
    ]
    .map(|(at, name)| known_number(node, at, name).map(Scalar::as_f64));
    let (filters, length, rate, low, high) = (filters?, length?, rate?, low?, high?);
    // Calculated here, so that it must be no larger than a table may be.
    let small = filters * length <= f64::from(1 << 24);
    let fits = filters >= 1.0 && length >= 1.0 && rate >= 1.0 && low >= 0.0 && high > low;
    if !fits || !small {
        return Err(node
            .report(format!("makes {filters} filters over {length} samples from {low} to {high}"))
            .help("a filter and a sample, 16,777,216 at most of both, and an upper edge above the lower")
            .invalid());
    }
    let (rows, columns) = (length as usize / 2 + 1, filters as usize);
    let result = node.ty(element, vec![rows as i64, columns as i64])?;
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let step = (mel(high) - mel(low)) / (filters + 2.0);
    let bin = |at: usize| {
        let hertz = 700.0 * (10f64.powf((at as f64 * step + mel(low)) / 2595.0) - 1.0);
        ((length + 1.0) * hertz / rate).floor() as usize
    };
    let mut weights = vec![0.0; rows * columns];
    for filter in 0..columns {
        let [lower, center, upper] = [0, 1, 2].map(|edge| bin(filter + edge));
        if upper > rows {
            return Err(node
                .report(format!("has a filter up to bin {upper}"))
                .help(format!("an upper edge within the spectrum of {rows} bins"))
                .invalid());
        }
        for row in lower..=center.min(rows - 1) {
            let rise = (center - lower).max(1) as f64;
            let flat = center == lower;
            weights[row * columns + filter] = if flat { 1.0 } else { (row - lower) as f64 / rise };
        }
        for row in center..upper {
            let fall = (upper - row) as f64 / (upper - center) as f64;
            weights[row * columns + filter] = fall;
        }
    }
    let table = Elements::from_scalars(result.clone(), weights.into_iter().map(Scalar::Float));
    let folded = table.clone();
    let plan = Plan::new(vec![], vec![result], |_, args| vec![args[0].clone()]).with(vec![table]);
    Ok(plan.folds(move |_| vec![folded.clone()]))
}

/// `cos` and `± sin` of `2π · row · column / length`.
struct Waves<'c> {
    cos: Tensor<'c>,
    sin: Tensor<'c>,
    minus_sin: Tensor<'c>,
}

/// What a transform is.
#[derive(Clone, Copy)]
struct Transform {
    /// The number of samples, or of bins, that is transformed.
    length: i64,
    inverse: bool,
    /// The spectrum has the first half of its bins; the others mirror them.
    half: bool,
}

impl Transform {
    fn waves<'c>(
        self,
        b: &mut Build<'_, 'c>,
        element: ElementType,
        [rows, columns]: [i64; 2],
    ) -> Waves<'c> {
        let length = self.length;
        let mut of = |name: &'static str, sign: f64| {
            b.map_at(element, &[rows, columns], &[], |calc, _| {
                let (row, column, all) = (calc.index(0), calc.index(1), calc.at(length));
                let product = calc.mul(row, column);
                // Within one turn, where angles are exact enough.
                let rest = calc.rem(product, all);
                let rest = calc.counted(rest, element);
                let turn = calc.like(rest, 2.0 * PI / length as f64);
                let angle = calc.mul(rest, turn);
                let wave = calc.math(name, angle);
                let scale = if self.inverse { sign / length as f64 } else { sign };
                let mut scale = calc.like(rest, scale);
                if self.inverse && self.half {
                    // Each bin but the first and the middle one stands for two.
                    let (zero, two) = (calc.at(0), calc.at(2));
                    let twice = calc.mul(row, two);
                    let (first, middle) = (calc.eq(row, zero), calc.eq(twice, all));
                    let alone = calc.or(first, middle);
                    let double = calc.add(scale, scale);
                    scale = calc.select(alone, scale, double);
                }
                calc.mul(wave, scale)
            })
        };
        let sign = if self.inverse { 1.0 } else { -1.0 };
        Waves { cos: of("cos", 1.0), sin: of("sin", sign), minus_sin: of("sin", -sign) }
    }
}

/// A signal and how a nest reads it, at the real and, where it has them, at the imaginary parts.
struct Signal<'t, 'c> {
    x: &'t Tensor<'c>,
    real: Vec<Linear>,
    imaginary: Option<Vec<Linear>>,
    /// The axis of the result along which the waves lie.
    axis: usize,
}

/// Returns the real and the imaginary parts of a spectrum of these extents; the last axis of the
/// nest runs over the samples.
fn spectrum<'c>(
    b: &mut Build<'_, 'c>,
    dims: &[i64],
    signal: &Signal<'_, 'c>,
    waves: &Waves<'c>,
    complex: bool,
) -> Vec<Tensor<'c>> {
    let (axes, depth) = (dims.len() + 1, waves.cos.dims()[0]);
    let read = vec![Linear::axis(axes, dims.len()), Linear::axis(axes, signal.axis)];
    let mut sum = |first: &Tensor<'c>, second: &Tensor<'c>| {
        let x = signal.x;
        let start = zeros(b, x.element(), dims);
        let own = (x, signal.real.clone());
        let mut sum = accumulate(b, &start, &[depth], own, (first, read.clone()));
        if let Some(imaginary) = &signal.imaginary {
            let own = (x, imaginary.clone());
            sum = accumulate(b, &sum, &[depth], own, (second, read.clone()));
        }
        sum
    };
    let mut parts = vec![sum(&waves.cos, &waves.minus_sin)];
    if complex {
        parts.push(sum(&waves.sin, &waves.cos));
    }
    parts
}

/// Parts beside each other in a last dimension.
fn beside<'c>(b: &mut Build<'_, 'c>, parts: &[Tensor<'c>], element: ElementType) -> Tensor<'c> {
    let lead = parts[0].dims().to_vec();
    let mut all = b.empty(element, &[&lead[..], &[parts.len() as i64]].concat());
    for (at, part) in parts.iter().enumerate() {
        let part = b.cast(part, element);
        let part = b.reshape(&part, &[&lead[..], &[1]].concat());
        let mut offsets = vec![0; lead.len()];
        offsets.push(at as i64);
        all = b.insert(&part, &all, &offsets, &vec![1; lead.len() + 1]);
    }
    all
}

/// Fails unless the last dimension has real parts, or real and imaginary ones.
fn expect_parts(node: &Node<'_>, x: &Operand, least: usize) -> Result<()> {
    if x.rank() >= least && matches!(x.dims()[x.rank() - 1], 1 | 2) && !x.dims().contains(&0) {
        return Ok(());
    }
    Err(node
        .report(format!("transforms {}", x.ty))
        .help(format!(
            "{least} dimensions, the last one of 1 real part, or of 2 with the imaginary"
        ))
        .invalid())
}

/// Plans a discrete Fourier transform along an axis.
pub fn dft(node: &Node<'_>, axis: i64) -> Result<Plan> {
    let x = node.typed(0, "input", SIGNALS)?;
    expect_parts(node, x, 2)?;
    let rank = x.rank();
    let axis = node.axis(axis, rank)?;
    if axis == rank - 1 {
        return Err(node
            .report("transforms along the parts of numbers")
            .help("another axis")
            .invalid());
    }
    let (inverse, half) = (node.flag("inverse", false)?, node.flag("onesided", false)?);
    let own = x.dims()[axis];
    let length = match node.optional(1) {
        Some(_) => known_number(node, 1, "dft_length")?.as_int(),
        None if inverse && half => 2 * (i128::from(own) - 1),
        None => own.into(),
    };
    let length = i64::try_from(length).unwrap_or(-1);
    let wrong = length < 1 || (half && !inverse && x.dims()[rank - 1] != 1);
    if wrong {
        return Err(node
            .report(format!("transforms {length} samples of {}", x.ty))
            .help("a sample, and real numbers where half of a spectrum is asked for")
            .invalid());
    }
    let transform = Transform { length, inverse, half };
    // What is read of the axis, and what is made of it.
    let bins = length / 2 + 1;
    let read = own.min(if inverse && half { bins } else { length });
    let made = if half && !inverse { bins } else { length };
    let mut dims = x.dims()[..rank - 1].to_vec();
    dims[axis] = made;
    let parts = if inverse && half { 1 } else { 2 };
    let element = x.element();
    let result = node.ty(element, [&dims[..], &[parts]].concat())?;
    node.ty(computed(element), vec![read, made])?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let mut sizes = args[0].dims().to_vec();
        sizes[axis] = read;
        let x = b.slice(&args[0], &vec![0; rank], &sizes, &vec![1; rank]);
        let waves = transform.waves(b, computed(element), [read, made]);
        let at = |part: i64| {
            let mut access: Vec<_> = (0..rank - 1).map(|d| Linear::axis(rank, d)).collect();
            access[axis] = Linear::axis(rank, rank - 1);
            access.push(Linear::constant(rank, part));
            access
        };
        let imaginary = (sizes[rank - 1] == 2).then(|| at(1));
        let signal = Signal { x: &x, real: at(0), imaginary, axis };
        let parts = spectrum(b, &dims, &signal, &waves, parts == 2);
        vec![beside(b, &parts, element)]
    }))
}

/// Spectra of frames that slide over a signal, each sample times the window's.
fn stft(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "signal", SIGNALS)?;
    expect_parts(node, x, 3)?;
    let step = known_number(node, 1, "frame_step")?.as_int();
    let window = node.optional(2);
    let length = match (node.optional(3), window) {
        (Some(_), _) => known_number(node, 3, "frame_length")?.as_int(),
        (None, Some(window)) => window.ty.elements() as i128,
        (None, None) => {
            let report = node.report("has neither a window nor a frame_length");
            return Err(report.help("one of them").invalid());
        }
    };
    let samples = x.dims()[1];
    let half = node.flag("onesided", true)?;
    let (step, length) = (i64::try_from(step).unwrap_or(0), i64::try_from(length).unwrap_or(0));
    let fits = x.rank() == 3 && step >= 1 && (1..=samples).contains(&length);
    if !fits || window.is_some_and(|window| window.dims() != [length]) || (half && x.dims()[2] == 2)
    {
        return Err(node
            .report(format!("slides frames of {length} over {} in steps of {step}", x.ty))
            .help("batch, samples and parts; frames that fit, a window as long, and real numbers for half of a spectrum")
            .invalid());
    }
    let transform = Transform { length, inverse: false, half };
    let bins = if half { length / 2 + 1 } else { length };
    let frames = (samples - length) / step + 1;
    let element = x.element();
    let dims = [x.dims()[0], frames, bins];
    let result = node.ty(element, [&dims[..], &[2]].concat())?;
    node.ty(computed(element), vec![length, bins])?;
    let mut operands = vec![x.clone()];
    if let Some(window) = window {
        node.expect_same_element(x, window)?;
        operands.push(window.clone());
    }
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let mut waves = transform.waves(b, computed(element), [length, bins]);
        if let Some(window) = args.get(1) {
            for table in [&mut waves.cos, &mut waves.sin, &mut waves.minus_sin] {
                let along = (window, vec![Linear::axis(2, 0)]);
                let inputs = [(&*table, crate::payload::identity(2)), along];
                let weighed = b.map_at(table.element(), &[length, bins], &inputs, |calc, x| {
                    calc.mul(x[0], x[1])
                });
                *table = weighed;
            }
        }
        let at = |part: i64| {
            let sample = Linear::constant(4, 0).plus(1, step).plus(3, 1);
            vec![Linear::axis(4, 0), sample, Linear::constant(4, part)]
        };
        let imaginary = (args[0].dims()[2] == 2).then(|| at(1));
        let signal = Signal { x: &args[0], real: at(0), imaginary, axis: 2 };
        let parts = spectrum(b, &dims, &signal, &waves, true);
        vec![beside(b, &parts, element)]
    }))
}
