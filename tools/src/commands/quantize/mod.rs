//! `weft quantize`: a model in f32 with its products of bytes, by what its tensors hold on sample inputs.

mod observe;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use weft_onnx::quantize::{Extremes, Histogram, Layers, Original, Quantized, Ranges, Scale};
use weft_runtime::WholeFile;

use super::CompileArgs;
use crate::{Failure, Options};
use observe::Runner;

/// Writes a model in f32 with products of bytes.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The model: `.onnx`, with weights in f32.
    pub model: PathBuf,
    /// Sample inputs by tensor name, a file each.
    #[arg(long, value_name = "NPZ", required = true, num_args = 1..)]
    pub calibrate: Vec<PathBuf>,
    /// File for the quantised model.
    #[arg(short, long, value_name = "ONNX")]
    pub output: PathBuf,
    /// How the range of a tensor is chosen.
    #[arg(long, value_enum, default_value_t)]
    pub range: Range,
    /// With `--range percentile`, so many percent of a tensor's numbers are in its range.
    #[arg(long, value_name = "PERCENT", default_value_t = 99.99)]
    pub percentile: f64,
    /// A product that stays in f32, by its name in the model.
    #[arg(long, value_name = "NAME")]
    pub keep: Vec<String>,
    /// Options of the compilation.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// How the range of a tensor is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Range {
    /// With the least sum of squared errors, for each tensor and each channel of weights.
    #[default]
    Error,
    /// So that most numbers are in it, as many left out at each end; weights as with `extremes`.
    Percentile,
    /// From the least number to the greatest.
    Extremes,
}

/// Does it.
///
/// # Errors
/// A model that has nothing to quantise, or does not compile or run; inputs that do not fit it;
/// numbers on them that are not finite; a file that cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let ranges = ranges(args)?;
    refuse_to_overwrite(args)?;
    let original = Original::open(&args.model)?;
    let layers = original.layers(&args.keep)?;
    if layers.quantized.is_empty() {
        let left = layers.left.iter().map(|(name, reason)| format!("{name:?}: {reason}"));
        let left = left.collect::<Vec<_>>().join("; ");
        let left = if left.is_empty() { "it has none" } else { &left };
        return Err(Failure::said(
            format!("no product of {} can be quantised: {left}", args.model.display()),
            "a model with MatMul, Gemm or Conv of constant weights in f32",
        ));
    }
    let options = args.compile.options_for(args.calibrate.first().map(PathBuf::as_path))?;
    let shown = shown(&original, &layers);
    let mut floats = Runner::new(original.showing(&shown)?, &options)?;
    let scales = scales(&original, &layers, &mut floats, (&args.calibrate, ranges))?;
    let mut quantized = original.quantized(&layers.quantized, &scales, ranges)?;
    let errors = errors(&quantized, &mut floats, (&shown, &options), &args.calibrate)?;
    for layer in &layers.quantized {
        quantized.note_error(&layer.name, errors[&layer.output]);
    }
    write(quantized, &args.output)?;
    report(&original, &layers, &scales, &errors);
    Ok(())
}

fn ranges(args: &Args) -> Result<Ranges, Failure> {
    match args.range {
        Range::Error => Ok(Ranges::Error),
        Range::Extremes => Ok(Ranges::Extremes),
        Range::Percentile if args.percentile > 0.0 && args.percentile <= 100.0 => {
            Ok(Ranges::Percentile(args.percentile))
        }
        Range::Percentile => Err(Failure::said(
            format!("{} is no percentile", args.percentile),
            "a number above 0, at most 100",
        )),
    }
}

/// The weights of the model are read while the new one is written.
fn refuse_to_overwrite(args: &Args) -> Result<(), Failure> {
    let same = args.output.canonicalize().ok().zip(args.model.canonicalize().ok());
    match same {
        Some((output, model)) if output == model => Err(Failure::said(
            format!("{} would be written over itself", args.model.display()),
            "another file behind -o",
        )),
        _ => Ok(()),
    }
}

/// What runs show: what layers read and make, and the outputs; no inputs, which are known.
fn shown(original: &Original, layers: &Layers) -> Vec<String> {
    let layers = layers.quantized.iter();
    let both = layers.flat_map(|layer| [layer.input.as_str(), layer.output.as_str()]);
    let mut seen = BTreeSet::new();
    let all = both.chain(original.outputs());
    let all = all.filter(|name| !original.is_input(name) && seen.insert(name.to_owned()));
    all.map(str::to_owned).collect()
}

