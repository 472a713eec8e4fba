//! Operators that put elements elsewhere.

use weft_dialects::ir::Linear;

use super::elementwise::BroadcastReader;
use super::{Operator, op};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, broadcast, identity};
use crate::types::{ElementType, Shape, TensorType};

pub const OPERATORS: &[Operator] = &[
    op("Concat", 4, 1, &["axis"], concat).variadic(),
    op("DepthToSpace", 11, 1, &["blocksize", "mode"], depth_to_space),
    op("Expand", 8, 2, &[], expand),
    op("SpaceToDepth", 1, 1, &["blocksize", "mode"], space_to_depth),
    op("Split", 13, 2, &["axis", "num_outputs"], split).at_least(1).up_to(usize::MAX),
    op("Tile", 6, 2, &[], tile),
    op("Transpose", 1, 1, &["perm"], transpose),
    op("Trilu", 14, 2, &["upper"], trilu).at_least(1),
];

/// Elements of `known`, each result element taken from a row-major position.
pub fn moved(known: &Elements, ty: &TensorType, from: impl Fn(&[i64]) -> i64) -> Elements {
    let mut index = vec![0i64; ty.rank()];
    let scalars: Vec<_> = (0..ty.elements())
        .map(|_| {
            let scalar = known.get(from(&index) as usize);
            for d in (0..index.len()).rev() {
                index[d] += 1;
                if index[d] < ty.dims()[d] {
                    break;
                }
                index[d] = 0;
            }
            scalar
        })
        .collect();
    Elements::from_scalars(ty.clone(), scalars)
}

/// The row-major position of an index.
fn position(index: impl IntoIterator<Item = i64>, dims: &[i64]) -> i64 {
    index.into_iter().zip(dims).fold(0, |at, (i, extent)| at * extent + i)
}

/// Plans a result whose elements lie at linear indices of the one operand.
pub fn gathered_of(
    node: &Node<'_>,
    x: &Operand,
    dims: Vec<i64>,
    access: Vec<Linear>,
) -> Result<Plan> {
    node.ty(x.element(), dims.clone())?;
    Ok(gathered(x, dims, access))
}

/// Plans a result, no larger than a tensor may be, whose elements lie at linear indices of the one
/// operand.
pub fn gathered(x: &Operand, dims: Vec<i64>, access: Vec<Linear>) -> Plan {
    let result = TensorType::temporary(x.element(), &dims);
    let (source, ty, read) = (x.ty.clone(), result.clone(), access.clone());
    let plan = Plan::new(vec![x.clone()], vec![result], move |b, args| {
        vec![b.move_at(args[0].element(), &dims, &[(&args[0], access.clone())], |_, x| x[0])]
    });
    plan.folds(move |known| {
        let from = |index: &[i64]| position(read.iter().map(|e| e.at(index)), source.dims());
        vec![moved(&known[0], &ty, from)]
    })
}

fn transpose(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "data")?;
    let rank = x.rank();
    let reversed: Vec<_> = (0..rank as i64).rev().collect();
    let perm = node.ints("perm")?.unwrap_or(&reversed);
    let wrong = || {
        node.report(format!("has perm {perm:?} for {}", x.ty))
            .help(format!("every number from 0 to {}, once", rank.saturating_sub(1)))
            .invalid()
    };
    let in_range = |&&p: &&i64| (0..rank as i64).contains(&p);
    if perm.len() != rank || perm.iter().filter(in_range).count() != rank {
        return Err(wrong());
    }
    let perm = node.axes(perm, rank).map_err(|_| wrong())?;
    let dims = perm.iter().map(|&d| x.dims()[d]).collect();
    let mut access = vec![Linear::constant(rank, 0); rank];
    for (axis, &d) in perm.iter().enumerate() {
        access[d] = Linear::axis(rank, axis);
    }
    gathered_of(node, x, dims, access)
}

