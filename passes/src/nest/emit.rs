//! From [`Nest`] back to a `tile.kernel`, and from index expressions to operations.

use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{
    Block, Builder, Context, Linear, Location, Mapping, Op, Type, Val, affine, attr, ty,
};
use weft_dialects::tile::{Kernel, build};

use crate::length::{self, Length};

use super::border::{Border, emit_pad};
use super::read::captured;
use super::{Access, Epilogue, Nest, Start};

/// Writes `nest` as the kernel `name` at the end of `module`.
///
/// The kernel's arguments are, in this order and once per access: inputs, what
/// outputs start from, what the epilogue reads, captured tensors, outputs. `index` says what the axes that
/// `linalg.index` asks for are now (see [`Nest::simplify`]).
pub fn emit_kernel<'c>(
    context: &'c Context,
    module: Op<'c>,
    name: &str,
    nest: &Nest<'c>,
    index: &[Linear],
) -> Op<'c> {
    let mut b = Builder::at_end(context, module.body(0).expect("a module has a block"));
    let typed = |access: &Access<'c>| ty::tensor(&access.shape_in_memory(), access.elem());
    let mut types: Vec<Type<'c>> = nest.reads().into_iter().map(typed).collect();
    types.extend(nest.captures.iter().map(|capture| capture.value.ty()));
    types.extend(nest.outputs.iter().map(typed));
    let Kernel { op: kernel, body: block, .. } = build::kernel(&mut b, name, &types);
    let mut args = block.args().into_iter();
    let mut take = |count: usize| -> Vec<Val<'c>> { args.by_ref().take(count).collect() };

    let mut p = Payload::new(context, block, Location::unknown(context));
    let axes = nest.axes.iter().map(|axis| axis.kind).collect();
    let lengths = nest.axes.iter().map(|axis| axis.length).collect();
    let points = Points { axes, extents: nest.extents(), lengths, apart: apart(nest) };
    let inputs = take(nest.inputs.len());
    let start_inputs: Vec<Vec<Val<'c>>> = nest
        .starts
        .iter()
        .map(|start| match start {
            Start::From { inputs, .. } => take(inputs.len()),
            _ => Vec::new(),
        })
        .collect();
    let epilogue_inputs = take(nest.epilogue.iter().map(|last| last.inputs.len()).sum());
    let captures = take(nest.captures.len());
    let outputs = take(nest.outputs.len());

    let mut windows = Vec::new();
    let mut places = Vec::new();
    // What is stored, where sums have another type and so a tensor of their own.
    let mut stored = None;
    for ((access, arg), (start, from)) in
        nest.outputs.iter().zip(&outputs).zip(nest.starts.iter().zip(&start_inputs))
    {
        let Narrowed { tensor: mut place, index, window } = narrow(&mut p, access, *arg, &points);
        windows.push(window);
        if nest.casts_sums() {
            let shape = ty::shape(place.ty()).expect("the nest was read");
            stored = Some(std::mem::replace(&mut place, p.empty(&shape, nest.sum_type(0))));
        }
        if let Start::From { inputs, body } = start {
            let start = Pointwise { inputs, args: from, body: *body };
            place = start.emit(&mut p, (place, &index), &points);
        }
        places.push((place, index));
    }
    let reads: Vec<_> = nest
        .inputs
        .iter()
        .zip(&inputs)
        .map(|(access, arg)| match Border::of(access) {
            Some(border) => (emit_pad(p.builder(), access, &border, *arg), access.index.clone()),
            None => {
                let narrowed = narrow(&mut p, access, *arg, &points);
                (narrowed.tensor, narrowed.index)
            }
        })
        .collect();
    let mut results = p.generic(&points.axes, &reads, &places, |scalar, args| {
        let mut map = Mapping::default();
        for (capture, new) in nest.captures.iter().zip(&captures) {
            map.set(capture.value, *new);
        }
        copy_body(scalar.builder(), nest.body, args, map, index)
    });
    write_lengths(context, results[0], &points.lengths);
    if let Some(Epilogue { inputs, body }) = &nest.epilogue {
        let last = Pointwise { inputs, args: &epilogue_inputs, body: *body };
        let index = &places[0].1;
        results[0] = match stored {
            Some(stored) => last.cast(&mut p, results[0], (stored, index), &points),
            None => last.emit(&mut p, (results[0], index), &points),
        };
    }
    for (result, (window, arg)) in results.iter_mut().zip(windows.iter().zip(&outputs)) {
        if let Some([offsets, steps]) = window {
            *result = p.insert(*result, *arg, offsets, steps);
        }
    }
    build::yield_values(p.builder(), &results);
    kernel
}

