//! `device-load-machine`: puts a machine into the module.
//!
//! ```text
//! module { ... }  ->  module { device.machine @m { ... }  ... }
//! ```
//!
//! The vendor's dialect and patterns, `irdl.dialect` and `pdl.pattern`, go into the machine
//! where the file has them beside it: they then travel with it through every stage.
//! Meanings in named operations of `linalg` become general ones, which passes read.
//!
//! What a file marks `host` is read from the machine that compiles, never from
//! the process: the same file gives the same code whatever else is running.

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

/// What becomes of facts that a file marks `host`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// They are read from the machine that compiles.
    Read,
    /// They stay what the file says, so that they are the same everywhere.
    AsWritten,
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
    load_with(context, module, text, name, Host::Read)
}

/// As [`load`], with a choice of what is read from the host.
///
/// # Errors
/// As [`load`].
pub fn load_with<'c>(
    context: &'c Context,
    module: Op<'c>,
    text: &str,
    name: &str,
    host: Host,
) -> Result<Machine<'c>, Failed> {
    let place = module.location();
    if let Some(machine) = Machine::of(module) {
        Report::new(place, format!("the module has the machine @{} already", machine.name()))
            .note(machine.op(), "it is here")
            .help("take it out of the text, or load none");
        return Err(Failed);
    }
    let mut parsed = ir::parse(context, text).map_err(|error| {
        Report::new(place, format!("`{name}` is no machine file: {error}"));
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
    if host == Host::Read {
        read_host(context, copy);
    }
    Machine::of(copy).ok_or(Failed)
}

/// What a vendor says in operations of upstream.
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

/// Replaces what is marked `host` by what the host has; a fact that it does not
/// tell stays as the file says.
fn read_host(context: &Context, machine: Op<'_>) {
    for op in machine.body(0).into_iter().flat_map(|block| block.ops()) {
        let Some(fact) = op.attr("host").and_then(attr::string) else { continue };
        let name = if op.is("device.unit") { "count" } else { "capacity_bytes" };
        if let Some(value) = host_fact(fact) {
            op.set_attr(name, attr::of_int(context, value as i64));
        }
        op.remove_attr("host");
    }
}

/// What the host has of everything that a file may mark `host`.
pub fn host_facts() -> Vec<(&'static str, Option<u64>)> {
    ["cores", "memory", "l1d", "l2", "l3"].map(|fact| (fact, host_fact(fact))).to_vec()
}

fn host_fact(fact: &str) -> Option<u64> {
    match fact {
        "cores" => cores(),
        "memory" => memory_bytes(),
        "l1d" => cache_bytes(1),
        "l2" => cache_bytes(2),
        "l3" => cache_bytes(3),
        _ => None,
    }
    .filter(|&value| value > 0)
}

/// Cores that are online, from a list such as `0-3,6`.
fn cores() -> Option<u64> {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    list.trim()
        .split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(last.parse::<u64>().ok()?.checked_sub(first.parse().ok()?)? + 1)
        })
        .sum()
}

fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Size of the first core's data (or unified) cache of a level.
fn cache_bytes(level: u32) -> Option<u64> {
    (0..8).find_map(|index| {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let read = |file: &str| std::fs::read_to_string(format!("{folder}/{file}")).ok();
        let here: u32 = read("level")?.trim().parse().ok()?;
        if here != level || read("type")?.trim() == "Instruction" {
            return None;
        }
        let size = read("size")?;
        let digits = size.trim().trim_end_matches(['K', 'M']);
        let scale = match size.trim().chars().last()? {
            'K' => 1024,
            'M' => 1024 * 1024,
            _ => 1,
        };
        Some(digits.parse::<u64>().ok()? * scale)
    })
}
