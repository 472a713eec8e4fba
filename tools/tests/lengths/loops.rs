//! Control flow that a run decides: loops that are repeated, branches of which one is done. The reference writes
//! loops out, where they have an end; of the others the answer is counted.

use std::thread;
use std::time::Duration;

use weft_onnx::proto::AttributeProto;
use weft_onnx::proto::tensor_proto::DataType;

use super::net::{Dim, Net, int, ints};
use super::run::{Lengths, Subject, run};
use super::{SEQ, check, symbol};

const STATE: [DataType; 3] = [DataType::Int64, DataType::Bool, DataType::Float];

fn fixed(dims: &[i64]) -> Vec<Dim> {
    dims.iter().map(|&dim| Dim::Fixed(dim)).collect()
}

/// A recurrence over the rows of `x`, [rows, batch, 12]: what it ends with, and all of them.
fn recurrence(rows: Dim, batch: Dim, rounds: Option<i64>) -> Subject {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[rows, batch, Dim::Fixed(12)]);
    let start = net.input(DataType::Float, &[batch, Dim::Fixed(20)]);
    let w = net.floats(&[12, 20], |place| (place % 7) as f32 / 7.0 - 0.4);
    let u = net.floats(&[20, 20], |place| ((place * 3) % 11) as f32 / 22.0 - 0.2);
    let rounds = match rounds {
        Some(rounds) => net.longs(&[rounds]),
        None => {
            let (shape, zero) = (net.op("Shape", &[&x], &[]), net.longs(&[0]));
            net.op("Gather", &[&shape, &zero], &[])
        }
    };
    let body = net.body("body", &STATE, |net, given| {
        let row = net.op("Gather", &[&x, &given[0]], &[int("axis", 0)]);
        let [row, old] = [(&row, &w), (&given[2], &u)].map(|(x, w)| net.op("MatMul", &[x, w], &[]));
        let sum = net.op("Add", &[&row, &old], &[]);
        let next = net.op("Tanh", &[&sum], &[]);
        let more = net.op("Identity", &[&given[1]], &[]);
        vec![more, next.clone(), net.op("Neg", &[&next], &[])]
    });
    let made = net.several("Loop", &[&rounds, "", &start], &[body], 2);
    let behind = net.op("Exp", &[&made[1]], &[]);
    Subject::new(net, &[&made[0], &behind])
}

#[test]
fn rounds_that_are_known() {
    for rounds in [1, 8, 9, 40] {
        let subject = recurrence(Dim::Fixed(40), Dim::Fixed(3), Some(rounds));
        check(&subject, &[], &[&[]]);
    }
}

/// As many as a length, with states of a length.
#[test]
fn rounds_that_callers_decide() {
    let subject = recurrence(SEQ, Dim::Named("batch"), None);
    let symbols = [symbol("seq", 0, 30), symbol("batch", 0, 5)];
    check(&subject, &symbols, &[&[30, 5], &[1, 1], &[13, 0], &[29, 2]]);
    // No row at all: it ends with what it begins with.
    let mut model = subject.compile(&symbols, 2).expect("it compiles");
    let lengths: Lengths = [("seq".to_owned(), 0), ("batch".to_owned(), 3)].into();
    let data = subject.data(&lengths, 5);
    let found = run(&mut model, &subject.shapes(&lengths), &data).expect("it runs");
    assert_eq!(found, [data[1].clone(), Vec::new()]);
}

