//! The machines that weft ships, and the one that it runs on.

use std::path::{Path, PathBuf};

use weft_dialects::device::Machine;
use weft_dialects::ir::{Context, module_op, parse};

use crate::Failure;

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

/// What to compile for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor that compiles.
    #[default]
    Host,
    /// A machine that weft ships, or a file.
    Named(String),
}

impl Device {
    /// Refuses a machine that is asked for where the model was made for another one.
    ///
    /// # Errors
    /// The two names; a machine that cannot be read.
    pub fn agree(&self, context: &Context, what: &str, machine: &str) -> Result<(), Failure> {
        if *self == Device::Host {
            return Ok(());
        }
        let (text, _) = self.text(context)?;
        let parsed = parse(context, &text).ok();
        let asked = parsed.as_ref().and_then(|module| Machine::of(module_op(module)));
        match asked.map(|asked| asked.name().to_owned()) {
            Some(asked) if asked != machine => Err(Failure::said(
                format!("{what} is for the machine @{machine}, --device names @{asked}"),
                "leave --device out, or begin with a model that has no machine yet",
            )),
            _ => Ok(()),
        }
    }

    /// What somebody wrote of the machine, where it is named and can be read.
    pub(crate) fn written(&self) -> Option<String> {
        let Device::Named(name) = self else { return None };
        match MACHINES.iter().find(|(known, _)| known == name) {
            Some((_, text)) => Some((*text).to_owned()),
            None => std::fs::read_to_string(name).ok(),
        }
    }

    /// The text of the machine file, and what to call it.
    ///
    /// # Errors
    /// No such machine and no such file; a host that no machine file describes.
    pub fn text(&self, context: &Context) -> Result<(String, String), Failure> {
        match self {
            Device::Host => host(context),
            Device::Named(name) => match MACHINES.iter().find(|(known, _)| known == name) {
                Some((known, text)) => Ok(((*text).to_owned(), (*known).to_owned())),
                None => read(Path::new(name)),
            },
        }
    }
}

fn read(path: &Path) -> Result<(String, String), Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((text, path.display().to_string())),
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

/// The first shipped machine whose every feature this processor has.
fn host(context: &Context) -> Result<(String, String), Failure> {
    let mut lacks = Vec::new();
    for (name, text) in MACHINES {
        let Ok(module) = parse(context, text) else { continue };
        let Some(machine) = Machine::of(module_op(&module)) else { continue };
        if machine.arch() != std::env::consts::ARCH.replace('_', "-") {
            continue;
        }
        let features: Vec<String> = machine.features().into_iter().map(str::to_owned).collect();
        match weft_runtime::cpu::check_features(&features) {
            Ok(()) => return Ok(((*text).to_owned(), (*name).to_owned())),
            Err(error) => lacks.push(format!("{name}: {error}")),
        }
    }
    Err(Failure::said(
        format!("no machine that weft ships is this one ({})", lacks.join("; ")),
        "describe the machine in a file and give it with --device",
    ))
}
