//! A kernel as a `graph.model` of one operator.
//!
//! ```text
//! C[m,n] += A[m,k] * B[k,n]  ->  %s = fill 0; generic (%a, %b, %s) { %s + %a * %b }
//! ```

use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::payload::{Axis as Loop, Payload, Scalar};
use weft_dialects::ir::{Context, Linear, Module, Type, Val, empty_module, module_op, ty};

use super::element::Element;
use super::kernel::{Kernel, Value};
use super::syntax::{Assign, Function, Operation};

impl Kernel {
    /// The kernel as a model of one operator, with a tensor per input by its name.
    pub fn module<'c>(&self, context: &'c Context) -> Module<'c> {
        let module = empty_module(context);
        let element = self.element.ty(context);
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|input| (input.name.clone(), ty::tensor(&input.shape, element)))
            .collect();
        let name = self.output.name.clone();
        let model = module_op(&module);
        let mut b =
            GraphBuilder::new(context, model, "kernel", &inputs, std::slice::from_ref(&name));
        let operands = b.inputs();
        let result = ty::tensor(&self.output.shape, element);
        let results = b.op("Expression", &name, &operands, &[result], |payload, inputs| {
            vec![Build { kernel: self, payload }.payload(inputs)]
        });
        b.finish(&results);
        module
    }

    fn extents(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.extent).collect()
    }
}

struct Build<'a, 'c> {
    kernel: &'a Kernel,
    payload: &'a mut Payload<'c>,
}

impl<'c> Build<'_, 'c> {
    fn payload(&mut self, inputs: &[Val<'c>]) -> Val<'c> {
        let kernel = self.kernel;
        let folds = kernel.axes.len() > kernel.free();
        let stored = kernel.element.ty(self.payload.context());
        if !folds {
            let target = self.payload.empty(&kernel.output.shape, stored);
            return self.nest(inputs, target, kernel.element, false);
        }
        let start = self.start();
        let folded = self.nest(inputs, start, kernel.element.computed(), true);
        if kernel.element == kernel.element.computed() {
            return folded;
        }
        self.narrow(folded, stored)
    }

    /// The output before anything is folded into it.
    fn start(&mut self) -> Val<'c> {
        let kernel = self.kernel;
        let (shape, element) = (&kernel.output.shape, kernel.element.computed());
        let ty = element.ty(self.payload.context());
        match (kernel.assign, element.range()) {
            (Assign::Max, Some((least, _))) => self.payload.fill_int(least, shape, ty),
            (Assign::Min, Some((_, greatest))) => self.payload.fill_int(greatest, shape, ty),
            (Assign::Max, None) => self.payload.fill(f64::NEG_INFINITY, shape, ty),
            (Assign::Min, None) => self.payload.fill(f64::INFINITY, shape, ty),
            (Assign::Product, _) => self.payload.fill(1.0, shape, ty),
            (Assign::Set | Assign::Sum, _) => self.payload.fill(0.0, shape, ty),
        }
    }

    /// One nest over all axes, whose output has elements of type `to`.
    fn nest(&mut self, inputs: &[Val<'c>], target: Val<'c>, to: Element, folds: bool) -> Val<'c> {
        let kernel = self.kernel;
        let (axes, free) = (kernel.axes.len(), kernel.free());
        let kinds: Vec<_> = (0..axes)
            .map(|axis| if axis < free { Loop::Parallel } else { Loop::Reduction })
            .collect();
        let mut operands: Vec<_> = kernel
            .reads
            .iter()
            .map(|(input, index)| (self.reached(*input, inputs[*input], index), index.clone()))
            .collect();
        let place: Vec<_> = (0..free).map(|axis| Linear::axis(axes, axis)).collect();
        operands.extend(self.unnamed(&place));
        let outputs = [(target, place)];
        let results = self.payload.generic(&kinds, &operands, &outputs, |scalar, values| {
            let mut body = Body { scalar, element: kernel.element, reads: Vec::new() };
            body.reads =
                values[..kernel.reads.len()].iter().map(|&value| body.widen(value)).collect();
            let value = body.value(&kernel.value);
            let value = match values.last() {
                Some(&so_far) if folds => body.fold(kernel.assign, so_far, value),
                _ => value,
            };
            let ty = to.ty(body.scalar.context());
            vec![if value.ty() == ty {
                value
            } else {
                body.scalar.op("arith.truncf", &[value], ty)
            }]
        });
        results[0]
    }

    /// The tensor as far as this read goes: where one axis alone is the index, `linalg` takes
    /// the extent of the dimension for that of the axis.
    fn reached(&mut self, input: usize, tensor: Val<'c>, index: &[Linear]) -> Val<'c> {
        let kernel = self.kernel;
        let shape = &kernel.inputs[input].shape;
        let sizes: Vec<_> = index
            .iter()
            .zip(shape)
            .map(|(index, &dim)| {
                index.as_axis().map_or(dim, |axis| kernel.axes[axis].extent) as i64
            })
            .collect();
        if sizes.iter().zip(shape).all(|(&size, &dim)| size as u64 == dim) {
            return tensor;
        }
        self.payload.slice(tensor, &vec![0; sizes.len()], &sizes, &vec![1; sizes.len()])
    }

    /// A tensor that nobody reads, with the axes that stand alone in no index: they have
    /// their extents from it.
    fn unnamed(&mut self, place: &[Linear]) -> Option<(Val<'c>, Vec<Linear>)> {
        let kernel = self.kernel;
        let axes = kernel.axes.len();
        let reads = kernel.reads.iter().flat_map(|(_, index)| index);
        let named: Vec<_> = reads.chain(place).filter_map(Linear::as_axis).collect();
        let unnamed: Vec<_> = (0..axes).filter(|axis| !named.contains(axis)).collect();
        if unnamed.is_empty() {
            return None;
        }
        let extents = kernel.extents();
        let shape: Vec<_> = unnamed.iter().map(|&axis| extents[axis]).collect();
        let byte = ty::int(self.payload.context(), 8);
        let index = unnamed.iter().map(|&axis| Linear::axis(axes, axis)).collect();
        Some((self.payload.empty(&shape, byte), index))
    }

    /// The output in its own, narrower type.
    fn narrow(&mut self, wide: Val<'c>, stored: Type<'c>) -> Val<'c> {
        let free = self.kernel.free();
        let place: Vec<_> = (0..free).map(|axis| Linear::axis(free, axis)).collect();
        let target = self.payload.empty(&self.kernel.output.shape, stored);
        let (inputs, outputs) = ([(wide, place.clone())], [(target, place)]);
        let kinds = vec![Loop::Parallel; free];
        let results = self.payload.generic(&kinds, &inputs, &outputs, |scalar, values| {
            vec![scalar.op("arith.truncf", &[values[0]], stored)]
        });
        results[0]
    }
}