/// Which points a kernel has.
struct Points {
    axes: Vec<Axis>,
    extents: Vec<u64>,
    lengths: Vec<Option<&'static Length>>,
    /// Axes that no access of one of its bodies has alone.
    apart: Vec<bool>,
}

/// Axes that in one of the bodies no access has alone in a dimension, from its beginning: `linalg`
/// takes their extents from a window that begins there.
fn apart(nest: &Nest<'_>) -> Vec<bool> {
    let begins = |axis: usize, index: &Linear| index.as_axis() == Some(axis);
    (0..nest.axes.len()).map(|axis| !in_every_body(nest, axis, &begins)).collect()
}

/// Whether a kernel can say how long each axis is: in each of the bodies some dimension is that axis
/// alone, or single points of it.
pub fn can_be_emitted(nest: &Nest<'_>) -> bool {
    let alone = |axis: usize, index: &Linear| {
        let others = index.coefficients.iter().enumerate().filter(|(own, _)| *own != axis);
        index.coefficients[axis] > 0 && others.into_iter().all(|(_, factor)| *factor == 0)
    };
    (0..nest.axes.len()).all(|axis| in_every_body(nest, axis, &alone))
}

/// Whether each body that goes along an axis has an access with a dimension that `holds` for it.
fn in_every_body(nest: &Nest<'_>, axis: usize, holds: &dyn Fn(usize, &Linear) -> bool) -> bool {
    let within = |inputs: &[Access<'_>]| {
        let mut indices = inputs.iter().chain(&nest.outputs).flat_map(|one| &one.index);
        indices.any(|index| holds(axis, index))
    };
    let starts = nest.starts.iter().filter_map(|start| match start {
        Start::From { inputs, .. } => Some(inputs),
        _ => None,
    });
    let mut pointwise = starts.chain(nest.epilogue.iter().map(|last| &last.inputs));
    within(&nest.inputs) && (nest.reduces(axis) || pointwise.all(|inputs| within(inputs)))
}

/// The part of a tensor that a kernel touches.
struct Narrowed<'c> {
    tensor: Val<'c>,
    index: Vec<Linear>,
    /// Its offsets and steps, if it is not the whole tensor.
    window: Option<[Vec<i64>; 2]>,
}

/// Cuts off what lies past the last point of a plain axis, and what lies between its points: `linalg`
/// wants its extent to be that of the dimension.
fn narrow<'c>(
    p: &mut Payload<'c>,
    access: &Access<'c>,
    arg: Val<'c>,
    points: &Points,
) -> Narrowed<'c> {
    let (mut index, mut offsets, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    let mut steps = Vec::new();
    for (own, &dim) in access.index.iter().zip(&access.shape) {
        let axes = own.coefficients.len();
        let mut used = (0..axes).filter(|&axis| own.coefficients[axis] != 0);
        let axis = used.next().filter(|_| used.next().is_none());
        let axis = axis.map(|axis| (axis, own.coefficients[axis]));
        let axis = axis.filter(|&(axis, step)| {
            step == 1 && own.constant == 0 || step > 0 && points.apart[axis]
        });
        sizes.push(axis.map_or(dim, |(axis, _)| points.extents[axis]) as i64);
        offsets.push(if axis.is_some() { own.constant } else { 0 });
        steps.push(axis.map_or(1, |(_, step)| step));
        index.push(axis.map_or(own.clone(), |(axis, _)| Linear::axis(axes, axis)));
    }
    if sizes.iter().zip(&access.shape).all(|(&size, &dim)| size == dim as i64) {
        return Narrowed { tensor: arg, index: access.index.clone(), window: None };
    }
    let tensor = p.slice(arg, &offsets, &sizes, &steps);
    Narrowed { tensor, index, window: Some([offsets, steps]) }
}

