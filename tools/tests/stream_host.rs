//! Models that do not fit the memory declared for them, streamed through it: the results are
//! those without a limit, in whole numbers, and the bytes that pass are those counted by hand.

use std::borrow::Cow;
use std::collections::HashSet;

use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Context, Linear, Module, Op, Val, context, module_op, parse, ty};
use weft_dialects::task::{Program, Range};
use weft_dialects::tile::Graph;
use weft_passes::interpret::run_tile_graph;
use weft_passes::{graph, task, tile};

const ROWS: u64 = 16;
const COLUMNS: u64 = 8;

/// A machine with that much memory for activations.
fn machine(capacity: u64) -> String {
    format!(
        r#"device.machine @small arch("small") features([]) {{
  device.memory @dram scope("device") capacity_bytes({capacity}) bytes_per_cycle(16)
  device.memory @host scope("host") capacity_bytes(1073741824) bytes_per_cycle(4)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @bring from @host to @dram bytes_per_cycle(4)
  device.move @take from @dram to @host bytes_per_cycle(4)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([i64])
    operations(["arith.addi", "arith.muli", "arith.maxsi"]) reductions(["arith.addi", "arith.maxsi"])
}}"#
    )
}

/// A 3 x 3 convolution of `x`, c by h by w, with a border of zeros.
fn conv<'c>(p: &mut Payload<'c>, x: Val<'c>, weight: Val<'c>) -> Val<'c> {
    let elem = ty::int(p.context(), 64);
    let [c, h, w] = <[u64; 3]>::try_from(ty::shape(x.ty()).expect("static")).expect("an image");
    let filters = ty::shape(weight.ty()).expect("static")[0];
    let zeros = p.fill_int(0, &[c, h + 2, w + 2], elem);
    let padded = p.insert(x, zeros, &[0, 1, 1], &[1; 3]);
    let start = p.fill_int(0, &[filters, h, w], elem);
    let axis = |axis| Linear::axis(6, axis);
    let read = vec![axis(3), axis(1).plus(4, 1), axis(2).plus(5, 1)];
    let weights = vec![axis(0), axis(3), axis(4), axis(5)];
    let kinds = [[Axis::Parallel; 3], [Axis::Reduction; 3]].concat();
    let inputs = [(padded, read), (weight, weights)];
    let place = [(start, vec![axis(0), axis(1), axis(2)])];
    p.generic(&kinds, &inputs, &place, |b, x| {
        let product = b.mul(x[0], x[1]);
        vec![b.add(x[2], product)]
    })[0]
}

/// The greatest of each 2 x 2.
fn pool<'c>(p: &mut Payload<'c>, x: Val<'c>) -> Val<'c> {
    let elem = ty::int(p.context(), 64);
    let [c, h, w] = <[u64; 3]>::try_from(ty::shape(x.ty()).expect("static")).expect("an image");
    let (window, start) =
        (p.empty(&[2, 2], elem), p.fill_int(-1_000_000_000, &[c, h / 2, w / 2], elem));
    let axis = |axis| Linear::axis(5, axis);
    let read = vec![axis(0), axis(1).scale(2).plus(3, 1), axis(2).scale(2).plus(4, 1)];
    let kinds = [&[Axis::Parallel; 3][..], &[Axis::Reduction; 2]].concat();
    let inputs = [(x, read), (window, vec![axis(3), axis(4)])];
    let place = [(start, vec![axis(0), axis(1), axis(2)])];
    p.generic(&kinds, &inputs, &place, |b, x| vec![b.same("arith.maxsi", &[x[2], x[0]])])[0]
}

/// Every element twice along both directions.
fn upsample<'c>(p: &mut Payload<'c>, x: Val<'c>) -> Val<'c> {
    let elem = ty::int(p.context(), 64);
    let [c, h, w] = <[u64; 3]>::try_from(ty::shape(x.ty()).expect("static")).expect("an image");
    let place = p.empty(&[c, h, 2, w, 2], elem);
    let axis = |axis| Linear::axis(5, axis);
    let read = vec![axis(0), axis(1), axis(3)];
    let all = (0..5).map(axis).collect();
    let kinds = [Axis::Parallel; 5];
    let twice = p.generic(&kinds, &[(x, read)], &[(place, all)], |_, x| vec![x[0]])[0];
    p.reshape(twice, &[c, 2 * h, 2 * w])
}

