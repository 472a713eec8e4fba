//! Runs a program both ways and compares.

use half::{bf16, f16};
use melior::pass::PassManager;
use weft::{Device, Options, Unit};
use weft_dialects::ir::{self, Context, Module, module_op};
use weft_passes::interpret::{Compiled, run_model};
use weft_runtime::compare::{Tolerance, compare};
use weft_runtime::cpu::check_features;
use weft_runtime::plan::Port;
use weft_runtime::{DType, Model, Tensor};

use crate::random::Random;

/// What became of a program.
pub enum Outcome {
    /// Both ways gave the same.
    Right,
    /// It was refused, for this reason.
    Refused(String),
}

/// A shipped machine that runs here, the same on every processor that has it.
fn device() -> Device {
    let wide = ["avx2", "fma", "f16c", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl"];
    let wide = wide.map(str::to_owned);
    let name = if check_features(&wide).is_ok() { "x86-avx512" } else { "x86-avx2" };
    Device::Named(name.to_owned())
}

/// The program must be compiled, and right.
pub fn holds(context: &Context, program: &str, what: &str) {
    note(what);
    match outcome(context, program, what) {
        Outcome::Right => {}
        Outcome::Refused(why) => panic!("{what} is refused: {why}\n{}", program),
    }
}

/// The program must be right, or refused with a reason that holds one of `words`.
pub fn holds_or_refused(context: &Context, program: &str, what: &str, words: &[&str]) {
    note(what);
    if let Outcome::Refused(why) = outcome(context, program, what) {
        let named = words.iter().any(|word| why.contains(word));
        assert!(named, "{what} is refused without {words:?}: {why}\n{}", program);
    }
}

/// Leaves behind what is being tried, for a crash says nothing.
fn note(what: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("main").replace("::", "-");
    let file = format!("{}/linalg-{name}", env!("CARGO_TARGET_TMPDIR"));
    // Only a help for people: the test itself needs no file.
    let _ = std::fs::write(file, what);
}

/// Compiles, runs and compares.
fn outcome(context: &Context, program: &str, what: &str) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.weft");
    let options = Options { device: device(), jobs: 1, units: 1, ..Options::default() };
    let compiled =
        Unit::from_text(context, program, options).and_then(|mut unit| unit.write_artifact(&path));
    if let Err(failure) = compiled {
        let why = failure.to_string();
        assert!(!why.contains("internal error"), "{what}: {why}\n{}", program);
        return Outcome::Refused(why);
    }
    let mut model = Model::load(&path, Some(1)).expect("the artifact is sound");
    let ports = model.plan().inputs.iter().zip(1..);
    let inputs: Vec<Vec<u8>> = ports.map(|(port, number)| small(port, number)).collect();
    let given: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let mut places = model.output_buffers();
    let mut refs: Vec<&mut [u8]> = places.iter_mut().map(Vec::as_mut_slice).collect();
    model.run(&given, &mut refs).expect("the code runs");
    let expected = interpreted(context, program, &given);
    for ((port, got), expected) in model.plan().outputs.iter().zip(places).zip(expected) {
        let got = Tensor::of_port(port, got);
        let expected = Tensor::of_port(port, expected);
        let exact = Tolerance { rtol: 0.0, atol: 0.0 };
        if let Err(difference) = compare(&port.name, &got, &expected, exact) {
            panic!("{what}: {difference}\n{}", program);
        }
    }
    Outcome::Right
}

/// A tensor of whole numbers from -3 to 3, or of truths.
fn small(port: &Port, number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let mut bytes = Vec::new();
    for _ in 0..port.elements().expect("a static shape") {
        let value = random.below(7) as i64 - 3;
        match port.dtype {
            DType::Bool => bytes.push((value > 0).into()),
            DType::F16 => bytes.extend(f16::from_f64(value as f64).to_le_bytes()),
            DType::BF16 => bytes.extend(bf16::from_f64(value as f64).to_le_bytes()),
            DType::F32 => bytes.extend((value as f32).to_le_bytes()),
            DType::F64 => bytes.extend((value as f64).to_le_bytes()),
            integer => bytes.extend(&value.to_le_bytes()[..integer.bytes()]),
        }
    }
    bytes
}

/// What the interpreter makes of the text as it was written; where it does not know all of that,
/// of the model that it became.
fn interpreted(context: &Context, text: &str, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let written = as_written(context, text).and_then(|module| {
        let functions = module_op(&module).body(0).expect("a body").ops();
        let function = functions.into_iter().find(|op| op.is("func.func"))?;
        Compiled::of(function).ok()
    });
    if let Some(compiled) = written {
        return compiled.run(inputs).expect("the program has a meaning");
    }
    let unit = Unit::from_text(context, text, Options::default()).expect("it was compiled");
    let models = unit.module().body(0).expect("a body").ops();
    let model = models.into_iter().find(|op| op.is("graph.model")).expect("a model");
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|bytes| bytes.to_vec()).collect();
    run_model(model, &inputs, &mut |_, _| unreachable!("it has no weights"), &mut |_, _| {})
        .expect("the model has a meaning")
}

/// The module, with named operations of `linalg` in their general form.
fn as_written<'c>(context: &'c Context, text: &str) -> Option<Module<'c>> {
    let mut module: Module<'_> = ir::parse(context, text).ok()?;
    let manager = PassManager::new(context);
    manager
        .nested_under("func.func")
        .add_pass(melior::pass::linalg::create_linalg_generalize_named_ops_pass());
    manager.run(&mut module).ok().map(|()| module)
}
