//! Tensors in a payload: loop nests over them, windows of them, other shapes of them.

use weft_dialects::graph;
use weft_dialects::ir::payload::{Axis, Payload, Scalar as Cell};
use weft_dialects::ir::{Builder, Linear, Type, Val, attr};
use weft_runtime::length::Length;

use super::calc::{Calc, Kind, Num};
use super::narrow::stored_integer;
use super::{Tensor, broadcast, computed, extents, identity, payload_element};
use crate::elements::Scalar;
use crate::types::{ElementType, TensorType};

/// Builds a payload.
pub struct Build<'a, 'c> {
    payload: &'a mut Payload<'c>,
}

/// A tensor and how a nest reaches its elements.
pub type Access<'t, 'c> = (&'t Tensor<'c>, Vec<Linear>);

impl<'a, 'c> Build<'a, 'c> {
    /// Builds where `payload` does.
    pub fn new(payload: &'a mut Payload<'c>) -> Self {
        Self { payload }
    }

    fn element(&self, element: ElementType) -> Type<'c> {
        payload_element(self.payload.context(), element)
    }

    fn tensor(&self, value: Val<'c>, element: ElementType, dims: &[i64]) -> Tensor<'c> {
        Tensor { value, ty: TensorType::temporary(element, dims) }
    }

    /// A tensor without content.
    pub fn empty(&mut self, element: ElementType, dims: &[i64]) -> Tensor<'c> {
        let scalar = self.element(element);
        let value = self.payload.empty(&extents(dims), scalar);
        self.tensor(value, element, dims)
    }

    /// A tensor full of one number.
    pub fn fill(&mut self, element: ElementType, dims: &[i64], value: Scalar) -> Tensor<'c> {
        let (scalar, shape) = (self.element(element), extents(dims));
        let value = if element.is_float() {
            self.payload.fill(value.as_f64(), &shape, scalar)
        } else {
            let unused = 64 - element.bits().max(8);
            let stored = stored_integer(element, value);
            self.payload.fill_int(stored << unused >> unused, &shape, scalar)
        };
        self.tensor(value, element, dims)
    }

    /// A tensor of integers that callers decide: a length for each element, in row-major order.
    pub fn lengths(
        &mut self,
        element: ElementType,
        dims: &[i64],
        lengths: &[Length],
    ) -> Tensor<'c> {
        let (empty, elem, rank) = (self.empty(element, dims), self.element(element), dims.len());
        let place = (empty.value, identity(rank));
        let value =
            self.payload.generic(&vec![Axis::Parallel; rank], &[], &[place], |scalar, _| {
                let b = scalar.builder();
                let chosen = length_at(b, dims, lengths);
                vec![b.op("arith.index_cast", &[chosen], &[elem]).result(0)]
            })[0];
        self.tensor(value, element, dims)
    }

    /// A loop nest that calculates: halves come as `f32`, booleans as conditions, and what the body
    /// gives is stored as the outputs have it.
    ///
    /// `extents` has one number per axis. An axis that no tensor has for itself, such as that of a
    /// pooling window, is named by a tensor without content.
    pub fn nest(
        &mut self,
        axes: &[Axis],
        extents: &[i64],
        inputs: &[Access<'_, 'c>],
        outputs: &[Access<'_, 'c>],
        body: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>]) -> Vec<Num<'c>>,
    ) -> Vec<Tensor<'c>> {
        self.any_nest(axes, extents, inputs, outputs, |calc, stored| {
            calculates(calc, stored, outputs, body)
        })
    }

    /// A loop nest that only moves elements, which come as they lie in memory.
    pub fn moves(
        &mut self,
        axes: &[Axis],
        extents: &[i64],
        inputs: &[Access<'_, 'c>],
        output: Access<'_, 'c>,
        body: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>]) -> Num<'c>,
    ) -> Tensor<'c> {
        let results = self
            .any_nest(axes, extents, inputs, &[output], |calc, stored| vec![body(calc, stored)]);
        results.into_iter().next().expect("one output gives one result")
    }

    fn any_nest(
        &mut self,
        axes: &[Axis],
        extents: &[i64],
        inputs: &[Access<'_, 'c>],
        outputs: &[Access<'_, 'c>],
        body: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>]) -> Vec<Num<'c>>,
    ) -> Vec<Tensor<'c>> {
        assert_eq!(axes.len(), extents.len(), "one extent per axis");
        let named = |axis: usize| {
            let mut all = inputs.iter().chain(outputs).flat_map(|(_, access)| access);
            all.any(|index| index.as_axis() == Some(axis))
        };
        let unnamed: Vec<_> = (0..axes.len()).filter(|&axis| !named(axis)).collect();
        let mut operands: Vec<_> = inputs
            .iter()
            .map(|(tensor, access)| (self.reached(tensor, access, extents).value, access.clone()))
            .collect();
        if !unnamed.is_empty() {
            let shape: Vec<_> = unnamed.iter().map(|&axis| extents[axis]).collect();
            let window = self.empty(ElementType::I8, &shape);
            let access = unnamed.iter().map(|&axis| Linear::axis(axes.len(), axis)).collect();
            operands.push((window.value, access));
        }
        let targets: Vec<_> =
            outputs.iter().map(|(tensor, access)| (tensor.value, access.clone())).collect();
        let results = self.payload.generic(axes, &operands, &targets, |b, values| {
            let mut calc = Calc { b };
            let (given, so_far) = (&values[..inputs.len()], &values[operands.len()..]);
            let elements = inputs.iter().chain(outputs).map(|(tensor, _)| tensor.element());
            let stored: Vec<_> = given
                .iter()
                .chain(so_far)
                .zip(elements)
                .map(|(&value, element)| Num::new(value, Kind::Stored(element)))
                .collect();
            body(&mut calc, &stored).into_iter().map(|num| num.value).collect()
        });
        let types = outputs.iter().map(|(tensor, _)| tensor.ty.clone());
        results.into_iter().zip(types).map(|(value, ty)| Tensor { value, ty }).collect()
    }

    /// `tensor` up to the last element that an axis on its own reaches: `linalg` takes the extents of
    /// axes from such dimensions.
    fn reached(&mut self, tensor: &Tensor<'c>, access: &[Linear], extents: &[i64]) -> Tensor<'c> {
        let reached = access.iter().zip(tensor.dims());
        let sizes: Vec<i64> = reached
            .map(|(index, &dim)| index.as_axis().map_or(dim, |axis| extents[axis].min(dim)))
            .collect();
        self.slice(tensor, &vec![0; sizes.len()], &sizes, &vec![1; sizes.len()])
    }

    /// A new tensor, each element calculated from the elements of `inputs` that broadcast to it.
    pub fn map(
        &mut self,
        element: ElementType,
        dims: &[i64],
        inputs: &[&Tensor<'c>],
        body: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>]) -> Num<'c>,
    ) -> Tensor<'c> {
        let axes = dims.len();
        let accesses: Vec<_> =
            inputs.iter().map(|&tensor| (tensor, broadcast(tensor.dims(), dims, axes))).collect();
        self.map_at(element, dims, &accesses, body)
    }

    /// A new tensor, each element calculated from elements of `inputs` at linear indices.
    pub fn map_at(
        &mut self,
        element: ElementType,
        dims: &[i64],
        inputs: &[Access<'_, 'c>],
        body: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>]) -> Num<'c>,
    ) -> Tensor<'c> {
        let axes = dims.len();
        let target = self.empty(element, dims);
        if dims.contains(&0) {
            return target;
        }
        let (kinds, outputs) = (vec![Axis::Parallel; axes], [(&target, identity(axes))]);
        let results = self.any_nest(&kinds, dims, inputs, &outputs, |calc, stored| {
            let read = &stored[..inputs.len()];
            calculates(calc, read, &outputs, |calc, x| vec![body(calc, x)])
        });
        results.into_iter().next().expect("one output gives one result")
    }

    /// A new tensor whose elements are moved from elsewhere, unchanged.
    pub fn move_at(
        &mut self,
        element: ElementType,
        dims: &[i64],
        inputs: &[Access<'_, 'c>],
        body: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>]) -> Num<'c>,
    ) -> Tensor<'c> {
        let axes = dims.len();
        let target = self.empty(element, dims);
        if dims.contains(&0) {
            return target;
        }
        let output = (&target, identity(axes));
        self.moves(&vec![Axis::Parallel; axes], dims, inputs, output, |calc, nums| {
            body(calc, &nums[..inputs.len()])
        })
    }

    /// `tensor` calculated as another element type; itself where it has that type.
    pub fn cast(&mut self, tensor: &Tensor<'c>, element: ElementType) -> Tensor<'c> {
        if tensor.element() == element {
            return tensor.clone();
        }
        self.map(element, tensor.dims(), &[tensor], |calc, x| {
            let to = computed(element);
            calc.cast(x[0], to)
        })
    }

    /// Every element of a window of `tensor`.
    pub fn slice(
        &mut self,
        tensor: &Tensor<'c>,
        offsets: &[i64],
        sizes: &[i64],
        strides: &[i64],
    ) -> Tensor<'c> {
        if sizes == tensor.dims() {
            return tensor.clone();
        }
        // A window without elements has no place to begin.
        if sizes.contains(&0) {
            return self.empty(tensor.element(), sizes);
        }
        let value = self.payload.slice(tensor.value, offsets, sizes, strides);
        self.tensor(value, tensor.element(), sizes)
    }

    /// `target` with the window at `offsets` replaced by `source`.
    pub fn insert(
        &mut self,
        source: &Tensor<'c>,
        target: &Tensor<'c>,
        offsets: &[i64],
        strides: &[i64],
    ) -> Tensor<'c> {
        if source.dims().contains(&0) {
            return target.clone();
        }
        let value = self.payload.insert(source.value, target.value, offsets, strides);
        Tensor { value, ty: target.ty.clone() }
    }

    /// `target`, of which `place` rows along `dim` are there, with those of `source` behind them.
    pub fn insert_behind(
        &mut self,
        source: &Tensor<'c>,
        target: &Tensor<'c>,
        dim: usize,
        place: &Length,
    ) -> Tensor<'c> {
        if source.dims().contains(&0) {
            return target.clone();
        }
        let rank = source.dims().len();
        let (mut offsets, strides) = (vec![0; rank], vec![1; rank]);
        offsets[dim] = i64::MIN;
        let place = graph::build::length(self.payload.builder(), place);
        let value =
            self.payload.insert_at(source.value, target.value, (&offsets, &[place]), &strides);
        Tensor { value, ty: target.ty.clone() }
    }

    /// The row at `place` along `dim`, which keeps that dimension.
    pub fn row_at(&mut self, source: &Tensor<'c>, dim: usize, place: &Length) -> Tensor<'c> {
        let mut sizes = source.dims().to_vec();
        sizes[dim] = 1;
        if sizes.contains(&0) {
            return self.empty(source.element(), &sizes);
        }
        let mut offsets = vec![0; sizes.len()];
        offsets[dim] = i64::MIN;
        let place = graph::build::length(self.payload.builder(), place);
        let value = self.payload.slice_at(
            source.value,
            (&offsets, &[place]),
            &sizes,
            &vec![1; sizes.len()],
        );
        self.tensor(value, source.element(), &sizes)
    }

    /// The same elements in row-major order under another shape.
    pub fn reshape(&mut self, tensor: &Tensor<'c>, dims: &[i64]) -> Tensor<'c> {
        let value = self.payload.reshape(tensor.value, &extents(dims));
        self.tensor(value, tensor.element(), dims)
    }

    /// `tensor` within a border of `value`; itself where the border is empty.
    pub fn pad(
        &mut self,
        tensor: &Tensor<'c>,
        before: &[i64],
        after: &[i64],
        value: Scalar,
    ) -> Tensor<'c> {
        if before.iter().chain(after).all(|&n| n == 0) {
            return tensor.clone();
        }
        let dims: Vec<_> = tensor
            .dims()
            .iter()
            .zip(before.iter().zip(after))
            .map(|(dim, (before, after))| before + dim + after)
            .collect();
        let target = self.fill(tensor.element(), &dims, value);
        self.insert(tensor, &target, before, &vec![1; dims.len()])
    }
}

