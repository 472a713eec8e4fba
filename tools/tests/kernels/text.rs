//! A model of one operator, written as text, and the data that it is given.

use std::fmt::Write;

use super::*;

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// 1 to `most`, half of the time one beside a multiple of the lanes.
    pub fn extent(&mut self, most: usize) -> usize {
        const ODD: [usize; 14] = [1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 23, 31, 33, 37];
        let extent = if self.next() & 1 == 0 { ODD[self.below(14)] } else { 1 + self.below(most) };
        extent.min(most)
    }

    pub fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }
}

/// What a tensor holds.
#[derive(Clone, Copy)]
pub enum Data {
    /// Multiples of a quarter from -2 to 2; whole numbers from -8 to 8 in integer tensors.
    Quarters,
    /// Any numbers from -4 to 4.
    Smooth,
    /// Whole numbers below this.
    Below(usize),
    /// Whole numbers from -128 to 127.
    All,
}

#[derive(Clone)]
pub struct Value {
    pub name: String,
    pub dims: Vec<usize>,
    pub elem: &'static str,
}

impl Value {
    pub fn ty(&self) -> String {
        ty(&self.dims, self.elem)
    }
}

pub fn ty(dims: &[usize], elem: &str) -> String {
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}{elem}>")
}

/// Something to compile and run.
pub struct Case {
    pub name: String,
    pub text: String,
    pub inputs: Vec<(Value, Data)>,
    pub tolerance: Tolerance,
}

/// Writes a model of one operator.
#[derive(Default)]
pub struct Text {
    pub inputs: Vec<(Value, Data)>,
    pub constants: Vec<(Value, String)>,
    pub payload: String,
    pub values: usize,
}

impl Text {
    pub fn value(&mut self, dims: &[usize], elem: &'static str) -> Value {
        self.values += 1;
        Value { name: format!("%v{}", self.values), dims: dims.to_vec(), elem }
    }

    pub fn input(&mut self, dims: &[usize], elem: &'static str, data: Data) -> Value {
        let value = self.value(dims, elem);
        self.inputs.push((value.clone(), data));
        value
    }

    /// A tensor known when compiling, of a few small numbers in turn.
    pub fn constant(&mut self, dims: &[usize], elem: &'static str) -> Value {
        let value = self.value(dims, elem);
        let mut next = 0;
        let literal = nested(dims, &mut || {
            next = (next * 5 + 3) % 17;
            if elem.starts_with('i') {
                format!("{}", next - 8)
            } else {
                format!("{:.2}", f64::from(next - 8) / 4.0)
            }
        });
        self.constants.push((value.clone(), literal));
        value
    }

    /// A number known when compiling.
    pub fn number(&mut self, elem: &'static str, number: i64) -> Value {
        let value = self.value(&[], elem);
        self.constants.push((value.clone(), number.to_string()));
        value
    }

    pub fn empty(&mut self, dims: &[usize], elem: &'static str) -> Value {
        let value = self.value(dims, elem);
        let (name, ty) = (&value.name, value.ty());
        writeln!(self.payload, "    {name} = tensor.empty() : {ty}").expect("a string grows");
        value
    }

    /// A tensor of one number everywhere.
    pub fn fill(&mut self, dims: &[usize], elem: &'static str, number: &str) -> Value {
        let empty = self.empty(dims, elem);
        let axes: Vec<String> = (0..dims.len()).map(|axis| format!("d{axis}")).collect();
        let axes = axes.join(", ");
        let kinds = "p".repeat(dims.len());
        self.nest(
            &axes,
            &kinds,
            &[],
            (&empty, &axes),
            &format!("%r = arith.constant {number} : {elem}"),
        )
    }