fn concat(node: &Node<'_>) -> Result<Plan> {
    let operands: Vec<_> = node.variadic()?.into_iter().cloned().collect();
    let axis = node.int("axis")?.ok_or_else(|| node.invalid("lacks the attribute \"axis\""))?;
    joined(node, &operands, node.axis(axis, operands[0].rank())?)
}

/// Plans tensors behind each other along an axis.
pub fn joined(node: &Node<'_>, operands: &[Operand], axis: usize) -> Result<Plan> {
    let first = &operands[0];
    let mut total = 0i64;
    for operand in operands {
        node.expect_same_element(first, operand)?;
        let fits = operand.rank() == first.rank()
            && (0..first.rank()).all(|d| d == axis || operand.dims()[d] == first.dims()[d]);
        if !fits {
            return Err(node
                .report(format!("joins {} and {} along axis {axis}", first.ty, operand.ty))
                .help("equal extents on all other axes")
                .invalid());
        }
        total = total.saturating_add(operand.dims()[axis]);
    }
    let mut dims = first.dims().to_vec();
    dims[axis] = total;
    let result = node.ty(first.element(), dims)?;
    let ty = result.clone();
    let plan = Plan::new(operands.to_vec(), vec![result.clone()], move |b, args| {
        if let [only] = args {
            return vec![only.clone()];
        }
        let mut all = b.empty(result.element(), result.dims());
        let mut offsets = vec![0; result.rank()];
        for arg in args {
            all = b.insert(arg, &all, &offsets, &vec![1; result.rank()]);
            offsets[axis] += arg.dims()[axis];
        }
        vec![all]
    });
    Ok(plan.folds(move |known| {
        // Rows of all operands in turn: what follows the axis lies together.
        let rows = ty.dims()[..axis].iter().product::<i64>() as usize;
        let scalars = (0..rows).flat_map(|row| {
            known.iter().flat_map(move |elements| {
                let length = elements.len() / rows;
                (row * length..(row + 1) * length).map(|at| elements.get(at))
            })
        });
        vec![Elements::from_scalars(ty.clone(), scalars)]
    }))
}

fn split(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input")?;
    let axis = node.axis(node.int("axis")?.unwrap_or(0), x.rank())?;
    let (extent, outputs) = (x.dims()[axis], node.outputs() as i64);
    let sizes = match node.known_ints(1, "split")? {
        Some(sizes) => sizes,
        None => {
            let parts = node.int("num_outputs")?.unwrap_or(outputs);
            if parts != outputs || parts > extent.max(1) {
                return Err(node
                    .report(format!("splits {} into {parts} parts", x.ty))
                    .note(format!("it has {outputs} outputs"))
                    .help("one output per part, none of them empty")
                    .invalid());
            }
            if node.opset < 18 && extent % parts != 0 {
                return Err(node.invalid(format!("splits {extent} into {parts} equal parts")));
            }
            // Equal parts, and a smaller one in the end.
            let size = extent / parts + i64::from(extent % parts != 0);
            (0..parts).map(|part| size.min(extent - (part * size).min(extent))).collect()
        }
    };
    let total = sizes.iter().try_fold(0i64, |sum, &size| sum.checked_add(size));
    if sizes.len() != outputs as usize || sizes.iter().any(|&s| s < 0) || total != Some(extent) {
        return Err(node
            .report(format!("splits {} along axis {axis} into {sizes:?}", x.ty))
            .help(format!("{outputs} sizes that sum to {extent}"))
            .invalid());
    }
    let results = sizes
        .iter()
        .map(|&size| {
            let mut dims = x.dims().to_vec();
            dims[axis] = size;
            node.ty(x.element(), dims)
        })
        .collect::<Result<Vec<_>>>()?;
    let (types, source) = (results.clone(), x.ty.clone());
    let starts: Vec<i64> = sizes
        .iter()
        .scan(0, |next, size| {
            let start = *next;
            *next += size;
            Some(start)
        })
        .collect();
    let begins = starts.clone();
    let plan = Plan::new(vec![x.clone()], results.clone(), move |b, args| {
        let mut parts = Vec::with_capacity(results.len());
        for (start, ty) in starts.iter().zip(&results) {
            let mut offsets = vec![0; ty.rank()];
            offsets[axis] = *start;
            parts.push(b.slice(&args[0], &offsets, ty.dims(), &vec![1; ty.rank()]));
        }
        parts
    });
    Ok(plan.folds(move |known| {
        let parts = begins.iter().zip(&types);
        parts
            .map(|(start, ty)| {
                moved(&known[0], ty, |index| {
                    let shifted = index
                        .iter()
                        .enumerate()
                        .map(|(d, i)| if d == axis { i + start } else { *i });
                    position(shifted, source.dims())
                })
            })
            .collect()
    }))
}

