//! Reproducers: the module as it was before the failed pass, and the pipeline.

use std::path::Path;

use weft_dialects::ir::pass::Pass;
use weft_dialects::ir::{Builder, Context, Mapping, Module, Op, empty_module, module_op};

use crate::commands::compile::write;
use crate::failure::Failure;

/// A module as it was before a row of passes.
pub(crate) struct Reproducer<'c> {
    context: &'c Context,
    before: Module<'c>,
}

impl<'c> Reproducer<'c> {
    /// Keeps a copy of `module`.
    pub fn of(context: &'c Context, module: Op<'c>) -> Self {
        let before = empty_module(context);
        let copy = module_op(&before);
        for (name, value) in module.attrs() {
            copy.set_attr(name, value);
        }
        if let (Some(from), Some(to)) = (module.first_block(0), copy.first_block(0)) {
            let (mut b, mut map) = (Builder::at_end(context, to), Mapping::default());
            for op in from.iter() {
                b.clone_op(op, &mut map);
            }
        }
        Self { context, before }
    }

    /// Repeats the first `done` of `passes`, and writes what `passes[done]` was given to
    /// `path`. Returns the command that repeats the failure.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(
        self,
        passes: &[&Pass],
        done: usize,
        options: &[(&str, &str, &str)],
        path: &Path,
    ) -> Result<String, Failure> {
        for pass in &passes[..done] {
            let own = own(options, pass);
            if pass.apply(self.context, module_op(&self.before), &own).is_err() {
                break;
            }
        }
        let pipeline = pipeline(passes[done].name, &own(options, passes[done]));
        let command = format!("weft-opt {} --pass-pipeline='{pipeline}'", path.display());
        let text = format!("// {command}\n{}\n", module_op(&self.before).text());
        write(path, text.as_bytes())?;
        Ok(command)
    }
}

/// The options of one pass.
fn own<'o>(options: &[(&str, &'o str, &'o str)], pass: &Pass) -> Vec<(&'o str, &'o str)> {
    let own = options.iter().filter(|(name, _, _)| *name == pass.name);
    own.map(|&(_, option, value)| (option, value)).collect()
}

fn pipeline(pass: &str, options: &[(&str, &str)]) -> String {
    let options: Vec<_> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let options = match options.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", options.join(" ")),
    };
    format!("builtin.module({pass}{options})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_dialects::ir::parse;
    use weft_dialects::ir::pass::{Failed, Run};

    fn mark(run: &mut Run<'_>) -> Result<(), Failed> {
        let unit = weft_dialects::ir::attr::unit(run.context);
        run.module.set_attr("test.marked", unit);
        Ok(())
    }

    fn refuse(_: &mut Run<'_>) -> Result<(), Failed> {
        Err(Failed)
    }

    const fn pass(name: &'static str, run: fn(&mut Run<'_>) -> Result<(), Failed>) -> Pass {
        Pass { name, description: "", options: &[], statistics: &[], run }
    }

    #[test]
    fn holds_what_the_failing_pass_was_given() {
        const MARK: Pass = pass("test-mark", mark);
        const REFUSE: Pass = pass("test-refuse", refuse);
        let context = crate::context();
        let module = parse(&context, "func.func private @f(i32)").expect("text");
        let reproducer = Reproducer::of(&context, module_op(&module));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("weft-reproducer.mlir");
        let options = [("test-refuse", "units", "2"), ("other", "units", "3")];
        let command = reproducer.write(&[&MARK, &REFUSE], 1, &options, &path).expect("written");
        let pipeline = "--pass-pipeline='builtin.module(test-refuse{units=2})'";
        assert_eq!(command, format!("weft-opt {} {pipeline}", path.display()));
        let text = std::fs::read_to_string(&path).expect("a file");
        assert!(text.starts_with(&format!("// {command}\nmodule")), "{text}");
        assert!(text.contains("test.marked") && text.contains("@f"), "{text}");
        assert!(parse(&context, &text).is_ok());
        assert!(!module_op(&module).text().contains("test.marked"));
    }
}
