//! The compile cache: an artifact is not made again while its inputs are the same.
//!
//! A compilation notes which facts of its machine it used. Its recipe, filed under the hash of
//! the imported model, lists the compiler, the options, and those facts with what the machine said
//! of them; a lookup takes a recipe whose every line still holds. `docs/cache.md` says what that
//! means for people.
//!
//! A cache is never needed: what is wrong with one is said once, as a warning, and the artifact
//! is made without it.

mod identity;
mod key;
mod missed;
mod record;
mod settings;
mod store;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use weft_dialects::device::{Fact, Machine, Uses};

pub use record::Made;
pub use settings::{Settings, SettingsError};
pub use store::Lent;

use crate::compiler::Options;
use crate::reports::{self, Report};
use record::{Read, Recipe, Seen, Used};
use store::{Got, Store, hash_file};

/// A cache, and what one compilation asks of it.
pub struct Cache {
    folder: PathBuf,
    store: Store,
    inputs: Vec<(String, String)>,
    /// The key in front of the import; none where that would not say everything.
    seen: Option<String>,
    trouble: RefCell<Trouble>,
}

/// Problems of a cache, each reported once.
#[derive(Default)]
struct Trouble {
    damaged: bool,
    refused: Option<io::Error>,
}

/// The destination of an artifact from the cache.
#[derive(Clone, Copy, Debug)]
pub enum To<'a> {
    /// To a file of its own, which may be changed.
    File(&'a Path),
    /// A run in this process.
    Run,
}

/// An artifact from the cache.
#[derive(Debug)]
pub struct Hit {
    /// The artifact, where it is only run.
    pub lent: Option<Lent>,
    /// The remarks that `weft compile` prints.
    pub remarks: Vec<String>,
}

/// An artifact, and how it came to be.
pub type Found = (Hit, Made);

/// The result of a lookup of an imported model.
pub struct Asked {
    model: String,
    /// Which option or fact is another one than before, where the model is known.
    pub changed: Option<String>,
}

impl Cache {
    /// Returns a cache for a compilation; `None` if the compiler has no identity.
    pub fn of(settings: &Settings, model: &Path, options: &Options) -> Option<Self> {
        let folder = settings.folder.clone()?;
        let inputs = key::inputs(options)?;
        let store = Store::new(&folder, settings.bytes_max);
        let seen = key::seen(model, options, &inputs);
        Some(Self { folder, store, inputs, seen, trouble: RefCell::default() })
    }

    /// The artifact of a model whose bytes, and all that is read beside them, were seen before.
    ///
    /// # Errors
    /// The system's error about the output.
    pub fn find_seen(&self, model: &Path, to: To<'_>) -> io::Result<Option<Hit>> {
        let Some(path) = self.seen.as_ref().map(|key| self.store.seen(key)) else {
            return Ok(None);
        };
        let Some(seen) = self.read::<Seen>(&path) else { return Ok(None) };
        let folder = model.parent().unwrap_or(Path::new(""));
        let same = |(file, hash): &(String, String)| {
            hash_file(&folder.join(file)).is_ok_and(|found| found == *hash)
        };
        if !seen.files.iter().all(same) {
            return Ok(None);
        }
        let hit = self.give(&seen.made, to)?;
        if hit.is_some() {
            store::touch(&path);
        }
        Ok(hit)
    }

    /// The artifact of an imported module, by its text before it had a machine.
    ///
    /// # Errors
    /// The system's error about the output.
    pub fn find(
        &self,
        text: &str,
        options: &Options,
        machine: Machine<'_>,
        to: To<'_>,
    ) -> io::Result<(Option<Asked>, Option<Found>)> {
        let Some(model) = key::model(text, options) else { return Ok((None, None)) };
        let folder = self.store.recipes(&model);
        let mut values = BTreeMap::new();
        let mut others = Vec::new();
        for path in self.names(&folder) {
            let Some(recipe) = self.read::<Recipe>(&path) else { continue };
            let differs = missed::differences(&recipe, &self.inputs, machine, &mut values);
            if differs.is_empty()
                && let Some(hit) = self.give(&recipe.made, to)?
            {
                store::touch(&path);
                return Ok((Some(Asked { model, changed: None }), Some((hit, recipe.made))));
            }
            others.push(differs);
        }
        let changed = missed::shortest(others);
        Ok((Some(Asked { model, changed }), None))
    }

