//! Models whose callers decide lengths: compiled once, run at many of them, beside the interpreter's
//! results for a model that was imported with those numbers.

mod caches;
mod exported;
mod found;
mod kept;
mod loops;
mod net;
mod random;
mod recurrent;
mod run;

use net::{Dim, Net, int, ints};
use run::{Lengths, Subject, assert_close, run};
use weft_onnx::proto::tensor_proto::DataType;
use weft_runtime::length::Symbol;

fn symbol(name: &str, least: u64, most: u64) -> Symbol {
    Symbol { name: name.into(), least, most, multiple: 1 }
}

/// Compiles for these symbols and runs at each of the lengths.
fn check(subject: &Subject, symbols: &[Symbol], lengths: &[&[u64]]) {
    check_passing(subject, symbols, lengths, &[]);
}

/// The same with options of passes.
fn check_passing(subject: &Subject, symbols: &[Symbol], lengths: &[&[u64]], passes: &[[&str; 3]]) {
    for units in [1, 2] {
        let model = subject.compile_passing(symbols, units, passes);
        let mut model = model.expect("it compiles");
        for values in lengths {
            let names = symbols.iter().map(|symbol| symbol.name.clone());
            let own: Lengths = names.zip(values.iter().copied()).collect();
            let data = subject.data(&own, 7);
            let expected = subject.expected(&own, &data);
            let found = run(&mut model, &subject.shapes(&own), &data).expect("it runs");
            assert_close(&found, &expected, &format!("{own:?} on {units} units"));
        }
    }
}

const SEQ: Dim = Dim::Named("seq");

/// A product of rows, with what is done to each behind it.
#[test]
fn rows_of_a_product() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ, Dim::Fixed(24)]);
    let w = net.floats(&[24, 40], |place| (place % 7) as f32 / 7.0 - 0.4);
    let b = net.floats(&[40], |place| place as f32 / 40.0);
    let y = net.op("MatMul", &[&x, &w], &[]);
    let y = net.op("Add", &[&y, &b], &[]);
    let y = net.op("Relu", &[&y], &[]);
    let axis = net.longs(&[0]);
    let sums = net.op("ReduceSum", &[&y, &axis], &[int("keepdims", 0)]);
    let subject = Subject::new(net, &[&y, &sums]);
    check(&subject, &[symbol("seq", 1, 50)], &[&[50], &[1], &[7], &[12], &[13], &[47]]);
}

/// `--dim` says what a model is compiled for, and what an artifact is run at.
#[test]
fn lengths_on_the_command_line() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ, Dim::Fixed(24)]);
    let y = net.op("Relu", &[&x], &[]);
    let subject = Subject::new(net, &[&y]);
    let said = |arguments: &[&str]| subject.command(arguments);
    let shape = |arguments: &[&str]| {
        let text = said(arguments).expect("it runs");
        text.trim_end().split_once("float32 ").expect("a type").1.to_owned()
    };
    assert_eq!(shape(&["run", "net.onnx", "--dim", "seq=7"]), "[7, 24]");
    assert_eq!(shape(&["run", "net.onnx", "--dim", "seq=1..50"]), "[50, 24]");
    said(&["bench", "net.onnx", "--repeat", "1", "--dim", "seq=7"]).expect("it runs");
    let all = ["compile", "net.onnx", "-o", "all.weft", "--dim", "seq=2..48,multiple=2"];
    said(&all).expect("it compiles");
    assert_eq!(shape(&["run", "all.weft"]), "[48, 24]");
    assert_eq!(shape(&["run", "all.weft", "--dim", "seq=6"]), "[6, 24]");
    said(&["bench", "all.weft", "--repeat", "1", "--dim", "seq=6"]).expect("it runs");
    let refused = |arguments: &[&str], words: &str| {
        let why = said(arguments).expect_err("it is refused");
        assert!(why.contains(words), "{why}");
    };
    let range = "was compiled for seq from 2 to 48 in multiples of 2";
    refused(&["run", "all.weft", "--dim", "seq=7"], range);
    refused(&["run", "all.weft", "--dim", "seq=50"], range);
    refused(&["run", "all.weft", "--dim", "past=6"], "no dimension named `past`");
    refused(&["run", "net.onnx"], "seq");
}

