//! Two nests become one.

use weft_dialects::ir::{Block, Builder, Context, Linear, Mapping, Op, Val, ty};

use crate::length::Length;
use crate::nest::{Access, Border, Epilogue, Nest, Start, copy_body, index_axis, scalar_body};
use crate::remarks::Refused;
use crate::tile::element_order::{cut, ends, order};
use crate::tile::lanes_type;

/// Makes one nest of `maker` and of `user`, which reads what `maker` writes by the accesses
/// in `reading` and no other way. The bodies of the new nest lie in `scratch`. Where it `cuts`, a product
/// may have more axes afterwards: those of what a reader reads for some of them.
///
/// # Errors
/// Why both stay as they are.
pub fn join<'c>(
    context: &'c Context,
    scratch: Op<'c>,
    maker: &Nest<'c>,
    user: &Nest<'c>,
    reading: &[bool],
    cuts: &dyn Fn() -> bool,
) -> Result<Nest<'c>, Refused> {
    let joined = join_as_they_are(context, scratch, maker, user, reading);
    let other_axes = matches!(&joined, Err(why) if why.rule() == AXES && cuts());
    let cut = if other_axes { common_axes(maker, user, reading) } else { None };
    match cut {
        Some([maker, user]) => join_as_they_are(context, scratch, &maker, &user, reading),
        None => joined,
    }
}

/// The rule by which nests of other axes stay apart.
const AXES: &str = "axes";

/// A product and its reader with their axes cut so that both have the same along the tensor between.
fn common_axes<'c>(maker: &Nest<'c>, user: &Nest<'c>, reading: &[bool]) -> Option<[Nest<'c>; 2]> {
    let reduces = (0..maker.axes.len()).any(|axis| maker.reduces(axis));
    let asks = maker
        .bodies()
        .into_iter()
        .any(|body| body.ops().into_iter().any(|op| index_axis(op).is_some()));
    let fixed = !maker.has_lengths() && !user.has_lengths();
    (reduces && !asks && fixed).then_some(())?;
    let at = reading.iter().position(|reading| *reading)?;
    dense(&maker.outputs[0], maker)?;
    dense(&user.inputs[at], user)?;
    let mut all = [ends(maker, &maker.outputs[0])?, ends(user, &user.inputs[at])?].concat();
    all.sort_unstable();
    all.dedup();
    let (maker, _) = cut(maker, &all, |nest| &nest.outputs[0])?;
    let (user, _) = cut(user, &all, |nest| &nest.inputs[at])?;
    Some([maker, user])
}

fn join_as_they_are<'c>(
    context: &'c Context,
    scratch: Op<'c>,
    maker: &Nest<'c>,
    user: &Nest<'c>,
    reading: &[bool],
) -> Result<Nest<'c>, Refused> {
    let own = check(maker, user, reading)?;
    let (made, used) = (&maker.outputs[0], &user.outputs[0]);
    let reduces = (0..maker.axes.len()).any(|axis| maker.reduces(axis));
    let write = Writer { context, scratch };
    if let Some(onto) = Onto::of(own, user, made, maker) {
        let others = onto.all(&others(user, reading));
        side_by_side(
            made,
            maker,
            others.iter().chain((!reduces).then_some(&maker.inputs[..]).into_iter().flatten()),
        )?;
        let written = onto.access(used);
        if !have_one_order(maker, &written, made) {
            return Err(other_order());
        }
        let outputs = vec![match dense(used, user) {
            Some(_) => Access { tensor: used.tensor, ..made.clone() },
            None => part(maker, written, made)?,
        }];
        if !reduces {
            let body = write.both(maker, user, reading);
            let inputs = maker.inputs.iter().cloned().chain(others).collect();
            return Ok(Nest { inputs, outputs, body, ..maker.clone() });
        }
        let epilogue = Some(write.epilogue(maker, user, reading, others));
        return Ok(Nest { outputs, epilogue, ..maker.clone() });
    }
    // The axes of the maker are coarser: those of the user are taken.
    let asks = maker.body.ops().into_iter().any(|op| index_axis(op).is_some());
    let Some(onto) = Onto::of(made, maker, own, user).filter(|_| !reduces && !asks) else {
        let values = format!("{:?} and {:?}", user.extents(), maker.extents());
        return Err(Refused::by(AXES, "no axis of one is some axes of the other").met(values));
    };
    let inputs = onto.all(&maker.inputs.iter().collect::<Vec<_>>());
    let kept = others(user, reading);
    side_by_side(used, user, inputs.iter().chain(kept.iter().copied()))?;
    if !have_one_order(user, used, own) {
        return Err(other_order());
    }
    let body = write.both(maker, user, reading);
    let inputs = inputs.into_iter().chain(kept.into_iter().cloned()).collect();
    Ok(Nest { inputs, body, ..user.clone() })
}

