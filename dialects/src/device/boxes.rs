//! Moves that bring a box of a tensor by the coordinates of its first element.
//!
//! ```text
//! memref<100x4096xf16>, sizes [64, 4, 64] from_strides [4096, 64, 1] to_strides [64, 4096, 1]
//!   four boxes of 64 rows of 64 elements: rows lie side by side in the target, panels behind each other
//! ```
//!
//! What a box has beyond the end of the tensor becomes zero. Boxes may arrive in another order than they are asked
//! for.

use super::{Producer, Transfer};
use crate::ir::{Attribute, attr, ty};

/// What boxes a move brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boxes {
    /// Dimensions of a tensor, at most.
    pub dims: u64,
    /// Points along a side, at most.
    pub points: u64,
    /// Bytes of what lies side by side where rows are swizzled.
    pub line_bytes: u64,
    /// Addresses, strides and bytes side by side are multiples of it.
    pub step_bytes: u64,
    /// The bits of an address that are changed, the lowest of them, and the distance of those that change them.
    pub swizzle: Option<[u32; 3]>,
    /// Where boxes begin in the target: multiples of it.
    pub align_bytes: u64,
    /// Units to the same place of which a box may go at once.
    pub units: Option<u64>,
    /// Cycles in which those units meet.
    pub meet_cycles: u64,
    /// The group that asks for them, where one of its own does.
    pub producer: Option<Producer>,
}

impl Boxes {
    /// Reads `boxes` of a move.
    ///
    /// # Errors
    /// What is wrong, as the end of a sentence about it.
    pub(super) fn read(attribute: Attribute<'_>) -> Result<Self, String> {
        let entries = attr::entries(attribute).ok_or("is no dictionary")?;
        let of = |name: &str| entries.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        let number = |name: &str| {
            let found = of(name).and_then(attr::int).and_then(|own| u64::try_from(own).ok());
            found.filter(|own| *own > 0).ok_or(format!("has no `{name}` above zero"))
        };
        let known = [
            "dims",
            "points",
            "line_bytes",
            "step_bytes",
            "swizzle",
            "align_bytes",
            "units",
            "meet_cycles",
            "producer_lanes",
            "producer_bytes",
            "share_bytes",
        ];
        if let Some((name, _)) = entries.iter().find(|(own, _)| !known.contains(own)) {
            return Err(format!("has `{name}`, and is of {}", known.join(", ")));
        }
        let swizzle = match of("swizzle") {
            None => None,
            Some(own) => Some(bits(own).ok_or("has a `swizzle` that is not [bits, keep, shift]")?),
        };
        let (units, meet_cycles) = match ["units", "meet_cycles"].map(|name| of(name).is_some()) {
            [false, false] => (None, 0),
            _ => (Some(number("units")?), number("meet_cycles")?),
        };
        let producer = ["producer_lanes", "producer_bytes", "share_bytes"];
        let producer = match producer.iter().any(|name| of(name).is_some()) {
            false => None,
            true => {
                let [lanes, bytes, step] = producer.map(number);
                Some(Producer { lanes: lanes?, bytes: bytes?, step: step? })
            }
        };
        if let Some(Producer { bytes, step, .. }) = producer.filter(|own| own.bytes % own.step != 0)
        {
            return Err(format!(
                "has {bytes} `producer_bytes`, which are no whole times {step} `share_bytes`"
            ));
        }
        if producer.is_some() && units.is_some() {
            return Err(
                "has `producer_lanes` and `units`, and who asks does not meet others".into()
            );
        }
        Ok(Self {
            dims: number("dims")?,
            points: number("points")?,
            line_bytes: number("line_bytes")?,
            step_bytes: number("step_bytes")?,
            swizzle,
            align_bytes: number("align_bytes")?,
            units,
            meet_cycles,
            producer,
        })
    }

    /// Whether elements of so many bytes that are swizzled so, their numbers' bits, keep and shift, are what the move
    /// writes.
    pub fn writes(&self, swizzle: [u32; 3], elem_bytes: u64) -> bool {
        let [bits, keep, shift] = swizzle;
        self.swizzle == Some([bits, keep + elem_bytes.trailing_zeros(), shift])
    }
}

