//! Lengths that data decide.

use weft_onnx::proto::tensor_proto::DataType;

use super::net::{Dim, Net, int, ints};
use super::run::{Lengths, Subject, assert_close, run};
use super::{SEQ, check, symbol};

/// Rows of which some are kept, and what comes behind: products, sums, softmax, other lengths.
fn rows(dim: Dim) -> Subject {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[dim, Dim::Fixed(12)]);
    let marks = net.input(DataType::Int64, &[dim]);
    let zero = net.scalar(0.0);
    let w = net.floats(&[12, 20], |place| (place % 7) as f32 / 7.0 - 0.4);
    let kept = net.op("Cast", &[&marks], &[int("to", DataType::Bool as i64)]);
    let kept = net.op("Compress", &[&x, &kept], &[int("axis", 0)]);
    let y = net.op("MatMul", &[&kept, &w], &[]);
    let y = net.op("Relu", &[&y], &[]);
    let column = net.op("Softmax", &[&y], &[int("axis", 0)]);
    let axis = net.longs(&[0]);
    let sum = net.op("ReduceSum", &[&kept, &axis], &[int("keepdims", 0)]);
    // Of what is left once more, which is as long as something else.
    let first = net.longs(&[0]);
    let one = net.op("Gather", &[&y, &first], &[int("axis", 1)]);
    let column_axis = net.longs(&[1]);
    let flat = net.op("Squeeze", &[&one, &column_axis], &[]);
    let more = net.op("Greater", &[&flat, &zero], &[]);
    let rest = net.op("Compress", &[&y, &more], &[int("axis", 0)]);
    let both = net.op("Concat", &[&y, &rest], &[int("axis", 0)]);
    let shape = net.op("Shape", &[&both], &[]);
    let shape = net.op("Cast", &[&shape], &[int("to", DataType::Float as i64)]);
    Subject::new(net, &[&y, &column, &sum, &both, &shape])
}

#[test]
fn rows_that_data_keep() {
    check(&rows(Dim::Fixed(30)), &[], &[&[]]);
}

/// Among lengths that callers decide.
#[test]
fn rows_that_data_keep_of_those_that_there_are() {
    let lengths: &[&[u64]] = &[&[0], &[1], &[2], &[31], &[64], &[70]];
    check(&rows(SEQ), &[symbol("seq", 0, 70)], lengths);
}

/// Coordinates of marks in blocks of more than one line, with lengths of every dimension.
#[test]
fn coordinates_of_marks() {
    let mut net = Net::default();
    let x = net.input(DataType::Int64, &[Dim::Named("batch"), SEQ, Dim::Fixed(3)]);
    let at = net.op("NonZero", &[&x], &[]);
    let at = net.op("Cast", &[&at], &[int("to", DataType::Float as i64)]);
    let turned = net.op("Transpose", &[&at], &[ints("perm", &[1, 0])]);
    let subject = Subject::new(net, &[&at, &turned]);
    let symbols = [symbol("batch", 0, 4), symbol("seq", 0, 40)];
    check(&subject, &symbols, &[&[4, 40], &[1, 1], &[0, 7], &[3, 0], &[2, 33]]);
    // The interpreter and the compiler have the payloads in common: here the answer is counted.
    let mut model = subject.compile(&symbols, 2).expect("it compiles");
    let lengths: Lengths = [("batch".to_owned(), 2), ("seq".to_owned(), 33)].into();
    let data = subject.data(&lengths, 3);
    let marked = data[0].chunks_exact(8).enumerate().filter(|(_, word)| word[0] != 0);
    let places: Vec<usize> = marked.map(|(place, _)| place).collect();
    let rows = [|at: usize| at / 99, |at: usize| at / 3 % 33, |at: usize| at % 3];
    let expected = rows.iter().flat_map(|row| places.iter().map(|&at| row(at) as f32));
    let expected: Vec<u8> = expected.flat_map(f32::to_le_bytes).collect();
    let found = run(&mut model, &subject.shapes(&lengths), &data).expect("it runs");
    assert_eq!(found[0], expected);
}