fn other_order() -> Refused {
    Refused::by("order", "the elements would be written in another order")
}

/// Whether a nest does something to each element apart, and to nothing twice.
pub fn is_elementwise(nest: &Nest<'_>) -> bool {
    (0..nest.axes.len()).all(|axis| !nest.reduces(axis))
        && matches!(nest.starts[..], [Start::Unread])
        && nest.captures.is_empty()
}

/// The access by which `user` reads what `maker` writes, where nothing speaks against it yet.
fn check<'n, 'c>(
    maker: &Nest<'c>,
    user: &'n Nest<'c>,
    reading: &[bool],
) -> Result<&'n Access<'c>, Refused> {
    let reduces = (0..maker.axes.len()).any(|axis| maker.reduces(axis));
    let asks = user.body.ops().into_iter().any(|op| index_axis(op).is_some());
    if !is_elementwise(user) || asks {
        return Err(Refused::by("elementwise", "the reader is not elementwise"));
    }
    match maker.starts[..] {
        [Start::Held] => {
            return Err(Refused::by("held", "what is read holds something before"));
        }
        [_] if reduces || is_elementwise(maker) => {}
        _ => return Err(several(maker.outputs.len())),
    }
    let mut reads = user.inputs.iter().zip(reading).filter(|(_, reading)| **reading);
    let Some((own, _)) = reads.next() else {
        return Err(Refused::by("read", "it is not read"));
    };
    let axes = user.axes.len();
    if reads.any(|(other, _)| other.address(axes) != own.address(axes)) {
        return Err(Refused::by("ways", "it is read in two ways"));
    }
    if user.inputs.iter().any(|access| Border::of(access).is_some()) {
        return Err(Refused::by("border", "it is read with a border"));
    }
    let bits = |nest| lanes_type(nest).and_then(ty::bits);
    let (made, read) = (bits(maker), bits(user));
    // What is done to sums is done on as many lanes as they have.
    if made != read && !(reduces && read < made) {
        let shown = |bits: Option<u64>| bits.map_or("none".to_owned(), |bits| bits.to_string());
        let values = format!("{} and {} bits", shown(read), shown(made));
        return Err(Refused::by("bits", "their elements fill registers differently").met(values));
    }
    Ok(own)
}

/// What is read is none that one kernel makes alone.
pub(super) fn several(results: usize) -> Refused {
    let why = Refused::by("results", "what is read is one of several results");
    why.met(format!("{results} of one kernel"))
}

/// The access by which `nest`, whose output is `made`, writes the part of a tensor that `written`
/// touches.
///
/// # Errors
/// It is no box of the tensor.
fn part<'c>(
    nest: &Nest<'_>,
    written: Access<'c>,
    made: &Access<'c>,
) -> Result<Access<'c>, Refused> {
    let axes = nest.axes.len();
    let [all, own] = [&written, made].map(|access| access.address(axes));
    let inner: u64 = made.shape.iter().skip(1).product();
    let whole: u64 = written.shape.iter().product();
    let step = all.constant - own.constant;
    // Some of the outermost elements, as of a concatenation: in the maker's shape but for them.
    if all.coefficients == own.coefficients
        && !made.index.is_empty()
        && step % inner.max(1) as i64 == 0
        && whole.is_multiple_of(inner.max(1))
    {
        let (mut shape, mut index) = (made.shape.clone(), made.index.clone());
        shape[0] = whole / inner.max(1);
        index[0] = index[0].clone().offset(step / inner.max(1) as i64);
        return Ok(Access { tensor: written.tensor, shape, index });
    }
    let plain = |index: &Linear| index.as_moved_axis().is_some() || index.is_constant();
    match written.index.iter().all(plain) {
        true => Ok(written),
        false => {
            let own: u64 = made.shape.iter().product();
            let values = format!("{own} of {whole} elements");
            Err(Refused::by("part", "the reader writes no box of its tensor").met(values))
        }
    }
}

