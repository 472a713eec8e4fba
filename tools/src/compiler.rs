//! One compilation: a module on its way from a model to an artifact.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use weft_dialects::device::{Kernel, Machine};
use weft_dialects::ir::pass::Pass;
use weft_dialects::ir::{Context, Module, Op, module_op};
use weft_dialects::task::Program;
use weft_onnx::Weights;
use weft_passes::codegen::gpu::Isa;
use weft_passes::codegen::gpu::program::{self, Form, How};
use weft_passes::codegen::{
    self, Text, compile_kernels, print_kernels, vendor, whole_code, whole_text,
};
use weft_passes::device::load_machine;
use weft_passes::pipeline::{self, Stage};
use weft_passes::{task, tile};
use weft_runtime::artifact;
use weft_runtime::plan::{CodeKind, Plan};

use crate::constants::Evaluator;
use crate::failure::{Collector, Diagnostic, Failure, Reported};
use crate::limits;
use crate::machines::{Described, Device, machines_for};
use crate::progress::Progress;
use crate::reports::caught;
use crate::reproducer::Reproducer;
use crate::source;

/// The options of a compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The machine to compile for.
    pub device: Device,
    /// Threads that compile; 0 for as many as there are processors.
    pub jobs: usize,
    /// Virtual execution units of the task program; 0 for as many as the machine has.
    pub units: usize,
    /// Files of weights, by the id that text names them with.
    pub weights: Vec<(String, PathBuf)>,
    /// For the ONNX importer.
    pub import: weft_onnx::Options,
    /// File for the module that a pass failed on, with the command that repeats it.
    pub reproducer: Option<PathBuf>,
    /// Print the module after every pass, on standard error.
    pub print_ir: bool,
    /// Which passes say what they chose, and from what.
    pub remarks: Remarks,
    /// Say on a terminal what is being done.
    pub progress: bool,
    /// Write artifacts for the simulator, also where there is native code for the machine.
    pub simulate: bool,
    /// Options of passes: pass, option, value.
    pub pass_options: Vec<(String, String, String)>,
    /// The most bytes that one tensor of the model may take.
    pub max_bytes: u64,
}

impl Options {
    /// Options of passes: pass, option, value; `units` is the number as text.
    fn of_passes<'o>(&'o self, units: &'o str) -> Vec<(&'o str, &'o str, &'o str)> {
        let mut options = Vec::new();
        if self.units > 0 {
            options.push((task::from_tile::PASS.name, "units", units));
        }
        if self.simulate {
            // A simulated unit runs one group at a time.
            options.push((tile::construct_rtiles::PASS.name, "groups", "apart"));
        }
        match self.remarks {
            Remarks::None => {}
            Remarks::Tiles => {
                options.push((tile::peel::PASS.name, "remarks", "true"));
                options.push((tile::construct_rtiles::PASS.name, "remarks", "true"));
            }
            Remarks::All => {
                let says = |pass: &&&Pass| pass.options.iter().any(|own| own.name == "remarks");
                let saying = pipeline::PASSES.iter().filter(says);
                options.extend(saying.map(|pass| (pass.name, "remarks", "true")));
            }
        }
        let asked = self.pass_options.iter();
        options.extend(asked.map(|(pass, option, value)| (&**pass, &**option, &**value)));
        options
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device: Device::default(),
            jobs: 0,
            units: 0,
            weights: Vec::new(),
            import: weft_onnx::Options::default(),
            reproducer: None,
            print_ir: false,
            remarks: Remarks::default(),
            progress: false,
            simulate: false,
            pass_options: Vec::new(),
            max_bytes: limits::MOST_BYTES,
        }
    }
}

/// Which passes say what they chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remarks {
    /// None.
    #[default]
    None,
    /// The passes that choose tiles.
    Tiles,
    /// Every one that can.
    All,
}