/// Unique numbers, in order and as they come; of rows.
#[test]
fn what_is_there_once() {
    for (sorted, expected) in [
        (1, [[0.0, 1.0, 2.0, 5.0], [4.0, 1.0, 0.0, 3.0]]),
        (0, [[2.0, 1.0, 5.0, 0.0], [0.0, 1.0, 3.0, 4.0]]),
    ] {
        let mut net = Net::default();
        let x = net.input(DataType::Float, &[Dim::Fixed(7)]);
        let made = net.several("Unique", &[&x], &[int("sorted", sorted)], 4);
        let first = net.op("Cast", &[&made[1]], &[int("to", DataType::Float as i64)]);
        let inverse = net.op("Cast", &[&made[2]], &[int("to", DataType::Float as i64)]);
        let counts = net.op("Cast", &[&made[3]], &[int("to", DataType::Float as i64)]);
        let subject = Subject::new(net, &[&made[0], &first, &inverse, &counts]);
        let mut model = subject.compile(&[], 2).expect("it compiles");
        let numbers = [2.0f32, 1.0, 2.0, 5.0, 0.0, 1.0, 2.0];
        let bytes = |numbers: &[f32]| -> Vec<u8> {
            numbers.iter().flat_map(|own| own.to_le_bytes()).collect()
        };
        let found = run(&mut model, &[vec![7]], &[bytes(&numbers)]).expect("it runs");
        assert_eq!(found[0], bytes(&expected[0]), "sorted {sorted}");
        assert_eq!(found[1], bytes(&expected[1]), "sorted {sorted}");
        let place = |number: &f32| expected[0].iter().position(|own| own == number);
        let inverse: Vec<f32> =
            numbers.iter().map(|own| place(own).expect("it is there") as f32).collect();
        assert_eq!(found[2], bytes(&inverse), "sorted {sorted}");
        let many = |number: &f32| numbers.iter().filter(|own| *own == number).count() as f32;
        assert_eq!(found[3], bytes(&expected[0].iter().map(many).collect::<Vec<_>>()));
    }
}

/// As many of the greatest as a tensor says; more than there are is an error, and the model goes on.
#[test]
fn as_many_as_a_tensor_says() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[Dim::Fixed(3), Dim::Fixed(9)]);
    let k = net.input(DataType::Int64, &[Dim::Fixed(1)]);
    let made = net.several("TopK", &[&x, &k], &[int("axis", 1)], 2);
    let subject = Subject::new(net, &[&made[0]]);
    let mut model = subject.compile(&[], 2).expect("it compiles");
    let x: Vec<f32> = (0..27).map(|place| (place * 11 % 27) as f32).collect();
    let bytes = |all: &[f32]| all.iter().flat_map(|own| own.to_le_bytes()).collect::<Vec<u8>>();
    for k in [4i64, 0, 10, -1, 9] {
        let data = [bytes(&x), k.to_le_bytes().to_vec()];
        let found = run(&mut model, &[vec![3, 9], vec![1]], &data);
        if (0..=9).contains(&k) {
            let best = x.chunks(9).flat_map(|row| {
                let mut row = row.to_vec();
                row.sort_by(|one, other| other.total_cmp(one));
                row.truncate(k as usize);
                row
            });
            assert_eq!(found.expect("it runs"), [bytes(&best.collect::<Vec<_>>())], "{k}");
        } else {
            let why = found.expect_err("there are no more than 9");
            assert!(why.contains(&format!("came out as {k}, and")), "{why}");
        }
    }
}

/// The smaller one of a number and a length, which there are in every run; or more, which there may not be.
#[test]
fn as_many_as_a_length_says() {
    let model = |least: bool| {
        let mut net = Net::default();
        let x = net.input(DataType::Float, &[SEQ]);
        let most = net.longs(&[10]);
        let shape = net.op("Shape", &[&x], &[]);
        let k = if least { net.op("Min", &[&shape, &most], &[]) } else { most };
        let made = net.several("TopK", &[&x, &k], &[], 2);
        Subject::new(net, &[&made[0]])
    };
    check(&model(true), &[symbol("seq", 1, 40)], &[&[1], &[9], &[10], &[40]]);
    check(&model(false), &[symbol("seq", 10, 40)], &[&[10], &[40]]);
    let refused = model(false).compile(&[symbol("seq", 9, 40)], 1).err().expect("it is refused");
    assert!(refused.contains("takes `10` of `seq`"), "{refused}");
}

