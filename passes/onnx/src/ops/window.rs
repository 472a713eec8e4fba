//! Windows that slide over the last dimensions of a tensor: what Conv and the pools share.

use weft_dialects::graph::Dims;
use weft_dialects::ir::Linear;
use weft_runtime::length::Length;

use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand};
use crate::payload::{Build, Tensor};
use crate::types::Shape;

/// One window per element of the result; one number per dimension that it slides along.
#[derive(Debug, Clone)]
pub struct Window {
    /// The extents of the tensor.
    pub input: Vec<i64>,
    /// The extents of the window.
    pub kernel: Vec<i64>,
    /// The step from one window to the next.
    pub strides: Vec<i64>,
    /// The step from one element of a window to the next.
    pub dilations: Vec<i64>,
    /// The border before the tensor.
    pub before: Vec<i64>,
    /// The border after the tensor, as declared.
    pub after: Vec<i64>,
    /// The border after the tensor that the last window needs.
    pub reach: Vec<i64>,
    /// The number of windows.
    pub output: Vec<i64>,
}

impl Window {
    /// Reads the attributes that describe a window over `x`, whose first two dimensions it leaves
    /// alone; `kernel` is the extent where another operand decides it.
    pub fn of(node: &Node<'_>, x: &Operand, kernel: Option<&[i64]>, ceil: bool) -> Result<Self> {
        if x.rank() < 3 {
            return Err(node
                .report(format!("slides a window over {}", x.ty))
                .help("batch, channels and at least one more dimension")
                .invalid());
        }
        let input = x.dims()[2..].to_vec();
        let rank = input.len();
        let kernel = extents(node, x, kernel)?;
        let strides = list(node, x, "strides", rank, 1)?;
        let dilations = list(node, x, "dilations", rank, 1)?;
        let auto = node.string("auto_pad", "NOTSET")?;
        let pads = match auto {
            "NOTSET" | "" => list(node, x, "pads", 2 * rank, 0)?,
            _ => vec![0; 2 * rank],
        };
        let (mut before, mut after) = (pads[..rank].to_vec(), pads[rank..].to_vec());
        let (mut output, mut reach) = (vec![0; rank], vec![0; rank]);
        for d in 0..rank {
            let (extent, stride) = (input[d], strides[d]);
            let span = (kernel[d] - 1) * dilations[d] + 1;
            match auto {
                "SAME_UPPER" | "SAME_LOWER" => {
                    let count = (extent + stride - 1) / stride;
                    let border = ((count - 1).max(0) * stride + span - extent).max(0);
                    let small = border / 2;
                    let upper = auto == "SAME_UPPER";
                    before[d] = if upper { small } else { border - small };
                    after[d] = border - before[d];
                }
                "NOTSET" | "" | "VALID" => {}
                other => {
                    return Err(node
                        .report(format!("has auto_pad {other:?}"))
                        .help("NOTSET, SAME_UPPER, SAME_LOWER or VALID")
                        .invalid());
                }
            }
            let room = before[d] + extent + after[d] - span;
            // Rounding up, one window may reach beyond the border by less than a step.
            if room < 0 && !(ceil && room > -stride) {
                return Err(node
                    .report(format!("has a window of {span} along dimension {}", d + 2))
                    .note(format!("the tensor has {extent} there, with its border {}", room + span))
                    .help("a window that fits")
                    .invalid());
            }
            let mut count = if ceil { (room + stride - 1) / stride } else { room / stride } + 1;
            // A window that begins in the border after the tensor sees nothing of it.
            if ceil && (count - 1) * stride >= extent + before[d] {
                count -= 1;
            }
            output[d] = count;
            let end = (count - 1) * stride + span;
            reach[d] = (end - before[d] - extent).max(0);
        }
        let window = Self { input, kernel, strides, dilations, before, after, reach, output };
        node.ty(x.element(), [&x.dims()[..2], &window.padded()].concat())?;
        Ok(window)
    }

    /// The number of dimensions it slides along.
    pub fn rank(&self) -> usize {
        self.input.len()
    }

    /// The extents of the tensor within the border that windows see.
    fn padded(&self) -> Vec<i64> {
        (0..self.rank()).map(|d| self.before[d] + self.input[d] + self.reach[d]).collect()
    }

