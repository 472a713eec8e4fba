//! One compilation: a module on its way from a model to an artifact.

mod code;
mod options;

pub use options::{Accuracy, Emit, Options, Precision, Remarks};

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use weft_dialects::device::Machine;
use weft_dialects::ir::{Context, Module, Op, module_op};
use weft_onnx::Weights;
use weft_passes::device::load_machine;
use weft_passes::pipeline::{self, Stage};

use crate::failure::{Collector, Diagnostic, Failure, Reported};
use crate::limits;
use crate::machines::{Described, machines_for};
use crate::progress::Progress;
use crate::reports::caught;
use crate::reproducer::Reproducer;
use crate::source;

/// A module on its way down.
pub struct Unit<'c> {
    context: &'c Context,
    collector: Collector,
    module: Module<'c>,
    stage: Stage,
    options: Options,
    files: Rc<BTreeMap<String, Weights>>,
    progress: Progress,
    /// The steps of the compilation, with their times.
    pub timings: Vec<(String, f64)>,
    /// Remarks of passes.
    pub remarks: Vec<Remark>,
}

/// A pass's remark on a choice that it made, or on one that it refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The pass, by name, or `import`.
    pub pass: &'static str,
    /// Its text.
    pub message: String,
}

impl<'c> Unit<'c> {
    /// Opens a model: `.onnx`, or `.mlir` at any stage.
    ///
    /// # Errors
    /// A file that cannot be read, a model that is refused, a machine that is unknown.
    pub fn open(context: &'c Context, path: &Path, options: Options) -> Result<Self, Failure> {
        let collector = Collector::listen(context);
        let begin = Instant::now();
        let progress = Progress::new(options.progress);
        progress.say(format!("reading {}", path.display()));
        let source = source::open(context, &collector, path, &options)?;
        Self::of_source(context, collector, source, options, progress, begin)
    }

    /// A unit from text.
    ///
    /// # Errors
    /// As [`Unit::open`].
    pub fn from_text(context: &'c Context, text: &str, options: Options) -> Result<Self, Failure> {
        let collector = Collector::listen(context);
        let begin = Instant::now();
        let progress = Progress::new(options.progress);
        let source = source::from_text(context, &collector, "<text>", text)?;
        Self::of_source(context, collector, source, options, progress, begin)
    }

    /// Makes a unit from a module of the graph stage, with the files that hold its weights.
    ///
    /// # Errors
    /// Errors of the verifier.
    pub fn from_module(
        context: &'c Context,
        module: Module<'c>,
        files: Rc<BTreeMap<String, Weights>>,
        options: Options,
    ) -> Result<Self, Failure> {
        let collector = Collector::listen(context);
        let begin = Instant::now();
        let progress = Progress::new(options.progress);
        let source = source::Source { module, stage: Stage::Graph, files };
        Self::of_source(context, collector, source, options, progress, begin)
    }

    fn of_source(
        context: &'c Context,
        collector: Collector,
        source: source::Source<'c>,
        options: Options,
        progress: Progress,
        begin: Instant,
    ) -> Result<Self, Failure> {
        let mut unit = Self {
            context,
            collector,
            module: source.module,
            stage: source.stage,
            options,
            files: source.files,
            progress,
            timings: Vec::new(),
            remarks: Vec::new(),
        };
        if !unit.op().verify() {
            return Err(unit.collector.failure());
        }
        limits::check(unit.op(), unit.options.max_bytes)?;
        if let Some(machine) = Machine::of(unit.op()) {
            unit.options.device.agree(context, "the text", machine.name())?;
        }
        unit.timed("import", begin);
        if Machine::of(unit.op()).is_none() && unit.stage != Stage::Graph {
            unit.load_machine()?;
        }
        Ok(unit)
    }

