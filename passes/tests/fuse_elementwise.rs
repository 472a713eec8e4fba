//! Joined kernels against the kernels they are made of, by the interpreter, in whole numbers.

use std::borrow::Cow;

use proptest::prelude::*;
use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{Linear, Op, Type, Val, context, empty_module, module_op, ty};
use weft_passes::interpret::run_tile_graph;
use weft_passes::{graph, tile};

/// What makes the first tensor of `[m, n]`.
#[derive(Clone, Copy, Debug)]
enum Maker {
    /// A product over k.
    Product,
    /// A product over k with a bias that starts the sums.
    Biased,
    /// The greatest along k of `[m, n, k]`.
    Greatest,
    /// A row for all rows, doubled: two kernels.
    Doubled,
}

/// What is done with it, each a kernel of its own.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Plus one number per column.
    Columns,
    /// Plus one number per row.
    Rows,
    /// Plus a tensor.
    Residual,
    /// Both operands are what was made.
    Squared,
    /// Seen as one dimension.
    Flat,
    /// Plus a tensor that lies the other way round: stays apart on both sides.
    Turned,
    /// Plus the number of the row: does not join what was made before.
    Counted,
    /// As half as many bits; those after it are on these.
    Narrow,
}

const INPUTS: [&str; 7] = ["a", "b", "c", "column", "row", "residual", "turned"];

/// A nest over all of `shape` of inputs that move along the axes given.
fn each<'c>(
    p: &mut Payload<'c>,
    (shape, elem): (&[u64], Type<'c>),
    inputs: &[(Val<'c>, &[usize])],
    body: impl FnOnce(&mut Scalar<'c>, &[Val<'c>]) -> Val<'c>,
) -> Val<'c> {
    let rank = shape.len();
    let along = |axes: &[usize]| axes.iter().map(|&axis| Linear::axis(rank, axis)).collect();
    let inputs: Vec<_> = inputs.iter().map(|(value, axes)| (*value, along(axes))).collect();
    let out = p.empty(shape, elem);
    let all: Vec<usize> = (0..rank).collect();
    let kinds = vec![Axis::Parallel; rank];
    p.generic(&kinds, &inputs, &[(out, along(&all))], |b, args| vec![body(b, args)])[0]
}

/// The payload of the maker; `a` are the first four inputs.
fn make<'c>(p: &mut Payload<'c>, maker: Maker, [m, n]: [u64; 2], a: &[Val<'c>]) -> Val<'c> {
    let elem = ty::int(p.context(), 64);
    let at = |axes: &[usize]| axes.iter().map(|&axis| Linear::axis(3, axis)).collect::<Vec<_>>();
    let start = match maker {
        Maker::Product => p.fill_int(0, &[m, n], elem),
        Maker::Biased => each(p, (&[m, n], elem), &[(a[3], &[1])], |_, x| x[0]),
        Maker::Greatest => p.fill_int(-1000, &[m, n], elem),
        Maker::Doubled => {
            let rows = each(p, (&[m, n], elem), &[(a[3], &[1])], |_, x| x[0]);
            return each(p, (&[m, n], elem), &[(rows, &[0, 1])], |b, x| b.add(x[0], x[0]));
        }
    };
    let kinds = [Axis::Parallel, Axis::Parallel, Axis::Reduction];
    let place = [(start, at(&[0, 1]))];
    if let Maker::Greatest = maker {
        let greatest = |b: &mut Scalar<'c>, x: &[Val<'c>]| vec![b.same("arith.maxsi", x)];
        return p.generic(&kinds, &[(a[2], at(&[0, 1, 2]))], &place, greatest)[0];
    }
    let factors = [(a[0], at(&[0, 2])), (a[1], at(&[2, 1]))];
    p.generic(&kinds, &factors, &place, |b, x| {
        let product = b.mul(x[0], x[1]);
        vec![b.add(x[2], product)]
    })[0]
}