/// Three numbers of bits of an address.
fn bits(attribute: Attribute<'_>) -> Option<[u32; 3]> {
    let numbers: Vec<u32> = attr::array(attribute)?
        .into_iter()
        .map(|number| attr::int(number).and_then(|own| u32::try_from(own).ok()))
        .collect::<Option<_>>()?;
    numbers.try_into().ok().filter(|own: &[u32; 3]| own.iter().all(|bit| *bit < 32))
}

/// Boxes of one transfer, at most.
const MOST_PARTS: u64 = 256;

/// What is to be brought: the sides of a box of elements, as a transfer has them.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'p> {
    /// The shape of the tensor, row-major.
    pub shape: &'p [u64],
    /// Bytes of an element.
    pub elem_bytes: u64,
    /// Elements along each side.
    pub sizes: &'p [u64],
    /// Elements between neighbours along each side in the tensor.
    pub from: &'p [i64],
    /// The same in the target.
    pub to: &'p [i64],
    /// How the target is swizzled: bits, keep and shift of the numbers of elements.
    pub swizzle: Option<[u32; 3]>,
    /// RTasks that bring it together, each a part of the slowest side in the target; 1 where each brings its own.
    pub shares: u64,
}

/// A transfer as boxes of one shape, dimensions of the tensor the fastest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorBox {
    /// Elements of the tensor along each dimension.
    pub extents: Vec<u64>,
    /// Bytes between neighbours along each dimension but the fastest.
    pub strides: Vec<u64>,
    /// Elements of a box along each dimension.
    pub points: Vec<u64>,
    /// Bytes of an element.
    pub elem_bytes: u64,
    /// Whether the target is swizzled.
    pub is_swizzled: bool,
    /// For each box where it begins, from the first element that is read, and elements to it in the target.
    pub parts: Vec<(Vec<u64>, u64)>,
    /// For each side of the transfer the dimension along which it goes, and elements of a step; `None` for a side of
    /// one point.
    pub sides: Vec<Option<(usize, u64)>>,
    /// Who brings the boxes: with several each those of `parts` behind its share.
    pub share: Share,
}

/// What each of several rTasks brings of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// RTasks that bring a part each, at least 1.
    pub count: u64,
    /// From what one brings to what the next one does: elements along each dimension of the tensor.
    pub at: Vec<u64>,
    /// The same in the target.
    pub place: u64,
}

impl TensorBox {
    /// Reads a transfer by such a move, which so many rTasks bring together where they do.
    ///
    /// # Errors
    /// Why it is not one, as the end of a sentence about the box.
    pub fn of(transfer: &Transfer<'_>, boxes: &Boxes, shares: u64) -> Result<Self, String> {
        let shape = ty::shape(transfer.source.memref.ty()).ok_or("is of no tensor")?;
        let elem = ty::elem(transfer.source.memref.ty()).and_then(ty::byte_size);
        let alloc = transfer.target.memref.def();
        let swizzle = alloc.and_then(|alloc| alloc.attr("swizzle")).and_then(attr::ints);
        let swizzle = swizzle.map(|own| own.iter().map(|bit| *bit as u32).collect::<Vec<_>>());
        let swizzle = match swizzle.map(<[u32; 3]>::try_from) {
            Some(Err(_)) => {
                return Err("goes to a buffer whose swizzle is not [bits, keep, shift]".to_owned());
            }
            Some(Ok(swizzle)) => Some(swizzle),
            None => None,
        };
        let parts = Parts {
            shape: &shape,
            elem_bytes: elem.ok_or("is of elements that are no whole bytes")?,
            sizes: &transfer.sizes,
            from: &transfer.from_strides,
            to: &transfer.to_strides,
            swizzle,
            shares,
        };
        let found = Self::read(&parts, boxes)?;
        let most = |dim: usize| {
            let own = found.parts.iter().map(|(at, _)| at[dim]).max().unwrap_or(0);
            own + (found.share.count - 1) * found.share.at[dim]
        };
        let reach =
            (0..found.points.len()).find(|&dim| most(dim) + found.points[dim] > found.extents[dim]);
        if let Some(dim) = reach.filter(|_| transfer.limits.is_empty()) {
            let (points, extent) = (most(dim) + found.points[dim], found.extents[dim]);
            return Err(format!(
                "has {points} points along a dimension of {extent}, and no limit: the engine writes zeros beyond the end"
            ));
        }
        found.begins_aligned(transfer, boxes)?;
        Ok(found)
    }