/// A count alone, and numbers that fall as it rises: no more is written than there is room for.
#[test]
fn fewer_where_more_are_marked() {
    let mut net = Net::default();
    let marks = net.input(DataType::Int64, &[Dim::Fixed(20)]);
    let x = net.input(DataType::Float, &[Dim::Fixed(30)]);
    let at = net.op("NonZero", &[&marks], &[]);
    let count = net.op("Size", &[&at], &[]);
    let most = net.longs(&[25]);
    let k = net.op("Sub", &[&most, &count], &[]);
    let made = net.several("TopK", &[&x, &k], &[], 2);
    let count = net.op("Cast", &[&count], &[int("to", DataType::Float as i64)]);
    let subject = Subject::new(net, &[&made[0], &count]);
    let mut model = subject.compile(&[], 2).expect("it compiles");
    let bytes = |all: &[f32]| all.iter().flat_map(|own| own.to_le_bytes()).collect::<Vec<u8>>();
    let x: Vec<f32> = (0..30).map(|place| (29 - place) as f32).collect();
    for count in [0usize, 1, 20] {
        let marks = (0..20).map(|place| i64::from(place < count));
        let marks = marks.flat_map(i64::to_le_bytes).collect();
        let found = run(&mut model, &[vec![20], vec![30]], &[marks, bytes(&x)]).expect("it runs");
        assert_eq!(found, [bytes(&x[..25 - count]), bytes(&[count as f32])]);
    }
}

/// The same tensor twice, also in another shape; and marks of which there may be more than elements.
#[test]
fn what_is_found_is_given_twice() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[Dim::Fixed(20)]);
    let zero = net.scalar(0.0);
    let more = net.op("Greater", &[&x, &zero], &[]);
    let y = net.op("Compress", &[&x, &more], &[]);
    let same = net.op("Identity", &[&y], &[]);
    let axis = net.longs(&[1]);
    let column = net.op("Unsqueeze", &[&y, &axis], &[]);
    check(&Subject::new(net, &[&y, &same, &column]), &[], &[&[]]);
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ]);
    let marks = net.input(DataType::Float, &[Dim::Named("marks")]);
    let zero = net.scalar(0.0);
    let more = net.op("Greater", &[&marks, &zero], &[]);
    let y = net.op("Compress", &[&x, &more], &[]);
    let symbols = [symbol("seq", 1, 40), symbol("marks", 1, 40)];
    let refused = Subject::new(net, &[&y]).compile(&symbols, 1).err().expect("it is refused");
    assert!(refused.contains("is told by `marks` marks what to keep of `seq`"), "{refused}");
}

/// Runs of one model at once find lengths of their own.
#[test]
fn each_run_finds_its_own() {
    let subject = rows(Dim::Fixed(30));
    let model = &subject.compile(&[], 2).expect("it compiles");
    let subject = &subject;
    std::thread::scope(|scope| {
        for seed in 0..6 {
            scope.spawn(move || {
                let data = subject.data(&Lengths::new(), seed);
                let expected = subject.expected(&Lengths::new(), &data);
                for _ in 0..20 {
                    let mut places = model.output_buffers();
                    let mut refs: Vec<&mut [u8]> =
                        places.iter_mut().map(Vec::as_mut_slice).collect();
                    let inputs: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
                    let shapes = model.run_shared(None, &inputs, &mut refs, None);
                    let shapes = shapes.expect("it runs").expect("it finds lengths");
                    for (place, shape) in places.iter_mut().zip(&shapes) {
                        place.truncate(shape.iter().product::<u64>() as usize * 4);
                    }
                    assert_close(&places, &expected, &format!("seed {seed}"));
                }
            });
        }
    });
}
