//! What programs compute, against direct evaluation.

use proptest::prelude::*;
use weft_runtime::artifact::{Artifact, write_to};
use weft_runtime::plan::{Base, Buffer, CodeKind, Kernel as Symbol, Plan};
use weft_runtime::simulate::*;
use weft_runtime::vm::Scalar;
use weft_runtime::{Model, ModelError};

use crate::toy::*;

/// Code goes through its encoding, as in an artifact.
fn through_bytes(code: &Code) -> Code {
    Code::from_bytes(&code.to_bytes().expect("plain data")).expect("what was written")
}

#[test]
fn two_units_multiply_three_matrices() {
    let code = through_bytes(&code());
    let inputs = [numbers(256, 1), numbers(256, 2), numbers(256, 3)];
    let plan = plan();
    assert_eq!(plan.validate(), Ok(()));
    let y = run(&code, &plan, &inputs).unwrap_or_else(|error| panic!("{error}"));
    let h = multiplied(&inputs[0], &inputs[1], 16);
    assert_eq!(y[0], multiplied(&h, &inputs[2], 16));
}

fn artifact(code: &Code, plan: &Plan) -> Vec<u8> {
    let plan = Plan { code: CodeKind::Simulated, ..plan.clone() };
    let mut file = std::io::Cursor::new(Vec::new());
    write_to(&mut file, &plan, &code.to_bytes().expect("plain data"), |_| Ok(())).expect("written");
    file.into_inner()
}

#[test]
fn an_artifact_runs_like_any_other() {
    let bytes = artifact(&code(), &plan());
    let mut model = Model::from_bytes(&bytes, None).expect("sound");
    assert_eq!((model.threads(), model.plan().code), (1, CodeKind::Simulated));
    let inputs: Vec<Vec<f32>> = (1..4).map(|seed| numbers(256, seed)).collect();
    let given: Vec<Vec<u8>> = inputs.iter().map(|values| self::bytes(values)).collect();
    let given: Vec<&[u8]> = given.iter().map(Vec::as_slice).collect();
    let mut y = vec![0; 1024];
    // Nothing is left over from one run to the next.
    for _ in 0..2 {
        model.run(&given, &mut [&mut y]).expect("runs");
        let h = multiplied(&inputs[0], &inputs[1], 16);
        assert_eq!(y, self::bytes(&multiplied(&h, &inputs[2], 16)));
        y.fill(0xff);
    }
}

#[test]
fn damaged_code_is_refused_with_its_reason() {
    let mut spoilt = code();
    spoilt.kernels[0].body.push(Op::Alloc(99));
    let error = Model::from_bytes(&artifact(&spoilt, &plan()), None).err().expect("refused");
    let expected = "the simulated code is wrong: kernel @product: buffer 99 does not exist, 6 do";
    assert!(matches!(error, ModelError::Simulate(_)));
    assert_eq!(error.to_string(), expected);
    let mut bytes = Vec::new();
    bytes.extend(code().to_bytes().expect("plain data"));
    bytes.push(0);
    assert!(Code::from_bytes(&bytes).is_err());
    assert!(Artifact::from_bytes(&artifact(&code(), &plan())).is_ok());
}

/// A box that is moved from an input to a scratchpad, and another from there to an output.
#[derive(Clone, Debug)]
struct Boxes {
    sizes: Vec<u64>,
    from: (u64, Vec<i64>),
    between: (u64, Vec<i64>),
    to: (u64, Vec<i64>),
    fill: f32,
}

const ELEMENTS: u64 = 512;

fn strides(sizes: Vec<u64>) -> impl Strategy<Value = (u64, Vec<i64>)> {
    let steps = prop::collection::vec(0i64..9, sizes.len());
    steps.prop_map(move |mut strides| {
        let reach = |strides: &[i64]| -> i64 {
            sizes.iter().zip(strides).map(|(&size, stride)| (size as i64 - 1) * stride).sum()
        };
        while reach(&strides) >= ELEMENTS as i64 {
            strides.iter_mut().for_each(|stride| *stride /= 2);
        }
        let room = (ELEMENTS as i64 - reach(&strides)) as u64;
        (room / 3, strides)
    })
}

fn boxes() -> impl Strategy<Value = Boxes> {
    prop::collection::vec(1u64..7, 1..4).prop_flat_map(|sizes| {
        let one = || strides(sizes.clone());
        (one(), one(), one(), Just(sizes.clone()), -4i8..4).prop_map(
            |(from, between, to, sizes, fill)| Boxes {
                sizes,
                from,
                between,
                to,
                fill: f32::from(fill),
            },
        )
    })
}

