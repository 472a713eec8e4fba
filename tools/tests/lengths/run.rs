//! A model compiled once, run at many lengths, beside what the interpreter makes of it when every
//! length is a number from the beginning.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use weft::{Device, Options, Unit};
use weft_onnx::proto::tensor_proto::DataType;
use weft_passes::interpret::run_model;
use weft_runtime::cpu::Model;
use weft_runtime::length::Symbol;

use super::net::{Dim, Net};

/// A model, and where it lies.
pub struct Subject {
    folder: tempfile::TempDir,
    inputs: Vec<(DataType, Vec<Dim>)>,
    /// Whether it has a loop that nothing bounds, which cannot be written out.
    pub open_loops: bool,
}

/// Lengths by name.
pub type Lengths = BTreeMap<String, u64>;

const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../devices/x86-avx2.mlir");

fn machine() -> Device {
    Device::asked(Some(MACHINE))
}

impl Subject {
    pub fn new(net: Net, outputs: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let inputs = net.inputs.clone();
        std::fs::write(folder.path().join("net.onnx"), net.finish(outputs)).expect("written");
        Self { folder, inputs, open_loops: false }
    }

    /// Where it lies.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("net.onnx")
    }

    /// Compiles it for all lengths that the symbols allow.
    pub fn compile(&self, symbols: &[Symbol], units: usize) -> Result<Model, String> {
        self.compile_with(symbols, units, &[])
    }

    /// The same with outputs that lie in inputs.
    pub fn compile_with(
        &self,
        symbols: &[Symbol],
        units: usize,
        aliases: &[&str],
    ) -> Result<Model, String> {
        let mut options = Options { device: machine(), units, ..Options::default() };
        options.import.dims = symbols.to_vec();
        let aliases = aliases.iter().map(|alias| alias.parse());
        options.import.aliases = aliases.collect::<Result<_, _>>()?;
        self.compile_by(options)
    }

    /// Compiles it for these symbols on so many units, with options of passes: pass, option, value.
    pub fn compile_passing(
        &self,
        symbols: &[Symbol],
        units: usize,
        passes: &[[&str; 3]],
    ) -> Result<Model, String> {
        let mut options = Options { device: machine(), units, ..Options::default() };
        options.import.dims = symbols.to_vec();
        let owned = |[pass, option, value]: &[&str; 3]| {
            ((*pass).to_owned(), (*option).to_owned(), (*value).to_owned())
        };
        options.pass_options = passes.iter().map(owned).collect();
        self.compile_by(options)
    }

    fn compile_by(&self, options: Options) -> Result<Model, String> {
        let context = weft::context();
        let unit = Unit::open(&context, &self.path(), options);
        let mut unit = unit.map_err(|why| why.to_string())?;
        let path = self.folder.path().join("net.weft");
        unit.write_artifact(&path).map_err(|why| why.to_string())?;
        Model::load(&path, None).map_err(|why| why.to_string())
    }

    /// What `weft` says with these arguments, or why it does not.
    pub fn command(&self, arguments: &[&str]) -> Result<String, String> {
        self.output(arguments).map(|[out, _]| out)
    }

    /// The same of what it says on standard error.
    pub fn said(&self, arguments: &[&str]) -> Result<String, String> {
        self.output(arguments).map(|[_, error]| error)
    }

    fn output(&self, arguments: &[&str]) -> Result<[String; 2], String> {
        let output = Command::new(env!("CARGO_BIN_EXE_weft"))
            .current_dir(&self.folder)
            .args(arguments)
            .args(["--device", MACHINE, "--no-cache"])
            .output()
            .expect("it starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.code() {
            Some(0) => Ok([text(&output.stdout), text(&output.stderr)]),
            Some(1) => Err(text(&output.stderr)),
            _ => panic!("{}: {}", output.status, text(&output.stderr)),
        }
    }

    /// What `weft explain` tells of it, with times of a run.
    pub fn explain(&self, symbols: &[Symbol]) -> weft::explain::Report {
        let mut options = Options { device: machine(), ..Options::default() };
        options.import.dims = symbols.to_vec();
        let measure = weft::explain::Measure { inputs: None, threads: None, repeat: 1 };
        weft::explain::explain(&self.path(), &options, Some(&measure)).expect("it is explained")
    }

    /// Shapes of the inputs.
    pub fn shapes(&self, lengths: &Lengths) -> Vec<Vec<u64>> {
        let dim = |dim: &Dim| match dim {
            Dim::Fixed(extent) => *extent as u64,
            Dim::Named(name) => lengths[*name],
        };
        self.inputs.iter().map(|(_, dims)| dims.iter().map(dim).collect()).collect()
    }

    /// Small numbers for every input.
    pub fn data(&self, lengths: &Lengths, seed: u64) -> Vec<Vec<u8>> {
        let shapes = self.shapes(lengths);
        let mut state = seed;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let tensor = |((ty, _), shape): (&(DataType, Vec<Dim>), &Vec<u64>)| {
            let count = shape.iter().product::<u64>();
            let bytes = (0..count).flat_map(|_| match ty {
                DataType::Int64 => i64::from(next() % 5).to_le_bytes().to_vec(),
                _ => ((next() % 2001) as f32 / 1000.0 - 1.0).to_le_bytes().to_vec(),
            });
            bytes.collect()
        };
        self.inputs.iter().zip(&shapes).map(tensor).collect()
    }

    /// What the interpreter makes of it, with loops written out where they can be.
    pub fn expected(&self, lengths: &Lengths, data: &[Vec<u8>]) -> Vec<Vec<u8>> {
        self.expected_or_refused(lengths, data).expect("it is a model")
    }

    /// The same, or why the model with these numbers is refused: of one row, or of none, data decide no length.
    pub fn expected_or_refused(
        &self,
        lengths: &Lengths,
        data: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, String> {
        let context = weft::context();
        let mut options = Options::default();
        options.import.unroll = !self.open_loops;
        let symbols = lengths.iter().map(|(name, value)| (name.clone(), *value as i64));
        options.import.symbols = symbols.collect();
        let repeated = {
            let mut options = options.clone();
            options.import.unroll = false;
            options
        };
        // A loop over rows that data keep is not written out.
        let unit = Unit::open(&context, &self.path(), options)
            .or_else(|_| Unit::open(&context, &self.path(), repeated))
            .map_err(|why| why.to_string())?;
        let files = unit.files().clone();
        let ops = unit.module().body(0).expect("a body").ops();
        let model = ops.into_iter().find(|op| op.is("graph.model")).expect("a model");
        let weights = &mut |file: &str, tensor: &str| {
            let elements = files[file].tensor(tensor).expect("it is in the file");
            Ok(Cow::Owned(elements.bytes().to_vec()))
        };
        Ok(run_model(model, data, weights, &mut |_, _| {}).expect("it has a meaning"))
    }
}

