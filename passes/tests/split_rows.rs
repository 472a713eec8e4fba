//! Softmax and variances in parts against whole rows, by the interpreter.

use std::borrow::Cow;

use proptest::prelude::*;
use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{Context, Linear, Module, Op, Type, Val, context, module_op, parse, ty};
use weft_passes::interpret::run_tile_graph;
use weft_passes::{graph, tile};

/// Lanes of four numbers, and a cache for one core.
const MACHINE: &str = r#"
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f64]) operations(["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "math.exp"]) reductions(["arith.addf", "arith.maximumf"])
}
"#;

/// What becomes of `x[b, m, n]`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// `softmax(x)`.
    Softmax,
    /// `softmax(x) · v`, for `v[b, n, d]`.
    Attention,
    /// Both of them.
    Both,
    /// `Σ (x - mean)^2` along the rows, as `[b, m]`.
    Variance,
}

const D: u64 = 3;

fn at(rank: usize, axes: &[usize]) -> Vec<Linear> {
    axes.iter().map(|&axis| Linear::axis(rank, axis)).collect()
}

/// A fold of inputs along the last axis of `[b, m, n]`.
fn fold<'c>(
    p: &mut Payload<'c>,
    [b, m]: [u64; 2],
    start: f64,
    inputs: &[(Val<'c>, &[usize])],
    body: impl FnOnce(&mut Scalar<'c>, &[Val<'c>]) -> Val<'c>,
) -> Val<'c> {
    let elem = Type::float64(p.context());
    let start = p.fill(start, &[b, m], elem);
    let inputs: Vec<_> = inputs.iter().map(|(value, axes)| (*value, at(3, axes))).collect();
    let kinds = [Axis::Parallel, Axis::Parallel, Axis::Reduction];
    p.generic(&kinds, &inputs, &[(start, at(3, &[0, 1]))], |b, args| vec![body(b, args)])[0]
}

/// A point of each of `inputs` for every one of `[b, m, n]`.
fn each<'c>(
    p: &mut Payload<'c>,
    shape: [u64; 3],
    inputs: [(Val<'c>, &[usize]); 2],
    body: impl FnOnce(&mut Scalar<'c>, &[Val<'c>]) -> Val<'c>,
) -> Val<'c> {
    let out = p.empty(&shape, Type::float64(p.context()));
    let inputs = inputs.map(|(value, axes)| (value, at(3, axes)));
    let kinds = [Axis::Parallel; 3];
    p.generic(&kinds, &inputs, &[(out, at(3, &[0, 1, 2]))], |b, args| vec![body(b, args)])[0]
}

/// `inverse` sums have their reciprocals taken.
fn softmax<'c>(
    p: &mut Payload<'c>,
    shape @ [b, m, _]: [u64; 3],
    x: Val<'c>,
    inverse: bool,
) -> Val<'c> {
    let (all, row): (&[usize], &[usize]) = (&[0, 1, 2], &[0, 1]);
    let largest = fold(p, [b, m], f64::NEG_INFINITY, &[(x, all)], |b, x| {
        b.same("arith.maximumf", &[x[1], x[0]])
    });
    let shifted = each(p, shape, [(x, all), (largest, row)], |b, x| {
        let less = b.sub(x[0], x[1]);
        b.same("math.exp", &[less])
    });
    let total = fold(p, [b, m], 0.0, &[(shifted, all)], |b, x| b.add(x[1], x[0]));
    if !inverse {
        let whole = [(shifted, all), (total, row)];
        return each(p, shape, whole, |b, x| b.same("arith.divf", &[x[0], x[1]]));
    }
    let elem = ty::elem(x.ty()).expect("of a tensor");
    let out = p.empty(&[b, m], elem);
    let (from, to) = ([(total, at(2, &[0, 1]))], [(out, at(2, &[0, 1]))]);
    let total = p.generic(&[Axis::Parallel; 2], &from, &to, |b, x| {
        let one = b.number(elem, 1.0);
        vec![b.same("arith.divf", &[one, x[0]])]
    })[0];
    each(p, shape, [(total, row), (shifted, all)], |b, x| b.mul(x[0], x[1]))
}

