//! The machines that weft ships, and the one that it runs on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use weft_dialects::device::Machine;
use weft_dialects::ir::{Context, Op, module_op, parse, ty};
use weft_passes::device::load_machine::HostFacts;

use crate::{Failure, Host};

/// The machine files of `devices/`, the better one for a host first.
pub const MACHINES: &[(&str, &str)] = &[
    ("x86-avx512", include_str!("../../devices/x86-avx512.mlir")),
    ("x86-avx2", include_str!("../../devices/x86-avx2.mlir")),
    ("toy", include_str!("../../devices/toy.mlir")),
    ("systolic", include_str!("../../devices/systolic.mlir")),
    ("dsp", include_str!("../../devices/dsp.mlir")),
    ("ipu", include_str!("../../devices/ipu.mlir")),
    ("stcp920-like", include_str!("../../devices/stcp920-like.mlir")),
    ("v100", include_str!("../../devices/v100.mlir")),
    ("a100", include_str!("../../devices/a100.mlir")),
    ("h200", include_str!("../../devices/h200.mlir")),
    ("mi50", include_str!("../../devices/mi50.mlir")),
    ("mi250x", include_str!("../../devices/mi250x.mlir")),
    ("mi300x", include_str!("../../devices/mi300x.mlir")),
];

/// The machine to compile for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor that compiles, with its own counts and sizes.
    #[default]
    Host,
    /// A machine that weft ships, or a file: what stands there, wherever it is read. Features that some
    /// of its instructions require may follow, each behind a `+`.
    Named(String),
}

/// The text of a machine.
pub struct Described {
    /// The file's text.
    pub text: String,
    /// The name in messages.
    pub name: String,
    /// The values of facts marked `host`, if the machine is the host, and features beside those of the
    /// file.
    pub host: Option<HostFacts>,
}

impl Device {
    /// Parses `--device`: `host`, a name or a file; the host by default.
    pub fn asked(device: Option<&str>) -> Self {
        match device {
            None | Some("host") => Device::Host,
            Some(name) => Device::Named(name.to_owned()),
        }
    }

    /// Returns whether its code is native; one that cannot be read is reported elsewhere.
    pub(crate) fn is_native(&self, context: &Context) -> bool {
        if *self == Device::Host {
            return true;
        }
        let text = self.text(context).map(|described| described.text).unwrap_or_default();
        let parsed = parse(context, &text).ok();
        let machine = parsed.as_ref().and_then(|module| Machine::of(module_op(module)));
        machine.is_some_and(weft_passes::codegen::is_native)
    }

    /// Refuses a machine that is asked for where the model was made for another one.
    ///
    /// # Errors
    /// The two names; a machine that cannot be read.
    pub fn agree(&self, context: &Context, what: &str, machine: &str) -> Result<(), Failure> {
        if *self == Device::Host {
            return Ok(());
        }
        let parsed = parse(context, &self.text(context)?.text).ok();
        let asked = parsed.as_ref().and_then(|module| Machine::of(module_op(module)));
        match asked.map(|asked| asked.name().to_owned()) {
            Some(asked) if asked != machine => Err(Failure::said(
                format!("{what} is for the machine @{machine}, --device names @{asked}"),
                "leave --device out, or begin with a model that has no machine yet",
            )),
            _ => Ok(()),
        }
    }

    /// Returns the text of the machine's file and the features beside it, if it can be read.
    pub(crate) fn written(&self) -> Option<String> {
        let Device::Named(name) = self else { return None };
        let Asked { name, features } = Asked::of(name);
        let text = match shipped(name) {
            Some((_, text)) => text.to_owned(),
            None => std::fs::read_to_string(name).ok()?,
        };
        Some(format!("{}\n{text}", features.join("+")))
    }

    /// The text of the machine file, what to call it, and the host's own facts.
    ///
    /// # Errors
    /// No such machine and no such file; a host that no machine file describes; a feature that no
    /// instruction of the file requires.
    pub fn text(&self, context: &Context) -> Result<Described, Failure> {
        let Device::Named(name) = self else { return host(context) };
        let Asked { name: own, features } = Asked::of(name);
        let mut described = match shipped(own) {
            Some((known, text)) => Described::of(known, text, None),
            None => read(Path::new(own))?,
        };
        if !features.is_empty() {
            check_features(context, &described, &features)?;
            let features = features.into_iter().map(str::to_owned).collect();
            described.host = Some(HostFacts { features, ..HostFacts::default() });
            name.clone_into(&mut described.name);
        }
        Ok(described)
    }
}

/// A machine's name, or that of its file, and features.
struct Asked<'n> {
    name: &'n str,
    features: Vec<&'n str>,
}

