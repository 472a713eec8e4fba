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
        module_op(&file).walk_all(&mut |op| {
            if let Some(fact) = op.attr("host").and_then(attr::string) {
                asked.insert(op.symbol().to_owned(), fact.to_owned());
            }
        });
        Ok(Self { module, collector, comment, asked, is_host: host.is_some() })
    }

    /// The machine.
    pub fn machine(&self) -> Machine<'c> {
        Machine::of(module_op(&self.module)).expect("a machine was loaded")
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
