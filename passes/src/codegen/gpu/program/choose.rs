//! Which launches of a program become one kernel each, and how: from the machine's facts.

use std::collections::HashMap;
use std::ops::Range;

use weft_dialects::device::{Kernel, Machine, Memory, Scope};
use weft_dialects::ir::{Op, ty};
use weft_dialects::task::Program;
use weft_runtime::gpu::calls;
use weft_runtime::plan::Plan;

use super::super::{Descriptor, Isa, Launch, shared};
use super::table::{self, Table};
use super::{Body, Form, How};
use crate::remarks::{Refused, chosen};

/// The decision about one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The kernel, where it is one.
    pub form: Option<Form>,
    /// Why, for people.
    pub why: String,
    /// True if a kernel was wanted and the machine's facts do not allow it.
    pub refused: bool,
}

/// One choice for each launch of a program whose `plan` this is.
pub fn choose<'c>(
    module: Op<'c>,
    machine: Machine<'c>,
    isa: Isa,
    program: &Program<'c>,
    plan: &Plan,
    how: How,
) -> Vec<Choice> {
    let kernels: Vec<Kernel<'c>> = module
        .body(0)
        .map_or_else(Vec::new, |block| block.ops().into_iter().filter_map(Kernel::of).collect());
    let cycles: Vec<u64> = program.ranges().iter().map(|range| range.cycles.unwrap_or(0)).collect();
    let mut borders: Vec<usize> = plan.launches.iter().map(|&step| step as usize).collect();
    borders.insert(0, 0);
    borders.push(plan.steps.len());
    let launches = borders.windows(2).map(|pair| pair[0]..pair[1]).enumerate();
    let calls = calls(plan).into_iter().map(|call| call.first..call.last).collect();
    let chooser = Chooser { machine, isa, program, plan, calls, kernels, cycles, how };
    launches.map(|(number, steps)| chooser.launch(number, steps)).collect()
}

struct Chooser<'a, 'c> {
    machine: Machine<'c>,
    isa: Isa,
    program: &'a Program<'c>,
    plan: &'a Plan,
    /// Steps that are one launch of a kernel.
    calls: Vec<Range<usize>>,
    kernels: Vec<Kernel<'c>>,
    /// Estimated, of each step.
    cycles: Vec<u64>,
    how: How,
}

