//! Random programs.
//!
//! Floats stay whole numbers from -4 to 4: whatever may leave that range is clamped at once, so
//! that sums in any order, fused multiply-adds and narrow types give the same bits. Integers wrap.

use std::fmt::Write;

use crate::body::{Body, is_float};
use crate::random::Random;

pub const TYPES: [&str; 9] = ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"];

/// A tensor of the program.
#[derive(Clone)]
pub(crate) struct Value {
    pub name: String,
    pub dims: Vec<usize>,
    pub elem: &'static str,
}

impl Value {
    pub fn ty(&self) -> String {
        tensor(&self.dims, self.elem)
    }
}

pub fn tensor(dims: &[usize], elem: &str) -> String {
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}{elem}>")
}

/// The text of the program with this number.
pub fn random(seed: u64) -> String {
    let mut writer =
        Writer { random: Random::new(seed), text: String::new(), values: Vec::new(), numbers: 0 };
    writer.program()
}

pub(crate) struct Writer {
    pub random: Random,
    text: String,
    pub values: Vec<Value>,
    numbers: usize,
}

/// What a step does to the program.
type Step = fn(&mut Writer);

const STEPS: &[Step] = &[
    Writer::elementwise,
    Writer::elementwise,
    Writer::elementwise,
    Writer::broadcast,
    Writer::reduce,
    Writer::reduce,
    Writer::product,
    Writer::window,
    Writer::named,
    Writer::transpose,
    Writer::slice,
    Writer::insert_slice,
    Writer::pad,
    Writer::concat,
    Writer::reshape,
    Writer::generate,
    Writer::element,
    Writer::elements,
    Writer::branch,
    Writer::constant,
    Writer::on_tensors,
    Writer::two_results,
];

impl Writer {
    pub(crate) fn program(&mut self) -> String {
        let inputs: Vec<Value> = (0..1 + self.random.below(3))
            .map(|number| {
                let (dims, elem) = (self.shape(), *self.random.choose(&TYPES));
                Value { name: format!("%arg{number}"), dims, elem }
            })
            .collect();
        self.values.extend(inputs.iter().cloned());
        for _ in 0..2 + self.random.below(6) {
            let step = *self.random.choose(STEPS);
            step(self);
        }
        // The last value, and sometimes one from the middle.
        let mut outputs = vec![self.values[self.values.len() - 1].clone()];
        if self.random.one_in(2) {
            outputs.push(self.random.choose(&self.values).clone());
        }
        let list = |values: &[Value], item: &dyn Fn(&Value) -> String| {
            values.iter().map(item).collect::<Vec<_>>().join(", ")
        };
        let types = list(&outputs, &Value::ty);
        format!(
            "func.func @main({}) -> ({types}) {{\n{}  return {} : {types}\n}}\n",
            list(&inputs, &|value| format!("{}: {}", value.name, value.ty())),
            self.text,
            list(&outputs, &|value| value.name.clone()),
        )
    }

    pub(crate) fn extent(&mut self) -> usize {
        const EXTENTS: [usize; 12] = [1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33];
        if self.random.one_in(60) { 0 } else { *self.random.choose(&EXTENTS) }
    }

    pub(crate) fn shape(&mut self) -> Vec<usize> {
        let rank = *self.random.choose(&[0, 1, 1, 2, 2, 2, 3, 3, 4]);
        let mut dims: Vec<usize> = (0..rank).map(|_| self.extent()).collect();
        while dims.iter().product::<usize>() > 2_000 {
            let at = self.random.below(dims.len());
            dims[at] = 1 + self.random.below(4);
        }
        dims
    }

    pub(crate) fn any(&mut self) -> Value {
        // The newer a value, the more likely: chains are what compilers fuse.
        let count = self.values.len();
        let back = self.random.below(count).min(self.random.below(count));
        self.values[count - 1 - back].clone()
    }

    /// A value with elements and at least `rank` dimensions.
    pub(crate) fn with_rank(&mut self, rank: usize) -> Option<Value> {
        (0..8)
            .map(|_| self.any())
            .find(|value| value.dims.len() >= rank && !value.dims.contains(&0))
    }

    pub(crate) fn name(&mut self) -> String {
        self.numbers += 1;
        format!("%v{}", self.numbers)
    }

    pub(crate) fn line(&mut self, line: &str) {
        writeln!(self.text, "  {line}").expect("a string grows");
    }