    /// The target of a transfer begins where boxes may.
    fn begins_aligned(&self, transfer: &Transfer<'_>, boxes: &Boxes) -> Result<(), String> {
        let align = boxes.align_bytes;
        let alloc = transfer.target.memref.def();
        let offset = alloc.and_then(|alloc| alloc.attr("offset")).and_then(attr::int).unwrap_or(0);
        let shape = ty::shape(transfer.target.memref.ty()).unwrap_or_default();
        let apart = |dim: usize| shape[dim + 1..].iter().product::<u64>() * self.elem_bytes;
        let places = transfer.target.indices.iter().enumerate().map(|(dim, index)| {
            let number = index.def().and_then(|op| op.attr("value")).and_then(attr::int);
            number.map_or(apart(dim), |number| number.unsigned_abs() * apart(dim))
        });
        let all = places.chain([offset.unsigned_abs()]);
        match all.into_iter().find(|bytes| !bytes.is_multiple_of(align)) {
            Some(odd) => {
                Err(format!("may begin {odd} bytes behind its buffer, no multiple of {align}"))
            }
            None => Ok(()),
        }
    }

    /// Reads what moves between a tensor and a target.
    ///
    /// # Errors
    /// Why it is not some boxes of one shape, as the end of a sentence about it.
    pub fn read(moved: &Parts<'_>, boxes: &Boxes) -> Result<Self, String> {
        let &Parts { shape, elem_bytes, sizes, from, shares, .. } = moved;
        if shape.is_empty() || shape.len() as u64 > boxes.dims {
            return Err(format!(
                "is of a tensor of {} dimensions, of 1 to {}",
                shape.len(),
                boxes.dims
            ));
        }
        if let Some(most) = sizes.iter().max().filter(|most| **most > boxes.points) {
            return Err(format!("has {most} points along a side, of {} at most", boxes.points));
        }
        let extents: Vec<u64> = shape.iter().rev().copied().collect();
        if let Some(long) = extents.iter().find(|own| **own > i32::MAX as u64) {
            return Err(format!(
                "is of a tensor of {long} elements along a dimension, of {} at most",
                i32::MAX
            ));
        }
        let apart: Vec<u64> =
            (0..extents.len()).map(|dim| extents[..dim].iter().product()).collect();
        let sides = sizes.iter().zip(from).map(|(&size, &step)| {
            if size == 1 {
                return Ok(None);
            }
            let step = u64::try_from(step).ok().filter(|step| *step > 0);
            let along = step.and_then(|step| {
                let own = apart.iter().rposition(|own| step.is_multiple_of(*own))?;
                Some((own, step / apart[own]))
            });
            along.map(Some).ok_or("has a side along which nothing changes".to_owned())
        });
        let sides = sides.collect::<Result<Vec<_>, String>>()?;
        let mut found = Self {
            strides: apart.iter().skip(1).map(|own| own * elem_bytes).collect(),
            points: vec![1; extents.len()],
            extents,
            elem_bytes,
            is_swizzled: false,
            parts: vec![(Vec::new(), 0)],
            sides,
            share: Share { count: shares, at: Vec::new(), place: 0 },
        };
        found.share.at = vec![0; found.extents.len()];
        found.parts[0].0.clone_from(&found.share.at);
        let own = found.deal(moved)?;
        found.fill(&Parts { sizes: &own, ..*moved })?;
        found.fits(moved.swizzle, boxes)?;
        Ok(found)
    }

