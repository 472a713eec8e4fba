//! Write each launch of a task program as one kernel whose blocks are the units.
//!
//! ```text
//! task.program @p on @sm units 3 {           func.func @p$0(%epoch, %counters, %bases)
//!   %a = task.range "a" @k[0 to 4] on 0   ->   for step in table.steps_of(block):
//!   %b = task.range "a" @k[4 to 8] on 1          wait until the counters that the step names are there
//!   task.range "b" @l[0 to 2] on 0 after(%b)     switch step.kernel { 0: call @p$0.k, 1: call @p$0.l }
//! }                                              barrier; counters[block] = %epoch + step.number
//! ```
//!
//! Rammer's persistent blocks (OSDI'20, section 4), with one loop over a table instead of an arm of
//! code for each unit: what differs between units is numbers, so code grows with the distinct kernels
//! and not with the ranges, of which large models have tens of thousands. `docs/rationale/gpu.md`
//! has the design and its alternatives.

mod choose;
mod entry;
pub mod table;
mod whole_launches;

use std::ops::Range;

use weft_dialects::device::{Kernel, Machine};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Builder, Context, Diagnostics, Mapping, Op, Report, remark};
use weft_dialects::task::Program;

pub use choose::{Choice, choose};
use table::Table;
pub use whole_launches::{CutLaunch, whole_launches};

use super::function::{Lowering, Role};
use super::{Isa, Launch, lower, shared};
use crate::task::plan;

/// See the module.
pub const PASS: Pass = Pass {
    name: "task-lower-to-blocks",
    description: "Write each launch of a task program as one kernel whose blocks are the units",
    options: &[
        PassOption {
            name: "form",
            description: "one kernel for each launch, launches of every kernel, or auto, the \
                          shorter by estimate",
            fallback: "auto",
        },
        PassOption {
            name: "remarks",
            description: "say what each launch became, and why",
            fallback: "false",
        },
    ],
    statistics: &[
        ("programs", "launches that are one kernel"),
        ("functions", "functions that they call, one for each distinct kernel"),
        ("units", "units that they run on"),
        ("arms", "different lists of kernels and operands that units have"),
    ],
    run,
};

/// The form that a launch is asked to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// Whichever is estimated to be shorter.
    #[default]
    Auto,
    /// One kernel.
    One,
    /// A launch of each kernel.
    Launches,
}

impl How {
    /// The words of the option.
    pub const WORDS: [(&str, Self); 3] =
        [("auto", Self::Auto), ("one", Self::One), ("launches", Self::Launches)];

    /// Parses the option's text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(word, _)| *word == text).map(|(_, how)| *how)
    }
}

/// One launch of a program as one kernel, in plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The entry's symbol.
    pub symbol: String,
    /// The steps of the plan that it runs.
    pub steps: Range<usize>,
    /// Blocks: units, up to the last one with work.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u64,
    /// Registers that a thread may have.
    pub registers: u64,
    /// Bytes that a block shares.
    pub shared_bytes: u64,
    /// True if it has to ask for them.
    pub asks: bool,
    /// Addresses that buffers are counted from.
    pub bases: u64,
    /// The functions that steps call, one for each distinct kernel.
    pub bodies: Vec<Body>,
    /// The steps of each block.
    pub table: Table,
}

/// A kernel that an entry calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its name.
    pub kernel: String,
    /// The threads of a block that take part, and how many rTasks they do at once.
    pub launch: Launch,
}

impl Form {
    /// Returns the comment at the head of the code: which steps it runs, and how it is launched.
    pub fn head(&self) -> String {
        let Self { symbol, steps, threads, blocks, .. } = self;
        let (first, end) = (steps.start, steps.end);
        let shared = super::shared_words(if self.asks { self.shared_bytes } else { 0 });
        format!(
            "// program {symbol} steps {first} {end} threads {threads} blocks {blocks}{shared}\n"
        )
    }

    /// The symbol of the table.
    pub fn table_symbol(&self) -> String {
        format!("{}$table", self.symbol)
    }

    /// The symbol of the function of a body.
    pub fn function(&self, body: &Body) -> String {
        format!("{}.{}", self.symbol, body.kernel)
    }
}

