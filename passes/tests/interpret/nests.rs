//! Random nests of linear maps, and the named shapes among them.

use proptest::prelude::*;
use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Linear, context, ty};

use super::support::{Tensor, function, points, run};

/// An extent: nothing, one, small primes and others.
fn extent() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0u64), 3 => Just(1u64), 8 => prop::sample::select(vec![2u64, 3, 4, 5, 7])]
}

/// The sum of products over the axes of a nest, accumulated into `out`.
fn literal(
    extents: &[u64],
    inputs: &[(&Tensor, &[Linear])],
    out: (&Tensor, &[Linear]),
    reads: bool,
) -> Tensor {
    let mut result = out.0.clone();
    for point in points(extents) {
        let point: Vec<i64> = point.iter().map(|&at| at as i64).collect();
        let at = |map: &[Linear]| -> Vec<u64> { map.iter().map(|e| e.at(&point) as u64).collect() };
        let product =
            inputs.iter().fold(1i64, |product, (x, map)| product.wrapping_mul(x.at(&at(map))));
        let element = result.at_mut(&at(out.1));
        *element = if reads { element.wrapping_add(product) } else { product };
    }
    result
}

/// The same through `linalg.generic`.
fn interpreted(
    axes: &[Axis],
    inputs: &[(&Tensor, &[Linear])],
    out: (&Tensor, &[Linear]),
    reads: bool,
) -> Vec<Vec<u8>> {
    let context = context();
    let mut args: Vec<&Tensor> = inputs.iter().map(|(x, _)| *x).collect();
    args.push(out.0);
    let shapes = [out.0.shape.as_slice(), out.0.shape.as_slice()];
    let module = function(&context, &args, &shapes, |p, values| {
        let ins: Vec<_> =
            inputs.iter().zip(values).map(|((_, map), x)| (*x, map.to_vec())).collect();
        let target = *values.last().expect("the output is an argument");
        let result = p.generic(axes, &ins, &[(target, out.1.to_vec())], |b, x| {
            let i64 = ty::int(b.context(), 64);
            let mut product = b.integer(i64, 1);
            for &factor in &x[..inputs.len()] {
                product = b.mul(product, factor);
            }
            vec![if reads { b.add(x[inputs.len()], product) } else { product }]
        })[0];
        // The argument as well: nothing may have been written over it.
        vec![result, target]
    });
    run(&module, &args)
}

fn check(
    extents: &[u64],
    axes: &[Axis],
    inputs: &[(&Tensor, &[Linear])],
    out: (&Tensor, &[Linear]),
    reads: bool,
) {
    let got = interpreted(axes, inputs, out, reads);
    let want = literal(extents, inputs, out, reads);
    assert_eq!(Tensor::of_bytes(&want.shape, &got[0]), want);
    assert_eq!(got[1], out.0.bytes(), "the argument is as it was");
}

use Axis::{Parallel as P, Reduction as R};