/// The report is for the greatest lengths: the figures of the model that has these.
#[test]
fn reports_are_for_the_greatest_lengths() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ, Dim::Fixed(24)]);
    let w = net.floats(&[24, 40], |place| (place % 7) as f32 / 7.0 - 0.4);
    let y = net.op("MatMul", &[&x, &w], &[]);
    let subject = Subject::new(net, &[&y]);
    let all = subject.explain(&[symbol("seq", 1, 48)]);
    let greatest = subject.explain(&[symbol("seq", 48, 48)]);
    let figures = |report: &weft::explain::Report| {
        let own = &report.summary;
        (own.kernels, own.operations, own.argument_bytes, own.constant_bytes)
    };
    assert_eq!(figures(&all), figures(&greatest));
    assert!(all.summary.measured_ms.is_some());
}

/// Attention: lengths along rows, lanes and sums.
#[test]
fn attention() {
    let mut net = Net::default();
    let (batch, heads, width) = (Dim::Named("batch"), 2i64, 8i64);
    let all = Dim::Fixed(heads * width);
    let x = net.input(DataType::Float, &[batch, SEQ, all]);
    let mask = net.input(DataType::Int64, &[batch, SEQ]);
    let zero = net.longs(&[0, 0, heads, width]);
    let part = |net: &mut Net, perm: &[i64]| {
        let w = net.floats(&[16, 16], |place| ((place * 5) % 11) as f32 / 11.0 - 0.5);
        let y = net.op("MatMul", &[&x, &w], &[]);
        let y = net.op("Reshape", &[&y, &zero], &[]);
        net.op("Transpose", &[&y], &[ints("perm", perm)])
    };
    let q = part(&mut net, &[0, 2, 1, 3]);
    let k = part(&mut net, &[0, 2, 3, 1]);
    let v = part(&mut net, &[0, 2, 1, 3]);
    let scores = net.op("MatMul", &[&q, &k], &[]);
    let axes = net.longs(&[1, 2]);
    let mask = net.op("Unsqueeze", &[&mask, &axes], &[]);
    let mask = net.op("Cast", &[&mask], &[int("to", 1)]);
    let scores = net.op("Add", &[&scores, &mask], &[]);
    let scores = net.op("Softmax", &[&scores], &[int("axis", -1)]);
    let y = net.op("MatMul", &[&scores, &v], &[]);
    let y = net.op("Transpose", &[&y], &[ints("perm", &[0, 2, 1, 3])]);
    let whole = net.longs(&[0, 0, heads * width]);
    let y = net.op("Reshape", &[&y, &whole], &[]);
    let subject = Subject::new(net, &[&y]);
    let symbols = [symbol("batch", 1, 3), symbol("seq", 1, 40)];
    check(&subject, &symbols, &[&[1, 40], &[3, 40], &[2, 1], &[3, 17], &[1, 33]]);
}

/// Rows that are counted from the end, and places behind a cache, as decoders have them.
#[test]
fn places_that_follow_from_lengths() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[Dim::Named("batch"), SEQ, Dim::Fixed(4)]);
    let past = net.input(DataType::Float, &[Dim::Named("past"), Dim::Fixed(1)]);
    let slice = |net: &mut Net, start: i64, end: i64| {
        let [starts, ends, axes] = [[start], [end], [1]].map(|list| net.longs(&list));
        net.op("Slice", &[&x, &starts, &ends, &axes], &[])
    };
    let last = slice(&mut net, -1, i64::MAX);
    let before = slice(&mut net, -2, -1);
    let ends = net.longs(&[-1, 0, -2]);
    let short = net.op("Cast", &[&ends], &[int("to", 6)]);
    let ends = net.op("Gather", &[&x, &ends], &[int("axis", 1)]);
    let others = net.op("Gather", &[&x, &short], &[int("axis", 1)]);
    // From far before the first one.
    let all = slice(&mut net, -100, i64::MAX);
    let scalar = |net: &mut Net, of: &str, dim: i64| {
        let shape = net.op("Shape", &[of], &[]);
        let dim = net.longs(&[dim]);
        let one = net.op("Gather", &[&shape, &dim], &[]);
        net.op("Squeeze", &[&one], &[])
    };
    let (first, count) = (scalar(&mut net, &past, 0), scalar(&mut net, &x, 1));
    let one = net.longs(&[1]);
    let one = net.op("Squeeze", &[&one], &[]);
    let end = net.op("Add", &[&first, &count], &[]);
    let places = net.op("Range", &[&first, &end, &one], &[]);
    let table = net.floats(&[40, 4], |place| place as f32 / 10.0);
    let rows = net.op("Gather", &[&table, &places], &[]);
    let rows = net.op("Add", &[&x, &rows], &[]);
    let subject = Subject::new(net, &[&last, &before, &ends, &others, &all, &rows]);
    let symbols = [symbol("batch", 1, 3), symbol("past", 0, 30), symbol("seq", 2, 9)];
    check(&subject, &symbols, &[&[3, 30, 9], &[1, 0, 2], &[2, 17, 3], &[3, 1, 8], &[1, 5, 9]]);
}