/// Loads what a body reads, and stores what it gives as the outputs have it.
fn calculates<'c>(
    calc: &mut Calc<'_, 'c>,
    read: &[Num<'c>],
    outputs: &[Access<'_, 'c>],
    body: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>]) -> Vec<Num<'c>>,
) -> Vec<Num<'c>> {
    let loaded: Vec<_> = read.iter().map(|&num| calc.load(num)).collect();
    let results = body(calc, &loaded);
    let elements = outputs.iter().map(|(tensor, _)| tensor.element());
    results.into_iter().zip(elements).map(|(num, to)| calc.store(num, to)).collect()
}

/// The one of `lengths` that is at the point of a nest over `dims`.
fn length_at<'c>(b: &mut Builder<'c>, dims: &[i64], lengths: &[Length]) -> Val<'c> {
    let (context, index) = (b.context(), Type::index(b.context()));
    let mut found: Vec<Val<'c>> =
        lengths.iter().map(|length| graph::build::length(b, length)).collect();
    let Some(mut chosen) = found.pop() else { return b.index(0) };
    if found.is_empty() {
        return chosen;
    }
    let mut place = b.index(0);
    for (dim, &extent) in dims.iter().enumerate() {
        let number = ("dim", attr::of_int(context, dim as i64));
        let own = b.op_with("linalg.index", &[], &[index], &[number], 0).result(0);
        let extent = b.index(extent);
        place = b.op("arith.muli", &[place, extent], &[index]).result(0);
        place = b.op("arith.addi", &[place, own], &[index]).result(0);
    }
    for (number, length) in found.into_iter().enumerate() {
        let own = b.index(number as i64);
        let here = Cell::at(*b).cmpi("eq", place, own);
        chosen = b.op("arith.select", &[here, length, chosen], &[index]).result(0);
    }
    chosen
}