/// The scalar body.
struct Body<'a, 'c> {
    scalar: &'a mut Scalar<'c>,
    element: Element,
    reads: Vec<Val<'c>>,
}

impl<'c> Body<'_, 'c> {
    fn ty(&self) -> Type<'c> {
        self.element.computed().ty(self.scalar.context())
    }

    fn widen(&mut self, value: Val<'c>) -> Val<'c> {
        let ty = self.ty();
        if value.ty() == ty { value } else { self.scalar.op("arith.extf", &[value], ty) }
    }

    fn fold(&mut self, assign: Assign, so_far: Val<'c>, value: Val<'c>) -> Val<'c> {
        match assign {
            Assign::Set => value,
            Assign::Sum => self.scalar.add(so_far, value),
            Assign::Product => self.scalar.mul(so_far, value),
            Assign::Max => self.either("arith.maximumf", "arith.maxsi", so_far, value),
            Assign::Min => self.either("arith.minimumf", "arith.minsi", so_far, value),
        }
    }

    fn value(&mut self, value: &Value) -> Val<'c> {
        match value {
            Value::Number(number) => self.number(*number),
            Value::Read(read) => self.reads[*read],
            Value::Negate(inner) => {
                let inner = self.value(inner);
                self.negate(inner)
            }
            Value::Binary(operation, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                match operation {
                    Operation::Add => self.scalar.add(left, right),
                    Operation::Subtract => self.scalar.sub(left, right),
                    Operation::Multiply => self.scalar.mul(left, right),
                    Operation::Divide => self.either("arith.divf", "arith.divsi", left, right),
                }
            }
            Value::Call(function, arguments) => {
                let values: Vec<_> = arguments.iter().map(|value| self.value(value)).collect();
                self.call(*function, &values)
            }
        }
    }

    fn call(&mut self, function: Function, values: &[Val<'c>]) -> Val<'c> {
        let x = values[0];
        match function {
            Function::Math(name) => self.scalar.same(&format!("math.{name}"), &[x]),
            Function::Abs if self.element.is_float() => self.scalar.same("math.absf", &[x]),
            Function::Abs => {
                let (zero, minus) = (self.number(0.0), self.negate(x));
                let below = self.scalar.cmpi("slt", x, zero);
                self.scalar.select(below, minus, x)
            }
            Function::Relu => {
                let zero = self.number(0.0);
                self.either("arith.maximumf", "arith.maxsi", x, zero)
            }
            Function::Max => self.either("arith.maximumf", "arith.maxsi", x, values[1]),
            Function::Min => self.either("arith.minimumf", "arith.minsi", x, values[1]),
        }
    }

    fn number(&mut self, number: f64) -> Val<'c> {
        let ty = self.ty();
        self.scalar.number(ty, number)
    }

    fn negate(&mut self, x: Val<'c>) -> Val<'c> {
        if self.element.is_float() {
            return self.scalar.same("arith.negf", &[x]);
        }
        let zero = self.number(0.0);
        self.scalar.sub(zero, x)
    }

    fn either(&mut self, float: &str, int: &str, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        let name = if self.element.is_float() { float } else { int };
        self.scalar.same(name, &[x, y])
    }
}