impl<'c> Chooser<'_, 'c> {
    fn launch(&self, number: usize, steps: Range<usize>) -> Choice {
        let apart = |why: Refused, refused| Choice {
            form: None,
            why: format!("launch {number} is kernel by kernel: {why}"),
            refused,
        };
        if self.how == How::Launches {
            return apart(Refused::by("asked", "that is what was asked for"), false);
        }
        let begin = self.calls.partition_point(|call| call.start < steps.start);
        let end = self.calls.partition_point(|call| call.start < steps.end);
        let calls = &self.calls[begin..end];
        if calls.len() < 2 {
            return apart(Refused::by("calls", "it is one kernel's"), false);
        }
        let form = match self.form(number, steps.clone()) {
            Ok(form) => form,
            Err(why) => return apart(why, true),
        };
        let unit = self.machine.unit(self.program.unit);
        let facts =
            unit.as_ref().and_then(|unit| Some((unit.launch_cycles()?, unit.wait_cycles())));
        let Some((launch_cycles, wait_cycles)) = facts.filter(|_| self.how == How::Auto) else {
            if self.how == How::One {
                let why = format!("launch {number} is one kernel, as was asked for");
                return Choice { form: Some(form), why, refused: false };
            }
            let what = format!("@{} does not say its `launch_cycles`", self.program.unit);
            return apart(Refused::by("launch-cycles", what), false);
        };
        // Cycles are those of a unit that interleaves several groups of lanes, so that what
        // each waits for passes unseen. A block may be fewer.
        let lanes = self.machine.memories().iter().find_map(|memory| memory.lanes()).unwrap_or(1);
        let groups = (form.threads / lanes.max(1)).max(1);
        let at_once = unit.as_ref().map_or(1, |unit| unit.groups());
        let slower = (at_once as f64 / groups as f64).max(1.0);
        let one = launch_cycles + self.one(steps, wait_cycles, slower);
        let alone = |call: &Range<usize>| launch_cycles + self.one(call.clone(), 0, 1.0);
        let many: u64 = calls.iter().map(alone).sum();
        let count = calls.len();
        if one < many {
            let second = format!("{count} launches");
            let told = chosen("one kernel", one as f64, Some((&second, many as f64)));
            let why = format!("launch {number} is {told}");
            return Choice { form: Some(form), why, refused: false };
        }
        let why = Refused::by("cycles", "one kernel takes no less");
        apart(why.met(format!("{one} cycles, {many} in {count} launches")), false)
    }

    /// Estimated cycles of steps that run in the order of their units and of their waits, each so
    /// many times as long as alone.
    fn one(&self, steps: Range<usize>, wait_cycles: u64, slower: f64) -> u64 {
        let mut free = vec![0u64; self.plan.units as usize];
        let mut done: Vec<u64> = Vec::with_capacity(steps.len());
        for number in steps.clone() {
            let step = &self.plan.steps[number];
            let waits = step.waits.iter().filter_map(|&wait| {
                let at = (wait as usize).checked_sub(steps.start)?;
                Some(done[at].saturating_add(wait_cycles))
            });
            let unit = step.unit as usize;
            let start = waits.max().unwrap_or(0).max(free[unit]);
            let cycles = self.cycles.get(number).copied().unwrap_or(0) as f64 * slower;
            free[unit] = start.saturating_add(cycles.ceil() as u64);
            done.push(free[unit]);
        }
        free.into_iter().max().unwrap_or(0)
    }

    /// The launch as one kernel, or the two facts that disagree.
    fn form(&self, number: usize, steps: Range<usize>) -> Result<Form, Refused> {
        let plan = self.plan;
        let mut bodies: Vec<Body> = Vec::new();
        let mut code: Vec<Kernel<'c>> = Vec::new();
        let mut of_kernel: Vec<Option<usize>> = vec![None; plan.kernels.len()];
        let mut of_text: HashMap<String, usize> = HashMap::new();
        for step in &plan.steps[steps.clone()] {
            let slot = step.kernel as usize;
            if of_kernel[slot].is_some() {
                continue;
            }
            let name = plan.kernels[slot].symbol.as_str();
            let kernel = self.kernels.iter().find(|kernel| kernel.name == name);
            let kernel = kernel.ok_or_else(|| {
                let why = format!("@{name} is no device.kernel");
                Refused::by("kernel", why)
            })?;
            let body = *of_text.entry(text(kernel)).or_insert(bodies.len());
            of_kernel[slot] = Some(body);
            if body == bodies.len() {
                let launch = Launch::of(self.machine, kernel).ok_or_else(|| {
                    let why = format!("@{name} works in no registers that have lanes");
                    Refused::by("lanes", why)
                })?;
                if !Descriptor::all(self.machine, kernel).is_empty() {
                    let why = format!(
                        "@{name} has descriptors of tensors, which are parameters of a launch"
                    );
                    return Err(Refused::by("boxes", why));
                }
                if kernel.cluster.is_some() {
                    let why =
                        format!("@{name} runs rTasks in clusters, which are those of a launch");
                    return Err(Refused::by("clusters", why));
                }
                if kernel.bands.is_some() {
                    let why =
                        format!("@{name} begins rTasks in bands, which are those of a launch");
                    return Err(Refused::by("bands", why));
                }
                bodies.push(Body { kernel: name.to_owned(), launch });
                code.push(kernel.clone());
            }
        }
        let threads = bodies.iter().map(|body| body.launch.threads).max().unwrap_or(1);
        for (body, kernel) in bodies.iter_mut().zip(&code) {
            body.launch = body.launch.inside(threads, kernel);
            let narrow = body.launch.threads < threads && waits_for_block(kernel);
            if narrow && !self.isa.has_barriers_of_parts() {
                let (name, own) = (kernel.name, body.launch.threads);
                let why = format!(
                    "@{name} has barriers of {own} threads in blocks of {threads}, and barriers of {} are of whole blocks",
                    self.isa.form()
                );
                return Err(Refused::by("barriers", why));
            }
        }
        let table = Table::of(plan, steps.clone(), &of_kernel);
        let blocks = table.units as u64;
        let shared_bytes =
            code.iter().map(|kernel| shared::needed(self.machine, kernel)).max().unwrap_or(0);
        let asks = self.fits_unit(blocks, shared_bytes, &code)?;
        let registers = self.registers(threads, &code)?;
        Ok(Form {
            symbol: format!("{}${number}", self.program.name),
            steps,
            blocks,
            threads,
            registers,
            shared_bytes,
            asks,
            bases: table::bases(plan),
            bodies,
            table,
        })
    }

    /// A block for each unit, and its shared memory in it; whether it has to ask for that.
    fn fits_unit(&self, blocks: u64, bytes: u64, code: &[Kernel<'c>]) -> Result<bool, Refused> {
        let name = self.program.unit;
        let count = self.machine.unit(name).map_or(0, |unit| unit.count());
        if blocks > count {
            let why = format!("{blocks} blocks wait for each other, and there are {count} @{name}");
            return Err(Refused::by("blocks", why));
        }
        let memories = code.iter().filter_map(|kernel| shared::memory(self.machine, kernel));
        match memories.min_by_key(Memory::capacity_bytes) {
            Some(memory) if memory.capacity_bytes() < bytes => {
                let (name, most) = (memory.name, memory.capacity_bytes());
                let why =
                    format!("a block shares {bytes} bytes, and of @{name} it may have {most}");
                Err(Refused::by("shared", why))
            }
            memory => Ok(memory.is_some_and(|memory| memory.asks_for(bytes))),
        }
    }

    /// Returns the registers that each thread of a block may have so that the block fits a unit.
    fn registers(&self, threads: u64, code: &[Kernel<'c>]) -> Result<u64, Refused> {
        let files: Vec<Memory<'c>> = self.machine.memories();
        let files: Vec<_> = files.into_iter().filter(|memory| memory.lanes().is_some()).collect();
        let core = files.iter().find_map(|memory| Some((memory.name, memory.core_bytes()?)));
        let Some((file, core_bytes)) = core else {
            let why = "the machine does not say what the registers of a unit hold together \
                       (`core_bytes`)";
            return Err(Refused::by("core-bytes", why));
        };
        let own =
            |memory: &Memory<'_>| Some(memory.capacity_bytes() / memory.lanes()? / WORD_BYTES);
        let most = files.iter().filter_map(own).min().unwrap_or(u64::MAX);
        // They are given out in eights.
        let fair = core_bytes / threads / WORD_BYTES / 8 * 8;
        let given = most.min(fair);
        for kernel in code {
            let held = held_words(self.machine, kernel);
            if held > given {
                let why = format!(
                    "@{} holds {held} words a thread, and {threads} threads have {given} each of @{file}",
                    kernel.name
                );
                return Err(Refused::by("registers", why));
            }
        }
        Ok(given)
    }
}

const WORD_BYTES: u64 = 4;

/// Words that a thread holds in the registers that the kernel asks for.
fn held_words<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> u64 {
    let lanes = kernel.registers(machine).and_then(|memory| memory.lanes()).unwrap_or(1);
    let mut bytes = 0;
    kernel.op.walk(&mut |op| {
        if op.is("device.alloc") {
            let ty = op.result(0).ty();
            if machine.memory_of(ty).is_some_and(|memory| memory.lanes().is_some()) {
                let size = ty::elem(ty).and_then(ty::byte_size).unwrap_or(1);
                bytes += ty::count(ty).unwrap_or(1) * size;
            }
        }
    });
    bytes.div_ceil(lanes * WORD_BYTES)
}

/// Returns whether threads of several warps wait for each other in a kernel.
fn waits_for_block(kernel: &Kernel<'_>) -> bool {
    let mut found = kernel.groups > 1;
    kernel.op.walk(&mut |op| {
        found |= Scope::of_barrier(op).is_some_and(|scope| scope > Scope::Warp);
    });
    found
}

/// A kernel without its name: equal ones do the same.
fn text(kernel: &Kernel<'_>) -> String {
    kernel.op.own_text().replacen(&format!("@{}", kernel.name), "@", 1)
}