/// A loop that a number among the inputs bounds.
#[test]
fn rounds_that_data_decide() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &fixed(&[6]));
    let rounds = net.input(DataType::Int64, &[]);
    let half = net.scalar(0.5);
    let body = net.body("body", &STATE, |net, given| {
        vec![net.op("Identity", &[&given[1]], &[]), net.op("Mul", &[&given[2], &half], &[])]
    });
    let y = net.op("Loop", &[&rounds, "", &x], &[body]);
    let subject = Subject::new(net, &[&y]);
    for units in [1, 2] {
        let mut model = subject.compile(&[], units).expect("it compiles");
        for rounds in [3i64, 0, 1, -7, 100, 5000] {
            let x: Vec<u8> = (1..7).flat_map(|x| (x as f32).to_le_bytes()).collect();
            let data = [x, rounds.to_le_bytes().to_vec()];
            let found = run(&mut model, &subject.shapes(&Lengths::new()), &data).expect("it runs");
            let factor = 0.5f32.powi(rounds.clamp(0, 200) as i32);
            let expected: Vec<u8> =
                (1..7).flat_map(|x| (x as f32 * factor).to_le_bytes()).collect();
            assert_eq!(found[0], expected, "{rounds} rounds on {units} units");
        }
    }
}

/// Steps of the sequence that halves even numbers and makes `3 n + 1` of others, until it is one; and the numbers
/// on the way, of which there are `most` at most.
fn steps(most: Option<i64>) -> Subject {
    let mut net = Net::default();
    let start = net.input(DataType::Int64, &fixed(&[1]));
    let [one, two, three, zero] = [1, 2, 3, 0].map(|number| net.longs(&[number]));
    let open = net.op("Greater", &[&start, &one], &[]);
    let rounds = most.map_or(String::new(), |most| net.longs(&[most]));
    let types = [DataType::Int64, DataType::Bool, DataType::Int64, DataType::Int64];
    let body = net.body("body", &types, |net, given| {
        let rest = net.op("Mod", &[&given[2], &two], &[]);
        let even = net.op("Equal", &[&rest, &zero], &[]);
        let half = net.op("Div", &[&given[2], &two], &[]);
        let more = net.op("Mul", &[&given[2], &three], &[]);
        let more = net.op("Add", &[&more, &one], &[]);
        let next = net.op("Where", &[&even, &half, &more], &[]);
        let count = net.op("Add", &[&given[3], &one], &[]);
        let goes_on = net.op("Greater", &[&next, &one], &[]);
        let mut made = vec![goes_on, next.clone(), count];
        made.extend(most.map(|_| next));
        made
    });
    let outputs = if most.is_some() { 3 } else { 2 };
    let made = net.several("Loop", &[&rounds, &open, &start, &zero], &[body], outputs);
    let made: Vec<&str> = made[1..].iter().map(String::as_str).collect();
    Subject::new(net, &made)
}

fn counted(mut number: i64) -> Vec<i64> {
    let mut all = Vec::new();
    while number > 1 {
        number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
        all.push(number);
    }
    all
}