/// Every element of a box, one after the other.
fn points(sizes: &[u64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![vec![]], |points, &size| {
        let next = |point: &Vec<i64>| {
            let point = point.clone();
            (0..size as i64).map(move |i| [point.clone(), vec![i]].concat())
        };
        points.iter().flat_map(next).collect()
    })
}

fn at(point: &[i64], (offset, strides): &(u64, Vec<i64>)) -> usize {
    *offset as usize + point.iter().zip(strides).map(|(i, stride)| i * stride).sum::<i64>() as usize
}

fn boxes_kernel(boxes: &Boxes) -> Kernel {
    let mut w = Writer::new("boxes", 1, &[&[ELEMENTS], &[ELEMENTS]]);
    let zero = w.constant(0);
    let [from, between, to] =
        [&boxes.from, &boxes.between, &boxes.to].map(|side| w.constant(side.0 as i64));
    let (id, alloc) = w.buffer(SPAD, &[ELEMENTS]);
    let token = w.token();
    let mut body = vec![alloc];
    let sizes = &boxes.sizes;
    let whole = Op::Fill {
        way: IN,
        to: View::new(id, &[zero]),
        sizes: vec![ELEMENTS],
        strides: vec![1],
        value: Scalar::f32(boxes.fill),
        token: Some(token),
    };
    body.extend([whole, Op::Wait(vec![token])]);
    let middle = View::new(id, &[between]);
    let (x, y) = (View::new(0, &[from]), View::new(1, &[to]));
    let [from_strides, near_strides, to_strides] =
        [&boxes.from, &boxes.between, &boxes.to].map(|side| &side.1[..]);
    let bring = Sides { sizes, from_strides, to_strides: near_strides };
    let take = Sides { sizes, from_strides: near_strides, to_strides };
    body.push(transfer(IN, x, middle.clone(), bring, Some(token)));
    body.push(Op::Wait(vec![token]));
    let everything = View::new(1, &[zero]);
    let all = [ELEMENTS];
    body.push(transfer(
        OUT,
        View::new(id, &[zero]),
        everything,
        Sides::alike(&all, &[1]),
        Some(token),
    ));
    body.push(transfer(OUT, middle, y, take, Some(token)));
    body.push(Op::Wait(vec![token]));
    w.kernel.body = body;
    w.kernel
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Transposes, broadcasts, windows and diagonals: where elements meet, the last one stays.
    #[test]
    fn boxes_move_every_element(boxes in boxes(), seed in 0u32..1000) {
        let x = numbers(ELEMENTS as usize, seed);
        let mut middle = vec![boxes.fill; ELEMENTS as usize];
        for point in points(&boxes.sizes) {
            middle[at(&point, &boxes.between)] = x[at(&point, &boxes.from)];
        }
        let mut expected = middle.clone();
        for point in points(&boxes.sizes) {
            expected[at(&point, &boxes.to)] = middle[at(&point, &boxes.between)];
        }
        let code = through_bytes(&Code { machine: machine(), kernels: vec![boxes_kernel(&boxes)] });
        let buffer = |base| Buffer { base, offset: 0, bytes: 4 * ELEMENTS };
        let plan = Plan {
            units: 1,
            inputs: vec![port("x", &[ELEMENTS])],
            outputs: vec![port("y", &[ELEMENTS])],
            buffers: vec![buffer(Base::Input(0)), buffer(Base::Output(0))],
            kernels: vec![Symbol { symbol: "boxes".into(), scratch_bytes: 0 }],
            steps: vec![step(0, 0, [0, 1], &[0, 1], &[])],
            ops: vec!["op".into()],
            ..Plan::default()
        };
        let y = run(&code, &plan, &[x]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&y[0], &expected);
        // Every element is moved in, out whole, and out again; the fill is a move as well.
        let (report, _) = Simulator::new(&code, &plan).expect("sound").time(false).expect("runs");
        let moved = 4 * boxes.sizes.iter().product::<u64>();
        prop_assert_eq!(report.moves[0].bytes, moved + 4 * ELEMENTS);
        prop_assert_eq!(report.moves[1].bytes, moved + 4 * ELEMENTS);
        prop_assert_eq!(report.moves[0].count + report.moves[1].count, 4);
    }

    /// Products of every shape that the machine could have.
    #[test]
    fn instructions_mean_what_they_say(shape in [1u64..9, 1u64..9, 1u64..9], seed in 0u32..1000) {
        let [m, n, k] = shape;
        let mut machine = machine();
        machine.instructions = vec![mac("mac", None, shape)];
        let side = 9u64;
        let square = side * side;
        let mut w = Writer::new("one", 1, &[&[side, side], &[side, side], &[side, side]]);
        let zero = w.constant(0);
        let token = w.token();
        let mut body = Vec::new();
        let mut buffers = Vec::new();
        let (all, rows) = ([side, side], [side as i64, 1]);
        for argument in 0..2 {
            let (id, alloc) = w.buffer(SPAD, &[side, side]);
            buffers.push(View::new(id, &[zero, zero]));
            body.push(alloc);
            let from = View::new(argument, &[zero, zero]);
            let to = View::new(id, &[zero, zero]);
            body.push(transfer(IN, from, to, Sides::alike(&all, &rows), Some(token)));
        }
        let (id, alloc) = w.buffer(SPAD, &[side, side]);
        buffers.push(View::new(id, &[zero, zero]));
        let to = View::new(id, &[zero, zero]);
        body.extend([alloc, fill(IN, to.clone(), &all, &rows, Some(token)), Op::Wait(vec![token])]);
        body.push(Op::Invoke { instruction: 0, views: buffers, token: None });
        let out = View::new(2, &[zero, zero]);
        body.push(transfer(OUT, to, out, Sides::alike(&all, &rows), Some(token)));
        body.push(Op::Wait(vec![token]));
        w.kernel.body = body;
        let code = Code { machine, kernels: vec![w.kernel] };
        let buffer = |base| Buffer { base, offset: 0, bytes: 4 * square };
        let plan = Plan {
            units: 1,
            inputs: vec![port("a", &[square]), port("b", &[square])],
            outputs: vec![port("c", &[square])],
            buffers: vec![buffer(Base::Input(0)), buffer(Base::Input(1)), buffer(Base::Output(0))],
            kernels: vec![Symbol { symbol: "one".into(), scratch_bytes: 0 }],
            steps: vec![step(0, 0, [0, 1], &[0, 1, 2], &[])],
            ops: vec!["op".into()],
            ..Plan::default()
        };
        let (a, b) = (numbers(square as usize, seed), numbers(square as usize, seed + 1));
        let mut expected = vec![0f32; square as usize];
        for i in 0..m as usize {
            for j in 0..n as usize {
                for l in 0..k as usize {
                    expected[i * 9 + j] += a[i * 9 + l] * b[l * 9 + j];
                }
            }
        }
        let c = run(&code, &plan, &[a, b]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&c[0], &expected);
    }
}

