//! `Scan`: a body for each element along an axis.

use weft_runtime::length::Length;

use super::control::{ROUNDS_FEW, ROUNDS_MAX, too_long};
use super::rolled::Repeated;
use super::structure::Site;
use super::{Bound, Planner};
use crate::error::Result;
use crate::graph::Graph;
use crate::plan::ValueId;

/// A scan along an axis of each of its inputs.
struct Scan<'m> {
    body: &'m Graph,
    /// The number of inputs that are carried from one round to the next.
    carried: usize,
    /// The axis of each other input, and whether it is read from the end.
    reads: Vec<(usize, bool)>,
    /// The axis of each collected output, and whether it is written from the end.
    writes: Vec<(i64, bool)>,
}

/// `Scan`, since version 9.
pub fn scan<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    let ids = tensors(site, 0)?;
    let (body, carried) = parts(site, ids.len())?;
    let node = &site.node;
    let scanned = ids.len() - carried;
    let collected = body.outputs.len() - carried;
    let input_axes = listed(site, "scan_input_axes", scanned)?;
    let axes = input_axes.iter().zip(&ids[carried..]);
    let axes = axes.map(|(&axis, &id)| node.axis(axis, planner.operand(id).rank()));
    let reads = axes.zip(directions(site, "scan_input_directions", scanned)?);
    let reads = reads.map(|(axis, back)| Ok((axis?, back))).collect::<Result<_>>()?;
    let writes = listed(site, "scan_output_axes", collected)?.into_iter();
    let writes = writes.zip(directions(site, "scan_output_directions", collected)?).collect();
    let results = Scan { body, carried, reads, writes }.run(planner, site, &ids)?;
    Ok(results.into_iter().map(Bound::Tensor).collect())
}

/// `Scan` in version 8: every input has a batch in front, and is scanned along the second axis.
pub fn batched<'m>(planner: &mut Planner<'m>, site: &Site<'m>) -> Result<Vec<Bound>> {
    if site.optional(0).is_some() {
        return Err(site
            .node
            .report("has sequences of different lengths")
            .help("no \"sequence_lens\"")
            .unsupported());
    }
    let ids = tensors(site, 1)?;
    let (body, carried) = parts(site, ids.len())?;
    let scanned = ids.len() - carried;
    let backward = directions(site, "directions", scanned)?;
    let reads: Vec<_> = backward.into_iter().map(|back| (0, back)).collect();
    let writes = vec![(0, false); body.outputs.len() - carried];
    let scan = Scan { body, carried, reads, writes };
    let batches = ids.iter().map(|&id| planner.operand(id).dims().first().copied());
    let batches = batches.collect::<Vec<_>>();
    if let Some(flat) = ids[carried..].iter().find(|&&id| planner.operand(id).rank() < 2) {
        let report = site.node.report(format!("scans {}", planner.operand(*flat).ty));
        return Err(report.help("a batch, and elements behind it").invalid());
    }
    let Some(batch) = batches[0].filter(|_| batches.iter().all(|batch| *batch == batches[0]))
    else {
        let report = site.node.report(format!("reads batches of {batches:?}"));
        return Err(report.help("one batch, in front of every input").invalid());
    };
    let mut all = vec![Vec::new(); body.outputs.len()];
    for row in 0..batch {
        let own: Vec<_> = ids.iter().map(|&id| planner.picked(site, id, 0, row)).collect();
        let made = scan.run(planner, site, &own)?;
        all.iter_mut().zip(made).for_each(|(all, one)| all.push(one));
    }
    let joined = all.iter().map(|all| planner.joined(site, all, 0, true).map(Bound::Tensor));
    joined.collect()
}

/// The tensors that are read, from an input on.
fn tensors(site: &Site<'_>, first: usize) -> Result<Vec<ValueId>> {
    (first..first + site.inputs_from(first).len()).map(|at| site.tensor(at, "input")).collect()
}

/// The body, and the number of inputs that are carried through it.
fn parts<'m>(site: &Site<'m>, inputs: usize) -> Result<(&'m Graph, usize)> {
    let body = site.body("body", inputs)?;
    let scanned = site.node.int("num_scan_inputs")?.and_then(|n| usize::try_from(n).ok());
    let carried = scanned.filter(|&n| n > 0).and_then(|scanned| inputs.checked_sub(scanned));
    carried
        .filter(|&carried| carried <= body.outputs.len())
        .map(|carried| (body, carried))
        .ok_or_else(|| {
            site.node
                .report(format!("scans {scanned:?} of its {inputs} inputs"))
                .note(format!("its body makes {}", body.outputs.len()))
                .help("1 or more, and an output of the body for each of the others")
                .invalid()
        })
}

/// A list of one number for each of `count`, by default 0.
fn listed(site: &Site<'_>, name: &str, count: usize) -> Result<Vec<i64>> {
    match site.node.ints(name)? {
        None => Ok(vec![0; count]),
        Some(list) if list.len() == count => Ok(list.to_vec()),
        Some(list) => {
            let report = site.node.report(format!("has {name} {list:?}"));
            Err(report.help(format!("{count} numbers")).invalid())
        }
    }
}

