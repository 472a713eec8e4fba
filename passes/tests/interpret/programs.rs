//! Random programs on tensors: whatever is written in place, values stay values.

use std::fmt::Write;

use proptest::prelude::*;
use weft_dialects::ir::context;

use super::support::{Tensor, module, run};

/// Elements of every tensor.
const N: usize = 12;

/// One statement. Operands count the visible values, modulo their number.
#[derive(Clone, Debug)]
enum Step {
    /// `c[i] + a[i]`, accumulated into `c`.
    Add { a: usize, c: usize },
    /// `3 * a[i] + i`, over `c` without reading it.
    Over { a: usize, c: usize },
    /// Three elements of `a` into `c`.
    Insert { a: usize, c: usize, from: usize, to: usize, step: usize },
    /// `a` as 3 by 4, transposed.
    Transpose { a: usize },
    /// `c` with `c[at] + a[at]` at `at`.
    Put { a: usize, c: usize, at: usize },
    /// Rounds that carry two tensors.
    Loop { rounds: usize, carried: [usize; 2], body: Vec<Step>, next: [usize; 2] },
    /// Branches on the sign of an element.
    If { a: usize, at: usize, then: Vec<Step>, otherwise: Vec<Step>, yields: [usize; 2] },
}

fn steps(depth: u32) -> BoxedStrategy<Vec<Step>> {
    let (v, at) = (0usize..8, 0usize..4);
    let plain = prop_oneof![
        (v.clone(), v.clone()).prop_map(|(a, c)| Step::Add { a, c }),
        (v.clone(), v.clone()).prop_map(|(a, c)| Step::Over { a, c }),
        (v.clone(), v.clone(), at.clone(), at.clone(), 1usize..4)
            .prop_map(|(a, c, from, to, step)| Step::Insert { a, c, from, to, step }),
        v.clone().prop_map(|a| Step::Transpose { a }),
        (v.clone(), v.clone(), at.clone()).prop_map(|(a, c, at)| Step::Put { a, c, at }),
    ];
    if depth == 0 {
        return prop::collection::vec(plain, 0..5).boxed();
    }
    let two = || [0usize..8, 0usize..8];
    let step = prop_oneof![
        5 => plain,
        2 => (0usize..4, two(), steps(depth - 1), two())
            .prop_map(|(rounds, carried, body, next)| Step::Loop { rounds, carried, body, next }),
        2 => (v, at, steps(depth - 1), steps(depth - 1), two())
            .prop_map(|(a, at, then, otherwise, yields)| {
                Step::If { a, at, then, otherwise, yields }
            }),
    ];
    prop::collection::vec(step, 0..6).boxed()
}

/// Runs statements by value; the new values are appended.
fn literal(steps: &[Step], values: &mut Vec<Vec<i64>>) {
    for step in steps {
        let get = |at: &usize| values[at % values.len()].clone();
        let new: Vec<Vec<i64>> = match step {
            Step::Add { a, c } => {
                vec![get(a).iter().zip(get(c)).map(|(a, c)| a.wrapping_add(c)).collect()]
            }
            Step::Over { a, .. } => {
                let number = |(i, a): (usize, &i64)| a.wrapping_mul(3).wrapping_add(i as i64);
                vec![get(a).iter().enumerate().map(number).collect()]
            }
            Step::Insert { a, c, from, to, step } => {
                let (a, mut c) = (get(a), get(c));
                (0..3).for_each(|i| c[to + i * step] = a[from + 2 * i]);
                vec![c]
            }
            Step::Transpose { a } => {
                let a = get(a);
                vec![(0..N).map(|at| a[at % 3 * 4 + at / 3]).collect()]
            }
            Step::Put { a, c, at } => {
                let (a, mut c) = (get(a), get(c));
                c[*at] = c[*at].wrapping_add(a[*at]);
                vec![c]
            }
            Step::Loop { rounds, carried, body, next } => {
                let mut state: Vec<_> = carried.iter().map(get).collect();
                for _ in 0..*rounds {
                    let mut inner = values.clone();
                    inner.extend(state);
                    literal(body, &mut inner);
                    state = next
                        .iter()
                        .rev()
                        .map(|at| inner[inner.len() - 1 - at % inner.len()].clone())
                        .collect();
                }
                state
            }
            Step::If { a, at, then, otherwise, yields } => {
                let body = if get(a)[*at] < 0 { then } else { otherwise };
                let mut inner = values.clone();
                literal(body, &mut inner);
                yields.iter().map(|at| inner[inner.len() - 1 - at % inner.len()].clone()).collect()
            }
        };
        values.extend(new);
    }
}