fn axis(axes: usize, axis: usize) -> Linear {
    Linear::axis(axes, axis)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn matmul(m in extent(), n in extent(), k in extent(), transposed: bool) {
        let a = Tensor::numbered(&[m, k], 1);
        let b = Tensor::numbered(&if transposed { [n, k] } else { [k, n] }, 2);
        let c = Tensor::numbered(&[m, n], 3);
        let (i, j, l) = (axis(3, 0), axis(3, 1), axis(3, 2));
        let of_b = if transposed { [j.clone(), l.clone()] } else { [l.clone(), j.clone()] };
        let (of_a, of_c) = ([i.clone(), l], [i, j]);
        check(&[m, n, k], &[P, P, R], &[(&a, &of_a), (&b, &of_b)], (&c, &of_c), true);
    }

    #[test]
    fn conv(
        f in extent(), c in 1u64..4,
        // linalg's own verifier wants no window walk without a step.
        out in extent().prop_filter("no output", |&out| out > 0), window in 1u64..4,
        stride in 1i64..4, dilation in 1i64..3,
    ) {
        let wide = (out as i64 - 1).max(0) * stride + (window as i64 - 1) * dilation + 1;
        let x = Tensor::numbered(&[c, wide as u64, wide as u64], 1);
        let w = Tensor::numbered(&[f, c, window, window], 2);
        let y = Tensor::numbered(&[f, out, out], 3);
        let ax = |at| axis(6, at);
        let moved = |o, k| Linear::constant(6, 0).plus(o, stride).plus(k, dilation);
        check(
            &[f, out, out, c, window, window],
            &[P, P, P, R, R, R],
            &[(&x, &[ax(3), moved(1, 4), moved(2, 5)]), (&w, &[ax(0), ax(3), ax(4), ax(5)])],
            (&y, &[ax(0), ax(1), ax(2)]),
            true,
        );
    }

    #[test]
    fn reductions(extents in prop::collection::vec(extent(), 1..5), kept: u8, reads: bool) {
        let axes = extents.len();
        let keep: Vec<usize> = (0..axes).filter(|at| kept >> at & 1 == 1).collect();
        let kinds: Vec<_> =
            (0..axes).map(|at| if keep.contains(&at) { P } else { R }).collect();
        let x = Tensor::numbered(&extents, 1);
        let shape: Vec<u64> = keep.iter().map(|&at| extents[at]).collect();
        let y = Tensor::numbered(&shape, 2);
        let of_x: Vec<_> = (0..axes).map(|at| axis(axes, at)).collect();
        let of_y: Vec<_> = keep.iter().map(|&at| axis(axes, at)).collect();
        check(&extents, &kinds, &[(&x, &of_x)], (&y, &of_y), reads);
    }

    #[test]
    fn transposes_and_broadcasts(
        extents in prop::collection::vec(extent(), 1..5),
        order in Just(vec![0usize, 1, 2, 3]).prop_shuffle(),
        dropped: u8,
        reads: bool,
    ) {
        let axes = extents.len();
        let order: Vec<usize> = order.into_iter().filter(|&at| at < axes).collect();
        let of_x: Vec<usize> =
            order.into_iter().filter(|at| dropped >> at & 1 == 0).collect();
        let x = Tensor::numbered(&of_x.iter().map(|&at| extents[at]).collect::<Vec<_>>(), 1);
        let of_x: Vec<_> = of_x.into_iter().map(|at| axis(axes, at)).collect();
        let y = Tensor::numbered(&extents, 2);
        let of_y: Vec<_> = (0..axes).map(|at| axis(axes, at)).collect();
        check(&extents, &vec![P; axes], &[(&x, &of_x)], (&y, &of_y), reads);
    }

    /// A unit dimension at a constant index, and a diagonal.
    #[test]
    fn odd_outputs(n in extent(), reads: bool) {
        let x = Tensor::numbered(&[n], 1);
        let line = Tensor::numbered(&[1, n], 2);
        let of_line = [Linear::constant(1, 0), axis(1, 0)];
        check(&[n], &[P], &[(&x, &[axis(1, 0)])], (&line, &of_line), reads);
        let square = Tensor::numbered(&[n, n], 3);
        let diagonal = [axis(1, 0), axis(1, 0)];
        check(&[n], &[P], &[(&x, &[axis(1, 0)])], (&square, &diagonal), reads);
    }
}

/// Not a measurement to rely on, but one to look at: `cargo test --release -- --ignored speed`.
#[test]
#[ignore = "takes seconds and checks nothing"]
fn speed() {
    let context = context();
    let text = "func.func @f(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>,
                             %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
        %0 = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>)
                           outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
        return %0 : tensor<256x256xf32>
      }";
    let module = super::support::module(&context, text);
    let start = std::time::Instant::now();
    let compiled = weft_passes::interpret::Compiled::of(super::support::first(&module)).unwrap();
    let compile = start.elapsed();
    let matrix = vec![0u8; 256 * 256 * 4];
    let start = std::time::Instant::now();
    for _ in 0..5 {
        compiled.run(&[&matrix, &matrix, &matrix]).unwrap();
    }
    let seconds = start.elapsed().as_secs_f64() / 5.0;
    let rate = 256f64.powi(3) / seconds / 1e6;
    println!("compiled in {compile:?}; {:.2} ms, {rate:.0} M mul-adds/s", seconds * 1e3);
}