/// `p · v`, halved.
fn product<'c>(p: &mut Payload<'c>, [b, m, _]: [u64; 3], shares: Val<'c>, v: Val<'c>) -> Val<'c> {
    let elem = Type::float64(p.context());
    let zero = p.fill(0.0, &[b, m, D], elem);
    let kinds = [Axis::Parallel, Axis::Parallel, Axis::Parallel, Axis::Reduction];
    let inputs = [(shares, at(4, &[0, 1, 3])), (v, at(4, &[0, 3, 2]))];
    let made = p.generic(&kinds, &inputs, &[(zero, at(4, &[0, 1, 2]))], |b, x| {
        let times = b.mul(x[0], x[1]);
        vec![b.add(x[2], times)]
    })[0];
    let out = p.empty(&[b, m, D], elem);
    let kinds = [Axis::Parallel; 3];
    p.generic(&kinds, &[(made, at(3, &[0, 1, 2]))], &[(out, at(3, &[0, 1, 2]))], |b, x| {
        let half = b.number(elem, 0.5);
        vec![b.mul(x[0], half)]
    })[0]
}

fn variance<'c>(p: &mut Payload<'c>, [b, m, n]: [u64; 3], x: Val<'c>) -> Val<'c> {
    let elem = Type::float64(p.context());
    let (all, row): (&[usize], &[usize]) = (&[0, 1, 2], &[0, 1]);
    let sum = fold(p, [b, m], 0.0, &[(x, all)], |b, x| b.add(x[1], x[0]));
    let out = p.empty(&[b, m], elem);
    let kinds = [Axis::Parallel; 2];
    let mean = p.generic(&kinds, &[(sum, at(2, &[0, 1]))], &[(out, at(2, &[0, 1]))], |b, x| {
        let number = b.number(elem, n as f64);
        vec![b.same("arith.divf", &[x[0], number])]
    })[0];
    fold(p, [b, m], 0.0, &[(x, all), (mean, row)], |b, x| {
        let off = b.sub(x[0], x[1]);
        let square = b.mul(off, off);
        b.add(x[2], square)
    })
}

fn module(context: &Context, what: What, shape @ [b, m, n]: [u64; 3], inverse: bool) -> Module<'_> {
    let module = parse(context, MACHINE).expect("the machine is text of ours");
    let typed = |shape: &[u64]| ty::tensor(shape, Type::float64(context));
    let inputs = [("x".to_owned(), typed(&shape)), ("v".to_owned(), typed(&[b, n, D]))];
    let outputs: &[&str] = if what == What::Both { &["y", "z"] } else { &["y"] };
    let outputs: Vec<_> = outputs.iter().map(|&name| name.to_owned()).collect();
    let mut g = GraphBuilder::new(context, module_op(&module), "g", &inputs, &outputs);
    let args = g.inputs();
    let made = if what == What::Variance {
        g.op("V", "v", &args[..1], &[typed(&[b, m])], |p, a| vec![variance(p, shape, a[0])])
    } else {
        let shares = g.op("S", "s", &args[..1], &[typed(&shape)], |p, a| {
            vec![softmax(p, shape, a[0], inverse)]
        })[0];
        let mut product = || {
            g.op("P", "p", &[shares, args[1]], &[typed(&[b, m, D])], |p, a| {
                vec![product(p, shape, a[0], a[1])]
            })[0]
        };
        match what {
            What::Softmax => vec![shares],
            What::Attention => vec![product()],
            _ => vec![shares, product()],
        }
    };
    g.finish(&made);
    graph::to_tile::PASS.apply(context, module_op(&module), &[]).expect("kernels are cut");
    tile::fuse_elementwise::PASS.apply(context, module_op(&module), &[]).expect("never fails");
    module
}

