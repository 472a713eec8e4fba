//! Random models with named dimensions.

use proptest::prelude::*;
use weft_onnx::proto::tensor_proto::DataType;

use super::net::{Dim, Net, int, ints};
use super::run::{Lengths, Subject, assert_close, run};
use super::symbol;

/// What is done to the value that was made last.
#[derive(Clone, Copy, Debug)]
enum Step {
    Unary(u8),
    Product(i64),
    Bias,
    Residual,
    Softmax,
    Sum,
    Most,
    Attend,
    Positions,
    Mask,
    Heads,
    Turn,
    First,
    Stack,
    Normalise,
    Append,
    Choose,
    Repeat(i64),
    EachRow,
    Recur,
    Scan,
    Keep,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0u8..5).prop_map(Step::Unary),
        3 => (1i64..40).prop_map(Step::Product),
        2 => Just(Step::Bias),
        2 => Just(Step::Residual),
        1 => Just(Step::Softmax),
        1 => Just(Step::Sum),
        1 => Just(Step::Most),
        2 => Just(Step::Attend),
        1 => Just(Step::Positions),
        1 => Just(Step::Mask),
        1 => Just(Step::Heads),
        1 => Just(Step::Turn),
        1 => Just(Step::First),
        1 => Just(Step::Stack),
        1 => Just(Step::Normalise),
        1 => Just(Step::Append),
        1 => Just(Step::Choose),
        1 => prop_oneof![Just(5), Just(20)].prop_map(Step::Repeat),
        1 => Just(Step::EachRow),
        1 => Just(Step::Recur),
        1 => Just(Step::Scan),
        2 => Just(Step::Keep),
    ]
}

/// A model of rows of `batch` sequences of `seq` elements, and the name of its output.
struct Grown {
    net: Net,
    value: String,
    width: i64,
    /// Whether the second dimension is still that of the sequence.
    is_sequence: bool,
    /// Whether data decide how long it is, which may be nothing.
    is_found: bool,
    most: i64,
}

impl Grown {
    fn new(batch: Dim, width: i64, most: i64) -> Self {
        let mut net = Net::default();
        let dims = [batch, Dim::Named("seq"), Dim::Fixed(width)];
        let value = net.input(DataType::Float, &dims);
        Self { net, value, width, is_sequence: true, is_found: false, most }
    }

    fn weight(&mut self, dims: &[i64]) -> String {
        let inner = dims[0] as f32;
        self.net.floats(dims, |place| (((place * 7 + 3) % 13) as f32 / 6.5 - 1.0) / inner.sqrt())
    }

    fn op(&mut self, operator: &str, inputs: &[&str]) -> String {
        self.net.op(operator, inputs, &[])
    }

    fn grow(&mut self, step: Step) {
        let x = self.value.clone();
        self.value = match step {
            Step::Unary(which) => {
                let operator = ["Relu", "Tanh", "Sigmoid", "Neg", "Abs"][which as usize];
                self.op(operator, &[&x])
            }
            Step::Product(width) => {
                let w = self.weight(&[self.width, width]);
                self.width = width;
                self.op("MatMul", &[&x, &w])
            }
            Step::Bias => {
                let b = self.weight(&[self.width]);
                self.op("Add", &[&x, &b])
            }
            Step::Residual => {
                let y = self.op("Tanh", &[&x]);
                self.op("Sub", &[&x, &y])
            }
            Step::Softmax => self.net.op("Softmax", &[&x], &[int("axis", -1)]),
            Step::Sum | Step::Most if self.is_sequence => {
                let axes = self.net.longs(&[1]);
                self.is_sequence = false;
                let operator = if matches!(step, Step::Sum) { "ReduceSum" } else { "ReduceMax" };
                self.op(operator, &[&x, &axes])
            }
            Step::Attend if self.is_sequence => {
                let turned = self.net.op("Transpose", &[&x], &[ints("perm", &[0, 2, 1])]);
                let scores = self.op("MatMul", &[&x, &turned]);
                let scores = self.net.op("Softmax", &[&scores], &[int("axis", -1)]);
                self.op("MatMul", &[&scores, &x])
            }
            Step::Positions if self.is_sequence => self.positions(&x),
            Step::Mask if self.is_sequence => self.mask(&x),
            Step::Heads if self.width % 2 == 0 => {
                let [split, whole] = [[0, 0, 2, self.width / 2].as_slice(), &[0, 0, self.width]]
                    .map(|list| self.net.longs(list));
                let y = self.op("Reshape", &[&x, &split]);
                let y = self.net.op("Softmax", &[&y], &[int("axis", 2)]);
                self.op("Reshape", &[&y, &whole])
            }
            Step::Turn => {
                let y = self.net.op("Transpose", &[&x], &[ints("perm", &[1, 2, 0])]);
                let y = self.op("Tanh", &[&y]);
                self.net.op("Transpose", &[&y], &[ints("perm", &[2, 0, 1])])
            }
            Step::First if self.is_sequence && self.is_found => x,
            Step::First => {
                let first = self.net.longs(&[0]);
                self.is_sequence = false;
                self.net.op("Gather", &[&x, &first], &[int("axis", 1)])
            }
            Step::Stack => {
                let y = self.op("Neg", &[&x]);
                self.width *= 2;
                self.net.op("Concat", &[&x, &y], &[int("axis", 2)])
            }
            Step::Normalise => {
                let [scale, bias] = [0, 1].map(|_| self.weight(&[self.width]));
                self.net.op("LayerNormalization", &[&x, &scale, &bias], &[int("axis", -1)])
            }
            Step::Append if self.is_sequence && self.most < 100 => {
                let y = self.op("Neg", &[&x]);
                self.most *= 2;
                self.net.op("Concat", &[&x, &y], &[int("axis", 1)])
            }
            Step::Choose => self.choose(&x),
            Step::Repeat(rounds) => self.repeat(&x, rounds),
            Step::EachRow if self.is_sequence && !self.is_found => self.each_row(&x),
            Step::Recur if self.is_sequence => self.recur(&x),
            Step::Scan if self.is_sequence && !self.is_found => self.scan(&x),
            Step::EachRow | Step::Recur | Step::Scan => x,
            Step::Keep if self.is_sequence => self.keep(&x),
            Step::Keep => x,
            Step::Sum | Step::Most | Step::Attend | Step::Positions => x,
            Step::Mask | Step::Heads | Step::Append => x,
        };
    }

