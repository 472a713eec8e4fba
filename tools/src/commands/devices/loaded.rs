//! A machine file, parsed and checked.

use std::collections::BTreeMap;

use weft_dialects::device::Machine;
use weft_dialects::ir::{Context, Module, attr, empty_module, module_op};
use weft_passes::device::load_machine;

use crate::source::parse_text;
use crate::{Collector, Described, Device, Failure};

/// A machine file, parsed and checked; with the host's own facts where the machine is the host.
pub struct Loaded<'c> {
    /// Holds the machine alone.
    pub module: Module<'c>,
    /// Collects what is wrong with it.
    pub collector: Collector,
    /// The first lines of the file, where they are comments.
    pub comment: String,
    /// The facts that the file marks `host`, by the name of the memory or unit.
    asked: BTreeMap<String, String>,
    /// True if the host's own facts took the place of those.
    is_host: bool,
    /// The instructions of the file that the machine is without, each with the features that it requires.
    without: Vec<(String, String)>,
}

impl<'c> Loaded<'c> {
    /// Reads the file that `device` names.
    ///
    /// # Errors
    /// A file that cannot be read or has a mistake.
    pub fn of(context: &'c Context, device: &Device) -> Result<Self, Failure> {
        let Described { text, name, host } = device.text(context)?;
        let collector = Collector::listen(context);
        let comment = comment(&text);
        let text = collector.source(&name, &text);
        let file = parse_text(context, &collector, &text)?;
        let module = empty_module(context);
        load_machine::load_with(context, module_op(&module), &text, &name, host.as_ref())
            .map_err(|_| collector.failure())?;
        if !module_op(&module).verify() {
            return Err(collector.failure());
        }
        let mut asked = BTreeMap::new();
        let mut without = Vec::new();
        let machine = Machine::of(module_op(&module)).expect("a machine was loaded");
        module_op(&file).walk_all(&mut |op| {
            if let Some(features) = op.attr("requires").and_then(attr::strings)
                && machine.instruction(op.symbol()).is_none()
            {
                without.push((op.symbol().to_owned(), features.join(" and ")));
            }
            if let Some(fact) = op.attr("host").and_then(attr::string) {
                asked.insert(op.symbol().to_owned(), fact.to_owned());
            }
        });
        let is_host = *device == Device::Host;
        Ok(Self { module, collector, comment, asked, is_host, without })
    }

    /// The machine.
    pub fn machine(&self) -> Machine<'c> {
        Machine::of(module_op(&self.module)).expect("a machine was loaded")
    }

    /// Returns the instructions that the machine is without; nothing where it has all of the file.
    pub fn further(&self) -> Option<String> {
        let one =
            |(name, features): &(String, String)| format!("@{name}, which requires {features}");
        let all: Vec<_> = self.without.iter().map(one).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Returns the text behind a number that the file marks `host`.
    pub fn host(&self, name: &str) -> &'static str {
        match (self.asked.contains_key(name), self.is_host) {
            (false, _) => "",
            (true, true) => " (the host's)",
            (true, false) => " (on the host, its own)",
        }
    }
}

/// The comment that a text begins with, as one paragraph.
fn comment(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.starts_with("//"));
    lines.map(|line| line.trim_start_matches('/').trim()).collect::<Vec<_>>().join(" ")
}