    /// A value that the operation `text` gives.
    pub(crate) fn value(&mut self, dims: &[usize], elem: &'static str, text: &str) -> Value {
        let value = Value { name: self.name(), dims: dims.to_vec(), elem };
        self.line(&format!("{} = {text}", value.name));
        self.values.push(value.clone());
        value
    }

    /// As [`Writer::value`], for what only the next operation sees.
    pub(crate) fn hidden(&mut self, dims: &[usize], elem: &'static str, text: &str) -> Value {
        let value = self.value(dims, elem, text);
        self.values.pop();
        value
    }

    pub(crate) fn empty(&mut self, dims: &[usize], elem: &'static str) -> Value {
        self.hidden(dims, elem, &format!("tensor.empty() : {}", tensor(dims, elem)))
    }

    pub(crate) fn number(&mut self, elem: &str) -> String {
        match elem {
            "i1" => (*self.random.choose(&["true", "false"])).to_owned(),
            _ if is_float(elem) => format!("{}.0", self.random.below(7) as i64 - 3),
            _ => format!("{}", self.random.below(7) as i64 - 3),
        }
    }

    /// `arith.constant` of a scalar; its name.
    pub(crate) fn scalar(&mut self, elem: &str, number: &str) -> String {
        let name = self.name();
        let typed = if elem == "i1" { String::new() } else { format!(" : {elem}") };
        self.line(&format!("{name} = arith.constant {number}{typed}"));
        name
    }

    pub(crate) fn filled(&mut self, dims: &[usize], elem: &'static str, number: &str) -> Value {
        let (scalar, empty) = (self.scalar(elem, number), self.empty(dims, elem));
        let ty = empty.ty();
        let text =
            format!("linalg.fill ins({scalar} : {elem}) outs({} : {ty}) -> {ty}", empty.name);
        self.hidden(dims, elem, &text)
    }

    /// Lines of a body that give a number of `elem` from those in `given`; its name.
    pub(crate) fn body(
        &mut self,
        given: &[(String, &'static str)],
        elem: &'static str,
    ) -> (String, String) {
        let mut body = Body::new();
        let mut now: Option<String> = None;
        for (name, own) in given {
            let cast = body.cast(name, own, elem);
            now = Some(match now {
                Some(before) => body.binary(&mut self.random, &before, &cast, elem),
                None => cast,
            });
        }
        let mut now = now.unwrap_or_else(|| {
            let number = self.number(elem);
            body.constant(elem, &number)
        });
        for _ in 0..self.random.below(3) {
            now = body.unary(&mut self.random, &now, elem);
        }
        (body.lines, now)
    }

    /// A `linalg.generic`. `maps` has one index list for each operand, over `axes`.
    pub(crate) fn generic(
        &mut self,
        kinds: &str,
        inputs: &[(Value, String)],
        out: (&Value, String),
        body: (String, String),
    ) -> String {
        let axes: Vec<String> = (0..kinds.len()).map(|axis| format!("d{axis}")).collect();
        let axes = axes.join(", ");
        let map = |index: &str| format!("affine_map<({axes}) -> ({index})>");
        let maps: Vec<String> =
            inputs.iter().map(|(_, index)| map(index)).chain([map(&out.1)]).collect();
        let kinds: Vec<&str> = kinds
            .chars()
            .map(|kind| if kind == 'p' { "\"parallel\"" } else { "\"reduction\"" })
            .collect();
        let join = |item: &dyn Fn(&(Value, String)) -> String| {
            inputs.iter().map(item).collect::<Vec<_>>().join(", ")
        };
        let ins = match inputs.len() {
            0 => String::new(),
            _ => format!(
                " ins({} : {})",
                join(&|(value, _)| value.name.clone()),
                join(&|(value, _)| value.ty())
            ),
        };
        let mut args: Vec<String> = inputs
            .iter()
            .enumerate()
            .map(|(at, (value, _))| format!("%in{at}: {}", value.elem))
            .collect();
        args.push(format!("%out: {}", out.0.elem));
        let ty = out.0.ty();
        format!(
            "linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}}{ins} outs({} : {ty}) \
             {{\n  ^bb0({}):\n{}    linalg.yield {} : {}\n  }} -> {ty}",
            maps.join(", "),
            kinds.join(", "),
            out.0.name,
            args.join(", "),
            body.0,
            body.1,
            out.0.elem,
        )
    }
}