/// The forms that a compilation can produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The module's text at a stage.
    Stage(Stage),
    /// LLVM IR of the kernels, optimised.
    Llvm,
    /// Assembly of the kernels.
    Asm,
    /// Kernels in the operations of the machine's own dialect.
    Vendor,
    /// The linked code, an ELF shared object.
    Obj,
    /// Assembly of kernels that are code for one thread of many.
    Threads(Isa),
    /// The artifact.
    Weft,
}

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

    /// The module with its kernels in the operations of the machine's own dialect.
    ///
    /// # Errors
    /// As [`Unit::lower`], and memories that are too small.
    pub fn vendor_text(&mut self) -> Result<String, Failure> {
        self.lower(Stage::Device)?;
        self.lower_to_vendor()?;
        Ok(self.text())
    }

    fn lower_to_vendor(&mut self) -> Result<(), Failure> {
        let done = vendor::PASS.apply(self.context, self.op(), &[]);
        if done.is_err() || !self.op().verify() {
            return Err(self.collector.failure());
        }
        Ok(())
    }

    /// LLVM IR or assembly of every kernel, in their order. Assembly for a machine that
    /// LLVM has no code for is a listing by the machine's encodings.
    ///
    /// # Errors
    /// As [`Unit::lower`], and what the code generator refuses.
    pub fn kernel_text(&mut self, text: Text) -> Result<String, Failure> {
        self.lower(Stage::Device)?;
        if text == Text::Asm && vendor::is_vendors(self.machine()?) {
            self.lower_to_vendor()?;
            let listing = vendor::listing(self.op(), self.machine()?);
            return listing.map_err(|_| self.collector.failure());
        }
        self.progress.say("compiling kernels");
        let kernels = print_kernels(self.op(), self.machine()?, self.jobs(), text)?;
        Ok(kernels.join("\n"))
    }

    /// Assembly of all kernels of a machine whose kernels are code for one thread of many.
    ///
    /// # Errors
    /// As [`Unit::kernel_text`], and a machine of another kind.
    pub fn threads_text(&mut self, isa: Isa) -> Result<String, Failure> {
        self.lower(Stage::Device)?;
        let forms = self.forms(isa)?;
        self.progress.say("compiling kernels");
        Ok(whole_text(self.op(), self.machine()?, self.jobs(), isa, &forms)?)
    }

    /// Chooses for each launch whether it is one kernel, and says why; nothing where kernels are
    /// not code for one thread of many.
    ///
    /// # Errors
    /// An option that is none.
    pub(crate) fn choose_forms(&mut self) -> Result<(), Failure> {
        match Isa::of_arch(self.machine()?.arch()) {
            Some(isa) => self.forms(isa).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The launches of the program that are one kernel each.
    fn forms(&mut self, isa: Isa) -> Result<Vec<Form>, Failure> {
        let pass = program::PASS.name;
        let mut asked = self.options.pass_options.iter().filter(|(own, ..)| own == pass);
        let asked = asked.rfind(|(_, option, _)| option == "form");
        let how = match asked {
            Some((.., value)) => How::parse(value).ok_or_else(|| {
                let what = format!("unknown value '{value}' for option 'form' of {pass}");
                Failure::said(what, "'auto', 'one' or 'launches'")
            })?,
            None => How::default(),
        };
        let machine = self.machine()?;
        // Text may hold kernels without a program, or one that nobody outside could run.
        let Ok(own) = self.program() else { return Ok(Vec::new()) };
        let Ok(planned) = task::plan(&own, machine) else { return Ok(Vec::new()) };
        let choices = program::choose(self.op(), machine, isa, &own, &planned.plan, how);
        let mut forms = Vec::new();
        for choice in choices {
            if choice.refused || self.options.remarks == Remarks::All {
                self.remarks.push(Remark { pass, message: choice.why });
            }
            forms.extend(choice.form);
        }
        Ok(forms)
    }

    /// The linked code; PTX, which drivers link, as text.
    ///
    /// # Errors
    /// As [`Unit::kernel_text`], and what the linker refuses.
    pub fn code(&mut self) -> Result<Vec<u8>, Failure> {
        self.lower(Stage::Device)?;
        let machine = self.machine()?;
        let begin = Instant::now();
        self.progress.say("compiling kernels");
        let isa = Isa::of_arch(machine.arch());
        let forms = isa.map_or_else(|| Ok(Vec::new()), |isa| self.forms(isa))?;
        match isa {
            Some(isa @ Isa::Ptx) => {
                let text = whole_text(self.op(), machine, self.jobs(), isa, &forms)?;
                self.timed("compile kernels", begin);
                return Ok(text.into_bytes());
            }
            Some(isa @ Isa::Amdgcn) => {
                let object = whole_code(self.op(), machine, self.jobs(), isa, &forms)?;
                self.timed("compile kernels", begin);
                return Ok(codegen::link(&[object])?);
            }
            None => {}
        }
        let objects = compile_kernels(self.op(), self.machine()?, self.jobs())?;
        self.timed("compile kernels", begin);
        let begin = Instant::now();
        self.progress.say("linking");
        let code = codegen::link(&objects)?;
        self.timed("link", begin);
        Ok(code)
    }

    /// Says in a plan how much memory its kernels are lent.
    fn lend(&self, plan: &mut Plan) -> Result<(), Failure> {
        let machine = self.machine()?;
        let ops = self.op().body(0).map(|block| block.ops()).unwrap_or_default();
        let kernels: HashMap<_, _> =
            ops.into_iter().filter_map(Kernel::of).map(|kernel| (kernel.name, kernel)).collect();
        for kernel in &mut plan.kernels {
            let code = kernels.get(kernel.symbol.as_str());
            let lent = code.map(|code| codegen::lower::scratch(machine, code).bytes());
            kernel.scratch_bytes = lent.unwrap_or(0);
        }
        Ok(())
    }

    fn program(&self) -> Result<Program<'c>, Failure> {
        let programs = self.op().body(0).map(|block| block.ops()).unwrap_or_default();
        programs.into_iter().find_map(Program::of).ok_or_else(|| {
            Failure::said("the module holds no task.program", "a model at any stage")
        })
    }

    /// The kernels as the simulator runs them.
    ///
    /// # Errors
    /// As [`Unit::lower`], and what the simulator does not know.
    pub fn simulated_code(&mut self) -> Result<Vec<u8>, Failure> {
        self.lower(Stage::Device)?;
        let begin = Instant::now();
        let unit = self.program()?.unit;
        let code = weft_passes::simulate::translate(self.op(), self.machine()?, unit)?;
        let bytes = code.to_bytes()?;
        self.timed("translate for the simulator", begin);
        Ok(bytes)
    }

    /// Returns the kind of code in an artifact of this unit.
    fn code_kind(&self) -> Result<CodeKind, Failure> {
        let machine = self.machine()?;
        Ok(match Isa::of_arch(machine.arch()) {
            _ if self.options.simulate => CodeKind::Simulated,
            Some(Isa::Ptx) => CodeKind::Ptx,
            Some(Isa::Amdgcn) => CodeKind::Amdgcn,
            None if codegen::is_native(machine) => CodeKind::Native,
            None => CodeKind::Simulated,
        })
    }

    /// Writes the artifact; the file appears whole or not at all.
    ///
    /// # Errors
    /// As [`Unit::code`], and what cannot be planned, evaluated or written.
    pub fn write_artifact(&mut self, path: &Path) -> Result<(), Failure> {
        self.lower(Stage::Device)?;
        let kind = self.code_kind()?;
        let code = match kind {
            CodeKind::Simulated => self.simulated_code()?,
            _ => self.code()?,
        };
        let begin = Instant::now();
        self.progress.say("evaluating constants, writing the artifact");
        let program = self.program()?;
        let mut planned = task::plan(&program, self.machine()?)?;
        planned.plan.code = kind;
        if kind == CodeKind::Native {
            self.lend(&mut planned.plan)?;
        } else {
            // No processor runs it.
            planned.plan.cpu_features.clear();
        }
        planned.plan.build.compiler = format!("weft {}", env!("CARGO_PKG_VERSION"));
        let evaluator = Evaluator {
            module: self.op(),
            files: &self.files,
            check_hashes: !self.options.weights.is_empty(),
        };
        artifact::write(path, &planned.plan, &code, |out| {
            evaluator.write(&planned.constants, out).map_err(|error| error.to_string())?;
            Ok(out.pad_to(planned.plan.constant_bytes)?)
        })?;
        self.timed("write artifact", begin);
        self.progress.done();
        Ok(())
    }
}