/// A start or an epilogue: a body over the axes that do not reduce.
struct Pointwise<'a, 'c> {
    /// What it reads, by the kernel's arguments `args`.
    inputs: &'a [Access<'c>],
    args: &'a [Val<'c>],
    body: Block<'c>,
}

impl<'c> Pointwise<'_, 'c> {
    /// Writes it to the elements of `place` at `index`.
    fn emit(&self, p: &mut Payload<'c>, place: (Val<'c>, &[Linear]), points: &Points) -> Val<'c> {
        self.write(p, None, place, points)
    }

    /// The same on `sums`, which lie as `place` does and stay as they are.
    fn cast(
        &self,
        p: &mut Payload<'c>,
        sums: Val<'c>,
        place: (Val<'c>, &[Linear]),
        points: &Points,
    ) -> Val<'c> {
        self.write(p, Some(sums), place, points)
    }

    fn write(
        &self,
        p: &mut Payload<'c>,
        sums: Option<Val<'c>>,
        (place, index): (Val<'c>, &[Linear]),
        points: &Points,
    ) -> Val<'c> {
        // Only the parallel axes, renumbered in their order.
        let axes = points.axes.iter().enumerate();
        let parallel: Vec<usize> =
            axes.filter(|(_, kind)| **kind == Axis::Parallel).map(|(axis, _)| axis).collect();
        let keep = |index: &Linear| Linear {
            coefficients: parallel.iter().map(|&axis| index.coefficients[axis]).collect(),
            constant: index.constant,
        };
        let index: Vec<Linear> = index.iter().map(keep).collect();
        let mut reads: Vec<_> = self
            .inputs
            .iter()
            .zip(self.args)
            .map(|(access, arg)| {
                let narrowed = narrow(p, access, *arg, points);
                (narrowed.tensor, narrowed.index.iter().map(keep).collect())
            })
            .collect();
        reads.extend(sums.map(|sums| (sums, index.clone())));
        let place = (place, index);
        let axes = vec![Axis::Parallel; parallel.len()];
        let result = p.generic(&axes, &reads, &[place], |scalar, args| {
            copy_body(scalar.builder(), self.body, args, Mapping::default(), &[])
        })[0];
        let lengths: Vec<_> = parallel.iter().map(|&axis| points.lengths[axis]).collect();
        write_lengths(p.context(), result, &lengths);
        result
    }
}

/// Writes the lengths of the axes of the nest that gives `result`.
fn write_lengths<'c>(context: &'c Context, result: Val<'c>, lengths: &[Option<&'static Length>]) {
    length::set_of_axes(context, result.def().expect("a nest gives its results"), lengths);
}

/// A scalar body with an argument for each of the types `inputs` and one for the output, in a
/// nest of the module `scratch`.
pub(crate) fn scalar_body<'c>(
    context: &'c Context,
    scratch: Op<'c>,
    inputs: &[Type<'c>],
    output: Type<'c>,
    body: impl FnOnce(&mut Scalar<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
) -> Block<'c> {
    let block = scratch.body(0).expect("a module has a block");
    let mut payload = Payload::new(context, block, Location::unknown(context));
    let mut place = |ty| (payload.empty(&[1], ty), vec![Linear::axis(1, 0)]);
    let reads: Vec<_> = inputs.iter().map(|&ty| place(ty)).collect();
    let output = place(output);
    let results = payload.generic(&[Axis::Parallel], &reads, &[output], body);
    let generic = results[0].def().expect("a nest gives its results");
    generic.body(0).expect("linalg.generic has a body")
}

/// Copies a scalar body: arguments become `args`, constants from outside come
/// along, `linalg.index` is rewritten by `index`. Returns what the body yields.
pub(crate) fn copy_body<'c>(
    b: &mut Builder<'c>,
    body: Block<'c>,
    args: &[Val<'c>],
    mut map: Mapping<'c>,
    index: &[Linear],
) -> Vec<Val<'c>> {
    for (old, new) in body.args().into_iter().zip(args) {
        map.set(old, *new);
    }
    copy_constants(b, body, &mut map);
    for op in body.ops() {
        if op.is("linalg.yield") {
            return op.operands().into_iter().map(|value| map.get(value)).collect();
        }
        match super::index_axis(op).and_then(|axis| index.get(axis)) {
            Some(now) => {
                let value = index_value(b, now);
                map.set(op.result(0), value);
            }
            None => {
                b.clone_op(op, &mut map);
            }
        }
    }
    Vec::new()
}