fn find(module: Op<'_>) -> Op<'_> {
    let ops = module.body(0).expect("a module has a block").ops();
    ops.into_iter().find(|op| op.is("tile.graph")).expect("it was cut")
}

/// What a graph gives before and after rows are cut in `parts`, and its kernels' names then.
fn run(
    what: What,
    (shape, inverse): ([u64; 3], bool),
    parts: u64,
    x: &[f64],
) -> ([Vec<Vec<f64>>; 2], Vec<String>) {
    let context = context();
    let module = module(&context, what, shape, inverse);
    let v = (0..shape[0] * shape[2] * D).map(|at| ((at * 7 + 5) % 23) as f64 / 4.0 - 2.5);
    let bytes = |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    let given = [bytes(x), bytes(&v.collect::<Vec<_>>())];
    let measure = || {
        let mut none = |_: &str, _: &str| Ok(Cow::Owned(Vec::new()));
        let graph = find(module_op(&module));
        let got = run_tile_graph(graph, &given, &mut none, &mut |_, _| ()).expect("evaluates");
        let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight"));
        got.iter().map(|bytes| bytes.chunks(8).map(number).collect()).collect::<Vec<Vec<f64>>>()
    };
    let before = measure();
    let text = parts.to_string();
    let options = [("parts", text.as_str())];
    tile::split_rows::PASS.apply(&context, module_op(&module), &options).expect("never fails");
    assert!(module_op(&module).verify());
    let ops = module_op(&module).body(0).expect("it has a block").ops();
    let kernels = ops.iter().filter(|op| op.is("tile.kernel")).map(|op| op.symbol().to_owned());
    ([before, measure()], kernels.collect())
}

/// Numbers of a row, some of which are infinite or none at all.
fn element() -> impl Strategy<Value = f64> {
    prop_oneof![
        12 => -8.0..8.0f64,
        2 => Just(f64::NEG_INFINITY),
        1 => Just(-1e300),
        1 => Just(700.0),
    ]
}

fn close(one: f64, other: f64) -> bool {
    // A part adds two roundings to each sum (Milakov and Gimelshein, section 3).
    one.is_nan() && other.is_nan()
        || one == other
        || (one - other).abs() <= 1e-13 * (1.0 + one.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn parts_are_the_whole(
        what in prop::sample::select(vec![What::Softmax, What::Attention, What::Both]),
        (b, m, elements, parts) in (1u64..3, 1u64..4, 1u64..6, 2u64..5),
        inverse in any::<bool>(),
        seed in prop::collection::vec(element(), 2 * 3 * 20),
        odd in prop::option::weighted(0.1, (0usize..120, prop::sample::select(vec![f64::NAN, f64::INFINITY]))),
    ) {
        let shape = [b, m, elements * parts];
        let mut x = seed[..(b * m * elements * parts) as usize].to_vec();
        if let Some((at, number)) = odd {
            let at = at % x.len();
            x[at] = number;
        }
        let ([before, after], kernels) = run(what, (shape, inverse), parts, &x);
        prop_assert!(kernels.iter().any(|name| name.ends_with("_weights")), "{kernels:?}");
        for (one, other) in before.concat().into_iter().zip(after.concat()) {
            prop_assert!(close(one, other), "{one} and {other} of {x:?}");
        }
    }

    #[test]
    fn variances_in_parts(
        (b, m, elements, parts) in (1u64..3, 1u64..4, 1u64..6, 2u64..5),
        far in prop::sample::select(vec![0.0, 1e6]),
        seed in prop::collection::vec(-8.0..8.0f64, 2 * 3 * 20),
    ) {
        let shape = [b, m, elements * parts];
        let x: Vec<f64> = seed[..(b * m * elements * parts) as usize].iter().map(|x| x + far).collect();
        let ([before, after], kernels) = run(What::Variance, (shape, false), parts, &x);
        prop_assert!(kernels.iter().any(|name| name.ends_with("_whole")), "{kernels:?}");
        for (one, other) in before.concat().into_iter().zip(after.concat()) {
            // Distances of 1e6 have an error of 1e-10.
            prop_assert!((one - other).abs() <= 1e-8 * (1.0 + one.abs()), "{one} and {other}");
        }
    }
}

#[test]
fn rows_that_do_not_divide_stay_whole() {
    let x: Vec<f64> = (0..14).map(f64::from).collect();
    let (_, kernels) = run(What::Softmax, ([1, 2, 7], false), 2, &x);
    assert!(!kernels.iter().any(|name| name.contains("parts")), "{kernels:?}");
}

#[test]
fn a_masked_part_counts_nothing() {
    let row = [f64::NEG_INFINITY, f64::NEG_INFINITY, 1.0, 2.0];
    let ([before, after], _) = run(What::Softmax, ([1, 1, 4], false), 2, &row);
    assert_eq!(before[0][..2], [0.0, 0.0]);
    assert_eq!(after[0][..2], [0.0, 0.0]);
    assert!(after[0].iter().zip(&before[0]).all(|(one, other)| close(*one, *other)), "{after:?}");
}