/// Returns whether two accesses of a nest visit elements in one order, those of the innermost axis
/// side by side; where the one is to all of its tensor, the other one may be to a part.
fn have_one_order(nest: &Nest<'_>, one: &Access<'_>, other: &Access<'_>) -> bool {
    let axes = nest.axes.len();
    let order = |access: &Access<'_>| {
        let address = access.address(axes);
        let mut order: Vec<usize> = (0..axes).filter(|&axis| nest.axes[axis].extent > 1).collect();
        order.retain(|&axis| address.coefficients[axis] != 0);
        order.sort_by_key(|&axis| std::cmp::Reverse(address.coefficients[axis]));
        let inner = order.last().is_none_or(|&axis| address.coefficients[axis] == 1);
        inner.then_some(order)
    };
    order(one).is_some_and(|one| order(other) == Some(one))
}

/// Accesses of a nest beside those in `reading`.
fn others<'n, 'c>(user: &'n Nest<'c>, reading: &[bool]) -> Vec<&'n Access<'c>> {
    let inputs = user.inputs.iter().zip(reading);
    inputs.filter(|(_, reading)| !**reading).map(|(access, _)| access).collect()
}

/// Lanes along what lies side by side in the output find inputs side by side, too, or one
/// element for all of them.
fn side_by_side<'n, 'c: 'n>(
    output: &Access<'c>,
    nest: &Nest<'c>,
    mut inputs: impl Iterator<Item = &'n Access<'c>>,
) -> Result<(), Refused> {
    let axes = nest.axes.len();
    let inner = (0..axes).find(|&axis| output.stride(axes, axis) == 1);
    let plain =
        |input: &Access<'c>| inner.is_none_or(|inner| matches!(input.stride(axes, inner), 0 | 1));
    match inputs.all(plain) {
        true => Ok(()),
        false => Err(Refused::by("side", "an input does not lie in the order of the output")),
    }
}

/// The axes of an elementwise nest as axes of another one that visits the same elements in
/// the same order: for each, those that it is, the outermost first.
struct Onto {
    groups: Vec<Vec<usize>>,
    theirs: Vec<u64>,
    own: Vec<u64>,
}

impl Onto {
    /// `access` of `nest` and `target` of `other` are to one tensor.
    fn of(
        access: &Access<'_>,
        nest: &Nest<'_>,
        target: &Access<'_>,
        other: &Nest<'_>,
    ) -> Option<Self> {
        let (theirs, own) = (dense(access, nest)?, dense(target, other)?);
        let mut groups = vec![Vec::new(); nest.axes.len()];
        let mut own = own.into_iter();
        for axis in theirs {
            let extent = nest.axes[axis].extent;
            let mut points = 1;
            while points < extent {
                let next = own.next()?;
                points *= other.axes[next].extent;
                groups[axis].push(next);
            }
            if points != extent {
                return None;
            }
        }
        let whole = own.next().is_none() && have_same_lengths(&groups, nest, other);
        whole.then(|| Self { groups, theirs: nest.extents(), own: other.extents() })
    }

    fn all<'c>(&self, accesses: &[&Access<'c>]) -> Vec<Access<'c>> {
        accesses.iter().map(|access| self.access(access)).collect()
    }

    /// An access over the other nest's axes. A dimension that is a whole axis becomes those
    /// that the axis is, which is another view of the same elements.
    fn access<'c>(&self, access: &Access<'c>) -> Access<'c> {
        let axes = self.own.len();
        let (mut shape, mut index) = (Vec::new(), Vec::new());
        for (expr, &dim) in access.index.iter().zip(&access.shape) {
            match expr.as_axis().filter(|&axis| self.theirs[axis] == dim && dim > 1) {
                Some(axis) => {
                    for &own in &self.groups[axis] {
                        shape.push(self.own[own]);
                        index.push(Linear::axis(axes, own));
                    }
                }
                None => {
                    shape.push(dim);
                    index.push(self.expression(expr));
                }
            }
        }
        Access { tensor: access.tensor, shape, index }
    }

    fn expression(&self, expr: &Linear) -> Linear {
        let axes = self.own.len();
        let mut sum = Linear::constant(axes, expr.constant);
        for (axis, &factor) in expr.coefficients.iter().enumerate() {
            let mut step = factor;
            for &own in self.groups[axis].iter().rev() {
                sum = sum.add(&Linear::axis(axes, own).scale(step));
                step *= self.own[own] as i64;
            }
        }
        sum
    }
}

