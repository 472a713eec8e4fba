//! Random programs.
//!
//! Floats stay whole numbers from -4 to 4: whatever may leave that range is clamped at once, so
//! that sums in any order, fused multiply-adds and narrow types give the same bits. Integers wrap.

use std::fmt::Write;

use crate::random::Random;

pub const TYPES: [&str; 9] = ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"];

/// A tensor of the program.
#[derive(Clone)]
struct Value {
    name: String,
    dims: Vec<usize>,
    elem: &'static str,
}

impl Value {
    fn ty(&self) -> String {
        tensor(&self.dims, self.elem)
    }
}

pub fn tensor(dims: &[usize], elem: &str) -> String {
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}{elem}>")
}

pub fn is_float(elem: &str) -> bool {
    elem.contains('f')
}

/// The text of the program with this number.
pub fn random(seed: u64) -> String {
    let mut writer =
        Writer { random: Random::new(seed), text: String::new(), values: Vec::new(), numbers: 0 };
    writer.program()
}

struct Writer {
    random: Random,
    text: String,
    values: Vec<Value>,
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
    fn program(&mut self) -> String {
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

    fn extent(&mut self) -> usize {
        const EXTENTS: [usize; 12] = [1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33];
        if self.random.one_in(60) { 0 } else { *self.random.choose(&EXTENTS) }
    }

    fn shape(&mut self) -> Vec<usize> {
        let rank = *self.random.choose(&[0, 1, 1, 2, 2, 2, 3, 3, 4]);
        let mut dims: Vec<usize> = (0..rank).map(|_| self.extent()).collect();
        while dims.iter().product::<usize>() > 2_000 {
            let at = self.random.below(dims.len());
            dims[at] = 1 + self.random.below(4);
        }
        dims
    }

    fn any(&mut self) -> Value {
        // The newer a value, the more likely: chains are what compilers fuse.
        let count = self.values.len();
        let back = self.random.below(count).min(self.random.below(count));
        self.values[count - 1 - back].clone()
    }

    /// A value with elements and at least `rank` dimensions.
    fn with_rank(&mut self, rank: usize) -> Option<Value> {
        (0..8)
            .map(|_| self.any())
            .find(|value| value.dims.len() >= rank && !value.dims.contains(&0))
    }

    fn name(&mut self) -> String {
        self.numbers += 1;
        format!("%v{}", self.numbers)
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "  {line}").expect("a string grows");
    }

    /// A value that the operation `text` gives.
    fn value(&mut self, dims: &[usize], elem: &'static str, text: &str) -> Value {
        let value = Value { name: self.name(), dims: dims.to_vec(), elem };
        self.line(&format!("{} = {text}", value.name));
        self.values.push(value.clone());
        value
    }

    /// As [`Writer::value`], for what only the next operation sees.
    fn hidden(&mut self, dims: &[usize], elem: &'static str, text: &str) -> Value {
        let value = self.value(dims, elem, text);
        self.values.pop();
        value
    }

    fn empty(&mut self, dims: &[usize], elem: &'static str) -> Value {
        self.hidden(dims, elem, &format!("tensor.empty() : {}", tensor(dims, elem)))
    }

    fn number(&mut self, elem: &str) -> String {
        match elem {
            "i1" => (*self.random.choose(&["true", "false"])).to_owned(),
            _ if is_float(elem) => format!("{}.0", self.random.below(7) as i64 - 3),
            _ => format!("{}", self.random.below(7) as i64 - 3),
        }
    }

    /// `arith.constant` of a scalar; its name.
    fn scalar(&mut self, elem: &str, number: &str) -> String {
        let name = self.name();
        let typed = if elem == "i1" { String::new() } else { format!(" : {elem}") };
        self.line(&format!("{name} = arith.constant {number}{typed}"));
        name
    }

    fn filled(&mut self, dims: &[usize], elem: &'static str, number: &str) -> Value {
        let (scalar, empty) = (self.scalar(elem, number), self.empty(dims, elem));
        let ty = empty.ty();
        let text =
            format!("linalg.fill ins({scalar} : {elem}) outs({} : {ty}) -> {ty}", empty.name);
        self.hidden(dims, elem, &text)
    }