    /// The tensor within a border of `value`; the first `rank - self.rank()` dimensions have none.
    pub fn pad<'c>(&self, b: &mut Build<'_, 'c>, x: &Tensor<'c>, value: Scalar) -> Tensor<'c> {
        let lead = vec![0; x.dims().len() - self.rank()];
        let before = [&lead[..], &self.before].concat();
        let after = [&lead[..], &self.reach].concat();
        b.pad(x, &before, &after, value)
    }

    /// The same where `ends` says that lengths end it: there is a border of no elements, too, for `value` goes on
    /// behind the end.
    pub fn pad_to_ends<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        x: &Tensor<'c>,
        (value, ends): (Scalar, bool),
    ) -> Tensor<'c> {
        if !ends {
            return self.pad(b, x, value);
        }
        let lead = x.dims().len() - self.rank();
        let dims = [&x.dims()[..lead], &self.padded()].concat();
        let around = b.fill(x.element(), &dims, value);
        let before = [&vec![0; lead][..], &self.before].concat();
        b.insert(x, &around, &before, &vec![1; dims.len()])
    }

    /// The lengths of a result of so many leading dimensions, where `x` has some along the window; `None` where it has
    /// none there, or the border follows from them.
    pub fn lengths(
        &self,
        node: &Node<'_>,
        x: &Operand,
        lead: &[Option<Length>],
    ) -> Result<Option<Dims>> {
        let first = x.rank() - self.rank();
        let limited = (0..self.rank()).filter(|&d| x.length(first + d).is_some());
        let limited: Vec<usize> = limited.collect();
        let same = node.string("auto_pad", "NOTSET")?.starts_with("SAME");
        let follows = same && limited.iter().any(|&d| self.strides[d] > 1);
        if limited.is_empty() || follows || node.flag("ceil_mode", false)? {
            return Ok(None);
        }
        let along = (0..self.rank()).map(|d| {
            let length = x.length(first + d)?;
            let span = self.dilations[d] * (self.kernel[d] - 1) + 1;
            let room = length.plus(&Length::number(self.before[d] + self.after[d] - span), 1);
            Some(room.floor_div(self.strides[d]).plus(&Length::number(1), 1))
        });
        Ok(Some(lead.iter().cloned().chain(along).collect()))
    }

    /// The dimensions along which the window has more than one element.
    pub fn wide(&self) -> Vec<usize> {
        (0..self.rank()).filter(|&d| self.kernel[d] > 1).collect()
    }

    /// Returns the indices that a window reads: for each dimension, `output axis · stride + kernel
    /// axis · dilation`.
    ///
    /// Output axes begin at `output`; the axes of [`Window::wide`] begin at `kernel`.
    pub fn indices(&self, axes: usize, output: usize, kernel: usize) -> Vec<Linear> {
        let wide = self.wide();
        (0..self.rank())
            .map(|d| {
                let start = Linear::constant(axes, 0).plus(output + d, self.strides[d]);
                match wide.iter().position(|&w| w == d) {
                    Some(at) => start.plus(kernel + at, self.dilations[d]),
                    None => start,
                }
            })
            .collect()
    }
}

/// An attribute of `count` numbers, none below `least`, which is the default of each.
fn list(node: &Node<'_>, x: &Operand, name: &str, count: usize, least: i64) -> Result<Vec<i64>> {
    let Some(list) = node.ints(name)? else {
        return Ok(vec![least; count]);
    };
    // Far beyond any tensor, and sums of a few products still fit.
    let fits = |&n: &i64| (least..=i32::MAX.into()).contains(&n);
    if list.len() != count || !list.iter().all(fits) {
        return Err(node
            .report(format!("has {name} {list:?}"))
            .help(format!("{count} numbers for the shape {}, from {least}", x.ty))
            .invalid());
    }
    Ok(list.to_vec())
}

/// The extents of a window over `x`; those of `kernel` where another operand decides them.
fn extents(node: &Node<'_>, x: &Operand, kernel: Option<&[i64]>) -> Result<Vec<i64>> {
    let rank = x.rank() - 2;
    let declared = node.ints("kernel_shape")?;
    let kernel = match (declared, kernel) {
        (Some(declared), Some(kernel)) if declared != kernel => {
            return Err(node
                .report(format!("has kernel_shape {}", Shape(declared)))
                .note(format!("its weights have {}", Shape(kernel)))
                .invalid());
        }
        (_, Some(kernel)) => kernel.to_vec(),
        (Some(_), None) => list(node, x, "kernel_shape", rank, 1)?,
        (None, None) => return Err(node.invalid("lacks the attribute \"kernel_shape\"")),
    };
    if kernel.len() != rank || kernel.iter().any(|&k| !(1..=i32::MAX.into()).contains(&k)) {
        return Err(node
            .report(format!("has a window of {} over {}", Shape(&kernel), x.ty))
            .help(format!("{rank} numbers, from 1"))
            .invalid());
    }
    Ok(kernel)
}
