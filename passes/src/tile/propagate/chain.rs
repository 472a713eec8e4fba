//! Kernels that hand tensors to each other, and the dimensions in which they do.

use weft_dialects::ir::Linear;

use crate::nest::{Access, Border, Nest};

/// Kernels that hand tensors to each other, each before those that read it; the last one's
/// tile is the group's.
#[derive(Clone)]
pub struct Chain<'n, 'c> {
    /// The nests of the members, one output each.
    pub nests: Vec<&'n Nest<'c>>,
    /// For each tensor that is handed over, its maker and reader.
    pub links: Vec<Link>,
    /// For each member the dimensions in which what it makes is handed over.
    pub handed: Vec<Vec<u64>>,
    /// For each member a number of the tensor behind each of its reads, where that is known.
    pub tensors: Vec<Vec<usize>>,
}

/// A read of what another member makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The member that reads.
    pub reader: usize,
    /// Which of its [`Nest::reads`].
    pub read: usize,
    /// The member whose output it is.
    pub maker: usize,
}

/// Links between nests, by the tensors of their accesses: which reads what another makes.
pub fn links(nests: &[&Nest<'_>]) -> Vec<Link> {
    let mut found = Vec::new();
    for (reader, nest) in nests.iter().enumerate() {
        for (read, access) in nest.reads().into_iter().enumerate() {
            let makes = |nest: &&Nest<'_>| nest.outputs[0].argument() == access.argument();
            let maker = nests[..reader].iter().rposition(makes);
            found.extend(maker.map(|maker| Link { reader, read, maker }));
        }
    }
    found
}

impl<'n, 'c> Chain<'n, 'c> {
    /// Members and who reads what they make.
    pub fn new(nests: Vec<&'n Nest<'c>>, links: Vec<Link>) -> Self {
        let handed = (0..nests.len())
            .map(|maker| {
                let mut ends = ends(&nests[maker].outputs[0].shape);
                for link in links.iter().filter(|link| link.maker == maker) {
                    let seen = self::ends(&nests[link.reader].reads()[link.read].shape_in_memory());
                    ends.retain(|end| seen.contains(end));
                }
                ends.windows(2).map(|pair| pair[0] / pair[1].max(1)).collect()
            })
            .collect();
        Self { nests, links, handed, tensors: Vec::new() }
    }

    /// An access to what `maker` makes, in the dimensions in which it is handed over.
    pub fn merged(&self, maker: usize, access: &Access<'c>) -> Vec<Linear> {
        merged(access, &self.handed[maker])
    }

    /// The link by which `maker`'s tensor is read past its ends in other dimensions than it is handed over
    /// in: in the shared memory there is no plane of it to lay out.
    pub fn hides_border(&self, maker: usize) -> Option<Link> {
        let dims =
            |shape: &[u64]| shape.iter().copied().filter(|&dim| dim != 1).collect::<Vec<_>>();
        let hides = |link: &&Link| {
            let read = self.nests[link.reader].reads()[link.read];
            let own = dims(&read.shape_in_memory());
            link.maker == maker && Border::of(read).is_some() && own != dims(&self.handed[maker])
        };
        self.links.iter().find(hides).copied()
    }

    /// Returns whether some member reads what `member` makes.
    pub fn is_read(&self, member: usize) -> bool {
        self.links.iter().any(|link| link.maker == member)
    }
}

/// Elements behind which a dimension begins, from all of them to one.
fn ends(shape: &[u64]) -> Vec<u64> {
    let mut ends = vec![1];
    for size in shape.iter().rev().filter(|&&size| size != 1) {
        ends.push(ends[ends.len() - 1] * size);
    }
    ends.reverse();
    ends
}

/// The dimensions of `shape` that are merged to each of `handed`: which, and the elements of
/// the merged one between neighbours.
pub fn groups(shape: &[u64], handed: &[u64]) -> Vec<Vec<(usize, u64)>> {
    let mut found = vec![Vec::new(); handed.len()];
    let mut dim = shape.len();
    for (group, &size) in found.iter_mut().zip(handed).rev() {
        let mut step = 1;
        while dim > 0 && step < size {
            dim -= 1;
            if shape[dim] != 1 {
                group.insert(0, (dim, step));
                step *= shape[dim];
            }
        }
    }
    found
}

/// Index of an access in its tensor, seen in the dimensions `handed`.
pub fn merged(access: &Access<'_>, handed: &[u64]) -> Vec<Linear> {
    let index = access.index_in_memory();
    let axes = index.first().map_or(0, |index| index.coefficients.len());
    let merge = |dims: Vec<(usize, u64)>| {
        let none = Linear::constant(axes, 0);
        dims.into_iter()
            .fold(none, |sum, (dim, step)| sum.add(&index[dim].clone().scale(step as i64)))
    };
    groups(&access.shape_in_memory(), handed).into_iter().map(merge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_merged() {
        assert_eq!(ends(&[12, 1, 128]), [1536, 128, 1]);
        assert_eq!(
            groups(&[12, 128, 4, 32], &[1536, 128]),
            [vec![(0, 128), (1, 1)], vec![(2, 32), (3, 1)]]
        );
    }
}
