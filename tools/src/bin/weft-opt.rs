//! `mlir-opt` with weft's dialects and passes.

fn main() -> std::process::ExitCode {
    weft_passes::pipeline::register();
    let code = weft_dialects::ir::tools::opt();
    std::process::ExitCode::from(u8::try_from(code).unwrap_or(1))
}