    /// The sizes of the part that each of several rTasks brings.
    fn deal(&mut self, moved: &Parts<'_>) -> Result<Vec<u64>, String> {
        let (mut sizes, count) = (moved.sizes.to_vec(), self.share.count);
        if count == 1 {
            return Ok(sizes);
        }
        let all = self.sides.iter().enumerate().filter_map(|(side, own)| Some((side, (*own)?)));
        let slowest = all.max_by_key(|(side, _)| moved.to[*side]);
        let Some((side, (dim, step))) =
            slowest.filter(|(side, _)| sizes[*side].is_multiple_of(count))
        else {
            let points = slowest.map_or(1, |(side, _)| sizes[side]);
            return Err(format!(
                "has {points} points along its slowest side, no multiple of the {count} rTasks that bring it together"
            ));
        };
        sizes[side] /= count;
        self.share.at[dim] = sizes[side] * step;
        self.share.place = sizes[side] * moved.to[side].unsigned_abs();
        Ok(sizes)
    }

    /// Sides that go on where the box so far ends make it larger, others repeat it.
    fn fill(&mut self, moved: &Parts<'_>) -> Result<(), String> {
        let all = self.sides.iter().enumerate().filter_map(|(side, own)| Some((side, (*own)?)));
        let mut order: Vec<(usize, (usize, u64))> = all.collect();
        order.sort_by_key(|(side, _)| moved.to[*side]);
        let (mut dense, mut least) = (1, 0);
        for (side, (dim, step)) in order {
            let (size, to) = (moved.sizes[side], moved.to[side]);
            let to = u64::try_from(to).map_err(|_| "goes backwards in the target".to_owned())?;
            let grows = step == 1 && to == dense && self.parts.len() == 1 && self.points[dim] == 1;
            if grows && dim >= least {
                self.points[dim] = size;
                (dense, least) = (dense * size, dim + 1);
                continue;
            }
            if to < dense {
                return Err("has parts that lie in each other in the target".to_owned());
            }
            if self.parts.len() as u64 * size > MOST_PARTS {
                return Err(format!("is more than {MOST_PARTS} boxes"));
            }
            let before = std::mem::take(&mut self.parts);
            for number in 0..size {
                self.parts.extend(before.iter().map(|(at, place)| {
                    let mut at = at.clone();
                    at[dim] += number * step;
                    (at, place + number * to)
                }));
            }
        }
        Ok(())
    }

    /// What a move can bring.
    fn fits(&mut self, swizzle: Option<[u32; 3]>, boxes: &Boxes) -> Result<(), String> {
        let Boxes { line_bytes, step_bytes, align_bytes, .. } = *boxes;
        let line = self.points[0] * self.elem_bytes;
        let odd = self.strides.iter().chain([&line]).find(|own| !own.is_multiple_of(step_bytes));
        if let Some(odd) = odd {
            return Err(format!("has rows or strides of {odd} bytes, no multiple of {step_bytes}"));
        }
        if let Some(swizzle) = swizzle {
            if !boxes.writes(swizzle, self.elem_bytes) || line != line_bytes {
                return Err(format!(
                    "goes to rows of {line} bytes swizzled by {swizzle:?}, not of {line_bytes} bytes as the move writes them"
                ));
            }
            self.is_swizzled = true;
        }
        let places = self.parts.iter().map(|(_, to)| *to).chain([self.share.place]);
        let mut places = places.map(|to| to * self.elem_bytes);
        if let Some(odd) = places.find(|to| !to.is_multiple_of(align_bytes)) {
            return Err(format!(
                "begins {odd} bytes behind its target, no multiple of {align_bytes}"
            ));
        }
        Ok(())
    }

    /// Bytes of all boxes, with what is beyond the end, and of what all rTasks bring that do so together.
    pub fn bytes(&self) -> u64 {
        let boxes = self.parts.len() as u64 * self.share.count;
        self.points.iter().product::<u64>() * self.elem_bytes * boxes
    }
}