/// Which of `count` go from the end to the start.
fn directions(site: &Site<'_>, name: &str, count: usize) -> Result<Vec<bool>> {
    let list = listed(site, name, count)?;
    let directions = list.iter().map(|&direction| match direction {
        0 | 1 => Ok(direction == 1),
        _ => {
            let report = site.node.report(format!("has {name} {list:?}"));
            Err(report.help("0 or 1 each").invalid())
        }
    });
    directions.collect()
}

impl<'m> Scan<'m> {
    /// The same, repeated when the model runs.
    fn repeated(
        &self,
        planner: &mut Planner<'m>,
        site: &Site<'m>,
        ids: &[ValueId],
        (most, length): (i64, &Option<Length>),
    ) -> Result<Vec<ValueId>> {
        let carried: Vec<_> = ids[..self.carried].iter().map(|&id| Bound::Tensor(id)).collect();
        let reads = ids[self.carried..].iter().zip(&self.reads);
        let reads: Vec<_> = reads.map(|(&id, &(axis, back))| (id, axis, back)).collect();
        let own = Repeated {
            body: self.body,
            rounds: Some(length.clone().unwrap_or_else(|| Length::number(most))),
            most,
            condition: None,
            carried: &carried,
            reads: &reads,
            writes: &self.writes,
        };
        let results = planner.repeat(site, &own)?;
        let tensor = |one: Bound| match one {
            Bound::Tensor(id) => Ok(id),
            other => Err(site.wrong_kind("state", &other, "a tensor")),
        };
        results.into_iter().map(tensor).collect()
    }

    /// The values that are carried out of the last round, and what was collected.
    fn run(
        &self,
        planner: &mut Planner<'m>,
        site: &Site<'m>,
        ids: &[ValueId],
    ) -> Result<Vec<ValueId>> {
        let scanned = &ids[self.carried..];
        let extents = scanned.iter().zip(&self.reads);
        let extents: Vec<_> =
            extents.map(|(&id, (axis, _))| planner.operand(id).dims()[*axis]).collect();
        let length = extents[0];
        if extents.iter().any(|&extent| extent != length) {
            let report = site.node.report(format!("scans {extents:?} elements"));
            return Err(report.help("as many of every input").invalid());
        }
        let lengths = scanned.iter().zip(&self.reads);
        let mut lengths =
            lengths.map(|(&id, (axis, _))| planner.operand(id).length(*axis).cloned());
        let first = lengths.next().flatten();
        if let Some(other) = lengths.find(|other| *other != first) {
            let text =
                |own: Option<Length>| own.unwrap_or_else(|| Length::number(length)).to_string();
            let report =
                site.node.report(format!("scans {} elements, and {}", text(first), text(other)));
            return Err(report.help("as many of every input").unsupported());
        }
        let few = length <= ROUNDS_FEW as i64 && first.is_none();
        if !planner.unrolls && !few {
            let repeated =
                planner.attempt(|planner| self.repeated(planner, site, ids, (length, &first)));
            match repeated {
                Err(_) if first.is_none() && length <= ROUNDS_MAX as i64 => {}
                repeated => return repeated,
            }
        }
        if length > ROUNDS_MAX as i64 {
            return Err(too_long(site));
        }
        if length == 0 {
            return Err(site.node.report("scans nothing").help("an element").unsupported());
        }
        let mut carried: Vec<_> = ids[..self.carried].iter().map(|&id| Bound::Tensor(id)).collect();
        let mut collected = vec![Vec::new(); self.writes.len()];
        for round in 0..length {
            let read = scanned.iter().zip(&self.reads).map(|(&id, &(axis, back))| {
                let at = if back { length - 1 - round } else { round };
                Bound::Tensor(planner.picked(site, id, axis, at))
            });
            let read: Vec<_> = read.collect();
            let place = format!("{}/{round}", site.name);
            let made = planner.run_body(self.body, &place, carried.drain(..).chain(read))?;
            let mut made = made.into_iter();
            carried = made.by_ref().take(self.carried).collect();
            collected.iter_mut().zip(made).for_each(|(all, one)| all.push(one));
        }
        let mut results = Vec::new();
        for one in carried {
            match one {
                Bound::Tensor(id) => results.push(id),
                other => return Err(site.wrong_kind("state", &other, "a tensor")),
            }
        }
        for (all, &(axis, back)) in collected.iter_mut().zip(&self.writes) {
            if back {
                all.reverse();
            }
            let rank = match all[0] {
                Bound::Tensor(id) => planner.operand(id).rank() + 1,
                _ => 1,
            };
            let axis = site.node.axis(axis, rank)?;
            results.push(planner.stacked(site, all, axis)?);
        }
        Ok(results)
    }
}
