//! A nest whose tensors lie in panels.
//!
//! ```text
//! x[c, y, x]      64 channels of 56 x 56, in panels of 16 with 3136 elements behind each
//!   ->  x[co, y, x, ci]     c = 16 co + ci
//! ```
//!
//! An axis that runs through a panel is split where panels end, so what was one expression is two,
//! and those that run inside move to the end.

use weft_dialects::ir::{Builder, Linear, ty};
use weft_dialects::tile::build;

use crate::nest::{Access, Border, Nest, emit_pad, index_axis};
use crate::remarks::Refused;

/// Layout of a tensor in panels: elements that were `behind` apart are neighbours, `lanes` at a
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Panels {
    /// Elements that became neighbours.
    pub lanes: u64,
    /// Distance in elements at which they were stored before.
    pub behind: u64,
}

/// The same nest on tensors that lie in `panels`, one entry per access in the order of
/// [`Nest::accesses`]. `None` where it is the nest as it was: it does the same to each element
/// wherever that lies. Padded tensors of accesses with borders are written to `scratch`; what lies
/// inside one border takes at most `plane_bytes`, those of the cache in which it is laid out.
///
/// # Errors
/// The access whose tensor cannot lie so, and why.
pub(super) fn laid<'c>(
    scratch: &mut Builder<'c>,
    nest: &Nest<'c>,
    panels: &[Option<Panels>],
    plane_bytes: u64,
) -> Result<Option<Nest<'c>>, (usize, Refused)> {
    let Some(first) = panels.iter().position(Option::is_some) else { return Ok(None) };
    if !nest.captures.is_empty() {
        return Err((
            first,
            Refused::by("addresses", "the kernel reads at addresses that it computes"),
        ));
    }
    let asks = |op| index_axis(op).is_some();
    if nest.bodies().iter().flat_map(|body| body.ops()).any(asks) {
        return Err((
            first,
            Refused::by("coordinates", "the kernel asks for the number of a point"),
        ));
    }
    if anywhere(nest, panels) {
        return Ok(None);
    }
    let mut nest = nest.clone();
    for (number, panels) in panels.iter().enumerate() {
        let Some(Panels { lanes, behind }) = *panels else { continue };
        for bound in [behind, behind * lanes] {
            cut(&mut nest, number, bound).map_err(|why| (number, why))?;
        }
    }
    for (access, panels) in nest.accesses_mut().into_iter().zip(panels) {
        if let Some(panels) = panels {
            turn(scratch, access, *panels);
        }
    }
    planes_fit(&nest, plane_bytes)?;
    nest.simplify();
    Ok(Some(nest))
}

/// Returns whether a plane inside each border, with what code adds to its rows, takes at most
/// `plane_bytes`: a channel of it may have become a whole panel of channels.
fn planes_fit(nest: &Nest<'_>, plane_bytes: u64) -> Result<(), (usize, Refused)> {
    for (number, access) in nest.accesses().into_iter().enumerate() {
        let Some(border) = Border::of(access) else { continue };
        let plane = &access.shape[access.shape.len() - border.rank()..];
        let (&rows, others) = plane.split_first().expect("a border has a dimension");
        let elements = (rows + 1) * others.iter().product::<u64>();
        let bytes = elements * ty::byte_size(access.elem()).unwrap_or(8);
        if bytes > plane_bytes {
            let why = Refused::by("plane", "a plane with its border would not fit the cache");
            return Err((number, why.met(format!("{bytes} of {plane_bytes} bytes"))));
        }
    }
    Ok(())
}

/// Returns whether a nest without reductions visits every element once, and all its tensors in one
/// order and in panels of one kind.
pub(super) fn anywhere(nest: &Nest<'_>, panels: &[Option<Panels>]) -> bool {
    let axes = nest.axes.len();
    let accesses = nest.accesses();
    let one = &nest.outputs[0];
    let (points, place) = (one.shape.iter().product::<u64>(), one.address(axes));
    (0..axes).all(|axis| !nest.reduces(axis))
        && nest.points() == points
        && one.index.iter().all(|index| index.as_axis().is_some())
        && panels.iter().all(|other| *other == panels[0])
        && (0..axes).all(|axis| ends_with_panels(nest, axis, panels[0]))
        && accesses.iter().all(|access| {
            Border::of(access).is_none()
                && access.shape.iter().product::<u64>() == points
                && access.address(axes) == place
        })
}

/// Returns whether the points of an axis that are there are whole panels of the output, which then are the same
/// elements in any order.
fn ends_with_panels(nest: &Nest<'_>, axis: usize, panels: Option<Panels>) -> bool {
    let Some((length, panels)) = nest.axes[axis].length.zip(panels) else { return true };
    let step = nest.outputs[0].stride(nest.axes.len(), axis);
    let whole = (panels.lanes * panels.behind) as i64;
    step % whole == 0 || step == 1 && length.is_multiple_of(whole)
}