    /// With ones as many as the sequence is long.
    fn mask(&mut self, x: &str) -> String {
        let shape = self.op("Shape", &[x]);
        let two = self.net.longs(&[1]);
        let seq = self.op("Gather", &[&shape, &two]);
        let ones = self.op("ConstantOfShape", &[&seq]);
        let row = self.net.longs(&[0, 2]);
        let ones = self.op("Unsqueeze", &[&ones, &row]);
        self.op("Add", &[x, &ones])
    }

    /// The rows whose sum is more than a number.
    fn keep(&mut self, x: &str) -> String {
        let axes = self.net.longs(&[0, 2]);
        let bound = self.net.scalar(0.37);
        let sums = self.net.op("ReduceSum", &[x, &axes], &[int("keepdims", 0)]);
        let kept = self.op("Greater", &[&sums, &bound]);
        self.is_found = true;
        self.net.op("Compress", &[x, &kept], &[int("axis", 1)])
    }

    /// A product and a sum, as often as there are rows.
    fn recur(&mut self, x: &str) -> String {
        let shape = self.op("Shape", &[x]);
        let one = self.net.longs(&[1]);
        let rounds = self.op("Gather", &[&shape, &one]);
        let w = self.weight(&[self.width, self.width]);
        let types = [DataType::Int64, DataType::Bool, DataType::Float];
        let body = self.net.body("body", &types, |net, given| {
            let y = net.op("MatMul", &[&given[2], &w], &[]);
            let y = net.op("Tanh", &[&y], &[]);
            let y = net.op("Add", &[&y, x], &[]);
            vec![net.op("Identity", &[&given[1]], &[]), y]
        });
        self.net.op("Loop", &[&rounds, "", x], &[body])
    }

    /// The greatest of the rows from each on, by a scan from the last one.
    fn scan(&mut self, x: &str) -> String {
        let axis = self.net.longs(&[1]);
        let start = self.net.op("ReduceSum", &[x, &axis], &[int("keepdims", 0)]);
        let body = self.net.body("body", &[DataType::Float; 2], |net, given| {
            let most = net.op("Max", &[&given[0], &given[1]], &[]);
            vec![most.clone(), most]
        });
        let attributes = [
            body,
            int("num_scan_inputs", 1),
            ints("scan_input_axes", &[1]),
            ints("scan_input_directions", &[1]),
            ints("scan_output_axes", &[1]),
        ];
        self.net.several("Scan", &[&start, x], &attributes, 2).remove(1)
    }

    /// One of two branches, by a sum.
    fn choose(&mut self, x: &str) -> String {
        // No sum of what is stacked, or of shares, is near.
        let bound = self.net.scalar(0.37);
        let sum = self.net.op("ReduceSum", &[x], &[int("keepdims", 0)]);
        let more = self.op("Greater", &[&sum, &bound]);
        let branch = |net: &mut Net, name: &str, operator: &str, times: usize| {
            net.body(name, &[], |net, _| {
                let again = |y: String, _| net.op(operator, &[&y], &[]);
                vec![(0..times).fold(x.to_owned(), again)]
            })
        };
        // Long ones are not both done.
        let times = if self.width % 3 == 0 { 5 } else { 1 };
        let yes = branch(&mut self.net, "then_branch", "Tanh", times);
        let no = branch(&mut self.net, "else_branch", "Neg", times);
        self.net.op("If", &[&more], &[yes, no])
    }

