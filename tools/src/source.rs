//! Opening what a user names as a model.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use weft_dialects::ir::{Context, Module, ParseError, module_op, parse};
use weft_onnx::Weights;
use weft_passes::graph::from_func;
use weft_passes::pipeline::{Stage, stage_of};

use crate::compiler::Options;
use crate::failure::{Collector, Failure};
use crate::reports::Report;
use crate::sources::line_around;
use crate::vendor;

/// A module and the files that hold its weights.
pub(crate) struct Source<'c> {
    pub module: Module<'c>,
    pub stage: Stage,
    pub files: Rc<BTreeMap<String, Weights>>,
}

/// Opens an ONNX model, or MLIR text at any stage.
pub(crate) fn open<'c>(
    context: &'c Context,
    collector: &Collector,
    path: &Path,
    options: &Options,
) -> Result<Source<'c>, Failure> {
    let is_text = path.extension().is_some_and(|extension| extension == "mlir");
    if !is_text {
        let mut import = options.import.clone();
        // The runtime repeats what native code does.
        import.unroll |= options.simulate || !options.device.is_native(context);
        let (module, imported) = weft_onnx::import(path, &import, context)?;
        return Ok(Source { module, stage: Stage::Graph, files: Rc::new(imported.files) });
    }
    let text = std::fs::read_to_string(path).map_err(|source| Failure::File {
        doing: "read",
        path: path.to_owned(),
        source,
    })?;
    let mut source = from_text(context, collector, &path.display().to_string(), &text)?;
    let mut files = BTreeMap::new();
    for (id, file) in &options.weights {
        files.insert(id.clone(), Weights::open(file)?);
    }
    source.files = Rc::new(files);
    Ok(source)
}

/// A module from text: a stage of weft's, or upstream functions on tensors. `name` is
/// for reports.
pub(crate) fn from_text<'c>(
    context: &'c Context,
    collector: &Collector,
    name: &str,
    text: &str,
) -> Result<Source<'c>, Failure> {
    let mut module = parse_text(context, collector, &collector.source(name, text))?;
    let stage = match stage_of(module_op(&module)) {
        Some(stage) => stage,
        None => {
            from_func::import(context, &mut module).map_err(|_| collector.failure())?;
            Stage::Graph
        }
    };
    Ok(Source { module, stage, files: Rc::default() })
}

/// Parses and verifies text that [`Collector::source`] gave.
pub(crate) fn parse_text<'c>(
    context: &'c Context,
    collector: &Collector,
    text: &str,
) -> Result<Module<'c>, Failure> {
    parse(context, text).map_err(|error| match error {
        ParseError::Invalid => vendor::with_help(collector.failure(), text),
        ParseError::TooDeep { line } => {
            let sources = collector.sources();
            let report = match sources.find(line, 1) {
                Some((source, at)) => {
                    let line = line_around(&sources.get(source).text, at);
                    Report::at(source, line, "brackets nest too deep")
                }
                None => Report::new("brackets nest too deep"),
            };
            Failure::placed(report.note(error.to_string()), sources)
        }
    })
}