/// Means, and places of what is greatest, along lengths.
#[test]
fn means_along_lengths() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[Dim::Named("batch"), SEQ, Dim::Fixed(6)]);
    let mean = |net: &mut Net, axes: &[i64], keep: i64| {
        let axes = net.longs(axes);
        net.op("ReduceMean", &[&x, &axes], &[int("keepdims", keep)])
    };
    let of_rows = mean(&mut net, &[1], 0);
    let of_both = mean(&mut net, &[0, 1], 1);
    let of_all = mean(&mut net, &[0, 1, 2], 0);
    let less = net.op("Sub", &[&x, &of_both], &[]);
    let images = net.op("Transpose", &[&x], &[ints("perm", &[0, 2, 1])]);
    let pooled = net.op("GlobalAveragePool", &[&images], &[]);
    let most = net.op("GlobalMaxPool", &[&images], &[]);
    let place = net.op("ArgMax", &[&x], &[int("axis", 1), int("keepdims", 0)]);
    let place = net.op("Cast", &[&place], &[int("to", 1)]);
    let subject = Subject::new(net, &[&of_rows, &of_all, &less, &pooled, &most, &place]);
    let symbols = [symbol("batch", 1, 3), symbol("seq", 1, 20)];
    check(&subject, &symbols, &[&[3, 20], &[1, 1], &[2, 7], &[3, 19]]);
}

/// Attention as one operator: with a cache, masks, and tokens that see what lies before them.
#[test]
fn attention_as_one_operator() {
    let mut net = Net::default();
    let [batch, past] = ["batch", "past"].map(Dim::Named);
    let fixed = Dim::Fixed;
    let tokens = [0; 3].map(|_| net.input(DataType::Float, &[batch, fixed(2), SEQ, fixed(8)]));
    let caches = [0; 2].map(|_| net.input(DataType::Float, &[batch, fixed(2), past, fixed(8)]));
    let mask = net.input(DataType::Float, &[SEQ, SEQ]);
    let own = [&tokens[0], &tokens[1], &tokens[2], "", &caches[0], &caches[1]];
    let causal = net.several("Attention", &own, &[int("is_causal", 1)], 3);
    let own = [tokens[0].as_str(), &tokens[1], &tokens[2], &mask];
    let masked = net.op("Attention", &own, &[]);
    let flat = |net: &mut Net, x: &str| {
        let y = net.op("Transpose", &[x], &[ints("perm", &[0, 2, 1, 3])]);
        let shape = net.longs(&[0, 0, 16]);
        net.op("Reshape", &[&y, &shape], &[])
    };
    let [q, k, v] = [0, 1, 2].map(|at| flat(&mut net, &tokens[at]));
    let own = [&q, &k, &v, "", "", "", &caches[0], &caches[1]];
    let attributes = [int("num_heads", 2), int("unidirectional", 1)];
    let heads = net.microsoft("MultiHeadAttention", &own, &attributes, 3);
    let made = [&causal[0], &causal[1], &masked, &heads[0], &heads[2]];
    let subject = Subject::new(net, &made.map(String::as_str));
    let symbols = [symbol("batch", 1, 3), symbol("past", 0, 20), symbol("seq", 1, 9)];
    check(&subject, &symbols, &[&[3, 20, 9], &[1, 0, 1], &[2, 7, 4], &[1, 13, 5]]);
}

