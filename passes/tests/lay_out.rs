//! Graphs whose tensors lie in panels give what they gave, by the interpreter, in whole numbers.

use std::borrow::Cow;

use proptest::prelude::*;
use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{Context, Linear, Module, Op, Val, context, module_op, parse, ty};
use weft_passes::interpret::run_tile_graph;
use weft_passes::{graph, tile};

/// Lanes of four whole numbers, and a cache for one core.
const MACHINE: &str = r#"
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([i64]) operations(["arith.addi", "arith.muli", "arith.maxsi", "arith.index_cast"]) reductions([])
}
"#;

/// What becomes of `x[c, h, w]`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Every channel a sum of all.
    Mix,
    /// The same of windows of 3 x 3 with a border, this far apart.
    Window(u64),
    /// Each channel's own windows.
    Depthwise(u64),
    /// Sums of two channels each.
    Grouped,
    /// Beside itself, and mixed.
    Beside,
    /// The halves of the channels change places.
    Swapped,
    /// Plus the sum of each channel.
    Squeezed,
    /// Squared, and plus itself.
    Residual,
    /// Doubled, seen as one dimension.
    Flat,
    /// Plus the number of the channel.
    Counted,
    /// Seen the other way round.
    Turned,
}

const WEIGHTS: [&str; 5] = ["mix", "window", "own", "pairs", "wide"];

fn weights(c: u64) -> [Vec<u64>; 5] {
    [vec![c, c], vec![c, c, 3, 3], vec![c, 3, 3], vec![c / 2, 2, 2], vec![c, 2 * c]]
}

/// `y = Σ x · k`, or without `k` the sum of `x`; the last axes are folded.
fn sum<'c>(
    p: &mut Payload<'c>,
    out: (&[u64], usize),
    axes: usize,
    x: (Val<'c>, Vec<Linear>),
    k: Option<(Val<'c>, Vec<Linear>)>,
) -> Val<'c> {
    let (shape, parallel) = out;
    let start = p.fill_int(0, shape, ty::int(p.context(), 64));
    let kinds: Vec<_> = (0..axes)
        .map(|axis| if axis < parallel { Axis::Parallel } else { Axis::Reduction })
        .collect();
    let place: Vec<_> = (0..parallel).map(|axis| Linear::axis(axes, axis)).collect();
    let inputs: Vec<_> = std::iter::once(x).chain(k).collect();
    p.generic(&kinds, &inputs, &[(start, place)], |b, x| match x {
        [x, k, sum] => {
            let product = b.mul(*x, *k);
            vec![b.add(*sum, product)]
        }
        _ => vec![b.add(x[1], x[0])],
    })[0]
}

fn each<'c>(
    p: &mut Payload<'c>,
    shape: &[u64],
    inputs: &[(Val<'c>, &[usize])],
    body: impl FnOnce(&mut Scalar<'c>, &[Val<'c>]) -> Val<'c>,
) -> Val<'c> {
    let along = |axes: &[usize]| axes.iter().map(|&a| Linear::axis(shape.len(), a)).collect();
    let inputs: Vec<_> = inputs.iter().map(|(value, axes)| (*value, along(axes))).collect();
    let out = p.empty(shape, ty::int(p.context(), 64));
    let all: Vec<usize> = (0..shape.len()).collect();
    let kinds = vec![Axis::Parallel; shape.len()];
    p.generic(&kinds, &inputs, &[(out, along(&all))], |b, args| vec![body(b, args)])[0]
}

/// Zeros around the last two dimensions.
fn bordered<'c>(p: &mut Payload<'c>, x: Val<'c>, [c, h, w]: [u64; 3]) -> Val<'c> {
    let zeros = p.fill_int(0, &[c, h + 2, w + 2], ty::int(p.context(), 64));
    p.insert(x, zeros, &[0, 1, 1], &[1, 1, 1])
}

/// The shape after a step.
fn after(step: Step, [c, h, w]: [u64; 3]) -> [u64; 3] {
    match step {
        Step::Window(by) | Step::Depthwise(by) => [c, h.div_ceil(by), w.div_ceil(by)],
        Step::Turned => [c, w, h],
        _ => [c, h, w],
    }
}