    /// Lines of a body that give a number of `elem` from those in `given`; its name.
    fn body(&mut self, given: &[(String, &'static str)], elem: &'static str) -> (String, String) {
        let mut body = Body { lines: String::new(), numbers: 0 };
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
    fn generic(
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

    /// Operands of one shape, any types, one body.
    fn elementwise(&mut self) {
        let first = self.any();
        let mut inputs = vec![first.clone()];
        let alike: Vec<Value> =
            self.values.iter().filter(|value| value.dims == first.dims).cloned().collect();
        for _ in 0..self.random.below(2) {
            inputs.push(self.random.choose(&alike).clone());
        }
        let elem = *self.random.choose(&TYPES);
        self.over(&first.dims, &inputs, elem);
    }

    /// A nest over `dims` with operands that have all, or none, or the last of its axes.
    fn over(&mut self, dims: &[usize], inputs: &[Value], elem: &'static str) {
        let rank = dims.len();
        let index = |value: &Value| {
            let first = rank - value.dims.len();
            (first..rank).map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ")
        };
        let given: Vec<_> =
            inputs.iter().enumerate().map(|(at, value)| (format!("%in{at}"), value.elem)).collect();
        let body = self.body(&given, elem);
        let inputs: Vec<_> = inputs.iter().map(|value| (value.clone(), index(value))).collect();
        let empty = self.empty(dims, elem);
        let all = index(&empty);
        let text = self.generic(&"p".repeat(rank), &inputs, (&empty, all), body);
        self.value(dims, elem, &text);
    }

    /// A vector, or one number, beside a tensor whose last extent it has.
    fn broadcast(&mut self) {
        let Some(whole) = self.with_rank(1) else { return };
        let last = whole.dims[whole.dims.len() - 1];
        let row = self.values.iter().find(|value| value.dims == [last]).cloned();
        let row = match row {
            Some(row) => row,
            None => {
                let elem = *self.random.choose(&TYPES);
                let number = self.number(elem);
                let row = self.filled(&[last], elem, &number);
                self.values.push(row.clone());
                row
            }
        };
        let scalar = self.values.iter().find(|value| value.dims.is_empty()).cloned();
        let inputs: Vec<Value> = [whole.clone(), row].into_iter().chain(scalar).collect();
        let elem = *self.random.choose(&TYPES);
        self.over(&whole.dims, &inputs, elem);
    }

    /// Keeps floats small.
    fn clamp(&mut self, value: Value) {
        if !is_float(value.elem) {
            self.values.push(value);
            return;
        }
        let mut body = Body { lines: String::new(), numbers: 0 };
        let now = body.clamped("%in0", value.elem);
        let rank = value.dims.len();
        let index = (0..rank).map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ");
        let empty = self.empty(&value.dims, value.elem);
        let (dims, elem) = (value.dims.clone(), value.elem);
        let inputs = [(value, index.clone())];
        let text = self.generic(&"p".repeat(rank), &inputs, (&empty, index), (body.lines, now));
        self.value(&dims, elem, &text);
    }

    /// Folds any axes of a tensor, from a number or from another tensor.
    fn reduce(&mut self) {
        let Some(from) = self.with_rank(1) else { return };
        let rank = from.dims.len();
        let folded: Vec<bool> = (0..rank).map(|_| self.random.one_in(2)).collect();
        let extent: usize =
            (0..rank).filter(|&axis| folded[axis]).map(|axis| from.dims[axis]).product();
        // A sum of more would not be exact in bf16.
        if is_float(from.elem) && extent > 60 {
            return;
        }
        let kept: Vec<usize> = (0..rank).filter(|&axis| !folded[axis]).collect();
        let dims: Vec<usize> = kept.iter().map(|&axis| from.dims[axis]).collect();
        let (op, start): (&str, &str) = match from.elem {
            "i1" => *self.random.choose(&[
                ("arith.andi", "true"),
                ("arith.ori", "false"),
                ("arith.xori", "false"),
                ("arith.addi", "true"),
                ("arith.maxui", "false"),
            ]),
            elem if is_float(elem) => *self.random.choose(&[
                ("arith.addf", "0.0"),
                ("arith.maximumf", "-4.0"),
                ("arith.minnumf", "2.0"),
            ]),
            _ => *self.random.choose(&[
                ("arith.addi", "0"),
                ("arith.muli", "1"),
                ("arith.maxsi", "-100"),
                ("arith.minui", "100"),
                ("arith.andi", "-1"),
                ("arith.xori", "5"),
            ]),
        };
        let start = self.filled(&dims, from.elem, start);
        let kinds: String = folded.iter().map(|&folded| if folded { 'r' } else { 'p' }).collect();
        let all = (0..rank).map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ");
        let out = kept.iter().map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ");
        let sides = if self.random.one_in(2) { ("%in0", "%out") } else { ("%out", "%in0") };
        let body = format!("    %r = {op} {}, {} : {}\n", sides.0, sides.1, from.elem);
        let elem = from.elem;
        let text = self.generic(&kinds, &[(from, all)], (&start, out), (body, "%r".to_owned()));
        let folded = self.hidden(&dims, elem, &text);
        self.clamp(folded);
    }

    /// A named product of matrices; of mixed types sometimes.
    fn product(&mut self) {
        let Some(left) = self.with_rank(2) else { return };
        let dims = left.dims[left.dims.len() - 2..].to_vec();
        let batch = left.dims.len() == 3 && self.random.one_in(2);
        let (m, k) = (dims[0], dims[1]);
        if (left.dims.len() != 2 && !batch) || left.elem == "i1" || k > 9 {
            return;
        }
        let n = 1 + self.random.below(20);
        let lead = if batch { vec![left.dims[0]] } else { vec![] };
        let shape = |rest: [usize; 2]| [&lead[..], &rest].concat();
        let number = self.number(left.elem);
        let right = self.filled(&shape([k, n]), left.elem, &number);
        // Something else than one number everywhere.
        self.over_named(&right, &left);
        let right = self.values.pop().expect("it was just made");
        let wide: &[&'static str] = match left.elem {
            "i8" => &["i8", "i32"],
            "i16" => &["i16", "i32"],
            "f16" => &["f16", "f32"],
            "bf16" => &["bf16", "f32"],
            "f32" => &["f32", "f64"],
            "i32" => &["i32", "i64"],
            _ => &[],
        };
        let elem = if wide.is_empty() { left.elem } else { self.random.choose(wide) };
        let start = self.filled(&shape([m, n]), elem, if is_float(elem) { "0.0" } else { "0" });
        let name = if batch { "linalg.batch_matmul" } else { "linalg.matmul" };
        let ty = start.ty();
        let text = format!(
            "{name} ins({}, {} : {}, {}) outs({} : {ty}) -> {ty}",
            left.name,
            right.name,
            left.ty(),
            right.ty(),
            start.name
        );
        let product = self.hidden(&shape([m, n]), elem, &text);
        self.clamp(product);
    }

    /// A tensor like `value` whose elements differ: they depend on the index.
    fn over_named(&mut self, value: &Value, _like: &Value) {
        let rank = value.dims.len();
        let elem = value.elem;
        let mut body = Body { lines: String::new(), numbers: 0 };
        let at = body.line(&format!("linalg.index {} : index", rank - 1));
        let three = body.constant("index", "3");
        let rest = body.line(&format!("arith.remui {at}, {three} : index"));
        let whole = body.line(&format!("arith.index_cast {rest} : index to i32"));
        let number = body.cast(&whole, "i32", elem);
        let (add, _) = if is_float(elem) { ("arith.addf", ()) } else { ("arith.addi", ()) };
        let sum = body.line(&format!("{add} %in0, {number} : {elem}"));
        let sum = body.clamped(&sum, elem);
        let index = (0..rank).map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ");
        let empty = self.empty(&value.dims, elem);
        let inputs = [(value.clone(), index.clone())];
        let text = self.generic(&"p".repeat(rank), &inputs, (&empty, index), (body.lines, sum));
        self.value(&value.dims, elem, &text);
    }

    /// Pooling, or a convolution of one dimension.
    fn window(&mut self) {
        let Some(from) = self.with_rank(1) else { return };
        let last = from.dims[from.dims.len() - 1];
        let size = 1 + self.random.below(3);
        if from.dims.len() != 1 || last < size || from.elem == "i1" {
            return;
        }
        let number = self.number(from.elem);
        let filter = self.filled(&[size], from.elem, &number);
        let dims = [last - size + 1];
        let start = self.filled(&dims, from.elem, if is_float(from.elem) { "0.0" } else { "0" });
        let ty = start.ty();
        let text = format!(
            "linalg.conv_1d ins({}, {} : {}, {}) outs({} : {ty}) -> {ty}",
            from.name,
            filter.name,
            from.ty(),
            filter.ty(),
            start.name
        );
        let folded = self.hidden(&dims, from.elem, &text);
        self.clamp(folded);
    }

    /// A named elementwise operation.
    fn named(&mut self) {
        let from = self.any();
        if from.elem == "i1" {
            return;
        }
        let name = *self.random.choose(&["add", "sub", "max", "min", "mul"]);
        let empty = self.empty(&from.dims, from.elem);
        let ty = from.ty();
        let text = format!(
            "linalg.{name} ins({0}, {0} : {ty}, {ty}) outs({1} : {ty}) -> {ty}",
            from.name, empty.name
        );
        let result = self.hidden(&from.dims, from.elem, &text);
        self.clamp(result);
    }

    fn transpose(&mut self) {
        let Some(from) = self.with_rank(2) else { return };
        let rank = from.dims.len();
        let mut order: Vec<usize> = (0..rank).collect();
        for at in (1..rank).rev() {
            order.swap(at, self.random.below(at + 1));
        }
        let dims: Vec<usize> = order.iter().map(|&axis| from.dims[axis]).collect();
        let empty = self.empty(&dims, from.elem);
        let text = format!(
            "linalg.transpose ins({} : {}) outs({} : {}) permutation = {order:?}",
            from.name,
            from.ty(),
            empty.name,
            empty.ty()
        );
        self.value(&dims, from.elem, &text);
    }

    /// Offsets, sizes and strides inside of `dims`.
    fn slice_of(&mut self, dims: &[usize]) -> [Vec<usize>; 3] {
        let mut parts = [vec![], vec![], vec![]];
        for &dim in dims {
            let stride = 1 + self.random.below(2);
            let offset = self.random.below(dim);
            let most = (dim - offset).div_ceil(stride);
            let size = 1 + self.random.below(most);
            parts[0].push(offset);
            parts[1].push(size);
            parts[2].push(stride);
        }
        parts
    }

    fn slice(&mut self) {
        let Some(from) = self.with_rank(1) else { return };
        let [offsets, sizes, strides] = self.slice_of(&from.dims);
        // Dimensions of one element may be dropped.
        let drop = self.random.one_in(3);
        let dims: Vec<usize> = sizes.iter().copied().filter(|&size| !drop || size != 1).collect();
        let text = format!(
            "tensor.extract_slice {}{offsets:?} {sizes:?} {strides:?} : {} to {}",
            from.name,
            from.ty(),
            tensor(&dims, from.elem)
        );
        self.value(&dims, from.elem, &text);
    }

    fn insert_slice(&mut self) {
        let Some(into) = self.with_rank(1) else { return };
        let [offsets, sizes, strides] = self.slice_of(&into.dims);
        let drop = self.random.one_in(3);
        let dims: Vec<usize> = sizes.iter().copied().filter(|&size| !drop || size != 1).collect();
        let number = self.number(into.elem);
        let source = self.filled(&dims, into.elem, &number);
        let text = format!(
            "tensor.insert_slice {} into {}{offsets:?} {sizes:?} {strides:?} : {} into {}",
            source.name,
            into.name,
            source.ty(),
            into.ty()
        );
        self.value(&into.dims, into.elem, &text);
    }

    /// With one number, or with one that depends on the place.
    fn pad(&mut self) {
        let Some(from) = self.with_rank(1) else { return };
        let rank = from.dims.len();
        if rank > 3 || from.dims.iter().product::<usize>() > 300 {
            return;
        }
        let low: Vec<usize> = (0..rank).map(|_| self.random.below(3)).collect();
        let high: Vec<usize> = (0..rank).map(|_| self.random.below(3)).collect();
        let dims: Vec<usize> =
            (0..rank).map(|axis| low[axis] + from.dims[axis] + high[axis]).collect();
        let args: Vec<String> = (0..rank).map(|axis| format!("%i{axis}: index")).collect();
        let number = self.number(from.elem);
        let mut body = Body { lines: String::new(), numbers: 0 };
        let value = match self.random.one_in(3) {
            true => {
                let two = body.constant("index", "2");
                let rest = body.line(&format!("arith.remui %i0, {two} : index"));
                let whole = body.line(&format!("arith.index_cast {rest} : index to i32"));
                body.cast(&whole, "i32", from.elem)
            }
            false => body.constant(from.elem, &number),
        };
        let text = format!(
            "tensor.pad {} low{low:?} high{high:?} {{\n  ^bb0({}):\n{}    tensor.yield {value} : \
             {}\n  }} : {} to {}",
            from.name,
            args.join(", "),
            body.lines,
            from.elem,
            from.ty(),
            tensor(&dims, from.elem)
        );
        self.value(&dims, from.elem, &text);
    }

    fn concat(&mut self) {
        let Some(first) = self.with_rank(1) else { return };
        let axis = self.random.below(first.dims.len());
        if first.dims.iter().product::<usize>() > 600 {
            return;
        }
        let mut dims = first.dims.clone();
        dims[axis] = 1 + self.random.below(4);
        let number = self.number(first.elem);
        let second = self.filled(&dims, first.elem, &number);
        let mut parts = vec![first.clone(), second, first.clone()];
        parts.truncate(1 + self.random.below(3));
        dims[axis] = parts.iter().map(|part| part.dims[axis]).sum();
        let names: Vec<_> = parts.iter().map(|part| part.name.clone()).collect();
        let types: Vec<_> = parts.iter().map(Value::ty).collect();
        let text = format!(
            "tensor.concat dim({axis}) {} : ({}) -> {}",
            names.join(", "),
            types.join(", "),
            tensor(&dims, first.elem)
        );
        self.value(&dims, first.elem, &text);
    }

    /// All dimensions in one, and one split in two.
    fn reshape(&mut self) {
        let Some(from) = self.with_rank(2) else { return };
        let count = from.dims.iter().product::<usize>();
        let all = (0..from.dims.len()).map(|axis| axis.to_string()).collect::<Vec<_>>().join(", ");
        let flat = tensor(&[count], from.elem);
        let text =
            format!("tensor.collapse_shape {} [[{all}]] : {} into {flat}", from.name, from.ty());
        let flat = self.value(&[count], from.elem, &text);
        let factors: Vec<usize> = (1..=count).filter(|factor| count % factor == 0).collect();
        let outer = *self.random.choose(&factors);
        let dims = [outer, count / outer];
        let text = format!(
            "tensor.expand_shape {} [[0, 1]] output_shape {dims:?} : {} into {}",
            flat.name,
            flat.ty(),
            tensor(&dims, from.elem)
        );
        self.value(&dims, from.elem, &text);
    }

    fn generate(&mut self) {
        let (dims, elem) = (self.shape(), *self.random.choose(&TYPES));
        if dims.is_empty() || dims.contains(&0) {
            return;
        }
        let args: Vec<String> = (0..dims.len()).map(|axis| format!("%i{axis}: index")).collect();
        let mut body = Body { lines: String::new(), numbers: 0 };
        let three = body.constant("index", "3");
        let rest = body.line(&format!("arith.remui %i0, {three} : index"));
        let whole = body.line(&format!("arith.index_cast {rest} : index to i64"));
        let value = body.cast(&whole, "i64", elem);
        let text = format!(
            "tensor.generate {{\n  ^bb0({}):\n{}    tensor.yield {value} : {elem}\n  }} : {}",
            args.join(", "),
            body.lines,
            tensor(&dims, elem)
        );
        self.value(&dims, elem, &text);
    }

    /// Takes one element out: to fill a tensor, or to put it in elsewhere.
    fn element(&mut self) {
        let Some(from) = self.with_rank(0) else { return };
        let index = |dims: &[usize], writer: &mut Self| -> String {
            let at: Vec<String> = dims
                .iter()
                .map(|&dim| {
                    let place = writer.random.below(dim).to_string();
                    writer.scalar("index", &place)
                })
                .collect();
            at.join(", ")
        };
        let at = index(&from.dims, self);
        let taken = self.name();
        self.line(&format!("{taken} = tensor.extract {}[{at}] : {}", from.name, from.ty()));
        if self.random.one_in(2) {
            let into = self.values.iter().find(|value| {
                value.elem == from.elem && value.dims.len() == 2 && !value.dims.contains(&0)
            });
            let into = into.unwrap_or(&from).clone();
            let at = index(&into.dims, self);
            let text = format!("tensor.insert {taken} into {}[{at}] : {}", into.name, into.ty());
            self.value(&into.dims, into.elem, &text);
        } else {
            let dims = self.shape();
            let text = format!("tensor.splat {taken} : {}", tensor(&dims, from.elem));
            self.value(&dims, from.elem, &text);
        }
    }

    fn elements(&mut self) {
        let Some(from) = self.with_rank(1) else { return };
        let count = 1 + self.random.below(4);
        let mut names = Vec::new();
        for _ in 0..count {
            let at: Vec<String> = from
                .dims
                .iter()
                .map(|&dim| {
                    let place = self.random.below(dim).to_string();
                    self.scalar("index", &place)
                })
                .collect();
            let taken = self.name();
            let at = at.join(", ");
            self.line(&format!("{taken} = tensor.extract {}[{at}] : {}", from.name, from.ty()));
            names.push(taken);
        }
        let dims = [count];
        let ty = tensor(&dims, from.elem);
        let text = format!("tensor.from_elements {} : {ty}", names.join(", "));
        self.value(&dims, from.elem, &text);
    }

    /// A body that branches on the place or on an element, and reads where only one branch may; or
    /// divides where the divisor is not zero.
    fn branch(&mut self) {
        let Some(from) = self.with_rank(1) else { return };
        if from.dims.len() > 3 {
            return;
        }
        let rank = from.dims.len();
        let (elem, first) = (from.elem, from.dims[0]);
        let all = (0..rank).map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ");
        let mut dims = from.dims.clone();
        let mut body = Body { lines: String::new(), numbers: 0 };
        let number = self.number(elem);
        if self.random.one_in(3) && elem.starts_with('i') && elem != "i1" {
            let zero = body.constant(elem, "0");
            let other = body.constant(elem, &number);
            let some = body.line(&format!("arith.cmpi ne, %in0, {zero} : {elem}"));
            let op = *self.random.choose(&["arith.divsi", "arith.remui", "arith.floordivsi"]);
            let value = body.line(&format!(
                "scf.if {some} -> ({elem}) {{\n      %q = {op} {other}, %in0 : {elem}\n      \
                 scf.yield %q : {elem}\n    }} else {{\n      scf.yield {zero} : {elem}\n    }}"
            ));
            let empty = self.empty(&dims, elem);
            let inputs = [(from, all.clone())];
            let text = self.generic(&"p".repeat(rank), &inputs, (&empty, all), (body.lines, value));
            self.value(&dims, elem, &text);
            return;
        }
        // The tensor twice along its first dimension, with a number between.
        dims[0] = 2 * first + 1;
        if dims.iter().product::<usize>() > 3_000 {
            return;
        }
        let axes: Vec<String> =
            (0..rank).map(|axis| body.line(&format!("linalg.index {axis} : index"))).collect();
        let rest: String = axes[1..].iter().map(|axis| format!(", {axis}")).collect();
        let extent = body.constant("index", &first.to_string());
        let behind = body.constant("index", &(first + 1).to_string());
        let other = body.constant(elem, &number);
        let low = body.line(&format!("arith.cmpi ult, {}, {extent} : index", axes[0]));
        let (name, ty) = (&from.name, from.ty());
        let value = body.line(&format!(
            "scf.if {low} -> ({elem}) {{\n      %a = tensor.extract {name}[{at}{rest}] : {ty}\n      \
             scf.yield %a : {elem}\n    }} else {{\n      \
             %middle = arith.cmpi eq, {at}, {extent} : index\n      \
             %b = scf.if %middle -> ({elem}) {{\n        scf.yield {other} : {elem}\n      }} else {{\n        \
             %m = arith.subi {at}, {behind} : index\n        \
             %c = tensor.extract {name}[%m{rest}] : {ty}\n        \
             scf.yield %c : {elem}\n      }}\n      scf.yield %b : {elem}\n    }}",
            at = axes[0],
        ));
        let empty = self.empty(&dims, elem);
        let text = self.generic(&"p".repeat(rank), &[], (&empty, all), (body.lines, value));
        self.value(&dims, elem, &text);
    }

    fn constant(&mut self) {
        let (dims, elem) = (self.shape(), *self.random.choose(&TYPES));
        let count: usize = dims.iter().product();
        if count > 100 || dims.contains(&0) {
            return;
        }
        let mut numbers: Vec<String> = (0..count).map(|_| self.number(elem)).collect();
        // Rows of rows, as a literal has them.
        for &dim in dims.iter().rev() {
            numbers = numbers.chunks(dim).map(|row| format!("[{}]", row.join(", "))).collect();
        }
        let text = format!("arith.constant dense<{}> : {}", numbers[0], tensor(&dims, elem));
        self.value(&dims, elem, &text);
    }

    /// `arith` on whole tensors.
    fn on_tensors(&mut self) {
        let from = self.any();
        let ty = from.ty();
        let op = match from.elem {
            "i1" => *self.random.choose(&["arith.andi", "arith.xori", "arith.ori"]),
            elem if is_float(elem) => *self.random.choose(&["arith.maximumf", "arith.minnumf"]),
            _ => *self.random.choose(&["arith.addi", "arith.muli", "arith.subi", "arith.maxsi"]),
        };
        let alike = self.values.iter().rev().find(|value| {
            value.dims == from.dims && value.elem == from.elem && value.name != from.name
        });
        let other = alike.unwrap_or(&from).name.clone();
        self.value(&from.dims, from.elem, &format!("{op} {}, {other} : {ty}", from.name));
    }

    /// One nest with two outputs of different types.
    fn two_results(&mut self) {
        let from = self.any();
        let rank = from.dims.len();
        let index = (0..rank).map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ");
        let axes = index.clone();
        let map = format!("affine_map<({axes}) -> ({index})>");
        let elems = [*self.random.choose(&TYPES), *self.random.choose(&TYPES)];
        let empties = elems.map(|elem| self.empty(&from.dims, elem));
        let mut body = Body { lines: String::new(), numbers: 0 };
        let first = body.cast("%in", from.elem, elems[0]);
        let second = body.cast("%in", from.elem, elems[1]);
        let (a, b) = (empties[0].ty(), empties[1].ty());
        let kinds = vec!["\"parallel\""; rank].join(", ");
        let pair = self.name();
        self.line(&format!(
            "{pair}:2 = linalg.generic {{indexing_maps = [{map}, {map}, {map}], iterator_types = \
             [{kinds}]}} ins({} : {}) outs({}, {} : {a}, {b}) {{\n  ^bb0(%in: {}, %o0: {}, %o1: \
             {}):\n{}    linalg.yield {first}, {second} : {}, {}\n  }} -> ({a}, {b})",
            from.name,
            from.ty(),
            empties[0].name,
            empties[1].name,
            from.elem,
            elems[0],
            elems[1],
            body.lines,
            elems[0],
            elems[1],
        ));
        for (number, elem) in elems.into_iter().enumerate() {
            let (name, dims) = (format!("{pair}#{number}"), from.dims.clone());
            self.values.push(Value { name, dims, elem });
        }
    }
}

/// The lines of a scalar body.
pub struct Body {
    pub lines: String,
    pub numbers: usize,
}

impl Body {
    /// A line that gives a value; its name.
    pub fn line(&mut self, text: &str) -> String {
        self.numbers += 1;
        let name = format!("%b{}", self.numbers);
        writeln!(self.lines, "    {name} = {text}").expect("a string grows");
        name
    }

    pub fn constant(&mut self, elem: &str, number: &str) -> String {
        match elem {
            "i1" => self.line(&format!("arith.constant {number}")),
            _ => self.line(&format!("arith.constant {number} : {elem}")),
        }
    }

    /// `value` between -4 and 4; integers as they are.
    pub fn clamped(&mut self, value: &str, elem: &str) -> String {
        if !is_float(elem) {
            return value.to_owned();
        }
        let (low, high) = (self.constant(elem, "-4.0"), self.constant(elem, "4.0"));
        let above = self.line(&format!("arith.maximumf {value}, {low} : {elem}"));
        self.line(&format!("arith.minimumf {above}, {high} : {elem}"))
    }

    /// `value` as another element type.
    pub fn cast(&mut self, value: &str, from: &str, to: &str) -> String {
        let bits = |elem: &str| -> u32 {
            elem.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().expect("a width")
        };
        let direct =
            |body: &mut Self, op: &str| body.line(&format!("{op} {value} : {from} to {to}"));
        match (is_float(from), is_float(to)) {
            _ if from == to => value.to_owned(),
            (true, true) if bits(from) < bits(to) => direct(self, "arith.extf"),
            (true, true) if bits(from) > bits(to) => direct(self, "arith.truncf"),
            (true, true) => {
                let wide = self.line(&format!("arith.extf {value} : {from} to f32"));
                self.line(&format!("arith.truncf {wide} : f32 to {to}"))
            }
            (true, false) if to == "i1" => {
                let zero = self.constant(from, "0.0");
                self.line(&format!("arith.cmpf ogt, {value}, {zero} : {from}"))
            }
            (true, false) => direct(self, "arith.fptosi"),
            (false, true) if from == "i1" => direct(self, "arith.uitofp"),
            (false, true) => {
                let number = self.line(&format!("arith.sitofp {value} : {from} to {to}"));
                self.clamped(&number, to)
            }
            (false, false) if bits(from) > bits(to) => direct(self, "arith.trunci"),
            (false, false) if from == "i1" => direct(self, "arith.extui"),
            (false, false) => direct(self, "arith.extsi"),
        }
    }

    fn binary(&mut self, random: &mut Random, a: &str, b: &str, elem: &str) -> String {
        let op = match elem {
            "i1" => *random.choose(&["andi", "ori", "xori", "addi", "muli", "maxui", "minsi"]),
            _ if is_float(elem) => {
                *random.choose(&["addf", "subf", "mulf", "maximumf", "minimumf", "maxnumf"])
            }
            _ => *random.choose(&[
                "addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui",
            ]),
        };
        let result = self.line(&format!("arith.{op} {a}, {b} : {elem}"));
        self.clamped(&result, elem)
    }

    fn unary(&mut self, random: &mut Random, a: &str, elem: &str) -> String {
        match (elem, random.below(3)) {
            ("i1", _) => {
                let yes = self.constant("i1", "true");
                self.line(&format!("arith.xori {a}, {yes} : i1"))
            }
            (_, 0) if is_float(elem) => self.line(&format!("arith.negf {a} : {elem}")),
            (_, 0) => {
                let three = self.constant(elem, "3");
                let op = *random.choose(&["arith.divsi", "arith.remsi", "arith.ceildivsi"]);
                self.line(&format!("{op} {a}, {three} : {elem}"))
            }
            (_, 1) => {
                let zero = self.constant(elem, if is_float(elem) { "0.0" } else { "0" });
                let compare = match is_float(elem) {
                    true => format!(
                        "arith.cmpf {}, {a}, {zero} : {elem}",
                        random.choose(&["olt", "une"])
                    ),
                    false => format!(
                        "arith.cmpi {}, {a}, {zero} : {elem}",
                        random.choose(&["slt", "ne"])
                    ),
                };
                let is = self.line(&compare);
                let one = self.constant(elem, if is_float(elem) { "1.0" } else { "1" });
                self.line(&format!("arith.select {is}, {one}, {a} : {elem}"))
            }
            (_, _) if is_float(elem) => self.line(&format!("math.absf {a} : {elem}")),
            (_, _) => {
                let two = self.constant(elem, "2");
                let op = *random.choose(&["arith.shli", "arith.shrsi", "arith.shrui"]);
                self.line(&format!("{op} {a}, {two} : {elem}"))
            }
        }
    }
}