/// Writes the same statements as text.
struct Writer {
    text: String,
    names: usize,
}

const T: &str = "tensor<12xi64>";
const ID: &str = "affine_map<(i) -> (i)>";

impl Writer {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "  {line}").expect("a String takes everything");
    }

    fn steps(&mut self, steps: &[Step], values: &mut Vec<String>) {
        for step in steps {
            let new = self.step(step, values);
            values.extend(new);
        }
    }

    fn step(&mut self, step: &Step, values: &[String]) -> Vec<String> {
        let get = |at: &usize| values[at % values.len()].clone();
        let r = self.name();
        match step {
            Step::Add { a, c } | Step::Over { a, c } => {
                let (a, c) = (get(a), get(c));
                let (i, x, y) = (self.name(), self.name(), self.name());
                let body = if matches!(step, Step::Add { .. }) {
                    format!("{x} = arith.addi %a, %c : i64 linalg.yield {x} : i64")
                } else {
                    format!(
                        "{i} = linalg.index 0 : index {x} = arith.index_cast {i} : index to i64 \
                         %t = arith.muli %a, %three : i64 {y} = arith.addi %t, {x} : i64 \
                         linalg.yield {y} : i64"
                    )
                };
                self.line(format_args!(
                    "{r} = linalg.generic {{indexing_maps = [{ID}, {ID}], \
                     iterator_types = [\"parallel\"]}} ins({a} : {T}) outs({c} : {T}) {{ \
                     ^bb0(%a: i64, %c: i64): {body} }} -> {T}"
                ));
            }
            Step::Insert { a, c, from, to, step } => {
                let (a, c, w) = (get(a), get(c), self.name());
                let view = "tensor<3xi64>";
                self.line(format_args!(
                    "{w} = tensor.extract_slice {a}[{from}] [3] [2] : {T} to {view}"
                ));
                self.line(format_args!(
                    "{r} = tensor.insert_slice {w} into {c}[{to}] [3] [{step}] : {view} into {T}"
                ));
            }
            Step::Transpose { a } => self.transpose(&r, &get(a)),
            Step::Put { a, c, at } => {
                let (a, c, x, y, z) = (get(a), get(c), self.name(), self.name(), self.name());
                self.line(format_args!("{x} = tensor.extract {a}[%c{at}] : {T}"));
                self.line(format_args!("{y} = tensor.extract {c}[%c{at}] : {T}"));
                self.line(format_args!("{z} = arith.addi {y}, {x} : i64"));
                self.line(format_args!("{r} = tensor.insert {z} into {c}[%c{at}] : {T}"));
            }
            Step::Loop { rounds, carried, body, next } => {
                let (x, y) = (self.name(), self.name());
                let [a, b] = [get(&carried[0]), get(&carried[1])];
                self.line(format_args!(
                    "{r}:2 = scf.for {r}i = %c0 to %c{rounds} step %c1 \
                     iter_args({x} = {a}, {y} = {b}) -> ({T}, {T}) {{"
                ));
                let mut inner = values.to_vec();
                inner.extend([x, y]);
                self.steps(body, &mut inner);
                let next: Vec<_> = next
                    .iter()
                    .rev()
                    .map(|at| &inner[inner.len() - 1 - at % inner.len()])
                    .collect();
                self.line(format_args!("scf.yield {}, {} : {T}, {T} }}", next[0], next[1]));
                return vec![format!("{r}#0"), format!("{r}#1")];
            }
            Step::If { a, at, then, otherwise, yields } => {
                let (a, x, y) = (get(a), self.name(), self.name());
                self.line(format_args!("{x} = tensor.extract {a}[%c{at}] : {T}"));
                self.line(format_args!("{y} = arith.cmpi slt, {x}, %zero : i64"));
                self.branch(&r, &y, [then, otherwise], yields, values);
                return vec![format!("{r}#0"), format!("{r}#1")];
            }
        }
        vec![r]
    }

    fn transpose(&mut self, r: &str, a: &str) {
        let (x, e, y) = (self.name(), self.name(), self.name());
        self.line(format_args!(
            "{x} = tensor.expand_shape {a} [[0, 1]] output_shape [3, 4] \
             : {T} into tensor<3x4xi64>"
        ));
        self.line(format_args!("{e} = tensor.empty() : tensor<4x3xi64>"));
        self.line(format_args!(
            "{y} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j, i)>, \
             affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \
             \"parallel\"]}} ins({x} : tensor<3x4xi64>) outs({e} : tensor<4x3xi64>) {{ \
             ^bb0(%a: i64, %c: i64): linalg.yield %a : i64 }} -> tensor<4x3xi64>"
        ));
        self.line(format_args!(
            "{r} = tensor.collapse_shape {y} [[0, 1]] : tensor<4x3xi64> into {T}"
        ));
    }

    /// Two tensors, from the body that a condition chooses.
    fn branch(
        &mut self,
        r: &str,
        condition: &str,
        bodies: [&Vec<Step>; 2],
        yields: &[usize],
        values: &[String],
    ) {
        self.line(format_args!("{r}:2 = scf.if {condition} -> ({T}, {T}) {{"));
        for (number, body) in bodies.into_iter().enumerate() {
            let mut inner = values.to_vec();
            self.steps(body, &mut inner);
            let end = |at: usize| &inner[inner.len() - 1 - at % inner.len()];
            let (p, q) = (end(yields[0]).clone(), end(yields[1]).clone());
            self.line(format_args!("scf.yield {p}, {q} : {T}, {T} }}"));
            if number == 0 {
                self.line(format_args!("else {{"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn values_stay_values(steps in steps(2), returned in prop::collection::vec(0usize..20, 1..4)) {
        let inputs = [Tensor::numbered(&[N as u64], 1), Tensor::numbered(&[N as u64], 2)];
        let mut writer = Writer { text: String::new(), names: 0 };
        let mut names = vec!["%x".to_owned(), "%y".to_owned(), "%lit".to_owned()];
        writer.steps(&steps, &mut names);
        let mut values: Vec<_> = inputs.iter().map(|input| input.data.clone()).collect();
        values.push((0..N as i64).map(|at| at - 3).collect());
        let literal_text: Vec<_> = values[2].iter().map(i64::to_string).collect();
        literal(&steps, &mut values);

        let last = |at: &usize| values.len() - 1 - at % values.len();
        let results: Vec<_> = returned.iter().map(|at| names[last(at)].as_str()).collect();
        let types = vec![T; results.len()].join(", ");
        let counts: String =
            (0..4).map(|n| format!("%c{n} = arith.constant {n} : index\n")).collect();
        let text = format!(
            "func.func @f(%x: {T}, %y: {T}) -> ({types}) {{\n{counts}\
             %three = arith.constant 3 : i64\n%zero = arith.constant 0 : i64\n\
             %lit = arith.constant dense<[{}]> : {T}\n{}  return {} : {types}\n}}",
            literal_text.join(", "), writer.text, results.join(", ")
        );
        let context = context();
        let module = module(&context, &text);
        let got = run(&module, &[&inputs[0], &inputs[1]]);
        for (at, got) in returned.iter().zip(got) {
            let want = &values[last(at)];
            prop_assert_eq!(&Tensor::of_bytes(&[N as u64], &got).data, want, "{}", text);
        }
    }
}