/// The scale of each tensor that a layer reads.
fn scales(
    original: &Original,
    layers: &Layers,
    floats: &mut Runner,
    (samples, ranges): (&[PathBuf], Ranges),
) -> Result<BTreeMap<String, Scale>, Failure> {
    let read: BTreeSet<&str> = layers.quantized.iter().map(|layer| layer.input.as_str()).collect();
    let mut extremes: BTreeMap<&str, Extremes> = BTreeMap::new();
    for path in samples {
        let run = floats.run(path)?;
        for &name in &read {
            let finite = extremes.entry(name).or_default().add(run.numbers(name));
            if !finite {
                let what = if original.is_input(name) { "the input" } else { "the tensor" };
                return Err(Failure::said(
                    format!("{what} {name:?} holds no finite numbers with {}", path.display()),
                    "inputs on which the model makes numbers",
                ));
            }
        }
    }
    let empty = extremes.into_iter().map(|(name, extremes)| (name, Histogram::new(extremes)));
    let mut histograms: BTreeMap<&str, Histogram> = empty.collect();
    for path in samples {
        let run = floats.run(path)?;
        for (name, histogram) in &mut histograms {
            histogram.add(run.numbers(name));
        }
    }
    let scaled = histograms.into_iter();
    Ok(scaled.map(|(name, own)| (name.to_owned(), own.scale(ranges))).collect())
}

/// How far each tensor is from what it was in f32: the L2 norm of the difference by that of the
/// tensor, over all samples.
fn errors(
    quantized: &Quantized,
    floats: &mut Runner,
    (shown, options): (&[String], &Options),
    samples: &[PathBuf],
) -> Result<BTreeMap<String, f64>, Failure> {
    let mut bytes = Runner::new(quantized.showing(shown)?, options)?;
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for path in samples {
        let (before, after) = (floats.run(path)?, bytes.run(path)?);
        for name in shown {
            let (off, all) = sums.entry(name).or_default();
            for (was, is) in before.numbers(name).zip(after.numbers(name)) {
                *off += (is - was).powi(2);
                *all += was.powi(2);
            }
        }
    }
    let relative = |(off, all): (f64, f64)| if off == 0.0 { 0.0 } else { (off / all).sqrt() };
    Ok(sums.into_iter().map(|(name, sums)| (name.to_owned(), relative(sums))).collect())
}

fn write(quantized: Quantized, path: &Path) -> Result<(), Failure> {
    let written = quantized.written(path)?;
    if let Some((name, bytes)) = &written.beside {
        write_file(&path.with_file_name(name), bytes)?;
    }
    write_file(path, &written.model)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = WholeFile::create(path).and_then(|mut file| {
        std::io::Write::write_all(&mut file, bytes)?;
        file.commit()
    });
    let failed = |source| Failure::File { doing: "write", path: path.to_owned(), source };
    written.map_err(failed)
}

/// Says what each layer reads now, and how far it is from what it was.
fn report(
    original: &Original,
    layers: &Layers,
    scales: &BTreeMap<String, Scale>,
    errors: &BTreeMap<String, f64>,
) {
    let all = layers.quantized.len() + layers.left.len();
    println!("{} of {all} products take bytes", layers.quantized.len());
    let names = layers.quantized.iter().map(|layer| layer.name.chars().count());
    let width = names.max().unwrap_or(0);
    for layer in &layers.quantized {
        let Scale { scale, zero } = scales[&layer.input];
        let [low, high] = [0, 255].map(|code: i16| f32::from(code - i16::from(zero)) * scale);
        println!(
            "  {:width$}  {:6}  reads {low:.4} to {high:.4}, is off by {:.3} %",
            layer.name,
            layer.kind,
            100.0 * errors[&layer.output]
        );
    }
    for (name, reason) in &layers.left {
        println!("left in f32: {name}: {reason}");
    }
    for output in original.outputs() {
        if let Some(error) = errors.get(output) {
            println!("{output}: off by {:.3} %", 100.0 * error);
        }
    }
}
