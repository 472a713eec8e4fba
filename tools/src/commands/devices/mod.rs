//! `weft devices`: the machines, and what a machine file says.
//!
//! | Section | Where |
//! |---|---|
//! | what stands in the file | `facts.rs` |
//! | peak and roofline | `roofline.rs` |
//! | what a tile has to be a multiple of | `legal.rs` |
//! | who computes which operator, and who does not | `classes.rs` |
//! | lowerings against meanings, and in assembly | `checks.rs`, `assemble.rs` |

mod assemble;
mod checks;
mod classes;
mod facts;
mod legal;
mod loaded;
pub(crate) mod roofline;
mod sheet;

use std::path::{Path, PathBuf};

use weft_dialects::ir::Context;

use super::compile::write;
use crate::{Device, Failure, Host, MACHINES};
pub(super) use loaded::Loaded;

/// Lists the machines, or checks and describes one.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A name from the list, a file, or `host`: this processor, with its own counts and sizes.
    pub machine: Option<String>,
    /// Write the machine's page of documentation, in Markdown: what is the same wherever
    /// it is written.
    #[arg(long, requires = "machine")]
    pub page: bool,
    /// Write what weft takes from this processor, for WEFT_HOST_FACTS on another one.
    #[arg(long, conflicts_with = "machine")]
    pub host_facts: bool,
    /// File for the text; `-` is standard output.
    #[arg(short, long, default_value = "-")]
    pub output: PathBuf,
}

/// Does it.
///
/// # Errors
/// A machine that is not there, or a file with mistakes.
pub fn run(args: &Args) -> Result<(), Failure> {
    let context = crate::context();
    let text = match &args.machine {
        None if args.host_facts => Host::current()?.text()?,
        None => list(&context)?,
        Some(name) if args.page => page(&context, &Device::asked(Some(name)))?,
        Some(name) => describe(&context, &Device::asked(Some(name)))?,
    };
    write(Path::new(&args.output), text.as_bytes())
}

fn list(context: &Context) -> Result<String, Failure> {
    let host = Device::Host.text(context);
    let mut text = String::new();
    for (name, _) in MACHINES {
        let loaded = Loaded::of(context, &Device::Named((*name).to_owned()))?;
        let machine = loaded.machine();
        let units: Vec<_> =
            machine.units().iter().map(|unit| format!("{} @{}", unit.count(), unit.name)).collect();
        let this = match &host {
            Ok(host) if host.name == *name => "  <- the host",
            _ => "",
        };
        let (memories, instructions) = (machine.memories().len(), machine.instructions().len());
        let facts =
            format!("{}, {memories} memories, {instructions} instructions", units.join(", "));
        text += &format!("{name:<14} {:<8} {facts}{this}\n", machine.arch());
    }
    if let Err(failure) = host {
        text += &format!("{failure}\n");
    }
    Ok(text)
}

fn describe(context: &Context, device: &Device) -> Result<String, Failure> {
    let loaded = Loaded::of(context, device)?;
    let machine = loaded.machine();
    let mut title = format!("@{}: {}", machine.name(), machine.arch());
    if !machine.features().is_empty() {
        title += &format!("\nneeds {}", machine.features().join(", "));
    }
    if let Some(further) = loaded.further() {
        title += &format!("\nleaves out {further}");
    }
    let mut sections = facts::sections(&loaded);
    sections.push(roofline::section(machine));
    sections.push(legal::section(machine));
    sections.push(checks::section(context, &loaded)?);
    sections.extend(classes::sections(context, &loaded)?);
    Ok(sheet::text(&title, &sections))
}

fn page(context: &Context, device: &Device) -> Result<String, Failure> {
    let loaded = Loaded::of(context, device)?;
    let machine = loaded.machine();
    let mut intro = loaded.comment.clone();
    if !machine.features().is_empty() {
        intro += &format!("\n\nNeeds {}.", machine.features().join(", "));
    }
    if let Some(further) = loaded.further() {
        intro += &format!(" Leaves out {further} (`--device NAME+feature`).");
    }
    intro += "\n\nWritten by `weft devices --page`; `cargo xtask bless` writes it anew.";
    let mut sections = facts::sections(&loaded);
    sections.push(roofline::section(machine));
    sections.push(legal::section(machine));
    sections.push(checks::written(&loaded));
    sections.extend(classes::sections(context, &loaded)?);
    Ok(sheet::markdown(&format!("@{}", machine.name()), &intro, &sections))
}