    /// Halves for as long as a sum is more than a number, so many times at most.
    fn repeat(&mut self, x: &str, rounds: i64) -> String {
        let half = self.net.scalar(0.5);
        let rounds = self.net.longs(&[rounds]);
        let bound = self.net.scalar(3.03);
        let body = self.net.body(
            "body",
            &[DataType::Int64, DataType::Bool, DataType::Float],
            |net, given| {
                let next = net.op("Mul", &[&given[2], &half], &[]);
                let size = net.op("Abs", &[&next], &[]);
                let sum = net.op("ReduceSum", &[&size], &[int("keepdims", 0)]);
                vec![net.op("Greater", &[&sum, &bound], &[]), next]
            },
        );
        self.net.op("Loop", &[&rounds, "", x], &[body])
    }

    /// The sums of the rows up to each, in a loop over rows.
    fn each_row(&mut self, x: &str) -> String {
        let shape = self.op("Shape", &[x]);
        let one = self.net.longs(&[1]);
        let rounds = self.op("Gather", &[&shape, &one]);
        let zero = self.net.longs(&[0]);
        let first = self.net.op("Gather", &[x, &zero], &[int("axis", 1)]);
        let start = self.op("Sub", &[&first, &first]);
        let types = [DataType::Int64, DataType::Bool, DataType::Float];
        let body = self.net.body("body", &types, |net, given| {
            let row = net.op("Gather", &[x, &given[0]], &[int("axis", 1)]);
            let shape = net.op("Shape", &[&given[2]], &[]);
            let row = net.op("Reshape", &[&row, &shape], &[]);
            let sum = net.op("Add", &[&given[2], &row], &[]);
            let axis = net.longs(&[1]);
            let flat = net.op("Squeeze", &[&sum, &axis], &[]);
            vec![net.op("Identity", &[&given[1]], &[]), sum, flat]
        });
        let made = self.net.several("Loop", &[&rounds, "", &start], &[body], 2);
        self.net.op("Transpose", &[&made[1]], &[ints("perm", &[1, 0, 2])])
    }

    /// As many rows of a table as the sequence is long.
    fn positions(&mut self, x: &str) -> String {
        let table = self.weight(&[self.most, self.width]);
        let shape = self.op("Shape", &[x]);
        let [one, two, zero] = [[1], [2], [0]].map(|list| self.net.longs(&list));
        let seq = self.op("Slice", &[&shape, &one, &two, &zero]);
        let rows = self.op("Slice", &[&table, &zero, &seq, &zero]);
        self.op("Add", &[x, &rows])
    }
}

/// As many models as PROPTEST_CASES says, or few.
fn few() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    ProptestConfig { cases: if asked { default.cases } else { 24 }, ..default }
}

proptest! {
    #![proptest_config(few())]
    /// One artifact, at many lengths, on one unit and on two.
    #[test]
    fn models_of_rows(
        steps in prop::collection::vec(step(), 1..7),
        width in 1i64..20,
        most in 2u64..40,
        batch in prop_oneof![Just(None), Just(Some(3u64))],
        draws in prop::collection::vec((0.0..1.0, 0.0..1.0), 4),
        seed in 0u64..1000,
    ) {
        let dim = batch.map_or(Dim::Fixed(2), |_| Dim::Named("batch"));
        let mut grown = Grown::new(dim, width, most as i64);
        steps.iter().for_each(|&step| grown.grow(step));
        let subject = Subject::new(grown.net, &[&grown.value]);
        // Whose first row is read has one.
        let first = steps.iter().any(|step| matches!(step, Step::First | Step::EachRow | Step::Scan));
        let mut symbols = vec![symbol("seq", u64::from(first), most)];
        symbols.extend(batch.map(|most| symbol("batch", 0, most)));
        for units in [1, 2] {
            let mut model = subject.compile(&symbols, units).expect("it compiles");
            for (one, other) in &draws {
                let lengths: Lengths = symbols
                    .iter()
                    .zip([one, other])
                    .map(|(symbol, draw)| {
                        let span = (symbol.most - symbol.least + 1) as f64;
                        (symbol.name.clone(), symbol.least + (draw * span) as u64)
                    })
                    .collect();
                let data = subject.data(&lengths, seed);
                let expected = match subject.expected_or_refused(&lengths, &data) {
                    Ok(expected) => expected,
                    Err(why) => {
                        // Where data decide a length, a fixed one of 0 or 1 is another model.
                        assert!(steps.iter().any(|step| matches!(step, Step::Keep)), "{why}");
                        assert!(lengths.values().any(|length| *length < 2), "{why}");
                        continue;
                    }
                };
                let found = run(&mut model, &subject.shapes(&lengths), &data).expect("it runs");
                assert_close(&found, &expected, &format!("{steps:?} {lengths:?} on {units} units"));
            }
        }
    }
}