fn take<'c>(
    p: &mut Payload<'c>,
    step: Step,
    shape: [u64; 3],
    x: Val<'c>,
    k: &[Val<'c>],
) -> Val<'c> {
    let [c, h, w] = shape;
    let out = after(step, shape);
    let a = |axes: usize, of: &[usize]| -> Vec<_> {
        of.iter().map(|&axis| Linear::axis(axes, axis)).collect()
    };
    match step {
        Step::Mix => sum(p, (&out, 3), 4, (x, a(4, &[3, 1, 2])), Some((k[0], a(4, &[0, 3])))),
        Step::Window(by) => {
            let x = bordered(p, x, shape);
            let at = |axis, tap| Linear::axis(6, tap).plus(axis, by as i64);
            let read = vec![Linear::axis(6, 3), at(1, 4), at(2, 5)];
            sum(p, (&out, 3), 6, (x, read), Some((k[1], a(6, &[0, 3, 4, 5]))))
        }
        Step::Depthwise(by) => {
            let x = bordered(p, x, shape);
            let at = |axis, tap| Linear::axis(5, tap).plus(axis, by as i64);
            let read = vec![Linear::axis(5, 0), at(1, 3), at(2, 4)];
            sum(p, (&out, 3), 5, (x, read), Some((k[2], a(5, &[0, 3, 4]))))
        }
        Step::Grouped => {
            let x = p.reshape(x, &[c / 2, 2, h * w]);
            let read = (x, a(4, &[0, 3, 2]));
            let y = sum(p, (&[c / 2, 2, h * w], 3), 4, read, Some((k[3], a(4, &[0, 1, 3]))));
            p.reshape(y, &out)
        }
        Step::Beside => {
            let both = p.empty(&[2 * c, h, w], ty::int(p.context(), 64));
            let both = p.insert(x, both, &[0, 0, 0], &[1, 1, 1]);
            let both = p.insert(x, both, &[c as i64, 0, 0], &[1, 1, 1]);
            sum(p, (&out, 3), 4, (both, a(4, &[3, 1, 2])), Some((k[4], a(4, &[0, 3]))))
        }
        Step::Swapped => {
            let half = c as i64 / 2;
            let [low, high] = [0, half]
                .map(|at| p.slice(x, &[at, 0, 0], &[c as i64 / 2, h as i64, w as i64], &[1, 1, 1]));
            let y = p.empty(&out, ty::int(p.context(), 64));
            let y = p.insert(high, y, &[0, 0, 0], &[1, 1, 1]);
            p.insert(low, y, &[half, 0, 0], &[1, 1, 1])
        }
        Step::Squeezed => {
            let all = sum(p, (&[c], 1), 3, (x, a(3, &[0, 1, 2])), None);
            each(p, &out, &[(x, &[0, 1, 2]), (all, &[0])], |b, x| b.add(x[0], x[1]))
        }
        Step::Residual => {
            let square = each(p, &out, &[(x, &[0, 1, 2])], |b, x| b.mul(x[0], x[0]));
            each(p, &out, &[(square, &[0, 1, 2]), (x, &[0, 1, 2])], |b, x| b.add(x[0], x[1]))
        }
        Step::Flat => {
            let flat = p.reshape(x, &[c * h * w]);
            let twice = each(p, &[c * h * w], &[(flat, &[0])], |b, x| b.add(x[0], x[0]));
            p.reshape(twice, &out)
        }
        Step::Counted => each(p, &out, &[(x, &[0, 1, 2])], |b, x| {
            let channel = b.index(0);
            let channel = b.from_index(channel, x[0].ty());
            b.add(x[0], channel)
        }),
        Step::Turned => each(p, &out, &[(x, &[0, 2, 1])], |_, x| x[0]),
    }
}

/// A chain of steps, each an operator, between two sums over channels.
fn chain<'c>(context: &'c Context, steps: &[Step], shape: [u64; 3]) -> Module<'c> {
    let module = parse(context, MACHINE).expect("it parses");
    let typed = |shape: &[u64]| ty::tensor(shape, ty::int(context, 64));
    let named = WEIGHTS.iter().map(|name| name.to_string()).zip(weights(shape[0]));
    let inputs: Vec<_> = std::iter::once(("x".to_owned(), typed(&shape)))
        .chain(named.map(|(name, shape)| (name, typed(&shape))))
        .collect();
    let mut g = GraphBuilder::new(context, module_op(&module), "g", &inputs, &["y".to_owned()]);
    let args = g.inputs();
    let (mut x, mut shape) = (args[0], shape);
    let steps = [&[Step::Mix], steps, &[Step::Mix]].concat();
    for (number, step) in steps.into_iter().enumerate() {
        let read: Vec<_> = std::iter::once(x).chain(args[1..].iter().copied()).collect();
        let out = after(step, shape);
        x = g.op("Step", &format!("step_{number}"), &read, &[typed(&out)], |p, a| {
            vec![take(p, step, shape, a[0], &a[1..])]
        })[0];
        shape = out;
    }
    g.finish(&[x]);
    graph::to_tile::PASS.apply(context, module_op(&module), &[]).expect("kernels are cut");
    module
}