/// Loops over a length, of which a condition may end some before.
#[test]
fn loops_over_lengths() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ, Dim::Fixed(3)]);
    let shape = net.op("Shape", &[&x], &[int("end", 1)]);
    let (two, four) = (net.longs(&[2]), net.longs(&[4]));
    let fewer = net.op("Sub", &[&shape, &two], &[]);
    let zero = net.longs(&[0]);
    let first = net.op("Gather", &[&x, &zero], &[]);
    let start = net.op("Sub", &[&first, &first], &[]);
    let rounds_of = |net: &mut Net, rounds: &str, ends: Option<&str>| {
        let types = [DataType::Int64, DataType::Bool, DataType::Float];
        let once = ends == Some("once");
        let results = if ends.is_none() || once { 2 } else { 1 };
        let body = net.body("body", &types, |net, given| {
            let next = net.op("Add", &[&given[2], &first], &[]);
            let more = match ends {
                Some("once") => net.op("Less", &[&four, &two], &[]),
                Some(_) => net.op("Less", &[&given[0], &four], &[]),
                None => net.op("Identity", &[&given[1]], &[]),
            };
            let made = net.op("Neg", &[&next], &[]);
            [vec![more, next], vec![made; results - 1]].concat()
        });
        net.several("Loop", &[rounds, "", &start], &[body], results)
    };
    let whole = rounds_of(&mut net, &shape, None);
    let ended = rounds_of(&mut net, &shape, Some("behind the fourth"));
    let few = rounds_of(&mut net, &fewer, None);
    let once = rounds_of(&mut net, &fewer, Some("once"));
    let all = [whole, ended, few, once].concat();
    let outputs: Vec<&str> = all.iter().map(String::as_str).collect();
    let subject = Subject::new(net, &outputs);
    check(&subject, &[symbol("seq", 1, 8)], &[&[8], &[1], &[2], &[3], &[5], &[6]]);
}

/// Lengths that are given back, as they are and calculated with.
#[test]
fn lengths_that_are_outputs() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[Dim::Named("batch"), SEQ]);
    let shape = net.op("Shape", &[&x], &[]);
    let same = net.op("Identity", &[&shape], &[]);
    let twice = net.op("Add", &[&shape, &shape], &[]);
    let three = net.longs(&[3]);
    let more = net.op("Concat", &[&shape, &three], &[int("axis", 0)]);
    let subject = Subject::new(net, &[&shape, &same, &twice, &more]);
    let symbols = [symbol("batch", 1, 3), symbol("seq", 0, 5)];
    for values in [[3, 5], [2, 3], [1, 0]] {
        let own: Lengths = [("batch".to_owned(), values[0]), ("seq".to_owned(), values[1])].into();
        let mut model = subject.compile(&symbols, 1).expect("it compiles");
        let data = subject.data(&own, 7);
        let expected = subject.expected(&own, &data);
        assert_eq!(run(&mut model, &subject.shapes(&own), &data).expect("it runs"), expected);
    }
}

/// An output that is an input with another shape has rows of its own.
#[test]
fn inputs_that_are_given_back() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[Dim::Named("batch"), SEQ, Dim::Fixed(4)]);
    let shape = net.longs(&[0, 0, 2, 2]);
    let y = net.op("Reshape", &[&x, &shape], &[]);
    let axis = net.longs(&[1]);
    let z = net.op("Unsqueeze", &[&y, &axis], &[]);
    let subject = Subject::new(net, &[&y, &z]);
    check(&subject, &[symbol("batch", 1, 3), symbol("seq", 0, 5)], &[&[3, 5], &[2, 3], &[1, 0]]);
}

/// Lengths as numbers: the place of a token in a table, and as a factor.
#[test]
fn lengths_to_calculate_with() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ, Dim::Named("past"), Dim::Fixed(4)]);
    let table = net.floats(&[40, 4], |place| place as f32 / 10.0);
    let shape = net.op("Shape", &[&x], &[]);
    // Of two extents that are both 30 at most, the second.
    let past = net.op("Shape", &[&x], &[int("start", 1), int("end", -1)]);
    let row = net.op("Gather", &[&table, &past], &[]);
    let y = net.op("Add", &[&x, &row], &[]);
    let factor = net.op("Cast", &[&shape], &[int("to", 1)]);
    let axes = net.longs(&[1]);
    let sum = net.op("ReduceSum", &[&y, &axes], &[int("keepdims", 0)]);
    let two = net.longs(&[0, 1]);
    let both = net.op("Gather", &[&factor, &two], &[]);
    let most = net.op("ReduceMax", &[&both], &[]);
    let mean = net.op("Div", &[&sum, &most], &[]);
    let subject = Subject::new(net, &[&y, &mean]);
    let symbols = [symbol("past", 1, 30), symbol("seq", 1, 30)];
    check(&subject, &symbols, &[&[30, 9], &[1, 1], &[17, 3], &[3, 30]]);
}

