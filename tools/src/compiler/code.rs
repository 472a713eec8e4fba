//! From a module of the stage `device` to code and the artifact.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use weft_dialects::device::Kernel;
use weft_dialects::repeat;
use weft_dialects::task::Program;
use weft_passes::codegen::gpu::Isa;
use weft_passes::codegen::gpu::program::{self, Form, How};
use weft_passes::codegen::{
    self, Text, compile_kernels, print_kernels, vendor, whole_code, whole_text,
};
use weft_passes::pipeline::Stage;
use weft_passes::task;
use weft_runtime::artifact;
use weft_runtime::plan::{CodeKind, Plan};

use super::{Remark, Remarks, Unit};
use crate::constants::Evaluator;
use crate::failure::Failure;

impl<'c> Unit<'c> {
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
        program::whole_launches(self.op(), &planned.plan)
            .map_err(|error| Failure::said(error.to_string(), program::CutLaunch::HELP))?;
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
        repeat::others(self.op()).find_map(Program::of).ok_or_else(|| {
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
