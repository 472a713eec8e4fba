//! Steps of a program that are nests: generic operations and named ones.

use crate::body::{Body, is_float};
use crate::program::{TYPES, Value, Writer};

impl Writer {
    /// Operands of one shape, any types, one body.
    pub(crate) fn elementwise(&mut self) {
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
    pub(crate) fn over(&mut self, dims: &[usize], inputs: &[Value], elem: &'static str) {
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
    pub(crate) fn broadcast(&mut self) {
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
    pub(crate) fn clamp(&mut self, value: Value) {
        if !is_float(value.elem) {
            self.values.push(value);
            return;
        }
        let mut body = Body::new();
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
    pub(crate) fn reduce(&mut self) {
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
    pub(crate) fn product(&mut self) {
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
        self.varied(&right);
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
    pub(crate) fn varied(&mut self, value: &Value) {
        let rank = value.dims.len();
        let elem = value.elem;
        let mut body = Body::new();
        let at = body.line(&format!("linalg.index {} : index", rank - 1));
        let three = body.constant("index", "3");
        let rest = body.line(&format!("arith.remui {at}, {three} : index"));
        let whole = body.line(&format!("arith.index_cast {rest} : index to i32"));
        let number = body.cast(&whole, "i32", elem);
        let add = if is_float(elem) { "arith.addf" } else { "arith.addi" };
        let sum = body.line(&format!("{add} %in0, {number} : {elem}"));
        let sum = body.clamped(&sum, elem);
        let index = (0..rank).map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ");
        let empty = self.empty(&value.dims, elem);
        let inputs = [(value.clone(), index.clone())];
        let text = self.generic(&"p".repeat(rank), &inputs, (&empty, index), (body.lines, sum));
        self.value(&value.dims, elem, &text);
    }

    /// Pooling, or a convolution of one dimension.
    pub(crate) fn window(&mut self) {
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
    pub(crate) fn named(&mut self) {
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

    pub(crate) fn transpose(&mut self) {
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

    /// A body that branches on the place or on an element, and reads where only one branch may; or
    /// divides where the divisor is not zero.
    pub(crate) fn branch(&mut self) {
        let Some(from) = self.with_rank(1) else { return };
        if from.dims.len() > 3 {
            return;
        }
        let rank = from.dims.len();
        let (elem, first) = (from.elem, from.dims[0]);
        let all = (0..rank).map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ");
        let mut dims = from.dims.clone();
        let mut body = Body::new();
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

    /// One nest with two outputs of different types.
    pub(crate) fn two_results(&mut self) {
        let from = self.any();
        let rank = from.dims.len();
        let index = (0..rank).map(|axis| format!("d{axis}")).collect::<Vec<_>>().join(", ");
        let axes = index.clone();
        let map = format!("affine_map<({axes}) -> ({index})>");
        let elems = [*self.random.choose(&TYPES), *self.random.choose(&TYPES)];
        let empties = elems.map(|elem| self.empty(&from.dims, elem));
        let mut body = Body::new();
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