/// Copies the scalar constants that a body takes from outside.
pub(crate) fn copy_constants<'c>(b: &mut Builder<'c>, body: Block<'c>, map: &mut Mapping<'c>) {
    for outside in captured(body) {
        if let Some(constant) = outside.def().filter(|op| op.is("arith.constant"))
            && !ty::is_tensor(outside.ty())
        {
            b.clone_op(constant, map);
        }
    }
}

/// A linear expression of `linalg.index`es.
fn index_value<'c>(b: &mut Builder<'c>, expr: &Linear) -> Val<'c> {
    let context = b.context();
    let index = Type::index(context);
    let mut sum: Option<Val<'c>> = None;
    for (axis, &factor) in expr.coefficients.iter().enumerate().filter(|(_, factor)| **factor != 0)
    {
        let dim = attr::of_int(context, axis as i64);
        let mut term = b.op_with("linalg.index", &[], &[index], &[("dim", dim)], 0).result(0);
        if factor != 1 {
            let factor = b.index(factor);
            term = b.op("arith.muli", &[term, factor], &[index]).result(0);
        }
        sum = Some(match sum {
            Some(sum) => b.op("arith.addi", &[sum, term], &[index]).result(0),
            None => term,
        });
    }
    let sum = match sum {
        Some(sum) if expr.constant == 0 => return sum,
        other => other,
    };
    let constant = b.index(expr.constant);
    match sum {
        Some(sum) => b.op("arith.addi", &[sum, constant], &[index]).result(0),
        None => constant,
    }
}

/// `constant + Σ value · factor` as an index: one `affine.apply`, or less.
pub(crate) fn emit_sum<'c>(
    b: &mut Builder<'c>,
    terms: &[(Val<'c>, i64)],
    constant: i64,
) -> Val<'c> {
    let terms: Vec<_> = terms.iter().filter(|(_, factor)| *factor != 0).collect();
    match terms[..] {
        [] => b.index(constant),
        [&(value, 1)] if constant == 0 => value,
        _ => {
            let count = terms.len();
            let start = Linear::constant(count, constant);
            let numbered = terms.iter().enumerate();
            let expr = numbered.fold(start, |expr, (dim, (_, factor))| expr.plus(dim, *factor));
            let context = b.context();
            let map = affine::map(context, count, &[expr]);
            let values: Vec<_> = terms.iter().map(|(value, _)| *value).collect();
            b.op_with("affine.apply", &values, &[Type::index(context)], &[("map", map)], 0)
                .result(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_dialects::ir::{context, module_op, parse};

    use super::*;
    use crate::nest::{Loop, read_kernel};

    /// Two axes that run along the only dimension of all tensors together have no length in a
    /// kernel's text.
    #[test]
    fn axes_of_one_dimension_cannot_be_emitted() {
        let context = context();
        let text = "tile.kernel @copy {
          ^bb0(%x: tensor<6xf32>, %y: tensor<6xf32>):
            %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                iterator_types = [\"parallel\"]} ins(%x : tensor<6xf32>) outs(%y : tensor<6xf32>) {
            ^bb0(%u: f32, %v: f32):
              linalg.yield %u : f32
            } -> tensor<6xf32>
            tile.yield %r : tensor<6xf32>
          }";
        let module = parse(&context, text).expect("it parses");
        let kernel = module_op(&module).body(0).expect("a block").ops()[0];
        let mut nest = read_kernel(kernel).expect("a nest");
        assert!(can_be_emitted(&nest));
        nest.axes = [2, 3].map(Loop::parallel).to_vec();
        let both = Linear::axis(2, 0).scale(3).add(&Linear::axis(2, 1));
        nest.inputs[0].index = vec![both.clone()];
        nest.outputs[0].index = vec![both];
        assert!(!can_be_emitted(&nest));
        nest.outputs[0].shape = vec![2, 3];
        nest.outputs[0].index = vec![Linear::axis(2, 0), Linear::axis(2, 1)];
        assert!(can_be_emitted(&nest), "one tensor says how long they are");
    }
}