/// What is said about shapes that do not fit.
#[test]
fn lengths_that_are_refused() {
    let mut net = Net::default();
    let x = net.input(DataType::Float, &[SEQ, Dim::Fixed(4)]);
    let y = net.input(DataType::Float, &[SEQ, Dim::Fixed(4)]);
    let sum = net.op("Add", &[&x, &y], &[]);
    let subject = Subject::new(net, &[&sum]);
    let model = subject.compile(&[symbol("seq", 2, 8)], 1).expect("it compiles");
    let refused = |shapes: &[&[u64]]| {
        model.plan().bind_shapes(shapes).expect_err("it does not fit").to_string()
    };
    assert_eq!(refused(&[&[3, 4], &[5, 4]]), "`seq` is 3 in input `x0` and 5 in input `x1`");
    assert_eq!(
        refused(&[&[9, 4], &[9, 4]]),
        "`seq` is 9, and the model was compiled for seq from 2 to 8"
    );
    assert_eq!(
        refused(&[&[3, 5], &[3, 4]]),
        "input `x0` has 4 elements along dimension 1, and 5 were given"
    );
    assert_eq!(refused(&[&[3], &[3, 4]]), "input `x0` has 2 dimensions, and 1 were given");
    let mut model = model;
    let mut out = vec![0; 48];
    let error = model.run(&[&[0; 48], &[0; 48]], &mut [&mut out]).expect_err("no lengths");
    assert!(error.to_string().contains("seq from 2 to 8"), "{error}");
}

/// What depends on the number of elements otherwise than by a sum is refused by name.
#[test]
fn operators_that_are_refused() {
    let told = |build: &dyn Fn(&mut Net, &str) -> String| {
        let mut net = Net::default();
        let x = net.input(DataType::Float, &[SEQ, Dim::Fixed(4)]);
        let y = build(&mut net, &x);
        Subject::new(net, &[&y]).compile(&[symbol("seq", 1, 8)], 1).err().expect("it is refused")
    };
    let last = told(&|net, x| {
        let [starts, ends, axes] = [[-2], [7], [0]].map(|list| net.longs(&list));
        net.op("Slice", &[x, &starts, &ends, &axes], &[])
    });
    assert!(last.contains("counts from the end of `seq` elements"), "{last}");
    let cut = told(&|net, x| {
        let [starts, ends, axes, steps] = [[0], [-1], [0], [2]].map(|list| net.longs(&list));
        net.op("Slice", &[x, &starts, &ends, &axes, &steps], &[])
    });
    assert!(cut.contains("counts from the end of `seq` elements"), "{cut}");
    // None at all: 0 is the beginning.
    let none = told(&|net, x| {
        let [starts, ends, axes] = [[-1], [0], [0]].map(|list| net.longs(&list));
        net.op("Slice", &[x, &starts, &ends, &axes], &[])
    });
    assert!(none.contains("counts from the end of `seq` elements"), "{none}");
    let row = told(&|net, x| {
        let row = net.longs(&[3]);
        net.op("Gather", &[x, &row], &[])
    });
    assert!(row.contains("along `seq`"), "{row}");
    // Made for the greatest, they would be too long.
    let rows = told(&|net, x| {
        let [zero, one, row] = [[0], [1], [0]].map(|list| net.longs(&list));
        let shape = net.op("Shape", &[x], &[]);
        let seq = net.op("Gather", &[&shape, &zero], &[]);
        let all = net.op("Concat", &[&seq, &one], &[int("axis", 0)]);
        let row = net.op("Gather", &[x, &row], &[]);
        net.op("Tile", &[&row, &all], &[])
    });
    assert!(rows.contains("what it makes is decided by `seq`"), "{rows}");
    let norm = told(&|net, x| net.op("LpNormalization", &[x], &[int("axis", 0)]));
    assert!(norm.contains("it folds along `seq`, and may count on how many"), "{norm}");
    let apart = told(&|net, x| {
        let shape = net.longs(&[-1, 5, 4]);
        net.op("Reshape", &[x, &shape], &[])
    });
    assert!(apart.contains("makes another number of elements than 32"), "{apart}");
}