fn bytes(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn a_condition_ends_a_loop() {
    for (most, units) in [(None, 1), (None, 2), (Some(20), 1), (Some(20), 2)] {
        let subject = steps(most);
        let mut model = subject.compile(&[], units).expect("it compiles");
        for start in [27, 1, 2, 7, 6] {
            let shapes = subject.shapes(&Lengths::new());
            let found = run(&mut model, &shapes, &[bytes(&[start])]).expect("it runs");
            let mut all = counted(start);
            all.truncate(most.map_or(usize::MAX, |most| most as usize));
            let mut expected = vec![bytes(&[all.len() as i64])];
            expected.extend(most.map(|_| bytes(&all)));
            assert_eq!(found, expected, "from {start}, {most:?} at most, on {units} units");
        }
    }
}

/// What two states become is what the other one was.
#[test]
fn states_that_are_exchanged() {
    let mut net = Net::default();
    let [x, y] = [0, 1].map(|_| net.input(DataType::Float, &[SEQ, Dim::Fixed(5)]));
    let rounds = net.longs(&[33]);
    let types = [DataType::Int64, DataType::Bool, DataType::Float, DataType::Float];
    let body = net.body("body", &types, |net, given| {
        let pass = |net: &mut Net, at: usize| net.op("Identity", &[&given[at]], &[]);
        vec![pass(net, 1), pass(net, 3), pass(net, 2)]
    });
    let made = net.several("Loop", &[&rounds, "", &x, &y], &[body], 2);
    let sum = net.op("Sub", &[&made[0], &made[1]], &[]);
    let subject = Subject::new(net, &[&made[0], &sum]);
    check(&subject, &[symbol("seq", 0, 9)], &[&[9], &[0], &[4]]);
}

/// The inner loop is done as often as the outer one's round says, with rows that data keep beside it.
#[test]
fn loops_in_loops() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ, Dim::Fixed(6)]);
    let marks = net.input(DataType::Int64, &[SEQ]);
    let kept = net.op("Cast", &[&marks], &[int("to", DataType::Bool as i64)]);
    let kept = net.op("Compress", &[&x, &kept], &[int("axis", 0)]);
    let start = net.floats(&[6], |place| place as f32);
    let shape = net.op("Shape", &[&kept], &[]);
    let [zero, half] = [net.longs(&[0]), net.scalar(0.5)];
    let many = net.op("Gather", &[&shape, &zero], &[]);
    let sum = net.op("ReduceSum", &[&kept, &zero], &[int("keepdims", 0)]);
    let body = net.body("body", &STATE, |net, given| {
        let (i, outer) = (given[0].clone(), given[2].clone());
        let inner = net.body("body", &STATE, |net, given| {
            let round = net.op("Mul", &[&i, &given[0]], &[]);
            let round = net.op("Cast", &[&round], &[int("to", DataType::Float as i64)]);
            let next = net.op("Add", &[&given[2], &round], &[]);
            vec![net.op("Identity", &[&given[1]], &[]), net.op("Mul", &[&next, &half], &[])]
        });
        let made = net.op("Loop", &[&i, "", &outer], &[inner]);
        let next = net.op("Add", &[&made, &sum], &[]);
        vec![net.op("Identity", &[&given[1]], &[]), next.clone(), next]
    });
    let made = net.several("Loop", &[&many, "", &start], &[body], 2);
    let inner = net.op("Shape", &[&made[1]], &[]);
    let inner = net.op("Cast", &[&inner], &[int("to", DataType::Float as i64)]);
    let subject = Subject::new(net, &[&made[0], &made[1], &inner]);
    check(&subject, &[symbol("seq", 0, 12)], &[&[12], &[0], &[1], &[7]]);
}

/// Loops whose bodies are nothing but a loop: both have the same steps.
#[test]
fn loops_of_nothing_but_a_loop() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ, Dim::Fixed(6)]);
    let start = net.input(DataType::Float, &fixed(&[6]));
    let shape = net.op("Shape", &[&x], &[]);
    let zero = net.longs(&[0]);
    let many = net.op("Gather", &[&shape, &zero], &[]);
    let body = net.body("body", &STATE, |net, given| {
        let (i, open) = (given[0].clone(), given[1].clone());
        let inner = net.body("body", &STATE, |net, given| {
            let row = net.op("Gather", &[&x, &i], &[int("axis", 0)]);
            let next = net.op("Sub", &[&row, &given[2]], &[]);
            vec![net.op("Identity", &[&given[1]], &[]), next]
        });
        vec![open, net.op("Loop", &[&i, "", &given[2]], &[inner])]
    });
    let y = net.op("Loop", &[&many, "", &start], &[body]);
    let subject = Subject::new(net, &[&y]);
    check(&subject, &[symbol("seq", 1, 14)], &[&[14], &[1], &[9]]);
}