/// Makes `bound` elements of the tensor of access `number` end where a dimension does.
fn cut(nest: &mut Nest<'_>, number: usize, bound: u64) -> Result<(), Refused> {
    loop {
        let access = nest.accesses()[number];
        let shape = access.shape_in_memory();
        let mut behind = 1;
        let dim = (0..shape.len()).rev().find(|&dim| {
            let through = behind < bound && bound < behind * shape[dim];
            behind *= shape[dim];
            through
        });
        let Some(dim) = dim else {
            return match ends(&shape, bound) {
                true => Ok(()),
                false => {
                    let why = Refused::by("ends", "no dimension ends where a panel does");
                    Err(why.met(format!("{bound} elements of {shape:?}")))
                }
            };
        };
        behind /= shape[dim];
        let panel = bound / behind;
        if !bound.is_multiple_of(behind) || !shape[dim].is_multiple_of(panel) {
            let why = Refused::by("divides", "panels do not divide a dimension");
            return Err(why.met(format!("{panel} of {}", shape[dim])));
        }
        if Border::of(access).is_some_and(|border| dim + border.rank() >= shape.len()) {
            return Err(Refused::by("border", "a border runs through panels"));
        }
        let index = &access.index[dim];
        if let Some((outer, inner)) = divided(index, &nest.extents(), panel) {
            let access = nest.accesses_mut().swap_remove(number);
            access.shape[dim] /= panel;
            access.shape.insert(dim + 1, panel);
            access.index[dim] = outer;
            access.index.insert(dim + 1, inner);
            continue;
        }
        let (axis, part) = splittable(index, &nest.extents(), panel)
            .ok_or_else(|| Refused::by("axis", "an axis does not run through whole panels"))?;
        if let Some(length) =
            nest.axes[axis].length.filter(|length| !length.is_multiple_of(part as i64))
        {
            let why = Refused::by("length", "an axis ends inside of a panel");
            return Err(why.met(format!("{part} of {length}")));
        }
        nest.split(axis, part);
    }
}

/// Returns whether some of the last dimensions are `bound` elements.
fn ends(shape: &[u64], bound: u64) -> bool {
    let mut behind = 1;
    shape.iter().rev().any(|dim| {
        let ends = behind == bound;
        behind *= dim;
        ends
    }) || behind == bound
}

/// An expression as its quotient and its rest by `panel`, where every term is in one of them.
fn divided(index: &Linear, extents: &[u64], panel: u64) -> Option<(Linear, Linear)> {
    let panel = panel as i64;
    let (mut outer, mut inner) = (index.clone(), index.clone());
    for (outer, inner) in outer.coefficients.iter_mut().zip(&mut inner.coefficients) {
        if *outer % panel == 0 {
            *outer /= panel;
            *inner = 0;
        } else {
            *outer = 0;
        }
    }
    outer.constant = index.constant.div_euclid(panel);
    inner.constant = index.constant.rem_euclid(panel);
    let (low, high) = inner.range(extents);
    (low >= 0 && high < panel).then_some((outer, inner))
}

/// An axis that runs through the panels of an expression, and how many of its points lie in one.
fn splittable(index: &Linear, extents: &[u64], panel: u64) -> Option<(usize, u64)> {
    let through = |(axis, &factor): (usize, &i64)| {
        let factor = u64::try_from(factor).ok().filter(|&factor| factor > 0)?;
        let part = panel.checked_div(factor).filter(|_| panel.is_multiple_of(factor))?;
        (part > 1 && part < extents[axis] && extents[axis].is_multiple_of(part))
            .then_some((axis, part))
    };
    index.coefficients.iter().enumerate().find_map(through)
}

/// Moves the dimensions inside panels to the end.
fn turn<'c>(scratch: &mut Builder<'c>, access: &mut Access<'c>, Panels { lanes, behind }: Panels) {
    let memory = access.shape_in_memory();
    // The first of the last dimensions that are `elements` together.
    let first = |elements: u64| {
        let mut product = 1;
        let dims = memory.iter().rev().take_while(|&&dim| {
            let before = product < elements;
            product *= dim;
            before
        });
        memory.len() - dims.count()
    };
    let (front, back) = (first(behind * lanes), first(behind));
    let border = Border::of(access);
    access.shape[front..].rotate_left(back - front);
    access.index[front..].rotate_left(back - front);
    if let Some(mut border) = border {
        let inner = &access.shape[access.shape.len() - (back - front)..];
        border.low.extend(inner.iter().map(|_| 0));
        border.inside.extend(inner);
        let leading = &access.shape[..access.shape.len() - border.rank()];
        let source: Vec<u64> = leading.iter().chain(&border.inside).copied().collect();
        let ty = ty::tensor(&source, access.elem());
        let source = build::view(scratch, border.source, ty);
        access.tensor = emit_pad(scratch, access, &border, source);
    }
}