fn find(module: Op<'_>) -> Op<'_> {
    let ops = module.body(0).expect("a module has a block").ops();
    ops.into_iter().find(|op| op.is("tile.graph")).expect("the door made it")
}

/// What a chain gives as it is and in panels, after it was `fused` or not, and how many of its
/// kernels are on panels.
fn run(steps: &[Step], shape: [u64; 3], fused: bool) -> ([Vec<Vec<u8>>; 2], usize) {
    let context = context();
    let module = chain(&context, steps, shape);
    let given: Vec<Vec<u8>> = std::iter::once(shape.to_vec())
        .chain(weights(shape[0]))
        .enumerate()
        .map(|(seed, shape)| {
            let number = |at| ((at * 7 + seed as u64 * 13 + 5) % 23) as i64 - 11;
            (0..shape.iter().product()).flat_map(|at| number(at).to_le_bytes()).collect()
        })
        .collect();
    let measure = || {
        let mut none = |_: &str, _: &str| Ok(Cow::Owned(Vec::new()));
        let graph = find(module_op(&module));
        run_tile_graph(graph, &given, &mut none, &mut |_, _| ()).expect("evaluates")
    };
    if fused {
        tile::fuse_elementwise::PASS.apply(&context, module_op(&module), &[]).expect("fuses");
    }
    let before = measure();
    let all = [("tensors", "all")];
    tile::lay_out::PASS.apply(&context, module_op(&module), &all).expect("lays out");
    assert!(module_op(&module).verify());
    let ops = module_op(&module).body(0).expect("a module has a block").ops();
    let kernels = ops.into_iter().filter(|op| op.is("tile.kernel"));
    let panels = kernels.filter(|op| op.symbol().contains("_panels")).count();
    ([before, measure()], panels)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Step::*;
    let all = vec![
        Mix,
        Window(1),
        Window(2),
        Depthwise(1),
        Depthwise(2),
        Grouped,
        Beside,
        Swapped,
        Squeezed,
        Residual,
        Flat,
        Counted,
        Turned,
    ];
    prop::collection::vec(prop::sample::select(all), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn panels_change_no_result(
        steps in steps(), c in prop::sample::select(vec![4u64, 6, 8, 16]),
        h in 1u64..6, w in 1u64..6, fused: bool,
    ) {
        let ([before, after], _) = run(&steps, [c, h, w], fused);
        prop_assert_eq!(after, before);
    }

    #[test]
    fn nor_do_those_of_no_elements(
        steps in steps(), c in prop::sample::select(vec![0u64, 4]), h in 0u64..2, w in 0u64..2,
    ) {
        let ([before, after], _) = run(&steps, [c, h, w], true);
        prop_assert_eq!(after, before);
    }
}

/// Kernels of a chain that are on panels.
fn on_panels(steps: &[Step], channels: u64) -> usize {
    let ([before, after], panels) = run(steps, [channels, 5, 3], true);
    assert_eq!(after, before);
    panels
}

#[test]
fn what_lies_between_sums_over_channels_lies_in_panels() {
    // One kernel writes, one reads.
    assert_eq!(on_panels(&[], 8), 2);
    // The copy into the padded tensor, too; filling it does the same wherever elements lie.
    assert_eq!(on_panels(&[Step::Window(1)], 8), 4);
    // Channels go along with it through windows of their own, groups and halves.
    assert_eq!(on_panels(&[Step::Depthwise(2)], 8), 3);
    assert_eq!(on_panels(&[Step::Grouped], 8), 3);
    assert_eq!(on_panels(&[Step::Swapped], 8), 4);
    // Halves of one panel change places inside it.
    assert_eq!(on_panels(&[Step::Swapped], 4), 4);
}

#[test]
fn what_does_not_fit_panels_lies_as_it_did() {
    // Six channels are no panels of four.
    assert_eq!(on_panels(&[], 6), 0);
    // Who asks for the number of a channel keeps both of its tensors.
    assert_eq!(on_panels(&[Step::Counted], 8), 0);
}