/// An inner loop that says it has no end, but for its condition: what is behind it in a round is done behind it.
#[test]
fn a_loop_of_any_length_in_a_loop() {
    let mut net = Net::default();
    let start = net.input(DataType::Float, &fixed(&[3]));
    let rounds = net.input(DataType::Int64, &[]);
    let (half, bound, most) = (net.scalar(0.5), net.scalar(1.0), net.longs(&[i64::MAX]));
    let body = net.body("body", &STATE, |net, given| {
        let open = given[1].clone();
        let more = net.op("Mul", &[&given[2], &given[2]], &[]);
        let inner = net.body("body", &STATE, |net, given| {
            let next = net.op("Mul", &[&given[2], &half], &[]);
            let sum = net.op("ReduceSum", &[&next], &[int("keepdims", 0)]);
            vec![net.op("Greater", &[&sum, &bound], &[]), next]
        });
        vec![open, net.op("Loop", &[&most, "", &more], &[inner])]
    });
    let y = net.op("Loop", &[&rounds, "", &start], &[body]);
    let subject = Subject::new(net, &[&y]);
    for units in [1, 2] {
        let mut model = subject.compile(&[], units).expect("it compiles");
        for rounds in [0i64, 1, 3] {
            let mut values = [4.0f32, 2.0, 1.0];
            for _ in 0..rounds {
                values = values.map(|x| x * x * 0.5);
                while values.iter().sum::<f32>() > 1.0 {
                    values = values.map(|x| x * 0.5);
                }
            }
            let floats =
                |all: &[f32]| -> Vec<u8> { all.iter().flat_map(|x| x.to_le_bytes()).collect() };
            let data = [floats(&[4.0, 2.0, 1.0]), bytes(&[rounds])];
            let found = run(&mut model, &subject.shapes(&Lengths::new()), &data).expect("it runs");
            assert_eq!(found[0], floats(&values), "{rounds} rounds on {units} units");
        }
    }
}

/// What a state was is collected, of a length that callers decide, and of no rounds at all.
#[test]
fn what_a_state_was_is_collected() {
    for rounds in [12, 0] {
        let mut net = Net::default();
        let [x, start] = [0, 1].map(|_| net.input(DataType::Float, &[SEQ, Dim::Fixed(4)]));
        let many = net.longs(&[rounds]);
        let body = net.body("body", &STATE, |net, given| {
            let next = net.op("Add", &[&given[2], &x], &[]);
            let was = net.op("Identity", &[&given[2]], &[]);
            vec![net.op("Identity", &[&given[1]], &[]), next, was]
        });
        let made = net.several("Loop", &[&many, "", &start], &[body], 2);
        let axis = net.longs(&[0]);
        let sum = net.op("ReduceSum", &[&made[1], &axis], &[int("keepdims", 0)]);
        let subject = Subject::new(net, &[&made[0], &made[1], &sum]);
        check(&subject, &[symbol("seq", 0, 9)], &[&[9], &[0], &[4]]);
    }
}

/// A state without elements, and what goes round beside it.
#[test]
fn a_state_of_nothing() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &fixed(&[3]));
    let none = net.input(DataType::Float, &fixed(&[0, 4]));
    let many = net.longs(&[20]);
    let types = [DataType::Int64, DataType::Bool, DataType::Float, DataType::Float];
    let body = net.body("body", &types, |net, given| {
        let [x, none] = [2, 3].map(|at| net.op("Neg", &[&given[at]], &[]));
        vec![net.op("Identity", &[&given[1]], &[]), x, none]
    });
    let made = net.several("Loop", &[&many, "", &x, &none], &[body], 2);
    check(&Subject::new(net, &[&made[0], &made[1]]), &[], &[&[]]);
}