/// A step may read through the arena what it wrote there itself, whoever wrote those bytes before.
#[test]
fn a_step_reads_back_what_it_wrote() {
    let mut w = Writer::new("through", 1, &[&[256], &[256], &[256]]);
    let zero = w.constant(0);
    let (near, alloc) = w.buffer(SPAD, &[256]);
    let (again, alloc_again) = w.buffer(SPAD, &[256]);
    let token = w.token();
    let view = |buffer| View::new(buffer, &[zero]);
    let moved = |way, from, to| {
        transfer(way, view(from), view(to), Sides::alike(&[256], &[1]), Some(token))
    };
    let wait = || Op::Wait(vec![token]);
    w.kernel.body = vec![alloc, alloc_again];
    for (way, from, to) in [(IN, 0, near), (OUT, near, 1), (IN, 1, again), (OUT, again, 2)] {
        w.kernel.body.extend([moved(way, from, to), wait()]);
    }
    let buffer = |base, offset| Buffer { base, offset, bytes: 1024 };
    let plan = Plan {
        units: 1,
        arena_bytes: 1088,
        inputs: vec![port("x", &[256])],
        outputs: vec![port("y", &[256]), port("z", &[256])],
        buffers: vec![
            buffer(Base::Input(0), 0),
            buffer(Base::Arena, 0),
            buffer(Base::Arena, 64),
            buffer(Base::Output(0), 0),
            buffer(Base::Output(1), 0),
        ],
        kernels: vec![Symbol { symbol: "through".into(), scratch_bytes: 0 }],
        steps: vec![step(0, 0, [0, 1], &[0, 1, 3], &[]), step(0, 0, [0, 1], &[0, 2, 4], &[0])],
        ops: vec!["op".into()],
        ..Plan::default()
    };
    let x = numbers(256, 7);
    let given =
        run(&Code { machine: machine(), kernels: vec![w.kernel] }, &plan, std::slice::from_ref(&x));
    assert_eq!(given.expect("sound"), [x.clone(), x]);
}
