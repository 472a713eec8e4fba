//! Compiled kernels against the interpreter, odd shapes first.
//!
//! Every case is a model of one operator, written as text, compiled for a machine,
//! run, and compared with what the interpreter makes of the same payload. Sums and
//! products are taken of small multiples of a quarter: no order of adding and no fused
//! multiply-add rounds them, so the answers have to be equal to the bit. Where elementary
//! functions are, [`close`] says what is allowed.
//!
//! `WEFT_RANDOM_KERNELS=1000` makes the random set that large; `WEFT_SEED` makes
//! it another one.

mod blocks;
mod convolutions;
mod elementwise;
mod movement;
mod narrow;
mod pools;
mod products;
mod random;
mod reductions;
mod text;
mod tiles;
mod weights;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use weft::{Device, Options, Unit};
use weft_dialects::graph::Model as Graph;
use weft_passes::interpret::run_model;
use weft_passes::pipeline::Stage;
use weft_runtime::compare::{Tolerance, compare};
use weft_runtime::cpu::check_features;
use weft_runtime::{DType, Model, Tensor};

use text::*;

const EXACT: Tolerance = Tolerance { rtol: 0.0, atol: 0.0 };

/// For chains with elementary functions (4 ulp each) and a sum of `length` numbers of about 1.
fn close(length: usize) -> Tolerance {
    Tolerance { rtol: 1e-5, atol: 1e-6 * length as f64 }
}

fn run(case: &Case, device: &Device) -> Result<(), String> {
    run_with(case, Options { device: device.clone(), ..Options::default() })
}

fn run_with(case: &Case, options: Options) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let context = weft::context();
    let options = Options { jobs: 1, ..options };
    let mut unit = Unit::from_text(&context, &case.text, options).map_err(|error| said(&error))?;
    let mut random = Random(case.text.len() as u64);
    let inputs: Vec<Vec<u8>> =
        case.inputs.iter().map(|(value, data)| bytes(value, *data, &mut random)).collect();
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let graph = ops.into_iter().find_map(Graph::of).ok_or("the text holds a model")?;
    let mut weights = |_: &str, _: &str| Err("there are no weights".into());
    let expected =
        run_model(graph.op, &inputs, &mut weights, &mut |_, _| {}).map_err(|error| said(&error))?;

    let folder = tempfile::tempdir().map_err(|error| said(&error))?;
    let path = folder.path().join("case.weft");
    unit.write_artifact(&path).map_err(|error| said(&error))?;
    let mut model = Model::load(&path, None).map_err(|error| said(&error))?;
    let mut places = model.output_buffers();
    // What a kernel leaves alone must not pass for zero.
    places.iter_mut().for_each(|place| place.fill(0xa5));
    let given: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let mut refs: Vec<&mut [u8]> = places.iter_mut().map(Vec::as_mut_slice).collect();
    // Twice: the second run finds what the first one left in the buffers.
    for _ in 0..2 {
        model.run(&given, &mut refs).map_err(|error| said(&error))?;
    }
    for ((port, got), expected) in model.plan().outputs.iter().zip(places).zip(expected) {
        let (got, expected) = (Tensor::of_port(port, got), Tensor::of_port(port, expected));
        compare(&port.name, &got, &expected, case.tolerance).map_err(|error| said(&error))?;
    }
    Ok(())
}

/// The processors with files of their own that this one can be.
fn processors() -> Vec<Device> {
    const AVX2: [&str; 4] = ["avx2", "fma", "f16c", "bmi2"];
    const AVX512: [&str; 4] = ["avx512f", "avx512bw", "avx512dq", "avx512vl"];
    let all = [("x86-avx2", AVX2.to_vec()), ("x86-avx512", [AVX2, AVX512].concat())];
    let can_be = |(_, features): &(&str, Vec<&str>)| {
        check_features(&features.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).is_ok()
    };
    all.into_iter().filter(can_be).map(|(name, _)| Device::Named(name.to_owned())).collect()
}

/// Runs all cases, on the host's own machine file and on the other one that it can be.
fn check(cases: &[Case]) {
    let avx2 = ["avx2", "fma", "f16c", "bmi2"].map(str::to_owned);
    let mut devices = vec![Device::Host];
    if check_features(&avx2).is_ok() {
        devices.push(Device::Named("x86-avx2".to_owned()));
    }
    check_on(cases, &devices);
}

/// Runs all cases, each on one of the machines.
fn check_on(cases: &[Case], devices: &[Device]) {
    let mut failures = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        // Every second case on the narrower machine, for the time that it takes.
        let device = &devices[number % devices.len()];
        let result = catch_unwind(AssertUnwindSafe(|| run(case, device)));
        match result {
            Ok(Ok(())) => {}
            Ok(Err(error)) => failures.push((case, device, error)),
            Err(_) => failures.push((case, device, "panicked".to_owned())),
        }
    }
    if let Some((case, _, _)) = failures.first() {
        eprintln!("{}", case.text);
    }
    let lines: Vec<String> = failures
        .iter()
        .map(|(case, device, error)| format!("{} on {device:?}: {error}", case.name))
        .collect();
    assert!(lines.is_empty(), "{} of {}\n{}", lines.len(), cases.len(), lines.join("\n"));
}

/// Checks on the AVX2 machine with parts of its text replaced.
fn check_on_other(cases: &[Case], other: &[(&str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    if let Some(device) = other_machine(folder.path(), other) {
        check_on(cases, &[device]);
    }
}

/// The AVX2 machine with parts of its text replaced, in a file; `None` where this processor cannot be that.
fn other_machine(folder: &Path, other: &[(&str, &str)]) -> Option<Device> {
    const AVX2: &str = include_str!("../../../devices/x86-avx2.mlir");
    if let Err(error) = check_features(&["avx2", "fma", "f16c", "bmi2"].map(str::to_owned)) {
        eprintln!("not run: {error}");
        return None;
    }
    let path = folder.join("other.mlir");
    let text = other.iter().fold(AVX2.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the machine says {from}");
        text.replace(from, to)
    });
    std::fs::write(&path, text).expect("a file");
    Some(Device::Named(path.to_string_lossy().into_owned()))
}

#[test]
fn data_is_of_its_type() {
    let mut random = Random(0);
    for (elem, dtype) in
        [("f64", DType::F64), ("f16", DType::F16), ("bf16", DType::BF16), ("i8", DType::I8)]
    {
        let value = Value { name: String::new(), dims: vec![50], elem };
        let bytes = bytes(&value, Data::Quarters, &mut random);
        let tensor = Tensor { dtype, shape: vec![50], bytes };
        let most = if dtype.is_float() { 2.0 } else { 8.0 };
        assert!((0..50).all(|at| tensor.number(at).as_f64().abs() <= most), "{elem}");
        assert!((0..50).any(|at| tensor.number(at).as_f64() < 0.0), "{elem}");
    }
}