/// A number of rounds that says that there is no end, beside a condition that has one; and rounds that are collected
/// because they are bounded on the command line.
#[test]
fn a_number_that_bounds_nothing() {
    let mut net = Net::default();
    let [start, rounds] = [0, 1].map(|_| net.input(DataType::Int64, &fixed(&[1])));
    let one = net.longs(&[1]);
    let body =
        net.body("body", &[DataType::Int64, DataType::Bool, DataType::Int64], |net, given| {
            let next = net.op("Sub", &[&given[2], &one], &[]);
            vec![net.op("Greater", &[&next, &one], &[]), next.clone(), next]
        });
    let made = net.several("Loop", &[&rounds, "", &start], &[body], 2);
    let subject = Subject::new(net, &[&made[0], &made[1]]);
    let why = subject.compile(&[], 1).err().expect("it is refused");
    assert!(why.contains("or --rounds"), "{why}");
    let said = |arguments: &[&str]| subject.command(arguments);
    said(&["compile", "net.onnx", "-o", "few.weft", "--rounds", "50"]).expect("it compiles");
    let path = subject.folder().join("few.weft");
    let mut model = weft_runtime::cpu::Model::load(&path, None).expect("it loads");
    let shapes = subject.shapes(&Lengths::new());
    let mut run =
        |start: i64, rounds: i64| run(&mut model, &shapes, &[bytes(&[start]), bytes(&[rounds])]);
    for rounds in [i64::MAX, 51, 50, 7] {
        let all: Vec<i64> = (1..8).rev().collect();
        assert_eq!(run(8, rounds).expect("it runs"), [bytes(&[1]), bytes(&all)], "{rounds}");
    }
    assert_eq!(run(8, 2).expect("it runs"), [bytes(&[6]), bytes(&[7, 6])]);
    let why = run(80, i64::MAX).expect_err("it goes on");
    assert!(why.contains("a loop goes on after 50 rounds"), "{why}");
    assert_eq!(run(80, 50).expect("it runs")[0], bytes(&[30]));
}

fn scan(directions: [i64; 2], rows: Dim) -> Subject {
    let mut net = Net::default();
    let state = net.input(DataType::Float, &fixed(&[4]));
    let [x, y] = [0, 1].map(|_| net.input(DataType::Float, &[rows, Dim::Fixed(4)]));
    let types = [DataType::Float; 3];
    let body = net.body("body", &types, |net, given| {
        let next = net.op("Add", &[&given[0], &given[1]], &[]);
        let next = net.op("Tanh", &[&next], &[]);
        let shown = net.op("Mul", &[&next, &given[2]], &[]);
        vec![next, shown]
    });
    let attributes: [AttributeProto; 4] = [
        body,
        int("num_scan_inputs", 2),
        ints("scan_input_directions", &[0, directions[0]]),
        ints("scan_output_directions", &[directions[1]]),
    ];
    let made = net.several("Scan", &[&state, &x, &y], &attributes, 2);
    Subject::new(net, &[&made[0], &made[1]])
}

#[test]
fn a_scan_in_each_direction() {
    for directions in [[0, 0], [1, 0], [0, 1], [1, 1]] {
        check(&scan(directions, Dim::Fixed(25)), &[], &[&[]]);
    }
    for backward in [0, 1] {
        let subject = scan([backward, 0], SEQ);
        check(&subject, &[symbol("seq", 1, 33)], &[&[33], &[1], &[8]]);
    }
}

/// Branches that are long, one of which never ends: the other one is done alone.
#[test]
fn one_branch_is_done() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &fixed(&[7, 6]));
    let which = net.input(DataType::Int64, &fixed(&[1]));
    let which = net.op("Cast", &[&which], &[int("to", DataType::Bool as i64)]);
    let w = net.floats(&[6, 6], |place| (place % 7) as f32 / 7.0 - 0.4);
    let (zero, x) = (net.scalar(0.0), x.as_str());
    let yes = net.body("then_branch", &[], |net, _| {
        let y = net.op("MatMul", &[x, &w], &[]);
        let sum = net.op("ReduceSum", &[&y], &[int("keepdims", 0)]);
        vec![net.op("Relu", &[&y], &[]), sum]
    });
    let no = net.body("else_branch", &[], |net, _| {
        let sum = net.op("ReduceSum", &[x], &[int("keepdims", 0)]);
        let size = net.op("Abs", &[&sum], &[]);
        let open = net.op("GreaterOrEqual", &[&size, &zero], &[]);
        let body = net.body("body", &STATE, |net, given| {
            let size = net.op("Abs", &[&sum], &[]);
            let open = net.op("GreaterOrEqual", &[&size, &zero], &[]);
            vec![open, net.op("Neg", &[&given[2]], &[])]
        });
        vec![net.op("Loop", &["", &open, x], &[body]), sum]
    });
    let made = net.several("If", &[&which], &[yes, no], 2);
    let mut subject = Subject::new(net, &[&made[0], &made[1]]);
    subject.open_loops = true;
    for units in [1, 2] {
        let mut model = subject.compile(&[], units).expect("it compiles");
        let mut data = subject.data(&Lengths::new(), 5);
        data[1] = bytes(&[1]);
        let expected = subject.expected(&Lengths::new(), &data);
        let shapes = subject.shapes(&Lengths::new());
        let found = run(&mut model, &shapes, &data).expect("it runs");
        super::assert_close(&found, &expected, &format!("{units} units"));
        // The other one goes on until somebody says that it is enough.
        data[1] = bytes(&[0]);
        let cancel = model.cancel_handle();
        let (mut y, mut sum) = (vec![0; 7 * 6 * 4], vec![0; 4]);
        let inputs: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        let ended = thread::scope(|scope| {
            let running = scope
                .spawn(|| model.run_shared(None, &inputs, &mut [&mut y, &mut sum], Some(&cancel)));
            thread::sleep(Duration::from_millis(20));
            while !running.is_finished() {
                cancel.cancel();
                thread::sleep(Duration::from_millis(1));
            }
            running.join().expect("no panic")
        });
        let why = ended.expect_err("it has no end").to_string();
        assert!(why.contains("cancelled"), "{why}");
        data[1] = bytes(&[1]);
        let found = run(&mut model, &shapes, &data).expect("it runs");
        super::assert_close(&found, &expected, "behind the one that was cancelled");
    }
}