impl<'n> Asked<'n> {
    /// Of `NAME+feature+feature`: the longest part that is a machine or a file, for names of files and
    /// folders may have a plus, too.
    fn of(text: &'n str) -> Self {
        let ends = text.match_indices('+').map(|(at, _)| at).chain([text.len()]);
        let known =
            |end: &usize| shipped(&text[..*end]).is_some() || Path::new(&text[..*end]).is_file();
        let Some(end) = ends.collect::<Vec<_>>().into_iter().rev().find(known) else {
            return Self { name: text.split('+').next().unwrap_or(text), features: Vec::new() };
        };
        let features = text[end..].split('+').skip(1).collect();
        Self { name: &text[..end], features }
    }
}

/// Refuses a feature that no instruction of a machine requires: it would change nothing.
fn check_features(
    context: &Context,
    described: &Described,
    features: &[&str],
) -> Result<(), Failure> {
    // What is wrong with the file itself is said where it is loaded.
    let Ok(module) = parse(context, &described.text) else { return Ok(()) };
    let Some(machine) = Machine::of(module_op(&module)) else { return Ok(()) };
    let instructions = machine.instructions();
    let known: BTreeSet<&str> =
        instructions.iter().flat_map(|own| own.requires()).copied().collect();
    match features.iter().find(|feature| !known.contains(*feature)) {
        None => Ok(()),
        Some(feature) => Err(Failure::said(
            format!("no instruction of {} requires the feature `{feature}`", described.name),
            match known.is_empty() {
                true => "leave it out".to_owned(),
                false => format!("one of: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
            },
        )),
    }
}

/// The shipped machine of a name.
fn shipped(name: &str) -> Option<(&'static str, &'static str)> {
    MACHINES.iter().copied().find(|(known, _)| *known == name)
}

impl Described {
    fn of(name: &str, text: &str, host: Option<HostFacts>) -> Self {
        Self { text: text.to_owned(), name: name.to_owned(), host }
    }
}

fn read(path: &Path) -> Result<Described, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Described::of(&path.display().to_string(), &text, None)),
        Err(source) if path.exists() => {
            Err(Failure::File { doing: "read", path: PathBuf::from(path), source })
        }
        Err(_) => {
            let known: Vec<_> = MACHINES.iter().map(|(name, _)| *name).collect();
            Err(Failure::said(
                format!("there is no machine and no file `{}`", path.display()),
                format!("a path, or one of: {}", known.join(", ")),
            ))
        }
    }
}

/// The first shipped machine whose every feature the host has, with the host's facts.
fn host(context: &Context) -> Result<Described, Failure> {
    let host = Host::current()?;
    let mut lacks = Vec::new();
    for (name, text) in MACHINES {
        let Ok(module) = parse(context, text) else { continue };
        let Some(machine) = Machine::of(module_op(&module)) else { continue };
        if machine.arch() != std::env::consts::ARCH.replace('_', "-") {
            continue;
        }
        match &host.lacks(&machine.features())[..] {
            [] => return Ok(Described::of(name, text, Some(host.facts()))),
            missing => lacks.push(format!("{name} needs {}", missing.join(", "))),
        }
    }
    Err(Failure::said(
        format!("no machine that weft ships matches this processor ({})", lacks.join("; ")),
        "describe the machine in a file and give it with --device",
    ))
}

/// Returns the element types of a module that the lanes of its machine lack, and the shipped
/// machines that have them all: said where a compilation failed, in words; nothing where types are
/// not in the way.
pub(crate) fn machines_for(context: &Context, module: Op<'_>) -> Option<String> {
    let machine = Machine::of(module)?;
    let mut used = BTreeSet::new();
    module.walk(&mut |op| {
        let values = op.operands().into_iter().chain(op.results());
        let elems = values.filter_map(|value| ty::elem(value.ty()));
        used.extend(elems.filter(|elem| !ty::is_index(*elem)).map(|elem| elem.to_string()));
    });
    // Truths are bytes in memory, and no lanes compute with them.
    used.remove("i1");
    let lacks = |machine: Machine<'_>| -> Vec<&String> {
        let mut known = BTreeSet::new();
        for lanes in machine.lanes_units() {
            known.extend(lanes.types().iter().map(|elem| elem.to_string()));
        }
        used.iter().filter(|elem| !known.contains(*elem)).collect()
    };
    let missing = lacks(machine);
    if missing.is_empty() {
        return None;
    }
    let mut able = Vec::new();
    for (name, text) in MACHINES {
        let Ok(module) = parse(context, text) else { continue };
        if Machine::of(module_op(&module)).is_some_and(|machine| lacks(machine).is_empty()) {
            able.push(*name);
        }
    }
    let missing = missing.iter().map(|elem| elem.as_str()).collect::<Vec<_>>().join(", ");
    Some(match able[..] {
        [] => {
            format!("the lanes of @{} have no {missing}, nor have other machines", machine.name())
        }
        _ => format!(
            "the lanes of @{} have no {missing}; those of {} have",
            machine.name(),
            able.join(", ")
        ),
    })
}