/// The channels of one after those of the other.
fn concat<'c>(p: &mut Payload<'c>, one: Val<'c>, other: Val<'c>) -> Val<'c> {
    let elem = ty::int(p.context(), 64);
    let [a, b] = [one, other].map(|x| ty::shape(x.ty()).expect("static"));
    let place = p.empty(&[a[0] + b[0], a[1], a[2]], elem);
    let first = p.insert(one, place, &[0; 3], &[1; 3]);
    p.insert(other, first, &[a[0] as i64, 0, 0], &[1; 3])
}

/// What a network looks like: layers in their order.
#[derive(Clone, Copy)]
enum Layer {
    /// A convolution to so many channels.
    Conv(u64),
    /// Half the image; what was there before waits for `Up`.
    Down,
    /// Twice the image, and what waited.
    Up,
}

/// The network on an image of one channel, cut into kernels, for a machine.
fn network<'c>(context: &'c Context, layers: &[Layer], capacity: u64) -> Module<'c> {
    let module = parse(context, &machine(capacity)).expect("the machine is read");
    let typed = |shape: &[u64]| ty::tensor(shape, ty::int(context, 64));
    let inputs = [("image".to_owned(), typed(&[1, ROWS, COLUMNS]))];
    let mut g = GraphBuilder::new(context, module_op(&module), "net", &inputs, &["y".to_owned()]);
    let mut x = g.inputs()[0];
    let mut skips = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        let shape = ty::shape(x.ty()).expect("static");
        let (c, h, w) = (shape[0], shape[1], shape[2]);
        let name = format!("layer_{number}");
        x = match *layer {
            Layer::Conv(filters) => {
                let count = filters * c * 9;
                let number = |at: u64| ((at * 7 + number as u64 * 5) % 5) as i64 - 2;
                let bytes: Vec<u8> = (0..count).flat_map(|at| number(at).to_le_bytes()).collect();
                let weight = g.constant(typed(&[filters, c, 3, 3]), &bytes);
                let result = [typed(&[filters, h, w])];
                g.op("Conv", &name, &[x, weight], &result, |p, a| vec![conv(p, a[0], a[1])])[0]
            }
            Layer::Down => {
                skips.push(x);
                let result = [typed(&[c, h / 2, w / 2])];
                g.op("Pool", &name, &[x], &result, |p, a| vec![pool(p, a[0])])[0]
            }
            Layer::Up => {
                let skip = skips.pop().expect("as many ups as downs");
                let waited = ty::shape(skip.ty()).expect("static")[0];
                let up = [typed(&[c, 2 * h, 2 * w])];
                let large = g.op("Up", &name, &[x], &up, |p, a| vec![upsample(p, a[0])])[0];
                let both = [typed(&[waited + c, 2 * h, 2 * w])];
                let join = format!("{name}_join");
                g.op("Concat", &join, &[skip, large], &both, |p, a| vec![concat(p, a[0], a[1])])[0]
            }
        };
    }
    g.finish(&[x]);
    graph::to_tile::PASS.apply(context, module_op(&module), &[]).expect("kernels are cut");
    tile::fuse_elementwise::PASS.apply(context, module_op(&module), &[]).expect("never fails");
    module
}

fn find<'c>(module: Op<'c>, name: &str) -> Op<'c> {
    let ops = module.body(0).expect("a module has a block").ops();
    ops.into_iter().find(|op| op.is(name)).expect("it is there")
}

fn result(module: Op<'_>) -> Vec<Vec<u8>> {
    let number = |at: u64| ((at * 11 + 3) % 17) as i64 - 8;
    let image: Vec<u8> = (0..ROWS * COLUMNS).flat_map(|at| number(at).to_le_bytes()).collect();
    let mut none = |_: &str, _: &str| Ok(Cow::Owned(Vec::new()));
    let given = [image];
    run_tile_graph(find(module, "tile.graph"), &given, &mut none, &mut |_, _| ()).expect("runs")
}

/// Runs that move something between the memories.
fn moves(module: Op<'_>) -> usize {
    let graph = Graph::of(find(module, "tile.graph")).expect("a graph");
    graph.body.ops().iter().filter(|op| op.attr("move").is_some()).count()
}