    fn op(&self) -> Op<'c> {
        module_op(&self.module)
    }

    fn timed(&mut self, what: &str, begin: Instant) {
        self.timings.push((what.to_owned(), begin.elapsed().as_secs_f64()));
    }

    /// The machine, loaded before anything asks for it where the module has none yet.
    ///
    /// # Errors
    /// A machine that is unknown or wrong.
    pub(crate) fn load_machine_now(&mut self) -> Result<Machine<'c>, Failure> {
        if Machine::of(self.op()).is_none() {
            self.load_machine()?;
        }
        self.machine()
    }

    fn load_machine(&mut self) -> Result<(), Failure> {
        let Described { text, name, host } = self.options.device.text(self.context)?;
        let text = self.collector.source(&name, &text);
        // A machine file with a mistake is reported on its own text, and by one error.
        source::parse_text(self.context, &self.collector, &text)?;
        load_machine::load_with(self.context, self.op(), &text, &name, host.as_ref())
            .map(|_| ())
            .map_err(|_| self.collector.failure())?;
        // The verifier of the machine says what a file got wrong.
        if self.op().verify() { Ok(()) } else { Err(self.collector.failure()) }
    }

    fn machine(&self) -> Result<Machine<'c>, Failure> {
        Machine::of(self.op())
            .ok_or_else(|| Failure::said("the module has no machine", "give one with --device"))
    }

    /// Takes the module down to a stage.
    ///
    /// # Errors
    /// Errors of a pass or a verifier.
    pub fn lower(&mut self, to: Stage) -> Result<(), Failure> {
        if to > Stage::Graph && Machine::of(self.op()).is_none() {
            self.load_machine()?;
        }
        for stage in pipeline::STAGES.into_iter().filter(|stage| *stage <= to) {
            if stage > self.stage {
                self.lower_to(stage)?;
            }
        }
        let said = self.collector.take().into_iter();
        self.remarks.extend(said.map(|said| Remark { pass: "import", message: said.message }));
        Ok(())
    }

    /// Goes down to the next stage.
    fn lower_to(&mut self, stage: Stage) -> Result<(), Failure> {
        let units = self.options.units.to_string();
        let options = self.options.of_passes(&units);
        let (context, module) = (self.context, self.op());
        let passes = pipeline::passes_to(stage);
        let reproducer =
            self.options.reproducer.as_ref().map(|path| (Reproducer::of(context, module), path));
        let mut begin = Instant::now();
        let (mut done, mut timings, mut remarks) = (0, Vec::new(), Vec::new());
        let collector = self.collector.clone();
        let say = |next: usize| {
            if let Some(pass) = passes.get(next) {
                self.progress.say(pass.name);
            }
        };
        say(0);
        let result = caught(|| {
            pipeline::lower(context, module, self.stage, stage, &options, &mut |pass| {
                timings.push((pass.to_owned(), begin.elapsed().as_secs_f64()));
                let said = collector.take().into_iter().filter(|said| !said.is_error);
                remarks.extend(said.map(|said| Remark { pass, message: said.message }));
                if self.options.print_ir {
                    self.progress.print(&format!("// ----- after {pass}\n{}", module.text()));
                }
                done += 1;
                say(done);
                begin = Instant::now();
            })
        });
        let mut diagnostics = self.collector.take();
        if let Ok(Ok(())) = result {
            self.timings.extend(timings);
            self.remarks.extend(remarks);
            self.stage = stage;
            return Ok(());
        }
        // After the last pass it is the verifier that refuses what that pass made.
        let done = done.min(passes.len().saturating_sub(1));
        if let Err(said) = result {
            diagnostics.push(Diagnostic {
                is_error: true,
                place: None,
                message: format!(
                    "the pass {} failed on an internal error: {said}",
                    passes[done].name
                ),
                notes: vec![(None, "help: please report it".to_owned())],
            });
        }
        if let Some(note) = machines_for(self.context, self.op())
            && let Some(error) = diagnostics.iter_mut().rfind(|diagnostic| diagnostic.is_error)
        {
            error.notes.push((None, note));
        }
        if let Some((reproducer, path)) = reproducer {
            let note = match reproducer.write(passes, done, &options, path) {
                Ok(command) => format!("this repeats it: {command}"),
                Err(failure) => format!("there is no reproducer: {failure}"),
            };
            // Diagnostics of the repetition are known already.
            self.collector.take();
            if let Some(error) = diagnostics.iter_mut().rfind(|diagnostic| diagnostic.is_error) {
                error.notes.push((None, note));
            }
        }
        let sources = self.collector.sources();
        Err(Failure::Reported(Reported { diagnostics, sources }))
    }

    /// Takes away what says on a terminal what is being done.
    pub fn end_progress(&mut self) {
        self.progress.done();
    }

    /// The module's text.
    pub fn text(&self) -> String {
        self.op().text()
    }

    /// The module, for analyses.
    pub fn module(&self) -> Op<'c> {
        self.op()
    }

    /// The stage the module is at.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The context of the module.
    pub(crate) fn context(&self) -> &'c Context {
        self.context
    }

    /// Returns the options.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// The files that hold weights.
    pub fn files(&self) -> &Rc<BTreeMap<String, Weights>> {
        &self.files
    }

    fn jobs(&self) -> usize {
        match self.options.jobs {
            0 => std::thread::available_parallelism().map_or(1, |count| count.get()),
            jobs => jobs,
        }
    }
}
