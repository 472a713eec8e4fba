//! Steps of a program that move tensors, or make them of numbers.

use crate::body::{Body, is_float};
use crate::program::{TYPES, Value, Writer, tensor};

impl Writer {
    /// Offsets, sizes and strides inside of `dims`.
    pub(crate) fn slice_of(&mut self, dims: &[usize]) -> [Vec<usize>; 3] {
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

    pub(crate) fn slice(&mut self) {
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

    pub(crate) fn insert_slice(&mut self) {
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
    pub(crate) fn pad(&mut self) {
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
        let mut body = Body::new();
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

    pub(crate) fn concat(&mut self) {
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
    pub(crate) fn reshape(&mut self) {
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

    pub(crate) fn generate(&mut self) {
        let (dims, elem) = (self.shape(), *self.random.choose(&TYPES));
        if dims.is_empty() || dims.contains(&0) {
            return;
        }
        let args: Vec<String> = (0..dims.len()).map(|axis| format!("%i{axis}: index")).collect();
        let mut body = Body::new();
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
    pub(crate) fn element(&mut self) {
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

    pub(crate) fn elements(&mut self) {
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

    pub(crate) fn constant(&mut self) {
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
    pub(crate) fn on_tensors(&mut self) {
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
}