fn expand(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input")?;
    let shape = node.known_ints(1, "shape")?.unwrap_or_default();
    if let Some(negative) = shape.iter().find(|&&dim| dim < 0) {
        return Err(node.invalid(format!("expands to an extent of {negative}")));
    }
    let dims = node.broadcast([x.dims(), &shape])?;
    let access = broadcast(x.dims(), &dims, dims.len());
    let ty = node.ty(x.element(), dims.clone())?;
    let plan = gathered_of(node, x, dims, access)?;
    Ok(plan.folds(move |known| {
        let place = BroadcastReader::new(&known[0], ty.dims());
        vec![Elements::from_scalars(ty.clone(), (0..ty.elements()).map(|at| place.get(at)))]
    }))
}

fn tile(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input")?;
    let repeats = node.known_ints(1, "repeats")?.unwrap_or_default();
    if repeats.len() != x.rank() || repeats.iter().any(|&n| n < 0) {
        return Err(node
            .report(format!("repeats {} as often as {repeats:?}", x.ty))
            .help("one number per dimension, from 0")
            .invalid());
    }
    let mut dims = Vec::with_capacity(x.rank());
    for (dim, repeat) in x.dims().iter().zip(&repeats) {
        dims.push(dim.checked_mul(*repeat).ok_or_else(|| node.invalid("repeats too often"))?);
    }
    let result = node.ty(x.element(), dims)?;
    // A repeated dimension becomes two, of which the first is not read.
    let (mut wide, mut own) = (Vec::new(), Vec::new());
    for (&dim, &repeat) in x.dims().iter().zip(&repeats) {
        if repeat != 1 {
            wide.push(repeat);
        }
        own.push(wide.len());
        wide.push(dim);
    }
    let (ty, source) = (result.clone(), x.ty.clone());
    let plan = Plan::new(vec![x.clone()], vec![result.clone()], move |b, args| {
        let access = own.iter().map(|&axis| Linear::axis(wide.len(), axis)).collect();
        let all = b.move_at(args[0].element(), &wide, &[(&args[0], access)], |_, x| x[0]);
        vec![b.reshape(&all, result.dims())]
    });
    Ok(plan.folds(move |known| {
        vec![moved(&known[0], &ty, |index| {
            position(index.iter().zip(source.dims()).map(|(i, n)| i % n), source.dims())
        })]
    }))
}

/// Transposes `x` seen under the shape `dims`.
fn permuted<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, dims: &[i64], perm: &[usize]) -> Tensor<'c> {
    let x = b.reshape(x, dims);
    let mut access = vec![Linear::constant(perm.len(), 0); perm.len()];
    for (axis, &d) in perm.iter().enumerate() {
        access[d] = Linear::axis(perm.len(), axis);
    }
    let to: Vec<_> = perm.iter().map(|&d| dims[d]).collect();
    b.move_at(x.element(), &to, &[(&x, access)], |_, x| x[0])
}

/// The operand of four dimensions and the block of the next two functions.
fn blocks<'n>(node: &'n Node<'_>) -> Result<(&'n Operand, [i64; 4], i64)> {
    let x = node.input(0, "input")?;
    let &[n, c, h, w] = x.dims() else {
        return Err(node.invalid(format!("reads {}; it needs four dimensions", x.ty)));
    };
    match node.int("blocksize")? {
        Some(block) if (1..=i64::from(i16::MAX)).contains(&block) => Ok((x, [n, c, h, w], block)),
        other => Err(node.invalid(format!("has blocksize {other:?}; it is 1 or more"))),
    }
}