/// The payload of a step on `a[0]`; the others are the last four inputs.
fn take<'c>(p: &mut Payload<'c>, step: Step, [m, n]: [u64; 2], a: &[Val<'c>]) -> Val<'c> {
    let x: (Val<'c>, &[usize]) = (a[0], &[0, 1]);
    let elem = ty::elem(a[0].ty()).expect("a tensor");
    let whole: (&[u64], _) = (&[m, n], elem);
    // Inputs have 64 bits, and what is made of them has those of the step.
    let add = |b: &mut Scalar<'c>, x: &[Val<'c>]| {
        let other = if x[1].ty() == elem { x[1] } else { b.op("arith.trunci", &[x[1]], elem) };
        b.add(x[0], other)
    };
    match step {
        Step::Columns => each(p, whole, &[x, (a[1], &[1])], add),
        Step::Rows => each(p, whole, &[x, (a[2], &[0])], add),
        Step::Residual => each(p, whole, &[x, (a[3], &[0, 1])], add),
        Step::Turned => each(p, whole, &[x, (a[4], &[1, 0])], add),
        Step::Squared => each(p, whole, &[x, x], |b, x| b.mul(x[0], x[1])),
        Step::Counted => each(p, whole, &[x], |b, x| {
            let row = b.index(0);
            let row = b.from_index(row, x[0].ty());
            b.add(x[0], row)
        }),
        Step::Flat => {
            let flat = p.reshape(a[0], &[m * n]);
            let twice = each(p, (&[m * n], elem), &[(flat, &[0])], |b, x| b.add(x[0], x[0]));
            p.reshape(twice, &[m, n])
        }
        Step::Narrow => {
            let half = ty::int(p.context(), ty::bits(elem).expect("a number") as u32 / 2);
            each(p, (&[m, n], half), &[x], |b, x| b.op("arith.trunci", &[x[0]], half))
        }
    }
}

/// What a chain gives and how many kernels it applies, before and after joining.
fn run(maker: Maker, steps: &[Step], [m, n, k]: [u64; 3]) -> [(usize, Vec<Vec<u8>>); 2] {
    let context = context();
    let module = empty_module(&context);
    let typed = |shape: &[u64]| ty::tensor(shape, ty::int(&context, 64));
    let shapes = [vec![m, k], vec![k, n], vec![m, n, k], vec![n], vec![m], vec![m, n], vec![n, m]];
    let named = INPUTS.iter().zip(&shapes);
    let inputs: Vec<_> = named.map(|(name, shape)| (name.to_string(), typed(shape))).collect();
    let mut g = GraphBuilder::new(&context, module_op(&module), "g", &inputs, &["y".to_owned()]);
    let args = g.inputs();
    let mut bits = 64;
    let whole = |bits| [ty::tensor(&[m, n], ty::int(&context, bits))];
    let mut x =
        g.op("Maker", "maker", &args[..4], &whole(bits), |p, a| vec![make(p, maker, [m, n], a)])[0];
    for (number, &step) in steps.iter().enumerate() {
        let read: Vec<_> = std::iter::once(x).chain(args[3..].iter().copied()).collect();
        let name = format!("step_{number}");
        bits /= if matches!(step, Step::Narrow) { 2 } else { 1 };
        x = g.op("Step", &name, &read, &whole(bits), |p, a| vec![take(p, step, [m, n], a)])[0];
    }
    g.finish(&[x]);
    graph::to_tile::PASS.apply(&context, module_op(&module), &[]).expect("kernels are cut");
    let given: Vec<Vec<u8>> = shapes
        .iter()
        .enumerate()
        .map(|(seed, shape)| {
            let count = shape.iter().product::<u64>();
            let number = |at| ((at * 7 + seed as u64 * 13 + 5) % 23) as i64 - 11;
            (0..count).flat_map(|at| number(at).to_le_bytes()).collect()
        })
        .collect();
    let measure = || {
        let graph = find(module_op(&module));
        let ops = graph.body(0).expect("it has a block").ops();
        let mut none = |_: &str, _: &str| Ok(Cow::Owned(Vec::new()));
        let got = run_tile_graph(graph, &given, &mut none, &mut |_, _| ()).expect("evaluates");
        (ops.iter().filter(|op| op.is("tile.run")).count(), got)
    };
    let before = measure();
    tile::fuse_elementwise::PASS.apply(&context, module_op(&module), &[]).expect("never fails");
    assert!(module_op(&module).verify());
    [before, measure()]
}

fn find(module: Op<'_>) -> Op<'_> {
    let ops = module.body(0).expect("a module has a block").ops();
    ops.into_iter().find(|op| op.is("tile.graph")).expect("the door made it")
}

/// How many kernels are left of a chain where no extent is one.
fn left(maker: Maker, steps: &[Step]) -> usize {
    // The greatest of m and n together has one axis for both, which is not cut for a reader.
    let (mut kernels, mut closed, mut fused) = (1, false, matches!(maker, Maker::Greatest));
    let (mut reduces, mut lanes, mut elem) = (!matches!(maker, Maker::Doubled), 64, 64);
    for step in steps {
        let cuts = fused && matches!(step, Step::Columns | Step::Rows);
        let reads = matches!(step, Step::Columns | Step::Rows | Step::Residual | Step::Turned);
        let own = if reads { 64 } else { elem };
        // What is done to sums is done on as many lanes as they have.
        let differs = own != lanes && !(reduces && own < lanes);
        let apart = closed || cuts || differs || matches!(step, Step::Turned | Step::Counted);
        if apart {
            (kernels, reduces, lanes) = (kernels + 1, false, own);
        }
        elem /= if matches!(step, Step::Narrow) { 2 } else { 1 };
        fused &= !apart;
        closed = matches!(step, Step::Turned);
    }
    kernels
}

fn makers() -> impl Strategy<Value = Maker> {
    prop::sample::select(vec![Maker::Product, Maker::Biased, Maker::Greatest, Maker::Doubled])
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Step::{Columns, Counted, Flat, Narrow, Residual, Rows, Squared, Turned};
    let all = vec![Columns, Rows, Residual, Squared, Flat, Turned, Counted, Narrow];
    let halved = |steps: &Vec<Step>| steps.iter().filter(|step| matches!(step, Narrow)).count();
    let steps = prop::collection::vec(prop::sample::select(all), 1..5);
    steps.prop_filter("no number has fewer than 8 bits", move |steps| halved(steps) < 4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn joined_kernels_give_what_the_parts_give(
        maker in makers(), steps in steps(), m in 2u64..6, n in 2u64..6, k in 2u64..5,
    ) {
        let [before, after] = run(maker, &steps, [m, n, k]);
        prop_assert_eq!(after.1, before.1);
        prop_assert_eq!(after.0, left(maker, &steps));
    }

    #[test]
    fn so_do_those_of_extents_of_zero_and_one(
        maker in makers(), steps in steps(), m in 0u64..3, n in 0u64..3, k in 0u64..2,
    ) {
        let [before, after] = run(maker, &steps, [m, n, k]);
        prop_assert_eq!(after.1, before.1);
        prop_assert!(after.0 <= before.0);
    }
}
