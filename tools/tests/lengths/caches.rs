//! Caches that grow by the rows of a run: copied, and in place.

use weft_onnx::proto::tensor_proto::DataType;

use super::net::{Dim, Net, int, ints};
use super::run::{Lengths, Subject, assert_close};
use super::{SEQ, check, symbol};

/// A cache of 2 x 30 x 8 with new rows behind it, and what attention makes of both.
fn growing() -> (Net, [String; 2]) {
    let mut net = Net::default();
    let old = net.input(DataType::Float, &[Dim::Fixed(2), Dim::Named("past"), Dim::Fixed(8)]);
    let new = net.input(DataType::Float, &[Dim::Fixed(2), SEQ, Dim::Fixed(8)]);
    let all = net.op("Concat", &[&old, &new], &[int("axis", 1)]);
    let turned = net.op("Transpose", &[&all], &[ints("perm", &[0, 2, 1])]);
    let scores = net.op("MatMul", &[&new, &turned], &[]);
    let scores = net.op("Softmax", &[&scores], &[int("axis", -1)]);
    let y = net.op("MatMul", &[&scores, &all], &[]);
    (net, [y, all])
}

/// A cache that grows: what is new comes right behind what was there, wherever that ends.
#[test]
fn caches_that_grow() {
    let (net, [y, all]) = growing();
    let subject = Subject::new(net, &[&y, &all]);
    let symbols = [symbol("past", 0, 30), symbol("seq", 1, 3)];
    check(&subject, &symbols, &[&[0, 1], &[30, 3], &[1, 1], &[17, 1], &[29, 2]]);
}

/// Runs that put rows behind those of the runs before, in one memory, of which nothing else is touched.
#[test]
fn caches_that_grow_in_place() {
    let (net, [y, all]) = growing();
    let subject = Subject::new(net, &[&y, &all]);
    let symbols = [symbol("past", 0, 30), symbol("seq", 1, 3)];
    for alias in [format!("x0={all}"), "caches".to_owned()] {
        for units in [1, 2] {
            let mut model = subject.compile_with(&symbols, units, &[&alias]).expect("it compiles");
            let (extent, row) = (33, 32);
            let mut cache = vec![0xaa; 2 * extent * row];
            let mut past = 0;
            for seq in [3, 1, 1, 2, 3, 1] {
                let own: Lengths = [("past".to_owned(), past), ("seq".to_owned(), seq)].into();
                let mut data = subject.data(&own, past);
                let rows = |cache: &[u8], rows: u64| {
                    let part = |at| &cache[at * extent * row..][..rows as usize * row];
                    [part(0), part(1)].concat()
                };
                data[0] = rows(&cache, past);
                let expected = subject.expected(&own, &data);
                let shapes = subject.shapes(&own);
                let shapes: Vec<&[u64]> = shapes.iter().map(Vec::as_slice).collect();
                model.bind(model.plan().bind_shapes(&shapes).expect("it fits"));
                let mut found = vec![0; 2 * seq as usize * row];
                let mut places = [found.as_mut_slice(), cache.as_mut_slice()];
                model.run(&[&[], &data[1]], &mut places).expect("it runs");
                past += seq;
                let found = [found, rows(&cache, past)];
                assert_close(&found, &expected, &format!("{own:?} on {units} units"));
                let behind =
                    |at: usize| &cache[at * extent * row..][..extent * row][past as usize * row..];
                assert!([behind(0), behind(1)].concat().iter().all(|&byte| byte == 0xaa));
            }
            let refused = |given: &[u8], cache: &mut [u8]| {
                let mut found = vec![0; 2 * row];
                let mut places = [found.as_mut_slice(), cache];
                model.run_shared(None, &[given, &[0; 64]], &mut places, None)
            };
            let why =
                refused(&[0; 64], &mut cache.clone()).expect_err("it is no tensor of its own");
            assert!(why.to_string().contains("input `x0` has 0 bytes and was given 64"), "{why}");
            let why = refused(&[], &mut cache[row..]).expect_err("it is too short");
            assert!(why.to_string().contains("has 2112 bytes and was given 2080"), "{why}");
        }
    }
}

/// Dense tensors of files are laid out for a run in place, and what it gives is dense.
#[test]
fn caches_on_the_command_line() {
    let (net, [y, all]) = growing();
    let subject = Subject::new(net, &[&y, &all]);
    let dims = ["--dim", "past=0..30", "--dim", "seq=1..3"];
    let compile =
        [&["compile", "net.onnx", "-o", "net.weft", "--alias", "caches"], &dims[..]].concat();
    subject.command(&compile).expect("it compiles");
    let apart = [&["compile", "net.onnx", "-o", "apart.weft"], &dims[..]].concat();
    subject.command(&apart).expect("it compiles");
    let at = |past: &'static str, more: &[&'static str]| {
        [more, &["--dim", past, "--dim", "seq=2"]].concat()
    };
    for past in ["past=0", "past=5", "past=30"] {
        let apart = at(past, &["run", "apart.weft", "--outputs", "apart.npz"]);
        subject.command(&apart).expect("it runs");
        let same = at(past, &["run", "net.weft", "--expect", "apart.npz"]);
        subject.command(&same).expect("it gives the same");
    }
    let explain = ["explain", "net.onnx", "--run", "--alias", "caches", "-o", "report.html"];
    subject.command(&[&explain, &dims[..]].concat()).expect("it is explained");
    let refused = |alias: &str, words: &str| {
        let compile = [&["compile", "net.onnx", "-o", "net.weft", "--alias", alias], &dims[..]];
        let why = subject.command(&compile.concat()).expect_err("it is refused");
        assert!(why.contains(words), "{why}");
    };
    refused("x9=y", "the model has no input \"x9\"");
    refused("x0=y", "the model has no output \"y\"");
    refused(&format!("x0={y}"), "no Concat of the model makes it with the input as its first part");
    refused(
        &format!("x1={all}"),
        "no Concat of the model makes it with the input as its first part",
    );
}

/// What is written over is not read beside it, and has a length along which it grows.
#[test]
fn caches_that_are_refused() {
    let mut net = Net::default();
    let old = net.input(DataType::Float, &[Dim::Named("past"), Dim::Fixed(8)]);
    let new = net.input(DataType::Float, &[SEQ, Dim::Fixed(8)]);
    let all = net.op("Concat", &[&old, &new], &[int("axis", 0)]);
    let y = net.op("Relu", &[&old], &[]);
    let subject = Subject::new(net, &[&y, &all]);
    let symbols = [symbol("past", 0, 30), symbol("seq", 1, 3)];
    let why = subject.compile_with(&symbols, 1, &[&format!("x0={all}")]).err().expect("refused");
    assert!(why.contains("is read beside output"), "{why}");
    // It is no cache, so none is found.
    let model = subject.compile_with(&symbols, 1, &["caches"]).expect("it compiles");
    assert!(model.plan().aliases.is_empty());
    let mut net = Net::default();
    let old = net.input(DataType::Float, &[SEQ, Dim::Fixed(8)]);
    let new = net.input(DataType::Float, &[SEQ, Dim::Fixed(1)]);
    let all = net.op("Concat", &[&old, &new], &[int("axis", 1)]);
    let subject = Subject::new(net, &[&all]);
    let why = subject.compile_with(&symbols, 1, &["caches"]).err().expect("refused");
    assert!(why.contains("puts rows behind \"x0\", whose number is fixed"), "{why}");
}
