//! `mlir-lsp-server` with weft's dialects and passes.

fn main() -> std::process::ExitCode {
    weft_passes::pipeline::register();
    let code = weft_dialects::ir::tools::lsp_server();
    std::process::ExitCode::from(u8::try_from(code).unwrap_or(1))
}
