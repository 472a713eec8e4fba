//! Whole models, tile programs and the meanings of instructions.

use std::borrow::Cow;

use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Linear, Op, context, empty_module, module_op, parse, ty};
use weft_passes::interpret::{Compiled, InterpretError, run_model, run_tile_graph};

use super::support::{Tensor, first, module};

/// `y = relu(x w + 1)`, twice, on `3 × 4` and a weight `4 × 4`.
fn mlp<'c>(context: &'c weft_dialects::ir::Context, module: Op<'c>) -> Op<'c> {
    let elem = ty::int(context, 64);
    let t = |shape: &[u64]| ty::tensor(shape, elem);
    let inputs = [("x".to_owned(), t(&[3, 4]))];
    let mut g = GraphBuilder::new(context, module, "mlp", &inputs, &["y".to_owned()]);
    let one = g.constant(t(&[4]), &Tensor { shape: vec![4], data: vec![1; 4] }.bytes());
    let mut x = g.inputs()[0];
    for layer in 0..2 {
        let w = g.weight(&format!("w{layer}"), "model", "0", t(&[4, 4]));
        let name = format!("gemm_{layer}");
        x = g.op("Gemm", &name, &[x, w, one], &[t(&[3, 4])], |p, args| {
            let ax = |at| Linear::axis(3, at);
            let zero = p.fill_int(0, &[3, 4], elem);
            let axes = [Axis::Parallel, Axis::Parallel, Axis::Reduction];
            let ins = [(args[0], vec![ax(0), ax(2)]), (args[1], vec![ax(2), ax(1)])];
            let product = p.generic(&axes, &ins, &[(zero, vec![ax(0), ax(1)])], |b, x| {
                let product = b.mul(x[0], x[1]);
                vec![b.add(x[2], product)]
            })[0];
            let out = p.empty(&[3, 4], elem);
            let (i, j) = (Linear::axis(2, 0), Linear::axis(2, 1));
            let ins = [(product, vec![i.clone(), j.clone()]), (args[2], vec![j.clone()])];
            p.generic(&[Axis::Parallel; 2], &ins, &[(out, vec![i, j])], |b, x| {
                let sum = b.add(x[0], x[1]);
                let zero = b.integer(elem, 0);
                vec![b.same("arith.maxsi", &[sum, zero])]
            })
        })[0];
    }
    g.finish(&[x])
}

fn expected(x: &Tensor, weights: &[Tensor]) -> Tensor {
    let mut x = x.clone();
    for w in weights {
        let mut y = Tensor::numbered(&[3, 4], 0);
        for (i, j) in (0..3).flat_map(|i| (0..4).map(move |j| (i, j))) {
            let sum: i64 = (0..4).map(|k| x.at(&[i, k]) * w.at(&[k, j])).sum();
            *y.at_mut(&[i, j]) = (sum + 1).max(0);
        }
        x = y;
    }
    x
}

#[test]
fn a_model_and_its_tile_graph_agree() {
    let context = context();
    let module = empty_module(&context);
    let model = mlp(&context, module_op(&module));
    let x = Tensor::numbered(&[3, 4], 4);
    let weights = [Tensor::numbered(&[4, 4], 5), Tensor::numbered(&[4, 4], 6)];
    let bytes = weights.each_ref().map(Tensor::bytes);
    let inputs = [x.bytes()];
    let want = vec![expected(&x, &weights).bytes()];
    let mut asked = Vec::new();
    let mut provide = |file: &str, tensor: &str| {
        asked.push(format!("{file}/{tensor}"));
        Ok(Cow::Borrowed(bytes[if tensor == "w0" { 0 } else { 1 }].as_slice()))
    };
    let mut seen = Vec::new();
    let mut visit = |op: Op<'_>, results: &[Vec<u8>]| {
        seen.push((op.name().to_owned(), results[0].clone()));
    };
    let got = run_model(model, &inputs, &mut provide, &mut visit).expect("evaluates");
    assert_eq!(got, want);
    weft_passes::graph::to_tile::PASS
        .apply(&context, module_op(&module), &[])
        .expect("a model becomes a tile-graph");
    let all = module_op(&module).body(0).expect("a block").ops();
    let graph = all.into_iter().find(|op| op.is("tile.graph")).expect("a tile-graph");
    let got = run_tile_graph(graph, &inputs, &mut provide, &mut visit).expect("evaluates");
    assert_eq!(got, want);
    assert_eq!(asked, ["model/w0", "model/w1", "model/w0", "model/w1"]);
    let operators: Vec<_> = seen.iter().filter(|(name, _)| name == "graph.op").collect();
    assert_eq!(operators.len(), 2);
    assert_eq!(operators[1].1, want[0]);
    assert_eq!(seen.last().map(|(name, _)| name.as_str()), Some("tile.run"));
}

