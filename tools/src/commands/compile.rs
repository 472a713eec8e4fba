//! `weft compile`: a model to an artifact, or to the text of a stage.

use std::io::Write;
use std::path::{Path, PathBuf};

use weft_passes::codegen::Text;
use weft_passes::codegen::gpu::Isa;
use weft_passes::pipeline::Stage;
use weft_runtime::WholeFile;

use super::{CompileArgs, REPRODUCER, artifact, print_timings};
use crate::{Emit, Failure, Unit};

/// Compiles a model.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The model: `.onnx`, or `.mlir` at any stage.
    pub model: PathBuf,
    /// File for the result; `-` is standard output.
    #[arg(short, long)]
    pub output: PathBuf,
    /// The form to write: graph, tile, task, device, vendor, llvm, asm, obj, ptx, amdgcn, weft.
    #[arg(long, value_parser = emit, default_value = "weft")]
    pub emit: Emit,
    /// Options of the compilation.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// Parses the value of `--emit`.
pub(crate) fn emit(name: &str) -> Result<Emit, String> {
    Ok(match name {
        "graph" => Emit::Stage(Stage::Graph),
        "tile" => Emit::Stage(Stage::Tile),
        "task" => Emit::Stage(Stage::Task),
        "device" => Emit::Stage(Stage::Device),
        "llvm" => Emit::Llvm,
        "asm" => Emit::Asm,
        "vendor" => Emit::Vendor,
        "obj" => Emit::Obj,
        "ptx" => Emit::Threads(Isa::Ptx),
        "amdgcn" => Emit::Threads(Isa::Amdgcn),
        "weft" => Emit::Weft,
        _ => {
            return Err(
                "one of graph, tile, task, device, vendor, llvm, asm, obj, ptx, amdgcn, weft"
                    .to_owned(),
            );
        }
    })
}

/// Does it.
///
/// # Errors
/// Whatever stands in the way; nothing is left half written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut options = args.compile.options()?;
    options.reproducer = Some(beside(&args.output));
    if args.emit == Emit::Weft && args.output != Path::new("-") {
        let made = artifact::make(&args.model, &args.compile, options, &args.output, false)?;
        print_all(made.remarks.iter());
        if args.compile.timings {
            print_timings(&made.timings);
        }
        return Ok(());
    }
    let context = crate::context();
    let mut unit = Unit::open(&context, &args.model, options)?;
    emit_to(&mut unit, args.emit, &args.output)?;
    print_remarks(&unit);
    if args.compile.timings {
        print_timings(&unit.timings);
    }
    Ok(())
}

/// Writes what was asked for.
///
/// # Errors
/// As [`run`].
pub fn emit_to(unit: &mut Unit<'_>, emit: Emit, output: &Path) -> Result<(), Failure> {
    let bytes = match emit {
        Emit::Weft if output != Path::new("-") => return unit.write_artifact(output),
        Emit::Weft => {
            return Err(Failure::said("an artifact is not text", "-o FILE, or --emit a stage"));
        }
        Emit::Stage(stage) if stage < unit.stage() => {
            return Err(Failure::said(
                format!("the text is already at the stage {:?}", unit.stage()).to_lowercase(),
                "a later stage; no pass goes back",
            ));
        }
        Emit::Stage(stage) => {
            unit.lower(stage)?;
            unit.text().into_bytes()
        }
        Emit::Llvm => unit.kernel_text(Text::Llvm)?.into_bytes(),
        Emit::Asm => unit.kernel_text(Text::Asm)?.into_bytes(),
        Emit::Vendor => unit.vendor_text()?.into_bytes(),
        Emit::Obj => unit.code()?,
        Emit::Threads(isa) => unit.threads_text(isa)?.into_bytes(),
    };
    unit.end_progress();
    write(output, &bytes)
}

/// Prints what passes had to say.
pub(crate) fn print_remarks(unit: &Unit<'_>) {
    print_all(unit.remarks.iter().map(|remark| &remark.message));
}

fn print_all<'a>(remarks: impl Iterator<Item = &'a String>) {
    remarks.for_each(|remark| eprintln!("remark: {remark}"));
}

/// Returns the path of a reproducer, beside the output.
pub(crate) fn beside(output: &Path) -> PathBuf {
    match output.parent() {
        Some(folder) if output != Path::new("-") => folder.join(REPRODUCER),
        _ => PathBuf::from(REPRODUCER),
    }
}

/// Writes a file whole or not at all; `-` is standard output.
pub(crate) fn write(output: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |source| Failure::File { doing: "write", path: output.to_owned(), source };
    if output == Path::new("-") {
        return match std::io::stdout().write_all(bytes) {
            // Who reads has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(failed),
        };
    }
    let mut file = WholeFile::create(output).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.commit().map_err(failed)
}