/// The ranges that one of them comes after, through tokens.
fn before(ranges: &[Range<'_>], number: usize) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut left = vec![number];
    while let Some(range) = left.pop() {
        let waits = |other: &usize| ranges[range].waits.contains(&ranges[*other].token());
        left.extend((0..range).filter(waits).filter(|&other| found.insert(other)));
    }
    found
}

struct Streamed {
    arena: u64,
    host_arena: u64,
    moved: Vec<(String, u64)>,
    moves: usize,
    /// For each range that brings something in, whether what is taken out next may be done
    /// without it.
    beside: Vec<bool>,
}

/// Streams a network through that much memory; its results have to be those without a limit.
fn stream(layers: &[Layer], capacity: u64) -> Streamed {
    let context = context();
    let module = network(&context, layers, capacity);
    let op = module_op(&module);
    let unlimited = result(op);
    tile::stream_host::PASS.apply(&context, op, &[]).expect("there are tiles that fit");
    assert!(op.verify());
    assert_eq!(result(op), unlimited);
    let moves = moves(op);
    tile::construct_rtiles::PASS.apply(&context, op, &[]).expect("kernels get tiles");
    task::from_tile::PASS.apply(&context, op, &[]).expect("buffers fit");
    assert!(op.verify());
    let program = Program::of(find(op, "task.program")).expect("a program");
    assert!(program.arena <= capacity, "{} of {capacity} bytes", program.arena);
    let checked = task::check_order::check(&context, op, &program).expect("it is read");
    assert!(checked.unordered.is_empty());
    let ranges = program.ranges();
    let named = |number: usize, name: &str| ranges[number].kernel.starts_with(name);
    let beside = |bring: usize| {
        let take = (bring..ranges.len()).find(|&number| named(number, "stream_out"));
        take.is_some_and(|take| !before(&ranges, take).contains(&bring))
    };
    let brings = (0..ranges.len()).filter(|&number| named(number, "stream_in"));
    Streamed {
        beside: brings.map(beside).collect(),
        arena: program.arena,
        host_arena: program.host_arena,
        moved: program.moved.iter().map(|&(name, bytes)| (name.to_owned(), bytes)).collect(),
        moves,
    }
}

/// Two convolutions in four slabs of four rows. The outer slabs need five rows of what lies between
/// and six of the image, the inner ones six and eight: a row is 64 bytes.
#[test]
fn we_10_a_chain_moves_what_its_halos_say() {
    let streamed = stream(&[Layer::Conv(1), Layer::Conv(1)], 2700);
    let moved = [("bring".to_owned(), (6 + 8 + 8 + 6) * 64), ("take".to_owned(), 16 * 64)];
    assert_eq!(streamed.moved, moved);
    assert_eq!(streamed.moves, 8);
    // Nothing lies with the host but what the model is given and gives.
    assert_eq!(streamed.host_arena, 0);
}

/// Each tile but the first is brought in while the one before it is computed: no token orders the two.
#[test]
fn we_10_the_next_tile_comes_in_beside_this_one() {
    let streamed = stream(&[Layer::Conv(1), Layer::Conv(1)], 2700);
    assert_eq!(streamed.beside, [false, true, true, true]);
}

/// Where everything fits nothing is moved, and the graph stays as it is.
#[test]
fn we_10_what_fits_is_left_alone() {
    let streamed = stream(&[Layer::Conv(1), Layer::Conv(1)], 1 << 20);
    assert_eq!((streamed.moves, streamed.host_arena), (0, 0));
    assert!(streamed.moved.is_empty());
}

/// A U-Net's skip connections wait with the host while the middle is done.
#[test]
fn we_10_skip_connections_wait_with_the_host() {
    use Layer::{Conv, Down, Up};
    let layers =
        [Conv(4), Conv(4), Down, Conv(8), Conv(8), Down, Conv(16), Up, Conv(8), Up, Conv(4)];
    let whole = stream(&layers, 1 << 20);
    for capacity in [24_000, 16_000, 12_000] {
        let streamed = stream(&layers, capacity);
        assert!(streamed.arena < whole.arena);
        assert!(streamed.moves > 2, "{} moves in {capacity} bytes", streamed.moves);
    }
}

/// A machine whose memory holds no tile of some step says so, with both numbers.
#[test]
fn we_10_no_tile_fits() {
    let context = context();
    let module = network(&context, &[Layer::Conv(64)], 600);
    let op = module_op(&module);
    assert!(tile::stream_host::PASS.apply(&context, op, &[]).is_err());
}
