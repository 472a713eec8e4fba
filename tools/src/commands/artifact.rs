//! An artifact of a model: from the cache, or made and kept there.

use std::path::{Path, PathBuf};
use std::time::Instant;

use weft_dialects::device::Uses;
use weft_runtime::ArtifactError;

use super::CompileArgs;
use crate::cache::{Asked, Cache, Hit, Lent, Settings, To};
use crate::{Failure, Options, Remarks, Unit};

/// The result of a request for an artifact.
pub(crate) struct Artifact {
    /// The artifact, where it came from the cache only to be run.
    pub lent: Option<Lent>,
    /// The remarks of passes.
    pub remarks: Vec<String>,
    /// The steps of the compilation, with their times.
    pub timings: Vec<(String, f64)>,
}

/// The artifact of `model`: at `output`, or lent by the cache where it is only `run`.
///
/// # Errors
/// As [`Unit::write_artifact`].
pub(crate) fn make(
    model: &Path,
    args: &CompileArgs,
    options: Options,
    output: &Path,
    run: bool,
) -> Result<Artifact, Failure> {
    let begin = Instant::now();
    let to = if run { To::Run } else { To::File(output) };
    let settings = if reads(&options) { args.cache_settings()? } else { Settings::none() };
    let cache = Cache::of(&settings, model, &options);
    if let Some(cache) = &cache
        && let Some(hit) = cache.find_seen(model, to).map_err(|error| failed(output, error))?
    {
        return Ok(found(hit, Vec::new(), begin));
    }
    let context = crate::context();
    let mut unit = Unit::open(&context, model, options)?;
    let Some(cache) = cache.filter(|_| follows(&unit)) else {
        unit.write_artifact(output)?;
        return Ok(made(unit));
    };
    let begin = Instant::now();
    let text = unit.text();
    let machine = unit.load_machine_now()?;
    let (asked, hit) =
        cache.find(&text, unit.options(), machine, to).map_err(|error| failed(output, error))?;
    if let Some((hit, made)) = hit {
        cache.see(model, &beside(&unit), made);
        return Ok(found(hit, unit.timings, begin));
    }
    let why = asked.as_ref().and_then(|asked| asked.changed.as_ref());
    let what = why.map_or("cache miss".to_owned(), |why| format!("cache miss ({why})"));
    unit.timings.push((what, begin.elapsed().as_secs_f64()));
    write(&mut unit, &cache, asked.as_ref(), model, output)?;
    Ok(made(unit))
}

/// Makes the artifact, and keeps it with the facts that were used.
fn write(
    unit: &mut Unit<'_>,
    cache: &Cache,
    asked: Option<&Asked>,
    model: &Path,
    output: &Path,
) -> Result<(), Failure> {
    let uses = Uses::default();
    let listening = uses.listen(unit.context());
    unit.write_artifact(output)?;
    drop(listening);
    let begin = Instant::now();
    let remarks = unit.remarks.iter().map(|remark| remark.message.clone()).collect();
    let machine = unit.load_machine_now()?;
    // A pipe, for instance, cannot be read again.
    if let Some(asked) = asked.filter(|_| output.is_file())
        && let Some(made) = cache.keep(asked, output, &uses, machine, remarks)
    {
        cache.see(model, &beside(unit), made);
    }
    unit.timings.push(("keep in the cache".to_owned(), begin.elapsed().as_secs_f64()));
    Ok(())
}

/// Returns whether a cached artifact is as good as one that is made: nobody wants to hear of the
/// passes.
fn reads(options: &Options) -> bool {
    let says =
        |(_, option, value): &(String, String, String)| option == "remarks" && value != "false";
    options.remarks == Remarks::None && !options.print_ir && !options.pass_options.iter().any(says)
}

/// Returns whether every file of weights that was given is whole: what others it names is not
/// looked at.
fn follows(unit: &Unit<'_>) -> bool {
    unit.options().weights.is_empty() || beside(unit).is_empty()
}

/// The files beside the model that hold weights.
fn beside(unit: &Unit<'_>) -> Vec<PathBuf> {
    unit.files().values().flat_map(|weights| weights.outside()).collect()
}

fn found(hit: Hit, mut timings: Vec<(String, f64)>, begin: Instant) -> Artifact {
    timings.push(("cache hit".to_owned(), begin.elapsed().as_secs_f64()));
    Artifact { lent: hit.lent, remarks: hit.remarks, timings }
}

fn made(unit: Unit<'_>) -> Artifact {
    let remarks = unit.remarks.into_iter().map(|remark| remark.message).collect();
    Artifact { lent: None, remarks, timings: unit.timings }
}

fn failed(output: &Path, source: std::io::Error) -> Failure {
    ArtifactError::Io { what: "write", path: output.to_owned(), source }.into()
}