/// Returns whether the place in a block is the outer part of a channel, not the inner.
fn depth_first(node: &Node<'_>) -> Result<bool> {
    match node.string("mode", "DCR")? {
        "DCR" => Ok(true),
        "CRD" => Ok(false),
        other => Err(node.invalid(format!("has mode {other:?}; it is DCR or CRD"))),
    }
}

fn depth_to_space(node: &Node<'_>) -> Result<Plan> {
    let (x, [n, c, h, w], s) = blocks(node)?;
    let depth_first = depth_first(node)?;
    if c % (s * s) != 0 {
        return Err(node.invalid(format!("spreads {c} channels over blocks of {s}x{s}")));
    }
    let result = node.ty(x.element(), vec![n, c / (s * s), h * s, w * s])?;
    Ok(Plan::new(vec![x.clone()], vec![result.clone()], move |b, args| {
        let d = c / (s * s);
        let y = if depth_first {
            permuted(b, &args[0], &[n, s, s, d, h, w], &[0, 3, 4, 1, 5, 2])
        } else {
            permuted(b, &args[0], &[n, d, s, s, h, w], &[0, 1, 4, 2, 5, 3])
        };
        vec![b.reshape(&y, result.dims())]
    }))
}

fn space_to_depth(node: &Node<'_>) -> Result<Plan> {
    let (x, [n, c, h, w], s) = blocks(node)?;
    if h % s != 0 || w % s != 0 {
        return Err(node.invalid(format!("cuts {} into blocks of {s}x{s}", Shape(&[h, w]))));
    }
    let result = node.ty(x.element(), vec![n, c * s * s, h / s, w / s])?;
    let order = if depth_first(node)? { [0, 3, 5, 1, 2, 4] } else { [0, 1, 3, 5, 2, 4] };
    Ok(Plan::new(vec![x.clone()], vec![result.clone()], move |b, args| {
        let y = permuted(b, &args[0], &[n, c, h / s, s, w / s, s], &order);
        vec![b.reshape(&y, result.dims())]
    }))
}

fn trilu(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input")?;
    if x.rank() < 2 {
        return Err(node.invalid(format!("takes a triangle of {}; it needs a matrix", x.ty)));
    }
    let upper = node.flag("upper", true)?;
    let mut operands = vec![x.clone()];
    let mut diagonal = Some(0);
    if let Some(k) = node.optional(1) {
        node.expect_element(k, "k", &[ElementType::I64])?;
        if k.ty.elements() != 1 {
            return Err(node.invalid(format!("reads \"k\" as {}; it is a scalar", k.ty)));
        }
        diagonal = k.literal().map(|k| k.as_int() as i64);
        if diagonal.is_none() {
            operands.push(k.clone());
        }
    }
    let rank = x.rank();
    Ok(Plan::new(operands, vec![x.ty.clone()], move |b, args| {
        let element = args[0].element();
        let mut inputs = vec![(&args[0], identity(rank))];
        if let Some(k) = args.get(1) {
            inputs.push((k, vec![Linear::constant(rank, 0); k.dims().len()]));
        }
        vec![b.move_at(element, args[0].dims(), &inputs, |calc, given| {
            let k = match (diagonal, given.get(1)) {
                (Some(k), _) => calc.at(k),
                (None, Some(&k)) => calc.coordinate(k),
                (None, None) => unreachable!("a diagonal is a literal or an operand"),
            };
            let (row, column) = (calc.index(rank - 2), calc.index(rank - 1));
            let edge = calc.add(row, k);
            let inside = if upper { calc.ge(column, edge) } else { calc.le(column, edge) };
            let zero = calc.stored(element, Scalar::Int(0));
            calc.select(inside, given[0], zero)
        })]
    }))
}
