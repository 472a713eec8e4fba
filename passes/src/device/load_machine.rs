//! `device-load-machine`: puts a machine into the module.
//!
//! ```text
//! module { ... }  ->  module { device.machine @m { ... }  ... }
//! ```
//!
//! The vendor's dialect and patterns, `irdl.dialect` and `pdl.pattern`, go into the machine,
//! also if they are beside it in the file: they then travel with it through every stage.
//! Meanings in named operations of `linalg` become general ones, which passes read.
//!
//! A file says everything. What it marks `host` may differ from one machine to the next, and
//! [`load_with`] takes those numbers from [`HostFacts`]; nothing here reads the machine it runs on.

use melior::pass::PassManager;
use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{self, Context, Mapping, Op, Report, attr, module_op};

/// The pass.
pub const PASS: Pass = Pass {
    name: "device-load-machine",
    description: "Put the machine of a file into the module",
    options: &[PassOption {
        name: "file",
        description: "a text file with one device.machine",
        fallback: "",
    }],
    statistics: &[],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let file = run.option("file").to_owned();
    let text = std::fs::read_to_string(&file).map_err(|error| {
        Report::new(
            run.module.location(),
            format!("cannot read the machine file `{file}`: {error}"),
        )
        .help("give one with device-load-machine{file=...}");
        Failed
    })?;
    load(run.context, run.module, &text, &file).map(|_| ())
}

/// The facts of a processor that a machine file may mark `host`, and features beside those of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// Features, by LLVM's names; the machine has those that one of its instructions requires.
    pub features: Vec<String>,
    /// Cores, for a unit marked `cores`.
    pub cores: Option<u64>,
    /// Bytes of main memory, for a memory marked `memory`.
    pub memory_bytes: Option<u64>,
    /// Bytes of the first data cache of a core, for a memory marked `l1d`.
    pub l1d_bytes: Option<u64>,
    /// Bytes of the second cache of a core, for a memory marked `l2`.
    pub l2_bytes: Option<u64>,
    /// Bytes of the cache that cores share, for a memory marked `l3`.
    pub l3_bytes: Option<u64>,
}

impl HostFacts {
    /// The fact that a file asks for by this name; nothing where it is unknown.
    fn of(&self, name: &str) -> Option<u64> {
        match name {
            "cores" => self.cores,
            "memory" => self.memory_bytes,
            "l1d" => self.l1d_bytes,
            "l2" => self.l2_bytes,
            "l3" => self.l3_bytes,
            _ => None,
        }
    }
}

/// Puts the machine that `text` describes at the beginning of `module`.
///
/// # Errors
/// Reported: text that is no module with exactly one machine, or a module that
/// has a machine already.
pub fn load<'c>(
    context: &'c Context,
    module: Op<'c>,
    text: &str,
    name: &str,
) -> Result<Machine<'c>, Failed> {
    load_with(context, module, text, name, None)
}

/// As [`load`], with the numbers of one processor in the place of those marked `host`.
///
/// # Errors
/// As [`load`].
pub fn load_with<'c>(
    context: &'c Context,
    module: Op<'c>,
    text: &str,
    name: &str,
    host: Option<&HostFacts>,
) -> Result<Machine<'c>, Failed> {
    let place = module.location();
    if let Some(machine) = Machine::of(module) {
        Report::new(place, format!("the module has the machine @{} already", machine.name()))
            .note(machine.op(), "it is here")
            .help("remove it from the text, or load none");
        return Err(Failed);
    }
    let mut parsed = ir::parse(context, text).map_err(|error| {
        Report::new(place, format!("`{name}` is not a machine file: {error}"));
        Failed
    })?;
    generalise(context, &mut parsed)?;
    let body = module_op(&parsed).body(0).ok_or(Failed)?;
    let machines: Vec<_> = body.iter().filter(|op| op.is("device.machine")).collect();
    let [machine] = machines[..] else {
        // At the second one, which is too many.
        let place = machines.get(1).map_or(place, |machine| machine.location());
        Report::new(place, format!("`{name}` holds {} machines", machines.len()))
            .help("a machine file holds one device.machine");
        return Err(Failed);
    };
    let mut b = match module.body(0).and_then(|block| block.ops().first().copied()) {
        Some(first) => ir::Builder::before(context, first),
        None => ir::Builder::at_end(context, module.body(0).ok_or(Failed)?),
    };
    let copy = b.clone_op(machine, &mut Mapping::default());
    if let Some(first) = copy.first_block(0).and_then(|block| block.iter().next()) {
        let mut b = ir::Builder::before(context, first);
        for op in body.iter().filter(|op| VENDOR.contains(&op.name())) {
            b.clone_op(op, &mut Mapping::default());
        }
    }
    for op in copy.body(0).into_iter().flat_map(|block| block.ops()) {
        fix_host_fact(context, op, host);
    }
    fix_features(context, copy, host.map_or(&[], |host| &host.features));
    Machine::of(copy).ok_or(Failed)
}

/// Gives a machine those of the `more` features that its instructions require, and takes away the
/// instructions that require others.
fn fix_features(context: &Context, machine: Op<'_>, more: &[String]) {
    let names = |op: Op<'_>, attribute: &str| -> Vec<String> {
        let names = op.attr(attribute).and_then(attr::strings).unwrap_or_default();
        names.into_iter().map(str::to_owned).collect()
    };
    let ops = machine.body(0).into_iter().flat_map(|block| block.ops());
    let optional: Vec<_> =
        ops.map(|op| (op, names(op, "requires"))).filter(|own| !own.1.is_empty()).collect();
    let mut features = names(machine, "features");
    for feature in optional.iter().flat_map(|(_, required)| required) {
        if !features.contains(feature) && more.contains(feature) {
            features.push(feature.clone());
        }
    }
    for (op, required) in optional {
        if required.iter().all(|feature| features.contains(feature)) {
            op.remove_attr("requires");
        } else {
            op.erase();
        }
    }
    machine.set_attr("features", attr::of_strings(context, &features));
}

/// Upstream operations that a vendor may write in a machine file.
const VENDOR: [&str; 2] = ["irdl.dialect", "pdl.pattern"];

/// Makes `linalg.generic` of every named operation of `linalg` in a meaning: matching
/// reads no names.
///
/// # Errors
/// Reported by upstream's pass.
pub fn generalise<'c>(context: &'c Context, module: &mut ir::Module<'c>) -> Result<(), Failed> {
    let mut named = false;
    module_op(module).walk_all(&mut |op| {
        if op.is("device.instruction") {
            let meaning = op.first_block(0).into_iter().flat_map(|block| block.iter());
            let general = ["linalg.generic", "linalg.index", "linalg.yield"];
            named |= meaning
                .map(|op| op.name())
                .any(|name| name.starts_with("linalg.") && !general.contains(&name));
        }
    });
    if !named {
        return Ok(());
    }
    let manager = PassManager::new(context);
    manager.add_pass(melior::pass::linalg::create_linalg_generalize_named_ops_pass());
    manager.run(module).map_err(|_| Failed)
}

/// Takes the mark `host` from an operation, and the number of the host in its place where it is
/// known; without one, the file's own number stays.
fn fix_host_fact(context: &Context, op: Op<'_>, host: Option<&HostFacts>) {
    let Some(fact) = op.attr("host").and_then(attr::string) else { return };
    let name = if op.is("device.unit") { "count" } else { "capacity_bytes" };
    if let Some(value) = host.and_then(|host| host.of(fact)) {
        op.set_attr(name, attr::of_int(context, value as i64));
    }
    op.remove_attr("host");
}