    /// A `linalg.generic`; the body reads `%a`, `%b`, ... and `%o`, and gives `%r`.
    pub fn nest(
        &mut self,
        axes: &str,
        kinds: &str,
        inputs: &[(&Value, &str)],
        out: (&Value, &str),
        body: &str,
    ) -> Value {
        let result = self.value(&out.0.dims, out.0.elem);
        let maps: Vec<String> = inputs
            .iter()
            .chain([&out])
            .map(|(_, index)| format!("affine_map<({axes}) -> ({index})>"))
            .collect();
        let kinds: Vec<&str> = kinds
            .chars()
            .map(|kind| if kind == 'p' { "\"parallel\"" } else { "\"reduction\"" })
            .collect();
        let names: Vec<&str> = inputs.iter().map(|(value, _)| value.name.as_str()).collect();
        let types: Vec<String> = inputs.iter().map(|(value, _)| value.ty()).collect();
        let ins = match inputs.len() {
            0 => String::new(),
            _ => format!(" ins({} : {})", names.join(", "), types.join(", ")),
        };
        let mut args: Vec<String> = inputs
            .iter()
            .zip('a'..='n')
            .map(|((value, _), letter)| format!("%{letter}: {}", value.elem))
            .collect();
        args.push(format!("%o: {}", out.0.elem));
        write!(
            self.payload,
            "    {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}\
             {ins} outs({out} : {ty}) {{\n    ^bb0({args}):\n      {body}\n      \
             linalg.yield %r : {elem}\n    }} -> {ty}\n",
            result = result.name,
            maps = maps.join(", "),
            kinds = kinds.join(", "),
            out = out.0.name,
            ty = result.ty(),
            args = args.join(", "),
            elem = out.0.elem,
        )
        .expect("a string grows");
        result
    }

    /// A line of payload that gives a tensor; `{r}` is its name, `{t}` its type.
    pub fn line(&mut self, dims: &[usize], elem: &'static str, line: &str) -> Value {
        let value = self.value(dims, elem);
        let line = line.replace("{r}", &value.name).replace("{t}", &value.ty());
        writeln!(self.payload, "    {line}").expect("a string grows");
        value
    }

    /// The same elements in another shape.
    pub fn reshaped(&mut self, value: &Value, dims: &[usize]) -> Value {
        self.values += 1;
        let shape = format!("%d{}", self.values);
        let list: Vec<String> = dims.iter().map(usize::to_string).collect();
        let shape_ty = format!("tensor<{}xi64>", dims.len());
        writeln!(
            self.payload,
            "    {shape} = arith.constant dense<[{}]> : {shape_ty}",
            list.join(", ")
        )
        .expect("a string grows");
        let (name, ty) = (value.name.clone(), value.ty());
        let line = format!("{{r}} = tensor.reshape {name}({shape}) : ({ty}, {shape_ty}) -> {{t}}");
        self.line(dims, value.elem, &line)
    }

    /// What joins the kernel that makes `value` as its epilogue: minus a tensor, plus a number for
    /// each place on the first axis and on the last, and no less than zero.
    pub fn epilogue(&mut self, value: &Value) -> Value {
        let (elem, rank) = (value.elem, value.dims.len());
        let (_, add, zero) = arithmetic(elem);
        let [sub, most] = match elem.starts_with('i') {
            true => ["arith.subi", "arith.maxsi"],
            false => ["arith.subf", "arith.maximumf"],
        };
        let residual = self.input(&value.dims, elem, Data::Quarters);
        let first = self.input(&value.dims[..1], elem, Data::Quarters);
        let last = self.input(&value.dims[rank - 1..], elem, Data::Quarters);
        let axes = &["i", "j", "k", "l"][..rank];
        let all = axes.join(", ");
        let inputs =
            [(value, &*all), (&residual, &*all), (&first, axes[0]), (&last, axes[rank - 1])];
        let empty = self.empty(&value.dims, elem);
        let body = format!(
            "%p = {sub} %a, %b : {elem}\n      %q = {add} %p, %c : {elem}\n      \
             %s = {add} %q, %d : {elem}\n      %z = arith.constant {zero} : {elem}\n      \
             %r = {most} %s, %z : {elem}"
        );
        self.nest(&all, &"p".repeat(rank), &inputs, (&empty, &all), &body)
    }

    /// The value as the type of half as many bits that has the same kind of numbers.
    pub fn cast(&mut self, value: &Value) -> Value {
        let (op, to) = match value.elem {
            "f32" => ("arith.truncf", "f16"),
            "i32" => ("arith.trunci", "i16"),
            other => panic!("{other} is cast to nothing"),
        };
        let axes = ["i", "j", "k", "l"][..value.dims.len()].join(", ");
        let empty = self.empty(&value.dims, to);
        let body = format!("%r = {op} %a : {} to {to}", value.elem);
        let kinds = "p".repeat(value.dims.len());
        self.nest(&axes, &kinds, &[(value, &*axes)], (&empty, &axes), &body)
    }