#[test]
fn refuses_what_does_not_fit() {
    let context = context();
    let module = empty_module(&context);
    let model = mlp(&context, module_op(&module));
    let none = || Err("no such file");
    assert_eq!(refused(model, &[], none()), "@mlp takes 1 inputs and was given 0");
    assert_eq!(
        refused(model, &[vec![0; 8]], none()),
        "input 0 of @mlp has 8 bytes; its type tensor<3x4xi64> takes 96"
    );
    let right = [vec![0; 96]];
    assert_eq!(refused(model, &right, none()), "weight \"w0\" in \"model\": no such file");
    let wrong = refused(model, &right, Ok(vec![0; 4]));
    assert!(wrong.contains("has 4 bytes; its type tensor<4x4xi64> takes 128"), "{wrong}");
}

/// Why a model does not run with these inputs and this answer for every weight.
fn refused(model: Op<'_>, inputs: &[Vec<u8>], weight: Result<Vec<u8>, &'static str>) -> String {
    let mut weights = |_: &str, _: &str| Ok(Cow::Owned(weight.clone()?));
    let run = run_model(model, inputs, &mut weights, &mut |_, _| ());
    run.expect_err("is refused").to_string()
}

#[test]
fn tile_programs_are_what_they_hold() {
    let context = context();
    let text = r#"
      tile.kernel @add {
      ^bb0(%x: tensor<4xi64>, %o: tensor<4xi64>):
        %a = tile.load %x to @l1 : tensor<4xi64>
        %c = tile.compute ins(%a) outs(%o) on @add tiles [#tile.rtile<"l1" [4]>]
            : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64> {
        ^bb0(%p: tensor<4xi64>, %q: tensor<4xi64>):
          %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                               iterator_types = ["parallel"]}
              ins(%p : tensor<4xi64>) outs(%q : tensor<4xi64>) {
          ^bb0(%u: i64, %v: i64):
            %w = arith.addi %u, %v : i64
            linalg.yield %w : i64
          } -> tensor<4xi64>
          tile.yield %r : tensor<4xi64>
        }
        %s = tile.store %c from @l1 to %o : tensor<4xi64>
        tile.yield %s : tensor<4xi64>
      }"#;
    let module = module(&context, text);
    let compiled = Compiled::of(first(&module)).expect("compiles");
    let (x, o) = (Tensor::numbered(&[4], 1), Tensor::numbered(&[4], 2));
    let got = compiled.run(&[&x.bytes(), &o.bytes()]).expect("runs");
    let want: Vec<_> = x.data.iter().zip(&o.data).map(|(x, o)| x + o).collect();
    assert_eq!(Tensor::of_bytes(&[4], &got[0]).data, want);
}

/// Every instruction of every machine that we ship has a meaning that runs.
#[test]
fn meanings_of_all_machines_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../devices");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the machines are there") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|ext| ext != "mlir") {
            continue;
        }
        let context = context();
        let text = std::fs::read_to_string(&path).expect("a text");
        let module = parse(&context, &text).expect("a machine parses");
        module_op(&module).walk_all(&mut |op| {
            if op.is("device.instruction") {
                let compiled =
                    Compiled::of(op).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let program = &compiled.program;
                let given = program.inputs.len() - compiled.constants.len();
                let inputs: Vec<_> = program.inputs[..given]
                    .iter()
                    .map(|&id| program.tensors[id as usize])
                    .map(|tensor| vec![0u8; tensor.len as usize * tensor.ty.bytes()])
                    .collect();
                let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
                compiled.run(&inputs).expect("runs on zeros");
                count += 1;
            }
        });
    }
    assert!(count > 0, "some machine has an instruction");
}

#[test]
fn names_what_it_does_not_know() {
    let context = context();
    let text = "func.func @f(%x: tensor<2xf8E5M2>) -> tensor<2xf8E5M2> {
        return %x : tensor<2xf8E5M2> }";
    let module = module(&context, text);
    let error = Compiled::of(first(&module)).expect_err("is refused");
    assert!(matches!(error, InterpretError::Type { .. }), "{error}");
    assert!(error.to_string().contains("tensor<2xf8E5M2> is not accepted"), "{error}");
}