    /// Keeps an artifact that was made, with the facts that were used for it.
    pub fn keep(
        &self,
        asked: &Asked,
        artifact: &Path,
        uses: &Uses,
        machine: Machine<'_>,
        remarks: Vec<String>,
    ) -> Option<Made> {
        let kept = self.store.keep(artifact).unwrap_or_else(|error| self.refused(error));
        let made = Made { artifact: kept?, remarks };
        let facts = uses.facts().into_iter().map(|fact| used(fact, machine)).collect();
        let recipe = Recipe { inputs: self.inputs.clone(), facts, made: made.clone() };
        let text = record::text_of(&recipe);
        let name = blake3::hash(text.as_bytes()).to_hex();
        self.note(&self.store.recipes(&asked.model).join(name.as_str()), &text);
        Some(made)
    }

    /// Notes what a model's bytes led to, with the files that lie beside it.
    pub fn see(&self, model: &Path, beside: &[PathBuf], made: Made) {
        let Some(path) = self.seen.as_ref().map(|key| self.store.seen(key)) else { return };
        let folder = model.parent().unwrap_or(Path::new(""));
        let folder = if folder == Path::new("") { Path::new(".") } else { folder };
        let file = |path: &PathBuf| {
            let name = path.strip_prefix(folder).ok()?.to_str()?.to_owned();
            Some((name, hash_file(path).ok()?))
        };
        if let Some(files) = beside.iter().map(file).collect() {
            self.note(&path, &record::text_of(&Seen { files, made }));
        }
    }

    fn note(&self, path: &Path, text: &str) {
        self.store.note(path, text).unwrap_or_else(|error| self.refused(error));
    }

    /// The artifact, where it is there and whole.
    fn give(&self, made: &Made, to: To<'_>) -> io::Result<Option<Hit>> {
        let got = match to {
            To::File(output) => match self.store.copy(&made.artifact, output)? {
                Got::Whole(()) => Got::Whole(None),
                Got::Missing => Got::Missing,
                Got::Damaged => Got::Damaged,
            },
            To::Run => match self.store.lend(&made.artifact) {
                Ok(Got::Whole(lent)) => Got::Whole(Some(lent)),
                Ok(Got::Missing) => Got::Missing,
                Ok(Got::Damaged) => Got::Damaged,
                Err(error) => {
                    self.refused::<()>(error);
                    Got::Missing
                }
            },
        };
        if matches!(got, Got::Damaged) {
            self.trouble.borrow_mut().damaged = true;
        }
        Ok(match got {
            Got::Whole(lent) => Some(Hit { lent, remarks: made.remarks.clone() }),
            _ => None,
        })
    }

    /// A record; one that is damaged goes.
    fn read<T: serde::de::DeserializeOwned>(&self, path: &Path) -> Option<T> {
        match record::read(path) {
            Ok(Read::Whole(record)) => Some(record),
            Ok(Read::Missing) => None,
            Ok(Read::Damaged) => {
                let _ = std::fs::remove_file(path);
                self.trouble.borrow_mut().damaged = true;
                None
            }
            Err(error) => self.refused(error),
        }
    }

    /// The files of a folder in one order; none where it is not there.
    fn names(&self, folder: &Path) -> Vec<PathBuf> {
        let found = std::fs::read_dir(folder).and_then(|entries| {
            entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()
        });
        let mut names = found.unwrap_or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Vec::new(),
            _ => self.refused(error),
        });
        names.sort();
        names
    }

    /// Remembers that the system refused something.
    fn refused<T: Default>(&self, error: io::Error) -> T {
        self.trouble.borrow_mut().refused.get_or_insert(error);
        T::default()
    }
}

/// Says what was wrong, when all is done.
impl Drop for Cache {
    fn drop(&mut self) {
        let trouble = self.trouble.get_mut();
        let folder = self.folder.display();
        if trouble.damaged {
            let what = format!("the cache in {folder} was damaged");
            let note = "what was damaged was taken away, and made again where it was needed";
            eprint!("{}", reports::warning(&Report::new(what).note(note)));
        }
        if let Some(error) = &trouble.refused {
            let what = format!("the cache in {folder} cannot be used: {error}");
            let help = "--cache DIR or WEFT_CACHE_DIR names another folder, --no-cache none";
            eprint!("{}", reports::warning(&Report::new(what).help(help)));
        }
    }
}

fn used(fact: Fact, machine: Machine<'_>) -> Used {
    let value = hash_of(&fact, machine);
    Used { kind: fact.kind, name: fact.name, field: fact.field, value }
}

fn hash_of(fact: &Fact, machine: Machine<'_>) -> String {
    blake3::hash(fact.value(machine).as_bytes()).to_hex().to_string()
}