/// A loop that nothing bounds ends with an error where it goes on for too long.
#[test]
fn the_most_rounds() {
    let subject = steps(None);
    let said = |arguments: &[&str]| subject.command(arguments);
    said(&["compile", "net.onnx", "-o", "few.weft", "--rounds", "111"]).expect("it compiles");
    let mut model = {
        let path = subject.folder().join("few.weft");
        weft_runtime::cpu::Model::load(&path, None).expect("it loads")
    };
    let shapes = subject.shapes(&Lengths::new());
    // 27 takes 111 steps, 703 takes 170.
    let found = run(&mut model, &shapes, &[bytes(&[27])]).expect("it runs");
    assert_eq!(found[0], bytes(&[111]));
    let why = run(&mut model, &shapes, &[bytes(&[703])]).expect_err("it is too long");
    assert!(why.contains("a loop goes on after 111 rounds"), "{why}");
    let found = run(&mut model, &shapes, &[bytes(&[6])]).expect("it runs");
    assert_eq!(found[0], bytes(&[8]));
}

/// What each round decides, nobody outside knows.
#[test]
fn what_a_round_decides_stays_inside() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &fixed(&[12]));
    let rounds = net.longs(&[12]);
    let body = net.body("body", &STATE, |net, given| {
        let least = net.op("Gather", &[&x, &given[0]], &[]);
        let more = net.op("Greater", &[&given[2], &least], &[]);
        let kept = net.op("Compress", &[&given[2], &more], &[int("axis", 0)]);
        vec![net.op("Identity", &[&given[1]], &[]), net.op("Neg", &[&given[2]], &[]), kept]
    });
    let made = net.several("Loop", &[&rounds, "", &x], &[body], 2);
    let why = Subject::new(net, &[&made[1]]).compile(&[], 1).err().expect("it is refused");
    assert!(why.contains("elements, which each round decides"), "{why}");
}

/// What changes its shape from round to round is not repeated.
#[test]
fn what_grows_is_refused() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &fixed(&[3]));
    let rounds = net.input(DataType::Int64, &[]);
    let body = net.body("body", &STATE, |net, given| {
        let longer = net.op("Concat", &[&given[2], &given[2]], &[int("axis", 0)]);
        vec![net.op("Identity", &[&given[1]], &[]), longer]
    });
    let y = net.op("Loop", &[&rounds, "", &x], &[body]);
    let why = Subject::new(net, &[&y]).compile(&[], 1).err().expect("it is refused");
    assert!(
        why.contains("carries float[3] from round to round, of which one makes float[6]"),
        "{why}"
    );
}