    pub fn finish(self, name: String, result: &Value, tolerance: Tolerance) -> Case {
        let all: Vec<&Value> = self
            .inputs
            .iter()
            .map(|(value, _)| value)
            .chain(self.constants.iter().map(|(value, _)| value))
            .collect();
        let outside = |value: &Value| value.name.replace("%v", "%x");
        let list = |item: &dyn Fn(&Value) -> String, of: &[&Value]| -> String {
            of.iter().map(|value| item(value)).collect::<Vec<_>>().join(", ")
        };
        let given = &all[..self.inputs.len()];
        let mut text = format!(
            "graph.model @model inputs [{}] outputs [\"result\"] {{\n^bb0({}):\n",
            list(&|value| format!("{:?}", &value.name[1..]), given),
            list(&|value| format!("{}: {}", outside(value), value.ty()), given),
        );
        for (value, literal) in &self.constants {
            let (name, ty) = (outside(value), value.ty());
            writeln!(text, "  {name} = graph.constant dense<{literal}> : {ty} -> {ty}")
                .expect("a string grows");
        }
        write!(
            text,
            "  %result = graph.op \"Case\" \"case\"({}) : ({}) -> {ty} {{\n  ^bb0({}):\n{}    \
             graph.yield {} : {ty}\n  }}\n  graph.output %result : {ty}\n}}\n",
            list(&outside, &all),
            list(&Value::ty, &all),
            list(&|value| format!("{}: {}", value.name, value.ty()), &all),
            self.payload,
            result.name,
            ty = result.ty(),
        )
        .expect("a string grows");
        Case { name, text, inputs: self.inputs, tolerance }
    }
}

/// The literal of a dense tensor.
pub fn nested(dims: &[usize], next: &mut dyn FnMut() -> String) -> String {
    let Some((&first, rest)) = dims.split_first() else { return next() };
    let parts: Vec<String> = (0..first).map(|_| nested(rest, next)).collect();
    format!("[{}]", parts.join(", "))
}

pub fn bytes(value: &Value, data: Data, random: &mut Random) -> Vec<u8> {
    // 0 to 2 in quarters.
    const HALVES: [u16; 9] = [0, 0x3400, 0x3800, 0x3a00, 0x3c00, 0x3d00, 0x3e00, 0x3f00, 0x4000];
    let mut bytes = Vec::new();
    for _ in 0..value.dims.iter().product::<usize>() {
        let number = match data {
            Data::Quarters => random.below(17) as f64 / 4.0 - 2.0,
            Data::Smooth => (random.next() >> 11) as f64 / (1u64 << 50) as f64 - 4.0,
            Data::Below(limit) => random.below(limit) as f64,
            Data::All => random.below(256) as f64 - 128.0,
        };
        let whole = if matches!(data, Data::Quarters) { number * 4.0 } else { number } as i64;
        let sign = if number < 0.0 { 0x8000 } else { 0 };
        match value.elem {
            "f64" => bytes.extend(number.to_le_bytes()),
            "f32" => bytes.extend((number as f32).to_le_bytes()),
            "bf16" => bytes.extend(((number as f32).to_bits() >> 16).to_le_bytes().iter().take(2)),
            "f16" => bytes.extend((HALVES[(number.abs() * 4.0) as usize % 9] | sign).to_le_bytes()),
            "i64" => bytes.extend(whole.to_le_bytes()),
            "i32" => bytes.extend((whole as i32).to_le_bytes()),
            "i16" => bytes.extend((whole as i16).to_le_bytes()),
            "i8" => bytes.extend((whole as i8).to_le_bytes()),
            other => unreachable!("no data for {other}"),
        }
    }
    bytes
}

pub fn arithmetic(elem: &str) -> (&'static str, &'static str, &'static str) {
    if elem.starts_with('i') {
        ("arith.muli", "arith.addi", "0")
    } else {
        ("arith.mulf", "arith.addf", "0.0")
    }
}