/// Whether the axes of a nest, each of which is a group of another's, the outermost first, have the
/// same points in every run.
fn have_same_lengths(groups: &[Vec<usize>], nest: &Nest<'_>, other: &Nest<'_>) -> bool {
    groups.iter().zip(&nest.axes).all(|(group, axis)| match group.split_first() {
        Some((&outer, inner)) => {
            let fixed = inner.iter().all(|&own| other.axes[own].length.is_none());
            let points: u64 = inner.iter().map(|&own| other.axes[own].extent).product();
            let points = Length::number(points as i64);
            let length = other.axes[outer].length.map(|length| length.times(&points));
            fixed && axis.length == length.as_ref()
        }
        None => axis.length.is_none(),
    })
}

/// The axes that do not reduce and have points, in the order of the elements that they visit,
/// the outermost first; `None` unless they visit each element of the tensor once.
fn dense(access: &Access<'_>, nest: &Nest<'_>) -> Option<Vec<usize>> {
    let order = order(nest, access)?;
    let moves = |axis: usize| order.contains(&axis) != nest.reduces(axis);
    let mut long = (0..nest.axes.len()).filter(|&axis| nest.axes[axis].extent > 1);
    long.all(moves).then_some(order)
}

/// Writes the bodies of joined nests.
struct Writer<'c> {
    context: &'c Context,
    /// A module that holds them.
    scratch: Op<'c>,
}

impl<'c> Writer<'c> {
    /// The body of an elementwise maker and then the user's.
    fn both(&self, maker: &Nest<'c>, user: &Nest<'c>, reading: &[bool]) -> Block<'c> {
        let types = maker.inputs.iter().chain(others(user, reading)).map(Access::elem);
        let count = maker.inputs.len();
        let (types, elem) = (types.collect::<Vec<_>>(), user.outputs[0].elem());
        scalar_body(self.context, self.scratch, &types, elem, |b, args| {
            let b = b.builder();
            let made = copy_body(b, maker.body, &args[..count], Mapping::default(), &[]);
            self.user(b, user, reading, made[0], &args[count..])
        })
    }

    /// The epilogue of a maker, if it has one, and then the user's body.
    fn epilogue(
        &self,
        maker: &Nest<'c>,
        user: &Nest<'c>,
        reading: &[bool],
        others: Vec<Access<'c>>,
    ) -> Epilogue<'c> {
        let before = maker.epilogue.as_ref();
        let mut inputs = before.map(|before| before.inputs.clone()).unwrap_or_default();
        let count = inputs.len();
        inputs.extend(others);
        let mut types: Vec<_> = inputs.iter().map(Access::elem).collect();
        let (sum, stored) = (maker.sum_type(0), user.outputs[0].elem());
        // Sums are an input of their own where what is stored cannot take their place.
        types.extend((sum != stored).then_some(sum));
        let all = inputs.len();
        let body = scalar_body(self.context, self.scratch, &types, stored, |b, args| {
            let b = b.builder();
            let (value, args) = (args[all], &args[..all]);
            let value = before.map_or(value, |before| {
                let args: Vec<_> = args[..count].iter().copied().chain([value]).collect();
                copy_body(b, before.body, &args, Mapping::default(), &[])[0]
            });
            self.user(b, user, reading, value, &args[count..])
        });
        Epilogue { inputs, body }
    }

    /// The user's body on a value and the elements of its other inputs.
    fn user(
        &self,
        b: &mut Builder<'c>,
        user: &Nest<'c>,
        reading: &[bool],
        value: Val<'c>,
        others: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        let mut others = others.iter();
        let mut arg = |&reads: &bool| match reads {
            true => value,
            false => *others.next().expect("one for each that is not the value"),
        };
        let args: Vec<_> = reading.iter().map(&mut arg).collect();
        copy_body(b, user.body, &args, Mapping::default(), &[])
    }
}
