//! The meaning of expressions, and errors in wrong ones.

use super::*;
use crate::reports::draw;
use weft_dialects::graph::Model;
use weft_dialects::ir::module_op;
use weft_passes::interpret::run_model;

fn read(expression: &str, shape: &str) -> Kernel {
    Kernel::read(expression, shape, Element::F32).unwrap_or_else(|failure| {
        panic!("{}", draw(&failure, false));
    })
}

fn refused(expression: &str, shape: &str, dtype: &str) -> String {
    let element = dtype.parse().expect("an element type");
    let failure = Kernel::read(expression, shape, element).expect_err("it means nothing");
    draw(&failure, false)
}

/// Evaluates the kernel's module, which must verify, with the reference interpreter.
fn evaluate(kernel: &Kernel, inputs: &[&[f32]]) -> Vec<f32> {
    let context = crate::context();
    let module = kernel.module(&context);
    let op = module_op(&module);
    assert!(op.verify(), "{}", op.text());
    let model = op.body(0).into_iter().flat_map(|block| block.ops()).find_map(Model::of);
    let bytes: Vec<Vec<u8>> = inputs
        .iter()
        .map(|input| input.iter().flat_map(|number| number.to_le_bytes()).collect())
        .collect();
    let mut weights = |_: &str, _: &str| Err("there are no weights".into());
    let results =
        run_model(model.expect("a model").op, &bytes, &mut weights, &mut |_, _| {}).expect("runs");
    let words = results[0].chunks_exact(4);
    words.map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

#[test]
fn a_product_of_matrices() {
    let kernel = read("C[m, n] += A[m,k]*B[k,n]", "m=2, n=3,k=2");
    let names: Vec<_> = kernel.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["m", "n", "k"]);
    assert_eq!(kernel.free(), 2);
    assert_eq!(kernel.inputs[0], Tensor { name: "A".into(), shape: vec![2, 2] });
    assert_eq!(kernel.inputs[1].shape, [2, 3]);
    let a = [1.0, 2.0, 3.0, 4.0];
    let b = [1.0, 0.0, 2.0, 0.0, 1.0, 3.0];
    assert_eq!(evaluate(&kernel, &[&a, &b]), [1.0, 2.0, 8.0, 3.0, 4.0, 18.0]);
}

#[test]
fn a_window() {
    // h has no index of its own on the right, r has none anywhere.
    let kernel = read("Y[h] += X[h*2 + r]", "h=3,r=2");
    assert_eq!(kernel.inputs[0].shape, [6]);
    assert_eq!(evaluate(&kernel, &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]), [3.0, 7.0, 11.0]);
}

#[test]
fn neighbours() {
    // The first read is shorter than the tensor.
    let kernel = read("Y[i] = X[i+1] - X[i]", "i=3");
    assert_eq!(kernel.inputs[0].shape, [4]);
    assert_eq!(kernel.reads.len(), 2);
    assert_eq!(evaluate(&kernel, &[&[1.0, 3.0, 6.0, 10.0]]), [2.0, 3.0, 4.0]);
}

#[test]
fn folds() {
    let x = [2.0, -5.0, 3.0, 4.0];
    let y = |expression: &str| evaluate(&read(expression, "i=2,j=2"), &[&x]);
    assert_eq!(y("M[i] max= X[i,j]"), [2.0, 4.0]);
    assert_eq!(y("M[i] min= X[i,j]"), [-5.0, 3.0]);
    assert_eq!(y("M[i] *= X[i,j]"), [-10.0, 12.0]);
    assert_eq!(y("M[] += abs(X[i,j])"), [14.0]);
    assert_eq!(y("M[i] += X[i,j] * X[i,j]"), [29.0, 25.0]);
}

#[test]
fn order_of_operations() {
    let value = |expression: &str| evaluate(&read(expression, "i=1"), &[&[2.0], &[3.0]])[0];
    assert_eq!(value("Y[i] = A[i] + B[i] * 4 - 1"), 13.0);
    assert_eq!(value("Y[i] = (A[i] + B[i]) * 4 - 1"), 19.0);
    assert_eq!(value("Y[i] = 12 / A[i] / B[i]"), 2.0);
    assert_eq!(value("Y[i] = --A[i] * -B[i]"), -6.0);
    assert_eq!(value("Y[i] = max(A[i], B[i]) - min(A[i], B[i])"), 1.0);
    assert_eq!(value("Y[i] = relu(A[i] - B[i]) + sqrt(A[i] + A[i]) + B[0] * 0"), 2.0);
}