/// Runs a model; gives its outputs.
pub fn run(
    model: &mut Model,
    shapes: &[Vec<u64>],
    data: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, String> {
    let shapes: Vec<&[u64]> = shapes.iter().map(Vec::as_slice).collect();
    let binding = model.plan().bind_shapes(&shapes).map_err(|why| why.to_string())?;
    let sizes = model.plan().outputs.iter().zip(&binding.outputs);
    let mut outputs: Vec<Vec<u8>> = sizes
        .map(|(port, shape)| vec![0; shape.iter().product::<u64>() as usize * port.dtype.bytes()])
        .collect();
    model.bind(binding);
    let inputs: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
    let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    model.run(&inputs, &mut places).map_err(|why| why.to_string())?;
    // What data decide is shorter than the memory for it.
    let shapes = model.output_shapes().expect("a run has shapes");
    for ((output, shape), port) in outputs.iter_mut().zip(shapes).zip(&model.plan().outputs) {
        output.truncate(shape.iter().product::<u64>() as usize * port.dtype.bytes());
    }
    Ok(outputs)
}

/// Fails unless floats are close to each other.
pub fn assert_close(found: &[Vec<u8>], expected: &[Vec<u8>], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len(), "{what}: bytes of output {number}");
        let floats = |bytes: &[u8]| -> Vec<f32> {
            let words = bytes.chunks_exact(4);
            words.map(|word| f32::from_le_bytes(word.try_into().expect("four"))).collect()
        };
        for (place, (x, y)) in floats(found).into_iter().zip(floats(expected)).enumerate() {
            let close =
                x == y || (x - y).abs() <= 1e-4 + 1e-3 * y.abs() || (x.is_nan() && y.is_nan());
            assert!(close, "{what}: output {number} has {x} at {place}, not {y}");
        }
    }
}