impl Launch {
    /// Returns the launch of a kernel within blocks of an entry that have more threads.
    fn inside(self, threads: u64, kernel: &Kernel<'_>) -> Self {
        if self.groups == 1 || kernel.groups > 1 {
            return self;
        }
        // Groups that need nothing of each other: as many as there are.
        let lanes = self.threads / self.groups;
        Self { threads: threads / lanes * lanes, groups: threads / lanes, ..self }
    }
}

/// The facts of the entry that a called kernel needs.
pub struct Caller<'a> {
    /// The function's symbol.
    pub function: &'a str,
    /// Threads of a block.
    pub threads: u64,
    /// The buffer that a block shares.
    pub shared: &'a str,
    /// Its size.
    pub shared_bytes: u64,
    /// True if the launch asks for it.
    pub asks: bool,
    /// True if the kernel has tiles there.
    pub shares: bool,
}

impl Caller<'_> {
    /// The threads that meet at a barrier of a kernel, where those are not the whole block.
    pub fn part(&self, launch: Launch) -> Option<u64> {
        (launch.threads < self.threads).then_some(launch.threads)
    }
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let (how, said) = (run.word("form", &How::WORDS)?, run.flag("remarks")?);
    let ops = run.module.body(0).ok_or(Failed)?.ops();
    let Some(program) = ops.into_iter().find_map(Program::of) else { return Ok(()) };
    let machine = run.machine()?;
    let Some(isa) = Isa::of_arch(machine.arch()) else {
        let what = format!("no blocks on the architecture {:?}", machine.arch());
        Report::new(program.op.location(), what)
            .help("`sm_` and `gfx` begin the names of those that have them");
        return Err(Failed);
    };
    let planned = plan(&program, machine).map_err(|error| {
        Report::new(program.op.location(), error.to_string());
        Failed
    })?;
    whole_launches(run.module, &planned.plan).map_err(|error| {
        Report::new(program.op.location(), error.to_string()).help(CutLaunch::HELP);
        Failed
    })?;
    for choice in choose(run.module, machine, isa, &program, &planned.plan, how) {
        if said || choice.refused {
            remark(program.op, &choice.why);
        }
        let Some(form) = choice.form else { continue };
        write(run.context, run.module, machine, &form)?;
        run.count("programs", 1);
        run.count("functions", form.bodies.len() as u64);
        run.count("units", form.blocks);
        run.count("arms", form.table.arms as u64);
    }
    Ok(())
}

/// Writes an entry, its table and the functions that it calls, from the module's kernels, which
/// stay.
///
/// # Errors
/// Reported: a kernel that has no form in code for threads.
pub fn write<'c>(
    context: &'c Context,
    module: Op<'c>,
    machine: Machine<'c>,
    form: &Form,
) -> Result<(), Failed> {
    let mut diag = Diagnostics::new();
    let isa = Isa::of_arch(machine.arch()).ok_or(Failed)?;
    let buffer = format!("{}$shared", form.symbol);
    let mut types = Vec::new();
    for body in &form.bodies {
        let ops = module.body(0).ok_or(Failed)?.ops();
        let kernel = ops.into_iter().filter_map(Kernel::of).find(|own| own.name == body.kernel);
        let kernel = kernel.ok_or(Failed)?;
        let file = kernel.registers(machine).ok_or(Failed)?;
        types.push(kernel.args().iter().map(|arg| arg.ty()).collect::<Vec<_>>());
        let function = form.function(body);
        let caller = Caller {
            function: &function,
            threads: form.threads,
            shared: &buffer,
            shared_bytes: form.shared_bytes,
            asks: form.asks,
            shares: shared::is_used(machine, &kernel),
        };
        // The kernel stays, for it is also launched by itself: a copy is taken apart.
        let copy = Builder::before(context, kernel.op).clone_op(kernel.op, &mut Mapping::default());
        let kernel = Kernel::of(copy).ok_or(Failed)?;
        let (launch, role) = (body.launch, Role::Called(&caller));
        let how = Lowering { machine, isa, launch, registers: &file, role };
        lower(context, &kernel, &how, &mut diag);
    }
    let before = module.body(0).and_then(|block| block.ops().first().copied()).ok_or(Failed)?;
    if form.shared_bytes > 0 {
        let ty = shared::whole(context, form.shared_bytes, form.asks);
        shared::declare(context, before, &buffer, ty);
    }
    entry::write(context, before, isa, form, &types);
    if diag.is_ok() { Ok(()) } else { Err(Failed) }
}