#[test]
fn other_elements() {
    for dtype in ["f64", "f16", "bf16", "i64", "i32", "i16", "i8"] {
        let element = dtype.parse().expect("an element type");
        for expression in ["C[m] += A[m,k] * 2", "C[m] max= -A[m,k]", "C[m] = abs(A[m,0]) / 3"] {
            let shape = if expression.contains('k') { "m=3,k=2" } else { "m=3" };
            let kernel = Kernel::read(expression, shape, element).expect("a kernel");
            let context = crate::context();
            let module = kernel.module(&context);
            assert!(module_op(&module).verify(), "{dtype} {expression}");
        }
    }
}

#[test]
fn what_does_not_parse() {
    let text = refused("C[m,n += A[m]", "m=1,n=1", "f32");
    assert!(text.contains("unexpected `=`") || text.contains("unexpected `+`"), "{text}");
    assert!(text.contains("expression:1:"), "{text}");
    let text = refused("C[m] = A[m] *", "m=1", "f32");
    assert!(text.contains("ends too early") && text.contains("an expression"), "{text}");
    let text = refused("", "", "f32");
    assert!(text.contains("ends too early"), "{text}");
    let text = refused("C[m] = ä", "m=1", "f32");
    assert!(text.contains("unexpected `ä`"), "{text}");
    let deep = format!("C[m] = {}A[m]{}", "(".repeat(100), ")".repeat(100));
    assert!(refused(&deep, "m=1", "f32").contains("nest deeper"));
    let long = format!("C[m] = A[m]{}", " + A[m]".repeat(1000));
    assert!(refused(&long, "m=1", "f32").contains("bytes"));
}

#[test]
fn what_means_nothing() {
    let cases = [
        ("C[m] = A[m,k]", "m=1,k=2", "f32", "`=` cannot reduce an axis"),
        ("C[m,m] = A[m]", "m=1", "f32", "stands on the left twice"),
        ("C[m+1] = A[m]", "m=1", "f32", "is not an axis"),
        ("C[m] = A[m] + C[m]", "m=1", "f32", "C is written and read"),
        ("C[m] = A[m-1]", "m=4", "f32", "goes down to -1"),
        ("C[m] = A[m*m]", "m=4", "f32", "not a sum of axes"),
        ("C[m] = A[B[m]]", "m=4", "f32", "not a sum of axes"),
        ("C[m] = A[m/2]", "m=4", "f32", "not a sum of axes"),
        ("C[m] = A[m*1.5]", "m=4", "f32", "1.5 is not an index"),
        ("C[m] = A[m] + A[m,m]", "m=4", "f32", "2 dimensions here and 1 before"),
        ("C[m] = m", "m=4", "f32", "is an axis, not a number"),
        ("C[m] = sinus(A[m])", "m=4", "f32", "there is no function `sinus`"),
        ("C[m] = max(A[m])", "m=4", "f32", "1 arguments"),
        ("C[m] = exp(A[m])", "m=4", "i32", "takes floats"),
        ("C[m] = A[m] / B[m]", "m=4", "i32", "what may be 0"),
        ("C[m] = A[m] * 300", "m=4", "i8", "300 is no i8"),
        ("C[m] = A[m] * 1e999", "m=4", "f32", "too large"),
        ("C[m] = A[m]", "", "f32", "an axis has no extent"),
        ("C[m] = A[m]", "m=0", "f32", "the axis m has no points"),
        ("C[m] = A[m]", "m=-3", "f32", "the extent of m is `-3`"),
        ("C[m] = A[m]", "m", "f32", "`m` is not an extent"),
        ("C[m] = A[m]", "m=4,n=2", "f32", "there is no axis n"),
        ("C[m] = A[m]", "m=4,m=5", "f32", "is given twice"),
        ("C[m] = A[m]", "m=99999999999999999", "f32", "points"),
        ("C[m,n] = A[m]", "m=99999999,n=99999999", "f32", "more bytes than"),
        ("C[] += A[m,n,k]", "m=99999999,n=99999999,k=99999999", "f32", "than can be counted"),
        ("C[m] = A[m*9223372036854775807]", "m=3", "f32", "does not fit"),
        ("C[m] = A[99999999999999999999]", "m=3", "f32", "is not an index"),
    ];
    for (expression, shape, dtype, words) in cases {
        let text = refused(expression, shape, dtype);
        assert!(text.contains(words), "{expression} with {shape}:\n{text}");
        assert!(text.starts_with("error: "), "{text}");
    }
}

#[test]
fn reports_underline() {
    let text = refused("C[m] = A[m,k]", "m=1,k=2", "f32");
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    assert!(lines.contains(&" 1 │ C[m] = A[m,k]"), "{text}");
    assert!(text.contains("k is not on the left") && text.contains("Help: +="), "{text}");
}
