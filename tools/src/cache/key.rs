//! The request for a compilation, as text that decides its result.

use std::path::Path;

use super::identity;
use super::store::hash_file;
use crate::Host;
use crate::compiler::Options;
use crate::machines::Device;

/// The compiler and the options that change what it makes, by name; `None` where the compiler
/// cannot be told from others. Jobs, reports and paths change nothing.
pub(super) fn inputs(options: &Options) -> Option<Vec<(String, String)>> {
    let mut inputs = identity::inputs()?;
    let mut add = |name: &str, value: String| inputs.push((name.to_owned(), value));
    add("emit", "weft".to_owned());
    add("units", options.units.to_string());
    add("simulate", options.simulate.to_string());
    for (pass, option, value) in &options.pass_options {
        add(&format!("{pass}.{option}"), value.clone());
    }
    Some(inputs)
}

/// The hash of an imported module: its text, which names weights by their hashes and holds no
/// locations, and the files that text was given for its weights.
pub(super) fn model(text: &str, options: &Options) -> Option<String> {
    let mut hasher = Words::default();
    hasher.word(text);
    hasher.weights(options)?;
    Some(hasher.finish())
}

/// The hash of everything that is read before anything is imported: the bytes of the model and
/// of the machine, what the host tells, and the options. It stands in front of the key of the
/// imported module and only saves the import; `None` where something cannot be read.
pub(super) fn seen(model: &Path, options: &Options, inputs: &[(String, String)]) -> Option<String> {
    if !options.import.known_inputs.is_empty() {
        return None;
    }
    let mut hasher = Words::default();
    for (name, value) in inputs {
        hasher.word(name);
        hasher.word(value);
    }
    hasher.word(&device(&options.device)?);
    hasher.word(&options.import.file);
    let import = &options.import;
    let open = (&import.shapes, &import.offered, &import.symbols, &import.dims, &import.tensors);
    let unroll = import.unroll || options.simulate;
    hasher.word(&format!("{open:?}{:?}{unroll}{}", import.aliases, import.rounds));
    let kind = model.extension().unwrap_or_default();
    hasher.word(&kind.to_string_lossy());
    hasher.word(&hash_file(model).ok()?);
    hasher.weights(options)?;
    Some(hasher.finish())
}

/// Returns the key of a machine: all that a compilation takes from the host, or the machine's text.
fn device(device: &Device) -> Option<String> {
    match device {
        Device::Host => Some(format!("{:?}", Host::current().ok()?)),
        named => named.written(),
    }
}

/// Words, each with its length, so that none can be taken for two.
#[derive(Default)]
struct Words(blake3::Hasher);

impl Words {
    fn word(&mut self, word: &str) {
        self.0.update(&(word.len() as u64).to_le_bytes());
        self.0.update(word.as_bytes());
    }

    /// The files of weights; those that name further files are not followed.
    fn weights(&mut self, options: &Options) -> Option<()> {
        for (id, file) in &options.weights {
            self.word(id);
            self.word(&hash_file(file).ok()?);
        }
        Some(())
    }

    fn finish(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}
